// Barriers and fences where accesses to shared memory need them, and nowhere else.
// RUN: girih-opt %s -tile-insert-sync -split-input-file | FileCheck %s

// Another thread's element: a barrier before it is read.
// CHECK-LABEL: tile.kernel @reverse
// CHECK: memref.store
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: memref.load
// CHECK-NOT: tile.barrier
tile.kernel @reverse(%X: memref<128xf32, #tile.global>, %Y: memref<128xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c127 = arith.constant 127 : index
  %m = tile.alloc : memref<128xf32, #tile.shared>
  %t = tile.thread_id
  %x = memref.load %X[%t] : memref<128xf32, #tile.global>
  %other = arith.subi %c127, %t : index
  memref.store %x, %m[%t] : memref<128xf32, #tile.shared>
  %y = memref.load %m[%other] : memref<128xf32, #tile.shared>
  memref.store %y, %Y[%t] : memref<128xf32, #tile.global>
}

// -----

// A thread's own element, the element of one thread, and what a barrier orders already: nothing.
// CHECK-LABEL: tile.kernel @ordered
// CHECK: memref.store %{{.*}}, %[[OWN:.*]][%{{.*}}]
// CHECK-NEXT: memref.load %[[OWN]]
// CHECK-COUNT-1: tile.barrier
// CHECK-NOT: tile.barrier
tile.kernel @ordered() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %x = arith.constant 1.0 : f32
  %own = tile.alloc : memref<512xf32, #tile.shared>
  %one = tile.alloc : memref<1xf32, #tile.shared>
  %all = tile.alloc : memref<128xf32, #tile.shared>
  %t = tile.thread_id
  %at = arith.muli %t, %c4 : index
  memref.store %x, %own[%at] : memref<512xf32, #tile.shared>
  %a = memref.load %own[%at] : memref<512xf32, #tile.shared>
  %is_first = arith.cmpi eq, %t, %c0 : index
  scf.if %is_first {
    memref.store %a, %one[%c0] : memref<1xf32, #tile.shared>
  }
  scf.if %is_first {
    %b = memref.load %one[%c0] : memref<1xf32, #tile.shared>
    memref.store %b, %all[%c0] : memref<128xf32, #tile.shared>
  }
  tile.barrier
  %c = memref.load %all[%c0] : memref<128xf32, #tile.shared>
  %d = memref.load %one[%c0] : memref<1xf32, #tile.shared>
}

// -----

// In a loop both ways: what was read is written again in the next pass.
// CHECK-LABEL: tile.kernel @loop
// CHECK: scf.for
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: memref.store
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: memref.load
// CHECK-NOT: tile.barrier
tile.kernel @loop() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c127 = arith.constant 127 : index
  %x = arith.constant 1.0 : f32
  %m = tile.alloc : memref<128xf32, #tile.shared>
  %t = tile.thread_id
  %other = arith.subi %c127, %t : index
  scf.for %i = %c0 to %c9 step %c1 {
    memref.store %x, %m[%t] : memref<128xf32, #tile.shared>
    %y = memref.load %m[%other] : memref<128xf32, #tile.shared>
  }
}

// -----

// The barrier goes before the condition that differs between threads, not into it.
// CHECK-LABEL: tile.kernel @condition
// CHECK: memref.store
// CHECK: tile.barrier
// CHECK-NEXT: scf.if
// CHECK-NEXT: memref.load
// CHECK-NOT: tile.barrier
tile.kernel @condition() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %x = arith.constant 1.0 : f32
  %m = tile.alloc : memref<128xf32, #tile.shared>
  %t = tile.thread_id
  memref.store %x, %m[%t] : memref<128xf32, #tile.shared>
  %few = arith.cmpi ult, %t, %c9 : index
  scf.if %few {
    %y = memref.load %m[%c0] : memref<128xf32, #tile.shared>
  }
}

// -----

