// 6-bit elements, of which a load spreads each 16 over 16 bytes: .b6x16_p32, PTX ISA 9.4 section 5.5.1.1.
//
// 256 numbers of 6 bits are 192 bytes in global memory; a box has 128 of them in a row, 96 bytes, here the second half of each row. 12 bytes
// stand at the start of each 16 bytes of shared memory, and the other 4 are undefined. The barrier counts 96 bytes a row.
//
// RUN: girih run %s --device sim --arg 'A=uniform(low=-128,high=127):i8[16,192]' --arg Out=poison:i8[8,96] | FileCheck %s
// RUN: girih-opt %s --tile-expand-tma -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg 'A=uniform(low=-128,high=127):i8[16,192]' --arg Out=poison:i8[8,96] | FileCheck %s
// CHECK: k: ran on
// CHECK: right: Out: all {{.*}} elements are exact

module attributes {tile.target = "sm_100a"} {

tile.kernel @k(%A: memref<16x192xi8, #tile.global>, %Out: memref<8x96xi8, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c96 = arith.constant 96 : index
  %c128 = arith.constant 128 : index
  %m = tile.alloc : memref<8x128xi8, #tile.shared<swizzle = 128>>
  %one = arith.constant 1 : i32
  %even = arith.constant false
  %thread = tile.thread_id
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    %bytes = arith.constant 768 : i32
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %m, %A box [8, 128] coords[%c4, %c128] mbar %bar[] format b6x16_p32 : memref<8x128xi8, #tile.shared<swizzle = 128>>, memref<16x192xi8, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
  scf.for %r = %c0 to %c8 step %c1 {
    scf.for %c = %thread to %c96 step %c32 {
      %block = arith.divui %c, %c12 : index
      %within = arith.remui %c, %c12 : index
      %start = arith.muli %block, %c16 : index
      %at = arith.addi %start, %within : index
      %v = memref.load %m[%r, %at] : memref<8x128xi8, #tile.shared<swizzle = 128>>
      memref.store %v, %Out[%r, %c] : memref<8x96xi8, #tile.global>
    }
  }
}

func.func @k_ref(%A: memref<16x192xi8>, %Out: memref<8x96xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c96 = arith.constant 96 : index
  scf.for %r = %c0 to %c8 step %c1 {
    %row = arith.addi %r, %c4 : index
    scf.for %c = %c0 to %c96 step %c1 {
      %column = arith.addi %c, %c96 : index
      %v = memref.load %A[%row, %column] : memref<16x192xi8>
      memref.store %v, %Out[%r, %c] : memref<8x96xi8>
    }
  }
  return
}

}
