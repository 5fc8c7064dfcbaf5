//! Operands of `mma.sync` that a loop loads: staged ahead in shared memory by all threads of the block.
//!
//! ```mlir
//! scf.for %k ... {                                                                                                // before
//!   %a = tile.load %A[%row, %k] : ... -> tensor<128x64xbf16>
//!   %n = tile.mma %a, %b, %acc : ...
//! }
//!
//! %fits = tile.is_aligned %A axis 1 by 8 : ...                                                                    // after
//! scf.if %fits {
//!   scf.for %k ... {
//!     %staged = tile.stage %A[%row, %k] side a major k by cp_async : ... -> memref<1x1x128x64xbf16, #tile.shared<swizzle = 128>>
//!     %a = tile.load_staged %staged side a major k : ... -> tensor<128x64xbf16>
//!     %n = tile.mma %a, %b, %acc : ...
//!   }
//! } else { ... the same loop, with `by cp_async where %fits` }
//! ```
//!
//! What is contiguous in global memory is so in shared memory, under the widest swizzle whose span divides a row. Numbers of 16
//! bits may lie along K or along M or N, since `ldmatrix` transposes them; bytes, and what is narrower and comes as bytes, lie
//! along K; wider ones either way.
//!
//! An operand stays on the way through registers, and a remark says why, where it is loaded before the loop or padded with
//! another number than zero, where the place depends on more than the loop's counter, where no dimension has stride 1, where
//! rows are no multiples of 32 bytes or their number none of 8, where the loop writes the memory that it is loaded from, and
//! where two slots of all such operands do not fit into shared memory. Kernels with products of warpgroups stay as they are.
use super::{COPY_BYTES, Planned, guard};
use crate::{
    global_views::Cut,
    known::{rows_are_aligned, unknown_parts},
    nest::{counter, writer},
    pipeline_loops::{SPARE_BYTES, allocated_bytes, exchanged_bytes, whole},
    slice::{Slice, is_defined_in},
};
use girih_dialects::{
    nvvm::{Cmp, Emit},
    tile::{
        layouts::is_laid_out,
        ops::{
            kernel::{Kernel, WarpSpecialize},
            memory::Load,
            mma::{LoadStaged, Mma, Mover, Side, Stage, Staging},
            value::IsAligned,
            wgmma::Major,
        },
        target_of,
        verify::{MAX_SHARED_BYTES, element_bits},
    },
};
use girih_ir::{mlir_sys::*, pass::PassContext, prelude::*, rewrite::Before};

type V<'c> = Value<'c, 'c>;

/// Rows after which every swizzle begins again.
const PERIOD_ROWS: i64 = 8;
/// Fewest slots that are worth it.
const FEWEST_SLOTS: u64 = 2;

/// An operand that is to be staged.
struct Plan<'c> {
    load: Load<'c, 'c>,
    side: Side,
    staging: Staging,
    place: OperationRef<'c, 'c>,
    /// The axis that is contiguous, and elements that 16 bytes are.
    axis: usize,
    by: i64,
    /// Indices that must be multiples of `by` too.
    multiples: Vec<V<'c>>,
}

impl<'c> Plan<'c> {
    fn bytes(&self) -> u64 {
        let [.., rows, span] = self.staging.shape();
        let elements = (self.staging.panels * rows * span).unsigned_abs();
        elements * element_bits(self.load.result().r#type()).unwrap_or(8) / 8
    }
    fn is_known(&self) -> bool {
        self.multiples.is_empty() && rows_are_aligned(self.load.source(), self.axis, self.by, true)
    }
    /// The truth value, computed before the loop.
    fn test(&self) -> V<'c> {
        let at = Before(self.place);
        let e = Emit::new(&at, self.load.op().location());
        if self.is_known() {
            return e.constant(1, e.int(1));
        }
        let mut slice = before(self.place);
        // It can be had, or what it is of: see `operand`.
        let (memory, axis) =
            asked_of(self.place, self.load.source(), self.axis).unwrap_or((self.load.source(), self.axis));
        let memory = slice.get(memory, &at).unwrap_or(memory);
        let aligned = IsAligned::build(e.loc(), e.int(1), memory, axis as i64, self.by, false);
        self.multiples.iter().fold(e.insert(aligned).result0(), |all, v| {
            // It can be had: see `operand`.
            let v = slice.get(*v, &at).unwrap_or(*v);
            e.and(all, e.cmp(Cmp::Eq, e.rem_u(v, e.index(self.by)), e.index(0)))
        })
    }
}

