// Where ops of the device may stand.
// RUN: girih-opt %s --split-input-file --verify-diagnostics

// expected-note@below {{the function}}
func.func @public() {
  // expected-error@below {{runs on the device, but '@public' is a public function; write it in the body of a tile.kernel}}
  %i = tile.block_id x
  return
}

// -----

// expected-error@below {{runs on the device, but stands in no kernel; write it in the body of a tile.kernel}}
tile.barrier

// -----

tile.entry @e in @m() threads(32) launch {
  // expected-error@below {{runs on the device, but stands in a launch region, which the host evaluates}}
  %i = tile.thread_id
  tile.grid %i, %i, %i
}

// -----

// Each family asks.

// expected-note@below {{the function}}
func.func @f() {
  // expected-error@below {{runs on the device}}
  %a = tile.alloc : memref<4xf32, #tile.shared>
  return
}

// -----

// expected-note@below {{the function}}
func.func @f(%s: memref<64x64xbf16, #tile.shared<swizzle = 128>>) {
  // expected-error@below {{runs on the device}}
  %b = tile.slab %s[] : memref<64x64xbf16, #tile.shared<swizzle = 128>> -> memref<64x64xbf16, #tile.shared<swizzle = 128>>
  return
}

// -----

// expected-note@below {{the function}}
func.func @f(%g: memref<64x64xf32, #tile.global>, %i: index, %d: tensor<64x64xf32, #tile.layout<wgmma_d>>) {
  // expected-error@below {{runs on the device}}
  tile.store %d, %g[%i, %i] : tensor<64x64xf32, #tile.layout<wgmma_d>>, memref<64x64xf32, #tile.global>
  return
}

// -----

// expected-note@below {{the function}}
func.func @f(%s: memref<64x64xbf16, #tile.shared<swizzle = 128>>, %map: !tile.tensor_map<64x64xbf16, swizzle = 128>, %bar: memref<!tile.mbarrier, #tile.shared>, %i: index) {
  // expected-error@below {{runs on the device}}
  tile.tma.load %map[%i, %i], %s, %bar[] : !tile.tensor_map<64x64xbf16, swizzle = 128>, memref<64x64xbf16, #tile.shared<swizzle = 128>>, memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

// expected-note@below {{the function}}
func.func @f(%map: !tile.tensor_map<64x64xbf16, swizzle = 128>) {
  // expected-error@below {{runs on the device}}
  tile.prefetch_tensor_map %map : !tile.tensor_map<64x64xbf16, swizzle = 128>
  return
}

// -----

// expected-note@below {{the function}}
func.func @f() {
  // expected-error@below {{runs on the device}}
  tile.bulk.commit
  return
}

// -----

// expected-note@below {{the function}}
func.func @f() {
  // expected-error@below {{runs on the device}}
  tile.bulk.wait 0
  return
}

// -----

// expected-note@below {{the function}}
func.func @f(%bar: memref<!tile.mbarrier, #tile.shared>, %p: i1) {
  // expected-error@below {{runs on the device}}
  tile.mbarrier.wait %bar[], %p : memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

// expected-note@below {{the function}}
func.func @f() {
  // expected-error@below {{runs on the device}}
  tile.wgmma.fence
  return
}

// -----

// expected-note@below {{the function}}
func.func @f(%s: memref<64x64xbf16, #tile.shared<swizzle = 128>>, %d: tensor<64x64xf32, #tile.layout<wgmma_d>>) {
  // expected-error@below {{runs on the device}}
  %f = tile.wgmma %s, %s, %d : memref<64x64xbf16, #tile.shared<swizzle = 128>>, memref<64x64xbf16, #tile.shared<swizzle = 128>>, tensor<64x64xf32, #tile.layout<wgmma_d>>
  return
}

// -----

// expected-note@below {{the function}}
func.func @f() {
  // expected-error@below {{runs on the device}}
  tile.fence gpu
  return
}

// -----

// expected-note@below {{the function}}
func.func @f() {
  // expected-error@below {{runs on the device}}
  %e = tile.elect
  return
}

// -----

// Warpgroup ops need whole warpgroups.
tile.kernel @k() threads(96) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error@below {{is done by whole warpgroups of 128 threads, but the kernel has threads(96)}}
  tile.wgmma.fence
}

// -----

tile.kernel @k() threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  tile.warp_specialize
  role producer(%t) warps(1) {
    // expected-error@below {{is done by whole warpgroups, but role 'producer' has warps 0 to 0; give it 4 warps from a multiple of 4}}
    tile.wgmma.commit
  } role consumer(%t) warps(7) {
  }
}

// -----

tile.kernel @k() threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  tile.warp_specialize
  role producer(%t) warps(1) {
  } role consumer(%t) warps(4) {
    // expected-error@below {{is done by whole warpgroups, but role 'consumer' has warps 1 to 4; give it 4 warps from a multiple of 4}}
    tile.wgmma.commit
  } role idle(%t) warps(3) {
  }
}

// -----

tile.kernel @k(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error@below {{is made on the host, but stands in a kernel's body; make it in launch, and hand it on with tile.grid ... args(...)}}
  %map = tile.tensor_map %A : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<64x64xbf16>
}
