//! `tile-verify-target`: every op against what the module's target has, before anything is lowered.
//!
//! Before and after are the same IR; a module that the target cannot run is refused:
//!
//! ```mlir
//! module attributes {tile.target = "sm_100a"} {
//!   tile.kernel @k() threads(128) launch { ... } body {
//!     tile.wgmma.fence        // error: wgmma.mma_async needs sm_90a with PTX 8.0, found target sm_100a; use mma.sync, or
//!   }                         //        tcgen05.mma where it exists
//! }
//! ```
//!
//! Needs `tile.target` on the module. Refuses, each with the op as the program has it, the value and what to do, all of them in
//! one run:
//! - tile ops in a module that names no target;
//! - an op whose instruction the target lacks ([`features`]);
//! - a tensor map of a format or swizzle that the target lacks;
//! - clusters, threads and shared memory past the target's limits;
//! - a launch region that the launcher cannot evaluate ([`host`]);
//! - a `memref.dim` past its memref's rank, in references too: upstream's canonicalisation would read past the shape.
use girih_core::target::{PtxVersion, Target};
use girih_dialects::tile::{
    features::{features, map_violations, maps_of},
    host,
    ops::kernel::Kernel,
    target_of,
    types::TensorMapType,
    verify::dimension_exists,
};
use girih_ir::{
    pass::{Pass, PassContext, PassInfo},
    prelude::*,
};

/// `tile-verify-target`.
pub struct VerifyTarget;

impl Pass for VerifyTarget {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        ..PassInfo::new(
            "tile-verify-target",
            "Refuses what the module's target cannot run, op by op",
        )
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        cx.preserve_analyses();
        let mut errors = Errors::default();
        let mut without_target = None;
        for op in module.nested_ops() {
            errors.merge(dimension_exists(op));
            if op.dialect_name() != "tile" && features(op).is_empty() {
                continue;
            }
            match target_of(op) {
                Some(target) => verify(op, target, &mut errors),
                // Upstream code runs wherever LLVM compiles it.
                None if op.dialect_name() == "tile" => {
                    without_target.get_or_insert(op);
                }
                None => {}
            }
        }
        if let Some(op) = without_target {
            errors.merge(no_target::<()>(op));
        }
        errors.result()
    }
}

/// The target that the module around `op` names; an error that says how to name one where it names none.
pub fn required_target<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Res<Target> {
    target_of(op).map_or_else(|| no_target(op), Ok)
}

fn no_target<T>(op: OperationRef<'_, '_>) -> Res<T> {
    let m = "needs a target, but the module around it names none; write `module attributes {tile.target = \"sm_90a\"}`, \
             run tile-set-target, or compile with --target sm_90a";
    Diag::op(&op, m).report()
}

/// The oldest PTX version that has every instruction of `module` on the target that it names; `None` where it names none.
/// What the target lacks altogether counts for nothing here: `tile-verify-target` refuses it.
pub fn required_ptx<'c: 'a, 'a>(module: OperationRef<'c, 'a>) -> Option<PtxVersion> {
    let target = target_of(module)?;
    let of_ops = module.nested_ops().into_iter().flat_map(features);
    let versions = of_ops.filter_map(|feature| feature.legal(target).ok());
    Some(versions.fold(target.first_ptx(), PtxVersion::max))
}

/// Refuses the ops of `module` whose instructions the target that it names has only in a newer PTX than `version`, all of
/// them. For those who choose the version themselves; a module that names no target passes.
pub fn verify_ptx<'c: 'a, 'a>(module: OperationRef<'c, 'a>, version: PtxVersion) -> Res {
    let mut errors = Errors::default();
    for op in module.nested_ops() {
        let Some(target) = target_of(op) else { continue };
        for feature in features(op) {
            if let Ok(needed) = feature.legal(target)
                && needed > version
            {
                let m = format!(
                    "{feature} needs PTX {needed} or later on {target}, found PTX {version}; ask for a newer one, or for none"
                );
                errors.op(&op, m);
            }
        }
    }
    errors.result()
}

fn verify<'c>(op: OperationRef<'c, 'c>, target: Target, errors: &mut Errors) {
    let illegal: Vec<_> = features(op)
        .iter()
        .filter_map(|feature| feature.legal(target).err())
        .collect();
    for missing in &illegal {
        errors.op(&op, missing.to_string());
    }
    // What a copy is made of does not matter where the copy itself is missing.
    for map in maps_of(op).into_iter().filter(|_| illegal.is_empty()) {
        verify_map(op, map, target, errors);
    }
    if let Some(kernel) = op.cast::<Kernel>() {
        verify_limits(kernel, target, errors);
        errors.merge(host::launch(op, kernel.launch()));
    }
}

/// Whether the target that the module names has what an op asks for; so too where it names none.
pub fn is_legal<'c>(op: OperationRef<'c, 'c>) -> bool {
    let has_all = |target: Target| {
        features(op).iter().all(|feature| feature.legal(target).is_ok())
            && maps_of(op)
                .into_iter()
                .all(|map| map_violations(map, target).is_some_and(|violations| violations.is_empty()))
    };
    target_of(op).is_none_or(has_all)
}

fn verify_map(op: OperationRef<'_, '_>, map: TensorMapType<'_>, target: Target, errors: &mut Errors) {
    match map_violations(map, target) {
        None => errors.op(
            &op,
            format!("tensor maps need sm_90 or later, found target {target}; use memref.load and memref.store"),
        ),
        Some(violations) => {
            for v in violations {
                errors.op(&op, format!("{v} (target {target})"));
            }
        }
    }
}

fn verify_limits<'c: 'a, 'a>(kernel: Kernel<'c, 'a>, target: Target, errors: &mut Errors) {
    let op = kernel.op();
    if let Some(cluster) = kernel.cluster() {
        let blocks: i64 = cluster.iter().product();
        let most = i64::from(target.portable_cluster_blocks());
        if blocks > 1 && most == 1 {
            let m =
                format!("cluster = {cluster:?}, but clusters need sm_90 or later, found target {target}; leave it out");
            errors.op(&op, m);
        } else if blocks > most {
            errors.op(
                &op,
                format!("cluster = {cluster:?}, {blocks} blocks, but {target} has at most {most}"),
            );
        }
    }
    let (threads, most) = (kernel.threads(), i64::from(target.threads_per_block()));
    if threads > most {
        errors.op(
            &op,
            format!("threads = {threads}, but a block on {target} has at most {most}"),
        );
    }
    let most = i64::from(target.dynamic_shared_bytes());
    if let Some(bytes) = kernel.shared_bytes().filter(|bytes| *bytes > most) {
        let m =
            format!("shared_bytes = {bytes}, but a block on {target} has at most {most}; use fewer or smaller buffers");
        errors.op(&op, m);
    }
}
