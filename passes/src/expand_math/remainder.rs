//! `arith.remf`: C's `fmod`, exact.
use super::algebra::Arith;

/// `x - y trunc(x / y)`, exact, with the sign of `x`.
pub fn remainder<A: Arith>(a: &A, x: A::F, y: A::F) -> A::F {
    let (ax, ay) = (a.abs(x), a.abs(y));
    let bits = a.fraction_bits() as i32;
    // A quotient this small is exact once it is corrected by one.
    let easy = a.lt(ax, a.mul(ay, a.f(2f64.powi(bits - 1))));
    let [r] = a.branch(
        easy,
        |a| [step(a, ax, ay)],
        |a| {
            // From the largest multiple of y by a power of two that matters, downwards.
            let stride = i64::from(bits - 1);
            let most = (2 * a.bias() + a.fraction_bits()) / stride + 1;
            let mut r = ax;
            for i in (0..most).rev() {
                let multiple = multiple(a, ay, i * stride);
                let below = a.lt(r, multiple);
                let next = step(a, r, multiple);
                r = a.select(below, r, next);
            }
            [r]
        },
    );
    let r = a.copysign(r, x);
    let fine = a.both(a.lt(ax, a.f(f64::INFINITY)), a.lt(a.f(0.0), ay));
    let r = a.select(a.lt(ax, ay), x, r);
    let r = a.select(fine, r, a.f(f64::NAN));
    a.select(a.either(a.is_nan(x), a.is_nan(y)), a.add(x, y), r)
}

/// `x` without its whole multiples of `y`, for a quotient below the precision.
fn step<A: Arith>(a: &A, x: A::F, y: A::F) -> A::F {
    let q = a.trunc(a.div(x, y));
    let r = a.fma(a.neg(q), y, x);
    // The quotient may have been rounded up to the next integer.
    let r = a.select(a.lt(r, a.f(0.0)), a.add(r, y), r);
    a.select(a.lt(r, y), r, a.sub(r, y))
}

/// `y 2^n`, by factors that are numbers.
fn multiple<A: Arith>(a: &A, y: A::F, n: i64) -> A::F {
    let (mut y, mut left) = (y, n);
    while left > 0 {
        let now = left.min(a.bias());
        y = a.mul(y, a.f(2f64.powi(now as i32)));
        left -= now;
    }
    y
}
