// What is outside, and what a mask is false for, reads as another tile has it: end to end, with vectors and without.
// All aligned; each argument in turn not; rows that no vector divides; edges inside the tile; no element at all.
// RUN: girih run %s --kernel masked --device sim --check-memory --arg X=randn:bf16[16,64] --arg F=randn:bf16[16,64] --arg Y=poison:bf16[16,64] | FileCheck %s
// RUN: girih run %s --kernel masked --device sim --check-memory --arg "X=randn:bf16[16,64;offset=2]" --arg F=randn:bf16[16,64] --arg Y=poison:bf16[16,64] | FileCheck %s
// RUN: girih run %s --kernel masked --device sim --check-memory --arg X=randn:bf16[16,64] --arg "F=randn:bf16[16,64;offset=2]" --arg Y=poison:bf16[16,64] | FileCheck %s
// RUN: girih run %s --kernel masked --device sim --check-memory --arg X=randn:bf16[16,64] --arg F=randn:bf16[16,64] --arg "Y=poison:bf16[16,64;pitch=65]" | FileCheck %s
// RUN: girih run %s --kernel masked --device sim --check-memory --arg "X=randn:bf16[9,24;pitch=32]" --arg "F=randn:bf16[16,64;offset=2]" --arg Y=poison:bf16[16,64] | FileCheck %s
// RUN: girih run %s --kernel masked --device sim --check-memory --arg X=randn:bf16[9,41] --arg F=randn:bf16[16,64] --arg Y=poison:bf16[16,64] | FileCheck %s
// RUN: girih run %s --kernel masked --device sim --check-memory --arg X=randn:bf16[0,8] --arg F=randn:bf16[16,64] --arg Y=poison:bf16[16,64] | FileCheck %s
// RUN: girih run %s --kernel bytes --device sim --check-memory --arg X=iota:i8[300] --arg Y=poison:i8[512] | FileCheck %s
// RUN: girih run %s --kernel bytes --device sim --check-memory --arg "X=iota:i8[304;offset=1]" --arg Y=poison:i8[512] | FileCheck %s
// RUN: girih run %s --kernel bytes --device sim --check-memory --arg X=iota:i8[304] --arg "Y=poison:i8[512;offset=1]" | FileCheck %s
// Tiles that are padded to powers of two: nothing of the padding counts.
// RUN: girih run %s --kernel odd --device sim --check-memory --arg X=iota:i32[5,37] --arg Y=poison:i32[5,37] --arg S=poison:i32[5] | FileCheck %s
// RUN: girih run %s --kernel odd --device sim --check-memory --arg X=iota:i32[4,36] --arg Y=poison:i32[5,40] --arg S=poison:i32[5] | FileCheck %s
// RUN: girih run %s --kernel odd --device sim --check-memory --arg "X=iota:i32[3,12;offset=4]" --arg Y=poison:i32[5,40] --arg S=poison:i32[5] | FileCheck %s
// From shared memory, which is smaller than the tile.
// RUN: girih run %s --kernel shared --device sim --check-memory --arg X=iota:i32[6,16] --arg Y=poison:i32[8,16] | FileCheck %s
// CHECK: right: Y
// CHECK: no findings
// Beside a product of warpgroups, whose own registers hold what is outside; and as an operand, where zeros would be wrong.
// RUN: girih run %s --kernel product --target sm_90a --device sim --arg A=randn:bf16[64,64] --arg B=randn:bf16[64,64] --arg S=randn:f32[64,64] --arg C=poison:f32[64,64] --arg D=poison:f32[64,64] | FileCheck %s --check-prefix=PRODUCT
// RUN: girih run %s --kernel product --target sm_90a --device sim --arg A=randn:bf16[64,64] --arg B=randn:bf16[64,64] --arg S=randn:f32[40,50] --arg C=poison:f32[64,64] --arg D=poison:f32[64,64] | FileCheck %s --check-prefix=PRODUCT
// PRODUCT: right: C
// PRODUCT: right: D
// RUN: girih run %s --kernel operand --target sm_90a --device sim --arg A=randn:f16[50,21] --arg B=randn:f16[40,21] --arg C=poison:f32[50,21] | FileCheck %s --check-prefix=OPERAND
// OPERAND: right: C

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!sums = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!halves = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!ints = memref<?x?xi32, strided<[?, 1]>, #tile.global>

