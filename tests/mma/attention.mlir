// Attention, block by block: S = Q K, P = exp(S - max), O = P V, with the rows' maxima and sums carried along. Rows of S
// stay in a warp, and P goes into the second product from the registers in which S left the first.
//
// RUN: girih run %s --device sim --check-memory --arg Q=randn:f16[70,32] --arg K=randn:f16[32,80] --arg 'V=uniform(low=0,high=1):f16[80,32]' --arg O=poison:f32[70,32] | FileCheck %s
// RUN: girih run %s --device sim --check-memory --arg Q=randn:f16[64,32] --arg K=randn:f16[32,64] --arg 'V=uniform(low=0,high=1):f16[64,32]' --arg O=poison:f32[64,32] | FileCheck %s
// CHECK: right: O:
//
// RUN: girih compile %s --target sm_80 --emit cubin -o %t.80.cubin
// RUN: girih compile %s --target sm_90a --emit cubin -o %t.90.cubin
// RUN: girih compile %s --target sm_120a --emit cubin -o %t.120.cubin

!m = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!t = memref<?x?xf16, strided<[1, ?]>, #tile.global>
!o = memref<?x?xf32, strided<[?, 1]>, #tile.global>

tile.kernel @attention(%Q: !m, %K: !t, %V: !m, %O: !o) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %M = memref.dim %Q, %c0 : !m
  %tiles = arith.ceildivui %M, %c64 : index
  tile.grid %tiles, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %K, %c1 : !t
  %bx = tile.block_id x
  %row = arith.muli %bx, %c64 : index
  %lowest = arith.constant dense<0xFF800000> : tensor<64xf32>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %empty = arith.constant dense<0.0> : tensor<64x32xf32>
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %log2e = arith.constant dense<1.44269504> : tensor<64x32xf32>
  %log2e_row = arith.constant dense<1.44269504> : tensor<64xf32>
  %outside = arith.constant dense<0xFF800000> : tensor<64x32xf32>
  %columns = tile.iota axis 1 : tensor<64x32xi32>
  %n32 = arith.index_cast %n : index to i32
  %q = tile.load %Q[%row, %c0] : !m -> tensor<64x32xf16>
  %out, %max, %sum = scf.for %j = %c0 to %n step %c32 iter_args(%o = %empty, %m = %lowest, %l = %none) -> (tensor<64x32xf32>, tensor<64xf32>, tensor<64xf32>) {
    %k = tile.load %K[%c0, %j] : !t -> tensor<32x32xf16>
    %v = tile.load %V[%j, %c0] : !m -> tensor<32x32xf16>
    %all = tile.mma %q, %k, %zero : tensor<64x32xf16>, tensor<32x32xf16>, tensor<64x32xf32>
    %j32 = arith.index_cast %j : index to i32
    %left = arith.subi %n32, %j32 : i32
    %lefts = tile.splat %left : i32 -> tensor<64x32xi32>
    %inside = arith.cmpi slt, %columns, %lefts : tensor<64x32xi32>
    %s = arith.select %inside, %all, %outside : tensor<64x32xi1>, tensor<64x32xf32>
    %own = tile.reduce %s axis 1 (%a: f32, %b: f32) {
      %r = arith.maximumf %a, %b : f32
      tile.yield %r : f32
    } : tensor<64x32xf32> -> tensor<64xf32>
    %new = arith.maximumf %m, %own : tensor<64xf32>
    %new1 = tile.expand_dims %new axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %news = tile.broadcast %new1 : tensor<64x1xf32> -> tensor<64x32xf32>
    %below = arith.subf %s, %news : tensor<64x32xf32>
    %scaled = arith.mulf %below, %log2e : tensor<64x32xf32>
    %p = math.exp2 %scaled : tensor<64x32xf32>
    %part = tile.reduce %p axis 1 (%a: f32, %b: f32) {
      %r = arith.addf %a, %b : f32
      tile.yield %r : f32
    } : tensor<64x32xf32> -> tensor<64xf32>
    %fall = arith.subf %m, %new : tensor<64xf32>
    %fall2 = arith.mulf %fall, %log2e_row : tensor<64xf32>
    %factor = math.exp2 %fall2 : tensor<64xf32>
    %kept = arith.mulf %l, %factor : tensor<64xf32>
    %total = arith.addf %kept, %part : tensor<64xf32>
    %factor1 = tile.expand_dims %factor axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %factors = tile.broadcast %factor1 : tensor<64x1xf32> -> tensor<64x32xf32>
    %o2 = arith.mulf %o, %factors : tensor<64x32xf32>
    %ph = arith.truncf %p : tensor<64x32xf32> to tensor<64x32xf16>
    %o3 = tile.mma %ph, %v, %o2 : tensor<64x32xf16>, tensor<32x32xf16>, tensor<64x32xf32>
    scf.yield %o3, %new, %total : tensor<64x32xf32>, tensor<64xf32>, tensor<64xf32>
  }
  %sum1 = tile.expand_dims %sum axis 1 : tensor<64xf32> -> tensor<64x1xf32>
  %sums = tile.broadcast %sum1 : tensor<64x1xf32> -> tensor<64x32xf32>
  %result = arith.divf %out, %sums : tensor<64x32xf32>
  tile.store %result, %O[%row, %c0] : tensor<64x32xf32>, !o
}

