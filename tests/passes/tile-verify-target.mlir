// RUN: girih-opt %s -tile-verify-target -split-input-file -verify-diagnostics

// What the target has is left alone.
module attributes {tile.target = "sm_90a"} {
  tile.kernel @right(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) threads(256) cluster(2, 1, 1) launch {
    %c1 = arith.constant 1 : index
    %map = tile.tensor_map %A : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<128x64xbf16, swizzle = 128>
    tile.grid %c1, %c1, %c1 args(%map : !tile.tensor_map<128x64xbf16, swizzle = 128>)
  } body args(%map: !tile.tensor_map<128x64xbf16, swizzle = 128>) {
    %elected = tile.elect
    tile.prefetch_tensor_map %map : !tile.tensor_map<128x64xbf16, swizzle = 128>
    tile.warp_specialize
    role producer(%t) warps(4) registers(40) {
    } role consumer(%u) warps(4) registers(232) {
      tile.wgmma.fence
    }
  }
}

// -----

module {
  // expected-error @+1 {{'tile.kernel' op needs a target, but the module around it names none; write `module attributes {tile.target = "sm_90a"}`, run tile-set-target, or compile with --target sm_90a}}
  tile.kernel @nowhere() threads(32) launch {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  } body {
  }
}

// -----

// Upstream code names no target of its own.
func.func @upstream(%a: i32) -> i32 {
  return %a : i32
}

// -----

// Hopper's own instructions are neither before nor after it.
module attributes {tile.target = "sm_100a"} {
  tile.kernel @later() threads(128) launch {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  } body {
    %elected = tile.elect
    // expected-error @+1 {{wgmma.mma_async needs sm_90a with PTX 8.0, found target sm_100a; use mma.sync, or tcgen05.mma where it exists}}
    tile.wgmma.fence
    // expected-error @+1 {{wgmma.mma_async needs sm_90a with PTX 8.0, found target sm_100a}}
    tile.wgmma.commit
  }
}

// -----

// Without the `a`, what is special to Hopper is not there.
module attributes {tile.target = "sm_90"} {
  tile.kernel @plain() threads(256) launch {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  } body {
    // expected-error @+1 {{setmaxnreg needs sm_90a with PTX 8.0, }}
    tile.warp_specialize
    role a(%t) warps(4) registers(40) {
    } role b(%u) warps(4) registers(232) {
    }
  }
}

// -----

module attributes {tile.target = "sm_80"} {
  // expected-error @+1 {{cluster = [2, 1, 1], but clusters need sm_90 or later, found target sm_80; leave it out}}
  tile.kernel @ampere(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) threads(128) cluster(2, 1, 1) launch {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{tensor maps need sm_90 or later, found target sm_80; use memref.load and memref.store}}
    %map = tile.tensor_map %A : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<64x64xbf16, swizzle = 128>
    tile.grid %c1, %c1, %c1 args(%map : !tile.tensor_map<64x64xbf16, swizzle = 128>)
  } body args(%map: !tile.tensor_map<64x64xbf16, swizzle = 128>) {
    %c0 = arith.constant 0 : index
    %bytes = arith.constant 8192 : i32
    %one = arith.constant 1 : i32
    %parity = arith.constant false
    %m = tile.alloc : memref<64x64xbf16, #tile.shared<swizzle = 128>>
    %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
    // mbarriers are as old as sm_80; bytes and waits that sleep are not.
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    // expected-error @+1 {{fence.mbarrier_init needs sm_90 or later with PTX 8.0, found target sm_80; use barrier.cluster}}
    tile.fence mbarrier_init
    // expected-error @+1 {{mbarrier.expect_tx and arrive.expect_tx needs sm_90 or later with PTX 8.0, found target sm_80; count arrivals of cp.async}}
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    // expected-error @+2 {{a tensor load .tile to shared::cluster needs sm_90 or later with PTX 8.0, found target sm_80}}
    // expected-error @+1 {{a cache policy on bulk copies needs sm_90 or later with PTX 8.0, found target sm_80; leave it out: a policy changes no result}}
    tile.tma.load %map[%c0, %c0], %m, %bar[] cache evict_first : !tile.tensor_map<64x64xbf16, swizzle = 128>, memref<64x64xbf16, #tile.shared<swizzle = 128>>, memref<!tile.mbarrier, #tile.shared>
    %done = tile.mbarrier.test_wait %bar[], %parity : memref<!tile.mbarrier, #tile.shared>
    // expected-error @+1 {{mbarrier.try_wait needs sm_90 or later with PTX 7.8, found target sm_80; loop over mbarrier.test_wait}}
    tile.mbarrier.wait %bar[], %parity : memref<!tile.mbarrier, #tile.shared>
    // expected-error @+1 {{fence.proxy.async needs sm_90 or later with PTX 8.0, found target sm_80}}
    tile.fence proxy_async_shared
    // expected-error @+1 {{a tensor store .tile needs sm_90 or later with PTX 8.0, found target sm_80}}
    tile.tma.store %m, %map[%c0, %c0] : memref<64x64xbf16, #tile.shared<swizzle = 128>>, !tile.tensor_map<64x64xbf16, swizzle = 128>
    // expected-error @+1 {{cp.async.bulk.commit_group and wait_group needs sm_90 or later with PTX 8.0, found target sm_80}}
    tile.bulk.commit
    tile.fence gpu
    tile.barrier
  }
}

