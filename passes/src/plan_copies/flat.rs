//! Products that stand in no loop, as loops of one pass, so that their operands are staged like those of any other.
//!
//! ```mlir
//! %a = tile.load %A[%c0, %c0] : ... -> tensor<128x64xbf16>                                                       // before
//! %b = tile.load %B[%c0, %c0] : ... -> tensor<64x256xbf16>
//! %n = tile.mma %a, %b, %acc : ...
//!
//! %n = scf.for %k = %c0 to %c1 step %c1 iter_args(%sum = %acc) -> (tensor<128x256xf32>) {                        // after
//!   %a = tile.load %A[%c0, %c0] : ... -> tensor<128x64xbf16>
//!   %b = tile.load %B[%c0, %c0] : ... -> tensor<64x256xbf16>
//!   %next = tile.mma %a, %b, %sum : ...
//!   scf.yield %next : tensor<128x256xf32>
//! }
//! ```
//!
//! As many as have a slot beside those of loops, in the order of the source; threads copy the operands of the others, which
//! share their bytes.
use super::{Plan, V};
use crate::pipeline_loops::{SPARE_BYTES, allocated_bytes, exchanged_bytes};
use girih_dialects::{
    nvvm::Emit,
    tile::{
        ops::{kernel::Kernel, mma::Mma},
        verify::{MAX_SHARED_BYTES, element_bits},
    },
};
use girih_ir::{
    ext::{BlockExt, block},
    mlir_sys::*,
    op::OpView,
    prelude::*,
    rewrite::Before,
};

/// Puts products that wgmma takes and that stand in no loop into one; `plans` are those of all products.
pub(super) fn into_loops<'c>(kernel: Kernel<'c, 'c>, plans: &[Plan<'c>]) {
    let is_flat = |mma: Mma<'c, 'c>| mma.op().parent().is_none_or(|op| op.full_name() != "scf.for");
    let bytes = |plan: &&Plan<'c>| {
        let t = plan.load.result().r#type();
        let elements: i64 = t.shape().unwrap_or_default().iter().product();
        elements.unsigned_abs() * element_bits(t).unwrap_or(0) / 8
    };
    // Those of loops have two slots at least.
    let looped: u64 = plans.iter().filter(|p| !is_flat(p.mma)).map(|p| bytes(&p)).sum();
    let others = allocated_bytes(kernel) + exchanged_bytes(kernel, false, &|_| true) + SPARE_BYTES;
    let mut room = MAX_SHARED_BYTES.saturating_sub(others + 2 * looped);
    let mut products: Vec<(Mma, Vec<&Plan>)> = vec![];
    for plan in plans.iter().filter(|p| is_flat(p.mma)) {
        match products.iter_mut().find(|(mma, _)| mma.op() == plan.mma.op()) {
            Some((_, own)) => own.push(plan),
            None => products.push((plan.mma, vec![plan])),
        }
    }
    let is_staged = |mma: Mma<'c, 'c>| [mma.a(), mma.b()].iter().any(|v| !v.r#type().is_ranked_tensor_type());
    products.retain(|(mma, _)| !is_staged(*mma));
    let needs: Vec<u64> = products.iter().map(|(_, own)| own.iter().map(bytes).sum()).collect();
    if needs.iter().sum::<u64>() > room {
        // What is left over needs a place that it shares.
        room = room.saturating_sub(needs.iter().copied().max().unwrap_or(0));
    }
    for ((mma, own), needed) in products.into_iter().zip(needs) {
        if needed <= room {
            room -= needed;
            into_loop(mma, &own);
        }
    }
}

/// Puts a product into a loop of one pass, and with it what loads its operands.
fn into_loop<'c>(mma: Mma<'c, 'c>, plans: &[&Plan<'c>]) {
    let op = mma.op();
    let (at, loc) = (Before(op), op.location());
    let e = Emit::new(&at, loc);
    let (acc, sum) = (mma.acc(), mma.result());
    let region = Region::new();
    region.append_block(block(&[e.index_type(), sum.r#type()], loc));
    let once = [e.index(0), e.index(1), e.index(1), acc];
    let made = e.op_with_regions("scf.for", &once, &[sum.r#type()], &[], vec![region]);
    let Some(inside) = made.region_at(0).entry() else {
        return;
    };
    // What other ops use, too, is loaded once more.
    for plan in plans {
        let chain: Vec<OperationRef> = std::iter::successors(plan.mma.operand(plan.side).defining_op(), |by| {
            match *by == plan.load.op() {
                true => None,
                false => by.operand_values().first().and_then(|v| v.defining_op()),
            }
        })
        .collect();
        let mut value: Option<V<'c>> = None;
        for by in chain.iter().rev() {
            // SAFETY: the clone is detached, and goes into the loop.
            let copy = unsafe { Operation::from_raw(mlirOperationClone(by.to_raw())) };
            let copy = inside.append_operation(copy);
            if let Some(value) = value {
                // SAFETY: the clone has the operands of the op, the first of which is the value before it.
                unsafe { mlirOperationSetOperand(copy.to_raw(), 0, value.to_raw()) };
            }
            value = Some(copy.result0());
        }
        if let Some(value) = value {
            // SAFETY: an operand of the same type.
            unsafe { mlirOperationSetOperand(op.to_raw(), plan.side as isize, value.to_raw()) };
        }
        for by in chain.iter().take_while(|by| by.result0().users().is_empty()) {
            // SAFETY: nothing uses it any more; those after it in the chain are what it was made of.
            unsafe { mlirOperationDestroy(by.to_raw()) };
        }
    }
    sum.replace_all_uses_with(&made.result0());
    // SAFETY: the op goes to the end of the new block, which has nothing after it yet, with the block's argument in place of
    // the accumulator.
    unsafe {
        let detached = op.to_raw();
        mlirOperationRemoveFromParent(detached);
        mlirBlockAppendOwnedOperation(inside.to_raw(), detached);
        mlirOperationSetOperand(detached, 2, inside.argument_values()[1].to_raw());
    }
    let end = girih_ir::rewrite::AtEnd(inside);
    Emit::new(&end, loc).op("scf.yield", &[sum], &[], &[]);
}
