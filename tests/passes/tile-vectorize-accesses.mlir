// How many neighbours each access moves: a kernel asks once for what is not known.
// RUN: girih-opt %s -tile-vectorize-accesses -split-input-file | FileCheck %s
// Once more changes nothing.
// RUN: girih-opt %s -tile-vectorize-accesses -split-input-file -o %t.mlir && girih-opt %t.mlir -tile-vectorize-accesses -split-input-file -o %t.again.mlir && diff %t.mlir %t.again.mlir
// RUN: girih-opt %s -tile-vectorize-accesses=guard=false -split-input-file | FileCheck %s --check-prefix=PLAIN
// RUN: girih-opt %s -tile-vectorize-accesses=report=true -split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// PLAIN-NOT: tile.is_aligned
// PLAIN: tile.kernel @known
// PLAIN-NOT: tile.is_aligned
// PLAIN: tile.load %A[%{{.*}}] : memref<?xf32, #tile.global>
// PLAIN: tile.store %{{.*}}, %B[%{{.*}}] {vector = 4 : i64}
// PLAIN-NOT: tile.is_aligned
// REPORT: remark: asks when it starts whether vectors are aligned: A along axis 1 by 8, B along axis 1 by 8; where not all are, of 2 accesses 2 go by the answer for their own memref, 0 are vectors all the same, and 0 move element by element
// REPORT: remark: asks when it starts whether vectors are aligned: A along axis 1 by 8; where not all are, of 2 accesses 0 go by the answer for their own memref, 0 are vectors all the same, and 2 move element by element
// REPORT: remark: asks when it starts whether vectors are aligned: A along axis 0 by 4; where not all are, of 2 accesses 0 go by the answer for their own memref, 1 are vectors all the same, and 1 move element by element

// The index is a multiple of 64, so that 16 bytes go together if rows start at multiples of them.
// CHECK-LABEL: tile.kernel @rows
// CHECK: %[[A:.*]] = tile.is_aligned %A axis 1 by 8
// CHECK: %[[B:.*]] = tile.is_aligned %B axis 1 by 8
// CHECK: %[[BOTH:.*]] = arith.andi %[[A]], %[[B]] : i1
// CHECK: scf.if %[[BOTH]] {
// CHECK: tile.load %A[%{{.*}}] {vector = 8 : i64}
// CHECK: tile.store %{{.*}}, %B[%{{.*}}] {vector = 8 : i64}
// CHECK: } else {
// Where not both are, each goes by its own.
// CHECK: tile.load %A[%{{.*}}] vector_if %[[A]] {vector = 8 : i64}
// CHECK: tile.store %{{.*}}, %B[%{{.*}}] vector_if %[[B]] {vector = 8 : i64}
tile.kernel @rows(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %block = tile.block_id x
  %j = arith.muli %block, %c64 : index
  %x = tile.load %A[%c0, %j] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<4x64xbf16, #tile.blocked<per_thread = [1, 8], lanes = [4, 8], warps = [1, 1]>>
  tile.store %x, %B[%c0, %j] : tensor<4x64xbf16, #tile.blocked<per_thread = [1, 8], lanes = [4, 8], warps = [1, 1]>>, memref<?x?xbf16, strided<[?, 1]>, #tile.global>
}

// -----

// Nothing is known of the index, or nothing lies side by side: one by one.
// CHECK-LABEL: tile.kernel @anywhere
// CHECK-NOT: vector
tile.kernel @anywhere(%A: memref<?x?xbf16, strided<[?, ?]>, #tile.global>, %B: memref<?xbf16, #tile.global>, %n: i64) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : memref<?x?xbf16, strided<[?, ?]>, #tile.global> -> tensor<4x64xbf16, #tile.blocked<per_thread = [1, 8], lanes = [4, 8], warps = [1, 1]>>
  %i = arith.index_cast %n : i64 to index
  %y = tile.load %B[%i] : memref<?xbf16, #tile.global> -> tensor<256xbf16, #tile.blocked<per_thread = [8], lanes = [32], warps = [1]>>
}

// -----

