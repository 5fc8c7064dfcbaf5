//! `tile-swizzle-shared{whole-tiles=too}`: the swizzle of each shared buffer that leaves it open, from all who write and read it.
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
//! Where none does, every access of single elements, of fragments and of whole tiles is counted, with the addresses of all
//! lanes, and the swizzle with the fewest wavefronts is taken, among equals the narrowest. Rows are as many bytes as the swizzle
//! spans; other swizzles are not tried. Accesses in loops count as often as their trip counts say, where these are constants.
//!
//! ```mlir
//! tile.store %x, %m[%c0, %c0] : tensor<64x64xbf16, #M>, memref<64x64xbf16, #tile.shared<swizzle = auto>>           // before
//! %y = tile.load %m[%c0, %c0] : memref<64x64xbf16, #tile.shared<swizzle = auto>> -> tensor<64x64xbf16, #L>
//!
//! // remark: 8-way conflict where the tile is written by rows at line 1; swizzle 128 removes it                    // after
//! ```
//!
//! Whole tiles say where they go when they have layouts. So the pass runs twice. With `whole-tiles=later`, before
//! `tile-assign-layouts`, buffers that whole tiles use are left open, but for those where a use decides: who makes tensor maps or
//! lays tiles out has to know. With `whole-tiles=only`, after it, all that are open are chosen, by all of their uses together. In
//! between an open buffer is one that may still have any swizzle: `tile-assign-layouts` takes the best of them for granted, and
//! `tile-expand-tma` leaves copies to and from it for its own second run. Without the option the pass does both at once, and
//! leaves open where tiles have no layouts yet.
//!
//! A swizzle that is written stays. Where accesses to such a buffer have conflicts, a remark counts them and names a better
//! swizzle, if there is one. The mask of a whole tile counts where it is made of counts and constants, as those of
//! `tile-pad-tiles` are; others are taken to be true, which a note says.
//!
//! *Needs* layouts of the explicit level, or of `tile-assign-layouts`. *Refuses* `swizzle = auto` where two uses ask for
//! different swizzles, and where the buffer goes where its uses cannot be followed. *Numbers* stay what they are.
mod uses;

use crate::shared_uses::line;
use girih_core::{
    layout::{Freedom, Placement, placements},
    tensor_map::{Region, Swizzle as CoreSwizzle},
};
use girih_dialects::tile::{
    ops::{
        kernel::Kernel,
        memory::{Alloc, is_mbarrier},
        tma_copy::RegionCopy,
    },
    spaces::{Atom, Shared, Swizzle, shared_of, swizzle_mode, swizzle_of_rows},
    verify::{element_bits, memref_bytes},
};
use girih_ir::{
    mlir_sys::*,
    op::OpView,
    pass::{OptionDef, OptionDefault, Pass, PassContext, PassInfo, Statistic},
    prelude::*,
};
use uses::{Uses, V};

/// The pass.
pub struct SwizzleShared;

impl Pass for SwizzleShared {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        options: &[OptionDef {
            name: "whole-tiles",
            description: "Buffers that whole tiles go to or come from: too, later (left open unless a use decides), or only",
            default: OptionDefault::Str("too"),
        }],
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
        let tiles = match cx.option_str("whole-tiles").as_str() {
            "too" => WholeTiles::Too,
            "later" => WholeTiles::Later,
            "only" => WholeTiles::Only,
            other => {
                let m = format!("option 'whole-tiles' of tile-swizzle-shared is too, later or only, but is '{other}'");
                return Diag::error(module.location(), m).report();
            }
        };
        let mut errors = Errors::default();
        for kernel in crate::kernels(module) {
            for alloc in kernel.op().nested::<Alloc>() {
                errors.merge(buffer(kernel, alloc, tiles, cx));
            }
        }
        errors.result()
    }
}

/// When buffers are looked at that whole tiles go to or come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WholeTiles {
    /// Now, like others, where the tiles have layouts.
    Too,
    /// In a later run.
    Later,
    /// Now. Others have been in an earlier run, but for those that are open all the same.
    Only,
}

fn buffer<'c>(kernel: Kernel<'c, 'c>, alloc: Alloc<'c, 'c>, tiles: WholeTiles, cx: &PassContext<'c>) -> Res {
    let (op, t) = (alloc.op(), alloc.result().r#type());
    let Some(space) = shared_of(t).filter(|_| !is_mbarrier(t)) else {
        return Ok(());
    };
    let mut uses = Uses::of(alloc.result(), space);
    let waits = uses.is_early || (tiles == WholeTiles::Later && uses.has_tiles);
    if !space.is_open() {
        if !waits && (tiles != WholeTiles::Only || uses.has_tiles) {
            uses.count(kernel, space.mode());
            explain(op, space.mode(), t, &uses);
        }
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
    match asked {
        // The later run finds the buffer with this swizzle, and counts.
        Some((by, mode)) if waits => {
            cx.count(0, 1);
            retype(op.ctx(), &uses.views, mode, space.align());
            drop(Diag::remark(&op, asked_for(mode, by)));
        }
        None if waits => {}
        _ => {
            uses.count(kernel, CoreSwizzle::None);
            choose(op, space, &uses, cx);
        }
    }
    Ok(())
}

fn asked_for<'c>(mode: CoreSwizzle, by: OperationRef<'c, 'c>) -> String {
    format!("swizzle {}, which the use at {} asks for", mode.name(), line(by))
}

/// Chooses by what all uses ask for, or take.
fn choose<'c>(op: OperationRef<'c, 'c>, space: Shared<'c>, uses: &Uses<'c>, cx: &PassContext<'c>) {
    let (t, all) = (op.result0().r#type(), uses.warps());
    let asked = uses.asked.first().copied();
    let found = placements(&all, freedom(CoreSwizzle::None, t));
    let chosen = match asked {
        Some((_, mode)) => mode,
        None => found
            .iter()
            .map(|(p, _)| mode_of(*p))
            .find(|mode| uses.fit(*mode))
            .unwrap_or(CoreSwizzle::None),
    };
    let sum = |mode: CoreSwizzle| -> u64 {
        let p = placement(CoreSwizzle::None, mode);
        let costs = all
            .iter()
            .filter_map(|w| w.cost_under(p).map(|c| c.wavefronts * w.times));
        costs.sum()
    };
    let ideal: u64 = all.iter().map(|w| w.cost().ideal * w.times).sum();
    cx.count(0, 1);
    cx.count(1, sum(CoreSwizzle::None).saturating_sub(sum(chosen)));
    cx.count(2, sum(chosen).saturating_sub(ideal));
    retype(op.ctx(), &uses.views, chosen, space.align());

    let worst = |mode: CoreSwizzle| uses.worst(CoreSwizzle::None, mode);
    let left = worst(chosen);
    let message = match (asked, worst(CoreSwizzle::None)) {
        (Some((by, mode)), _) => match left {
            None => asked_for(mode, by),
            Some((n, a)) => format!(
                "{}; left, since the use at {} asks for swizzle {}",
                a.conflict(n),
                line(by),
                mode.name()
            ),
        },
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
            format!("{}; {what}", a.conflict(n))
        }
    };
    drop(noted(Diag::remark(&op, message), uses));
}

