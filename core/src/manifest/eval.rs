//! Evaluation of [`Expr`] from the arguments of a launch. Signed 64-bit, checked: what MLIR's `arith` would leave
//! undefined or poison is an error here.
use super::{BinaryOp, Expr};
use std::fmt;
use thiserror::Error;

/// The arguments of a launch, as expressions see them. `None` means that there is no such argument or dimension, or that
/// the argument is not of that kind.
pub trait Env {
    /// Elements of dimension `dim`, outermost first, of memref argument `arg`.
    fn size(&self, arg: usize, dim: usize) -> Option<i64>;
    /// Stride of dimension `dim` of memref argument `arg`, in elements.
    fn stride(&self, arg: usize, dim: usize) -> Option<i64>;
    /// Value of integer scalar argument `arg`, sign-extended.
    fn scalar(&self, arg: usize) -> Option<i64>;
    /// Device address of the first element of memref argument `arg`.
    fn address(&self, arg: usize) -> Option<u64>;
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvalErrorKind {
    /// Division or remainder by zero.
    DivisionByZero,
    /// The result does not fit i64.
    Overflow,
    /// A shift by less than 0 or more than 63.
    ShiftRange,
    /// The arguments have no such value.
    Missing,
    /// A value that must not be negative.
    Negative,
}

/// A launch expression that has no value for the given arguments.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("cannot compute {expression}{}: {}", .operands.map(|(a, b)| format!(" from {a} and {b}")).unwrap_or_default(), kind_text(.kind))]
pub struct EvalError {
    /// The smallest expression that fails, as [`Expr`] displays.
    pub expression: String,
    /// Values of its two operands, where it has them.
    pub operands: Option<(i64, i64)>,
    /// What is wrong.
    pub kind: EvalErrorKind,
}

fn kind_text(kind: &EvalErrorKind) -> &'static str {
    match kind {
        EvalErrorKind::DivisionByZero => "division by zero",
        EvalErrorKind::Overflow => "the result does not fit 64 bits",
        EvalErrorKind::ShiftRange => "a shift must be by 0 to 63",
        EvalErrorKind::Missing => "the kernel has no such argument or dimension",
        EvalErrorKind::Negative => "the value must not be negative",
    }
}

impl Expr {
    /// The value for the arguments in `env`.
    ///
    /// Unsigned operators read their operands as 64-bit unsigned numbers. A result that does not fit, a division by zero,
    /// a shift that loses bits or is out of range, and a missing argument are errors. Only the taken side of a select is
    /// evaluated.
    pub fn eval(&self, env: &impl Env) -> Result<i64, EvalError> {
        let missing = || self.error(None, EvalErrorKind::Missing);
        match self {
            Expr::Const(value) => Ok(*value),
            Expr::Size { arg, dim } => env.size(*arg, *dim).ok_or_else(missing),
            Expr::Stride { arg, dim } => env.stride(*arg, *dim).ok_or_else(missing),
            Expr::Scalar { arg } => env.scalar(*arg).ok_or_else(missing),
            Expr::Binary(op, lhs, rhs) => {
                let (a, b) = (lhs.eval(env)?, rhs.eval(env)?);
                op.apply(a, b).map_err(|kind| self.error(Some((a, b)), kind))
            }
            Expr::Select(condition, then, otherwise) => {
                if condition.eval(env)? != 0 {
                    then.eval(env)
                } else {
                    otherwise.eval(env)
                }
            }
        }
    }

    pub(super) fn error(&self, operands: Option<(i64, i64)>, kind: EvalErrorKind) -> EvalError {
        EvalError {
            expression: self.to_string(),
            operands,
            kind,
        }
    }

    /// Whether operators nest at most `levels` deep.
    pub(super) fn fits_depth(&self, levels: usize) -> bool {
        let parts: &[&Expr] = match self {
            Expr::Const(_) | Expr::Size { .. } | Expr::Stride { .. } | Expr::Scalar { .. } => return true,
            Expr::Binary(_, lhs, rhs) => &[lhs, rhs],
            Expr::Select(condition, then, otherwise) => &[condition, then, otherwise],
        };
        levels > 0 && parts.iter().all(|part| part.fits_depth(levels - 1))
    }

    /// Calls `visit` on this expression and all inside it.
    pub fn walk(&self, visit: &mut impl FnMut(&Expr)) {
        visit(self);
        match self {
            Expr::Const(_) | Expr::Size { .. } | Expr::Stride { .. } | Expr::Scalar { .. } => {}
            Expr::Binary(_, lhs, rhs) => {
                lhs.walk(visit);
                rhs.walk(visit);
            }
            Expr::Select(condition, then, otherwise) => {
                condition.walk(visit);
                then.walk(visit);
                otherwise.walk(visit);
            }
        }
    }
}

