// What copies of regions must be.
// RUN: girih-opt %s --split-input-file --verify-diagnostics

func.func private @strides(%A: memref<16x64xf32, strided<[128, 2]>, #tile.global>, %m: memref<16x64xf32, #tile.shared<align = 128>>, %bar: memref<!tile.mbarrier, #tile.shared>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{the innermost stride is 2, but tensor copies need 1; bring the dimension with stride 1 innermost with memref.transpose, and give shared memory that order}}
  tile.tma.copy load %A[%c0, %c0] extents [16, 64], %m mbar %bar[] : memref<16x64xf32, strided<[128, 2]>, #tile.global>, memref<16x64xf32, #tile.shared<align = 128>>, memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @pitch(%A: memref<16x50xf32, #tile.global>, %m: memref<16x32xf32, #tile.shared<align = 128>>, %bar: memref<!tile.mbarrier, #tile.shared>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{dimension 0 has a stride of 50 elements, 200 bytes, but tensor copies need a multiple of 16 bytes; pad it to 52 elements, or move the region with memref.load and memref.store}}
  tile.tma.copy load %A[%c0, %c0] extents [16, 32], %m mbar %bar[] : memref<16x50xf32, #tile.global>, memref<16x32xf32, #tile.shared<align = 128>>, memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @row(%A: memref<16x64xf32, #tile.global>, %m: memref<16x3xf32, #tile.shared<align = 128>>, %bar: memref<!tile.mbarrier, #tile.shared>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{rows of the region are 3 elements, 12 bytes, but tensor copies move rows of a multiple of 16 bytes; take a multiple of 4 elements, or move them with memref.load and memref.store}}
  tile.tma.copy load %A[%c0, %c0] extents [16, 3], %m mbar %bar[] : memref<16x64xf32, #tile.global>, memref<16x3xf32, #tile.shared<align = 128>>, memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @panels(%A: memref<16x64xf32, #tile.global>, %m: memref<2x16x32xf32, #tile.shared<swizzle = 128>>, %bar: memref<!tile.mbarrier, #tile.shared>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{rows of the region are 48 elements, 192 bytes, but swizzle 128 has panels of 128 bytes; take a multiple of them}}
  tile.tma.copy load %A[%c0, %c0] extents [16, 48], %m mbar %bar[] : memref<16x64xf32, #tile.global>, memref<2x16x32xf32, #tile.shared<swizzle = 128>>, memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @start(%A: memref<16x64xf32, #tile.global>, %m: memref<16x32xf32, #tile.shared<align = 128>>, %bar: memref<!tile.mbarrier, #tile.shared>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  // expected-error@below {{the innermost coordinate is 2 elements, 8 bytes, but must lie on 16 bytes (an illegal instruction on the GPU)}}
  tile.tma.copy load %A[%c0, %c2] extents [16, 32], %m mbar %bar[] : memref<16x64xf32, #tile.global>, memref<16x32xf32, #tile.shared<align = 128>>, memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @joined_start(%A: memref<64x4xf16, #tile.global>, %m: memref<32x4xf16, #tile.shared<align = 128>>, %bar: memref<!tile.mbarrier, #tile.shared>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  // expected-error@below {{the region starts at 3 in dimension 0, 24 bytes from a row's start, but must start on 16 bytes (an illegal instruction on the GPU)}}
  tile.tma.copy load %A[%c3, %c0] extents [32, 4], %m mbar %bar[] : memref<64x4xf16, #tile.global>, memref<32x4xf16, #tile.shared<align = 128>>, memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @shape(%A: memref<16x64xf32, #tile.global>, %m: memref<16x64xf32, #tile.shared<align = 128>>, %bar: memref<!tile.mbarrier, #tile.shared>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{a region of 16x32 lies as 16x32 in shared memory, but the shared memref is memref<16x64xf32, #tile.shared<align = 128>>}}
  tile.tma.copy load %A[%c0, %c0] extents [16, 32], %m mbar %bar[] : memref<16x64xf32, #tile.global>, memref<16x64xf32, #tile.shared<align = 128>>, memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @panel_shape(%A: memref<16x64xf32, #tile.global>, %m: memref<16x2x32xf32, #tile.shared<swizzle = 128>>, %bar: memref<!tile.mbarrier, #tile.shared>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{a region of 16x64 lies as 2x16x32 in shared memory with swizzle 128, but the shared memref is memref<16x2x32xf32, #tile.shared<swizzle = 128>>}}
  tile.tma.copy load %A[%c0, %c0] extents [16, 64], %m mbar %bar[] : memref<16x64xf32, #tile.global>, memref<16x2x32xf32, #tile.shared<swizzle = 128>>, memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @counts(%A: memref<16x64xf32, #tile.global>, %m: memref<16x32xf32, #tile.shared<align = 128>>, %bar: memref<!tile.mbarrier, #tile.shared>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{memref<16x64xf32, #tile.global> has 2 dimensions, but 2 indices and 1 extents are given}}
  tile.tma.copy load %A[%c0, %c0] extents [32], %m mbar %bar[] : memref<16x64xf32, #tile.global>, memref<16x32xf32, #tile.shared<align = 128>>, memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @load_clauses(%A: memref<16x64xf32, #tile.global>, %m: memref<16x32xf32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{needs `mbar`: a load counts its bytes on one}}
  // expected-error@below {{has `reduce`, which belongs to stores}}
  // expected-error@below {{has `overwrite`, which belongs to stores}}
  tile.tma.copy load %A[%c0, %c0] extents [16, 32], %m reduce add overwrite : memref<16x64xf32, #tile.global>, memref<16x32xf32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @store_clauses(%A: memref<16x64xf32, #tile.global>, %m: memref<16x32xf32, #tile.shared<align = 128>>, %bar: memref<!tile.mbarrier, #tile.shared>, %mask: i16, %policy: i64) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{has `mbar`, but a store completes in the thread's bulk group; leave it out}}
  // expected-error@below {{has `multicast`, which belongs to loads}}
  // expected-error@below {{has `fill`, which belongs to loads}}
  // expected-error@below {{has `unsigned`, which says how `reduce` takes integers}}
  // expected-error@below {{has a fixed cache policy and one that is a value; give one of them}}
  // expected-error@below {{a tensor map cannot hold f32 with format = unsigned}}
  tile.tma.copy store %A[%c0, %c0] extents [16, 32], %m mbar %bar[] unsigned multicast %mask cache evict_first policy %policy fill zero : memref<16x64xf32, #tile.global>, memref<16x32xf32, #tile.shared<align = 128>>, memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @reductions(%A: memref<16x64xf32, #tile.global>, %m: memref<16x32xf32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{the map holds f32, but min takes u32, s32, u64, s64, f16, bf16}}
  tile.tma.copy store %A[%c0, %c0] extents [16, 32], %m reduce min : memref<16x64xf32, #tile.global>, memref<16x32xf32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @row_end(%A: memref<16x62xf32, strided<[64, 1]>, #tile.global>, %m: memref<16x32xf32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{rows of the tensor are 248 bytes, and stores round them up to 16: 8 bytes after each row are overwritten; pad the rows, or say `overwrite`}}
  tile.tma.copy store %A[%c0, %c0] extents [16, 32], %m : memref<16x62xf32, strided<[64, 1]>, #tile.global>, memref<16x32xf32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @negative(%A: memref<16x64xf32, #tile.global>, %m: memref<16x32xf32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  %before = arith.constant -1 : index
  // expected-error@below {{coordinate #0 is -1, but a store cannot start outside the tensor (an illegal instruction on the GPU); clip the box}}
  tile.tma.copy store %A[%before, %c0] extents [16, 32], %m : memref<16x64xf32, #tile.global>, memref<16x32xf32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @element(%A: memref<16x64xf32, #tile.global>, %m: memref<16x32xi32, #tile.shared<align = 128>>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{the shared memref memref<16x32xi32, #tile.shared<align = 128>> must have the element type of memref<16x64xf32, #tile.global>}}
  tile.tma.copy store %A[%c0, %c0] extents [16, 32], %m : memref<16x64xf32, #tile.global>, memref<16x32xi32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @prefetch(%A: memref<16x64xf32, #tile.global>, %mask: i16) {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<16x64xf32, #tile.shared<align = 128>>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  // expected-error@below {{has a shared memref, but a prefetch goes to L2; leave it out}}
  // expected-error@below {{has `mbar`, but nobody hears of a prefetch's end; leave it out}}
  // expected-error@below {{has `reduce`, which belongs to stores}}
  // expected-error@below {{has `multicast`, which belongs to loads}}
  tile.tma.copy prefetch %A[%c0, %c0] extents [16, 64], %m mbar %bar[] reduce add multicast %mask : memref<16x64xf32, #tile.global>, memref<16x64xf32, #tile.shared<align = 128>>, memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @no_shared(%A: memref<16x64xf32, #tile.global>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{needs a shared memref: a store moves the region from or to one}}
  tile.tma.copy store %A[%c0, %c0] extents [16, 64] : memref<16x64xf32, #tile.global>
  return
}

