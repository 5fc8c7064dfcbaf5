// Products under a condition: added where a flag is set, loaded outside the branch, so that mma.sync takes them.
//
// RUN: girih run %s --device sim --check-memory --arg A=randn:f16[40,32] --arg B=randn:f16[32,24] --arg twice=i32:1 --arg C=poison:f32[40,24] | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg A=randn:f16[40,32] --arg B=randn:f16[32,24] --arg twice=i32:0 --arg C=poison:f32[40,24] | FileCheck %s
// CHECK: right: C:

!a = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!b = memref<?x?xf16, strided<[1, ?]>, #tile.global>
!c = memref<?x?xf32, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @product(%A: !a, %B: !b, %twice: i32, %C: !c) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c32 = arith.constant 32 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %c64 : index
  %tiles_n = arith.ceildivui %N, %c32 : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c32 = arith.constant 32 : index
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %c64 : index
  %col = arith.muli %by, %c32 : index
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %off = arith.constant 0 : i32
  %is_twice = arith.cmpi ne, %twice, %off : i32
  %a = tile.load %A[%row, %c0] : !a -> tensor<64x32xf16>
  %b = tile.load %B[%c0, %col] : !b -> tensor<32x32xf16>
  %once = tile.mma %a, %b, %zero : tensor<64x32xf16>, tensor<32x32xf16>, tensor<64x32xf32>
  %sum = scf.if %is_twice -> (tensor<64x32xf32>) {
    %again = tile.mma %a, %b, %once : tensor<64x32xf16>, tensor<32x32xf16>, tensor<64x32xf32>
    scf.yield %again : tensor<64x32xf32>
  } else {
    scf.yield %once : tensor<64x32xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x32xf32>, !c
}

func.func @product_ref(%A: memref<?x?xf16, strided<[?, 1]>>, %B: memref<?x?xf16, strided<[1, ?]>>, %twice: i32, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  %off = arith.constant 0 : i32
  %is_twice = arith.cmpi ne, %twice, %off : i32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xf16, strided<[?, 1]>>, memref<?x?xf16, strided<[1, ?]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  scf.if %is_twice {
    linalg.matmul ins(%A, %B : memref<?x?xf16, strided<[?, 1]>>, memref<?x?xf16, strided<[1, ?]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  }
  return
}

}
