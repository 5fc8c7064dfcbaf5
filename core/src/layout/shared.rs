//! A matrix in shared memory, of any size: the explicit path beside [`shared_offsets`], which needs powers of two.
//!
//! Rows lie as tensor copies put them. Without swizzle they follow each other; with one they lie at the pitch of its span,
//! and a row wider than the span continues in the next panel:
//!
//! ```text
//! 4 rows of 160 bytes, swizzle 64       panel 0       panel 1       panel 2
//!   offset of row r, panel p, byte b    r*64 + b      256 + r*64+b  512 + r*64+b (32 bytes, then a gap of 32)
//!   stored at swizzle.apply(that)
//! ```
//!
//! The 96-byte swizzle is one of those that need this path: its pitch is no power of two, so that rows are added, not
//! exclusive-or-ed, to the offset.
use super::{BankCount, Dim, LayoutError, LinearLayout, Repeated, banks, shared_offsets};
use crate::tensor_map::Swizzle;

/// A matrix of `rows` x `columns` in shared memory, from a base at a multiple of the swizzle's period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SharedTile {
    rows: u64,
    columns: u64,
    element_bytes: u64,
    swizzle: Swizzle,
}

impl SharedTile {
    /// Most bytes that a tile may have: more than any block's shared memory.
    const LARGEST_BYTES: u64 = 1 << 20;

    /// Errors: [`LayoutError::Shape`] for an empty tile, for one beyond a mebibyte, and for elements that the swizzle would
    /// tear apart.
    pub fn new(rows: u64, columns: u64, element_bytes: u64, swizzle: Swizzle) -> Result<SharedTile, LayoutError> {
        let bytes = rows
            .checked_mul(columns)
            .and_then(|elements| elements.checked_mul(element_bytes));
        if bytes.is_none_or(|bytes| bytes == 0 || bytes > SharedTile::LARGEST_BYTES) {
            return Err(LayoutError::Shape(format!(
                "a tile of {rows} x {columns} elements of {element_bytes} bytes; expected 1 to {} bytes in all",
                SharedTile::LARGEST_BYTES
            )));
        }
        if !matches!(element_bytes, 1 | 2 | 4 | 8 | 16) || element_bytes > swizzle.atom_bytes() {
            return Err(LayoutError::Shape(format!(
                "elements of {element_bytes} bytes do not move as one under swizzle {}; its atoms have {} bytes",
                swizzle.name(),
                swizzle.atom_bytes()
            )));
        }
        Ok(SharedTile {
            rows,
            columns,
            element_bytes,
            swizzle,
        })
    }

    /// Rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Columns.
    pub fn columns(&self) -> u64 {
        self.columns
    }

    /// Bytes of an element.
    pub fn element_bytes(&self) -> u64 {
        self.element_bytes
    }

    /// Swizzle.
    pub fn swizzle(&self) -> Swizzle {
        self.swizzle
    }

    /// Columns of one panel: what fits the swizzle's span, all of them without one.
    pub fn panel_columns(&self) -> u64 {
        let fit = self.swizzle.span_bytes().map(|span| span / self.element_bytes);
        fit.map_or(self.columns, |fit| fit.min(self.columns))
    }

    /// Bytes from one row of a panel to the next.
    pub fn pitch_bytes(&self) -> u64 {
        self.swizzle.span_bytes().unwrap_or(self.columns * self.element_bytes)
    }

    /// Bytes of shared memory, gaps included.
    pub fn bytes(&self) -> u64 {
        self.columns.div_ceil(self.panel_columns()) * self.rows * self.pitch_bytes()
    }

    /// Byte offset of an element; `None` outside the tile.
    pub fn offset(&self, row: u64, column: u64) -> Option<u64> {
        let inside = row < self.rows && column < self.columns;
        let panel = self.panel_columns();
        inside.then(|| {
            let line = column / panel * self.rows + row;
            self.swizzle
                .apply(line * self.pitch_bytes() + column % panel * self.element_bytes)
        })
    }

    /// Row and column of the element whose bytes lie at this offset; `None` in gaps and past the end.
    pub fn element_at(&self, offset: u64) -> Option<(u64, u64)> {
        let logical = self.swizzle.apply(offset);
        let (line, within) = (logical / self.pitch_bytes(), logical % self.pitch_bytes());
        let (panel, row) = (line / self.rows, line % self.rows);
        let column = within / self.element_bytes;
        let all = panel * self.panel_columns() + column;
        (column < self.panel_columns() && all < self.columns).then_some((row, all))
    }

    /// The same as a linear map, coordinates to offset in elements, where the sizes are powers of two; see
    /// [`shared_offsets`].
    pub fn layout(&self) -> Result<LinearLayout, LayoutError> {
        let (outer, inner) = ((Dim::Axis(0), self.rows), (Dim::Axis(1), self.columns));
        shared_offsets(outer, inner, self.element_bytes, self.swizzle)
    }

