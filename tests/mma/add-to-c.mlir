// C = A B + C: the old C is loaded as the accumulator lies.
//
// RUN: girih run %s --device sim --arg A=randn:f16[130,72] --arg B=randn:f16[72,40] --arg C=randn:f32[130,40] | FileCheck %s
// CHECK: right: C:

!a = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!b = memref<?x?xf16, strided<[1, ?]>, #tile.global>
!c = memref<?x?xf32, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @product(%A: !a, %B: !b, %C: !c) threads(256) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 128 : index
  %tile_n = arith.constant 32 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 128 : index
  %tile_n = arith.constant 32 : index
  %tile_k = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<128x32xf32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<128x32xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<128x64xf16>
    %b = tile.load %B[%k, %col] : !b -> tensor<64x32xf16>
    %next = tile.mma %a, %b, %acc : tensor<128x64xf16>, tensor<64x32xf16>, tensor<128x32xf32>
    scf.yield %next : tensor<128x32xf32>
  }
  %old = tile.load %C[%row, %col] : !c -> tensor<128x32xf32>
  %new = arith.addf %sum, %old : tensor<128x32xf32>
  tile.store %new, %C[%row, %col] : tensor<128x32xf32>, !c
}

func.func @product_ref(%A: memref<?x?xf16, strided<[?, 1]>>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  linalg.matmul ins(%A, %B : memref<?x?xf16, strided<[?, 1]>>, memref<?x?xf16, strided<[1, ?]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  return
}

}
