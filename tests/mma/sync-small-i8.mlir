// Bytes in tiles smaller than an instruction. Where a warp has copies of all rows, its lanes take theirs from each other.
//
// RUN: girih run %s --kernel m8n2k2 --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[9,19]' --arg 'B=uniform(low=-128,high=127):i8[19,5]' --arg C=poison:i32[9,5] | FileCheck %s
// RUN: girih run %s --kernel m1n4k8 --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[9,19]' --arg 'B=uniform(low=-128,high=127):i8[19,5]' --arg C=poison:i32[9,5] | FileCheck %s
// RUN: girih run %s --kernel m32n8k1 --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[130,3]' --arg 'B=uniform(low=-128,high=127):i8[3,9]' --arg C=poison:i32[130,9] | FileCheck %s
// RUN: girih run %s --kernel m128n8k1 --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[130,3]' --arg 'B=uniform(low=-128,high=127):i8[3,9]' --arg C=poison:i32[130,9] | FileCheck %s
// RUN: girih compile %s --target sm_80 --emit cubin -o %t.sm_80.cubin
// RUN: girih compile %s --target sm_90a --emit cubin -o %t.sm_90a.cubin
// CHECK: right: C:

!a = memref<?x?xi8, strided<[?, 1]>, #tile.global>
!b = memref<?x?xi8, strided<[1, ?]>, #tile.global>
!c = memref<?x?xi32, strided<[?, 1]>, #tile.global>

tile.kernel @m8n2k2(%A: !a, %B: !b, %C: !c) threads(64) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 8 : index
  %tile_n = arith.constant 2 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 8 : index
  %tile_n = arith.constant 2 : index
  %tile_k = arith.constant 2 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0> : tensor<8x2xi32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<8x2xi32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<8x2xi8>
    %b = tile.load %B[%k, %col] : !b -> tensor<2x2xi8>
    %next = tile.mma %a, %b, %acc : tensor<8x2xi8>, tensor<2x2xi8>, tensor<8x2xi32>
    scf.yield %next : tensor<8x2xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<8x2xi32>, !c
}

func.func @m8n2k2_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[1, ?]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>) {
    ^bb0(%a: i8, %b: i8, %c: i32):
      %x = arith.extsi %a : i8 to i32
      %y = arith.extsi %b : i8 to i32
      %p = arith.muli %x, %y : i32
      %s = arith.addi %c, %p : i32
      linalg.yield %s : i32
  }
  return
}

tile.kernel @m1n4k8(%A: !a, %B: !b, %C: !c) threads(32) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 1 : index
  %tile_n = arith.constant 4 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 1 : index
  %tile_n = arith.constant 4 : index
  %tile_k = arith.constant 8 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0> : tensor<1x4xi32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<1x4xi32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<1x8xi8>
    %b = tile.load %B[%k, %col] : !b -> tensor<8x4xi8>
    %next = tile.mma %a, %b, %acc : tensor<1x8xi8>, tensor<8x4xi8>, tensor<1x4xi32>
    scf.yield %next : tensor<1x4xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<1x4xi32>, !c
}

func.func @m1n4k8_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[1, ?]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>) {
    ^bb0(%a: i8, %b: i8, %c: i32):
      %x = arith.extsi %a : i8 to i32
      %y = arith.extsi %b : i8 to i32
      %p = arith.muli %x, %y : i32
      %s = arith.addi %c, %p : i32
      linalg.yield %s : i32
  }
  return
}

tile.kernel @m32n8k1(%A: !a, %B: !b, %C: !c) threads(256) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 32 : index
  %tile_n = arith.constant 8 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 32 : index
  %tile_n = arith.constant 8 : index
  %tile_k = arith.constant 1 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0> : tensor<32x8xi32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<32x8xi32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<32x1xi8>
    %b = tile.load %B[%k, %col] : !b -> tensor<1x8xi8>
    %next = tile.mma %a, %b, %acc : tensor<32x1xi8>, tensor<1x8xi8>, tensor<32x8xi32>
    scf.yield %next : tensor<32x8xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<32x8xi32>, !c
}

func.func @m32n8k1_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[1, ?]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>) {
    ^bb0(%a: i8, %b: i8, %c: i32):
      %x = arith.extsi %a : i8 to i32
      %y = arith.extsi %b : i8 to i32
      %p = arith.muli %x, %y : i32
      %s = arith.addi %c, %p : i32
      linalg.yield %s : i32
  }
  return
}

tile.kernel @m128n8k1(%A: !a, %B: !b, %C: !c) threads(256) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 128 : index
  %tile_n = arith.constant 8 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 128 : index
  %tile_n = arith.constant 8 : index
  %tile_k = arith.constant 1 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0> : tensor<128x8xi32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<128x8xi32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<128x1xi8>
    %b = tile.load %B[%k, %col] : !b -> tensor<1x8xi8>
    %next = tile.mma %a, %b, %acc : tensor<128x1xi8>, tensor<1x8xi8>, tensor<128x8xi32>
    scf.yield %next : tensor<128x8xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<128x8xi32>, !c
}

func.func @m128n8k1_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[1, ?]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>) {
    ^bb0(%a: i8, %b: i8, %c: i32):
      %x = arith.extsi %a : i8 to i32
      %y = arith.extsi %b : i8 to i32
      %p = arith.muli %x, %y : i32
      %s = arith.addi %c, %p : i32
      linalg.yield %s : i32
  }
  return
}
