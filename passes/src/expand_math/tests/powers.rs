//! Functions of two numbers: `powf`, `fpowi`, `atan2`, and remainders.
use super::super::{power, remainder, trigonometric};
use super::exact::{DOUBLE, Drawn, Format, P, SINGLE, big, error};
use super::host::{Double, Single};
use astro_float::{BigFloat, Consts, RoundingMode::ToEven};

/// How many pairs of each kind.
fn samples() -> usize {
    if std::env::var_os("GIRIH_MATH").is_some() {
        100_000
    } else {
        1_000
    }
}

/// The largest error seen, and where.
struct Worst<T> {
    name: &'static str,
    format: Format,
    error: f64,
    at: Option<T>,
}

impl<T: Copy + std::fmt::Debug> Worst<T> {
    fn of(name: &'static str, format: Format) -> Self {
        Worst {
            name,
            format,
            error: 0.0,
            at: None,
        }
    }
    fn see(&mut self, found: f64, exact: &BigFloat, at: T) {
        let e = error(found, exact, self.format);
        if e > self.error {
            (self.error, self.at) = (e, Some(at));
        }
    }
    #[track_caller]
    fn is_within(&self, bound: f64) {
        println!("{}: {:.3} at {:?}", self.name, self.error, self.at);
        assert!(
            self.error <= bound,
            "{}: {} ulp at {:?}, bound {bound}",
            self.name,
            self.error,
            self.at
        );
    }
}

/// Drawn pairs of bases and exponents: ordinary powers, those near the limits, subnormal and infinite ones too, and bases near 1.
fn pairs() -> Vec<(f64, f64)> {
    let mut drawn = Drawn(7);
    let mut pairs = vec![];
    for _ in 0..samples() {
        // A positive number of any size, and a power of any size.
        let x = f64::from_bits(drawn.bits() >> 1);
        if x.is_finite() && x != 0.0 {
            pairs.push((x, (1500.0 * drawn.unit() - 770.0) / x.ln()));
        }
        let x = 0.5 + drawn.unit();
        pairs.push((x, 100.0 * drawn.unit() - 50.0));
        pairs.push((1.0 + (drawn.unit() - 0.5) * 2f64.powi(-20), 1e8 * drawn.unit()));
        // Where results are subnormal.
        let x = 2f64.powf(100.0 * drawn.unit() - 50.0);
        pairs.push((x, (-708.0 - 38.0 * drawn.unit()) / x.ln()));
    }
    pairs.retain(|(x, y)| *x != 1.0 && y.is_finite());
    pairs
}

/// `x^y` of a positive number.
fn exact_power(x: f64, y: &BigFloat, c: &mut Consts) -> BigFloat {
    // By the logarithm, with bits enough for exponents of any size.
    big(x).ln(2 * P, ToEven, c).mul(y, 2 * P, ToEven).exp(P, ToEven, c)
}

