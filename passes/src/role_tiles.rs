//! Tiles that a role takes from outside are made anew in it where they are made of nothing but counts and numbers: the same op in
//! and before a role is one op to `cse`.
//!
//! ```mlir
//! %i = tile.iota axis 0 : tensor<512xi32>                                                    // before
//! %m = arith.cmpi slt, %i, %c : tensor<512xi32>
//! tile.warp_specialize role a(%t) warps(2) barrier(1) { tile.store %i, %Y[%c0] mask %m : ... }
//!
//! tile.warp_specialize role a(%t) warps(2) barrier(1) {                                      // after
//!   %n = arith.cmpi slt, %i, %c : tensor<512xi32>
//!   tile.store %i, %Y[%c0] mask %n : ...
//! }
//! ```
use crate::{assign_layouts::is_free, shared_uses::in_role};
use girih_dialects::tile::ops::kernel::Kernel;
use girih_ir::{
    ext::BlockExt,
    mlir_sys::*,
    prelude::*,
    rewrite::{Before, Builder},
};
use std::collections::BTreeMap;

type V<'c> = Value<'c, 'c>;

/// Most ops that one tile is made anew of.
pub(crate) const MOST: usize = 64;

/// Makes tiles anew for each op in a role that takes them from outside; those that cannot be are left.
pub fn make_anew(kernel: Kernel<'_, '_>) {
    for op in kernel.op().nested_ops() {
        if in_role(op).is_none() {
            continue;
        }
        let mut made = BTreeMap::new();
        for (i, v) in op.operand_values().into_iter().enumerate() {
            if let Some(chain) = foreign(op, v).then(|| chain(op, v)).flatten() {
                let new = clone(op, v, &chain, &mut made);
                // SAFETY: the index is that of an operand, of the same type.
                unsafe { mlirOperationSetOperand(op.to_raw(), i as isize, new.to_raw()) };
            }
        }
    }
}

/// Whether an op takes a tile that is made outside of its role.
fn foreign<'c>(op: OperationRef<'c, 'c>, v: V<'c>) -> bool {
    v.r#type().is_ranked_tensor_type() && !is_free(v) && v.defining_op().is_some_and(|by| in_role(by) != in_role(op))
}

/// The ops outside of `op`'s role that make a tile, in the order of the source; `None` where not all of them can be cloned.
fn chain<'c>(op: OperationRef<'c, 'c>, v: V<'c>) -> Option<Vec<OperationRef<'c, 'c>>> {
    let mut found: Vec<OperationRef<'c, 'c>> = vec![];
    let mut open = vec![v];
    while let Some(v) = open.pop() {
        let by = v.defining_op()?;
        if found.contains(&by) {
            continue;
        }
        if !by.is_pure() || by.region_count() > 0 || found.len() == MOST {
            return None;
        }
        found.push(by);
        let tiles = by
            .operand_values()
            .into_iter()
            .filter(|v| v.r#type().is_ranked_tensor_type());
        open.extend(tiles.filter(|v| v.defining_op().is_none() || foreign(op, *v)));
    }
    let all = found.first()?.block()?.op_list();
    let place = |by: &OperationRef<'c, 'c>| all.iter().position(|o| o == by);
    // Of several blocks the order is not known.
    let mut placed = found
        .iter()
        .map(|by| place(by).map(|p| (p, *by)))
        .collect::<Option<Vec<_>>>()?;
    placed.sort_by_key(|(p, _)| *p);
    Some(placed.into_iter().map(|(_, by)| by).collect())
}

/// A tile, made in front of `op` by clones of a chain of ops.
fn clone<'c>(
    op: OperationRef<'c, 'c>,
    v: V<'c>,
    chain: &[OperationRef<'c, 'c>],
    made: &mut BTreeMap<usize, V<'c>>,
) -> V<'c> {
    let key = |v: V<'c>| v.to_raw().ptr as usize;
    for by in chain {
        if by.result_values().iter().all(|v| made.contains_key(&key(*v))) {
            continue;
        }
        // SAFETY: the clone is detached, and what it takes is there before `op`.
        let new = Before(op).insert(unsafe { Operation::from_raw(mlirOperationClone(by.to_raw())) });
        for (i, operand) in by.operand_values().into_iter().enumerate() {
            if let Some(own) = made.get(&key(operand)) {
                // SAFETY: the index is that of an operand, of the same type.
                unsafe { mlirOperationSetOperand(new.to_raw(), i as isize, own.to_raw()) };
            }
        }
        made.extend(by.result_values().into_iter().map(key).zip(new.result_values()));
    }
    made.get(&key(v)).copied().unwrap_or(v)
}
