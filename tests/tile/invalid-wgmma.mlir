// What products of the tensor cores must be.
// RUN: girih-opt %s --split-input-file --verify-diagnostics

!b = memref<128x64xbf16, #tile.shared<swizzle = 128>>
!d = tensor<64x128xf32, #tile.layout<wgmma_d>>

func.func private @f(%b: !b, %d: !d, %i32: memref<64x32xi32, #tile.shared<swizzle = 128>>) {
  // expected-error@below {{operand 'a' holds i32, but wgmma multiplies f16, bf16, f32 (as tf32), f8E4M3FN, f8E5M2 and i8}}
  // expected-error@below {{'a' has K = 32, but 'b' has K = 64}}
  %0 = tile.wgmma %i32, %b, %d : memref<64x32xi32, #tile.shared<swizzle = 128>>, !b, !d
  return
}

// -----

!b = memref<128x64xbf16, #tile.shared<swizzle = 128>>
!d = tensor<64x128xf32, #tile.layout<wgmma_d>>

func.func private @f(%b: !b, %d: !d, %f16: memref<64x64xf16, #tile.shared<swizzle = 128>>) {
  // expected-error@below {{wgmma has no a = f16 with b = bf16; b must be f16}}
  %0 = tile.wgmma %f16, %b, %d : memref<64x64xf16, #tile.shared<swizzle = 128>>, !b, !d
  return
}

// -----

!b = memref<128x64xbf16, #tile.shared<swizzle = 128>>
!d = tensor<64x128xf32, #tile.layout<wgmma_d>>

func.func private @f(%b: !b, %d: !d, %tall: memref<128x64xbf16, #tile.shared<swizzle = 128>>) {
  // expected-error@below {{'a' has 128 rows, but one warpgroup multiplies 64; take a slab of 64 rows}}
  %0 = tile.wgmma %tall, %b, %d : memref<128x64xbf16, #tile.shared<swizzle = 128>>, !b, !d
  return
}

// -----

!a = memref<64x64xbf16, #tile.shared<swizzle = 128>>
!d = tensor<64x128xf32, #tile.layout<wgmma_d>>

func.func private @f(%a: !a, %d: !d, %short: memref<128x32xbf16, #tile.shared<swizzle = 64>>) {
  // expected-error@below {{'a' has K = 64, but 'b' has K = 32}}
  %0 = tile.wgmma %a, %short, %d : !a, memref<128x32xbf16, #tile.shared<swizzle = 64>>, !d
  return
}

// -----

!a = memref<64x64xbf16, #tile.shared<swizzle = 128>>
!d = tensor<64x128xf32, #tile.layout<wgmma_d>>

func.func private @f(%a: !a, %d: !d, %narrow: memref<64x64xbf16, #tile.shared<swizzle = 128>>) {
  // expected-error@below {{'b' has N = 64, but the accumulator has 128 columns}}
  %0 = tile.wgmma %a, %narrow, %d : !a, memref<64x64xbf16, #tile.shared<swizzle = 128>>, !d
  return
}

// -----

!b = memref<128x64xbf16, #tile.shared<swizzle = 128>>
!d = tensor<64x128xf32, #tile.layout<wgmma_d>>

func.func private @f(%b: !b, %d: !d, %wide: memref<64x128xbf16, #tile.shared<swizzle = 128>>) {
  // expected-error@below {{rows of memref<64x128xbf16, #tile.shared<swizzle = 128>> are 256 bytes, but wgmma reads rows of 128 with this swizzle; use panels x rows x span}}
  %0 = tile.wgmma %wide, %b, %d : memref<64x128xbf16, #tile.shared<swizzle = 128>>, !b, !d
  return
}

// -----

!b = memref<128x64xbf16, #tile.shared<swizzle = 128>>
!d = tensor<64x128xf32, #tile.layout<wgmma_d>>

func.func private @f(%b: !b, %d: !d, %any: memref<?x64xbf16, #tile.shared<swizzle = 128>>) {
  // expected-error@below {{memref<?x64xbf16, #tile.shared<swizzle = 128>> must have static sizes}}
  %0 = tile.wgmma %any, %b, %d : memref<?x64xbf16, #tile.shared<swizzle = 128>>, !b, !d
  return
}

// -----

!b = memref<128x64xbf16, #tile.shared<swizzle = 128>>
!d = tensor<64x128xf32, #tile.layout<wgmma_d>>

func.func private @f(%b: !b, %d: !d, %deep: memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>) {
  // expected-error@below {{memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>> must be rows x span or panels x rows x span}}
  %0 = tile.wgmma %deep, %b, %d : memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>, !b, !d
  return
}

// -----

!b = memref<128x64xbf16, #tile.shared<swizzle = 128>>
!d = tensor<64x128xf32, #tile.layout<wgmma_d>>

