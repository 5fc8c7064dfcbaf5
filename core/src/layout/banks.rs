//! Bank conflicts of shared memory, counted exactly.
//!
//! Shared memory has 32 banks of 4 bytes. A warp's access of up to 4 bytes a lane is served at once; one of 8 bytes in two
//! halves of 16 lanes, one of 16 bytes in four quarters of 8. Each such part takes as many *wavefronts* as the busiest bank
//! has different words; lanes that read the same word share it.
use super::{Dim, LayoutError, LinearLayout, shared_offsets};
use crate::tensor_map::Swizzle;

/// Banks of shared memory, 4 bytes each.
pub(super) const BANKS: u64 = 32;

/// Wavefronts of one warp-wide access of `bytes` bytes (1, 2, 4, 8 or 16) at these byte addresses, one for each active lane
/// in lane order; `None` for a lane that does not take part. Addresses are multiples of `bytes`.
pub fn wavefronts(addresses: &[Option<u64>], bytes: u64) -> u64 {
    parts(bytes, addresses.len())
        .map(|lanes| busiest_bank(&addresses[lanes], bytes).0)
        .sum()
}

/// Wavefronts of the same access if no two words shared a bank.
pub(super) fn ideal_wavefronts(addresses: &[Option<u64>], bytes: u64) -> u64 {
    parts(bytes, addresses.len())
        .map(|lanes| busiest_bank(&addresses[lanes], bytes).1.div_ceil(BANKS))
        .sum()
}

fn parts(bytes: u64, lanes: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let step = match bytes {
        0..=4 => 32,
        5..=8 => 16,
        _ => 8,
    };
    (0..lanes)
        .step_by(step)
        .map(move |start| start..(start + step).min(lanes))
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
    let places = registers.then(offsets)?;
    let run = places.vector(Dim::Register, Dim::Offset) * element_bytes;
    let vector_bytes = run.min(16).min(widest.unwrap_or(16)).max(element_bytes);
    let addresses: Vec<_> = (0..1 << places.input_bits(Dim::Lane))
        .map(|lane| Some(places.coordinate(&[(Dim::Lane, lane)], Dim::Offset) * element_bytes))
        .collect();
    let moved_bits = registers.input_bits(Dim::Register) - registers.repeated_registers().count_ones();
    let accesses = (element_bytes << moved_bits) / vector_bytes;
    Ok(BankCount {
        vector_bytes,
        accesses,
        wavefronts: accesses * wavefronts(&addresses, vector_bytes),
        ideal: accesses * ideal_wavefronts(&addresses, vector_bytes),
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
        /// For a linear map, words spread evenly over the banks that they reach.
        #[test]
        fn enumeration_agrees_with_linear_algebra(columns in proptest::collection::vec(0u64..1024, 5)) {
            let image = |lane: u64| columns.iter().enumerate().fold(0, |w, (i, c)| if lane >> i & 1 != 0 { w ^ c } else { w });
            let addresses: Vec<_> = (0..32).map(|lane| Some(image(lane) * 4)).collect();
            let rank = |mask: u64| {
                let columns: Vec<_> = columns.iter().map(|column| column & mask).collect();
                super::super::f2::Basis::new(&columns).rank()
            };
            prop_assert_eq!(wavefronts(&addresses, 4), 1 << (rank(u64::MAX) - rank(BANKS - 1)));
        }
    }
}
