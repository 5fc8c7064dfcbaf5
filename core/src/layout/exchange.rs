//! The best order in memory for a tile that some threads write and others read: any linear map, not only the hardware's.
//!
//! A register tile changes its layout through shared memory. The offset's bits, from low to high, are given meanings:
//!
//! ```text
//! offset bit   | vector | word | bank | line |      vector + word + bank: 128 bytes, one line of all 32 banks
//! ```
//!
//! - *vector*: what registers of every access have in common, up to 16 bytes, so that one access moves it whole. Where that
//!   pays, it goes on with what the registers of one access hold alone;
//! - *word*: what fills 4 bytes where the vector is shorter, chosen so that lanes of one access share words;
//! - *line*: the bits that choose among elements of the same bank. An access is free of conflicts if no two of its lanes
//!   differ by a sum of line bits, that is, if the span of the line bits meets the span of its lanes in 0 alone. Two spaces
//!   never cover a third, so that such bits can be chosen for two accesses at once, one after the other, from sums of at
//!   most two basis vectors;
//! - *bank*: the rest.
//!
//! Hence two accesses whose lanes hold different elements need not conflict, whatever their layouts. More than two may have
//! to, and so may one with wider vectors than the other; then each bit is the one that costs least, and the order with the
//! fewest wavefronts in all is taken.
use super::{BankCount, Dim, LayoutError, LinearLayout, Space, f2::Basis, log2, shared_bank_count};

/// Bytes of a vector access at most, and of a bank, and of all banks, as powers of two.
const VECTOR_LOG2: u32 = 4;
const WORD_LOG2: u32 = 2;
const LINE_LOG2: u32 = 7;

/// An order in shared memory, and what it costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Offset in elements to coordinates; a bijection. Its inverse says where each element goes.
    pub memory: LinearLayout,
    /// What each access costs, in the order in which they were given.
    pub counts: Vec<BankCount>,
}

/// The order in shared memory of a tile that `accesses` ((register, lane, ...) to coordinates) write and read, with the
/// widest vectors that all of them can use and the fewest bank conflicts for these.
///
/// ```
/// use girih_core::layout::{Blocked, exchange};
/// let blocked = |per_thread: [u64; 2], lanes: [u64; 2], order: [usize; 2]| {
///     let (per_thread, lanes) = (per_thread.to_vec(), lanes.to_vec());
///     Blocked { per_thread, lanes, warps: vec![1, 1], order: order.to_vec() }.layout(&[32, 32])
/// };
/// let (by_row, by_column) = (blocked([1, 4], [4, 8], [1, 0])?, blocked([4, 1], [8, 4], [0, 1])?);
/// let found = exchange(&[&by_row, &by_column], 4)?;
/// assert!(found.counts.iter().all(|count| count.degree() == 1));
/// # Ok::<(), girih_core::layout::LayoutError>(())
/// ```
///
/// Errors: [`LayoutError::DifferentTiles`], and [`LayoutError::Shape`] without accesses or for elements beyond 16 bytes.
pub fn exchange(accesses: &[&LinearLayout], element_bytes: u64) -> Result<Exchange, LayoutError> {
    let size = log2("bytes of an element", element_bytes)?;
    let (Some(first), true) = (accesses.first(), size <= VECTOR_LOG2) else {
        return Err(LayoutError::Shape(format!(
            "{} accesses of elements of {element_bytes} bytes; expected at least one, and at most 16 bytes",
            accesses.len()
        )));
    };
    let axes: Vec<Dim> = first.outputs().iter().map(|&(dim, _)| dim).collect();
    let mut same = Vec::new();
    for access in accesses {
        if access.outputs.bits() != first.outputs.bits()
            || axes
                .iter()
                .any(|&dim| access.output_bits(dim) != first.output_bits(dim))
        {
            return Err(LayoutError::DifferentTiles {
                left: first.outputs.to_string(),
                right: access.outputs.to_string(),
            });
        }
        same.push(access.with_outputs(&axes));
    }
    let with_vectors_of = |favoured| {
        let memory = LinearLayout {
            inputs: Space(vec![(Dim::Offset, first.outputs.bits())]),
            outputs: first.outputs.clone(),
            columns: offset_bits(&same, size, favoured),
        };
        let offsets = memory.invert()?;
        let counts = same
            .iter()
            .map(|access| shared_bank_count(access, &offsets, element_bytes, None))
            .collect::<Result<_, _>>()?;
        Ok(Exchange { memory, counts })
    };
    let mut best: Exchange = with_vectors_of(None)?;
    for favoured in 0..same.len() {
        let other = with_vectors_of(Some(favoured))?;
        if other.wavefronts() < best.wavefronts() {
            best = other;
        }
    }
    Ok(best)
}

