// RUN: girih-opt %s | girih-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @rows
tile.kernel @rows(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %H: memref<?xi32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %rows = tile.iota axis 0 : tensor<64xi32>
  // CHECK: tile.gather %A[%{{.*}}] rows %{{.*}} {pad = 1.000000e+00 : f32} : memref<?x?xf32, strided<[?, 1]>, #tile.global>, tensor<64xi32> -> tensor<64x128xf32>
  %x = tile.gather %A[%c0] rows %rows {pad = 1.0 : f32} : memref<?x?xf32, strided<[?, 1]>, #tile.global>, tensor<64xi32> -> tensor<64x128xf32>
  // CHECK: tile.scatter %{{.*}}, %A[%{{.*}}] rows %{{.*}} : tensor<64x128xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>, tensor<64xi32>
  tile.scatter %x, %A[%c0] rows %rows : tensor<64x128xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>, tensor<64xi32>
  // CHECK: tile.atomic_rmw add %{{.*}}, %A[%{{.*}}, %{{.*}}] : tensor<64x128xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
  tile.atomic_rmw add %x, %A[%c0, %c0] : tensor<64x128xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
  // CHECK: tile.atomic_rmw maxs %{{.*}}, %H[] rows %{{.*}} : tensor<64xi32> : tensor<64xi32>, memref<?xi32, #tile.global>
  tile.atomic_rmw maxs %rows, %H[] rows %rows : tensor<64xi32> : tensor<64xi32>, memref<?xi32, #tile.global>
  // CHECK: %{{.*}} = tile.atomic_rmw cas %{{.*}}, %H[%{{.*}}] compare %{{.*}} : tensor<64xi32> sem acq_rel scope sys : tensor<64xi32>, memref<?xi32, #tile.global> -> tensor<64xi32>
  %old = tile.atomic_rmw cas %rows, %H[%c0] compare %rows : tensor<64xi32> sem acq_rel scope sys : tensor<64xi32>, memref<?xi32, #tile.global> -> tensor<64xi32>
  // Shared memory.
  %shared = tile.alloc : memref<64xi32, #tile.shared<align = 256>>
  // CHECK: tile.atomic_rmw add %{{.*}}, %{{.*}}[] rows %{{.*}} : tensor<64xi32> : tensor<64xi32>, memref<64xi32, #tile.shared<align = 256>>
  tile.atomic_rmw add %rows, %shared[] rows %rows : tensor<64xi32> : tensor<64xi32>, memref<64xi32, #tile.shared<align = 256>>
  // CHECK: tile.atomic_rmw xor %{{.*}}, %{{.*}}[%{{.*}}] scope cluster : tensor<64xi32>, memref<64xi32, #tile.shared<align = 256>>
  tile.atomic_rmw xor %rows, %shared[%c0] scope cluster : tensor<64xi32>, memref<64xi32, #tile.shared<align = 256>>
  // Masks.
  // CHECK: %[[M:.*]] = arith.constant dense<true> : tensor<64x128xi1>
  %m = arith.constant dense<true> : tensor<64x128xi1>
  // CHECK: tile.load %A[%{{.*}}, %{{.*}}] mask %[[M]] : tensor<64x128xi1> cache evict_last {pad = 1.000000e+00 : f32} : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<64x128xf32>
  %l = tile.load %A[%c0, %c0] mask %m : tensor<64x128xi1> cache evict_last {pad = 1.0 : f32} : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<64x128xf32>
  // CHECK: tile.store %{{.*}}, %A[%{{.*}}, %{{.*}}] mask %[[M]] : tensor<64x128xi1> : tensor<64x128xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
  tile.store %l, %A[%c0, %c0] mask %m : tensor<64x128xi1> : tensor<64x128xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
  // CHECK: tile.gather %A[%{{.*}}] rows %{{.*}} mask %[[M]] : tensor<64x128xi1> : memref<?x?xf32, strided<[?, 1]>, #tile.global>, tensor<64xi32> -> tensor<64x128xf32>
  %g = tile.gather %A[%c0] rows %rows mask %m : tensor<64x128xi1> : memref<?x?xf32, strided<[?, 1]>, #tile.global>, tensor<64xi32> -> tensor<64x128xf32>
  // CHECK: tile.scatter %{{.*}}, %A[%{{.*}}] rows %{{.*}} mask %[[M]] : tensor<64x128xi1> : tensor<64x128xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>, tensor<64xi32>
  tile.scatter %g, %A[%c0] rows %rows mask %m : tensor<64x128xi1> : tensor<64x128xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>, tensor<64xi32>
  // CHECK: tile.atomic_rmw add %{{.*}}, %A[%{{.*}}] rows %{{.*}} : tensor<64xi32> mask %[[M]] : tensor<64x128xi1> : tensor<64x128xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
  tile.atomic_rmw add %g, %A[%c0] rows %rows : tensor<64xi32> mask %m : tensor<64x128xi1> : tensor<64x128xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
  // CHECK: tile.scan %{{.*}} axis 1 (%{{.*}}: f32, %{{.*}}: f32) {
  // CHECK: } : tensor<64x128xf32> -> tensor<64x128xf32>
  %s = tile.scan %x axis 1 (%a: f32, %b: f32) {
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  } : tensor<64x128xf32> -> tensor<64x128xf32>
}
