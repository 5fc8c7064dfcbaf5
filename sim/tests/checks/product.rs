//! Products in flight.
use super::support::{Shape, WAIT, block, check, clean, finds, load};
use girih_sim::check::Kind;

/// A product of the warpgroup over what [`load`] brings, with its sums in `%f1` to `%f4`.
const PRODUCT: &str =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d4, %d5, 1, 1, 1, 0, 0; ";

fn product(before: &str, after: &str) -> String {
    format!(
        "{}{WAIT}shr.u32 %r9, %r1, 4; cvt.u64.u32 %d4, %r9; or.b64 %d4, %d4, 68720001024; add.u64 %d5, %d4, 128; \
         mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; \
         {before}{PRODUCT}{after}",
        load(2304)
    )
}

#[test]
fn sums_of_a_product_in_flight_are_left_alone() {
    let fence = "wgmma.fence.sync.aligned; ";
    let wait = "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; ";
    let read = "add.f32 %f5, %f1, %f2; ";
    clean(&product(fence, &format!("{wait}{read}")), block(128));
    clean(&product(fence, &format!("{PRODUCT}{wait}{read}")), block(128));
    let found = finds(
        &product(fence, &format!("{read}{wait}")),
        block(128),
        Kind::InFlightRegister,
        &["add.f32", "wgmma.mma_async"],
    );
    assert!(found.remedy.contains("wgmma.wait_group"), "{found:#?}");
    // Without a commit the wait does not cover it.
    finds(
        &product(fence, &format!("wgmma.wait_group.sync.aligned 0; {read}{wait}")),
        block(128),
        Kind::InFlightRegister,
        &["add.f32", "wgmma.mma_async"],
    );
    let found = finds(
        &product("", &format!("{wait}{read}")),
        block(128),
        Kind::InFlightRegister,
        &["wgmma.mma_async", "mov.f32 %f1"],
    );
    assert!(found.remedy.contains("wgmma.fence"), "{found:#?}");
}

#[test]
fn shared_memory_beneath_a_product_in_flight_is_not_written() {
    let (fence, commit) = ("wgmma.fence.sync.aligned; ", "wgmma.commit_group.sync.aligned; ");
    let wait = "wgmma.wait_group.sync.aligned 0; ";
    let write = "@%p1 st.shared.u32 [%r1], 3; ";
    let found = finds(
        &product(fence, &format!("{commit}{write}{wait}")),
        block(128),
        Kind::MissingWait,
        &["st.shared", "wgmma.mma_async"],
    );
    assert!(found.remedy.contains("wgmma.wait_group"), "{found:#?}");
    // The wait of one warp tells the others nothing.
    let other = "@%p1 st.shared.u32 [%r1+1024], 3; ";
    clean(
        &product(fence, &format!("{commit}{wait}bar.sync 0; {write}{other}")),
        block(128),
    );
}

#[test]
fn generic_writes_that_a_product_reads_need_a_proxy_fence() {
    let body = |fence: &str| {
        product(
            &format!("@%p1 st.shared.u32 [%r1], 3; {fence}bar.sync 0; wgmma.fence.sync.aligned; "),
            "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;",
        )
    };
    clean(&body("fence.proxy.async.shared::cta; "), block(128));
    finds(
        &body(""),
        block(128),
        Kind::MissingProxyFence,
        &["wgmma.mma_async", "st.shared"],
    );
}

#[test]
fn the_same_program_has_the_same_findings_every_time() {
    let body = "mov.u32 %r7, %ctaid.x; st.global.u32 [%out], %r7; st.shared.u32 [%r1], %t; ld.shared.u32 %r6, [%r1+4];";
    let shape = Shape {
        grid: 16,
        block: 96,
        cluster: 1,
    };
    let first = check(body, shape);
    assert!(first.len() > 2, "{first:#?}");
    assert_eq!(check(body, shape), first);
}
