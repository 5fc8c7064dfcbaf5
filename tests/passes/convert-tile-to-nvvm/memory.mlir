// Addresses: shared allocations and parts of them, single elements, and the permutation of every swizzle.
// RUN: girih-opt %s -tile-set-target -tile-allocate-shared -convert-tile-to-nvvm -canonicalize -split-input-file | FileCheck %s

// Sizes and strides in elements, i64; the axis of stride 1 comes first, so that rows have a column in common.
// CHECK-LABEL: llvm.func @global(
// CHECK-SAME: %[[A:[^:]*]]: !llvm.ptr<1> {{[{][^}]*[}]}}, %[[M:[^:]*]]: i64 {{[{][^}]*[}]}}, %[[N:[^:]*]]: i64 {{[{][^}]*[}]}}, %[[S:[^:]*]]: i64
tile.kernel @global(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %C: memref<?xi64, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[T:.*]] = arith.index_cast %{{.*}} : index to i64
  %t = tile.thread_id
  // CHECK: %[[COLUMN:.*]] = arith.muli %{{.*}}, %c4_i64 : i64
  // CHECK: %[[IN_ROW:.*]] = llvm.getelementptr %[[A]][%[[COLUMN]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  // CHECK: %[[ROW_BYTES:.*]] = arith.muli %[[S]], %c4_i64 : i64
  // CHECK: %[[ROW:.*]] = arith.muli %[[T]], %[[ROW_BYTES]] : i64
  // CHECK: %[[P:.*]] = llvm.getelementptr %[[IN_ROW]][%[[ROW]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  // CHECK: %[[V:.*]] = llvm.load %[[P]] {alignment = 4 : i64} : !llvm.ptr<1> -> f32
  %v = memref.load %A[%t, %t] : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  // CHECK: llvm.store %[[V]], %[[A]] {alignment = 4 : i64} : f32, !llvm.ptr<1>
  memref.store %v, %A[%c0, %c0] : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %m = memref.dim %A, %c0 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %n = memref.dim %A, %c1 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  // CHECK-DAG: %[[IM:.*]] = arith.index_cast %[[M]] : i64 to index
  // CHECK-DAG: %[[IN:.*]] = arith.index_cast %[[N]] : i64 to index
  // CHECK: %[[IP:.*]] = arith.muli %[[IM]], %[[IN]] : index
  // CHECK: %[[P:.*]] = arith.index_cast %[[IP]] : index to i64
  %p = arith.muli %m, %n : index
  %i = arith.index_cast %p : index to i64
  // CHECK: llvm.store %[[P]], %{{.*}} {alignment = 8 : i64} : i64, !llvm.ptr<1>
  memref.store %i, %C[%c0] : memref<?xi64, #tile.global>
}

// -----

// A buffer is an offset into the block's shared memory, a slab a multiple of its bytes; 8-bit floats are bytes.
// CHECK-LABEL: llvm.func @plain_shared(
tile.kernel @plain_shared() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // CHECK-DAG: %[[C512:.*]] = arith.constant 512 : i32
  // CHECK-DAG: %[[C16:.*]] = arith.constant 16 : i32
  // CHECK: %[[BASE:.*]] = llvm.mlir.addressof @shared_memory : !llvm.ptr<3>
  %first = tile.alloc : memref<1024xf32, #tile.shared>
  // CHECK: %[[RING:.*]] = llvm.getelementptr %[[BASE]][4096] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %ring = tile.alloc : memref<4x32x16xf8E4M3FN, #tile.shared>
  // CHECK: nvvm.read.ptx.sreg.tid.x
  // CHECK: %[[T:.*]] = arith.index_cast %{{.*}} : index to i32
  %t = tile.thread_id
  // CHECK: %[[AT:.*]] = arith.muli %[[T]], %[[C512]] : i32
  // CHECK: %[[SLOT:.*]] = llvm.getelementptr %[[RING]][%[[AT]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  %slot = tile.slab %ring[%t] : memref<4x32x16xf8E4M3FN, #tile.shared> -> memref<32x16xf8E4M3FN, #tile.shared>
  // CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %[[C16]] : i32
  // CHECK: %[[OFFSET:.*]] = arith.addi %[[ROW]], %{{.*}} : i32
  // CHECK: %[[P:.*]] = llvm.getelementptr %[[SLOT]][%[[OFFSET]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  // CHECK: %[[V:.*]] = llvm.load %[[P]] {alignment = 1 : i64} : !llvm.ptr<3> -> i8
  // CHECK: llvm.store %[[V]], %{{.*}} {alignment = 1 : i64} : i8, !llvm.ptr<3>
  %v = memref.load %slot[%t, %t] : memref<32x16xf8E4M3FN, #tile.shared>
  %c0 = arith.constant 0 : index
  memref.store %v, %slot[%c0, %t] : memref<32x16xf8E4M3FN, #tile.shared>
}

