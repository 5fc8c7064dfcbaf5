// Tiles smaller than the block, without axes, and in layouts that are no blocks: each kernel alone, against what it says.
// RUN: girih run %s --kernel fill --device sim --arg Y=zeros:i16[64] --check Y=full(7):i16[64] 2>/dev/null | FileCheck %s
// RUN: girih run %s --kernel one_warp --device sim --arg X=iota:i32[32] --arg Y=zeros:i32[1] --check Y=full(496):i32[1] 2>/dev/null | FileCheck %s
// RUN: girih run %s --kernel turned --device sim --arg X=iota:i32[4,8,16] --arg Y=zeros:i32[8,4] 2>/dev/null | FileCheck %s
// RUN: girih run %s --kernel repeated --device sim --arg X=iota:i32[8] --arg Y=zeros:i32[8,8] 2>/dev/null | FileCheck %s
// RUN: girih run %s --kernel joined --device sim --arg X=iota:i32[8] --arg Y=zeros:i32[2,8] 2>/dev/null | FileCheck %s
// RUN: girih run %s --kernel element --device sim --arg Y=zeros:i16[1] --check Y=full(3):i16[1] 2>/dev/null | FileCheck %s
// RUN: girih run %s --kernel no_axes --device sim --arg Y=zeros:f32[1,1] --check Y=full(5):f32[1,1] 2>/dev/null | FileCheck %s
// RUN: girih run %s --kernel rows_of_others --device sim --arg I=iota:i32[8] --arg Y=zeros:i16[8,8] --check Y=ones:i16[8,8] 2>/dev/null | FileCheck %s
// RUN: girih run %s --kernel narrowed --device sim --arg X=full(1.0625000000009095):f64[64] --arg Y=zeros:e4m3[64] --check Y=full(1.125):e4m3[64] 2>/dev/null | FileCheck %s
// RUN: girih run %s --kernel narrowed --device sim --arg X=full(1.0625):f64[64] --arg Y=zeros:e4m3[64] --check Y=ones:e4m3[64] 2>/dev/null | FileCheck %s
// RUN: girih run %s --kernel counted --device sim --arg X=full(17):i32[64] --arg Y=zeros:e4m3[64] --check Y=full(16):e4m3[64] 2>/dev/null | FileCheck %s
// RUN: girih run %s --kernel numbers --device sim --check-memory --arg Y=zeros:i64[16,64] --arg Z=zeros:i64[1] 2>/dev/null | FileCheck %s --check-prefix=NUMBERS
// RUN: girih run %s --kernel shared_number --device sim --check-memory --arg Y=zeros:f32[1] --check Y=full(5):f32[1] 2>/dev/null | FileCheck %s
// RUN: girih run %s --kernel kept --device sim --check-memory --arg Y=poison:i64[64] 2>/dev/null | FileCheck %s
// RUN: girih run %s --kernel elsewhere --device sim --check-memory --arg H=iota:i32[4] --arg Y=poison:i32[4] --check Y=iota:i32[4] 2>/dev/null | FileCheck %s
// NUMBERS: right: Y: all 1024 elements are exact
// NUMBERS: right: Z: all 1 elements are exact
// CHECK: right: Y: all {{.*}} elements are exact

// Fewer bytes for each thread than a line has for each lane.
tile.kernel @fill(%Y: memref<64xi16, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %seven = arith.constant dense<7> : tensor<64xi16>
  tile.store %seven, %Y[%c0] : tensor<64xi16>, memref<64xi16, #tile.global>
}

// A multiprocessor would have threads for more blocks than it holds.
tile.kernel @one_warp(%X: memref<32xi32, #tile.global>, %Y: memref<1xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<32xi32, #tile.global> -> tensor<32xi32>
  %sum = tile.reduce %x axis 0 (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  } : tensor<32xi32> -> tensor<i32>
  %y = tile.expand_dims %sum axis 0 : tensor<i32> -> tensor<1xi32>
  tile.store %y, %Y[%c0] : tensor<1xi32>, memref<1xi32, #tile.global>
}

// What is left of a reduced tile, its axes exchanged.
tile.kernel @turned(%X: memref<4x8x16xi32, #tile.global>, %Y: memref<8x4xi32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0, %c0] : memref<4x8x16xi32, #tile.global> -> tensor<4x8x16xi32>
  %sums = tile.reduce %x axis 2 (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  } : tensor<4x8x16xi32> -> tensor<4x8xi32>
  %y = tile.transpose %sums order [1, 0] : tensor<4x8xi32> -> tensor<8x4xi32>
  tile.store %y, %Y[%c0, %c0] : tensor<8x4xi32>, memref<8x4xi32, #tile.global>
}

