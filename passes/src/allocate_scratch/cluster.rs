//! What ops that move data between blocks of a cluster need: bytes, a start that all blocks have come to, and control flow
//! that takes all threads to them together.
use crate::uniform::divergence;
use girih_dialects::{
    nvvm::{Cmp, Emit},
    tile::{
        ops::{
            cluster::{ClusterArrive, ClusterWait},
            index::ThreadId,
            kernel::Kernel,
            mbarrier::Init,
            memory::Alloc,
            sync::{Fence, FenceKind},
        },
        verify::enclosing,
    },
};
use girih_ir::{
    ext::BlockExt,
    prelude::*,
    rewrite::{Before, Builder},
};

/// All threads of the cluster come to `op` together, and between an arrival of the program's and its wait there is no room
/// for the op's own.
pub fn check<'c>(op: OperationRef<'c, 'c>, arrived: Option<OperationRef<'c, 'c>>) -> Res {
    let mut errors = Errors::default();
    if enclosing::<Kernel>(op).is_some_and(|(kernel, _)| kernel.body().block_list().len() > 1) {
        let m = "is for all threads of the cluster, but the kernel's body is several blocks, of which some threads may take \
                 others; write scf.if and scf.for";
        errors.op(&op, m);
    }
    if let Some((outer, found)) = divergence(op) {
        let m = format!(
            "is for all threads of the cluster, but '{}' around it may take only some of them here; let what it depends on be \
             computed from arguments, sizes and tile.cluster_id",
            outer.full_name()
        );
        errors.merge(
            Diag::op(&op, m)
                .note(found.location(), "this may differ between threads of the cluster")
                .report::<()>(),
        );
    }
    if let Some(arrive) = arrived {
        let m = "has a barrier of the cluster of its own, but stands between an arrival and its wait; put it after the wait";
        errors.merge(Diag::op(&op, m).note(arrive.location(), "the arrival").report::<()>());
    }
    errors.result()
}

/// The arrival at the barrier of the cluster that an op with regions leaves to be waited for.
pub fn left_arrived<'c>(op: OperationRef<'c, 'c>) -> Option<OperationRef<'c, 'c>> {
    let last = op.nested_ops().into_iter().rfind(is_barrier);
    last.filter(|op| op.is::<ClusterArrive>())
}
/// Whether an op is half of a barrier of the cluster.
pub fn is_barrier(op: &OperationRef<'_, '_>) -> bool {
    op.is::<ClusterArrive>() || op.is::<ClusterWait>()
}

/// A barrier of the cluster before `op`.
pub fn meet_before<'c>(op: OperationRef<'c, 'c>) {
    arrive_before(op, false);
    wait_before(op);
}
fn arrive_before<'c>(op: OperationRef<'c, 'c>, relaxed: bool) {
    Before(op).insert(ClusterArrive::build(op.location(), relaxed, true));
}
fn wait_before<'c>(op: OperationRef<'c, 'c>) {
    Before(op).insert(ClusterWait::build(op.location(), true));
}

/// No block writes to another's memory before that block runs: all arrive when the kernel starts, with nothing to tell, and
/// wait before the first op of `ops` that a thread comes to, so that loads are under way meanwhile; at once where the program
/// has barriers of its own. By then `barriers` mbarriers are ready, which are returned.
pub fn start_together<'c>(
    kernel: Kernel<'c, 'c>,
    ops: &[OperationRef<'c, 'c>],
    barriers: usize,
    own_barriers: bool,
) -> Vec<Value<'c, 'c>> {
    let Some(entry) = kernel.body().entry() else {
        return vec![];
    };
    let Some(first) = entry.op_list().first().copied() else {
        return vec![];
    };
    let made = make_barriers(first, barriers);
    arrive_before(first, true);
    if own_barriers {
        wait_before(first);
    } else {
        wait_in(entry, ops);
    }
    made
}

/// mbarriers for one phase each, which one thread completes with its bytes.
fn make_barriers<'c>(first: OperationRef<'c, 'c>, barriers: usize) -> Vec<Value<'c, 'c>> {
    if barriers == 0 {
        return vec![];
    }
    let at = Before(first);
    let e = Emit::new(&at, first.location());
    let t = Type::parse(e.context(), "memref<!tile.mbarrier, #tile.shared>").expect("a type of this code");
    let made: Vec<_> = (0..barriers)
        .map(|_| e.insert(Alloc::build(e.loc(), t, None, false)).result0())
        .collect();
    let thread = e.insert(ThreadId::build(e.loc(), e.index_type(), false)).result0();
    let one_thread = e.cmp(Cmp::Eq, thread, e.index(0));
    e.if_then(one_thread, |e| {
        let one = e.c32(1);
        for barrier in &made {
            e.insert(Init::build(e.loc(), *barrier, &[], one));
        }
    });
    e.insert(Fence::build(e.loc(), FenceKind::MbarrierInit));
    made
}

/// Puts the wait as late as can be on every way through a block.
fn wait_in<'c>(block: BlockRef<'c, 'c>, ops: &[OperationRef<'c, 'c>]) {
    for op in block.op_list() {
        if ops.contains(&op) {
            return wait_before(op);
        }
        if !op.nested_ops().iter().any(|inner| ops.contains(inner)) {
            continue;
        }
        let branches: Vec<_> = (0..op.region_count()).filter_map(|r| op.region_at(r).entry()).collect();
        if op.full_name() == "scf.index_switch" || op.full_name() == "scf.if" && branches.len() == 2 {
            branches.into_iter().for_each(|b| wait_in(b, ops));
        } else {
            wait_before(op);
        }
        return;
    }
    if let Some(end) = block.terminator_op() {
        wait_before(end);
    }
}
