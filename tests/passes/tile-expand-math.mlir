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

gpu.module @short {
  // CHECK-LABEL: gpu.func @short
  gpu.func @short(%h: f8E4M3FN, %x: f16) -> (f8E4M3FN, f16, f16) {
    // CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : f8E4M3FN to f32
    // CHECK: arith.truncf %{{.*}} : f32 to f8E4M3FN
    %e = math.exp %h : f8E4M3FN
    // A root and a quotient are rounded to f16 once, together.
    // CHECK: %[[X:.*]] = arith.extf %{{.*}} : f16 to f32
    // CHECK: %[[ROOT:.*]] = math.sqrt %[[X]] : f32
    // CHECK: %[[R:.*]] = arith.divf %{{.*}}, %[[ROOT]] : f32
    // CHECK: arith.truncf %[[R]] : f32 to f16
    %r = math.rsqrt %x : f16
    // CHECK: math.rsqrt %{{.*}} fastmath<afn> : f32
    %a = math.rsqrt %x fastmath<afn> : f16
    gpu.return %e, %r, %a : f8E4M3FN, f16, f16
  }
  // CHECK-LABEL: gpu.func @both
  gpu.func @both(%x: f32) -> (f32, f32) {
    // CHECK: math.sin %{{.*}} fastmath<afn>
    // CHECK: math.cos %{{.*}} fastmath<afn>
    // CHECK-NOT: sincos
    %s, %c = math.sincos %x fastmath<afn> : f32
    gpu.return %s, %c : f32, f32
  }
}

// -----

gpu.module @widths {
  // In double precision an angle is reduced with 64 bits at a time.
  // CHECK-LABEL: @double
  gpu.func @double(%x: f64, %n: i32) -> (f64, f64) {
    // CHECK: arith.mului_extended %{{.*}} : i64
    // CHECK-NOT: math.sin
    %s = math.sin %x : f64
    // CHECK: arith.sitofp %{{.*}} : i32 to f64
    // CHECK-NOT: math.fpowi
    // CHECK: gpu.return
    %p = math.fpowi %x, %n : f64, i32
    gpu.return %s, %p : f64, f64
  }

  // What a long exponent loses as a number counts too.
  // CHECK-LABEL: @long_exponent
  gpu.func @long_exponent(%x: f64, %n: i64) -> f64 {
    // CHECK: %[[N:.*]] = arith.sitofp %{{.*}} : i64 to f64
    // CHECK: %[[BACK:.*]] = arith.fptosi %[[N]] : f64 to i64
    // CHECK: %[[REST:.*]] = arith.subi %{{.*}}, %[[BACK]] : i64
    // CHECK: arith.sitofp %[[REST]] : i64 to f64
    // CHECK-NOT: math.fpowi
    %p = math.fpowi %x, %n : f64, i64
    gpu.return %p : f64
  }

  // Logarithms of vectors are approximated lane by lane, those of a tile when it is in registers.
  // CHECK-LABEL: @lanes
  gpu.func @lanes(%v: vector<2xf32>, %t: tensor<4xf32>) -> (vector<2xf32>, tensor<4xf32>) {
    // CHECK: vector.extract %{{.*}}[0] : f32 from vector<2xf32>
    // CHECK: llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"
    // CHECK: vector.insert %{{.*}}, %{{.*}} [0] : f32 into vector<2xf32>
    // CHECK: vector.extract %{{.*}}[1] : f32 from vector<2xf32>
    // CHECK: arith.mulf %{{.*}} : vector<2xf32>
    %l = math.log %v fastmath<afn> : vector<2xf32>
    // CHECK: %[[L:.*]] = math.log2 %{{.*}} fastmath<afn> : tensor<4xf32>
    // CHECK: arith.mulf %[[L]], %{{.*}} : tensor<4xf32>
    %m = math.log10 %t fastmath<afn> : tensor<4xf32>
    gpu.return %l, %m : vector<2xf32>, tensor<4xf32>
  }

  // Powers of whole numbers wrap; kinds are told by size; a truth value chooses its number.
  // CHECK-LABEL: @integers
  gpu.func @integers(%i: i32, %n: i32, %x: f16, %b: i1) -> (i32, i1, i1, f16, bf16) {
    // CHECK: scf.for
    // CHECK: arith.muli
    // CHECK: scf.yield
    %p = math.ipowi %i, %n : i32
    // CHECK: math.absf %{{.*}} : f16
    // CHECK: arith.cmpf oeq
    %inf = math.isinf %x : f16
    // CHECK: arith.constant 6.103520e-05 : f16
    // CHECK: arith.cmpf oge
    // CHECK: arith.cmpf olt
    %normal = math.isnormal %x : f16
    // CHECK: %[[MIN:.*]] = arith.minimumf
    // CHECK: arith.maximumf %[[MIN]]
    %c = math.clampf %x to [%x, %x] : f16
    // CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : bf16
    %f = arith.sitofp %b : i1 to bf16
    gpu.return %p, %inf, %normal, %c, %f : i32, i1, i1, f16, bf16
  }
}
