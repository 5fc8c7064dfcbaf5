//! What ops say of themselves beyond effects and traits, for passes that order accesses to shared memory. Their declarations
//! list these marks; a pass asks for a mark, never for an op's name.
//!
//! | mark | on | what it says |
//! |---|---|---|
//! | [`ASYNC`] | a memref operand | reached through the async proxy or by other blocks, and possibly still when the op is done |
//! | [`IN_FLIGHT`] | a memref operand | written through the generic proxy, possibly after the op is done |
//! | [`COLLECTIVE`] | a memref operand | all threads of the block, or of a role, write it, wait for each other, and read it |
//! | [`ORDERS`] | the op | threads wait here for what others did, by an agreement that the IR does not show |
//! | [`STORES_MAPPED`] | the op | it writes global memory through a tensor map |
//! | [`VARIES`] | the op | its result differs between the threads of a block |
use super::{TILE, ops, verify::role_of};
use girih_ir::{
    op::{Mark, OpDef},
    prelude::*,
};
use ops::{
    atomic::AtomicRmw,
    sync::{Barrier, Fence, FenceKind, WarpSync},
    tma_copy::{Direction, RegionCopy},
};
use std::{collections::BTreeMap, sync::LazyLock};

/// The operand is reached through the async proxy, by copies or products that may go on after the op, or by other blocks.
pub const ASYNC: Mark = Mark("async");
/// The operand is written through the generic proxy, by a copy that may go on after the op: the thread waits for it elsewhere.
pub const IN_FLIGHT: Mark = Mark("in_flight");
/// All threads of the block write the operand, wait for each other inside the op, and read it. Nothing lives in it between
/// two such ops.
pub const COLLECTIVE: Mark = Mark("collective");
/// Threads wait for what others did, by an agreement that the IR does not show: mbarriers, barriers of clusters.
pub const ORDERS: Mark = Mark("orders");
/// The op writes global memory through a tensor map, so that no effect names what it writes.
pub const STORES_MAPPED: Mark = Mark("stores_mapped");
/// The op's result differs between the threads of a block.
pub const VARIES: Mark = Mark("varies");

static DEFS: LazyLock<BTreeMap<&'static str, &'static OpDef>> =
    LazyLock::new(|| TILE.ops.iter().map(|r| (r.def.name, r.def)).collect());

fn def(op: OperationRef<'_, '_>) -> Option<&'static OpDef> {
    DEFS.get(op.full_name()).copied()
}

/// Whether an op has a mark, on whatever.
pub fn has_mark(op: OperationRef<'_, '_>, mark: Mark) -> bool {
    def(op).is_some_and(|d| d.has_mark(mark))
}

/// Operands of an op that a mark is on.
pub fn marked_operands<'c: 'a, 'a>(op: OperationRef<'c, 'a>, mark: Mark) -> Vec<Value<'c, 'a>> {
    def(op).map(|d| d.marked_operands(op, mark)).unwrap_or_default()
}

/// Whether an op may change global memory that no effect of it names: it stores through a tensor map, or lets its threads see
/// what other blocks wrote.
pub fn may_change_unnamed(op: OperationRef<'_, '_>) -> bool {
    let loads = || {
        op.cast::<RegionCopy>()
            .is_some_and(|copy| copy.direction() != Direction::Store)
    };
    has_mark(op, STORES_MAPPED) && !loads() || order_of(op) == Some(Order::ByHand) || acquires(op)
}

/// Whether accesses before an op must stay before it, since others wait for it.
pub fn releases(op: OperationRef<'_, '_>) -> bool {
    order_of(op) == Some(Order::ByHand) || op.cast::<AtomicRmw>().is_some_and(|a| a.sem().releases())
}

fn acquires(op: OperationRef<'_, '_>) -> bool {
    op.cast::<AtomicRmw>().is_some_and(|a| a.sem().acquires())
}

/// What an op does for the order of accesses before and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// All threads of the block, or of the role around, meet, and see what the others did through the generic proxy.
    Block,
    /// The lanes of the warp meet, and see what the others did through the generic proxy.
    Warp,
    /// What a thread did through the generic proxy is seen through the async proxy, by those who are ordered after it.
    AsyncProxy,
    /// Some threads wait for others, in a way that the program knows: [`ORDERS`], barriers with numbers, fences of memory.
    ByHand,
}

/// What an op orders, if anything. Ops that wait inside, with scratch, are not among these.
pub fn order_of(op: OperationRef<'_, '_>) -> Option<Order> {
    if let Some(barrier) = op.cast::<Barrier>() {
        let of_role = || {
            let role = role_of(op).filter(|role| barrier.id() == role.barrier);
            role.is_some_and(|role| role.barrier.is_some() && barrier.threads() == Some(32 * role.warps))
        };
        let whole = barrier.id().is_none_or(|id| id == 0) && barrier.threads().is_none() || of_role();
        return Some(if whole { Order::Block } else { Order::ByHand });
    }
    if op.is::<WarpSync>() {
        return Some(Order::Warp);
    }
    if let Some(fence) = op.cast::<Fence>() {
        return Some(match fence.kind() {
            FenceKind::ProxyAsync | FenceKind::ProxyAsyncShared => Order::AsyncProxy,
            _ => Order::ByHand,
        });
    }
    has_mark(op, ORDERS).then_some(Order::ByHand)
}
