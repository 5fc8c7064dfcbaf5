// RUN: girih-opt %s -tile-allocate-shared -split-input-file | FileCheck %s

// Strict buffers first: the ring of panels, then what lies on 128 bytes, then the barriers.
module attributes {tile.target = "sm_90a"} {
  // CHECK-LABEL: tile.kernel @packed
  // CHECK-SAME: attributes {shared_bytes = 33280 : i64}
  tile.kernel @packed() threads(128) launch {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  } body {
    // CHECK: tile.alloc {offset = 33248 : i64} : memref<4x!tile.mbarrier
    %bar = tile.alloc : memref<4x!tile.mbarrier, #tile.shared>
    // CHECK: tile.alloc {offset = 32768 : i64} : memref<119xf32
    %row = tile.alloc : memref<119xf32, #tile.shared>
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c4 step %c1 {
      // A buffer lives as long as its kernel wherever it is written.
      // CHECK: tile.alloc {offset = 0 : i64} : memref<4x64x64xbf16
      %ring = tile.alloc : memref<4x64x64xbf16, #tile.shared<swizzle = 128>>
    }
  }
}

// -----

// Without buffers no bytes, and no target is asked for.
// CHECK-LABEL: tile.kernel @empty
// CHECK-SAME: shared_bytes = 0
tile.kernel @empty() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

// Offsets by hand stay, `align` is kept, and the rest goes around them.
module attributes {tile.target = "sm_90a"} {
  // CHECK-LABEL: tile.kernel @by_hand
  // CHECK-SAME: shared_bytes = 320
  tile.kernel @by_hand() threads(32) launch {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  } body {
    // CHECK: tile.alloc {offset = 128 : i64} : memref<128xi8
    %a = tile.alloc {offset = 128 : i64} : memref<128xi8, #tile.shared>
    // CHECK: tile.alloc {offset = 256 : i64} : memref<64xi8
    %b = tile.alloc : memref<64xi8, #tile.shared>
    // CHECK: tile.alloc {offset = 0 : i64} : memref<128xi8, #tile.shared<align = 512>>
    %c = tile.alloc : memref<128xi8, #tile.shared<align = 512>>
  }
}
