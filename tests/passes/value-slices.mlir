// Parts of tiles, wherever they start: cut out, put in, side by side.
// RUN: girih run %s --kernel windows --device sim --check-memory --arg X=iota:i32[128] --arg n=i64:37 --arg A=poison:i32[8] --arg B=poison:i32[32] --arg C=poison:i32[64] --arg D=poison:i32[128] 2>/dev/null | FileCheck %s --check-prefix=WINDOWS
// RUN: girih run %s --kernel windows --device sim --arg X=iota:i32[128] --arg n=i64:-5 --arg A=poison:i32[8] --arg B=poison:i32[32] --arg C=poison:i32[64] --arg D=poison:i32[128] 2>/dev/null | FileCheck %s --check-prefix=WINDOWS
// RUN: girih run %s --kernel windows --device sim --arg X=iota:i32[128] --arg n=i64:4294967296 --arg A=poison:i32[8] --arg B=poison:i32[32] --arg C=poison:i32[64] --arg D=poison:i32[128] 2>/dev/null | FileCheck %s --check-prefix=WINDOWS
// WINDOWS: right: A: all 8 elements are exact
// WINDOWS: right: B: all 32 elements are exact
// WINDOWS: right: C: all 64 elements are exact
// WINDOWS: right: D: all 128 elements are exact
// RUN: girih run %s --kernel blur --device sim --check-memory --arg X=iota:f32[300] --arg Y=poison:f32[300] 2>/dev/null | FileCheck %s --check-prefix=BLUR
// BLUR: right: Y: all 300 elements
// RUN: girih run %s --kernel cache --device sim --check-memory --arg X=iota:i8[16,32] --arg R=ones:i8[32] --arg n=i64:11 --arg Y=poison:i8[16,32] 2>/dev/null | FileCheck %s --check-prefix=CACHE
// RUN: girih run %s --kernel cache --device sim --arg X=iota:i8[16,32] --arg R=ones:i8[32] --arg n=i64:16 --arg Y=poison:i8[16,32] 2>/dev/null | FileCheck %s --check-prefix=CACHE
// CACHE: right: Y: all 512 elements are exact
// RUN: girih run %s --kernel three --device sim --check-memory --arg X=iota:f16[16,64] --arg Y=poison:f16[16,64] 2>/dev/null | FileCheck %s --check-prefix=THREE
// THREE: right: Y: all 1024 elements are exact
// RUN: girih run %s --kernel planes --device sim --check-memory --arg X=iota:i32[8,16] --arg Y=poison:i32[4,16] --arg Z=poison:i32[32,16] 2>/dev/null | FileCheck %s --check-prefix=PLANES
// PLANES: right: Y: all 64 elements are exact
// PLANES: right: Z: all 512 elements are exact
// RUN: girih-opt %s --tile-assign-layouts --tile-allocate-scratch 2>/dev/null | FileCheck %s --check-prefix=WAY

// A part goes through the block's memory once, as a whole; where threads hold it, nothing moves.
// WAY-LABEL: tile.kernel @windows
// WAY: tile.alloc : memref<512xi8, #tile.shared>
// WAY-NOT: tile.convert_layout
// WAY: tile.extract_slice %{{.*}} scratch %{{.*}} : memref<512xi8, #tile.shared> at [5] :
tile.kernel @windows(%X: memref<128xi32, #tile.global>, %n: i64, %A: memref<8xi32, #tile.global>, %B: memref<32xi32, #tile.global>, %C: memref<64xi32, #tile.global>, %D: memref<128xi32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<128xi32, #tile.global> -> tensor<128xi32>
  %a = tile.extract_slice %x at [5] : tensor<128xi32> -> tensor<8xi32>
  tile.store %a, %A[%c0] : tensor<8xi32>, memref<8xi32, #tile.global>
  %i = arith.index_cast %n : i64 to index
  %b = tile.extract_slice %x at [%i] : tensor<128xi32> -> tensor<32xi32>
  tile.store %b, %B[%c0] : tensor<32xi32>, memref<32xi32, #tile.global>
  %c = tile.extract_slice %x at [1] strides [2] : tensor<128xi32> -> tensor<64xi32>
  tile.store %c, %C[%c0] : tensor<64xi32>, memref<64xi32, #tile.global>
  %d = tile.extract_slice %x at [127] strides [-1] : tensor<128xi32> -> tensor<128xi32>
  tile.store %d, %D[%c0] : tensor<128xi32>, memref<128xi32, #tile.global>
}

