// Y = place of the largest element of each row of X, the first of several: pairs of a number and its place are reduced. Each
// element of a chunk keeps the best of its own column of chunks; only at the end do threads compare. NaNs
// are passed over.
//
//   girih run examples/argmax.mlir --arg X=randn:f32[16,5000] --arg Y=zeros:i32[16]
//
// RUN: girih run %s --device sim --arg X=randn:f32[2,4096] --arg Y=zeros:i32[2] | FileCheck %s
// RUN: girih run %s --device sim --arg X=randn:f32[3,9001] --arg Y=zeros:i32[3] | FileCheck %s
// RUN: girih run %s --device sim --arg X=zeros:f32[2,77] --arg Y=ones:i32[2] | FileCheck %s
// CHECK: argmax: ran on
// CHECK-NEXT: right: Y: all {{.*}} elements are exact

!matrix = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!places = memref<?xi32, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @argmax(%X: !matrix, %Y: !places) threads(256) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %X, %c0 : !matrix
  tile.grid %rows, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4096 = arith.constant 4096 : index
  %n = memref.dim %X, %c1 : !matrix
  %row = tile.block_id x
  %lowest = arith.constant dense<0xFF800000> : tensor<1x4096xf32>
  %column = tile.iota axis 1 : tensor<1x4096xi32>
  %best, %where = scf.for %j = %c0 to %n step %c4096 iter_args(%b = %lowest, %w = %column) -> (tensor<1x4096xf32>, tensor<1x4096xi32>) {
    %x = tile.load %X[%row, %j] {pad = 0xFF800000 : f32} : !matrix -> tensor<1x4096xf32>
    %start = arith.index_cast %j : index to i32
    %starts = tile.splat %start : i32 -> tensor<1x4096xi32>
    %place = arith.addi %starts, %column : tensor<1x4096xi32>
    %larger = arith.cmpf ogt, %x, %b : tensor<1x4096xf32>
    %new_best = arith.select %larger, %x, %b : tensor<1x4096xi1>, tensor<1x4096xf32>
    %new_where = arith.select %larger, %place, %w : tensor<1x4096xi1>, tensor<1x4096xi32>
    scf.yield %new_best, %new_where : tensor<1x4096xf32>, tensor<1x4096xi32>
  }
  %max, %at = tile.reduce %best, %where axis 1 (%a: f32, %i: i32, %b: f32, %j: i32) {
    %larger = arith.cmpf ogt, %a, %b : f32
    %equal = arith.cmpf oeq, %a, %b : f32
    %before = arith.cmpi slt, %i, %j : i32
    %tie = arith.andi %equal, %before : i1
    %first = arith.ori %larger, %tie : i1
    %m = arith.select %first, %a, %b : f32
    %p = arith.select %first, %i, %j : i32
    tile.yield %m, %p : f32, i32
  } : tensor<1x4096xf32>, tensor<1x4096xi32> -> tensor<1xf32>, tensor<1xi32>
  tile.store %at, %Y[%row] : tensor<1xi32>, !places
}

func.func @argmax_ref(%X: memref<?x?xf32>, %Y: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %X, %c0 : memref<?x?xf32>
  %n = memref.dim %X, %c1 : memref<?x?xf32>
  %lowest = arith.constant 0xFF800000 : f32
  %first = arith.constant 0 : i32
  scf.for %i = %c0 to %rows step %c1 {
    %max, %at = scf.for %j = %c0 to %n step %c1 iter_args(%m = %lowest, %p = %first) -> (f32, i32) {
      %x = memref.load %X[%i, %j] : memref<?x?xf32>
      %larger = arith.cmpf ogt, %x, %m : f32
      %k = arith.index_cast %j : index to i32
      %new = arith.select %larger, %x, %m : f32
      %place = arith.select %larger, %k, %p : i32
      scf.yield %new, %place : f32, i32
    }
    memref.store %at, %Y[%i] : memref<?xi32>
  }
  return
}

}
