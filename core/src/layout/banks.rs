//! Bank conflicts of shared memory, counted exactly.
//!
//! Shared memory has 32 banks of 4 bytes; the word at address `a` is in bank `a / 4 % 32`. A warp's access of up to 4 bytes a
//! lane is served as one part; one of 8 bytes in two halves of 16 lanes, one of 16 bytes in four quarters of 8. Each part
//! takes as many *wavefronts* as the busiest bank has different words. Lanes that touch the same word share it, whichever of
//! its bytes they read or write. A part without an active lane takes none.
//!
//! A load of 8 or 16 bytes a lane is served in half as many parts, of twice the lanes, where its lanes come in pairs: where
//! every two active lanes `i` and `i ^ 1` have the same address, or every two lanes `i` and `i ^ 2` ([`load_cost`]). Stores and
//! the matrix instructions know no such pairs.
//!
//! Both rules are an H200's: `tests/hw/banks.jsonl` holds what its counters said.
//!
//! # In closed form
//!
//! Where the address is linear over F2 in the lane's bits, words spread evenly over the banks that they reach. A part whose
//! words span a space of rank `r`, and of rank `b` when only the five bank bits of each are kept, takes `2^(r - b)`
//! wavefronts ([`linear_wavefronts`]). Swizzles are linear, so this holds under each of them.
use super::f2::rank;
use super::{Dim, LayoutError, LinearLayout, shared_offsets};
use crate::tensor_map::Swizzle;

/// Banks of shared memory, 4 bytes each.
pub(super) const BANKS: u64 = 32;

/// What one access of a warp to shared memory costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AccessCost {
    /// Wavefronts that it takes.
    pub wavefronts: u64,
    /// Wavefronts if no two words shared a bank.
    pub ideal: u64,
    /// Different words in the busiest bank of any part: 8 for an 8-way conflict, 1 for none, 0 without active lanes.
    pub degree: u64,
}

impl AccessCost {
    /// Adds another access: wavefronts add up, the degree is the larger.
    pub fn add(&mut self, other: AccessCost) {
        self.wavefronts += other.wavefronts;
        self.ideal += other.ideal;
        self.degree = self.degree.max(other.degree);
    }
}

/// Cost of one warp-wide store or matrix access of `bytes` bytes a lane (1, 2, 4, 8 or 16) at these byte addresses, one for
/// each lane in order; `None` for a lane that does not take part. Addresses are multiples of `bytes`. No load costs more.
pub fn access_cost(addresses: &[Option<u64>], bytes: u64) -> AccessCost {
    cost_in_parts(addresses, bytes, part_lanes(bytes))
}

/// Cost of one warp-wide load, whose lanes may come in pairs; otherwise as [`access_cost`].
pub fn load_cost(addresses: &[Option<u64>], bytes: u64) -> AccessCost {
    let one = part_lanes(bytes);
    if one == LANES {
        return access_cost(addresses, bytes);
    }
    let mut cost = AccessCost::default();
    for both in addresses.chunks(2 * one) {
        let lanes = if in_pairs(both, 1) || in_pairs(both, 2) {
            2 * one
        } else {
            one
        };
        cost.add(cost_in_parts(both, bytes, lanes));
    }
    cost
}

/// Whether every two active lanes `i` and `i ^ apart` have the same address.
fn in_pairs(addresses: &[Option<u64>], apart: usize) -> bool {
    let partner = |lane: usize| addresses.get(lane ^ apart).copied().flatten();
    addresses
        .iter()
        .enumerate()
        .all(|(lane, address)| address.is_none() || partner(lane).is_none() || partner(lane) == *address)
}

fn cost_in_parts(addresses: &[Option<u64>], bytes: u64, lanes: usize) -> AccessCost {
    let mut cost = AccessCost::default();
    for part in addresses.chunks(lanes) {
        let (busiest, words) = busiest_bank(part, bytes);
        cost.wavefronts += busiest;
        cost.ideal += words.div_ceil(BANKS);
        cost.degree = cost.degree.max(busiest);
    }
    cost
}

