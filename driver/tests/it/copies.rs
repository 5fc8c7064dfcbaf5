//! Copies of every kind from `.mlir` to their results on the simulator, held against loops over the logical tensor.
use crate::support::*;
use girih::compile::{Options, compile};
use girih_core::{dtype::DType, target::Target};
use girih_runtime::{
    Program,
    array::Array,
    launch::{HostValue, Session},
};
use girih_sim::Simulator;

/// Compiles for `target` and runs on a simulator of that target; gives the arguments afterwards.
pub fn run_on(target: &str, source: &str, values: &[HostValue]) -> Vec<HostValue> {
    let source = format!("module attributes {{tile.target = \"{target}\"}} {{\n{source}\n}}");
    let compiled = compile(source.as_bytes(), "kernel.mlir", &Options::default()).unwrap_or_else(|failure| {
        let said: Vec<_> = failure.messages.iter().map(ToString::to_string).collect();
        panic!("{}\n{source}", said.join("\n"))
    });
    let ptx = String::from_utf8(compiled.content).expect("PTX is text");
    let program = Program::new(ptx, compiled.manifest.expect("a manifest")).expect("a program");
    let mut device = Simulator::new();
    device.set_instruction_limit(10_000_000);
    device.set_target(target.parse::<Target>().expect("a target"));
    let kernel = program.kernel(None).expect("a kernel");
    let fail = |error: girih_runtime::Error| -> ! { panic!("{error}\n{}", program.ptx()) };
    let mut session = Session::new(&mut device, &program, kernel, values).unwrap_or_else(|e| fail(e));
    session.run().unwrap_or_else(|e| fail(e));
    let mut after = values.to_vec();
    for (i, value) in after.iter_mut().enumerate() {
        if let HostValue::Array(array) = value {
            session.read(i, array).unwrap_or_else(|e| fail(e));
        }
    }
    after
}

pub fn array(dtype: DType, shape: &[u64], element: impl Fn(usize) -> f64) -> HostValue {
    let count: u64 = shape.iter().product();
    let values: Vec<f64> = (0..count as usize).map(element).collect();
    HostValue::Array(Array::from_f64(dtype, shape, &values).expect("memory"))
}

pub fn numbers(value: &HostValue) -> Vec<f64> {
    as_array(value).expect("an array").to_f64()
}

/// A kernel of one warp whose elected lane runs `body`, with a barrier `%bar`. Its maps `%from` and `%to` are of the arguments
/// `%A` and `%C`.
pub fn one_lane((a, from): (&str, &str), (c, to): (&str, &str), body: &str) -> String {
    format!(
        "tile.kernel @k(%A: {a}, %C: {c}) threads(32) launch {{
  %c1 = arith.constant 1 : index
  %from = tile.tensor_map %A : {a} -> {from}
  %to = tile.tensor_map %C : {c} -> {to}
  tile.grid %c1, %c1, %c1 args(%from, %to : {from}, {to})
}} body args(%from: {from}, %to: {to}) {{
  %cm1 = arith.constant -1 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c9 = arith.constant 9 : index
  %c12 = arith.constant 12 : index
  %c15 = arith.constant 15 : index
  %h0 = arith.constant 0 : i16
  %h1 = arith.constant 1 : i16
  %h2 = arith.constant 2 : i16
  %one = arith.constant 1 : i32
  %false = arith.constant false
  %bar = tile.alloc : {BAR}
  %elected = tile.elect
  scf.if %elected {{
    tile.mbarrier.init %bar[], %one : {BAR}
    tile.fence mbarrier_init
{body}
    tile.bulk.commit
    tile.bulk.wait 0
  }}
}}"
    )
}

pub const BAR: &str = "memref<!tile.mbarrier, #tile.shared>";

pub fn expect(bytes: usize) -> String {
    format!(
        "    %n = arith.constant {bytes} : i32
    tile.mbarrier.arrive_expect_tx %bar[], %n : {BAR}\n"
    )
}

const IMAGES: &str = "memref<2x5x6x16xf32, #tile.global>";

