// Two boxes of 8 x 16 added to what is in memory by one op: the tirx page, reductions.
//
// The destination keeps what it holds, and each element of the boxes is added to it.
//
// RUN: girih run %s --device sim --arg A=iota:i32[16,16] --arg Out=uniform:i32[16,16] | FileCheck %s
// RUN: girih-opt %s --tile-expand-tma -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg A=iota:i32[16,16] --arg Out=uniform:i32[16,16] | FileCheck %s
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
  %thread = tile.thread_id
  %m = tile.alloc : memref<2x8x16xi32, #tile.shared>
  %in = arith.cmpi ult, %thread, %c16 : index
  scf.if %in {
    scf.for %g = %c0 to %c2 step %c1 {
      scf.for %r = %c0 to %c8 step %c1 {
        %start = arith.muli %g, %c8 : index
        %row = arith.addi %start, %r : index
        %v = memref.load %A[%row, %thread] : memref<16x16xi32, #tile.global>
        memref.store %v, %m[%g, %r, %thread] : memref<2x8x16xi32, #tile.shared>
      }
    }
  }
  tile.fence proxy_async_shared
  tile.barrier
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    tile.tma.apply "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group" %Out, %m box [8, 16] coords[%c0, %c0] steps [[8, 0]] : memref<16x16xi32, #tile.global>, memref<2x8x16xi32, #tile.shared>
    tile.bulk.commit
    tile.bulk.wait 0
  }
}

func.func @k_ref(%A: memref<16x16xi32>, %Out: memref<16x16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c16 step %c1 {
      %a = memref.load %A[%i, %j] : memref<16x16xi32>
      %old = memref.load %Out[%i, %j] : memref<16x16xi32>
      %sum = arith.addi %old, %a : i32
      memref.store %sum, %Out[%i, %j] : memref<16x16xi32>
    }
  }
  return
}

}
