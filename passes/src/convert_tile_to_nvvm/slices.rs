//! Parts of tiles: choices of registers where threads hold what they get, else through shared memory.
//!
//! | op | written to the scratch | read from it |
//! |---|---|---|
//! | `tile.extract_slice` | the tile | the elements of the part |
//! | `tile.insert_slice` | the part | for each element of the tile that of the part at its place, if there is one |
//! | `tile.concat` | all tiles, each at its place | the result |
//!
//! In the scratch a tile lies in the order of its axes, that along which threads hold neighbours last. Where a start is known
//! only at run time, places past the edge are folded inside, and what is read there is not taken.
use super::{
    Matched,
    distributed::Coordinates,
    fragment::zero_of,
    group, lower, refuse,
    route::{Held, element_pointer, once, together},
    sync::meet,
};
use crate::expand_mma::are_columns;
use girih_dialects::{
    nvvm::{Cmp, Emit, V},
    tile::{
        distribution::Distribution,
        layouts::{element_offset, elements_per_thread, layout_of},
        ops::{
            memory::VECTOR_BYTES,
            slice::{Concat, ExtractSlice, InsertSlice, Slice, Start},
        },
        verify::element_bits,
    },
};
use girih_ir::{conversion::Conversion, op::OpView, prelude::*};

/// Bytes of scratch that an op on parts needs; 0 for other ops, and where no data goes between threads.
pub fn slice_bytes(op: OperationRef<'_, '_>) -> u64 {
    let (whole, moves) = if let Some(e) = op.cast::<ExtractSlice>() {
        (e.source(), chosen(op, e.result(), e.source()).is_none())
    } else if let Some(i) = op.cast::<InsertSlice>() {
        (i.source(), chosen(op, i.source(), i.result()).is_none())
    } else if let Some(c) = op.cast::<Concat>() {
        (c.result(), joined(c).is_none())
    } else {
        return 0;
    };
    let t = whole.r#type();
    match Distribution::of(t).filter(|_| moves) {
        Some(d) => memory_size(&d.shape) * bytes_of(t),
        None => 0,
    }
}

