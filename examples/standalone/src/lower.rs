//! `convert-length-to-arith`: lengths become integers of their own unit.
//!
//! ```mlir
//! func.func @f(%a: !length.of<m>) -> !length.of<mm> {
//!   %0 = length.refine %a : !length.of<m> -> !length.of<mm>
//!   return %0 : !length.of<mm>
//! }
//! // becomes
//! func.func @f(%a: i64) -> i64 {
//!   %c1000_i64 = arith.constant 1000 : i64
//!   %0 = arith.muli %a, %c1000_i64 : i64
//!   return %0 : i64
//! }
//! ```
//!
//! Sums and products wrap at 64 bits, as the ops do. Nothing of the dialect stays; an op that this pass does not know is
//! refused.
use crate::dialect::{Length, Refine};
use girih_ir::{
    conversion::{Conversion, Converted, TypeConverter},
    melior::{
        dialect::arith,
        ir::{attribute::IntegerAttribute, r#type::IntegerType},
    },
    mlir_sys,
    pass::{DialectSource, Pass, PassContext, PassInfo},
    prelude::*,
    rewrite::Builder,
};

/// The pass.
pub struct ConvertLengthToArith;

impl Pass for ConvertLengthToArith {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        dialects: &[DialectSource::Upstream(mlir_sys::mlirGetDialectHandle__arith__)],
        ..PassInfo::new(
            "convert-length-to-arith",
            "Turn lengths into integers of their own unit",
        )
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, _: &PassContext<'c>) -> Res {
        let types = TypeConverter::new();
        types.add(|t| match Length::of(t) {
            Some(_) => Converted::To(vec![integer(girih_ir::context(t.context()))]),
            None => Converted::NotMine,
        });
        let mut conversion = Conversion::new(module.ctx(), types);
        conversion
            .legal_dialects(&["arith"])
            .illegal_dialects(&["length"])
            .with_func()
            .with_scf()
            .pattern("length.constant", 1, |op, _, rw| {
                // The attribute is an i64 already.
                let value = op.attr("value").ok_or(Reported)?;
                rw.replace_with(op, arith::constant(rw.context(), value, op.location()));
                Ok(())
            })
            .pattern("length.add", 1, |op, operands, rw| {
                rw.replace_with(op, arith::addi(operands.one(0), operands.one(1), op.location()));
                Ok(())
            })
            .pattern("length.refine", 1, |op, operands, rw| {
                let (from, to) = Refine::from_op(op).units();
                let factor = IntegerAttribute::new(integer(rw.context()), from.millimetres() / to.millimetres());
                let factor = rw.value(arith::constant(rw.context(), factor.into(), op.location()));
                rw.replace_with(op, arith::muli(operands.one(0), factor, op.location()));
                Ok(())
            });
        conversion.apply_partially(module)
    }
}

fn integer(context: &Context) -> Type<'_> {
    IntegerType::new(context, 64).into()
}
