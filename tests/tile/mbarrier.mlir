// Barriers in shared memory: in the form that is printed, the generic one and bytecode.
// RUN: girih-opt %s | FileCheck %s
// RUN: girih-opt %s --mlir-print-op-generic | girih-opt | FileCheck %s
// RUN: girih-opt %s --emit-bytecode | girih-opt | FileCheck %s

// CHECK-LABEL: @phases
// CHECK-SAME: %[[RING:.*]]: memref<4x!tile.mbarrier, #tile.shared>, %[[ONE:.*]]: memref<!tile.mbarrier, #tile.shared>, %[[I:.*]]: index, %[[N:.*]]: i32, %[[P:.*]]: i1
func.func private @phases(%ring: memref<4x!tile.mbarrier, #tile.shared>, %one: memref<!tile.mbarrier, #tile.shared>, %i: index, %n: i32, %p: i1) -> i1 {
  // CHECK-NEXT: tile.mbarrier.init %[[RING]][%[[I]]], %[[N]] : memref<4x!tile.mbarrier, #tile.shared>
  tile.mbarrier.init %ring[%i], %n : memref<4x!tile.mbarrier, #tile.shared>
  // CHECK-NEXT: tile.mbarrier.init %[[ONE]][], %[[N]] : memref<!tile.mbarrier, #tile.shared>
  tile.mbarrier.init %one[], %n : memref<!tile.mbarrier, #tile.shared>
  // CHECK-NEXT: tile.mbarrier.arrive %[[ONE]][] : memref<!tile.mbarrier, #tile.shared>
  tile.mbarrier.arrive %one[] : memref<!tile.mbarrier, #tile.shared>
  // CHECK-NEXT: tile.mbarrier.arrive_expect_tx %[[RING]][%[[I]]], %[[N]] : memref<4x!tile.mbarrier, #tile.shared>
  tile.mbarrier.arrive_expect_tx %ring[%i], %n : memref<4x!tile.mbarrier, #tile.shared>
  // CHECK-NEXT: tile.mbarrier.expect_tx %[[RING]][%[[I]]], %[[N]] : memref<4x!tile.mbarrier, #tile.shared>
  tile.mbarrier.expect_tx %ring[%i], %n : memref<4x!tile.mbarrier, #tile.shared>
  // CHECK-NEXT: %[[DONE:.*]] = tile.mbarrier.test_wait %[[RING]][%[[I]]], %[[P]] : memref<4x!tile.mbarrier, #tile.shared>
  %done = tile.mbarrier.test_wait %ring[%i], %p : memref<4x!tile.mbarrier, #tile.shared>
  // CHECK-NEXT: tile.mbarrier.wait %[[RING]][%[[I]]], %[[P]] : memref<4x!tile.mbarrier, #tile.shared>
  tile.mbarrier.wait %ring[%i], %p : memref<4x!tile.mbarrier, #tile.shared>
  // CHECK-NEXT: tile.mbarrier.inval %[[ONE]][] : memref<!tile.mbarrier, #tile.shared>
  tile.mbarrier.inval %one[] : memref<!tile.mbarrier, #tile.shared>
  // CHECK-NEXT: return %[[DONE]]
  return %done : i1
}