module {
// Rows but the third, up to column 40, of X; elsewhere F.
tile.kernel @masked(%X: !rows, %F: !rows, %Y: !rows) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %i = tile.iota axis 0 : tensor<16x64xi32>
  %j = tile.iota axis 1 : tensor<16x64xi32>
  %c3 = arith.constant dense<3> : tensor<16x64xi32>
  %c40 = arith.constant dense<40> : tensor<16x64xi32>
  %rows = arith.cmpi ne, %i, %c3 : tensor<16x64xi32>
  %columns = arith.cmpi slt, %j, %c40 : tensor<16x64xi32>
  %m = arith.andi %rows, %columns : tensor<16x64xi1>
  %f = tile.load %F[%c0, %c0] : !rows -> tensor<16x64xbf16>
  %x = tile.load %X[%c0, %c0] mask %m : tensor<16x64xi1> pass_thru %f : tensor<16x64xbf16> : !rows -> tensor<16x64xbf16>
  tile.store %x, %Y[%c0, %c0] : tensor<16x64xbf16>, !rows
}
func.func @masked_ref(%X: memref<?x?xbf16>, %F: memref<?x?xbf16>, %Y: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %c40 = arith.constant 40 : index
  %c64 = arith.constant 64 : index
  %rows = memref.dim %X, %c0 : memref<?x?xbf16>
  %n = memref.dim %X, %c1 : memref<?x?xbf16>
  %end = arith.minui %n, %c40 : index
  scf.for %i = %c0 to %c16 step %c1 {
    %row_in = arith.cmpi ult, %i, %rows : index
    %row_counts = arith.cmpi ne, %i, %c3 : index
    %row = arith.andi %row_in, %row_counts : i1
    scf.for %j = %c0 to %c64 step %c1 {
      %column = arith.cmpi ult, %j, %end : index
      %in = arith.andi %row, %column : i1
      %v = scf.if %in -> (bf16) {
        %x = memref.load %X[%i, %j] : memref<?x?xbf16>
        scf.yield %x : bf16
      } else {
        %f = memref.load %F[%i, %j] : memref<?x?xbf16>
        scf.yield %f : bf16
      }
      memref.store %v, %Y[%i, %j] : memref<?x?xbf16>
    }
  }
  return
}

// Past the end of X comes how far it is from the tile's end.
tile.kernel @bytes(%X: memref<?xi8, #tile.global>, %Y: memref<?xi8, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %i = tile.iota axis 0 : tensor<512xi8>
  %minus = arith.constant dense<-1> : tensor<512xi8>
  %down = arith.muli %i, %minus : tensor<512xi8>
  %x = tile.load %X[%c0] pass_thru %down : tensor<512xi8> : memref<?xi8, #tile.global> -> tensor<512xi8>
  tile.store %x, %Y[%c0] : tensor<512xi8>, memref<?xi8, #tile.global>
}
func.func @bytes_ref(%X: memref<?xi8>, %Y: memref<?xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0 : i8
  %n = memref.dim %X, %c0 : memref<?xi8>
  scf.for %i = %c0 to %c512 step %c1 {
    %inside = arith.cmpi ult, %i, %n : index
    %v = scf.if %inside -> (i8) {
      %x = memref.load %X[%i] : memref<?xi8>
      scf.yield %x : i8
    } else {
      %d = arith.index_cast %i : index to i8
      %down = arith.subi %zero, %d : i8
      scf.yield %down : i8
    }
    memref.store %v, %Y[%i] : memref<?xi8>
  }
  return
}

