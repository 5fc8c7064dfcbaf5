//! Operands that tensor copies stage: a ring of slots, a region that fills them ahead of the loop, and waits.
use super::{Ring, Shared, V, with_shape};
use crate::slice::{Slice, is_defined_in};
use girih_dialects::{
    nvvm::{Cmp, Emit},
    tile::{
        ops::{
            index::Elect,
            mbarrier,
            memory::{Alloc, Slab},
            mma::{EndProduce, Produce, Stage, Staging},
            tma::TmaLoad,
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

/// An operand with its ring and its tensor map.
struct Operand<'c> {
    stage: Stage<'c, 'c>,
    staging: Staging,
    ring: V<'c>,
    map: V<'c>,
    /// One copy fills a whole slot.
    is_one_copy: bool,
}

/// Lets the copies of `stages`, which are all that tensor copies stage in the loop `place`, run up to `slots` passes ahead.
pub(super) fn run_ahead<'c>(
    shared: &mut Shared<'c>,
    place: OperationRef<'c, 'c>,
    stages: &[Stage<'c, 'c>],
    slots: i64,
) -> Res {
    let loc = place.location();
    let warps = shared.kernel.threads() / 32;
    let mut operands = vec![];
    for stage in stages {
        operands.push(operand(shared, place, *stage, slots)?);
    }
    let full = shared.mbarriers(loc, slots, 1);
    let empty = shared.mbarriers(loc, slots, warps);
    let Some(body) = place.region_at(0).entry() else {
        return Ok(());
    };
    let (counter, bounds) = (body.argument_values()[0], place.operand_values());
    let Some(head) = body.op_list().first().copied() else {
        return Ok(());
    };
    let at = Before(head);
    let e = Emit::new(&at, loc);

    let region = Region::new();
    region.append_block(block(&[e.index_type()], loc));
    let produce = e.insert(Produce::build(loc, slots, region));
    let inside = produce.region_at(0).entry().expect("it was just given");
    fill(&operands, place, inside, slots, full, empty)?;

    let (slot, odd) = position(&e, counter, bounds[0], bounds[2], slots);
    let parity = e.cmp(Cmp::Ne, odd, e.index(0));
    e.insert(mbarrier::Wait::build(loc, full, &[slot], parity, false));
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
            || stages.iter().any(|s| s.op() == *op)
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

/// Slot of the pass with counter `k`, and 1 where it comes round to it for the second, fourth, ... time.
fn position<'c>(e: &Emit<'c, '_>, k: V<'c>, from: V<'c>, step: V<'c>, slots: i64) -> (V<'c>, V<'c>) {
    let n = e.index(slots);
    let pass = e.div_u(e.sub(k, from), step);
    let round = e.div_u(pass, n);
    (e.rem_u(pass, n), e.rem_u(round, e.index(2)))
}

fn operand<'c>(
    shared: &mut Shared<'c>,
    place: OperationRef<'c, 'c>,
    stage: Stage<'c, 'c>,
    slots: i64,
) -> Res<Operand<'c>> {
    let (loc, slot, staging) = (stage.op().location(), stage.result().r#type(), stage.staging());
    let [blocks, panels, rows, span] = staging.shape();
    let t = with_shape(slot, &[slots, blocks, panels, rows, span]);
    let at = Before(shared.first);
    let e = Emit::new(&at, loc);
    let ring = e.insert(Alloc::build(loc, t, None)).result0();
    shared.rings.push(Ring {
        place,
        slot,
        memory: ring,
    });
    let lie_together = blocks == 1 || staging.major == Major::K;
    let is_one_copy = panels == 1 && lie_together && blocks * rows <= MOST_BOX_ROWS;
    let box_rows = if is_one_copy { blocks * rows } else { rows };
    let element = slot.element_type().unwrap_or(slot);
    let swizzle = shared_of(slot).map(|s| s.swizzle().to_string()).unwrap_or_default();
    let text = format!("!tile.tensor_map<{box_rows}x{span}x{element}, swizzle = {swizzle}>");
    let t = Type::parse(e.context(), &text).and_then(TensorMapType::of);
    let Some(t) = t else {
        return Diag::op(
            &stage.op(),
            format!("would need a map {text}, which there cannot be; write by threads"),
        )
        .report();
    };
    let global = if staging.row_axis(stage.side()) == 0 {
        stage.source()
    } else {
        transposed(shared, stage)
    };
    let map = shared.maps.of(stage.op(), global, None, t, true)?;
    Ok(Operand {
        stage,
        staging,
        ring,
        map,
        is_one_copy,
    })
}

