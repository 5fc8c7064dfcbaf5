//! Which tiles of a kernel must, or had better, share a layout.
use crate::convert_tile_to_nvvm::{reduces, scans};
use girih_dialects::tile::{
    distribution::{
        Distribution, Sliced, bitcast, linear_of, parts_in_registers, rank_of, refitted, reshaped, transposed, widened,
    },
    layouts::is_laid_out,
    ops::{
        atomic::AtomicRmw,
        cluster_reduce::ClusterReduce,
        debug::Print,
        memory::{Load, Store},
        mma::{LoadStaged, Mma},
        reduce::Reduce,
        rows::{Gather, Scatter, masked},
        scan::Scan,
        shape::{Bitcast, Broadcast, ExpandDims, Reshape, Transpose},
        slice::{Concat, ExtractSlice, InsertSlice, Slice},
        value::{Iota, Opaque, Splat},
    },
};
use girih_ir::{ext::BlockExt, op::Trait, prelude::*};
use std::collections::BTreeMap;

/// How the layout of one tile follows from another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Both are the same.
    Same,
    /// The second is the first without this axis; the shape of the first stands in [`Graph::parts`].
    Slice(usize, usize),
    /// The second is the first with its axes exchanged, by the number of its `tile.transpose` in [`Graph::orders`]; both
    /// shapes stand in [`Graph::parts`].
    Transpose(usize, usize),
    /// The second repeats the first along axes of size 1; both shapes stand in [`Graph::parts`].
    Repeat(usize),
    /// The second is seen in another shape; both stand in [`Graph::parts`].
    Reshape(usize),
    /// The second has the same bits as other numbers; both shapes stand in [`Graph::parts`].
    Bitcast(usize),
    /// The second is part of the first: one layout, if threads hold parts in registers; the shapes of part and whole stand in
    /// [`Graph::parts`].
    Part(usize),
}

/// Gives a layout for a tile of a type that is cut out of a tile, or put into one, by the shapes of part and whole.
pub type LayoutOfPart<'c, 'f> = dyn Fn(Type<'c>, &[i64], &[i64]) -> Attribute<'c> + 'f;

/// The tiles of a kernel that have no layout yet, with what relates them.
#[derive(Default)]
pub struct Graph<'c> {
    /// The tiles, in the order of the source.
    pub tiles: Vec<Value<'c, 'c>>,
    /// The layout of each, once it is known.
    pub layouts: Vec<Option<Attribute<'c>>>,
    /// Whether it was drawn, or follows from one that was: accesses put up with it.
    pub drawn: Vec<bool>,
    /// The orders of transpositions.
    pub orders: Vec<Vec<i64>>,
    /// Pairs of shapes that relations speak of.
    pub parts: Vec<(Vec<i64>, Vec<i64>)>,
    numbers: BTreeMap<usize, usize>,
    /// For each tile its neighbours; the flag says whether the relation goes from the tile to the neighbour.
    edges: Vec<Vec<(usize, Relation, bool)>>,
}

/// Whether a value is a tile that passes may lay out.
pub fn is_open(v: Value<'_, '_>) -> bool {
    let t = v.r#type();
    t.is_ranked_tensor_type() && !is_laid_out(t)
}

/// Whether a tile is made anew wherever it is needed rather than moved from layout to layout.
pub fn is_free(v: Value<'_, '_>) -> bool {
    v.defining_op().is_some_and(|op| {
        op.is::<Splat>() || op.is::<Iota>() || matches!(op.full_name(), "arith.constant" | "tensor.splat")
    })
}

/// The tile that an op moves by the numbers of its rows, and the tile of these numbers.
pub fn rows_of<'c>(op: OperationRef<'c, 'c>) -> Option<(Value<'c, 'c>, Value<'c, 'c>)> {
    if let Some(gather) = op.cast::<Gather>() {
        return Some((gather.result(), gather.rows()));
    }
    if let Some(scatter) = op.cast::<Scatter>() {
        return Some((scatter.value(), scatter.rows()));
    }
    let atomic = op.cast::<AtomicRmw>()?;
    Some((atomic.tile(), atomic.rows()?))
}

/// The parts of a tile that an op cuts out, puts in or puts together, each with where it lies in the whole.
pub fn parts_of<'c>(op: OperationRef<'c, 'c>) -> Vec<(Value<'c, 'c>, Slice<'c>)> {
    if let Some(concat) = op.cast::<Concat>() {
        return concat.parts();
    }
    let part = match op.cast::<InsertSlice>() {
        Some(insert) => Some(insert.source()),
        None => op.cast::<ExtractSlice>().map(|e| e.result()),
    };
    part.into_iter().filter_map(|v| Some((v, Slice::of(op)?))).collect()
}

