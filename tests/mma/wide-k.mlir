// A tile of K that is wider than the swizzle: several panels for each operand.
//
// RUN: girih run %s --device sim --arg A=randn:bf16[130,264] --arg B=randn:bf16[264,70] --arg C=poison:f32[130,70] | FileCheck %s
// RUN: girih run %s --device sim --arg A=randn:bf16[130,65] --arg B=randn:bf16[65,70] --arg C=poison:f32[130,70] | FileCheck %s
// CHECK: right: C:

!a = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!b = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
!c = memref<?x?xf32, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @product(%A: !a, %B: !b, %C: !c) threads(256) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 128 : index
  %tile_n = arith.constant 64 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 128 : index
  %tile_n = arith.constant 64 : index
  %tile_k = arith.constant 128 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<128x64xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<128x128xbf16>
    %b = tile.load %B[%k, %col] : !b -> tensor<128x64xbf16>
    %next = tile.mma %a, %b, %acc : tensor<128x128xbf16>, tensor<128x64xbf16>, tensor<128x64xf32>
    scf.yield %next : tensor<128x64xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<128x64xf32>, !c
}

func.func @product_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[1, ?]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  return
}

}
