//! Programs that get nowhere, or whose threads part at what needs them together: what is said of them.
mod common;

use common::{Setting, has_all as all, launch};
use girih_core::device::DeviceError;
use girih_sim::check::{Finding, Gravity, Kind};

const HEAD: &str =
    ".version 8.6\n.target sm_90a\n.address_size 64\n.shared .align 128 .b8 s[4096]; .shared .align 8 .b64 bar[2];\n";

/// The error of a kernel of one block over 4 KiB of global memory at `%in`, and what the checks say. `%r1` is `s`, `%r2` the
/// first mbarrier, `%p1` holds in thread 0, `%p2` in warp 0.
fn run_with(directives: &str, body: &str, threads: u32) -> (Option<DeviceError>, Vec<Finding>) {
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 in) {directives} {{\n\
         .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %d<8>; .reg .b64 %in; .reg .b32 %t;\n\
         ld.param.u64 %in, [in]; mov.u32 %t, %tid.x; mov.u32 %r1, s; mov.u32 %r2, bar;\n\
         setp.eq.u32 %p1, %t, 0; setp.lt.u32 %p2, %t, 32;\n{body}\nret;\n}}\n"
    );
    let outcome = launch(
        &text,
        &Setting {
            limit: Some(10_000_000),
            checks: true,
            memory: &[1; 4096],
            params: &[],
            grid: 1,
            threads,
        },
    );
    (outcome.error, outcome.findings)
}

fn run(body: &str, threads: u32) -> (Option<DeviceError>, Vec<Finding>) {
    run_with("", body, threads)
}

/// The text of a deadlock, whose finding must agree with it.
fn deadlock(body: &str, threads: u32) -> (String, Finding) {
    let (error, findings) = run(body, threads);
    let error = error.expect("the launch fails");
    assert_eq!(error.code.as_deref(), Some("CUDA_ERROR_LAUNCH_TIMEOUT"), "{error}");
    assert!(error.message.contains("deadlock"), "{error}");
    let finding = findings.into_iter().find(|f| f.kind == Kind::Deadlock);
    (error.message, finding.expect("a finding"))
}

/// The one finding of a kind in a program that ends.
fn finding(directives: &str, body: &str, threads: u32, kind: Kind) -> Finding {
    let (error, findings) = run_with(directives, body, threads);
    assert!(error.is_none(), "{error:?}");
    let mut of_kind: Vec<Finding> = findings.iter().filter(|f| f.kind == kind).cloned().collect();
    assert_eq!(of_kind.len(), 1, "{findings:#?}");
    of_kind.remove(0)
}

/// Of the kinds of this file: the programs may do anything else.
fn nothing_found(body: &str, threads: u32) {
    let (error, findings) = run(body, threads);
    assert!(error.is_none(), "{error:?}");
    let kinds = [
        Kind::BarrierDivergence,
        Kind::BarrierObject,
        Kind::Deadlock,
        Kind::TransactionCount,
    ];
    let of_kinds: Vec<&Finding> = findings.iter().filter(|f| kinds.contains(&f.kind)).collect();
    assert!(of_kinds.is_empty(), "{of_kinds:#?}");
}

fn lines(finding: &Finding) -> Vec<u32> {
    finding.places.iter().map(|p| p.ptx_line).collect()
}

/// Line of the body's first line.
const BODY: u32 = 9;

const INIT: &str = "@%p1 mbarrier.init.shared::cta.b64 [%r2], 1; bar.sync 0;\n";
const COPY: &str =
    "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%in], 1024, [%r2];\n";

fn expect(bytes: u32) -> String {
    format!("@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], {bytes};\n")
}

fn wait(parity: u32) -> String {
    format!("W{parity}: mbarrier.try_wait.parity.shared::cta.b64 %p6, [%r2], {parity}; @!%p6 bra W{parity};\n")
}

