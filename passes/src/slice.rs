//! Index arithmetic in another place: what computes a value is written again where the value is needed.
use girih_ir::{ext::BlockExt, melior::ir::Operation, mlir_sys::*, prelude::*, rewrite::Builder};
use std::collections::BTreeSet;

type V<'c> = Value<'c, 'c>;

/// Ops between a value and what it is made of that are written again.
const DEEPEST: usize = 256;

/// Whether a value is a result or an argument inside `op`.
pub fn is_defined_in<'c>(v: V<'c>, op: OperationRef<'c, 'c>) -> bool {
    let mut at = match v.defining_op() {
        Some(by) => by.parent(),
        None => v.argument_of().map(|(owner, _)| owner),
    };
    while let Some(outer) = at {
        if outer == op {
            return true;
        }
        at = outer.parent();
    }
    false
}

/// Whether an op may be done again: it has no effects. Divisions may trap, but what is written again has been done before.
fn is_arithmetic(op: OperationRef<'_, '_>) -> bool {
    op.region_count() == 0 && op.memory_effects().is_some_and(|effects| effects.is_empty())
}

/// Values of one place, and what they are in another.
pub struct Slice<'c, 'f> {
    known: Vec<(V<'c>, V<'c>)>,
    /// Whether a value can be used in the other place as it is.
    is_visible: Box<dyn Fn(V<'c>) -> bool + 'f>,
    /// Values that are being written.
    depth: usize,
}

impl<'c, 'f> Slice<'c, 'f> {
    /// A slice that knows nothing yet. `is_visible` says which values can be used in the other place as they are.
    pub fn new(is_visible: impl Fn(V<'c>) -> bool + 'f) -> Self {
        Slice {
            known: vec![],
            is_visible: Box::new(is_visible),
            depth: 0,
        }
    }
    /// Says what a value is in the other place.
    pub fn set(&mut self, from: V<'c>, to: V<'c>) {
        self.known.push((from, to));
    }
    /// What is known by now, to come back to with [`Slice::leave`].
    pub fn enter(&self) -> usize {
        self.known.len()
    }
    /// Forgets what was written since [`Slice::enter`]: it is not seen outside the block that it was written to.
    pub fn leave(&mut self, mark: usize) {
        self.known.truncate(mark);
    }
    fn find(&self, v: V<'c>) -> Option<V<'c>> {
        self.known.iter().rev().find(|(from, _)| *from == v).map(|(_, to)| *to)
    }

    /// Whether [`Slice::get`] will succeed.
    pub fn reaches(&self, v: V<'c>) -> bool {
        self.reaches_from(v, &mut BTreeSet::new(), self.depth)
    }
    /// `done` are values that it reaches.
    fn reaches_from(&self, v: V<'c>, done: &mut BTreeSet<usize>, depth: usize) -> bool {
        if self.find(v).is_some() || (self.is_visible)(v) || done.contains(&(v.to_raw().ptr as usize)) {
            return true;
        }
        let reached = depth < DEEPEST
            && v.defining_op().is_some_and(|op| {
                is_arithmetic(op)
                    && op
                        .operand_values()
                        .iter()
                        .all(|o| self.reaches_from(*o, done, depth + 1))
            });
        if reached {
            done.insert(v.to_raw().ptr as usize);
        }
        reached
    }
    /// A value in the other place, written at `at` as far as needed. `Err` is the value that cannot be had there: memory
    /// that is read, what a loop carries, or what lies behind too many ops.
    pub fn get(&mut self, v: V<'c>, at: &dyn Builder<'c>) -> Result<V<'c>, V<'c>> {
        if let Some(to) = self.find(v) {
            return Ok(to);
        }
        if (self.is_visible)(v) {
            return Ok(v);
        }
        let op = v.defining_op().filter(|op| is_arithmetic(*op) && self.depth < DEEPEST);
        let op = op.ok_or(v)?;
        self.depth += 1;
        let copied = self.copy(op, at);
        self.depth -= 1;
        copied?;
        self.find(v).ok_or(v)
    }
    /// Writes an op again, with everything in it; what it uses is written before it as far as needed.
    pub fn copy(&mut self, op: OperationRef<'c, 'c>, at: &dyn Builder<'c>) -> Result<(), V<'c>> {
        for inner in op.nested_ops() {
            for v in inner.operand_values() {
                if !is_defined_in(v, op) && v.defining_op() != Some(op) {
                    self.get(v, at)?;
                }
            }
        }
        // SAFETY: the clone is detached and owned by the builder from here on.
        let copy = at.insert(unsafe { Operation::from_raw(mlirOperationClone(op.to_raw())) });
        for inner in copy.nested_ops() {
            for (i, v) in inner.operand_values().into_iter().enumerate() {
                if let Some(to) = self.find(v) {
                    // SAFETY: the index is that of an operand.
                    unsafe { mlirOperationSetOperand(inner.to_raw(), i as isize, to.to_raw()) };
                }
            }
        }
        for (from, to) in op.result_values().into_iter().zip(copy.result_values()) {
            self.set(from, to);
        }
        Ok(())
    }
    /// Writes the ops of a block again, but for its terminator.
    pub fn copy_block(&mut self, block: BlockRef<'c, 'c>, at: &dyn Builder<'c>) -> Result<(), V<'c>> {
        let ops = block.op_list();
        ops[..ops.len().saturating_sub(1)]
            .iter()
            .try_for_each(|op| self.copy(*op, at))
    }
}
