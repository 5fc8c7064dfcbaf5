//! Tiles whose layout passes chose, to and from global memory; those in shared memory are handed on (`shared_tile`).
//!
//! Each access moves `vector` neighbours of a thread and is predicated on lying inside the memref, and on the mask where there
//! is one; a vector is inside or outside as a whole, and its mask one, which `tile-vectorize-accesses` has seen to. All loads
//! of a tile are issued before any is used. Numbers of 16 bits that come one by one share registers in pairs. Neighbours that
//! are moved one by one go to and from the lanes of a warp (`neighbours`).
use super::{
    access::{How, Second, Words, load, load_pair, store},
    global_place::{Accessed, Place, Rows, both},
    group, lower,
    memory::Global,
    neighbours::{Exchange, Way},
    refuse, shared_tile,
    tma::policy,
};
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
use girih_ir::{conversion::Conversion, op::OpView, prelude::*};
use std::rc::Rc;

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
        let pass_thru = group(op.op(), Load::DEF, operands, "pass_thru");
        let outside = match op.pass_thru() {
            Some(_) => Outside::Tile(&pass_thru),
            None => Outside::Number(op.pad()),
        };
        if shared_of(op.source().r#type()).is_some() {
            let place = shared_tile::Place::new(op.source(), &op.indices(), operands.one(0), indices);
            let place = place.masked(op.mask(), group(op.op(), Load::DEF, operands, "mask"));
            let values = place.load(&e, op.result().r#type(), &d, outside);
            rewriter.replace_multiple(op.op(), &[values]);
            return Ok(());
        }
        let vector_if = group(op.op(), Load::DEF, operands, "vector_if").first().copied();
        let vectors = Vectors::new(op.vector(), vector_if);
        let mask = group(op.op(), Load::DEF, operands, "mask");
        let accessed = Accessed {
            memref: op.source().r#type(),
            memory: operands.get(0),
            indices: &indices,
            rows: None,
        };
        let Some(ways) = Ways::new(&e, Way::Load, &accessed, d, mask) else {
            return refuse(op.op(), ROWS_ELSEWHERE);
        };
        let values = load_tile(&e, &ways, op.result().r#type(), vectors, outside, op.cache());
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
        let outside = Outside::Number(op.pad());
        let vectors = Vectors::new(op.vector(), None);
        let mask = group(op.op(), Gather::DEF, operands, "mask");
        let accessed = Accessed {
            memref: op.source().r#type(),
            memory: operands.get(0),
            indices: &columns,
            rows: Some(rows),
        };
        let Some(ways) = Ways::new(&e, Way::Load, &accessed, d, mask) else {
            return refuse(op.op(), ROWS_ELSEWHERE);
        };
        let values = load_tile(&e, &ways, op.result().r#type(), vectors, outside, op.cache());
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
        let vector_if = group(op.op(), Store::DEF, operands, "vector_if").first().copied();
        let vectors = Vectors::new(op.vector(), vector_if);
        let mask = group(op.op(), Store::DEF, operands, "mask");
        let accessed = Accessed {
            memref: op.destination().r#type(),
            memory: operands.get(1),
            indices: &indices,
            rows: None,
        };
        let Some(ways) = Ways::new(&e, Way::Store, &accessed, d, mask) else {
            return refuse(op.op(), ROWS_ELSEWHERE);
        };
        store_tile(&e, &ways, op.value().r#type(), operands.get(0), vectors, op.cache());
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
        let vectors = Vectors::new(op.vector(), None);
        let mask = group(op.op(), Scatter::DEF, operands, "mask");
        let accessed = Accessed {
            memref: op.destination().r#type(),
            memory: operands.get(1),
            indices: &columns,
            rows: Some(rows),
        };
        let Some(ways) = Ways::new(&e, Way::Store, &accessed, d, mask) else {
            return refuse(op.op(), ROWS_ELSEWHERE);
        };
        store_tile(&e, &ways, op.value().r#type(), operands.get(0), vectors, op.cache());
        rewriter.erase(op.op());
        Ok(())
    });
}

/// What an op is told whose threads do not hold the numbers of their rows.
pub(super) const ROWS_ELSEWHERE: &str =
    "has the numbers of its rows in a layout that is not its tile's without the other axes; run tile-assign-layouts";

/// How many neighbours an access moves, and where it does.
#[derive(Clone, Copy)]
struct Vectors<'c> {
    count: usize,
    /// Where this is false, one by one.
    condition: Option<V<'c>>,
}

impl<'c> Vectors<'c> {
    fn new(count: Option<i64>, condition: Option<V<'c>>) -> Self {
        Vectors {
            count: count.unwrap_or(1) as usize,
            condition,
        }
    }
}

/// Where a tile lies for threads that move vectors, and for those that move neighbours one by one.
struct Ways<'c, 'a> {
    accessed: &'a Accessed<'c, 'a>,
    place: Place<'c>,
    /// Ways to exchange neighbours in a warp, the best first.
    exchanges: Vec<Exchange>,
}

impl<'c, 'a> Ways<'c, 'a> {
    /// `None` where a thread does not hold the numbers of its rows.
    fn new(
        e: &Emit<'c, '_>,
        way: Way,
        accessed: &'a Accessed<'c, 'a>,
        d: Rc<Distribution>,
        mask: Vec<V<'c>>,
    ) -> Option<Self> {
        let bytes = element_bits(accessed.memref).unwrap_or(8) / 8;
        // Masks stay with the thread.
        let exchanges = match mask.is_empty() {
            true => Exchange::all(&d, accessed.memref, bytes, way),
            false => vec![],
        };
        let place = accessed.place(e, d)?.masked(mask);
        Some(Ways {
            accessed,
            place,
            exchanges,
        })
    }

    /// Where the tile lies after an exchange; made where it is used, so that nobody else has its addresses.
    fn one_by_one(&self, e: &Emit<'c, '_>) -> Option<(Place<'c>, &Exchange)> {
        let mut found = self.exchanges.iter();
        found.find_map(|x| Some((self.accessed.place(e, x.distribution.clone())?, x)))
    }
}

/// What elements read as that are outside of a memref, or whose mask is false.
#[derive(Clone, Copy)]
pub(super) enum Outside<'c, 'a> {
    /// A number, zero where there is none.
    Number(Option<Attribute<'c>>),
    /// What each register has in another tile.
    Tile(&'a [V<'c>]),
}

impl<'c> Outside<'c, '_> {
    /// The number, and zero where another tile says what stands there.
    pub(super) fn number(self, e: &Emit<'c, '_>, element: Type<'c>) -> V<'c> {
        match self {
            Outside::Number(Some(pad)) => e.value("arith.constant", &[], element, &[("value", pad)]),
            _ => super::fragment::zero_of(e, element),
        }
    }
}

/// What each register of a tile is in memory.
fn load_tile<'c>(
    e: &Emit<'c, '_>,
    ways: &Ways<'c, '_>,
    tile: Type<'c>,
    vectors: Vectors<'c>,
    outside: Outside<'c, '_>,
    cache: Option<CachePolicy>,
) -> Vec<V<'c>> {
    let place = &ways.place;
    let Some(condition) = vectors.condition else {
        let (words, loaded) = match vectors.count {
            1 => load_one_by_one(e, ways, tile, outside, cache),
            count => load_words(e, place, tile, count, outside, cache),
        };
        // Unpacked only now, so that every load is under way before the first is waited for.
        return words.unpack(e, &loaded);
    };
    let (element, bytes) = (tile.element_type().unwrap_or(tile), element_bits(tile).unwrap_or(8) / 8);
    let words = Words::new(element, bytes, vectors.count);
    let count = place.coordinates.distribution.registers.len();
    // What both branches share is made in front.
    place.predicate(e, 0);
    let loaded = e.if_else(
        condition,
        &vec![e.int(words.bits); count / vectors.count * words.count],
        |e| place.in_branch(|| load_words(&e, place, tile, vectors.count, outside, cache).1),
        |e| {
            let (own, loaded) = place.in_branch(|| load_one_by_one(&e, ways, tile, outside, cache));
            if own.bits == words.bits && own.count * vectors.count == words.count * own.elements() {
                return loaded;
            }
            words.pack_all(&e, &own.unpack(&e, &loaded))
        },
    );
    words.unpack(e, &loaded)
}