#[test]
fn powers_keep_their_bound() {
    let mut c = Consts::new().expect("memory");
    let mut worst = Worst::of("powf in double precision", DOUBLE);
    for (x, y) in pairs() {
        worst.see(power::powf(&Double, x, y), &exact_power(x, &big(y), &mut c), (x, y));
    }
    worst.is_within(2.0);
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

/// `x^n` as `math.fpowi` computes it in double precision.
fn fpowi(x: f64, n: i64) -> f64 {
    let rounded = n as f64;
    let lost = n.wrapping_sub(rounded as i64) as f64;
    power::power_of_integer(&Double, x, rounded, Some(lost), n & 1 == 1)
}

/// Of an integer that is exact in double precision.
fn fpowi_short(x: f64, n: i32) -> f64 {
    power::power_of_integer(&Double, x, f64::from(n), None, n & 1 == 1)
}

/// Bases and integers whose power is an ordinary number, from small ones to those that no double holds.
fn integer_pairs() -> Vec<(f64, i64)> {
    let mut drawn = Drawn(11);
    let mut pairs = vec![];
    for i in 0..samples() {
        let n = match i % 3 {
            0 => drawn.bits() as i64 % 40,
            1 => drawn.bits() as i64 >> (drawn.bits() % 60),
            _ => (1 << 53) + (drawn.bits() % (1 << 56)) as i64,
        };
        // |n log x| up to the limits and a little beyond, x = e^(l / n) next to 1 where n is large.
        let l = 1500.0 * drawn.unit() - 770.0;
        let x = (l / n as f64).exp();
        if n != 0 && x.is_normal() && x != 1.0 {
            pairs.push((if drawn.bits() & 8 == 0 { x } else { -x }, n));
        }
        // Steps of the numbers next to 1.
        let steps = 1 + (drawn.bits() % 300) as i64;
        pairs.push((
            1.0 + steps as f64 * f64::EPSILON,
            (drawn.bits() % (700 << 52) / steps as u64) as i64,
        ));
    }
    pairs
}

#[test]
fn powers_of_integers_keep_their_bounds() {
    let mut c = Consts::new().expect("memory");
    let mut double = Worst::of("fpowi in double precision", DOUBLE);
    let mut single = Worst::of("fpowi", SINGLE);
    for (x, n) in integer_pairs() {
        let signed = |exact: BigFloat| if x < 0.0 && n & 1 == 1 { exact.neg() } else { exact };
        let exact = signed(exact_power(x.abs(), &BigFloat::from_i64(n, P), &mut c));
        double.see(fpowi(x, n), &exact, (x, n));
        if let Ok(short) = i32::try_from(n) {
            double.see(fpowi_short(x, short), &exact, (x, n));
        }
    }
    let mut drawn = Drawn(13);
    for _ in 0..samples() {
        let n = (drawn.bits() as i32) >> (drawn.bits() % 31);
        let x = ((190.0 * drawn.unit() - 104.0) / f64::from(n)).exp() as f32;
        if n == 0 || !x.is_normal() || x == 1.0 {
            continue;
        }
        let exact = exact_power(f64::from(x), &BigFloat::from_i32(n, P), &mut c);
        single.see(
            f64::from(fpowi_short(f64::from(x), n) as f32),
            &exact,
            (f64::from(x), i64::from(n)),
        );
        // Powers of negative numbers, and any power of any number.
        let exact = if n & 1 == 1 { exact.neg() } else { exact };
        single.see(
            f64::from(fpowi_short(f64::from(-x), n) as f32),
            &exact,
            (f64::from(-x), i64::from(n)),
        );
    }
    double.is_within(2.0);
    single.is_within(1.0);
}

#[test]
fn special_powers_of_integers_are_those_of_c() {
    let bases = [-3.0, -0.5, -0.0, 0.0, 1.0, -1.0, 7.5, f64::INFINITY, f64::NEG_INFINITY];
    for x in bases {
        for n in (-60..60).chain([i32::MIN, i32::MIN + 1, i32::MAX - 1, i32::MAX]) {
            let host = x.powi(n);
            for found in [fpowi_short(x, n), fpowi(x, n.into())] {
                let close = (found - host).abs() <= 16.0 * f64::EPSILON * host.abs();
                assert!(
                    found.to_bits() == host.to_bits() || close,
                    "{x}^{n} is {host:e}, found {found:e}"
                );
                assert!(
                    found.is_sign_negative() == (x.is_sign_negative() && n & 1 == 1),
                    "{x}^{n} is {host:e}, found {found:e}"
                );
            }
        }
        for n in [i64::MIN, i64::MAX, i64::MAX - 511, (1 << 53) + 1] {
            let (found, host) = (fpowi(x, n), x.abs().powf(n as f64));
            let host = if x.is_sign_negative() && n & 1 == 1 {
                -host
            } else {
                host
            };
            assert!(
                found.to_bits() == host.to_bits(),
                "{x}^{n} is {host:e}, found {found:e}"
            );
        }
    }
    assert!(fpowi_short(f64::NAN, 0) == 1.0);
    assert!(fpowi(f64::NAN, 3).is_nan());
}

#[test]
fn angles_of_points_keep_their_bound() {
    let mut c = Consts::new().expect("memory");
    let mut worst = Worst::of("atan2 in double precision", DOUBLE);
    let mut points = pairs();
    let mut drawn = Drawn(17);
    for _ in 0..samples() {
        // Of any size; and as far apart as subnormal angles are.
        points.push((f64::from_bits(drawn.bits()), f64::from_bits(drawn.bits())));
        let x = 2f64.powf(900.0 * drawn.unit());
        points.push((x, x * 2f64.powf(-1075.0 + 60.0 * drawn.unit())));
    }
    points.retain(|(x, y)| x.is_finite() && y.is_finite() && *x != 0.0 && *y != 0.0);
    for (x, y) in points {
        for (y, x) in [(y, x), (y, -x), (x, y), (-x, y)] {
            let angle = big(y.abs()).div(&big(x.abs()), P, ToEven).atan(P, ToEven, &mut c);
            let angle = match x < 0.0 {
                true => c.pi(P, ToEven).sub(&angle, P, ToEven),
                false => angle,
            };
            let exact = if y < 0.0 { angle.neg() } else { angle };
            worst.see(trigonometric::atan2(&Double, y, x), &exact, (y, x));
        }
    }
    worst.is_within(2.5);
}

#[test]
fn remainders_are_exact() {
    let same = |x: f64, y: f64, found: f64, exact: f64| {
        let same = found.to_bits() == exact.to_bits() || found.is_nan() && exact.is_nan();
        assert!(same, "{x:e} % {y:e} is {exact:e}, found {found:e}");
    };
    for (x, y) in super::single::pairs() {
        let (found, exact) = (remainder::remainder(&Single, x, y), x % y);
        same(x.into(), y.into(), found.into(), exact.into());
        let (x, y) = (f64::from(x) * f64::from(x), f64::from(y).sqrt() * 1e-90);
        same(x, y, remainder::remainder(&Double, x, y), x % y);
    }
}
