// RUN: girih-opt %s -split-input-file -verify-diagnostics

func.func private @inner(%a: tensor<64x32xbf16>, %b: tensor<64x16xbf16>, %c: tensor<64x16xf32>) {
  // expected-error @+1 {{operand a has K = 32, but operand b has K = 64; a is M x K, b is K x N}}
  %d = tile.mma %a, %b, %c : tensor<64x32xbf16>, tensor<64x16xbf16>, tensor<64x16xf32>
  return
}

// -----

func.func private @outer(%a: tensor<128x32xbf16>, %b: tensor<32x16xbf16>, %c: tensor<64x8xf32>) {
  // expected-error @+2 {{operand a has M = 128, but tensor<64x8xf32> has M = 64; a is M x K, b is K x N}}
  // expected-error @+1 {{operand b has N = 16, but tensor<64x8xf32> has N = 8; a is M x K, b is K x N}}
  %d = tile.mma %a, %b, %c : tensor<128x32xbf16>, tensor<32x16xbf16>, tensor<64x8xf32>
  return
}

// -----

func.func private @numbers(%a: tensor<64x32xbf16>, %b: tensor<32x8xf16>, %c: tensor<64x8xf32>) {
  // expected-error @+1 {{multiplies bf16 by f16 into f32; tensor cores multiply f16 into f32 or f16, bf16 and f32 into f32, floats of 8, 6 and 4 bits into f32 or f16, i8, i4 and i1 into i32, f64 into f64}}
  %d = tile.mma %a, %b, %c : tensor<64x32xbf16>, tensor<32x8xf16>, tensor<64x8xf32>
  return
}

// -----

func.func private @rank(%a: tensor<64xbf16>, %b: tensor<32x8xbf16>, %c: tensor<64x8xf32>) {
  // expected-error @+1 {{operand a is tensor<64xbf16>, expected a matrix, or blocks x panels x rows x span elements in shared memory}}
  %d = tile.mma %a, %b, %c : tensor<64xbf16>, tensor<32x8xbf16>, tensor<64x8xf32>
  return
}

// -----

func.func private @accumulator(%a: tensor<64x32xbf16>, %b: tensor<32x8xbf16>, %c: tensor<512xf32>) {
  // expected-error @+1 {{adds to tensor<512xf32>, but a product of matrices is a matrix: M x N}}
  %d = tile.mma %a, %b, %c : tensor<64x32xbf16>, tensor<32x8xbf16>, tensor<512xf32>
  return
}

// -----

func.func private @result(%a: tensor<64x32xbf16>, %b: tensor<32x8xbf16>, %c: tensor<64x8xf32>) {
  // expected-error @+1 {{gives tensor<64x16xf32>, but adds to tensor<64x8xf32>}}
  %d = "tile.mma"(%a, %b, %c) : (tensor<64x32xbf16>, tensor<32x8xbf16>, tensor<64x8xf32>) -> tensor<64x16xf32>
  return
}

// -----

func.func private @staged(%A: memref<?xbf16, #tile.global>, %i: index) {
  // expected-error @+2 {{stages a part of memref<?xbf16, #tile.global>, but operands are matrices: rank 2}}
  // expected-error @+1 {{gives memref<64x64xbf16, #tile.shared<swizzle = 128>>, expected blocks x panels x rows x span elements}}
  %a = tile.stage %A[%i] side a major k by tma : memref<?xbf16, #tile.global> -> memref<64x64xbf16, #tile.shared<swizzle = 128>>
  return
}

// -----

func.func private @staged_numbers(%A: memref<?x?xf16, #tile.global>, %i: index) {
  // expected-error @+1 {{the result memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>> must have the element type of memref<?x?xf16, #tile.global>}}
  %a = tile.stage %A[%i, %i] side a major k by tma : memref<?x?xf16, #tile.global> -> memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>
  return
}

// -----

func.func private @ahead(%n: index) {
  %c1 = arith.constant 1 : index
  scf.for %i = %c1 to %n step %c1 {
    // expected-error @+1 {{ahead(0), but the pass that the loop is in counts: at least 1}}
    tile.produce(%j) ahead(0) {
    }
  }
  return
}

