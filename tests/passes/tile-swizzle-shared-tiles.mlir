// The swizzle of buffers that whole tiles use: left open until the tiles have layouts, then chosen by all uses together.
// RUN: girih-opt %s -pass-pipeline='builtin.module(tile-swizzle-shared{whole-tiles=later})' 2>%t.early | FileCheck %s --check-prefix=EARLY
// RUN: FileCheck %s --check-prefix=SAID-EARLY --input-file %t.early
// RUN: girih-opt %s -pass-pipeline='builtin.module(tile-plan-copies,tile-swizzle-shared{whole-tiles=later},tile-expand-tma,tile-pad-tiles,tile-assign-layouts,tile-swizzle-shared{whole-tiles=only},tile-expand-tma)' 2>%t.said | FileCheck %s
// RUN: grep -E 'conflict|swizzle (none|128|64)[:,]|counted' %t.said | grep -E 'remark|note' | FileCheck %s --check-prefix=SAID
// RUN: girih run %s --kernel product --device sim --check-memory --report banks --arg 'A=uniform(low=-2,high=2):bf16[64,64]' --arg 'B=uniform(low=-2,high=2):bf16[64,64]' --arg Y=poison:bf16[64,64] | FileCheck %s --check-prefix=PRODUCT
// RUN: girih run %s --kernel turn --device sim --check-memory --report banks --arg X=iota:f32[32,32] --arg Y=poison:f32[32,32] | FileCheck %s --check-prefix=TURN
// RUN: girih run %s --kernel slots --device sim --check-memory --report banks --arg X=iota:f32[128,32] --arg Y=poison:f32[32,128] | FileCheck %s --check-prefix=SLOTS
// RUN: girih run %s --kernel copied --device sim --check-memory --report banks --arg 'X=uniform(low=-9,high=9):bf16[64,64]' --arg Y=poison:bf16[64,64] | FileCheck %s --check-prefix=COPIED
// RUN: girih run %s --kernel fragments --device sim --check-memory --report banks --arg 'X=uniform(low=-9,high=9):bf16[64,64]' --arg Y=poison:bf16[64,64] | FileCheck %s --check-prefix=FRAGMENTS
// RUN: girih run %s --kernel sums --device sim --check-memory --report banks --arg 'X=uniform(low=-9,high=9):f32[64,64]' --arg Y=poison:f32[64] | FileCheck %s --check-prefix=SUMS
// RUN: girih run %s --kernel odd --device sim --check-memory --report banks --arg 'X=uniform(low=-9,high=9):f32[24,32]' --arg Y=poison:f32[24,32] | FileCheck %s --check-prefix=ODD
// RUN: girih run %s --kernel counts --device sim --check-memory --report banks --arg X=iota:i32[64,64] --arg Y=poison:i32[64,64] | FileCheck %s --check-prefix=COUNTS

// SAID: remark: swizzle 128, which the use at line [[#]] asks for
// Buffers with a swizzle that waits say nothing early; those of which a use decides are chosen.
// SAID-EARLY-NOT: remark
// SAID-EARLY: remark: swizzle 128, which the use at line [[#]] asks for
// SAID-EARLY-NOT: remark

#columns = #tile.blocked<per_thread = [4, 1], lanes = [8, 4], warps = [1, 4], order = [0, 1]>
#down = #tile.blocked<per_thread = [1, 8], lanes = [32, 1], warps = [2, 2]>

