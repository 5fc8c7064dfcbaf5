//! The pipelines, by stage. `girih-pipeline` is all of them.
use girih_ir::pass::register_pipeline;

/// A stage of the way down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// What the IR is called after the stage, as in `--emit`.
    pub name: &'static str,
    /// What the stage does, for people.
    pub description: &'static str,
    /// The textual pipeline, on `builtin.module`.
    pub pipeline: &'static str,
}

/// From a program at the explicit level to LLVM dialects.
pub const STAGES: [Stage; 3] = [
    Stage {
        name: "explicit",
        description: "calls, products, copies and roles spelt out, target checked, tiles and shared memory laid out",
        pipeline: "tile-inline-calls,tile-drop-unit-axes,tile-plan-copies,tile-split-epilogues,tile-pipeline,tile-expand-mma,\
                   tile-specialize-warps,tile-swizzle-shared{whole-tiles=later},tile-expand-tma,tile-verify-target,\
                   canonicalize{region-simplify=disabled max-iterations=1},cse,tile-pad-tiles,tile-assign-layouts,\
                   tile-swizzle-shared{whole-tiles=only},tile-expand-tma,tile-verify-target,tile-choose-occupancy,tile-vectorize-accesses,tile-allocate-scratch,tile-insert-sync,tile-allocate-shared",
    },
    Stage {
        name: "nvvm",
        description: "per-thread code in upstream dialects",
        // Not by patterns that compare each result of a branch with all others: LLVM does the same, and there are thousands.
        pipeline: "convert-tile-to-nvvm,tile-expand-math,tile-expand-conversions,\
                   canonicalize{region-simplify=disabled max-iterations=1 disable-patterns={\
                   (anonymous namespace)::RemoveDuplicateSuccessorInputUses,\
                   (anonymous namespace)::MakeRegionBranchOpSuccessorInputsDead,\
                   (anonymous namespace)::RemoveDeadRegionBranchOpSuccessorInputs}},cse",
    },
    Stage {
        name: "llvm",
        description: "llvm and nvvm dialects only",
        pipeline: "gpu.module(convert-scf-to-cf{allow-pattern-rollback=false},convert-nvvm-to-llvm,\
                   convert-to-llvm{allow-pattern-rollback=false},reconcile-unrealized-casts)",
    },
];

/// All stages as one textual pipeline on `builtin.module`.
pub fn full() -> String {
    STAGES.map(|s| s.pipeline).join(",")
}

/// Registers `girih-pipeline`.
pub fn register() {
    register_pipeline(
        "girih-pipeline",
        "From tile programs to the llvm and nvvm dialects; target=sm_90a sets the module's target where it has none",
        |options| match options.trim() {
            "" => Ok(full()),
            o => match o.strip_prefix("target=") {
                Some(target) if !target.contains(char::is_whitespace) => {
                    Ok(format!("tile-set-target{{target={target}}},{}", full()))
                }
                _ => Err(format!("girih-pipeline has one option, target=sm_90a; found `{o}`")),
            },
        },
    );
}
