// Single bits by mma.sync, eight in a byte along K: where they differ, and where both are ones.
//
// RUN: girih run %s --kernel differ --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[33,72]' --arg 'B=uniform(low=-128,high=127):i8[72,35]' --arg C=poison:i32[33,35] | FileCheck %s
// RUN: girih run %s --target sm_90 --kernel both --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[33,40]' --arg 'B=uniform(low=-128,high=127):i8[40,35]' --arg C=poison:i32[33,35] | FileCheck %s
// RUN: girih run %s --kernel short --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[17,21]' --arg 'B=uniform(low=-128,high=127):i8[21,18]' --arg C=poison:i32[17,18] | FileCheck %s
// RUN: girih run %s --kernel tiny --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[3,5]' --arg 'B=uniform(low=-128,high=127):i8[5,2]' --arg C=poison:i32[3,2] | FileCheck %s
// RUN: girih compile %s --target sm_80 --emit cubin -o %t.sm_80.cubin
// RUN: girih compile %s --target sm_89 --emit cubin -o %t.sm_89.cubin
// RUN: girih compile %s --target sm_90a --emit cubin -o %t.sm_90a.cubin
// RUN: girih compile %s --target sm_100a --emit cubin -o %t.sm_100a.cubin
// RUN: girih compile %s --target sm_120a --emit cubin -o %t.sm_120a.cubin
// RUN: girih compile %s --target sm_80 --emit ptx -o - | FileCheck %s --check-prefix=PTX
// CHECK: right: C:
// PTX-LABEL: .entry differ(
// PTX: mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc
// PTX-LABEL: .entry both(
// PTX: mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc
// PTX-LABEL: .entry short(
// PTX: mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc

!a = memref<?x?xi8, strided<[?, 1]>, #tile.global>
!b = memref<?x?xi8, strided<[1, ?]>, #tile.global>
!c = memref<?x?xi32, strided<[?, 1]>, #tile.global>

tile.kernel @differ(%A: !a, %B: !b, %C: !c) threads(64) launch {
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
    %a = tile.bitcast %a_bytes : tensor<32x64xi8> -> tensor<32x512xi1>
    %b = tile.bitcast %b_bytes : tensor<64x32xi8> -> tensor<512x32xi1>
    %next = tile.mma %a, %b, %acc popc xor : tensor<32x512xi1>, tensor<512x32xi1>, tensor<32x32xi32>
    scf.yield %next : tensor<32x32xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<32x32xi32>, !c
}

func.func @differ_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[1, ?]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>) {
    ^bb0(%a: i8, %b: i8, %c: i32):
      %bits = arith.xori %a, %b : i8
      %one = arith.constant 1 : i8
      %two = arith.constant 2 : i8
      %four = arith.constant 4 : i8
      %odd = arith.constant 0x55 : i8
      %pairs = arith.constant 0x33 : i8
      %low = arith.constant 0x0F : i8
      %h1 = arith.shrui %bits, %one : i8
      %m1 = arith.andi %h1, %odd : i8
      %s1 = arith.subi %bits, %m1 : i8
      %h2 = arith.shrui %s1, %two : i8
      %m2 = arith.andi %h2, %pairs : i8
      %l2 = arith.andi %s1, %pairs : i8
      %s2 = arith.addi %l2, %m2 : i8
      %h4 = arith.shrui %s2, %four : i8
      %s4 = arith.addi %s2, %h4 : i8
      %ones = arith.andi %s4, %low : i8
      %p = arith.extui %ones : i8 to i32
      %s = arith.addi %c, %p : i32
      linalg.yield %s : i32
  }
  return
}

tile.kernel @both(%A: !a, %B: !b, %C: !c) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 32 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 32 : index
  %bytes_k = arith.constant 32 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0> : tensor<64x32xi32>
  %sum = scf.for %k = %c0 to %K step %bytes_k iter_args(%acc = %zero) -> (tensor<64x32xi32>) {
    %a_bytes = tile.load %A[%row, %k] : !a -> tensor<64x32xi8>
    %b_bytes = tile.load %B[%k, %col] : !b -> tensor<32x32xi8>
    %a = tile.bitcast %a_bytes : tensor<64x32xi8> -> tensor<64x256xi1>
    %b = tile.bitcast %b_bytes : tensor<32x32xi8> -> tensor<256x32xi1>
    %next = tile.mma %a, %b, %acc popc and : tensor<64x256xi1>, tensor<256x32xi1>, tensor<64x32xi32>
    scf.yield %next : tensor<64x32xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x32xi32>, !c
}

