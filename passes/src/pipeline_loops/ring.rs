//! Staged operands of a loop: a ring of slots for each, a region that fills them ahead of the loop, and waits.
use super::{Ahead, Shared, V, copies, with_shape};
use crate::{
    global_views::{Cut, Number, strided},
    nest::counter,
    slice::{Slice, is_defined_in},
};
use girih_dialects::{
    nvvm::{Cmp, Emit},
    tile::{
        ops::{
            cp_async::{MbarrierArrive, WaitAll},
            index::Elect,
            mbarrier,
            memory::Slab,
            mma::{EndProduce, Mover, Produce, Stage, Staging},
            sync::{Fence, FenceKind},
            tma::{LoadOptions, TmaLoad},
            wgmma::Major,
        },
        spaces::shared_of,
        types::TensorMapType,
        verify::memref_bytes,
    },
};
use girih_ir::{
    ext::{BlockExt, block},
    mlir_sys::*,
    op::OpView,
    prelude::*,
    rewrite::{AtEnd, Before},
};

/// Most rows of a tensor copy's box.
const MOST_BOX_ROWS: i64 = 256;

/// An operand with its ring.
pub(super) struct Operand<'c> {
    pub stage: Stage<'c, 'c>,
    pub staging: Staging,
    pub ring: V<'c>,
    /// Of tensor copies.
    map: Option<V<'c>>,
    /// Indices along dimensions of the map that the operand does not have, which are its first.
    pub at: Vec<Number<'c>>,
    /// One tensor copy fills a whole slot.
    is_one_copy: bool,
}

impl<'c> Operand<'c> {
    /// Whether tensor copies fill it wherever the loop runs.
    pub(super) fn is_by_tma(&self) -> bool {
        self.map.is_some() && self.stage.condition().is_none()
    }
    fn bytes(&self) -> i64 {
        memref_bytes(self.stage.result().r#type()).unwrap_or(0) as i64
    }
}

/// Lets the copies of a loop run up to `slots` passes ahead.
pub(super) fn run_ahead<'c>(shared: &mut Shared<'c>, ahead: &Ahead<'c>, slots: i64) -> Res {
    let place = ahead.place;
    let loc = place.location();
    let warps = shared.kernel.threads() / 32;
    let mut operands = vec![];
    for (stage, ring) in &ahead.stages {
        let ring = shared.ring(*ring, stage.op().location());
        operands.push(operand(shared, *stage, ring)?);
    }
    let threads = (!operands.iter().all(Operand::is_by_tma)).then_some(copies::THREADS);
    let full = shared.mbarriers(loc, slots, threads.unwrap_or(1));
    let empty = shared.mbarriers(loc, slots, warps);
    let Some(body) = place.region_at(0).entry() else {
        return Ok(());
    };
    let (counter, bounds) = (body.argument_values()[0], place.operand_values());
    let Some(head) = body.op_list().first().copied() else {
        return Ok(());
    };
    let before = ahead
        .nest
        .as_ref()
        .and_then(|nest| nest.passes_before(&Emit::new(&Before(place), loc)));
    let pass = |e: &Emit<'c, '_>, k: V<'c>| {
        let own = e.div_u(e.sub(k, bounds[0]), bounds[2]);
        before.map_or(own, |before| e.add(before, own))
    };
    let at = Before(head);
    let e = Emit::new(&at, loc);

    let region = Region::new();
    let arguments = vec![e.index_type(); 1 + usize::from(threads.is_some())];
    region.append_block(block(&arguments, loc));
    let produce = e.insert(Produce::build(loc, slots, threads, region));
    let inside = AtEnd(inside_of(produce));
    let ie = Emit::new(&inside, loc);
    let given = inside_of(produce).argument_values();
    let (slot, odd) = position(&ie, pass(&ie, given[0]), slots);
    // The first round finds the slots empty: parity true passes on a fresh mbarrier.
    let parity = ie.cmp(Cmp::Eq, odd, ie.index(0));
    ie.insert(mbarrier::Wait::build(loc, empty, &[slot], parity, false));
    fill(&ie, &operands, place, &given, slot, full)?;
    ie.insert(EndProduce::build(loc));

    let (slot, odd) = position(&e, pass(&e, counter), slots);
    let parity = e.cmp(Cmp::Ne, odd, e.index(0));
    e.insert(mbarrier::Wait::build(loc, full, &[slot], parity, false));
    if threads.is_some() {
        // Threads write through the generic proxy, wgmma reads through the other.
        e.insert(Fence::build(loc, FenceKind::ProxyAsyncShared));
    }
    let mut slabs = vec![];
    for o in &operands {
        let staged = o.stage.result();
        let slab = e.insert(Slab::build(loc, staged.r#type(), o.ring, &[slot])).result0();
        staged.replace_all_uses_with(&slab);
        slabs.push(slab);
    }
    let uses = |op: &OperationRef<'c, 'c>| {
        op.nested_ops()
            .iter()
            .any(|inner| inner.operand_values().iter().any(|v| slabs.contains(v)))
            || ahead.stages.iter().any(|(s, _)| s.op() == *op)
    };
    let ops = body.op_list();
    let last = ops.iter().rposition(uses).unwrap_or(0);
    // A loop's body ends with a terminator, which uses no memory.
    let Some(next) = ops.get(last + 1) else { return Ok(()) };
    let at = Before(*next);
    let e = Emit::new(&at, loc);
    let elected = e.insert(Elect::build(loc, e.int(1))).result0();
    e.if_then(elected, |e| {
        e.insert(mbarrier::Arrive::build(loc, empty, &[slot], false));
    });
    for o in operands {
        // SAFETY: what it gave has no uses any more.
        unsafe { mlirOperationDestroy(o.stage.op().to_raw()) };
    }
    Ok(())
}

fn inside_of<'c>(produce: OperationRef<'c, 'c>) -> BlockRef<'c, 'c> {
    produce.region_at(0).entry().expect("it was just given")
}

