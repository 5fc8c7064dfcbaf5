// Upstream's canonicalisation takes for granted that a memref has the dimension that is asked for.
// RUN: girih-opt %s --pass-pipeline='builtin.module(tile-verify-target,canonicalize)' --verify-diagnostics

func.func @reference(%A: memref<?xf32>) -> index {
  %cm1 = arith.constant -1 : index
  // expected-error@below {{asks for dimension -1, but memref<?xf32> has 1, from 0}}
  %n = memref.dim %A, %cm1 : memref<?xf32>
  return %n : index
}
