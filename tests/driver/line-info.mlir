// Line information names the line of each instruction, and so does what the simulator says of a program that never ends.
//
// RUN: girih compile %s --lineinfo | FileCheck %s
// RUN: not girih run %s --device sim --check-memory --no-reference --arg out=poison:i32[1] 2>&1 | FileCheck %s --check-prefix=STUCK

// STUCK: CUDA_ERROR_LAUNCH_TIMEOUT: deadlock: every thread of the block or cluster waits
// STUCK-NEXT: 32 threads (warp 0) wait at line {{[0-9]+}} ({{.*}}line-info.mlir:[[#@LINE+32]]:3) for parity 0 of the mbarrier at shared address
// STUCK-NEXT: 0 of 1 arrivals have come in phase 0, of parity 0, 0 bytes of 64 expected (by line {{[0-9]+}} ({{.*}}line-info.mlir:[[#@LINE+27]]:5))
// STUCK: 64 bytes are expected, but no copy that names this mbarrier was issued
// STUCK: from {{.*}}line-info.mlir:[[#@LINE+29]]:3

module attributes {tile.target = "sm_90a"} {
tile.kernel @wait(%out: memref<1xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %bytes = arith.constant 64 : i32
  %even = arith.constant false
  %full = tile.alloc : memref<1x!tile.mbarrier, #tile.shared>
  %thread = tile.thread_id
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    // CHECK: .loc 1 [[#@LINE+2]] 5
    // CHECK: mbarrier.init
    tile.mbarrier.init %full[%c0], %one : memref<1x!tile.mbarrier, #tile.shared>
  }
  // CHECK: .loc 1 [[#@LINE+2]] 3
  // CHECK: {{bar|barrier}}
  tile.barrier
  scf.if %first {
    // CHECK: .loc 1 [[#@LINE+2]] 5
    // CHECK: expect_tx
    tile.mbarrier.expect_tx %full[%c0], %bytes : memref<1x!tile.mbarrier, #tile.shared>
  }
  // CHECK: .loc 1 [[#@LINE+2]] 3
  // CHECK: mbarrier.try_wait
  tile.mbarrier.wait %full[%c0], %even : memref<1x!tile.mbarrier, #tile.shared>
  // CHECK: .loc 1 [[#@LINE+2]] 3
  // CHECK: st.global
  memref.store %one, %out[%c0] : memref<1xi32, #tile.global>
}
}
// CHECK: .file 1 "{{.*}}line-info.mlir"
