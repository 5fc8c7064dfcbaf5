// H[x] = how many elements of X are x, for numbers from 0 to the size of H; others are not counted. H starts as zeros.
//
// A block counts 1024 numbers, from 1024 times its x on, in tiles of X as many apart as its y has blocks: in shared memory, whose
// counts it adds to H in the end.
//
//   girih run examples/histogram.mlir --arg X=iota:i32[5000] --arg H=zeros:i32[300]
//
// RUN: girih run %s --device sim --arg X=iota:i32[3000] --arg H=zeros:i32[700] | FileCheck %s
// RUN: girih run %s --device sim --arg X=ones:i32[1001] --arg H=zeros:i32[2] | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg X=uniform(low=-9,high=2500):i32[9000] --arg H=zeros:i32[2100] | FileCheck %s
// CHECK: histogram: ran on
// CHECK-NEXT: right: H: all {{.*}} elements are exact

!numbers = memref<?xi32, #tile.global>
!counts = memref<1040xi32, #tile.shared>

module attributes {tile.target = "sm_90a"} {

tile.kernel @histogram(%X: !numbers, %H: !numbers) threads(1024) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %c8192 = arith.constant 8192 : index
  // 2 for each of 132 multiprocessors.
  %most = arith.constant 264 : index
  // X has no numbers past that.
  %past = arith.constant 2147483648 : index
  %n = memref.dim %X, %c0 : !numbers
  %m = memref.dim %H, %c0 : !numbers
  %places = arith.minui %m, %past : index
  %parts = arith.ceildivui %places, %c1024 : index
  %tiles = arith.ceildivui %n, %c8192 : index
  %blocks = arith.minui %tiles, %most : index
  tile.grid %parts, %blocks, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %c8192 = arith.constant 8192 : index
  %n = memref.dim %X, %c0 : !numbers
  %part = tile.block_id x
  %first = arith.muli %part, %c1024 : index
  %least = arith.index_cast %first : index to i32
  %lowest = tile.splat %least : i32 -> tensor<8192xi32>
  %block = tile.block_id y
  %blocks = tile.grid_dim y
  %start = arith.muli %block, %c8192 : index
  %step = arith.muli %blocks, %c8192 : index

  %counts = tile.alloc : !counts
  %zeros = arith.constant dense<0> : tensor<1040xi32>
  tile.store %zeros, %counts[%c0] : tensor<1040xi32>, !counts
  %one = arith.constant dense<1> : tensor<8192xi32>
  // All other numbers, and what is past the end, are counted there, and forgotten: asking of each would cost more.
  %rest = arith.constant dense<1024> : tensor<8192xi32>
  scf.for %i = %start to %n step %step {
    %x = tile.load %X[%i] {pad = -1 : i32} : !numbers -> tensor<8192xi32>
    %above = arith.subi %x, %lowest : tensor<8192xi32>
    %place = arith.minui %above, %rest : tensor<8192xi32>
    tile.atomic_rmw add %one, %counts[] rows %place : tensor<8192xi32> : tensor<8192xi32>, !counts
  }
  %all = tile.load %counts[%c0] : !counts -> tensor<1024xi32>
  tile.atomic_rmw add %all, %H[%first] : tensor<1024xi32>, !numbers
}

func.func @histogram_ref(%X: memref<?xi32>, %H: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %n = memref.dim %X, %c0 : memref<?xi32>
  %m = memref.dim %H, %c0 : memref<?xi32>
  linalg.fill ins(%zero : i32) outs(%H : memref<?xi32>)
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %X[%i] : memref<?xi32>
    %k = arith.index_cast %x : i32 to index
    %inside = arith.cmpi ult, %k, %m : index
    scf.if %inside {
      %h = memref.load %H[%k] : memref<?xi32>
      %g = arith.addi %h, %one : i32
      memref.store %g, %H[%k] : memref<?xi32>
    }
  }
  return
}

}
