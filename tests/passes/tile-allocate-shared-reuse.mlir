// Buffers that never live at once share bytes.
// RUN: girih-opt %s -tile-allocate-shared -split-input-file | FileCheck %s
// RUN: girih-opt %s -tile-allocate-shared=report=true -split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=REPORT

// One phase after another, a barrier between: the same bytes. What both phases use has its own.
// REPORT: remark: {{.*}}kernel @phases has 33024 bytes of shared memory, 0 of them between buffers, and 32768 saved by sharing
// REPORT: note: 32768 bytes at offset 0: memref<8192xf32, #tile.shared>; lives from line [[#@LINE+20]] to line [[#@LINE+22]]; shares bytes with the buffer at line [[#@LINE+17]]
// REPORT: note: 32768 bytes at offset 0: memref<4096xf64, #tile.shared>; lives from line [[#@LINE+24]] to line [[#@LINE+26]]; shares bytes with the buffer at line [[#@LINE+14]]
// REPORT: note: 256 bytes at offset 32768: memref<64xf32, #tile.shared>; lives from line [[#@LINE+21]] to line [[#@LINE+26]]
// CHECK-LABEL: tile.kernel @phases
// CHECK-SAME: shared_bytes = 33024
module attributes {tile.target = "sm_90a"} {
  tile.kernel @phases() threads(32) launch {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  } body {
    %c0 = arith.constant 0 : index
    %t = tile.thread_id
    %x = arith.constant 1.0 : f32
    %z = arith.constant 1.0 : f64
    // CHECK: tile.alloc {offset = 0 : i64} : memref<8192xf32
    %a = tile.alloc : memref<8192xf32, #tile.shared>
    // CHECK: tile.alloc {offset = 0 : i64} : memref<4096xf64
    %b = tile.alloc : memref<4096xf64, #tile.shared>
    // CHECK: tile.alloc {offset = 32768 : i64} : memref<64xf32
    %c = tile.alloc : memref<64xf32, #tile.shared>
    memref.store %x, %a[%t] : memref<8192xf32, #tile.shared>
    tile.barrier
    %v = memref.load %a[%c0] : memref<8192xf32, #tile.shared>
    memref.store %v, %c[%t] : memref<64xf32, #tile.shared>
    tile.barrier
    memref.store %z, %b[%t] : memref<4096xf64, #tile.shared>
    tile.barrier
    %w = memref.load %b[%c0] : memref<4096xf64, #tile.shared>
    %u = memref.load %c[%c0] : memref<64xf32, #tile.shared>
  }
}

// -----

// No barrier between the last use of one and the first of the other; in a loop, where a pass may read what another left; and
// both at once: no sharing. Branches of one condition never run both.
module attributes {tile.target = "sm_90a"} {
  // CHECK-LABEL: tile.kernel @apart
  // CHECK-SAME: shared_bytes = 1280
  tile.kernel @apart(%n: i32) threads(32) launch {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  } body {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %i0 = arith.constant 0 : i32
    %t = tile.thread_id
    %x = arith.constant 1.0 : f32
    // CHECK: tile.alloc {offset = 0 : i64} : memref<64xf32
    %a = tile.alloc : memref<64xf32, #tile.shared>
    // CHECK: tile.alloc {offset = 256 : i64} : memref<64xf32
    %b = tile.alloc : memref<64xf32, #tile.shared>
    // CHECK: tile.alloc {offset = 512 : i64} : memref<64xf32
    %c = tile.alloc : memref<64xf32, #tile.shared>
    // CHECK: tile.alloc {offset = 768 : i64} : memref<64xf32
    %d = tile.alloc : memref<64xf32, #tile.shared>
    // CHECK: tile.alloc {offset = 1024 : i64} : memref<64xf32
    %e = tile.alloc : memref<64xf32, #tile.shared>
    // CHECK: tile.alloc {offset = 1024 : i64} : memref<64xf32
    %f = tile.alloc : memref<64xf32, #tile.shared>
    memref.store %x, %a[%t] : memref<64xf32, #tile.shared>
    memref.store %x, %b[%t] : memref<64xf32, #tile.shared>
    scf.for %i = %c0 to %c9 step %c1 {
      memref.store %x, %c[%t] : memref<64xf32, #tile.shared>
      tile.barrier
      %v = memref.load %c[%c0] : memref<64xf32, #tile.shared>
      tile.barrier
      memref.store %x, %d[%t] : memref<64xf32, #tile.shared>
      tile.barrier
      %w = memref.load %d[%c0] : memref<64xf32, #tile.shared>
      tile.barrier
    }
    %yes = arith.cmpi eq, %n, %i0 : i32
    scf.if %yes {
      memref.store %x, %e[%t] : memref<64xf32, #tile.shared>
    } else {
      memref.store %x, %f[%t] : memref<64xf32, #tile.shared>
    }
    %va = memref.load %a[%t] : memref<64xf32, #tile.shared>
    %vb = memref.load %b[%t] : memref<64xf32, #tile.shared>
    %vc = memref.load %c[%t] : memref<64xf32, #tile.shared>
    %vd = memref.load %d[%t] : memref<64xf32, #tile.shared>
  }
}

