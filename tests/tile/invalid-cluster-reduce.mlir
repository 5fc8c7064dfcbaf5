// What a reduction over a cluster must be.
// RUN: girih-opt %s --split-input-file --verify-diagnostics

tile.kernel @k() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %x = arith.constant dense<1.0> : tensor<1xf32>
  // expected-error@below {{combines tiles of the blocks of a cluster, but the kernel has no cluster; write cluster(n, 1, 1) after its threads(...), with n = 1 for blocks that work alone}}
  %y = tile.cluster_reduce %x (%a: f32, %b: f32) {
    tile.yield %a : f32
  } : tensor<1xf32>
}

// -----

tile.kernel @k() threads(64) cluster(2, 1, 1) launch {
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  tile.grid %c2, %c1, %c1
} body {
  tile.warp_specialize
  role one(%t) warps(1) {
    %x = arith.constant dense<1.0> : tensor<1xf32>
    // expected-error@below {{is for all threads of the cluster, but only role 'one' comes here}}
    %y = tile.cluster_reduce %x (%a: f32, %b: f32) {
      tile.yield %a : f32
    } : tensor<1xf32>
  } role other(%t) warps(1) {
  }
}

// -----

func.func private @types(%x: tensor<8xf32>) {
  // expected-error@below {{combines tiles of type tensor<8xf32> to tensor<4xf32>; the types must be the same}}
  %y = "tile.cluster_reduce"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>}> ({
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }) : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @shapes(%x: tensor<8xf32>, %y: tensor<4xf32>) {
  // expected-error@below {{combines tensor<4xf32> together with tensor<8xf32>; tiles that go together have one shape}}
  %s, %t = tile.cluster_reduce %x, %y (%a: f32, %b: f32, %c: f32, %d: f32) {
    tile.yield %a, %b : f32, f32
  } : tensor<8xf32>, tensor<4xf32>
  return
}

// -----

func.func private @count(%x: tensor<8xf32>) {
  // expected-error@below {{combines 1 tiles to 2; one result for each source}}
  %y:2 = "tile.cluster_reduce"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>}> ({
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func private @arguments(%x: tensor<8xf32>) {
  // expected-error@below {{its combiner takes (f32), but two of each element are (f32, f32)}}
  %y = tile.cluster_reduce %x (%a: f32) {
    tile.yield %a : f32
  } : tensor<8xf32>
  return
}
