// Loops one after another that cannot have a slot each: threads copy for the last ones when they need it. Each loop is there
// with tensor copies alone and with a test for each operand.
//
// RUN: girih compile %s -o %t.ptx 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: girih run %s --device sim --check-memory --arg A=randn:bf16[150,136] --arg B=randn:bf16[136,264] --arg C=poison:f32[150,264] 2>/dev/null | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg A=randn:bf16[129,67] --arg B=randn:bf16[67,77] --arg C=poison:f32[129,77] 2>/dev/null | FileCheck %s
// REMARK: remark: is copied by threads, and not ahead of the loop: other loops have the shared memory for slots
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
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %cm = arith.constant 128 : index
  %cn = arith.constant 256 : index
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %cm : index
  %col = arith.muli %by, %cn : index
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %K = memref.dim %A, %c1 : !a
  %s0 = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<128x256xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<128x64xbf16>
    %b = tile.load %B[%k, %col] : !b -> tensor<64x256xbf16>
    %next = tile.mma %a, %b, %acc : tensor<128x64xbf16>, tensor<64x256xbf16>, tensor<128x256xf32>
    scf.yield %next : tensor<128x256xf32>
  }
  %s1 = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %s0) -> (tensor<128x256xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<128x64xbf16>
    %b = tile.load %B[%k, %col] : !b -> tensor<64x256xbf16>
    %next = tile.mma %a, %b, %acc : tensor<128x64xbf16>, tensor<64x256xbf16>, tensor<128x256xf32>
    scf.yield %next : tensor<128x256xf32>
  }
  %s2 = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %s1) -> (tensor<128x256xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<128x64xbf16>
    %b = tile.load %B[%k, %col] : !b -> tensor<64x256xbf16>
    %next = tile.mma %a, %b, %acc : tensor<128x64xbf16>, tensor<64x256xbf16>, tensor<128x256xf32>
    scf.yield %next : tensor<128x256xf32>
  }
  %s3 = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %s2) -> (tensor<128x256xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<128x64xbf16>
    %b = tile.load %B[%k, %col] : !b -> tensor<64x256xbf16>
    %next = tile.mma %a, %b, %acc : tensor<128x64xbf16>, tensor<64x256xbf16>, tensor<128x256xf32>
    scf.yield %next : tensor<128x256xf32>
  }
  %s4 = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %s3) -> (tensor<128x256xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<128x64xbf16>
    %b = tile.load %B[%k, %col] : !b -> tensor<64x256xbf16>
    %next = tile.mma %a, %b, %acc : tensor<128x64xbf16>, tensor<64x256xbf16>, tensor<128x256xf32>
    scf.yield %next : tensor<128x256xf32>
  }
  tile.store %s4, %C[%row, %col] : tensor<128x256xf32>, !c
}

func.func @product_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[?, 1]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[?, 1]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[?, 1]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[?, 1]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[?, 1]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[?, 1]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  return
}

}
