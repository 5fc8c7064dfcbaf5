// Results of products go in pieces of columns.
// RUN: girih-opt %s -tile-split-epilogues -split-input-file | FileCheck %s
// RUN: girih-opt %s -tile-split-epilogues -tile-expand-mma -canonicalize -cse -tile-assign-layouts -tile-allocate-scratch -tile-insert-sync -split-input-file 2>/dev/null | FileCheck %s --check-prefix=LOWER

!a = memref<2x1x64x64xbf16, #tile.shared<swizzle = 128>>
!b = memref<1x1x128x64xbf16, #tile.shared<swizzle = 128>>
!c = memref<?x?xbf16, strided<[?, 1]>, #tile.global>

// Where rows are multiples of 16 bytes, in lines; elsewhere as it was.
// CHECK-LABEL: tile.kernel @convert
// CHECK: %[[SUM:.*]] = tile.mma
// CHECK: %[[OUT:.*]] = arith.truncf %[[SUM]]
// CHECK: %[[LINES:.*]] = tile.is_aligned %C axis 1 by 8 :
// CHECK: scf.if %[[LINES]] {
// CHECK: %[[S0:.*]] = tile.extract_slice %[[SUM]] at [0, 0] : tensor<128x128xf32> -> tensor<128x64xf32>
// CHECK: %[[P0:.*]] = arith.truncf %[[S0]] : tensor<128x64xf32> to tensor<128x64xbf16>
// CHECK: %[[L0:.*]] = tile.convert_layout %[[P0]] : tensor<128x64xbf16> -> tensor<128x64xbf16, #tile.blocked<per_thread = [4, 8], lanes = [4, 8], warps = [8, 1]>>
// CHECK: tile.store %[[L0]], %C[%c0{{.*}}, %c0{{.*}}] {vector = 8 : i64}
// CHECK: tile.extract_slice %[[SUM]] at [0, 64]
// CHECK: tile.store %{{.*}}, %C[%c0{{.*}}, %{{.*}}] {vector = 8 : i64}
// CHECK: } else {
// CHECK: tile.store %[[OUT]], %C

// The lanes of a warp exchange, and no barrier is needed.
// LOWER-LABEL: tile.kernel @convert
// LOWER: tile.extract_slice {{.*}} : tensor<64x128xf32, #tile.layout<wgmma_d>> -> tensor<64x64xf32, #tile.layout<wgmma_d>>
// LOWER-NOT: {{tile.barrier|tile.warp_sync}}
// LOWER: tile.convert_layout {{.*}} within_warps scratch %[[SCRATCH:.*]] : memref<16384xi8, #tile.shared>
// LOWER-NOT: tile.barrier
// LOWER: tile.warp_sync
// LOWER-NEXT: tile.convert_layout {{.*}} within_warps scratch %[[SCRATCH]] : memref<16384xi8, #tile.shared>
// LOWER-LABEL: tile.kernel @known
tile.kernel @convert(%C: !c) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %a = tile.alloc : !a
  %b = tile.alloc : !b
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = tile.mma %a, %b, %zero : !a, !b, tensor<128x128xf32>
  %out = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xbf16>
  tile.store %out, %C[%c0, %c0] : tensor<128x128xbf16>, !c
}

// -----

// What attributes say is not asked. A residual comes the same way, at the place of its piece.
!a = memref<2x1x64x64xbf16, #tile.shared<swizzle = 128>>
!b = memref<1x1x128x64xbf16, #tile.shared<swizzle = 128>>
!c = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
// CHECK-LABEL: tile.kernel @known
// CHECK-NOT: tile.is_aligned
// CHECK-NOT: scf.if
// CHECK-NOT: tensor<128x128xbf16>
// CHECK: tile.load %R[%c0{{.*}}, %c0{{.*}}] {vector = 8 : i64} {{.*}} -> tensor<128x64xbf16, #[[L:.*]]>
// CHECK: tile.convert_layout {{.*}} -> tensor<128x64xbf16>
// CHECK: tile.store {{.*}} {vector = 8 : i64}
// CHECK: tile.load %R{{.*}} {vector = 8 : i64}
// CHECK: tile.store
tile.kernel @known(%R: !c {tile.aligned = 16, tile.divisible = [1, 8]}, %C: !c {tile.aligned = 16, tile.divisible = [1, 8]}) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %a = tile.alloc : !a
  %b = tile.alloc : !b
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %r = tile.load %R[%c0, %c0] : !c -> tensor<128x128xbf16>
  %sum = tile.mma %a, %b, %zero : !a, !b, tensor<128x128xf32>
  %wide = arith.extf %r : tensor<128x128xbf16> to tensor<128x128xf32>
  %all = arith.addf %sum, %wide : tensor<128x128xf32>
  %out = arith.truncf %all : tensor<128x128xf32> to tensor<128x128xbf16>
  tile.store %out, %C[%c0, %c0] : tensor<128x128xbf16>, !c
}

// -----