/// Element of the images at n, h, w and channel, zero outside.
fn pixel(n: i64, h: i64, w: i64, c: i64) -> f64 {
    let inside = (0..2).contains(&n) && (0..5).contains(&h) && (0..6).contains(&w);
    if inside {
        (((n * 5 + h) * 6 + w) * 16 + c + 1) as f64
    } else {
        0.0
    }
}

fn images() -> HostValue {
    array(DType::F32, &[2, 5, 6, 16], |i| (i + 1) as f64)
}

#[test]
fn im2col_brings_a_filter_tap_of_each_pixel() {
    // A window one pixel larger at both ends, as for a 3x3 filter with padding, and the tap two down and one across.
    let from = "!tile.tensor_map<40x16xf32, swizzle = 64, mode = im2col, lower = [-1, -1], upper = [-1, -1]>";
    let to = "!tile.tensor_map<40x16xf32, swizzle = 64>";
    let memory = "memref<40x16xf32, #tile.shared<swizzle = 64>>";
    let body = format!(
        "    %m = tile.alloc : {memory}
{}    tile.tma.prefetch %from[%c0, %cm1, %cm1, %c0] offsets(%h2, %h1) : {from}
    tile.tma.load %from[%c0, %cm1, %cm1, %c0], %m, %bar[] offsets(%h2, %h1) cache evict_last : {from}, {memory}, {BAR}
    tile.mbarrier.wait %bar[], %false : {BAR}
    tile.tma.store %m, %to[%c0, %c0] : {memory}, {to}",
        expect(40 * 64)
    );
    let source = one_lane((IMAGES, from), ("memref<40x16xf32, #tile.global>", to), &body);
    let after = run_on("sm_90a", &source, &[images(), array(DType::F32, &[40, 16], |_| -1.0)]);
    let mut expected = vec![];
    for p in 0..40i64 {
        let (w, h, n) = (p % 6 - 1, p / 6 % 5 - 1, p / 30);
        expected.extend((0..16).map(|channel| pixel(n, h + 2, w + 1, channel)));
    }
    assert_eq!(numbers(&after[1]), expected);
}

#[test]
fn im2col_stores_pixels_where_they_came_from() {
    // Five pixels from the last of a line of the first image on.
    let from = "!tile.tensor_map<5x16xf32, swizzle = 64>";
    let to = "!tile.tensor_map<5x16xf32, swizzle = 64, mode = im2col, lower = [0, 0], upper = [0, 0]>";
    let memory = "memref<5x16xf32, #tile.shared<swizzle = 64>>";
    let body = format!(
        "    %m = tile.alloc : {memory}
{}    tile.tma.load %from[%c0, %c0], %m, %bar[] : {from}, {memory}, {BAR}
    tile.mbarrier.wait %bar[], %false : {BAR}
    tile.tma.store %m, %to[%c0, %c2, %c5, %c0] : {memory}, {to}",
        expect(5 * 64)
    );
    let source = one_lane(("memref<5x16xf32, #tile.global>", from), (IMAGES, to), &body);
    let values = [array(DType::F32, &[5, 16], |i| -(i as f64) - 1.0), images()];
    let after = run_on("sm_90a", &source, &values);
    let mut expected = numbers(&values[1]);
    let start = (2 * 6 + 5) * 16;
    for (i, value) in expected[start..start + 80].iter_mut().enumerate() {
        *value = -(i as f64) - 1.0;
    }
    assert_eq!(numbers(&after[1]), expected);
}

#[test]
fn columns_along_w_bring_their_halo() {
    let from = "!tile.tensor_map<10x16xf32, swizzle = 64, mode = im2col_w, rank = 4, lower = [0], upper = [0]>";
    let to = "!tile.tensor_map<12x16xf32, swizzle = 64>";
    let memory = "memref<12x16xf32, #tile.shared<swizzle = 64>>";
    let body = format!(
        "    %m = tile.alloc : {memory}
{}    tile.tma.load %from[%c0, %c3, %c3, %c0], %m, %bar[] offsets(%h2, %h0) : {from}, {memory}, {BAR}
    tile.mbarrier.wait %bar[], %false : {BAR}
    tile.tma.store %m, %to[%c0, %c0] : {memory}, {to}",
        expect(12 * 64)
    );
    let source = one_lane((IMAGES, from), ("memref<12x16xf32, #tile.global>", to), &body);
    let after = run_on("sm_100a", &source, &[images(), array(DType::F32, &[12, 16], |_| -1.0)]);
    // From w = 3 of line 3: three pixels, then that line of the next image, then nothing.
    let places = (3..15i64).map(|p| (p / 6, p % 6));
    let expected: Vec<f64> = places
        .flat_map(|(n, w)| (0..16).map(move |c| pixel(n, 3, w, c)))
        .collect();
    assert_eq!(numbers(&after[1]), expected);
}

