// What copies by opcode, box and steps must be.
// RUN: girih-opt %s --split-input-file --verify-diagnostics

func.func private @opcode(%A: memref<16x16xi32, #tile.global>, %m: memref<8x16xi32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{opcode cp.async.bulk.tensor.2d.global.shared::cta.tile.complete has .complete where .bulk_group belongs}}
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.complete" %A, %m box [8, 16] coords[%c0, %c0] : memref<16x16xi32, #tile.global>, memref<8x16xi32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @order(%A: memref<16x16xi32, #tile.global>, %m: memref<8x16xi32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{a store takes the global side, then the shared memref, found memref<8x16xi32, #tile.shared<align = 128>>, then memref<16x16xi32, #tile.global>}}
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %m, %A box [8, 16] coords[%c0, %c0] : memref<8x16xi32, #tile.shared<align = 128>>, memref<16x16xi32, #tile.global>
  return
}

// -----

// Operands go with the opcode's qualifiers.
func.func private @operands(%A: memref<16x16xi32, #tile.global>, %m: memref<8x16xi32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{needs `mbar`: a load counts its bytes on one, and the opcode is cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint}}
  // expected-error@below {{needs `cta_mask`: .multicast::cluster names the blocks by it, and the opcode is cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint}}
  // expected-error@below {{needs `cache_policy`: .L2::cache_hint takes it, and the opcode is cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint}}
  tile.tma.apply "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint" %m, %A box [8, 16] coords[%c0, %c0] : memref<8x16xi32, #tile.shared<align = 128>>, memref<16x16xi32, #tile.global>
  return
}

// -----

func.func private @operands(%A: memref<16x16xi32, #tile.global>, %m: memref<8x16xi32, #tile.shared<align = 128>>, %bar: memref<!tile.mbarrier, #tile.shared>, %mask: i16, %policy: i64, %h: i16) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{has `mbar`, which the opcode cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group does not take; leave it out or add its qualifier}}
  // expected-error@below {{has `cta_mask`, which the opcode cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group does not take; leave it out or add its qualifier}}
  // expected-error@below {{has `cache_policy`, which the opcode cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group does not take; leave it out or add its qualifier}}
  // expected-error@below {{has `gather4`, which the opcode cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group does not take; leave it out or add its qualifier}}
  // expected-error@below {{has `offsets`, which belong to loads and prefetches in the modes im2col, but the opcode is cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group}}
  // expected-error@below {{has `repeat`, but the leading axes of the shared memref say how often; leave it out}}
  // expected-error@below {{offsets belong to the modes im2col, but the map is !tile.tensor_map<8x16xi32>}}
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %A, %m box [8, 16] coords[%c0, %c0] repeat [2] gather4(%c0, %c0, %c0, %c0) offsets(%h) mbar %bar[] cta_mask %mask cache_policy %policy : memref<16x16xi32, #tile.global>, memref<8x16xi32, #tile.shared<align = 128>> mbar memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @operands(%A: memref<16x16xi32, #tile.global>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{has `overwrite`, which is about what stores and reductions write}}
  // expected-error@below {{repeat has 0, but an axis has at least 1 position}}
  tile.tma.apply "cp.async.bulk.prefetch.tensor.2d.L2.global.tile" %A box [8, 16] coords[%c0, %c0] steps [[8, 0]] repeat [0] overwrite : memref<16x16xi32, #tile.global>
  return
}

// -----

