//! Kernels in a line of text, and what is found in them.
use girih_core::device::{Device, Launch};
use girih_core::tensor_map::{Fill, Format, Interleave, L2Promotion, Mode, Swizzle, TensorMap};
use girih_sim::Simulator;
use girih_sim::check::{Finding, Kind};

const HEAD: &str =
    ".version 8.6\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 s[4096]; .shared .align 8 .b64 bar[4];\n";
/// Bytes of the two buffers.
pub const BYTES: usize = 4096;

#[derive(Clone, Copy)]
pub struct Shape {
    pub grid: u32,
    pub block: u32,
    pub cluster: u32,
}

pub const fn block(threads: u32) -> Shape {
    Shape {
        grid: 1,
        block: threads,
        cluster: 1,
    }
}

/// What the checks say of a kernel, with the kernel's text by lines. `%in` is a buffer of ones, `%out` one that nothing
/// wrote, `map` a tensor of ten 32-bit columns over `%in`; `%r1` is `s`, `%r2` the first mbarrier; `%p1` holds in thread
/// 0, `%p2` in warp 0. Each instruction has a line of its own.
pub fn check_with(
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

pub fn check(body: &str, shape: Shape) -> Vec<Finding> {
    check_with(body, shape, |_, _| {}).0
}

pub fn clean(body: &str, shape: Shape) {
    let findings = check(body, shape);
    assert!(findings.is_empty(), "{body}\n{findings:#?}");
}

/// The kernel has one finding, of a kind, and its places are at instructions with these words.
pub fn finds(body: &str, shape: Shape, kind: Kind, places: &[&str]) -> Finding {
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
pub fn load(bytes: u32) -> String {
    format!(
        "@%p1 mbarrier.init.shared::cta.b64 [%r2], 1; @%p1 fence.mbarrier_init.release.cluster; bar.sync 0; \
         @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 %d7, [%r2], {bytes}; \
         @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%in], {bytes}, [%r2]; "
    )
}

/// All threads wait for phase 0 of the first mbarrier.
pub const WAIT: &str = "W0: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 0; @!%p3 bra W0; ";
/// `%r4` is the thread's word of `s`, `%r5` the word of the thread 32 further on.
pub const WORDS: &str = "shl.b32 %r4, %t, 2; add.u32 %r4, %r4, %r1; xor.b32 %r5, %t, 32; shl.b32 %r5, %r5, 2; \
                     add.u32 %r5, %r5, %r1; ";
