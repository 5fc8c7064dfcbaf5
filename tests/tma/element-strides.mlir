// Traversal strides in mode tile: a box of 5 rows, of which every second is moved.
//
// ceil(5 / 2) = 3 rows, from row 11 on: 11, 13 and 15.
//
// RUN: girih run %s --device sim --arg A=iota:f32[16,32] --arg Out=poison:f32[3,32] | FileCheck %s
// RUN: girih-opt %s --tile-expand-tma -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg A=iota:f32[16,32] --arg Out=poison:f32[3,32] | FileCheck %s
// CHECK: k: ran on
// CHECK: right: Out: all {{.*}} elements are exact

module attributes {tile.target = "sm_90a"} {

tile.kernel @k(%A: memref<16x32xf32, #tile.global>, %Out: memref<3x32xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c11 = arith.constant 11 : index
  %m = tile.alloc : memref<3x32xf32, #tile.shared>
  %one = arith.constant 1 : i32
  %even = arith.constant false
  %thread = tile.thread_id
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    %bytes = arith.constant 384 : i32
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %m, %A box [5, 32] coords[%c11, %c0] mbar %bar[] element_strides [2, 1] : memref<3x32xf32, #tile.shared>, memref<16x32xf32, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
  scf.for %r = %c0 to %c3 step %c1 {
    %v = memref.load %m[%r, %thread] : memref<3x32xf32, #tile.shared>
    memref.store %v, %Out[%r, %thread] : memref<3x32xf32, #tile.global>
  }
}

func.func @k_ref(%A: memref<16x32xf32>, %Out: memref<3x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c11 = arith.constant 11 : index
  %c32 = arith.constant 32 : index
  scf.for %r = %c0 to %c3 step %c1 {
    %twice = arith.muli %r, %c2 : index
    %from = arith.addi %twice, %c11 : index
    scf.for %c = %c0 to %c32 step %c1 {
      %v = memref.load %A[%from, %c] : memref<16x32xf32>
      memref.store %v, %Out[%r, %c] : memref<3x32xf32>
    }
  }
  return
}

}
