// RUN: girih-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{argument 'A' says tile.aligned, which is a power of two of bytes, as in tile.aligned = 16}}
tile.kernel @k(%A: memref<?xf32, #tile.global> {tile.aligned = 12}) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

// expected-error @+1 {{argument 'A' says tile.aligned = 16, but its stride along axis 0 is 3 elements, 12 bytes; say at most what divides it}}
tile.kernel @k(%A: memref<?x?xf32, strided<[3, 1]>, #tile.global> {tile.aligned = 16}) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

// expected-error @+1 {{argument 'A' says tile.divisible, which takes 2 numbers of at least 1, as in tile.divisible = [1, 64]}}
tile.kernel @k(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global> {tile.divisible = [4]}) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

// expected-error @+1 {{argument 'A' says that dimension 0 is a multiple of 8, but it is 12}}
tile.kernel @k(%A: memref<12xf32, #tile.global> {tile.divisible = [8]}) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

// expected-error @+3 {{argument 'n' is i32, but tile.aligned is said of memrefs}}
// expected-error @+2 {{argument 'm' says tile.range, which takes the least and the largest value, as in tile.range = [0, 100]}}
// expected-error @+1 {{argument 'x' is f32, but tile.divisible is said of memrefs and integers}}
tile.kernel @k(%n: i32 {tile.aligned = 8}, %m: i32 {tile.range = [4, 2]}, %x: f32 {tile.divisible = 2}) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

// expected-error @+1 {{argument 'n' has tile.alinged; known are tile.aligned, tile.divisible and tile.range}}
tile.kernel @k(%n: i32 {tile.alinged = 8}) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

// expected-error @+1 {{argument 'n' has attributes that are no dictionary}}
tile.kernel @k(%n: i32 "x") threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}