// -----

// address ^ ((address >> shift) & mask), on the absolute address.
// CHECK-LABEL: llvm.func @swizzles(
// CHECK-DAG: %[[SHIFT3:.*]] = arith.constant 3 : i32
// CHECK-DAG: %[[SHIFT2:.*]] = arith.constant 2 : i32
// CHECK-DAG: %[[SHIFT4:.*]] = arith.constant 4 : i32
// CHECK-DAG: %[[SHIFT1:.*]] = arith.constant 1 : i32
// CHECK-DAG: %[[M10:.*]] = arith.constant 16 : i32
// CHECK-DAG: %[[M30:.*]] = arith.constant 48 : i32
// CHECK-DAG: %[[M70:.*]] = arith.constant 112 : i32
// CHECK-DAG: %[[M60:.*]] = arith.constant 96 : i32
// CHECK-DAG: %[[M40:.*]] = arith.constant 64 : i32
// CHECK-DAG: %[[M08:.*]] = arith.constant 8 : i32
tile.kernel @swizzles() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %t = tile.thread_id
  %zero = arith.constant 0.0 : f32
  %s32 = tile.alloc : memref<64x8xf32, #tile.shared<swizzle = 32>>
  %s64 = tile.alloc : memref<64x16xf32, #tile.shared<swizzle = 64>>
  %s128 = tile.alloc : memref<64x32xf32, #tile.shared<swizzle = 128>>
  %atom32 = tile.alloc : memref<64x32xf32, #tile.shared<swizzle = 128, atom = 32>>
  %flip = tile.alloc : memref<64x32xf32, #tile.shared<swizzle = 128, atom = b32_flip_8>>
  %atom64 = tile.alloc : memref<64x32xf32, #tile.shared<swizzle = 128, atom = 64>>
  // A memref starts at a period of its swizzle, so that offsets are permuted as addresses are.
  // CHECK: %[[A:.*]] = arith.muli %[[ROW:.*]], %{{.*}} : i32
  // CHECK-NEXT: %[[B:.*]] = arith.shrui %[[A]], %[[SHIFT3]] : i32
  // CHECK-NEXT: %[[C:.*]] = arith.andi %[[B]], %[[M10]] : i32
  // CHECK-NEXT: %[[D:.*]] = arith.xori %[[A]], %[[C]] : i32
  // CHECK-NEXT: %[[P:.*]] = llvm.getelementptr %{{.*}}[%[[D]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  // CHECK-NEXT: llvm.store %{{.*}}, %[[P]] {alignment = 4 : i64} : f32, !llvm.ptr<3>
  memref.store %zero, %s32[%t, %c0] : memref<64x8xf32, #tile.shared<swizzle = 32>>
  // CHECK: arith.shrui %{{.*}}, %[[SHIFT3]] : i32
  // CHECK-NEXT: arith.andi %{{.*}}, %[[M30]] : i32
  // CHECK: llvm.store
  memref.store %zero, %s64[%t, %c0] : memref<64x16xf32, #tile.shared<swizzle = 64>>
  // CHECK: arith.shrui %{{.*}}, %[[SHIFT3]] : i32
  // CHECK-NEXT: arith.andi %{{.*}}, %[[M70]] : i32
  // CHECK: llvm.store
  memref.store %zero, %s128[%t, %c0] : memref<64x32xf32, #tile.shared<swizzle = 128>>
  // CHECK: arith.shrui %{{.*}}, %[[SHIFT2]] : i32
  // CHECK-NEXT: arith.andi %{{.*}}, %[[M60]] : i32
  // CHECK: llvm.store
  memref.store %zero, %atom32[%t, %c0] : memref<64x32xf32, #tile.shared<swizzle = 128, atom = 32>>
  // Both parts come from the offset before the swizzle.
  // CHECK: %[[B:.*]] = arith.shrui %[[A:.*]], %[[SHIFT2]] : i32
  // CHECK-NEXT: %[[C:.*]] = arith.andi %[[B]], %[[M60]] : i32
  // CHECK-NEXT: %[[D:.*]] = arith.xori %[[A]], %[[C]] : i32
  // CHECK-NEXT: %[[E:.*]] = arith.shrui %[[A]], %[[SHIFT4]] : i32
  // CHECK-NEXT: %[[F:.*]] = arith.andi %[[E]], %[[M08]] : i32
  // CHECK-NEXT: arith.xori %[[D]], %[[F]] : i32
  // CHECK: llvm.store
  memref.store %zero, %flip[%t, %c0] : memref<64x32xf32, #tile.shared<swizzle = 128, atom = b32_flip_8>>
  // CHECK: arith.shrui %{{.*}}, %[[SHIFT1]] : i32
  // CHECK-NEXT: arith.andi %{{.*}}, %[[M40]] : i32
  // CHECK: llvm.store
  memref.store %zero, %atom64[%t, %c0] : memref<64x32xf32, #tile.shared<swizzle = 128, atom = 64>>
}

