// RUN: girih-opt %s | girih-opt | FileCheck %s

// CHECK-LABEL: func.func private @copies
func.func private @copies(%A: memref<?x?xf16, strided<[?, 1]>, #tile.global>, %i: index, %n: i32) {
  %m = tile.alloc : memref<8x64xf16, #tile.shared<swizzle = 128>>
  %bar = tile.alloc : memref<2x!tile.mbarrier, #tile.shared>
  // CHECK: tile.cp_async %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}], 16 : memref<?x?xf16, strided<[?, 1]>, #tile.global>, memref<8x64xf16, #tile.shared<swizzle = 128>>
  tile.cp_async %A[%i, %i], %m[%i, %i], 16 : memref<?x?xf16, strided<[?, 1]>, #tile.global>, memref<8x64xf16, #tile.shared<swizzle = 128>>
  // CHECK: tile.cp_async %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}], 4 src_size %{{.*}} : memref
  tile.cp_async %A[%i, %i], %m[%i, %i], 4 src_size %n : memref<?x?xf16, strided<[?, 1]>, #tile.global>, memref<8x64xf16, #tile.shared<swizzle = 128>>
  // CHECK: tile.cp_async.mbarrier_arrive %{{.*}}[%{{.*}}] : memref<2x!tile.mbarrier, #tile.shared>
  tile.cp_async.mbarrier_arrive %bar[%i] : memref<2x!tile.mbarrier, #tile.shared>
  // CHECK: tile.cp_async.mbarrier_arrive %{{.*}}[%{{.*}}] noinc : memref<2x!tile.mbarrier, #tile.shared>
  tile.cp_async.mbarrier_arrive %bar[%i] noinc : memref<2x!tile.mbarrier, #tile.shared>
  // CHECK: tile.cp_async.wait_all
  tile.cp_async.wait_all
  // CHECK: tile.thread_id fresh
  %t = tile.thread_id fresh
  return
}

// CHECK-LABEL: func.func private @groups
func.func private @groups() {
  // CHECK: tile.cp_async.commit_group
  tile.cp_async.commit_group
  // CHECK: tile.cp_async.wait_group 2
  tile.cp_async.wait_group 2
  return
}
