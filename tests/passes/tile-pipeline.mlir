// Staged operands get memory; tensor copies run ahead.
// RUN: girih-opt %s -pass-pipeline='builtin.module(tile-pipeline{slots=3})' -split-input-file | FileCheck %s

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
!slot_a = memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>
!slot_b = memref<1x1x32x64xbf16, #tile.shared<swizzle = 128>>

// A ring for each operand, which both loops use, two rings of mbarriers for each loop, maps in the launch region. In the
// second loop a warpgroup copies what does not fit tensor copies.
// CHECK-LABEL: tile.kernel @ring
// CHECK: %[[MAP_A:.*]] = tile.tensor_map %A optional : {{.*}} -> !tile.tensor_map<64x64xbf16, swizzle = 128>
// CHECK: %[[T:.*]] = memref.transpose %B
// CHECK: %[[MAP_B:.*]] = tile.tensor_map %[[T]] optional : {{.*}} -> !tile.tensor_map<32x64xbf16, swizzle = 128>
// CHECK: tile.grid %{{.*}} args(%[[MAP_A]], %[[MAP_B]]
// CHECK: } body args(%[[A:.*]]: !tile.tensor_map<64x64xbf16, swizzle = 128>, %[[B:.*]]: !tile.tensor_map<32x64xbf16, swizzle = 128>)
// CHECK: %[[RING_A:.*]] = tile.alloc ordered : memref<3x1x1x64x64xbf16, #tile.shared<swizzle = 128>>
// CHECK: %[[RING_B:.*]] = tile.alloc ordered : memref<3x1x1x32x64xbf16, #tile.shared<swizzle = 128>>
// CHECK: %[[FULL:.*]] = tile.alloc ordered : memref<3x!tile.mbarrier, #tile.shared>
// CHECK: %[[EMPTY:.*]] = tile.alloc ordered : memref<3x!tile.mbarrier, #tile.shared>
// CHECK: %[[FULL_2:.*]] = tile.alloc ordered : memref<3x!tile.mbarrier, #tile.shared>
// CHECK: %[[EMPTY_2:.*]] = tile.alloc ordered : memref<3x!tile.mbarrier, #tile.shared>
// CHECK-NOT: tile.alloc
// CHECK: scf.if
// CHECK: tile.mbarrier.init %[[FULL]][%{{.*}}], %c1_i32
// CHECK: tile.mbarrier.init %[[EMPTY]][%{{.*}}], %c4_i32
// CHECK: tile.mbarrier.init %[[FULL_2]][%{{.*}}], %c128_i32
// CHECK: tile.mbarrier.init %[[EMPTY_2]][%{{.*}}], %c4_i32
// CHECK-NOT: tile.fence
// CHECK: tile.barrier
// CHECK: %[[FITS:.*]] = tile.is_aligned
// CHECK: scf.for %[[K:.*]] = %{{.*}} to
// CHECK: tile.produce(%[[J:.*]]) ahead(3) {
// CHECK: tile.mbarrier.wait %[[EMPTY]][%[[SLOT:.*]]], %
// CHECK: tile.mbarrier.arrive_expect_tx %[[FULL]][%[[SLOT]]], %c12288_i32
// CHECK: tile.tma.load %[[A]][%{{.*}}, %[[J]]], %{{.*}}, %[[FULL]][%[[SLOT]]]
// CHECK: tile.tma.load %[[B]][%{{.*}}, %[[J]]], %{{.*}}, %[[FULL]][%[[SLOT]]]
// CHECK: }
// CHECK: tile.mbarrier.wait %[[FULL]][%[[AT:.*]]], %
// CHECK-NOT: tile.fence
// CHECK: %[[SLAB_A:.*]] = tile.slab %[[RING_A]][%[[AT]]]
// CHECK: %[[SLAB_B:.*]] = tile.slab %[[RING_B]][%[[AT]]]
// CHECK: tile.mma %[[SLAB_A]], %[[SLAB_B]]
// CHECK: tile.elect
// CHECK: tile.mbarrier.arrive %[[EMPTY]][%[[AT]]]
// CHECK: } else {
// CHECK: tile.produce(%[[J:.*]], %[[THREAD:.*]]) ahead(3) threads(128) {
// CHECK: tile.mbarrier.wait %[[EMPTY_2]]
// A by tensor copies where they fit, which its first thread issues, else in chunks of 8 or 4 bytes, else through registers.
// CHECK: %[[BY_4:.*]] = tile.is_aligned %A axis 1 by 4 :
// CHECK: %[[BY_2:.*]] = tile.is_aligned %A axis 1 by 2 :
// CHECK: %[[STORES:.*]] = arith.xori %[[BY_2]], %true
// CHECK: scf.if %[[FITS]] {
// CHECK: arith.cmpi eq, %[[THREAD]], %c0
// CHECK: tile.mbarrier.expect_tx %[[FULL_2]][%{{.*}}], %c8192_i32
// CHECK: tile.tma.load %[[A]]
// CHECK: } else {
// CHECK: scf.if %[[BY_4]] {
// CHECK: %[[PANEL:.*]] = tile.slab %[[RING_A]]
// CHECK: %[[BYTES:.*]] = arith.select %{{.*}}, %c8_i32, %c0_i32
// CHECK-COUNT-8: tile.cp_async %A[%{{.*}}, %{{.*}}], %[[PANEL]][%{{.*}}, %{{.*}}], 8 src_size
// CHECK: scf.if %[[BY_2]] {
// CHECK-COUNT-16: tile.cp_async %A[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}], 4 src_size
// CHECK: } else {
// CHECK: scf.if
// CHECK-COUNT-32: memref.load %A
// CHECK-COUNT-16: vector.store {{.*}} vector<2xbf16>
// CHECK: } else {
// CHECK: scf.for
// CHECK: scf.if
// CHECK: memref.load %A
// CHECK: vector.store
// B wherever it lies in chunks of 16 bytes, if those fit.
// CHECK: scf.if
// CHECK-COUNT-2: tile.cp_async %B[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}], 16 src_size
// CHECK: scf.if %{{.*}} {
// CHECK: tile.cp_async.wait_all
// CHECK: tile.mbarrier.arrive %[[FULL_2]]
// CHECK: } else {
// CHECK: tile.cp_async.mbarrier_arrive %[[FULL_2]][%{{.*}}] noinc
// CHECK: tile.mbarrier.wait %[[FULL_2]]
// CHECK: tile.fence proxy_async_shared
// CHECK: tile.mma
module attributes {tile.target = "sm_90a"} {
tile.kernel @ring(%A: !rows, %B: !columns, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1 = arith.constant 1 : index
  %K = memref.dim %A, %c1 : !rows
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %fits = tile.is_aligned %A axis 1 by 8 : !rows
  %sum = scf.if %fits -> (tensor<64x32xf32>) {
    %s = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x32xf32>) {
      %a = tile.stage %A[%c0, %k] side a major k by tma : !rows -> !slot_a
      %b = tile.stage %B[%k, %c0] side b major k by tma : !columns -> !slot_b
      %next = tile.mma %a, %b, %acc : !slot_a, !slot_b, tensor<64x32xf32>
      scf.yield %next : tensor<64x32xf32>
    }
    scf.yield %s : tensor<64x32xf32>
  } else {
    %s = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x32xf32>) {
      %a = tile.stage %A[%c0, %k] side a major k by tma where %fits : !rows -> !slot_a
      %b = tile.stage %B[%k, %c0] side b major k by threads : !columns -> !slot_b
      %next = tile.mma %a, %b, %acc : !slot_a, !slot_b, tensor<64x32xf32>
      scf.yield %next : tensor<64x32xf32>
    }
    scf.yield %s : tensor<64x32xf32>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<64x32xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}
}