func.func @both_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[1, ?]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>) {
    ^bb0(%a: i8, %b: i8, %c: i32):
      %bits = arith.andi %a, %b : i8
      %one = arith.constant 1 : i8
      %two = arith.constant 2 : i8
      %four = arith.constant 4 : i8
      %odd = arith.constant 0x55 : i8
      %pairs = arith.constant 0x33 : i8
      %low = arith.constant 0x0F : i8
      %h1 = arith.shrui %bits, %one : i8
      %m1 = arith.andi %h1, %odd : i8
      %s1 = arith.subi %bits, %m1 : i8
      %h2 = arith.shrui %s1, %two : i8
      %m2 = arith.andi %h2, %pairs : i8
      %l2 = arith.andi %s1, %pairs : i8
      %s2 = arith.addi %l2, %m2 : i8
      %h4 = arith.shrui %s2, %four : i8
      %s4 = arith.addi %s2, %h4 : i8
      %ones = arith.andi %s4, %low : i8
      %p = arith.extui %ones : i8 to i32
      %s = arith.addi %c, %p : i32
      linalg.yield %s : i32
  }
  return
}

tile.kernel @short(%A: !a, %B: !b, %C: !c) threads(32) launch {
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
    %a = tile.bitcast %a_bytes : tensor<16x16xi8> -> tensor<16x128xi1>
    %b = tile.bitcast %b_bytes : tensor<16x16xi8> -> tensor<128x16xi1>
    %next = tile.mma %a, %b, %acc popc xor : tensor<16x128xi1>, tensor<128x16xi1>, tensor<16x16xi32>
    scf.yield %next : tensor<16x16xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<16x16xi32>, !c
}

func.func @short_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[1, ?]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>) {
    ^bb0(%a: i8, %b: i8, %c: i32):
      %bits = arith.xori %a, %b : i8
      %one = arith.constant 1 : i8
      %two = arith.constant 2 : i8
      %four = arith.constant 4 : i8
      %odd = arith.constant 0x55 : i8
      %pairs = arith.constant 0x33 : i8
      %low = arith.constant 0x0F : i8
      %h1 = arith.shrui %bits, %one : i8
      %m1 = arith.andi %h1, %odd : i8
      %s1 = arith.subi %bits, %m1 : i8
      %h2 = arith.shrui %s1, %two : i8
      %m2 = arith.andi %h2, %pairs : i8
      %l2 = arith.andi %s1, %pairs : i8
      %s2 = arith.addi %l2, %m2 : i8
      %h4 = arith.shrui %s2, %four : i8
      %s4 = arith.addi %s2, %h4 : i8
      %ones = arith.andi %s4, %low : i8
      %p = arith.extui %ones : i8 to i32
      %s = arith.addi %c, %p : i32
      linalg.yield %s : i32
  }
  return
}

// A tile smaller than an instruction, whose K is less than what a thread has.
tile.kernel @tiny(%A: !a, %B: !b, %C: !c) threads(32) launch {
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
  %bytes_k = arith.constant 2 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0> : tensor<4x2xi32>
  %sum = scf.for %k = %c0 to %K step %bytes_k iter_args(%acc = %zero) -> (tensor<4x2xi32>) {
    %a_bytes = tile.load %A[%row, %k] : !a -> tensor<4x2xi8>
    %b_bytes = tile.load %B[%k, %col] : !b -> tensor<2x2xi8>
    %a = tile.bitcast %a_bytes : tensor<4x2xi8> -> tensor<4x16xi1>
    %b = tile.bitcast %b_bytes : tensor<2x2xi8> -> tensor<16x2xi1>
    %next = tile.mma %a, %b, %acc popc and : tensor<4x16xi1>, tensor<16x2xi1>, tensor<4x2xi32>
    scf.yield %next : tensor<4x2xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<4x2xi32>, !c
}

func.func @tiny_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[1, ?]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>) {
    ^bb0(%a: i8, %b: i8, %c: i32):
      %bits = arith.andi %a, %b : i8
      %one = arith.constant 1 : i8
      %two = arith.constant 2 : i8
      %four = arith.constant 4 : i8
      %odd = arith.constant 0x55 : i8
      %pairs = arith.constant 0x33 : i8
      %low = arith.constant 0x0F : i8
      %h1 = arith.shrui %bits, %one : i8
      %m1 = arith.andi %h1, %odd : i8
      %s1 = arith.subi %bits, %m1 : i8
      %h2 = arith.shrui %s1, %two : i8
      %m2 = arith.andi %h2, %pairs : i8
      %l2 = arith.andi %s1, %pairs : i8
      %s2 = arith.addi %l2, %m2 : i8
      %h4 = arith.shrui %s2, %four : i8
      %s4 = arith.addi %s2, %h4 : i8
      %ones = arith.andi %s4, %low : i8
      %p = arith.extui %ones : i8 to i32
      %s = arith.addi %c, %p : i32
      linalg.yield %s : i32
  }
  return
}
