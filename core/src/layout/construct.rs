//! Layouts of hardware and of common tiles.
use super::{Dim, LayoutError, LinearLayout, log2};
use crate::tensor_map::Swizzle;

const ROW: Dim = Dim::Axis(0);
const COLUMN: Dim = Dim::Axis(1);

/// `input` counts through a tile of this shape, outermost dimension first, the last axis fastest.
pub fn row_major(input: Dim, shape: &[u64]) -> Result<LinearLayout, LayoutError> {
    let order: Vec<usize> = (0..shape.len()).rev().collect();
    strips(input, shape, &order)
}

/// `input` counts through a tile, the axes of `order` from fast to slow.
fn strips(input: Dim, shape: &[u64], order: &[usize]) -> Result<LinearLayout, LayoutError> {
    order.iter().try_fold(LinearLayout::unit(), |layout, &axis| {
        let bits = log2(format!("size of axis {axis}"), shape[axis])?;
        layout.product(&LinearLayout::identity(input, Dim::Axis(axis as u8), bits))
    })
}

/// A tile dealt out in blocks: every thread has `per_thread` neighbours, the threads of a warp lie side by side, then the
/// warps. All lists have one entry for each axis, outermost first; `order` lists the axes from fast to slow.
///
/// A tile larger than one round of all warps repeats over registers; a smaller one is held by several threads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Blocked {
    /// Elements of a thread.
    pub per_thread: Vec<u64>,
    /// Threads of a warp; their product is 32.
    pub lanes: Vec<u64>,
    /// Warps of the block.
    pub warps: Vec<u64>,
    /// Axes from fast to slow.
    pub order: Vec<usize>,
}

impl Blocked {
    /// The layout of a tile of `shape`: (register, lane, warp) to coordinates.
    pub fn layout(&self, shape: &[u64]) -> Result<LinearLayout, LayoutError> {
        let rank = shape.len();
        let mut axes = self.order.clone();
        axes.sort_unstable();
        let lengths = [self.per_thread.len(), self.lanes.len(), self.warps.len()];
        if axes != (0..rank).collect::<Vec<_>>() || lengths != [rank; 3] {
            return Err(LayoutError::Shape(format!(
                "a blocked layout of rank {rank} needs {rank} values in each list and each axis once in its order"
            )));
        }
        let mut layout = strips(Dim::Register, &self.per_thread, &self.order)?
            .product(&strips(Dim::Lane, &self.lanes, &self.order)?)?
            .product(&strips(Dim::Warp, &self.warps, &self.order)?)?;
        if layout.input_bits(Dim::Lane) != 5 {
            let lanes: u64 = self.lanes.iter().product();
            return Err(LayoutError::Shape(format!(
                "the lanes of a blocked layout multiply to {lanes}; a warp has 32"
            )));
        }
        for &axis in &self.order {
            let bits = log2(format!("size of axis {axis}"), shape[axis])?;
            layout = layout.resized(Dim::Axis(axis as u8), bits, Dim::Register)?;
        }
        Ok(layout)
    }
}

/// Images of input bits, given as (row, column).
fn fragment(
    rows: u64,
    columns: u64,
    register: &[(u64, u64)],
    lane: &[(u64, u64)],
    warp: &[(u64, u64)],
) -> Result<LinearLayout, LayoutError> {
    let image = |bits: &[(u64, u64)]| {
        bits.iter()
            .map(|&(row, column)| [(ROW, row), (COLUMN, column)])
            .collect::<Vec<_>>()
    };
    let (register, lane, warp) = (image(register), image(lane), image(warp));
    fn slices(images: &[[(Dim, u64); 2]]) -> Vec<&[(Dim, u64)]> {
        images.iter().map(|image| image.as_slice()).collect()
    }
    LinearLayout::from_bases(
        &[(COLUMN, log2("columns", columns)?), (ROW, log2("rows", rows)?)],
        &[
            (Dim::Register, &slices(&register)),
            (Dim::Lane, &slices(&lane)),
            (Dim::Warp, &slices(&warp)),
        ],
    )
}

