// One map, two tensors: a copy takes address, sizes and strides of its own (sm_107a).
//
// The map is of A. The first load reads B at its first row with A's sizes; the second reads 5 rows of 24 of B, 64 elements apart, so
// that the rest is fill; the third, from A, is multicast with a mask of 32 bits. A store by the same map goes to Out.
//
// RUN: girih run %s --device sim --arg A=iota:f32[8,32] --arg B=iota(1000):f32[16,32] --arg Out=poison:f32[3,8,32] | FileCheck %s
// CHECK: k: ran on
// CHECK: right: Out: all {{.*}} elements are exact

!matrix = memref<8x32xf32, #tile.global>
!other = memref<16x32xf32, #tile.global>
!out = memref<3x8x32xf32, #tile.global>
!map = !tile.tensor_map<8x32xf32>
!box = memref<8x32xf32, #tile.shared>
!boxes = memref<3x8x32xf32, #tile.shared>
!bar = memref<!tile.mbarrier, #tile.shared>

module attributes {tile.target = "sm_107a"} {

tile.kernel @k(%A: !matrix, %B: !other, %Out: !out) threads(32) launch {
  %c1 = arith.constant 1 : index
  %map = tile.tensor_map %A : !matrix -> !map
  tile.grid %c1, %c1, %c1 args(%map : !map)
} body args(%map: !map) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c24 = arith.constant 24 : index
  %c256 = arith.constant 256 : index
  %one = arith.constant 1 : i32
  %bytes = arith.constant 3072 : i32
  %even = arith.constant false
  %thread = tile.thread_id
  %m = tile.alloc : !boxes
  %m0 = tile.slab %m[%c0] : !boxes -> !box
  %m1 = tile.slab %m[%c1] : !boxes -> !box
  %m2 = tile.slab %m[%c2] : !boxes -> !box
  %bar = tile.alloc : !bar
  %there = tile.global_address %B[%c0, %c0] : !other
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    tile.mbarrier.init %bar[], %one : !bar
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : !bar
    tile.tma.load %map[%c0, %c0], %m0, %bar[] override_address %there : !map, !box, !bar
    tile.tma.load %map[%c0, %c0], %m1, %bar[] space cta override_address %there override_dims(%c5, %c24) override_strides(%c256) : !map, !box, !bar
    tile.tma.load %map[%c0, %c0], %m2, %bar[] multicast_32b %one : !map, !box, !bar
    tile.mbarrier.wait %bar[], %even : !bar
    scf.for %i = %c0 to %c2 step %c1 {
      %from = tile.slab %m[%i] : !boxes -> !box
      %to = tile.global_address %Out[%i, %c0, %c0] : !out
      tile.tma.store %from, %map[%c0, %c0] override_address %to : !box, !map
    }
    %last = tile.global_address %Out[%c2, %c0, %c0] : !out
    tile.tma.store %m2, %map[%c0, %c0] override_address %last : !box, !map
    tile.bulk.commit
    tile.bulk.wait 0
  }
}

func.func @k_ref(%A: memref<8x32xf32>, %B: memref<16x32xf32>, %Out: memref<3x8x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %c24 = arith.constant 24 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  scf.for %r = %c0 to %c8 step %c1 {
    scf.for %c = %c0 to %c32 step %c1 {
      %b = memref.load %B[%r, %c] : memref<16x32xf32>
      memref.store %b, %Out[%c0, %r, %c] : memref<3x8x32xf32>
      %a = memref.load %A[%r, %c] : memref<8x32xf32>
      memref.store %a, %Out[%c2, %r, %c] : memref<3x8x32xf32>
      %in_rows = arith.cmpi ult, %r, %c5 : index
      %in_columns = arith.cmpi ult, %c, %c24 : index
      %in = arith.andi %in_rows, %in_columns : i1
      // 256 bytes are two rows of B.
      %twice = arith.muli %r, %c2 : index
      %at = arith.select %in, %twice, %c0 : index
      %v = memref.load %B[%at, %c] : memref<16x32xf32>
      %w = arith.select %in, %v, %zero : f32
      memref.store %w, %Out[%c1, %r, %c] : memref<3x8x32xf32>
    }
  }
  return
}

}
