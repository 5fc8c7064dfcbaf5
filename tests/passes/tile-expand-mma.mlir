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
// CHECK: tile.load %{{.*}}[%[[OWN]], %{{.*}}] : {{.*}} -> tensor<64x32xbf16, #tile.layout<wgmma_d>>
// CHECK: arith.truncf %{{.*}} : tensor<64x32xf32, #tile.layout<wgmma_d>> to tensor<64x32xbf16, #tile.layout<wgmma_d>>
// CHECK: arith.addf %{{.*}} : tensor<64x32xbf16, #tile.layout<wgmma_d>>
// CHECK: tile.store %{{.*}}, %{{.*}}[%[[OWN]], %{{.*}}] : tensor<64x32xbf16, #tile.layout<wgmma_d>>
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
// Other ops take the tile as a whole, and give it so.
// CHECK-LABEL: tile.kernel @reduced
// CHECK: %[[SUM:.*]] = tile.wgmma.wait 0
// CHECK: %[[ROWS:.*]] = tile.broadcast %{{.*}} : tensor<1x32xf32> -> tensor<64x32xf32>
// CHECK: %[[OWN:.*]] = tile.convert_layout %[[ROWS]] : tensor<64x32xf32> -> tensor<64x32xf32, #tile.layout<wgmma_d>>
// CHECK: %[[OUT:.*]] = arith.addf %[[SUM]], %[[OWN]] : tensor<64x32xf32, #tile.layout<wgmma_d>>
// CHECK: %[[ALL:.*]] = tile.convert_layout %[[OUT]] : tensor<64x32xf32, #tile.layout<wgmma_d>> -> tensor<64x32xf32>
// CHECK: tile.reduce %[[ALL]] axis 1
tile.kernel @reduced(%Y: memref<?xf32, #tile.global>, %bias: memref<?xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %a = tile.alloc : !slot_a
  %b = tile.alloc : !slot_b
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = tile.mma %a, %b, %zero : !slot_a, !slot_b, tensor<64x32xf32>
  %v = tile.load %bias[%c0] : memref<?xf32, #tile.global> -> tensor<32xf32>
  %v1 = tile.expand_dims %v axis 0 : tensor<32xf32> -> tensor<1x32xf32>
  %vs = tile.broadcast %v1 : tensor<1x32xf32> -> tensor<64x32xf32>
  %out = arith.addf %sum, %vs : tensor<64x32xf32>
  %max = tile.reduce %out axis 1 (%p: f32, %q: f32) {
    %m = arith.maximumf %p, %q : f32
    tile.yield %m : f32
  } : tensor<64x32xf32> -> tensor<64xf32>
  tile.store %max, %Y[%c0] : tensor<64xf32>, memref<?xf32, #tile.global>
}

// -----