// A tensor copy reads through the async proxy: a fence in the writers, then the barrier.
// CHECK-LABEL: tile.kernel @copied
// CHECK: memref.store
// CHECK: tile.fence proxy_async_shared
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: scf.if
// CHECK-NEXT: tile.tma.store
// A barrier alone is not enough: the fence goes before the one that is there.
// CHECK-LABEL: tile.kernel @fenced
// CHECK: memref.store
// CHECK: tile.fence proxy_async_shared
// CHECK-NEXT: tile.barrier
// CHECK-NOT: tile.barrier
// CHECK: tile.tma.store
module attributes {tile.target = "sm_90a"} {
  tile.kernel @copied(%B: memref<?x32xf32, #tile.global>) threads(32) launch {
    %c1 = arith.constant 1 : index
    %to = tile.tensor_map %B : memref<?x32xf32, #tile.global> -> !tile.tensor_map<8x32xf32>
    tile.grid %c1, %c1, %c1 args(%to : !tile.tensor_map<8x32xf32>)
  } body args(%to: !tile.tensor_map<8x32xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %x = arith.constant 1.0 : f32
    %t = tile.thread_id
    %m = tile.alloc : memref<8x32xf32, #tile.shared>
    scf.for %i = %c0 to %c8 step %c1 {
      memref.store %x, %m[%i, %t] : memref<8x32xf32, #tile.shared>
    }
    %elected = tile.elect
    scf.if %elected {
      tile.tma.store %m, %to[%c0, %c0] : memref<8x32xf32, #tile.shared>, !tile.tensor_map<8x32xf32>
      tile.bulk.commit
      tile.bulk.wait 0
    }
  }
  tile.kernel @fenced(%B: memref<?x32xf32, #tile.global>) threads(32) launch {
    %c1 = arith.constant 1 : index
    %to = tile.tensor_map %B : memref<?x32xf32, #tile.global> -> !tile.tensor_map<8x32xf32>
    tile.grid %c1, %c1, %c1 args(%to : !tile.tensor_map<8x32xf32>)
  } body args(%to: !tile.tensor_map<8x32xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %x = arith.constant 1.0 : f32
    %t = tile.thread_id
    %m = tile.alloc : memref<8x32xf32, #tile.shared>
    scf.for %i = %c0 to %c8 step %c1 {
      memref.store %x, %m[%i, %t] : memref<8x32xf32, #tile.shared>
    }
    tile.barrier
    %elected = tile.elect
    scf.if %elected {
      tile.tma.store %m, %to[%c0, %c0] : memref<8x32xf32, #tile.shared>, !tile.tensor_map<8x32xf32>
      tile.bulk.commit
      tile.bulk.wait 0
    }
  }
}

// -----

// What mbarriers and barriers with numbers order is the program's own affair, and so is what roles do.
// CHECK-LABEL: tile.kernel @by_hand
// CHECK-NOT: tile.barrier{{$}}
tile.kernel @by_hand() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = arith.constant 1.0 : f32
  %no = arith.constant false
  %m = tile.alloc : memref<128xf32, #tile.shared>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %t = tile.thread_id
  memref.store %x, %m[%t] : memref<128xf32, #tile.shared>
  tile.mbarrier.arrive %bar[] : memref<!tile.mbarrier, #tile.shared>
  tile.mbarrier.wait %bar[], %no : memref<!tile.mbarrier, #tile.shared>
  %a = memref.load %m[%c0] : memref<128xf32, #tile.shared>
  tile.barrier id 1 threads 128
  memref.store %x, %m[%t] : memref<128xf32, #tile.shared>
  tile.warp_specialize
  role one(%i) warps(2) {
    %b = memref.load %m[%c0] : memref<128xf32, #tile.shared>
    memref.store %b, %m[%i] : memref<128xf32, #tile.shared>
  } role two(%i) warps(2) {
    memref.store %x, %m[%i] : memref<128xf32, #tile.shared>
  }
}

// -----

// Scratch: one reduction a pass waits for the readers of the pass before it. Two wait for each other inside, and need nothing.
// CHECK-LABEL: tile.kernel @reductions
// CHECK: scf.for
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.reduce
// CHECK: scf.for
// CHECK-NOT: tile.barrier
!row = tensor<1x1024xf32, #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [1, 4]>>
!sum = tensor<1xf32, #tile.sliced<axis = 1, of = #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [1, 4]>>>
tile.kernel @reductions() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %a = tile.alloc : memref<16xi8, #tile.shared>
  %b = tile.alloc : memref<16xi8, #tile.shared>
  %d = tile.alloc : memref<16xi8, #tile.shared>
  %x = arith.constant dense<1.0> : !row
  scf.for %i = %c0 to %c9 step %c1 {
    %y = tile.reduce %x scratch %a : memref<16xi8, #tile.shared> axis 1 (%p: f32, %q: f32) {
      %s = arith.addf %p, %q : f32
      tile.yield %s : f32
    } : !row -> !sum
  }
  scf.for %i = %c0 to %c9 step %c1 {
    %y = tile.reduce %x scratch %b : memref<16xi8, #tile.shared> axis 1 (%p: f32, %q: f32) {
      %s = arith.addf %p, %q : f32
      tile.yield %s : f32
    } : !row -> !sum
    %z = tile.reduce %x scratch %d : memref<16xi8, #tile.shared> axis 1 (%p: f32, %q: f32) {
      %s = arith.addf %p, %q : f32
      tile.yield %s : f32
    } : !row -> !sum
  }
}

