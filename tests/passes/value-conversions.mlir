// Every conversion from bits of all kinds, against the same on a CPU: f32 and f64 to shorter floats, in every direction, and to
// integers that have not the number.
// RUN: girih run %s --kernel to_bf16 --device sim --arg X=iota:i64[512] --arg Y=poison:bf16[5,512] | FileCheck %s
// RUN: girih run %s --kernel to_e4m3 --device sim --arg X=iota:i64[512] --arg Y=poison:e4m3[10,512] | FileCheck %s
// RUN: girih run %s --kernel to_tf32 --device sim --arg X=iota:i64[512] --arg Y=poison:f32[5,512] | FileCheck %s
// CHECK: right: Y: all {{.*}} elements are exact
// RUN: girih run %s --kernel to_i1 --device sim --arg X=iota:i64[512] --arg Y=poison:i1[4,512] | FileCheck %s --check-prefix=WHOLE
// RUN: girih run %s --kernel to_i8 --device sim --arg X=iota:i64[512] --arg Y=poison:i8[4,512] | FileCheck %s --check-prefix=WHOLE
// RUN: girih run %s --kernel to_i64 --device sim --arg X=iota:i64[512] --arg Y=poison:i64[4,512] | FileCheck %s --check-prefix=WHOLE
// WHOLE: right: Y: all {{.*}} elements are exact

module attributes {tile.target = "sm_90a"} {
tile.kernel @to_bf16(%X: memref<?xi64, #tile.global>, %Y: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %x = tile.load %X[%c0] : memref<?xi64, #tile.global> -> tensor<512xi64>
  %spread = arith.constant dense<-7046029254386353131> : tensor<512xi64>
  %bits = arith.muli %x, %spread : tensor<512xi64>
  %half = arith.trunci %bits : tensor<512xi64> to tensor<512xi32>
  %f = arith.bitcast %half : tensor<512xi32> to tensor<512xf32>
  %y0 = arith.truncf %f : tensor<512xf32> to tensor<512xbf16>
  %r0 = tile.expand_dims %y0 axis 0 : tensor<512xbf16> -> tensor<1x512xbf16>
  tile.store %r0, %Y[%c0, %c0] : tensor<1x512xbf16>, memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %y1 = arith.truncf %f to_nearest_away : tensor<512xf32> to tensor<512xbf16>
  %r1 = tile.expand_dims %y1 axis 0 : tensor<512xbf16> -> tensor<1x512xbf16>
  tile.store %r1, %Y[%c1, %c0] : tensor<1x512xbf16>, memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %y2 = arith.truncf %f toward_zero : tensor<512xf32> to tensor<512xbf16>
  %r2 = tile.expand_dims %y2 axis 0 : tensor<512xbf16> -> tensor<1x512xbf16>
  tile.store %r2, %Y[%c2, %c0] : tensor<1x512xbf16>, memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %y3 = arith.truncf %f upward : tensor<512xf32> to tensor<512xbf16>
  %r3 = tile.expand_dims %y3 axis 0 : tensor<512xbf16> -> tensor<1x512xbf16>
  tile.store %r3, %Y[%c3, %c0] : tensor<1x512xbf16>, memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %y4 = arith.truncf %f downward : tensor<512xf32> to tensor<512xbf16>
  %r4 = tile.expand_dims %y4 axis 0 : tensor<512xbf16> -> tensor<1x512xbf16>
  tile.store %r4, %Y[%c4, %c0] : tensor<1x512xbf16>, memref<?x?xbf16, strided<[?, 1]>, #tile.global>
}
func.func @to_bf16_ref(%X: memref<?xi64>, %Y: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %X, %c0 : memref<?xi64>
  %spread = arith.constant -7046029254386353131 : i64
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %X[%i] : memref<?xi64>
    %bits = arith.muli %x, %spread : i64
    %half = arith.trunci %bits : i64 to i32
    %f = arith.bitcast %half : i32 to f32
    %y0 = arith.truncf %f : f32 to bf16
    memref.store %y0, %Y[%c0, %i] : memref<?x?xbf16>
    %y1 = arith.truncf %f to_nearest_away : f32 to bf16
    memref.store %y1, %Y[%c1, %i] : memref<?x?xbf16>
    %y2 = arith.truncf %f toward_zero : f32 to bf16
    memref.store %y2, %Y[%c2, %i] : memref<?x?xbf16>
    %y3 = arith.truncf %f upward : f32 to bf16
    memref.store %y3, %Y[%c3, %i] : memref<?x?xbf16>
    %y4 = arith.truncf %f downward : f32 to bf16
    memref.store %y4, %Y[%c4, %i] : memref<?x?xbf16>
  }
  return
}