/// [`AccessCost::wavefronts`] alone.
pub fn wavefronts(addresses: &[Option<u64>], bytes: u64) -> u64 {
    access_cost(addresses, bytes).wavefronts
}

/// Wavefronts of one access of `bytes` bytes (1, 2, 4, 8 or 16) by all lanes of a warp whose addresses are linear over F2:
/// `images[i]` is the byte address of lane `2^i` without what lane 0 has. In closed form; see the head of this module.
pub fn linear_wavefronts(images: [u64; 5], bytes: u64) -> u64 {
    linear_in_parts(&images, bytes, part_lanes(bytes).ilog2() as usize, 0).wavefronts
}

/// The same for a load, whose lanes may come in pairs.
pub fn linear_load_wavefronts(images: [u64; 5], bytes: u64) -> u64 {
    linear_in_parts(&images, bytes, load_part_bits(&images, bytes), 0).wavefronts
}

/// Bits of a lane's number within a part of a load.
fn load_part_bits(images: &[u64], bytes: u64) -> usize {
    let part_bits = part_lanes(bytes).ilog2() as usize;
    let in_pairs = images.iter().take(2).any(|image| *image == 0);
    part_bits + usize::from(in_pairs && part_bits < LANES.ilog2() as usize)
}

/// Cost of an access whose addresses are linear in the lane's bits, of which the lowest `part_bits` choose among the lanes
/// that are served together; lanes with a bit of `idle` take no part.
fn linear_in_parts(images: &[u64], bytes: u64, part_bits: usize, idle: u64) -> AccessCost {
    let busy = |bit: &usize| idle >> bit & 1 == 0;
    let own = (0..images.len().min(part_bits)).filter(busy).map(|bit| images[bit] / 4);
    let words = own.chain((0..(bytes / 4).max(1).ilog2()).map(|bit| 1 << bit));
    let (different, reached) = (rank(words.clone()), rank(words.map(|word| word % BANKS)));
    let parts = 1 << (part_bits..images.len()).filter(busy).count();
    let degree = 1 << (different - reached);
    AccessCost {
        wavefronts: parts * degree,
        ideal: parts * (1u64 << different).div_ceil(BANKS),
        degree,
    }
}

/// Wavefronts of the same access if no two words shared a bank.
pub(super) fn ideal_wavefronts(addresses: &[Option<u64>], bytes: u64) -> u64 {
    access_cost(addresses, bytes).ideal
}

/// Lanes of a warp.
const LANES: usize = 32;

/// Lanes that are served together.
fn part_lanes(bytes: u64) -> usize {
    match bytes {
        0..=4 => LANES,
        5..=8 => LANES / 2,
        _ => LANES / 4,
    }
}

/// Different words in the busiest bank, and different words in all.
fn busiest_bank(addresses: &[Option<u64>], bytes: u64) -> (u64, u64) {
    let mut words: Vec<u64> = addresses
        .iter()
        .flatten()
        .flat_map(|&address| address / 4..(address + bytes).div_ceil(4))
        .collect();
    words.sort_unstable();
    words.dedup();
    let mut load = [0; BANKS as usize];
    for word in &words {
        load[(word % BANKS) as usize] += 1;
    }
    (load.into_iter().max().unwrap_or(0), words.len() as u64)
}

/// Cost of moving a register tile to or from shared memory, for each warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BankCount {
    /// Bytes that a lane moves in one access.
    pub vector_bytes: u64,
    /// Accesses.
    pub accesses: u64,
    /// Wavefronts of all accesses.
    pub wavefronts: u64,
    /// Wavefronts if no two words shared a bank.
    pub ideal: u64,
}

impl BankCount {
    /// How many times longer than without conflicts: 8 for an 8-way conflict, 1 for none.
    pub fn degree(&self) -> u64 {
        self.wavefronts.div_ceil(self.ideal.max(1))
    }
}

