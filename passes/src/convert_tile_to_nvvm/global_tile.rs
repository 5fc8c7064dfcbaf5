//! Tiles whose layout passes chose, to and from global memory.
//!
//! Each access moves `vector` neighbours of a thread and is predicated on lying inside the memref; a vector is inside or
//! outside as a whole, which `tile-vectorize-accesses` has seen to. All loads of a tile are issued before any is used.
use super::{distributed::Coordinates, group, lower, memory::Global};
use girih_dialects::{
    nvvm::{AsmOperand, Cmp, Emit, V},
    tile::{
        distribution::Distribution,
        ops::{
            memory::{Load, Store},
            value::IsAligned,
        },
        verify::element_bits,
    },
};
use girih_ir::{conversion::Conversion, ext::DYNAMIC, op::OpView, prelude::*};

/// Where a tile lies in global memory, and which part of it is inside.
struct Place<'c> {
    memory: Global<'c>,
    coordinates: Coordinates<'c>,
    /// Address of the thread's element at register 0 where coordinates are sums.
    thread_pointer: Option<V<'c>>,
    /// Address of the tile's first element.
    pointer: V<'c>,
    /// For each axis the coordinates inside, `low..high` as i32; `None` where all are.
    inside: Vec<Option<(Option<V<'c>>, V<'c>)>>,
}

/// Whether an index is known not to be negative.
fn is_nonnegative(v: Value<'_, '_>) -> bool {
    if let Some(c) = v.constant_int() {
        return c >= 0;
    }
    let Some(op) = v.defining_op() else {
        return is_counter(v);
    };
    let operands = op.operand_values();
    match op.full_name() {
        "arith.index_castui" | "arith.extui" | "memref.dim" | "tile.block_id" | "tile.grid_dim" => true,
        "arith.muli" | "arith.addi" | "arith.minsi" | "arith.divsi" | "arith.remsi" | "arith.index_cast" => {
            operands.iter().all(|o| is_nonnegative(*o))
        }
        "arith.divui" | "arith.ceildivui" | "arith.remui" | "arith.minui" | "arith.shrui" => {
            operands.iter().all(|o| is_nonnegative(*o))
        }
        "arith.maxsi" => operands.iter().any(|o| is_nonnegative(*o)),
        _ => false,
    }
}

/// Whether a value counts a loop up from a number that is not negative.
fn is_counter(v: Value<'_, '_>) -> bool {
    let Some((op, 0)) = v.argument_of() else { return false };
    op.full_name() == "scf.for" && op.operand_values().first().is_some_and(|first| is_nonnegative(*first))
}

impl<'c> Place<'c> {
    fn new(e: &Emit<'c, '_>, t: Type<'c>, memory: &[V<'c>], indices: &[V<'c>], d: Distribution) -> Self {
        let sizes = t.shape().unwrap_or_default();
        let shape = d.shape.clone();
        let memory = Global::new(e, t, memory);
        let at: Vec<V> = indices.iter().map(|i| e.to_int(*i, 64)).collect();
        let inside = (0..shape.len())
            .map(|axis| {
                let (tile, first) = (shape[axis], indices[axis].constant_int());
                let fits = |c: i64| c >= 0 && sizes[axis] != DYNAMIC && c.saturating_add(tile) <= sizes[axis];
                if first.is_some_and(fits) {
                    return None;
                }
                // Both ends fit the tile, so that 32 bits hold them.
                let clamp = |v: V<'c>| {
                    let zero = e.c64(0);
                    let v = e.value("arith.maxsi", &[v, zero], e.i64_type(), &[]);
                    let v = e.value("arith.minsi", &[v, e.c64(tile)], e.i64_type(), &[]);
                    e.to_int(v, 32)
                };
                let high = clamp(e.sub(memory.sizes[axis], at[axis]));
                let low = (!is_nonnegative(indices[axis])).then(|| clamp(e.sub(e.c64(0), at[axis])));
                Some((low, high))
            })
            .collect();
        let pointer = memory.element(e, &at);
        let coordinates = Coordinates::new(e, d);
        let thread_pointer = coordinates.is_sum().then(|| {
            let thread: Vec<V> = coordinates.thread.iter().map(|c| e.zext(*c, 64)).collect();
            Global {
                pointer,
                ..memory.clone()
            }
            .element(e, &thread)
        });
        Place {
            memory,
            coordinates,
            thread_pointer,
            pointer,
            inside,
        }
    }

    /// Address of what a register holds.
    fn address(&self, e: &Emit<'c, '_>, register: usize) -> V<'c> {
        let rank = self.inside.len();
        let Some(thread) = self.thread_pointer else {
            let at: Vec<V> = (0..rank)
                .map(|a| e.zext(self.coordinates.at(e, register, a), 64))
                .collect();
            return Global {
                pointer: self.pointer,
                ..self.memory.clone()
            }
            .element(e, &at);
        };
        let own = &self.coordinates.distribution.registers[register];
        let (mut pointer, mut known) = (thread, 0);
        for (axis, c) in own.iter().enumerate().filter(|(_, c)| **c != 0) {
            let stride = self.memory.strides[axis];
            match stride.constant_int() {
                Some(s) => known += i64::from(*c) * s,
                None => {
                    let bytes = e.mul(stride, e.c64(i64::from(*c) * self.memory.element_bytes as i64));
                    pointer = e.byte_offset(pointer, bytes);
                }
            }
        }
        e.byte_offset_by(pointer, known * self.memory.element_bytes as i64)
    }

    /// Whether what a register holds is inside; `None`: always.
    fn predicate(&self, e: &Emit<'c, '_>, register: usize) -> Option<V<'c>> {
        let mut all: Option<V> = None;
        for (axis, range) in self.inside.iter().enumerate() {
            let Some((low, high)) = range else { continue };
            let c = self.coordinates.at(e, register, axis);
            let mut test = e.cmp(Cmp::Slt, c, *high);
            if let Some(low) = low {
                test = e.and(test, e.cmp(Cmp::Sge, c, *low));
            }
            all = Some(all.map_or(test, |a| e.and(a, test)));
        }
        all
    }
}

