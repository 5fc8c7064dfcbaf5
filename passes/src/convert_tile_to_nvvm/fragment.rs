//! Register tiles to and from memory.
//!
//! A thread's elements are its own origin plus what the layout gives for each index; neighbours in a row are moved together
//! where the memory allows it. In global memory a tile that lies wholly inside, with rows aligned for pairs, takes the fast
//! way; every other tile is guarded element by element. In shared memory neighbours go together where rows and the first
//! column are known to be aligned for it.
use super::{
    access::{How, Words, load, load_many, store, store_many},
    group, lower,
    memory::{Global, swizzled},
    tma::policy,
};
use crate::known::is_nonnegative;
use girih_core::tensor_map::Swizzle;
use girih_dialects::{
    nvvm::{Cmp, Emit, V},
    tile::{
        layouts::{Fragment, contiguous_elements, element_offset, elements_per_thread, layout_of},
        ops::memory::{Load, Store, contiguous},
        spaces::{is_global, shared_of},
        verify::element_bits,
    },
};
use girih_ir::{conversion::Conversion, op::OpView, prelude::*};
use std::collections::BTreeMap;

/// What a thread holds of a tile.
pub(super) struct Held<'c> {
    /// Row and column of the thread's first element in the tile, i64.
    pub(super) origin: (V<'c>, V<'c>),
    /// Row and column of each element, relative to the origin.
    pub(super) offsets: Vec<(u32, u32)>,
    /// Elements that lie next to each other in a row.
    run: usize,
    rows: i64,
    columns: i64,
}

/// What a thread holds of a tile with such a layout.
pub(super) fn held<'c>(e: &Emit<'c, '_>, tile: Type<'c>) -> Held<'c> {
    let fragment = layout_of(tile).map_or(Fragment::WgmmaD, |l| l.fragment());
    let bits = element_bits(tile).unwrap_or(32) as u32;
    let n = elements_per_thread(tile).unwrap_or(0);
    let run = contiguous_elements(fragment, bits) as usize;
    let thread = e.mask(e.sreg("tid.x"), 127);
    let lane = e.mask(thread, 31);
    // Row 16 * warp + lane / 4 of the warpgroup's tile; `run` columns for each of the 4 lanes of a row.
    let row = e.add(e.shl(e.shr(thread, 5), 4), e.shr(lane, 2));
    let column = e.mul(e.mask(lane, 3), e.c32(run as i64));
    let shape = tile.shape().unwrap_or_default();
    let wide = |v: V<'c>| e.value("arith.extui", &[v], e.i64_type(), &[]);
    Held {
        origin: (wide(row), wide(column)),
        offsets: (0..n).map(|i| element_offset(fragment, bits, i)).collect(),
        run,
        rows: shape[0],
        columns: shape[1],
    }
}

/// A tile's place in global memory.
struct Place<'c> {
    memory: Global<'c>,
    /// Indices of the thread's first element.
    row: V<'c>,
    column: V<'c>,
    /// Whether the tile's first column may lie before the tensor.
    before: bool,
    columns: i64,
    /// Whether the whole tile is inside and pairs are aligned.
    fast: V<'c>,
}

fn place<'c>(e: &Emit<'c, '_>, memory: Global<'c>, at: &[V<'c>], h: &Held<'c>) -> Place<'c> {
    let before = at.iter().any(|i| !is_nonnegative(*i));
    let (r, c) = (e.to_int(at[0], 64), e.to_int(at[1], 64));
    let (row, column) = (e.add(r, h.origin.0), e.add(c, h.origin.1));
    let mut inside = e.and(
        e.cmp(Cmp::Sle, e.offset(r, h.rows), memory.sizes[0]),
        e.cmp(Cmp::Sle, e.offset(c, h.columns), memory.sizes[1]),
    );
    if before {
        // Loads may start before the tensor.
        let after = e.and(e.cmp(Cmp::Sge, r, e.c64(0)), e.cmp(Cmp::Sge, c, e.c64(0)));
        inside = e.and(inside, after);
    }
    let run_bytes = h.run as i64 * memory.element_bytes as i64;
    let first = e.ptr_to_int(memory.element(e, &[row, column]), 64);
    let row_bytes = e.mul(memory.strides[0], e.c64(memory.element_bytes as i64));
    let misaligned = e.mask(e.or(first, row_bytes), run_bytes - 1);
    let unit = match memory.strides[1].constant_int() {
        Some(1) => inside,
        _ => e.and(inside, e.cmp(Cmp::Eq, memory.strides[1], e.c64(1))),
    };
    let fast = e.and(unit, e.cmp(Cmp::Eq, misaligned, e.c64(0)));
    Place {
        memory,
        row,
        column,
        before,
        columns: h.columns,
        fast,
    }
}

