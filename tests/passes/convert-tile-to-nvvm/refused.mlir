// What the pass refuses, each at its op, with what to do.
// RUN: girih-opt %s -convert-tile-to-nvvm -split-input-file -verify-diagnostics

tile.kernel @unplaced() threads(32) attributes {shared_bytes = 1024 : i64} launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error @+1 {{'tile.alloc' op has no place in shared memory yet; run tile-allocate-shared first}}
  %a = tile.alloc : memref<128xf32, #tile.shared>
  // expected-error @+1 {{'tile.alloc' op ends at byte 1152 of shared memory, but the kernel has shared_bytes = 1024; run tile-allocate-shared}}
  %b = tile.alloc {offset = 640} : memref<128xf32, #tile.shared>
}

// -----

tile.kernel @no_bytes() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error @+1 {{'tile.alloc' op has no place in shared memory yet; run tile-allocate-shared first}}
  %a = tile.alloc {offset = 0} : memref<128xf32, #tile.shared>
}

// -----

tile.kernel @dimension(%A: memref<?x?xf32, #tile.global>, %n: i64) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %d = arith.index_cast %n : i64 to index
  // expected-error @+1 {{'memref.dim' op asks for a dimension that is known only at run time; use a constant}}
  %s = memref.dim %A, %d : memref<?x?xf32, #tile.global>
}

// -----

tile.kernel @constant() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error @+1 {{'arith.constant' op is tensor<64x8xf32, #tile.layout<wgmma_d>> whose elements are not written out as numbers of 8 bits or more, or as truth values; write dense<[...]>}}
  %s = arith.constant dense_resource<none> : tensor<64x8xf32, #tile.layout<wgmma_d>>
}

// -----

// expected-error @+1 {{'tile.kernel' op an argument of type memref<8xtf32, #tile.global> has no form in PTX}}
tile.kernel @tf32(%A: memref<8xtf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

tile.kernel @reduced(%A: memref<?x?xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %tile = tile.load %A[%c0, %c0] : memref<?x?xf32, #tile.global> -> tensor<64x8xf32, #tile.layout<wgmma_d>>
  // expected-error @+1 {{'tensor.extract' op takes one element of a tile by its place, which some thread holds; load it with memref.load, or select it with tile.iota}}
  %e = tensor.extract %tile[%c0, %c0] : tensor<64x8xf32, #tile.layout<wgmma_d>>
}

// -----

// What kernels have no way down for.

func.func private @helper()
tile.kernel @foreign(%A: memref<4xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error @+1 {{'func.call' op calls a function, but kernels are compiled alone; run tile-inline-calls first}}
  func.call @helper() : () -> ()
  // expected-error @+1 {{'memref.alloc' op is not lowered in kernels; memory of the block is tile.alloc}}
  %m = memref.alloc() : memref<4xf32>
  // expected-error @+1 {{'gpu.barrier' op is not lowered in kernels; write tile.barrier}}
  gpu.barrier
}

// -----

// A vector of 8-bit floats is moved, not computed with.
tile.kernel @byte_floats(%x: i8) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %f = arith.bitcast %x : i8 to f8E4M3FN
  %v = vector.from_elements %f, %f : vector<2xf8E4M3FN>
  // expected-error @+1 {{'arith.addf' op computes with vector<2xf8E4M3FN>, but floats of 8 bits are computed with as numbers and as tiles; take one of those}}
  %y = arith.addf %v, %v : vector<2xf8E4M3FN>
}

// -----

// tf32 is to round to.
tile.kernel @tf32(%x: f32) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %t = arith.truncf %x : f32 to tf32
  // expected-error @+1 {{'arith.addf' op has tf32, but tf32 is a format to round to, not to compute with: arith.truncf and tile.cvt give it, arith.extf and tile.cvt take it; go on in f32, of which it is a part}}
  %y = arith.addf %t, %t : tf32
}

// -----

tile.kernel @scaled(%x: f32, %s: f32) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error @+1 {{'arith.scaling_truncf' op is not lowered in kernels; divide by the scale, or multiply by it, with arith.divf and arith.mulf, and convert with tile.cvt or arith.extf}}
  %y = arith.scaling_truncf %x, %s : f32, f32 to f16
}

// -----

// What is in an op that is told is not told again.
tile.kernel @affine() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error @+1 {{'affine.for' op is not lowered in kernels; write scf.for or scf.if, or run lower-affine before}}
  affine.for %i = 0 to 4 {
    tile.barrier
  }
}

// -----

// Threads hold other elements of a 16-bit tile of this layout than of a 32-bit one.
tile.kernel @widths(%A: memref<64x64xbf16, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0, %c0] : memref<64x64xbf16, #tile.global> -> tensor<64x64xbf16, #tile.layout<wgmma_a>>
  // expected-error @+1 {{whose threads hold other elements; go through memory with tile.store and tile.load}}
  %w = arith.extf %a : tensor<64x64xbf16, #tile.layout<wgmma_a>> to tensor<64x64xf32, #tile.layout<wgmma_a>>
}

// -----

tile.kernel @upstream(%x: f32) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c1 = arith.constant true
  // expected-error @+1 {{is not lowered in kernels; write tile.print "x = {}", %x : f32}}
  gpu.printf "%f", %x : f32
  // expected-error @+1 {{is not lowered in kernels; write tile.assert %condition, "message" : i1}}
  cf.assert %c1, "true"
}