#[test]
fn a_missing_arrival_names_who_waits_and_how_many_lack() {
    let body = "@%p1 mbarrier.init.shared::cta.b64 [%r2], 2; bar.sync 0;\n\
        @%p1 mbarrier.arrive.shared::cta.b64 _, [%r2];\n";
    let (text, finding) = deadlock(&format!("{body}{}", wait(0)), 64);
    all(
        &text,
        &[
            "64 threads (warps 0-1) wait at line 11 for parity 0 of the mbarrier at shared address 0x1400:",
            "1 of 2 arrivals have come (by line 10) in phase 0, of parity 0",
            "1 arrival is missing: let every arrival come, or initialise it for 1 arrival at line 9",
            "at PTX line 11: W0: mbarrier.try_wait",
        ],
    );
    assert_eq!(lines(&finding), [BODY + 2]);
    assert!(finding.remedy.contains("1 arrival is missing"), "{finding:?}");
}

#[test]
fn a_loop_of_tests_without_an_end_is_found_soon() {
    let body = format!("{INIT}W: mbarrier.test_wait.parity.shared::cta.b64 %p6, [%r2], 0; @!%p6 bra W;");
    let (text, _) = deadlock(&body, 64);
    all(
        &text,
        &[
            "64 threads (warps 0-1) wait at line 10 for parity 0",
            "0 of 1 arrivals have come in phase 0",
        ],
    );
    let naps =
        format!("{INIT}W: nanosleep.u32 20; mbarrier.test_wait.parity.shared::cta.b64 %p6, [%r2], 0; @!%p6 bra W;");
    let (text, _) = deadlock(&naps, 64);
    all(&text, &["64 threads (warps 0-1) wait at line 10 for parity 0"]);
}

#[test]
fn who_arrived_in_the_phase_before_and_not_in_this_is_named() {
    let body = "@%p1 mbarrier.init.shared::cta.b64 [%r2], 64; bar.sync 0;\n\
        mbarrier.arrive.shared::cta.b64 _, [%r2];\n";
    let again = "@%p2 mbarrier.arrive.shared::cta.b64 _, [%r2];\n";
    let (text, _) = deadlock(&format!("{body}{}{again}{}bar.sync 1;", wait(0), wait(1)), 64);
    all(
        &text,
        &[
            "32 of 64 arrivals have come (by line 12) in phase 1, of parity 1",
            "missing: 32 threads (warp 1) at line 13, which arrived in the phase before",
        ],
    );
}

#[test]
fn a_flipped_parity_is_told() {
    let body = format!("{INIT}{}{COPY}{}", expect(1024), wait(1));
    nothing_found(&format!("{INIT}{}{COPY}{}", expect(1024), wait(0)), 32);
    // Parity 1 passes on the fresh barrier; the next wait, for parity 1 again, is for a phase that nobody fills.
    let twice = format!(
        "{body}bar.sync 0;\n{}",
        "W3: mbarrier.try_wait.parity.shared::cta.b64 %p6, [%r2], 0; @!%p6 bra W3;\nbar.sync 0;\n\
         W4: mbarrier.try_wait.parity.shared::cta.b64 %p6, [%r2], 1; @!%p6 bra W4;"
    );
    let (text, _) = deadlock(&twice, 32);
    all(
        &text,
        &["for parity 1", "0 of 1 arrivals have come in phase 1, of parity 1"],
    );
    let flipped = format!(
        "{INIT}@%p1 mbarrier.arrive.shared::cta.b64 _, [%r2]; bar.sync 0;\n{}",
        wait(1)
    );
    let (text, finding) = deadlock(&flipped, 32);
    all(
        &text,
        &[
            "the parity looks flipped: phase 0, of parity 0, is over and the thread has not waited for it; wait for parity 0",
        ],
    );
    assert!(finding.remedy.starts_with("the parity looks flipped"), "{finding:?}");
}

