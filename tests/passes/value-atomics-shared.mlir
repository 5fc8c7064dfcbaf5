// Tiles combined with shared memory that other threads of the block change: with and without an instruction of PTX, with and
// without what was there, under a swizzle, and past the edges, where nothing happens.
// RUN: girih run %s --kernel counts --device sim --check-memory --arg X=iota:i32[3,300] --arg H=zeros:i32[64] | FileCheck %s --check-prefix=COUNTS
// COUNTS: right: H: all 64 elements are exact
// COUNTS: no findings
// RUN: girih run %s --kernel extremes --device sim --check-memory --arg "X=uniform(low=-50,high=50):f32[256]" --arg R=uniform(low=-3,high=19):i32[256] --arg A=poison:f32[16] --arg B=poison:f64[16] --arg C=poison:f16[16] --arg D=poison:bf16[16] --arg E=poison:i16[16] --arg F=poison:i64[16] | FileCheck %s --check-prefix=EXTREMES
// EXTREMES: right: A: all 16 elements are exact
// EXTREMES: right: B: all 16 elements are exact
// EXTREMES: right: C: all 16 elements are exact
// EXTREMES: right: D: all 16 elements are exact
// EXTREMES: right: E: all 16 elements are exact
// EXTREMES: right: F: all 16 elements are exact
// EXTREMES: no findings
// RUN: girih run %s --kernel old --device sim --check-memory --arg X=iota:i32[8] --arg Y=poison:i32[8] --arg Z=poison:i32[8] --arg M=poison:i32[12] --arg N=poison:i32[] | FileCheck %s --check-prefix=OLD
// OLD: right: Y: all 8 elements are exact
// OLD: right: Z: all 8 elements are exact
// OLD: right: M: all 12 elements are exact
// OLD: right: N: all 1 elements are exact
// OLD: no findings
// RUN: girih run %s --kernel swizzled --device sim --check-memory --arg R=uniform(low=-3,high=19):i32[32] --arg column=i64:5 --arg Y=poison:i32[2,16,32] | FileCheck %s --check-prefix=SWIZZLED
// SWIZZLED: right: Y: all 1024 elements are exact
// SWIZZLED: no findings
// RUN: girih run %s --kernel swapped --device sim --check-memory --arg X=iota:i32[64] --arg Y=poison:i32[64] --arg Z=poison:i16[64] | FileCheck %s --check-prefix=SWAPPED
// RUN: girih run %s --target sm_80 --kernel swapped --device sim --check-memory --arg X=iota:i32[64] --arg Y=poison:i32[64] --arg Z=poison:i16[64] | FileCheck %s --check-prefix=SWAPPED
// SWAPPED: right: Y: all 64 elements are exact
// SWAPPED: right: Z: all 64 elements are exact
// SWAPPED: no findings
// RUN: girih compile %s --target sm_90a --emit ptx -o - 2>/dev/null | FileCheck %s --check-prefix=PTX
// RUN: girih compile %s --target sm_80 --emit ptx -o - 2>/dev/null | FileCheck %s --check-prefix=SM80
// RUN: girih compile %s --target sm_90a --emit cubin -o %t.90.cubin
// RUN: girih compile %s --target sm_80 --emit cubin -o %t.80.cubin