// -----

// Atomic operations of one kind come in any order. Stores before them and loads after them do not, nor do other kinds, nor those
// that tell what was there.
// CHECK-LABEL: tile.kernel @counts
// CHECK: tile.store
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: scf.for
// CHECK-NEXT: tile.atomic_rmw add
// CHECK-NEXT: tile.atomic_rmw add
// CHECK-NEXT: }
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.atomic_rmw maxs
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.atomic_rmw exch
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.atomic_rmw exch
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.atomic_rmw add
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.atomic_rmw add
// CHECK-NOT: tile.barrier
#L = #tile.blocked<per_thread = [1], lanes = [32], warps = [4]>
tile.kernel @counts(%X: memref<128xi32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant dense<1> : tensor<128xi32, #L>
  %x = tile.load %X[%c0] : memref<128xi32, #tile.global> -> tensor<128xi32, #L>
  %m = tile.alloc : memref<128xi32, #tile.shared>
  tile.store %one, %m[%c0] : tensor<128xi32, #L>, memref<128xi32, #tile.shared>
  scf.for %i = %c0 to %c4 step %c1 {
    tile.atomic_rmw add %one, %m[] rows %x : tensor<128xi32, #L> : tensor<128xi32, #L>, memref<128xi32, #tile.shared>
    tile.atomic_rmw add %x, %m[%i] : tensor<128xi32, #L>, memref<128xi32, #tile.shared>
  }
  %y = tile.load %m[%c0] : memref<128xi32, #tile.shared> -> tensor<128xi32, #L>
  tile.atomic_rmw maxs %y, %m[] rows %x : tensor<128xi32, #L> : tensor<128xi32, #L>, memref<128xi32, #tile.shared>
  // In the same rows, whose numbers may be the same in several threads.
  tile.atomic_rmw exch %y, %m[] rows %x : tensor<128xi32, #L> : tensor<128xi32, #L>, memref<128xi32, #tile.shared>
  tile.atomic_rmw exch %one, %m[] rows %x : tensor<128xi32, #L> : tensor<128xi32, #L>, memref<128xi32, #tile.shared>
  %a = tile.atomic_rmw add %one, %m[] rows %x : tensor<128xi32, #L> : tensor<128xi32, #L>, memref<128xi32, #tile.shared> -> tensor<128xi32, #L>
  tile.atomic_rmw add %a, %m[] rows %x : tensor<128xi32, #L> : tensor<128xi32, #L>, memref<128xi32, #tile.shared>
}

// -----

// Each thread meets its own elements alone.
// CHECK-LABEL: tile.kernel @own_elements
// CHECK: tile.atomic_rmw exch
// CHECK-NOT: tile.barrier
#L = #tile.blocked<per_thread = [1], lanes = [32], warps = [4]>
tile.kernel @own_elements() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1> : tensor<128xi32, #L>
  %m = tile.alloc : memref<128xi32, #tile.shared>
  tile.store %one, %m[%c0] : tensor<128xi32, #L>, memref<128xi32, #tile.shared>
  tile.atomic_rmw exch %one, %m[%c0] : tensor<128xi32, #L>, memref<128xi32, #tile.shared>
  %y = tile.load %m[%c0] : memref<128xi32, #tile.shared> -> tensor<128xi32, #L>
}

// -----

// Roles that have a barrier: one of the block before them for what came before, one of their own between what they do, and one of
// the block after them.
// CHECK-LABEL: tile.kernel @around_roles
// CHECK: tile.store
// CHECK-NEXT: tile.barrier{{$}}
// CHECK-NEXT: tile.warp_specialize
// CHECK: tile.load
// CHECK-NEXT: tile.barrier id 1 threads 128
// CHECK-NEXT: tile.store
// CHECK-NOT: tile.barrier
// CHECK: role right
// CHECK-NEXT: }
// CHECK-NEXT: tile.barrier{{$}}
// CHECK-NEXT: tile.load
// CHECK-NOT: tile.barrier
#L = #tile.blocked<per_thread = [1], lanes = [32], warps = [4]>
#M = #tile.blocked<per_thread = [1], lanes = [32], warps = [8]>
tile.kernel @around_roles() threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %m = tile.alloc : memref<512xi32, #tile.shared>
  %x = arith.constant dense<1> : tensor<256xi32, #M>
  tile.store %x, %m[%c0] : tensor<256xi32, #M>, memref<512xi32, #tile.shared>
  tile.warp_specialize
  role left(%t) warps(4) barrier(1) {
    %y = tile.load %m[%c3] : memref<512xi32, #tile.shared> -> tensor<128xi32, #L>
    tile.store %y, %m[%c0] : tensor<128xi32, #L>, memref<512xi32, #tile.shared>
  } role right(%t) warps(4) barrier(2) {
  }
  %z = tile.load %m[%c3] : memref<512xi32, #tile.shared> -> tensor<256xi32, #M>
}