// -----

// Modes of tensor maps that came later.
module attributes {tile.target = "sm_90a"} {
  tile.kernel @maps(%A: memref<?x?xi8, strided<[?, 1]>, #tile.global>) threads(128) launch {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{(target sm_90a)}}
    %a = tile.tensor_map %A : memref<?x?xi8, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<8x128xi8, swizzle = 128, atom = 32>
    // expected-error @+1 {{(target sm_90a)}}
    %b = tile.tensor_map %A : memref<?x?xi8, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<8x96xi8, swizzle = 96>
    tile.grid %c1, %c1, %c1 args(%a, %b : !tile.tensor_map<8x128xi8, swizzle = 128, atom = 32>, !tile.tensor_map<8x96xi8, swizzle = 96>)
  } body args(%a: !tile.tensor_map<8x128xi8, swizzle = 128, atom = 32>, %b: !tile.tensor_map<8x96xi8, swizzle = 96>) {
  }
}

// -----

// Conversions to 8-bit floats are upstream ops, but not every target has them.
module attributes {tile.target = "sm_80"} {
  func.func @narrow(%x: f32) -> f8E4M3FN {
    // expected-error @+1 {{cvt to and from e4m3 and e5m2 needs sm_90 or later with PTX 7.8, or sm_89 or later with PTX 8.1, found target sm_80; convert by integer operations}}
    %y = arith.truncf %x : f32 to f8E4M3FN
    return %y : f8E4M3FN
  }
}

// -----

// The launcher has integers only.
module attributes {tile.target = "sm_90a"} {
  tile.kernel @host(%x: f32) threads(32) launch {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{depends on argument #0 of type f32, but the launcher computes with integers only}}
    %y = arith.fptosi %x : f32 to i32
    %n = arith.index_cast %y : i32 to index
    // expected-note @+1 {{the grid's x depends on it}}
    tile.grid %n, %c1, %c1
  } body {
  }
}

// -----

// A product of tiles is mma.sync, one of staged operands wgmma.
module attributes {tile.target = "sm_80"} {
  tile.kernel @products(%x: f32) threads(128) launch {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  } body {
    %a = arith.constant dense<1.0> : tensor<16x32xf8E4M3FN>
    %b = arith.constant dense<1.0> : tensor<32x8xf8E5M2>
    %c = arith.constant dense<0.0> : tensor<16x8xf32>
    %h = arith.constant dense<0.0> : tensor<16x8xf16>
    // expected-error @+1 {{mma.sync of e4m3 and e5m2 needs sm_89 or later with PTX 8.4, found target sm_80; convert to f16}}
    %d = tile.mma %a, %b, %c : tensor<16x32xf8E4M3FN>, tensor<32x8xf8E5M2>, tensor<16x8xf32>
    // expected-error @+1 {{mma.sync of e4m3 and e5m2 with sums of f16 needs sm_89 or later with PTX 8.7, found target sm_80; add in f32, or convert to f16}}
    %e = tile.mma %a, %b, %h : tensor<16x32xf8E4M3FN>, tensor<32x8xf8E5M2>, tensor<16x8xf16>
    %p = arith.constant dense<1.0> : tensor<16x4xf64>
    %q = arith.constant dense<1.0> : tensor<4x8xf64>
    %s = arith.constant dense<0.0> : tensor<16x8xf64>
    %f = tile.mma %p, %q, %s : tensor<16x4xf64>, tensor<4x8xf64>, tensor<16x8xf64>
    %m = tile.alloc : memref<2x1x64x64xf16, #tile.shared<swizzle = 128>>
    %n = tile.alloc : memref<1x1x8x64xf16, #tile.shared<swizzle = 128>>
    %o = arith.constant dense<0.0> : tensor<128x8xf32>
    // expected-error @+1 {{wgmma.mma_async needs sm_90a with PTX 8.0, found target sm_80; use mma.sync}}
    %g = tile.mma %m, %n, %o : memref<2x1x64x64xf16, #tile.shared<swizzle = 128>>, memref<1x1x8x64xf16, #tile.shared<swizzle = 128>>, tensor<128x8xf32>
  }
}