// A barrier between the zeros and the counts, none among the counts, one before they are read.
// PTX-LABEL: .entry counts(
// PTX: st.shared
// PTX: bar.sync
// PTX-NOT: bar.sync
// PTX: @%p{{[0-9]+}} red.relaxed.cta.shared.add.u32 [%r{{[0-9]+}}], %r{{[0-9]+}};
// PTX-NOT: bar.sync
// PTX: red.relaxed.cta.shared.add.u32
// PTX: bar.sync
// PTX-NOT: bar.sync
// PTX: red.relaxed.gpu.global.add.u32
tile.kernel @counts(%X: memref<?x?xi32, strided<[?, 1]>, #tile.global>, %H: memref<64xi32, #tile.global>) threads(64) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %X, %c0 : memref<?x?xi32, strided<[?, 1]>, #tile.global>
  tile.grid %rows, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %n = memref.dim %X, %c1 : memref<?x?xi32, strided<[?, 1]>, #tile.global>
  %row = tile.block_id x
  %counts = tile.alloc : memref<64xi32, #tile.shared>
  %zero = arith.constant dense<0> : tensor<64xi32>
  %one = arith.constant dense<1> : tensor<1x128xi32>
  %ones = tile.reshape %one : tensor<1x128xi32> -> tensor<128xi32>
  %few = arith.constant dense<127> : tensor<128xi32>
  tile.store %zero, %counts[%c0] : tensor<64xi32>, memref<64xi32, #tile.shared>
  scf.for %j = %c0 to %n step %c128 {
    %x = tile.load %X[%row, %j] {pad = 100 : i32} : memref<?x?xi32, strided<[?, 1]>, #tile.global> -> tensor<1x128xi32>
    %flat = tile.reshape %x : tensor<1x128xi32> -> tensor<128xi32>
    %place = arith.andi %flat, %few : tensor<128xi32>
    tile.atomic_rmw add %ones, %counts[] rows %place : tensor<128xi32> : tensor<128xi32>, memref<64xi32, #tile.shared>
  }
  %all = tile.load %counts[%c0] : memref<64xi32, #tile.shared> -> tensor<64xi32>
  tile.atomic_rmw add %all, %H[%c0] : tensor<64xi32>, memref<64xi32, #tile.global>
}

func.func @counts_ref(%X: memref<?x?xi32>, %H: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %few = arith.constant 127 : i32
  %one = arith.constant 1 : i32
  %m = memref.dim %X, %c0 : memref<?x?xi32>
  %n = memref.dim %X, %c1 : memref<?x?xi32>
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %x = memref.load %X[%i, %j] : memref<?x?xi32>
      %place = arith.andi %x, %few : i32
      %k = arith.index_cast %place : i32 to index
      %inside = arith.cmpi ult, %k, %c64 : index
      scf.if %inside {
        %h = memref.load %H[%k] : memref<?xi32>
        %g = arith.addi %h, %one : i32
        memref.store %g, %H[%k] : memref<?xi32>
      }
    }
  }
  return
}

