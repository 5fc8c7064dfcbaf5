//! Memory that nothing wrote, that was freed, and that lies outside.
use super::support::{WAIT, block, check_with, clean, finds, load};
use girih_core::device::Device;
use girih_sim::check::{Gravity, Kind};

#[test]
fn memory_that_nothing_wrote_is_not_read() {
    let found = finds(
        "ld.shared.u32 %r6, [%r1];",
        block(1),
        Kind::Uninitialised,
        &["ld.shared"],
    );
    assert!(found.places[0].what.contains("0x400"), "{found:#?}");
    finds(
        "ld.global.u32 %r6, [%out+8];",
        block(1),
        Kind::Uninitialised,
        &["ld.global"],
    );
    clean("st.global.u32 [%out+8], 1; ld.global.u32 %r6, [%out+8];", block(1));
    clean("ld.global.u32 %r6, [%in+8];", block(1));
    finds(
        "st.local.u32 [stack], 1; ld.local.u64 %d1, [stack];",
        block(1),
        Kind::Uninitialised,
        &["ld.local"],
    );
    clean("st.local.u64 [stack], 1; ld.local.u32 %r6, [stack+4];", block(1));
    // An exchange stores the same whatever was there, which matters where it is read; other atomic operations combine with it.
    clean("atom.shared.exch.b32 _, [%r1], 1; ld.shared.u32 %r6, [%r1];", block(1));
    clean(
        "atom.shared.exch.b32 %r6, [%r1], 1; ld.shared.u32 %r7, [%r1];",
        block(1),
    );
    finds(
        "atom.shared.exch.b32 %r6, [%r1], 1; add.u32 %r7, %r6, 1;",
        block(1),
        Kind::Uninitialised,
        &["atom.shared.exch"],
    );
    finds(
        "atom.shared.cas.b32 _, [%r1], 1, 2;",
        block(1),
        Kind::Uninitialised,
        &["atom.shared.cas"],
    );
    finds(
        "red.shared.add.u32 [%r1], 1;",
        block(1),
        Kind::Uninitialised,
        &["red.shared.add"],
    );
    // A copy engine is a reader like any other.
    finds(
        "@%p1 st.shared.u64 [%r1], 5; @%p1 fence.proxy.async; \
         @%p1 cp.async.bulk.global.shared::cta.bulk_group [%out], [%r1], 16; @%p1 cp.async.bulk.commit_group; \
         @%p1 cp.async.bulk.wait_group 0;",
        block(32),
        Kind::Uninitialised,
        &["cp.async.bulk.global"],
    );
}

#[test]
fn what_a_launch_wrote_the_next_one_may_read() {
    let read = "ld.global.u32 %r6, [%out+8];";
    let (findings, _) = check_with(read, block(1), |simulator, buffers| {
        simulator.write(buffers[1], 8, &[0; 4]).expect("memory");
    });
    assert!(findings.is_empty(), "{findings:#?}");
    let found = finds(
        "ld.global.u64 %d1, [%out+8];",
        block(1),
        Kind::Uninitialised,
        &["ld.global"],
    );
    assert!(
        found.message.contains("offset 8 of the allocation of 4096 bytes"),
        "{found:#?}"
    );
}

#[test]
fn a_tensor_store_that_ends_off_16_bytes_writes_past_its_rows() {
    let store = |x: u32| {
        format!(
            "{}{WAIT}mov.u64 %d3, map; cvta.param.u64 %d3, %d3; \
             @%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d3, {{{x}, 0}}], [%r1]; \
             @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;",
            load(256)
        )
    };
    let found = finds(&store(0), block(32), Kind::RowEnd, &["cp.async.bulk.tensor"]);
    assert!(found.message.contains("8 bytes"), "{found:#?}");
    assert_eq!(found.gravity, Gravity::Warning);
}

#[test]
fn only_the_part_of_a_box_inside_the_tensor_is_read() {
    // Two rows of 64 bytes in shared memory, of which the tensor's columns take 48 with the rounding.
    let words: String = (0..12)
        .map(|i| format!("@%p1 st.shared.u32 [%r1+{}], 1; ", 4 * i))
        .collect();
    let second: String = (0..12)
        .map(|i| format!("@%p1 st.shared.u32 [%r1+{}], 1; ", 64 + 4 * i))
        .collect();
    let body = format!(
        "{words}{second}@%p1 fence.proxy.async.shared::cta; mov.u64 %d3, map; cvta.param.u64 %d3, %d3; \
         @%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d3, {{0, 0}}], [%r1]; \
         @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;"
    );
    finds(&body, block(32), Kind::RowEnd, &["cp.async.bulk.tensor"]);
}

#[test]
fn a_buffer_is_not_used_after_it_was_freed() {
    let (findings, _) = check_with("ld.global.u32 %r6, [%in+8];", block(1), |simulator, buffers| {
        simulator.free(buffers[0]).expect("memory");
    });
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!(findings[0].kind, Kind::UseAfterFree);
    assert!(
        findings[0].message.contains("8 bytes into an allocation of 4096 bytes"),
        "{findings:#?}"
    );
}

#[test]
fn accesses_outside_are_told_with_their_allocation() {
    let found = finds(
        "st.global.u32 [%in+4100], 1;",
        block(1),
        Kind::OutOfBounds,
        &["st.global"],
    );
    assert!(
        found
            .message
            .contains("4 bytes past the end of the allocation of 4096 bytes"),
        "{found:#?}"
    );
    finds("st.global.u32 [%in+2], 1;", block(1), Kind::Misaligned, &["st.global"]);
}
