//! girih's passes: one file a pass, whose head shows the IR before and after, what it needs and what it refuses.
//!
//! [`register`] makes them known by name, to `girih-opt` and to [`pipeline`].
pub mod allocate_scratch;
pub mod allocate_shared;
pub mod assign_layouts;
mod between_warps;
mod block_uniform;
pub mod choose_occupancy;
mod constant_tiles;
pub mod convert_spaces;
pub mod convert_tile_to_nvvm;
pub mod drop_unit_axes;
pub mod expand_conversions;
pub mod expand_math;
pub mod expand_mma;
pub mod expand_tma;
mod global_order;
mod global_views;
pub mod inline_calls;
pub mod insert_sync;
pub mod known;
pub mod lane_values;
pub mod layout_conversion;
mod nest;
pub mod pad_tiles;
pub mod pipeline;
pub mod pipeline_loops;
pub mod plan_copies;
mod polls;
mod role_tiles;
pub mod set_target;
mod shared_access;
pub mod shared_lifetimes;
pub mod shared_uses;
mod slice;
pub mod specialize_warps;
pub mod split_epilogues;
pub mod swizzle_shared;
mod tile_elements;
mod uniform;
mod uniform_run;
pub mod vectorize_accesses;
pub mod verify_target;
mod whole_tiles;

/// Registers every pass and pipeline; once for the process. The order is the one in which they run.
pub fn register() {
    use girih_ir::pass::register;
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        register(set_target::SetTarget);
        register(inline_calls::InlineCalls);
        register(drop_unit_axes::DropUnitAxes);
        register(plan_copies::PlanCopies);
        register(split_epilogues::SplitEpilogues);
        register(pipeline_loops::PipelineLoops);
        register(expand_mma::ExpandMma);
        register(specialize_warps::SpecializeWarps);
        register(swizzle_shared::SwizzleShared);
        register(expand_tma::ExpandTma);
        register(verify_target::VerifyTarget);
        register(pad_tiles::PadTiles);
        register(assign_layouts::AssignLayouts);
        register(choose_occupancy::ChooseOccupancy);
        register(vectorize_accesses::VectorizeAccesses);
        register(allocate_scratch::AllocateScratch);
        register(insert_sync::InsertSync);
        register(allocate_shared::AllocateShared);
        register(convert_tile_to_nvvm::ConvertTileToNvvm);
        register(expand_math::ExpandMath);
        register(expand_conversions::ExpandConversions);
        // Outside of the pipeline.
        register(convert_spaces::ConvertSpaces);
        pipeline::register();
    });
}

/// The kernels of a module, in a list of their own: a pass may erase what is in them while it goes through it.
fn kernels<'c>(
    module: girih_ir::melior::ir::OperationRef<'c, 'c>,
) -> Vec<girih_dialects::tile::ops::kernel::Kernel<'c, 'c>> {
    use girih_ir::prelude::*;
    module.nested_ops().into_iter().filter_map(|op| op.cast()).collect()
}
