//! What the checks of memory find: each kernel has one mistake, and is clean without it.
use girih_core::device::{Device, Launch};
use girih_core::tensor_map::{Fill, Format, Interleave, L2Promotion, Mode, Swizzle, TensorMap};
use girih_sim::Simulator;
use girih_sim::check::{Finding, Gravity, Kind};

const HEAD: &str =
    ".version 8.6\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 s[4096]; .shared .align 8 .b64 bar[4];\n";
/// Bytes of the two buffers.
const BYTES: usize = 4096;

#[derive(Clone, Copy)]
struct Shape {
    grid: u32,
    block: u32,
    cluster: u32,
}

const fn block(threads: u32) -> Shape {
    Shape {
        grid: 1,
        block: threads,
        cluster: 1,
    }
}

/// What the checks say of a kernel, with the kernel's text by lines. `%in` is a buffer of ones, `%out` one that nothing
/// wrote, `map` a tensor of ten 32-bit columns over `%in`; `%r1` is `s`, `%r2` the first mbarrier; `%p1` holds in thread
/// 0, `%p2` in warp 0. Each instruction has a line of its own.
fn check_with(
    body: &str,
    shape: Shape,
    change: impl FnOnce(&mut Simulator, [girih_core::device::Buffer; 2]),
) -> (Vec<Finding>, Vec<String>) {
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 in, .param .u64 out, .param .align 64 .b8 map[128]) {{\n\
         .local .align 8 .b8 stack[64];\n\
         .reg .pred %p<8>; .reg .b32 %r<32>; .reg .f32 %f<16>; .reg .b64 %d<16>; .reg .b64 %in, %out; .reg .b32 %t;\n\
         ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %r1, s; mov.u32 %r2, bar;\n\
         setp.eq.u32 %p1, %t, 0; setp.lt.u32 %p2, %t, 32;\n{}\nret;\n}}\n",
        body.replace("; ", ";\n")
    );
    let mut simulator = Simulator::new();
    simulator.set_instruction_limit(10_000_000);
    simulator.set_checks(true);
    let module = simulator.load(&text).unwrap_or_else(|e| panic!("{e}"));
    let buffers = [(); 2].map(|()| simulator.allocate(BYTES).expect("memory"));
    simulator.write(buffers[0], 0, &[1; BYTES]).expect("memory");
    let map = TensorMap {
        format: Format::U32,
        address: buffers[0].address,
        dims: vec![10, 16],
        strides: vec![64],
        mode: Mode::Tiled { box_dims: vec![16, 2] },
        element_strides: vec![1, 1],
        interleave: Interleave::None,
        swizzle: Swizzle::None,
        fill: Fill::Zero,
        l2_promotion: L2Promotion::None,
    };
    let map = simulator.encode_tensor_map(&map).expect("map");
    let address = |i: usize| buffers[i].address.to_le_bytes().to_vec();
    let params = [address(0), address(1), map.to_vec()];
    change(&mut simulator, buffers);
    let launch = Launch {
        kernel: "k",
        grid: [shape.grid, 1, 1],
        block: [shape.block, 1, 1],
        cluster: [shape.cluster, 1, 1],
        dynamic_shared_bytes: 0,
        cooperative: false,
        params: &params,
    };
    // A fault is a finding as well.
    let _ = simulator.launch(module, &launch);
    (simulator.take_findings(), text.lines().map(str::to_owned).collect())
}

fn check(body: &str, shape: Shape) -> Vec<Finding> {
    check_with(body, shape, |_, _| {}).0
}

fn clean(body: &str, shape: Shape) {
    let findings = check(body, shape);
    assert!(findings.is_empty(), "{body}\n{findings:#?}");
}

/// The kernel has one finding, of a kind, and its places are at instructions with these words.
fn finds(body: &str, shape: Shape, kind: Kind, places: &[&str]) -> Finding {
    let (findings, lines) = check_with(body, shape, |_, _| {});
    assert_eq!(findings.len(), 1, "{body}\n{findings:#?}");
    let finding = findings[0].clone();
    assert_eq!(finding.kind, kind, "{finding:#?}");
    let at: Vec<&str> = finding
        .places
        .iter()
        .map(|p| lines[p.ptx_line as usize - 1].as_str())
        .collect();
    assert_eq!(at.len(), places.len(), "{finding:#?}");
    for (line, words) in at.iter().zip(places) {
        assert!(line.contains(words), "{line}: expected {words}\n{finding:#?}");
    }
    finding
}

/// Thread 0 loads `bytes` of `%in` to `s` by a bulk copy that completes at the first mbarrier.
fn load(bytes: u32) -> String {
    format!(
        "@%p1 mbarrier.init.shared::cta.b64 [%r2], 1; @%p1 fence.mbarrier_init.release.cluster; bar.sync 0; \
         @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 %d7, [%r2], {bytes}; \
         @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%in], {bytes}, [%r2]; "
    )
}

/// All threads wait for phase 0 of the first mbarrier.
const WAIT: &str = "W0: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 0; @!%p3 bra W0; ";
/// `%r4` is the thread's word of `s`, `%r5` the word of the thread 32 further on.
const WORDS: &str = "shl.b32 %r4, %t, 2; add.u32 %r4, %r4, %r1; xor.b32 %r5, %t, 32; shl.b32 %r5, %r5, 2; \
                     add.u32 %r5, %r5, %r1; ";

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
