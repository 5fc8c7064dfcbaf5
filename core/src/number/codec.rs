//! One codec for every small float.

/// What the codes with the largest exponent mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// As in IEEE 754: the whole largest exponent is infinity and NaN.
    InfinityAndNan,
    /// Only the code with all exponent and mantissa bits set is special: NaN.
    Nan,
    /// Every code is a number.
    None,
}

/// How to round what lies between two values. Names are PTX's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// `.rn`: to nearest, ties to even.
    NearestEven,
    /// `.rna`: to nearest, ties away from zero.
    NearestAway,
    /// `.rz`: towards zero.
    Zero,
    /// `.rp`: towards plus infinity.
    Up,
    /// `.rm`: towards minus infinity.
    Down,
}

/// What becomes of a value beyond the largest finite one, and of infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// IEEE's rule: infinity, or the largest finite value where the rounding mode points to it. A format without infinity
    /// gives NaN, one without NaN its largest value.
    Special,
    /// `.satfinite`: the largest finite value of the same sign.
    Saturate,
}

/// A binary floating-point format of at most 32 bits.
///
/// ```text
/// bits   | sign | exponent | mantissa | unused (tf32 only) |
/// ```
///
/// A value is `mantissa * 2^(1 - bias - mantissa_bits)` where the exponent field is 0, and
/// `(2^mantissa_bits + mantissa) * 2^(exponent - bias - mantissa_bits)` otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatFormat {
    /// PTX's name.
    pub name: &'static str,
    /// Width of the exponent.
    pub exponent_bits: u32,
    /// Width of the mantissa.
    pub mantissa_bits: u32,
    /// Exponent field of 1.0.
    pub bias: i32,
    /// Whether there is a sign bit.
    pub signed: bool,
    /// Whether the exponent field 0 means zero and subnormals (all but `ue8m0`).
    pub has_zero: bool,
    /// Meaning of the largest codes.
    pub special: Special,
    /// Unused bits below the mantissa: zero when encoded, ignored when decoded.
    pub unused_bits: u32,
}

const fn format(name: &'static str, exponent_bits: u32, mantissa_bits: u32, special: Special) -> FloatFormat {
    let bias = (1 << (exponent_bits - 1)) - 1;
    FloatFormat {
        name,
        exponent_bits,
        mantissa_bits,
        bias,
        signed: true,
        has_zero: true,
        special,
        unused_bits: 0,
    }
}

impl FloatFormat {
    /// IEEE binary32.
    pub const F32: FloatFormat = format("f32", 8, 23, Special::InfinityAndNan);
    /// The 19 bits of an f32 that the tensor cores read.
    pub const TF32: FloatFormat = FloatFormat {
        unused_bits: 13,
        ..format("tf32", 8, 10, Special::InfinityAndNan)
    };
    /// bfloat16.
    pub const BF16: FloatFormat = format("bf16", 8, 7, Special::InfinityAndNan);
    /// IEEE binary16.
    pub const F16: FloatFormat = format("f16", 5, 10, Special::InfinityAndNan);
    /// 8-bit float with infinity.
    pub const E5M2: FloatFormat = format("e5m2", 5, 2, Special::InfinityAndNan);
    /// 8-bit float without infinity.
    pub const E4M3: FloatFormat = format("e4m3", 4, 3, Special::Nan);
    /// 6-bit float, in the low bits of a byte.
    pub const E3M2: FloatFormat = format("e3m2", 3, 2, Special::None);
    /// 6-bit float, in the low bits of a byte.
    pub const E2M3: FloatFormat = format("e2m3", 2, 3, Special::None);
    /// 4-bit float, in the low bits of a byte.
    pub const E2M1: FloatFormat = format("e2m1", 2, 1, Special::None);
    /// Power of two, as a scale factor.
    pub const UE8M0: FloatFormat = FloatFormat {
        signed: false,
        has_zero: false,
        ..format("ue8m0", 8, 0, Special::Nan)
    };
    /// Unsigned scale factor, in the low 7 bits of a byte.
    pub const UE4M3: FloatFormat = FloatFormat {
        signed: false,
        ..format("ue4m3", 4, 3, Special::Nan)
    };

    /// Every format.
    pub const ALL: [FloatFormat; 11] = [
        FloatFormat::F32,
        FloatFormat::TF32,
        FloatFormat::BF16,
        FloatFormat::F16,
        FloatFormat::E5M2,
        FloatFormat::E4M3,
        FloatFormat::E3M2,
        FloatFormat::E2M3,
        FloatFormat::E2M1,
        FloatFormat::UE8M0,
        FloatFormat::UE4M3,
    ];

    /// Bits of a code, unused ones included.
    pub const fn bits(&self) -> u32 {
        self.signed as u32 + self.exponent_bits + self.mantissa_bits + self.unused_bits
    }

    /// Exponent and mantissa bits all set, before the unused bits are appended.
    const fn all_ones(&self) -> u64 {
        (1 << (self.exponent_bits + self.mantissa_bits)) - 1
    }

    const fn infinity_field(&self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.mantissa_bits
    }

    const fn largest_field(&self) -> u64 {
        match self.special {
            Special::InfinityAndNan => self.infinity_field() - 1,
            Special::Nan => self.all_ones() - 1,
            Special::None => self.all_ones(),
        }
    }

