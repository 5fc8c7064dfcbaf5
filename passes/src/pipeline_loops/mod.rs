//! `tile-pipeline`: gives staged operands memory, and lets their copies run ahead of the loop that uses them.
//!
//! ```mlir
//! %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<128x256xf32>) {                    // before
//!   %a = tile.stage %A[%row, %k] side a major k by tma : ... -> memref<2x1x64x64xbf16, #tile.shared<swizzle = 128>>
//!   %b = tile.stage %B[%k, %col] side b major k by tma : ... -> memref<1x1x256x64xbf16, #tile.shared<swizzle = 128>>
//!   %n = tile.mma %a, %b, %acc : ...
//!   scf.yield %n : tensor<128x256xf32>
//! }
//!
//! %ring_a = tile.alloc : memref<4x2x1x64x64xbf16, #tile.shared<swizzle = 128>>                                    // after
//! %ring_b = tile.alloc : memref<4x1x1x256x64xbf16, #tile.shared<swizzle = 128>>
//! %full = tile.alloc : memref<4x!tile.mbarrier, #tile.shared>           // the slot's bytes have come
//! %empty = tile.alloc : memref<4x!tile.mbarrier, #tile.shared>          // every warp has read them
//! ... one thread initialises the mbarriers, tile.fence mbarrier_init, tile.barrier
//! %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<128x256xf32>) {
//!   tile.produce(%j) ahead(4) {
//!     %slot, %parity = ... of pass (%j - 0) / 64
//!     tile.mbarrier.wait %empty[%slot], %parity : ...
//!     tile.mbarrier.arrive_expect_tx %full[%slot], %bytes : ...
//!     tile.tma.load %map_a[%row, %j], %slab_a, %full[%slot] : ...
//!     tile.tma.load %map_b[%col, %j], %slab_b, %full[%slot] : ...
//!   }
//!   %slot, %parity = ... of pass (%k - 0) / 64
//!   tile.mbarrier.wait %full[%slot], %parity : ...
//!   %a = tile.slab %ring_a[%slot] : ...
//!   %b = tile.slab %ring_b[%slot] : ...
//!   %n = tile.mma %a, %b, %acc : ...
//!   ... one thread of each warp: tile.mbarrier.arrive %empty[%slot] : ...
//!   scf.yield %n : tensor<128x256xf32>
//! }
//! ```
//!
//! Slots are as many as fit into shared memory, at most 4; `slots=N` asks for others, and 1 is a copy that is waited for.
//! The tensor maps are made in the launch region; they are optional, since the program tests whether they can be.
//!
//! What is staged by threads gets one buffer, that of a ring where the ring's loop is the other branch of a test; barriers
//! of the block stand before and after the copy.
//!
//! *Needs* `tile.stage ... by tma` to stand in the body of a loop itself, and copies from arguments of the kernel.
//! *Refuses* slots that do not fit. *Numbers* stay what they are.
mod ring;
mod threads;

use crate::expand_tma::maps::Maps;
use girih_dialects::{
    nvvm::{Cmp, Emit},
    tile::{
        ops::{
            index::ThreadId,
            kernel::Kernel,
            mbarrier,
            memory::Alloc,
            mma::{Mover, Stage},
            sync::{Barrier, Fence, FenceKind},
        },
        verify::{MAX_SHARED_BYTES, memref_bytes},
    },
};
use girih_ir::{
    ext::BlockExt,
    mlir_sys::*,
    op::OpView,
    pass::{DialectSource, OptionDef, OptionDefault, Pass, PassContext, PassInfo, Statistic},
    prelude::*,
    rewrite::Before,
};

type V<'c> = Value<'c, 'c>;

/// Most slots that are taken without being asked for.
const MOST_SLOTS: i64 = 4;
/// Bytes that are kept for mbarriers and alignment.
const SPARE_BYTES: u64 = 1024;

/// The pass.
pub struct PipelineLoops;

impl Pass for PipelineLoops {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        options: &[OptionDef {
            name: "slots",
            description: "Slots of each ring; 0: as many as fit, at most 4",
            default: OptionDefault::Int(0),
        }],
        statistics: &[Statistic {
            name: "slots",
            description: "Slots of all rings",
        }],
        dialects: &[
            DialectSource::Rust(&girih_dialects::tile::TILE),
            DialectSource::Upstream(mlirGetDialectHandle__scf__),
            DialectSource::Upstream(mlirGetDialectHandle__arith__),
            DialectSource::Upstream(mlirGetDialectHandle__memref__),
        ],
        ..PassInfo::new(
            "tile-pipeline",
            "Give staged operands memory, and let their copies run ahead of loops",
        )
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        let slots = cx.option_int("slots");
        let mut errors = Errors::default();
        for kernel in crate::kernels(module) {
            errors.merge(pipeline(kernel, slots, cx));
        }
        errors.result()
    }
}

/// What a kernel's rings share.
struct Shared<'c> {
    kernel: Kernel<'c, 'c>,
    /// What stands first in the body: allocations and the initialisation of mbarriers go before it.
    first: OperationRef<'c, 'c>,
    maps: Maps<'c>,
    /// Views of arguments that only tensor maps are made of.
    views: Vec<(V<'c>, OperationRef<'c, 'c>)>,
    rings: Vec<Ring<'c>>,
    /// Rings of mbarriers with their slots and the arrivals of a phase.
    barriers: Vec<(V<'c>, i64, i64)>,
}

/// The slots of one staged operand.
struct Ring<'c> {
    place: OperationRef<'c, 'c>,
    slot: Type<'c>,
    memory: V<'c>,
}

