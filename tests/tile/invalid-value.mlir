// RUN: girih-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{lanes multiply to 16, but a warp has 32}}
func.func private @lanes(tensor<8x8xf32, #tile.blocked<per_thread = [1, 1], lanes = [4, 4], warps = [1, 1]>>)

// -----

// expected-error @+1 {{warps has 1 numbers; write one for each axis in per_thread, lanes and warps}}
func.func private @lists(tensor<8x8xf32, #tile.blocked<per_thread = [1, 1], lanes = [4, 8], warps = [1]>>)

// -----

// expected-error @+1 {{per_thread has 3, but layouts need powers of two up to 65536}}
func.func private @powers(tensor<8x8xf32, #tile.blocked<per_thread = [1, 3], lanes = [4, 8], warps = [1, 1]>>)

// -----

// expected-error @+1 {{order = [1, 1] does not list each of the 2 axes once}}
func.func private @order(tensor<8x8xf32, #tile.blocked<per_thread = [1, 1], lanes = [4, 8], warps = [1, 1], order = [1, 1]>>)

// -----

// expected-error @+1 {{warps multiply to 64, but a block has at most 32}}
func.func private @warps(tensor<8x8xf32, #tile.blocked<per_thread = [1, 1], lanes = [4, 8], warps = [64, 1]>>)

// -----

// expected-error @+1 {{the layout is of tiles with 2 axes, but the tensor has 1}}
func.func private @rank(tensor<8xf32, #tile.blocked<per_thread = [1, 1], lanes = [4, 8], warps = [1, 1]>>)

// -----

// expected-error @+1 {{a tile's sizes are powers of two, but the tensor has 12; take the next larger one, reads past the edge give zero}}
func.func private @sizes(tensor<12xf32, #tile.blocked<per_thread = [1], lanes = [32], warps = [1]>>)

// -----

// expected-error @+1 {{axis = 2, but #tile.blocked<per_thread = [1, 1], lanes = [4, 8], warps = [1, 1]> has axes 0 to 1}}
func.func private @slice(tensor<8xf32, #tile.sliced<axis = 2, of = #tile.blocked<per_thread = [1, 1], lanes = [4, 8], warps = [1, 1]>>>)

// -----

// expected-error @+1 {{of = #tile.global, but a slice is of #tile.blocked, #tile.sliced or #tile.linear}}
func.func private @parent(tensor<8xf32, #tile.sliced<axis = 0, of = #tile.global>>)

// -----

// A larger tile's layout holds a smaller one, but not where bits that it needs are missing.
// expected-error @+1 {{the images reach 2^2 of the tensor's 8 elements}}
func.func private @folded(tensor<8xf32, #tile.linear<register = [[8]], lane = [[1], [2], [0], [0], [0]], warp = []>>)

// -----

// expected-error @+1 {{the images reach 2^2 of the tensor's 8 elements}}
func.func private @holes(tensor<8xf32, #tile.linear<register = [], lane = [[1], [2], [0], [0], [0]], warp = []>>)

// -----

// expected-error @+1 {{lane has 4 numbers, but a lane has five bits, each with a number for each axis}}
func.func private @bits(tensor<8xf32, #tile.linear<register = [[1]], lane = [[1], [2], [4], [0]], warp = []>>)

// -----

func.func private @splat(%x: f32) {
  // expected-error @+1 {{fills tensor<8xf16> with f32; the types must be the same}}
  %a = tile.splat %x : f32 -> tensor<8xf16>
  return
}

// -----

func.func private @iota() {
  // expected-error @+1 {{axis 1, but tensor<8xi32> has 1 axes, from 0}}
  %a = tile.iota axis 1 : tensor<8xi32>
  return
}

// -----

func.func private @floats() {
  // expected-error @+1 {{counts in integers of 8 bits or more and in index, but the tile is tensor<8xf32>; take i32 and convert it with arith.sitofp, or compare it with arith.cmpi}}
  %b = tile.iota axis 0 : tensor<8xf32>
  return
}

// -----

func.func private @convert(%a: tensor<8xf32>) {
  // expected-error @+1 {{converts between #tile.blocked, #tile.sliced and #tile.linear, found tensor<8xf32>}}
  %b = tile.convert_layout %a : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func private @sizes_of_tiles(%m: memref<?xf32, #tile.global>, %i: index) {
  // expected-error @+1 {{moves tensor<0xf32>, but a tile has one element or more along each axis, as many as the type says}}
  %a = tile.load %m[%i] : memref<?xf32, #tile.global> -> tensor<0xf32>
  return
}

// -----

func.func private @pad(%m: memref<?xf32, #tile.global>, %i: index) {
  // expected-error @+1 {{pad = 0 : i32, but the tile is}}
  %a = tile.load %m[%i] {pad = 0 : i32} : memref<?xf32, #tile.global> -> tensor<128xf32>
  return
}

// -----

func.func private @vector(%m: memref<?xf32, #tile.global>, %i: index) {
  // expected-error @+1 {{it is a power of two, on tiles that tile-assign-layouts has laid out}}
  %a = tile.load %m[%i] {vector = 4 : i64} : memref<?xf32, #tile.global> -> tensor<128xf32>
  return
}

// -----

func.func private @aligned(%m: memref<?x?xf32, strided<[?, 1]>, #tile.global>) {
  // expected-error @+1 {{does not have stride 1; vectors lie along one that has}}
  %a = tile.is_aligned %m axis 0 by 4 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  return
}

// -----

func.func private @three(%m: memref<?x?xf32, strided<[?, 1]>, #tile.global>) {
  // expected-error @+1 {{by 3, but vectors have a power of two of elements}}
  %b = tile.is_aligned %m axis 1 by 3 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  return
}

// -----

// expected-error @+1 {{min_blocks = 9 of 256 threads, but a multiprocessor holds 1 to 32 blocks and 2048 threads; ask for fewer}}
tile.kernel @many() threads(256) attributes {min_blocks = 9 : i64} launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

func.func private @opaque(%x: tensor<8xf32>) {
  // expected-error @+1 {{makes tensor<4xf32> of tensor<8xf32>; the types must be the same}}
  %y = tile.opaque %x : tensor<8xf32> -> tensor<4xf32>
  return
}

// -----

func.func private @same_width(%x: tensor<8x8xf32>) {
  // expected-error @+1 {{makes tensor<8x8xi32> of tensor<8x8xf32>, whose numbers are of one width; write arith.bitcast}}
  %y = tile.bitcast %x : tensor<8x8xf32> -> tensor<8x8xi32>
  return
}

// -----

func.func private @two_axes(%x: tensor<8x8xi8>) {
  // expected-error @+1 {{makes tensor<16x4xi4> of tensor<8x8xi8>; one axis has another size, with as many bits in all: 8 bits become numbers of 4}}
  %y = tile.bitcast %x : tensor<8x8xi8> -> tensor<16x4xi4>
  return
}

// -----

func.func private @six_bits(%x: tensor<8x8xi8>) {
  // expected-error @+1 {{makes tensor<8x8xi6> of tensor<8x8xi8>; both hold numbers of a power of two of bits, or floats of 6, a byte each}}
  %y = tile.bitcast %x : tensor<8x8xi8> -> tensor<8x8xi6>
  return
}

// -----

func.func private @six_bit_floats(%x: tensor<8x8xi8>) {
  // expected-error @+1 {{makes tensor<8x16xf6E3M2FN> of tensor<8x8xi8>; a float of 6 bits has a byte, and the result as many numbers}}
  %a = tile.bitcast %x : tensor<8x8xi8> -> tensor<8x16xf6E3M2FN>
  return
}

// -----

func.func private @six_bits_both(%y: tensor<8x8xf6E3M2FN>) {
  // expected-error @+1 {{makes tensor<8x8xf6E2M3FN> of tensor<8x8xf6E3M2FN>, whose numbers are of one width; write arith.bitcast}}
  %b = tile.bitcast %y : tensor<8x8xf6E3M2FN> -> tensor<8x8xf6E2M3FN>
  return
}

// -----

func.func private @six_bits_wider(%y: tensor<8x8xf6E3M2FN>) {
  // expected-error @+1 {{makes tensor<8x8xi16> of tensor<8x8xf6E3M2FN>; one axis has another size, with as many bits in all: 8 bits become numbers of 16}}
  %c = tile.bitcast %y : tensor<8x8xf6E3M2FN> -> tensor<8x8xi16>
  return
}

// -----

func.func private @nibbles(%m: memref<?x?xi4, strided<[?, 1]>, #tile.global>, %i: index) {
  // expected-error @+1 {{moves tensor<8x8xi4>, but memory has no numbers of 4 bits; move bytes, a tile of i8, and make i4 of them with tile.bitcast}}
  %y = tile.load %m[%i, %i] : memref<?x?xi4, strided<[?, 1]>, #tile.global> -> tensor<8x8xi4>
  return
}

// -----

func.func private @cvt_integers(%x: tensor<8xi32>) {
  // expected-error @+1 {{converts numbers and tiles of f64, f32, tf32, f16, bf16, f8E4M3FN, f8E5M2, f6E2M3FN, f6E3M2FN, f4E2M1FN, found tensor<8xi32>; integers are converted by arith.sitofp, arith.fptosi and their kin}}
  %y = tile.cvt %x rn : tensor<8xi32> to tensor<8xf16>
  return
}

// -----

func.func private @cvt_layouts(%x: tensor<64x8xf32, #tile.layout<wgmma_d>>) {
  // expected-error @+1 {{makes tensor<64x8xf16> of tensor<64x8xf32, #tile.layout<wgmma_d>>; only the element type may differ}}
  %y = tile.cvt %x rn : tensor<64x8xf32, #tile.layout<wgmma_d>> to tensor<64x8xf16>
  return
}

// -----

func.func private @cvt_same(%x: f16) {
  // expected-error @+1 {{makes f16 of itself; use its operand}}
  %y = tile.cvt %x rz : f16 to f16
  return
}

// -----

func.func private @cvt_rounding(%x: f32) {
  // expected-error @+1 {{expected a rounding: one of rn, rna, rz, rp, rm; found `satfinite`}}
  %y = tile.cvt %x satfinite : f32 to f16
  return
}

// -----

func.func private @boxes(%x: tensor<4x8xf32>) {
  // expected-error @+2 {{has a box of [3, 6] at [0, 3] in tensor<4x8xf32>; it has the tile's axes, an element or more, and ends inside}}
  // expected-error @+1 {{puts a box of [3, 6] into one of [16]; both have as many elements}}
  %y = tile.repack %x at [0, 3] sizes [3, 6] onto [0] sizes [16] : tensor<4x8xf32> -> tensor<16xf32>
  return
}

// -----

func.func private @boxes_of_others(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{makes tensor<16xi32> of tensor<4x8xf32>; both hold the same elements}}
  %z = tile.repack %x at [0, 0] sizes [2, 8] onto [0] sizes [16] : tensor<4x8xf32> -> tensor<16xi32>
  return
}