module attributes {tile.target = "sm_90a"} {

// What mma.sync leaves goes to memory as its accumulators lie: in pairs of neighbours, eight rows apart.
// SAID: [[#@LINE+13]]:8: remark: 8-way conflict where the tile is written by rows at line [[#@LINE+20]]; swizzle 128 removes it
// PRODUCT: right: Y: all 4096 elements are exact
// PRODUCT: no findings
// PRODUCT: (0 wasted, 1.00 for each)
// EARLY-LABEL: tile.kernel @product
// EARLY: tile.alloc : memref<64x64xbf16, #tile.shared<swizzle = auto>>
// CHECK-LABEL: tile.kernel @product
// CHECK: tile.alloc : memref<64x64xbf16, #tile.shared<swizzle = 128>>
tile.kernel @product(%A: memref<64x64xbf16, #tile.global>, %B: memref<64x64xbf16, #tile.global>, %Y: memref<64x64xbf16, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<64x64xbf16, #tile.shared<swizzle = auto>>
  %a = tile.load %A[%c0, %c0] : memref<64x64xbf16, #tile.global> -> tensor<64x64xbf16>
  %twice = arith.addf %a, %a : tensor<64x64xbf16>
  %b = tile.load %B[%c0, %c0] : memref<64x64xbf16, #tile.global> -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tile.mma %twice, %b, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  %x = arith.truncf %r : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %x, %m[%c0, %c0] : tensor<64x64xbf16>, memref<64x64xbf16, #tile.shared<swizzle = auto>>
  %y = tile.load %m[%c0, %c0] : memref<64x64xbf16, #tile.shared<swizzle = auto>> -> tensor<64x64xbf16>
  tile.store %y, %Y[%c0, %c0] : tensor<64x64xbf16>, memref<64x64xbf16, #tile.global>
}

// A transposition: written by rows, read by columns.
// SAID: [[#@LINE+13]]:8: remark: 8-way conflict where the tile is read by columns at line [[#@LINE+16]]; swizzle 128 leaves it at 4-way
// TURN: right: Y: all 1024 elements are exact
// TURN: no findings
// TURN: 4-way
// EARLY-LABEL: tile.kernel @turn
// EARLY: tile.alloc : memref<32x32xf32, #tile.shared<swizzle = auto>>
// CHECK-LABEL: tile.kernel @turn
// CHECK: tile.alloc : memref<32x32xf32, #tile.shared<swizzle = 128>>
tile.kernel @turn(%X: memref<32x32xf32, #tile.global>, %Y: memref<32x32xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<32x32xf32, #tile.shared<swizzle = auto>>
  %x = tile.load %X[%c0, %c0] : memref<32x32xf32, #tile.global> -> tensor<32x32xf32>
  tile.store %x, %m[%c0, %c0] : tensor<32x32xf32>, memref<32x32xf32, #tile.shared<swizzle = auto>>
  %y = tile.load %m[%c0, %c0] : memref<32x32xf32, #tile.shared<swizzle = auto>> -> tensor<32x32xf32, #columns>
  %z = tile.transpose %y order [1, 0] : tensor<32x32xf32, #columns> -> tensor<32x32xf32>
  tile.store %z, %Y[%c0, %c0] : tensor<32x32xf32>, memref<32x32xf32, #tile.global>
}

// The same with nothing said of who holds what: rows go both ways, and the change of layout has an order of its own.
// SAID: [[#@LINE+8]]:8: remark: swizzle none: no access has a bank conflict without one
// CHECK-LABEL: tile.kernel @turn_free
// CHECK: tile.alloc : memref<64x64xf32, #tile.shared>
tile.kernel @turn_free(%X: memref<64x64xf32, #tile.global>, %Y: memref<64x64xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<64x64xf32, #tile.shared<swizzle = auto>>
  %x = tile.load %X[%c0, %c0] : memref<64x64xf32, #tile.global> -> tensor<64x64xf32>
  tile.store %x, %m[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32, #tile.shared<swizzle = auto>>
  %y = tile.load %m[%c0, %c0] : memref<64x64xf32, #tile.shared<swizzle = auto>> -> tensor<64x64xf32>
  %z = tile.transpose %y order [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  tile.store %z, %Y[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32, #tile.global>
}

// Rows that no swizzle spans; and 16-bit numbers, whose do.
// SAID: [[#@LINE+10]]:8: remark: 8-way conflict where the tile is read by columns at line [[#@LINE+14]]; no swizzle of the hardware removes it; left at 8-way
// SAID: [[#@LINE+10]]:8: remark: 8-way conflict where the tile is read by columns at line [[#@LINE+18]]; swizzle 128 leaves it at 4-way
// CHECK-LABEL: tile.kernel @turn_wide
// CHECK: tile.alloc : memref<64x64xf32, #tile.shared>
// CHECK: tile.alloc : memref<64x64xbf16, #tile.shared<swizzle = 128>>
tile.kernel @turn_wide(%X: memref<64x64xf32, #tile.global>, %Y: memref<64x64xf32, #tile.global>, %Z: memref<64x64xbf16, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<64x64xf32, #tile.shared<swizzle = auto>>
  %n = tile.alloc : memref<64x64xbf16, #tile.shared<swizzle = auto>>
  %x = tile.load %X[%c0, %c0] : memref<64x64xf32, #tile.global> -> tensor<64x64xf32>
  tile.store %x, %m[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32, #tile.shared<swizzle = auto>>
  %y = tile.load %m[%c0, %c0] : memref<64x64xf32, #tile.shared<swizzle = auto>> -> tensor<64x64xf32, #columns>
  %z = tile.transpose %y order [1, 0] : tensor<64x64xf32, #columns> -> tensor<64x64xf32>
  tile.store %z, %Y[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32, #tile.global>
  %h = arith.truncf %x : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %h, %n[%c0, %c0] : tensor<64x64xbf16>, memref<64x64xbf16, #tile.shared<swizzle = auto>>
  %w = tile.load %n[%c0, %c0] : memref<64x64xbf16, #tile.shared<swizzle = auto>> -> tensor<64x64xbf16, #columns>
  %v = tile.transpose %w order [1, 0] : tensor<64x64xbf16, #columns> -> tensor<64x64xbf16>
  tile.store %v, %Z[%c0, %c0] : tensor<64x64xbf16>, memref<64x64xbf16, #tile.global>
}

// A swizzle that is written stays: what it costs, and what would be better.
// SAID: [[#@LINE+10]]:8: remark: 8-way conflict where the tile is read by columns at line [[#@LINE+14]]; swizzle 128 would leave it at 4-way
// SAID: [[#@LINE+10]]:8: remark: 4-way conflict where the tile is read by columns at line [[#@LINE+17]]; no swizzle of the hardware removes it
// CHECK-LABEL: tile.kernel @written
// CHECK: tile.alloc : memref<32x32xf32, #tile.shared>
// CHECK: tile.alloc : memref<32x32xf32, #tile.shared<swizzle = 128>>
tile.kernel @written(%X: memref<32x32xf32, #tile.global>, %Y: memref<32x32xf32, #tile.global>, %Z: memref<32x32xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<32x32xf32, #tile.shared>
  %n = tile.alloc : memref<32x32xf32, #tile.shared<swizzle = 128>>
  %x = tile.load %X[%c0, %c0] : memref<32x32xf32, #tile.global> -> tensor<32x32xf32>
  tile.store %x, %m[%c0, %c0] : tensor<32x32xf32>, memref<32x32xf32, #tile.shared>
  %y = tile.load %m[%c0, %c0] : memref<32x32xf32, #tile.shared> -> tensor<32x32xf32, #columns>
  %z = tile.transpose %y order [1, 0] : tensor<32x32xf32, #columns> -> tensor<32x32xf32>
  tile.store %z, %Y[%c0, %c0] : tensor<32x32xf32>, memref<32x32xf32, #tile.global>
  tile.store %x, %n[%c0, %c0] : tensor<32x32xf32>, memref<32x32xf32, #tile.shared<swizzle = 128>>
  %w = tile.load %n[%c0, %c0] : memref<32x32xf32, #tile.shared<swizzle = 128>> -> tensor<32x32xf32, #columns>
  %v = tile.transpose %w order [1, 0] : tensor<32x32xf32, #columns> -> tensor<32x32xf32>
  tile.store %v, %Z[%c0, %c0] : tensor<32x32xf32>, memref<32x32xf32, #tile.global>
}

// In a loop, into slots of a ring: parts have the swizzle too.
// SAID: [[#@LINE+11]]:11: remark: 8-way conflict where the tile is read by columns at line [[#@LINE+22]]; swizzle 128 leaves it at 4-way
// SLOTS: right: Y: all 4096 elements are exact
// SLOTS: no findings
// SLOTS: 4-way
// CHECK-LABEL: tile.kernel @slots
// CHECK: tile.alloc : memref<2x32x32xf32, #tile.shared<swizzle = 128>>
// CHECK: tile.slab {{.*}} -> memref<32x32xf32, #tile.shared<swizzle = 128>>
tile.kernel @slots(%X: memref<128x32xf32, #tile.global>, %Y: memref<32x128xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %ring = tile.alloc : memref<2x32x32xf32, #tile.shared<swizzle = auto>>
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %c128 step %c32 {
    %turn = arith.divui %i, %c32 : index
    %slot = arith.remui %turn, %c2 : index
    %m = tile.slab %ring[%slot] : memref<2x32x32xf32, #tile.shared<swizzle = auto>> -> memref<32x32xf32, #tile.shared<swizzle = auto>>
    %x = tile.load %X[%i, %c0] : memref<128x32xf32, #tile.global> -> tensor<32x32xf32>
    tile.store %x, %m[%c0, %c0] : tensor<32x32xf32>, memref<32x32xf32, #tile.shared<swizzle = auto>>
    %y = tile.load %m[%c0, %c0] : memref<32x32xf32, #tile.shared<swizzle = auto>> -> tensor<32x32xf32, #columns>
    %z = tile.transpose %y order [1, 0] : tensor<32x32xf32, #columns> -> tensor<32x32xf32>
    tile.store %z, %Y[%c0, %i] : tensor<32x32xf32>, memref<32x128xf32, #tile.global>
  }
}

// A tensor copy takes whatever swizzle the tiles want: its map is made when that is known.
// SAID: [[#@LINE+18]]:8: remark: 8-way conflict where the tile is read by columns at line [[#@LINE+30]]; swizzle 128 removes it
// COPIED: right: Y: all 4096 elements are exact
// COPIED: no findings
// COPIED: (0 wasted, 1.00 for each)
// EARLY-LABEL: tile.kernel @copied
// EARLY: tile.alloc : memref<64x64xbf16, #tile.shared<swizzle = auto>>
// EARLY: tile.tma.copy
// CHECK-LABEL: tile.kernel @copied
// CHECK: tile.tensor_map {{.*}} -> !tile.tensor_map<64x64xbf16, swizzle = 128>
// CHECK: tile.tma.load
tile.kernel @copied(%X: memref<64x64xbf16, #tile.global>, %Y: memref<64x64xbf16, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %even = arith.constant false
  %bytes = arith.constant 8192 : i32
  %m = tile.alloc : memref<64x64xbf16, #tile.shared<swizzle = auto>>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %thread = tile.thread_id
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.copy load %X[%c0, %c0] extents [64, 64], %m mbar %bar[] : memref<64x64xbf16, #tile.global>, memref<64x64xbf16, #tile.shared<swizzle = auto>>, memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
  %y = tile.load %m[%c0, %c0] : memref<64x64xbf16, #tile.shared<swizzle = auto>> -> tensor<64x64xbf16, #down>
  tile.store %y, %Y[%c0, %c0] : tensor<64x64xbf16, #down>, memref<64x64xbf16, #tile.global>
}

// With a swizzle that is written, the map has that one; both could have a better one.
// SAID: [[#@LINE+11]]:8: remark: 8-way conflict where the tile is read by columns at line [[#@LINE+23]]; swizzle 128 would remove it, if the use at line [[#@LINE+19]] had it too
// CHECK-LABEL: tile.kernel @copied_by_hand
// CHECK: tile.tensor_map {{.*}} -> !tile.tensor_map<64x64xbf16>
tile.kernel @copied_by_hand(%X: memref<64x64xbf16, #tile.global>, %Y: memref<64x64xbf16, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %even = arith.constant false
  %bytes = arith.constant 8192 : i32
  %m = tile.alloc : memref<64x64xbf16, #tile.shared>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %thread = tile.thread_id
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.copy load %X[%c0, %c0] extents [64, 64], %m mbar %bar[] : memref<64x64xbf16, #tile.global>, memref<64x64xbf16, #tile.shared>, memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
  %y = tile.load %m[%c0, %c0] : memref<64x64xbf16, #tile.shared> -> tensor<64x64xbf16, #down>
  tile.store %y, %Y[%c0, %c0] : tensor<64x64xbf16, #down>, memref<64x64xbf16, #tile.global>
}

// A map of one's own decides, early; the later run counts what that costs whole tiles.
// SAID: [[#@LINE+11]]:8: remark: 4-way conflict where the tile is written by columns at line [[#@LINE+15]]; the use at line [[#@LINE+17]] asks for swizzle 128
// EARLY-LABEL: tile.kernel @own_map
// EARLY: tile.alloc : memref<32x32xf32, #tile.shared<swizzle = 128>>
// CHECK-LABEL: tile.kernel @own_map
// CHECK: tile.alloc : memref<32x32xf32, #tile.shared<swizzle = 128>>
tile.kernel @own_map(%X: memref<32x32xf32, #tile.global>, %Y: memref<32x32xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  %map = tile.tensor_map %Y : memref<32x32xf32, #tile.global> -> !tile.tensor_map<32x32xf32, swizzle = 128>
  tile.grid %c1, %c1, %c1 args(%map : !tile.tensor_map<32x32xf32, swizzle = 128>)
} body args(%map: !tile.tensor_map<32x32xf32, swizzle = 128>) {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<32x32xf32, #tile.shared<swizzle = auto>>
  %thread = tile.thread_id
  %first = arith.cmpi eq, %thread, %c0 : index
  %x = tile.load %X[%c0, %c0] : memref<32x32xf32, #tile.global> -> tensor<32x32xf32, #columns>
  tile.store %x, %m[%c0, %c0] : tensor<32x32xf32, #columns>, memref<32x32xf32, #tile.shared<swizzle = auto>>
  scf.if %first {
    tile.tma.store %m, %map[%c0, %c0] : memref<32x32xf32, #tile.shared<swizzle = auto>>, !tile.tensor_map<32x32xf32, swizzle = 128>
  }
}

// Whole tiles and fragments, counted together, although fragments say early where they go.
// SAID: [[#@LINE+11]]:8: remark: 8-way conflict where the tile is written as wgmma_d at line [[#@LINE+13]]; swizzle 128 removes it
// FRAGMENTS: right: Y: all 4096 elements are exact
// FRAGMENTS: no findings
// FRAGMENTS: (0 wasted, 1.00 for each)
// EARLY-LABEL: tile.kernel @fragments
// EARLY: tile.alloc : memref<64x64xbf16, #tile.shared<swizzle = auto>>
tile.kernel @fragments(%X: memref<64x64xbf16, #tile.global>, %Y: memref<64x64xbf16, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<64x64xbf16, #tile.shared<swizzle = auto>>
  %x = tile.load %X[%c0, %c0] : memref<64x64xbf16, #tile.global> -> tensor<64x64xbf16, #tile.layout<wgmma_d>>
  tile.store %x, %m[%c0, %c0] : tensor<64x64xbf16, #tile.layout<wgmma_d>>, memref<64x64xbf16, #tile.shared<swizzle = auto>>
  %y = tile.load %m[%c0, %c0] : memref<64x64xbf16, #tile.shared<swizzle = auto>> -> tensor<64x64xbf16>
  tile.store %y, %Y[%c0, %c0] : tensor<64x64xbf16>, memref<64x64xbf16, #tile.global>
}

// Sums of columns of what lies in shared memory.
// SAID: [[#@LINE+8]]:8: remark: swizzle none: no access has a bank conflict without one
// SUMS: right: Y: all 64 elements
// SUMS: no findings
// SUMS: (0 wasted, 1.00 for each)
tile.kernel @sums(%X: memref<64x64xf32, #tile.global>, %Y: memref<64xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %m = tile.alloc : memref<64x64xf32, #tile.shared<swizzle = auto>>
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : memref<64x64xf32, #tile.global> -> tensor<64x64xf32>
  tile.store %x, %m[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32, #tile.shared<swizzle = auto>>
  %y = tile.load %m[%c0, %c0] : memref<64x64xf32, #tile.shared<swizzle = auto>> -> tensor<64x64xf32>
  %z = tile.reduce %y axis 0 (%a: f32, %b: f32) {
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : tensor<64x64xf32> -> tensor<64xf32>
  tile.store %z, %Y[%c0] : tensor<64xf32>, memref<64xf32, #tile.global>
}

// Tiles of other sizes are masked, and what is masked off lies outside.
// SAID: [[#@LINE+9]]:8: remark: swizzle none: no access has a bank conflict without one
// SAID-NOT: note
// ODD: right: Y: all 768 elements are exact
// ODD: no findings
// ODD: (0 wasted, 1.00 for each)
tile.kernel @odd(%X: memref<24x32xf32, #tile.global>, %Y: memref<24x32xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %m = tile.alloc : memref<24x32xf32, #tile.shared<swizzle = auto>>
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : memref<24x32xf32, #tile.global> -> tensor<24x32xf32>
  tile.store %x, %m[%c0, %c0] : tensor<24x32xf32>, memref<24x32xf32, #tile.shared<swizzle = auto>>
  %y = tile.load %m[%c0, %c0] : memref<24x32xf32, #tile.shared<swizzle = auto>> -> tensor<24x32xf32>
  tile.store %y, %Y[%c0, %c0] : tensor<24x32xf32>, memref<24x32xf32, #tile.global>
}

// Of a mask of counts every lane is known; one that is loaded is taken to be true.
// SAID: [[#@LINE+8]]:8: remark: 8-way conflict where the tile is read by columns at line [[#@LINE+19]]; swizzle 128 leaves it at 4-way
// SAID: [[#@LINE+18]]:8: note: counted as if its mask were true, which is not known here
// CHECK-LABEL: tile.kernel @masks
// CHECK: tile.alloc : memref<32x32xf32, #tile.shared<swizzle = 128>>
tile.kernel @masks(%M: memref<32x32xi8, #tile.global>, %Y: memref<32x32xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %m = tile.alloc : memref<32x32xf32, #tile.shared<swizzle = auto>>
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<1.0> : tensor<32x32xf32, #columns>
  %i = tile.iota axis 0 : tensor<32x32xi32, #columns>
  %four = arith.constant dense<4> : tensor<32x32xi32, #columns>
  // Rows 0 to 3 are of one lane in eight.
  %few = arith.cmpi slt, %i, %four : tensor<32x32xi32, #columns>
  tile.store %x, %m[%c0, %c0] mask %few : tensor<32x32xi1, #columns> : tensor<32x32xf32, #columns>, memref<32x32xf32, #tile.shared<swizzle = auto>>
  %b = tile.load %M[%c0, %c0] : memref<32x32xi8, #tile.global> -> tensor<32x32xi8, #columns>
  %zero = arith.constant dense<0> : tensor<32x32xi8, #columns>
  %some = arith.cmpi ne, %b, %zero : tensor<32x32xi8, #columns>
  %y = tile.load %m[%c0, %c0] mask %some : tensor<32x32xi1, #columns> : memref<32x32xf32, #tile.shared<swizzle = auto>> -> tensor<32x32xf32, #columns>
  tile.store %y, %Y[%c0, %c0] : tensor<32x32xf32, #columns>, memref<32x32xf32, #tile.global>
}

// Atomic operations of whole tiles count element by element.
// SAID: [[#@LINE+8]]:8: remark: 4-way conflict where the tile is written by rows at line [[#@LINE+12]]; no swizzle of the hardware removes it; left at 4-way
// COUNTS: right: Y: all 4096 elements are exact
// COUNTS: no findings
// COUNTS: 4-way
tile.kernel @counts(%X: memref<64x64xi32, #tile.global>, %Y: memref<64x64xi32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %m = tile.alloc : memref<64x64xi32, #tile.shared<swizzle = auto>>
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : memref<64x64xi32, #tile.global> -> tensor<64x64xi32>
  tile.store %x, %m[%c0, %c0] : tensor<64x64xi32>, memref<64x64xi32, #tile.shared<swizzle = auto>>
  tile.atomic_rmw add %x, %m[%c0, %c0] : tensor<64x64xi32>, memref<64x64xi32, #tile.shared<swizzle = auto>>
  %y = tile.load %m[%c0, %c0] : memref<64x64xi32, #tile.shared<swizzle = auto>> -> tensor<64x64xi32>
  tile.store %y, %Y[%c0, %c0] : tensor<64x64xi32>, memref<64x64xi32, #tile.global>
}

func.func @turn_ref(%X: memref<32x32xf32>, %Y: memref<32x32xf32>) {
  linalg.transpose ins(%X : memref<32x32xf32>) outs(%Y : memref<32x32xf32>) permutation = [1, 0]
  return
}
func.func @slots_ref(%X: memref<128x32xf32>, %Y: memref<32x128xf32>) {
  linalg.transpose ins(%X : memref<128x32xf32>) outs(%Y : memref<32x128xf32>) permutation = [1, 0]
  return
}
func.func @copied_ref(%X: memref<64x64xbf16>, %Y: memref<64x64xbf16>) {
  memref.copy %X, %Y : memref<64x64xbf16> to memref<64x64xbf16>
  return
}
func.func @fragments_ref(%X: memref<64x64xbf16>, %Y: memref<64x64xbf16>) {
  memref.copy %X, %Y : memref<64x64xbf16> to memref<64x64xbf16>
  return
}
func.func @odd_ref(%X: memref<24x32xf32>, %Y: memref<24x32xf32>) {
  memref.copy %X, %Y : memref<24x32xf32> to memref<24x32xf32>
  return
}
func.func @counts_ref(%X: memref<64x64xi32>, %Y: memref<64x64xi32>) {
  linalg.add ins(%X, %X : memref<64x64xi32>, memref<64x64xi32>) outs(%Y : memref<64x64xi32>)
  return
}
func.func @sums_ref(%X: memref<64x64xf32>, %Y: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%Y : memref<64xf32>)
  linalg.reduce ins(%X : memref<64x64xf32>) outs(%Y : memref<64xf32>) dimensions = [0]
    (%x: f32, %sum: f32) {
      %s = arith.addf %x, %sum : f32
      linalg.yield %s : f32
    }
  return
}
func.func @product_ref(%A: memref<64x64xbf16>, %B: memref<64x64xbf16>, %Y: memref<64x64xbf16>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<64x64xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<64x64xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%A, %B : memref<64x64xbf16>, memref<64x64xbf16>) outs(%sums : memref<64x64xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %twice = arith.addf %a, %a : bf16
      %x = arith.extf %twice : bf16 to f32
      %y = arith.extf %b : bf16 to f32
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %c, %p : f32
      linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%sums : memref<64x64xf32>) outs(%Y : memref<64x64xbf16>) {
    ^bb0(%s: f32, %old: bf16):
      %h = arith.truncf %s : f32 to bf16
      linalg.yield %h : bf16
  }
  memref.dealloc %sums : memref<64x64xf32>
  return
}

}
