// What copies of every mode must be, and maps that the device makes.
// RUN: girih-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{rank, lower and upper belong to the modes im2col; mode tile has none}}
func.func private @f(!tile.tensor_map<64x32xbf16, lower = [-1]>)

// -----

// expected-error@below {{mode im2col moves pixels x channels, such as 64x32xbf16, but the box has 3 dimensions}}
func.func private @f(!tile.tensor_map<2x64x32xbf16, mode = im2col, lower = [0], upper = [0]>)

// -----

// expected-error@below {{lower has 2 values and upper 1, but mode im2col needs 2 of each here}}
func.func private @f(!tile.tensor_map<64x32xbf16, mode = im2col, lower = [0, 0], upper = [0]>)

// -----

// expected-error@below {{rank = 2, but mode im2col_w needs 3 to 5}}
func.func private @f(!tile.tensor_map<64x32xbf16, swizzle = 64, mode = im2col_w, rank = 2, lower = [0], upper = [0]>)

// -----

// expected-error@below {{mode im2col_w_128 moves 128 pixels, but the box has 64; write 128x32}}
func.func private @f(!tile.tensor_map<64x32xbf16, swizzle = 64, mode = im2col_w_128, rank = 4, lower = [0], upper = [0]>)

// -----

func.func private @f(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) {
  // expected-error@below {{packs its elements in bytes, so that it needs a memref of i8, found memref<?x?xbf16, strided<[?, 1]>, #tile.global>}}
  %0 = tile.tensor_map %A : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<8x128xf4E2M1FN>
  return
}

// -----

!map = !tile.tensor_map<1x64xbf16, swizzle = 128>
!bar = memref<!tile.mbarrier, #tile.shared>

func.func private @f(%map: !map, %bar: !bar, %i: index) {
  %m = tile.alloc : memref<4x64xbf16, #tile.shared<swizzle = 128>>
  // expected-error@below {{four rows need 5 coordinates, the rows and then the column, but 2 are given}}
  tile.tma.load %map[%i, %i], %m, %bar[] gather4 : !map, memref<4x64xbf16, #tile.shared<swizzle = 128>>, !bar
  return
}

// -----

!map = !tile.tensor_map<8x64xbf16, swizzle = 128>
!bar = memref<!tile.mbarrier, #tile.shared>

func.func private @f(%map: !map, %bar: !bar, %i: index) {
  %m = tile.alloc : memref<32x64xbf16, #tile.shared<swizzle = 128>>
  // expected-error@below {{four rows need a map of two dimensions whose box has one row, such as 1x64xbf16, found !tile.tensor_map<8x64xbf16, swizzle = 128>}}
  tile.tma.load %map[%i, %i, %i, %i, %i], %m, %bar[] gather4 : !map, memref<32x64xbf16, #tile.shared<swizzle = 128>>, !bar
  return
}

// -----

!map = !tile.tensor_map<8x64xbf16, swizzle = 128>
!bar = memref<!tile.mbarrier, #tile.shared>

func.func private @f(%map: !map, %bar: !bar, %i: index, %h: i16, %p: i64) {
  %m = tile.alloc : memref<8x64xbf16, #tile.shared<swizzle = 128>>
  // expected-error@below {{offsets belong to the modes im2col, but the map is !tile.tensor_map<8x64xbf16, swizzle = 128>}}
  // expected-error@below {{a multicast writes to the blocks of a cluster, but the destination is named through shared::cta; leave `space cta` out}}
  // expected-error@below {{cta_group = 3, but a group is 1 or 2 blocks}}
  // expected-error@below {{has a fixed cache policy and one that is a value; give one of them}}
  tile.tma.load %map[%i, %i], %m, %bar[] offsets(%h) multicast %h cta_group 3 space cta cache evict_last policy %p : !map, memref<8x64xbf16, #tile.shared<swizzle = 128>>, !bar
  return
}

// -----

!map = !tile.tensor_map<40x32xbf16, swizzle = 64, mode = im2col, lower = [0, 0], upper = [0, 0]>
!bar = memref<!tile.mbarrier, #tile.shared>

func.func private @f(%map: !map, %bar: !bar, %i: index) {
  %h = arith.constant 300 : i16
  %m = tile.alloc : memref<40x32xbf16, #tile.shared<swizzle = 64>>
  // expected-error@below {{1 offsets are given, but the map has 2 spatial dimensions}}
  // expected-error@below {{offset #0 is 300, but may be 0 to 255}}
  tile.tma.load %map[%i, %i, %i, %i], %m, %bar[] offsets(%h) : !map, memref<40x32xbf16, #tile.shared<swizzle = 64>>, !bar
  return
}

// -----

!map = !tile.tensor_map<40x32xbf16, swizzle = 64, mode = im2col_w, rank = 4, lower = [0], upper = [0]>
!bar = memref<!tile.mbarrier, #tile.shared>

