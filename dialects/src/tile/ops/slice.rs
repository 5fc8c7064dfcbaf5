//! Parts of tiles: cut out, put in, side by side.
use super::super::{
    distribution::{Distribution, registers_of_part},
    layouts::ANY_TILE,
    marks::COLLECTIVE,
    verify::on_device,
};
use super::value::scratch_effects;
use girih_ir::{
    asm::OpParser,
    constraint::{ANY, INDEX},
    ext::DYNAMIC,
    kind::{I64, I64s},
    op,
    op::{EffectSink, OpView},
    prelude::*,
};

op! {
    /// A part of a tile: element `i` of the result is element `at + strides * i` of the source. Starts are numbers, or indices
    /// that are the same in all threads; a part that an index takes past an edge reads as zero there. Strides are 1 where
    /// they are left out, and may be negative.
    ///
    /// Where each thread holds what it gets, nothing moves. Else the tile goes through shared memory (`scratch`, which
    /// `tile-allocate-scratch` gives it).
    ///
    /// ```mlir
    /// %x = arith.constant dense<1.0> : tensor<64x128xf32>
    /// %i = tile.block_id x
    /// %right = tile.extract_slice %x at [0, 64] : tensor<64x128xf32> -> tensor<64x64xf32>
    /// %row = tile.extract_slice %x at [%i, 0] : tensor<64x128xf32> -> tensor<1x128xf32>
    /// %odd = tile.extract_slice %x at [0, 1] strides [1, 2] : tensor<64x128xf32> -> tensor<64x64xf32>
    /// %flipped = tile.extract_slice %x at [63, 0] strides [-1, 1] : tensor<64x128xf32> -> tensor<64x128xf32>
    /// ```
    pub struct ExtractSlice = "tile.extract_slice" {
        operands { source: one(ANY_TILE), offsets: variadic(INDEX), scratch: optional(ANY) }
        results { result: one(ANY_TILE) }
        attributes { at: required(I64s), strides: optional(I64s) }
        effects custom
        marks [COLLECTIVE: scratch]
        format "$source (`scratch` $scratch^ `:` type($scratch))? `at` mixed($offsets, $at) (`strides` $strides^)? attr-dict `:` type($source) `->` type($result)"
        hooks {
            fn effects(self, sink: &EffectSink) { scratch_effects(self.op(), self.scratch(), sink) }
            fn verify(self) -> Res {
                let (from, to) = (self.source().r#type(), self.result().r#type());
                slice_fits(self.op(), "takes", to, from, (&self.at(), self.offsets().len()), self.strides())
            }
        }
    }
}

op! {
    /// A tile with a part of it replaced: element `at + strides * i` of the result is element `i` of the source, and every
    /// other element is the destination's. Starts and strides are as in `tile.extract_slice`; what an index takes past an edge
    /// is dropped.
    ///
    /// ```mlir
    /// %x = arith.constant dense<1.0> : tensor<64x128xf32>
    /// %row = arith.constant dense<2.0> : tensor<1x128xf32>
    /// %i = tile.block_id x
    /// %y = tile.insert_slice %row into %x at [%i, 0] : tensor<1x128xf32> into tensor<64x128xf32>
    /// ```
    pub struct InsertSlice = "tile.insert_slice" {
        operands { source: one(ANY_TILE), destination: one(ANY_TILE), offsets: variadic(INDEX), scratch: optional(ANY) }
        results { result: one(ANY_TILE) }
        attributes { at: required(I64s), strides: optional(I64s) }
        effects custom
        marks [COLLECTIVE: scratch]
        format "$source `into` $destination (`scratch` $scratch^ `:` type($scratch))? `at` mixed($offsets, $at) (`strides` $strides^)? attr-dict `:` type($source) `into` type($destination)"
        hooks {
            fn effects(self, sink: &EffectSink) { scratch_effects(self.op(), self.scratch(), sink) }
            fn infer_results(p: &OpParser<'c>) -> Res<Vec<Type<'c>>> {
                Ok(p.operands().get(1).map(|v| v.r#type()).into_iter().collect())
            }
            fn verify(self) -> Res {
                let (part, whole) = (self.source().r#type(), self.destination().r#type());
                let mut errors = Errors::default();
                if self.result().r#type() != whole {
                    errors.op(&self.op(), format!("makes {} of {whole}; the result has its type", self.result().r#type()));
                }
                errors.merge(slice_fits(self.op(), "puts", part, whole, (&self.at(), self.offsets().len()), self.strides()));
                errors.result()
            }
        }
    }
}

op! {
    /// Tiles side by side along `axis`, along which alone their sizes may differ. Where each thread holds what it gets,
    /// nothing moves; else they go through shared memory, as in `tile.extract_slice`.
    ///
    /// ```mlir
    /// %x = arith.constant dense<1.0> : tensor<64x64xf32>
    /// %y = arith.constant dense<2.0> : tensor<64x32xf32>
    /// %z = tile.concat %x, %y, %y axis 1 : tensor<64x64xf32>, tensor<64x32xf32>, tensor<64x32xf32> -> tensor<64x128xf32>
    /// ```
    pub struct Concat = "tile.concat" {
        operands { sources: variadic(ANY_TILE), scratch: optional(ANY) }
        results { result: one(ANY_TILE) }
        attributes { axis: required(I64) }
        effects custom
        marks [COLLECTIVE: scratch]
        format "$sources (`scratch` $scratch^ `:` type($scratch))? `axis` $axis attr-dict `:` type($sources) `->` type($result)"
        hooks {
            fn effects(self, sink: &EffectSink) { scratch_effects(self.op(), self.scratch(), sink) }
            fn verify(self) -> Res { concat_fits(self) }
        }
    }
}

fn concat_fits<'c>(concat: Concat<'c, 'c>) -> Res {
    let (op, mut errors) = (concat.op(), Errors::default());
    errors.merge(on_device(op));
    let (sources, to) = (concat.sources(), concat.result().r#type());
    let Some(first) = sources.first().map(|v| v.r#type()) else {
        errors.op(&op, "puts no tiles together; write one at least");
        return errors.result();
    };
    let mut shape = first.shape().unwrap_or_default();
    let Some(axis) = usize::try_from(concat.axis()).ok().filter(|a| *a < shape.len()) else {
        let m = format!("axis {}, but {first} has {} axes, from 0", concat.axis(), shape.len());
        errors.op(&op, m);
        return errors.result();
    };
    let others = |t: Type<'c>| {
        let mut shape = t.shape().unwrap_or_default();
        (axis < shape.len())
            .then(|| shape.remove(axis))
            .map(|size| (size, shape))
    };
    let like = others(first).map(|(_, rest)| rest);
    let (mut size, mut alike) = (0i64, true);
    for t in sources.iter().map(|v| v.r#type()) {
        match others(t).filter(|(_, rest)| Some(rest) == like.as_ref() && t.element_type() == first.element_type()) {
            Some((own, _)) => size = size.saturating_add(own),
            None => {
                alike = false;
                let m = format!(
                    "puts {t} beside {first}; they have the same elements, and the same sizes but along axis {axis}"
                );
                errors.op(&op, m);
            }
        }
    }
    shape[axis] = size;
    let fits = to.shape() == Some(shape.clone()) && to.element_type() == first.element_type();
    if alike && !fits {
        let m = format!(
            "makes {to} of {} tiles; the result has sizes {shape:?} and the same elements",
            sources.len()
        );
        errors.op(&op, m);
    }
    errors.result()
}

/// What extracting and inserting ask of part and whole; `at` with the number of indices.
fn slice_fits<'c>(
    op: OperationRef<'c, 'c>,
    verb: &str,
    part: Type<'c>,
    whole: Type<'c>,
    (at, indices): (&[i64], usize),
    strides: Option<Vec<i64>>,
) -> Res {
    let mut errors = Errors::default();
    errors.merge(on_device(op));
    let (s, r) = (whole.shape().unwrap_or_default(), part.shape().unwrap_or_default());
    let strides = strides.unwrap_or_else(|| vec![1; s.len()]);
    if s.len() != r.len() || part.element_type() != whole.element_type() {
        let m = format!("{verb} {part}, but the whole is {whole}; both have the same axes and elements");
        errors.op(&op, m);
        return errors.result();
    }
    for (what, n) in [("starts", at.len()), ("strides", strides.len())] {
        if n != s.len() {
            let m = format!("has {n} {what}, but {whole} has {} axes; write one for each", s.len());
            errors.op(&op, m);
            return errors.result();
        }
    }
    let moving = at.iter().filter(|a| **a == DYNAMIC).count();
    if moving != indices {
        errors.op(
            &op,
            format!("leaves {moving} starts to indices, but has {indices} of these"),
        );
    }
    for (axis, ((s, r), (at, stride))) in s.iter().zip(&r).zip(at.iter().zip(&strides)).enumerate() {
        if *stride == 0 {
            let m = format!("has stride 0 along axis {axis}; repeat an element with tile.broadcast");
            errors.op(&op, m);
            continue;
        }
        let steps = if *stride == 1 {
            String::new()
        } else {
            format!(" in steps of {stride}")
        };
        let reach = r.saturating_sub(1).saturating_mul(*stride);
        if reach.unsigned_abs() >= s.unsigned_abs() {
            let m = format!(
                "{verb} {r} elements of {s} along axis {axis}{steps}, which never lie inside; make the part smaller"
            );
            errors.op(&op, m);
        } else if *at != DYNAMIC {
            let last = at.saturating_add(reach);
            if [*at, last].iter().any(|c| !(0..*s).contains(c)) {
                let m = format!(
                    "{verb} {r} elements along axis {axis} from {at} on{steps}, but they have numbers from 0 to {}",
                    s - 1
                );
                errors.op(&op, m);
            }
        }
    }
    errors.result()
}

/// Where a part starts along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Start<'c> {
    /// At this element; an index that is a constant may say that it lies outside.
    Known(i64),
    /// Where an index says.
    Index(Value<'c, 'c>),
}

/// A part of a tile: element `c` of it is element `starts + steps * c` of the whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice<'c> {
    /// Sizes of the part.
    pub part: Vec<i64>,
    /// Sizes of the whole.
    pub whole: Vec<i64>,
    /// Where it starts, for each axis.
    pub starts: Vec<Start<'c>>,
    /// How far its elements lie from each other, for each axis.
    pub steps: Vec<i64>,
}

impl<'c> Slice<'c> {
    /// What an op cuts out or puts in.
    pub fn of(op: OperationRef<'c, 'c>) -> Option<Slice<'c>> {
        let (part, whole, at, offsets, strides) = if let Some(e) = op.cast::<ExtractSlice>() {
            (e.result(), e.source(), e.at(), e.offsets(), e.strides())
        } else {
            let i = op.cast::<InsertSlice>()?;
            (i.source(), i.destination(), i.at(), i.offsets(), i.strides())
        };
        let mut offsets = offsets.into_iter();
        let start = |at: i64| match at {
            DYNAMIC => {
                let index = offsets.next()?;
                Some(index.constant_int().map_or(Start::Index(index), Start::Known))
            }
            at => Some(Start::Known(at)),
        };
        Some(Slice {
            part: part.r#type().shape()?,
            whole: whole.r#type().shape()?,
            steps: strides.unwrap_or_else(|| vec![1; at.len()]),
            starts: at.into_iter().map(start).collect::<Option<_>>()?,
        })
    }

    /// The starts, if all are known.
    pub fn known(&self) -> Option<Vec<i64>> {
        let known = |s: &Start<'c>| match s {
            Start::Known(n) => Some(*n),
            Start::Index(_) => None,
        };
        self.starts.iter().map(known).collect()
    }

    /// Whether it starts at multiples of its sizes, inside, and its elements are neighbours.
    pub fn is_aligned(&self) -> bool {
        let inside = |((start, part), whole): ((&i64, &i64), &i64)| {
            *start >= 0 && start % part == 0 && start.saturating_add(*part) <= *whole
        };
        let starts = self.known().unwrap_or_default();
        starts.len() == self.part.len()
            && starts.iter().zip(&self.part).zip(&self.whole).all(inside)
            && self.steps.iter().all(|s| *s == 1)
    }

    /// For each register of the part that of the whole which holds the same element in the same thread; `None` where some
    /// thread does not hold it, or where that is not known.
    pub fn registers(&self, part: &Distribution, whole: &Distribution) -> Option<Vec<usize>> {
        registers_of_part(part, whole, &self.known()?, &self.steps)
    }
}

impl<'c> Concat<'c, 'c> {
    /// The tiles as parts of the result.
    pub fn parts(&self) -> Vec<(Value<'c, 'c>, Slice<'c>)> {
        let axis = self.axis() as usize;
        let whole = self.result().r#type().shape().unwrap_or_default();
        let mut end = 0;
        let sources = self.sources().into_iter();
        sources
            .map(|source| {
                let part = source.r#type().shape().unwrap_or_default();
                let mut starts = vec![Start::Known(0); part.len()];
                starts[axis] = Start::Known(end);
                end += part[axis];
                let steps = vec![1; part.len()];
                let whole = whole.clone();
                (
                    source,
                    Slice {
                        part,
                        whole,
                        starts,
                        steps,
                    },
                )
            })
            .collect()
    }
}