// -----

// Scratch lives in its op alone. The second reduction waits for all readers of the first, so that the third has its bytes.
// CHECK-LABEL: tile.kernel @turns
// CHECK: tile.alloc {offset = 0 : i64}
// CHECK: tile.alloc {offset = 128 : i64}
// CHECK: tile.alloc {offset = 0 : i64}
!row = tensor<1x1024xf32, #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [1, 4]>>
!sum = tensor<1xf32, #tile.sliced<axis = 1, of = #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [1, 4]>>>
module attributes {tile.target = "sm_90a"} {
  tile.kernel @turns() threads(128) launch {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  } body {
    %a = tile.alloc : memref<16xi8, #tile.shared>
    %b = tile.alloc : memref<16xi8, #tile.shared>
    %c = tile.alloc : memref<16xi8, #tile.shared>
    %x = arith.constant dense<1.0> : !row
    %u = tile.reduce %x scratch %a : memref<16xi8, #tile.shared> axis 1 (%p: f32, %q: f32) {
      %s = arith.addf %p, %q : f32
      tile.yield %s : f32
    } : !row -> !sum
    %v = tile.reduce %x scratch %b : memref<16xi8, #tile.shared> axis 1 (%p: f32, %q: f32) {
      %s = arith.addf %p, %q : f32
      tile.yield %s : f32
    } : !row -> !sum
    %w = tile.reduce %x scratch %c : memref<16xi8, #tile.shared> axis 1 (%p: f32, %q: f32) {
      %s = arith.addf %p, %q : f32
      tile.yield %s : f32
    } : !row -> !sum
  }
}

// -----

// What passes cannot follow has its bytes for the whole kernel: mbarriers, copies in flight, roles, addresses that go on.
// REPORT: remark: {{.*}}kernel @always
// REPORT: lives for the whole kernel: it holds mbarriers
// REPORT: lives for the whole kernel: asynchronous copies or products use it
// REPORT: lives for the whole kernel: roles use it
// REPORT: lives for the whole kernel: 'tile.remote' at line [[#@LINE+22]] takes it where its uses cannot be followed
// CHECK-LABEL: tile.kernel @always
// CHECK-SAME: shared_bytes = 776
module attributes {tile.target = "sm_90a"} {
  tile.kernel @always(%A: memref<64xf32, #tile.global>) threads(32) launch {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  } body {
    %c0 = arith.constant 0 : index
    %i0 = arith.constant 0 : i32
    %x = arith.constant 1.0 : f32
    %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
    %copied = tile.alloc : memref<64xf32, #tile.shared>
    %in_role = tile.alloc : memref<64xf32, #tile.shared>
    %escapes = tile.alloc : memref<64xf32, #tile.shared>
    tile.bulk.load %A[%c0], %copied, %bar[] : memref<64xf32, #tile.global>, memref<64xf32, #tile.shared>, memref<!tile.mbarrier, #tile.shared>
    tile.barrier
    tile.warp_specialize
    role one(%i) warps(1) {
      memref.store %x, %in_role[%i] : memref<64xf32, #tile.shared>
    }
    tile.barrier
    %there = tile.remote %escapes, %i0 : memref<64xf32, #tile.shared> -> memref<64xf32, #tile.shared_cluster>
  }
}

// -----

