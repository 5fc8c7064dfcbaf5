//! Whole programs: what they leave in memory, and how they fail.
use girih_core::device::{Buffer, Device, DeviceError, Launch};
use girih_core::tensor_map::{Fill, Format, Interleave, L2Promotion, Mode, Swizzle, TensorMap};
use girih_sim::Simulator;

const HEAD: &str = ".version 8.6\n.target sm_90a\n.address_size 64\n";

/// A kernel `k` over one output buffer of 32-bit words.
struct Program {
    simulator: Simulator,
    module: girih_core::device::ModuleId,
    out: Buffer,
}

struct Shape {
    grid: u32,
    block: u32,
    cluster: u32,
    dynamic_shared: u32,
}

const ONE_WARP: Shape = Shape {
    grid: 1,
    block: 32,
    cluster: 1,
    dynamic_shared: 0,
};

impl Program {
    /// `declarations` stand at module scope; `body` finds the buffer in `%out` and the thread in `%t`.
    fn new(declarations: &str, body: &str, words: usize) -> Program {
        let text = format!(
            "{HEAD}{declarations}\n.visible .entry k(.param .u64 out, .param .align 64 .b8 map[128]) {{\n\
             .reg .pred %p<16>; .reg .b16 %h<16>; .reg .b32 %r<64>; .reg .b64 %d<32>; .reg .b64 %out; .reg .b32 %t;\n\
             ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;\n{body}\n}}\n"
        );
        let mut simulator = Simulator::new();
        simulator.set_instruction_limit(5_000_000);
        let module = simulator.load(&text).unwrap_or_else(|e| panic!("{e}"));
        let out = simulator.allocate(4 * words).expect("memory");
        simulator.write(out, 0, &vec![0; 4 * words]).expect("memory");
        Program { simulator, module, out }
    }

    fn run(&mut self, shape: &Shape) -> Result<(), DeviceError> {
        self.run_with(shape, &[0; 128])
    }

    fn run_with(&mut self, shape: &Shape, map: &[u8]) -> Result<(), DeviceError> {
        let params = [self.out.address.to_le_bytes().to_vec(), map.to_vec()];
        self.simulator.launch(
            self.module,
            &Launch {
                kernel: "k",
                grid: [shape.grid, 1, 1],
                block: [shape.block, 1, 1],
                cluster: [shape.cluster, 1, 1],
                dynamic_shared_bytes: shape.dynamic_shared,
                cooperative: false,
                params: &params,
            },
        )?;
        self.simulator.synchronize()
    }

    fn words(&mut self) -> Vec<u32> {
        let mut bytes = vec![0; self.out.bytes];
        self.simulator.read(self.out, 0, &mut bytes).expect("memory");
        bytes
            .chunks_exact(4)
            .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
            .collect()
    }
}

/// Stores `%r1` at the thread's place in the output.
const STORE: &str = "mul.wide.u32 %d1, %t, 4; add.u64 %d1, %out, %d1; st.global.u32 [%d1], %r1; ret;";

fn warp(declarations: &str, body: &str) -> Vec<u32> {
    let mut program = Program::new(declarations, &format!("{body}\n{STORE}"), 32);
    program.run(&ONE_WARP).unwrap_or_else(|e| panic!("{e}"));
    program.words()
}

fn failure(declarations: &str, body: &str, shape: &Shape) -> DeviceError {
    Program::new(declarations, body, 1024)
        .run(shape)
        .expect_err("the launch fails")
}

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
fn initialisers_fill_memory_from_the_first_element() {
    let got = warp(
        ".const .align 4 .u16 a[2][3] = {{1, 2}, {3}}; .global .u32 b[4] = {7, 8}; .global .u64 p = generic(b) + 4;",
        "mov.u64 %d2, a; add.u64 %d2, %d2, 6; ld.const.u16 %h1, [%d2]; cvt.u32.u16 %r1, %h1;\n\
         mov.u64 %d3, p; ld.global.u64 %d4, [%d3]; ld.u32 %r2, [%d4]; mad.lo.u32 %r1, %r2, 10, %r1; ld.u32 %r3, [%d4+4]; add.u32 %r1, %r1, %r3;",
    );
    assert_eq!(got, vec![83; 32]);
}

