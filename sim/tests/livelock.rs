//! Loops that nobody is left to end: what is said of them, and that loops which end are left alone.
mod common;

use common::{Setting, has_all, launch};
use girih_core::device::DeviceError;
use girih_sim::check::{Finding, Kind};

/// The error of a kernel over 4 KiB of zeros at `%in`, what the checks say, and the first word afterwards. `%r1` is shared
/// memory, `%p1` holds in thread 0 of a block, `%p2` in block 0.
fn run_with(checks: bool, body: &str, grid: u32, threads: u32) -> (Option<DeviceError>, Vec<Finding>, u32) {
    let text = format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n.shared .align 128 .b8 s[4096];\n\
         .visible .entry k(.param .u64 in) {{\n\
         .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %d<8>; .reg .b64 %in; .reg .b32 %t;\n\
         ld.param.u64 %in, [in]; mov.u32 %t, %tid.x; mov.u32 %r1, s; mov.u32 %r2, %ctaid.x;\n\
         setp.eq.u32 %p1, %t, 0; setp.eq.u32 %p2, %r2, 0;\n{body}\nret;\n}}\n"
    );
    let outcome = launch(
        &text,
        &Setting {
            limit: Some(2_000_000_000),
            checks,
            memory: &[0; 4096],
            params: &[],
            grid,
            threads,
        },
    );
    (outcome.error, outcome.findings, outcome.word)
}

/// Line of the body's first line.
const BODY: u32 = 9;

fn livelock(body: &str, grid: u32, threads: u32, parts: &[&str]) {
    let (error, ..) = run_with(false, body, grid, threads);
    let error = error.expect("the launch fails");
    assert_eq!(error.code.as_deref(), Some("CUDA_ERROR_LAUNCH_TIMEOUT"), "{error}");
    let head = "livelock: every thread of the grid waits or repeats itself, and nobody is left to change what it reads";
    has_all(&error.message, &[head]);
    has_all(&error.message, parts);
}

fn ends(body: &str, grid: u32, threads: u32, result: u32) {
    let (error, _, word) = run_with(false, body, grid, threads);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(word, result);
}

#[test]
fn a_flag_that_nobody_sets() {
    let body = "W: ld.volatile.global.u32 %r3, [%in+16]; setp.ne.u32 %p3, %r3, 1; @%p3 bra W;";
    let parts = [
        "32 threads (warp 0) spin forever at line 9, waiting for the 4 bytes at global address 0x7f00000",
        "(16 bytes into its allocation), value 0x0, to change; nobody is left to write there",
        "let a thread that neither waits nor has exited write what is waited for",
        "at PTX line 9: W: ld.volatile.global.u32",
        "in `k`, block [0, 0, 0], thread [0, 0, 0]",
    ];
    livelock(body, 1, 32, &parts);
    let (error, findings, _) = run_with(true, body, 1, 32);
    assert!(error.expect("an error").message.contains("livelock"));
    let found = findings.iter().find(|f| f.kind == Kind::Deadlock).expect("a finding");
    assert_eq!(found.places[0].ptx_line, BODY);
    assert!(found.remedy.contains("write what is waited for"), "{found:?}");
}

#[test]
fn a_lock_that_nobody_gives_back() {
    // A word is held at 1 by a thread that has exited: compare-and-swap, exchange and or change nothing.
    for take in [
        "atom.global.cas.b32 %r3, [%in], 0, 1",
        "atom.global.exch.b32 %r3, [%in], 1",
        "atom.global.or.b32 %r3, [%in], 1",
    ] {
        let body = format!("W: {take}; setp.ne.u32 %p3, %r3, 0; @%p3 bra W;");
        livelock(
            &body,
            2,
            1,
            &["at line 9, waiting for the 4 bytes at global address", "value 0x1,"],
        );
    }
}

/// A poll of a whole block: thread 0 reads by `read`, all others take what it found from shared memory, and `wait` is true
/// as long as `%r4` says so.
fn block_poll(read: &str, wait: &str) -> String {
    format!(
        "W: bar.sync 0; @%p1 {read};\n@%p1 st.shared.u32 [%r1], %r3; bar.sync 0;\n\
         ld.shared.u32 %r4, [%r1]; {wait} %p3, %r4, 0; @%p3 bra W;\n"
    )
}

