//! `tile-insert-sync`: barriers of the block and fences between proxies, where accesses to memory need them.
//!
//! ```mlir
//! memref.store %x, %m[%thread] : memref<128xf32, #tile.shared>                                                   // before
//! %y = memref.load %m[%other] : memref<128xf32, #tile.shared>
//!
//! memref.store %x, %m[%thread] : memref<128xf32, #tile.shared>                                                   // after
//! tile.barrier
//! %y = memref.load %m[%other] : memref<128xf32, #tile.shared>
//! ```
//!
//! | of two accesses to one buffer | what is inserted if no path has it |
//! |---|---|
//! | one a write, both through the generic proxy | `tile.barrier` before the second |
//! | both in scratch of which each warp has bytes of its own (`within_warps`) | `tile.warp_sync` before the second |
//! | a write through the generic proxy, then any through the async proxy | `tile.fence proxy_async_shared`, then `tile.barrier` |
//! | a read through the async proxy, then a write | `tile.barrier`; the wait for the copy or product is the program's |
//! | a write through the async proxy, then any | nothing: the program waits, by an mbarrier or for a group |
//!
//! Global memory is ordered in the same way where whole tiles go: of two accesses to one argument of the kernel, one a write and
//! one (or both) of a tile that is divided among the block's threads, the second comes after a barrier.
//!
//! ```mlir
//! tile.store %x, %T[%c0] : tensor<4096xi32, #L>, memref<?xi32, #tile.global>                                     // after
//! tile.barrier
//! %y = tile.load %T[%c3] : memref<?xi32, #tile.global> -> tensor<4096xi32, #L>
//! ```
//!
//! None is needed where each thread meets its own elements alone, as in `load C[i, j]`, add, `store C[i, j]` by vectors, or where
//! the two lie apart by constants (`global_order`). Neighbours that are moved one by one may be moved by other threads.
//! Arguments are taken not to overlap, and other blocks are not waited for. Accesses that are all of single elements stay as
//! they are.
//!
//! Nor is one needed between atomic operations of one kind that come in any order: `relaxed` ones without a result, of a kind
//! other than `exch` and `cas`, in shared memory as in global.
//!
//! Ops that move data between warps (`scratch`) have a barrier inside, which counts; those within warps have a
//! synchronisation of the warp inside, between their writes and their reads. Accesses come from effects and marks; see
//! `shared_uses`. No barrier is inserted that another makes needless: each is tried without in the end. Where the later of two
//! accesses is in loops and the earlier is not, the barrier stands before the loops.
//!
//! What a program orders by itself stays as it is:
//!
//! - accesses of one thread: at places that the thread's number tells apart, or under one test for a single thread; and what
//!   one store of an element writes in the passes of a loop, which goes to different places where nothing reads in between;
//! - single elements before and after a wait for an mbarrier or a cluster, a barrier with a number, a fence of memory: the
//!   program has an agreement of its own there. Tiles and scratch do not count on it;
//! - buffers that say so (`tile.alloc ordered`), as the slots of `tile-pipeline` do;
//! - mbarriers, buffers that go where their uses cannot be followed, and all that stands in roles (`tile.warp_specialize`),
//!   unless they say `barrier(n)`.
//!
//! A barrier stands only where all threads of the block come by: outside conditions and loops that may differ between
//! threads, unless whole tiles are moved there, which all threads do together. Where there is no such place, a remark says so,
//! and the program stays as it is. In a role that says `barrier(n)` it is one of the role, `tile.barrier id n`, between accesses
//! of the role; between one of the role and one before or after all roles it is one of the block, outside them.
//!
//! A remark says where a loop waits for another thread's write by a load that nothing in the loop lets see it.
//!
//! *Needs* `tile-allocate-scratch` where tiles go between warps. *Numbers* stay what they are.
use crate::{
    global_order::{commute, extents, goes_by, in_thread_order, is_one_place, own_or_apart},
    polls,
    shared_uses::{Pending, Use, Uses, Walk, Way, in_role, is_within_warps, line},
    uniform::search,
};
use girih_dialects::tile::{
    distribution::is_distributed,
    marks::{VARIES, has_mark},
    ops::{
        index::{LaneId, ThreadId},
        kernel::{Kernel, WarpSpecialize},
        sync::{Barrier, Fence, FenceKind, WarpSync},
    },
    verify::{holders, role_of},
};
use girih_ir::{
    ext::BlockExt,
    mlir_sys::*,
    pass::{DialectSource, Pass, PassContext, PassInfo, Statistic},
    prelude::*,
    rewrite::{Before, Builder},
};

