// The map of a view: every second row of a part of the tensor, from a row on that is known at launch.
//
// Coordinates are relative to the view, and what is outside the view reads as zero, though the tensor goes on there: 20 rows are
// loaded of 16. The launch region computes the view again, from the kernel's arguments.
//
// RUN: girih run %s --device sim --arg A=randn:f32[64,64] --arg row=i32:5 --arg B=poison:f32[20,32] | FileCheck %s
// RUN: girih-opt %s --tile-expand-tma --canonicalize -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg A=randn:f32[64,64] --arg row=i32:5 --arg B=poison:f32[20,32] | FileCheck %s
// CHECK: k: ran on
// CHECK: right: B: all {{.*}} elements are exact

module attributes {tile.target = "sm_90a"} {

tile.kernel @k(%A: memref<64x64xf32, #tile.global>, %row: i32, %B: memref<20x32xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %bytes = arith.constant 2560 : i32
  %even = arith.constant false
  %r = arith.index_cast %row : i32 to index
  %view = memref.subview %A[%r, 8] [16, 32] [2, 1] : memref<64x64xf32, #tile.global> to memref<16x32xf32, strided<[128, 1], offset: ?>, #tile.global>
  %m = tile.alloc : memref<20x32xf32, #tile.shared<swizzle = 128>>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %elected = tile.elect
  scf.if %elected {
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %m, %view box [20, 32] coords[%c0, %c0] mbar %bar[] : memref<20x32xf32, #tile.shared<swizzle = 128>>, memref<16x32xf32, strided<[128, 1], offset: ?>, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
    tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
    tile.tma.copy store %B[%c0, %c0] extents [20, 32], %m : memref<20x32xf32, #tile.global>, memref<20x32xf32, #tile.shared<swizzle = 128>>
    tile.bulk.commit
    tile.bulk.wait 0
  }
}

func.func @k_ref(%A: memref<64x64xf32>, %row: i32, %B: memref<20x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c20 = arith.constant 20 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %r = arith.index_cast %row : i32 to index
  scf.for %i = %c0 to %c20 step %c1 {
    %twice = arith.muli %i, %c2 : index
    %from = arith.addi %twice, %r : index
    %in = arith.cmpi ult, %i, %c16 : index
    scf.for %j = %c0 to %c32 step %c1 {
      %column = arith.addi %j, %c8 : index
      %v = scf.if %in -> (f32) {
        %read = memref.load %A[%from, %column] : memref<64x64xf32>
        scf.yield %read : f32
      } else {
        scf.yield %zero : f32
      }
      memref.store %v, %B[%i, %j] : memref<20x32xf32>
    }
  }
  return
}

}
