//! Gives ops their operands in the layouts that they need: what is free is made anew, and the rest is converted.
use super::{
    Access,
    anchors::coalesced,
    anew,
    graph::{Graph, first_axis, is_free, is_open, parts_of, rows_of},
    laid_out, plain, products, set_layout,
};
use crate::{shared_uses::in_role, slice::is_defined_in};
use girih_core::layout::{Movement, conversion};
use girih_dialects::tile::{
    distribution::{Distribution, Sliced, is_distributed, linear_of},
    ops::{
        atomic::AtomicRmw,
        cluster_reduce::ClusterReduce,
        debug::{Assert, Print},
        memory::{Load, Store},
        reduce::Reduce,
        repack::Repack,
        rows::{Scatter, mask_operand, masked},
        scan::Scan,
        shape::{Bitcast, Reshape},
        slice::{InsertSlice, Slice},
        value::{ConvertLayout, Opaque},
    },
    verify::element_bits,
};
use girih_ir::{
    ext::BlockExt,
    mlir_sys::*,
    op::{OpView, Trait},
    prelude::*,
    rewrite::{Before, Builder},
};

/// A tile in another layout than its own.
struct Other<'c> {
    /// The tile in its own layout.
    of: Value<'c, 'c>,
    /// The block where the other can be had; `None`: everywhere.
    block: Option<BlockRef<'c, 'c>>,
    new: Value<'c, 'c>,
}

/// What stands for tiles in other layouts than their own.
#[derive(Default)]
pub(super) struct Settled<'c> {
    others: Vec<Other<'c>>,
    /// Conversions that move data between threads, with the remark on each.
    pub moves: Vec<(OperationRef<'c, 'c>, Diag)>,
    /// Ops that may have no users in the end: made here, or made anew here.
    pub spare: Vec<OperationRef<'c, 'c>>,
    /// How many ops have been made anew, or have moved.
    pub anew: u64,
}

impl<'c> Settled<'c> {
    /// `v` in `layout` as `place` may have it.
    pub fn known(&self, v: Value<'c, 'c>, layout: Attribute<'c>, place: OperationRef<'c, 'c>) -> Option<Value<'c, 'c>> {
        let here = place.block();
        let fits = |o: &&Other<'c>| {
            o.of == v && o.new.r#type().encoding() == Some(layout) && (o.block.is_none() || o.block == here)
        };
        self.others.iter().find(fits).map(|o| o.new)
    }
    /// The tile that `v` is in another layout.
    pub fn source(&self, v: Value<'c, 'c>) -> Value<'c, 'c> {
        self.others.iter().find(|o| o.new == v).map_or(v, |o| o.of)
    }
    /// Whether the op that gives `v` can give it in another layout instead: nobody but `user` takes it, in one layout, and
    /// nothing is computed more often if it is computed at `place`.
    pub fn can_move(&self, v: Value<'c, 'c>, user: OperationRef<'c, 'c>, place: OperationRef<'c, 'c>) -> bool {
        let Some(by) = v.defining_op() else { return false };
        let serves = |op: OperationRef<'c, 'c>| {
            let other = || {
                self.others
                    .iter()
                    .find(|o| o.of == v && o.new.defining_op() == Some(op))
            };
            op == user || other().is_some_and(|o| o.new.users().iter().all(|u| *u == user))
        };
        let taken = user
            .operand_values()
            .into_iter()
            .filter(|o| self.source(*o) == v)
            .count();
        by.result_count() == 1
            && by.block() == place.block()
            && (taken == 1 || user.has_trait(Trait::Elementwise))
            && v.users().into_iter().all(serves)
    }
    fn add(&mut self, of: Value<'c, 'c>, block: Option<BlockRef<'c, 'c>>, new: Value<'c, 'c>) {
        self.others.push(Other { of, block, new });
        self.spare.extend(new.defining_op());
    }
}

/// The op before which `v` is converted for `op`: the outermost loop around it that does not change `v`.
pub(super) fn outside_loops<'c>(op: OperationRef<'c, 'c>, v: Value<'c, 'c>) -> OperationRef<'c, 'c> {
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
pub(super) fn settle<'c>(op: OperationRef<'c, 'c>, graph: &Graph<'c>, warps: u64, settled: &mut Settled<'c>) {
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
        let source = settled.source(v);
        let new = if source.r#type().encoding() == Some(needed) {
            source
        } else if is_free(source) {
            settled.known(source, needed, op).unwrap_or_else(|| {
                let copy = free_again(source, needed, op);
                settled.add(source, None, copy);
                copy
            })
        } else if is_distributed(source.r#type()) {
            in_layout(op, source, needed, graph, warps, settled)
        } else {
            continue;
        };
        // SAFETY: the index is that of an operand.
        unsafe { mlirOperationSetOperand(op.to_raw(), i as isize, new.to_raw()) };
    }
}

