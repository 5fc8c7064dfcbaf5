//! The layouts that products of matrices want.
use super::graph::{Graph, is_free};
use crate::layout_conversion::of_warpgroups;
use girih_core::layout::{Factor, MmaTile, mma_neighbours, mma_operand};
use girih_dialects::tile::{
    distribution::{Linear, bitcast, linear_of},
    layouts::layout_of,
    ops::{
        mma::{LoadStaged, Mma, Side},
        reduce::Reduce,
        shape::Bitcast,
        value::ConvertLayout,
        wgmma::Major,
    },
    verify::number_bits,
};
use girih_ir::{ext::BlockExt, prelude::*};

type V<'c> = Value<'c, 'c>;

/// Lays out the accumulators of a kernel, the wholes of what warpgroups hold, and what follows from them.
pub fn spread<'c>(graph: &mut Graph<'c>, body: &[OperationRef<'c, 'c>], warps: u64) {
    let products: Vec<Mma> = body.iter().filter_map(|op| op.cast::<Mma>()).collect();
    let rows = are_rows_needed(&products, body);
    for op in body {
        let (tile, layout) = if let Some(mma) = op.cast::<Mma>() {
            (mma.result(), accumulator(mma, &products, warps, rows))
        } else if let Some(convert) = op.cast::<ConvertLayout>() {
            let (from, to) = (convert.source(), convert.result());
            let whole = if layout_of(from.r#type()).is_some() { to } else { from };
            (whole, as_warpgroups(convert))
        } else {
            continue;
        };
        match (graph.number(tile), layout) {
            (Some(n), Some(layout)) if graph.layouts[n].is_none() => graph.spread(n, layout),
            // No drawn layout is that of an accumulator.
            (Some(n), Some(layout)) if graph.drawn[n] => graph.layouts[n] = Some(layout),
            _ => {}
        }
    }
    spread_to_staged(graph, &products);
}

/// The layout that an operand of a product must have, or of what goes to warpgroups.
pub fn needed<'c>(op: OperationRef<'c, 'c>, operand: usize) -> Option<Attribute<'c>> {
    if let Some(convert) = op.cast::<ConvertLayout>() {
        let (from, to) = (convert.source().r#type(), convert.result().r#type());
        return match (layout_of(from), layout_of(to)) {
            (_, Some(_)) => as_warpgroups(convert),
            // A warpgroup's part stays what it is.
            (Some(_), None) => None,
            // What is free has the layout at once.
            (None, None) => to.encoding().filter(|_| is_free(convert.source())),
        };
    }
    let mma = op.cast::<Mma>()?;
    let t = mma.result().r#type();
    let side = match operand {
        0 => Side::A,
        1 => Side::B,
        _ => return t.encoding(),
    };
    operand_layout(mma, side, t.encoding()?)
}

/// The layout that an operand must have beside an accumulator that has `accumulator`.
fn operand_layout<'c>(mma: Mma<'c, 'c>, side: Side, accumulator: Attribute<'c>) -> Option<Attribute<'c>> {
    let own = mma.operand(side).r#type();
    let k = u64::try_from(own.shape()?[side.k_axis()]).ok()?;
    let accumulator = linear_of(accumulator, &mma.result().r#type().shape()?)?;
    let bits = number_bits(mma.a().r#type())?.min(number_bits(mma.b().r#type())?);
    // Of numbers of 32 bits `ldmatrix` gives a thread no two side by side, which as operands of another product they would be.
    let along_k = |side: Side| staged(mma.operand(side)).is_some_and(|load| load.major() == Major::K);
    let neighbours = match bits == 32 && along_k(Side::A) && along_k(Side::B) {
        true => 1,
        false => mma_neighbours(bits),
    };
    let layout = mma_operand(&accumulator, factor(side), k, neighbours).ok()?;
    Some(Linear::of_core(mma.op().ctx(), &layout, 2).into())
}

/// The staged operand that a tile is, or is the bits of.
fn staged<'c>(v: V<'c>) -> Option<LoadStaged<'c, 'c>> {
    let by = v.defining_op()?;
    match by.cast::<Bitcast>() {
        Some(cast) => staged(cast.source()),
        None => by.cast::<LoadStaged>(),
    }
}

/// Gives staged operands the layout in which products need them.
fn spread_to_staged<'c>(graph: &mut Graph<'c>, products: &[Mma<'c, 'c>]) {
    for mma in products {
        for side in [Side::A, Side::B] {
            let accumulator = graph.layout(mma.result());
            let mut layout = accumulator.and_then(|acc| operand_layout(*mma, side, acc));
            let mut v = mma.operand(side);
            while let Some(cast) = v.defining_op().and_then(|by| by.cast::<Bitcast>()) {
                let shape = |v: V<'c>| v.r#type().shape().unwrap_or_default();
                layout = layout.and_then(|l| bitcast(l, &shape(v), &shape(cast.source())));
                v = cast.source();
            }
            let is_staged = v.defining_op().is_some_and(|by| by.is::<LoadStaged>());
            match (graph.number(v).filter(|_| is_staged), layout) {
                (Some(n), Some(layout)) if graph.layouts[n].is_none() => graph.spread(n, layout),
                _ => {}
            }
        }
    }
}

