// Constants of every kind in tiles of any size; sparse ones are written out.
// RUN: girih-opt %s -tile-pad-tiles | FileCheck %s
// RUN: girih run %s --device sim --arg Y=zeros:f32[22] --arg m=i64:2

module attributes {tile.target = "sm_90a"} {
// CHECK-LABEL: tile.kernel @k
// CHECK: arith.constant dense<[2.000000e+00, 0.000000e+00, 4.000000e+00, 2.000000e+00]> : tensor<4xf32>
// CHECK: arith.constant dense<{{\[}}[true, false, true, true], [false, true, false, true]]> : tensor<2x4xi1>
// CHECK: arith.constant dense<[3, 5, 7, 3]> : tensor<4xindex>
// CHECK: arith.constant dense<[5.000000e-01, 1.500000e+00, 2.500000e+00, 5.000000e-01]> : tensor<4xf16>
// Truth values stand in the padding of truth values.
// CHECK: %[[GIVEN:.*]] = arith.cmpi sge
// CHECK: %[[NO:.*]] = arith.constant dense<false> : tensor<4xi1>
// CHECK: arith.select %{{.*}}, %[[GIVEN]], %[[NO]] : tensor<4xi1>, tensor<4xi1>
// CHECK: tile.extract_slice
// CHECK: %[[YES:.*]] = arith.constant dense<true> : tensor<4xi1>
// CHECK: %[[BY:.*]] = arith.select %{{.*}}, %[[GIVEN]], %[[YES]] : tensor<4xi1>, tensor<4xi1>
// CHECK: arith.divui %{{.*}}, %[[BY]] : tensor<4xi1>
tile.kernel @k(%Y: memref<?xf32, #tile.global>, %m: i64) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c12 = arith.constant 12 : index
  %c9 = arith.constant 9 : index
  %c15 = arith.constant 15 : index
  %c18 = arith.constant 18 : index
  %sparse = arith.constant sparse<[[0], [2]], [2.0, 4.0]> : tensor<3xf32>
  tile.store %sparse, %Y[%c0] : tensor<3xf32>, memref<?xf32, #tile.global>
  %truths = arith.constant dense<[[true, false, true], [false, true, false]]> : tensor<2x3xi1>
  %truth = arith.uitofp %truths : tensor<2x3xi1> to tensor<2x3xf32>
  %row = tile.reshape %truth : tensor<2x3xf32> -> tensor<6xf32>
  tile.store %row, %Y[%c3] : tensor<6xf32>, memref<?xf32, #tile.global>
  %places = arith.constant dense<[3, 5, 7]> : tensor<3xindex>
  %place = arith.index_cast %places : tensor<3xindex> to tensor<3xi32>
  %number = arith.sitofp %place : tensor<3xi32> to tensor<3xf32>
  tile.store %number, %Y[%c9] : tensor<3xf32>, memref<?xf32, #tile.global>
  %halves = arith.constant dense<[0.5, 1.5, 2.5]> : tensor<3xf16>
  %wide = arith.extf %halves : tensor<3xf16> to tensor<3xf32>
  tile.store %wide, %Y[%c15] : tensor<3xf32>, memref<?xf32, #tile.global>
  %one = arith.constant dense<5> : tensor<3xi32>
  %small = arith.cmpi sge, %place, %one : tensor<3xi32>
  %n = arith.index_cast %m : i64 to index
  %two = tile.extract_slice %small at [%n] : tensor<3xi1> -> tensor<2xi1>
  %all = arith.divui %small, %small : tensor<3xi1>
  %part = arith.uitofp %two : tensor<2xi1> to tensor<2xf32>
  tile.store %part, %Y[%c12] : tensor<2xf32>, memref<?xf32, #tile.global>
  // Of powers of two.
  %even = arith.constant sparse<[[1], [3]], [6.0, 8.0]> : tensor<4xf32>
  tile.store %even, %Y[%c18] : tensor<4xf32>, memref<?xf32, #tile.global>
}
func.func @k_ref(%Y: memref<?xf32>, %m: i64) {
  %all = arith.constant dense<[2.0, 0.0, 4.0,  1.0, 0.0, 1.0, 0.0, 1.0, 0.0,  3.0, 5.0, 7.0,  1.0, 0.0, 0.0,  0.5, 1.5, 2.5,  0.0, 6.0, 0.0, 8.0]> : tensor<22xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c22 = arith.constant 22 : index
  scf.for %i = %c0 to %c22 step %c1 {
    %x = tensor.extract %all[%i] : tensor<22xf32>
    memref.store %x, %Y[%i] : memref<?xf32>
  }
  return
}
}
