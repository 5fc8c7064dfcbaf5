//! Barriers and fences.
use super::lower;
use girih_dialects::{
    nvvm::Emit,
    tile::{
        marks::{COLLECTIVE, has_mark},
        ops::{
            kernel::Kernel,
            sync::{Barrier, Fence, FenceKind, WarpSync},
        },
        verify::role_of,
    },
};
use girih_ir::{
    conversion::Conversion,
    kind::{I64s, Kind},
    op::OpView,
    prelude::*,
};

/// Where ops that wait inside say the barrier of the role that they are in, and its threads: when they are lowered, the role is
/// a branch.
const MEETS: &str = "meets";

/// Says where the threads that run an op meet inside of it.
pub fn prepare(kernel: Kernel<'_, '_>) {
    let waiting = kernel
        .op()
        .nested_ops()
        .into_iter()
        .filter(|op| has_mark(*op, COLLECTIVE));
    for op in waiting {
        if let Some(role) = role_of(op)
            && let Some(barrier) = role.barrier
        {
            op.set_attr(MEETS, I64s::to_attribute(&vec![barrier, 32 * role.warps], op.ctx()));
        }
    }
}

/// The barrier of all threads that run an op, inside of it.
pub fn meet<'c>(e: &Emit<'c, '_>, op: OperationRef<'c, '_>) {
    match op.attr(MEETS).and_then(I64s::from_attribute).as_deref() {
        Some([barrier, threads]) => e.barrier(Some(*barrier), Some(*threads)),
        _ => e.barrier(None, None),
    }
}

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, Barrier, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        e.barrier(op.id(), op.threads());
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, WarpSync, |op, _, rewriter| {
        Emit::new(rewriter, op.op().location()).warp_sync();
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, Fence, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let proxy = |space: Option<&str>| {
            let mut attributes = vec![];
            match space {
                None => attributes.push(("kind", e.attr("#nvvm.proxy_kind<async>"))),
                Some("global") => attributes.push(("kind", e.attr("#nvvm.proxy_kind<async.global>"))),
                Some(_) => {
                    attributes.push(("kind", e.attr("#nvvm.proxy_kind<async.shared>")));
                    attributes.push(("space", e.attr("#nvvm.shared_space<cta>")));
                }
            }
            e.op("nvvm.fence.proxy", &[], &[], &attributes);
        };
        let acq_rel = |scope: &str| {
            e.inline_ptx(&format!("fence.acq_rel.{scope};"), &[], &[], &[], true);
        };
        match op.kind() {
            FenceKind::MbarrierInit => {
                e.op("nvvm.fence.mbarrier.init", &[], &[], &[]);
            }
            FenceKind::ProxyAsync => proxy(None),
            FenceKind::ProxyAsyncShared => proxy(Some("shared")),
            FenceKind::ProxyAsyncGlobal => proxy(Some("global")),
            FenceKind::Block => acq_rel("cta"),
            FenceKind::Cluster => acq_rel("cluster"),
            FenceKind::Gpu => acq_rel("gpu"),
            FenceKind::System => acq_rel("sys"),
        }
        rewriter.erase(op.op());
        Ok(())
    });
}
