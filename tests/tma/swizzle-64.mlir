// 64-byte swizzle, PTX ISA 9.4 section 5.5.7: where the 16-byte pieces of a 1 x 10 x 10 x 64 tensor lie.
//
// NHWC, 2 bytes a channel, a box of 32 channels of all pixels. Read byte by byte as shared memory has it: piece j of the 8 in line r
// stands at j xor (r mod 4).
//
// RUN: girih run %s --device sim --arg A=iota:i16[1,10,10,64] --arg Out=poison:i16[50,64] | FileCheck %s
// RUN: girih-opt %s --tile-expand-tma -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg A=iota:i16[1,10,10,64] --arg Out=poison:i16[50,64] | FileCheck %s
// CHECK: k: ran on
// CHECK: right: Out: all {{.*}} elements are exact

module attributes {tile.target = "sm_90a"} {

tile.kernel @k(%A: memref<1x10x10x64xi16, #tile.global>, %Out: memref<50x64xi16, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %lines = arith.constant 50 : index
  // Element 512 + i of %before is element i of %m as it lies there.
  %c512 = arith.constant 512 : index
  %before = tile.alloc {offset = 0 : i64} : memref<512xi16, #tile.shared<align = 1024>>
  %m = tile.alloc {offset = 1024 : i64} : memref<1x10x10x32xi16, #tile.shared<swizzle = 64>>
  %one = arith.constant 1 : i32
  %even = arith.constant false
  %thread = tile.thread_id
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    %bytes = arith.constant 6400 : i32
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.apply "cp.async.bulk.tensor.4d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %m, %A box [1, 10, 10, 32] coords[%c0, %c0, %c0, %c0] mbar %bar[] : memref<1x10x10x32xi16, #tile.shared<swizzle = 64>>, memref<1x10x10x64xi16, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
  %c32 = arith.constant 32 : index
  scf.for %r = %c0 to %lines step %c1 {
    scf.for %c = %thread to %c64 step %c32 {
      %start = arith.muli %r, %c64 : index
      %element = arith.addi %start, %c : index
      %at = arith.addi %element, %c512 : index
      %v = memref.load %before[%at] : memref<512xi16, #tile.shared<align = 1024>>
      memref.store %v, %Out[%r, %c] : memref<50x64xi16, #tile.global>
    }
  }
}

func.func @k_ref(%A: memref<1x10x10x64xi16>, %Out: memref<50x64xi16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %lines = arith.constant 50 : index
  %mask = arith.constant 3 : index
  scf.for %r = %c0 to %lines step %c1 {
    %by = arith.andi %r, %mask : index
    scf.for %chunk = %c0 to %c8 step %c1 {
      %place = arith.xori %chunk, %by : index
      scf.for %i = %c0 to %c8 step %c1 {
        %from0 = arith.muli %chunk, %c8 : index
        %from = arith.addi %from0, %i : index
        %line = arith.muli %r, %c64 : index
        %number = arith.addi %line, %from : index
        // Element 32 p + k of the image is channel k of pixel p, 32 of 64 channels of 10 x 10 pixels.
        %channels = arith.constant 32 : index
        %c10 = arith.constant 10 : index
        %k = arith.remui %number, %channels : index
        %p = arith.divui %number, %channels : index
        %h = arith.divui %p, %c10 : index
        %w = arith.remui %p, %c10 : index
        %v = memref.load %A[%c0, %h, %w, %k] : memref<1x10x10x64xi16>
        %to0 = arith.muli %place, %c8 : index
        %to = arith.addi %to0, %i : index
        memref.store %v, %Out[%r, %to] : memref<50x64xi16>
      }
    }
  }
  return
}

}
