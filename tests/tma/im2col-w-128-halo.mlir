// im2col::w::128, PTX ISA 9.4 section 5.5.5.3: 128 pixels along W, and a halo of 2 for each 32 of them.
//
// Sizes of the tensor, innermost first: 128, 9, 7, 64. 64 channels of each pixel. Corners of the window in W: 0 and 0. Coordinates
// 7, 2, 3, 0. That all halos lie behind the 128 pixels is an assumption: the text leaves their place to a figure.
//
// RUN: girih run %s --device sim --arg X=randn:bf16[64,7,9,128] --arg Out=poison:bf16[136,64] | FileCheck %s
// RUN: girih-opt %s --tile-expand-tma -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg X=randn:bf16[64,7,9,128] --arg Out=poison:bf16[136,64] | FileCheck %s
// CHECK: k: ran on
// CHECK-NEXT: right: Out: all {{.*}} elements are exact

module attributes {tile.target = "sm_100a"} {

tile.kernel @k(%X: memref<64x7x9x128xbf16, #tile.global>, %Out: memref<136x64xbf16, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  %map = tile.tensor_map %X : memref<64x7x9x128xbf16, #tile.global> -> !tile.tensor_map<128x64xbf16, swizzle = 128, mode = im2col_w_128, rank = 4, lower = [0], upper = [0]>
  tile.grid %c1, %c1, %c1 args(%map : !tile.tensor_map<128x64xbf16, swizzle = 128, mode = im2col_w_128, rank = 4, lower = [0], upper = [0]>)
} body args(%map: !tile.tensor_map<128x64xbf16, swizzle = 128, mode = im2col_w_128, rank = 4, lower = [0], upper = [0]>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %bytes = arith.constant 17408 : i32
  %even = arith.constant false
  %thread = tile.thread_id
  %m = tile.alloc : memref<136x64xbf16, #tile.shared<swizzle = 128>>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    %n = arith.constant 7 : index
    %h = arith.constant 2 : index
    %w = arith.constant 3 : index
    %halo = arith.constant 2 : i16
    %shift = arith.constant 0 : i16
    tile.tma.apply "cp.async.bulk.tensor.4d.shared::cluster.global.im2col::w::128.mbarrier::complete_tx::bytes" %m, %map box [128, 64] coords[%n, %h, %w, %c0] offsets(%halo, %shift) mbar %bar[] : memref<136x64xbf16, #tile.shared<swizzle = 128>>, !tile.tensor_map<128x64xbf16, swizzle = 128, mode = im2col_w_128, rank = 4, lower = [0], upper = [0]> mbar memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
  // Out is what lies in shared memory, read by its swizzle.
  %rows = arith.constant 136 : index
  %columns = arith.constant 64 : index
  %threads = arith.constant 64 : index
  scf.for %r = %c0 to %rows step %c1 {
    scf.for %c = %thread to %columns step %threads {
      %v = memref.load %m[%r, %c] : memref<136x64xbf16, #tile.shared<swizzle = 128>>
      memref.store %v, %Out[%r, %c] : memref<136x64xbf16, #tile.global>
    }
  }
}

func.func @k_ref(%X: memref<64x7x9x128xbf16>, %Out: memref<136x64xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size_n = arith.constant 64 : index
  %size_h = arith.constant 7 : index
  %size_w = arith.constant 9 : index
  %channels = arith.constant 64 : index
  %zero = arith.constant 0.0 : bf16
  // 136 pixels of 64 channels.
  %rows = arith.constant 136 : index
  scf.for %p = %c0 to %rows step %c1 {
    // Behind the 128 pixels stand, for each 32 of them, the 2 that follow these 32.
    %main = arith.constant 128 : index
    %each = arith.constant 2 : index
    %group_size = arith.constant 32 : index
    %behind = arith.subi %p, %main : index
    %group = arith.divui %behind, %each : index
    %within = arith.remui %behind, %each : index
    %next = arith.addi %group, %c1 : index
    %group_start = arith.muli %next, %group_size : index
    %of_halo = arith.addi %group_start, %within : index
    %is_main = arith.cmpi ult, %p, %main : index
    %pixel = arith.select %is_main, %p, %of_halo : index
    %start = arith.constant 66 : index
    %width = arith.constant 9 : index
    %q = arith.addi %pixel, %start : index
    %column = arith.remui %q, %width : index
    %line = arith.divui %q, %width : index
    %h = arith.constant 2 : index
    %n = arith.addi %line, %c0 : index
    %step_w = arith.constant 1 : index
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
        %read = memref.load %X[%n, %h, %w, %c] : memref<64x7x9x128xbf16>
        scf.yield %read : bf16
      } else {
        scf.yield %zero : bf16
      }
      memref.store %v, %Out[%p, %c] : memref<136x64xbf16>
    }
  }
  return
}

}
