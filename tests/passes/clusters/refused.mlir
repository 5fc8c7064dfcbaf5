// Elements of another block's memory are reached where nothing permutes them.
// RUN: not girih-opt %s -tile-set-target -tile-allocate-shared -convert-tile-to-nvvm 2>&1 | FileCheck %s

// CHECK: error: {{.*}}reaches elements of another block's memory that has swizzle 128; copy it with tile.bulk.send and read the copy, or leave the swizzle out
tile.kernel @k(%C: memref<32xf32, #tile.global>) threads(32) cluster(2, 1, 1) launch {
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  tile.grid %c2, %c1, %c1
} body {
  %one = arith.constant 1 : i32
  %t = tile.thread_id
  %m = tile.alloc : memref<8x32xf32, #tile.shared<swizzle = 128>>
  %there = tile.remote %m, %one : memref<8x32xf32, #tile.shared<swizzle = 128>> -> memref<8x32xf32, #tile.shared_cluster>
  %v = memref.load %there[%t, %t] : memref<8x32xf32, #tile.shared_cluster>
  memref.store %v, %C[%t] : memref<32xf32, #tile.global>
}
