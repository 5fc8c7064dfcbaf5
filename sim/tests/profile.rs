//! What launches cost: counts against closed forms, remedies against the layouts that they name.
use girih_core::device::{Device, Launch};
use girih_core::layout::{linear_load_wavefronts, linear_wavefronts};
use girih_core::tensor_map::{Fill, Format, Interleave, L2Promotion, Mode, Swizzle, TensorMap};
use girih_sim::Simulator;
use girih_sim::profile::banks::{BankLine, BankReport};
use girih_sim::profile::resources::ResourceReport;
use girih_sim::profile::{LaunchProfile, Options, render};
use proptest::prelude::*;

const BOTH: Options = Options {
    banks: true,
    resources: true,
};

struct Shape {
    grid: u32,
    block: u32,
    cluster: u32,
}

const WARP: Shape = Shape {
    grid: 1,
    block: 32,
    cluster: 1,
};

/// What a run of a kernel `k` left in its buffer of 32-bit words, how many instructions it took, and what it cost.
struct Run {
    words: Vec<u8>,
    executed: u64,
    profile: Option<LaunchProfile>,
}

/// Runs `body` with the buffer in `%out` and the thread in `%t`, over 32 KiB of shared memory `sm`. A tensor map over the
/// buffer is the parameter `map`.
fn run(body: &str, shape: &Shape, options: Options, swizzle: Swizzle) -> Run {
    let text = format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n\
         .visible .entry k(.param .u64 out, .param .align 64 .b8 map[128]) {{\n\
         .reg .pred %p<16>; .reg .b16 %h<16>; .reg .b32 %r<64>; .reg .b64 %d<32>; .reg .b64 %out; .reg .b32 %t;\n\
         .shared .align 1024 .b8 sm[32768];\n\
         ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;\n{body}\nret;\n}}\n"
    );
    let mut simulator = Simulator::new();
    simulator.set_profile(options);
    let module = simulator.load(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let out = simulator.allocate(65536).expect("memory");
    simulator.write(out, 0, &[0; 65536]).expect("memory");
    let map = TensorMap {
        format: Format::F32,
        address: out.address,
        dims: vec![32, 512],
        strides: vec![128],
        mode: Mode::Tiled { box_dims: vec![32, 32] },
        element_strides: vec![1, 1],
        interleave: Interleave::None,
        swizzle,
        fill: Fill::Zero,
        l2_promotion: L2Promotion::None,
    };
    let map = simulator.encode_tensor_map(&map).expect("legal").to_vec();
    let launch = Launch {
        kernel: "k",
        grid: [shape.grid, 1, 1],
        block: [shape.block, 1, 1],
        cluster: [shape.cluster, 1, 1],
        dynamic_shared_bytes: 0,
        cooperative: false,
        params: &[out.address.to_le_bytes().to_vec(), map],
    };
    simulator
        .launch(module, &launch)
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut words = vec![0; 65536];
    simulator.read(out, 0, &mut words).expect("memory");
    let mut launches = simulator.take_profile().map_or(Vec::new(), |profile| profile.launches);
    assert!(simulator.take_profile().is_none(), "it was taken");
    Run {
        words,
        executed: simulator.executed_instructions(),
        profile: launches.pop(),
    }
}

fn banks(body: &str, shape: &Shape) -> BankReport {
    let profile = run(body, shape, BOTH, Swizzle::None).profile.expect("a profile");
    profile.banks.expect("banks")
}

fn resources(body: &str, shape: &Shape) -> ResourceReport {
    let profile = run(body, shape, BOTH, Swizzle::None).profile.expect("a profile");
    profile.resources.expect("resources")
}

/// The line whose instruction begins so.
fn line<'a>(report: &'a BankReport, opcode: &str) -> &'a BankLine {
    let mut lines = report.lines.iter().filter(|line| line.code.ptx.starts_with(opcode));
    let found = lines.next().unwrap_or_else(|| panic!("no {opcode} in {report:#?}"));
    assert!(lines.next().is_none(), "one {opcode}");
    found
}

/// PTX that leaves in `%r2` the stored address of a logical offset in `%r1`, as the swizzle moves it.
fn swizzled(mode: Swizzle) -> String {
    let mut text = "mov.u32 %r2, sm; add.u32 %r1, %r1, %r2; mov.u32 %r2, %r1;\n".to_owned();
    let steps: &[(u32, u32)] = match mode {
        Swizzle::None => &[],
        Swizzle::B32 | Swizzle::B96 => &[(3, 0x10)],
        Swizzle::B64 => &[(3, 0x30)],
        Swizzle::B128 => &[(3, 0x70)],
        Swizzle::B128Atom32 => &[(2, 0x60)],
        Swizzle::B128Atom32Flip8 => &[(2, 0x60), (4, 0x08)],
        Swizzle::B128Atom64 => &[(1, 0x40)],
    };
    for (shift, mask) in steps {
        text += &format!("shr.u32 %r3, %r1, {shift}; and.b32 %r3, %r3, {mask}; xor.b32 %r2, %r2, %r3;\n");
    }
    text
}

