// Floats of every format are printed as the numbers that they are.
//
// RUN: girih run %s --device sim | FileCheck %s --match-full-lines
// CHECK: block (0, 0, 0), [0]: 0.34375 0.3125 0.3125 0.375 0.5
// CHECK-NEXT: block (0, 0, 0), [1]: 448 448 28 7.5 6

module attributes {tile.target = "sm_90a"} {
tile.kernel @say() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %x = arith.constant dense<[0.33333334, 448.3]> : tensor<2xf32>
  %e4m3 = tile.cvt %x rn satfinite : tensor<2xf32> to tensor<2xf8E4M3FN>
  %e5m2 = tile.cvt %x rn satfinite : tensor<2xf32> to tensor<2xf8E5M2>
  %e3m2 = tile.cvt %x rn satfinite : tensor<2xf32> to tensor<2xf6E3M2FN>
  %e2m3 = tile.cvt %x rn satfinite : tensor<2xf32> to tensor<2xf6E2M3FN>
  %e2m1 = tile.cvt %x rn satfinite : tensor<2xf32> to tensor<2xf4E2M1FN>
  tile.print "{} {} {} {} {}", %e4m3, %e5m2, %e3m2, %e2m3, %e2m1 : tensor<2xf8E4M3FN>, tensor<2xf8E5M2>, tensor<2xf6E3M2FN>, tensor<2xf6E2M3FN>, tensor<2xf4E2M1FN>
}
}
