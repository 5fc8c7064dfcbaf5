// Two blocks of a cluster exchange numbers through each other's shared memory: each thread stores to the other block, then
// arrives at the other block's barrier, and reads what has come once its own barrier has completed. The second kernel
// reads the other block's memory instead, between two barriers of the cluster.
// RUN: girih run %s --kernel push --device sim --arg A=iota:i32[64] --arg C=zeros:i32[64] --reference swapped
// RUN: girih run %s --kernel pull --device sim --arg A=iota:i32[64] --arg C=zeros:i32[64] --reference swapped
// RUN: girih compile %s --target sm_90a --emit ptx | FileCheck %s

// CHECK-LABEL: .entry push(
// CHECK-DAG: st.shared::cluster.{{[bu]}}32
// CHECK-DAG: mbarrier.arrive.release.cluster.shared::cluster.b64 _, [
// CHECK-DAG: mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [
// CHECK-LABEL: .entry pull(
// CHECK: ld.shared::cluster.{{[bu]}}32

!numbers = memref<32xi32, #tile.shared>
!there = memref<32xi32, #tile.shared_cluster>
!bar = memref<!tile.mbarrier, #tile.shared>
!its = memref<!tile.mbarrier, #tile.shared_cluster>
!memory = memref<64xi32, #tile.global>

func.func @swapped(%A: memref<64xi32>, %C: memref<64xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %other = arith.xori %i, %c32 : index
    %v = memref.load %A[%other] : memref<64xi32>
    memref.store %v, %C[%i] : memref<64xi32>
  }
  return
}

tile.kernel @push(%A: !memory, %C: !memory) threads(32) cluster(2, 1, 1) launch {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.grid %c2, %c1, %c1
} body {
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %all = arith.constant 33 : i32
  %false = arith.constant false
  %in = tile.alloc : !numbers
  %bar = tile.alloc : !bar
  %rank = tile.cluster_rank
  %own = arith.index_cast %rank : index to i32
  %other = arith.xori %own, %one : i32
  %thread = tile.thread_id
  %elected = tile.elect
  scf.if %elected {
    tile.mbarrier.init %bar[], %all : !bar
    tile.fence mbarrier_init
  }
  tile.cluster.arrive aligned
  tile.cluster.wait aligned
  %from = arith.muli %rank, %c32 : index
  %at = arith.addi %from, %thread : index
  %v = memref.load %A[%at] : !memory
  %there = tile.remote %in, %other : !numbers -> !there
  %its = tile.remote %bar, %other : !bar -> !its
  memref.store %v, %there[%thread] : !there
  scf.if %elected {
    tile.mbarrier.expect_tx %its[], %zero : !its
    tile.mbarrier.arrive_expect_tx %its[], %zero : !its
  }
  tile.mbarrier.arrive %its[] : !its
  tile.mbarrier.wait %bar[], %false cluster : !bar
  %got = memref.load %in[%thread] : !numbers
  memref.store %got, %C[%at] : !memory
  // Neither block ends before the other has arrived here.
  tile.cluster.arrive aligned
  tile.cluster.wait aligned
}

tile.kernel @pull(%A: !memory, %C: !memory) threads(32) cluster(2, 1, 1) launch {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.grid %c2, %c1, %c1
} body {
  %c32 = arith.constant 32 : index
  %one = arith.constant 1 : i32
  %in = tile.alloc : !numbers
  %rank = tile.cluster_block_id x
  %size = tile.cluster_size
  %cluster = tile.cluster_id x
  %own = arith.index_cast %rank : index to i32
  %other = arith.xori %own, %one : i32
  %thread = tile.thread_id
  %skipped = arith.muli %cluster, %size : index
  %block = arith.addi %skipped, %rank : index
  %from = arith.muli %block, %c32 : index
  %at = arith.addi %from, %thread : index
  %v = memref.load %A[%at] : !memory
  memref.store %v, %in[%thread] : !numbers
  tile.cluster.arrive aligned
  tile.cluster.wait aligned
  %there = tile.remote %in, %other : !numbers -> !there
  %got = memref.load %there[%thread] : !there
  memref.store %got, %C[%at] : !memory
  tile.cluster.arrive aligned
  tile.cluster.wait aligned
}
