//! Boxes of tiles, moved to other places.
use super::{
    super::{layouts::ANY_TILE, marks::COLLECTIVE, verify::on_device},
    value::scratch_effects,
};
use girih_ir::{
    constraint::ANY,
    kind::I64s,
    op,
    op::{EffectSink, OpView},
    prelude::*,
};

op! {
    /// A box of a tile in a box of another: the elements of the source in the box of `sizes` at `at`, counted with the last
    /// axis fastest, are those of the result in the box of `extents` at `onto`. What the result has outside of it is some
    /// element of the box. `tile-pad-tiles` makes it of `tile.reshape`, `tile.extract_slice` and `tile.concat` where padding is
    /// in the way.
    ///
    /// The box goes through shared memory (`scratch`, which `tile-allocate-scratch` gives it): stores of the threads that hold
    /// it, a barrier, loads.
    ///
    /// ```mlir
    /// %x = arith.constant dense<1.0> : tensor<4x8xf32>
    /// %y = tile.repack %x at [0, 0] sizes [3, 5] onto [0] sizes [15] : tensor<4x8xf32> -> tensor<16xf32>
    /// ```
    pub struct Repack = "tile.repack" {
        operands { source: one(ANY_TILE), scratch: optional(ANY) }
        results { result: one(ANY_TILE) }
        attributes { at: required(I64s), sizes: required(I64s), onto: required(I64s), extents: required(I64s) }
        effects custom
        marks [COLLECTIVE: scratch]
        format "$source `at` $at `sizes` $sizes `onto` $onto `sizes` $extents (`scratch` $scratch^ `:` type($scratch) `,`)? attr-dict `:` type($source) `->` type($result)"
        hooks {
            fn effects(self, sink: &EffectSink) { scratch_effects(self.op(), self.scratch(), sink) }
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                errors.merge(on_device(op));
                let (source, result) = (self.source().r#type(), self.result().r#type());
                if source.element_type() != result.element_type() {
                    errors.op(&op, format!("makes {result} of {source}; both hold the same elements"));
                }
                for (t, at, sizes) in [(source, self.at(), self.sizes()), (result, self.onto(), self.extents())] {
                    if !is_inside(&t.shape().unwrap_or_default(), &at, &sizes) {
                        errors.op(&op, format!("has a box of {sizes:?} at {at:?} in {t}; it has the tile's axes, an element or more, and ends inside"));
                    }
                }
                let count = |sizes: &[i64]| sizes.iter().try_fold(1i64, |n, s| n.checked_mul(*s));
                if count(&self.sizes()) != count(&self.extents()) {
                    errors.op(&op, format!("puts a box of {:?} into one of {:?}; both have as many elements", self.sizes(), self.extents()));
                }
                errors.result()
            }
        }
    }
}

fn is_inside(shape: &[i64], at: &[i64], sizes: &[i64]) -> bool {
    let axes = || shape.iter().zip(at).zip(sizes);
    shape.len() == at.len()
        && shape.len() == sizes.len()
        && axes().all(|((whole, at), size)| *at >= 0 && *size > 0 && at.saturating_add(*size) <= *whole)
}