/// PTX that leaves in `%r1` the exclusive or of the images of the lane's bits.
fn linear(images: [u64; 5]) -> String {
    let mut text = "mov.b32 %r1, 0;\n".to_owned();
    for (bit, image) in images.iter().enumerate() {
        text += &format!("bfe.u32 %r3, %t, {bit}, 1; mul.lo.u32 %r3, %r3, {image}; xor.b32 %r1, %r1, %r3;\n");
    }
    text
}

/// The access of `bytes` bytes a lane at `%r2`.
fn access(store: bool, bytes: u64) -> String {
    let (op, registers) = match bytes {
        1 => ("u8", "%r4"),
        2 => ("b16", "%h1"),
        4 => ("b32", "%r4"),
        8 => ("v2.b32", "{%r4, %r5}"),
        _ => ("v4.b32", "{%r4, %r5, %r6, %r7}"),
    };
    if store {
        format!("st.shared.{op} [%r2], {registers};\n")
    } else {
        format!("ld.shared.{op} {registers}, [%r2];\n")
    }
}

/// Counts an access whose logical offsets are linear in the lane, under a swizzle, and holds it against the closed form.
fn agrees(mode: Swizzle, bytes: u64, store: bool, images: [u64; 5]) {
    let body = linear(images) + &swizzled(mode) + &access(store, bytes);
    let report = banks(&body, &WARP);
    let found = line(&report, if store { "st.shared" } else { "ld.shared" })
        .cost
        .wavefronts;
    let stored = images.map(|image| mode.apply(image));
    let expected = if store {
        linear_wavefronts(stored, bytes)
    } else {
        linear_load_wavefronts(stored, bytes)
    };
    assert_eq!(found, expected, "{mode:?}, {bytes} bytes, store {store}, {images:?}");
}

