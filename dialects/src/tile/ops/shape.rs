//! Tiles in other shapes: axes of size 1, repetition along them, other orders of axes, other widths of numbers. No element is
//! computed.
use super::super::{
    layouts::ANY_TILE,
    verify::{number_bits, on_device, packed_bits},
};
use girih_ir::{
    kind::{I64, I64s},
    op,
    op::OpView,
    prelude::*,
};

op! {
    /// The same tile with a further axis of size 1.
    ///
    /// ```mlir
    /// %i = tile.iota axis 0 : tensor<64xi32>
    /// %column = tile.expand_dims %i axis 1 : tensor<64xi32> -> tensor<64x1xi32>
    /// ```
    pub struct ExpandDims = "tile.expand_dims" {
        operands { source: one(ANY_TILE) }
        results { result: one(ANY_TILE) }
        attributes { axis: required(I64) }
        effects pure
        format "$source `axis` $axis attr-dict `:` type($source) `->` type($result)"
        hooks {
            fn verify(self) -> Res {
                let mut errors = Errors::default();
                errors.merge(on_device(self.op()));
                let (from, to) = (self.source().r#type(), self.result().r#type());
                let mut shape = from.shape().unwrap_or_default();
                if !(0..=shape.len() as i64).contains(&self.axis()) {
                    errors.op(&self.op(), format!("axis {}, but {from} with a further one has axes 0 to {}", self.axis(), shape.len()));
                    return errors.result();
                }
                shape.insert(self.axis() as usize, 1);
                if to.shape() != Some(shape.clone()) || to.element_type() != from.element_type() {
                    errors.op(&self.op(), format!("makes {to} of {from}; the result has sizes {shape:?} and the same elements"));
                }
                errors.result()
            }
        }
    }
}

op! {
    /// A tile repeated along its axes of size 1.
    ///
    /// ```mlir
    /// %x = arith.constant dense<1.0> : tensor<64x1xf32>
    /// %y = tile.broadcast %x : tensor<64x1xf32> -> tensor<64x128xf32>
    /// ```
    pub struct Broadcast = "tile.broadcast" {
        operands { source: one(ANY_TILE) }
        results { result: one(ANY_TILE) }
        effects pure
        format "$source attr-dict `:` type($source) `->` type($result)"
        hooks {
            fn verify(self) -> Res {
                let mut errors = Errors::default();
                errors.merge(on_device(self.op()));
                let (from, to) = (self.source().r#type(), self.result().r#type());
                let (s, r) = (from.shape().unwrap_or_default(), to.shape().unwrap_or_default());
                let fits = s.len() == r.len() && s.iter().zip(&r).all(|(s, r)| s == r || *s == 1);
                if !fits || from.element_type() != to.element_type() {
                    errors.op(&self.op(), format!("makes {to} of {from}; only sizes of 1 change"));
                }
                errors.result()
            }
        }
    }
}

op! {
    /// A tile with its axes in another order: axis `i` of the result is axis `order[i]` of the source. It moves nothing by
    /// itself; the layout of the result is that of the source with its axes in that order.
    ///
    /// ```mlir
    /// %x = arith.constant dense<1.0> : tensor<64x128xf32>
    /// %y = tile.transpose %x order [1, 0] : tensor<64x128xf32> -> tensor<128x64xf32>
    /// ```
    pub struct Transpose = "tile.transpose" {
        operands { source: one(ANY_TILE) }
        results { result: one(ANY_TILE) }
        attributes { order: required(I64s) }
        effects pure
        format "$source `order` $order attr-dict `:` type($source) `->` type($result)"
        hooks {
            fn verify(self) -> Res {
                let mut errors = Errors::default();
                errors.merge(on_device(self.op()));
                let (from, to) = (self.source().r#type(), self.result().r#type());
                let (s, order) = (from.shape().unwrap_or_default(), self.order());
                let mut axes = order.clone();
                axes.sort_unstable();
                if axes != (0..s.len() as i64).collect::<Vec<_>>() {
                    errors.op(&self.op(), format!("order {order:?} does not list each of the {} axes of {from} once", s.len()));
                    return errors.result();
                }
                let shape: Vec<i64> = order.iter().map(|a| s[*a as usize]).collect();
                if to.shape() != Some(shape.clone()) || to.element_type() != from.element_type() {
                    errors.op(&self.op(), format!("makes {to} of {from}; the result has sizes {shape:?} and the same elements"));
                }
                errors.result()
            }
        }
    }
}

op! {
    /// The same elements in another shape, counted with the last axis fastest. It moves nothing by itself: the layout of the
    /// result gives each thread what it held.
    ///
    /// ```mlir
    /// %x = arith.constant dense<1.0> : tensor<64x128xf32>
    /// %y = tile.reshape %x : tensor<64x128xf32> -> tensor<8192xf32>
    /// ```
    pub struct Reshape = "tile.reshape" {
        operands { source: one(ANY_TILE) }
        results { result: one(ANY_TILE) }
        effects pure
        format "$source attr-dict `:` type($source) `->` type($result)"
        hooks {
            fn verify(self) -> Res {
                let mut errors = Errors::default();
                errors.merge(on_device(self.op()));
                let (from, to) = (self.source().r#type(), self.result().r#type());
                let count = |t: Type<'_>| t.shape().unwrap_or_default().iter().try_fold(1i64, |n, s| n.checked_mul(*s));
                if count(from) != count(to) || from.element_type() != to.element_type() {
                    errors.op(&self.op(), format!("makes {to} of {from}; the result has as many elements of the same type"));
                }
                errors.result()
            }
        }
    }
}

op! {
    /// The same bits as a tile of narrower or wider numbers: along the one axis whose size differs, neighbours lie in one number
    /// together, the first in its lowest bits, as in memory. It moves nothing by itself: a thread that holds a number holds its
    /// parts. Numbers below a byte, which memory does not have, come from bytes in this way. Floats of 6 bits lie in the low bits
    /// of a byte each: a tile of i8 becomes one of as many of them, whatever the upper two bits are, and back with zeros there.
    /// For numbers of one width there is `arith.bitcast`.
    ///
    /// ```mlir
    /// %bytes = arith.constant dense<0x21> : tensor<16x32xi8>
    /// %small = tile.bitcast %bytes : tensor<16x32xi8> -> tensor<16x64xi4>
    /// %bits = tile.bitcast %bytes : tensor<16x32xi8> -> tensor<128x32xi1>
    /// %floats = tile.bitcast %bytes : tensor<16x32xi8> -> tensor<32x32xf4E2M1FN>
    /// %one_each = tile.bitcast %bytes : tensor<16x32xi8> -> tensor<16x32xf6E3M2FN>
    /// ```
    pub struct Bitcast = "tile.bitcast" {
        operands { source: one(ANY_TILE) }
        results { result: one(ANY_TILE) }
        effects pure
        format "$source attr-dict `:` type($source) `->` type($result)"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                errors.merge(on_device(op));
                let (from, to) = (self.source().r#type(), self.result().r#type());
                let widths = [from, to].map(|t| packed_bits(t).filter(|bits| bits.is_power_of_two()));
                let [Some(a), Some(b)] = widths else {
                    let m = format!("makes {to} of {from}; both hold numbers of a power of two of bits, or floats of 6, a byte each");
                    errors.op(&op, m);
                    return errors.result();
                };
                if number_bits(from) == number_bits(to) {
                    errors.op(&op, format!("makes {to} of {from}, whose numbers are of one width; write arith.bitcast"));
                    return errors.result();
                }
                let (s, r) = (from.shape().unwrap_or_default(), to.shape().unwrap_or_default());
                let differ: Vec<usize> = (0..s.len().min(r.len())).filter(|axis| s[*axis] != r[*axis]).collect();
                let bits = |sizes: &[i64], axis: usize, width: u64| u64::try_from(sizes[axis]).ok()?.checked_mul(width);
                if a == b {
                    if s != r {
                        errors.op(&op, format!("makes {to} of {from}; a float of 6 bits has a byte, and the result as many numbers"));
                    }
                    return errors.result();
                }
                let fits = s.len() == r.len()
                    && matches!(differ[..], [axis] if bits(&s, axis, a).is_some() && bits(&s, axis, a) == bits(&r, axis, b));
                if !fits {
                    let m = format!(
                        "makes {to} of {from}; one axis has another size, with as many bits in all: {a} bits become numbers of {b}"
                    );
                    errors.op(&op, m);
                }
                errors.result()
            }
        }
    }
}
