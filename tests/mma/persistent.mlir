// A persistent kernel: one block makes all tiles, and the copies of a tile run ahead while the one before it is stored.
//
// RUN: girih run %s --device sim --check-memory --arg A=randn:bf16[200,200] --arg B=randn:bf16[200,104] --arg C=poison:f32[200,104] | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg A=randn:bf16[130,196] --arg B=randn:bf16[196,70] --arg C=poison:f32[130,70] | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg A=randn:bf16[130,67] --arg B=randn:bf16[67,70] --arg C=poison:f32[130,70] | FileCheck %s
// RUN: girih-opt %s -pass-pipeline='builtin.module(tile-plan-copies,tile-pipeline,tile-expand-mma,tile-specialize-warps{roles=false})' -o %t.mlir
// RUN: girih run %t.mlir --device sim --check-memory --arg A=randn:bf16[200,200] --arg B=randn:bf16[200,104] --arg C=poison:f32[200,104] | FileCheck %s
// RUN: girih run %t.mlir --device sim --check-memory --arg A=randn:bf16[130,202] --arg B=randn:bf16[202,70] --arg C=poison:f32[130,70] | FileCheck %s
// CHECK: right: C:

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
!c = memref<?x?xf32, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @product(%A: !rows, %B: !columns, %C: !c) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %K = memref.dim %A, %c1 : !rows
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  scf.for %row = %c0 to %M step %c64 {
    scf.for %col = %c0 to %N step %c64 {
      %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
        %a = tile.load %A[%row, %k] : !rows -> tensor<64x64xbf16>
        %b = tile.load %B[%k, %col] : !columns -> tensor<64x64xbf16>
        %next = tile.mma %a, %b, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
        scf.yield %next : tensor<64x64xf32>
      }
      tile.store %sum, %C[%row, %col] : tensor<64x64xf32>, !c
    }
  }
}

func.func @product_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[1, ?]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  return
}

}
