//! What is the same for all threads of a block, or of a role.
use crate::uniform::search;
use girih_dialects::tile::ops::{
    index::{LaneId, ThreadId, WarpId},
    kernel::{Kernel, WarpSpecialize},
};
use girih_ir::{ext::BlockExt, op::EffectKind, prelude::*};

type V<'c> = Value<'c, 'c>;

/// Whether `values` are the same for all threads of the block, or of the role that `op` is in, and either all of them come to
/// `op` or none does. A tile is the same, by what it means; so is what loops carry until something is found that is not.
pub fn is_uniform<'c>(op: OperationRef<'c, 'c>, values: &[V<'c>]) -> bool {
    let (mut from, mut at) = (values.to_vec(), op);
    // What decides whether all threads come here together.
    loop {
        let Some(parent) = at.parent() else { return false };
        if let Some(kernel) = parent.cast::<Kernel>() {
            if kernel.body().block_list().len() != 1 {
                return false;
            }
            break;
        }
        match parent.full_name() {
            "scf.for" | "scf.while" | "scf.if" | "scf.index_switch" => from.extend(bounds(parent)),
            _ if parent.is::<WarpSpecialize>() => {}
            _ => return false,
        }
        at = parent;
    }
    search(from, |v| decided_by(v).ok_or(())).is_none()
}

/// What decides whether a loop runs, or which way a branch goes.
fn bounds<'c>(op: OperationRef<'c, 'c>) -> Vec<V<'c>> {
    let count = match op.full_name() {
        "scf.while" => return yielded(op, 0, 0).into_iter().collect(),
        "scf.for" => 3,
        _ => 1,
    };
    op.operand_values().into_iter().take(count).collect()
}

/// The values that decide one; `None` where threads may differ whatever these are.
fn decided_by<'c>(v: V<'c>) -> Option<Vec<V<'c>>> {
    if v.r#type().is_ranked_tensor_type() {
        return Some(vec![]);
    }
    let Some(op) = v.defining_op() else {
        return match v.argument_of()? {
            (owner, _) if owner.is::<Kernel>() => Some(vec![]),
            (owner, 0) if owner.full_name() == "scf.for" => Some(bounds(owner)),
            (owner, i) if owner.full_name() == "scf.for" => Some([bounds(owner), carried(owner, i - 1)?].concat()),
            (owner, i) if owner.full_name() == "scf.while" => {
                let first = owner.region_at(0).entry()?.argument_values().contains(&v);
                let from = match first {
                    true => vec![*owner.operand_values().get(i)?, yielded(owner, 1, i)?],
                    false => vec![yielded(owner, 0, 1 + i)?],
                };
                Some([bounds(owner), from].concat())
            }
            _ => None,
        };
    };
    let number = op.result_values().iter().position(|r| *r == v)?;
    match op.full_name() {
        "scf.for" => Some([bounds(op), carried(op, number)?].concat()),
        "scf.while" => Some([bounds(op), vec![yielded(op, 0, 1 + number)?]].concat()),
        "scf.if" | "scf.index_switch" => {
            let given: Option<Vec<V>> = (0..op.region_count()).map(|r| yielded(op, r, number)).collect();
            Some([bounds(op), given?].concat())
        }
        _ => {
            let own = op.is::<ThreadId>() || op.is::<WarpId>() || op.is::<LaneId>();
            let foreign = matches!(op.dialect_name(), "nvvm" | "llvm" | "gpu");
            // What reads gives one answer to one question; what writes may give each thread its own.
            let harmless = op
                .memory_effects()
                .is_some_and(|all| all.iter().all(|(kind, _)| *kind == EffectKind::Read));
            (!own && !foreign && op.region_count() == 0 && harmless).then(|| op.operand_values())
        }
    }
}

/// What a loop carries at a place: what it starts with and what each pass leaves.
fn carried<'c>(op: OperationRef<'c, 'c>, number: usize) -> Option<Vec<V<'c>>> {
    Some(vec![*op.operand_values().get(3 + number)?, yielded(op, 0, number)?])
}

fn yielded<'c>(op: OperationRef<'c, 'c>, region: usize, number: usize) -> Option<V<'c>> {
    let end = op.region_at(region).entry()?.terminator_op()?;
    end.operand_values().get(number).copied()
}