// Loops around a compare-and-swap, at the block's scope.
// PTX-LABEL: .entry extremes(
// PTX: ld.relaxed.cta.shared.b32
// PTX: @%p{{[0-9]+}} atom.relaxed.cta.shared.cas.b32
// PTX: ld.relaxed.cta.shared.b64
// PTX: atom.relaxed.cta.shared.cas.b64
// PTX: ld.relaxed.cta.shared.b16
// PTX: atom.relaxed.cta.shared.cas.b16
// PTX: red.relaxed.cta.shared.add.noftz.bf16
// PTX: atom.relaxed.cta.shared.cas.b16
// PTX: red.relaxed.gpu.shared.max.s64
// SM80-LABEL: .entry extremes(
// SM80-NOT: add.noftz.bf16
// SM80: red.relaxed.gpu.shared.max.s64
tile.kernel @extremes(%X: memref<256xf32, #tile.global>, %R: memref<256xi32, #tile.global>, %A: memref<16xf32, #tile.global>, %B: memref<16xf64, #tile.global>, %C: memref<16xf16, #tile.global>, %D: memref<16xbf16, #tile.global>, %E: memref<16xi16, #tile.global>, %F: memref<16xi64, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<256xf32, #tile.global> -> tensor<256xf32>
  %r = tile.load %R[%c0] : memref<256xi32, #tile.global> -> tensor<256xi32>
  %a = tile.alloc : memref<16xf32, #tile.shared>
  %b = tile.alloc : memref<16xf64, #tile.shared>
  %c = tile.alloc : memref<16xf16, #tile.shared>
  %d = tile.alloc : memref<16xbf16, #tile.shared>
  %e = tile.alloc : memref<16xi16, #tile.shared>
  %f = tile.alloc : memref<16xi64, #tile.shared>
  %a0 = arith.constant dense<0.0> : tensor<16xf32>
  %b0 = arith.constant dense<0.0> : tensor<16xf64>
  %c0h = arith.constant dense<0.0> : tensor<16xf16>
  %d0 = arith.constant dense<0.0> : tensor<16xbf16>
  %e0 = arith.constant dense<0> : tensor<16xi16>
  %f0 = arith.constant dense<-1000> : tensor<16xi64>
  tile.store %a0, %a[%c0] : tensor<16xf32>, memref<16xf32, #tile.shared>
  tile.store %b0, %b[%c0] : tensor<16xf64>, memref<16xf64, #tile.shared>
  tile.store %c0h, %c[%c0] : tensor<16xf16>, memref<16xf16, #tile.shared>
  tile.store %d0, %d[%c0] : tensor<16xbf16>, memref<16xbf16, #tile.shared>
  tile.store %e0, %e[%c0] : tensor<16xi16>, memref<16xi16, #tile.shared>
  tile.store %f0, %f[%c0] : tensor<16xi64>, memref<16xi64, #tile.shared>
  %wide = arith.extf %x : tensor<256xf32> to tensor<256xf64>
  %half = arith.truncf %x : tensor<256xf32> to tensor<256xf16>
  %one = arith.constant dense<1.0> : tensor<256xbf16>
  %short = arith.trunci %r : tensor<256xi32> to tensor<256xi16>
  %long = arith.fptosi %x : tensor<256xf32> to tensor<256xi64>
  tile.atomic_rmw maximumf %x, %a[] rows %r : tensor<256xi32> : tensor<256xf32>, memref<16xf32, #tile.shared>
  tile.atomic_rmw minimumf %wide, %b[] rows %r : tensor<256xi32> : tensor<256xf64>, memref<16xf64, #tile.shared>
  tile.atomic_rmw maxnumf %half, %c[] rows %r : tensor<256xi32> : tensor<256xf16>, memref<16xf16, #tile.shared>
  tile.atomic_rmw add %one, %d[] rows %r : tensor<256xi32> : tensor<256xbf16>, memref<16xbf16, #tile.shared>
  tile.atomic_rmw add %short, %e[] rows %r : tensor<256xi32> : tensor<256xi16>, memref<16xi16, #tile.shared>
  tile.atomic_rmw maxs %long, %f[] rows %r : tensor<256xi32> scope gpu : tensor<256xi64>, memref<16xi64, #tile.shared>
  %a1 = tile.load %a[%c0] : memref<16xf32, #tile.shared> -> tensor<16xf32>
  %b1 = tile.load %b[%c0] : memref<16xf64, #tile.shared> -> tensor<16xf64>
  %c1h = tile.load %c[%c0] : memref<16xf16, #tile.shared> -> tensor<16xf16>
  %d1 = tile.load %d[%c0] : memref<16xbf16, #tile.shared> -> tensor<16xbf16>
  %e1 = tile.load %e[%c0] : memref<16xi16, #tile.shared> -> tensor<16xi16>
  %f1 = tile.load %f[%c0] : memref<16xi64, #tile.shared> -> tensor<16xi64>
  tile.store %a1, %A[%c0] : tensor<16xf32>, memref<16xf32, #tile.global>
  tile.store %b1, %B[%c0] : tensor<16xf64>, memref<16xf64, #tile.global>
  tile.store %c1h, %C[%c0] : tensor<16xf16>, memref<16xf16, #tile.global>
  tile.store %d1, %D[%c0] : tensor<16xbf16>, memref<16xbf16, #tile.global>
  tile.store %e1, %E[%c0] : tensor<16xi16>, memref<16xi16, #tile.global>
  tile.store %f1, %F[%c0] : tensor<16xi64>, memref<16xi64, #tile.global>
}

