// 4-bit integers of either sign by mma.sync, two in a byte along K.
//
// RUN: girih run %s --kernel signed --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[33,72]' --arg 'B=uniform(low=-128,high=127):i8[72,35]' --arg C=poison:i32[33,35] | FileCheck %s
// RUN: girih run %s --kernel unsigned_a --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[33,40]' --arg 'B=uniform(low=-128,high=127):i8[40,35]' --arg C=poison:i32[33,35] | FileCheck %s
// RUN: girih run %s --kernel unsigned_b --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[17,21]' --arg 'B=uniform(low=-128,high=127):i8[21,18]' --arg C=poison:i32[17,18] | FileCheck %s
// RUN: girih run %s --kernel unsigned --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[17,40]' --arg 'B=uniform(low=-128,high=127):i8[40,18]' --arg C=poison:i32[17,18] | FileCheck %s
// RUN: girih run %s --kernel short --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[3,5]' --arg 'B=uniform(low=-128,high=127):i8[5,2]' --arg C=poison:i32[3,2] | FileCheck %s
// RUN: girih compile %s --target sm_80 --emit cubin -o %t.sm_80.cubin
// RUN: girih compile %s --target sm_89 --emit cubin -o %t.sm_89.cubin
// RUN: girih compile %s --target sm_90a --emit cubin -o %t.sm_90a.cubin
// RUN: girih compile %s --target sm_100a --emit cubin -o %t.sm_100a.cubin
// RUN: girih compile %s --target sm_120a --emit cubin -o %t.sm_120a.cubin
// RUN: girih compile %s --target sm_80 --emit ptx -o - | FileCheck %s --check-prefix=PTX
// CHECK: right: C:
// PTX-LABEL: .entry signed(
// PTX: mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32
// PTX-LABEL: .entry short(
// PTX: mma.sync.aligned.m16n8k32.row.col.s32.s4.u4.s32

!a = memref<?x?xi8, strided<[?, 1]>, #tile.global>
!b = memref<?x?xi8, strided<[1, ?]>, #tile.global>
!c = memref<?x?xi32, strided<[?, 1]>, #tile.global>

tile.kernel @signed(%A: !a, %B: !b, %C: !c) threads(64) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 32 : index
  %tile_n = arith.constant 32 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 32 : index
  %tile_n = arith.constant 32 : index
  %bytes_k = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0> : tensor<32x32xi32>
  %sum = scf.for %k = %c0 to %K step %bytes_k iter_args(%acc = %zero) -> (tensor<32x32xi32>) {
    %a_bytes = tile.load %A[%row, %k] : !a -> tensor<32x64xi8>
    %b_bytes = tile.load %B[%k, %col] : !b -> tensor<64x32xi8>
    %a = tile.bitcast %a_bytes : tensor<32x64xi8> -> tensor<32x128xi4>
    %b = tile.bitcast %b_bytes : tensor<64x32xi8> -> tensor<128x32xi4>
    %next = tile.mma %a, %b, %acc : tensor<32x128xi4>, tensor<128x32xi4>, tensor<32x32xi32>
    scf.yield %next : tensor<32x32xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<32x32xi32>, !c
}

func.func @signed_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[1, ?]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>) {
    ^bb0(%a: i8, %b: i8, %c: i32):
      %four = arith.constant 4 : i8
      %a_up = arith.shli %a, %four : i8
      %b_up = arith.shli %b, %four : i8
      %a_low = arith.shrsi %a_up, %four : i8
      %b_low = arith.shrsi %b_up, %four : i8
      %a_high = arith.shrsi %a, %four : i8
      %b_high = arith.shrsi %b, %four : i8
      %x0 = arith.extsi %a_low : i8 to i32
      %y0 = arith.extsi %b_low : i8 to i32
      %x1 = arith.extsi %a_high : i8 to i32
      %y1 = arith.extsi %b_high : i8 to i32
      %p0 = arith.muli %x0, %y0 : i32
      %p1 = arith.muli %x1, %y1 : i32
      %p = arith.addi %p0, %p1 : i32
      %s = arith.addi %c, %p : i32
      linalg.yield %s : i32
  }
  return
}

