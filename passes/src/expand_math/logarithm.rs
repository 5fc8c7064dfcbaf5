//! `log`, `log2`, `log10`, `log1p`: the exponent times a constant, plus the logarithm of a number near 1.
use super::algebra::{Approximate, Arith};
use std::f64::consts::{LN_2, LN_10, LOG2_E, LOG10_2, LOG10_E};

/// `(log(1 + f) - f + f^2 / 2) / f^3` for `|f| <= 1/3`, minimax.
const LOG_SINGLE: [f64; 9] = [
    0.33333338705186777,
    -0.24999819919292943,
    0.1999930830082979,
    -0.16679593303557186,
    0.1431278703704088,
    -0.12195579266010517,
    0.10661831021016928,
    -0.12845894471025016,
    0.12356507406754354,
];
/// `(log((1 + s) / (1 - s)) - 2 s) / s^3` in powers of `s^2`, minimax for numbers from 1/sqrt(2) to sqrt(2).
const LOG_DOUBLE: [f64; 7] = [
    0.6666666666666733,
    0.3999999999942129,
    0.28571428741134464,
    0.22222198687035194,
    0.18183558960332802,
    0.1531417110135719,
    0.1479476829313237,
];

/// A positive number as `(1 + f) 2^e`: `f`, `e` as an integer and as a number. Subnormals are scaled first.
pub struct Parts<A: Arith> {
    pub f: A::F,
    pub e: A::F,
    pub n: A::I,
}

/// Splits a number that is neither zero nor negative nor infinite.
pub fn split<A: Arith>(a: &A, x: A::F) -> Parts<A> {
    let fraction = a.fraction_bits();
    let smallest = a.by_width(f64::from(f32::MIN_POSITIVE), f64::MIN_POSITIVE);
    let subnormal = a.lt(x, smallest);
    let lift = 2f64.powi(fraction as i32);
    let x = a.select(subnormal, a.mul(x, a.f(lift)), x);
    let lifted = a.select_int(subnormal, a.i(fraction), a.i(0));
    // Where the significand's range begins: 2/3, or 1/sqrt(2).
    let begin = if a.bits() == 32 {
        i64::from((2.0f32 / 3.0).to_bits())
    } else {
        std::f64::consts::FRAC_1_SQRT_2.to_bits() as i64
    };
    let above = a.isub(a.to_bits(x), a.i(begin));
    let n = a.isar(above, a.i(fraction));
    let m = a.of_bits(a.isub(a.to_bits(x), a.ishl(n, a.i(fraction))));
    let n = a.isub(n, lifted);
    Parts {
        f: a.sub(m, a.f(1.0)),
        e: a.to_float(n),
        n,
    }
}

/// `log(1 + f) - f` for `f` as [`split`] gives it; the difference is small beside `f`.
fn tail<A: Arith>(a: &A, f: A::F) -> A::F {
    let square = a.mul(f, f);
    if a.bits() == 32 {
        let p = a.polynomial(f, &LOG_SINGLE);
        return a.mul(square, a.fma(p, f, a.f(-0.5)));
    }
    // log(1 + f) = f - f^2/2 + s (f^2/2 + s^2 R), s = f / (2 + f)
    let s = a.div(f, a.add(a.f(2.0), f));
    let z = a.mul(s, s);
    let half = a.mul(a.f(0.5), square);
    let r = a.mul(z, a.polynomial(z, &LOG_DOUBLE));
    a.sub(a.mul(s, a.add(half, r)), half)
}

/// Zero, negative numbers, infinity and NaN, where `result` is for the others.
fn special<A: Arith>(a: &A, x: A::F, result: A::F) -> A::F {
    let infinity = a.f(f64::INFINITY);
    let result = a.select(a.lt(x, infinity), result, x);
    let result = a.select(a.lt(x, a.f(0.0)), a.f(f64::NAN), result);
    a.select(a.eq(x, a.f(0.0)), a.f(f64::NEG_INFINITY), result)
}

