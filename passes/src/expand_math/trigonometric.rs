//! `sin`, `cos`, `tan`, and their inverses.
use super::algebra::Arith;
use std::f64::consts::{FRAC_PI_2, PI};

/// `(sin r - r) / r^3` in powers of `r^2`, `|r| <= pi/4`.
const SIN_SINGLE: [f64; 4] = [
    -0.1666666664077469,
    0.008333329279462376,
    -0.00019839299195071035,
    2.717963066906032e-06,
];
const SIN_DOUBLE: [f64; 7] = [
    -0.16666666666666666,
    0.008333333333333323,
    -0.00019841269841255064,
    2.7557319214188046e-06,
    -2.505210491095318e-08,
    1.6058366544775123e-10,
    -7.578693676635733e-13,
];
/// `(cos r - 1 + r^2/2) / r^4` in powers of `r^2`, `|r| <= pi/4`.
const COS_SINGLE: [f64; 4] = [
    0.04166666662161012,
    -0.0013888883636947254,
    2.4799487157217487e-05,
    -2.7207393249634346e-07,
];
const COS_DOUBLE: [f64; 7] = [
    0.041666666666666664,
    -0.0013888888888888874,
    2.480158730157146e-05,
    -2.755731921536008e-07,
    2.0876754362511835e-09,
    -1.1470292841602462e-11,
    4.738089413535964e-14,
];
/// `(atan t - t) / t^3` in powers of `t^2`, `|t| <= 1`.
const ATAN_SINGLE: [f64; 9] = [
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
const ATAN_DOUBLE: [f64; 20] = [
    -0.33333333333333093,
    0.1999999999995544,
    -0.14285714282802456,
    0.11111111013656101,
    -0.09090907119323405,
    0.07692281187267973,
    -0.06666414999580654,
    0.05880592556833012,
    -0.05253805526496476,
    0.04723293160901383,
    -0.042217170146022796,
    0.036693504678826996,
    -0.02998552440777176,
    0.022085083028855142,
    -0.01399491554524474,
    0.007263304153639564,
    -0.0029193137195292844,
    0.0008434746327272552,
    -0.00015479491891176746,
    1.3489070101448036e-05,
];
/// `(asin t - t) / t^3` in powers of `t^2`, `|t| <= 1/2`.
const ASIN_SINGLE: [f64; 6] = [
    0.16666659971072223,
    0.07500506302952098,
    0.04451646491907585,
    0.03181219199862645,
    0.014420865771152433,
    0.037542011016885736,
];
const ASIN_DOUBLE: [f64; 13] = [
    0.16666666666666763,
    0.07499999999970261,
    0.04464285717512177,
    0.030381942683575663,
    0.022372215661347367,
    0.017351600074895925,
    0.013980961638142409,
    0.01139777455450843,
    0.010786536731702972,
    0.003683013835650465,
    0.02176356629905606,
    -0.021077386001761525,
    0.032676947832990126,
];
/// `pi/2` in three parts. What the first leaves of a number that the parts are precise enough for is exact with fma.
const HALF_PI_SINGLE: [f64; 3] = [1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15];
const HALF_PI_DOUBLE: [f64; 3] = [FRAC_PI_2, 6.123233995736766e-17, -1.4973849048591698e-33];
/// The bits of `2/pi` after the point, 64 at a time.
const TWO_OVER_PI: [u64; 18] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
];

/// `pi/2` in three parts of the number's width.
fn half_pi<A: Arith>(a: &A) -> [A::F; 3] {
    std::array::from_fn(|i| a.by_width(HALF_PI_SINGLE[i], HALF_PI_DOUBLE[i]))
}

/// Below this the angle is its own sine and tangent.
fn tiny<A: Arith>(a: &A, x: A::F) -> A::B {
    a.lt(a.abs(x), a.by_width(1e-5, 1e-9))
}

fn polynomial<A: Arith>(a: &A, x: A::F, single: &[f64], double: &[f64]) -> A::F {
    a.polynomial(x, if a.bits() == 32 { single } else { double })
}

/// Which multiple of a quarter turn is nearest, as an integer whose low two bits count, and the angle from there.
struct Reduced<A: Arith> {
    r: A::F,
    quarter: A::I,
}

/// Up to here the three parts of `pi/2` are precise enough, in single and in double precision.
const EASY: (f64, f64) = (48_039.0, 1_073_741_824.0);

fn reduce<A: Arith>(a: &A, x: A::F) -> Reduced<A> {
    let hard = a.lt(a.by_width(EASY.0, EASY.1), a.abs(x));
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
            for part in half_pi(a) {
                r = a.fma(minus, part, r);
            }
            [r, whole]
        },
    );
    let (_, quarter) = a.nearest(whole);
    Reduced { r, quarter }
}