tile.kernel @to_e4m3(%X: memref<?xi64, #tile.global>, %Y: memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %x = tile.load %X[%c0] : memref<?xi64, #tile.global> -> tensor<512xi64>
  %spread = arith.constant dense<-7046029254386353131> : tensor<512xi64>
  %bits = arith.muli %x, %spread : tensor<512xi64>
  %half = arith.trunci %bits : tensor<512xi64> to tensor<512xi32>
  %d = arith.bitcast %bits : tensor<512xi64> to tensor<512xf64>
  %f = arith.bitcast %half : tensor<512xi32> to tensor<512xf32>
  %y0 = arith.truncf %f : tensor<512xf32> to tensor<512xf8E4M3FN>
  %r0 = tile.expand_dims %y0 axis 0 : tensor<512xf8E4M3FN> -> tensor<1x512xf8E4M3FN>
  tile.store %r0, %Y[%c0, %c0] : tensor<1x512xf8E4M3FN>, memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>
  %y1 = arith.truncf %f to_nearest_away : tensor<512xf32> to tensor<512xf8E4M3FN>
  %r1 = tile.expand_dims %y1 axis 0 : tensor<512xf8E4M3FN> -> tensor<1x512xf8E4M3FN>
  tile.store %r1, %Y[%c1, %c0] : tensor<1x512xf8E4M3FN>, memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>
  %y2 = arith.truncf %f toward_zero : tensor<512xf32> to tensor<512xf8E4M3FN>
  %r2 = tile.expand_dims %y2 axis 0 : tensor<512xf8E4M3FN> -> tensor<1x512xf8E4M3FN>
  tile.store %r2, %Y[%c2, %c0] : tensor<1x512xf8E4M3FN>, memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>
  %y3 = arith.truncf %f upward : tensor<512xf32> to tensor<512xf8E4M3FN>
  %r3 = tile.expand_dims %y3 axis 0 : tensor<512xf8E4M3FN> -> tensor<1x512xf8E4M3FN>
  tile.store %r3, %Y[%c3, %c0] : tensor<1x512xf8E4M3FN>, memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>
  %y4 = arith.truncf %f downward : tensor<512xf32> to tensor<512xf8E4M3FN>
  %r4 = tile.expand_dims %y4 axis 0 : tensor<512xf8E4M3FN> -> tensor<1x512xf8E4M3FN>
  tile.store %r4, %Y[%c4, %c0] : tensor<1x512xf8E4M3FN>, memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>
  %y5 = arith.truncf %d to_nearest_even : tensor<512xf64> to tensor<512xf8E4M3FN>
  %r5 = tile.expand_dims %y5 axis 0 : tensor<512xf8E4M3FN> -> tensor<1x512xf8E4M3FN>
  tile.store %r5, %Y[%c5, %c0] : tensor<1x512xf8E4M3FN>, memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>
  %y6 = arith.truncf %d to_nearest_away : tensor<512xf64> to tensor<512xf8E4M3FN>
  %r6 = tile.expand_dims %y6 axis 0 : tensor<512xf8E4M3FN> -> tensor<1x512xf8E4M3FN>
  tile.store %r6, %Y[%c6, %c0] : tensor<1x512xf8E4M3FN>, memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>
  %y7 = arith.truncf %d toward_zero : tensor<512xf64> to tensor<512xf8E4M3FN>
  %r7 = tile.expand_dims %y7 axis 0 : tensor<512xf8E4M3FN> -> tensor<1x512xf8E4M3FN>
  tile.store %r7, %Y[%c7, %c0] : tensor<1x512xf8E4M3FN>, memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>
  %y8 = arith.truncf %d upward : tensor<512xf64> to tensor<512xf8E4M3FN>
  %r8 = tile.expand_dims %y8 axis 0 : tensor<512xf8E4M3FN> -> tensor<1x512xf8E4M3FN>
  tile.store %r8, %Y[%c8, %c0] : tensor<1x512xf8E4M3FN>, memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>
  %y9 = arith.truncf %d downward : tensor<512xf64> to tensor<512xf8E4M3FN>
  %r9 = tile.expand_dims %y9 axis 0 : tensor<512xf8E4M3FN> -> tensor<1x512xf8E4M3FN>
  tile.store %r9, %Y[%c9, %c0] : tensor<1x512xf8E4M3FN>, memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>
}
func.func @to_e4m3_ref(%X: memref<?xi64>, %Y: memref<?x?xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %n = memref.dim %X, %c0 : memref<?xi64>
  %spread = arith.constant -7046029254386353131 : i64
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %X[%i] : memref<?xi64>
    %bits = arith.muli %x, %spread : i64
    %half = arith.trunci %bits : i64 to i32
    %d = arith.bitcast %bits : i64 to f64
    %f = arith.bitcast %half : i32 to f32
    %y0 = arith.truncf %f : f32 to f8E4M3FN
    memref.store %y0, %Y[%c0, %i] : memref<?x?xf8E4M3FN>
    %y1 = arith.truncf %f to_nearest_away : f32 to f8E4M3FN
    memref.store %y1, %Y[%c1, %i] : memref<?x?xf8E4M3FN>
    %y2 = arith.truncf %f toward_zero : f32 to f8E4M3FN
    memref.store %y2, %Y[%c2, %i] : memref<?x?xf8E4M3FN>
    %y3 = arith.truncf %f upward : f32 to f8E4M3FN
    memref.store %y3, %Y[%c3, %i] : memref<?x?xf8E4M3FN>
    %y4 = arith.truncf %f downward : f32 to f8E4M3FN
    memref.store %y4, %Y[%c4, %i] : memref<?x?xf8E4M3FN>
    %y5 = arith.truncf %d to_nearest_even : f64 to f8E4M3FN
    memref.store %y5, %Y[%c5, %i] : memref<?x?xf8E4M3FN>
    %y6 = arith.truncf %d to_nearest_away : f64 to f8E4M3FN
    memref.store %y6, %Y[%c6, %i] : memref<?x?xf8E4M3FN>
    %y7 = arith.truncf %d toward_zero : f64 to f8E4M3FN
    memref.store %y7, %Y[%c7, %i] : memref<?x?xf8E4M3FN>
    %y8 = arith.truncf %d upward : f64 to f8E4M3FN
    memref.store %y8, %Y[%c8, %i] : memref<?x?xf8E4M3FN>
    %y9 = arith.truncf %d downward : f64 to f8E4M3FN
    memref.store %y9, %Y[%c9, %i] : memref<?x?xf8E4M3FN>
  }
  return
}

