// Views of arguments are what tiles and single elements are loaded from and stored to: another start, other strides, other
// sizes, which clip.
// RUN: girih compile %s --emit cubin -o %t.cubin
// RUN: girih run %s --kernel window --device sim --check-memory --arg X=iota:f32[16,40] --arg i=i64:3 --arg Y=poison:f32[8,32] 2>/dev/null | FileCheck %s --check-prefix=WINDOW
// WINDOW: right: Y: all 256 elements are exact
// RUN: girih run %s --kernel backwards --device sim --check-memory --arg X=iota:i32[64] --arg Y=poison:i32[64] --arg Z=poison:i32[16] 2>/dev/null | FileCheck %s --check-prefix=BACK
// BACK: right: Y: all 64 elements are exact
// BACK: right: Z: all 16 elements are exact
// RUN: girih run %s --kernel shapes --device sim --check-memory --arg X=iota:i16[8,4,16] --arg n=i64:16 --arg Y=poison:i16[16,32] --arg Z=poison:i16[4,16] 2>/dev/null | FileCheck %s --check-prefix=SHAPES
// SHAPES: right: Y: all 512 elements are exact
// SHAPES: right: Z: all 64 elements are exact
// RUN: girih run %s --kernel one --device sim --check-memory --arg X=full(2.5):f32[] --arg Y=poison:f32[] 2>/dev/null | FileCheck %s --check-prefix=ONE
// ONE: right: Y: all 1 elements are exact
// RUN: girih run %s --kernel in_place --device sim --check-memory --arg X=iota:i32[256] 2>/dev/null | FileCheck %s --check-prefix=PLACE
// PLACE: right: X: all 256 elements are exact
// RUN: girih compile %s --emit explicit -o - 2>/dev/null | FileCheck %s --check-prefix=VECTOR

// Rows of a view are asked for like those of an argument.
// VECTOR-LABEL: tile.kernel @window
// VECTOR: %[[VIEW:.*]] = memref.subview
// VECTOR: tile.is_aligned %[[VIEW]] axis 1 by 4
// VECTOR: tile.load %[[VIEW]]{{.*}}vector = 4 : i64}
tile.kernel @window(%X: memref<?x?xf32, #tile.global>, %i: i64, %Y: memref<?x?xf32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %row = arith.index_cast %i : i64 to index
  %x = memref.subview %X[%row, 4] [6, 20] [2, 1] : memref<?x?xf32, #tile.global> to memref<6x20xf32, strided<[?, 1], offset: ?>, #tile.global>
  %t = tile.load %x[%c0, %c0] {pad = 7.0 : f32} : memref<6x20xf32, strided<[?, 1], offset: ?>, #tile.global> -> tensor<8x32xf32>
  tile.store %t, %Y[%c0, %c0] : tensor<8x32xf32>, memref<?x?xf32, #tile.global>
}

func.func @window_ref(%X: memref<?x?xf32>, %i: i64, %Y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %c20 = arith.constant 20 : index
  %seven = arith.constant 7.0 : f32
  linalg.fill ins(%seven : f32) outs(%Y : memref<?x?xf32>)
  %start = arith.index_cast %i : i64 to index
  scf.for %r = %c0 to %c6 step %c1 {
    scf.for %c = %c0 to %c20 step %c1 {
      %twice = arith.muli %r, %c2 : index
      %row = arith.addi %twice, %start : index
      %column = arith.addi %c, %c4 : index
      %x = memref.load %X[%row, %column] : memref<?x?xf32>
      memref.store %x, %Y[%r, %c] : memref<?x?xf32>
    }
  }
  return
}

// From the end to the start, through a stride of -1, and by twos with single elements.
tile.kernel @backwards(%X: memref<?xi32, #tile.global>, %Y: memref<?xi32, #tile.global>, %Z: memref<?xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %n = memref.dim %X, %c0 : memref<?xi32, #tile.global>
  %last = arith.subi %n, %c1 : index
  %back = memref.subview %X[%last] [%n] [-1] : memref<?xi32, #tile.global> to memref<?xi32, strided<[-1], offset: ?>, #tile.global>
  %t = tile.load %back[%c0] : memref<?xi32, strided<[-1], offset: ?>, #tile.global> -> tensor<64xi32>
  tile.store %t, %Y[%c0] : tensor<64xi32>, memref<?xi32, #tile.global>
  %twos = memref.reinterpret_cast %X to offset: [63], sizes: [16], strides: [-2] : memref<?xi32, #tile.global> to memref<16xi32, strided<[-2], offset: 63>, #tile.global>
  %open = memref.cast %twos : memref<16xi32, strided<[-2], offset: 63>, #tile.global> to memref<?xi32, strided<[?], offset: ?>, #tile.global>
  %thread = tile.thread_id
  %m = memref.dim %open, %c0 : memref<?xi32, strided<[?], offset: ?>, #tile.global>
  %inside = arith.cmpi ult, %thread, %m : index
  scf.if %inside {
    %x = memref.load %open[%thread] : memref<?xi32, strided<[?], offset: ?>, #tile.global>
    memref.store %x, %Z[%thread] : memref<?xi32, #tile.global>
  }
}

