//! Loads, stores and reductions.
//!
//! The caller delivers transaction bytes to the mbarrier and orders the copy against other accesses; here a copy happens
//! at once. A multicast load is one [`load`] for each destination block. A prefetch (`cp.async.bulk.prefetch.tensor`)
//! touches caches alone, so it has no function here.
use super::geometry::{Layout, LoadMode, load_walk, store_walk};
use super::illegal;
use super::image::{read_row, write_row};
use super::reduce::Reduction;
use super::{ReduceOp, StoreMode};
use crate::memory::{Bytes, Fault, FaultKind};
use girih_core::tensor_map::{Fill, Format, TensorMap};

/// Multiple of bytes that the copy engine needs a shared address to be; the PTX text asks for 16 only.
pub const SHARED_ALIGNMENT: u64 = 128;

/// Global to shared memory. Gives the bytes by which the copy completes its mbarrier transaction: the payload with what
/// lies outside the tensor, without padding and gaps.
///
/// `dst` is the absolute address in the window that `shared` understands and that the swizzle is a function of.
///
/// Errors: `MisalignedAddress` for `dst`, `IllegalInstruction` as [`load_walk`] says, and those of the two memories.
pub fn load(
    map: &TensorMap,
    mode: LoadMode,
    coords: &[i32],
    global: &dyn Bytes,
    shared: &dyn Bytes,
    dst: u64,
) -> Result<u64, Fault> {
    let walk = load_walk(map, mode, coords)?;
    aligned_shared(dst)?;
    let mut row = vec![0; walk.layout.row_bytes as usize];
    for r in &walk.rows {
        let (start, end) = (r.valid.start as usize, r.valid.end as usize);
        fill(map.fill, &mut row[..start]);
        fill(map.fill, &mut row[end..]);
        if start < end {
            global.read(r.global.wrapping_add(start as u64), &mut row[start..end])?;
            if matches!(map.format, Format::Tf32 | Format::Tf32Ftz) {
                round_tf32(&mut row[start..end]);
            }
        }
        write_row(shared, map.swizzle, &walk.layout, dst + r.image, &row)?;
    }
    Ok(u64::from(walk.layout.row_bytes) * walk.rows.len() as u64)
}

/// Shared to global memory. Bytes are copied as they are, `tf32` not rounded.
///
/// Errors: `IllegalInstruction` as [`store_walk`] says and for `.b4x16_p64`, which has no store; else as [`load`].
pub fn store(
    map: &TensorMap,
    mode: StoreMode,
    coords: &[i32],
    shared: &dyn Bytes,
    src: u64,
    global: &dyn Bytes,
) -> Result<(), Fault> {
    if map.format == Format::B4x16P64 {
        return Err(illegal(
            "tensor store of b4x16_p64; the format can only be loaded, store packed b4x16".into(),
        ));
    }
    for_each_stored_row(map, mode, coords, shared, src, |address, bytes| {
        global.write(address, bytes)
    })
}

/// Shared memory into global memory by `op`, element by element.
///
/// Errors: as [`store`], and `IllegalInstruction` where `op` is not defined for the format.
pub fn reduce(
    map: &TensorMap,
    op: ReduceOp,
    mode: StoreMode,
    coords: &[i32],
    shared: &dyn Bytes,
    src: u64,
    global: &dyn Bytes,
) -> Result<(), Fault> {
    let Some(reduction) = Reduction::new(op, map.format) else {
        return Err(illegal(format!(
            "tensor reduction {} of {} elements, which PTX does not define",
            op.name(),
            map.format.name()
        )));
    };
    let width = reduction.width();
    for_each_stored_row(map, mode, coords, shared, src, |address, bytes| {
        for (i, element) in bytes.chunks_exact(width).enumerate() {
            let mut word = [0; 8];
            word[..width].copy_from_slice(element);
            let source = u64::from_le_bytes(word);
            global.update(address.wrapping_add((i * width) as u64), width, &mut |old| {
                reduction.apply(old, source)
            })?;
        }
        Ok(())
    })
}

fn for_each_stored_row(
    map: &TensorMap,
    mode: StoreMode,
    coords: &[i32],
    shared: &dyn Bytes,
    src: u64,
    mut each: impl FnMut(u64, &[u8]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let walk = store_walk(map, mode, coords)?;
    aligned_shared(src)?;
    let mut row = vec![0; walk.layout.row_bytes as usize];
    for r in &walk.rows {
        let (start, end) = (r.valid.start as usize, r.valid.end as usize);
        if start < end {
            // Coordinates are not negative, so what is stored begins with the row.
            read_row(shared, map.swizzle, &walk.layout, src + r.image, &mut row[..end])?;
            each(r.global.wrapping_add(start as u64), &row[start..end])?;
        }
    }
    Ok(())
}

/// Bytes of shared memory from the first to past the last that a copy with this layout may touch.
pub fn image_bytes(layout: &Layout, rows: usize) -> u64 {
    layout.pitch * rows as u64
}

fn aligned_shared(address: u64) -> Result<(), Fault> {
    if address.is_multiple_of(SHARED_ALIGNMENT) {
        return Ok(());
    }
    Err(Fault::new(
        FaultKind::MisalignedAddress,
        format!(
            "tensor copy at shared address {address:#x}, {} bytes past a multiple of {SHARED_ALIGNMENT}; the copy engine \
             needs such a multiple",
            address % SHARED_ALIGNMENT
        ),
    ))
}

/// What elements outside the tensor read as; never converted.
fn fill(fill: Fill, bytes: &mut [u8]) {
    match fill {
        Fill::Zero => bytes.fill(0),
        Fill::Nan => bytes
            .chunks_exact_mut(2)
            .for_each(|half| half.copy_from_slice(&0x7ff7u16.to_le_bytes())),
    }
}

/// Rounds f32 values to the 19 bits of tf32, nearest even, denormals included; NaN becomes 0x7fffe000.
fn round_tf32(bytes: &mut [u8]) {
    for chunk in bytes.chunks_exact_mut(4) {
        let bits = u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
        let rounded = if bits & 0x7fff_ffff > 0x7f80_0000 {
            0x7fff_e000
        } else {
            // Infinity has zero low bits and stays; the largest finite values carry into infinity.
            (bits + 0xfff + (bits >> 13 & 1)) & !0x1fff
        };
        chunk.copy_from_slice(&rounded.to_le_bytes());
    }
}
