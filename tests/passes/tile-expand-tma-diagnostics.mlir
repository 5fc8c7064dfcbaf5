// RUN: girih-opt %s --tile-expand-tma -split-input-file -verify-diagnostics

// The launcher knows the kernel's arguments only.
tile.kernel @block(%A: memref<16x16xi32, #tile.global>, %B: memref<16x16xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  // expected-note@below {{'tile.block_id' is computed on the device only}}
  %x = tile.block_id x
  %m = tile.alloc : memref<8x16xi32, #tile.shared>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %is_first = arith.cmpi eq, %x, %c0 : index
  %own = arith.select %is_first, %A, %B : memref<16x16xi32, #tile.global>
  // expected-error@below {{the launcher makes the tensor map, so that the global side is the kernel's arguments and views of them; put what a block or thread computes into the coordinates}}
  tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %m, %own box [8, 16] coords[%c0, %c0] mbar %bar[] : memref<8x16xi32, #tile.shared>, memref<16x16xi32, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
}

// -----

// Outside kernels nobody makes maps.
func.func private @part(%A: memref<16x16xi32, #tile.global>, %m: memref<8x16xi32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{stands in no kernel, so that no launcher encodes a map of the memref; give tile.tma.apply a tensor map}}
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %A, %m box [8, 16] coords[%c0, %c0] : memref<16x16xi32, #tile.global>, memref<8x16xi32, #tile.shared<align = 128>>
  return
}

// -----

// 16-byte slices with a swizzle.
module attributes {tile.target = "sm_100a"} {
tile.kernel @slices(%X: memref<2x3x9x8xi16, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<1x1x8x8xi16, #tile.shared>
  %lines = tile.alloc : memref<1x64xi16, #tile.shared<swizzle = 128>>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  tile.tma.apply "cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %m, %X box [1, 1, 8] coords[%c0, %c0, %c0] mbar %bar[] interleave 16 : memref<1x1x8x8xi16, #tile.shared>, memref<2x3x9x8xi16, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  // expected-warning@below {{interleave 16 with swizzle 128 can trap on sm_100 and later; leave the swizzle out}}
  tile.tma.apply "cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %lines, %X box [1, 1, 8] coords[%c0, %c0, %c0] mbar %bar[] interleave 16 : memref<1x64xi16, #tile.shared<swizzle = 128>>, memref<2x3x9x8xi16, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
}
}
