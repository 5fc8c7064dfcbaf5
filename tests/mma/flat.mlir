// Products that stand in no loop have tensor copies, too: one of them in a branch, and one whose operands two products take.
//
// RUN: girih compile %s -o %t.ptx 2>&1 | FileCheck %s --check-prefix=REMARK --allow-empty
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: girih run %s --device sim --check-memory --arg A=randn:bf16[150,40] --arg B=randn:bf16[40,72] --arg C=poison:f32[150,72] --arg twice=i32:0 | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg A=randn:bf16[150,40] --arg B=randn:bf16[40,72] --arg C=poison:f32[150,72] --arg twice=i32:1 | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg A=randn:bf16[65,61] --arg B=randn:bf16[61,7] --arg C=poison:f32[65,7] --arg twice=i32:1 | FileCheck %s
// REMARK-NOT: remark
// PTX: cp.async.bulk.tensor
// PTX: wgmma.mma_async
// CHECK: right: C:
// CHECK: no findings

!a = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!b = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!c = memref<?x?xf32, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @product(%A: !a, %B: !b, %twice: i32, %C: !c) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cm = arith.constant 64 : index
  %cn = arith.constant 64 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %down = arith.ceildivui %M, %cm : index
  %across = arith.ceildivui %N, %cn : index
  tile.grid %down, %across, %c1
} body {
  %c0 = arith.constant 0 : index
  %cm = arith.constant 64 : index
  %cn = arith.constant 64 : index
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %cm : index
  %col = arith.muli %by, %cn : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %A[%row, %c0] : !a -> tensor<64x64xbf16>
  %b = tile.load %B[%c0, %col] : !b -> tensor<64x64xbf16>
  %one = tile.mma %a, %b, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  %two = tile.mma %a, %b, %one : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  %off = arith.constant 0 : i32
  %is_twice = arith.cmpi ne, %twice, %off : i32
  %sum = scf.if %is_twice -> (tensor<64x64xf32>) {
    %a2 = tile.load %A[%row, %c0] : !a -> tensor<64x64xbf16>
    %b2 = tile.load %B[%c0, %col] : !b -> tensor<64x64xbf16>
    %three = tile.mma %a2, %b2, %two : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %three : tensor<64x64xf32>
  } else {
    scf.yield %two : tensor<64x64xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x64xf32>, !c
}

func.func @product_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[?, 1]>>, %twice: i32, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  %off = arith.constant 0 : i32
  %is_twice = arith.cmpi ne, %twice, %off : i32
  linalg.matmul ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[?, 1]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  scf.if %is_twice {
    linalg.matmul ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[?, 1]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  }
  linalg.matmul ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[?, 1]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  return
}

}
