//! Blocks of a cluster: peers that may not run, and mbarriers that they are told of.
use super::support::{Shape, WAIT, block, check, clean, finds, load};
use girih_sim::check::Kind;

const PAIR: Shape = Shape {
    grid: 2,
    block: 32,
    cluster: 2,
};

#[test]
fn a_peer_that_may_have_exited_is_not_read() {
    let head = "st.shared.u32 [%r1], 7; mov.u32 %r7, %cluster_ctarank; xor.b32 %r7, %r7, 1; \
                mapa.shared::cluster.u32 %r8, %r1, %r7; barrier.cluster.arrive; barrier.cluster.wait; \
                ld.shared::cluster.u32 %r9, [%r8]; ";
    let found = finds(head, PAIR, Kind::ExitedPeer, &["ld.shared::cluster"]);
    assert!(found.remedy.contains("barrier.cluster"), "{found:#?}");
    clean(&format!("{head}barrier.cluster.arrive; barrier.cluster.wait;"), PAIR);
    // A relaxed arrival passes nothing on.
    finds(
        &head
            .replace("cluster.arrive", "cluster.arrive.relaxed")
            .replace("[%r8]; ", "[%r8]; barrier.cluster.arrive; barrier.cluster.wait;"),
        PAIR,
        Kind::Race,
        &["ld.shared::cluster", "st.shared"],
    );
}

#[test]
fn a_peer_that_may_not_run_yet_is_not_written() {
    let meet = "barrier.cluster.arrive; barrier.cluster.wait; ";
    let body = "mov.u32 %r7, %cluster_ctarank; xor.b32 %r7, %r7, 1; mapa.shared::cluster.u32 %r8, %r1, %r7; \
                st.shared::cluster.u32 [%r8], 7; barrier.cluster.arrive; barrier.cluster.wait; ld.shared.u32 %r9, [%r1]; ";
    let found = finds(body, PAIR, Kind::UnstartedPeer, &["st.shared::cluster"]);
    assert!(found.remedy.contains("barrier.cluster.arrive.relaxed"), "{found:#?}");
    clean(&format!("{meet}{body}"), PAIR);
    // That all have come is enough.
    clean(&format!("{}{body}", meet.replace("arrive", "arrive.relaxed")), PAIR);
}

#[test]
fn an_initialised_mbarrier_is_told_to_the_copies_of_other_blocks() {
    // The blocks of a pair load for each other.
    let body = |fence: &str| {
        format!(
            "@%p1 mbarrier.init.shared::cta.b64 [%r2], 1; {fence}barrier.cluster.arrive; barrier.cluster.wait; \
             @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 %d7, [%r2], 256; \
             mov.u32 %r7, %cluster_ctarank; xor.b32 %r7, %r7, 1; mapa.shared::cluster.u32 %r8, %r2, %r7; \
             mapa.shared::cluster.u32 %r9, %r1, %r7; \
             @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%in], 256, [%r8]; \
             {WAIT}barrier.cluster.arrive; barrier.cluster.wait;"
        )
    };
    let found = finds(
        &body(""),
        PAIR,
        Kind::MissingProxyFence,
        &["cp.async.bulk", "mbarrier.init"],
    );
    assert!(
        found.remedy.contains("fence.mbarrier_init.release.cluster"),
        "{found:#?}"
    );
    clean(&body("@%p1 fence.mbarrier_init.release.cluster; "), PAIR);
    clean(&body("@%p1 fence.proxy.async.shared::cta; "), PAIR);
    // Within a block a barrier is enough.
    let own = format!("{}{WAIT}", load(256));
    clean(&own, block(64));
    clean(
        &own.replace("@%p1 fence.mbarrier_init.release.cluster; ", ""),
        block(64),
    );
}

#[test]
fn an_initialised_mbarrier_is_told_to_the_cluster() {
    let body = |between: &str| {
        format!(
            "@%p1 mbarrier.init.shared::cta.b64 [%r2], 1; {between}mov.u32 %r7, %cluster_ctarank; xor.b32 %r7, %r7, 1; \
             mapa.shared::cluster.u32 %r8, %r2, %r7; @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8]; \
             {WAIT}barrier.cluster.arrive; barrier.cluster.wait;"
        )
    };
    let relaxed = "barrier.cluster.arrive.relaxed; barrier.cluster.wait; ";
    clean(
        &body(&format!(
            "@%p1 fence.mbarrier_init.release.cluster; {relaxed}bar.warp.sync -1; "
        )),
        PAIR,
    );
    let findings = check(&body(&format!("bar.warp.sync -1; {relaxed}")), PAIR);
    assert!(
        findings
            .iter()
            .any(|f| f.kind == Kind::Race && f.places[0].what.contains("mbarrier")),
        "{findings:#?}"
    );
}
