// RUN: girih-opt %s -split-input-file -verify-diagnostics

!rows = memref<?x?xf16, strided<[?, 1]>, #tile.global>
func.func private @bytes(%A: !rows, %m: memref<8x64xf16, #tile.shared<align = 16>>, %i: index) {
  // expected-error @+1 {{copies 12 bytes, but cp.async copies 4, 8 or 16; write several copies}}
  tile.cp_async %A[%i, %i], %m[%i, %i], 12 : !rows, memref<8x64xf16, #tile.shared<align = 16>>
  return
}

// -----

func.func private @whole(%w: memref<8x8xf64, #tile.shared<align = 16>>, %B: memref<?x?xf64, strided<[?, 1]>, #tile.global>, %i: index) {
  // expected-error @+1 {{copies 4 bytes, which are no whole elements of memref<8x8xf64, #tile.shared<align = 16>>; copy a multiple of 8}}
  tile.cp_async %B[%i, %i], %w[%i, %i], 4 : memref<?x?xf64, strided<[?, 1]>, #tile.global>, memref<8x8xf64, #tile.shared<align = 16>>
  return
}

// -----

!rows = memref<?x?xf16, strided<[?, 1]>, #tile.global>
func.func private @elements(%A: !rows, %m: memref<8x64xbf16, #tile.shared<align = 16>>, %i: index) {
  // expected-error @+1 {{copies from memref<?x?xf16, strided<[?, 1]>, #tile.global> to memref<8x64xbf16, #tile.shared<align = 16>>, which has other elements; give both the same element type}}
  tile.cp_async %A[%i, %i], %m[%i, %i], 16 : !rows, memref<8x64xbf16, #tile.shared<align = 16>>
  return
}

// -----

!rows = memref<?x?xf16, strided<[?, 1]>, #tile.global>
func.func private @indices(%A: !rows, %m: memref<8x64xf16, #tile.shared<align = 16>>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{the memref in global memory has 2 dimensions, but 1 indices are given}}
  tile.cp_async %A[%c0], %m[%c0, %c0], 16 : !rows, memref<8x64xf16, #tile.shared<align = 16>>
  return
}

// -----

!rows = memref<?x?xf16, strided<[?, 1]>, #tile.global>
func.func private @outside(%A: !rows, %m: memref<8x64xf16, #tile.shared<align = 16>>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  // expected-error @+1 {{index #0 is 8, but the memref in shared memory has 8 there, from 0}}
  tile.cp_async %A[%c0, %c0], %m[%c8, %c0], 16 : !rows, memref<8x64xf16, #tile.shared<align = 16>>
  return
}

// -----

!rows = memref<?x?xf16, strided<[?, 1]>, #tile.global>
func.func private @size(%A: !rows, %m: memref<8x64xf16, #tile.shared<align = 16>>, %i: index) {
  %n = arith.constant 9 : i32
  // expected-error @+1 {{src_size = 9, but of 8 bytes 0 to 8 can be read; take one of these}}
  tile.cp_async %A[%i, %i], %m[%i, %i], 8 src_size %n : !rows, memref<8x64xf16, #tile.shared<align = 16>>
  return
}

// -----

!rows = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!flip = memref<8x32xf32, #tile.shared<swizzle = 128, atom = b32_flip_8>>
func.func private @flip(%A: !rows, %m: !flip, %i: index) {
  // expected-error @+1 {{whose swizzle moves 8; copy 8}}
  tile.cp_async %A[%i, %i], %m[%i, %i], 16 : !rows, !flip
  return
}

// -----

!rows = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!part = memref<8x64xf16, strided<[128, 1]>, #tile.shared>
func.func private @part(%A: !rows, %m: !part, %i: index) {
  // expected-error @+1 {{copies to contiguous shared memory, found}}
  tile.cp_async %A[%i, %i], %m[%i, %i], 16 : !rows, !part
  return
}

// -----

func.func private @barrier(%bar: memref<2x!tile.mbarrier, #tile.shared>) {
  %c2 = arith.constant 2 : index
  // expected-error @+1 {{index #0 is 2, but the memref of mbarriers has 2 there, from 0}}
  tile.cp_async.mbarrier_arrive %bar[%c2] noinc : memref<2x!tile.mbarrier, #tile.shared>
  return
}

// -----

// Multiples of 16 bytes from the start, and of what is copied; rows are, but column 1 is none.
!rows = memref<64x64xbf16, #tile.global>
!slot = memref<8x64xbf16, #tile.shared<align = 16>>
func.func private @column(%A: !rows, %m: !slot, %r: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{the global address is 2 bytes more than a multiple of 16 past the start, but 16 bytes are copied from a multiple of 16 to one; copy fewer, or start elsewhere}}
  tile.cp_async %A[%r, %c1], %m[%r, %c0], 16 : !rows, !slot
  return
}

// -----

!rows = memref<64x64xbf16, #tile.global>
!slot = memref<8x64xbf16, #tile.shared<align = 16>>
func.func private @shared_column(%A: !rows, %m: !slot, %r: index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tile.cp_async %A[%r, %c4], %m[%r, %c4], 8 : !rows, !slot
  // expected-error @+1 {{the shared address is 8 bytes more than a multiple of 16 past the start, but 16 bytes are copied}}
  tile.cp_async %A[%r, %c0], %m[%r, %c4], 16 : !rows, !slot
  return
}

// -----

!rows = memref<?x?xf16, strided<[?, 2]>, #tile.global>
!slot = memref<8x64xf16, #tile.shared<align = 16>>
func.func private @apart(%A: !rows, %m: !slot, %r: index) {
  // expected-error @+1 {{copies 8 bytes that lie together, but no dimension of memref<?x?xf16, strided<[?, 2]>, #tile.global> is known to have stride 1; give one of them stride 1, as in strided<[?, 1]>}}
  tile.cp_async %A[%r, %r], %m[%r, %r], 8 : !rows, !slot
  return
}

// -----

!rows = memref<?x?xf16, strided<[?, 1]>, #tile.global>
func.func private @base(%A: !rows, %m: memref<8x64xf16, #tile.shared>, %r: index) {
  // expected-error @+1 {{copies 16 bytes to shared memory that starts on a multiple of 2 only; say align = 16 where it is allocated, or copy fewer}}
  tile.cp_async %A[%r, %r], %m[%r, %r], 16 : !rows, memref<8x64xf16, #tile.shared>
  return
}

// -----

func.func private @groups() {
  // expected-error @+1 {{leaves 8 groups in flight; write 0 to 7}}
  tile.cp_async.wait_group 8
  return
}