func.func @extremes_ref(%X: memref<?xf32>, %R: memref<?xi32>, %A: memref<?xf32>, %B: memref<?xf64>, %C: memref<?xf16>, %D: memref<?xbf16>, %E: memref<?xi16>, %F: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c256 = arith.constant 256 : index
  %a0 = arith.constant 0.0 : f32
  %b0 = arith.constant 0.0 : f64
  %c0h = arith.constant 0.0 : f16
  %d0 = arith.constant 0.0 : bf16
  %e0 = arith.constant 0 : i16
  %f0 = arith.constant -1000 : i64
  %one = arith.constant 1.0 : bf16
  linalg.fill ins(%a0 : f32) outs(%A : memref<?xf32>)
  linalg.fill ins(%b0 : f64) outs(%B : memref<?xf64>)
  linalg.fill ins(%c0h : f16) outs(%C : memref<?xf16>)
  linalg.fill ins(%d0 : bf16) outs(%D : memref<?xbf16>)
  linalg.fill ins(%e0 : i16) outs(%E : memref<?xi16>)
  linalg.fill ins(%f0 : i64) outs(%F : memref<?xi64>)
  scf.for %i = %c0 to %c256 step %c1 {
    %x = memref.load %X[%i] : memref<?xf32>
    %n = memref.load %R[%i] : memref<?xi32>
    %row = arith.index_cast %n : i32 to index
    %inside = arith.cmpi ult, %row, %c16 : index
    scf.if %inside {
      %a = memref.load %A[%row] : memref<?xf32>
      %a_new = arith.maximumf %a, %x : f32
      memref.store %a_new, %A[%row] : memref<?xf32>
      %wide = arith.extf %x : f32 to f64
      %b = memref.load %B[%row] : memref<?xf64>
      %b_new = arith.minimumf %b, %wide : f64
      memref.store %b_new, %B[%row] : memref<?xf64>
      %half = arith.truncf %x : f32 to f16
      %c = memref.load %C[%row] : memref<?xf16>
      %c_new = arith.maxnumf %c, %half : f16
      memref.store %c_new, %C[%row] : memref<?xf16>
      %d = memref.load %D[%row] : memref<?xbf16>
      %d_new = arith.addf %d, %one : bf16
      memref.store %d_new, %D[%row] : memref<?xbf16>
      %short = arith.trunci %n : i32 to i16
      %e = memref.load %E[%row] : memref<?xi16>
      %e_new = arith.addi %e, %short : i16
      memref.store %e_new, %E[%row] : memref<?xi16>
      %long = arith.fptosi %x : f32 to i64
      %f = memref.load %F[%row] : memref<?xi64>
      %f_new = arith.maxsi %f, %long : i64
      memref.store %f_new, %F[%row] : memref<?xi64>
    }
  }
  return
}

// What was there reaches all threads that hold the element. Past the edge it is zero, and nothing is changed.
// PTX-LABEL: .entry old(
// PTX: atom.relaxed.cta.shared.exch.b32
// PTX: atom.relaxed.cta.shared.cas.b32
// PTX: atom.acq_rel.cta.shared.add.u32
tile.kernel @old(%X: memref<8xi32, #tile.global>, %Y: memref<8xi32, #tile.global>, %Z: memref<8xi32, #tile.global>, %M: memref<12xi32, #tile.global>, %N: memref<i32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %m = tile.alloc : memref<12xi32, #tile.shared>
  %n = tile.alloc : memref<i32, #tile.shared>
  %iota = tile.iota axis 0 : tensor<12xi32>
  %seven = arith.constant dense<7> : tensor<i32>
  tile.store %iota, %m[%c0] : tensor<12xi32>, memref<12xi32, #tile.shared>
  tile.store %seven, %n[] : tensor<i32>, memref<i32, #tile.shared>
  %x = tile.load %X[%c0] : memref<8xi32, #tile.global> -> tensor<8xi32>
  %ten = arith.constant dense<10> : tensor<8xi32>
  %y = tile.atomic_rmw exch %ten, %m[%c6] : tensor<8xi32>, memref<12xi32, #tile.shared> -> tensor<8xi32>
  tile.store %y, %Y[%c0] : tensor<8xi32>, memref<8xi32, #tile.global>
  // Of eight places those that hold what is compared with are changed.
  %nine = arith.constant dense<9> : tensor<8xi32>
  %even = arith.constant dense<-2> : tensor<8xi32>
  %compare = arith.andi %x, %even : tensor<8xi32>
  %z = tile.atomic_rmw cas %nine, %m[%c0] compare %compare : tensor<8xi32> : tensor<8xi32>, memref<12xi32, #tile.shared> -> tensor<8xi32>
  tile.store %z, %Z[%c0] : tensor<8xi32>, memref<8xi32, #tile.global>
  // Every thread knows the one element, and one does the operation.
  %old = tile.atomic_rmw add %seven, %n[] sem acq_rel : tensor<i32>, memref<i32, #tile.shared> -> tensor<i32>
  %new = tile.load %n[] : memref<i32, #tile.shared> -> tensor<i32>
  %sum = arith.addi %old, %new : tensor<i32>
  tile.store %sum, %N[] : tensor<i32>, memref<i32, #tile.global>
  %all = tile.load %m[%c0] : memref<12xi32, #tile.shared> -> tensor<12xi32>
  tile.store %all, %M[%c0] : tensor<12xi32>, memref<12xi32, #tile.global>
}

