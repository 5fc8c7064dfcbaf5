// Whole tiles in global memory: a barrier between accesses of different threads to one argument, and none where each thread
// meets its own elements alone.
// RUN: girih-opt %s -tile-insert-sync | FileCheck %s

#L = #tile.blocked<per_thread = [4], lanes = [32], warps = [2]>
!V = memref<?xi32, #tile.global>
!T = tensor<256xi32, #L>

// At another offset, both ways.
// CHECK-LABEL: tile.kernel @shifted
// CHECK: tile.store %{{.*}}, %[[T:.*]][%{{.*}}] : tensor
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.load %[[T]]
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.store %{{.*}}, %[[T]]
// CHECK-NEXT: tile.store
// CHECK-NOT: tile.barrier
tile.kernel @shifted(%X: !V, %T: !V, %Y: !V) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %x = tile.load %X[%c0] : !V -> !T
  tile.store %x, %T[%c0] : !T, !V
  %y = tile.load %T[%c3] : !V -> !T
  tile.store %y, %T[%c0] : !T, !V
  tile.store %y, %Y[%c0] : !T, !V
}

// The same elements by the same threads, in passes that lie apart; tiles that lie apart by a constant; other arguments.
// CHECK-LABEL: tile.kernel @own
// CHECK-NOT: tile.barrier
tile.kernel @own(%X: !V, %T: !V, %n: i32) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %end = arith.index_cast %n : i32 to index
  scf.for %i = %c0 to %end step %c256 {
    %x = tile.load %T[%i] {vector = 4 : i64} : !V -> !T
    %y = arith.addi %x, %x : !T
    tile.store %y, %T[%i] {vector = 4 : i64} : !T, !V
  }
  %next = arith.addi %end, %c256 : index
  %a = tile.load %X[%end] : !V -> !T
  tile.store %a, %X[%next] : !T, !V
}

// Neighbours that are moved one by one go through the lanes of a warp: other threads move them, and others than those that move
// vectors or go by a mask.
// CHECK-LABEL: tile.kernel @lanes
// CHECK: tile.load
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.load %{{.*}} vector_if
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.store %{{.*}} mask
tile.kernel @lanes(%T: !V) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %m = arith.constant dense<true> : tensor<256xi1, #L>
  %aligned = tile.is_aligned %T axis 0 by 4 : !V
  %x = tile.load %T[%c0] {vector = 4 : i64} : !V -> !T
  tile.store %x, %T[%c0] : !T, !V
  %y = tile.load %T[%c0] vector_if %aligned {vector = 4 : i64} : !V -> !T
  tile.store %y, %T[%c0] mask %m : tensor<256xi1, #L> : !T, !V
}

// One element of each thread stays with it.
// CHECK-LABEL: tile.kernel @single
// CHECK-NOT: tile.barrier
#S = #tile.blocked<per_thread = [1], lanes = [32], warps = [2]>
tile.kernel @single(%T: !V) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %T[%c0] : !V -> tensor<256xi32, #S>
  tile.store %x, %T[%c0] : tensor<256xi32, #S>, !V
}

// A mask only leaves elements out.
// CHECK-LABEL: tile.kernel @masked
// CHECK-NOT: tile.barrier
tile.kernel @masked(%T: !V) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %i = tile.iota axis 0 : !T
  %n = arith.constant dense<77> : !T
  %m = arith.cmpi slt, %i, %n : !T
  %x = tile.load %T[%c0] mask %m : tensor<256xi1, #L> : !V -> !T
  tile.store %x, %T[%c0] mask %m : tensor<256xi1, #L> : !T, !V
}

// Passes that overlap: the next one's load waits for all stores, and the store for all loads.
// CHECK-LABEL: tile.kernel @overlap
// CHECK: scf.for
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: }
// CHECK-NOT: tile.barrier
tile.kernel @overlap(%T: !V, %n: i32) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = arith.index_cast %n : i32 to index
  scf.for %i = %c0 to %end step %c64 {
    %x = tile.load %T[%i] : !V -> !T
    tile.store %x, %T[%i] : !T, !V
  }
}

// Threads 32 to 63 hold copies, which thread 0 to 31 store.
// CHECK-LABEL: tile.kernel @copies
// CHECK: tile.load
// CHECK: tile.barrier
// CHECK-NEXT: tile.store
tile.kernel @copies(%T: !V) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1> : tensor<32xi32, #L>
  %x = tile.load %T[%c0] : !V -> tensor<32xi32, #L>
  %y = arith.addi %x, %one : tensor<32xi32, #L>
  tile.store %y, %T[%c0] : tensor<32xi32, #L>, !V
}

