//! `erf` and `erfc`, in single precision.
use super::algebra::Arith;
use super::exponential::{exp, exp_of_sum};

/// `erf x / x - 1` in powers of `x^2`, `|x| <= 1`.
const ERF: [f64; 7] = [
    0.12837916591465431,
    -0.37612627140440547,
    0.11283600211815889,
    -0.026854445581508075,
    0.005189536461939261,
    -0.0008020845698406905,
    7.889119157487838e-05,
];
/// `log (erfc x)`, precise where `erfc x` is large beside the precision of 1, for `1 <= x <= 4`.
const LOG_ERFC: [f64; 9] = [
    0.00027790735203208445,
    -1.1300394641211395,
    -0.6322047599228622,
    -0.10967038030798756,
    0.02615299814135742,
    -0.004651044135965111,
    0.0005702825548603373,
    -4.248254535060245e-05,
    1.4334117046252338e-06,
];
/// `(1 + 2 x) e^(x^2) erfc x` in powers of `(x - 4) / (x + 4)`, `0 <= x <= 10.2`.
const SCALED_ERFC: [f64; 11] = [
    1.23299513496157,
    -0.13962106651419368,
    0.015377410454886815,
    0.06809335694499666,
    -0.1009920424626497,
    0.0938211319003426,
    -0.06662305188505781,
    0.036423360539281434,
    -0.015937939664361106,
    0.006966340831891303,
    0.0008635957602653192,
];

/// `erf x` for `|x| <= 1`.
fn erf_unit<A: Arith>(a: &A, x: A::F) -> A::F {
    a.fma(x, a.polynomial(a.mul(x, x), &ERF), x)
}

/// `erf x`
pub fn erf<A: Arith>(a: &A, x: A::F) -> A::F {
    let size = a.abs(x);
    let small = erf_unit(a, x);
    let kept = a.select(a.lt(a.f(4.0), size), a.f(4.0), size);
    let large = a.sub(a.f(1.0), exp(a, a.polynomial(kept, &LOG_ERFC)));
    let result = a.select(a.le(size, a.f(1.0)), small, a.copysign(large, x));
    a.select(a.is_nan(x), x, result)
}

/// `erfc x`
pub fn erfc<A: Arith>(a: &A, x: A::F) -> A::F {
    let size = a.abs(x);
    let kept = a.select(a.lt(a.f(10.2), size), a.f(10.2), size);
    let t = a.div(a.sub(kept, a.f(4.0)), a.add(kept, a.f(4.0)));
    let scaled = a.polynomial(t, &SCALED_ERFC);
    // e^(-x^2) from the square in two parts.
    let square = a.mul(kept, kept);
    let low = a.fma(kept, kept, a.neg(square));
    let power = exp_of_sum(a, a.neg(square), a.neg(low));
    let quotient = a.div(scaled, a.fma(a.f(2.0), kept, a.f(1.0)));
    let right = a.mul(power, quotient);
    let right = a.select(a.lt(a.f(10.1), size), a.f(0.0), right);
    let result = a.select(a.lt(x, a.f(0.0)), a.sub(a.f(2.0), right), right);
    let result = a.select(a.lt(size, a.f(0.5)), a.sub(a.f(1.0), erf_unit(a, x)), result);
    a.select(a.is_nan(x), x, result)
}
