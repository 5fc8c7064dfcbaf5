//! `cbrt`, and `powf`: the logarithm in two parts, times the exponent, and back.
use super::algebra::Arith;
use super::exponential::{exp_of_sum, ln2};
use super::logarithm::{Parts, split};

/// `(log((1 + u/2) / (1 - u/2)) - u) / u^3` in powers of `u^2`, `|u| <= 0.4`.
const LOG_TAIL: [f64; 4] = [
    0.08333332888662773,
    0.012500268613666566,
    0.0022271214697662336,
    0.00047067303500670675,
];

/// `(log((1 + u/2) / (1 - u/2)) - u - u^3/12) / u^5` in powers of `u^2`, `|u| <= 0.3432`.
const LOG_TAIL_DOUBLE: [f64; 8] = [
    0.0125,
    0.00223214285714292,
    0.00043402777776661275,
    8.877840984615851e-05,
    1.8780023015139934e-05,
    4.069461115960032e-06,
    8.931044473584626e-07,
    2.236277649287236e-07,
];

/// `a + b` and what the sum lost, for `|a| >= |b|` or `a = 0`.
fn sum<A: Arith>(a: &A, x: A::F, y: A::F) -> (A::F, A::F) {
    let s = a.add(x, y);
    (s, a.sub(y, a.sub(s, x)))
}

/// `log x` of a positive finite number, in two parts.
fn log_in_two<A: Arith>(a: &A, x: A::F) -> (A::F, A::F) {
    let Parts { f, e, .. } = split(a, x);
    // u = 2 f / (2 + f), with what the quotient lost.
    let reciprocal = a.div(a.f(1.0), a.add(f, a.f(2.0)));
    let u = a.mul(a.add(f, f), reciprocal);
    let rest = a.sub(f, u);
    let rest = a.fma(a.neg(u), f, a.add(rest, rest));
    let low = a.mul(rest, reciprocal);
    let (u, low) = if a.bits() == 32 {
        let square = a.mul(u, u);
        let tail = a.mul(a.mul(u, square), a.polynomial(square, &LOG_TAIL));
        (u, a.add(low, tail))
    } else {
        with_tail(a, u, low)
    };
    let (ln2_high, ln2_low) = ln2(a);
    // e ln(2) is exact in its first part; the larger summand comes first.
    let power = a.mul(e, ln2_high);
    let zero = a.eq(e, a.f(0.0));
    let (high, lost) = sum(a, a.select(zero, u, power), a.select(zero, a.f(0.0), u));
    let low = a.add(lost, a.fma(e, ln2_low, low));
    sum(a, high, low)
}

/// `u + u^3/12 + u^5 (...)` in two parts, of a `u` in two parts: the cube too needs two.
fn with_tail<A: Arith>(a: &A, u: A::F, u_low: A::F) -> (A::F, A::F) {
    let twice = a.add(u, u);
    let square = a.mul(u, u);
    let square_low = a.fma(twice, u_low, a.fma(u, u, a.neg(square)));
    let cube = a.mul(square, u);
    let cube_low = a.fma(square, u, a.neg(cube));
    let cube_low = a.fma(square, u_low, a.fma(square_low, u, cube_low));
    let (twelfth, twelfth_low) = (a.f(1.0 / 12.0), a.f(4.625929269271485e-18));
    let third = a.mul(cube, twelfth);
    let third_low = a.fma(cube, twelfth, a.neg(third));
    let third_low = a.fma(cube_low, twelfth, a.fma(cube, twelfth_low, third_low));
    let rest = a.mul(a.mul(cube, square), a.polynomial(square, &LOG_TAIL_DOUBLE));
    let (high, lost) = sum(a, u, third);
    (high, a.add(a.add(lost, u_low), a.add(third_low, rest)))
}

/// Whether a number is an integer, and whether it is odd.
fn integer<A: Arith>(a: &A, y: A::F) -> (A::B, A::B) {
    let whole = a.eq(a.trunc(y), y);
    let half = a.mul(y, a.f(0.5));
    (whole, a.both(whole, a.ne(a.trunc(half), half)))
}

/// `x^y`
pub fn powf<A: Arith>(a: &A, x: A::F, y: A::F) -> A::F {
    raise(a, x, y, None)
}