#[test]
fn a_parity_that_never_changes_is_told() {
    let arrive = "@%p1 mbarrier.arrive.shared::cta.b64 _, [%r2]; bar.sync 0;\n";
    let body = format!(
        "{INIT}mov.u32 %r3, 0;\nL: {arrive}{}add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 4; @%p3 bra L;",
        wait(0)
    );
    let (text, _) = deadlock(&body, 32);
    all(
        &text,
        &["the parity looks flipped", "change the parity after each phase"],
    );
}

#[test]
fn too_many_expected_bytes_name_both_numbers() {
    let body = format!("{INIT}{}{COPY}{}", expect(2048), wait(0));
    let (text, finding) = deadlock(&body, 32);
    all(
        &text,
        &[
            "1 of 1 arrivals have come (by line 10) in phase 0, of parity 0, 1024 bytes (by line 11) of 2048 expected (by line 10)",
            "2048 bytes are expected, but the copies of this phase bring 1024: expect 1024 bytes, or copy the 1024 that are missing",
        ],
    );
    assert!(finding.remedy.contains("expect 1024 bytes"), "{finding:?}");
    let (_, findings) = run(&body, 32);
    assert!(
        findings.iter().any(|f| f.kind == Kind::TransactionCount),
        "{findings:#?}"
    );
    let none = format!("{INIT}{}{}", expect(2048), wait(0));
    all(&deadlock(&none, 32).0, &["no copy that names this mbarrier was issued"]);
}

#[test]
fn too_few_expected_bytes_are_told_though_the_wait_ends() {
    let second = COPY.replace("[%r1]", "[%r1+1024]");
    let body = format!("{INIT}{}{COPY}{second}{}", expect(1024), wait(0));
    let found = finding("", &body, 32, Kind::TransactionCount);
    all(
        &found.message,
        &[
            "phase 0 of the mbarrier at shared address 0x1400 expects 1024 bytes",
            "bring at least 2048",
        ],
    );
    all(&found.remedy, &["2048 here"]);
    assert_eq!(lines(&found), [BODY + 3, BODY + 1]);
}

#[test]
fn bytes_that_never_came_are_told_at_the_end() {
    let found = finding("", &format!("{INIT}{}", expect(512)), 32, Kind::TransactionCount);
    all(
        &found.message,
        &["expects 512 bytes and got 0", "ended with 512 bytes that never came"],
    );
}

#[test]
fn a_transaction_count_out_of_range_ends_the_launch() {
    let body = format!(
        "{INIT}@%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 1048575;\n@%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 1;"
    );
    let (error, findings) = run(&body, 32);
    let error = error.expect("the launch fails");
    assert_eq!(error.code.as_deref(), Some("CUDA_ERROR_ILLEGAL_INSTRUCTION"));
    all(
        &error.message,
        &[
            "transaction count 1048576",
            "this phase expects 1048575 bytes (by line 10)",
            "PTX line 11",
        ],
    );
    assert_eq!(findings[0].kind, Kind::TransactionCount);
}

#[test]
fn a_barrier_in_use_is_not_initialised_again() {
    let found = finding(
        "",
        &format!("{INIT}@%p1 mbarrier.init.shared::cta.b64 [%r2], 1;"),
        32,
        Kind::BarrierObject,
    );
    all(
        &found.message,
        &["the mbarrier at shared address 0x1400 is initialised again while it is in use"],
    );
    all(&found.remedy, &["mbarrier.inval"]);
    assert_eq!(lines(&found), [BODY + 1, BODY]);
    nothing_found(
        &format!("{INIT}@%p1 mbarrier.inval.shared::cta.b64 [%r2];\n@%p1 mbarrier.init.shared::cta.b64 [%r2], 1;"),
        32,
    );
}

