// A sum that lacks one of its 128 steps is wrong, though it is off by a part in a thousand of what is added.
// RUN: sh -c 'girih run %s --device sim --arg A=randn:bf16[64,8192] --arg B=randn:bf16[8192,64] --arg C=zeros:bf16[64,64]; \
// RUN:   echo exit $?' | FileCheck %s
// CHECK: WRONG: C:
// CHECK: exit 1

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[1, ?]>, #tile.global>

module attributes {tile.target = "sm_90a"} {
tile.kernel @gemm(%A: !rows, %B: !columns, %C: !rows) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !rows
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // From the second step on.
  %sum = scf.for %k = %c64 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %a = tile.load %A[%c0, %k] : !rows -> tensor<64x64xbf16>
    %b = tile.load %B[%k, %c0] : !columns -> tensor<64x64xbf16>
    %next = tile.mma %a, %b, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %out = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %out, %C[%c0, %c0] : tensor<64x64xbf16>, !rows
}

func.func @gemm_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[1, ?]>>, %C: memref<?x?xbf16, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %M = memref.dim %C, %c0 : memref<?x?xbf16, strided<[?, 1]>>
  %N = memref.dim %C, %c1 : memref<?x?xbf16, strided<[?, 1]>>
  %sum = memref.alloc(%M, %N) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<?x?xf32>)
  linalg.matmul ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[1, ?]>>) outs(%sum : memref<?x?xf32>)
  linalg.map ins(%sum : memref<?x?xf32>) outs(%C : memref<?x?xbf16, strided<[?, 1]>>) (%s: f32, %old: bf16) {
    %r = arith.truncf %s : f32 to bf16
    linalg.yield %r : bf16
  }
  memref.dealloc %sum : memref<?x?xf32>
  return
}
}