type V<'c> = Value<'c, 'c>;

/// The pass.
pub struct InsertSync;

impl Pass for InsertSync {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        statistics: &[
            Statistic {
                name: "barriers",
                description: "Barriers inserted",
            },
            Statistic {
                name: "fences",
                description: "Fences between proxies inserted",
            },
            Statistic {
                name: "warp-syncs",
                description: "Synchronisations of warps inserted",
            },
        ],
        dialects: &[DialectSource::Rust(&girih_dialects::tile::TILE)],
        ..PassInfo::new(
            "tile-insert-sync",
            "Order accesses to shared memory, and of whole tiles to global memory, by barriers and fences",
        )
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        for kernel in crate::kernels(module) {
            order(kernel, cx);
        }
        Ok(())
    }
}

/// What two accesses lack.
#[derive(Clone, Copy, PartialEq)]
struct Missing<'c> {
    /// The barrier goes before this op, if one is missing.
    barrier: Option<OperationRef<'c, 'c>>,
    /// What the lanes of a warp meet at goes before this op, if it is missing.
    warp: Option<OperationRef<'c, 'c>>,
    /// The fence goes before this op, if one is missing.
    fence: Option<OperationRef<'c, 'c>>,
}

fn order<'c>(kernel: Kernel<'c, 'c>, cx: &PassContext<'c>) {
    let uses = Uses::with_global(kernel);
    let mut inserted: Vec<OperationRef<'c, 'c>> = vec![];
    let fence =
        |place: OperationRef<'c, 'c>| Before(place).insert(Fence::build(place.location(), FenceKind::ProxyAsyncShared));
    let warp = |place: OperationRef<'c, 'c>| Before(place).insert(WarpSync::build(place.location()));
    let barrier = |place: OperationRef<'c, 'c>| {
        let role = role_of(place).filter(|role| role.barrier.is_some());
        let id = role.as_ref().and_then(|role| role.barrier);
        Before(place).insert(Barrier::build(place.location(), id, role.map(|role| 32 * role.warps)))
    };
    // Each round orders one pair of accesses.
    for _ in 0..uses.all.len().saturating_mul(uses.all.len()).saturating_mul(2) {
        let Some(missing) = first_missing(kernel, &uses, &[]) else {
            break;
        };
        inserted.extend(missing.fence.map(fence));
        inserted.extend(missing.warp.map(warp));
        inserted.extend(missing.barrier.map(barrier));
    }
    let mut needless: Vec<OperationRef<'c, 'c>> = vec![];
    for op in &inserted {
        needless.push(*op);
        if first_missing(kernel, &uses, &needless).is_some() {
            needless.pop();
        }
    }
    for op in &needless {
        // SAFETY: it has no results, and is in the list once.
        unsafe { mlirOperationDestroy(op.to_raw()) };
    }
    inserted.retain(|op| !needless.contains(op));
    let count = |is: fn(&OperationRef<'c, 'c>) -> bool| inserted.iter().filter(|op| is(op)).count() as u64;
    cx.count(0, count(|op| op.is::<Barrier>()));
    cx.count(1, count(|op| op.is::<Fence>()));
    cx.count(2, count(|op| op.is::<WarpSync>()));
    remark_what_is_left(kernel, &uses);
    polls::remark(kernel);
}

