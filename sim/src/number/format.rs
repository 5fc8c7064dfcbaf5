//! Floating-point formats and conversion into them with every rounding mode.
use super::Rounding;
use super::soft::Soft;

/// A binary floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of the exponent field.
    pub exponent_bits: u32,
    /// Bits of the fraction field.
    pub fraction_bits: u32,
    /// Bits below the fraction that the container has and the format leaves zero (tf32 has 13).
    pub padding_bits: u32,
    /// Whether the largest exponent holds numbers too, so that there is no infinity.
    pub finite: bool,
    /// Whether there is a NaN: all ones where the format is `finite` (e4m3), which else is a number too.
    pub has_nan: bool,
}

/// IEEE binary64.
pub const F64: Format = Format {
    exponent_bits: 11,
    fraction_bits: 52,
    padding_bits: 0,
    finite: false,
    has_nan: true,
};
/// IEEE binary32.
pub const F32: Format = Format {
    exponent_bits: 8,
    fraction_bits: 23,
    padding_bits: 0,
    finite: false,
    has_nan: true,
};
/// tf32 in its 32-bit container.
pub const TF32: Format = Format {
    exponent_bits: 8,
    fraction_bits: 10,
    padding_bits: 13,
    finite: false,
    has_nan: true,
};
/// IEEE binary16.
pub const F16: Format = Format {
    exponent_bits: 5,
    fraction_bits: 10,
    padding_bits: 0,
    finite: false,
    has_nan: true,
};
/// bfloat16.
pub const BF16: Format = Format {
    exponent_bits: 8,
    fraction_bits: 7,
    padding_bits: 0,
    finite: false,
    has_nan: true,
};
/// 8-bit `e4m3`: no infinity, NaN is all ones.
pub const E4M3: Format = Format {
    exponent_bits: 4,
    fraction_bits: 3,
    padding_bits: 0,
    finite: true,
    has_nan: true,
};
/// 8-bit `e5m2`.
pub const E5M2: Format = Format {
    exponent_bits: 5,
    fraction_bits: 2,
    padding_bits: 0,
    finite: false,
    has_nan: true,
};

/// 6-bit `e3m2`: every code is a number.
pub const E3M2: Format = Format {
    exponent_bits: 3,
    fraction_bits: 2,
    padding_bits: 0,
    finite: true,
    has_nan: false,
};
/// 6-bit `e2m3`.
pub const E2M3: Format = Format {
    exponent_bits: 2,
    fraction_bits: 3,
    ..E3M2
};
/// 4-bit `e2m1`.
pub const E2M1: Format = Format {
    exponent_bits: 2,
    fraction_bits: 1,
    ..E3M2
};

impl Format {
    /// Exponent bias.
    pub const fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }
    const fn exponent_mask(self) -> u64 {
        (1 << self.exponent_bits) - 1
    }
    /// Bit of the sign.
    pub const fn sign_bit(self) -> u64 {
        1 << (self.exponent_bits + self.fraction_bits + self.padding_bits)
    }
    /// Bits of infinity, or of the largest number where there is none.
    pub const fn infinity(self) -> u64 {
        if self.finite {
            self.largest()
        } else {
            self.exponent_mask() << (self.fraction_bits + self.padding_bits)
        }
    }
    /// Bits of the largest finite number.
    pub const fn largest(self) -> u64 {
        if self.finite {
            let all_ones = self.exponent_mask() << self.fraction_bits | ((1 << self.fraction_bits) - 1);
            (all_ones - self.has_nan as u64) << self.padding_bits
        } else {
            (((self.exponent_mask() << self.fraction_bits) - 1) << self.padding_bits) & !((1 << self.padding_bits) - 1)
        }
    }
    /// Bits that conversions of NaN give: all ones but the sign, which is the largest number where there is no NaN.
    pub const fn nan(self) -> u64 {
        self.sign_bit() - 1
    }
    /// Whether the bits are a NaN.
    pub fn is_nan(self, bits: u64) -> bool {
        let magnitude = bits & (self.sign_bit() - 1);
        if self.finite {
            self.has_nan && magnitude == self.nan()
        } else {
            magnitude > self.infinity()
        }
    }
    /// Whether the bits are an infinity.
    pub fn is_infinite(self, bits: u64) -> bool {
        !self.finite && bits & (self.sign_bit() - 1) == self.infinity()
    }

    /// The finite number as sign, significand and power of two. Callers have excluded NaN and infinity.
    pub fn unpack(self, bits: u64) -> Soft {
        let bits = bits >> self.padding_bits;
        let fraction = bits & ((1 << self.fraction_bits) - 1);
        let exponent = (bits >> self.fraction_bits & self.exponent_mask()) as i32;
        let negative = bits >> (self.fraction_bits + self.exponent_bits) & 1 != 0;
        let lowest = 1 - self.bias() - self.fraction_bits as i32;
        if exponent == 0 {
            Soft {
                negative,
                significand: u128::from(fraction),
                exponent: lowest,
            }
        } else {
            Soft {
                negative,
                significand: u128::from(fraction | 1 << self.fraction_bits),
                exponent: lowest + exponent - 1,
            }
        }
    }

    /// The value as a double, which holds every number of every format.
    pub fn to_f64(self, bits: u64) -> f64 {
        if self == F64 {
            return f64::from_bits(bits);
        }
        let negative = bits & self.sign_bit() != 0;
        if self.is_nan(bits) {
            return f64::NAN;
        }
        let value = if self.is_infinite(bits) {
            f64::INFINITY
        } else {
            let soft = self.unpack(bits);
            soft.significand as f64 * power_of_two(soft.exponent)
        };
        if negative { -value } else { value }
    }

    /// A double rounded into the format; overflow gives infinity or the largest number as the mode says.
    pub fn from_f64(self, x: f64, rounding: Rounding) -> u64 {
        if x.is_nan() {
            return self.nan();
        }
        let sign = if x.is_sign_negative() { self.sign_bit() } else { 0 };
        if x.is_infinite() {
            return sign | self.infinity();
        }
        self.pack(F64.unpack(x.to_bits()), rounding)
    }

    /// Rounds into the format. The lowest bit of the significand may stand for everything below it ("sticky") as long as
    /// it lies at least two places under the format's own last bit.
    pub fn pack(self, soft: Soft, rounding: Rounding) -> u64 {
        let sign = if soft.negative { self.sign_bit() } else { 0 };
        if soft.significand == 0 {
            return sign;
        }
        let top = 127 - soft.significand.leading_zeros() as i32;
        let lowest = 1 - self.bias() - self.fraction_bits as i32;
        // Power of two of the last place of the result.
        let place = (soft.exponent + top - self.fraction_bits as i32).max(lowest);
        let shift = place - soft.exponent;
        let (mut value, rest, half) = if shift <= 0 {
            (soft.significand << -shift, 0, 1)
        } else if shift < 128 {
            (
                soft.significand >> shift,
                soft.significand & ((1u128 << shift) - 1),
                1u128 << (shift - 1),
            )
        } else {
            (0, 1, 2)
        };
        let up = match rounding {
            Rounding::Nearest => rest > half || rest == half && value & 1 != 0,
            Rounding::NearestAway => rest >= half,
            Rounding::Zero => false,
            Rounding::Up => rest != 0 && !soft.negative,
            Rounding::Down => rest != 0 && soft.negative,
        };
        value += u128::from(up);
        // `value` has the implicit bit unless subnormal, so adding it to the exponent field counts it and any carry.
        let field = (place - lowest) as u64;
        let bits = ((field << self.fraction_bits) + value as u64) << self.padding_bits;
        if field > self.exponent_mask() || bits > self.largest() {
            let away = match rounding {
                Rounding::Nearest | Rounding::NearestAway => true,
                Rounding::Zero => false,
                Rounding::Up => !soft.negative,
                Rounding::Down => soft.negative,
            };
            return sign | if away { self.infinity() } else { self.largest() };
        }
        sign | bits
    }
}