impl<'c> Place<'c> {
    /// For each row that the thread has elements in, by offset: a pointer to its first column.
    fn rows(&self, e: &Emit<'c, '_>, h: &Held<'c>) -> BTreeMap<u32, V<'c>> {
        let mut rows = BTreeMap::new();
        for (r, _) in &h.offsets {
            let row = || e.offset(self.row, i64::from(*r));
            rows.entry(*r)
                .or_insert_with(|| self.memory.element(e, &[row(), self.column]));
        }
        rows
    }

    /// For each run on the fast way a pointer.
    fn runs(&self, e: &Emit<'c, '_>, h: &Held<'c>) -> Vec<V<'c>> {
        let rows = self.rows(e, h);
        let place = |(r, c): &(u32, u32)| e.byte_offset_by(rows[r], i64::from(*c) * self.memory.element_bytes as i64);
        h.offsets.iter().step_by(h.run).map(place).collect()
    }

    /// For each element a pointer, bytes behind it, and whether the element lies inside.
    fn elements(&self, e: &Emit<'c, '_>, h: &Held<'c>) -> Vec<Guarded<'c>> {
        let clamp = |v: V<'c>| {
            let v = e.value("arith.maxsi", &[v, e.c64(0)], e.i64_type(), &[]);
            // So few that 32 bits hold their number.
            e.to_int(e.value("arith.minsi", &[v, e.c64(self.columns)], e.i64_type(), &[]), 32)
        };
        let left = clamp(e.sub(self.memory.sizes[1], self.column));
        let low = self.before.then(|| clamp(e.sub(e.c64(0), self.column)));
        let rows = self.rows(e, h);
        // How many columns are left, of a row outside none. Unsigned, so that a row before the tensor is outside too.
        let left_of = |r: u32| {
            let inside = e.cmp(Cmp::Ult, e.offset(self.row, i64::from(r)), self.memory.sizes[0]);
            e.value("arith.select", &[inside, left, e.c32(0)], e.i32_type(), &[])
        };
        let left: BTreeMap<u32, V> = rows.keys().map(|r| (*r, left_of(*r))).collect();
        let (stride, bytes) = (self.memory.strides[1], self.memory.element_bytes as i64);
        let guarded = |(r, c): &(u32, u32)| {
            let column = i64::from(*c);
            let known = stride
                .constant_int()
                .map(|stride| stride.saturating_mul(column * bytes));
            let (pointer, offset) = match known.filter(|bytes| i32::try_from(*bytes).is_ok()) {
                Some(offset) => (rows[r], offset),
                None => (e.byte_offset(rows[r], e.mul(stride, e.c64(column * bytes))), 0),
            };
            let inside = e.cmp(Cmp::Sgt, left[r], e.c32(column));
            let inside = low.map_or(inside, |low| e.and(inside, e.cmp(Cmp::Sle, low, e.c32(column))));
            Guarded {
                at: (pointer, offset),
                inside,
            }
        };
        h.offsets.iter().map(guarded).collect()
    }
}

/// An element's place.
struct Guarded<'c> {
    at: (V<'c>, i64),
    inside: V<'c>,
}

/// Whether an index is known to be a multiple of `n`.
fn is_multiple(v: Value<'_, '_>, n: i64) -> bool {
    if n == 1 || v.constant_int().is_some_and(|c| c % n == 0) {
        return true;
    }
    let Some(op) = v.defining_op() else { return false };
    let operands = op.operand_values();
    match op.full_name() {
        "arith.muli" => operands.iter().any(|o| is_multiple(*o, n)),
        "arith.addi" | "arith.subi" => operands.iter().all(|o| is_multiple(*o, n)),
        _ => false,
    }
}

/// A tile in shared memory: pointers to parts of `run` elements that lie next to each other.
struct SharedParts<'c> {
    pointers: Vec<V<'c>>,
    run: usize,
    /// Bytes of a part, which its address is a multiple of.
    bytes: u64,
}

fn shared_parts<'c>(e: &Emit<'c, '_>, t: Type<'c>, base: V<'c>, at: &[V<'c>], h: &Held<'c>) -> SharedParts<'c> {
    let bytes = element_bits(t).unwrap_or(8) as i64 / 8;
    let pitch = contiguous(&t.shape().unwrap_or_default())[0] * bytes;
    // A part never crosses the 16 bytes that a swizzle keeps together.
    let together = pitch % (h.run as i64 * bytes) == 0 && is_multiple(at[1], h.run as i64);
    let run = if together { h.run } else { 1 };
    let row = e.add(e.to_int(at[0], 32), e.to_int(h.origin.0, 32));
    let column = e.add(e.to_int(at[1], 32), e.to_int(h.origin.1, 32));
    let start = e.add(e.mul(row, e.c32(pitch)), e.mul(column, e.c32(bytes)));
    let address = e.add(e.ptr_to_int(base, 32), start);
    let mode = shared_of(t).map_or(Swizzle::None, |s| s.mode());
    let pointers = h
        .offsets
        .iter()
        .step_by(run)
        .map(|(r, c)| {
            let at = e.offset(address, i64::from(*r) * pitch + i64::from(*c) * bytes);
            e.int_to_ptr(swizzled(e, at, mode), 3)
        })
        .collect();
    SharedParts {
        pointers,
        run,
        bytes: (run as i64 * bytes) as u64,
    }
}

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, Store, |op, operands, rewriter| {
        if layout_of(op.value().r#type()).is_none() {
            return Err(rewriter.no_match(op.op(), "no fragment"));
        }
        let e = Emit::new(rewriter, op.op().location());
        let (tile, memory) = (op.value().r#type(), op.destination().r#type());
        let (h, values) = (held(&e, tile), operands.get(0));
        let indices = group(op.op(), Store::DEF, operands, "indices");
        let bytes = element_bits(tile).unwrap_or(8) / 8;
        let (element, cache) = (tile.element_type().unwrap_or(tile), op.cache());
        if is_global(memory) {
            let p = place(&e, Global::new(&e, memory, operands.get(1)), &indices, &h);
            e.if_else(
                p.fast,
                &[],
                |e| {
                    for (pointer, v) in p.runs(&e, &h).into_iter().zip(values.chunks(h.run)) {
                        store_many(&e, v, pointer, element, bytes * h.run as u64, cache);
                    }
                    vec![]
                },
                |e| {
                    let words = Words::new(element, bytes, 1);
                    let policy = policy(&e, cache, &[]);
                    for (to, v) in p.elements(&e, &h).iter().zip(values) {
                        let how = How {
                            predicate: Some(to.inside),
                            policy,
                        };
                        store(&e, &words, bytes, to.at, how, &words.pack(&e, &[*v]));
                    }
                    vec![]
                },
            );
        } else {
            let parts = shared_parts(&e, memory, operands.one(1), &indices, &h);
            for (pointer, v) in parts.pointers.iter().zip(values.chunks(parts.run)) {
                e.store(v, *pointer, parts.bytes);
            }
        }
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, Load, |op, operands, rewriter| {
        if layout_of(op.result().r#type()).is_none() {
            return Err(rewriter.no_match(op.op(), "no fragment"));
        }
        let e = Emit::new(rewriter, op.op().location());
        let (tile, memory) = (op.result().r#type(), op.source().r#type());
        let Some(element) = tile.element_type() else {
            return Err(rewriter.no_match(op.op(), "no element type"));
        };
        let h = held(&e, tile);
        let indices = group(op.op(), Load::DEF, operands, "indices");
        let bytes = element_bits(tile).unwrap_or(8) / 8;
        let cache = op.cache();
        let values = if is_global(memory) {
            let p = place(&e, Global::new(&e, memory, operands.get(0)), &indices, &h);
            let results = vec![element; h.offsets.len()];
            e.if_else(
                p.fast,
                &results,
                |e| {
                    let run = |pointer| load_many(&e, pointer, h.run, element, bytes * h.run as u64, cache);
                    p.runs(&e, &h).into_iter().flat_map(run).collect()
                },
                |e| {
                    let words = Words::new(element, bytes, 1);
                    let zero = words.pack(&e, &[zero_of(&e, element)]);
                    let policy = policy(&e, cache, &[]);
                    let elements = p.elements(&e, &h);
                    // Unpacked only when all are under way.
                    let loaded: Vec<Vec<V>> = elements
                        .iter()
                        .map(|from| {
                            let how = How {
                                predicate: Some(from.inside),
                                policy,
                            };
                            load(&e, &words, bytes, from.at, how, &zero)
                        })
                        .collect();
                    loaded.into_iter().flat_map(|w| words.unpack(&e, &w)).collect()
                },
            )
        } else {
            let parts = shared_parts(&e, memory, operands.one(0), &indices, &h);
            parts
                .pointers
                .iter()
                .flat_map(|p| e.load_many(*p, parts.run, element, parts.bytes))
                .collect()
        };
        rewriter.replace_multiple(op.op(), &[values]);
        Ok(())
    });
}

pub(super) fn zero_of<'c>(e: &Emit<'c, '_>, element: Type<'c>) -> V<'c> {
    if element.is_float_type() {
        e.constant_float(0.0, element)
    } else {
        e.constant(0, element)
    }
}
