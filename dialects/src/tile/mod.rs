//! The `tile` dialect: GPU programs on tiles, down to the level at which one op is one instruction.
//!
//! Tile values are builtin `tensor`s, memory is builtin `memref`; the state space of the PTX manual is the memref's memory
//! space ([`spaces`]), and the layout of a register tile is the tensor's encoding ([`layouts`], [`distribution`]).
//!
//! | file | what |
//! |---|---|
//! | [`spaces`] | `#tile.global`, `#tile.shared<swizzle = 128>`, ... |
//! | [`layouts`] | `#tile.layout<wgmma_d>` |
//! | [`distribution`] | `#tile.blocked<...>`, `#tile.sliced<...>`, `#tile.linear<...>` |
//! | [`types`] | `!tile.tensor_map<...>`, `!tile.mbarrier`, `!tile.in_flight<...>` |
//! | [`ops::kernel`] | kernels, their launch, roles of warps |
//! | [`ops::index`] | block, thread, warp and lane numbers |
//! | [`ops::memory`] | shared allocations, slabs, tiles to and from memory |
//! | [`ops::value`] | whole tiles as values |
//! | [`ops::cvt`] | conversions between formats of floats |
//! | [`ops::shape`] | tiles in other shapes |
//! | [`ops::reduce`], [`ops::scan`] | reductions and scans |
//! | [`ops::rows`] | rows by their numbers, atomic operations on memory |
//! | [`ops::part`] | parts of shared memory for tensor copies |
//! | [`ops::tma`] | tensor maps and copies with them |
//! | [`ops::tma_apply`] | several copies at once: by opcode, box and steps |
//! | [`ops::tma_copy`] | copies of regions, whose boxes are planned |
//! | [`ops::tma_modes`] | reductions and prefetches with tensor maps, cache policies |
//! | [`ops::bulk`] | copies of contiguous bytes |
//! | [`ops::cp_async`] | copies of a few bytes by each thread |
//! | [`ops::tensormap_device`] | tensor maps that the device makes |
//! | [`ops::mbarrier`] | barriers in shared memory |
//! | [`ops::cluster`] | clusters of blocks |
//! | [`ops::cluster_reduce`] | reductions over the blocks of a cluster |
//! | [`ops::wgmma`] | warpgroup matrix products |
//! | [`ops::sync`] | barriers and fences |
//! | [`ops::debug`] | text and assertions of the device |
//! | [`facts`] | what arguments are known to be |
//! | [`marks`] | what ops say beyond effects, for passes that order accesses |
//! | [`features`] | what each op asks of a target |
//! | [`host`] | what a launch region computes |
pub mod distribution;
pub mod facts;
pub mod features;
pub mod host;
pub mod layouts;
pub mod marks;
pub mod ops;
pub mod spaces;
pub mod types;
pub mod verify;

use girih_ir::{dialect::Dialect, prelude::*};
use ops::{
    atomic, bulk, cluster, cluster_reduce, cp_async, cvt, debug, index, kernel, mbarrier, memory, mma, part, reduce,
    repack, rows, scan, shape, slice, sync, tensormap_device, tma, tma_apply, tma_copy, tma_modes, value, wgmma,
};