#[test]
fn barriers_before_their_begin_and_after_their_end_are_told() {
    let arrive = "@%p1 mbarrier.arrive.shared::cta.b64 _, [%r2];";
    let (error, findings) = run(arrive, 32);
    all(
        &error.expect("a fault").message,
        &["this mbarrier is not initialised", "mbarrier.init"],
    );
    assert_eq!(findings[0].kind, Kind::BarrierObject);
    let (error, _) = run(
        &format!("{INIT}@%p1 mbarrier.inval.shared::cta.b64 [%r2];\n{arrive}"),
        32,
    );
    all(
        &error.expect("a fault").message,
        &["mbarrier.inval at line 10 ended it"],
    );
    let (error, _) = run(&format!("{INIT}@%p1 st.shared.b64 [%r2], 7;\n{arrive}"), 32);
    all(
        &error.expect("a fault").message,
        &["initialised at line 9, and its bytes have been overwritten since"],
    );
    let (error, findings) = run(&format!("{INIT}@%p2 mbarrier.arrive.shared::cta.b64 _, [%r2], 2;"), 32);
    all(
        &error.expect("a fault").message,
        &["2 arrivals at an mbarrier with 1 pending", "initialised at line 9"],
    );
    assert_eq!(findings[0].kind, Kind::BarrierObject);
}

#[test]
fn a_barrier_in_a_branch_of_a_warp_names_both_sides() {
    let body = "setp.lt.u32 %p3, %t, 16; @%p3 bra A;\nbar.sync 0; bra E;\nA: bar.sync 0;\nE:";
    let found = finding("", body, 32, Kind::BarrierDivergence);
    all(
        &found.message,
        &["barrier 0 needs all lanes of warp 0 at one instruction, found its lanes at 2 different instructions"],
    );
    assert_eq!(lines(&found), [BODY + 1, BODY + 2]);
    all(&found.places[1].what, &["lanes 0-15 of warp 0 are at barrier 0"]);
    nothing_found(&body.replace("bar.sync", "barrier.sync"), 32);
    nothing_found("setp.lt.u32 %p3, %t, 16; @%p3 bra A; ret;\nA: barrier.sync 0;", 32);
}

#[test]
fn a_barrier_that_half_a_warp_waits_at_says_where_the_others_are() {
    let body = "setp.lt.u32 %p3, %t, 16; @%p3 bra A;\nbar.sync 1; bra E;\nA: bar.sync 0;\nE:";
    let (text, finding) = deadlock(body, 32);
    all(
        &text,
        &[
            "16 threads (lanes 16-31 of warp 0) wait at line 10 for barrier 1: 16 of 32 threads have arrived",
            "missing: 16 threads (lanes 0-15 of warp 0) at line 11",
            "the barrier needs all lanes of warp 0 at one instruction",
        ],
    );
    assert_eq!(lines(&finding), [BODY + 1, BODY + 2]);
}

#[test]
fn a_shuffle_that_half_a_warp_executes_says_where_the_others_are() {
    let body =
        "setp.lt.u32 %p3, %t, 16; @%p3 bra A;\nbar.warp.sync -1; bra E;\nA: shfl.sync.idx.b32 %r3, %t, 0, 31, -1;\nE:";
    let (text, _) = deadlock(body, 32);
    all(
        &text,
        &["wait at line 11 for lanes 16-31 of the warp: 16 threads (lanes 16-31 of warp 0) at line 10"],
    );
    let (_, findings) = run(body, 32);
    assert!(
        findings.iter().any(|f| f.kind == Kind::BarrierDivergence),
        "{findings:#?}"
    );
}

#[test]
fn an_election_in_a_part_of_a_warp_waits_for_the_rest() {
    let body = "setp.lt.u32 %p3, %t, 16; @!%p3 bra E;\nelect.sync %r3|%p4, -1;\nE: bar.warp.sync -1;";
    let (text, _) = deadlock(body, 32);
    all(
        &text,
        &["16 threads (lanes 0-15 of warp 0) wait at line 10 for lanes 16-31 of the warp"],
    );
}

