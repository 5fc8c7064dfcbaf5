// Which thread holds which element.
// RUN: girih-opt %s -tile-assign-layouts -split-input-file | FileCheck %s

// A load decides, in vectors of 16 bytes; what follows from it takes that over, constants and splats too.
// CHECK-LABEL: tile.kernel @chain
// CHECK: arith.constant dense<1.000000e+00> : tensor<2048xf32, [[L:#tile.blocked<per_thread = \[4\], lanes = \[32\], warps = \[4\]>]]>
// CHECK: tile.splat %{{.*}} : f32 -> tensor<2048xf32, [[L]]>
// CHECK: tile.load %{{.*}} -> tensor<2048xf32, [[L]]>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : tensor<2048xf32, [[L]]>
// CHECK: arith.addf %{{.*}}, %{{.*}} : tensor<2048xf32, [[L]]>
// CHECK-NOT: convert_layout
tile.kernel @chain(%X: memref<?xf32, #tile.global>, %a: f32) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<2048xf32>
  %alpha = tile.splat %a : f32 -> tensor<2048xf32>
  %x = tile.load %X[%c0] : memref<?xf32, #tile.global> -> tensor<2048xf32>
  %y = arith.mulf %x, %alpha : tensor<2048xf32>
  %z = arith.addf %y, %one : tensor<2048xf32>
  tile.store %z, %X[%c0] : tensor<2048xf32>, memref<?xf32, #tile.global>
}

// -----

// Lanes go along the axis that is contiguous in memory, warps along the other.
// CHECK-LABEL: tile.kernel @columns
// CHECK: tile.load %{{.*}} -> tensor<64x64xbf16, #tile.blocked<per_thread = [8, 1], lanes = [8, 4], warps = [1, 4], order = [0, 1]>>
tile.kernel @columns(%X: memref<?x?xbf16, strided<[1, ?]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : memref<?x?xbf16, strided<[1, ?]>, #tile.global> -> tensor<64x64xbf16>
}

// -----

