// Tiles combined with memory that others change: with and without an instruction of PTX, with and without what was there.
// RUN: girih run %s --kernel extremes --device sim --check-memory --arg "X=uniform(low=-50,high=50):f32[256]" --arg R=uniform(low=0,high=12):i32[256] --arg A=zeros:f32[16] --arg "B=full(3):f32[16]" --arg C=zeros:f64[16] --arg D=zeros:f16[16] --arg E=zeros:bf16[16] 2>/dev/null | FileCheck %s --check-prefix=EXTREMES
// EXTREMES: right: A: all 16 elements are exact
// EXTREMES: right: B: all 16 elements are exact
// EXTREMES: right: C: all 16 elements are exact
// EXTREMES: right: D: all 16 elements are exact
// EXTREMES: right: E: all 16 elements are exact
// RUN: girih run %s --kernel halves --device sim --check-memory --arg X=iota:i16[64] --arg A=zeros:i16[4] --arg B=ones:i32[4] --arg C=zeros:i16[64] 2>/dev/null | FileCheck %s --check-prefix=HALVES
// HALVES: right: A: all 4 elements are exact
// HALVES: right: B: all 4 elements are exact
// HALVES: right: C: all 64 elements are exact
// RUN: girih run %s --kernel tickets --device sim --check-memory --arg N=zeros:i32[] --arg Y=zeros:i32[8] 2>/dev/null | FileCheck %s --check-prefix=TICKETS
// TICKETS: right: N: all 1 elements are exact
// TICKETS: right: Y: all 8 elements are exact
// RUN: girih run %s --kernel last_block --device sim --check-memory --arg X=iota:i32[1024] --arg P=poison:i32[8] --arg N=zeros:i32[] --arg Y=zeros:i32[] 2>/dev/null | FileCheck %s --check-prefix=LAST
// LAST: right: Y: all 1 elements are exact
// RUN: girih run %s --kernel old --device sim --check-memory --arg X=iota:i32[8] --arg M=iota:i32[12] --arg Y=poison:i32[8] --arg Z=poison:i32[8] --arg S=poison:i32[] 2>/dev/null | FileCheck %s --check-prefix=OLD
// OLD: right: M: all 12 elements are exact
// OLD: right: Y: all 8 elements are exact
// OLD: right: Z: all 8 elements are exact
// OLD: right: S: all 1 elements are exact
// RUN: girih compile %s --target sm_90a --emit ptx -o - 2>/dev/null | FileCheck %s --check-prefix=PTX
// RUN: girih compile %s --target sm_80 --emit ptx -o - 2>/dev/null | FileCheck %s --check-prefix=SM80

// What PTX has no instruction for goes round a compare-and-swap, which is left out where it would change nothing.
// PTX-LABEL: .entry extremes(
// PTX: ld.relaxed.gpu.global.b32
// PTX: @%p{{[0-9]+}} atom.relaxed.gpu.global.cas.b32
// SM80-LABEL: .entry extremes(
// SM80: atom.relaxed.gpu.global.cas.b16
tile.kernel @extremes(%X: memref<256xf32, #tile.global>, %R: memref<256xi32, #tile.global>, %A: memref<16xf32, #tile.global>, %B: memref<16xf32, #tile.global>, %C: memref<16xf64, #tile.global>, %D: memref<16xf16, #tile.global>, %E: memref<16xbf16, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<256xf32, #tile.global> -> tensor<256xf32>
  %r = tile.load %R[%c0] : memref<256xi32, #tile.global> -> tensor<256xi32>
  tile.atomic_rmw maximumf %x, %A[] rows %r : tensor<256xi32> : tensor<256xf32>, memref<16xf32, #tile.global>
  tile.atomic_rmw minnumf %x, %B[] rows %r : tensor<256xi32> : tensor<256xf32>, memref<16xf32, #tile.global>
  %wide = arith.extf %x : tensor<256xf32> to tensor<256xf64>
  tile.atomic_rmw minimumf %wide, %C[] rows %r : tensor<256xi32> : tensor<256xf64>, memref<16xf64, #tile.global>
  %half = arith.truncf %x : tensor<256xf32> to tensor<256xf16>
  tile.atomic_rmw maxnumf %half, %D[] rows %r : tensor<256xi32> : tensor<256xf16>, memref<16xf16, #tile.global>
  // Sums of one are exact.
  %one = arith.constant dense<1.0> : tensor<256xbf16>
  tile.atomic_rmw add %one, %E[] rows %r : tensor<256xi32> : tensor<256xbf16>, memref<16xbf16, #tile.global>
}

