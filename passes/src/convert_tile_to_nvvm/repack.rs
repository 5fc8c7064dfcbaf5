//! Boxes of tiles, through shared memory: `tile.repack`.
//!
//! An element of a box has a number, counted with the last axis fastest, and lies there in the scratch.
use super::{
    Matched, distributed::Coordinates, global_place::both, global_tile::writes, group, lower, refuse,
    route::element_pointer, sync::meet,
};
use girih_dialects::{
    nvvm::{Cmp, Emit, V},
    tile::{distribution::Distribution, ops::repack::Repack, verify::element_bits},
};
use girih_ir::{
    conversion::{Conversion, ConversionRewriter, Operands},
    op::OpView,
    prelude::*,
};

/// A box of a tile, as the running thread sees it.
struct Part<'c> {
    coordinates: Coordinates<'c>,
    at: Vec<i64>,
    sizes: Vec<i64>,
}

impl<'c> Part<'c> {
    /// The number in the box of what a register holds, i32, and whether it is in the box; `None`: always.
    fn place(&self, e: &Emit<'c, '_>, register: usize) -> (V<'c>, Option<V<'c>>) {
        let (mut number, mut inside) = (e.c32(0), None);
        for (axis, (at, size)) in self.at.iter().zip(&self.sizes).enumerate() {
            let place = e.sub(self.coordinates.at(e, register, axis), e.c32(*at));
            number = e.add(e.mul(number, e.c32(*size)), place);
            if *size != self.coordinates.distribution.shape[axis] {
                // Unsigned, so that what lies before the box is outside too.
                inside = both(e, inside, Some(e.cmp(Cmp::Ult, place, e.c32(*size))));
            }
        }
        (number, inside)
    }
}

/// Lowers the op.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, Repack, |op, operands, rewriter| repack(op, operands, rewriter));
}

fn repack<'c>(op: Repack<'c, 'c>, operands: &Operands<'c, '_>, rewriter: &ConversionRewriter<'c>) -> Matched {
    let (source, result) = (op.source().r#type(), op.result().r#type());
    let (Some(from), Some(to)) = (Distribution::of(source), Distribution::of(result)) else {
        return Err(rewriter.no_match(op.op(), "no layout"));
    };
    let scratch = group(op.op(), Repack::DEF, operands, "scratch");
    let Some(scratch) = scratch.first().copied() else {
        return refuse(
            op.op(),
            "moves between threads, which needs scratch; run tile-allocate-scratch first",
        );
    };
    let (element, bytes) = (
        result.element_type().unwrap_or(result),
        element_bits(source).unwrap_or(8) / 8,
    );
    let e = Emit::new(rewriter, op.op().location());
    let speaks = writes(&e, &from);
    let held = Part {
        coordinates: Coordinates::new(&e, from),
        at: op.at(),
        sizes: op.sizes(),
    };
    for (register, value) in operands.get(0).iter().enumerate() {
        let (number, inside) = held.place(&e, register);
        let write = |e: &Emit<'c, '_>| {
            let pointer = element_pointer(e, scratch, number, bytes as i64, 0);
            e.store(&[*value], pointer, bytes);
        };
        match both(&e, inside, speaks) {
            Some(condition) => e.if_then(condition, |e| write(&e)),
            None => write(&e),
        }
    }
    meet(&e, op.op());
    let registers = to.registers.len();
    let wanted = Part {
        coordinates: Coordinates::new(&e, to),
        at: op.onto(),
        sizes: op.extents(),
    };
    let load = |register: usize| {
        let (number, inside) = wanted.place(&e, register);
        let first = e.c32(0);
        let number = inside.map_or(number, |inside| {
            e.value("arith.select", &[inside, number, first], e.i32_type(), &[])
        });
        e.load_many(element_pointer(&e, scratch, number, bytes as i64, 0), 1, element, bytes)[0]
    };
    let moved: Vec<V> = (0..registers).map(load).collect();
    rewriter.replace_multiple(op.op(), &[moved]);
    Ok(())
}
