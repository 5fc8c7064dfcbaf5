//! `tile-plan-copies`: operands of `tile.mma` go from global to shared memory without a stay in registers.
//!
//! ```mlir
//! %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<128x256xf32>) {                    // before
//!   %a = tile.load %A[%row, %k] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<128x64xbf16>
//!   %b = tile.load %B[%k, %col] : memref<?x?xbf16, strided<[1, ?]>, #tile.global> -> tensor<64x256xbf16>
//!   %n = tile.mma %a, %b, %acc : tensor<128x64xbf16>, tensor<64x256xbf16>, tensor<128x256xf32>
//!   scf.yield %n : tensor<128x256xf32>
//! }
//!
//! %fits_a = tile.is_aligned %A axis 1 by 8 any_size : ...                                                         // after
//! %fits_b = tile.is_aligned %B axis 0 by 8 any_size : ...
//! %fits = arith.andi %fits_a, %fits_b : i1
//! %sum = scf.if %fits -> (tensor<128x256xf32>) {
//!   %s = scf.for ... {
//!     %a = tile.stage %A[%row, %k] side a major k by tma : ... -> memref<2x1x64x64xbf16, #tile.shared<swizzle = 128>>
//!     %b = tile.stage %B[%k, %col] side b major k by tma : ... -> memref<1x1x256x64xbf16, #tile.shared<swizzle = 128>>
//!     %n = tile.mma %a, %b, %acc : ...
//!     ...
//! } else {
//!   ... the same loop, with `by tma where %fits_a` and `by tma where %fits_b`
//! }
//! ```
//!
//! A `tile.transpose` between the load and the product is looked through: `tile.stage %B[%col, %k] transposed` is what `B` of
//! N x K in memory becomes. So is the `tile.bitcast` that makes single bits of bytes: the product goes on with memrefs of i8.
//!
//! The dimension that has stride 1 in global memory is contiguous in shared memory too where wgmma takes it so (always for
//! 16-bit numbers, for others along K only); else threads transpose on the way, which a remark says. The swizzle is the widest
//! whose span divides a row.
//!
//! Tensor copies take rows whose address and strides are multiples of 16 bytes, from a column that is one too. What is not
//! known is tested before the loop, and before all loops around it; what attributes of the argument say (`tile.aligned`) is
//! known. Where every operand of a loop may have tensor copies, a
//! loop with nothing else stands beside the one in which each operand goes by its own test.
//!
//! A product that stands in no loop is one of a loop of one pass (`flat`).
//!
//! A view that has dimensions of an argument whole, at one index of each other, as a matrix of a batch, is taken from the
//! argument itself (`global_views`): a tensor copy has one element along each dimension that the view has not. A size of which is
//! not known that it is the argument's is compared, together with the other tests.
//!
//! An operand is copied by threads from the start where the memref is neither, no dimension has stride 1,
//! the passes of the loops around cannot be numbered (`nest`), the place to copy from depends
//! on more than their counters, or what the memref holds may change before; a remark says so.
//!
//! Operands of other products that a loop loads are staged, too: by all threads, ahead of the loop, and come back as tiles
//! (`warp_products`).
//!
//! A product of warpgroups needs operands that are loaded just before it, without a mask, from memory that is not written in
//! between;
//! `threads` of 128 for each 64 rows of the accumulator; N a multiple of 8 up to 256, K one of 32 bytes; and a target that has
//! `wgmma` of these numbers. Any other product stays as it is, on tiles, for `tile-assign-layouts` to make `mma.sync` of; a
//! remark says why.
//!
//! *Refuses* to stage the other operand of one that is staged, where that cannot be. *Numbers* stay what they are.
mod flat;
mod tensor;
mod warp_products;

use crate::nest::count_by_index;
use girih_core::{target::Feature, wgmma::Operand};
use girih_dialects::{
    nvvm::Emit,
    tile::{
        features::wgmma_of,
        layouts::is_laid_out,
        ops::{
            kernel::Kernel,
            memory::Load,
            mma::{Mma, Mover, Side, Stage, Staging},
            shape::{Bitcast, Transpose},
            wgmma::{Major, operand_type},
        },
        spaces::is_global,
        target_of,
    },
};
use girih_ir::{
    ext::BlockExt,
    mlir_sys::*,
    op::{EffectKind, OpView},
    pass::{DialectSource, Pass, PassContext, PassInfo, Statistic},
    prelude::*,
    rewrite::{AtEnd, Before},
};
use tensor::{Test, tensor_copy};

