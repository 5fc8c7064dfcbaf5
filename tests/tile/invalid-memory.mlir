// What shared allocations, slabs and accesses by fragments must be.
// RUN: girih-opt %s --split-input-file --verify-diagnostics

func.func private @f() {
  // expected-error@below {{result #0 'result' must be a memref in #tile.shared, but is memref<4xf32, #tile.global>}}
  %0 = tile.alloc : memref<4xf32, #tile.global>
  return
}

// -----

func.func private @f() {
  // expected-error@below {{a shared allocation must have static sizes, but is memref<?xf32, #tile.shared>}}
  %0 = tile.alloc : memref<?xf32, #tile.shared>
  return
}

// -----

func.func private @f() {
  // expected-error@below {{a shared allocation is contiguous, but has type memref<4x4xf32, strided<[8, 1]>, #tile.shared>}}
  %0 = tile.alloc : memref<4x4xf32, strided<[8, 1]>, #tile.shared>
  return
}

// -----

func.func private @f() {
  // expected-error@below {{a shared allocation is contiguous, but has type memref<4x4xf32, affine_map}}
  %0 = tile.alloc : memref<4x4xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>, #tile.shared>
  return
}

// -----

func.func private @f() {
  // expected-error@below {{elements of a shared allocation are numbers or mbarriers, but it has type memref<4xcomplex<f32>, #tile.shared>}}
  %0 = tile.alloc : memref<4xcomplex<f32>, #tile.shared>
  return
}

// -----

func.func private @f() {
  // expected-error@below {{takes 262144 bytes, but no block has more than 232448 of shared memory; use smaller tiles or fewer stages}}
  %0 = tile.alloc : memref<8x128x128xbf16, #tile.shared>
  return
}

// -----

func.func private @f() {
  // expected-error@below {{takes more than 2^64 bytes, but no block has more than 232448 of shared memory}}
  %0 = tile.alloc : memref<4294967296x4294967296xbf16, #tile.shared>
  return
}

// -----

func.func private @f() {
  // expected-error@below {{rows are 256 bytes, but swizzle 128 permutes rows of exactly 128; split wider tiles into panels, pad narrower ones}}
  %0 = tile.alloc : memref<64x128xbf16, #tile.shared<swizzle = 128>>
  return
}

// -----

func.func private @f() {
  // expected-error@below {{rows are 64 bytes, but swizzle 128 permutes rows of exactly 128; split wider tiles into panels, pad narrower ones}}
  %0 = tile.alloc : memref<64x32xbf16, #tile.shared<swizzle = 128>>
  return
}

// -----

func.func private @f() {
  // expected-error@below {{mbarriers lie as they are, but memref<16x!tile.mbarrier, #tile.shared<swizzle = 128>> has swizzle 128; leave the swizzle out}}
  %0 = tile.alloc : memref<16x!tile.mbarrier, #tile.shared<swizzle = 128>>
  return
}

// -----

func.func private @f() {
  // expected-error@below {{offset = 512, but the buffer must start at a multiple of 1024 bytes; leave the offset out and let tile-allocate-shared choose}}
  %0 = tile.alloc {offset = 512 : i64} : memref<64x64xbf16, #tile.shared<swizzle = 128>>
  return
}

// -----

func.func private @f() {
  // expected-error@below {{offset = -128, but the buffer must start at a multiple of 128 bytes}}
  %0 = tile.alloc {offset = -128 : i64} : memref<4xf32, #tile.shared>
  return
}

// -----

