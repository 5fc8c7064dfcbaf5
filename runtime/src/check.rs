//! Whether a result is right: elementwise tolerances, and the measure for products.
//!
//! A NaN is right only where the reference has one, an infinity only where the reference has the same; neither counts as
//! close to anything.
use crate::{
    array::{Array, decode_f64},
    error::{Error, Result},
    spec::{Spec, SpecError},
};
use girih_core::{
    dtype::DType,
    number::{from_bits, to_bits},
};
use serde::Serialize;
use std::{fmt, str::FromStr};

/// How far an element may be from its reference.
#[derive(Clone, Copy, Debug)]
pub enum Measure<'a> {
    /// `|got - want| <= atol + rtol * |want|`.
    Elementwise {
        /// Relative part.
        rtol: f64,
        /// Absolute part.
        atol: f64,
    },
    /// `|got - want| <= tol * scale + ulp(want)`, with the scale of a product C = A B being `(|A| |B|)` at the element,
    /// and one unit in the last place of the result's own type for its rounding.
    Product {
        /// Relative to the scale.
        tol: f64,
        /// One value for each element, of any type.
        scale: &'a Array,
    },
}

impl Measure<'_> {
    /// The elementwise measure for a result of type `got` when nothing is said: exact for integers; for floats a few units in
    /// the last place of the element, or of the largest element of the array for those that are small beside it. A reference
    /// may be more precise than the result.
    pub fn default_for(got: DType, want: &Array) -> Measure<'static> {
        let tol = match got {
            DType::I1 | DType::I8 | DType::I16 | DType::I32 | DType::I64 => 0.0,
            DType::F64 => 1e-12,
            DType::F32 => 1e-5,
            DType::Tf32 | DType::F16 => 2e-3,
            DType::Bf16 => 1e-2,
            DType::E4m3 => 0.125,
            DType::E5m2 => 0.25,
        };
        Measure::relative_to(want, tol)
    }

    /// What the sums of a product whose result has this type may be off by when nothing is said, relative to their scale. The
    /// result's own rounding is allowed besides, so this is what adding in single precision loses: a step of the sum that is
    /// left out is past it for up to some ten thousand.
    pub fn product_tolerance(dtype: DType) -> f64 {
        match dtype {
            DType::I1 | DType::I8 | DType::I16 | DType::I32 | DType::I64 => 0.0,
            DType::F64 => 1e-12,
            DType::F32 => 1e-5,
            DType::Tf32 | DType::F16 | DType::Bf16 | DType::E4m3 | DType::E5m2 => 1e-4,
        }
    }

    /// `tol` relative to the element, and a hundredth of it relative to the largest finite element of the array.
    pub fn relative_to(want: &Array, tol: f64) -> Measure<'static> {
        let finite = want.to_f64().into_iter().map(f64::abs).filter(|v| v.is_finite());
        let largest = finite.fold(0.0, f64::max);
        Measure::Elementwise {
            rtol: tol,
            atol: tol / 100.0 * largest,
        }
    }
}

/// One element of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Element {
    /// Where, outermost dimension first.
    pub index: Vec<u64>,
    /// The value found.
    pub got: f64,
    /// The reference.
    pub want: f64,
    /// `|got - want|`.
    pub error: f64,
    /// What was allowed.
    pub bound: f64,
}

/// The outcome of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Elements compared.
    pub elements: u64,
    /// Elements that are too far off.
    pub wrong: u64,
    /// The element furthest from its bound (by `error / bound`); `None` when every element is exact.
    pub worst: Option<Element>,
}

impl Report {
    /// Whether every element is within its bound.
    pub fn is_right(&self) -> bool {
        self.wrong == 0
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.worst, self.wrong) {
            (None, _) => write!(f, "all {} elements are exact", self.elements),
            (Some(worst), wrong) => {
                match wrong {
                    0 => write!(f, "all {} elements are right", self.elements)?,
                    _ => write!(f, "{wrong} of {} elements are wrong", self.elements)?,
                }
                write!(
                    f,
                    "; worst at {:?}: got {}, want {}, error {:.3e}, bound {:.3e}",
                    worst.index, worst.got, worst.want, worst.error, worst.bound
                )
            }
        }
    }
}

