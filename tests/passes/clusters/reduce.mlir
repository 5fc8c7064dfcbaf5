// Reductions over a cluster: of numbers that every thread holds and of tiles that the threads share out, of several tiles, in
// clusters of any size and shape, one after another and in loops. The combiners are not commutative, so that the order of the
// blocks shows.
// RUN: girih run %s --kernel words --check-memory --arg X=iota:i32[60] --arg Y=zeros:i32[60] --arg Z=zeros:i32[60]
// RUN: girih run %s --kernel tiles --check-memory --arg X=iota:i16[8,1024] --arg Y=zeros:i16[8,1024]
// RUN: girih run %s --kernel rounds --check-memory --arg X=iota:i64[8] --arg Y=zeros:i64[8]
// RUN: girih-opt %s -pass-pipeline='builtin.module(tile-assign-layouts{seed=3})' -o %t.3 2>/dev/null
// RUN: girih run %t.3 --kernel words --check-memory --arg X=iota:i32[60] --arg Y=zeros:i32[60] --arg Z=zeros:i32[60]
// RUN: girih-opt %s -pass-pipeline='builtin.module(tile-assign-layouts{seed=4})' -o %t.4 2>/dev/null
// RUN: girih run %t.4 --kernel words --check-memory --arg X=iota:i32[60] --arg Y=zeros:i32[60] --arg Z=zeros:i32[60]
// RUN: girih-opt %s -pass-pipeline='builtin.module(tile-assign-layouts{seed=5})' -o %t.5 2>/dev/null
// RUN: girih run %t.5 --kernel words --check-memory --arg X=iota:i32[60] --arg Y=zeros:i32[60] --arg Z=zeros:i32[60]
// RUN: girih compile %s --target sm_90a --emit ptx | FileCheck %s

// Outside loops each reduction has an mbarrier of its own, and the barrier of the cluster stands once, so that no block
// stores to one that does not run: the arrival comes first, the wait for it after the load.
// CHECK-LABEL: .entry words(
// CHECK: mbarrier.init
// CHECK: fence.mbarrier_init.release.cluster
// CHECK: barrier.cluster.arrive.relaxed.aligned
// CHECK: ld.global
// CHECK: barrier.cluster.wait.aligned
// CHECK: mov.b32 %[[ALL:.*]], 192;
// CHECK: mbarrier.arrive.expect_tx.shared.b64 %{{.*}}, [{{.*}}], %[[ALL]]
// CHECK: mapa.shared::cluster.u32
// CHECK: st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32
// CHECK: mbarrier.try_wait.parity.acquire.cluster
// CHECK: ld.shared
// CHECK: mov.b32 %[[HALF:.*]], 96;
// CHECK: mbarrier.arrive.expect_tx.shared.b64 %{{.*}}, [{{.*}}], %[[HALF]]
// CHECK: mbarrier.try_wait.parity.acquire.cluster
// CHECK-NOT: barrier.cluster
// CHECK: ret

// In a loop barriers of the cluster stand around the stores: before them, since others may read what came last, and after them.
// CHECK-LABEL: .entry rounds(
// CHECK: barrier.cluster.arrive.relaxed.aligned
// CHECK: barrier.cluster.wait.aligned
// CHECK: barrier.cluster.arrive.aligned
// CHECK-NEXT: barrier.cluster.wait.aligned
// CHECK: barrier.cluster.arrive.aligned
// CHECK-NEXT: barrier.cluster.wait.aligned
// CHECK: st.shared::cluster.b64
// CHECK: st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64

!words = memref<60xi32, #tile.global>

