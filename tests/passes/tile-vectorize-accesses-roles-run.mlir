// Tiles before the roles, in both, and after them: each goes by vectors where its argument begins at a multiple of 16 bytes, and
// element by element where it does not. What one tile before the roles leaves, roles and what follows them use.
// RUN: girih run %s --device sim --check-memory --arg X=iota:i32[1024] --arg A=poison:i32[1024] --arg B=poison:i32[1024] --arg C=poison:i32[1024] --arg D=poison:i32[1024] | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg "X=iota:i32[1024;offset=4]" --arg A=poison:i32[1024] --arg B=poison:i32[1024] --arg C=poison:i32[1024] --arg "D=poison:i32[1024;offset=8]" | FileCheck %s
// CHECK: right: A: all 1024 elements are exact
// CHECK: right: B: all 1024 elements are exact
// CHECK: right: C: all 1024 elements are exact
// CHECK: right: D: all 1024 elements are exact
// CHECK: no findings
// RUN: girih compile %s --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=PTX
// PTX: ld.global.v4.b32
// PTX: st.global.v4.b32
tile.kernel @k(%X: memref<1024xi32, #tile.global>, %A: memref<1024xi32, #tile.global>, %B: memref<1024xi32, #tile.global>, %C: memref<1024xi32, #tile.global>, %D: memref<1024xi32, #tile.global>) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %i = tile.iota axis 0 : tensor<1024xi32>
  tile.store %i, %A[%c0] : tensor<1024xi32>, memref<1024xi32, #tile.global>
  // A number from memory, and memory of the block, between accesses.
  %n = memref.load %X[%c0] : memref<1024xi32, #tile.global>
  %s = tile.alloc : memref<1024xi32, #tile.shared>
  %x = tile.load %X[%c0] : memref<1024xi32, #tile.global> -> tensor<1024xi32>
  tile.store %x, %s[%c0] : tensor<1024xi32>, memref<1024xi32, #tile.shared>
  %again = tile.load %X[%c0] : memref<1024xi32, #tile.global> -> tensor<1024xi32>
  tile.barrier
  tile.warp_specialize
  role left(%t) warps(4) barrier(1) {
    %m = tile.splat %n : i32 -> tensor<1024xi32>
    %y = tile.load %X[%c0] : memref<1024xi32, #tile.global> -> tensor<1024xi32>
    %z = arith.addi %y, %m : tensor<1024xi32>
    tile.store %z, %B[%c0] : tensor<1024xi32>, memref<1024xi32, #tile.global>
  } role right(%t) warps(4) barrier(2) {
    %y = tile.load %s[%c0] : memref<1024xi32, #tile.shared> -> tensor<1024xi32>
    tile.store %y, %C[%c0] : tensor<1024xi32>, memref<1024xi32, #tile.global>
  }
  %y = tile.load %X[%c0] : memref<1024xi32, #tile.global> -> tensor<1024xi32>
  %sum = arith.addi %y, %again : tensor<1024xi32>
  tile.store %sum, %D[%c0] : tensor<1024xi32>, memref<1024xi32, #tile.global>
}

func.func @k_ref(%X: memref<?xi32>, %A: memref<?xi32>, %B: memref<?xi32>, %C: memref<?xi32>, %D: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %n = memref.load %X[%c0] : memref<?xi32>
  scf.for %i = %c0 to %c1024 step %c1 {
    %a = arith.index_cast %i : index to i32
    memref.store %a, %A[%i] : memref<?xi32>
    %x = memref.load %X[%i] : memref<?xi32>
    %b = arith.addi %x, %n : i32
    memref.store %b, %B[%i] : memref<?xi32>
    memref.store %x, %C[%i] : memref<?xi32>
    %d = arith.addi %x, %x : i32
    memref.store %d, %D[%i] : memref<?xi32>
  }
  return
}
