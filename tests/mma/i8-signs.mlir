// Bytes of either sign by wgmma.
//
// RUN: girih run %s --kernel unsigned_a --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[65,72]' --arg 'B=uniform(low=-128,high=127):i8[72,35]' --arg C=poison:i32[65,35] | FileCheck %s
// RUN: girih run %s --kernel unsigned_b --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[65,72]' --arg 'B=uniform(low=-128,high=127):i8[72,35]' --arg C=poison:i32[65,35] | FileCheck %s
// RUN: girih run %s --kernel unsigned --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[65,72]' --arg 'B=uniform(low=-128,high=127):i8[72,35]' --arg C=poison:i32[65,35] | FileCheck %s
// RUN: girih compile %s --target sm_90a --emit cubin -o %t.sm_90a.cubin
// RUN: girih compile %s -o - | FileCheck %s --check-prefix=PTX
// PTX: wgmma.mma_async.sync.aligned.m64n32k32.s32.u8.s8
// PTX: wgmma.mma_async.sync.aligned.m64n32k32.s32.s8.u8
// PTX: wgmma.mma_async.sync.aligned.m64n32k32.s32.u8.u8
// CHECK: right: C:

!a = memref<?x?xi8, strided<[?, 1]>, #tile.global>
!b = memref<?x?xi8, strided<[1, ?]>, #tile.global>
!c = memref<?x?xi32, strided<[?, 1]>, #tile.global>

tile.kernel @unsigned_a(%A: !a, %B: !b, %C: !c) threads(128) launch {
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
  %tile_k = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0> : tensor<64x32xi32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<64x32xi32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<64x64xi8>
    %b = tile.load %B[%k, %col] : !b -> tensor<64x32xi8>
    %next = tile.mma %a, %b, %acc {unsigned_a} : tensor<64x64xi8>, tensor<64x32xi8>, tensor<64x32xi32>
    scf.yield %next : tensor<64x32xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x32xi32>, !c
}

func.func @unsigned_a_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[1, ?]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>) {
    ^bb0(%a: i8, %b: i8, %c: i32):
      %x = arith.extui %a : i8 to i32
      %y = arith.extsi %b : i8 to i32
      %p = arith.muli %x, %y : i32
      %s = arith.addi %c, %p : i32
      linalg.yield %s : i32
  }
  return
}

tile.kernel @unsigned_b(%A: !a, %B: !b, %C: !c) threads(128) launch {
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
  %tile_k = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0> : tensor<64x32xi32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<64x32xi32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<64x64xi8>
    %b = tile.load %B[%k, %col] : !b -> tensor<64x32xi8>
    %next = tile.mma %a, %b, %acc {unsigned_b} : tensor<64x64xi8>, tensor<64x32xi8>, tensor<64x32xi32>
    scf.yield %next : tensor<64x32xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x32xi32>, !c
}

func.func @unsigned_b_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[1, ?]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>) {
    ^bb0(%a: i8, %b: i8, %c: i32):
      %x = arith.extsi %a : i8 to i32
      %y = arith.extui %b : i8 to i32
      %p = arith.muli %x, %y : i32
      %s = arith.addi %c, %p : i32
      linalg.yield %s : i32
  }
  return
}

tile.kernel @unsigned(%A: !a, %B: !b, %C: !c) threads(128) launch {
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
  %tile_k = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0> : tensor<64x32xi32>
  %sum = scf.for %k = %c0 to %K step %tile_k iter_args(%acc = %zero) -> (tensor<64x32xi32>) {
    %a = tile.load %A[%row, %k] : !a -> tensor<64x64xi8>
    %b = tile.load %B[%k, %col] : !b -> tensor<64x32xi8>
    %next = tile.mma %a, %b, %acc {unsigned_a, unsigned_b} : tensor<64x64xi8>, tensor<64x32xi8>, tensor<64x32xi32>
    scf.yield %next : tensor<64x32xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x32xi32>, !c
}

func.func @unsigned_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[1, ?]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>) {
    ^bb0(%a: i8, %b: i8, %c: i32):
      %x = arith.extui %a : i8 to i32
      %y = arith.extui %b : i8 to i32
      %p = arith.muli %x, %y : i32
      %s = arith.addi %c, %p : i32
      linalg.yield %s : i32
  }
  return
}