/// Compares every element of `got` with `want` (of any element type, same shape).
pub fn compare(got: &Array, want: &Array, measure: &Measure<'_>) -> Result<Report> {
    let same_shape = |what: &str, other: &Array| {
        if other.shape() == got.shape() {
            return Ok(());
        }
        Err(Error::Usage(format!(
            "the {what} has shape {:?}, but the result has {:?}",
            other.shape(),
            got.shape()
        )))
    };
    same_shape("reference", want)?;
    let scale = match measure {
        Measure::Product { scale, .. } => {
            same_shape("scale", scale)?;
            Some(scale.to_f64())
        }
        Measure::Elementwise { .. } => None,
    };
    let references = want.to_f64();
    let exact = got.dtype() == want.dtype();
    let packed = exact.then(|| want.to_packed_bytes());
    let size = got.dtype().bytes() as usize;
    let mut report = Report {
        elements: got.len(),
        wrong: 0,
        worst: None,
    };
    let mut worst: Option<(f64, u64, f64, f64, f64)> = None;
    got.for_each(|n, bytes| {
        let i = n as usize;
        let (value, reference) = (decode_f64(got.dtype(), bytes), references[i]);
        // Bits decide first: f64 does not tell large i64 apart.
        let same_bits = packed.as_ref().map(|packed| packed[i * size..][..size] == *bytes);
        let is_integer = exact && !got.dtype().is_float();
        let equal =
            same_bits == Some(true) || value.is_nan() && reference.is_nan() || value == reference && !is_integer;
        if equal {
            return;
        }
        let bound = match (measure, &scale) {
            (Measure::Product { tol, .. }, Some(scale)) => tol * scale[i].abs() + ulp(got.dtype(), reference),
            (Measure::Elementwise { rtol, atol }, _) => atol + rtol * reference.abs(),
            _ => 0.0,
        };
        // Two large i64 whose f64 values agree still differ by 1 or more.
        let error = (value - reference).abs();
        let error = if is_integer { error.max(1.0) } else { error };
        let finite = value.is_finite() && reference.is_finite();
        let right = finite && error <= bound;
        report.wrong += u64::from(!right);
        let excess = if finite && bound > 0.0 {
            error / bound
        } else {
            f64::INFINITY
        };
        if worst.is_none_or(|(most, ..)| excess > most) {
            worst = Some((excess, n, value, reference, bound));
        }
    });
    report.worst = worst.map(|(_, n, value, reference, bound)| Element {
        index: got.index_of(n),
        got: value,
        want: reference,
        error: (value - reference).abs(),
        bound,
    });
    Ok(report)
}

/// Distance from `value`, rounded to `dtype`, to the next larger magnitude; 0 for integers.
pub fn ulp(dtype: DType, value: f64) -> f64 {
    if !dtype.is_float() || !value.is_finite() {
        return 0.0;
    }
    // Formats are sign and magnitude, so the next code is the next magnitude; tf32 keeps 13 low bits unused.
    let step = if dtype == DType::Tf32 { 1 << 13 } else { 1 };
    let bits = to_bits(dtype, value.abs());
    let here = from_bits(dtype, bits);
    let distance = from_bits(dtype, bits + step) - here;
    if distance.is_finite() {
        distance
    } else {
        here - from_bits(dtype, bits - step)
    }
}

/// What a user writes after `--check NAME=`: a SPEC for the reference, then any of `,rtol=`, `,atol=`, or `,tol=` with
/// `,scale=SPEC` for the measure of products.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckSpec {
    /// The reference.
    pub reference: Spec,
    /// Relative tolerance, unless the type's own.
    pub rtol: Option<f64>,
    /// Absolute tolerance, unless the type's own.
    pub atol: Option<f64>,
    /// Tolerance and scale for products.
    pub product: Option<(f64, Spec)>,
}

