// A tensor map, or a memref, that is chosen at run time: each of its values is.
// RUN: girih run %s --device sim --arg A=full(1):f32[16,32] --arg B=full(2):f32[16,32] --arg n=i32:0 --arg Out=poison:f32[8,32] --check Out=full(1):f32[8,32]
// RUN: girih run %s --device sim --arg A=full(1):f32[16,32] --arg B=full(2):f32[16,32] --arg n=i32:1 --arg Out=poison:f32[8,32] --check Out=full(2):f32[8,32]
// RUN: girih compile %s --emit ptx | FileCheck %s
// CHECK: selp.b64

!matrix = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!out = memref<8x32xf32, #tile.global>
!half = !tile.tensor_map<4x32xf32>
!part = memref<4x32xf32, #tile.shared>
!parts = memref<2x4x32xf32, #tile.shared>
!bar = memref<!tile.mbarrier, #tile.shared>

module attributes {tile.target = "sm_90a"} {
tile.kernel @k(%A: !matrix, %B: !matrix, %n: i32, %Out: !out) threads(32) launch {
  %c1 = arith.constant 1 : index
  %a = tile.tensor_map %A : !matrix -> !half
  %b = tile.tensor_map %B : !matrix -> !half
  tile.grid %c1, %c1, %c1 args(%a, %b : !half, !half)
} body args(%a: !half, %b: !half) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %bytes = arith.constant 512 : i32
  %even = arith.constant false
  %m = tile.alloc : !parts
  %bar = tile.alloc : !bar
  %to_a = arith.cmpi eq, %n, %zero : i32
  // By arith.select, and as the result of scf.if.
  %map = arith.select %to_a, %a, %b : !half
  %from = scf.if %to_a -> (!matrix) {
    scf.yield %A : !matrix
  } else {
    scf.yield %B : !matrix
  }
  %top = tile.slab %m[%c0] : !parts -> !part
  %thread = tile.thread_id
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    tile.mbarrier.init %bar[], %one : !bar
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : !bar
    tile.tma.load %map[%c0, %c0], %top, %bar[] : !half, !part, !bar
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : !bar
  scf.for %r = %c0 to %c4 step %c1 {
    %v = memref.load %m[%c0, %r, %thread] : !parts
    memref.store %v, %Out[%r, %thread] : !out
    %w = memref.load %from[%r, %thread] : !matrix
    %below = arith.addi %r, %c4 : index
    memref.store %w, %Out[%below, %thread] : !out
  }
}
}
