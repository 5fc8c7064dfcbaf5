// A region of 64 x 64 in two panels, whose tails the hardware clips.
//
// Blocks of 64 x 64 over 100 x 72: what is past the edges is neither read nor written.
//
// RUN: girih run %s --device sim --arg A=randn:f32[100,72] --arg B=poison:f32[100,72] 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: girih-opt %s --tile-expand-tma -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg A=randn:f32[100,72] --arg B=poison:f32[100,72] | FileCheck %s
// CHECK: k: ran on
// CHECK: right: B: all {{.*}} elements are exact
// REMARK: remark: takes 2 copies of 64x32, 8192 bytes each; the mbarrier counts 16384 bytes

module attributes {tile.target = "sm_90a"} {

tile.kernel @k(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(32) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %rows = memref.dim %A, %c0 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %columns = memref.dim %A, %c1 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %down = arith.ceildivui %rows, %c64 : index
  %across = arith.ceildivui %columns, %c64 : index
  tile.grid %across, %down, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %bytes = arith.constant 16384 : i32
  %even = arith.constant false
  %c64 = arith.constant 64 : index
  %x = tile.block_id x
  %y = tile.block_id y
  %row = arith.muli %y, %c64 : index
  %column = arith.muli %x, %c64 : index
  %m = tile.alloc : memref<2x64x32xf32, #tile.shared<swizzle = 128>>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %elected = tile.elect
  scf.if %elected {
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.copy load %A[%row, %column] extents [64, 64], %m mbar %bar[] : memref<?x?xf32, strided<[?, 1]>, #tile.global>, memref<2x64x32xf32, #tile.shared<swizzle = 128>>, memref<!tile.mbarrier, #tile.shared>
    tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
    tile.tma.copy store %B[%row, %column] extents [64, 64], %m : memref<?x?xf32, strided<[?, 1]>, #tile.global>, memref<2x64x32xf32, #tile.shared<swizzle = 128>>
    tile.bulk.commit
    tile.bulk.wait 0
  }
}

func.func @k_ref(%A: memref<?x?xf32, strided<[?, 1]>>, %B: memref<?x?xf32, strided<[?, 1]>>) {
  linalg.copy ins(%A : memref<?x?xf32, strided<[?, 1]>>) outs(%B : memref<?x?xf32, strided<[?, 1]>>)
  return
}

}
