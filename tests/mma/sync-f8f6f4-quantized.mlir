// Operands of 4 and 6 bits that are computed: rounded from f32 ahead of the product.
//
// RUN: girih run %s --target sm_120a --device sim --check-memory --arg A=randn:f32[33,70] --arg B=randn:f32[70,35] --arg C=poison:f32[33,35] | FileCheck %s
// RUN: girih compile %s --target sm_120a --emit ptx -o - | FileCheck %s --check-prefix=PTX
// RUN: girih compile %s --target sm_120a --emit cubin -o %t.sm_120a.cubin
// CHECK: right: C:
// PTX: cvt.rn.satfinite.e2m3x2.f32
// PTX: cvt.rn.satfinite.e2m1x2.f32
// PTX: mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m3.e2m1.f32
//
// RUN: not girih compile %s --target sm_90a -o - 2>&1 | FileCheck %s --check-prefix=LACKS
// RUN: not girih compile %s --target sm_120 -o - 2>&1 | FileCheck %s --check-prefix=LACKS
// LACKS: quantized.mlir:[[# @LINE + 29]]:13: error: 'tile.mma' op mma.sync with kind::f8f6f4 needs sm_120a or sm_121a (or `f`) with PTX 8.7, found target sm_{{.*}}; convert operands to f16, which has all of their numbers

!rows = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xf32, strided<[1, ?]>, #tile.global>

tile.kernel @quantized(%A: !rows, %B: !columns, %C: !rows) threads(64) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %M = memref.dim %C, %c0 : !rows
  %N = memref.dim %C, %c1 : !rows
  %down = arith.ceildivui %M, %c32 : index
  %across = arith.ceildivui %N, %c32 : index
  tile.grid %down, %across, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %K = memref.dim %A, %c1 : !rows
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %c32 : index
  %column = arith.muli %by, %c32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %k = %c0 to %K step %c32 iter_args(%acc = %zero) -> (tensor<32x32xf32>) {
    %wide_a = tile.load %A[%row, %k] : !rows -> tensor<32x32xf32>
    %wide_b = tile.load %B[%k, %column] : !columns -> tensor<32x32xf32>
    %a = tile.cvt %wide_a rn satfinite : tensor<32x32xf32> to tensor<32x32xf6E2M3FN>
    %b = arith.truncf %wide_b : tensor<32x32xf32> to tensor<32x32xf4E2M1FN>
    %next = tile.mma %a, %b, %acc : tensor<32x32xf6E2M3FN>, tensor<32x32xf4E2M1FN>, tensor<32x32xf32>
    scf.yield %next : tensor<32x32xf32>
  }
  tile.store %sum, %C[%row, %column] : tensor<32x32xf32>, !rows
}

func.func @quantized_ref(%A: memref<?x?xf32>, %B: memref<?x?xf32, strided<[1, ?]>>, %C: memref<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xf32>, memref<?x?xf32, strided<[1, ?]>>) outs(%C : memref<?x?xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %six = arith.truncf %a : f32 to f6E2M3FN
      %four = arith.truncf %b : f32 to f4E2M1FN
      %x = arith.extf %six : f6E2M3FN to f32
      %y = arith.extf %four : f4E2M1FN to f32
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %c, %p : f32
      linalg.yield %s : f32
  }
  return
}
