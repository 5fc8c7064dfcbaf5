//! Where a buffer's bytes could lie in shared memory so that observed accesses conflict least.
//!
//! The accesses are given as they were seen: the address of each lane. A [`Placement`] moves every byte of the buffer, the
//! same way for all who touch it, so that a program which applies it to each of its addresses computes what it did before;
//! [`placements`] counts what all accesses together would then take. Nothing is guessed: a placement that would tear an
//! access apart is left out, and one that helps is one whose count says so.
use super::banks::{AccessCost, access_cost};
use crate::tensor_map::Swizzle;
use std::fmt;

/// A line of all banks, in bytes.
const LINE_BYTES: u64 = 128;

/// One access of a warp, and how often it happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WarpAccess {
    /// Byte address of each lane; `None` for a lane that does not take part.
    pub addresses: Vec<Option<u64>>,
    /// Bytes of a lane: 1, 2, 4, 8 or 16.
    pub bytes: u64,
    /// How often.
    pub times: u64,
}

impl WarpAccess {
    /// What one of it costs.
    pub fn cost(&self) -> AccessCost {
        access_cost(&self.addresses, self.bytes)
    }

    /// What one of it costs under a placement; `None` if that would tear it apart.
    pub fn cost_under(&self, placement: Placement) -> Option<AccessCost> {
        let mut addresses = self.addresses.clone();
        for address in addresses.iter_mut().flatten() {
            let moved = placement.apply(*address);
            if moved % self.bytes != 0 || placement.apply(*address + self.bytes - 1) != moved + self.bytes - 1 {
                return None;
            }
            *address = moved;
        }
        Some(access_cost(&addresses, self.bytes))
    }
}

/// A bijection of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placement {
    /// As it is.
    Unchanged,
    /// A swizzle that tensor copies and wgmma know, on absolute addresses.
    Swizzle(Swizzle),
    /// Within each row, units of `unit_bytes` change places by an exclusive or with the low `bits` bits of the row's number:
    /// `unit ^= row % 2^bits`. Rows are counted from `origin`.
    Xor {
        /// Address of the first row.
        origin: u64,
        /// Bytes of a row, a multiple of `unit_bytes << bits`.
        row_bytes: u64,
        /// Bytes that stay together, a power of two.
        unit_bytes: u64,
        /// Bits of the row's number.
        bits: u32,
    },
    /// Bytes that nothing uses after each row.
    Pad {
        /// Address of the first row.
        origin: u64,
        /// Bytes of a row.
        row_bytes: u64,
        /// Bytes after it.
        pad_bytes: u64,
    },
}

impl Placement {
    /// Where the byte at `address` would lie. Addresses below the origin stay where they are.
    pub fn apply(self, address: u64) -> u64 {
        match self {
            Placement::Unchanged => address,
            Placement::Swizzle(swizzle) => swizzle.apply(address),
            Placement::Xor {
                origin,
                row_bytes,
                unit_bytes,
                bits,
            } => match address.checked_sub(origin) {
                Some(offset) => origin + (offset ^ (offset / row_bytes % (1 << bits) * unit_bytes)),
                None => address,
            },
            Placement::Pad {
                origin,
                row_bytes,
                pad_bytes,
            } => match address.checked_sub(origin) {
                Some(offset) => address + offset / row_bytes * pad_bytes,
                None => address,
            },
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Placement::Unchanged => f.write_str("no change"),
            Placement::Swizzle(swizzle) => write!(f, "swizzle {}", swizzle.name()),
            Placement::Xor {
                row_bytes,
                unit_bytes,
                bits,
                ..
            } => {
                let rows = 1u64 << bits;
                write!(
                    f,
                    "an exclusive or of the {unit_bytes}-byte unit with the row (unit ^= row % {rows}, rows of {row_bytes} bytes)"
                )
            }
            Placement::Pad {
                row_bytes, pad_bytes, ..
            } => write!(f, "{pad_bytes} bytes of padding after each row of {row_bytes}"),
        }
    }
}