type V<'c> = Value<'c, 'c>;

/// Rows of the accumulator that a warpgroup computes.
pub(crate) const WARPGROUP_ROWS: i64 = 64;
/// Threads of a warpgroup.
pub(crate) const WARPGROUP_THREADS: i64 = 128;
/// Bytes that addresses, strides and columns of tensor copies are multiples of.
const COPY_BYTES: i64 = 16;

/// The pass.
pub struct PlanCopies;

impl Pass for PlanCopies {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        statistics: &[
            Statistic {
                name: "tensor-copies",
                description: "Operands that tensor copies stage",
            },
            Statistic {
                name: "thread-copies",
                description: "Operands that threads copy whatever the arguments are",
            },
            Statistic {
                name: "warp-products",
                description: "Products that are left to mma.sync",
            },
            Statistic {
                name: "group-copies",
                description: "Operands of mma.sync that all threads stage ahead of a loop",
            },
        ],
        dialects: &[
            DialectSource::Rust(&girih_dialects::tile::TILE),
            DialectSource::Upstream(mlirGetDialectHandle__scf__),
            DialectSource::Upstream(mlirGetDialectHandle__arith__),
        ],
        ..PassInfo::new("tile-plan-copies", "Stage operands of matrix products in shared memory")
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        let mut errors = Errors::default();
        for kernel in crate::kernels(module) {
            crate::whole_tiles::check(kernel)?;
            errors.merge(plan(kernel, cx));
        }
        errors.result()
    }
}

/// An operand that is to be staged.
struct Plan<'c> {
    mma: Mma<'c, 'c>,
    side: Side,
    load: Load<'c, 'c>,
    /// Whether the operand is the loaded tile with its axes exchanged.
    transposed: bool,
    staging: Staging,
    /// What its tensor copies ask for, or why there are none.
    copy: Result<Test<'c>, String>,
}

/// Why wgmma does not take a product, and which op is in the way.
struct Refusal<'c> {
    why: String,
    at: Option<(OperationRef<'c, 'c>, &'static str)>,
}

impl From<String> for Refusal<'_> {
    fn from(why: String) -> Self {
        Refusal { why, at: None }
    }
}

impl<'c> Refusal<'c> {
    /// Says it of the product.
    fn note(&self, diag: Diag) -> Diag {
        match self.at {
            Some((op, what)) => diag.note(op.location(), what),
            None => diag,
        }
    }
}

/// A `tile.stage` that this pass made, and what must hold for its tensor copies.
type Planned<'c> = (OperationRef<'c, 'c>, V<'c>);

