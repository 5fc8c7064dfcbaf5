//! Addresses, shared allocations and slabs, and single elements through `memref.load` and `memref.store`.
use super::{Matched, group, kernel::shared_symbol, lower, refuse, types::dynamic};
use crate::{
    known::known_multiple,
    shared_access::{alignment, byte_strides, granule_bytes},
};
use girih_core::tensor_map::Swizzle;
use girih_dialects::{
    nvvm::{Emit, V},
    tile::{
        ops::{
            memory::{Alloc, Slab, contiguous},
            part::Part,
        },
        spaces::{is_global, is_shared_cluster, shared_of},
        types::TensorMapType,
        verify::{element_bits, memref_bytes},
    },
};
use girih_ir::{
    conversion::{Conversion, ConversionRewriter, Operands},
    ext::DYNAMIC,
    op::OpView,
    prelude::*,
};

#[derive(Clone)]
/// A memref in global memory, unpacked: sizes and strides as i64, in elements.
pub struct Global<'c> {
    /// Address of the first element.
    pub pointer: V<'c>,
    /// Sizes, outermost first.
    pub sizes: Vec<V<'c>>,
    /// Strides, outermost first.
    pub strides: Vec<V<'c>>,
    /// Bytes of an element.
    pub element_bytes: u64,
}

impl<'c> Global<'c> {
    /// Unpacks what a memref of type `t` became. Its layout is strided; the pointer is to its first element, whatever its offset.
    pub fn new(e: &Emit<'c, '_>, t: Type<'c>, values: &[V<'c>]) -> Self {
        let shape = t.shape().unwrap_or_default();
        let (strides, _) = t.strides_and_offset().unwrap_or_default();
        let mut sizes_at = values[1..=dynamic(&shape)].iter().copied();
        let mut strides_at = values[1 + dynamic(&shape)..].iter().copied();
        let pick = |known: i64, next: &mut dyn Iterator<Item = V<'c>>| match known {
            DYNAMIC => next.next().expect("one value for each dynamic size or stride"),
            k => e.c64(k),
        };
        Global {
            pointer: values[0],
            sizes: shape.iter().map(|d| pick(*d, &mut sizes_at)).collect(),
            strides: strides.iter().map(|s| pick(*s, &mut strides_at)).collect(),
            element_bytes: element_bits(t).unwrap_or(8) / 8,
        }
    }
    /// Address of the element at `i64` indices, axis by axis: that of stride 1 first, which neighbouring rows have in common,
    /// and what is known now last, which an instruction has room for.
    pub fn element(&self, e: &Emit<'c, '_>, indices: &[V<'c>]) -> V<'c> {
        let bytes = self.element_bytes as i64;
        let axes = || indices.iter().zip(&self.strides);
        let is_unit = |stride: &V<'c>| stride.constant_int() == Some(1);
        let (mut pointer, mut known) = (self.pointer, 0);
        for (i, _) in axes().filter(|(_, stride)| is_unit(stride)) {
            let (rest, n) = split_constant(e, *i);
            known += n * bytes;
            if let Some(rest) = rest {
                pointer = e.byte_offset(pointer, e.mul(rest, e.c64(bytes)));
            }
        }
        for (i, stride) in axes().filter(|(_, stride)| !is_unit(stride)) {
            if i.constant_int() != Some(0) {
                pointer = e.byte_offset(pointer, e.mul(*i, e.mul(*stride, e.c64(bytes))));
            }
        }
        e.byte_offset_by(pointer, known)
    }
}

/// An index of 64 bits as a value and a number that is known now, small enough for an offset.
fn split_constant<'c>(e: &Emit<'c, '_>, v: V<'c>) -> (Option<V<'c>>, i64) {
    let small = |n: &i64| (-(1 << 24)..1 << 24).contains(n);
    if let Some(n) = v.constant_int().filter(small) {
        return (None, n);
    }
    let named = |v: V<'c>, name: &str| v.defining_op().filter(|op| op.full_name() == name);
    let cast = named(v, "arith.index_cast").map(|op| op.operand_values()[0]);
    let uncast = cast.filter(|from| from.r#type().is_index_type()).unwrap_or(v);
    let Some(sum) = named(uncast, "arith.addi") else {
        return (Some(v), 0);
    };
    let operands = sum.operand_values();
    match operands[1].constant_int().filter(small) {
        Some(n) => (Some(e.to_int(operands[0], 64)), n),
        None => (Some(v), 0),
    }
}

/// Sums in sums that are split up to find what moves an address by whole periods of its swizzle.
const MOST_SUMS: usize = 5;

/// `a ^ ((a >> shift) & mask)`: the permutation of an absolute shared address (i32).
pub fn swizzled<'c>(e: &Emit<'c, '_>, address: V<'c>, swizzle: Swizzle) -> V<'c> {
    let xor = |a: V<'c>, shift: i64, mask: i64| e.xor(a, e.mask(e.shr(address, shift), mask));
    match swizzle {
        Swizzle::None => address,
        Swizzle::B32 | Swizzle::B96 => xor(address, 3, 0x10),
        Swizzle::B64 => xor(address, 3, 0x30),
        Swizzle::B128 => xor(address, 3, 0x70),
        Swizzle::B128Atom32 => xor(address, 2, 0x60),
        Swizzle::B128Atom32Flip8 => xor(xor(address, 2, 0x60), 4, 0x08),
        Swizzle::B128Atom64 => xor(address, 1, 0x40),
    }
}

