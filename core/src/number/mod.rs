//! Bit-exact conversions between number formats, with PTX's rounding modes (PTX ISA 9.4 sections 5.2.3 and 9.7.9,
//! `cvt`).
//!
//! Every format here is a sign, an exponent and a mantissa of some width, and differs from the others only in what its
//! largest codes mean, so one codec serves all; see [`FloatFormat`]. A value travels as `f64`, which holds every value of
//! every format exactly, f32 included: rounding from f32 is rounding the exact `f64::from(x)`, once.
//!
//! | format | layout | largest | infinity | NaN |
//! |---|---|---|---|---|
//! | [`F32`](FloatFormat::F32) | s1 e8 m23 | 3.4e38 | yes | yes |
//! | [`TF32`](FloatFormat::TF32) | s1 e8 m10, in the top 19 bits of 32 | 3.4e38 | yes | yes |
//! | [`BF16`](FloatFormat::BF16) | s1 e8 m7 | 3.39e38 | yes | yes |
//! | [`F16`](FloatFormat::F16) | s1 e5 m10 | 65504 | yes | yes |
//! | [`E5M2`](FloatFormat::E5M2) | s1 e5 m2 | 57344 | yes | yes |
//! | [`E4M3`](FloatFormat::E4M3) | s1 e4 m3 | 448 | no | 0x7f, 0xff |
//! | [`E3M2`](FloatFormat::E3M2) | s1 e3 m2 | 28 | no | no |
//! | [`E2M3`](FloatFormat::E2M3) | s1 e2 m3 | 7.5 | no | no |
//! | [`E2M1`](FloatFormat::E2M1) | s1 e2 m1 | 6 | no | no |
//! | [`UE8M0`](FloatFormat::UE8M0) | e8, a power of two | 2^127 | no | 0xff |
//! | [`UE4M3`](FloatFormat::UE4M3) | e4 m3 | 448 | no | 0x7f |
mod codec;

pub use codec::{FloatFormat, Overflow, Rounding, Special};

use crate::dtype::DType;

impl FloatFormat {
    /// The format of a floating-point element type; `None` for integers, and for f64, which needs no codec.
    pub const fn of(dtype: DType) -> Option<FloatFormat> {
        match dtype {
            DType::F16 => Some(FloatFormat::F16),
            DType::Bf16 => Some(FloatFormat::BF16),
            DType::F32 => Some(FloatFormat::F32),
            DType::Tf32 => Some(FloatFormat::TF32),
            DType::E4m3 => Some(FloatFormat::E4M3),
            DType::E5m2 => Some(FloatFormat::E5M2),
            DType::I1 | DType::I8 | DType::I16 | DType::I32 | DType::I64 | DType::F64 => None,
        }
    }
}

/// The bits of `value` in `dtype`, in the low [`DType::bytes`] bytes: the value that an array element gets.
///
/// Floating-point types round to nearest even and overflow as PTX's `cvt` without `.satfinite` does (e4m3 to NaN);
/// integers truncate towards zero and saturate, NaN gives 0; `i1` is 1 for anything but zero.
pub fn to_bits(dtype: DType, value: f64) -> u64 {
    match dtype {
        DType::I1 => u64::from(value != 0.0),
        DType::I8 => u64::from(value as i8 as u8),
        DType::I16 => u64::from(value as i16 as u16),
        DType::I32 => u64::from(value as i32 as u32),
        DType::I64 => value as i64 as u64,
        DType::F64 => value.to_bits(),
        DType::F16 => FloatFormat::F16.encode(value, Rounding::NearestEven, Overflow::Special),
        DType::Bf16 => FloatFormat::BF16.encode(value, Rounding::NearestEven, Overflow::Special),
        DType::F32 => FloatFormat::F32.encode(value, Rounding::NearestEven, Overflow::Special),
        DType::Tf32 => FloatFormat::TF32.encode(value, Rounding::NearestEven, Overflow::Special),
        DType::E4m3 => FloatFormat::E4M3.encode(value, Rounding::NearestEven, Overflow::Special),
        DType::E5m2 => FloatFormat::E5M2.encode(value, Rounding::NearestEven, Overflow::Special),
    }
}

/// The value of an array element of `dtype` whose bits are the low [`DType::bytes`] bytes of `bits`. Integers are signed;
/// an i64 beyond 2^53 is rounded.
pub fn from_bits(dtype: DType, bits: u64) -> f64 {
    match dtype {
        DType::I1 => f64::from(u8::from(bits as u8 != 0)),
        DType::I8 => f64::from(bits as u8 as i8),
        DType::I16 => f64::from(bits as u16 as i16),
        DType::I32 => f64::from(bits as u32 as i32),
        DType::I64 => bits as i64 as f64,
        DType::F64 => f64::from_bits(bits),
        DType::F16 => FloatFormat::F16.decode(bits),
        DType::Bf16 => FloatFormat::BF16.decode(bits),
        DType::F32 => f64::from(f32::from_bits(bits as u32)),
        DType::Tf32 => FloatFormat::TF32.decode(bits),
        DType::E4m3 => FloatFormat::E4M3.decode(bits),
        DType::E5m2 => FloatFormat::E5M2.decode(bits),
    }
}

#[cfg(test)]
mod tests;
