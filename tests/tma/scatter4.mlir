// Four rows stored apart from each other by one instruction: the tirx page, scatter4.
//
// The global side first, box 1 x 32, 4 x 32 in shared memory. Rows are r, r + 3, r + 7 and r + 11; where r is 58, the last two lie
// outside and are dropped.
//
// RUN: girih run %s --device sim --arg A=iota:i32[4,32] --arg row=i32:58 --arg Out=poison:i32[64,32] | FileCheck %s
// RUN: girih-opt %s --tile-expand-tma -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg A=iota:i32[4,32] --arg row=i32:58 --arg Out=poison:i32[64,32] | FileCheck %s
// CHECK: k: ran on
// CHECK: right: Out: all {{.*}} elements are exact

module attributes {tile.target = "sm_100a"} {

tile.kernel @k(%A: memref<4x32xi32, #tile.global>, %row: i32, %Out: memref<64x32xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %thread = tile.thread_id
  %m = tile.alloc : memref<4x32xi32, #tile.shared>
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %c11 = arith.constant 11 : index
  %r = arith.index_cast %row : i32 to index
  %r3 = arith.addi %r, %c3 : index
  %r7 = arith.addi %r, %c7 : index
  %r11 = arith.addi %r, %c11 : index
  scf.for %k = %c0 to %c4 step %c1 {
    %v = memref.load %A[%k, %thread] : memref<4x32xi32, #tile.global>
    memref.store %v, %m[%k, %thread] : memref<4x32xi32, #tile.shared>
  }
  tile.fence proxy_async_shared
  tile.barrier
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group" %Out, %m box [1, 32] coords[%c0, %c0] gather4(%r, %r3, %r7, %r11) : memref<64x32xi32, #tile.global>, memref<4x32xi32, #tile.shared>
    tile.bulk.commit
    tile.bulk.wait 0
  }
}

func.func @k_ref(%A: memref<4x32xi32>, %row: i32, %Out: memref<64x32xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  // Rows 0, 3, 7 and 11 from %row on.
  %r = arith.index_cast %row : i32 to index
  scf.for %k = %c0 to %c4 step %c1 {
    %k4 = arith.muli %k, %c4 : index
    %is_first = arith.cmpi eq, %k, %c0 : index
    %one_less = arith.subi %k4, %c1 : index
    %by = arith.select %is_first, %c0, %one_less : index
    %from = arith.addi %r, %by : index
    %in = arith.cmpi ult, %from, %c64 : index
    scf.if %in {
      scf.for %j = %c0 to %c32 step %c1 {
        %v = memref.load %A[%k, %j] : memref<4x32xi32>
        memref.store %v, %Out[%from, %j] : memref<64x32xi32>
      }
    }
  }
  return
}

}
