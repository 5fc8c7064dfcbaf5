// Barriers in shared memory: one op is one instruction; waits are loops around try_wait.
// RUN: girih-opt %s -tile-set-target -tile-allocate-shared -convert-tile-to-nvvm -canonicalize | FileCheck %s

// CHECK-LABEL: llvm.func @barriers
tile.kernel @barriers(%C: memref<?xi1, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 7 : i32
  %true = arith.constant true
  // CHECK: %[[BAR:.*]] = llvm.mlir.addressof @shared_memory : !llvm.ptr<3>
  %bars = tile.alloc : memref<2x!tile.mbarrier, #tile.shared>
  // CHECK: nvvm.mbarrier.init %[[BAR]], %{{.*}} : !llvm.ptr<3>, i32
  tile.mbarrier.init %bars[%c0], %n : memref<2x!tile.mbarrier, #tile.shared>
  // CHECK: %[[SECOND:.*]] = llvm.getelementptr %[[BAR]][8]
  // CHECK: nvvm.mbarrier.arrive %[[SECOND]] : !llvm.ptr<3> -> i64
  tile.mbarrier.arrive %bars[%c1] : memref<2x!tile.mbarrier, #tile.shared>
  // CHECK: nvvm.mbarrier.arrive.expect_tx %[[BAR]], %{{.*}} : !llvm.ptr<3>, i32
  tile.mbarrier.arrive_expect_tx %bars[%c0], %n : memref<2x!tile.mbarrier, #tile.shared>
  // CHECK: nvvm.mbarrier.expect_tx %[[BAR]], %{{.*}} : !llvm.ptr<3>, i32
  tile.mbarrier.expect_tx %bars[%c0], %n : memref<2x!tile.mbarrier, #tile.shared>
  // CHECK: %[[P:.*]] = llvm.ptrtoint %[[BAR]] : !llvm.ptr<3> to i32
  // CHECK: llvm.inline_asm has_side_effects "{{.*}}again:{{.*}}mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;{{.*}}@!done bra again;{{.*}}", "r,r,~{memory}" %[[P]], %{{.*}} : (i32, i32) -> ()
  tile.mbarrier.wait %bars[%c0], %true : memref<2x!tile.mbarrier, #tile.shared>
  // CHECK: %[[DONE:.*]] = llvm.inline_asm has_side_effects "{{.*}}mbarrier.test_wait.parity.shared{{.*}}.b64 done, [$1], $2;{{.*}}", "=r,r,r,~{memory}"
  // CHECK: arith.cmpi ne, %[[DONE]]
  %done = tile.mbarrier.test_wait %bars[%c0], %true : memref<2x!tile.mbarrier, #tile.shared>
  memref.store %done, %C[%c0] : memref<?xi1, #tile.global>
  // CHECK: nvvm.mbarrier.inval %[[BAR]] : !llvm.ptr<3>
  tile.mbarrier.inval %bars[%c0] : memref<2x!tile.mbarrier, #tile.shared>
}