func.func private @rows(%A: memref<64x32xi32, #tile.global>, %m: memref<4x32xi32, #tile.shared<align = 128>>, %bar: memref<!tile.mbarrier, #tile.shared>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{needs `gather4`: modes tile::gather4 and tile::scatter4 name four rows, and the opcode is cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes}}
  tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes" %m, %A box [1, 32] coords[%c0, %c0] mbar %bar[] : memref<4x32xi32, #tile.shared<align = 128>>, memref<64x32xi32, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @rows(%A: memref<64x32xi32, #tile.global>, %m: memref<4x32xi32, #tile.shared<align = 128>>, %bar: memref<!tile.mbarrier, #tile.shared>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{gather4 names 3 rows, but takes 4}}
  tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes" %m, %A box [1, 32] coords[%c0, %c0] gather4(%c0, %c0, %c0) mbar %bar[] : memref<4x32xi32, #tile.shared<align = 128>>, memref<64x32xi32, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @rows(%A: memref<64x32xi32, #tile.global>, %m: memref<4x32xi32, #tile.shared<align = 128>>, %bar: memref<!tile.mbarrier, #tile.shared>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{four rows need a map of two dimensions whose box has one row, such as 1x64xbf16, found !tile.tensor_map<4x32xi32>}}
  tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes" %m, %A box [4, 32] coords[%c0, %c0] gather4(%c0, %c0, %c0, %c0) mbar %bar[] : memref<4x32xi32, #tile.shared<align = 128>>, memref<64x32xi32, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @box(%A: memref<16x16xi32, #tile.global>, %m: memref<8x16xi32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{box has 1 sizes, but the opcode says 2d: 2 of its dimensions}}
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %A, %m box [128] coords[%c0, %c0] : memref<16x16xi32, #tile.global>, memref<8x16xi32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @box(%A: memref<16x16xi32, #tile.global>, %m: memref<8x16xi32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{box[1] = 512}}
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %A, %m box [512, 16] coords[%c0, %c0] : memref<16x16xi32, #tile.global>, memref<8x16xi32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @box(%A: memref<16x16xi32, #tile.global>, %m: memref<8x16xi32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{1 coordinates are given, but the opcode says 2d}}
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %A, %m box [8, 16] coords[%c0] : memref<16x16xi32, #tile.global>, memref<8x16xi32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @box(%A: memref<16x16xi32, #tile.global>, %m: memref<8x16xi32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{box [4, 16] is an atom of 4x16 in shared memory, but memref<8x16xi32, #tile.shared<align = 128>> does not end with it}}
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %A, %m box [4, 16] coords[%c0, %c0] : memref<16x16xi32, #tile.global>, memref<8x16xi32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @box(%A: memref<16x16xi32, #tile.global>, %m: memref<8x16xi32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // Three rows of every second are two.
  // expected-error@below {{box [6, 16] is an atom of 3x16 in shared memory}}
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %A, %m box [6, 16] coords[%c0, %c0] element_strides [2, 1] : memref<16x16xi32, #tile.global>, memref<8x16xi32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @rank(%A: memref<4x16x16xi32, #tile.global>, %m: memref<8x16xi32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{the map !tile.tensor_map<8x16xi32> has 2 dimensions, but memref<4x16x16xi32, #tile.global> has 3}}
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %A, %m box [8, 16] coords[%c0, %c0] : memref<4x16x16xi32, #tile.global>, memref<8x16xi32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @rank(%m: memref<8x16xi32, #tile.shared<align = 128>>, %column: memref<16x16xi32, strided<[1, 16]>, #tile.global>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{the innermost stride is 16, but a tensor map needs 1; bring the dimension with stride 1 innermost with memref.transpose}}
  // expected-error@below {{strides[0] = 4 bytes, but must be a multiple of 16; pad to 16 bytes}}
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %column, %m box [8, 16] coords[%c0, %c0] : memref<16x16xi32, strided<[1, 16]>, #tile.global>, memref<8x16xi32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @steps(%A: memref<16x16xi32, #tile.global>, %m: memref<2x8x16xi32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{needs `steps`: one vector of 2 for each of the 1 leading axes, found none}}
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %A, %m box [8, 16] coords[%c0, %c0] : memref<16x16xi32, #tile.global>, memref<2x8x16xi32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @steps(%A: memref<16x16xi32, #tile.global>, %m: memref<2x8x16xi32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{has 2 vectors of steps, but 1 leading axes; give one vector for each}}
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %A, %m box [8, 16] coords[%c0, %c0] steps [[8, 0], [0, 0]] : memref<16x16xi32, #tile.global>, memref<2x8x16xi32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @steps(%A: memref<16x16xi32, #tile.global>, %one: memref<8x16xi32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{has 1 vectors of steps, but no leading axes; leave `steps` out}}
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %A, %one box [8, 16] coords[%c0, %c0] steps [[8, 0]] : memref<16x16xi32, #tile.global>, memref<8x16xi32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @steps(%A: memref<16x16xi32, #tile.global>, %m: memref<2x8x16xi32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{steps[0] has 1 values, but the opcode says 2d}}
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %A, %m box [8, 16] coords[%c0, %c0] steps [[8]] : memref<16x16xi32, #tile.global>, memref<2x8x16xi32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @steps(%A: memref<16x16xi32, #tile.global>, %m: memref<2x8x16xi32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{steps[0] moves the innermost coordinate by 2 elements, but it must stay on multiples of 4 (16 bytes)}}
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %A, %m box [8, 16] coords[%c0, %c0] steps [[0, 2]] : memref<16x16xi32, #tile.global>, memref<2x8x16xi32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @steps(%A: memref<16x16xi32, #tile.global>, %m: memref<2x8x16xi32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{coordinate #0 gets down to -8, but a store cannot start outside the tensor (an illegal instruction on the GPU); clip the box}}
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %A, %m box [8, 16] coords[%c0, %c0] steps [[-8, 0]] : memref<16x16xi32, #tile.global>, memref<2x8x16xi32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @steps(%A: memref<16x16xi32, #tile.global>, %m: memref<2x8x16xi32, #tile.shared<align = 128>>, %bar: memref<!tile.mbarrier, #tile.shared>) {
  %c0 = arith.constant 0 : index
  // Loads may start outside.
  tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %m, %A box [8, 16] coords[%c0, %c0] steps [[-8, 0]] mbar %bar[] : memref<2x8x16xi32, #tile.shared<align = 128>>, memref<16x16xi32, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @steps(%A: memref<16x16xi32, #tile.global>, %small: memref<2x1x16xi32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{an atom of 1x16 is 64 bytes, so that the second starts at 64, but every atom starts on a multiple of 128; choose a box whose bytes are one}}
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %A, %small box [1, 16] coords[%c0, %c0] steps [[1, 0]] : memref<16x16xi32, #tile.global>, memref<2x1x16xi32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @fields(%A: memref<16x16xi32, #tile.global>, %m: memref<8x16xi32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{the innermost element stride is 2, but without interleave it must be 1: the hardware ignores it there}}
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %A, %m box [8, 16] coords[%c0, %c0] element_strides [1, 2] : memref<16x16xi32, #tile.global>, memref<8x16xi32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @fields(%X: memref<2x3x9x16xi16, #tile.global>, %x: memref<1x1x8x16xi16, #tile.shared<align = 128>>, %bar: memref<!tile.mbarrier, #tile.shared>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{interleave 32 needs swizzle 32, found none; write #tile.shared<swizzle = 32>, or give a tensor map of your own}}
  tile.tma.apply "cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %x, %X box [1, 1, 8] coords[%c0, %c0, %c0] mbar %bar[] interleave 32 : memref<1x1x8x16xi16, #tile.shared<align = 128>>, memref<2x3x9x16xi16, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @fields(%A: memref<16x16xi32, #tile.global>, %m: memref<8x16xi32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{a tensor map cannot hold i32 with format = tf32; that format wants elements of f32}}
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %A, %m box [8, 16] coords[%c0, %c0] format tf32 : memref<16x16xi32, #tile.global>, memref<8x16xi32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @fields(%A: memref<16x16xi32, #tile.global>, %m: memref<8x16xi32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{the map holds s32, but inc takes u32; write i32 with format = unsigned}}
  tile.tma.apply "cp.reduce.async.bulk.tensor.2d.global.shared::cta.inc.bulk_group" %A, %m box [8, 16] coords[%c0, %c0] : memref<16x16xi32, #tile.global>, memref<8x16xi32, #tile.shared<align = 128>>
  return
}

