// Accesses that overlap come in the order of the source: of products, which warpgroups hold, and of a view with an element at
// several indices.
// RUN: girih run %s --kernel products --device sim --check-memory --arg A=randn:f16[128,64] --arg B=randn:f16[64,64] \
// RUN:   --arg C=poison:f32[131,64] | FileCheck %s
// RUN: girih run %s --kernel hankel --device sim --check-memory --arg X=iota:i32[600] | FileCheck %s
// CHECK: right: {{[CX]}}: all {{.*}} elements are
// CHECK: no findings

!halves = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!sums = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!overlapping = memref<8x512xi32, strided<[1, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {
// A product goes to the rows from 0 on, then to those from 1, 2 and 3 on, and one thread writes an element of the last.
tile.kernel @products(%A: !halves, %B: !halves, %C: !sums) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c63 = arith.constant 63 : index
  %nine = arith.constant 9.0 : f32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %a = tile.load %A[%c0, %c0] : !halves -> tensor<128x64xf16>
  %b = tile.load %B[%c0, %c0] : !halves -> tensor<64x64xf16>
  %p = tile.mma %a, %b, %zero : tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>
  tile.store %p, %C[%c0, %c0] : tensor<128x64xf32>, !sums
  scf.for %i = %c1 to %c4 step %c1 {
    tile.store %p, %C[%i, %c0] : tensor<128x64xf32>, !sums
  }
  %t = tile.thread_id
  %first = arith.cmpi eq, %t, %c0 : index
  scf.if %first {
    memref.store %nine, %C[%c63, %c63] : !sums
  }
}
func.func @products_ref(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c63 = arith.constant 63 : index
  %nine = arith.constant 9.0 : f32
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c4 step %c1 {
    %rows = memref.subview %C[%i, 0] [128, 64] [1, 1] : memref<?x?xf32> to memref<128x64xf32, strided<[?, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%rows : memref<128x64xf32, strided<[?, 1], offset: ?>>)
    linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%rows : memref<128x64xf32, strided<[?, 1], offset: ?>>)
  }
  memref.store %nine, %C[%c63, %c63] : memref<?x?xf32>
  return
}

// Row i of the view starts at element i: row 1 is read after row 0 is written, and row 4 is written after that.
tile.kernel @hankel(%X: memref<?xi32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %rows = memref.reinterpret_cast %X to offset: [0], sizes: [8, 512], strides: [1, 1] : memref<?xi32, #tile.global> to !overlapping
  %a = tile.load %rows[%c0, %c0] : !overlapping -> tensor<1x512xi32>
  %b = arith.addi %a, %a : tensor<1x512xi32>
  tile.store %b, %rows[%c0, %c0] : tensor<1x512xi32>, !overlapping
  %c = tile.load %rows[%c1, %c0] : !overlapping -> tensor<1x512xi32>
  %d = arith.addi %c, %c : tensor<1x512xi32>
  tile.store %d, %rows[%c4, %c0] : tensor<1x512xi32>, !overlapping
}
func.func @hankel_ref(%X: memref<?xi32>) {
  %a = memref.alloc() : memref<512xi32>
  %row0 = memref.subview %X[0] [512] [1] : memref<?xi32> to memref<512xi32, strided<[1]>>
  %row1 = memref.subview %X[1] [512] [1] : memref<?xi32> to memref<512xi32, strided<[1], offset: 1>>
  %row4 = memref.subview %X[4] [512] [1] : memref<?xi32> to memref<512xi32, strided<[1], offset: 4>>
  linalg.add ins(%row0, %row0 : memref<512xi32, strided<[1]>>, memref<512xi32, strided<[1]>>) outs(%a : memref<512xi32>)
  linalg.copy ins(%a : memref<512xi32>) outs(%row0 : memref<512xi32, strided<[1]>>)
  linalg.add ins(%row1, %row1 : memref<512xi32, strided<[1], offset: 1>>, memref<512xi32, strided<[1], offset: 1>>) outs(%a : memref<512xi32>)
  linalg.copy ins(%a : memref<512xi32>) outs(%row4 : memref<512xi32, strided<[1], offset: 4>>)
  memref.dealloc %a : memref<512xi32>
  return
}
}