#[test]
fn polls_of_whole_blocks_meet_at_barriers_and_change_nothing() {
    for read in [
        "atom.acquire.gpu.global.or.b32 %r3, [%in], 0",
        "atom.acquire.gpu.global.add.u32 %r3, [%in], 0",
        "atom.acquire.gpu.global.cas.b32 %r3, [%in], 1, 0",
        "ld.acquire.gpu.global.u32 %r3, [%in]",
    ] {
        for (grid, threads) in [(1, 32), (2, 96)] {
            let parts = [
                "thread [0, 0, 0] spins forever at line 9, waiting for the 4 bytes at",
                "(0 bytes into its allocation), value 0x0, or the 4 bytes at shared address 0x400",
                "spin forever at line 11, waiting for the 4 bytes at shared address 0x400, value 0x0, to change",
            ];
            livelock(&block_poll(read, "setp.eq.u32"), grid, threads, &parts);
        }
    }
}

#[test]
fn a_poll_that_shuffles_what_it_found() {
    // Lanes that read nothing go round with the one that does.
    let body = "W: bar.sync 0; mov.u32 %r3, 0; @%p1 atom.global.or.b32 %r3, [%in], 0;\n\
        bar.sync 0; shfl.sync.idx.b32 %r4, %r3, 0, 31, -1; setp.eq.u32 %p3, %r4, 0; @%p3 bra W;";
    let parts = [
        "thread [0, 0, 0] spins forever at line 9, waiting for the 4 bytes at global address",
        "31 threads (lanes 1-31 of warp 0) spin forever at line",
        "going round with threads that wait for memory to change",
    ];
    livelock(body, 1, 32, &parts);
}

#[test]
fn some_wait_at_one_barrier_and_others_meet_at_another() {
    let body = "setp.ge.u32 %p4, %t, 32; @%p4 bra B;\n\
        W: bar.sync 2, 32; ld.volatile.global.u32 %r3, [%in]; setp.eq.u32 %p3, %r3, 0; @%p3 bra W;\n\
        B: bar.sync 1; @%p4 st.volatile.global.u32 [%in], 1;";
    let parts = [
        "32 threads (warp 0) spin forever at line 10, waiting for the 4 bytes at global address",
        "32 threads (warp 1) wait at line 11 for barrier 1: 32 of 64 threads have arrived",
    ];
    livelock(body, 1, 64, &parts);
}

#[test]
fn loops_that_meet_at_barriers_and_end_are_left_alone() {
    // With checks, which are slow, less is long.
    for (checks, many) in [(false, 400_000), (true, 40_000)] {
        a_count_and_a_handshake(checks, many);
    }
}

fn a_count_and_a_handshake(checks: bool, many: u32) {
    let ends = |body: &str, grid: u32, result: u32| {
        let (error, _, word) = run_with(checks, body, grid, 32);
        assert!(error.is_none(), "checks {checks}: {error:?}");
        assert_eq!(word, result, "checks {checks}");
    };
    // A count decides; it is the only thing that changes.
    let body = format!(
        "mov.u32 %r4, 0;\nL: bar.sync 0; add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, {}; @%p3 bra L; @%p1 st.global.u32 [%in], 8;",
        12 * many
    );
    ends(&body, 1, 8);
    // Two blocks hand a flag to and fro. Each polls with all threads, and counts for long before it answers.
    let wait = |name: &str, at: u32| {
        let poll = block_poll(&format!("ld.acquire.gpu.global.u32 %r3, [%in+{at}]"), "setp.ne.u32");
        let poll = poll
            .replace("W:", &format!("{name}:"))
            .replace("bra W", &format!("bra {name}"));
        poll.replace("%r4, 0;", "%r4, %r6;")
    };
    let count = |name: &str| {
        format!(
            "mov.u32 %r5, 0;\n{name}: bar.sync 0; add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, {many}; @%p3 bra {name};\n"
        )
    };
    let body = format!(
        "mov.u32 %r6, 0; @!%p2 bra C;\n\
         P: add.u32 %r6, %r6, 1;\n{}@%p1 st.release.gpu.global.u32 [%in+16], %r6;\n{}\
         setp.lt.u32 %p3, %r6, 3; @%p3 bra P; @%p1 st.global.u32 [%in], 9; bra E;\n\
         C: add.u32 %r6, %r6, 1;\n{}{}@%p1 st.release.gpu.global.u32 [%in+32], %r6;\n\
         setp.lt.u32 %p3, %r6, 3; @%p3 bra C; E:",
        count("CP"),
        wait("WP", 32),
        wait("WC", 16),
        count("CC"),
    );
    ends(&body, 2, 9);
}