/// The memref that is asked, before a loop, whether rows along an axis of another are aligned, and its axis: that memref itself,
/// or the argument that it is a part of.
fn asked_of<'c>(place: OperationRef<'c, 'c>, memref: V<'c>, axis: usize) -> Option<(V<'c>, usize)> {
    if before(place).reaches(memref) {
        return Some((memref, axis));
    }
    Cut::whole(memref).map(|cut| (cut.memory, cut.axes[axis]))
}

/// What can be computed before a loop.
fn before<'c>(place: OperationRef<'c, 'c>) -> Slice<'c, 'c> {
    Slice::new(move |v| !is_defined_in(v, place))
}

/// Stages what loops load for products that are left to `mma.sync`.
pub(super) fn stage<'c>(kernel: Kernel<'c, 'c>, products: &[Mma<'c, 'c>], cx: &PassContext<'c>) {
    let roles = kernel.op().nested_ops().iter().any(|op| op.is::<WarpSpecialize>());
    if roles || kernel.body().block_list().len() != 1 || kernel.threads() % 32 != 0 {
        return;
    }
    let mut plans: Vec<Plan> = vec![];
    for mma in products {
        for side in [Side::A, Side::B] {
            let tile = whole(mma.operand(side));
            let Some(load) = tile.defining_op().and_then(|by| by.cast::<Load>()) else {
                continue;
            };
            let Some(place) = load.op().parent().filter(|p| p.full_name() == "scf.for") else {
                continue;
            };
            if plans.iter().any(|plan| plan.load.op() == load.op()) {
                continue;
            }
            match operand(side, load, place) {
                Ok(plan) => plans.push(plan),
                Err(why) => {
                    let m = format!("goes through registers, not ahead of the loop by cp.async: {why}");
                    drop(Diag::remark(&load.op(), m));
                }
            }
        }
    }
    let Some(first) = plans.first() else { return };
    // What the staged operands would need to be exchanged is theirs no more.
    let is_fed = |op: OperationRef<'c, 'c>| {
        op.cast::<Mma>().is_some_and(|mma| {
            let is_planned = |v: V<'c>| plans.iter().any(|plan| plan.load.result() == whole(v));
            is_planned(mma.a()) && is_planned(mma.b())
        })
    };
    let exchanged = exchanged_bytes(kernel, true, &|op| !is_fed(op));
    let limit = target_of(kernel.op()).map_or(MAX_SHARED_BYTES, |t| u64::from(t.dynamic_shared_bytes()));
    let slot: u64 = plans.iter().map(Plan::bytes).sum();
    let own = allocated_bytes(kernel) + SPARE_BYTES;
    if slot * FEWEST_SLOTS + exchanged + own > limit {
        let m = format!(
            "goes through registers, not ahead of the loop by cp.async: {FEWEST_SLOTS} slots of {slot} bytes, {exchanged} in which threads \
             exchange tiles and {own} of the kernel's own are more than the {limit} bytes of shared memory; take smaller tiles"
        );
        drop(Diag::remark(&first.load.op(), m));
        return;
    }
    cx.count(3, plans.len() as u64);
    let mut places: Vec<OperationRef<'c, 'c>> = vec![];
    for plan in &plans {
        if !places.contains(&plan.place) {
            places.push(plan.place);
        }
    }
    // Inner loops first: what is made twice then has its tests already.
    let depth = |op: &OperationRef<'c, 'c>| std::iter::successors(Some(*op), |op| op.parent()).count();
    places.sort_by_key(|place| std::cmp::Reverse(depth(place)));
    for place in places {
        let own: Vec<&Plan> = plans.iter().filter(|plan| plan.place == place).collect();
        let all_known = own.iter().all(|plan| plan.is_known());
        let planned: Vec<Planned<'c>> = own
            .into_iter()
            .map(|plan| {
                let test = (!all_known).then(|| plan.test());
                (staged(plan), test)
            })
            .filter_map(|(made, test)| Some((made, test?)))
            .collect();
        if !planned.is_empty() {
            guard(place, &planned);
        }
    }
}

