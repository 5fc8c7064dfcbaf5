// Two layouts between which no row-major order with an exclusive or is free of conflicts: the order that the algebra makes for
// the two is.
// RUN: girih-opt %s -tile-allocate-scratch -verify-diagnostics -o %t.mlir
// RUN: girih run %s --device sim --check-memory --arg X=randn:f64[128,16] --arg Y=poison:f64[128,16] | FileCheck %s
// CHECK: right: Y: all 2048 elements are exact
// CHECK: no findings
// RUN: girih run %s --device sim --report banks --arg X=randn:f64[128,16] --arg Y=poison:f64[128,16] | FileCheck %s --check-prefix=BANKS
// BANKS: (0 wasted, 1.00 for each)

!from = tensor<128x16xf64, #tile.blocked<per_thread = [4, 1], lanes = [8, 4], warps = [4, 1], order = [0, 1]>>
!to = tensor<128x16xf64, #tile.blocked<per_thread = [4, 1], lanes = [16, 2], warps = [1, 4]>>

module attributes {tile.target = "sm_90a"} {

tile.kernel @turn(%X: memref<128x16xf64, #tile.global>, %Y: memref<128x16xf64, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : memref<128x16xf64, #tile.global> -> !from
  %y = tile.convert_layout %x : !from -> !to
  tile.store %y, %Y[%c0, %c0] : !to, memref<128x16xf64, #tile.global>
}

func.func @turn_ref(%X: memref<128x16xf64>, %Y: memref<128x16xf64>) {
  memref.copy %X, %Y : memref<128x16xf64> to memref<128x16xf64>
  return
}

}
