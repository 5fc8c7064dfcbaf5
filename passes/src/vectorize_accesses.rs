//! `tile-vectorize-accesses{guard=true}`: how many neighbours each access of a tile moves at once.
//!
//! ```mlir
//! %x = tile.load %X[%i] : memref<?xf32, #tile.global> -> tensor<1024xf32, #L>                                // before
//! tile.store %x, %Y[%i] : ...
//!
//! %a = tile.is_aligned %X axis 0 by 4 : memref<?xf32, #tile.global>                                          // after
//! %b = tile.is_aligned %Y axis 0 by 4 : memref<?xf32, #tile.global>
//! %fast = arith.andi %a, %b : i1
//! scf.if %fast {
//!   %x = tile.load %X[%i] {vector = 4 : i64} : memref<?xf32, #tile.global> -> tensor<1024xf32, #L>
//!   tile.store %x, %Y[%i] {vector = 4 : i64} : ...
//! } else {
//!   %x = tile.load %X[%i] : memref<?xf32, #tile.global> -> tensor<1024xf32, #L>
//!   tile.store %x, %Y[%i] : ...
//! }
//! ```
//!
//! A thread moves up to 16 bytes at once: neighbours in its registers along the axis whose stride is 1, where the index along
//! it is a known multiple of their number. That rows start at such multiples, and that sizes are, is known of static sizes
//! and strides, and of arguments whose attributes say so (`tile.aligned`, `tile.divisible`); of the others, and of addresses,
//! the kernel asks once, when it starts, and has a body for either answer. A kernel that has shared memory of its own, or that
//! moves tiles of views (`memref.subview`), asks before the first of its accesses, and has what follows twice. So does each role
//! of warps. Of a kernel with roles, what stands before and after them is there twice, each by itself, and the roles once.
//!
//! Of a mask, one value stands for all of a vector. So it is as long as the mask is known to be the same: all along where it
//! is made of other axes alone, and between multiples where `tile.iota` along the axis is compared with one, as in `iota < 96`
//! (`uniform_run`). A remark says where it is shorter for that.
//!
//! *Needs* `tile-assign-layouts` to have run. With `guard=false` nothing is asked, and vectors are used only where all is
//! known. A kernel whose body is several blocks is not split, which a remark says. *Numbers* stay what they are.
use crate::{
    known::{known_multiple, rows_are_aligned},
    shared_uses::{InRole, in_role},
    uniform_run::uniform_run,
};
use girih_dialects::tile::{
    distribution::Distribution,
    ops::{
        kernel::{Kernel, WarpSpecialize},
        memory::{Alloc, Load, Store},
        rows::{Gather, Scatter, masked},
        value::IsAligned,
    },
    spaces::is_global,
    verify::element_bits,
};
use girih_ir::{
    ext::BlockExt,
    kind::{I64, Kind},
    melior::ir::{operation::OperationBuilder, r#type::IntegerType},
    mlir_sys::*,
    pass::{DialectSource, OptionDef, OptionDefault, Pass, PassContext, PassInfo, Statistic},
    prelude::*,
    rewrite::{Before, Builder},
};
use std::ops::Range;

/// The region of a kernel that is its body.
const BODY: usize = 1;

/// Bytes that one access of a thread moves at most.
const VECTOR_BYTES: u64 = 16;

/// The pass.
pub struct VectorizeAccesses;

impl Pass for VectorizeAccesses {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        options: &[OptionDef {
            name: "guard",
            description: "Ask when the kernel starts for what is not known",
            default: OptionDefault::Bool(true),
        }],
        statistics: &[Statistic {
            name: "vectorized",
            description: "Accesses that move several elements at once",
        }],
        dialects: &[
            DialectSource::Rust(&girih_dialects::tile::TILE),
            DialectSource::Upstream(mlirGetDialectHandle__scf__),
            DialectSource::Upstream(mlirGetDialectHandle__arith__),
        ],
        ..PassInfo::new(
            "tile-vectorize-accesses",
            "Find how many elements each access of a tile moves at once",
        )
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        for kernel in module.nested::<Kernel>() {
            vectorize(kernel, cx);
        }
        Ok(())
    }
}

/// An access that vectors would serve.
struct Candidate<'c> {
    op: OperationRef<'c, 'c>,
    memory: Value<'c, 'c>,
    axis: usize,
    vector: i64,
}

