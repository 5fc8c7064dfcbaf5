//! Where one row of the image lies in shared memory.
//!
//! A row is written to a run of logical addresses; the swizzle permutes atoms within 128-byte lines of *absolute* shared
//! addresses. The padded sub-byte formats spread each 16 elements (8 or 12 bytes in global memory) over 16 bytes of the
//! row, and leave the rest of these 16 bytes as it was.
use super::geometry::Layout;
use crate::memory::{Bytes, Fault};
use girih_core::tensor_map::Swizzle;

/// Bytes within which every swizzle permutes.
const LINE_BYTES: u64 = 128;

/// Runs of bytes `(physical address, offset in the row, length)` of `len` logical bytes at `logical`, in order of offset.
fn runs(
    swizzle: Swizzle,
    logical: u64,
    len: usize,
    mut each: impl FnMut(u64, usize, usize) -> Result<(), Fault>,
) -> Result<(), Fault> {
    if swizzle == Swizzle::None {
        return if len == 0 { Ok(()) } else { each(logical, 0, len) };
    }
    let atom = swizzle.atom_bytes();
    let mut done = 0;
    while done < len {
        let address = logical + done as u64;
        let run = ((atom - address % atom) as usize).min(len - done);
        each(swizzle.apply(address), done, run)?;
        done += run;
    }
    Ok(())
}

/// Writes `row` at the logical address `logical`.
pub fn write_row(shared: &dyn Bytes, swizzle: Swizzle, layout: &Layout, logical: u64, row: &[u8]) -> Result<(), Fault> {
    if layout.piece_bytes != 16 {
        for (i, piece) in row.chunks(layout.piece_bytes as usize).enumerate() {
            write_run(shared, swizzle, logical + i as u64 * 16, piece)?;
        }
        return Ok(());
    }
    write_run(shared, swizzle, logical, row)
}

fn write_run(shared: &dyn Bytes, swizzle: Swizzle, logical: u64, bytes: &[u8]) -> Result<(), Fault> {
    let line = LINE_BYTES as usize;
    if swizzle == Swizzle::None || !logical.is_multiple_of(LINE_BYTES) {
        return runs(swizzle, logical, bytes.len(), |to, at, len| {
            shared.write(to, &bytes[at..at + len])
        });
    }
    // Whole lines are permuted here and written as one.
    let whole = bytes.len() / line * line;
    for start in (0..whole).step_by(line) {
        let base = logical + start as u64;
        let mut image = [0; LINE_BYTES as usize];
        runs(swizzle, base, line, |to, at, len| {
            let to = (to - base) as usize;
            image[to..to + len].copy_from_slice(&bytes[start + at..start + at + len]);
            Ok(())
        })?;
        shared.write(base, &image)?;
    }
    let rest = &bytes[whole..];
    runs(swizzle, logical + whole as u64, rest.len(), |to, at, len| {
        shared.write(to, &rest[at..at + len])
    })
}

/// Reads the row at the logical address `logical` of which only the bytes `from..row.len()` are wanted.
///
/// `layout.piece_bytes` of 12 packs the low 6 bits of each 16 bytes, as `.b6p2x16` does.
pub fn read_row(
    shared: &dyn Bytes,
    swizzle: Swizzle,
    layout: &Layout,
    logical: u64,
    row: &mut [u8],
) -> Result<(), Fault> {
    if layout.piece_bytes != 16 {
        for (i, piece) in row.chunks_mut(layout.piece_bytes as usize).enumerate() {
            let mut elements = [0; 16];
            read_run(shared, swizzle, logical + i as u64 * 16, &mut elements)?;
            let packed = pack_6_bits(&elements);
            let len = piece.len();
            piece.copy_from_slice(&packed[..len]);
        }
        return Ok(());
    }
    read_run(shared, swizzle, logical, row)
}

fn read_run(shared: &dyn Bytes, swizzle: Swizzle, logical: u64, bytes: &mut [u8]) -> Result<(), Fault> {
    runs(swizzle, logical, bytes.len(), |from, at, len| {
        shared.read(from, &mut bytes[at..at + len])
    })
}

/// The low 6 bits of 16 bytes, the first in the lowest bits.
fn pack_6_bits(elements: &[u8; 16]) -> [u8; 12] {
    let bits = elements
        .iter()
        .rev()
        .fold(0u128, |bits, &e| bits << 6 | u128::from(e & 0x3f));
    let mut packed = [0; 12];
    packed.copy_from_slice(&bits.to_le_bytes()[..12]);
    packed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tma::flat::Flat;

    const PLAIN: Layout = Layout {
        row_bytes: 128,
        pitch: 128,
        piece_bytes: 16,
    };

    #[test]
    fn row_lands_where_the_swizzle_says_for_every_base_line() {
        let row: Vec<u8> = (0..=255).collect();
        for swizzle in Swizzle::ALL {
            for line in 0..16u64 {
                for len in [16usize, 48, 128, 144, 256] {
                    let shared = Flat::new(0, vec![0xee; 4096]);
                    write_row(&shared, swizzle, &PLAIN, line * 128, &row[..len]).unwrap();
                    let mut back = vec![0; len];
                    read_row(&shared, swizzle, &PLAIN, line * 128, &mut back).unwrap();
                    assert_eq!(back, &row[..len]);
                    let bytes = shared.into_bytes();
                    for (i, &b) in row[..len].iter().enumerate() {
                        assert_eq!(
                            bytes[swizzle.apply(line * 128 + i as u64) as usize],
                            b,
                            "{swizzle:?} {line} {len}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn padded_formats_leave_the_padding_alone() {
        for piece_bytes in [8u32, 12] {
            let layout = Layout {
                row_bytes: piece_bytes * 8,
                pitch: 128,
                piece_bytes,
            };
            let shared = Flat::new(0, vec![0xee; 128]);
            let row = vec![1; layout.row_bytes as usize];
            write_row(&shared, Swizzle::B128, &layout, 0, &row).unwrap();
            let bytes = shared.into_bytes();
            for (i, &b) in bytes.iter().enumerate() {
                assert_eq!(b, if i % 16 < piece_bytes as usize { 1 } else { 0xee });
            }
        }
    }

    #[test]
    fn six_bit_elements_are_packed_without_their_padding_bits() {
        let elements: [u8; 16] = std::array::from_fn(|i| 0xc0 | (i as u8 * 3));
        let packed = pack_6_bits(&elements);
        for (i, e) in elements.iter().enumerate() {
            let bit = i * 6;
            let word = u16::from_le_bytes([packed[bit / 8], *packed.get(bit / 8 + 1).unwrap_or(&0)]);
            assert_eq!((word >> (bit % 8)) as u8 & 0x3f, e & 0x3f);
        }
    }
}
