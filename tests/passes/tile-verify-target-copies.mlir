// Copies of several instructions are told of what the target lacks by the op that the program has, all in one run.
// RUN: girih-opt %s -tile-expand-tma -tile-verify-target -split-input-file -verify-diagnostics

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!bar = memref<!tile.mbarrier, #tile.shared>
module attributes {tile.target = "sm_80"} {
tile.kernel @old(%A: !rows) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<8x64xbf16, #tile.shared<swizzle = 128>>
  %bar = tile.alloc : !bar
  // expected-error@+1 {{'tile.tma.copy' op a tensor load .tile to shared::cluster needs sm_90 or later with PTX 8.0, found target sm_80}}
  tile.tma.copy load %A[%c0, %c0] extents [8, 64], %m mbar %bar[] : !rows, memref<8x64xbf16, #tile.shared<swizzle = 128>>, !bar
  // expected-error@+1 {{'tile.tma.apply' op a tensor load .tile to shared::cluster needs sm_90 or later with PTX 8.0, found target sm_80}}
  tile.tma.apply "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes" %m, %A box [8, 64] coords[%c0, %c0] mbar %bar[] : memref<8x64xbf16, #tile.shared<swizzle = 128>>, !rows mbar !bar
  // expected-error@+1 {{'tile.tma.copy' op a tensor reduction .add .tile}}
  tile.tma.copy store %A[%c0, %c0] extents [8, 64], %m reduce add overwrite : !rows, memref<8x64xbf16, #tile.shared<swizzle = 128>>
}
}

// -----

// Fields of maps that are made for them.
!rows = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!bar = memref<!tile.mbarrier, #tile.shared>
!slot = memref<8x32xf32, #tile.shared<swizzle = 128, atom = 32>>
module attributes {tile.target = "sm_90a"} {
tile.kernel @fields(%A: !rows) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : !slot
  %bar = tile.alloc : !bar
  // expected-error@+1 {{'tile.tma.copy' op swizzle = 128 (32-byte atoms), but sm_90 has only 16-byte atoms; use swizzle 128, or compile for sm_100a or later (target sm_90a)}}
  tile.tma.copy load %A[%c0, %c0] extents [8, 32], %m mbar %bar[] : !rows, !slot, !bar
  // expected-error@+1 {{'tile.tma.apply' op swizzle = 128 (32-byte atoms), but sm_90 has only 16-byte atoms}}
  tile.tma.apply "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes" %m, %A box [8, 32] coords[%c0, %c0] mbar %bar[] : !slot, !rows mbar !bar
}
}