/// The first pair of accesses that lack something that can be inserted.
fn first_missing<'c>(kernel: Kernel<'c, 'c>, uses: &Uses<'c>, without: &[OperationRef<'c, 'c>]) -> Option<Missing<'c>> {
    let mut found = None;
    Walk::through(kernel, uses, without, &mut |pending, number| {
        if found.is_none() {
            let later = &uses.all[number];
            found = pending
                .iter()
                .find_map(|p| missing(uses, p, later).and_then(Result::ok));
        }
    });
    found
}

/// Says which pairs stay unordered because only some threads come by.
fn remark_what_is_left<'c>(kernel: Kernel<'c, 'c>, uses: &Uses<'c>) {
    let mut said: Vec<OperationRef<'c, 'c>> = vec![];
    Walk::through(kernel, uses, &[], &mut |pending, number| {
        let later = &uses.all[number];
        for p in pending {
            if let Some(Err(())) = missing(uses, p, later)
                && !said.contains(&later.op)
            {
                said.push(later.op);
                let earlier = &uses.all[p.number];
                let remedy = match uses.buffers[later.buffer].is_global {
                    true => "order the two by hand",
                    false => "order the two by hand, and say `ordered` at the buffer's tile.alloc",
                };
                let m = format!(
                    "may meet the access at {} of another thread, but only some threads of the block come here, so that no \
                     barrier is inserted; {remedy}",
                    line(earlier.op)
                );
                drop(Diag::remark(&later.op, m).note(earlier.op.location(), "the other access is here"));
            }
        }
    });
}

/// What `later` lacks to be ordered after `pending`; `Err` where it lacks something and there is no place for it.
fn missing<'c>(uses: &Uses<'c>, pending: &Pending<'c>, later: &Use<'c>) -> Option<Result<Missing<'c>, ()>> {
    let earlier = &uses.all[pending.number];
    let buffer = &uses.buffers[later.buffer];
    let cannot_meet = earlier.buffer != later.buffer || !(earlier.writes || later.writes);
    let lost = buffer.lost.is_some() && !buffer.is_global;
    // Agreements by hand are about single elements: tiles are what waits of `tile-pipeline` must not leave unordered.
    let by_hand = pending.by_hand && !buffer.is_global && earlier.tile().is_none() && later.tile().is_none();
    if cannot_meet || by_hand || buffer.is_mbarrier || buffer.is_ordered || lost {
        return None;
    }
    let unseen = later.way == Way::Async && earlier.way == Way::Plain && earlier.writes && !pending.fenced;
    let in_order = || match buffer.is_global {
        true => in_thread_order(earlier, later),
        false => commute(earlier, later) || of_one_thread(earlier, later),
    };
    // No warp meets another's bytes there.
    if is_within_warps(earlier.op) && is_within_warps(later.op) {
        let unordered = pending.ordered.is_none() && !pending.in_warp;
        return unordered.then(|| {
            Ok(Missing {
                barrier: None,
                warp: Some(out_of_loops(later.op, earlier.op)),
                fence: None,
            })
        });
    }
    let unordered = pending.ordered.is_none() && !in_order();
    if !unseen && !unordered {
        return None;
    }
    let place = place_before(later, earlier);
    // The fence stands with the writers, before the barrier that lets the others go on.
    let fence = match (unseen, pending.ordered) {
        (false, _) => None,
        (true, Some(barrier)) => Some(barrier),
        (true, None) => match place {
            Some(place) => Some(place),
            None => return Some(Err(())),
        },
    };
    if !unordered {
        return Some(Ok(Missing {
            barrier: None,
            warp: None,
            fence,
        }));
    }
    Some(place.ok_or(()).map(|place| Missing {
        barrier: Some(place),
        warp: None,
        fence,
    }))
}

