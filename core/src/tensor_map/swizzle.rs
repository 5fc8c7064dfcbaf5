//! The swizzle of shared memory as a function of the address (PTX ISA 9.4 section 5.5.7).
//!
//! Memory is seen as 128-byte lines. Within a line, atoms (16 bytes unless the mode names another size) change places by
//! an exclusive or with the low bits of the line's number:
//!
//! ```text
//! address bits     9 8 7 | 6 5 4 | 3 2 1 0
//!                  line    atom    byte
//! swizzle 128      a b c | xa^ yb^ zc^      f(x) = x ^ ((x >> 3) & 0x70)
//! ```
//!
//! The function depends on *absolute* address bits, is its own inverse, and never leaves a line. A buffer whose base is a
//! multiple of [`Swizzle::period_bytes`] starts the pattern at its first line.
use super::Swizzle;

impl Swizzle {
    /// Every mode, narrow to wide.
    pub const ALL: [Swizzle; 8] = [
        Swizzle::None,
        Swizzle::B32,
        Swizzle::B64,
        Swizzle::B96,
        Swizzle::B128,
        Swizzle::B128Atom32,
        Swizzle::B128Atom32Flip8,
        Swizzle::B128Atom64,
    ];

    /// Where the logical byte at absolute shared address `address` is stored. Its own inverse.
    pub const fn apply(self, address: u64) -> u64 {
        let x = address;
        match self {
            Swizzle::None => x,
            Swizzle::B32 | Swizzle::B96 => x ^ ((x >> 3) & 0x10),
            Swizzle::B64 => x ^ ((x >> 3) & 0x30),
            Swizzle::B128 => x ^ ((x >> 3) & 0x70),
            Swizzle::B128Atom32 => x ^ ((x >> 2) & 0x60),
            Swizzle::B128Atom32Flip8 => x ^ ((x >> 2) & 0x60) ^ ((x >> 4) & 0x08),
            Swizzle::B128Atom64 => x ^ ((x >> 1) & 0x40),
        }
    }

    /// Bytes of the widest inner box, or `None` without swizzle.
    pub const fn span_bytes(self) -> Option<u64> {
        match self {
            Swizzle::None => None,
            Swizzle::B32 => Some(32),
            Swizzle::B64 => Some(64),
            Swizzle::B96 => Some(96),
            Swizzle::B128 | Swizzle::B128Atom32 | Swizzle::B128Atom32Flip8 | Swizzle::B128Atom64 => Some(128),
        }
    }

    /// Bytes that move as one: consecutive bytes of an aligned run of this length stay consecutive.
    pub const fn atom_bytes(self) -> u64 {
        match self {
            Swizzle::None | Swizzle::B32 | Swizzle::B64 | Swizzle::B96 | Swizzle::B128 => 16,
            Swizzle::B128Atom32 => 32,
            Swizzle::B128Atom32Flip8 => 8,
            Swizzle::B128Atom64 => 64,
        }
    }

    /// Bytes after which the pattern repeats. A base at a multiple of it makes the pattern start at the base; the
    /// allocator aligns buffers to it. 128 without swizzle, since every destination of a tensor copy needs that much.
    pub const fn period_bytes(self) -> u64 {
        match self {
            Swizzle::None => 128,
            Swizzle::B32 | Swizzle::B96 | Swizzle::B128Atom64 => 256,
            Swizzle::B64 | Swizzle::B128Atom32 | Swizzle::B128Atom32Flip8 => 512,
            Swizzle::B128 => 1024,
        }
    }

    /// Number in the driver's `CUtensorMapSwizzle`; the 96-byte mode has none, only `tensormap.replace` can set it.
    pub const fn driver_code(self) -> Option<u32> {
        match self {
            Swizzle::None => Some(0),
            Swizzle::B32 => Some(1),
            Swizzle::B64 => Some(2),
            Swizzle::B96 => None,
            Swizzle::B128 => Some(3),
            Swizzle::B128Atom32 => Some(4),
            Swizzle::B128Atom32Flip8 => Some(5),
            Swizzle::B128Atom64 => Some(6),
        }
    }

    /// Numbers that `tensormap.replace` takes for `.swizzle_mode` and `.swizzle_atomicity`.
    pub const fn replace_codes(self) -> (u32, u32) {
        match self {
            Swizzle::None => (0, 0),
            Swizzle::B32 => (1, 0),
            Swizzle::B64 => (2, 0),
            Swizzle::B96 => (4, 0),
            Swizzle::B128 => (3, 0),
            Swizzle::B128Atom32 => (3, 1),
            Swizzle::B128Atom32Flip8 => (3, 2),
            Swizzle::B128Atom64 => (3, 3),
        }
    }

    /// The mode in words: `none`, `64`, `128 (32-byte atoms)`.
    pub const fn name(self) -> &'static str {
        match self {
            Swizzle::None => "none",
            Swizzle::B32 => "32",
            Swizzle::B64 => "64",
            Swizzle::B96 => "96",
            Swizzle::B128 => "128",
            Swizzle::B128Atom32 => "128 (32-byte atoms)",
            Swizzle::B128Atom32Flip8 => "128 (32-byte atoms, 8-byte flip)",
            Swizzle::B128Atom64 => "128 (64-byte atoms)",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swizzle_is_its_own_inverse_and_stays_in_its_line() {
        for mode in Swizzle::ALL {
            for address in 0..4096 {
                let stored = mode.apply(address);
                assert_eq!(mode.apply(stored), address, "{}", mode.name());
                assert_eq!(stored / 128, address / 128, "{}", mode.name());
            }
        }
    }

    #[test]
    fn period_is_the_smallest_after_which_the_pattern_repeats() {
        let repeats = |mode: Swizzle, period: u64| {
            (0..4096).all(|address| mode.apply(address + period) == mode.apply(address) + period)
        };
        for mode in Swizzle::ALL {
            assert!(repeats(mode, mode.period_bytes()), "{}", mode.name());
            if mode != Swizzle::None {
                assert!(!repeats(mode, mode.period_bytes() / 2), "{}", mode.name());
            }
        }
    }

    #[test]
    fn atoms_move_as_one() {
        for mode in Swizzle::ALL {
            let atom = mode.atom_bytes();
            for address in 0..4096u64 {
                assert_eq!(mode.apply(address) % atom, address % atom, "{}", mode.name());
            }
        }
    }

    #[test]
    fn atoms_stay_inside_the_span() {
        for mode in [Swizzle::B32, Swizzle::B64, Swizzle::B128] {
            let span = mode.span_bytes().expect("swizzled");
            for address in 0..2048 {
                assert_eq!(mode.apply(address) / span, address / span);
            }
        }
    }
}
