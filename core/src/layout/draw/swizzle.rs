//! The table of a swizzle as the PTX manual prints it (PTX ISA 9.4 section 5.5.7): lines of 128 bytes, and in each of their
//! eight 16-byte places the number of the piece that is stored there.
use super::{Cell, Drawing, Panel, Tint, data};
use crate::{layout::LayoutError, target::Target, tensor_map::Swizzle};
use serde_json::json;

/// Every mode by the words of `#tile.shared`: swizzle, atom.
pub const SWIZZLES: [(&str, &str, Swizzle); 8] = [
    ("none", "16", Swizzle::None),
    ("32", "16", Swizzle::B32),
    ("64", "16", Swizzle::B64),
    ("96", "16", Swizzle::B96),
    ("128", "16", Swizzle::B128),
    ("128", "32", Swizzle::B128Atom32),
    ("128", "b32_flip_8", Swizzle::B128Atom32Flip8),
    ("128", "64", Swizzle::B128Atom64),
];

/// Bytes of a line and of a piece.
const LINE: u64 = 128;
const PIECE: u64 = 16;

/// Draws one period of a swizzle from shared address `base` on, a multiple of 128. Where the mode exchanges the 8-byte
/// halves of pieces, cells show halves: `2.1 2.0` is piece 2 with its halves exchanged.
///
/// Errors: [`LayoutError::Shape`] for a base off a line.
pub fn swizzle(mode: Swizzle, base: u64) -> Result<Drawing, LayoutError> {
    if !base.is_multiple_of(LINE) {
        return Err(LayoutError::Shape(format!(
            "base address {base:#x}; expected a multiple of 128, as every tensor copy needs"
        )));
    }
    let lines = mode.period_bytes() / LINE;
    let halves = mode == Swizzle::B128Atom32Flip8;
    // What lies at an address: the swizzle is its own inverse.
    let held = |address: u64| mode.apply(address) % LINE;
    let cell = |line: u64, place: u64| {
        let address = base + line * LINE + place * PIECE;
        let piece = held(address) / PIECE;
        let label = match halves {
            true => {
                let half = |address| held(address) / 8;
                let name = |half: u64| format!("{}.{}", half / 2, half % 2);
                format!("{} {}", name(half(address)), name(half(address + 8)))
            }
            false => piece.to_string(),
        };
        Cell {
            label,
            tint: Tint::Hue(piece),
            framed: false,
            data: data([
                ("line", json!(line)),
                ("place", json!(place)),
                ("address", json!(address)),
                ("piece", json!(piece)),
                ("halves_exchanged", json!(held(address) % PIECE == 8)),
            ]),
        }
    };
    let targets: Vec<_> = Target::all().filter(|&target| exists_on(mode, target)).collect();
    let first = targets
        .first()
        .map_or("no target".into(), |target| format!("{target} and later"));
    let on = match mode {
        Swizzle::B96 => "sm_103 and sm_107".to_owned(),
        _ => first,
    };
    let mut notes = vec![
        format!(
            "a number is the 16-byte piece of its line that is stored there; {}",
            swizzle_function(mode)
        ),
        format!(
            "repeats after {} bytes; {}",
            mode.period_bytes(),
            match mode.span_bytes() {
                Some(span) => format!("rows of up to {span} bytes, atoms of {} bytes", mode.atom_bytes()),
                None => "rows of any length".into(),
            }
        ),
        format!("tensor maps have it on {on}"),
    ];
    if !base.is_multiple_of(mode.period_bytes()) {
        let off = base % mode.period_bytes() / LINE;
        notes.push(format!(
            "the base lies {off} lines past a multiple of the period: the pattern starts there"
        ));
    }
    Ok(Drawing {
        title: format!("swizzle {}", mode.name()),
        notes,
        panels: vec![Panel::filled("", ("line", "place"), 0..lines, 0..LINE / PIECE, cell)],
        listing: Vec::new(),
        data: data([
            ("swizzle", json!(mode.name())),
            ("base", json!(base)),
            ("period_bytes", json!(mode.period_bytes())),
            ("span_bytes", json!(mode.span_bytes())),
            ("atom_bytes", json!(mode.atom_bytes())),
            ("function", json!(swizzle_function(mode))),
        ]),
    })
}

