// Copies of a few bytes: 16 pass by L1; what is waited for need not be in a group.
// RUN: girih-opt %s -tile-set-target -tile-allocate-shared -convert-tile-to-nvvm -canonicalize | FileCheck %s

// CHECK-LABEL: llvm.func @copies(
tile.kernel @copies(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %n: i32) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<32x32xf32, #tile.shared<swizzle = 128>>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  // CHECK: llvm.inline_asm has_side_effects {{.*}}"mov.u32 $0, %tid.x;", "=r"
  %t = tile.thread_id fresh
  // CHECK: nvvm.cp.async.shared.global %[[TO:.*]], %[[FROM:.*]], 16, cache = cg, %{{.*}} : !llvm.ptr<3>, !llvm.ptr<1>, i32
  tile.cp_async %A[%t, %c0], %m[%t, %c0], 16 src_size %n : memref<?x?xf32, strided<[?, 1]>, #tile.global>, memref<32x32xf32, #tile.shared<swizzle = 128>>
  // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 8, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
  tile.cp_async %A[%t, %c0], %m[%t, %c0], 8 : memref<?x?xf32, strided<[?, 1]>, #tile.global>, memref<32x32xf32, #tile.shared<swizzle = 128>>
  // CHECK: nvvm.cp.async.mbarrier.arrive %{{.*}} {noinc = true} : !llvm.ptr<3>
  tile.cp_async.mbarrier_arrive %bar[] noinc : memref<!tile.mbarrier, #tile.shared>
  // CHECK: llvm.inline_asm has_side_effects {{.*}}"cp.async.wait_all;"
  tile.cp_async.wait_all
  %c = arith.constant 1.0 : f32
  // CHECK: %[[V:.*]] = llvm.insertelement
  // CHECK: %[[W:.*]] = llvm.insertelement
  // CHECK: llvm.store %[[W]], %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
  %x = memref.load %A[%t, %c0] : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %v = vector.from_elements %x, %c : vector<2xf32>
  vector.store %v, %m[%t, %c0] : memref<32x32xf32, #tile.shared<swizzle = 128>>, vector<2xf32>
}
