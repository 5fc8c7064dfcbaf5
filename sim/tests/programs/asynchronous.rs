//! Copies and products that go on by themselves until they are waited for.
use super::support::{ONE_WARP, Program, STORE, Shape, failure};
use girih_core::device::Device;
use girih_core::tensor_map::{Fill, Format, Interleave, L2Promotion, Mode, Swizzle, TensorMap};

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
