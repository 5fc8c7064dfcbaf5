// Operands that a loop loads for mma.sync come ahead by cp.async, in groups: 64 bits along M and N by ordinary loads.
// Rows that chunks of 16 bytes fit, and rows that they do not; tiles at edges; several passes.
//
// RUN: girih run %s --kernel doubles --device sim --check-memory --arg A=randn:f64[48,96] --arg B=randn:f64[96,40] --arg C=poison:f64[48,40] | FileCheck %s
// RUN: girih run %s --kernel doubles --device sim --check-memory --arg A=randn:f64[35,35] --arg B=randn:f64[35,33] --arg C=poison:f64[35,33] | FileCheck %s
// RUN: girih run %s --kernel doubles --device sim --report banks --arg A=randn:f64[32,32] --arg B=randn:f64[32,32] --arg C=poison:f64[32,32] | FileCheck %s --check-prefix=BANKS
// CHECK: right: C:
// CHECK: no findings
// BANKS: (0 wasted, 1.00 for each)
// RUN: girih compile %s --emit ptx -o - | FileCheck %s --check-prefix=PTX
// PTX-LABEL: .entry doubles(
// PTX: cp.async.cg.shared.global
// PTX: cp.async.wait_group 2
// PTX: ld.shared.b64

module attributes {tile.target = "sm_80"} {

tile.kernel @doubles(%A: memref<?x?xf64, strided<[1, ?]>, #tile.global>, %B: memref<?x?xf64, strided<[?, 1]>, #tile.global>, %C: memref<?x?xf64, strided<[?, 1]>, #tile.global>) threads(64) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 32 : index
  %tile_n = arith.constant 32 : index
  %M = memref.dim %C, %c0 : memref<?x?xf64, strided<[?, 1]>, #tile.global>
  %N = memref.dim %C, %c1 : memref<?x?xf64, strided<[?, 1]>, #tile.global>
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %tile_m = arith.constant 32 : index
  %tile_n = arith.constant 32 : index
  %tile_k = arith.constant 16 : index
  %K = memref.dim %A, %c1 : memref<?x?xf64, strided<[1, ?]>, #tile.global>
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf64>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<32x32xf64>) {
    %a = tile.load %A[%row, %k] : memref<?x?xf64, strided<[1, ?]>, #tile.global> -> tensor<32x16xf64>
    %b = tile.load %B[%k, %col] : memref<?x?xf64, strided<[?, 1]>, #tile.global> -> tensor<16x32xf64>
    %next = tile.mma %a, %b, %acc : tensor<32x16xf64>, tensor<16x32xf64>, tensor<32x32xf64>
    scf.yield %next : tensor<32x32xf64>
  }
  tile.store %sum, %C[%row, %col] : tensor<32x32xf64>, memref<?x?xf64, strided<[?, 1]>, #tile.global>
}

func.func @doubles_ref(%A: memref<?x?xf64, strided<[1, ?]>>, %B: memref<?x?xf64, strided<[?, 1]>>, %C: memref<?x?xf64, strided<[?, 1]>>) attributes {girih.measure = "product", girih.tol = 1.0e-15 : f64} {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%C : memref<?x?xf64, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xf64, strided<[1, ?]>>, memref<?x?xf64, strided<[?, 1]>>) outs(%C : memref<?x?xf64, strided<[?, 1]>>)
  return
}

}
