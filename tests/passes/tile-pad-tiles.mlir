// Tiles of other sizes in tiles of powers of two, and what each op does about the padding.
// RUN: girih-opt %s -tile-pad-tiles -split-input-file -verify-diagnostics | FileCheck %s

// Powers of two stay as they are.
// CHECK-LABEL: tile.kernel @powers
// CHECK: %[[X:.*]] = tile.load %X[%{{.*}}] : memref<?xf32, #tile.global> -> tensor<64xf32>
// CHECK-NEXT: tile.store %[[X]], %X[%{{.*}}] : tensor<64xf32>
tile.kernel @powers(%X: memref<?xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xf32, #tile.global> -> tensor<64xf32>
  tile.store %x, %X[%c0] : tensor<64xf32>, memref<?xf32, #tile.global>
}

// -----

// Loads and stores have masks of the tile's own elements; neutral elements stand in sums.
// CHECK-LABEL: tile.kernel @sums
// CHECK: %[[I:.*]] = tile.iota axis 0 : tensor<4x8xi32>
// CHECK: %[[THREE:.*]] = arith.constant dense<3> : tensor<4x8xi32>
// CHECK: %[[ROWS:.*]] = arith.cmpi slt, %[[I]], %[[THREE]] : tensor<4x8xi32>
// CHECK: %[[J:.*]] = tile.iota axis 1 : tensor<4x8xi32>
// CHECK: %[[FIVE:.*]] = arith.constant dense<5> : tensor<4x8xi32>
// CHECK: %[[COLUMNS:.*]] = arith.cmpi slt, %[[J]], %[[FIVE]] : tensor<4x8xi32>
// CHECK: %[[M:.*]] = arith.andi %[[ROWS]], %[[COLUMNS]] : tensor<4x8xi1>
// CHECK: %[[X:.*]] = tile.load %X[%{{.*}}, %{{.*}}] mask %[[M]] : tensor<4x8xi1> cache evict_last {pad = 2.000000e+00 : f32} : {{.*}} -> tensor<4x8xf32>
// CHECK: %[[Y:.*]] = math.exp %[[X]] : tensor<4x8xf32>
// CHECK: %[[N:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<4x8xi32>
// CHECK: %[[ZERO:.*]] = arith.constant dense<-0.000000e+00> : tensor<4x8xf32>
// CHECK: %[[Z:.*]] = arith.select %[[N]], %[[Y]], %[[ZERO]] : tensor<4x8xi1>, tensor<4x8xf32>
// CHECK: %[[S:.*]] = tile.reduce %[[Z]] axis 1
// CHECK: } : tensor<4x8xf32> -> tensor<4xf32>
// The mask that was given is looked at for the tile's own elements alone.
// CHECK: %[[GIVEN:.*]] = arith.cmpf ogt, %[[S]], %{{.*}} : tensor<4xf32>
// CHECK: %[[OWN:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<4xi32>
// CHECK: %[[NO:.*]] = arith.constant dense<false> : tensor<4xi1>
// CHECK: %[[BOTH:.*]] = arith.select %[[OWN]], %[[GIVEN]], %[[NO]] : tensor<4xi1>
// CHECK: tile.store %[[S]], %Y[%{{.*}}] mask %[[BOTH]] : tensor<4xi1> : tensor<4xf32>
!m = memref<?x?xf32, strided<[?, 1]>, #tile.global>
tile.kernel @sums(%X: !m, %Y: memref<?xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<3xf32>
  %x = tile.load %X[%c0, %c0] cache evict_last {pad = 2.0 : f32} : !m -> tensor<3x5xf32>
  %y = math.exp %x : tensor<3x5xf32>
  %s = tile.reduce %y axis 1 (%a: f32, %b: f32) {
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  } : tensor<3x5xf32> -> tensor<3xf32>
  %m = arith.cmpf ogt, %s, %one : tensor<3xf32>
  tile.store %s, %Y[%c0] mask %m : tensor<3xi1> : tensor<3xf32>, memref<?xf32, #tile.global>
}

// -----

