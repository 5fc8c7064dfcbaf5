//! Ops of a kernel, or of a role, that are there twice: with vectors, and for other answers.
use super::{Candidate, Question};
use girih_dialects::tile::ops::{
    kernel::{Kernel, WarpSpecialize},
    memory::{Alloc, Load, Store},
    value::IsAligned,
};
use girih_ir::{
    ext::BlockExt,
    melior::ir::{operation::OperationBuilder, r#type::IntegerType},
    mlir_sys::*,
    prelude::*,
    rewrite::{AtEnd, Before, Builder},
};
use std::ops::Range;

/// Whether a branch may give a value of this type.
fn can_be_given(t: Type<'_>) -> bool {
    t.is_ranked_tensor_type() || t.is_index_type() || t.is_integer() || t.is_float_type()
}

/// Whether an op is, or has inside, one of the accesses.
fn holds_access<'c>(op: OperationRef<'c, 'c>, found: &[Candidate<'c>]) -> bool {
    let inside = op.nested_ops();
    found.iter().any(|c| inside.contains(&c.op))
}

/// The place of the first op that is, or has inside, one of the accesses.
pub(super) fn first_access<'c>(ops: &[OperationRef<'c, 'c>], found: &[Candidate<'c>]) -> usize {
    ops.iter().position(|op| holds_access(*op, found)).unwrap_or(0)
}

/// The ops between the roles of a kernel, by their places: before each `tile.warp_specialize`, and after the last.
fn between_roles(ops: &[OperationRef<'_, '_>]) -> Vec<Range<usize>> {
    let mut start = 0;
    let mut runs = vec![];
    for (i, op) in ops.iter().enumerate() {
        if op.is::<WarpSpecialize>() {
            runs.push(start..i);
            start = i + 1;
        }
    }
    runs.push(start..ops.len());
    runs
}

/// Moves what roles may need in front of the accesses that stand before the roles: shared memory, and what is computed from
/// nothing that stays.
pub(super) fn hoist<'c>(body: BlockRef<'c, 'c>, found: &[Candidate<'c>]) {
    let ops = body.op_list();
    let runs = between_roles(&ops);
    let before_roles = runs.split_last().map_or(&[][..], |(_, runs)| runs);
    for run in before_roles {
        let Some((first, later)) = accesses(&ops[run.clone()], found).and_then(|r| ops[run.clone()][r].split_first())
        else {
            continue;
        };
        let mut stay = vec![*first];
        for op in later {
            let free = op.region_count() == 0 && (op.is_pure() || op.is::<Alloc>());
            let own = |v: Value<'c, 'c>| v.defining_op().is_some_and(|d| stay.contains(&d));
            if !free || op.operand_values().into_iter().any(own) {
                stay.push(*op);
                continue;
            }
            // SAFETY: both ops are in this block, and what the op uses is in front of the first of those that stay.
            unsafe { mlirOperationMoveBefore(op.to_raw(), first.to_raw()) };
        }
    }
}

/// From the first of the accesses among some ops to the last.
fn accesses<'c>(ops: &[OperationRef<'c, 'c>], found: &[Candidate<'c>]) -> Option<Range<usize>> {
    let first = ops.iter().position(|op| holds_access(*op, found))?;
    let last = ops.iter().rposition(|op| holds_access(*op, found))?;
    Some(first..last + 1)
}