#[test]
fn four_rows_are_gathered_and_scattered() {
    let a = "memref<16x32xi32, #tile.global>";
    let map = "!tile.tensor_map<1x32xi32, swizzle = 128>";
    let memory = "memref<4x32xi32, #tile.shared<swizzle = 128>>";
    let body = format!(
        "    %m = tile.alloc : {memory}
{}    tile.tma.load %from[%c9, %c2, %c15, %c5, %c0], %m, %bar[] gather4 space cta : {map}, {memory}, {BAR}
    tile.mbarrier.wait %bar[], %false : {BAR}
    tile.tma.store %m, %to[%c0, %c1, %c12, %c2, %c0] scatter4 : {memory}, {map}",
        expect(512)
    );
    let values = [
        array(DType::I32, &[16, 32], |i| i as f64),
        array(DType::I32, &[16, 32], |_| -1.0),
    ];
    let after = run_on("sm_100a", &one_lane((a, map), (a, map), &body), &values);
    let mut expected = vec![-1.0; 16 * 32];
    for (to, from) in [(0, 9), (1, 2), (12, 15), (2, 5)] {
        for i in 0..32 {
            expected[to * 32 + i] = (from * 32 + i) as f64;
        }
    }
    assert_eq!(numbers(&after[1]), expected);
}

#[test]
fn a_slice_of_an_interleaved_tensor_moves_at_a_time() {
    // N, channel slices, H, W, and the eight channels of a slice.
    let a = "memref<1x3x4x6x8xi16, #tile.global>";
    let map = "!tile.tensor_map<1x1x2x8xi16, interleave = 16>";
    let memory = "memref<1x1x2x8x8xi16, #tile.shared<align = 128>>";
    let body = format!(
        "    %m = tile.alloc : {memory}
{}    tile.tma.load %from[%c0, %c1, %c1, %c2], %m, %bar[] : {map}, {memory}, {BAR}
    tile.mbarrier.wait %bar[], %false : {BAR}
    tile.tma.store %m, %to[%c0, %c2, %c1, %c3] : {memory}, {map}",
        expect(2 * 8 * 16)
    );
    let shape = [1, 3, 4, 6, 8];
    let values = [
        array(DType::I16, &shape, |i| (i + 1) as f64),
        array(DType::I16, &shape, |_| -1.0),
    ];
    let after = run_on("sm_90a", &one_lane((a, map), (a, map), &body), &values);
    let at = |slice: usize, h: usize, w: usize, c: usize| ((slice * 4 + h) * 6 + w) * 8 + c;
    let mut expected = vec![-1.0; 3 * 4 * 6 * 8];
    // Positions move by one along W.
    for (h, w, c) in (1..3).flat_map(|h| (3..6).flat_map(move |w| (0..8).map(move |c| (h, w, c)))) {
        expected[at(2, h, w, c)] = (at(1, h, w - 1, c) + 1) as f64;
    }
    assert_eq!(numbers(&after[1]), expected);
}

