// Vectors that go to shared memory: as many elements at once as lie there together and are known to be aligned. A reference
// on the host keeps its vectors.
// RUN: girih-opt %s -tile-set-target -tile-allocate-shared -convert-tile-to-nvvm -canonicalize | FileCheck %s
// RUN: girih run %s --kernel shifted --device sim --check-memory --arg X=iota:f32[35] --arg Y=zeros:f32[32,4]

// Runs start anywhere in rows that a swizzle permutes: each element goes where its own granule lies.
// CHECK-LABEL: func.func @shifted_ref
// CHECK: vector.load
// CHECK: vector.store
!rows = memref<32x32xf32, #tile.shared<swizzle = 128>>
func.func @shifted_ref(%X: memref<35xf32>, %Y: memref<32x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.for %t = %c0 to %c32 step %c1 {
    %v = vector.load %X[%t] : memref<35xf32>, vector<4xf32>
    vector.store %v, %Y[%t, %c0] : memref<32x4xf32>, vector<4xf32>
  }
  return
}

// CHECK-LABEL: llvm.func @shifted(
// CHECK-COUNT-4: llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<3>
tile.kernel @shifted(%X: memref<35xf32, #tile.global>, %Y: memref<32x4xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c29 = arith.constant 29 : index
  %m = tile.alloc : !rows
  %t = tile.thread_id
  %t1 = arith.addi %t, %c1 : index
  %t2 = arith.addi %t, %c2 : index
  %t3 = arith.addi %t, %c3 : index
  %x0 = memref.load %X[%t] : memref<35xf32, #tile.global>
  %x1 = memref.load %X[%t1] : memref<35xf32, #tile.global>
  %x2 = memref.load %X[%t2] : memref<35xf32, #tile.global>
  %x3 = memref.load %X[%t3] : memref<35xf32, #tile.global>
  %v = vector.from_elements %x0, %x1, %x2, %x3 : vector<4xf32>
  %at = arith.remui %t, %c29 : index
  vector.store %v, %m[%t, %at] : !rows, vector<4xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    %column = arith.addi %at, %i : index
    %x = memref.load %m[%t, %column] : !rows
    memref.store %x, %Y[%t, %i] : memref<32x4xf32, #tile.global>
  }
}

// Two granules of 16 bytes, two of 8, and one of the whole vector without a swizzle, as aligned as its start is.
// CHECK-LABEL: llvm.func @wide(
// CHECK-COUNT-2: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK-COUNT-2: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK: llvm.store %{{.*}} {alignment = 8 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK: llvm.store %{{.*}} {alignment = 1 : i64} : vector<2xi8>, !llvm.ptr<3>
tile.kernel @wide(%x: f32, %n: i32) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0 : i32
  %swizzled = tile.alloc : !rows
  %flipped = tile.alloc : memref<32x32xf32, #tile.shared<swizzle = 128, atom = b32_flip_8>>
  %plain = tile.alloc : memref<128xf32, #tile.shared>
  %truths = tile.alloc : memref<64xi1, #tile.shared>
  %t = tile.thread_id
  %eight = vector.broadcast %x : f32 to vector<8xf32>
  %four = vector.broadcast %x : f32 to vector<4xf32>
  vector.store %eight, %swizzled[%t, %c0] : !rows, vector<8xf32>
  vector.store %four, %flipped[%t, %c0] : memref<32x32xf32, #tile.shared<swizzle = 128, atom = b32_flip_8>>, vector<4xf32>
  vector.store %four, %plain[%t] : memref<128xf32, #tile.shared>, vector<4xf32>
  %even = arith.muli %t, %c2 : index
  vector.store %four, %plain[%even] : memref<128xf32, #tile.shared>, vector<4xf32>
  %p = arith.cmpi eq, %n, %zero : i32
  %q = arith.cmpi sgt, %n, %zero : i32
  %both = vector.from_elements %p, %q : vector<2xi1>
  vector.store %both, %truths[%t] : memref<64xi1, #tile.shared>, vector<2xi1>
}
