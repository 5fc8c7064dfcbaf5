// B = A through shared memory, by tensor copies alone: global -> swizzled shared -> global, once for each swizzle that wgmma reads.
//
// A block moves 64 rows of as many f32 as the swizzle spans. The copy back reads the rows with the same permutation, so that
// what went in comes out; rows and columns past the edges are neither read nor written. Rows are multiples of 16 bytes,
// which is what tensor maps need.
//
//   girih run examples/tma_copy.mlir --kernel copy_128 --arg A=randn:f32[100,72] --arg B=poison:f32[100,72]
//
// RUN: girih run %s --kernel copy_32 --device sim --arg A=randn:f32[100,72] --arg B=poison:f32[100,72] | FileCheck %s
// RUN: girih run %s --kernel copy_64 --device sim --arg A=randn:f32[100,72] --arg B=poison:f32[100,72] | FileCheck %s
// RUN: girih run %s --kernel copy_128 --device sim --arg A=randn:f32[100,72] --arg B=poison:f32[100,72] | FileCheck %s
// RUN: girih run %s --kernel copy_128 --device sim --arg A=randn:f32[1,4] --arg B=poison:f32[1,4] | FileCheck %s
// RUN: girih run %s --kernel copy_32 --check-memory --device sim --arg A=randn:f32[100,72] --arg B=poison:f32[100,72] | FileCheck %s --check-prefix=CHECKED
// RUN: girih run %s --kernel copy_64 --check-memory --device sim --arg A=randn:f32[100,72] --arg B=poison:f32[100,72] | FileCheck %s --check-prefix=CHECKED
// RUN: girih run %s --kernel copy_128 --check-memory --device sim --arg A=randn:f32[100,72] --arg B=poison:f32[100,72] | FileCheck %s --check-prefix=CHECKED
// CHECKED: right: B:
// CHECKED: checked memory, barriers and waits: no findings
// CHECK: copy_{{.*}}: ran on
// CHECK-NEXT: right: B: all {{.*}} elements are exact

