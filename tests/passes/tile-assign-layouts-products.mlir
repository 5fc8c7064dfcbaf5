// Who multiplies what: accumulators lie as mma.sync has them, and operands are brought to where they are needed.
// RUN: girih-opt %s -tile-assign-layouts -split-input-file | FileCheck %s

!m = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!o = memref<?x?xf32, strided<[?, 1]>, #tile.global>

// Four warps divide 64 x 64 two by two, so that each needs half of A and half of B.
// CHECK-LABEL: tile.kernel @one
// CHECK: %[[A:.*]] = tile.load {{.*}} -> tensor<64x16xf16, #tile.blocked<{{[^>]*}}>>
// CHECK: %[[B:.*]] = tile.load {{.*}} -> tensor<16x64xf16, #tile.blocked<{{[^>]*}}>>
// CHECK: %[[LEFT:.*]] = tile.convert_layout %[[A]] : {{.*}} -> tensor<64x16xf16, #tile.linear<register = {{\[\[}}0, 1], [8, 0], [0, 8], [32, 0]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}16, 0], [0, 0]]>>
// CHECK: %[[RIGHT:.*]] = tile.convert_layout %[[B]] : {{.*}} -> tensor<16x64xf16, #tile.linear<register = {{\[\[}}1, 0], [8, 0], [0, 8], [0, 16]], lane = {{\[\[}}2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = {{\[\[}}0, 0], [0, 32]]>>
// CHECK: tile.mma %[[LEFT]], %[[RIGHT]], {{.*}}, tensor<64x64xf32, #tile.linear<register = {{\[\[}}0, 1], [8, 0], [0, 8], [0, 16], [32, 0]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}16, 0], [0, 32]]>>
tile.kernel @one(%A: !m, %B: !m, %C: !o) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %A[%c0, %c0] : !m -> tensor<64x16xf16>
  %b = tile.load %B[%c0, %c0] : !m -> tensor<16x64xf16>
  %c = tile.mma %a, %b, %zero : tensor<64x16xf16>, tensor<16x64xf16>, tensor<64x64xf32>
  tile.store %c, %C[%c0, %c0] : tensor<64x64xf32>, !o
}

// -----

!m = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!o = memref<?x?xf32, strided<[?, 1]>, #tile.global>

// One product after the other: each warp has 16 whole rows. What the first gives goes into the second without a change of
// layout, and so does the scale, which is made from its rows. What the loop does not change is converted before it, once for
// both products.
// CHECK-LABEL: tile.kernel @chain
// CHECK: %[[Q:.*]] = tile.convert_layout %{{.*}} -> tensor<64x16xf16
// CHECK: scf.for
// CHECK: %[[K:.*]] = tile.convert_layout %{{.*}} -> tensor<16x64xf16
// CHECK-NEXT: %[[S:.*]] = tile.mma %[[Q]], %[[K]], {{.*}}, tensor<64x64xf32, #[[ROWS:tile.linear<register = \[\[0, 1\], \[8, 0\], \[0, 8\], \[0, 16\], \[0, 32\]\], lane = \[\[0, 2\], \[0, 4\], \[1, 0\], \[2, 0\], \[4, 0\]\], warp = \[\[16, 0\], \[32, 0\]\]>]]>
// CHECK-NEXT: tile.mma %[[Q]], %[[K]], %[[S]]
// CHECK-NOT: tile.convert_layout
// CHECK: tile.reduce
// CHECK-NOT: tile.convert_layout
// CHECK: %[[SCALED:.*]] = arith.mulf %{{.*}}, %{{.*}} : tensor<64x32xf32, #[[ROWS]]>
// CHECK: %[[P:.*]] = arith.truncf %{{.*}} : tensor<64x64xf32, #[[ROWS]]> to tensor<64x64xf16, #[[ROWS]]>
// CHECK: %[[V:.*]] = tile.convert_layout %{{.*}} -> tensor<64x32xf16
// CHECK-NEXT: %[[O:.*]] = tile.mma %[[P]], %[[V]], %[[SCALED]] : {{.*}}, tensor<64x32xf32, #[[ROWS]]>
// CHECK-NEXT: scf.yield %[[O]]
tile.kernel @chain(%Q: !m, %K: !m, %V: !m, %O: !o) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %empty = arith.constant dense<0.0> : tensor<64x32xf32>
  %q = tile.load %Q[%c0, %c0] : !m -> tensor<64x16xf16>
  %out = scf.for %j = %c0 to %c256 step %c64 iter_args(%o = %empty) -> (tensor<64x32xf32>) {
    %k = tile.load %K[%c0, %j] : !m -> tensor<16x64xf16>
    %v = tile.load %V[%j, %c0] : !m -> tensor<64x32xf16>
    %half = tile.mma %q, %k, %zero : tensor<64x16xf16>, tensor<16x64xf16>, tensor<64x64xf32>
    %s = tile.mma %q, %k, %half : tensor<64x16xf16>, tensor<16x64xf16>, tensor<64x64xf32>
    %max = tile.reduce %s axis 1 (%a: f32, %b: f32) {
      %r = arith.maximumf %a, %b : f32
      tile.yield %r : f32
    } : tensor<64x64xf32> -> tensor<64xf32>
    %max1 = tile.expand_dims %max axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %maxes = tile.broadcast %max1 : tensor<64x1xf32> -> tensor<64x32xf32>
    %scaled = arith.mulf %o, %maxes : tensor<64x32xf32>
    %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %n = tile.mma %p, %v, %scaled : tensor<64x64xf16>, tensor<64x32xf16>, tensor<64x32xf32>
    scf.yield %n : tensor<64x32xf32>
  }
  tile.store %out, %O[%c0, %c0] : tensor<64x32xf32>, !o
}

