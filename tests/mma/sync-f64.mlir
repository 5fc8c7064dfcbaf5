// f64: 16 rows at once from sm_90 on, 8 before.
//
// RUN: girih run %s --kernel doubles --device sim --check-memory --arg A=randn:f64[33,36] --arg B=randn:f64[36,35] --arg C=poison:f64[33,35] | FileCheck %s
// RUN: girih run %s --kernel shallow --device sim --check-memory --arg A=randn:f64[17,7] --arg B=randn:f64[7,9] --arg C=poison:f64[17,9] | FileCheck %s
// RUN: girih run %s --kernel rows8 --device sim --check-memory --arg A=randn:f64[13,11] --arg B=randn:f64[11,17] --arg C=poison:f64[13,17] | FileCheck %s
// RUN: girih compile %s --target sm_80 --emit cubin -o %t.sm_80.cubin
// RUN: girih compile %s --target sm_89 --emit cubin -o %t.sm_89.cubin
// RUN: girih compile %s --target sm_90a --emit cubin -o %t.sm_90a.cubin
// RUN: girih compile %s --target sm_100a --emit cubin -o %t.sm_100a.cubin
// RUN: girih compile %s --target sm_120a --emit cubin -o %t.sm_120a.cubin
// RUN: girih run %s --kernel doubles --target sm_80 --device sim --arg A=randn:f64[33,36] --arg B=randn:f64[36,35] --arg C=poison:f64[33,35] | FileCheck %s
// RUN: girih run %s --kernel rows8 --target sm_80 --device sim --arg A=randn:f64[13,11] --arg B=randn:f64[11,17] --arg C=poison:f64[13,17] | FileCheck %s
// CHECK: right: C:

!a = memref<?x?xf64, strided<[?, 1]>, #tile.global>
!b = memref<?x?xf64, strided<[1, ?]>, #tile.global>
!c = memref<?x?xf64, strided<[?, 1]>, #tile.global>

tile.kernel @doubles(%A: !a, %B: !b, %C: !c) threads(64) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 32 : index
  %tile_n = arith.constant 32 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 32 : index
  %tile_n = arith.constant 32 : index
  %tile_k = arith.constant 16 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf64>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<32x32xf64>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<32x16xf64>
    %b = tile.load %B[%k, %col] : !b -> tensor<16x32xf64>
    %next = tile.mma %a, %b, %acc : tensor<32x16xf64>, tensor<16x32xf64>, tensor<32x32xf64>
    scf.yield %next : tensor<32x32xf64>
  }
  tile.store %sum, %C[%row, %col] : tensor<32x32xf64>, !c
}

func.func @doubles_ref(%A: memref<?x?xf64, strided<[?, 1]>>, %B: memref<?x?xf64, strided<[1, ?]>>, %C: memref<?x?xf64, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%C : memref<?x?xf64, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xf64, strided<[?, 1]>>, memref<?x?xf64, strided<[1, ?]>>) outs(%C : memref<?x?xf64, strided<[?, 1]>>)
  return
}

tile.kernel @shallow(%A: !a, %B: !b, %C: !c) threads(32) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 16 : index
  %tile_n = arith.constant 8 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 16 : index
  %tile_n = arith.constant 8 : index
  %tile_k = arith.constant 4 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf64>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<16x8xf64>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<16x4xf64>
    %b = tile.load %B[%k, %col] : !b -> tensor<4x8xf64>
    %next = tile.mma %a, %b, %acc : tensor<16x4xf64>, tensor<4x8xf64>, tensor<16x8xf64>
    scf.yield %next : tensor<16x8xf64>
  }
  tile.store %sum, %C[%row, %col] : tensor<16x8xf64>, !c
}

func.func @shallow_ref(%A: memref<?x?xf64, strided<[?, 1]>>, %B: memref<?x?xf64, strided<[1, ?]>>, %C: memref<?x?xf64, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%C : memref<?x?xf64, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xf64, strided<[?, 1]>>, memref<?x?xf64, strided<[1, ?]>>) outs(%C : memref<?x?xf64, strided<[?, 1]>>)
  return
}

tile.kernel @rows8(%A: !a, %B: !b, %C: !c) threads(32) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 8 : index
  %tile_n = arith.constant 16 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 8 : index
  %tile_n = arith.constant 16 : index
  %tile_k = arith.constant 8 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf64>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<8x16xf64>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<8x8xf64>
    %b = tile.load %B[%k, %col] : !b -> tensor<8x16xf64>
    %next = tile.mma %a, %b, %acc : tensor<8x8xf64>, tensor<8x16xf64>, tensor<8x16xf64>
    scf.yield %next : tensor<8x16xf64>
  }
  tile.store %sum, %C[%row, %col] : tensor<8x16xf64>, !c
}

func.func @rows8_ref(%A: memref<?x?xf64, strided<[?, 1]>>, %B: memref<?x?xf64, strided<[1, ?]>>, %C: memref<?x?xf64, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%C : memref<?x?xf64, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xf64, strided<[?, 1]>>, memref<?x?xf64, strided<[1, ?]>>) outs(%C : memref<?x?xf64, strided<[?, 1]>>)
  return
}
