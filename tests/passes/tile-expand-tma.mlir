// RUN: girih-opt %s --tile-expand-tma -split-input-file | FileCheck %s

// Few instructions are written out; the map is made in launch, once for all copies that need the same one.
// CHECK-LABEL: tile.kernel @written_out
// CHECK: %[[HOST:.*]] = tile.tensor_map %A : memref<32x16xi32, #tile.global> -> !tile.tensor_map<8x16xi32>
// CHECK-NEXT: tile.grid %{{.*}} args(%[[HOST]] : !tile.tensor_map<8x16xi32>)
// CHECK: body args(%[[MAP:.*]]: !tile.tensor_map<8x16xi32>)
tile.kernel @written_out(%A: memref<32x16xi32, #tile.global>, %row: i32) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %r = arith.index_cast %row : i32 to index
  // CHECK-DAG: %[[R:.*]] = arith.index_cast
  // CHECK-DAG: %[[M:.*]] = tile.alloc : memref<2x8x16xi32, #tile.shared>
  %m = tile.alloc : memref<2x8x16xi32, #tile.shared>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  // CHECK: %[[P0:.*]] = arith.constant 0 : index
  // CHECK-NEXT: %[[FIRST:.*]] = tile.slab %[[M]][%[[P0]]] : memref<2x8x16xi32, #tile.shared> -> memref<8x16xi32, #tile.shared>
  // CHECK-NEXT: tile.tma.load %[[MAP]][%[[R]], %c0], %[[FIRST]], %{{.*}}[] space cta :
  // CHECK: %[[SECOND:.*]] = tile.slab
  // CHECK-NEXT: %[[BY:.*]] = arith.constant 8 : index
  // CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[R]], %[[BY]] : index
  // CHECK-NEXT: tile.tma.load %[[MAP]][%[[NEXT]], %c0], %[[SECOND]]
  tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %m, %A box [8, 16] coords[%r, %c0] steps [[8, 0]] mbar %bar[] : memref<2x8x16xi32, #tile.shared>, memref<32x16xi32, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  // Constants stay constants.
  // CHECK: %[[C16:.*]] = arith.constant 16 : index
  // CHECK-NEXT: tile.tma.store %{{.*}}, %[[MAP]][%[[C16]], %c0] : memref<8x16xi32, #tile.shared>
  %c8 = arith.constant 8 : index
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %A, %m box [8, 16] coords[%c8, %c0] steps [[8, 0]] : memref<32x16xi32, #tile.global>, memref<2x8x16xi32, #tile.shared>
}

// -----

// Many are a loop for each leading axis. Atoms that are not whole periods of the swizzle are parts.
// CHECK-LABEL: tile.kernel @loops
tile.kernel @loops(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  // CHECK: %[[M:.*]] = tile.alloc : memref<3x4x4x32xf32
  %m = tile.alloc : memref<3x4x4x32xf32, #tile.shared<swizzle = 128>>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  // CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step
  // CHECK: scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step
  // CHECK: %[[C512:.*]] = arith.constant 512 : index
  // CHECK-NEXT: %[[A:.*]] = arith.muli %[[I]], %[[C512]] : index
  // CHECK: %[[C128:.*]] = arith.constant 128 : index
  // CHECK-NEXT: %[[B:.*]] = arith.muli %[[J]], %[[C128]] : index
  // CHECK-NEXT: %[[AT:.*]] = arith.addi %[[A]], %[[B]] : index
  // CHECK-NEXT: %[[PART:.*]] = tile.part %[[M]][%[[AT]]] : memref<3x4x4x32xf32, #tile.shared<swizzle = 128>> -> memref<4x32xf32, #tile.shared<swizzle = 128>>
  // CHECK: %[[ROW:.*]] = arith.muli %[[J]],
  // CHECK: %[[COLUMN:.*]] = arith.muli %[[I]],
  // CHECK-NEXT: tile.tma.load %{{.*}}[%[[ROW]], %[[COLUMN]]], %[[PART]]
  tile.tma.apply "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes" %m, %A box [4, 32] coords[%c0, %c0] steps [[0, 32], [4, 0]] mbar %bar[] : memref<3x4x4x32xf32, #tile.shared<swizzle = 128>>, memref<?x?xf32, strided<[?, 1]>, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
}

