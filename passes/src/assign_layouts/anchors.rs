//! The layouts that accesses to memory want, and what they cost under others.
use girih_core::{
    layout::{Blocked as CoreBlocked, Dim, LinearLayout, shared_bank_count},
    tensor_map::Swizzle,
};
use girih_dialects::tile::{
    distribution::{Blocked, Distribution},
    ops::memory::VECTOR_BYTES,
};
use girih_ir::{ext::DYNAMIC, prelude::*};

/// Bytes that global memory is read and written in.
const SECTOR_BYTES: u64 = 32;
/// Bytes of a row that a warp moves at once where it has other rows to turn to: whole lines, and what is left of the lanes
/// spreads over enough rows for a transposition to meet no bank conflict.
const LINE_BYTES: u64 = 128;
/// The same of rows that lie anywhere, as those that numbers give: as much of a row as a warp can move. Where rows do not start
/// at lines, each piece of one has two lines that it shares with others.
const ROW_BYTES: u64 = 32 * VECTOR_BYTES;
/// Stands for a stride that is not known: rows that share no sector.
const FAR: u64 = 1 << 20;

/// Axes of a tile from fast to slow in memory. Strides that are not known are taken to grow outwards.
pub fn order(strides: &[i64]) -> Vec<usize> {
    let mut axes: Vec<usize> = (0..strides.len()).rev().collect();
    axes.sort_by_key(|a| match strides[*a] {
        DYNAMIC => u64::MAX,
        s => s.unsigned_abs(),
    });
    axes
}

/// A blocked layout of `shape` in which warps move whole lines: vectors along the first axis of `order`, lanes after them up
/// to a line or as far as there are no other rows, warps along the slowest axes that have room, so that a row stays in as
/// few warps as it can.
pub fn coalesced<'c>(
    context: &'c Context,
    shape: &[i64],
    order: &[usize],
    element_bytes: u64,
    warps: u64,
) -> Blocked<'c> {
    coalesced_with_copies(context, shape, order, element_bytes, warps, order[0])
}

/// The same for rows that lie anywhere, of which a warp moves as much at once as it can.
pub fn coalesced_rows<'c>(
    context: &'c Context,
    shape: &[i64],
    order: &[usize],
    element_bytes: u64,
    warps: u64,
) -> Blocked<'c> {
    in_pieces(context, shape, order, element_bytes, warps, order[0], ROW_BYTES)
}

/// The same with the axis along which threads that a small tile has no elements for hold copies.
pub fn coalesced_with_copies<'c>(
    context: &'c Context,
    shape: &[i64],
    order: &[usize],
    element_bytes: u64,
    warps: u64,
    copies: usize,
) -> Blocked<'c> {
    in_pieces(context, shape, order, element_bytes, warps, copies, LINE_BYTES)
}

/// The same with the bytes of a row that a warp moves at once.
fn in_pieces<'c>(
    context: &'c Context,
    shape: &[i64],
    order: &[usize],
    element_bytes: u64,
    warps: u64,
    copies: usize,
    piece: u64,
) -> Blocked<'c> {
    let rank = shape.len();
    let size = |axis: usize| shape[axis].max(1) as u64;
    let elements: u64 = (0..rank).map(size).product();
    let fast = order[0];
    let share = (elements / (warps * 32)).max(1);
    let vector = (VECTOR_BYTES / element_bytes).max(1).min(size(fast)).min(share);
    let mut per_thread = vec![1; rank];
    per_thread[fast] = vector;
    let mut room: Vec<u64> = (0..rank).map(|a| size(a) / per_thread[a]).collect();
    let others = elements / size(fast);
    let along = (piece / (vector * element_bytes))
        .max(32 / others.min(32))
        .min(32)
        .min(room[fast]);
    let mut lanes = vec![1; rank];
    lanes[fast] = along;
    room[fast] /= along;
    let slower = fill(32 / along, order[1..].iter().copied(), &mut room, copies);
    lanes.iter_mut().zip(slower).for_each(|(l, s)| *l *= s);
    let warps = fill(warps, order.iter().rev().copied(), &mut room, copies);
    Blocked::of_core(
        context,
        &CoreBlocked {
            per_thread,
            lanes,
            warps,
            order: order.to_vec(),
        },
    )
}

