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
//! %full = tile.alloc ordered : memref<4x!tile.mbarrier, #tile.shared>           // the slot's bytes have come
//! %empty = tile.alloc ordered : memref<4x!tile.mbarrier, #tile.shared>          // every warp has read them
//! ... one thread initialises the mbarriers, tile.barrier
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
//! Slots are as many as fit into shared memory beside what threads will exchange there, at most 4 and at most the passes of
//! the loop; `slots=N` asks for others, and 1 is a copy that is waited for. Where loops cannot have one slot each, the last ones
//! go without: threads copy when the loop needs it, which a remark says.
//! The tensor maps are made in the launch region; they are optional, since the program tests whether they can be. Loops in
//! different branches of a test share their slots.
//!
//! What threads copy runs ahead in the same way, in a `tile.produce ... threads(128)`: each thread brings its part with
//! `tile.cp_async` and arrives at `full` when that is over (`copies`), and the loop passes a fence between the proxies before
//! it multiplies. Rings go on counting where a loop around the loop enters it again (`nest`).
//!
//! What products of tiles take (`by cp_async`) all threads of the block bring, in groups of `cp.async` (`groups`): no mbarriers,
//! and no warps of their own.
//!
//! Threads copy without running ahead where the dimension that is contiguous in shared memory has no stride 1 in global
//! memory, so that elements are transposed on the way, where there is no loop, where passes cannot be numbered, and where the
//! memref may hold something else before (`threads`).
//!
//! Of a memref that has dimensions of an argument at one index of each other, as a matrix of a batch (`global_views`), the map is
//! of the argument, and the indices are coordinates.
//!
//! *Needs* `tile.stage ... by tma` to stand in the body of a loop itself, and copies from arguments of the kernel, or from such
//! parts of them that have the dimensions whole.
//! *Refuses* negative `slots`, slots that do not fit, a `tile.stage ... by tma` that stands in no loop, in loops whose passes
//! cannot be numbered (`nest`) or at a place that depends on more than their counters, one of a memref that the kernel writes
//! before, one for which there is no tensor map,
//! and one with `where` in a kernel of fewer than 128 threads or with parts that are no whole chunks (`copies`). *Numbers*
//! stay what they are.
mod copies;
mod exchanged;
mod groups;
mod ring;
mod threads;

use crate::{
    expand_tma::maps::Maps,
    nest::{Nest, counter, writer, written_before},
    shared_uses::line,
    slice::{Slice, is_defined_in},
};
use girih_dialects::{
    nvvm::{Cmp, Emit},
    tile::{
        ops::{
            index::ThreadId,
            kernel::{Kernel, REGISTER_FILE},
            mbarrier,
            memory::Alloc,
            mma::{Mma, Mover, Side, Stage},
            sync::Barrier,
        },
        target_of,
        verify::{MAX_SHARED_BYTES, memref_bytes, number_bits},
    },
};
use girih_ir::{
    ext::BlockExt,
    mlir_sys::*,
    op::OpView,
    pass::{DialectSource, OptionDef, OptionDefault, Pass, PassContext, PassInfo, Statistic},
    prelude::*,
    rewrite::{Before, Builder},
};
use std::collections::BTreeMap;

pub(crate) use exchanged::{exchanged_bytes, whole};

type V<'c> = Value<'c, 'c>;

/// Most slots that are taken without being asked for.
const MOST_SLOTS: i64 = 4;
/// Registers of a thread for operands and addresses beside what it sums.
const REGISTERS_BESIDE_SUMS: i64 = 64;
/// Most slots that are filled in groups.
const MOST_GROUPS: i64 = 9;
/// Bytes that are kept for mbarriers and alignment.
pub(crate) const SPARE_BYTES: u64 = 1024;

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
            DialectSource::Upstream(mlirGetDialectHandle__vector__),
        ],
        ..PassInfo::new(
            "tile-pipeline",
            "Give staged operands memory, and let their copies run ahead of loops",
        )
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        let slots = cx.option_int("slots");
        if slots < 0 {
            let m = format!(
                "option 'slots' of tile-pipeline is the slots of each ring, or 0 for as many as fit, but is {slots}; leave it out"
            );
            return Diag::error(module.location(), m).report();
        }
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
    views: Vec<(V<'c>, Vec<usize>, OperationRef<'c, 'c>)>,
    rings: Vec<Ring<'c>>,
    /// Buffers of what threads copy when it is needed, which is over before they copy the next.
    buffers: Vec<V<'c>>,
    /// Rings of mbarriers with their slots and the arrivals of a phase.
    barriers: Vec<(V<'c>, i64, i64)>,
}

/// The slots of staged operands of which no two are in use at one time.
struct Ring<'c> {
    slot: Type<'c>,
    /// Ops around the staged operands.
    users: Vec<OperationRef<'c, 'c>>,
    /// Most passes of a loop that uses it; a ring needs no more slots.
    passes: i64,
    /// Slots, once they are known.
    slots: i64,
    /// Its memory, once there is some.
    memory: Option<V<'c>>,
}

