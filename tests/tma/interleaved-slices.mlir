// Three slices of channels of an interleaved tensor by one op: the tirx page, interleave 2.
//
// u16 in slices of 32 bytes: N, slices, W, and 16 channels of a slice. Box 1 x 1 x 8 is an atom of 1 x 1 x 8 x 16; an axis of three in
// front moves by one slice each. Swizzle 32, 256 bytes each instruction. Image 1, slices 1 to 3, W from 6 on: the last two positions
// lie outside and read as zero.
//
// RUN: girih run %s --device sim --arg A=iota:i16[2,4,12,16] --arg Out=poison:i16[3,8,16] | FileCheck %s
// RUN: girih-opt %s --tile-expand-tma -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg A=iota:i16[2,4,12,16] --arg Out=poison:i16[3,8,16] | FileCheck %s
// CHECK: k: ran on
// CHECK: right: Out: all {{.*}} elements are exact

module attributes {tile.target = "sm_90a"} {

tile.kernel @k(%A: memref<2x4x12x16xi16, #tile.global>, %Out: memref<3x8x16xi16, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %m = tile.alloc : memref<3x1x1x8x16xi16, #tile.shared<swizzle = 32>>
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
    tile.tma.apply "cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %m, %A box [1, 1, 8] coords[%c1, %c1, %c6] steps [[0, 1, 0]] mbar %bar[] interleave 32 : memref<3x1x1x8x16xi16, #tile.shared<swizzle = 32>>, memref<2x4x12x16xi16, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
  %in = arith.cmpi ult, %thread, %c16 : index
  scf.if %in {
    scf.for %s = %c0 to %c3 step %c1 {
      scf.for %w = %c0 to %c8 step %c1 {
        %v = memref.load %m[%s, %c0, %c0, %w, %thread] : memref<3x1x1x8x16xi16, #tile.shared<swizzle = 32>>
        memref.store %v, %Out[%s, %w, %thread] : memref<3x8x16xi16, #tile.global>
      }
    }
  }
}

func.func @k_ref(%A: memref<2x4x12x16xi16>, %Out: memref<3x8x16xi16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i16
  scf.for %s = %c0 to %c3 step %c1 {
    scf.for %w = %c0 to %c8 step %c1 {
      scf.for %c = %c0 to %c16 step %c1 {
        %slice = arith.addi %s, %c1 : index
        %at = arith.addi %w, %c6 : index
        %in = arith.cmpi ult, %at, %c12 : index
        %v = scf.if %in -> (i16) {
          %read = memref.load %A[%c1, %slice, %at, %c] : memref<2x4x12x16xi16>
          scf.yield %read : i16
        } else {
          scf.yield %zero : i16
        }
        memref.store %v, %Out[%s, %w, %c] : memref<3x8x16xi16>
      }
    }
  }
  return
}

}
