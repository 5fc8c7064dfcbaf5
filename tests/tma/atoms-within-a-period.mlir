// Twelve atoms of 4 x 32, half a period of the swizzle each: tirx, swizzled subregions.
//
// Three panels of four atoms. An atom is 512 bytes, and the swizzle repeats every 1024: the hardware permutes by absolute address, so that
// the whole is permuted once. More than 8 instructions are a loop.
//
// RUN: girih run %s --device sim --arg A=iota:f32[16,96] --arg Out=poison:f32[3,16,32] | FileCheck %s
// RUN: girih-opt %s --tile-expand-tma -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg A=iota:f32[16,96] --arg Out=poison:f32[3,16,32] | FileCheck %s
// CHECK: k: ran on
// CHECK: right: Out: all {{.*}} elements are exact

module attributes {tile.target = "sm_90a"} {

tile.kernel @k(%A: memref<16x96xf32, #tile.global>, %Out: memref<3x16x32xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %m = tile.alloc : memref<3x4x4x32xf32, #tile.shared<swizzle = 128>>
  %one = arith.constant 1 : i32
  %even = arith.constant false
  %thread = tile.thread_id
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    %bytes = arith.constant 6144 : i32
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %m, %A box [4, 32] coords[%c0, %c0] steps [[0, 32], [4, 0]] mbar %bar[] : memref<3x4x4x32xf32, #tile.shared<swizzle = 128>>, memref<16x96xf32, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
  scf.for %p = %c0 to %c3 step %c1 {
    scf.for %a = %c0 to %c4 step %c1 {
      scf.for %r = %c0 to %c4 step %c1 {
        %v = memref.load %m[%p, %a, %r, %thread] : memref<3x4x4x32xf32, #tile.shared<swizzle = 128>>
        %start = arith.muli %a, %c4 : index
        %row = arith.addi %start, %r : index
        memref.store %v, %Out[%p, %row, %thread] : memref<3x16x32xf32, #tile.global>
      }
    }
  }
}

func.func @k_ref(%A: memref<16x96xf32>, %Out: memref<3x16x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  scf.for %p = %c0 to %c3 step %c1 {
    scf.for %r = %c0 to %c16 step %c1 {
      scf.for %c = %c0 to %c32 step %c1 {
        %start = arith.muli %p, %c32 : index
        %column = arith.addi %start, %c : index
        %v = memref.load %A[%r, %column] : memref<16x96xf32>
        memref.store %v, %Out[%p, %r, %c] : memref<3x16x32xf32>
      }
    }
  }
  return
}

}
