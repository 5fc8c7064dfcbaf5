// 32-byte swizzle, PTX ISA 9.4 section 5.5.7: where the 16-byte pieces of an interleaved 1 x 2 x 10 x 10 x 16 tensor lie.
//
// NC/(32B)HWC(32B), 2 bytes a channel, both slices of channels by one op. Read byte by byte as shared memory has it: piece j of the 8
// in line r stands at j xor (r mod 2). A box is 8 columns wide: 10 of them are no multiple of 16 bytes by the count of the driver.
//
// RUN: girih run %s --device sim --arg A=iota:i16[1,2,10,10,16] --arg Out=poison:i16[40,64] | FileCheck %s
// RUN: girih-opt %s --tile-expand-tma -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg A=iota:i16[1,2,10,10,16] --arg Out=poison:i16[40,64] | FileCheck %s
// CHECK: k: ran on
// CHECK: right: Out: all {{.*}} elements are exact

module attributes {tile.target = "sm_90a"} {

tile.kernel @k(%A: memref<1x2x10x10x16xi16, #tile.global>, %Out: memref<40x64xi16, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %lines = arith.constant 40 : index
  // Element 512 + i of %before is element i of %m as it lies there.
  %c512 = arith.constant 512 : index
  %before = tile.alloc {offset = 0 : i64} : memref<512xi16, #tile.shared<align = 1024>>
  %m = tile.alloc {offset = 1024 : i64} : memref<2x1x1x10x8x16xi16, #tile.shared<swizzle = 32>>
  %one = arith.constant 1 : i32
  %even = arith.constant false
  %thread = tile.thread_id
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    %bytes = arith.constant 5120 : i32
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.apply "cp.async.bulk.tensor.4d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %m, %A box [1, 1, 10, 8] coords[%c0, %c0, %c0, %c0] steps [[0, 1, 0, 0]] mbar %bar[] interleave 32 : memref<2x1x1x10x8x16xi16, #tile.shared<swizzle = 32>>, memref<1x2x10x10x16xi16, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
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
      memref.store %v, %Out[%r, %c] : memref<40x64xi16, #tile.global>
    }
  }
}

func.func @k_ref(%A: memref<1x2x10x10x16xi16>, %Out: memref<40x64xi16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %lines = arith.constant 40 : index
  %mask = arith.constant 1 : index
  scf.for %r = %c0 to %lines step %c1 {
    %by = arith.andi %r, %mask : index
    scf.for %chunk = %c0 to %c8 step %c1 {
      %place = arith.xori %chunk, %by : index
      scf.for %i = %c0 to %c8 step %c1 {
        %from0 = arith.muli %chunk, %c8 : index
        %from = arith.addi %from0, %i : index
        %line = arith.muli %r, %c64 : index
        %number = arith.addi %line, %from : index
        // 16 channels, 8 columns of 10, 10 lines, 2 slices.
        %c16 = arith.constant 16 : index
        %c10 = arith.constant 10 : index
        %k = arith.remui %number, %c16 : index
        %p = arith.divui %number, %c16 : index
        %w = arith.remui %p, %c8 : index
        %q = arith.divui %p, %c8 : index
        %h = arith.remui %q, %c10 : index
        %s = arith.divui %q, %c10 : index
        %v = memref.load %A[%c0, %s, %h, %w, %k] : memref<1x2x10x10x16xi16>
        %to0 = arith.muli %place, %c8 : index
        %to = arith.addi %to0, %i : index
        memref.store %v, %Out[%r, %to] : memref<40x64xi16>
      }
    }
  }
  return
}

}
