// Sums that fit 512 threads, but not 640: the threads that compute copy, too.
//
// RUN: girih compile %s -o %t.ptx 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: girih run %s --device sim --check-memory --arg A=randn:f16[250,72] --arg B=randn:f16[72,190] --arg C=poison:f32[250,190] 2>/dev/null | FileCheck %s
// REMARK: copies in the threads that compute: with 128 more threads each would have 96 registers, of which the sums of a product take 96
// CHECK: right: C:
// CHECK: no findings

!a = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!c = memref<?x?xf32, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @product(%A: !a, %B: !a, %C: !c) threads(512) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !a
  %zero = arith.constant dense<0.0> : tensor<256x192xf32>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<256x192xf32>) {
    %a = tile.load %A[%c0, %k] : !a -> tensor<256x64xf16>
    %b = tile.load %B[%k, %c0] : !a -> tensor<64x192xf16>
    %next = tile.mma %a, %b, %acc : tensor<256x64xf16>, tensor<64x192xf16>, tensor<256x192xf32>
    scf.yield %next : tensor<256x192xf32>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<256x192xf32>, !c
}

func.func @product_ref(%A: memref<?x?xf16, strided<[?, 1]>>, %B: memref<?x?xf16, strided<[?, 1]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xf16, strided<[?, 1]>>, memref<?x?xf16, strided<[?, 1]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  return
}

}