// Six blocks in x and y; five elements each. What comes later counts more: a * 3 + b. The two tiles know of each other.
tile.kernel @words(%X: !words, %Y: !words, %Z: !words) threads(64) cluster(3, 2, 1) launch {
  %c1 = arith.constant 1 : index
  %x = tile.cluster_dim x
  %y = tile.cluster_dim y
  %two = arith.addi %x, %x : index
  tile.grid %two, %y, %c1
} body {
  %c8 = arith.constant 8 : index
  %c5 = arith.constant 5 : index
  %size = tile.cluster_size
  %rank = tile.cluster_rank
  %cluster = tile.cluster_id x
  %before = arith.muli %cluster, %size : index
  %block = arith.addi %before, %rank : index
  %at = arith.muli %block, %c5 : index
  %x = tile.load %X[%at] : !words -> tensor<4xi32>
  %two = arith.constant dense<2> : tensor<4xi32>
  %twice = arith.muli %x, %two : tensor<4xi32>
  %p, %q = tile.cluster_reduce %x, %twice (%a: i32, %b: i32, %c: i32, %d: i32) {
    %c3 = arith.constant 3 : i32
    %a3 = arith.muli %a, %c3 : i32
    %s = arith.addi %a3, %c : i32
    %bd = arith.maxsi %b, %d : i32
    %t = arith.addi %bd, %b : i32
    tile.yield %s, %t : i32, i32
  } : tensor<4xi32>, tensor<4xi32>
  %r = tile.cluster_reduce %p (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  } : tensor<4xi32>
  %sum = arith.addi %q, %r : tensor<4xi32>
  tile.store %p, %Y[%at] : tensor<4xi32>, !words
  tile.store %sum, %Z[%at] : tensor<4xi32>, !words
}

func.func @words_ref(%X: memref<60xi32>, %Y: memref<60xi32>, %Z: memref<60xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c30 = arith.constant 30 : index
  %i2 = arith.constant 2 : i32
  %i6 = arith.constant 6 : i32
  scf.for %cluster = %c0 to %c2 step %c1 {
    %start = arith.muli %cluster, %c30 : index
    scf.for %e = %c0 to %c4 step %c1 {
      %at0 = arith.addi %start, %e : index
      // Pairs of neighbours, then pairs of these, the last pair as it is.
      %p01, %q01 = func.call @pair(%X, %at0) : (memref<60xi32>, index) -> (i32, i32)
      %c10 = arith.constant 10 : index
      %at2 = arith.addi %at0, %c10 : index
      %p23, %q23 = func.call @pair(%X, %at2) : (memref<60xi32>, index) -> (i32, i32)
      %at4 = arith.addi %at2, %c10 : index
      %p45, %q45 = func.call @pair(%X, %at4) : (memref<60xi32>, index) -> (i32, i32)
      %p03, %q03 = func.call @combine(%p01, %q01, %p23, %q23) : (i32, i32, i32, i32) -> (i32, i32)
      %p, %q = func.call @combine(%p03, %q03, %p45, %q45) : (i32, i32, i32, i32) -> (i32, i32)
      %r = arith.muli %p, %i6 : i32
      %sum = arith.addi %q, %r : i32
      scf.for %block = %c0 to %c6 step %c1 {
        %skip = arith.muli %block, %c5 : index
        %at = arith.addi %at0, %skip : index
        memref.store %p, %Y[%at] : memref<60xi32>
        memref.store %sum, %Z[%at] : memref<60xi32>
      }
    }
  }
  return
}
func.func @pair(%X: memref<60xi32>, %at: index) -> (i32, i32) {
  %c5 = arith.constant 5 : index
  %i2 = arith.constant 2 : i32
  %next = arith.addi %at, %c5 : index
  %a = memref.load %X[%at] : memref<60xi32>
  %c = memref.load %X[%next] : memref<60xi32>
  %b = arith.muli %a, %i2 : i32
  %d = arith.muli %c, %i2 : i32
  %p, %q = func.call @combine(%a, %b, %c, %d) : (i32, i32, i32, i32) -> (i32, i32)
  return %p, %q : i32, i32
}
func.func @combine(%a: i32, %b: i32, %c: i32, %d: i32) -> (i32, i32) {
  %c3 = arith.constant 3 : i32
  %a3 = arith.muli %a, %c3 : i32
  %s = arith.addi %a3, %c : i32
  %bd = arith.maxsi %b, %d : i32
  %t = arith.addi %bd, %b : i32
  return %s, %t : i32, i32
}

