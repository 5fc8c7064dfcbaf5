// Shared allocations, slabs, fragments: in the form that is printed, the generic one and bytecode.
// RUN: girih-opt %s | FileCheck %s
// RUN: girih-opt %s --mlir-print-op-generic | girih-opt | FileCheck %s
// RUN: girih-opt %s --emit-bytecode | girih-opt | FileCheck %s

// CHECK-LABEL: @memory
// CHECK-SAME: %[[G:.*]]: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %[[I:.*]]: index
func.func private @memory(%g: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %i: index) {
  // CHECK: %[[RING:.*]] = tile.alloc : memref<4x64x64xbf16, #tile.shared<swizzle = 128>>
  %ring = tile.alloc : memref<4x64x64xbf16, #tile.shared<swizzle = 128>>
  // CHECK: tile.alloc ordered : memref<64xf32, #tile.shared>
  %own_order = tile.alloc ordered : memref<64xf32, #tile.shared>
  // CHECK: tile.alloc {offset = 32768 : i64} : memref<2x!tile.mbarrier, #tile.shared>
  %bars = tile.alloc {offset = 32768 : i64} : memref<2x!tile.mbarrier, #tile.shared>
  // CHECK: tile.slab %[[RING]][%[[I]]] : memref<4x64x64xbf16, #tile.shared<swizzle = 128>> -> memref<64x64xbf16, #tile.shared<swizzle = 128>>
  %slot = tile.slab %ring[%i] : memref<4x64x64xbf16, #tile.shared<swizzle = 128>> -> memref<64x64xbf16, #tile.shared<swizzle = 128>>
  // CHECK: %[[S:.*]] = tile.alloc : memref<64x128xf32, #tile.shared<align = 1024>>
  %s = tile.alloc : memref<64x128xf32, #tile.shared<align = 1024>>
  // CHECK: %[[V:.*]] = tile.load %[[S]][%[[I]], %[[I]]] : memref<64x128xf32, #tile.shared<align = 1024>> -> tensor<64x128xf32, #tile.layout<wgmma_d>>
  %v = tile.load %s[%i, %i] : memref<64x128xf32, #tile.shared<align = 1024>> -> tensor<64x128xf32, #tile.layout<wgmma_d>>
  // CHECK: tile.store %[[V]], %[[G]][%[[I]], %[[I]]] : tensor<64x128xf32, #tile.layout<wgmma_d>>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
  tile.store %v, %g[%i, %i] : tensor<64x128xf32, #tile.layout<wgmma_d>>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
  return
}