/// Bytes from one row to the next, as the lanes of the accesses are apart: the greatest common divisor of the distances
/// between the starts of runs of adjacent lanes. `None` where every access is one run.
pub fn row_pitch<'a>(accesses: impl IntoIterator<Item = &'a WarpAccess>) -> Option<u64> {
    let mut pitch = 0;
    for access in accesses {
        let mut starts: Vec<u64> = access.addresses.iter().flatten().copied().collect();
        starts.sort_unstable();
        starts.dedup();
        let mut run = None;
        for (i, &address) in starts.iter().enumerate() {
            if i > 0 && address == starts[i - 1] + access.bytes {
                continue;
            }
            if let Some(previous) = run.replace(address) {
                pitch = gcd(pitch, address - previous);
            }
        }
    }
    (pitch > 0).then_some(pitch)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// What a buffer allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Address of its first byte.
    pub origin: u64,
    /// Bytes from one row to the next, if known; see [`row_pitch`].
    pub row_bytes: Option<u64>,
    /// Whether tensor copies or wgmma touch it too, which know nothing but their own swizzles.
    pub hardware: bool,
}

/// The placements that the buffer allows and every access survives, with the wavefronts that all accesses together take:
/// the fewest first, among equals no change before swizzles, narrow ones first, before exclusive ors, before padding.
pub fn placements(accesses: &[WarpAccess], buffer: Buffer) -> Vec<(Placement, u64)> {
    let mut found: Vec<(Placement, u64)> = candidates(accesses, buffer)
        .into_iter()
        .filter_map(|placement| {
            let costs = accesses.iter().map(|access| {
                let cost = access.cost_under(placement)?;
                Some(cost.wavefronts * access.times)
            });
            Some((placement, costs.sum::<Option<u64>>()?))
        })
        .collect();
    found.sort_by_key(|&(_, wavefronts)| wavefronts);
    found
}

