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
//! of warps.
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
        kernel::Kernel,
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
    // The other body is made while no access says vector.
    let (root, region) = role.unwrap_or((kernel.op(), BODY));
    let spare = unsafe { Operation::from_raw(mlirOperationClone(root.to_raw())) };
    for c in &found {
        set_vector(c.op, c.vector);
    }
    cx.count(0, found.len() as u64);
    split(
        kernel,
        (root.region_at(region), spare.region_at(region)),
        &found,
        &asked,
        &memories,
    );
}

/// The place of the first op that is, or has inside, one of the accesses.
fn first_access<'c>(ops: &[OperationRef<'c, 'c>], found: &[Candidate<'c>]) -> usize {
    let holds_access = |op: &OperationRef<'c, 'c>| {
        let inside = op.nested_ops();
        found.iter().any(|c| inside.contains(&c.op))
    };
    ops.iter().position(holds_access).unwrap_or(0)
}

/// Puts the ops of a kernel, or of a role, under a test, and those of its clone under the other answer. Shared memory and
/// mbarriers are there once: where there are some, or where the test is of a view, what comes before the first of the accesses
/// `found` stays in front of it.
fn split<'c>(
    kernel: Kernel<'c, 'c>,
    (region, spare): (RegionRef<'c, 'c>, RegionRef<'c, '_>),
    found: &[Candidate<'c>],
    asked: &[(usize, usize, i64)],
    memories: &[Value<'c, 'c>],
) {
    let (context, loc) = (kernel.op().ctx(), kernel.op().location());
    let (Some(body), Some(spare)) = (region.entry(), spare.entry()) else {
        return;
    };
    let ops = body.op_list();
    let Some((end, ops)) = ops.split_last() else { return };
    let is_role = body.parent_operation().is_some_and(|op| !op.is::<Kernel>());
    let of_view = asked
        .iter()
        .any(|(memory, ..)| memories[*memory].defining_op().is_some());
    let common = match is_role || of_view || ops.iter().any(|op| op.is::<Alloc>()) {
        true => first_access(ops, found),
        false => 0,
    };
    let (before, ops) = ops.split_at(common);
    let at = Before(ops.first().copied().unwrap_or(*end));
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
    let regions = [Region::new(), Region::new()];
    for region in &regions {
        region.append_block(Block::new(&[]));
    }
    let branch = at.insert(plain("scf.if", &[condition], &[], regions.into(), loc));
    let spare_ops = spare.op_list();
    for (theirs, own) in spare.argument_values().iter().zip(body.argument_values()) {
        theirs.replace_all_uses_with(&own);
    }
    let spare_ops = &spare_ops[..spare_ops.len().saturating_sub(1)];
    let (spare_before, spare_ops) = spare_ops.split_at(common.min(spare_ops.len()));
    for (theirs, own) in spare_before.iter().zip(before) {
        for (theirs, own) in theirs.result_values().iter().zip(own.result_values()) {
            theirs.replace_all_uses_with(&own);
        }
    }
    for (region, ops) in [(0, ops), (1, spare_ops)] {
        let Some(block) = branch.region_at(region).entry() else {
            continue;
        };
        for op in ops {
            // SAFETY: the op leaves its block before it enters the other.
            unsafe {
                mlirOperationRemoveFromParent(op.to_raw());
                mlirBlockAppendOwnedOperation(block.to_raw(), op.to_raw());
            }
        }
        girih_ir::rewrite::AtEnd(block).insert(plain("scf.yield", &[], &[], vec![], loc));
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
