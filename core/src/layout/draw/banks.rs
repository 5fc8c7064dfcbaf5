//! A tile in shared memory: the bank of each element, and how many wavefronts accesses take.
use super::{Cell, Drawing, Panel, Tint, data};
use crate::layout::{BankCount, Dim, LayoutError, Named, Repeated, SharedTile, banks as counted, matrix_rows};
use serde_json::json;

/// A way in which one warp goes over a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Lanes take neighbours in a row, so many bytes each.
    Row(u64),
    /// Lanes take neighbours in a column, one element each.
    Column,
    /// `ldmatrix` or `stmatrix` of 2^n matrices (0 to 2), all positions at multiples of 8.
    Matrices(u32),
    /// The elements that threads hold: (register, lane, warp) to (row, column).
    Threads(String, Repeated),
}

impl Access {
    /// What people look at first: rows with narrow and wide accesses, columns, matrices, and the accumulators that fit.
    pub fn usual(tile: &SharedTile) -> Vec<Access> {
        let mut all = vec![Access::Row(tile.element_bytes()), Access::Row(16), Access::Column];
        all.extend((0..3).map(Access::Matrices));
        let names = ["mma_d", "wgmma_d"].iter();
        all.extend(names.filter_map(|name| Access::parse(name, tile).ok()));
        all.dedup();
        all
    }

    /// `row` (one element a lane), `row:16` (16 bytes a lane), `column`, `ldmatrix.x1`, `.x2` and `.x4` (`stmatrix` is the
    /// same), or a [`Named`] layout of the whole tile.
    ///
    /// Errors: [`LayoutError::Shape`] for other words, and for layouts that the tile has not.
    pub fn parse(text: &str, tile: &SharedTile) -> Result<Access, LayoutError> {
        let matrices = text
            .strip_prefix("ldmatrix.x")
            .or_else(|| text.strip_prefix("stmatrix.x"));
        match (
            text,
            text.strip_prefix("row:").and_then(|bytes| bytes.parse().ok()),
            matrices,
        ) {
            ("row", _, _) => Ok(Access::Row(tile.element_bytes())),
            (_, Some(bytes @ (1 | 2 | 4 | 8 | 16)), _) => Ok(Access::Row(bytes)),
            ("column", _, _) => Ok(Access::Column),
            (_, _, Some("1")) => Ok(Access::Matrices(0)),
            (_, _, Some("2")) => Ok(Access::Matrices(1)),
            (_, _, Some("4")) => Ok(Access::Matrices(2)),
            _ => {
                let named = Named::parse(text).map_err(|error| {
                    LayoutError::Shape(format!(
                        "{error}; or row, row:16, column, ldmatrix.x1, ldmatrix.x2, ldmatrix.x4"
                    ))
                })?;
                let threads = named.tile(&[tile.rows(), tile.columns()], 8 * tile.element_bytes())?;
                Ok(Access::Threads(named.name().into(), threads))
            }
        }
    }

    /// What it is called.
    pub fn name(&self) -> String {
        match self {
            Access::Row(bytes) => format!("row, {bytes} bytes a lane"),
            Access::Column => "column".into(),
            Access::Matrices(log2) => format!("ldmatrix.x{}", 1 << log2),
            Access::Threads(name, _) => name.clone(),
        }
    }

