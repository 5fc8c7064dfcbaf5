//! Double precision against numbers of 192 bits, over samples of all bit patterns.
use super::super::{algebra::Arith, error_function, exponential, hyperbolic, logarithm, power, trigonometric};
use super::exact::{DOUBLE, Drawn, P, angle, big, erf, erfc, error};
use super::host::Double;
use astro_float::{BigFloat, Consts, RoundingMode::ToEven};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, SQRT_2};

/// Samples of each kind, for each function; `GIRIH_MATH=all` takes many more.
fn samples() -> u64 {
    if std::env::var_os("GIRIH_MATH").is_some() {
        200_000
    } else {
        1_500
    }
}

type Exact = fn(&BigFloat, &mut Consts) -> BigFloat;

struct Row {
    name: &'static str,
    f: fn(f64) -> f64,
    exact: Exact,
    /// The host's function, for zeros, infinities, NaN and what is beyond the range: there the same bits are asked for.
    host: fn(f64) -> f64,
    /// Where the result is neither a limit nor an error.
    range: (f64, f64),
    /// Where the method changes, or the result vanishes.
    places: &'static [f64],
    /// As `docs/maths.md` has it.
    bound: f64,
}

macro_rules! row {
    ($name:literal, $f:path, $exact:expr, $host:expr, $range:expr, $places:expr, $bound:literal) => {
        Row {
            name: $name,
            f: |x| $f(&Double, x),
            exact: $exact,
            host: $host,
            range: $range,
            places: &$places,
            bound: $bound,
        }
    };
}

/// All numbers, positive numbers.
const ALL: (f64, f64) = (-f64::MAX, f64::MAX);
const POSITIVE: (f64, f64) = (0.0, f64::MAX);
/// Angles: where the two ways to reduce them meet, and some whose sine, cosine or tangent is next to nothing.
const ANGLES: [f64; 12] = [
    FRAC_PI_4,
    FRAC_PI_2,
    3.0 * FRAC_PI_4,
    2.0 * FRAC_PI_2,
    1e-9,
    1_073_741_824.0,
    22.0,
    355.0,
    1_068_966_896.0,
    times_power(5_319_372_648_326_541, 255),
    times_power(6_381_956_970_095_103, 797),
    1e22,
];

/// `significand 2^exponent`, of 53 bits.
const fn times_power(significand: u64, exponent: u64) -> f64 {
    f64::from_bits(((exponent + 52 + 1023) << 52) | (significand - (1 << 52)))
}

