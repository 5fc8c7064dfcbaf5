//! Where the elements of a tile lie in the larger one: its sizes, the mask of its own elements, and the parts of slices.
use super::numbers::{constant, zero_of};
use girih_core::layout::Padded;
use girih_dialects::{
    nvvm::Emit,
    tile::ops::{
        slice::Concat,
        value::{Iota, Splat},
    },
};
use girih_ir::{ext::DYNAMIC, mlir_sys::*, prelude::*};

type V<'c> = Value<'c, 'c>;

pub fn is_padded(size: i64) -> bool {
    size > 0 && !size.unsigned_abs().is_power_of_two()
}

pub fn padded(sizes: &[i64]) -> Vec<i64> {
    let sizes: Vec<u64> = sizes.iter().map(|s| s.unsigned_abs()).collect();
    Padded::shape(&sizes).into_iter().map(|s| s as i64).collect()
}

pub fn tile_type<'c>(shape: &[i64], element: Type<'c>) -> Type<'c> {
    // SAFETY: no encoding is the null attribute.
    unsafe {
        let none = mlirAttributeGetNull();
        let (rank, shape) = (shape.len() as isize, shape.as_ptr());
        Type::from_raw(mlirRankedTensorTypeGet(rank, shape, element.to_raw(), none))
    }
}

/// Which elements of a padded tile are its own along some axes: truth values, one for each. `None` where all are.
pub fn own<'c>(e: &Emit<'c, '_>, sizes: &[i64], axes: impl IntoIterator<Item = usize>) -> Option<V<'c>> {
    let shape = padded(sizes);
    let (places, truths) = (tile_type(&shape, e.i32_type()), tile_type(&shape, e.int(1)));
    let mut all: Option<V> = None;
    for axis in axes.into_iter().filter(|a| is_padded(sizes[*a])) {
        let place = e.insert(Iota::build(e.loc(), places, axis as i64)).result0();
        let size = constant(e, places, &sizes[axis].to_string());
        let below = e.value("arith.cmpi", &[place, size], truths, &[("predicate", e.i64_attr(2))]);
        all = Some(all.map_or(below, |a| e.value("arith.andi", &[a, below], truths, &[])));
    }
    all
}

/// Whether elements of a tile have the same numbers, padded, in two shapes.
pub fn keeps_places(from: &[i64], into: &[i64]) -> bool {
    let (a, b) = (padded(from), padded(into));
    let count = |sizes: &[i64]| sizes.iter().product::<i64>();
    if count(&a) != count(&b) {
        return false;
    }
    // The number of an element among the padded ones.
    let number = |mut n: i64, sizes: &[i64], padded: &[i64]| {
        let (mut at, mut stride) = (0, 1);
        for (size, whole) in sizes.iter().zip(padded).rev() {
            at += n % size * stride;
            n /= size;
            stride *= whole;
        }
        at
    };
    (0..count(from)).all(|n| number(n, from, &a) == number(n, into, &b))
}

/// Whether starts are known, and a part of that size ends inside.
pub fn lies_inside(at: &[i64], steps: Option<&[i64]>, part: Type<'_>, whole: Type<'_>) -> bool {
    let (part, whole) = (part.shape().unwrap_or_default(), whole.shape().unwrap_or_default());
    let fits = |axis: usize| {
        let step = steps.map_or(1, |s| s[axis]);
        let last = (part[axis] - 1).saturating_mul(step).saturating_add(at[axis]);
        at[axis] != DYNAMIC && (0..whole[axis]).contains(&last)
    };
    (0..part.len()).all(fits)
}

/// Starts as indices, which may take a part past the edge.
pub fn moving<'c>(e: &Emit<'c, '_>, at: &[i64], offsets: &[V<'c>]) -> (Vec<i64>, Vec<V<'c>>) {
    let mut offsets = offsets.iter();
    let all = at.iter().filter_map(|at| match *at {
        DYNAMIC => offsets.next().copied(),
        n => Some(e.index(n)),
    });
    (vec![DYNAMIC; at.len()], all.collect())
}

/// A tile with zeros beside it until a part in such steps is not longer than it.
pub fn doubled<'c>(e: &Emit<'c, '_>, mut tile: V<'c>, part: Type<'c>, steps: Option<&[i64]>) -> V<'c> {
    let part = part.shape().unwrap_or_default();
    for (axis, size) in part.iter().enumerate() {
        let step = steps.map_or(1, |s| s[axis].saturating_abs());
        let reach = (size - 1).saturating_mul(step);
        loop {
            let mut shape = tile.r#type().shape().unwrap_or_default();
            if reach < shape[axis] {
                break;
            }
            shape[axis] *= 2;
            let wide = tile_type(&shape, tile.r#type().element_type().unwrap_or(tile.r#type()));
            let zero = constant(e, tile.r#type(), zero_of(tile.r#type()));
            let both = Concat::build(e.loc(), wide, &[tile, zero], None, axis as i64);
            tile = e.insert(both).result0();
        }
    }
    tile
}

/// Which elements of a tile of type `whole` a part of `sizes` replaces; `None`: all.
pub fn inserted<'c>(
    e: &Emit<'c, '_>,
    whole: Type<'c>,
    sizes: &[i64],
    at: &[i64],
    offsets: &[V<'c>],
    steps: &[i64],
) -> Option<V<'c>> {
    let shape = whole.shape().unwrap_or_default();
    let (places, truths) = (tile_type(&shape, e.i64_type()), tile_type(&shape, e.int(1)));
    let mut offsets = offsets.iter();
    let mut all: Option<V> = None;
    for (axis, size) in sizes.iter().enumerate() {
        let start = match at[axis] {
            DYNAMIC => e.to_int(*offsets.next()?, 64),
            n => e.c64(n),
        };
        if !is_padded(*size) {
            continue;
        }
        let start = e.insert(Splat::build(e.loc(), places, start)).result0();
        let place = e.insert(Iota::build(e.loc(), places, axis as i64)).result0();
        let way = if steps[axis] < 0 {
            [start, place]
        } else {
            [place, start]
        };
        let way = e.value("arith.subi", &way, places, &[]);
        let step = steps[axis].saturating_abs();
        // Unsigned, so that what lies before the start is outside too.
        let end = constant(e, places, &size.saturating_mul(step).to_string());
        let mut own = e.value("arith.cmpi", &[way, end], truths, &[("predicate", e.i64_attr(6))]);
        if step != 1 {
            let by = constant(e, places, &step.to_string());
            let rest = e.value("arith.remui", &[way, by], places, &[]);
            let zero = constant(e, places, "0");
            let meets = e.value("arith.cmpi", &[rest, zero], truths, &[("predicate", e.i64_attr(0))]);
            own = e.value("arith.andi", &[own, meets], truths, &[]);
        }
        all = Some(all.map_or(own, |a| e.value("arith.andi", &[a, own], truths, &[])));
    }
    all
}