/// Bits of `2^low, 2^(low+1), ...` below `end`.
fn powers(low: u64, end: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(low), |power| Some(power * 2)).take_while(move |&power| power < end)
}

/// D of one `wgmma` (64 x n, n a power of two from 8) in `warpgroups` warpgroups below each other, a power of two: (register,
/// lane, warp) to (row, column). For other n see [`Repeated::wgmma_accumulator`](super::Repeated::wgmma_accumulator).
pub fn wgmma_accumulator(n: u64, warpgroups: u64) -> Result<LinearLayout, LayoutError> {
    let rows = 64 * warpgroups;
    let register: Vec<_> = [(0, 1), (8, 0)]
        .into_iter()
        .chain(powers(8, n).map(|column| (0, column)))
        .collect();
    let warp: Vec<_> = powers(16, rows).map(|row| (row, 0)).collect();
    fragment(
        rows,
        n.max(8),
        &register,
        &[(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)],
        &warp,
    )
}

/// C and D of `mma.sync.m16n8`: 16 x 8 elements of one warp, rows and columns.
pub fn mma_accumulator() -> Result<LinearLayout, LayoutError> {
    fragment(16, 8, &[(0, 1), (8, 0)], &[(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)], &[])
}

/// A of `mma.sync.m16n8` with 32 bytes of K, or 64 of f64: (m, k) of one warp. Also what `ldmatrix.x4` of 16-bit elements
/// loads. `element_bits` is 1, 4, 8, 16, 32 or 64.
pub fn mma_a(element_bits: u64) -> Result<LinearLayout, LayoutError> {
    let packed = per_register(element_bits)?;
    let register: Vec<_> = powers(1, packed)
        .map(|k| (0, k))
        .chain([(8, 0), (0, 4 * packed)])
        .collect();
    fragment(
        16,
        8 * packed,
        &register,
        &[(0, packed), (0, 2 * packed), (1, 0), (2, 0), (4, 0)],
        &[],
    )
}

/// A of one `wgmma` from registers (64 x K, 32 bytes of K) in `warpgroups` warpgroups below each other, a power of two.
pub fn wgmma_a(element_bits: u64, warpgroups: u64) -> Result<LinearLayout, LayoutError> {
    if element_bits > 32 {
        let m = format!("elements of {element_bits} bits; wgmma has 1, 8, 16 and 32");
        return Err(LayoutError::Shape(m));
    }
    let warps = 2 + log2("warpgroups", warpgroups)?;
    mma_a(element_bits)?.product(&LinearLayout::identity(Dim::Warp, ROW, warps))
}

/// B of `mma.sync.m16n8` with 32 bytes of K, or 64 of f64: (k, n) of one warp.
pub fn mma_b(element_bits: u64) -> Result<LinearLayout, LayoutError> {
    let packed = per_register(element_bits)?;
    let register: Vec<_> = powers(1, packed).map(|k| (k, 0)).chain([(4 * packed, 0)]).collect();
    fragment(
        8 * packed,
        8,
        &register,
        &[(packed, 0), (2 * packed, 0), (0, 1), (0, 2), (0, 4)],
        &[],
    )
}

fn per_register(element_bits: u64) -> Result<u64, LayoutError> {
    match element_bits {
        1 | 4 | 8 | 16 | 32 => Ok(32 / element_bits),
        // A register of its own width.
        64 => Ok(1),
        other => Err(LayoutError::Shape(format!(
            "elements of {other} bits; mma.sync has 1, 4, 8, 16, 32 and 64"
        ))),
    }
}

/// The rows that the lanes address for `ldmatrix` or `stmatrix` of 2^`matrices_log2` 8x8 matrices of 16-bit elements (0 to
/// 2): register to column, lane to row. Matrices follow each other down the rows, then across the columns, as
/// [`mma_a`] needs them; lanes that address nothing repeat the first.
pub fn matrix_rows(matrices_log2: u32) -> Result<LinearLayout, LayoutError> {
    let higher = [(8, 0), (0, 8)];
    let used = (matrices_log2 as usize).min(2);
    let mut lane = vec![(1, 0), (2, 0), (4, 0)];
    lane.extend(&higher[..used]);
    lane.resize(5, (0, 0));
    let (rows, columns) = [(8, 8), (16, 8), (16, 16)][used];
    fragment(rows, columns, &[(0, 1), (0, 2), (0, 4)], &lane, &[])
}

