//! `tile-allocate-scratch`: shared memory for what threads tell each other on the way.
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
//! An op that moves data between warps writes its scratch, waits for the block, and reads it. Each has a buffer of its own, so
//! that it need not wait for readers of another's; `tile-allocate-shared` lets them share bytes where something else waits in
//! between. Tiles that go through shared memory as a whole share one buffer; where every warp reads what it wrote itself
//! (`within_warps`), those of one size do, since no warp meets another's bytes. Roles run beside each other, so each has buffers
//! of its own. `tile-insert-sync` puts barriers where a buffer may still be read.
//!
//! `tile.cluster_reduce` has buffers of its own. Outside loops each has one, with an mbarrier that serves one phase, so that
//! nothing is awaited but the parts of all blocks; those that exclude each other share it. In loops two buffers take turns,
//! with barriers of the cluster where those of a block would stand. A block must not write to the memory of another that
//! does not run yet: all arrive at the cluster's barrier when the kernel starts, and wait before the first of these ops.
//! None is needed before the end: a block reads only its own memory, after all have written.
//!
//! *Needs* `tile-assign-layouts`. It gives a remark for each op that has bank conflicts left on its way through scratch.
//! *Refuses* `tile.cluster_reduce` where only some threads of a cluster may come, and between an arrival at the cluster's
//! barrier and its wait. *Numbers* stay what they are.
mod cluster;