// On and above the diagonal X, else 7, in tiles of 5 x 37; and the sums of rows.
tile.kernel @odd(%X: !ints, %Y: !ints, %S: memref<?xi32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %i = tile.iota axis 0 : tensor<5x37xi32>
  %j = tile.iota axis 1 : tensor<5x37xi32>
  %high = arith.cmpi sle, %i, %j : tensor<5x37xi32>
  %seven = arith.constant dense<7> : tensor<5x37xi32>
  %x = tile.load %X[%c0, %c0] mask %high : tensor<5x37xi1> pass_thru %seven : tensor<5x37xi32> : !ints -> tensor<5x37xi32>
  %s = tile.reduce %x axis 1 (%a: i32, %b: i32) {
    %t = arith.addi %a, %b : i32
    tile.yield %t : i32
  } : tensor<5x37xi32> -> tensor<5xi32>
  tile.store %x, %Y[%c0, %c0] : tensor<5x37xi32>, !ints
  tile.store %s, %S[%c0] : tensor<5xi32>, memref<?xi32, #tile.global>
}
func.func @odd_ref(%X: memref<?x?xi32>, %Y: memref<?x?xi32>, %S: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c37 = arith.constant 37 : index
  %zero = arith.constant 0 : i32
  %seven = arith.constant 7 : i32
  %rows = memref.dim %X, %c0 : memref<?x?xi32>
  %n = memref.dim %X, %c1 : memref<?x?xi32>
  scf.for %i = %c0 to %c5 step %c1 {
    %row_in = arith.cmpi ult, %i, %rows : index
    %sum = scf.for %j = %c0 to %c37 step %c1 iter_args(%s = %zero) -> (i32) {
      %column_in = arith.cmpi ult, %j, %n : index
      %high = arith.cmpi ule, %i, %j : index
      %both = arith.andi %row_in, %column_in : i1
      %in = arith.andi %both, %high : i1
      %v = scf.if %in -> (i32) {
        %x = memref.load %X[%i, %j] : memref<?x?xi32>
        scf.yield %x : i32
      } else {
        scf.yield %seven : i32
      }
      memref.store %v, %Y[%i, %j] : memref<?x?xi32>
      %t = arith.addi %s, %v : i32
      scf.yield %t : i32
    }
    memref.store %sum, %S[%i] : memref<?xi32>
  }
  return
}

// Six rows by way of shared memory, and below them the number of the column.
tile.kernel @shared(%X: !ints, %Y: !ints) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %s = tile.alloc : memref<6x16xi32, #tile.shared>
  %i = tile.iota axis 0 : tensor<8x16xi32>
  %j = tile.iota axis 1 : tensor<8x16xi32>
  %six = arith.constant dense<6> : tensor<8x16xi32>
  %m = arith.cmpi slt, %i, %six : tensor<8x16xi32>
  %x = tile.load %X[%c0, %c0] : !ints -> tensor<8x16xi32>
  tile.store %x, %s[%c0, %c0] mask %m : tensor<8x16xi1> : tensor<8x16xi32>, memref<6x16xi32, #tile.shared>
  %y = tile.load %s[%c0, %c0] mask %m : tensor<8x16xi1> pass_thru %j : tensor<8x16xi32> : memref<6x16xi32, #tile.shared> -> tensor<8x16xi32>
  tile.store %y, %Y[%c0, %c0] : tensor<8x16xi32>, !ints
}
func.func @shared_ref(%X: memref<?x?xi32>, %Y: memref<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %in = arith.cmpi ult, %i, %c6 : index
    scf.for %j = %c0 to %c16 step %c1 {
      %v = scf.if %in -> (i32) {
        %x = memref.load %X[%i, %j] : memref<?x?xi32>
        scf.yield %x : i32
      } else {
        %n = arith.index_cast %j : index to i32
        scf.yield %n : i32
      }
      memref.store %v, %Y[%i, %j] : memref<?x?xi32>
    }
  }
  return
}

