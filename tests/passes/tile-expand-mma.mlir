// Each warpgroup multiplies its 64 rows, and holds them from there on.
// RUN: girih-opt %s -tile-expand-mma -split-input-file -verify-diagnostics | FileCheck %s

!slot_a = memref<2x1x64x64xbf16, #tile.shared<swizzle = 128>>
!slot_b = memref<1x1x32x64xbf16, #tile.shared<swizzle = 128>>
!c = memref<?x?xbf16, strided<[?, 1]>, #tile.global>

// CHECK-LABEL: tile.kernel @rows
// CHECK: %[[W:.*]] = arith.divui %warp, %c4
// CHECK: %[[OWN:.*]] = arith.muli %[[W]], %c64
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<64x32xf32, #tile.layout<wgmma_d>>
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[ZERO]]) -> (tensor<64x32xf32, #tile.layout<wgmma_d>>)
// CHECK: %[[A:.*]] = tile.slab %{{.*}}[%[[W]]] : {{.*}} -> memref<1x64x64xbf16, #tile.shared<swizzle = 128>>
// CHECK: %[[B:.*]] = tile.slab %{{.*}}[%c0{{.*}}] : {{.*}} -> memref<1x32x64xbf16, #tile.shared<swizzle = 128>>
// CHECK: tile.wgmma.fence
// CHECK: %[[F:.*]] = tile.wgmma %[[A]], %[[B]], %[[ACC]]
// CHECK: tile.wgmma.commit
// CHECK: %[[D:.*]] = tile.wgmma.wait 0 %[[F]]
// CHECK: scf.yield %[[D]]
// CHECK: %[[ROW:.*]] = arith.addi %c0{{.*}}, %[[OWN]]
// CHECK: tile.load %{{.*}}[%[[ROW]], %{{.*}}] : {{.*}} -> tensor<64x32xbf16, #tile.layout<wgmma_d>>
// CHECK: arith.truncf %{{.*}} : tensor<64x32xf32, #tile.layout<wgmma_d>> to tensor<64x32xbf16, #tile.layout<wgmma_d>>
// CHECK: arith.addf %{{.*}} : tensor<64x32xbf16, #tile.layout<wgmma_d>>
// CHECK: %[[ROW2:.*]] = arith.addi %c0{{.*}}, %[[OWN]]
// CHECK: tile.store %{{.*}}, %{{.*}}[%[[ROW2]], %{{.*}}] : tensor<64x32xbf16, #tile.layout<wgmma_d>>
tile.kernel @rows(%C: !c) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.alloc : !slot_a
  %b = tile.alloc : !slot_b
  %zero = arith.constant dense<0.0> : tensor<128x32xf32>
  %sum = scf.for %i = %c0 to %c1 step %c1 iter_args(%acc = %zero) -> (tensor<128x32xf32>) {
    %next = tile.mma %a, %b, %acc : !slot_a, !slot_b, tensor<128x32xf32>
    scf.yield %next : tensor<128x32xf32>
  }
  %old = tile.load %C[%c0, %c0] : !c -> tensor<128x32xbf16>
  %short = arith.truncf %sum : tensor<128x32xf32> to tensor<128x32xbf16>
  %new = arith.addf %short, %old : tensor<128x32xbf16>
  tile.store %new, %C[%c0, %c0] : tensor<128x32xbf16>, !c
}

// -----

!slot_a = memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>
!slot_b = memref<1x1x32x64xbf16, #tile.shared<swizzle = 128>>
tile.kernel @reduced() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %a = tile.alloc : !slot_a
  %b = tile.alloc : !slot_b
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = tile.mma %a, %b, %zero : !slot_a, !slot_b, tensor<64x32xf32>
  // expected-error @+1 {{works on a tile of a matrix product, but tile-expand-mma has no rule for 'tile.reduce'; such tiles are computed with element by element, carried by scf.for and scf.if, loaded and stored}}
  %max = tile.reduce %sum axis 1 (%p: f32, %q: f32) {
    %m = arith.maximumf %p, %q : f32
    tile.yield %m : f32
  } : tensor<64x32xf32> -> tensor<64xf32>
}

// -----

tile.kernel @unstaged(%B: memref<?x?xbf16, strided<[1, ?]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %a = tile.alloc : memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %b = tile.load %B[%c0, %c0] : memref<?x?xbf16, strided<[1, ?]>, #tile.global> -> tensor<64x32xbf16>
  // expected-error @+1 {{operand b is tensor<64x32xbf16>, but products read shared memory; run tile-plan-copies first}}
  %sum = tile.mma %a, %b, %zero : memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>, tensor<64x32xbf16>, tensor<64x32xf32>
}
