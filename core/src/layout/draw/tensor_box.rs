//! A tensor copy: which elements it takes from the tensor, in which order, what lies outside, and how its image lies in
//! shared memory.
use super::{Cell, Drawing, Panel, Tint, data};
use crate::{
    layout::LayoutError,
    tensor_map::{Access, Caps, Direction, Fill, Interleave, Mode, Start, TensorMap},
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a line of shared memory and of a piece.
const LINE: u64 = 128;
const PIECE: u64 = 16;
/// Sizes of the tensor up to which all of it is drawn; of a larger one, what is around the box.
const WHOLE: i64 = 64;
/// Most planes of a tensor that are drawn.
const PLANES: usize = 16;

/// Draws a load with this map from `start`, to shared memory at `base`. Each plane of the tensor shows the row of the image
/// (`r3`, a pixel in the modes im2col) that an element becomes, `.` for elements that are not taken, the fill for what is
/// taken outside; frames are the bounding box in which im2col places its filter (along W: on its line, shifted). The last
/// table is shared memory, 16 bytes a cell: the coordinates of the first element there, outermost first. `caps` are those of
/// the target whose rules the notes quote.
///
/// Errors: [`LayoutError::Shape`] where start and map do not fit each other, and for what is too large to look at.
pub fn tensor_box(title: &str, map: &TensorMap, start: &Start, base: u64, caps: &Caps) -> Result<Drawing, LayoutError> {
    let broken = map.validate(caps).err().unwrap_or_default();
    let cells = map
        .image_dims()
        .iter()
        .try_fold(1u64, |all, &size| all.checked_mul(size));
    Drawing::check_size(1, cells.unwrap_or(u64::MAX))?;
    let lines = map.rows().checked_mul(map.row_pitch_bytes()).map(|bytes| bytes / LINE);
    Drawing::check_size(lines.unwrap_or(u64::MAX), LINE / PIECE)?;
    let Some(rows) = map.walk(start) else {
        return Err(LayoutError::Shape(broken.first().map_or(
            "the coordinates do not fit the mode and rank of the map".into(),
            |v| v.to_string(),
        )));
    };
    let coords = match start {
        Start::Tile(coords) | Start::Im2col { coords, .. } | Start::Im2colWide { coords, .. } => coords.clone(),
        Start::Rows(column, rows) => vec![*column, rows[0]],
    };
    let access = Access {
        direction: Direction::Load,
        coords: coords.iter().copied().map(Some).collect(),
        shared_address: Some(base),
    };
    let faults = map.access_violations(&access);

    // Four rows, and pixels of a halo, are more than the map says.
    let count = rows.len() as u64;
    let bytes = map.transaction_bytes() / map.rows().max(1) * count;
    let view = View::new(map, &rows, start);
    let mut panels = view.planes(map)?;
    if let Some(image) = image(map, &rows, base) {
        panels.push(image);
    }
    let outside = rows.iter().map(|row| outside_elements(map, row)).sum::<u64>();
    let per_row = elements_of_row(map);
    let mut notes = vec![
        format!(
            "{} rows of {} bytes, {} bytes apart in shared memory; a load completes {} bytes on its mbarrier",
            count,
            map.row_bytes(),
            map.row_pitch_bytes(),
            bytes
        ),
        format!(
            "{outside} of {} {} lie outside the tensor and read as {}",
            rows.len() as u64 * per_row,
            if map.interleave == Interleave::None {
                "elements"
            } else {
                "slices"
            },
            fill(map)
        ),
    ];
    notes.extend(
        broken
            .iter()
            .map(|v| format!("{}: the driver refuses the map: {v}", caps.target)),
    );
    notes.extend(faults.iter().map(|v| format!("the copy goes wrong: {v}")));
    let said = |violations: &[crate::tensor_map::Violation]| -> Value {
        violations
            .iter()
            .map(|v| json!({"rule": v.rule.id(), "message": v.to_string()}))
            .collect()
    };
    Ok(Drawing {
        title: title.to_owned(),
        notes,
        panels,
        listing: Vec::new(),
        data: data([
            ("rows", json!(count)),
            ("row_bytes", json!(map.row_bytes())),
            ("row_pitch_bytes", json!(map.row_pitch_bytes())),
            ("transaction_bytes", json!(bytes)),
            ("image_bytes", json!(count * map.row_pitch_bytes())),
            ("shared_alignment", json!(map.shared_alignment())),
            ("outside", json!(outside)),
            ("refused", said(&broken)),
            ("faults", said(&faults)),
        ]),
    })
}

fn fill(map: &TensorMap) -> &'static str {
    match map.fill {
        Fill::Zero => "0",
        Fill::Nan => "nan",
    }
}

