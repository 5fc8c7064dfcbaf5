// Copies ahead of loops inside loops, of loops after each other, and of operands beside ones that are computed.
//
// RUN: girih run %s --kernel triangle --device sim --check-memory --arg A=randn:f16[80,160] --arg B=randn:f16[160,40] --arg C=poison:f32[80,40] | FileCheck %s
// RUN: girih run %s --kernel triangle --device sim --check-memory --arg A=randn:f16[70,133] --arg B=randn:f16[133,33] --arg C=poison:f32[70,33] | FileCheck %s
// RUN: girih run %s --kernel two --device sim --check-memory --arg A=randn:f16[40,96] --arg B=randn:f16[96,40] --arg D=randn:f16[40,64] --arg E=randn:f16[64,40] --arg C=poison:f32[40,40] | FileCheck %s
// RUN: girih run %s --kernel chain --device sim --check-memory --arg Q=uniform:f16[40,32] --arg K=uniform:f16[32,144] --arg V=uniform:f16[144,32] --arg O=poison:f32[40,32] | FileCheck %s
// CHECK: right:
// CHECK: no findings

!rows = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xf16, strided<[1, ?]>, #tile.global>
!out = memref<?x?xf32, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_80"} {

// One block for all tiles: the loop is entered again and again, for one pass more each time, and the result is stored between.
tile.kernel @triangle(%A: !rows, %B: !columns, %C: !out) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %M = memref.dim %C, %c0 : !out
  %N = memref.dim %C, %c1 : !out
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  scf.for %row = %c0 to %M step %c32 {
    scf.for %col = %c0 to %N step %c32 {
      %end = arith.addi %row, %c32 : index
      %sum = scf.for %k = %c0 to %end step %c32 iter_args(%acc = %zero) -> (tensor<32x32xf32>) {
        %a = tile.load %A[%row, %k] : !rows -> tensor<32x32xf16>
        %b = tile.load %B[%k, %col] : !columns -> tensor<32x32xf16>
        %n = tile.mma %a, %b, %acc : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
        scf.yield %n : tensor<32x32xf32>
      }
      tile.store %sum, %C[%row, %col] : tensor<32x32xf32>, !out
    }
  }
}

func.func @triangle_ref(%A: memref<?x?xf16, strided<[?, 1]>>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %M = memref.dim %C, %c0 : memref<?x?xf32, strided<[?, 1]>>
  %N = memref.dim %C, %c1 : memref<?x?xf32, strided<[?, 1]>>
  %K = memref.dim %A, %c1 : memref<?x?xf16, strided<[?, 1]>>
  scf.for %m = %c0 to %M step %c1 {
    %tile = arith.divui %m, %c32 : index
    %next = arith.addi %tile, %c1 : index
    %past = arith.muli %next, %c32 : index
    %end = arith.minui %past, %K : index
    scf.for %n = %c0 to %N step %c1 {
      %sum = scf.for %k = %c0 to %end step %c1 iter_args(%acc = %zero) -> (f32) {
        %a = memref.load %A[%m, %k] : memref<?x?xf16, strided<[?, 1]>>
        %b = memref.load %B[%k, %n] : memref<?x?xf16, strided<[1, ?]>>
        %x = arith.extf %a : f16 to f32
        %y = arith.extf %b : f16 to f32
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        scf.yield %s : f32
      }
      memref.store %sum, %C[%m, %n] : memref<?x?xf32, strided<[?, 1]>>
    }
  }
  return
}

