// Matrices of a batch are loaded and stored as matrices: through views that have no rows where the index is outside.
// RUN: girih-opt %s -tile-drop-unit-axes -split-input-file | FileCheck %s

!batch = memref<?x?x?xbf16, strided<[?, ?, 1]>, #tile.global>
!sums = memref<4x?x128xf32, strided<[?, ?, 1]>, #tile.global>

// One view serves what is loaded and stored at one place; sizes that are known stay so.
// CHECK-LABEL: tile.kernel @batched
// CHECK: scf.for %[[K:.*]] = %{{.*}} iter_args
// CHECK-DAG: %[[COUNT:.*]] = memref.dim %A, %c0{{.*}}
// CHECK-DAG: %[[INSIDE:.*]] = arith.cmpi ult, %[[B:.*]], %[[COUNT]] : index
// CHECK-DAG: %[[M:.*]] = memref.dim %A, %c1{{.*}}
// CHECK-DAG: %[[ROWS:.*]] = arith.select %[[INSIDE]], %[[M]], %c0{{.*}} : index
// CHECK-DAG: %[[COLUMNS:.*]] = memref.dim %A, %c2{{.*}}
// CHECK: %[[VIEW:.*]] = memref.subview %A[%[[B]], 0, 0] [1, %[[ROWS]], %[[COLUMNS]]] [1, 1, 1] : memref<?x?x?xbf16, strided<[?, ?, 1]>, #tile.global> to memref<?x?xbf16, strided<[?, 1], offset: ?>, #tile.global>
// CHECK: tile.load %[[VIEW]][%c0{{.*}}, %[[K]]] cache evict_last {pad = 1.000000e+00 : bf16} : {{.*}} -> tensor<64x64xbf16>
// CHECK-NOT: tile.reshape
// CHECK: tile.mma
// CHECK: %[[C:.*]] = memref.subview %C[%[[B]], 0, 0] [1, %{{.*}}, 128] [1, 1, 1] : {{.*}} to memref<?x128xf32, strided<[?, 1], offset: ?>, #tile.global>
// CHECK: %[[OLD:.*]] = tile.load %[[C]][
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %{{.*}} : tensor<64x64xf32>
// CHECK-NOT: memref.subview
// CHECK: tile.store %[[NEW]], %[[C]][%c0{{.*}}, %c0{{.*}}] : tensor<64x64xf32>
// CHECK-NOT: tile.expand_dims
tile.kernel @batched(%A: !batch, %B: memref<?x?xbf16, strided<[1, ?]>, #tile.global>, %C: !sums) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %b = tile.block_id x
  %K = memref.dim %A, %c2 : !batch
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %x1 = tile.load %A[%b, %c0, %k] cache evict_last {pad = 1.0 : bf16} : !batch -> tensor<1x64x64xbf16>
    %x = tile.reshape %x1 : tensor<1x64x64xbf16> -> tensor<64x64xbf16>
    %y = tile.load %B[%k, %c0] : memref<?x?xbf16, strided<[1, ?]>, #tile.global> -> tensor<64x64xbf16>
    %next = tile.mma %x, %y, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %old1 = tile.load %C[%b, %c0, %c0] : !sums -> tensor<1x64x64xf32>
  %old = tile.reshape %old1 : tensor<1x64x64xf32> -> tensor<64x64xf32>
  %new = arith.addf %old, %sum : tensor<64x64xf32>
  %new1 = tile.expand_dims %new axis 0 : tensor<64x64xf32> -> tensor<1x64x64xf32>
  tile.store %new1, %C[%b, %c0, %c0] : tensor<1x64x64xf32>, !sums
}

// -----

!four = memref<?x?x?x?xf16, strided<[?, ?, ?, 1]>, #tile.global>

// Axes of size 1 on either side of a matrix; both indices are tested, and what vectors go along keeps its size.
// CHECK-LABEL: tile.kernel @around
// CHECK-DAG: %[[X:.*]] = tile.block_id x
// CHECK-DAG: %[[Y:.*]] = tile.block_id y
// CHECK-DAG: %[[BOTH:.*]] = arith.andi
// CHECK-DAG: %[[ROWS:.*]] = arith.select %[[BOTH]]
// CHECK: memref.subview %A[%[[X]], 0, %[[Y]], 0] [1, %[[ROWS]], 1, %{{.*}}] [1, 1, 1, 1] : {{.*}} to memref<?x?xf16, strided<[?, 1], offset: ?>, #tile.global>
tile.kernel @around(%A: !four, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.block_id x
  %y = tile.block_id y
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %a1 = tile.load %A[%x, %c0, %y, %c0] : !four -> tensor<1x16x1x16xf16>
  %a = tile.reshape %a1 : tensor<1x16x1x16xf16> -> tensor<16x16xf16>
  %c = tile.mma %a, %a, %zero : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  tile.store %c, %C[%c0, %c0] : tensor<16x16xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

// -----

!batch = memref<?x?x?xf16, strided<[?, ?, 1]>, #tile.global>

// Tiles that are no matrices of one index, that another op takes as they are, or that a mask is for, stay.
// CHECK-LABEL: tile.kernel @others
// CHECK-NOT: memref.subview
tile.kernel @others(%A: !batch, %mask: memref<?x?x?xi1, strided<[?, ?, 1]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %two1 = tile.load %A[%c0, %c0, %c0] : !batch -> tensor<2x8x16xf16>
  %two = tile.reshape %two1 : tensor<2x8x16xf16> -> tensor<16x16xf16>
  %used1 = tile.load %A[%c0, %c0, %c0] : !batch -> tensor<1x16x16xf16>
  %used = tile.reshape %used1 : tensor<1x16x16xf16> -> tensor<16x16xf16>
  %twice = arith.addf %used1, %used1 : tensor<1x16x16xf16>
  tile.store %twice, %A[%c0, %c0, %c0] : tensor<1x16x16xf16>, !batch
  %i = tile.iota axis 2 : tensor<1x16x16xi32>
  %j = tile.iota axis 1 : tensor<1x16x16xi32>
  %lower = arith.cmpi sle, %i, %j : tensor<1x16x16xi32>
  %masked1 = tile.load %A[%c0, %c0, %c0] mask %lower : tensor<1x16x16xi1> : !batch -> tensor<1x16x16xf16>
  %masked = tile.reshape %masked1 : tensor<1x16x16xf16> -> tensor<16x16xf16>
  %c = tile.mma %two, %used, %zero : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  %d = tile.mma %masked, %used, %c : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
}

// -----

// Nor do those of kernels that multiply nothing.
// CHECK-LABEL: tile.kernel @copies
// CHECK-NOT: memref.subview
tile.kernel @copies(%A: memref<?x?x?xf16, strided<[?, ?, 1]>, #tile.global>, %C: memref<?x?xf16, strided<[?, 1]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %a1 = tile.load %A[%c0, %c0, %c0] : memref<?x?x?xf16, strided<[?, ?, 1]>, #tile.global> -> tensor<1x16x16xf16>
  %a = tile.reshape %a1 : tensor<1x16x16xf16> -> tensor<16x16xf16>
  tile.store %a, %C[%c0, %c0] : tensor<16x16xf16>, memref<?x?xf16, strided<[?, 1]>, #tile.global>
}