/// What the registers hold after `ldmatrix`, or before `stmatrix`, of 2^`matrices_log2` 8x8 matrices of 16-bit elements (0
/// to 2) that lie as [`matrix_rows`] says: (register, lane) to (row, column) in shared memory. With `transposed`, `.trans`:
/// a thread's two elements of a matrix are neighbours in a column instead of a row.
pub fn matrix_fragment(matrices_log2: u32, transposed: bool) -> Result<LinearLayout, LayoutError> {
    let higher = [(8, 0), (0, 8)];
    let used = (matrices_log2 as usize).min(2);
    let (rows, columns) = [(8, 8), (16, 8), (16, 16)][used];
    let turn = |(row, column)| if transposed { (column, row) } else { (row, column) };
    let mut register = vec![turn((0, 1))];
    register.extend(&higher[..used]);
    let lane = [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)].map(turn);
    fragment(rows, columns, &register, &lane, &[])
}

/// Where the elements of a tile lie in shared memory: coordinates to offset in elements, from a base at a multiple of the
/// swizzle's period. `outer` and `inner` are the axes with their sizes.
///
/// Rows lie as tensor copies put them: without swizzle one after the other; with one, at the pitch of the span, and a row
/// wider than the span continues in the next panel. Where rows are narrower than the span, offsets in the gaps belong to
/// no element and the map has no inverse.
pub fn shared_offsets(
    outer: (Dim, u64),
    inner: (Dim, u64),
    element_bytes: u64,
    swizzle: Swizzle,
) -> Result<LinearLayout, LayoutError> {
    let size = log2("bytes of an element", element_bytes)?;
    let inner_bits = log2(format!("size of {}", inner.0), inner.1)?;
    let outer_bits = log2(format!("size of {}", outer.0), outer.1)?;
    if element_bytes > swizzle.atom_bytes() {
        return Err(LayoutError::Shape(format!(
            "elements of {element_bytes} bytes do not move as one under swizzle {}",
            swizzle.name()
        )));
    }
    let row_bits = match swizzle.span_bytes() {
        Some(span) => log2("span of the swizzle", span)?.saturating_sub(size),
        None => inner_bits,
    };
    let panel_bits = inner_bits.saturating_sub(row_bits);
    let bits = outer_bits + row_bits + panel_bits;
    let place = |logical: u32| [(Dim::Offset, swizzle.apply(1 << (logical + size)) >> size)];
    let inner_images: Vec<_> = (0..inner_bits)
        .map(|bit| place(if bit < row_bits { bit } else { bit + outer_bits }))
        .collect();
    let outer_images: Vec<_> = (0..outer_bits).map(|bit| place(row_bits + bit)).collect();
    let slices = |images: &[[(Dim, u64); 1]]| images.iter().map(|image| image.to_vec()).collect::<Vec<_>>();
    let (inner_images, outer_images) = (slices(&inner_images), slices(&outer_images));
    LinearLayout::from_bases(
        &[(Dim::Offset, bits)],
        &[
            (inner.0, &inner_images.iter().map(Vec::as_slice).collect::<Vec<_>>()),
            (outer.0, &outer_images.iter().map(Vec::as_slice).collect::<Vec<_>>()),
        ],
    )
}