const FUNCTIONS: [Row; 24] = [
    row!(
        "exp",
        exponential::exp,
        |x, c| x.exp(P, ToEven, c),
        f64::exp,
        (-746.0, 710.0),
        [0.5 * LN_2, 1.5 * LN_2, -708.4, -745.1, 709.78],
        1.0
    ),
    row!(
        "exp2",
        exponential::exp2,
        |x, c| big(2.0).pow(x, P, ToEven, c),
        f64::exp2,
        (-1076.0, 1025.0),
        [0.5, 1.5, -1022.0, -1074.0, 1023.99],
        1.5
    ),
    row!(
        "expm1",
        exponential::expm1,
        |x, c| less_one(x, |x| x.exp(2 * P, ToEven, c).sub(&big(1.0), 2 * P, ToEven)),
        f64::exp_m1,
        (-90.0, 710.0),
        [0.5 * LN_2, -0.5 * LN_2, 1e-17, -84.0, 709.78, 37.0],
        2.0
    ),
    row!(
        "log",
        logarithm::log,
        |x, c| x.ln(P, ToEven, c),
        f64::ln,
        POSITIVE,
        [1.0, SQRT_2, 0.5 * SQRT_2, f64::MIN_POSITIVE],
        1.0
    ),
    row!(
        "log2",
        logarithm::log2,
        |x, c| x.log2(P, ToEven, c),
        f64::log2,
        POSITIVE,
        [1.0, 2.0, SQRT_2, 0.5 * SQRT_2, f64::MIN_POSITIVE],
        1.5
    ),
    row!(
        "log10",
        logarithm::log10,
        |x, c| x.log10(P, ToEven, c),
        f64::log10,
        POSITIVE,
        [1.0, 10.0, SQRT_2, 0.5 * SQRT_2, f64::MIN_POSITIVE],
        1.5
    ),
    row!(
        "log1p",
        logarithm::log1p,
        |x, c| less_one(x, |x| x.add(&big(1.0), 2 * P, ToEven).ln(2 * P, ToEven, c)),
        f64::ln_1p,
        (-1.0, f64::MAX),
        [-1.0, 1.0, SQRT_2 - 1.0, 1e-17, 1e16, 0.5 * SQRT_2 - 1.0],
        1.5
    ),
    row!(
        "sin",
        trigonometric::sin,
        |x, c| angle(x, c).sin(P, ToEven, c),
        f64::sin,
        ALL,
        ANGLES,
        2.0
    ),
    row!(
        "cos",
        trigonometric::cos,
        |x, c| angle(x, c).cos(P, ToEven, c),
        f64::cos,
        ALL,
        ANGLES,
        2.0
    ),
    row!(
        "tan",
        trigonometric::tan,
        |x, c| angle(x, c).tan(P, ToEven, c),
        f64::tan,
        ALL,
        ANGLES,
        3.5
    ),
    row!(
        "asin",
        trigonometric::asin,
        |x, c| x.asin(P, ToEven, c),
        f64::asin,
        (-1.0, 1.0),
        [0.5, 1.0, -1.0],
        2.0
    ),
    row!(
        "acos",
        trigonometric::acos,
        |x, c| x.acos(P, ToEven, c),
        f64::acos,
        (-1.0, 1.0),
        [0.5, 1.0, -1.0, -0.5],
        1.5
    ),
    row!(
        "atan",
        trigonometric::atan,
        |x, c| x.atan(P, ToEven, c),
        f64::atan,
        ALL,
        [1.0, -1.0],
        1.5
    ),
    row!(
        "erf",
        error_function::erf,
        erf,
        libm::erf,
        (-6.5, 6.5),
        [1.0, -1.0],
        1.5
    ),
    row!(
        "erfc",
        error_function::erfc,
        erfc,
        libm::erfc,
        (-6.5, 27.3),
        [0.5, 1.0, -0.5, 26.5, 27.2],
        3.5
    ),
    row!(
        "sinh",
        hyperbolic::sinh,
        |x, c| x.sinh(P, ToEven, c),
        f64::sinh,
        (-711.0, 711.0),
        [32.0, 0.5 * LN_2, 710.47],
        2.5
    ),
    row!(
        "cosh",
        hyperbolic::cosh,
        |x, c| x.cosh(P, ToEven, c),
        f64::cosh,
        (-711.0, 711.0),
        [0.5 * LN_2, 710.47],
        2.0
    ),
    row!(
        "tanh",
        hyperbolic::tanh,
        |x, c| x.tanh(P, ToEven, c),
        f64::tanh,
        (-41.0, 41.0),
        [0.55, -0.55, 20.0, 40.0],
        2.5
    ),
    row!(
        "asinh",
        hyperbolic::asinh,
        |x, c| x.asinh(P, ToEven, c),
        libm::asinh,
        ALL,
        [1e8, 1.0, 0.5],
        3.0
    ),
    row!(
        "acosh",
        hyperbolic::acosh,
        |x, c| x.acosh(P, ToEven, c),
        f64::acosh,
        (1.0, f64::MAX),
        [1.0, 1e8, 1.5],
        3.0
    ),
    row!(
        "atanh",
        hyperbolic::atanh,
        |x, c| x.atanh(P, ToEven, c),
        libm::atanh,
        (-1.0, 1.0),
        [1.0, -1.0, 0.5],
        3.0
    ),
    row!(
        "cbrt",
        power::cbrt,
        |x, _| x.cbrt(P, ToEven),
        f64::cbrt,
        ALL,
        [f64::MIN_POSITIVE, 1.0, 1.071508607186267e301],
        1.0
    ),
    row!(
        "sqrt",
        Arith::sqrt,
        |x, _| x.sqrt(P, ToEven),
        f64::sqrt,
        POSITIVE,
        [1.0, f64::MIN_POSITIVE],
        0.5
    ),
    row!(
        "rsqrt",
        power::rsqrt,
        |x, _| big(1.0).div(&x.sqrt(P, ToEven), P, ToEven),
        |x| 1.0 / x.sqrt(),
        POSITIVE,
        [1.0, f64::MIN_POSITIVE],
        1.5
    ),
];

