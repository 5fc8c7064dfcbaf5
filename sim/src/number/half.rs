//! `f16` and `bf16`, alone and in pairs. A pair's first element is in the low 16 bits.
use super::format::{BF16, F16};
use super::{NAN16, Rounding};

/// Which 16-bit format a lane holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    /// IEEE binary16.
    F16,
    /// bfloat16.
    Bf16,
}

impl Half {
    /// The value of the low 16 bits.
    #[inline]
    pub fn value(self, bits: u32) -> f64 {
        match self {
            Half::F16 => ::half::f16::from_bits(bits as u16).to_f64(),
            Half::Bf16 => f64::from(f32::from_bits(bits << 16)),
        }
    }

    /// Rounds to nearest even; any NaN becomes the GPU's. Exact for values that a double holds or that are rounded to
    /// odd.
    #[inline]
    pub fn round(self, x: f64) -> u32 {
        if x.is_nan() {
            return NAN16;
        }
        match self {
            Half::F16 => F16.from_f64(x, Rounding::Nearest) as u32,
            Half::Bf16 => BF16.from_f64(x, Rounding::Nearest) as u32,
        }
    }

    /// Subnormals become zero of their sign.
    pub fn flush(self, bits: u32) -> u32 {
        let exponent = match self {
            Half::F16 => 0x7c00,
            Half::Bf16 => 0x7f80,
        };
        if bits & exponent == 0 { bits & 0x8000 } else { bits }
    }

    /// The smallest positive number that is not subnormal.
    pub fn smallest_normal(self) -> f64 {
        match self {
            Half::F16 => super::format::power_of_two(-14),
            Half::Bf16 => super::format::power_of_two(-126),
        }
    }

    /// Whether the low 16 bits are a NaN.
    pub fn is_nan(self, bits: u32) -> bool {
        let infinity = match self {
            Half::F16 => 0x7c00,
            Half::Bf16 => 0x7f80,
        };
        bits & 0x7fff > infinity
    }
}

/// `x + y` rounded to odd: rounding it again to any format of at most 51 bits gives the correctly rounded sum.
pub fn add_to_odd(x: f64, y: f64) -> f64 {
    let sum = x + y;
    if !sum.is_finite() {
        return sum;
    }
    let virtual_y = sum - x;
    let error = (x - (sum - virtual_y)) + (y - virtual_y);
    if error == 0.0 || sum.to_bits() & 1 != 0 {
        return sum;
    }
    // The exact sum lies on the error's side of `sum`; of the two neighbours there, `sum` is even, so take the other.
    let away = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if away { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}

/// Applies `f` to both halves of a pair.
#[inline]
pub fn both(a: u32, f: impl Fn(u32) -> u32) -> u32 {
    f(a & 0xffff) & 0xffff | f(a >> 16) << 16
}

/// Applies `f` to the low halves and to the high halves.
#[inline]
pub fn both2(a: u32, b: u32, f: impl Fn(u32, u32) -> u32) -> u32 {
    f(a & 0xffff, b & 0xffff) & 0xffff | f(a >> 16, b >> 16) << 16
}

/// Applies `f` to the low halves and to the high halves.
#[inline]
pub fn both3(a: u32, b: u32, c: u32, f: impl Fn(u32, u32, u32) -> u32) -> u32 {
    f(a & 0xffff, b & 0xffff, c & 0xffff) & 0xffff | f(a >> 16, b >> 16, c >> 16) << 16
}

/// Minimum or maximum by the rules of the instruction: a NaN loses unless `.NaN`, -0 is below +0.
pub fn extreme(half: Half, a: u32, b: u32, flush: bool, max: bool, nan: bool, xorsign: bool) -> u32 {
    let (mut a, mut b) = if flush { (half.flush(a), half.flush(b)) } else { (a, b) };
    let sign = if xorsign { (a ^ b) & 0x8000 } else { 0 };
    if xorsign {
        (a, b) = (a & 0x7fff, b & 0x7fff);
    }
    let (a_nan, b_nan) = (half.is_nan(a), half.is_nan(b));
    if a_nan && b_nan || nan && (a_nan || b_nan) {
        return NAN16;
    }
    let chosen = if a_nan {
        b
    } else if b_nan {
        a
    } else {
        let key = |v: u32| {
            if v & 0x8000 != 0 {
                -((v & 0x7fff) as i32) - 1
            } else {
                v as i32
            }
        };
        if (key(a) > key(b)) == max { a } else { b }
    };
    chosen | sign
}
