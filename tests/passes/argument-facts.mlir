// What is known of arguments is not asked at run time, and a launch that breaks it is refused.
// RUN: girih-opt %s -tile-assign-layouts -tile-vectorize-accesses | FileCheck %s
// RUN: girih run %s --kernel scale --device sim --arg A=randn:f32[16,64] --arg n=i64:64
// RUN: not girih run %s --kernel scale --device sim --arg A=randn:f32[16,66] --arg n=i64:4 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not girih run %s --kernel scale --device sim "--arg=A=randn:f32[16,64;pitch=65]" --arg n=i64:64 2>&1 | FileCheck %s --check-prefix=STRIDE
// RUN: not girih run %s --kernel scale --device sim "--arg=A=randn:f32[16,64;offset=8]" --arg n=i64:64 2>&1 | FileCheck %s --check-prefix=ADDRESS
// RUN: not girih run %s --kernel scale --device sim --arg A=randn:f32[16,64] --arg n=i64:200 2>&1 | FileCheck %s --check-prefix=RANGE

// SIZE: argument A: size of dimension 1 = 66, but the kernel was compiled for multiples of 4; pad the array, or compile without tile.divisible
// STRIDE: argument A: stride of dimension 0 = 65, but the kernel was compiled for multiples of 4; pad the rows, or compile without tile.aligned
// ADDRESS: argument A: address = 0x{{[0-9a-f]+}}8, but the kernel needs a multiple of 16
// RANGE: argument n: the number = 200, but the kernel was compiled for 0 to 128; give another, or compile without its attribute

// CHECK-LABEL: tile.kernel @scale
// CHECK-NOT: tile.is_aligned
// CHECK-NOT: scf.if
// CHECK: tile.load %A[%{{.*}}, %{{.*}}] {vector = 4 : i64}
// CHECK: tile.store %{{.*}}, %A[%{{.*}}, %{{.*}}] {vector = 4 : i64}
module attributes {tile.target = "sm_90a"} {
tile.kernel @scale(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global> {tile.aligned = 16, tile.divisible = [1, 4]}, %n: i64 {tile.divisible = 4, tile.range = [0, 128]}) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %to = arith.index_cast %n : i64 to index
  %column = arith.subi %to, %c64 : index
  %x = tile.load %A[%c0, %column] : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<16x64xf32>
  %y = arith.addf %x, %x : tensor<16x64xf32>
  tile.store %y, %A[%c0, %column] : tensor<16x64xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

// A part of what is asked is known: the rest is asked.
// CHECK-LABEL: tile.kernel @both
// CHECK: tile.is_aligned %B axis 0 by 4
// CHECK-NOT: tile.is_aligned
tile.kernel @both(%A: memref<?xf32, #tile.global> {tile.aligned = 16, tile.divisible = [8]}, %B: memref<?xf32, #tile.global> {tile.aligned = 8}) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0] : memref<?xf32, #tile.global> -> tensor<1024xf32>
  tile.store %x, %B[%c0] : tensor<1024xf32>, memref<?xf32, #tile.global>
}
}
