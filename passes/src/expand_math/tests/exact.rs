//! Exact values, to more bits than a double has, and how far a result is from them.
use astro_float::{BigFloat, Consts, Exponent, RoundingMode::ToEven, Sign};

/// Bits of a reference.
pub(super) const P: usize = 192;
/// Bits that tell where in a turn any double is.
const ANGLE_BITS: usize = 1400;

/// A number of the reference.
pub(super) fn big(x: f64) -> BigFloat {
    if !x.is_subnormal() {
        return BigFloat::from_f64(x, P);
    }
    // The library takes the bits of a subnormal number for another one.
    let mut normal = BigFloat::from_f64(x * 2f64.powi(64), P);
    normal.set_exponent(normal.exponent().unwrap_or(0) - 64);
    normal
}

/// A format of numbers: bits of its fraction, and the least and greatest exponent.
#[derive(Clone, Copy)]
pub(super) struct Format {
    fraction_bits: Exponent,
    least: Exponent,
    greatest: Exponent,
}
pub(super) const SINGLE: Format = Format {
    fraction_bits: 23,
    least: -126,
    greatest: 127,
};
pub(super) const DOUBLE: Format = Format {
    fraction_bits: 52,
    least: -1022,
    greatest: 1023,
};

/// About `x / 2^exponent`.
fn scaled(x: &BigFloat, exponent: Exponent) -> f64 {
    let Some((words, _, sign, own, _)) = x.as_raw_parts() else {
        return f64::INFINITY;
    };
    let top = words.last().copied().unwrap_or(0) as f64 * 2f64.powi(-64);
    let size = top * 2f64.powi((own - exponent).clamp(-2000, 2000));
    if sign == Sign::Neg { -size } else { size }
}

/// Units in the last place, at the size of the exact value, between it and a result in a format. Below the smallest normal
/// number a unit is the distance of subnormal numbers; infinity counts as the power of two past the largest number; and a
/// zero of the wrong sign is infinitely far.
pub(super) fn error(found: f64, exact: &BigFloat, format: Format) -> f64 {
    if found.is_nan() || exact.is_nan() {
        return if found.is_nan() && exact.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    if found.is_sign_negative() != exact.is_negative() {
        return f64::INFINITY;
    }
    if exact.is_zero() {
        return if found == 0.0 { 0.0 } else { f64::INFINITY };
    }
    // 2^(own - 1) <= |exact| < 2^own
    let own = if exact.is_inf() {
        format.greatest + 2
    } else {
        exact.exponent().unwrap_or(0)
    };
    let mut limit = BigFloat::from_f64(1.0, P);
    limit.set_exponent(format.greatest + 2);
    limit.set_sign(if exact.is_negative() { Sign::Neg } else { Sign::Pos });
    let exact = if own > format.greatest + 1 { &limit } else { exact };
    let found = if found.is_infinite() { limit.clone() } else { big(found) };
    let unit = (own - 1).clamp(format.least, format.greatest) - format.fraction_bits;
    let difference = found.sub(exact, P, ToEven);
    if difference.is_zero() {
        0.0
    } else {
        scaled(&difference, unit).abs()
    }
}

/// The angle in the first turn that is as large an angle as any; small ones stay as they are.
pub(super) fn angle(x: &BigFloat, c: &mut Consts) -> BigFloat {
    if x.exponent().is_none_or(|e| e < 8) {
        return x.clone();
    }
    let turn = c.pi(ANGLE_BITS, ToEven);
    let turn = turn.add(&turn, ANGLE_BITS, ToEven);
    let turns = x.div(&turn, ANGLE_BITS, ToEven).int();
    let mut rest = x.sub(&turns.mul(&turn, 2 * ANGLE_BITS, ToEven), 2 * ANGLE_BITS, ToEven);
    // Enough, even next to a multiple of a quarter turn.
    rest.set_precision(2 * P, ToEven).expect("it is a number");
    rest
}

/// `erf x` by its series of terms of one sign, for numbers up to about 6.
pub(super) fn erf(x: &BigFloat, c: &mut Consts) -> BigFloat {
    let square = x.mul(x, P, ToEven);
    let (mut term, mut sum) = (x.clone(), x.clone());
    for n in 1..260 {
        term = term
            .mul(&square, P, ToEven)
            .mul(&big(2.0), P, ToEven)
            .div(&big(f64::from(2 * n + 1)), P, ToEven);
        sum = sum.add(&term, P, ToEven);
        if term.exponent() < sum.exponent().map(|e| e - P as Exponent) {
            break;
        }
    }
    let power = square.neg().exp(P, ToEven, c);
    let root = c.pi(P, ToEven).sqrt(P, ToEven);
    sum.mul(&power, P, ToEven)
        .mul(&big(2.0), P, ToEven)
        .div(&root, P, ToEven)
}

/// `erfc x`, beyond 3 by its continued fraction.
pub(super) fn erfc(x: &BigFloat, c: &mut Consts) -> BigFloat {
    if x.cmp(&big(3.0)).is_none_or(|order| order < 0) {
        return big(1.0).sub(&erf(x, c), P, ToEven);
    }
    let mut tail = x.clone();
    for n in (1..300).rev() {
        tail = x.add(&big(f64::from(n) / 2.0).div(&tail, P, ToEven), P, ToEven);
    }
    let power = x.mul(x, P, ToEven).neg().exp(P, ToEven, c);
    let root = c.pi(P, ToEven).sqrt(P, ToEven);
    power.div(&tail, P, ToEven).div(&root, P, ToEven)
}

/// Numbers drawn by a linear congruence.
pub(super) struct Drawn(pub(super) u64);

impl Drawn {
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ self.0 >> 32
    }
    /// From 0 to 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * 2f64.powi(-53)
    }
}
