//! Ops on tiles whose layout passes chose, register by register: splats, iotas, changes of layout.
use super::{Matched, fragment::zero_of, group, lower, refuse, through_shared::through_shared};
use crate::layout_conversion::{Plan, ends, plan};
use girih_dialects::{
    nvvm::{Emit, V},
    tile::{
        distribution::{Distribution, flattened, unflattened},
        layouts::{elements_per_thread, layout_of},
        ops::{
            shape::{Broadcast, ExpandDims, Reshape, Transpose},
            value::{ConvertLayout, Iota, Opaque, Splat},
        },
        verify::element_bits,
    },
};
use girih_ir::{
    conversion::{Conversion, ConversionRewriter, Operands},
    op::OpView,
    prelude::*,
};
use std::rc::Rc;

/// A thread's coordinates in a tile: what its number gives, to be combined with what each register gives.
pub struct Coordinates<'c> {
    /// The tile's distribution.
    pub distribution: Rc<Distribution>,
    /// The thread's part for each axis, i32.
    pub thread: Vec<V<'c>>,
    disjoint: Vec<bool>,
}

impl<'c> Coordinates<'c> {
    /// Those of the running thread.
    pub fn new(e: &Emit<'c, '_>, distribution: impl Into<Rc<Distribution>>) -> Self {
        let distribution = distribution.into();
        let rank = distribution.shape.len();
        let id = e.sreg("tid.x");
        let thread = (0..rank)
            .map(|axis| thread_part(e, id, &distribution.threads, axis))
            .collect();
        let disjoint = (0..rank).map(|axis| distribution.is_disjoint(axis)).collect();
        Coordinates {
            distribution,
            thread,
            disjoint,
        }
    }
    /// Coordinate along `axis` of what `register` holds, i32.
    pub fn at(&self, e: &Emit<'c, '_>, register: usize, axis: usize) -> V<'c> {
        let own = i64::from(self.distribution.registers[register][axis]);
        match self.disjoint[axis] {
            _ if own == 0 => self.thread[axis],
            true => e.add(self.thread[axis], e.c32(own)),
            false => e.xor(self.thread[axis], e.c32(own)),
        }
    }
    /// Whether coordinates are the sum of the thread's part and the register's.
    pub fn is_sum(&self) -> bool {
        self.disjoint.iter().all(|d| *d)
    }
}