// -----

!rows = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!panels = memref<1x2x16x64xf16, #tile.shared<swizzle = 128>>

// One copy for each panel.
// CHECK-LABEL: tile.kernel @panels
// CHECK: tile.mbarrier.arrive_expect_tx %{{.*}}, %c4096_i32
// CHECK: tile.tma.load %[[MAP:.*]][%[[J:.*]], %c0{{.*}}], %
// CHECK: tile.tma.load %[[MAP]][%[[J]], %c64], %
module attributes {tile.target = "sm_90a"} {
tile.kernel @panels(%B: !rows) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %K = memref.dim %B, %c0 : !rows
  scf.for %k = %c0 to %K step %c16 {
    %b = tile.stage %B[%k, %c0] side b major mn by tma : !rows -> !panels
  }
}
}

// -----

!rows = memref<?x?xi8, strided<[?, 1]>, #tile.global>
!slot = memref<1x1x64x64xi8, #tile.shared<swizzle = 64>>

// What is transposed on the way has one buffer and barriers around the copy; the ring of the other operand goes on.
// CHECK-LABEL: tile.kernel @transposed
// CHECK: tile.alloc ordered : memref<3x1x1x64x64xi8, #tile.shared<swizzle = 64>>
// CHECK: %[[BUFFER:.*]] = tile.alloc : memref<1x1x64x64xi8, #tile.shared<swizzle = 64>>
// CHECK: tile.produce({{.*}}) ahead(3) threads(128) {
// CHECK-NOT: %B
// CHECK: tile.cp_async %A
// CHECK: tile.barrier
// CHECK: memref.store %{{.*}}, %[[BUFFER]]
// CHECK: tile.fence proxy_async_shared
// CHECK: tile.barrier
module attributes {tile.target = "sm_90a"} {
tile.kernel @transposed(%A: !rows, %B: !rows) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %K = memref.dim %B, %c0 : !rows
  scf.for %k = %c0 to %K step %c64 {
    %a = tile.stage %A[%c0, %k] side a major k by threads : !rows -> !slot
    %b = tile.stage %B[%k, %c0] side b major k by threads : !rows -> !slot
  }
}
}