// Neutral elements of other combiners. What is said to be finite has none among infinities.
// CHECK-LABEL: tile.kernel @neutral
// CHECK: arith.constant dense<0xFF800000> : tensor<8xf32>
// CHECK: tile.reduce
// CHECK: arith.constant dense<-2147483648> : tensor<8xi32>
// CHECK: tile.reduce
// CHECK: arith.constant dense<-1> : tensor<8xi8>
// CHECK: tile.reduce
// CHECK: tile.reduce %{{.*}}, %{{.*}} axis 0 (%{{.*}}: f32, %{{.*}}: i1, %{{.*}}: f32, %{{.*}}: i1)
tile.kernel @neutral(%X: memref<?xf32, #tile.global>, %Y: memref<?xi32, #tile.global>, %Z: memref<?xi8, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xf32, #tile.global> -> tensor<5xf32>
  %y = tile.load %Y[%c0] : memref<?xi32, #tile.global> -> tensor<5xi32>
  %z = tile.load %Z[%c0] : memref<?xi8, #tile.global> -> tensor<5xi8>
  %a = tile.reduce %x axis 0 (%l: f32, %r: f32) {
    %t = arith.maximumf %l, %r : f32
    tile.yield %t : f32
  } : tensor<5xf32> -> tensor<f32>
  %b = tile.reduce %y axis 0 (%l: i32, %r: i32) {
    %t = arith.maxsi %r, %l : i32
    tile.yield %t : i32
  } : tensor<5xi32> -> tensor<i32>
  %c = tile.reduce %z axis 0 (%l: i8, %r: i8) {
    %t = arith.minui %l, %r : i8
    tile.yield %t : i8
  } : tensor<5xi8> -> tensor<i8>
  %d = tile.reduce %x axis 0 (%l: f32, %r: f32) {
    %t = arith.maximumf %l, %r fastmath<ninf> : f32
    tile.yield %t : f32
  } : tensor<5xf32> -> tensor<f32>
}

// -----

// Any combiner: truth values go along. A scan needs nothing.
// CHECK-LABEL: tile.kernel @places
// CHECK: arith.cmpi slt
// CHECK: %[[X:.*]] = tile.load
// CHECK: %[[OWN:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<8xi32>
// CHECK: tile.reduce %[[X]], %{{.*}}, %[[OWN]] axis 0 (%[[A:.*]]: f32, %[[I:.*]]: i32, %[[V:.*]]: i1, %[[B:.*]]: f32, %[[J:.*]]: i32, %[[W:.*]]: i1) {
// CHECK: %[[MORE:.*]] = arith.cmpf ogt, %[[A]], %[[B]] : f32
// CHECK: %[[MAX:.*]] = arith.select %[[MORE]], %[[A]], %[[B]] : f32
// CHECK: %[[AT:.*]] = arith.select %[[MORE]], %[[I]], %[[J]] : i32
// CHECK: %[[BOTH:.*]] = arith.andi %[[V]], %[[W]] : i1
// CHECK: %[[ONE:.*]] = arith.select %[[V]], %[[A]], %[[B]] : f32
// CHECK: %[[MAX1:.*]] = arith.select %[[BOTH]], %[[MAX]], %[[ONE]] : f32
// CHECK: %[[ANY:.*]] = arith.ori %[[V]], %[[W]] : i1
// CHECK: tile.yield %[[MAX1]], %{{.*}}, %[[ANY]] : f32, i32, i1
// CHECK: } : tensor<8xf32>, tensor<8xi32>, tensor<8xi1> -> tensor<f32>, tensor<i32>, tensor<i1>
// CHECK: tile.splat
// CHECK-NOT: arith.select
// CHECK: tile.scan %[[X]] axis 0
tile.kernel @places(%X: memref<?xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xf32, #tile.global> -> tensor<5xf32>
  %i = tile.iota axis 0 : tensor<5xi32>
  %max, %at = tile.reduce %x, %i axis 0 (%a: f32, %j: i32, %b: f32, %k: i32) {
    %more = arith.cmpf ogt, %a, %b : f32
    %m = arith.select %more, %a, %b : f32
    %n = arith.select %more, %j, %k : i32
    tile.yield %m, %n : f32, i32
  } : tensor<5xf32>, tensor<5xi32> -> tensor<f32>, tensor<i32>
  %one = tensor.extract %max[] : tensor<f32>
  %all = tile.splat %one : f32 -> tensor<5xf32>
  %s = tile.scan %x axis 0 (%a: f32, %b: f32) {
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  } : tensor<5xf32> -> tensor<5xf32>
}

// -----

