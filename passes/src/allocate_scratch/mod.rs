//! `tile-allocate-scratch`: shared memory for what threads tell each other on the way, and the barriers around it.
//!
//! ```mlir
//! %m = tile.reduce %x axis 1 (...) {...} : tensor<1x4096xf32, #L> -> tensor<1xf32, #M>                       // before
//! %s = tile.reduce %y axis 1 (...) {...} : tensor<1x4096xf32, #L> -> tensor<1xf32, #M>
//!
//! %a = tile.alloc : memref<32xi8, #tile.shared>                                                              // after
//! %b = tile.alloc : memref<32xi8, #tile.shared>
//! %m = tile.reduce %x scratch %a : memref<32xi8, #tile.shared> axis 1 (...) {...} : ...
//! %s = tile.reduce %y scratch %b : memref<32xi8, #tile.shared> axis 1 (...) {...} : ...
//! ```
//!
//! An op that moves data between warps writes its scratch, waits for the block, and reads it. Two buffers take turns, so
//! that an op does not write what others still read of the one before it: in straight-line code nothing more is needed.
//! Where a buffer may still be read, in loops and after branches, a `tile.barrier` is put before the op. Tiles that go
//! through shared memory as a whole share one buffer.
//!
//! `tile.cluster_reduce` has buffers of its own. Outside loops each has one, with an mbarrier that serves one phase, so that
//! nothing is awaited but the parts of all blocks; those that exclude each other share it. In loops two buffers take turns,
//! with barriers of the cluster where those of a block would stand. A block must not write to the memory of another that
//! does not run yet: all arrive at the cluster's barrier when the kernel starts, and wait before the first of these ops.
//! None is needed before the end: a block reads only its own memory, after all have written.
//!
//! *Needs* `tile-assign-layouts`. It gives a remark for each change of layout that has bank conflicts left. *Refuses*
//! `tile.cluster_reduce` where only some threads of a cluster may come, and between an arrival at the cluster's barrier and
//! its wait. *Numbers* stay what they are.
mod cluster;

use crate::{
    convert_tile_to_nvvm::scan_bytes,
    layout_conversion::{Plan, ends, plan},
};
use cluster::{cluster_bytes, is_barrier, left_arrived, meet_before, start_together};
pub use cluster::{cluster_part_bytes, word_bytes};
use girih_dialects::tile::{
    distribution::Distribution,
    ops::{
        cluster::{ClusterArrive, ClusterWait},
        cluster_reduce::ClusterReduce,
        kernel::Kernel,
        memory::Alloc,
        reduce::Reduce,
        scan::Scan,
        sync::Barrier,
        value::ConvertLayout,
    },
    spaces::Shared,
    verify::element_bits,
};
use girih_ir::{
    ext::BlockExt,
    melior::ir::r#type::IntegerType,
    mlir_sys::*,
    pass::{DialectSource, Pass, PassContext, PassInfo, Statistic},
    prelude::*,
    rewrite::{Before, Builder},
};

/// The pass.
pub struct AllocateScratch;

impl Pass for AllocateScratch {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        statistics: &[Statistic {
            name: "barriers",
            description: "Barriers before ops that use scratch",
        }],
        dialects: &[DialectSource::Rust(&girih_dialects::tile::TILE)],
        ..PassInfo::new(
            "tile-allocate-scratch",
            "Give shared memory to ops that move data between warps",
        )
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        let mut errors = Errors::default();
        for kernel in module.nested::<Kernel>() {
            errors.merge(allocate(kernel, cx));
        }
        errors.result()
    }
}

