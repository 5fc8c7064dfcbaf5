// Combiners with branches, loops and 8-bit floats, constants of several values, and counting in index: each against a CPU.
// RUN: girih run %s --kernel branch --device sim --check-memory "--arg=X=uniform(low=-9,high=9):f32[256]" --arg Y=zeros:f32[1] | FileCheck %s
// RUN: girih run %s --kernel loop --device sim --check-memory "--arg=X=uniform(low=0,high=9):i32[4,64]" --arg Y=zeros:i32[4] | FileCheck %s
// RUN: girih run %s --kernel bytes --device sim "--arg=X=uniform(low=-400,high=400):e4m3[256]" --arg Y=zeros:e4m3[256] --arg Z=zeros:e4m3[256] | FileCheck %s
// RUN: girih run %s --kernel constants --device sim --check-memory --arg Y=zeros:f32[4,4] --arg Z=zeros:i1[8] --arg I=zeros:i64[64] | FileCheck %s
// CHECK: right: Y: all {{.*}} elements are exact

module attributes {tile.target = "sm_90a"} {
// The number of the largest size, by a branch that stands in the combiner.
tile.kernel @branch(%X: memref<?xf32, #tile.global>, %Y: memref<1xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xf32, #tile.global> -> tensor<256xf32>
  %m = tile.reduce %x axis 0 (%a: f32, %b: f32) {
    %p = math.absf %a : f32
    %q = math.absf %b : f32
    %same = arith.cmpf oeq, %p, %q : f32
    %r = scf.if %same -> (f32) {
      %most = arith.maximumf %a, %b : f32
      scf.yield %most : f32
    } else {
      %less = arith.cmpf olt, %p, %q : f32
      %s = scf.if %less -> (f32) {
        scf.yield %b : f32
      } else {
        scf.yield %a : f32
      }
      scf.yield %s : f32
    }
    tile.yield %r : f32
  } : tensor<256xf32> -> tensor<f32>
  %y = tile.expand_dims %m axis 0 : tensor<f32> -> tensor<1xf32>
  tile.store %y, %Y[%c0] : tensor<1xf32>, memref<1xf32, #tile.global>
}
func.func @branch_ref(%X: memref<?xf32>, %Y: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %X, %c0 : memref<?xf32>
  %zero = arith.constant 0.0 : f32
  %m = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (f32) {
    %b = memref.load %X[%i] : memref<?xf32>
    %p = math.absf %a : f32
    %q = math.absf %b : f32
    %less = arith.cmpf olt, %p, %q : f32
    %same = arith.cmpf oeq, %p, %q : f32
    %most = arith.maximumf %a, %b : f32
    %s = arith.select %less, %b, %a : f32
    %r = arith.select %same, %most, %s : f32
    scf.yield %r : f32
  }
  memref.store %m, %Y[%c0] : memref<1xf32>
  return
}

// Exclusive or, bit by bit.
tile.kernel @loop(%X: memref<?x?xi32, #tile.global>, %Y: memref<?xi32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c31 = arith.constant 31 : index
  %x = tile.load %X[%c0, %c0] : memref<?x?xi32, #tile.global> -> tensor<4x64xi32>
  %m = tile.reduce %x axis 1 (%a: i32, %b: i32) {
    %none = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %c31 step %c1 iter_args(%sum = %none) -> (i32) {
      %bit = arith.index_cast %i : index to i32
      %p = arith.shrui %a, %bit : i32
      %q = arith.shrui %b, %bit : i32
      %both = arith.xori %p, %q : i32
      %odd = arith.andi %both, %one : i32
      %there = arith.shli %odd, %bit : i32
      %more = arith.ori %sum, %there : i32
      scf.yield %more : i32
    }
    tile.yield %r : i32
  } : tensor<4x64xi32> -> tensor<4xi32>
  tile.store %m, %Y[%c0] : tensor<4xi32>, memref<?xi32, #tile.global>
}
func.func @loop_ref(%X: memref<?x?xi32>, %Y: memref<?xi32>) {
  linalg.reduce ins(%X : memref<?x?xi32>) outs(%Y : memref<?xi32>) dimensions = [1]
    (%x: i32, %y: i32) {
      %m = arith.xori %x, %y : i32
      linalg.yield %m : i32
    }
  return
}

// The largest up to each place, and sums with a number that is not exact.
tile.kernel @bytes(%X: memref<?xf8E4M3FN, #tile.global>, %Y: memref<?xf8E4M3FN, #tile.global>, %Z: memref<?xf8E4M3FN, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xf8E4M3FN, #tile.global> -> tensor<256xf8E4M3FN>
  %m = tile.scan %x axis 0 (%a: f8E4M3FN, %b: f8E4M3FN) {
    %r = arith.maximumf %a, %b : f8E4M3FN
    tile.yield %r : f8E4M3FN
  } : tensor<256xf8E4M3FN> -> tensor<256xf8E4M3FN>
  tile.store %m, %Y[%c0] : tensor<256xf8E4M3FN>, memref<?xf8E4M3FN, #tile.global>
  %wide = arith.constant 100.3 : f32
  %one = arith.truncf %wide : f32 to f8E4M3FN
  %all = tile.splat %one : f8E4M3FN -> tensor<256xf8E4M3FN>
  %sum = arith.addf %x, %all : tensor<256xf8E4M3FN>
  %size = math.absf %sum : tensor<256xf8E4M3FN>
  %root = math.sqrt %size : tensor<256xf8E4M3FN>
  %e = math.exp2 %root : tensor<256xf8E4M3FN>
  tile.store %e, %Z[%c0] : tensor<256xf8E4M3FN>, memref<?xf8E4M3FN, #tile.global>
}
func.func @bytes_ref(%X: memref<?xf8E4M3FN>, %Y: memref<?xf8E4M3FN>, %Z: memref<?xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %X, %c0 : memref<?xf8E4M3FN>
  %low = arith.constant -448.0 : f8E4M3FN
  %hundred = arith.constant 104.0 : f8E4M3FN
  %m = scf.for %i = %c0 to %n step %c1 iter_args(%a = %low) -> (f8E4M3FN) {
    %b = memref.load %X[%i] : memref<?xf8E4M3FN>
    %r = arith.maximumf %a, %b : f8E4M3FN
    memref.store %r, %Y[%i] : memref<?xf8E4M3FN>
    %sum = arith.addf %b, %hundred : f8E4M3FN
    %size = math.absf %sum : f8E4M3FN
    %root = math.sqrt %size : f8E4M3FN
    %e = math.exp2 %root : f8E4M3FN
    memref.store %e, %Z[%i] : memref<?xf8E4M3FN>
    scf.yield %r : f8E4M3FN
  }
  return
}

tile.kernel @constants(%Y: memref<4x4xf32, #tile.global>, %Z: memref<8xi1, #tile.global>, %I: memref<64xi64, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %y = arith.constant dense<[[1.0, 2.0, 4.0, 8.0], [0.5, 1.0, 2.0, 4.0], [-1.0, 0.0, 1.0, 2.0], [3.0, 5.0, 7.0, 9.0]]> : tensor<4x4xf32>
  %t = tile.transpose %y order [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  tile.store %t, %Y[%c0, %c0] : tensor<4x4xf32>, memref<4x4xf32, #tile.global>
  %z = arith.constant dense<[true, false, false, true, true, true, false, true]> : tensor<8xi1>
  tile.store %z, %Z[%c0] : tensor<8xi1>, memref<8xi1, #tile.global>
  %i = tile.iota axis 0 : tensor<64xindex>
  %square = arith.muli %i, %i : tensor<64xindex>
  %w = arith.index_cast %square : tensor<64xindex> to tensor<64xi64>
  tile.store %w, %I[%c0] : tensor<64xi64>, memref<64xi64, #tile.global>
}
memref.global "private" constant @columns : memref<16xf32> = dense<[1.0, 0.5, -1.0, 3.0, 2.0, 1.0, 0.0, 5.0, 4.0, 2.0, 1.0, 7.0, 8.0, 4.0, 2.0, 9.0]>
func.func @constants_ref(%Y: memref<4x4xf32>, %Z: memref<8xi1>, %I: memref<64xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %list = memref.get_global @columns : memref<16xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %row = arith.muli %i, %c4 : index
      %at = arith.addi %row, %j : index
      %v = memref.load %list[%at] : memref<16xf32>
      memref.store %v, %Y[%i, %j] : memref<4x4xf32>
    }
  }
  %bits = arith.constant 185 : i64
  %one = arith.constant 1 : i64
  scf.for %i = %c0 to %c8 step %c1 {
    %n = arith.index_cast %i : index to i64
    %down = arith.shrui %bits, %n : i64
    %bit = arith.andi %down, %one : i64
    %v = arith.cmpi eq, %bit, %one : i64
    memref.store %v, %Z[%i] : memref<8xi1>
  }
  scf.for %i = %c0 to %c64 step %c1 {
    %n = arith.index_cast %i : index to i64
    %v = arith.muli %n, %n : i64
    memref.store %v, %I[%i] : memref<64xi64>
  }
  return
}
}
