// A region of 16 panels added to what is in memory, by a loop.
//
// More than 8 instructions are a loop. The region is row 1 of the outer dimension, and 16 of its 20 lines.
//
// RUN: girih run %s --device sim --arg A=iota:f32[2,20,512] --arg B=iota:f32[2,20,512] 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: girih-opt %s --tile-expand-tma -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg A=iota:f32[2,20,512] --arg B=iota:f32[2,20,512] | FileCheck %s
// CHECK: k: ran on
// CHECK: right: B: all {{.*}} elements are exact
// REMARK: remark: takes 16 copies of 1x16x32, 2048 bytes each; the mbarrier counts 32768 bytes

module attributes {tile.target = "sm_90a"} {

tile.kernel @k(%A: memref<?x?x512xf32, strided<[?, ?, 1]>, #tile.global>, %B: memref<?x?x512xf32, strided<[?, ?, 1]>, #tile.global>) threads(32) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %bytes = arith.constant 32768 : i32
  %even = arith.constant false
  %c4 = arith.constant 4 : index
  %m = tile.alloc : memref<16x16x32xf32, #tile.shared<swizzle = 128>>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %elected = tile.elect
  scf.if %elected {
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.copy load %A[%c1, %c4, %c0] extents [1, 16, 512], %m mbar %bar[] : memref<?x?x512xf32, strided<[?, ?, 1]>, #tile.global>, memref<16x16x32xf32, #tile.shared<swizzle = 128>>, memref<!tile.mbarrier, #tile.shared>
    tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
    tile.tma.copy store %B[%c1, %c4, %c0] extents [1, 16, 512], %m reduce add : memref<?x?x512xf32, strided<[?, ?, 1]>, #tile.global>, memref<16x16x32xf32, #tile.shared<swizzle = 128>>
    tile.bulk.commit
    tile.bulk.wait 0
  }
}

func.func @k_ref(%A: memref<?x?x512xf32, strided<[?, ?, 1]>>, %B: memref<?x?x512xf32, strided<[?, ?, 1]>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c20 = arith.constant 20 : index
  %c512 = arith.constant 512 : index
  scf.for %i = %c4 to %c20 step %c1 {
    scf.for %j = %c0 to %c512 step %c1 {
      %a = memref.load %A[%c1, %i, %j] : memref<?x?x512xf32, strided<[?, ?, 1]>>
      %b = memref.load %B[%c1, %i, %j] : memref<?x?x512xf32, strided<[?, ?, 1]>>
      %sum = arith.addf %a, %b : f32
      memref.store %sum, %B[%c1, %i, %j] : memref<?x?x512xf32, strided<[?, ?, 1]>>
    }
  }
  return
}

}
