// RUN: girih-opt %s | girih-opt | FileCheck %s

// Every clause of tile.tma.apply reads back.
// CHECK-LABEL: tile.kernel @memory
tile.kernel @memory(%A: memref<16x64xf32, #tile.global>, %X: memref<2x3x9x8xi16, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %mask = arith.constant 3 : i16
  %policy = arith.constant 0x14F0000000000000 : i64
  %m = tile.alloc : memref<2x4x8x32xf32, #tile.shared<swizzle = 128>>
  %x = tile.alloc : memref<3x1x1x8x8xi16, #tile.shared>
  %rows = tile.alloc : memref<4x32xf32, #tile.shared>
  %bars = tile.alloc : memref<2x!tile.mbarrier, #tile.shared>
  // A mode may be left out; it is printed.
  // CHECK: tile.tma.apply "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint" %{{.*}}, %A box [8, 32] coords[%c0, %c0] steps {{\[}}[8, 0], [0, 32]] mbar %{{.*}}[%c0] cta_mask %{{.*}} cache_policy %{{.*}} format tf32 l2_promotion 128 oob_fill nan : memref<2x4x8x32xf32, #tile.shared<swizzle = 128>>, memref<16x64xf32, #tile.global> mbar memref<2x!tile.mbarrier, #tile.shared>
  tile.tma.apply "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint" %m, %A box [8, 32] coords[%c0, %c0] steps [[8, 0], [0, 32]] mbar %bars[%c0] cta_mask %mask cache_policy %policy format tf32 l2_promotion 128 oob_fill nan : memref<2x4x8x32xf32, #tile.shared<swizzle = 128>>, memref<16x64xf32, #tile.global> mbar memref<2x!tile.mbarrier, #tile.shared>
  // CHECK: element_strides [1, 1, 2] interleave 16
  tile.tma.apply "cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %x, %X box [1, 1, 16] coords[%c0, %c0, %c0] steps [[0, 1, 0]] mbar %bars[%c0] element_strides [1, 1, 2] interleave 16 : memref<3x1x1x8x8xi16, #tile.shared>, memref<2x3x9x8xi16, #tile.global> mbar memref<2x!tile.mbarrier, #tile.shared>
  // One instruction brings one slice, whatever the box says of slices.
  // CHECK: box [1, 3, 8]
  tile.tma.apply "cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %x, %X box [1, 3, 8] coords[%c0, %c0, %c0] steps [[0, 1, 0]] mbar %bars[%c0] interleave 16 : memref<3x1x1x8x8xi16, #tile.shared>, memref<2x3x9x8xi16, #tile.global> mbar memref<2x!tile.mbarrier, #tile.shared>
  // CHECK: gather4(%c0, %c0, %c0, %c0)
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group" %A, %rows box [1, 32] coords[%c0, %c0] gather4(%c0, %c0, %c0, %c0) : memref<16x64xf32, #tile.global>, memref<4x32xf32, #tile.shared>
  // CHECK: tile.tma.apply "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group" %A, %{{.*}} box [4, 32] coords[%c0, %c0] overwrite :
  tile.tma.apply "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group" %A, %rows box [4, 32] coords[%c0, %c0] overwrite : memref<16x64xf32, #tile.global>, memref<4x32xf32, #tile.shared>
  // CHECK: tile.tma.apply "cp.async.bulk.prefetch.tensor.2d.L2.global.tile" %A box [8, 32] coords[%c0, %c0] steps {{\[}}[8, 0]] repeat [2] : memref<16x64xf32, #tile.global>
  tile.tma.apply "cp.async.bulk.prefetch.tensor.2d.L2.global" %A box [8, 32] coords[%c0, %c0] steps [[8, 0]] repeat [2] : memref<16x64xf32, #tile.global>
}

// A tensor map is taken as it is, whoever made it.
// CHECK-LABEL: tile.kernel @map
tile.kernel @map(%X: memref<4x9x9x32xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  %map = tile.tensor_map %X : memref<4x9x9x32xf32, #tile.global> -> !tile.tensor_map<16x32xf32, swizzle = 128, mode = im2col, lower = [-1, -1], upper = [-1, -1]>
  tile.grid %c1, %c1, %c1 args(%map : !tile.tensor_map<16x32xf32, swizzle = 128, mode = im2col, lower = [-1, -1], upper = [-1, -1]>)
} body args(%map: !tile.tensor_map<16x32xf32, swizzle = 128, mode = im2col, lower = [-1, -1], upper = [-1, -1]>) {
  %c0 = arith.constant 0 : index
  %h0 = arith.constant 0 : i16
  %m = tile.alloc : memref<2x16x32xf32, #tile.shared<swizzle = 128>>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  // CHECK: offsets(%{{.*}}, %{{.*}}) mbar
  tile.tma.apply "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes" %m, %map box [16, 32] coords[%c0, %c0, %c0, %c0] steps [[1, 0, 0, 0]] offsets(%h0, %h0) mbar %bar[] : memref<2x16x32xf32, #tile.shared<swizzle = 128>>, !tile.tensor_map<16x32xf32, swizzle = 128, mode = im2col, lower = [-1, -1], upper = [-1, -1]> mbar memref<!tile.mbarrier, #tile.shared>
}
