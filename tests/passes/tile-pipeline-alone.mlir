// A loop whose one slot is more than a block has: nothing else can make room for it.
// RUN: girih-opt %s -tile-pipeline -verify-diagnostics
!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
// expected-error @+1 {{stages 262144 bytes at a time, but 231424 bytes of shared memory are free, which are 0 slots; found slots = 1; take smaller tiles or fewer slots}}
tile.kernel @alone(%A: !rows) threads(512) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %K = memref.dim %A, %c0 : !rows
  scf.for %k = %c0 to %K step %c512 {
    %a = tile.stage %A[%c0, %k] side a major k by tma : !rows -> memref<4x8x64x64xbf16, #tile.shared<swizzle = 128>>
  }
}