/// The registers of PTX that a tile is loaded into, element by element.
fn load_one_by_one<'c>(
    e: &Emit<'c, '_>,
    ways: &Ways<'c, '_>,
    tile: Type<'c>,
    outside: Outside<'c, '_>,
    cache: Option<CachePolicy>,
) -> (Words<'c>, Vec<V<'c>>) {
    let Some((place, exchange)) = ways.one_by_one(e) else {
        return load_words(e, &ways.place, tile, 1, outside, cache);
    };
    let number = match outside {
        Outside::Number(_) => outside,
        Outside::Tile(_) => Outside::Number(None),
    };
    let (own, loaded) = load_words(e, &place, tile, 1, number, cache);
    let words = exchange.words(tile.element_type().unwrap_or(tile), element_bits(tile).unwrap_or(8) / 8);
    let loaded = match own.elements() == words.elements() {
        true => loaded,
        false => words.pack_all(e, &own.unpack(e, &loaded)),
    };
    let loaded = exchange.apply(e, &words, loaded);
    let Outside::Tile(others) = outside else {
        return (words, loaded);
    };
    // The other tile is the thread's own.
    let chosen: Vec<V> = (words.unpack(e, &loaded).into_iter().zip(others).enumerate())
        .map(|(r, (own, other))| match ways.place.predicate(e, r) {
            Some(inside) => e.select(inside, own, *other),
            None => own,
        })
        .collect();
    let chosen = words.pack_all(e, &chosen);
    (words, chosen)
}