/// Bytes of scratch that a reduction needs: one number of each source for each element of the result and each warp that has
/// a part of it.
pub fn reduce_bytes(op: Reduce<'_, '_>) -> u64 {
    op.sources()
        .iter()
        .map(|s| reduce_part_bytes(s.r#type(), op.axis() as usize))
        .sum()
}

/// Bytes for one source of a reduction; 0 where no warp needs another's.
pub fn reduce_part_bytes(source: Type<'_>, axis: usize) -> u64 {
    let (Some(d), Some(bits)) = (Distribution::of(source), element_bits(source)) else {
        return 0;
    };
    let warps = d.threads[5..]
        .iter()
        .filter(|image| image.get(axis).is_some_and(|i| *i != 0))
        .count();
    if warps == 0 {
        return 0;
    }
    let elements: u64 = d
        .shape
        .iter()
        .enumerate()
        .filter(|(a, _)| *a != axis)
        .map(|(_, s)| *s as u64)
        .product();
    ((elements << warps) * bits / 8).next_multiple_of(16)
}

/// Who share a scratch buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Parts of reductions and scans.
    Parts,
    /// Whole tiles.
    Tile,
    /// Parts from all blocks of a cluster.
    Cluster,
}

/// Bytes that an op needs, and of which kind they are.
fn need(op: OperationRef<'_, '_>) -> Res<(u64, Kind)> {
    if let Some(reduce) = op.cast::<Reduce>().filter(|r| r.scratch().is_none()) {
        return Ok((reduce_bytes(reduce), Kind::Parts));
    }
    if let Some(scan) = op.cast::<Scan>().filter(|r| r.scratch().is_none()) {
        return Ok((scan_bytes(scan).iter().sum(), Kind::Parts));
    }
    if let Some(reduce) = op.cast::<ClusterReduce>().filter(|r| r.scratch().is_none()) {
        return Ok((cluster_bytes(reduce), Kind::Cluster));
    }
    let Some(convert) = op.cast::<ConvertLayout>().filter(|c| c.scratch().is_none()) else {
        return Ok((0, Kind::Tile));
    };
    let t = convert.source().r#type();
    let Some((from, to)) = ends(convert) else {
        return Ok((0, Kind::Tile));
    };
    match plan(&from, &to, element_bits(t).unwrap_or(8) / 8) {
        Ok(Plan::Shared(trip)) => {
            if trip.excess() > 0 {
                let m = format!(
                    "takes {} wavefronts to store the tile and {} to load it, where {} and {} would do without bank conflicts",
                    trip.store.wavefronts, trip.load.wavefronts, trip.store.ideal, trip.load.ideal
                );
                drop(Diag::remark(&op, m));
            }
            Ok((trip.bytes, Kind::Tile))
        }
        Ok(_) => Ok((0, Kind::Tile)),
        Err(error) => Diag::op(&op, format!("cannot be done: {error}")).report(),
    }
}

/// Buffers that are used again: two for parts of reductions, which take turns, one for whole tiles, and two for parts from
/// all blocks of a cluster, which take turns. Those that serve once come after them.
const BUFFERS: usize = 5;
/// Of these, those that only the block itself reads and writes.
const OWN: std::ops::Range<usize> = 0..3;
/// The buffer of whole tiles.
const TILE: usize = 2;
/// The first of those for a cluster.
const CLUSTER: usize = 3;

/// An op with the buffer that it uses.
struct User<'c> {
    op: OperationRef<'c, 'c>,
    buffer: usize,
}

fn allocate<'c>(kernel: Kernel<'c, 'c>, cx: &PassContext<'c>) -> Res {
    let blocks = kernel.body().block_list();
    let Some(entry) = blocks.first() else { return Ok(()) };
    let mut bytes = vec![0u64; BUFFERS];
    let mut users: Vec<User> = vec![];
    let mut state = State {
        turn: 0,
        cluster_turn: 0,
        once: 0,
        in_loop: false,
        read: [false; BUFFERS],
        arrived: None,
    };
    let own_barriers = kernel.op().nested_ops().iter().any(is_barrier);
    for block in &blocks {
        // Other blocks may come from anywhere.
        if blocks.len() > 1 {
            state.read = [true; BUFFERS];
        }
        walk(*block, &mut state, &mut bytes, &mut users, cx)?;
    }
    if users.is_empty() {
        return Ok(());
    }
    let between_blocks: Vec<_> = users.iter().filter(|u| u.buffer >= CLUSTER).map(|u| u.op).collect();
    let mut barriers = vec![];
    if !between_blocks.is_empty() {
        barriers = start_together(kernel, &between_blocks, bytes.len() - BUFFERS, own_barriers);
    }
    let Some(first) = entry.op_list().first().copied() else {
        return Ok(());
    };
    let context = kernel.op().ctx();
    let i8_type: Type = IntegerType::new(context, 8).into();
    let space: Attribute = Shared::get(
        context,
        girih_dialects::tile::spaces::Swizzle::None,
        girih_dialects::tile::spaces::Atom::B16,
        0,
    )
    .into();
    let buffers: Vec<Option<Value>> = bytes
        .iter()
        .map(|n| {
            // SAFETY: a memref of bytes with one static size.
            let t = unsafe {
                let size = *n as i64;
                Type::from_raw(mlirMemRefTypeContiguousGet(i8_type.to_raw(), 1, &size, space.to_raw()))
            };
            (*n > 0).then(|| {
                Before(first)
                    .insert(Alloc::build(kernel.op().location(), t, None))
                    .result0()
            })
        })
        .collect();
    for user in users {
        if let Some(buffer) = buffers[user.buffer] {
            let barrier = user.buffer.checked_sub(BUFFERS).and_then(|n| barriers.get(n)).copied();
            add_scratch(user.op, buffer, barrier);
        }
    }
    Ok(())
}

