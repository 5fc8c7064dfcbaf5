//! Which accesses of whole tiles need no barrier between them, since each thread's own order suffices.
//!
//! ```text
//! load C[i, j], store C[i, j]       the same elements by the same threads, if no thread holds copies, and none goes through lanes
//! ... in a loop over i by 64        and tiles of 64 rows: other passes, other elements
//! store C[i, 0], load C[i, 64]      tiles of 64 columns lie apart, if no loop changes i
//! store C[i, j], load C[i, j + 64]  they lie apart in whatever pass, if j is a multiple of 128
//! ```
use crate::{
    convert_tile_to_nvvm::goes_through_lanes,
    insert_sync::{DEEPEST, is_argument, is_computed, is_fixed, is_uniform},
    known::known_multiple,
    shared_uses::{Use, in_role},
    uniform::search,
};
use girih_dialects::tile::{
    distribution::Distribution,
    layouts::layout_of,
    ops::{
        atomic::{AtomicRmw, Semantics},
        memory::{Alloc, Slab, Store},
    },
};
use girih_ir::{ext::DYNAMIC, prelude::*};

type V<'c> = Value<'c, 'c>;

/// Whether two accesses to one argument of a kernel need no barrier between them, in whatever passes of loops they are.
pub fn in_thread_order(a: &Use<'_>, b: &Use<'_>) -> bool {
    // Explicit code, which orders itself.
    if !a.is_tile() && !b.is_tile() {
        return true;
    }
    // Atomic ops of one kind come in any order where nobody sees it.
    commute(a, b) || own_or_apart(a, b)
}

/// Whether of two accesses each thread meets its own elements alone, if they meet at all, in whatever passes of loops they are.
pub(crate) fn own_or_apart(a: &Use<'_>, b: &Use<'_>) -> bool {
    if a.memory != b.memory || !is_one_place(a.memory) {
        return false;
    }
    let (at, bt) = (a.places(), b.places());
    if at.iter().chain(&bt).any(|v| v.r#type().is_ranked_tensor_type()) {
        return false;
    }
    let (ae, be) = (extents(a, at.len()), extents(b, bt.len()));
    // Each warpgroup may have its part elsewhere.
    let is_alike = |x: V<'_>| is_uniform(x) || a.is_whole_tile() && b.is_whole_tile();
    let lie_apart = (at.iter().zip(&ae)).zip(bt.iter().zip(&be)).any(|((x, m), (y, n))| {
        let ((x, c), (y, d)) = (offset(*x), offset(*y));
        let apart = c.saturating_add(*m) <= d || d.saturating_add(*n) <= c;
        // Passes that differ in `x` differ by as much as both reach.
        let within = |x: V<'_>| {
            let unit = known_multiple(x);
            c >= 0 && d >= 0 && c.saturating_add(*m) <= unit && d.saturating_add(*n) <= unit
        };
        apart && x == y && x.is_none_or(|x| is_alike(x) && (is_fixed(x) || within(x)))
    });
    lie_apart || (at == bt && is_divided_alike(a, b) && at.iter().zip(&ae).all(|(v, n)| goes_by(*v, *n, DEEPEST)))
}

/// Whether two atomic operations leave the same, whichever comes first, and say nothing of what they met.
pub(crate) fn commute(a: &Use<'_>, b: &Use<'_>) -> bool {
    let kind = |u: &Use<'_>| {
        let atomic = u.op.cast::<AtomicRmw>()?;
        let unseen = atomic.result().is_none() && atomic.sem() == Semantics::Relaxed;
        Some(atomic.kind()).filter(|kind| unseen && kind.commutes())
    };
    kind(a).is_some_and(|k| kind(b) == Some(k))
}

/// Whether a memref is the same memory each time that a thread comes by, or memory that lies apart: a buffer, a part of one that
/// no loop moves, or whichever slab. Other indices are other elements there.
pub(crate) fn is_one_place<'c>(memory: V<'c>) -> bool {
    let decided_by = |v: V<'c>| match v.defining_op() {
        Some(op) if may_overlap(op) => Err(()),
        Some(op) if op.is::<Alloc>() => Ok(vec![]),
        Some(op) if op.is::<Slab>() => Ok(op.operand_values().into_iter().take(1).collect()),
        Some(op) if is_computed(op) => Ok(op.operand_values()),
        None if is_argument(v) => Ok(vec![]),
        _ => Err(()),
    };
    search([memory], decided_by).is_none()
}

/// Whether a memref may have one element at several indices: an argument has none, nor a part of one, but a cast may give it
/// whatever strides.
pub(crate) fn has_overlaps(memory: V<'_>) -> bool {
    let mut at = memory.defining_op();
    while let Some(op) = at {
        if may_overlap(op) {
            return true;
        }
        at = op.operand_values().first().and_then(ValueExt::defining_op);
    }
    false
}

