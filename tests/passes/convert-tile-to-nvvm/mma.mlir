// Products of tiles are instructions of warps. The second takes the registers that the first has given: between them are
// conversions to f16 and packing, no shuffle and no memory.
// RUN: girih-opt %s -convert-tile-to-nvvm -split-input-file -verify-diagnostics | FileCheck %s

#c = #tile.linear<register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #tile.linear<register = [[1, 0], [8, 0], [0, 8]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>

module attributes {tile.target = "sm_80"} {
// CHECK-LABEL: llvm.func @chain
// CHECK-COUNT-2: llvm.inline_asm has_side_effects {{.*}}"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$8, $9, $10, $11}, {$12, $13}, {$0, $1, $2, $3};", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"
// CHECK-NOT: shfl
// CHECK-NOT: llvm.load
// CHECK: arith.truncf
// CHECK-NOT: shfl
// CHECK-NOT: llvm.load
// CHECK-COUNT-2: llvm.inline_asm has_side_effects {{.*}}mma.sync.aligned.m16n8k16
tile.kernel @chain(%x: f16) threads(32) attributes {shared_bytes = 0 : i64} launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #c>
  %q = tile.splat %x : f16 -> tensor<16x16xf16, #c>
  %k = tile.splat %x : f16 -> tensor<16x16xf16, #b>
  %s = tile.mma %q, %k, %zero : tensor<16x16xf16, #c>, tensor<16x16xf16, #b>, tensor<16x16xf32, #c>
  %p = arith.truncf %s : tensor<16x16xf32, #c> to tensor<16x16xf16, #c>
  %o = tile.mma %p, %k, %zero : tensor<16x16xf16, #c>, tensor<16x16xf16, #b>, tensor<16x16xf32, #c>
}
}

// -----

// f64 has 16 rows at once from sm_90 on, and takes fewer elements of K where K is short.
#c = #tile.linear<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#a = #tile.linear<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #tile.linear<register = [[1, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>
module attributes {tile.target = "sm_90"} {
// CHECK-LABEL: llvm.func @wide
// CHECK: mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {$0, $1, $2, $3}, {$8, $9, $10, $11}, {$12, $13}, {$0, $1, $2, $3};
// CHECK-NOT: mma.sync
tile.kernel @wide(%x: f64) threads(32) attributes {shared_bytes = 0 : i64} launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %zero = arith.constant dense<0.0> : tensor<16x8xf64, #c>
  %q = tile.splat %x : f64 -> tensor<16x8xf64, #a>
  %k = tile.splat %x : f64 -> tensor<8x8xf64, #b>
  %s = tile.mma %q, %k, %zero : tensor<16x8xf64, #a>, tensor<8x8xf64, #b>, tensor<16x8xf64, #c>
}
}

// -----

#c = #tile.linear<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #tile.linear<register = [[1, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>
module attributes {tile.target = "sm_80"} {
// CHECK-LABEL: llvm.func @narrow
// CHECK-COUNT-4: mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {$0, $1}, {$4}, {$5}, {$0, $1};
tile.kernel @narrow(%x: f64) threads(32) attributes {shared_bytes = 0 : i64} launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %zero = arith.constant dense<0.0> : tensor<16x8xf64, #c>
  %q = tile.splat %x : f64 -> tensor<16x8xf64, #c>
  %k = tile.splat %x : f64 -> tensor<8x8xf64, #b>
  %s = tile.mma %q, %k, %zero : tensor<16x8xf64, #c>, tensor<8x8xf64, #b>, tensor<16x8xf64, #c>
}
}

// -----

// Lanes past the end of K hold copies, which count as zero.
#c = #tile.linear<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #tile.linear<register = [[1, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>
module attributes {tile.target = "sm_80"} {
// CHECK-LABEL: llvm.func @shallow
// CHECK: %[[IN:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}} : i32
// CHECK: arith.select %[[IN]], %{{.*}}, %{{.*}} : f16
// CHECK: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
tile.kernel @shallow(%x: f16) threads(32) attributes {shared_bytes = 0 : i64} launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %zero = arith.constant dense<0.0> : tensor<16x8xf32, #c>
  %q = tile.splat %x : f16 -> tensor<16x4xf16, #c>
  %k = tile.splat %x : f16 -> tensor<4x8xf16, #b>
  %s = tile.mma %q, %k, %zero : tensor<16x4xf16, #c>, tensor<4x8xf16, #b>, tensor<16x8xf32, #c>
}
}

// -----

#c = #tile.linear<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
tile.kernel @operand(%x: f16) threads(32) attributes {shared_bytes = 0 : i64} launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %zero = arith.constant dense<0.0> : tensor<16x8xf32, #c>
  %q = tile.splat %x : f16 -> tensor<16x8xf16, #c>
  %k = tile.splat %x : f16 -> tensor<8x8xf16, #c>
  // expected-error @+1 {{operand b is tensor<8x8xf16, #tile.linear<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>>, but with tensor<16x8xf32, #tile.linear<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>> it must lie as #tile.linear<register = [[1, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>; convert it with tile.convert_layout}}
  %s = tile.mma %q, %k, %zero : tensor<16x8xf16, #c>, tensor<8x8xf16, #c>, tensor<16x8xf32, #c>
}

// -----

