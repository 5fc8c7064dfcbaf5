// Outside the tensor a special NaN: 0x7ff7 in each 16 bits, PTX ISA 9.4 section 5.5.3.3 and tirx, oob_fill.
//
// 8 rows from row 12 of 16 on.
//
// RUN: girih run %s --device sim --arg A=randn:f16[16,32] --arg Out=poison:i16[8,32] | FileCheck %s
// RUN: girih-opt %s --tile-expand-tma -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg A=randn:f16[16,32] --arg Out=poison:i16[8,32] | FileCheck %s
// CHECK: k: ran on
// CHECK: right: Out: all {{.*}} elements are exact

module attributes {tile.target = "sm_90a"} {

tile.kernel @k(%A: memref<16x32xf16, #tile.global>, %Out: memref<8x32xi16, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  %m = tile.alloc : memref<8x32xf16, #tile.shared>
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
    tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %m, %A box [8, 32] coords[%c12, %c0] mbar %bar[] oob_fill nan : memref<8x32xf16, #tile.shared>, memref<16x32xf16, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
  scf.for %r = %c0 to %c8 step %c1 {
    %v = memref.load %m[%r, %thread] : memref<8x32xf16, #tile.shared>
    %bits = arith.bitcast %v : f16 to i16
    memref.store %bits, %Out[%r, %thread] : memref<8x32xi16, #tile.global>
  }
}

func.func @k_ref(%A: memref<16x32xf16>, %Out: memref<8x32xi16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %nan = arith.constant 0x7ff7 : i16
  scf.for %r = %c0 to %c8 step %c1 {
    %from = arith.addi %r, %c12 : index
    %in = arith.cmpi ult, %from, %c16 : index
    scf.for %c = %c0 to %c32 step %c1 {
      %v = scf.if %in -> (i16) {
        %read = memref.load %A[%from, %c] : memref<16x32xf16>
        %bits = arith.bitcast %read : f16 to i16
        scf.yield %bits : i16
      } else {
        scf.yield %nan : i16
      }
      memref.store %v, %Out[%r, %c] : memref<8x32xi16>
    }
  }
  return
}

}