// -----

// Packed FP4.
func.func private @packed(%A: memref<16x128xi8, #tile.global>, %m: memref<8x128xi8, #tile.shared<align = 128>>, %bar: memref<!tile.mbarrier, #tile.shared>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  // expected-error@below {{the innermost coordinate is 64 elements, but format b4x16_p64 needs a multiple of 128}}
  tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %m, %A box [8, 128] coords[%c0, %c64] mbar %bar[] format b4x16_p64 : memref<8x128xi8, #tile.shared<align = 128>>, memref<16x128xi8, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @packed(%narrow: memref<16x96xi8, #tile.global>, %m: memref<8x128xi8, #tile.shared<align = 128>>, %bar: memref<!tile.mbarrier, #tile.shared>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{dims[0] = 192}}
  tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %m, %narrow box [8, 128] coords[%c0, %c0] mbar %bar[] format b4x16_p64 : memref<8x128xi8, #tile.shared<align = 128>>, memref<16x96xi8, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @packed(%A: memref<16x128xi8, #tile.global>, %m: memref<8x128xi8, #tile.shared<align = 128>>, %bar: memref<!tile.mbarrier, #tile.shared>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{box[0] = 64}}
  tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %m, %A box [8, 64] coords[%c0, %c0] mbar %bar[] format b4x16_p64 : memref<8x128xi8, #tile.shared<align = 128>>, memref<16x128xi8, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @packed(%A: memref<16x128xi8, #tile.global>, %m: memref<8x128xi8, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{format b4x16_p64 is for loads only; store with the natural format, whose rows are packed}}
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %A, %m box [8, 128] coords[%c0, %c0] format b4x16_p64 : memref<16x128xi8, #tile.global>, memref<8x128xi8, #tile.shared<align = 128>>
  return
}