func.func private @f() {
  // expected-error@below {{offset = 4, but the buffer must start at a multiple of 8 bytes}}
  %0 = tile.alloc {offset = 4 : i64} : memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @f() {
  // expected-error@below {{offset = 231424, but then it ends past the 232448 bytes of shared memory that a block has at most}}
  %0 = tile.alloc {offset = 231424 : i64} : memref<64x64xbf16, #tile.shared<swizzle = 128>>
  return
}

// -----

func.func private @f(%ring: memref<4x64x64xbf16, #tile.shared<swizzle = 128>>) {
  // expected-error@below {{0 indices into memref<4x64x64xbf16, #tile.shared<swizzle = 128>> leave [4, 64, 64], but the result is memref<64x64xbf16, #tile.shared<swizzle = 128>>}}
  %0 = tile.slab %ring[] : memref<4x64x64xbf16, #tile.shared<swizzle = 128>> -> memref<64x64xbf16, #tile.shared<swizzle = 128>>
  return
}

// -----

func.func private @f(%ring: memref<4x64x64xbf16, #tile.shared<swizzle = 128>>, %i: index) {
  // expected-error@below {{4 indices into memref<4x64x64xbf16, #tile.shared<swizzle = 128>> leave [], but the result is memref<bf16, #tile.shared<swizzle = 128>>}}
  // expected-error@below {{a part is 2 bytes, but the swizzle repeats every 1024; parts must be multiples of it}}
  %0 = tile.slab %ring[%i, %i, %i, %i] : memref<4x64x64xbf16, #tile.shared<swizzle = 128>> -> memref<bf16, #tile.shared<swizzle = 128>>
  return
}

// -----

func.func private @f(%ring: memref<4x64x64xbf16, #tile.shared<swizzle = 128>>, %i: index) {
  // expected-error@below {{a part is 128 bytes, but the swizzle repeats every 1024; parts must be multiples of it}}
  %0 = tile.slab %ring[%i, %i] : memref<4x64x64xbf16, #tile.shared<swizzle = 128>> -> memref<64xbf16, #tile.shared<swizzle = 128>>
  return
}

// -----

func.func private @f(%ring: memref<4x64x64xbf16, #tile.shared<swizzle = 128>>, %i: index) {
  // expected-error@below {{the result memref<64x64xf16, #tile.shared<swizzle = 128>> must have the element type and the memory space of memref<4x64x64xbf16, #tile.shared<swizzle = 128>>}}
  %0 = tile.slab %ring[%i] : memref<4x64x64xbf16, #tile.shared<swizzle = 128>> -> memref<64x64xf16, #tile.shared<swizzle = 128>>
  return
}

// -----

func.func private @f(%ring: memref<4x64x64xbf16, #tile.shared<swizzle = 128>>, %i: index) {
  // expected-error@below {{the result memref<64x64xbf16, #tile.shared> must have the element type and the memory space of memref<4x64x64xbf16, #tile.shared<swizzle = 128>>}}
  %0 = tile.slab %ring[%i] : memref<4x64x64xbf16, #tile.shared<swizzle = 128>> -> memref<64x64xbf16, #tile.shared>
  return
}

// -----

func.func private @f(%ring: memref<4x64x64xbf16, #tile.shared<swizzle = 128>>, %i: index) {
  // expected-error@below {{slabs are cut out of contiguous memrefs and are contiguous, found memref<64x64xbf16, strided<[64, 1], offset: ?>, #tile.shared<swizzle = 128>>}}
  %0 = tile.slab %ring[%i] : memref<4x64x64xbf16, #tile.shared<swizzle = 128>> -> memref<64x64xbf16, strided<[64, 1], offset: ?>, #tile.shared<swizzle = 128>>
  return
}

// -----

func.func private @f(%ring: memref<4x64x64xbf16, #tile.shared<swizzle = 128>>) {
  %c4 = arith.constant 4 : index
  // expected-error@below {{index #0 is 4, but the memref has 4 slabs there, from 0}}
  %0 = tile.slab %ring[%c4] : memref<4x64x64xbf16, #tile.shared<swizzle = 128>> -> memref<64x64xbf16, #tile.shared<swizzle = 128>>
  return
}

// -----

func.func private @slab_of_any_size(%ring: memref<?x64x64xbf16, #tile.shared<swizzle = 128>>, %i: index) {
  // expected-error@below {{the source must have static sizes, but is memref<?x64x64xbf16, #tile.shared<swizzle = 128>>}}
  %0 = tile.slab %ring[%i] : memref<?x64x64xbf16, #tile.shared<swizzle = 128>> -> memref<64x64xbf16, #tile.shared<swizzle = 128>>
  return
}

// -----

func.func private @f(%l: memref<64x64xf32, #tile.local>, %i: index) {
  // expected-error@below {{operand #0 'source' must be a memref in #tile.global or #tile.shared, but is memref<64x64xf32, #tile.local>}}
  %0 = tile.load %l[%i, %i] : memref<64x64xf32, #tile.local> -> tensor<64x64xf32, #tile.layout<wgmma_d>>
  return
}

// -----

func.func private @f(%m: memref<64x64xf32, #tile.shared>, %i: index) {
  // expected-error@below {{says pad, but a tile lies inside its shared memory; leave pad out}}
  %0 = tile.load %m[%i, %i] {pad = 1.0 : f32} : memref<64x64xf32, #tile.shared> -> tensor<64x64xf32>
  return
}

// -----

func.func private @f(%m: memref<64x64xf32, #tile.shared>, %i: index) {
  // expected-error@below {{says vector, but in shared memory the layout and the swizzle say what goes together; leave vector out}}
  %1 = tile.load %m[%i, %i] {vector = 4 : i64} : memref<64x64xf32, #tile.shared> -> tensor<64x64xf32, #tile.blocked<per_thread = [1, 4], lanes = [4, 8], warps = [4, 1]>>
  return
}

// -----

func.func private @f(%m: memref<64x64xf32, #tile.shared>, %i: index) {
  // expected-error@below {{the tile takes 128 elements at least in dimension #1, but memref<64x64xf32, #tile.shared> has 64; nothing clips accesses to shared memory}}
  %2 = tile.load %m[%i, %i] : memref<64x64xf32, #tile.shared> -> tensor<64x128xf32>
  return
}

// -----

func.func private @f(%m: memref<64x64xf32, #tile.shared>, %i: index) {
  // expected-error@below {{the memref has 2 dimensions, but 1 indices are given}}
  %0 = tile.load %m[%i] : memref<64x64xf32, #tile.shared> -> tensor<64x64xf32, #tile.layout<wgmma_d>>
  return
}

// -----

func.func private @f(%r: memref<2x64x64xf32, #tile.shared>, %i: index) {
  // expected-error@below {{the tile has rank 2, but the memref has rank 3}}
  %0 = tile.load %r[%i, %i, %i] : memref<2x64x64xf32, #tile.shared> -> tensor<64x64xf32, #tile.layout<wgmma_d>>
  return
}

// -----

func.func private @f(%m: memref<64x64xf32, #tile.shared>, %i: index) {
  // expected-error@below {{the tile tensor<64x64xbf16, #tile.layout<wgmma_d>> must have the element type of memref<64x64xf32, #tile.shared>}}
  %0 = tile.load %m[%i, %i] : memref<64x64xf32, #tile.shared> -> tensor<64x64xbf16, #tile.layout<wgmma_d>>
  return
}

// -----

func.func private @f(%m: memref<64x64xf32, #tile.shared>, %i: index) {
  return
}

// -----

func.func private @f(%m: memref<64x64xf32, #tile.shared>, %i: index) {
  // expected-error@below {{the tile takes 128 elements at least in dimension #1, but memref<64x64xf32, #tile.shared> has 64; nothing clips accesses to shared memory}}
  %0 = tile.load %m[%i, %i] : memref<64x64xf32, #tile.shared> -> tensor<64x128xf32, #tile.layout<wgmma_d>>
  return
}

// -----

func.func private @f(%m: memref<64x64xf32, #tile.shared>, %i: index) {
  %c32 = arith.constant 32 : index
  // expected-error@below {{the tile takes 64 elements from 32 on in dimension #1, but memref<64x64xf32, #tile.shared> has 64}}
  %0 = tile.load %m[%i, %c32] : memref<64x64xf32, #tile.shared> -> tensor<64x64xf32, #tile.layout<wgmma_d>>
  return
}

// -----

func.func private @f(%v: tensor<64x64xf32, #tile.layout<wgmma_d>>, %m: memref<64x64xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>, #tile.global>, %i: index) {
  // expected-error@below {{tiles are loaded from and stored to strided memrefs, found memref<64x64xf32, affine_map}}
  tile.store %v, %m[%i, %i] : tensor<64x64xf32, #tile.layout<wgmma_d>>, memref<64x64xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>, #tile.global>
  return
}

// -----

func.func private @f() {
  // expected-error@below {{requires dense i32 array attribute 'operandSegmentSizes'}}
  "tile.store"() : () -> ()
  return
}

// -----

func.func private @f(%ring: memref<4x16xf32, #tile.shared<align = 128>>, %i: index) {
  // expected-error@below {{a part is 64 bytes, but its space says align = 128; parts must be multiples of it}}
  %0 = tile.slab %ring[%i] : memref<4x16xf32, #tile.shared<align = 128>> -> memref<16xf32, #tile.shared<align = 128>>
  return
}

// -----

func.func private @f(%m: memref<64x64xf32, strided<[68, 1]>, #tile.shared>, %i: index) {
  // expected-error@below {{tiles are loaded from and stored to contiguous shared memory, found memref<64x64xf32, strided<[68, 1]>, #tile.shared>; take a part with tile.slab}}
  %0 = tile.load %m[%i, %i] : memref<64x64xf32, strided<[68, 1]>, #tile.shared> -> tensor<64x64xf32, #tile.layout<wgmma_d>>
  return
}

// -----

func.func private @f(%m: memref<?x64xf32, #tile.shared>, %i: index) {
  // expected-error@below {{tiles are loaded from and stored to contiguous shared memory, found memref<?x64xf32, #tile.shared>}}
  %0 = tile.load %m[%i, %i] : memref<?x64xf32, #tile.shared> -> tensor<64x64xf32, #tile.layout<wgmma_d>>
  return
}

func.func private @f(%m: memref<64x16xf32, #tile.shared>, %i: index) {
  // expected-error@below {{has a cache policy, which is for global memory, but goes to memref<64x16xf32, #tile.shared>; leave `cache` out}}
  %0 = tile.load %m[%i, %i] cache evict_last : memref<64x16xf32, #tile.shared> -> tensor<64x16xf32, #tile.layout<wgmma_d>>
  return
}

// -----

func.func private @f(%m: memref<64x16xf32, #tile.shared>, %i: index, %v: tensor<64x16xf32, #tile.layout<wgmma_d>>) {
  // expected-error@below {{has a cache policy, which is for global memory, but goes to memref<64x16xf32, #tile.shared>; leave `cache` out}}
  tile.store %v, %m[%i, %i] cache evict_first : tensor<64x16xf32, #tile.layout<wgmma_d>>, memref<64x16xf32, #tile.shared>
  return
}

// -----

tile.kernel @pass_thru(%A: memref<?x?xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %i = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4x16xf32>
  // expected-error@below {{pass_thru is tensor<4x16xf32>, but the tile is tensor<4x32xf32>; take a tile of the same type}}
  %a = tile.load %A[%i, %i] pass_thru %zero : tensor<4x16xf32> : memref<?x?xf32, #tile.global> -> tensor<4x32xf32>
}

// -----

tile.kernel @both(%A: memref<?x?xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %i = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4x16xf32>
  // expected-error@below {{has both pad = 1.000000e+00 : f32 and pass_thru; leave one of them out}}
  %b = tile.load %A[%i, %i] pass_thru %zero : tensor<4x16xf32> {pad = 1.0 : f32} : memref<?x?xf32, #tile.global> -> tensor<4x16xf32>
}

// -----

func.func private @f(%m: memref<64x16xf32, #tile.shared>, %i: index, %v: tensor<64x16xf32, #tile.layout<wgmma_d>>) {
  // expected-error@below {{has pass_thru, but fragments of instructions read as zero outside; leave pass_thru out}}
  // expected-error@below {{says pass_thru, but a tile lies inside its shared memory; leave pass_thru out, or give a mask}}
  %a = tile.load %m[%i, %i] pass_thru %v : tensor<64x16xf32, #tile.layout<wgmma_d>> : memref<64x16xf32, #tile.shared> -> tensor<64x16xf32, #tile.layout<wgmma_d>>
  return
}

// -----

tile.kernel @vector_if(%A: memref<?xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %i = arith.constant 0 : index
  %yes = arith.constant true
  // expected-error@below {{has vector_if, but moves no vectors; say vector, or leave vector_if out}}
  %a = tile.load %A[%i] vector_if %yes : memref<?xf32, #tile.global> -> tensor<512xf32>
}

// -----

tile.kernel @vector_if(%A: memref<?xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %i = arith.constant 0 : index
  %yes = arith.constant true
  %a = arith.constant dense<0.0> : tensor<512xf32>
  // expected-error@below {{has vector_if, but moves no vectors; say vector, or leave vector_if out}}
  tile.store %a, %A[%i] vector_if %yes : tensor<512xf32>, memref<?xf32, #tile.global>
}

// -----

tile.kernel @vector_too_long(%A: memref<?xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %i = arith.constant 0 : index
  // expected-error@below {{vector = 8, but a thread holds 4 of}}
  %a = tile.load %A[%i] {vector = 8 : i64} : memref<?xf32, #tile.global> -> tensor<512xf32, #tile.blocked<per_thread = [4], lanes = [32], warps = [4]>>
}

// -----

tile.kernel @vector_too_long(%A: memref<?xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %i = arith.constant 0 : index
  // expected-error@below {{and moves 16 bytes at once at most; say vector = 4 or less}}
  %a = tile.load %A[%i] {vector = 8 : i64} : memref<?xf32, #tile.global> -> tensor<1024xf32, #tile.blocked<per_thread = [8], lanes = [32], warps = [4]>>
}

// -----

tile.kernel @vector_too_long(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %i = arith.constant 0 : index
  // expected-error@below {{but a thread holds 1 of}}
  %a = tile.load %A[%i, %i] {vector = 4 : i64} : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<512x4xf32, #tile.blocked<per_thread = [4, 1], lanes = [32, 1], warps = [4, 1]>>
}
