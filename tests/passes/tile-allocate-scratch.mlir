// Scratch for what goes between warps; tile-insert-sync orders it.
// RUN: girih-opt %s -tile-allocate-scratch -split-input-file | FileCheck %s
// RUN: girih-opt %s -tile-allocate-scratch -tile-insert-sync -split-input-file | FileCheck %s --check-prefix=SYNC

// Each has its own: it need not wait for readers of another's.
// CHECK-LABEL: tile.kernel @rows
// CHECK: %[[A:.*]] = tile.alloc : memref<16xi8, #tile.shared>
// CHECK: %[[B:.*]] = tile.alloc : memref<16xi8, #tile.shared>
// CHECK: %[[C:.*]] = tile.alloc : memref<16xi8, #tile.shared>
// CHECK: %[[D:.*]] = tile.alloc : memref<16xi8, #tile.shared>
// CHECK: tile.reduce %{{.*}} scratch %[[A]] : memref<16xi8, #tile.shared> axis 1
// CHECK: tile.reduce %{{.*}} scratch %[[B]] : memref<16xi8, #tile.shared> axis 1
// CHECK: scf.for
// CHECK: tile.reduce %{{.*}} scratch %[[C]]
// CHECK: tile.reduce %{{.*}} scratch %[[D]]
// SYNC-LABEL: tile.kernel @rows
// SYNC-NOT: tile.barrier
// SYNC-LABEL: tile.kernel @tiles
tile.kernel @rows() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %x = arith.constant dense<1.0> : tensor<1x1024xf32, #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [1, 4]>>
  %a = tile.reduce %x axis 1 (%p: f32, %q: f32) {
    %s = arith.addf %p, %q : f32
    tile.yield %s : f32
  } : tensor<1x1024xf32, #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [1, 4]>> -> tensor<1xf32, #tile.sliced<axis = 1, of = #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [1, 4]>>>
  %b = tile.reduce %x axis 1 (%p: f32, %q: f32) {
    %s = arith.addf %p, %q : f32
    tile.yield %s : f32
  } : tensor<1x1024xf32, #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [1, 4]>> -> tensor<1xf32, #tile.sliced<axis = 1, of = #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [1, 4]>>>
  scf.for %i = %c0 to %c9 step %c1 {
    %c = tile.reduce %x axis 1 (%p: f32, %q: f32) {
      %s = arith.addf %p, %q : f32
      tile.yield %s : f32
    } : tensor<1x1024xf32, #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [1, 4]>> -> tensor<1xf32, #tile.sliced<axis = 1, of = #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [1, 4]>>>
    %d = tile.reduce %x axis 1 (%p: f32, %q: f32) {
      %s = arith.addf %p, %q : f32
      tile.yield %s : f32
    } : tensor<1x1024xf32, #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [1, 4]>> -> tensor<1xf32, #tile.sliced<axis = 1, of = #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [1, 4]>>>
  }
}

// -----

// Within a warp nothing is needed; tiles that cross warps go through one buffer, one after the other.
// CHECK-LABEL: tile.kernel @tiles
// CHECK: %[[TILE:.*]] = tile.alloc : memref<8192xi8, #tile.shared>
// CHECK-NOT: tile.alloc
// CHECK: tile.reduce %{{.*}} axis 1
// CHECK: tile.convert_layout %{{.*}} scratch %[[TILE]] : memref<8192xi8, #tile.shared>
// CHECK: tile.convert_layout %{{.*}} scratch %[[TILE]] : memref<8192xi8, #tile.shared>
// SYNC: tile.convert_layout
// SYNC: tile.barrier
// SYNC-NEXT: tile.convert_layout
tile.kernel @tiles() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %x = arith.constant dense<1.0> : tensor<64x64xbf16, #tile.blocked<per_thread = [1, 8], lanes = [4, 8], warps = [4, 1]>>
  %a = tile.reduce %x axis 1 (%p: bf16, %q: bf16) {
    %s = arith.addf %p, %q : bf16
    tile.yield %s : bf16
  } : tensor<64x64xbf16, #tile.blocked<per_thread = [1, 8], lanes = [4, 8], warps = [4, 1]>> -> tensor<64xbf16, #tile.sliced<axis = 1, of = #tile.blocked<per_thread = [1, 8], lanes = [4, 8], warps = [4, 1]>>>
  %y = tile.convert_layout %x : tensor<64x64xbf16, #tile.blocked<per_thread = [1, 8], lanes = [4, 8], warps = [4, 1]>> -> tensor<64x64xbf16, #tile.blocked<per_thread = [8, 1], lanes = [8, 4], warps = [1, 4], order = [0, 1]>>
  %z = tile.convert_layout %x : tensor<64x64xbf16, #tile.blocked<per_thread = [1, 8], lanes = [4, 8], warps = [4, 1]>> -> tensor<64x64xbf16, #tile.blocked<per_thread = [8, 1], lanes = [8, 4], warps = [1, 4], order = [0, 1]>>
}
