//! Threads of one block: barriers, fences between proxies, copies and their waits.
use super::support::{WAIT, WORDS, block, clean, finds, load};
use girih_sim::check::{Gravity, Kind};

#[test]
fn a_barrier_between_warps_is_missed() {
    let store = "st.shared.u32 [%r4], 0; bar.sync 0; st.shared.u32 [%r4], %t; ";
    let read = "ld.shared.u32 %r6, [%r5];";
    let found = finds(
        &format!("{WORDS}{store}{read}"),
        block(64),
        Kind::Race,
        &["st.shared", "ld.shared"],
    );
    assert!(found.remedy.contains("bar.sync"), "{found:#?}");
    assert_eq!(found.gravity, Gravity::Error);
    clean(&format!("{WORDS}{store}bar.sync 0; {read}"), block(64));
    clean(
        &format!("{WORDS}{store}@%p2 bar.arrive 1, 64; @%p2 bra E; bar.sync 1, 64; {read} E: ret;"),
        block(64),
    );
}

#[test]
fn lanes_of_a_warp_are_ordered_by_a_barrier_of_the_warp() {
    let words = "shl.b32 %r4, %t, 2; add.u32 %r4, %r4, %r1; xor.b32 %r5, %t, 1; shl.b32 %r5, %r5, 2; \
                 add.u32 %r5, %r5, %r1; st.shared.u32 [%r4], %t; ";
    let read = "ld.shared.u32 %r6, [%r5];";
    let found = finds(
        &format!("{words}{read}"),
        block(32),
        Kind::Race,
        &["ld.shared", "st.shared"],
    );
    assert!(found.remedy.contains("bar.warp.sync"), "{found:#?}");
    clean(&format!("{words}bar.warp.sync -1; {read}"), block(32));
    clean(&format!("{words}ld.shared.u32 %r6, [%r4];"), block(32));
}

#[test]
fn lanes_that_store_different_values_to_one_place_race() {
    finds(
        "st.shared.u32 [%r1], %t;",
        block(32),
        Kind::Race,
        &["st.shared", "st.shared"],
    );
    clean("st.shared.u32 [%r1], 7;", block(32));
}

#[test]
fn generic_writes_that_a_bulk_copy_reads_need_a_proxy_fence() {
    let head = format!("{WORDS}st.shared.u32 [%r4], %t; ");
    let copy = "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%out], [%r1], 256; \
                @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;";
    let found = finds(
        &format!("{head}bar.sync 0; {copy}"),
        block(64),
        Kind::MissingProxyFence,
        &["cp.async.bulk.global", "st.shared"],
    );
    assert!(found.remedy.contains("fence.proxy.async.shared::cta"), "{found:#?}");
    clean(
        &format!("{head}fence.proxy.async.shared::cta; bar.sync 0; {copy}"),
        block(64),
    );
    clean(&format!("{head}bar.sync 0; fence.proxy.async; {copy}"), block(64));
    let elsewhere = format!("{head}fence.proxy.async.global; bar.sync 0; {copy}");
    finds(
        &elsewhere,
        block(64),
        Kind::MissingProxyFence,
        &["cp.async.bulk.global", "st.shared"],
    );
    // A fence before the write is none after it.
    let early = format!("{WORDS}fence.proxy.async; st.shared.u32 [%r4], %t; bar.sync 0; {copy}");
    finds(
        &early,
        block(64),
        Kind::MissingProxyFence,
        &["cp.async.bulk.global", "st.shared"],
    );
}

#[test]
fn what_a_bulk_copy_loads_is_there_after_the_wait() {
    let read = "ld.shared.u32 %r6, [%r1];";
    clean(&format!("{}{WAIT}{read}", load(256)), block(64));
    let body = format!("{}bar.sync 0; @!%p1 {read} {WAIT}", load(256));
    let found = finds(
        &body,
        block(64),
        Kind::MissingWait,
        &["ld.shared", "cp.async.bulk.shared"],
    );
    assert!(found.remedy.contains("mbarrier.try_wait"), "{found:#?}");
}