// -----

func.func private @no_loop() {
  // expected-error @+1 {{runs ahead of a loop, but does not stand in the body of an scf.for itself}}
  tile.produce(%j) ahead(1) {
  }
  return
}

// -----

func.func private @end() {
  // expected-error @+1 {{ends the region of tile.produce, and stands nowhere else}}
  tile.end_produce
}

// -----

func.func private @where(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %i: index, %fits: i1) {
  // expected-error @+1 {{is by threads, which can always copy; write `by tma where` or `by cp_async where` a truth value, or no truth value}}
  %a = tile.stage %A[%i, %i] side a major k by threads where %fits : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>
  return
}

// -----

func.func private @thread(%n: index) {
  scf.for %i = %n to %n step %n {
    // expected-error @+1 {{has a region that takes two of index, the loop's counter and the number of the thread}}
    tile.produce(%j) ahead(1) threads(128) {
    }
  }
  return
}

// -----

tile.kernel @threads() threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c1 = arith.constant 1 : index
  scf.for %i = %c1 to %c1 step %c1 {
    // expected-error @+1 {{threads(128), but whole warps of the block run it: a multiple of 32, and the block has 64}}
    tile.produce(%j, %t) ahead(1) threads(128) {
    }
  }
}

// -----

tile.kernel @warps() threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c1 = arith.constant 1 : index
  scf.for %i = %c1 to %c1 step %c1 {
    // expected-error @+1 {{threads(40), but whole warps of the block run it: a multiple of 32, and the block has 64}}
    tile.produce(%j, %t) ahead(1) threads(40) {
    }
  }
}

// -----

func.func private @signs(%a: tensor<64x32xbf16>, %b: tensor<32x8xbf16>, %c: tensor<64x8xf32>) {
  // expected-error @+1 {{says unsigned_b, but operand b holds bf16; only i8 and i4 have two readings}}
  %d = tile.mma %a, %b, %c {unsigned_b} : tensor<64x32xbf16>, tensor<32x8xbf16>, tensor<64x8xf32>
  return
}

// -----

func.func private @doubles(%b: tensor<16x8xf64>, %c: tensor<64x8xf64>) {
  %a = tile.alloc : memref<1x1x64x16xf64, #tile.shared<swizzle = 128>>
  // expected-error @+1 {{multiplies f64 from shared memory, where only wgmma reads, which has no f64; multiply tiles}}
  %d = tile.mma %a, %b, %c : memref<1x1x64x16xf64, #tile.shared<swizzle = 128>>, tensor<16x8xf64>, tensor<64x8xf64>
  return
}

// -----

func.func private @bits(%a: tensor<16x256xi1>, %b: tensor<256x8xi1>, %c: tensor<16x8xi32>) {
  // expected-error @+1 {{multiplies i1, but does not say what stands for the product of two bits; write popc xor or popc and}}
  %d = tile.mma %a, %b, %c : tensor<16x256xi1>, tensor<256x8xi1>, tensor<16x8xi32>
  return
}

// -----

func.func private @no_bits(%a: tensor<16x64xi4>, %b: tensor<64x8xi4>, %c: tensor<16x8xi32>) {
  // expected-error @+1 {{says popc, but multiplies i4 by i4; only i1 has a choice}}
  %d = tile.mma %a, %b, %c popc and : tensor<16x64xi4>, tensor<64x8xi4>, tensor<16x8xi32>
  return
}

// -----

func.func private @small_floats(%a: tensor<16x32xf4E2M1FN>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error @+1 {{multiplies f4E2M1FN by f16 into f32; tensor cores multiply}}
  %d = tile.mma %a, %b, %c : tensor<16x32xf4E2M1FN>, tensor<32x8xf16>, tensor<16x8xf32>
  return
}

// -----

