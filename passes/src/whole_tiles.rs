//! Ops on whole tiles belong to all threads of the block, or of a role that says where its threads meet: none stands where only
//! some threads come by, and none takes a number that differs between threads. None gives a tile that is too large for these
//! threads. What is not known to differ, such as a loaded number, is taken to be the same in all of them.
use crate::{
    assign_layouts::is_free,
    shared_uses::{in_role, line},
    uniform::search,
};
use girih_dialects::tile::{
    distribution::Distribution,
    layouts::layout_of,
    marks::{VARIES, has_mark},
    ops::{
        cluster_reduce::ClusterReduce,
        kernel::{Kernel, WarpSpecialize},
        reduce::Reduce,
        scan::Scan,
    },
    verify::{Role, element_bits, holders, role_of},
};
use girih_ir::{ext::BlockExt, op::Trait, prelude::*};

type V<'c> = Value<'c, 'c>;

/// Checks a kernel; every place is reported once.
pub fn check<'c>(kernel: Kernel<'c, 'c>) -> Res {
    let mut errors = Errors::default();
    let mut said: Vec<OperationRef<'c, 'c>> = vec![];
    let body = kernel.body().block_list();
    let mut has_tiles = false;
    for op in body.iter().flat_map(|b| b.op_list()).flat_map(|op| op.nested_ops()) {
        let touches = op.operand_values().into_iter().chain(op.result_values()).any(is_whole);
        has_tiles |= touches;
        let threads = holders(op).unwrap_or(0).max(1);
        if let Some(m) = op.result_values().into_iter().find_map(|v| too_large(threads, v)) {
            errors.op(&op, m);
            continue;
        }
        if !touches || op.has_trait(Trait::Terminator) || op.full_name() == "arith.constant" {
            continue;
        }
        if let Some(why) = role_of(op).and_then(|role| no_place(op, &role)) {
            errors.op(&op, why);
            continue;
        }
        if let Some((outer, condition, source)) = divergence(op) {
            if !said.contains(&outer) {
                said.push(outer);
                let m = format!(
                    "works on whole tiles, but only some threads come here: the condition differs between threads; whole tiles \
                     belong to all threads of the block, so take it out of the '{}', or let the condition be the same for all",
                    outer.full_name()
                );
                errors.merge(noted(op, m, condition, source, "the condition"));
            }
        } else if let Some((number, source)) = operands_that_decide(op).into_iter().find_map(with_source) {
            if op.dialect_name() == "scf" {
                said.push(op);
                let m = "gives whole tiles under a condition that differs between threads; whole tiles belong to all threads of the \
                         block, so let the condition be the same for all";
                errors.merge(noted(op, m.to_owned(), number, source, "the condition"));
                continue;
            }
            let m = "takes a number that differs between threads; whole tiles belong to all threads of the block, so give it one \
                     that is the same for all, or go through single elements with memref.load and memref.store";
            errors.merge(noted(op, m.to_owned(), number, source, "the number"));
        }
    }
    // Among blocks any may be where whole tiles are.
    let ends = body.iter().filter_map(|b| b.terminator_op());
    for end in ends.filter(|_| has_tiles) {
        let decides = matches!(end.full_name(), "cf.cond_br" | "cf.switch").then(|| end.operand_values()[0]);
        if let Some((number, source)) = decides.and_then(with_source) {
            let m = "goes to one block or another by a condition that differs between threads, in a kernel of whole tiles, which belong to \
                     all threads of the block; write scf.if around what only some of them do";
            errors.merge(noted(end, m.to_owned(), number, source, "the condition"));
        }
    }
    errors.result()
}

