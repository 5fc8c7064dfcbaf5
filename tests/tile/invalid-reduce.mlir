// RUN: girih-opt %s -split-input-file -verify-diagnostics

func.func private @axis(%x: tensor<8x16xf32>) {
  // expected-error @+1 {{axis 2, but tensor<8x16xf32> has 2 axes, from 0}}
  %s = tile.reduce %x axis 2 (%a: f32, %b: f32) {
    tile.yield %a : f32
  } : tensor<8x16xf32> -> tensor<8xf32>
  return
}

// -----

func.func private @result(%x: tensor<8x16xf32>) {
  // expected-error @+1 {{reduces tensor<8x16xf32> along axis 1 to tensor<16xf32>; the result has sizes [8] and the same elements}}
  %s = tile.reduce %x axis 1 (%a: f32, %b: f32) {
    tile.yield %a : f32
  } : tensor<8x16xf32> -> tensor<16xf32>
  return
}

// -----

func.func private @count(%x: tensor<8xf32>) {
  // expected-error @+1 {{reduces 1 tiles to 2; one result for each source}}
  %s, %t = tile.reduce %x axis 0 (%a: f32, %b: f32) {
    tile.yield %a : f32
  } : tensor<8xf32> -> tensor<f32>, tensor<f32>
  return
}

// -----

func.func private @shapes(%x: tensor<8xf32>, %y: tensor<16xf32>) {
  // expected-error @+1 {{reduces tensor<16xf32> together with tensor<8xf32>; tiles that go together have one shape}}
  %s, %t = tile.reduce %x, %y axis 0 (%a: f32, %b: f32, %c: f32, %d: f32) {
    tile.yield %a, %b : f32, f32
  } : tensor<8xf32>, tensor<16xf32> -> tensor<f32>, tensor<f32>
  return
}

// -----

func.func private @arguments(%x: tensor<8xf32>) {
  // expected-error @+1 {{its combiner takes (f32), but two of each element are (f32, f32)}}
  %s = tile.reduce %x axis 0 (%a: f32) {
    tile.yield %a : f32
  } : tensor<8xf32> -> tensor<f32>
  return
}

// -----

func.func private @yields(%x: tensor<8xf32>) {
  %s = tile.reduce %x axis 0 (%a: f32, %b: f32) {
    %c = arith.constant 0 : i32
    // expected-error @+1 {{yields (i32), but one of each element is (f32)}}
    tile.yield %c : i32
  } : tensor<8xf32> -> tensor<f32>
  return
}

// -----

func.func private @tiles(%x: tensor<8xf32>) {
  %s = tile.reduce %x axis 0 (%a: f32, %b: f32) {
    // expected-error @+1 {{stands in a combiner, which is made of ops on numbers; make the tile before it}}
    %t = tile.splat %a : f32 -> tensor<8xf32>
    tile.yield %b : f32
  } : tensor<8xf32> -> tensor<f32>
  return
}

// -----

