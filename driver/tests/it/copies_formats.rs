//! Copies in the formats, spaces and forms that `copies` leaves out, from `.mlir` to their results on the simulator.
use crate::copies::{BAR, array, expect, numbers, one_lane, run_on};
use girih_core::dtype::DType;
use girih_runtime::launch::HostValue;

/// Bytes that tell places apart.
fn byte(i: usize) -> i64 {
    (i * 37 % 251) as i64 - 125
}

fn bytes(rows: u64, columns: u64) -> HostValue {
    array(DType::I8, &[rows, columns], |i| byte(i) as f64)
}

/// A load of four rows from row 3 on through `map`, and all bytes of the image.
fn image_of(map: &str, columns: u64, image_bytes: u64) -> Vec<f64> {
    let (a, c) = (
        format!("memref<8x{columns}xi8, #tile.global>"),
        format!("memref<4x{image_bytes}xi8, #tile.global>"),
    );
    let memory = format!("memref<4x{image_bytes}xi8, #tile.shared>");
    let to = format!("!tile.tensor_map<4x{image_bytes}xi8>");
    let body = format!(
        "    %m = tile.alloc : {memory}
{}    tile.tma.load %from[%c3, %c0], %m, %bar[] : {map}, {memory}, {BAR}
    tile.mbarrier.wait %bar[], %false : {BAR}
    tile.tma.store %m, %to[%c0, %c0] : {memory}, {to}",
        expect(4 * columns as usize)
    );
    let values = [bytes(8, columns), array(DType::I8, &[4, image_bytes], |_| 99.0)];
    let after = run_on("sm_100a", &one_lane((&a, map), (&c, &to), &body), &values);
    numbers(&after[1])
}

#[test]
fn packed_four_bit_elements_arrive_as_they_are() {
    let image = image_of("!tile.tensor_map<4x128xf4E2M1FN>", 64, 64);
    let expected: Vec<f64> = (0..4 * 64).map(|i| byte(3 * 64 + i) as f64).collect();
    assert_eq!(image, expected);
}

#[test]
fn sixteen_small_elements_are_spread_over_sixteen_bytes() {
    for (map, columns, piece) in [
        ("!tile.tensor_map<4x128xf4E2M1FN, format = b4x16_p64>", 64, 8),
        ("!tile.tensor_map<4x128xf6E2M3FN>", 96, 12),
        ("!tile.tensor_map<4x128xf6E3M2FN>", 96, 12),
    ] {
        let image = image_of(map, columns as u64, 128);
        for (at, found) in image.iter().enumerate() {
            let (row, group, within) = (at / 128, at % 128 / 16, at % 16);
            // The rest of the 16 bytes is undefined.
            if within < piece {
                let expected = byte((3 + row) * columns + group * piece + within) as f64;
                assert_eq!(*found, expected, "{map}, byte {at}");
            }
        }
    }
}

#[test]
fn six_bit_stores_pack_the_low_bits_of_each_byte() {
    let map = "!tile.tensor_map<4x128xf6E2M3FN>";
    let (c, memory) = ("memref<4x96xi8, #tile.global>", "memref<4x128xi8, #tile.shared>");
    let body = format!(
        "    %m = tile.alloc : {memory}
    %c4 = arith.constant 4 : index
    %c128 = arith.constant 128 : index
    %five = arith.constant 5 : index
    scf.for %i = %c0 to %c4 step %c1 {{
      scf.for %j = %c0 to %c128 step %c1 {{
        %k = arith.addi %i, %j : index
        %n = arith.muli %k, %five : index
        %v = arith.index_cast %n : index to i8
        memref.store %v, %m[%i, %j] : {memory}
      }}
    }}
    tile.fence proxy_async_shared
    tile.tma.store %m, %to[%c0, %c0] : {memory}, {map}"
    );
    let values = [bytes(4, 96), array(DType::I8, &[4, 96], |_| 99.0)];
    let after = run_on("sm_100a", &one_lane((c, map), (c, map), &body), &values);
    let packed: Vec<u8> = numbers(&after[1]).into_iter().map(|v| v as i8 as u8).collect();
    for (row, packed) in packed.chunks_exact(96).enumerate() {
        for j in 0..128 {
            let word = u16::from_le_bytes([packed[j * 6 / 8], *packed.get(j * 6 / 8 + 1).unwrap_or(&0)]);
            let expected = ((row + j) * 5 % 64) as u16;
            assert_eq!(word >> (j * 6 % 8) & 0x3f, expected, "row {row}, element {j}");
        }
    }
}

#[test]
fn floats_are_added_to_what_is_there() {
    for (dtype, element, extra) in [
        (DType::F32, "f32", ""),
        (DType::F32, "f32", ", format = f32_ftz"),
        (DType::F16, "f16", ""),
        (DType::Bf16, "bf16", ""),
    ] {
        let a = format!("memref<8x32x{element}, #tile.global>");
        let memory = format!("memref<8x32x{element}, #tile.shared>");
        let map = format!("!tile.tensor_map<8x32x{element}{extra}>");
        let body = format!(
            "    %m = tile.alloc : {memory}
{}    tile.tma.load %from[%c0, %c0], %m, %bar[] : {map}, {memory}, {BAR}
    tile.mbarrier.wait %bar[], %false : {BAR}
    tile.tma.reduce add %m, %to[%c0, %c0] : {memory}, {map}",
            expect(8 * 32 * dtype.bytes() as usize)
        );
        let (new, old) = (|i: usize| (i % 7) as f64 - 3.0, |i: usize| (i % 5) as f64 * 0.5);
        let values = [array(dtype, &[8, 32], new), array(dtype, &[8, 32], old)];
        let after = run_on("sm_90a", &one_lane((&a, &map), (&a, &map), &body), &values);
        let expected: Vec<f64> = (0..256).map(|i| old(i) + new(i)).collect();
        assert_eq!(numbers(&after[1]), expected, "{element}{extra}");
    }
}

