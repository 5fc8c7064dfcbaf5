//! `tile.tma.copy` as instructions, and what was chosen for it.
use super::{
    issue::{Axis, Images, Indices, Issue, V},
    maps::{Joined, Maps},
};
use girih_core::tensor_map::{Plan, PlanPart, Region as Planned};
use girih_dialects::{
    nvvm::Emit,
    tile::ops::{
        index::{BlockId, LaneId, ThreadId, WarpId},
        tma::{CopyOptions, LoadOptions, TmaLoad, TmaStore},
        tma_copy::{Direction, RegionCopy},
        tma_modes::{TmaPrefetch, TmaReduce},
    },
};
use girih_ir::{op::OpView, prelude::*, rewrite::Before};

/// Writes the instructions of one op before it, and gives their number.
pub(super) fn expand<'c>(copy: RegionCopy<'c, 'c>, maps: Option<&mut Maps<'c>>) -> Res<u64> {
    let op = copy.op();
    let Some(maps) = maps else {
        return super::no_launcher(op);
    };
    let region = match copy.region() {
        Ok(region) => region,
        Err(m) => return Diag::op(&op, m).report(),
    };
    let plan = match region.plan() {
        Ok(plan) => plan,
        Err(refusal) => return Diag::op(&op, refusal.to_string()).report(),
    };
    let before = Before(op);
    let place = Indices {
        e: Emit::new(&before, op.location()),
    };
    let view = joined(copy, &plan);
    let start = start(copy, &region, &plan, &place);
    let mut written = 0;
    for part in &plan.parts {
        let t = copy.map(part)?;
        let map = maps.of(op, copy.global(), view.clone(), t, false)?;
        written += issue(copy, &region, part, map, &start, &place);
    }
    drop(Diag::remark(&op, chosen(copy, &region, &plan)));
    Ok(written)
}

/// How the global memref is seen with joined dimensions.
fn joined<'c>(copy: RegionCopy<'c, 'c>, plan: &Plan) -> Option<Joined<'c>> {
    let t = copy.joined(&plan.groups);
    (t != copy.global().r#type()).then(|| Joined {
        t,
        groups: plan.groups.clone(),
    })
}

/// Where the region starts, in dimensions of the map: those inside a joined one start at 0.
fn start<'c>(copy: RegionCopy<'c, 'c>, region: &Planned, plan: &Plan, place: &Indices<'c, '_>) -> Vec<V<'c>> {
    let indices = copy.indices();
    let of = |group: &std::ops::Range<usize>| {
        let inside = region.dims[group.start + 1..group.end]
            .iter()
            .fold(1u64, |n, dim| n.saturating_mul(dim.extent));
        place.product(indices[group.start], inside as i64)
    };
    let mut start: Vec<V<'c>> = plan.groups.iter().map(of).collect();
    if let Some(row) = start.last_mut() {
        *row = place.product(*row, copy.per_element() as i64);
    }
    let reach = |group: &std::ops::Range<usize>| {
        let dims = &region.dims[group.clone()];
        let elements = dims.iter().fold(1u64, |n, dim| n.saturating_mul(dim.extent));
        i64::try_from(elements.saturating_mul(copy.per_element())).unwrap_or(i64::MAX)
    };
    let groups = plan.groups.iter().map(reach);
    start
        .into_iter()
        .zip(groups)
        .map(|(v, n)| saturated(v, n, place))
        .collect()
}

/// A coordinate that 32 bits hold, as all of the `reach` ones after it: what is past them lies outside the tensor, and so does
/// the nearest that is not. Both ends lie on 16 bytes, whatever the elements are.
fn saturated<'c>(v: V<'c>, reach: i64, place: &Indices<'c, '_>) -> V<'c> {
    if is_within(v) {
        return v;
    }
    let (lowest, highest) = (i64::from(i32::MIN), i64::from(i32::MAX).saturating_sub(reach) & !127);
    let t = place.e.index_type();
    let from_below = place.e.value("arith.maxsi", &[v, place.index(lowest)], t, &[]);
    place
        .e
        .value("arith.minsi", &[from_below, place.index(highest)], t, &[])
}