/// The op on the way to `later` that all threads come by and that a barrier goes before, if `earlier` lies before it: the last
/// one, or a loop around it that `earlier` is not in, so that the barrier is met once.
fn place_before<'c>(later: &Use<'c>, earlier: &Use<'c>) -> Option<OperationRef<'c, 'c>> {
    // What came before the roles is over before they begin.
    if let Some((roles, _)) = in_role(later.op).filter(|own| in_role(earlier.op) != Some(*own)) {
        return Some(roles);
    }
    // All threads come by what they do together.
    if later.way == Way::Collective || later.is_whole_tile() {
        return Some(out_of_loops(later.op, earlier.op));
    }
    let (mut place, mut inner) = (later.op, later.op);
    let mut at = later.op.parent();
    while let Some(outer) = at {
        if outer.is::<WarpSpecialize>() {
            break;
        }
        if outer.is::<Kernel>() {
            if outer.cast::<Kernel>().is_some_and(|k| k.body().block_list().len() > 1) {
                return None;
            }
            break;
        }
        let operands = outer.operand_values();
        let uniform = match outer.full_name() {
            "scf.if" | "scf.index_switch" => is_uniform(operands[0]),
            "scf.for" => operands.iter().take(3).all(|v| is_uniform(*v)),
            _ => false,
        };
        if !uniform && !has_whole_tiles(inner) {
            place = outer;
        }
        inner = outer;
        at = outer.parent();
    }
    (place == later.op || !earlier.op.is_in(place)).then(|| out_of_loops(place, earlier.op))
}

/// Whether whole tiles are moved, or exchanged, in the block around an op: all threads come by there, whatever led to it.
fn has_whole_tiles(op: OperationRef<'_, '_>) -> bool {
    let ops = op.block().map(|b| b.op_list()).unwrap_or_default();
    let mut inside = ops.into_iter().flat_map(|op| op.nested_ops());
    inside.any(|op| {
        let mut values = op.operand_values().into_iter().chain(op.result_values());
        op.dialect_name() == "tile" && !op.is_pure() && values.any(|v| is_distributed(v.r#type()))
    })
}

/// The outermost loop around an op, with nothing but loops between, that `earlier` is not in.
fn out_of_loops<'c>(op: OperationRef<'c, 'c>, earlier: OperationRef<'c, 'c>) -> OperationRef<'c, 'c> {
    let mut place = op;
    while let Some(outer) = place.parent()
        && matches!(outer.full_name(), "scf.for" | "scf.while")
        && !earlier.is_in(outer)
    {
        place = outer;
    }
    place
}

/// Whether a value is the same in all threads of the block.
pub(crate) fn is_uniform<'c>(v: V<'c>) -> bool {
    let decided_by = |v: V<'c>| match v.defining_op() {
        Some(op) if is_computed(op) && !has_mark(op, VARIES) => Ok(op.operand_values()),
        Some(_) => Err(()),
        None => match v.argument_of() {
            _ if is_argument(v) => Ok(vec![]),
            Some((owner, 0)) if owner.full_name() == "scf.for" => {
                Ok(owner.operand_values().into_iter().take(3).collect())
            }
            _ => Err(()),
        },
    };
    search([v], decided_by).is_none()
}

/// Whether a value is an argument of the kernel, and not of a block that others go to.
pub(crate) fn is_argument(v: V<'_>) -> bool {
    let kernel = v.argument_of().and_then(|(owner, _)| owner.cast::<Kernel>());
    let entry = kernel.and_then(|k| k.body().entry());
    entry.is_some_and(|block| block.argument_values().contains(&v))
}

/// Whether an op gives what its operands decide. Divisions may trap, but they give one answer.
pub(crate) fn is_computed(op: OperationRef<'_, '_>) -> bool {
    op.region_count() == 0 && op.memory_effects().is_some_and(|effects| effects.is_empty())
}