/// A loop whose copies run ahead.
struct Ahead<'c> {
    /// `None` where it counts anew each time that it is entered.
    nest: Option<Nest<'c>>,
    place: OperationRef<'c, 'c>,
    /// Staged operands, each with the number of its ring.
    stages: Vec<(Stage<'c, 'c>, usize)>,
}

impl<'c> Ahead<'c> {
    /// Whether all threads of the block bring what it stages, in groups of `cp.async`.
    fn is_in_groups(&self) -> bool {
        self.stages.iter().all(|(stage, _)| stage.by() == Mover::CpAsync)
    }
    /// How often it runs, if that is known.
    fn passes(&self) -> i64 {
        let known = self.nest.as_ref().and_then(Nest::known_passes);
        known.unwrap_or(i64::MAX).max(1)
    }
    /// Whether threads can copy all that it stages when the loop needs it.
    fn can_do_without(&self) -> bool {
        self.stages.iter().all(|(stage, _)| stage.by() != Mover::CpAsync)
    }
    /// What it stages, for threads to copy when the loop needs it.
    fn without_slots(self) -> Vec<Stage<'c, 'c>> {
        let by_threads = |(stage, _): (Stage<'c, 'c>, usize)| {
            let (op, staged) = (stage.op(), stage.result());
            let m = "is copied by threads, and not ahead of the loop: other loops have the shared memory for slots";
            drop(Diag::remark(&op, m));
            let made = Before(op).insert(Stage::build(
                op.location(),
                staged.r#type(),
                stage.source(),
                &stage.indices(),
                None,
                stage.side(),
                stage.major(),
                Mover::Threads,
                stage.cache(),
                stage.transposed(),
            ));
            staged.replace_all_uses_with(&made.result0());
            // SAFETY: what it gave has no uses any more.
            unsafe { mlirOperationDestroy(op.to_raw()) };
            made.cast()
        };
        self.stages.into_iter().filter_map(by_threads).collect()
    }
    fn is_around(&self, op: OperationRef<'c, 'c>) -> bool {
        op.is_in(self.place)
    }
}