func.func @extremes_ref(%X: memref<?xf32>, %R: memref<?xi32>, %A: memref<?xf32>, %B: memref<?xf32>, %C: memref<?xf64>, %D: memref<?xf16>, %E: memref<?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c256 = arith.constant 256 : index
  %one = arith.constant 1.0 : bf16
  scf.for %i = %c0 to %c256 step %c1 {
    %x = memref.load %X[%i] : memref<?xf32>
    %n = memref.load %R[%i] : memref<?xi32>
    %row = arith.index_cast %n : i32 to index
    %inside = arith.cmpi ult, %row, %c16 : index
    scf.if %inside {
      %a = memref.load %A[%row] : memref<?xf32>
      %a_new = arith.maximumf %a, %x : f32
      memref.store %a_new, %A[%row] : memref<?xf32>
      %b = memref.load %B[%row] : memref<?xf32>
      %b_new = arith.minnumf %b, %x : f32
      memref.store %b_new, %B[%row] : memref<?xf32>
      %wide = arith.extf %x : f32 to f64
      %c = memref.load %C[%row] : memref<?xf64>
      %c_new = arith.minimumf %c, %wide : f64
      memref.store %c_new, %C[%row] : memref<?xf64>
      %half = arith.truncf %x : f32 to f16
      %d = memref.load %D[%row] : memref<?xf16>
      %d_new = arith.maxnumf %d, %half : f16
      memref.store %d_new, %D[%row] : memref<?xf16>
      %e = memref.load %E[%row] : memref<?xbf16>
      %e_new = arith.addf %e, %one : bf16
      memref.store %e_new, %E[%row] : memref<?xbf16>
    }
  }
  return
}

// Half words, whose neighbours stay as they are; a product.
tile.kernel @halves(%X: memref<64xi16, #tile.global>, %A: memref<4xi16, #tile.global>, %B: memref<4xi32, #tile.global>, %C: memref<64xi16, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<64xi16, #tile.global> -> tensor<64xi16>
  %rows = arith.extui %x : tensor<64xi16> to tensor<64xi32>
  %three = arith.constant dense<3> : tensor<64xi32>
  %quarter = arith.andi %rows, %three : tensor<64xi32>
  tile.atomic_rmw add %x, %A[] rows %quarter : tensor<64xi32> : tensor<64xi16>, memref<4xi16, #tile.global>
  tile.atomic_rmw mul %three, %B[] rows %quarter : tensor<64xi32> : tensor<64xi32>, memref<4xi32, #tile.global>
  tile.atomic_rmw exch %x, %C[%c0] : tensor<64xi16>, memref<64xi16, #tile.global>
}

func.func @halves_ref(%X: memref<?xi16>, %A: memref<?xi16>, %B: memref<?xi32>, %C: memref<?xi16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %three = arith.constant 3 : i32
  scf.for %i = %c0 to %c64 step %c1 {
    %x = memref.load %X[%i] : memref<?xi16>
    %row = arith.remui %i, %c4 : index
    %a = memref.load %A[%row] : memref<?xi16>
    %a_new = arith.addi %a, %x : i16
    memref.store %a_new, %A[%row] : memref<?xi16>
    %b = memref.load %B[%row] : memref<?xi32>
    %b_new = arith.muli %b, %three : i32
    memref.store %b_new, %B[%row] : memref<?xi32>
    memref.store %x, %C[%i] : memref<?xi16>
  }
  return
}

// One number for each block: every thread knows it.
// PTX-LABEL: .entry tickets(
// PTX: atom.relaxed.gpu.global.add.u32
tile.kernel @tickets(%N: memref<i32, #tile.global>, %Y: memref<?xi32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  tile.grid %c8, %c1, %c1
} body {
  %one = arith.constant dense<1> : tensor<i32>
  %ticket = tile.atomic_rmw add %one, %N[] : tensor<i32>, memref<i32, #tile.global> -> tensor<i32>
  %n = tensor.extract %ticket[] : tensor<i32>
  %i = arith.index_cast %n : i32 to index
  %next = arith.addi %ticket, %one : tensor<i32>
  %y = tile.expand_dims %next axis 0 : tensor<i32> -> tensor<1xi32>
  tile.store %y, %Y[%i] : tensor<1xi32>, memref<?xi32, #tile.global>
}

func.func @tickets_ref(%N: memref<i32>, %Y: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %eight = arith.constant 8 : i32
  memref.store %eight, %N[] : memref<i32>
  scf.for %i = %c0 to %c8 step %c1 {
    %next = arith.addi %i, %c1 : index
    %y = arith.index_cast %next : index to i32
    memref.store %y, %Y[%i] : memref<?xi32>
  }
  return
}