tile.kernel @to_tf32(%X: memref<?xi64, #tile.global>, %Y: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %x = tile.load %X[%c0] : memref<?xi64, #tile.global> -> tensor<512xi64>
  %spread = arith.constant dense<-7046029254386353131> : tensor<512xi64>
  %bits = arith.muli %x, %spread : tensor<512xi64>
  %half = arith.trunci %bits : tensor<512xi64> to tensor<512xi32>
  %f = arith.bitcast %half : tensor<512xi32> to tensor<512xf32>
  %y0 = arith.truncf %f : tensor<512xf32> to tensor<512xtf32>
  %w0 = arith.extf %y0 : tensor<512xtf32> to tensor<512xf32>
  %r0 = tile.expand_dims %w0 axis 0 : tensor<512xf32> -> tensor<1x512xf32>
  tile.store %r0, %Y[%c0, %c0] : tensor<1x512xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %y1 = arith.truncf %f to_nearest_away : tensor<512xf32> to tensor<512xtf32>
  %w1 = arith.extf %y1 : tensor<512xtf32> to tensor<512xf32>
  %r1 = tile.expand_dims %w1 axis 0 : tensor<512xf32> -> tensor<1x512xf32>
  tile.store %r1, %Y[%c1, %c0] : tensor<1x512xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %y2 = arith.truncf %f toward_zero : tensor<512xf32> to tensor<512xtf32>
  %w2 = arith.extf %y2 : tensor<512xtf32> to tensor<512xf32>
  %r2 = tile.expand_dims %w2 axis 0 : tensor<512xf32> -> tensor<1x512xf32>
  tile.store %r2, %Y[%c2, %c0] : tensor<1x512xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %y3 = arith.truncf %f upward : tensor<512xf32> to tensor<512xtf32>
  %w3 = arith.extf %y3 : tensor<512xtf32> to tensor<512xf32>
  %r3 = tile.expand_dims %w3 axis 0 : tensor<512xf32> -> tensor<1x512xf32>
  tile.store %r3, %Y[%c3, %c0] : tensor<1x512xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %y4 = arith.truncf %f downward : tensor<512xf32> to tensor<512xtf32>
  %w4 = arith.extf %y4 : tensor<512xtf32> to tensor<512xf32>
  %r4 = tile.expand_dims %w4 axis 0 : tensor<512xf32> -> tensor<1x512xf32>
  tile.store %r4, %Y[%c4, %c0] : tensor<1x512xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}
