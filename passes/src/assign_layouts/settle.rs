//! Gives ops their operands in the layouts that they need: what is free is made anew, and the rest is converted.
use super::{
    Access,
    anchors::coalesced,
    graph::{Graph, first_axis, inverse, is_free, is_open, parts_of, rows_of, sliced},
    laid_out, plain, products,
};
use crate::{shared_uses::in_role, slice::is_defined_in};
use girih_core::layout::{Movement, conversion};
use girih_dialects::tile::{
    distribution::{Distribution, Sliced, bitcast, is_distributed, linear_of, refitted, reshaped, transposed},
    ops::{
        atomic::AtomicRmw,
        cluster_reduce::ClusterReduce,
        debug::{Assert, Print},
        memory::{Load, Store},
        reduce::Reduce,
        repack::Repack,
        rows::{Scatter, mask_operand, masked},
        scan::Scan,
        shape::{Bitcast, Broadcast, ExpandDims, Reshape, Transpose},
        slice::{InsertSlice, Slice},
        value::{ConvertLayout, Opaque},
    },
    verify::{element_bits, number_bits},
};
use girih_ir::{
    ext::BlockExt,
    mlir_sys::*,
    op::{OpView, Trait},
    pass::PassContext,
    prelude::*,
    rewrite::{Before, Builder},
};

/// Free tiles and the layouts that they have been made in.
pub(super) type Copies<'c> = Vec<(Value<'c, 'c>, Type<'c>, Value<'c, 'c>)>;

/// Tiles, the layouts that they have been converted to, and the blocks in which.
pub(super) type Conversions<'c> = Vec<(Value<'c, 'c>, Type<'c>, Option<BlockRef<'c, 'c>>, Value<'c, 'c>)>;

/// The op before which `v` is converted for `op`: the outermost loop around it that does not change `v`.
fn outside_loops<'c>(op: OperationRef<'c, 'c>, v: Value<'c, 'c>) -> OperationRef<'c, 'c> {
    let mut place = op;
    while let Some(parent) = place
        .parent()
        .filter(|p| p.full_name() == "scf.for" && !is_defined_in(v, *p))
    {
        place = parent;
    }
    place
}

/// Gives an op its operands in the layouts that it needs.
pub(super) fn settle<'c>(
    op: OperationRef<'c, 'c>,
    graph: &Graph<'c>,
    warps: u64,
    copies: &mut Copies<'c>,
    conversions: &mut Conversions<'c>,
    cx: &PassContext<'c>,
) -> Res {
    for (i, v) in op.operand_values().into_iter().enumerate() {
        if !v.r#type().is_ranked_tensor_type() {
            continue;
        }
        let Some(needed) = needed(op, i, v, graph, warps) else {
            continue;
        };
        if v.r#type().encoding() == Some(needed) {
            continue;
        }
        let to = laid_out(v.r#type(), needed);
        let new = if is_free(v) {
            match copies.iter().find(|(of, t, _)| *of == v && *t == to) {
                Some((.., copy)) => *copy,
                None => {
                    let copy = free_again(v, to, op);
                    copies.push((v, to, copy));
                    copy
                }
            }
        } else {
            if !is_distributed(v.r#type()) {
                continue;
            }
            converted(op, v, needed, conversions, cx)
        };
        // SAFETY: the index is that of an operand.
        unsafe { mlirOperationSetOperand(op.to_raw(), i as isize, new.to_raw()) };
    }
    Ok(())
}

