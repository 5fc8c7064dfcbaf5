//! Tiles whose layout passes chose, to and from global memory; those in shared memory are handed on (`shared_tile`).
//!
//! Each access moves `vector` neighbours of a thread and is predicated on lying inside the memref, and on the mask where there
//! is one; a vector is inside or outside as a whole, and its mask one, which `tile-vectorize-accesses` has seen to. All loads
//! of a tile are issued before any is used. Numbers of 16 bits that come one by one share registers in pairs.
use super::{
    access::{How, Second, Words, load, load_pair, store},
    global_place::{Place, Rows, both},
    group, lower,
    memory::Global,
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
        let place = Place::new(&e, op.source().r#type(), operands.get(0), &indices, d);
        let place = place.masked(group(op.op(), Load::DEF, operands, "mask"));
        let vector_if = group(op.op(), Load::DEF, operands, "vector_if").first().copied();
        let vectors = Vectors::new(op.vector(), vector_if);
        let values = load_tile(&e, &place, op.result().r#type(), vectors, outside, op.cache());
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
        let outside = Outside::Number(op.pad());
        let vectors = Vectors::new(op.vector(), None);
        let values = load_tile(&e, &place, op.result().r#type(), vectors, outside, op.cache());
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
        let vector_if = group(op.op(), Store::DEF, operands, "vector_if").first().copied();
        let vectors = Vectors::new(op.vector(), vector_if);
        store_tile(&e, &place, op.value().r#type(), operands.get(0), vectors, op.cache());
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
        let vectors = Vectors::new(op.vector(), None);
        store_tile(&e, &place, op.value().r#type(), operands.get(0), vectors, op.cache());
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
    place: &Place<'c>,
    tile: Type<'c>,
    vectors: Vectors<'c>,
    outside: Outside<'c, '_>,
    cache: Option<CachePolicy>,
) -> Vec<V<'c>> {
    let Some(condition) = vectors.condition else {
        let (words, loaded) = load_words(e, place, tile, vectors.count, outside, cache);
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
            let (own, loaded) = place.in_branch(|| load_words(&e, place, tile, 1, outside, cache));
            if own.bits == words.bits && own.count * vectors.count == words.count * own.elements() {
                return loaded;
            }
            let elements = own.unpack(&e, &loaded);
            elements
                .chunks(vectors.count)
                .flat_map(|part| words.pack(&e, part))
                .collect()
        },
    );
    words.unpack(e, &loaded)
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
                    chosen
                        .map(|(own, other)| e.value("arith.select", &[*test, *own, other], own.r#type(), &[]))
                        .collect()
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
    place: &Place<'c>,
    tile: Type<'c>,
    values: &[V<'c>],
    vectors: Vectors<'c>,
    cache: Option<CachePolicy>,
) {
    let element = tile.element_type().unwrap_or(tile);
    let element_bytes = element_bits(tile).unwrap_or(8) / 8;
    let writes = writes(e, &place.coordinates.distribution);
    let store_all = |e: &Emit<'c, '_>, vector: usize| {
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
    let Some(condition) = vectors.condition else {
        return store_all(e, vectors.count);
    };
    // What both branches share is made in front.
    place.predicate(e, 0);
    let nothing = |e: Emit<'c, '_>, vector| {
        place.in_branch(|| store_all(&e, vector));
        vec![]
    };
    e.if_else(condition, &[], |e| nothing(e, vectors.count), |e| nothing(e, 1));
}
