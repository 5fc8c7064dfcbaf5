// RUN: girih-opt %s | girih-opt | FileCheck %s

// CHECK-LABEL: func.func private @products
func.func private @products(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xbf16, strided<[1, ?]>, #tile.global>,
                            %h: tensor<64x32xf16>, %q: tensor<64x32xf8E4M3FN>, %p: tensor<32x8xf8E5M2>, %i: tensor<64x32xi8>, %j: tensor<32x8xi8>,
                            %f: tensor<64x8xf32>, %d: tensor<64x8xf16>, %s: tensor<64x8xi32>, %g: tensor<32x8xf16>,
                            %da: tensor<16x4xf64>, %db: tensor<4x8xf64>, %dc: tensor<16x8xf64>,
                            %na: tensor<16x32xi8>, %nb: tensor<32x8xi8>, %small: tensor<16x8xi32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  // CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x32xf16>, tensor<32x8xf16>, tensor<64x8xf16>
  %1 = tile.mma %h, %g, %d : tensor<64x32xf16>, tensor<32x8xf16>, tensor<64x8xf16>
  // CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x32xf8E4M3FN>, tensor<32x8xf8E5M2>, tensor<64x8xf32>
  %2 = tile.mma %q, %p, %f : tensor<64x32xf8E4M3FN>, tensor<32x8xf8E5M2>, tensor<64x8xf32>
  // CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} {unsigned_b} : tensor<64x32xi8>, tensor<32x8xi8>, tensor<64x8xi32>
  %3 = tile.mma %i, %j, %s {unsigned_b} : tensor<64x32xi8>, tensor<32x8xi8>, tensor<64x8xi32>
  // CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} {unsigned_a} : tensor<16x64xi4>, tensor<64x8xi4>, tensor<16x8xi32>
  %i4_a = tile.bitcast %na : tensor<16x32xi8> -> tensor<16x64xi4>
  %i4_b = tile.bitcast %nb : tensor<32x8xi8> -> tensor<64x8xi4>
  %6 = tile.mma %i4_a, %i4_b, %small {unsigned_a} : tensor<16x64xi4>, tensor<64x8xi4>, tensor<16x8xi32>
  // CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} popc xor : tensor<16x256xi1>, tensor<256x8xi1>, tensor<16x8xi32>
  %b1_a = tile.bitcast %na : tensor<16x32xi8> -> tensor<16x256xi1>
  %b1_b = tile.bitcast %nb : tensor<32x8xi8> -> tensor<256x8xi1>
  %7 = tile.mma %b1_a, %b1_b, %small popc xor : tensor<16x256xi1>, tensor<256x8xi1>, tensor<16x8xi32>
  // CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} : tensor<16x4xf64>, tensor<4x8xf64>, tensor<16x8xf64>
  %5 = tile.mma %da, %db, %dc : tensor<16x4xf64>, tensor<4x8xf64>, tensor<16x8xf64>
  // CHECK: tile.stage %{{.*}}[%{{.*}}, %{{.*}}] side a major k by tma : {{.*}} -> memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>
  %a = tile.stage %A[%c0, %c64] side a major k by tma : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>
  // CHECK: tile.stage %{{.*}}[%{{.*}}, %{{.*}}] side b major mn by threads : {{.*}} -> memref<1x1x64x16xbf16, #tile.shared<swizzle = 32>>
  %b = tile.stage %B[%c64, %c0] side b major mn by threads : memref<?x?xbf16, strided<[1, ?]>, #tile.global> -> memref<1x1x64x16xbf16, #tile.shared<swizzle = 32>>
  // CHECK: tile.stage %{{.*}}[%{{.*}}, %{{.*}}] side b major mn by tma where %{{.*}} : {{.*}} -> memref<1x1x64x16xbf16, #tile.shared<swizzle = 32>>
  %true = arith.constant true
  %w = tile.stage %B[%c64, %c0] side b major mn by tma where %true : memref<?x?xbf16, strided<[1, ?]>, #tile.global> -> memref<1x1x64x16xbf16, #tile.shared<swizzle = 32>>
  // CHECK: tile.stage %{{.*}}[%{{.*}}, %{{.*}}] side a major k by cp_async where %{{.*}} : {{.*}} -> memref<1x2x64x64xbf16, #tile.shared<swizzle = 128>>
  %ahead = tile.stage %A[%c0, %c64] side a major k by cp_async where %true : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> memref<1x2x64x64xbf16, #tile.shared<swizzle = 128>>
  // CHECK: tile.load_staged %{{.*}} side a major k : memref<1x2x64x64xbf16, #tile.shared<swizzle = 128>> -> tensor<64x128xbf16>
  %gt = tile.load_staged %ahead side a major k : memref<1x2x64x64xbf16, #tile.shared<swizzle = 128>> -> tensor<64x128xbf16>
  // CHECK: tile.load_staged %{{.*}} side b major mn : memref<1x2x64x64xbf16, #tile.shared<swizzle = 128>> -> tensor<64x128xbf16>
  %gb = tile.load_staged %ahead side b major mn : memref<1x2x64x64xbf16, #tile.shared<swizzle = 128>> -> tensor<64x128xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  // CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} {b_major = "mn"} : memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>, memref<1x1x64x16xbf16, #tile.shared<swizzle = 32>>, tensor<64x16xf32>
  %4 = tile.mma %a, %b, %zero {b_major = "mn"} : memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>, memref<1x1x64x16xbf16, #tile.shared<swizzle = 32>>, tensor<64x16xf32>
  return
}

// CHECK-LABEL: func.func private @ahead
func.func private @ahead(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %full = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  scf.for %i = %c0 to %n step %c1 {
    // CHECK: tile.produce(%[[J:.*]]) ahead(3) {
    // CHECK-NEXT: arith.addi %[[J]], %[[J]]
    // CHECK-NEXT: }
    // CHECK-NOT: tile.end_produce
    tile.produce(%j) ahead(3) {
      %k = arith.addi %j, %j : index
      tile.end_produce
    }
    // CHECK: tile.produce(%[[J:.*]], %[[THREAD:.*]]) ahead(1) threads(128) {
    // CHECK-NEXT: arith.addi %[[J]], %[[THREAD]]
    tile.produce(%j, %t) ahead(1) threads(128) {
      %k = arith.addi %j, %t : index
    }
  }
  return
}