tile.kernel @unsigned_a(%A: !a, %B: !b, %C: !c) threads(64) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 32 : index
  %tile_n = arith.constant 16 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 32 : index
  %tile_n = arith.constant 16 : index
  %bytes_k = arith.constant 32 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0> : tensor<32x16xi32>
  %sum = scf.for %k = %c0 to %K step %bytes_k iter_args(%acc = %zero) -> (tensor<32x16xi32>) {
    %a_bytes = tile.load %A[%row, %k] : !a -> tensor<32x32xi8>
    %b_bytes = tile.load %B[%k, %col] : !b -> tensor<32x16xi8>
    %a = tile.bitcast %a_bytes : tensor<32x32xi8> -> tensor<32x64xi4>
    %b = tile.bitcast %b_bytes : tensor<32x16xi8> -> tensor<64x16xi4>
    %next = tile.mma %a, %b, %acc {unsigned_a} : tensor<32x64xi4>, tensor<64x16xi4>, tensor<32x16xi32>
    scf.yield %next : tensor<32x16xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<32x16xi32>, !c
}

func.func @unsigned_a_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[1, ?]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>) {
    ^bb0(%a: i8, %b: i8, %c: i32):
      %four = arith.constant 4 : i8
      %a_up = arith.shli %a, %four : i8
      %b_up = arith.shli %b, %four : i8
      %a_low = arith.shrui %a_up, %four : i8
      %b_low = arith.shrsi %b_up, %four : i8
      %a_high = arith.shrui %a, %four : i8
      %b_high = arith.shrsi %b, %four : i8
      %x0 = arith.extui %a_low : i8 to i32
      %y0 = arith.extsi %b_low : i8 to i32
      %x1 = arith.extui %a_high : i8 to i32
      %y1 = arith.extsi %b_high : i8 to i32
      %p0 = arith.muli %x0, %y0 : i32
      %p1 = arith.muli %x1, %y1 : i32
      %p = arith.addi %p0, %p1 : i32
      %s = arith.addi %c, %p : i32
      linalg.yield %s : i32
  }
  return
}

tile.kernel @unsigned_b(%A: !a, %B: !b, %C: !c) threads(32) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 16 : index
  %tile_n = arith.constant 16 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 16 : index
  %tile_n = arith.constant 16 : index
  %bytes_k = arith.constant 16 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0> : tensor<16x16xi32>
  %sum = scf.for %k = %c0 to %K step %bytes_k iter_args(%acc = %zero) -> (tensor<16x16xi32>) {
    %a_bytes = tile.load %A[%row, %k] : !a -> tensor<16x16xi8>
    %b_bytes = tile.load %B[%k, %col] : !b -> tensor<16x16xi8>
    %a = tile.bitcast %a_bytes : tensor<16x16xi8> -> tensor<16x32xi4>
    %b = tile.bitcast %b_bytes : tensor<16x16xi8> -> tensor<32x16xi4>
    %next = tile.mma %a, %b, %acc {unsigned_b} : tensor<16x32xi4>, tensor<32x16xi4>, tensor<16x16xi32>
    scf.yield %next : tensor<16x16xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<16x16xi32>, !c
}

func.func @unsigned_b_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[1, ?]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>) {
    ^bb0(%a: i8, %b: i8, %c: i32):
      %four = arith.constant 4 : i8
      %a_up = arith.shli %a, %four : i8
      %b_up = arith.shli %b, %four : i8
      %a_low = arith.shrsi %a_up, %four : i8
      %b_low = arith.shrui %b_up, %four : i8
      %a_high = arith.shrsi %a, %four : i8
      %b_high = arith.shrui %b, %four : i8
      %x0 = arith.extsi %a_low : i8 to i32
      %y0 = arith.extui %b_low : i8 to i32
      %x1 = arith.extsi %a_high : i8 to i32
      %y1 = arith.extui %b_high : i8 to i32
      %p0 = arith.muli %x0, %y0 : i32
      %p1 = arith.muli %x1, %y1 : i32
      %p = arith.addi %p0, %p1 : i32
      %s = arith.addi %c, %p : i32
      linalg.yield %s : i32
  }
  return
}

