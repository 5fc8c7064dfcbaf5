//! Tiles whose layout passes chose, to and from global memory; those in shared memory are handed on (`shared_tile`).
//!
//! Each access moves `vector` neighbours of a thread and is predicated on lying inside the memref, and on the mask where there
//! is one; a vector is inside or outside as a whole, and its mask one, which `tile-vectorize-accesses` has seen to. All loads
//! of a tile are issued before any is used.
use super::{
    access::{How, Words, load, store},
    distributed::Coordinates,
    group, lower,
    memory::{Global, shared_element},
    refuse, shared_tile,
    tma::policy,
};
use crate::known::is_nonnegative;
use girih_core::tensor_map::Swizzle;
use girih_dialects::{
    nvvm::{Cmp, Emit, V},
    tile::{
        distribution::Distribution,
        ops::{
            memory::{Load, Store},
            rows::{Gather, Scatter},
            tma::CachePolicy,
            value::IsAligned,
        },
        spaces::shared_of,
        verify::element_bits,
    },
};
use girih_ir::{conversion::Conversion, ext::DYNAMIC, op::OpView, prelude::*};
use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

/// Where a tile lies in global memory, and which part of it is inside; in shared memory where something of it may be outside.
pub(super) struct Place<'c> {
    memory: Global<'c>,
    /// The type of a memref under a swizzle, and the indices of the tile's first element there.
    swizzled: Option<(Type<'c>, Vec<V<'c>>)>,
    pub(super) coordinates: Coordinates<'c>,
    /// Address of the thread's element at register 0 where coordinates are sums.
    thread_pointer: Option<V<'c>>,
    /// Address of the tile's first element.
    pointer: V<'c>,
    /// For each axis the coordinates inside, `low..high` as i32; `None` where all are.
    inside: Vec<Option<Ends<'c>>>,
    /// For each register the number of its row, i64, where rows are given by numbers.
    rows: Option<Vec<V<'c>>>,
    /// For each register whether it is moved at all; none where all are.
    mask: Vec<V<'c>>,
    /// What registers share, by axis and coordinate: tests, what is left of the ends for the register's part, pointers.
    tests: RefCell<BTreeMap<(usize, i64), V<'c>>>,
    rooms: RefCell<BTreeMap<usize, Ends<'c>>>,
    pointers: RefCell<BTreeMap<(usize, usize, i64), V<'c>>>,
}

/// `low..high` as i32; no `low` where nothing is below.
type Ends<'c> = (Option<V<'c>>, V<'c>);

/// Numbers of rows, as the registers of their own tile.
pub(super) struct Rows<'c, 'a> {
    pub(super) distribution: Rc<Distribution>,
    pub(super) values: &'a [V<'c>],
}

impl<'c> Place<'c> {
    fn new(e: &Emit<'c, '_>, t: Type<'c>, memory: &[V<'c>], indices: &[V<'c>], d: Rc<Distribution>) -> Self {
        Place::at(e, t, memory, indices, d, None).expect("only rows can be held by other threads")
    }