// C = A B + S, where S reads as A B outside, and D = A B + S, where it reads as 1.5.
tile.kernel @product(%A: !rows, %B: !rows, %S: !sums, %C: !sums, %D: !sums) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %K = memref.dim %A, %c1 : !rows
  %c = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %a = tile.load %A[%c0, %k] : !rows -> tensor<64x64xbf16>
    %b = tile.load %B[%k, %c0] : !rows -> tensor<64x64xbf16>
    %n = tile.mma %a, %b, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  %s = tile.load %S[%c0, %c0] pass_thru %c : tensor<64x64xf32> : !sums -> tensor<64x64xf32>
  %t = tile.load %S[%c0, %c0] {pad = 1.5 : f32} : !sums -> tensor<64x64xf32>
  %d = arith.addf %c, %s : tensor<64x64xf32>
  %e = arith.addf %c, %t : tensor<64x64xf32>
  tile.store %d, %C[%c0, %c0] : tensor<64x64xf32>, !sums
  tile.store %e, %D[%c0, %c0] : tensor<64x64xf32>, !sums
}
func.func @product_ref(%A: memref<?x?xbf16>, %B: memref<?x?xbf16>, %S: memref<?x?xf32>, %C: memref<?x?xf32>, %D: memref<?x?xf32>) attributes {girih.tol = 1.0e-3 : f64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %pad = arith.constant 1.5 : f32
  %c64 = arith.constant 64 : index
  %rows = memref.dim %S, %c0 : memref<?x?xf32>
  %n = memref.dim %S, %c1 : memref<?x?xf32>
  %K = memref.dim %A, %c1 : memref<?x?xbf16>
  scf.for %i = %c0 to %c64 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %row_in = arith.cmpi ult, %i, %rows : index
      %column_in = arith.cmpi ult, %j, %n : index
      %in = arith.andi %row_in, %column_in : i1
      %sum = scf.for %k = %c0 to %K step %c1 iter_args(%s = %zero) -> (f32) {
        %x = memref.load %A[%i, %k] : memref<?x?xbf16>
        %y = memref.load %B[%k, %j] : memref<?x?xbf16>
        %xf = arith.extf %x : bf16 to f32
        %yf = arith.extf %y : bf16 to f32
        %p = arith.mulf %xf, %yf : f32
        %t = arith.addf %s, %p : f32
        scf.yield %t : f32
      }
      %s:2 = scf.if %in -> (f32, f32) {
        %x = memref.load %S[%i, %j] : memref<?x?xf32>
        scf.yield %x, %x : f32, f32
      } else {
        scf.yield %sum, %pad : f32, f32
      }
      %c = arith.addf %sum, %s#0 : f32
      %d = arith.addf %sum, %s#1 : f32
      memref.store %c, %C[%i, %j] : memref<?x?xf32>
      memref.store %d, %D[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// C = A B, where B has rows from the 30th on, 10 of them, and ones below.
tile.kernel @operand(%A: !halves, %B: !halves, %C: !sums) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<50x21xf32>
  %ones = arith.constant dense<1.0> : tensor<21x21xf16>
  %c30 = arith.constant 30 : index
  %a = tile.load %A[%c0, %c0] : !halves -> tensor<50x21xf16>
  %b = tile.load %B[%c30, %c0] pass_thru %ones : tensor<21x21xf16> : !halves -> tensor<21x21xf16>
  %c = tile.mma %a, %b, %zero : tensor<50x21xf16>, tensor<21x21xf16>, tensor<50x21xf32>
  tile.store %c, %C[%c0, %c0] : tensor<50x21xf32>, !sums
}
func.func @operand_ref(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) attributes {girih.tol = 1.0e-3 : f64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c21 = arith.constant 21 : index
  %c30 = arith.constant 30 : index
  %c50 = arith.constant 50 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f16
  %rows = memref.dim %B, %c0 : memref<?x?xf16>
  scf.for %i = %c0 to %c50 step %c1 {
    scf.for %j = %c0 to %c21 step %c1 {
      %sum = scf.for %k = %c0 to %c21 step %c1 iter_args(%s = %zero) -> (f32) {
        %x = memref.load %A[%i, %k] : memref<?x?xf16>
        %at = arith.addi %k, %c30 : index
        %in = arith.cmpi ult, %at, %rows : index
        %y = scf.if %in -> (f16) {
          %z = memref.load %B[%at, %j] : memref<?x?xf16>
          scf.yield %z : f16
        } else {
          scf.yield %one : f16
        }
        %xf = arith.extf %x : f16 to f32
        %yf = arith.extf %y : f16 to f32
        %p = arith.mulf %xf, %yf : f32
        %t = arith.addf %s, %p : f32
        scf.yield %t : f32
      }
      memref.store %sum, %C[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
}
