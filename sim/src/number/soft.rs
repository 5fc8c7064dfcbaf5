//! Exact sums, products, quotients and roots of finite numbers, ready to be rounded once by [`Format::pack`].
use super::format::Format;
use super::{F32, F64, Rounding};

/// `(-1)^negative * significand * 2^exponent`; the significand's lowest bit may be sticky.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Soft {
    /// Sign.
    pub negative: bool,
    /// Magnitude, below 2^127.
    pub significand: u128,
    /// Power of two of the significand's lowest bit.
    pub exponent: i32,
}

/// Highest bit that [`Soft::raised`] puts a significand's first one at: one carry fits above it.
const TOP: u32 = 125;

impl Soft {
    /// The same number with its first one at bit [`TOP`].
    fn raised(self) -> Soft {
        if self.significand == 0 {
            return self;
        }
        let shift = self.significand.leading_zeros() - (127 - TOP);
        Soft {
            significand: self.significand << shift,
            exponent: self.exponent - shift as i32,
            ..self
        }
    }

    /// Product; both significands have at most 63 bits.
    pub fn times(self, other: Soft) -> Soft {
        Soft {
            negative: self.negative != other.negative,
            significand: self.significand * other.significand,
            exponent: self.exponent + other.exponent,
        }
    }

    /// Sum. An exact zero from operands of different sign is negative when rounding down and positive otherwise.
    pub fn plus(self, other: Soft, rounding: Rounding) -> Soft {
        if self.significand == 0 && other.significand == 0 {
            let negative = if self.negative == other.negative {
                self.negative
            } else {
                rounding == Rounding::Down
            };
            return Soft { negative, ..self };
        }
        if self.significand == 0 {
            return other;
        }
        if other.significand == 0 {
            return self;
        }
        let (a, b) = (self.raised(), other.raised());
        let (big, small) = if (a.exponent, a.significand) >= (b.exponent, b.significand) {
            (a, b)
        } else {
            (b, a)
        };
        let distance = (big.exponent - small.exponent) as u32;
        let shifted = if distance >= 127 {
            1
        } else {
            small.significand >> distance | u128::from(small.significand & ((1 << distance) - 1) != 0)
        };
        let significand = if big.negative == small.negative {
            big.significand + shifted
        } else {
            big.significand - shifted
        };
        let negative = if significand == 0 {
            rounding == Rounding::Down
        } else {
            big.negative
        };
        Soft {
            negative,
            significand,
            exponent: big.exponent,
        }
    }

    /// Quotient of numbers of at most 53 bits; the divisor is not 0.
    pub fn over(self, other: Soft) -> Soft {
        let numerator = self.raised();
        let quotient = numerator.significand / other.significand;
        let sticky = u128::from(!numerator.significand.is_multiple_of(other.significand));
        Soft {
            negative: self.negative != other.negative,
            significand: quotient << 1 | sticky,
            exponent: numerator.exponent - other.exponent - 1,
        }
    }

    /// Square root of a number that is not negative.
    pub fn root(self) -> Soft {
        let mut raised = self.raised();
        if raised.exponent & 1 != 0 {
            raised = Soft {
                significand: raised.significand << 1,
                exponent: raised.exponent - 1,
                ..raised
            };
        }
        let root = raised.significand.isqrt();
        let sticky = u128::from(root * root != raised.significand);
        Soft {
            negative: self.negative,
            significand: root << 1 | sticky,
            exponent: raised.exponent / 2 - 1,
        }
    }
}

fn finite(format: Format, bits: u64) -> bool {
    !format.is_nan(bits) && !format.is_infinite(bits)
}

fn host(format: Format, x: f64) -> u64 {
    if format == F64 {
        x.to_bits()
    } else {
        format.from_f64(x, Rounding::Nearest)
    }
}

/// `a + b` with any rounding mode.
pub fn add(format: Format, a: u64, b: u64, rounding: Rounding) -> u64 {
    if !finite(format, a) || !finite(format, b) {
        return host(format, format.to_f64(a) + format.to_f64(b));
    }
    format.pack(format.unpack(a).plus(format.unpack(b), rounding), rounding)
}

/// `a * b` with any rounding mode.
pub fn mul(format: Format, a: u64, b: u64, rounding: Rounding) -> u64 {
    if !finite(format, a) || !finite(format, b) {
        return host(format, format.to_f64(a) * format.to_f64(b));
    }
    format.pack(format.unpack(a).times(format.unpack(b)), rounding)
}

