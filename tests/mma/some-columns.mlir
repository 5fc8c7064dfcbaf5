// Some columns of a product, from one where no register begins.
// RUN: girih run %s --device sim --check-memory --arg A=randn:f16[64,64] --arg B=randn:f16[64,128] --arg C=poison:f32[64,8] 2>/dev/null | FileCheck %s
// CHECK: right: C: all 512 elements
!rows = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xf16, strided<[1, ?]>, #tile.global>
module attributes {tile.target = "sm_90a"} {
tile.kernel @columns(%A: !rows, %B: !columns, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !rows
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %a = tile.load %A[%c0, %k] : !rows -> tensor<64x64xf16>
    %b = tile.load %B[%k, %c0] : !columns -> tensor<64x128xf16>
    %next = tile.mma %a, %b, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %next : tensor<64x128xf32>
  }
  %s = tile.extract_slice %sum at [0, 4] : tensor<64x128xf32> -> tensor<64x8xf32>
  tile.store %s, %C[%c0, %c0] : tensor<64x8xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

func.func @columns_ref(%A: memref<?x?xf16, strided<[?, 1]>>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.tol = 1.0e-3 : f64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c64 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %from = arith.addi %j, %c4 : index
      %sum = scf.for %k = %c0 to %c64 step %c1 iter_args(%acc = %zero) -> (f32) {
        %a = memref.load %A[%i, %k] : memref<?x?xf16, strided<[?, 1]>>
        %b = memref.load %B[%k, %from] : memref<?x?xf16, strided<[1, ?]>>
        %wa = arith.extf %a : f16 to f32
        %wb = arith.extf %b : f16 to f32
        %p = arith.mulf %wa, %wb : f32
        %next = arith.addf %acc, %p : f32
        scf.yield %next : f32
      }
      memref.store %sum, %C[%i, %j] : memref<?x?xf32, strided<[?, 1]>>
    }
  }
  return
}
}
