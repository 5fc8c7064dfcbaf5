// How many neighbours each access moves: a kernel asks once for what is not known.
// RUN: girih-opt %s -tile-vectorize-accesses -split-input-file | FileCheck %s
// RUN: girih-opt %s -tile-vectorize-accesses=guard=false -split-input-file | FileCheck %s --check-prefix=PLAIN
// PLAIN-NOT: tile.is_aligned

// The index is a multiple of 64, so that 16 bytes go together if rows start at multiples of them.
// CHECK-LABEL: tile.kernel @rows
// CHECK: %[[A:.*]] = tile.is_aligned %A axis 1 by 8
// CHECK: %[[B:.*]] = tile.is_aligned %B axis 1 by 8
// CHECK: %[[BOTH:.*]] = arith.andi %[[A]], %[[B]] : i1
// CHECK: scf.if %[[BOTH]] {
// CHECK: tile.load %A[%{{.*}}] {vector = 8 : i64}
// CHECK: tile.store %{{.*}}, %B[%{{.*}}] {vector = 8 : i64}
// CHECK: } else {
// CHECK: tile.load %A
// CHECK-NOT: vector
// CHECK: tile.store %{{.*}}, %B
// CHECK-NOT: vector
tile.kernel @rows(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %block = tile.block_id x
  %j = arith.muli %block, %c64 : index
  %x = tile.load %A[%c0, %j] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<4x64xbf16, #tile.blocked<per_thread = [1, 8], lanes = [4, 8], warps = [1, 1]>>
  tile.store %x, %B[%c0, %j] : tensor<4x64xbf16, #tile.blocked<per_thread = [1, 8], lanes = [4, 8], warps = [1, 1]>>, memref<?x?xbf16, strided<[?, 1]>, #tile.global>
}

// -----

// Nothing is known of the index, or nothing lies side by side: one by one.
// CHECK-LABEL: tile.kernel @anywhere
// CHECK-NOT: vector
tile.kernel @anywhere(%A: memref<?x?xbf16, strided<[?, ?]>, #tile.global>, %B: memref<?xbf16, #tile.global>, %n: i64) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : memref<?x?xbf16, strided<[?, ?]>, #tile.global> -> tensor<4x64xbf16, #tile.blocked<per_thread = [1, 8], lanes = [4, 8], warps = [1, 1]>>
  %i = arith.index_cast %n : i64 to index
  %y = tile.load %B[%i] : memref<?xbf16, #tile.global> -> tensor<256xbf16, #tile.blocked<per_thread = [8], lanes = [32], warps = [1]>>
}

// -----

// Shared memory is the block's, once: what comes before the first access is not made twice.
// CHECK-LABEL: tile.kernel @shared
// CHECK: %[[X:.*]] = tile.alloc
// CHECK-NOT: tile.alloc
// CHECK: tile.is_aligned
// CHECK: scf.if
// CHECK: memref.load %[[X]]
// CHECK: } else {
// CHECK: memref.load %[[X]]
tile.kernel @shared(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %Y: memref<?xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %s = tile.alloc : memref<64xf32, #tile.shared>
  %x = tile.load %A[%c0, %c0] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<4x64xbf16, #tile.blocked<per_thread = [1, 8], lanes = [4, 8], warps = [1, 1]>>
  tile.store %x, %A[%c0, %c0] : tensor<4x64xbf16, #tile.blocked<per_thread = [1, 8], lanes = [4, 8], warps = [1, 1]>>, memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %y = memref.load %s[%c0] : memref<64xf32, #tile.shared>
  memref.store %y, %Y[%c0] : memref<?xf32, #tile.global>
}
