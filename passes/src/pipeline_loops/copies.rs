//! Operands that a warpgroup copies ahead of the loop: each thread brings chunks of 16, 8 or 4 bytes with `tile.cp_async`, the
//! widest that addresses, strides and sizes are multiples of, which is asked at run time, the same for all threads.
//!
//! ```mlir
//! scf.if %fits_16 {
//!   ... tile.cp_async %A[%row, %column], %panel[%r, %c], 16 src_size %n : ...     // %n is 16 inside the memref, else 0
//! } else { scf.if %fits_8 { ... } else { ... } }
//! ```
//!
//! Neighbouring threads bring neighbours of a row, so that what a warp reads are whole lines, and what it writes are whole rows
//! of a panel: each bank once. A thread stays at one column, and its rows are whole periods of the swizzle apart, so that the
//! permutation of its address is always the same.
//!
//! Elements of 1 or 2 bytes in rows that are not multiples of 4 go through registers: many loads on their way at once, then
//! stores of 4 bytes.
use super::{V, ring::Operand, with_shape};
use crate::{
    known::{is_nonnegative, known_multiple},
    slice::Slice,
};
use girih_dialects::{
    nvvm::{Cmp, Emit},
    tile::{
        ops::{
            cp_async::CpAsync,
            kernel::Kernel,
            memory::Slab,
            mma::{Mover, Stage},
            value::IsAligned,
            wgmma::Major,
        },
        verify::element_bits,
    },
};
use girih_ir::{
    melior::ir::attribute::{FloatAttribute, IntegerAttribute},
    prelude::*,
};

/// Threads that copy together: a warpgroup, as a role has.
pub(super) const THREADS: i64 = 128;
/// Bytes of a chunk, by preference.
const WIDTHS: [i64; 3] = [16, 8, 4];
/// Bytes that go through registers at once.
const STORE_BYTES: i64 = 4;
/// Rows of a panel that are whole periods of every swizzle.
const PERIOD_ROWS: i64 = 8;
/// Copies that are written out one after another.
const UNROLL: i64 = 8;

/// Whether threads can copy an operand ahead, or why not.
pub(super) fn fit<'c>(kernel: Kernel<'c, 'c>, stage: Stage<'c, 'c>) -> Result<(), String> {
    if stage.by() != Mover::CpAsync && kernel.threads() < THREADS {
        return Err(format!(
            "the block has {} threads of the {THREADS} that copy",
            kernel.threads()
        ));
    }
    let (s, source) = (stage.staging(), stage.source().r#type());
    let (strides, _) = source.strides_and_offset().unwrap_or_default();
    if strides.get(1 - stage.row_axis()) != Some(&1) {
        return Err("elements that lie together in shared memory do not in global memory".to_owned());
    }
    let bytes = element_bits(source).map_or(0, |bits| bits as i64 / 8);
    let has_width = [1, 2, 4].contains(&bytes) || bytes == 8 && stage.by() == Mover::CpAsync;
    if !has_width || s.span * bytes % WIDTHS[0] != 0 || s.rows % PERIOD_ROWS != 0 {
        return Err(format!("{} rows of {} elements are no whole chunks", s.rows, s.span));
    }
    Ok(())
}

/// Where an operand is copied from.
pub(super) struct Source<'c> {
    source: V<'c>,
    /// Indices of its first element.
    pub first: Vec<V<'c>>,
    /// Indices along the other dimensions of the argument that tensor copies take it from.
    pub at: Vec<V<'c>>,
}

/// Computes where to copy from in a place of which `slice` knows the loop's counter.
pub(super) fn place_of<'c>(e: &Emit<'c, '_>, slice: &mut Slice<'c, '_>, o: &Operand<'c>) -> Res<Source<'c>> {
    let mut get = |v: V<'c>| match slice.get(v, e.builder()) {
        Ok(v) => Ok(v),
        Err(_) => {
            let m = "copies from a place that depends on more than the loop's counter, so that it cannot run ahead; write by threads";
            Diag::op(&o.stage.op(), m).report()
        }
    };
    // Tensor copies have a map instead.
    let source = match o.is_by_tma() {
        true => o.stage.source(),
        false => get(o.stage.source())?,
    };
    let first = o.stage.indices().into_iter().map(&mut get).collect::<Res<_>>()?;
    let at =
        o.at.iter()
            .map(|n| n.value().map_or_else(|| Ok(n.emit(e)), &mut get))
            .collect::<Res<_>>()?;
    Ok(Source { source, first, at })
}

