//! Operands that the block's threads stage element by element, where nothing can run ahead: see `tile-pipeline`.
//!
//! ```mlir
//! tile.barrier                                   // what was there has been read
//! scf.for %n = %c0 to %c32 step %c1 {            // elements of one thread; neighbours go to neighbouring threads
//!   %v = the element inside the memref, or zero
//!   memref.store %v, %buffer[%block, %panel, %r, %s] : ...
//! }
//! tile.fence proxy_async_shared                  // wgmma reads through the async proxy
//! tile.barrier
//! ```
use super::{Ring, Shared, V, copies::zero, with_shape};
use girih_dialects::{
    nvvm::{Cmp, Emit},
    tile::ops::{
        index::ThreadId,
        memory::{Alloc, Slab},
        mma::{Mover, Stage},
        sync::{Barrier, Fence, FenceKind},
        wgmma::Major,
    },
};
use girih_ir::{ext::BlockExt, mlir_sys::*, prelude::*, rewrite::Before};

/// The blocks of ops in which threads stage something.
pub(super) fn blocks<'c>(stages: &[Stage<'c, 'c>]) -> Vec<BlockRef<'c, 'c>> {
    let mut all: Vec<BlockRef<'c, 'c>> = vec![];
    for block in stages.iter().filter_map(|s| s.op().block()) {
        if !all.contains(&block) {
            all.push(block);
        }
    }
    all
}

/// Copies all that threads stage in a block. Stages between which nothing happens share their barriers.
pub(super) fn copy_all<'c>(shared: &mut Shared<'c>, block: BlockRef<'c, 'c>) {
    let mut runs: Vec<Vec<Stage<'c, 'c>>> = vec![vec![]];
    for op in block.op_list() {
        let stage = op.cast::<Stage>().filter(|s| s.by() == Mover::Threads);
        let open = runs.last_mut().expect("there is always one");
        match stage {
            Some(stage) => open.push(stage),
            None if !op.is_pure() && !open.is_empty() => runs.push(vec![]),
            None => {}
        }
    }
    for run in runs.iter().filter(|run| !run.is_empty()) {
        let loc = run[0].op().location();
        Emit::new(&Before(run[0].op()), loc).insert(Barrier::build(loc, None, None));
        let mut taken = vec![];
        for (i, stage) in run.iter().enumerate() {
            let at = Before(stage.op());
            let e = Emit::new(&at, stage.op().location());
            let memory = buffer(shared, *stage, run, &mut taken);
            copy(&e, shared.kernel.threads(), *stage, memory);
            if i + 1 == run.len() {
                e.insert(Fence::build(e.loc(), FenceKind::ProxyAsyncShared));
                e.insert(Barrier::build(e.loc(), None, None));
            }
            stage.result().replace_all_uses_with(&memory);
        }
        for stage in run {
            // SAFETY: what it gave has no uses any more.
            unsafe { mlirOperationDestroy(stage.op().to_raw()) };
        }
    }
}

/// The buffer of an operand: a slot of a ring that runs only where this does not, or one that other operands had whose products
/// are over, since a barrier stands before the copies; `taken` are those of the run.
fn buffer<'c>(shared: &mut Shared<'c>, stage: Stage<'c, 'c>, run: &[Stage<'c, 'c>], taken: &mut Vec<V<'c>>) -> V<'c> {
    let (loc, t) = (stage.op().location(), stage.result().r#type());
    let at = Before(shared.first);
    let e = Emit::new(&at, loc);
    let free = |ring: &&mut Ring<'c>| ring.memory.is_some() && ring.can_serve(stage);
    if let Some(ring) = shared.rings.iter_mut().find(free)
        && let (Some(memory), Some(place)) = (ring.memory, stage.op().parent())
    {
        ring.users.push(place);
        return e.insert(Slab::build(loc, t, memory, &[e.index(0)])).result0();
    }
    let own = with_shape(t, &t.shape().unwrap_or_default());
    let is_over = is_over_before_others(stage, run);
    let free = |v: &&V<'c>| v.r#type() == own && !taken.contains(*v);
    let found = shared.buffers.iter().find(free).copied().filter(|_| is_over);
    let memory = found.unwrap_or_else(|| e.insert(Alloc::build(loc, own, None, false)).result0());
    taken.push(memory);
    if is_over && found.is_none() {
        shared.buffers.push(memory);
    }
    memory
}

/// Whether all uses of an operand come, in its block, before threads copy anything else than its run.
fn is_over_before_others<'c>(stage: Stage<'c, 'c>, run: &[Stage<'c, 'c>]) -> bool {
    let ops = stage.op().block().map(|b| b.op_list()).unwrap_or_default();
    let after = ops.into_iter().skip_while(|op| *op != stage.op()).skip(1);
    let others = |op: &OperationRef<'c, 'c>| {
        let staged = op.nested::<Stage>();
        staged
            .iter()
            .any(|s| s.by() == Mover::Threads && !run.iter().any(|own| own.op() == s.op()))
    };
    let before: Vec<_> = after.take_while(|op| !others(op)).collect();
    stage.result().users().iter().all(|user| before.contains(user))
}