#[test]
fn generic_addresses_reach_every_space() {
    let got = warp(
        ".shared .u32 s[32];",
        ".local .u32 l[2]; mov.u64 %d2, l; cvta.local.u64 %d3, %d2; st.u32 [%d3+4], %t; ld.local.u32 %r2, [%d2+4];\n\
         mov.u64 %d4, s; cvta.shared.u64 %d5, %d4; mul.wide.u32 %d6, %t, 4; add.u64 %d5, %d5, %d6; st.u32 [%d5], %r2;\n\
         bar.warp.sync -1; add.u64 %d7, %d4, %d6; ld.shared.u32 %r1, [%d7];\n\
         isspacep.shared %p1, %d5; isspacep.local %p2, %d3; isspacep.global %p3, %out; and.pred %p1, %p1, %p2; and.pred %p1, %p1, %p3;\n\
         @!%p1 mov.u32 %r1, 999;",
    );
    assert_eq!(got, (0..32).collect::<Vec<u32>>());
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

/// A 64x8 tensor of 32-bit words, element = index, read as one box of 32x8 at column `x`.
fn tensor(program: &mut Program) -> [u8; 128] {
    let data: Vec<u8> = (0..512u32).flat_map(u32::to_le_bytes).collect();
    let buffer = program.simulator.allocate(data.len()).expect("memory");
    program.simulator.write(buffer, 0, &data).expect("memory");
    let map = TensorMap {
        format: Format::U32,
        address: buffer.address,
        dims: vec![64, 8],
        strides: vec![256],
        mode: Mode::Tiled { box_dims: vec![32, 8] },
        element_strides: vec![1, 1],
        interleave: Interleave::None,
        swizzle: Swizzle::None,
        fill: Fill::Zero,
        l2_promotion: L2Promotion::None,
    };
    program.simulator.encode_tensor_map(&map).expect("a map")
}

const TMA: &str = "mov.u32 %r10, s; mov.u32 %r11, bar; mov.u64 %d10, map; cvta.param.u64 %d10, %d10; setp.eq.u32 %p5, %t, 0;\n\
    @%p5 mbarrier.init.shared::cta.b64 [%r11], 1; bar.sync 0;\n\
    @%p5 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r11], 1024;\n\
    @%p5 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r10], [%d10, {32, 0}], [%r11];\n";
const WAIT: &str = "W: mbarrier.try_wait.parity.shared::cta.b64 %p6, [%r11], 0; @!%p6 bra W;\n";
const READ: &str = "shl.b32 %r12, %t, 2; add.u32 %r12, %r12, %r10; ld.shared.u32 %r1, [%r12+128];\n";
const TILE: &str = ".shared .align 128 .b8 s[1024]; .shared .align 8 .b64 bar;";

#[test]
fn a_tensor_load_is_there_after_the_wait() {
    let mut program = Program::new(TILE, &format!("{TMA}{WAIT}{READ}{STORE}"), 32);
    let map = tensor(&mut program);
    program.run_with(&ONE_WARP, &map).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(program.words(), (64 + 32..64 + 64).collect::<Vec<u32>>());
}

#[test]
fn a_tensor_load_is_not_there_before_the_wait() {
    let mut program = Program::new(TILE, &format!("{TMA}{READ}{WAIT}{STORE}"), 32);
    let map = tensor(&mut program);
    program.run_with(&ONE_WARP, &map).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(program.words(), [0; 32]);
}

#[test]
fn a_wrong_byte_count_is_a_deadlock_with_its_line() {
    let short = TMA.replace("1024;\n", "1040;\n");
    let mut program = Program::new(TILE, &format!("{short}{WAIT}{READ}{STORE}"), 32);
    let map = tensor(&mut program);
    let error = program.run_with(&ONE_WARP, &map).expect_err("nothing ends the wait");
    assert_eq!(error.code.as_deref(), Some("CUDA_ERROR_LAUNCH_TIMEOUT"));
    assert!(
        error.message.contains("deadlock") && error.message.contains("mbarrier.try_wait"),
        "{error}"
    );
}

#[test]
fn a_tensor_load_at_an_odd_column_is_an_illegal_instruction() {
    let odd = TMA.replace("{32, 0}", "{33, 0}");
    let mut program = Program::new(TILE, &format!("{odd}{WAIT}{READ}{STORE}"), 32);
    let map = tensor(&mut program);
    let error = program.run_with(&ONE_WARP, &map).expect_err("the copy engine refuses");
    assert_eq!(error.code.as_deref(), Some("CUDA_ERROR_ILLEGAL_INSTRUCTION"));
    assert!(error.message.contains("cp.async.bulk.tensor"), "{error}");
}

#[test]
fn small_copies_are_there_after_their_group() {
    let body = |wait: &str| {
        format!(
            "mov.u32 %r10, s; shl.b32 %r11, %t, 2; add.u32 %r10, %r10, %r11; mul.wide.u32 %d2, %t, 4; add.u64 %d2, %d2, %out;\n\
             mad.lo.u32 %r1, %t, 3, 1; st.global.u32 [%d2], %r1; cp.async.ca.shared.global [%r10], [%d2], 4; cp.async.commit_group;\n\
             cp.async.ca.shared.global [%r10], [%d2], 4, 0; cp.async.commit_group;\n{wait} ld.shared.u32 %r1, [%r10];\n{STORE}"
        )
    };
    let run = |wait: &str| {
        let mut program = Program::new(".shared .u32 s[32];", &body(wait), 32);
        program.run(&ONE_WARP).unwrap_or_else(|e| panic!("{e}"));
        program.words()
    };
    assert_eq!(run("cp.async.wait_group 2;"), [0; 32]);
    assert_eq!(
        run("cp.async.wait_group 1;"),
        (0..32).map(|t| 3 * t + 1).collect::<Vec<u32>>()
    );
    assert_eq!(run("cp.async.wait_all;"), [0; 32]);
}

#[test]
fn stores_to_another_block_complete_its_barrier() {
    let mut program = Program::new(
        ".shared .align 8 .b64 bar; .shared .align 8 .b32 s[4];",
        "mov.u32 %r10, bar; mov.u32 %r11, s; mov.u32 %r2, %cluster_ctarank; xor.b32 %r3, %r2, 1; setp.eq.u32 %p1, %t, 0;\n\
         @%p1 mbarrier.init.shared::cta.b64 [%r10], 1; fence.mbarrier_init.release.cluster; barrier.cluster.arrive; barrier.cluster.wait;\n\
         mapa.shared::cluster.u32 %r12, %r11, %r3; mapa.shared::cluster.u32 %r13, %r10, %r3; add.u32 %r4, %r2, 40;\n\
         @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], 12;\n\
         @%p1 st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%r12], {%r4, %r4}, [%r13];\n\
         @%p1 red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r12+4], 100, [%r13];\n\
         W: mbarrier.try_wait.parity.shared::cta.b64 %p6, [%r10], 0; @!%p6 bra W;\n\
         ld.shared.u32 %r5, [s]; ld.shared.u32 %r6, [s+4]; mul.wide.u32 %d1, %r2, 8; add.u64 %d1, %d1, %out; st.global.v2.u32 [%d1], {%r5, %r6}; ret;",
        4,
    );
    program
        .run(&Shape {
            grid: 2,
            cluster: 2,
            ..ONE_WARP
        })
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(program.words(), [41, 141, 40, 140]);
}

#[test]
fn vector_registers_have_components() {
    let got = warp(
        ".shared .align 16 .b8 s[512];",
        ".reg .v4 .u32 v; .reg .v2 .b64 w; mov.u32 v.x, %t; add.u32 v.y, v.x, 1; mov.u32 v.z, 5; mov.u32 v.a, 7;\n\
         mov.u32 %r2, s; shl.b32 %r3, %t, 4; add.u32 %r2, %r2, %r3; st.shared.v4.u32 [%r2], v; ld.shared.v2.b64 w, [%r2];\n\
         cvt.u32.u64 %r4, w.y; shr.u64 %d3, w.x, 32; cvt.u32.u64 %r5, %d3; mad.lo.u32 %r1, %r5, 10, %r4;",
    );
    assert_eq!(got, (0..32).map(|t| 10 * (t + 1) + 5).collect::<Vec<u32>>());
}

#[test]
fn printed_text_is_formatted_as_c_does() {
    let text: String = "t=%d %5.2f|%-4x|%04u %s %lld%%\n"
        .bytes()
        .map(|b| format!("{b}, "))
        .collect();
    let word: String = "hi".bytes().map(|b| format!("{b}, ")).collect();
    let mut program = Program::new(
        &format!(
            ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n\
             .global .b8 text[] = {{{text}0}}; .global .b8 word[] = {{{word}0}};"
        ),
        &format!(
            ".local .align 8 .b8 args[48]; setp.gt.u32 %p1, %t, 1; mov.u32 %r1, 0; @%p1 bra E;\n\
             st.local.u32 [args], %t; mov.b64 %d2, 0d4009000000000000; st.local.b64 [args+8], %d2; mov.u32 %r2, 255; st.local.u32 [args+16], %r2;\n\
             st.local.u32 [args+20], 7; mov.u64 %d3, word; st.local.u64 [args+24], %d3; mov.u64 %d4, -5; st.local.u64 [args+32], %d4;\n\
             mov.u64 %d5, args; cvta.local.u64 %d5, %d5; mov.u64 %d6, text;\n\
             {{ .param .b64 x; .param .b64 y; .param .b32 z; st.param.b64 [x], %d6; st.param.b64 [y], %d5; call (z), vprintf, (x, y); ld.param.b32 %r1, [z]; }}\nE: {STORE}"
        ),
        32,
    );
    program.simulator.hide_output();
    program.run(&ONE_WARP).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        program.simulator.output(),
        "t=0  3.12|ff  |0007 hi -5%\nt=1  3.12|ff  |0007 hi -5%\n"
    );
    assert_eq!(program.words()[..3], [6, 6, 0]);
}

