//! Reductions over the blocks of a cluster.
use super::{
    super::{
        distribution::Distribution,
        layouts::ANY_TILE,
        marks::ASYNC,
        spaces::{SHARED_MEMREF, shared_of},
        types::MBARRIERS,
        verify::{element_bits, enclosing, is_contiguous, memref_bytes, on_device},
    },
    cluster::{all_threads, cluster_of},
    kernel::Kernel,
    memory::known_alignment,
    reduce::{combiner, parse_with_combiner, print_with_combiner},
};
use girih_core::tensor_map::Swizzle;
use girih_ir::{
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
    /// its part in the scratch of all blocks, waits until all parts have come to its own, and reads them. The scratch is bytes
    /// in shared memory, on 16 bytes: for each source a word of 4 or 8 for each element and block, and a multiple of 16. With a
    /// `barrier`, which serves one phase and so stands in no loop, stores count their bytes there (`st.async`, `mbarrier`),
    /// and no block waits for more than that; without, plain stores stand between barriers of the cluster
    /// (`barrier.cluster`), as often as need be. Passes give it both. In a cluster of one block it is nothing.
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
        operands { sources: variadic(ANY_TILE), scratch: optional(SHARED_MEMREF), barrier: optional(MBARRIERS) }
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
    scratch_fits(op, &mut errors);
    errors.result()
}

/// What scratch and barrier must be for the blocks' stores.
fn scratch_fits<'c>(reduce: ClusterReduce<'c, 'c>, errors: &mut Errors) {
    let op = reduce.op();
    if let Some(barrier) = reduce.barrier() {
        let t = barrier.r#type();
        if reduce.scratch().is_none() {
            errors.op(
                &op,
                "has a barrier, but no scratch whose bytes it could count; give it scratch too",
            );
        }
        if t.shape().is_none_or(|s| !s.is_empty()) {
            let m = format!("one mbarrier counts the bytes, but {t} may hold several; take a tile.slab of it first");
            errors.op(&op, m);
        }
        let around = std::iter::successors(op.parent(), |o| o.parent()).take_while(|o| !o.is::<Kernel>());
        if let Some(outer) = around
            .into_iter()
            .find(|o| matches!(o.full_name(), "scf.for" | "scf.while"))
        {
            let m = format!(
                "has a barrier, which serves one phase, but '{}' around it may come here again; leave the barrier out",
                outer.full_name()
            );
            errors.op(&op, m);
        }
    }
    let Some(scratch) = reduce.scratch() else { return };
    let t = scratch.r#type();
    let blocks: i64 = cluster_of(op).map_or(1, |c| c.iter().product());
    let parts = reduce
        .sources()
        .into_iter()
        .map(|s| cluster_part_bytes(s.r#type(), blocks.unsigned_abs()));
    let needed = if blocks == 1 { 0 } else { parts.sum() };
    let plain = t.element_type().is_some_and(|e| e.is_int(8))
        && t.shape().is_some_and(|s| s.len() == 1)
        && is_contiguous(t)
        && shared_of(t).is_some_and(|s| s.mode() == Swizzle::None);
    if !plain || memref_bytes(t).is_none_or(|bytes| bytes < needed) {
        let m = format!(
            "has scratch {t}, expected memref<{needed}xi8, #tile.shared> or more bytes; leave it out for tile-allocate-scratch to add"
        );
        errors.op(&op, m);
    }
    // Of what comes in as an argument nothing is known.
    let align = known_alignment(scratch);
    if scratch.defining_op().is_some() && align < 16 {
        let m = format!(
            "has scratch on a multiple of {align} bytes only, but words are read 16 bytes at a time; say align = 16 where it is allocated"
        );
        errors.op(&op, m);
    }
}

/// Bytes that a number of a tile takes on its way to another block.
pub fn word_bytes(tile: Type<'_>) -> u64 {
    (element_bits(tile).unwrap_or(8) / 8).max(4)
}

/// Bytes for one source of a reduction over a cluster: the part of each block for each element.
pub fn cluster_part_bytes(source: Type<'_>, blocks: u64) -> u64 {
    let elements: u64 = source.shape().unwrap_or_default().iter().map(|s| *s as u64).product();
    (elements * blocks * word_bytes(source)).next_multiple_of(16)
}

/// Bytes of scratch that a reduction over a cluster needs; 0 for blocks that work alone.
pub fn cluster_bytes(op: ClusterReduce<'_, '_>) -> u64 {
    let blocks = cluster_of(op.op()).map_or(1, |c| c.iter().product::<i64>()) as u64;
    let laid_out = op.sources().iter().all(|s| Distribution::of(s.r#type()).is_some());
    if blocks == 1 || !laid_out {
        return 0;
    }
    op.sources()
        .iter()
        .map(|s| cluster_part_bytes(s.r#type(), blocks))
        .sum()
}