/// Elements of a row of the image; 1 where a row is a slice.
fn elements_of_row(map: &TensorMap) -> u64 {
    match map.interleave {
        Interleave::None => map.image_dims().first().copied().unwrap_or(0),
        _ => 1,
    }
}

/// Elements (slices) of the row that begins at `row` that lie outside.
fn outside_elements(map: &TensorMap, row: &[i64]) -> u64 {
    let along = |i: u64| {
        let mut at = row.to_vec();
        at[0] += i as i64;
        at
    };
    (0..elements_of_row(map)).filter(|&i| !map.contains(&along(i))).count() as u64
}

/// Outermost first, as text.
fn coordinates(at: &[i64]) -> String {
    at.iter().rev().map(i64::to_string).collect::<Vec<_>>().join(",")
}

/// How the tensor is cut into planes.
struct View {
    /// Dimension that columns count.
    column: usize,
    /// Elements of a cell.
    unit: i64,
    /// Whether a row of the image is a run of cells in `column`; a single cell otherwise.
    runs: bool,
    /// Rows of the image by their coordinates from `key` on.
    rows: BTreeMap<Vec<i64>, Vec<(usize, i64)>>,
    key: usize,
    /// Columns that are taken.
    taken: (i64, i64),
    /// What moves the window of im2col along W.
    shift: i64,
    /// Coordinates in H and D of the line that im2col along W stays on.
    line: Vec<i64>,
}

impl View {
    fn new(map: &TensorMap, rows: &[Vec<i64>], start: &Start) -> View {
        let tiled = matches!(map.mode, Mode::Tiled { .. });
        let interleaved = map.interleave != Interleave::None;
        let runs = tiled && !interleaved;
        let column = usize::from(!tiled && !interleaved);
        let length = if runs { elements_of_row(map) as i64 } else { 1 };
        // Long rows are drawn by 16 bytes, which is what copies move as one.
        let unit = if runs && length > 32 {
            (128 / map.format.global_bits()) as i64
        } else {
            1
        };
        let key = if runs { 1 } else { column };
        let mut by_place: BTreeMap<Vec<i64>, Vec<(usize, i64)>> = BTreeMap::new();
        for (number, row) in rows.iter().enumerate() {
            by_place.entry(row[key..].to_vec()).or_default().push((number, row[0]));
        }
        let starts = || rows.iter().map(|row| row[column]);
        let (shift, line) = match start {
            Start::Im2colWide { coords, shift, .. } => (i64::from(*shift), coords[2..coords.len() - 1].to_vec()),
            _ => (0, vec![]),
        };
        View {
            shift,
            line,
            column,
            unit,
            runs,
            rows: by_place,
            key,
            taken: (starts().min().unwrap_or(0), starts().max().unwrap_or(0) + length),
        }
    }

    /// What is drawn of one dimension: all of a small tensor, what is around the copy of a large one.
    fn range(&self, map: &TensorMap, dim: usize, taken: (i64, i64), unit: i64) -> std::ops::Range<i64> {
        let size = map
            .dims
            .get(dim)
            .map_or(1, |&size| i64::try_from(size).unwrap_or(i64::MAX));
        let (low, high) = self.window_of(map, dim).unwrap_or(taken);
        let taken = (taken.0.min(low), taken.1.max(high));
        let (start, end) = (taken.0.min(0), taken.1.max(size));
        let (start, end) = match end - start <= WHOLE * unit {
            true => (start, end),
            false => ((taken.0 - 2 * unit).max(start), (taken.1 + 2 * unit).min(end)),
        };
        // Cells begin where the copy does.
        let start =
            taken.0 - (taken.0 - start).div_euclid(unit) * unit - if (taken.0 - start) % unit == 0 { 0 } else { unit };
        start..end
    }