/// Why the threads of a role cannot work on the tiles of an op.
fn no_place<'c>(op: OperationRef<'c, 'c>, role: &Role) -> Option<String> {
    let (name, warps) = (&role.name, role.warps);
    if role.barrier.is_none() {
        return Some(format!(
            "works on whole tiles, but role '{name}' does not say where its threads meet; write barrier(1) after its warps, with a \
             number for each such role"
        ));
    }
    if !warps.unsigned_abs().is_power_of_two() || role.first_warp % warps != 0 {
        return Some(format!(
            "works on whole tiles in role '{name}', which has warps {} to {}; threads that hold tiles are a power of two, from a \
             multiple of that: put the largest role first, or give it other warps",
            role.first_warp,
            role.first_warp + warps - 1
        ));
    }
    let foreign = |v: &V<'c>| {
        let made = v.defining_op().or_else(|| v.argument_of().map(|(owner, _)| owner));
        is_whole(*v) && !is_free(*v) && made.is_some_and(|by| in_role(by) != in_role(op))
    };
    let found = op.operand_values().into_iter().find(foreign)?;
    Some(format!(
        "works on {}, which the whole block holds, but only role '{name}' comes here; load or compute it in the role",
        found.r#type()
    ))
}

fn noted<'c>(op: OperationRef<'c, 'c>, m: String, v: V<'c>, source: OperationRef<'c, 'c>, what: &str) -> Res {
    let at = v.defining_op().unwrap_or(source);
    let why = match at == source {
        true => format!("{what} is made here"),
        false => format!("{what} is made here of '{}' at {}", source.full_name(), line(source)),
    };
    Diag::op(&op, m).note(at.location(), why).report()
}

fn is_whole(v: V<'_>) -> bool {
    v.r#type().is_ranked_tensor_type() && layout_of(v.r#type()).is_none()
}

/// Most registers of a thread that one tile may take: four times what a thread has, so that the rest goes to memory.
const MOST_REGISTERS: i64 = 1024;

/// Why a tile is too large for the threads of its block.
fn too_large(threads: i64, v: V<'_>) -> Option<String> {
    let t = Some(v).filter(|v| is_whole(*v))?.r#type();
    let bits = i64::try_from(element_bits(t)?).ok()?;
    let shape = t.shape()?;
    // One without a size is no tile, which is said elsewhere.
    if shape.iter().any(|size| *size < 1) {
        return None;
    }
    let elements = shape.iter().try_fold(1i64, |n, size| n.checked_mul(*size));
    let registers = match Distribution::of(t) {
        // Threads that hold copies hold more.
        Some(d) => (d.registers.len() as i64)
            .checked_mul(bits)
            .map(|n| n.saturating_add(31) / 32),
        None => elements
            .and_then(|n| n.checked_mul(bits))
            .map(|n| ((n.saturating_add(31) / 32).saturating_add(threads - 1)) / threads),
    };
    if registers.is_some_and(|n| n <= MOST_REGISTERS) {
        return None;
    }
    let found = registers.map_or("more than 2^63".to_owned(), |n| n.to_string());
    let fitting = MOST_REGISTERS * threads * 32 / bits.max(1);
    let copies = Distribution::of(t).is_some_and(|d| d.copy_bits() != 0);
    let remedy = match copies {
        true => "give it a layout in which fewer threads hold copies".to_owned(),
        false => format!("go through tiles of at most {fitting} elements in a loop, or let more threads hold it"),
    };
    Some(format!(
        "gives {t}, which is {found} registers in each of {threads} threads, but one tile may take {MOST_REGISTERS}, and a thread \
         has 255; {remedy}"
    ))
}

/// What decides how an op on tiles does its work: numbers, those that a combiner takes from outside too, and conditions of
/// branches that give tiles. What loops carry besides tiles decides nothing.
fn operands_that_decide<'c>(op: OperationRef<'c, 'c>) -> Vec<V<'c>> {
    if op.dialect_name() == "scf" {
        return conditions(op);
    }
    let combiner = match op.is::<Reduce>() || op.is::<Scan>() || op.is::<ClusterReduce>() {
        // The op itself is the first.
        true => op.nested_ops().split_off(1),
        false => vec![],
    };
    let inside = combiner.iter().flat_map(|inner| inner.operand_values());
    op.operand_values().into_iter().chain(inside).collect()
}

/// What decides whether, and how often, the regions of an op run.
fn conditions<'c>(op: OperationRef<'c, 'c>) -> Vec<V<'c>> {
    let count = match op.full_name() {
        "scf.if" | "scf.index_switch" => 1,
        "scf.for" => 3,
        "scf.while" => return ends(op, 0).into_iter().take(1).collect(),
        _ => 0,
    };
    op.operand_values().into_iter().take(count).collect()
}

