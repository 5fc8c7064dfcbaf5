// Neighbours that go to memory one by one are exchanged in the warp, which then moves what lies side by side.
// RUN: girih-opt %s -tile-set-target -convert-tile-to-nvvm -canonicalize -cse -split-input-file | FileCheck %s

// Eight of 16 bits for each of 32 lanes: what lay 512 bytes apart from end to end goes in 64 bytes. The bit within a register
// changes places by `prmt`, the two others between registers.
// CHECK-LABEL: llvm.func @halves(
// Loads first.
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> bf16
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c16_i32, %c31_i32 : i32 -> i32
// CHECK: "prmt.b32 $0, $1, $2, $3;"
// CHECK-COUNT-3: "prmt.b32
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c8_i32, %c31_i32
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c8_i32, %c31_i32
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c4_i32, %c31_i32
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c4_i32, %c31_i32
// CHECK-NOT: nvvm.shfl.sync {{.*}}, %c31_i32
// CHECK: llvm.return
#L = #tile.blocked<per_thread = [8], lanes = [32], warps = [1]>
!m = memref<256xbf16, #tile.global>
tile.kernel @halves(%A: !m) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0] : !m -> tensor<256xbf16, #L>
  %y = tile.opaque %x : tensor<256xbf16, #L> -> tensor<256xbf16, #L>
}

// -----

// Four rows of eight lanes: the lane's bits that lead to other rows go, so that a store writes 64 bytes of one row. A load touches
// no fewer lines for it, and stays.
// CHECK-LABEL: llvm.func @rows(
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> bf16
// CHECK-NOT: llvm.load
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c8_i32, %c31_i32
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c16_i32, %c31_i32
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c4_i32, %c31_i32
// CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 2 : i64} : bf16, !llvm.ptr<1>
// CHECK: llvm.return
#L = #tile.blocked<per_thread = [1, 8], lanes = [4, 8], warps = [1, 1]>
!m = memref<4x64xbf16, #tile.global>
tile.kernel @rows(%A: !m, %B: !m) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !m -> tensor<4x64xbf16, #L>
  tile.store %x, %B[%c0, %c0] : tensor<4x64xbf16, #L>, !m
}

// -----

// Vectors, masks, and a memref without a stride of 1 stay as they are.
// CHECK-LABEL: llvm.func @stay(
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.return
#L = #tile.blocked<per_thread = [4], lanes = [32], warps = [1]>
!m = memref<128xf32, #tile.global>
!apart = memref<128xf32, strided<[2]>, #tile.global>
tile.kernel @stay(%A: !m, %B: !apart) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %some = arith.constant dense<true> : tensor<128xi1, #L>
  %x = tile.load %A[%c0] {vector = 4 : i64} : !m -> tensor<128xf32, #L>
  tile.store %x, %B[%c0] : tensor<128xf32, #L>, !apart
  tile.store %x, %A[%c0] mask %some : tensor<128xi1, #L> : tensor<128xf32, #L>, !m
}