// A tile that the threads of a block share out, of numbers of 16 bits: every block gets the sum of all tiles.
tile.kernel @tiles(%X: memref<8x1024xi16, #tile.global>, %Y: memref<8x1024xi16, #tile.global>) threads(128) cluster(8, 1, 1) launch {
  %c1 = arith.constant 1 : index
  %n = tile.cluster_size
  tile.grid %n, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %rank = tile.cluster_rank
  %x = tile.load %X[%rank, %c0] : memref<8x1024xi16, #tile.global> -> tensor<1x1024xi16>
  %y = tile.cluster_reduce %x (%a: i16, %b: i16) {
    %s = arith.addi %a, %b : i16
    tile.yield %s : i16
  } : tensor<1x1024xi16>
  tile.store %y, %Y[%rank, %c0] : tensor<1x1024xi16>, memref<8x1024xi16, #tile.global>
}

func.func @tiles_ref(%X: memref<8x1024xi16>, %Y: memref<8x1024xi16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0 : i16
  scf.for %j = %c0 to %c1024 step %c1 {
    %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %zero) -> (i16) {
      %x = memref.load %X[%i, %j] : memref<8x1024xi16>
      %t = arith.addi %s, %x : i16
      scf.yield %t : i16
    }
    scf.for %i = %c0 to %c8 step %c1 {
      memref.store %sum, %Y[%i, %j] : memref<8x1024xi16>
    }
  }
  return
}

// In a loop, and after it: x becomes the sum of all blocks' x, plus the rank, five times; then the sum once more.
tile.kernel @rounds(%X: memref<8xi64, #tile.global>, %Y: memref<8xi64, #tile.global>) threads(32) cluster(4, 1, 1) launch {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  tile.grid %c8, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %block = tile.block_id x
  %rank = tile.cluster_rank
  %rank_int = arith.index_cast %rank : index to i64
  %ranks = tile.splat %rank_int : i64 -> tensor<1xi64>
  %x = tile.load %X[%block] : memref<8xi64, #tile.global> -> tensor<1xi64>
  %last = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %x) -> (tensor<1xi64>) {
    %sum = tile.cluster_reduce %v (%a: i64, %b: i64) {
      %s = arith.addi %a, %b : i64
      tile.yield %s : i64
    } : tensor<1xi64>
    %next = arith.addi %sum, %ranks : tensor<1xi64>
    scf.yield %next : tensor<1xi64>
  }
  %sum = tile.cluster_reduce %last (%a: i64, %b: i64) {
    %s = arith.addi %a, %b : i64
    tile.yield %s : i64
  } : tensor<1xi64>
  tile.store %sum, %Y[%block] : tensor<1xi64>, memref<8xi64, #tile.global>
}

func.func @rounds_ref(%X: memref<8xi64>, %Y: memref<8xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0 : i64
  %four = arith.constant 4 : i64
  %six = arith.constant 6 : i64
  scf.for %cluster = %c0 to %c2 step %c1 {
    %start = arith.muli %cluster, %c4 : index
    %first = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %zero) -> (i64) {
      %at = arith.addi %start, %i : index
      %x = memref.load %X[%at] : memref<8xi64>
      %t = arith.addi %s, %x : i64
      scf.yield %t : i64
    }
    // The sum of four numbers that are the old sum and 0, 1, 2, 3.
    %sum = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %first) -> (i64) {
      %s4 = arith.muli %s, %four : i64
      %t = arith.addi %s4, %six : i64
      scf.yield %t : i64
    }
    scf.for %i = %c0 to %c4 step %c1 {
      %at = arith.addi %start, %i : index
      memref.store %sum, %Y[%at] : memref<8xi64>
    }
  }
  return
}
