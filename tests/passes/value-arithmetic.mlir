// Ops on tiles that took a way of their own, each against what a CPU makes of it.
// RUN: girih run %s --kernel bytes --device sim --arg X=iota:f32[256] --arg Y=zeros:i8[256] | FileCheck %s --check-prefix=BYTES
// BYTES: right: Y: all 256 elements are exact
// RUN: girih run %s --kernel truth --device sim --arg X=randn:f32[256] --arg Y=zeros:bf16[256] | FileCheck %s --check-prefix=TRUTH
// TRUTH: right: Y: all 256 elements are exact
// RUN: girih run %s --kernel truth_in_memory --device sim --arg X=ones:i1[64] --arg Y=zeros:bf16[64] "--check=Y=full(-1):bf16[64]" 2>/dev/null | FileCheck %s --check-prefix=MEMORY
// MEMORY: right: Y: all 64 elements are exact
// RUN: girih run %s --kernel whole --device sim --arg X=randn:bf16[256] --arg Y=zeros:i32[256] | FileCheck %s --check-prefix=WHOLE
// WHOLE: right: Y: all 256 elements are exact
// RUN: girih run %s --kernel kinds --device sim --arg X=randn:f16[256] --arg Y=zeros:f16[256] | FileCheck %s --check-prefix=KINDS
// KINDS: right: Y: all 256 elements are exact
// RUN: girih run %s --kernel powers --device sim --arg X=iota:i32[64] --arg Y=zeros:i32[64] --arg Z=zeros:f64[64] | FileCheck %s --check-prefix=POWERS
// POWERS: right: Y: all 64 elements are exact
// POWERS: right: Z: all 64 elements
// RUN: girih run %s --kernel rest --device sim --arg X=randn:f64[256] "--arg=Y=randn(seed=2):f64[256]" | FileCheck %s --check-prefix=REST
// REST: right: Y: all 256 elements are exact

module attributes {tile.target = "sm_90a"} {
// A line of bytes is more than a warp's lanes take two by two.
tile.kernel @bytes(%X: memref<?xf32, #tile.global>, %Y: memref<?xi8, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xf32, #tile.global> -> tensor<256xf32>
  %limit = arith.constant dense<100.0> : tensor<256xf32>
  %less = arith.cmpf olt, %x, %limit : tensor<256xf32>
  %y = arith.extui %less : tensor<256xi1> to tensor<256xi8>
  tile.store %y, %Y[%c0] : tensor<256xi8>, memref<?xi8, #tile.global>
}
func.func @bytes_ref(%X: memref<?xf32>, %Y: memref<?xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %limit = arith.constant 100.0 : f32
  %n = memref.dim %X, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %X[%i] : memref<?xf32>
    %less = arith.cmpf olt, %x, %limit : f32
    %y = arith.extui %less : i1 to i8
    memref.store %y, %Y[%i] : memref<?xi8>
  }
  return
}

// From memory too, where nothing has compared.
tile.kernel @truth_in_memory(%X: memref<64xi1, #tile.global>, %Y: memref<64xbf16, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<64xi1, #tile.global> -> tensor<64xi1>
  %y = arith.sitofp %x : tensor<64xi1> to tensor<64xbf16>
  tile.store %y, %Y[%c0] : tensor<64xbf16>, memref<64xbf16, #tile.global>
}

// As a signed number, true is -1.
tile.kernel @truth(%X: memref<?xf32, #tile.global>, %Y: memref<?xbf16, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xf32, #tile.global> -> tensor<256xf32>
  %zero = arith.constant dense<0.0> : tensor<256xf32>
  %less = arith.cmpf olt, %x, %zero : tensor<256xf32>
  %y = arith.sitofp %less : tensor<256xi1> to tensor<256xbf16>
  tile.store %y, %Y[%c0] : tensor<256xbf16>, memref<?xbf16, #tile.global>
}
func.func @truth_ref(%X: memref<?xf32>, %Y: memref<?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %X, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %X[%i] : memref<?xf32>
    %less = arith.cmpf olt, %x, %zero : f32
    %y = arith.sitofp %less : i1 to bf16
    memref.store %y, %Y[%i] : memref<?xbf16>
  }
  return
}

// Each product of narrow numbers is rounded, in the reference too.
tile.kernel @whole(%X: memref<?xbf16, #tile.global>, %Y: memref<?xi32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xbf16, #tile.global> -> tensor<256xbf16>
  %large = arith.constant dense<1.0e6> : tensor<256xbf16>
  %p = arith.mulf %x, %large : tensor<256xbf16>
  %m = arith.negf %p : tensor<256xbf16>
  %y = arith.fptosi %m : tensor<256xbf16> to tensor<256xi32>
  tile.store %y, %Y[%c0] : tensor<256xi32>, memref<?xi32, #tile.global>
}
func.func @whole_ref(%X: memref<?xbf16>, %Y: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %large = arith.constant 1.0e6 : bf16
  %n = memref.dim %X, %c0 : memref<?xbf16>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %X[%i] : memref<?xbf16>
    %p = arith.mulf %x, %large : bf16
    %m = arith.negf %p : bf16
    %y = arith.fptosi %m : bf16 to i32
    memref.store %y, %Y[%i] : memref<?xi32>
  }
  return
}