#[test]
fn rows_columns_and_tiles_cost_what_the_layout_algebra_says() {
    for mode in Swizzle::ALL {
        for bytes in [1, 2, 4, 8, 16].into_iter().filter(|bytes| *bytes <= mode.atom_bytes()) {
            let row = [0, 1, 2, 3, 4].map(|bit| bytes << bit);
            let pitches = [32, 64, 128, 256];
            for store in [false, true] {
                agrees(mode, bytes, store, row);
                for pitch in pitches.into_iter().filter(|pitch| pitch * 32 <= 32768) {
                    let column = [0, 1, 2, 3, 4].map(|bit| pitch << bit);
                    agrees(mode, bytes, store, column);
                    // Four rows of eight lanes, and eight rows of four.
                    let [b, p] = [bytes, pitch];
                    agrees(mode, bytes, store, [b, 2 * b, 4 * b, p, 2 * p]);
                    agrees(mode, bytes, store, [p, 2 * p, 4 * p, b, 2 * b]);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_linear_access_costs_what_the_layout_algebra_says(
        columns in proptest::collection::vec(0u64..8192, 5),
        log2_bytes in 0u32..5,
        mode in 0usize..8,
        store: bool,
    ) {
        let (mode, bytes) = (Swizzle::ALL[mode], 1u64 << log2_bytes);
        prop_assume!(bytes <= mode.atom_bytes());
        agrees(mode, bytes, store, std::array::from_fn(|i| columns[i] & !(bytes - 1)));
    }
}

/// Each lane writes its row of a 32x32 tile of words, then the warp reads the tile by rows; both through `%r20 = sm`.
fn transpose(row_bytes: u32) -> String {
    let mut body = format!(
        "mov.u32 %r20, sm; mad.lo.u32 %r21, %t, {row_bytes}, %r20; shl.b32 %r22, %t, 2; add.u32 %r22, %r22, %r20;\n"
    );
    for column in 0..32 {
        body += &format!("st.shared.b32 [%r21+{}], %t;\n", 4 * column);
    }
    body += "bar.warp.sync -1;\n";
    for row in 0..32 {
        body += &format!("ld.shared.b32 %r4, [%r22+{}];\n", row_bytes * row);
    }
    body
}

#[test]
fn a_transpose_is_told_the_layout_that_removes_its_conflicts() {
    let report = banks(&transpose(128), &WARP);
    assert_eq!((report.total.accesses, report.total.wavefronts), (64, 32 * 32 + 32));
    let worst = &report.lines[0];
    assert_eq!((worst.cost.worst_degree, worst.cost.mean_degree), (32, 32.0));
    assert_eq!(
        worst.pattern.as_deref(),
        Some("32 rows 128 bytes apart, one lane in each")
    );
    let [buffer] = report.buffers.as_slice() else {
        panic!("one buffer: {:#?}", report.buffers)
    };
    assert_eq!((buffer.first_address, buffer.end_address), (1024, 1024 + 4096));
    let remedy = buffer.remedy.as_ref().expect("a remedy");
    assert!(remedy.removes_all);
    assert_eq!(remedy.wavefronts, 64);
    assert!(
        remedy.placement.contains("unit ^= row % 32, rows of 128 bytes"),
        "{}",
        remedy.placement
    );
    // With the padding that everybody uses there is nothing to say.
    let padded = banks(&transpose(132), &WARP);
    assert_eq!(padded.total.wasted_wavefronts, 0);
    assert!(
        padded
            .buffers
            .iter()
            .all(|buffer| buffer.remedy.is_none() && buffer.fixed_by.is_none())
    );
}

#[test]
fn matrix_rows_are_told_swizzle_128_and_it_is_so() {
    let body = |mode| {
        format!(
            "shl.b32 %r1, %t, 7; {} ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r4, %r5, %r6, %r7}}, [%r2];\n",
            swizzled(mode)
        )
    };
    let report = banks(&body(Swizzle::None), &WARP);
    let found = line(&report, "ldmatrix");
    assert_eq!(
        (
            found.cost.wavefronts,
            found.cost.ideal_wavefronts,
            found.cost.worst_degree
        ),
        (32, 4, 8)
    );
    let remedy = report.buffers[0].remedy.as_ref().expect("a remedy");
    assert_eq!((remedy.placement.as_str(), remedy.removes_all), ("swizzle 128", true));
    assert!(
        remedy.message.starts_with("swizzle 128 removes it"),
        "{}",
        remedy.message
    );
    assert_eq!(banks(&body(Swizzle::B128), &WARP).total.wavefronts, remedy.wavefronts);
}

/// Lanes write 16 bytes each down a column of the box that a tensor store then copies.
fn staged(mode: Swizzle) -> String {
    format!(
        "shl.b32 %r1, %t, 7; {} st.shared.v4.b32 [%r2], {{%t, %t, %t, %t}}; fence.proxy.async.shared::cta; bar.sync 0;\n\
         setp.eq.u32 %p1, %t, 0; mov.b64 %d1, map; cvta.param.u64 %d1, %d1; mov.b32 %r9, 0; mov.u32 %r8, sm;\n\
         @%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d1, {{%r9, %r9}}], [%r8];\n\
         @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;\n",
        swizzled(mode)
    )
}

#[test]
fn a_staging_buffer_is_told_the_swizzle_of_its_tensor_map() {
    let profile = |mode| {
        let run = run(&staged(mode), &WARP, BOTH, mode);
        (run.words, run.profile.and_then(|profile| profile.banks).expect("banks"))
    };
    let (plain, report) = profile(Swizzle::None);
    assert_eq!(line(&report, "st.shared").cost.wavefronts, 32);
    let remedy = report.buffers[0].remedy.as_ref().expect("a remedy");
    assert_eq!((remedy.placement.as_str(), remedy.removes_all), ("swizzle 128", true));
    assert!(remedy.message.contains("in the tensor map"), "{}", remedy.message);
    assert_eq!(report.uncounted.len(), 1, "{:?}", report.uncounted);
    let (same, report) = profile(Swizzle::B128);
    assert_eq!(report.total.wasted_wavefronts, 0);
    assert_eq!(same, plain, "the remedy does not change what the kernel computes");
}

#[test]
fn a_bulk_copy_allows_no_other_layout() {
    let body = "shl.b32 %r1, %t, 7; mov.u32 %r8, sm; add.u32 %r1, %r1, %r8; st.shared.b32 [%r1], %t;\n\
        fence.proxy.async.shared::cta; bar.sync 0; setp.eq.u32 %p1, %t, 0;\n\
        @%p1 cp.async.bulk.global.shared::cta.bulk_group [%out], [%r8], 4096;\n\
        @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;";
    let report = banks(body, &WARP);
    assert_eq!(report.buffers[0].remedy, None);
    let why = report.buffers[0].fixed_by.as_deref().expect("a reason");
    assert!(why.contains("bulk copy"), "{why}");
}

#[test]
fn buffers_are_told_apart() {
    let body = "shl.b32 %r1, %t, 7; mov.u32 %r8, sm; add.u32 %r1, %r1, %r8; st.shared.b32 [%r1], %t;\n\
        shl.b32 %r2, %t, 2; add.u32 %r2, %r2, %r8; st.shared.b32 [%r2+8192], %t;\nld.shared.b32 %r3, [%r2+8192];";
    let report = banks(body, &WARP);
    assert_eq!(report.buffers.len(), 2);
    assert_eq!(report.buffers[0].first_address, 1024);
    assert_eq!(
        (report.buffers[1].first_address, report.buffers[1].end_address),
        (1024 + 8192, 1024 + 8320)
    );
    assert!(report.buffers[1].remedy.is_none());
    assert_eq!(report.buffers[1].ptx_lines.len(), 2);
}

#[test]
fn lanes_that_take_no_part_and_other_blocks_do_not_count() {
    let guarded = "setp.lt.u32 %p1, %t, 4; shl.b32 %r1, %t, 7; mov.u32 %r8, sm; add.u32 %r1, %r1, %r8;\n\
        @%p1 st.shared.b32 [%r1], %t;";
    assert_eq!(banks(guarded, &WARP).total.wavefronts, 4);
    let remote = "mov.u32 %r8, sm; mapa.shared::cluster.u32 %r8, %r8, 1; shl.b32 %r1, %t, 7; add.u32 %r1, %r1, %r8;\n\
        barrier.cluster.arrive; barrier.cluster.wait; st.shared::cluster.b32 [%r1], %t;\n\
        barrier.cluster.arrive; barrier.cluster.wait;";
    let shape = Shape {
        grid: 2,
        cluster: 2,
        ..WARP
    };
    let report = banks(remote, &shape);
    // Block 1 stores into its own memory, block 0 into that of block 1.
    let store = line(&report, "st.shared::cluster");
    assert_eq!(
        (store.cost.accesses, store.cost.wavefronts, store.remote_accesses),
        (1, 32, 1)
    );
    assert_eq!(report.uncounted.len(), 1);
}

#[test]
fn a_profile_changes_nothing() {
    let body = transpose(128)
        + &staged(Swizzle::B128)
        + "mul.wide.u32 %d5, %t, 4; add.u64 %d5, %d5, %out; st.global.u32 [%d5+8192], %r4;";
    let shape = Shape {
        grid: 8,
        block: 128,
        cluster: 2,
    };
    let plain = run(&body, &shape, Options::default(), Swizzle::B128);
    let counted = run(&body, &shape, BOTH, Swizzle::B128);
    assert!(plain.profile.is_none());
    assert_eq!((plain.words, plain.executed), (counted.words, counted.executed));
    let again = run(&body, &shape, BOTH, Swizzle::B128);
    assert_eq!(counted.profile, again.profile, "the same every time");
}

#[test]
fn a_launch_that_fails_has_no_profile_and_fails_as_it_would() {
    let head = ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n.reg .b32 %r<8>; .reg .b64 %d<4>;\n\
        .shared .align 128 .b8 sm[256]; mov.u32 %r1, sm; mov.b32 %r2, 0xfffffff0; mov.b64 %d1, 0xfffffffffffffff0;\n";
    for body in [
        "ld.global.v4.b32 {%r3, %r4, %r5, %r6}, [%d1];",
        "red.global.add.u32 [%d1+12], 1;",
        "ld.shared.b32 %r3, [%r2];",
        "ld.v4.b32 {%r3, %r4, %r5, %r6}, [%d1];",
        "cp.async.cg.shared.global [%r2], [%d1], 16; cp.async.wait_all;",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1], %r2, [%r1+128];",
        "cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], %r2; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
    ] {
        let fails = |options| {
            let mut simulator = Simulator::new();
            simulator.set_profile(options);
            let module = simulator.load(&format!("{head}{body}\nret; }}\n")).expect("legal");
            let launch = Launch {
                kernel: "k",
                grid: [1; 3],
                block: [1; 3],
                cluster: [1; 3],
                dynamic_shared_bytes: 0,
                cooperative: false,
                params: &[],
            };
            let error = simulator.launch(module, &launch).expect_err("it fails").to_string();
            assert!(simulator.take_profile().is_none());
            error
        };
        assert_eq!(fails(BOTH), fails(Options::default()), "{body}");
    }
}

#[test]
fn instructions_and_bytes_are_counted() {
    let body = "mul.wide.u32 %d1, %t, 4; add.u64 %d1, %d1, %out;\nld.global.b32 %r1, [%d1];\n\
        mul.wide.u32 %d2, %t, 64; add.u64 %d2, %d2, %out;\nst.global.b32 [%d2+4096], %r1;\n\
        mov.u32 %r8, sm; shl.b32 %r2, %t, 3; add.u32 %r2, %r2, %r8; st.shared.v2.b32 [%r2], {%t, %t};\n\
        red.global.add.u32 [%out], 1; bar.sync 0; mov.b32 %r3, 0;\n\
        L: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 4; @%p1 bra L;\n\
        setp.lt.u32 %p2, %t, 5; @%p2 bra M; add.u32 %r3, %r3, 1;\nM: and.b32 %r3, %r3, 1;";
    let shape = Shape {
        grid: 3,
        block: 64,
        cluster: 1,
    };
    let report = resources(body, &shape);
    let count = |name: &str| {
        let kinds = report.instructions.iter().filter(|kind| kind.name == name);
        kinds
            .map(|kind| (kind.warp_instructions, kind.lane_instructions))
            .sum_pairs()
    };
    let warps = 3 * 2;
    assert_eq!(count("ld.global"), (warps, 32 * warps));
    assert_eq!(count("st.global"), (warps, 32 * warps));
    assert_eq!(count("st.shared"), (warps, 32 * warps));
    assert_eq!(count("red.global"), (warps, 32 * warps));
    assert_eq!(count("bar.sync"), (warps, 32 * warps), "waiting is not executing");
    assert_eq!(count("bra").0, warps * 4 + warps);
    let bytes = |what: &str| report.traffic.iter().find(|b| b.what == what).map(|b| b.bytes);
    assert_eq!(bytes("global read"), Some(128 * warps));
    assert_eq!(bytes("global written"), Some(128 * warps));
    assert_eq!(bytes("shared written"), Some(256 * warps));
    assert_eq!(bytes("global atomic"), Some(4 * warps), "all lanes add to one word");
    let line = |opcode: &str| {
        let line = report.global.iter().find(|line| line.code.ptx.starts_with(opcode));
        line.map(|line| (line.sectors, line.efficiency)).expect("counted")
    };
    assert_eq!(line("ld.global"), (4 * warps, 1.0));
    assert_eq!(line("st.global"), (32 * warps, 0.125));
    assert_eq!(
        report.global[0].code.ptx, "st.global.b32 [%d2+4096], %r1",
        "the worst first"
    );
    // Only the first warp of each block parts, at one of its two branches.
    assert_eq!(report.branches.divergent, 3);
    assert_eq!(report.branches.lines.len(), 1);
    assert_eq!(
        (report.warps, report.threads, report.static_shared_bytes),
        (2, 64, 32768)
    );
    assert_eq!(
        (report.occupancy.blocks, report.occupancy.limited_by.join(",")),
        (6, "shared memory".into())
    );
}

trait SumPairs {
    fn sum_pairs(self) -> (u64, u64);
}

impl<I: Iterator<Item = (u64, u64)>> SumPairs for I {
    fn sum_pairs(self) -> (u64, u64) {
        self.fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
    }
}

#[test]
fn registers_come_from_elsewhere() {
    let mut report = resources("", &Shape { block: 256, ..WARP });
    assert_eq!(report.occupancy.by_registers, None);
    report.set_registers(255);
    assert_eq!((report.registers, report.occupancy.blocks), (Some(255), 1));
    assert_eq!(report.occupancy.limited_by, ["registers"]);
}

#[test]
fn people_see_the_line_its_pattern_and_what_removes_it() {
    let body = "shl.b32 %r1, %t, 7; mov.u32 %r2, sm; add.u32 %r2, %r2, %r1;\n\
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r2];";
    let profile = run(body, &WARP, BOTH, Swizzle::None).profile.expect("a profile");
    let text = render::launch(&profile, &|_| None);
    for part in [
        "shared memory banks of `k` (grid 1x1x1, block 32x1x1, cluster 1x1x1)",
        "1 accesses take 32 wavefronts; without conflicts 4 (28 wasted, 8.00 for each)",
        "8-way",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
        "32 rows 128 bytes apart, one lane in each; shared 0x400 to",
        "swizzle 128 removes it",
        "resources of `k`",
        "registers unknown to PTX",
    ] {
        assert!(text.contains(part), "`{part}` in\n{text}");
    }
    let json = serde_json::to_value(&profile).expect("it serialises");
    assert_eq!(json["banks"]["lines"][0]["wasted_wavefronts"], 28);
    assert_eq!(json["banks"]["buffers"][0]["remedy"]["placement"], "swizzle 128");
}
