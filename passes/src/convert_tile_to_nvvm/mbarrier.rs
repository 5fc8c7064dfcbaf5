//! Barriers in shared memory.
use super::{group, lower, memory::shared_element};
use girih_dialects::{
    nvvm::{Emit, Statement, V},
    tile::{
        ops::mbarrier::{Arrive, ArriveExpectTx, ExpectTx, Init, Inval, TestWait, Wait},
        spaces::is_shared_cluster,
    },
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

/// PTX's space of the barrier that an arrival at cluster scope names; `None` for one at block scope.
fn place(barrier: Type<'_>, cluster: bool) -> Option<&'static str> {
    match is_shared_cluster(barrier) {
        true => Some("shared::cluster"),
        false => cluster.then_some("shared::cta"),
    }
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
        if let Some(place) = place(op.barrier().r#type(), op.cluster()) {
            let address = e.ptr_to_int(address(&e, op.op(), Arrive::DEF, operands), 32);
            Statement::new(format!("mbarrier.arrive.release.cluster.{place}.b64 _, ["))
                .register("r", address)
                .text("]")
                .emit(&e);
            rewriter.erase(op.op());
            return Ok(());
        }
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
        match place(op.barrier().r#type(), op.cluster()) {
            Some(place) => Statement::new(format!("mbarrier.arrive.expect_tx.release.cluster.{place}.b64 _, ["))
                .register("r", e.ptr_to_int(address, 32))
                .text("], ")
                .register("r", bytes)
                .emit(&e),
            None => {
                e.op("nvvm.mbarrier.arrive.expect_tx", &[address, bytes], &[], &[]);
            }
        }
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, ExpectTx, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let bytes = group(op.op(), ExpectTx::DEF, operands, "bytes")[0];
        if is_shared_cluster(op.barrier().r#type()) {
            let address = e.ptr_to_int(address(&e, op.op(), ExpectTx::DEF, operands), 32);
            Statement::new("mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [")
                .register("r", address)
                .text("], ")
                .register("r", bytes)
                .emit(&e);
            rewriter.erase(op.op());
            return Ok(());
        }
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
        let done = e.mbarrier_test_wait(address(&e, op.op(), TestWait::DEF, operands), parity, op.cluster());
        rewriter.replace(op.op(), &[done]);
        Ok(())
    });
    lower!(c, Wait, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let parity = group(op.op(), Wait::DEF, operands, "parity")[0];
        e.mbarrier_wait(address(&e, op.op(), Wait::DEF, operands), parity, op.cluster());
        rewriter.erase(op.op());
        Ok(())
    });
}