/// Which chunks a copy takes.
pub(super) struct Widths<'c> {
    /// Chunks with what must hold for them, the widest first; what needs nothing is the last.
    tests: Vec<(i64, Option<V<'c>>)>,
}

impl<'c> Widths<'c> {
    pub(super) fn new(e: &Emit<'c, '_>, o: &Operand<'c>, from: &Source<'c>) -> Self {
        let axis = o.column_axis();
        let known = known_multiple(o.stage.indices()[axis]);
        let mut tests = vec![];
        for width in WIDTHS {
            if width == WIDTHS[0] {
                match (o.stage.by(), o.stage.condition()) {
                    (Mover::CpAsync, None) => {
                        tests.push((width, None));
                        break;
                    }
                    (Mover::CpAsync, Some(fits)) => {
                        tests.push((width, Some(fits)));
                        continue;
                    }
                    // What the widest chunks fit, tensor copies take.
                    (_, Some(_)) => continue,
                    _ => {}
                }
            }
            let n = width / o.element_bytes();
            if n == 1 {
                tests.push((width, None));
                break;
            }
            let aligned = IsAligned::build(e.loc(), e.int(1), from.source, axis as i64, n, false);
            let mut fits = e.insert(aligned).result0();
            if known % n != 0 {
                let rest = e.rem_u(from.first[axis], e.index(n));
                fits = e.and(fits, e.cmp(Cmp::Eq, rest, e.index(0)));
            }
            tests.push((width, Some(fits)));
        }
        Widths { tests }
    }
    /// Whether the thread stores elements itself; `None` where it never does.
    pub(super) fn stores(&self, e: &Emit<'c, '_>) -> Option<V<'c>> {
        // What fits wider chunks fits the narrowest.
        let (_, narrowest) = self.tests.last()?;
        narrowest.map(|fits| e.xor(fits, e.constant(1, e.int(1))))
    }
}

impl<'c> Operand<'c> {
    fn element_bytes(&self) -> i64 {
        element_bits(self.stage.source().r#type()).map_or(1, |bits| bits as i64 / 8)
    }
    fn element(&self) -> Type<'c> {
        let t = self.stage.source().r#type();
        t.element_type().unwrap_or(t)
    }
    fn row_axis(&self) -> usize {
        self.stage.row_axis()
    }
    fn column_axis(&self) -> usize {
        1 - self.row_axis()
    }
}

/// A thread's part of the copy of an operand into a slot; `thread` is its number among those that copy, and their number.
pub(super) fn copy<'c>(
    e: &Emit<'c, '_>,
    o: &Operand<'c>,
    from: &Source<'c>,
    widths: &Widths<'c>,
    slot: V<'c>,
    (thread, threads): (V<'c>, i64),
) {
    let c = Copy {
        o,
        from,
        slot,
        thread,
        threads,
    };
    c.by_widths(e, &widths.tests);
}

#[derive(Clone, Copy)]
struct Copy<'c, 'x> {
    o: &'x Operand<'c>,
    from: &'x Source<'c>,
    slot: V<'c>,
    thread: V<'c>,
    threads: i64,
}

/// A chunk of a panel.
struct Chunk<'c> {
    /// Row and column in the panel.
    at: [V<'c>; 2],
    /// Indices in global memory.
    global: [V<'c>; 2],
    panel: V<'c>,
    /// Whether it lies in the panel, where not all do.
    exists: Option<V<'c>>,
    /// Whether it lies in the memref.
    inside: V<'c>,
}

/// Rows of a panel, from `first` (0 where that is left out) to `end`, i32.
struct RowsInside<'c> {
    first: Option<V<'c>>,
    end: V<'c>,
}