// Infinite, normal and clamped: the reference says it in comparisons.
tile.kernel @kinds(%X: memref<?xf16, #tile.global>, %Y: memref<?xf16, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xf16, #tile.global> -> tensor<256xf16>
  %zero = arith.constant dense<0.0> : tensor<256xf16>
  %low = arith.constant dense<-0.5> : tensor<256xf16>
  %high = arith.constant dense<0.75> : tensor<256xf16>
  %q = arith.divf %x, %zero : tensor<256xf16>
  %positive = arith.cmpf ogt, %x, %zero : tensor<256xf16>
  %v = arith.select %positive, %q, %x : tensor<256xi1>, tensor<256xf16>
  %infinite = math.isinf %v : tensor<256xf16>
  %normal = math.isnormal %v : tensor<256xf16>
  %i = arith.uitofp %infinite : tensor<256xi1> to tensor<256xf16>
  %n = arith.uitofp %normal : tensor<256xi1> to tensor<256xf16>
  %four = arith.constant dense<4.0> : tensor<256xf16>
  %i4 = arith.mulf %i, %four : tensor<256xf16>
  %both = arith.subf %i4, %n : tensor<256xf16>
  %c = math.clampf %x to [%low, %high] : tensor<256xf16>
  %y = arith.addf %both, %c : tensor<256xf16>
  tile.store %y, %Y[%c0] : tensor<256xf16>, memref<?xf16, #tile.global>
}
func.func @kinds_ref(%X: memref<?xf16>, %Y: memref<?xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f16
  %low = arith.constant -0.5 : f16
  %high = arith.constant 0.75 : f16
  %infinite = arith.constant 4.0 : f16
  %normal = arith.constant -1.0 : f16
  %n = memref.dim %X, %c0 : memref<?xf16>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %X[%i] : memref<?xf16>
    %positive = arith.cmpf ogt, %x, %zero : f16
    %kind = arith.select %positive, %infinite, %normal : f16
    %below = arith.minimumf %x, %high : f16
    %c = arith.maximumf %below, %low : f16
    %y = arith.addf %kind, %c : f16
    memref.store %y, %Y[%i] : memref<?xf16>
  }
  return
}

// (i - 32)^5, and 2^(i - 32).
tile.kernel @powers(%X: memref<?xi32, #tile.global>, %Y: memref<?xi32, #tile.global>, %Z: memref<?xf64, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xi32, #tile.global> -> tensor<64xi32>
  %half = arith.constant dense<32> : tensor<64xi32>
  %five = arith.constant dense<5> : tensor<64xi32>
  %two = arith.constant dense<2.0> : tensor<64xf64>
  %i = arith.subi %x, %half : tensor<64xi32>
  %y = math.ipowi %i, %five : tensor<64xi32>
  %z = math.fpowi %two, %i : tensor<64xf64>, tensor<64xi32>
  tile.store %y, %Y[%c0] : tensor<64xi32>, memref<?xi32, #tile.global>
  tile.store %z, %Z[%c0] : tensor<64xf64>, memref<?xf64, #tile.global>
}
func.func @powers_ref(%X: memref<?xi32>, %Y: memref<?xi32>, %Z: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %half = arith.constant 32 : i32
  %n = memref.dim %X, %c0 : memref<?xi32>
  scf.for %k = %c0 to %n step %c1 {
    %x = memref.load %X[%k] : memref<?xi32>
    %i = arith.subi %x, %half : i32
    %i2 = arith.muli %i, %i : i32
    %i4 = arith.muli %i2, %i2 : i32
    %i5 = arith.muli %i4, %i : i32
    memref.store %i5, %Y[%k] : memref<?xi32>
    %f = arith.sitofp %i : i32 to f64
    %z = math.exp2 %f : f64
    memref.store %z, %Z[%k] : memref<?xf64>
  }
  return
}

// What division leaves, exactly.
tile.kernel @rest(%X: memref<?xf64, #tile.global>, %Y: memref<?xf64, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xf64, #tile.global> -> tensor<256xf64>
  %y = tile.load %Y[%c0] : memref<?xf64, #tile.global> -> tensor<256xf64>
  %many = arith.constant dense<1.0e300> : tensor<256xf64>
  %large = arith.mulf %x, %many : tensor<256xf64>
  %r = arith.remf %large, %y : tensor<256xf64>
  tile.store %r, %Y[%c0] : tensor<256xf64>, memref<?xf64, #tile.global>
}
func.func @rest_ref(%X: memref<?xf64>, %Y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.constant 1.0e300 : f64
  %n = memref.dim %X, %c0 : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %X[%i] : memref<?xf64>
    %y = memref.load %Y[%i] : memref<?xf64>
    %large = arith.mulf %x, %many : f64
    %r = arith.remf %large, %y : f64
    memref.store %r, %Y[%i] : memref<?xf64>
  }
  return
}
}