fn pipeline<'c>(kernel: Kernel<'c, 'c>, slots: i64, cx: &PassContext<'c>) -> Res {
    let stages = || kernel.op().nested_ops().into_iter().filter_map(|op| op.cast::<Stage>());
    let Some(first) = kernel.body().entry().and_then(|b| b.op_list().first().copied()) else {
        return Ok(());
    };
    if stages().next().is_none() {
        return Ok(());
    }
    let mut loops: Vec<(OperationRef<'c, 'c>, Vec<Stage<'c, 'c>>)> = vec![];
    for stage in stages().filter(|s| s.by() == Mover::Tma) {
        let Some(place) = stage.op().parent().filter(|p| p.full_name() == "scf.for") else {
            return Diag::op(
                &stage.op(),
                "is by tma, which runs ahead of a loop, but does not stand in the body of an scf.for itself; write by threads",
            )
            .report();
        };
        match loops.iter_mut().find(|(l, _)| *l == place) {
            Some((_, all)) => all.push(stage),
            None => loops.push((place, vec![stage])),
        }
    }
    let mut shared = Shared {
        kernel,
        first,
        maps: Maps::new(kernel),
        views: vec![],
        rings: vec![],
        barriers: vec![],
    };
    let n = slots_of_each(kernel, &loops, slots)?;
    for (place, stages) in loops {
        cx.count(0, n.unsigned_abs());
        ring::run_ahead(&mut shared, place, &stages, n)?;
    }
    for block in threads::blocks(stages()) {
        threads::copy_all(&shared, block);
    }
    shared.initialise();
    let Shared { maps, views, .. } = shared;
    maps.finish();
    for (_, view) in views {
        // SAFETY: the maps have been made, and nothing else uses the view.
        unsafe { mlirOperationDestroy(view.to_raw()) };
    }
    Ok(())
}

/// How many slots the rings get.
fn slots_of_each<'c>(
    kernel: Kernel<'c, 'c>,
    loops: &[(OperationRef<'c, 'c>, Vec<Stage<'c, 'c>>)],
    asked: i64,
) -> Res<i64> {
    let bytes = |v: V<'c>| memref_bytes(v.r#type()).unwrap_or(0);
    let allocated = kernel.op().nested_ops().into_iter().filter_map(|op| op.cast::<Alloc>());
    let used = allocated.map(|a| bytes(a.result())).sum::<u64>() + SPARE_BYTES;
    let of_loop = |stages: &[Stage<'c, 'c>]| stages.iter().map(|s| bytes(s.result())).sum::<u64>();
    let one_of_each: u64 = loops.iter().map(|(_, stages)| of_loop(stages)).sum();
    let room = MAX_SHARED_BYTES.saturating_sub(used);
    let fit = room.checked_div(one_of_each).map_or(1, |n| n.min(1 << 10) as i64);
    let wanted = if asked > 0 { asked } else { fit.clamp(1, MOST_SLOTS) };
    if wanted <= fit {
        return Ok(wanted);
    }
    let m = format!(
        "stages {one_of_each} bytes at a time, but {room} bytes of shared memory are free, which are {fit} slots; found slots = \
         {wanted}; take smaller tiles or fewer slots"
    );
    Diag::op(&kernel.op(), m).report()
}

impl<'c> Shared<'c> {
    /// Memory of the block, for the kernel's life.
    fn alloc(&self, loc: Location<'c>, t: &str) -> V<'c> {
        let at = Before(self.first);
        let e = Emit::new(&at, loc);
        let t = Type::parse(e.context(), t).expect("a type of the dialect");
        e.insert(Alloc::build(loc, t, None)).result0()
    }
    /// A ring of mbarriers; `arrivals` end a phase.
    fn mbarriers(&mut self, loc: Location<'c>, slots: i64, arrivals: i64) -> V<'c> {
        let ring = self.alloc(loc, &format!("memref<{slots}x!tile.mbarrier, #tile.shared>"));
        self.barriers.push((ring, slots, arrivals));
        ring
    }
    /// One thread initialises the mbarriers before anyone uses them.
    fn initialise(&self) {
        if self.barriers.is_empty() {
            return;
        }
        let (at, loc) = (Before(self.first), self.kernel.op().location());
        let e = Emit::new(&at, loc);
        let thread = e.insert(ThreadId::build(loc, e.index_type())).result0();
        let is_first = e.cmp(Cmp::Eq, thread, e.index(0));
        e.if_then(is_first, |e| {
            for (ring, slots, arrivals) in &self.barriers {
                let count = e.c32(*arrivals);
                e.for_loop(e.index(0), e.index(*slots), e.index(1), |e, slot| {
                    e.insert(mbarrier::Init::build(loc, *ring, &[slot], count));
                });
            }
        });
        e.insert(Fence::build(loc, FenceKind::MbarrierInit));
        e.insert(Barrier::build(loc, None, None));
    }
}

/// A memref with the same element type and space: a part, or several of them.
pub(crate) fn with_shape<'c>(t: Type<'c>, shape: &[i64]) -> Type<'c> {
    // SAFETY: element type and memory space are those of a memref that exists; the shape has static sizes.
    unsafe {
        let space = mlirMemRefTypeGetMemorySpace(t.to_raw());
        let element = mlirShapedTypeGetElementType(t.to_raw());
        Type::from_raw(mlirMemRefTypeContiguousGet(
            element,
            shape.len() as isize,
            shape.as_ptr(),
            space,
        ))
    }
}
