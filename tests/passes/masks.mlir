// Masks, end to end: what is masked off is not read, not stored, and not touched.
// RUN: girih run %s --kernel triangle --device sim --check-memory --arg X=randn:f32[40,60] --arg Y=zeros:f32[40,60] | FileCheck %s
// RUN: girih run %s --kernel triangle --device sim --check-memory --arg X=randn:f32[20,64] --arg Y=ones:f32[20,64] | FileCheck %s
// RUN: girih run %s --kernel rows --device sim --check-memory --arg X=randn:f32[50,33] --arg R=iota:i32[16] --arg Y=zeros:f32[50,33] --arg H=zeros:i32[7] | FileCheck %s
// CHECK: right: Y
// CHECK: no findings
// A product in a loop, of operands under a mask and of other sizes: no copies ahead, which would take the whole.
// RUN: girih run %s --kernel looped --target sm_80 --device sim --arg A=randn:f16[32,96] --arg B=randn:f16[96,32] --arg C=poison:f32[32,32] --arg D=poison:f32[32,32] | FileCheck %s --check-prefix=LOOPED
// LOOPED: right: C
// LOOPED: right: D
//
// Two blocks store one tile each to the same place, under masks that no element has in common: no race. The same without masks is one.
// RUN: girih run %s --kernel halves --device sim --check-memory --arg Y=poison:i32[64] --check Y=iota:i32[64] | FileCheck %s
// RUN: not girih run %s --kernel wholes --device sim --check-memory --arg Y=poison:i32[64] 2>&1 | FileCheck %s --check-prefix=RACE
// RACE: wholes

!matrix = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!vector = memref<?xi32, #tile.global>
!halves = memref<?x?xf16, strided<[?, 1]>, #tile.global>

