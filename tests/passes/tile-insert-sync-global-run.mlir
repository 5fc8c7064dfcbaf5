// A tile that is stored, loaded at other offsets and stored again, in a loop whose passes overlap: as if one thread did it all,
// and nothing found.
// RUN: girih run %s --device sim --check-memory --arg X=iota:i32[1024] --arg T=zeros:i32[1024] --arg Y=zeros:i32[1024] | FileCheck %s
// CHECK: right: Y: all {{.*}} elements are
// CHECK: no findings
!V = memref<?xi32, #tile.global>
!T = tensor<1024xi32>

tile.kernel @k(%X: !V, %T: !V, %Y: !V) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %x = tile.load %X[%c0] : !V -> !T
  tile.store %x, %T[%c0] : !T, !V
  scf.for %i = %c0 to %c3 step %c1 {
    %y = tile.load %T[%c3] : !V -> !T
    tile.store %y, %T[%i] : !T, !V
  }
  %z = tile.load %T[%c1] : !V -> !T
  tile.store %z, %Y[%c0] : !T, !V
}
func.func @k_ref(%X: memref<?xi32>, %T: memref<?xi32>, %Y: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = arith.constant 1024 : index
  %zero = arith.constant 0 : i32
  %V = memref.alloc() : memref<1024xi32>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %X[%i] : memref<?xi32>
    memref.store %x, %T[%i] : memref<?xi32>
  }
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %from = arith.addi %j, %c3 : index
      %in = arith.cmpi ult, %from, %n : index
      %v = scf.if %in -> (i32) {
        %q = memref.load %T[%from] : memref<?xi32>
        scf.yield %q : i32
      } else {
        scf.yield %zero : i32
      }
      memref.store %v, %V[%j] : memref<1024xi32>
    }
    scf.for %j = %c0 to %n step %c1 {
      %to = arith.addi %j, %i : index
      %in = arith.cmpi ult, %to, %n : index
      scf.if %in {
        %v = memref.load %V[%j] : memref<1024xi32>
        memref.store %v, %T[%to] : memref<?xi32>
      }
    }
  }
  scf.for %j = %c0 to %n step %c1 {
    %from = arith.addi %j, %c1 : index
    %in = arith.cmpi ult, %from, %n : index
    %v = scf.if %in -> (i32) {
      %q = memref.load %T[%from] : memref<?xi32>
      scf.yield %q : i32
    } else {
      scf.yield %zero : i32
    }
    memref.store %v, %Y[%j] : memref<?xi32>
  }
  memref.dealloc %V : memref<1024xi32>
  return
}
