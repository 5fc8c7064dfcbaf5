//! `tile-swizzle-shared`: the swizzle of each shared buffer that leaves it open, from all who write and read it.
//!
//! ```mlir
//! %m = tile.alloc : memref<32x32xf32, #tile.shared<swizzle = auto>>                                            // before
//! scf.for %i = %c0 to %c32 step %c1 {
//!   memref.store %x, %m[%i, %lane] : memref<32x32xf32, #tile.shared<swizzle = auto>>
//! }
//! tile.barrier
//! %y = memref.load %m[%lane, %c0] : memref<32x32xf32, #tile.shared<swizzle = auto>>
//!
//! %m = tile.alloc : memref<32x32xf32, #tile.shared<swizzle = 128>>                                              // after
//! // remark: 32-way conflict where the tile is read by columns at line 6; swizzle 128 leaves it at 4-way
//! ```
//!
//! A tensor copy takes the swizzle of its map, a product that of its rows, and copies of plain bytes none: such a use decides.
//! Where none does, every access of single elements and of fragments is counted, with the addresses of all lanes, and the
//! swizzle with the fewest wavefronts is taken, among equals the narrowest. Rows are as many bytes as the swizzle spans; other
//! swizzles are not tried. Accesses in loops count as often as their trip counts say, where these are constants.
//!
//! A swizzle that is written stays. Where accesses to such a buffer have conflicts, a remark counts them and names a better
//! swizzle, if there is one.
//!
//! *Needs* layouts of the explicit level. *Refuses* `swizzle = auto` where two uses ask for different swizzles, and where the
//! buffer goes where its uses cannot be followed. *Numbers* stay what they are.
use crate::{known::known_multiple, lane_values::Thread, shared_uses::line};
use girih_core::{
    layout::{Freedom, Placement, WarpAccess, placements},
    tensor_map::Swizzle as CoreSwizzle,
};
use girih_dialects::tile::{
    layouts::{Fragment, contiguous_elements, element_offset, elements_per_thread, layout_of},
    ops::{
        atomic::AtomicRmw,
        cp_async::CpAsync,
        kernel::Kernel,
        memory::{Alloc, Load, Store, contiguous, is_mbarrier},
        mma::Mma,
        tma_apply::Apply,
        tma_copy::RegionCopy,
        wgmma::Wgmma,
    },
    spaces::{Atom, Shared, Swizzle, shared_of, swizzle_of_rows},
    types::TensorMapType,
    verify::{element_bits, memref_bytes},
};
use girih_ir::{
    mlir_sys::*,
    op::OpView,
    pass::{Pass, PassContext, PassInfo, Statistic},
    prelude::*,
};

type V<'c> = Value<'c, 'c>;

/// The pass.
pub struct SwizzleShared;

impl Pass for SwizzleShared {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        statistics: &[
            Statistic {
                name: "chosen",
                description: "Buffers whose swizzle was left open",
            },
            Statistic {
                name: "wavefronts-removed",
                description: "Wavefronts that the chosen swizzles save",
            },
            Statistic {
                name: "wavefronts-left",
                description: "Wavefronts in excess of those without conflicts that are left",
            },
        ],
        ..PassInfo::new(
            "tile-swizzle-shared",
            "Choose the swizzles of shared buffers from their uses",
        )
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        let mut errors = Errors::default();
        for kernel in crate::kernels(module) {
            for alloc in kernel.op().nested::<Alloc>() {
                errors.merge(buffer(kernel, alloc, cx));
            }
        }
        errors.result()
    }
}

/// What uses a buffer.
#[derive(Default)]
struct Uses<'c> {
    /// The buffer and its parts.
    views: Vec<V<'c>>,
    /// Accesses that are counted.
    counted: Vec<Access<'c>>,
    /// Accesses at places that are not known.
    unknown: Vec<OperationRef<'c, 'c>>,
    /// Swizzles that uses ask for.
    asked: Vec<(OperationRef<'c, 'c>, CoreSwizzle)>,
    /// Whoever takes the buffer where its uses cannot be followed.
    lost: Option<OperationRef<'c, 'c>>,
}