// A lane's number is another thread's in a role than before it.
// CHECK-LABEL: tile.kernel @other_threads
// CHECK: memref.store
// CHECK-NEXT: tile.barrier{{$}}
// CHECK-NEXT: tile.warp_specialize
// CHECK-NOT: tile.barrier
tile.kernel @other_threads() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<64xi32, #tile.shared>
  %l = tile.lane_id
  %x = arith.constant 1 : i32
  memref.store %x, %m[%l] : memref<64xi32, #tile.shared>
  tile.warp_specialize
  role left(%t) warps(3) {
  } role right(%t) warps(1) barrier(1) {
    %y = memref.load %m[%l] : memref<64xi32, #tile.shared>
  }
}

// -----

// One store of whole tiles in passes that overlap, and in passes that lie apart.
// CHECK-LABEL: tile.kernel @passes
// CHECK: scf.for
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: }
// CHECK-NEXT: scf.for
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile.load
// CHECK-NEXT: }
// CHECK-NOT: tile.barrier
#L = #tile.blocked<per_thread = [1], lanes = [32], warps = [4]>
tile.kernel @passes() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c1024 = arith.constant 1024 : index
  %m = tile.alloc : memref<2048xi32, #tile.shared>
  %n = tile.alloc : memref<2048xi32, #tile.shared>
  %x = arith.constant dense<1> : tensor<128xi32, #L>
  scf.for %i = %c0 to %c1024 step %c64 {
    tile.store %x, %m[%i] : tensor<128xi32, #L>, memref<2048xi32, #tile.shared>
  }
  scf.for %i = %c0 to %c1024 step %c128 {
    tile.store %x, %n[%i] : tensor<128xi32, #L>, memref<2048xi32, #tile.shared>
    %y = tile.load %n[%i] : memref<2048xi32, #tile.shared> -> tensor<128xi32, #L>
  }
}

// Slabs lie apart, whichever the loop takes; other parts that a loop moves do not, and an element of one is another thread's in
// another pass.
// CHECK-LABEL: tile.kernel @parts
// CHECK: scf.for
// CHECK-NEXT: tile.slab
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile.load
// CHECK-NEXT: memref.subview
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: memref.store
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: memref.load
// CHECK-NEXT: }
// CHECK-NOT: tile.barrier
!part = memref<128xi32, strided<[1], offset: ?>, #tile.shared>
tile.kernel @parts() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %m = tile.alloc : memref<2048xi32, #tile.shared>
  %n = tile.alloc : memref<16x128xi32, #tile.shared>
  %x = arith.constant dense<1> : tensor<128xi32, #L>
  %e = arith.constant 1 : i32
  %t = tile.thread_id
  scf.for %i = %c0 to %c16 step %c1 {
    %s = tile.slab %n[%i] : memref<16x128xi32, #tile.shared> -> memref<128xi32, #tile.shared>
    tile.store %x, %s[%c0] : tensor<128xi32, #L>, memref<128xi32, #tile.shared>
    %y = tile.load %s[%c0] : memref<128xi32, #tile.shared> -> tensor<128xi32, #L>
    %p = memref.subview %m[%i] [128] [1] : memref<2048xi32, #tile.shared> to !part
    memref.store %e, %p[%t] : !part
    %q = memref.load %p[%t] : !part
  }
}

// -----

