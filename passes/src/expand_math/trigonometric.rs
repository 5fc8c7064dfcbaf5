//! `sin`, `cos`, `tan`, and their inverses, in single precision.
use super::algebra::Arith;
use std::f64::consts::{FRAC_PI_2, PI};

/// `(sin r - r) / r^3` in powers of `r^2`, `|r| <= pi/4`.
const SIN: [f64; 4] = [
    -0.1666666664077469,
    0.008333329279462376,
    -0.00019839299195071035,
    2.717963066906032e-06,
];
/// `(cos r - 1 + r^2/2) / r^4` in powers of `r^2`, `|r| <= pi/4`.
const COS: [f64; 4] = [
    0.04166666662161012,
    -0.0013888883636947254,
    2.4799487157217487e-05,
    -2.7207393249634346e-07,
];
/// `(atan t - t) / t^3` in powers of `t^2`, `|t| <= 1`.
const ATAN: [f64; 9] = [
    -0.3333330282829611,
    0.1999866364813836,
    -0.14265485207821382,
    0.10958733948657842,
    -0.08422630211492255,
    0.0582860230248558,
    -0.03150474276665529,
    0.011089780120842482,
    -0.001832692803460064,
];
/// `(asin t - t) / t^3` in powers of `t^2`, `|t| <= 1/2`.
const ASIN: [f64; 6] = [
    0.16666659971072223,
    0.07500506302952098,
    0.04451646491907585,
    0.03181219199862645,
    0.014420865771152433,
    0.037542011016885736,
];
/// `pi/2` in three parts; products of the first with integers below 2^16 are exact with fma.
const HALF_PI: [f64; 3] = [1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15];
/// The bits of `2/pi` after the point, 32 at a time, behind 32 zeros.
const TWO_OVER_PI: [u32; 8] = [
    0,
    0xa2f9_836e,
    0x4e44_1529,
    0xfc27_57d1,
    0xf534_ddc0,
    0xdb62_9599,
    0x3c43_9041,
    0xfe51_63ab,
];

/// Which multiple of a quarter turn is nearest, as an integer whose low two bits count, and the angle from there.
struct Reduced<A: Arith> {
    r: A::F,
    quarter: A::I,
}

/// Up to here the three parts of `pi/2` are precise enough.
const EASY: f64 = 48_039.0;

fn reduce<A: Arith>(a: &A, x: A::F) -> Reduced<A> {
    let hard = a.lt(a.f(EASY), a.abs(x));
    let [r, whole] = a.branch(
        hard,
        |a| {
            let Reduced { r, quarter } = reduce_huge(a, x);
            [r, a.to_float(quarter)]
        },
        |a| {
            let (whole, _) = a.nearest(a.mul(x, a.f(2.0 / PI)));
            let minus = a.neg(whole);
            let mut r = x;
            for part in HALF_PI {
                r = a.fma(minus, a.f(part), r);
            }
            [r, whole]
        },
    );
    let (_, quarter) = a.nearest(whole);
    Reduced { r, quarter }
}

