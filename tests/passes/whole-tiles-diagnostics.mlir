// Whole tiles belong to all threads of the block.
// RUN: girih-opt %s -tile-assign-layouts -verify-diagnostics -split-input-file
// RUN: not girih-opt %s -tile-plan-copies -split-input-file 2>&1 | FileCheck %s
// CHECK-COUNT-10: error: '{{[a-z.]+}}' op {{works on whole tiles, but only some|takes a number that differs|gives whole tiles under|gives tensor<1024x1024xf32>, which is|works on .* role}}

!V = memref<?xi32, #tile.global>
tile.kernel @index(%X: !V, %Y: !V) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %t = tile.thread_id
  // expected-note@+1 {{the number is made here of 'tile.thread_id' at line 13}}
  %i = arith.muli %t, %c4 : index
  // expected-error@+1 {{takes a number that differs between threads; whole tiles belong to all threads of the block}}
  %x = tile.load %X[%i] : !V -> tensor<256xi32>
  tile.store %x, %Y[%c0] : tensor<256xi32>, !V
}

// -----

!V = memref<?xi32, #tile.global>
tile.kernel @one_thread(%X: !V, %Y: !V) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : !V -> tensor<256xi32>
  // expected-note@+1 {{the condition is made here}}
  %e = tile.elect
  scf.if %e {
    // expected-error@+1 {{works on whole tiles, but only some threads come here: the condition differs between threads}}
    tile.store %x, %Y[%c0] : tensor<256xi32>, !V
  }
}

// -----

// The number of passes differs.
!V = memref<?xi32, #tile.global>
tile.kernel @passes(%X: !V, %Y: !V) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note@+1 {{the condition is made here}}
  %w = tile.warp_id
  scf.for %i = %c0 to %w step %c1 {
    // expected-error@+1 {{take it out of the 'scf.for'}}
    %x = tile.load %X[%i] : !V -> tensor<256xi32>
    tile.store %x, %Y[%c0] : tensor<256xi32>, !V
  }
}

// -----

// A number that a loop carries, in a condition around the branch with the tile.
!V = memref<?xi32, #tile.global>
tile.kernel @carried(%X: !V, %Y: !V, %n: i32) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %t = tile.thread_id
  %x = tile.load %X[%c0] : !V -> tensor<256xi32>
  %sum = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %c0) -> (index) {
    %b = arith.addi %a, %t : index
    scf.yield %b : index
  }
  // expected-note@+1 {{the condition is made here of 'tile.thread_id'}}
  %few = arith.cmpi ult, %sum, %c9 : index
  %all = arith.cmpi eq, %n, %n : i32
  scf.if %few {
    scf.if %all {
      // expected-error@+1 {{only some threads come here}}
      %s = tile.reduce %x axis 0 (%p: i32, %q: i32) {
        %m = arith.maxsi %p, %q : i32
        tile.yield %m : i32
      } : tensor<256xi32> -> tensor<i32>
    }
  }
}

// -----

!V = memref<?xi32, #tile.global>
tile.kernel @scan(%X: !V, %Y: !V) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.thread_id
  %x = tile.load %X[%c0] : !V -> tensor<256xi32>
  // expected-note@+1 {{the condition is made here of 'tile.thread_id'}}
  %c = arith.cmpi ult, %t, %c1 : index
  // expected-error@+1 {{gives whole tiles under a condition that differs between threads}}
  %s = scf.if %c -> (tensor<256xi32>) {
    %q = tile.scan %x axis 0 (%p: i32, %r: i32) {
      %s1 = arith.addi %p, %r : i32
      tile.yield %s1 : i32
    } : tensor<256xi32> -> tensor<256xi32>
    scf.yield %q : tensor<256xi32>
  } else {
    scf.yield %x : tensor<256xi32>
  }
  tile.store %s, %Y[%c0] : tensor<256xi32>, !V
}

// -----

// What is loaded, what the block's number says, and what one thread does to single elements: nothing is said.
!V = memref<?xi32, #tile.global>
tile.kernel @uniform(%X: !V, %Y: !V, %S: !V) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tile.cluster_id x
  %t = tile.thread_id
  %s = memref.load %X[%b] : !V
  %n = arith.index_cast %s : i32 to index
  scf.for %i = %c0 to %n step %c1 {
    %x = tile.load %X[%i] : !V -> tensor<256xi32>
    tile.store %x, %Y[%i] : tensor<256xi32>, !V
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      memref.store %s, %S[%i] : !V
    }
  }
}

// -----

