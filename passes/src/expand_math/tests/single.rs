//! Single precision, over samples of all bit patterns, against the host's double precision.
use super::super::{algebra::Arith, error_function, exponential, hyperbolic, logarithm, power, trigonometric};
use super::host::Single;

/// Units in the last place between a result and the exact value, which may lie between numbers. A zero of the wrong sign is
/// infinitely far.
pub(super) fn error_in_ulp(found: f32, exact: f64) -> f64 {
    let nearest = exact as f32;
    if !exact.is_nan() && found.is_sign_negative() != exact.is_sign_negative() {
        return f64::INFINITY;
    }
    if found.to_bits() == nearest.to_bits()
        || found.is_nan() && exact.is_nan()
        || found == nearest && found.is_infinite()
    {
        return if nearest.is_finite() {
            ((f64::from(found) - exact) / ulp(nearest)).abs()
        } else {
            0.0
        };
    }
    if found.is_nan() || exact.is_nan() || found.is_infinite() && nearest.abs() < f32::MAX {
        return f64::INFINITY;
    }
    let found = if found.is_infinite() {
        f64::from(found.signum()) * 2f64.powi(128)
    } else {
        f64::from(found)
    };
    let exact = if nearest.is_infinite() {
        exact.signum() * 2f64.powi(128)
    } else {
        exact
    };
    ((found - exact) / ulp(nearest)).abs()
}

/// The distance of neighbours at a number's size.
pub(super) fn ulp(x: f32) -> f64 {
    let exponent = (x.abs().to_bits() >> 23).clamp(1, 254) as i32;
    2f64.powi(exponent - 127 - 23)
}

/// The worst error over every `stride`-th bit pattern, and where.
pub(super) fn worst(stride: usize, f: impl Fn(f32) -> f32, exact: impl Fn(f64) -> f64) -> (f64, f32) {
    let mut worst = (0.0, 0.0);
    for bits in (0..=u32::MAX).step_by(stride) {
        let x = f32::from_bits(bits);
        let error = error_in_ulp(f(x), exact(f64::from(x)));
        if error > worst.0 {
            worst = (error, x);
        }
    }
    worst
}

/// One in so many of all inputs; `GIRIH_MATH=all` takes every one.
pub(super) fn stride() -> usize {
    if std::env::var_os("GIRIH_MATH").is_some() {
        1
    } else {
        16411
    }
}