#[test]
fn different_thread_counts_at_a_barrier_are_refused() {
    let (error, findings) = run("@%p2 bar.sync 1, 64; @!%p2 bar.sync 1, 96;", 64);
    all(
        &error.expect("a fault").message,
        &["96 threads at barrier 1, but earlier arrivals of this phase said 64 (line 9)"],
    );
    assert_eq!(findings[0].kind, Kind::BarrierDivergence);
    let (error, _) = run("and.b32 %r3, %t, 1; bar.sync %r3;", 32);
    all(
        &error.expect("a fault").message,
        &["different barriers: lane 0 barrier 0, lane 1 barrier 1"],
    );
}

#[test]
fn threads_that_exited_are_missed_by_a_count() {
    let body = "@!%p2 bra S;\nret;\nS: bar.sync 1, 96;";
    let (text, finding) = deadlock(body, 96);
    all(
        &text,
        &[
            "64 threads (warps 1-2) wait at line 11 for barrier 1: 64 of 96 threads have arrived",
            "32 threads of the block exited at line 10",
        ],
    );
    all(
        &finding.remedy,
        &["let 32 threads more arrive before they exit, or wait for 64 only"],
    );
}

#[test]
fn registers_that_the_block_does_not_have_are_a_deadlock() {
    let body = "setp.lt.u32 %p3, %t, 128; @%p3 bra P;\nsetmaxnreg.inc.sync.aligned.u32 248; bra E;\n\
        P: setmaxnreg.dec.sync.aligned.u32 40;\nE: bar.sync 0;";
    let (error, _) = run_with(".reqntid 384, 1, 1", body, 384);
    let text = error.expect("a deadlock").message;
    all(
        &text,
        &[
            "wait at line 10 for 248 registers a thread",
            "a warp needs 2560 more, the pool has 1024 of the block's 64512",
            "setmaxnreg.dec",
        ],
    );
    let (error, findings) = run_with(".reqntid 384, 1, 1", &body.replace("248", "232"), 384);
    assert!(error.is_none() && findings.is_empty(), "{error:?} {findings:#?}");
}

#[test]
fn a_part_of_a_warpgroup_that_changes_its_registers_is_told() {
    let body = "@!%p2 bra E;\nsetmaxnreg.dec.sync.aligned.u32 40;\nE: bar.sync 0;";
    let found = finding(".reqntid 128, 1, 1", body, 128, Kind::BarrierDivergence);
    all(
        &found.message,
        &[
            "all four warps of a warpgroup must execute the same setmaxnreg",
            "warps [1, 2, 3] do not execute it",
        ],
    );
    assert_eq!(lines(&found), [BODY + 1]);
}

#[test]
fn a_second_change_of_registers_in_the_wrong_direction_is_told() {
    let body = "setmaxnreg.dec.sync.aligned.u32 40; bar.sync 0;\nsetmaxnreg.dec.sync.aligned.u32 48;";
    let found = finding(".maxnreg 64", body, 128, Kind::IllegalInstruction);
    all(
        &found.message,
        &["setmaxnreg.dec to 48 registers, but a thread of the warp has 40"],
    );
    assert_eq!((lines(&found), found.gravity), (vec![BODY + 1], Gravity::Warning));
}

#[test]
fn a_warpgroup_that_parts_at_a_product_is_told() {
    let product = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r4, %r5, %r6, %r7}, %d2, %d2, 1, 1, 1, 0, 0;";
    let body = |others: &str| {
        format!(
            "mov.b64 %d2, 64; mov.b32 %r4, 0; mov.b32 %r5, 0; mov.b32 %r6, 0; mov.b32 %r7, 0;\n\
             @%p2 bra A;\n{others} bra E;\nA: {product}\nE: bar.sync 0;"
        )
    };
    let (error, findings) = run(&body(product), 128);
    let error = error.expect("a fault").message;
    all(
        &error,
        &[
            "the warps of a warpgroup execute different wgmma instructions",
            "are at line 12",
        ],
    );
    assert!(
        findings.iter().any(|f| f.kind == Kind::BarrierDivergence),
        "{findings:#?}"
    );
    let (text, _) = deadlock(&body(""), 128);
    all(
        &text,
        &[
            "32 threads (warp 0) wait at line 12 for the other warps of its warpgroup, 0 to 3: 96 threads (warps 1-3) at line 13",
            "let all four warps of the warpgroup execute the same wgmma",
        ],
    );
}