module {
// The lower triangle of X, and -1 above it; the last 10 rows of Y stay as they are.
tile.kernel @triangle(%X: !matrix, %Y: !matrix) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  %rows = memref.dim %Y, %c0 : !matrix
  %kept = arith.subi %rows, %c10 : index
  %n = arith.index_cast %kept : index to i32
  %i = tile.iota axis 0 : tensor<64x64xi32>
  %j = tile.iota axis 1 : tensor<64x64xi32>
  %below = arith.cmpi sle, %j, %i : tensor<64x64xi32>
  %x = tile.load %X[%c0, %c0] mask %below : tensor<64x64xi1> {pad = -1.0 : f32} : !matrix -> tensor<64x64xf32>
  %ns = tile.splat %n : i32 -> tensor<64x64xi32>
  %head = arith.cmpi slt, %i, %ns : tensor<64x64xi32>
  tile.store %x, %Y[%c0, %c0] mask %head : tensor<64x64xi1> : tensor<64x64xf32>, !matrix
}
func.func @triangle_ref(%X: memref<?x?xf32>, %Y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %rows = memref.dim %Y, %c0 : memref<?x?xf32>
  %columns = memref.dim %Y, %c1 : memref<?x?xf32>
  %kept = arith.subi %rows, %c10 : index
  %low = arith.constant -1.0 : f32
  scf.for %i = %c0 to %kept step %c1 {
    scf.for %j = %c0 to %columns step %c1 {
      %x = memref.load %X[%i, %j] : memref<?x?xf32>
      %below = arith.cmpi ule, %j, %i : index
      %y = arith.select %below, %x, %low : f32
      memref.store %y, %Y[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// Even rows of those that R names are copied, odd columns of them; H counts those that are 1 modulo 4.
tile.kernel @rows(%X: !matrix, %R: !vector, %Y: !matrix, %H: !vector) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1> : tensor<16xi32>
  %three = arith.constant dense<3> : tensor<16xi32>
  %zero = arith.constant dense<0> : tensor<16xi32>
  %ones = arith.constant dense<1> : tensor<16x32xi32>
  %zeros = arith.constant dense<0> : tensor<16x32xi32>
  %r = tile.load %R[%c0] : !vector -> tensor<16xi32>
  %low = arith.andi %r, %one : tensor<16xi32>
  %even = arith.cmpi eq, %low, %zero : tensor<16xi32>
  %column = tile.expand_dims %even axis 1 : tensor<16xi1> -> tensor<16x1xi1>
  %rows = tile.broadcast %column : tensor<16x1xi1> -> tensor<16x32xi1>
  %x = tile.gather %X[%c0] rows %r mask %rows : tensor<16x32xi1> : !matrix, tensor<16xi32> -> tensor<16x32xf32>
  %j = tile.iota axis 1 : tensor<16x32xi32>
  %bit = arith.andi %j, %ones : tensor<16x32xi32>
  %odd = arith.cmpi ne, %bit, %zeros : tensor<16x32xi32>
  tile.scatter %x, %Y[%c0] rows %r mask %odd : tensor<16x32xi1> : tensor<16x32xf32>, !matrix, tensor<16xi32>
  %rest = arith.andi %r, %three : tensor<16xi32>
  %is_one = arith.cmpi eq, %rest, %one : tensor<16xi32>
  tile.atomic_rmw add %one, %H[] rows %r : tensor<16xi32> mask %is_one : tensor<16xi1> : tensor<16xi32>, !vector
  tile.atomic_rmw add %r, %H[%c0] mask %is_one : tensor<16xi1> : tensor<16xi32>, !vector
}
func.func @rows_ref(%X: memref<?x?xf32>, %R: memref<?xi32>, %Y: memref<?x?xf32>, %H: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  // R counts from 0.
  scf.for %i = %c0 to %c16 step %c1 {
    %rest = arith.remui %i, %c2 : index
    %even = arith.cmpi eq, %rest, %c0 : index
    scf.for %j = %c1 to %c32 step %c2 {
      %x = memref.load %X[%i, %j] : memref<?x?xf32>
      %y = arith.select %even, %x, %zero : f32
      memref.store %y, %Y[%i, %j] : memref<?x?xf32>
    }
  }
  scf.for %i = %c1 to %c2 step %c4 {
    %r = memref.load %R[%i] : memref<?xi32>
    %h = arith.addi %r, %one : i32
    memref.store %h, %H[%i] : memref<?xi32>
  }
  %r = memref.load %R[%c5] : memref<?xi32>
  %h = arith.addi %r, %one : i32
  memref.store %h, %H[%c5] : memref<?xi32>
  return
}

// C: columns of A from 24 of each 32 on are left out. D: 24 of each 32 are multiplied.
tile.kernel @looped(%A: !halves, %B: !halves, %C: !matrix, %D: !matrix) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c96 = arith.constant 96 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %j = tile.iota axis 1 : tensor<32x32xi32>
  %n = arith.constant dense<24> : tensor<32x32xi32>
  %m = arith.cmpi slt, %j, %n : tensor<32x32xi32>
  %c = scf.for %k = %c0 to %c96 step %c32 iter_args(%acc = %zero) -> (tensor<32x32xf32>) {
    %a = tile.load %A[%c0, %k] mask %m : tensor<32x32xi1> : !halves -> tensor<32x32xf16>
    %b = tile.load %B[%k, %c0] : !halves -> tensor<32x32xf16>
    %next = tile.mma %a, %b, %acc : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
    scf.yield %next : tensor<32x32xf32>
  }
  tile.store %c, %C[%c0, %c0] : tensor<32x32xf32>, !matrix
  %d = scf.for %k = %c0 to %c96 step %c32 iter_args(%acc = %zero) -> (tensor<32x32xf32>) {
    %a = tile.load %A[%c0, %k] : !halves -> tensor<32x24xf16>
    %b = tile.load %B[%k, %c0] : !halves -> tensor<24x32xf16>
    %next = tile.mma %a, %b, %acc : tensor<32x24xf16>, tensor<24x32xf16>, tensor<32x32xf32>
    scf.yield %next : tensor<32x32xf32>
  }
  tile.store %d, %D[%c0, %c0] : tensor<32x32xf32>, !matrix
}
func.func @looped_ref(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32> {girih.measure = "product", girih.tol = 1.0e-4 : f64}, %D: memref<?x?xf32> {girih.measure = "product", girih.tol = 1.0e-4 : f64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c24 = arith.constant 24 : index
  %c32 = arith.constant 32 : index
  %c96 = arith.constant 96 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c32 step %c1 {
    scf.for %j = %c0 to %c32 step %c1 {
      %sum = scf.for %k = %c0 to %c96 step %c1 iter_args(%s = %zero) -> (f32) {
        %a = memref.load %A[%i, %k] : memref<?x?xf16>
        %b = memref.load %B[%k, %j] : memref<?x?xf16>
        %x = arith.extf %a : f16 to f32
        %y = arith.extf %b : f16 to f32
        %p = arith.mulf %x, %y : f32
        %rest = arith.remui %k, %c32 : index
        %counts = arith.cmpi ult, %rest, %c24 : index
        %q = arith.select %counts, %p, %zero : f32
        %t = arith.addf %s, %q : f32
        scf.yield %t : f32
      }
      memref.store %sum, %C[%i, %j] : memref<?x?xf32>
      memref.store %sum, %D[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

tile.kernel @halves(%Y: !vector) threads(32) launch {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.grid %c2, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %block = tile.block_id x
  %b = arith.index_cast %block : index to i32
  %bs = tile.splat %b : i32 -> tensor<64xi32>
  %one = arith.constant dense<1> : tensor<64xi32>
  %i = tile.iota axis 0 : tensor<64xi32>
  %low = arith.andi %i, %one : tensor<64xi32>
  %own = arith.cmpi eq, %low, %bs : tensor<64xi32>
  tile.store %i, %Y[%c0] mask %own : tensor<64xi1> : tensor<64xi32>, !vector
}

tile.kernel @wholes(%Y: !vector) threads(32) launch {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.grid %c2, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %block = tile.block_id x
  %b = arith.index_cast %block : index to i32
  %bs = tile.splat %b : i32 -> tensor<64xi32>
  tile.store %bs, %Y[%c0] : tensor<64xi32>, !vector
}
}