func.func private @mixed(%a: tensor<16x64xi4>, %b: tensor<64x8xi8>, %c: tensor<16x8xi32>) {
  // expected-error @+1 {{multiplies i4 by i8 into i32; tensor cores multiply}}
  %d = tile.mma %a, %b, %c : tensor<16x64xi4>, tensor<64x8xi8>, tensor<16x8xi32>
  return
}

// -----

func.func private @staged_nibbles(%b: tensor<64x8xi4>, %c: tensor<64x8xi32>) {
  %a = tile.alloc : memref<1x1x64x64xi4, #tile.shared<swizzle = 64>>
  // expected-error @+1 {{multiplies i4 from shared memory, where only wgmma reads, which has no i4; multiply tiles}}
  %d = tile.mma %a, %b, %c : memref<1x1x64x64xi4, #tile.shared<swizzle = 64>>, tensor<64x8xi4>, tensor<64x8xi32>
  return
}

// -----

func.func private @halves(%a: memref<2x1x64x64xbf16, #tile.shared<swizzle = 128>>) {
  // expected-error @+1 {{loads memref<2x1x64x64xbf16, #tile.shared<swizzle = 128>>, expected 1 x panels x rows x span elements}}
  %t = tile.load_staged %a side a major k : memref<2x1x64x64xbf16, #tile.shared<swizzle = 128>> -> tensor<128x64xbf16>
  return
}

// -----

func.func private @other_sizes(%a: memref<1x2x64x64xbf16, #tile.shared<swizzle = 128>>) {
  // expected-error @+1 {{makes tensor<64x128xbf16> of memref<1x2x64x64xbf16, #tile.shared<swizzle = 128>>; the result has sizes [128, 64] and the same elements}}
  %t = tile.load_staged %a side b major k : memref<1x2x64x64xbf16, #tile.shared<swizzle = 128>> -> tensor<64x128xbf16>
  return
}

// -----

func.func private @bits_xor(%c: tensor<64x8xi32>) {
  %a = tile.alloc : memref<1x1x64x32xi8, #tile.shared<swizzle = 32>>
  %b = tile.alloc : memref<1x1x8x32xi8, #tile.shared<swizzle = 32>>
  // expected-error @+1 {{counts popc xor in shared memory, where only wgmma reads, which has popc and alone; multiply tiles}}
  %d = tile.mma %a, %b, %c popc xor : memref<1x1x64x32xi8, #tile.shared<swizzle = 32>>, memref<1x1x8x32xi8, #tile.shared<swizzle = 32>>, tensor<64x8xi32>
  return
}

// -----

func.func private @bits_in_memory(%c: tensor<64x8xi32>) {
  %a = tile.alloc : memref<1x1x64x256xi1, #tile.shared>
  %b = tile.alloc : memref<1x1x8x256xi1, #tile.shared>
  // expected-error @+1 {{multiplies i1 from shared memory, which has no single bits; take memrefs of i8, of eight bits each}}
  %d = tile.mma %a, %b, %c popc and : memref<1x1x64x256xi1, #tile.shared>, memref<1x1x8x256xi1, #tile.shared>, tensor<64x8xi32>
  return
}

// -----

func.func private @bits_of_a_sign(%c: tensor<64x8xi32>) {
  %a = tile.alloc : memref<1x1x64x32xi8, #tile.shared<swizzle = 32>>
  %b = tile.alloc : memref<1x1x8x32xi8, #tile.shared<swizzle = 32>>
  // expected-error @+1 {{says unsigned_a, but counts single bits, which have no sign}}
  %d = tile.mma %a, %b, %c popc and {unsigned_a} : memref<1x1x64x32xi8, #tile.shared<swizzle = 32>>, memref<1x1x8x32xi8, #tile.shared<swizzle = 32>>, tensor<64x8xi32>
  return
}

// -----

func.func private @bytes_are_no_bits(%a: tensor<16x32xi8>, %b: tensor<32x8xi8>, %c: tensor<16x8xi32>) {
  // expected-error @+1 {{says popc, but multiplies i8 by i8; only i1 has a choice}}
  %d = tile.mma %a, %b, %c popc and : tensor<16x32xi8>, tensor<32x8xi8>, tensor<16x8xi32>
  return
}