#[test]
fn some_wait_at_a_barrier_for_those_that_spin() {
    let body = "@%p1 bra B; W: ld.volatile.shared.u32 %r3, [%r1]; setp.eq.u32 %p3, %r3, 0; @%p3 bra W;\n\
        B: bar.sync 0; @%p1 st.volatile.shared.u32 [%r1], 1;";
    let parts = [
        "spin forever at line 9, waiting for the 4 bytes at shared address 0x400, value 0x0, to change",
        "waits at line 10 for barrier 0",
    ];
    livelock(body, 1, 96, &parts);
}

#[test]
fn a_group_of_a_warp_spins_for_another_that_spins() {
    let body = "@%p1 bra B; W: ld.volatile.global.u32 %r3, [%in]; setp.eq.u32 %p3, %r3, 0; @%p3 bra W; bra E;\n\
        B: ld.volatile.global.u32 %r4, [%in+4]; add.u32 %r5, %r4, %r4; setp.eq.u32 %p3, %r5, 0; @%p3 bra B;\n\
        E: st.global.u32 [%in], 1; st.global.u32 [%in+4], 1;";
    let parts = [
        "31 threads (lanes 1-31 of warp 0) spin forever at line 9",
        "thread [0, 0, 0] spins forever at line 10",
    ];
    livelock(body, 1, 32, &parts);
}

#[test]
fn a_loop_that_reads_nothing() {
    livelock(
        "W: bra W;",
        1,
        32,
        &["spin forever at line 9, in a loop that reads no memory and changes nothing"],
    );
}

#[test]
fn counters_that_decide_nothing_do_not_hide_a_loop() {
    // Of 32 and 64 bits, of floats, of predicates, and one that is stored once the loop has ended.
    for count in [
        "add.u32 %r4, %r4, 1",
        "cvt.u64.u32 %d2, %t; add.u64 %d3, %d3, %d2; mad.wide.u32 %d3, %r4, 3, %d3; add.u32 %r4, %r4, 1",
        "cvt.rn.f32.u32 %f0, %r4; fma.rn.f32 %f1, %f0, %f0, %f1; add.u32 %r4, %r4, 1",
        "add.u32 %r4, %r4, 1; setp.lt.u32 %p4, %r4, 77; selp.b32 %r5, %r4, %r5, %p4; @%p4 add.u32 %r6, %r6, 1",
    ] {
        let body = format!(
            ".reg .f32 %f<4>; mov.u32 %r4, 0; mov.u64 %d3, 0; mov.f32 %f1, 0f00000000; mov.u32 %r5, 0; mov.u32 %r6, 0;\n\
             W: ld.volatile.global.u32 %r3, [%in+16]; {count}; setp.ne.u32 %p3, %r3, 1; @%p3 bra W; st.global.u32 [%in], %r4;"
        );
        let parts = ["32 threads (warp 0) spin forever at line 10, waiting for the 4 bytes at global address"];
        livelock(&body, 1, 32, &parts);
    }
}

#[test]
fn counters_that_decide_end_their_loops() {
    // By the count itself, by what is made of it, by the address that is read.
    for give_up in [
        "setp.eq.u32 %p4, %r4, 900000; @%p4 bra E",
        "shr.u32 %r5, %r4, 19; add.u32 %r6, %r5, 7; setp.eq.u32 %p4, %r6, 8; @%p4 bra E",
        "shr.u32 %r5, %r4, 19; cvt.u64.u32 %d2, %r5; shl.b64 %d2, %d2, 2; add.u64 %d2, %d2, %in; ld.global.u32 %r6, [%d2+32]; \
         setp.eq.u32 %p4, %r6, 9; @%p4 bra E",
    ] {
        let body = format!(
            "st.global.u32 [%in+36], 9; mov.u32 %r4, 0;\n\
             W: ld.volatile.global.u32 %r3, [%in+16]; add.u32 %r4, %r4, 1; {give_up}; setp.ne.u32 %p3, %r3, 1; @%p3 bra W;\n\
             E: st.global.u32 [%in], 6;"
        );
        for checks in [false, true] {
            let (error, _, word) = run_with(checks, &body, 1, 32);
            assert!(error.is_none(), "{give_up}, checks {checks}: {error:?}");
            assert_eq!(word, 6);
        }
    }
}

