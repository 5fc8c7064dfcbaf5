// f32 on tensor cores: 10 bits behind the point of each number, the others are cut off.
//
// RUN: girih run %s --device sim --arg A=randn:f32[65,36] --arg B=randn:f32[36,66] --arg C=poison:f32[65,66] | FileCheck %s
// RUN: girih run %s --device sim --arg A=randn:f32[5,7] --arg B=randn:f32[7,3] --arg C=poison:f32[5,3] | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg A=randn:f32[130,70] --arg B=randn:f32[70,66] --arg C=poison:f32[130,66] | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg A=randn:f32[64,129] --arg B=randn:f32[129,64] --arg C=poison:f32[64,64] | FileCheck %s
// CHECK: right: C:

!a = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!b = memref<?x?xf32, strided<[1, ?]>, #tile.global>
!c = memref<?x?xf32, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @product(%A: !a, %B: !b, %C: !c) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 64 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 64 : index
  %tile_k = arith.constant 32 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<64x32xf32>
    %b = tile.load %B[%k, %col] : !b -> tensor<32x64xf32>
    %next = tile.mma %a, %b, %acc : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x64xf32>, !c
}

func.func @product_ref(%A: memref<?x?xf32, strided<[?, 1]>>, %B: memref<?x?xf32, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
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

}