    /// What it costs; `None` where the tile cannot be accessed so.
    pub fn count(&self, tile: &SharedTile) -> Option<BankCount> {
        let (rows, columns) = (tile.rows(), tile.columns());
        let groups: Vec<Vec<Option<u64>>>;
        let bytes = match self {
            Access::Threads(_, threads) => {
                let fits = |axis, size| threads.size(Dim::Axis(axis)) >= size;
                return (fits(0, rows) && fits(1, columns)).then(|| tile.bank_count(threads, None));
            }
            Access::Row(bytes) => {
                let step = bytes / tile.element_bytes();
                if step == 0 || *bytes > tile.swizzle().atom_bytes() || !columns.is_multiple_of(step) {
                    return None;
                }
                let starts: Vec<_> = (0..rows * columns)
                    .step_by(step as usize)
                    .map(|i| tile.offset(i / columns, i % columns))
                    .collect();
                if starts.iter().flatten().any(|offset| !offset.is_multiple_of(*bytes)) {
                    return None;
                }
                groups = starts.chunks(32).map(<[_]>::to_vec).collect();
                *bytes
            }
            Access::Column => {
                let all: Vec<_> = (0..rows * columns).map(|i| tile.offset(i % rows, i / rows)).collect();
                groups = all.chunks(32).map(<[_]>::to_vec).collect();
                tile.element_bytes()
            }
            Access::Matrices(log2) => {
                let lanes = matrix_rows(*log2).ok()?;
                let (high, wide) = (
                    1u64 << lanes.output_bits(Dim::Axis(0)),
                    1u64 << lanes.output_bits(Dim::Axis(1)),
                );
                let whole = tile.element_bytes() == 2 && rows.is_multiple_of(high) && columns.is_multiple_of(wide);
                if !whole || tile.swizzle().atom_bytes() < 16 {
                    return None;
                }
                let corners = (0..rows / high).flat_map(|i| (0..columns / wide).map(move |j| (i * high, j * wide)));
                let rows_of = |(row, column): (u64, u64)| {
                    // Lanes beyond 8 for each matrix address nothing that is used.
                    let lane = |lane| {
                        let at = |axis| lanes.coordinate(&[(Dim::Lane, lane)], Dim::Axis(axis));
                        tile.offset(row + at(0), column + at(1))
                    };
                    (0..8 << log2).map(lane).collect::<Vec<_>>()
                };
                groups = corners.map(rows_of).collect();
                if groups.iter().flatten().flatten().any(|offset| offset % 16 != 0) {
                    return None;
                }
                16
            }
        };
        let sum = |each: fn(&[Option<u64>], u64) -> u64| groups.iter().map(|lanes| each(lanes, bytes)).sum();
        Some(BankCount {
            vector_bytes: bytes,
            accesses: groups.len() as u64,
            wavefronts: sum(counted::wavefronts),
            ideal: sum(counted::ideal_wavefronts),
        })
    }
}