// -----

// Bytes go where the product needs the numbers in them, before they are taken apart; what is staged has that layout from the
// start.
// CHECK-LABEL: tile.kernel @nibbles
// CHECK: %[[BYTES:.*]] = tile.load {{.*}} -> tensor<16x32xi8, #tile.blocked
// CHECK: %[[S:.*]] = tile.load_staged {{.*}} -> tensor<32x8xi8, #tile.linear<register = {{\[\[}}1, 0], [2, 0], [16, 0]], lane = {{\[\[}}4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], warp = []>>
// CHECK: %[[B:.*]] = tile.bitcast %[[S]] : {{.*}} -> tensor<64x8xi4, #tile.linear<register = {{\[\[}}1, 0], [2, 0], [4, 0], [32, 0]], lane = {{\[\[}}8, 0], [16, 0], [0, 1], [0, 2], [0, 4]], warp = []>>
// CHECK: %[[MOVED:.*]] = tile.convert_layout %[[BYTES]] : {{.*}} -> tensor<16x32xi8, #tile.linear<register = {{\[\[}}0, 1], [0, 2], [8, 0], [0, 16]], lane = {{\[\[}}0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = []>>
// CHECK: %[[A:.*]] = tile.bitcast %[[MOVED]] : {{.*}} -> tensor<16x64xi4, #tile.linear<register = {{\[\[}}0, 1], [0, 2], [0, 4], [8, 0], [0, 32]], lane = {{\[\[}}0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = []>>
// CHECK-NOT: tile.convert_layout
// CHECK: tile.mma %[[A]], %[[B]]
!m = memref<?x?xi8, strided<[?, 1]>, #tile.global>
!o = memref<?x?xi32, strided<[?, 1]>, #tile.global>
!slot = memref<1x1x8x32xi8, #tile.shared<swizzle = 32>>
tile.kernel @nibbles(%A: !m, %C: !o) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %slot = tile.alloc : !slot
  %zero = arith.constant dense<0> : tensor<16x8xi32>
  %bytes = tile.load %A[%c0, %c0] : !m -> tensor<16x32xi8>
  %a = tile.bitcast %bytes : tensor<16x32xi8> -> tensor<16x64xi4>
  %staged = tile.load_staged %slot side b major k : !slot -> tensor<32x8xi8>
  %b = tile.bitcast %staged : tensor<32x8xi8> -> tensor<64x8xi4>
  %c = tile.mma %a, %b, %zero : tensor<16x64xi4>, tensor<64x8xi4>, tensor<16x8xi32>
  tile.store %c, %C[%c0, %c0] : tensor<16x8xi32>, !o
}

// -----

// Of tf32 along K on both sides ldmatrix gives a thread one number of K at a time.
// CHECK-LABEL: tile.kernel @tf32
// CHECK: tile.load_staged {{.*}} -> tensor<16x8xf32, #tile.linear<register = {{\[\[}}8, 0], [0, 4]], lane = {{\[\[}}0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], warp = []>>
// CHECK: tile.load_staged {{.*}} -> tensor<8x8xf32, #tile.linear<register = {{\[\[}}4, 0]], lane = {{\[\[}}1, 0], [2, 0], [0, 1], [0, 2], [0, 4]], warp = []>>
// CHECK-NOT: tile.convert_layout
// CHECK: tile.mma
!o = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!slot_a = memref<1x1x16x8xf32, #tile.shared<swizzle = 32>>
!slot_b = memref<1x1x8x8xf32, #tile.shared<swizzle = 32>>
tile.kernel @tf32(%C: !o) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %slot_a = tile.alloc : !slot_a
  %slot_b = tile.alloc : !slot_b
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %a = tile.load_staged %slot_a side a major k : !slot_a -> tensor<16x8xf32>
  %b = tile.load_staged %slot_b side b major k : !slot_b -> tensor<8x8xf32>
  %c = tile.mma %a, %b, %zero : tensor<16x8xf32>, tensor<8x8xf32>, tensor<16x8xf32>
  %c0 = arith.constant 0 : index
  tile.store %c, %C[%c0, %c0] : tensor<16x8xf32>, !o
}