func.func @windows_ref(%X: memref<?xi32>, %n: i64, %A: memref<?xi32>, %B: memref<?xi32>, %C: memref<?xi32>, %D: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c127 = arith.constant 127 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0 : i32
  %start = arith.index_cast %n : i64 to index
  scf.for %i = %c0 to %c8 step %c1 {
    %at = arith.addi %i, %c5 : index
    %x = memref.load %X[%at] : memref<?xi32>
    memref.store %x, %A[%i] : memref<?xi32>
  }
  scf.for %i = %c0 to %c32 step %c1 {
    %at = arith.addi %i, %start : index
    %inside = arith.cmpi ult, %at, %c128 : index
    %x = scf.if %inside -> i32 {
      %y = memref.load %X[%at] : memref<?xi32>
      scf.yield %y : i32
    } else {
      scf.yield %zero : i32
    }
    memref.store %x, %B[%i] : memref<?xi32>
  }
  scf.for %i = %c0 to %c64 step %c1 {
    %twice = arith.muli %i, %c2 : index
    %at = arith.addi %twice, %c1 : index
    %x = memref.load %X[%at] : memref<?xi32>
    memref.store %x, %C[%i] : memref<?xi32>
  }
  scf.for %i = %c0 to %c128 step %c1 {
    %at = arith.subi %c127, %i : index
    %x = memref.load %X[%at] : memref<?xi32>
    memref.store %x, %D[%i] : memref<?xi32>
  }
  return
}

// Neighbours on both sides, zero past the edges.
tile.kernel @blur(%X: memref<?xf32, #tile.global>, %Y: memref<?xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %before = arith.constant -1 : index
  %x = tile.load %X[%c0] : memref<?xf32, #tile.global> -> tensor<512xf32>
  %left = tile.extract_slice %x at [%before] : tensor<512xf32> -> tensor<512xf32>
  %right = tile.extract_slice %x at [%c1] : tensor<512xf32> -> tensor<512xf32>
  %two = arith.addf %left, %x : tensor<512xf32>
  %three = arith.addf %two, %right : tensor<512xf32>
  tile.store %three, %Y[%c0] : tensor<512xf32>, memref<?xf32, #tile.global>
}

func.func @blur_ref(%X: memref<?xf32>, %Y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %X, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %before = arith.subi %i, %c1 : index
    %after = arith.addi %i, %c1 : index
    %has_left = arith.cmpi ult, %before, %n : index
    %has_right = arith.cmpi ult, %after, %n : index
    %left = scf.if %has_left -> f32 {
      %v = memref.load %X[%before] : memref<?xf32>
      scf.yield %v : f32
    } else {
      scf.yield %zero : f32
    }
    %right = scf.if %has_right -> f32 {
      %v = memref.load %X[%after] : memref<?xf32>
      scf.yield %v : f32
    } else {
      scf.yield %zero : f32
    }
    %x = memref.load %X[%i] : memref<?xf32>
    %two = arith.addf %left, %x : f32
    %three = arith.addf %two, %right : f32
    memref.store %three, %Y[%i] : memref<?xf32>
  }
  return
}

// A row of a tile is replaced, twice: by its number, and where that is past the edge not at all.
tile.kernel @cache(%X: memref<16x32xi8, #tile.global>, %R: memref<32xi8, #tile.global>, %n: i64, %Y: memref<16x32xi8, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %i = arith.index_cast %n : i64 to index
  %x = tile.load %X[%c0, %c0] : memref<16x32xi8, #tile.global> -> tensor<16x32xi8>
  %r = tile.load %R[%c0] : memref<32xi8, #tile.global> -> tensor<32xi8>
  %row = tile.expand_dims %r axis 0 : tensor<32xi8> -> tensor<1x32xi8>
  %y = tile.insert_slice %row into %x at [%i, 0] : tensor<1x32xi8> into tensor<16x32xi8>
  %half = tile.extract_slice %row at [0, 16] : tensor<1x32xi8> -> tensor<1x16xi8>
  %z = tile.insert_slice %half into %y at [3, 1] strides [1, 2] : tensor<1x16xi8> into tensor<16x32xi8>
  tile.store %z, %Y[%c0, %c0] : tensor<16x32xi8>, memref<16x32xi8, #tile.global>
}