fn candidates(accesses: &[WarpAccess], buffer: Buffer) -> Vec<Placement> {
    let mut list = vec![Placement::Unchanged];
    list.extend([Swizzle::B32, Swizzle::B64, Swizzle::B128].map(Placement::Swizzle));
    if buffer.hardware {
        list.extend([Swizzle::B128Atom32, Swizzle::B128Atom32Flip8, Swizzle::B128Atom64].map(Placement::Swizzle));
        return list;
    }
    let Some(row_bytes) = buffer.row_bytes else {
        return list;
    };
    let origin = buffer.origin;
    let unit_bytes = accesses.iter().map(|access| access.bytes).max().unwrap_or(4).max(4);
    // Rows narrower than a line share it; the line's number is then what tells rows apart that share banks.
    let line = row_bytes.next_multiple_of(LINE_BYTES.min(row_bytes.next_power_of_two()));
    for row_bytes in [row_bytes, line.max(LINE_BYTES)] {
        for bits in 1..=(LINE_BYTES / unit_bytes).max(1).ilog2() {
            let xor = Placement::Xor {
                origin,
                row_bytes,
                unit_bytes,
                bits,
            };
            if row_bytes % (unit_bytes << bits) == 0 && !list.contains(&xor) {
                list.push(xor);
            }
        }
    }
    if row_bytes > unit_bytes {
        list.extend([1, 2, 4].map(|units| Placement::Pad {
            origin,
            row_bytes,
            pad_bytes: units * unit_bytes,
        }));
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn access(bytes: u64, address: impl Fn(u64) -> u64) -> WarpAccess {
        WarpAccess {
            addresses: (0..32).map(|lane| Some(address(lane))).collect(),
            bytes,
            times: 1,
        }
    }

    fn free(row_bytes: u64) -> Buffer {
        Buffer {
            origin: 0,
            row_bytes: Some(row_bytes),
            hardware: false,
        }
    }

    fn ideal(accesses: &[WarpAccess]) -> u64 {
        accesses.iter().map(|access| access.cost().ideal * access.times).sum()
    }

    #[test]
    fn matrix_rows_of_128_bytes_want_swizzle_128() {
        // ldmatrix.x4 of four 8x8 matrices, one below the other, beside rows written 16 bytes a lane.
        let accesses = [
            access(16, |lane| lane * 128),
            access(16, |lane| lane / 8 * 128 + lane % 8 * 16),
        ];
        assert_eq!(accesses[0].cost().degree, 8);
        assert_eq!(row_pitch(&accesses), Some(128));
        let found = placements(&accesses, free(128));
        assert_eq!(found[0], (Placement::Swizzle(Swizzle::B128), ideal(&accesses)));
    }

    #[test]
    fn a_transpose_of_words_wants_more_than_a_swizzle_of_16_bytes() {
        let accesses = [access(4, |lane| lane * 128), access(4, |lane| lane * 4)];
        let found = placements(&accesses, free(128));
        let best = Placement::Xor {
            origin: 0,
            row_bytes: 128,
            unit_bytes: 4,
            bits: 5,
        };
        assert_eq!(found[0], (best, 2));
        let pad = Placement::Pad {
            origin: 0,
            row_bytes: 128,
            pad_bytes: 4,
        };
        assert!(found.contains(&(pad, 2)));
        let hardware = Buffer {
            hardware: true,
            ..free(128)
        };
        let found = placements(&accesses, hardware);
        assert_eq!(
            found[0],
            (Placement::Swizzle(Swizzle::B128), 5),
            "swizzle 128 leaves a 4-way conflict"
        );
    }

    #[test]
    fn narrow_rows_want_narrow_swizzles() {
        for (row_bytes, swizzle) in [(32, Swizzle::B32), (64, Swizzle::B64), (128, Swizzle::B128)] {
            let accesses = [access(16, |lane| {
                lane % 8 * row_bytes + lane / 8 % (row_bytes / 16) * 16
            })];
            let found = placements(&accesses, free(row_bytes));
            assert_eq!(found[0].0, Placement::Swizzle(swizzle), "rows of {row_bytes} bytes");
            assert_eq!(found[0].1, 4);
        }
    }

    #[test]
    fn nothing_is_proposed_where_nothing_helps() {
        // All lanes in bank 0 of lines that no row number tells apart.
        let accesses = [access(4, |lane| lane * 4096)];
        let found = placements(
            &accesses,
            Buffer {
                row_bytes: None,
                ..free(128)
            },
        );
        assert_eq!(found[0], (Placement::Unchanged, 32));
    }

    #[test]
    fn a_placement_that_tears_an_access_is_left_out() {
        let accesses = [access(16, |lane| lane * 128)];
        let torn = placements(
            &accesses,
            Buffer {
                hardware: true,
                ..free(128)
            },
        );
        assert!(
            torn.iter()
                .all(|(p, _)| *p != Placement::Swizzle(Swizzle::B128Atom32Flip8))
        );
    }

    proptest! {
        /// A placement never puts two bytes of a buffer in one place.
        #[test]
        fn placements_are_injective(row in 1u64..5, bits in 1u32..4, unit in 2u32..5, pad in 0u64..33) {
            let unit_bytes = 1 << unit;
            let row_bytes = row * (unit_bytes << bits);
            let all = [
                Placement::Xor { origin: 64, row_bytes, unit_bytes, bits },
                Placement::Pad { origin: 64, row_bytes, pad_bytes: pad },
                Placement::Swizzle(Swizzle::B64),
            ];
            for placement in all {
                let mut to: Vec<u64> = (0..2048).map(|address| placement.apply(address)).collect();
                to.sort_unstable();
                to.dedup();
                prop_assert_eq!(to.len(), 2048);
            }
        }
    }
}