    /// First and last bank of an element.
    pub fn banks(&self, row: u64, column: u64) -> Option<(u64, u64)> {
        let offset = self.offset(row, column)?;
        let bank = |byte: u64| byte / 4 % banks::BANKS;
        Some((bank(offset), bank(offset + self.element_bytes - 1)))
    }

    /// What it costs the slowest warp of `threads` ((register, lane, warp) to (row, column)) to load or store its elements:
    /// counted thread by thread, so that it holds for every size. Elements outside the tile are masked. Accesses are as
    /// wide as consecutive registers of every thread lie at consecutive offsets, at most 16 bytes and at most `widest`.
    pub fn bank_count(&self, threads: &Repeated, widest: Option<u64>) -> BankCount {
        let lanes = 1 << threads.atom.input_bits(Dim::Lane);
        let warps = 1 << threads.atom.input_bits(Dim::Warp);
        let address = |register, lane, warp| {
            let at = threads.apply(&[(Dim::Register, register), (Dim::Lane, lane), (Dim::Warp, warp)]);
            let coordinate = |axis| at.iter().find(|(dim, _)| *dim == axis).map_or(0, |&(_, value)| value);
            self.offset(coordinate(Dim::Axis(0)), coordinate(Dim::Axis(1)))
        };
        let repeated = threads.atom.repeated_registers();
        let registers: Vec<u64> = (0..threads.registers())
            .filter(|register| register & repeated & ((1 << threads.atom.input_bits(Dim::Register)) - 1) == 0)
            .collect();
        let is_run = |width: usize| {
            registers.len().is_multiple_of(width)
                && (0..warps).all(|warp| {
                    (0..lanes).all(|lane| {
                        registers.chunks(width).all(|run| {
                            let places: Vec<_> = run.iter().map(|&register| address(register, lane, warp)).collect();
                            match places[0] {
                                None => places.iter().all(Option::is_none),
                                Some(first) => {
                                    first.is_multiple_of(width as u64 * self.element_bytes)
                                        && places
                                            .iter()
                                            .zip(0..)
                                            .all(|(place, i)| *place == Some(first + i * self.element_bytes))
                                }
                            }
                        })
                    })
                })
        };
        let limit = 16.min(widest.unwrap_or(16)) / self.element_bytes;
        let width = [16, 8, 4, 2]
            .into_iter()
            .find(|&width| width <= limit && is_run(width as usize))
            .unwrap_or(1);
        let vector_bytes = width * self.element_bytes;
        let runs: Vec<_> = registers.chunks(width as usize).collect();
        let cost = |warp| {
            let mut count = BankCount {
                vector_bytes,
                accesses: runs.len() as u64,
                wavefronts: 0,
                ideal: 0,
            };
            for run in &runs {
                let addresses: Vec<_> = (0..lanes).map(|lane| address(run[0], lane, warp)).collect();
                count.wavefronts += banks::wavefronts(&addresses, vector_bytes);
                count.ideal += banks::ideal_wavefronts(&addresses, vector_bytes);
            }
            count
        };
        let counts = (0..warps).map(cost);
        // At least warp 0 exists; among equals the first.
        counts
            .rev()
            .max_by_key(|count| count.wavefronts)
            .unwrap_or_else(|| cost(0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{matrix_rows, mma_a, shared_bank_count, wgmma_accumulator};
    use super::*;
    use crate::tensor_map::{Fill, Format, Interleave, L2Promotion, Mode, TensorMap};
    use proptest::prelude::*;

    fn any_tile() -> impl Strategy<Value = SharedTile> {
        let swizzle = proptest::sample::select(Swizzle::ALL.to_vec());
        (1u64..20, 1u64..70, 0u32..4, swizzle).prop_filter_map("a legal tile", |(rows, columns, size, swizzle)| {
            SharedTile::new(rows, columns, 1 << size, swizzle).ok()
        })
    }

    proptest! {
        #[test]
        fn every_element_has_its_own_bytes(tile in any_tile()) {
            let mut taken = vec![None; tile.bytes().next_multiple_of(1024) as usize];
            for row in 0..tile.rows() {
                for column in 0..tile.columns() {
                    let offset = tile.offset(row, column).expect("inside");
                    prop_assert!(offset.is_multiple_of(tile.element_bytes()));
                    for byte in offset..offset + tile.element_bytes() {
                        prop_assert_eq!(taken[byte as usize].replace((row, column)), None);
                    }
                }
            }
            for (offset, owner) in taken.into_iter().enumerate() {
                prop_assert_eq!(tile.element_at(offset as u64), owner);
            }
            prop_assert_eq!(tile.offset(tile.rows(), 0), None);
            prop_assert_eq!(tile.offset(0, tile.columns()), None);
        }

        #[test]
        fn panels_are_images_of_tensor_copies(tile in any_tile()) {
            let format = match tile.element_bytes() {
                1 => Format::U8,
                2 => Format::U16,
                4 => Format::U32,
                _ => Format::U64,
            };
            let map = TensorMap {
                format,
                address: 0,
                dims: vec![1 << 20; 2],
                strides: vec![1 << 20],
                mode: Mode::Tiled { box_dims: vec![tile.panel_columns() as u32, tile.rows() as u32] },
                element_strides: vec![1, 1],
                interleave: Interleave::None,
                swizzle: tile.swizzle(),
                fill: Fill::Zero,
                l2_promotion: L2Promotion::None,
            };
            for row in 0..tile.rows() {
                for column in 0..tile.columns() {
                    let (panel, within) = (column / tile.panel_columns(), column % tile.panel_columns());
                    let image = map.image_offset(&[within, row]).expect("whole bytes");
                    let stored = tile.swizzle().apply(panel * map.image_bytes() + image);
                    prop_assert_eq!(tile.offset(row, column), Some(stored));
                }
            }
        }
    }

    #[test]
    fn powers_of_two_are_the_linear_map() {
        for swizzle in Swizzle::ALL {
            let tile = SharedTile::new(16, 64, 2, swizzle).expect("legal");
            let Ok(layout) = tile.layout() else {
                assert_eq!(swizzle, Swizzle::B96, "only a pitch of 96 bytes is no power of two");
                continue;
            };
            for (row, column) in (0..16).flat_map(|row| (0..64).map(move |column| (row, column))) {
                let linear = layout.coordinate(&[(Dim::Axis(0), row), (Dim::Axis(1), column)], Dim::Offset);
                assert_eq!(tile.offset(row, column), Some(2 * linear));
            }
        }
    }

    #[test]
    fn counting_thread_by_thread_agrees_with_the_linear_count() {
        let accesses = [
            (wgmma_accumulator(64, 1).expect("legal"), 64, 64, 4),
            (wgmma_accumulator(64, 1).expect("legal"), 64, 64, 2),
            (mma_a(16).expect("legal"), 16, 16, 2),
            (matrix_rows(2).expect("legal"), 16, 16, 2),
        ];
        for (layout, rows, columns, bytes) in accesses {
            for swizzle in Swizzle::ALL.into_iter().filter(|swizzle| *swizzle != Swizzle::B96) {
                for widest in [None, Some(4)] {
                    let tile = SharedTile::new(rows, columns, bytes, swizzle).expect("legal");
                    let linear = shared_bank_count(&layout, &tile.layout().expect("powers of two"), bytes, widest)
                        .expect("the same tile");
                    assert_eq!(tile.bank_count(&layout.clone().into(), widest), linear, "{swizzle:?}");
                }
            }
        }
    }

    #[test]
    fn rows_of_96_bytes_alternate() {
        // 16-byte pieces of 4 rows of 6: bit 4 is exchanged where the 128-byte line is odd.
        let tile = SharedTile::new(4, 6, 16, Swizzle::B96).expect("legal");
        let row = |row| {
            (0..6)
                .map(|column| tile.offset(row, column).expect("inside") / 16)
                .collect::<Vec<_>>()
        };
        assert_eq!(row(0), [0, 1, 2, 3, 4, 5]);
        assert_eq!(row(1), [6, 7, 9, 8, 11, 10]);
        assert_eq!(row(2), [13, 12, 15, 14, 16, 17]);
        assert!(tile.layout().is_err());
    }

    #[test]
    fn masked_elements_cost_nothing() {
        // 64 x 24 of an accumulator of 64 x 32: a quarter of the registers is masked.
        let threads: Repeated = wgmma_accumulator(32, 1).expect("legal").into();
        let tile = SharedTile::new(64, 24, 4, Swizzle::None).expect("legal");
        let (count, exact) = (
            tile.bank_count(&threads, None),
            tile.bank_count(&Repeated::wgmma_accumulator(24, 1).expect("legal"), None),
        );
        assert_eq!(count.wavefronts, exact.wavefronts);
        assert_eq!((count.accesses, exact.accesses), (8, 6));
    }

    #[test]
    fn what_is_no_tile_is_refused() {
        let error =
            |rows, columns, bytes, swizzle| SharedTile::new(rows, columns, bytes, swizzle).unwrap_err().to_string();
        assert!(error(0, 8, 4, Swizzle::None).contains("0 x 8 elements"));
        assert!(error(u64::MAX, 8, 4, Swizzle::None).contains("expected 1 to 1048576 bytes"));
        assert!(error(8, 8, 3, Swizzle::None).contains("elements of 3 bytes"));
        assert_eq!(
            error(8, 8, 16, Swizzle::B128Atom32Flip8),
            "elements of 16 bytes do not move as one under swizzle 128 (32-byte atoms, 8-byte flip); its atoms have 8 bytes"
        );
    }
}