// -----

// Four rows are counted from the first coordinate and move together; views are written again in launch.
// CHECK-LABEL: tile.kernel @rows
// CHECK: %[[T:.*]] = memref.transpose %A (d0, d1) -> (d1, d0)
// CHECK-NEXT: tile.tensor_map %[[T]] : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<1x32xf32>
tile.kernel @rows(%A: memref<?x?xf32, strided<[1, ?]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %t = memref.transpose %A (i, j) -> (j, i) : memref<?x?xf32, strided<[1, ?]>, #tile.global> to memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %m = tile.alloc : memref<2x4x32xf32, #tile.shared>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  // CHECK: %[[C6:.*]] = arith.constant 6 : index
  // CHECK: tile.tma.load %{{.*}}[%c1, %[[C6]], %c1, %c1, %c0], %{{.*}} gather4 space cta
  // CHECK: tile.tma.load %{{.*}}[%c17{{[^,]*}}, %c22{{[^,]*}}, %c17{{[^,]*}}, %c17{{[^,]*}}, %c0], %{{.*}} gather4 space cta
  tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes" %m, %t box [1, 32] coords[%c1, %c0] steps [[16, 0]] gather4(%c0, %c5, %c0, %c0) mbar %bar[] : memref<2x4x32xf32, #tile.shared>, memref<?x?xf32, strided<[?, 1]>, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
}

// -----

// Modifiers go to each instruction; prefetches repeat by `repeat`.
// CHECK-LABEL: tile.kernel @modifiers
// CHECK: -> !tile.tensor_map<4x64xi32, l2 = 256, format = unsigned>
tile.kernel @modifiers(%A: memref<64x64xi32, #tile.global>) threads(32) cluster(2, 1, 1) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %mask = arith.constant 3 : i16
  %policy = arith.constant 0 : i64
  %m = tile.alloc : memref<4x64xi32, #tile.shared>
  %bars = tile.alloc : memref<2x!tile.mbarrier, #tile.shared>
  // CHECK: tile.tma.load %{{.*}}, %{{.*}}[%c0] multicast %{{.*}} cta_group 2 policy %{{.*}} :
  tile.tma.apply "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.cta_group::2.L2::cache_hint" %m, %A box [4, 64] coords[%c0, %c0] mbar %bars[%c0] cta_mask %mask cache_policy %policy format unsigned l2_promotion 256 : memref<4x64xi32, #tile.shared>, memref<64x64xi32, #tile.global> mbar memref<2x!tile.mbarrier, #tile.shared>
  // CHECK: tile.tma.reduce dec %{{.*}} policy %{{.*}} overwrite :
  tile.tma.apply "cp.reduce.async.bulk.tensor.2d.global.shared::cta.dec.tile.bulk_group.L2::cache_hint" %A, %m box [4, 64] coords[%c0, %c0] cache_policy %policy format unsigned l2_promotion 256 overwrite : memref<64x64xi32, #tile.global>, memref<4x64xi32, #tile.shared>
  // CHECK-COUNT-2: tile.tma.prefetch
  // CHECK-NOT: tile.tma.prefetch
  tile.tma.apply "cp.async.bulk.prefetch.tensor.2d.L2.global.tile" %A box [4, 64] coords[%c0, %c0] steps [[4, 0]] repeat [2] : memref<64x64xi32, #tile.global>
}

// -----

// A map of the caller's own is taken as it is, also one that the device made.
// CHECK-LABEL: tile.kernel @opaque
// CHECK-NOT: tile.tensor_map %
// CHECK: %[[MAP:.*]] = tile.tensormap.at
// CHECK-COUNT-2: tile.tma.load %[[MAP]]
tile.kernel @opaque(%D: memref<128xi8, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %map = tile.tensormap.at %D : memref<128xi8, #tile.global> -> !tile.tensor_map<8x16xi32>
  %m = tile.alloc : memref<2x8x16xi32, #tile.shared>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %m, %map box [8, 16] coords[%c0, %c0] steps [[8, 0]] mbar %bar[] : memref<2x8x16xi32, #tile.shared>, !tile.tensor_map<8x16xi32> mbar memref<!tile.mbarrier, #tile.shared>
}
