//! Warpgroup matrix multiply (`wgmma.mma_async`, PTX ISA 9.4 section 9.7.15, sm_90a only): types, shapes, shared-memory
//! descriptors and register fragments.
//!
//! One instruction computes `D[64 x N] += A[64 x K] * B[K x N]`, K fixed by the operand type to 32 bytes. A comes from
//! registers or shared memory, B from shared memory. An operand in shared memory is *K-major* where neighbours in memory
//! differ in K, and *MN-major* where they differ in M (A) or N (B).
//!
//! | a, b | K | N | D | MN-major |
//! |---|---|---|---|---|
//! | f16 | 16 | 8, 16, ... 256 | f16, f32 | yes |
//! | bf16 | 16 | 8, 16, ... 256 | f32 | yes |
//! | tf32 | 8 | 8, 16, ... 256 | f32 | no |
//! | e4m3 or e5m2, mixed freely | 32 | 8, 16, ... 256 | f16, f32 | no |
//! | s8 or u8, mixed freely | 32 | 8, 16, 24, 32, 48, ... 256 | s32 | no |
//! | b1 | 256 | as s8 | s32 | no |
mod descriptor;
mod fragment;

pub use descriptor::{Descriptor, DescriptorError, OperandTile, Placement};
pub use fragment::{a_fragment, a_fragment_len, accumulator, accumulator_len};

use std::{fmt, str::FromStr};
use thiserror::Error;

/// Rows of D and A that one instruction takes.
pub const M: u32 = 64;
/// Threads of a warpgroup; its first warp's number is a multiple of 4.
pub const THREADS: u32 = 128;

/// Type of A or B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Operand {
    F16,
    Bf16,
    Tf32,
    E4m3,
    E5m2,
    S8,
    U8,
    B1,
}

/// Type of D.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Accumulator {
    F16,
    F32,
    S32,
}

/// Which dimension neighbours in memory differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Major {
    /// The dimension that the product sums over.
    K,
    /// M for A, N for B.
    Mn,
}

/// Where A comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Registers of the warpgroup, in the layout of [`a_fragment`].
    Registers,
    /// Shared memory, through a [`Descriptor`].
    Shared(Major),
}

/// One instruction, to be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// Type of A.
    pub a: Operand,
    /// Type of B.
    pub b: Operand,
    /// Type of D.
    pub d: Accumulator,
    /// Columns of D.
    pub n: u32,
    /// Where A comes from.
    pub a_source: Source,
    /// Major of B.
    pub b_major: Major,
}

/// Operand types that may meet in one instruction.
struct Family {
    operands: &'static [Operand],
    accumulators: &'static [Accumulator],
    mixed: bool,
    mn_major: bool,
    fine_n: bool,
}

const FAMILIES: [Family; 6] = [
    Family {
        operands: &[Operand::F16],
        accumulators: &[Accumulator::F16, Accumulator::F32],
        mixed: false,
        mn_major: true,
        fine_n: true,
    },
    Family {
        operands: &[Operand::Bf16],
        accumulators: &[Accumulator::F32],
        mixed: false,
        mn_major: true,
        fine_n: true,
    },
    Family {
        operands: &[Operand::Tf32],
        accumulators: &[Accumulator::F32],
        mixed: false,
        mn_major: false,
        fine_n: true,
    },
    Family {
        operands: &[Operand::E4m3, Operand::E5m2],
        accumulators: &[Accumulator::F16, Accumulator::F32],
        mixed: true,
        mn_major: false,
        fine_n: true,
    },
    Family {
        operands: &[Operand::S8, Operand::U8],
        accumulators: &[Accumulator::S32],
        mixed: true,
        mn_major: false,
        fine_n: false,
    },
    Family {
        operands: &[Operand::B1],
        accumulators: &[Accumulator::S32],
        mixed: false,
        mn_major: false,
        fine_n: false,
    },
];

