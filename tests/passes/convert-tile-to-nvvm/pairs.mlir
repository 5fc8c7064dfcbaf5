// Numbers of 16 bits that come one by one share registers, and vectors go where a condition says so.
// RUN: girih-opt %s -tile-set-target -convert-tile-to-nvvm -canonicalize -cse -split-input-file | FileCheck %s

// Each half under its own test of the edge; zeros stand there before.
// CHECK-LABEL: llvm.func @pairs(
// CHECK: %[[FIRST:.*]] = arith.cmpi sgt, %[[LEFT:.*]], %c0_i32 : i32
// CHECK: %[[ZEROS:.*]] = llvm.bitcast %{{.*}} : vector<2xbf16> to i32
// CHECK: %[[SECOND:.*]] = arith.cmpi sgt, %[[LEFT]], %c1_i32 : i32
// CHECK: %[[BOTH:.*]] = llvm.inline_asm has_side_effects "{ .reg .b16 low, high; mov.b32 {low, high}, $0; @$3 ld.global.L2::cache_hint.b16 low, [$2], $5; @$4 ld.global.L2::cache_hint.b16 high, [$2+2], $5; mov.b32 $0, {low, high}; }", "=r,0,l,b,b,l" %[[ZEROS]], %[[AT:.*]], %[[FIRST]], %[[SECOND]], %{{.*}}
// CHECK: llvm.bitcast %[[BOTH]] : i32 to vector<2xbf16>
// What is stored lies 32 numbers apart, under tests of their own too.
// CHECK: llvm.inline_asm has_side_effects "@$2 st.global.b16 [$1], $0;", "h,l,b,~{memory}"
// CHECK: llvm.inline_asm has_side_effects "@$2 st.global.b16 [$1+64], $0;", "h,l,b,~{memory}"
#L = #tile.blocked<per_thread = [2], lanes = [32], warps = [1]>
!m = memref<?xbf16, #tile.global>
tile.kernel @pairs(%A: !m) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0] cache evict_first : !m -> tensor<64xbf16, #L>
  tile.store %x, %A[%c0] : tensor<64xbf16, #L>, !m
}

// -----

// All inside: nothing is tested, and each is loaded alone.
// CHECK-LABEL: llvm.func @inside(
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> bf16
#L = #tile.blocked<per_thread = [2], lanes = [32], warps = [1]>
!m = memref<64xbf16, #tile.global>
tile.kernel @inside(%A: !m) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0] : !m -> tensor<64xbf16, #L>
  %y = tile.opaque %x : tensor<64xbf16, #L> -> tensor<64xbf16, #L>
}

// -----

// Both ways give the same registers. A vector is loaded before the other tile is looked at, where a thread's is outside.
// CHECK-LABEL: llvm.func @vector_if(
// CHECK: %[[YES:.*]] = arith.cmpi eq
// CHECK: %[[X:.*]]:4 = scf.if %[[YES]] -> (i32, i32, i32, i32) {
// CHECK-COUNT-2: "@$5 ld.global.v2.b32 {$0, $1}, [$4{{.*}}];"
// CHECK: scf.if
// CHECK:   arith.select
// CHECK: } else {
// CHECK-COUNT-4: ld.global.b16 low, {{.*}} ld.global.b16 high
// CHECK: }
// CHECK: scf.if %[[YES]] {
// CHECK-COUNT-2: "@$3 st.global.v2.b32 [$2{{.*}}], {$0, $1};"
// CHECK: } else {
// CHECK-COUNT-8: st.global.b16
#L = #tile.blocked<per_thread = [8], lanes = [32], warps = [1]>
!m = memref<?xbf16, #tile.global>
tile.kernel @vector_if(%A: !m) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %yes = tile.is_aligned %A axis 0 by 4 : !m
  %other = arith.constant dense<1.0> : tensor<256xbf16, #L>
  %x = tile.load %A[%c0] pass_thru %other : tensor<256xbf16, #L> vector_if %yes {vector = 4 : i64} : !m -> tensor<256xbf16, #L>
  tile.store %x, %A[%c0] vector_if %yes {vector = 4 : i64} : tensor<256xbf16, #L>, !m
}