func.func @attention_ref(%Q: memref<?x?xf16, strided<[?, 1]>>, %K: memref<?x?xf16, strided<[1, ?]>>, %V: memref<?x?xf16, strided<[?, 1]>>, %O: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.tol = 2.0e-3 : f64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = memref.dim %Q, %c0 : memref<?x?xf16, strided<[?, 1]>>
  %D = memref.dim %Q, %c1 : memref<?x?xf16, strided<[?, 1]>>
  %n = memref.dim %K, %c1 : memref<?x?xf16, strided<[1, ?]>>
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %S = memref.alloc(%n) : memref<?xf32>
  scf.for %i = %c0 to %M step %c1 {
    %max = scf.for %j = %c0 to %n step %c1 iter_args(%m = %lowest) -> (f32) {
      %dot = scf.for %d = %c0 to %D step %c1 iter_args(%s = %zero) -> (f32) {
        %q = memref.load %Q[%i, %d] : memref<?x?xf16, strided<[?, 1]>>
        %k = memref.load %K[%d, %j] : memref<?x?xf16, strided<[1, ?]>>
        %qf = arith.extf %q : f16 to f32
        %kf = arith.extf %k : f16 to f32
        %x = arith.mulf %qf, %kf : f32
        %t = arith.addf %s, %x : f32
        scf.yield %t : f32
      }
      memref.store %dot, %S[%j] : memref<?xf32>
      %r = arith.maximumf %m, %dot : f32
      scf.yield %r : f32
    }
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (f32) {
      %s = memref.load %S[%j] : memref<?xf32>
      %below = arith.subf %s, %max : f32
      %p = math.exp %below : f32
      memref.store %p, %S[%j] : memref<?xf32>
      %t = arith.addf %l, %p : f32
      scf.yield %t : f32
    }
    scf.for %d = %c0 to %D step %c1 {
      %o = scf.for %j = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
        %p = memref.load %S[%j] : memref<?xf32>
        %v = memref.load %V[%j, %d] : memref<?x?xf16, strided<[?, 1]>>
        %vf = arith.extf %v : f16 to f32
        %x = arith.mulf %p, %vf : f32
        %t = arith.addf %s, %x : f32
        scf.yield %t : f32
      }
      %q = arith.divf %o, %sum : f32
      memref.store %q, %O[%i, %d] : memref<?x?xf32, strided<[?, 1]>>
    }
  }
  memref.dealloc %S : memref<?xf32>
  return
}