impl<'c> RowsInside<'c> {
    /// Whether row `near + far` is one of them; `far` is the same for all threads, and what stands next to it is a number
    /// for all rows of a thread where `far` is known now.
    fn contain(&self, e: &Emit<'c, '_>, near: V<'c>, far: V<'c>) -> V<'c> {
        let known = far.constant_int().is_some();
        let test = |known_test: Cmp, test: Cmp, edge: V<'c>| match known {
            true => e.cmp(known_test, e.sub(edge, near), far),
            false => e.cmp(test, near, e.sub(edge, far)),
        };
        let before_end = test(Cmp::Sgt, Cmp::Slt, self.end);
        match self.first {
            Some(first) => e.and(before_end, test(Cmp::Sle, Cmp::Sge, first)),
            None => before_end,
        }
    }
}

impl<'c> Copy<'c, '_> {
    fn by_widths(self, e: &Emit<'c, '_>, tests: &[(i64, Option<V<'c>>)]) {
        let Some(((width, test), rest)) = tests.split_first() else {
            return self.through_registers(e);
        };
        let Some(fits) = test else {
            return self.chunks(e, *width);
        };
        e.if_else(
            *fits,
            &[],
            |e| {
                self.chunks(&e, *width);
                vec![]
            },
            |e| {
                self.by_widths(&e, rest);
                vec![]
            },
        );
    }

    /// All chunks of `width` bytes that the thread brings; `body` gets those that are on their way at once, of each panel about
    /// `asked` rows for each place in a row.
    fn each(self, e: &Emit<'c, '_>, width: i64, asked: i64, body: &dyn Fn(&Emit<'c, '_>, &[Chunk<'c>])) {
        let (s, slot_type, sizes) = (self.o.staging, self.o.stage.result().r#type(), self.sizes(e));
        let elements = width / self.o.element_bytes();
        let in_row = s.span / elements;
        let together = self.threads / in_row;
        let step = together.max(PERIOD_ROWS);
        let passes = (s.rows + step - 1) / step;
        let unroll = (1..=asked.min(passes)).rev().find(|u| passes % u == 0).unwrap_or(1);
        let row = e.div_u(self.thread, e.index(in_row));
        let column = e.mul(e.rem_u(self.thread, e.index(in_row)), e.index(elements));
        let panel_type = with_shape(slot_type, &[s.rows, s.span]);
        let (row_axis, column_axis) = (self.o.row_axis(), self.o.column_axis());
        // Panels that are few chunks go together.
        let (mut open, most) = (vec![], asked * (step / together));
        for block in 0..s.blocks {
            for panel in 0..s.panels {
                let at = [self.slot, e.index(block), e.index(panel)];
                let slab = Slab::build(e.loc(), panel_type, self.o.ring, &at);
                let slab = e.insert(slab).result0();
                let (first_row, first_column) = s.panel_origin(block, panel);
                let origin = e.offset(self.from.first[row_axis], first_row);
                let global_column = e.add(e.offset(self.from.first[column_axis], first_column), column);
                let mut rows = self.rows_inside(e, origin, sizes[row_axis]);
                // Of a column outside no row is inside.
                let column_inside = e.cmp(Cmp::Ult, global_column, sizes[column_axis]);
                rows.end = e.value("arith.select", &[column_inside, rows.end, e.c32(0)], e.i32_type(), &[]);
                let chunk = |e: &Emit<'c, '_>, phase: i64, far: V<'c>| {
                    let near = e.offset(row, phase * together);
                    let at = e.add(near, far);
                    let global_row = e.add(e.add(origin, near), far);
                    let mut global = [global_row; 2];
                    global[column_axis] = global_column;
                    let exists = (s.rows % step != 0).then(|| e.cmp(Cmp::Ult, at, e.index(s.rows)));
                    Chunk {
                        at: [at, column],
                        global,
                        panel: slab,
                        exists,
                        inside: rows.contain(e, e.to_int(near, 32), e.to_int(far, 32)),
                    }
                };
                let several = |e: &Emit<'c, '_>, first: Option<V<'c>>| {
                    let mut all = vec![];
                    for phase in 0..step / together {
                        for pass in 0..unroll {
                            let far = e.index(pass * step);
                            all.push(chunk(e, phase, first.map_or(far, |first| e.add(first, far))));
                        }
                    }
                    all
                };
                if passes != unroll {
                    let (end, by) = (e.index(passes / unroll), e.index(unroll * step));
                    e.for_loop(e.index(0), end, e.index(1), |e, n| {
                        body(&e, &several(&e, Some(e.mul(n, by))))
                    });
                    continue;
                }
                let own = several(e, None);
                if !open.is_empty() && (open.len() + own.len()) as i64 > most {
                    body(e, &std::mem::take(&mut open));
                }
                open.extend(own);
            }
        }
        if !open.is_empty() {
            body(e, &open);
        }
    }

    /// The rows of a panel that starts at row `origin` which lie in a memref of `size` rows.
    fn rows_inside(self, e: &Emit<'c, '_>, origin: V<'c>, size: V<'c>) -> RowsInside<'c> {
        let rows = e.index(self.o.staging.rows);
        let clamped = |v: V<'c>| {
            let v = e.value("arith.maxsi", &[v, e.index(0)], e.index_type(), &[]);
            // So few that 32 bits hold their number.
            e.to_int(e.value("arith.minsi", &[v, rows], e.index_type(), &[]), 32)
        };
        let end = clamped(e.sub(size, origin));
        let first =
            (!is_nonnegative(self.o.stage.indices()[self.o.row_axis()])).then(|| clamped(e.sub(e.index(0), origin)));
        RowsInside { first, end }
    }

    fn sizes(self, e: &Emit<'c, '_>) -> [V<'c>; 2] {
        [0, 1].map(|axis| e.value("memref.dim", &[self.from.source, e.index(axis)], e.index_type(), &[]))
    }

    /// Copies in the background. Chunks lie inside the memref or outside as a whole.
    fn chunks(self, e: &Emit<'c, '_>, width: i64) {
        self.each(e, width, UNROLL, &|e, chunks| {
            for chunk in chunks {
                let one = |e: &Emit<'c, '_>| {
                    let bytes = e.value(
                        "arith.select",
                        &[chunk.inside, e.c32(width), e.c32(0)],
                        e.i32_type(),
                        &[],
                    );
                    let (source, loc) = (self.from.source, e.loc());
                    let copy = CpAsync::build(loc, source, &chunk.global, chunk.panel, &chunk.at, Some(bytes), width);
                    e.insert(copy);
                };
                match chunk.exists {
                    Some(exists) => e.if_then(exists, |e| one(&e)),
                    None => one(e),
                }
            }
        });
    }

    /// Loads into registers, then stores.
    fn through_registers(self, e: &Emit<'c, '_>) {
        let (s, sizes) = (self.o.staging, self.sizes(e));
        let (rows, columns) = match s.major {
            Major::K => (s.mn(), s.k()),
            Major::Mn => (s.k(), s.mn()),
        };
        // A tile inside the memref asks nothing for single elements.
        let is_inside = |axis: usize, extent: i64| {
            let first = self.from.first[axis];
            let fits = e.cmp(Cmp::Sle, e.offset(first, extent), sizes[axis]);
            e.and(fits, e.cmp(Cmp::Sge, first, e.index(0)))
        };
        let is_inside = e.and(
            is_inside(self.o.row_axis(), rows),
            is_inside(self.o.column_axis(), columns),
        );
        e.if_else(
            is_inside,
            &[],
            |e| {
                self.store_inside(&e);
                vec![]
            },
            |e| {
                self.store_edge(&e, sizes);
                vec![]
            },
        );
    }

    fn load(self, e: &Emit<'c, '_>, at: [V<'c>; 2]) -> V<'c> {
        e.value("memref.load", &[self.from.source, at[0], at[1]], self.o.element(), &[])
    }

    /// Loads what is stored at once: neighbours of a row.
    fn load_neighbours(
        self,
        at: [V<'c>; 2],
        e: &Emit<'c, '_>,
        load: &dyn Fn(&Emit<'c, '_>, [V<'c>; 2]) -> V<'c>,
    ) -> Vec<V<'c>> {
        let column_axis = self.o.column_axis();
        let neighbours = 0..STORE_BYTES / self.o.element_bytes();
        let place = |i| {
            let mut at = at;
            at[column_axis] = e.offset(at[column_axis], i);
            at
        };
        neighbours.map(|i| load(e, place(i))).collect()
    }

    fn store(self, e: &Emit<'c, '_>, values: &[V<'c>], panel: V<'c>, at: [V<'c>; 2]) {
        let t = e.vector(values.len() as i64, self.o.element());
        let packed = e.value("vector.from_elements", values, t, &[]);
        e.op("vector.store", &[packed, panel, at[0], at[1]], &[], &[]);
    }

    /// Of a tile that lies inside the memref: many loads, then their stores.
    fn store_inside(self, e: &Emit<'c, '_>) {
        let load = |e: &Emit<'c, '_>, at| self.load(e, at);
        self.each(e, STORE_BYTES, 2 * UNROLL, &|e, chunks| {
            if chunks.iter().any(|chunk| chunk.exists.is_some()) {
                for chunk in chunks {
                    let exists = chunk.exists.unwrap_or_else(|| e.constant(1, e.int(1)));
                    e.if_then(exists, |e| {
                        self.store(
                            &e,
                            &self.load_neighbours(chunk.global, &e, &load),
                            chunk.panel,
                            chunk.at,
                        );
                    });
                }
                return;
            }
            let values: Vec<Vec<V>> = chunks
                .iter()
                .map(|chunk| self.load_neighbours(chunk.global, e, &load))
                .collect();
            for (chunk, values) in chunks.iter().zip(&values) {
                self.store(e, values, chunk.panel, chunk.at);
            }
        });
    }

    /// Of a tile at the edge of the memref: one by one, zeros outside.
    fn store_edge(self, e: &Emit<'c, '_>, sizes: [V<'c>; 2]) {
        let s = self.o.staging;
        let (row_axis, column_axis) = (self.o.row_axis(), self.o.column_axis());
        let elements = STORE_BYTES / self.o.element_bytes();
        let in_row = s.span / elements;
        let total = s.blocks * s.panels * s.rows * in_row;
        let load = |e: &Emit<'c, '_>, at: [V<'c>; 2]| {
            let inside = e.and(e.cmp(Cmp::Ult, at[0], sizes[0]), e.cmp(Cmp::Ult, at[1], sizes[1]));
            e.if_else(
                inside,
                &[self.o.element()],
                |e| vec![self.load(&e, at)],
                |e| vec![zero(&e, self.o.element())],
            )[0]
        };
        e.for_loop(
            e.index(0),
            e.index((total + self.threads - 1) / self.threads),
            e.index(1),
            |e, n| {
                let number = e.add(e.mul(n, e.index(self.threads)), self.thread);
                let split = |e: &Emit<'c, '_>, v: V<'c>, by: i64| (e.div_u(v, e.index(by)), e.rem_u(v, e.index(by)));
                let one = |e: Emit<'c, '_>| {
                    let (rest, column) = split(&e, number, in_row);
                    let (rest, row) = split(&e, rest, s.rows);
                    let (block, panel) = split(&e, rest, s.panels);
                    let column = e.mul(column, e.index(elements));
                    // See `Staging::panel_origin`.
                    let (first_row, first_column) = match s.major {
                        Major::K => (e.mul(block, e.index(s.rows)), e.mul(panel, e.index(s.span))),
                        Major::Mn => (e.index(0), e.mul(rest, e.index(s.span))),
                    };
                    let mut global = self.from.first.clone();
                    global[row_axis] = e.add(e.add(global[row_axis], first_row), row);
                    global[column_axis] = e.add(e.add(global[column_axis], first_column), column);
                    let values = self.load_neighbours([global[0], global[1]], &e, &load);
                    let panel_type = with_shape(self.o.stage.result().r#type(), &[s.rows, s.span]);
                    let slab = Slab::build(e.loc(), panel_type, self.o.ring, &[self.slot, block, panel]);
                    self.store(&e, &values, e.insert(slab).result0(), [row, column]);
                };
                if total % self.threads == 0 {
                    one(e);
                } else {
                    e.if_then(e.cmp(Cmp::Ult, number, e.index(total)), one);
                }
            },
        );
    }
}

/// Zero of a number type.
pub(super) fn zero<'c>(e: &Emit<'c, '_>, t: Type<'c>) -> V<'c> {
    let value = if t.is_float_type() {
        FloatAttribute::new(e.context(), t, 0.0).into()
    } else {
        IntegerAttribute::new(t, 0).into()
    };
    e.value("arith.constant", &[], t, &[("value", value)])
}