// What threads hold of one tile: at most 1024 registers.
!M = memref<?x?xf32, strided<[?, 1]>, #tile.global>
tile.kernel @large(%X: !M, %Y: !M) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %fits = tile.load %X[%c0, %c0] : !M -> tensor<128x1024xf32>
  // expected-error@+1 {{gives tensor<1024x1024xf32>, which is 8192 registers in each of 128 threads, but one tile may take 1024, and a thread has 255; go through tiles of at most 131072 elements in a loop}}
  %x = tile.load %X[%c0, %c0] : !M -> tensor<1024x1024xf32>
}

// -----

// A role works on whole tiles where it says where its threads meet, and has as many warps as hold tiles.
!M = memref<?x?xf32, strided<[?, 1]>, #tile.global>
tile.kernel @roles(%X: !M, %Y: !M) threads(512) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %outside = tile.load %X[%c0, %c0] : !M -> tensor<64x64xf32>
  // expected-note@+1 {{the number is made here}}
  tile.warp_specialize
  role silent(%t) warps(4) {
    // expected-error@+1 {{works on whole tiles, but role 'silent' does not say where its threads meet; write barrier(1) after its warps, with a number for each such role}}
    %x = tile.load %X[%c0, %c0] : !M -> tensor<64x64xf32>
  } role later(%t) warps(8) barrier(1) {
    // expected-error@+1 {{works on whole tiles in role 'later', which has warps 4 to 11; threads that hold tiles are a power of two, from a multiple of that: put the largest role first, or give it other warps}}
    %x = tile.load %X[%c0, %c0] : !M -> tensor<64x64xf32>
  } role last(%t) warps(4) barrier(2) {
    %one = arith.constant dense<1.0> : tensor<64x64xf32>
    // expected-error@+1 {{works on tensor<64x64xf32>, which the whole block holds, but only role 'last' comes here; load or compute it in the role}}
    %y = arith.addf %outside, %one : tensor<64x64xf32>
    // expected-error@+1 {{takes a number that differs between threads}}
    tile.store %one, %Y[%t, %c0] : tensor<64x64xf32>, !M
  }
}

// -----

// Tiles go through structured control flow; among blocks all threads go one way.
!V = memref<?xi32, #tile.global>
tile.kernel @blocks(%X: !V, %n: i32) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %two = arith.constant 2 : i32
  %x = tile.load %X[%c0] : !V -> tensor<64xi32>
  %is_two = arith.cmpi eq, %n, %two : i32
  // expected-error@+1 {{carries whole tiles to another block; tiles go through scf.if, scf.index_switch, scf.for and scf.while, as arguments and results}}
  cf.cond_br %is_two, ^a(%x : tensor<64xi32>), ^b
^a(%v: tensor<64xi32>):
  tile.store %v, %X[%c0] : tensor<64xi32>, !V
  cf.br ^b
^b:
  tile.return
}

// -----

!V = memref<?xi32, #tile.global>
tile.kernel @some_threads(%X: !V) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %t = tile.thread_id
  // expected-note@+1 {{the condition is made here}}
  %first = arith.cmpi eq, %t, %c0 : index
  // expected-error@+1 {{goes to one block or another by a condition that differs between threads, in a kernel of whole tiles}}
  cf.cond_br %first, ^a, ^b
^a:
  %x = tile.load %X[%c0] : !V -> tensor<64xi32>
  tile.store %x, %X[%c0] : tensor<64xi32>, !V
  cf.br ^b
^b:
  tile.return
}

// -----

// What a combiner takes from outside.
!V = memref<?xi32, #tile.global>
tile.kernel @combiner(%X: !V, %Y: !V) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : !V -> tensor<256xi32>
  %t = tile.thread_id
  // expected-note@+1 {{the number is made here of 'tile.thread_id'}}
  %own = arith.index_cast %t : index to i32
  // expected-error@+1 {{takes a number that differs between threads; whole tiles belong to all threads of the block}}
  %s = tile.scan %x axis 0 (%a: i32, %b: i32) {
    %more = arith.addi %b, %own : i32
    %sum = arith.addi %a, %more : i32
    tile.yield %sum : i32
  } : tensor<256xi32> -> tensor<256xi32>
  tile.store %s, %Y[%c0] : tensor<256xi32>, !V
}

// -----

// Threads that hold copies hold more than their share.
tile.kernel @copies(%X: memref<?xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{which is 2048 registers in each of 128 threads, but one tile may take 1024, and a thread has 255; give it a layout in which fewer threads hold copies}}
  %x = tile.load %X[%c0] : memref<?xf32, #tile.global> -> tensor<2048xf32, #tile.sliced<axis = 1, of = #tile.blocked<per_thread = [1, 1], lanes = [1, 32], warps = [1, 4]>>>
}