// Loops carry layouts; a tile that only a store reaches takes its layout.
// CHECK-LABEL: tile.kernel @loop
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<1024xf32, [[L:#tile.blocked<.*>]]>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[ZERO]]) -> (tensor<1024xf32, [[L]]>)
// CHECK: scf.yield %{{.*}} : tensor<1024xf32, [[L]]>
// CHECK: %[[I:.*]] = tile.iota axis 0 : tensor<256xi32, #tile.blocked<per_thread = [2], lanes = [32], warps = [4]>>
// CHECK: arith.addi %[[I]], %[[I]]
tile.kernel @loop(%X: memref<?xf32, #tile.global>, %Y: memref<?xi32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %n = memref.dim %X, %c0 : memref<?xf32, #tile.global>
  %zero = arith.constant dense<0.0> : tensor<1024xf32>
  %sum = scf.for %i = %c0 to %n step %c1024 iter_args(%s = %zero) -> (tensor<1024xf32>) {
    %x = tile.load %X[%i] : memref<?xf32, #tile.global> -> tensor<1024xf32>
    %next = arith.addf %s, %x : tensor<1024xf32>
    scf.yield %next : tensor<1024xf32>
  }
  tile.store %sum, %X[%c0] : tensor<1024xf32>, memref<?xf32, #tile.global>
  %i = tile.iota axis 0 : tensor<256xi32>
  %j = arith.addi %i, %i : tensor<256xi32>
  tile.store %j, %Y[%c0] : tensor<256xi32>, memref<?xi32, #tile.global>
}

// -----

// Two loads that want different layouts: the second keeps its own, and is converted.
// CHECK-LABEL: tile.kernel @meet
// CHECK: %[[A:.*]] = tile.load %A{{.*}} -> tensor<64x64xf32, [[ROWS:#tile.blocked<per_thread = \[1, 4\], lanes = \[4, 8\], warps = \[4, 1\]>]]>
// CHECK: %[[B:.*]] = tile.load %B{{.*}} -> tensor<64x64xf32, [[COLUMNS:#tile.blocked<.*order = \[0, 1\]>]]>
// CHECK: %[[C:.*]] = tile.convert_layout %[[B]] : tensor<64x64xf32, [[COLUMNS]]> -> tensor<64x64xf32, [[ROWS]]>
// CHECK: arith.addf %[[A]], %[[C]]
tile.kernel @meet(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf32, strided<[1, ?]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0, %c0] : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<64x64xf32>
  %b = tile.load %B[%c0, %c0] : memref<?x?xf32, strided<[1, ?]>, #tile.global> -> tensor<64x64xf32>
  %c = arith.addf %a, %b : tensor<64x64xf32>
  tile.store %c, %A[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

// -----

// Bytes that lie together are fewer than a line's; a warp has 32 lanes all the same.
// CHECK-LABEL: tile.kernel @narrow
// CHECK: tile.load {{.*}} -> tensor<128x2xi8, #tile.blocked<per_thread = [2, 1], lanes = [32, 1], warps = [2, 2], order = [0, 1]>>
tile.kernel @narrow(%A: memref<?x?xi8, strided<[1, ?]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0, %c0] : memref<?x?xi8, strided<[1, ?]>, #tile.global> -> tensor<128x2xi8>
}

// -----

// A mask lies as its tile does; what is free goes where the mask is.
// CHECK-LABEL: tile.kernel @masked
// CHECK: tile.load %A{{.*}} -> tensor<64x64xi32, [[ROWS:#tile.blocked<per_thread = \[1, 4\], lanes = \[4, 8\], warps = \[4, 1\]>]]>
// CHECK: tile.load %B{{.*}} mask %{{.*}} : tensor<64x64xi1, [[ROWS]]> : {{.*}} -> tensor<64x64xf32, [[ROWS]]>
// CHECK: tile.store %{{.*}}, %B{{.*}} mask %{{.*}} : tensor<64x64xi1, [[ROWS]]> : tensor<64x64xf32, [[ROWS]]>
// CHECK-NOT: convert_layout
// CHECK: tile.load %C{{.*}} -> tensor<64x64xi32, [[COLUMNS:#tile.blocked<per_thread = \[4, 1\], lanes = \[8, 4\], warps = \[1, 4\], order = \[0, 1\]>]]>
// CHECK: tile.convert_layout %{{.*}} : tensor<64x64xi32, [[COLUMNS]]> -> tensor<64x64xi32, [[ROWS]]>
// CHECK: %[[M:.*]] = arith.cmpi eq, %{{.*}} : tensor<64x64xi32, [[ROWS]]>
// CHECK: tile.store %{{.*}}, %B{{.*}} mask %[[M]] : tensor<64x64xi1, [[ROWS]]> : tensor<64x64xf32, [[ROWS]]>
!rows = memref<?x?xf32, strided<[?, 1]>, #tile.global>
tile.kernel @masked(%A: memref<?x?xi32, strided<[?, 1]>, #tile.global>, %B: !rows, %C: memref<?x?xi32, strided<[1, ?]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1> : tensor<64x64xi32>
  %two = arith.constant dense<2.0> : tensor<64x64xf32>
  %a = tile.load %A[%c0, %c0] : memref<?x?xi32, strided<[?, 1]>, #tile.global> -> tensor<64x64xi32>
  %m = arith.cmpi eq, %a, %one : tensor<64x64xi32>
  %b = tile.load %B[%c0, %c0] mask %m : tensor<64x64xi1> : !rows -> tensor<64x64xf32>
  tile.store %two, %B[%c0, %c0] mask %m : tensor<64x64xi1> : tensor<64x64xf32>, !rows
  %c = tile.load %C[%c0, %c0] : memref<?x?xi32, strided<[1, ?]>, #tile.global> -> tensor<64x64xi32>
  %n = arith.cmpi eq, %c, %one : tensor<64x64xi32>
  tile.store %b, %B[%c0, %c0] mask %n : tensor<64x64xi1> : tensor<64x64xf32>, !rows
}

// What is free has the layout that it is converted to at once.
// CHECK-LABEL: tile.kernel @free
// CHECK: %[[C:.*]] = arith.constant dense<5.000000e+00> : tensor<64x16xf16, #tile.blocked<per_thread = [1, 8], lanes = [16, 2], warps = [4, 1]>>
// CHECK-NOT: tensor<64x16xf16>
tile.kernel @free(%Y: memref<64x16xf16, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c = arith.constant dense<5.0> : tensor<64x16xf16>
  %rows = tile.convert_layout %c : tensor<64x16xf16> -> tensor<64x16xf16, #tile.blocked<per_thread = [1, 8], lanes = [16, 2], warps = [4, 1]>>
  tile.store %rows, %Y[%c0, %c0] : tensor<64x16xf16, #tile.blocked<per_thread = [1, 8], lanes = [16, 2], warps = [4, 1]>>, memref<64x16xf16, #tile.global>
}

// -----

// Rows that numbers give lie anywhere: a warp takes as much of one as it can, and what is scattered is loaded so.
// CHECK-LABEL: tile.kernel @rows
// CHECK: tile.gather {{.*}} -> tensor<16x256xbf16, #tile.blocked<per_thread = [1, 8], lanes = [1, 32], warps = [4, 1]>>
// CHECK: tile.load {{.*}} -> tensor<8x128xbf16, #tile.blocked<per_thread = [1, 8], lanes = [2, 16], warps = [4, 1]>>
!matrix = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!numbers = memref<?xi32, #tile.global>
tile.kernel @rows(%X: !matrix, %I: !numbers, %Y: !matrix) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %rows = tile.load %I[%c0] : !numbers -> tensor<16xi32>
  %x = tile.gather %X[%c0] rows %rows : !matrix, tensor<16xi32> -> tensor<16x256xbf16>
  tile.store %x, %Y[%c0, %c0] : tensor<16x256xbf16>, !matrix
  %few = tile.load %I[%c0] : !numbers -> tensor<8xi32>
  %y = tile.load %X[%c0, %c0] : !matrix -> tensor<8x128xbf16>
  tile.scatter %y, %Y[%c0] rows %few : tensor<8x128xbf16>, !matrix, tensor<8xi32>
}
