//! What an index is in each thread, as far as arithmetic on the thread's number says.
//!
//! Loops are looked at in their first pass; what all threads of a block have in common and is known only at launch (numbers
//! of blocks, sizes) counts as 0. Both move all threads of a warp alike.
use girih_dialects::tile::{
    marks::{VARIES, has_mark},
    ops::{
        index::{Elect, LaneId, ThreadId, WarpId},
        kernel::{Kernel, WarpSpecialize},
    },
};
use girih_ir::prelude::*;
use std::{collections::BTreeMap, marker::PhantomData};

type V<'c> = Value<'c, 'c>;

/// Ops between a value and what it is made of that are looked through.
const DEEPEST: usize = 256;

/// The values of one thread.
pub struct Thread<'c> {
    number: i64,
    known: BTreeMap<usize, Option<i64>>,
    /// Values that are being computed.
    depth: usize,
    lifetime: PhantomData<V<'c>>,
}

impl<'c> Thread<'c> {
    /// Of the thread with that number in its block or role.
    pub fn new(number: u64) -> Self {
        Thread {
            number: number as i64,
            known: BTreeMap::new(),
            depth: 0,
            lifetime: PhantomData,
        }
    }

    /// The integer that a value is; `None` where it depends on memory, on what is not arithmetic, or on too much of it.
    pub fn value(&mut self, v: V<'c>) -> Option<i64> {
        let key = v.to_raw().ptr as usize;
        if let Some(found) = self.known.get(&key) {
            return *found;
        }
        self.depth += 1;
        let found = if self.depth > DEEPEST { None } else { self.compute(v) };
        self.depth -= 1;
        self.known.insert(key, found);
        found
    }

    /// Whether the thread runs an op: no condition around it is known to be false.
    pub fn runs(&mut self, op: OperationRef<'c, 'c>) -> bool {
        let (mut inner, mut at) = (op, op.parent());
        while let Some(outer) = at.filter(|o| !o.is::<Kernel>()) {
            if outer.full_name() == "scf.if" {
                let condition = self.value(outer.operand_values()[0]);
                let in_then = outer.region_at(0).entry_has(inner);
                if condition.is_some_and(|c| (c & 1 != 0) != in_then) {
                    return false;
                }
            }
            (inner, at) = (outer, outer.parent());
        }
        true
    }

    fn compute(&mut self, v: V<'c>) -> Option<i64> {
        let Some(op) = v.defining_op() else {
            return match v.argument_of()? {
                (owner, _) if owner.is::<Kernel>() => Some(0),
                (owner, _) if owner.is::<WarpSpecialize>() => Some(self.number),
                (owner, n) if owner.full_name() == "scf.for" => {
                    // Operands are the bounds, the step, and what is carried.
                    let first = if n == 0 { 0 } else { 2 + n };
                    self.value(*owner.operand_values().get(first)?)
                }
                _ => None,
            };
        };
        if let Some(c) = v.constant_int() {
            return Some(c);
        }
        if op.is::<ThreadId>() {
            return Some(self.number);
        }
        if op.is::<LaneId>() {
            return Some(self.number % 32);
        }
        if op.is::<WarpId>() {
            return Some(self.number / 32);
        }
        if op.is::<Elect>() {
            return Some(i64::from(self.number % 32 == 0));
        }
        let operands = op.operand_values();
        if operands.is_empty() || op.full_name() == "memref.dim" {
            return (op.is_pure() && !has_mark(op, VARIES) && op.region_count() == 0).then_some(0);
        }
        arithmetic(op, &mut |i| self.value(*operands.get(i)?))
    }
}

/// What an op on integers gives, from what its operands are.
pub(crate) fn arithmetic(op: OperationRef<'_, '_>, operand: &mut dyn FnMut(usize) -> Option<i64>) -> Option<i64> {
    let a = operand(0)?;
    let mut second = || operand(1);
    let (_, name) = op.full_name().split_once('.')?;
    match name {
        "index_cast" | "index_castui" | "extui" | "extsi" | "trunci" | "casts" | "castu" => Some(a),
        "addi" | "add" => a.checked_add(second()?),
        "subi" | "sub" => a.checked_sub(second()?),
        "muli" | "mul" => a.checked_mul(second()?),
        "divui" | "divsi" | "divu" | "divs" => a.checked_div(second()?),
        "remui" | "remsi" | "remu" | "rems" => a.checked_rem(second()?),
        "floordivsi" | "floordivs" => a.checked_div_euclid(second()?),
        "ceildivui" | "ceildivsi" | "ceildivu" | "ceildivs" => {
            let by = second()?;
            a.checked_add(by.checked_sub(1)?)?.checked_div(by)
        }
        "andi" | "and" => Some(a & second()?),
        "ori" | "or" => Some(a | second()?),
        "xori" | "xor" => Some(a ^ second()?),
        "shli" | "shl" => a.checked_shl(u32::try_from(second()?).ok()?),
        "shrui" | "shrsi" | "shru" | "shrs" => a.checked_shr(u32::try_from(second()?).ok()?),
        "minui" | "minsi" | "minu" | "mins" => Some(a.min(second()?)),
        "maxui" | "maxsi" | "maxu" | "maxs" => Some(a.max(second()?)),
        "select" => {
            let chosen = if a & 1 != 0 { 1 } else { 2 };
            operand(chosen)
        }
        "cmpi" | "cmp" => {
            let b = second()?;
            // Numbers of threads and places are not negative: signed and unsigned agree.
            let holds = match predicate(op)? {
                0 => a == b,
                1 => a != b,
                2 | 6 => a < b,
                3 | 7 => a <= b,
                4 | 8 => a > b,
                _ => a >= b,
            };
            Some(i64::from(holds))
        }
        _ => None,
    }
}

/// The predicate of an `arith.cmpi`.
fn predicate(op: OperationRef<'_, '_>) -> Option<i64> {
    use girih_ir::kind::{I64, Kind};
    op.attr("predicate").and_then(I64::from_attribute)
}

/// Whether an op stands in a region's blocks itself.
trait Holds<'c> {
    fn entry_has(&self, op: OperationRef<'c, 'c>) -> bool;
}
impl<'c> Holds<'c> for RegionRef<'c, 'c> {
    fn entry_has(&self, op: OperationRef<'c, 'c>) -> bool {
        use girih_ir::ext::BlockExt;
        self.block_list().iter().any(|b| b.op_list().contains(&op))
    }
}
