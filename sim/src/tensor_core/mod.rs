//! The tensor-core instructions as pure functions from registers and bytes to registers.
//!
//! | module | what it says |
//! |---|---|
//! | [`accumulate`] | how products are added: the one place that decides rounding |
//! | [`integer`] | integer and one-bit products, exact |
//! | [`fragment`] | which element of a matrix sits in which register of which lane |
//! | [`mma`] | `mma.sync` and `mma.sp.sync`, every shape and type of sm_90; `.kind::f8f6f4` of sm_120 |
//! | [`sparse`] | which places the stored elements of a sparse A take |
//! | [`wmma`] | `wmma.load`, `wmma.store`, `wmma.mma` |
//! | [`wgmma`] | `wgmma.mma_async`, dense and sparse, operands from descriptors or registers |
//! | [`matrix`] | `ldmatrix`, `stmatrix`, `movmatrix` |
//!
//! Registers are given register by register, each with one value for each lane, zero-extended to 64 bits. Operand tiles
//! are gathered once for an instruction into contiguous arrays; the loops over them vectorise.
pub mod accumulate;
pub mod fragment;
pub mod integer;
pub mod matrix;
pub mod mma;
mod product;
pub mod sparse;
pub mod wgmma;
pub mod wmma;

use accumulate::Number;

/// One register of a warp, by lane.
pub type WarpRegister = [u64; 32];

/// Element type of a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Element {
    F16,
    Bf16,
    Tf32,
    F64,
    E4m3,
    E5m2,
    E3m2,
    E2m3,
    E2m1,
    S8,
    U8,
    S4,
    U4,
    B1,
}

/// Element type of the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Sum {
    F16,
    F32,
    F64,
    S32,
}

/// How one-bit factors meet before their ones are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BitOp {
    Xor,
    And,
}

/// An instruction that PTX does not define, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Undefined(pub String);

impl Element {
    /// The type of this PTX name, such as `bf16` or `u4`.
    pub fn from_name(name: &str) -> Option<Element> {
        Some(match name {
            "f16" => Element::F16,
            "bf16" => Element::Bf16,
            "tf32" => Element::Tf32,
            "f64" => Element::F64,
            "e4m3" => Element::E4m3,
            "e5m2" => Element::E5m2,
            "e3m2" => Element::E3m2,
            "e2m3" => Element::E2m3,
            "e2m1" => Element::E2m1,
            "s8" => Element::S8,
            "u8" => Element::U8,
            "s4" => Element::S4,
            "u4" => Element::U4,
            "b1" => Element::B1,
            _ => return None,
        })
    }

    /// Bits of one element in registers and memory. Floats of 6 and 4 bits are given a byte each.
    pub const fn bits(self) -> usize {
        match self {
            Element::F64 => 64,
            Element::Tf32 => 32,
            Element::F16 | Element::Bf16 => 16,
            Element::E4m3 | Element::E5m2 | Element::S8 | Element::U8 => 8,
            Element::E3m2 | Element::E2m3 | Element::E2m1 => 8,
            Element::S4 | Element::U4 => 4,
            Element::B1 => 1,
        }
    }

    /// The floating-point format, for the types that are added in the tensor core's own way.
    pub const fn number(self) -> Option<Number> {
        match self {
            Element::F16 => Some(Number::F16),
            Element::Bf16 => Some(Number::Bf16),
            Element::Tf32 => Some(Number::Tf32),
            Element::E4m3 => Some(Number::E4m3),
            Element::E5m2 => Some(Number::E5m2),
            Element::E3m2 => Some(Number::E3m2),
            Element::E2m3 => Some(Number::E2m3),
            Element::E2m1 => Some(Number::E2m1),
            _ => None,
        }
    }

    /// The integer that the low bits of `bits` are; `None` for the other types.
    pub const fn integer(self, bits: u64) -> Option<i32> {
        match self {
            Element::S8 => Some(bits as u8 as i8 as i32),
            Element::U8 => Some(bits as u8 as i32),
            Element::S4 => Some(((bits << 4) as u8 as i8 >> 4) as i32),
            Element::U4 => Some((bits & 0xf) as i32),
            _ => None,
        }
    }

    const fn is_8_bit_float(self) -> bool {
        matches!(self, Element::E4m3 | Element::E5m2)
    }

    /// Whether it is one of the floats that `.kind::f8f6f4` alone multiplies.
    const fn is_below_a_byte(self) -> bool {
        matches!(self, Element::E3m2 | Element::E2m3 | Element::E2m1)
    }

    const fn is_integer(self) -> bool {
        matches!(self, Element::S8 | Element::U8 | Element::S4 | Element::U4)
    }
}

impl Sum {
    /// The type of this PTX name.
    pub fn from_name(name: &str) -> Option<Sum> {
        Some(match name {
            "f16" => Sum::F16,
            "f32" => Sum::F32,
            "f64" => Sum::F64,
            "s32" => Sum::S32,
            _ => return None,
        })
    }

    /// Bits of one element.
    pub const fn bits(self) -> usize {
        match self {
            Sum::F16 => 16,
            Sum::F32 | Sum::S32 => 32,
            Sum::F64 => 64,
        }
    }
}
