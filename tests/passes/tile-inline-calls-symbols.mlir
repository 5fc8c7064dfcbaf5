// A call means the function of the nearest symbol table, and a function that anything refers to stays.
// RUN: girih-opt %s --tile-inline-calls | FileCheck %s

module attributes {
  tile.target = "sm_90a",
  test.list = [[@in_a_list]],
  test.dictionary = {deep = {er = @in_a_dictionary}},
  test.path = @inner::@on_a_path
} {
// CHECK-NOT: @change
// CHECK: func.func private @in_a_list
// CHECK: func.func private @in_a_dictionary
// CHECK-NOT: @change
func.func private @in_a_list(%x: tensor<32xf32>) -> tensor<32xf32> { return %x : tensor<32xf32> }
func.func private @in_a_dictionary(%x: tensor<32xf32>) -> tensor<32xf32> { return %x : tensor<32xf32> }
func.func private @change(%x: tensor<32xf32>) -> tensor<32xf32> {
  %y = arith.addf %x, %x : tensor<32xf32>
  return %y : tensor<32xf32>
}
// CHECK-LABEL: tile.kernel @doubled
// CHECK: tile.load
// CHECK-NEXT: arith.addf
// CHECK-NEXT: tile.store
tile.kernel @doubled(%X: memref<?xf32, #tile.global>, %Y: memref<?xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xf32, #tile.global> -> tensor<32xf32>
  %a = func.call @in_a_list(%x) : (tensor<32xf32>) -> tensor<32xf32>
  %b = func.call @in_a_dictionary(%a) : (tensor<32xf32>) -> tensor<32xf32>
  %c = func.call @change(%b) : (tensor<32xf32>) -> tensor<32xf32>
  tile.store %c, %Y[%c0] : tensor<32xf32>, memref<?xf32, #tile.global>
}
// What the attributes of a symbol table name is of the scope around it: of two functions called so it is this one.
// CHECK: func.func private @named_by_inner
func.func private @named_by_inner(%x: tensor<32xf32>) -> tensor<32xf32> { return %x : tensor<32xf32> }
// CHECK-LABEL: tile.kernel @same
tile.kernel @same(%X: memref<?xf32, #tile.global>, %Y: memref<?xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xf32, #tile.global> -> tensor<32xf32>
  %a = func.call @named_by_inner(%x) : (tensor<32xf32>) -> tensor<32xf32>
  tile.store %a, %Y[%c0] : tensor<32xf32>, memref<?xf32, #tile.global>
}
// CHECK: module @inner attributes {test.uses = @named_by_inner}
// CHECK-NOT: @change
// CHECK-NOT: @named_by_inner
// CHECK: func.func private @on_a_path
module @inner attributes {test.uses = @named_by_inner} {
  func.func private @named_by_inner(%x: tensor<32xf32>) -> tensor<32xf32> { return %x : tensor<32xf32> }
  func.func private @change(%x: tensor<32xf32>) -> tensor<32xf32> {
    %y = arith.negf %x : tensor<32xf32>
    return %y : tensor<32xf32>
  }
  func.func private @on_a_path(%x: tensor<32xf32>) -> tensor<32xf32> { return %x : tensor<32xf32> }
  // CHECK-LABEL: tile.kernel @negated
  // CHECK: tile.load
  // CHECK-NEXT: arith.negf
  // CHECK-NEXT: tile.store
  tile.kernel @negated(%X: memref<?xf32, #tile.global>, %Y: memref<?xf32, #tile.global>) threads(32) launch {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  } body {
    %c0 = arith.constant 0 : index
    %x = tile.load %X[%c0] : memref<?xf32, #tile.global> -> tensor<32xf32>
    %a = func.call @on_a_path(%x) : (tensor<32xf32>) -> tensor<32xf32>
    %b = func.call @named_by_inner(%a) : (tensor<32xf32>) -> tensor<32xf32>
    %c = func.call @change(%b) : (tensor<32xf32>) -> tensor<32xf32>
    tile.store %c, %Y[%c0] : tensor<32xf32>, memref<?xf32, #tile.global>
  }
}
}