#[test]
fn a_barrier_of_all_blocks_with_more_than_fit() {
    // Each block arrives and waits for all, but 132 times 2 blocks of 1024 threads are resident together.
    let body = "bar.sync 0; @!%p1 bra E; red.global.add.u32 [%in], 1;\n\
        W: ld.volatile.global.u32 %r3, [%in]; mov.u32 %r4, %nctaid.x; setp.lt.u32 %p3, %r3, %r4; @%p3 bra W; E:";
    let parts = [
        "; 1 block has not begun, since 264 are as many as the device holds at once",
        "value 0x108,",
    ];
    livelock(body, 265, 1024, &parts);
    ends(body, 264, 1024, 264);
}

#[test]
fn waits_that_give_up_are_given_the_time() {
    // Thread 32 gives up its test of a phase that never ends, and sets what the others wait for.
    let body = "setp.eq.u32 %p4, %t, 32; @%p1 mbarrier.init.shared::cta.b64 [%r1], 1; bar.sync 0; @%p4 bra T;\n\
        W: ld.volatile.global.u32 %r3, [%in]; setp.eq.u32 %p3, %r3, 0; @%p3 bra W; bra E;\n\
        T: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r1], 0; @!%p5 st.volatile.global.u32 [%in], 7; E:";
    ends(body, 1, 64, 7);
}

#[test]
fn long_loops_that_end_are_left_alone() {
    // A thread counts for a long time before it writes what all others spin for, in its block and in others.
    let body = "and.pred %p4, %p1, %p2; @%p4 bra T;\n\
        W: ld.volatile.global.u32 %r3, [%in]; setp.eq.u32 %p3, %r3, 0; @%p3 bra W; bra E;\n\
        T: mov.u32 %r4, 0;\n\
        L: add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 2000000; @%p3 bra L; st.volatile.global.u32 [%in], 5; E:";
    ends(body, 3, 64, 5);
    // One that passes time in a clock's loop.
    let body = "mov.u64 %d1, %clock64;\n\
        L: mov.u64 %d2, %clock64; sub.u64 %d3, %d2, %d1; setp.lt.u64 %p3, %d3, 24000000; @%p3 bra L; st.global.u32 [%in], 3;";
    ends(body, 1, 32, 3);
    // One that stores a counter that goes round.
    let body = "mov.u32 %r4, 0;\n\
        L: ld.global.u32 %r5, [%in+8]; xor.b32 %r5, %r5, 1; st.global.u32 [%in+8], %r5; add.u32 %r4, %r4, 1;\n\
        setp.lt.u32 %p3, %r4, 3000000; @%p3 bra L; st.global.u32 [%in], 4;";
    ends(body, 1, 1, 4);
}

/// The same without checks and with them, which have one cluster run at a time.
fn ends_either_way(body: &str, grid: u32, result: u32) {
    for checks in [false, true] {
        let (error, _, word) = run_with(checks, body, grid, 32);
        assert!(error.is_none(), "checks {checks}: {error:?}");
        assert_eq!(word, result, "checks {checks}");
    }
}

#[test]
fn what_a_block_writes_as_its_last_is_seen_by_those_that_spin() {
    // Block 0 counts, sets the flag and exits; block 1 was found to spin by then, and computes for many rounds in registers
    // before it stores.
    let body = "@!%p2 bra W; mov.u32 %r4, 0;\n\
        C: add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 4000000; @%p3 bra C;\n\
        @%p1 st.volatile.global.u32 [%in+16], 1; bra E;\n\
        W: ld.volatile.global.u32 %r3, [%in+16]; setp.eq.u32 %p3, %r3, 0; @%p3 bra W;\n\
        .reg .f32 %f<2>; mov.f32 %f0, 0f3f800000; mov.u32 %r4, 0;\n\
        F: fma.rn.f32 %f0, %f0, %f0, %f0; add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 20000; @%p3 bra F;\n\
        @%p1 st.global.u32 [%in], %r4; E:";
    ends_either_way(body, 2, 20000);
}

#[test]
fn a_block_that_has_ended_does_not_count_as_one_that_spins() {
    // Block 0 computes throughout. Block 1 sets the flag late, and block 2, which was found to spin, ends with it.
    let body = "setp.eq.u32 %p4, %r2, 2; @%p4 bra W; mov.u32 %r5, 4000000; @%p2 mov.u32 %r5, 12000000; mov.u32 %r4, 0;\n\
        C: add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, %r5; @%p3 bra C;\n\
        @%p1 st.volatile.global.u32 [%in+16], 1; and.pred %p1, %p1, %p2; @%p1 st.global.u32 [%in], %r4; bra E;\n\
        W: ld.volatile.global.u32 %r3, [%in+16]; setp.eq.u32 %p3, %r3, 0; @%p3 bra W; E:";
    ends_either_way(body, 3, 12000000);
}
