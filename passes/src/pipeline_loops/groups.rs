//! Operands of products of tiles: a ring of slots for each, which all threads of the block fill ahead of the loop with
//! `cp.async`, in groups.
//!
//! ```mlir
//! tile.barrier                                            // what lay there has been read
//! scf.for %s = %c0 to %c3 step %c1 {                      // as many passes as the slots but one, if the loop has them
//!   ... tile.cp_async into slot %s
//!   tile.cp_async.commit_group
//! }
//! %sum = scf.for %k = %c0 to %K step %c64 ... {
//!   tile.cp_async.wait_group 2                            // the thread's part of this pass has come
//!   tile.barrier                                          // that of the others has, and the last pass has been read
//!   ... tile.cp_async into the slot of the last pass, for the pass that is as many ahead
//!   tile.cp_async.commit_group
//!   %slab = tile.slab %ring[%slot] : ...
//!   ...
//! }
//! tile.cp_async.wait_group 0
//! tile.barrier
//! ```
//!
//! In the loop the thread's number is read anew in each pass (`tile.thread_id fresh`): the many addresses that follow from it are
//! cheap beside the products, and are not to be kept. The loop counts by itself: it starts with the first slot each time that it
//! is entered. With one slot each pass copies, waits and goes on.
use super::{
    Ahead, Shared, V, copies,
    ring::{Operand, operand},
};
use crate::{
    nest::counter,
    slice::{Slice, is_defined_in},
};
use girih_dialects::{
    nvvm::{Cmp, Emit},
    tile::ops::{
        cp_async::{CommitGroup, WaitGroup},
        index::ThreadId,
        memory::Slab,
        sync::Barrier,
    },
};
use girih_ir::{ext::BlockExt, mlir_sys::*, prelude::*, rewrite::Before};

/// Lets the copies of a loop run up to `slots` - 1 passes ahead.
pub(super) fn run_ahead<'c>(shared: &mut Shared<'c>, ahead: &Ahead<'c>, slots: i64) -> Res {
    let (place, loc) = (ahead.place, ahead.place.location());
    let mut operands = vec![];
    for (stage, ring) in &ahead.stages {
        let ring = shared.ring(*ring, stage.op().location());
        operands.push(operand(shared, *stage, ring)?);
    }
    let (Some(counter), Some(body)) = (counter(place), place.region_at(0).entry()) else {
        return Ok(());
    };
    let ops = body.op_list();
    let (Some(head), Some(next)) = (ops.first().copied(), after(place)) else {
        return Ok(());
    };
    let bounds = place.operand_values();
    let (from, to, step) = (bounds[0], bounds[1], bounds[2]);

    let at = Before(place);
    let e = Emit::new(&at, loc);
    let fill = Fill {
        place,
        operands: &operands,
        threads: shared.kernel.threads(),
    };
    let mut result = Ok(());
    e.insert(Barrier::build(loc, None, None));
    if slots > 1 {
        e.for_loop(e.index(0), e.index(slots - 1), e.index(1), |e, slot| {
            let pass = e.add(from, e.mul(slot, step));
            e.if_then(e.cmp(Cmp::Slt, pass, to), |e| result = fill.slot(&e, pass, slot));
            e.insert(CommitGroup::build(loc));
        });
        result?;
    }

    let at = Before(head);
    let e = Emit::new(&at, loc);
    let pass = e.div_u(e.sub(counter, from), step);
    let slot_of = |n: V<'c>| e.rem_u(n, e.index(slots));
    let mut result = Ok(());
    if slots > 1 {
        e.insert(WaitGroup::build(loc, slots - 2));
        e.insert(Barrier::build(loc, None, None));
        let later = e.add(counter, e.mul(step, e.index(slots - 1)));
        let free = slot_of(e.offset(pass, slots - 1));
        e.if_then(e.cmp(Cmp::Slt, later, to), |e| result = fill.slot(&e, later, free));
        e.insert(CommitGroup::build(loc));
    } else {
        e.insert(Barrier::build(loc, None, None));
        result = fill.slot(&e, counter, e.index(0));
        e.insert(CommitGroup::build(loc));
        e.insert(WaitGroup::build(loc, 0));
        e.insert(Barrier::build(loc, None, None));
    }
    result?;
    let slot = slot_of(pass);
    for o in &operands {
        let staged = o.stage.result();
        let slab = e.insert(Slab::build(loc, staged.r#type(), o.ring, &[slot])).result0();
        staged.replace_all_uses_with(&slab);
    }

    let at = Before(next);
    let e = Emit::new(&at, loc);
    e.insert(WaitGroup::build(loc, 0));
    e.insert(Barrier::build(loc, None, None));
    for o in operands {
        // SAFETY: what it gave has no uses any more.
        unsafe { mlirOperationDestroy(o.stage.op().to_raw()) };
    }
    Ok(())
}

/// The op after another one.
fn after<'c>(op: OperationRef<'c, 'c>) -> Option<OperationRef<'c, 'c>> {
    let ops = op.block()?.op_list();
    ops.into_iter().skip_while(|other| *other != op).nth(1)
}

/// How slots are filled.
struct Fill<'c, 'x> {
    place: OperationRef<'c, 'c>,
    operands: &'x [Operand<'c>],
    /// Threads that copy.
    threads: i64,
}

impl<'c> Fill<'c, '_> {
    /// Issues the thread's copies of the pass in which the loop's counter is `pass`.
    fn slot(&self, e: &Emit<'c, '_>, pass: V<'c>, slot: V<'c>) -> Res {
        let thread = e.insert(ThreadId::build(e.loc(), e.index_type(), true)).result0();
        let mut slice = Slice::new(|v| !is_defined_in(v, self.place));
        if let Some(counter) = counter(self.place) {
            slice.set(counter, pass);
        }
        for o in self.operands {
            let from = copies::place_of(e, &mut slice, o)?;
            let widths = copies::Widths::new(e, o, &from);
            copies::copy(e, o, &from, &widths, slot, (thread, self.threads));
        }
        Ok(())
    }
}
