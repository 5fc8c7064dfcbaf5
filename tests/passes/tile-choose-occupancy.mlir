// Blocks that a multiprocessor is to hold, by what lives while threads meet.
// RUN: girih-opt %s -tile-assign-layouts -tile-choose-occupancy -split-input-file | FileCheck %s
// RUN: girih-opt %s -tile-set-target -tile-assign-layouts -tile-choose-occupancy -tile-allocate-scratch -tile-allocate-shared -convert-tile-to-nvvm -split-input-file | FileCheck %s --check-prefix=NVVM
// RUN: girih-opt %s -tile-set-target=target=sm_89 -tile-assign-layouts -tile-choose-occupancy -tile-allocate-scratch -tile-allocate-shared -convert-tile-to-nvvm -split-input-file | FileCheck %s --check-prefix=SM89

// Rows in bf16 with weights beside them: 32 registers for a thread's part, 16 for what is loaded. In a cluster twice as many.
// RUN: girih-opt %S/../../examples/rmsnorm.mlir -tile-assign-layouts -tile-choose-occupancy | FileCheck %s --check-prefix=FOUR
// RUN: sed 's/ attributes {min_blocks = 3 : i64}//' %S/../../examples/layernorm.mlir | girih-opt -tile-assign-layouts -tile-choose-occupancy | FileCheck %s --check-prefix=FOUR
// RUN: sed 's/threads(256)/threads(128)/; s/cluster(1, 1, 1)/cluster(8, 1, 1)/' %S/../../examples/rmsnorm.mlir | girih-opt -tile-assign-layouts -tile-choose-occupancy | FileCheck %s --check-prefix=FOUR
// FOUR: tile.kernel {{.*}} attributes {min_blocks = 4 : i64}
// The addresses of four rows need registers too.
// RUN: girih-opt %S/../../examples/col_sum.mlir -tile-assign-layouts -tile-choose-occupancy | FileCheck %s --check-prefix=THREE
// THREE: tile.kernel {{.*}} attributes {min_blocks = 3 : i64}

// 32 numbers of each thread live through the sum: 48 registers, and five blocks of 256 threads.
// CHECK: tile.kernel @row(%{{.*}}) threads(256) attributes {min_blocks = 5 : i64}
// NVVM: nvvm.minctasm = 5 : i32
tile.kernel @row(%X: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<1x8192xf32>
  %sum = tile.reduce %x axis 1 (%a: f32, %b: f32) {
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : tensor<1x8192xf32> -> tensor<1xf32>
  %sum1 = tile.expand_dims %sum axis 1 : tensor<1xf32> -> tensor<1x1xf32>
  %sums = tile.broadcast %sum1 : tensor<1x1xf32> -> tensor<1x8192xf32>
  %y = arith.divf %x, %sums : tensor<1x8192xf32>
  tile.store %y, %X[%c0, %c0] : tensor<1x8192xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

// -----

// However small blocks are, 32 are the most.
// CHECK: tile.kernel @small(%{{.*}}) threads(32) attributes {min_blocks = 32 : i64}
// NVVM: nvvm.minctasm = 32 : i32
// SM89: nvvm.minctasm = 24 : i32
tile.kernel @small(%X: memref<?xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xf32, #tile.global> -> tensor<32xf32>
  %sum = tile.reduce %x axis 0 (%a: f32, %b: f32) {
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : tensor<32xf32> -> tensor<f32>
  %n = tensor.extract %sum[] : tensor<f32>
  memref.store %n, %X[%c0] : memref<?xf32, #tile.global>
}

// -----

// 40 registers: 12 warps in each of the four parts of a multiprocessor, where the whole file had room for 51.
// CHECK: tile.kernel @parts(%{{.*}}) threads(64) attributes {min_blocks = 24 : i64}
// NVVM: nvvm.minctasm = 24 : i32
// SM89: nvvm.minctasm = 24 : i32
tile.kernel @parts(%X: memref<?xf32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c4096 = arith.constant 4096 : index
  %x = tile.load %X[%c0] : memref<?xf32, #tile.global> -> tensor<1024xf32>
  %w = tile.load %X[%c4096] : memref<?xf32, #tile.global> -> tensor<512xf32>
  %sum = tile.reduce %x axis 0 (%a: f32, %b: f32) {
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : tensor<1024xf32> -> tensor<f32>
  tile.store %x, %X[%c0] : tensor<1024xf32>, memref<?xf32, #tile.global>
  tile.store %w, %X[%c4096] : tensor<512xf32>, memref<?xf32, #tile.global>
}

// -----

// A tile that another stands in for past its edges takes twice the registers: 64 for each. Rows in shared memory take no addresses.
// CHECK: tile.kernel @pass_thru(%{{.*}}) threads(64) attributes {min_blocks = 6 : i64}
// NVVM: nvvm.minctasm = 6 : i32
// SM89: nvvm.minctasm = 6 : i32
tile.kernel @pass_thru(%X: memref<?xf32, #tile.global>, %Y: memref<?xf32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %s = tile.alloc : memref<64x32xf32, #tile.shared>
  %z = arith.constant dense<0.0> : tensor<64x32xf32>
  tile.store %z, %s[%c0, %c0] : tensor<64x32xf32>, memref<64x32xf32, #tile.shared>
  %o = tile.load %Y[%c0] : memref<?xf32, #tile.global> -> tensor<4096xf32>
  %x = tile.load %X[%c0] pass_thru %o : tensor<4096xf32> : memref<?xf32, #tile.global> -> tensor<4096xf32>
  %sum = tile.reduce %x axis 0 (%a: f32, %b: f32) {
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  } : tensor<4096xf32> -> tensor<f32>
  %n = tensor.extract %sum[] : tensor<f32>
  memref.store %n, %X[%c0] : memref<?xf32, #tile.global>
}

// -----

// Threads that do not meet, and kernels that say it themselves, are left alone.
// CHECK: tile.kernel @apart(%{{.*}}) threads(256) launch
// CHECK: tile.kernel @said(%{{.*}}) threads(256) attributes {min_blocks = 1 : i64}
// NVVM-NOT: nvvm.minctasm
// NVVM: nvvm.minctasm = 1 : i32
tile.kernel @apart(%X: memref<?xf32, #tile.global>) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xf32, #tile.global> -> tensor<1024xf32>
  tile.store %x, %X[%c0] : tensor<1024xf32>, memref<?xf32, #tile.global>
}

tile.kernel @said(%X: memref<?xf32, #tile.global>) threads(256) attributes {min_blocks = 1 : i64} launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xf32, #tile.global> -> tensor<1024xf32>
  %sum = tile.reduce %x axis 0 (%a: f32, %b: f32) {
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : tensor<1024xf32> -> tensor<f32>
  %y = tensor.extract %sum[] : tensor<f32>
  memref.store %y, %X[%c0] : memref<?xf32, #tile.global>
}

// -----

// What a multiprocessor of the target does not hold is not asked for.
// CHECK: tile.kernel @asked(%{{.*}}) threads(1024) attributes {min_blocks = 2 : i64}
// NVVM-LABEL: llvm.func @asked
// NVVM-SAME: nvvm.minctasm = 2 : i32
// SM89-LABEL: llvm.func @asked
// SM89-SAME: nvvm.minctasm = 1 : i32
tile.kernel @asked(%X: memref<?xf32, #tile.global>) threads(1024) attributes {min_blocks = 2 : i64} launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}
