// Tiles cut, joined, turned and seen in other shapes end up where they should.
// RUN: girih run %s --kernel swap --device sim --arg X=randn:f32[64,128] --arg Y=poison:f32[64,128] --arg Z=poison:f32[128,64] 2>/dev/null | FileCheck %s --check-prefix=SWAP
// SWAP: right: Y: all 8192 elements are exact
// SWAP: right: Z: all 8192 elements are exact
// RUN: girih run %s --kernel halves --device sim --arg X=iota:i32[8,4] --arg Y=zeros:i32[8,2] 2>/dev/null | FileCheck %s --check-prefix=HALVES
// HALVES: right: Y: all 16 elements are exact
// RUN: girih run %s --kernel compose --device sim --arg A=uniform:f32[1,512] --arg B=uniform:f32[1,512] --arg C=poison:f32[1,512] 2>/dev/null | FileCheck %s --check-prefix=COMPOSE
// COMPOSE: right: C: all 512 elements

// The halves of each row change places; the same elements are also stored as rows of half the length.
tile.kernel @swap(%X: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %Y: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %Z: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<64x128xf32>
  %left = tile.extract_slice %x at [0, 0] : tensor<64x128xf32> -> tensor<64x64xf32>
  %right = tile.extract_slice %x at [0, 64] : tensor<64x128xf32> -> tensor<64x64xf32>
  %y = tile.concat %right, %left axis 1 : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x128xf32>
  tile.store %y, %Y[%c0, %c0] : tensor<64x128xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %list = tile.reshape %x : tensor<64x128xf32> -> tensor<8192xf32>
  %z = tile.reshape %list : tensor<8192xf32> -> tensor<128x64xf32>
  tile.store %z, %Z[%c0, %c0] : tensor<128x64xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

func.func @swap_ref(%X: memref<?x?xf32>, %Y: memref<?x?xf32>, %Z: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %c64 step %c1 {
    scf.for %j = %c0 to %c128 step %c1 {
      %x = memref.load %X[%i, %j] : memref<?x?xf32>
      %k = arith.addi %j, %c64 : index
      %to = arith.remui %k, %c128 : index
      memref.store %x, %Y[%i, %to] : memref<?x?xf32>
      %half = arith.divui %j, %c64 : index
      %twice = arith.muli %i, %c2 : index
      %row = arith.addi %twice, %half : index
      %column = arith.remui %j, %c64 : index
      memref.store %x, %Z[%row, %column] : memref<?x?xf32>
    }
  }
  return
}

// A tile so small that threads hold copies, and a part that threads cannot hold in registers of the whole.
tile.kernel @halves(%X: memref<8x4xi32, #tile.global>, %Y: memref<8x2xi32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : memref<8x4xi32, #tile.global> -> tensor<8x4xi32>
  %right = tile.extract_slice %x at [0, 2] : tensor<8x4xi32> -> tensor<8x2xi32>
  tile.store %right, %Y[%c0, %c0] : tensor<8x2xi32>, memref<8x2xi32, #tile.global>
}

func.func @halves_ref(%X: memref<?x?xi32>, %Y: memref<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c2 step %c1 {
      %k = arith.addi %j, %c2 : index
      %x = memref.load %X[%i, %k] : memref<?x?xi32>
      memref.store %x, %Y[%i, %j] : memref<?x?xi32>
    }
  }
  return
}

// The recurrence c = a c + b as a scan of pairs: the combiner is associative, but its order matters.
tile.kernel @compose(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0, %c0] : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<1x2048xf32>
  %b = tile.load %B[%c0, %c0] : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<1x2048xf32>
  %p, %c = tile.scan %a, %b axis 1 (%a0: f32, %b0: f32, %a1: f32, %b1: f32) {
    %a01 = arith.mulf %a0, %a1 : f32
    %ab = arith.mulf %a1, %b0 : f32
    %b01 = arith.addf %ab, %b1 : f32
    tile.yield %a01, %b01 : f32, f32
  } : tensor<1x2048xf32>, tensor<1x2048xf32> -> tensor<1x2048xf32>, tensor<1x2048xf32>
  tile.store %c, %C[%c0, %c0] : tensor<1x2048xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

func.func @compose_ref(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) attributes {girih.tol = 1.0e-4 : f64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %A, %c1 : memref<?x?xf32>
  %zero = arith.constant 0.0 : f32
  %end = scf.for %j = %c0 to %n step %c1 iter_args(%c = %zero) -> (f32) {
    %a = memref.load %A[%c0, %j] : memref<?x?xf32>
    %b = memref.load %B[%c0, %j] : memref<?x?xf32>
    %ac = arith.mulf %a, %c : f32
    %next = arith.addf %ac, %b : f32
    memref.store %next, %C[%c0, %j] : memref<?x?xf32>
    scf.yield %next : f32
  }
  return
}