/// Whether two accesses can only meet where one thread does both, or do not meet.
fn of_one_thread<'c>(a: &Use<'c>, b: &Use<'c>) -> bool {
    if a.way != Way::Plain || b.way == Way::Collective {
        return false;
    }
    // What one op stores by elements pass after pass goes to different places, or nobody looked at it in between.
    if a.op == b.op && !a.reads && !b.reads && a.tile().is_none() {
        return true;
    }
    if let (Some(x), Some(y)) = (single_thread(a.op), single_thread(b.op))
        && x == y
    {
        return true;
    }
    if b.way != Way::Plain {
        return false;
    }
    if a.is_whole_tile() && b.is_whole_tile() {
        return own_or_apart(a, b);
    }
    // Threads of two roles have other numbers.
    if a.memory != b.memory || !is_one_place(a.memory) || in_role(a.op) != in_role(b.op) {
        return false;
    }
    let threads = holders(b.op).unwrap_or(0);
    let (places, tiles) = (a.places(), (a.tile(), b.tile()));
    match tiles {
        (None, None) => {
            let pairs = places.iter().zip(b.places());
            pairs
                .into_iter()
                .any(|(x, y)| *x == y && tells_apart(threads, y, DEEPEST))
        }
        // A warpgroup's threads hold different elements, the same in every access.
        (Some(x), Some(y)) => {
            // Rows that are given by numbers may be the same row.
            let is_number = |v: &V<'c>| !v.r#type().is_ranked_tensor_type();
            let mut along = places.iter().zip(extents(a, places.len()));
            let own = along.all(|(v, n)| is_number(v) && goes_by(*v, n, DEEPEST));
            x == y && threads == 128 && places == b.places() && own
        }
        _ => false,
    }
}

/// The condition around an op that holds in one thread alone.
fn single_thread<'c>(op: OperationRef<'c, 'c>) -> Option<V<'c>> {
    let (mut inner, mut at) = (op, op.parent());
    while let Some(outer) = at {
        let condition = outer.operand_values().first().copied();
        if outer.full_name() == "scf.if"
            && let Some(test) = condition.and_then(|c| c.defining_op())
            && test.full_name() == "arith.cmpi"
            && outer
                .region_at(0)
                .block_list()
                .iter()
                .any(|b| b.op_list().contains(&inner))
        {
            use girih_ir::kind::{I64, Kind};
            let equal = test.attr("predicate").and_then(I64::from_attribute) == Some(0);
            let operands = test.operand_values();
            let is_thread = |v: V<'c>| v.defining_op().is_some_and(|by| by.is::<ThreadId>());
            if equal
                && operands.iter().any(|v| is_thread(*v))
                && operands.iter().any(|v| is_fixed(*v) && is_uniform(*v))
            {
                return condition;
            }
        }
        (inner, at) = (outer, outer.parent());
    }
    None
}

/// How many ops deep an index is looked into where a value is visited once for each way to it.
pub(crate) const DEEPEST: u32 = 8;

/// Whether a value differs between all threads of the block, and is the same each time that a thread comes by; `deep` ops are
/// looked into.
fn tells_apart(threads: i64, v: V<'_>, deep: u32) -> bool {
    let (Some(op), Some(deep)) = (v.defining_op(), deep.checked_sub(1)) else {
        return false;
    };
    if op.is::<ThreadId>() || (op.is::<LaneId>() && threads <= 32) {
        return true;
    }
    let operands = op.operand_values();
    let one_and = |other: &dyn Fn(V<'_>) -> bool| {
        let [a, b] = operands[..] else { return false };
        (tells_apart(threads, a, deep) && other(b)) || (tells_apart(threads, b, deep) && other(a))
    };
    match op.full_name() {
        "arith.index_cast" | "arith.index_castui" => operands.iter().all(|v| tells_apart(threads, *v, deep)),
        "arith.addi" => one_and(&|v| is_fixed(v) && is_uniform(v)),
        "arith.muli" => one_and(&|v| v.constant_int().is_some_and(|c| c > 0)),
        _ => false,
    }
}

/// Whether a value is the same each time that a thread comes by: no loop changes it.
pub(crate) fn is_fixed<'c>(v: V<'c>) -> bool {
    let decided_by = |v: V<'c>| match v.defining_op() {
        Some(op) if is_computed(op) => Ok(op.operand_values()),
        None if is_argument(v) => Ok(vec![]),
        _ => Err(()),
    };
    search([v], decided_by).is_none()
}
