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
//! *Needs* `tile-assign-layouts`. It gives a remark for each change of layout that has bank conflicts left. *Numbers* stay
//! what they are.
use crate::{
    convert_tile_to_nvvm::scan_bytes,
    layout_conversion::{Plan, plan},
};
use girih_dialects::tile::{
    distribution::Distribution,
    ops::{kernel::Kernel, memory::Alloc, reduce::Reduce, scan::Scan, sync::Barrier, value::ConvertLayout},
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

/// Bytes that an op needs, and whether a whole tile goes through them.
fn need(op: OperationRef<'_, '_>) -> Res<(u64, bool)> {
    if let Some(reduce) = op.cast::<Reduce>().filter(|r| r.scratch().is_none()) {
        return Ok((reduce_bytes(reduce), false));
    }
    if let Some(scan) = op.cast::<Scan>().filter(|r| r.scratch().is_none()) {
        return Ok((scan_bytes(scan).iter().sum(), false));
    }
    let Some(convert) = op.cast::<ConvertLayout>().filter(|c| c.scratch().is_none()) else {
        return Ok((0, false));
    };
    let t = convert.source().r#type();
    let (Some(from), Some(to)) = (Distribution::of(t), Distribution::of(convert.result().r#type())) else {
        return Ok((0, false));
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
            Ok((trip.bytes, true))
        }
        Ok(_) => Ok((0, false)),
        Err(error) => Diag::op(&op, format!("cannot be done: {error}")).report(),
    }
}

/// Buffers: two for parts of reductions, which take turns, and one for whole tiles.
const BUFFERS: usize = 3;

/// An op with the buffer that it uses.
struct User<'c> {
    op: OperationRef<'c, 'c>,
    buffer: usize,
}

fn allocate<'c>(kernel: Kernel<'c, 'c>, cx: &PassContext<'c>) -> Res {
    let blocks = kernel.body().block_list();
    let Some(entry) = blocks.first() else { return Ok(()) };
    let mut bytes = [0u64; BUFFERS];
    let mut users: Vec<User> = vec![];
    let mut state = State {
        turn: 0,
        read: [false; BUFFERS],
    };
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
            add_scratch(user.op, buffer);
        }
    }
    Ok(())
}

/// Rebuilds an op with its scratch: operands cannot be added in place.
fn add_scratch<'c>(op: OperationRef<'c, 'c>, scratch: Value<'c, 'c>) {
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
struct State {
    /// Which buffer is next.
    turn: usize,
    /// Whether some thread may still read a buffer.
    read: [bool; BUFFERS],
}

fn walk<'c>(
    block: BlockRef<'c, 'c>,
    state: &mut State,
    bytes: &mut [u64; BUFFERS],
    users: &mut Vec<User<'c>>,
    cx: &PassContext<'c>,
) -> Res {
    for op in block.op_list() {
        if op.cast::<Barrier>().is_some_and(|b| b.id().is_none()) {
            state.read = [false; BUFFERS];
            continue;
        }
        let (n, whole) = need(op)?;
        if n > 0 {
            let buffer = if whole { 2 } else { state.turn };
            if state.read[buffer] {
                Before(op).insert(Barrier::build(op.location(), None, None));
                cx.count(0, 1);
            }
            // The barrier inside the op comes after all reads of the others.
            state.read = [false; BUFFERS];
            state.read[buffer] = true;
            if !whole {
                state.turn = 1 - state.turn;
            }
            bytes[buffer] = bytes[buffer].max(n);
            users.push(User { op, buffer });
            continue;
        }
        if op.is::<Reduce>() || op.is::<Scan>() || op.region_count() == 0 {
            continue;
        }
        let is_loop = op.full_name() != "scf.if";
        let mut after = *state;
        for region in 0..op.region_count() {
            let mut inner = *state;
            if is_loop {
                inner.read = [true; BUFFERS];
            }
            for inner_block in op.region_at(region).block_list() {
                walk(inner_block, &mut inner, bytes, users, cx)?;
            }
            after.turn = inner.turn;
            after.read.iter_mut().zip(inner.read).for_each(|(a, b)| *a |= b);
        }
        *state = after;
    }
    Ok(())
}
