//! Reductions over the blocks of a cluster.
use super::{
    super::{
        layouts::ANY_TILE,
        marks::ASYNC,
        types::MBARRIERS,
        verify::{enclosing, on_device},
    },
    cluster::{all_threads, cluster_of},
    kernel::Kernel,
    reduce::{combiner, parse_with_combiner, print_with_combiner},
};
use girih_ir::{
    constraint::ANY,
    op,
    op::{EffectKind, EffectSink, Fold, OpView},
    prelude::*,
};

op! {
    /// Combines the tiles of all blocks of the cluster, element by element, and gives every block the result. Several tiles
    /// of one shape go together, as in `tile.reduce`. The tiles are combined in pairs of neighbours, by the blocks' ranks: the
    /// order is the same in all blocks, and so are the bits of the result; the combiner need not be commutative.
    ///
    /// Every thread of the cluster comes here: what decides whether it does is the same for all of them. Each block stores
    /// its part in the scratch of all blocks, waits until all parts have come to its own, and reads them. With a `barrier`,
    /// which serves one phase, stores count their bytes there (`st.async`, `mbarrier`), and no block waits for more than
    /// that; without, plain stores stand between barriers of the cluster (`barrier.cluster`), as often as need be. Passes
    /// give it both. In a cluster of one block it is nothing.
    ///
    /// ```mlir
    /// tile.kernel @total(%X: memref<?xf32, #tile.global>, %Y: memref<?xf32, #tile.global>) threads(128) cluster(8, 1, 1) launch {
    ///   %c1 = arith.constant 1 : index
    ///   %c8 = arith.constant 8 : index
    ///   tile.grid %c8, %c1, %c1
    /// } body {
    ///   %c1024 = arith.constant 1024 : index
    ///   %rank = tile.cluster_rank
    ///   %at = arith.muli %rank, %c1024 : index
    ///   %x = tile.load %X[%at] : memref<?xf32, #tile.global> -> tensor<1024xf32>
    ///   %sums = tile.cluster_reduce %x (%a: f32, %b: f32) {
    ///     %s = arith.addf %a, %b : f32
    ///     tile.yield %s : f32
    ///   } : tensor<1024xf32>
    ///   tile.store %sums, %Y[%at] : tensor<1024xf32>, memref<?xf32, #tile.global>
    /// }
    /// ```
    pub struct ClusterReduce = "tile.cluster_reduce" {
        operands { sources: variadic(ANY_TILE), scratch: optional(ANY), barrier: optional(MBARRIERS) }
        results { results: variadic(ANY_TILE) }
        regions { combiner: single }
        effects custom
        marks [ASYNC: scratch]
        format custom
        hooks {
            fn effects(self, sink: &EffectSink) {
                for operand in self.sources().len()..self.op().operand_count() {
                    sink.operand(EffectKind::Write, operand);
                    sink.operand(EffectKind::Read, operand);
                }
            }
            fn verify(self) -> Res { verify_cluster_reduce(self) }
            fn verify_regions(self) -> Res {
                let sources = self.sources();
                let elements: Vec<_> = sources.iter().filter_map(|s| s.r#type().element_type()).collect();
                combiner(self.op(), self.combiner(), &elements)
            }
            fn fold(self, _: &[Option<Attribute<'c>>]) -> Option<Vec<Fold<'c, 'c>>> {
                let blocks: i64 = cluster_of(self.op())?.iter().product();
                (blocks == 1).then(|| self.sources().into_iter().map(Fold::Value).collect())
            }
            fn parse(p: &OpParser<'c>) -> Res { parse_with_combiner(p, false) }
            fn print(self, p: &Printer) {
                let others = [("scratch", self.scratch()), ("barrier", self.barrier())];
                print_with_combiner(p, self.op(), &self.sources(), &others, self.combiner(), None);
            }
        }
    }
}

fn verify_cluster_reduce<'c>(op: ClusterReduce<'c, 'c>) -> Res {
    let mut errors = Errors::default();
    errors.merge(on_device(op.op()));
    errors.merge(all_threads(op.op()));
    if let Some((kernel, 1)) = enclosing::<Kernel>(op.op())
        && kernel.cluster().is_none()
    {
        let m = "combines tiles of the blocks of a cluster, but the kernel has no cluster; write cluster(n, 1, 1) after its \
                 threads(...), with n = 1 for blocks that work alone";
        errors.op(&op.op(), m);
    }
    let (sources, results) = (op.sources(), op.results());
    if sources.is_empty() || sources.len() != results.len() {
        let m = format!(
            "combines {} tiles to {}; one result for each source",
            sources.len(),
            results.len()
        );
        errors.op(&op.op(), m);
        return errors.result();
    }
    let shape = sources[0].r#type().shape();
    for (s, r) in sources.iter().zip(&results) {
        let (s, r) = (s.r#type(), r.r#type());
        if s.shape() != shape {
            let m = format!(
                "combines {s} together with {}; tiles that go together have one shape",
                sources[0].r#type()
            );
            errors.op(&op.op(), m);
        }
        if r != s {
            errors.op(
                &op.op(),
                format!("combines tiles of type {s} to {r}; the types must be the same"),
            );
        }
    }
    errors.result()
}