#[test]
fn operands_of_wgmma_stay_until_it_is_waited_for() {
    // A of 64x16 and B of 8x16 halves, all 1 where a thread wrote: no swizzle, 128 bytes to an 8x8 core matrix.
    let body = |between: &str, after: &str| {
        format!(
            "mov.u32 %r10, s; shl.b32 %r11, %t, 4; add.u32 %r10, %r10, %r11; mov.u32 %r12, 0x3c003c00;\n\
             st.shared.v4.b32 [%r10], {{%r12, %r12, %r12, %r12}}; st.shared.v4.b32 [%r10+2048], {{%r12, %r12, %r12, %r12}};\n\
             fence.proxy.async.shared::cta; bar.sync 0; mov.u32 %r13, s; shr.u32 %r13, %r13, 4; cvt.u64.u32 %d2, %r13;\n\
             or.b64 %d2, %d2, 0x0000001000080000; add.u64 %d3, %d2, 128; mov.b32 %r20, 0; mov.b32 %r21, 0; mov.b32 %r22, 0; mov.b32 %r23, 0;\n\
             wgmma.fence.sync.aligned;\n\
             wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%r20, %r21, %r22, %r23}}, %d2, %d3, 1, 1, 1, 0, 0;\n\
             wgmma.commit_group.sync.aligned;\n{between}\nwgmma.wait_group.sync.aligned 0;\n{after}\nmov.b32 %r1, %r20;\n{STORE}"
        )
    };
    let shape = Shape { block: 128, ..ONE_WARP };
    let write = "st.shared.b32 [%r10], %t;";
    let tile = ".shared .align 128 .b8 s[4096];";
    let mut program = Program::new(tile, &body("", write), 128);
    program.run(&shape).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(program.words(), vec![16f32.to_bits(); 128]);
    let error = failure(tile, &body(write, ""), &shape);
    assert!(error.message.contains("written before this wait"), "{error}");
}

