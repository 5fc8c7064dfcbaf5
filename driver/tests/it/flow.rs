//! Register tiles through control flow, arithmetic on them, products in flight across iterations, several kernels.
use crate::support::*;
use girih_core::dtype::DType;

/// A kernel of one warpgroup on matrices of f32, 64 rows each.
fn kernel(name: &str, body: &str) -> String {
    let rows = rows_of(DType::F32);
    format!(
        "tile.kernel @{name}(%A: {rows}, %n: i64, %B: {rows}) threads(128) launch {{
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}} body {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = arith.index_cast %n : i64 to index
{}}}
",
        body.replace("TILE", "tensor<64x16xf32, #tile.layout<wgmma_d>>")
            .replace("ROWS", &rows)
    )
}

fn arguments(n: i64) -> [girih_runtime::launch::HostValue; 3] {
    [
        matrix(DType::F32, 64, 16, noise(1, -9, 9)),
        integer(n),
        matrix(DType::F32, 64, 16, |_, _| -1000.0),
    ]
}

#[test]
fn loops_and_branches_carry_tiles() {
    let source = kernel(
        "walk",
        "  %a = tile.load %A[%c0, %c0] : ROWS -> TILE
  %zero = arith.constant dense<0.0> : TILE
  %one = arith.constant 1.0 : f32
  %r:2 = scf.for %i = %c0 to %count step %c1 iter_args(%x = %zero, %y = %one) -> (TILE, f32) {
    %bit = arith.andi %i, %c1 : index
    %is_odd = arith.cmpi eq, %bit, %c1 : index
    %next = scf.if %is_odd -> TILE {
      %s = arith.subf %x, %a : TILE
      scf.yield %s : TILE
    } else {
      %double = arith.addf %a, %a : TILE
      %s = arith.addf %x, %double : TILE
      scf.yield %s : TILE
    }
    %more = arith.addf %y, %one : f32
    scf.yield %next, %more : TILE, f32
  }
  tile.store %r#0, %B[%c0, %c0] : TILE, ROWS
",
    );
    for n in [0, 1, 2, 7] {
        let got = run(&source, &arguments(n));
        let value = noise(1, -9, 9);
        let times = 2 * ((n + 1) / 2) - n / 2;
        assert_elements(&format!("{n} rounds"), &got, |r, c| times as f64 * value(r, c));
    }
}

#[test]
fn while_loops_carry_tiles() {
    let source = kernel(
        "halve",
        "  %c2 = arith.constant 2 : index
  %a = tile.load %A[%c0, %c0] : ROWS -> TILE
  %r:2 = scf.while (%x = %a, %i = %count) : (TILE, index) -> (TILE, index) {
    %more = arith.cmpi ugt, %i, %c0 : index
    scf.condition(%more) %x, %i : TILE, index
  } do {
  ^bb0(%x: TILE, %i: index):
    %s = arith.addf %x, %x : TILE
    %half = arith.divui %i, %c2 : index
    scf.yield %s, %half : TILE, index
  }
  tile.store %r#0, %B[%c0, %c0] : TILE, ROWS
",
    );
    let got = run(&source, &arguments(9));
    let value = noise(1, -9, 9);
    assert_elements("four doublings", &got, |r, c| 16.0 * value(r, c));
}