impl Exchange {
    /// Wavefronts of all accesses together.
    pub fn wavefronts(&self) -> u64 {
        self.counts.iter().map(|count| count.wavefronts).sum()
    }
}

fn spans(columns: &[u64], vector: u64) -> bool {
    Basis::new(columns).solve(vector).is_some()
}

fn joined(parts: &[&[u64]]) -> Vec<u64> {
    parts.concat()
}

/// The element that each bit of the offset stands for, low to high; `size` is the logarithm of an element's bytes. The
/// vector goes on with registers of the access `favoured`.
fn offset_bits(accesses: &[LinearLayout], size: u32, favoured: Option<usize>) -> Vec<u64> {
    let bits = accesses[0].outputs.bits();
    let most = (VECTOR_LOG2 - size) as usize;
    let fixed: Vec<u64> = accesses.iter().flat_map(threads_of).collect();
    let common = common_vector(accesses, &fixed, most);
    let alone = favoured.map_or(Vec::new(), |access| {
        own_vector(&accesses[access], &fixed, &common, most - common.len())
    });

    // All that threads differ in, then what only registers differ in: together with the vector a basis of the tile. The
    // threads of the favoured access come first, so that none of them moves its vectors.
    let mut low = joined(&[&common, &alone]);
    let first = favoured.map_or(Vec::new(), |access| threads_of(&accesses[access]));
    let mut basis: Vec<u64> = Vec::new();
    for candidate in first.into_iter().chain(fixed).chain((0..bits).map(|bit| 1 << bit)) {
        if !spans(&joined(&[&low, &basis]), candidate) {
            basis.push(candidate);
        }
    }
    let sums = (0..basis.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let candidates: Vec<u64> = (basis.iter().copied())
        .chain(sums.map(|(i, j)| basis[i] ^ basis[j]))
        .collect();

    let views: Vec<View> = accesses
        .iter()
        .enumerate()
        .map(|(i, access)| {
            View::new(
                access,
                size,
                common.len() + if favoured == Some(i) { alone.len() } else { 0 },
            )
        })
        .collect();
    while size + (low.len() as u32) < WORD_LOG2 {
        let shared_by = |candidate| views.iter().filter(|view| spans(&view.lanes, candidate)).count();
        let free = candidates.iter().copied().filter(|&candidate| !spans(&low, candidate));
        // The first of the best: `max_by_key` alone would take the last.
        let Some(chosen) = free.rev().max_by_key(|&candidate| shared_by(candidate)) else {
            break;
        };
        low.push(chosen);
    }

    let mut line: Vec<u64> = Vec::new();
    let mut costs: Vec<u64> = views.iter().map(|view| view.accesses).collect();
    for _ in 0..bits.saturating_sub(LINE_LOG2 - size) {
        let conflicts = |view: &View, candidate| {
            let within = &low[..view.unit_bits.min(low.len())];
            spans(&joined(&[within, &line, &view.lanes]), candidate)
        };
        let cost = |candidate: u64| {
            let hit = views.iter().zip(&costs).filter(|(view, _)| conflicts(view, candidate));
            hit.map(|(_, cost)| cost).sum::<u64>()
        };
        let taken = joined(&[&low, &line]);
        let free = candidates
            .iter()
            .copied()
            .filter(|&candidate| !spans(&taken, candidate));
        let Some(chosen) = free.min_by_key(|&candidate| cost(candidate)) else {
            break;
        };
        for (view, cost) in views.iter().zip(&mut costs) {
            *cost *= if conflicts(view, chosen) { 2 } else { 1 };
        }
        line.push(chosen);
    }

    let mut bank = Vec::new();
    for &candidate in &basis {
        if !spans(&joined(&[&low, &bank, &line]), candidate) {
            bank.push(candidate);
        }
    }
    joined(&[&low, &bank, &line])
}

/// One access as the banks see it.
struct View {
    /// Images of the lanes that are served at once: all with 4 bytes each, half with 8, a quarter with 16.
    lanes: Vec<u64>,
    /// Bits of the offset within what a lane moves, at least a word: two lanes that differ only there do not conflict.
    unit_bits: usize,
    /// Accesses of a warp.
    accesses: u64,
}

impl View {
    fn new(access: &LinearLayout, size: u32, vector_bits: usize) -> View {
        let vector_log2 = size + vector_bits as u32;
        let served = 5 - vector_log2.saturating_sub(WORD_LOG2) as usize;
        let lanes = access.columns_of(Dim::Lane);
        let registers = access.input_bits(Dim::Register) - access.repeated_registers().count_ones();
        View {
            lanes: lanes[..lanes.len().min(served)].to_vec(),
            unit_bits: (vector_log2.max(WORD_LOG2) - size) as usize,
            accesses: 1 << registers.saturating_sub(vector_bits as u32),
        }
    }
}

/// Images of all inputs but registers.
fn threads_of(access: &LinearLayout) -> Vec<u64> {
    let dims = access.inputs().iter().filter(|(dim, _)| *dim != Dim::Register);
    dims.flat_map(|&(dim, _)| access.columns_of(dim).iter().copied())
        .collect()
}

/// Independent vectors, at most `most`, that the registers of every access span and that no two threads differ by.
fn common_vector(accesses: &[LinearLayout], fixed: &[u64], most: usize) -> Vec<u64> {
    let registers = |access: &LinearLayout| access.columns_of(Dim::Register).to_vec();
    let common = accesses[1..].iter().fold(registers(&accesses[0]), |common, access| {
        let both = joined(&[&common, access.columns_of(Dim::Register)]);
        let kernel = Basis::new(&both).kernel;
        let sum = |set: u64| {
            let chosen = common.iter().enumerate().filter(|(i, _)| set >> i & 1 != 0);
            chosen.fold(0, |sum, (_, column)| sum ^ column)
        };
        kernel.into_iter().map(sum).filter(|&vector| vector != 0).collect()
    });
    let mut vector: Vec<u64> = Vec::new();
    // Registers of the first access in their own order where that is possible.
    let in_order = accesses[0].columns_of(Dim::Register).iter();
    for &candidate in in_order.chain(&common) {
        if vector.len() < most && spans(&common, candidate) && !spans(&joined(&[fixed, &vector]), candidate) {
            vector.push(candidate);
        }
    }
    vector
}

/// Up to `most` further vectors that the registers of one access span, and that none of its threads differ by. The common
/// ones stay clear of what any threads differ by.
fn own_vector(access: &LinearLayout, fixed: &[u64], common: &[u64], most: usize) -> Vec<u64> {
    let threads = threads_of(access);
    let mut own: Vec<u64> = Vec::new();
    for &candidate in access.columns_of(Dim::Register) {
        if own.len() == most {
            break;
        }
        let others = joined(&[fixed, &own, &[candidate]]);
        let keeps_common =
            Basis::new(&joined(&[&others, common])).rank() == Basis::new(&others).rank() + common.len() as u32;
        if keeps_common && !spans(&joined(&[&threads, common, &own]), candidate) {
            own.push(candidate);
        }
    }
    own
}

#[cfg(test)]
mod tests {
    use super::super::{Blocked, best_swizzle, matrix_rows, mma_a, wgmma_accumulator};
    use super::*;
    use proptest::prelude::*;

    const ROW: Dim = Dim::Axis(0);
    const COLUMN: Dim = Dim::Axis(1);

    /// A random bijection from 5 bits of lane and the rest of registers and warps to 2^`bits` elements.
    fn any_access(bits: u32) -> impl Strategy<Value = LinearLayout> {
        let steps = proptest::collection::vec((0..bits as usize, 0..bits as usize), 0..60);
        (steps, 0..bits - 4).prop_map(move |(steps, registers)| {
            let mut columns: Vec<u64> = (0..bits).map(|bit| 1 << bit).collect();
            for (to, from) in steps {
                if to == from {
                    columns.rotate_left(1);
                } else {
                    columns[to] ^= columns[from];
                }
            }
            LinearLayout {
                inputs: Space(vec![
                    (Dim::Register, registers),
                    (Dim::Lane, 5),
                    (Dim::Warp, bits - 5 - registers),
                ]),
                outputs: Space(vec![(COLUMN, bits / 2), (ROW, bits - bits / 2)]),
                columns,
            }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn two_accesses_cost_no_more_than_without_conflicts(a in any_access(10), b in any_access(10), size in 0u32..5) {
            let found = exchange(&[&a, &b], 1 << size).unwrap();
            prop_assert!(found.memory.is_bijective());
            // A wider vector of one access is taken only where it saves more than the conflicts that it brings.
            let accesses = [a, b];
            let fixed: Vec<u64> = accesses.iter().flat_map(threads_of).collect();
            let common = common_vector(&accesses, &fixed, (VECTOR_LOG2 - size) as usize).len() as u32;
            let without_conflicts = |access: &LinearLayout| {
                let moved = 1u64 << access.input_bits(Dim::Register);
                (moved >> common) * (1u64 << (size + common)).div_ceil(4)
            };
            let bound: u64 = accesses.iter().map(without_conflicts).sum();
            prop_assert!(found.wavefronts() <= bound, "{:?} takes more than {}", found.counts, bound);
        }

        #[test]
        fn all_accesses_move_the_same_vectors(a in any_access(9), b in any_access(9), c in any_access(9)) {
            let found = exchange(&[&a, &b, &c], 2).unwrap();
            let widths: Vec<_> = found.counts.iter().map(|count| count.vector_bytes).collect();
            let common = widths.iter().min().expect("three");
            // An access may move more where its own registers go on.
            prop_assert!(widths.iter().all(|width| width % common == 0));
        }
    }

    #[test]
    fn no_swizzle_of_the_hardware_is_better() {
        let blocked = |per_thread: [u64; 2], lanes: [u64; 2], order: [usize; 2]| {
            let layout = Blocked {
                per_thread: per_thread.to_vec(),
                lanes: lanes.to_vec(),
                warps: vec![2, 2],
                order: order.to_vec(),
            };
            layout.layout(&[64, 64]).expect("legal")
        };
        let accumulator = wgmma_accumulator(64, 1).expect("legal");
        let layouts = [
            blocked([1, 4], [4, 8], [1, 0]),
            blocked([4, 1], [8, 4], [0, 1]),
            blocked([1, 8], [8, 4], [1, 0]),
            accumulator,
        ];
        for writer in &layouts {
            for reader in &layouts {
                for bytes in [1, 2, 4, 8] {
                    let found = exchange(&[writer, reader], bytes).expect("the same tile");
                    let sum: u64 = found.counts.iter().map(|count| count.wavefronts).sum();
                    let modes = best_swizzle((ROW, 64), (COLUMN, 64), bytes, &[writer, reader]).expect("legal");
                    assert!(sum <= modes[0].1, "{sum} wavefronts, but {:?}", modes[0]);
                }
            }
        }
    }

    #[test]
    fn matrix_rows_keep_their_16_bytes() {
        let (rows, fragment) = (matrix_rows(2).expect("legal"), mma_a(16).expect("legal"));
        let found = exchange(&[&rows], 2).expect("one access");
        assert_eq!((found.counts[0].vector_bytes, found.counts[0].degree()), (16, 1));
        let found = exchange(&[&rows, &fragment], 2).expect("the same tile");
        assert_eq!(found.counts[1].vector_bytes, 4);
    }

    #[test]
    fn what_has_no_order_is_refused() {
        let (a, b) = (mma_a(16).expect("legal"), mma_a(8).expect("legal"));
        assert!(matches!(
            exchange(&[&a, &b], 2),
            Err(LayoutError::DifferentTiles { .. })
        ));
        assert!(exchange(&[], 2).unwrap_err().to_string().starts_with("0 accesses"));
        assert!(
            exchange(&[&a], 32)
                .unwrap_err()
                .to_string()
                .contains("at most 16 bytes")
        );
    }
}