// -----

!rows = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!slot = memref<1x1x16x64xf16, #tile.shared<swizzle = 128>>

// The ring goes on counting: passes of the loops around, times those of the loop.
// CHECK-LABEL: tile.kernel @persistent
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[N:.*]] step
// CHECK: %[[OUTER:.*]] = arith.divui %[[I]], %c1
// CHECK: %[[LENGTH:.*]] = arith.maxsi
// CHECK: %[[TRIPS:.*]] = arith.ceildivui %[[LENGTH]], %c16
// CHECK: %[[BEFORE:.*]] = arith.muli %[[OUTER]], %[[TRIPS]]
// CHECK: scf.for %[[K:.*]] = %{{.*}} to
// CHECK: tile.produce(%[[J:.*]]) ahead(3) {
// CHECK: %[[OWN:.*]] = arith.divui
// CHECK: %[[PASS:.*]] = arith.addi %[[BEFORE]], %[[OWN]]
// CHECK: arith.remui %[[PASS]], %c3
// CHECK: }
// CHECK: arith.addi %[[BEFORE]],
module attributes {tile.target = "sm_90a"} {
tile.kernel @persistent(%B: !rows) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %K = memref.dim %B, %c0 : !rows
  %N = memref.dim %B, %c1 : !rows
  scf.for %i = %c0 to %N step %c1 {
    scf.for %k = %c0 to %K step %c16 {
      %b = tile.stage %B[%k, %i] side b major mn by tma : !rows -> !slot
    }
  }
}
}

// -----

!rows = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!panels = memref<1x2x16x64xf16, #tile.shared<swizzle = 128>>

// Without a ring it is all the same how many slots one would have.
// CHECK-LABEL: tile.kernel @no_loop
// CHECK: tile.alloc : memref<1x2x16x64xf16, #tile.shared<swizzle = 128>>
// CHECK-NOT: mbarrier
module attributes {tile.target = "sm_90a"} {
tile.kernel @no_loop(%B: !rows) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %b = tile.stage %B[%c0, %c0] side b major mn by threads : !rows -> !panels
}
}

// -----

