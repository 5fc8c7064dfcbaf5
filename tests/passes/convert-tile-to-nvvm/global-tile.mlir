// Tiles that passes laid out, to and from global memory.
// RUN: girih-opt %s -tile-set-target -tile-allocate-shared -convert-tile-to-nvvm -canonicalize -cse -split-input-file | FileCheck %s

// Where the tile is inside for certain, plain accesses; elsewhere each is predicated, and reads what `pad` says outside.
// CHECK-LABEL: llvm.func @copy
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: %[[HIGH:.*]] = arith.minsi
// CHECK: llvm.inline_asm has_side_effects "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$8];", "=r,=r,=r,=r,0,1,2,3,l,b"
// CHECK: llvm.inline_asm has_side_effects "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$8+512];"
// CHECK: llvm.inline_asm has_side_effects "@$5 st.global.v4.b32 [$4], {$0, $1, $2, $3};", "r,r,r,r,l,b,~{memory}"
// CHECK: llvm.inline_asm has_side_effects "@$5 st.global.v4.b32 [$4+512], {$0, $1, $2, $3};"
tile.kernel @copy(%A: memref<256xf32, #tile.global>, %B: memref<?xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0] {vector = 4 : i64} : memref<256xf32, #tile.global> -> tensor<256xf32, #tile.blocked<per_thread = [4], lanes = [32], warps = [1]>>
  %b = tile.load %B[%c0] {vector = 4 : i64, pad = 1.0 : f32} : memref<?xf32, #tile.global> -> tensor<256xf32, #tile.blocked<per_thread = [4], lanes = [32], warps = [1]>>
  %c = arith.addf %a, %b : tensor<256xf32, #tile.blocked<per_thread = [4], lanes = [32], warps = [1]>>
  tile.store %c, %B[%c0] {vector = 4 : i64} : tensor<256xf32, #tile.blocked<per_thread = [4], lanes = [32], warps = [1]>>, memref<?xf32, #tile.global>
}

// -----

// Of threads that hold copies one stores.
// CHECK-LABEL: llvm.func @copies
// CHECK: %[[COPY:.*]] = arith.andi %{{.*}}, %c56_i32
// CHECK: arith.cmpi eq, %[[COPY]], %c0_i32
// CHECK: st.global.b32
tile.kernel @copies(%A: memref<8xf32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0] : memref<8xf32, #tile.global> -> tensor<8xf32, #tile.blocked<per_thread = [1], lanes = [32], warps = [2]>>
  tile.store %a, %A[%c0] : tensor<8xf32, #tile.blocked<per_thread = [1], lanes = [32], warps = [2]>>, memref<8xf32, #tile.global>
}