/// The memref that an operand comes from with its axes exchanged.
fn transposed<'c>(shared: &mut Shared<'c>, stage: Stage<'c, 'c>) -> V<'c> {
    let source = stage.source();
    if let Some((_, view)) = shared.views.iter().find(|(of, _)| *of == source) {
        return view.result0();
    }
    let at = Before(shared.first);
    let e = Emit::new(&at, stage.op().location());
    let t = source.r#type();
    let reversed = |mut list: Vec<i64>| {
        list.reverse();
        list
    };
    let shape = reversed(t.shape().unwrap_or_default());
    let (strides, offset) = t.strides_and_offset().unwrap_or_default();
    let strides = reversed(strides);
    // SAFETY: the parts are of a memref that exists, in another order.
    let to = unsafe {
        let layout = mlirStridedLayoutAttrGet(e.context().to_raw(), offset, strides.len() as isize, strides.as_ptr());
        let element = mlirShapedTypeGetElementType(t.to_raw());
        let space = mlirMemRefTypeGetMemorySpace(t.to_raw());
        Type::from_raw(mlirMemRefTypeGet(
            element,
            shape.len() as isize,
            shape.as_ptr(),
            layout,
            space,
        ))
    };
    let exchange = e.attr("affine_map<(d0, d1) -> (d1, d0)>");
    let view = e.op("memref.transpose", &[source], &[to], &[("permutation", exchange)]);
    shared.views.push((source, view));
    view.result0()
}

/// The region that runs ahead: waits for an empty slot, and has it filled.
fn fill<'c>(
    operands: &[Operand<'c>],
    place: OperationRef<'c, 'c>,
    inside: BlockRef<'c, 'c>,
    slots: i64,
    full: V<'c>,
    empty: V<'c>,
) -> Res {
    let loc = place.location();
    let (at, bounds) = (AtEnd(inside), place.operand_values());
    let e = Emit::new(&at, loc);
    let pass = inside.argument_values()[0];
    let (slot, odd) = position(&e, pass, bounds[0], bounds[2], slots);
    // The first round finds the slots empty: parity true passes on a fresh mbarrier.
    let parity = e.cmp(Cmp::Eq, odd, e.index(0));
    e.insert(mbarrier::Wait::build(loc, empty, &[slot], parity, false));
    let bytes: u64 = operands
        .iter()
        .filter_map(|o| memref_bytes(o.stage.result().r#type()))
        .sum();
    e.insert(mbarrier::ArriveExpectTx::build(
        loc,
        full,
        &[slot],
        e.c32(bytes as i64),
        false,
    ));
    let mut slice = Slice::new(|v| !is_defined_in(v, place));
    if let Some(counter) = place
        .region_at(0)
        .entry()
        .and_then(|b| b.argument_values().first().copied())
    {
        slice.set(counter, pass);
    }
    for o in operands {
        let mut first = vec![];
        for v in o.stage.indices() {
            match slice.get(v, &at) {
                Ok(v) => first.push(v),
                Err(_) => {
                    let m = "copies from a place that depends on more than the loop's counter, so that it cannot run ahead; write by threads";
                    return Diag::op(&o.stage.op(), m).report();
                }
            }
        }
        copy(&e, o, &first, slot, full);
    }
    e.insert(EndProduce::build(loc));
    Ok(())
}

/// The copies of one operand into a slot.
fn copy<'c>(e: &Emit<'c, '_>, o: &Operand<'c>, first: &[V<'c>], slot: V<'c>, full: V<'c>) {
    let loc = o.stage.op().location();
    let row_axis = o.staging.row_axis(o.stage.side());
    let load = |coords: [V<'c>; 2], destination: V<'c>| {
        e.insert(TmaLoad::build(
            loc,
            o.map,
            &coords,
            destination,
            full,
            &[slot],
            &[],
            None,
            None,
            false,
            None,
            None,
            None,
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
