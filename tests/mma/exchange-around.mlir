// Tiles go between threads before a loop of products and after it: the slots of the loop leave room for that.
// RUN: girih run %s --device sim --check-memory --arg A=randn:f16[64,192] --arg B=randn:f16[192,256] --arg X=randn:f16[64,256] \
// RUN:   --arg Y=poison:f16[64,256] --arg Z=poison:f16[64,256] 2>/dev/null | FileCheck %s
// CHECK-DAG: right: Y: all {{.*}} elements are exact
// CHECK-DAG: right: Z: all {{.*}} elements are
// CHECK: no findings

!rows = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xf16, strided<[1, ?]>, #tile.global>

module attributes {tile.target = "sm_80"} {
tile.kernel @around(%A: !columns, %B: !rows, %X: !rows, %Y: !columns, %Z: !columns) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c192 = arith.constant 192 : index
  %x = tile.load %X[%c0, %c0] : !rows -> tensor<64x256xf16>
  tile.store %x, %Y[%c0, %c0] : tensor<64x256xf16>, !columns
  %zero = arith.constant dense<0.0> : tensor<64x256xf32>
  %sum = scf.for %k = %c0 to %c192 step %c64 iter_args(%acc = %zero) -> (tensor<64x256xf32>) {
    %a = tile.load %A[%c0, %k] : !columns -> tensor<64x64xf16>
    %b = tile.load %B[%k, %c0] : !rows -> tensor<64x256xf16>
    %p = tile.mma %a, %b, %acc : tensor<64x64xf16>, tensor<64x256xf16>, tensor<64x256xf32>
    scf.yield %p : tensor<64x256xf32>
  }
  %h = arith.truncf %sum : tensor<64x256xf32> to tensor<64x256xf16>
  tile.store %h, %Z[%c0, %c0] : tensor<64x256xf16>, !columns
}

func.func @around_ref(%A: memref<64x192xf16>, %B: memref<192x256xf16>, %X: memref<64x256xf16>, %Y: memref<64x256xf16>, %Z: memref<64x256xf16>) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<64x256xf32>
  linalg.copy ins(%X : memref<64x256xf16>) outs(%Y : memref<64x256xf16>)
  linalg.fill ins(%zero : f32) outs(%sum : memref<64x256xf32>)
  linalg.matmul ins(%A, %B : memref<64x192xf16>, memref<192x256xf16>) outs(%sum : memref<64x256xf32>)
  linalg.map ins(%sum : memref<64x256xf32>) outs(%Z : memref<64x256xf16>) (%s: f32, %old: f16) {
    %r = arith.truncf %s : f32 to f16
    linalg.yield %r : f16
  }
  memref.dealloc %sum : memref<64x256xf32>
  return
}
}
