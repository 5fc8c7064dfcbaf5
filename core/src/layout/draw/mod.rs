//! Drawings of layouts: who holds which element, how a swizzle permutes, which banks are hit, what a tensor copy takes.
//!
//! | part | what it does |
//! |---|---|
//! | this file | what a drawing is: panels of labelled, tinted cells, each with what it says as data |
//! | `text` | a drawing for a terminal |
//! | `svg` | a drawing for a document |
//! | `registers` | a register tile: warp, lane and register of each element |
//! | `swizzle` | the table of a swizzle, as the PTX manual prints it |
//! | `banks` | a tile in shared memory: banks of each element, and what accesses cost |
//! | `tensor_box` | a tensor copy: elements taken, in which order, what lies outside, and the image in shared memory |
//!
//! The same input gives the same bytes. The values in the cells come from the algebra; tests compare them with it.
mod banks;
mod registers;
mod svg;
mod swizzle;
mod tensor_box;
mod text;

pub use banks::{Access, banks};
pub use registers::registers;
pub use swizzle::{SWIZZLES, swizzle, swizzle_function};
pub use tensor_box::tensor_box;

use super::LayoutError;
use serde_json::{Map, Value, json};
use std::ops::Range;

/// Colour of a cell: what belongs together has one hue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tint {
    /// Nothing to tell apart.
    #[default]
    Plain,
    /// One of eight hues, counted modulo 8.
    Hue(u64),
    /// Outside the tensor: what is read there is fill.
    Outside,
    /// Bytes that no element has.
    Gap,
}

/// One cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// What stands in it; a line break separates lines in SVG and becomes a space in text.
    pub label: String,
    /// Its colour.
    pub tint: Tint,
    /// Whether it has a frame: `[label]` in text.
    pub framed: bool,
    /// What it says, as data.
    pub data: Map<String, Value>,
}

/// A table of cells with names on both sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Panel {
    /// What the table shows.
    pub caption: String,
    /// What rows and columns count.
    pub axes: (String, String),
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Cells, row by row; one for each row and column.
    pub cells: Vec<Vec<Cell>>,
}

/// Tables with a title, sentences below it, and lines of fixed width at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawing {
    /// One line.
    pub title: String,
    /// Sentences for a reader.
    pub notes: Vec<String>,
    /// Tables.
    pub panels: Vec<Panel>,
    /// Lines below the tables, such as a layout's images.
    pub listing: Vec<String>,
    /// What holds for the whole, as data.
    pub data: Map<String, Value>,
}

/// The part of each panel that is drawn; `None`: from the start as much as fits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Rows.
    pub rows: Option<Range<usize>>,
    /// Columns.
    pub columns: Option<Range<usize>>,
}

impl Cell {
    /// The label on one line, in brackets where the cell is framed.
    fn line(&self) -> String {
        let label = self.label.replace('\n', " ");
        if self.framed { format!("[{label}]") } else { label }
    }
}

impl Panel {
    /// A table that `cell` fills, called with row and column.
    fn filled(
        caption: impl Into<String>,
        axes: (&str, &str),
        rows: Range<u64>,
        columns: Range<u64>,
        cell: impl Fn(u64, u64) -> Cell,
    ) -> Panel {
        let names = |range: &Range<u64>| range.clone().map(|i| i.to_string()).collect();
        Panel {
            caption: caption.into(),
            axes: (axes.0.into(), axes.1.into()),
            rows: names(&rows),
            columns: names(&columns),
            cells: rows
                .map(|row| columns.clone().map(|column| cell(row, column)).collect())
                .collect(),
        }
    }

    /// The part in the window, at most so many rows and columns; what is left out is said in the caption.
    fn cut(&mut self, window: &Window, most: (usize, usize)) {
        let range = |wanted: &Option<Range<usize>>, all: usize, most: usize| {
            let wanted = wanted.clone().unwrap_or(0..all);
            let start = wanted.start.min(all);
            start..wanted.end.clamp(start, all).min(start.saturating_add(most))
        };
        let rows = range(&window.rows, self.rows.len(), most.0.max(1));
        let columns = range(&window.columns, self.columns.len(), most.1.max(1));
        if rows.len() < self.rows.len() || columns.len() < self.columns.len() {
            let part = |what: &str, range: &Range<usize>, all: usize| match range.len() {
                0 => format!("no {what} of {all}"),
                _ => format!("{what} {} to {} of {all}", range.start, range.end - 1),
            };
            self.caption = format!(
                "{} ({}, {})",
                self.caption,
                part("rows", &rows, self.rows.len()),
                part("columns", &columns, self.columns.len())
            )
            .trim_start()
            .to_owned();
        }
        for cells in &mut self.cells {
            *cells = cells.drain(columns.clone()).collect();
        }
        self.cells = self.cells.drain(rows.clone()).collect();
        self.rows = self.rows.drain(rows).collect();
        self.columns = self.columns.drain(columns).collect();
    }

