// girih-opt is mlir-opt with girih's dialects beside upstream's.
// RUN: girih-opt %s --canonicalize | FileCheck %s
// RUN: girih-opt %s --emit-bytecode | girih-opt --canonicalize | FileCheck %s
// RUN: girih-opt --show-dialects | FileCheck %s --check-prefix=DIALECTS
// RUN: girih-opt --help-list | FileCheck %s --check-prefix=HELP

// DIALECTS: arith
// DIALECTS: girih
// DIALECTS: nvvm
// DIALECTS: tile
// DIALECTS: transform
// HELP: --convert-nvvm-to-llvm
// HELP: --one-shot-bufferize

// CHECK-LABEL: @f
func.func @f() -> index {
  // CHECK: %[[C:.*]] = arith.constant 5 : index
  // CHECK-NEXT: return %[[C]]
  %a = arith.constant 2 : index
  %b = arith.constant 3 : index
  %c = arith.addi %a, %b : index
  return %c : index
}