/// What it costs the threads of `registers` ((register, lane, ...) to coordinates) to load or store their elements, which
/// lie at `offsets` (coordinates to offset in elements, see [`shared_offsets`]). Accesses are as wide as registers, in some
/// fixed order, lie at consecutive offsets ([`LinearLayout::vector`]), at most 16 bytes, and at most `widest` bytes where
/// given. Registers that only repeat others are not moved.
///
/// One warp and one register speak for all: another changes every address by the same exclusive or, which permutes banks.
pub fn shared_bank_count(
    registers: &LinearLayout,
    offsets: &LinearLayout,
    element_bytes: u64,
    widest: Option<u64>,
) -> Result<BankCount, LayoutError> {
    bank_count(registers, offsets, element_bytes, widest, |images, bytes| {
        linear_in_parts(images, bytes, part_lanes(bytes).ilog2() as usize, 0)
    })
}

/// The same for stores of which one of all lanes that hold an element makes each.
pub fn shared_store_count(
    registers: &LinearLayout,
    offsets: &LinearLayout,
    element_bytes: u64,
    widest: Option<u64>,
) -> Result<BankCount, LayoutError> {
    let copies = registers.free_bits(Dim::Lane);
    bank_count(registers, offsets, element_bytes, widest, |images, bytes| {
        linear_in_parts(images, bytes, part_lanes(bytes).ilog2() as usize, copies)
    })
}

/// The same for loads, whose lanes may come in pairs where they hold copies ([`load_cost`]).
pub fn shared_load_count(
    registers: &LinearLayout,
    offsets: &LinearLayout,
    element_bytes: u64,
    widest: Option<u64>,
) -> Result<BankCount, LayoutError> {
    bank_count(registers, offsets, element_bytes, widest, |images, bytes| {
        linear_in_parts(images, bytes, load_part_bits(images, bytes), 0)
    })
}

fn bank_count(
    registers: &LinearLayout,
    offsets: &LinearLayout,
    element_bytes: u64,
    widest: Option<u64>,
    cost_of: impl Fn(&[u64], u64) -> AccessCost,
) -> Result<BankCount, LayoutError> {
    let places = registers.then(offsets)?;
    let run = places.vector(Dim::Register, Dim::Offset) * element_bytes;
    let vector_bytes = run.min(16).min(widest.unwrap_or(16)).max(element_bytes);
    let images: Vec<_> = (0..places.input_bits(Dim::Lane))
        .map(|bit| places.coordinate(&[(Dim::Lane, 1 << bit)], Dim::Offset) * element_bytes)
        .collect();
    let moved_bits = registers.input_bits(Dim::Register) - registers.repeated_registers().count_ones();
    let accesses = (element_bytes << moved_bits) / vector_bytes;
    let cost = cost_of(&images, vector_bytes);
    Ok(BankCount {
        vector_bytes,
        accesses,
        wavefronts: accesses * cost.wavefronts,
        ideal: accesses * cost.ideal,
    })
}