#l = #tile.blocked<per_thread = [1, 4], lanes = [16, 2], warps = [1, 1]>
tile.kernel @accumulator(%x: f16) threads(32) attributes {shared_bytes = 0 : i64} launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %zero = arith.constant dense<0.0> : tensor<16x8xf32, #l>
  %q = tile.splat %x : f16 -> tensor<16x8xf16, #l>
  %k = tile.splat %x : f16 -> tensor<8x8xf16, #l>
  // expected-error @+1 {{the accumulator does not lie as mma.sync computes it: lanes to columns 2 and 4 and rows 1, 2, 4, registers to column 1 and row 8 first, all else to whole parts of 16 x 8; found tensor<16x8xf32, #tile.blocked}}
  %s = tile.mma %q, %k, %zero : tensor<16x8xf16, #l>, tensor<8x8xf16, #l>, tensor<16x8xf32, #l>
}

// -----

// Floats of 4 bits are taken out of words, two registers of each, and lie in bytes from the third bit on; beside other floats they go
// to where those have the same numbers of K. Floats of 6 bits are the low bits of bytes.
#c = #tile.linear<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#a = #tile.linear<register = [[0, 1], [0, 2], [0, 4], [8, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #tile.linear<register = [[1, 0], [2, 0], [4, 0]], lane = [[8, 0], [16, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#a4 = #tile.linear<register = [[0, 1], [0, 2], [8, 0], [0, 16]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = []>
#b4 = #tile.linear<register = [[1, 0], [2, 0], [16, 0]], lane = [[4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], warp = []>
module attributes {tile.target = "sm_120a"} {
// CHECK-LABEL: llvm.func @fours
// CHECK: %[[UP:.*]] = arith.shli %[[WORD:[^ ]*]], %c2_i32{{.*}} : i32
// CHECK: %[[EVEN:.*]] = arith.andi %[[UP]], %c1010580540_i32{{.*}} : i32
// CHECK: %[[DOWN:.*]] = arith.shrui %[[WORD]], %c2_i32{{.*}} : i32
// CHECK: %[[ODD:.*]] = arith.andi %[[DOWN]], %c1010580540_i32{{.*}} : i32
// CHECK-NOT: prmt
// CHECK: mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32 {$0, $1, $2, $3}, {$8, $9, $10, $11}, {$12, $13}, {$0, $1, $2, $3};
// CHECK-SAME: %[[EVEN]], %{{[^,]*}}, %[[ODD]],
tile.kernel @fours(%x: f32) threads(32) attributes {shared_bytes = 0 : i64} launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %zero = arith.constant dense<0.0> : tensor<16x8xf32, #c>
  %wide_a = tile.splat %x : f32 -> tensor<16x32xf32, #a>
  %wide_b = tile.splat %x : f32 -> tensor<32x8xf32, #b>
  %a = arith.truncf %wide_a : tensor<16x32xf32, #a> to tensor<16x32xf4E2M1FN, #a>
  %b = arith.truncf %wide_b : tensor<32x8xf32, #b> to tensor<32x8xf4E2M1FN, #b>
  %s = tile.mma %a, %b, %zero : tensor<16x32xf4E2M1FN, #a>, tensor<32x8xf4E2M1FN, #b>, tensor<16x8xf32, #c>
}

// CHECK-LABEL: llvm.func @beside
// CHECK: %[[FIRST:.*]] = llvm.call_intrinsic "llvm.nvvm.prmt"(%[[E:.*]], %[[O:.*]], %c20800_i32{{.*}})
// CHECK: %[[SECOND:.*]] = llvm.call_intrinsic "llvm.nvvm.prmt"(%[[E]], %[[O]], %c29538_i32{{.*}})
// CHECK: mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e5m2.e2m1.f16
// CHECK-SAME: %[[FIRST]], %[[SECOND]] :
tile.kernel @beside(%x: f32) threads(32) attributes {shared_bytes = 0 : i64} launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %zero = arith.constant dense<0.0> : tensor<16x8xf16, #c>
  %wide_a = tile.splat %x : f32 -> tensor<16x32xf32, #a>
  %wide_b = tile.splat %x : f32 -> tensor<32x8xf32, #b>
  %a = arith.truncf %wide_a : tensor<16x32xf32, #a> to tensor<16x32xf8E5M2, #a>
  %b = arith.truncf %wide_b : tensor<32x8xf32, #b> to tensor<32x8xf4E2M1FN, #b>
  %s = tile.mma %a, %b, %zero : tensor<16x32xf8E5M2, #a>, tensor<32x8xf4E2M1FN, #b>, tensor<16x8xf16, #c>
}

// CHECK-LABEL: llvm.func @sixes
// CHECK: llvm.bitcast %{{.*}} : vector<4xi8> to i32
// CHECK-NOT: arith.shli
// CHECK-NOT: prmt
// CHECK: mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m3.f32
tile.kernel @sixes(%x: f32) threads(32) attributes {shared_bytes = 0 : i64} launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %zero = arith.constant dense<0.0> : tensor<16x8xf32, #c>
  %wide_a = tile.splat %x : f32 -> tensor<16x32xf32, #a4>
  %wide_b = tile.splat %x : f32 -> tensor<32x8xf32, #b4>
  %a = arith.truncf %wide_a : tensor<16x32xf32, #a4> to tensor<16x32xf6E3M2FN, #a4>
  %b = arith.truncf %wide_b : tensor<32x8xf32, #b4> to tensor<32x8xf6E2M3FN, #b4>
  %s = tile.mma %a, %b, %zero : tensor<16x32xf6E3M2FN, #a4>, tensor<32x8xf6E2M3FN, #b4>, tensor<16x8xf32, #c>
}
}
