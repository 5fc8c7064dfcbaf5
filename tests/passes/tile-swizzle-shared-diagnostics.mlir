// RUN: girih-opt %s -tile-swizzle-shared -split-input-file -verify-diagnostics
// RUN: not girih-opt %s -tile-allocate-shared -split-input-file 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: error: 'tile.alloc' op has type memref<64x64xbf16, #tile.shared<swizzle = auto>>, whose swizzle nobody has chosen yet; run tile-swizzle-shared first, after tile-assign-layouts where whole tiles use it

// Two uses that ask for different swizzles.
module attributes {tile.target = "sm_90a"} {
  tile.kernel @torn(%A: memref<?x64xbf16, #tile.global>) threads(128) launch {
    %c1 = arith.constant 1 : index
    %map = tile.tensor_map %A : memref<?x64xbf16, #tile.global> -> !tile.tensor_map<64x64xbf16>
    tile.grid %c1, %c1, %c1 args(%map : !tile.tensor_map<64x64xbf16>)
  } body args(%map: !tile.tensor_map<64x64xbf16>) {
    // expected-error@+1 {{has swizzle = auto, but one use asks for swizzle 128 and another for none; use two buffers, or the same swizzle}}
    %m = tile.alloc : memref<64x64xbf16, #tile.shared<swizzle = auto>>
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #tile.layout<wgmma_d>>
    tile.wgmma.fence
    // expected-note@+1 {{this one asks for 128}}
    %f = tile.wgmma %m, %m, %zero : memref<64x64xbf16, #tile.shared<swizzle = auto>>, memref<64x64xbf16, #tile.shared<swizzle = auto>>, tensor<64x64xf32, #tile.layout<wgmma_d>>
    tile.wgmma.commit
    %acc = tile.wgmma.wait 0 %f : !tile.in_flight<tensor<64x64xf32, #tile.layout<wgmma_d>>> -> tensor<64x64xf32, #tile.layout<wgmma_d>>
    // expected-note@+1 {{this one asks for none}}
    tile.tma.store %m, %map[%c0, %c0] : memref<64x64xbf16, #tile.shared<swizzle = auto>>, !tile.tensor_map<64x64xbf16>
  }
}

// -----

// Uses that cannot be followed.
tile.kernel @carried() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error@+1 {{has swizzle = auto, but goes through 'scf.yield', where its uses cannot be followed; write the swizzle}}
  %m = tile.alloc : memref<64x64xbf16, #tile.shared<swizzle = auto>>
  %yes = arith.constant true
  %n = scf.if %yes -> (memref<64x64xbf16, #tile.shared<swizzle = auto>>) {
    // expected-note@+1 {{it is used here}}
    scf.yield %m : memref<64x64xbf16, #tile.shared<swizzle = auto>>
  } else {
    scf.yield %m : memref<64x64xbf16, #tile.shared<swizzle = auto>>
  }
}

// -----

// Places that are read from memory are not counted.
tile.kernel @gathered(%I: memref<32xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-remark@+1 {{swizzle none: where accesses go in the tile is not known here}}
  %m = tile.alloc : memref<32x32xf32, #tile.shared<swizzle = auto>>
  %c0 = arith.constant 0 : index
  %t = tile.thread_id
  %j = memref.load %I[%t] : memref<32xi32, #tile.global>
  %i = arith.index_cast %j : i32 to index
  // expected-note@+1 {{not counted: its places in the tile are not known here}}
  %y = memref.load %m[%i, %c0] : memref<32x32xf32, #tile.shared<swizzle = auto>>
}

// -----

// Tiles without layouts: nothing is said, and the buffer stays open; a view that is no slab has no places.
tile.kernel @early(%X: memref<32x32xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %m = tile.alloc : memref<32x32xf32, #tile.shared<swizzle = auto>>
  // expected-remark@+1 {{swizzle none: where accesses go in the tile is not known here}}
  %n = tile.alloc : memref<32x32xf32, #tile.shared<swizzle = auto>>
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : memref<32x32xf32, #tile.global> -> tensor<32x32xf32>
  tile.store %x, %m[%c0, %c0] : tensor<32x32xf32>, memref<32x32xf32, #tile.shared<swizzle = auto>>
  %part = memref.subview %n[0, 4] [32, 16] [1, 1] : memref<32x32xf32, #tile.shared<swizzle = auto>> to memref<32x16xf32, strided<[32, 1], offset: 4>, #tile.shared<swizzle = auto>>
  // expected-note@+1 {{not counted: its places in the tile are not known here}}
  %y = memref.load %part[%c0, %c0] : memref<32x16xf32, strided<[32, 1], offset: 4>, #tile.shared<swizzle = auto>>
}
