// f32 loaded as tf32: 13 bits less, to the nearest, ties to even. tirx, format.
//
// The element type of memory stays f32.
//
// RUN: girih run %s --device sim --arg A=randn:f32[8,32] --arg Out=poison:f32[8,32] | FileCheck %s
// RUN: girih-opt %s --tile-expand-tma -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg A=randn:f32[8,32] --arg Out=poison:f32[8,32] | FileCheck %s
// CHECK: k: ran on
// CHECK: right: Out: all {{.*}} elements are exact

module attributes {tile.target = "sm_90a"} {

tile.kernel @k(%A: memref<8x32xf32, #tile.global>, %Out: memref<8x32xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %m = tile.alloc : memref<8x32xf32, #tile.shared>
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
    tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %m, %A box [8, 32] coords[%c0, %c0] mbar %bar[] format tf32 : memref<8x32xf32, #tile.shared>, memref<8x32xf32, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
  scf.for %r = %c0 to %c8 step %c1 {
    %v = memref.load %m[%r, %thread] : memref<8x32xf32, #tile.shared>
    memref.store %v, %Out[%r, %thread] : memref<8x32xf32, #tile.global>
  }
}

func.func @k_ref(%A: memref<8x32xf32>, %Out: memref<8x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1 : i32
  %thirteen = arith.constant 13 : i32
  %half = arith.constant 0xfff : i32
  %kept = arith.constant 0xffffe000 : i32
  scf.for %r = %c0 to %c8 step %c1 {
    scf.for %c = %c0 to %c32 step %c1 {
      %v = memref.load %A[%r, %c] : memref<8x32xf32>
      %bits = arith.bitcast %v : f32 to i32
      %last = arith.shrui %bits, %thirteen : i32
      %odd = arith.andi %last, %one : i32
      %up = arith.addi %half, %odd : i32
      %sum = arith.addi %bits, %up : i32
      %rounded = arith.andi %sum, %kept : i32
      %out = arith.bitcast %rounded : i32 to f32
      memref.store %out, %Out[%r, %c] : memref<8x32xf32>
    }
  }
  return
}

}
