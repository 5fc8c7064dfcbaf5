//! Barriers in shared memory.
use super::{group, lower, memory::shared_element};
use girih_dialects::{
    nvvm::{Emit, V},
    tile::ops::mbarrier::{Arrive, ArriveExpectTx, ExpectTx, Init, Inval, TestWait, Wait},
};
use girih_ir::{
    conversion::{Conversion, Operands},
    op::{OpDef, OpView},
    prelude::*,
};

/// Address of the barrier that an op with `barrier` and `indices` names.
fn address<'c>(e: &Emit<'c, '_>, op: OperationRef<'c, 'c>, def: &OpDef, operands: &Operands<'c, '_>) -> V<'c> {
    let t = op.operand_values()[0].r#type();
    shared_element(e, t, operands.one(0), &group(op, def, operands, "indices"))
}

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, Init, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let count = group(op.op(), Init::DEF, operands, "count")[0];
        e.op(
            "nvvm.mbarrier.init",
            &[address(&e, op.op(), Init::DEF, operands), count],
            &[],
            &[],
        );
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, Inval, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        e.op(
            "nvvm.mbarrier.inval",
            &[address(&e, op.op(), Inval::DEF, operands)],
            &[],
            &[],
        );
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, Arrive, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        e.op(
            "nvvm.mbarrier.arrive",
            &[address(&e, op.op(), Arrive::DEF, operands)],
            &[e.i64_type()],
            &[],
        );
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, ArriveExpectTx, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let bytes = group(op.op(), ArriveExpectTx::DEF, operands, "bytes")[0];
        let address = address(&e, op.op(), ArriveExpectTx::DEF, operands);
        e.op("nvvm.mbarrier.arrive.expect_tx", &[address, bytes], &[], &[]);
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, ExpectTx, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let bytes = group(op.op(), ExpectTx::DEF, operands, "bytes")[0];
        e.op(
            "nvvm.mbarrier.expect_tx",
            &[address(&e, op.op(), ExpectTx::DEF, operands), bytes],
            &[],
            &[],
        );
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, TestWait, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let parity = group(op.op(), TestWait::DEF, operands, "parity")[0];
        let done = e.mbarrier_test_wait(address(&e, op.op(), TestWait::DEF, operands), parity);
        rewriter.replace(op.op(), &[done]);
        Ok(())
    });
    lower!(c, Wait, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let parity = group(op.op(), Wait::DEF, operands, "parity")[0];
        e.mbarrier_wait(address(&e, op.op(), Wait::DEF, operands), parity);
        rewriter.erase(op.op());
        Ok(())
    });
}