// A copy in flight may still write when nothing uses the buffer any more.
// REPORT: remark: {{.*}}kernel @in_flight
// REPORT: lives for the whole kernel: asynchronous copies or products use it
// CHECK-LABEL: tile.kernel @in_flight
// CHECK-SAME: shared_bytes = 512
module attributes {tile.target = "sm_90a"} {
  tile.kernel @in_flight(%A: memref<64xf32, #tile.global>) threads(32) launch {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  } body {
    %x = arith.constant 1.0 : f32
    %t = tile.thread_id
    %a = tile.alloc : memref<64xf32, #tile.shared>
    %b = tile.alloc : memref<64xf32, #tile.shared>
    tile.cp_async %A[%t], %a[%t], 4 : memref<64xf32, #tile.global>, memref<64xf32, #tile.shared>
    tile.barrier
    memref.store %x, %b[%t] : memref<64xf32, #tile.shared>
  }
}

// -----

// Other threads' copies may still be on their way at a barrier before the wait: only one after it sets the bytes free.
// REPORT: remark: {{.*}}kernel @before_the_wait has 512 bytes of shared memory, 0 of them between buffers, and 0 saved by sharing
// CHECK-LABEL: tile.kernel @before_the_wait
// CHECK-SAME: shared_bytes = 512
// REPORT: remark: {{.*}}kernel @after_the_wait has 256 bytes of shared memory, 0 of them between buffers, and 256 saved by sharing
// CHECK-LABEL: tile.kernel @after_the_wait
// CHECK-SAME: shared_bytes = 256
module attributes {tile.target = "sm_90a"} {
  tile.kernel @before_the_wait(%A: memref<64xf32, #tile.global>) threads(64) launch {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  } body {
    %x = arith.constant 1.0 : f32
    %t = tile.thread_id
    %a = tile.alloc : memref<64xf32, #tile.shared>
    %b = tile.alloc : memref<64xf32, #tile.shared>
    tile.cp_async %A[%t], %a[%t], 4 : memref<64xf32, #tile.global>, memref<64xf32, #tile.shared>
    tile.barrier
    tile.cp_async.wait_all
    memref.store %x, %b[%t] : memref<64xf32, #tile.shared>
  }
  tile.kernel @after_the_wait(%A: memref<64xf32, #tile.global>) threads(64) launch {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  } body {
    %x = arith.constant 1.0 : f32
    %t = tile.thread_id
    %a = tile.alloc : memref<64xf32, #tile.shared>
    %b = tile.alloc : memref<64xf32, #tile.shared>
    tile.cp_async %A[%t], %a[%t], 4 : memref<64xf32, #tile.global>, memref<64xf32, #tile.shared>
    tile.cp_async.wait_all
    tile.barrier
    memref.store %x, %b[%t] : memref<64xf32, #tile.shared>
  }
}

// -----

// What products read is free behind the wait for them and a barrier; a barrier before the wait is met while they still read.
// CHECK-LABEL: tile.kernel @products
// CHECK: tile.alloc {offset = 0 : i64} : memref<64x64xbf16
// CHECK: tile.alloc {offset = 0 : i64} : memref<64x64xf32
// CHECK: tile.alloc {offset = 8192 : i64} : memref<64x32xf32
!a = memref<64x64xbf16, #tile.shared<swizzle = 128>>
!sum = tensor<64x64xf32, #tile.layout<wgmma_d>>
module attributes {tile.target = "sm_90a"} {
tile.kernel @products() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = arith.constant 1.0 : f32
  %a = tile.alloc : !a
  %later = tile.alloc : memref<64x64xf32, #tile.shared>
  %between = tile.alloc : memref<64x32xf32, #tile.shared>
  %zero = arith.constant dense<0.0> : !sum
  %t = tile.thread_id
  tile.wgmma.fence
  %f = tile.wgmma %a, %a, %zero : !a, !a, !sum
  tile.wgmma.commit
  tile.barrier
  memref.store %x, %between[%c0, %c0] : memref<64x32xf32, #tile.shared>
  %s = tile.wgmma.wait 0 %f : !tile.in_flight<!sum> -> !sum
  tile.barrier
  memref.store %x, %later[%c0, %c0] : memref<64x64xf32, #tile.shared>
}
}
