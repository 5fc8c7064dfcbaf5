//! Integer ops of `arith` and `index` as expressions of the manifest.
use girih_core::manifest::{BinaryOp, Expr};
use girih_ir::{
    kind::{I64, Kind},
    prelude::*,
};
use mlir_sys::*;

/// An operand: its value, sign-extended (an i1 is 0 or 1), and the bits of its type.
pub(super) struct Number<'e> {
    pub expr: &'e Expr,
    pub bits: u32,
}

impl Number<'_> {
    /// The value of the type's bits read as a signed number.
    fn signed(&self) -> Expr {
        match self.bits {
            1 => binary(BinaryOp::Sub, Expr::Const(0), self.expr.clone()),
            _ => self.expr.clone(),
        }
    }
    /// The value of the type's bits read as an unsigned number; all 64 bits of a wide one.
    fn unsigned(&self) -> Expr {
        match self.bits {
            1 | 64 => self.expr.clone(),
            bits => binary(
                BinaryOp::And,
                self.expr.clone(),
                Expr::Const(((1u64 << bits) - 1) as i64),
            ),
        }
    }
    /// Any value whose low bits are the type's.
    fn raw(&self) -> Expr {
        self.expr.clone()
    }
}

/// How an operator reads its operands, and whether its result may leave the type's range.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// Signed; results stay in range but for i1.
    Signed,
    /// Unsigned.
    Unsigned,
    /// The low bits of the result come from the low bits of the operands.
    Low,
    /// As `Low`, and the result is in range.
    Bitwise,
    /// Left operand as it is, right operand a number of bits.
    ShiftLeft,
    /// Left operand signed.
    ShiftSigned,
}

/// The name of an op without its dialect, in `arith`'s spelling and `index`'s, with what it computes.
const OPERATORS: &[(&str, &str, BinaryOp, Reads)] = &[
    ("addi", "add", BinaryOp::Add, Reads::Low),
    ("subi", "sub", BinaryOp::Sub, Reads::Low),
    ("muli", "mul", BinaryOp::Mul, Reads::Low),
    ("divsi", "divs", BinaryOp::DivS, Reads::Signed),
    ("ceildivsi", "ceildivs", BinaryOp::CeilDivS, Reads::Signed),
    ("floordivsi", "floordivs", BinaryOp::FloorDivS, Reads::Signed),
    ("remsi", "rems", BinaryOp::RemS, Reads::Signed),
    ("minsi", "mins", BinaryOp::MinS, Reads::Signed),
    ("maxsi", "maxs", BinaryOp::MaxS, Reads::Signed),
    ("divui", "divu", BinaryOp::DivU, Reads::Unsigned),
    ("ceildivui", "ceildivu", BinaryOp::CeilDivU, Reads::Unsigned),
    ("remui", "remu", BinaryOp::RemU, Reads::Unsigned),
    ("minui", "minu", BinaryOp::MinU, Reads::Unsigned),
    ("maxui", "maxu", BinaryOp::MaxU, Reads::Unsigned),
    ("shrui", "shru", BinaryOp::ShrU, Reads::Unsigned),
    ("andi", "and", BinaryOp::And, Reads::Bitwise),
    ("ori", "or", BinaryOp::Or, Reads::Bitwise),
    ("xori", "xor", BinaryOp::Xor, Reads::Bitwise),
    ("shli", "shl", BinaryOp::Shl, Reads::ShiftLeft),
    ("shrsi", "shrs", BinaryOp::ShrS, Reads::ShiftSigned),
];

/// `arith.cmpi`'s predicates in the order of their numbers, with the names that `index.cmp` uses.
const PREDICATES: [(&str, BinaryOp); 10] = [
    ("eq", BinaryOp::Eq),
    ("ne", BinaryOp::Ne),
    ("slt", BinaryOp::LtS),
    ("sle", BinaryOp::LeS),
    ("sgt", BinaryOp::GtS),
    ("sge", BinaryOp::GeS),
    ("ult", BinaryOp::LtU),
    ("ule", BinaryOp::LeU),
    ("ugt", BinaryOp::GtU),
    ("uge", BinaryOp::GeU),
];

/// Bits of an integer that the launcher can hold; `index` has 64.
pub(super) fn bits(t: Type<'_>) -> Option<u32> {
    if t.is_index_type() {
        return Some(64);
    }
    // SAFETY: the type is alive.
    let signless = unsafe { mlirTypeIsAInteger(t.to_raw()) && mlirIntegerTypeIsSignless(t.to_raw()) };
    t.bit_width().filter(|bits| signless && (1..=64).contains(bits))
}

/// Operands and operators of an expression.
pub(super) fn terms(expr: &Expr) -> usize {
    let mut n = 0;
    expr.walk(&mut |_| n += 1);
    n
}

/// Levels of operators.
pub(super) fn depth(expr: &Expr) -> usize {
    match expr {
        Expr::Binary(_, a, b) => 1 + depth(a).max(depth(b)),
        Expr::Select(c, a, b) => 1 + depth(c).max(depth(a)).max(depth(b)),
        _ => 0,
    }
}