func.func @turned_ref(%X: memref<?x?x?xi32>, %Y: memref<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %sum = scf.for %k = %c0 to %c16 step %c1 iter_args(%s = %zero) -> (i32) {
        %x = memref.load %X[%i, %j, %k] : memref<?x?x?xi32>
        %t = arith.addi %s, %x : i32
        scf.yield %t : i32
      }
      memref.store %sum, %Y[%j, %i] : memref<?x?xi32>
    }
  }
  return
}

// A row that was a list, repeated.
tile.kernel @repeated(%X: memref<8xi32, #tile.global>, %Y: memref<8x8xi32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<8xi32, #tile.global> -> tensor<8xi32>
  %row = tile.reshape %x : tensor<8xi32> -> tensor<1x8xi32>
  %y = tile.broadcast %row : tensor<1x8xi32> -> tensor<8x8xi32>
  tile.store %y, %Y[%c0, %c0] : tensor<8x8xi32>, memref<8x8xi32, #tile.global>
}

func.func @repeated_ref(%X: memref<?xi32>, %Y: memref<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %x = memref.load %X[%j] : memref<?xi32>
      memref.store %x, %Y[%i, %j] : memref<?x?xi32>
    }
  }
  return
}

// Rows that were a list, side by side.
tile.kernel @joined(%X: memref<8xi32, #tile.global>, %Y: memref<2x8xi32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<8xi32, #tile.global> -> tensor<8xi32>
  %rows = tile.reshape %x : tensor<8xi32> -> tensor<2x4xi32>
  %y = tile.concat %rows, %rows axis 1 : tensor<2x4xi32>, tensor<2x4xi32> -> tensor<2x8xi32>
  tile.store %y, %Y[%c0, %c0] : tensor<2x8xi32>, memref<2x8xi32, #tile.global>
}

func.func @joined_ref(%X: memref<?xi32>, %Y: memref<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c2 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %column = arith.remui %j, %c4 : index
      %row = arith.muli %i, %c4 : index
      %k = arith.addi %row, %column : index
      %x = memref.load %X[%k] : memref<?xi32>
      memref.store %x, %Y[%i, %j] : memref<?x?xi32>
    }
  }
  return
}

// One element of a tile that every thread can make.
tile.kernel @element(%Y: memref<1xi16, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<3> : tensor<16xi16>
  %y = tile.extract_slice %x at [11] : tensor<16xi16> -> tensor<1xi16>
  tile.store %y, %Y[%c0] : tensor<1xi16>, memref<1xi16, #tile.global>
}

// Tiles without axes that no tile with axes says anything about.
tile.kernel @no_axes(%Y: memref<1x1xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %two = arith.constant dense<2.0> : tensor<f32>
  %three = arith.constant dense<3.0> : tensor<f32>
  %sum = arith.addf %two, %three : tensor<f32>
  %same = tile.transpose %sum order [] : tensor<f32> -> tensor<f32>
  %y = tile.reshape %same : tensor<f32> -> tensor<1x1xf32>
  tile.store %y, %Y[%c0, %c0] : tensor<1x1xf32>, memref<1x1xf32, #tile.global>
}

// Numbers of rows of which every warp holds a copy, and takes another part.
tile.kernel @rows_of_others(%I: memref<8xi32, #tile.global>, %Y: memref<8x8xi16, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1> : tensor<8x8xi16>
  %rows = tile.load %I[%c0] : memref<8xi32, #tile.global> -> tensor<8xi32>
  tile.scatter %one, %Y[%c0] rows %rows : tensor<8x8xi16>, memref<8x8xi16, #tile.global>, tensor<8xi32>
}

// To 8-bit floats, rounded once: a little more than halfway is above.
tile.kernel @narrowed(%X: memref<64xf64, #tile.global>, %Y: memref<64xf8E4M3FN, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<64xf64, #tile.global> -> tensor<64xf64>
  %y = arith.truncf %x : tensor<64xf64> to tensor<64xf8E4M3FN>
  tile.store %y, %Y[%c0] : tensor<64xf8E4M3FN>, memref<64xf8E4M3FN, #tile.global>
}

// Two conversions that become one, from integers.
tile.kernel @counted(%X: memref<64xi32, #tile.global>, %Y: memref<64xf8E4M3FN, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<64xi32, #tile.global> -> tensor<64xi32>
  %wide = arith.sitofp %x : tensor<64xi32> to tensor<64xf64>
  %y = arith.truncf %wide : tensor<64xf64> to tensor<64xf8E4M3FN>
  tile.store %y, %Y[%c0] : tensor<64xf8E4M3FN>, memref<64xf8E4M3FN, #tile.global>
}