/// Functions of one number in single precision, with the bound that `docs/maths.md` gives.
type Row = (&'static str, fn(f32) -> f32, fn(f64) -> f64, f64);
const SINGLE: [Row; 25] = [
    ("exp", |x| exponential::exp(&Single, x), f64::exp, 1.0),
    ("exp2", |x| exponential::exp2(&Single, x), f64::exp2, 1.5),
    ("expm1", |x| exponential::expm1(&Single, x), f64::exp_m1, 1.5),
    ("log", |x| logarithm::log(&Single, x), f64::ln, 1.0),
    ("log2", |x| logarithm::log2(&Single, x), f64::log2, 1.5),
    ("log10", |x| logarithm::log10(&Single, x), f64::log10, 1.0),
    ("log1p", |x| logarithm::log1p(&Single, x), f64::ln_1p, 1.0),
    ("sinh", |x| hyperbolic::sinh(&Single, x), f64::sinh, 2.5),
    ("cosh", |x| hyperbolic::cosh(&Single, x), f64::cosh, 2.0),
    ("tanh", |x| hyperbolic::tanh(&Single, x), f64::tanh, 2.5),
    ("asinh", |x| hyperbolic::asinh(&Single, x), libm::asinh, 2.5),
    ("acosh", |x| hyperbolic::acosh(&Single, x), f64::acosh, 2.5),
    ("atanh", |x| hyperbolic::atanh(&Single, x), libm::atanh, 2.5),
    ("cbrt", |x| power::cbrt(&Single, x), f64::cbrt, 1.0),
    ("sqrt", |x| Single.sqrt(x), f64::sqrt, 0.5),
    ("rsqrt", |x| power::rsqrt(&Single, x), |x| 1.0 / x.sqrt(), 1.5),
    ("sin", |x| trigonometric::sin(&Single, x), libm::sin, 2.0),
    ("cos", |x| trigonometric::cos(&Single, x), libm::cos, 2.0),
    ("tan", |x| trigonometric::tan(&Single, x), libm::tan, 4.0),
    ("asin", |x| trigonometric::asin(&Single, x), f64::asin, 2.0),
    ("acos", |x| trigonometric::acos(&Single, x), f64::acos, 1.5),
    ("atan", |x| trigonometric::atan(&Single, x), f64::atan, 1.5),
    ("erf", |x| error_function::erf(&Single, x), libm::erf, 1.5),
    ("erfc", |x| error_function::erfc(&Single, x), libm::erfc, 4.0),
    (
        "sqrt by powf",
        |x| power::powf(&Single, x, 0.5),
        |x| {
            if x == f64::NEG_INFINITY {
                f64::INFINITY
            } else {
                (x + 0.0).sqrt()
            }
        },
        1.5,
    ),
];

/// What no stride meets.
const SPECIAL: [f32; 8] = [
    0.0,
    f32::INFINITY,
    f32::NAN,
    f32::MAX,
    f32::MIN_POSITIVE,
    f32::from_bits(1),
    0.5,
    1.0,
];

#[test]
fn functions_of_one_number_keep_their_bounds() {
    let mut over = vec![];
    for (name, f, exact, bound) in SINGLE {
        let (mut error, mut at) = worst(stride(), f, exact);
        for x in SPECIAL.into_iter().flat_map(|x| [x, -x]) {
            let special = error_in_ulp(f(x), exact(f64::from(x)));
            if special > error {
                (error, at) = (special, x);
            }
        }
        println!("{name}: {error:.3} at {at:e}");
        if error > bound {
            over.push(format!("{name}: {error} ulp at {at:e}, bound {bound}"));
        }
    }
    assert!(over.is_empty(), "{over:#?}");
}

/// Pairs of numbers: every combination of special and ordinary ones, and drawn bits.
pub(super) fn pairs() -> Vec<(f32, f32)> {
    let mut special = vec![
        0.0,
        f32::from_bits(1),
        f32::MIN_POSITIVE,
        1e-20,
        0.1,
        0.5,
        1.0 - f32::EPSILON / 2.0,
        1.0,
        1.0 + f32::EPSILON,
        1.5,
        2.0,
        3.0,
        7.0,
        24.0,
        1e10,
        16_777_215.0,
        16_777_216.0,
        1e30,
        f32::MAX,
        f32::INFINITY,
    ];
    special.extend(special.clone().iter().map(|x| -x));
    special.push(f32::NAN);
    let mut pairs: Vec<_> = special
        .iter()
        .flat_map(|x| special.iter().map(move |y| (*x, *y)))
        .collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..60_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let bits = state ^ state >> 29;
        pairs.push((f32::from_bits((bits >> 32) as u32), f32::from_bits(bits as u32)));
        // Where most powers are ordinary numbers.
        let x = f32::from_bits(0x3f80_0000 + ((bits >> 40) as u32 & 0x7f_ffff) * 3);
        pairs.push((x, f32::from_bits(bits as u32 & 0x83ff_ffff | 0x3c00_0000)));
    }
    pairs
}

fn worst_of_pairs(f: impl Fn(f32, f32) -> f32, exact: impl Fn(f64, f64) -> f64) -> (f64, (f32, f32)) {
    let errors = pairs()
        .into_iter()
        .map(|(x, y)| (error_in_ulp(f(x, y), exact(f64::from(x), f64::from(y))), (x, y)));
    errors.fold(
        (0.0, (0.0, 0.0)),
        |worst, next| if next.0 > worst.0 { next } else { worst },
    )
}

#[test]
fn powers_keep_their_bound() {
    let (error, at) = worst_of_pairs(|x, y| power::powf(&Single, x, y), f64::powf);
    assert!(error <= 2.0, "{error} ulp at {at:?}");
}

#[test]
fn angles_of_points_keep_their_bound() {
    let (error, at) = worst_of_pairs(|y, x| trigonometric::atan2(&Single, y, x), f64::atan2);
    assert!(error <= 2.5, "{error} ulp at {at:?}");
}
