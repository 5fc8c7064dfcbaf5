// A reference whose types promise that elements follow each other gets them so, whatever gaps the kernel's arrays have.
//
// RUN: girih run %s --device sim --arg "A=randn:bf16[7,20;pitch=24]" --arg "B=poison:bf16[7,20;pitch=32]" | FileCheck %s
// RUN: girih run %s --device sim --arg A=randn:bf16[7,20] --arg "B=poison:bf16[7,20;pitch=32]" | FileCheck %s
// CHECK: right: B: all 140 elements are exact

!matrix = memref<?x?xbf16, strided<[?, 1]>, #tile.global>

tile.kernel @copy(%A: !matrix, %B: !matrix) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0, %c0] : !matrix -> tensor<8x32xbf16>
  tile.store %a, %B[%c0, %c0] : tensor<8x32xbf16>, !matrix
}

func.func @copy_ref(%A: memref<?x?xbf16>, %B: memref<?x?xbf16>) {
  memref.copy %A, %B : memref<?x?xbf16> to memref<?x?xbf16>
  return
}
