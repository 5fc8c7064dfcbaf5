// Copies through tensor maps. Coordinates are i32, innermost first.
// RUN: girih-opt %s -tile-set-target -tile-allocate-shared -convert-tile-to-nvvm -canonicalize | FileCheck %s

!map = !tile.tensor_map<64x32xf32, swizzle = 128>
!cube = !tile.tensor_map<1x2x4x8x16xi8>
!panel = memref<64x32xf32, #tile.shared<swizzle = 128>>
!box = memref<1x2x4x8x16xi8, #tile.shared>

// CHECK-LABEL: llvm.func @copies(
// CHECK-SAME: %[[MAP:[^:]*]]: !llvm.ptr {{[^%]*}}, %[[CUBE:[^:]*]]: !llvm.ptr {
tile.kernel @copies(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %B: memref<?x?x?x?x?xi8, strided<[?, ?, ?, ?, 1]>, #tile.global>, %i: i32, %j: i32) threads(32) launch {
  %c1 = arith.constant 1 : index
  %map = tile.tensor_map %A : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> !map
  %cube = tile.tensor_map %B : memref<?x?x?x?x?xi8, strided<[?, ?, ?, ?, 1]>, #tile.global> -> !cube
  tile.grid %c1, %c1, %c1 args(%map, %cube : !map, !cube)
} body args(%map: !map, %cube: !cube) {
  %row = arith.index_cast %i : i32 to index
  %column = arith.index_cast %j : i32 to index
  %c0 = arith.constant 0 : index
  // CHECK-DAG: %[[PANEL:.*]] = llvm.mlir.addressof @shared_memory
  %panel = tile.alloc : !panel
  %box = tile.alloc : !box
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  // CHECK: nvvm.prefetch tensormap, %[[MAP]] : !llvm.ptr
  tile.prefetch_tensor_map %map : !map
  // The block's own shared memory has the same numbers in the cluster's window.
  // CHECK: %[[NUMBER:.*]] = llvm.ptrtoint %[[PANEL]] : !llvm.ptr<3> to i32
  // CHECK: %[[TO:.*]] = llvm.inttoptr %[[NUMBER]] : i32 to !llvm.ptr<7>
  // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[TO]], %[[MAP]], %{{.*}}, box[%[[J:.*]], %[[I:.*]]] : !llvm.ptr<7>, !llvm.ptr
  tile.tma.load %map[%row, %column], %panel, %bar[] : !map, !panel, memref<!tile.mbarrier, #tile.shared>
  // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[CUBE]], %{{.*}}, box[%{{.*}}, %[[J]], %[[I]], %{{.*}}, %{{.*}}] l2_cache_hint = %{{.*}} : !llvm.ptr<7>, !llvm.ptr
  tile.tma.load %cube[%c0, %c0, %row, %column, %c0], %box, %bar[] cache evict_first : !cube, !box, memref<!tile.mbarrier, #tile.shared>
  // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[MAP]], %[[PANEL]], box[%[[J]], %[[I]]] : !llvm.ptr, <3>
  tile.tma.store %panel, %map[%row, %column] : !panel, !map
  // CHECK: nvvm.cp.async.bulk.commit.group
  tile.bulk.commit
  // CHECK: nvvm.cp.async.bulk.wait_group 1{{$}}
  tile.bulk.wait 1
  // CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
  tile.bulk.wait 0 read
}
