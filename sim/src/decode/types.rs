//! Instruction types.

/// A type modifier of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Ty {
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    U16x2,
    S16x2,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    Tf32,
    F32,
    F64,
    E4m3x2,
    E5m2x2,
    E3m2x2,
    E2m3x2,
    E2m1x2,
    Pred,
}

use Ty::*;

const NAMES: [(&str, Ty); 28] = [
    ("b8", B8),
    ("b16", B16),
    ("b32", B32),
    ("b64", B64),
    ("b128", B128),
    ("u8", U8),
    ("u16", U16),
    ("u32", U32),
    ("u64", U64),
    ("s8", S8),
    ("s16", S16),
    ("s32", S32),
    ("s64", S64),
    ("u16x2", U16x2),
    ("s16x2", S16x2),
    ("f16", F16),
    ("f16x2", F16x2),
    ("bf16", Bf16),
    ("bf16x2", Bf16x2),
    ("tf32", Tf32),
    ("f32", F32),
    ("f64", F64),
    ("e4m3x2", E4m3x2),
    ("e5m2x2", E5m2x2),
    ("e3m2x2", E3m2x2),
    ("e2m3x2", E2m3x2),
    ("e2m1x2", E2m1x2),
    ("pred", Pred),
];

/// What a register was declared to hold. PTX lets bits meet anything of their size, and nothing else meet another kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Class {
    Bits,
    Integer,
    Float,
}

impl Class {
    /// Whether a register of this class may be an operand of an instruction of type `ty`.
    pub fn fits(self, ty: Ty) -> bool {
        let wanted = ty.class();
        self == wanted || self == Class::Bits || wanted == Class::Bits
    }
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Class::Bits => "untyped bits",
            Class::Integer => "an integer",
            Class::Float => "a floating-point number",
        }
    }
}

impl Ty {
    /// The class of registers of this type.
    pub fn class(self) -> Class {
        match self {
            F16 | F32 | F64 | F16x2 => Class::Float,
            U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64 => Class::Integer,
            _ => Class::Bits,
        }
    }
    /// The type of a modifier, if it is one.
    pub fn parse(name: &str) -> Option<Ty> {
        NAMES.iter().find(|(n, _)| *n == name).map(|(_, ty)| *ty)
    }
    /// As written.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, ty)| *ty == self).map_or("", |(n, _)| n)
    }
    /// Width in bits; 1 for predicates.
    pub fn bits(self) -> u8 {
        match self {
            Pred => 1,
            B8 | U8 | S8 | E2m1x2 => 8,
            B16 | U16 | S16 | F16 | Bf16 | E4m3x2 | E5m2x2 | E3m2x2 | E2m3x2 => 16,
            B64 | U64 | S64 | F64 => 64,
            B128 => 128,
            _ => 32,
        }
    }
    /// Signed integer.
    pub fn signed(self) -> bool {
        matches!(self, S8 | S16 | S32 | S64 | S16x2)
    }
    /// Integer or untyped bits.
    pub fn integer(self) -> bool {
        matches!(
            self,
            B8 | B16 | B32 | B64 | B128 | U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64
        )
    }
    /// `f16`, `bf16` or a pair of them.
    pub fn half(self) -> Option<(crate::number::half::Half, bool)> {
        use crate::number::half::Half;
        match self {
            F16 => Some((Half::F16, false)),
            F16x2 => Some((Half::F16, true)),
            Bf16 => Some((Half::Bf16, false)),
            Bf16x2 => Some((Half::Bf16, true)),
            _ => None,
        }
    }
}
