// Two boxes of 8 x 16 by one op: the tirx page, first example.
//
// A shared memref of 2 x 8 x 16: one leading axis, whose step is 8 rows. One lane issues two instructions, at 0, 0 and 8, 0, of 512
// bytes each; one phase of the barrier counts 1024.
//
// RUN: girih run %s --device sim --arg A=iota:i32[16,16] --arg Out=poison:i32[16,16] | FileCheck %s
// RUN: girih-opt %s --tile-expand-tma -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg A=iota:i32[16,16] --arg Out=poison:i32[16,16] | FileCheck %s
// CHECK: k: ran on
// CHECK: right: Out: all {{.*}} elements are exact

module attributes {tile.target = "sm_90a"} {

tile.kernel @k(%A: memref<16x16xi32, #tile.global>, %Out: memref<16x16xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %m = tile.alloc : memref<2x8x16xi32, #tile.shared>
  %one = arith.constant 1 : i32
  %even = arith.constant false
  %thread = tile.thread_id
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    %bytes = arith.constant 1024 : i32
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %m, %A box [8, 16] coords[%c0, %c0] steps [[8, 0]] mbar %bar[] : memref<2x8x16xi32, #tile.shared>, memref<16x16xi32, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
  %in = arith.cmpi ult, %thread, %c16 : index
  scf.if %in {
    scf.for %g = %c0 to %c2 step %c1 {
      scf.for %r = %c0 to %c8 step %c1 {
        %v = memref.load %m[%g, %r, %thread] : memref<2x8x16xi32, #tile.shared>
        %start = arith.muli %g, %c8 : index
        %row = arith.addi %start, %r : index
        memref.store %v, %Out[%row, %thread] : memref<16x16xi32, #tile.global>
      }
    }
  }
}

func.func @k_ref(%A: memref<16x16xi32>, %Out: memref<16x16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  linalg.copy ins(%A : memref<16x16xi32>) outs(%Out : memref<16x16xi32>)
  return
}

}