// -----

func.func private @padded(%A: memref<16x64xi8, #tile.global>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{format b4x16_p64 spreads each 16 elements over 16 bytes of shared memory, where the region has another shape than in global memory; use tile.tma.apply, which takes box and coordinates as they are}}
  tile.tma.copy prefetch %A[%c0, %c0] extents [16, 64] format b4x16_p64 : memref<16x64xi8, #tile.global>
  return
}

// -----

func.func private @format_of_integers(%A: memref<16x64xi32, #tile.global>, %B: memref<16x64xf32, #tile.global>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{format tf32 needs memrefs of f32, found memref<16x64xi32, #tile.global>}}
  tile.tma.copy prefetch %A[%c0, %c0] extents [16, 64] format tf32 : memref<16x64xi32, #tile.global>
  return
}

// -----

func.func private @four_bits_of_floats(%B: memref<16x64xf32, #tile.global>) {
  %c0 = arith.constant 0 : index
  // expected-error@below {{format b4x16 packs its elements in bytes, so that it needs memrefs of i8, found memref<16x64xf32, #tile.global>}}
  tile.tma.copy prefetch %B[%c0, %c0] extents [16, 64] format b4x16 : memref<16x64xf32, #tile.global>
  return
}

// -----

func.func private @sums_of_four_bits(%A: memref<16x64xi8, #tile.global>) {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<16x64xi8, #tile.shared<align = 128>>
  // expected-error@below {{the map holds b4x16, but add takes}}
  tile.tma.copy store %A[%c0, %c0] extents [16, 64], %m reduce add format b4x16 : memref<16x64xi8, #tile.global>, memref<16x64xi8, #tile.shared<align = 128>>
  return
}