fn candidate<'c>(op: OperationRef<'c, 'c>) -> Option<Candidate<'c>> {
    // Axes whose index is not among `indices`.
    let mut rows = 0;
    let (tile, memory, indices, given) = if let Some(load) = op.cast::<Load>() {
        (load.result(), load.source(), load.indices(), load.vector())
    } else if let Some(store) = op.cast::<Store>() {
        (store.value(), store.destination(), store.indices(), store.vector())
    } else if let Some(gather) = op.cast::<Gather>() {
        rows = 1;
        (gather.result(), gather.source(), gather.columns(), gather.vector())
    } else {
        rows = 1;
        let scatter = op.cast::<Scatter>()?;
        (
            scatter.value(),
            scatter.destination(),
            scatter.columns(),
            scatter.vector(),
        )
    };
    let distribution = Distribution::of(tile.r#type())?;
    let (strides, _) = memory.r#type().strides_and_offset()?;
    let axis = (0..strides.len()).rev().find(|a| strides[*a] == 1)?;
    let bytes = element_bits(tile.r#type())? / 8;
    let run = (distribution.run(axis) as u64).min(VECTOR_BYTES / bytes.max(1)).max(1) as i64;
    let vector = run.min(known_multiple(*indices.get(axis.checked_sub(rows)?)?));
    if given.is_some() || vector < 2 || !is_global(memory.r#type()) {
        return None;
    }
    let alike = masked(op).map_or(vector, |(_, mask)| uniform_run(mask, axis).min(vector));
    if alike < vector {
        let m = match alike {
            1 => "moves a tile element by element: its mask is not known to be one for neighbours".to_owned(),
            n => format!(
                "moves a tile by {n} elements at once, not {vector}: its mask is not known to be one for more neighbours"
            ),
        };
        drop(Diag::remark(&op, m));
    }
    (alike > 1).then_some(Candidate {
        op,
        memory,
        axis,
        vector: alike,
    })
}

fn set_vector(op: OperationRef<'_, '_>, vector: i64) {
    op.set_attr("vector", I64::to_attribute(&vector, op.ctx()));
}

fn vectorize<'c>(kernel: Kernel<'c, 'c>, cx: &PassContext<'c>) {
    let blocks = kernel.body().block_list();
    let ops: Vec<_> = blocks
        .iter()
        .flat_map(|b| b.op_list())
        .flat_map(|op| op.nested_ops())
        .collect();
    // By who runs them.
    let mut places: Vec<(InRole, Vec<Candidate>)> = vec![];
    for found in ops.into_iter().filter_map(candidate) {
        let role = in_role(found.op);
        match places.iter_mut().find(|(r, _)| *r == role) {
            Some((_, all)) => all.push(found),
            None => places.push((role, vec![found])),
        }
    }
    for (role, found) in places {
        vectorize_in(kernel, role, found, cx);
    }
}

/// The accesses of the block, or of a role.
fn vectorize_in<'c>(kernel: Kernel<'c, 'c>, role: InRole<'c>, found: Vec<Candidate<'c>>, cx: &PassContext<'c>) {
    let blocks = kernel.body().block_list();
    let Some(body) = blocks.first() else { return };
    // What the arguments' attributes say is not asked.
    let is_known = |c: &Candidate<'c>| rows_are_aligned(c.memory, c.axis, c.vector, true);
    if found.iter().all(is_known) {
        found.iter().for_each(|c| set_vector(c.op, c.vector));
        cx.count(0, found.len() as u64);
        return;
    }
    if !cx.option_bool("guard") {
        return;
    }
    if blocks.len() != 1 {
        let m = "moves tiles element by element: its body is several blocks, which are not made twice; write scf.if and scf.for";
        drop(Diag::remark(&kernel.op(), m));
        return;
    }
    if role.is_none() {
        hoist(*body, &found);
    }
    // What is asked of is there before the first access: an argument, or a view made in front.
    let arguments = body.argument_values();
    let own = role.and_then(|(root, region)| root.region_at(region).entry());
    let in_front = |block: BlockRef<'c, 'c>| -> Vec<Value<'c, 'c>> {
        let ops = block.op_list();
        let first = first_access(&ops, &found);
        ops[..first].iter().flat_map(|op| op.result_values()).collect()
    };
    let views: Vec<Value> = [*body].into_iter().chain(own).flat_map(in_front).collect();
    let (found, other): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|c| arguments.contains(&c.memory) || views.contains(&c.memory));
    for c in other {
        drop(Diag::remark(
            &c.op,
            "moves a tile element by element: the memref is no argument of the kernel, nor a view of one that is made before all \
             accesses, outside of loops and branches",
        ));
    }
    // For each memref and axis the widest vector.
    let memories = [arguments, views].concat();
    let mut asked: Vec<(usize, usize, i64)> = vec![];
    for c in found.iter().filter(|c| !is_known(c)) {
        let memory = memories.iter().position(|a| *a == c.memory).unwrap_or(0);
        match asked.iter_mut().find(|(a, axis, _)| (*a, *axis) == (memory, c.axis)) {
            Some((_, _, vector)) => *vector = (*vector).max(c.vector),
            None => asked.push((memory, c.axis, c.vector)),
        }
    }
    if asked.is_empty() {
        found.iter().for_each(|c| set_vector(c.op, c.vector));
        cx.count(0, found.len() as u64);
        return;
    }
    asked.sort_unstable();
    let (root, region) = role.unwrap_or((kernel.op(), BODY));
    let Some(entry) = root.region_at(region).entry() else {
        return;
    };
    let ops = entry.op_list();
    let Some((_, ops)) = ops.split_last() else { return };
    let of_view = asked
        .iter()
        .any(|(memory, ..)| memories[*memory].defining_op().is_some());
    // A branch gives tiles and numbers, and no memory.
    let asks = |run: &Range<usize>| {
        let inside: Vec<_> = ops[run.clone()].iter().flat_map(|op| op.nested_ops()).collect();
        found.iter().any(|c| !is_known(c) && inside.contains(&c.op))
    };
    let (twice, whole): (Vec<_>, Vec<_>) = made_twice(ops, &found, (role.is_some(), of_view))
        .into_iter()
        .filter(asks)
        .partition(|run| escaping(&ops[run.clone()]).iter().all(|v| can_be_given(v.r#type())));
    let stays = |c: &Candidate<'c>| {
        whole
            .iter()
            .any(|run| ops[run.clone()].iter().any(|op| op.nested_ops().contains(&c.op)))
    };
    let (other, found): (Vec<_>, Vec<_>) = found.into_iter().partition(|c| !is_known(c) && stays(c));
    for c in other {
        drop(Diag::remark(
            &c.op,
            "moves a tile element by element: roles use memory that is made after it, and what is between is not made twice; make \
             the memory first",
        ));
    }
    // The other body is made while no access says vector.
    let spare = unsafe { Operation::from_raw(mlirOperationClone(root.to_raw())) };
    for c in &found {
        set_vector(c.op, c.vector);
    }
    cx.count(0, found.len() as u64);
    // SAFETY: the clone is there until the end of this function, and what is moved out of it is the kernel's.
    let clone = unsafe { OperationRef::from_raw(spare.to_raw()) };
    split(
        kernel,
        (root.region_at(region), clone.region_at(region)),
        &twice,
        &asked,
        &memories,
    );
}

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
fn first_access<'c>(ops: &[OperationRef<'c, 'c>], found: &[Candidate<'c>]) -> usize {
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
fn hoist<'c>(body: BlockRef<'c, 'c>, found: &[Candidate<'c>]) {
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

/// Which ops of a kernel, or of a role, are made twice, by their places. Shared memory and mbarriers are there once: where there
/// are some, or where the test is of a view, what comes before the first of the accesses `found` is not made twice. Nor are
/// roles: before them it is what stands between accesses, and after them what follows one.
fn made_twice<'c>(
    ops: &[OperationRef<'c, 'c>],
    found: &[Candidate<'c>],
    (is_role, of_view): (bool, bool),
) -> Vec<Range<usize>> {
    let mut runs = between_roles(ops);
    let Some(last) = runs.pop() else { return vec![] };
    let mut twice: Vec<_> = runs
        .iter()
        .filter_map(|run| accesses(&ops[run.clone()], found).map(|r| run.start + r.start..run.start + r.end))
        .collect();
    let own = &ops[last.clone()];
    let has_access = own.iter().any(|op| holds_access(*op, found));
    let waits = is_role || of_view || last.start > 0 || own.iter().any(|op| op.is::<Alloc>());
    if has_access {
        let start = if waits { first_access(own, found) } else { 0 };
        twice.push(last.start + start..last.end);
    }
    twice
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

/// Puts ops of a kernel, or of a role, under a test, and those of its clone under the other answer.
fn split<'c>(
    kernel: Kernel<'c, 'c>,
    (region, spare): (RegionRef<'c, 'c>, RegionRef<'c, 'c>),
    twice: &[Range<usize>],
    asked: &[(usize, usize, i64)],
    memories: &[Value<'c, 'c>],
) {
    let (context, loc) = (kernel.op().ctx(), kernel.op().location());
    let (Some(body), Some(spare)) = (region.entry(), spare.entry()) else {
        return;
    };
    let (ops, spare_ops) = (body.op_list(), spare.op_list());
    let Some(first) = twice.first().and_then(|run| ops.get(run.start)) else {
        return;
    };
    let at = Before(*first);
    let i1: Type = IntegerType::new(context, 1).into();
    let mut all: Option<Value> = None;
    for (memory, axis, vector) in asked {
        let one = at
            .insert(IsAligned::build(
                loc,
                i1,
                memories[*memory],
                *axis as i64,
                *vector,
                false,
            ))
            .result0();
        all = Some(match all {
            None => one,
            Some(a) => at.insert(plain("arith.andi", &[a, one], &[i1], vec![], loc)).result0(),
        });
    }
    let Some(condition) = all else { return };
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
            girih_ir::rewrite::AtEnd(block).insert(plain("scf.yield", &given, &[], vec![], loc));
        }
    }
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
