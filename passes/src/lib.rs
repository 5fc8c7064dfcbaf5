//! girih's passes: one file a pass, whose head shows the IR before and after, what it needs and what it refuses.
//!
//! [`register`] makes them known by name, to `girih-opt` and to [`pipeline`].
pub mod allocate_scratch;
pub mod allocate_shared;
pub mod assign_layouts;
mod block_uniform;
pub mod choose_occupancy;
pub mod convert_spaces;
pub mod convert_tile_to_nvvm;
pub mod expand_math;
pub mod expand_mma;
pub mod expand_tma;
mod global_order;
pub mod inline_calls;
pub mod insert_sync;
pub mod known;
pub mod lane_values;
pub mod layout_conversion;
mod nest;
pub mod pipeline;
pub mod pipeline_loops;
pub mod plan_copies;
pub mod set_target;
pub mod shared_lifetimes;
pub mod shared_uses;
mod slice;
pub mod specialize_warps;
pub mod swizzle_shared;
mod uniform;
pub mod vectorize_accesses;
pub mod verify_target;
mod whole_tiles;

/// Passes by the path of their types, listed once: [`PASSES`] and [`register`] follow.
macro_rules! passes {
    ($($pass:path),+ $(,)?) => {
        /// What each pass is, in the order in which they run.
        pub const PASSES: &[girih_ir::pass::PassInfo] = &[$(<$pass as girih_ir::pass::Pass>::INFO),+];

        /// Registers every pass and pipeline; once for the process.
        pub fn register() {
            static ONCE: std::sync::Once = std::sync::Once::new();
            ONCE.call_once(|| {
                $(girih_ir::pass::register($pass);)+
                pipeline::register();
            });
        }
    };
}

passes!(
    set_target::SetTarget,
    inline_calls::InlineCalls,
    plan_copies::PlanCopies,
    pipeline_loops::PipelineLoops,
    expand_mma::ExpandMma,
    specialize_warps::SpecializeWarps,
    swizzle_shared::SwizzleShared,
    expand_tma::ExpandTma,
    verify_target::VerifyTarget,
    assign_layouts::AssignLayouts,
    choose_occupancy::ChooseOccupancy,
    vectorize_accesses::VectorizeAccesses,
    allocate_scratch::AllocateScratch,
    insert_sync::InsertSync,
    allocate_shared::AllocateShared,
    convert_tile_to_nvvm::ConvertTileToNvvm,
    expand_math::ExpandMath,
    // Outside of the pipeline.
    convert_spaces::ConvertSpaces,
);

/// The kernels of a module, in a list of their own: a pass may erase what is in them while it goes through it.
fn kernels<'c>(
    module: girih_ir::melior::ir::OperationRef<'c, 'c>,
) -> Vec<girih_dialects::tile::ops::kernel::Kernel<'c, 'c>> {
    use girih_ir::prelude::*;
    module.nested_ops().into_iter().filter_map(|op| op.cast()).collect()
}