/// What cancels beside 1 takes more bits, and is the number itself where it is next to nothing.
fn less_one(x: &BigFloat, f: impl FnOnce(&BigFloat) -> BigFloat) -> BigFloat {
    match x.exponent() {
        Some(-100_000..=-150) => x.clone(),
        _ => f(x),
    }
}

/// Samples: one from each of as many equal parts of all bit patterns; evenly over the range; and near to and next to places.
fn inputs(row: &Row, count: u64, mut see: impl FnMut(f64)) {
    let mut drawn = Drawn(1);
    let part = u64::MAX / count;
    for i in 0..count {
        see(f64::from_bits(i * part + drawn.bits() % part));
    }
    let (low, high) = (row.range.0.max(-1e4), row.range.1.min(1e4));
    for _ in 0..count / 2 {
        see(low + (high - low) * drawn.unit());
        see(low.max(-2.0) + (high.min(2.0) - low.max(-2.0)) * drawn.unit());
    }
    let nextdoor = [row.range.0, row.range.1, 0.0, f64::MIN_POSITIVE];
    for place in row.places.iter().chain(&nextdoor) {
        for i in -8..8i64 {
            see(f64::from_bits(place.to_bits().wrapping_add_signed(i)));
            see(-f64::from_bits(place.to_bits().wrapping_add_signed(i)));
        }
        for _ in 0..count / 50 {
            see(place * (1.0 + (drawn.unit() - 0.5) * 2f64.powf(-52.0 * drawn.unit())));
        }
    }
}

fn worst(row: &Row, c: &mut Consts) -> (f64, f64) {
    let mut worst = (0.0, 0.0);
    inputs(row, samples(), |x| {
        let found = (row.f)(x);
        let ordinary = row.range.0 <= x && x <= row.range.1 && x != 0.0;
        let e = match ordinary {
            true => error(found, &(row.exact)(&big(x), c), DOUBLE),
            false if found.to_bits() == (row.host)(x).to_bits() => 0.0,
            false if found.is_nan() && (row.host)(x).is_nan() => 0.0,
            false => f64::INFINITY,
        };
        if e > worst.0 {
            worst = (e, x);
        }
    });
    worst
}

#[test]
fn functions_of_one_number_keep_their_bounds() {
    let rows: Vec<&Row> = FUNCTIONS.iter().collect();
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let over = std::sync::Mutex::new(vec![]);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                let mut c = Consts::new().expect("memory");
                while let Some(row) = rows.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    let start = std::time::Instant::now();
                    let (e, x) = worst(row, &mut c);
                    println!(
                        "{} in double precision: {e:.3} at {x:e} ({:.1?})",
                        row.name,
                        start.elapsed()
                    );
                    if e > row.bound {
                        let said = format!("{}: {e} ulp at {x:e}, bound {}", row.name, row.bound);
                        over.lock().expect("no thread panics with it").push(said);
                    }
                }
            });
        }
    });
    let over = over.into_inner().expect("no thread panics with it");
    assert!(over.is_empty(), "{over:#?}");
}
