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

// -----

tile.kernel @scratch() threads(32) cluster(4, 1, 1) launch {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.grid %c4, %c1, %c1
} body {
  %x = arith.constant dense<1.0> : tensor<8xf32>
  %small = tile.alloc : memref<64xi8, #tile.shared>
  // Eight words of four blocks.
  // expected-error@below {{has scratch memref<64xi8, #tile.shared>, expected memref<128xi8, #tile.shared> or more bytes; leave it out for tile-allocate-scratch to add}}
  %y = tile.cluster_reduce %x scratch %small : memref<64xi8, #tile.shared> (%a: f32, %b: f32) {
    tile.yield %a : f32
  } : tensor<8xf32>
}

// -----

tile.kernel @words() threads(32) cluster(4, 1, 1) launch {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.grid %c4, %c1, %c1
} body {
  %x = arith.constant dense<1.0> : tensor<8xf32>
  %words = tile.alloc : memref<32xf32, #tile.shared>
  // expected-error@below {{has scratch memref<32xf32, #tile.shared>, expected memref<128xi8, #tile.shared> or more bytes}}
  %z = tile.cluster_reduce %x scratch %words : memref<32xf32, #tile.shared> (%a: f32, %b: f32) {
    tile.yield %a : f32
  } : tensor<8xf32>
}

// -----

tile.kernel @space(%s: memref<?xf32, #tile.global>) threads(32) cluster(4, 1, 1) launch {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.grid %c4, %c1, %c1
} body {
  %x = arith.constant dense<1.0> : tensor<8xf32>
  // expected-error@below {{'tile.cluster_reduce' op operand #1}}
  %w = tile.cluster_reduce %x scratch %s : memref<?xf32, #tile.global> (%a: f32, %b: f32) {
    tile.yield %a : f32
  } : tensor<8xf32>
}

// -----

tile.kernel @place() threads(32) cluster(4, 1, 1) launch {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.grid %c4, %c1, %c1
} body {
  %c1 = arith.constant 1 : index
  %x = arith.constant dense<1.0> : tensor<8xf32>
  %bytes = tile.alloc : memref<3x136xi8, #tile.shared>
  %part = tile.slab %bytes[%c1] : memref<3x136xi8, #tile.shared> -> memref<136xi8, #tile.shared>
  // expected-error@below {{has scratch on a multiple of 8 bytes only, but words are read 16 bytes at a time; say align = 16 where it is allocated}}
  %y = tile.cluster_reduce %x scratch %part : memref<136xi8, #tile.shared> (%a: f32, %b: f32) {
    tile.yield %a : f32
  } : tensor<8xf32>
}

// -----

tile.kernel @barriers() threads(32) cluster(4, 1, 1) launch {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.grid %c4, %c1, %c1
} body {
  %x = arith.constant dense<1.0> : tensor<8xf32>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  // expected-error@below {{has a barrier, but no scratch whose bytes it could count; give it scratch too}}
  %y = tile.cluster_reduce %x barrier %bar : memref<!tile.mbarrier, #tile.shared> (%a: f32, %b: f32) {
    tile.yield %a : f32
  } : tensor<8xf32>
}

// -----

tile.kernel @several() threads(32) cluster(4, 1, 1) launch {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.grid %c4, %c1, %c1
} body {
  %x = arith.constant dense<1.0> : tensor<8xf32>
  %s = tile.alloc : memref<128xi8, #tile.shared>
  %bars = tile.alloc : memref<2x!tile.mbarrier, #tile.shared>
  // expected-error@below {{one mbarrier counts the bytes, but memref<2x!tile.mbarrier, #tile.shared> may hold several; take a tile.slab of it first}}
  %z = tile.cluster_reduce %x scratch %s : memref<128xi8, #tile.shared> barrier %bars : memref<2x!tile.mbarrier, #tile.shared> (%a: f32, %b: f32) {
    tile.yield %a : f32
  } : tensor<8xf32>
}

// -----

tile.kernel @loop() threads(32) cluster(4, 1, 1) launch {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.grid %c4, %c1, %c1
} body {
  %x = arith.constant dense<1.0> : tensor<8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %s = tile.alloc : memref<128xi8, #tile.shared>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  scf.for %i = %c0 to %c4 step %c1 {
    // expected-error@below {{has a barrier, which serves one phase, but 'scf.for' around it may come here again; leave the barrier out}}
    %w = tile.cluster_reduce %x scratch %s : memref<128xi8, #tile.shared> barrier %bar : memref<!tile.mbarrier, #tile.shared> (%a: f32, %b: f32) {
      tile.yield %a : f32
    } : tensor<8xf32>
  }
}