/// Deals `count` out to axes as far as each has room; what is left over goes to `rest`.
fn fill(count: u64, axes: impl Iterator<Item = usize>, room: &mut [u64], rest: usize) -> Vec<u64> {
    let mut dealt = vec![1; room.len()];
    let mut left = count;
    for axis in axes {
        let n = left.min(room[axis]);
        dealt[axis] *= n;
        room[axis] /= n;
        left /= n;
    }
    dealt[rest] *= left;
    dealt
}

/// Sectors that a warp touches under a layout for each that it needs at least, in hundredths: 100 is the best. `strides` in
/// elements.
pub fn sector_cost(d: &Distribution, strides: &[i64], element_bytes: u64) -> u64 {
    let rank = d.shape.len();
    let stride = |axis: usize| match strides[axis] {
        DYNAMIC => FAR << (rank - axis),
        s => s.unsigned_abs(),
    };
    let unit = (0..rank).rev().find(|a| strides[*a] == 1);
    let run = unit
        .map_or(1, |a| d.run(a) as u64)
        .min((VECTOR_BYTES / element_bytes).max(1));
    let mut bytes: Vec<u64> = (0..32u64)
        .flat_map(|lane| {
            let mut at = vec![0u32; rank];
            for (bit, image) in d
                .threads
                .iter()
                .take(5)
                .enumerate()
                .filter(|(bit, _)| lane >> bit & 1 == 1)
            {
                debug_assert!(bit < 5);
                at.iter_mut().zip(image).for_each(|(a, i)| *a ^= i);
            }
            let first: u64 = at.iter().enumerate().map(|(a, c)| u64::from(*c) * stride(a)).sum();
            (first..first + run).map(|e| e * element_bytes)
        })
        .collect();
    bytes.sort_unstable();
    bytes.dedup();
    let needed = (bytes.len() as u64 * element_bytes).div_ceil(SECTOR_BYTES);
    let mut sectors: Vec<u64> = bytes.iter().map(|b| b / SECTOR_BYTES).collect();
    sectors.dedup();
    sectors.len() as u64 * 100 / needed.max(1)
}

/// Wavefronts in which a warp moves its part of a tile to or from shared memory; `None` where strides are no powers of two.
/// `strides` in elements.
pub fn bank_cost(d: &Distribution, strides: &[i64], element_bytes: u64, swizzle: Swizzle) -> Option<u64> {
    type Image = [(Dim, u64); 1];
    let mut images: Vec<(Dim, Vec<Image>)> = vec![];
    let mut top = 0;
    for (axis, (size, stride)) in d.shape.iter().zip(strides).enumerate() {
        let stride = u64::try_from(*stride).ok().filter(|s| s.is_power_of_two())?;
        let places =
            (0..size.unsigned_abs().ilog2()).map(|bit| swizzle.apply((stride << bit) * element_bytes) / element_bytes);
        let places: Vec<u64> = places.collect();
        top = places.iter().fold(top, |top, place| top | place);
        images.push((
            Dim::Axis(axis as u8),
            places.iter().map(|p| [(Dim::Offset, *p)]).collect(),
        ));
    }
    let slices = images
        .iter()
        .map(|(dim, list)| (*dim, list.iter().map(|image| &image[..]).collect::<Vec<_>>()));
    let slices: Vec<_> = slices.collect();
    let bases: Vec<_> = slices.iter().map(|(dim, list)| (*dim, &list[..])).collect();
    let offsets = LinearLayout::from_bases(&[(Dim::Offset, u64::BITS - top.leading_zeros())], &bases).ok()?;
    let count = shared_bank_count(&d.linear, &offsets, element_bytes, None).ok()?;
    Some(count.wavefronts)
}
