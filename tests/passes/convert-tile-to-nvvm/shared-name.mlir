// The block's shared memory has a name of its own where a kernel has taken the usual one.
// RUN: girih-opt %s -tile-set-target -tile-allocate-shared -convert-tile-to-nvvm | FileCheck %s
// RUN: girih run %s --device sim --arg y=zeros:i32[32] --check y=iota:i32[32]

// CHECK: llvm.mlir.global external @shared_memory_()
// CHECK: llvm.func @shared_memory(
// CHECK: llvm.mlir.addressof @shared_memory_ : !llvm.ptr<3>
tile.kernel @shared_memory(%y: memref<32xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %m = tile.alloc : memref<32xi32, #tile.shared>
  %t = tile.thread_id
  %i = arith.index_cast %t : index to i32
  memref.store %i, %m[%t] : memref<32xi32, #tile.shared>
  %v = memref.load %m[%t] : memref<32xi32, #tile.shared>
  memref.store %v, %y[%t] : memref<32xi32, #tile.global>
}
