// 6-bit elements, one in each byte of shared memory, that a store packs: .b6p2x16, PTX ISA 9.4 section 5.5.1.1.
//
// The two upper bits of each byte are dropped: 128 bytes become 96.
//
// RUN: girih run %s --device sim --arg 'A=uniform(low=-128,high=127):i8[8,128]' --arg Out=poison:i8[8,96] | FileCheck %s
// RUN: girih-opt %s --tile-expand-tma -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg 'A=uniform(low=-128,high=127):i8[8,128]' --arg Out=poison:i8[8,96] | FileCheck %s
// CHECK: k: ran on
// CHECK: right: Out: all {{.*}} elements are exact

module attributes {tile.target = "sm_100a"} {

tile.kernel @k(%A: memref<8x128xi8, #tile.global>, %Out: memref<8x96xi8, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %thread = tile.thread_id
  %m = tile.alloc : memref<8x128xi8, #tile.shared>
  scf.for %r = %c0 to %c8 step %c1 {
    scf.for %c = %thread to %c128 step %c32 {
      %v = memref.load %A[%r, %c] : memref<8x128xi8, #tile.global>
      memref.store %v, %m[%r, %c] : memref<8x128xi8, #tile.shared>
    }
  }
  tile.fence proxy_async_shared
  tile.barrier
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %Out, %m box [8, 128] coords[%c0, %c0] format b6x16_p32 : memref<8x96xi8, #tile.global>, memref<8x128xi8, #tile.shared>
    tile.bulk.commit
    tile.bulk.wait 0
  }
}

func.func @k_ref(%A: memref<8x128xi8>, %Out: memref<8x96xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %c96 = arith.constant 96 : index
  %zero = arith.constant 0 : i8
  %one = arith.constant 1 : i8
  scf.for %r = %c0 to %c8 step %c1 {
    scf.for %c = %c0 to %c96 step %c1 {
      // Bit p of a row is bit p mod 6 of number p / 6.
      %byte = scf.for %k = %c0 to %c8 step %c1 iter_args(%sum = %zero) -> (i8) {
        %start = arith.muli %c, %c8 : index
        %p = arith.addi %start, %k : index
        %element = arith.divui %p, %c6 : index
        %bit = arith.remui %p, %c6 : index
        %number = memref.load %A[%r, %element] : memref<8x128xi8>
        %by = arith.index_cast %bit : index to i8
        %to = arith.index_cast %k : index to i8
        %down = arith.shrui %number, %by : i8
        %last = arith.andi %down, %one : i8
        %up = arith.shli %last, %to : i8
        %next = arith.ori %sum, %up : i8
        scf.yield %next : i8
      }
      memref.store %byte, %Out[%r, %c] : memref<8x96xi8>
    }
  }
  return
}

}