/// Draws the banks of a tile's elements (`3`, or `6-7` for an element of two banks), one hue for each 16 bytes of a line,
/// and says what `accesses` cost; those that the tile cannot have are left out.
///
/// Errors: [`LayoutError::Shape`] for tiles too large to look at.
pub fn banks(title: &str, tile: &SharedTile, accesses: &[Access]) -> Result<Drawing, LayoutError> {
    Drawing::check_size(tile.rows(), tile.columns())?;
    let cell = |row, column| {
        let (Some(offset), Some((first, last))) = (tile.offset(row, column), tile.banks(row, column)) else {
            return Cell::default();
        };
        Cell {
            label: if first == last {
                first.to_string()
            } else {
                format!("{first}-{last}")
            },
            tint: Tint::Hue(first / 4),
            framed: false,
            data: data([
                ("row", json!(row)),
                ("column", json!(column)),
                ("offset", json!(offset)),
                ("first_bank", json!(first)),
                ("last_bank", json!(last)),
            ]),
        }
    };
    let counts: Vec<(String, BankCount)> = accesses
        .iter()
        .filter_map(|access| Some((access.name(), access.count(tile)?)))
        .collect();
    let width = counts
        .iter()
        .map(|(name, _)| name.chars().count())
        .max()
        .unwrap_or(0)
        .max(6);
    let mut listing = vec![format!(
        "{:<width$}  bytes of a lane  accesses  wavefronts  without conflicts  degree",
        "access"
    )];
    for (name, count) in &counts {
        listing.push(format!(
            "{name:<width$}  {:>15}  {:>8}  {:>10}  {:>17}  {:>6}",
            count.vector_bytes,
            count.accesses,
            count.wavefronts,
            count.ideal,
            count.degree()
        ));
    }
    let as_data = |(name, count): &(String, BankCount)| {
        json!({"access": name, "vector_bytes": count.vector_bytes, "accesses": count.accesses,
               "wavefronts": count.wavefronts, "without_conflicts": count.ideal, "degree": count.degree()})
    };
    Ok(Drawing {
        title: title.to_owned(),
        notes: vec![
            "a number is the bank of an element, of 32 banks of 4 bytes; a hue is one 16-byte column of a 128-byte line".into(),
            format!("rows lie {} bytes apart; the tile takes {} bytes", tile.pitch_bytes(), tile.bytes()),
            "costs are those of one warp that goes over the whole tile, or over its own part of a fragment".into(),
        ],
        panels: vec![Panel::filled("", ("row", "column"), 0..tile.rows(), 0..tile.columns(), cell)],
        listing,
        data: data([
            ("pitch_bytes", json!(tile.pitch_bytes())),
            ("bytes", json!(tile.bytes())),
            ("swizzle", json!(tile.swizzle().name())),
            ("accesses", counts.iter().map(as_data).collect()),
        ]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{shared_bank_count, wgmma_accumulator};
    use crate::tensor_map::Swizzle;

    fn tile(rows: u64, columns: u64, bytes: u64, swizzle: Swizzle) -> SharedTile {
        SharedTile::new(rows, columns, bytes, swizzle).expect("legal")
    }

    fn degree(access: Access, tile: &SharedTile) -> u64 {
        access.count(tile).expect("possible").degree()
    }

    #[test]
    fn columns_conflict_until_they_are_swizzled() {
        let plain = tile(64, 32, 4, Swizzle::None);
        assert_eq!(degree(Access::Column, &plain), 32);
        assert_eq!(degree(Access::Row(4), &plain), 1);
        // 16-byte pieces move as one: a column meets 8 of the 32 banks.
        assert_eq!(degree(Access::Column, &tile(64, 32, 4, Swizzle::B128)), 4);
        let halves = tile(64, 64, 2, Swizzle::None);
        assert_eq!(degree(Access::Matrices(2), &halves), 8);
        assert_eq!(degree(Access::Matrices(2), &tile(64, 64, 2, Swizzle::B128)), 1);
    }

    #[test]
    fn numbers_are_the_banks_of_the_addresses() {
        for (columns, bytes) in [(32, 4), (64, 2), (16, 8), (24, 2)] {
            for swizzle in Swizzle::ALL {
                let tile = tile(16, columns, bytes, swizzle);
                let drawing = banks("b", &tile, &[]).expect("small");
                for cell in drawing.panels[0].cells.iter().flatten() {
                    let number = |name: &str| cell.data[name].as_u64().expect("a number");
                    let offset = tile.offset(number("row"), number("column")).expect("inside");
                    let first = offset / 4 % 32;
                    assert_eq!((number("offset"), number("first_bank")), (offset, first));
                    assert_eq!(number("last_bank"), (offset + bytes - 1) / 4 % 32);
                    assert!(cell.label.starts_with(&first.to_string()));
                }
            }
        }
    }

    #[test]
    fn words_name_accesses() {
        let tile = tile(64, 64, 2, Swizzle::B128);
        for text in [
            "row",
            "row:16",
            "column",
            "ldmatrix.x1",
            "stmatrix.x4",
            "wgmma_d",
            "mma_a",
        ] {
            let access = Access::parse(text, &tile).expect("a word");
            assert!(access.count(&tile).is_some(), "{text}");
        }
        let error = Access::parse("diagonal", &tile).unwrap_err().to_string();
        assert!(error.contains("`diagonal`") && error.contains("ldmatrix.x4"), "{error}");
        assert!(Access::parse("row:3", &tile).is_err());
        let names: Vec<_> = Access::usual(&tile).iter().map(Access::name).collect();
        assert_eq!(names.len(), 8, "{names:?}");
    }

    #[test]
    fn a_fragment_costs_what_the_algebra_counts() {
        let threads = wgmma_accumulator(64, 1).expect("legal");
        let tile = tile(64, 64, 2, Swizzle::B128);
        let access = Access::Threads("wgmma_d".into(), threads.clone().into());
        let drawing = banks("b", &tile, &[access.clone(), Access::Row(64)]).expect("small");
        let expected = shared_bank_count(&threads, &tile.layout().expect("powers of two"), 2, None).expect("same tile");
        assert_eq!(access.count(&tile), Some(expected));
        assert_eq!(drawing.data["accesses"][0]["wavefronts"], expected.wavefronts);
        // 64 bytes a lane exist nowhere, and are left out.
        assert_eq!(drawing.data["accesses"].as_array().map(Vec::len), Some(1));
        assert_eq!(drawing.listing.len(), 2);
    }
}