fn plan<'c>(kernel: Kernel<'c, 'c>, cx: &PassContext<'c>) -> Res {
    let mut errors = Errors::default();
    let products: Vec<Mma> = kernel
        .op()
        .nested_ops()
        .into_iter()
        .filter_map(|op| op.cast())
        .collect();
    for mma in &products {
        let around = std::iter::successors(mma.op().parent(), |op| op.parent()).take_while(|op| !op.is::<Kernel>());
        for place in around.filter(|op| op.full_name() == "scf.for") {
            errors.merge(count_by_index(place));
        }
    }
    errors.result()?;
    let taken = products.iter().filter_map(|mma| operands(kernel, *mma).ok());
    flat::into_loops(kernel, &taken.flatten().collect::<Vec<_>>());
    let mut errors = Errors::default();
    let (mut plans, mut rest) = (vec![], vec![]);
    for mma in &products {
        match operands(kernel, *mma) {
            Ok(own) => plans.extend(own),
            // What is staged already is for wgmma.
            Err(refusal) if mma.is_staged() => {
                errors.merge(refusal.note(Diag::op(&mma.op(), &refusal.why)).report::<()>());
            }
            Err(refusal) => {
                cx.count(2, 1);
                rest.push(*mma);
                let m = format!("is multiplied by mma.sync, not by wgmma: {}", refusal.why);
                drop(refusal.note(Diag::remark(&mma.op(), m)));
            }
        }
    }
    errors.result()?;
    if plans.is_empty() && !products.iter().any(|mma| mma.is_staged()) {
        warp_products::stage(kernel, &rest, cx);
        return Ok(());
    }
    for plan in &plans {
        match &plan.copy {
            Err(why) => {
                cx.count(1, 1);
                drop(Diag::remark(&plan.load.op(), format!("is copied by threads: {why}")));
            }
            Ok(_) => cx.count(0, 1),
        }
    }
    let mut loops: Vec<(OperationRef<'c, 'c>, Vec<Planned<'c>>)> = vec![];
    // What operands were, the product's end first.
    let mut unused: Vec<OperationRef<'c, 'c>> = vec![];
    for mma in products {
        let own: Vec<&Plan> = plans.iter().filter(|p| p.mma.op() == mma.op()).collect();
        if own.is_empty() {
            continue;
        }
        for plan in &own {
            let made_of = std::iter::successors(plan.mma.operand(plan.side).defining_op(), |op| {
                seen_through(mma, *op).and_then(|(source, _)| source.defining_op())
            });
            unused.extend(made_of);
        }
        let place = mma.op().parent();
        let conditions: Vec<Option<V>> = own
            .iter()
            .map(|p| p.copy.as_ref().ok().map(|test| test.emit(mma.op().location())))
            .collect();
        let together = plans.iter().filter(|other| other.mma.op().parent() == place);
        let all_fit = together.into_iter().all(|other| other.copy.is_ok());
        let is_known = |i: usize| own[i].copy.as_ref().is_ok_and(Test::is_known);
        let all_known = plans
            .iter()
            .filter(|other| other.mma.op().parent() == place)
            .all(|other| other.copy.as_ref().is_ok_and(Test::is_known));
        match place.filter(|_| all_fit) {
            // No test, and no second loop.
            Some(_) if all_known => {
                stage(mma, &own, |_| (Mover::Tma, None));
            }
            Some(place) => {
                let made = stage(mma, &own, |_| (Mover::Tma, None));
                let planned = made.into_iter().zip(conditions.into_iter().flatten());
                match loops.iter_mut().find(|(l, _)| *l == place) {
                    Some((_, all)) => all.extend(planned),
                    None => loops.push((place, planned.collect())),
                }
            }
            None => {
                stage(mma, &own, |i| match conditions[i] {
                    Some(_) if is_known(i) => (Mover::Tma, None),
                    Some(condition) => (Mover::Tma, Some(condition)),
                    None => (Mover::Threads, None),
                });
            }
        }
    }
    // Of an op that is listed several times the last place counts: then its users are gone.
    for (i, op) in unused.iter().enumerate() {
        if !unused[i + 1..].contains(op) && op.result0().users().is_empty() {
            // SAFETY: nothing uses it any more, and it is visited once.
            unsafe { mlirOperationDestroy(op.to_raw()) };
        }
    }
    // Inner loops first: what is made twice then has its tests already.
    let depth = |op: OperationRef<'c, 'c>| std::iter::successors(Some(op), |op| op.parent()).count();
    loops.sort_by_key(|(place, _)| std::cmp::Reverse(depth(*place)));
    for (place, planned) in loops {
        guard(place, &planned);
    }
    Ok(())
}

/// How the operands of a product that are not staged yet will be, or why wgmma does not take it.
fn operands<'c>(kernel: Kernel<'c, 'c>, mma: Mma<'c, 'c>) -> Result<Vec<Plan<'c>>, Refusal<'c>> {
    let acc = mma.acc().r#type();
    if is_laid_out(acc) {
        return Err(format!("the accumulator {acc} has a layout already").into());
    }
    let lacking = || mma.without_wgmma().unwrap_or_default();
    let needed = wgmma_of(mma).ok_or_else(|| format!("tile.wgmma has no {}", lacking()))?;
    if let Some(target) = target_of(mma.op()) {
        Feature::Op(needed).legal(target).map_err(|e| e.to_string())?;
    }
    [Side::A, Side::B]
        .into_iter()
        .filter(|side| mma.operand(*side).r#type().is_ranked_tensor_type())
        .map(|side| operand(kernel, mma, side))
        .collect()
}

/// How an operand will be staged.
fn operand<'c>(kernel: Kernel<'c, 'c>, mma: Mma<'c, 'c>, side: Side) -> Result<Plan<'c>, Refusal<'c>> {
    let (op, value) = (mma.op(), mma.operand(side));
    let (mut source, mut transposed) = (value, false);
    while let Some((before, t)) = source.defining_op().and_then(|by| seen_through(mma, by)) {
        transposed ^= t;
        source = before;
    }
    let Some(load) = source.defining_op().and_then(|by| by.cast::<Load>()) else {
        return Err(Refusal {
            why: format!("operand {side} is computed, not loaded"),
            at: source.defining_op().map(|by| (by, "computed here")),
        });
    };
    if !is_global(load.source().r#type()) {
        return Err(Refusal {
            why: format!("operand {side} is loaded from shared memory, and operands are staged from #tile.global"),
            at: Some((load.op(), "loaded here")),
        });
    }
    if load.op().block() != op.block() {
        return Err(Refusal {
            why: format!("operand {side} is loaded outside of the region that multiplies; load it there"),
            at: Some((load.op(), "loaded here")),
        });
    }
    if let Some(write) = written_between(load.op(), op) {
        return Err(Refusal {
            why: format!(
                "memory may be written between the load of operand {side} and the product; load it after that, or multiply before"
            ),
            at: Some((write, "this may write")),
        });
    }
    if load.mask().is_some() {
        return Err(format!("operand {side} is loaded under a mask, but copies to shared memory go as a whole").into());
    }
    if load.pad().is_some() {
        return Err(format!("operand {side} says pad, but staged operands are padded with zero").into());
    }
    if load.pass_thru().is_some() {
        return Err(format!("operand {side} says pass_thru, but staged operands are padded with zero").into());
    }
    if is_laid_out(value.r#type()) {
        return Err(format!("operand {side} has a layout already").into());
    }
    let loaded = load.result().r#type();
    let bits = loaded.element_type().and_then(|e| e.bit_width()).unwrap_or(0);
    let bytes = i64::from(bits) / 8;
    let mut shape = loaded.shape().unwrap_or_default();
    if transposed {
        shape.reverse();
    }
    let mn = value
        .r#type()
        .shape()
        .and_then(|whole| whole.get(side.mn_axis()).copied());
    if mma.popc().is_some() && (bytes != 1 || shape.get(side.mn_axis()).copied() != mn) {
        return Err(
            format!("operand {side} is the bits of {loaded}, but wgmma takes bits that lie in i8 along K").into(),
        );
    }
    let (strides, _) = load.source().r#type().strides_and_offset().unwrap_or_default();
    let mn_stride = strides[side.mn_axis() ^ usize::from(transposed)];
    let mut plan = Plan {
        mma,
        side,
        load,
        transposed,
        staging: staging(kernel, mma, side, &shape, bytes, mn_stride)?,
        copy: Err(String::new()),
    };
    plan.copy = tensor_copy(kernel, &plan, bytes, &strides)
        .map_err(|why| format!("no tensor copy takes operand {side}: {why}"));
    Ok(plan)
}

