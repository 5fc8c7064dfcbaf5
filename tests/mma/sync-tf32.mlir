// f32 by mma.sync: 10 bits behind the point of each number, the others are cut off.
//
// RUN: girih run %s --kernel short --device sim --check-memory --arg A=randn:f32[33,36] --arg B=randn:f32[36,35] --arg C=poison:f32[33,35] | FileCheck %s
// RUN: girih run %s --kernel shallow --device sim --check-memory --arg A=randn:f32[33,9] --arg B=randn:f32[9,35] --arg C=poison:f32[33,35] | FileCheck %s
// RUN: girih compile %s --target sm_80 --emit cubin -o %t.sm_80.cubin
// RUN: girih compile %s --target sm_89 --emit cubin -o %t.sm_89.cubin
// RUN: girih compile %s --target sm_90a --emit cubin -o %t.sm_90a.cubin
// RUN: girih compile %s --target sm_100a --emit cubin -o %t.sm_100a.cubin
// RUN: girih compile %s --target sm_120a --emit cubin -o %t.sm_120a.cubin
// CHECK: right: C:

!a = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!b = memref<?x?xf32, strided<[1, ?]>, #tile.global>
!c = memref<?x?xf32, strided<[?, 1]>, #tile.global>

tile.kernel @short(%A: !a, %B: !b, %C: !c) threads(64) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 32 : index
  %tile_n = arith.constant 32 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 32 : index
  %tile_n = arith.constant 32 : index
  %tile_k = arith.constant 16 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<32x32xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<32x16xf32>
    %b = tile.load %B[%k, %col] : !b -> tensor<16x32xf32>
    %next = tile.mma %a, %b, %acc : tensor<32x16xf32>, tensor<16x32xf32>, tensor<32x32xf32>
    scf.yield %next : tensor<32x32xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<32x32xf32>, !c
}

func.func @short_ref(%A: memref<?x?xf32, strided<[?, 1]>>, %B: memref<?x?xf32, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xf32, strided<[?, 1]>>, memref<?x?xf32, strided<[1, ?]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %mask = arith.constant 0xFFFFE000 : i32
      %a_bits = arith.bitcast %a : f32 to i32
      %b_bits = arith.bitcast %b : f32 to i32
      %a_short = arith.andi %a_bits, %mask : i32
      %b_short = arith.andi %b_bits, %mask : i32
      %x = arith.bitcast %a_short : i32 to f32
      %y = arith.bitcast %b_short : i32 to f32
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %c, %p : f32
      linalg.yield %s : f32
  }
  return
}

tile.kernel @shallow(%A: !a, %B: !b, %C: !c) threads(64) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 16 : index
  %tile_n = arith.constant 16 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 16 : index
  %tile_n = arith.constant 16 : index
  %tile_k = arith.constant 4 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<16x16xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<16x4xf32>
    %b = tile.load %B[%k, %col] : !b -> tensor<4x16xf32>
    %next = tile.mma %a, %b, %acc : tensor<16x4xf32>, tensor<4x16xf32>, tensor<16x16xf32>
    scf.yield %next : tensor<16x16xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<16x16xf32>, !c
}

func.func @shallow_ref(%A: memref<?x?xf32, strided<[?, 1]>>, %B: memref<?x?xf32, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xf32, strided<[?, 1]>>, memref<?x?xf32, strided<[1, ?]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %mask = arith.constant 0xFFFFE000 : i32
      %a_bits = arith.bitcast %a : f32 to i32
      %b_bits = arith.bitcast %b : f32 to i32
      %a_short = arith.andi %a_bits, %mask : i32
      %b_short = arith.andi %b_bits, %mask : i32
      %x = arith.bitcast %a_short : i32 to f32
      %y = arith.bitcast %b_short : i32 to f32
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %c, %p : f32
      linalg.yield %s : f32
  }
  return
}
