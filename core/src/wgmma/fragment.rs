//! Which thread of the warpgroup holds which element in which register.
//!
//! Warp `w` of the four owns rows `16 w` to `16 w + 15`; within them the layouts are those of `mma.m16n8`: lane `l` holds
//! rows `l / 4` and `l / 4 + 8`.
use super::{M, Operand};

/// Elements of D that one thread holds: `64 n / 128`.
pub const fn accumulator_len(n: u32) -> u32 {
    n * M / super::THREADS
}

/// Row and column in D of element `index` of thread `thread` (0 to 127). With 32-bit accumulators `index` is the register,
/// with f16 register `index / 2` holds it, in its low half where `index` is even.
///
/// ```text
/// columns   0 1   2 3   4 5   6 7   8 9 ...        of rows 0 to 7; indices +2 are rows 8 to 15
/// lane      l%4=0 l%4=1 l%4=2 l%4=3 l%4=0
/// index     0 1   0 1   0 1   0 1   4 5
/// ```
pub const fn accumulator(thread: u32, index: u32) -> (u32, u32) {
    let (warp, lane) = (thread / 32, thread % 32);
    let row = 16 * warp + lane / 4 + 8 * (index / 2 % 2);
    let column = 8 * (index / 4) + 2 * (lane % 4) + index % 2;
    (row, column)
}

/// Elements of A that one thread holds for one instruction: four 32-bit registers.
pub const fn a_fragment_len(operand: Operand) -> u32 {
    4 * 32 / operand.bits()
}

/// Row and column in A (64 x K of one instruction) of element `index` of thread `thread`, where A comes from registers.
/// Register `index / p` holds it, `p = 32 / bits` elements to a register, lowest bits first.
pub const fn a_fragment(operand: Operand, thread: u32, index: u32) -> (u32, u32) {
    let per_register = 32 / operand.bits();
    let (warp, lane) = (thread / 32, thread % 32);
    let register = index / per_register;
    let row = 16 * warp + lane / 4 + 8 * (register % 2);
    let column = per_register * (lane % 4) + index % per_register + 4 * per_register * (register / 2);
    (row, column)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_element_of_d_has_one_holder() {
        for n in [8, 24, 256] {
            let held: BTreeSet<_> = (0..128)
                .flat_map(|t| (0..accumulator_len(n)).map(move |i| accumulator(t, i)))
                .collect();
            let all: BTreeSet<_> = (0..64)
                .flat_map(|row| (0..n).map(move |column| (row, column)))
                .collect();
            assert_eq!(held, all);
            assert_eq!(held.len(), (128 * accumulator_len(n)) as usize);
        }
    }

    #[test]
    fn every_element_of_a_has_one_holder() {
        for operand in Operand::ALL {
            let len = a_fragment_len(operand);
            let held: BTreeSet<_> = (0..128)
                .flat_map(|t| (0..len).map(move |i| a_fragment(operand, t, i)))
                .collect();
            let all: BTreeSet<_> = (0..64)
                .flat_map(|row| (0..operand.k()).map(move |column| (row, column)))
                .collect();
            assert_eq!(held, all, "{operand}");
        }
    }

    #[test]
    fn an_f32_accumulator_pair_is_an_f16_a_fragment() {
        // Two neighbouring 8-column blocks of D are the A operand of the next product, element for element: attention
        // kernels rely on it.
        for thread in 0..128 {
            for index in 0..8 {
                assert_eq!(accumulator(thread, index), a_fragment(Operand::F16, thread, index));
            }
        }
    }
}