func.func private @f(%map: !map, %bar: !bar, %i: index) {
  %halo = arith.constant 2 : i16
  %shift = arith.constant 32 : i16
  %m = tile.alloc : memref<40x32xbf16, #tile.shared<swizzle = 64>>
  // expected-error@below {{the shift in W is 32, but may be 0 to 31}}
  // expected-error@below {{a column is 2688 bytes of shared memory, but memref<40x32xbf16, #tile.shared<swizzle = 64>> is 2560}}
  tile.tma.load %map[%i, %i, %i, %i], %m, %bar[] offsets(%halo, %shift) : !map, memref<40x32xbf16, #tile.shared<swizzle = 64>>, !bar
  return
}

// -----

!map = !tile.tensor_map<40x32xbf16, swizzle = 64, mode = im2col, lower = [-1, 0], upper = [0, 2]>

func.func private @f(%map: !map, %i: index) {
  %m = tile.alloc : memref<40x32xbf16, #tile.shared<swizzle = 64>>
  // expected-error@below {{lower = -1, but a store needs its window inside the tensor: lower at least 0, upper at most 0}}
  // expected-error@below {{upper = 2, but a store needs its window inside the tensor: lower at least 0, upper at most 0}}
  tile.tma.store %m, %map[%i, %i, %i, %i] : memref<40x32xbf16, #tile.shared<swizzle = 64>>, !map
  return
}

// -----

!map = !tile.tensor_map<8x128xi4, format = b4x16_p64>

func.func private @f(%map: !map, %i: index) {
  %m = tile.alloc : memref<8x128xi8, #tile.shared<align = 128>>
  // expected-error@below {{format b4x16_p64 is for loads only; store with the natural format, whose rows are packed}}
  tile.tma.store %m, %map[%i, %i] : memref<8x128xi8, #tile.shared<align = 128>>, !map
  return
}

// -----

// Rows of 40 bytes: a store would write 48 of each.
tile.kernel @k(%A: memref<16x20xbf16, strided<[32, 1]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  %map = tile.tensor_map %A : memref<16x20xbf16, strided<[32, 1]>, #tile.global> -> !tile.tensor_map<8x32xbf16>
  tile.grid %c1, %c1, %c1 args(%map : !tile.tensor_map<8x32xbf16>)
} body args(%map: !tile.tensor_map<8x32xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<8x32xbf16, #tile.shared<align = 128>>
  // expected-error@below {{rows of the tensor are 40 bytes, and stores round them up to 16: 8 bytes after each row are overwritten; pad the rows, or say `overwrite`}}
  tile.tma.store %m, %map[%c0, %c0] : memref<8x32xbf16, #tile.shared<align = 128>>, !tile.tensor_map<8x32xbf16>
  tile.tma.store %m, %map[%c0, %c0] overwrite : memref<8x32xbf16, #tile.shared<align = 128>>, !tile.tensor_map<8x32xbf16>
}

// -----

!map = !tile.tensor_map<8x32xf32>

func.func private @f(%map: !map, %i: index) {
  %m = tile.alloc : memref<8x32xf32, #tile.shared<align = 128>>
  // expected-error@below {{the map holds f32, but min takes u32, s32, u64, s64, f16, bf16}}
  tile.tma.reduce min %m, %map[%i, %i] : memref<8x32xf32, #tile.shared<align = 128>>, !map
  return
}

// -----

func.func private @f(%half: f32) {
  // expected-error@below {{the other accesses are evict_last, but may be evict_first or evict_unchanged}}
  %p = tile.create_policy evict_first %half else evict_last
  return
}

// -----

func.func private @f(%A: memref<?xf32, #tile.global>, %bar: memref<!tile.mbarrier, #tile.shared>) {
  %c2 = arith.constant 2 : index
  %m = tile.alloc : memref<9xf32, #tile.shared<align = 128>>
  // expected-error@below {{memref<9xf32, #tile.shared<align = 128>> is 36 bytes, but bulk copies move multiples of 16; pad it}}
  // expected-error@below {{the global address is 8 bytes more than a multiple of 16 past the start, but bulk copies need a multiple of 16}}
  tile.bulk.load %A[%c2], %m, %bar[] : memref<?xf32, #tile.global>, memref<9xf32, #tile.shared<align = 128>>, memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @f(%A: memref<?xf64, #tile.global>, %i: index) {
  %m = tile.alloc : memref<8xf64, #tile.shared<align = 128>>
  // expected-error@below {{max of f64 does not exist in global memory; it takes i32, i64, f16 and bf16}}
  tile.bulk.reduce max %m, %A[%i] : memref<8xf64, #tile.shared<align = 128>>, memref<?xf64, #tile.global>
  return
}

// -----

!bytes = memref<128xi8, #tile.shared<align = 128>>

