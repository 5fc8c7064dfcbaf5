//! Clusters: numbers and the barrier.
use super::{index::dim, kernel::cluster_blocks, lower};
use girih_dialects::{
    nvvm::Emit,
    tile::ops::cluster::{ClusterArrive, ClusterBlockId, ClusterDim, ClusterId, ClusterRank, ClusterSize, ClusterWait},
};
use girih_ir::{conversion::Conversion, op::OpView, prelude::*};

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, ClusterRank, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let number = match cluster_blocks(op.op()) {
            1 => e.index(0),
            _ => e.to_index(e.sreg("cluster.ctarank")),
        };
        rewriter.replace(op.op(), &[number]);
        Ok(())
    });
    lower!(c, ClusterSize, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let number = match cluster_blocks(op.op()) {
            1 => e.index(1),
            _ => e.to_index(e.sreg("cluster.nctarank")),
        };
        rewriter.replace(op.op(), &[number]);
        Ok(())
    });
    lower!(c, ClusterBlockId, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let number = match cluster_blocks(op.op()) {
            1 => e.index(0),
            _ => e.to_index(e.sreg(&format!("cluster.ctaid.{}", dim(op.dim())))),
        };
        rewriter.replace(op.op(), &[number]);
        Ok(())
    });
    lower!(c, ClusterDim, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let number = match cluster_blocks(op.op()) {
            1 => e.index(1),
            _ => e.to_index(e.sreg(&format!("cluster.nctaid.{}", dim(op.dim())))),
        };
        rewriter.replace(op.op(), &[number]);
        Ok(())
    });
    lower!(c, ClusterId, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        // Of blocks that work alone, each is a cluster.
        let number = match cluster_blocks(op.op()) {
            1 => e.sreg(&format!("ctaid.{}", dim(op.dim()))),
            _ => e.sreg(&format!("clusterid.{}", dim(op.dim()))),
        };
        rewriter.replace(op.op(), &[e.to_index(number)]);
        Ok(())
    });
    lower!(c, ClusterArrive, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let name = if op.relaxed() {
            "nvvm.cluster.arrive.relaxed"
        } else {
            "nvvm.cluster.arrive"
        };
        e.op(name, &[], &[], &aligned(&e, op.aligned()));
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, ClusterWait, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        e.op("nvvm.cluster.wait", &[], &[], &aligned(&e, op.aligned()));
        rewriter.erase(op.op());
        Ok(())
    });
}

fn aligned<'c>(e: &Emit<'c, '_>, yes: bool) -> Vec<(&'static str, Attribute<'c>)> {
    if yes { vec![("aligned", e.unit_attr())] } else { vec![] }
}