/// How an operand is staged, or why it is not.
fn operand<'c>(side: Side, load: Load<'c, 'c>, place: OperationRef<'c, 'c>) -> Result<Plan<'c>, String> {
    let (t, memory) = (load.result().r#type(), load.source());
    if is_laid_out(t) {
        return Err(format!("{t} has a layout already"));
    }
    if load.pad().is_some() {
        return Err("it says pad, but staged operands are padded with zero".to_owned());
    }
    if load.mask().is_some() {
        return Err("it is loaded under a mask, but copies go as a whole".to_owned());
    }
    if load.pass_thru().is_some() {
        return Err("it says pass_thru, but staged operands are padded with zero".to_owned());
    }
    let (strides, _) = memory.r#type().strides_and_offset().unwrap_or_default();
    let shape = t.shape().unwrap_or_default();
    if shape.iter().any(|s| !s.unsigned_abs().is_power_of_two()) {
        return Err(format!(
            "{t} is padded to powers of two, and is read from shared memory without padding"
        ));
    }
    let bytes = element_bits(t).unwrap_or(0) as i64 / 8;
    if ![1, 2, 4, 8].contains(&bytes) {
        return Err(format!("cp.async does not copy elements of {t} in chunks of 16 bytes"));
    }
    // What runs along K is preferred.
    let axes = [side.k_axis(), side.mn_axis()];
    let Some(axis) = axes.into_iter().find(|axis| strides.get(*axis) == Some(&1)) else {
        return Err("no dimension of the memref is known to have stride 1".to_owned());
    };
    let other = 1 - axis;
    if strides[other] != girih_ir::ext::DYNAMIC && strides[other] * bytes % COPY_BYTES != 0 {
        return Err(format!(
            "16 bytes are copied from rows that start at multiples of them, but the stride of axis {other} is {} bytes",
            strides[other] * bytes
        ));
    }
    let is_mn_major = axis == side.mn_axis();
    if is_mn_major && bytes == 1 {
        let name = if side == Side::A { "M" } else { "N" };
        return Err(format!(
            "its bytes lie together along {name}, and threads need them along K"
        ));
    }
    let (row, rows) = (shape[axis] * bytes, shape[other]);
    let Some(span) = [128, 64, 32]
        .into_iter()
        .find(|span| row % span == 0)
        .filter(|_| rows % PERIOD_ROWS == 0)
    else {
        return Err(format!(
            "{rows} rows of {row} bytes, but swizzled rows are multiples of 32 bytes, and {PERIOD_ROWS} of them belong together"
        ));
    };
    let mut slice = before(place);
    if let Some(counter) = counter(place) {
        slice.set(counter, counter);
    }
    if !load.indices().iter().chain([&memory]).all(|v| slice.reaches(*v)) {
        return Err("the place depends on more than the loop's counter".to_owned());
    }
    if writer(place, memory).is_some() {
        return Err("what the memory holds that it is loaded from may change in the loop".to_owned());
    }
    if asked_of(place, memory, axis).is_none() {
        return Err(
            "which part of an argument it is loaded from changes in the loop, and where its rows start".to_owned(),
        );
    }
    let by = COPY_BYTES / bytes;
    let multiples = unknown_parts(load.indices()[axis], by);
    if !multiples
        .iter()
        .all(|v| v.constant_int().is_none() && before(place).reaches(*v))
    {
        return Err(format!(
            "16 bytes are copied from multiples of {by} elements, which the index along axis {axis} is not known to be before the loop"
        ));
    }
    Ok(Plan {
        load,
        side,
        staging: Staging {
            major: if is_mn_major { Major::Mn } else { Major::K },
            blocks: 1,
            panels: row / span,
            rows,
            span: span / bytes,
        },
        place,
        axis,
        by,
        multiples,
    })
}

/// Puts the stage and its load where the load was.
fn staged<'c>(plan: &Plan<'c>) -> OperationRef<'c, 'c> {
    let (load, s) = (plan.load, plan.staging);
    let (at, loc) = (Before(load.op()), load.op().location());
    let e = Emit::new(&at, loc);
    let t = load.result().r#type();
    let element = t.element_type().unwrap_or(t);
    let [blocks, panels, rows, span] = s.shape();
    let swizzle = COPY_BYTES / plan.by * span;
    let text = format!("memref<{blocks}x{panels}x{rows}x{span}x{element}, #tile.shared<swizzle = {swizzle}>>");
    let slot = Type::parse(e.context(), &text).expect("a type of the dialect");
    let indices = load.indices();
    let made = e.insert(Stage::build(
        loc,
        slot,
        load.source(),
        &indices,
        None,
        plan.side,
        s.major,
        Mover::CpAsync,
        load.cache(),
        false,
    ));
    let tile = e.insert(LoadStaged::build(loc, t, made.result0(), plan.side, s.major));
    load.result().replace_all_uses_with(&tile.result0());
    // SAFETY: its result has no uses any more.
    unsafe { mlirOperationDestroy(load.op().to_raw()) };
    made
}