impl FromStr for CheckSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> std::result::Result<Self, SpecError> {
        let fail = |at: usize, message: String| SpecError {
            text: text.to_owned(),
            column: text[..at].chars().count() + 1,
            message,
        };
        // SPECs contain commas too, but only inside brackets.
        let mut depth = 0;
        let mut starts = vec![0];
        for (i, c) in text.char_indices() {
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' => depth -= 1,
                ',' if depth == 0 => starts.push(i + 1),
                _ => {}
            }
        }
        let ends = starts[1..].iter().map(|start| start - 1).chain([text.len()]);
        let mut parts = starts.iter().copied().zip(ends);
        let nested = |at: usize, spec: &str| {
            let shift = |error: SpecError| SpecError {
                text: text.to_owned(),
                column: error.column + text[..at].chars().count(),
                message: error.message,
            };
            spec.parse::<Spec>().map_err(shift)
        };
        let (start, end) = parts.next().unwrap_or((0, text.len()));
        let mut check = CheckSpec {
            reference: nested(start, &text[start..end])?,
            rtol: None,
            atol: None,
            product: None,
        };
        let (mut tol, mut scale) = (None, None);
        for (start, end) in parts {
            let part = &text[start..end];
            let Some((key, value)) = part.split_once('=') else {
                return Err(fail(
                    start,
                    format!("expected rtol=, atol=, tol= or scale=, found `{part}`"),
                ));
            };
            let at = start + key.len() + 1;
            let number = || {
                let parsed = value.parse::<f64>().ok().filter(|t| t.is_finite() && *t >= 0.0);
                parsed.ok_or_else(|| {
                    fail(
                        at,
                        format!("expected a tolerance, finite and 0 or more, found `{value}`"),
                    )
                })
            };
            match key {
                "rtol" => check.rtol = Some(number()?),
                "atol" => check.atol = Some(number()?),
                "tol" => tol = Some(number()?),
                "scale" => scale = Some(nested(at, value)?),
                _ => {
                    return Err(fail(
                        start,
                        format!("expected rtol=, atol=, tol= or scale=, found `{part}`"),
                    ));
                }
            }
        }
        check.product = match (tol, scale) {
            (None, None) => None,
            (Some(tol), Some(scale)) => Some((tol, scale)),
            _ => return Err(fail(0, "tol= and scale= go together".to_owned())),
        };
        if check.product.is_some() && (check.rtol.is_some() || check.atol.is_some()) {
            return Err(fail(0, "rtol= and atol= do not go with tol= and scale=".to_owned()));
        }
        Ok(check)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(dtype: DType, values: &[f64]) -> Array {
        Array::from_f64(dtype, &[values.len() as u64], values).unwrap()
    }

    fn elementwise(got: &[f64], want: &[f64], rtol: f64, atol: f64) -> Report {
        let (got, want) = (array(DType::F32, got), array(DType::F64, want));
        compare(&got, &want, &Measure::Elementwise { rtol, atol }).unwrap()
    }

    #[test]
    fn the_worst_element_is_named_with_its_bound() {
        let report = elementwise(&[1.0, 2.5, 3.0], &[1.0, 2.0, 3.25], 0.0, 0.25);
        assert_eq!((report.wrong, report.elements), (1, 3));
        assert_eq!(
            report.to_string(),
            "1 of 3 elements are wrong; worst at [1]: got 2.5, want 2, error 5.000e-1, bound 2.500e-1"
        );
        let right = elementwise(&[1.0, 2.5, 3.0], &[1.0, 2.0, 3.25], 0.25, 0.0);
        assert!(
            right.is_right() && right.to_string().starts_with("all 3 elements are right; worst at [1]"),
            "{right}"
        );
        assert_eq!(
            elementwise(&[1.0], &[1.0], 0.0, 0.0).to_string(),
            "all 1 elements are exact"
        );
    }

    #[test]
    fn nan_and_infinity_are_close_to_nothing_but_themselves() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let wrong = |got: f64, want: f64| elementwise(&[got], &[want], 1e30, inf).wrong;
        assert_eq!([wrong(nan, nan), wrong(inf, inf), wrong(-inf, -inf)], [0, 0, 0]);
        assert_eq!(
            [
                wrong(nan, 1.0),
                wrong(1.0, nan),
                wrong(inf, -inf),
                wrong(inf, 1.0),
                wrong(1.0, inf)
            ],
            [1; 5]
        );
        let report = elementwise(&[9.0, nan], &[1.0, 1.0], 0.0, 0.0);
        assert_eq!((report.wrong, report.worst.unwrap().index), (2, vec![0]));
    }

    #[test]
    fn large_integers_are_compared_bit_by_bit() {
        let make = |value: i64| {
            let mut array = Array::zeros(DType::I64, &[1]).unwrap();
            array.set_packed_bytes(&value.to_le_bytes());
            array
        };
        let exact = Measure::Elementwise { rtol: 0.0, atol: 0.0 };
        assert!(compare(&make(1 << 60), &make(1 << 60), &exact).unwrap().is_right());
        assert_eq!(compare(&make(1 << 60), &make((1 << 60) + 1), &exact).unwrap().wrong, 1);
    }

    #[test]
    fn products_are_measured_against_their_scale_and_one_ulp() {
        let scale = array(DType::F32, &[100.0, 0.0, 0.0]);
        let want = array(DType::F64, &[0.0, 256.0, 256.0]);
        // bf16 near 256 has steps of 2.
        let got = array(DType::Bf16, &[0.9, 258.0, 260.0]);
        let report = compare(
            &got,
            &want,
            &Measure::Product {
                tol: 1e-2,
                scale: &scale,
            },
        )
        .unwrap();
        assert_eq!((report.wrong, report.worst.unwrap().index), (1, vec![2]));
    }

    #[test]
    fn a_precise_reference_holds_a_result_to_its_own_type() {
        let want = array(DType::F64, &[1.0 + 1e-6, 3.0]);
        let got = array(DType::F32, &[1.0, 3.0]);
        let measure = Measure::default_for(got.dtype(), &want);
        assert!(compare(&got, &want, &measure).unwrap().is_right());
        let ones = array(DType::I32, &[1.0, 3.0]);
        let near = array(DType::F32, &[1.0 + 1e-6, 3.0]);
        let measure = Measure::default_for(near.dtype(), &ones);
        assert!(compare(&near, &ones, &measure).unwrap().is_right());
    }

    #[test]
    fn units_in_the_last_place() {
        assert_eq!(ulp(DType::Bf16, 1.0), 2f64.powi(-7));
        assert_eq!(ulp(DType::Bf16, -256.0), 2.0);
        assert_eq!(ulp(DType::F16, 0.0), 2f64.powi(-24));
        assert_eq!(ulp(DType::F16, 65504.0), 32.0);
        assert_eq!(ulp(DType::Tf32, 1.0), 2f64.powi(-10));
        assert_eq!(ulp(DType::E4m3, 448.0), 32.0);
        assert_eq!(ulp(DType::F64, 1.0), f64::EPSILON);
        assert_eq!(ulp(DType::I32, 5.0), 0.0);
        assert_eq!(ulp(DType::F32, f64::INFINITY), 0.0);
    }

    #[test]
    fn shapes_must_agree() {
        let (got, want) = (array(DType::F32, &[1.0]), array(DType::F32, &[1.0, 2.0]));
        let error = compare(&got, &want, &Measure::default_for(got.dtype(), &want)).unwrap_err();
        assert_eq!(error.to_string(), "the reference has shape [2], but the result has [1]");
    }

    #[test]
    fn check_specs_carry_tolerances_after_the_reference() {
        let check: CheckSpec = "full(1,):f32[4,4],rtol=1e-3,atol=0".parse().unwrap();
        assert_eq!(
            (check.reference.to_string().as_str(), check.rtol, check.atol),
            ("full(1,):f32[4,4]", Some(1e-3), Some(0.0))
        );
        let check: CheckSpec = "ref.npy,tol=1e-2,scale=dir/abs.npy".parse().unwrap();
        assert_eq!(check.product.unwrap().1.to_string(), "dir/abs.npy");
        for (text, column, message) in [
            (
                "ref.npy,rtol=x",
                14,
                "expected a tolerance, finite and 0 or more, found `x`",
            ),
            (
                "ref.npy,rtol=-1",
                14,
                "expected a tolerance, finite and 0 or more, found `-1`",
            ),
            (
                "ref.npy,rtol=inf",
                14,
                "expected a tolerance, finite and 0 or more, found `inf`",
            ),
            (
                "ref.npy,atol=1e999",
                14,
                "expected a tolerance, finite and 0 or more, found `1e999`",
            ),
            (
                "ref.npy,atol=nan",
                14,
                "expected a tolerance, finite and 0 or more, found `nan`",
            ),
            (
                "ref.npy,foo=1",
                9,
                "expected rtol=, atol=, tol= or scale=, found `foo=1`",
            ),
            ("ref.npy,foo", 9, "expected rtol=, atol=, tol= or scale=, found `foo`"),
            ("ref.npy,tol=1", 1, "tol= and scale= go together"),
            (
                "ref.npy,tol=1,scale=s.npy,rtol=1",
                1,
                "rtol= and atol= do not go with tol= and scale=",
            ),
            ("ref.npy,tol=1,scale=randn:f3[2]", 27, "unknown element type `f3`"),
        ] {
            let error = text.parse::<CheckSpec>().unwrap_err();
            assert!(error.message.starts_with(message), "{error}");
            assert_eq!(error.column, column, "{error}");
        }
    }
}
