// Tensor copies, 1 to 5 dimensions: in the form that is printed, the generic one and bytecode.
// RUN: girih-opt %s | FileCheck %s
// RUN: girih-opt %s --mlir-print-op-generic | girih-opt | FileCheck %s
// RUN: girih-opt %s --emit-bytecode | girih-opt | FileCheck %s

// CHECK-LABEL: @loads
func.func private @loads(
    %map1: !tile.tensor_map<64xf32>,
    %map2: !tile.tensor_map<64x64xf16, swizzle = 128>,
    %map3: !tile.tensor_map<2x8x16xf32, swizzle = 64>,
    %map5: !tile.tensor_map<1x2x4x8x16xi8>,
    %bar: memref<4x!tile.mbarrier, #tile.shared>, %i: index) {
  %m1 = tile.alloc : memref<64xf32, #tile.shared>
  // CHECK: tile.tma.load %{{.*}}[%{{.*}}], %{{.*}}, %{{.*}}[%{{.*}}] : !tile.tensor_map<64xf32>, memref<64xf32, #tile.shared>, memref<4x!tile.mbarrier, #tile.shared>
  tile.tma.load %map1[%i], %m1, %bar[%i] : !tile.tensor_map<64xf32>, memref<64xf32, #tile.shared>, memref<4x!tile.mbarrier, #tile.shared>
  %m2 = tile.alloc : memref<64x64xf16, #tile.shared<swizzle = 128>>
  // CHECK: tile.tma.load %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}, %{{.*}}[%{{.*}}] cache evict_last : !tile.tensor_map<64x64xf16, swizzle = 128>
  tile.tma.load %map2[%i, %i], %m2, %bar[%i] cache evict_last : !tile.tensor_map<64x64xf16, swizzle = 128>, memref<64x64xf16, #tile.shared<swizzle = 128>>, memref<4x!tile.mbarrier, #tile.shared>
  %m3 = tile.alloc : memref<2x8x16xf32, #tile.shared<swizzle = 64>>
  // CHECK: tile.tma.load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}]
  tile.tma.load %map3[%i, %i, %i], %m3, %bar[%i] : !tile.tensor_map<2x8x16xf32, swizzle = 64>, memref<2x8x16xf32, #tile.shared<swizzle = 64>>, memref<4x!tile.mbarrier, #tile.shared>
  %m5 = tile.alloc : memref<1x2x4x8x16xi8, #tile.shared>
  // CHECK: tile.tma.load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}]
  tile.tma.load %map5[%i, %i, %i, %i, %i], %m5, %bar[%i] : !tile.tensor_map<1x2x4x8x16xi8>, memref<1x2x4x8x16xi8, #tile.shared>, memref<4x!tile.mbarrier, #tile.shared>
  return
}

// CHECK-LABEL: @stores
// CHECK-SAME: %[[MAP:.*]]: !tile.tensor_map<64x64xf16, swizzle = 128>, %[[M:.*]]: memref<64x64xf16, #tile.shared<swizzle = 128>>, %[[I:.*]]: index
func.func private @stores(%map: !tile.tensor_map<64x64xf16, swizzle = 128>, %m: memref<64x64xf16, #tile.shared<swizzle = 128>>, %i: index) {
  // CHECK-NEXT: tile.prefetch_tensor_map %[[MAP]] : !tile.tensor_map<64x64xf16, swizzle = 128>
  tile.prefetch_tensor_map %map : !tile.tensor_map<64x64xf16, swizzle = 128>
  // CHECK-NEXT: tile.tma.store %[[M]], %[[MAP]][%[[I]], %[[I]]] : memref<64x64xf16, #tile.shared<swizzle = 128>>, !tile.tensor_map<64x64xf16, swizzle = 128>
  tile.tma.store %m, %map[%i, %i] : memref<64x64xf16, #tile.shared<swizzle = 128>>, !tile.tensor_map<64x64xf16, swizzle = 128>
  // CHECK-NEXT: tile.tma.store %[[M]], %[[MAP]][%[[I]], %[[I]]] cache evict_first overwrite : memref
  tile.tma.store %m, %map[%i, %i] cache evict_first overwrite : memref<64x64xf16, #tile.shared<swizzle = 128>>, !tile.tensor_map<64x64xf16, swizzle = 128>
  // CHECK-NEXT: tile.bulk.commit
  tile.bulk.commit
  // CHECK-NEXT: tile.bulk.wait 1 read
  tile.bulk.wait 1 read
  // CHECK-NEXT: tile.bulk.wait 0
  tile.bulk.wait 0
  return
}

// memref.transpose brings the dimension with stride 1 innermost.
// CHECK-LABEL: tile.kernel @column_major
tile.kernel @column_major(%B: memref<?x?xbf16, strided<[1, ?]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  %t = memref.transpose %B (i, j) -> (j, i) : memref<?x?xbf16, strided<[1, ?]>, #tile.global> to memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  // CHECK: tile.tensor_map %{{.*}} : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<128x64xbf16, swizzle = 128, l2 = 256>
  %map = tile.tensor_map %t : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<128x64xbf16, swizzle = 128, l2 = 256>
  tile.grid %c1, %c1, %c1 args(%map : !tile.tensor_map<128x64xbf16, swizzle = 128, l2 = 256>)
} body args(%map: !tile.tensor_map<128x64xbf16, swizzle = 128, l2 = 256>) {
}
