//! A register tile: which warp, lane and register holds each element.
use super::{Cell, Drawing, Panel, Tint, data};
use crate::layout::{Dim, LayoutError, Repeated};
use serde_json::{Value, json};

/// Inputs that hold one element.
#[derive(Clone, Copy)]
struct Holder {
    block: u64,
    warp: u64,
    lane: u64,
    register: u64,
}

/// Draws who holds which element of a tile of `shape` (one or two sizes, outermost first); elements of the layout that lie
/// outside `shape` are padding and are left out. `element_bits` tells how elements share 32-bit registers.
///
/// Errors: [`LayoutError::Shape`] for other ranks and for tiles too large to look at.
pub fn registers(title: &str, threads: &Repeated, shape: &[u64], element_bits: u64) -> Result<Drawing, LayoutError> {
    let (rows, columns) = match *shape {
        [columns] => (1, columns),
        [rows, columns] => (rows, columns),
        _ => {
            return Err(LayoutError::Shape(format!(
                "a tile of {} dimensions; expected one or two, rows x columns",
                shape.len()
            )));
        }
    };
    Drawing::check_size(rows, columns)?;
    let sizes = [Dim::Block, Dim::Warp, Dim::Lane].map(|dim| 1u64 << threads.atom.input_bits(dim));
    Drawing::check_size(sizes.iter().product(), threads.registers())?;
    let mut holders = vec![vec![Vec::new(); columns as usize]; rows as usize];
    let mut padding = false;
    for block in 0..sizes[0] {
        for warp in 0..sizes[1] {
            for lane in 0..sizes[2] {
                for register in 0..threads.registers() {
                    let (row, column) = place(threads, shape, [block, warp, lane, register]);
                    match holders
                        .get_mut(row as usize)
                        .and_then(|row| row.get_mut(column as usize))
                    {
                        Some(holders) => holders.push(Holder {
                            block,
                            warp,
                            lane,
                            register,
                        }),
                        None => padding = true,
                    }
                }
            }
        }
    }
    let copies = holders.iter().flatten().map(Vec::len).max().unwrap_or(0);
    let missing = holders.iter().flatten().filter(|holders| holders.is_empty()).count();

    let mut notes = Vec::new();
    let names = [
        (sizes[0] > 1, "b is the block"),
        (sizes[1] > 1, "w the warp"),
        (true, "l the lane"),
        (true, "r the element within the thread"),
    ];
    let mut legend = names
        .iter()
        .filter(|(shown, _)| *shown)
        .map(|(_, name)| *name)
        .collect::<Vec<_>>()
        .join(", ");
    if !legend.starts_with('b') {
        legend = legend.replacen(" the", " is the", 1);
    }
    notes.push(format!("{legend}; {}", sharing(element_bits)));
    if copies > 1 {
        notes.push(format!(
            "an element is held up to {copies} times; the first holder is shown"
        ));
    }
    if missing > 0 {
        notes.push(format!("{missing} elements are held by nobody"));
    }
    if padding {
        notes.push("registers that hold padding outside the tile are masked and not shown".into());
    }

    let label = |holder: &Holder| {
        let mut threads = String::new();
        if sizes[0] > 1 {
            threads.push_str(&format!("b{} ", holder.block));
        }
        if sizes[1] > 1 {
            threads.push_str(&format!("w{} ", holder.warp));
        }
        format!("{threads}l{}\nr{}", holder.lane, holder.register)
    };
    let as_data = |holder: &Holder| {
        let mut all = data([
            ("warp", json!(holder.warp)),
            ("lane", json!(holder.lane)),
            ("register", json!(holder.register)),
        ]);
        if sizes[0] > 1 {
            all.insert("block".into(), json!(holder.block));
        }
        Value::Object(all)
    };
    let cell = |row: u64, column: u64| {
        let holders = &holders[row as usize][column as usize];
        Cell {
            label: holders.first().map_or("-".into(), label),
            tint: holders.first().map_or(Tint::Gap, |holder| Tint::Hue(holder.lane)),
            framed: false,
            data: data([
                ("row", json!(row)),
                ("column", json!(column)),
                ("holders", holders.iter().map(as_data).collect()),
            ]),
        }
    };
    let mut listing: Vec<String> = threads.atom.to_string().lines().map(str::to_owned).collect();
    for (axis, count) in threads.counts.iter().filter(|(_, count)| *count > 1) {
        listing.push(format!("{count} of these along {axis}, in further registers"));
    }
    Ok(Drawing {
        title: title.to_owned(),
        notes,
        panels: vec![Panel::filled("", ("row", "column"), 0..rows, 0..columns, cell)],
        listing,
        data: data([
            ("shape", json!(shape)),
            ("registers_per_thread", json!(threads.registers())),
            ("warps", json!(sizes[1])),
            ("copies", json!(copies)),
        ]),
    })
}