/// `v` in the layout that `op` needs it in.
fn converted<'c>(
    op: OperationRef<'c, 'c>,
    v: Value<'c, 'c>,
    needed: Attribute<'c>,
    conversions: &mut Conversions<'c>,
    cx: &PassContext<'c>,
) -> Value<'c, 'c> {
    let (to, place) = (laid_out(v.r#type(), needed), outside_loops(op, v));
    let made = conversions
        .iter()
        .find(|(of, t, block, _)| *of == v && *t == to && *block == place.block());
    if let Some((.., made)) = made {
        return *made;
    }
    let shape = v.r#type().shape().unwrap_or_default();
    // Numbers are moved before they are taken apart.
    let whole = v.defining_op().and_then(|by| by.cast::<Bitcast>()).and_then(|cast| {
        let source = cast.source();
        let is_wider = number_bits(source.r#type()) > number_bits(v.r#type());
        let layout = bitcast(needed, &shape, &source.r#type().shape()?)?;
        (is_wider && !is_free(source)).then_some((source, layout))
    });
    let new = if let Some((source, layout)) = whole {
        let source = match source.r#type().encoding() == Some(layout) {
            true => source,
            false => converted(op, source, layout, conversions, cx),
        };
        Bitcast::build(op.location(), to, source)
    } else {
        let own = v.r#type().encoding().and_then(|e| linear_of(e, &shape));
        let moves = own
            .zip(linear_of(needed, &shape))
            .is_none_or(|(a, b)| conversion(&a, &b).is_ok_and(|way| way.movement > Movement::Registers));
        if moves {
            cx.count(1, 1);
            drop(Diag::remark(
                &op,
                format!("takes {} in another layout, {needed}", v.r#type()),
            ));
        }
        ConvertLayout::build(op.location(), to, v, None, false)
    };
    let made = Before(place).insert(new).result0();
    conversions.push((v, to, place.block(), made));
    made
}

/// A free tile in another layout, made where it was first; for a role that `user` is in, there.
fn free_again<'c>(v: Value<'c, 'c>, to: Type<'c>, user: OperationRef<'c, 'c>) -> Value<'c, 'c> {
    let op = v.defining_op().expect("free tiles are results");
    // SAFETY: the clone's result and constant get the same new type.
    let copy = unsafe {
        let copy = mlirOperationClone(op.to_raw());
        mlirValueSetType(mlirOperationGetResult(copy, 0), to.to_raw());
        let copy = Operation::from_raw(copy);
        if let Some(value) = copy.attr("value").filter(|a| mlirAttributeIsADenseElements(a.to_raw())) {
            copy.set_attr(
                "value",
                Attribute::from_raw(mlirDenseElementsAttrReshapeGet(value.to_raw(), to.to_raw())),
            );
        }
        copy
    };
    let role = role_block(user).filter(|_| in_role(op) != in_role(user));
    let first = role.and_then(|block| block.op_list().first().copied());
    Before(first.unwrap_or(op)).insert(copy).result0()
}

/// The block of the role that an op is in.
fn role_block<'c>(op: OperationRef<'c, 'c>) -> Option<BlockRef<'c, 'c>> {
    let (roles, number) = in_role(op)?;
    roles.region_at(number).entry()
}

/// The layout of the tiles that an op speaks of: that of the first that has one.
fn spoken<'c>(op: OperationRef<'c, 'c>, graph: &Graph<'c>, warps: u64) -> Option<Attribute<'c>> {
    let tiles = op
        .operand_values()
        .into_iter()
        .filter(|v| v.r#type().is_ranked_tensor_type());
    let mut tiles = tiles.peekable();
    let t = tiles.peek()?.r#type();
    let own = tiles.filter_map(|v| graph.layout(v)).next();
    own.or_else(|| {
        let shape = t.shape().unwrap_or_default();
        let axes: Vec<usize> = (0..shape.len()).rev().collect();
        let bytes = element_bits(t).unwrap_or(32) / 8;
        Some(coalesced(op.ctx(), &shape, &axes, bytes.max(1), warps).into())
    })
}

/// The layout that an op needs an operand in; `None` where it takes what there is.
fn needed<'c>(
    op: OperationRef<'c, 'c>,
    operand: usize,
    v: Value<'c, 'c>,
    graph: &Graph<'c>,
    warps: u64,
) -> Option<Attribute<'c>> {
    if op.is::<Print>() || op.is::<Assert>() {
        return spoken(op, graph, warps);
    }
    let results = op.result_values();
    let of = |values: &[Value<'c, 'c>], i: usize| values.get(i).and_then(|v| v.r#type().encoding());
    // The mask comes after the tile, which has its layout by now.
    if let Some((tile, _)) = masked(op).filter(|_| mask_operand(op) == Some(operand)) {
        return tile.r#type().encoding();
    }
    if let Some((tile, rows)) = rows_of(op)
        && rows == v
        && operand > 0
    {
        return first_axis(tile.r#type().encoding()?);
    }
    // What an atomic operation gives, and what it compares with, lie as what it takes.
    if let Some(atomic) = op.cast::<AtomicRmw>() {
        if let Some(result) = atomic.result() {
            return result.r#type().encoding();
        }
        if operand > 0 {
            return atomic.value().r#type().encoding();
        }
    }
    if op.is::<Store>() || op.is::<Scatter>() || op.is::<AtomicRmw>() {
        let access = Access::of(op)?;
        // What is free goes where the numbers of its rows are.
        if let Some((_, rows)) = rows_of(op).filter(|(_, rows)| is_free(v) && !is_free(*rows))
            && v.r#type().shape().unwrap_or_default().len() == 1
        {
            return rows.r#type().encoding();
        }
        // What was laid out by hand stays.
        if graph.number(v).is_none() && !is_open(v) {
            return None;
        }
        let drawn = graph.number(v).is_some_and(|n| graph.drawn[n]);
        let own = graph.layout(v).filter(|l| drawn || access.tolerates(*l, warps));
        return own.or_else(|| Some(access.wanted(warps)));
    }
    if let Some(layout) = products::needed(op, operand) {
        return Some(layout);
    }
    let shape = |v: Value<'c, 'c>| v.r#type().shape().unwrap_or_default();
    // From whatever layout, but from one.
    if op.is::<Repack>() {
        return is_free(v).then(|| plain(v.r#type(), warps));
    }
    if op.is::<Broadcast>() {
        return refitted(of(&results, 0)?, &shape(results[0]), &shape(v));
    }
    if let Some(layout) = of(&results, 0).filter(|_| !parts_of(op).is_empty()) {
        return needed_by_parts(op, operand, v, layout, warps);
    }
    let same = [Load::NAME, Scan::NAME, ClusterReduce::NAME, Opaque::NAME];
    if op.has_trait(Trait::Elementwise) || same.contains(&op.full_name()) {
        return of(&results, 0);
    }
    // The same map in other words moves nothing.
    let moves = |l: &Attribute<'c>| {
        let own = v.r#type().encoding().and_then(|e| linear_of(e, &shape(v)));
        own.zip(linear_of(*l, &shape(v))).is_none_or(|(a, b)| !a.same_map(&b))
    };
    if op.is::<Reshape>() {
        return reshaped(of(&results, 0)?, &shape(results[0]), &shape(v)).filter(moves);
    }
    if op.is::<Bitcast>() {
        return bitcast(of(&results, 0)?, &shape(results[0]), &shape(v)).filter(moves);
    }
    if op.is::<Reduce>() {
        return Sliced::of(of(&results, 0)?).map(|s| s.parent());
    }
    if let Some(expand) = op.cast::<ExpandDims>() {
        return Some(sliced(of(&results, 0)?, expand.axis() as usize));
    }
    if let Some(t) = op.cast::<Transpose>() {
        return transposed(of(&results, 0)?, &shape(results[0]), &inverse(&t.order()));
    }
    let arguments = |op: OperationRef<'c, 'c>, region: usize| {
        op.region_at(region)
            .entry()
            .map(|b| b.argument_values())
            .unwrap_or_default()
    };
    match op.full_name() {
        "scf.for" => of(&results, operand.checked_sub(3)?),
        "scf.while" => of(&arguments(op, 0), operand),
        "scf.condition" => of(&op.parent()?.result_values(), operand.checked_sub(1)?),
        "scf.yield" => {
            let parent = op.parent()?;
            match parent.full_name() {
                "scf.while" => of(&arguments(parent, 0), operand),
                _ => of(&parent.result_values(), operand),
            }
        }
        _ => None,
    }
}

/// The layout that an op which cuts tiles or puts them together needs an operand in, by that of its result: where that makes a
/// part a choice of registers, and the way there is none through shared memory, through which the op itself goes otherwise.
fn needed_by_parts<'c>(
    op: OperationRef<'c, 'c>,
    operand: usize,
    v: Value<'c, 'c>,
    layout: Attribute<'c>,
    warps: u64,
) -> Option<Attribute<'c>> {
    if op.is::<InsertSlice>() && operand == 1 {
        return Some(layout);
    }
    let shape = v.r#type().shape()?;
    let there = linear_of(layout, &shape).filter(|l| l.is_surjective());
    if is_free(v) {
        return Some(there.map_or_else(|| plain(v.r#type(), warps), |_| layout));
    }
    let own = linear_of(v.r#type().encoding()?, &shape)?;
    let is_near = conversion(&own, &there?).is_ok_and(|way| way.movement <= Movement::Lanes);
    let is_choice = |(_, s): &(_, Slice<'c>)| {
        let (part, whole) = (Distribution::new(layout, &s.part), Distribution::new(layout, &s.whole));
        part.zip(whole).is_some_and(|(p, w)| s.registers(&p, &w).is_some())
    };
    (is_near && parts_of(op).iter().all(is_choice)).then_some(layout)
}
