// What costs less in another layout made anew than converted.
// RUN: girih-opt %s -tile-assign-layouts -split-input-file 2>/dev/null | FileCheck %s
// RUN: girih-opt %s -tile-assign-layouts -split-input-file 2>&1 | FileCheck %s --check-prefix=SAID

!rows = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xf32, strided<[1, ?]>, #tile.global>

// Numbers that are counted and multiplied, in every layout that they are stored in: nothing moves.
// CHECK-LABEL: tile.kernel @counted
// CHECK-DAG: tile.iota axis 0 : tensor<64xi32, #tile.sliced<axis = 0, of = [[ROWS:#tile.blocked<per_thread = \[1, 4\], lanes = \[4, 8\], warps = \[4, 1\]>]]>>
// CHECK-DAG: tile.iota axis 0 : tensor<64xi32, #tile.sliced<axis = 0, of = [[COLUMNS:#tile.blocked<per_thread = \[4, 1\], lanes = \[8, 4\], warps = \[1, 4\], order = \[0, 1\]>]]>>
// CHECK: %[[R:.*]] = tile.broadcast %{{.*}} -> tensor<64x64xf32, [[ROWS]]>
// CHECK: tile.store %[[R]], %Y
// CHECK: arith.sitofp %{{.*}} to tensor<64xf32, #tile.sliced<axis = 0, of = [[COLUMNS]]>>
// CHECK: arith.mulf %{{.*}} : tensor<64xf32, #tile.sliced<axis = 0, of = [[COLUMNS]]>>
// CHECK: tile.expand_dims %{{.*}} -> tensor<1x64xf32, [[COLUMNS]]>
// CHECK: %[[C:.*]] = tile.broadcast %{{.*}} -> tensor<64x64xf32, [[COLUMNS]]>
// CHECK: tile.store %[[C]], %Z
// CHECK-NOT: tile.convert_layout
// SAID-NOT: another layout
// SAID: tile.kernel @counted
tile.kernel @counted(%Y: !rows, %Z: !columns, %s: f32) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %i = tile.iota axis 0 : tensor<64xi32>
  %f = arith.sitofp %i : tensor<64xi32> to tensor<64xf32>
  %scale = tile.splat %s : f32 -> tensor<64xf32>
  %g = arith.mulf %f, %scale : tensor<64xf32>
  %e = tile.expand_dims %g axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %b = tile.broadcast %e : tensor<1x64xf32> -> tensor<64x64xf32>
  tile.store %b, %Y[%c0, %c0] : tensor<64x64xf32>, !rows
  tile.store %b, %Z[%c0, %c0] : tensor<64x64xf32>, !columns
}

// -----

!rows = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xf32, strided<[1, ?]>, #tile.global>

// A mask of two counts, compared in both layouts, once in each.
// CHECK-LABEL: tile.kernel @triangle
// CHECK: %[[R:.*]] = arith.cmpi slt, %{{.*}} : tensor<64x64xi32, [[ROWS:#tile.blocked<per_thread = \[1, 4\], lanes = \[4, 8\], warps = \[4, 1\]>]]>
// CHECK: tile.load %X[{{.*}}] mask %[[R]]
// CHECK: %[[C:.*]] = arith.cmpi slt, %{{.*}} : tensor<64x64xi32, [[COLUMNS:#tile.blocked<per_thread = \[4, 1\], lanes = \[8, 4\], warps = \[1, 4\], order = \[0, 1\]>]]>
// CHECK: tile.load %Y[{{.*}}] mask %[[C]]
// CHECK: tile.store %{{.*}}, %Y[{{.*}}] mask %[[C]]
// CHECK: tile.store %{{.*}}, %X[{{.*}}] mask %[[R]]
// CHECK-NOT: tile.convert_layout
// SAID-NOT: another layout
// SAID: tile.kernel @triangle
tile.kernel @triangle(%X: !rows, %Y: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.iota axis 0 : tensor<64x64xi32>
  %j = tile.iota axis 1 : tensor<64x64xi32>
  %m = arith.cmpi slt, %i, %j : tensor<64x64xi32>
  %x = tile.load %X[%c0, %c0] mask %m : tensor<64x64xi1> : !rows -> tensor<64x64xf32>
  %y = tile.load %Y[%c0, %c0] mask %m : tensor<64x64xi1> : !columns -> tensor<64x64xf32>
  tile.store %y, %Y[%c1, %c0] mask %m : tensor<64x64xi1> : tensor<64x64xf32>, !columns
  tile.store %x, %X[%c1, %c0] mask %m : tensor<64x64xi1> : tensor<64x64xf32>, !rows
}

// -----

!rows = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!half = memref<?x?xbf16, strided<[?, 1]>, #tile.global>

// Two bytes of a number go between threads, not the four that are stored: what follows is done in the layout of the store.
// CHECK-LABEL: tile.kernel @widened
// CHECK: %[[T:.*]] = tile.transpose
// CHECK: %[[C:.*]] = tile.convert_layout %[[T]] : tensor<64x64xbf16, {{.*}}> -> tensor<64x64xbf16, [[ROWS:#tile.blocked<per_thread = \[1, 4\], lanes = \[4, 8\], warps = \[4, 1\]>]]>
// CHECK-NEXT: %[[F:.*]] = arith.extf %[[C]]
// CHECK-NEXT: %[[E:.*]] = math.exp %[[F]] : tensor<64x64xf32, [[ROWS]]>
// CHECK-NEXT: tile.store %[[E]], %Y
// CHECK-NOT: arith.extf
// SAID: remark: takes tensor<64x64xbf16, {{.*}}> in another layout
// SAID-NEXT: arith.extf
// SAID: tile.kernel @widened
tile.kernel @widened(%X: !half, %Y: !rows) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : !half -> tensor<64x64xbf16>
  %t = tile.transpose %x order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
  %f = arith.extf %t : tensor<64x64xbf16> to tensor<64x64xf32>
  %e = math.exp %f : tensor<64x64xf32>
  tile.store %e, %Y[%c0, %c0] : tensor<64x64xf32>, !rows
}