/// Why there is no such instruction.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Illegal {
    /// A and B do not go together.
    #[error("wgmma has no a = {a} with b = {b}; b must be {expected}")]
    Operands {
        /// Type of A.
        a: Operand,
        /// Type of B.
        b: Operand,
        /// What goes with A.
        expected: String,
    },
    /// D does not go with A.
    #[error("wgmma with a = {a} accumulates in {expected}, found d = {d}")]
    Accumulator {
        /// Type of A.
        a: Operand,
        /// Type of D.
        d: Accumulator,
        /// What goes with A.
        expected: String,
    },
    /// N is none of the table's.
    #[error("n = {n}, but wgmma with a = {a} takes {allowed}; use {nearest}")]
    N {
        /// Type of A.
        a: Operand,
        /// Found.
        n: u32,
        /// What is allowed.
        allowed: &'static str,
        /// The nearest legal value that is not smaller, or the largest.
        nearest: u32,
    },
    /// An operand may not be MN-major.
    #[error(
        "operand {operand} is MN-major, but wgmma takes {ty} only K-major; store it transposed, or use f16 or bf16"
    )]
    Major {
        /// `a` or `b`.
        operand: char,
        /// Its type.
        ty: Operand,
    },
}

fn join<T: fmt::Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
}

impl Operand {
    /// Every operand type.
    pub const ALL: [Operand; 8] = [
        Operand::F16,
        Operand::Bf16,
        Operand::Tf32,
        Operand::E4m3,
        Operand::E5m2,
        Operand::S8,
        Operand::U8,
        Operand::B1,
    ];

    /// Bits of an element.
    pub const fn bits(self) -> u32 {
        match self {
            Operand::F16 | Operand::Bf16 => 16,
            Operand::Tf32 => 32,
            Operand::E4m3 | Operand::E5m2 | Operand::S8 | Operand::U8 => 8,
            Operand::B1 => 1,
        }
    }

    /// K of one instruction: 32 bytes.
    pub const fn k(self) -> u32 {
        256 / self.bits()
    }

    /// PTX's name without the dot.
    pub const fn name(self) -> &'static str {
        match self {
            Operand::F16 => "f16",
            Operand::Bf16 => "bf16",
            Operand::Tf32 => "tf32",
            Operand::E4m3 => "e4m3",
            Operand::E5m2 => "e5m2",
            Operand::S8 => "s8",
            Operand::U8 => "u8",
            Operand::B1 => "b1",
        }
    }

    fn family(self) -> &'static Family {
        let index = match self {
            Operand::F16 => 0,
            Operand::Bf16 => 1,
            Operand::Tf32 => 2,
            Operand::E4m3 | Operand::E5m2 => 3,
            Operand::S8 | Operand::U8 => 4,
            Operand::B1 => 5,
        };
        &FAMILIES[index]
    }

    /// Whether an operand of this type may be MN-major in shared memory.
    pub fn allows_mn_major(self) -> bool {
        self.family().mn_major
    }

    /// Types of D that go with this operand.
    pub fn accumulators(self) -> &'static [Accumulator] {
        self.family().accumulators
    }

    /// Every legal N, ascending.
    pub fn legal_n(self) -> impl Iterator<Item = u32> {
        let fine = self.family().fine_n;
        (8..=256).step_by(8).filter(move |n| fine || *n <= 32 || n % 16 == 0)
    }

    /// [`legal_n`](Operand::legal_n) in words.
    pub fn legal_n_in_words(self) -> &'static str {
        match self.family().fine_n {
            true => "multiples of 8 from 8 to 256",
            false => "8, 24 and multiples of 16 from 16 to 256",
        }
    }
}

impl Accumulator {
    /// Bits of an element.
    pub const fn bits(self) -> u32 {
        match self {
            Accumulator::F16 => 16,
            Accumulator::F32 | Accumulator::S32 => 32,
        }
    }

    /// PTX's name without the dot.
    pub const fn name(self) -> &'static str {
        match self {
            Accumulator::F16 => "f16",
            Accumulator::F32 => "f32",
            Accumulator::S32 => "s32",
        }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Accumulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Operand {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        Operand::ALL
            .into_iter()
            .find(|t| t.name() == s)
            .ok_or_else(|| format!("wgmma has no operand type `{s}`; expected {}", join(&Operand::ALL)))
    }
}