/// Byte offset (i32) of an element of a contiguous shared memref before the swizzle. Indices are `index` or integers.
pub fn shared_offset<'c>(e: &Emit<'c, '_>, t: Type<'c>, indices: &[V<'c>]) -> V<'c> {
    let terms = indices.iter().copied().zip(byte_strides(t));
    terms.fold(e.c32(0), |at, (i, s)| e.add(at, e.mul(e.to_int(i, 32), e.c32(s))))
}

/// The terms of a sum that are no multiples of `unit` by what is known, and those that are; sums in sums are looked into
/// `depth` times.
fn split<'c>(v: V<'c>, unit: i64, depth: usize) -> [Vec<V<'c>>; 2] {
    if known_multiple(v) % unit == 0 {
        return [vec![], vec![v]];
    }
    let is_sum = |op: &OperationRef<'c, 'c>| depth > 0 && op.full_name() == "arith.addi";
    match v.defining_op().filter(is_sum) {
        Some(sum) => {
            let operands = sum.operand_values();
            let [[a, b], [c, d]] = [0, 1].map(|i| split(operands[i], unit, depth - 1));
            [[a, c].concat(), [b, d].concat()]
        }
        None => [vec![v], vec![]],
    }
}

/// Pointer to an element of a shared memref, where the swizzle puts it. What moves it by whole periods of the swizzle is
/// added behind the permutation, which depends on the rest alone: a swizzled memref starts at such a period.
pub fn shared_element<'c>(e: &Emit<'c, '_>, t: Type<'c>, base: V<'c>, indices: &[V<'c>]) -> V<'c> {
    let mode = shared_of(t).map_or(Swizzle::None, |s| s.mode());
    if mode == Swizzle::None {
        return e.byte_offset(base, shared_offset(e, t, indices));
    }
    let period = mode.period_bytes() as i64;
    let (mut inside, mut whole) = (e.c32(0), e.c32(0));
    for (i, stride) in indices.iter().zip(byte_strides(t)) {
        // Strides are powers of two times something: this many rows are whole periods.
        let unit = period >> stride.trailing_zeros().min(period.trailing_zeros());
        let sum = |at: V<'c>, terms: Vec<V<'c>>| {
            let terms = terms.into_iter();
            terms.fold(at, |at, i| e.add(at, e.mul(e.to_int(i, 32), e.c32(stride))))
        };
        let [low, high] = split(*i, unit, MOST_SUMS);
        (inside, whole) = (sum(inside, low), sum(whole, high));
    }
    e.byte_offset(e.byte_offset(base, swizzled(e, inside, mode)), whole)
}

fn element_pointer<'c>(e: &Emit<'c, '_>, t: Type<'c>, base: &[V<'c>], indices: &[V<'c>]) -> V<'c> {
    if is_global(t) {
        let indices: Vec<_> = indices.iter().map(|i| e.to_int(*i, 64)).collect();
        return Global::new(e, t, base).element(e, &indices);
    }
    shared_element(e, t, base[0], indices)
}

/// Elements of a vector, which has rank 1: see `refuse`.
fn run_length(t: Type<'_>) -> usize {
    t.shape().unwrap_or_default().iter().product::<i64>() as usize
}

