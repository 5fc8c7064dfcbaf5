// A region by planned copies, in a format that rounds: f32 comes as tf32. A prefetch of the region goes before it.
//
// RUN: girih run %s --device sim --arg A=uniform:f32[64,64] --arg Out=poison:f32[16,64] | FileCheck %s
// RUN: girih-opt %s | girih-opt --tile-expand-tma -o %t.mlir
// RUN: FileCheck %s --check-prefix=OPS --input-file=%t.mlir
// RUN: girih run %t.mlir --device sim --arg A=uniform:f32[64,64] --arg Out=poison:f32[16,64] | FileCheck %s
// CHECK: k: ran on
// CHECK: right: Out: all {{.*}} elements are exact
// OPS-COUNT-1: tile.tma.prefetch
// OPS-COUNT-2: tile.tma.load {{.*}} !tile.tensor_map<16x32xf32, swizzle = 128, format = tf32>

!matrix = memref<64x64xf32, #tile.global>
!panels = memref<2x16x32xf32, #tile.shared<swizzle = 128>>
!bar = memref<!tile.mbarrier, #tile.shared>

module attributes {tile.target = "sm_90a"} {

tile.kernel @k(%A: !matrix, %Out: memref<16x64xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1 : i32
  %bytes = arith.constant 4096 : i32
  %even = arith.constant false
  %thread = tile.thread_id
  %m = tile.alloc : !panels
  %bar = tile.alloc : !bar
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    tile.tma.copy prefetch %A[%c16, %c0] extents [16, 64] cache evict_last : !matrix
    tile.mbarrier.init %bar[], %one : !bar
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : !bar
    tile.tma.copy load %A[%c16, %c0] extents [16, 64], %m mbar %bar[] format tf32 : !matrix, !panels, !bar
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : !bar
  scf.for %p = %c0 to %c2 step %c1 {
    scf.for %r = %c0 to %c16 step %c1 {
      %v = memref.load %m[%p, %r, %thread] : !panels
      %start = arith.muli %p, %c32 : index
      %column = arith.addi %start, %thread : index
      memref.store %v, %Out[%r, %column] : memref<16x64xf32, #tile.global>
    }
  }
}

// Nearest even at 13 bits below the mantissa's end.
func.func @k_ref(%A: memref<64x64xf32>, %Out: memref<16x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i32
  %half = arith.constant 4095 : i32
  %thirteen = arith.constant 13 : i32
  %mask = arith.constant -8192 : i32
  scf.for %r = %c0 to %c16 step %c1 {
    scf.for %c = %c0 to %c64 step %c1 {
      %row = arith.addi %r, %c16 : index
      %v = memref.load %A[%row, %c] : memref<64x64xf32>
      %b = arith.bitcast %v : f32 to i32
      %s = arith.shrui %b, %thirteen : i32
      %odd = arith.andi %s, %one : i32
      %t = arith.addi %b, %half : i32
      %u = arith.addi %t, %odd : i32
      %w = arith.andi %u, %mask : i32
      %x = arith.bitcast %w : i32 to f32
      memref.store %x, %Out[%r, %c] : memref<16x64xf32>
    }
  }
  return
}

}
