// A region of 257 rows: a box of 256, and one of 1.
//
// A prime number of rows has no equal boxes of at most 256. The tensor ends 7 rows before the region.
//
// RUN: girih run %s --device sim --arg A=randn:f32[250,32] --arg B=poison:f32[250,32] 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: girih-opt %s --tile-expand-tma -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg A=randn:f32[250,32] --arg B=poison:f32[250,32] | FileCheck %s
// CHECK: k: ran on
// CHECK: right: B: all {{.*}} elements are exact
// REMARK: remark: takes 1 copy of 256x32, 32768 bytes, and 1 copy of 1x32, 128 bytes; the mbarrier counts 32896 bytes

module attributes {tile.target = "sm_90a"} {

tile.kernel @k(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(32) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %bytes = arith.constant 32896 : i32
  %even = arith.constant false
  %m = tile.alloc : memref<257x32xf32, #tile.shared<swizzle = 128>>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %elected = tile.elect
  scf.if %elected {
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.copy load %A[%c0, %c0] extents [257, 32], %m mbar %bar[] : memref<?x?xf32, strided<[?, 1]>, #tile.global>, memref<257x32xf32, #tile.shared<swizzle = 128>>, memref<!tile.mbarrier, #tile.shared>
    tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
    tile.tma.copy store %B[%c0, %c0] extents [257, 32], %m : memref<?x?xf32, strided<[?, 1]>, #tile.global>, memref<257x32xf32, #tile.shared<swizzle = 128>>
    tile.bulk.commit
    tile.bulk.wait 0
  }
}

func.func @k_ref(%A: memref<?x?xf32, strided<[?, 1]>>, %B: memref<?x?xf32, strided<[?, 1]>>) {
  linalg.copy ins(%A : memref<?x?xf32, strided<[?, 1]>>) outs(%B : memref<?x?xf32, strided<[?, 1]>>)
  return
}

}