    /// Where im2col places its filter in dimension `dim`: from the lower corner to behind the upper.
    fn window_of(&self, map: &TensorMap, dim: usize) -> Option<(i64, i64)> {
        let k = dim.checked_sub(self.column)?;
        let (lower, upper) = match &map.mode {
            Mode::Tiled { .. } => return None,
            Mode::Im2col { lower, upper, .. } => (*lower.get(k)?, *upper.get(k)?),
            Mode::Im2colWide { lower, upper, .. } if k == 0 => (*lower, *upper),
            Mode::Im2colWide { .. } => return None,
        };
        let size = i64::try_from(*map.dims.get(dim)?).ok()?;
        Some((
            i64::from(lower) + self.shift,
            size.saturating_add(i64::from(upper) + self.shift),
        ))
    }

    fn planes(&self, map: &TensorMap) -> Result<Vec<Panel>, LayoutError> {
        let (column, row) = (self.column, self.column + 1);
        let with_rows = map.rank() > row;
        let outer = |key: &Vec<i64>| key.get(row + 1 - self.key..).unwrap_or(&[]).to_vec();
        let planes: BTreeSet<Vec<i64>> = self
            .rows
            .keys()
            .map(|key| outer(key).into_iter().rev().collect())
            .collect();
        let row_of = |key: &Vec<i64>| key.get(row - self.key).copied().unwrap_or(0);
        let taken_rows = (
            self.rows.keys().map(row_of).min().unwrap_or(0),
            self.rows.keys().map(row_of).max().unwrap_or(0) + 1,
        );
        let columns = self.range(map, column, self.taken, self.unit);
        let rows = if with_rows {
            self.range(map, row, taken_rows, 1)
        } else {
            0..1
        };
        let count = |range: &std::ops::Range<i64>| range.end.abs_diff(range.start);
        Drawing::check_size(count(&rows), count(&columns) * planes.len().min(PLANES) as u64)?;
        let names: Vec<String> = columns
            .clone()
            .step_by(self.unit as usize)
            .map(|at| at.to_string())
            .collect();
        let mut out = Vec::new();
        for plane in planes.iter().take(PLANES) {
            let behind: Vec<i64> = plane.iter().rev().copied().collect();
            let cells = rows.clone().map(|at| {
                let line = columns.clone().step_by(self.unit as usize);
                line.map(|from| self.cell(map, from, with_rows.then_some(at), &behind))
                    .collect()
            });
            let mut caption = match (plane.is_empty(), planes.len() > PLANES) {
                (true, _) => "tensor".to_owned(),
                (false, all) => format!(
                    "tensor at {}{}",
                    coordinates(&behind),
                    if all {
                        format!(", {PLANES} of {} planes are drawn", planes.len())
                    } else {
                        String::new()
                    }
                ),
            };
            if self.unit > 1 {
                caption.push_str(&format!(", {} elements a cell", self.unit));
            }
            out.push(Panel {
                caption,
                axes: (self.axis(map, row), self.axis(map, column)),
                rows: rows.clone().map(|at| at.to_string()).collect(),
                columns: names.clone(),
                cells: cells.collect(),
            });
        }
        Ok(out)
    }

