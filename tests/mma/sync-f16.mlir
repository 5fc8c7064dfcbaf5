// f16 by mma.sync: few rows, few columns, more warps than parts, either major.
//
// RUN: girih run %s --kernel rows16 --device sim --check-memory --arg A=randn:f16[16,32] --arg B=randn:f16[32,32] --arg C=poison:f32[16,32] | FileCheck %s
// RUN: girih run %s --kernel rows16 --device sim --check-memory --arg A=randn:f16[21,50] --arg B=randn:f16[50,40] --arg C=poison:f32[21,40] | FileCheck %s
// RUN: girih run %s --kernel rows32 --device sim --check-memory --arg A=randn:f16[40,50] --arg B=randn:f16[50,24] --arg C=poison:f32[40,24] | FileCheck %s
// RUN: girih run %s --kernel one_warp --device sim --check-memory --arg A=randn:f16[40,50] --arg B=randn:f16[50,24] --arg C=poison:f32[40,24] | FileCheck %s
// RUN: girih run %s --kernel shallow --device sim --check-memory --arg A=randn:f16[40,50] --arg B=randn:f16[50,24] --arg C=poison:f32[40,24] | FileCheck %s
// RUN: girih compile %s --target sm_80 --emit cubin -o %t.sm_80.cubin
// RUN: girih compile %s --target sm_89 --emit cubin -o %t.sm_89.cubin
// RUN: girih compile %s --target sm_90a --emit cubin -o %t.sm_90a.cubin
// RUN: girih compile %s --target sm_100a --emit cubin -o %t.sm_100a.cubin
// RUN: girih compile %s --target sm_120a --emit cubin -o %t.sm_120a.cubin
// CHECK: right: C:

!a = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!b = memref<?x?xf16, strided<[1, ?]>, #tile.global>
!c = memref<?x?xf32, strided<[?, 1]>, #tile.global>

tile.kernel @rows16(%A: !a, %B: !b, %C: !c) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 16 : index
  %tile_n = arith.constant 32 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 16 : index
  %tile_n = arith.constant 32 : index
  %tile_k = arith.constant 32 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<16x32xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<16x32xf16>
    %b = tile.load %B[%k, %col] : !b -> tensor<32x32xf16>
    %next = tile.mma %a, %b, %acc : tensor<16x32xf16>, tensor<32x32xf16>, tensor<16x32xf32>
    scf.yield %next : tensor<16x32xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<16x32xf32>, !c
}

func.func @rows16_ref(%A: memref<?x?xf16, strided<[?, 1]>>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xf16, strided<[?, 1]>>, memref<?x?xf16, strided<[1, ?]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  return
}

tile.kernel @rows32(%A: !a, %B: !b, %C: !c) threads(256) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 32 : index
  %tile_n = arith.constant 64 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 32 : index
  %tile_n = arith.constant 64 : index
  %tile_k = arith.constant 16 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<32x64xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<32x16xf16>
    %b = tile.load %B[%k, %col] : !b -> tensor<16x64xf16>
    %next = tile.mma %a, %b, %acc : tensor<32x16xf16>, tensor<16x64xf16>, tensor<32x64xf32>
    scf.yield %next : tensor<32x64xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<32x64xf32>, !c
}

func.func @rows32_ref(%A: memref<?x?xf16, strided<[?, 1]>>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xf16, strided<[?, 1]>>, memref<?x?xf16, strided<[1, ?]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  return
}

tile.kernel @one_warp(%A: !a, %B: !b, %C: !c) threads(32) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 32 : index
  %tile_n = arith.constant 16 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 32 : index
  %tile_n = arith.constant 16 : index
  %tile_k = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<32x16xf32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<32x16xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<32x64xf16>
    %b = tile.load %B[%k, %col] : !b -> tensor<64x16xf16>
    %next = tile.mma %a, %b, %acc : tensor<32x64xf16>, tensor<64x16xf16>, tensor<32x16xf32>
    scf.yield %next : tensor<32x16xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<32x16xf32>, !c
}

func.func @one_warp_ref(%A: memref<?x?xf16, strided<[?, 1]>>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xf16, strided<[?, 1]>>, memref<?x?xf16, strided<[1, ?]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
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
  %tile_k = arith.constant 8 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<16x8xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<16x8xf16>
    %b = tile.load %B[%k, %col] : !b -> tensor<8x8xf16>
    %next = tile.mma %a, %b, %acc : tensor<16x8xf16>, tensor<8x8xf16>, tensor<16x8xf32>
    scf.yield %next : tensor<16x8xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<16x8xf32>, !c
}

func.func @shallow_ref(%A: memref<?x?xf16, strided<[?, 1]>>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xf16, strided<[?, 1]>>, memref<?x?xf16, strided<[1, ?]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  return
}