/// Whether every part is a choice of registers where tile and parts have one layout.
fn suits(layout: Attribute<'_>, parts: &[(Value<'_, '_>, Slice<'_>)]) -> bool {
    let fits = |(_, s): &(_, Slice<'_>)| s.is_aligned() && parts_in_registers(layout, &s.part, &s.whole);
    parts.iter().all(fits)
}

/// Whether aligned parts of a tile are all of it, or more: then one change of its layout serves them all.
fn is_used_up(tile: Value<'_, '_>) -> bool {
    let count = |shape: &[i64]| shape.iter().fold(1i64, |n, s| n.saturating_mul(*s));
    let parts = tile.users().into_iter().filter(|op| op.is::<ExtractSlice>());
    let cut: i64 = parts
        .filter_map(|op| Slice::of(op).filter(Slice::is_aligned))
        .fold(0, |n, s| n.saturating_add(count(&s.part)));
    cut >= count(&tile.r#type().shape().unwrap_or_default())
}

/// `layout` without all axes but the first: that of numbers of rows.
pub fn first_axis(layout: Attribute<'_>) -> Option<Attribute<'_>> {
    let rank = rank_of(layout)?;
    Some((1..rank).rev().fold(layout, sliced))
}

impl<'c> Graph<'c> {
    /// The tiles of some ops. An op on tiles that no rule speaks of is an error.
    pub fn of(ops: &[OperationRef<'c, 'c>]) -> Res<Graph<'c>> {
        let mut graph = Graph::default();
        let mut errors = Errors::default();
        for op in ops {
            let arguments = (0..op.region_count())
                .flat_map(|r| op.region_at(r).block_list())
                .flat_map(|b| b.argument_values());
            for v in op
                .result_values()
                .into_iter()
                .chain(arguments)
                .filter(|v| is_open(*v) && !is_free(*v))
            {
                graph.numbers.insert(v.to_raw().ptr as usize, graph.tiles.len());
                graph.tiles.push(v);
            }
        }
        graph.layouts.resize(graph.tiles.len(), None);
        graph.drawn.resize(graph.tiles.len(), false);
        graph.edges.resize(graph.tiles.len(), vec![]);
        for op in ops {
            errors.merge(graph.relate_op(*op));
        }
        errors.result().map(|()| graph)
    }

    /// The number of a tile; `None` for those that have a layout and those that are free.
    pub fn number(&self, v: Value<'c, 'c>) -> Option<usize> {
        self.numbers.get(&(v.to_raw().ptr as usize)).copied()
    }
    /// The layout of a tile, once known.
    pub fn layout(&self, v: Value<'c, 'c>) -> Option<Attribute<'c>> {
        match self.number(v) {
            Some(n) => self.layouts[n],
            None => v.r#type().encoding(),
        }
    }

    fn relate(&mut self, from: Value<'c, 'c>, relation: Relation, to: Value<'c, 'c>) {
        if let (Some(a), Some(b)) = (self.number(from), self.number(to)) {
            self.edges[a].push((b, relation, true));
            self.edges[b].push((a, relation, false));
        }
    }
    /// Keeps the shapes of two tiles for a relation.
    fn shapes(&mut self, first: Value<'c, 'c>, second: Value<'c, 'c>) -> usize {
        let shape = |v: Value<'c, 'c>| v.r#type().shape().unwrap_or_default();
        self.parts.push((shape(first), shape(second)));
        self.parts.len() - 1
    }
    /// Relates a tile to what is left of it without an axis.
    fn slice(&mut self, whole: Value<'c, 'c>, axis: usize, part: Value<'c, 'c>) {
        let n = self.shapes(whole, part);
        self.relate(whole, Relation::Slice(axis, n), part);
    }
    fn same(&mut self, values: &[Value<'c, 'c>]) {
        for pair in values.windows(2) {
            self.relate(pair[0], Relation::Same, pair[1]);
        }
    }

    fn relate_op(&mut self, op: OperationRef<'c, 'c>) -> Res {
        let (operands, results) = (op.operand_values(), op.result_values());
        let tiles: Vec<_> = operands
            .iter()
            .chain(&results)
            .copied()
            .filter(|v| is_open(*v) && !is_free(*v))
            .collect();
        if operands.iter().chain(&results).all(|v| !is_open(*v)) {
            return Ok(());
        }
        if let Some((tile, mask)) = masked(op) {
            self.same(&[tile, mask]);
        }
        if let Some(load) = op.cast::<Load>() {
            if let Some(other) = load.pass_thru() {
                self.same(&[load.result(), other]);
            }
            return Ok(());
        }
        if op.is::<Store>() || op.is::<LoadStaged>() {
            return Ok(());
        }
        if let Some(atomic) = op.cast::<AtomicRmw>() {
            let tiles = [Some(atomic.value()), atomic.compare(), atomic.result()];
            let closed: Vec<_> = tiles.into_iter().flatten().filter(|v| !is_free(*v)).collect();
            self.same(&closed);
        }
        if let Some((tile, rows)) = rows_of(op) {
            match tile.r#type().shape().unwrap_or_default().len() {
                1 => self.same(&[tile, rows]),
                2 => self.slice(tile, 1, rows),
                _ => {}
            }
            return Ok(());
        }
        if op.is::<AtomicRmw>() {
            return Ok(());
        }
        if let Some(mma) = op.cast::<Mma>() {
            self.same(&[mma.acc(), mma.result()]);
            return Ok(());
        }
        if op.has_trait(Trait::Elementwise)
            || op.is::<Scan>()
            || op.is::<ClusterReduce>()
            || op.is::<Print>()
            || op.is::<Opaque>()
        {
            self.same(&tiles);
            return Ok(());
        }
        if let Some(broadcast) = op.cast::<Broadcast>() {
            let n = self.shapes(broadcast.source(), broadcast.result());
            self.relate(broadcast.source(), Relation::Repeat(n), broadcast.result());
            return Ok(());
        }
        if let Some(reduce) = op.cast::<Reduce>() {
            let closed: Vec<_> = reduce.sources().into_iter().filter(|v| !is_free(*v)).collect();
            self.same(&closed);
            for r in reduce.results() {
                closed
                    .iter()
                    .take(1)
                    .for_each(|s| self.slice(*s, reduce.axis() as usize, r));
            }
            self.same(&reduce.results());
            return Ok(());
        }
        if let Some(expand) = op.cast::<ExpandDims>() {
            self.slice(expand.result(), expand.axis() as usize, expand.source());
            return Ok(());
        }
        let parts = parts_of(op);
        if !parts.is_empty() {
            let whole = op.cast::<ExtractSlice>().map_or(op.result0(), |e| e.source());
            if let Some(insert) = op.cast::<InsertSlice>() {
                self.same(&[insert.destination(), insert.result()]);
            }
            for (part, slice) in parts.into_iter().filter(|(_, s)| s.is_aligned()) {
                self.parts.push((slice.part, slice.whole));
                self.relate(whole, Relation::Part(self.parts.len() - 1), part);
            }
            return Ok(());
        }
        if let Some(reshape) = op.cast::<Reshape>() {
            let n = self.shapes(reshape.source(), reshape.result());
            self.relate(reshape.source(), Relation::Reshape(n), reshape.result());
            return Ok(());
        }
        if let Some(cast) = op.cast::<Bitcast>() {
            let n = self.shapes(cast.source(), cast.result());
            self.relate(cast.source(), Relation::Bitcast(n), cast.result());
            return Ok(());
        }
        if let Some(transpose) = op.cast::<Transpose>() {
            let n = self.orders.len();
            self.orders.push(transpose.order());
            let shapes = self.shapes(transpose.source(), transpose.result());
            self.relate(transpose.source(), Relation::Transpose(n, shapes), transpose.result());
            return Ok(());
        }
        let arguments = |region: usize| {
            op.region_at(region)
                .entry()
                .map(|b| b.argument_values())
                .unwrap_or_default()
        };
        match op.full_name() {
            "scf.for" => {
                for (i, r) in results.iter().enumerate() {
                    self.same(&[operands[3 + i], arguments(0)[1 + i], *r]);
                }
            }
            "scf.while" => {
                for (v, a) in operands.iter().zip(arguments(0)) {
                    self.same(&[*v, a]);
                }
                for (a, r) in arguments(1).iter().zip(&results) {
                    self.same(&[*a, *r]);
                }
            }
            "scf.yield" => {
                let Some(parent) = op.parent() else { return Ok(()) };
                let to = match parent.full_name() {
                    "scf.while" => parent
                        .region_at(0)
                        .entry()
                        .map(|b| b.argument_values())
                        .unwrap_or_default(),
                    _ => parent.result_values(),
                };
                for (v, r) in operands.iter().zip(to) {
                    self.same(&[*v, r]);
                }
            }
            "scf.condition" => {
                let to = op.parent().map(|p| p.result_values()).unwrap_or_default();
                for (v, r) in operands[1..].iter().zip(to) {
                    self.same(&[*v, r]);
                }
            }
            "scf.if"
            | "scf.index_switch"
            | "tile.repack"
            | "tensor.extract"
            | "tile.convert_layout"
            | "tile.assert"
            | "arith.constant"
            | "tensor.splat"
            | "tile.splat"
            | "tile.iota" => {}
            name if name.starts_with("cf.") => {
                let m = "carries whole tiles to another block; tiles go through scf.if, scf.index_switch, scf.for and scf.while, as \
                         arguments and results: write these, or have mlir-opt's --lift-cf-to-scf make them of a func.func";
                return Diag::op(&op, m).report();
            }
            name => {
                let m = format!(
                    "works on tiles, but tile-assign-layouts has no rule for '{name}'; use arith, math, scf and the tile dialect"
                );
                return Diag::op(&op, m).report();
            }
        }
        Ok(())
    }

    fn set(&mut self, v: Value<'c, 'c>, layout: Attribute<'c>) {
        if let Some(n) = self.number(v) {
            self.layouts[n] = Some(layout);
        }
    }

    /// Makes what follows from an op's operands, or from another of its values, follow: what a loop carries has one layout
    /// from pass to pass and after it, and results of reductions and transpositions are parts of their source's.
    ///
    /// `plain` gives a layout that every op on a tile of a type can work with.
    pub fn close(
        &mut self,
        ops: &[OperationRef<'c, 'c>],
        plain: &dyn Fn(Type<'c>) -> Attribute<'c>,
        of_part: &LayoutOfPart<'c, '_>,
    ) {
        for op in ops {
            if let Some(reduce) = op.cast::<Reduce>() {
                let axis = reduce.axis() as usize;
                let t = reduce.sources()[0].r#type();
                let shape = t.shape().unwrap_or_default();
                let first = reduce.results().first().and_then(|r| self.layout(*r));
                let sources = reduce.sources().iter().find_map(|s| self.layout(*s));
                let whole = sources
                    .or_else(|| widened(first?, axis, &shape))
                    .filter(|l| Distribution::new(*l, &shape).is_some_and(|d| reduces(&d, axis).is_ok()))
                    .unwrap_or_else(|| plain(t));
                for r in reduce.results() {
                    self.set(r, sliced(whole, axis));
                }
                continue;
            }
            if let Some(scan) = op.cast::<Scan>() {
                let (axis, t) = (scan.axis() as usize, scan.results()[0].r#type());
                let shape = t.shape().unwrap_or_default();
                let own = self
                    .layout(scan.results()[0])
                    .filter(|l| Distribution::new(*l, &shape).is_some_and(|d| scans(&d, axis).is_ok()))
                    .unwrap_or_else(|| plain(t));
                for r in scan.results() {
                    self.set(r, own);
                }
                continue;
            }
            if (op.has_trait(Trait::Elementwise) || op.is::<ClusterReduce>())
                && let [first, others @ ..] = &op.result_values()[..]
                && let Some(layout) = self.layout(*first)
            {
                others.iter().for_each(|r| self.set(*r, layout));
                continue;
            }
            if let Some(r) = op.cast::<Reshape>() {
                let shape = |v: Value<'c, 'c>| v.r#type().shape().unwrap_or_default();
                if let (Some(from), Some(n)) = (self.layout(r.source()), self.number(r.result())) {
                    let seen = reshaped(from, &shape(r.source()), &shape(r.result()));
                    self.layouts[n] = seen.or(self.layouts[n]);
                }
                continue;
            }
            if let Some(cast) = op.cast::<Bitcast>() {
                if let Some(n) = self.number(cast.result()) {
                    let shape = |v: Value<'c, 'c>| v.r#type().shape().unwrap_or_default();
                    let (from, to) = (shape(cast.source()), shape(cast.result()));
                    let own = self.layouts[n].filter(|l| bitcast(*l, &to, &from).is_some());
                    // Parts of a number are where it is; of parts that threads have apart there is no number.
                    let whole = || bitcast(plain(cast.source().r#type()), &from, &to);
                    let seen = self.layout(cast.source()).and_then(|l| bitcast(l, &from, &to));
                    self.layouts[n] = seen.or(own).or_else(whole).or(self.layouts[n]);
                }
                continue;
            }
            let parts = parts_of(*op);
            if !parts.is_empty() {
                // A layout in which nothing moves: the result's own, or that of an operand.
                let from = op.operand_values().iter().find_map(|v| self.layout(*v));
                let Some(n) = self.number(op.result0()) else { continue };
                if op.is::<InsertSlice>() {
                    let destination = op.operand_values().get(1).and_then(|v| self.layout(*v));
                    self.layouts[n] = destination.or(self.layouts[n]);
                    continue;
                }
                let own = self.layouts[n].filter(|l| suits(*l, &parts));
                let found = own.or(from.filter(|l| suits(*l, &parts)));
                let (part, slice) = &parts[0];
                let cuts = op.is::<ExtractSlice>() && slice.is_aligned() && is_used_up(op.operand_values()[0]);
                let made = || cuts.then(|| of_part(part.r#type(), &slice.part, &slice.whole));
                self.layouts[n] = found.or_else(made).or(self.layouts[n]);
                continue;
            }
            if let Some(t) = op.cast::<Transpose>() {
                if let (Some(from), Some(n)) = (self.layout(t.source()), self.number(t.result())) {
                    let shape = t.source().r#type().shape().unwrap_or_default();
                    self.layouts[n] = transposed(from, &shape, &t.order()).or(self.layouts[n]);
                }
                continue;
            }
            let arguments = |region: usize| {
                op.region_at(region)
                    .entry()
                    .map(|b| b.argument_values())
                    .unwrap_or_default()
            };
            let from = match op.full_name() {
                "scf.for" => arguments(0).split_off(1),
                "scf.while" => arguments(1),
                _ => continue,
            };
            for (a, r) in from.into_iter().zip(op.result_values()) {
                if let (Some(a), Some(r)) = (self.number(a), self.number(r)) {
                    self.layouts[r] = self.layouts[a];
                }
            }
        }
    }

    /// Gives a tile a layout, and everything that follows from it to tiles that have none yet.
    pub fn spread(&mut self, start: usize, layout: Attribute<'c>) {
        self.layouts[start] = Some(layout);
        let mut open = std::collections::VecDeque::from([start]);
        while let Some(n) = open.pop_front() {
            let Some(from) = self.layouts[n] else { continue };
            for (to, relation, forward) in self.edges[n].clone() {
                if self.layouts[to].is_some() {
                    continue;
                }
                let shape = self.tiles[to].r#type().shape().unwrap_or_default();
                let followed = follow(from, relation, forward, &self.orders, &self.parts);
                if let Some(l) = followed.filter(|l| holds(*l, &shape)) {
                    self.layouts[to] = Some(l);
                    open.push_back(to);
                }
            }
        }
    }
}

/// Whether a layout has a holder for every element of a tile of `shape`.
fn holds(layout: Attribute<'_>, shape: &[i64]) -> bool {
    linear_of(layout, shape).is_some_and(|l| l.is_surjective())
}

/// The layout at the other end of a relation.
fn follow<'c>(
    layout: Attribute<'c>,
    relation: Relation,
    forward: bool,
    orders: &[Vec<i64>],
    parts: &[(Vec<i64>, Vec<i64>)],
) -> Option<Attribute<'c>> {
    match (relation, forward) {
        (Relation::Same, _) => Some(layout),
        (Relation::Slice(axis, _), true) => Some(sliced(layout, axis)),
        (Relation::Slice(axis, n), false) => widened(layout, axis, &parts[n].0),
        (Relation::Repeat(n), true) => refitted(layout, &parts[n].0, &parts[n].1),
        (Relation::Repeat(n), false) => refitted(layout, &parts[n].1, &parts[n].0),
        (Relation::Reshape(n), true) => reshaped(layout, &parts[n].0, &parts[n].1),
        (Relation::Reshape(n), false) => reshaped(layout, &parts[n].1, &parts[n].0),
        (Relation::Bitcast(n), true) => bitcast(layout, &parts[n].0, &parts[n].1),
        (Relation::Bitcast(n), false) => bitcast(layout, &parts[n].1, &parts[n].0),
        (Relation::Part(n), _) => parts_in_registers(layout, &parts[n].0, &parts[n].1).then_some(layout),
        (Relation::Transpose(n, shapes), true) => transposed(layout, &parts[shapes].0, &orders[n]),
        (Relation::Transpose(n, shapes), false) => transposed(layout, &parts[shapes].1, &inverse(&orders[n])),
    }
}

/// The order that takes a transposition back.
pub fn inverse(order: &[i64]) -> Vec<i64> {
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(i, a)| back[*a as usize] = i as i64);
    back
}

/// `layout` without an axis.
pub fn sliced<'c>(layout: Attribute<'c>, axis: usize) -> Attribute<'c> {
    let context = girih_ir::context(layout.context());
    Sliced::get(context, axis as i64, layout).into()
}