#[test]
fn faults_have_the_driver_s_names_and_a_line() {
    let cases = [
        (
            "mov.u64 %d2, 16; ld.global.u32 %r1, [%d2]; ret;",
            "CUDA_ERROR_ILLEGAL_ADDRESS",
            "ld.global.u32",
        ),
        (
            "ld.global.u32 %r1, [%out+4096]; ret;",
            "CUDA_ERROR_ILLEGAL_ADDRESS",
            "0 bytes past the end",
        ),
        (
            "ld.global.u32 %r1, [%out+2]; ret;",
            "CUDA_ERROR_MISALIGNED_ADDRESS",
            "ld.global.u32",
        ),
        (
            "st.shared.u32 [0], %t; ret;",
            "CUDA_ERROR_ILLEGAL_ADDRESS",
            "st.shared.u32",
        ),
        (
            "setp.eq.u32 %p1, %t, 5; @%p1 trap; ret;",
            "CUDA_ERROR_LAUNCH_FAILED",
            "thread [5, 0, 0]",
        ),
        (
            "mov.u64 %d2, 64; { call %d2, (); } ret;",
            "CUDA_ERROR_INVALID_PC",
            "no function",
        ),
        (
            "L: bra L;",
            "CUDA_ERROR_LAUNCH_TIMEOUT",
            "the limit of 5000000 warp instructions",
        ),
        (
            "setp.lt.u32 %p1, %t, 16; @%p1 bra E; bar.warp.sync -1; ret;\nE: shfl.sync.idx.b32 %r1, %t, 0, 31, -1; ret;",
            "CUDA_ERROR_LAUNCH_TIMEOUT",
            "deadlock",
        ),
    ];
    for (body, code, words) in cases {
        let error = failure("", body, &ONE_WARP);
        assert_eq!(error.code.as_deref(), Some(code), "{body}: {error}");
        assert!(
            error.message.contains(words) && error.message.contains("PTX line"),
            "{body}: {error}"
        );
    }
}