#[test]
fn reductions_combine_with_what_is_there() {
    let a = "memref<8x32xi32, #tile.global>";
    let map = "!tile.tensor_map<8x32xi32, swizzle = 128, format = unsigned>";
    let memory = "memref<8x32xi32, #tile.shared<swizzle = 128>>";
    let (old, new) = (|i: usize| (i * 7 % 50) as i64, |i: usize| (i * 11 % 41) as i64);
    type Operator = fn(i64, i64) -> i64;
    let cases: [(&str, Operator); 8] = [
        ("add", |d, s| d + s),
        ("min", i64::min),
        ("max", i64::max),
        ("inc", |d, s| if d >= s { 0 } else { d + 1 }),
        ("dec", |d, s| if d == 0 || d > s { s } else { d - 1 }),
        ("and", |d, s| d & s),
        ("or", |d, s| d | s),
        ("xor", |d, s| d ^ s),
    ];
    for (op, combine) in cases {
        let body = format!(
            "    %m = tile.alloc : {memory}
{}    tile.tma.load %from[%c0, %c0], %m, %bar[] : {map}, {memory}, {BAR}
    tile.mbarrier.wait %bar[], %false : {BAR}
    tile.tma.reduce {op} %m, %to[%c0, %c0] : {memory}, {map}",
            expect(1024)
        );
        let source = one_lane((a, map), (a, map), &body);
        let values = [
            array(DType::I32, &[8, 32], |i| new(i) as f64),
            array(DType::I32, &[8, 32], |i| old(i) as f64),
        ];
        let after = run_on("sm_90a", &source, &values);
        let expected: Vec<f64> = (0..256).map(|i| combine(old(i), new(i)) as f64).collect();
        assert_eq!(numbers(&after[1]), expected, "{op}");
    }
}

#[test]
fn blocks_of_a_cluster_send_and_add_to_each_other() {
    let flat = "memref<?xi32, #tile.global>";
    let memory = "memref<64xi32, #tile.shared<align = 128>>";
    let there = "memref<64xi32, #tile.shared_cluster>";
    let its = "memref<!tile.mbarrier, #tile.shared_cluster>";
    // Each block loads its 64 numbers, sends them to the other, and stores what has come.
    for (send, fold) in [
        ("tile.bulk.send %m, %to, %its", false),
        ("tile.bulk.send_reduce add %m, %to, %its", true),
    ] {
        let source = format!(
            "tile.kernel @k(%A: {flat}, %C: {flat}) threads(32) cluster(2, 1, 1) launch {{
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.grid %c2, %c1, %c1
}} body {{
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i32
  %bytes = arith.constant 256 : i32
  %false = arith.constant false
  %x = tile.block_id x
  %at = arith.muli %x, %c64 : index
  %rank = arith.index_cast %x : index to i32
  %other = arith.xori %rank, %one : i32
  %m = tile.alloc : {memory}
  %in = tile.alloc : {memory}
  %bars = tile.alloc : {BAR}
  %bar = tile.alloc : {BAR}
  %lane = tile.lane_id
  %upper = arith.addi %lane, %c32 : index
  memref.store %one, %in[%lane] : {memory}
  memref.store %one, %in[%upper] : {memory}
  %elected = tile.elect
  scf.if %elected {{
    tile.mbarrier.init %bar[], %one : {BAR}
    tile.mbarrier.init %bars[], %one : {BAR}
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : {BAR}
    tile.mbarrier.arrive_expect_tx %bars[], %bytes : {BAR}
    tile.fence proxy_async
  }}
  CLUSTER
  scf.if %elected {{
    tile.bulk.load %A[%at], %m, %bar[] : {flat}, {memory}, {BAR}
    tile.mbarrier.wait %bar[], %false : {BAR}
    %to = tile.remote %in, %other : {memory} -> {there}
    %its = tile.remote %bars, %other : {BAR} -> {its}
    {send} : {memory}, {there}, {its}
    tile.mbarrier.wait %bars[], %false : {BAR}
    tile.bulk.store %in, %C[%at] : {memory}, {flat}
    tile.bulk.commit
    tile.bulk.wait 0
  }}
  CLUSTER
}}"
        );
        let source = source.replace("CLUSTER", "tile.cluster.arrive aligned\n  tile.cluster.wait aligned");
        let values = [
            array(DType::I32, &[128], |i| i as f64),
            array(DType::I32, &[128], |_| -1.0),
        ];
        let after = run_on("sm_90a", &source, &values);
        let expected: Vec<f64> = (0..128).map(|i| (i ^ 64) as f64 + f64::from(u8::from(fold))).collect();
        assert_eq!(numbers(&after[1]), expected, "{send}");
    }
}

