// Y = running sums of X along rows, in f32: a row for each block, whatever its length. A chunk of 8192 is scanned at once;
// what has come before it is added to all of it, and the chunk's own sum is added to that.
//
//   girih run examples/cumsum.mlir --arg X=randn:f32[16,5000] --arg Y=poison:f32[16,5000]
//
// RUN: girih run %s --device sim --arg X=randn:f32[2,8192] --arg Y=poison:f32[2,8192] | FileCheck %s
// RUN: girih run %s --device sim --arg X=randn:f32[3,20001] --arg Y=poison:f32[3,20001] | FileCheck %s
// RUN: girih run %s --device sim --arg X=randn:f32[1,1] --arg Y=poison:f32[1,1] | FileCheck %s
// CHECK: cumsum: ran on
// CHECK-NEXT: right: Y:

!matrix = memref<?x?xf32, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @cumsum(%X: !matrix, %Y: !matrix) threads(256) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %X, %c0 : !matrix
  tile.grid %rows, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8192 = arith.constant 8192 : index
  %n = memref.dim %X, %c1 : !matrix
  %row = tile.block_id x
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %total = scf.for %j = %c0 to %n step %c8192 iter_args(%before = %zero) -> (tensor<1xf32>) {
    %x = tile.load %X[%row, %j] cache evict_last : !matrix -> tensor<1x8192xf32>
    %sums = tile.scan %x axis 1 (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    } : tensor<1x8192xf32> -> tensor<1x8192xf32>
    %before1 = tile.expand_dims %before axis 1 : tensor<1xf32> -> tensor<1x1xf32>
    %befores = tile.broadcast %before1 : tensor<1x1xf32> -> tensor<1x8192xf32>
    %y = arith.addf %sums, %befores : tensor<1x8192xf32>
    tile.store %y, %Y[%row, %j] : tensor<1x8192xf32>, !matrix
    %sum = tile.reduce %x axis 1 (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    } : tensor<1x8192xf32> -> tensor<1xf32>
    %after = arith.addf %before, %sum : tensor<1xf32>
    scf.yield %after : tensor<1xf32>
  }
}

func.func @cumsum_ref(%X: memref<?x?xf32>, %Y: memref<?x?xf32>) attributes {girih.tol = 1.0e-3 : f64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %X, %c0 : memref<?x?xf32>
  %n = memref.dim %X, %c1 : memref<?x?xf32>
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %rows step %c1 {
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %zero) -> (f64) {
      %x = memref.load %X[%i, %j] : memref<?x?xf32>
      %d = arith.extf %x : f32 to f64
      %t = arith.addf %s, %d : f64
      %y = arith.truncf %t : f64 to f32
      memref.store %y, %Y[%i, %j] : memref<?x?xf32>
      scf.yield %t : f64
    }
  }
  return
}

}