impl Instruction {
    /// All reasons why this instruction does not exist; none where it does.
    pub fn check(&self) -> Result<(), Vec<Illegal>> {
        let mut out = Vec::new();
        let Instruction { a, b, d, n, .. } = *self;
        let family = a.family();
        let goes_with_a = if family.mixed {
            family.operands
        } else {
            std::slice::from_ref(&a)
        };
        if !goes_with_a.contains(&b) {
            out.push(Illegal::Operands {
                a,
                b,
                expected: join(goes_with_a),
            });
        }
        if !family.accumulators.contains(&d) {
            out.push(Illegal::Accumulator {
                a,
                d,
                expected: join(family.accumulators),
            });
        }
        if !a.legal_n().any(|legal| legal == n) {
            let allowed = a.legal_n_in_words();
            let nearest = a.legal_n().find(|&legal| legal >= n).unwrap_or(256);
            out.push(Illegal::N { a, n, allowed, nearest });
        }
        if self.a_source == Source::Shared(Major::Mn) && !a.allows_mn_major() {
            out.push(Illegal::Major { operand: 'a', ty: a });
        }
        if self.b_major == Major::Mn && !b.allows_mn_major() {
            out.push(Illegal::Major { operand: 'b', ty: b });
        }
        if out.is_empty() { Ok(()) } else { Err(out) }
    }

    /// The shape as PTX spells it, such as `m64n256k16`.
    pub fn shape(&self) -> String {
        format!("m{M}n{}k{}", self.n, self.a.k())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instruction(a: Operand, b: Operand, d: Accumulator, n: u32) -> Instruction {
        Instruction {
            a,
            b,
            d,
            n,
            a_source: Source::Shared(Major::K),
            b_major: Major::K,
        }
    }

    fn message(instruction: Instruction) -> String {
        instruction
            .check()
            .expect_err("illegal")
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn legal_type_triples_are_those_of_the_manual() {
        let mut legal = Vec::new();
        for a in Operand::ALL {
            for b in Operand::ALL {
                for d in [Accumulator::F16, Accumulator::F32, Accumulator::S32] {
                    if instruction(a, b, d, 64).check().is_ok() {
                        legal.push(format!("{d}.{a}.{b}"));
                    }
                }
            }
        }
        assert_eq!(
            legal.join(" "),
            "f16.f16.f16 f32.f16.f16 f32.bf16.bf16 f32.tf32.tf32 \
             f16.e4m3.e4m3 f32.e4m3.e4m3 f16.e4m3.e5m2 f32.e4m3.e5m2 \
             f16.e5m2.e4m3 f32.e5m2.e4m3 f16.e5m2.e5m2 f32.e5m2.e5m2 \
             s32.s8.s8 s32.s8.u8 s32.u8.s8 s32.u8.u8 s32.b1.b1"
        );
    }

    #[test]
    fn integers_take_fewer_n() {
        assert_eq!(Operand::Bf16.legal_n().count(), 32);
        let n: Vec<_> = Operand::S8.legal_n().collect();
        assert_eq!(
            n,
            [
                8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256
            ]
        );
    }

    #[test]
    fn messages_say_what_goes() {
        let f16 = Operand::F16;
        assert_eq!(
            message(instruction(f16, Operand::Bf16, Accumulator::S32, 20)),
            "wgmma has no a = f16 with b = bf16; b must be f16\n\
             wgmma with a = f16 accumulates in f16 or f32, found d = s32\n\
             n = 20, but wgmma with a = f16 takes multiples of 8 from 8 to 256; use 24"
        );
        let mut transposed = instruction(Operand::Tf32, Operand::Tf32, Accumulator::F32, 8);
        transposed.b_major = Major::Mn;
        assert_eq!(
            message(transposed),
            "operand b is MN-major, but wgmma takes tf32 only K-major; store it transposed, or use f16 or bf16"
        );
        assert_eq!(
            "f64".parse::<Operand>().unwrap_err(),
            "wgmma has no operand type `f64`; expected f16 or bf16 or tf32 or e4m3 or e5m2 or s8 or u8 or b1"
        );
    }

    #[test]
    fn shapes_spell_as_in_ptx() {
        assert_eq!(
            instruction(Operand::E4m3, Operand::E5m2, Accumulator::F32, 256).shape(),
            "m64n256k32"
        );
    }
}
