// One product after the other, both in the loop: warpgroups multiply what is loaded, and warps what they gave. The second
// product takes the first one's result from the registers that wgmma left it in.
//
// RUN: girih run %s --device sim --check-memory --arg A=randn:f16[70,40] --arg B=randn:f16[40,64] --arg D=randn:f16[64,32] --arg C=poison:f32[70,32] | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg A=randn:f16[20,13] --arg B=randn:f16[13,50] --arg D=randn:f16[50,30] --arg C=poison:f32[20,30] | FileCheck %s
// RUN: girih compile %s --emit cubin -o %t.cubin
// RUN: girih compile %s -o - | FileCheck %s --check-prefix=PTX
// RUN: girih-opt %s -tile-plan-copies -tile-pipeline -tile-expand-mma -tile-specialize-warps -tile-expand-tma -canonicalize -cse -tile-assign-layouts 2>/dev/null | FileCheck %s --check-prefix=LAYOUT
// CHECK: right: C:
// RUN: girih compile %s -o %t.ptx 2>&1 | FileCheck %s --check-prefix=REMARKS --allow-empty
// REMARKS-NOT: order the two by hand
// PTX: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// PTX: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// LAYOUT: %[[S:.*]] = tile.wgmma.wait 0
// LAYOUT: %[[P:.*]] = arith.truncf %[[S]]
// LAYOUT: %[[WHOLE:.*]] = tile.convert_layout %[[P]] : tensor<64x64xf16, #tile.layout<wgmma_d>> -> tensor<64x64xf16, #tile.linear
// LAYOUT: tile.mma %[[WHOLE]],

!m = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!c = memref<?x?xf32, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @chain(%A: !m, %B: !m, %D: !m, %C: !c) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %M = memref.dim %C, %c0 : !c
  %tiles_m = arith.ceildivui %M, %c64 : index
  tile.grid %tiles_m, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c16 = arith.constant 16 : index
  %K = memref.dim %A, %c1 : !m
  %N = memref.dim %B, %c1 : !m
  %bx = tile.block_id x
  %row = arith.muli %bx, %c64 : index
  %empty = arith.constant dense<0.0> : tensor<64x32xf32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %K step %c16 iter_args(%acc = %empty) -> (tensor<64x32xf32>) {
    %a = tile.load %A[%row, %k] : !m -> tensor<64x16xf16>
    %b = tile.load %B[%k, %c0] : !m -> tensor<16x64xf16>
    %s = tile.mma %a, %b, %zero : tensor<64x16xf16>, tensor<16x64xf16>, tensor<64x64xf32>
    %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %d = tile.load %D[%c0, %c0] : !m -> tensor<64x32xf16>
    %next = tile.mma %p, %d, %acc : tensor<64x64xf16>, tensor<64x32xf16>, tensor<64x32xf32>
    scf.yield %next : tensor<64x32xf32>
  }
  tile.store %sum, %C[%row, %c0] : tensor<64x32xf32>, !c
}

// The parts of A B are rounded where the kernel rounds them, so errors are small against |A| |B| |D|.
func.func @chain_ref(%A: memref<?x?xf16, strided<[?, 1]>>, %B: memref<?x?xf16, strided<[?, 1]>>, %D: memref<?x?xf16, strided<[?, 1]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product", girih.tol = 1.0e-3 : f64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %M = memref.dim %A, %c0 : memref<?x?xf16, strided<[?, 1]>>
  %N = memref.dim %B, %c1 : memref<?x?xf16, strided<[?, 1]>>
  %S = memref.alloc(%M, %N) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%S : memref<?x?xf32>)
  linalg.matmul ins(%A, %B : memref<?x?xf16, strided<[?, 1]>>, memref<?x?xf16, strided<[?, 1]>>) outs(%S : memref<?x?xf32>)
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%S, %D : memref<?x?xf32>, memref<?x?xf16, strided<[?, 1]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>) {
    ^bb0(%s: f32, %d: f16, %c: f32):
      %y = arith.extf %d : f16 to f32
      %p = arith.mulf %s, %y : f32
      %t = arith.addf %c, %p : f32
      linalg.yield %t : f32
  }
  memref.dealloc %S : memref<?x?xf32>
  return
}

}