func.func private @f(%b: !b, %d: !d, %part: memref<64x64xbf16, strided<[64, 1], offset: ?>, #tile.shared<swizzle = 128>>) {
  // expected-error@below {{wgmma reads contiguous shared memory, found memref<64x64xbf16, strided<[64, 1], offset: ?>, #tile.shared<swizzle = 128>>; take a part with tile.slab}}
  %0 = tile.wgmma %part, %b, %d : memref<64x64xbf16, strided<[64, 1], offset: ?>, #tile.shared<swizzle = 128>>, !b, !d
  return
}

// -----

!a = memref<64x64xbf16, #tile.shared<swizzle = 128>>
!d = tensor<64x128xf32, #tile.layout<wgmma_d>>

func.func private @f(%a: !a, %d: !d, %huge: memref<1099511627776x64xbf16, #tile.shared<swizzle = 128>>) {
  // expected-error@below {{memref<1099511627776x64xbf16, #tile.shared<swizzle = 128>> is larger than the 232448 bytes of shared memory that a block has at most}}
  %0 = tile.wgmma %a, %huge, %d : !a, memref<1099511627776x64xbf16, #tile.shared<swizzle = 128>>, !d
  return
}

// -----

!a = memref<64x64xbf16, #tile.shared<swizzle = 128>>
!d = tensor<64x128xf32, #tile.layout<wgmma_d>>

func.func private @f(%a: !a, %d: !d, %empty: memref<0x64xbf16, #tile.shared<swizzle = 128>>) {
  // expected-error@below {{MN = 0}}
  %0 = tile.wgmma %a, %empty, %d : !a, memref<0x64xbf16, #tile.shared<swizzle = 128>>, !d
  return
}

// -----

!b = memref<128x64xbf16, #tile.shared<swizzle = 128>>
!d = tensor<64x128xf32, #tile.layout<wgmma_d>>