// -----

// Maps of the caller's own are taken as they are.
func.func private @maps(%map: !tile.tensor_map<8x16xi32>, %m: memref<8x16xi32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{has `oob_fill`, but the tensor map that is given has its own; leave it out}}
  // expected-error@below {{has `l2_promotion`, but the tensor map that is given has its own; leave it out}}
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %map, %m box [8, 16] coords[%c0, %c0] l2_promotion 64 oob_fill zero : !tile.tensor_map<8x16xi32>, memref<8x16xi32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @maps(%map: !tile.tensor_map<8x16xi32>, %m: memref<8x16xi32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{box is [4, 32], but that of the map !tile.tensor_map<8x16xi32> is [8, 16]}}
  tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %map, %m box [4, 32] coords[%c0, %c0] : !tile.tensor_map<8x16xi32>, memref<8x16xi32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @maps(%A: memref<16x16xi32, #tile.global>, %m: memref<8x16xi32, #tile.shared<align = 128>>, %bar: memref<!tile.mbarrier, #tile.shared>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{mode im2col needs a map with corners of its window; make one with tile.tensor_map in launch and give that}}
  tile.tma.apply "cp.async.bulk.tensor.4d.shared::cta.global.im2col.mbarrier::complete_tx::bytes" %m, %A box [8, 16] coords[%c0, %c0, %c0, %c0] mbar %bar[] : memref<8x16xi32, #tile.shared<align = 128>>, memref<16x16xi32, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @maps(%windows: !tile.tensor_map<64x8xi32, mode = im2col, lower = [-1, -1], upper = [-1, -1]>, %m: memref<8x16xi32, #tile.shared<align = 128>>, %bar: memref<!tile.mbarrier, #tile.shared>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{the opcode says im2col::w, but the map !tile.tensor_map<64x8xi32, mode = im2col, lower = [-1, -1], upper = [-1, -1]> has mode im2col}}
  // expected-error@below {{the opcode says 3d, but the map !tile.tensor_map<64x8xi32, mode = im2col, lower = [-1, -1], upper = [-1, -1]> has 4 dimensions}}
  // expected-error@below {{the tensor map has 4 dimensions, but 3 indices are given}}
  // expected-error@below {{does not end with it}}
  tile.tma.apply "cp.async.bulk.tensor.3d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes" %m, %windows box [64, 8] coords[%c0, %c0, %c0] mbar %bar[] : memref<8x16xi32, #tile.shared<align = 128>>, !tile.tensor_map<64x8xi32, mode = im2col, lower = [-1, -1], upper = [-1, -1]> mbar memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @parts(%m: memref<12x32xf32, #tile.shared<swizzle = 128>>) {
  %c320 = arith.constant 320 : index
  // expected-error@below {{a part of 512 bytes from element 320 on does not lie in memref<12x32xf32, #tile.shared<swizzle = 128>>, which is 1536 bytes}}
  %far = tile.part %m[%c320] : memref<12x32xf32, #tile.shared<swizzle = 128>> -> memref<4x32xf32, #tile.shared<swizzle = 128>>
  return
}

