// Kernels, entries and roles, in the form that is printed, the generic one and bytecode.
// RUN: girih-opt %s | FileCheck %s
// RUN: girih-opt %s --mlir-print-op-generic | girih-opt | FileCheck %s
// RUN: girih-opt %s --emit-bytecode | girih-opt | FileCheck %s

// CHECK: module attributes {tile.target = "sm_90a"}
module attributes {tile.target = "sm_90a"} {

// CHECK: tile.kernel @nothing() threads(32) launch {
// CHECK:   tile.grid %{{.*}}, %{{.*}}, %{{.*}}
// CHECK-NEXT: } body {
// CHECK-NEXT: }
tile.kernel @nothing() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// Arguments keep their names, in both regions; tensor maps follow them.
// CHECK: tile.kernel @all(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %alpha: f32)
// CHECK-SAME: threads(256) cluster(2, 1, 1) attributes {shared_bytes = 1024 : i64} launch {
// CHECK:   %[[MAP:.*]] = tile.tensor_map %A : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<64x64xbf16, swizzle = 128>
// CHECK:   tile.grid {{.*}} args(%[[MAP]] : !tile.tensor_map<64x64xbf16, swizzle = 128>)
// CHECK: } body args(%[[ARG:.*]]: !tile.tensor_map<64x64xbf16, swizzle = 128>) {
// CHECK:   tile.prefetch_tensor_map %[[ARG]]
// CHECK:   memref.dim %A
tile.kernel @all(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %alpha: f32)
    threads(256) cluster(2, 1, 1) attributes {shared_bytes = 1024 : i64} launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %A, %c0 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %map = tile.tensor_map %A : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<64x64xbf16, swizzle = 128>
  tile.grid %m, %c1, %c1 args(%map : !tile.tensor_map<64x64xbf16, swizzle = 128>)
} body args(%map: !tile.tensor_map<64x64xbf16, swizzle = 128>) {
  %c0 = arith.constant 0 : index
  tile.prefetch_tensor_map %map : !tile.tensor_map<64x64xbf16, swizzle = 128>
  %m = memref.dim %A, %c0 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  // CHECK:   tile.warp_specialize
  // CHECK-NEXT: role producer(%[[T:.*]]) warps(4) registers(40) {
  // CHECK-NEXT:   %{{.*}} = arith.addi %[[T]], %[[T]] : index
  // CHECK-NEXT: }
  // CHECK-NEXT: role consumer(%{{.*}}) warps(4) registers(232) barrier(1) {
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  tile.warp_specialize
  role producer(%t) warps(4) registers(40) {
    %u = arith.addi %t, %t : index
  } role consumer(%t) warps(4) registers(232) barrier(1) {
  }
}

// A body may have many blocks, and a terminator attributes; what the printed form leaves out is added when it is read.
// CHECK: tile.kernel @blocks
// CHECK: cf.br ^bb1
// CHECK: ^bb1:
// CHECK-NEXT: tile.return{{$}}
// CHECK: tile.kernel @annotated
// CHECK: tile.end_role {first}
// CHECK: tile.return {last}
tile.kernel @blocks() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  cf.br ^end
^end:
  tile.return
}

tile.kernel @annotated() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  tile.warp_specialize
  role all(%t) warps(1) {
    tile.end_role {first}
  }
  tile.return {last}
}

// CHECK: tile.entry @lowered in @code(%A: memref<?xf32, #tile.global>) threads(128) launch {
// CHECK:   tile.grid
// CHECK-NEXT: }
tile.entry @lowered in @code(%A: memref<?xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}
}
