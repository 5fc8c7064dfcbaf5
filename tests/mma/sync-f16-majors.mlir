// f16 by mma.sync: what is contiguous is M and N.
//
// RUN: girih run %s --kernel columns --device sim --check-memory --arg A=randn:f16[37,50] --arg B=randn:f16[50,45] --arg C=poison:f32[37,45] | FileCheck %s
// RUN: girih compile %s --target sm_80 --emit cubin -o %t.sm_80.cubin
// CHECK: right: C:

!a = memref<?x?xf16, strided<[1, ?]>, #tile.global>
!b = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!c = memref<?x?xf32, strided<[?, 1]>, #tile.global>

tile.kernel @columns(%A: !a, %B: !b, %C: !c) threads(128) launch {
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
  %tile_k = arith.constant 32 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<32x32xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<32x32xf16>
    %b = tile.load %B[%k, %col] : !b -> tensor<32x32xf16>
    %next = tile.mma %a, %b, %acc : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
    scf.yield %next : tensor<32x32xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<32x32xf32>, !c
}

func.func @columns_ref(%A: memref<?x?xf16, strided<[1, ?]>>, %B: memref<?x?xf16, strided<[?, 1]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xf16, strided<[1, ?]>>, memref<?x?xf16, strided<[?, 1]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  return
}
