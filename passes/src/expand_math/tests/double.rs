//! Double precision against numbers of 192 bits.
use super::super::{algebra::Arith, error_function, exponential, hyperbolic, logarithm, power, trigonometric};
use super::host::Double;
use astro_float::{BigFloat, Consts, RoundingMode::ToEven};

const P: usize = 192;

fn big(x: f64) -> BigFloat {
    BigFloat::from_f64(x, P)
}

/// Units in the last place between a finite result and the exact value.
fn error(found: f64, exact: &BigFloat) -> f64 {
    let as_f64 = |b: &BigFloat| b.to_string().parse::<f64>().unwrap_or(f64::NAN);
    let near = as_f64(exact);
    if near.is_infinite() || near.is_nan() || near == 0.0 && found == 0.0 {
        return if near == found || near.is_nan() && found.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    let exponent = (near.abs().to_bits() >> 52).clamp(1, 2046) as i32;
    // In two steps: the unit of the smallest numbers is subnormal.
    let difference = big(found)
        .sub(exact, P, ToEven)
        .mul(&big(2f64.powi(1023 - exponent)), P, ToEven);
    (as_f64(&difference) * 2f64.powi(52)).abs()
}

/// `erf x` by its series of terms of one sign, for numbers up to about 6.
fn erf(x: &BigFloat, c: &mut Consts) -> BigFloat {
    let square = x.mul(x, P, ToEven);
    let (mut term, mut sum) = (x.clone(), x.clone());
    for n in 1..260 {
        term = term
            .mul(&square, P, ToEven)
            .mul(&big(2.0), P, ToEven)
            .div(&big(f64::from(2 * n + 1)), P, ToEven);
        sum = sum.add(&term, P, ToEven);
    }
    let power = square.neg().exp(P, ToEven, c);
    let root = c.pi(P, ToEven).sqrt(P, ToEven);
    sum.mul(&power, P, ToEven)
        .mul(&big(2.0), P, ToEven)
        .div(&root, P, ToEven)
}

/// `erfc x`, beyond 3 by its continued fraction.
fn erfc(x: &BigFloat, c: &mut Consts) -> BigFloat {
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

type Exact = fn(&BigFloat, &mut Consts) -> BigFloat;
type Row = (&'static str, fn(f64) -> f64, Exact, (f64, f64), f64);

// Subnormal results are left to single precision, which goes the same way.
const FUNCTIONS: [Row; 27] = [
    (
        "exp",
        |x| exponential::exp(&Double, x),
        |x, c| x.exp(P, ToEven, c),
        (-708.0, 709.0),
        1.0,
    ),
    (
        "exp2",
        |x| exponential::exp2(&Double, x),
        |x, c| BigFloat::from_f64(2.0, P).pow(x, P, ToEven, c),
        (-1022.0, 1023.0),
        1.5,
    ),
    (
        "expm1",
        |x| exponential::expm1(&Double, x),
        |x, c| x.exp(2 * P, ToEven, c).sub(&big(1.0), 2 * P, ToEven),
        (-40.0, 709.0),
        2.0,
    ),
    (
        "log",
        |x| logarithm::log(&Double, x),
        |x, c| x.ln(P, ToEven, c),
        (0.0, 1e3),
        1.0,
    ),
    (
        "log2",
        |x| logarithm::log2(&Double, x),
        |x, c| x.log2(P, ToEven, c),
        (0.0, 1e3),
        1.5,
    ),
    (
        "log10",
        |x| logarithm::log10(&Double, x),
        |x, c| x.log10(P, ToEven, c),
        (0.0, 1e3),
        1.5,
    ),
    (
        "log1p",
        |x| logarithm::log1p(&Double, x),
        |x, c| x.add(&big(1.0), 2 * P, ToEven).ln(2 * P, ToEven, c),
        (-1.0, 1e3),
        1.5,
    ),
    (
        "sin",
        |x| trigonometric::sin(&Double, x),
        |x, c| x.sin(P, ToEven, c),
        (-1e6, 1e6),
        2.0,
    ),
    (
        "sin of large angles",
        |x| trigonometric::sin(&Double, x),
        |x, c| x.sin(P, ToEven, c),
        (1.0, 1e305),
        2.0,
    ),
    (
        "cos",
        |x| trigonometric::cos(&Double, x),
        |x, c| x.cos(P, ToEven, c),
        (-1e6, 1e6),
        2.0,
    ),
    (
        "cos of large angles",
        |x| trigonometric::cos(&Double, x),
        |x, c| x.cos(P, ToEven, c),
        (1.0, 1e305),
        2.0,
    ),
    (
        "tan",
        |x| trigonometric::tan(&Double, x),
        |x, c| x.tan(P, ToEven, c),
        (-1e6, 1e6),
        3.5,
    ),
    (
        "tan of large angles",
        |x| trigonometric::tan(&Double, x),
        |x, c| x.tan(P, ToEven, c),
        (1.0, 1e305),
        3.5,
    ),
    (
        "asin",
        |x| trigonometric::asin(&Double, x),
        |x, c| x.asin(P, ToEven, c),
        (-1.0, 1.0),
        2.0,
    ),
    (
        "acos",
        |x| trigonometric::acos(&Double, x),
        |x, c| x.acos(P, ToEven, c),
        (-1.0, 1.0),
        1.5,
    ),
    (
        "atan",
        |x| trigonometric::atan(&Double, x),
        |x, c| x.atan(P, ToEven, c),
        (-1e3, 1e3),
        1.5,
    ),
    ("erf", |x| error_function::erf(&Double, x), erf, (-6.0, 6.5), 1.5),
    ("erfc", |x| error_function::erfc(&Double, x), erfc, (-6.0, 26.5), 3.5),
    (
        "sinh",
        |x| hyperbolic::sinh(&Double, x),
        |x, c| x.sinh(P, ToEven, c),
        (-712.0, 712.0),
        2.5,
    ),
    (
        "cosh",
        |x| hyperbolic::cosh(&Double, x),
        |x, c| x.cosh(P, ToEven, c),
        (-712.0, 712.0),
        2.0,
    ),
    (
        "tanh",
        |x| hyperbolic::tanh(&Double, x),
        |x, c| x.tanh(P, ToEven, c),
        (-30.0, 30.0),
        2.5,
    ),
    (
        "asinh",
        |x| hyperbolic::asinh(&Double, x),
        |x, c| x.asinh(P, ToEven, c),
        (-1e3, 1e3),
        3.0,
    ),
    (
        "acosh",
        |x| hyperbolic::acosh(&Double, x),
        |x, c| x.acosh(P, ToEven, c),
        (1.0, 1e3),
        3.0,
    ),
    (
        "atanh",
        |x| hyperbolic::atanh(&Double, x),
        |x, c| x.atanh(P, ToEven, c),
        (-1.0, 1.0),
        3.0,
    ),
    (
        "cbrt",
        |x| power::cbrt(&Double, x),
        |x, _| x.cbrt(P, ToEven),
        (-1e3, 1e3),
        1.0,
    ),
    ("sqrt", |x| Double.sqrt(x), |x, _| x.sqrt(P, ToEven), (0.0, 1e3), 0.5),
    (
        "rsqrt",
        |x| power::rsqrt(&Double, x),
        |x, _| big(1.0).div(&x.sqrt(P, ToEven), P, ToEven),
        (0.0, 1e3),
        1.5,
    ),
];

#[test]
fn functions_of_one_number_keep_their_bounds() {
    let mut constants = Consts::new().expect("memory");
    let mut over = vec![];
    for (name, f, exact, (low, high), bound) in FUNCTIONS {
        let mut worst = (0.0, 0.0);
        let mut state = 1u64;
        // Angles of that size take the reference long.
        let samples = if name.contains("large") { 60 } else { 900 };
        for i in 0..samples {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let unit = (state >> 11) as f64 * 2f64.powi(-53);
            // Evenly over the range, and over the exponents of numbers below 1 beside its middle.
            let x = match i % 3 {
                0 => low + (high - low) * unit,
                1 => low.max(-1.0) + (high.min(1.5) - low.max(-1.0)) * unit,
                _ => (low + (high - low) * 0.5) * 2f64.powf(-60.0 * unit),
            };
            if x <= low || x >= high {
                continue;
            }
            let e = error(f(x), &exact(&big(x), &mut constants));
            if e > worst.0 {
                worst = (e, x);
            }
        }
        println!("{name} in double precision: {:.3} at {:e}", worst.0, worst.1);
        if worst.0 > bound {
            over.push(format!("{name}: {} ulp at {:e}, bound {bound}", worst.0, worst.1));
        }
    }
    assert!(over.is_empty(), "{over:#?}");
}

/// Drawn pairs of bases and exponents whose power is an ordinary number, and of numbers of all sizes.
fn pairs() -> Vec<(f64, f64)> {
    let mut state = 7u64;
    let mut unit = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 * 2f64.powi(-53)
    };
    let mut pairs = vec![];
    for _ in 0..300 {
        let x = 2f64.powf(200.0 * unit() - 100.0);
        pairs.push((x, (1400.0 * unit() - 700.0) / x.ln()));
        let x = 0.5 + unit();
        pairs.push((x, 100.0 * unit() - 50.0));
        pairs.push((1.0 + (unit() - 0.5) * 2f64.powi(-20), 1e8 * unit()));
    }
    pairs
}

#[test]
fn powers_keep_their_bound() {
    let mut constants = Consts::new().expect("memory");
    let mut worst = (0.0, (0.0, 0.0));
    for (x, y) in pairs() {
        let exact = big(x).pow(&big(y), P, ToEven, &mut constants);
        let e = error(power::powf(&Double, x, y), &exact);
        if e > worst.0 {
            worst = (e, (x, y));
        }
    }
    println!("powf in double precision: {worst:?}");
    assert!(worst.0 <= 2.0, "{worst:?}");
}

#[test]
fn special_powers_are_those_of_c() {
    for (x, y) in super::single::pairs() {
        let (x, y) = (f64::from(x), f64::from(y));
        let (found, host) = (power::powf(&Double, x, y), x.powf(y));
        let close = (found - host).abs() <= 4.0 * f64::EPSILON * host.abs();
        let same = found.to_bits() == host.to_bits() || found.is_nan() && host.is_nan();
        assert!(
            same || close && host.is_finite() && found.is_sign_negative() == host.is_sign_negative(),
            "{x:e}^{y:e} is {host:e}, found {found:e}"
        );
    }
}

#[test]
fn powers_of_integers_keep_signs() {
    for x in [-3.0, -0.5, -0.0, 0.0, 1.0, -1.0, 7.5, f64::INFINITY, f64::NEG_INFINITY] {
        for n in -60..60 {
            let found = power::power_of_integer(&Double, x, f64::from(n), n % 2 != 0);
            let host = x.powi(n);
            let close = (found - host).abs() <= 16.0 * f64::EPSILON * host.abs();
            assert!(
                found.to_bits() == host.to_bits() || close,
                "{x}^{n} is {host:e}, found {found:e}"
            );
        }
    }
    assert!(power::power_of_integer(&Double, f64::NAN, 0.0, false) == 1.0);
}

#[test]
fn angles_of_points_keep_their_bound() {
    let mut constants = Consts::new().expect("memory");
    let mut worst = (0.0, (0.0, 0.0));
    for (x, y) in pairs() {
        for (y, x) in [(y, x), (y, -x), (x, y), (-x, y)] {
            let angle = big(y.abs())
                .div(&big(x.abs()), P, ToEven)
                .atan(P, ToEven, &mut constants);
            let angle = if x < 0.0 {
                constants.pi(P, ToEven).sub(&angle, P, ToEven)
            } else {
                angle
            };
            let exact = if y < 0.0 { angle.neg() } else { angle };
            let e = error(trigonometric::atan2(&Double, y, x), &exact);
            if e > worst.0 {
                worst = (e, (y, x));
            }
        }
    }
    println!("atan2 in double precision: {worst:?}");
    assert!(worst.0 <= 2.5, "{worst:?}");
}
