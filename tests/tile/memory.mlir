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

// What elements outside are, under what condition vectors go, and for how long lines stay, all at once.
#L = #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [4, 1]>
// CHECK-LABEL: @accesses
// CHECK-SAME: %[[G:.*]]: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %[[I:.*]]: index, %[[YES:.*]]: i1, %[[M:.*]]: tensor<4x128xi1, #{{.*}}>, %[[O:.*]]: tensor<4x128xf32, #{{.*}}>)
func.func private @accesses(%g: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %i: index, %yes: i1, %m: tensor<4x128xi1, #L>, %o: tensor<4x128xf32, #L>) {
  // CHECK: %[[X:.*]] = tile.load %[[G]][%[[I]], %[[I]]] mask %[[M]] : tensor<4x128xi1, #{{.*}}> pass_thru %[[O]] : tensor<4x128xf32, #{{.*}}> vector_if %[[YES]] cache evict_last {vector = 4 : i64} : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<4x128xf32, #{{.*}}>
  %x = tile.load %g[%i, %i] mask %m : tensor<4x128xi1, #L> pass_thru %o : tensor<4x128xf32, #L> vector_if %yes cache evict_last {vector = 4 : i64} : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<4x128xf32, #L>
  // CHECK: tile.load %[[G]][%[[I]], %[[I]]] vector_if %[[YES]] {vector = 2 : i64} : memref
  %y = tile.load %g[%i, %i] vector_if %yes {vector = 2 : i64} : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<4x128xf32, #L>
  // CHECK: tile.store %[[X]], %[[G]][%[[I]], %[[I]]] mask %[[M]] : tensor<4x128xi1, #{{.*}}> vector_if %[[YES]] cache evict_first {vector = 4 : i64} : tensor<4x128xf32, #{{.*}}>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
  tile.store %x, %g[%i, %i] mask %m : tensor<4x128xi1, #L> vector_if %yes cache evict_first {vector = 4 : i64} : tensor<4x128xf32, #L>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
  return
}
