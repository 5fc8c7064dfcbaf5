// RUN: girih-opt %s -pass-pipeline='builtin.module(tile-pipeline{slots=9})' -split-input-file -verify-diagnostics

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!slot = memref<4x1x64x64xbf16, #tile.shared<swizzle = 128>>
// expected-error @+1 {{stages 32768 bytes at a time, but 231424 bytes of shared memory are free, which are 7 slots; found slots = 9; take smaller tiles or fewer slots}}
tile.kernel @large(%A: !rows) threads(512) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %K = memref.dim %A, %c0 : !rows
  scf.for %k = %c0 to %K step %c64 {
    %a = tile.stage %A[%c0, %k] side a major k by tma : !rows -> !slot
  }
}

// -----

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!slot = memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>
tile.kernel @no_loop(%A: !rows) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{is by tma, which runs ahead of a loop, but it does not stand in the body of an scf.for itself; write by threads}}
  %a = tile.stage %A[%c0, %c0] side a major k by tma : !rows -> !slot
}

// -----

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!slot = memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>
tile.kernel @few(%A: !rows) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %K = memref.dim %A, %c0 : !rows
  %fits = tile.is_aligned %A axis 1 by 8 any_size : !rows
  scf.for %k = %c0 to %K step %c64 {
    // expected-error @+1 {{is by tma, which runs ahead of a loop, but the block has 64 threads of the 128 that copy; write by threads}}
    %a = tile.stage %A[%c0, %k] side a major k by tma where %fits : !rows -> !slot
  }
}