// A sum in one launch: the block that comes last adds what the others left.
// PTX-LABEL: .entry last_block(
// PTX: bar.sync
// PTX: atom.acq_rel.gpu.global.add.u32
// PTX: bar.sync
tile.kernel @last_block(%X: memref<?xi32, #tile.global>, %P: memref<8xi32, #tile.global>, %N: memref<i32, #tile.global>, %Y: memref<i32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  tile.grid %c8, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %seven = arith.constant 7 : i32
  %block = tile.block_id x
  %start = arith.muli %block, %c128 : index
  %x = tile.load %X[%start] : memref<?xi32, #tile.global> -> tensor<128xi32>
  %sum = tile.reduce %x axis 0 (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  } : tensor<128xi32> -> tensor<i32>
  %part = tile.expand_dims %sum axis 0 : tensor<i32> -> tensor<1xi32>
  tile.store %part, %P[%block] : tensor<1xi32>, memref<8xi32, #tile.global>
  %one = arith.constant dense<1> : tensor<i32>
  %ticket = tile.atomic_rmw add %one, %N[] sem acq_rel : tensor<i32>, memref<i32, #tile.global> -> tensor<i32>
  %n = tensor.extract %ticket[] : tensor<i32>
  %last = arith.cmpi eq, %n, %seven : i32
  scf.if %last {
    %p = tile.load %P[%c0] : memref<8xi32, #tile.global> -> tensor<8xi32>
    %all = tile.reduce %p axis 0 (%a: i32, %b: i32) {
      %s = arith.addi %a, %b : i32
      tile.yield %s : i32
    } : tensor<8xi32> -> tensor<i32>
    tile.store %all, %Y[] : tensor<i32>, memref<i32, #tile.global>
  }
}

func.func @last_block_ref(%X: memref<?xi32>, %P: memref<?xi32>, %N: memref<i32>, %Y: memref<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0 : i32
  %eight = arith.constant 8 : i32
  memref.store %eight, %N[] : memref<i32>
  %all = scf.for %b = %c0 to %c8 step %c1 iter_args(%sum = %zero) -> (i32) {
    %part = scf.for %i = %c0 to %c128 step %c1 iter_args(%s = %zero) -> (i32) {
      %start = arith.muli %b, %c128 : index
      %at = arith.addi %start, %i : index
      %x = memref.load %X[%at] : memref<?xi32>
      %t = arith.addi %s, %x : i32
      scf.yield %t : i32
    }
    memref.store %part, %P[%b] : memref<?xi32>
    %t = arith.addi %sum, %part : i32
    scf.yield %t : i32
  }
  memref.store %all, %Y[] : memref<i32>
  return
}

// What was there reaches all threads that hold the element: lanes of one warp, and other warps. Past the edge it is zero.
tile.kernel @old(%X: memref<8xi32, #tile.global>, %M: memref<12xi32, #tile.global>, %Y: memref<8xi32, #tile.global>, %Z: memref<8xi32, #tile.global>, %S: memref<i32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %x = tile.load %X[%c0] : memref<8xi32, #tile.global> -> tensor<8xi32>
  %ten = arith.constant dense<10> : tensor<8xi32>
  %y = tile.atomic_rmw exch %ten, %M[%c6] : tensor<8xi32>, memref<12xi32, #tile.global> -> tensor<8xi32>
  tile.store %y, %Y[%c0] : tensor<8xi32>, memref<8xi32, #tile.global>
  // Of eight places those that hold what is compared with are changed.
  %nine = arith.constant dense<9> : tensor<8xi32>
  %even = arith.constant dense<-2> : tensor<8xi32>
  %compare = arith.andi %x, %even : tensor<8xi32>
  %z = tile.atomic_rmw cas %nine, %M[%c0] compare %compare : tensor<8xi32> : tensor<8xi32>, memref<12xi32, #tile.global> -> tensor<8xi32>
  tile.store %z, %Z[%c0] : tensor<8xi32>, memref<8xi32, #tile.global>
  %s = tile.reduce %z axis 0 (%a: i32, %b: i32) {
    %sum = arith.addi %a, %b : i32
    tile.yield %sum : i32
  } : tensor<8xi32> -> tensor<i32>
  tile.store %s, %S[] : tensor<i32>, memref<i32, #tile.global>
}

func.func @old_ref(%X: memref<?xi32>, %M: memref<?xi32>, %Y: memref<?xi32>, %Z: memref<?xi32>, %S: memref<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  %zero = arith.constant 0 : i32
  %even = arith.constant -2 : i32
  %nine = arith.constant 9 : i32
  %ten = arith.constant 10 : i32
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
  %all = scf.for %i = %c0 to %c8 step %c1 iter_args(%sum = %zero) -> (i32) {
    %x = memref.load %X[%i] : memref<?xi32>
    %compare = arith.andi %x, %even : i32
    %m = memref.load %M[%i] : memref<?xi32>
    %equal = arith.cmpi eq, %m, %compare : i32
    %new = arith.select %equal, %nine, %m : i32
    memref.store %new, %M[%i] : memref<?xi32>
    memref.store %m, %Z[%i] : memref<?xi32>
    %t = arith.addi %sum, %m : i32
    scf.yield %t : i32
  }
  memref.store %all, %S[] : memref<i32>
  return
}
