// Kernels: an entry that keeps the launch, and a function with the parameters of the ABI.
// RUN: girih-opt %s -tile-set-target -tile-allocate-shared -convert-tile-to-nvvm -split-input-file | FileCheck %s

// A memref is its address, then each dynamic size, then each dynamic stride; numbers are themselves; tensor maps are 128
// bytes that the grid shares.
// CHECK-LABEL: tile.entry @abi in @device(
// CHECK-SAME: %A: memref<?x8x?xbf16, strided<[?, 8, 1]>, #tile.global>, %n: i32, %x: f32
// CHECK-SAME: threads(128) cluster(2, 1, 1) attributes {shared_bytes = 512 : i64} launch {
// CHECK: tile.tensor_map %A
// CHECK: tile.grid
// CHECK: gpu.module @device {
// CHECK: llvm.mlir.global external @shared_memory() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK: llvm.func @abi(%{{.*}}: !llvm.ptr<1> {llvm.align = 2 : i64, llvm.noundef}, %{{.*}}: i64 {llvm.noundef}, %{{.*}}: i64 {llvm.noundef}, %{{.*}}: i64 {llvm.noundef},
// CHECK-SAME: %[[N:.*]]: i32 {llvm.noundef}, %{{.*}}: f32 {llvm.noundef},
// CHECK-SAME: %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}) attributes {nvvm.cluster_dim = array<i32: 2, 1, 1>, nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>}
// CHECK: llvm.return
tile.kernel @abi(%A: memref<?x8x?xbf16, strided<[?, 8, 1]>, #tile.global>, %n: i32, %x: f32) threads(128) cluster(2, 1, 1) launch {
  %c1 = arith.constant 1 : index
  %map = tile.tensor_map %A : memref<?x8x?xbf16, strided<[?, 8, 1]>, #tile.global> -> !tile.tensor_map<1x4x8xbf16>
  tile.grid %c1, %c1, %c1 args(%map : !tile.tensor_map<1x4x8xbf16>)
} body args(%map: !tile.tensor_map<1x4x8xbf16>) {
  %buffer = tile.alloc : memref<128xf32, #tile.shared>
}

// -----

// One module for all kernels, and one symbol for their shared memory. A name that is taken is not taken again.
// CHECK: gpu.module @device attributes {mine}
// CHECK: tile.entry @first in @device_()
// CHECK: tile.entry @second in @device_()
// CHECK: gpu.module @device_ {
// CHECK-COUNT-1: llvm.mlir.global
// CHECK-NOT: llvm.mlir.global
// CHECK: llvm.func @first() attributes {nvvm.kernel
// CHECK: llvm.func @second() attributes {nvvm.kernel
gpu.module @device attributes {mine} {
}
tile.kernel @first() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %buffer = tile.alloc : memref<128xf32, #tile.shared>
}
tile.kernel @second() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %buffer = tile.alloc : memref<128xf32, #tile.shared>
}

// -----

// Blocks of the body stay; functions outside kernels are left alone.
// CHECK-LABEL: func.func @reference(%{{.*}}: tensor<4xf32>)
func.func @reference(%t: tensor<4xf32>) -> tensor<4xf32> {
  return %t : tensor<4xf32>
}
// CHECK-LABEL: llvm.func @blocks
// CHECK: cf.cond_br %{{.*}}, ^[[A:.*]], ^[[B:.*]]
// CHECK: ^[[A]]:
// CHECK: cf.br ^[[B]]
// CHECK: ^[[B]]:
// CHECK: llvm.return
tile.kernel @blocks(%n: i32) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %zero = arith.constant 0 : i32
  %p = arith.cmpi eq, %n, %zero : i32
  cf.cond_br %p, ^a, ^b
^a:
  cf.br ^b
^b:
  tile.return
}