#[test]
fn wide_integers_are_compared_with_their_sign() {
    let a = "memref<4x16xi64, #tile.global>";
    let memory = "memref<4x16xi64, #tile.shared>";
    for (op, extra, pick) in [
        ("min", "", i64::min as fn(i64, i64) -> i64),
        ("max", "", i64::max),
        ("max", ", format = unsigned", |a, b| (a as u64).max(b as u64) as i64),
        ("xor", ", format = unsigned", |a, b| a ^ b),
    ] {
        let map = format!("!tile.tensor_map<4x16xi64{extra}>");
        let body = format!(
            "    %m = tile.alloc : {memory}
{}    tile.tma.load %from[%c0, %c0], %m, %bar[] : {map}, {memory}, {BAR}
    tile.mbarrier.wait %bar[], %false : {BAR}
    tile.tma.reduce {op} %m, %to[%c0, %c0] : {memory}, {map}",
            expect(4 * 16 * 8)
        );
        let (new, old) = (|i: usize| i as i64 * 3 - 90, |i: usize| 20 - i as i64);
        let values = [
            array(DType::I64, &[4, 16], |i| new(i) as f64),
            array(DType::I64, &[4, 16], |i| old(i) as f64),
        ];
        let after = run_on("sm_90a", &one_lane((a, &map), (a, &map), &body), &values);
        let expected: Vec<f64> = (0..64).map(|i| pick(old(i), new(i)) as f64).collect();
        assert_eq!(numbers(&after[1]), expected, "{op}{extra}");
    }
}

#[test]
fn boxes_of_five_dimensions_reach_the_blocks_own_window() {
    let map = "!tile.tensor_map<1x2x2x3x8xi32, element_strides = [1, 1, 2, 1, 1], fill = zero, l2 = 128>";
    let to = "!tile.tensor_map<6x8xi32>";
    let memory = "memref<1x2x1x3x8xi32, #tile.shared>";
    let body = format!(
        "    %m = tile.alloc : {memory}
    %half = arith.constant 0.5 : f32
    %policy = tile.create_policy evict_first %half
{}    tile.tma.load %from[%c1, %cm1, %c2, %c1, %c0], %m, %bar[] space cta policy %policy : {map}, {memory}, {BAR}
    tile.mbarrier.wait %bar[], %false : {BAR}
    tile.bulk.store %m, %C[%c0, %c0] : {memory}, memref<6x8xi32, #tile.global>",
        expect(6 * 32)
    );
    let source = one_lane(
        ("memref<2x3x4x4x8xi32, #tile.global>", map),
        ("memref<6x8xi32, #tile.global>", to),
        &body,
    );
    let values = [
        array(DType::I32, &[2, 3, 4, 4, 8], |i| (i + 1) as f64),
        array(DType::I32, &[6, 8], |_| -1.0),
    ];
    let after = run_on("sm_90a", &source, &values);
    let mut expected = vec![];
    for d3 in -1..1i64 {
        for d1 in 1..4i64 {
            let inside = d3 >= 0;
            expected.extend((0..8).map(|d0| match inside {
                true => ((((3 + d3) * 4 + 2) * 4 + d1) * 8 + d0 + 1) as f64,
                false => 0.0,
            }));
        }
    }
    assert_eq!(numbers(&after[1]), expected);
}

#[test]
fn contiguous_bytes_reach_both_blocks_of_a_cluster() {
    let (flat, memory) = ("memref<?xi32, #tile.global>", "memref<64xi32, #tile.shared>");
    let source = format!(
        "tile.kernel @k(%A: {flat}, %C: {flat}) threads(32) cluster(2, 1, 1) launch {{
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.grid %c2, %c1, %c1
}} body {{
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %both = arith.constant 3 : i16
  %one = arith.constant 1 : i32
  %bytes = arith.constant 256 : i32
  %false = arith.constant false
  %m = tile.alloc : {memory}
  %bar = tile.alloc : {BAR}
  %rank = tile.cluster_rank
  %at = arith.muli %rank, %c64 : index
  %first = arith.cmpi eq, %rank, %c0 : index
  %elected = tile.elect
  scf.if %elected {{
    tile.mbarrier.init %bar[], %one : {BAR}
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : {BAR}
  }}
  tile.cluster.arrive aligned
  tile.cluster.wait aligned
  %issues = arith.andi %elected, %first : i1
  scf.if %issues {{
    tile.bulk.load %A[%c0], %m, %bar[] multicast %both : {flat}, {memory}, {BAR}
  }}
  scf.if %elected {{
    tile.mbarrier.wait %bar[], %false : {BAR}
    tile.bulk.store %m, %C[%at] : {memory}, {flat}
    tile.bulk.commit
    tile.bulk.wait 0
  }}
  tile.cluster.arrive aligned
  tile.cluster.wait aligned
}}"
    );
    let values = [
        array(DType::I32, &[64], |i| (i * i) as f64),
        array(DType::I32, &[128], |_| -1.0),
    ];
    let after = run_on("sm_90a", &source, &values);
    let expected: Vec<f64> = (0..128).map(|i| (i % 64 * (i % 64)) as f64).collect();
    assert_eq!(numbers(&after[1]), expected);
}