func.func private @f() {
  %m = tile.alloc : !bytes
  %v = arith.constant 9 : i32
  // expected-error@below {{value = 9, but rank must be 0 to 4, one less than the rank}}
  tile.tensormap.replace rank %m value %v : !bytes, i32
  return
}

// -----

!bytes = memref<128xi8, #tile.shared<align = 128>>

func.func private @f() {
  %m = tile.alloc : !bytes
  %v = arith.constant 0 : i32
  // expected-error@below {{value = 0, but box_dim must be 1 to 256}}
  tile.tensormap.replace box_dim %m ordinal 0 value %v : !bytes, i32
  return
}

// -----

!bytes = memref<128xi8, #tile.shared<align = 128>>

func.func private @f() {
  %m = tile.alloc : !bytes
  %v = arith.constant 9 : i32
  // expected-error@below {{value = 9, but element_stride must be 1 to 8}}
  tile.tensormap.replace element_stride %m ordinal 0 value %v : !bytes, i32
  return
}

// -----

!bytes = memref<128xi8, #tile.shared<align = 128>>

func.func private @f() {
  %m = tile.alloc : !bytes
  %v = arith.constant 7 : i64
  // expected-error@below {{value = 7, but global_address must be a multiple of 16}}
  tile.tensormap.replace global_address %m value %v : !bytes, i64
  return
}

// -----

!bytes = memref<128xi8, #tile.shared<align = 128>>

func.func private @f() {
  %m = tile.alloc : !bytes
  %v = arith.constant 1099511627776 : i64
  // expected-error@below {{value = 1099511627776, but global_stride must be less than 2^40}}
  tile.tensormap.replace global_stride %m ordinal 0 value %v : !bytes, i64
  return
}

// -----

!bytes = memref<128xi8, #tile.shared<align = 128>>

func.func private @f(%v: i32) {
  %m = tile.alloc : !bytes
  // expected-error@below {{ordinal = 5, but box_dim has ordinals 0 to 4}}
  tile.tensormap.replace box_dim %m ordinal 5 value %v : !bytes, i32
  return
}

// -----

!bytes = memref<128xi8, #tile.shared<align = 128>>

func.func private @f(%v: i32) {
  %m = tile.alloc : !bytes
  // expected-error@below {{global_address needs a value of type i64, found i32}}
  tile.tensormap.replace global_address %m value %v : !bytes, i32
  return
}

// -----

!bytes = memref<128xi8, #tile.shared<align = 128>>

func.func private @f(%v: i32) {
  %m = tile.alloc : !bytes
  // expected-error@below {{code = 9, but swizzle_mode has codes 0 to 4}}
  tile.tensormap.replace swizzle_mode %m code 9 : !bytes
  return
}

// -----

!bytes = memref<128xi8, #tile.shared<align = 128>>

func.func private @f(%v: i32) {
  %m = tile.alloc : !bytes
  // expected-error@below {{fill_mode needs a code, 0 to 1, and no value}}
  tile.tensormap.replace fill_mode %m value %v : !bytes, i32
  return
}

// -----

func.func private @f(%A: memref<64xi8, #tile.global>) {
  // expected-error@below {{a tensor map is 128 bytes, found memref<64xi8, #tile.global>}}
  tile.tensormap.acquire %A gpu : memref<64xi8, #tile.global>
  return
}

// -----

func.func private @f(%A: memref<1x3x4x6x4xi16, #tile.global>) {
  // expected-error@below {{interleave 16 needs slices of 8 elements innermost, found memref<1x3x4x6x4xi16, #tile.global>}}
  %0 = tile.tensor_map %A : memref<1x3x4x6x4xi16, #tile.global> -> !tile.tensor_map<1x1x2x8xi16, interleave = 16>
  return
}

// -----

func.func private @f(%A: memref<1x3x4x8xi16, #tile.global>) {
  // expected-error@below {{has 4 dimensions and slices, but memref<1x3x4x8xi16, #tile.global> has 4}}
  %0 = tile.tensor_map %A : memref<1x3x4x8xi16, #tile.global> -> !tile.tensor_map<1x1x2x8xi16, interleave = 16>
  return
}

// -----

func.func private @f(%A: memref<?x?xf32, strided<[?, ?]>, #tile.global>, %bar: memref<!tile.mbarrier, #tile.shared>, %i: index) {
  %m = tile.alloc : memref<64xf32, #tile.shared>
  // expected-error@below {{the innermost stride of memref<?x?xf32, strided<[?, ?]>, #tile.global> is known only at run time; give it stride 1, as in strided<[?, 1]>}}
  tile.bulk.load %A[%i, %i], %m, %bar[] : memref<?x?xf32, strided<[?, ?]>, #tile.global>, memref<64xf32, #tile.shared>, memref<!tile.mbarrier, #tile.shared>
  return
}
