//! Clusters: which block of its cluster this is, and the barrier of all threads of a cluster (PTX ISA 9.4 sections 10 and
//! 9.7.13, `barrier.cluster`). One op is one instruction.
//!
//! Blocks of a cluster reach each other's shared memory with `tile.remote`; a barrier of another block is arrived at with
//! the ops of `tile.mbarrier`. No block may end while another still uses its shared memory: an arrival and a wait stand
//! before the end of such a kernel.
use super::{
    super::{
        marks::ORDERS,
        verify::{block_threads, enclosing, on_device, role_of},
    },
    index::Dim,
    kernel::{Entry, Kernel},
};
use girih_ir::{
    constraint::INDEX,
    ext::BlockExt,
    melior::ir::attribute::IntegerAttribute,
    op,
    op::{Fold, OpView},
    prelude::*,
};

op! {
    /// Number of this block in its cluster, from 0, x first: `%cluster_ctarank`. It is what `tile.remote` takes and what the
    /// bits of a multicast mask stand for.
    ///
    /// ```mlir
    /// %rank = tile.cluster_rank
    /// ```
    pub struct ClusterRank = "tile.cluster_rank" {
        results { result: one(INDEX) }
        interfaces [ResultNames]
        effects pure
        format "attr-dict"
        hooks {
            fn verify(self) -> Res { on_device(self.op()) }
            fn fold(self, _: &[Option<Attribute<'c>>]) -> Option<Vec<Fold<'c, 'c>>> {
                let blocks: i64 = cluster_of(self.op())?.iter().product();
                (blocks == 1).then(|| constant(self.op(), 0))
            }
            fn result_names(self) -> Vec<(Value<'c, 'c>, String)> { vec![(self.result(), "rank".into())] }
        }
    }
}
op! {
    /// Blocks of the cluster: `%cluster_nctarank`. In a kernel it is known when it is compiled, and launch regions may ask
    /// for it too.
    ///
    /// ```mlir
    /// %n = tile.cluster_size
    /// ```
    pub struct ClusterSize = "tile.cluster_size" {
        results { result: one(INDEX) }
        effects pure
        format "attr-dict"
        hooks {
            fn verify(self) -> Res { in_kernel(self.op()) }
            fn fold(self, _: &[Option<Attribute<'c>>]) -> Option<Vec<Fold<'c, 'c>>> {
                Some(constant(self.op(), cluster_of(self.op())?.iter().product()))
            }
        }
    }
}
op! {
    /// Number of this block in one dimension of its cluster: `%cluster_ctaid`.
    ///
    /// ```mlir
    /// %i = tile.cluster_block_id x
    /// ```
    pub struct ClusterBlockId = "tile.cluster_block_id" {
        results { result: one(INDEX) }
        attributes { dim: required(Dim) }
        effects pure
        format "$dim attr-dict"
        hooks {
            fn verify(self) -> Res { on_device(self.op()) }
            fn fold(self, _: &[Option<Attribute<'c>>]) -> Option<Vec<Fold<'c, 'c>>> {
                let blocks = *cluster_of(self.op())?.get(self.dim() as usize)?;
                (blocks == 1).then(|| constant(self.op(), 0))
            }
        }
    }
}
op! {
    /// Blocks of the cluster in one dimension: `%cluster_nctaid`. As [`ClusterSize`], it may stand in launch regions.
    ///
    /// ```mlir
    /// %n = tile.cluster_dim x
    /// ```
    pub struct ClusterDim = "tile.cluster_dim" {
        results { result: one(INDEX) }
        attributes { dim: required(Dim) }
        effects pure
        format "$dim attr-dict"
        hooks {
            fn verify(self) -> Res { in_kernel(self.op()) }
            fn fold(self, _: &[Option<Attribute<'c>>]) -> Option<Vec<Fold<'c, 'c>>> {
                Some(constant(self.op(), *cluster_of(self.op())?.get(self.dim() as usize)?))
            }
        }
    }
}
op! {
    /// Number of the cluster in one dimension of the grid: `%clusterid`.
    ///
    /// ```mlir
    /// %i = tile.cluster_id x
    /// ```
    pub struct ClusterId = "tile.cluster_id" {
        results { result: one(INDEX) }
        attributes { dim: required(Dim) }
        effects pure
        format "$dim attr-dict"
        hooks { fn verify(self) -> Res { on_device(self.op()) } }
    }
}

op! {
    /// Arrives at the barrier of all threads of the cluster, with release semantics unless `relaxed`:
    /// `barrier.cluster.arrive`. Each thread arrives once and then waits with `tile.cluster.wait`. With `aligned` all lanes of
    /// the warp execute it together.
    ///
    /// ```mlir
    /// tile.cluster.arrive aligned
    /// tile.cluster.wait aligned
    /// ```
    ///
    /// Where only the arrival counts, after `tile.fence mbarrier_init` say:
    ///
    /// ```mlir
    /// tile.fence mbarrier_init
    /// tile.cluster.arrive relaxed aligned
    /// tile.cluster.wait aligned
    /// ```
    pub struct ClusterArrive = "tile.cluster.arrive" {
        attributes { relaxed: unit, aligned: unit }
        effects [read, write]
        format "(`relaxed` $relaxed^)? (`aligned` $aligned^)? attr-dict"
        hooks { fn verify(self) -> Res { all_threads(self.op()) } }
    }
}
op! {
    /// Waits, with acquire semantics, until all threads of the cluster have arrived: `barrier.cluster.wait`. With `aligned`
    /// all lanes of the warp execute it together.
    ///
    /// ```mlir
    /// tile.cluster.arrive
    /// tile.cluster.wait
    /// ```
    pub struct ClusterWait = "tile.cluster.wait" {
        attributes { aligned: unit }
        effects [read, write]
        marks [ORDERS]
        format "(`aligned` $aligned^)? attr-dict"
        hooks { fn verify(self) -> Res { all_threads(self.op()) } }
    }
}

/// Blocks in x, y, z of the clusters of the kernel around `op`, where a kernel without clusters has clusters of one block;
/// `None` outside kernels.
pub fn cluster_of(op: OperationRef<'_, '_>) -> Option<Vec<i64>> {
    let cluster = match enclosing::<Kernel>(op) {
        Some((kernel, _)) => kernel.cluster(),
        None => op.ancestor::<Entry>()?.cluster(),
    };
    Some(cluster.unwrap_or_else(|| vec![1; 3]))
}

/// Kernels know the sizes of their clusters in both regions.
fn in_kernel<'c>(op: OperationRef<'c, 'c>) -> Res {
    match cluster_of(op) {
        Some(_) => Ok(()),
        None => on_device(op),
    }
}

/// The folded result of an op that gives a number.
fn constant<'c>(op: OperationRef<'c, 'c>, n: i64) -> Vec<Fold<'c, 'c>> {
    vec![Fold::Constant(IntegerAttribute::new(Type::index(op.ctx()), n).into())]
}

/// All threads of the cluster take part. In a role that is so only if every other role does the same, which is for the
/// program to see to; where there is but one role, all threads come by.
pub(super) fn all_threads<'c>(op: OperationRef<'c, 'c>) -> Res {
    let mut errors = Errors::default();
    errors.merge(on_device(op));
    if let Some(role) = role_of(op)
        && let Some(threads) = block_threads(op)
        && role.warps.saturating_mul(32) < threads
        && !met_elsewhere(op)
    {
        let m = format!(
            "is for all threads of the cluster, but only role '{}' comes here: it would wait for ever; let every role do it, or \
             put it before or after tile.warp_specialize",
            role.name
        );
        errors.op(&op, m);
    }
    errors.result()
}

/// Whether every role beside the one around `op` has an op of the same name.
fn met_elsewhere<'c>(op: OperationRef<'c, 'c>) -> bool {
    let Some((roles, own)) = super::super::verify::enclosing::<super::kernel::WarpSpecialize>(op) else {
        return true;
    };
    let name = op.full_name().to_owned();
    let regions = roles.roles();
    (0..regions.len()).filter(|i| *i != own).all(|i| {
        regions[i]
            .block_list()
            .iter()
            .flat_map(|block| block.op_list())
            .any(|other| other.full_name() == name || other.nested_ops().iter().any(|o| o.full_name() == name))
    })
}
