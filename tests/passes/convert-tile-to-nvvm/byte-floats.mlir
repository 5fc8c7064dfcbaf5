// 8-bit floats are converted two at a time: to f16, which has all of them, and from f32. The instruction saturates; where that
// is not asked for, what is too large gets the code after the largest number's.
// RUN: girih-opt %s -convert-tile-to-nvvm -canonicalize -cse | FileCheck %s

#pairs = #tile.blocked<per_thread = [2], lanes = [32], warps = [1]>
#single = #tile.blocked<per_thread = [1], lanes = [32], warps = [1]>

module attributes {tile.target = "sm_90a"} {
// CHECK-LABEL: llvm.func @pairs
tile.kernel @pairs(%A: memref<?xf8E4M3FN, #tile.global>, %B: memref<?xf8E5M2, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // The first of two lies in the lower byte.
  // CHECK: %[[HIGH:.*]] = arith.shli %{{.*}}, %c8_i16 : i16
  // CHECK: %[[BOTH:.*]] = arith.ori %{{.*}}, %[[HIGH]] : i16
  // CHECK: %[[HALVES:.*]] = llvm.inline_asm "cvt.rn.f16x2.e4m3x2 $0, $1;", "=r,h" %[[BOTH]] : (i16) -> i32
  // CHECK: llvm.bitcast %[[HALVES]] : i32 to vector<2xf16>
  // By way of f32, since nothing goes from f16 to bf16.
  // CHECK: arith.extf %{{.*}} : f16 to f32
  // CHECK: arith.truncf %{{.*}} : f32 to bf16
  // CHECK: %[[FIRST:.*]] = arith.extf %{{.*}} : bf16 to f32
  // CHECK: %[[SECOND:.*]] = arith.extf %{{.*}} : bf16 to f32
  // CHECK: llvm.inline_asm "cvt.rn.satfinite.e5m2x2.f32 $0, $1, $2;", "=h,f,f" %[[SECOND]], %[[FIRST]] : (f32, f32) -> i16
  // CHECK: %[[SIZE:.*]] = math.absf %[[FIRST]] : f32
  // CHECK: %[[BEYOND:.*]] = arith.cmpf oge, %[[SIZE]], %{{.*}} : f32
  // CHECK: %[[ONE:.*]] = arith.extui %[[BEYOND]] : i1 to i16
  // CHECK: arith.addi %{{.*}}, %[[ONE]] : i16
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0] : memref<?xf8E4M3FN, #tile.global> -> tensor<64xf8E4M3FN, #pairs>
  %h = arith.extf %x : tensor<64xf8E4M3FN, #pairs> to tensor<64xbf16, #pairs>
  %y = arith.truncf %h : tensor<64xbf16, #pairs> to tensor<64xf8E5M2, #pairs>
  tile.store %y, %B[%c0] : tensor<64xf8E5M2, #pairs>, memref<?xf8E5M2, #tile.global>
}

// A single one goes beside itself. With satfinite there is nothing more to do.
// CHECK-LABEL: llvm.func @single
tile.kernel @single(%x: f32, %B: memref<?xf8E4M3FN, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // CHECK: %[[BYTES:.*]] = llvm.inline_asm "cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "=h,f,f" %[[X:.*]], %[[X]] : (f32, f32) -> i16
  // CHECK: arith.trunci %[[BYTES]] : i16 to i8
  // CHECK-NOT: cvt
  %c0 = arith.constant 0 : index
  %t = tile.splat %x : f32 -> tensor<32xf32, #single>
  %y = tile.cvt %t rn satfinite : tensor<32xf32, #single> to tensor<32xf8E4M3FN, #single>
  tile.store %y, %B[%c0] : tensor<32xf8E4M3FN, #single>, memref<?xf8E4M3FN, #tile.global>
}
}