/// Slot of a pass, by its number, and 1 where it comes round to it for the second, fourth, ... time.
fn position<'c>(e: &Emit<'c, '_>, pass: V<'c>, slots: i64) -> (V<'c>, V<'c>) {
    let n = e.index(slots);
    (e.rem_u(pass, n), e.rem_u(e.div_u(pass, n), e.index(2)))
}

pub(super) fn operand<'c>(shared: &mut Shared<'c>, stage: Stage<'c, 'c>, ring: V<'c>) -> Res<Operand<'c>> {
    let (slot, staging) = (stage.result().r#type(), stage.staging());
    if stage.by() != Mover::Tma {
        return Ok(Operand {
            stage,
            staging,
            ring,
            map: None,
            at: vec![],
            is_one_copy: false,
        });
    }
    let [blocks, panels, rows, span] = staging.shape();
    let at = Before(shared.first);
    let e = Emit::new(&at, stage.op().location());
    let lie_together = blocks == 1 || staging.major == Major::K;
    let is_one_copy = panels == 1 && lie_together && blocks * rows <= MOST_BOX_ROWS;
    let box_rows = if is_one_copy { blocks * rows } else { rows };
    let element = slot.element_type().unwrap_or(slot);
    let swizzle = shared_of(slot).map(|s| s.swizzle().to_string()).unwrap_or_default();
    let cut = argument_of(stage);
    let units = "1x".repeat(cut.at.len());
    let text = format!("!tile.tensor_map<{units}{box_rows}x{span}x{element}, swizzle = {swizzle}>");
    let t = Type::parse(e.context(), &text).and_then(TensorMapType::of);
    let Some(t) = t.filter(|t| t.violations().is_empty()) else {
        return Diag::op(
            &stage.op(),
            format!("would need a map {text}, which there cannot be; write by threads"),
        )
        .report();
    };
    let own = [stage.row_axis(), 1 - stage.row_axis()].map(|axis| cut.axes[axis]);
    let order: Vec<usize> = cut.at.iter().map(|(d, _)| *d).chain(own).collect();
    let global = ordered(shared, stage, cut.memory, order);
    let map = shared.maps.of(stage.op(), global, None, t, true)?;
    Ok(Operand {
        stage,
        staging,
        ring,
        map: Some(map),
        at: cut.at.into_iter().map(|(_, n)| n).collect(),
        is_one_copy,
    })
}

/// The argument that an operand comes from, and which part of it: as it is where it is no argument at indices.
fn argument_of<'c>(stage: Stage<'c, 'c>) -> Cut<'c> {
    let source = stage.source();
    // Sizes alone are the map's.
    let cut = Cut::of(source).filter(|cut| cut.asked.is_empty() || !cut.at.is_empty());
    cut.unwrap_or(Cut {
        memory: source,
        axes: vec![0, 1],
        at: vec![],
        asked: vec![],
    })
}

/// A memref with its dimensions in an order.
fn ordered<'c>(shared: &mut Shared<'c>, stage: Stage<'c, 'c>, memory: V<'c>, order: Vec<usize>) -> V<'c> {
    if order.is_sorted() {
        return memory;
    }
    let same = |(of, by, _): &&(V<'c>, Vec<usize>, OperationRef<'c, 'c>)| *of == memory && *by == order;
    if let Some((.., view)) = shared.views.iter().find(same) {
        return view.result0();
    }
    let at = Before(shared.first);
    let e = Emit::new(&at, stage.op().location());
    let t = memory.r#type();
    let reordered = |list: Vec<i64>| order.iter().map(|d| list[*d]).collect::<Vec<_>>();
    let (strides, offset) = t.strides_and_offset().unwrap_or_default();
    let to = strided(
        t,
        &reordered(t.shape().unwrap_or_default()),
        &reordered(strides),
        offset,
    );
    let names = |list: &mut dyn Iterator<Item = usize>| list.map(|d| format!("d{d}")).collect::<Vec<_>>().join(", ");
    let (from, into) = (names(&mut (0..order.len())), names(&mut order.iter().copied()));
    let permutation = e.attr(&format!("affine_map<({from}) -> ({into})>"));
    let view = e.op("memref.transpose", &[memory], &[to], &[("permutation", permutation)]);
    shared.views.push((memory, order, view));
    view.result0()
}

/// Fills a slot, in a region that gets the loop's counter and, where several threads run it, the number of the thread.
fn fill<'c>(
    e: &Emit<'c, '_>,
    operands: &[Operand<'c>],
    place: OperationRef<'c, 'c>,
    given: &[V<'c>],
    slot: V<'c>,
    full: V<'c>,
) -> Res {
    let loc = e.loc();
    let mut slice = Slice::new(|v| !is_defined_in(v, place));
    if let Some(counter) = counter(place) {
        slice.set(counter, given[0]);
    }
    let Some(thread) = given.get(1).copied() else {
        let bytes: i64 = operands.iter().map(Operand::bytes).sum();
        e.insert(mbarrier::ArriveExpectTx::build(loc, full, &[slot], e.c32(bytes), false));
        for o in operands {
            let from = copies::place_of(e, &mut slice, o)?;
            copy(e, o, &from, slot, full);
        }
        return Ok(());
    };
    // Each thread arrives once, whatever it brings; the first one issues the tensor copies.
    let mut stored: Option<V<'c>> = None;
    for o in operands {
        let from = copies::place_of(e, &mut slice, o)?;
        let by_tma = |e: Emit<'c, '_>| {
            e.if_then(e.cmp(Cmp::Eq, thread, e.index(0)), |e| {
                e.insert(mbarrier::ExpectTx::build(loc, full, &[slot], e.c32(o.bytes())));
                copy(&e, o, &from, slot, full);
            });
        };
        if o.is_by_tma() {
            by_tma(e.clone());
            continue;
        }
        let widths = copies::Widths::new(e, o, &from);
        let by_threads = |e: Emit<'c, '_>| copies::copy(&e, o, &from, &widths, slot, (thread, copies::THREADS));
        let mut stores = widths.stores(e);
        match o.stage.condition().filter(|_| o.map.is_some()) {
            Some(condition) => {
                e.if_else(
                    condition,
                    &[],
                    |e| {
                        by_tma(e);
                        vec![]
                    },
                    |e| {
                        by_threads(e);
                        vec![]
                    },
                );
                let not = e.xor(condition, e.constant(1, e.int(1)));
                stores = stores.map(|s| e.and(s, not));
            }
            None => by_threads(e.clone()),
        }
        stored = match (stored, stores) {
            (Some(a), Some(b)) => Some(e.or(a, b)),
            (a, b) => a.or(b),
        };
    }
    let when_over = |e: &Emit<'c, '_>| {
        e.insert(MbarrierArrive::build(loc, full, &[slot], true));
    };
    let Some(stored) = stored else {
        when_over(e);
        return Ok(());
    };
    // Ordinary stores are published by an ordinary arrival, for which the thread waits until its copies are over.
    e.if_else(
        stored,
        &[],
        |e| {
            e.insert(WaitAll::build(loc));
            e.insert(mbarrier::Arrive::build(loc, full, &[slot], false));
            vec![]
        },
        |e| {
            when_over(&e);
            vec![]
        },
    );
    Ok(())
}

/// The copies of one operand into a slot.
fn copy<'c>(e: &Emit<'c, '_>, o: &Operand<'c>, from: &copies::Source<'c>, slot: V<'c>, full: V<'c>) {
    let Some(map) = o.map else { return };
    let loc = o.stage.op().location();
    let (row_axis, first) = (o.stage.row_axis(), &from.first);
    let load = |own: [V<'c>; 2], destination: V<'c>| {
        let coords = [&from.at[..], &own].concat();
        let barrier = (full, &[slot][..]);
        e.insert(TmaLoad::plain(
            loc,
            map,
            &coords,
            destination,
            barrier,
            LoadOptions {
                cache: o.stage.cache(),
                ..LoadOptions::default()
            },
        ));
    };
    let slot_type = o.stage.result().r#type();
    if o.is_one_copy {
        let slab = e.insert(Slab::build(loc, slot_type, o.ring, &[slot])).result0();
        return load([first[row_axis], first[1 - row_axis]], slab);
    }
    let panel_type = with_shape(slot_type, &[o.staging.rows, o.staging.span]);
    for block in 0..o.staging.blocks {
        for panel in 0..o.staging.panels {
            let (row, column) = o.staging.panel_origin(block, panel);
            let at = [slot, e.index(block), e.index(panel)];
            let slab = e.insert(Slab::build(loc, panel_type, o.ring, &at)).result0();
            load(
                [e.offset(first[row_axis], row), e.offset(first[1 - row_axis], column)],
                slab,
            );
        }
    }
}
