//! Every function on the host's numbers, over dense samples, against a reference of higher precision.
use super::algebra::{Approximate, Arith};
use super::{error_function, exponential, hyperbolic, logarithm, power, remainder, trigonometric};

/// The host's single precision.
struct Single;
/// The host's double precision.
struct Double;

macro_rules! host {
    ($name:ident, $f:ty, $i:ty, $u:ty, $wide:ty, $bits:literal) => {
        impl Arith for $name {
            type F = $f;
            type I = $i;
            type B = bool;
            fn bits(&self) -> u32 {
                $bits
            }
            fn f(&self, v: f64) -> $f {
                v as $f
            }
            fn i(&self, v: i64) -> $i {
                v as $i
            }
            fn add(&self, a: $f, b: $f) -> $f {
                a + b
            }
            fn sub(&self, a: $f, b: $f) -> $f {
                a - b
            }
            fn mul(&self, a: $f, b: $f) -> $f {
                a * b
            }
            fn div(&self, a: $f, b: $f) -> $f {
                a / b
            }
            fn fma(&self, a: $f, b: $f, c: $f) -> $f {
                a.mul_add(b, c)
            }
            fn sqrt(&self, a: $f) -> $f {
                a.sqrt()
            }
            fn trunc(&self, a: $f) -> $f {
                a.trunc()
            }
            fn lt(&self, a: $f, b: $f) -> bool {
                a < b
            }
            fn le(&self, a: $f, b: $f) -> bool {
                a <= b
            }
            fn eq(&self, a: $f, b: $f) -> bool {
                a == b
            }
            fn ne(&self, a: $f, b: $f) -> bool {
                a != b
            }
            fn select(&self, c: bool, a: $f, b: $f) -> $f {
                if c { a } else { b }
            }
            fn select_int(&self, c: bool, a: $i, b: $i) -> $i {
                if c { a } else { b }
            }
            fn both(&self, a: bool, b: bool) -> bool {
                a && b
            }
            fn either(&self, a: bool, b: bool) -> bool {
                a || b
            }
            fn to_bits(&self, a: $f) -> $i {
                a.to_bits() as $i
            }
            fn of_bits(&self, a: $i) -> $f {
                <$f>::from_bits(a as $u)
            }
            fn iadd(&self, a: $i, b: $i) -> $i {
                a.wrapping_add(b)
            }
            fn isub(&self, a: $i, b: $i) -> $i {
                a.wrapping_sub(b)
            }
            fn iand(&self, a: $i, b: $i) -> $i {
                a & b
            }
            fn ior(&self, a: $i, b: $i) -> $i {
                a | b
            }
            fn ixor(&self, a: $i, b: $i) -> $i {
                a ^ b
            }
            fn ishl(&self, a: $i, n: $i) -> $i {
                a.wrapping_shl(n as u32)
            }
            fn ishr(&self, a: $i, n: $i) -> $i {
                (a as $u).wrapping_shr(n as u32) as $i
            }
            fn isar(&self, a: $i, n: $i) -> $i {
                a.wrapping_shr(n as u32)
            }
            fn ilt(&self, a: $i, b: $i) -> bool {
                a < b
            }
            fn ieq(&self, a: $i, b: $i) -> bool {
                a == b
            }
            fn to_float(&self, a: $i) -> $f {
                a as $f
            }
            fn mul_wide(&self, a: $i, b: $i) -> ($i, $i) {
                let product = <$wide>::from(a as $u) * <$wide>::from(b as $u);
                (product as $i, (product >> $bits) as $i)
            }
            fn scaled(&self, high: $i, low: $i, scale: f64) -> $f {
                let whole = (<$wide>::from(high as $u) << $bits) | <$wide>::from(low as $u);
                let signed = whole as i128;
                let signed = if $bits == 32 {
                    i128::from(signed as i64)
                } else {
                    signed
                };
                (signed as f64 * scale) as $f
            }
            fn approximate(&self, _: Approximate, _: $f) -> $f {
                unreachable!("the accurate forms use no approximation")
            }
            fn branch<const N: usize>(
                &self,
                c: bool,
                then: impl FnOnce(&Self) -> [$f; N],
                otherwise: impl FnOnce(&Self) -> [$f; N],
            ) -> [$f; N] {
                if c { then(self) } else { otherwise(self) }
            }
        }
    };
}
host!(Single, f32, i32, u32, u64, 32);
host!(Double, f64, i64, u64, u128, 64);

/// Units in the last place between a result and the exact value, which may lie between numbers.
fn error_in_ulp(found: f32, exact: f64) -> f64 {
    let nearest = exact as f32;
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
fn ulp(x: f32) -> f64 {
    let exponent = (x.abs().to_bits() >> 23).clamp(1, 254) as i32;
    2f64.powi(exponent - 127 - 23)
}

/// The worst error over every `stride`-th bit pattern, and where.
fn worst(stride: usize, f: impl Fn(f32) -> f32, exact: impl Fn(f64) -> f64) -> (f64, f32) {
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
fn stride() -> usize {
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

#[test]
fn functions_of_one_number_keep_their_bounds() {
    let mut over = vec![];
    for (name, f, exact, bound) in SINGLE {
        let (error, at) = worst(stride(), f, exact);
        println!("{name}: {error:.3} at {at:e}");
        if error > bound {
            over.push(format!("{name}: {error} ulp at {at:e}, bound {bound}"));
        }
    }
    assert!(over.is_empty(), "{over:#?}");
}

/// Pairs of numbers: every combination of special and ordinary ones, and drawn bits.
fn pairs() -> Vec<(f32, f32)> {
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
    let errors = pairs().into_iter().map(|(x, y)| {
        let (found, exact) = (f(x, y), exact(f64::from(x), f64::from(y)));
        let signs_differ = found == 0.0 && exact == 0.0 && found.is_sign_negative() != exact.is_sign_negative();
        (
            if signs_differ {
                f64::INFINITY
            } else {
                error_in_ulp(found, exact)
            },
            (x, y),
        )
    });
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

#[test]
fn remainders_are_exact() {
    for (x, y) in pairs() {
        let (found, exact) = (remainder::remainder(&Single, x, y), x % y);
        assert!(
            found.to_bits() == exact.to_bits() || found.is_nan() && exact.is_nan(),
            "{x:e} % {y:e} is {exact:e}, found {found:e}"
        );
        let (x, y) = (f64::from(x) * f64::from(x), f64::from(y).sqrt() * 1e-90);
        let (found, exact) = (remainder::remainder(&Double, x, y), x % y);
        assert!(
            found.to_bits() == exact.to_bits() || found.is_nan() && exact.is_nan(),
            "{x:e} % {y:e} is {exact:e}, found {found:e}"
        );
    }
}

mod double {
    //! Double precision against numbers of 192 bits.
    use super::*;
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
        for (x, y) in super::pairs() {
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
}