    /// The canonical NaN: positive, every exponent and mantissa bit set. `None` where the format has no NaN.
    pub const fn nan(&self) -> Option<u64> {
        match self.special {
            Special::None => None,
            _ => Some(self.all_ones() << self.unused_bits),
        }
    }

    /// The largest finite value.
    pub fn largest(&self) -> f64 {
        self.decode(self.largest_field() << self.unused_bits)
    }

    /// The code nearest to `value` in the sense of `rounding`.
    ///
    /// NaN becomes the canonical NaN whatever its sign and payload, or the largest value where the format has none. An
    /// unsigned format takes the code 0 for what is negative.
    pub const fn encode(&self, value: f64, rounding: Rounding, overflow: Overflow) -> u64 {
        let bits = value.to_bits();
        let negative = bits >> 63 != 0;
        let exponent = (bits >> 52 & 0x7ff) as i32;
        let fraction = bits & ((1 << 52) - 1);
        if exponent == 0x7ff && fraction != 0 {
            return match self.nan() {
                Some(nan) => nan,
                None => self.largest_field() << self.unused_bits,
            };
        }
        if negative && !self.signed {
            return 0;
        }
        let field = if exponent == 0x7ff {
            self.overflowed(negative, None, overflow)
        } else {
            // value = significand * 2^scale, rounded to a multiple of 2^quantum.
            let (significand, scale) = match exponent {
                0 => (fraction, -1074),
                _ => (fraction | 1 << 52, exponent - 1075),
            };
            let leading = scale + 63 - significand.leading_zeros() as i32;
            let smallest = if self.has_zero { 1 - self.bias } else { -self.bias };
            let quantum = (if leading > smallest { leading } else { smallest }) - self.mantissa_bits as i32;
            let rounded = round(significand, quantum - scale, negative, rounding);
            let field = self.field(rounded, quantum);
            if field > self.largest_field() {
                self.overflowed(negative, Some(rounding), overflow)
            } else {
                field
            }
        };
        let sign = if negative {
            1 << (self.exponent_bits + self.mantissa_bits)
        } else {
            0
        };
        (sign | field) << self.unused_bits
    }

    /// Exponent and mantissa of `n * 2^quantum`, `n` at most `2^(mantissa_bits + 1)`.
    const fn field(&self, n: u64, quantum: i32) -> u64 {
        let hidden = 1 << self.mantissa_bits;
        if n < hidden {
            return n;
        }
        // A carry out of the mantissa increments the exponent by itself.
        let exponent = quantum + self.mantissa_bits as i32 + self.bias;
        ((exponent as u64) << self.mantissa_bits) + (n - hidden)
    }

    /// The field for what lies beyond the largest finite value; `rounding` is `None` for infinity itself.
    const fn overflowed(&self, negative: bool, rounding: Option<Rounding>, overflow: Overflow) -> u64 {
        let inwards = match rounding {
            None | Some(Rounding::NearestEven | Rounding::NearestAway) => false,
            Some(Rounding::Zero) => true,
            Some(Rounding::Up) => negative,
            Some(Rounding::Down) => !negative,
        };
        match (overflow, self.special) {
            (Overflow::Saturate, _) | (_, Special::None) => self.largest_field(),
            _ if inwards => self.largest_field(),
            (Overflow::Special, Special::InfinityAndNan) => self.infinity_field(),
            (Overflow::Special, Special::Nan) => self.all_ones(),
        }
    }

    /// The value of a code, exactly. Bits above the format's width are ignored.
    pub const fn decode(&self, bits: u64) -> f64 {
        let field = bits >> self.unused_bits & self.all_ones();
        let negative = self.signed && bits >> (self.bits() - 1) & 1 != 0;
        let magnitude = match self.special {
            Special::InfinityAndNan if field == self.infinity_field() => f64::INFINITY,
            Special::InfinityAndNan if field > self.infinity_field() => f64::NAN,
            Special::Nan if field == self.all_ones() => f64::NAN,
            _ => {
                let exponent = (field >> self.mantissa_bits) as i32;
                let mantissa = field & ((1 << self.mantissa_bits) - 1);
                let (significand, exponent) = match exponent {
                    0 if self.has_zero => (mantissa, 1),
                    _ => (mantissa | 1 << self.mantissa_bits, exponent),
                };
                let scale = exponent - self.bias - self.mantissa_bits as i32;
                significand as f64 * power_of_two(scale)
            }
        };
        if negative { -magnitude } else { magnitude }
    }
}

/// `significand / 2^shift` rounded to an integer; `shift` is at least 0.
const fn round(significand: u64, shift: i32, negative: bool, rounding: Rounding) -> u64 {
    if shift <= 0 {
        return significand << -shift;
    }
    // A significand has at most 53 bits, so that beyond 63 the value is below a quarter of the last place.
    let shift = if shift > 63 { 63 } else { shift };
    let kept = significand >> shift;
    let rest = significand & ((1 << shift) - 1);
    let half = 1 << (shift - 1);
    let up = match rounding {
        Rounding::NearestEven => rest > half || (rest == half && kept & 1 == 1),
        Rounding::NearestAway => rest >= half,
        Rounding::Zero => false,
        Rounding::Up => rest != 0 && !negative,
        Rounding::Down => rest != 0 && negative,
    };
    kept + up as u64
}

/// `2^exponent`, for exponents of normal f64.
const fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}