/// One op's accesses, for all warps.
struct Access<'c> {
    op: OperationRef<'c, 'c>,
    /// How it goes through the tile: `by columns`.
    how: String,
    warps: Vec<WarpAccess>,
}

impl Access<'_> {
    /// Ways of the worst conflict under a placement.
    fn degree(&self, placement: Placement) -> u64 {
        let costs = self.warps.iter().filter_map(|w| w.cost_under(placement));
        costs.map(|cost| cost.degree).max().unwrap_or(0)
    }
}

fn buffer<'c>(kernel: Kernel<'c, 'c>, alloc: Alloc<'c, 'c>, cx: &PassContext<'c>) -> Res {
    let (op, t) = (alloc.op(), alloc.result().r#type());
    let Some(space) = shared_of(t).filter(|_| !is_mbarrier(t)) else {
        return Ok(());
    };
    let uses = collect(kernel, alloc.result(), space);
    if !space.is_open() {
        explain(op, space.mode(), t, &uses);
        return Ok(());
    }
    if let Some(by) = uses.lost {
        let m = format!(
            "has swizzle = auto, but goes through '{}', where its uses cannot be followed; write the swizzle",
            by.full_name()
        );
        return Diag::op(&op, m).note(by.location(), "it is used here").report();
    }
    let asked = uses.asked.first().copied();
    if let Some((first, mode)) = asked
        && let Some((other, its)) = uses.asked.iter().find(|(_, its)| *its != mode)
    {
        let m = format!(
            "has swizzle = auto, but one use asks for swizzle {} and another for {}; use two buffers, or the same swizzle",
            mode.name(),
            its.name()
        );
        return Diag::op(&op, m)
            .note(first.location(), format!("this one asks for {}", mode.name()))
            .note(other.location(), format!("this one asks for {}", its.name()))
            .report();
    }
    let all: Vec<WarpAccess> = uses.counted.iter().flat_map(|a| a.warps.iter().cloned()).collect();
    let found = placements(&all, freedom(CoreSwizzle::None, t));
    let fits = |mode: CoreSwizzle| uses.views.iter().all(|v| whole_periods(v.r#type(), mode));
    let chosen = match asked {
        Some((_, mode)) => mode,
        None => found
            .iter()
            .map(|(p, _)| mode_of(*p))
            .find(|mode| fits(*mode))
            .unwrap_or(CoreSwizzle::None),
    };
    let placed = placement(CoreSwizzle::None, chosen);
    let sum = |p: Placement| -> u64 {
        let costs = all
            .iter()
            .filter_map(|w| w.cost_under(p).map(|c| c.wavefronts * w.times));
        costs.sum()
    };
    let ideal: u64 = all.iter().map(|w| w.cost().ideal * w.times).sum();
    cx.count(0, 1);
    cx.count(1, sum(Placement::Unchanged).saturating_sub(sum(placed)));
    cx.count(2, sum(placed).saturating_sub(ideal));
    retype(op.ctx(), &uses.views, chosen, space.align());

    let left = worst(&uses, placed);
    let message = match (asked, worst(&uses, Placement::Unchanged)) {
        (Some((by, _)), _) => {
            let at = line(by);
            match left {
                None => format!("swizzle {}, which the use at {at} asks for", chosen.name()),
                Some((n, a)) => format!(
                    "{}; left, since the use at {at} asks for swizzle {}",
                    conflict(n, a),
                    chosen.name()
                ),
            }
        }
        (None, None) if uses.counted.is_empty() => {
            "swizzle none: where accesses go in the tile is not known here".to_owned()
        }
        (None, None) => format!("swizzle {}: no access has a bank conflict without one", chosen.name()),
        (None, Some((n, a))) => {
            let after = left.map_or(1, |(n, _)| n);
            let what = match (chosen, after) {
                (CoreSwizzle::None, _) => format!("no swizzle of the hardware removes it; left at {n}-way"),
                (_, ..2) => format!("swizzle {} removes it", chosen.name()),
                _ => format!("swizzle {} leaves it at {after}-way", chosen.name()),
            };
            format!("{}; {what}", conflict(n, a))
        }
    };
    drop(not_counted(Diag::remark(&op, message), &uses));
    Ok(())
}

/// What is left of conflicts in a buffer whose swizzle is written, and what would be better.
fn explain<'c>(op: OperationRef<'c, 'c>, now: CoreSwizzle, t: Type<'c>, uses: &Uses<'c>) {
    let Some((n, access)) = worst(uses, Placement::Unchanged) else {
        return;
    };
    let all: Vec<WarpAccess> = uses.counted.iter().flat_map(|a| a.warps.iter().cloned()).collect();
    let fits = |mode: CoreSwizzle| uses.views.iter().all(|v| whole_periods(v.r#type(), mode));
    let mut found = placements(&all, freedom(now, t)).into_iter();
    let best = found.find(|(p, _)| *p == Placement::Unchanged || fits(mode_of(*p)));
    let what = match (uses.asked.first(), best) {
        (Some((by, mode)), _) => format!("the use at {} asks for swizzle {}", line(*by), mode.name()),
        (None, Some((p, _))) if p != Placement::Unchanged && uses.lost.is_none() => {
            let (mode, after) = (mode_of(p), worst(uses, p).map_or(1, |(n, _)| n));
            match after {
                ..2 => format!("swizzle {} would remove it", mode.name()),
                _ => format!("swizzle {} would leave it at {after}-way", mode.name()),
            }
        }
        _ => "no swizzle of the hardware removes it".to_owned(),
    };
    drop(not_counted(
        Diag::remark(&op, format!("{}; {what}", conflict(n, access))),
        uses,
    ));
}

fn not_counted<'c>(mut diag: Diag, uses: &Uses<'c>) -> Diag {
    for op in &uses.unknown {
        diag = diag.note(op.location(), "not counted: its places in the tile are not known here");
    }
    diag
}

/// The worst conflict under a placement, if there is any.
fn worst<'c, 'u>(uses: &'u Uses<'c>, placement: Placement) -> Option<(u64, &'u Access<'c>)> {
    let all = uses.counted.iter().map(|a| (a.degree(placement), a));
    // The first of equals.
    all.rev().max_by_key(|(n, _)| *n).filter(|(n, _)| *n > 1)
}

fn conflict(n: u64, a: &Access<'_>) -> String {
    let verb = if a.warps.iter().any(|w| w.loads) {
        "read"
    } else {
        "written"
    };
    crate::shared_uses::conflict(n, verb, &a.how, &line(a.op))
}

fn row_bytes(t: Type<'_>) -> u64 {
    let row = t.shape().and_then(|s| s.last().copied()).unwrap_or(1);
    row.unsigned_abs() * element_bits(t).unwrap_or(8) / 8
}

fn freedom(now: CoreSwizzle, t: Type<'_>) -> Freedom {
    Freedom::TensorCopies {
        now,
        row_bytes: row_bytes(t),
    }
}

fn placement(now: CoreSwizzle, to: CoreSwizzle) -> Placement {
    if now == to {
        return Placement::Unchanged;
    }
    Placement::Swizzle { now, to }
}

fn mode_of(p: Placement) -> CoreSwizzle {
    match p {
        Placement::Swizzle { to, .. } => to,
        _ => CoreSwizzle::None,
    }
}

/// Whether a part can have a swizzle: it is whole periods of it, so that it lies as if it were allocated alone.
fn whole_periods(t: Type<'_>, mode: CoreSwizzle) -> bool {
    mode.span_bytes().is_none() || memref_bytes(t).is_some_and(|bytes| bytes % mode.period_bytes() == 0)
}

/// Gives the buffer and its parts the swizzle as their type.
fn retype<'c>(context: &'c Context, views: &[V<'c>], mode: CoreSwizzle, align: i64) {
    let swizzle = Swizzle::from_spelling(mode.name()).unwrap_or(Swizzle::None);
    let space: Attribute = Shared::get(context, swizzle, Atom::B16, align).into();
    for v in views {
        let t = v.r#type();
        let shape = t.shape().unwrap_or_default();
        // SAFETY: element type and shape are those of a contiguous memref that exists.
        unsafe {
            let element = mlirShapedTypeGetElementType(t.to_raw());
            let new = mlirMemRefTypeContiguousGet(element, shape.len() as isize, shape.as_ptr(), space.to_raw());
            mlirValueSetType(v.to_raw(), new);
        }
    }
}

fn collect<'c>(kernel: Kernel<'c, 'c>, buffer: V<'c>, space: Shared<'c>) -> Uses<'c> {
    let mut uses = Uses {
        views: vec![buffer],
        ..Uses::default()
    };
    let mut at = 0;
    while let Some(view) = uses.views.get(at).copied() {
        at += 1;
        let mut users = view.users();
        // The last use comes first.
        users.reverse();
        for user in users {
            one_use(kernel, user, view, space, &mut uses);
        }
    }
    uses
}

fn one_use<'c>(
    kernel: Kernel<'c, 'c>,
    user: OperationRef<'c, 'c>,
    view: V<'c>,
    space: Shared<'c>,
    uses: &mut Uses<'c>,
) {
    let is_part = user.region_count() == 0 && user.is_pure() && user.result_count() == 1;
    if is_part && shared_of(user.result0().r#type()) == Some(space) {
        uses.views.push(user.result0());
        return;
    }
    if matches!(user.full_name(), "memref.load" | "memref.store") || user.is::<Load>() || user.is::<Store>() {
        match access(kernel, user, view, space.mode()) {
            Some(access) => uses.counted.push(access),
            None => uses.unknown.push(user),
        }
        return;
    }
    let map = user.operand_values().iter().find_map(|v| TensorMapType::of(v.r#type()));
    if let Some(map) = map {
        uses.asked.push((user, map.permutation()));
    } else if user.is::<Wgmma>() || user.is::<Mma>() {
        uses.asked.push((user, swizzle_of_rows(row_bytes(view.r#type()))));
    } else if user.is::<CpAsync>() || user.is::<AtomicRmw>() {
        // Whole atoms of 16 bytes or parts of them, and single elements, under any swizzle.
        uses.unknown.push(user);
    } else if user.is::<RegionCopy>() || user.is::<Apply>() || user.full_name() == "memref.dim" {
        // Their maps take the buffer's swizzle, whatever it is.
    } else if user.dialect_name() == "tile" && user.region_count() == 0 && user.result_count() == 0 {
        uses.asked.push((user, CoreSwizzle::None));
    } else {
        uses.lost = uses.lost.or(Some(user));
    }
}

/// The accesses of an op that loads or stores elements or a fragment; `None` where their places are not known.
fn access<'c>(kernel: Kernel<'c, 'c>, op: OperationRef<'c, 'c>, view: V<'c>, now: CoreSwizzle) -> Option<Access<'c>> {
    let t = view.r#type();
    let operands = op.operand_values();
    let memory = operands.iter().position(|v| *v == view)?;
    let indices = &operands[memory + 1..];
    let loads = memory == 0;
    let bytes = element_bits(t)? / 8;
    let strides = contiguous(&t.shape()?);
    let times = passes(op);
    let tile = if op.is::<Load>() {
        Some(op.result0().r#type())
    } else {
        op.is::<Store>().then(|| operands[0].r#type())
    };
    let (parts, run, mut how) = match tile {
        None => (vec![(0, 0)], 1, String::new()),
        Some(tile) => {
            let (fragment, bits) = (layout_of(tile)?.fragment(), element_bits(tile)? as u32);
            let run = contiguous_elements(fragment, bits);
            let (pitch, together) = (strides[0].unsigned_abs() * bytes, u64::from(run) * bytes);
            let fits = pitch % together == 0 && known_multiple(*indices.get(1)?) % i64::from(run) == 0;
            let run = if fits { run } else { 1 };
            let parts = (0..elements_per_thread(tile)?).step_by(run as usize);
            let parts = parts.map(|i| element_offset(fragment, bits, i)).collect();
            (parts, run, format!("as {fragment}"))
        }
    };
    let mut warps = vec![];
    for warp in 0..kernel.threads().unsigned_abs().div_ceil(32) {
        // Places in the tile, for each lane that takes part.
        let mut lanes: Vec<Option<Vec<i64>>> = vec![];
        for lane in 0..32 {
            let number = warp * 32 + lane;
            let mut thread = Thread::new(number);
            if !thread.runs(op) {
                lanes.push(None);
                continue;
            }
            let mut at = indices.iter().map(|i| thread.value(*i)).collect::<Option<Vec<i64>>>()?;
            if let Some(tile) = tile {
                let (row, column) = origin(layout_of(tile)?.fragment(), element_bits(tile)? as u32, number);
                at[0] += row;
                at[1] += column;
            }
            lanes.push(Some(at));
        }
        if how.is_empty() {
            how = direction(&lanes);
        }
        for (row, column) in &parts {
            let address = |at: &Vec<i64>| {
                let place: i64 = at.iter().zip(&strides).map(|(i, s)| i * s).sum();
                let inner = if tile.is_some() {
                    i64::from(*row) * strides[0] + i64::from(*column)
                } else {
                    0
                };
                let linear = u64::try_from(place + inner).ok()? * bytes;
                Some(now.apply(linear))
            };
            let mut addresses = vec![];
            for lane in &lanes {
                addresses.push(match lane {
                    None => None,
                    Some(at) => Some(address(at)?),
                });
            }
            warps.push(WarpAccess {
                addresses,
                bytes: bytes * u64::from(run),
                loads,
                times,
            });
        }
    }
    Some(Access { op, how, warps })
}

/// Row and column of a thread's first element.
fn origin(fragment: Fragment, bits: u32, thread: u64) -> (i64, i64) {
    let (warp, lane) = (thread as i64 % 128 / 32, thread as i64 % 32);
    (
        16 * warp + lane / 4,
        lane % 4 * i64::from(contiguous_elements(fragment, bits)),
    )
}

/// How neighbouring lanes go through a tile.
fn direction(lanes: &[Option<Vec<i64>>]) -> String {
    let mut here = lanes.iter().flatten();
    let (Some(a), Some(b)) = (here.next(), here.next()) else {
        return String::new();
    };
    let last = a.len().saturating_sub(1);
    let text = match (a.get(last) == b.get(last), a == b) {
        (_, true) => "",
        (false, _) => "by rows",
        (true, _) => "by columns",
    };
    text.to_owned()
}

/// How often an op runs, as far as constant bounds of the loops around it say.
fn passes(op: OperationRef<'_, '_>) -> u64 {
    let (mut times, mut at) = (1u64, op.parent());
    while let Some(outer) = at {
        if outer.full_name() == "scf.for" {
            let bounds: Vec<_> = outer
                .operand_values()
                .iter()
                .take(3)
                .map(|v| v.constant_int())
                .collect();
            if let [Some(from), Some(to), Some(step)] = bounds[..]
                && step > 0
                && to > from
            {
                times = times
                    .saturating_mul((to - from).unsigned_abs().div_ceil(step.unsigned_abs()))
                    .min(1 << 20);
            }
        }
        at = outer.parent();
    }
    times
}
