//! Tiles of a product of matrices that a block's warps compute with `mma.sync`: the accumulator, spread over warps, and the
//! operands as each warp needs them.
//!
//! An instruction multiplies 16 x K by K x 8. A warp has some of these parts of the accumulator, in registers; `MmaTile`
//! says which:
//!
//! ```text
//! register 1, 2          column 1, row 8              the fragment of one instruction, as mma_accumulator has it
//! lane 1, 2              columns 2, 4
//! lane 4, 8, 16          rows 1, 2, 4
//! warp                   rows 16, 32, ... then the highest columns
//! further registers      columns 8, 16, ... then rows
//! ```
//!
//! A tile of fewer than 16 rows or 8 columns folds: lanes and registers that differ in what it has not hold copies, and the
//! instruction computes them as often.
//!
//! **K is numbered as it comes cheapest.** What an instruction calls element k may be any, as long as A and B agree. A
//! thread's elements along K are neighbours: of 8 bits and less as many as fill a register (those of 6 bits take a byte each), of
//! others two, so that of 16, 32 and 64 bits A lies as an accumulator of M x K does, and one product's result is the next one's A
//! without leaving its registers. Where A and B have different widths, both go by the narrower.
use super::{Dim, LayoutError, LinearLayout, log2};

const ROW: Dim = Dim::Axis(0);
const COLUMN: Dim = Dim::Axis(1);

/// Rows of an instruction's accumulator.
pub const MMA_ROWS: u64 = 16;
/// Columns of an instruction's accumulator.
pub const MMA_COLUMNS: u64 = 8;

/// How the warps of a block divide an accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MmaTile {
    /// Parts along M.
    pub down: u64,
    /// Parts along N.
    pub across: u64,
    /// Warps that compute the same.
    pub copies: u64,
}

impl MmaTile {
    /// The division of M x N that lets warps hold the least of A and B; with `rows`, as few parts along N as it can be, so
    /// that a row stays in a warp. All sizes are powers of two.
    pub fn choose(m: u64, n: u64, warps: u64, rows: bool) -> MmaTile {
        let room = [m.div_ceil(MMA_ROWS).max(1), n.div_ceil(MMA_COLUMNS).max(1)];
        let split = |down: u64| {
            let down = down.min(room[0]);
            let across = (warps / down).min(room[1]);
            MmaTile {
                down,
                across,
                copies: warps / (down * across),
            }
        };
        let held = |t: &MmaTile| m.max(MMA_ROWS) / t.down + n.max(MMA_COLUMNS) / t.across;
        let all = (0..=warps.max(1).ilog2()).map(|bits| split(1 << bits));
        let cost = |t: &MmaTile| (t.copies, if rows { t.across } else { held(t) }, t.across);
        all.min_by_key(cost).unwrap_or(MmaTile {
            down: 1,
            across: 1,
            copies: warps,
        })
    }

    /// The accumulator of M x N, at least 16 x 8: (register, lane, warp) to (row, column).
    ///
    /// Errors: sizes that are no powers of two.
    pub fn accumulator(&self, m: u64, n: u64) -> Result<LinearLayout, LayoutError> {
        let (m, n) = (m.max(MMA_ROWS), n.max(MMA_COLUMNS));
        let (below, beside) = (MMA_ROWS * self.down, (n / self.across).max(MMA_COLUMNS));
        let mut register = vec![(0, 1), (8, 0)];
        register.extend(powers(MMA_COLUMNS, beside).map(|c| (0, c)));
        register.extend(powers(below, m).map(|r| (r, 0)));
        let mut warp: Vec<_> = powers(MMA_ROWS, below).map(|r| (r, 0)).collect();
        warp.extend(powers(beside, n).map(|c| (0, c)));
        warp.resize(warp.len() + log2("copies", self.copies)? as usize, (0, 0));
        images(m, n, &register, &ACCUMULATOR_LANES, &warp)
    }
}

const ACCUMULATOR_LANES: [(u64, u64); 5] = [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)];

/// Neighbours along K that a thread holds of an operand, by the narrower element of the two.
pub const fn mma_neighbours(element_bits: u64) -> u64 {
    match element_bits {
        1 | 4 | 8 => 32 / element_bits,
        6 => 4,
        _ => 2,
    }
}

/// Which matrix of a product, and what an accumulator's layout says of it: A has its rows, B its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Factor {
    /// M x K.
    A,
    /// K x N.
    B,
}