fn pipeline<'c>(kernel: Kernel<'c, 'c>, slots: i64, cx: &PassContext<'c>) -> Res {
    let stages: Vec<Stage> = kernel
        .op()
        .nested_ops()
        .into_iter()
        .filter_map(|op| op.cast())
        .collect();
    let Some(first) = kernel.body().entry().and_then(|b| b.op_list().first().copied()) else {
        return Ok(());
    };
    if stages.is_empty() {
        return Ok(());
    }
    let mut shared = Shared {
        kernel,
        first,
        maps: Maps::new(kernel),
        views: vec![],
        rings: vec![],
        buffers: vec![],
        barriers: vec![],
    };
    let mut loops: Vec<Ahead<'c>> = vec![];
    let mut rest = vec![];
    for stage in stages {
        let nest = match runs_ahead(kernel, stage) {
            Ok(nest) => nest,
            Err(_) if stage.by() == Mover::Threads => {
                rest.push(stage);
                continue;
            }
            Err(why) => {
                let m = format!(
                    "is by {}, which runs ahead of a loop, but {why}; write by threads",
                    stage.by()
                );
                return Diag::op(&stage.op(), m).report();
            }
        };
        let Some(place) = stage.op().parent() else { continue };
        match loops.iter_mut().find(|l| l.place == place) {
            Some(l) => l.stages.push((stage, 0)),
            None => loops.push(Ahead {
                nest,
                place,
                stages: vec![(stage, 0)],
            }),
        }
    }
    let n = loop {
        shared.give_rings(&mut loops);
        if rest.is_empty() && !loops.is_empty() && loops.iter().all(Ahead::is_in_groups) {
            break shared.slots_of_groups(&loops, slots)?;
        }
        let found = shared.slots_of_each(&rest, slots);
        // The last loop goes without slots, so that others have some.
        let is_alone = rest.is_empty() && loops.len() == 1;
        match found {
            Err(_) if slots == 0 && !is_alone && loops.iter().any(Ahead::can_do_without) => {
                let last = loops.iter().rposition(Ahead::can_do_without).unwrap_or(0);
                rest.extend(loops.remove(last).without_slots());
            }
            Ok(n) => break n,
            Err(why) => return Diag::op(&kernel.op(), why).report(),
        }
    };
    shared.rings.iter_mut().for_each(|ring| ring.slots = n.min(ring.passes));
    for l in loops {
        if l.is_in_groups() {
            cx.count(0, n.unsigned_abs());
            groups::run_ahead(&mut shared, &l, n)?;
        } else {
            let n = n.min(l.passes());
            cx.count(0, n.unsigned_abs());
            ring::run_ahead(&mut shared, &l, n)?;
        }
    }
    for block in threads::blocks(&rest) {
        threads::copy_all(&mut shared, block);
    }
    shared.initialise();
    let Shared { maps, views, .. } = shared;
    maps.finish();
    for (.., view) in views {
        // SAFETY: the maps have been made, and nothing else uses the view.
        unsafe { mlirOperationDestroy(view.to_raw()) };
    }
    Ok(())
}

/// The loops around a staged operand whose copies can run ahead, if passes are to be numbered, or why they cannot.
fn runs_ahead<'c>(kernel: Kernel<'c, 'c>, stage: Stage<'c, 'c>) -> Result<Option<Nest<'c>>, String> {
    let Some(place) = stage.op().parent().filter(|p| p.full_name() == "scf.for") else {
        return Err("it does not stand in the body of an scf.for itself".to_owned());
    };
    // What is copied in groups counts anew each time.
    let nest = match stage.by() {
        Mover::CpAsync => None,
        _ => Some(Nest::of(place, kernel.op())?),
    };
    let mut slice = Slice::new(|v| !is_defined_in(v, place));
    if let Some(counter) = counter(place) {
        slice.set(counter, counter);
    }
    let mut used = stage.indices();
    used.push(stage.source());
    if !used.iter().all(|v| slice.reaches(*v)) {
        return Err("it copies from a place that depends on more than the loop's counter".to_owned());
    }
    // Copies in groups start behind a barrier in front of the loop.
    let write = match stage.by() {
        Mover::CpAsync => writer(place, stage.source()),
        _ => written_before(kernel, stage.op(), stage.source()),
    };
    if let Some(write) = write {
        return Err(format!("what the memref holds may change before, at {}", line(write)));
    }
    if stage.by() != Mover::Tma || stage.condition().is_some() {
        copies::fit(kernel, stage)?;
    }
    Ok(nest)
}