func.func private @stores(%x: tensor<8xf32>, %m: memref<8xf32>, %p: i1) {
  %c0 = arith.constant 0 : index
  %s = tile.scan %x axis 0 (%a: f32, %b: f32) {
    scf.if %p {
      // expected-error @+1 {{stands in a combiner, but does more than to compute, and how often a combiner is applied is not said; do it before or after}}
      memref.store %a, %m[%c0] : memref<8xf32>
    }
    tile.yield %b : f32
  } : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func private @called(f32) -> f32
func.func private @calls(%x: tensor<8xf32>) {
  %s = tile.reduce %x axis 0 (%a: f32, %b: f32) {
    // expected-error @+1 {{stands in a combiner, but does more than to compute}}
    %c = func.call @called(%a) : (f32) -> f32
    tile.yield %c : f32
  } : tensor<8xf32> -> tensor<f32>
  return
}

// -----

func.func private @threads(%x: tensor<8xindex>) {
  %s = tile.cluster_reduce %x (%a: index, %b: index) {
    // expected-error @+1 {{stands in a combiner, but gives other numbers in other threads, and which of them combine two elements is not said}}
    %t = tile.thread_id
    %c = arith.addi %a, %t : index
    tile.yield %c : index
  } : tensor<8xindex>
  return
}

// -----

func.func private @regions(%x: tensor<8xf32>) {
  %s = tile.reduce %x axis 0 (%a: f32, %b: f32) {
    // expected-error @+1 {{stands in a combiner, whose ops have no regions but those of scf.if, scf.for, scf.while and scf.index_switch; use one of them}}
    %c = scf.execute_region -> f32 {
      scf.yield %a : f32
    }
    tile.yield %c : f32
  } : tensor<8xf32> -> tensor<f32>
  return
}

// -----

func.func private @expand(%x: tensor<8xf32>) {
  // expected-error @+1 {{axis 2, but tensor<8xf32> with a further one has axes 0 to 1}}
  %a = tile.expand_dims %x axis 2 : tensor<8xf32> -> tensor<8x1xf32>
  return
}

// -----

func.func private @expanded(%x: tensor<8xf32>) {
  // expected-error @+1 {{makes tensor<8x1xf32> of tensor<8xf32>; the result has sizes [1, 8] and the same elements}}
  %a = tile.expand_dims %x axis 0 : tensor<8xf32> -> tensor<8x1xf32>
  return
}

// -----

func.func private @broadcast(%x: tensor<8x2xf32>) {
  // expected-error @+1 {{makes tensor<8x4xf32> of tensor<8x2xf32>; only sizes of 1 change}}
  %a = tile.broadcast %x : tensor<8x2xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func private @order(%x: tensor<8x2xf32>) {
  // expected-error @+1 {{order [0, 0] does not list each of the 2 axes of tensor<8x2xf32> once}}
  %a = tile.transpose %x order [0, 0] : tensor<8x2xf32> -> tensor<2x8xf32>
  return
}

// -----

func.func private @transposed(%x: tensor<8x2xf32>) {
  // expected-error @+1 {{makes tensor<8x2xf32> of tensor<8x2xf32>; the result has sizes [2, 8] and the same elements}}
  %a = tile.transpose %x order [1, 0] : tensor<8x2xf32> -> tensor<8x2xf32>
  return
}

// -----

func.func private @reshape(%x: tensor<8x2xf32>) {
  // expected-error @+1 {{makes tensor<8xf32> of tensor<8x2xf32>; the result has as many elements of the same type}}
  %a = tile.reshape %x : tensor<8x2xf32> -> tensor<8xf32>
  return
}

// -----

func.func private @slice(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{takes 2 elements along axis 1 from 3 on, but they have numbers from 0 to 3}}
  %a = tile.extract_slice %x at [0, 3] : tensor<8x4xf32> -> tensor<8x2xf32>
  return
}

// -----

func.func private @axes(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{has 1 starts, but tensor<8x4xf32> has 2 axes; write one for each}}
  %a = tile.extract_slice %x at [0] : tensor<8x4xf32> -> tensor<8x2xf32>
  return
}

// -----

func.func private @concat(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{makes tensor<8x8xf32> of 2 tiles; the result has sizes [16, 4] and the same elements}}
  %a = tile.concat %x, %x axis 0 : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func private @different(%x: tensor<8x4xf32>, %y: tensor<4x4xf32>) {
  // expected-error @+1 {{puts tensor<4x4xf32> beside tensor<8x4xf32>; they have the same elements, and the same sizes but along axis 1}}
  %a = tile.concat %x, %y axis 1 : tensor<8x4xf32>, tensor<4x4xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func private @none() {
  // expected-error @+1 {{puts no tiles together; write one at least}}
  %a = "tile.concat"() {axis = 0 : i64, operandSegmentSizes = array<i32: 0, 0>} : () -> tensor<8xf32>
  return
}

// -----

func.func private @no_axis(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{axis 2, but tensor<8x4xf32> has 2 axes, from 0}}
  %a = tile.concat %x, %x axis 2 : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<16x4xf32>
  return
}

// -----

func.func private @standing(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{has stride 0 along axis 1; repeat an element with tile.broadcast}}
  %a = tile.extract_slice %x at [0, 0] strides [1, 0] : tensor<8x4xf32> -> tensor<8x2xf32>
  return
}

// -----

func.func private @too_far(%x: tensor<8x4xf32>, %i: index) {
  // expected-error @+1 {{takes 2 elements of 4 along axis 1 in steps of -5, which never lie inside; make the part smaller}}
  %a = tile.extract_slice %x at [0, %i] strides [1, -5] : tensor<8x4xf32> -> tensor<8x2xf32>
  return
}

// -----

func.func private @no_index(%x: tensor<8xf32>) {
  // expected-error @+1 {{leaves 1 starts to indices, but has 0 of these}}
  %a = tile.extract_slice %x at [-9223372036854775808] : tensor<8xf32> -> tensor<2xf32>
  return
}

// -----

func.func private @put(%x: tensor<8xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{puts 2 elements along axis 0 from 1 on in steps of -2, but they have numbers from 0 to 7}}
  %a = tile.insert_slice %y into %x at [1] strides [-2] : tensor<2xf32> into tensor<8xf32>
  return
}

// -----

func.func private @put_elements(%x: tensor<8xf32>, %y: tensor<2xi32>) {
  // expected-error @+1 {{puts tensor<2xi32>, but the whole is tensor<8xf32>; both have the same axes and elements}}
  %a = tile.insert_slice %y into %x at [1] : tensor<2xi32> into tensor<8xf32>
  return
}

// -----

func.func private @put_result(%x: tensor<8xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{makes tensor<4xf32> of tensor<8xf32>; the result has its type}}
  %a = "tile.insert_slice"(%y, %x) {at = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (tensor<2xf32>, tensor<8xf32>) -> tensor<4xf32>
  return
}
