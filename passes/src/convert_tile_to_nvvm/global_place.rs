//! Where a tile lies in global memory, or in shared memory over whose edge it may reach: addresses of what registers hold, and
//! tests of what is inside.
//!
//! What a thread's coordinates give is computed once, as a pointer and as what is left of each edge. A register adds a constant
//! to the one, which an instruction has room for, and is compared with the other.
use super::{
    distributed::Coordinates,
    memory::{Global, shared_element},
};
use crate::known::known_range;
use girih_core::tensor_map::Swizzle;
use girih_dialects::{
    nvvm::{Cmp, Emit, V},
    tile::{distribution::Distribution, spaces::shared_of},
};
use girih_ir::{ext::DYNAMIC, prelude::*};
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

/// What an access names.
pub(super) struct Accessed<'c, 'a> {
    pub(super) memref: Type<'c>,
    /// The memref's pointer, sizes and strides.
    pub(super) memory: &'a [V<'c>],
    /// Where the tile starts; with rows, on all axes but the first.
    pub(super) indices: &'a [V<'c>],
    pub(super) rows: Option<Rows<'c, 'a>>,
}

impl<'c> Accessed<'c, '_> {
    /// Where a tile lies there; `None` where a thread does not hold the numbers of its rows.
    pub(super) fn place(&self, e: &Emit<'c, '_>, d: Rc<Distribution>) -> Option<Place<'c>> {
        Some(match &self.rows {
            None => Place::at(e, self.memref, self.memory, self.indices, d, None),
            Some(rows) => {
                let rows = rows.of_each(e, &d)?;
                let indices = [&[e.c64(0)], self.indices].concat();
                Place::at(e, self.memref, self.memory, &indices, d, Some(rows))
            }
        })
    }
}

/// Numbers of rows, as the registers of their own tile.
pub(super) struct Rows<'c, 'a> {
    pub(super) distribution: Rc<Distribution>,
    pub(super) values: &'a [V<'c>],
}

impl<'c> Rows<'c, '_> {
    /// For each register of a tile the number of its row, i64; `None` where the thread does not hold it.
    fn of_each(&self, e: &Emit<'c, '_>, d: &Distribution) -> Option<Vec<V<'c>>> {
        let own = &self.distribution;
        let same_threads =
            own.threads.len() == d.threads.len() && own.threads.iter().zip(&d.threads).all(|(r, t)| r[0] == t[0]);
        if !same_threads {
            return None;
        }
        let wide: Vec<V> = self.values.iter().map(|v| e.to_int(*v, 64)).collect();
        d.registers
            .iter()
            .map(|at| own.registers.iter().position(|r| r[0] == at[0]).map(|r| wide[r]))
            .collect()
    }
}

impl<'c> Place<'c> {
    fn at(
        e: &Emit<'c, '_>,
        t: Type<'c>,
        memory: &[V<'c>],
        indices: &[V<'c>],
        d: Rc<Distribution>,
        rows: Option<Vec<V<'c>>>,
    ) -> Self {
        let sizes = t.shape().unwrap_or_default();
        let shape = d.shape.clone();
        let memory = Global::new(e, t, memory);
        let at: Vec<V> = indices.iter().map(|i| e.to_int(*i, 64)).collect();
        let inside = (0..shape.len())
            .map(|axis| {
                let (tile, first) = (shape[axis], known_range(indices[axis]));
                let ends_inside = sizes[axis] != DYNAMIC && first.most.saturating_add(tile) <= sizes[axis];
                if first.least >= 0 && ends_inside || axis == 0 && rows.is_some() {
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
                let low = (first.least < 0).then(|| clamp(e.sub(e.c64(0), at[axis])));
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
        Place {
            memory,
            swizzled: is_swizzled.then(|| (t, indices.to_vec())),
            coordinates,
            thread_pointer,
            pointer,
            inside,
            rows,
            mask: vec![],
            tests: RefCell::default(),
            rooms: RefCell::default(),
            pointers: RefCell::default(),
        }
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

    /// Whether some elements may not be moved.
    pub(super) fn has_edges(&self) -> bool {
        self.rows.is_some() || !self.mask.is_empty() || self.inside.iter().any(Option::is_some)
    }

    /// Whether what the register after `register` holds is the next element in memory.
    pub(super) fn is_next(&self, register: usize) -> bool {
        let registers = &self.coordinates.distribution.registers;
        let (own, next) = (&registers[register], &registers[register + 1]);
        let mut other = (0..own.len()).filter(|axis| own[*axis] != next[*axis]);
        match (other.next(), other.next()) {
            (Some(axis), None) => {
                let is_row = axis == 0 && self.rows.is_some();
                self.coordinates.is_sum()
                    && !is_row
                    && next[axis] == own[axis] + 1
                    && self.memory.strides[axis].constant_int() == Some(1)
            }
            _ => false,
        }
    }

    /// What `emit` makes in a branch, behind which registers share nothing of it.
    pub(super) fn in_branch<T>(&self, emit: impl FnOnce() -> T) -> T {
        let (tests, rooms, pointers) = (self.tests.clone(), self.rooms.clone(), self.pointers.clone());
        let made = emit();
        self.tests.swap(&tests);
        self.rooms.swap(&rooms);
        self.pointers.swap(&pointers);
        made
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

/// The conjunction of two tests, each of which may hold always.
pub(super) fn both<'c>(e: &Emit<'c, '_>, a: Option<V<'c>>, b: Option<V<'c>>) -> Option<V<'c>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(e.and(a, b)),
        (a, b) => a.or(b),
    }
}
