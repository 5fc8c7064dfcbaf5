//! Blocks of the grid: atomics, flags, and tensor maps that a kernel writes.
use super::support::{Shape, WAIT, block, check, clean, finds};
use girih_sim::check::Kind;

const BLOCKS: Shape = Shape {
    grid: 2,
    block: 32,
    cluster: 1,
};

#[test]
fn blocks_race_in_global_memory_unless_they_use_atomics() {
    let body = "mov.u32 %r7, %ctaid.x; @%p1 st.global.u32 [%out], %r7;";
    let found = finds(body, BLOCKS, Kind::Race, &["st.global", "st.global"]);
    assert!(found.places[0].block != found.places[1].block, "{found:#?}");
    clean(
        "atom.global.add.u32 %r6, [%in], 1; red.global.max.u32 [%in+4], %t;",
        BLOCKS,
    );
    // Of one block alone, an atomic of the block's scope is enough.
    clean("atom.global.cta.add.u32 %r6, [%in], 1;", block(64));
    finds(
        "atom.global.cta.add.u32 %r6, [%in], 1;",
        BLOCKS,
        Kind::Race,
        &["atom.global", "atom.global"],
    );
}

/// Block 0 writes a word and raises a flag, block 1 waits for the flag and reads the word.
fn message(raise: &str, look: &str) -> String {
    format!(
        "mov.u32 %r7, %ctaid.x; setp.ne.u32 %p4, %r7, 0; @!%p1 bra E; @%p4 bra R; \
         st.global.u32 [%in+64], 5; {raise} bra E; \
         R: {look} setp.ne.u32 %p5, %r6, 9; @%p5 bra R; ld.global.u32 %r8, [%in+64]; E: ret;"
    )
}

#[test]
fn a_flag_that_is_released_and_acquired_orders_blocks() {
    clean(
        &message(
            "st.release.gpu.global.u32 [%in], 9;",
            "ld.acquire.gpu.global.u32 %r6, [%in];",
        ),
        BLOCKS,
    );
    clean(
        &message(
            "fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%in], 9;",
            "ld.relaxed.gpu.global.u32 %r6, [%in]; fence.acq_rel.gpu;",
        ),
        BLOCKS,
    );
    clean(
        &message(
            "membar.gl; st.volatile.global.u32 [%in], 9;",
            "ld.volatile.global.u32 %r6, [%in]; membar.gl;",
        ),
        BLOCKS,
    );
    let half = [
        (
            "st.relaxed.gpu.global.u32 [%in], 9;",
            "ld.acquire.gpu.global.u32 %r6, [%in];",
        ),
        (
            "st.release.gpu.global.u32 [%in], 9;",
            "ld.relaxed.gpu.global.u32 %r6, [%in];",
        ),
        (
            "fence.acq_rel.cta; st.relaxed.gpu.global.u32 [%in], 9;",
            "ld.acquire.gpu.global.u32 %r6, [%in];",
        ),
    ];
    for (raise, look) in half {
        finds(&message(raise, look), BLOCKS, Kind::Race, &["ld.global", "st.global"]);
    }
}

#[test]
fn a_barrier_of_the_grid_made_of_atomics_orders_blocks() {
    let body = |fence: &str| {
        format!(
            "mov.u32 %r7, %ctaid.x; mul.wide.u32 %d1, %r7, 4; add.u64 %d1, %out, %d1; @%p1 st.global.u32 [%d1], %r7; \
             bar.sync 0; @!%p1 bra D; {fence} atom.global.add.u32 %r6, [%in+8], 1; \
             L: ld.volatile.global.u32 %r6, [%in+8]; setp.lt.u32 %p4, %r6, 16843011; @%p4 bra L; {fence} \
             D: bar.sync 0; xor.b32 %r7, %r7, 1; mul.wide.u32 %d1, %r7, 4; add.u64 %d1, %out, %d1; \
             ld.global.u32 %r8, [%d1];"
        )
    };
    clean(&body("membar.gl;"), BLOCKS);
    let findings = check(&body(""), BLOCKS);
    assert!(findings.iter().any(|f| f.kind == Kind::Race), "{findings:#?}");
}

#[test]
fn a_tensor_map_that_the_kernel_wrote_is_acquired_before_its_use() {
    let words: String = (0..16)
        .map(|i| {
            format!(
                "@%p1 ld.param.u64 %d1, [map+{}]; @%p1 st.shared.u64 [%r1+{}], %d1; ",
                8 * i,
                8 * i
            )
        })
        .collect();
    let body = |fence: &str| {
        format!(
            "{words}bar.warp.sync -1; mov.u32 %r3, s; cvt.u64.u32 %d2, %r3; cvta.shared.u64 %d2, %d2; \
             tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%out], [%d2], 128; \
             {fence}@%p1 mbarrier.init.shared::cta.b64 [%r2], 1; @%p1 fence.mbarrier_init.release.cluster; bar.sync 0; \
             @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 %d7, [%r2], 128; \
             @%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1+1024], [%out, {{0, 0}}], [%r2]; \
             {WAIT}ld.shared.u32 %r6, [%r1+1024];"
        )
    };
    clean(
        &body("fence.proxy.tensormap::generic.acquire.gpu [%out], 128; "),
        block(32),
    );
    for missing in ["", "fence.proxy.tensormap::generic.acquire.gpu [%in], 128; "] {
        let found = finds(
            &body(missing),
            block(32),
            Kind::MissingProxyFence,
            &["cp.async.bulk.tensor", "tensormap.cp_fenceproxy"],
        );
        assert!(found.remedy.contains("fence.proxy.tensormap"), "{found:#?}");
    }
}
