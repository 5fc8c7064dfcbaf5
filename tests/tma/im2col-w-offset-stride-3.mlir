// im2col::w, PTX ISA 9.4 section 5.5.5.4, second example: each third pixel in a buffer of its own.
//
// Sizes of the tensor, innermost first: 128, 7, 7, 64. Stride 3 in W. 128 pixels of 64 channels. Corners of the window in W: -1 and
// -1. Coordinates 7, 2, -1, 0. Three buffers without halo, shifted by 0, 1 and 2.
//
// RUN: girih run %s --device sim --arg X=randn:bf16[64,7,7,128] --arg Out1=poison:bf16[128,64] --arg Out2=poison:bf16[128,64] --arg Out3=poison:bf16[128,64] | FileCheck %s
// RUN: girih-opt %s --tile-expand-tma -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg X=randn:bf16[64,7,7,128] --arg Out1=poison:bf16[128,64] --arg Out2=poison:bf16[128,64] --arg Out3=poison:bf16[128,64] | FileCheck %s
// CHECK: k: ran on
// CHECK-NEXT: right: Out1: all {{.*}} elements are exact
// CHECK-NEXT: right: Out2: all {{.*}} elements are exact
// CHECK-NEXT: right: Out3: all {{.*}} elements are exact

module attributes {tile.target = "sm_100a"} {

tile.kernel @k(%X: memref<64x7x7x128xbf16, #tile.global>, %Out1: memref<128x64xbf16, #tile.global>, %Out2: memref<128x64xbf16, #tile.global>, %Out3: memref<128x64xbf16, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  %map = tile.tensor_map %X : memref<64x7x7x128xbf16, #tile.global> -> !tile.tensor_map<128x64xbf16, swizzle = 128, element_strides = [1, 1, 3, 1], mode = im2col_w, rank = 4, lower = [-1], upper = [-1]>
  tile.grid %c1, %c1, %c1 args(%map : !tile.tensor_map<128x64xbf16, swizzle = 128, element_strides = [1, 1, 3, 1], mode = im2col_w, rank = 4, lower = [-1], upper = [-1]>)
} body args(%map: !tile.tensor_map<128x64xbf16, swizzle = 128, element_strides = [1, 1, 3, 1], mode = im2col_w, rank = 4, lower = [-1], upper = [-1]>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %bytes = arith.constant 49152 : i32
  %even = arith.constant false
  %thread = tile.thread_id
  %m1 = tile.alloc : memref<128x64xbf16, #tile.shared<swizzle = 128>>
  %m2 = tile.alloc : memref<128x64xbf16, #tile.shared<swizzle = 128>>
  %m3 = tile.alloc : memref<128x64xbf16, #tile.shared<swizzle = 128>>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    %n = arith.constant 7 : index
    %h = arith.constant 2 : index
    %w = arith.constant -1 : index
    %halo1 = arith.constant 0 : i16
    %shift1 = arith.constant 0 : i16
    tile.tma.apply "cp.async.bulk.tensor.4d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes" %m1, %map box [128, 64] coords[%n, %h, %w, %c0] offsets(%halo1, %shift1) mbar %bar[] : memref<128x64xbf16, #tile.shared<swizzle = 128>>, !tile.tensor_map<128x64xbf16, swizzle = 128, element_strides = [1, 1, 3, 1], mode = im2col_w, rank = 4, lower = [-1], upper = [-1]> mbar memref<!tile.mbarrier, #tile.shared>
    %halo2 = arith.constant 0 : i16
    %shift2 = arith.constant 1 : i16
    tile.tma.apply "cp.async.bulk.tensor.4d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes" %m2, %map box [128, 64] coords[%n, %h, %w, %c0] offsets(%halo2, %shift2) mbar %bar[] : memref<128x64xbf16, #tile.shared<swizzle = 128>>, !tile.tensor_map<128x64xbf16, swizzle = 128, element_strides = [1, 1, 3, 1], mode = im2col_w, rank = 4, lower = [-1], upper = [-1]> mbar memref<!tile.mbarrier, #tile.shared>
    %halo3 = arith.constant 0 : i16
    %shift3 = arith.constant 2 : i16
    tile.tma.apply "cp.async.bulk.tensor.4d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes" %m3, %map box [128, 64] coords[%n, %h, %w, %c0] offsets(%halo3, %shift3) mbar %bar[] : memref<128x64xbf16, #tile.shared<swizzle = 128>>, !tile.tensor_map<128x64xbf16, swizzle = 128, element_strides = [1, 1, 3, 1], mode = im2col_w, rank = 4, lower = [-1], upper = [-1]> mbar memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
  %rows1 = arith.constant 128 : index
  %columns1 = arith.constant 64 : index
  %threads1 = arith.constant 64 : index
  scf.for %r = %c0 to %rows1 step %c1 {
    scf.for %c = %thread to %columns1 step %threads1 {
      %v = memref.load %m1[%r, %c] : memref<128x64xbf16, #tile.shared<swizzle = 128>>
      memref.store %v, %Out1[%r, %c] : memref<128x64xbf16, #tile.global>
    }
  }
  %rows2 = arith.constant 128 : index
  %columns2 = arith.constant 64 : index
  %threads2 = arith.constant 64 : index
  scf.for %r = %c0 to %rows2 step %c1 {
    scf.for %c = %thread to %columns2 step %threads2 {
      %v = memref.load %m2[%r, %c] : memref<128x64xbf16, #tile.shared<swizzle = 128>>
      memref.store %v, %Out2[%r, %c] : memref<128x64xbf16, #tile.global>
    }
  }
  // Out is what lies in shared memory, read by its swizzle.
  %rows3 = arith.constant 128 : index
  %columns3 = arith.constant 64 : index
  %threads3 = arith.constant 64 : index
  scf.for %r = %c0 to %rows3 step %c1 {
    scf.for %c = %thread to %columns3 step %threads3 {
      %v = memref.load %m3[%r, %c] : memref<128x64xbf16, #tile.shared<swizzle = 128>>
      memref.store %v, %Out3[%r, %c] : memref<128x64xbf16, #tile.global>
    }
  }
}

func.func @k_ref(%X: memref<64x7x7x128xbf16>, %Out1: memref<128x64xbf16>, %Out2: memref<128x64xbf16>, %Out3: memref<128x64xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size_n = arith.constant 64 : index
  %size_h = arith.constant 7 : index
  %size_w = arith.constant 7 : index
  %channels = arith.constant 64 : index
  %zero = arith.constant 0.0 : bf16
  // 128 pixels of 64 channels.
  %rows1 = arith.constant 128 : index
  scf.for %p = %c0 to %rows1 step %c1 {
    %start = arith.constant 21 : index
    %width = arith.constant 3 : index
    %q = arith.addi %p, %start : index
    %column = arith.remui %q, %width : index
    %line = arith.divui %q, %width : index
    %h = arith.constant 2 : index
    %n = arith.addi %line, %c0 : index
    %step_w = arith.constant 3 : index
    %from_w = arith.constant -1 : index
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
        %read = memref.load %X[%n, %h, %w, %c] : memref<64x7x7x128xbf16>
        scf.yield %read : bf16
      } else {
        scf.yield %zero : bf16
      }
      memref.store %v, %Out1[%p, %c] : memref<128x64xbf16>
    }
  }
  // 128 pixels of 64 channels.
  %rows2 = arith.constant 128 : index
  scf.for %p = %c0 to %rows2 step %c1 {
    %start = arith.constant 21 : index
    %width = arith.constant 3 : index
    %q = arith.addi %p, %start : index
    %column = arith.remui %q, %width : index
    %line = arith.divui %q, %width : index
    %h = arith.constant 2 : index
    %n = arith.addi %line, %c0 : index
    %step_w = arith.constant 3 : index
    %from_w = arith.constant 0 : index
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
        %read = memref.load %X[%n, %h, %w, %c] : memref<64x7x7x128xbf16>
        scf.yield %read : bf16
      } else {
        scf.yield %zero : bf16
      }
      memref.store %v, %Out2[%p, %c] : memref<128x64xbf16>
    }
  }
  // 128 pixels of 64 channels.
  %rows3 = arith.constant 128 : index
  scf.for %p = %c0 to %rows3 step %c1 {
    %start = arith.constant 21 : index
    %width = arith.constant 3 : index
    %q = arith.addi %p, %start : index
    %column = arith.remui %q, %width : index
    %line = arith.divui %q, %width : index
    %h = arith.constant 2 : index
    %n = arith.addi %line, %c0 : index
    %step_w = arith.constant 3 : index
    %from_w = arith.constant 1 : index
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
        %read = memref.load %X[%n, %h, %w, %c] : memref<64x7x7x128xbf16>
        scf.yield %read : bf16
      } else {
        scf.yield %zero : bf16
      }
      memref.store %v, %Out3[%p, %c] : memref<128x64xbf16>
    }
  }
  return
}

}
