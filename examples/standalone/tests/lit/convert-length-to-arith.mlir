// RUN: standalone-opt %s --convert-length-to-arith | FileCheck %s
// RUN: standalone-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD
// RUN: standalone-opt %s --emit-bytecode | standalone-opt --mlir-print-op-generic | standalone-opt > %t
// RUN: standalone-opt %s | diff - %t

// CHECK-LABEL: func.func @height(
// CHECK-SAME:    %[[A:.*]]: i64) -> i64
func.func @height(%a: !length.of<m>) -> !length.of<mm> {
  // CHECK: %[[K:.*]] = arith.constant 1000 : i64
  // CHECK: %[[FINE:.*]] = arith.muli %[[A]], %[[K]] : i64
  %0 = length.refine %a : !length.of<m> -> !length.of<mm>
  // CHECK: %[[TWO:.*]] = arith.constant 2 : i64
  %1 = length.constant 2 : !length.of<mm>
  // CHECK: %[[ALL:.*]] = arith.addi %[[FINE]], %[[TWO]] : i64
  %2 = length.add %0, %1 : !length.of<mm>
  // CHECK: return %[[ALL]] : i64
  return %2 : !length.of<mm>
}

// FOLD-LABEL: func.func @fold(
func.func @fold() -> !length.of<km> {
  // FOLD-NEXT: %[[FIVE:.*]] = length.constant 5 : !length.of<km>
  // FOLD-NEXT: return %[[FIVE]]
  %0 = length.constant 2 : !length.of<km>
  %1 = length.constant 3 : !length.of<km>
  %2 = length.add %0, %1 : !length.of<km>
  return %2 : !length.of<km>
}