/// Which ops of a kernel, or of a role, are made twice, by their places; and which are not, although an access among them asks.
/// Shared memory and mbarriers are there once: where there are some, or where `waits`, what comes before the first of the
/// accesses `found` is not made twice. Nor are roles: before them it is what stands between accesses, and after them what
/// follows one. A branch gives tiles and numbers, and no memory.
pub(super) fn made_twice<'c>(
    ops: &[OperationRef<'c, 'c>],
    found: &[Candidate<'c>],
    asks: impl Fn(&Candidate<'c>) -> bool,
    waits: bool,
) -> (Vec<Range<usize>>, Vec<OperationRef<'c, 'c>>) {
    let Some((_, ops)) = ops.split_last() else {
        return (vec![], vec![]);
    };
    let mut runs = between_roles(ops);
    let last = runs.pop().unwrap_or_default();
    let mut twice: Vec<_> = runs
        .iter()
        .filter_map(|run| accesses(&ops[run.clone()], found).map(|r| run.start + r.start..run.start + r.end))
        .collect();
    let own = &ops[last.clone()];
    if own.iter().any(|op| holds_access(*op, found)) {
        let waits = waits || last.start > 0 || own.iter().any(|op| op.is::<Alloc>());
        let start = if waits { first_access(own, found) } else { 0 };
        twice.push(last.start + start..last.end);
    }
    let inside = |run: &Range<usize>| {
        ops[run.clone()]
            .iter()
            .flat_map(|op| op.nested_ops())
            .collect::<Vec<_>>()
    };
    twice.retain(|run| {
        let inside = inside(run);
        found.iter().any(|c| asks(c) && inside.contains(&c.op))
    });
    let is_given = |run: &Range<usize>| escaping(&ops[run.clone()]).iter().all(|v| can_be_given(v.r#type()));
    let (twice, whole): (Vec<_>, Vec<_>) = twice.into_iter().partition(is_given);
    (twice, whole.iter().flat_map(inside).collect())
}

/// The values that some ops compute and others use.
fn escaping<'c>(ops: &[OperationRef<'c, 'c>]) -> Vec<Value<'c, 'c>> {
    let inside: Vec<_> = ops.iter().flat_map(|op| op.nested_ops()).collect();
    let leaves = |v: &Value<'c, 'c>| v.users().iter().any(|user| !inside.contains(user));
    ops.iter().flat_map(|op| op.result_values()).filter(leaves).collect()
}

/// Lets all but some ops use `to` where they used `from`.
fn replace_outside<'c>(from: Value<'c, 'c>, to: Value<'c, 'c>, inside: &[OperationRef<'c, 'c>]) {
    for user in from.users() {
        if inside.contains(&user) {
            continue;
        }
        for (i, operand) in user.operand_values().into_iter().enumerate() {
            if operand == from {
                // SAFETY: the op has an operand of this number, of the same type.
                unsafe { mlirOperationSetOperand(user.to_raw(), i as isize, to.to_raw()) };
            }
        }
    }
}

/// Puts ops of a kernel, or of a role, under a test, and those of its clone under the other answer. Gives the answers.
pub(super) fn split<'c>(
    kernel: Kernel<'c, 'c>,
    (region, spare): (RegionRef<'c, 'c>, RegionRef<'c, 'c>),
    twice: &[Range<usize>],
    (asked, memories): (&[Question], &[Value<'c, 'c>]),
) -> Vec<Value<'c, 'c>> {
    let (context, loc) = (kernel.op().ctx(), kernel.op().location());
    let (Some(body), Some(spare)) = (region.entry(), spare.entry()) else {
        return vec![];
    };
    let (ops, spare_ops) = (body.op_list(), spare.op_list());
    let Some(first) = twice.first().and_then(|run| ops.get(run.start)) else {
        return vec![];
    };
    let at = Before(*first);
    let i1: Type = IntegerType::new(context, 1).into();
    let answers: Vec<Value> = asked
        .iter()
        .map(|q| {
            let of = memories[q.memory];
            at.insert(IsAligned::build(loc, i1, of, q.axis as i64, q.vector, false))
                .result0()
        })
        .collect();
    let both = |a, b| at.insert(plain("arith.andi", &[a, b], &[i1], vec![], loc)).result0();
    let Some(condition) = answers.iter().copied().reduce(both) else {
        return vec![];
    };
    for (theirs, own) in spare.argument_values().iter().zip(body.argument_values()) {
        theirs.replace_all_uses_with(&own);
    }
    for (i, (theirs, own)) in spare_ops.iter().zip(&ops).enumerate() {
        if twice.iter().any(|run| run.contains(&i)) {
            continue;
        }
        for (theirs, own) in theirs.result_values().iter().zip(own.result_values()) {
            theirs.replace_all_uses_with(&own);
        }
    }
    for run in twice {
        let (own, theirs) = (&ops[run.clone()], &spare_ops[run.clone()]);
        let given = escaping(own);
        let all_results =
            |ops: &[OperationRef<'c, 'c>]| ops.iter().flat_map(|op| op.result_values()).collect::<Vec<_>>();
        let (own_results, their_results) = (all_results(own), all_results(theirs));
        let spare_given: Vec<Value> = (own_results.iter().zip(their_results))
            .filter(|(own, _)| given.contains(own))
            .map(|(_, theirs)| theirs)
            .collect();
        let types: Vec<_> = given.iter().map(|v| v.r#type()).collect();
        let regions = [Region::new(), Region::new()];
        for region in &regions {
            region.append_block(Block::new(&[]));
        }
        let branch = Before(own[0]).insert(plain("scf.if", &[condition], &types, regions.into(), loc));
        for (region, ops, given) in [(0, own, given), (1, theirs, spare_given)] {
            let Some(block) = branch.region_at(region).entry() else {
                continue;
            };
            let inside: Vec<_> = ops.iter().flat_map(|op| op.nested_ops()).collect();
            for (value, result) in given.iter().zip(branch.result_values()) {
                replace_outside(*value, result, &inside);
            }
            for op in ops {
                // SAFETY: the op leaves its block before it enters the other.
                unsafe {
                    mlirOperationRemoveFromParent(op.to_raw());
                    mlirBlockAppendOwnedOperation(block.to_raw(), op.to_raw());
                }
            }
            AtEnd(block).insert(plain("scf.yield", &given, &[], vec![], loc));
        }
    }
    answers
}

/// Lets an access move vectors where `answer` is yes. It is built anew: operands cannot be added in place.
pub(super) fn choose<'c>(op: OperationRef<'c, 'c>, vector: i64, answer: Value<'c, 'c>) {
    let (at, loc, condition) = (Before(op), op.location(), Some(answer));
    if let Some(load) = op.cast::<Load>() {
        let t = load.result().r#type();
        let new = at.insert(Load::build(
            loc,
            t,
            load.source(),
            &load.indices(),
            load.mask(),
            load.pass_thru(),
            condition,
            load.pad(),
            Some(vector),
            load.cache(),
        ));
        load.result().replace_all_uses_with(&new.result0());
    } else if let Some(store) = op.cast::<Store>() {
        at.insert(Store::build(
            loc,
            store.value(),
            store.destination(),
            &store.indices(),
            store.mask(),
            condition,
            Some(vector),
            store.cache(),
        ));
    } else {
        return;
    }
    // SAFETY: its result, if any, has no uses any more.
    unsafe { mlirOperationDestroy(op.to_raw()) };
}

/// An op of upstream's.
fn plain<'c>(
    name: &str,
    operands: &[Value<'c, '_>],
    results: &[Type<'c>],
    regions: Vec<Region<'c>>,
    loc: Location<'c>,
) -> Operation<'c> {
    OperationBuilder::new(name, loc)
        .add_operands(operands)
        .add_results(results)
        .add_regions_vec(regions)
        .build()
        // Only result type inference can fail, and it is not asked for.
        .expect("an op with explicit result types can be built")
}