func.func @old_ref(%X: memref<?xi32>, %Y: memref<?xi32>, %Z: memref<?xi32>, %M: memref<?xi32>, %N: memref<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  %zero = arith.constant 0 : i32
  %even = arith.constant -2 : i32
  %nine = arith.constant 9 : i32
  %ten = arith.constant 10 : i32
  // 7 that was there, and 14 that is.
  %all = arith.constant 21 : i32
  memref.store %all, %N[] : memref<i32>
  scf.for %i = %c0 to %c12 step %c1 {
    %m = arith.index_cast %i : index to i32
    memref.store %m, %M[%i] : memref<?xi32>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %at = arith.addi %i, %c6 : index
    %inside = arith.cmpi ult, %at, %c12 : index
    %old = scf.if %inside -> i32 {
      %m = memref.load %M[%at] : memref<?xi32>
      memref.store %ten, %M[%at] : memref<?xi32>
      scf.yield %m : i32
    } else {
      scf.yield %zero : i32
    }
    memref.store %old, %Y[%i] : memref<?xi32>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %x = memref.load %X[%i] : memref<?xi32>
    %compare = arith.andi %x, %even : i32
    %m = memref.load %M[%i] : memref<?xi32>
    %equal = arith.cmpi eq, %m, %compare : i32
    %new = arith.select %equal, %nine, %m : i32
    memref.store %new, %M[%i] : memref<?xi32>
    memref.store %m, %Z[%i] : memref<?xi32>
  }
  return
}

// Rows by their numbers and columns from an index on, in slots of a ring under a swizzle: where tile.load finds them.
// PTX-LABEL: .entry swizzled(
// PTX: xor.b32
// PTX: red.relaxed.cta.shared.add.u32
tile.kernel @swizzled(%R: memref<32xi32, #tile.global>, %column: i64, %Y: memref<2x16x32xi32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  %j = arith.index_cast %column : i64 to index
  %ring = tile.alloc : memref<2x16x32xi32, #tile.shared<swizzle = 128>>
  %first = tile.slab %ring[%c0] : memref<2x16x32xi32, #tile.shared<swizzle = 128>> -> memref<16x32xi32, #tile.shared<swizzle = 128>>
  %second = tile.slab %ring[%c1] : memref<2x16x32xi32, #tile.shared<swizzle = 128>> -> memref<16x32xi32, #tile.shared<swizzle = 128>>
  %row = tile.iota axis 0 : tensor<32x32xi32>
  %place = tile.iota axis 1 : tensor<32x32xi32>
  %c100 = arith.constant dense<100> : tensor<32x32xi32>
  %hundreds = arith.muli %row, %c100 : tensor<32x32xi32>
  %x = arith.addi %hundreds, %place : tensor<32x32xi32>
  %zero = arith.constant dense<0> : tensor<2x16x32xi32>
  tile.store %zero, %ring[%c0, %c0, %c0] : tensor<2x16x32xi32>, memref<2x16x32xi32, #tile.shared<swizzle = 128>>
  %r = tile.load %R[%c0] : memref<32xi32, #tile.global> -> tensor<32xi32>
  %c20 = arith.constant dense<20> : tensor<32x32xi32>
  %few = arith.cmpi ult, %place, %c20 : tensor<32x32xi32>
  tile.atomic_rmw add %x, %first[%j] rows %r : tensor<32xi32> mask %few : tensor<32x32xi1> : tensor<32x32xi32>, memref<16x32xi32, #tile.shared<swizzle = 128>>
  tile.atomic_rmw maxu %x, %second[%c12, %j] : tensor<32x32xi32>, memref<16x32xi32, #tile.shared<swizzle = 128>>
  %y = tile.load %ring[%c0, %c0, %c0] : memref<2x16x32xi32, #tile.shared<swizzle = 128>> -> tensor<2x16x32xi32>
  tile.store %y, %Y[%c0, %c0, %c0] : tensor<2x16x32xi32>, memref<2x16x32xi32, #tile.global>
}

