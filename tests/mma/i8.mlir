// Bytes: exact sums. B lies along N, which wgmma does not read, so that threads transpose it.
//
// RUN: girih run %s --device sim --arg 'A=uniform(low=-128,high=127):i8[70,80]' --arg 'B=uniform(low=-128,high=127):i8[80,40]' --arg C=poison:i32[70,40] | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[70,82]' --arg 'B=uniform(low=-128,high=127):i8[82,40]' --arg C=poison:i32[70,40] | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[64,144]' --arg 'B=uniform(low=-128,high=127):i8[144,33]' --arg C=poison:i32[64,33] | FileCheck %s
// CHECK: right: C:

!a = memref<?x?xi8, strided<[?, 1]>, #tile.global>
!b = memref<?x?xi8, strided<[?, 1]>, #tile.global>
!c = memref<?x?xi32, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @product(%A: !a, %B: !b, %C: !c) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 32 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 32 : index
  %tile_k = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0> : tensor<64x32xi32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<64x32xi32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<64x64xi8>
    %b = tile.load %B[%k, %col] : !b -> tensor<64x32xi8>
    %next = tile.mma %a, %b, %acc : tensor<64x64xi8>, tensor<64x32xi8>, tensor<64x32xi32>
    scf.yield %next : tensor<64x32xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x32xi32>, !c
}

func.func @product_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[?, 1]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[?, 1]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  return
}

}