/// CuTe's `Swizzle<B, M, S>` on offsets of `bits` bits: bits `M + S` to `M + S + B - 1` are added to those `S` below.
pub fn cute_swizzle(b: u32, m: u32, s: u32, bits: u32) -> Result<LinearLayout, LayoutError> {
    if m.checked_add(s)
        .and_then(|low| low.checked_add(b))
        .is_none_or(|high| high > bits)
    {
        return Err(LayoutError::Shape(format!(
            "Swizzle<{b},{m},{s}> reaches past {bits} bits"
        )));
    }
    let images: Vec<_> = (0..bits)
        .map(|bit| {
            let moved = (m + s..m + s + b).contains(&bit).then(|| 1 << (bit - s));
            [(Dim::Offset, 1 << bit | moved.unwrap_or(0))]
        })
        .collect();
    let slices: Vec<_> = images.iter().map(|image| image.as_slice()).collect();
    LinearLayout::from_bases(&[(Dim::Offset, bits)], &[(Dim::Offset, &slices)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wgmma;

    #[test]
    fn wgmma_fragments_are_those_of_the_manual() {
        for n in [8, 64, 256] {
            let layout = wgmma_accumulator(n, 1).expect("a power of two");
            assert!(layout.is_bijective());
            for thread in 0..128 {
                for index in 0..wgmma::accumulator_len(n as u32) {
                    let inputs = [
                        (Dim::Register, index.into()),
                        (Dim::Lane, (thread % 32).into()),
                        (Dim::Warp, (thread / 32).into()),
                    ];
                    let (row, column) = wgmma::accumulator(thread, index);
                    let found = (layout.coordinate(&inputs, ROW), layout.coordinate(&inputs, COLUMN));
                    assert_eq!(
                        found,
                        (row.into(), column.into()),
                        "n {n} thread {thread} index {index}"
                    );
                }
            }
        }
    }

    #[test]
    fn wgmma_a_is_four_times_mma_a() {
        for operand in [wgmma::Operand::F16, wgmma::Operand::Tf32, wgmma::Operand::E4m3] {
            let layout = wgmma_a(operand.bits().into(), 1).expect("legal");
            assert!(layout.is_bijective());
            for thread in 0..128 {
                for index in 0..wgmma::a_fragment_len(operand) {
                    let (lane, warp) = (thread % 32, thread / 32);
                    let inputs = [
                        (Dim::Register, index.into()),
                        (Dim::Lane, lane.into()),
                        (Dim::Warp, warp.into()),
                    ];
                    let (row, column) = wgmma::a_fragment(operand, thread, index);
                    let found = (layout.coordinate(&inputs, ROW), layout.coordinate(&inputs, COLUMN));
                    assert_eq!(found, (row.into(), column.into()));
                }
            }
        }
    }

    #[test]
    fn matrices_arrive_as_the_manual_says() {
        for (log2, transposed) in (0..3).flat_map(|log2| [(log2, false), (log2, true)]) {
            let (rows, fragment) = (
                matrix_rows(log2).expect("legal"),
                matrix_fragment(log2, transposed).expect("legal"),
            );
            assert!(fragment.is_bijective());
            for lane in 0..32u64 {
                for register in 0..2u64 << log2 {
                    // Matrix i is the one whose rows lanes 8 i to 8 i + 7 address; its pair of elements is register i.
                    let (matrix, half) = (register / 2, register % 2);
                    let (row, column) = if transposed {
                        (2 * (lane % 4) + half, lane / 4)
                    } else {
                        (lane / 4, 2 * (lane % 4) + half)
                    };
                    let stored = [(Dim::Lane, 8 * matrix + row), (Dim::Register, column)];
                    let held = [(Dim::Lane, lane), (Dim::Register, register)];
                    assert_eq!(fragment.apply(&held), rows.apply(&stored));
                }
            }
        }
        assert!(
            matrix_fragment(2, false)
                .expect("legal")
                .same_map(&mma_a(16).expect("legal"))
        );
        assert!(
            matrix_fragment(1, true)
                .expect("legal")
                .same_map(&mma_b(16).expect("legal"))
        );
    }

    #[test]
    fn fragments_of_f64_are_those_of_the_manual() {
        // PTX ISA, "Matrix Fragments for mma.m16n8k8 with .f64": groupID and threadID_in_group.
        let (a, b) = (mma_a(64).expect("legal"), mma_b(64).expect("legal"));
        for lane in 0..32 {
            let (group, thread) = (lane / 4, lane % 4);
            for i in 0..4 {
                let at = [(Dim::Register, i), (Dim::Lane, lane)];
                let place = |layout: &LinearLayout| (layout.coordinate(&at, ROW), layout.coordinate(&at, COLUMN));
                assert_eq!(place(&a), (group + 8 * (i % 2), thread + 4 * (i / 2)));
                if i < 2 {
                    assert_eq!(place(&b), (thread + 4 * i, group));
                }
            }
        }
        let refused = wgmma_a(64, 1).expect_err("wgmma has no f64").to_string();
        assert!(refused.contains("wgmma has 1, 8, 16 and 32"), "{refused}");
    }

    #[test]
    fn a_blocked_layout_repeats_and_broadcasts() {
        let blocked = Blocked {
            per_thread: vec![1, 4],
            lanes: vec![4, 8],
            warps: vec![2, 1],
            order: vec![1, 0],
        };
        let fits = blocked.layout(&[8, 32]).expect("fits");
        assert!(fits.is_bijective());
        assert_eq!(fits.contiguity(Dim::Register, COLUMN), 4);
        let larger = blocked.layout(&[16, 128]).expect("repeats");
        assert!(larger.is_bijective());
        assert_eq!(larger.input_bits(Dim::Register), 2 + 2 + 1);
        let smaller = blocked.layout(&[2, 32]).expect("broadcasts");
        assert!(smaller.is_surjective());
        assert_eq!(
            (smaller.broadcast_bits(Dim::Lane), smaller.broadcast_bits(Dim::Warp)),
            (0b10000, 1)
        );
        let odd = blocked.layout(&[8, 24]).unwrap_err().to_string();
        assert_eq!(odd, "size of axis 1 = 24, but layouts need powers of two; pad to 32");
    }

    #[test]
    fn shared_offsets_are_those_of_tensor_copies() {
        use crate::tensor_map::{Fill, Format, Interleave, L2Promotion, Mode, TensorMap};
        for swizzle in [
            Swizzle::None,
            Swizzle::B32,
            Swizzle::B64,
            Swizzle::B128,
            Swizzle::B128Atom32,
        ] {
            for columns in [4, 8, 16, 64] {
                let (rows, bytes) = (32, 4);
                let panel = swizzle.span_bytes().map_or(columns, |span| columns.min(span / bytes));
                let map = TensorMap {
                    format: Format::F32,
                    address: 0,
                    dims: vec![1 << 20; 2],
                    strides: vec![1 << 20],
                    mode: Mode::Tiled {
                        box_dims: vec![panel as u32, rows as u32],
                    },
                    element_strides: vec![1, 1],
                    interleave: Interleave::None,
                    swizzle,
                    fill: Fill::Zero,
                    l2_promotion: L2Promotion::None,
                };
                let offsets = shared_offsets((ROW, rows), (COLUMN, columns), bytes, swizzle).expect("legal");
                for row in 0..rows {
                    for column in 0..columns {
                        let image = map.image_offset(&[column % panel, row]).expect("whole bytes");
                        let expected = swizzle.apply(column / panel * map.image_bytes() + image) / bytes;
                        assert_eq!(
                            offsets.coordinate(&[(ROW, row), (COLUMN, column)], Dim::Offset),
                            expected
                        );
                    }
                }
                assert_eq!(
                    offsets.is_bijective(),
                    panel * bytes >= swizzle.span_bytes().unwrap_or(0)
                );
            }
        }
    }

    #[test]
    fn swizzles_are_cutes() {
        for (swizzle, b, m, s) in [
            (Swizzle::B32, 1, 4, 3),
            (Swizzle::B64, 2, 4, 3),
            (Swizzle::B128, 3, 4, 3),
            (Swizzle::B128Atom32, 2, 5, 2),
            (Swizzle::B128Atom64, 1, 6, 1),
        ] {
            let layout = cute_swizzle(b, m, s, 12).expect("fits");
            for address in 0..4096 {
                assert_eq!(layout.apply_packed(address), swizzle.apply(address));
            }
        }
        assert!(cute_swizzle(3, 4, 3, 9).is_err());
    }
}
