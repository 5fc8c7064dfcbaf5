// A loop of products that is known to make no pass leaves what it starts with.
// RUN: girih run %s --device sim --check-memory --arg A=randn:f16[128,16] --arg B=randn:f16[16,16] --arg C=poison:f16[128,16] \
// RUN:   --check C=ones:f16[128,16] | FileCheck %s
// CHECK: right: C: all {{.*}} elements are exact
// CHECK: no findings

!halves = memref<?x?xf16, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {
tile.kernel @none(%A: !halves, %B: !halves, %C: !halves) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant dense<1.0> : tensor<128x16xf32>
  %sum = scf.for %k = %c0 to %c0 step %c16 iter_args(%acc = %one) -> (tensor<128x16xf32>) {
    %a = tile.load %A[%c0, %k] : !halves -> tensor<128x16xf16>
    %b = tile.load %B[%k, %c0] : !halves -> tensor<16x16xf16>
    %next = tile.mma %a, %b, %acc : tensor<128x16xf16>, tensor<16x16xf16>, tensor<128x16xf32>
    scf.yield %next : tensor<128x16xf32>
  }
  %out = arith.truncf %sum : tensor<128x16xf32> to tensor<128x16xf16>
  tile.store %out, %C[%c0, %c0] : tensor<128x16xf16>, !halves
}
}