/// Bytes of the shared memory that a kernel has of its own.
pub(crate) fn allocated_bytes(kernel: Kernel<'_, '_>) -> u64 {
    let own = kernel.op().nested::<Alloc>().into_iter();
    own.map(|a| memref_bytes(a.result().r#type()).unwrap_or(0)).sum()
}

impl<'c> Shared<'c> {
    /// Gives each operand of loops a ring.
    fn give_rings(&mut self, loops: &mut [Ahead<'c>]) {
        self.rings.clear();
        for l in loops {
            let passes = l.passes();
            for (stage, ring) in &mut l.stages {
                *ring = self.take(*stage, l.place);
                let ring = &mut self.rings[*ring];
                ring.passes = ring.passes.max(passes);
            }
        }
    }
    /// Gives an operand in the loop `place` a ring: that of others which are never in use when it is, or one of its own.
    fn take(&mut self, stage: Stage<'c, 'c>, place: OperationRef<'c, 'c>) -> usize {
        let shared = self.rings.iter().position(|ring| ring.can_serve(stage));
        let n = shared.unwrap_or(self.rings.len());
        if shared.is_none() {
            self.rings.push(Ring {
                slot: stage.result().r#type(),
                users: vec![],
                passes: 1,
                slots: 1,
                memory: None,
            });
        }
        self.rings[n].users.push(place);
        n
    }
    /// How many slots the rings get, or that there is no room; `rest` are the operands that have a buffer and no ring.
    fn slots_of_each(&self, rest: &[Stage<'c, 'c>], asked: i64) -> Result<i64, String> {
        let bytes = |t: Type<'c>| memref_bytes(t).unwrap_or(0);
        // Products take turns in buffers of one type.
        let mut buffers: BTreeMap<(String, bool), u64> = BTreeMap::new();
        for s in rest {
            let t = s.result().r#type();
            if !self.rings.iter().any(|ring| ring.can_serve(*s)) {
                buffers.insert((t.to_string(), s.side() == Side::A), bytes(t));
            }
        }
        let used: u64 = allocated_bytes(self.kernel)
            + buffers.into_values().sum::<u64>()
            + exchanged_bytes(self.kernel, false, &|_| true)
            + SPARE_BYTES;
        if self.rings.is_empty() {
            return Ok(1);
        }
        let room = MAX_SHARED_BYTES.saturating_sub(used);
        let needs = |slots: i64| -> u64 {
            let of = |ring: &Ring<'c>| bytes(ring.slot).saturating_mul(slots.min(ring.passes).unsigned_abs());
            self.rings.iter().map(of).fold(0, u64::saturating_add)
        };
        let most = (1..=MOST_SLOTS).rev().find(|n| needs(*n) <= room);
        let wanted = if asked > 0 { asked } else { most.unwrap_or(1) };
        if needs(wanted) <= room {
            return Ok(wanted);
        }
        Err(too_few(needs(1), room, slots_in(room, needs(1)), wanted))
    }
    /// The same where all threads copy in groups: so few that two blocks fit a multiprocessor, if that leaves three, and if the
    /// registers are enough for two. When such a loop is over its slots are free for what threads exchange then, unless they
    /// exchange something before it, too.
    fn slots_of_groups(&self, loops: &[Ahead<'c>], asked: i64) -> Res<i64> {
        let kernel = self.kernel.op();
        let limit = target_of(kernel).map_or(MAX_SHARED_BYTES, |t| u64::from(t.dynamic_shared_bytes()));
        let bytes = |t: Type<'c>| memref_bytes(t).unwrap_or(0);
        let allocated = allocated_bytes(self.kernel);
        let is_inside = |op| loops.iter().any(|l| l.is_around(op));
        let inside = exchanged_bytes(self.kernel, true, &is_inside);
        let outside = exchanged_bytes(self.kernel, true, &|op| !is_inside(op));
        let around = |l: &Ahead<'c>| {
            std::iter::successors(l.place.parent(), |op| op.parent())
                .take_while(|op| !op.is::<Kernel>())
                .collect::<Vec<_>>()
        };
        let comes_again = |l: &Ahead<'c>| around(l).into_iter().any(|op| op.full_name() != "scf.if");
        // What is exchanged before a loop may still be read when its first copies come.
        let ops = kernel.nested_ops();
        let number = |op: OperationRef<'c, 'c>| ops.iter().position(|other| *other == op);
        let last = loops.iter().filter_map(|l| number(l.place)).max();
        let is_before = |op| !is_inside(op) && number(op) < last;
        let before = exchanged_bytes(self.kernel, true, &is_before);
        let lasts = inside > 0 || loops.iter().any(comes_again);
        let used = allocated + SPARE_BYTES + if lasts { inside.max(outside) } else { before };
        let one_of_each: u64 = self.rings.iter().map(|ring| bytes(ring.slot)).sum();
        let room = limit.saturating_sub(used);
        let fit = slots_in(room, one_of_each);
        let two = slots_in(
            ((limit + SPARE_BYTES) / 2).saturating_sub(used + SPARE_BYTES),
            one_of_each,
        );
        let most = match two >= 3 && self.sums_leave_room_for_two() {
            true => two.min(MOST_SLOTS),
            false => MOST_SLOTS,
        };
        let wanted = if asked > 0 { asked } else { fit.clamp(1, most) };
        // A wait leaves at most seven groups in flight.
        if wanted <= fit && wanted <= MOST_GROUPS {
            return Ok(wanted);
        }
        if wanted > MOST_GROUPS {
            let m =
                format!("copies in groups have at most {MOST_GROUPS} slots; found slots = {wanted}; take fewer slots");
            return Diag::op(&self.kernel.op(), m).report();
        }
        Diag::op(&self.kernel.op(), too_few(one_of_each, room, fit, wanted)).report()
    }
    /// Whether sums of products leave two blocks the registers that they need beside them.
    fn sums_leave_room_for_two(&self) -> bool {
        let bits = |mma: Mma<'c, 'c>| {
            let t = mma.result().r#type();
            let elements: i64 = t.shape().unwrap_or_default().iter().product();
            elements * number_bits(t).unwrap_or(0) as i64
        };
        let sums = self
            .kernel
            .op()
            .nested::<Mma>()
            .into_iter()
            .map(bits)
            .max()
            .unwrap_or(0)
            / 32;
        2 * (sums + self.kernel.threads() * REGISTERS_BESIDE_SUMS) <= REGISTER_FILE
    }
    /// The memory of a ring.
    fn ring(&mut self, n: usize, loc: Location<'c>) -> V<'c> {
        if let Some(memory) = self.rings[n].memory {
            return memory;
        }
        let (t, slots) = (self.rings[n].slot, self.rings[n].slots);
        let shape = [vec![slots], t.shape().unwrap_or_default()].concat();
        let at = Before(self.first);
        let memory = Emit::new(&at, loc).insert(Alloc::build(loc, with_shape(t, &shape), None, true));
        self.rings[n].memory = Some(memory.result0());
        memory.result0()
    }
    /// A ring of mbarriers, for slots that say `ordered` as it does; `arrivals` end a phase.
    fn mbarriers(&mut self, loc: Location<'c>, slots: i64, arrivals: i64) -> V<'c> {
        let at = Before(self.first);
        let e = Emit::new(&at, loc);
        let t = format!("memref<{slots}x!tile.mbarrier, #tile.shared>");
        let t = Type::parse(e.context(), &t).expect("a type of the dialect");
        let ring = e.insert(Alloc::build(loc, t, None, true)).result0();
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
        let thread = e.insert(ThreadId::build(loc, e.index_type(), false)).result0();
        let is_first = e.cmp(Cmp::Eq, thread, e.index(0));
        e.if_then(is_first, |e| {
            for (ring, slots, arrivals) in &self.barriers {
                let count = e.c32(*arrivals);
                e.for_loop(e.index(0), e.index(*slots), e.index(1), |e, slot| {
                    e.insert(mbarrier::Init::build(loc, *ring, &[slot], count));
                });
            }
        });
        e.insert(Barrier::build(loc, None, None));
    }
}

fn too_few(one_of_each: u64, room: u64, fit: i64, wanted: i64) -> String {
    format!(
        "stages {one_of_each} bytes at a time, but {room} bytes of shared memory are free, which are {fit} slots; found slots = \
         {wanted}; take smaller tiles or fewer slots"
    )
}

/// How often `bytes` fit.
fn slots_in(room: u64, bytes: u64) -> i64 {
    room.checked_div(bytes).map_or(1, |n| n.min(1 << 10) as i64)
}

impl<'c> Ring<'c> {
    /// Whether an operand can have its slots: they are as large, and whoever has them is in another branch of a test.
    fn can_serve(&self, stage: Stage<'c, 'c>) -> bool {
        let mut users = self.users.iter();
        self.slot == stage.result().r#type() && users.all(|user| exclude_each_other(*user, stage.op()))
    }
}

/// Whether two ops are in different branches of one test.
fn exclude_each_other<'c>(a: OperationRef<'c, 'c>, b: OperationRef<'c, 'c>) -> bool {
    let branches = |op: OperationRef<'c, 'c>| {
        let (mut all, mut at) = (vec![], op);
        while let Some(outer) = at.parent() {
            if outer.full_name() == "scf.if" {
                all.push((outer, at.block().and_then(|b| b.parent_region())));
            }
            at = outer;
        }
        all
    };
    let of_b = branches(b);
    branches(a)
        .iter()
        .any(|(test, branch)| of_b.iter().any(|(t, other)| t == test && other != branch))
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
