// A product of matrices whose rows are known to be aligned: one loop, with tensor copies, and no test before it; where K ends
// does not matter.
// RUN: girih-opt %s -tile-plan-copies | FileCheck %s
// RUN: girih run %s --device sim --arg "A=randn:bf16[65,40;pitch=48]" --arg B=randn:bf16[40,9] --arg C=poison:f32[65,9] | FileCheck %s --check-prefix=RAN
// RUN: girih run %s --device sim --arg "A=randn:bf16[65,37;pitch=40]" --arg "B=randn:bf16[37,9;pitch=40]" --arg C=poison:f32[65,9] | FileCheck %s --check-prefix=RAN
// RUN: not girih run %s --device sim --arg A=randn:bf16[65,36] --arg B=randn:bf16[36,9] --arg C=poison:f32[65,9] 2>&1 | FileCheck %s --check-prefix=REFUSED

// RAN: right: C
// REFUSED: argument A: stride of dimension 0 = 36, but the kernel was compiled for multiples of 8; pad the rows, or compile without tile.aligned
// REFUSED: argument B: stride of dimension 1 = 36, but the kernel was compiled for multiples of 8

// CHECK-LABEL: tile.kernel @product
// CHECK-NOT: tile.is_aligned
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK: tile.stage %A[{{.*}}] side a major k by tma
// CHECK: tile.stage %B[{{.*}}] side b major k by tma
// CHECK-NOT: by threads
// CHECK: func.func @product_ref

!a = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!b = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
!c = memref<?x?xf32, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @product(%A: !a {tile.aligned = 16}, %B: !b {tile.aligned = 16}, %C: !c) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 8 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 8 : index
  %tile_k = arith.constant 16 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<64x8xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<64x16xbf16>
    %b = tile.load %B[%k, %col] : !b -> tensor<16x8xbf16>
    %next = tile.mma %a, %b, %acc : tensor<64x16xbf16>, tensor<16x8xbf16>, tensor<64x8xf32>
    scf.yield %next : tensor<64x8xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x8xf32>, !c
}

func.func @product_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[1, ?]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  return
}

}
