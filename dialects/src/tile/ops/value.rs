//! Whole tiles as values: what arith and math do not have. No op of this file says which thread does what; layouts do.
use super::super::{
    distribution::is_distributed,
    layouts::{ANY_TILE, Fragment, layout_of},
    marks::COLLECTIVE,
    spaces::GLOBAL_MEMREF,
    verify::on_device,
};
use girih_ir::{
    constraint::{ANY, Constraint, I1},
    kind::I64,
    op,
    op::{EffectKind, EffectSink, Fold, OpView},
    prelude::*,
};

/// A scalar that a tile can hold.
pub const NUMBER: Constraint = Constraint::new("a number", |t| t.bit_width().is_some() || t.is_index_type());

/// What an op does to its scratch, if it has some, which is its last operand.
pub(super) fn scratch_effects<'c>(op: OperationRef<'c, 'c>, scratch: Option<Value<'c, 'c>>, sink: &EffectSink) {
    if scratch.is_some() {
        let last = op.operand_count().saturating_sub(1);
        sink.operand(EffectKind::Write, last);
        sink.operand(EffectKind::Read, last);
    }
}

op! {
    /// A tile that holds one value everywhere.
    ///
    /// ```mlir
    /// %x = arith.constant 1.0 : f32
    /// %t = tile.splat %x : f32 -> tensor<64x128xf32>
    /// ```
    pub struct Splat = "tile.splat" {
        operands { value: one(NUMBER) }
        results { result: one(ANY_TILE) }
        effects pure
        format "$value attr-dict `:` type($value) `->` type($result)"
        hooks {
            fn verify(self) -> Res {
                let (value, tile) = (self.value().r#type(), self.result().r#type());
                if tile.element_type() != Some(value) {
                    return Diag::op(&self.op(), format!("fills {tile} with {value}; the types must be the same")).report();
                }
                Ok(())
            }
        }
    }
}

op! {
    /// A tile of integers, or of index, that holds each element's own coordinate along `axis`, from 0.
    ///
    /// ```mlir
    /// %i = tile.iota axis 1 : tensor<64x128xi32>
    /// ```
    pub struct Iota = "tile.iota" {
        results { result: one(ANY_TILE) }
        attributes { axis: required(I64) }
        effects pure
        format "`axis` $axis attr-dict `:` type($result)"
        hooks {
            fn verify(self) -> Res {
                let (t, mut errors) = (self.result().r#type(), Errors::default());
                let rank = t.shape().unwrap_or_default().len() as i64;
                if !(0..rank).contains(&self.axis()) {
                    errors.op(&self.op(), format!("axis {}, but {t} has {rank} axes, from 0", self.axis()));
                }
                let integer = t.element_type().is_some_and(|e| e.is_index_type() || !e.is_float_type() && e.bit_width().is_some_and(|b| b >= 8));
                if !integer {
                    errors.op(&self.op(), format!("counts in integers of 8 bits or more and in index, but the tile is {t}; take i32 and convert it with arith.sitofp, or compare it with arith.cmpi"));
                }
                errors.result()
            }
        }
    }
}

op! {
    /// The same tile in another layout. `tile-assign-layouts` puts it where two ops want a tile in different layouts; it
    /// becomes nothing, moves between registers, shuffles within warps, or a way through shared memory (`scratch`, which
    /// `tile-allocate-scratch` gives it).
    ///
    /// With `within_warps` every warp has the same elements before and after, and its own bytes of the scratch: lanes of a warp
    /// wait for each other, not for the block.
    ///
    /// One side may be the parts that warpgroups hold of a tile after `tile.wgmma`: 64 rows each, in the order of the
    /// warpgroups.
    ///
    /// ```mlir
    /// %a = tile.iota axis 0 : tensor<32x32xi32, #tile.blocked<per_thread = [1, 4], lanes = [4, 8], warps = [4, 1]>>
    /// %b = tile.convert_layout %a : tensor<32x32xi32, #tile.blocked<per_thread = [1, 4], lanes = [4, 8], warps = [4, 1]>> -> tensor<32x32xi32, #tile.blocked<per_thread = [4, 1], lanes = [8, 4], warps = [1, 4], order = [0, 1]>>
    /// %own = arith.constant dense<0.0> : tensor<64x32xf32, #tile.layout<wgmma_d>>
    /// %whole = tile.convert_layout %own : tensor<64x32xf32, #tile.layout<wgmma_d>> -> tensor<128x32xf32, #tile.blocked<per_thread = [1, 4], lanes = [4, 8], warps = [8, 1]>>
    /// ```
    pub struct ConvertLayout = "tile.convert_layout" {
        operands { source: one(ANY_TILE), scratch: optional(ANY) }
        results { result: one(ANY_TILE) }
        attributes { within_warps: unit }
        effects custom
        marks [COLLECTIVE: scratch]
        format "$source (`within_warps` $within_warps^)? (`scratch` $scratch^ `:` type($scratch))? attr-dict `:` type($source) `->` type($result)"
        hooks {
            fn effects(self, sink: &EffectSink) { scratch_effects(self.op(), self.scratch(), sink) }
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                errors.merge(on_device(op));
                let (from, to) = (self.source().r#type(), self.result().r#type());
                let is_part = |t: Type<'c>| layout_of(t).is_some_and(|l| l.fragment() == Fragment::WgmmaD);
                if is_part(from) != is_part(to) {
                    let (part, whole) = if is_part(from) { (from, to) } else { (to, from) };
                    let shape = |t: Type<'c>| t.shape().unwrap_or_default();
                    let rows = shape(whole).first().copied().unwrap_or(0);
                    let columns = |t: Type<'c>| shape(t).get(1).copied().unwrap_or(0);
                    let (held, all) = (columns(part), columns(whole));
                    // A tile that passes have padded has more.
                    if (all != held && all.cast_unsigned() != held.max(1).cast_unsigned().next_power_of_two())
                        || shape(whole).len() != 2
                        || rows % i64::from(girih_core::wgmma::M) != 0
                        || from.element_type() != to.element_type()
                        || layout_of(whole).is_some()
                    {
                        errors.op(&op, format!("makes {to} of {from}; a whole tile has 64 rows for each warpgroup, and the same columns, or the next power of two, and elements"));
                    }
                    return errors.result();
                }
                if from.shape() != to.shape() || from.element_type() != to.element_type() {
                    errors.op(&op, format!("makes {to} of {from}; only the layout may differ"));
                }
                // What has no layout yet gets one that passes choose.
                let is_open = |t: Type<'c>| !is_distributed(t) && layout_of(t).is_none();
                let strange = |t: &Type<'c>| layout_of(*t).is_some() || is_open(from) && is_open(to);
                if let Some(t) = [from, to].into_iter().find(strange) {
                    errors.op(&op, format!("converts between #tile.blocked, #tile.sliced and #tile.linear, found {t}"));
                }
                errors.result()
            }
            fn fold(self, _: &[Option<Attribute<'c>>]) -> Option<Vec<Fold<'c, 'c>>> {
                (self.source().r#type() == self.result().r#type()).then(|| vec![Fold::Value(self.source())])
            }
        }
    }
}

op! {
    /// The same tile, but the compiler does not see that it is: what is computed from the result is computed anew, and need not
    /// be kept in registers since it was computed from the source. Where a wide tile comes from a narrow one and is needed
    /// before and after threads meet, half of the registers live through the meeting, and more blocks fit a multiprocessor.
    /// It takes no instruction.
    ///
    /// ```mlir
    /// %x = arith.constant dense<1.0> : tensor<1024xbf16>
    /// %before = arith.extf %x : tensor<1024xbf16> to tensor<1024xf32>
    /// %sum = tile.reduce %before axis 0 (%a: f32, %b: f32) {
    ///   %s = arith.addf %a, %b : f32
    ///   tile.yield %s : f32
    /// } : tensor<1024xf32> -> tensor<f32>
    /// %again = tile.opaque %x : tensor<1024xbf16> -> tensor<1024xbf16>
    /// %after = arith.extf %again : tensor<1024xbf16> to tensor<1024xf32>
    /// ```
    pub struct Opaque = "tile.opaque" {
        operands { source: one(ANY_TILE) }
        results { result: one(ANY_TILE) }
        effects pure
        format "$source attr-dict `:` type($source) `->` type($result)"
        hooks {
            fn verify(self) -> Res {
                let (from, to) = (self.source().r#type(), self.result().r#type());
                if from != to {
                    return Diag::op(&self.op(), format!("makes {to} of {from}; the types must be the same")).report();
                }
                on_device(self.op())
            }
        }
    }
}

op! {
    /// Whether vectors of `by` elements along `axis`, whose stride is 1, can be moved: the memref's address, its strides along
    /// the other axes and its size along `axis` are multiples of them. With `any_size` the size is not asked for: a vector may
    /// then lie inside in part. The same for all threads.
    ///
    /// ```mlir
    /// tile.kernel @k(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   %fast = tile.is_aligned %A axis 1 by 4 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
    /// }
    /// ```
    pub struct IsAligned = "tile.is_aligned" {
        operands { memory: one(GLOBAL_MEMREF) }
        results { result: one(I1) }
        attributes { axis: required(I64), by: required(I64), any_size: unit }
        effects pure
        format "$memory `axis` $axis `by` $by (`any_size` $any_size^)? attr-dict `:` type($memory)"
        hooks {
            fn verify(self) -> Res {
                let (t, mut errors) = (self.memory().r#type(), Errors::default());
                let strides = t.strides_and_offset().map(|(s, _)| s).unwrap_or_default();
                if usize::try_from(self.axis()).ok().and_then(|a| strides.get(a)) != Some(&1) {
                    errors.op(&self.op(), format!("axis {} of {t} does not have stride 1; vectors lie along one that has", self.axis()));
                }
                if self.by() < 1 || !(self.by() as u64).is_power_of_two() {
                    errors.op(&self.op(), format!("by {}, but vectors have a power of two of elements", self.by()));
                }
                errors.result()
            }
        }
    }
}