/// What the bits of the thread's number give along one axis. Neighbouring bits that go to neighbouring bits go together.
pub fn thread_part<'c>(e: &Emit<'c, '_>, id: V<'c>, images: &[Vec<u32>], axis: usize) -> V<'c> {
    let mut sum: Option<V> = None;
    let mut bit = 0;
    while bit < images.len() {
        let image = images[bit][axis];
        let mut width = 1;
        while image.is_power_of_two() && bit + width < images.len() && images[bit + width][axis] == image << width {
            width += 1;
        }
        if image != 0 {
            let field = e.mask(if bit == 0 { id } else { e.shr(id, bit as i64) }, (1 << width) - 1);
            let term = match image {
                1 => field,
                _ if image.is_power_of_two() => e.shl(field, i64::from(image.trailing_zeros())),
                _ => e.mul(field, e.c32(i64::from(image))),
            };
            sum = Some(sum.map_or(term, |s| e.xor(s, term)));
        }
        bit += width;
    }
    sum.unwrap_or_else(|| e.c32(0))
}

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, Splat, |op, operands, rewriter| {
        let Some(n) = elements_per_thread(op.result().r#type()) else {
            return Err(rewriter.no_match(op.op(), "no layout"));
        };
        rewriter.replace_multiple(op.op(), &[vec![operands.one(0); n]]);
        Ok(())
    });
    c.pattern("tensor.splat", 1, |op, operands, rewriter| -> Matched {
        let Some(n) = elements_per_thread(op.result0().r#type()) else {
            return Err(rewriter.no_match(op, "no layout"));
        };
        rewriter.replace_multiple(op, &[vec![operands.one(0); n]]);
        Ok(())
    });
    lower!(c, Iota, |op, _, rewriter| {
        let t = op.result().r#type();
        let (Some(d), Some(element)) = (Distribution::of(t), t.element_type()) else {
            return refuse(
                op.op(),
                format!("counts through {t}; only tiles that tile-assign-layouts lays out can be counted through"),
            );
        };
        let e = Emit::new(rewriter, op.op().location());
        let at = Coordinates::new(&e, d);
        let axis = op.axis() as usize;
        let values = (0..at.distribution.registers.len())
            .map(|r| {
                let c = at.at(&e, r, axis);
                match element.bit_width() {
                    None => e.to_index(c),
                    Some(64) => e.zext(c, 64),
                    bits => e.to_int(c, bits.unwrap_or(32)),
                }
            })
            .collect();
        rewriter.replace_multiple(op.op(), &[values]);
        Ok(())
    });
    lower!(c, ExpandDims, |op, operands, rewriter| {
        let axis = op.axis() as usize;
        let place = move |at: &[u32]| {
            let mut at = at.to_vec();
            at.remove(axis);
            at
        };
        moved(op.op(), operands, rewriter, &place)
    });
    lower!(c, Broadcast, |op, operands, rewriter| {
        let shape = op.source().r#type().shape().unwrap_or_default();
        let place = move |at: &[u32]| {
            at.iter()
                .zip(&shape)
                .map(|(c, size)| if *size == 1 { 0 } else { *c })
                .collect()
        };
        moved(op.op(), operands, rewriter, &place)
    });
    lower!(c, Transpose, |op, operands, rewriter| {
        let order = op.order();
        let place = move |at: &[u32]| {
            let mut source = vec![0; at.len()];
            order.iter().zip(at).for_each(|(axis, c)| source[*axis as usize] = *c);
            source
        };
        moved(op.op(), operands, rewriter, &place)
    });
    lower!(c, Reshape, |op, operands, rewriter| {
        let shape = |v: Value<'_, '_>| v.r#type().shape().unwrap_or_default();
        let (from, to) = (shape(op.source()), shape(op.result()));
        let place = move |at: &[u32]| unflattened(flattened(at, &to), &from);
        moved(op.op(), operands, rewriter, &place)
    });
    c.pattern("tensor.extract", 1, |op, operands, rewriter| -> Matched {
        if operands.is_empty() || operands.get(0).len() != 1 || operands.len() != 1 {
            return refuse(
                op,
                "takes one element of a tile by its place; only a tile without axes gives its number",
            );
        }
        rewriter.replace(op, &[operands.one(0)]);
        Ok(())
    });
    lower!(c, Opaque, |op, operands, rewriter| {
        let Some(element) = op.source().r#type().element_type() else {
            return Err(rewriter.no_match(op.op(), "no elements"));
        };
        let e = Emit::new(rewriter, op.op().location());
        let bits = e.storage_type(element).bit_width().unwrap_or(64);
        let together = (32 / bits).max(1) as usize;
        let hidden: Vec<V> = operands
            .get(0)
            .chunks(together)
            .flat_map(|chunk| hide(&e, chunk, element, bits))
            .collect();
        rewriter.replace_multiple(op.op(), &[hidden]);
        Ok(())
    });
    lower!(c, ConvertLayout, |op, operands, rewriter| {
        let t = op.source().r#type();
        let (Some((from, to)), Some(element)) = (ends(op), t.element_type()) else {
            return Err(rewriter.no_match(op.op(), "no layout"));
        };
        let bytes = element_bits(t).unwrap_or(8) / 8;
        let plan = match plan(&from, &to, bytes) {
            Ok(plan) => plan,
            Err(error) => return refuse(op.op(), format!("cannot be done: {error}")),
        };
        let e = Emit::new(rewriter, op.op().location());
        // Of a tile that was padded warpgroups hold the first columns, and so the first registers.
        let mut values = operands.get(0).to_vec();
        if values.len() < from.registers.len() {
            values.resize(from.registers.len(), zero_of(&e, element));
        }
        let values = &values[..];
        let mut moved: Vec<V> = match plan {
            Plan::Registers(registers) => registers.into_iter().map(|r| values[r]).collect(),
            Plan::Lanes { registers, lanes } => {
                let images: Vec<Vec<u32>> = lanes.into_iter().map(|image| vec![image]).collect();
                let lane = thread_part(&e, e.sreg("tid.x"), &images, 0);
                registers
                    .into_iter()
                    .map(|(r, constant)| {
                        let from = if constant == 0 {
                            lane
                        } else {
                            e.xor(lane, e.c32(i64::from(constant)))
                        };
                        shuffle(&e, values[r], from, "idx")
                    })
                    .collect()
            }
            Plan::Shared(trip) if op.within_warps() && !trip.within_warps => {
                return refuse(op.op(), "says within_warps, but goes between warps; leave it out");
            }
            Plan::Shared(trip) => {
                let scratch = group(op.op(), ConvertLayout::DEF, operands, "scratch");
                let Some(scratch) = scratch.first() else {
                    return refuse(
                        op.op(),
                        "moves between warps, which needs scratch; run tile-allocate-scratch first",
                    );
                };
                through_shared(&e, op.op(), values, element, bytes, &from, &to, &trip, *scratch)
            }
        };
        if let Some(held) =
            elements_per_thread(op.result().r#type()).filter(|_| layout_of(op.result().r#type()).is_some())
        {
            moved.truncate(held);
        }
        rewriter.replace_multiple(op.op(), &[moved]);
        Ok(())
    });
}

