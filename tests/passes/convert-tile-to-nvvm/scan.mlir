// A scan: within each thread, then over the lanes of a warp by shuffles, then over the warps through shared memory.
// RUN: girih-opt %s -convert-tile-to-nvvm -canonicalize | FileCheck %s

#rows = #tile.blocked<per_thread = [2], lanes = [32], warps = [2]>

module attributes {tile.target = "sm_90a"} {
// CHECK-LABEL: llvm.func @sums
tile.kernel @sums(%X: memref<?xf32, #tile.global>, %one: f32, %two: f32) threads(64) attributes {shared_bytes = 16 : i64} launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // A thread's own two come first.
  // CHECK: %[[PAIR:.*]] = arith.addf %[[LEFT:.*]], %[[LEFT]] : f32
  // Each round looks at a lane twice as far away; what came first stands on the left.
  // CHECK: %[[OTHER:.*]] = nvvm.shfl.sync bfly %{{.*}}, %[[PAIR]], %{{.*}}, %{{.*}} : f32 -> f32
  // CHECK: %[[FIRST:.*]] = arith.select %[[UPPER:.*]], %[[OTHER]], %[[PAIR]] : f32
  // CHECK: %[[SECOND:.*]] = arith.select %[[UPPER]], %[[PAIR]], %[[OTHER]] : f32
  // CHECK: %[[FOUR:.*]] = arith.addf %[[FIRST]], %[[SECOND]] : f32
  // CHECK: nvvm.shfl.sync bfly %{{.*}}, %[[FOUR]]
  // CHECK-COUNT-3: nvvm.shfl.sync bfly
  // CHECK-NOT: nvvm.shfl.sync
  // One lane of each warp hands its sum over.
  // CHECK: scf.if
  // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<3>
  // CHECK: nvvm.barrier
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<2xf32>
  // CHECK: arith.addf
  // CHECK: arith.select
  %c0 = arith.constant 0 : index
  %scratch = tile.alloc {offset = 0 : i64} : memref<16xi8, #tile.shared>
  %x = tile.splat %one : f32 -> tensor<128xf32, #rows>
  %s = tile.scan %x scratch %scratch : memref<16xi8, #tile.shared> axis 0 (%a: f32, %b: f32) {
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  } : tensor<128xf32, #rows> -> tensor<128xf32, #rows>
  tile.store %s, %X[%c0] : tensor<128xf32, #rows>, memref<?xf32, #tile.global>
}

// One warp needs no shared memory, and an axis that lies in registers no shuffle.
// CHECK-LABEL: llvm.func @columns
// CHECK-NOT: nvvm.shfl.sync
// CHECK-NOT: nvvm.barrier
// CHECK-COUNT-3: arith.mulf
// CHECK-NOT: arith.mulf
// CHECK: llvm.return
tile.kernel @columns(%x: f32, %Y: memref<?x?xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %t = tile.splat %x : f32 -> tensor<32x4xf32, #tile.blocked<per_thread = [1, 4], lanes = [32, 1], warps = [1, 1]>>
  %s = tile.scan %t axis 1 (%a: f32, %b: f32) {
    %p = arith.mulf %a, %b : f32
    tile.yield %p : f32
  } : tensor<32x4xf32, #tile.blocked<per_thread = [1, 4], lanes = [32, 1], warps = [1, 1]>> -> tensor<32x4xf32, #tile.blocked<per_thread = [1, 4], lanes = [32, 1], warps = [1, 1]>>
  tile.store %s, %Y[%c0, %c0] : tensor<32x4xf32, #tile.blocked<per_thread = [1, 4], lanes = [32, 1], warps = [1, 1]>>, memref<?x?xf32, #tile.global>
}
}