// f32 fills its sectors: pieces alone, where there is much to compute, and nothing at all where there is not.
!a = memref<2x1x64x64xbf16, #tile.shared<swizzle = 128>>
!b = memref<1x1x128x64xbf16, #tile.shared<swizzle = 128>>
!c = memref<?x?xf32, strided<[?, 1]>, #tile.global>
// CHECK-LABEL: tile.kernel @wide
// CHECK-NOT: tile.is_aligned
// CHECK: tile.load %C[{{.*}}] : {{.*}} -> tensor<128x64xf32>
// CHECK: tile.store {{.*}}, %C[{{.*}}] : tensor<128x64xf32>
// CHECK: tile.load %C
// CHECK: tile.store {{.*}}, %C
// CHECK: tile.store {{.*}}, %D[{{.*}}] : tensor<128x128xf32>
tile.kernel @wide(%C: !c, %D: !c) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %a = tile.alloc : !a
  %b = tile.alloc : !b
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = tile.mma %a, %b, %zero : !a, !b, tensor<128x128xf32>
  %old = tile.load %C[%c0, %c0] : !c -> tensor<128x128xf32>
  %all = arith.addf %sum, %old : tensor<128x128xf32>
  tile.store %all, %C[%c0, %c0] : tensor<128x128xf32>, !c
  tile.barrier
  tile.store %sum, %D[%c0, %c0] : tensor<128x128xf32>, !c
}

// -----

// A tile that is loaded from where another piece may have been stored is loaded before.
!a = memref<2x1x64x64xbf16, #tile.shared<swizzle = 128>>
!b = memref<1x1x128x64xbf16, #tile.shared<swizzle = 128>>
!c = memref<?x?xf32, strided<[?, 1]>, #tile.global>
// CHECK-LABEL: tile.kernel @elsewhere
// CHECK: %[[OLD:.*]] = tile.load %C[%c0{{.*}}, %c64{{.*}}] : {{.*}} -> tensor<128x128xf32>
// CHECK-NOT: tile.load
// CHECK: tile.store {{.*}}, %C[%c0{{.*}}, %c0{{.*}}]
tile.kernel @elsewhere(%C: !c) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %a = tile.alloc : !a
  %b = tile.alloc : !b
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = tile.mma %a, %b, %zero : !a, !b, tensor<128x128xf32>
  %old = tile.load %C[%c0, %c64] : !c -> tensor<128x128xf32>
  %all = arith.addf %sum, %old : tensor<128x128xf32>
  tile.store %all, %C[%c0, %c0] : tensor<128x128xf32>, !c
}

// -----

// What a store may have written is not loaded in pieces between others: C is read after it was stored, through another memref.
!a = memref<2x1x64x64xbf16, #tile.shared<swizzle = 128>>
!b = memref<1x1x128x64xbf16, #tile.shared<swizzle = 128>>
!c = memref<256x128xbf16, #tile.global>
!d = memref<256x128xbf16, #tile.global>
!upper = memref<128x128xbf16, strided<[128, 1]>, #tile.global>
// CHECK-LABEL: tile.kernel @read_again
// CHECK: tile.store {{.*}}, %C[{{.*}}] {vector = 8 : i64}
// CHECK: tile.store {{.*}}, %C[{{.*}}] {vector = 8 : i64}
// CHECK: %[[AGAIN:.*]] = tile.load %C[%c0{{.*}}, %c0{{.*}}]
// CHECK: tile.store {{.*}}, %D
tile.kernel @read_again(%C: !c, %D: !d) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %a = tile.alloc : !a
  %b = tile.alloc : !b
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = tile.mma %a, %b, %zero : !a, !b, tensor<128x128xf32>
  %out = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xbf16>
  tile.store %out, %C[%c0, %c0] : tensor<128x128xbf16>, !c
  %old = tile.load %C[%c0, %c0] : !c -> tensor<128x128xbf16>
  %all = arith.addf %out, %old : tensor<128x128xbf16>
  tile.store %all, %D[%c0, %c0] : tensor<128x128xbf16>, !d
}

// CHECK-LABEL: tile.kernel @read_through_view
// CHECK: tile.store {{.*}}, %C[{{.*}}] {vector = 8 : i64}
// CHECK: tile.store {{.*}}, %C[{{.*}}] {vector = 8 : i64}
// CHECK: tile.load %[[VIEW:[^%]*]][%c0{{.*}}, %c0{{.*}}]
// CHECK: tile.store {{.*}}, %D
tile.kernel @read_through_view(%C: !c, %D: !d) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %view = memref.subview %C[0, 0] [128, 128] [1, 1] : !c to !upper
  %a = tile.alloc : !a
  %b = tile.alloc : !b
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = tile.mma %a, %b, %zero : !a, !b, tensor<128x128xf32>
  %out = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xbf16>
  tile.store %out, %C[%c0, %c0] : tensor<128x128xbf16>, !c
  %old = tile.load %view[%c0, %c0] : !upper -> tensor<128x128xbf16>
  %all = arith.addf %out, %old : tensor<128x128xbf16>
  tile.store %all, %D[%c0, %c0] : tensor<128x128xbf16>, !d
}
