// Functions that kernels call are written into them, as deep as they go; those that nobody else calls go away.
// RUN: girih-opt %s --tile-inline-calls | FileCheck %s
// RUN: girih run %s --device sim --arg X=uniform(1,2):f32[300] --arg Y=poison:f32[300]

module attributes {tile.target = "sm_90a"} {
// CHECK-NOT: @twice
// CHECK-NOT: @four_times
// CHECK: func.func private @half
// CHECK: func.func @public
func.func private @twice(%x: tensor<256xf32>) -> tensor<256xf32> {
  %y = arith.addf %x, %x : tensor<256xf32>
  return %y : tensor<256xf32>
}
func.func private @four_times(%x: tensor<256xf32>, %at: index) -> (tensor<256xf32>, index) {
  %y = func.call @twice(%x) : (tensor<256xf32>) -> tensor<256xf32>
  %z = func.call @twice(%y) : (tensor<256xf32>) -> tensor<256xf32>
  return %z, %at : tensor<256xf32>, index
}
// Ops of the device stand in private functions.
func.func private @place() -> index {
  %c256 = arith.constant 256 : index
  %block = tile.block_id x
  %at = arith.muli %block, %c256 : index
  return %at : index
}
// The reference calls it too.
func.func private @half(%x: f32) -> f32 {
  %h = arith.constant 0.5 : f32
  %y = arith.mulf %x, %h : f32
  return %y : f32
}
func.func @public(%x: tensor<256xf32>) -> tensor<256xf32> {
  return %x : tensor<256xf32>
}

// CHECK: tile.kernel @k
// CHECK: body
// CHECK: %[[BLOCK:.*]] = tile.block_id x
// CHECK: %[[AT:.*]] = arith.muli %[[BLOCK]]
// CHECK: scf.for
// CHECK: %[[X:.*]] = tile.load %X[%[[AT]]]
// CHECK-NEXT: %[[TWICE:.*]] = arith.addf %[[X]], %[[X]]
// CHECK-NEXT: %[[FOUR:.*]] = arith.addf %[[TWICE]], %[[TWICE]]
// CHECK: %[[H:.*]] = arith.mulf
// CHECK: %[[T:.*]] = tile.splat %[[H]]
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[FOUR]], %[[T]]
// CHECK-NEXT: tile.store %[[SUM]], %Y[%[[AT]]]
// CHECK-NOT: func.call
// CHECK: func.func @k_ref
tile.kernel @k(%X: memref<?xf32, #tile.global>, %Y: memref<?xf32, #tile.global>) threads(64) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %n = memref.dim %X, %c0 : memref<?xf32, #tile.global>
  %blocks = arith.ceildivui %n, %c256 : index
  tile.grid %blocks, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %at = func.call @place() : () -> index
  scf.for %i = %c0 to %c1 step %c1 {
    %x = tile.load %X[%at] : memref<?xf32, #tile.global> -> tensor<256xf32>
    %four, %same = func.call @four_times(%x, %at) : (tensor<256xf32>, index) -> (tensor<256xf32>, index)
    %own = func.call @public(%four) : (tensor<256xf32>) -> tensor<256xf32>
    %one = arith.constant 1.0 : f32
    %h = func.call @half(%one) : (f32) -> f32
    %t = tile.splat %h : f32 -> tensor<256xf32>
    %sum = arith.addf %own, %t : tensor<256xf32>
    tile.store %sum, %Y[%same] : tensor<256xf32>, memref<?xf32, #tile.global>
  }
}

func.func @k_ref(%X: memref<?xf32>, %Y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %four = arith.constant 4.0 : f32
  %one = arith.constant 1.0 : f32
  %n = memref.dim %X, %c0 : memref<?xf32>
  %h = func.call @half(%one) : (f32) -> f32
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %X[%i] : memref<?xf32>
    %y = arith.mulf %x, %four : f32
    %z = arith.addf %y, %h : f32
    memref.store %z, %Y[%i] : memref<?xf32>
  }
  return
}
}
