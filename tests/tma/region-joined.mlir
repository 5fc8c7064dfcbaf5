// A region of 6 dimensions, whose inner ones follow each other in memory.
//
// A tensor map has at most 5 dimensions, and rows of 4 f16 are half of what a box needs. Joined, they are one row.
//
// RUN: girih run %s --device sim --arg A=randn:f16[5,2,2,2,4,4] --arg B=poison:f16[5,2,2,2,4,4] 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: girih-opt %s --tile-expand-tma -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg A=randn:f16[5,2,2,2,4,4] --arg B=poison:f16[5,2,2,2,4,4] | FileCheck %s
// CHECK: k: ran on
// CHECK: right: B: all {{.*}} elements are exact
// REMARK: remark: takes 1 copy of 24x16, 768 bytes; dimensions 0 to 3 are one; dimensions 4 to 5 are one; the mbarrier counts 768 bytes

module attributes {tile.target = "sm_90a"} {

tile.kernel @k(%A: memref<?x2x2x2x4x4xf16, #tile.global>, %B: memref<?x2x2x2x4x4xf16, #tile.global>) threads(32) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %bytes = arith.constant 768 : i32
  %even = arith.constant false
  %c2 = arith.constant 2 : index
  %m = tile.alloc : memref<3x2x2x2x4x4xf16, #tile.shared>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %elected = tile.elect
  scf.if %elected {
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.copy load %A[%c2, %c0, %c0, %c0, %c0, %c0] extents [3, 2, 2, 2, 4, 4], %m mbar %bar[] : memref<?x2x2x2x4x4xf16, #tile.global>, memref<3x2x2x2x4x4xf16, #tile.shared>, memref<!tile.mbarrier, #tile.shared>
    tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
    tile.tma.copy store %B[%c2, %c0, %c0, %c0, %c0, %c0] extents [3, 2, 2, 2, 4, 4], %m : memref<?x2x2x2x4x4xf16, #tile.global>, memref<3x2x2x2x4x4xf16, #tile.shared>
    tile.bulk.commit
    tile.bulk.wait 0
  }
}

func.func @k_ref(%A: memref<?x2x2x2x4x4xf16>, %B: memref<?x2x2x2x4x4xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  scf.for %i = %c2 to %c5 step %c1 {
    scf.for %j = %c0 to %c2 step %c1 {
      scf.for %k = %c0 to %c2 step %c1 {
        scf.for %l = %c0 to %c2 step %c1 {
          scf.for %m = %c0 to %c4 step %c1 {
            scf.for %n = %c0 to %c4 step %c1 {
              %v = memref.load %A[%i, %j, %k, %l, %m, %n] : memref<?x2x2x2x4x4xf16>
              memref.store %v, %B[%i, %j, %k, %l, %m, %n] : memref<?x2x2x2x4x4xf16>
            }
          }
        }
      }
    }
  }
  return
}

}
