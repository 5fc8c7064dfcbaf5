//! What each op asks of a target: one row for each op of the dialect, and for the upstream ops whose PTX not every target
//! has. `tile-verify-target` holds the rows against [`girih_core::target`].
use super::{
    ops::{
        index, kernel, mbarrier, memory, sync,
        tma::{self, TmaLoad, TmaStore},
        wgmma::{self, Wgmma},
    },
    types::TensorMapType,
};
use girih_core::{
    target::{Feature, LoadMode, Op, SharedSpace, StoreMode, Target},
    tensor_map::Violation,
    wgmma::Operand,
};
use girih_ir::{op::OpView, prelude::*};

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
    (memory::Load::DEF.name, Needs::Nothing),
    (memory::Store::DEF.name, Needs::Nothing),
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
    (mbarrier::Init::DEF.name, Needs::Fixed(&[one(Op::MbarrierInit)])),
    (mbarrier::Inval::DEF.name, Needs::Fixed(&[one(Op::MbarrierInit)])),
    (mbarrier::Arrive::DEF.name, Needs::Fixed(&[one(Op::MbarrierInit)])),
    (
        mbarrier::ArriveExpectTx::DEF.name,
        Needs::Fixed(&[one(Op::MbarrierTransactions)]),
    ),
    (
        mbarrier::ExpectTx::DEF.name,
        Needs::Fixed(&[one(Op::MbarrierTransactions)]),
    ),
    (mbarrier::TestWait::DEF.name, Needs::Fixed(&[one(Op::MbarrierParity)])),
    (mbarrier::Wait::DEF.name, Needs::Fixed(&[one(Op::MbarrierTryWait)])),
    (wgmma::Wgmma::DEF.name, Needs::By(product)),
    (wgmma::Fence::DEF.name, Needs::Fixed(&[one(Op::Wgmma)])),
    (wgmma::Commit::DEF.name, Needs::Fixed(&[one(Op::Wgmma)])),
    (wgmma::Wait::DEF.name, Needs::Fixed(&[one(Op::Wgmma)])),
    (sync::Barrier::DEF.name, Needs::Nothing),
    (sync::Fence::DEF.name, Needs::By(fence)),
    ("arith.extf", Needs::By(conversion)),
    ("arith.truncf", Needs::By(conversion)),
];

/// What an op asks of its target. An op without a row asks nothing.
pub fn features(op: OperationRef<'_, '_>) -> Vec<Feature> {
    let name = op.full_name();
    match ROWS.iter().find(|(row, _)| *row == name) {
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

/// Policies of copies are an operand of the copy; all but the usual one are written as constants.
fn with_cache(mut features: Vec<Feature>, cache: Option<tma::CachePolicy>) -> Vec<Feature> {
    if cache.is_some() {
        features.push(one(Op::CacheHint));
    }
    features
}

fn tma_load(op: OperationRef<'_, '_>) -> Vec<Feature> {
    let load = Feature::TmaLoad {
        mode: LoadMode::Tile,
        space: SharedSpace::Cluster,
        multicast: false,
        cta_group: false,
    };
    with_cache(vec![load], TmaLoad::from_op(op).cache())
}

fn tma_store(op: OperationRef<'_, '_>) -> Vec<Feature> {
    with_cache(vec![Feature::TmaStore(StoreMode::Tile)], TmaStore::from_op(op).cache())
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
        _ => Op::Wgmma,
    })]
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

/// Conversions between floats: 8-bit ones are instructions of later targets.
fn conversion(op: OperationRef<'_, '_>) -> Vec<Feature> {
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
