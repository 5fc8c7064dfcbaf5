// What has no counterpart is refused, and nothing is changed.
// RUN: girih-opt %s --tile-convert-spaces --split-input-file --verify-diagnostics

// expected-error@below {{has memref<8x32xf32, #tile.shared<swizzle = 128>>, but no other dialect says that its rows are permuted (swizzle = 128), and plain accesses would touch other elements; lower it with convert-tile-to-nvvm, or store the rows without a swizzle}}
func.func @swizzled(%a: memref<8x32xf32, #tile.shared<swizzle = 128>>, %i: index, %c: i1) -> f32 {
  // expected-error@below {{has memref<8x32xf32, #tile.shared<swizzle = 128>>, but no other dialect says that its rows are permuted}}
  %b = scf.if %c -> memref<8x32xf32, #tile.shared<swizzle = 128>> {
    scf.yield %a : memref<8x32xf32, #tile.shared<swizzle = 128>>
  } else {
    scf.yield %a : memref<8x32xf32, #tile.shared<swizzle = 128>>
  }
  %v = memref.load %b[%i, %i] : memref<8x32xf32, #tile.shared<swizzle = 128>>
  return %v : f32
}

// -----

// expected-error@below {{but #gpu.address_space has no counterpart of #tile.const; convert to nvvm, whose numbers cover more}}
func.func private @const(memref<f32, #tile.const>)

// -----

// expected-error@below {{but #gpu.address_space has no counterpart of #tile.reg}}
func.func private @registers(memref<f32, #tile.reg>)

// -----

// expected-error@below {{has memref<f32, 2>, but 2 is the number of no state space of PTX; it has 0, 1, 3, 4, 5, 7 and 101}}
func.func private @number(memref<f32, 2>)

// -----

// expected-error@below {{"lds" is no space that this pass knows: #tile.<space>, #gpu.address_space<...> or a number}}
func.func private @unknown(memref<f32, "lds">)

// -----

// expected-error@below {{knows memrefs in tile's own spaces only; lower it first, with convert-tile-to-nvvm}}
tile.kernel @k(%A: memref<?xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}
