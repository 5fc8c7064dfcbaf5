// Staged operands come back by ldmatrix where it gives threads what the product takes, else by ordinary loads.
// RUN: girih-opt %s -convert-tile-to-nvvm -split-input-file | FileCheck %s

#c = #tile.linear<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#a = #tile.linear<register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #tile.linear<register = [[1, 0], [8, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>

module attributes {tile.target = "sm_80"} {
// Rows of 32 bytes are swizzled: lanes 0 to 15 name rows, the others their second halves.
// CHECK-LABEL: llvm.func @along_k
// CHECK: "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,r,~{memory}"
// CHECK: "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0, $1}, [$2];", "=r,=r,r,~{memory}"
// CHECK-NOT: llvm.load
// CHECK: mma.sync.aligned.m16n8k16
tile.kernel @along_k() threads(32) attributes {shared_bytes = 768 : i64} launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %zero = arith.constant dense<0.0> : tensor<16x8xf32, #c>
  %sa = tile.alloc {offset = 0 : i64} : memref<1x1x16x16xf16, #tile.shared<swizzle = 32>>
  %sb = tile.alloc {offset = 512 : i64} : memref<1x1x8x16xf16, #tile.shared<swizzle = 32>>
  %a = tile.load_staged %sa side a major k : memref<1x1x16x16xf16, #tile.shared<swizzle = 32>> -> tensor<16x16xf16, #a>
  %b = tile.load_staged %sb side b major k : memref<1x1x8x16xf16, #tile.shared<swizzle = 32>> -> tensor<16x8xf16, #b>
  %s = tile.mma %a, %b, %zero : tensor<16x16xf16, #a>, tensor<16x8xf16, #b>, tensor<16x8xf32, #c>
}
}

// -----

#b = #tile.linear<register = [[1, 0], [8, 0], [0, 8]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>
module attributes {tile.target = "sm_80"} {
// CHECK-LABEL: llvm.func @along_n
// CHECK: "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {$0, $1, $2, $3}, [$4];"
// CHECK-NOT: llvm.load
tile.kernel @along_n() threads(32) attributes {shared_bytes = 512 : i64} launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %sb = tile.alloc {offset = 0 : i64} : memref<1x1x16x16xf16, #tile.shared<swizzle = 32>>
  %b = tile.load_staged %sb side b major mn : memref<1x1x16x16xf16, #tile.shared<swizzle = 32>> -> tensor<16x16xf16, #b>
}
}

// -----

#b = #tile.linear<register = [[1, 0], [8, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>
module attributes {tile.target = "sm_80"} {
// Two neighbours of 64 bits are one access.
// CHECK-LABEL: llvm.func @doubles
// CHECK-NOT: ldmatrix
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<2xf64>
// CHECK-NOT: llvm.load
tile.kernel @doubles() threads(32) attributes {shared_bytes = 1024 : i64} launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %sb = tile.alloc {offset = 0 : i64} : memref<1x1x8x16xf64, #tile.shared<swizzle = 128>>
  %b = tile.load_staged %sb side b major k : memref<1x1x8x16xf64, #tile.shared<swizzle = 128>> -> tensor<16x8xf64, #b>
}
}