func.func @to_tf32_ref(%X: memref<?xi64>, %Y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %X, %c0 : memref<?xi64>
  %spread = arith.constant -7046029254386353131 : i64
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %X[%i] : memref<?xi64>
    %bits = arith.muli %x, %spread : i64
    %half = arith.trunci %bits : i64 to i32
    %f = arith.bitcast %half : i32 to f32
    %y0 = arith.truncf %f : f32 to tf32
    %w0 = arith.extf %y0 : tf32 to f32
    memref.store %w0, %Y[%c0, %i] : memref<?x?xf32>
    %y1 = arith.truncf %f to_nearest_away : f32 to tf32
    %w1 = arith.extf %y1 : tf32 to f32
    memref.store %w1, %Y[%c1, %i] : memref<?x?xf32>
    %y2 = arith.truncf %f toward_zero : f32 to tf32
    %w2 = arith.extf %y2 : tf32 to f32
    memref.store %w2, %Y[%c2, %i] : memref<?x?xf32>
    %y3 = arith.truncf %f upward : f32 to tf32
    %w3 = arith.extf %y3 : tf32 to f32
    memref.store %w3, %Y[%c3, %i] : memref<?x?xf32>
    %y4 = arith.truncf %f downward : f32 to tf32
    %w4 = arith.extf %y4 : tf32 to f32
    memref.store %w4, %Y[%c4, %i] : memref<?x?xf32>
  }
  return
}