/// Row and column that these inputs hold; a tile of one dimension is a row.
fn place(threads: &Repeated, shape: &[u64], [block, warp, lane, register]: [u64; 4]) -> (u64, u64) {
    let at = threads.apply(&[
        (Dim::Register, register),
        (Dim::Lane, lane),
        (Dim::Warp, warp),
        (Dim::Block, block),
    ]);
    let coordinate = |axis| {
        at.iter()
            .find(|(dim, _)| *dim == Dim::Axis(axis))
            .map_or(0, |&(_, value)| value)
    };
    match shape.len() {
        1 => (0, coordinate(0)),
        _ => (coordinate(0), coordinate(1)),
    }
}

/// How elements share 32-bit registers.
fn sharing(element_bits: u64) -> String {
    match element_bits {
        32 => "each takes one 32-bit register".into(),
        33.. => format!("each takes {} 32-bit registers", element_bits.div_ceil(32)),
        bits => format!(
            "32-bit register r / {} holds {} of them",
            32 / bits.max(1),
            32 / bits.max(1)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Blocked, wgmma_accumulator};
    use crate::wgmma;

    #[test]
    fn an_accumulator_is_drawn_as_the_manual_defines_it() {
        for n in [8u32, 24, 32] {
            let threads = Repeated::wgmma_accumulator(n.into(), 1).expect("legal");
            let drawing = registers("wgmma_d", &threads, &[64, n.into()], 32).expect("small");
            let cells = &drawing.panels[0].cells;
            for thread in 0..128 {
                for index in 0..wgmma::accumulator_len(n) {
                    let (row, column) = wgmma::accumulator(thread, index);
                    let cell = &cells[row as usize][column as usize];
                    assert_eq!(cell.label, format!("w{} l{}\nr{index}", thread / 32, thread % 32));
                    assert_eq!(
                        cell.data["holders"],
                        json!([{"warp": thread / 32, "lane": thread % 32, "register": index}])
                    );
                }
            }
        }
    }

    #[test]
    fn copies_and_padding_are_said() {
        let sliced: Repeated = wgmma_accumulator(16, 1).expect("legal").sliced(1).into();
        let drawing = registers("rows", &sliced, &[64], 32).expect("small");
        assert_eq!(
            (drawing.panels[0].cells.len(), drawing.panels[0].cells[0].len()),
            (1, 64)
        );
        assert_eq!(drawing.data["copies"], 4);
        assert!(drawing.notes[1].contains("held up to 4 times"));
        let padded: Repeated = wgmma_accumulator(16, 1).expect("legal").into();
        let drawing = registers("padded", &padded, &[60, 10], 16).expect("small");
        assert!(drawing.notes[0].ends_with("32-bit register r / 2 holds 2 of them"));
        assert!(drawing.notes.iter().any(|note| note.contains("padding")));
        // Every true element is there, and none of the others.
        assert!(
            drawing.panels[0]
                .cells
                .iter()
                .flatten()
                .all(|cell| cell.label.starts_with('w'))
        );
        assert_eq!(drawing.panels[0].cells.iter().flatten().count(), 600);
    }

    #[test]
    fn blocks_and_missing_elements_are_named() {
        let blocked = Blocked {
            per_thread: vec![1, 2],
            lanes: vec![4, 8],
            warps: vec![1, 1],
            order: vec![1, 0],
        };
        let layout = blocked.layout(&[4, 16]).expect("legal");
        let two = layout
            .product(&crate::layout::LinearLayout::identity(Dim::Block, Dim::Axis(0), 1))
            .expect("fits");
        let drawing = registers("two blocks", &two.into(), &[8, 16], 32).expect("small");
        assert_eq!(drawing.panels[0].cells[5][3].label, "b1 l9\nr1");
        assert!(drawing.notes[0].starts_with("b is the block, l the lane"));
        let drawing = registers("too large", &layout.into(), &[8, 16], 32).expect("small");
        assert!(
            drawing
                .notes
                .iter()
                .any(|note| note == "64 elements are held by nobody")
        );
        assert!(registers("cube", &wgmma_accumulator(8, 1).expect("legal").into(), &[2, 2, 2], 32).is_err());
    }
}