// -----

// Eight rows are a period of the swizzle: what counts them is added behind the permutation.
// CHECK-LABEL: llvm.func @periods(
// CHECK-DAG: %[[SHIFT:.*]] = arith.constant 3 : i32
// CHECK-DAG: %[[ROW:.*]] = arith.constant 128 : i32
// CHECK-DAG: %[[MASK:.*]] = arith.constant 112 : i32
tile.kernel @periods(%n: i32) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %t = tile.thread_id
  %i = arith.index_cast %n : i32 to index
  %far = arith.muli %i, %c8 : index
  %row = arith.addi %t, %far : index
  %zero = arith.constant 0.0 : f32
  %m = tile.alloc : memref<64x32xf32, #tile.shared<swizzle = 128>>
  // CHECK: %[[T:.*]] = arith.index_cast %{{.*}} : index to i32
  // CHECK-NEXT: %[[NEAR:.*]] = arith.muli %[[T]], %[[ROW]] : i32
  // CHECK-NEXT: %[[F:.*]] = arith.index_cast %{{.*}} : index to i32
  // CHECK-NEXT: %[[FAR:.*]] = arith.muli %[[F]], %[[ROW]] : i32
  // CHECK-NEXT: %[[S:.*]] = arith.shrui %[[NEAR]], %[[SHIFT]] : i32
  // CHECK-NEXT: %[[B:.*]] = arith.andi %[[S]], %[[MASK]] : i32
  // CHECK-NEXT: %[[X:.*]] = arith.xori %[[NEAR]], %[[B]] : i32
  // CHECK-NEXT: %[[P:.*]] = llvm.getelementptr %{{.*}}[%[[X]]]
  // CHECK-NEXT: %[[Q:.*]] = llvm.getelementptr %[[P]][%[[FAR]]]
  // CHECK-NEXT: llvm.store %{{.*}}, %[[Q]]
  memref.store %zero, %m[%row, %c0] : memref<64x32xf32, #tile.shared<swizzle = 128>>
}
