// What a role computes of counts and numbers alone it computes itself, also where the same stands before the roles, so that the two
// are one op by then.
// RUN: girih-opt %s -cse -tile-assign-layouts | FileCheck %s --check-prefix=IR
// RUN: girih run %s --device sim --check-memory --arg Y=poison:i32[300] --arg Z=poison:i32[300] | FileCheck %s
// IR: tile.warp_specialize
// IR: tile.iota
// IR: arith.cmpi slt
// IR: tile.store
// CHECK: right: Y: all 300 elements are exact
// CHECK: right: Z: all 300 elements are exact
// CHECK: no findings
module attributes {tile.target = "sm_90a"} {
tile.kernel @k(%Y: memref<?xi32, #tile.global>, %Z: memref<?xi32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %i = tile.iota axis 0 : tensor<512xi32>
  %c = arith.constant dense<100> : tensor<512xi32>
  %j = arith.addi %i, %i : tensor<512xi32>
  %m = arith.cmpi slt, %j, %c : tensor<512xi32>
  tile.store %i, %Z[%c0] mask %m : tensor<512xi1> : tensor<512xi32>, memref<?xi32, #tile.global>
  tile.warp_specialize
  role a(%ta) warps(2) barrier(1) {
    %i1 = tile.iota axis 0 : tensor<512xi32>
    %c1 = arith.constant dense<100> : tensor<512xi32>
    %j1 = arith.addi %i1, %i1 : tensor<512xi32>
    %m1 = arith.cmpi slt, %j1, %c1 : tensor<512xi32>
    tile.store %j1, %Y[%c0] mask %m1 : tensor<512xi1> : tensor<512xi32>, memref<?xi32, #tile.global>
  } role b(%tb) warps(2) {
  }
}
func.func @k_ref(%Y: memref<?xi32>, %Z: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c50 = arith.constant 50 : index
  scf.for %k = %c0 to %c50 step %c1 {
    %i = arith.index_cast %k : index to i32
    %j = arith.addi %i, %i : i32
    memref.store %i, %Z[%k] : memref<?xi32>
    memref.store %j, %Y[%k] : memref<?xi32>
  }
  return
}
}
