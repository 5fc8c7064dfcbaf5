//! The table: one row for each instruction family that is no tensor copy.
use super::{PtxVersion, Set};

macro_rules! alternative {
    () => {
        None
    };
    ($text:literal) => {
        Some($text)
    };
}

/// Rows are `Variant "name" [group: version, ...] else "alternative": "example"`.
macro_rules! ops {
    ($($variant:ident $name:literal [$($set:ident: $major:literal . $minor:literal),+] $(else $alternative:literal)?: $example:literal;)+) => {
        /// An instruction family, or a modifier that not every target has.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Op {
            $(#[doc = concat!("`", $name, "`, as in `", $example, "`")] $variant,)+
        }

        impl Op {
            /// Every row.
            pub const ALL: &[Op] = &[$(Op::$variant),+];

            /// PTX's name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Op::$variant => $name,)+
                }
            }

            /// Groups of targets that have it, each with the PTX version.
            pub const fn needs(self) -> &'static [(Set, PtxVersion)] {
                match self {
                    $(Op::$variant => &[$((Set::$set, PtxVersion($major, $minor))),+],)+
                }
            }

            /// What to use where it is missing.
            pub const fn alternative(self) -> Option<&'static str> {
                match self {
                    $(Op::$variant => alternative!($($alternative)?),)+
                }
            }

            /// One statement that uses it; registers as in [`Feature::example`](super::Feature::example).
            pub const fn example(self) -> &'static str {
                match self {
                    $(Op::$variant => $example,)+
                }
            }
        }
    };
}