/// Whether 32 bits hold an index, as far as is known: what comes of such an integer, and counters between such bounds.
fn is_within(v: V<'_>) -> bool {
    if let Some(c) = v.constant_int() {
        return i32::try_from(c).is_ok();
    }
    if let Some((owner, 0)) = v.argument_of() {
        return owner.full_name() == "scf.for" && owner.operand_values().into_iter().take(2).all(is_within);
    }
    let Some(op) = v.defining_op() else { return false };
    // Blocks and threads are numbered in 31 bits.
    if [BlockId::NAME, ThreadId::NAME, WarpId::NAME, LaneId::NAME].contains(&op.full_name()) {
        return true;
    }
    let cast = Some(op).filter(|op| op.full_name() == "arith.index_cast");
    let from = cast.and_then(|op| op.operand_values().first().copied());
    from.is_some_and(|v| v.r#type().bit_width().is_some_and(|bits| bits <= 32))
}

fn issue<'c>(
    copy: RegionCopy<'c, 'c>,
    region: &Planned,
    part: &PlanPart,
    map: V<'c>,
    start: &[V<'c>],
    place: &Indices<'c, '_>,
) -> u64 {
    let rank = start.len();
    // Bytes that pack elements are several positions of the map's row each.
    let along = |dim: usize, n: u64| n as i64 * if dim + 1 == rank { copy.per_element() as i64 } else { 1 };
    let axes = part.axes.iter().map(|axis| {
        let mut step = vec![0; rank];
        step[axis.dim] = along(axis.dim, axis.step);
        Axis {
            size: axis.count as i64,
            step,
            shared_step: axis.shared_step as i64,
        }
    });
    let mut atom: Vec<i64> = part.box_dims.iter().map(|n| *n as i64).collect();
    if let (Some(row), Some(span)) = (atom.last_mut(), region.swizzle.span_bytes()) {
        *row = (span / region.format.bytes().unwrap_or(1)) as i64;
    }
    // Leading ones are not written.
    let ones = atom
        .iter()
        .take(rank.saturating_sub(1))
        .take_while(|n| **n == 1)
        .count();
    atom.drain(..ones);
    let moved = start
        .iter()
        .zip(&part.first)
        .enumerate()
        .map(|(dim, (v, n))| place.plus(*v, along(dim, *n)));
    let loc = copy.op().location();
    let with = CopyOptions {
        policy: copy.policy(),
        cache: copy.cache(),
        four_rows: false,
        overwrite: copy.overwrite(),
    };
    let issue = Issue {
        op: copy.op(),
        axes: axes.collect(),
        images: copy.shared().map(|memory| Images {
            memory,
            first: part.shared_first as i64,
            atom,
        }),
        start: moved.collect(),
        one: &|coords, image| {
            // Only a prefetch has no shared memory.
            match (copy.direction(), image) {
                (Direction::Prefetch, _) | (_, None) => TmaPrefetch::plain(loc, map, coords, &[], with),
                (Direction::Load, Some(image)) => TmaLoad::plain(
                    loc,
                    map,
                    coords,
                    image,
                    (
                        copy.barrier().expect("a load that verifies has an mbarrier"),
                        &copy.barrier_indices(),
                    ),
                    LoadOptions {
                        mask: copy.mask(),
                        policy: with.policy,
                        cache: with.cache,
                        ..LoadOptions::default()
                    },
                ),
                (Direction::Store, Some(image)) => match copy.reduce() {
                    Some(kind) => TmaReduce::plain(loc, kind, image, map, coords, with),
                    None => TmaStore::plain(loc, image, map, coords, with),
                },
            }
        },
    };
    issue.all()
}

/// What was chosen, in words.
fn chosen<'c>(copy: RegionCopy<'c, 'c>, region: &Planned, plan: &Plan) -> String {
    let element = region.format.bytes().unwrap_or(1);
    let parts = plan.parts.iter().map(|part| {
        let n = part.instructions();
        let sizes: Vec<_> = part.box_dims.iter().map(u64::to_string).collect();
        let bytes = part.box_dims.iter().fold(element, |n, size| n.saturating_mul(*size));
        let (what, each) = if n == 1 { ("copy", "") } else { ("copies", " each") };
        format!("{n} {what} of {}, {bytes} bytes{each}", sizes.join("x"))
    });
    let mut text = parts.collect::<Vec<_>>().join(", and ");
    for group in plan.groups.iter().filter(|group| group.len() > 1) {
        text += &format!("; dimensions {} to {} are one", group.start, group.end - 1);
    }
    if copy.direction() == Direction::Load {
        let bytes = region.dims.iter().fold(element, |n, dim| n.saturating_mul(dim.extent));
        text += &format!("; the mbarrier counts {bytes} bytes");
    }
    format!("takes {text}")
}
