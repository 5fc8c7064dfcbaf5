//! What the passes of this project promise to the driver: the way from level to level, the target, the manifest.
use super::Emit;
use girih_core::{manifest::Manifest, target::Target};
pub(super) use girih_dialects::tile::{TARGET_ATTR, target_of};
use girih_ir::Res;
use melior::ir::OperationRef;

/// For each level in MLIR below the first, the passes that lead to it from the level above.
pub(super) fn pipelines() -> [(Emit, &'static str); 2] {
    [(Emit::Explicit, ""), (Emit::Nvvm, "")]
}

/// How to launch the kernels of a lowered module.
pub(super) fn manifest(_module: OperationRef<'_, '_>, _target: Target) -> Res<Option<Manifest>> {
    Ok(None)
}