/// Rebuilds an op with its scratch: operands cannot be added in place.
fn add_scratch<'c>(op: OperationRef<'c, 'c>, scratch: Value<'c, 'c>, barrier: Option<Value<'c, 'c>>) {
    let at = Before(op);
    let new = if let Some(reduce) = op.cast::<Reduce>() {
        let region = Region::new();
        // SAFETY: the old op goes away below.
        unsafe { mlirRegionTakeBody(region.to_raw(), reduce.combiner().to_raw()) };
        let types = op.result_types();
        at.insert(Reduce::build(
            op.location(),
            &types,
            &reduce.sources(),
            Some(scratch),
            reduce.axis(),
            region,
        ))
    } else if let Some(scan) = op.cast::<Scan>() {
        let region = Region::new();
        // SAFETY: as above.
        unsafe { mlirRegionTakeBody(region.to_raw(), scan.combiner().to_raw()) };
        let types = op.result_types();
        at.insert(Scan::build(
            op.location(),
            &types,
            &scan.sources(),
            Some(scratch),
            scan.axis(),
            region,
        ))
    } else if let Some(reduce) = op.cast::<ClusterReduce>() {
        let region = Region::new();
        // SAFETY: as above.
        unsafe { mlirRegionTakeBody(region.to_raw(), reduce.combiner().to_raw()) };
        let types = op.result_types();
        at.insert(ClusterReduce::build(
            op.location(),
            &types,
            &reduce.sources(),
            Some(scratch),
            barrier,
            region,
        ))
    } else if let Some(convert) = op.cast::<ConvertLayout>() {
        at.insert(ConvertLayout::build(
            op.location(),
            convert.result().r#type(),
            convert.source(),
            Some(scratch),
        ))
    } else {
        return;
    };
    for (old, new) in op.result_values().into_iter().zip(new.result_values()) {
        old.replace_all_uses_with(&new);
    }
    unsafe { mlirOperationDestroy(op.to_raw()) };
}

/// Where a walk through a kernel is.
#[derive(Clone, Copy)]
struct State<'c> {
    /// Which buffer is next.
    turn: usize,
    /// Which buffer of those for a cluster is next.
    cluster_turn: usize,
    /// How many buffers that serve once may have been used on the way here.
    once: usize,
    /// Whether what comes here may come again.
    in_loop: bool,
    /// Whether some thread may still read a buffer.
    read: [bool; BUFFERS],
    /// An arrival of the program's at the barrier of the cluster that may not have been waited for.
    arrived: Option<OperationRef<'c, 'c>>,
}

impl<'c> State<'c> {
    /// All threads of the block meet.
    fn meet(&mut self) {
        self.read[OWN].fill(false);
    }
}

fn walk<'c>(
    block: BlockRef<'c, 'c>,
    state: &mut State<'c>,
    bytes: &mut Vec<u64>,
    users: &mut Vec<User<'c>>,
    cx: &PassContext<'c>,
) -> Res {
    for op in block.op_list() {
        if op.cast::<Barrier>().is_some_and(|b| b.id().is_none()) {
            state.meet();
            continue;
        }
        if op.is::<ClusterArrive>() {
            state.arrived = Some(op);
        } else if op.is::<ClusterWait>() {
            state.arrived = None;
        }
        let (n, kind) = need(op)?;
        if n > 0 {
            let buffer = match kind {
                Kind::Parts => state.turn,
                Kind::Tile => TILE,
                Kind::Cluster if state.in_loop => CLUSTER + state.cluster_turn,
                Kind::Cluster => BUFFERS + state.once,
            };
            if kind == Kind::Cluster {
                cluster::check(op, state.arrived)?;
            }
            if buffer >= BUFFERS {
                state.once += 1;
                bytes.resize(bytes.len().max(buffer + 1), 0);
                bytes[buffer] = bytes[buffer].max(n);
                users.push(User { op, buffer });
                continue;
            }
            if state.read[buffer] {
                match kind {
                    Kind::Cluster => meet_before(op),
                    _ => drop(Before(op).insert(Barrier::build(op.location(), None, None))),
                }
                cx.count(0, 1);
            }
            // The barrier inside the op comes after all reads of the others.
            state.meet();
            match kind {
                Kind::Parts => state.turn = 1 - state.turn,
                Kind::Tile => {}
                Kind::Cluster => {
                    state.read[CLUSTER..].fill(false);
                    state.cluster_turn = 1 - state.cluster_turn;
                }
            }
            state.read[buffer] = true;
            bytes[buffer] = bytes[buffer].max(n);
            users.push(User { op, buffer });
            continue;
        }
        if op.is::<Reduce>() || op.is::<Scan>() || op.is::<ClusterReduce>() || op.region_count() == 0 {
            continue;
        }
        let is_loop = op.full_name() != "scf.if";
        let mut after = *state;
        for region in 0..op.region_count() {
            let mut inner = *state;
            if is_loop {
                inner.in_loop = true;
                inner.read[OWN].fill(true);
                let between_blocks = op.nested_ops().iter().any(|inner| inner.is::<ClusterReduce>());
                inner.read[CLUSTER..]
                    .iter_mut()
                    .for_each(|read| *read |= between_blocks);
                inner.arrived = inner.arrived.or(left_arrived(op));
            }
            for inner_block in op.region_at(region).block_list() {
                walk(inner_block, &mut inner, bytes, users, cx)?;
            }
            after.turn = inner.turn;
            after.cluster_turn = inner.cluster_turn;
            after.once = after.once.max(inner.once);
            after.arrived = after.arrived.or(inner.arrived);
            after.read.iter_mut().zip(inner.read).for_each(|(a, b)| *a |= b);
        }
        *state = after;
    }
    Ok(())
}
