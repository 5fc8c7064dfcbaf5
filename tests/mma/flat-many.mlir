// Products that stand in no loop, more than have a slot each in shared memory: three are staged ahead, threads copy for the last
// two, whose operands share their bytes.
//
// RUN: girih compile %s -o %t.ptx 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: girih run %s --device sim --check-memory --arg A=randn:bf16[150,320] --arg B=randn:bf16[320,264] --arg C=poison:f32[150,264] 2>/dev/null | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg A=randn:bf16[129,301] --arg B=randn:bf16[301,77] --arg C=poison:f32[129,77] 2>/dev/null | FileCheck %s
// REMARK-COUNT-4: is copied by threads: no tensor copy takes operand {{[ab]}}: the product stands in no loop, and shared memory has no room for its operands beside those of others
// REMARK-NOT: is copied by threads
// CHECK: right: C:
// CHECK: no findings

!a = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!b = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!c = memref<?x?xf32, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @product(%A: !a, %B: !b, %C: !c) threads(256) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cm = arith.constant 128 : index
  %cn = arith.constant 256 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %down = arith.ceildivui %M, %cm : index
  %across = arith.ceildivui %N, %cn : index
  tile.grid %down, %across, %c1
} body {
  %c0 = arith.constant 0 : index
  %cm = arith.constant 128 : index
  %cn = arith.constant 256 : index
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %cm : index
  %col = arith.muli %by, %cn : index
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %k0 = arith.constant 0 : index
  %a0 = tile.load %A[%row, %k0] : !a -> tensor<128x64xbf16>
  %b0 = tile.load %B[%k0, %col] : !b -> tensor<64x256xbf16>
  %s0 = tile.mma %a0, %b0, %zero : tensor<128x64xbf16>, tensor<64x256xbf16>, tensor<128x256xf32>
  %k1 = arith.constant 64 : index
  %a1 = tile.load %A[%row, %k1] : !a -> tensor<128x64xbf16>
  %b1 = tile.load %B[%k1, %col] : !b -> tensor<64x256xbf16>
  %s1 = tile.mma %a1, %b1, %s0 : tensor<128x64xbf16>, tensor<64x256xbf16>, tensor<128x256xf32>
  %k2 = arith.constant 128 : index
  %a2 = tile.load %A[%row, %k2] : !a -> tensor<128x64xbf16>
  %b2 = tile.load %B[%k2, %col] : !b -> tensor<64x256xbf16>
  %s2 = tile.mma %a2, %b2, %s1 : tensor<128x64xbf16>, tensor<64x256xbf16>, tensor<128x256xf32>
  %k3 = arith.constant 192 : index
  %a3 = tile.load %A[%row, %k3] : !a -> tensor<128x64xbf16>
  %b3 = tile.load %B[%k3, %col] : !b -> tensor<64x256xbf16>
  %s3 = tile.mma %a3, %b3, %s2 : tensor<128x64xbf16>, tensor<64x256xbf16>, tensor<128x256xf32>
  %k4 = arith.constant 256 : index
  %a4 = tile.load %A[%row, %k4] : !a -> tensor<128x64xbf16>
  %b4 = tile.load %B[%k4, %col] : !b -> tensor<64x256xbf16>
  %s4 = tile.mma %a4, %b4, %s3 : tensor<128x64xbf16>, tensor<64x256xbf16>, tensor<128x256xf32>
  tile.store %s4, %C[%row, %col] : tensor<128x256xf32>, !c
}

func.func @product_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[?, 1]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[?, 1]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  return
}

}
