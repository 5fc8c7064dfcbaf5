// Rows that no wide copy can take whatever the launch gives, as their strides say: the branches that would are never run.
//
// RUN: girih run %s --device sim --check-memory --arg A=randn:f16[131,33] --arg B=randn:f16[33,16] --arg C=poison:f32[131,16] | FileCheck %s
// CHECK: right: C: all 2096 elements

!a = memref<131x33xf16, strided<[33, 1]>, #tile.global>
!b = memref<33x16xf16, #tile.global>
!c = memref<131x16xf32, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @odd(%A: !a, %B: !b, %C: !c) threads(256) launch {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.grid %c2, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %c128 = arith.constant 128 : index
  %block = tile.block_id x
  %row = arith.muli %block, %c128 : index
  %zero = arith.constant dense<0.0> : tensor<128x16xf32>
  %sum = scf.for %k = %c0 to %c48 step %c16 iter_args(%acc = %zero) -> (tensor<128x16xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<128x16xf16>
    %b = tile.load %B[%k, %c0] : !b -> tensor<16x16xf16>
    %next = tile.mma %a, %b, %acc : tensor<128x16xf16>, tensor<16x16xf16>, tensor<128x16xf32>
    scf.yield %next : tensor<128x16xf32>
  }
  tile.store %sum, %C[%row, %c0] : tensor<128x16xf32>, !c
}

func.func @odd_ref(%A: memref<131x33xf16>, %B: memref<33x16xf16>, %C: memref<131x16xf32>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<131x16xf32>)
  linalg.matmul ins(%A, %B : memref<131x33xf16>, memref<33x16xf16>) outs(%C : memref<131x16xf32>)
  return
}

}
