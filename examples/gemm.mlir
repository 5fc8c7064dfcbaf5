// C = A B in bf16, accumulated in f32: whole tiles as values. The compiler decides the rest.
//
// A block computes 128 x 256 elements of C. What is written here is what is computed; that tiles of A and B go through a ring
// in shared memory by tensor copies, that one warpgroup copies while two multiply, and who holds which element, passes find
// out: `girih compile --emit explicit` shows it, and gemm_explicit.mlir is the same by hand. An operand whose rows tensor
// copies cannot take is copied by that warpgroup, in chunks of 16, 8 or 4 bytes or through registers, whatever a test at run
// time finds to fit.
//
//   girih run examples/gemm.mlir --arg A=randn:bf16[512,256] --arg B=randn:bf16[256,384] --arg C=poison:bf16[512,384]
//
// Sizes that no tile divides, one element; rows of multiples of 16, 8, 4 and 2 bytes; A and B that each start an element
// further; rows with space between them; and no K at all, whose product is zero:
// RUN: girih run %s --device sim --arg A=randn:bf16[150,136] --arg B=randn:bf16[136,261] --arg C=poison:bf16[150,261] | FileCheck %s
// RUN: girih run %s --device sim --arg A=randn:bf16[1,1] --arg B=randn:bf16[1,1] --arg C=poison:bf16[1,1] | FileCheck %s
// RUN: girih run %s --device sim --arg A=randn:bf16[129,332] --arg B=randn:bf16[332,36] --arg C=poison:bf16[129,36] | FileCheck %s
// RUN: girih run %s --device sim --arg A=randn:bf16[130,70] --arg B=randn:bf16[70,258] --arg C=poison:bf16[130,258] | FileCheck %s
// RUN: girih run %s --device sim --arg A=randn:bf16[131,67] --arg B=randn:bf16[67,257] --arg C=poison:bf16[131,257] | FileCheck %s
// RUN: girih run %s --device sim --arg A=randn:bf16[5,400] --arg B=randn:bf16[400,9] --arg C=poison:bf16[5,9] | FileCheck %s
// RUN: girih run %s --device sim --arg "A=randn:bf16[128,72;offset=2]" --arg B=randn:bf16[72,40] --arg C=poison:bf16[128,40] | FileCheck %s
// RUN: girih run %s --device sim --arg A=randn:bf16[20,136] --arg "B=randn:bf16[136,256;offset=2]" --arg C=poison:bf16[20,256] | FileCheck %s
// RUN: girih run %s --device sim --arg "A=randn:bf16[129,61;pitch=64]" --arg B=randn:bf16[61,8] --arg C=poison:bf16[129,8] | FileCheck %s
// RUN: girih run %s --device sim --arg "A=randn:bf16[129,64;pitch=67]" --arg B=randn:bf16[64,8] --arg "C=poison:bf16[129,8;pitch=9]" | FileCheck %s
// RUN: girih run %s --device sim --arg A=zeros:bf16[4,0] --arg B=zeros:bf16[0,4] --arg C=poison:bf16[4,4] | FileCheck %s --check-prefix=ZERO
// CHECK: gemm: ran on
// CHECK-NEXT: right: C:
// ZERO: right: C: all 16 elements are exact

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[1, ?]>, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @gemm(%A: !rows, %B: !columns, %C: !rows) threads(256) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %M = memref.dim %C, %c0 : !rows
  %N = memref.dim %C, %c1 : !rows
  %tiles_m = arith.ceildivui %M, %c128 : index
  %tiles_n = arith.ceildivui %N, %c256 : index
  %blocks = arith.muli %tiles_m, %tiles_n : index
  tile.grid %blocks, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index

  // Which tile: eight tile rows at a time, so that blocks that run together share tiles of A and B in L2.
  %M = memref.dim %C, %c0 : !rows
  %N = memref.dim %C, %c1 : !rows
  %K = memref.dim %A, %c1 : !rows
  %tiles_m = arith.ceildivui %M, %c128 : index
  %tiles_n = arith.ceildivui %N, %c256 : index
  %block = tile.block_id x
  %group_blocks = arith.muli %tiles_n, %c8 : index
  %group = arith.divui %block, %group_blocks : index
  %in_group = arith.remui %block, %group_blocks : index
  %group_row = arith.muli %group, %c8 : index
  %rows_left = arith.subi %tiles_m, %group_row : index
  %group_rows = arith.minui %rows_left, %c8 : index
  %tile_row = arith.remui %in_group, %group_rows : index
  %tile_col = arith.divui %in_group, %group_rows : index
  %tile_m = arith.addi %group_row, %tile_row : index
  %row = arith.muli %tile_m, %c128 : index
  %col = arith.muli %tile_col, %c256 : index

  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<128x256xf32>) {
    %a = tile.load %A[%row, %k] : !rows -> tensor<128x64xbf16>
    %b = tile.load %B[%k, %col] : !columns -> tensor<64x256xbf16>
    %next = tile.mma %a, %b, %acc : tensor<128x64xbf16>, tensor<64x256xbf16>, tensor<128x256xf32>
    scf.yield %next : tensor<128x256xf32>
  }
  %out = arith.truncf %sum : tensor<128x256xf32> to tensor<128x256xbf16>
  tile.store %out, %C[%row, %col] : tensor<128x256xbf16>, !rows
}

// The specification: sums in f32, rounded once. An error is right if it is small against |A| |B|.
func.func @gemm_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[1, ?]>>, %C: memref<?x?xbf16, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %M = memref.dim %C, %c0 : memref<?x?xbf16, strided<[?, 1]>>
  %N = memref.dim %C, %c1 : memref<?x?xbf16, strided<[?, 1]>>
  %sum = memref.alloc(%M, %N) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<?x?xf32>)
  linalg.matmul ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[1, ?]>>) outs(%sum : memref<?x?xf32>)
  linalg.map ins(%sum : memref<?x?xf32>) outs(%C : memref<?x?xbf16, strided<[?, 1]>>) (%s: f32, %old: bf16) {
    %r = arith.truncf %s : f32 to bf16
    linalg.yield %r : bf16
  }
  memref.dealloc %sum : memref<?x?xf32>
  return
}

}
