// Tiles smaller than an instruction: what they have not is a copy, and along K it is zero.
//
// RUN: girih run %s --kernel m1n8k16 --device sim --check-memory --arg A=randn:f16[9,19] --arg B=randn:f16[19,5] --arg C=poison:f32[9,5] | FileCheck %s
// RUN: girih run %s --kernel m4n2k2 --device sim --check-memory --arg A=randn:f16[9,19] --arg B=randn:f16[19,5] --arg C=poison:f32[9,5] | FileCheck %s
// RUN: girih run %s --kernel m8n1k4 --device sim --check-memory --arg A=randn:f16[9,19] --arg B=randn:f16[19,5] --arg C=poison:f32[9,5] | FileCheck %s
// RUN: girih run %s --kernel m2n4k1 --device sim --check-memory --arg A=randn:f16[9,19] --arg B=randn:f16[19,5] --arg C=poison:f32[9,5] | FileCheck %s
// RUN: girih run %s --kernel m64n1k16 --device sim --check-memory --arg A=randn:f16[9,19] --arg B=randn:f16[19,5] --arg C=poison:f32[9,5] | FileCheck %s
// RUN: girih compile %s --target sm_80 --emit cubin -o %t.sm_80.cubin
// RUN: girih compile %s --target sm_90a --emit cubin -o %t.sm_90a.cubin
// CHECK: right: C:

!a = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!b = memref<?x?xf16, strided<[1, ?]>, #tile.global>
!c = memref<?x?xf32, strided<[?, 1]>, #tile.global>

tile.kernel @m1n8k16(%A: !a, %B: !b, %C: !c) threads(32) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 1 : index
  %tile_n = arith.constant 8 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 1 : index
  %tile_n = arith.constant 8 : index
  %tile_k = arith.constant 16 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<1x8xf32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<1x8xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<1x16xf16>
    %b = tile.load %B[%k, %col] : !b -> tensor<16x8xf16>
    %next = tile.mma %a, %b, %acc : tensor<1x16xf16>, tensor<16x8xf16>, tensor<1x8xf32>
    scf.yield %next : tensor<1x8xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<1x8xf32>, !c
}

func.func @m1n8k16_ref(%A: memref<?x?xf16, strided<[?, 1]>>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xf16, strided<[?, 1]>>, memref<?x?xf16, strided<[1, ?]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  return
}

tile.kernel @m4n2k2(%A: !a, %B: !b, %C: !c) threads(32) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 4 : index
  %tile_n = arith.constant 2 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 4 : index
  %tile_n = arith.constant 2 : index
  %tile_k = arith.constant 2 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<4x2xf32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<4x2xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<4x2xf16>
    %b = tile.load %B[%k, %col] : !b -> tensor<2x2xf16>
    %next = tile.mma %a, %b, %acc : tensor<4x2xf16>, tensor<2x2xf16>, tensor<4x2xf32>
    scf.yield %next : tensor<4x2xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<4x2xf32>, !c
}

func.func @m4n2k2_ref(%A: memref<?x?xf16, strided<[?, 1]>>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xf16, strided<[?, 1]>>, memref<?x?xf16, strided<[1, ?]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  return
}

tile.kernel @m8n1k4(%A: !a, %B: !b, %C: !c) threads(64) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 8 : index
  %tile_n = arith.constant 1 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 8 : index
  %tile_n = arith.constant 1 : index
  %tile_k = arith.constant 4 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<8x1xf32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<8x1xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<8x4xf16>
    %b = tile.load %B[%k, %col] : !b -> tensor<4x1xf16>
    %next = tile.mma %a, %b, %acc : tensor<8x4xf16>, tensor<4x1xf16>, tensor<8x1xf32>
    scf.yield %next : tensor<8x1xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<8x1xf32>, !c
}

func.func @m8n1k4_ref(%A: memref<?x?xf16, strided<[?, 1]>>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xf16, strided<[?, 1]>>, memref<?x?xf16, strided<[1, ?]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  return
}

tile.kernel @m2n4k1(%A: !a, %B: !b, %C: !c) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 2 : index
  %tile_n = arith.constant 4 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 2 : index
  %tile_n = arith.constant 4 : index
  %tile_k = arith.constant 1 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<2x4xf32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<2x4xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<2x1xf16>
    %b = tile.load %B[%k, %col] : !b -> tensor<1x4xf16>
    %next = tile.mma %a, %b, %acc : tensor<2x1xf16>, tensor<1x4xf16>, tensor<2x4xf32>
    scf.yield %next : tensor<2x4xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<2x4xf32>, !c
}

func.func @m2n4k1_ref(%A: memref<?x?xf16, strided<[?, 1]>>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xf16, strided<[?, 1]>>, memref<?x?xf16, strided<[1, ?]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  return
}

tile.kernel @m64n1k16(%A: !a, %B: !b, %C: !c) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 1 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 1 : index
  %tile_k = arith.constant 16 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<64x1xf32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<64x1xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<64x16xf16>
    %b = tile.load %B[%k, %col] : !b -> tensor<16x1xf16>
    %next = tile.mma %a, %b, %acc : tensor<64x16xf16>, tensor<16x1xf16>, tensor<64x1xf32>
    scf.yield %next : tensor<64x1xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x1xf32>, !c
}

func.func @m64n1k16_ref(%A: memref<?x?xf16, strided<[?, 1]>>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xf16, strided<[?, 1]>>, memref<?x?xf16, strided<[1, ?]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  return
}