tile.kernel @to_i1(%X: memref<?xi64, #tile.global>, %Y: memref<?x?xi1, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %x = tile.load %X[%c0] : memref<?xi64, #tile.global> -> tensor<512xi64>
  %spread = arith.constant dense<-7046029254386353131> : tensor<512xi64>
  %bits = arith.muli %x, %spread : tensor<512xi64>
  %half = arith.trunci %bits : tensor<512xi64> to tensor<512xi32>
  %d = arith.bitcast %bits : tensor<512xi64> to tensor<512xf64>
  %f = arith.bitcast %half : tensor<512xi32> to tensor<512xf32>
  %y0 = arith.fptosi %f : tensor<512xf32> to tensor<512xi1>
  %r0 = tile.expand_dims %y0 axis 0 : tensor<512xi1> -> tensor<1x512xi1>
  tile.store %r0, %Y[%c0, %c0] : tensor<1x512xi1>, memref<?x?xi1, strided<[?, 1]>, #tile.global>
  %y1 = arith.fptoui %f : tensor<512xf32> to tensor<512xi1>
  %r1 = tile.expand_dims %y1 axis 0 : tensor<512xi1> -> tensor<1x512xi1>
  tile.store %r1, %Y[%c1, %c0] : tensor<1x512xi1>, memref<?x?xi1, strided<[?, 1]>, #tile.global>
  %y2 = arith.fptosi %d : tensor<512xf64> to tensor<512xi1>
  %r2 = tile.expand_dims %y2 axis 0 : tensor<512xi1> -> tensor<1x512xi1>
  tile.store %r2, %Y[%c2, %c0] : tensor<1x512xi1>, memref<?x?xi1, strided<[?, 1]>, #tile.global>
  %y3 = arith.fptoui %d : tensor<512xf64> to tensor<512xi1>
  %r3 = tile.expand_dims %y3 axis 0 : tensor<512xi1> -> tensor<1x512xi1>
  tile.store %r3, %Y[%c3, %c0] : tensor<1x512xi1>, memref<?x?xi1, strided<[?, 1]>, #tile.global>
}
func.func @to_i1_ref(%X: memref<?xi64>, %Y: memref<?x?xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = memref.dim %X, %c0 : memref<?xi64>
  %spread = arith.constant -7046029254386353131 : i64
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %X[%i] : memref<?xi64>
    %bits = arith.muli %x, %spread : i64
    %half = arith.trunci %bits : i64 to i32
    %d = arith.bitcast %bits : i64 to f64
    %f = arith.bitcast %half : i32 to f32
    %y0 = arith.fptosi %f : f32 to i1
    memref.store %y0, %Y[%c0, %i] : memref<?x?xi1>
    %y1 = arith.fptoui %f : f32 to i1
    memref.store %y1, %Y[%c1, %i] : memref<?x?xi1>
    %y2 = arith.fptosi %d : f64 to i1
    memref.store %y2, %Y[%c2, %i] : memref<?x?xi1>
    %y3 = arith.fptoui %d : f64 to i1
    memref.store %y3, %Y[%c3, %i] : memref<?x?xi1>
  }
  return
}

tile.kernel @to_i8(%X: memref<?xi64, #tile.global>, %Y: memref<?x?xi8, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %x = tile.load %X[%c0] : memref<?xi64, #tile.global> -> tensor<512xi64>
  %spread = arith.constant dense<-7046029254386353131> : tensor<512xi64>
  %bits = arith.muli %x, %spread : tensor<512xi64>
  %half = arith.trunci %bits : tensor<512xi64> to tensor<512xi32>
  %d = arith.bitcast %bits : tensor<512xi64> to tensor<512xf64>
  %f = arith.bitcast %half : tensor<512xi32> to tensor<512xf32>
  %y0 = arith.fptosi %f : tensor<512xf32> to tensor<512xi8>
  %r0 = tile.expand_dims %y0 axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  tile.store %r0, %Y[%c0, %c0] : tensor<1x512xi8>, memref<?x?xi8, strided<[?, 1]>, #tile.global>
  %y1 = arith.fptoui %f : tensor<512xf32> to tensor<512xi8>
  %r1 = tile.expand_dims %y1 axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  tile.store %r1, %Y[%c1, %c0] : tensor<1x512xi8>, memref<?x?xi8, strided<[?, 1]>, #tile.global>
  %y2 = arith.fptosi %d : tensor<512xf64> to tensor<512xi8>
  %r2 = tile.expand_dims %y2 axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  tile.store %r2, %Y[%c2, %c0] : tensor<1x512xi8>, memref<?x?xi8, strided<[?, 1]>, #tile.global>
  %y3 = arith.fptoui %d : tensor<512xf64> to tensor<512xi8>
  %r3 = tile.expand_dims %y3 axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  tile.store %r3, %Y[%c3, %c0] : tensor<1x512xi8>, memref<?x?xi8, strided<[?, 1]>, #tile.global>
}
func.func @to_i8_ref(%X: memref<?xi64>, %Y: memref<?x?xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = memref.dim %X, %c0 : memref<?xi64>
  %spread = arith.constant -7046029254386353131 : i64
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %X[%i] : memref<?xi64>
    %bits = arith.muli %x, %spread : i64
    %half = arith.trunci %bits : i64 to i32
    %d = arith.bitcast %bits : i64 to f64
    %f = arith.bitcast %half : i32 to f32
    %y0 = arith.fptosi %f : f32 to i8
    memref.store %y0, %Y[%c0, %i] : memref<?x?xi8>
    %y1 = arith.fptoui %f : f32 to i8
    memref.store %y1, %Y[%c1, %i] : memref<?x?xi8>
    %y2 = arith.fptosi %d : f64 to i8
    memref.store %y2, %Y[%c2, %i] : memref<?x?xi8>
    %y3 = arith.fptoui %d : f64 to i8
    memref.store %y3, %Y[%c3, %i] : memref<?x?xi8>
  }
  return
}