#[test]
fn a_barrier_that_nobody_completes_is_a_deadlock() {
    let error = failure("", "bar.sync 1, 64; ret;", &ONE_WARP);
    assert_eq!(error.code.as_deref(), Some("CUDA_ERROR_LAUNCH_TIMEOUT"));
    assert!(error.message.contains("bar.sync 1, 64"), "{error}");
}

#[test]
fn launches_that_the_driver_refuses_are_refused() {
    let shape = Shape {
        block: 2048,
        ..ONE_WARP
    };
    assert_eq!(
        failure("", "ret;", &shape).code.as_deref(),
        Some("CUDA_ERROR_INVALID_VALUE")
    );
    let shape = Shape {
        dynamic_shared: 300_000,
        ..ONE_WARP
    };
    assert_eq!(
        failure("", "ret;", &shape).code.as_deref(),
        Some("CUDA_ERROR_INVALID_VALUE")
    );
    let shape = Shape {
        grid: 3,
        cluster: 2,
        ..ONE_WARP
    };
    assert_eq!(
        failure("", "ret;", &shape).code.as_deref(),
        Some("CUDA_ERROR_INVALID_CLUSTER_SIZE")
    );
}

#[test]
fn unknown_instructions_are_named_with_their_line() {
    let cases = [
        ("frobnicate.u32 %r1, %r2;", "4:1", "frobnicate"),
        ("add.rn.u32 %r1, %r2, %r3;", "4:1", "`.rn`"),
        ("add.u32 %r1, %r2, %d3;", "4:1", "64 bits"),
        ("add.u32 %r1, %r2, %nowhere;", "4:1", "%nowhere"),
        ("add.u32 %r1, %r2, %f1;", "4:1", "floating-point"),
        ("bra Nowhere;", "4:1", "Nowhere"),
        ("add.u32 %r1, %r2 %r3;", "4:18", "expected"),
    ];
    for (line, place, words) in cases {
        let text = format!(
            ".version 8.6 .target sm_90a .address_size 64\n.visible .entry k() {{\n.reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>;\n{line}\nret; }}"
        );
        let error = Simulator::new().load(&text).expect_err("wrong PTX");
        assert_eq!(error.code.as_deref(), Some("CUDA_ERROR_INVALID_PTX"));
        assert!(
            error.message.contains(&format!("PTX {place}:")) && error.message.contains(words),
            "{line}: {error}"
        );
    }
}