/// `x^(y + y_low)`, where `y_low` is small beside `y`.
fn raise<A: Arith>(a: &A, x: A::F, y: A::F, y_low: Option<A::F>) -> A::F {
    let (zero, one, infinity) = (a.f(0.0), a.f(1.0), a.f(f64::INFINITY));
    let size = a.abs(x);
    let (high, low) = log_in_two(a, size);
    // The product in two parts; far beyond the limits its second part is no number.
    let product = a.mul(high, y);
    let rest = a.fma(high, y, a.neg(product));
    let rest = a.fma(low, y, rest);
    let rest = y_low.map_or(rest, |y_low| a.fma(high, y_low, rest));
    let rest = a.select(a.lt(a.abs(product), a.by_width(200.0, 1000.0)), rest, zero);
    let power = exp_of_sum(a, product, rest);

    // Zero and infinity, to a positive or a negative power.
    let shrinks = a.lt(y, zero);
    let of_zero = a.select(shrinks, infinity, zero);
    let of_infinity = a.select(shrinks, zero, infinity);
    let power = a.select(a.eq(size, zero), of_zero, power);
    let power = a.select(a.eq(size, infinity), of_infinity, power);
    // An infinite exponent: towards zero or infinity by which side of 1 the base is.
    let endless = a.eq(a.abs(y), infinity);
    let above = a.lt(one, size);
    let grown = a.select(above, of_infinity, of_zero);
    let grown = a.select(a.eq(size, one), one, grown);
    let power = a.select(endless, grown, power);

    let (whole, odd) = integer(a, y);
    let negative = a.ilt(a.to_bits(x), a.i(0));
    let power = a.select(a.both(negative, odd), a.neg(power), power);
    // A negative finite base has powers of integers only; every infinite exponent is one.
    let base = a.both(a.lt(x, zero), a.lt(size, infinity));
    let power = a.select(whole, power, a.select(base, a.f(f64::NAN), power));
    let power = a.select(a.either(a.is_nan(x), a.is_nan(y)), a.add(x, y), power);
    let trivial = a.either(a.eq(y, zero), a.eq(x, one));
    a.select(trivial, one, power)
}

/// `x^n` for an integer `n`, given as a number, what that lost if it was rounded, and whether it is odd, which is not seen
/// there any more.
pub fn power_of_integer<A: Arith>(a: &A, x: A::F, n: A::F, lost: Option<A::F>, odd: A::B) -> A::F {
    let power = raise(a, a.abs(x), n, lost);
    let negative = a.ilt(a.to_bits(x), a.i(0));
    a.select(a.both(negative, odd), a.neg(power), power)
}

/// The cube root.
pub fn cbrt<A: Arith>(a: &A, x: A::F) -> A::F {
    let size = a.abs(x);
    let smallest = a.by_width(f64::from(f32::MIN_POSITIVE), f64::MIN_POSITIVE);
    let subnormal = a.lt(size, smallest);
    // Powers of eight keep cubes, and their sums below, within the normal numbers.
    let (up, down) = (
        a.by_width(2f64.powi(24), 2f64.powi(54)),
        a.by_width(2f64.powi(-24), 2f64.powi(-54)),
    );
    let huge = a.lt(a.by_width(2f64.powi(110), 2f64.powi(1000)), size);
    let m = a.select(subnormal, a.mul(size, up), size);
    let m = a.select(huge, a.mul(size, down), m);
    // A third of the exponent, then Halley's iteration, which cubes the error.
    let third = third_of_bits(a, a.to_bits(m));
    let mut y = a.of_bits(third);
    let rounds = if a.bits() == 32 { 2 } else { 3 };
    for _ in 0..rounds {
        let cube = a.mul(a.mul(y, y), y);
        let over = a.sub(cube, m);
        let under = a.add(a.add(cube, cube), m);
        y = a.fma(a.neg(y), a.div(over, under), y);
    }
    // One step of Newton with the residual of the exact cube's first part.
    let square = a.mul(y, y);
    let square_low = a.fma(y, y, a.neg(square));
    let cube = a.mul(square, y);
    let cube_low = a.fma(square_low, y, a.fma(square, y, a.neg(cube)));
    let over = a.add(a.sub(cube, m), cube_low);
    y = a.fma(a.div(over, a.mul(a.f(-3.0), square)), a.f(1.0), y);
    let (raise, drop) = (
        a.by_width(2f64.powi(8), 2f64.powi(18)),
        a.by_width(2f64.powi(-8), 2f64.powi(-18)),
    );
    let result = a.select(subnormal, a.mul(y, drop), y);
    let result = a.copysign(a.select(huge, a.mul(y, raise), result), x);
    // Zero, infinity and NaN are their own.
    let ordinary = a.both(a.lt(a.f(0.0), size), a.lt(size, a.f(f64::INFINITY)));
    a.select(ordinary, result, x)
}

/// Bits of a number whose exponent is a third of that of a positive number.
fn third_of_bits<A: Arith>(a: &A, bits: A::I) -> A::I {
    // bits / 3 by the reciprocal in fixed point; the constant centres the error.
    if a.bits() == 32 {
        let (_, high) = a.mul_wide(bits, a.i(0x5555_5556));
        a.iadd(high, a.i(709_958_130))
    } else {
        let (_, high) = a.mul_wide(bits, a.i(0x5555_5555_5555_5556));
        a.iadd(high, a.i(0x2a9f_7893_0000_0000))
    }
}

/// `1 / sqrt(x)`: a root and a quotient, each rounded.
pub fn rsqrt<A: Arith>(a: &A, x: A::F) -> A::F {
    a.div(a.f(1.0), a.sqrt(x))
}
