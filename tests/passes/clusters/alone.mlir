// A cluster of one block asks nothing of its target: one source serves targets with clusters and without.
// RUN: girih compile %s --target sm_80 --emit ptx | FileCheck %s
// RUN: girih compile %s --target sm_90a --emit ptx | FileCheck %s
// RUN: girih run %s --check-memory --arg X=iota:f32[3,64] --arg Y=zeros:f32[3]

// CHECK-LABEL: .entry alone(
// CHECK-NOT: cluster
// CHECK: %ctaid.x
// CHECK-NOT: cluster
// CHECK: ret;
tile.kernel @alone(%X: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %Y: memref<?xf32, #tile.global>) threads(64) cluster(1, 1, 1) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %X, %c0 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %n = tile.cluster_size
  %blocks = arith.muli %rows, %n : index
  tile.grid %blocks, %c1, %c1
} body {
  %c64 = arith.constant 64 : index
  %rank = tile.cluster_rank
  %place = tile.cluster_block_id x
  %width = tile.cluster_dim x
  %row = tile.cluster_id x
  %begin = arith.muli %rank, %c64 : index
  %column = arith.muli %begin, %width : index
  %at = arith.addi %column, %place : index
  %x = tile.load %X[%row, %at] : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<1x64xf32>
  %sums = tile.reduce %x axis 1 (%a: f32, %b: f32) {
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : tensor<1x64xf32> -> tensor<1xf32>
  %all = tile.cluster_reduce %sums (%a: f32, %b: f32) {
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : tensor<1xf32>
  tile.store %all, %Y[%row] : tensor<1xf32>, memref<?xf32, #tile.global>
}

// Y is the sum of each row.
func.func @alone_ref(%X: memref<?x?xf32, strided<[?, 1]>>, %Y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = memref.dim %X, %c0 : memref<?x?xf32, strided<[?, 1]>>
  %n = memref.dim %X, %c1 : memref<?x?xf32, strided<[?, 1]>>
  scf.for %i = %c0 to %m step %c1 {
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
      %x = memref.load %X[%i, %j] : memref<?x?xf32, strided<[?, 1]>>
      %t = arith.addf %s, %x : f32
      scf.yield %t : f32
    }
    memref.store %sum, %Y[%i] : memref<?xf32>
  }
  return
}