#[test]
fn faults_name_the_line_of_the_source() {
    let error = failure(
        "",
        ".loc 1 20 3\ntrap;\nret;\n}\n.file 1 \"a.mlir\"\n.func g() {\n ret;",
        &ONE_WARP,
    );
    assert!(
        error.message.contains(": trap;\n  from a.mlir:20:3\n  in `k`"),
        "{error}"
    );
}

#[test]
fn a_wait_for_the_source_alone_frees_it_and_leaves_the_data_on_its_way() {
    let body = "mov.u32 %r10, s; mov.b32 %r2, 5; mov.b32 %r3, 9; st.shared.v4.u32 [%r10], {%r2, %r2, %r2, %r2};\n\
        fence.proxy.async.shared::cta; setp.ne.u32 %p1, %t, 0; @%p1 bra E;\n\
        COPY cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;\n\
        st.shared.v4.u32 [%r10], {%r3, %r3, %r3, %r3}; ld.global.u32 %r4, [%out];\n\
        cp.async.bulk.wait_group 0; ld.global.u32 %r5, [%out]; st.global.v2.u32 [%out+16], {%r4, %r5};\nE: ret;";
    for (copy, before, after) in [
        ("cp.async.bulk.global.shared::cta.bulk_group [%out], [%r10], 16;", 0, 5),
        (
            "st.global.u32 [%out], 2; cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], [%r10], 16;",
            2,
            7,
        ),
    ] {
        let mut program = Program::new(TILE, &body.replace("COPY", copy), 32);
        program.run(&ONE_WARP).unwrap_or_else(|e| panic!("{e}"));
        let words = program.words();
        assert_eq!((words[0], words[4], words[5]), (after, before, after), "{copy}");
    }
}

#[test]
fn a_tensor_store_whose_source_was_waited_for_stores_what_was_there() {
    let body = "mov.u64 %d10, map; cvta.param.u64 %d10, %d10; mov.u32 %r10, s; mov.u32 %r11, bar; mov.b32 %r2, 5; mov.b32 %r3, 9;\n\
        setp.ne.u32 %p1, %t, 0; @%p1 bra E;\n\
        mbarrier.init.shared::cta.b64 [%r11], 1; st.shared.u32 [%r10], %r2; fence.proxy.async.shared::cta;\n\
        cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d10, {0, 0}], [%r10]; cp.async.bulk.commit_group;\n\
        cp.async.bulk.wait_group.read 0; st.shared.u32 [%r10], %r3; cp.async.bulk.wait_group 0;\n\
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r11], 1024;\n\
        cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r10], [%d10, {0, 0}], [%r11];\n\
        W: mbarrier.try_wait.parity.shared::cta.b64 %p6, [%r11], 0; @!%p6 bra W;\n\
        ld.shared.u32 %r1, [%r10]; st.global.u32 [%out], %r1;\nE: ret;";
    let mut program = Program::new(TILE, body, 32);
    let map = tensor(&mut program);
    program.run_with(&ONE_WARP, &map).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(program.words()[0], 5);
}