#[test]
fn a_predicate_at_a_barrier_of_whole_warps_parts_the_warp_even_if_the_others_exit() {
    // The lanes that pass by exit, so the barrier ends with those that came.
    let part = "and.b32 %r3, %t, 31; setp.lt.u32 %p3, %r3, 16;\n";
    let body = format!("{part}@%p3 bar.sync 0;");
    let found = finding("", &body, 64, Kind::BarrierDivergence);
    all(
        &found.message,
        &["barrier 0 needs all lanes of warp 0 at one instruction, found lanes 0-15 alone"],
    );
    all(
        &found.places[0].what,
        &["lanes 0-15 of warp 0 are at barrier 0, lanes 16-31 pass it by: their predicate is false"],
    );
    assert_eq!(lines(&found), [BODY + 1]);
    let body = format!("{part}@%p3 barrier.cluster.arrive.aligned; @%p3 barrier.cluster.wait.aligned;");
    let found = finding("", &body, 64, Kind::BarrierDivergence);
    all(
        &found.message,
        &["the barrier of the cluster needs all lanes of warp 0 at one instruction"],
    );
    // Whole warps may stay away, and without .aligned so may lanes.
    nothing_found("@%p2 bar.arrive 1, 64; @!%p2 bar.sync 1, 64;", 64);
    nothing_found(&format!("{part}@%p3 barrier.sync 1;"), 32);
    nothing_found(
        &format!("{part}@%p3 barrier.cluster.arrive; @%p3 barrier.cluster.wait;"),
        32,
    );
}

#[test]
fn lanes_that_exit_past_a_barrier_of_whole_warps_are_missed() {
    let part = |barrier: &str| format!("setp.lt.u32 %p3, %t, 5;\n@!%p3 bra E;\n{barrier}\nE:");
    let body = part("bar.sync 0;");
    let found = finding("", &body, 64, Kind::BarrierDivergence);
    all(
        &found.message,
        &["barrier 0 needs all lanes of warp 0 at one instruction, found lanes 0-4 alone"],
    );
    // CUDA lets threads exit before a barrier; PTX does not.
    assert_eq!(found.gravity, Gravity::Warning);
    all(&found.places[0].what, &["lanes 0-4 of warp 0 are at barrier 0"]);
    all(&found.places[1].what, &["lanes 5-31 of warp 0 have exited"]);
    let body = part("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;");
    let found = finding("", &body, 64, Kind::BarrierDivergence);
    all(
        &found.message,
        &["the barrier of the cluster needs all lanes of warp 0 at one instruction, found lanes 0-4 alone"],
    );
    // Each thread as often as its number says.
    let found = finding(
        "",
        "mov.u32 %r3, 0;\nL: setp.ge.u32 %p3, %r3, %t; @%p3 bra E;\nbar.sync 0; add.u32 %r3, %r3, 1; bra L;\nE:",
        32,
        Kind::BarrierDivergence,
    );
    all(&found.message, &["found lanes 1-31 alone"]);
    // Whole warps may exit, a warp may be born with less, and without .aligned lanes may exit too.
    nothing_found("@!%p2 bra E;\nbar.sync 0;\nE:", 64);
    nothing_found(
        "bar.sync 0; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
        40,
    );
    nothing_found(&part("barrier.sync 0;"), 64);
    nothing_found(&part("barrier.cluster.arrive; barrier.cluster.wait;"), 64);
}
