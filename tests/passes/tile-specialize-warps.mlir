// What runs ahead gets a warp of its own, or is written into the loop.
// RUN: girih-opt %s -tile-specialize-warps -split-input-file -verify-diagnostics | FileCheck %s
// RUN: girih-opt %s -pass-pipeline='builtin.module(tile-specialize-warps{roles=false})' -split-input-file | FileCheck %s --check-prefix=LOOP

// CHECK-LABEL: tile.kernel @ring
// CHECK-SAME: threads(384)
// CHECK: tile.mbarrier.init
// CHECK: tile.barrier
// CHECK: tile.warp_specialize
// CHECK: role consumer(%{{.*}}) warps(8) registers(232) barrier(1) {
// CHECK: scf.if
// CHECK: scf.for
// CHECK-NOT: tile.produce
// CHECK: tile.mbarrier.wait
// CHECK: } else {
// CHECK: tile.barrier id 1 threads 256
// CHECK: role producer(%{{.*}}) warps(4) registers(40) {
// CHECK: arith.cmpi eq, %warp{{.*}}, %c8
// CHECK: scf.if
// CHECK: tile.elect
// CHECK: scf.if
// CHECK: scf.if
// CHECK: %[[N:.*]] = memref.dim %A
// CHECK: %[[ROW:.*]] = arith.divui
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %[[N]]
// CHECK: arith.addi %[[K]], %[[ROW]]
// CHECK: tile.mbarrier.arrive
// CHECK-NOT: tile.barrier
// CHECK-LABEL: tile.kernel @no_barrier

// Ahead by two passes from the first one on.
// LOOP-LABEL: tile.kernel @ring
// LOOP-SAME: threads(256)
// LOOP: scf.for %[[K:.*]] = %[[FROM:.*]] to %[[TO:.*]] step %[[STEP:.*]] {
// LOOP: %[[FIRST:.*]] = arith.cmpi eq, %thread
// LOOP: scf.if %[[FIRST]] {
// LOOP: %[[LAST:.*]] = arith.addi %[[K]], %[[STEP]]
// LOOP: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[K]], %[[FROM]]
// LOOP: %[[START:.*]] = arith.select %[[IS_FIRST]], %[[K]], %[[LAST]]
// LOOP: %[[BEHIND:.*]] = arith.addi %[[LAST]], %[[STEP]]
// LOOP: %[[LESS:.*]] = arith.cmpi slt, %[[BEHIND]], %[[TO]]
// LOOP: %[[END:.*]] = arith.select %[[LESS]], %[[BEHIND]], %[[TO]]
// LOOP: scf.for %[[J:.*]] = %[[START]] to %[[END]] step %[[STEP]]
// LOOP: arith.addi %[[J]],
// LOOP: tile.mbarrier.arrive
// LOOP-NOT: tile.warp_specialize
tile.kernel @ring(%A: memref<?xf32, #tile.global>, %way: i32) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %full = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %count = arith.constant 1 : i32
  %thread = tile.thread_id
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %true = arith.constant true
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    tile.mbarrier.init %full[], %count : memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  %block = tile.block_id x
  %row = arith.divui %block, %c3 : index
  %n = memref.dim %A, %c0 : memref<?xf32, #tile.global>
  %fast = arith.cmpi eq, %way, %count : i32
  scf.if %fast {
    scf.for %k = %c0 to %n step %c1 {
      tile.produce(%j) ahead(2) {
        %at = arith.addi %j, %row : index
        %odd = arith.cmpi eq, %at, %c3 : index
        tile.mbarrier.arrive %full[] : memref<!tile.mbarrier, #tile.shared>
      }
      tile.mbarrier.wait %full[], %true : memref<!tile.mbarrier, #tile.shared>
    }
  } else {
    tile.barrier
  }
}

// -----

// expected-remark @+1 {{copies in the threads that compute: no barrier follows the initialisation of the mbarriers}}
tile.kernel @no_barrier() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %c1 step %c1 {
    tile.produce(%j) ahead(2) {
    }
  }
}

// -----

// expected-remark @+1 {{copies in the threads that compute: the producer cannot compute what 'memref.load' gives}}
tile.kernel @read(%N: memref<1xi64, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ready = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %arrivals = arith.constant 1 : i32
  tile.mbarrier.init %ready[], %arrivals : memref<!tile.mbarrier, #tile.shared>
  tile.barrier
  %read = memref.load %N[%c0] : memref<1xi64, #tile.global>
  %n = arith.index_cast %read : i64 to index
  scf.for %k = %c0 to %n step %c1 {
    tile.produce(%j) ahead(2) {
    }
  }
}