func.func @swizzled_ref(%R: memref<?xi32>, %first_column: i64, %Y: memref<?x?x?xi32>) {
  %j = arith.index_cast %first_column : i64 to index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  %c16 = arith.constant 16 : index
  %c20 = arith.constant 20 : index
  %c32 = arith.constant 32 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%Y : memref<?x?x?xi32>)
  scf.for %i = %c0 to %c32 step %c1 {
    scf.for %k = %c0 to %c32 step %c1 {
      %hundreds = arith.muli %i, %c100 : index
      %sum = arith.addi %hundreds, %k : index
      %x = arith.index_cast %sum : index to i32
      %column = arith.addi %k, %j : index
      %column_inside = arith.cmpi ult, %column, %c32 : index
      %n = memref.load %R[%i] : memref<?xi32>
      %row = arith.index_cast %n : i32 to index
      %row_inside = arith.cmpi ult, %row, %c16 : index
      %few = arith.cmpi ult, %k, %c20 : index
      %inside = arith.andi %row_inside, %column_inside : i1
      %counts = arith.andi %inside, %few : i1
      scf.if %counts {
        %y = memref.load %Y[%c0, %row, %column] : memref<?x?x?xi32>
        %new = arith.addi %y, %x : i32
        memref.store %new, %Y[%c0, %row, %column] : memref<?x?x?xi32>
      }
      %lower = arith.addi %i, %c12 : index
      %lower_inside = arith.cmpi ult, %lower, %c16 : index
      %fits = arith.andi %lower_inside, %column_inside : i1
      scf.if %fits {
        %y = memref.load %Y[%c1, %lower, %column] : memref<?x?x?xi32>
        %new = arith.maxui %y, %x : i32
        memref.store %new, %Y[%c1, %lower, %column] : memref<?x?x?xi32>
      }
    }
  }
  return
}

// What is swapped in where nobody asks what was there needs nothing there: the memory is fresh.
// PTX-LABEL: .entry swapped(
// PTX: atom.relaxed.cta.shared.exch.b32 _,
// PTX: st.release.cta.shared.b16
// SM80-LABEL: .entry swapped(
// SM80: atom.relaxed.cta.shared.exch.b32 _,
// SM80: st.release.cta.shared.b16
tile.kernel @swapped(%X: memref<64xi32, #tile.global>, %Y: memref<64xi32, #tile.global>, %Z: memref<64xi16, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<64xi32, #tile.shared>
  %n = tile.alloc : memref<64xi16, #tile.shared>
  %x = tile.load %X[%c0] : memref<64xi32, #tile.global> -> tensor<64xi32>
  %short = arith.trunci %x : tensor<64xi32> to tensor<64xi16>
  %last = arith.constant dense<63> : tensor<64xi32>
  %other = arith.subi %last, %x : tensor<64xi32>
  tile.atomic_rmw exch %x, %m[] rows %other : tensor<64xi32> : tensor<64xi32>, memref<64xi32, #tile.shared>
  tile.atomic_rmw exch %short, %n[] rows %other : tensor<64xi32> sem release : tensor<64xi16>, memref<64xi16, #tile.shared>
  %y = tile.load %m[%c0] : memref<64xi32, #tile.shared> -> tensor<64xi32>
  %z = tile.load %n[%c0] : memref<64xi16, #tile.shared> -> tensor<64xi16>
  tile.store %y, %Y[%c0] : tensor<64xi32>, memref<64xi32, #tile.global>
  tile.store %z, %Z[%c0] : tensor<64xi16>, memref<64xi16, #tile.global>
}

func.func @swapped_ref(%X: memref<?xi32>, %Y: memref<?xi32>, %Z: memref<?xi16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %x = memref.load %X[%i] : memref<?xi32>
    %short = arith.trunci %x : i32 to i16
    %other = arith.subi %c63, %i : index
    memref.store %x, %Y[%other] : memref<?xi32>
    memref.store %short, %Z[%other] : memref<?xi16>
  }
  return
}
