//! Where a buffer's bytes could lie in shared memory so that observed accesses conflict least.
//!
//! The accesses are given as they were seen: the address of each lane. A [`Placement`] moves every byte of the buffer, the
//! same way for all who touch it, so that a program which applies it to each of its addresses computes what it did before;
//! [`placements`] counts what all accesses together would then take. Nothing is guessed: a placement that would tear an
//! access apart is left out, and one that helps is one whose count says so.
use super::banks::{AccessCost, access_cost, load_cost};
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
    /// Whether it is a load, other than of matrices.
    pub loads: bool,
    /// How often.
    pub times: u64,
}

impl WarpAccess {
    /// What one of it costs.
    pub fn cost(&self) -> AccessCost {
        self.cost_at(&self.addresses)
    }

    fn cost_at(&self, addresses: &[Option<u64>]) -> AccessCost {
        if self.loads {
            load_cost(addresses, self.bytes)
        } else {
            access_cost(addresses, self.bytes)
        }
    }

    /// What one of it costs under a placement; `None` if that would tear it apart.
    pub fn cost_under(&self, placement: Placement) -> Option<AccessCost> {
        let mut addresses = self.addresses.clone();
        for address in addresses.iter_mut().flatten() {
            let moved = placement.apply(*address);
            if !moved.is_multiple_of(self.bytes) || placement.apply(*address + self.bytes - 1) != moved + self.bytes - 1
            {
                return None;
            }
            *address = moved;
        }
        Some(self.cost_at(&addresses))
    }
}

/// A bijection of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placement {
    /// As it is.
    Unchanged,
    /// A swizzle on absolute addresses, in the place of the one that is there now.
    Swizzle {
        /// What the addresses went through already.
        now: Swizzle,
        /// What they would go through.
        to: Swizzle,
    },
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
            Placement::Swizzle { now, to } => to.apply(now.apply(address)),
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
            Placement::Swizzle { now: Swizzle::None, to } => write!(f, "swizzle {}", to.name()),
            Placement::Swizzle { now, to: Swizzle::None } => write!(f, "no swizzle instead of {}", now.name()),
            Placement::Swizzle { now, to } => write!(f, "swizzle {} instead of {}", to.name(), now.name()),
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

/// Who else decides where the bytes of a buffer lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freedom {
    /// Nobody: each instruction that touches it computes its addresses.
    Free {
        /// Address of its first byte.
        origin: u64,
        /// Bytes from one row to the next, if known; see [`row_pitch`].
        row_bytes: Option<u64>,
    },
    /// Tensor copies, whose map holds a swizzle. Another one keeps every row in its place where it spans just a row.
    TensorCopies {
        /// The map's swizzle.
        now: Swizzle,
        /// Bytes of a row of the box, gaps included.
        row_bytes: u64,
    },
}

/// The placements that are possible and that every access survives, with the wavefronts that all accesses together take:
/// the fewest first, among equals no change before swizzles, narrow ones first, before exclusive ors, before padding.
pub fn placements(accesses: &[WarpAccess], freedom: Freedom) -> Vec<(Placement, u64)> {
    let unit_bytes = accesses.iter().map(|access| access.bytes).max().unwrap_or(4).max(4);
    let mut found: Vec<(Placement, u64)> = candidates(unit_bytes, freedom)
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

fn candidates(unit_bytes: u64, freedom: Freedom) -> Vec<Placement> {
    let mut list = vec![Placement::Unchanged];
    let (origin, row_bytes) = match freedom {
        Freedom::TensorCopies { now, row_bytes } => {
            let fits = |to: &Swizzle| *to != now && to.span_bytes().is_none_or(|span| span == row_bytes);
            let to = [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128].into_iter();
            list.extend(to.filter(fits).map(|to| Placement::Swizzle { now, to }));
            return list;
        }
        Freedom::Free { origin, row_bytes } => (origin, row_bytes),
    };
    list.extend([Swizzle::B32, Swizzle::B64, Swizzle::B128].map(|to| Placement::Swizzle { now: Swizzle::None, to }));
    let Some(row_bytes) = row_bytes else {
        return list;
    };
    // Rows narrower than a line share it; then the line's number tells apart what shares banks.
    for row_bytes in [row_bytes, row_bytes.next_multiple_of(LINE_BYTES)] {
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
            loads: false,
            times: 1,
        }
    }

    fn free(row_bytes: u64) -> Freedom {
        Freedom::Free {
            origin: 0,
            row_bytes: Some(row_bytes),
        }
    }

    fn swizzle(to: Swizzle) -> Placement {
        Placement::Swizzle { now: Swizzle::None, to }
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
        assert_eq!(found[0], (swizzle(Swizzle::B128), ideal(&accesses)));
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
        let tensor = Freedom::TensorCopies {
            now: Swizzle::None,
            row_bytes: 128,
        };
        let found = placements(&accesses, tensor);
        assert_eq!(found[0], (swizzle(Swizzle::B128), 5), "a 4-way conflict is left");
        assert_eq!(found.len(), 2, "swizzles of other spans would move the rows");
    }

    #[test]
    fn a_swizzle_takes_the_place_of_another() {
        let logical = access(16, |lane| lane * 128);
        let mut stored = logical.clone();
        for address in stored.addresses.iter_mut().flatten() {
            *address = Swizzle::B128.apply(*address);
        }
        let back = Placement::Swizzle {
            now: Swizzle::B128,
            to: Swizzle::None,
        };
        assert_eq!(stored.cost_under(back), Some(logical.cost()));
        assert_eq!(stored.cost().degree, 1);
    }

    #[test]
    fn narrow_rows_want_narrow_swizzles() {
        for (row_bytes, best) in [(32, Swizzle::B32), (64, Swizzle::B64), (128, Swizzle::B128)] {
            let accesses = [access(16, |lane| {
                lane % 8 * row_bytes + lane / 8 % (row_bytes / 16) * 16
            })];
            let found = placements(&accesses, free(row_bytes));
            assert_eq!(found[0].0, swizzle(best), "rows of {row_bytes} bytes");
            assert_eq!(found[0].1, 4);
        }
    }

    #[test]
    fn nothing_is_proposed_where_nothing_helps() {
        // All lanes in bank 0 of lines that no row number tells apart.
        let accesses = [access(4, |lane| lane * 4096)];
        let rows_unknown = Freedom::Free {
            origin: 0,
            row_bytes: None,
        };
        let found = placements(&accesses, rows_unknown);
        assert_eq!(found[0], (Placement::Unchanged, 32));
    }

    #[test]
    fn a_placement_that_tears_an_access_is_left_out() {
        let flip = swizzle(Swizzle::B128Atom32Flip8);
        assert_eq!(access(16, |lane| lane * 128).cost_under(flip), None);
        assert!(access(8, |lane| lane * 128).cost_under(flip).is_some());
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
                Placement::Swizzle { now: Swizzle::B32, to: Swizzle::B64 },
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
