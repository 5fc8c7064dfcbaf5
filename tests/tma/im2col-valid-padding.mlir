// im2col, PTX ISA 9.4 section 5.5.4, second example: a window inside the images.
//
// Sizes of the tensor, innermost first: 64, 9, 14, 64. A column is 64 pixels of 8 channels. Corners of the window: 0 below, -2 above,
// in H and W. Coordinates 7, 7, 4, 0; offsets 2, 2: the lower right tap of a 3 x 3 filter.
//
// RUN: girih run %s --device sim --arg X=randn:bf16[64,14,9,64] --arg Out=poison:bf16[64,8] | FileCheck %s
// RUN: girih-opt %s --tile-expand-tma -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg X=randn:bf16[64,14,9,64] --arg Out=poison:bf16[64,8] | FileCheck %s
// CHECK: k: ran on
// CHECK-NEXT: right: Out: all {{.*}} elements are exact

module attributes {tile.target = "sm_90a"} {

tile.kernel @k(%X: memref<64x14x9x64xbf16, #tile.global>, %Out: memref<64x8xbf16, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  %map = tile.tensor_map %X : memref<64x14x9x64xbf16, #tile.global> -> !tile.tensor_map<64x8xbf16, mode = im2col, lower = [0, 0], upper = [-2, -2]>
  tile.grid %c1, %c1, %c1 args(%map : !tile.tensor_map<64x8xbf16, mode = im2col, lower = [0, 0], upper = [-2, -2]>)
} body args(%map: !tile.tensor_map<64x8xbf16, mode = im2col, lower = [0, 0], upper = [-2, -2]>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %bytes = arith.constant 1024 : i32
  %even = arith.constant false
  %thread = tile.thread_id
  %m = tile.alloc : memref<64x8xbf16, #tile.shared>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    %n = arith.constant 7 : index
    %h = arith.constant 7 : index
    %w = arith.constant 4 : index
    %dh = arith.constant 2 : i16
    %dw = arith.constant 2 : i16
    tile.tma.apply "cp.async.bulk.tensor.4d.shared::cta.global.im2col.mbarrier::complete_tx::bytes" %m, %map box [64, 8] coords[%n, %h, %w, %c0] offsets(%dh, %dw) mbar %bar[] : memref<64x8xbf16, #tile.shared>, !tile.tensor_map<64x8xbf16, mode = im2col, lower = [0, 0], upper = [-2, -2]> mbar memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
  // Out is what lies in shared memory, read by its swizzle.
  %rows = arith.constant 64 : index
  %columns = arith.constant 8 : index
  %threads = arith.constant 64 : index
  scf.for %r = %c0 to %rows step %c1 {
    scf.for %c = %thread to %columns step %threads {
      %v = memref.load %m[%r, %c] : memref<64x8xbf16, #tile.shared>
      memref.store %v, %Out[%r, %c] : memref<64x8xbf16, #tile.global>
    }
  }
}

func.func @k_ref(%X: memref<64x14x9x64xbf16>, %Out: memref<64x8xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size_n = arith.constant 64 : index
  %size_h = arith.constant 14 : index
  %size_w = arith.constant 9 : index
  %channels = arith.constant 8 : index
  %zero = arith.constant 0.0 : bf16
  // 64 pixels of 8 channels.
  %rows = arith.constant 64 : index
  scf.for %p = %c0 to %rows step %c1 {
    %start = arith.constant 641 : index
    %width = arith.constant 7 : index
    %q = arith.addi %p, %start : index
    %column = arith.remui %q, %width : index
    %line = arith.divui %q, %width : index
    %height = arith.constant 12 : index
    %row = arith.remui %line, %height : index
    %n = arith.divui %line, %height : index
    %step_h = arith.constant 1 : index
    %from_h = arith.constant 2 : index
    %scaled_h = arith.muli %row, %step_h : index
    %h = arith.addi %scaled_h, %from_h : index
    %step_w = arith.constant 1 : index
    %from_w = arith.constant 2 : index
    %scaled_w = arith.muli %column, %step_w : index
    %w = arith.addi %scaled_w, %from_w : index
    // Unsigned, what is negative is past the end too.
    %in_n = arith.cmpi ult, %n, %size_n : index
    %in_h = arith.cmpi ult, %h, %size_h : index
    %in_w = arith.cmpi ult, %w, %size_w : index
    %in_image = arith.andi %in_h, %in_w : i1
    %in = arith.andi %in_image, %in_n : i1
    scf.for %c = %c0 to %channels step %c1 {
      %v = scf.if %in -> (bf16) {
        %read = memref.load %X[%n, %h, %w, %c] : memref<64x14x9x64xbf16>
        scf.yield %read : bf16
      } else {
        scf.yield %zero : bf16
      }
      memref.store %v, %Out[%p, %c] : memref<64x8xbf16>
    }
  }
  return
}

}