/// Copies a tile, all threads together.
fn copy<'c>(e: &Emit<'c, '_>, threads: i64, stage: Stage<'c, 'c>, memory: V<'c>) {
    let s = stage.staging();
    let (rows, columns) = match s.major {
        Major::K => (s.mn(), s.k()),
        Major::Mn => (s.k(), s.mn()),
    };
    let row_axis = stage.row_axis();
    let source = stage.source();
    let (strides, _) = source.r#type().strides_and_offset().unwrap_or_default();
    // Neighbouring threads copy neighbours in global memory.
    let columns_first = strides.get(row_axis) != Some(&1);
    let total = rows * columns;
    let (first, loc) = (stage.indices(), e.loc());
    let dims: Vec<V<'c>> = (0..2)
        .map(|axis| e.value("memref.dim", &[source, e.index(axis)], e.index_type(), &[]))
        .collect();
    let thread = e.insert(ThreadId::build(loc, e.index_type(), false)).result0();
    let element = source.r#type().element_type().unwrap_or(source.r#type());
    e.for_loop(
        e.index(0),
        e.index((total + threads - 1) / threads),
        e.index(1),
        |e, n| {
            let number = e.add(e.mul(n, e.index(threads)), thread);
            let one = |e: Emit<'c, '_>| {
                let inner = e.index(if columns_first { columns } else { rows });
                let (outer, inner) = (e.div_u(number, inner), e.rem_u(number, inner));
                let (row, column) = if columns_first { (outer, inner) } else { (inner, outer) };
                let along = |axis: usize, v: V<'c>| e.add(first[axis], v);
                let at = if row_axis == 0 {
                    [along(0, row), along(1, column)]
                } else {
                    [along(0, column), along(1, row)]
                };
                let inside = e.and(e.cmp(Cmp::Ult, at[0], dims[0]), e.cmp(Cmp::Ult, at[1], dims[1]));
                let v = e.if_else(
                    inside,
                    &[element],
                    |e| vec![e.value("memref.load", &[source, at[0], at[1]], element, &[])],
                    |e| vec![zero(&e, element)],
                )[0];
                let place = place(&e, stage, row, column);
                e.op("memref.store", &[&[v, memory], &place[..]].concat(), &[], &[]);
            };
            if total % threads == 0 {
                one(e);
            } else {
                e.if_then(e.cmp(Cmp::Ult, number, e.index(total)), one);
            }
        },
    );
}

/// Where an element of a tile lies in its buffer.
fn place<'c>(e: &Emit<'c, '_>, stage: Stage<'c, 'c>, row: V<'c>, column: V<'c>) -> [V<'c>; 4] {
    let s = stage.staging();
    let split = |v: V<'c>, by: i64| (e.div_u(v, e.index(by)), e.rem_u(v, e.index(by)));
    let (panels, in_row) = split(column, s.span);
    match s.major {
        Major::K => {
            let (block, row) = split(row, s.rows);
            [block, panels, row, in_row]
        }
        Major::Mn => {
            let (block, panel) = split(panels, s.panels);
            [block, panel, row, in_row]
        }
    }
}