// Products: loads have left zeros along K; what is computed has not.
// CHECK-LABEL: tile.kernel @product
// CHECK: %[[A:.*]] = tile.load %A{{.*}} -> tensor<16x8xf16>
// CHECK: %[[B:.*]] = tile.load %B{{.*}} -> tensor<8x16xf16>
// CHECK: %[[C:.*]] = math.exp %[[B]] : tensor<8x16xf16>
// CHECK: %[[OWN:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<8x16xi32>
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8x16xf16>
// CHECK: %[[D:.*]] = arith.select %[[OWN]], %[[C]], %[[ZERO]] : tensor<8x16xi1>, tensor<8x16xf16>
// CHECK: tile.mma %[[A]], %[[D]], %{{.*}} : tensor<16x8xf16>, tensor<8x16xf16>, tensor<16x16xf32>
!rows = memref<?x?xf16, strided<[?, 1]>, #tile.global>
tile.kernel @product(%A: !rows, %B: !rows, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<12x9xf32>
  %a = tile.load %A[%c0, %c0] : !rows -> tensor<12x5xf16>
  %b = tile.load %B[%c0, %c0] : !rows -> tensor<5x9xf16>
  %e = math.exp %b : tensor<5x9xf16>
  %c = tile.mma %a, %e, %zero : tensor<12x5xf16>, tensor<5x9xf16>, tensor<12x9xf32>
  tile.store %c, %C[%c0, %c0] : tensor<12x9xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

// -----

// Other shapes: where elements keep their places among the padded ones, nothing moves.
// CHECK-LABEL: tile.kernel @shapes
// CHECK: %[[X:.*]] = tile.load
// CHECK: tile.reshape %[[X]] : tensor<4x8xf32> -> tensor<32xf32>
// CHECK: tile.reshape %[[X]] : tensor<4x8xf32> -> tensor<4x2x4xf32>
// CHECK: tile.repack %[[X]] at [0, 0] sizes [3, 8] onto [0, 0] sizes [8, 3] : tensor<4x8xf32> -> tensor<8x4xf32>
// CHECK: tile.extract_slice %[[X]] at [0, 4] : tensor<4x8xf32> -> tensor<4x4xf32>
// CHECK: tile.extract_slice %[[X]] at [0, 3] : tensor<4x8xf32> -> tensor<4x4xf32>
// CHECK: tile.concat %[[X]], %[[X]] axis 1 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x16xf32>
// CHECK: %[[TOP:.*]] = tile.repack %[[X]] at [0, 0] sizes [3, 8] onto [0, 0] sizes [3, 8] : tensor<4x8xf32> -> tensor<8x8xf32>
// CHECK: %[[BOTTOM:.*]] = tile.repack %[[X]] at [0, 0] sizes [3, 8] onto [3, 0] sizes [3, 8] : tensor<4x8xf32> -> tensor<8x8xf32>
// CHECK: %[[FIRST:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<8x8xi32>
// CHECK: arith.select %[[FIRST]], %[[TOP]], %[[BOTTOM]] : tensor<8x8xi1>, tensor<8x8xf32>
!m = memref<?x?xf32, strided<[?, 1]>, #tile.global>
tile.kernel @shapes(%X: !m) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : !m -> tensor<3x8xf32>
  %a = tile.reshape %x : tensor<3x8xf32> -> tensor<24xf32>
  %b = tile.reshape %x : tensor<3x8xf32> -> tensor<3x2x4xf32>
  %c = tile.reshape %x : tensor<3x8xf32> -> tensor<8x3xf32>
  %d = tile.extract_slice %x at [0, 4] : tensor<3x8xf32> -> tensor<3x4xf32>
  %e = tile.extract_slice %x at [0, 3] : tensor<3x8xf32> -> tensor<3x3xf32>
  %f = tile.concat %x, %x axis 1 : tensor<3x8xf32>, tensor<3x8xf32> -> tensor<3x16xf32>
  %g = tile.concat %x, %x axis 0 : tensor<3x8xf32>, tensor<3x8xf32> -> tensor<6x8xf32>
}

// -----

// Past the edge of a part's own elements is zero; only a part's own elements are inserted; a part in steps that its padding would
// take out of the tile is taken of a larger one.
// CHECK-LABEL: tile.kernel @parts
// CHECK: %[[X:.*]] = tile.load {{.*}} -> tensor<8xf32>
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK: %[[Z:.*]] = arith.select %{{.*}}, %[[X]], %[[ZERO]] : tensor<8xi1>, tensor<8xf32>
// CHECK: %[[P:.*]] = tile.extract_slice %[[Z]] at [%[[I:.*]]] : tensor<8xf32> -> tensor<4xf32>
// CHECK: %[[MADE:.*]] = tile.insert_slice %[[P]] into %[[Y:.*]] at [%{{.*}}] : tensor<4xf32> into tensor<8xf32>
// CHECK: %[[START:.*]] = tile.splat %{{.*}} : i64 -> tensor<8xi64>
// CHECK: %[[PLACE:.*]] = tile.iota axis 0 : tensor<8xi64>
// CHECK: %[[WAY:.*]] = arith.subi %[[PLACE]], %[[START]] : tensor<8xi64>
// CHECK: %[[OWN:.*]] = arith.cmpi ult, %[[WAY]], %{{.*}} : tensor<8xi64>
// CHECK: arith.select %[[OWN]], %[[MADE]], %[[Y]] : tensor<8xi1>, tensor<8xf32>
// CHECK: %[[WIDE:.*]] = tile.concat %[[Y]], %{{.*}} axis 0 : tensor<8xf32>, tensor<8xf32> -> tensor<16xf32>
// CHECK: tile.extract_slice %[[WIDE]] at [%{{.*}}] strides [3] : tensor<16xf32> -> tensor<4xf32>
!v = memref<?xf32, #tile.global>
tile.kernel @parts(%X: !v) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %n = tile.block_id x
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : !v -> tensor<6xf32>
  %y = tile.load %X[%c0] : !v -> tensor<8xf32>
  %p = tile.extract_slice %x at [%n] : tensor<6xf32> -> tensor<3xf32>
  %q = tile.insert_slice %p into %y at [2] : tensor<3xf32> into tensor<8xf32>
  %r = tile.extract_slice %y at [1] strides [3] : tensor<8xf32> -> tensor<3xf32>
}

