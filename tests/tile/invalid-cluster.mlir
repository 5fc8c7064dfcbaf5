// What clusters must be.
// RUN: girih-opt %s --split-input-file --verify-diagnostics

!bar = memref<!tile.mbarrier, #tile.shared>
!its = memref<!tile.mbarrier, #tile.shared_cluster>

func.func private @f(%its: !its) {
  // expected-error@below {{arrives at another block's barrier, which is at cluster scope always; leave `cluster` out}}
  tile.mbarrier.arrive %its[] cluster : !its
  return
}

// -----

!its = memref<!tile.mbarrier, #tile.shared_cluster>

func.func private @f(%its: !its, %p: i1) {
  // expected-error@below {{operand #0 'barrier' must be a memref of !tile.mbarrier in #tile.shared, but is memref<!tile.mbarrier, #tile.shared_cluster>}}
  tile.mbarrier.wait %its[], %p : !its
  return
}

// -----

func.func private @f(%m: memref<4xf32, #tile.shared>) {
  // expected-error@below {{operand #0 'barrier' must be a memref of !tile.mbarrier in #tile.shared or #tile.shared_cluster, but is memref<4xf32, #tile.shared>}}
  "tile.mbarrier.arrive"(%m) : (memref<4xf32, #tile.shared>) -> ()
  return
}

// -----

tile.kernel @k() threads(64) cluster(2, 1, 1) launch {
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  tile.grid %c2, %c1, %c1
} body {
  tile.warp_specialize
  role one(%t) warps(1) {
    // expected-error@below {{is for all threads of the cluster, but only role 'one' comes here: it would wait for ever; let every role do it, or put it before or after tile.warp_specialize}}
    tile.cluster.arrive aligned
    tile.cluster.wait aligned
  } role other(%t) warps(1) {
    tile.cluster.wait aligned
  }
}

// -----

// Every role takes part.
tile.kernel @k() threads(64) cluster(2, 1, 1) launch {
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  tile.grid %c2, %c1, %c1
} body {
  tile.warp_specialize
  role one(%t) warps(1) {
    tile.cluster.arrive aligned
    tile.cluster.wait aligned
  } role other(%t) warps(1) {
    tile.cluster.arrive aligned
    tile.cluster.wait aligned
  }
}

// -----

tile.kernel @k() threads(32) launch {
  // expected-error@below {{runs on the device, but stands in a launch region, which the host evaluates}}
  %rank = tile.cluster_rank
  tile.grid %rank, %rank, %rank
} body {
}
