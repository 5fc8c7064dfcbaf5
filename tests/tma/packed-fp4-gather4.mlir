// Packed FP4, of which a load spreads each 16 numbers over 16 bytes: the tirx page, float4_e2m1fn, four rows of gather4, with swizzle 128.
//
// 256 numbers of 4 bits are 128 bytes in global memory; a box has 128 of them in a row, 64 bytes, here the second half of each row. 8
// bytes stand in the lower half of each 16 bytes of shared memory, and the upper half is undefined. The barrier counts what is moved:
// 4 rows of 64 bytes.
//
// RUN: girih run %s --device sim --arg 'A=uniform(low=-128,high=127):i8[16,128]' --arg Out=poison:i8[4,64] | FileCheck %s
// RUN: girih-opt %s --tile-expand-tma -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg 'A=uniform(low=-128,high=127):i8[16,128]' --arg Out=poison:i8[4,64] | FileCheck %s
// CHECK: k: ran on
// CHECK: right: Out: all {{.*}} elements are exact

module attributes {tile.target = "sm_100a"} {

tile.kernel @k(%A: memref<16x128xi8, #tile.global>, %Out: memref<4x64xi8, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %rows = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c9 = arith.constant 9 : index
  %m = tile.alloc : memref<4x128xi8, #tile.shared<swizzle = 128>>
  %one = arith.constant 1 : i32
  %even = arith.constant false
  %thread = tile.thread_id
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    %bytes = arith.constant 256 : i32
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes" %m, %A box [1, 128] coords[%c0, %c128] gather4(%c2, %c5, %c0, %c9) mbar %bar[] format b4x16_p64 : memref<4x128xi8, #tile.shared<swizzle = 128>>, memref<16x128xi8, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
  scf.for %r = %c0 to %rows step %c1 {
    scf.for %c = %thread to %c64 step %c32 {
      %block = arith.divui %c, %c8 : index
      %within = arith.remui %c, %c8 : index
      %start = arith.muli %block, %c16 : index
      %at = arith.addi %start, %within : index
      %v = memref.load %m[%r, %at] : memref<4x128xi8, #tile.shared<swizzle = 128>>
      memref.store %v, %Out[%r, %c] : memref<4x64xi8, #tile.global>
    }
  }
}

func.func @k_ref(%A: memref<16x128xi8>, %Out: memref<4x64xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  scf.for %r = %c0 to %rows step %c1 {
    // Rows 2, 5, 0 and 9, as in figure 10 of PTX ISA 9.4.
    %c2 = arith.constant 2 : index
    %c9 = arith.constant 9 : index
    %c5 = arith.constant 5 : index
    %is0 = arith.cmpi eq, %r, %c0 : index
    %is1 = arith.cmpi eq, %r, %c1 : index
    %is2 = arith.cmpi eq, %r, %c2 : index
    %last = arith.select %is2, %c0, %c9 : index
    %later = arith.select %is1, %c5, %last : index
    %row = arith.select %is0, %c2, %later : index
    scf.for %c = %c0 to %c64 step %c1 {
      %at = arith.addi %c, %c64 : index
      %v = memref.load %A[%row, %at] : memref<16x128xi8>
      memref.store %v, %Out[%r, %c] : memref<4x64xi8>
    }
  }
  return
}

}