// -----

// Divisors, assertions and text; loops and branches carry padded tiles.
// CHECK-LABEL: tile.kernel @others
// CHECK: %[[BY:.*]] = arith.subi
// CHECK: %[[ONE:.*]] = arith.constant dense<1> : tensor<8xi32>
// CHECK: %[[SAFE:.*]] = arith.select %{{.*}}, %[[BY]], %[[ONE]] : tensor<8xi1>, tensor<8xi32>
// CHECK: arith.divsi %{{.*}}, %[[SAFE]] : tensor<8xi32>
// CHECK: %[[TRUE:.*]] = arith.constant dense<true> : tensor<8xi1>
// CHECK: %[[HOLDS:.*]] = arith.select %{{.*}}, %{{.*}}, %[[TRUE]] : tensor<8xi1>
// CHECK: tile.assert %[[HOLDS]], "it is so" : tensor<8xi1>
// CHECK: tile.print "{}", %{{.*}} {extent = array<i64: 5>} : tensor<8xi32>
// CHECK: scf.for {{.*}} -> (tensor<8xi32>)
tile.kernel @others(%n: i32) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %i = tile.iota axis 0 : tensor<5xi32>
  %ns = tile.splat %n : i32 -> tensor<5xi32>
  %by = arith.subi %ns, %i : tensor<5xi32>
  %q = arith.divsi %ns, %by : tensor<5xi32>
  %ok = arith.cmpi slt, %i, %ns : tensor<5xi32>
  tile.assert %ok, "it is so" : tensor<5xi1>
  tile.print "{}", %q : tensor<5xi32>
  %s = scf.for %k = %c0 to %c4 step %c1 iter_args(%t = %q) -> (tensor<5xi32>) {
    %u = arith.addi %t, %i : tensor<5xi32>
    scf.yield %u : tensor<5xi32>
  }
}

// -----

// CHECK-LABEL: tile.kernel @constants
// CHECK: arith.constant dense<{{\[}}[1, 2, 3, 1], [4, 5, 6, 1], [7, 8, 9, 1], [1, 1, 1, 1]]> : tensor<4x4xi32>
tile.kernel @constants() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %x = arith.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi32>
}

// -----

// What is outside is padded as well, and is no zero for a product.
// CHECK-LABEL: tile.kernel @pass_thru
// CHECK: %[[ONES:.*]] = arith.constant dense<1.000000e+00> : tensor<16x4xf16>
// CHECK: %[[OWN:.*]] = arith.cmpi slt
// CHECK: %[[NO:.*]] = arith.constant dense<false> : tensor<16x4xi1>
// CHECK: %[[M:.*]] = arith.select %{{.*}}, %{{.*}}, %[[NO]] : tensor<16x4xi1>
// CHECK: %[[A:.*]] = tile.load %X[%{{.*}}] mask %[[M]] : tensor<16x4xi1> pass_thru %[[ONES]] : tensor<16x4xf16> cache evict_last : {{.*}} -> tensor<16x4xf16>
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<16x4xf16>
// CHECK: %[[CUT:.*]] = arith.select %{{.*}}, %[[A]], %[[ZERO]] : tensor<16x4xi1>, tensor<16x4xf16>
// CHECK: tile.mma %[[CUT]],
!h = memref<?x?xf16, strided<[?, 1]>, #tile.global>
tile.kernel @pass_thru(%X: !h, %Y: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %ones = arith.constant dense<1.0> : tensor<16x3xf16>
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %i = tile.iota axis 0 : tensor<16x3xi32>
  %j = tile.iota axis 1 : tensor<16x3xi32>
  %low = arith.cmpi sge, %i, %j : tensor<16x3xi32>
  %a = tile.load %X[%c0, %c0] mask %low : tensor<16x3xi1> pass_thru %ones : tensor<16x3xf16> cache evict_last : !h -> tensor<16x3xf16>
  %b = tile.load %X[%c0, %c0] : !h -> tensor<3x8xf16>
  %c = tile.mma %a, %b, %zero : tensor<16x3xf16>, tensor<3x8xf16>, tensor<16x8xf32>
  tile.store %c, %Y[%c0, %c0] : tensor<16x8xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}
