//! The `girih` dialect: attributes by which a reference function says how its kernel is to be compared with it.
//!
//! | attribute of a `func.func` | meaning |
//! |---|---|
//! | `girih.measure = "product"` | the error of an element is held against `(abs(A) abs(B))`, not against its value |
//! | `girih.measure = "elementwise"` | against the value; so it is without the attribute |
//! | `girih.tol = 1.0e-2 : f64` | the tolerance, where that of the element type does not fit |
//!
//! ```mlir
//! func.func @gemm_ref(%A: memref<?x?xbf16>, %B: memref<?x?xbf16>, %C: memref<?x?xbf16>)
//!     attributes {girih.measure = "product"} { ... }
//! ```
use girih_ir::{Diag, Res, dialect::Dialect};
use melior::ir::{Attribute, AttributeLike, OperationRef, operation::OperationLike};
use mlir_sys::{mlirAttributeIsAFloat, mlirAttributeIsAString, mlirFloatAttrGetValueDouble, mlirStringAttrGetValue};

/// Name of the attribute that chooses the measure.
pub const MEASURE: &str = "girih.measure";
/// Name of the attribute with the tolerance.
pub const TOL: &str = "girih.tol";

/// The dialect; it has attributes of functions only.
pub static GIRIH: Dialect = Dialect {
    verify_attribute: Some(verify),
    ..Dialect::new("girih")
};

/// How an element is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Annotation {
    /// Whether errors are relative to the sum of absolute products.
    pub is_product: bool,
    /// The tolerance, unless the element type's own.
    pub tol: Option<f64>,
}

impl Annotation {
    /// What a verified function says.
    pub fn of(function: OperationRef<'_, '_>) -> Self {
        Annotation {
            is_product: function.attribute(MEASURE).ok().and_then(string).as_deref() == Some("product"),
            tol: function.attribute(TOL).ok().and_then(float),
        }
    }
}

fn verify<'c>(op: OperationRef<'c, 'c>, name: &str, value: Attribute<'c>) -> Res {
    match name {
        MEASURE => match string(value).as_deref() {
            Some("product" | "elementwise") => Ok(()),
            _ => {
                let message = format!("expected {MEASURE} to be \"product\" or \"elementwise\", found {value}");
                Diag::op(&op, message).report()
            }
        },
        TOL => match float(value) {
            Some(tol) if tol.is_finite() && tol >= 0.0 => Ok(()),
            _ => Diag::op(&op, format!("expected {TOL} to be a float of 0 or more, found {value}")).report(),
        },
        _ => Diag::op(
            &op,
            format!("unknown attribute {name}; the dialect has {MEASURE} and {TOL}"),
        )
        .report(),
    }
}

/// The text of a string attribute.
pub(crate) fn string(attribute: Attribute<'_>) -> Option<String> {
    // SAFETY: the value is read only if the attribute is a string, and it lives as long as the attribute.
    unsafe {
        let raw = attribute.to_raw();
        if !mlirAttributeIsAString(raw) {
            return None;
        }
        let text = mlirStringAttrGetValue(raw);
        if text.length == 0 {
            return Some(String::new());
        }
        let bytes = std::slice::from_raw_parts(text.data.cast(), text.length);
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}

fn float(attribute: Attribute<'_>) -> Option<f64> {
    // SAFETY: the value is read only if the attribute is a float.
    unsafe { mlirAttributeIsAFloat(attribute.to_raw()).then(|| mlirFloatAttrGetValueDouble(attribute.to_raw())) }
}