// C = A B + D E.
tile.kernel @two(%A: !rows, %B: !columns, %D: !rows, %E: !rows, %C: !out) threads(64) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %M = memref.dim %C, %c0 : !out
  %N = memref.dim %C, %c1 : !out
  %tiles_m = arith.ceildivui %M, %c32 : index
  %tiles_n = arith.ceildivui %N, %c32 : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %K = memref.dim %A, %c1 : !rows
  %L = memref.dim %D, %c1 : !rows
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %c32 : index
  %col = arith.muli %by, %c32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %first = scf.for %k = %c0 to %K step %c32 iter_args(%acc = %zero) -> (tensor<32x32xf32>) {
    %a = tile.load %A[%row, %k] : !rows -> tensor<32x32xf16>
    %b = tile.load %B[%k, %col] : !columns -> tensor<32x32xf16>
    %n = tile.mma %a, %b, %acc : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
    scf.yield %n : tensor<32x32xf32>
  }
  %sum = scf.for %k = %c0 to %L step %c32 iter_args(%acc = %first) -> (tensor<32x32xf32>) {
    %d = tile.load %D[%row, %k] : !rows -> tensor<32x32xf16>
    %e = tile.load %E[%k, %col] : !rows -> tensor<32x32xf16>
    %n = tile.mma %d, %e, %acc : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
    scf.yield %n : tensor<32x32xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<32x32xf32>, !out
}

func.func @two_ref(%A: memref<?x?xf16, strided<[?, 1]>>, %B: memref<?x?xf16, strided<[1, ?]>>, %D: memref<?x?xf16, strided<[?, 1]>>, %E: memref<?x?xf16, strided<[?, 1]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%A, %B : memref<?x?xf16, strided<[?, 1]>>, memref<?x?xf16, strided<[1, ?]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%D, %E : memref<?x?xf16, strided<[?, 1]>>, memref<?x?xf16, strided<[?, 1]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  return
}

// O = (Q K) V, a part of K and V in each pass: what the first product gives is the second's operand in its registers, and both
// loads come ahead.
tile.kernel @chain(%Q: !rows, %K: !rows, %V: !rows, %O: !out) threads(64) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %M = memref.dim %O, %c0 : !out
  %tiles_m = arith.ceildivui %M, %c32 : index
  tile.grid %tiles_m, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %keys = memref.dim %K, %c1 : !rows
  %bx = tile.block_id x
  %row = arith.muli %bx, %c32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %q = tile.load %Q[%row, %c0] : !rows -> tensor<32x32xf16>
  %out = scf.for %j = %c0 to %keys step %c32 iter_args(%acc = %zero) -> (tensor<32x32xf32>) {
    %k = tile.load %K[%c0, %j] : !rows -> tensor<32x32xf16>
    %v = tile.load %V[%j, %c0] : !rows -> tensor<32x32xf16>
    %s = tile.mma %q, %k, %zero : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
    %p = arith.truncf %s : tensor<32x32xf32> to tensor<32x32xf16>
    %n = tile.mma %p, %v, %acc : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
    scf.yield %n : tensor<32x32xf32>
  }
  tile.store %out, %O[%row, %c0] : tensor<32x32xf32>, !out
}

func.func @chain_ref(%Q: memref<?x?xf16, strided<[?, 1]>>, %K: memref<?x?xf16, strided<[?, 1]>>, %V: memref<?x?xf16, strided<[?, 1]>>, %O: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product", girih.tol = 1.0e-3 : f64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %M = memref.dim %O, %c0 : memref<?x?xf32, strided<[?, 1]>>
  %keys = memref.dim %K, %c1 : memref<?x?xf16, strided<[?, 1]>>
  %sum = memref.alloc(%M, %keys) : memref<?x?xf32>
  %s = memref.alloc(%M, %keys) : memref<?x?xf16>
  linalg.fill ins(%zero : f32) outs(%sum : memref<?x?xf32>)
  linalg.fill ins(%zero : f32) outs(%O : memref<?x?xf32, strided<[?, 1]>>)
  linalg.matmul ins(%Q, %K : memref<?x?xf16, strided<[?, 1]>>, memref<?x?xf16, strided<[?, 1]>>) outs(%sum : memref<?x?xf32>)
  linalg.map ins(%sum : memref<?x?xf32>) outs(%s : memref<?x?xf16>) (%v: f32, %old: f16) {
    %h = arith.truncf %v : f32 to f16
    linalg.yield %h : f16
  }
  linalg.matmul ins(%s, %V : memref<?x?xf16>, memref<?x?xf16, strided<[?, 1]>>) outs(%O : memref<?x?xf32, strided<[?, 1]>>)
  memref.dealloc %sum : memref<?x?xf32>
  memref.dealloc %s : memref<?x?xf16>
  return
}

}
