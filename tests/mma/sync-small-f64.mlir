// f64 in tiles smaller than an instruction.
//
// RUN: girih run %s --kernel m8n2k2 --device sim --check-memory --arg A=randn:f64[9,19] --arg B=randn:f64[19,5] --arg C=poison:f64[9,5] | FileCheck %s
// RUN: girih run %s --kernel m1n4k1 --device sim --check-memory --arg A=randn:f64[9,19] --arg B=randn:f64[19,5] --arg C=poison:f64[9,5] | FileCheck %s
// RUN: girih compile %s --target sm_80 --emit cubin -o %t.sm_80.cubin
// RUN: girih compile %s --target sm_90a --emit cubin -o %t.sm_90a.cubin
// CHECK: right: C:

!a = memref<?x?xf64, strided<[?, 1]>, #tile.global>
!b = memref<?x?xf64, strided<[1, ?]>, #tile.global>
!c = memref<?x?xf64, strided<[?, 1]>, #tile.global>

tile.kernel @m8n2k2(%A: !a, %B: !b, %C: !c) threads(64) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 8 : index
  %tile_n = arith.constant 2 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 8 : index
  %tile_n = arith.constant 2 : index
  %tile_k = arith.constant 2 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<8x2xf64>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<8x2xf64>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<8x2xf64>
    %b = tile.load %B[%k, %col] : !b -> tensor<2x2xf64>
    %next = tile.mma %a, %b, %acc : tensor<8x2xf64>, tensor<2x2xf64>, tensor<8x2xf64>
    scf.yield %next : tensor<8x2xf64>
  }
  tile.store %sum, %C[%row, %col] : tensor<8x2xf64>, !c
}

func.func @m8n2k2_ref(%A: memref<?x?xf64, strided<[?, 1]>>, %B: memref<?x?xf64, strided<[1, ?]>>, %C: memref<?x?xf64, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%C : memref<?x?xf64, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xf64, strided<[?, 1]>>, memref<?x?xf64, strided<[1, ?]>>) outs(%C : memref<?x?xf64, strided<[?, 1]>>)
  return
}

tile.kernel @m1n4k1(%A: !a, %B: !b, %C: !c) threads(32) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 1 : index
  %tile_n = arith.constant 4 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 1 : index
  %tile_n = arith.constant 4 : index
  %tile_k = arith.constant 1 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<1x4xf64>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<1x4xf64>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<1x1xf64>
    %b = tile.load %B[%k, %col] : !b -> tensor<1x4xf64>
    %next = tile.mma %a, %b, %acc : tensor<1x1xf64>, tensor<1x4xf64>, tensor<1x4xf64>
    scf.yield %next : tensor<1x4xf64>
  }
  tile.store %sum, %C[%row, %col] : tensor<1x4xf64>, !c
}

func.func @m1n4k1_ref(%A: memref<?x?xf64, strided<[?, 1]>>, %B: memref<?x?xf64, strided<[1, ?]>>, %C: memref<?x?xf64, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%C : memref<?x?xf64, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xf64, strided<[?, 1]>>, memref<?x?xf64, strided<[1, ?]>>) outs(%C : memref<?x?xf64, strided<[?, 1]>>)
  return
}