/// `e high + (f + tail) factor`, with both constants in two parts.
fn assemble<A: Arith>(a: &A, f: A::F, tail: A::F, e: A::F, power: (A::F, A::F), factor: (A::F, A::F)) -> A::F {
    // f times the factor, in two parts, then what is small.
    let head = a.mul(f, factor.0);
    let low = a.fma(f, factor.0, a.neg(head));
    let low = a.fma(f, factor.1, low);
    let low = a.fma(tail, factor.0, low);
    let low = a.fma(e, power.1, low);
    a.fma(e, power.0, a.add(low, head))
}

/// `log x`
pub fn log<A: Arith>(a: &A, x: A::F) -> A::F {
    let Parts { f, e, .. } = split(a, x);
    let high = a.by_width(0.693145751953125, 0.6931471803691238);
    let low = a.by_width(1.428606765330187e-06, 1.9082149292705877e-10);
    let sum = a.add(f, a.fma(e, low, tail(a, f)));
    special(a, x, a.fma(e, high, sum))
}

/// `log2 x`
pub fn log2<A: Arith>(a: &A, x: A::F) -> A::F {
    let Parts { f, e, .. } = split(a, x);
    let factor = (a.f(LOG2_E), a.by_width(1.925963033500011e-08, 2.0355273740931033e-17));
    let result = assemble(a, f, tail(a, f), e, (a.f(1.0), a.f(0.0)), factor);
    special(a, x, result)
}

/// `log10 x`
pub fn log10<A: Arith>(a: &A, x: A::F) -> A::F {
    let Parts { f, e, .. } = split(a, x);
    let power = (
        a.f(LOG10_2),
        a.by_width(-1.432098883924482e-08, -2.8037281277851704e-18),
    );
    let factor = (a.f(LOG10_E), a.by_width(-1.0103049952192578e-08, 1.098319650216765e-17));
    let result = assemble(a, f, tail(a, f), e, power, factor);
    special(a, x, result)
}

/// `log (1 + x)`
pub fn log1p<A: Arith>(a: &A, x: A::F) -> A::F {
    let one = a.f(1.0);
    let sum = a.add(one, x);
    // What the sum lost, whichever is larger.
    let lost = a.select(
        a.lt(one, a.abs(x)),
        a.sub(one, a.sub(sum, x)),
        a.sub(x, a.sub(sum, one)),
    );
    let Parts { f, e, n } = split(a, sum);
    // The loss as a part of the significand.
    let correction = a.mul(lost, negative_power_of_two(a, n));
    // With n = 0 the significand's f is off by the loss, and log is flat enough near 1 for a linear term.
    let relative = a.div(correction, a.add(one, f));
    let high = a.by_width(0.693145751953125, 0.6931471803691238);
    let low = a.by_width(1.428606765330187e-06, 1.9082149292705877e-10);
    let small = a.add(tail(a, f), relative);
    let result = a.fma(e, high, a.add(f, a.fma(e, low, small)));
    let result = special(a, sum, result);
    a.select(a.lt(a.abs(x), a.by_width(1e-8, 1e-17)), x, result)
}

/// `2^-n`, or the smallest normal number.
fn negative_power_of_two<A: Arith>(a: &A, n: A::I) -> A::F {
    let most = a.i(a.bias() - 1);
    let n = a.select_int(a.ilt(most, n), most, n);
    a.power_of_two(a.isub(a.i(a.bias()), n))
}

/// `log x` through the hardware's `lg2.approx`.
pub fn log_fast<A: Arith>(a: &A, x: A::F) -> A::F {
    a.mul(a.approximate(Approximate::Log2, x), a.f(LN_2))
}

/// `log10 x` through the hardware's `lg2.approx`.
pub fn log10_fast<A: Arith>(a: &A, x: A::F) -> A::F {
    a.mul(a.approximate(Approximate::Log2, x), a.f(LN_2 / LN_10))
}
