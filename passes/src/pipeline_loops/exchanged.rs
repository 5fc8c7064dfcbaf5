//! What slots must leave free: shared memory in which threads exchange tiles later on the way down.
use crate::expand_mma::{are_columns, moves_whole};
use girih_dialects::tile::{
    ops::{
        kernel::Kernel,
        memory::{Load, Store},
        mma::{LoadStaged, Mma},
        reduce::Reduce,
        scan::Scan,
        shape::{Bitcast, Broadcast, ExpandDims},
        slice::ExtractSlice,
        value::ConvertLayout,
    },
    verify::element_bits,
};
use girih_ir::{op::OpView, prelude::*};
use std::collections::BTreeSet;

type V<'c> = Value<'c, 'c>;

/// Shared memory in which threads will exchange tiles, at most: the largest tile that a product of tiles takes or that another
/// op moves as a whole, and what reductions have of each warp; of the ops that `counts` means, and with `stores` also what is
/// stored, which warpgroups store as they hold it.
pub(crate) fn exchanged_bytes<'c>(
    kernel: Kernel<'c, 'c>,
    stores: bool,
    counts: &dyn Fn(OperationRef<'c, 'c>) -> bool,
) -> u64 {
    let of = |v: &V<'c>| -> u64 {
        let t = v.r#type();
        let elements = t.shape().filter(|_| t.is_ranked_tensor_type());
        let elements: i64 = elements.map_or(0, |shape| shape.iter().product());
        elements.unsigned_abs() * element_bits(t).unwrap_or(0).max(8) / 8
    };
    let warps = kernel.threads().unsigned_abs().div_ceil(32);
    let stays = [
        Bitcast::NAME,
        Broadcast::NAME,
        ExpandDims::NAME,
        Load::NAME,
        LoadStaged::NAME,
        Store::NAME,
    ];
    let has_staged = kernel.op().nested::<Mma>().iter().any(Mma::is_staged);
    let (mut tiles, mut parts, mut lines) = (0, 0, BTreeSet::new());
    for op in kernel.op().nested_ops().into_iter().filter(|op| counts(*op)) {
        if let Some(scan) = op.cast::<Scan>() {
            let sizes = scan
                .sources()
                .first()
                .and_then(|v| v.r#type().shape())
                .unwrap_or_default();
            let along = sizes
                .get(scan.axis() as usize)
                .copied()
                .unwrap_or(1)
                .max(1)
                .unsigned_abs();
            parts = parts.max(scan.sources().iter().map(|v| of(v) / along * warps).sum());
        } else if op.is::<Reduce>() {
            parts = parts.max(op.result_values().iter().map(|v| of(v) * warps).sum());
            // What is reduced for a product's rows or columns lies as the product's sums do.
            if has_staged {
                tiles = loaded_for(op).iter().map(of).fold(tiles, u64::max);
            }
        } else if let Some(mma) = op.cast::<Mma>() {
            // What is staged is loaded as the product needs it; what other ops take, too, has a layout of theirs.
            let moved = [mma.a(), mma.b()].map(whole).into_iter();
            let is_moved = |v: &V<'c>| {
                let staged = v.defining_op().is_some_and(|by| by.is::<LoadStaged>());
                !staged || v.users().iter().any(|user| *user != op && !user.is::<Bitcast>())
            };
            tiles = moved.filter(is_moved).map(|v| of(&v)).fold(tiles, u64::max);
            // Sums that go from products of one kind to those of another.
            if !mma.is_staged() && has_staged {
                tiles = tiles.max(of(&mma.acc()));
            }
        } else if (op.is::<Load>() || op.is::<Store>()) && moves_whole(op) {
            // Warps have other parts of it than of products.
            let moved = op.operand_values().into_iter().chain(op.result_values());
            tiles = moved.map(|v| of(&v)).fold(tiles, u64::max);
        } else if let Some(store) = op.cast::<Store>().filter(|_| stores) {
            tiles = tiles.max(of(&store.value()));
        } else if let Some(convert) = op.cast::<ConvertLayout>() {
            // Those of one size share a buffer.
            lines.insert(of(&convert.source()));
        } else if op.cast::<ExtractSlice>().is_some_and(are_columns) {
            // Warpgroups have columns in registers of their own.
        } else if op.dialect_name() == "tile" && op.region_count() == 0 && !stays.contains(&op.full_name()) {
            tiles = op.operand_values().iter().map(of).fold(tiles, u64::max);
        }
    }
    // Parts take turns in two buffers.
    tiles + 2 * parts + lines.into_iter().sum::<u64>()
}

/// What is loaded of that which an op takes, through ops on elements.
fn loaded_for<'c>(op: OperationRef<'c, 'c>) -> Vec<V<'c>> {
    let (mut open, mut seen, mut found) = (op.operand_values(), BTreeSet::new(), vec![]);
    while let Some(v) = open.pop() {
        let Some(by) = v.defining_op().filter(|by| seen.insert(by.to_raw().ptr as usize)) else {
            continue;
        };
        if by.is::<Load>() {
            found.push(v);
        } else if by.is_pure() && by.region_count() == 0 && v.r#type().is_ranked_tensor_type() {
            open.extend(by.operand_values());
        }
    }
    found
}

/// The tile of whole bytes or more that a tile is the bits of, or itself.
pub(crate) fn whole<'c>(v: V<'c>) -> V<'c> {
    let cast = v.defining_op().and_then(|by| by.cast::<Bitcast>());
    cast.map_or(v, |cast| whole(cast.source()))
}
