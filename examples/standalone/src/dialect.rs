//! The dialect's type and ops.
use girih_ir::{
    attr_enum,
    constraint::Constraint,
    dialect::Dialect,
    kind::{I64, Kind},
    op,
    op::Fold,
    param_type,
    prelude::*,
};

attr_enum! {
    /// What a length is counted in.
    pub enum Unit("a unit") {
        /// Millimetres.
        Millimetre = "mm",
        /// Metres.
        Metre = "m",
        /// Kilometres.
        Kilometre = "km",
    }
}

impl Unit {
    /// How many millimetres it has.
    pub fn millimetres(self) -> i64 {
        match self {
            Unit::Millimetre => 1,
            Unit::Metre => 1_000,
            Unit::Kilometre => 1_000_000,
        }
    }
}

param_type! {
    /// A whole number of a unit: `!length.of<mm>`.
    pub struct Length = "length"."of" {
        params { unit: required(Unit) }
    }
}

const LENGTH_TYPE: Constraint = Constraint::new("a length", |t| Length::of(t).is_some());

op! {
    /// A fixed length.
    ///
    /// ```mlir
    /// %0 = length.constant 12 : !length.of<mm>
    /// ```
    pub struct Constant = "length.constant" {
        results { result: one(LENGTH_TYPE) }
        attributes { value: required(I64) }
        traits [ConstantLike]
        effects pure
        format "$value attr-dict `:` type($result)"
        hooks {
            fn fold(self, _: &[Option<Attribute<'c>>]) -> Option<Vec<Fold<'c, 'c>>> {
                Some(vec![Fold::Constant(self.op().attr("value")?)])
            }
        }
    }
}

op! {
    /// The sum of two lengths of one unit; it wraps at 64 bits.
    ///
    /// ```mlir
    /// %1 = length.add %0, %0 : !length.of<mm>
    /// ```
    pub struct Add = "length.add" {
        operands { lhs: one(LENGTH_TYPE), rhs: one(LENGTH_TYPE) }
        results { result: one(LENGTH_TYPE) }
        traits [Commutative, SameOperandsAndResultType]
        effects pure
        format custom
        hooks {
            fn parse(p: &OpParser<'c>) -> Res {
                let lhs = p.operand()?;
                p.token(Token::Comma)?;
                let rhs = p.operand()?;
                p.attr_dict()?;
                p.token(Token::Colon)?;
                let ty = p.ty()?;
                p.resolve(lhs, ty)?;
                p.resolve(rhs, ty)?;
                p.add_result(ty);
                Ok(())
            }
            fn print(self, p: &Printer) {
                p.text(" ").operands([self.lhs(), self.rhs()]).attr_dict(&self.op(), &[]);
                p.text(" : ").ty(self.result().r#type());
            }
            fn fold(self, operands: &[Option<Attribute<'c>>]) -> Option<Vec<Fold<'c, 'c>>> {
                let a = I64::from_attribute(operands[0]?)?;
                let b = I64::from_attribute(operands[1]?)?;
                Some(vec![Fold::Constant(I64::to_attribute(&a.wrapping_add(b), self.op().ctx()))])
            }
        }
    }
}

op! {
    /// The same length in a finer unit.
    ///
    /// ```mlir
    /// %1 = length.refine %0 : !length.of<m> -> !length.of<mm>
    /// ```
    pub struct Refine = "length.refine" {
        operands { input: one(LENGTH_TYPE) }
        results { result: one(LENGTH_TYPE) }
        effects pure
        format "$input attr-dict `:` type($input) `->` type($result)"
        hooks {
            fn verify(self) -> Res {
                let (from, to) = self.units();
                if from.millimetres() < to.millimetres() {
                    let m = format!("goes from {from} to the coarser {to} and would lose digits; divide instead");
                    return Diag::op(&self.op(), m).report();
                }
                Ok(())
            }
        }
    }
}

impl Refine<'_, '_> {
    /// The units of the operand and of the result.
    pub fn units(&self) -> (Unit, Unit) {
        let unit = |v: Value| Length::of(v.r#type()).map_or(Unit::Millimetre, |l| l.unit());
        (unit(self.input()), unit(self.result()))
    }
}

/// The dialect.
pub static LENGTH: Dialect = Dialect {
    ops: &[Constant::REGISTRATION, Add::REGISTRATION, Refine::REGISTRATION],
    types: &[Length::REGISTRATION],
    materialize_constant: Some(|value, ty, loc| Some(Constant::build(loc, ty, I64::from_attribute(value)?))),
    ..Dialect::new("length")
};