use crate::{
    between_warps::{self, Parts},
    convert_tile_to_nvvm::{atomic_bytes, slice_bytes},
    layout_conversion::{Plan, Trip, ends, plan},
    shared_uses::{InRole, conflict, in_role, line},
};
use cluster::{is_barrier, left_arrived, meet_before, start_together};
use girih_core::layout::{BankCount, LayoutError};
use girih_dialects::tile::{
    ops::{
        atomic::AtomicRmw,
        cluster::{ClusterArrive, ClusterWait},
        cluster_reduce::{ClusterReduce, cluster_bytes},
        kernel::Kernel,
        memory::Alloc,
        reduce::Reduce,
        repack::Repack,
        scan::Scan,
        slice::{Concat, ExtractSlice, InsertSlice},
        value::ConvertLayout,
    },
    spaces::{Atom, Shared, Swizzle},
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
        statistics: &[
            Statistic {
                name: "scratch-bytes",
                description: "Bytes of scratch, before buffers share any",
            },
            Statistic {
                name: "cluster-barriers",
                description: "Barriers of the cluster before ops that use scratch",
            },
        ],
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

/// Bytes of scratch that an op needs, with scratch or without: 0 where no data goes between warps.
pub fn scratch_bytes(op: OperationRef<'_, '_>) -> u64 {
    if let Some((parts, sources)) = parts_of(op) {
        return between_warps::scratch_bytes(&parts, &sources).iter().sum();
    }
    if let Some(repack) = op.cast::<Repack>() {
        let elements: u64 = repack.sizes().iter().map(|s| s.unsigned_abs()).product();
        return elements * element_bits(repack.source().r#type()).unwrap_or(8) / 8;
    }
    match op.cast::<ConvertLayout>().and_then(way) {
        Some(Ok(Plan::Shared(trip))) => trip.bytes,
        Some(_) => 0,
        None => slice_bytes(op) + atomic_bytes(op),
    }
}

/// What warps tell each other in a reduction or a scan, and of which tiles; `None` for other ops, and where they need not.
fn parts_of<'c>(op: OperationRef<'c, 'c>) -> Option<(Parts, Vec<Value<'c, 'c>>)> {
    if let Some(reduce) = op.cast::<Reduce>() {
        return Some((between_warps::of_reduce(reduce)?, reduce.sources()));
    }
    let scan = op.cast::<Scan>()?;
    Some((between_warps::of_scan(scan)?, scan.sources()))
}

/// How a tile changes its layout; `None` where it has none.
fn way(convert: ConvertLayout<'_, '_>) -> Option<Result<Plan, LayoutError>> {
    let t = convert.source().r#type();
    let (from, to) = ends(convert)?;
    Some(plan(&from, &to, element_bits(t).unwrap_or(8) / 8))
}

/// Says which bank conflicts an op has on the way through shared memory, or why there is none.
fn explain(op: OperationRef<'_, '_>) -> Res {
    if let Some(trip) = op.cast::<ConvertLayout>().and_then(way) {
        return match trip {
            Err(error) => Diag::op(&op, format!("cannot be done: {error}")).report(),
            Ok(Plan::Shared(trip)) => explain_trip(op, &trip, "on the way to another layout"),
            Ok(_) => Ok(()),
        };
    }
    let Some((parts, sources)) = parts_of(op) else {
        return Ok(());
    };
    for source in sources {
        let trip = parts.trip(element_bits(source.r#type()).unwrap_or(8) / 8);
        match trip {
            Err(error) => return Diag::op(&op, format!("cannot go between warps: {error}")).report(),
            Ok(trip) => explain_trip(op, &trip, "in parts for other warps")?,
        }
    }
    Ok(())
}

fn explain_trip(op: OperationRef<'_, '_>, trip: &Trip, how: &str) -> Res {
    if trip.excess() == 0 {
        return Ok(());
    }
    let of = |count: &BankCount| count.wavefronts - count.ideal;
    let (count, verb) = match of(&trip.store) >= of(&trip.load) {
        true => (trip.store, "written"),
        false => (trip.load, "read"),
    };
    let conflict = conflict(count.degree(), verb, how, &line(op));
    let m = format!(
        "{conflict}; no order in shared memory that was tried removes it; left at {} wavefronts to write and {} to read, \
         where {} and {} would do",
        trip.store.wavefronts, trip.load.wavefronts, trip.store.ideal, trip.load.ideal
    );
    drop(Diag::remark(&op, m));
    Ok(())
}

fn allocate<'c>(kernel: Kernel<'c, 'c>, cx: &PassContext<'c>) -> Res {
    let Some(first) = kernel.body().entry().and_then(|b| b.op_list().first().copied()) else {
        return Ok(());
    };
    let mut errors = Errors::default();
    let (mut parts, mut tiles, mut within) = (vec![], vec![], vec![]);
    for op in kernel.op().nested_ops() {
        if let Some(convert) = op.cast::<ConvertLayout>().filter(|c| c.scratch().is_none()) {
            errors.merge(explain(convert.op()));
            match way(convert) {
                Some(Ok(Plan::Shared(trip))) if trip.within_warps => within.push((op, trip.bytes)),
                _ => tiles.push((op, scratch_bytes(op))),
            }
        } else if op.cast::<ExtractSlice>().is_some_and(|e| e.scratch().is_none())
            || op.cast::<InsertSlice>().is_some_and(|i| i.scratch().is_none())
            || op.cast::<Concat>().is_some_and(|c| c.scratch().is_none())
            || op.cast::<AtomicRmw>().is_some_and(|a| a.scratch().is_none())
            || op.cast::<Repack>().is_some_and(|r| r.scratch().is_none())
        {
            tiles.push((op, scratch_bytes(op)));
        } else if op.cast::<Reduce>().is_some_and(|r| r.scratch().is_none())
            || op.cast::<Scan>().is_some_and(|s| s.scratch().is_none())
        {
            errors.merge(explain(op));
            parts.push((op, scratch_bytes(op)));
        }
    }
    errors.result()?;
    let clusters = between_blocks(kernel, cx)?;
    let buffer = |of: OperationRef<'c, 'c>, bytes: u64| {
        cx.count(0, bytes);
        let t = bytes_in_shared(first.ctx(), bytes);
        Before(first)
            .insert(Alloc::build(of.location(), t, None, false))
            .result0()
    };
    for (op, bytes) in parts.into_iter().filter(|(_, bytes)| *bytes > 0) {
        add_scratch(op, buffer(op, bytes), None);
    }
    let mut of_size: Vec<(InRole, u64, Value)> = vec![];
    for (op, bytes) in within {
        let role = in_role(op);
        let known = of_size.iter().find(|(r, size, _)| (*r, *size) == (role, bytes));
        let known = known.map(|(.., own)| *own);
        let own = known.unwrap_or_else(|| buffer(op, bytes));
        if known.is_none() {
            of_size.push((role, bytes, own));
        }
        op.set_attr("within_warps", Attribute::unit(op.ctx()));
        add_scratch(op, own, None);
    }
    tiles.retain(|(_, bytes)| *bytes > 0);
    // Roles run beside each other.
    while let Some(role) = tiles.first().map(|(op, _)| in_role(*op)) {
        let (own, others): (Vec<_>, Vec<_>) = tiles.into_iter().partition(|(op, _)| in_role(*op) == role);
        tiles = others;
        if let Some((largest, bytes)) = own.iter().max_by_key(|(_, bytes)| *bytes).copied() {
            let shared = buffer(largest, bytes);
            own.into_iter().for_each(|(op, _)| add_scratch(op, shared, None));
        }
    }
    let Clusters { bytes, users, barriers } = clusters;
    let mut made: Vec<Option<Value>> = vec![None; bytes.len()];
    for user in users {
        let scratch = *made[user.buffer].get_or_insert_with(|| buffer(user.op, bytes[user.buffer]));
        let barrier = user.buffer.checked_sub(TURNS).and_then(|n| barriers.get(n)).copied();
        add_scratch(user.op, scratch, barrier);
    }
    Ok(())
}

/// Buffers for parts from all blocks of a cluster that are used again: two, which take turns. Those that serve once come after
/// them.
const TURNS: usize = 2;

/// An op with the buffer that it uses.
struct User<'c> {
    op: OperationRef<'c, 'c>,
    buffer: usize,
}

/// What ops need that move data between blocks.
struct Clusters<'c> {
    /// Of each buffer.
    bytes: Vec<u64>,
    users: Vec<User<'c>>,
    /// mbarriers of the buffers that serve once.
    barriers: Vec<Value<'c, 'c>>,
}

