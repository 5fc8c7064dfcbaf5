//! Barriers and fences.
use super::lower;
use girih_dialects::{
    nvvm::Emit,
    tile::ops::sync::{Barrier, Fence, FenceKind},
};
use girih_ir::{conversion::Conversion, op::OpView, prelude::*};

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, Barrier, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        e.barrier(op.id(), op.threads());
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