/// The layout in which `factor` of a product must lie whose result lies as `accumulator`, a layout of M x N: of M x K or K x
/// N elements, of which a thread has `neighbours` along K side by side: [`mma_neighbours`], or one of 32 bits, which `ldmatrix`
/// gives.
///
/// Errors: an accumulator that no `mma.sync` computes ([`LayoutError::Shape`]), sizes that are no powers of two.
pub fn mma_operand(
    accumulator: &LinearLayout,
    factor: Factor,
    k: u64,
    neighbours: u64,
) -> Result<LinearLayout, LayoutError> {
    let parts = Parts::of(accumulator)?;
    let p = neighbours;
    // Each image as (M or N, K).
    let mut register: Vec<(u64, u64)> = powers(1, p).map(|k| (0, k)).collect();
    if factor == Factor::A {
        register.push((8, 0));
    }
    register.extend(powers(4 * p, k).map(|k| (0, k)));
    let (own, all_warps): (Vec<u64>, Vec<u64>) = match factor {
        Factor::A => (parts.rows, parts.warps.iter().map(|w| w.0).collect()),
        Factor::B => (parts.columns, parts.warps.iter().map(|w| w.1).collect()),
    };
    register.extend(own.into_iter().map(|mn| (mn, 0)));
    let lane: Vec<(u64, u64)> = [(0, p), (0, 2 * p), (1, 0), (2, 0), (4, 0)].to_vec();
    let warp: Vec<(u64, u64)> = all_warps.into_iter().map(|mn| (mn, 0)).collect();
    let bits = |dim| 1u64 << accumulator.output_bits(dim);
    let turned = |list: &[(u64, u64)]| -> Vec<(u64, u64)> {
        match factor {
            Factor::A => list.to_vec(),
            Factor::B => list.iter().map(|(mn, k)| (*k, *mn)).collect(),
        }
    };
    let (rows, columns) = match factor {
        Factor::A => (bits(ROW), k),
        Factor::B => (k, bits(COLUMN)),
    };
    images(rows, columns, &turned(&register), &turned(&lane), &turned(&warp))
}

/// What an accumulator's layout is made of.
struct Parts {
    /// Rows that register bits above the fragment contribute.
    rows: Vec<u64>,
    /// The same of columns.
    columns: Vec<u64>,
    /// Row and column of each bit of a warp.
    warps: Vec<(u64, u64)>,
}

impl Parts {
    fn of(accumulator: &LinearLayout) -> Result<Parts, LayoutError> {
        let (m, n) = (
            1u64 << accumulator.output_bits(ROW),
            1u64 << accumulator.output_bits(COLUMN),
        );
        let of = |dim| -> Vec<(u64, u64)> {
            (0..accumulator.input_bits(dim))
                .map(|bit| {
                    let image = accumulator.image(dim, bit).unwrap_or_default();
                    let at = |axis| image.iter().find(|(d, _)| *d == axis).map_or(0, |(_, v)| *v);
                    (at(ROW), at(COLUMN))
                })
                .collect()
        };
        let wrong = || {
            LayoutError::Shape(
                "the accumulator does not lie as mma.sync computes it: lanes to columns 2 and 4 and rows 1, 2, 4, registers to column 1 \
                 and row 8 first, all else to whole parts of 16 x 8"
                    .to_owned(),
            )
        };
        let folded =
            |list: &[(u64, u64)]| -> Vec<(u64, u64)> { list.iter().map(|(r, c)| (r & (m - 1), c & (n - 1))).collect() };
        if of(Dim::Lane) != folded(&ACCUMULATOR_LANES) {
            return Err(wrong());
        }
        let fragment: Vec<_> = folded(&[(0, 1), (8, 0)]).into_iter().filter(|i| *i != (0, 0)).collect();
        let register = of(Dim::Register);
        let (first, rest) = register.split_at_checked(fragment.len()).ok_or_else(wrong)?;
        let is_part = |(r, c): &(u64, u64)| r % MMA_ROWS == 0 && c % MMA_COLUMNS == 0 && (*r == 0 || *c == 0);
        let warps = of(Dim::Warp);
        if first != fragment || !rest.iter().chain(&warps).all(is_part) {
            return Err(wrong());
        }
        Ok(Parts {
            rows: rest.iter().map(|i| i.0).filter(|r| *r != 0).collect(),
            columns: rest.iter().map(|i| i.1).filter(|c| *c != 0).collect(),
            warps,
        })
    }
}

/// Bits of `2^low, 2^(low+1), ...` below `end`.
fn powers(low: u64, end: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(low), |power| Some(power * 2)).take_while(move |&power| power < end)
}