fn may_overlap(op: OperationRef<'_, '_>) -> bool {
    if op.full_name() != "memref.reinterpret_cast" {
        return false;
    }
    let t = op.result_values()[0].r#type();
    let (Some(shape), Some((strides, _))) = (t.shape(), t.strides_and_offset()) else {
        return true;
    };
    let mut axes: Vec<_> = strides.into_iter().zip(shape).filter(|(_, size)| *size != 1).collect();
    axes.sort_unstable();
    let is_known = axes.iter().all(|(stride, size)| *stride != DYNAMIC && *size != DYNAMIC);
    // What the axes before reach.
    let reaches = |axes: &[(i64, i64)]| {
        let reach = axes.iter().map(|(stride, size)| stride.saturating_mul(size - 1));
        reach.fold(0i64, i64::saturating_add)
    };
    !is_known || (0..axes.len()).any(|i| axes[i].0 <= reaches(&axes[..i]))
}

/// Whether both move a tile of one type, each of whose elements one thread alone reaches.
fn is_divided_alike(a: &Use<'_>, b: &Use<'_>) -> bool {
    let (Some(x), Some(y)) = (a.tile(), b.tile()) else {
        return false;
    };
    // Of threads that hold copies all load, but always the same one stores.
    let only_stored = !a.reads && !b.reads;
    // Roles divide tiles among threads of their own.
    let own = x == y && in_role(a.op) == in_role(b.op);
    // Of a fragment there are no copies.
    let divided = || match Distribution::of(x) {
        Some(d) => only_stored || d.copy_bits() == 0,
        None => layout_of(x).is_some(),
    };
    // Otherwise other threads reach them, and not the same for a load as for a store. One op goes one way in all its passes.
    let goes_one_way = || a.op == b.op && a.op.cast::<Store>().and_then(|s| s.vector_if()).is_none_or(is_fixed);
    own && divided() && (goes_one_way() || !goes_through_lanes(a.op) && !goes_through_lanes(b.op))
}

/// Elements along each axis of the memref.
pub(crate) fn extents(u: &Use<'_>, rank: usize) -> Vec<i64> {
    let shape = u.tile().and_then(|t| t.shape()).unwrap_or_default();
    let outer = rank.saturating_sub(shape.len());
    std::iter::repeat_n(1, outer).chain(shape).collect()
}

/// An index as a value and a constant.
fn offset(mut v: V<'_>) -> (Option<V<'_>>, i64) {
    let mut all = 0i64;
    loop {
        if let Some(c) = v.constant_int() {
            return (None, all.saturating_add(c));
        }
        let sum = v.defining_op().filter(|op| op.full_name() == "arith.addi");
        match sum.map(|op| op.operand_values()).as_deref() {
            Some([x, c]) | Some([c, x]) if c.constant_int().is_some() => {
                all = all.saturating_add(c.constant_int().unwrap_or(0));
                v = *x;
            }
            _ => return (Some(v), all),
        }
    }
}

/// Whether an index changes by multiples of `extent` alone: two passes that come by have the same tile or tiles that lie apart.
pub(crate) fn goes_by(v: V<'_>, extent: i64, deep: u32) -> bool {
    if is_fixed(v) || is_multiple(v, extent, deep) {
        return true;
    }
    let Some(deep) = deep.checked_sub(1) else { return false };
    let Some(op) = v.defining_op() else {
        return match v.argument_of() {
            Some((owner, 0)) if owner.full_name() == "scf.for" => {
                let bounds = owner.operand_values();
                goes_by(bounds[0], extent, deep) && is_multiple(bounds[2], extent, deep)
            }
            _ => false,
        };
    };
    let operands = op.operand_values();
    match op.full_name() {
        "arith.addi" | "arith.subi" | "arith.index_cast" | "arith.index_castui" => {
            operands.iter().all(|v| goes_by(*v, extent, deep))
        }
        _ => false,
    }
}

/// Whether an index is a multiple of `extent`, as far as constants say.
fn is_multiple(v: V<'_>, extent: i64, deep: u32) -> bool {
    if let Some(c) = v.constant_int() {
        return extent != 0 && c % extent == 0;
    }
    let Some(deep) = deep.checked_sub(1) else { return false };
    if let Some((owner, 0)) = v.argument_of().filter(|(owner, _)| owner.full_name() == "scf.for") {
        let bounds = owner.operand_values();
        return is_multiple(bounds[0], extent, deep) && is_multiple(bounds[2], extent, deep);
    }
    let Some(op) = v.defining_op() else { return false };
    let operands = op.operand_values();
    match op.full_name() {
        "arith.addi" | "arith.subi" => operands.iter().all(|v| is_multiple(*v, extent, deep)),
        "arith.muli" => operands.iter().any(|v| is_multiple(*v, extent, deep)),
        "arith.index_cast" | "arith.index_castui" => operands.iter().all(|v| is_multiple(*v, extent, deep)),
        "arith.shli" => {
            let by = operands
                .get(1)
                .and_then(|v| v.constant_int())
                .filter(|n| (0..63).contains(n));
            by.is_some_and(|n| extent != 0 && (1i64 << n) % extent == 0)
        }
        _ => false,
    }
}
