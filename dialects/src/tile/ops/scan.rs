//! Scans: what has come so far along an axis.
use super::{
    super::{layouts::ANY_TILE, marks::COLLECTIVE, verify::on_device},
    reduce::{combiner, parse_with_combiner, print_with_combiner},
    value::scratch_effects,
};
use girih_ir::{
    constraint::ANY,
    kind::I64,
    op,
    op::{EffectSink, OpView},
    prelude::*,
};

op! {
    /// Combines each element with all that come before it along `axis`. Several tiles of one shape go together, as in
    /// `tile.reduce`. The combiner sees what came first, then what came later; it is associative, and need not be
    /// commutative.
    ///
    /// ```mlir
    /// %c = arith.constant 1.0 : f32
    /// %x = tile.splat %c : f32 -> tensor<4x1024xf32>
    /// %sums = tile.scan %x axis 1 (%a: f32, %b: f32) {
    ///   %s = arith.addf %a, %b : f32
    ///   tile.yield %s : f32
    /// } : tensor<4x1024xf32> -> tensor<4x1024xf32>
    /// ```
    pub struct Scan = "tile.scan" {
        operands { sources: variadic(ANY_TILE), scratch: optional(ANY) }
        results { results: variadic(ANY_TILE) }
        attributes { axis: required(I64) }
        regions { combiner: single }
        effects custom
        marks [COLLECTIVE: scratch]
        format custom
        hooks {
            fn effects(self, sink: &EffectSink) { scratch_effects(self.op(), self.scratch(), sink) }
            fn verify(self) -> Res { verify_scan(self) }
            fn verify_regions(self) -> Res {
                let sources = self.sources();
                let elements: Vec<_> = sources.iter().filter_map(|s| s.r#type().element_type()).collect();
                combiner(self.op(), self.combiner(), &elements)
            }
            fn parse(p: &OpParser<'c>) -> Res { parse_with_combiner(p, true) }
            fn print(self, p: &Printer) {
                let results = self.results();
                let scratch = [("scratch", self.scratch())];
                print_with_combiner(p, self.op(), &self.sources(), &scratch, self.combiner(), Some((self.axis(), &results)));
            }
        }
    }
}

fn verify_scan<'c>(op: Scan<'c, 'c>) -> Res {
    let mut errors = Errors::default();
    errors.merge(on_device(op.op()));
    let (sources, results) = (op.sources(), op.results());
    if sources.is_empty() || sources.len() != results.len() {
        let m = format!(
            "scans {} tiles to {}; one result for each source",
            sources.len(),
            results.len()
        );
        errors.op(&op.op(), m);
        return errors.result();
    }
    let shape = sources[0].r#type().shape().unwrap_or_default();
    if !(0..shape.len() as i64).contains(&op.axis()) {
        let m = format!(
            "axis {}, but {} has {} axes, from 0",
            op.axis(),
            sources[0].r#type(),
            shape.len()
        );
        errors.op(&op.op(), m);
    }
    for (s, r) in sources.iter().zip(&results) {
        let (s, r) = (s.r#type(), r.r#type());
        if s.shape().as_ref() != Some(&shape) || r.shape() != s.shape() || r.element_type() != s.element_type() {
            errors.op(
                &op.op(),
                format!(
                    "scans {s} to {r}; sources and results have one shape, and a result the elements of its source"
                ),
            );
        }
    }
    errors.result()
}
