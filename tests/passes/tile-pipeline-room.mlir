// Slots leave room for what goes between warps behind the loop: a residual whose outside is a number, or another tile, comes as a
// whole, and warps have other parts of it than of the product.
// RUN: girih run %s --kernel pad --device sim --arg A=randn:bf16[128,128] --arg B=randn:bf16[128,256] --arg R=randn:bf16[127,255] --arg C=poison:bf16[128,256] --reference @ref | FileCheck %s
// RUN: girih run %s --kernel pass_thru --device sim --arg A=randn:bf16[128,128] --arg B=randn:bf16[128,256] --arg R=randn:bf16[127,255] --arg C=poison:bf16[128,256] --reference @ref | FileCheck %s
// CHECK: right: C:

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[1, ?]>, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @pad(%A: !rows, %B: !columns, %R: !rows, %C: !rows) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %k = memref.dim %A, %c1 : !rows
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %j = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<128x256xf32>) {
    %a = tile.load %A[%c0, %j] : !rows -> tensor<128x64xbf16>
    %b = tile.load %B[%j, %c0] : !columns -> tensor<64x256xbf16>
    %next = tile.mma %a, %b, %acc : tensor<128x64xbf16>, tensor<64x256xbf16>, tensor<128x256xf32>
    scf.yield %next : tensor<128x256xf32>
  }
  %out = arith.truncf %sum : tensor<128x256xf32> to tensor<128x256xbf16>
  %r = tile.load %R[%c0, %c0] {pad = 1.0 : bf16} : !rows -> tensor<128x256xbf16>
  %all = arith.addf %out, %r : tensor<128x256xbf16>
  tile.store %all, %C[%c0, %c0] : tensor<128x256xbf16>, !rows
}

tile.kernel @pass_thru(%A: !rows, %B: !columns, %R: !rows, %C: !rows) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %k = memref.dim %A, %c1 : !rows
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %j = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<128x256xf32>) {
    %a = tile.load %A[%c0, %j] : !rows -> tensor<128x64xbf16>
    %b = tile.load %B[%j, %c0] : !columns -> tensor<64x256xbf16>
    %next = tile.mma %a, %b, %acc : tensor<128x64xbf16>, tensor<64x256xbf16>, tensor<128x256xf32>
    scf.yield %next : tensor<128x256xf32>
  }
  %out = arith.truncf %sum : tensor<128x256xf32> to tensor<128x256xbf16>
  %ones = arith.constant dense<1.0> : tensor<128x256xbf16>
  %r = tile.load %R[%c0, %c0] pass_thru %ones : tensor<128x256xbf16> : !rows -> tensor<128x256xbf16>
  %all = arith.addf %out, %r : tensor<128x256xbf16>
  tile.store %all, %C[%c0, %c0] : tensor<128x256xbf16>, !rows
}

func.func @ref(%A: memref<?x?xbf16>, %B: memref<?x?xbf16>, %R: memref<?x?xbf16>, %C: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : bf16
  %rows = memref.dim %R, %c0 : memref<?x?xbf16>
  %columns = memref.dim %R, %c1 : memref<?x?xbf16>
  %m = memref.dim %C, %c0 : memref<?x?xbf16>
  %n = memref.dim %C, %c1 : memref<?x?xbf16>
  %k = memref.dim %A, %c1 : memref<?x?xbf16>
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %sum = scf.for %l = %c0 to %k step %c1 iter_args(%acc = %zero) -> (f32) {
        %a = memref.load %A[%i, %l] : memref<?x?xbf16>
        %b = memref.load %B[%l, %j] : memref<?x?xbf16>
        %x = arith.extf %a : bf16 to f32
        %y = arith.extf %b : bf16 to f32
        %p = arith.mulf %x, %y : f32
        %next = arith.addf %acc, %p : f32
        scf.yield %next : f32
      }
      %out = arith.truncf %sum : f32 to bf16
      %row_in = arith.cmpi ult, %i, %rows : index
      %column_in = arith.cmpi ult, %j, %columns : index
      %in = arith.andi %row_in, %column_in : i1
      %r = scf.if %in -> (bf16) {
        %x = memref.load %R[%i, %j] : memref<?x?xbf16>
        scf.yield %x : bf16
      } else {
        scf.yield %one : bf16
      }
      %all = arith.addf %out, %r : bf16
      memref.store %all, %C[%i, %j] : memref<?x?xbf16>
    }
  }
  return
}
}
