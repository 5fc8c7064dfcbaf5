// 4-bit elements copied as they are: .b4x16, PTX ISA 9.4 section 5.5.1.1.
//
// 192 numbers are 96 bytes of a row in global memory; a box of 128 is 64 bytes in either memory. Coordinates count numbers: 64 of them are
// 32 bytes.
//
// RUN: girih run %s --device sim --arg 'A=uniform(low=-128,high=127):i8[16,96]' --arg Out=poison:i8[8,64] | FileCheck %s
// RUN: girih-opt %s --tile-expand-tma -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg 'A=uniform(low=-128,high=127):i8[16,96]' --arg Out=poison:i8[8,64] | FileCheck %s
// CHECK: k: ran on
// CHECK: right: Out: all {{.*}} elements are exact

module attributes {tile.target = "sm_100a"} {

tile.kernel @k(%A: memref<16x96xi8, #tile.global>, %Out: memref<8x64xi8, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %m = tile.alloc : memref<8x64xi8, #tile.shared>
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
    tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %m, %A box [8, 128] coords[%c4, %c64] mbar %bar[] format b4x16 : memref<8x64xi8, #tile.shared>, memref<16x96xi8, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
  scf.for %r = %c0 to %c8 step %c1 {
    scf.for %c = %thread to %c64 step %c32 {
      %v = memref.load %m[%r, %c] : memref<8x64xi8, #tile.shared>
      memref.store %v, %Out[%r, %c] : memref<8x64xi8, #tile.global>
    }
  }
}

func.func @k_ref(%A: memref<16x96xi8>, %Out: memref<8x64xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  scf.for %r = %c0 to %c8 step %c1 {
    %row = arith.addi %r, %c4 : index
    scf.for %c = %c0 to %c64 step %c1 {
      %column = arith.addi %c, %c32 : index
      %v = memref.load %A[%row, %column] : memref<16x96xi8>
      memref.store %v, %Out[%r, %c] : memref<8x64xi8>
    }
  }
  return
}

}