/// What is left of conflicts in a buffer whose swizzle is written, and what would be better.
fn explain<'c>(op: OperationRef<'c, 'c>, now: CoreSwizzle, t: Type<'c>, uses: &Uses<'c>) {
    let Some((n, access)) = uses.worst(now, now) else {
        return;
    };
    let mut found = placements(&uses.warps(), freedom(now, t)).into_iter();
    let best = found.find(|(p, _)| *p == Placement::Unchanged || uses.fit(mode_of(*p)));
    let better = best.filter(|(p, _)| *p != Placement::Unchanged && uses.lost.is_none());
    let better = better.map(|(p, _)| {
        let mode = mode_of(p);
        match uses.worst(now, mode).map_or(1, |(n, _)| n) {
            ..2 => format!("swizzle {} would remove it", mode.name()),
            after => format!("swizzle {} would leave it at {after}-way", mode.name()),
        }
    });
    let what = match (uses.asked.first(), better) {
        // Whoever makes the map can make another.
        (Some((by, _)), Some(better)) if uses.only_maps_ask() => {
            format!("{better}, if the use at {} had it too", line(*by))
        }
        (Some((by, mode)), _) => format!("the use at {} asks for swizzle {}", line(*by), mode.name()),
        (None, Some(better)) => better,
        (None, None) => "no swizzle of the hardware removes it".to_owned(),
    };
    drop(noted(
        Diag::remark(&op, format!("{}; {what}", access.conflict(n))),
        uses,
    ));
}

/// Says which accesses are not counted, or not as they are.
fn noted<'c>(mut diag: Diag, uses: &Uses<'c>) -> Diag {
    for op in &uses.unknown {
        diag = diag.note(op.location(), "not counted: its places in the tile are not known here");
    }
    for access in uses.counted.iter().filter(|a| a.is_guessed) {
        diag = diag.note(
            access.op.location(),
            "counted as if its mask were true, which is not known here",
        );
    }
    diag
}

impl Uses<'_> {
    /// Whether the buffer can have a swizzle: its parts can, and the copies of regions.
    fn fit(&self, mode: CoreSwizzle) -> bool {
        let plans = |copy: &RegionCopy| {
            let region = copy.region().map(|region| Region {
                swizzle: mode,
                ..region
            });
            region.is_ok_and(|region| region.plan().is_ok())
        };
        self.views.iter().all(|v| whole_periods(v.r#type(), mode)) && self.copies.iter().all(plans)
    }
}

/// The swizzles that an open buffer of a type may still get.
pub(crate) fn open_modes(t: Type<'_>) -> Vec<CoreSwizzle> {
    let spans =
        Some(swizzle_of_rows(row_bytes(t))).filter(|mode| *mode != CoreSwizzle::None && whole_periods(t, *mode));
    [CoreSwizzle::None].into_iter().chain(spans).collect()
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

/// A swizzle as a space says it.
fn spelled(mode: CoreSwizzle) -> (Swizzle, Atom) {
    let all = |swizzle: &'static Swizzle| Atom::ALL.iter().map(|atom| (*swizzle, *atom));
    let mut all = Swizzle::ALL.iter().flat_map(all);
    let found = all.find(|(swizzle, atom)| swizzle_mode(*swizzle, *atom) == Some(mode));
    found.unwrap_or((Swizzle::None, Atom::B16))
}

/// Gives the buffer and its parts the swizzle as their type.
fn retype<'c>(context: &'c Context, views: &[V<'c>], mode: CoreSwizzle, align: i64) {
    let (swizzle, atom) = spelled(mode);
    let space: Attribute = Shared::get(context, swizzle, atom, align).into();
    for v in views {
        let t = v.r#type();
        let shape = t.shape().unwrap_or_default();
        // SAFETY: element type, shape and layout are those of a memref that exists.
        unsafe {
            let element = mlirShapedTypeGetElementType(t.to_raw());
            let layout = mlirMemRefTypeGetLayout(t.to_raw());
            let new = mlirMemRefTypeGet(element, shape.len() as isize, shape.as_ptr(), layout, space.to_raw());
            mlirValueSetType(v.to_raw(), new);
        }
    }
}
