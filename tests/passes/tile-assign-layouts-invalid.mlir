// RUN: girih-opt %s -tile-assign-layouts -split-input-file -verify-diagnostics

// expected-error @+1 {{computes with tiles, whose layouts need 32, 64, 128, 256, 512 or 1024 threads, but has threads(96)}}
tile.kernel @threads(%X: memref<?xf32, #tile.global>) threads(96) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xf32, #tile.global> -> tensor<128xf32>
}

// -----

tile.kernel @unknown(%X: memref<?xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xf32, #tile.global> -> tensor<128xf32>
  // expected-error @+1 {{works on tiles, but tile-assign-layouts has no rule for 'tensor.collapse_shape'}}
  %y = tensor.collapse_shape %x [[0]] : tensor<128xf32> into tensor<128xf32>
}