/// `v` in the layout that `op` needs it in: converted, or made anew where that costs less.
fn in_layout<'c>(
    op: OperationRef<'c, 'c>,
    v: Value<'c, 'c>,
    needed: Attribute<'c>,
    graph: &Graph<'c>,
    warps: u64,
    settled: &mut Settled<'c>,
) -> Value<'c, 'c> {
    let place = outside_loops(op, v);
    if let Some(known) = settled.known(v, needed, place) {
        return known;
    }
    if let Some(by) = v.defining_op().filter(|_| anew::is_better(settled, op, v, needed)) {
        settled.anew += 1;
        if settled.can_move(v, op, place) {
            lay_out_results(by, needed);
            if v.users().iter().all(|user| *user == op) {
                // What is loaded is waited for no earlier.
                // SAFETY: both stand in one block, and nobody between them takes its only result.
                unsafe { mlirOperationMoveBefore(by.to_raw(), place.to_raw()) };
            }
            settle(by, graph, warps, settled);
            return v;
        }
        // SAFETY: the clone is detached, and what it takes is there before `place`.
        let clone = Before(place).insert(unsafe { Operation::from_raw(mlirOperationClone(by.to_raw())) });
        lay_out_results(clone, needed);
        for (of, new) in by.result_values().into_iter().zip(clone.result_values()) {
            settled.add(of, place.block(), new);
        }
        settled.spare.push(by);
        settle(clone, graph, warps, settled);
        return settled.known(v, needed, place).unwrap_or(v);
    }
    let to = laid_out(v.r#type(), needed);
    let convert = Before(place).insert(ConvertLayout::build(op.location(), to, v, None, false));
    if !is_near(v, needed, Movement::Registers) {
        let m = format!("takes {} in another layout, {needed}", v.r#type());
        settled.moves.push((convert, Diag::remark(&op, m)));
    }
    settled.add(v, place.block(), convert.result0());
    convert.result0()
}

/// Whether data of `v` goes no farther than `most` on the way to `layout`.
fn is_near<'c>(v: Value<'c, 'c>, layout: Attribute<'c>, most: Movement) -> bool {
    let shape = v.r#type().shape().unwrap_or_default();
    let own = v.r#type().encoding().and_then(|e| linear_of(e, &shape));
    let ends = own.zip(linear_of(layout, &shape));
    ends.is_some_and(|(a, b)| conversion(&a, &b).is_ok_and(|way| way.movement <= most))
}

/// Gives the results of an op a layout, and the elements of a constant.
fn lay_out_results<'c>(op: OperationRef<'c, 'c>, layout: Attribute<'c>) {
    for v in op.result_values() {
        set_layout(v, layout);
    }
    // SAFETY: the attribute is alive, and its new type has the same shape.
    unsafe {
        if let Some(value) = op.attr("value").filter(|a| mlirAttributeIsADenseElements(a.to_raw())) {
            let to = op.result0().r#type().to_raw();
            op.set_attr(
                "value",
                Attribute::from_raw(mlirDenseElementsAttrReshapeGet(value.to_raw(), to)),
            );
        }
    }
}

/// A free tile in another layout, made where it was first; for a role that `user` is in, there.
fn free_again<'c>(v: Value<'c, 'c>, layout: Attribute<'c>, user: OperationRef<'c, 'c>) -> Value<'c, 'c> {
    let op = v.defining_op().expect("free tiles are results");
    let role = role_block(user).filter(|_| in_role(op) != in_role(user));
    let first = role.and_then(|block| block.op_list().first().copied());
    // SAFETY: the clone is detached, and takes no more than numbers.
    let copy = Before(first.unwrap_or(op)).insert(unsafe { Operation::from_raw(mlirOperationClone(op.to_raw())) });
    lay_out_results(copy, layout);
    copy.result0()
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
    if let Some(layout) = of(&results, 0).filter(|_| !parts_of(op).is_empty()) {
        return needed_by_parts(op, operand, v, layout, warps);
    }
    let same = [Load::NAME, Scan::NAME, ClusterReduce::NAME, Opaque::NAME];
    if same.contains(&op.full_name()) {
        return of(&results, 0);
    }
    // The same map in other words moves nothing.
    let moves = |l: &Attribute<'c>| {
        let own = v.r#type().encoding().and_then(|e| linear_of(e, &shape(v)));
        own.zip(linear_of(*l, &shape(v))).is_none_or(|(a, b)| !a.same_map(&b))
    };
    if op.is::<Reduce>() {
        return Sliced::of(of(&results, 0)?).map(|s| s.parent());
    }
    if let Some(layout) = of(&results, 0).and_then(|l| anew::operand_layout(op, v, l)) {
        let seen = op.is::<Reshape>() || op.is::<Bitcast>();
        return Some(layout).filter(|l| !seen || moves(l));
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
    let is_choice = |(_, s): &(_, Slice<'c>)| {
        let (part, whole) = (Distribution::new(layout, &s.part), Distribution::new(layout, &s.whole));
        part.zip(whole).is_some_and(|(p, w)| s.registers(&p, &w).is_some())
    };
    let is_near = there.is_some() && is_near(v, layout, Movement::Lanes);
    (is_near && parts_of(op).iter().all(is_choice)).then_some(layout)
}