// What a branch carries is a part, wherever it comes from.
!slot_a = memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>
!slot_b = memref<1x1x32x64xbf16, #tile.shared<swizzle = 128>>
// CHECK-LABEL: tile.kernel @mixed
// CHECK: %[[ONCE:.*]] = tile.wgmma.wait 0
// CHECK: scf.if %{{.*}} -> (tensor<64x32xf32, #tile.layout<wgmma_d>>)
// CHECK: %[[WHOLE:.*]] = tile.convert_layout %[[ONCE]] : tensor<64x32xf32, #tile.layout<wgmma_d>> -> tensor<64x32xf32>
// CHECK: %[[AGAIN:.*]] = tile.mma %{{.*}}, %{{.*}}, %[[WHOLE]] : tensor<64x16xbf16>
// CHECK: %[[PART:.*]] = tile.convert_layout %[[AGAIN]] : tensor<64x32xf32> -> tensor<64x32xf32, #tile.layout<wgmma_d>>
// CHECK: scf.yield %[[PART]] : tensor<64x32xf32, #tile.layout<wgmma_d>>
// CHECK: scf.yield %[[ONCE]] : tensor<64x32xf32, #tile.layout<wgmma_d>>
tile.kernel @mixed(%C: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %n: i32) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %a = tile.alloc : !slot_a
  %b = tile.alloc : !slot_b
  %one = arith.constant dense<1.0> : tensor<64x16xbf16>
  %two = arith.constant dense<2.0> : tensor<16x32xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %once = tile.mma %a, %b, %zero : !slot_a, !slot_b, tensor<64x32xf32>
  %off = arith.constant 0 : i32
  %c = arith.cmpi ne, %n, %off : i32
  %sum = scf.if %c -> (tensor<64x32xf32>) {
    %again = tile.mma %one, %two, %once : tensor<64x16xbf16>, tensor<16x32xbf16>, tensor<64x32xf32>
    scf.yield %again : tensor<64x32xf32>
  } else {
    scf.yield %once : tensor<64x32xf32>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<64x32xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

// -----

// A mask is of a whole tile.
// CHECK-LABEL: tile.kernel @masked
// CHECK: %[[PART:.*]] = tile.wgmma.wait
// CHECK: %[[WHOLE:.*]] = tile.convert_layout %[[PART]] : tensor<64x32xf32, #tile.layout<wgmma_d>> -> tensor<64x32xf32>
// CHECK: tile.store %[[WHOLE]], %{{.*}} mask %{{.*}} : tensor<64x32xi1> : tensor<64x32xf32>
tile.kernel @masked(%C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %a = tile.alloc : memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>
  %b = tile.alloc : memref<1x1x32x64xbf16, #tile.shared<swizzle = 128>>
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %i = tile.iota axis 0 : tensor<64x32xi32>
  %j = tile.iota axis 1 : tensor<64x32xi32>
  %m = arith.cmpi sge, %i, %j : tensor<64x32xi32>
  %sum = tile.mma %a, %b, %zero : memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>, memref<1x1x32x64xbf16, #tile.shared<swizzle = 128>>, tensor<64x32xf32>
  tile.store %sum, %C[%c0, %c0] mask %m : tensor<64x32xi1> : tensor<64x32xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

// -----

// Outside of parts all reads as zero: where something else is to stand, the whole tile is loaded.
// CHECK-LABEL: tile.kernel @outside
// CHECK: %[[PART:.*]] = tile.wgmma.wait 0
// CHECK: %[[X:.*]] = tile.load %{{.*}} {pad = 1.000000e+00 : f32} : {{.*}} -> tensor<64x32xf32>
// CHECK: %[[OWN_X:.*]] = tile.convert_layout %[[X]] : tensor<64x32xf32> -> tensor<64x32xf32, #tile.layout<wgmma_d>>
// CHECK: %[[WHOLE:.*]] = tile.convert_layout %[[PART]] : tensor<64x32xf32, #tile.layout<wgmma_d>> -> tensor<64x32xf32>
// CHECK: %[[Y:.*]] = tile.load %{{.*}} pass_thru %[[WHOLE]] : tensor<64x32xf32> : {{.*}} -> tensor<64x32xf32>
// CHECK: %[[OWN_Y:.*]] = tile.convert_layout %[[Y]] : tensor<64x32xf32> -> tensor<64x32xf32, #tile.layout<wgmma_d>>
// CHECK: %[[S:.*]] = arith.addf %[[PART]], %[[OWN_X]] : tensor<64x32xf32, #tile.layout<wgmma_d>>
// CHECK: arith.addf %[[S]], %[[OWN_Y]] : tensor<64x32xf32, #tile.layout<wgmma_d>>
tile.kernel @outside(%C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %a = tile.alloc : memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>
  %b = tile.alloc : memref<1x1x32x64xbf16, #tile.shared<swizzle = 128>>
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = tile.mma %a, %b, %zero : memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>, memref<1x1x32x64xbf16, #tile.shared<swizzle = 128>>, tensor<64x32xf32>
  %x = tile.load %C[%c0, %c0] {pad = 1.0 : f32} : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<64x32xf32>
  %y = tile.load %C[%c0, %c0] pass_thru %sum : tensor<64x32xf32> : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<64x32xf32>
  %s = arith.addf %sum, %x : tensor<64x32xf32>
  %t = arith.addf %s, %y : tensor<64x32xf32>
  tile.store %t, %C[%c0, %c0] : tensor<64x32xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
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
