// Threads of `from` hold copies, and which register has an element that `to` wants depends on the warp: no list of registers
// says it, so the tile goes through shared memory.
// RUN: girih run %s --device sim --check-memory --arg "X=uniform(low=-128,high=127):i8[16,64]" --arg Y=poison:i8[16,64] | FileCheck %s
// CHECK: right: Y: all 1024 elements are exact
// CHECK: no findings

!from = tensor<16x64xi8, #tile.blocked<per_thread = [2, 2], lanes = [1, 32], warps = [1, 4], order = [0, 1]>>
!to = tensor<16x64xi8, #tile.blocked<per_thread = [1, 2], lanes = [1, 32], warps = [2, 2], order = [0, 1]>>

module attributes {tile.target = "sm_90a"} {

tile.kernel @turn(%X: memref<16x64xi8, #tile.global>, %Y: memref<16x64xi8, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : memref<16x64xi8, #tile.global> -> !from
  %y = tile.convert_layout %x : !from -> !to
  tile.store %y, %Y[%c0, %c0] : !to, memref<16x64xi8, #tile.global>
}

func.func @turn_ref(%X: memref<16x64xi8>, %Y: memref<16x64xi8>) {
  memref.copy %X, %Y : memref<16x64xi8> to memref<16x64xi8>
  return
}

}