/// The first op between two of a block that may change memory.
pub(crate) fn written_between<'c>(
    from: OperationRef<'c, 'c>,
    to: OperationRef<'c, 'c>,
) -> Option<OperationRef<'c, 'c>> {
    let ops = from.block().map(|block| block.op_list()).unwrap_or_default();
    let after = ops.into_iter().skip_while(|op| *op != from).skip(1);
    let harmless = |kind: EffectKind| matches!(kind, EffectKind::Read | EffectKind::Allocate);
    after.take_while(|op| *op != to).find(|op| {
        op.memory_effects()
            .is_none_or(|all| all.iter().any(|(kind, _)| !harmless(*kind)))
    })
}

/// What an op that gives an operand takes it from, and whether it exchanges the axes; `None` where it computes it. Single bits
/// are those of bytes.
fn seen_through<'c>(mma: Mma<'c, 'c>, by: OperationRef<'c, 'c>) -> Option<(V<'c>, bool)> {
    if let Some(cast) = by.cast::<Bitcast>().filter(|_| mma.popc().is_some()) {
        return Some((cast.source(), false));
    }
    by.cast::<Transpose>().map(|t| (t.source(), t.order() == [1, 0]))
}

/// The place of an operand in shared memory, as bytes if it is single bits, or what wgmma has not.
fn staging<'c>(
    kernel: Kernel<'c, 'c>,
    mma: Mma<'c, 'c>,
    side: Side,
    shape: &[i64],
    bytes: i64,
    mn_stride: i64,
) -> Result<Staging, String> {
    let (mn, k) = (shape[side.mn_axis()], shape[side.k_axis()]);
    let warpgroups = kernel.threads() / WARPGROUP_THREADS;
    if side == Side::A && (kernel.threads() % WARPGROUP_THREADS != 0 || mn != warpgroups * WARPGROUP_ROWS) {
        let threads = mn / WARPGROUP_ROWS * WARPGROUP_THREADS;
        let remedy = if mn > 0 && mn % WARPGROUP_ROWS == 0 && threads <= 1024 {
            let whole = match threads.unsigned_abs().is_power_of_two() {
                true => "",
                false => {
                    ", if only loads, stores and arithmetic in its size go with the product, or take rows that are a power of two"
                }
            };
            format!("write threads({threads}){whole}")
        } else {
            format!("take a tile of {} rows", warpgroups.max(1) * WARPGROUP_ROWS)
        };
        return Err(format!(
            "M = {mn} in a kernel with threads({}), but a warpgroup of {WARPGROUP_THREADS} threads multiplies {WARPGROUP_ROWS} rows; {remedy}",
            kernel.threads()
        ));
    }
    let element = mma.operand(side).r#type().element_type();
    let operand = match mma.popc() {
        Some(_) => Some(Operand::B1),
        None => element.and_then(|t| operand_type(t, mma.is_unsigned(side))),
    };
    if let (Side::B, Some(operand)) = (side, operand)
        && !operand.legal_n().any(|n| i64::from(n) == mn)
    {
        return Err(format!("N = {mn}, but wgmma has {}", operand.legal_n_in_words()));
    }
    if k * bytes % 32 != 0 || k == 0 {
        let in_a_byte = if mma.popc().is_some() { 8 } else { 1 };
        return Err(format!(
            "K = {}, but an instruction multiplies 32 bytes of K: a multiple of {}",
            k * in_a_byte,
            32 / bytes * in_a_byte
        ));
    }
    let blocks = match side {
        Side::A => warpgroups,
        Side::B => 1,
    };
    // Along M or N only 16-bit numbers can be contiguous.
    let mn_row = mn / blocks * bytes;
    let is_mn_major = mn_stride == 1 && bytes == 2 && mn_row % 32 == 0 && k <= 256;
    let span = |row: i64| [128, 64, 32].into_iter().find(|s| row % s == 0).unwrap_or(32);
    Ok(if is_mn_major {
        let span = span(mn_row);
        Staging {
            major: Major::Mn,
            blocks,
            panels: mn_row / span,
            rows: k,
            span: span / bytes,
        }
    } else {
        let span = span(k * bytes);
        Staging {
            major: Major::K,
            blocks,
            panels: k * bytes / span,
            rows: mn / blocks,
            span: span / bytes,
        }
    })
}