    /// With `rows`, `indices` are those of all axes but the first. `None` where a thread does not hold the numbers of its
    /// rows.
    pub(super) fn at(
        e: &Emit<'c, '_>,
        t: Type<'c>,
        memory: &[V<'c>],
        indices: &[V<'c>],
        d: Rc<Distribution>,
        rows: Option<Rows<'c, '_>>,
    ) -> Option<Self> {
        let sizes = t.shape().unwrap_or_default();
        let shape = d.shape.clone();
        let memory = Global::new(e, t, memory);
        let mut indices = indices.to_vec();
        let rows = match rows {
            None => None,
            Some(rows) => {
                indices.insert(0, e.c64(0));
                Some(row_of_each(e, &d, &rows)?)
            }
        };
        let at: Vec<V> = indices.iter().map(|i| e.to_int(*i, 64)).collect();
        let inside = (0..shape.len())
            .map(|axis| {
                let (tile, first) = (shape[axis], indices[axis].constant_int());
                let fits = |c: i64| c >= 0 && sizes[axis] != DYNAMIC && c.saturating_add(tile) <= sizes[axis];
                if first.is_some_and(fits) || axis == 0 && rows.is_some() {
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
        let is_swizzled = shared_of(t).is_some_and(|s| s.mode() != Swizzle::None);
        let thread_pointer = (coordinates.is_sum() && !is_swizzled).then(|| {
            let mut thread: Vec<V> = coordinates.thread.iter().map(|c| e.zext(*c, 64)).collect();
            if rows.is_some() {
                thread[0] = e.c64(0);
            }
            Global {
                pointer,
                ..memory.clone()
            }
            .element(e, &thread)
        });
        Some(Place {
            memory,
            swizzled: is_swizzled.then_some((t, indices)),
            coordinates,
            thread_pointer,
            pointer,
            inside,
            rows,
            mask: vec![],
            tests: RefCell::default(),
            rooms: RefCell::default(),
            pointers: RefCell::default(),
        })
    }

    /// Only what a mask is true for, a value for each register; all with none.
    pub(super) fn masked(self, mask: Vec<V<'c>>) -> Self {
        Place { mask, ..self }
    }

    /// Address of what a register holds: a pointer, and bytes behind it, which an instruction has room for.
    pub(super) fn address(&self, e: &Emit<'c, '_>, register: usize) -> (V<'c>, i64) {
        let rank = self.inside.len();
        let Some(thread) = self.thread_pointer else {
            let mut at: Vec<V> = (0..rank)
                .map(|a| e.zext(self.coordinates.at(e, register, a), 64))
                .collect();
            if let Some(rows) = &self.rows {
                at[0] = rows[register];
            }
            if let Some((t, first)) = &self.swizzled {
                let at: Vec<V> = at.iter().zip(first).map(|(c, i)| e.add(*c, e.to_int(*i, 64))).collect();
                return (shared_element(e, *t, self.memory.pointer, &at), 0);
            }
            let memory = Global {
                pointer: self.pointer,
                ..self.memory.clone()
            };
            return (memory.element(e, &at), 0);
        };
        let own = &self.coordinates.distribution.registers[register];
        let (mut pointer, mut known) = (thread, 0);
        if let Some(rows) = &self.rows {
            let bytes = e.mul(
                e.mul(rows[register], self.memory.strides[0]),
                e.c64(self.memory.element_bytes as i64),
            );
            pointer = e.byte_offset(pointer, bytes);
        }
        let first = usize::from(self.rows.is_some());
        for (axis, c) in own.iter().enumerate().skip(first).filter(|(_, c)| **c != 0) {
            let stride = self.memory.strides[axis];
            match stride.constant_int() {
                Some(s) => known += i64::from(*c) * s,
                None => pointer = self.moved(e, pointer, axis, i64::from(*c)),
            }
        }
        let bytes = known * self.memory.element_bytes as i64;
        match i32::try_from(bytes) {
            Ok(_) => (pointer, bytes),
            Err(_) => (e.byte_offset_by(pointer, bytes), 0),
        }
    }

    /// A pointer `steps` further along an axis whose stride is known only at run time; once for each.
    fn moved(&self, e: &Emit<'c, '_>, pointer: V<'c>, axis: usize, steps: i64) -> V<'c> {
        let key = (pointer.to_raw().ptr as usize, axis, steps);
        if let Some(v) = self.pointers.borrow().get(&key) {
            return *v;
        }
        let bytes = e.mul(
            self.memory.strides[axis],
            e.c64(steps * self.memory.element_bytes as i64),
        );
        let v = e.byte_offset(pointer, bytes);
        self.pointers.borrow_mut().insert(key, v);
        v
    }

    /// Whether what a register holds is inside, and its mask true; `None`: always.
    pub(super) fn predicate(&self, e: &Emit<'c, '_>, register: usize) -> Option<V<'c>> {
        // Unsigned, so that numbers below 0 are outside too.
        let mut all: Option<V> = self
            .rows
            .as_ref()
            .map(|r| e.cmp(Cmp::Ult, r[register], self.memory.sizes[0]));
        let folded = self.asked_with().is_some();
        for axis in 0..self.inside.len() {
            if self.inside[axis].is_some() && !(folded && self.is_same(axis)) {
                let test = self.test(e, register, axis);
                all = Some(all.map_or(test, |a| e.and(a, test)));
            }
        }
        both(e, self.mask.get(register).copied(), all)
    }

    /// What the ends along an axis leave for the register's part; nothing where axes fail whose test is the same for all.
    fn room(&self, e: &Emit<'c, '_>, axis: usize, (low, high): Ends<'c>) -> Ends<'c> {
        if let Some(ends) = self.rooms.borrow().get(&axis) {
            return *ends;
        }
        let room = |edge: V<'c>| e.sub(edge, self.coordinates.thread[axis]);
        let mut ends = (low.map(room), room(high));
        if self.asked_with() == Some(axis) {
            let others = (0..self.inside.len()).filter(|a| self.inside[*a].is_some() && self.is_same(*a));
            let tests: Vec<V> = others.map(|a| self.test(e, 0, a)).collect();
            if let Some(all) = tests.into_iter().reduce(|a, b| e.and(a, b)) {
                let operands = [all, ends.1, e.c32(0)];
                ends.1 = e.value("arith.select", &operands, e.i32_type(), &[]);
            }
        }
        self.rooms.borrow_mut().insert(axis, ends);
        ends
    }

    /// Whether all registers have one coordinate along an axis.
    fn is_same(&self, axis: usize) -> bool {
        let registers = &self.coordinates.distribution.registers;
        registers.iter().all(|r| r[axis] == registers[0][axis])
    }

    /// The axis whose test asks for axes too along which all registers have one coordinate.
    fn asked_with(&self) -> Option<usize> {
        let varies = |axis: &usize| self.inside[*axis].is_some() && !self.is_same(*axis);
        (0..self.inside.len())
            .find(varies)
            .filter(|_| self.coordinates.is_sum())
    }

    /// Whether what a register holds is inside along an axis; once for each coordinate.
    fn test(&self, e: &Emit<'c, '_>, register: usize, axis: usize) -> V<'c> {
        let own = i64::from(self.coordinates.distribution.registers[register][axis]);
        if let Some(test) = self.tests.borrow().get(&(axis, own)) {
            return *test;
        }
        let (low, high) = self.inside[axis].expect("asked of axes with an edge");
        // Where a coordinate is the thread's part and the register's, what is left for the register is one number for all.
        let test = if self.coordinates.is_sum() {
            let (low, high) = self.room(e, axis, (low, high));
            let test = e.cmp(Cmp::Sgt, high, e.c32(own));
            low.map_or(test, |low| e.and(test, e.cmp(Cmp::Sle, low, e.c32(own))))
        } else {
            let c = self.coordinates.at(e, register, axis);
            let test = e.cmp(Cmp::Slt, c, high);
            low.map_or(test, |low| e.and(test, e.cmp(Cmp::Sge, c, low)))
        };
        self.tests.borrow_mut().insert((axis, own), test);
        test
    }
}

/// For each register of a tile the number of its row, i64; `None` where the thread does not hold it.
fn row_of_each<'c>(e: &Emit<'c, '_>, d: &Distribution, rows: &Rows<'c, '_>) -> Option<Vec<V<'c>>> {
    let own = &rows.distribution;
    let same_threads =
        own.threads.len() == d.threads.len() && own.threads.iter().zip(&d.threads).all(|(r, t)| r[0] == t[0]);
    if !same_threads {
        return None;
    }
    let wide: Vec<V> = rows.values.iter().map(|v| e.to_int(*v, 64)).collect();
    d.registers
        .iter()
        .map(|at| own.registers.iter().position(|r| r[0] == at[0]).map(|r| wide[r]))
        .collect()
}

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, IsAligned, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let memory = Global::new(&e, op.memory().r#type(), operands.get(0));
        let (axis, by) = (op.axis() as usize, op.by());
        let address = e.ptr_to_int(memory.pointer, 64);
        let mut all = if op.any_size() { e.c64(0) } else { memory.sizes[axis] };
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
        let Some(d) = Distribution::of(op.result().r#type()) else {
            return Err(rewriter.no_match(op.op(), "no layout"));
        };
        let e = Emit::new(rewriter, op.op().location());
        let indices = group(op.op(), Load::DEF, operands, "indices");
        if shared_of(op.source().r#type()).is_some() {
            let place = shared_tile::Place::new(op.source(), &op.indices(), operands.one(0), indices);
            let place = place.masked(op.mask(), group(op.op(), Load::DEF, operands, "mask"));
            let values = place.load(&e, op.result().r#type(), &d, op.pad());
            rewriter.replace_multiple(op.op(), &[values]);
            return Ok(());
        }
        let place = Place::new(&e, op.source().r#type(), operands.get(0), &indices, d);
        let place = place.masked(group(op.op(), Load::DEF, operands, "mask"));
        let values = load_tile(&e, &place, op.result().r#type(), op.vector(), op.pad(), op.cache());
        rewriter.replace_multiple(op.op(), &[values]);
        Ok(())
    });
    lower!(c, Gather, |op, operands, rewriter| {
        let (Some(d), Some(rows)) = (
            Distribution::of(op.result().r#type()),
            Distribution::of(op.rows().r#type()),
        ) else {
            return Err(rewriter.no_match(op.op(), "no layout"));
        };
        let e = Emit::new(rewriter, op.op().location());
        let columns = group(op.op(), Gather::DEF, operands, "columns");
        let rows = Rows {
            distribution: rows,
            values: &group(op.op(), Gather::DEF, operands, "rows"),
        };
        let Some(place) = Place::at(&e, op.source().r#type(), operands.get(0), &columns, d, Some(rows)) else {
            return refuse(op.op(), ROWS_ELSEWHERE);
        };
        let place = place.masked(group(op.op(), Gather::DEF, operands, "mask"));
        let values = load_tile(&e, &place, op.result().r#type(), op.vector(), op.pad(), op.cache());
        rewriter.replace_multiple(op.op(), &[values]);
        Ok(())
    });
    lower!(c, Store, |op, operands, rewriter| {
        let Some(d) = Distribution::of(op.value().r#type()) else {
            return Err(rewriter.no_match(op.op(), "no layout"));
        };
        let e = Emit::new(rewriter, op.op().location());
        let indices = group(op.op(), Store::DEF, operands, "indices");
        if shared_of(op.destination().r#type()).is_some() {
            let place = shared_tile::Place::new(op.destination(), &op.indices(), operands.one(1), indices);
            let place = place.masked(op.mask(), group(op.op(), Store::DEF, operands, "mask"));
            place.store(&e, operands.get(0), &d);
            rewriter.erase(op.op());
            return Ok(());
        }
        let place = Place::new(&e, op.destination().r#type(), operands.get(1), &indices, d);
        let place = place.masked(group(op.op(), Store::DEF, operands, "mask"));
        store_tile(
            &e,
            &place,
            op.value().r#type(),
            operands.get(0),
            op.vector(),
            op.cache(),
        );
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, Scatter, |op, operands, rewriter| {
        let (Some(d), Some(rows)) = (
            Distribution::of(op.value().r#type()),
            Distribution::of(op.rows().r#type()),
        ) else {
            return Err(rewriter.no_match(op.op(), "no layout"));
        };
        let e = Emit::new(rewriter, op.op().location());
        let columns = group(op.op(), Scatter::DEF, operands, "columns");
        let rows = Rows {
            distribution: rows,
            values: &group(op.op(), Scatter::DEF, operands, "rows"),
        };
        let Some(place) = Place::at(&e, op.destination().r#type(), operands.get(1), &columns, d, Some(rows)) else {
            return refuse(op.op(), ROWS_ELSEWHERE);
        };
        let place = place.masked(group(op.op(), Scatter::DEF, operands, "mask"));
        store_tile(
            &e,
            &place,
            op.value().r#type(),
            operands.get(0),
            op.vector(),
            op.cache(),
        );
        rewriter.erase(op.op());
        Ok(())
    });
}

/// What an op is told whose threads do not hold the numbers of their rows.
pub(super) const ROWS_ELSEWHERE: &str =
    "has the numbers of its rows in a layout that is not its tile's without the other axes; run tile-assign-layouts";

/// What each register of a tile is in memory.
fn load_tile<'c>(
    e: &Emit<'c, '_>,
    place: &Place<'c>,
    tile: Type<'c>,
    vector: Option<i64>,
    pad: Option<Attribute<'c>>,
    cache: Option<CachePolicy>,
) -> Vec<V<'c>> {
    let element = tile.element_type().unwrap_or(tile);
    let element_bytes = element_bits(tile).unwrap_or(8) / 8;
    let vector = vector.unwrap_or(1) as usize;
    let bytes = element_bytes * vector as u64;
    let words = Words::new(element, element_bytes, vector);
    let pad = match pad {
        Some(pad) => e.value("arith.constant", &[], element, &[("value", pad)]),
        None => super::fragment::zero_of(e, element),
    };
    let policy = policy(e, cache, &[]);
    let mut otherwise: Option<Vec<V>> = None;
    let loaded: Vec<(Vec<V>, bool)> = (0..place.coordinates.distribution.registers.len())
        .step_by(vector)
        .map(|r| {
            let at = place.address(e, r);
            let how = How {
                predicate: place.predicate(e, r),
                policy,
            };
            // Several in a register are loaded as registers, so that they can be taken out of them as suits.
            if how.is_plain() && !words.are_packed() {
                return (e.load_many(e.byte_offset_by(at.0, at.1), vector, element, bytes), false);
            }
            if how.is_plain() {
                let pointer = e.byte_offset_by(at.0, at.1);
                return (e.load_many(pointer, words.count, e.int(words.bits), bytes), true);
            }
            if how.predicate.is_none() {
                return (load(e, &words, bytes, at, how, &[]), true);
            }
            let otherwise = otherwise.get_or_insert_with(|| {
                let word = words.pack(e, &vec![pad; vector / words.count])[0];
                vec![word; words.count]
            });
            (load(e, &words, bytes, at, how, otherwise), true)
        })
        .collect();
    // Unpacked only now, so that every load is under way before the first is waited for.
    let unpack = |(w, in_words): (Vec<V<'c>>, bool)| if in_words { words.unpack(e, &w) } else { w };
    loaded.into_iter().flat_map(unpack).collect()
}

/// Whether this thread writes: of threads that hold copies one does. `None`: always.
pub(super) fn writes<'c>(e: &Emit<'c, '_>, d: &Distribution) -> Option<V<'c>> {
    let copies = d.copy_bits() as i64;
    (copies != 0).then(|| e.cmp(Cmp::Eq, e.mask(e.sreg("tid.x"), copies), e.c32(0)))
}

pub(super) fn both<'c>(e: &Emit<'c, '_>, a: Option<V<'c>>, b: Option<V<'c>>) -> Option<V<'c>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(e.and(a, b)),
        (a, b) => a.or(b),
    }
}

fn store_tile<'c>(
    e: &Emit<'c, '_>,
    place: &Place<'c>,
    tile: Type<'c>,
    values: &[V<'c>],
    vector: Option<i64>,
    cache: Option<CachePolicy>,
) {
    let element = tile.element_type().unwrap_or(tile);
    let element_bytes = element_bits(tile).unwrap_or(8) / 8;
    let vector = vector.unwrap_or(1) as usize;
    let bytes = element_bytes * vector as u64;
    let words = Words::new(element, element_bytes, vector);
    let writes = writes(e, &place.coordinates.distribution);
    let policy = policy(e, cache, &[]);
    for (i, values) in values.chunks(vector).enumerate() {
        let at = place.address(e, i * vector);
        let how = How {
            predicate: both(e, place.predicate(e, i * vector), writes),
            policy,
        };
        match how.is_plain() {
            true => e.store(values, e.byte_offset_by(at.0, at.1), bytes),
            false => store(e, &words, bytes, at, how, &words.pack(e, values)),
        }
    }
}