/// Payne and Hanek: the product with as many bits of `2/pi` as matter for the exponent, in whole numbers.
fn reduce_huge<A: Arith>(a: &A, x: A::F) -> Reduced<A> {
    let width = i64::from(a.bits());
    let fraction_bits = a.fraction_bits();
    let bits = a.iand(a.to_bits(x), a.magnitude_mask());
    let exponent = a.isub(a.ishr(bits, a.i(fraction_bits)), a.i(a.bias()));
    // The significand with its first bit on top.
    let (implicit, rest) = (1i64 << fraction_bits, (1i64 << fraction_bits) - 1);
    let m = a.ior(a.iand(bits, a.i(rest)), a.i(implicit));
    let m = a.ishl(m, a.i(width - 1 - fraction_bits));
    let skip = a.isub(exponent, a.i(1));
    // Words of the number's width; where the largest exponent begins, three more follow.
    let starts = (a.bias() - 1) / width + 1;
    let word = a.iand(a.ishr(skip, a.i(width.trailing_zeros().into())), a.i(starts - 1));
    let shift = a.iand(skip, a.i(width - 1));
    // Behind one word of zeros.
    let table = |i: usize| match (i.checked_sub(1), width) {
        (None, _) => a.i(0),
        (Some(i), 64) => a.i(TWO_OVER_PI[i] as i64),
        (Some(i), _) => a.i(i64::from((TWO_OVER_PI[i / 2] >> (32 * (1 - i % 2))) as u32 as i32)),
    };
    let pick = |k: usize| {
        (1..starts).fold(table(k), |found, w| {
            a.select_int(a.ieq(word, a.i(w)), table(k + w as usize), found)
        })
    };
    let words = [pick(0), pick(1), pick(2), pick(3)];
    let none = a.ieq(shift, a.i(0));
    let joined = |i: usize| {
        let back = a.iand(a.isub(a.i(width), shift), a.i(width - 1));
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
    let quarter = a.ishr(upper, a.i(width - 2));
    let fraction_high = a.ior(a.ishl(upper, a.i(2)), a.ishr(lower, a.i(width - 2)));
    let fraction_low = a.ishl(lower, a.i(2));
    // The fraction as a signed number is the distance to the nearest quarter.
    let r = match width {
        32 => a.scaled(fraction_high, fraction_low, FRAC_PI_2 * 2f64.powi(-64)),
        _ => {
            // As many bits as a number has, exactly, and what is below them.
            let below = 0x7ff;
            let head = a.to_float(a.iand(fraction_high, a.i(!below)));
            let low = a.to_float(a.ishr(fraction_low, a.i(1)));
            let rest = a.fma(low, a.f(2f64.powi(-63)), a.to_float(a.iand(fraction_high, a.i(below))));
            let whole = a.add(head, rest);
            let lost = a.sub(rest, a.sub(whole, head));
            let [first, second, _] = HALF_PI_DOUBLE.map(|part| a.f(part * 2f64.powi(-64)));
            a.fma(whole, first, a.fma(whole, second, a.mul(lost, first)))
        }
    };
    let quarter = a.iadd(quarter, a.ishr(fraction_high, a.i(width - 1)));
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
    let sin = a.fma(a.mul(r, z), polynomial(a, z, &SIN_SINGLE, &SIN_DOUBLE), r);
    let cos = a.fma(
        a.mul(z, z),
        polynomial(a, z, &COS_SINGLE, &COS_DOUBLE),
        a.fma(a.f(-0.5), z, a.f(1.0)),
    );
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
    let sign = a.ishl(a.iand(quarter, a.i(2)), a.i(i64::from(a.bits()) - 2));
    finite_only(a, x, a.of_bits(a.ixor(a.to_bits(value), sign)))
}

/// `sin x`
pub fn sin<A: Arith>(a: &A, x: A::F) -> A::F {
    // Zero keeps its sign.
    a.select(tiny(a, x), x, wave(a, x, 0))
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
    a.select(tiny(a, x), x, value)
}

/// `atan t` for `0 <= t <= 1`.
fn atan_unit<A: Arith>(a: &A, t: A::F) -> A::F {
    let z = a.mul(t, t);
    a.fma(a.mul(t, z), polynomial(a, z, &ATAN_SINGLE, &ATAN_DOUBLE), t)
}

/// `atan x`
pub fn atan<A: Arith>(a: &A, x: A::F) -> A::F {
    let size = a.abs(x);
    let large = a.lt(a.f(1.0), size);
    let inner = atan_unit(a, a.select(large, a.div(a.f(1.0), size), size));
    let [quarter, quarter_low, _] = half_pi(a);
    let turned = a.add(a.sub(quarter, inner), quarter_low);
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
    let [quarter, quarter_low, _] = half_pi(a);
    let inner = a.select(steep, a.add(a.sub(quarter, inner), quarter_low), inner);
    let behind = a.ilt(a.to_bits(x), a.i(0));
    let (pi, pi_low) = (a.add(quarter, quarter), a.add(quarter_low, quarter_low));
    let result = a.select(behind, a.add(a.sub(pi, inner), pi_low), inner);
    let result = a.copysign(result, y);
    a.select(a.either(a.is_nan(x), a.is_nan(y)), a.add(x, y), result)
}

/// `asin t` for `0 <= t <= 1/2`.
fn asin_half<A: Arith>(a: &A, t: A::F, z: A::F) -> A::F {
    a.fma(a.mul(t, z), polynomial(a, z, &ASIN_SINGLE, &ASIN_DOUBLE), t)
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
    let [quarter, quarter_low, _] = half_pi(a);
    let turned = a.add(a.fma(inner, a.f(-2.0), quarter), quarter_low);
    let result = a.copysign(a.select(large, turned, inner), x);
    a.select(a.le(a.abs(x), a.f(1.0)), result, a.f(f64::NAN))
}

/// `acos x`
pub fn acos<A: Arith>(a: &A, x: A::F) -> A::F {
    let (large, inner) = arc(a, x);
    let negative = a.lt(x, a.f(0.0));
    let twice = a.add(inner, inner);
    let [quarter, quarter_low, _] = half_pi(a);
    let far = a.add(a.sub(a.add(quarter, quarter), twice), a.add(quarter_low, quarter_low));
    let near = a.add(a.sub(quarter, a.select(negative, a.neg(inner), inner)), quarter_low);
    let result = a.select(large, a.select(negative, far, twice), near);
    a.select(a.le(a.abs(x), a.f(1.0)), result, a.f(f64::NAN))
}