fn exists_on(mode: Swizzle, target: Target) -> bool {
    let atoms = mode.atom_bytes() != 16;
    target
        .tensor_map_caps()
        .is_some_and(|caps| (!atoms || caps.swizzle_atoms) && (mode != Swizzle::B96 || caps.swizzle_96))
}

/// A swizzle in words, from its images of single address bits: `address bits 4 ^= 7, 5 ^= 8`.
pub fn swizzle_function(mode: Swizzle) -> String {
    let moved: Vec<(u32, u32)> = (0..16)
        .flat_map(|from| {
            let added = mode.apply(1 << from) ^ (1 << from);
            (0..16).filter(move |to| added >> to & 1 != 0).map(move |to| (to, from))
        })
        .collect();
    if moved.is_empty() {
        return "addresses stay as they are".into();
    }
    let mut moved = moved;
    moved.sort_unstable();
    let bits: Vec<_> = moved.iter().map(|(to, from)| format!("{to} ^= {from}")).collect();
    format!("address bits {}", bits.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables of PTX ISA 9.4 section 5.5.7, one digit a piece.
    const TABLES: [(Swizzle, &[&str]); 7] = [
        (Swizzle::None, &["01234567"]),
        (Swizzle::B32, &["01234567", "10325476"]),
        (Swizzle::B64, &["01234567", "10325476", "23016745", "32107654"]),
        (Swizzle::B96, &["01234567", "10325476"]),
        (
            Swizzle::B128,
            &[
                "01234567", "10325476", "23016745", "32107654", "45670123", "54761032", "67452301", "76543210",
            ],
        ),
        (Swizzle::B128Atom32, &["01234567", "23016745", "45670123", "67452301"]),
        (Swizzle::B128Atom64, &["01234567", "45670123"]),
    ];

    #[test]
    fn tables_are_those_of_the_manual() {
        for (mode, table) in TABLES {
            let drawing = swizzle(mode, 0).expect("a line");
            let lines: Vec<String> = (drawing.panels[0].cells.iter())
                .map(|cells| cells.iter().map(|cell| cell.label.as_str()).collect())
                .collect();
            assert_eq!(lines, table, "{}", mode.name());
        }
    }

    #[test]
    fn every_other_line_exchanges_halves() {
        let drawing = swizzle(Swizzle::B128Atom32Flip8, 0).expect("a line");
        let line = |line: usize| {
            let cells = drawing.panels[0].cells[line].iter();
            cells.map(|cell| cell.label.as_str()).collect::<Vec<_>>().join("|")
        };
        assert_eq!(
            line(0),
            "0.0 0.1|1.0 1.1|2.0 2.1|3.0 3.1|4.0 4.1|5.0 5.1|6.0 6.1|7.0 7.1"
        );
        assert_eq!(
            line(1),
            "2.1 2.0|3.1 3.0|0.1 0.0|1.1 1.0|6.1 6.0|7.1 7.0|4.1 4.0|5.1 5.0"
        );
        assert_eq!(drawing.panels[0].cells.len(), 4);
    }

    #[test]
    fn every_byte_is_where_the_swizzle_puts_it() {
        for mode in Swizzle::ALL {
            for base in [0, 128, 640, 4096] {
                let drawing = swizzle(mode, base).expect("a line");
                for cell in drawing.panels[0].cells.iter().flatten() {
                    let number = |name: &str| cell.data[name].as_u64().expect("a number");
                    let logical = base + number("line") * LINE + number("piece") * PIECE;
                    let flip = if cell.data["halves_exchanged"] == true { 8 } else { 0 };
                    assert_eq!(mode.apply(logical + flip), number("address"), "{}", mode.name());
                }
            }
        }
    }

    #[test]
    fn functions_are_said_in_bits() {
        assert_eq!(swizzle_function(Swizzle::None), "addresses stay as they are");
        assert_eq!(swizzle_function(Swizzle::B128), "address bits 4 ^= 7, 5 ^= 8, 6 ^= 9");
        assert_eq!(
            swizzle_function(Swizzle::B128Atom32Flip8),
            "address bits 3 ^= 7, 5 ^= 7, 6 ^= 8"
        );
        assert!(swizzle(Swizzle::B32, 64).unwrap_err().to_string().contains("0x40"));
        let turned = swizzle(Swizzle::B128, 128).expect("a line");
        assert!(turned.notes[3].starts_with("the base lies 1 lines past"));
    }
}
