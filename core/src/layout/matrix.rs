//! Which tiles `ldmatrix` loads, and which lane names which row.
//!
//! `ldmatrix` of 8x8 matrices of 16 bits takes rows of 16 bytes, whose addresses lanes give, and deals each row out to four
//! lanes, 4 bytes for each; with `.trans` it deals out columns, and a lane gets two neighbours of one. Where the place of an
//! element in shared memory is linear over F2 in (register, lane, warp), that is a question of single images. In bytes:
//!
//! ```text
//!                   as it lies                             .trans, elements of 2 bytes
//! register bits     1, 2 of what fills 4 bytes             one: a row
//! lane bits 0, 1    4, 8                                   rows
//! lane bits 2 to 4  rows                                   2, 4, 8
//! all other bits    rows                                   rows
//! ```
//!
//! A *row* is an image that leaves the lowest four bits alone: it leads from one piece of 16 bytes to another, whatever lies
//! between, a swizzle included. Up to two further register bits choose among the matrices of one instruction.
use super::{BankCount, Dim, LinearLayout, linear_wavefronts};

/// Bytes of a row of a matrix.
const ROW_BYTES: u64 = 16;
/// Bits of a lane's number that choose a row of a matrix.
const ROW_BITS: usize = 3;
/// Most register bits that choose among the matrices of one instruction: 4 matrices.
const MOST_MATRICES: usize = 2;

/// How `ldmatrix` loads a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixLoad {
    /// `.trans`.
    pub transposed: bool,
    /// Register bits within the 4 bytes that a lane gets of a matrix, the lowest address first.
    pub word: Vec<u32>,
    /// Register bits that choose among the matrices of one instruction: none, one or two, for `.x1`, `.x2` and `.x4`.
    pub matrices: Vec<u32>,
    /// What each bit of a lane's number adds, by exclusive or, to the offset of the row that it names, in elements.
    pub lanes: [u64; 5],
    /// What it costs.
    pub count: BankCount,
}

/// How `ldmatrix` loads the elements of `registers` ((register, lane, warp) to coordinates) from where they lie at `offsets`
/// (coordinates to offset in elements, from a base at a multiple of 16 bytes and of the swizzle's period), as many matrices
/// at once as it can; `None` where it does not.
///
/// ```
/// use girih_core::{layout::{Dim, matrix_load, mma_a, shared_offsets}, tensor_map::Swizzle};
/// let offsets = shared_offsets((Dim::Axis(0), 16), (Dim::Axis(1), 16), 2, Swizzle::B32)?;
/// let load = matrix_load(&mma_a(16)?, &offsets, 2).expect("A of mma.sync is what it is for");
/// assert_eq!((load.transposed, load.matrices.len()), (false, 2));
/// assert_eq!(load.count.degree(), 1);
/// # Ok::<(), girih_core::layout::LayoutError>(())
/// ```
pub fn matrix_load(registers: &LinearLayout, offsets: &LinearLayout, element_bytes: u64) -> Option<MatrixLoad> {
    let places = registers.then(offsets).ok()?;
    let images = |dim| -> Vec<u64> {
        (0..places.input_bits(dim))
            .map(|bit| places.coordinate(&[(dim, 1 << bit)], Dim::Offset) * element_bytes)
            .collect()
    };
    let (register, lane, warp) = (images(Dim::Register), images(Dim::Lane), images(Dim::Warp));
    let found = [
        as_it_lies(&register, &lane, element_bytes),
        turned(&register, &lane, element_bytes),
    ];
    let (transposed, word, rows) = found.into_iter().flatten().next()?;
    let others: Vec<u32> = (0..register.len() as u32).filter(|bit| !word.contains(bit)).collect();
    let rest = others.iter().map(|bit| register[*bit as usize]).chain(warp).chain(rows);
    if rest.into_iter().any(|image| image % ROW_BYTES != 0) {
        return None;
    }
    let matrices = others[..others.len().min(MOST_MATRICES)].to_vec();
    let mut lanes = [0; 5];
    lanes[..ROW_BITS].copy_from_slice(&rows);
    for (lane, bit) in lanes[ROW_BITS..].iter_mut().zip(&matrices) {
        *lane = register[*bit as usize];
    }
    // Matrices are served one after the other.
    let (words, of_one) = (
        1u64 << others.len(),
        linear_wavefronts([rows[0], rows[1], rows[2], 0, 0], ROW_BYTES) / 4,
    );
    Some(MatrixLoad {
        transposed,
        word,
        count: BankCount {
            vector_bytes: ROW_BYTES,
            accesses: words >> matrices.len(),
            wavefronts: words * of_one,
            ideal: words,
        },
        matrices,
        lanes: lanes.map(|image| image / element_bytes),
    })
}