/// Registers of PTX that one access moves.
struct Words<'c> {
    count: usize,
    bits: u32,
    /// LLVM's constraint.
    constraint: &'static str,
    element: Type<'c>,
    elements: usize,
}

impl<'c> Words<'c> {
    fn new(element: Type<'c>, element_bytes: u64, elements: usize) -> Self {
        let bytes = element_bytes * elements as u64;
        let (bits, constraint) = match (element_bytes, bytes) {
            (8, _) => (64, "l"),
            (_, 4..) => (32, "r"),
            _ => (16, "h"),
        };
        let count = (bytes * 8).div_ceil(u64::from(bits)) as usize;
        Words {
            count,
            bits,
            constraint,
            element,
            elements,
        }
    }
    /// `.v4.b32`.
    fn suffix(&self, bytes: u64) -> String {
        let vector = if self.count > 1 {
            format!(".v{}", self.count)
        } else {
            String::new()
        };
        format!("{vector}.b{}", if bytes == 1 { 8 } else { self.bits })
    }
    /// Elements as words.
    fn pack(&self, e: &Emit<'c, '_>, elements: &[V<'c>]) -> Vec<V<'c>> {
        let stored: Vec<V> = elements.iter().map(|v| e.to_storage(*v)).collect();
        let word = e.int(self.bits);
        stored
            .chunks(self.elements / self.count)
            .map(|part| match part {
                [one] => {
                    let bits = one.r#type().bit_width().unwrap_or(64);
                    let raw = if one.r#type().is_float_type() {
                        e.bitcast(*one, e.int(bits))
                    } else {
                        *one
                    };
                    if bits < self.bits { e.zext(raw, self.bits) } else { raw }
                }
                many => e.bitcast(e.pack(many), word),
            })
            .collect()
    }
    /// Words as elements.
    fn unpack(&self, e: &Emit<'c, '_>, words: &[V<'c>]) -> Vec<V<'c>> {
        let stored = e.storage_type(self.element);
        let each = self.elements / self.count;
        words
            .iter()
            .flat_map(|w| {
                if each > 1 {
                    return e.unpack(e.bitcast(*w, e.vector(each as i64, stored)), each, stored);
                }
                let bits = stored.bit_width().unwrap_or(64);
                let raw = if bits < self.bits { e.to_int(*w, bits) } else { *w };
                vec![if stored.is_float_type() {
                    e.bitcast(raw, stored)
                } else {
                    raw
                }]
            })
            .map(|v| e.from_storage(v, self.element))
            .collect()
    }
}

fn register_list(count: usize, from: usize) -> String {
    let names: Vec<_> = (from..from + count).map(|i| format!("${i}")).collect();
    if count == 1 {
        names.concat()
    } else {
        format!("{{{}}}", names.join(", "))
    }
}

/// `@predicate ld.global`, with what the registers hold where the predicate is false.
fn load<'c>(
    e: &Emit<'c, '_>,
    w: &Words<'c>,
    bytes: u64,
    pointer: V<'c>,
    predicate: V<'c>,
    otherwise: &[V<'c>],
) -> Vec<V<'c>> {
    let n = w.count;
    // Outputs are numbered first, then the inputs that start in them.
    let text = format!(
        "@${} ld.global{} {}, [${}];",
        2 * n + 1,
        w.suffix(bytes),
        register_list(n, 0),
        2 * n
    );
    let outputs = vec![(w.constraint, e.int(w.bits)); n];
    let inputs = [
        AsmOperand {
            constraint: "l",
            value: pointer,
        },
        AsmOperand {
            constraint: "b",
            value: predicate,
        },
    ];
    e.inline_ptx(&text, &outputs, otherwise, &inputs, false)
}

fn store<'c>(e: &Emit<'c, '_>, w: &Words<'c>, bytes: u64, pointer: V<'c>, predicate: V<'c>, words: &[V<'c>]) {
    let n = w.count;
    let text = format!(
        "@${} st.global{} [${}], {};",
        n + 1,
        w.suffix(bytes),
        n,
        register_list(n, 0)
    );
    let mut inputs: Vec<_> = words
        .iter()
        .map(|value| AsmOperand {
            constraint: w.constraint,
            value: *value,
        })
        .collect();
    inputs.push(AsmOperand {
        constraint: "l",
        value: pointer,
    });
    inputs.push(AsmOperand {
        constraint: "b",
        value: predicate,
    });
    e.inline_ptx(&text, &[], &[], &inputs, true);
}

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, IsAligned, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let memory = Global::new(&e, op.memory().r#type(), operands.get(0));
        let (axis, by) = (op.axis() as usize, op.by());
        let address = e.ptr_to_int(memory.pointer, 64);
        let mut all = memory.sizes[axis];
        for stride in memory
            .strides
            .iter()
            .enumerate()
            .filter(|(a, _)| *a != axis)
            .map(|(_, s)| *s)
        {
            all = e.or(all, stride);
        }
        let all = e.or(
            e.mask(all, by - 1),
            e.mask(address, by * memory.element_bytes as i64 - 1),
        );
        rewriter.replace(op.op(), &[e.cmp(Cmp::Eq, all, e.c64(0))]);
        Ok(())
    });
    lower!(c, Load, |op, operands, rewriter| {
        let (tile, memory) = (op.result().r#type(), op.source().r#type());
        let (Some(d), Some(element)) = (Distribution::of(tile), tile.element_type()) else {
            return Err(rewriter.no_match(op.op(), "no layout"));
        };
        let e = Emit::new(rewriter, op.op().location());
        let element_bytes = element_bits(tile).unwrap_or(8) / 8;
        let vector = op.vector().unwrap_or(1) as usize;
        let bytes = element_bytes * vector as u64;
        let indices = group(op.op(), Load::DEF, operands, "indices");
        let registers = d.registers.len();
        let place = Place::new(&e, memory, operands.get(0), &indices, d);
        let words = Words::new(element, element_bytes, vector);
        let pad = match op.pad() {
            Some(pad) => e.value("arith.constant", &[], element, &[("value", pad)]),
            None => super::fragment::zero_of(&e, element),
        };
        let mut otherwise: Option<Vec<V>> = None;
        let loaded: Vec<Vec<V>> = (0..registers)
            .step_by(vector)
            .map(|r| {
                let pointer = place.address(&e, r);
                match place.predicate(&e, r) {
                    None => e.load_many(pointer, vector, element, bytes),
                    Some(p) => {
                        let otherwise = otherwise.get_or_insert_with(|| words.pack(&e, &vec![pad; vector]));
                        load(&e, &words, bytes, pointer, p, otherwise)
                    }
                }
            })
            .collect();
        // Unpacked only now, so that every load is under way before the first is waited for.
        let guarded = otherwise.is_some();
        let values = loaded
            .into_iter()
            .flat_map(|w| if guarded { words.unpack(&e, &w) } else { w })
            .collect();
        rewriter.replace_multiple(op.op(), &[values]);
        Ok(())
    });
    lower!(c, Store, |op, operands, rewriter| {
        let (tile, memory) = (op.value().r#type(), op.destination().r#type());
        let (Some(d), Some(element)) = (Distribution::of(tile), tile.element_type()) else {
            return Err(rewriter.no_match(op.op(), "no layout"));
        };
        let e = Emit::new(rewriter, op.op().location());
        let element_bytes = element_bits(tile).unwrap_or(8) / 8;
        let vector = op.vector().unwrap_or(1) as usize;
        let bytes = element_bytes * vector as u64;
        let indices = group(op.op(), Store::DEF, operands, "indices");
        let copies = d.copy_bits() as i64;
        let place = Place::new(&e, memory, operands.get(1), &indices, d);
        let words = Words::new(element, element_bytes, vector);
        let writes = (copies != 0).then(|| e.cmp(Cmp::Eq, e.mask(e.sreg("tid.x"), copies), e.c32(0)));
        for (i, values) in operands.get(0).chunks(vector).enumerate() {
            let pointer = place.address(&e, i * vector);
            let inside = place.predicate(&e, i * vector);
            let predicate = match (inside, writes) {
                (Some(a), Some(b)) => Some(e.and(a, b)),
                (a, b) => a.or(b),
            };
            match predicate {
                None => e.store(values, pointer, bytes),
                Some(p) => store(&e, &words, bytes, pointer, p, &words.pack(&e, values)),
            }
        }
        rewriter.erase(op.op());
        Ok(())
    });
}
