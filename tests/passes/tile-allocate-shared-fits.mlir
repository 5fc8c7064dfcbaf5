// Two phases of 128 KiB each in a block that has 227: they fit since they share bytes, and nothing is found.
// RUN: girih run %s --device sim --check-memory --arg X=randn:f32[32768] --arg Y=poison:f32[32768] --arg Z=poison:f32[32768] | FileCheck %s
// CHECK: right: Y: all 32768 elements are exact
// CHECK: right: Z: all 32768 elements are exact
// CHECK: no findings
// RUN: not girih-opt %s --tile-allocate-shared=reuse=false 2>&1 | FileCheck %s --check-prefix=APART
// APART: error: 'tile.kernel' op needs 262144 bytes of shared memory, but a block on sm_90a has at most 232448; use fewer or smaller buffers

module attributes {tile.target = "sm_90a"} {

tile.kernel @phases(%X: memref<32768xf32, #tile.global>, %Y: memref<32768xf32, #tile.global>, %Z: memref<32768xf32, #tile.global>) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %c32767 = arith.constant 32767 : index
  %c32768 = arith.constant 32768 : index
  %t = tile.thread_id
  %a = tile.alloc : memref<32768xf32, #tile.shared>
  %b = tile.alloc : memref<32768xf32, #tile.shared>
  // Reversed through one buffer, then doubled and reversed through the other.
  scf.for %i = %t to %c32768 step %c256 {
    %x = memref.load %X[%i] : memref<32768xf32, #tile.global>
    memref.store %x, %a[%i] : memref<32768xf32, #tile.shared>
  }
  tile.barrier
  scf.for %i = %t to %c32768 step %c256 {
    %from = arith.subi %c32767, %i : index
    %x = memref.load %a[%from] : memref<32768xf32, #tile.shared>
    memref.store %x, %Y[%i] : memref<32768xf32, #tile.global>
  }
  tile.barrier
  scf.for %i = %t to %c32768 step %c256 {
    %x = memref.load %X[%i] : memref<32768xf32, #tile.global>
    %twice = arith.addf %x, %x : f32
    memref.store %twice, %b[%i] : memref<32768xf32, #tile.shared>
  }
  tile.barrier
  scf.for %i = %t to %c32768 step %c256 {
    %from = arith.subi %c32767, %i : index
    %x = memref.load %b[%from] : memref<32768xf32, #tile.shared>
    memref.store %x, %Z[%i] : memref<32768xf32, #tile.global>
  }
}

func.func @phases_ref(%X: memref<32768xf32>, %Y: memref<32768xf32>, %Z: memref<32768xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32767 = arith.constant 32767 : index
  %c32768 = arith.constant 32768 : index
  scf.for %i = %c0 to %c32768 step %c1 {
    %from = arith.subi %c32767, %i : index
    %x = memref.load %X[%from] : memref<32768xf32>
    %twice = arith.addf %x, %x : f32
    memref.store %x, %Y[%i] : memref<32768xf32>
    memref.store %twice, %Z[%i] : memref<32768xf32>
  }
  return
}

}
