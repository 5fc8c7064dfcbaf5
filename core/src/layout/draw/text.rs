//! A drawing for a terminal: fixed-width text of at most [`LINE`] characters a line, without escape sequences.
use super::{Drawing, Panel, Window};

/// Characters of a line.
const LINE: usize = 150;
/// Rows of a panel, unless the window names others.
const ROWS: usize = 64;

impl Drawing {
    /// The part in the window as text. Where the window names no columns, as many as fit a line are shown.
    pub fn text(&self, window: &Window) -> String {
        let mut out = format!("{}\n", self.title);
        for note in &self.notes {
            out.push_str(note);
            out.push('\n');
        }
        for panel in &self.panels {
            let mut panel = panel.clone();
            let (head, cell) = widths(&panel);
            let fit = LINE.saturating_sub(head) / (cell + 1);
            let rows = if window.rows.is_some() { usize::MAX } else { ROWS };
            let columns = if window.columns.is_some() { usize::MAX } else { fit };
            panel.cut(window, (rows, columns));
            out.push('\n');
            write_panel(&panel, &mut out);
        }
        if !self.listing.is_empty() {
            out.push('\n');
            for line in &self.listing {
                out.push_str(line);
                out.push('\n');
            }
        }
        out
    }
}

/// Characters of a row's name with the bar after it, and of a cell.
fn widths(panel: &Panel) -> (usize, usize) {
    let longest = |names: &[String]| names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let corner = format!("{} \\ {}", panel.axes.0, panel.axes.1).chars().count();
    let label = |cell: &super::Cell| cell.line().chars().count();
    let cell = panel.cells.iter().flatten().map(label).max().unwrap_or(0);
    (longest(&panel.rows).max(corner) + 2, cell.max(longest(&panel.columns)))
}

fn write_panel(panel: &Panel, out: &mut String) {
    let (head, cell) = widths(panel);
    if !panel.caption.is_empty() {
        out.push_str(&format!("{}\n", panel.caption));
    }
    let corner = format!("{} \\ {}", panel.axes.0, panel.axes.1);
    let mut line = |name: &str, cells: &mut dyn Iterator<Item = String>| {
        let mut line = format!("{name:>width$} |", width = head - 2);
        for text in cells {
            line.push_str(&format!(" {text:<cell$}"));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    };
    line(&corner, &mut panel.columns.iter().cloned());
    for (name, cells) in panel.rows.iter().zip(&panel.cells) {
        line(name, &mut cells.iter().map(super::Cell::line));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;
    use super::*;

    #[test]
    fn text_is_a_table() {
        let expected = "places <&>\neach cell says where it is\n\nall\nrow \\ column | 0   1   2   3\n           \
                        0 | 0 0 0 1 0 2 0 3\n           1 | 1 0 1 1 1 2 1 3\n           2 | 2 0 2 1 2 2 2 3\n\na -> b\n";
        assert_eq!(sample().text(&Window::default()), expected);
    }

    #[test]
    fn lines_are_cut_where_they_would_be_too_long() {
        let mut drawing = sample();
        for cells in &mut drawing.panels[0].cells {
            for cell in cells {
                cell.label = "x".repeat(50);
            }
        }
        let text = drawing.text(&Window::default());
        assert!(text.contains("all (rows 0 to 2 of 3, columns 0 to 1 of 4)"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= LINE));
        let all = drawing.text(&Window {
            rows: None,
            columns: Some(0..4),
        });
        assert!(all.lines().any(|line| line.matches(&"x".repeat(50)).count() == 4));
    }
}