/// 2 to the `n`, subnormal results included.
pub fn power_of_two(n: i32) -> f64 {
    if n >= -1022 {
        f64::from_bits(((n.min(1024) + 1023) as u64) << 52)
    } else {
        f64::from_bits(1u64.checked_shl((n + 1074).max(-1) as u32).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_agrees_with_the_host() {
        let mut state = 1u64;
        for _ in 0..200_000 {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let x = f64::from_bits(state ^ state >> 29);
            if x.is_nan() {
                continue;
            }
            assert_eq!(F32.from_f64(x, Rounding::Nearest) as u32, (x as f32).to_bits(), "{x:e}");
            let single = f32::from_bits((state >> 20) as u32);
            if !single.is_nan() {
                assert_eq!(
                    F16.from_f64(single.into(), Rounding::Nearest) as u16,
                    ::half::f16::from_f32(single).to_bits(),
                    "{single:e}"
                );
                assert_eq!(
                    BF16.from_f64(single.into(), Rounding::Nearest) as u16,
                    ::half::bf16::from_f32(single).to_bits(),
                    "{single:e}"
                );
                assert_eq!(F32.to_f64(single.to_bits().into()), f64::from(single));
            }
        }
    }

    #[test]
    fn directed_modes_bracket_the_value() {
        for (x, down, up) in [
            (1.0 + 1e-12, 0x3f800000, 0x3f800001),
            (-1.0 - 1e-12, 0xbf800001, 0xbf800000),
            (1e300, 0x7f7fffff, 0x7f800000),
            (1e-300, 0, 1),
        ] {
            assert_eq!(F32.from_f64(x, Rounding::Down), down);
            assert_eq!(F32.from_f64(x, Rounding::Up), up);
        }
    }

    #[test]
    fn small_formats_end_where_they_should() {
        assert_eq!(E3M2.to_f64(E3M2.largest()), 28.0);
        assert_eq!(E2M3.to_f64(E2M3.largest()), 7.5);
        assert_eq!(E2M1.to_f64(E2M1.largest()), 6.0);
        assert_eq!(E2M1.from_f64(-0.26, Rounding::Nearest), 0x9);
        assert_eq!(E3M2.from_f64(f64::NAN, Rounding::Nearest), 0x1f);
        assert_eq!(E2M3.from_f64(-1e9, Rounding::Nearest), 0x3f);
        assert_eq!(E4M3.to_f64(E4M3.largest()), 448.0);
        assert_eq!(E5M2.to_f64(E5M2.largest()), 57344.0);
        assert_eq!(E4M3.from_f64(1e9, Rounding::Nearest), 0x7e);
        assert_eq!(E5M2.from_f64(1e9, Rounding::Nearest), 0x7c);
        assert_eq!(E4M3.from_f64(f64::NAN, Rounding::Nearest), 0x7f);
        assert_eq!(TF32.from_f64(1.0 + 1.0 / 2048.0, Rounding::NearestAway), 0x3f802000);
        assert_eq!(TF32.from_f64(1.0 + 1.0 / 2048.0, Rounding::Nearest), 0x3f800000);
    }
}
