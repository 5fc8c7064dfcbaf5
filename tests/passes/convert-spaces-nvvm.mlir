// NVVM's numbers cover what #gpu.address_space lacks; the generic space is the default one there.
// RUN: girih-opt %s --pass-pipeline='builtin.module(tile-convert-spaces{to=nvvm})' | FileCheck %s
// RUN: girih-opt %s --pass-pipeline='builtin.module(tile-convert-spaces{to=nvvm},tile-convert-spaces{to=tile})' | FileCheck %s --check-prefix=BACK

// CHECK: @f(memref<f32>, memref<f32, 1>, memref<f32, 3>, memref<f32, 4>, memref<f32, 5>, memref<f32, 7>, memref<f32, 101>)
// BACK: @f(memref<f32>, memref<f32, #tile.global>, memref<f32, #tile.shared>, memref<f32, #tile.const>, memref<f32, #tile.local>, memref<f32, #tile.shared_cluster>, memref<f32, #tile.param>)
func.func private @f(memref<f32, #tile.generic>, memref<f32, #tile.global>, memref<f32, #tile.shared<align = 64>>,
  memref<f32, #tile.const>, memref<f32, #tile.local>, memref<f32, #tile.shared_cluster>, memref<f32, #tile.param>)

// CHECK: @nested(memref<2xmemref<4xf32, 3>, 5>, tuple<memref<f32, 1>>)
func.func private @nested(memref<2xmemref<4xf32, #tile.shared>, #tile.local>, tuple<memref<f32, #tile.global>>)