/// A binary expression; of constants, its value where it has one.
pub(super) fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    match (op, &a, &b) {
        (_, Expr::Const(x), Expr::Const(y)) => match op.apply(*x, *y) {
            Ok(v) => Expr::Const(v),
            Err(_) => Expr::Binary(op, a.into(), b.into()),
        },
        (BinaryOp::Mul, _, Expr::Const(1)) | (BinaryOp::Add | BinaryOp::Sub, _, Expr::Const(0)) => a,
        (BinaryOp::Mul, Expr::Const(1), _) | (BinaryOp::Add, Expr::Const(0), _) => b,
        _ => Expr::Binary(op, a.into(), b.into()),
    }
}

/// The low `bits` of a value, sign-extended; 0 or 1 for one bit.
fn wrap(expr: Expr, bits: u32) -> Expr {
    match bits {
        64 => expr,
        1 => binary(BinaryOp::And, expr, Expr::Const(1)),
        _ => {
            let sign = 1i64 << (bits - 1);
            let low = binary(BinaryOp::And, expr, Expr::Const(sign | (sign - 1)));
            binary(
                BinaryOp::Sub,
                binary(BinaryOp::Xor, low, Expr::Const(sign)),
                Expr::Const(sign),
            )
        }
    }
}

/// The expression of an op with one result, or why there is none.
pub(super) fn evaluate(op: OperationRef<'_, '_>, operands: &[Number<'_>]) -> Result<Expr, String> {
    let full = op.full_name();
    let to = op.result0().r#type();
    let Some(to) = bits(to) else {
        return Err(format!("gives {to}, but the launcher computes with integers only"));
    };
    let (dialect, name) = full.split_once('.').unwrap_or((full, ""));
    let arith = dialect == "arith";
    if !arith && dialect != "index" {
        return Err("cannot be computed by the launcher".to_owned());
    }
    Ok(match (name, operands) {
        ("constant" | "bool.constant", []) => constant(op).ok_or("is no integer constant")?,
        ("sizeof", []) => Expr::Const(64),
        ("index_cast" | "extsi" | "trunci" | "casts", [x]) => narrow(x.signed(), x.bits, to),
        ("index_castui" | "extui" | "castu", [x]) => narrow(x.unsigned(), x.bits, to),
        ("select", [condition, a, b]) => match condition.expr {
            Expr::Const(0) => b.raw(),
            Expr::Const(_) => a.raw(),
            unknown => Expr::Select(unknown.clone().into(), a.raw().into(), b.raw().into()),
        },
        ("cmpi" | "cmp", [a, b]) => compare(op, a, b).ok_or("has a predicate that the launcher does not know")?,
        (_, [a, b]) => {
            let found = OPERATORS
                .iter()
                .find(|(of_arith, of_index, ..)| name == if arith { *of_arith } else { *of_index });
            let Some((.., operator, reads)) = found else {
                return Err("cannot be computed by the launcher".to_owned());
            };
            operate(*operator, *reads, a, b, to)
        }
        _ => return Err("cannot be computed by the launcher".to_owned()),
    })
}

fn operate(op: BinaryOp, reads: Reads, a: &Number<'_>, b: &Number<'_>, to: u32) -> Expr {
    let (left, right) = match reads {
        Reads::Signed => (a.signed(), b.signed()),
        Reads::Unsigned => (a.unsigned(), b.unsigned()),
        Reads::Low | Reads::Bitwise => (a.raw(), b.raw()),
        Reads::ShiftLeft => (a.raw(), b.unsigned()),
        Reads::ShiftSigned => (a.signed(), b.unsigned()),
    };
    let value = binary(op, left, right);
    match reads {
        Reads::Bitwise => value,
        Reads::Signed | Reads::ShiftSigned if to > 1 => value,
        _ => wrap(value, to),
    }
}

/// A value read from `from` bits as a value of `to` bits. What was read as unsigned fits a wider type as it is.
fn narrow(value: Expr, from: u32, to: u32) -> Expr {
    if to < from || to == 1 { wrap(value, to) } else { value }
}

fn compare(op: OperationRef<'_, '_>, a: &Number<'_>, b: &Number<'_>) -> Option<Expr> {
    let predicate = match (op.attr("predicate"), op.attr("pred")) {
        (Some(number), _) => PREDICATES.get(usize::try_from(I64::from_attribute(number)?).ok()?)?.1,
        (None, Some(name)) => {
            let text = name.to_string();
            let word = text.trim_end_matches('>').rsplit([' ', '<']).next()?.to_owned();
            PREDICATES.iter().find(|(name, _)| *name == word)?.1
        }
        _ => return None,
    };
    let unsigned = matches!(predicate, BinaryOp::LtU | BinaryOp::LeU | BinaryOp::GtU | BinaryOp::GeU);
    Some(if unsigned {
        binary(predicate, a.unsigned(), b.unsigned())
    } else {
        binary(predicate, a.signed(), b.signed())
    })
}

fn constant(op: OperationRef<'_, '_>) -> Option<Expr> {
    let value = op.attr("value")?;
    // SAFETY: each accessor follows the test of its kind; the width of the type is at most 64, as `evaluate` tested.
    let value = unsafe {
        if !mlirAttributeIsAInteger(value.to_raw()) {
            return None;
        }
        mlirIntegerAttrGetValueInt(value.to_raw())
    };
    let one_bit = op.result0().r#type().is_int(1);
    Some(Expr::Const(if one_bit { value & 1 } else { value }))
}
