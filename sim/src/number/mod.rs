//! Arithmetic of the PTX machine, bit by bit: formats, rounding, and the operations that the host does not have.
//!
//! Where the host's IEEE arithmetic gives the answer (round to nearest even), the callers use it directly; what is here
//! serves directed rounding, small formats and the instructions that only a GPU has.
pub mod approx;
pub mod format;
pub mod fused;
pub mod half;
pub mod soft;
pub mod tanh;

pub use format::{BF16, E2M1, E2M3, E3M2, E4M3, E5M2, F16, F32, F64, Format, TF32};

/// Rounding modifiers of PTX ISA section 9.7.1 and following: `.rn`, `.rna`, `.rz`, `.rp`, `.rm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To the nearest, ties to even.
    Nearest,
    /// To the nearest, ties away from zero.
    NearestAway,
    /// Towards zero.
    Zero,
    /// Towards positive infinity.
    Up,
    /// Towards negative infinity.
    Down,
}

/// The NaN that every single-precision instruction gives.
pub const NAN32: u32 = 0x7fff_ffff;
/// The NaN that every half-precision and bfloat16 instruction gives.
pub const NAN16: u32 = 0x7fff;

/// A single-precision result as bits, with the GPU's NaN.
#[inline(always)]
pub fn bits32(x: f32) -> u32 {
    if x.is_nan() { NAN32 } else { x.to_bits() }
}

/// Subnormals become zero of their sign (`.ftz`).
#[inline(always)]
pub fn flush32(x: u32) -> u32 {
    if x & 0x7f80_0000 == 0 { x & 0x8000_0000 } else { x }
}

/// Clamps to [0, 1]; NaN becomes +0 (`.sat`).
#[inline(always)]
pub fn saturate32(x: u32) -> u32 {
    let v = f32::from_bits(x);
    if v >= 1.0 {
        1f32.to_bits()
    } else if v > 0.0 {
        x
    } else {
        0
    }
}
