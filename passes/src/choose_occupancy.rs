//! `tile-choose-occupancy`: how many blocks a multiprocessor is to hold at once.
//!
//! ```mlir
//! tile.kernel @softmax(...) threads(256) launch ...                                        // before
//! tile.kernel @softmax(...) threads(256) attributes {min_blocks = 4 : i64} launch ...      // after
//! ```
//!
//! A kernel that waits for memory needs others beside it to go on meanwhile, and ptxas would rather spend registers: code
//! for arguments without alignment asks for many and seldom runs. So the registers that a thread needs are counted from the
//! tiles that live through a reduction, a scan, a change of layout, a product or a load (what is computed element by element
//! in between lives a moment only), some are added for addresses and the like, and as many blocks are asked for as that
//! leaves room for in each of the four parts of a multiprocessor.
//!
//! *Needs* `tile-assign-layouts`. A kernel that says `min_blocks` keeps it. One without reductions, scans, products and changes
//! of layout gets none: its threads need not meet. Nor does one with `tile.wgmma`, whose sums are in flight, or with roles.
//! *Numbers* stay what they are.
use girih_core::target::Target;
use girih_dialects::tile::{
    distribution::Distribution,
    ops::{
        cluster_reduce::ClusterReduce,
        kernel::{Kernel, REGISTER_FILE, WarpSpecialize},
        memory::{Load, Store},
        mma::Mma,
        reduce::Reduce,
        scan::Scan,
        shape::{Broadcast, ExpandDims},
        value::{ConvertLayout, Iota, Splat},
        wgmma::Wgmma,
    },
    spaces::is_global,
    target_of,
};
use girih_ir::{
    ext::BlockExt,
    kind::{I64, Kind},
    op::OpView,
    pass::{Pass, PassContext, PassInfo},
    prelude::*,
};
use std::collections::BTreeMap;

/// Registers for predicates, addresses and what is on its way, where tiles change their layout, are scanned or multiplied.
const OVERHEAD: i64 = 24;
/// The same where threads load, or meet in a reduction: for addresses of one row.
const BESIDE: i64 = 14;
/// Registers of the address of each further row that a thread has a part of.
const ADDRESS: i64 = 2;
/// Parts of a multiprocessor, each with warps and registers of its own.
const PARTITIONS: i64 = 4;
/// Registers that the widest `mma.sync` has operands in: m16n8k16 of f64.
const INSTRUCTION: i64 = 40;
/// Registers are given out in eights.
const GRANULE: i64 = 8;

/// The pass.
pub struct ChooseOccupancy;

impl Pass for ChooseOccupancy {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        ..PassInfo::new(
            "tile-choose-occupancy",
            "Choose how many blocks a multiprocessor is to hold",
        )
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, _: &PassContext<'c>) -> Res {
        for kernel in module.nested::<Kernel>() {
            let op = kernel.op();
            if let Some(blocks) = blocks(kernel).filter(|b| *b > 1 && kernel.min_blocks().is_none()) {
                op.set_attr("min_blocks", I64::to_attribute(&blocks, op.ctx()));
            }
        }
        Ok(())
    }
}

/// 32-bit registers that a thread holds a tile in; 0 for tiles that repeat what others hold.
fn registers(v: Value<'_, '_>) -> i64 {
    let t = v.r#type();
    let repeats = v.defining_op().is_some_and(|op| {
        [
            Broadcast::NAME,
            ExpandDims::NAME,
            Iota::NAME,
            Splat::NAME,
            "arith.constant",
            "tensor.splat",
        ]
        .contains(&op.full_name())
    });
    let Some(d) = Distribution::of(t).filter(|_| !repeats) else {
        return 0;
    };
    let bits = t
        .element_type()
        .and_then(|e| e.bit_width())
        .map_or(64, |b| i64::from(b).max(8));
    (d.registers.len() as i64 * bits + 31) / 32
}

