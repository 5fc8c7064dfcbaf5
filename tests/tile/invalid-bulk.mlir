// Bulk copies of what is provably not one run of memory, or not on 16 bytes.
// RUN: girih-opt %s --split-input-file --verify-diagnostics

!bar = memref<!tile.mbarrier, #tile.shared>

func.func private @gap(%A: memref<8x64xf32, strided<[96, 1]>, #tile.global>, %bar: !bar, %i: index) {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<128xf32, #tile.shared>
  // expected-error@below {{bulk copies move contiguous bytes, but the piece of 128 elements from element 0 of a run on is more than one run of memref<8x64xf32, strided<[96, 1]>, #tile.global>: 64 elements follow each other, and dimension 0 has stride 96; copy each run by itself, or use a tensor copy}}
  tile.bulk.load %A[%i, %c0], %m, %bar[] : memref<8x64xf32, strided<[96, 1]>, #tile.global>, memref<128xf32, #tile.shared>, !bar
  return
}

// -----

func.func private @gap_behind_start(%A: memref<8x64xf32, strided<[96, 1]>, #tile.global>, %i: index) {
  %c32 = arith.constant 32 : index
  %m = tile.alloc : memref<64xf32, #tile.shared>
  // expected-error@below {{the piece of 64 elements from element 32 of a run on is more than one run of}}
  tile.bulk.store %m, %A[%i, %c32] : memref<64xf32, #tile.shared>, memref<8x64xf32, strided<[96, 1]>, #tile.global>
  return
}

// -----

func.func private @end(%A: memref<4x64xf32, #tile.global>) {
  %c2 = arith.constant 2 : index
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<192xf32, #tile.shared>
  // Rows follow each other, so that more than one is a run.
  tile.bulk.reduce add %m, %A[%c0, %c0] : memref<192xf32, #tile.shared>, memref<4x64xf32, #tile.global>
  // expected-error@below {{the piece of 192 elements from element 128 on ends behind memref<4x64xf32, #tile.global>, which has 256; make it shorter}}
  tile.bulk.reduce add %m, %A[%c2, %c0] : memref<192xf32, #tile.shared>, memref<4x64xf32, #tile.global>
  return
}

// -----

func.func private @prefetch(%A: memref<4x64xf32, #tile.global>) {
  %c0 = arith.constant 0 : index
  %n = arith.constant 1040 : i32
  // expected-error@below {{the piece of 260 elements from element 0 on ends behind memref<4x64xf32, #tile.global>, which has 256; make it shorter}}
  tile.bulk.prefetch %A[%c0, %c0], %n : memref<4x64xf32, #tile.global>
  return
}

// -----

!bar = memref<!tile.mbarrier, #tile.shared>

func.func private @address(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %B: memref<8x20xbf16, #tile.global>, %bar: !bar, %i: index) {
  %c8 = arith.constant 8 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<8xbf16, #tile.shared>
  // Nothing is known of the row's stride.
  tile.bulk.load %A[%i, %c8], %m, %bar[] : memref<?x?xbf16, strided<[?, 1]>, #tile.global>, memref<8xbf16, #tile.shared>, !bar
  // expected-error@below {{the global address is 8 bytes more than a multiple of 16 past the start, but bulk copies need a multiple of 16}}
  tile.bulk.load %B[%c1, %c0], %m, %bar[] : memref<8x20xbf16, #tile.global>, memref<8xbf16, #tile.shared>, !bar
  return
}