    /// Most characters in a line of any cell's label, and most lines.
    fn label_size(&self) -> (usize, usize) {
        let labels = || self.cells.iter().flatten().map(|cell| cell.label.as_str());
        let width = labels().flat_map(str::lines).map(|line| line.chars().count()).max();
        let lines = labels().map(|label| label.lines().count()).max();
        (width.unwrap_or(0), lines.unwrap_or(0).max(1))
    }
}

impl Drawing {
    /// Most cells of a drawing.
    const MOST_CELLS: u64 = 1 << 17;

    /// Refuses what nobody could look at.
    fn check_size(rows: u64, columns: u64) -> Result<(), LayoutError> {
        match rows.checked_mul(columns) {
            Some(cells) if cells <= Drawing::MOST_CELLS => Ok(()),
            _ => Err(LayoutError::Shape(format!(
                "a drawing of {rows} x {columns} cells; expected at most {}; draw a smaller tile, the pattern repeats",
                Drawing::MOST_CELLS
            ))),
        }
    }

    /// Refuses a window that shows nothing of any panel.
    pub fn check_window(&self, window: &Window) -> Result<(), LayoutError> {
        let most = |count: fn(&Panel) -> usize| self.panels.iter().map(count).max().unwrap_or(0);
        let sides = [
            ("rows", &window.rows, most(|panel| panel.rows.len())),
            ("columns", &window.columns, most(|panel| panel.columns.len())),
        ];
        for (what, wanted, most) in sides {
            let Some(wanted) = wanted else { continue };
            if wanted.is_empty() || wanted.start >= most {
                return Err(LayoutError::Shape(format!(
                    "{what} {}..{} are none of the {most} that the drawing has; expected a part of 0..{most}",
                    wanted.start, wanted.end
                )));
            }
        }
        Ok(())
    }

    /// Everything as data: the title, what holds for the whole, and all cells of all panels, whatever a window would show.
    pub fn json(&self) -> Value {
        let panel = |panel: &Panel| {
            let cells = panel.cells.iter().zip(&panel.rows).flat_map(|(cells, row)| {
                cells.iter().zip(&panel.columns).map(move |(cell, column)| {
                    let mut data = Map::new();
                    data.insert(panel.axes.0.clone(), json!(row));
                    data.insert(panel.axes.1.clone(), json!(column));
                    // What the cell says itself is a number where the heading is a name.
                    data.extend(cell.data.clone());
                    Value::Object(data)
                })
            });
            json!({"caption": panel.caption, "cells": cells.collect::<Vec<_>>()})
        };
        let mut all = Map::new();
        all.insert("title".into(), json!(self.title));
        all.extend(self.data.clone());
        all.insert("panels".into(), self.panels.iter().map(panel).collect());
        Value::Object(all)
    }
}

/// Data of a cell or a drawing from names and values.
fn data<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of 3 x 4 cells that name their place.
    pub(super) fn sample() -> Drawing {
        let cell = |row, column| Cell {
            label: format!("{row}\n{column}"),
            tint: Tint::Hue(row),
            framed: false,
            data: data([("row", json!(row)), ("column", json!(column))]),
        };
        Drawing {
            title: "places <&>".into(),
            notes: vec!["each cell says where it is".into()],
            panels: vec![Panel::filled("all", ("row", "column"), 0..3, 0..4, cell)],
            listing: vec!["a -> b".into()],
            data: data([("size", json!(12))]),
        }
    }

    #[test]
    fn a_window_keeps_names_and_says_what_is_left_out() {
        let mut panel = sample().panels.remove(0);
        let window = Window {
            rows: Some(1..9),
            columns: None,
        };
        panel.cut(&window, (10, 2));
        assert_eq!(panel.caption, "all (rows 1 to 2 of 3, columns 0 to 1 of 4)");
        assert_eq!(
            (panel.rows.join(""), panel.columns.join("")),
            ("12".into(), "01".into())
        );
        let labels: Vec<_> = panel.cells.iter().flatten().map(|cell| cell.label.clone()).collect();
        assert_eq!(labels, ["1\n0", "1\n1", "2\n0", "2\n1"]);
        let mut empty = sample().panels.remove(0);
        empty.cut(
            &Window {
                rows: Some(7..9),
                columns: None,
            },
            (10, 10),
        );
        assert_eq!(empty.caption, "all (no rows of 3, columns 0 to 3 of 4)");
    }

    #[test]
    fn json_has_every_cell() {
        let json = sample().json();
        assert_eq!(json["size"], 12);
        assert_eq!(json["panels"][0]["cells"].as_array().map(Vec::len), Some(12));
        assert_eq!(json["panels"][0]["cells"][5], json!({"row": 1, "column": 1}));
    }

    #[test]
    fn what_nobody_could_look_at_is_refused() {
        assert!(Drawing::check_size(u64::MAX, 2).is_err());
        assert!(Drawing::check_size(256, 512).is_ok());
        let error = Drawing::check_size(1024, 1024).unwrap_err().to_string();
        assert!(error.starts_with("a drawing of 1024 x 1024 cells; expected at most 131072"));
    }
}