/// Blocks that fit a multiprocessor; `None` where no tile is worked on.
fn blocks<'c>(kernel: Kernel<'c, 'c>) -> Option<i64> {
    let ops: Vec<_> = kernel
        .body()
        .block_list()
        .iter()
        .flat_map(|b| b.op_list())
        .flat_map(|op| op.nested_ops())
        .collect();
    let meets = |op: &OperationRef<'c, 'c>| {
        op.is::<Reduce>() || op.is::<Scan>() || op.is::<ConvertLayout>() || op.is::<ClusterReduce>() || op.is::<Mma>()
    };
    // What warpgroups accumulate is in flight, in as many registers as the programmer planned for.
    // Roles have budgets of their own.
    if ops.iter().any(|op| op.is::<Wgmma>() || op.is::<WarpSpecialize>()) || !ops.iter().any(meets) {
        return None;
    }
    let place: BTreeMap<usize, usize> = ops
        .iter()
        .enumerate()
        .map(|(i, op)| (op.to_raw().ptr as usize, i))
        .collect();
    let number = |op: OperationRef<'c, 'c>| place.get(&(op.to_raw().ptr as usize)).copied();
    // First and last op of each tile's life.
    let mut lives: Vec<(usize, usize, i64)> = vec![];
    for (i, op) in ops.iter().enumerate() {
        let arguments = (0..op.region_count())
            .flat_map(|r| op.region_at(r).block_list())
            .flat_map(|b| b.argument_values());
        // What an op with regions gives is there after them.
        let end = || i + op.nested_ops().len() - 1;
        let results = op.result_values().into_iter().map(|v| (v, true));
        for (v, is_result) in results.chain(arguments.map(|a| (a, false))) {
            let n = registers(v);
            if n == 0 {
                continue;
            }
            let first = if is_result { end() } else { i };
            let last = v
                .users()
                .into_iter()
                .filter_map(|user| last_run(user, first, &number, &ops))
                .max();
            if let Some(last) = last {
                lives.push((first, last, n));
            }
        }
    }
    let through = |i: usize| {
        lives
            .iter()
            .filter(|(first, last, _)| *first < i && i < *last)
            .map(|(.., n)| n)
            .sum::<i64>()
    };
    let own = |op: &OperationRef<'c, 'c>| -> i64 {
        let results = op.result_values().into_iter().map(registers).sum::<i64>();
        if let Some(mma) = op.cast::<Mma>() {
            return (results + registers(mma.a()) + registers(mma.b())).max(INSTRUCTION);
        }
        // What stands outside is there too while vectors are loaded.
        if let Some(load) = op.cast::<Load>() {
            return results + load.pass_thru().map_or(0, registers);
        }
        // A scan has a prefix and a total of each element.
        if op.is::<Scan>() { 2 * results } else { results }
    };
    let rows = ops.iter().filter_map(|op| rows_of_thread(*op)).max().unwrap_or(1);
    let beside = |op: &OperationRef<'c, 'c>| match op.is::<Load>() || op.is::<Reduce>() || op.is::<ClusterReduce>() {
        true => BESIDE + ADDRESS * (rows - 1),
        false => OVERHEAD,
    };
    let points = ops.iter().enumerate().filter(|(_, op)| meets(op) || op.is::<Load>());
    let needed = points.map(|(i, op)| through(i) + own(op) + beside(op)).max()?;
    let of_warp = 32 * ((needed + GRANULE - 1) / GRANULE * GRANULE);
    let warps = PARTITIONS * (REGISTER_FILE / PARTITIONS / of_warp);
    let threads = kernel.threads().max(1);
    let target = target_of(kernel.op()).unwrap_or(Target::SM_90A);
    Some((warps * 32 / threads).min(i64::from(target.blocks_per_sm(threads as u32))))
}

/// Rows in an access to global memory that a thread has a part of, each with an address of its own.
fn rows_of_thread(op: OperationRef<'_, '_>) -> Option<i64> {
    let (tile, memory) = match op.cast::<Load>() {
        Some(load) => (load.result(), load.source()),
        None => op.cast::<Store>().map(|store| (store.value(), store.destination()))?,
    };
    let (strides, _) = memory
        .r#type()
        .strides_and_offset()
        .filter(|_| is_global(memory.r#type()))?;
    let along = strides.iter().rposition(|s| *s == 1);
    let of_row = |at: &Vec<u32>| -> Vec<u32> {
        let others = at.iter().enumerate().filter(|(axis, _)| Some(*axis) != along);
        others.map(|(_, c)| *c).collect()
    };
    let mut rows: Vec<Vec<u32>> = Distribution::of(tile.r#type())?.registers.iter().map(of_row).collect();
    rows.sort_unstable();
    rows.dedup();
    Some(rows.len() as i64)
}

/// The last op before which a value that `defined` gives is still needed: `user` itself, or the end of a loop around it that
/// the definition is outside of.
fn last_run<'c>(
    user: OperationRef<'c, 'c>,
    defined: usize,
    number: &dyn Fn(OperationRef<'c, 'c>) -> Option<usize>,
    ops: &[OperationRef<'c, 'c>],
) -> Option<usize> {
    let mut last = number(user)?;
    let mut at = user;
    while let Some(outer) = at.parent() {
        let Some(n) = number(outer).filter(|n| *n > defined) else {
            break;
        };
        if matches!(outer.full_name(), "scf.for" | "scf.while") {
            last = last.max(n + outer.nested_ops().len());
        }
        at = outer;
    }
    Some(last.min(ops.len()))
}