// A tile and single elements, which only some threads reach: the barrier stands where all come by. Single elements by themselves
// are explicit code.
// CHECK-LABEL: tile.kernel @elements
// CHECK: tile.store
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: scf.if
// CHECK-NEXT: memref.load
// CHECK-NEXT: memref.store
// CHECK-NEXT: }
// CHECK-NEXT: memref.store
// CHECK-NOT: tile.barrier
tile.kernel @elements(%X: !V, %T: !V, %S: !V) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %s = arith.constant 7 : i32
  %t = tile.thread_id
  %first = arith.cmpi ult, %t, %c5 : index
  %x = tile.load %X[%c0] : !V -> !T
  tile.store %x, %T[%c0] : !T, !V
  scf.if %first {
    %e = memref.load %T[%c5] : !V
    memref.store %e, %S[%t] : !V
  }
  memref.store %s, %S[%c0] : !V
}

// Atomic ops come in any order; what reads their sums waits.
// CHECK-LABEL: tile.kernel @atomics
// CHECK: tile.atomic_rmw
// CHECK-NEXT: tile.atomic_rmw
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.load
// CHECK-NOT: tile.barrier
tile.kernel @atomics(%X: !V, %T: !V, %Y: !V) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %x = tile.load %X[%c0] : !V -> !T
  tile.atomic_rmw add %x, %T[%c0] : !T, !V
  tile.atomic_rmw add %x, %T[%c3] : !T, !V
  %y = tile.load %T[%c0] : !V -> !T
  tile.store %y, %Y[%c0] : !T, !V
}

// Of two kinds the order shows, and so it does in what was there.
// CHECK-LABEL: tile.kernel @kinds
// CHECK: tile.atomic_rmw add
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.atomic_rmw maxs
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.atomic_rmw maxs
tile.kernel @kinds(%X: !V, %T: !V, %Y: !V) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %x = tile.load %X[%c0] : !V -> !T
  tile.atomic_rmw add %x, %T[%c0] : !T, !V
  tile.atomic_rmw maxs %x, %T[%c3] : !T, !V
  %y = tile.atomic_rmw maxs %x, %T[%c0] : !T, !V -> !T
  tile.store %y, %Y[%c0] : !T, !V
}

// The index of scratch is none of the access: the tiles overlap, by 63 elements.
// CHECK-LABEL: tile.kernel @through_scratch
// CHECK: tile.load
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.atomic_rmw
// CHECK-NOT: tile.barrier
tile.kernel @through_scratch(%H: !V) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = tile.alloc : memref<128xi8, #tile.shared>
  %one = arith.constant dense<1> : tensor<32xi32, #L>
  %x = tile.load %H[%c1] : !V -> tensor<32xi32, #L>
  %old = tile.atomic_rmw add %one, %H[%c0] scratch %s : memref<128xi8, #tile.shared> : tensor<32xi32, #L>, !V -> tensor<32xi32, #L>
}

// Arguments that a loop swaps: each name stands for both.
// CHECK-LABEL: tile.kernel @swapped
// CHECK: scf.for
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.store
// CHECK-NOT: tile.barrier
tile.kernel @swapped(%A: !V, %B: !V) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %A, %b = %B) -> (!V, !V) {
    %x = tile.load %a[%c3] : !V -> !T
    tile.store %x, %b[%c0] : !T, !V
    scf.yield %b, %a : !V, !V
  }
}

// And in a loop of another kind.
// CHECK-LABEL: tile.kernel @swapped_while
// CHECK: } do {
// CHECK: tile.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.store
// CHECK-NOT: tile.barrier
tile.kernel @swapped_while(%A: !V, %B: !V, %n: i32) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant 1 : i32
  %r:3 = scf.while (%a = %A, %b = %B, %i = %n) : (!V, !V, i32) -> (!V, !V, i32) {
    %more = arith.cmpi ugt, %i, %one : i32
    scf.condition(%more) %a, %b, %i : !V, !V, i32
  } do {
  ^bb0(%a: !V, %b: !V, %i: i32):
    %x = tile.load %a[%c3] : !V -> !T
    tile.store %x, %b[%c0] : !T, !V
    %j = arith.subi %i, %one : i32
    scf.yield %b, %a, %j : !V, !V, i32
  }
}

// What one store writes in the passes of a loop goes through the same lanes in each, to places that lie apart.
// CHECK-LABEL: tile.kernel @passes
// CHECK-NOT: tile.barrier
// CHECK: tile.store
// CHECK-NOT: tile.barrier
#E = #tile.blocked<per_thread = [8], lanes = [32], warps = [4]>
tile.kernel @passes(%T: memref<?xbf16, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %n = memref.dim %T, %c0 : memref<?xbf16, #tile.global>
  %x = arith.constant dense<1.0> : tensor<1024xbf16, #E>
  scf.for %i = %c0 to %n step %c1024 {
    tile.store %x, %T[%i] : tensor<1024xbf16, #E>, memref<?xbf16, #tile.global>
  }
}
