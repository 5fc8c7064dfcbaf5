//! `erf` and `erfc`.
use super::algebra::Arith;
use super::exponential::{exp, exp_of_sum};

/// `erf x / x - 1` in powers of `x^2`, `|x| <= 1`.
const ERF_SINGLE: [f64; 7] = [
    0.12837916591465431,
    -0.37612627140440547,
    0.11283600211815889,
    -0.026854445581508075,
    0.005189536461939261,
    -0.0008020845698406905,
    7.889119157487838e-05,
];
const ERF_DOUBLE: [f64; 13] = [
    0.1283791670955126,
    -0.3761263890318375,
    0.11283791670954885,
    -0.026866170645077875,
    0.005223977624828431,
    -0.0008548326981425542,
    0.0001205533113295582,
    -1.4925595772180906e-05,
    1.64610084778027e-06,
    -1.6350396222864617e-07,
    1.466032872274226e-08,
    -1.137495573607015e-09,
    5.960685338520971e-11,
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
const SCALED_ERFC_SINGLE: [f64; 11] = [
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
/// The same for `0 <= x <= 27.3`.
const SCALED_ERFC_DOUBLE: [f64; 23] = [
    1.2329951186255526,
    -0.13962111684056283,
    0.015379652102620274,
    0.0680970542547322,
    -0.10103906603633005,
    0.09373283499695503,
    -0.0663303658119127,
    0.037167515560161,
    -0.016197734056021686,
    0.005031969774444079,
    -0.0007577733534033967,
    -0.00019925559516320265,
    0.00015062225899364106,
    -2.440291687994268e-05,
    -1.122474453273899e-05,
    5.717451193945626e-06,
    3.011560730777147e-07,
    -8.34743584179526e-07,
    6.298915912096085e-08,
    1.1517190140819925e-07,
    -7.880557527579025e-09,
    -1.3662402918866395e-08,
    -1.7988459336675206e-09,
];

/// `erf x` for `|x| <= 1`.
fn erf_unit<A: Arith>(a: &A, x: A::F) -> A::F {
    let coefficients: &[f64] = if a.bits() == 32 { &ERF_SINGLE } else { &ERF_DOUBLE };
    a.fma(x, a.polynomial(a.mul(x, x), coefficients), x)
}

/// `erf x`
pub fn erf<A: Arith>(a: &A, x: A::F) -> A::F {
    let size = a.abs(x);
    let small = erf_unit(a, x);
    let rest = if a.bits() == 32 {
        let kept = a.select(a.lt(a.f(4.0), size), a.f(4.0), size);
        exp(a, a.polynomial(kept, &LOG_ERFC))
    } else {
        erfc_positive(a, size)
    };
    let large = a.sub(a.f(1.0), rest);
    let result = a.select(a.le(size, a.f(1.0)), small, a.copysign(large, x));
    a.select(a.is_nan(x), x, result)
}

/// `erfc x` for `x >= 1/2`.
fn erfc_positive<A: Arith>(a: &A, x: A::F) -> A::F {
    let most = a.by_width(10.2, 27.3);
    let kept = a.select(a.lt(most, x), most, x);
    let t = a.div(a.sub(kept, a.f(4.0)), a.add(kept, a.f(4.0)));
    let coefficients: &[f64] = if a.bits() == 32 {
        &SCALED_ERFC_SINGLE
    } else {
        &SCALED_ERFC_DOUBLE
    };
    let scaled = a.polynomial(t, coefficients);
    // e^(-x^2) from the square in two parts.
    let square = a.mul(kept, kept);
    let low = a.fma(kept, kept, a.neg(square));
    let power = exp_of_sum(a, a.neg(square), a.neg(low));
    let quotient = a.div(scaled, a.fma(a.f(2.0), kept, a.f(1.0)));
    let result = a.mul(power, quotient);
    a.select(a.lt(a.by_width(10.1, 27.25), x), a.f(0.0), result)
}

/// `erfc x`
pub fn erfc<A: Arith>(a: &A, x: A::F) -> A::F {
    let size = a.abs(x);
    let right = erfc_positive(a, size);
    let result = a.select(a.lt(x, a.f(0.0)), a.sub(a.f(2.0), right), right);
    let result = a.select(a.lt(size, a.f(0.5)), a.sub(a.f(1.0), erf_unit(a, x)), result);
    a.select(a.is_nan(x), x, result)
}