tile.kernel @unsigned(%A: !a, %B: !b, %C: !c) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 64 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 64 : index
  %bytes_k = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0> : tensor<64x64xi32>
  %sum = scf.for %k = %c0 to %K step %bytes_k iter_args(%acc = %zero) -> (tensor<64x64xi32>) {
    %a_bytes = tile.load %A[%row, %k] : !a -> tensor<64x64xi8>
    %b_bytes = tile.load %B[%k, %col] : !b -> tensor<64x64xi8>
    %a = tile.bitcast %a_bytes : tensor<64x64xi8> -> tensor<64x128xi4>
    %b = tile.bitcast %b_bytes : tensor<64x64xi8> -> tensor<128x64xi4>
    %next = tile.mma %a, %b, %acc {unsigned_a, unsigned_b} : tensor<64x128xi4>, tensor<128x64xi4>, tensor<64x64xi32>
    scf.yield %next : tensor<64x64xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x64xi32>, !c
}

func.func @unsigned_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[1, ?]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>) {
    ^bb0(%a: i8, %b: i8, %c: i32):
      %four = arith.constant 4 : i8
      %a_up = arith.shli %a, %four : i8
      %b_up = arith.shli %b, %four : i8
      %a_low = arith.shrui %a_up, %four : i8
      %b_low = arith.shrui %b_up, %four : i8
      %a_high = arith.shrui %a, %four : i8
      %b_high = arith.shrui %b, %four : i8
      %x0 = arith.extui %a_low : i8 to i32
      %y0 = arith.extui %b_low : i8 to i32
      %x1 = arith.extui %a_high : i8 to i32
      %y1 = arith.extui %b_high : i8 to i32
      %p0 = arith.muli %x0, %y0 : i32
      %p1 = arith.muli %x1, %y1 : i32
      %p = arith.addi %p0, %p1 : i32
      %s = arith.addi %c, %p : i32
      linalg.yield %s : i32
  }
  return
}

// A tile smaller than an instruction, whose K is less than what a thread has.
tile.kernel @short(%A: !a, %B: !b, %C: !c) threads(32) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 4 : index
  %tile_n = arith.constant 2 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 4 : index
  %tile_n = arith.constant 2 : index
  %bytes_k = arith.constant 4 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0> : tensor<4x2xi32>
  %sum = scf.for %k = %c0 to %K step %bytes_k iter_args(%acc = %zero) -> (tensor<4x2xi32>) {
    %a_bytes = tile.load %A[%row, %k] : !a -> tensor<4x4xi8>
    %b_bytes = tile.load %B[%k, %col] : !b -> tensor<4x2xi8>
    %a = tile.bitcast %a_bytes : tensor<4x4xi8> -> tensor<4x8xi4>
    %b = tile.bitcast %b_bytes : tensor<4x2xi8> -> tensor<8x2xi4>
    %next = tile.mma %a, %b, %acc {unsigned_b} : tensor<4x8xi4>, tensor<8x2xi4>, tensor<4x2xi32>
    scf.yield %next : tensor<4x2xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<4x2xi32>, !c
}

func.func @short_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[1, ?]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>) {
    ^bb0(%a: i8, %b: i8, %c: i32):
      %four = arith.constant 4 : i8
      %a_up = arith.shli %a, %four : i8
      %b_up = arith.shli %b, %four : i8
      %a_low = arith.shrsi %a_up, %four : i8
      %b_low = arith.shrui %b_up, %four : i8
      %a_high = arith.shrsi %a, %four : i8
      %b_high = arith.shrui %b, %four : i8
      %x0 = arith.extsi %a_low : i8 to i32
      %y0 = arith.extui %b_low : i8 to i32
      %x1 = arith.extsi %a_high : i8 to i32
      %y1 = arith.extui %b_high : i8 to i32
      %p0 = arith.muli %x0, %y0 : i32
      %p1 = arith.muli %x1, %y1 : i32
      %p = arith.addi %p0, %p1 : i32
      %s = arith.addi %c, %p : i32
      linalg.yield %s : i32
  }
  return
}
