//! `sinh`, `cosh`, `tanh` and their inverses.
use super::algebra::Arith;
use super::exponential::{exp_times_power, expm1};
use super::logarithm::{log, log1p};
use std::f64::consts::LN_2;

/// `sinh x`
pub fn sinh<A: Arith>(a: &A, x: A::F) -> A::F {
    let size = a.abs(x);
    // (e + e / (e + 1)) / 2 with e = e^x - 1; where 1 no longer counts, half the power.
    let e = expm1(a, size);
    let small = a.mul(a.f(0.5), a.add(e, a.div(e, a.add(e, a.f(1.0)))));
    let large = exp_times_power(a, size, -1);
    let result = a.select(a.lt(size, a.by_width(16.0, 32.0)), small, large);
    a.select(a.is_nan(x), x, a.copysign(result, x))
}

/// `cosh x`
pub fn cosh<A: Arith>(a: &A, x: A::F) -> A::F {
    let half = exp_times_power(a, a.abs(x), -1);
    a.add(half, a.div(a.f(0.25), half))
}

/// `tanh x`
pub fn tanh<A: Arith>(a: &A, x: A::F) -> A::F {
    let size = a.abs(x);
    // e / (e + 2) with e = e^2x - 1, and 1 - 2 / (e + 2) where e is not small.
    let limit = a.by_width(20.0, 40.0);
    let kept = a.select(a.lt(limit, size), limit, size);
    let e = expm1(a, a.add(kept, kept));
    let sum = a.add(e, a.f(2.0));
    let small = a.div(e, sum);
    let large = a.sub(a.f(1.0), a.div(a.f(2.0), sum));
    let result = a.select(a.lt(size, a.f(0.55)), small, large);
    a.select(a.is_nan(x), x, a.copysign(result, x))
}

/// `asinh x`
pub fn asinh<A: Arith>(a: &A, x: A::F) -> A::F {
    let size = a.abs(x);
    let square = a.mul(size, size);
    let root = a.sqrt(a.add(a.f(1.0), square));
    let inner = log1p(a, a.add(size, a.div(square, a.add(a.f(1.0), root))));
    let outer = a.add(log(a, size), a.f(LN_2));
    let result = a.select(a.lt(size, a.by_width(1e4, 1e8)), inner, outer);
    a.select(a.is_nan(x), x, a.copysign(result, x))
}

/// `acosh x`
pub fn acosh<A: Arith>(a: &A, x: A::F) -> A::F {
    let t = a.sub(x, a.f(1.0));
    let inner = log1p(a, a.add(t, a.sqrt(a.fma(t, t, a.add(t, t)))));
    let outer = a.add(log(a, x), a.f(LN_2));
    let result = a.select(a.lt(x, a.by_width(1e4, 1e8)), inner, outer);
    a.select(a.lt(x, a.f(1.0)), a.f(f64::NAN), result)
}

/// `atanh x`
pub fn atanh<A: Arith>(a: &A, x: A::F) -> A::F {
    let size = a.abs(x);
    let ratio = a.div(a.add(size, size), a.sub(a.f(1.0), size));
    let result = a.copysign(a.mul(a.f(0.5), log1p(a, ratio)), x);
    a.select(a.le(size, a.f(1.0)), result, a.f(f64::NAN))
}