    /// Name of a dimension, as the letters of convolutions where it is one.
    fn axis(&self, map: &TensorMap, dim: usize) -> String {
        if dim >= map.rank() {
            return "-".into();
        }
        let letters = match (&map.mode, map.interleave, map.rank()) {
            (Mode::Tiled { .. }, Interleave::None, _) => return format!("axis{}", map.rank() - 1 - dim),
            (Mode::Tiled { .. }, _, 3) | (_, Interleave::B16 | Interleave::B32, 3) => ["W", "C", "N", "", ""],
            (_, Interleave::B16 | Interleave::B32, 4) => ["W", "H", "C", "N", ""],
            (_, Interleave::B16 | Interleave::B32, _) => ["W", "H", "D", "C", "N"],
            (_, _, 3) => ["C", "W", "N", "", ""],
            (_, _, 4) => ["C", "W", "H", "N", ""],
            _ => ["C", "W", "H", "D", "N"],
        };
        letters.get(dim).map_or_else(String::new, |letter| (*letter).to_owned())
    }

    /// The cell from column `from` on, in this row and plane.
    fn cell(&self, map: &TensorMap, from: i64, row: Option<i64>, behind: &[i64]) -> Cell {
        let mut place = vec![from];
        place.extend(row);
        place.extend(behind);
        let key = if self.runs { place[1..].to_vec() } else { place.clone() };
        let taken = self.rows.get(&key).map_or(&[][..], Vec::as_slice);
        let inner = elements_of_row(map) as i64;
        let covers = |&&(_, first): &&(usize, i64)| !self.runs || (first..first + inner).contains(&from);
        let taken: Vec<usize> = taken.iter().filter(covers).map(|(number, _)| *number).collect();

        let full = |at: i64| {
            let mut all = vec![0; self.column];
            all.push(at);
            all.extend(row);
            all.extend(behind);
            all
        };
        let inside = (from..from + self.unit).filter(|&at| map.contains(&full(at))).count() as i64;
        let (label, tint) = match (taken.first(), inside) {
            (None, 0) => (String::new(), Tint::Gap),
            (None, _) => (".".to_owned(), Tint::Plain),
            (Some(_), 0) => (fill(map).to_owned(), Tint::Outside),
            (Some(number), some) => {
                let part = if some < self.unit {
                    format!("\n{some}/{}", self.unit)
                } else {
                    String::new()
                };
                (format!("r{number}{part}"), Tint::Hue(*number as u64))
            }
        };
        let in_window = |(k, at): (usize, &i64)| {
            self.window_of(map, self.column + k)
                .is_none_or(|(low, high)| (low..high).contains(at))
        };
        let framed = match map.mode {
            Mode::Tiled { .. } => false,
            Mode::Im2col { .. } => place.iter().enumerate().all(in_window),
            Mode::Im2colWide { .. } => place[1..].starts_with(&self.line) && in_window((0, &place[0])),
        };
        Cell {
            label,
            tint,
            framed,
            data: data([
                ("coordinates", json!(full(from).into_iter().rev().collect::<Vec<_>>())),
                ("image_rows", json!(taken)),
                ("elements_inside", json!(inside)),
                ("in_bounding_box", json!(framed)),
            ]),
        }
    }
}

