//! `convert-tile-to-nvvm`: kernels become per-thread functions in upstream dialects.
//!
//! ```mlir
//! tile.kernel @k(%A: memref<?xf32, #tile.global>) threads(128) launch { ... tile.grid %n, %c1, %c1 } body {
//!   %t = tile.thread_id
//!   %x = memref.load %A[%t] : memref<?xf32, #tile.global>
//! }
//! ```
//! becomes
//! ```mlir
//! tile.entry @k in @device(%A: memref<?xf32, #tile.global>) threads(128) launch { ... tile.grid %n, %c1, %c1 }
//! gpu.module @device {
//!   llvm.func @k(%ptr: !llvm.ptr<1>, %size: i64) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
//!     %tid = nvvm.read.ptx.sreg.tid.x : i32
//!     ...
//! ```
//!
//! | before | after |
//! |---|---|
//! | memref in `#tile.global` | pointer to its first element, then each dynamic size, then each dynamic stride (i64) |
//! | memref in `#tile.shared` | pointer into the block's dynamic shared memory |
//! | `!tile.tensor_map` | generic pointer to a 128-byte parameter |
//! | laid-out tensor | one scalar for each element that a thread holds |
//! | `!tile.in_flight` | one register for each 32 bits that a thread holds |
//!
//! Neighbours of a tile that go to or from global memory one by one are exchanged in the warp first, so that it moves what
//! lies side by side (`neighbours`).
//!
//! *Needs* `tile-allocate-shared` to have run. *Refuses* memrefs of other spaces, shared memrefs with dynamic sizes, buffers
//! past the kernel's shared memory, functions that are no instructions (`math.log`), and ops on laid-out tensors that are not
//! elementwise. *Numbers* stay what they are: no reassociation, no contraction.
mod access;
mod atomics;
mod bits;
mod bulk;
mod cluster;
mod cluster_reduce;
mod constants;
mod cp_async;
mod debug;
mod distributed;
mod elementwise;
mod fragment;
mod global_place;
mod global_tile;
mod index;
mod kernel;
mod mbarrier;
mod memory;
mod mma;
mod neighbours;
mod reduce;
mod refuse;
mod repack;
mod roles;
mod route;
mod scan;
mod shared_tile;
mod slices;
mod sync;
mod through_shared;
mod tma;
mod types;
mod views;
mod wgmma;

pub use atomics::atomic_bytes;
use girih_dialects::tile::{TILE, ops::kernel::Entry};
use girih_ir::mlir_sys::*;
use girih_ir::{
    conversion::{Conversion, Operands},
    pass::{DialectSource, Pass, PassContext, PassInfo},
    prelude::*,
    rewrite::Matched,
};
pub use neighbours::goes_through_lanes;
pub use reduce::reduces;
pub(crate) use refuse::lacks_registers;
pub use scan::{scans, warp_blocks};
pub use slices::slice_bytes;
pub use types::type_converter;

/// Name of the module with the lowered bodies.
pub const DEVICE_MODULE: &str = "device";
/// Name of the block's dynamic shared memory; underscores follow where a kernel is called so.
pub const SHARED_SYMBOL: &str = "shared_memory";

/// The pass.
pub struct ConvertTileToNvvm;

impl Pass for ConvertTileToNvvm {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        dialects: &[
            DialectSource::Rust(&TILE),
            DialectSource::Upstream(mlirGetDialectHandle__llvm__),
            DialectSource::Upstream(mlirGetDialectHandle__nvvm__),
            DialectSource::Upstream(mlirGetDialectHandle__gpu__),
            DialectSource::Upstream(mlirGetDialectHandle__scf__),
            DialectSource::Upstream(mlirGetDialectHandle__arith__),
        ],
        ..PassInfo::new(
            "convert-tile-to-nvvm",
            "Lower tile kernels to per-thread functions in upstream dialects",
        )
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, _: &PassContext<'c>) -> Res {
        girih_dialects::nvvm::switches::narrow(module);
        kernel::outline(module)?;
        let types = type_converter();
        let mut conversion = Conversion::new(module.ctx(), types.clone());
        let c = &mut conversion;
        c.legal_dialects(&["nvvm", "llvm", "gpu", "builtin"]);
        // What is on the host stays as it is; everything else must lose its tile types.
        let legal = types.clone();
        c.dynamic_op("", move |op| Some(legal.is_legal_op(&op) || is_host(op)));
        for dialect in ["math", "memref", "cf", "func", "tensor"] {
            let legal = types.clone();
            c.dynamic_dialect(dialect, move |op| Some(legal.is_legal_op(&op) || is_host(op)));
        }
        // A reference on the host keeps its tf32.
        let legal = types.clone();
        c.dynamic_dialect("arith", move |op| {
            Some(!is_in_device_module(op) || legal.is_legal_op(&op))
        });
        c.dynamic_dialect("tile", |op| Some(is_host(op)));
        c.dynamic_dialect("vector", |op| Some(is_host(op) || !is_in_device_module(op)));
        c.with_scf();
        index::patterns(c);
        memory::patterns(c);
        views::patterns(c);
        fragment::patterns(c);
        global_tile::patterns(c);
        atomics::patterns(c);
        distributed::patterns(c);
        repack::patterns(c);
        reduce::patterns(c);
        scan::patterns(c);
        slices::patterns(c);
        mbarrier::patterns(c);
        tma::patterns(c);
        bulk::patterns(c);
        cp_async::patterns(c);
        cluster::patterns(c);
        cluster_reduce::patterns(c);
        wgmma::patterns(c);
        mma::patterns(c);
        sync::patterns(c);
        roles::patterns(c);
        debug::patterns(c);
        kernel::patterns(c);
        elementwise::patterns(c);
        bits::patterns(c);
        through_shared::patterns(c);
        conversion.apply_partially(module)
    }
}

/// Whether an op is a kernel's entry or in its launch region.
fn is_host(op: OperationRef<'_, '_>) -> bool {
    op.is::<Entry>() || op.ancestor::<Entry>().is_some()
}

/// Whether an op is in the module with the lowered bodies: what is outside, as a reference on the host, keeps its vectors.
fn is_in_device_module(op: OperationRef<'_, '_>) -> bool {
    std::iter::successors(op.parent(), |o| o.parent()).any(|o| o.full_name() == "gpu.module")
}

/// Adds a pattern for one of the dialect's ops, seen through its typed view.
macro_rules! lower {
    ($conversion:expr, $op:ident, $body:expr) => {
        $conversion.pattern(<$op as girih_ir::op::OpView>::NAME, 1, |op, operands, rewriter| {
            fn check<'c, F>(f: F) -> F
            where
                F: Fn(
                    $op<'c, 'c>,
                    &girih_ir::conversion::Operands<'c, '_>,
                    &girih_ir::conversion::ConversionRewriter<'c>,
                ) -> girih_ir::rewrite::Matched,
            {
                f
            }
            check($body)($op::from_op(op), operands, rewriter)
        })
    };
}
use lower;

/// Reads a declared operand group's converted values.
fn group<'c>(
    op: OperationRef<'c, 'c>,
    def: &girih_ir::op::OpDef,
    operands: &Operands<'c, '_>,
    name: &str,
) -> Vec<Value<'c, 'c>> {
    let range = def.operand_range(op, name).unwrap_or(0..0);
    range.flat_map(|i| operands.get(i).to_vec()).collect()
}

/// Fails a conversion with an error at the op.
fn refuse<'c>(op: OperationRef<'c, 'c>, message: impl AsRef<str>) -> Matched {
    Diag::op(&op, message).report()
}