// -----

tile.kernel @square(%x: f32) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{has vector<2x2xf32>, but vectors of a kernel are one run of elements; take vectors of rank 1}}
  %v = vector.from_elements %x, %x, %x, %x : vector<2x2xf32>
}

// -----

tile.kernel @indices() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{has vector<2xindex>, but vectors of a kernel hold numbers of a known width; take i64 with arith.index_cast}}
  %v = vector.from_elements %c0, %c0 : vector<2xindex>
}

// -----

!G = memref<16x64xf32, #tile.global>
tile.kernel @memory(%A: !G, %C: !G) threads(32) attributes {shared_bytes = 4096 : i64} launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{is not lowered in kernels; load and store a tile with tile.load and tile.store}}
  %v = vector.load %A[%c0, %c0] : !G, vector<4xf32>
  // expected-error @+1 {{is not lowered in kernels; reduce a tile with tile.reduce, or combine the numbers}}
  %s = vector.reduction <add>, %v : vector<4xf32> into f32
  // expected-error @+1 {{is not lowered in kernels; write tile.print "x = {}", %x : f32}}
  vector.print %s : f32
  %p = memref.subview %A[1, 0] [4, 4] [1, 1] : !G to memref<4x4xf32, strided<[64, 1], offset: 64>, #tile.global>
  // expected-error @+1 {{is of a view that starts somewhere, but its offset counts from the start of the whole memory}}
  %r = memref.reinterpret_cast %p to offset: [0], sizes: [4], strides: [1] : memref<4x4xf32, strided<[64, 1], offset: 64>, #tile.global> to memref<4xf32, #tile.global>
  %m = tile.alloc {offset = 0 : i64} : memref<16x64xf32, #tile.shared>
  // expected-error @+1 {{is lowered of strided memrefs in global memory alone; take a part of shared memory with tile.slab}}
  %q = memref.subview %m[0, 0] [4, 4] [1, 1] : memref<16x64xf32, #tile.shared> to memref<4x4xf32, strided<[64, 1]>, #tile.shared>
  // expected-error @+1 {{is lowered of strided memrefs in global memory alone}}
  %u = memref.cast %A : !G to memref<*xf32, #tile.global>
  // expected-error @+1 {{is not lowered in kernels; write it with tile ops}}
  linalg.copy ins(%A : !G) outs(%C : !G)
}

// -----

// Formats of numbers that nothing in a kernel has, as numbers and as tiles; integers that no machine has.
tile.kernel @formats(%x: f32, %a: i64) threads(32) attributes {shared_bytes = 16 : i64} launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %f4 = arith.truncf %x : f32 to f4E2M1FN
  // expected-error @+1 {{'vector.from_elements' op has vector<2xf4E2M1FN>, a format that numbers and tiles of kernels do not have: they are of f16, bf16, f32, f64, f8E4M3FN, f8E5M2, f6E2M3FN, f6E3M2FN and f4E2M1FN, and vectors of those of 8 bits or more; take integers of as many bits, which tensor copies move as well}}
  %v4 = vector.from_elements %f4, %f4 : vector<2xf4E2M1FN>
  // expected-error @+1 {{'arith.truncf' op has f8E8M0FNU, a format that}}
  %e8 = arith.truncf %x : f32 to f8E8M0FNU
  // expected-error @+1 {{'arith.extf' op has f8E8M0FNU, a format that}}
  %wide = arith.extf %e8 : f8E8M0FNU to f32
  // expected-error @+1 {{'arith.constant' op has tensor<32xf8E4M3, #tile.blocked<per_thread = [1], lanes = [32], warps = [1]>>, a format that}}
  %f8 = arith.constant dense<1.0> : tensor<32xf8E4M3, #tile.blocked<per_thread = [1], lanes = [32], warps = [1]>>
  %m = tile.alloc {offset = 0 : i64} : memref<16xf4E2M1FN, #tile.shared>
  %i = tile.thread_id
  // expected-error @+1 {{'memref.store' op has f4E2M1FN, but memory has no numbers below a byte; move bytes, and make floats of tiles of them with tile.bitcast}}
  memref.store %f4, %m[%i] : memref<16xf4E2M1FN, #tile.shared>
  // expected-error @+1 {{'arith.extsi' op has i1025, but integers in kernels have at most 1024 bits; take several i64}}
  %large = arith.extsi %a : i64 to i1025
  %fits = arith.extsi %a : i64 to i1024
}

// -----

// Numbers past 64 bits, as far as GPUs have no code for them: sums and products are computed.
tile.kernel @wide(%a: i64, %b: f32) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c7 = arith.constant 7 : i128
  %x = arith.extsi %a : i64 to i128
  %m = arith.muli %x, %x : i128
  %by_seven = arith.divsi %m, %c7 : i128
  // expected-error @+1 {{divides i128 by a number that is no constant, for which there is no code past 64 bits; divide i64}}
  %d = arith.remui %m, %x : i128
  // expected-error @+1 {{converts i128 to or from a float, for which there is no code past 64 bits; convert i64}}
  %f = arith.sitofp %m : i128 to f32
  // expected-error @+1 {{computes with f80, but GPUs have no floats past 64 bits; use f64}}
  %w = arith.extf %b : f32 to f80
  // expected-error @+1 {{computes with f128, but GPUs have no floats past 64 bits; use f64}}
  %q = arith.extf %b : f32 to f128
}