// A wait by hand is for single elements: tiles are ordered all the same, also those of products.
// CHECK-LABEL: tile.kernel @waits
// CHECK: tile.mbarrier.wait
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.load
// CHECK-NOT: tile.barrier
#L = #tile.blocked<per_thread = [1], lanes = [32], warps = [4]>
!product = tensor<64x16xf32, #tile.layout<wgmma_d>>
tile.kernel @waits() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %no = arith.constant false
  %m = tile.alloc : memref<256xi32, #tile.shared>
  %p = tile.alloc : memref<128x16xf32, #tile.shared>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %z = arith.constant dense<1.0> : !product
  %x = arith.constant dense<1> : tensor<128xi32, #L>
  tile.store %x, %m[%c0] : tensor<128xi32, #L>, memref<256xi32, #tile.shared>
  tile.store %z, %p[%c0, %c0] : !product, memref<128x16xf32, #tile.shared>
  tile.mbarrier.wait %bar[], %no : memref<!tile.mbarrier, #tile.shared>
  %y = tile.load %m[%c1] : memref<256xi32, #tile.shared> -> tensor<128xi32, #L>
  %w = tile.load %p[%c1, %c0] : memref<128x16xf32, #tile.shared> -> !product
}

// -----

// What a product stores in one pass overlaps what it stored in the one before, or lies apart.
// CHECK-LABEL: tile.kernel @products
// CHECK: scf.for
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: }
// CHECK: scf.for
// CHECK-NEXT: tile.store
// CHECK-NEXT: }
!product = tensor<64x16xf32, #tile.layout<wgmma_d>>
tile.kernel @products() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %p = tile.alloc : memref<64x128xf32, #tile.shared>
  %q = tile.alloc : memref<64x128xf32, #tile.shared>
  %z = arith.constant dense<1.0> : !product
  scf.for %i = %c0 to %c64 step %c8 {
    tile.store %z, %p[%c0, %i] : !product, memref<64x128xf32, #tile.shared>
  }
  scf.for %i = %c0 to %c64 step %c16 {
    tile.store %z, %q[%c0, %i] : !product, memref<64x128xf32, #tile.shared>
  }
}

// -----

// What a loop carries and a branch gives is either buffer.
// CHECK-LABEL: tile.kernel @carried
// CHECK: scf.for
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK: scf.if
// CHECK: tile.barrier
// CHECK-NEXT: tile.load
// CHECK-NOT: tile.barrier
#L = #tile.blocked<per_thread = [1], lanes = [32], warps = [4]>
!S = memref<256xi32, #tile.shared>
tile.kernel @carried(%n: i32) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %A = tile.alloc : !S
  %B = tile.alloc : !S
  %r:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%a = %A, %b = %B) -> (!S, !S) {
    %x = tile.load %a[%c1] : !S -> tensor<128xi32, #L>
    tile.store %x, %b[%c0] : tensor<128xi32, #L>, !S
    scf.yield %b, %a : !S, !S
  }
  %zero = arith.constant 0 : i32
  %first = arith.cmpi eq, %n, %zero : i32
  %s = scf.if %first -> !S {
    scf.yield %r#0 : !S
  } else {
    scf.yield %B : !S
  }
  %y = tile.load %s[%c1] : !S -> tensor<128xi32, #L>
}

// -----

// Lanes of a warp meet between what they exchange through bytes of their own: not before the first time, once before a loop, and
// in a loop where it exchanges again in the next pass. A barrier of the block does as well.
// CHECK-LABEL: tile.kernel @exchanges
// CHECK-NOT: {{tile.barrier|tile.warp_sync}}
// CHECK: tile.convert_layout
// CHECK: tile.warp_sync
// CHECK-NEXT: tile.convert_layout
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.convert_layout
// CHECK: scf.for
// CHECK-NEXT: tile.warp_sync
// CHECK-NEXT: tile.convert_layout
// CHECK-NOT: {{tile.barrier|tile.warp_sync}}
!from = tensor<128x16xf64, #tile.blocked<per_thread = [4, 1], lanes = [8, 4], warps = [4, 1], order = [0, 1]>>
!to = tensor<128x16xf64, #tile.blocked<per_thread = [1, 4], lanes = [32, 1], warps = [4, 1]>>
!scratch = memref<16384xi8, #tile.shared>
tile.kernel @exchanges(%count: i32) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.index_cast %count : i32 to index
  %scratch = tile.alloc : !scratch
  %x = arith.constant dense<1.0> : !from
  %a = tile.convert_layout %x within_warps scratch %scratch : !scratch : !from -> !to
  %b = tile.convert_layout %x within_warps scratch %scratch : !scratch : !from -> !to
  tile.barrier
  %c = tile.convert_layout %x within_warps scratch %scratch : !scratch : !from -> !to
  scf.for %i = %c0 to %n step %c1 {
    %d = tile.convert_layout %x within_warps scratch %scratch : !scratch : !from -> !to
  }
}
