// What spaces, layouts and types must be.
// RUN: girih-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{atom = 32, but swizzle 64 moves 16 bytes at a time; use swizzle = 128 or atom = 16}}
func.func private @f(memref<8x16xf32, #tile.shared<swizzle = 64, atom = 32>>)

// -----

// expected-error@below {{align = 100, but an alignment is a power of two; use 16, 128 or 1024}}
func.func private @f(memref<4xf32, #tile.shared<align = 100>>)

// -----

// expected-error@below {{align = -16, but an alignment is a power of two; use 16, 128 or 1024}}
func.func private @f(memref<4xf32, #tile.shared<align = -16>>)

// -----

// expected-error@below {{expected a swizzle: one of none, 32, 64, 96, 128, auto; found `256`}}
func.func private @f(memref<4xf32, #tile.shared<swizzle = 256>>)

// -----

// expected-error@below {{'shared' has no parameter 'swizle'; expected one of: swizzle, atom, align}}
func.func private @f(memref<4xf32, #tile.shared<swizle = 128>>)

// -----

// expected-error@below {{parameter 'align' is given twice}}
func.func private @f(memref<4xf32, #tile.shared<align = 16, align = 16>>)

// -----

// expected-error@below {{unknown attribute 'tile.distributed'; known: blocked, const, generic, global, layout, linear, local, param, reg, shared}}
func.func private @f(memref<4xf32, #tile.distributed>)

// -----

// expected-error@below {{wgmma_d has 64 rows, but the tensor has 128; use one tile for each warpgroup}}
func.func private @f(tensor<128x64xf32, #tile.layout<wgmma_d>>)

// -----

// expected-error@below {{wgmma_d lays out matrices, but the tensor has rank 3}}
func.func private @f(tensor<1x64x64xf32, #tile.layout<wgmma_d>>)

// -----

// expected-error@below {{wgmma_d of f32 has a multiple of 8 columns, at most 256, but the tensor has 60}}
func.func private @f(tensor<64x60xf32, #tile.layout<wgmma_d>>)

// -----

// expected-error@below {{wgmma_d of f32 has a multiple of 8 columns, at most 256, but the tensor has 264}}
func.func private @f(tensor<64x264xf32, #tile.layout<wgmma_d>>)

// -----

// expected-error@below {{wgmma_d of f32 has a multiple of 8 columns, at most 256, but the tensor has ?}}
func.func private @f(tensor<64x?xf32, #tile.layout<wgmma_d>>)

// -----

// expected-error@below {{wgmma_a of i8 has a multiple of 32 columns, at most 256, but the tensor has 16}}
func.func private @f(tensor<64x16xi8, #tile.layout<wgmma_a>>)

// -----

// expected-error@below {{wgmma_a holds numbers of 8, 16 or 32 bits, but the tensor holds f64}}
func.func private @f(tensor<64x16xf64, #tile.layout<wgmma_a>>)

// -----

// expected-error@below {{wgmma_d holds truth values and numbers of 8, 16, 32 or 64 bits, but the tensor holds index}}
func.func private @f(tensor<64x16xindex, #tile.layout<wgmma_d>>)

// -----

// expected-error@below {{expected a fragment: one of wgmma_d, wgmma_a; found `wgmma_b`}}
func.func private @f(tensor<64x16xf16, #tile.layout<wgmma_b>>)

// -----

// expected-error@below {{expected a tensor with #tile.layout<wgmma_d>, found tensor<64x64xf32>}}
func.func private @f(!tile.in_flight<tensor<64x64xf32>>)

// -----

// expected-error@below {{expected a tensor with #tile.layout<wgmma_d>, found i32}}
func.func private @f(!tile.in_flight<i32>)

// -----

// expected-error@below {{the box of a tensor map has static sizes, found `?`}}
func.func private @f(!tile.tensor_map<?x16xi8>)

// -----

// expected-error@below {{box[1] = 9223372036854775807, but 1 to 256 is allowed}}
func.func private @f(!tile.tensor_map<9223372036854775807x16xi8>)

// -----

// expected-error@below {{element_strides[0] = -1, but 1 to 8 is allowed}}
func.func private @f(!tile.tensor_map<8x16xi8, element_strides = [1, -1]>)

// -----

// expected-error@below {{rank is missing; mode im2col_w says the rank of its tensor, such as rank = 4: 3 to 5}}
func.func private @f(!tile.tensor_map<8x32xbf16, swizzle = 64, mode = im2col_w, lower = [0], upper = [0]>)

// -----

// expected-error@below {{a tensor map cannot hold i2 with format = natural; it holds i8, i16, i32, i64, f16, bf16, f32, f64, 8-bit floats as bytes, and i4, f4E2M1FN, f6E2M3FN, f6E3M2FN}}
func.func private @f(!tile.tensor_map<16xi2>)

// -----

// expected-error@below {{a tensor map cannot hold f16 with format = tf32; that format wants elements of f32}}
func.func private @f(!tile.tensor_map<16xf16, format = tf32>)

// -----

// expected-error@below {{expected a number type as element, found tensor<4xf32>}}
func.func private @f(!tile.tensor_map<16xtensor<4xf32>>)

// -----

// expected-error@below {{atom = 64, but swizzle 32 moves 16 bytes at a time; use swizzle = 128 or atom = 16}}
func.func private @f(!tile.tensor_map<8x16xi8, swizzle = 32, atom = 64>)

// -----

// Rules of the driver are told where a map is made or taken, all of them in one run.

// expected-error@below {{argument 'swizzled': box[0] = 256 bytes}}
// expected-error@below {{argument 'long': box[0] = 512}}
// expected-error@below {{argument 'rank': rank = 6, but a tensor map has 1 to 5 dimensions}}
// expected-error@below {{argument 'wide': box[0] = 300, but 1 to 256 is allowed; split the box into several transfers}}
// expected-error@below {{argument 'wide': box[0] = 600 bytes, but must be a multiple of 16; split it into parts of a multiple of 8 elements, 256 at most}}
// expected-error@below {{argument 'pixels': channels_per_pixel = 320, but 1 to 256 is allowed; bring the channels by several transfers}}
// expected-error@below {{argument 'steps': element_strides[1] = 9}}
// expected-error@below {{argument 'step': element_strides = a list of 1, but rank 2 needs 2; give one value for each, innermost first}}
// expected-error@below {{argument 'bytes': fill = NaN, but format u8 has no NaN}}
// expected-error@below {{argument 'slices': rank = 2, but interleave needs 3 to 5}}
// expected-error@below {{argument 'along_w': swizzle = none, but im2col along W allows 64, 96, 128 and 128 (32-byte atoms); use swizzle 128}}
// expected-error@below {{argument 'packed': box[0] = 64 elements, but format b4x16_p64 needs exactly 128; use 128}}
tile.kernel @arguments(
    %swizzled: !tile.tensor_map<64x128xbf16, swizzle = 128>, %long: !tile.tensor_map<512xi32>,
    %rank: !tile.tensor_map<1x1x1x1x1x16xi8>, %wide: !tile.tensor_map<8x300xbf16>,
    %pixels: !tile.tensor_map<8x320xbf16, mode = im2col, lower = [0], upper = [0]>,
    %steps: !tile.tensor_map<8x16xi8, element_strides = [9, 1]>, %step: !tile.tensor_map<8x16xi8, element_strides = [1]>,
    %bytes: !tile.tensor_map<8x16xi8, fill = nan>, %slices: !tile.tensor_map<16x16xi8, interleave = 16>,
    %along_w: !tile.tensor_map<64x32xbf16, mode = im2col_w, rank = 4, lower = [0], upper = [0]>, %packed: !tile.tensor_map<8x64xf4E2M1FN, format = b4x16_p64>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

// What the map and what the memory breaks, and copies with it are not told of it once more.
!map = !tile.tensor_map<8x300xbf16>
tile.kernel @made(%A: memref<64x100xbf16, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  // expected-error@below {{box[0] = 300, but 1 to 256 is allowed; split the box into several transfers}}
  // expected-error@below {{box[0] = 600 bytes, but must be a multiple of 16}}
  // expected-error@below {{strides[0] = 200 bytes, but must be a multiple of 16; pad to 208 bytes}}
  %map = tile.tensor_map %A : memref<64x100xbf16, #tile.global> -> !map
  tile.grid %c1, %c1, %c1 args(%map : !map)
} body args(%map: !map) {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<8x256xbf16, #tile.shared>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  tile.tma.load %map[%c0, %c0], %m, %bar[] : !map, memref<8x256xbf16, #tile.shared>, memref<!tile.mbarrier, #tile.shared>
  tile.tma.store %m, %map[%c0, %c0] : memref<8x256xbf16, #tile.shared>, !map
}
