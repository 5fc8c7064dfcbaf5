// 8-bit floats, whose sums keep fewer bits than f32 has: held as bf16.
//
// RUN: girih run %s --device sim --arg A=randn:e4m3[65,96] --arg B=randn:e4m3[96,66] --arg C=poison:bf16[65,66] | FileCheck %s
// RUN: girih run %s --device sim --arg A=randn:e4m3[5,7] --arg B=randn:e4m3[7,3] --arg C=poison:bf16[5,3] | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg A=randn:e4m3[64,135] --arg B=randn:e4m3[135,66] --arg C=poison:bf16[64,66] | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg A=randn:e4m3[128,129] --arg B=randn:e4m3[129,128] --arg C=poison:bf16[128,128] | FileCheck %s
// CHECK: right: C:

!a = memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>
!b = memref<?x?xf8E4M3FN, strided<[1, ?]>, #tile.global>
!c = memref<?x?xbf16, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @product(%A: !a, %B: !b, %C: !c) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 64 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 64 : index
  %tile_k = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<64x64xf8E4M3FN>
    %b = tile.load %B[%k, %col] : !b -> tensor<64x64xf8E4M3FN>
    %next = tile.mma %a, %b, %acc : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %short = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %short, %C[%row, %col] : tensor<64x64xbf16>, !c
}

func.func @product_ref(%A: memref<?x?xf8E4M3FN, strided<[?, 1]>>, %B: memref<?x?xf8E4M3FN, strided<[1, ?]>>, %C: memref<?x?xbf16, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %M = memref.dim %C, %c0 : memref<?x?xbf16, strided<[?, 1]>>
  %N = memref.dim %C, %c1 : memref<?x?xbf16, strided<[?, 1]>>
  %sum = memref.alloc(%M, %N) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<?x?xf32>)
  linalg.matmul ins(%A, %B : memref<?x?xf8E4M3FN, strided<[?, 1]>>, memref<?x?xf8E4M3FN, strided<[1, ?]>>) outs(%sum : memref<?x?xf32>)
  linalg.map ins(%sum : memref<?x?xf32>) outs(%C : memref<?x?xbf16, strided<[?, 1]>>) (%s: f32, %old: bf16) {
    %r = arith.truncf %s : f32 to bf16
    linalg.yield %r : bf16
  }
  memref.dealloc %sum : memref<?x?xf32>
  return
}

}