/// The registers of PTX that a tile is loaded into, in vectors of `vector` elements.
fn load_words<'c>(
    e: &Emit<'c, '_>,
    place: &Place<'c>,
    tile: Type<'c>,
    vector: usize,
    outside: Outside<'c, '_>,
    cache: Option<CachePolicy>,
) -> (Words<'c>, Vec<V<'c>>) {
    let element = tile.element_type().unwrap_or(tile);
    let element_bytes = element_bits(tile).unwrap_or(8) / 8;
    let count = place.coordinates.distribution.registers.len();
    let bytes = element_bytes * vector as u64;
    let in_pairs = vector == 1 && element_bytes == 2 && count > 1 && place.has_edges();
    let together = if in_pairs { 2 } else { vector };
    let words = Words::new(element, element_bytes, together);
    let pad = outside.number(e, element);
    let policy = policy(e, cache, &[]);
    let mut padding: Option<Vec<V>> = None;
    let mut tests: Vec<Option<V>> = vec![];
    let mut loaded: Vec<Vec<V>> = vec![];
    for r in (0..count).step_by(together) {
        let at = place.address(e, r);
        let how = How {
            predicate: place.predicate(e, r),
            policy,
        };
        tests.push(how.predicate);
        loaded.push(if how.is_plain() {
            // Several in a register are loaded as registers, so that they can be taken out of them as suits.
            let pointer = e.byte_offset_by(at.0, at.1);
            match words.are_packed() {
                true => e.load_many(pointer, words.count, e.int(words.bits), bytes),
                false => words.pack(e, &e.load_many(pointer, vector, element, bytes)),
            }
        } else if how.predicate.is_none() {
            load(e, &words, bytes, at, how, &[])
        } else {
            let otherwise = match outside {
                Outside::Tile(others) if vector == 1 => words.pack(e, &others[r..r + together]),
                _ => padding
                    .get_or_insert_with(|| words.pack(e, &vec![pad; together]))
                    .clone(),
            };
            match (in_pairs, how.predicate, place.predicate(e, r + together - 1)) {
                (true, Some(p), Some(q)) => {
                    let second = match place.is_next(r) {
                        true => Second::Next,
                        false => Second::At(place.address(e, r + 1)),
                    };
                    vec![load_pair(e, (at, second), [p, q], policy, otherwise[0])]
                }
                _ => load(e, &words, bytes, at, how, &otherwise),
            }
        });
    }
    // Loads of vectors do not wait for the other tile.
    if let (Outside::Tile(others), 2..) = (outside, vector) {
        replace_outside(e, &words, &tests, others, &mut loaded);
    }
    (words, loaded.concat())
}