// An index has 64 bits in shared memory: exchanged as a whole, and between warps.
tile.kernel @numbers(%Y: memref<16x64xi64, #tile.global>, %Z: memref<1xi64, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %rows = tile.iota axis 0 : tensor<64x16xindex>
  %columns = tile.iota axis 1 : tensor<64x16xindex>
  %far = arith.constant dense<4294967296> : tensor<64x16xindex>
  %up = arith.muli %rows, %far : tensor<64x16xindex>
  %both = arith.addi %up, %columns : tensor<64x16xindex>
  %turned = tile.transpose %both order [1, 0] : tensor<64x16xindex> -> tensor<16x64xindex>
  %y = arith.index_cast %turned : tensor<16x64xindex> to tensor<16x64xi64>
  tile.store %y, %Y[%c0, %c0] : tensor<16x64xi64>, memref<16x64xi64, #tile.global>
  %of_rows = tile.reduce %both axis 0 (%a: index, %b: index) {
    %s = arith.addi %a, %b : index
    tile.yield %s : index
  } : tensor<64x16xindex> -> tensor<16xindex>
  %sum = tile.reduce %of_rows axis 0 (%a: index, %b: index) {
    %s = arith.addi %a, %b : index
    tile.yield %s : index
  } : tensor<16xindex> -> tensor<index>
  %z = arith.index_cast %sum : tensor<index> to tensor<i64>
  %one = tile.expand_dims %z axis 0 : tensor<i64> -> tensor<1xi64>
  tile.store %one, %Z[%c0] : tensor<1xi64>, memref<1xi64, #tile.global>
}

func.func @numbers_ref(%Y: memref<?x?xi64>, %Z: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %far = arith.constant 4294967296 : index
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %up = arith.muli %j, %far : index
      %both = arith.addi %up, %i : index
      %y = arith.index_cast %both : index to i64
      memref.store %y, %Y[%i, %j] : memref<?x?xi64>
      %z = memref.load %Z[%c0] : memref<?xi64>
      %sum = arith.addi %z, %y : i64
      memref.store %sum, %Z[%c0] : memref<?xi64>
    }
  }
  return
}

// A number in shared memory has no axes either.
tile.kernel @shared_number(%Y: memref<1xf32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %s = tile.alloc : memref<f32, #tile.shared>
  %five = arith.constant dense<5.0> : tensor<f32>
  tile.store %five, %s[] : tensor<f32>, memref<f32, #tile.shared>
  %x = tile.load %s[] : memref<f32, #tile.shared> -> tensor<f32>
  %y = tile.expand_dims %x axis 0 : tensor<f32> -> tensor<1xf32>
  tile.store %y, %Y[%c0] : tensor<1xf32>, memref<1xf32, #tile.global>
}

// Shared memory that holds indices, read as a tile and one by one.
tile.kernel @kept(%Y: memref<64xi64, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %s = tile.alloc : memref<64xindex, #tile.shared>
  %i = tile.iota axis 0 : tensor<64xindex>
  tile.store %i, %s[%c0] : tensor<64xindex>, memref<64xindex, #tile.shared>
  %c63 = arith.constant 63 : index
  %one = memref.load %s[%c63] : memref<64xindex, #tile.shared>
  %x = tile.load %s[%c0] : memref<64xindex, #tile.shared> -> tensor<64xindex>
  %o = tile.splat %one : index -> tensor<64xindex>
  %r = arith.subi %o, %x : tensor<64xindex>
  %y = arith.index_cast %r : tensor<64xindex> to tensor<64xi64>
  tile.store %y, %Y[%c0] : tensor<64xi64>, memref<64xi64, #tile.global>
}
func.func @kept_ref(%Y: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %n = memref.dim %Y, %c0 : memref<?xi64>
  scf.for %i = %c0 to %n step %c1 {
    %r = arith.subi %c63, %i : index
    %y = arith.index_cast %r : index to i64
    memref.store %y, %Y[%i] : memref<?xi64>
  }
  return
}

// What a lane has in one register, another has in another: what one of them got from memory comes to the right one.
!held = tensor<4xi32, #tile.linear<register = [[1], [2]], lane = [[1], [0], [0], [0], [0]], warp = []>>
!moved = tensor<4xi32, #tile.linear<register = [[2]], lane = [[1], [0], [0], [0], [0]], warp = []>>
tile.kernel @elsewhere(%H: memref<4xi32, #tile.global>, %Y: memref<4xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %v = tile.iota axis 0 : !held
  %old = tile.atomic_rmw add %v, %H[%c0] : !held, memref<4xi32, #tile.global> -> !held
  %own = tile.convert_layout %old : !held -> !moved
  tile.store %own, %Y[%c0] : !moved, memref<4xi32, #tile.global>
}
