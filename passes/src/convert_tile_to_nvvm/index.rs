//! Block, thread, warp and lane numbers.
use super::lower;
use girih_dialects::{
    nvvm::Emit,
    tile::ops::index::{BlockId, Dim, Elect, GridDim, LaneId, ThreadId, WarpId},
};
use girih_ir::{conversion::Conversion, op::OpView, prelude::*};

/// PTX's letter of a dimension.
pub(super) fn dim(d: Dim) -> &'static str {
    d.spelling()
}

/// The first op of the function around `op`: what is the same for the whole block is computed there, where all threads
/// still run together.
pub(super) fn function_start<'c>(op: OperationRef<'c, 'c>) -> Option<OperationRef<'c, 'c>> {
    let mut at = op;
    while at.full_name() != "llvm.func" {
        at = at.parent()?;
    }
    unsafe {
        let block = at.region_at(0).entry()?;
        OperationRef::from_option_raw(girih_ir::mlir_sys::mlirBlockGetFirstOperation(block.to_raw()))
    }
}

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, BlockId, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        rewriter.replace(op.op(), &[e.to_index(e.sreg(&format!("ctaid.{}", dim(op.dim()))))]);
        Ok(())
    });
    lower!(c, GridDim, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        rewriter.replace(op.op(), &[e.to_index(e.sreg(&format!("nctaid.{}", dim(op.dim()))))]);
        Ok(())
    });
    lower!(c, ThreadId, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let thread = match op.fresh() {
            true => e.inline_ptx("mov.u32 $0, %tid.x;", &[("r", e.i32_type())], &[], &[], false)[0],
            false => e.sreg("tid.x"),
        };
        rewriter.replace(op.op(), &[e.to_index(thread)]);
        Ok(())
    });
    lower!(c, LaneId, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        rewriter.replace(op.op(), &[e.to_index(e.sreg("laneid"))]);
        Ok(())
    });
    lower!(c, WarpId, |op, _, rewriter| {
        if let Some(first) = function_start(op.op()) {
            rewriter.set_insertion_before(first);
        }
        let e = Emit::new(rewriter, op.op().location());
        let warp = e.to_index(e.uniform_warp());
        rewriter.replace(op.op(), &[warp]);
        Ok(())
    });
    lower!(c, Elect, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        rewriter.replace(op.op(), &[e.elect()]);
        Ok(())
    });
}
