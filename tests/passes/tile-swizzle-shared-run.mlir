// A transposition in shared memory whose swizzle is left open: right under the swizzle that is chosen, with no findings, and
// with as many ways as the remark says.
// RUN: girih compile %s -o %t.ptx 2>&1 | FileCheck %s --check-prefix=SAID
// SAID: remark: 32-way conflict where the tile is read by columns at line [[#@LINE+23]]; swizzle 128 leaves it at 4-way
// RUN: girih run %s --device sim --check-memory --arg X=randn:f32[32,32] --arg Y=poison:f32[32,32] | FileCheck %s --check-prefix=RIGHT
// RIGHT: right: Y: all 1024 elements are exact
// RIGHT: no findings
// RUN: girih run %s --device sim --report banks --arg X=randn:f32[32,32] --arg Y=poison:f32[32,32] | FileCheck %s --check-prefix=BANKS
// BANKS: 4-way

module attributes {tile.target = "sm_90a"} {

tile.kernel @turn(%X: memref<32x32xf32, #tile.global>, %Y: memref<32x32xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %t = tile.thread_id
  %m = tile.alloc : memref<32x32xf32, #tile.shared<swizzle = auto>>
  scf.for %i = %c0 to %c32 step %c1 {
    %x = memref.load %X[%i, %t] : memref<32x32xf32, #tile.global>
    memref.store %x, %m[%i, %t] : memref<32x32xf32, #tile.shared<swizzle = auto>>
  }
  scf.for %i = %c0 to %c32 step %c1 {
    %y = memref.load %m[%t, %i] : memref<32x32xf32, #tile.shared<swizzle = auto>>
    memref.store %y, %Y[%i, %t] : memref<32x32xf32, #tile.global>
  }
}

func.func @turn_ref(%X: memref<32x32xf32>, %Y: memref<32x32xf32>) {
  linalg.transpose ins(%X : memref<32x32xf32>) outs(%Y : memref<32x32xf32>) permutation = [1, 0]
  return
}

}
