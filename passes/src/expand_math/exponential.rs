//! `exp`, `exp2`, `expm1`: a power of two times a polynomial on half a unit around zero.
use super::algebra::{Approximate, Arith};

/// `(e^r - 1 - r) / r^2` for `|r| <= ln(2)/2`, minimax.
const EXP_SINGLE: [f64; 6] = [
    0.5000000078049711,
    0.1666666686305542,
    0.04166626913399643,
    0.008333263897912705,
    0.001394614299290266,
    0.00019918607144007002,
];
const EXP_DOUBLE: [f64; 11] = [
    0.5,
    0.16666666666666685,
    0.04166666666666673,
    0.008333333333316666,
    0.0013888888888858365,
    0.00019841269897265872,
    2.4801587373872256e-05,
    2.755723401100429e-06,
    2.7557233263783763e-07,
    2.511232373928763e-08,
    2.092696919004566e-09,
];

/// `ln(2)` in two parts of the number's width, the first of which has zeros at its end.
pub fn ln2<A: Arith>(a: &A) -> (A::F, A::F) {
    (
        a.by_width(0.693145751953125, 0.6931471803691238),
        a.by_width(1.428606765330187e-06, 1.9082149292705877e-10),
    )
}

/// The nearest integer `n` to a number, and bits of which the low ones are `n + plus`.
fn whole<A: Arith>(a: &A, x: A::F, plus: i64) -> (A::F, A::I) {
    let mover = a.mover(plus);
    let moved = a.add(x, mover);
    (a.sub(moved, mover), a.to_bits(moved))
}

/// `x` without its whole multiples of `ln(2)`, and how many those are, as [`whole`] gives it. Numbers are kept to where the
/// result has its limits, the lower of which is given.
fn reduce<A: Arith>(a: &A, x: A::F, low: A::F, plus: i64) -> (A::F, A::I) {
    let high = a.by_width(120.0, 800.0);
    let x = a.select(a.lt(x, low), low, x);
    let x = a.select(a.lt(high, x), high, x);
    let (n, moved) = whole(a, a.mul(x, a.f(std::f64::consts::LOG2_E)), plus);
    let (ln2_high, ln2_low) = ln2(a);
    let r = a.fma(a.neg(n), ln2_high, x);
    (a.fma(a.neg(n), ln2_low, r), moved)
}

/// What [`reduce`] gives for [`scale`].
fn reduce_to_scale<A: Arith>(a: &A, x: A::F) -> (A::F, A::I) {
    reduce(a, x, a.by_width(-120.0, -800.0), 2 * a.bias())
}

/// `e^r - 1` for `|r| <= ln(2)/2`.
fn small_minus_one<A: Arith>(a: &A, r: A::F) -> A::F {
    let q = a.polynomial(r, if a.bits() == 32 { &EXP_SINGLE } else { &EXP_DOUBLE });
    a.fma(a.mul(r, r), q, r)
}

/// `p 2^n`, rounded once, for `p` near 1 and `n` up to twice what an exponent holds. The low bits of `moved` are `n` and two
/// biases, one for each half.
fn scale<A: Arith>(a: &A, p: A::F, moved: A::I) -> A::F {
    let half = a.isar(moved, a.i(1));
    let rest = a.isub(moved, half);
    a.mul(a.mul(p, a.power_of_two(half)), a.power_of_two(rest))
}

/// `e^x`
pub fn exp<A: Arith>(a: &A, x: A::F) -> A::F {
    exp_times_power(a, x, 0)
}

/// `e^x 2^shift`, which may be finite where `e^x` is not.
pub fn exp_times_power<A: Arith>(a: &A, x: A::F, shift: i64) -> A::F {
    let (r, n) = reduce_to_scale(a, x);
    let p = a.add(a.f(1.0), small_minus_one(a, r));
    let n = if shift == 0 { n } else { a.iadd(n, a.i(shift)) };
    scale(a, p, n)
}

/// `e^(x + low)` for a small `low`, which a product of two parts gives.
pub fn exp_of_sum<A: Arith>(a: &A, x: A::F, low: A::F) -> A::F {
    let (r, n) = reduce_to_scale(a, x);
    let p = small_minus_one(a, r);
    let p = a.fma(low, a.add(a.f(1.0), p), p);
    scale(a, a.add(a.f(1.0), p), n)
}

/// `2^x`
pub fn exp2<A: Arith>(a: &A, x: A::F) -> A::F {
    let low = a.by_width(-180.0, -1200.0);
    let high = a.by_width(180.0, 1200.0);
    let x = a.select(a.lt(x, low), low, x);
    let x = a.select(a.lt(high, x), high, x);
    let (integer, n) = whole(a, x, 2 * a.bias());
    let f = a.sub(x, integer);
    // f ln(2) in two parts.
    let ln2_high = a.f(std::f64::consts::LN_2);
    let ln2_low = a.by_width(-1.9046542121259336e-09, 2.3190468138462996e-17);
    let r = a.mul(f, ln2_high);
    let low = a.fma(f, ln2_low, a.fma(f, ln2_high, a.neg(r)));
    let p = small_minus_one(a, r);
    let p = a.add(p, low);
    scale(a, a.add(a.f(1.0), p), n)
}

/// `e^x - 1`
pub fn expm1<A: Arith>(a: &A, x: A::F) -> A::F {
    // (2^n - 1) + 2^n p, halved so that the power does not overflow before the result does. Below the limit nothing is left
    // beside 1.
    let (r, exponent) = reduce(a, x, a.by_width(-42.0, -84.0), a.bias() - 1);
    let p = small_minus_one(a, r);
    let power = a.power_of_two(exponent);
    let sum = a.fma(power, p, a.sub(power, a.f(0.5)));
    let result = a.add(sum, sum);
    // Below the precision of 1 the number itself is nearest, the sign of zero included.
    let tiny = a.lt(a.abs(x), a.by_width(1e-8, 1e-17));
    let result = a.select(tiny, x, result);
    // The largest x whose power of two is a number still.
    a.select(a.lt(a.by_width(88.8, 709.8), x), a.f(f64::INFINITY), result)
}

/// `e^x` through the hardware's `ex2.approx`.
pub fn exp_fast<A: Arith>(a: &A, x: A::F) -> A::F {
    a.approximate(Approximate::Exp2, a.mul(x, a.f(std::f64::consts::LOG2_E)))
}