// Shared memory is the block's, once: what comes before the first access is not made twice.
// CHECK-LABEL: tile.kernel @shared
// CHECK: %[[X:.*]] = tile.alloc
// CHECK-NOT: tile.alloc
// CHECK: tile.is_aligned
// CHECK: scf.if
// CHECK: memref.load %[[X]]
// CHECK: } else {
// CHECK: memref.load %[[X]]
tile.kernel @shared(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %Y: memref<?xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %s = tile.alloc : memref<64xf32, #tile.shared>
  %x = tile.load %A[%c0, %c0] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<4x64xbf16, #tile.blocked<per_thread = [1, 8], lanes = [4, 8], warps = [1, 1]>>
  tile.store %x, %A[%c0, %c0] : tensor<4x64xbf16, #tile.blocked<per_thread = [1, 8], lanes = [4, 8], warps = [1, 1]>>, memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %y = memref.load %s[%c0] : memref<64xf32, #tile.shared>
  memref.store %y, %Y[%c0] : memref<?xf32, #tile.global>
}

// -----

// A mask has one value for all of a vector: one that is made of other axes, and one that changes at multiples.
// CHECK-LABEL: tile.kernel @masked
// CHECK: tile.load %A[%{{.*}}] mask %{{.*}} : {{.*}} {vector = 4 : i64}
// CHECK: tile.load %A[%{{.*}}] mask %{{.*}} : {{.*}} {vector = 4 : i64}
// CHECK: tile.load %A[%{{.*}}] mask %{{.*}} : {{.*}} {vector = 4 : i64}
// CHECK: tile.load %A[%{{.*}}] mask %{{.*}} : {{.*}} {vector = 2 : i64}
// CHECK: tile.load %A[%{{.*}}] mask %{{.*}} : tensor<{{[^{]*}} : memref
// CHECK: tile.load %A[%{{.*}}] mask %{{.*}} : tensor<{{[^{]*}} : memref
#L = #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [4, 1]>
#row = #tile.sliced<axis = 1, of = #L>
#column = #tile.sliced<axis = 0, of = #L>
!m = memref<64x512xf32, #tile.global>
tile.kernel @masked(%A: !m {tile.aligned = 16}, %n: i32 {tile.divisible = 16}) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  // Rows, along which all columns agree.
  %i = tile.iota axis 0 : tensor<4xi32, #row>
  %three = arith.constant dense<3> : tensor<4xi32, #row>
  %r1 = arith.cmpi ne, %i, %three : tensor<4xi32, #row>
  %r2 = tile.expand_dims %r1 axis 1 : tensor<4xi1, #row> -> tensor<4x1xi1, #L>
  %rows = tile.broadcast %r2 : tensor<4x1xi1, #L> -> tensor<4x128xi1, #L>
  %a = tile.load %A[%c0, %c0] mask %rows : tensor<4x128xi1, #L> : !m -> tensor<4x128xf32, #L>
  // Up to a multiple of 4, with rows.
  %j = tile.iota axis 1 : tensor<4x128xi32, #L>
  %c100 = arith.constant dense<100> : tensor<4x128xi32, #L>
  %head = arith.cmpi slt, %j, %c100 : tensor<4x128xi32, #L>
  %both = arith.andi %head, %rows : tensor<4x128xi1, #L>
  %b = tile.load %A[%c0, %c0] mask %both : tensor<4x128xi1, #L> : !m -> tensor<4x128xf32, #L>
  // What is known of an argument.
  %ns = tile.splat %n : i32 -> tensor<4x128xi32, #L>
  %after = arith.addi %j, %c100 : tensor<4x128xi32, #L>
  %part = arith.cmpi uge, %after, %ns : tensor<4x128xi32, #L>
  %c = tile.load %A[%c0, %c0] mask %part : tensor<4x128xi1, #L> : !m -> tensor<4x128xf32, #L>
  // From 98 on.
  %c97 = arith.constant dense<97> : tensor<4x128xi32, #L>
  %tail = arith.cmpi sgt, %j, %c97 : tensor<4x128xi32, #L>
  %d = tile.load %A[%c0, %c0] mask %tail : tensor<4x128xi1, #L> : !m -> tensor<4x128xf32, #L>
  // Up to 96, and one alone.
  %upto = arith.cmpi sge, %c97, %j : tensor<4x128xi32, #L>
  %low = arith.andi %upto, %head : tensor<4x128xi1, #L>
  %odd = arith.cmpi slt, %j, %c97 : tensor<4x128xi32, #L>
  %e = tile.load %A[%c0, %c0] mask %odd : tensor<4x128xi1, #L> : !m -> tensor<4x128xf32, #L>
  %alone = arith.cmpi eq, %j, %c100 : tensor<4x128xi32, #L>
  %f = tile.load %A[%c0, %c0] mask %alone : tensor<4x128xi1, #L> : !m -> tensor<4x128xf32, #L>
}

