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
