// Blocks of another number of threads than a power of two hold products of warpgroups, and no tile as a whole.
// RUN: girih-opt %s -pass-pipeline='builtin.module(tile-plan-copies,tile-split-epilogues,tile-pipeline,tile-expand-mma)' -split-input-file -verify-diagnostics

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!sums = memref<?x?xf32, strided<[?, 1]>, #tile.global>
module attributes {tile.target = "sm_90a"} {
tile.kernel @reduces(%A: !rows, %B: !rows, %C: !sums, %D: memref<?xf32, #tile.global>) threads(384) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !rows
  %zero = arith.constant dense<0.0> : tensor<192x64xf32>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<192x64xf32>) {
    %a = tile.load %A[%c0, %k] : !rows -> tensor<192x64xbf16>
    %b = tile.load %B[%k, %c0] : !rows -> tensor<64x64xbf16>
    %next = tile.mma %a, %b, %acc : tensor<192x64xbf16>, tensor<64x64xbf16>, tensor<192x64xf32>
    scf.yield %next : tensor<192x64xf32>
  }
  // expected-error @+1 {{works on a whole tile in a kernel with threads(384), but threads that hold whole tiles are a power of two; others hold products by warpgroups alone, and what loads, stores and arithmetic make of them in their size: take M = 128 with threads(256) or M = 256 with threads(512)}}
  %rows = tile.reduce %sum axis 0 (%x: f32, %y: f32) {
    %s = arith.addf %x, %y : f32
    tile.yield %s : f32
  } : tensor<192x64xf32> -> tensor<64xf32>
  tile.store %rows, %D[%c0] : tensor<64xf32>, memref<?xf32, #tile.global>
  tile.store %sum, %C[%c0, %c0] : tensor<192x64xf32>, !sums
}
}

// -----

// What goes with the product in its size is fine.
!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!sums = memref<?x?xf32, strided<[?, 1]>, #tile.global>
module attributes {tile.target = "sm_90a"} {
tile.kernel @adds(%A: !rows, %B: !rows, %R: !sums, %C: !sums) threads(384) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !rows
  %zero = arith.constant dense<0.0> : tensor<192x64xf32>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<192x64xf32>) {
    %a = tile.load %A[%c0, %k] : !rows -> tensor<192x64xbf16>
    %b = tile.load %B[%k, %c0] : !rows -> tensor<64x64xbf16>
    %next = tile.mma %a, %b, %acc : tensor<192x64xbf16>, tensor<64x64xbf16>, tensor<192x64xf32>
    scf.yield %next : tensor<192x64xf32>
  }
  %old = tile.load %R[%c0, %c0] : !sums -> tensor<192x64xf32>
  %new = arith.addf %sum, %old : tensor<192x64xf32>
  %relu = arith.maximumf %new, %zero : tensor<192x64xf32>
  tile.store %relu, %C[%c0, %c0] : tensor<192x64xf32>, !sums
}
}
