// A constant that a product is compared with is stored besides: it is no product, and is made where it is stored.
// RUN: girih run %s --device sim --check-memory --arg A=randn:f16[64,64] --arg B=randn:f16[64,16] --arg C=poison:f16[64,16] \
// RUN:   --arg D=poison:f16[64,16] | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg A=randn:f16[60,61] --arg B=randn:f16[61,15] --arg C=poison:f16[60,15] \
// RUN:   --arg D=poison:f16[60,15] | FileCheck %s
// CHECK: right: C: all {{.*}} elements are
// CHECK: right: D: all {{.*}} elements are exact
// CHECK: no findings

!halves = memref<?x?xf16, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {
tile.kernel @bounded(%A: !halves, %B: !halves, %C: !halves, %D: !halves) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %least = arith.constant dense<0.5> : tensor<64x16xf16>
  %a = tile.load %A[%c0, %c0] : !halves -> tensor<64x64xf16>
  %b = tile.load %B[%c0, %c0] : !halves -> tensor<64x16xf16>
  %p = tile.mma %a, %b, %zero : tensor<64x64xf16>, tensor<64x16xf16>, tensor<64x16xf32>
  %h = arith.truncf %p : tensor<64x16xf32> to tensor<64x16xf16>
  %bounded = arith.maximumf %h, %least : tensor<64x16xf16>
  tile.store %bounded, %C[%c0, %c0] : tensor<64x16xf16>, !halves
  tile.store %least, %D[%c0, %c0] : tensor<64x16xf16>, !halves
}

func.func @bounded_ref(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf16>, %D: memref<?x?xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0.5 : f16
  %M = memref.dim %C, %c0 : memref<?x?xf16>
  %N = memref.dim %C, %c1 : memref<?x?xf16>
  %sum = memref.alloc(%M, %N) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<?x?xf32>)
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%sum : memref<?x?xf32>)
  linalg.map ins(%sum : memref<?x?xf32>) outs(%C : memref<?x?xf16>) (%s: f32, %old: f16) {
    %h = arith.truncf %s : f32 to f16
    %r = arith.maximumf %h, %least : f16
    linalg.yield %r : f16
  }
  linalg.fill ins(%least : f16) outs(%D : memref<?x?xf16>)
  memref.dealloc %sum : memref<?x?xf32>
  return
}
}
