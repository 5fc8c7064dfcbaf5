// One product has all its sums in registers at once: what ptxas has no room for is told at the op.
// RUN: not girih compile %s -o %t.ptx 2>&1 | FileCheck %s
// CHECK: wgmma-registers.mlir:[[# @LINE + 17]]:10: error: 'tile.wgmma' op has 128 registers of sums in each thread and needs 26
// CHECK-SAME: beside them, but the 512 threads of the block have 128 each; multiply tiles of at most 200 columns, or with fewer threads
!A = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!C = memref<?x?xf32, strided<[?, 1]>, #tile.global>

tile.kernel @k(%A: !A, %B: !A, %C: !C) threads(512) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %k = memref.dim %A, %c1 : !A
  %z = arith.constant dense<0.0> : tensor<256x256xf32>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %z) -> (tensor<256x256xf32>) {
    %a = tile.load %A[%c0, %i] : !A -> tensor<256x64xf16>
    %b = tile.load %B[%i, %c0] : !A -> tensor<64x256xf16>
    %c = tile.mma %a, %b, %acc : tensor<256x64xf16>, tensor<64x256xf16>, tensor<256x256xf32>
    scf.yield %c : tensor<256x256xf32>
  }
  tile.store %r, %C[%c0, %c0] : tensor<256x256xf32>, !C
}
