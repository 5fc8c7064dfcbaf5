// Layouts drawn at random: the same for the same seed, others for another; they change no result.
// RUN: girih-opt %s -pass-pipeline='builtin.module(tile-assign-layouts{seed=3})' -o %t.first 2>/dev/null
// RUN: girih-opt %s -pass-pipeline='builtin.module(tile-assign-layouts{seed=3})' -o %t.again 2>/dev/null
// RUN: girih-opt %s -pass-pipeline='builtin.module(tile-assign-layouts{seed=4})' -o %t.other 2>/dev/null
// RUN: cmp %t.first %t.again
// RUN: not cmp %t.first %t.other
// RUN: FileCheck %s < %t.first
// RUN: girih run %t.first --device sim --arg X=iota:i32[16,32] --arg Y=zeros:i32[16] 2>/dev/null | FileCheck %s --check-prefix=RIGHT
// RUN: girih run %t.other --device sim --arg X=iota:i32[16,32] --arg Y=zeros:i32[16] 2>/dev/null | FileCheck %s --check-prefix=RIGHT
// CHECK: tile.convert_layout
// RUN: girih run %s --device sim --arg X=iota:i32[16,32] --arg Y=zeros:i32[16] 2>/dev/null | FileCheck %s --check-prefix=RIGHT
// RIGHT: right: Y: all 16 elements are exact

module attributes {tile.target = "sm_90a"} {

tile.kernel @sums(%X: memref<16x32xi32, #tile.global>, %Y: memref<16xi32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : memref<16x32xi32, #tile.global> -> tensor<16x32xi32>
  %y = arith.addi %x, %x : tensor<16x32xi32>
  %z = arith.muli %y, %x : tensor<16x32xi32>
  %t = tile.transpose %z order [1, 0] : tensor<16x32xi32> -> tensor<32x16xi32>
  %sums = tile.reduce %t axis 0 (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  } : tensor<32x16xi32> -> tensor<16xi32>
  tile.store %sums, %Y[%c0] : tensor<16xi32>, memref<16xi32, #tile.global>
}

func.func @sums_ref(%X: memref<?x?xi32>, %Y: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : i32
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  scf.for %i = %c0 to %c16 step %c1 {
    %sum = scf.for %j = %c0 to %c32 step %c1 iter_args(%s = %zero) -> (i32) {
      %x = memref.load %X[%i, %j] : memref<?x?xi32>
      %y = arith.muli %x, %c2 : i32
      %z = arith.muli %y, %x : i32
      %t = arith.addi %s, %z : i32
      scf.yield %t : i32
    }
    memref.store %sum, %Y[%i] : memref<?xi32>
  }
  return
}

}
