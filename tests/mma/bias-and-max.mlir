// After a product of warpgroups: a vector added to every row, and the largest of each row. The whole tile lies as the parts
// of the warpgroups do, so that nothing moves but what the reduction itself moves.
//
// RUN: girih run %s --device sim --check-memory --arg A=randn:bf16[130,72] --arg B=randn:bf16[72,64] --arg bias=randn:f32[64] --arg C=poison:f32[130,64] --arg top=poison:f32[130] | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg A=randn:bf16[20,70] --arg B=randn:bf16[70,64] --arg bias=randn:f32[64] --arg C=poison:f32[20,64] --arg top=poison:f32[20] | FileCheck %s
// RUN: girih compile %s -o - | FileCheck %s --check-prefix=PTX
// CHECK: right: C:
// CHECK: top:
// RUN: girih compile %s -o %t.ptx 2>&1 | FileCheck %s --check-prefix=REMARKS --allow-empty
// REMARKS-NOT: order the two by hand
// PTX: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// PTX-NOT: mma.sync

!a = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!b = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
!c = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!v = memref<?xf32, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @product(%A: !a, %B: !b, %bias: !v, %C: !c, %top: !v) threads(256) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %M = memref.dim %C, %c0 : !c
  %tiles_m = arith.ceildivui %M, %c128 : index
  tile.grid %tiles_m, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %row = arith.muli %bx, %c128 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<128x64xf32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<128x64xbf16>
    %b = tile.load %B[%k, %c0] : !b -> tensor<64x64xbf16>
    %next = tile.mma %a, %b, %acc : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    scf.yield %next : tensor<128x64xf32>
  }
  %vector = tile.load %bias[%c0] : !v -> tensor<64xf32>
  %vector1 = tile.expand_dims %vector axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %rows = tile.broadcast %vector1 : tensor<1x64xf32> -> tensor<128x64xf32>
  %out = arith.addf %sum, %rows : tensor<128x64xf32>
  tile.store %out, %C[%row, %c0] : tensor<128x64xf32>, !c
  %max = tile.reduce %out axis 1 (%p: f32, %q: f32) {
    %m = arith.maximumf %p, %q : f32
    tile.yield %m : f32
  } : tensor<128x64xf32> -> tensor<128xf32>
  tile.store %max, %top[%row] : tensor<128xf32>, !v
}

func.func @product_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[1, ?]>>, %bias: memref<?xf32>, %C: memref<?x?xf32, strided<[?, 1]>>, %top: memref<?xf32>) attributes {girih.tol = 1.0e-4 : f64} {
  %lowest = arith.constant 0xFF800000 : f32
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%bias : memref<?xf32>) outs(%C : memref<?x?xf32, strided<[?, 1]>>) {
    ^bb0(%b: f32, %c: f32):
      linalg.yield %b : f32
  }
  linalg.matmul ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[1, ?]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.fill ins(%lowest : f32) outs(%top : memref<?xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%C : memref<?x?xf32, strided<[?, 1]>>) outs(%top : memref<?xf32>) {
    ^bb0(%c: f32, %t: f32):
      %m = arith.maximumf %c, %t : f32
      linalg.yield %m : f32
  }
  return
}

}
