// Operands that a loop loads for mma.sync come ahead by cp.async, in groups: A along K and B along N, as matrices of rows are: two panels of B, whose rows are wider than a swizzle.
// Rows that chunks of 16 bytes fit, and rows that they do not; tiles at edges; several passes.
//
// RUN: girih run %s --kernel rows_by_rows --device sim --check-memory --arg A=randn:bf16[96,176] --arg B=randn:bf16[176,136] --arg C=poison:f32[96,136] | FileCheck %s
// RUN: girih run %s --kernel rows_by_rows --device sim --check-memory --arg A=randn:bf16[67,66] --arg B=randn:bf16[66,134] --arg C=poison:f32[67,134] | FileCheck %s
// RUN: girih run %s --kernel rows_by_rows --device sim --report banks --arg A=randn:bf16[64,64] --arg B=randn:bf16[64,128] --arg C=poison:f32[64,128] | FileCheck %s --check-prefix=BANKS
// CHECK: right: C:
// CHECK: no findings
// BANKS: (0 wasted, 1.00 for each)
// RUN: girih compile %s --emit ptx -o - | FileCheck %s --check-prefix=PTX
// PTX-LABEL: .entry rows_by_rows(
// PTX: cp.async.cg.shared.global
// PTX: cp.async.wait_group 2
// PTX: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// PTX: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16

module attributes {tile.target = "sm_80"} {

tile.kernel @rows_by_rows(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 128 : index
  %M = memref.dim %C, %c0 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %N = memref.dim %C, %c1 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 128 : index
  %tile_k = arith.constant 32 : index
  %K = memref.dim %A, %c1 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %a = tile.load %A[%row, %k] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<64x32xbf16>
    %b = tile.load %B[%k, %col] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<32x128xbf16>
    %next = tile.mma %a, %b, %acc : tensor<64x32xbf16>, tensor<32x128xbf16>, tensor<64x128xf32>
    scf.yield %next : tensor<64x128xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x128xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

func.func @rows_by_rows_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[?, 1]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[?, 1]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  return
}

}
