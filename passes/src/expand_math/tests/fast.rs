//! `exp`, `log` and `log10` with `fastmath<afn>`, over approximations that are as bad as they may be.
use super::super::{exponential, logarithm};
use super::host::Rough;
use super::single::{error_in_ulp, stride, worst};

/// The approximation as high, as near and as low as it may be.
const ERRORS: [f64; 3] = [1.0, 0.0, -1.0];

#[test]
fn the_fast_exponential_keeps_its_bound() {
    let mut most = (0.0, 0.0);
    for rough in ERRORS.map(Rough) {
        for x in (0..=u32::MAX).step_by(stride()).map(f32::from_bits) {
            let e = error_in_ulp(exponential::exp_fast(&rough, x), f64::from(x).exp());
            let size = if x.is_nan() { 0.0 } else { f64::from(x).abs() };
            assert!(e <= 3.0 + size, "{e} ulp at {x:e}");
            if e - size > most.0 {
                most = (e - size, size);
            }
        }
    }
    println!("fast exp: |x| and {most:?} ulp");
}

#[test]
fn fast_logarithms_keep_their_bounds() {
    type Row = (&'static str, fn(&Rough, f32) -> f32, fn(f64) -> f64, f64);
    let rows: [Row; 2] = [
        ("log", logarithm::log_fast, f64::ln, 2f64.powi(-22)),
        ("log10", logarithm::log10_fast, f64::log10, 2f64.powi(-23)),
    ];
    for rough in ERRORS.map(Rough) {
        for (name, f, exact, bound) in rows {
            let around_one = |x: f64| 0.5 < x && x < 2.0;
            let away = |x: f64| if around_one(x) { 0.0 } else { exact(x) };
            let (e, at) = worst(
                stride(),
                |x| if around_one(x.into()) { 0.0 } else { f(&rough, x) },
                away,
            );
            println!("fast {name}: {e:.3} ulp at {at:e}");
            assert!(e <= 6.0, "{name}: {e} ulp at {at:e}");
            let (mut most, mut at) = (0.0, 0.0);
            let near = (0.5f32.to_bits()..2f32.to_bits()).step_by(stride() / 64 + 1);
            for x in near.map(f32::from_bits) {
                let off = (f64::from(f(&rough, x)) - exact(x.into())).abs();
                if off > most {
                    (most, at) = (off, x);
                }
            }
            println!("fast {name}: {most:e} = {} 2^-22 at {at:e}", most / 2f64.powi(-22));
            assert!(most <= bound, "{name}: {most:e} at {at:e}");
        }
    }
}