func.func @cache_ref(%X: memref<?x?xi8>, %R: memref<?xi8>, %n: i64, %Y: memref<?x?xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %row = arith.index_cast %n : i64 to index
  scf.for %i = %c0 to %c16 step %c1 {
    %here = arith.cmpi eq, %i, %row : index
    scf.for %j = %c0 to %c32 step %c1 {
      %x = memref.load %X[%i, %j] : memref<?x?xi8>
      %r = memref.load %R[%j] : memref<?xi8>
      %y = arith.select %here, %r, %x : i8
      memref.store %y, %Y[%i, %j] : memref<?x?xi8>
    }
  }
  scf.for %j = %c0 to %c16 step %c1 {
    %from = arith.addi %j, %c16 : index
    %twice = arith.muli %j, %c2 : index
    %to = arith.addi %twice, %c1 : index
    %r = memref.load %R[%from] : memref<?xi8>
    memref.store %r, %Y[%c3, %to] : memref<?x?xi8>
  }
  return
}

// Three tiles of two sizes, put together in another order, and one of them alone.
tile.kernel @three(%X: memref<16x64xf16, #tile.global>, %Y: memref<16x64xf16, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c48 = arith.constant 48 : index
  %a = tile.load %X[%c0, %c0] : memref<16x64xf16, #tile.global> -> tensor<16x32xf16>
  %b = tile.load %X[%c0, %c32] : memref<16x64xf16, #tile.global> -> tensor<16x16xf16>
  %c = tile.load %X[%c0, %c48] : memref<16x64xf16, #tile.global> -> tensor<16x16xf16>
  %one = tile.concat %b axis 1 : tensor<16x16xf16> -> tensor<16x16xf16>
  %y = tile.concat %one, %a, %c axis 1 : tensor<16x16xf16>, tensor<16x32xf16>, tensor<16x16xf16> -> tensor<16x64xf16>
  tile.store %y, %Y[%c0, %c0] : tensor<16x64xf16>, memref<16x64xf16, #tile.global>
}

func.func @three_ref(%X: memref<?x?xf16>, %Y: memref<?x?xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c48 = arith.constant 48 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %moved = arith.addi %j, %c16 : index
      %turned = arith.remui %moved, %c48 : index
      %last = arith.cmpi uge, %j, %c48 : index
      %to = arith.select %last, %j, %turned : index
      %x = memref.load %X[%i, %j] : memref<?x?xf16>
      memref.store %x, %Y[%i, %to] : memref<?x?xf16>
    }
  }
  return
}

// One start is a constant, the other known at run time: each block takes a part of a row, and puts a part there.
tile.kernel @planes(%X: memref<8x16xi32, #tile.global>, %Y: memref<4x16xi32, #tile.global>, %Z: memref<32x16xi32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.grid %c4, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %block = tile.block_id x
  %x = tile.load %X[%c0, %c0] : memref<8x16xi32, #tile.global> -> tensor<8x16xi32>
  %part = tile.extract_slice %x at [%c3, %block] : tensor<8x16xi32> -> tensor<1x16xi32>
  tile.store %part, %Y[%block, %c0] : tensor<1x16xi32>, memref<4x16xi32, #tile.global>
  %small = tile.extract_slice %x at [%c3, %c0] : tensor<8x16xi32> -> tensor<1x4xi32>
  %z = tile.insert_slice %small into %x at [%block, %c8] : tensor<1x4xi32> into tensor<8x16xi32>
  %row = arith.muli %block, %c8 : index
  tile.store %z, %Z[%row, %c0] : tensor<8x16xi32>, memref<32x16xi32, #tile.global>
}

func.func @planes_ref(%X: memref<?x?xi32>, %Y: memref<?x?xi32>, %Z: memref<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  scf.for %block = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c16 step %c1 {
      %from = arith.addi %j, %block : index
      %inside = arith.cmpi ult, %from, %c16 : index
      %y = scf.if %inside -> i32 {
        %x = memref.load %X[%c3, %from] : memref<?x?xi32>
        scf.yield %x : i32
      } else {
        scf.yield %zero : i32
      }
      memref.store %y, %Y[%block, %j] : memref<?x?xi32>
    }
    %first = arith.muli %block, %c8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %row = arith.addi %first, %i : index
      scf.for %j = %c0 to %c16 step %c1 {
        %x = memref.load %X[%i, %j] : memref<?x?xi32>
        memref.store %x, %Z[%row, %j] : memref<?x?xi32>
      }
    }
    %row = arith.addi %first, %block : index
    scf.for %j = %c0 to %c4 step %c1 {
      %to = arith.addi %j, %c8 : index
      %x = memref.load %X[%c3, %j] : memref<?x?xi32>
      memref.store %x, %Z[%row, %to] : memref<?x?xi32>
    }
  }
  return
}
