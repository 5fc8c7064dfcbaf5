// Staged operands get memory; tensor copies run ahead.
// RUN: girih-opt %s -pass-pipeline='builtin.module(tile-pipeline{slots=3})' -split-input-file | FileCheck %s

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
!slot_a = memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>
!slot_b = memref<1x1x32x64xbf16, #tile.shared<swizzle = 128>>

// A ring for each operand, two rings of mbarriers, maps in the launch region; the slow loop takes a slot of each ring.
// CHECK-LABEL: tile.kernel @ring
// CHECK: %[[MAP_A:.*]] = tile.tensor_map %A optional : {{.*}} -> !tile.tensor_map<64x64xbf16, swizzle = 128>
// CHECK: %[[T:.*]] = memref.transpose %B
// CHECK: %[[MAP_B:.*]] = tile.tensor_map %[[T]] optional : {{.*}} -> !tile.tensor_map<32x64xbf16, swizzle = 128>
// CHECK: tile.grid %{{.*}} args(%[[MAP_A]], %[[MAP_B]]
// CHECK: } body args(%[[A:.*]]: !tile.tensor_map<64x64xbf16, swizzle = 128>, %[[B:.*]]: !tile.tensor_map<32x64xbf16, swizzle = 128>)
// CHECK: %[[RING_A:.*]] = tile.alloc : memref<3x1x1x64x64xbf16, #tile.shared<swizzle = 128>>
// CHECK: %[[RING_B:.*]] = tile.alloc : memref<3x1x1x32x64xbf16, #tile.shared<swizzle = 128>>
// CHECK: %[[FULL:.*]] = tile.alloc : memref<3x!tile.mbarrier, #tile.shared>
// CHECK: %[[EMPTY:.*]] = tile.alloc : memref<3x!tile.mbarrier, #tile.shared>
// CHECK: tile.slab %[[RING_A]]
// CHECK: tile.slab %[[RING_B]]
// CHECK: scf.if
// CHECK: tile.mbarrier.init %[[FULL]][%{{.*}}], %c1_i32
// CHECK: tile.mbarrier.init %[[EMPTY]][%{{.*}}], %c4_i32
// CHECK: tile.fence mbarrier_init
// CHECK: tile.barrier
// CHECK: scf.for %[[K:.*]] = %{{.*}} to
// CHECK: tile.produce(%[[J:.*]]) ahead(3) {
// CHECK: tile.mbarrier.wait %[[EMPTY]][%[[SLOT:.*]]], %
// CHECK: tile.mbarrier.arrive_expect_tx %[[FULL]][%[[SLOT]]], %c12288_i32
// CHECK: tile.tma.load %[[A]][%{{.*}}, %[[J]]], %{{.*}}, %[[FULL]][%[[SLOT]]]
// CHECK: tile.tma.load %[[B]][%{{.*}}, %[[J]]], %{{.*}}, %[[FULL]][%[[SLOT]]]
// CHECK: }
// CHECK: tile.mbarrier.wait %[[FULL]][%[[AT:.*]]], %
// CHECK: %[[SLAB_A:.*]] = tile.slab %[[RING_A]][%[[AT]]]
// CHECK: %[[SLAB_B:.*]] = tile.slab %[[RING_B]][%[[AT]]]
// CHECK: tile.mma %[[SLAB_A]], %[[SLAB_B]]
// CHECK: tile.elect
// CHECK: tile.mbarrier.arrive %[[EMPTY]][%[[AT]]]
// CHECK: } else {
// CHECK: tile.barrier
// CHECK: memref.load %A
// CHECK: memref.store
// CHECK: memref.load %B
// CHECK: memref.store
// CHECK: tile.fence proxy_async_shared
// CHECK: tile.barrier
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
      %a = tile.stage %A[%c0, %k] side a major k by threads : !rows -> !slot_a
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
// CHECK: tile.tma.load %[[MAP:.*]][%[[J:.*]], %[[C:.*]]], %
// CHECK: %[[C64:.*]] = arith.addi %[[C]], %c64
// CHECK: tile.tma.load %[[MAP]][%[[J]], %[[C64]]], %
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
