//! Who am I: block, thread, warp and lane numbers (PTX special registers), and the election of one lane.
use super::super::{marks::VARIES, verify::on_device};
use girih_ir::{
    attr_enum,
    constraint::{I1, INDEX},
    kind::Kind,
    op,
    op::{EffectKind, EffectSink, OpView, Speculatability},
    prelude::*,
};

attr_enum! {
    /// A dimension of the grid.
    pub enum Dim("a dimension") {
        /// The fastest.
        X = "x",
        /// The middle one.
        Y = "y",
        /// The slowest.
        Z = "z",
    }
}

op! {
    /// Number of this block in one dimension of the grid: `%ctaid`.
    ///
    /// ```mlir
    /// %i = tile.block_id x
    /// ```
    pub struct BlockId = "tile.block_id" {
        results { result: one(INDEX) }
        attributes { dim: required(Dim) }
        interfaces [ResultNames]
        effects pure
        format "$dim attr-dict"
        hooks {
            fn verify(self) -> Res { on_device(self.op()) }
            fn result_names(self) -> Vec<(Value<'c, 'c>, String)> {
                // Asked also of ops that do not verify.
                let dim = self.op().attr("dim").and_then(Dim::from_attribute).unwrap_or(Dim::X);
                vec![(self.result(), format!("block_{dim}"))]
            }
        }
    }
}
op! {
    /// Blocks of the grid in one dimension: `%nctaid`.
    ///
    /// ```mlir
    /// %n = tile.grid_dim x
    /// ```
    pub struct GridDim = "tile.grid_dim" {
        results { result: one(INDEX) }
        attributes { dim: required(Dim) }
        effects pure
        format "$dim attr-dict"
        hooks { fn verify(self) -> Res { on_device(self.op()) } }
    }
}
op! {
    /// Number of this thread in its block, from 0: `%tid.x`. With `fresh` it is read where the op stands, each time: what is
    /// computed of it in a loop is computed there too, and not kept in registers from before the loop.
    ///
    /// ```mlir
    /// %t = tile.thread_id
    /// %u = tile.thread_id fresh
    /// ```
    pub struct ThreadId = "tile.thread_id" {
        results { result: one(INDEX) }
        attributes { fresh: unit }
        interfaces [ResultNames]
        effects custom
        marks [VARIES]
        format "(`fresh` $fresh^)? attr-dict"
        hooks {
            fn effects(self, sink: &EffectSink) {
                if self.fresh() {
                    sink.anywhere(EffectKind::Read);
                    sink.anywhere(EffectKind::Write);
                }
            }
            fn verify(self) -> Res { on_device(self.op()) }
            fn result_names(self) -> Vec<(Value<'c, 'c>, String)> { vec![(self.result(), "thread".into())] }
        }
    }
}
op! {
    /// Number of this thread's warp in its block, from 0; the same value in all lanes.
    ///
    /// ```mlir
    /// %w = tile.warp_id
    /// ```
    pub struct WarpId = "tile.warp_id" {
        results { result: one(INDEX) }
        interfaces [ResultNames]
        effects pure
        marks [VARIES]
        format "attr-dict"
        hooks {
            fn verify(self) -> Res { on_device(self.op()) }
            fn result_names(self) -> Vec<(Value<'c, 'c>, String)> { vec![(self.result(), "warp".into())] }
        }
    }
}
op! {
    /// Number of this thread in its warp, 0 to 31.
    ///
    /// ```mlir
    /// %l = tile.lane_id
    /// ```
    pub struct LaneId = "tile.lane_id" {
        results { result: one(INDEX) }
        interfaces [ResultNames]
        effects pure
        marks [VARIES]
        format "attr-dict"
        hooks {
            fn verify(self) -> Res { on_device(self.op()) }
            fn result_names(self) -> Vec<(Value<'c, 'c>, String)> { vec![(self.result(), "lane".into())] }
        }
    }
}
op! {
    /// True in exactly one lane of the warp; all lanes must be here together: `elect.sync`.
    ///
    /// ```mlir
    /// %one = tile.elect
    /// ```
    pub struct Elect = "tile.elect" {
        results { result: one(I1) }
        interfaces [Speculatable, ResultNames]
        effects [read, write]
        marks [VARIES]
        format "attr-dict"
        hooks {
            fn verify(self) -> Res { on_device(self.op()) }
            fn speculatability(self) -> Speculatability { Speculatability::Never }
            fn result_names(self) -> Vec<(Value<'c, 'c>, String)> { vec![(self.result(), "elected".into())] }
        }
    }
}
