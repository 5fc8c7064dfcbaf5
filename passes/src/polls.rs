//! Loops that wait for what another thread writes, by loads that LLVM takes to give the same in every pass.
//!
//! ```mlir
//! scf.while : () -> () {
//!   %f = memref.load %F[%c0] : memref<4xi32, #tile.global>      // remark: put `tile.fence gpu` in front of it
//!   %unset = arith.cmpi eq, %f, %zero : i32
//!   scf.condition(%unset)
//! } do { scf.yield }
//! ```
use crate::uniform::search;
use girih_dialects::tile::ops::kernel::Kernel;
use girih_ir::{ext::BlockExt, op::EffectKind, prelude::*};

/// Says which loads a kernel's loops wait for in vain: nothing in the loop writes or orders memory, and the load is of one place.
pub fn remark(kernel: Kernel<'_, '_>) {
    for op in kernel.op().nested_ops() {
        if op.full_name() == "scf.while"
            && let Some(load) = awaited(op)
        {
            let m = "is read in each pass of a loop that waits for it, but nothing in the loop lets another thread's write be seen, so \
                     that it may be read only once; put `tile.fence gpu` in front of it, or poll with `tile.atomic_rmw`";
            drop(Diag::remark(&load, m).note(op.location(), "the loop"));
        }
    }
}

/// The load that decides whether a loop goes on, where the loop cannot see it change.
fn awaited<'c>(repeat: OperationRef<'c, 'c>) -> Option<OperationRef<'c, 'c>> {
    let inside: Vec<_> = repeat.nested_ops().into_iter().filter(|op| *op != repeat).collect();
    let only_reads = |op: &OperationRef<'c, 'c>| {
        let effects = op.memory_effects();
        op.region_count() > 0 || effects.is_some_and(|all| all.iter().all(|(kind, _)| *kind == EffectKind::Read))
    };
    if !inside.iter().all(only_reads) {
        return None;
    }
    let goes_on = repeat.region_at(0).entry()?.op_list().last()?.operand_values();
    let is_outside = |v: &Value<'c, 'c>| match v.defining_op() {
        Some(op) => !inside.contains(&op),
        None => v
            .argument_of()
            .is_some_and(|(owner, _)| owner != repeat && !inside.contains(&owner)),
    };
    let decided_by = |v: Value<'c, 'c>| match v.defining_op() {
        Some(op) if !is_outside(&v) => {
            let operands = op.operand_values();
            match op.full_name() == "memref.load" && operands.iter().all(is_outside) {
                true => Err(op),
                false => Ok(operands),
            }
        }
        _ => Ok(vec![]),
    };
    search(goes_on.first().copied(), decided_by)
}