#[test]
fn a_slot_is_loaded_again_only_after_its_readers_have_arrived() {
    // Two loads into the same slot; the mbarrier behind the first tells that it is free.
    let again = "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 %d7, [%r2], 256; \
                 @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%in], 256, [%r2]; \
                 W1: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 1; @!%p3 bra W1;";
    let head = format!(
        "@%p1 mbarrier.init.shared::cta.b64 [%r2+8], 64; {}{WAIT}ld.shared.u32 %r6, [%r1]; ",
        load(256)
    );
    finds(
        &format!("{head}{again}"),
        block(64),
        Kind::Race,
        &["cp.async.bulk.shared", "ld.shared"],
    );
    let free = "mbarrier.arrive.shared::cta.b64 %d8, [%r2+8]; \
                W2: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2+8], 0; @!%p3 bra W2; ";
    clean(&format!("{head}{free}{again}"), block(64));
    let relaxed = free.replace("arrive.shared", "arrive.relaxed.cta.shared");
    finds(
        &format!("{head}{relaxed}{again}"),
        block(64),
        Kind::Race,
        &["cp.async.bulk.shared", "ld.shared"],
    );
}

#[test]
fn copies_of_threads_are_waited_for_and_then_shared() {
    let head = format!(
        "{WORDS}mul.wide.u32 %d1, %t, 4; add.u64 %d1, %in, %d1; cp.async.ca.shared.global [%r4], [%d1], 4; \
         cp.async.commit_group; "
    );
    let found = finds(
        &format!("{head}ld.shared.u32 %r6, [%r4]; cp.async.wait_all;"),
        block(64),
        Kind::MissingWait,
        &["ld.shared", "cp.async.ca"],
    );
    assert!(found.remedy.contains("cp.async.wait_all"), "{found:#?}");
    clean(
        &format!("{head}cp.async.wait_group 0; ld.shared.u32 %r6, [%r4];"),
        block(64),
    );
    clean(
        &format!("{head}cp.async.wait_all; bar.sync 0; ld.shared.u32 %r6, [%r5];"),
        block(64),
    );
    finds(
        &format!("{head}cp.async.wait_group 1; bar.sync 0; ld.shared.u32 %r6, [%r5];"),
        block(64),
        Kind::MissingWait,
        &["ld.shared", "cp.async.ca"],
    );
}

#[test]
fn a_source_is_overwritten_only_after_it_was_read() {
    let head = "@%p1 st.shared.u64 [%r1], 5; @%p1 st.shared.u64 [%r1+8], 5; @%p1 fence.proxy.async.shared::cta; \
                @%p1 cp.async.bulk.global.shared::cta.bulk_group [%out], [%r1], 16; @%p1 cp.async.bulk.commit_group; ";
    let write = "@%p1 st.shared.u32 [%r1], 6; ";
    let found = finds(
        &format!("{head}{write}@%p1 cp.async.bulk.wait_group 0;"),
        block(32),
        Kind::MissingWait,
        &["st.shared", "cp.async.bulk.global"],
    );
    assert!(found.remedy.contains("wait_group.read"), "{found:#?}");
    clean(
        &format!("{head}@%p1 cp.async.bulk.wait_group.read 0; {write}"),
        block(32),
    );
    // `.read` says nothing of the destination.
    finds(
        &format!("{head}@%p1 cp.async.bulk.wait_group.read 0; @%p1 ld.global.u32 %r6, [%out];"),
        block(32),
        Kind::MissingWait,
        &["ld.global", "cp.async.bulk.global"],
    );
    clean(
        &format!("{head}@%p1 cp.async.bulk.wait_group 0; @%p1 ld.global.u32 %r6, [%out];"),
        block(32),
    );
}

#[test]
fn a_block_outlives_what_reads_its_shared_memory() {
    let body = "@%p1 st.shared.u64 [%r1], 5; @%p1 st.shared.u64 [%r1+8], 5; @%p1 fence.proxy.async.shared::cta; \
                @%p1 cp.async.bulk.global.shared::cta.bulk_group [%out], [%r1], 16; @%p1 cp.async.bulk.commit_group; ";
    let found = finds(body, block(32), Kind::MissingWait, &["cp.async.bulk.global"]);
    assert!(found.message.contains("exit"), "{found:#?}");
    clean(&format!("{body}@%p1 cp.async.bulk.wait_group.read 0;"), block(32));
}
