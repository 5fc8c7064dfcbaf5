// Ops on register tiles: one op for each element that a thread holds.
// RUN: girih-opt %s -tile-set-target -tile-allocate-shared -convert-tile-to-nvvm | FileCheck %s

!d = tensor<64x8xf32, #tile.layout<wgmma_d>>
!b = tensor<64x8xi1, #tile.layout<wgmma_d>>
!m = memref<?x?xf32, strided<[?, 1]>, #tile.global>

// CHECK-LABEL: llvm.func @elements
tile.kernel @elements(%C: !m, %n: i64) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.index_cast %n : i64 to index
  // CHECK: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
  %two = arith.constant dense<2.0> : !d
  // Attributes go along.
  // CHECK-COUNT-4: arith.mulf %{{.*}}, %[[TWO]] fastmath<contract> : f32
  // CHECK-NOT: arith.mulf
  %x = tile.load %C[%c0, %c0] : !m -> !d
  %y = arith.mulf %x, %two fastmath<contract> : !d
  // CHECK-COUNT-4: arith.cmpf ogt, %{{.*}}, %{{.*}} : f32
  %p = arith.cmpf ogt, %x, %y : !d
  // CHECK-COUNT-4: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
  %z = arith.select %p, %x, %y : !b, !d
  // One condition for all.
  // CHECK: %[[FLAG:.*]] = arith.cmpi eq
  // CHECK-COUNT-4: arith.select %[[FLAG]], %{{.*}}, %{{.*}} : f32
  %flag = arith.cmpi eq, %steps, %c1 : index
  %u = arith.select %flag, %z, %x : !d
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (f32, f32, f32, f32)
  %sum = scf.for %i = %c0 to %steps step %c1 iter_args(%s = %u) -> !d {
    // CHECK: scf.if %{{.*}} -> (f32, f32, f32, f32)
    %t = scf.if %flag -> !d {
      // CHECK-COUNT-4: math.fma %{{.*}}, %{{.*}}, %{{.*}} : f32
      %v = math.fma %s, %x, %y : !d
      scf.yield %v : !d
    } else {
      scf.yield %s : !d
    }
    scf.yield %t : !d
  }
  // CHECK-COUNT-4: arith.truncf %{{.*}} : f32 to bf16
  %h = arith.truncf %sum : !d to tensor<64x8xbf16, #tile.layout<wgmma_d>>
  %w = arith.extf %h : tensor<64x8xbf16, #tile.layout<wgmma_d>> to !d
  tile.store %w, %C[%c0, %c0] : !d, !m
}