// -----

// Bytes change their sign in the middle: 127 and 128 are neighbours.
// CHECK-LABEL: tile.kernel @bytes
// CHECK: tile.load %A[%{{.*}}] mask %{{.*}} : {{.*}} {vector = 16 : i64}
#B = #tile.blocked<per_thread = [16], lanes = [32], warps = [1]>
tile.kernel @bytes(%A: memref<512xi8, #tile.global> {tile.aligned = 16}) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %i = tile.iota axis 0 : tensor<512xi8, #B>
  %zero = arith.constant dense<0> : tensor<512xi8, #B>
  %m = arith.cmpi slt, %i, %zero : tensor<512xi8, #B>
  %a = tile.load %A[%c0] mask %m : tensor<512xi1, #B> : memref<512xi8, #tile.global> -> tensor<512xi8, #B>
}

// -----

// What is known of one is known whatever the answer for another is.
// CHECK-LABEL: tile.kernel @known
// CHECK: scf.if
// CHECK: } else {
// CHECK: tile.load %A[%{{.*}}] : memref<?xf32, #tile.global>
// CHECK: tile.store %{{.*}}, %B[%{{.*}}] {vector = 4 : i64}
tile.kernel @known(%A: memref<?xf32, #tile.global>, %B: memref<512xf32, #tile.global> {tile.aligned = 16}) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0] : memref<?xf32, #tile.global> -> tensor<512xf32, #tile.blocked<per_thread = [4], lanes = [32], warps = [4]>>
  tile.store %x, %B[%c0] : tensor<512xf32, #tile.blocked<per_thread = [4], lanes = [32], warps = [4]>>, memref<512xf32, #tile.global>
}

// -----

// A mask, what is outside, a policy and where elements end stay what they are.
// CHECK-LABEL: tile.kernel @pass_thru
// CHECK: %[[A:.*]] = tile.is_aligned %A axis 1 by 8
// CHECK: %[[B:.*]] = tile.is_aligned %B axis 1 by 8
// CHECK: tile.load %A[%{{.*}}] mask %{{.*}} pass_thru %{{.*}} cache evict_last {vector = 8 : i64}
// CHECK: tile.store %{{.*}}, %B[%{{.*}}] mask %{{.*}} cache evict_first {vector = 8 : i64}
// CHECK: } else {
// CHECK: %[[I:.*]] = tile.iota
// CHECK: %[[M:.*]] = arith.cmpi
// CHECK: %[[F:.*]] = arith.constant dense<1.000000e+00> : tensor<4x64xbf16
// CHECK: %[[X:.*]] = tile.load %A[%{{.*}}] mask %[[M]] : {{.*}} pass_thru %[[F]] : {{.*}} vector_if %[[A]] cache evict_last {vector = 8 : i64}
// CHECK: tile.store %[[X]], %B[%{{.*}}] mask %[[M]] : {{.*}} vector_if %[[B]] cache evict_first {vector = 8 : i64}
#P = #tile.blocked<per_thread = [1, 8], lanes = [4, 8], warps = [1, 1]>
!r = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
tile.kernel @pass_thru(%A: !r, %B: !r) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %i = tile.iota axis 0 : tensor<4x64xi32, #P>
  %c3 = arith.constant dense<3> : tensor<4x64xi32, #P>
  %m = arith.cmpi ne, %i, %c3 : tensor<4x64xi32, #P>
  %f = arith.constant dense<1.0> : tensor<4x64xbf16, #P>
  %x = tile.load %A[%c0, %c0] mask %m : tensor<4x64xi1, #P> pass_thru %f : tensor<4x64xbf16, #P> cache evict_last : !r -> tensor<4x64xbf16, #P>
  tile.store %x, %B[%c0, %c0] mask %m : tensor<4x64xi1, #P> cache evict_first : tensor<4x64xbf16, #P>, !r
}

// -----

// Of several blocks there is one body: what is known moves vectors all the same.
// CHECK-LABEL: tile.kernel @blocks
// CHECK-NOT: tile.is_aligned
// CHECK: tile.load %A[%{{.*}}] : memref<?xf32, #tile.global>
// CHECK: tile.store %{{.*}}, %B[%{{.*}}] {vector = 4 : i64}
tile.kernel @blocks(%A: memref<?xf32, #tile.global>, %B: memref<512xf32, #tile.global> {tile.aligned = 16}) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  cf.br ^bb1
^bb1:
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0] : memref<?xf32, #tile.global> -> tensor<512xf32, #tile.blocked<per_thread = [4], lanes = [32], warps = [4]>>
  tile.store %x, %B[%c0] : tensor<512xf32, #tile.blocked<per_thread = [4], lanes = [32], warps = [4]>>, memref<512xf32, #tile.global>
}