// All threads copy in groups: two passes ahead before the loop, then one in each pass, into the slot that the last one left.
// CHECK-LABEL: tile.kernel @groups
// CHECK-NOT: tile.mbarrier
// CHECK: %[[RING:.*]] = tile.alloc ordered : memref<3x1x1x64x32xf16, #tile.shared<swizzle = 64>>
// CHECK: tile.barrier
// CHECK: scf.for %[[S:.*]] = %c0{{.*}} to %c2{{.*}} step %c1
// CHECK: %[[J:.*]] = arith.muli %[[S]], %c32
// CHECK: %[[THERE:.*]] = arith.cmpi slt, %[[J]], %[[K:.*]] : index
// CHECK: scf.if %[[THERE]] {
// CHECK: tile.slab %[[RING]][%[[S]]
// CHECK: tile.cp_async %A[%{{.*}}, %{{.*}}], %{{.*}}, 16 src_size
// CHECK: }
// CHECK: tile.cp_async.commit_group
// CHECK: scf.for %[[AT:.*]] = %c0{{.*}} to %[[K]]
// CHECK: tile.cp_async.wait_group 1
// CHECK-NEXT: tile.barrier
// CHECK: %[[LATER:.*]] = arith.addi %[[AT]]
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[LATER]], %[[K]] : index
// CHECK: scf.if %[[MORE]] {
// CHECK: tile.thread_id fresh
// CHECK: tile.cp_async %A
// CHECK: tile.cp_async.commit_group
// CHECK: %[[SLOT:.*]] = arith.remui
// CHECK: %[[SLAB:.*]] = tile.slab %[[RING]][%[[SLOT]]]
// CHECK: tile.load_staged %[[SLAB]] side a major k
// CHECK: tile.cp_async.wait_group 0
// CHECK-NEXT: tile.barrier
// CHECK: tile.store
!rows = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!out = memref<?x?xf32, strided<[?, 1]>, #tile.global>
tile.kernel @groups(%A: !rows, %C: !out) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %K = memref.dim %A, %c1 : !rows
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  %b = arith.constant dense<1.0> : tensor<32x8xf16>
  %sum = scf.for %k = %c0 to %K step %c32 iter_args(%acc = %zero) -> (tensor<64x8xf32>) {
    %s = tile.stage %A[%c0, %k] side a major k by cp_async : !rows -> memref<1x1x64x32xf16, #tile.shared<swizzle = 64>>
    %a = tile.load_staged %s side a major k : memref<1x1x64x32xf16, #tile.shared<swizzle = 64>> -> tensor<64x32xf16>
    %n = tile.mma %a, %b, %acc : tensor<64x32xf16>, tensor<32x8xf16>, tensor<64x8xf32>
    scf.yield %n : tensor<64x8xf32>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<64x8xf32>, !out
}

// -----

// Where rows may not be multiples of 16 bytes, narrower chunks stand beside, then registers.
// CHECK-LABEL: tile.kernel @narrower
// CHECK: scf.if %[[FITS:.*]] {
// CHECK: tile.cp_async %A{{.*}}, 16 src_size
// CHECK: } else {
// CHECK: tile.is_aligned %A axis 1 by 4
// CHECK: tile.cp_async %A{{.*}}, 8 src_size
// CHECK: tile.cp_async %A{{.*}}, 4 src_size
// CHECK: vector.store
!rows = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!out = memref<?x?xf32, strided<[?, 1]>, #tile.global>
tile.kernel @narrower(%A: !rows, %C: !out) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %K = memref.dim %A, %c1 : !rows
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %b = arith.constant dense<1.0> : tensor<16x8xf16>
  %fits = tile.is_aligned %A axis 1 by 8 : !rows
  %sum = scf.for %k = %c0 to %K step %c16 iter_args(%acc = %zero) -> (tensor<16x8xf32>) {
    %s = tile.stage %A[%c0, %k] side a major k by cp_async where %fits : !rows -> memref<1x1x16x16xf16, #tile.shared<swizzle = 32>>
    %a = tile.load_staged %s side a major k : memref<1x1x16x16xf16, #tile.shared<swizzle = 32>> -> tensor<16x16xf16>
    %n = tile.mma %a, %b, %acc : tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>
    scf.yield %n : tensor<16x8xf32>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<16x8xf32>, !out
}