/// Puts what another tile has into the vectors whose test fails. A thread all of whose vectors are inside skips it.
fn replace_outside<'c>(
    e: &Emit<'c, '_>,
    words: &Words<'c>,
    tests: &[Option<V<'c>>],
    others: &[V<'c>],
    loaded: &mut [Vec<V<'c>>],
) {
    let Some(inside) = tests.iter().flatten().copied().reduce(|a, b| e.and(a, b)) else {
        return;
    };
    let all: Vec<V> = loaded.concat();
    let types: Vec<Type> = all.iter().map(|v| v.r#type()).collect();
    let vector = others.len() / loaded.len();
    let replaced = |e: Emit<'c, '_>| -> Vec<V<'c>> {
        let vectors = loaded.iter().zip(tests).zip(others.chunks(vector));
        vectors
            .flat_map(|((own, test), others)| match test {
                None => own.clone(),
                Some(test) => {
                    let others = words.pack(&e, others);
                    let chosen = own.iter().zip(others);
                    chosen.map(|(own, other)| e.select(*test, *own, other)).collect()
                }
            })
            .collect()
    };
    let new = e.if_else(inside, &types, |_| all.clone(), replaced);
    let count = loaded[0].len();
    loaded
        .iter_mut()
        .zip(new.chunks(count))
        .for_each(|(own, new)| *own = new.to_vec());
}

/// Whether this thread writes: of threads that hold copies one does. `None`: always.
pub(super) fn writes<'c>(e: &Emit<'c, '_>, d: &Distribution) -> Option<V<'c>> {
    let copies = d.copy_bits() as i64;
    (copies != 0).then(|| e.cmp(Cmp::Eq, e.mask(e.sreg("tid.x"), copies), e.c32(0)))
}

fn store_tile<'c>(
    e: &Emit<'c, '_>,
    ways: &Ways<'c, '_>,
    tile: Type<'c>,
    values: &[V<'c>],
    vectors: Vectors<'c>,
    cache: Option<CachePolicy>,
) {
    let element = tile.element_type().unwrap_or(tile);
    let element_bytes = element_bits(tile).unwrap_or(8) / 8;
    let writes = writes(e, &ways.place.coordinates.distribution);
    let store_all = |e: &Emit<'c, '_>, place: &Place<'c>, values: &[V<'c>], vector: usize| {
        let bytes = element_bytes * vector as u64;
        let words = Words::new(element, element_bytes, vector);
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
    };
    let store_by = |e: &Emit<'c, '_>, vector: usize| match (vector == 1).then(|| ways.one_by_one(e)).flatten() {
        Some((place, exchange)) => {
            let words = exchange.words(element, element_bytes);
            let dealt_out = exchange.apply(e, &words, words.pack_all(e, values));
            store_all(e, &place, &words.unpack(e, &dealt_out), 1);
        }
        None => store_all(e, &ways.place, values, vector),
    };
    let Some(condition) = vectors.condition else {
        return store_by(e, vectors.count);
    };
    // What both branches share is made in front.
    ways.place.predicate(e, 0);
    let nothing = |e: Emit<'c, '_>, vector| {
        ways.place.in_branch(|| store_by(&e, vector));
        vec![]
    };
    e.if_else(condition, &[], |e| nothing(e, vectors.count), |e| nothing(e, 1));
}
