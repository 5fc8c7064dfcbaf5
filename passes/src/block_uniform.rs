//! What is the same for all threads of a block, or of a role.
use girih_dialects::tile::ops::{
    index::{LaneId, ThreadId, WarpId},
    kernel::{Kernel, WarpSpecialize},
};
use girih_ir::{ext::BlockExt, op::EffectKind, prelude::*};

type V<'c> = Value<'c, 'c>;

/// Whether values are the same for all threads of the block, as far as is known. A tile is, by what it means.
///
/// What loops carry is taken to be the same until something is found that is not, so one such walk answers for all values
/// together.
#[derive(Default)]
struct Walk<'c> {
    seen: Vec<V<'c>>,
}

/// Whether `values` are the same for all threads of the block, or of the role that `op` is in, and either all of them come to
/// `op` or none does.
pub fn is_uniform<'c>(op: OperationRef<'c, 'c>, values: &[V<'c>]) -> bool {
    let mut walk = Walk::default();
    values.iter().all(|v| walk.value(*v)) && walk.way(op)
}

impl<'c> Walk<'c> {
    /// Whether all threads come to an op together.
    fn way(&mut self, op: OperationRef<'c, 'c>) -> bool {
        let Some(parent) = op.parent() else { return false };
        if let Some(kernel) = parent.cast::<Kernel>() {
            return kernel.body().block_list().len() == 1;
        }
        let passes =
            parent.is::<WarpSpecialize>() || matches!(parent.full_name(), "scf.for" | "scf.if") && self.bounds(parent);
        passes && self.way(parent)
    }
    /// Whether a loop runs, or a branch goes, the same way for all.
    fn bounds(&mut self, op: OperationRef<'c, 'c>) -> bool {
        let operands = op.operand_values();
        let count = if op.full_name() == "scf.for" { 3 } else { 1 };
        operands.iter().take(count).all(|v| self.value(*v))
    }
    fn value(&mut self, v: V<'c>) -> bool {
        if v.r#type().is_ranked_tensor_type() || self.seen.contains(&v) {
            return true;
        }
        self.seen.push(v);
        match v.defining_op() {
            Some(op) => self.result(op, v),
            None => match v.argument_of() {
                Some((owner, _)) if owner.is::<Kernel>() => true,
                Some((owner, 0)) if owner.full_name() == "scf.for" => self.bounds(owner),
                Some((owner, i)) if owner.full_name() == "scf.for" => self.bounds(owner) && self.carried(owner, i - 1),
                _ => false,
            },
        }
    }
    fn result(&mut self, op: OperationRef<'c, 'c>, v: V<'c>) -> bool {
        let number = op.result_values().iter().position(|r| *r == v).unwrap_or(0);
        match op.full_name() {
            "scf.for" => self.bounds(op) && self.carried(op, number),
            "scf.if" => self.bounds(op) && (0..op.region_count()).all(|r| self.yielded(op, r, number)),
            _ => {
                let own = op.is::<ThreadId>() || op.is::<WarpId>() || op.is::<LaneId>();
                let foreign = matches!(op.dialect_name(), "nvvm" | "llvm" | "gpu");
                // What reads gives one answer to one question; what writes may give each thread its own.
                let harmless = op
                    .memory_effects()
                    .is_some_and(|all| all.iter().all(|(kind, _)| *kind == EffectKind::Read));
                !own && !foreign
                    && op.region_count() == 0
                    && harmless
                    && op.operand_values().iter().all(|o| self.value(*o))
            }
        }
    }
    /// What a loop carries at a place: what it starts with and what each pass leaves.
    fn carried(&mut self, op: OperationRef<'c, 'c>, number: usize) -> bool {
        op.operand_values()
            .get(3 + number)
            .is_some_and(|start| self.value(*start))
            && self.yielded(op, 0, number)
    }
    fn yielded(&mut self, op: OperationRef<'c, 'c>, region: usize, number: usize) -> bool {
        let end = op.region_at(region).entry().and_then(|b| b.terminator_op());
        let given = end.and_then(|end| end.operand_values().get(number).copied());
        given.is_some_and(|v| self.value(v))
    }
}