module attributes {tile.target = "sm_90a"} {

tile.kernel @copy_32(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(32) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %width = arith.constant 8 : index
  %rows = memref.dim %A, %c0 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %columns = memref.dim %A, %c1 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %down = arith.ceildivui %rows, %c64 : index
  %across = arith.ceildivui %columns, %width : index
  %from = tile.tensor_map %A : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<64x8xf32, swizzle = 32>
  %to = tile.tensor_map %B : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<64x8xf32, swizzle = 32>
  tile.grid %across, %down, %c1 args(%from, %to : !tile.tensor_map<64x8xf32, swizzle = 32>, !tile.tensor_map<64x8xf32, swizzle = 32>)
} body args(%from: !tile.tensor_map<64x8xf32, swizzle = 32>, %to: !tile.tensor_map<64x8xf32, swizzle = 32>) {
  %false = arith.constant false
  %c64 = arith.constant 64 : index
  %width = arith.constant 8 : index
  %one = arith.constant 1 : i32
  %bytes = arith.constant 2048 : i32
  %x = tile.block_id x
  %y = tile.block_id y
  %row = arith.muli %y, %c64 : index
  %column = arith.muli %x, %width : index
  %buffer = tile.alloc : memref<64x8xf32, #tile.shared<swizzle = 32>>
  %arrived = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %elected = tile.elect
  scf.if %elected {
    tile.mbarrier.init %arrived[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.mbarrier.arrive_expect_tx %arrived[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.load %from[%row, %column], %buffer, %arrived[] : !tile.tensor_map<64x8xf32, swizzle = 32>, memref<64x8xf32, #tile.shared<swizzle = 32>>, memref<!tile.mbarrier, #tile.shared>
    tile.mbarrier.wait %arrived[], %false : memref<!tile.mbarrier, #tile.shared>
    tile.tma.store %buffer, %to[%row, %column] : memref<64x8xf32, #tile.shared<swizzle = 32>>, !tile.tensor_map<64x8xf32, swizzle = 32>
    tile.bulk.commit
    tile.bulk.wait 0
  }
}

func.func @copy_32_ref(%A: memref<?x?xf32, strided<[?, 1]>>, %B: memref<?x?xf32, strided<[?, 1]>>) {
  linalg.copy ins(%A : memref<?x?xf32, strided<[?, 1]>>) outs(%B : memref<?x?xf32, strided<[?, 1]>>)
  return
}

tile.kernel @copy_64(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(32) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %width = arith.constant 16 : index
  %rows = memref.dim %A, %c0 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %columns = memref.dim %A, %c1 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %down = arith.ceildivui %rows, %c64 : index
  %across = arith.ceildivui %columns, %width : index
  %from = tile.tensor_map %A : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<64x16xf32, swizzle = 64>
  %to = tile.tensor_map %B : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<64x16xf32, swizzle = 64>
  tile.grid %across, %down, %c1 args(%from, %to : !tile.tensor_map<64x16xf32, swizzle = 64>, !tile.tensor_map<64x16xf32, swizzle = 64>)
} body args(%from: !tile.tensor_map<64x16xf32, swizzle = 64>, %to: !tile.tensor_map<64x16xf32, swizzle = 64>) {
  %false = arith.constant false
  %c64 = arith.constant 64 : index
  %width = arith.constant 16 : index
  %one = arith.constant 1 : i32
  %bytes = arith.constant 4096 : i32
  %x = tile.block_id x
  %y = tile.block_id y
  %row = arith.muli %y, %c64 : index
  %column = arith.muli %x, %width : index
  %buffer = tile.alloc : memref<64x16xf32, #tile.shared<swizzle = 64>>
  %arrived = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %elected = tile.elect
  scf.if %elected {
    tile.mbarrier.init %arrived[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.mbarrier.arrive_expect_tx %arrived[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.load %from[%row, %column], %buffer, %arrived[] : !tile.tensor_map<64x16xf32, swizzle = 64>, memref<64x16xf32, #tile.shared<swizzle = 64>>, memref<!tile.mbarrier, #tile.shared>
    tile.mbarrier.wait %arrived[], %false : memref<!tile.mbarrier, #tile.shared>
    tile.tma.store %buffer, %to[%row, %column] : memref<64x16xf32, #tile.shared<swizzle = 64>>, !tile.tensor_map<64x16xf32, swizzle = 64>
    tile.bulk.commit
    tile.bulk.wait 0
  }
}

func.func @copy_64_ref(%A: memref<?x?xf32, strided<[?, 1]>>, %B: memref<?x?xf32, strided<[?, 1]>>) {
  linalg.copy ins(%A : memref<?x?xf32, strided<[?, 1]>>) outs(%B : memref<?x?xf32, strided<[?, 1]>>)
  return
}

tile.kernel @copy_128(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(32) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %width = arith.constant 32 : index
  %rows = memref.dim %A, %c0 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %columns = memref.dim %A, %c1 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %down = arith.ceildivui %rows, %c64 : index
  %across = arith.ceildivui %columns, %width : index
  %from = tile.tensor_map %A : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<64x32xf32, swizzle = 128>
  %to = tile.tensor_map %B : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<64x32xf32, swizzle = 128>
  tile.grid %across, %down, %c1 args(%from, %to : !tile.tensor_map<64x32xf32, swizzle = 128>, !tile.tensor_map<64x32xf32, swizzle = 128>)
} body args(%from: !tile.tensor_map<64x32xf32, swizzle = 128>, %to: !tile.tensor_map<64x32xf32, swizzle = 128>) {
  %false = arith.constant false
  %c64 = arith.constant 64 : index
  %width = arith.constant 32 : index
  %one = arith.constant 1 : i32
  %bytes = arith.constant 8192 : i32
  %x = tile.block_id x
  %y = tile.block_id y
  %row = arith.muli %y, %c64 : index
  %column = arith.muli %x, %width : index
  %buffer = tile.alloc : memref<64x32xf32, #tile.shared<swizzle = 128>>
  %arrived = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %elected = tile.elect
  scf.if %elected {
    tile.mbarrier.init %arrived[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.mbarrier.arrive_expect_tx %arrived[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.load %from[%row, %column], %buffer, %arrived[] : !tile.tensor_map<64x32xf32, swizzle = 128>, memref<64x32xf32, #tile.shared<swizzle = 128>>, memref<!tile.mbarrier, #tile.shared>
    tile.mbarrier.wait %arrived[], %false : memref<!tile.mbarrier, #tile.shared>
    tile.tma.store %buffer, %to[%row, %column] : memref<64x32xf32, #tile.shared<swizzle = 128>>, !tile.tensor_map<64x32xf32, swizzle = 128>
    tile.bulk.commit
    tile.bulk.wait 0
  }
}

func.func @copy_128_ref(%A: memref<?x?xf32, strided<[?, 1]>>, %B: memref<?x?xf32, strided<[?, 1]>>) {
  linalg.copy ins(%A : memref<?x?xf32, strided<[?, 1]>>) outs(%B : memref<?x?xf32, strided<[?, 1]>>)
  return
}

}
