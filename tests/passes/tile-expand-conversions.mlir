// RUN: girih-opt %s --split-input-file --tile-expand-conversions --canonicalize --cse | FileCheck %s

gpu.module @whole attributes {tile.target = "sm_90a"} {
  // Saturating by itself, at 32 bits.
  // CHECK-LABEL: gpu.func @word
  gpu.func @word(%x: f32) -> i32 {
    // CHECK: %[[R:.*]] = llvm.call_intrinsic "llvm.nvvm.f2i.rz"(%{{.*}}) : (f32) -> i32
    // CHECK-NEXT: gpu.return %[[R]]
    %y = arith.fptosi %x : f32 to i32
    gpu.return %y : i32
  }
  // CHECK-LABEL: gpu.func @byte
  gpu.func @byte(%x: f16) -> i8 {
    // CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : f16 to f32
    // CHECK: %[[R:.*]] = llvm.call_intrinsic "llvm.nvvm.f2ui.rz"(%[[WIDE]]) : (f32) -> i32
    // CHECK: %[[C:.*]] = arith.minui %[[R]], %c255_i32 : i32
    // CHECK: arith.trunci %[[C]] : i32 to i8
    %y = arith.fptoui %x : f16 to i8
    gpu.return %y : i8
  }
  // The bit of a truth value, and 0 for NaN, of which the instruction makes something else here.
  // CHECK-LABEL: gpu.func @truth
  gpu.func @truth(%x: f64) -> i1 {
    // CHECK: %[[R:.*]] = llvm.call_intrinsic "llvm.nvvm.d2i.rz"(%{{.*}}) : (f64) -> i32
    // CHECK: %[[NUMBER:.*]] = arith.cmpf ord, %{{.*}}, %{{.*}} : f64
    // CHECK: %[[S:.*]] = arith.select %[[NUMBER]], %[[R]], %c0_i32 : i32
    // CHECK: %[[A:.*]] = arith.minsi %[[S]], %c0_i32 : i32
    // CHECK: %[[B:.*]] = arith.maxsi %[[A]], %c-1_i32 : i32
    // CHECK: arith.trunci %[[B]] : i32 to i1
    %y = arith.fptosi %x : f64 to i1
    gpu.return %y : i1
  }
  // CHECK-LABEL: gpu.func @lanes
  gpu.func @lanes(%x: vector<2xf32>) -> vector<2xi64> {
    // CHECK-COUNT-2: llvm.nvvm.f2ll.rz
    // CHECK: vector.from_elements
    %y = arith.fptosi %x : vector<2xf32> to vector<2xi64>
    gpu.return %y : vector<2xi64>
  }
}

// -----

gpu.module @directions attributes {tile.target = "sm_90a"} {
  // Instructions have these.
  // CHECK-LABEL: gpu.func @instructions
  gpu.func @instructions(%x: f64, %y: f32) -> (f32, f16, f16) {
    // CHECK: llvm.call_intrinsic "llvm.nvvm.d2f.rm"
    %a = arith.truncf %x downward : f64 to f32
    // CHECK: llvm.inline_asm "cvt.rp.f16.f32 $0, $1;", "=h,f" %{{.*}} : (f32) -> i16
    %b = arith.truncf %y upward : f32 to f16
    // CHECK: arith.truncf %{{[^ ]*}} : f32 to f16
    %c = arith.truncf %y to_nearest_even : f32 to f16
    gpu.return %a, %b, %c : f32, f16, f16
  }
  // The nearest, or its neighbour.
  // CHECK-LABEL: gpu.func @neighbour
  gpu.func @neighbour(%x: f32) -> bf16 {
    // CHECK: %[[NEAR:.*]] = arith.truncf %[[X:.*]] : f32 to bf16
    // CHECK: %[[CODE:.*]] = llvm.bitcast %[[NEAR]] : bf16 to i16
    // CHECK: %[[NEARER:.*]] = arith.addi %[[CODE]], %c-1_i16 : i16
    // CHECK: %[[SIZE:.*]] = math.absf %{{.*}} : f32
    // CHECK: %[[OVER:.*]] = arith.cmpf ogt, %[[SIZE]], %{{.*}} : f32
    // CHECK: arith.select %[[OVER]], %[[NEARER]], %[[CODE]] : i16
    %y = arith.truncf %x toward_zero : f32 to bf16
    gpu.return %y : bf16
  }
}

// -----

// 8-bit floats are computed with in f32; their signs are bits.
gpu.module @bytes attributes {tile.target = "sm_90a"} {
  // CHECK-LABEL: gpu.func @sum
  gpu.func @sum(%a: f8E5M2, %b: f8E5M2) -> (f8E5M2, i1) {
    // CHECK-COUNT-2: cvt.rn.f16x2.e5m2x2
    // CHECK: %[[S:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
    // CHECK: cvt.rn.satfinite.e5m2x2.f32 $0, $1, $2;", "=h,f,f" %[[S]], %[[S]]
    // CHECK: arith.cmpf olt, %{{.*}}, %{{.*}} : f32
    %s = arith.addf %a, %b : f8E5M2
    %l = arith.cmpf olt, %a, %b : f8E5M2
    gpu.return %s, %l : f8E5M2, i1
  }
  // CHECK-LABEL: gpu.func @sign
  gpu.func @sign(%a: f8E4M3FN) -> f8E4M3FN {
    // CHECK: arith.xori %{{.*}}, %c-128_i8 : i8
    // CHECK-NOT: cvt
    %n = arith.negf %a : f8E4M3FN
    gpu.return %n : f8E4M3FN
  }
}