impl BinaryOp {
    /// Name as in the manifest, such as `ceil_div_s`.
    pub const fn name(self) -> &'static str {
        match self {
            BinaryOp::Add => "add",
            BinaryOp::Sub => "sub",
            BinaryOp::Mul => "mul",
            BinaryOp::DivS => "div_s",
            BinaryOp::CeilDivS => "ceil_div_s",
            BinaryOp::FloorDivS => "floor_div_s",
            BinaryOp::RemS => "rem_s",
            BinaryOp::DivU => "div_u",
            BinaryOp::CeilDivU => "ceil_div_u",
            BinaryOp::RemU => "rem_u",
            BinaryOp::MinS => "min_s",
            BinaryOp::MaxS => "max_s",
            BinaryOp::MinU => "min_u",
            BinaryOp::MaxU => "max_u",
            BinaryOp::And => "and",
            BinaryOp::Or => "or",
            BinaryOp::Xor => "xor",
            BinaryOp::Shl => "shl",
            BinaryOp::ShrS => "shr_s",
            BinaryOp::ShrU => "shr_u",
            BinaryOp::Eq => "eq",
            BinaryOp::Ne => "ne",
            BinaryOp::LtS => "lt_s",
            BinaryOp::LeS => "le_s",
            BinaryOp::GtS => "gt_s",
            BinaryOp::GeS => "ge_s",
            BinaryOp::LtU => "lt_u",
            BinaryOp::LeU => "le_u",
            BinaryOp::GtU => "gt_u",
            BinaryOp::GeU => "ge_u",
        }
    }

    /// The operator on two values.
    pub fn apply(self, a: i64, b: i64) -> Result<i64, EvalErrorKind> {
        use EvalErrorKind::{DivisionByZero, Overflow, ShiftRange};
        let (ua, ub) = (a as u64, b as u64);
        let divides = matches!(
            self,
            BinaryOp::DivS
                | BinaryOp::CeilDivS
                | BinaryOp::FloorDivS
                | BinaryOp::RemS
                | BinaryOp::DivU
                | BinaryOp::CeilDivU
                | BinaryOp::RemU
        );
        if divides && b == 0 {
            return Err(DivisionByZero);
        }
        let shift = || u32::try_from(b).ok().filter(|&by| by < 64).ok_or(ShiftRange);
        // The quotient rounded towards zero, and whether a remainder of the divisor's sign (or the other) is left.
        let divide = || Some((a.checked_div(b)?, a.checked_rem(b)?));
        let value = match self {
            BinaryOp::Add => a.checked_add(b),
            BinaryOp::Sub => a.checked_sub(b),
            BinaryOp::Mul => a.checked_mul(b),
            BinaryOp::DivS => a.checked_div(b),
            BinaryOp::CeilDivS => divide().map(|(q, r)| q + i64::from(r != 0 && (r < 0) == (b < 0))),
            BinaryOp::FloorDivS => divide().map(|(q, r)| q - i64::from(r != 0 && (r < 0) != (b < 0))),
            BinaryOp::RemS => Some(a.wrapping_rem(b)),
            BinaryOp::DivU => Some((ua / ub) as i64),
            BinaryOp::CeilDivU => Some(ua.div_ceil(ub) as i64),
            BinaryOp::RemU => Some((ua % ub) as i64),
            BinaryOp::MinS => Some(a.min(b)),
            BinaryOp::MaxS => Some(a.max(b)),
            BinaryOp::MinU => Some(ua.min(ub) as i64),
            BinaryOp::MaxU => Some(ua.max(ub) as i64),
            BinaryOp::And => Some(a & b),
            BinaryOp::Or => Some(a | b),
            BinaryOp::Xor => Some(a ^ b),
            BinaryOp::Shl => {
                let by = shift()?;
                Some(a << by).filter(|shifted| shifted >> by == a)
            }
            BinaryOp::ShrS => Some(a >> shift()?),
            BinaryOp::ShrU => Some((ua >> shift()?) as i64),
            BinaryOp::Eq => Some(i64::from(a == b)),
            BinaryOp::Ne => Some(i64::from(a != b)),
            BinaryOp::LtS => Some(i64::from(a < b)),
            BinaryOp::LeS => Some(i64::from(a <= b)),
            BinaryOp::GtS => Some(i64::from(a > b)),
            BinaryOp::GeS => Some(i64::from(a >= b)),
            BinaryOp::LtU => Some(i64::from(ua < ub)),
            BinaryOp::LeU => Some(i64::from(ua <= ub)),
            BinaryOp::GtU => Some(i64::from(ua > ub)),
            BinaryOp::GeU => Some(i64::from(ua >= ub)),
        };
        value.ok_or(Overflow)
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Const(value) => write!(f, "{value}"),
            Expr::Size { arg, dim } => write!(f, "arg{arg}.size[{dim}]"),
            Expr::Stride { arg, dim } => write!(f, "arg{arg}.stride[{dim}]"),
            Expr::Scalar { arg } => write!(f, "arg{arg}"),
            Expr::Binary(op, lhs, rhs) => write!(f, "{}({lhs}, {rhs})", op.name()),
            Expr::Select(condition, then, otherwise) => write!(f, "select({condition}, {then}, {otherwise})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Arguments;
    use super::*;
    use proptest::prelude::*;

    fn binary(op: BinaryOp, a: i64, b: i64) -> Expr {
        Expr::Binary(op, Box::new(Expr::Const(a)), Box::new(Expr::Const(b)))
    }

    #[test]
    fn values_come_from_the_arguments() {
        let env = Arguments::default();
        let tiles = Expr::Binary(
            BinaryOp::CeilDivS,
            Box::new(Expr::Size { arg: 0, dim: 1 }),
            Box::new(Expr::Const(128)),
        );
        assert_eq!(tiles.eval(&env), Ok(4));
        assert_eq!(Expr::Stride { arg: 0, dim: 0 }.eval(&env), Ok(512));
        assert_eq!(Expr::Scalar { arg: 1 }.eval(&env), Ok(-7));
    }

    #[test]
    fn errors_name_the_smallest_failing_expression_and_its_operands() {
        let env = Arguments::default();
        let inner = Expr::Binary(
            BinaryOp::DivS,
            Box::new(Expr::Size { arg: 0, dim: 1 }),
            Box::new(Expr::Const(0)),
        );
        let outer = Expr::Binary(BinaryOp::Add, Box::new(inner), Box::new(Expr::Const(1)));
        assert_eq!(
            outer.eval(&env).unwrap_err().to_string(),
            "cannot compute div_s(arg0.size[1], 0) from 512 and 0: division by zero"
        );
        assert_eq!(
            Expr::Size { arg: 0, dim: 2 }.eval(&env).unwrap_err().to_string(),
            "cannot compute arg0.size[2]: the kernel has no such argument or dimension"
        );
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        use EvalErrorKind::{DivisionByZero, Overflow, ShiftRange};
        let env = Arguments::default();
        for (op, a, b, kind) in [
            (BinaryOp::Add, i64::MAX, 1, Overflow),
            (BinaryOp::Sub, i64::MIN, 1, Overflow),
            (BinaryOp::Mul, 1 << 62, 2, Overflow),
            (BinaryOp::DivS, i64::MIN, -1, Overflow),
            (BinaryOp::CeilDivS, i64::MIN, -1, Overflow),
            (BinaryOp::RemU, 1, 0, DivisionByZero),
            (BinaryOp::Shl, 1, 63, Overflow),
            (BinaryOp::Shl, 1, 64, ShiftRange),
            (BinaryOp::ShrU, 1, -1, ShiftRange),
        ] {
            assert_eq!(
                binary(op, a, b).eval(&env).unwrap_err().kind,
                kind,
                "{} {a} {b}",
                op.name()
            );
        }
    }

    #[test]
    fn only_the_taken_side_of_a_select_is_evaluated() {
        let bad = Box::new(binary(BinaryOp::DivS, 1, 0));
        let select = |condition| Expr::Select(Box::new(Expr::Const(condition)), Box::new(Expr::Const(5)), bad.clone());
        assert_eq!(select(2).eval(&Arguments::default()), Ok(5));
        assert!(select(0).eval(&Arguments::default()).is_err());
    }

    proptest! {
        #[test]
        fn rounding_divisions_agree_with_exact_arithmetic(a: i64, b: i64) {
            prop_assume!(b != 0 && !(a == i64::MIN && b == -1));
            let (wide_a, wide_b) = (i128::from(a), i128::from(b));
            let floor = wide_a.div_euclid(wide_b) - i128::from(b < 0 && wide_a.rem_euclid(wide_b) != 0);
            let ceil = floor + i128::from(wide_a % wide_b != 0);
            prop_assert_eq!(BinaryOp::FloorDivS.apply(a, b).map(i128::from), Ok(floor));
            prop_assert_eq!(BinaryOp::CeilDivS.apply(a, b).map(i128::from), Ok(ceil));
            prop_assert_eq!(BinaryOp::RemS.apply(a, b).map(i128::from), Ok(wide_a % wide_b));
        }
    }
}
