// Tensors whose element type does not parse, with an encoding that would look at it.
// RUN: not girih-opt --split-input-file %s 2>&1 | FileCheck %s

// CHECK: error: unknown type 'tile.foo'
// CHECK-NOT: internal error
func.func private @f(tensor<64x8x!tile.foo, #tile.layout<wgmma_d>>)

// -----

// CHECK: error: expected non-function type
// CHECK-NOT: internal error
func.func private @g(tensor<64x8x(, #tile.layout<wgmma_d>>)
