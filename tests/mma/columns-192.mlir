// Any multiple of 8 columns is a product of warpgroups: 192 and 24 of them.
//
// RUN: girih run %s --kernel wide --device sim --check-memory --arg A=randn:bf16[70,72] --arg B=randn:bf16[72,200] --arg C=poison:f32[70,200] | FileCheck %s
// RUN: girih run %s --kernel narrow --device sim --check-memory --arg A=randn:bf16[70,36] --arg B=randn:bf16[36,50] --arg C=poison:f32[70,50] | FileCheck %s
// RUN: girih compile %s --target sm_90a --emit cubin -o %t.sm_90a.cubin
// RUN: girih compile %s -o - | FileCheck %s --check-prefix=PTX
// PTX: wgmma.mma_async.sync.aligned.m64n192k16
// PTX: wgmma.mma_async.sync.aligned.m64n24k16
// CHECK: right: C:

!a = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!b = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
!c = memref<?x?xf32, strided<[?, 1]>, #tile.global>

tile.kernel @wide(%A: !a, %B: !b, %C: !c) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 192 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 192 : index
  %tile_k = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<64x192xf32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<64x192xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<64x64xbf16>
    %b = tile.load %B[%k, %col] : !b -> tensor<64x192xbf16>
    %next = tile.mma %a, %b, %acc : tensor<64x64xbf16>, tensor<64x192xbf16>, tensor<64x192xf32>
    scf.yield %next : tensor<64x192xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x192xf32>, !c
}

func.func @wide_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[1, ?]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  return
}

tile.kernel @narrow(%A: !a, %B: !b, %C: !c) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 24 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 24 : index
  %tile_k = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<64x24xf32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<64x24xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<64x64xbf16>
    %b = tile.load %B[%k, %col] : !b -> tensor<64x24xbf16>
    %next = tile.mma %a, %b, %acc : tensor<64x64xbf16>, tensor<64x24xbf16>, tensor<64x24xf32>
    scf.yield %next : tensor<64x24xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x24xf32>, !c
}

func.func @narrow_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[1, ?]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  return
}
