// A box of a tile through shared memory: stored by the threads that hold it, at the number of each element, and loaded again.
// RUN: girih-opt %s -tile-allocate-scratch -tile-allocate-shared -convert-tile-to-nvvm -canonicalize -cse | FileCheck %s

#rows = #tile.blocked<per_thread = [1, 1], lanes = [4, 8], warps = [1, 1]>
#list = #tile.blocked<per_thread = [1], lanes = [32], warps = [1]>

module attributes {tile.target = "sm_90a"} {
// CHECK: shared_bytes = 60
// CHECK-LABEL: llvm.func @repack
// CHECK: %[[ROW:.*]] = arith.cmpi ult, %{{.*}}, %c3_i32 : i32
// CHECK: %[[NUMBER:.*]] = arith.muli %{{.*}}, %c5_i32
// CHECK: %[[AT:.*]] = arith.addi %[[NUMBER]], %[[COLUMN:.*]] : i32
// CHECK: %[[FEW:.*]] = arith.cmpi ult, %[[COLUMN]], %c5_i32 : i32
// CHECK: %[[INSIDE:.*]] = arith.andi %[[ROW]], %[[FEW]] : i1
// CHECK: scf.if %[[INSIDE]] {
// CHECK: llvm.store
// CHECK: }
// CHECK: nvvm.barrier
// CHECK: %[[OWN:.*]] = arith.cmpi ult, %{{.*}}, %c15_i32 : i32
// CHECK: arith.select %[[OWN]], %{{.*}}, %c0_i32 : i32
// CHECK: llvm.load
tile.kernel @repack(%X: memref<4x8xi32, #tile.global>, %Y: memref<16xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : memref<4x8xi32, #tile.global> -> tensor<4x8xi32, #rows>
  %y = tile.repack %x at [0, 0] sizes [3, 5] onto [0] sizes [15] : tensor<4x8xi32, #rows> -> tensor<16xi32, #list>
  tile.store %y, %Y[%c0] : tensor<16xi32, #list>, memref<16xi32, #tile.global>
}
}