#[test]
fn arithmetic_on_tiles_is_element_by_element() {
    let source = kernel(
        "arithmetic",
        "  %a = tile.load %A[%c0, %c0] : ROWS -> TILE
  %three = arith.constant dense<3.0> : TILE
  %two = arith.constant dense<2.0> : TILE
  %zero = arith.constant dense<0.0> : TILE
  %m = arith.mulf %a, %three : TILE
  %f = math.fma %m, %two, %a : TILE
  %positive = arith.cmpf ogt, %a, %zero : TILE
  %s = arith.select %positive, %f, %three : tensor<64x16xi1, #tile.layout<wgmma_d>>, TILE
  %flag = arith.cmpi ugt, %count, %c1 : index
  %t = arith.select %flag, %s, %zero : TILE
  %abs = math.absf %a : TILE
  %q = math.sqrt %abs : TILE
  %whole = math.floor %q : TILE
  %top = arith.maximumf %t, %whole : TILE
  %i = arith.fptosi %top : TILE to tensor<64x16xi32, #tile.layout<wgmma_d>>
  %seven = arith.constant dense<7> : tensor<64x16xi32, #tile.layout<wgmma_d>>
  %low = arith.andi %i, %seven : tensor<64x16xi32, #tile.layout<wgmma_d>>
  %g = arith.sitofp %low : tensor<64x16xi32, #tile.layout<wgmma_d>> to TILE
  %h = arith.truncf %g : TILE to tensor<64x16xbf16, #tile.layout<wgmma_d>>
  %w = arith.extf %h : tensor<64x16xbf16, #tile.layout<wgmma_d>> to TILE
  %minus = arith.negf %w : TILE
  tile.store %minus, %B[%c0, %c0] : TILE, ROWS
",
    );
    let value = noise(1, -9, 9);
    for n in [1, 2] {
        let got = run(&source, &arguments(n));
        assert_elements("arithmetic", &got, |r, c| {
            let a = value(r, c);
            let t = if n > 1 {
                if a > 0.0 { 7.0 * a } else { 3.0 }
            } else {
                0.0
            };
            -f64::from(t.max(a.abs().sqrt().floor()) as i32 & 7)
        });
    }
}

/// A chain of products over a ring of slots, `pending` of them in flight while the next is issued.
fn chain(d: DType, n: usize, pending: usize) -> String {
    let (a, c) = (rows_of(DType::F16), rows_of(d));
    let (map_a, map_b) = (
        "!tile.tensor_map<64x32xf16, swizzle = 64>",
        format!("!tile.tensor_map<{n}x32xf16, swizzle = 64>"),
    );
    let space = "#tile.shared<swizzle = 64>";
    let (slot_a, slot_b) = (
        format!("memref<64x32xf16, {space}>"),
        format!("memref<{n}x32xf16, {space}>"),
    );
    let tile = format!("tensor<64x{n}x{}, #tile.layout<wgmma_d>>", mlir(d));
    let zero = if d == DType::I32 { "0" } else { "0.0" };
    let bytes = (64 + n) * 32 * 2;
    let wait = match pending {
        0 => format!(
            "    %next = tile.wgmma.wait 0 %flying : !tile.in_flight<{tile}> -> {tile}
    scf.yield %next : {tile}
  }}
"
        ),
        p => format!(
            "    %next = tile.wgmma.wait {p} %flying : !tile.in_flight<{tile}> -> !tile.in_flight<{tile}>
    scf.yield %next : !tile.in_flight<{tile}>
  }}
  %sum = tile.wgmma.wait 0 %last : !tile.in_flight<{tile}> -> {tile}
