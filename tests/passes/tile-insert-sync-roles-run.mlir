// A barrier of a role orders what its threads did for themselves alone: what comes after the roles comes after one of the block.
// RUN: girih run %s --device sim --check-memory --arg X=iota:i32[512] --arg Y=zeros:i32[1200] | FileCheck %s
// CHECK: right: Y
// CHECK: no findings
!V = memref<?xi32, #tile.global>
!T = tensor<512xi32>

tile.kernel @k(%X: !V, %Y: !V) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c400 = arith.constant 400 : index
  %c600 = arith.constant 600 : index
  tile.warp_specialize
  role writer(%thread) warps(1) barrier(1) {
    %x = tile.load %X[%c0] : !V -> !T
    tile.store %x, %Y[%c400] : !T, !V
    tile.store %x, %Y[%c600] : !T, !V
  } role idle(%thread) warps(1) {
  }
  %z = tile.load %X[%c0] : !V -> !T
  tile.store %z, %Y[%c3] : !T, !V
}

func.func @k_ref(%X: memref<?xi32>, %Y: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c400 = arith.constant 400 : index
  %c600 = arith.constant 600 : index
  %n = memref.dim %X, %c0 : memref<?xi32>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %X[%i] : memref<?xi32>
    %first = arith.addi %i, %c400 : index
    memref.store %x, %Y[%first] : memref<?xi32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %X[%i] : memref<?xi32>
    %second = arith.addi %i, %c600 : index
    %last = arith.addi %i, %c3 : index
    memref.store %x, %Y[%second] : memref<?xi32>
    memref.store %x, %Y[%last] : memref<?xi32>
  }
  return
}
