//! What each op asks of a target: one row for each op of the dialect. Of upstream's ops those that compute with 8-bit floats
//! ask something. `tile-verify-target` holds the rows against [`girih_core::target`].
use super::{
    ops::{
        atomic, bulk, cluster, cluster_reduce, cp_async, cvt, debug, index, kernel, mbarrier, memory,
        mma::{self, BitOp, Mma},
        part, reduce, repack, rows, scan, shape, slice, sync,
        tensormap_device::{self, MapField, Scope},
        tma::{self, CopySpace, TmaLoad, TmaStore},
        tma_apply,
        tma_copy::{self, Direction},
        tma_modes::{self, TmaPrefetch, TmaReduce},
        value,
        wgmma::{self, Wgmma},
    },
    spaces::is_shared_cluster,
    target_of,
    types::{MapMode, TensorMapType},
};
use girih_core::{
    target::{CopyKind, Feature, LoadMode, MaskWidth, Op, SharedSpace, StoreMode, Target},
    tensor_map::{Format, Violation},
    wgmma::Operand,
};
use girih_ir::{ext::BlockExt, op::OpView, prelude::*};

/// What an op needs.
#[derive(Clone, Copy)]
pub enum Needs {
    /// What every target has.
    Nothing,
    /// Always the same.
    Fixed(&'static [Feature]),
    /// What its types and attributes say.
    By(for<'c, 'a> fn(OperationRef<'c, 'a>) -> Vec<Feature>),
}

const fn one(op: Op) -> Feature {
    Feature::Op(op)
}

/// Clusters, with their special registers and their barrier.
const CLUSTERS: &[Feature] = &[one(Op::ClusterBarrier)];

/// Op names with what they need.
pub const ROWS: &[(&str, Needs)] = &[
    (kernel::Kernel::DEF.name, Needs::Nothing),
    (kernel::Grid::DEF.name, Needs::Nothing),
    (kernel::Entry::DEF.name, Needs::Nothing),
    (kernel::Return::DEF.name, Needs::Nothing),
    (kernel::WarpSpecialize::DEF.name, Needs::By(roles)),
    (kernel::EndRole::DEF.name, Needs::Nothing),
    (index::BlockId::DEF.name, Needs::Nothing),
    (index::GridDim::DEF.name, Needs::Nothing),
    (index::ThreadId::DEF.name, Needs::Nothing),
    (index::WarpId::DEF.name, Needs::Nothing),
    (index::LaneId::DEF.name, Needs::Nothing),
    (index::Elect::DEF.name, Needs::Fixed(&[one(Op::ElectSync)])),
    (memory::Alloc::DEF.name, Needs::Nothing),
    (memory::Slab::DEF.name, Needs::Nothing),
    (part::Part::DEF.name, Needs::Nothing),
    (memory::Load::DEF.name, Needs::By(cached_access)),
    (memory::Store::DEF.name, Needs::By(cached_access)),
    // What a map may hold is a limit of its own: see `map_violations`.
    (tma::MakeTensorMap::DEF.name, Needs::Nothing),
    (tma::TmaLoad::DEF.name, Needs::By(tma_load)),
    (tma::TmaStore::DEF.name, Needs::By(tma_store)),
    (
        tma::PrefetchTensorMap::DEF.name,
        Needs::Fixed(&[one(Op::PrefetchTensorMap)]),
    ),
    (tma::BulkCommit::DEF.name, Needs::Fixed(&[one(Op::BulkGroup)])),
    (tma::BulkWait::DEF.name, Needs::Fixed(&[one(Op::BulkGroup)])),
    (tma_apply::Apply::DEF.name, Needs::By(apply)),
    (tma_copy::RegionCopy::DEF.name, Needs::By(region_copy)),
    (tma_modes::TmaReduce::DEF.name, Needs::By(tma_reduce)),
    (tma_modes::TmaPrefetch::DEF.name, Needs::By(tma_prefetch)),
    (
        tma_modes::CreatePolicy::DEF.name,
        Needs::Fixed(&[one(Op::CreatePolicy)]),
    ),
    (bulk::Remote::DEF.name, Needs::Fixed(&[one(Op::Mapa)])),
    (bulk::BulkLoad::DEF.name, Needs::By(bulk_load)),
    (bulk::BulkStore::DEF.name, Needs::By(bulk_store)),
    (bulk::BulkSend::DEF.name, Needs::Fixed(&[one(Op::BulkToCluster)])),
    (bulk::BulkReduce::DEF.name, Needs::By(bulk_reduce)),
    (
        bulk::BulkSendReduce::DEF.name,
        Needs::Fixed(&[one(Op::BulkReduceCluster)]),
    ),
    (bulk::BulkPrefetch::DEF.name, Needs::By(bulk_prefetch)),
    (cp_async::CpAsync::DEF.name, Needs::Fixed(&[one(Op::CpAsync)])),
    (
        cp_async::MbarrierArrive::DEF.name,
        Needs::Fixed(&[one(Op::CpAsync), one(Op::MbarrierInit)]),
    ),
    (cp_async::WaitAll::DEF.name, Needs::Fixed(&[one(Op::CpAsync)])),
    (cp_async::CommitGroup::DEF.name, Needs::Fixed(&[one(Op::CpAsync)])),
    (cp_async::WaitGroup::DEF.name, Needs::Fixed(&[one(Op::CpAsync)])),
    (tensormap_device::Replace::DEF.name, Needs::By(replace)),
    (
        tensormap_device::CpFenceProxy::DEF.name,
        Needs::Fixed(&[one(Op::TensorMapCopyFence)]),
    ),
    (
        tensormap_device::Acquire::DEF.name,
        Needs::Fixed(&[one(Op::TensorMapFence)]),
    ),
    (
        tensormap_device::Release::DEF.name,
        Needs::Fixed(&[one(Op::TensorMapFence)]),
    ),
    // The map that it gives has its own limits, as one made by the launch.
    (tensormap_device::At::DEF.name, Needs::Nothing),
    (tensormap_device::GlobalAddress::DEF.name, Needs::Nothing),
    (mbarrier::Init::DEF.name, Needs::Fixed(&[one(Op::MbarrierInit)])),
    (mbarrier::Inval::DEF.name, Needs::Fixed(&[one(Op::MbarrierInit)])),
    (mbarrier::Arrive::DEF.name, Needs::By(arrive)),
    (
        mbarrier::ArriveExpectTx::DEF.name,
        Needs::Fixed(&[one(Op::MbarrierTransactions)]),
    ),
    (
        mbarrier::ExpectTx::DEF.name,
        Needs::Fixed(&[one(Op::MbarrierTransactions)]),
    ),
    (mbarrier::TestWait::DEF.name, Needs::By(test_wait)),
    (mbarrier::Wait::DEF.name, Needs::By(wait)),
    (cluster::ClusterRank::DEF.name, Needs::By(of_cluster)),
    (cluster::ClusterSize::DEF.name, Needs::By(of_cluster)),
    (cluster::ClusterBlockId::DEF.name, Needs::By(of_cluster)),
    (cluster::ClusterDim::DEF.name, Needs::By(of_cluster)),
    (cluster::ClusterId::DEF.name, Needs::By(of_cluster)),
    (cluster::ClusterArrive::DEF.name, Needs::Fixed(CLUSTERS)),
    (cluster::ClusterWait::DEF.name, Needs::Fixed(CLUSTERS)),
    (cluster_reduce::ClusterReduce::DEF.name, Needs::By(of_cluster)),
    (wgmma::Wgmma::DEF.name, Needs::By(product)),
    (wgmma::Fence::DEF.name, Needs::Fixed(&[one(Op::Wgmma)])),
    (wgmma::Commit::DEF.name, Needs::Fixed(&[one(Op::Wgmma)])),
    (wgmma::Wait::DEF.name, Needs::Fixed(&[one(Op::Wgmma)])),
    (sync::Barrier::DEF.name, Needs::Nothing),
    (sync::WarpSync::DEF.name, Needs::Nothing),
    (sync::Fence::DEF.name, Needs::By(fence)),
    (debug::Print::DEF.name, Needs::Nothing),
    (debug::Assert::DEF.name, Needs::Nothing),
    (value::Splat::DEF.name, Needs::Nothing),
    (value::Iota::DEF.name, Needs::Nothing),
    (value::ConvertLayout::DEF.name, Needs::Nothing),
    (value::IsAligned::DEF.name, Needs::Nothing),
    (value::Opaque::DEF.name, Needs::Nothing),
    (cvt::Cvt::DEF.name, Needs::By(small_floats)),
    (shape::ExpandDims::DEF.name, Needs::Nothing),
    (shape::Broadcast::DEF.name, Needs::Nothing),
    (shape::Transpose::DEF.name, Needs::Nothing),
    (shape::Reshape::DEF.name, Needs::Nothing),
    (slice::ExtractSlice::DEF.name, Needs::Nothing),
    (slice::InsertSlice::DEF.name, Needs::Nothing),
    (slice::Concat::DEF.name, Needs::Nothing),
    (shape::Bitcast::DEF.name, Needs::Nothing),
    (repack::Repack::DEF.name, Needs::Nothing),
    (reduce::Reduce::DEF.name, Needs::Nothing),
    (reduce::Yield::DEF.name, Needs::Nothing),
    (scan::Scan::DEF.name, Needs::Nothing),
    (rows::Gather::DEF.name, Needs::By(cached_access)),
    (rows::Scatter::DEF.name, Needs::By(cached_access)),
    (atomic::AtomicRmw::DEF.name, Needs::By(atomic_rmw)),
    (mma::Mma::DEF.name, Needs::By(product_of_tiles)),
    (mma::Stage::DEF.name, Needs::Nothing),
    (mma::LoadStaged::DEF.name, Needs::Fixed(&[one(Op::Ldmatrix)])),
    (mma::Produce::DEF.name, Needs::Nothing),
    (mma::EndProduce::DEF.name, Needs::Nothing),
];

/// What a cluster has to do with. In one of a single block it is known, or nothing, and no instruction comes of it.
fn of_cluster(op: OperationRef<'_, '_>) -> Vec<Feature> {
    let alone = cluster::cluster_of(op).is_some_and(|sizes| sizes.iter().product::<i64>() == 1);
    if alone { vec![] } else { CLUSTERS.to_vec() }
}

fn arrive(op: OperationRef<'_, '_>) -> Vec<Feature> {
    let arrive = mbarrier::Arrive::from_op(op);
    vec![one(match is_shared_cluster(arrive.barrier().r#type()) {
        true => Op::MbarrierRemoteArrive,
        false if arrive.cluster() => Op::MbarrierClusterScope,
        false => Op::MbarrierInit,
    })]
}

fn test_wait(op: OperationRef<'_, '_>) -> Vec<Feature> {
    match mbarrier::TestWait::from_op(op).cluster() {
        true => vec![one(Op::MbarrierParity), one(Op::MbarrierClusterScope)],
        false => vec![one(Op::MbarrierParity)],
    }
}

fn wait(op: OperationRef<'_, '_>) -> Vec<Feature> {
    match mbarrier::Wait::from_op(op).cluster() {
        true => vec![one(Op::MbarrierTryWait), one(Op::MbarrierClusterScope)],
        false => vec![one(Op::MbarrierTryWait)],
    }
}

/// What an op asks of its target. An op without a row asks nothing, unless it computes with 8-bit floats.
pub fn features(op: OperationRef<'_, '_>) -> Vec<Feature> {
    let name = op.full_name();
    match ROWS.iter().find(|(row, _)| *row == name) {
        None if matches!(op.dialect_name(), "arith" | "math") && !moves(name) => small_floats(op),
        None | Some((_, Needs::Nothing)) => vec![],
        Some((_, Needs::Fixed(features))) => features.to_vec(),
        Some((_, Needs::By(of))) => of(op),
    }
}

/// The rules that a map which is right somewhere breaks on `target`; `None` where the target has no tensor maps at all.
pub fn map_violations(map: TensorMapType<'_>, target: Target) -> Option<Vec<Violation>> {
    Some(map.candidate(None).violations(&target.tensor_map_caps()?))
}

fn roles(op: OperationRef<'_, '_>) -> Vec<Feature> {
    let given = kernel::WarpSpecialize::from_op(op).registers();
    if given.iter().any(|r| *r != 0) {
        vec![one(Op::SetMaxNReg)]
    } else {
        vec![]
    }
}

/// Policies of copies are an operand of the copy, whether written as constants or made.
fn with_cache(mut features: Vec<Feature>, cached: bool) -> Vec<Feature> {
    if cached {
        features.push(one(Op::CacheHint));
    }
    features
}

/// An atomic operation; not every target has the scope of a cluster.
fn atomic_rmw(op: OperationRef<'_, '_>) -> Vec<Feature> {
    let of_cluster = atomic::AtomicRmw::from_op(op).scope() == Some(Scope::Cluster);
    of_cluster.then_some(one(Op::FenceCluster)).into_iter().collect()
}

/// Accesses of threads, whose policy is the attribute `cache`.
fn cached_access(op: OperationRef<'_, '_>) -> Vec<Feature> {
    let cached = op.attr("cache").is_some();
    cached.then_some(one(Op::CacheHintAccess)).into_iter().collect()
}

/// How a load or prefetch walks the tensor: the map's mode, unless the op gathers rows.
fn load_mode(map: Value<'_, '_>, gather4: bool) -> LoadMode {
    match TensorMapType::of(map.r#type()).map(|t| t.mode()) {
        _ if gather4 => LoadMode::Gather4,
        Some(MapMode::Im2col) => LoadMode::Im2col,
        Some(MapMode::Im2colW) => LoadMode::Im2colW,
        Some(MapMode::Im2colW128) => LoadMode::Im2colW128,
        Some(MapMode::Tile) | None => LoadMode::Tile,
    }
}

fn store_mode(map: Value<'_, '_>, scatter4: bool) -> StoreMode {
    match TensorMapType::of(map.r#type()).map(|t| t.mode()) {
        _ if scatter4 => StoreMode::Scatter4,
        Some(MapMode::Im2col) => StoreMode::Im2colNoOffs,
        Some(MapMode::Im2colW | MapMode::Im2colW128) => StoreMode::Im2colNoOffsW,
        Some(MapMode::Tile) | None => StoreMode::Tile,
    }
}

fn tma_load(op: OperationRef<'_, '_>) -> Vec<Feature> {
    let load = TmaLoad::from_op(op);
    let feature = Feature::TmaLoad {
        mode: load_mode(load.map(), load.gather4()),
        space: match load.space() {
            Some(CopySpace::Cta) => SharedSpace::Cta,
            Some(CopySpace::Cluster) | None => SharedSpace::Cluster,
        },
        multicast: load.masks().width().is_some(),
        cta_group: load.cta_group().is_some(),
    };
    let mut features = vec![feature];
    features.extend(multicast_and_report(load.masks().width(), load.report().is_some()));
    features.extend(replaced(load.address().is_some()));
    with_cache(features, load.cache().is_some() || load.policy().is_some())
}

/// What masks and reports ask besides the load.
fn multicast_and_report(width: Option<MaskWidth>, reports: bool) -> impl Iterator<Item = Feature> {
    let report = reports.then_some(Op::BulkReport);
    width.and_then(MaskWidth::op).into_iter().chain(report).map(one)
}

/// What it asks that a copy replaces fields of its map; the address is always one of them.
fn replaced(address: bool) -> Option<Feature> {
    address.then_some(one(Op::TensorOverride))
}

fn tma_store(op: OperationRef<'_, '_>) -> Vec<Feature> {
    let store = TmaStore::from_op(op);
    let mut features = vec![Feature::TmaStore(store_mode(store.map(), store.scatter4()))];
    features.extend(replaced(store.address().is_some()));
    with_cache(features, store.cache().is_some() || store.policy().is_some())
}

fn tma_reduce(op: OperationRef<'_, '_>) -> Vec<Feature> {
    let reduce = TmaReduce::from_op(op);
    let format = TensorMapType::of(reduce.map().r#type()).and_then(|t| t.core_format());
    let feature = Feature::TmaReduce {
        mode: store_mode(reduce.map(), false),
        op: reduce.kind().core(),
        format: format.unwrap_or(Format::U32),
    };
    let features = [feature].into_iter().chain(replaced(reduce.address().is_some()));
    with_cache(
        features.collect(),
        reduce.cache().is_some() || reduce.policy().is_some(),
    )
}

fn apply(op: OperationRef<'_, '_>) -> Vec<Feature> {
    let apply = tma_apply::Apply::from_op(op);
    let opcode = apply.opcode();
    let feature = match opcode.kind {
        CopyKind::Load {
            mode,
            space,
            multicast,
            cta_group,
            ..
        } => Feature::TmaLoad {
            mode,
            space,
            multicast: multicast.is_some(),
            cta_group: cta_group.is_some(),
        },
        CopyKind::Store { mode } => Feature::TmaStore(mode),
        // Which formats an operator takes, the op's own rules say.
        CopyKind::Reduce { mode, op } => Feature::TmaReduce {
            mode,
            op,
            format: op.formats().first().copied().unwrap_or(Format::U32),
        },
        CopyKind::Prefetch { mode } => Feature::TmaPrefetch(mode),
    };
    let mut features = vec![feature];
    if let CopyKind::Load { multicast, report, .. } = opcode.kind {
        features.extend(multicast_and_report(multicast, report.is_some()));
    }
    with_cache(features, opcode.cache_hint)
}

fn region_copy(op: OperationRef<'_, '_>) -> Vec<Feature> {
    let copy = tma_copy::RegionCopy::from_op(op);
    let feature = match (copy.direction(), copy.reduce()) {
        (Direction::Load, _) => Feature::TmaLoad {
            mode: LoadMode::Tile,
            space: SharedSpace::Cluster,
            multicast: copy.mask().is_some(),
            cta_group: false,
        },
        (Direction::Store, None) => Feature::TmaStore(StoreMode::Tile),
        (Direction::Store, Some(kind)) => Feature::TmaReduce {
            mode: StoreMode::Tile,
            op: kind.core(),
            format: kind.core().formats().first().copied().unwrap_or(Format::U32),
        },
        (Direction::Prefetch, _) => Feature::TmaPrefetch(LoadMode::Tile),
    };
    with_cache(vec![feature], copy.cache().is_some() || copy.policy().is_some())
}

/// The tensor maps that an op makes, or takes from the caller: those whose fields not every target has are to be looked for here.
pub fn maps_of<'c>(op: OperationRef<'c, 'c>) -> Vec<TensorMapType<'c>> {
    let of = |v: Value<'c, 'c>| TensorMapType::of(v.r#type());
    if let Some(make) = op.cast::<tma::MakeTensorMap>() {
        return of(make.map()).into_iter().collect();
    }
    if let Some(at) = op.cast::<tensormap_device::At>() {
        return of(at.map()).into_iter().collect();
    }
    if let Some(kernel) = op.cast::<kernel::Kernel>() {
        let arguments = kernel.launch().entry().map(|b| b.argument_values()).unwrap_or_default();
        return arguments.into_iter().filter_map(of).collect();
    }
    if let Some(apply) = op.cast::<tma_apply::Apply>() {
        let sides = apply.sides().ok().filter(|sides| of(sides.global).is_none());
        return sides.and_then(|sides| apply.map(&sides).ok()).into_iter().collect();
    }
    let Some(copy) = op.cast::<tma_copy::RegionCopy>() else {
        return vec![];
    };
    let plan = copy.region().ok().and_then(|region| region.plan().ok());
    let parts = plan.map(|plan| plan.parts).unwrap_or_default();
    let mut maps = vec![];
    for map in parts.iter().filter_map(|part| copy.map(part).ok()) {
        if !maps.contains(&map) {
            maps.push(map);
        }
    }
    maps
}

fn tma_prefetch(op: OperationRef<'_, '_>) -> Vec<Feature> {
    let prefetch = TmaPrefetch::from_op(op);
    let mut features = vec![Feature::TmaPrefetch(load_mode(prefetch.map(), prefetch.gather4()))];
    features.extend(prefetch.evict_last().then_some(one(Op::PrefetchEvictLast)));
    features.extend(replaced(prefetch.address().is_some()));
    with_cache(features, prefetch.cache().is_some() || prefetch.policy().is_some())
}

fn bulk_load(op: OperationRef<'_, '_>) -> Vec<Feature> {
    let load = bulk::BulkLoad::from_op(op);
    let width = load.masks().width();
    let feature = one(match (load.space(), width) {
        (_, Some(_)) => Op::BulkLoadMulticast,
        (Some(CopySpace::Cta), None) => Op::BulkLoadCta,
        (Some(CopySpace::Cluster) | None, None) => Op::BulkLoadCluster,
    });
    let mut features = vec![feature];
    features.extend(multicast_and_report(width, load.report().is_some()));
    with_cache(features, load.cache().is_some() || load.policy().is_some())
}

fn bulk_store(op: OperationRef<'_, '_>) -> Vec<Feature> {
    let store = bulk::BulkStore::from_op(op);
    let feature = one(match store.bytes() {
        Some(_) => Op::BulkStoreMask,
        None => Op::BulkStore,
    });
    with_cache(vec![feature], store.cache().is_some() || store.policy().is_some())
}

fn bulk_reduce(op: OperationRef<'_, '_>) -> Vec<Feature> {
    let reduce = bulk::BulkReduce::from_op(op);
    with_cache(
        vec![one(Op::BulkReduceGlobal)],
        reduce.cache().is_some() || reduce.policy().is_some(),
    )
}

fn bulk_prefetch(op: OperationRef<'_, '_>) -> Vec<Feature> {
    let prefetch = bulk::BulkPrefetch::from_op(op);
    let last = prefetch.evict_last().then_some(Op::PrefetchEvictLast);
    with_cache(
        [Op::BulkPrefetch].into_iter().chain(last).map(one).collect(),
        prefetch.cache().is_some() || prefetch.policy().is_some(),
    )
}

/// Some fields and codes are newer than the instruction.
fn replace(op: OperationRef<'_, '_>) -> Vec<Feature> {
    let replace = tensormap_device::Replace::from_op(op);
    vec![one(match replace.field() {
        MapField::SwizzleAtomicity => Op::TensorMapAtomicity,
        MapField::SwizzleMode if replace.code() == Some(4) => Op::TensorMapSwizzle96,
        MapField::Elemtype if replace.is_sub_byte() => Op::TensorMapSubByte,
        _ => Op::TensorMapReplace,
    })]
}

fn product(op: OperationRef<'_, '_>) -> Vec<Feature> {
    let Ok(product) = Wgmma::from_op(op).product() else {
        return vec![one(Op::Wgmma)];
    };
    let (a, b) = (product.instruction.a, product.instruction.b);
    vec![one(match (a, b) {
        (Operand::S8, Operand::U8) | (Operand::U8, Operand::S8) => Op::WgmmaMixedSign,
        (Operand::S8 | Operand::U8, _) => Op::WgmmaInteger,
        (Operand::E4m3 | Operand::E5m2, _) => Op::WgmmaF8,
        (Operand::B1, _) => Op::WgmmaB1,
        _ => Op::Wgmma,
    })]
}

/// Staged operands are read by wgmma, tiles by mma.sync.
fn product_of_tiles(op: OperationRef<'_, '_>) -> Vec<Feature> {
    let mma = Mma::from_op(op);
    vec![one(if mma.is_staged() {
        wgmma_of(mma).unwrap_or(Op::Wgmma)
    } else {
        mma_sync_of(mma)
    })]
}

/// The element types of a product, and whether operands are unsigned.
fn numbers(mma: Mma<'_, '_>) -> [String; 3] {
    [mma.a(), mma.b(), mma.acc()].map(|v| v.r#type().element_type().map_or_else(String::new, |e| e.to_string()))
}

/// The kind of `wgmma` that has a product's types; `None` where there is none.
pub fn wgmma_of(mma: Mma<'_, '_>) -> Option<Op> {
    if mma.without_wgmma().is_some() {
        return None;
    }
    let [a, ..] = numbers(mma);
    Some(match a.as_str() {
        _ if mma.popc().is_some() => Op::WgmmaB1,
        "f8E4M3FN" | "f8E5M2" => Op::WgmmaF8,
        "i8" if mma.unsigned_a() != mma.unsigned_b() => Op::WgmmaMixedSign,
        "i8" => Op::WgmmaInteger,
        _ => Op::Wgmma,
    })
}

/// The kind of `mma.sync` that has a product's types. f64 has two; the wider one is taken where the target has it.
pub fn mma_sync_of(mma: Mma<'_, '_>) -> Op {
    let [a, b, sum] = numbers(mma);
    let has_wide = || {
        let needed = Feature::Op(Op::MmaF64Wide);
        target_of(mma.op()).is_some_and(|target| needed.legal(target).is_ok())
    };
    let below_a_byte = |e: &str| matches!(e, "f6E2M3FN" | "f6E3M2FN" | "f4E2M1FN");
    match (a.as_str(), sum.as_str()) {
        _ if below_a_byte(&a) || below_a_byte(&b) => Op::MmaF8F6F4,
        ("f8E4M3FN" | "f8E5M2", "f16") => Op::MmaF8F16,
        ("f8E4M3FN" | "f8E5M2", _) => Op::MmaF8,
        ("i4", _) => Op::MmaI4,
        ("i1", _) if mma.popc() == Some(BitOp::And) => Op::MmaB1And,
        ("i1", _) => Op::MmaB1Xor,
        ("f64", _) if has_wide() => Op::MmaF64Wide,
        ("f64", _) => Op::MmaF64,
        _ => Op::MmaF16,
    }
}

fn fence(op: OperationRef<'_, '_>) -> Vec<Feature> {
    use sync::FenceKind as Kind;
    vec![one(match sync::Fence::from_op(op).kind() {
        Kind::MbarrierInit => Op::FenceMbarrierInit,
        Kind::ProxyAsync | Kind::ProxyAsyncShared | Kind::ProxyAsyncGlobal => Op::FenceProxyAsync,
        Kind::Block | Kind::Gpu | Kind::System => Op::FenceAcqRel,
        Kind::Cluster => Op::FenceCluster,
    })]
}

/// Ops of arith that hand numbers on as they are.
fn moves(name: &str) -> bool {
    matches!(name, "arith.constant" | "arith.select" | "arith.bitcast")
}

/// What computes with 8-bit floats converts them, by instructions of later targets.
fn small_floats(op: OperationRef<'_, '_>) -> Vec<Feature> {
    let values = op.operand_values().into_iter().chain(op.result_values());
    let small = |t: Type<'_>| {
        let element = t.element_type().unwrap_or(t);
        element.is_float_type() && element.bit_width() == Some(8)
    };
    if values.into_iter().any(|v| small(v.r#type())) {
        vec![one(Op::CvtF8)]
    } else {
        vec![]
    }
}
