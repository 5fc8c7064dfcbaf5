// Fields of a map that a copy replaces, masks and reports: what the verifier says.
// RUN: girih-opt %s --split-input-file --verify-diagnostics

!map = !tile.tensor_map<8x32xf32>
!box = memref<8x32xf32, #tile.shared<align = 128>>
!bar = memref<!tile.mbarrier, #tile.shared>

func.func private @no_address(%map: !map, %bar: !bar, %i: index) {
  %m = tile.alloc : !box
  // expected-error@below {{replaces sizes of the tensor, but not its address, and PTX has no such form; give override_address too}}
  tile.tma.load %map[%i, %i], %m, %bar[] override_dims(%i, %i) override_strides(%i) : !map, !box, !bar
  return
}

// -----

!map = !tile.tensor_map<8x32xf32>
!box = memref<8x32xf32, #tile.shared<align = 128>>

func.func private @number(%map: !map, %i: index, %a: i64) {
  %m = tile.alloc : !box
  // expected-error@below {{override_dims has 1 sizes and override_strides 0 strides, but the map !tile.tensor_map<8x32xf32> takes 2 and 1: all are replaced together; give all of them, or none}}
  tile.tma.store %m, %map[%i, %i] override_address %a override_dims(%i) : !box, !map
  return
}

// -----

!map = !tile.tensor_map<8x32xf32>
!box = memref<8x32xf32, #tile.shared<align = 128>>

func.func private @values(%map: !map, %i: index) {
  %c8 = arith.constant 8 : i64
  %c256 = arith.constant 256 : index
  %c4 = arith.constant 4 : index
  %m = tile.alloc : !box
  // expected-error@below {{override_address is 8, but a tensor starts on a multiple of 16 bytes; start it there}}
  // expected-error@below {{override_dims has 256, but a size that is replaced has 8 bits: 1 to 255; make a map of that size}}
  // expected-error@below {{override_strides has 4 bytes, but a stride is a multiple of 16 below 2^40; pad the rows}}
  // expected-error@below {{a coordinate is 4, but a copy that replaces sizes starts at 0; move override_address instead}}
  tile.tma.reduce add %m, %map[%c4, %i] override_address %c8 override_dims(%c256, %i) override_strides(%c4) : !box, !map
  return
}

// -----

!map = !tile.tensor_map<64x64xbf16, swizzle = 128, mode = im2col, lower = [0, 0], upper = [0, 0]>

func.func private @mode(%map: !map, %i: index, %a: i64) {
  // expected-error@below {{sizes can be replaced in mode tile only, but the copy goes by !tile.tensor_map<64x64xbf16, swizzle = 128, mode = im2col, lower = [0, 0], upper = [0, 0]>; give override_address alone}}
  // expected-error@below {{has `evict_last` and a cache policy; give one of them}}
  tile.tma.prefetch %map[%i, %i, %i, %i] cache evict_last evict_last override_address %a override_dims(%i, %i, %i, %i) override_strides(%i, %i, %i) : !map
  return
}

// -----

!map = !tile.tensor_map<8x32xf32>
!box = memref<8x32xf32, #tile.shared<align = 128>>
!bar = memref<!tile.mbarrier, #tile.shared>

func.func private @masks(%map: !map, %bar: !bar, %i: index, %a: i64, %h: i16, %w: i32) {
  %m = tile.alloc : !box
  // expected-error@below {{has a mask of 16 bits and one of 32; give one of them}}
  // expected-error@below {{replaces sizes in a multicast, whose mask has 32 bits then; use multicast_32b}}
  tile.tma.load %map[%i, %i], %m, %bar[] multicast %h multicast_32b %w override_address %a override_dims(%i, %i) override_strides(%i) : !map, !box, !bar
  return
}

// -----

!map = !tile.tensor_map<8x32xf32>
!box = memref<8x32xf32, #tile.shared<align = 128>>
!bar = memref<!tile.mbarrier, #tile.shared>

func.func private @no_mask(%map: !map, %bar: !bar, %i: index, %w: i32) {
  %m = tile.alloc : !box
  // expected-error@below {{has `mask_16b`, which says how `multicast` is spelt, but no `multicast`}}
  // expected-error@below {{a multicast writes to the blocks of a cluster, but the destination is named through shared::cta; leave `space cta` out}}
  tile.tma.load %map[%i, %i], %m, %bar[] mask_16b multicast_32b %w space cta : !map, !box, !bar
  return
}

// -----

!vector = memref<64xf32, #tile.global>
!box = memref<64xf32, #tile.shared<align = 128>>
!bar = memref<!tile.mbarrier, #tile.shared>

func.func private @opcode(%A: !vector, %bar: !bar, %i: index, %h: i16) {
  %m = tile.alloc : !box
  // expected-error@below {{needs `cta_mask_32b`: .multicast::cluster::32b names the blocks by it}}
  // expected-error@below {{has `cta_mask`, which the opcode}}
  tile.tma.apply "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster::32b" %m, %A box [64] coords[%i] mbar %bar[] cta_mask %h : !box, !vector mbar !bar
  return
}

// -----

!map = !tile.tensor_map<8x32xf32>
!box = memref<8x32xf32, #tile.shared<align = 128>>
!bar = memref<!tile.mbarrier, #tile.shared>

func.func private @report(%map: !map, %bar: !bar, %i: index) {
  %m = tile.alloc : !box
  // expected-error@below {{expected a report mechanism: one of disabled, per_16bytes_80000000, per_16bytes_8000, per_16bytes_80, per_16bytes_8, per_element_ff; found `validity`}}
  tile.tma.load %map[%i, %i], %m, %bar[] report validity : !map, !box, !bar
  return
}