/// Shared memory from `base` on, 16 bytes a cell; `None` for sub-byte elements, which have no addresses of their own.
fn image(map: &TensorMap, rows: &[Vec<i64>], base: u64) -> Option<Panel> {
    let element_bytes = map.format.bytes()?;
    let pitch = map.row_pitch_bytes().max(1);
    let lines = (base % LINE + rows.len() as u64 * pitch).div_ceil(LINE);
    let cell = |line: u64, place: u64| {
        let address = base / LINE * LINE + line * LINE + place * PIECE;
        let logical = (map.swizzle.apply(address) / PIECE * PIECE).checked_sub(base);
        let held = logical.and_then(|offset| {
            let (row, within) = ((offset / pitch) as usize, offset % pitch);
            let row_at = rows.get(row).filter(|_| within < map.row_bytes())?;
            Some((row, within, row_at))
        });
        let Some((row, within, at)) = held else {
            return Cell {
                label: "-".into(),
                tint: Tint::Gap,
                ..Cell::default()
            };
        };
        let first = |i: u64| {
            let mut at = at.clone();
            at[0] += ((within + i) / element_bytes) as i64;
            at
        };
        let (label, inside) = match map.interleave {
            Interleave::None => {
                let bytes = (0..PIECE.min(map.row_bytes() - within)).step_by(element_bytes as usize);
                (
                    coordinates(&first(0)),
                    bytes.filter(|&i| map.contains(&first(i))).count(),
                )
            }
            _ if within > 0 => (format!("{}+{within}", coordinates(at)), usize::from(map.contains(at))),
            _ => (coordinates(at), usize::from(map.contains(at))),
        };
        Cell {
            label: if inside == 0 { fill(map).to_owned() } else { label },
            tint: if inside == 0 {
                Tint::Outside
            } else {
                Tint::Hue(row as u64)
            },
            framed: false,
            data: data([
                ("address", json!(address)),
                ("image_row", json!(row)),
                ("byte_of_row", json!(within)),
            ]),
        }
    };
    let mut panel = Panel::filled(
        "shared memory, 16 bytes a cell: coordinates of the first element",
        ("line", "place"),
        0..lines,
        0..LINE / PIECE,
        cell,
    );
    panel.rows = (0..lines)
        .map(|line| format!("{:#x}", base / LINE * LINE + line * LINE))
        .collect();
    Some(panel)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor_map::{Format, L2Promotion, Swizzle};

    fn map(dims: &[u64], box_dims: &[u32], swizzle: Swizzle) -> TensorMap {
        TensorMap {
            format: Format::U16,
            address: 0,
            dims: dims.to_vec(),
            strides: vec![64; dims.len() - 1],
            mode: Mode::Tiled {
                box_dims: box_dims.to_vec(),
            },
            element_strides: vec![1; dims.len()],
            interleave: Interleave::None,
            swizzle,
            fill: Fill::Zero,
            l2_promotion: L2Promotion::None,
        }
    }

    fn draw(map: &TensorMap, start: Start) -> Drawing {
        tensor_box("copy", map, &start, 0, &Caps::SM_103).expect("it fits")
    }

    /// The cell of a tensor's plane at this row and column of the tensor.
    fn at(panel: &Panel, row: i64, column: i64) -> &Cell {
        let find = |names: &[String], at: i64| names.iter().position(|name| *name == at.to_string()).expect("drawn");
        &panel.cells[find(&panel.rows, row)][find(&panel.columns, column)]
    }

    #[test]
    fn what_is_taken_what_is_not_and_what_lies_outside() {
        let drawing = draw(&map(&[20, 8], &[16, 4], Swizzle::None), Start::Tile(vec![8, 6]));
        let tensor = &drawing.panels[0];
        assert_eq!(at(tensor, 6, 8).label, "r0");
        assert_eq!(at(tensor, 7, 19).label, "r1");
        assert_eq!(
            (at(tensor, 6, 20).label.as_str(), at(tensor, 6, 20).tint),
            ("0", Tint::Outside)
        );
        assert_eq!(at(tensor, 8, 8).tint, Tint::Outside);
        assert_eq!(
            (at(tensor, 5, 8).label.as_str(), at(tensor, 5, 8).tint),
            (".", Tint::Plain)
        );
        // Two rows end 4 elements early, two lie outside altogether.
        assert_eq!(drawing.data["outside"], 2 * 4 + 2 * 16);
        assert!(drawing.notes[0].contains("completes 128 bytes"));
    }

    #[test]
    fn shared_memory_shows_every_element_where_the_swizzle_puts_it() {
        for swizzle in [
            Swizzle::None,
            Swizzle::B32,
            Swizzle::B64,
            Swizzle::B128,
            Swizzle::B128Atom32,
        ] {
            for base in [0, 128, 1024] {
                let map = map(&[64, 64], &[16, 9], swizzle);
                let drawing = tensor_box("copy", &map, &Start::Tile(vec![16, 3]), base, &Caps::SM_103).expect("fits");
                let image = drawing.panels.last().expect("the image");
                let mut seen = 0;
                for cell in image.cells.iter().flatten().filter(|cell| cell.tint != Tint::Gap) {
                    let number = |name: &str| cell.data[name].as_u64().expect("a number");
                    let (row, within) = (number("image_row"), number("byte_of_row"));
                    let offset = map.image_offset(&[within / 2, row]).expect("whole bytes");
                    assert_eq!(swizzle.apply(base + offset), number("address"));
                    assert_eq!(cell.label, format!("{},{}", 3 + row, 16 + within / 2));
                    seen += 1;
                }
                assert_eq!(seen, 9 * 2, "{} at {base}", swizzle.name());
            }
        }
    }

    #[test]
    fn long_rows_are_drawn_by_pieces() {
        let drawing = draw(&map(&[100, 4], &[64, 2], Swizzle::B128), Start::Tile(vec![48, 1]));
        let tensor = &drawing.panels[0];
        assert_eq!((tensor.columns[0].as_str(), tensor.columns[1].as_str()), ("0", "8"));
        assert_eq!(at(tensor, 1, 48).label, "r0");
        assert_eq!(at(tensor, 2, 96).label, "r1\n4/8");
        assert_eq!(at(tensor, 2, 104).label, "0");
    }

    #[test]
    fn pixels_and_their_bounding_box() {
        let mut map = map(&[8, 4, 3, 2], &[8], Swizzle::None);
        map.mode = Mode::Im2col {
            lower: vec![-1, -1],
            upper: vec![-1, -1],
            channels_per_pixel: 8,
            pixels_per_column: 12,
        };
        let start = Start::Im2col {
            coords: vec![0, -1, -1, 0],
            offsets: vec![2, 0],
        };
        let drawing = draw(&map, start);
        let image = &drawing.panels[0];
        assert_eq!(image.axes, ("H".into(), "W".into()));
        // Bases go over 4 x 3 places from (-1, -1); the tap reads two columns to the right.
        assert_eq!(at(image, -1, 1).tint, Tint::Outside);
        assert_eq!(at(image, 0, 1).label, "r4");
        assert_eq!(at(image, 0, 3).label, "r6");
        assert_eq!(at(image, 0, 4).tint, Tint::Outside);
        assert!(at(image, -1, -1).framed && at(image, 1, 2).framed && !at(image, 1, 3).framed);
        assert_eq!(drawing.panels.len(), 2, "one image of the batch, and shared memory");
    }

    #[test]
    fn interleaved_slices_and_gathered_rows() {
        let mut slices = map(&[6, 5, 2], &[4, 1, 1], Swizzle::B32);
        slices.interleave = Interleave::B32;
        let drawing = draw(&slices, Start::Tile(vec![4, 2, 1]));
        assert_eq!(at(&drawing.panels[0], 2, 4).label, "r0");
        assert_eq!(at(&drawing.panels[0], 2, 6).tint, Tint::Outside);
        assert_eq!(drawing.data["outside"], 2);
        let gathered = map(&[32, 16], &[16, 1], Swizzle::None);
        let drawing = draw(&gathered, Start::Rows(8, [3, 9, 3, 20]));
        assert_eq!(at(&drawing.panels[0], 9, 8).label, "r1");
        assert_eq!(at(&drawing.panels[0], 3, 8).data["image_rows"], json!([0, 2]));
        assert_eq!(at(&drawing.panels[0], 20, 8).tint, Tint::Outside);
    }

    #[test]
    fn broken_rules_are_quoted() {
        let map = map(&[64, 64], &[24, 4], Swizzle::B32);
        let drawing = tensor_box("copy", &map, &Start::Tile(vec![4, 0]), 64, &Caps::SM_90).expect("it can be drawn");
        let said = drawing.notes.join("\n");
        assert!(
            said.contains("the driver refuses the map: box[0] = 48 bytes, but swizzle 32 allows at most 32"),
            "{said}"
        );
        assert!(said.contains("the copy goes wrong: coords[0] = 4"), "{said}");
        assert!(said.contains("shared address = 0x40"), "{said}");
        assert!(tensor_box("copy", &map, &Start::Tile(vec![0]), 0, &Caps::SM_90).is_err());
    }
}