/// Registers of the whole that an extracted or inserted part has.
fn chosen<'c>(op: OperationRef<'c, 'c>, part: Value<'c, 'c>, whole: Value<'c, 'c>) -> Option<Vec<usize>> {
    let (part, whole) = (Distribution::of(part.r#type())?, Distribution::of(whole.r#type())?);
    Slice::of(op)?.registers(&part, &whole)
}

/// For each register of the result the number of the tile and its register.
fn joined<'c>(op: Concat<'c, 'c>) -> Option<Vec<(usize, usize)>> {
    let whole = Distribution::of(op.result().r#type())?;
    let mut found = vec![None; whole.registers.len()];
    for (n, (source, slice)) in op.parts().into_iter().enumerate() {
        let part = Distribution::of(source.r#type())?;
        let registers = slice.registers(&part, &whole)?;
        registers
            .into_iter()
            .enumerate()
            .for_each(|(r, to)| found[to] = Some((n, r)));
    }
    found.into_iter().collect()
}

pub(super) fn bytes_of(t: Type<'_>) -> u64 {
    element_bits(t).unwrap_or(8) / 8
}

/// Elements that a tile takes up in memory: places along each axis are bits.
pub(super) fn memory_size(shape: &[i64]) -> u64 {
    shape.iter().map(|s| s.unsigned_abs().next_power_of_two()).product()
}

/// Where a tile lies in shared memory: elements from one coordinate to the next along each axis.
pub(super) struct Order {
    strides: Vec<u32>,
    /// The axis whose stride is 1, if there are axes.
    fast: Option<usize>,
}

impl Order {
    /// That in which threads that hold a tile as `d` reach most at once.
    pub(super) fn of(d: &Distribution) -> Order {
        let mut axes: Vec<usize> = (0..d.shape.len()).rev().collect();
        axes.sort_by_key(|a| std::cmp::Reverse(d.run(*a)));
        let mut strides = vec![1; axes.len()];
        let mut stride = 1;
        for axis in &axes {
            strides[*axis] = stride;
            stride *= (d.shape[*axis] as u32).next_power_of_two();
        }
        let fast = axes.first().copied();
        Order { strides, fast }
    }
    fn place(&self, at: &[u32]) -> u32 {
        at.iter().zip(&self.strides).map(|(c, s)| c * s).sum()
    }
    fn held<'c>(&self, e: &Emit<'c, '_>, d: &Distribution) -> (Held<'c>, Vec<u32>) {
        let registers: Vec<u32> = d.registers.iter().map(|at| self.place(at)).collect();
        let threads = d.threads.iter().map(|image| vec![self.place(image)]).collect();
        (Held::of(e, threads, registers.clone()), registers)
    }
    /// Neighbours that one access moves, where the tile starts at `starts`.
    fn run(&self, d: &Distribution, starts: &[i64], bytes: u64) -> usize {
        let Some(fast) = self.fast else { return 1 };
        let aligned = match starts[fast] {
            0 => u64::MAX,
            n => 1 << n.trailing_zeros(),
        };
        (d.run(fast) as u64).min(VECTOR_BYTES / bytes).min(aligned).max(1) as usize
    }
}

/// For each register of some columns of a fragment the register of the whole.
fn columns(op: ExtractSlice<'_, '_>) -> Option<Vec<usize>> {
    let offsets = |t: Type<'_>| -> Option<Vec<(u32, u32)>> {
        let (fragment, bits) = (layout_of(t)?.fragment(), element_bits(t)? as u32);
        let count = elements_per_thread(t)?;
        Some((0..count).map(|i| element_offset(fragment, bits, i)).collect())
    };
    let (from, to) = (offsets(op.source().r#type())?, offsets(op.result().r#type())?);
    let at = op.at();
    let (row, column) = (at.first().copied()? as u32, at.get(1).copied()? as u32);
    to.iter()
        .map(|(r, c)| from.iter().position(|f| *f == (r + row, c + column)))
        .collect()
}

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, ExtractSlice, |op, operands, rewriter| {
        let values = operands.get(0);
        if layout_of(op.source().r#type()).is_some() {
            let Some(registers) = Some(op).filter(|part| are_columns(*part)).and_then(columns) else {
                let (part, whole) = (op.result().r#type(), op.source().r#type());
                let m = format!(
                    "takes {part} of {whole}, but what a warpgroup holds is cut into known columns side by side; change its layout \
                     with tile.convert_layout first"
                );
                return refuse(op.op(), m);
            };
            rewriter.replace_multiple(op.op(), &[registers.into_iter().map(|r| values[r]).collect::<Vec<_>>()]);
            return Ok(());
        }
        if let Some(registers) = chosen(op.op(), op.result(), op.source()) {
            rewriter.replace_multiple(op.op(), &[registers.into_iter().map(|r| values[r]).collect::<Vec<_>>()]);
            return Ok(());
        }
        let (t, to) = (op.source().r#type(), op.result().r#type());
        let (Some(whole), Some(part), Some(slice), Some(element)) = (
            Distribution::of(t),
            Distribution::of(to),
            Slice::of(op.op()),
            t.element_type(),
        ) else {
            return Err(rewriter.no_match(op.op(), "no layout"));
        };
        let (scratch, offsets) = (
            group(op.op(), ExtractSlice::DEF, operands, "scratch"),
            group(op.op(), ExtractSlice::DEF, operands, "offsets"),
        );
        let Some(scratch) = scratch.first() else {
            return needs_scratch(op.op());
        };
        let order = Order::of(&whole);
        let e = Emit::new(rewriter, op.op().location());
        let memory = Memory {
            e: &e,
            base: *scratch,
            element,
            bytes: bytes_of(t),
        };
        memory.write(&order, &whole, values, &vec![0; whole.shape.len()]);
        meet(&e, op.op());
        let starts = starts(&e, &slice, &op.offsets(), &offsets);
        let read = memory.read_part(&order, &part, &slice, &starts);
        rewriter.replace_multiple(op.op(), &[read]);
        Ok(())
    });
    lower!(c, InsertSlice, |op, operands, rewriter| {
        let (values, mut result) = (operands.get(0), operands.get(1).to_vec());
        if let Some(registers) = chosen(op.op(), op.source(), op.result()) {
            registers.into_iter().zip(values).for_each(|(r, v)| result[r] = *v);
            rewriter.replace_multiple(op.op(), &[result]);
            return Ok(());
        }
        let t = op.source().r#type();
        let (Some(part), Some(whole), Some(slice), Some(element)) = (
            Distribution::of(t),
            Distribution::of(op.result().r#type()),
            Slice::of(op.op()),
            t.element_type(),
        ) else {
            return Err(rewriter.no_match(op.op(), "no layout"));
        };
        let (scratch, offsets) = (
            group(op.op(), InsertSlice::DEF, operands, "scratch"),
            group(op.op(), InsertSlice::DEF, operands, "offsets"),
        );
        let Some(scratch) = scratch.first() else {
            return needs_scratch(op.op());
        };
        let order = Order::of(&part);
        let e = Emit::new(rewriter, op.op().location());
        let memory = Memory {
            e: &e,
            base: *scratch,
            element,
            bytes: bytes_of(t),
        };
        memory.write(&order, &part, values, &vec![0; part.shape.len()]);
        meet(&e, op.op());
        let starts = starts(&e, &slice, &op.offsets(), &offsets);
        memory.read_over(&order, &whole, &slice, &starts, &mut result);
        rewriter.replace_multiple(op.op(), &[result]);
        Ok(())
    });
    lower!(c, Concat, |op, operands, rewriter| {
        if let Some(registers) = joined(op) {
            let values = registers
                .into_iter()
                .map(|(n, r)| operands.get(n)[r])
                .collect::<Vec<_>>();
            rewriter.replace_multiple(op.op(), &[values]);
            return Ok(());
        }
        let t = op.result().r#type();
        let (Some(whole), Some(element)) = (Distribution::of(t), t.element_type()) else {
            return Err(rewriter.no_match(op.op(), "no layout"));
        };
        let scratch = group(op.op(), Concat::DEF, operands, "scratch");
        let Some(scratch) = scratch.first() else {
            return needs_scratch(op.op());
        };
        let order = Order::of(&whole);
        let e = Emit::new(rewriter, op.op().location());
        let memory = Memory {
            e: &e,
            base: *scratch,
            element,
            bytes: bytes_of(t),
        };
        for (n, (source, slice)) in op.parts().into_iter().enumerate() {
            let (Some(part), Some(starts)) = (Distribution::of(source.r#type()), slice.known()) else {
                return Err(rewriter.no_match(op.op(), "no layout"));
            };
            memory.write(&order, &part, operands.get(n), &starts);
        }
        meet(&e, op.op());
        let read = memory.read_all(&order, &whole);
        rewriter.replace_multiple(op.op(), &[read]);
        Ok(())
    });
}

fn needs_scratch(op: OperationRef<'_, '_>) -> Matched {
    refuse(
        op,
        "moves between threads, which needs scratch; run tile-allocate-scratch first",
    )
}

/// Where a slice starts along each axis.
enum Place<'c> {
    /// At a known element, the slice inside.
    Inside(i64),
    /// Somewhere, the slice inside or not: i32.
    Anywhere(V<'c>),
}

/// Starts of a slice, whose op has the indices `given`, `offsets` once lowered. Those far outside are brought to where still
/// nothing is inside, so that 32 bits hold them.
fn starts<'c>(e: &Emit<'c, '_>, slice: &Slice<'_>, given: &[V<'c>], offsets: &[V<'c>]) -> Vec<Place<'c>> {
    // An index that is a constant is a known start.
    let moving = given.iter().zip(offsets).filter(|(v, _)| v.constant_int().is_none());
    let mut offsets = moving.map(|(_, lowered)| lowered);
    let axes = slice
        .starts
        .iter()
        .zip(&slice.steps)
        .zip(slice.part.iter().zip(&slice.whole));
    axes.map(|((start, step), (part, whole))| {
        let reach = step * (part - 1);
        let (low, high) = ((-1 - reach).min(-1), (whole - reach).max(*whole));
        match start {
            Start::Known(n) if [*n, n.saturating_add(reach)].iter().all(|c| (0..*whole).contains(c)) => {
                Place::Inside(*n)
            }
            Start::Known(n) => Place::Anywhere(e.c32((*n).clamp(low, high))),
            Start::Index(_) => {
                let Some(v) = offsets.next() else {
                    return Place::Inside(0);
                };
                let v = e.to_int(*v, 64);
                let v = e.value("arith.maxsi", &[v, e.c64(low)], e.i64_type(), &[]);
                let v = e.value("arith.minsi", &[v, e.c64(high)], e.i64_type(), &[]);
                Place::Anywhere(e.to_int(v, 32))
            }
        }
    })
    .collect()
}

/// A tile in shared memory.
pub(super) struct Memory<'c, 'e, 'b> {
    pub(super) e: &'e Emit<'c, 'b>,
    /// Address of its first element.
    pub(super) base: V<'c>,
    pub(super) element: Type<'c>,
    /// Of an element.
    pub(super) bytes: u64,
}

impl<'c> Memory<'c, '_, '_> {
    /// Writes a tile from element `starts` on. Of threads that hold copies, one does.
    pub(super) fn write(&self, order: &Order, d: &Distribution, values: &[V<'c>], starts: &[i64]) {
        let start: i64 = starts.iter().zip(&order.strides).map(|(n, s)| n * i64::from(*s)).sum();
        let run = order.run(d, starts, self.bytes);
        let (held, registers) = order.held(self.e, d);
        once(self.e, d, |e| {
            for together in together(&registers, run) {
                let pointer = held.pointer(e, self.base, together[0], self.bytes as i64, start);
                let values: Vec<V> = together.iter().map(|r| values[*r]).collect();
                e.store(&values, pointer, self.bytes * values.len() as u64);
            }
        });
    }

    /// What each register has of a tile that lies there as a whole.
    pub(super) fn read_all(&self, order: &Order, d: &Distribution) -> Vec<V<'c>> {
        let (held, registers) = order.held(self.e, d);
        let pointer = |r| held.pointer(self.e, self.base, r, self.bytes as i64, 0);
        self.in_runs(&registers, order.run(d, &vec![0; d.shape.len()], self.bytes), &pointer)
    }

    /// Reads `run` neighbours at once; `places` are those of registers.
    fn in_runs(&self, places: &[u32], run: usize, pointer: &dyn Fn(usize) -> V<'c>) -> Vec<V<'c>> {
        let mut found: Vec<(u32, V)> = vec![];
        for together in together(places, run) {
            let n = together.len();
            let values = self
                .e
                .load_many(pointer(together[0]), n, self.element, self.bytes * n as u64);
            found.extend(together.iter().map(|r| places[*r]).zip(values));
        }
        found.sort_by_key(|(place, _)| *place);
        let at = |place: &u32| found.binary_search_by_key(place, |(p, _)| *p).ok().map(|i| found[i].1);
        places.iter().filter_map(at).collect()
    }

    fn one(&self, place: V<'c>) -> V<'c> {
        let pointer = element_pointer(self.e, self.base, place, self.bytes as i64, 0);
        self.e.load_many(pointer, 1, self.element, self.bytes)[0]
    }

    /// What each register has of a part of a tile that lies there.
    fn read_part(&self, order: &Order, d: &Distribution, slice: &Slice<'_>, starts: &[Place<'c>]) -> Vec<V<'c>> {
        let e = self.e;
        let inside: Option<Vec<i64>> = starts
            .iter()
            .map(|s| match s {
                Place::Inside(n) => Some(*n),
                Place::Anywhere(_) => None,
            })
            .collect();
        let coordinates = Coordinates::new(e, d.clone());
        if let Some(starts) = inside.filter(|_| coordinates.is_sum() && slice.steps.iter().all(|s| *s > 0)) {
            // The thread's place and the register's are added.
            let along = |axis: usize| slice.steps[axis] * i64::from(order.strides[axis]);
            let mut thread = e.c32(0);
            for (axis, c) in coordinates.thread.iter().enumerate() {
                thread = e.add(thread, e.mul(*c, e.c32(along(axis))));
            }
            let place = |at: &[u32]| {
                at.iter()
                    .enumerate()
                    .map(|(a, c)| i64::from(*c) * along(a))
                    .sum::<i64>() as u32
            };
            let places: Vec<u32> = d.registers.iter().map(|at| place(at)).collect();
            let start: i64 = starts.iter().zip(&order.strides).map(|(n, s)| n * i64::from(*s)).sum();
            let run = match order.fast.is_none_or(|fast| slice.steps[fast] == 1) {
                true => order.run(d, &starts, self.bytes),
                false => 1,
            };
            let bytes = self.bytes as i64;
            let pointer =
                |r: usize| element_pointer(e, self.base, thread, bytes, (i64::from(places[r]) + start) * bytes);
            return self.in_runs(&places, run, &pointer);
        }
        let zero = zero_of(e, self.element);
        (0..d.registers.len())
            .map(|r| {
                let (mut place, mut taken) = (e.c32(0), None);
                for (axis, start) in starts.iter().enumerate() {
                    let c = e.mul(coordinates.at(e, r, axis), e.c32(slice.steps[axis]));
                    let c = match start {
                        Place::Inside(n) => e.add(c, e.c32(*n)),
                        Place::Anywhere(start) => {
                            let c = e.add(c, *start);
                            both(e, &mut taken, e.cmp(Cmp::Ult, c, e.c32(slice.whole[axis])));
                            folded(e, c, slice.whole[axis])
                        }
                    };
                    place = e.add(place, e.mul(c, e.c32(i64::from(order.strides[axis]))));
                }
                let read = self.one(place);
                taken.map_or(read, |t| e.select(t, read, zero))
            })
            .collect()
    }

    /// Puts a part that lies there over what registers have of a tile.
    fn read_over(
        &self,
        order: &Order,
        d: &Distribution,
        slice: &Slice<'_>,
        starts: &[Place<'c>],
        result: &mut [V<'c>],
    ) {
        let e = self.e;
        let coordinates = Coordinates::new(e, d.clone());
        for (r, own) in result.iter_mut().enumerate() {
            let (mut place, mut taken, mut is_outside) = (e.c32(0), None, false);
            for (axis, start) in starts.iter().enumerate() {
                let (step, size) = (slice.steps[axis], slice.part[axis]);
                if let (Place::Inside(0), 1) = (start, step)
                    && size == slice.whole[axis]
                {
                    let c = coordinates.at(e, r, axis);
                    place = e.add(place, e.mul(c, e.c32(i64::from(order.strides[axis]))));
                    continue;
                }
                // Where threads do not differ, it is known which registers the part has.
                if let Place::Inside(start) = start
                    && d.threads.iter().all(|image| image[axis] == 0)
                {
                    let c = i64::from(d.registers[r][axis]) - start;
                    if c % step == 0 && (0..size).contains(&(c / step)) {
                        place = e.add(place, e.c32(c / step * i64::from(order.strides[axis])));
                    } else {
                        is_outside = true;
                    }
                    continue;
                }
                let start = match start {
                    Place::Inside(n) => e.c32(*n),
                    Place::Anywhere(v) => *v,
                };
                let c = coordinates.at(e, r, axis);
                let mut c = if step > 0 { e.sub(c, start) } else { e.sub(start, c) };
                let by = step.abs();
                if by > 1 {
                    both(e, &mut taken, e.cmp(Cmp::Eq, e.rem_u(c, e.c32(by)), e.c32(0)));
                    c = e.div_u(c, e.c32(by));
                }
                // Unsigned, so that what lies before the start is outside too.
                both(e, &mut taken, e.cmp(Cmp::Ult, c, e.c32(size)));
                place = e.add(place, e.mul(folded(e, c, size), e.c32(i64::from(order.strides[axis]))));
            }
            if is_outside {
                continue;
            }
            let read = self.one(place);
            *own = taken.map_or(read, |t| e.select(t, read, *own));
        }
    }
}

/// A coordinate that lies in memory in any case: the same where it was inside.
fn folded<'c>(e: &Emit<'c, '_>, c: V<'c>, size: i64) -> V<'c> {
    e.mask(c, size.unsigned_abs().next_power_of_two() as i64 - 1)
}

fn both<'c>(e: &Emit<'c, '_>, all: &mut Option<V<'c>>, test: V<'c>) {
    *all = Some(all.map_or(test, |a| e.and(a, test)));
}
