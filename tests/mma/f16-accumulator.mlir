// Sums in f16.
//
// RUN: girih run %s --device sim --arg A=randn:f16[64,64] --arg B=randn:f16[64,16] --arg C=poison:f16[64,16] | FileCheck %s
// CHECK: right: C:

!a = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!b = memref<?x?xf16, strided<[1, ?]>, #tile.global>
!c = memref<?x?xf16, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @product(%A: !a, %B: !b, %C: !c) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 16 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 16 : index
  %tile_k = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<64x16xf16>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<64x16xf16>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<64x64xf16>
    %b = tile.load %B[%k, %col] : !b -> tensor<64x16xf16>
    %next = tile.mma %a, %b, %acc : tensor<64x64xf16>, tensor<64x16xf16>, tensor<64x16xf16>
    scf.yield %next : tensor<64x16xf16>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x16xf16>, !c
}

func.func @product_ref(%A: memref<?x?xf16, strided<[?, 1]>>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf16, strided<[?, 1]>>) attributes {girih.measure = "product", girih.tol = 2.0e-3 : f64} {
  %zero = arith.constant 0.0 : f16
  linalg.fill ins(%zero : f16) outs(%C : memref<?x?xf16, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xf16, strided<[?, 1]>>, memref<?x?xf16, strided<[1, ?]>>) outs(%C : memref<?x?xf16, strided<[?, 1]>>)
  return
}

}
