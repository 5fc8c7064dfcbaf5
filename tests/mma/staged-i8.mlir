// Operands that a loop loads for mma.sync come ahead by cp.async, in groups: Bytes along K by ldmatrix.
// Rows that chunks of 16 bytes fit, and rows that they do not; tiles at edges; several passes.
//
// RUN: girih run %s --kernel bytes --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[96,336]' --arg 'B=uniform(low=-128,high=127):i8[336,72]' --arg C=poison:i32[96,72] | FileCheck %s
// RUN: girih run %s --kernel bytes --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[67,135]' --arg 'B=uniform(low=-128,high=127):i8[135,69]' --arg C=poison:i32[67,69] | FileCheck %s
// RUN: girih run %s --kernel bytes --device sim --report banks --arg 'A=uniform(low=-128,high=127):i8[64,128]' --arg 'B=uniform(low=-128,high=127):i8[128,64]' --arg C=poison:i32[64,64] | FileCheck %s --check-prefix=BANKS
// CHECK: right: C:
// CHECK: no findings
// BANKS: (0 wasted, 1.00 for each)
// RUN: girih compile %s --emit ptx -o - | FileCheck %s --check-prefix=PTX
// PTX-LABEL: .entry bytes(
// PTX: cp.async.cg.shared.global
// PTX: cp.async.wait_group 2
// PTX: ldmatrix.sync.aligned.m8n8.x4.shared.b16

module attributes {tile.target = "sm_80"} {

tile.kernel @bytes(%A: memref<?x?xi8, strided<[?, 1]>, #tile.global>, %B: memref<?x?xi8, strided<[1, ?]>, #tile.global>, %C: memref<?x?xi32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 64 : index
  %M = memref.dim %C, %c0 : memref<?x?xi32, strided<[?, 1]>, #tile.global>
  %N = memref.dim %C, %c1 : memref<?x?xi32, strided<[?, 1]>, #tile.global>
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 64 : index
  %tile_k = arith.constant 64 : index
  %K = memref.dim %A, %c1 : memref<?x?xi8, strided<[?, 1]>, #tile.global>
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0> : tensor<64x64xi32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<64x64xi32>) {
    %a = tile.load %A[%row, %k] : memref<?x?xi8, strided<[?, 1]>, #tile.global> -> tensor<64x64xi8>
    %b = tile.load %B[%k, %col] : memref<?x?xi8, strided<[1, ?]>, #tile.global> -> tensor<64x64xi8>
    %next = tile.mma %a, %b, %acc : tensor<64x64xi8>, tensor<64x64xi8>, tensor<64x64xi32>
    scf.yield %next : tensor<64x64xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x64xi32>, memref<?x?xi32, strided<[?, 1]>, #tile.global>
}

func.func @bytes_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[1, ?]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  return
}

}