#[test]
fn a_map_that_the_device_makes_is_used_by_its_copies() {
    let bytes = "memref<128xi8, #tile.shared<align = 128>>";
    let map = "!tile.tensor_map<4x32xf32, swizzle = 128>";
    let memory = "memref<4x32xf32, #tile.shared<swizzle = 128>>";
    let a = "memref<10x32xf32, #tile.global>";
    let c = "memref<4x32xf32, #tile.global>";
    let d = "memref<128xi8, #tile.global>";
    let source = format!(
        "tile.kernel @k(%A: {a}, %D: {d}, %C: {c}) threads(32) launch {{
  %c1 = arith.constant 1 : index
  %to = tile.tensor_map %C : {c} -> {map}
  tile.grid %c1, %c1, %c1 args(%to : {map})
}} body args(%to: {map}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : i8
  %one = arith.constant 1 : i32
  %four = arith.constant 4 : i32
  %ten = arith.constant 10 : i32
  %wide = arith.constant 32 : i32
  %pitch = arith.constant 128 : i64
  %payload = arith.constant 512 : i32
  %false = arith.constant false
  %m = tile.alloc : {memory}
  %new = tile.alloc : {bytes}
  %bar = tile.alloc : {BAR}
  %lane = tile.lane_id
  %first = arith.muli %lane, %c4 : index
  scf.for %i = %c0 to %c4 step %c1 {{
    %at = arith.addi %first, %i : index
    memref.store %zero, %new[%at] : {bytes}
  }}
  %address = tile.global_address %A[%c0, %c0] : {a}
  tile.barrier
  %elected = tile.elect
  scf.if %elected {{
    tile.tensormap.replace global_address %new value %address : {bytes}, i64
    tile.tensormap.replace rank %new value %one : {bytes}, i32
    tile.tensormap.replace box_dim %new ordinal 0 value %wide : {bytes}, i32
    tile.tensormap.replace box_dim %new ordinal 1 value %four : {bytes}, i32
    tile.tensormap.replace global_dim %new ordinal 0 value %wide : {bytes}, i32
    tile.tensormap.replace global_dim %new ordinal 1 value %ten : {bytes}, i32
    tile.tensormap.replace global_stride %new ordinal 0 value %pitch : {bytes}, i64
    tile.tensormap.replace element_stride %new ordinal 0 value %one : {bytes}, i32
    tile.tensormap.replace element_stride %new ordinal 1 value %one : {bytes}, i32
    tile.tensormap.replace elemtype %new code 7 : {bytes}
    tile.tensormap.replace interleave_layout %new code 0 : {bytes}
    tile.tensormap.replace swizzle_mode %new code 3 : {bytes}
    tile.tensormap.replace fill_mode %new code 0 : {bytes}
  }}
  tile.barrier
  tile.tensormap.cp_fenceproxy %new, %D gpu : {bytes}, {d}
  tile.tensormap.acquire %D gpu : {d}
  scf.if %elected {{
    %map = tile.tensormap.at %D : {d} -> {map}
    tile.mbarrier.init %bar[], %one : {BAR}
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %payload : {BAR}
    tile.tma.load %map[%c8, %c0], %m, %bar[] : {map}, {memory}, {BAR}
    tile.mbarrier.wait %bar[], %false : {BAR}
    tile.tma.store %m, %to[%c0, %c0] : {memory}, {map}
    tile.bulk.commit
    tile.bulk.wait 0
  }}
}}"
    );
    let values = [
        array(DType::F32, &[10, 32], |i| (i + 1) as f64),
        array(DType::I8, &[128], |_| 0.0),
        array(DType::F32, &[4, 32], |_| -1.0),
    ];
    let after = run_on("sm_90a", &source, &values);
    // Rows 8 and 9, then two outside.
    let expected: Vec<f64> = (0..128)
        .map(|i| if i < 64 { (8 * 32 + i + 1) as f64 } else { 0.0 })
        .collect();
    assert_eq!(numbers(&after[2]), expected);
}
