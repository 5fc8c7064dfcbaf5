// Rows by their numbers: each row's address is its number times the stride, and a row that the memref does not have reads as
// zero and is not stored.
// RUN: girih-opt %s -convert-tile-to-nvvm -canonicalize -cse | FileCheck %s

#whole = #tile.blocked<per_thread = [1, 4], lanes = [4, 8], warps = [2, 1]>
#rows = #tile.sliced<axis = 1, of = #whole>
!m = memref<?x?xf32, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {
// CHECK-LABEL: llvm.func @rows
// CHECK-SAME: (%[[A:.*]]: !llvm.ptr<1> {{.*}}, %[[HEIGHT:.*]]: i64 {{.*}}, %[[WIDTH:.*]]: i64 {{.*}}, %[[STRIDE:.*]]: i64
tile.kernel @rows(%A: !m) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // CHECK: %[[ROW:.*]] = arith.extsi %{{.*}} : i32 to i64
  // CHECK: %[[START:.*]] = arith.muli %[[ROW]], %[[STRIDE]] : i64
  // CHECK: %[[BYTES:.*]] = arith.muli %[[START]], %c4_i64 : i64
  // CHECK: %[[AT:.*]] = llvm.getelementptr %{{.*}}[%[[BYTES]]]
  // Unsigned, so that a negative number is outside too.
  // CHECK: %[[HAS_ROW:.*]] = arith.cmpi ult, %[[ROW]], %[[HEIGHT]] : i64
  // CHECK: %[[LEFT:.*]] = arith.subi
  // CHECK: %[[HAS_COLUMN:.*]] = arith.cmpi sgt, %[[LEFT]], %c0_i32
  // CHECK: %[[INSIDE:.*]] = arith.andi %[[HAS_ROW]], %[[HAS_COLUMN]] : i1
  // CHECK: llvm.inline_asm has_side_effects "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$8];", {{.*}} %[[AT]], %[[INSIDE]]
  // CHECK: llvm.inline_asm has_side_effects "@$5 st.global.v4.b32 [$4], {$0, $1, $2, $3};", {{.*}} %[[AT]], %[[INSIDE]]
  %c0 = arith.constant 0 : index
  %rows = tile.iota axis 0 : tensor<8xi32, #rows>
  %x = tile.gather %A[%c0] rows %rows {vector = 4 : i64} : !m, tensor<8xi32, #rows> -> tensor<8x32xf32, #whole>
  tile.scatter %x, %A[%c0] rows %rows {vector = 4 : i64} : tensor<8x32xf32, #whole>, !m, tensor<8xi32, #rows>
}
}