/// The swizzles that tensor copies and wgmma share, with the wavefronts that all `accesses` together take when the tile
/// lies in shared memory under each: the best first, among equals the narrowest. A swizzle that the tile cannot have is
/// left out.
pub fn best_swizzle(
    outer: (Dim, u64),
    inner: (Dim, u64),
    element_bytes: u64,
    accesses: &[&LinearLayout],
) -> Result<Vec<(Swizzle, u64)>, LayoutError> {
    let mut found = Vec::new();
    for swizzle in [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128] {
        if swizzle.span_bytes().is_some_and(|span| span > inner.1 * element_bytes) {
            continue;
        }
        let offsets = shared_offsets(outer, inner, element_bytes, swizzle)?;
        let mut sum = 0;
        for access in accesses {
            sum += shared_bank_count(access, &offsets, element_bytes, None)?.wavefronts;
        }
        found.push((swizzle, sum));
    }
    found.sort_by_key(|&(_, sum)| sum);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::{Blocked, matrix_rows};
    use super::*;
    use proptest::prelude::*;

    const ROW: Dim = Dim::Axis(0);
    const COLUMN: Dim = Dim::Axis(1);

    fn every(stride: u64) -> Vec<Option<u64>> {
        (0..32).map(|lane| Some(lane * stride)).collect()
    }

    #[test]
    fn strides_conflict_as_the_manuals_say() {
        for (stride, bytes, expected) in [
            (4, 4, 1),
            (8, 4, 2),
            (128, 4, 32),
            (132, 4, 1),
            (0, 4, 1),
            (8, 8, 2),
            (16, 16, 4),
            (1, 1, 1),
            (2, 2, 1),
        ] {
            assert_eq!(
                wavefronts(&every(stride), bytes),
                expected,
                "stride {stride}, {bytes} bytes"
            );
        }
        assert_eq!(wavefronts(&every(128), 16), 32);
        assert_eq!(wavefronts(&[None; 32], 4), 0);
    }

    #[test]
    fn reading_matrix_rows_needs_the_swizzle() {
        let rows = matrix_rows(2).expect("legal");
        let tile = |swizzle| {
            let offsets = shared_offsets((ROW, 64), (COLUMN, 64), 2, swizzle).expect("legal");
            shared_bank_count(&rows, &offsets, 2, None).expect("same tile")
        };
        assert_eq!(tile(Swizzle::None).degree(), 8);
        assert_eq!((tile(Swizzle::B32).degree(), tile(Swizzle::B64).degree()), (1, 1));
        assert_eq!(tile(Swizzle::B128).degree(), 1);
    }

    #[test]
    fn a_transpose_finds_its_swizzle() {
        let writer = Blocked {
            per_thread: vec![1, 4],
            lanes: vec![4, 8],
            warps: vec![4, 1],
            order: vec![1, 0],
        };
        let reader = Blocked {
            per_thread: vec![4, 1],
            lanes: vec![8, 4],
            warps: vec![1, 4],
            order: vec![0, 1],
        };
        let (writer, reader) = (
            writer.layout(&[32, 32]).expect("legal"),
            reader.layout(&[32, 32]).expect("legal"),
        );
        let order = best_swizzle((ROW, 32), (COLUMN, 32), 4, &[&writer, &reader]).expect("legal");
        assert_eq!(order[0].0, Swizzle::B128);
        assert!(
            order[0].1
                < order
                    .iter()
                    .find(|(swizzle, _)| *swizzle == Swizzle::None)
                    .expect("tried")
                    .1
        );
    }

    proptest! {
        /// For a linear map, words spread evenly over the banks that they reach; so under every swizzle.
        #[test]
        fn enumeration_agrees_with_linear_algebra(
            // Lanes often share an address.
            columns in proptest::collection::vec(prop_oneof![3 => 0u64..4096, 1 => Just(0)], 5),
            log2_bytes in 0u32..5,
            mode in 0usize..8,
            idle in 0u64..32,
        ) {
            let mode = Swizzle::ALL[mode];
            let bytes = 1u64 << log2_bytes;
            prop_assume!(bytes <= mode.atom_bytes());
            let images: [u64; 5] = std::array::from_fn(|i| mode.apply(columns[i] & !(bytes - 1)));
            let image = |lane: u64| (0..5).fold(0, |a, i| if lane >> i & 1 != 0 { a ^ images[i] } else { a });
            let addresses: Vec<_> = (0..32).map(|lane| Some(image(lane))).collect();
            prop_assert_eq!(wavefronts(&addresses, bytes), linear_wavefronts(images, bytes));
            prop_assert_eq!(load_cost(&addresses, bytes).wavefronts, linear_load_wavefronts(images, bytes));
            prop_assert_eq!(load_cost(&addresses, bytes), linear_in_parts(&images, bytes, load_part_bits(&images, bytes), 0));
            let busy = |(lane, address): (usize, &Option<u64>)| address.filter(|_| lane as u64 & idle == 0);
            let some: Vec<_> = addresses.iter().enumerate().map(busy).collect();
            let part_bits = part_lanes(bytes).ilog2() as usize;
            prop_assert_eq!(access_cost(&some, bytes), linear_in_parts(&images, bytes, part_bits, idle));
        }
    }
}
