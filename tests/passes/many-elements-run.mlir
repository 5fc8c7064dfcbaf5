// Threads with two thousand elements in one branch, guarded one by one. Compiling them takes about as long as writing their
// instructions: nothing compares each value of the branch with all others.
// RUN: girih run %s --device sim --check-memory --arg X=iota:i8[62,1000] --arg Y=zeros:i8[62,1000] \
// RUN:   --arg Z=zeros:i8[62,1000] 2>/dev/null | FileCheck %s
// CHECK-NOT: wrong
// CHECK: right
// CHECK: no findings

!bytes = memref<?x?xi8, strided<[?, 1]>, #tile.global>

module {
// The upper half of X goes to the lower half of Y, and the lower half to that of Z.
tile.kernel @lower(%X: !bytes, %Y: !bytes, %Z: !bytes) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c31 = arith.constant 31 : index
  %upper = tile.load %X[%c0, %c0] : !bytes -> tensor<31x1000xi8>
  %lower = tile.load %X[%c31, %c0] : !bytes -> tensor<31x1000xi8>
  tile.store %upper, %Y[%c31, %c0] : tensor<31x1000xi8>, !bytes
  tile.store %lower, %Z[%c31, %c0] : tensor<31x1000xi8>, !bytes
}
func.func @lower_ref(%X: memref<?x?xi8>, %Y: memref<?x?xi8>, %Z: memref<?x?xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c31 = arith.constant 31 : index
  %m = memref.dim %X, %c1 : memref<?x?xi8>
  scf.for %i = %c0 to %c31 step %c1 {
    %i31 = arith.addi %i, %c31 : index
    scf.for %j = %c0 to %m step %c1 {
      %a = memref.load %X[%i, %j] : memref<?x?xi8>
      memref.store %a, %Y[%i31, %j] : memref<?x?xi8>
      %b = memref.load %X[%i31, %j] : memref<?x?xi8>
      memref.store %b, %Z[%i31, %j] : memref<?x?xi8>
    }
  }
  return
}
}
