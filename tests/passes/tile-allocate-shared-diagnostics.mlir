// RUN: girih-opt %s -tile-allocate-shared=report=true -split-input-file -verify-diagnostics

module attributes {tile.target = "sm_90a"} {
  // expected-remark @+1 {{kernel @report has 1048 bytes of shared memory, 0 of them between buffers}}
  tile.kernel @report() threads(32) launch {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  } body {
    // expected-note @+1 {{24 bytes at offset 1024: memref<3x!tile.mbarrier, #tile.shared>}}
    %bar = tile.alloc : memref<3x!tile.mbarrier, #tile.shared>
    // expected-note @+1 {{1024 bytes at offset 0: memref<8x64xbf16, #tile.shared<swizzle = 128>>}}
    %a = tile.alloc : memref<8x64xbf16, #tile.shared<swizzle = 128>>
  }
}

// -----

module attributes {tile.target = "sm_120a"} {
  // expected-error @+1 {{needs 131080 bytes of shared memory, but a block on sm_120a has at most 101376; use fewer or smaller buffers}}
  tile.kernel @too_much() threads(32) launch {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  } body {
    // expected-note @+1 {{131072 bytes at offset 0: memref<8x128x64xbf16, #tile.shared<swizzle = 128>>}}
    %a = tile.alloc : memref<8x128x64xbf16, #tile.shared<swizzle = 128>>
    // expected-note @+1 {{8 bytes at offset 131072: memref<!tile.mbarrier, #tile.shared>}}
    %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  }
}

// -----

module attributes {tile.target = "sm_90a"} {
  tile.kernel @overlap() threads(32) launch {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  } body {
    // expected-note @+1 {{the other one is here}}
    %a = tile.alloc {offset = 0 : i64} : memref<129xi8, #tile.shared>
    // expected-error @+1 {{has bytes 128 to 192 by hand, but another buffer has 0 to 129, and the two may be in use at once; leave the offset out and let tile-allocate-shared choose}}
    %b = tile.alloc {offset = 128 : i64} : memref<64xi8, #tile.shared>
  }
}

// -----

module attributes {tile.target = "sm_90a"} {
  tile.kernel @alignment() threads(32) launch {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  } body {
    // expected-error @+1 {{asks for align = 2048, but a block's shared memory starts on 1024 bytes only; ask for at most that}}
    %a = tile.alloc : memref<8xi8, #tile.shared<align = 2048>>
  }
}

// -----

// expected-error @+1 {{needs a target, but the module around it names none}}
tile.kernel @nowhere() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %a = tile.alloc : memref<8xi8, #tile.shared>
}

// -----

func.func private @helper() {
  // expected-remark @+1 {{a tile.alloc outside kernels gets no offset}}
  %a = tile.alloc : memref<8xi8, #tile.shared>
  return
}