// -----

func.func private @parts(%m: memref<12x32xf32, #tile.shared<swizzle = 128>>) {
  %c8 = arith.constant 8 : index
  // expected-error@below {{the first element is 8, but tensor copies start on multiples of 128 bytes, 32 elements}}
  %odd = tile.part %m[%c8] : memref<12x32xf32, #tile.shared<swizzle = 128>> -> memref<4x32xf32, #tile.shared<swizzle = 128>>
  return
}

// -----

func.func private @parts(%m: memref<12x32xf32, #tile.shared<swizzle = 128>>, %i: index) {
  %c320 = arith.constant 320 : index
  %c4 = arith.constant 4 : index
  %multiple = arith.muli %i, %c320 : index
  %more = arith.addi %multiple, %c4 : index
  // expected-error@below {{the first element is 4 more than a multiple of 32, but tensor copies start on multiples of 128 bytes, 32 elements}}
  %late = tile.part %m[%more] : memref<12x32xf32, #tile.shared<swizzle = 128>> -> memref<4x32xf32, #tile.shared<swizzle = 128>>
  return
}

// -----

func.func private @parts(%m: memref<12x32xf32, #tile.shared<swizzle = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{the result memref<4x32xf32, #tile.shared> must have the element type and the memory space of memref<12x32xf32, #tile.shared<swizzle = 128>>}}
  %space = tile.part %m[%c0] : memref<12x32xf32, #tile.shared<swizzle = 128>> -> memref<4x32xf32, #tile.shared>
  return
}

// -----

func.func private @parts(%m: memref<12x32xf32, #tile.shared<swizzle = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{is for tensor copies alone, but 'memref.load' uses it; take a tile.slab}}
  %read = tile.part %m[%c0] : memref<12x32xf32, #tile.shared<swizzle = 128>> -> memref<4x32xf32, #tile.shared<swizzle = 128>>
  %v = memref.load %read[%c0, %c0] : memref<4x32xf32, #tile.shared<swizzle = 128>>
  return
}

// -----

func.func private @parts(%m: memref<12x32xf32, #tile.shared<swizzle = 128>>, %map: !tile.tensor_map<4x32xf32, swizzle = 128>, %bar: memref<!tile.mbarrier, #tile.shared>, %i: index) {
  %c0 = arith.constant 0 : index
  %unknown = tile.part %m[%i] : memref<12x32xf32, #tile.shared<swizzle = 128>> -> memref<4x32xf32, #tile.shared<swizzle = 128>>
  // expected-error@below {{the shared address is a multiple of 4 bytes only, but tensor copies need 128}}
  tile.tma.load %map[%c0, %c0], %unknown, %bar[] : !tile.tensor_map<4x32xf32, swizzle = 128>, memref<4x32xf32, #tile.shared<swizzle = 128>>, memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

tile.kernel @far(%A: memref<16x16xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<2x4x16xi32, #tile.shared>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  // expected-error@below {{steps[0] moves a coordinate by 3000000000 for each of 2 atoms, but coordinates of tensor copies are -2147483648 to 2147483647; take smaller steps}}
  tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %m, %A box [4, 16] coords[%c0, %c0] steps [[3000000000, 4]] mbar %bar[] : memref<2x4x16xi32, #tile.shared>, memref<16x16xi32, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
}

// -----

tile.kernel @far(%A: memref<16x16xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %far = arith.constant 2147483648 : index
  %m = tile.alloc : memref<2x4x16xi32, #tile.shared>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  // expected-error@below {{coordinate #0 is 2147483648, but coordinates of tensor copies are -2147483648 to 2147483647; split the tensor's dimension, or start its memref nearer}}
  tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %m, %A box [4, 16] coords[%far, %c0] steps [[4, 0]] mbar %bar[] : memref<2x4x16xi32, #tile.shared>, memref<16x16xi32, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
}