func.func private @f(%b: !b, %d: !d, %g: memref<64x64xbf16, #tile.global>) {
  // expected-error@below {{operand #0 'a' must be a memref in #tile.shared or a tensor with #tile.layout<wgmma_a>, but is memref<64x64xbf16, #tile.global>}}
  %0 = "tile.wgmma"(%g, %b, %d) : (memref<64x64xbf16, #tile.global>, !b, !d) -> !tile.in_flight<!d>
  return
}

// -----

!b = memref<128x64xbf16, #tile.shared<swizzle = 128>>
!d = tensor<64x128xf32, #tile.layout<wgmma_d>>

func.func private @f(%b: !b, %d: !d, %s96: memref<64x48xbf16, #tile.shared<swizzle = 96>>) {
  // expected-error@below {{96}}
  %0 = tile.wgmma %s96, %b, %d : memref<64x48xbf16, #tile.shared<swizzle = 96>>, !b, !d
  return
}

// -----

func.func private @f(%a32: memref<64x32xf32, #tile.shared<swizzle = 128>>, %b32: memref<32x32xf32, #tile.shared<swizzle = 128>>, %d32: tensor<64x32xf32, #tile.layout<wgmma_d>>) {
  // expected-error@below {{MN-major}}
  %0 = tile.wgmma %a32, %b32, %d32 {b_major = "mn"} : memref<64x32xf32, #tile.shared<swizzle = 128>>, memref<32x32xf32, #tile.shared<swizzle = 128>>, tensor<64x32xf32, #tile.layout<wgmma_d>>
  return
}

// -----

!a = memref<64x64xbf16, #tile.shared<swizzle = 128>>
!b = memref<128x64xbf16, #tile.shared<swizzle = 128>>

func.func private @f(%a: !a, %b: !b, %h: tensor<64x128xf16, #tile.layout<wgmma_d>>) {
  // expected-error@below {{bf16}}
  %0 = tile.wgmma %a, %b, %h : !a, !b, tensor<64x128xf16, #tile.layout<wgmma_d>>
  return
}

// -----

!a = memref<64x64xbf16, #tile.shared<swizzle = 128>>
!b = memref<128x64xbf16, #tile.shared<swizzle = 128>>

func.func private @f(%a: !a, %b: !b, %bf: tensor<64x128xbf16, #tile.layout<wgmma_d>>) {
  // expected-error@below {{the accumulator holds bf16, but wgmma accumulates in f16, f32 or i32}}
  %0 = tile.wgmma %a, %b, %bf : !a, !b, tensor<64x128xbf16, #tile.layout<wgmma_d>>
  return
}

// -----

!a = memref<64x64xbf16, #tile.shared<swizzle = 128>>
!b = memref<128x64xbf16, #tile.shared<swizzle = 128>>
!d = tensor<64x128xf32, #tile.layout<wgmma_d>>

func.func private @f(%a: !a, %b: !b, %d: !d) {
  // expected-error@below {{the result !tile.in_flight<tensor<64x32xf32, #tile.layout<wgmma_d>>> must be the accumulator tensor<64x128xf32, #tile.layout<wgmma_d>> in flight}}
  %0 = "tile.wgmma"(%a, %b, %d) : (!a, !b, !d) -> !tile.in_flight<tensor<64x32xf32, #tile.layout<wgmma_d>>>
  return
}

// -----

!a = memref<64x64xbf16, #tile.shared<swizzle = 128>>
!b = memref<128x64xbf16, #tile.shared<swizzle = 128>>
!d = tensor<64x128xf32, #tile.layout<wgmma_d>>

func.func private @f(%a: !a, %b: !b, %d: !d) {
  // expected-error@below {{attribute 'a_major' must be a major, but is "m"}}
  %0 = tile.wgmma %a, %b, %d {a_major = "m"} : !a, !b, !d
  return
}

// -----

func.func private @accumulator_as_it_is(%a: memref<64x64xf16, #tile.shared<swizzle = 128>>, %d: tensor<64x64xf32>) {
  // expected-error@below {{expected an accumulator with a #tile.layout encoding, found tensor<64x64xf32>}}
  %0 = tile.wgmma %a, %a, %d : memref<64x64xf16, #tile.shared<swizzle = 128>>, memref<64x64xf16, #tile.shared<swizzle = 128>>, tensor<64x64xf32>
  return
}

// -----

!f = !tile.in_flight<tensor<64x8xf32, #tile.layout<wgmma_d>>>

func.func private @f(%f: !f) {
  // expected-error@below {{pending = 8, but wgmma.wait_group takes 0 to 7}}
  %0 = tile.wgmma.wait 8 %f : !f -> !f
  return
}

// -----

!d = tensor<64x8xf32, #tile.layout<wgmma_d>>
!f = !tile.in_flight<tensor<64x8xf32, #tile.layout<wgmma_d>>>

func.func private @f(%f: !f) {
  // expected-error@below {{takes 1 accumulators, but gives 2}}
  %0:2 = tile.wgmma.wait 0 %f : !f -> !d, !d
  return
}

// -----

!f = !tile.in_flight<tensor<64x8xf32, #tile.layout<wgmma_d>>>

func.func private @f(%f: !f) {
  // expected-error@below {{result #0 is tensor<64x16xf32, #tile.layout<wgmma_d>>, but must be !tile.in_flight<tensor<64x8xf32, #tile.layout<wgmma_d>>> or its tensor}}
  %0 = tile.wgmma.wait 0 %f : !f -> tensor<64x16xf32, #tile.layout<wgmma_d>>
  return
}

// -----

!d = tensor<64x8xf32, #tile.layout<wgmma_d>>
!f = !tile.in_flight<tensor<64x8xf32, #tile.layout<wgmma_d>>>

func.func private @f(%f: !f) {
  // expected-error@below {{result #0 is tensor<64x8xf32, #tile.layout<wgmma_d>>, but 1 groups may still write it; wait for 0 or keep it !tile.in_flight}}
  %0 = tile.wgmma.wait 1 %f : !f -> !d
  return
}

// -----

!d = tensor<64x8xf32, #tile.layout<wgmma_d>>

func.func private @f(%d: !d) {
  // expected-error@below {{operand #0 'inputs' must be a !tile.in_flight, but is tensor<64x8xf32, #tile.layout<wgmma_d>>}}
  %0 = tile.wgmma.wait 0 %d : !d -> !d
  return
}

// -----

// What is in flight is taken once.

!a = memref<64x64xbf16, #tile.shared<swizzle = 128>>
!b = memref<128x64xbf16, #tile.shared<swizzle = 128>>
!d = tensor<64x128xf32, #tile.layout<wgmma_d>>

func.func private @f(%a: !a, %b: !b, %d: !d) {
  %f = tile.wgmma %a, %b, %d : !a, !b, !d
  // expected-error@below {{takes an accumulator in flight that is taken 2 times here; pass on what the first taker gives}}
  %g = tile.wgmma %a, %b, %f : !a, !b, !tile.in_flight<!d>
  %0:2 = tile.wgmma.wait 0 %f, %g : !tile.in_flight<!d>, !tile.in_flight<!d> -> !d, !d
  return
}

// -----

!a = memref<64x32xi8, #tile.shared<swizzle = 32>>
!b = memref<8x32xi8, #tile.shared<swizzle = 32>>
!d = tensor<64x8xi32, #tile.layout<wgmma_d>>
func.func private @bits(%a: !a, %b: !b, %d: !d) {
  // expected-error @+1 {{says popc xor, but wgmma has popc and alone; multiply tiles, by mma.sync}}
  %0 = tile.wgmma %a, %b, %d popc xor : !a, !b, !d
  return
}

// -----

!a = memref<64x32xi8, #tile.shared<swizzle = 32>>
!b = memref<8x32xf8E5M2, #tile.shared<swizzle = 32>>
!d = tensor<64x8xi32, #tile.layout<wgmma_d>>
func.func private @bits_of_floats(%a: !a, %b: !b, %d: !d) {
  // expected-error @+2 {{operand 'a' holds i8, but popc counts the bits of i8 without unsigned, eight in each}}
  // expected-error @+1 {{operand 'b' holds f8E5M2, but popc counts the bits of i8 without unsigned, eight in each}}
  %0 = tile.wgmma %a, %b, %d popc and {unsigned_a} : !a, !b, !d
  return
}