/// Operands of the op that a region ends with.
fn ends<'c>(op: OperationRef<'c, 'c>, region: usize) -> Vec<V<'c>> {
    let block = (region < op.region_count())
        .then(|| op.region_at(region).entry())
        .flatten();
    let end = block.and_then(|b| b.terminator_op());
    end.map(|end| end.operand_values()).unwrap_or_default()
}

/// What keeps some threads away from an op: the op around it, its condition, and the op that makes this differ.
fn divergence<'c>(op: OperationRef<'c, 'c>) -> Option<(OperationRef<'c, 'c>, V<'c>, OperationRef<'c, 'c>)> {
    let outer = op.parent().filter(|o| !o.is::<Kernel>())?;
    let found = conditions(outer).into_iter().find_map(with_source);
    // The outermost is told.
    divergence(outer).or_else(|| found.map(|(v, source)| (outer, v, source)))
}

/// A value with the op that makes it differ between threads.
fn with_source<'c>(v: V<'c>) -> Option<(V<'c>, OperationRef<'c, 'c>)> {
    source(v).map(|op| (v, op))
}

/// The first op found that makes a value differ between threads.
fn source<'c>(v: V<'c>) -> Option<OperationRef<'c, 'c>> {
    search([v], |v| match v.defining_op() {
        _ if v.r#type().is_ranked_tensor_type() => Ok(vec![]),
        Some(op) => of_result(op, v),
        // A role's argument is the thread's number.
        None => match v.argument_of() {
            Some((owner, _)) if owner.is::<WarpSpecialize>() => Err(owner),
            _ => Ok(of_argument(v)),
        },
    })
}

/// What the argument of a block is made of.
fn of_argument<'c>(v: V<'c>) -> Vec<V<'c>> {
    let Some((owner, number)) = v.argument_of() else {
        return vec![];
    };
    match owner.full_name() {
        "scf.for" if number == 0 => conditions(owner),
        "scf.for" => carried(owner, number - 1),
        "scf.while" => {
            let operands = [owner.operand_values(), ends(owner, 1)];
            let before = owner
                .region_at(0)
                .entry()
                .is_some_and(|b| b.argument_values().contains(&v));
            match before {
                true => operands.iter().filter_map(|o| o.get(number).copied()).collect(),
                false => ends(owner, 0).get(number + 1).copied().into_iter().collect(),
            }
        }
        _ => vec![],
    }
}

/// What the result of an op is made of, or the op if it is what differs.
fn of_result<'c>(op: OperationRef<'c, 'c>, v: V<'c>) -> Result<Vec<V<'c>>, OperationRef<'c, 'c>> {
    let Some(number) = op.result_values().iter().position(|r| *r == v) else {
        return Ok(vec![]);
    };
    let differs = [
        "memref.atomic_rmw",
        "nvvm.read.ptx.sreg.tid.x",
        "nvvm.read.ptx.sreg.laneid",
        "nvvm.read.ptx.sreg.warpid",
        "nvvm.elect.sync",
        "gpu.thread_id",
        "gpu.lane_id",
    ];
    if has_mark(op, VARIES) || differs.contains(&op.full_name()) {
        return Err(op);
    }
    let mut from = match op.full_name() {
        "scf.for" => [conditions(op), carried(op, number)].concat(),
        "scf.while" => ends(op, 0).get(number + 1).copied().into_iter().collect(),
        "scf.if" | "scf.index_switch" => (0..op.region_count())
            .filter_map(|r| ends(op, r).get(number).copied())
            .collect(),
        // What meets at a barrier may have come to one answer.
        name if name.starts_with("nvvm.barrier") => vec![],
        _ => op.operand_values(),
    };
    from.extend(conditions(op));
    Ok(from)
}

/// What a loop carries at a place: what it starts with, and what each pass leaves.
fn carried<'c>(op: OperationRef<'c, 'c>, number: usize) -> Vec<V<'c>> {
    let start = op.operand_values().get(3 + number).copied();
    start.into_iter().chain(ends(op, 0).get(number).copied()).collect()
}
