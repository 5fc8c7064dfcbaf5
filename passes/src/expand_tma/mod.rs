//! `tile-expand-tma`: copies of many boxes become one op for each instruction, and the tensor maps that they need are made in
//! the launch region.
//!
//! ```mlir
//! tile.kernel @k(%A: memref<16x16xi32, #tile.global>) threads(32) launch {
//!   tile.grid %c1, %c1, %c1
//! } body {
//!   %m = tile.alloc : memref<2x8x16xi32, #tile.shared>
//!   tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta..." %m, %A box [8, 16] coords[%c0, %c0] steps [[8, 0]] mbar %bar[] : ...
//! }
//! ```
//! becomes
//! ```mlir
//! tile.kernel @k(%A: memref<16x16xi32, #tile.global>) threads(32) launch {
//!   %map = tile.tensor_map %A : memref<16x16xi32, #tile.global> -> !tile.tensor_map<8x16xi32>
//!   tile.grid %c1, %c1, %c1 args(%map : !tile.tensor_map<8x16xi32>)
//! } body args(%map: !tile.tensor_map<8x16xi32>) {
//!   %m = tile.alloc : memref<2x8x16xi32, #tile.shared>
//!   %first = tile.slab %m[%c0] : ... -> memref<8x16xi32, #tile.shared>
//!   tile.tma.load %map[%c0, %c0], %first, %bar[] space cta : ...
//!   %second = tile.slab %m[%c1] : ... -> memref<8x16xi32, #tile.shared>
//!   tile.tma.load %map[%c8, %c0], %second, %bar[] space cta : ...
//! }
//! ```
//!
//! `tile.tma.copy` says a region instead of boxes. The boxes are those with the fewest instructions
//! ([`girih_core::tensor_map::Region::plan`]), and a remark at the op says them:
//!
//! ```mlir
//! tile.tma.copy load %A[%r, %c] extents [300, 128], %m mbar %bar[] : memref<?x?xbf16, ...>, memref<2x300x64xbf16, #tile.shared<swizzle = 128>>, ...
//! // remark: takes 4 copies of 150x64, 19200 bytes each; the mbarrier counts 76800 bytes
//! ```
//!
//! Up to 8 instructions are written out: their coordinates stay constants that verifiers check, and the hardware issues them
//! back to back. More become a nest of `scf.for`, one loop for each leading axis, so that code does not grow with the tile.
//!
//! A map is made once for each memref and map type, wherever in the body it is used. What stands between the kernel's
//! argument and the copy (`memref.transpose`, `memref.subview`, ...) is written in the launch region again.
//!
//! Copies to and from a buffer with `swizzle = auto` stay as they are until `tile-swizzle-shared` has chosen: the pass runs a
//! second time after that, when whole tiles have layouts.
//!
//! *Needs* nothing. What the module's target has not stays as it is, for `tile-verify-target` to refuse it by the name that the
//! program has. *Refuses* a global side that the launcher cannot compute, with the op that is in the way. *Warns* of
//! interleave 16 with a swizzle on sm_100 and later, which can trap. *Numbers* stay what they are.
mod apply;
mod copy;
mod issue;
pub(crate) mod maps;

use crate::verify_target::is_legal;
use girih_core::{target::Target, tensor_map::Interleave, tensor_map::Swizzle};
use girih_dialects::tile::{
    ops::{kernel::Kernel, tma_apply::Apply, tma_copy::RegionCopy},
    spaces::shared_of,
    target_of,
    types::TensorMapType,
};
use girih_ir::{
    diag::Severity,
    mlir_sys::*,
    op::OpView,
    pass::{Pass, PassContext, PassInfo, Statistic},
    prelude::*,
};
use maps::Maps;

/// `tile-expand-tma`.
pub struct ExpandTma;

impl Pass for ExpandTma {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        statistics: &[
            Statistic {
                name: "instructions",
                description: "Ops of one instruction each that were written",
            },
            Statistic {
                name: "maps",
                description: "Tensor maps that were added to launch regions",
            },
        ],
        dialects: &[
            girih_ir::pass::DialectSource::Rust(&girih_dialects::tile::TILE),
            girih_ir::pass::DialectSource::Upstream(mlirGetDialectHandle__scf__),
            girih_ir::pass::DialectSource::Upstream(mlirGetDialectHandle__arith__),
            girih_ir::pass::DialectSource::Upstream(mlirGetDialectHandle__memref__),
        ],
        ..PassInfo::new(
            "tile-expand-tma",
            "Copies of many boxes become one op for each instruction, with their tensor maps in launch",
        )
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        let mut errors = Errors::default();
        let (mut instructions, mut made) = (0, 0);
        // A kernel's maps are collected for all its copies; what is in no kernel has maps of its own.
        let mut kernels: Vec<(OperationRef<'c, 'c>, Maps<'c>)> = vec![];
        for op in module.nested_ops() {
            if !(op.is::<Apply>() || op.is::<RegionCopy>()) || waits(op) || !is_legal(op) {
                continue;
            }
            let kernel = op.ancestor::<Kernel>();
            let maps = kernel.map(|kernel| {
                let at = kernels.iter().position(|(k, _)| *k == kernel.op()).unwrap_or_else(|| {
                    kernels.push((kernel.op(), Maps::new(kernel)));
                    kernels.len() - 1
                });
                &mut kernels[at].1
            });
            let written = match op.cast::<RegionCopy>() {
                Some(copy) => copy::expand(copy, maps),
                None => apply::expand(Apply::from_op(op), maps),
            };
            if let Some(n) = errors.merge(written) {
                instructions += n;
                // SAFETY: the op has no results, and the list holds none of its children.
                unsafe { mlirOperationDestroy(op.to_raw()) };
            }
        }
        for (_, maps) in kernels {
            made += maps.finish();
        }
        cx.count(0, instructions);
        cx.count(1, made);
        errors.result()
    }
}

/// Whether the swizzle of the shared side, and so of the map, is still to be chosen.
fn waits(op: OperationRef<'_, '_>) -> bool {
    let mut operands = op.operand_values().into_iter();
    operands.any(|v| shared_of(v.r#type()).is_some_and(|space| space.is_open()))
}

/// Maps are made where kernels are launched.
fn no_launcher<T>(op: OperationRef<'_, '_>) -> Res<T> {
    Diag::op(
        &op,
        "stands in no kernel, so that no launcher encodes a map of the memref; give tile.tma.apply a tensor map",
    )
    .report()
}

/// 16-byte slices with a swizzle can trap on a B200, also where they are written in PTX by hand.
fn warn_of_traps(op: OperationRef<'_, '_>, map: TensorMapType<'_>) {
    let swizzled = map.permutation() != Swizzle::None;
    let later = |target: Target| target.arch() >= 100;
    if map.core_interleave() == Interleave::B16 && swizzled && target_of(op).is_some_and(later) {
        let m = format!(
            "interleave 16 with swizzle {} can trap on sm_100 and later; leave the swizzle out",
            map.permutation().name()
        );
        drop(Diag::at(Severity::Warning, op.location(), m));
    }
}