/// Payne and Hanek: the product with as many bits of `2/pi` as matter for the exponent, in whole numbers.
fn reduce_huge<A: Arith>(a: &A, x: A::F) -> Reduced<A> {
    let bits = a.iand(a.to_bits(x), a.magnitude_mask());
    let exponent = a.isub(a.ishr(bits, a.i(23)), a.i(127));
    // The significand with its first bit on top.
    let m = a.ishl(a.ior(a.iand(bits, a.i(0x7f_ffff)), a.i(0x80_0000)), a.i(8));
    let skip = a.isub(exponent, a.i(1));
    let (word, shift) = (a.iand(a.ishr(skip, a.i(5)), a.i(3)), a.iand(skip, a.i(31)));
    let table = |i: usize| a.i(i64::from(TWO_OVER_PI[i] as i32));
    let pick = |k: usize| {
        (1..4).fold(table(k), |found, w| {
            a.select_int(a.ieq(word, a.i(w as i64)), table(k + w), found)
        })
    };
    let words = [pick(0), pick(1), pick(2), pick(3)];
    let none = a.ieq(shift, a.i(0));
    let joined = |i: usize| {
        let back = a.iand(a.isub(a.i(32), shift), a.i(31));
        let both = a.ior(a.ishl(words[i], shift), a.ishr(words[i + 1], back));
        a.select_int(none, words[i], both)
    };
    let (high, middle, low) = (joined(0), joined(1), joined(2));
    // Two words of the product, the upper two bits of which count quarters.
    let (_, carry) = a.mul_wide(m, low);
    let (low_product, high_product) = a.mul_wide(m, middle);
    let lower = a.iadd(low_product, carry);
    let overflow = a.select_int(unsigned_less(a, lower, carry), a.i(1), a.i(0));
    let (top, _) = a.mul_wide(m, high);
    let upper = a.iadd(a.iadd(top, high_product), overflow);
    let quarter = a.ishr(upper, a.i(30));
    let fraction_high = a.ior(a.ishl(upper, a.i(2)), a.ishr(lower, a.i(30)));
    let fraction_low = a.ishl(lower, a.i(2));
    // The fraction as a signed number is the distance to the nearest quarter.
    let r = a.scaled(fraction_high, fraction_low, FRAC_PI_2 * 2f64.powi(-64));
    let quarter = a.iadd(quarter, a.ishr(fraction_high, a.i(31)));
    let negative = a.ilt(a.to_bits(x), a.i(0));
    Reduced {
        r: a.select(negative, a.neg(r), r),
        quarter: a.select_int(negative, a.isub(a.i(0), quarter), quarter),
    }
}

fn unsigned_less<A: Arith>(a: &A, x: A::I, y: A::I) -> A::B {
    a.ilt(a.ixor(x, a.sign_mask()), a.ixor(y, a.sign_mask()))
}

/// Sine and cosine of the angle that is left.
fn sin_and_cos<A: Arith>(a: &A, r: A::F) -> (A::F, A::F) {
    let z = a.mul(r, r);
    let sin = a.fma(a.mul(r, z), a.polynomial(z, &SIN), r);
    let cos = a.fma(a.mul(z, z), a.polynomial(z, &COS), a.fma(a.f(-0.5), z, a.f(1.0)));
    (sin, cos)
}

fn odd<A: Arith>(a: &A, n: A::I) -> A::B {
    a.ieq(a.iand(n, a.i(1)), a.i(1))
}

/// NaN for what is not finite.
fn finite_only<A: Arith>(a: &A, x: A::F, result: A::F) -> A::F {
    a.select(a.lt(a.abs(x), a.f(f64::INFINITY)), result, a.f(f64::NAN))
}

/// The sine of `quarters` more quarter turns than `x`.
fn wave<A: Arith>(a: &A, x: A::F, quarters: i64) -> A::F {
    let Reduced { r, quarter } = reduce(a, x);
    let quarter = a.iadd(quarter, a.i(quarters));
    let (sin, cos) = sin_and_cos(a, r);
    let value = a.select(odd(a, quarter), cos, sin);
    let sign = a.ishl(a.iand(quarter, a.i(2)), a.i(30));
    finite_only(a, x, a.of_bits(a.ixor(a.to_bits(value), sign)))
}

/// `sin x`
pub fn sin<A: Arith>(a: &A, x: A::F) -> A::F {
    // Zero keeps its sign.
    a.select(a.lt(a.abs(x), a.f(1e-5)), x, wave(a, x, 0))
}

/// `cos x`
pub fn cos<A: Arith>(a: &A, x: A::F) -> A::F {
    wave(a, x, 1)
}

/// `tan x`
pub fn tan<A: Arith>(a: &A, x: A::F) -> A::F {
    let Reduced { r, quarter } = reduce(a, x);
    let (sin, cos) = sin_and_cos(a, r);
    let turned = odd(a, quarter);
    let value = a.div(a.select(turned, a.neg(cos), sin), a.select(turned, sin, cos));
    let value = finite_only(a, x, value);
    a.select(a.lt(a.abs(x), a.f(1e-5)), x, value)
}

