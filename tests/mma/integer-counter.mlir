// Loops that count by integers, signed and unsigned, around a product: their copies run ahead as any others.
// RUN: girih run %s --target sm_90a --device sim --check-memory --arg A=randn:f16[64,128] --arg B=randn:f16[128,64] --arg C=poison:f32[64,64] --arg n=i32:-2 2>/dev/null | FileCheck %s
// RUN: girih run %s --target sm_80 --device sim --check-memory --arg A=randn:f16[64,128] --arg B=randn:f16[128,64] --arg C=poison:f32[64,64] --arg n=i32:-2 2>/dev/null | FileCheck %s
// RUN: girih run %s --target sm_90a --device sim --arg A=randn:f16[64,128] --arg B=randn:f16[128,64] --arg C=poison:f32[64,64] --arg n=i32:2 2>/dev/null | FileCheck %s
// CHECK: right: C: all 4096 elements
// RUN: girih-opt %s -tile-set-target=target=sm_90a -tile-plan-copies | FileCheck %s --check-prefix=PLAN
!a = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!c = memref<?x?xf32, strided<[?, 1]>, #tile.global>

// PLAN: scf.for %[[I:.*]] = %{{.*}} iter_args({{.*}}) -> (tensor<64x64xf32>) {
// PLAN: arith.index_cast %[[I]] : index to i32
// PLAN: scf.for %[[K:.*]] = %{{.*}} iter_args({{.*}}) -> (tensor<64x64xf32>) {
// PLAN: arith.index_castui %[[K]] : index to i32
// PLAN: tile.stage {{.*}} by tma
tile.kernel @integers(%A: !a, %B: !a, %C: !c, %n: i32) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %i32 = arith.constant 32 : i32
  %i128 = arith.constant 128 : i32
  %all = scf.for %i = %n to %i1 step %i1 iter_args(%outer = %zero) -> (tensor<64x64xf32>) : i32 {
    %sum = scf.for unsigned %k = %i0 to %i128 step %i32 iter_args(%acc = %outer) -> (tensor<64x64xf32>) : i32 {
      %at = arith.index_cast %k : i32 to index
      %a = tile.load %A[%c0, %at] : !a -> tensor<64x32xf16>
      %b = tile.load %B[%at, %c0] : !a -> tensor<32x64xf16>
      %next = tile.mma %a, %b, %acc : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    scf.yield %sum : tensor<64x64xf32>
  }
  tile.store %all, %C[%c0, %c0] : tensor<64x64xf32>, !c
}

func.func @integers_ref(%A: memref<?x?xf16, strided<[?, 1]>>, %B: memref<?x?xf16, strided<[?, 1]>>, %C: memref<?x?xf32, strided<[?, 1]>>, %n: i32) attributes {girih.tol = 1.0e-3 : f64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %passes = arith.subi %i1, %n : i32
  %times = arith.maxsi %passes, %i0 : i32
  %factor = arith.sitofp %times : i32 to f32
  scf.for %i = %c0 to %c64 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %sum = scf.for %k = %c0 to %c128 step %c1 iter_args(%acc = %zero) -> (f32) {
        %a = memref.load %A[%i, %k] : memref<?x?xf16, strided<[?, 1]>>
        %b = memref.load %B[%k, %j] : memref<?x?xf16, strided<[?, 1]>>
        %wa = arith.extf %a : f16 to f32
        %wb = arith.extf %b : f16 to f32
        %p = arith.mulf %wa, %wb : f32
        %next = arith.addf %acc, %p : f32
        scf.yield %next : f32
      }
      %all = arith.mulf %sum, %factor : f32
      memref.store %all, %C[%i, %j] : memref<?x?xf32, strided<[?, 1]>>
    }
  }
  return
}
