// Ops on tiles of any size that no layout is found for are refused before sizes change, with the sizes of the program.
// RUN: girih-opt %s -tile-pad-tiles -split-input-file -verify-diagnostics

tile.kernel @k(%X: memref<?xf32, #tile.global>, %n: i32) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xf32, #tile.global> -> tensor<100xf32>
  %z = arith.constant 1 : i32
  %c = arith.cmpi sgt, %n, %z : i32
  %y = arith.addf %x, %x : tensor<100xf32>
  // expected-error @+1 {{'cf.cond_br' op carries whole tiles to another block; tiles go through scf.if, scf.index_switch, scf.for and scf.while}}
  cf.cond_br %c, ^one, ^next(%y : tensor<100xf32>)
^one:
  // expected-error @+1 {{'cf.br' op carries whole tiles to another block; tiles go through scf.if, scf.index_switch, scf.for and scf.while}}
  cf.br ^next(%x : tensor<100xf32>)
^next(%r: tensor<100xf32>):
  tile.store %r, %X[%c0] : tensor<100xf32>, memref<?xf32, #tile.global>
}

// -----

tile.kernel @k(%X: memref<?xf32, #tile.global>, %n: i32) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xf32, #tile.global> -> tensor<100xf32>
  // expected-error @+1 {{'cf.switch' op carries whole tiles to another block; tiles go through scf.if, scf.index_switch, scf.for and scf.while}}
  cf.switch %n : i32, [
    default: ^a(%x : tensor<100xf32>),
    1: ^b
  ]
^b:
  // expected-error @+1 {{'cf.br' op carries whole tiles to another block; tiles go through scf.if, scf.index_switch, scf.for and scf.while}}
  cf.br ^a(%x : tensor<100xf32>)
^a(%r: tensor<100xf32>):
  tile.store %r, %X[%c0] : tensor<100xf32>, memref<?xf32, #tile.global>
}

// -----

tile.kernel @k(%X: memref<?xf32, #tile.global>, %n: i32) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xf32, #tile.global> -> tensor<100xf32>
  %f = arith.constant 1.0 : f32
  // expected-error @+1 {{'tensor.pad' op works on tiles, but tile-assign-layouts has no rule for 'tensor.pad'; use arith, math, scf and the tile dialect}}
  %p = tensor.pad %x low[1] high[2] {
  ^bb0(%i: index):
    tensor.yield %f : f32
  } : tensor<100xf32> to tensor<103xf32>
  // expected-error @+1 {{'tensor.from_elements' op works on tiles, but tile-assign-layouts has no rule for 'tensor.from_elements'; use arith, math, scf and the tile dialect}}
  %e = tensor.from_elements %f, %f, %f : tensor<3xf32>
  // expected-error @+1 {{'tensor.extract_slice' op works on tiles, but tile-assign-layouts has no rule for 'tensor.extract_slice'; use arith, math, scf and the tile dialect}}
  %s = tensor.extract_slice %x[0] [50] [1] : tensor<100xf32> to tensor<50xf32>
  // expected-error @+1 {{'tensor.insert_slice' op works on tiles, but tile-assign-layouts has no rule for 'tensor.insert_slice'; use arith, math, scf and the tile dialect}}
  %i = tensor.insert_slice %s into %x[3] [50] [1] : tensor<50xf32> into tensor<100xf32>
  // expected-error @+1 {{'tensor.concat' op works on tiles, but tile-assign-layouts has no rule for 'tensor.concat'; use arith, math, scf and the tile dialect}}
  %c = tensor.concat dim(0) %x, %s : (tensor<100xf32>, tensor<50xf32>) -> tensor<150xf32>
  // expected-error @+1 {{'tensor.expand_shape' op works on tiles, but tile-assign-layouts has no rule for 'tensor.expand_shape'; use arith, math, scf and the tile dialect}}
  %h = tensor.expand_shape %x [[0, 1]] output_shape [4, 25] : tensor<100xf32> into tensor<4x25xf32>
  // expected-error @+1 {{'tensor.insert' op works on tiles, but tile-assign-layouts has no rule for 'tensor.insert'; use arith, math, scf and the tile dialect}}
  %t = tensor.insert %f into %x[%c0] : tensor<100xf32>
  // expected-error @+1 {{'builtin.unrealized_conversion_cast' op works on tiles, but tile-assign-layouts has no rule for 'builtin.unrealized_conversion_cast'; use arith, math, scf and the tile dialect}}
  %u = builtin.unrealized_conversion_cast %x : tensor<100xf32> to tensor<50xf32>
  // expected-error @+1 {{'tensor.cast' op works on tiles, but tile-assign-layouts has no rule for 'tensor.cast'; use arith, math, scf and the tile dialect}}
  %d = tensor.cast %x : tensor<100xf32> to tensor<?xf32>
  // expected-error @+1 {{'vector.transfer_read' op works on tiles, but tile-assign-layouts has no rule for 'vector.transfer_read'; use arith, math, scf and the tile dialect}}
  %v = vector.transfer_read %x[%c0], %f : tensor<100xf32>, vector<4xf32>
}

// -----

tile.kernel @k(%X: memref<?xf32, #tile.global>, %n: i32) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xf32, #tile.global> -> tensor<100xf32>
  // expected-error @+1 {{'arith.constant' op takes the elements of tensor<3xf32> from a resource, but those of a tile stand in the constant itself; write dense<[...]>, or load them from an argument of the kernel}}
  %t = arith.constant dense_resource<blob> : tensor<3xf32>
  tile.store %t, %X[%c0] : tensor<3xf32>, memref<?xf32, #tile.global>
}
{-#
  dialect_resources: { builtin: { blob: "0x040000000000803f0000004000004040" } }
#-}

// -----

tile.kernel @k(%X: memref<?xf32, #tile.global>, %n: i32) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xf32, #tile.global> -> tensor<100xf32>
  %f = arith.constant 1.0 : f32
  // expected-error @+1 {{'tile.splat' op gives tensor<3x1000000xf32>, which is 46875 registers in each of 64 threads, but one tile may take 1024}}
  %t = tile.splat %f : f32 -> tensor<3x1000000xf32>
}
