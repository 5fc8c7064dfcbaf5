// RUN: girih-opt %s -split-input-file -verify-diagnostics

func.func private @numbers(%m: memref<?x?xf32, #tile.global>, %j: index, %r: tensor<32xi32>) {
  // expected-error @+1 {{takes rows from tensor<32xi32>, but tensor<64x128xf32> needs a number of 32 or 64 bits for each of its rows}}
  %x = tile.gather %m[%j] rows %r : memref<?x?xf32, #tile.global>, tensor<32xi32> -> tensor<64x128xf32>
  return
}

// -----

func.func private @floats(%m: memref<?xf32, #tile.global>, %r: tensor<64xf32>) {
  // expected-error @+1 {{takes rows from tensor<64xf32>, but tensor<64xf32> needs a number of 32 or 64 bits for each of its rows}}
  tile.scatter %r, %m[] rows %r : tensor<64xf32>, memref<?xf32, #tile.global>, tensor<64xf32>
  return
}

// -----

func.func private @indices(%m: memref<?x?xf32, #tile.global>, %j: index, %r: tensor<64xi32>) {
  // expected-error @+1 {{the memref has 2 dimensions, but 3 indices are given}}
  %x = tile.gather %m[%j, %j] rows %r : memref<?x?xf32, #tile.global>, tensor<64xi32> -> tensor<64x128xf32>
  return
}

// -----

func.func private @kind(%m: memref<?xf32, #tile.global>, %i: index, %x: tensor<64xf32>) {
  // expected-error @+1 {{does mins on f32; add takes i32, i64, f16, bf16, f32 and f64, the others i32 and i64}}
  tile.atomic_rmw mins %x, %m[%i] : tensor<64xf32>, memref<?xf32, #tile.global>
  return
}

// -----

func.func private @elements(%m: memref<?xi32, #tile.global>, %i: index, %x: tensor<64xi64>) {
  // expected-error @+1 {{the tile tensor<64xi64> must have the element type of memref<?xi32, #tile.global>}}
  tile.atomic_rmw add %x, %m[%i] : tensor<64xi64>, memref<?xi32, #tile.global>
  return
}

// -----

func.func private @scan(%x: tensor<64xf32>) {
  // expected-error @+1 {{axis 1, but tensor<64xf32> has 1 axes, from 0}}
  %s = tile.scan %x axis 1 (%a: f32, %b: f32) {
    tile.yield %b : f32
  } : tensor<64xf32> -> tensor<64xf32>
  return
}

// -----

func.func private @scanned(%x: tensor<64xf32>) {
  // expected-error @+1 {{scans tensor<64xf32> to tensor<32xf32>; sources and results have one shape, and a result the elements of its source}}
  %s = tile.scan %x axis 0 (%a: f32, %b: f32) {
    tile.yield %b : f32
  } : tensor<64xf32> -> tensor<32xf32>
  return
}