ops! {
    // Bulk copies that need no tensor map.
    BulkLoadCluster "cp.async.bulk to shared::cluster" [From90: 8 . 0] else "use cp.async":
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%d0], 64, [%r6];";
    BulkLoadCta "cp.async.bulk to shared::cta" [From90: 8 . 6] else "load to shared::cluster":
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r0], [%d0], 64, [%r6];";
    BulkLoadMulticast "cp.async.bulk with multicast" [From90: 8 . 0] else "let every block load for itself":
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r0], [%d0], 64, [%r6], %h0;";
    BulkStore "cp.async.bulk to global" [From90: 8 . 0] else "use ordinary stores":
        "cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r0], 64;";
    BulkStoreMask "cp.async.bulk with cp_mask" [From100: 8 . 6] else "use ordinary stores":
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%d0], [%r0], 64, %h0;";
    BulkToCluster "cp.async.bulk to another block's shared memory" [From90: 8 . 0] else "go through global memory":
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r0], [%r1], 64, [%r6];";
    BulkReduceGlobal "cp.reduce.async.bulk to global" [From90: 8 . 0] else "use red.global":
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%d0], [%r0], 64;";
    BulkReduceCluster "cp.reduce.async.bulk to shared::cluster" [From90: 8 . 0] else "use red.shared::cluster":
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r0], [%r1], 64, [%r6];";
    BulkPrefetch "cp.async.bulk.prefetch" [From90: 8 . 0] else "leave it out: a prefetch changes no result":
        "cp.async.bulk.prefetch.L2.global [%d0], 64;";
    BulkGroup "cp.async.bulk.commit_group and wait_group" [From90: 8 . 0]:
        "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;";
    PrefetchTensorMap "prefetch.tensormap" [From90: 8 . 0] else "leave it out: a prefetch changes no result":
        "prefetch.tensormap [%d0];";
    Multicast16 "the spelling .multicast::cluster::16b" [From90: 9 . 4] else "write .multicast::cluster":
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster::16b [%r0], [%d0, {%r1}], [%r6], %h0;";
    Multicast32 "a multicast mask of 32 bits, .multicast::cluster::32b," [Family107: 9 . 4] else "use a mask of 16 bits":
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster::32b [%r0], [%d0, {%r1}], [%r6], %r7;";
    BulkReport ".mbarrier::report on bulk copies" [Family107: 9 . 4] else "leave it out: the bytes are counted without it":
        "cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes.mbarrier::report::validity::per_element::ff [%r0], [%d0, {%r1}], [%r6];";
    TensorOverride ".override::global_address on tensor copies" [Family107: 9 . 4] else "make a tensor map for each tensor":
        "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes.override::global_address.override::global_dim_stride [%r0], [%d0, %d1, {%h0, %h1}, {%r3}, %h2, {%r1, %r2}], [%r6];";
    PrefetchEvictLast ".L2::evict_last on bulk prefetches" [Family107: 9 . 4] else "use a cache policy, `cache evict_last`":
        "cp.async.bulk.prefetch.tensor.2d.L2.global.tile.L2::evict_last [%d0, {%r1, %r2}];";
    CacheHint "a cache policy on bulk copies" [From90: 8 . 0] else "leave it out: a policy changes no result":
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%r0], [%d0, {%r1}], [%r6], %d1;";
    CacheHintAccess "a cache policy on loads and stores" [All: 7 . 4] else "leave it out: a policy changes no result":
        "ld.global.L2::cache_hint.b32 %r0, [%d0], %d1; st.global.L2::cache_hint.b32 [%d0], %r0, %d1;";
    CreatePolicy "createpolicy" [All: 7 . 4] else "leave it out: a policy changes no result":
        "createpolicy.fractional.L2::evict_first.b64 %d1, 1.0;";
    CpAsync "cp.async" [All: 7 . 0]:
        "cp.async.cg.shared.global [%r0], [%d0], 16;";
    BulkZero "st.bulk" [From100: 8 . 6] else "use ordinary stores":
        "st.bulk.shared::cta [%r0], 64, 0;";

    // Tensor maps on the device.
    TensorMapReplace "tensormap.replace" [Only90a: 8 . 3, Blackwell: 8 . 6, Family120: 8 . 7]
        else "encode the map on the host":
        "tensormap.replace.tile.global_address.global.b1024.b64 [%d0], %d1;";
    TensorMapAtomicity "tensormap.replace of swizzle_atomicity" [Blackwell: 8 . 6, Family120: 8 . 7]
        else "encode the map on the host":
        "tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [%d0], 1;";
    TensorMapSubByte "tensormap.replace with sub-byte formats" [Blackwell: 8 . 7, Family120: 8 . 7]
        else "move the bytes as u8":
        "tensormap.replace.tile.elemtype.global.b1024.b32 [%d0], 13;";
    TensorMapSwizzle96 "tensormap.replace with the 96-byte swizzle" [Only103a107a: 8 . 8]
        else "use swizzle 32, 64 or 128":
        "tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%d0], 4;";
    TensorMapFence "fence.proxy.tensormap" [From90: 8 . 3] else "encode the map on the host":
        "fence.proxy.tensormap::generic.acquire.gpu [%d0], 128;";
    TensorMapCopyFence "tensormap.cp_fenceproxy" [From90: 8 . 3] else "encode the map on the host":
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d0], [%r0], 128;";

    // Barriers in shared memory.
    MbarrierInit "mbarrier.init, inval, arrive, test_wait" [All: 7 . 0] else "use bar.sync":
        "mbarrier.init.shared.b64 [%r0], 1; mbarrier.arrive.shared.b64 %d1, [%r0]; mbarrier.test_wait.shared.b64 %p0, [%r0], %d1; mbarrier.inval.shared.b64 [%r0];";
    MbarrierParity "mbarrier.test_wait.parity" [All: 7 . 1] else "wait by the token of an arrival":
        "mbarrier.test_wait.parity.shared.b64 %p0, [%r0], %r1;";
    MbarrierTryWait "mbarrier.try_wait" [From90: 7 . 8] else "loop over mbarrier.test_wait":
        "mbarrier.try_wait.parity.shared.b64 %p0, [%r0], %r1;";
    MbarrierArriveCount "mbarrier.arrive with a count" [From90: 7 . 8] else "arrive.noComplete, or arrive several times":
        "mbarrier.arrive.shared.b64 %d1, [%r0], %r1;";
    MbarrierTransactions "mbarrier.expect_tx and arrive.expect_tx" [From90: 8 . 0] else "count arrivals of cp.async":
        "mbarrier.arrive.expect_tx.shared::cta.b64 %d1, [%r0], %r1;";
    MbarrierRemoteArrive "mbarrier.arrive on another block's barrier" [From90: 8 . 0] else "use one block for each tile":
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r0];";
    MbarrierClusterScope "mbarrier operations of cluster scope" [From90: 8 . 0] else "use one block for each tile":
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p0, [%r0], %r1;";
    MbarrierRelaxed "relaxed mbarrier operations" [From90: 8 . 6] else "use the default, .release and .acquire":
        "mbarrier.arrive.relaxed.cta.shared::cta.b64 %d1, [%r0];";

    // Fences.
    FenceProxyAsync "fence.proxy.async" [From90: 8 . 0]:
        "fence.proxy.async.shared::cta;";
    FenceMbarrierInit "fence.mbarrier_init" [From90: 8 . 0] else "use barrier.cluster":
        "fence.mbarrier_init.release.cluster;";
    FenceSyncRestrict "fence.acquire and release with sync_restrict" [From90: 8 . 6] else "use fence.acq_rel.cluster":
        "fence.acquire.sync_restrict::shared::cluster.cluster;";
    FenceProxyAlias "fence.proxy.alias" [All: 7 . 5]:
        "fence.proxy.alias;";
    FenceAcqRel "fence.acq_rel and fence.sc" [All: 6 . 0]:
        "fence.acq_rel.gpu;";
    FenceCluster "fences of cluster scope" [From90: 7 . 8] else "use scope gpu":
        "fence.acq_rel.cluster;";

    // Clusters.
    ClusterBarrier "barrier.cluster" [From90: 7 . 8] else "use a grid of single blocks":
        "barrier.cluster.arrive; barrier.cluster.wait;";
    Mapa "mapa and shared::cluster accesses" [From90: 7 . 8] else "go through global memory":
        "mapa.shared::cluster.u32 %r1, %r0, %r2; ld.shared::cluster.u32 %r3, [%r1];";
    StAsync "st.async" [From90: 8 . 1] else "use st.shared::cluster and a barrier":
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r0], %r1, [%r6];";
    RedAsync "red.async" [From90: 8 . 1] else "use atom.shared::cluster and a barrier":
        "red.async.relaxed.cluster.mbarrier::complete_tx::bytes.shared::cluster.inc.u32 [%r0], %r1, [%r6];";
    Multimem "multimem" [From90: 8 . 1] else "use one access for each device":
        "multimem.ld_reduce.relaxed.gpu.global.add.f32 %f0, [%d0];";
    ClusterLaunchControl "clusterlaunchcontrol" [From100: 8 . 6] else "let persistent blocks take tiles by an atomic counter":
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r0], [%r6];";
    GridDependencyControl "griddepcontrol" [From90: 7 . 8] else "leave it out: launches are ordered without it":
        "griddepcontrol.wait;";

    // Warps and warpgroups.
    ElectSync "elect.sync" [From90: 8 . 0] else "compare the lane id with 0":
        "elect.sync _|%p0, 0xffffffff;";
    SetMaxNReg "setmaxnreg" [Only90a: 8 . 0, Blackwell: 8 . 6, Family120: 8 . 7]
        else "leave it out, and give all warps the same register budget":
        "setmaxnreg.dec.sync.aligned.u32 24;";
    ReduxF32 "redux.sync of f32" [Datacentre: 8 . 6] else "use shuffles":
        "redux.sync.min.f32 %f0, %f1, 0xffffffff;";
    ReduxInteger "redux.sync" [All: 7 . 0] else "use shuffles":
        "redux.sync.add.s32 %r0, %r1, 0xffffffff;";

    // Matrices.
    MmaF16 "mma.sync of f16, bf16, tf32 and 8-bit integers" [All: 7 . 0]:
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3};";
    MmaF8 "mma.sync of e4m3 and e5m2" [From89: 8 . 4] else "convert to f16":
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3};";
    MmaF8F16 "mma.sync of e4m3 and e5m2 with sums of f16" [From89: 8 . 7] else "add in f32, or convert to f16":
        "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e5m2.f16 {%r0,%r1}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%r0,%r1};";
    MmaI4 "mma.sync of 4-bit integers" [All: 7 . 0]:
        "mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32 {%r6,%r7,%r8,%r9}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%r6,%r7,%r8,%r9};";
    MmaB1Xor "mma.sync of single bits with xor.popc" [All: 7 . 0]:
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%r6,%r7,%r8,%r9}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%r6,%r7,%r8,%r9};";
    MmaB1And "mma.sync of single bits with and.popc" [All: 7 . 1]:
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%r6,%r7,%r8,%r9}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%r6,%r7,%r8,%r9};";
    MmaF64 "mma.sync of f64" [All: 7 . 0]:
        "{ .reg .f64 a<4>; mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {a0,a1}, {a2}, {a3}, {a0,a1}; }";
    MmaF64Wide "mma.sync of f64 with 16 rows" [From90: 7 . 8] else "use m8n8k4":
        "{ .reg .f64 a<4>; mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {a0,a1,a2,a3}, {a0,a1,a2,a3}, {a0,a1}, {a0,a1,a2,a3}; }";
    MmaF8F6F4 "mma.sync with kind::f8f6f4" [Family120: 8 . 7] else "convert operands to f16, which has all of their numbers":
        "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3};";
    Wgmma "wgmma.mma_async" [Only90a: 8 . 0] else "use mma.sync, or tcgen05.mma where it exists":
        "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, %d0, %d1, 1, 1, 1, 0, 0; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;";
    WgmmaF8 "wgmma.mma_async of e4m3 and e5m2" [Only90a: 8 . 0] else "use mma.sync, or tcgen05.mma where it exists":
        "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {%f0,%f1,%f2,%f3}, %d0, %d1, 1, 1, 1;";
    WgmmaInteger "wgmma.mma_async of s8 or u8" [Only90a: 8 . 0] else "use mma.sync":
        "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r0,%r1,%r2,%r3}, %d0, %d1, 1;";
    WgmmaMixedSign "wgmma.mma_async of s8 with u8" [Only90a: 8 . 4] else "use one signedness, or mma.sync":
        "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {%r0,%r1,%r2,%r3}, %d0, %d1, 1;";
    WgmmaB1 "wgmma.mma_async of single bits" [Only90a: 8 . 0] else "use mma.sync":
        "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {%r0,%r1,%r2,%r3}, %d0, %d1, 1;";
    WgmmaSparse "wgmma.mma_async.sp" [Only90a: 8 . 2] else "multiply densely":
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, %d0, %d1, %r0, 0, 1, 1, 1, 0, 0;";
    Tcgen05 "tcgen05" [Blackwell: 8 . 6] else "use wgmma on sm_90a, mma.sync elsewhere":
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r0], 32;";
    Tcgen05Integer "tcgen05.mma with kind::i8" [Only100a110a: 8 . 6] else "use mma.sync":
        "tcgen05.mma.cta_group::1.kind::i8 [%r0], %d0, %d1, %r1, %p0;";
    Ldmatrix "ldmatrix" [All: 6 . 5]:
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0,%r1,%r2,%r3}, [%r4];";
    LdmatrixB8 "ldmatrix of 8-bit elements" [Blackwell: 8 . 6, Family120: 8 . 7] else "use ordinary shared loads":
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0,%r1}, [%r4];";
    Stmatrix "stmatrix" [From90: 7 . 8] else "use ordinary shared stores":
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r4], {%r0,%r1,%r2,%r3};";
    StmatrixB8 "stmatrix of 8-bit elements" [Blackwell: 8 . 6, Family120: 8 . 7] else "use ordinary shared stores":
        "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r4], {%r0};";
    Movmatrix "movmatrix" [All: 7 . 8] else "use shuffles":
        "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;";

    // Conversions and arithmetic on small floats.
    CvtBf16 "cvt to bf16" [All: 7 . 0]:
        "cvt.rn.bf16x2.f32 %r0, %f0, %f1;";
    CvtTf32Rna "cvt.rna to tf32" [All: 7 . 0]:
        "cvt.rna.tf32.f32 %r0, %f0;";
    CvtTf32 "cvt.rn and cvt.rz to tf32" [From90: 7 . 8] else "use cvt.rna.tf32":
        "cvt.rn.tf32.f32 %r0, %f0;";
    CvtTf32Satfinite "cvt.satfinite to tf32" [From100: 8 . 6] else "clamp before cvt":
        "cvt.rn.satfinite.tf32.f32 %r0, %f0;";
    CvtF8 "cvt to and from e4m3 and e5m2" [From90: 7 . 8, From89: 8 . 1] else "convert by integer operations":
        "cvt.rn.satfinite.e4m3x2.f32 %h0, %f0, %f1; cvt.rn.f16x2.e5m2x2 %r0, %h0;";
    CvtF6 "cvt to and from e2m3 and e3m2" [Blackwell: 8 . 6, Family120: 8 . 7] else "convert by integer operations":
        "cvt.rn.satfinite.e2m3x2.f32 %h0, %f0, %f1;";
    CvtF4 "cvt to and from e2m1" [Blackwell: 8 . 6, Family120: 8 . 7] else "convert by integer operations":
        "{ .reg .b8 x; cvt.rn.satfinite.e2m1x2.f32 x, %f0, %f1; }";
    CvtUe8m0 "cvt to and from ue8m0" [Blackwell: 8 . 6, Family120: 8 . 7] else "shift the exponent of an f32":
        "cvt.rz.satfinite.ue8m0x2.f32 %h0, %f0, %f1;";
    CvtStochastic "cvt.rs" [Only100a103a107a: 8 . 7] else "add random bits and truncate":
        "cvt.rs.satfinite.e4m3x4.f32 %r0, {%f0, %f1, %f2, %f3}, %r1;";
    CvtS2f6 "cvt to and from s2f6" [BlackwellSpecific: 9 . 1, Family120Specific: 9 . 1] else "convert by integer operations":
        "cvt.rn.satfinite.s2f6x2.f32 %h0, %f0, %f1;";
    CvtUe5m3 "cvt to and from ue5m3" [Family107: 9 . 4] else "convert by integer operations":
        "cvt.rn.satfinite.ue5m3x2.f32 %h0, %f0, %f1;";
    FmaOob "fma.rn.oob" [From90: 8 . 1] else "fill with zeros instead of NaN":
        "fma.rn.oob.f16 %h0, %h1, %h2, %h3;";
    AddBf16 "add, sub and mul of bf16" [From90: 7 . 8] else "use fma.rn.bf16 with 1 or -0":
        "add.rn.bf16x2 %r0, %r1, %r2;";
    FmaBf16 "fma, min and max of bf16 and f16" [All: 7 . 0]:
        "fma.rn.bf16x2 %r0, %r1, %r2, %r3;";
    PackedF32 "add, mul and fma of f32x2" [From100: 8 . 6] else "use two f32 operations":
        "fma.rn.f32x2 %d0, %d1, %d2, %d3;";
    Ex2Bf16 "ex2.approx of bf16" [From90: 7 . 8] else "convert to f32":
        "ex2.approx.ftz.bf16x2 %r0, %r1;";
    Tanh "tanh.approx" [All: 7 . 0]:
        "tanh.approx.f32 %f0, %f1;";
    TanhBf16 "tanh.approx of bf16" [From90: 7 . 8] else "convert to f32":
        "tanh.approx.bf16x2 %r0, %r1;";
    AtomVector "atom and red of vectors" [From90: 8 . 1] else "use one atomic for each element":
        "red.global.add.v4.f32 [%d0], {%f0,%f1,%f2,%f3};";
    AtomB128 "atom.cas and atom.exch of b128" [From90: 8 . 3] else "use a lock, or two 64-bit atomics":
        "atom.global.cas.b128 %q0, [%d0], %q1, %q2;";
    Load256 "ld and st of 256 bits" [From100: 8 . 8] else "use two 128-bit accesses":
        "ld.global.v8.b32 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%d0];";
}
