// 8-bit floats by mma.sync, sums in f16.
//
// RUN: girih run %s --kernel mixed --device sim --check-memory --arg A=randn:e4m3[33,40] --arg B=randn:e5m2[40,35] --arg C=poison:f16[33,35] | FileCheck %s
// RUN: girih compile %s --target sm_89 --emit cubin -o %t.sm_89.cubin
// RUN: girih compile %s --target sm_90a --emit cubin -o %t.sm_90a.cubin
// RUN: girih compile %s --target sm_100a --emit cubin -o %t.sm_100a.cubin
// RUN: girih compile %s --target sm_120a --emit cubin -o %t.sm_120a.cubin
// CHECK: right: C:

!a = memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>
!b = memref<?x?xf8E5M2, strided<[1, ?]>, #tile.global>
!c = memref<?x?xf16, strided<[?, 1]>, #tile.global>

tile.kernel @mixed(%A: !a, %B: !b, %C: !c) threads(64) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 32 : index
  %tile_n = arith.constant 32 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 32 : index
  %tile_n = arith.constant 32 : index
  %tile_k = arith.constant 32 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf16>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<32x32xf16>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<32x32xf8E4M3FN>
    %b = tile.load %B[%k, %col] : !b -> tensor<32x32xf8E5M2>
    %next = tile.mma %a, %b, %acc : tensor<32x32xf8E4M3FN>, tensor<32x32xf8E5M2>, tensor<32x32xf16>
    scf.yield %next : tensor<32x32xf16>
  }
  tile.store %sum, %C[%row, %col] : tensor<32x32xf16>, !c
}

func.func @mixed_ref(%A: memref<?x?xf8E4M3FN, strided<[?, 1]>>, %B: memref<?x?xf8E5M2, strided<[1, ?]>>, %C: memref<?x?xf16, strided<[?, 1]>>) attributes {girih.measure = "product", girih.tol = 2.0e-3 : f64} {
  %zero = arith.constant 0.0 : f16
  linalg.fill ins(%zero : f16) outs(%C : memref<?x?xf16, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xf8E4M3FN, strided<[?, 1]>>, memref<?x?xf8E5M2, strided<[1, ?]>>) outs(%C : memref<?x?xf16, strided<[?, 1]>>) {
    ^bb0(%a: f8E4M3FN, %b: f8E5M2, %c: f16):
      %x = arith.extf %a : f8E4M3FN to f32
      %y = arith.extf %b : f8E5M2 to f32
      %p = arith.mulf %x, %y : f32
      %w = arith.extf %c : f16 to f32
      %t = arith.addf %w, %p : f32
      %s = arith.truncf %t : f32 to f16
      linalg.yield %s : f16
  }
  return
}
