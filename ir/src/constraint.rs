//! What an operand or a result may be: a check, a phrase for messages, and, where one type only fits, that type.
use crate::ext::TypeExt;
use melior::{
    Context,
    ir::{Type, r#type::IntegerType},
};

/// A constraint on a type.
#[derive(Clone, Copy)]
pub struct Constraint {
    /// For messages: "index", "a memref in global memory".
    pub what: &'static str,
    /// Whether a type fits.
    pub check: for<'c> fn(Type<'c>) -> bool,
    /// The one type that fits, so that the assembly format need not spell it.
    pub only: Option<for<'c> fn(&'c Context) -> Type<'c>>,
}

impl Constraint {
    /// A constraint with a check of its own.
    pub const fn new(what: &'static str, check: for<'c> fn(Type<'c>) -> bool) -> Self {
        Constraint {
            what,
            check,
            only: None,
        }
    }
    /// A constraint that exactly one type meets.
    pub const fn exactly(
        what: &'static str,
        check: for<'c> fn(Type<'c>) -> bool,
        only: for<'c> fn(&'c Context) -> Type<'c>,
    ) -> Self {
        Constraint {
            what,
            check,
            only: Some(only),
        }
    }
}

/// Any type.
pub const ANY: Constraint = Constraint::new("any type", |_| true);
/// `index`.
pub const INDEX: Constraint = Constraint::exactly("index", |t| t.is_index_type(), |c| Type::index(c));
/// `i1`.
pub const I1: Constraint = Constraint::exactly("i1", |t| t.is_int(1), |c| IntegerType::new(c, 1).into());
/// `i16`.
pub const I16: Constraint = Constraint::exactly("i16", |t| t.is_int(16), |c| IntegerType::new(c, 16).into());
/// `i32`.
pub const I32: Constraint = Constraint::exactly("i32", |t| t.is_int(32), |c| IntegerType::new(c, 32).into());
/// `i64`.
pub const I64: Constraint = Constraint::exactly("i64", |t| t.is_int(64), |c| IntegerType::new(c, 64).into());
/// `f32`.
pub const F32: Constraint = Constraint::exactly(
    "f32",
    |t| t.is_float_type() && t.bit_width() == Some(32) && t.text() == "f32",
    |c| Type::float32(c),
);
/// Any memref.
pub const MEMREF: Constraint = Constraint::new("a memref", |t| t.is_memref_type());
/// Any ranked tensor.
pub const TENSOR: Constraint = Constraint::new("a ranked tensor", |t| t.is_ranked_tensor_type());