/// Numbers as a vector: truth values stay single bits.
fn vector_of<'c>(e: &Emit<'c, '_>, elements: &[V<'c>]) -> V<'c> {
    if !elements[0].r#type().is_int(1) {
        return e.pack(elements);
    }
    let t = e.vector(elements.len() as i64, e.int(1));
    let none = e.value("llvm.mlir.undef", &[], t, &[]);
    elements.iter().enumerate().fold(none, |v, (i, one)| {
        e.value("llvm.insertelement", &[v, *one, e.c32(i as i64)], t, &[])
    })
}

/// Stores the `n` elements of a vector to shared memory, as many together as lie there together: upstream promises no more
/// than the alignment of an element, and a swizzle moves each of its granules by itself.
fn store_vector<'c>(
    op: OperationRef<'c, 'c>,
    n: usize,
    operands: &Operands<'c, '_>,
    rewriter: &ConversionRewriter<'c>,
) {
    let e = Emit::new(rewriter, op.location());
    let own = op.operand_values();
    let (t, value, at) = (own[1].r#type(), operands.one(0), indices(operands, 2));
    let bytes = element_bits(t).unwrap_or(8) / 8;
    let align = alignment(own[1], &own[2..]);
    let together = match shared_of(t).and_then(|s| granule_bytes(s.mode())) {
        None => n,
        Some(granule) => (1..=n)
            .rev()
            .find(|k| n.is_multiple_of(*k) && bytes * k.next_power_of_two() as u64 <= align.min(granule))
            .unwrap_or(1),
    };
    let align = align.clamp(bytes, (bytes * together as u64).next_power_of_two());
    let element = value.r#type().element_type().unwrap_or(value.r#type());
    if together == n && !element.is_int(1) {
        let pointer = element_pointer(&e, t, operands.get(1), &at);
        e.op(
            "llvm.store",
            &[value, pointer],
            &[],
            &[("alignment", e.i64_attr(align as i64))],
        );
        return;
    }
    let numbers = e.unpack(value, n, element);
    for (k, numbers) in numbers.chunks(together).enumerate() {
        let mut at = at.clone();
        if let Some(last) = at.last_mut() {
            *last = e.offset(*last, (k * together) as i64);
        }
        e.store(numbers, element_pointer(&e, t, operands.get(1), &at), align);
    }
}

/// Converted values of operands `from..`.
fn indices<'c>(operands: &Operands<'c, '_>, from: usize) -> Vec<V<'c>> {
    (from..operands.len()).flat_map(|i| operands.get(i).to_vec()).collect()
}

fn ours(t: Type<'_>) -> bool {
    is_global(t) || shared_of(t).is_some() || is_shared_cluster(t)
}

/// One of two memrefs or tensor maps: each of the values that they become is chosen.
fn select<'c>(op: OperationRef<'c, 'c>, operands: &Operands<'c, '_>, rewriter: &ConversionRewriter<'c>) -> Matched {
    let t = op.result0().r#type();
    let condition = operands.get(0);
    if condition.len() != 1 || !(t.is_mem_ref() || TensorMapType::of(t).is_some()) {
        return Err(rewriter.no_match(op, "not a memref or a tensor map"));
    }
    let e = Emit::new(rewriter, op.location());
    let pairs = operands.get(1).iter().zip(operands.get(2));
    let chosen = pairs.map(|(yes, no)| e.value("arith.select", &[condition[0], *yes, *no], yes.r#type(), &[]));
    rewriter.replace_multiple(op, &[chosen.collect()]);
    Ok(())
}

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    c.pattern("arith.select", 1, select);
    lower!(c, Alloc, |op, _, rewriter| {
        let (Some(offset), Some(symbol)) = (op.offset(), shared_symbol(op.op())) else {
            return refuse(
                op.op(),
                "has no place in shared memory yet; run tile-allocate-shared first",
            );
        };
        if shared_of(op.result().r#type()).is_some_and(|s| s.is_open()) {
            return refuse(
                op.op(),
                "has swizzle = auto, which nobody has chosen yet; run tile-swizzle-shared first, after tile-assign-layouts where \
                 whole tiles use it",
            );
        }
        let e = Emit::new(rewriter, op.op().location());
        let base = e.value(
            "llvm.mlir.addressof",
            &[],
            e.ptr(3),
            &[("global_name", e.symbol_attr(&symbol))],
        );
        rewriter.replace(op.op(), &[e.byte_offset_by(base, offset)]);
        Ok(())
    });
    lower!(c, Slab, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let (from, to) = (op.source().r#type(), op.result().r#type());
        let part = memref_bytes(to).unwrap_or(0) as i64;
        let shape = from.shape().unwrap_or_default();
        let indices = group(op.op(), Slab::DEF, operands, "indices");
        // Leading indices count whole parts.
        let strides = contiguous(&shape[..indices.len()]);
        let mut at = e.c32(0);
        for (i, s) in indices.iter().zip(strides) {
            at = e.add(at, e.mul(e.to_int(*i, 32), e.c32(s * part)));
        }
        rewriter.replace(op.op(), &[e.byte_offset(operands.one(0), at)]);
        Ok(())
    });
    lower!(c, Part, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let element = element_bits(op.source().r#type()).unwrap_or(8) as i64 / 8;
        let first = e.to_int(group(op.op(), Part::DEF, operands, "first")[0], 32);
        let at = e.mul(first, e.c32(element));
        rewriter.replace(op.op(), &[e.byte_offset(operands.one(0), at)]);
        Ok(())
    });
    c.pattern("memref.load", 1, |op, operands, rewriter| -> Matched {
        let t = op.operand_values()[0].r#type();
        if !ours(t) {
            return Err(rewriter.no_match(op, "not in a tile space"));
        }
        let e = Emit::new(rewriter, op.location());
        let pointer = element_pointer(&e, t, operands.get(0), &indices(operands, 1));
        let element = op.result0().r#type();
        let bytes = element_bits(t).unwrap_or(8) / 8;
        let value = e.load(pointer, element, bytes);
        rewriter.replace(op, &[value]);
        Ok(())
    });
    c.pattern("memref.store", 1, |op, operands, rewriter| -> Matched {
        let t = op.operand_values()[1].r#type();
        if !ours(t) {
            return Err(rewriter.no_match(op, "not in a tile space"));
        }
        let e = Emit::new(rewriter, op.location());
        let pointer = element_pointer(&e, t, operands.get(1), &indices(operands, 2));
        e.store(&[operands.one(0)], pointer, element_bits(t).unwrap_or(8) / 8);
        rewriter.erase(op);
        Ok(())
    });
    c.pattern("vector.store", 1, |op, operands, rewriter| -> Matched {
        store_vector(op, run_length(op.operand_values()[0].r#type()), operands, rewriter);
        rewriter.erase(op);
        Ok(())
    });
    c.pattern("vector.from_elements", 1, |op, operands, rewriter| -> Matched {
        let e = Emit::new(rewriter, op.location());
        let elements: Vec<_> = (0..operands.len()).map(|i| operands.one(i)).collect();
        rewriter.replace(op, &[vector_of(&e, &elements)]);
        Ok(())
    });
    // What upstream's patterns make of several times the same element.
    c.pattern("vector.broadcast", 1, |op, operands, rewriter| -> Matched {
        let n = run_length(op.result0().r#type());
        let e = Emit::new(rewriter, op.location());
        rewriter.replace(op, &[vector_of(&e, &vec![operands.one(0); n])]);
        Ok(())
    });
    c.pattern("memref.dim", 1, |op, operands, rewriter| -> Matched {
        let t = op.operand_values()[0].r#type();
        if !ours(t) {
            return Err(rewriter.no_match(op, "not in a tile space"));
        }
        let e = Emit::new(rewriter, op.location());
        let sizes = if is_global(t) {
            Global::new(&e, t, operands.get(0)).sizes
        } else {
            t.shape().unwrap_or_default().iter().map(|d| e.c64(*d)).collect()
        };
        let Some(which) = op.operand_values()[1].constant_int() else {
            return refuse(
                op,
                "asks for a dimension that is known only at run time; use a constant",
            );
        };
        let Some(size) = usize::try_from(which).ok().and_then(|i| sizes.get(i)) else {
            return refuse(op, format!("asks for dimension {which} of {t}"));
        };
        let size = e.value("arith.index_cast", &[*size], e.index_type(), &[]);
        rewriter.replace(op, &[size]);
        Ok(())
    });
}