func.func @backwards_ref(%X: memref<?xi32>, %Y: memref<?xi32>, %Z: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %at = arith.subi %c63, %i : index
    %x = memref.load %X[%at] : memref<?xi32>
    memref.store %x, %Y[%i] : memref<?xi32>
  }
  scf.for %i = %c0 to %c16 step %c1 {
    %twice = arith.muli %i, %c2 : index
    %at = arith.subi %c63, %twice : index
    %x = memref.load %X[%at] : memref<?xi32>
    memref.store %x, %Z[%i] : memref<?xi32>
  }
  return
}

// Dimensions joined, split, exchanged, and left out.
tile.kernel @shapes(%X: memref<8x4x?xi16, #tile.global>, %n: i64, %Y: memref<?x32xi16, #tile.global>, %Z: memref<4x?xi16, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %columns = arith.index_cast %n : i64 to index
  %flat = memref.collapse_shape %X [[0, 1], [2]] : memref<8x4x?xi16, #tile.global> into memref<32x?xi16, #tile.global>
  %turned = memref.transpose %flat (i, j) -> (j, i) : memref<32x?xi16, #tile.global> to memref<?x32xi16, strided<[1, ?]>, #tile.global>
  %t = tile.load %turned[%c0, %c0] : memref<?x32xi16, strided<[1, ?]>, #tile.global> -> tensor<16x32xi16>
  tile.store %t, %Y[%c0, %c0] : tensor<16x32xi16>, memref<?x32xi16, #tile.global>
  %again = memref.expand_shape %flat [[0, 1], [2]] output_shape [8, 4, %columns] : memref<32x?xi16, #tile.global> into memref<8x4x?xi16, #tile.global>
  %one = memref.subview %again[5, 0, 0] [1, 4, %columns] [1, 1, 1] : memref<8x4x?xi16, #tile.global> to memref<4x?xi16, strided<[?, 1], offset: ?>, #tile.global>
  %u = tile.load %one[%c0, %c0] : memref<4x?xi16, strided<[?, 1], offset: ?>, #tile.global> -> tensor<4x16xi16>
  tile.store %u, %Z[%c0, %c0] : tensor<4x16xi16>, memref<4x?xi16, #tile.global>
}

func.func @shapes_ref(%X: memref<?x?x?xi16>, %n: i64, %Y: memref<?x?xi16>, %Z: memref<?x?xi16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      scf.for %k = %c0 to %c16 step %c1 {
        %x = memref.load %X[%i, %j, %k] : memref<?x?x?xi16>
        %outer = arith.muli %i, %c4 : index
        %column = arith.addi %outer, %j : index
        memref.store %x, %Y[%k, %column] : memref<?x?xi16>
        %chosen = arith.cmpi eq, %i, %c5 : index
        scf.if %chosen {
          memref.store %x, %Z[%j, %k] : memref<?x?xi16>
        }
      }
    }
  }
  return
}

// A number in memory is a tile without axes.
tile.kernel @one(%X: memref<f32, #tile.global>, %Y: memref<f32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %x = tile.load %X[] : memref<f32, #tile.global> -> tensor<f32>
  %y = arith.addf %x, %x : tensor<f32>
  tile.store %y, %Y[] : tensor<f32>, memref<f32, #tile.global>
}

func.func @one_ref(%X: memref<f32>, %Y: memref<f32>) {
  %x = memref.load %X[] : memref<f32>
  %y = arith.addf %x, %x : f32
  memref.store %y, %Y[] : memref<f32>
  return
}

// What is stored through one view is seen through another: a barrier stands between.
tile.kernel @in_place(%X: memref<256xi32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %back = memref.reinterpret_cast %X to offset: [255], sizes: [256], strides: [-1] : memref<256xi32, #tile.global> to memref<256xi32, strided<[-1], offset: 255>, #tile.global>
  %x = tile.load %X[%c0] : memref<256xi32, #tile.global> -> tensor<256xi32>
  %y = arith.muli %x, %x : tensor<256xi32>
  tile.store %y, %back[%c0] : tensor<256xi32>, memref<256xi32, strided<[-1], offset: 255>, #tile.global>
  %z = tile.load %X[%c0] : memref<256xi32, #tile.global> -> tensor<256xi32>
  %w = arith.addi %z, %y : tensor<256xi32>
  tile.store %w, %X[%c0] : tensor<256xi32>, memref<256xi32, #tile.global>
}

func.func @in_place_ref(%X: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c255 = arith.constant 255 : index
  %c256 = arith.constant 256 : index
  scf.for %i = %c0 to %c256 step %c1 {
    %j = arith.subi %c255, %i : index
    %a = arith.muli %i, %i : index
    %b = arith.muli %j, %j : index
    %sum = arith.addi %a, %b : index
    %x = arith.index_cast %sum : index to i32
    memref.store %x, %X[%i] : memref<?xi32>
  }
  return
}
