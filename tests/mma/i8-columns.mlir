// Bytes along K: tensor copies, and rows of an odd number of bytes.
//
// RUN: girih run %s --device sim --arg 'A=uniform(low=-128,high=127):i8[130,160]' --arg 'B=uniform(low=-128,high=127):i8[160,70]' --arg C=poison:i32[130,70] | FileCheck %s
// RUN: girih run %s --device sim --arg 'A=uniform(low=-128,high=127):i8[3,77]' --arg 'B=uniform(low=-128,high=127):i8[77,5]' --arg C=poison:i32[3,5] | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[70,168]' --arg 'B=uniform(low=-128,high=127):i8[168,40]' --arg C=poison:i32[70,40] | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[130,132]' --arg 'B=uniform(low=-128,high=127):i8[132,70]' --arg C=poison:i32[130,70] | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[128,130]' --arg 'B=uniform(low=-128,high=127):i8[130,64]' --arg C=poison:i32[128,64] | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[131,257]' --arg 'B=uniform(low=-128,high=127):i8[257,65]' --arg C=poison:i32[131,65] | FileCheck %s
// CHECK: right: C:

!a = memref<?x?xi8, strided<[?, 1]>, #tile.global>
!b = memref<?x?xi8, strided<[1, ?]>, #tile.global>
!c = memref<?x?xi32, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @product(%A: !a, %B: !b, %C: !c) threads(256) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 128 : index
  %tile_n = arith.constant 64 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 128 : index
  %tile_n = arith.constant 64 : index
  %tile_k = arith.constant 128 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0> : tensor<128x64xi32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<128x64xi32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<128x128xi8>
    %b = tile.load %B[%k, %col] : !b -> tensor<128x64xi8>
    %next = tile.mma %a, %b, %acc : tensor<128x128xi8>, tensor<128x64xi8>, tensor<128x64xi32>
    scf.yield %next : tensor<128x64xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<128x64xi32>, !c
}

func.func @product_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[1, ?]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  return
}

}
