// A mask is part of the predicate of each access, with what lies inside and with who stores of those that hold copies.
// RUN: girih-opt %s -convert-tile-to-nvvm -canonicalize -cse | FileCheck %s

#L = #tile.blocked<per_thread = [4], lanes = [32], warps = [1]>
#copies = #tile.blocked<per_thread = [1], lanes = [32], warps = [1]>
!static = memref<128xf32, #tile.global>
!dynamic = memref<?xf32, #tile.global>
!numbers = memref<16xi32, #tile.global>

module attributes {tile.target = "sm_90a"} {
// All inside: the mask alone. One value of it stands for the four that go at once.
// CHECK-LABEL: llvm.func @whole
tile.kernel @whole(%A: !static, %B: !static) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // CHECK: %[[PLACE:.*]] = arith.shli %{{.*}}, %c2_i32
  // CHECK: %[[MASK:.*]] = arith.cmpi slt, %[[PLACE]], %c96_i32
  // CHECK: "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$8];", "=r,=r,=r,=r,0,1,2,3,l,b" %{{.*}}, %[[MASK]] :
  // CHECK: "@$5 st.global.v4.b32 [$4], {$0, $1, $2, $3};", "r,r,r,r,l,b,~{memory}" %{{.*}}, %[[MASK]] :
  %c0 = arith.constant 0 : index
  %i = tile.iota axis 0 : tensor<128xi32, #L>
  %n = arith.constant dense<96> : tensor<128xi32, #L>
  %m = arith.cmpi slt, %i, %n : tensor<128xi32, #L>
  %x = tile.load %A[%c0] mask %m : tensor<128xi1, #L> {vector = 4 : i64} : !static -> tensor<128xf32, #L>
  tile.store %x, %B[%c0] mask %m : tensor<128xi1, #L> {vector = 4 : i64} : tensor<128xf32, #L>, !static
}

// With an edge, one by one.
// CHECK-LABEL: llvm.func @edge
tile.kernel @edge(%A: !dynamic) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // CHECK: %[[MASK:.*]] = arith.cmpi ne
  // CHECK: %[[INSIDE:.*]] = arith.cmpi sgt
  // CHECK: %[[BOTH:.*]] = arith.andi %[[MASK]], %[[INSIDE]] : i1
  // CHECK: "@$3 ld.global.b32 $0, [$2];", "=r,0,l,b" %{{.*}}, %[[BOTH]] :
  // CHECK: "@$2 st.global.b32 [$1], $0;", "r,l,b,~{memory}" %{{.*}}, %[[BOTH]] :
  %c0 = arith.constant 0 : index
  %i = tile.iota axis 0 : tensor<32xi32, #copies>
  %n = arith.constant dense<7> : tensor<32xi32, #copies>
  %m = arith.cmpi ne, %i, %n : tensor<32xi32, #copies>
  %x = tile.load %A[%c0] mask %m : tensor<32xi1, #copies> : !dynamic -> tensor<32xf32, #copies>
  tile.store %x, %A[%c0] mask %m : tensor<32xi1, #copies> : tensor<32xf32, #copies>, !dynamic
}

// 16 elements in 32 threads: one of two that hold a copy.
// CHECK-LABEL: llvm.func @copies
tile.kernel @copies(%H: !numbers) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // CHECK: %[[MASK:.*]] = arith.cmpi eq
  // CHECK: %[[ONE:.*]] = arith.cmpi eq
  // CHECK: %[[BOTH:.*]] = arith.andi %[[MASK]], %[[ONE]] : i1
  // CHECK: "@$2 red.relaxed.gpu.global.add.u32 [$0], $1;", "l,r,b,~{memory}" %{{.*}}, %[[BOTH]] :
  %c0 = arith.constant 0 : index
  %i = tile.iota axis 0 : tensor<16xi32, #copies>
  %n = arith.constant dense<7> : tensor<16xi32, #copies>
  %m = arith.cmpi eq, %i, %n : tensor<16xi32, #copies>
  tile.atomic_rmw add %i, %H[%c0] mask %m : tensor<16xi1, #copies> : tensor<16xi32, #copies>, !numbers
}
}