/// The numbers of one register through an empty statement of assembly, which LLVM does not look into.
fn hide<'c>(e: &Emit<'c, '_>, numbers: &[V<'c>], element: Type<'c>, bits: u32) -> Vec<V<'c>> {
    let (word, constraint) = match bits * numbers.len() as u32 {
        64 => (e.int(64), "l"),
        32 => (e.int(32), "r"),
        // A register that they do not fill has nothing to save.
        _ => return numbers.to_vec(),
    };
    let stored: Vec<V> = numbers.iter().map(|v| e.to_storage(*v)).collect();
    let stored_type = stored[0].r#type();
    let packed = match stored[..] {
        [one] if stored_type == word => one,
        [one] => e.bitcast(one, word),
        _ => e.bitcast(e.pack(&stored), word),
    };
    let hidden = e.inline_ptx("", &[(constraint, word)], &[packed], &[], false)[0];
    let parts = match numbers.len() {
        1 if stored_type == word => vec![hidden],
        1 => vec![e.bitcast(hidden, stored_type)],
        n => e.unpack(e.bitcast(hidden, e.vector(n as i64, stored_type)), n, stored_type),
    };
    parts.into_iter().map(|v| e.from_storage(v, element)).collect()
}

/// An op whose result holds in each register what a register of the same thread held: `place` gives an element's
/// coordinates in the source.
fn moved<'c>(
    op: OperationRef<'c, 'c>,
    operands: &Operands<'c, '_>,
    rewriter: &ConversionRewriter<'c>,
    place: &dyn Fn(&[u32]) -> Vec<u32>,
) -> Matched {
    let (Some(from), Some(to)) = (
        op.operand_values().first().and_then(|v| Distribution::of(v.r#type())),
        Distribution::of(op.result0().r#type()),
    ) else {
        return Err(rewriter.no_match(op, "no layout"));
    };
    let same_threads =
        from.threads.len() == to.threads.len() && from.threads.iter().zip(&to.threads).all(|(f, t)| *f == place(t));
    let registers: Option<Vec<usize>> = to
        .registers
        .iter()
        .map(|at| from.registers.iter().position(|f| *f == place(at)))
        .collect();
    let (true, Some(registers)) = (same_threads, registers) else {
        let m = format!(
            "takes {} to {}, whose threads hold other elements; convert one of them with tile.convert_layout",
            op.operand_values()[0].r#type(),
            op.result0().r#type()
        );
        return refuse(op, m);
    };
    let values = operands.get(0);
    rewriter.replace_multiple(op, &[registers.into_iter().map(|r| values[r]).collect::<Vec<_>>()]);
    Ok(())
}

/// What lane `lane ^ mask` has.
pub fn shuffle_xor<'c>(e: &Emit<'c, '_>, v: V<'c>, mask: i64) -> V<'c> {
    shuffle(e, v, e.c32(mask), "bfly")
}

/// `shfl.sync` of a number of any width.
pub fn shuffle<'c>(e: &Emit<'c, '_>, v: V<'c>, lane: V<'c>, kind: &str) -> V<'c> {
    let t = v.r#type();
    let one = |word: V<'c>| {
        let kind = e.attr(&format!("#nvvm<shfl_kind {kind}>"));
        e.value(
            "nvvm.shfl.sync",
            &[e.c32(-1), word, lane, e.c32(31)],
            word.r#type(),
            &[("kind", kind)],
        )
    };
    if t.is_int(32) || t.is_float_type() && t.bit_width() == Some(32) {
        return one(v);
    }
    let stored = e.to_storage(v);
    let stored_type = stored.r#type();
    let bits = stored_type.bit_width().unwrap_or(64);
    let raw = if stored_type.is_float_type() {
        e.bitcast(stored, e.int(bits))
    } else {
        stored
    };
    let raw = match bits {
        64 => {
            let halves = e.unpack(e.bitcast(raw, e.vector(2, e.i32_type())), 2, e.i32_type());
            let halves: Vec<V> = halves.into_iter().map(one).collect();
            e.bitcast(e.pack(&halves), e.int(64))
        }
        32 => one(raw),
        _ => e.to_int(one(e.zext(raw, 32)), bits),
    };
    let stored = if stored_type.is_float_type() {
        e.bitcast(raw, stored_type)
    } else {
        raw
    };
    e.from_storage(stored, t)
}
