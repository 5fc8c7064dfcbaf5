//! Threads that part and meet again, call, and wait for each other.
use super::support::{ONE_WARP, Program, STORE, Shape, warp};

#[test]
fn diverged_threads_meet_again() {
    let got = warp(
        "",
        "and.b32 %r2, %t, 3; setp.eq.u32 %p1, %r2, 1; @%p1 bra A; setp.eq.u32 %p2, %r2, 2; @%p2 bra B;\n\
         mov.u32 %r1, 100; bra C;\nA: mov.u32 %r1, 101; bra C;\nB: mov.u32 %r1, 102;\n\
         C: activemask.b32 %r3; popc.b32 %r3, %r3; mul.lo.u32 %r3, %r3, 1000; add.u32 %r1, %r1, %r3;",
    );
    let expected: Vec<u32> = (0..32).map(|t| 32000 + [100, 101, 102, 100][t % 4]).collect();
    assert_eq!(got, expected);
}

#[test]
fn threads_of_a_warp_may_wait_for_each_other() {
    // Each thread takes a lock, adds to a counter without an atomic, and gives the lock back.
    let got = warp(
        ".global .u32 lock; .global .u32 counter;",
        "mov.u64 %d2, lock; mov.u64 %d3, counter;\n\
         L: atom.global.acquire.gpu.cas.b32 %r2, [%d2], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra L;\n\
         ld.volatile.global.u32 %r1, [%d3]; add.u32 %r3, %r1, 1; st.volatile.global.u32 [%d3], %r3;\n\
         atom.global.release.gpu.exch.b32 %r4, [%d2], 0;",
    );
    let mut sorted = got.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..32).collect::<Vec<u32>>());
}

#[test]
fn recursion_has_a_frame_for_each_call() {
    let factorial = ".func (.param .b32 r) f(.param .b32 n) { .reg .pred %p; .reg .b32 %a<4>;\n\
        ld.param.b32 %a0, [n]; mov.b32 %a3, 1; setp.lt.u32 %p, %a0, 2; @%p bra E;\n\
        { .param .b32 x; .param .b32 y; sub.u32 %a1, %a0, 1; st.param.b32 [x], %a1; call.uni (y), f, (x); ld.param.b32 %a2, [y]; }\n\
        mul.lo.u32 %a3, %a0, %a2;\nE: st.param.b32 [r], %a3; ret; }";
    let got = warp(
        factorial,
        "rem.u32 %r2, %t, 10;\n{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r2; call (y), f, (x); ld.param.b32 %r1, [y]; }",
    );
    let expected: Vec<u32> = (0..32u32).map(|t| (1..=t % 10).product()).collect();
    assert_eq!(got, expected);
}

#[test]
fn calls_through_a_table_go_where_each_thread_points() {
    let functions = ".func (.param .b32 r) f(.param .b32 n) { .reg .b32 %a; ld.param.b32 %a, [n]; add.u32 %a, %a, 1000; st.param.b32 [r], %a; ret; }\n\
        .func (.param .b32 r) g(.param .b32 n) { .reg .b32 %a; ld.param.b32 %a, [n]; add.u32 %a, %a, 2000; st.param.b32 [r], %a; ret; }\n\
        .global .u64 table[2] = {f, g};";
    let got = warp(
        functions,
        "and.b32 %r2, %t, 1; mul.wide.u32 %d2, %r2, 8; mov.u64 %d3, table; add.u64 %d2, %d2, %d3; ld.global.u64 %d4, [%d2];\n\
         { .param .b32 x; .param .b32 y; st.param.b32 [x], %t; P: .callprototype (.param .b32 _) _ (.param .b32 _);\n\
         call (y), %d4, (x), P; ld.param.b32 %r1, [y]; }",
    );
    let expected: Vec<u32> = (0..32).map(|t| 1000 + 1000 * (t % 2) + t).collect();
    assert_eq!(got, expected);
}

#[test]
fn shuffles_stay_in_their_segment() {
    let got = warp(
        "",
        "shfl.sync.down.b32 %r1|%p1, %t, 3, 0x181f, -1; @!%p1 add.u32 %r1, %r1, 100;",
    );
    let expected: Vec<u32> = (0..32u32)
        .map(|t| if t % 8 + 3 < 8 { t + 3 } else { t + 100 })
        .collect();
    assert_eq!(got, expected);
}

#[test]
fn a_shuffle_waits_for_all_its_members() {
    // Two branches, one shuffle in each: only the masks make them work.
    let got = warp(
        "",
        "setp.lt.u32 %p1, %t, 16; @%p1 bra A; shfl.sync.bfly.b32 %r1, %t, 1, 31, 0xffff0000; bra C;\n\
         A: shfl.sync.bfly.b32 %r1, %t, 2, 31, 0xffff;\nC:",
    );
    let expected: Vec<u32> = (0..32).map(|t| if t < 16 { t ^ 2 } else { t ^ 1 }).collect();
    assert_eq!(got, expected);
}

#[test]
fn barriers_reduce_over_the_block() {
    let mut program = Program::new(
        "",
        &format!("and.b32 %r2, %t, 1; setp.eq.u32 %p1, %r2, 1; barrier.cta.red.popc.aligned.u32 %r1, 3, %p1;\n{STORE}"),
        96,
    );
    program
        .run(&Shape { block: 96, ..ONE_WARP })
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(program.words(), vec![48; 96]);
}

#[test]
fn blocks_add_up_in_global_memory() {
    let mut program = Program::new(
        "",
        "red.global.add.u32 [%out], 1; mov.u32 %r2, %ctaid.x; atom.global.max.u32 %r3, [%out+4], %r2; ret;",
        2,
    );
    program
        .run(&Shape {
            grid: 500,
            block: 64,
            ..ONE_WARP
        })
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(program.words(), [32000, 499]);
}

#[test]
fn blocks_that_wait_for_each_other_all_begin() {
    // A grid barrier by hand: more blocks than host threads.
    let mut program = Program::new(
        "",
        "setp.ne.u32 %p1, %t, 0; @%p1 bra W; red.global.add.u32 [%out], 1;\n\
         L: ld.acquire.gpu.global.u32 %r1, [%out]; setp.lt.u32 %p2, %r1, 64; @%p2 bra L;\nW: bar.sync 0;\n\
         mov.u32 %r2, %ctaid.x; mul.wide.u32 %d1, %r2, 4; add.u64 %d1, %d1, %out; @!%p1 st.global.u32 [%d1+4], %r1; ret;",
        65,
    );
    program
        .run(&Shape {
            grid: 64,
            block: 64,
            ..ONE_WARP
        })
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(program.words()[1..], [64; 64]);
}

#[test]
fn clusters_share_their_memory() {
    let mut program = Program::new(
        ".shared .u32 s;",
        "mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, s; mad.lo.u32 %r4, %r2, 10, 5; st.shared.u32 [%r3], %r4;\n\
         barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; add.u32 %r5, %r2, 1; and.b32 %r5, %r5, 3;\n\
         mapa.shared::cluster.u32 %r6, %r3, %r5; ld.shared::cluster.u32 %r1, [%r6]; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n\
         mov.u32 %r7, %ctaid.x; mul.wide.u32 %d1, %r7, 4; add.u64 %d1, %d1, %out; st.global.u32 [%d1], %r1; ret;",
        8,
    );
    program
        .run(&Shape {
            grid: 8,
            cluster: 4,
            ..ONE_WARP
        })
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(program.words(), [15, 25, 35, 5, 15, 25, 35, 5]);
}