// -----

// Tiles are those of the consumers.
// CHECK-LABEL: tile.kernel @tiles
// CHECK: role consumer(%{{.*}}) warps(4) registers(240) barrier(1) {
// CHECK: tile.load {{.*}} -> tensor<64xf32>
// CHECK: tile.store {{.*}} : tensor<64xf32>
// CHECK: role producer
// CHECK-NOT: tensor
// CHECK-LABEL: tile.kernel @cluster
tile.kernel @tiles(%A: memref<?xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ready = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %arrivals = arith.constant 1 : i32
  tile.mbarrier.init %ready[], %arrivals : memref<!tile.mbarrier, #tile.shared>
  tile.barrier
  scf.for %k = %c0 to %c1 step %c1 {
    tile.produce(%j) ahead(2) {
    }
  }
  %v = tile.load %A[%c0] : memref<?xf32, #tile.global> -> tensor<64xf32>
  tile.store %v, %A[%c1] : tensor<64xf32>, memref<?xf32, #tile.global>
}

// -----

// expected-remark @+1 {{copies in the threads that compute: all threads of a cluster meet in the program}}
tile.kernel @cluster() threads(128) cluster(2, 1, 1) launch {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.grid %c2, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ready = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %arrivals = arith.constant 1 : i32
  tile.mbarrier.init %ready[], %arrivals : memref<!tile.mbarrier, #tile.shared>
  tile.barrier
  tile.cluster.arrive
  scf.for %k = %c0 to %c1 step %c1 {
    tile.produce(%j) ahead(2) {
    }
  }
  tile.cluster.wait
}

// -----

// expected-remark @+1 {{copies in the threads that compute: with 128 more threads the block would have 1152, expected a multiple of 128 up to 1024}}
tile.kernel @full() threads(1024) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %c1 step %c1 {
    tile.produce(%j) ahead(2) {
    }
  }
}

// -----

// A region for several threads: all of the producer run it, each with its number, and what one thread alone does goes to one.
// CHECK-LABEL: tile.kernel @together
// CHECK: role consumer(%{{.*}}) warps(4) registers(240) barrier(1) {
// CHECK: role producer(%{{.*}}) warps(4) registers(88) {
// CHECK-NOT: tile.elect
// CHECK: scf.for %[[I:.*]] =
// CHECK: scf.for %[[K:.*]] =
// CHECK: %[[THREAD:.*]] = tile.thread_id fresh
// CHECK: %[[OWN:.*]] = arith.subi %[[THREAD]], %c128
// CHECK: arith.addi %[[K]], %[[OWN]]
// CHECK: tile.cp_async.mbarrier_arrive
// CHECK: arith.cmpi eq, %warp{{.*}}, %c4
// CHECK: tile.elect
// CHECK: scf.for
// CHECK: tile.mbarrier.arrive
// LOOP-LABEL: tile.kernel @together
// LOOP: %[[FIRST:.*]] = arith.cmpi ult, %thread{{.*}}, %c128
// LOOP: scf.if %[[FIRST]] {
// LOOP: scf.for %[[J:.*]] =
// LOOP: %[[THREAD:.*]] = tile.thread_id fresh
// LOOP: arith.addi %[[J]], %[[THREAD]]
tile.kernel @together(%A: memref<?xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %full = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %count = arith.constant 1 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %true = arith.constant true
  tile.mbarrier.init %full[], %count : memref<!tile.mbarrier, #tile.shared>
  tile.barrier
  %n = memref.dim %A, %c0 : memref<?xf32, #tile.global>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %k = %c0 to %n step %c1 {
      tile.produce(%j, %t) ahead(2) threads(128) {
        %at = arith.addi %j, %t : index
        %odd = arith.cmpi eq, %at, %c1 : index
        tile.cp_async.mbarrier_arrive %full[] noinc : memref<!tile.mbarrier, #tile.shared>
      }
      tile.mbarrier.wait %full[], %true : memref<!tile.mbarrier, #tile.shared>
    }
  }
  scf.for %k = %c0 to %n step %c1 {
    tile.produce(%j) ahead(2) {
      tile.mbarrier.arrive %full[] : memref<!tile.mbarrier, #tile.shared>
    }
  }
}
