//! What the passes of this project promise to the driver: the way from level to level, the target and its PTX version, the
//! manifest.
use super::Emit;
pub(super) use girih_codegen::manifest::manifest;
pub(super) use girih_dialects::tile::{TARGET_ATTR, target_of};
pub(super) use girih_passes::verify_target::{required_ptx, verify_ptx};

/// The passes that lead to each level in MLIR from the one above; the last is what LLVM IR is made from.
pub(super) fn pipelines() -> impl Iterator<Item = (Emit, &'static str)> {
    girih_passes::pipeline::STAGES.iter().map(|stage| {
        let level = match stage.name {
            "explicit" => Emit::Explicit,
            "nvvm" => Emit::Nvvm,
            _ => Emit::Llvm,
        };
        (level, stage.pipeline)
    })
}