/// The dialect, to be registered.
pub static TILE: Dialect = Dialect {
    ops: &[
        kernel::Kernel::REGISTRATION,
        kernel::Grid::REGISTRATION,
        kernel::Entry::REGISTRATION,
        kernel::Return::REGISTRATION,
        kernel::WarpSpecialize::REGISTRATION,
        kernel::EndRole::REGISTRATION,
        index::BlockId::REGISTRATION,
        index::GridDim::REGISTRATION,
        index::ThreadId::REGISTRATION,
        index::WarpId::REGISTRATION,
        index::LaneId::REGISTRATION,
        index::Elect::REGISTRATION,
        memory::Alloc::REGISTRATION,
        memory::Slab::REGISTRATION,
        part::Part::REGISTRATION,
        memory::Load::REGISTRATION,
        memory::Store::REGISTRATION,
        tma::MakeTensorMap::REGISTRATION,
        tma::TmaLoad::REGISTRATION,
        tma::TmaStore::REGISTRATION,
        tma::PrefetchTensorMap::REGISTRATION,
        tma::BulkCommit::REGISTRATION,
        tma::BulkWait::REGISTRATION,
        tma_apply::Apply::REGISTRATION,
        tma_copy::RegionCopy::REGISTRATION,
        tma_modes::TmaReduce::REGISTRATION,
        tma_modes::TmaPrefetch::REGISTRATION,
        tma_modes::CreatePolicy::REGISTRATION,
        bulk::Remote::REGISTRATION,
        bulk::BulkLoad::REGISTRATION,
        bulk::BulkStore::REGISTRATION,
        bulk::BulkSend::REGISTRATION,
        bulk::BulkReduce::REGISTRATION,
        bulk::BulkSendReduce::REGISTRATION,
        bulk::BulkPrefetch::REGISTRATION,
        cp_async::CpAsync::REGISTRATION,
        cp_async::MbarrierArrive::REGISTRATION,
        cp_async::WaitAll::REGISTRATION,
        cp_async::CommitGroup::REGISTRATION,
        cp_async::WaitGroup::REGISTRATION,
        tensormap_device::Replace::REGISTRATION,
        tensormap_device::CpFenceProxy::REGISTRATION,
        tensormap_device::Acquire::REGISTRATION,
        tensormap_device::Release::REGISTRATION,
        tensormap_device::At::REGISTRATION,
        tensormap_device::GlobalAddress::REGISTRATION,
        mbarrier::Init::REGISTRATION,
        mbarrier::Inval::REGISTRATION,
        mbarrier::Arrive::REGISTRATION,
        mbarrier::ArriveExpectTx::REGISTRATION,
        mbarrier::ExpectTx::REGISTRATION,
        mbarrier::TestWait::REGISTRATION,
        mbarrier::Wait::REGISTRATION,
        cluster::ClusterRank::REGISTRATION,
        cluster::ClusterSize::REGISTRATION,
        cluster::ClusterBlockId::REGISTRATION,
        cluster::ClusterDim::REGISTRATION,
        cluster::ClusterId::REGISTRATION,
        cluster::ClusterArrive::REGISTRATION,
        cluster::ClusterWait::REGISTRATION,
        cluster_reduce::ClusterReduce::REGISTRATION,
        wgmma::Wgmma::REGISTRATION,
        wgmma::Fence::REGISTRATION,
        wgmma::Commit::REGISTRATION,
        wgmma::Wait::REGISTRATION,
        sync::Barrier::REGISTRATION,
        sync::WarpSync::REGISTRATION,
        sync::Fence::REGISTRATION,
        debug::Print::REGISTRATION,
        debug::Assert::REGISTRATION,
        value::Splat::REGISTRATION,
        value::Iota::REGISTRATION,
        value::ConvertLayout::REGISTRATION,
        value::IsAligned::REGISTRATION,
        value::Opaque::REGISTRATION,
        cvt::Cvt::REGISTRATION,
        shape::ExpandDims::REGISTRATION,
        shape::Broadcast::REGISTRATION,
        shape::Transpose::REGISTRATION,
        shape::Reshape::REGISTRATION,
        slice::ExtractSlice::REGISTRATION,
        slice::InsertSlice::REGISTRATION,
        slice::Concat::REGISTRATION,
        shape::Bitcast::REGISTRATION,
        repack::Repack::REGISTRATION,
        reduce::Reduce::REGISTRATION,
        reduce::Yield::REGISTRATION,
        scan::Scan::REGISTRATION,
        rows::Gather::REGISTRATION,
        rows::Scatter::REGISTRATION,
        atomic::AtomicRmw::REGISTRATION,
        mma::Mma::REGISTRATION,
        mma::Stage::REGISTRATION,
        mma::LoadStaged::REGISTRATION,
        mma::Produce::REGISTRATION,
        mma::EndProduce::REGISTRATION,
    ],
    types: &[
        types::TensorMapType::REGISTRATION,
        types::MBarrierType::REGISTRATION,
        types::InFlightType::REGISTRATION,
    ],
    attributes: &[
        spaces::Global::REGISTRATION,
        spaces::Shared::REGISTRATION,
        spaces::SharedCluster::REGISTRATION,
        spaces::Const::REGISTRATION,
        spaces::Local::REGISTRATION,
        spaces::Param::REGISTRATION,
        spaces::Generic::REGISTRATION,
        spaces::Reg::REGISTRATION,
        spaces::Sreg::REGISTRATION,
        spaces::Tex::REGISTRATION,
        layouts::Layout::REGISTRATION,
        distribution::Blocked::REGISTRATION,
        distribution::Sliced::REGISTRATION,
        distribution::Linear::REGISTRATION,
    ],
    materialize_constant: Some(materialize),
    verify_attribute: Some(verify_attribute),
    dependencies: &["arith", "scf", "memref", "math", "cf", "func"],
    ..Dialect::new("tile")
};

/// A number that an op folds to is a constant of arith.
fn materialize<'c>(value: Attribute<'c>, ty: Type<'c>, loc: Location<'c>) -> Option<Operation<'c>> {
    ty.is_index_type()
        .then(|| girih_ir::melior::dialect::arith::constant(girih_ir::context(ty.context()), value, loc))
}

/// Every declared op, for tools and tests that go through their documentation.
pub fn op_definitions() -> impl Iterator<Item = &'static girih_ir::op::OpDef> {
    TILE.ops.iter().map(|o| o.def)
}

/// Name of the module attribute that says what to compile for: `tile.target = "sm_90a"`.
pub const TARGET_ATTR: &str = "tile.target";

fn verify_attribute<'c>(op: OperationRef<'c, 'c>, name: &str, value: Attribute<'c>) -> Res {
    use girih_ir::kind::{Kind, Str};
    match name {
        TARGET_ATTR => {
            let Some(text) = Str::from_attribute(value) else {
                let m = format!("attribute '{TARGET_ATTR}' must be a string such as \"sm_90a\", but is {value}");
                return Diag::op(&op, m).report();
            };
            match girih_core::target::Target::parse(&text) {
                Ok(_) => Ok(()),
                Err(e) => Diag::op(&op, format!("attribute '{TARGET_ATTR}': {e}")).report(),
            }
        }
        // Written by passes, read by later ones.
        "tile.shared_bytes" | "tile.entry" => Ok(()),
        _ => Diag::op(
            &op,
            format!("unknown attribute '{name}'; the dialect has '{TARGET_ATTR}'"),
        )
        .report(),
    }
}

/// The target that the module around `op` names; `None` where it names none.
pub fn target_of<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Option<girih_core::target::Target> {
    use girih_ir::kind::{Kind, Str};
    let mut at = Some(op);
    while let Some(op) = at {
        if let Some(text) = op.attr(TARGET_ATTR).and_then(Str::from_attribute) {
            return girih_core::target::Target::parse(&text).ok();
        }
        at = op.parent();
    }
    None
}
