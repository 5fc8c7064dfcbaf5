// One block loads two boxes for both blocks of its cluster, with a cache policy: tirx, cta_mask and cache_policy.
//
// Each block prepares its own barrier for all 2048 bytes; the cluster meets before the copies and before it ends.
//
// RUN: girih run %s --device sim --arg A=iota:f32[16,32] --arg Out=poison:f32[2,16,32] | FileCheck %s
// RUN: girih-opt %s --tile-expand-tma -o %t.mlir
// RUN: girih run %t.mlir --device sim --arg A=iota:f32[16,32] --arg Out=poison:f32[2,16,32] | FileCheck %s
// CHECK: k: ran on
// CHECK: right: Out: all {{.*}} elements are exact

module attributes {tile.target = "sm_90a"} {

tile.kernel @k(%A: memref<16x32xf32, #tile.global>, %Out: memref<2x16x32xf32, #tile.global>) threads(32) cluster(2, 1, 1) launch {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.grid %c2, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1 : i32
  %bytes = arith.constant 2048 : i32
  %even = arith.constant false
  %half = arith.constant 0.5 : f32
  %mask = arith.constant 3 : i16
  %policy = tile.create_policy evict_last %half else evict_unchanged
  %thread = tile.thread_id
  %x = tile.block_id x
  %m = tile.alloc : memref<2x8x32xf32, #tile.shared>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
  }
  nvvm.cluster.arrive {aligned}
  nvvm.cluster.wait {aligned}
  %block0 = arith.cmpi eq, %x, %c0 : index
  %issues = arith.andi %block0, %first : i1
  scf.if %issues {
    tile.tma.apply "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint" %m, %A box [8, 32] coords[%c0, %c0] steps [[8, 0]] mbar %bar[] cta_mask %mask cache_policy %policy : memref<2x8x32xf32, #tile.shared>, memref<16x32xf32, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  }
  tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
  scf.for %g = %c0 to %c2 step %c1 {
    scf.for %r = %c0 to %c8 step %c1 {
      %v = memref.load %m[%g, %r, %thread] : memref<2x8x32xf32, #tile.shared>
      %start = arith.muli %g, %c8 : index
      %row = arith.addi %start, %r : index
      memref.store %v, %Out[%x, %row, %thread] : memref<2x16x32xf32, #tile.global>
    }
  }
  nvvm.cluster.arrive {aligned}
  nvvm.cluster.wait {aligned}
}

func.func @k_ref(%A: memref<16x32xf32>, %Out: memref<2x16x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  scf.for %b = %c0 to %c2 step %c1 {
    scf.for %r = %c0 to %c16 step %c1 {
      scf.for %c = %c0 to %c32 step %c1 {
        %v = memref.load %A[%r, %c] : memref<16x32xf32>
        memref.store %v, %Out[%b, %r, %c] : memref<2x16x32xf32>
      }
    }
  }
  return
}

}
