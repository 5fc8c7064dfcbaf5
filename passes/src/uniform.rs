//! Whether a number is the same in all threads of a cluster, and the search that such questions share.
use girih_dialects::tile::ops::{
    cluster::{ClusterDim, ClusterId, ClusterSize},
    index::GridDim,
    kernel::Kernel,
    value::IsAligned,
};
use girih_ir::{op::OpView, prelude::*};
use std::collections::BTreeSet;

/// Goes through what `from` is made of, each value once and without recursion: `decided_by` gives the values that decide one,
/// or ends the search. The answer of the first that ends it; `None` where none does.
pub fn search<'c, E>(
    from: impl IntoIterator<Item = Value<'c, 'c>>,
    decided_by: impl Fn(Value<'c, 'c>) -> Result<Vec<Value<'c, 'c>>, E>,
) -> Option<E> {
    // Values that are still to be looked at, the next one last.
    let mut open: Vec<Value> = from.into_iter().collect();
    open.reverse();
    let mut seen = BTreeSet::new();
    while let Some(v) = open.pop() {
        if !seen.insert(v.to_raw().ptr as usize) {
            continue;
        }
        match decided_by(v) {
            Ok(values) => open.extend(values.into_iter().rev()),
            Err(found) => return Some(found),
        }
    }
    None
}

/// What makes a number differ between threads of a cluster, or may; `None` for one that is the same in all of them.
/// Arguments of the kernel, sizes and constants are, and what is computed from them; loaded numbers are not known to be.
pub fn difference<'c>(v: Value<'c, 'c>) -> Option<OperationRef<'c, 'c>> {
    search([v], decided_by)
}

/// What decides a value that is the same in all threads of a cluster if these are; or what makes it differ.
fn decided_by<'c>(v: Value<'c, 'c>) -> Result<Vec<Value<'c, 'c>>, OperationRef<'c, 'c>> {
    let Some(op) = v.defining_op() else {
        return match v.argument_of() {
            Some((op, _)) if op.is::<Kernel>() => Ok(vec![]),
            // A loop's counter, which its bounds and its step decide.
            Some((op, 0)) if op.full_name() == "scf.for" => Ok(op.operand_values().into_iter().take(3).collect()),
            Some((op, _)) => Err(op),
            None => Ok(vec![]),
        };
    };
    let known = [
        ClusterId::NAME,
        ClusterSize::NAME,
        ClusterDim::NAME,
        GridDim::NAME,
        IsAligned::NAME,
        "memref.dim",
    ];
    let computed = matches!(op.dialect_name(), "arith" | "index" | "math") && op.region_count() == 0;
    match known.contains(&op.full_name()) || computed {
        true => Ok(op.operand_values()),
        false => Err(op),
    }
}

/// What decides whether all threads of a cluster come to `op` together, and may decide otherwise for some: an op around `op`,
/// with what makes its condition differ.
pub fn divergence<'c>(op: OperationRef<'c, 'c>) -> Option<(OperationRef<'c, 'c>, OperationRef<'c, 'c>)> {
    let mut at = op;
    while let Some(outer) = at.parent().filter(|o| !o.is::<Kernel>()) {
        let decides = match outer.full_name() {
            "scf.if" | "scf.index_switch" => outer.operand_values().into_iter().take(1).collect(),
            "scf.for" => outer.operand_values().into_iter().take(3).collect(),
            _ => vec![],
        };
        let known = matches!(outer.full_name(), "scf.if" | "scf.index_switch" | "scf.for");
        let found = if known {
            decides.into_iter().find_map(difference)
        } else {
            Some(outer)
        };
        if let Some(found) = found {
            return Some((outer, found));
        }
        at = outer;
    }
    None
}
