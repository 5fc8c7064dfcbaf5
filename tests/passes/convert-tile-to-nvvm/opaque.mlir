// What is opaque is converted again from the registers that held it: two numbers of 16 bits to a register.
// RUN: girih-opt %s -tile-set-target -tile-allocate-scratch -tile-allocate-shared -convert-tile-to-nvvm -canonicalize -cse | FileCheck %s
// RUN: girih run %s --device sim --arg A=randn:bf16[256] --arg B=poison:f32[256] --arg C=poison:i64[256]

// CHECK-LABEL: llvm.func @twice
// CHECK-COUNT-2: arith.extf %{{.*}} : bf16 to f32
// CHECK: %[[PAIR:.*]] = llvm.inline_asm has_side_effects "", "=r,0" %{{.*}} : (i32) -> i32
// A bf16 is the upper half of its f32.
// CHECK: %[[LOW:.*]] = arith.shli %[[PAIR]], %c16_i32 : i32
// CHECK: llvm.bitcast %[[LOW]] : i32 to f32
// CHECK: %[[HIGH:.*]] = arith.andi %[[PAIR]], %c-65536_i32 : i32
// CHECK: llvm.bitcast %[[HIGH]] : i32 to f32
// CHECK-NOT: arith.extf
// CHECK-COUNT-2: llvm.inline_asm has_side_effects "", "=l,0" %{{.*}} : (i64) -> i64
// CHECK-NOT: llvm.inline_asm
#l = #tile.blocked<per_thread = [2], lanes = [32], warps = [4]>
module attributes {tile.target = "sm_90a"} {
tile.kernel @twice(%A: memref<256xbf16, #tile.global>, %B: memref<256xf32, #tile.global>, %C: memref<256xi64, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0] : memref<256xbf16, #tile.global> -> tensor<256xbf16, #l>
  %a = arith.extf %x : tensor<256xbf16, #l> to tensor<256xf32, #l>
  %y = tile.opaque %x : tensor<256xbf16, #l> -> tensor<256xbf16, #l>
  %b = arith.extf %y : tensor<256xbf16, #l> to tensor<256xf32, #l>
  %s = arith.addf %a, %b : tensor<256xf32, #l>
  tile.store %s, %B[%c0] : tensor<256xf32, #l>, memref<256xf32, #tile.global>
  %i = tile.iota axis 0 : tensor<256xi64, #l>
  %j = tile.opaque %i : tensor<256xi64, #l> -> tensor<256xi64, #l>
  tile.store %j, %C[%c0] : tensor<256xi64, #l>, memref<256xi64, #tile.global>
}

func.func @twice_ref(%A: memref<256xbf16>, %B: memref<256xf32>, %C: memref<256xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  scf.for %i = %c0 to %c256 step %c1 {
    %x = memref.load %A[%i] : memref<256xbf16>
    %a = arith.extf %x : bf16 to f32
    %s = arith.addf %a, %a : f32
    memref.store %s, %B[%i] : memref<256xf32>
    %n = arith.index_cast %i : index to i64
    memref.store %n, %C[%i] : memref<256xi64>
  }
  return
}
}
