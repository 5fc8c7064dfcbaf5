// RUN: girih-opt %s --split-input-file --verify-diagnostics --tile-expand-math | FileCheck %s

// What is in kernels is expanded, into arithmetic alone; a host function's is left to the host.

// CHECK-LABEL: gpu.module @kernels
gpu.module @kernels {
  // CHECK-LABEL: @accurate
  gpu.func @accurate(%x: f32) -> f32 {
    // e^x: whole multiples of ln(2), a polynomial, and two factors that are powers of two.
    // CHECK-NOT: math.exp
    // CHECK: arith.mulf
    // CHECK: math.fma
    // CHECK: arith.shrsi
    // CHECK: %[[P:.*]] = arith.mulf
    // CHECK: %[[R:.*]] = arith.mulf %[[P]]
    // CHECK-NEXT: gpu.return %[[R]]
    %y = math.exp %x : f32
    gpu.return %y : f32
  }

  // CHECK-LABEL: @approximate
  gpu.func @approximate(%x: f32) -> (f32, f32, f32) {
    // CHECK: %[[K:.*]] = arith.mulf %{{.*}}, %{{.*}} : f32
    // CHECK: %[[E:.*]] = math.exp2 %[[K]] fastmath<afn> : f32
    %e = math.exp %x fastmath<afn> : f32
    // CHECK: %[[L:.*]] = llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"(%{{.*}}) : (f32) -> f32
    // CHECK: %[[N:.*]] = arith.mulf %[[L]], %{{.*}} : f32
    %l = math.log %x fastmath<fast> : f32
    // CHECK: %[[S:.*]] = math.sin %{{.*}} fastmath<afn> : f32
    %s = math.sin %x fastmath<afn> : f32
    // CHECK: gpu.return %[[E]], %[[N]], %[[S]]
    gpu.return %e, %l, %s : f32, f32, f32
  }

  // Sixteen bits are computed in 32 and rounded once.
  // CHECK-LABEL: @half
  gpu.func @half(%x: vector<2xbf16>) -> vector<2xbf16> {
    // CHECK: arith.extf %{{.*}} : vector<2xbf16> to vector<2xf32>
    // CHECK: arith.truncf %{{.*}} : vector<2xf32> to vector<2xbf16>
    %y = math.tanh %x : vector<2xbf16>
    gpu.return %y : vector<2xbf16>
  }

  // A scalar takes the long way only when it must; of a vector both ways are computed.
  // CHECK-LABEL: @angles
  gpu.func @angles(%x: f32, %v: vector<4xf32>) -> (f32, vector<4xf32>) {
    // CHECK: scf.if
    // CHECK: arith.mului_extended
    // CHECK: else
    %s = math.sin %x : f32
    // CHECK-NOT: scf.if
    // CHECK: arith.mului_extended %{{.*}} : vector<4xi32>
    // CHECK: arith.select %{{.*}} : vector<4xi1>, vector<4xf32>
    %c = math.cos %v : vector<4xf32>
    gpu.return %s, %c : f32, vector<4xf32>
  }

  // What the hardware has stays.
  // CHECK-LABEL: @instructions
  gpu.func @instructions(%x: f32, %i: i32) -> (f32, f32, i32) {
    // CHECK: math.sqrt
    %s = math.sqrt %x : f32
    // CHECK: math.absf
    %a = math.absf %x : f32
    // CHECK: math.ctpop
    %p = math.ctpop %i : i32
    gpu.return %s, %a, %p : f32, f32, i32
  }
}

// CHECK-LABEL: func.func @host
func.func @host(%x: f32) -> f32 {
  // CHECK: math.exp
  %y = math.exp %x : f32
  return %y : f32
}

// -----

gpu.module @refused {
  gpu.func @f(%x: f64, %n: i32, %h: f8E4M3FN) -> (f64, f64, f8E4M3FN) {
    // expected-error @+1 {{'math.sin' op is not expanded on f64; compute it in f32, with arith.truncf before and arith.extf after}}
    %s = math.sin %x : f64
    // expected-error @+1 {{'math.fpowi' op is not expanded; for a known exponent write the products, or convert it and use math.powf}}
    %p = math.fpowi %x, %n : f64, i32
    // expected-error @+1 {{'math.exp' op is not expanded on f8E4M3FN; compute it in f32, with arith.extf before and arith.truncf after}}
    %e = math.exp %h : f8E4M3FN
    gpu.return %s, %p, %e : f64, f64, f8E4M3FN
  }
}