"
        ),
    };
    let (last, carried, acc) = match pending {
        0 => ("sum", tile.clone(), "zero"),
        _ => ("last", format!("!tile.in_flight<{tile}>"), "begun"),
    };
    // With products in flight the first is outside the loop.
    let (begin, from) = match pending {
        0 => (String::new(), "c0"),
        _ => (
            format!(
                "  %a0 = tile.slab %as[%c0] : memref<4x64x32xf16, {space}> -> {slot_a}
  %b0 = tile.slab %bs[%c0] : memref<4x{n}x32xf16, {space}> -> {slot_b}
  tile.mbarrier.wait %full[%c0], %false : memref<4x!tile.mbarrier, #tile.shared>
  tile.wgmma.fence
  %begun = tile.wgmma %a0, %b0, %zero : {slot_a}, {slot_b}, {tile}
  tile.wgmma.commit
"
            ),
            "c1",
        ),
    };
    format!(
        "tile.kernel @chain(%A: {a}, %B: {a}, %C: {c}) threads(128) launch {{
  %c1 = arith.constant 1 : index
  %map_a = tile.tensor_map %A : {a} -> {map_a}
  %map_b = tile.tensor_map %B : {a} -> {map_b}
  tile.grid %c1, %c1, %c1 args(%map_a, %map_b : {map_a}, {map_b})
}} body args(%map_a: {map_a}, %map_b: {map_b}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %false = arith.constant false
  %K = memref.dim %A, %c1 : {a}
  %steps = arith.ceildivui %K, %c32 : index
  %as = tile.alloc : memref<4x64x32xf16, {space}>
  %bs = tile.alloc : memref<4x{n}x32xf16, {space}>
  %full = tile.alloc : memref<4x!tile.mbarrier, #tile.shared>
  %thread = tile.thread_id
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {{
    %one = arith.constant 1 : i32
    %bytes = arith.constant {bytes} : i32
    scf.for %i = %c0 to %c4 step %c1 {{
      tile.mbarrier.init %full[%i], %one : memref<4x!tile.mbarrier, #tile.shared>
    }}
    tile.fence mbarrier_init
    scf.for %i = %c0 to %steps step %c1 {{
      %k = arith.muli %i, %c32 : index
      %a = tile.slab %as[%i] : memref<4x64x32xf16, {space}> -> {slot_a}
      %b = tile.slab %bs[%i] : memref<4x{n}x32xf16, {space}> -> {slot_b}
      tile.mbarrier.arrive_expect_tx %full[%i], %bytes : memref<4x!tile.mbarrier, #tile.shared>
      tile.tma.load %map_a[%c0, %k], %a, %full[%i] : {map_a}, {slot_a}, memref<4x!tile.mbarrier, #tile.shared>
      tile.tma.load %map_b[%c0, %k], %b, %full[%i] : {map_b}, {slot_b}, memref<4x!tile.mbarrier, #tile.shared>
    }}
  }}
  tile.barrier
  %zero = arith.constant dense<{zero}> : {tile}
{begin}  %{last} = scf.for %i = %{from} to %steps step %c1 iter_args(%acc = %{acc}) -> ({carried}) {{
    tile.mbarrier.wait %full[%i], %false : memref<4x!tile.mbarrier, #tile.shared>
    %a = tile.slab %as[%i] : memref<4x64x32xf16, {space}> -> {slot_a}
    %b = tile.slab %bs[%i] : memref<4x{n}x32xf16, {space}> -> {slot_b}
    tile.wgmma.fence
    %flying = tile.wgmma %a, %b, %acc : {slot_a}, {slot_b}, {carried}
    tile.wgmma.commit
{wait}  tile.store %sum, %C[%c0, %c0] : {tile}, {c}
}}
"
    )
}

#[test]
fn products_in_flight_across_iterations() {
    let mut cases = vec![];
    for d in [DType::F32, DType::F16] {
        for n in [8, 64, 256] {
            for pending in [0, 1] {
                cases.push((d, n, pending));
            }
        }
    }
    for (d, n, pending) in cases {
        let (a, b) = (noise(1, -2, 2), noise(2, -2, 2));
        let source = chain(d, n, pending);
        let program = program(&source);
        for k in [32, 72, 128] {
            let arguments = [
                matrix(DType::F16, 64, k, &a),
                matrix(DType::F16, n, k, &b),
                matrix(d, 64, n, |_, _| 99.0),
            ];
            let after = run_kernel(&program, None, &arguments);
            let what = format!("{d:?}, n = {n}, {pending} pending, k = {k}");
            assert_elements(&what, as_array(&after[2]).expect("an array"), |m, n| {
                (0..k).map(|k| a(m, k) * b(n, k)).sum()
            });
        }
    }
}

#[test]
fn several_kernels_in_one_module() {
    let add = |name: &str, op: &str| {
        kernel(
            name,
            &format!(
                "  %a = tile.load %A[%c0, %c0] : ROWS -> TILE
  %b = arith.{op} %a, %a : TILE
  %s = tile.alloc : memref<64x16xf32, #tile.shared>
  tile.store %b, %s[%c0, %c0] : TILE, memref<64x16xf32, #tile.shared>
  tile.barrier
  %c = tile.load %s[%c0, %c0] : memref<64x16xf32, #tile.shared> -> TILE
  tile.store %c, %B[%c0, %c0] : TILE, ROWS
"
            ),
        )
    };
    let source = [add("twice", "addf"), add("square", "mulf"), add("nothing", "subf")].concat();
    let program = program(&source);
    let value = noise(1, -9, 9);
    let result = |name| {
        let after = run_kernel(&program, Some(name), &arguments(0));
        as_array(&after[2]).expect("an array").clone()
    };
    assert_elements("twice", &result("twice"), |r, c| 2.0 * value(r, c));
    assert_elements("square", &result("square"), |r, c| value(r, c) * value(r, c));
    assert_elements("nothing", &result("nothing"), |_, _| 0.0);
}
