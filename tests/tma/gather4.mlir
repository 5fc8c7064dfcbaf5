// Four rows that do not follow each other by one instruction: the tirx page, gather4.
//
// A map of 2 dimensions whose box is 1 x 32, and 4 x 32 in shared memory: 512 bytes. Rows are r, r + 3, r + 7 and r + 11; where r is 58,
// the last two lie outside and read as zero.
//
// RUN: girih run %s --device sim --arg A=iota:i32[64,32] --arg row=i32:58 --arg Out=poison:i32[4,32] | FileCheck %s
// RUN: girih-opt %s --tile-expand-tma -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg A=iota:i32[64,32] --arg row=i32:58 --arg Out=poison:i32[4,32] | FileCheck %s
// CHECK: k: ran on
// CHECK: right: Out: all {{.*}} elements are exact

module attributes {tile.target = "sm_100a"} {

tile.kernel @k(%A: memref<64x32xi32, #tile.global>, %row: i32, %Out: memref<4x32xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c4 = arith.constant 4 : index
  %m = tile.alloc : memref<4x32xi32, #tile.shared>
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %c11 = arith.constant 11 : index
  %r = arith.index_cast %row : i32 to index
  %r3 = arith.addi %r, %c3 : index
  %r7 = arith.addi %r, %c7 : index
  %r11 = arith.addi %r, %c11 : index
  %one = arith.constant 1 : i32
  %even = arith.constant false
  %thread = tile.thread_id
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    %bytes = arith.constant 512 : i32
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes" %m, %A box [1, 32] coords[%c0, %c0] gather4(%r, %r3, %r7, %r11) mbar %bar[] : memref<4x32xi32, #tile.shared>, memref<64x32xi32, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
  scf.for %k = %c0 to %c4 step %c1 {
    %v = memref.load %m[%k, %thread] : memref<4x32xi32, #tile.shared>
    memref.store %v, %Out[%k, %thread] : memref<4x32xi32, #tile.global>
  }
}

func.func @k_ref(%A: memref<64x32xi32>, %row: i32, %Out: memref<4x32xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0 : i32
  %c64 = arith.constant 64 : index
  // Rows 0, 3, 7 and 11 from %row on.
  %three = arith.constant 3 : index
  %r = arith.index_cast %row : i32 to index
  scf.for %k = %c0 to %c4 step %c1 {
    %k4 = arith.muli %k, %c4 : index
    %is_first = arith.cmpi eq, %k, %c0 : index
    %one_less = arith.subi %k4, %c1 : index
    %by = arith.select %is_first, %c0, %one_less : index
    %from = arith.addi %r, %by : index
    %in = arith.cmpi ult, %from, %c64 : index
    scf.for %j = %c0 to %c32 step %c1 {
      %v = scf.if %in -> (i32) {
        %read = memref.load %A[%from, %j] : memref<64x32xi32>
        scf.yield %read : i32
      } else {
        scf.yield %zero : i32
      }
      memref.store %v, %Out[%k, %j] : memref<4x32xi32>
    }
  }
  return
}

}
