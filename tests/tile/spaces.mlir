// State spaces of PTX, layouts and types; parameters at their defaults are not printed.
// RUN: girih-opt %s | FileCheck %s
// RUN: girih-opt %s --emit-bytecode | girih-opt | FileCheck %s

// CHECK: @plain(memref<f32, #tile.generic>, memref<f32, #tile.global>, memref<f32, #tile.shared>, memref<f32, #tile.const>
// CHECK-SAME: memref<f32, #tile.local>, memref<f32, #tile.shared_cluster>, memref<f32, #tile.param>
// CHECK-SAME: memref<f32, #tile.reg>, memref<f32, #tile.sreg>, memref<f32, #tile.tex>
func.func private @plain(memref<f32, #tile.generic>, memref<f32, #tile.global>, memref<f32, #tile.shared>,
  memref<f32, #tile.const>, memref<f32, #tile.local>, memref<f32, #tile.shared_cluster>, memref<f32, #tile.param>,
  memref<f32, #tile.reg>, memref<f32, #tile.sreg>, memref<f32, #tile.tex>)

// CHECK: @shared(memref<16xf32, #tile.shared>, memref<8x8xf32, #tile.shared<swizzle = 32>>
// CHECK-SAME: memref<8x16xf32, #tile.shared<swizzle = 64>>, memref<8x24xf32, #tile.shared<swizzle = 96>>
// CHECK-SAME: memref<8x32xf32, #tile.shared<swizzle = 128, atom = b32_flip_8>>, memref<8x32xf32, #tile.shared<swizzle = 128, align = 4096>>
func.func private @shared(memref<16xf32, #tile.shared<swizzle = none, atom = 16, align = 0>>,
  memref<8x8xf32, #tile.shared<swizzle = 32>>, memref<8x16xf32, #tile.shared<swizzle = 64>>,
  memref<8x24xf32, #tile.shared<swizzle = 96>>, memref<8x32xf32, #tile.shared<swizzle = 128, atom = b32_flip_8>>,
  memref<8x32xf32, #tile.shared<swizzle = 128, align = 4096>>)

// CHECK: @types(!tile.tensor_map<16x64xf32>, !tile.tensor_map<16x64xf32, fill = nan, l2 = 128>
// CHECK-SAME: memref<2x!tile.mbarrier, #tile.shared>, !tile.in_flight<tensor<64x8xf32, #tile.layout<wgmma_d>>>
func.func private @types(!tile.tensor_map<16x64xf32, swizzle = none, fill = zero>,
  !tile.tensor_map<16x64xf32, l2 = 128, fill = nan>, memref<2x!tile.mbarrier, #tile.shared>,
  !tile.in_flight<tensor<64x8xf32, #tile.layout<wgmma_d>>>)