/// Whether rows are transposed, the register bits of a word, and the images of a row's bits.
type Found = Option<(bool, Vec<u32>, [u64; ROW_BITS])>;

/// Register bits with these images.
fn with_images(register: &[u64], images: &[u64]) -> Option<Vec<u32>> {
    let place = |image: &u64| register.iter().position(|r| r == image).map(|bit| bit as u32);
    images.iter().map(place).collect()
}

fn as_it_lies(register: &[u64], lane: &[u64], element_bytes: u64) -> Found {
    let within: Vec<u64> = [1, 2].into_iter().filter(|bytes| *bytes >= element_bytes).collect();
    let word = with_images(register, &within).filter(|_| element_bytes <= 4)?;
    match *lane {
        [4, 8, a, b, c] => Some((false, word, [a, b, c])),
        _ => None,
    }
}

fn turned(register: &[u64], lane: &[u64], element_bytes: u64) -> Found {
    let first = *register.first().filter(|_| element_bytes == 2)?;
    match *lane {
        [b, c, 2, 4, 8] => Some((true, vec![0], [first, b, c])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Factor, MmaTile, matrix_fragment, mma_a, mma_b, mma_operand, shared_offsets};
    use super::*;
    use crate::tensor_map::Swizzle;

    const ROW: Dim = Dim::Axis(0);
    const COLUMN: Dim = Dim::Axis(1);

    /// What every lane gets, by the definition of the instruction: a byte offset for each element of each register.
    fn loaded(load: &MatrixLoad, places: &LinearLayout, bytes: u64, warp: u64, register: u64) -> Vec<Vec<u64>> {
        let base = places.coordinate(&[(Dim::Warp, warp), (Dim::Register, register)], Dim::Offset);
        let row = |matrix: u64, row: u64| {
            let lane = 8 * matrix + row;
            let bits = load.lanes.iter().enumerate().filter(|(bit, _)| lane >> bit & 1 == 1);
            bits.fold(base, |at, (_, image)| at ^ image) * bytes
        };
        let words = 1u64 << load.matrices.len();
        (0..32u64)
            .map(|lane| {
                let of_matrix = |matrix: u64| -> Vec<u64> {
                    if load.transposed {
                        (0..2)
                            .map(|i| row(matrix, 2 * (lane % 4) + i) + 2 * (lane / 4))
                            .collect()
                    } else {
                        (0..4 / bytes)
                            .map(|i| row(matrix, lane / 4) + 4 * (lane % 4) + i * bytes)
                            .collect()
                    }
                };
                (0..words).flat_map(of_matrix).collect()
            })
            .collect()
    }

    /// Follows all instructions of a load, and says whether every register gets its element.
    fn arrives(registers: &LinearLayout, offsets: &LinearLayout, bytes: u64, load: &MatrixLoad) -> bool {
        let places = registers.then(offsets).expect("one tile");
        let own = |set: &[u32], n: u64| set.iter().enumerate().map(|(i, bit)| (n >> i & 1) << bit).sum::<u64>();
        let taken: u64 = load.word.iter().chain(&load.matrices).map(|bit| 1 << bit).sum();
        let registers = 1u64 << places.input_bits(Dim::Register);
        (0..1u64 << places.input_bits(Dim::Warp)).all(|warp| {
            (0..registers).filter(|r| r & taken == 0).all(|first| {
                let found = loaded(load, &places, bytes, warp, first);
                (0..32u64).all(|lane| {
                    let in_word = 1usize << load.word.len();
                    found[lane as usize].iter().enumerate().all(|(i, byte)| {
                        let r =
                            first | own(&load.word, (i % in_word) as u64) | own(&load.matrices, (i / in_word) as u64);
                        let at = [(Dim::Register, r), (Dim::Lane, lane), (Dim::Warp, warp)];
                        places.coordinate(&at, Dim::Offset) * bytes == *byte
                    })
                })
            })
        })
    }

    fn swizzle(row_bytes: u64) -> Swizzle {
        match row_bytes {
            32 => Swizzle::B32,
            64 => Swizzle::B64,
            _ => Swizzle::B128,
        }
    }

    #[test]
    fn operands_of_products_are_loaded_without_conflicts() {
        let kinds = [
            (8u64, 32u64, 4),
            (8, 128, 4),
            (16, 16, 2),
            (16, 64, 2),
            (16, 128, 2),
            (32, 8, 1),
            (32, 64, 1),
        ];
        for (bits, k, neighbours) in kinds {
            let bytes = bits / 8;
            for (m, n, warps) in [(64, 64, 4), (128, 128, 8), (16, 8, 1), (128, 32, 4)] {
                let whole = MmaTile::choose(m, n, warps, false)
                    .accumulator(m, n)
                    .expect("powers of two");
                for factor in [Factor::A, Factor::B] {
                    let registers = mma_operand(&whole, factor, k, neighbours).expect("an accumulator");
                    let ((mn, size), along) = match factor {
                        Factor::A => ((ROW, m), COLUMN),
                        Factor::B => ((COLUMN, n), ROW),
                    };
                    let offsets = shared_offsets((mn, size), (along, k), bytes, swizzle(k * bytes)).expect("legal");
                    let load = matrix_load(&registers, &offsets, bytes).expect("K lies together");
                    assert!(
                        !load.transposed && load.count.degree() == 1,
                        "{bits} bits, {m} x {n} x {k}"
                    );
                    assert!(arrives(&registers, &offsets, bytes, &load));
                    // The other way round, only 16 bits are turned.
                    let across = size * bytes;
                    let offsets = shared_offsets((along, k), (mn, size), bytes, swizzle(across)).expect("legal");
                    let load = matrix_load(&registers, &offsets, bytes);
                    assert_eq!(load.is_some(), bits == 16 && across >= 16);
                    if let Some(load) = load {
                        assert!(load.transposed && (load.count.degree() == 1 || across < 32));
                        assert!(arrives(&registers, &offsets, bytes, &load));
                    }
                }
            }
        }
    }

    #[test]
    fn the_manuals_fragments_come_from_plain_rows() {
        for (log2, transposed) in [(0, false), (1, false), (2, false), (0, true), (1, true), (2, true)] {
            let registers = matrix_fragment(log2, transposed).expect("legal");
            let (rows, columns) = (1 << registers.output_bits(ROW), 1 << registers.output_bits(COLUMN));
            let offsets = shared_offsets((ROW, rows), (COLUMN, columns), 2, Swizzle::None).expect("legal");
            let load = matrix_load(&registers, &offsets, 2).expect("what it is for");
            assert_eq!((load.transposed, load.matrices.len()), (transposed, log2 as usize));
            assert!(arrives(&registers, &offsets, 2, &load));
        }
    }

    #[test]
    fn what_does_not_fit_is_left_to_ordinary_loads() {
        let rows = |bytes| shared_offsets((ROW, 16), (COLUMN, 64 / bytes), bytes, Swizzle::None).expect("legal");
        // Two neighbours of 32 bits are 8 bytes.
        let whole = MmaTile::choose(16, 8, 1, false)
            .accumulator(16, 8)
            .expect("powers of two");
        let wide = mma_operand(&whole, Factor::A, 16, 2).expect("an accumulator");
        assert_eq!(matrix_load(&wide, &rows(4), 4), None);
        // One is 4.
        let narrow = shared_offsets((ROW, 16), (COLUMN, 8), 4, Swizzle::None).expect("legal");
        assert!(matrix_load(&mma_a(32).expect("legal"), &narrow, 4).is_some());
        // Bytes of a column lie apart.
        let column = shared_offsets((ROW, 32), (COLUMN, 8), 1, Swizzle::None).expect("legal");
        assert_eq!(matrix_load(&mma_b(8).expect("legal"), &column, 1), None);
    }
}