/// `a * b + c`, rounded once, with any rounding mode.
pub fn fma(format: Format, a: u64, b: u64, c: u64, rounding: Rounding) -> u64 {
    if !finite(format, a) || !finite(format, b) || !finite(format, c) {
        // The product of finite numbers must not overflow on the host where the format's own would not.
        let (x, y, z) = (format.to_f64(a), format.to_f64(b), format.to_f64(c));
        return host(format, x.mul_add(y, z));
    }
    format.pack(
        format
            .unpack(a)
            .times(format.unpack(b))
            .plus(format.unpack(c), rounding),
        rounding,
    )
}

/// `a / b` with any rounding mode.
pub fn div(format: Format, a: u64, b: u64, rounding: Rounding) -> u64 {
    if !finite(format, a) || !finite(format, b) || format.unpack(b).significand == 0 {
        return host(format, format.to_f64(a) / format.to_f64(b));
    }
    let a = format.unpack(a);
    if a.significand == 0 {
        return format.pack(
            Soft {
                negative: a.negative != format.unpack(b).negative,
                ..a
            },
            rounding,
        );
    }
    format.pack(a.over(format.unpack(b)), rounding)
}

/// The square root of `a` with any rounding mode.
pub fn sqrt(format: Format, a: u64, rounding: Rounding) -> u64 {
    let negative = a & format.sign_bit() != 0;
    if !finite(format, a) || negative || format.unpack(a).significand == 0 {
        return host(format, format.to_f64(a).sqrt());
    }
    format.pack(format.unpack(a).root(), rounding)
}

/// [`add`] and its kin for single precision, whose NaN is the GPU's.
pub mod single {
    use super::*;

    /// `a + b`.
    pub fn add(a: u32, b: u32, rounding: Rounding) -> u32 {
        super::add(F32, a.into(), b.into(), rounding) as u32
    }
    /// `a * b`.
    pub fn mul(a: u32, b: u32, rounding: Rounding) -> u32 {
        super::mul(F32, a.into(), b.into(), rounding) as u32
    }
    /// `a * b + c`.
    pub fn fma(a: u32, b: u32, c: u32, rounding: Rounding) -> u32 {
        super::fma(F32, a.into(), b.into(), c.into(), rounding) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(state: &mut u64) -> u64 {
        *state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        *state ^ *state >> 31
    }

    #[test]
    fn nearest_agrees_with_the_host() {
        let mut state = 7;
        for round in 0..100_000 {
            let (mut a, mut b, mut c) = (random(&mut state), random(&mut state), random(&mut state));
            if round % 2 == 0 {
                // Near exponents, so that sums cancel.
                let keep = (1 << 63) | ((1 << 52) - 1);
                a = a & keep | 1023 << 52;
                b = b & keep | (1020 + (b >> 52 & 7)) << 52;
                c = c & keep | (1020 + (c >> 52 & 7)) << 52;
            }
            let (x, y, z) = (f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
            let same = |soft: u64, host: f64| assert!(soft == host.to_bits() || host.is_nan(), "{x:e} {y:e} {z:e}");
            same(add(F64, a, b, Rounding::Nearest), x + y);
            same(mul(F64, a, b, Rounding::Nearest), x * y);
            same(div(F64, a, b, Rounding::Nearest), x / y);
            same(fma(F64, a, b, c, Rounding::Nearest), x.mul_add(y, z));
            same(sqrt(F64, a, Rounding::Nearest), x.sqrt());
            let (p, q) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            let same = |soft: u32, host: f32| assert!(soft == host.to_bits() || host.is_nan(), "{p:e} {q:e}");
            same(single::add(a as u32, b as u32, Rounding::Nearest), p + q);
            same(
                single::fma(a as u32, b as u32, c as u32, Rounding::Nearest),
                p.mul_add(q, f32::from_bits(c as u32)),
            );
            same(
                div(F32, a & 0xffff_ffff, b & 0xffff_ffff, Rounding::Nearest) as u32,
                p / q,
            );
        }
    }

    #[test]
    fn zero_takes_its_sign_from_the_mode() {
        let one = 1f64.to_bits();
        let minus_one = (-1f64).to_bits();
        assert_eq!(add(F64, one, minus_one, Rounding::Down), 1 << 63);
        assert_eq!(add(F64, one, minus_one, Rounding::Up), 0);
        assert_eq!(add(F64, 1 << 63, 1 << 63, Rounding::Up), 1 << 63);
    }
}
