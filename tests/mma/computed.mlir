// C = relu(A) B: an operand that is computed goes from registers to registers; nothing else of the program changes.
//
// RUN: girih run %s --device sim --check-memory --arg A=randn:bf16[70,40] --arg B=randn:bf16[40,37] --arg C=poison:f32[70,37] | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg A=randn:bf16[5,7] --arg B=randn:bf16[7,3] --arg C=poison:f32[5,3] | FileCheck %s
// RUN: girih compile %s -o - | FileCheck %s --check-prefix=PTX
// CHECK: right: C:
// PTX: .target sm_90a
// PTX: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// PTX-NOT: wgmma

!a = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!b = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
!c = memref<?x?xf32, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @product(%A: !a, %B: !b, %C: !c) threads(128) launch {
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
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c32 = arith.constant 32 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %c64 : index
  %col = arith.muli %by, %c32 : index
  %none = arith.constant dense<0.0> : tensor<64x32xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = scf.for %k = %c0 to %K step %c32 iter_args(%acc = %zero) -> (tensor<64x32xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<64x32xbf16>
    %b = tile.load %B[%k, %col] : !b -> tensor<32x32xbf16>
    %relu = arith.maximumf %a, %none : tensor<64x32xbf16>
    %next = tile.mma %relu, %b, %acc : tensor<64x32xbf16>, tensor<32x32xbf16>, tensor<64x32xf32>
    scf.yield %next : tensor<64x32xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x32xf32>, !c
}

func.func @product_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[1, ?]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %x = arith.extf %a : bf16 to f32
      %y = arith.extf %b : bf16 to f32
      %none = arith.constant 0.0 : f32
      %r = arith.maximumf %x, %none : f32
      %p = arith.mulf %r, %y : f32
      %s = arith.addf %c, %p : f32
      linalg.yield %s : f32
  }
  return
}

}