// -----

// Roles are there once, and what stands before and after them twice, each by itself. Memory that roles use comes first; a number
// and a tile come out of the branch.
// CHECK-LABEL: tile.kernel @around_roles
// CHECK: %[[X:.*]] = tile.is_aligned %X axis 0 by 4
// CHECK: %[[Y:.*]] = tile.is_aligned %Y axis 0 by 4
// CHECK: %[[FAST:.*]] = arith.andi %[[X]], %[[Y]]
// CHECK: %[[GIVEN:.*]]:2 = scf.if %[[FAST]] -> (i32, tensor<512xi32, #{{.*}}>) {
// CHECK: tile.store %{{.*}}, %Y[%{{.*}}] {vector = 4 : i64}
// CHECK: %[[N:.*]] = memref.load %X
// CHECK: %[[T:.*]] = tile.load %X[%{{.*}}] {vector = 4 : i64}
// CHECK: scf.yield %[[N]], %[[T]]
// CHECK: } else {
// CHECK: tile.store %{{.*}}, %Y[%{{.*}}] vector_if %[[Y]] {vector = 4 : i64}
// CHECK: tile.load %X[%{{.*}}] vector_if %[[X]] {vector = 4 : i64}
// CHECK: scf.yield
// CHECK: }
// CHECK-NEXT: tile.warp_specialize
// CHECK: tile.splat %[[GIVEN]]#0
// CHECK: memref.store %{{.*}}, %[[S:.*]][%
// CHECK-NOT: tile.warp_specialize
// CHECK: scf.if %[[FAST]] {
// CHECK: tile.store %[[GIVEN]]#1, %Y[%{{.*}}] {vector = 4 : i64}
// CHECK: } else {
// CHECK: tile.store %[[GIVEN]]#1, %Y[%{{.*}}] vector_if %[[Y]] {vector = 4 : i64}
// CHECK-NOT: tile.warp_specialize
#R = #tile.blocked<per_thread = [4], lanes = [32], warps = [4]>
!v = memref<512xi32, #tile.global>
tile.kernel @around_roles(%X: !v, %Y: !v) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %i = tile.iota axis 0 : tensor<512xi32, #R>
  tile.store %i, %Y[%c0] : tensor<512xi32, #R>, !v
  %n = memref.load %X[%c0] : !v
  %s = tile.alloc : memref<4xi32, #tile.shared>
  %x = tile.load %X[%c0] : !v -> tensor<512xi32, #R>
  tile.warp_specialize
  role one(%t) warps(4) {
    %m = tile.splat %n : i32 -> tensor<32xi32, #tile.blocked<per_thread = [1], lanes = [32], warps = [1]>>
    memref.store %n, %s[%c0] : memref<4xi32, #tile.shared>
  }
  tile.store %x, %Y[%c0] : tensor<512xi32, #R>, !v
}

// -----

// Memory that is made of what stands between accesses does not come out of a branch: these go element by element.
// CHECK-LABEL: tile.kernel @memory_between
// CHECK-NOT: scf.if
// CHECK-NOT: vector
// CHECK: tile.warp_specialize
#Q = #tile.blocked<per_thread = [4], lanes = [32], warps = [4]>
!w = memref<512xi32, #tile.global>
tile.kernel @memory_between(%X: !w, %Y: !w) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %s = tile.alloc : memref<4x4xi32, #tile.shared>
  %i = tile.iota axis 0 : tensor<512xi32, #Q>
  tile.store %i, %Y[%c0] : tensor<512xi32, #Q>, !w
  %n = memref.load %X[%c0] : !w
  %k = arith.index_cast %n : i32 to index
  %part = tile.slab %s[%k] : memref<4x4xi32, #tile.shared> -> memref<4xi32, #tile.shared>
  %x = tile.load %X[%c0] : !w -> tensor<512xi32, #Q>
  tile.store %x, %Y[%c0] : tensor<512xi32, #Q>, !w
  tile.warp_specialize
  role one(%t) warps(4) {
    memref.store %n, %part[%c0] : memref<4xi32, #tile.shared>
  }
}