/// A layout of rows x columns by the images of its bits, folded into the tile; registers that bring nothing are left out.
fn images(
    rows: u64,
    columns: u64,
    register: &[(u64, u64)],
    lane: &[(u64, u64)],
    warp: &[(u64, u64)],
) -> Result<LinearLayout, LayoutError> {
    let outputs = [(COLUMN, log2("columns", columns)?), (ROW, log2("rows", rows)?)];
    let folded = |list: &[(u64, u64)]| -> Vec<[(Dim, u64); 2]> {
        list.iter()
            .map(|(r, c)| [(ROW, r & (rows - 1)), (COLUMN, c & (columns - 1))])
            .collect()
    };
    let (register, lane, warp) = (folded(register), folded(lane), folded(warp));
    fn slices(list: &[[(Dim, u64); 2]]) -> Vec<&[(Dim, u64)]> {
        list.iter().map(|image| image.as_slice()).collect()
    }
    let layout = LinearLayout::from_bases(
        &outputs,
        &[
            (Dim::Register, &slices(&register)),
            (Dim::Lane, &slices(&lane)),
            (Dim::Warp, &slices(&warp)),
        ],
    )?;
    Ok(layout.without_repeated_registers())
}

#[cfg(test)]
mod tests {
    use super::super::{Movement, conversion, mma_a, mma_accumulator, mma_b, wgmma_accumulator};
    use super::*;

    #[test]
    fn one_warp_has_the_fragments_of_the_manual() {
        let tile = MmaTile::choose(16, 8, 1, false);
        let c = tile.accumulator(16, 8).expect("powers of two");
        assert!(c.same_map(&mma_accumulator().expect("legal")));
        for (bits, k) in [(1, 256), (4, 64), (8, 32), (16, 16)] {
            let a = mma_operand(&c, Factor::A, k, mma_neighbours(bits)).expect("an accumulator");
            let b = mma_operand(&c, Factor::B, k, mma_neighbours(bits)).expect("an accumulator");
            assert!(a.same_map(&mma_a(bits).expect("legal")) && b.same_map(&mma_b(bits).expect("legal")));
        }
    }

    #[test]
    fn warpgroups_below_each_other_hold_what_wgmma_gives() {
        for (m, n) in [(64, 64), (128, 8), (256, 128)] {
            let tile = MmaTile::choose(m, n, m / 16, true);
            assert_eq!((tile.down, tile.copies), (m / 16, 1));
            let c = tile.accumulator(m, n).expect("powers of two");
            assert!(c.same_map(&wgmma_accumulator(n, m / 64).expect("legal")));
        }
    }

    #[test]
    fn a_result_is_the_next_a_without_moving() {
        for bits in [16, 32, 64] {
            for (m, n, warps) in [(64, 64, 4), (16, 32, 1), (128, 16, 4)] {
                let s = MmaTile::choose(m, n, warps, true);
                let o = s.accumulator(m, 32).expect("powers of two");
                let a = mma_operand(&o, Factor::A, n, mma_neighbours(bits)).expect("an accumulator");
                let c = s.accumulator(m, n).expect("powers of two");
                let way = conversion(&c, &a).expect("one tile");
                assert!(
                    matches!(way.movement, Movement::None | Movement::Registers),
                    "{m} x {n}"
                );
            }
        }
    }

    #[test]
    fn every_element_has_a_holder_however_small() {
        for m in [1, 4, 8, 16, 64, 256] {
            for n in [1, 2, 8, 32, 256] {
                for warps in [1, 4, 32] {
                    for rows in [false, true] {
                        let tile = MmaTile::choose(m, n, warps, rows);
                        assert_eq!(tile.down * tile.across * tile.copies, warps);
                        let whole = tile.accumulator(m, n).expect("powers of two");
                        assert!(whole.is_surjective());
                        for (bits, k) in [(1, 64), (4, 8), (8, 4), (16, 64), (32, 2), (64, 1)] {
                            let a = mma_operand(&whole, Factor::A, k, mma_neighbours(bits)).expect("an accumulator");
                            let b = mma_operand(&whole, Factor::B, k, mma_neighbours(bits)).expect("an accumulator");
                            assert!(a.is_surjective() && b.is_surjective(), "{m} x {n} x {k} in {warps}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn warps_divide_what_there_is() {
        let parts = |m, n, warps, rows| {
            let t = MmaTile::choose(m, n, warps, rows);
            [t.down, t.across, t.copies]
        };
        assert_eq!(parts(64, 64, 4, false), [2, 2, 1]);
        assert_eq!(parts(64, 64, 4, true), [4, 1, 1]);
        assert_eq!(parts(16, 64, 4, true), [1, 4, 1]);
        assert_eq!(parts(128, 32, 8, false), [8, 1, 1]);
        assert_eq!(parts(128, 128, 8, false), [4, 2, 1]);
        assert_eq!(parts(16, 8, 4, false), [1, 1, 4]);
    }

    #[test]
    fn other_layouts_are_told_apart() {
        let rows = super::super::row_major(Dim::Register, &[16, 8]).expect("powers of two");
        assert!(matches!(
            mma_operand(&rows, Factor::A, 16, 2),
            Err(LayoutError::Shape(_))
        ));
    }
}
