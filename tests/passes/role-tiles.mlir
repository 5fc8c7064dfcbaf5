// Whole tiles in a role that says where its threads meet: its threads hold them, exchange them at its barrier, and come to what
// they stored before by it. The other role goes on.
//
// RUN: girih-opt %s -tile-set-target=target=sm_90a -tile-assign-layouts -tile-vectorize-accesses -tile-allocate-scratch -tile-insert-sync -tile-allocate-shared | FileCheck %s
// RUN: girih compile %s --target sm_90a -o - | FileCheck %s --check-prefix=PTX
// RUN: girih run %s --kernel sums --target sm_90a --device sim --check-memory --arg X=iota:f32[60,60] --arg Y=poison:f32[60] --arg Z=poison:f32[64] --arg W=zeros:f32[1] | FileCheck %s --check-prefix=RIGHT
// RUN: girih run %s --kernel sums --target sm_90a --device sim --check-memory --arg X=iota:f32[60,60] --arg Y=poison:f32[60] --arg "Z=poison:f32[64;offset=4]" --arg W=zeros:f32[1] | FileCheck %s --check-prefix=RIGHT
// RIGHT: right: Y:
// RIGHT-NEXT: right: Z:
// RUN: girih run %s --kernel both --target sm_90a --device sim --check-memory --arg X=iota:i32[16,32] --arg Y=poison:i32[32,16] --arg Z=poison:i32[32,16] | FileCheck %s --check-prefix=BOTH
// BOTH: right: Y: all 512 elements are exact
// BOTH: right: Z: all 512 elements are exact

// Both tests of vectors are in the role, each before its first access; scratch is used twice.
// CHECK-LABEL: tile.kernel @sums
// CHECK: %[[SCRATCH:.*]] = tile.alloc {offset = 0 : i64} : memref<{{.*}}xi8
// CHECK-NOT: tile.is_aligned
// CHECK: role other(%{{.*}}) warps(4) {
// CHECK: role holders(%{{.*}}) warps(4) barrier(1) {
// CHECK: tile.is_aligned %X axis 1 by 4
// CHECK: scf.if
// CHECK: tile.load %X{{.*}} {vector = 4 : i64} : {{.*}} -> tensor<64x64xf32, #[[L:.*]]>
// CHECK: tile.reduce
// CHECK: tile.store {{.*}}, %Z
// CHECK: tile.barrier id 1 threads 128
// CHECK-NEXT: tile.load %Z
// CHECK: } else {
// CHECK: tile.load %X{{.*}} vector_if
// CHECK: tile.reduce
// CHECK: tile.store {{.*}}, %Z{{.*}} vector_if
// CHECK: tile.barrier id 1 threads 128
// CHECK-NEXT: tile.load %Z
// PTX: bar{{.*}}sync {{.*}}1, 128
// PTX-NOT: bar{{.*}}sync {{.*}}0;

!matrix = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!vector = memref<?xf32, #tile.global>

tile.kernel @sums(%X: !matrix, %Y: !vector, %Z: !vector, %W: !vector) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  tile.warp_specialize
  role other(%t) warps(4) {
    %is_first = arith.cmpi eq, %t, %c0 : index
    scf.if %is_first {
      %one = arith.constant 1.0 : f32
      memref.store %one, %W[%c0] : !vector
    }
  } role holders(%t) warps(4) barrier(1) {
    %c1 = arith.constant 1 : index
    %x = tile.load %X[%c0, %c0] : !matrix -> tensor<64x64xf32>
    %sums = tile.reduce %x axis 0 (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    } : tensor<64x64xf32> -> tensor<64xf32>
    tile.store %sums, %Z[%c0] : tensor<64xf32>, !vector
    %moved = tile.load %Z[%c1] : !vector -> tensor<64xf32>
    %turned = tile.transpose %x order [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
    %others = tile.reduce %turned axis 0 (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    } : tensor<64x64xf32> -> tensor<64xf32>
    %both = arith.addf %moved, %others : tensor<64xf32>
    tile.store %both, %Y[%c0] : tensor<64xf32>, !vector
  }
}

func.func @sums_ref(%X: memref<?x?xf32, strided<[?, 1]>>, %Y: memref<?xf32>, %Z: memref<?xf32>, %W: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  memref.store %one, %W[%c0] : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%Y : memref<?xf32>)
  linalg.fill ins(%zero : f32) outs(%Z : memref<?xf32>)
  %n = memref.dim %X, %c0 : memref<?x?xf32, strided<[?, 1]>>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %x = memref.load %X[%i, %j] : memref<?x?xf32, strided<[?, 1]>>
      %z = memref.load %Z[%j] : memref<?xf32>
      %more = arith.addf %z, %x : f32
      memref.store %more, %Z[%j] : memref<?xf32>
      %y = memref.load %Y[%i] : memref<?xf32>
      %sum = arith.addf %y, %x : f32
      memref.store %sum, %Y[%i] : memref<?xf32>
    }
  }
  scf.for %i = %c1 to %n step %c1 {
    %before = arith.subi %i, %c1 : index
    %z = memref.load %Z[%i] : memref<?xf32>
    %y = memref.load %Y[%before] : memref<?xf32>
    %sum = arith.addf %y, %z : f32
    memref.store %sum, %Y[%before] : memref<?xf32>
  }
  return
}

// Two roles exchange tiles at the same time, each in memory of its own.
// CHECK-LABEL: tile.kernel @both
// CHECK: role left
// CHECK: scratch %[[LEFT:[^ ]*]]
// CHECK: role right
// CHECK-NOT: scratch %[[LEFT]]
// CHECK: func.func @both_ref
tile.kernel @both(%X: memref<16x32xi32, #tile.global>, %Y: memref<32x16xi32, #tile.global>, %Z: memref<32x16xi32, #tile.global>) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  tile.warp_specialize
  role left(%t) warps(4) barrier(1) {
    %x = tile.load %X[%c0, %c0] : memref<16x32xi32, #tile.global> -> tensor<16x32xi32>
    %y = tile.transpose %x order [1, 0] : tensor<16x32xi32> -> tensor<32x16xi32>
    tile.store %y, %Y[%c0, %c0] : tensor<32x16xi32>, memref<32x16xi32, #tile.global>
  } role right(%t) warps(4) barrier(2) {
    %x = tile.load %X[%c0, %c0] : memref<16x32xi32, #tile.global> -> tensor<16x32xi32>
    %two = arith.addi %x, %x : tensor<16x32xi32>
    %z = tile.transpose %two order [1, 0] : tensor<16x32xi32> -> tensor<32x16xi32>
    tile.store %z, %Z[%c0, %c0] : tensor<32x16xi32>, memref<32x16xi32, #tile.global>
  }
}

func.func @both_ref(%X: memref<?x?xi32>, %Y: memref<?x?xi32>, %Z: memref<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c32 step %c1 {
      %x = memref.load %X[%i, %j] : memref<?x?xi32>
      %two = arith.addi %x, %x : i32
      memref.store %x, %Y[%j, %i] : memref<?x?xi32>
      memref.store %two, %Z[%j, %i] : memref<?x?xi32>
    }
  }
  return
}