/// Stages the operands of a product just before it, one `tile.stage` for each plan; `by` says of each who copies, and where.
fn stage<'c>(
    mma: Mma<'c, 'c>,
    plans: &[&Plan<'c>],
    by: impl Fn(usize) -> (Mover, Option<V<'c>>),
) -> Vec<OperationRef<'c, 'c>> {
    let mut stages = vec![];
    let (op, at) = (mma.op(), Before(mma.op()));
    let e = Emit::new(&at, op.location());
    let mut operands = [Side::A, Side::B].map(|side| (mma.operand(side), mma.major(side)));
    for (i, plan) in plans.iter().enumerate() {
        let s = plan.staging;
        let (by, condition) = by(i);
        let [blocks, panels, rows, span] = s.shape();
        let t = plan.load.source().r#type();
        let element = t.element_type().unwrap_or(t);
        let bytes = element.bit_width().map_or(0, |bits| i64::from(bits) / 8) * span;
        let text = format!("memref<{blocks}x{panels}x{rows}x{span}x{element}, #tile.shared<swizzle = {bytes}>>");
        let staged = Type::parse(e.context(), &text).expect("a type of the dialect");
        let loc = plan.load.op().location();
        let made = Stage::build(
            loc,
            staged,
            plan.load.source(),
            &plan.load.indices(),
            condition,
            plan.side,
            s.major,
            by,
            plan.load.cache(),
            plan.transposed,
        );
        let made = e.insert(made);
        operands[plan.side as usize] = (made.result0(), s.major);
        stages.push(made);
    }
    let [(a, a_major), (b, b_major)] = operands;
    let new = e.insert(Mma::build(
        op.location(),
        mma.result().r#type(),
        a,
        b,
        mma.acc(),
        a_major,
        b_major,
        mma.unsigned_a(),
        mma.unsigned_b(),
        mma.popc(),
    ));
    mma.result().replace_all_uses_with(&new.result0());
    // SAFETY: the op's result has no uses any more.
    unsafe { mlirOperationDestroy(op.to_raw()) };
    stages
}

/// Puts a loop with tensor copies under their tests, and beside it one where each of them asks for itself. Other stages in the
/// loop stay as they are.
fn guard<'c>(place: OperationRef<'c, 'c>, planned: &[Planned<'c>]) {
    let at = Before(place);
    let e = Emit::new(&at, place.location());
    // SAFETY: the clone is detached, and goes into the branch below.
    let slow = unsafe { Operation::from_raw(mlirOperationClone(place.to_raw())) };
    let body = |op: &Operation<'c>| op.region_at(0).entry().map(|b| b.op_list()).unwrap_or_default();
    let condition = |op: OperationRef<'c, 'c>| planned.iter().find(|(made, _)| *made == op).map(|(_, test)| *test);
    let own = place.region_at(0).entry().map(|b| b.op_list()).unwrap_or_default();
    // The clone has the same ops in the same order.
    let pairs = own.into_iter().zip(body(&slow));
    let stages = pairs.filter_map(|(op, copy)| Some((copy.cast::<Stage>()?, condition(op)?)));
    for (stage, condition) in stages {
        let (at, loc) = (Before(stage.op()), stage.op().location());
        let t = stage.result().r#type();
        let (side, major, by) = (stage.side(), stage.major(), stage.by());
        let new = Stage::build(
            loc,
            t,
            stage.source(),
            &stage.indices(),
            Some(condition),
            side,
            major,
            by,
            stage.cache(),
            stage.transposed(),
        );
        stage
            .result()
            .replace_all_uses_with(&Emit::new(&at, loc).insert(new).result0());
        // SAFETY: its result has no uses any more.
        unsafe { mlirOperationDestroy(stage.op().to_raw()) };
    }
    let all = planned
        .iter()
        .map(|(_, test)| *test)
        .reduce(|a, b| e.and(a, b))
        .expect("a loop is listed with what it stages");
    let regions = vec![Region::new(), Region::new()];
    for region in &regions {
        region.append_block(Block::new(&[]));
    }
    let types = place.result_types();
    let branch = e.op_with_regions("scf.if", &[all], &types, &[], regions);
    for (from, to) in place.result_values().iter().zip(branch.result_values()) {
        from.replace_all_uses_with(&to);
    }
    // SAFETY: the loop leaves its block before it enters the branch.
    let fast = unsafe {
        mlirOperationRemoveFromParent(place.to_raw());
        Operation::from_raw(place.to_raw())
    };
    for (i, op) in [fast, slow].into_iter().enumerate() {
        let block = branch.region_at(i).entry().expect("it was just given");
        let end = AtEnd(block);
        let e = Emit::new(&end, branch.location());
        let results = e.insert(op).result_values();
        e.op("scf.yield", &results, &[], &[]);
    }
}