// -----

!rows = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!half = memref<?x?xbf16, strided<[?, 1]>, #tile.global>

// What is narrowed goes between threads after that.
// CHECK-LABEL: tile.kernel @narrowed
// CHECK: %[[N:.*]] = arith.truncf
// CHECK: tile.convert_layout %[[N]] : tensor<64x64xbf16,
// CHECK-NEXT: tile.store
tile.kernel @narrowed(%X: !rows, %Y: !half) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : !rows -> tensor<64x64xf32>
  %t = tile.transpose %x order [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  %n = arith.truncf %t : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %n, %Y[%c0, %c0] : tensor<64x64xbf16>, !half
}

// -----

!rows = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xf32, strided<[1, ?]>, #tile.global>
!vector = memref<?xf32, #tile.global>

// A row of 64 numbers goes between threads, not the 64 that it is repeated in.
// CHECK-LABEL: tile.kernel @repeated
// CHECK: tile.load
// CHECK: %[[E:.*]] = tile.expand_dims
// CHECK: tile.store %{{.*}}, %X
// CHECK: %[[C:.*]] = tile.convert_layout %[[E]] : tensor<1x64xf32, {{.*}}> -> tensor<1x64xf32, [[COLUMNS:#tile.blocked<per_thread = \[4, 1\], lanes = \[8, 4\], warps = \[1, 4\], order = \[0, 1\]>]]>
// CHECK-NEXT: %[[B:.*]] = tile.broadcast %[[C]] : tensor<1x64xf32, [[COLUMNS]]> -> tensor<64x64xf32, [[COLUMNS]]>
// CHECK-NEXT: tile.store %[[B]], %Z
// CHECK-NOT: tile.convert_layout
tile.kernel @repeated(%X: !rows, %R: !vector, %Z: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %g = tile.load %R[%c0] : !vector -> tensor<64xf32>
  %e = tile.expand_dims %g axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %b = tile.broadcast %e : tensor<1x64xf32> -> tensor<64x64xf32>
  tile.store %b, %X[%c0, %c0] : tensor<64x64xf32>, !rows
  tile.store %b, %Z[%c0, %c0] : tensor<64x64xf32>, !columns
}

// -----

!rows = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xf32, strided<[1, ?]>, #tile.global>

// An exponential of each number costs more than a way through shared memory; it is computed once.
// CHECK-LABEL: tile.kernel @costly
// CHECK: %[[X:.*]] = math.exp
// CHECK: tile.store %[[X]], %Y
// CHECK: %[[C:.*]] = tile.convert_layout %[[X]] : tensor<64x64xf32,
// CHECK-NEXT: tile.store %[[C]], %Z
// CHECK-NOT: math.exp
// SAID: remark: takes tensor<64x64xf32, {{.*}}> in another layout
// SAID: tile.kernel @costly
tile.kernel @costly(%Y: !rows, %Z: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %i = tile.iota axis 0 : tensor<64x64xi32>
  %j = tile.iota axis 1 : tensor<64x64xi32>
  %n = arith.muli %i, %j : tensor<64x64xi32>
  %f = arith.sitofp %n : tensor<64x64xi32> to tensor<64x64xf32>
  %x = math.exp %f : tensor<64x64xf32>
  tile.store %x, %Y[%c0, %c0] : tensor<64x64xf32>, !rows
  tile.store %x, %Z[%c0, %c0] : tensor<64x64xf32>, !columns
}

// -----

!rows = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xf32, strided<[1, ?]>, #tile.global>

// What was loaded is never loaded again: memory may have changed.
// CHECK-LABEL: tile.kernel @loaded
// CHECK-COUNT-1: tile.load
// CHECK: tile.convert_layout %{{.*}} : tensor<64x64xf32,
// CHECK-NOT: tile.load
tile.kernel @loaded(%X: !rows, %Z: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : !rows -> tensor<64x64xf32>
  tile.store %x, %Z[%c0, %c0] : tensor<64x64xf32>, !columns
}

// -----

!rows = memref<?x?xf32, strided<[?, 1]>, #tile.global>

// One op takes a tile in two layouts; it is made in both.
// CHECK-LABEL: tile.kernel @square
// CHECK-DAG: %[[A:.*]] = arith.sitofp %{{.*}} to tensor<32x32xf16, [[LA:#tile.linear<.*>]]>
// CHECK-DAG: %[[B:.*]] = arith.sitofp %{{.*}} to tensor<32x32xf16, [[LB:#tile.linear<.*>]]>
// CHECK: tile.mma %[[A]], %[[B]], %{{.*}} : tensor<32x32xf16, [[LA]]>, tensor<32x32xf16, [[LB]]>, tensor<32x32xf32,
tile.kernel @square(%Y: !rows) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %i = tile.iota axis 0 : tensor<32x32xi32>
  %f = arith.sitofp %i : tensor<32x32xi32> to tensor<32x32xf16>
  %y = tile.mma %f, %f, %zero : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
  tile.store %y, %Y[%c0, %c0] : tensor<32x32xf32>, !rows
}