/// Gives buffers to what moves data between blocks, and lets these start together.
fn between_blocks<'c>(kernel: Kernel<'c, 'c>, cx: &PassContext<'c>) -> Res<Clusters<'c>> {
    let blocks = kernel.body().block_list();
    let mut found = Clusters {
        bytes: vec![0; TURNS],
        users: vec![],
        barriers: vec![],
    };
    let mut state = State {
        turn: 0,
        once: 0,
        in_loop: false,
        read: [false; TURNS],
        arrived: None,
    };
    let own_barriers = kernel.op().nested_ops().iter().any(is_barrier);
    for block in &blocks {
        // Other blocks may come from anywhere.
        if blocks.len() > 1 {
            state.read = [true; TURNS];
        }
        walk(*block, &mut state, &mut found, cx)?;
    }
    if !found.users.is_empty() {
        let ops: Vec<_> = found.users.iter().map(|u| u.op).collect();
        found.barriers = start_together(kernel, &ops, found.bytes.len() - TURNS, own_barriers);
    }
    Ok(found)
}

/// `memref<...xi8, #tile.shared>`.
fn bytes_in_shared(context: &Context, bytes: u64) -> Type<'_> {
    let i8_type: Type = IntegerType::new(context, 8).into();
    let space: Attribute = Shared::get(context, Swizzle::None, Atom::B16, 0).into();
    let size = bytes as i64;
    // SAFETY: a memref of bytes with one static size.
    unsafe { Type::from_raw(mlirMemRefTypeContiguousGet(i8_type.to_raw(), 1, &size, space.to_raw())) }
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
    } else if let Some(repack) = op.cast::<Repack>() {
        let (result, source) = (repack.result().r#type(), repack.source());
        let (at_source, sizes) = (repack.at(), repack.sizes());
        let (onto, extents) = (repack.onto(), repack.extents());
        at.insert(Repack::build(
            op.location(),
            result,
            source,
            Some(scratch),
            at_source,
            sizes,
            onto,
            extents,
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
            convert.within_warps(),
        ))
    } else if let Some(e) = op.cast::<ExtractSlice>() {
        let (t, offsets) = (e.result().r#type(), e.offsets());
        at.insert(ExtractSlice::build(
            op.location(),
            t,
            e.source(),
            &offsets,
            Some(scratch),
            e.at(),
            e.strides(),
        ))
    } else if let Some(i) = op.cast::<InsertSlice>() {
        let (t, offsets) = (i.result().r#type(), i.offsets());
        at.insert(InsertSlice::build(
            op.location(),
            t,
            i.source(),
            i.destination(),
            &offsets,
            Some(scratch),
            i.at(),
            i.strides(),
        ))
    } else if let Some(c) = op.cast::<Concat>() {
        let (t, sources) = (c.result().r#type(), c.sources());
        at.insert(Concat::build(op.location(), t, &sources, Some(scratch), c.axis()))
    } else if let Some(a) = op.cast::<AtomicRmw>() {
        let (t, indices) = (a.result().map(|r| r.r#type()), a.indices());
        at.insert(AtomicRmw::build(
            op.location(),
            t,
            a.value(),
            a.destination(),
            &indices,
            a.compare(),
            a.rows(),
            a.mask(),
            Some(scratch),
            a.kind(),
            a.sem(),
            a.scope(),
        ))
    } else {
        return;
    };
    for (old, new) in op.result_values().into_iter().zip(new.result_values()) {
        old.replace_all_uses_with(&new);
    }
    // SAFETY: its results have no uses any more, and its region's ops are the new op's.
    unsafe { mlirOperationDestroy(op.to_raw()) };
}

/// Where a walk through a kernel is.
#[derive(Clone, Copy)]
struct State<'c> {
    /// Which buffer is next.
    turn: usize,
    /// How many buffers that serve once may have been used on the way here.
    once: usize,
    /// Whether what comes here may come again.
    in_loop: bool,
    /// Whether some thread may still read a buffer.
    read: [bool; TURNS],
    /// An arrival of the program's at the barrier of the cluster that may not have been waited for.
    arrived: Option<OperationRef<'c, 'c>>,
}

fn walk<'c>(block: BlockRef<'c, 'c>, state: &mut State<'c>, found: &mut Clusters<'c>, cx: &PassContext<'c>) -> Res {
    for op in block.op_list() {
        if op.is::<ClusterArrive>() {
            state.arrived = Some(op);
        } else if op.is::<ClusterWait>() {
            state.arrived = None;
        }
        if let Some(reduce) = op.cast::<ClusterReduce>() {
            let bytes = cluster_bytes(reduce);
            if bytes == 0 || reduce.scratch().is_some() {
                continue;
            }
            cluster::check(op, state.arrived)?;
            let buffer = if state.in_loop { state.turn } else { TURNS + state.once };
            found.bytes.resize(found.bytes.len().max(buffer + 1), 0);
            found.bytes[buffer] = found.bytes[buffer].max(bytes);
            found.users.push(User { op, buffer });
            if buffer >= TURNS {
                state.once += 1;
                continue;
            }
            if state.read[buffer] {
                meet_before(op);
                cx.count(1, 1);
            }
            // The barrier inside the op comes after all reads of the others.
            state.read = [false; TURNS];
            state.read[buffer] = true;
            state.turn = 1 - state.turn;
            continue;
        }
        if op.is::<Reduce>() || op.is::<Scan>() || op.region_count() == 0 {
            continue;
        }
        let is_loop = !matches!(op.full_name(), "scf.if" | "scf.index_switch");
        let mut after = *state;
        for region in 0..op.region_count() {
            let mut inner = *state;
            if is_loop {
                inner.in_loop = true;
                let comes_again = op.nested_ops().iter().any(|inner| inner.is::<ClusterReduce>());
                inner.read.iter_mut().for_each(|read| *read |= comes_again);
                inner.arrived = inner.arrived.or(left_arrived(op));
            }
            for inner_block in op.region_at(region).block_list() {
                walk(inner_block, &mut inner, found, cx)?;
            }
            after.turn = inner.turn;
            after.once = after.once.max(inner.once);
            after.arrived = after.arrived.or(inner.arrived);
            after.read.iter_mut().zip(inner.read).for_each(|(a, b)| *a |= b);
        }
        *state = after;
    }
    Ok(())
}