/// As the layout algebra has it.
pub fn factor(side: Side) -> Factor {
    match side {
        Side::A => Factor::A,
        Side::B => Factor::B,
    }
}

/// The layout in which the whole of a tile lies as warpgroups hold its parts.
fn as_warpgroups<'c>(convert: ConvertLayout<'c, 'c>) -> Option<Attribute<'c>> {
    let (from, to) = (convert.source().r#type(), convert.result().r#type());
    let whole = match (layout_of(from), layout_of(to)) {
        (Some(_), None) => to,
        (None, Some(_)) => from,
        _ => return None,
    };
    let distribution = of_warpgroups(&whole.shape()?)?;
    Some(Linear::of_core(convert.op().ctx(), &distribution.linear, 2).into())
}

/// The layout of a product's accumulator. Products with as many rows share one, made for the widest, so that what goes from
/// one to the other element by element has the layout that it needs.
fn accumulator<'c>(mma: Mma<'c, 'c>, products: &[Mma<'c, 'c>], warps: u64, rows: bool) -> Option<Attribute<'c>> {
    let sizes = |mma: &Mma<'c, 'c>| -> Option<(u64, u64)> {
        let shape = mma.result().r#type().shape()?;
        Some((u64::try_from(shape[0]).ok()?, u64::try_from(shape[1]).ok()?))
    };
    let (m, n) = sizes(&mma)?;
    let alike = products.iter().filter_map(sizes).filter(|(other, _)| *other == m);
    let widest = alike.map(|(_, n)| n).max()?;
    let shared = MmaTile::choose(m, widest, warps, rows);
    let (tile, n) = match shared.across {
        1 => (shared, widest),
        _ => (MmaTile::choose(m, n, warps, rows), n),
    };
    let layout = tile.accumulator(m, n).ok()?;
    Some(Linear::of_core(mma.op().ctx(), &layout, 2).into())
}

/// Whether rows of accumulators are wanted whole: they are reduced, or go into a product as its operand.
fn are_rows_needed<'c>(products: &[Mma<'c, 'c>], body: &[OperationRef<'c, 'c>]) -> bool {
    // What warpgroups have multiplied comes through a change of layout.
    let is_product = |op: OperationRef<'c, 'c>| {
        let from_warpgroups = |c: ConvertLayout<'c, 'c>| layout_of(c.source().r#type()).is_some();
        op.is::<Mma>() || op.cast::<ConvertLayout>().is_some_and(from_warpgroups)
    };
    let reduced = body
        .iter()
        .filter_map(|op| op.cast::<Reduce>())
        .filter(|r| r.axis() == 1);
    let operands = products.iter().flat_map(|mma| [mma.a(), mma.b()]);
    let wanted = operands.chain(reduced.flat_map(|r| r.sources()));
    wanted.into_iter().any(|v| comes_from(v, is_product))
}

/// Whether a tile is computed from what an op gives that `wanted` means.
fn comes_from<'c>(v: V<'c>, wanted: impl Fn(OperationRef<'c, 'c>) -> bool) -> bool {
    let (mut open, mut seen) = (vec![v], vec![]);
    while let Some(v) = open.pop() {
        if seen.contains(&v) || !v.r#type().is_ranked_tensor_type() {
            continue;
        }
        seen.push(v);
        let Some(op) = v.defining_op() else { continue };
        if wanted(op) {
            return true;
        }
        open.extend(op.operand_values());
        for region in 0..op.region_count() {
            let end = op.region_at(region).entry().and_then(|b| b.terminator_op());
            open.extend(end.map(|t| t.operand_values()).unwrap_or_default());
        }
    }
    false
}
