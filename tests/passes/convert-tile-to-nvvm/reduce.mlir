// Reductions: registers, then lanes, then warps.
// RUN: girih-opt %s -tile-set-target -tile-allocate-scratch -tile-allocate-shared -convert-tile-to-nvvm -canonicalize -cse -split-input-file | FileCheck %s

// Eight numbers of a thread, then all lanes, then four warps: the first lane of each stores, a barrier, and all load.
// CHECK-LABEL: llvm.func @row
// CHECK-COUNT-7: arith.addf
// CHECK: nvvm.shfl.sync bfly
// CHECK-NEXT: arith.addf
// CHECK-COUNT-4: nvvm.shfl.sync bfly
// CHECK: scf.if
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-3: arith.addf
// CHECK-NOT: nvvm.barrier
tile.kernel @row(%A: memref<1x1024xf32, #tile.global>, %B: memref<1xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : memref<1x1024xf32, #tile.global> -> tensor<1x1024xf32, #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [1, 4]>>
  %a = tile.reduce %x axis 1 (%p: f32, %q: f32) {
    %s = arith.addf %p, %q : f32
    tile.yield %s : f32
  } : tensor<1x1024xf32, #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [1, 4]>> -> tensor<1xf32, #tile.sliced<axis = 1, of = #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [1, 4]>>>
  tile.store %a, %B[%c0] : tensor<1xf32, #tile.sliced<axis = 1, of = #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [1, 4]>>>, memref<1xf32, #tile.global>
}

// -----

// Without an axis left, the tile is one number.
// CHECK-LABEL: llvm.func @scalar
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.barrier
// CHECK: llvm.store %{{.*}} : i32, !llvm.ptr<1>
tile.kernel @scalar(%B: memref<1xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.iota axis 0 : tensor<32xi32, #tile.blocked<per_thread = [1], lanes = [32], warps = [1]>>
  %a = tile.reduce %x axis 0 (%p: i32, %q: i32) {
    %s = arith.addi %p, %q : i32
    tile.yield %s : i32
  } : tensor<32xi32, #tile.blocked<per_thread = [1], lanes = [32], warps = [1]>> -> tensor<i32, #tile.sliced<axis = 0, of = #tile.blocked<per_thread = [1], lanes = [32], warps = [1]>>>
  %n = tensor.extract %a[] : tensor<i32, #tile.sliced<axis = 0, of = #tile.blocked<per_thread = [1], lanes = [32], warps = [1]>>>
  memref.store %n, %B[%c0] : memref<1xi32, #tile.global>
}