tile.kernel @to_i64(%X: memref<?xi64, #tile.global>, %Y: memref<?x?xi64, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %x = tile.load %X[%c0] : memref<?xi64, #tile.global> -> tensor<512xi64>
  %spread = arith.constant dense<-7046029254386353131> : tensor<512xi64>
  %bits = arith.muli %x, %spread : tensor<512xi64>
  %half = arith.trunci %bits : tensor<512xi64> to tensor<512xi32>
  %d = arith.bitcast %bits : tensor<512xi64> to tensor<512xf64>
  %f = arith.bitcast %half : tensor<512xi32> to tensor<512xf32>
  %y0 = arith.fptosi %f : tensor<512xf32> to tensor<512xi64>
  %r0 = tile.expand_dims %y0 axis 0 : tensor<512xi64> -> tensor<1x512xi64>
  tile.store %r0, %Y[%c0, %c0] : tensor<1x512xi64>, memref<?x?xi64, strided<[?, 1]>, #tile.global>
  %y1 = arith.fptoui %f : tensor<512xf32> to tensor<512xi64>
  %r1 = tile.expand_dims %y1 axis 0 : tensor<512xi64> -> tensor<1x512xi64>
  tile.store %r1, %Y[%c1, %c0] : tensor<1x512xi64>, memref<?x?xi64, strided<[?, 1]>, #tile.global>
  %y2 = arith.fptosi %d : tensor<512xf64> to tensor<512xi64>
  %r2 = tile.expand_dims %y2 axis 0 : tensor<512xi64> -> tensor<1x512xi64>
  tile.store %r2, %Y[%c2, %c0] : tensor<1x512xi64>, memref<?x?xi64, strided<[?, 1]>, #tile.global>
  %y3 = arith.fptoui %d : tensor<512xf64> to tensor<512xi64>
  %r3 = tile.expand_dims %y3 axis 0 : tensor<512xi64> -> tensor<1x512xi64>
  tile.store %r3, %Y[%c3, %c0] : tensor<1x512xi64>, memref<?x?xi64, strided<[?, 1]>, #tile.global>
}
func.func @to_i64_ref(%X: memref<?xi64>, %Y: memref<?x?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = memref.dim %X, %c0 : memref<?xi64>
  %spread = arith.constant -7046029254386353131 : i64
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %X[%i] : memref<?xi64>
    %bits = arith.muli %x, %spread : i64
    %half = arith.trunci %bits : i64 to i32
    %d = arith.bitcast %bits : i64 to f64
    %f = arith.bitcast %half : i32 to f32
    %y0 = arith.fptosi %f : f32 to i64
    memref.store %y0, %Y[%c0, %i] : memref<?x?xi64>
    %y1 = arith.fptoui %f : f32 to i64
    memref.store %y1, %Y[%c1, %i] : memref<?x?xi64>
    %y2 = arith.fptosi %d : f64 to i64
    memref.store %y2, %Y[%c2, %i] : memref<?x?xi64>
    %y3 = arith.fptoui %d : f64 to i64
    memref.store %y3, %Y[%c3, %i] : memref<?x?xi64>
  }
  return
}
}
