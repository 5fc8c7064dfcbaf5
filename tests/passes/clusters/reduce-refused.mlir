// Where a reduction over a cluster cannot stand: some threads would wait for ever.
// RUN: girih-opt %s -tile-set-target -tile-assign-layouts -tile-allocate-scratch --split-input-file --verify-diagnostics

!x = memref<64xf32, #tile.global>

tile.kernel @rank(%X: !x) threads(32) cluster(2, 1, 1) launch {
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  tile.grid %c2, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  // expected-note@below {{this may differ between threads of the cluster}}
  %rank = tile.cluster_rank
  %first = arith.cmpi eq, %rank, %c0 : index
  scf.if %first {
    %x = tile.load %X[%c0] : !x -> tensor<1xf32>
    // expected-error@below {{is for all threads of the cluster, but 'scf.if' around it may take only some of them here; let what it depends on be computed from arguments, sizes and tile.cluster_id}}
    %y = tile.cluster_reduce %x (%a: f32, %b: f32) {
      tile.yield %a : f32
    } : tensor<1xf32>
    tile.store %y, %X[%c0] : tensor<1xf32>, !x
  }
}

// -----

!x = memref<64xf32, #tile.global>

tile.kernel @steps(%X: !x) threads(32) cluster(2, 1, 1) launch {
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  tile.grid %c2, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note@below {{this may differ between threads of the cluster}}
  %block = tile.block_id x
  scf.for %i = %c0 to %block step %c1 {
    %x = tile.load %X[%c0] : !x -> tensor<1xf32>
    // expected-error@below {{but 'scf.for' around it may take only some of them here}}
    %y = tile.cluster_reduce %x (%a: f32, %b: f32) {
      tile.yield %a : f32
    } : tensor<1xf32>
    tile.store %y, %X[%c0] : tensor<1xf32>, !x
  }
}

// -----

!x = memref<64xf32, #tile.global>

tile.kernel @arrived(%X: !x) threads(32) cluster(2, 1, 1) launch {
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  tile.grid %c2, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : !x -> tensor<1xf32>
  // expected-note@below {{the arrival}}
  tile.cluster.arrive aligned
  // expected-error@below {{has a barrier of the cluster of its own, but stands between an arrival and its wait; put it after the wait}}
  %y = tile.cluster_reduce %x (%a: f32, %b: f32) {
    tile.yield %a : f32
  } : tensor<1xf32>
  tile.cluster.wait aligned
  tile.store %y, %X[%c0] : tensor<1xf32>, !x
}

// -----

!x = memref<64xf32, #tile.global>

tile.kernel @blocks(%X: !x) threads(32) cluster(2, 1, 1) launch {
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  tile.grid %c2, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : !x -> tensor<1xf32>
  cf.br ^next
^next:
  // expected-error@below {{is for all threads of the cluster, but the kernel's body is several blocks, of which some threads may take others; write scf.if and scf.for}}
  %y = tile.cluster_reduce %x (%a: f32, %b: f32) {
    tile.yield %a : f32
  } : tensor<1xf32>
  tile.store %y, %X[%c0] : tensor<1xf32>, !x
  tile.return
}