/// `atan t` for `0 <= t <= 1`.
fn atan_unit<A: Arith>(a: &A, t: A::F) -> A::F {
    let z = a.mul(t, t);
    a.fma(a.mul(t, z), a.polynomial(z, &ATAN), t)
}

/// `atan x`
pub fn atan<A: Arith>(a: &A, x: A::F) -> A::F {
    let size = a.abs(x);
    let large = a.lt(a.f(1.0), size);
    let inner = atan_unit(a, a.select(large, a.div(a.f(1.0), size), size));
    let turned = a.add(a.sub(a.f(HALF_PI[0]), inner), a.f(HALF_PI[1]));
    let result = a.copysign(a.select(large, turned, inner), x);
    a.select(a.is_nan(x), x, result)
}

/// `atan2 (y, x)`
pub fn atan2<A: Arith>(a: &A, y: A::F, x: A::F) -> A::F {
    let (ay, ax) = (a.abs(y), a.abs(x));
    let steep = a.lt(ax, ay);
    let (most, least) = (a.select(steep, ay, ax), a.select(steep, ax, ay));
    // Two infinities are as two equals, two zeros as 0 / 1.
    let ratio = a.div(least, a.select(a.eq(most, a.f(0.0)), a.f(1.0), most));
    let ratio = a.select(a.eq(least, a.f(f64::INFINITY)), a.f(1.0), ratio);
    let inner = atan_unit(a, ratio);
    let inner = a.select(steep, a.add(a.sub(a.f(HALF_PI[0]), inner), a.f(HALF_PI[1])), inner);
    let behind = a.ilt(a.to_bits(x), a.i(0));
    let (pi, pi_low) = (a.f(2.0 * HALF_PI[0]), a.f(2.0 * HALF_PI[1]));
    let result = a.select(behind, a.add(a.sub(pi, inner), pi_low), inner);
    let result = a.copysign(result, y);
    a.select(a.either(a.is_nan(x), a.is_nan(y)), a.add(x, y), result)
}

/// `asin t` for `0 <= t <= 1/2`.
fn asin_half<A: Arith>(a: &A, t: A::F, z: A::F) -> A::F {
    a.fma(a.mul(t, z), a.polynomial(z, &ASIN), t)
}

/// Where `|x| > 1/2`, the square root of `(1 - |x|)/2`, whose arc sine is half of the rest.
fn arc<A: Arith>(a: &A, x: A::F) -> (A::B, A::F) {
    let size = a.abs(x);
    let large = a.lt(a.f(0.5), size);
    let z = a.select(large, a.fma(size, a.f(-0.5), a.f(0.5)), a.mul(size, size));
    let t = a.select(large, a.sqrt(z), size);
    (large, asin_half(a, t, z))
}

/// `asin x`
pub fn asin<A: Arith>(a: &A, x: A::F) -> A::F {
    let (large, inner) = arc(a, x);
    let turned = a.add(a.fma(inner, a.f(-2.0), a.f(HALF_PI[0])), a.f(HALF_PI[1]));
    let result = a.copysign(a.select(large, turned, inner), x);
    a.select(a.le(a.abs(x), a.f(1.0)), result, a.f(f64::NAN))
}

/// `acos x`
pub fn acos<A: Arith>(a: &A, x: A::F) -> A::F {
    let (large, inner) = arc(a, x);
    let negative = a.lt(x, a.f(0.0));
    let twice = a.add(inner, inner);
    let far = a.add(a.sub(a.f(2.0 * HALF_PI[0]), twice), a.f(2.0 * HALF_PI[1]));
    let near = a.add(
        a.sub(a.f(HALF_PI[0]), a.select(negative, a.neg(inner), inner)),
        a.f(HALF_PI[1]),
    );
    let result = a.select(large, a.select(negative, far, twice), near);
    a.select(a.le(a.abs(x), a.f(1.0)), result, a.f(f64::NAN))
}
