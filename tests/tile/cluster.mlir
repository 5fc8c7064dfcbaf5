// Clusters: in the form that is printed, the generic one and bytecode.
// RUN: girih-opt %s | FileCheck %s
// RUN: girih-opt %s --mlir-print-op-generic | girih-opt | FileCheck %s
// RUN: girih-opt %s --emit-bytecode | girih-opt | FileCheck %s

!bar = memref<!tile.mbarrier, #tile.shared>
!its = memref<!tile.mbarrier, #tile.shared_cluster>

// CHECK-LABEL: @clusters
// CHECK-SAME: %[[BAR:.*]]: memref<!tile.mbarrier, #tile.shared>, %[[N:.*]]: i32, %[[P:.*]]: i1
func.func private @clusters(%bar: !bar, %n: i32, %p: i1) {
  // CHECK-NEXT: %rank = tile.cluster_rank
  %rank = tile.cluster_rank
  // CHECK-NEXT: tile.cluster_size
  %size = tile.cluster_size
  // CHECK-NEXT: tile.cluster_block_id y
  %y = tile.cluster_block_id y
  // CHECK-NEXT: tile.cluster_dim z
  %z = tile.cluster_dim z
  // CHECK-NEXT: tile.cluster_id x
  %x = tile.cluster_id x
  // CHECK-NEXT: tile.cluster.arrive{{$}}
  tile.cluster.arrive
  // CHECK-NEXT: tile.cluster.wait{{$}}
  tile.cluster.wait
  // CHECK-NEXT: tile.cluster.arrive relaxed aligned{{$}}
  tile.cluster.arrive relaxed aligned
  // CHECK-NEXT: tile.cluster.wait aligned{{$}}
  tile.cluster.wait aligned
  // CHECK-NEXT: %[[ITS:.*]] = tile.remote %[[BAR]], %[[N]]
  %its = tile.remote %bar, %n : !bar -> !its
  // CHECK-NEXT: tile.mbarrier.arrive %[[ITS]][] : memref<!tile.mbarrier, #tile.shared_cluster>
  tile.mbarrier.arrive %its[] : !its
  // CHECK-NEXT: tile.mbarrier.arrive %[[BAR]][] cluster : memref<!tile.mbarrier, #tile.shared>
  tile.mbarrier.arrive %bar[] cluster : !bar
  // CHECK-NEXT: tile.mbarrier.arrive_expect_tx %[[ITS]][], %[[N]] : memref<!tile.mbarrier, #tile.shared_cluster>
  tile.mbarrier.arrive_expect_tx %its[], %n : !its
  // CHECK-NEXT: tile.mbarrier.arrive_expect_tx %[[BAR]][], %[[N]] cluster : memref<!tile.mbarrier, #tile.shared>
  tile.mbarrier.arrive_expect_tx %bar[], %n cluster : !bar
  // CHECK-NEXT: tile.mbarrier.expect_tx %[[ITS]][], %[[N]] : memref<!tile.mbarrier, #tile.shared_cluster>
  tile.mbarrier.expect_tx %its[], %n : !its
  // CHECK-NEXT: tile.mbarrier.test_wait %[[BAR]][], %[[P]] cluster : memref<!tile.mbarrier, #tile.shared>
  %done = tile.mbarrier.test_wait %bar[], %p cluster : !bar
  // CHECK-NEXT: tile.mbarrier.wait %[[BAR]][], %[[P]] cluster : memref<!tile.mbarrier, #tile.shared>
  tile.mbarrier.wait %bar[], %p cluster : !bar
  return
}

// CHECK-LABEL: @reductions
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<4xi32>, %[[S:.*]]: memref<64xi8, #tile.shared>, %[[M:.*]]: memref<!tile.mbarrier, #tile.shared>
func.func private @reductions(%x: tensor<4xf32>, %i: tensor<4xi32>, %s: memref<64xi8, #tile.shared>, %m: !bar) {
  // CHECK-NEXT: tile.cluster_reduce %[[X]] (%{{.*}}: f32, %{{.*}}: f32) {
  // CHECK: } : tensor<4xf32>{{$}}
  %a = tile.cluster_reduce %x (%p: f32, %q: f32) {
    %l = arith.maximumf %p, %q : f32
    tile.yield %l : f32
  } : tensor<4xf32>
  // CHECK-NEXT: tile.cluster_reduce %[[X]], %[[I]] scratch %[[S]] : memref<64xi8, #tile.shared> (%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: f32, %{{.*}}: i32) {
  // CHECK: } : tensor<4xf32>, tensor<4xi32>{{$}}
  %b, %c = tile.cluster_reduce %x, %i scratch %s : memref<64xi8, #tile.shared> (%p: f32, %j: i32, %q: f32, %k: i32) {
    tile.yield %p, %j : f32, i32
  } : tensor<4xf32>, tensor<4xi32>
  // CHECK-NEXT: tile.cluster_reduce %[[X]] scratch %[[S]] : memref<64xi8, #tile.shared> barrier %[[M]] : memref<!tile.mbarrier, #tile.shared> (
  // CHECK: } : tensor<4xf32>{{$}}
  %d = tile.cluster_reduce %x scratch %s : memref<64xi8, #tile.shared> barrier %m : !bar (%p: f32, %q: f32) {
    tile.yield %p : f32
  } : tensor<4xf32>
  return
}

// The host knows the sizes of clusters, too.
// CHECK-LABEL: tile.kernel @sizes
tile.kernel @sizes() threads(32) cluster(4, 2, 1) launch {
  // CHECK: tile.cluster_size
  %n = tile.cluster_size
  // CHECK: tile.cluster_dim y
  %y = tile.cluster_dim y
  tile.grid %n, %y, %y
} body {
}
