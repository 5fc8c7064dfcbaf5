// Two blocks of a cluster share a box: each loads half of it into the shared memory of both, and waits for all of it. A
// consumer tells both producers that a slot is free by arriving at the barriers of both blocks.
// RUN: girih run %s --device sim --arg A=iota:f32[32,32] --arg C=zeros:f32[2,32,32] --reference double
// RUN: girih compile %s --target sm_90a --emit ptx | FileCheck %s

// CHECK-DAG: mov.u32 %{{.*}}, %cluster_ctarank;
// CHECK-DAG: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [
// CHECK-DAG: barrier.cluster.arrive.relaxed.aligned;
// CHECK-DAG: barrier.cluster.arrive.aligned;
// CHECK-DAG: barrier.cluster.wait.aligned;
// CHECK-DAG: mapa.shared::cluster.u32
// CHECK-DAG: mbarrier.arrive.release.cluster.shared::cluster.b64 _, [
// CHECK-DAG: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64

!half = !tile.tensor_map<8x32xf32, swizzle = 128>
!ring = memref<2x8x32xf32, #tile.shared<swizzle = 128>>
!slot = memref<8x32xf32, #tile.shared<swizzle = 128>>
!bar = memref<!tile.mbarrier, #tile.shared>
!its = memref<!tile.mbarrier, #tile.shared_cluster>
!out = !tile.tensor_map<1x8x32xf32, swizzle = 128>

func.func @double(%A: memref<32x32xf32>, %C: memref<2x32x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  scf.for %b = %c0 to %c2 step %c1 {
    scf.for %i = %c0 to %c32 step %c1 {
      scf.for %j = %c0 to %c32 step %c1 {
        %v = memref.load %A[%i, %j] : memref<32x32xf32>
        memref.store %v, %C[%b, %i, %j] : memref<2x32x32xf32>
      }
    }
  }
  return
}

tile.kernel @share(%A: memref<32x32xf32, #tile.global>, %C: memref<2x32x32xf32, #tile.global>) threads(32) cluster(2, 1, 1) launch {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %from = tile.tensor_map %A : memref<32x32xf32, #tile.global> -> !half
  %to = tile.tensor_map %C : memref<2x32x32xf32, #tile.global> -> !out
  tile.grid %c2, %c1, %c1 args(%from, %to : !half, !out)
} body args(%from: !half, %to: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %both = arith.constant 3 : i16
  %bytes = arith.constant 2048 : i32
  %false = arith.constant false
  %true = arith.constant true
  %ring = tile.alloc : !ring
  %full = tile.alloc : !bar
  %free = tile.alloc : !bar
  %rank = tile.cluster_rank
  %elected = tile.elect
  scf.if %elected {
    tile.mbarrier.init %full[], %one : !bar
    tile.mbarrier.init %free[], %two : !bar
    tile.fence mbarrier_init
  }
  tile.cluster.arrive relaxed aligned
  tile.cluster.wait aligned
  scf.if %elected {
    %mine = tile.slab %ring[%rank] : !ring -> !slot
    %first = tile.slab %ring[%c0] : !ring -> !slot
    %second = tile.slab %ring[%c1] : !ring -> !slot
    %free0 = tile.remote %free, %zero : !bar -> !its
    %free1 = tile.remote %free, %one : !bar -> !its
    %shift = arith.muli %rank, %c8 : index
    // Rows 16 i to 16 i + 15, of which each block brings eight. The slots are free at first: a fresh barrier lets parity
    // true pass.
    scf.for %i = %c0 to %c2 step %c1 {
      %odd = arith.cmpi eq, %i, %c1 : index
      %even = arith.xori %odd, %true : i1
      tile.mbarrier.wait %free[], %even cluster : !bar
      tile.mbarrier.arrive_expect_tx %full[], %bytes : !bar
      %rows = arith.muli %i, %c16 : index
      %row = arith.addi %rows, %shift : index
      tile.tma.load %from[%row, %c0], %mine, %full[] multicast %both : !half, !slot, !bar
      tile.mbarrier.wait %full[], %odd : !bar
      %next = arith.addi %rows, %c8 : index
      tile.tma.store %first, %to[%rank, %rows, %c0] : !slot, !out
      tile.tma.store %second, %to[%rank, %next, %c0] : !slot, !out
      tile.bulk.commit
      tile.bulk.wait 0 read
      tile.mbarrier.arrive %free0[] : !its
      tile.mbarrier.arrive %free1[] : !its
    }
    tile.bulk.wait 0
  }
  tile.cluster.arrive aligned
  tile.cluster.wait aligned
}
