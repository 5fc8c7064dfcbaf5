// In each pass a whole tile goes to shared memory, a product is made, and the tile is loaded one element further. The waits for
// mbarriers between the two are the compiler's own, and order the tile for nobody.
// RUN: girih run %s --kernel gemm --device sim --check-memory --arg A=zeros:f16[64,128] --arg B=zeros:f16[128,64] --arg C=zeros:f32[64,64] --arg X=iota:i32[64] --arg H=zeros:i32[64] | FileCheck %s
// RUN: girih run %s --kernel elements --device sim --check-memory --arg A=zeros:f16[64,128] --arg B=zeros:f16[128,64] --arg C=zeros:f32[64,64] --arg H=poison:i32[128] | FileCheck %s
// CHECK: right: {{[CXH]}}: all {{.*}} elements are
// CHECK: no findings
!rows = memref<?x?xf16, strided<[?, 1]>, #tile.global>
module attributes {tile.target = "sm_90a"} {
tile.kernel @gemm(%A: !rows, %B: !rows, %C: memref<64x64xf32, #tile.global>, %X: memref<64xi32, #tile.global>, %H: memref<64xi32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !rows
  %m = tile.alloc : memref<64xi32, #tile.shared>
  %x = tile.load %X[%c0] : memref<64xi32, #tile.global> -> tensor<64xi32>
  %z = arith.constant dense<0> : tensor<32xi32>
  %one = arith.constant dense<1> : tensor<64xi32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum:3 = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero, %v = %x, %h = %z) -> (tensor<64x64xf32>, tensor<64xi32>, tensor<32xi32>) {
    tile.store %v, %m[%c0] : tensor<64xi32>, memref<64xi32, #tile.shared>
    %a = tile.load %A[%c0, %k] : !rows -> tensor<64x64xf16>
    %b = tile.load %B[%k, %c0] : !rows -> tensor<64x64xf16>
    %next = tile.mma %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %l = tile.load %m[%c1] : memref<64xi32, #tile.shared> -> tensor<32xi32>
    %n = arith.addi %h, %l : tensor<32xi32>
    %w = arith.addi %v, %one : tensor<64xi32>
    scf.yield %next, %w, %n : tensor<64x64xf32>, tensor<64xi32>, tensor<32xi32>
  }
  tile.store %sum#0, %C[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32, #tile.global>
  tile.store %sum#2, %H[%c0] : tensor<32xi32>, memref<64xi32, #tile.global>
}

// The same for single elements.
tile.kernel @elements(%A: !rows, %B: !rows, %C: memref<64x64xf32, #tile.global>, %H: memref<128xi32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c127 = arith.constant 127 : index
  %K = memref.dim %A, %c1 : !rows
  %m = tile.alloc : memref<128xi32, #tile.shared>
  %t = tile.thread_id
  %other = arith.subi %c127, %t : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant 0 : i32
  %sum:2 = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero, %h = %none) -> (tensor<64x64xf32>, i32) {
    %at = arith.addi %t, %k : index
    %own = arith.index_cast %at : index to i32
    memref.store %own, %m[%t] : memref<128xi32, #tile.shared>
    %a = tile.load %A[%c0, %k] : !rows -> tensor<64x64xf16>
    %b = tile.load %B[%k, %c0] : !rows -> tensor<64x64xf16>
    %next = tile.mma %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %l = memref.load %m[%other] : memref<128xi32, #tile.shared>
    %n = arith.addi %h, %l : i32
    scf.yield %next, %n : tensor<64x64xf32>, i32
  }
  memref.store %sum#1, %H[%t] : memref<128xi32, #tile.global>
  tile.store %sum#0, %C[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32, #tile.global>
}
func.func @elements_ref(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<64x64xf32>, %H: memref<128xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  // In two passes 127 - j, and 64 more.
  %most = arith.constant 318 : i32
  scf.for %j = %c0 to %c128 step %c1 {
    %i = arith.index_cast %j : index to i32
    %twice = arith.addi %i, %i : i32
    %v = arith.subi %most, %twice : i32
    memref.store %v, %H[%j] : memref<128xi32>
  }
  return
}
func.func @gemm_ref(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<64x64xf32>, %X: memref<64xi32>, %H: memref<64xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  scf.for %pass = %c0 to %c2 step %c1 {
    %more = arith.index_cast %pass : index to i32
    scf.for %j = %c0 to %c32 step %c1 {
      %p = arith.addi %j, %c1 : index
      %x = memref.load %X[%p] : memref<64xi32>
      %v = arith.addi %x, %more : i32
      %h = memref.load %H[%j] : memref<64xi32>
      %sum = arith.addi %h, %v : i32
      memref.store %sum, %H[%j] : memref<64xi32>
    }
  }
  return
}
}
