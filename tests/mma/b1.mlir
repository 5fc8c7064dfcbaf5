// Single bits by wgmma: ones of the conjunction, counted along K, eight in each byte of shared memory.
//
// RUN: girih run %s --kernel one --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[65,80]' --arg 'B=uniform(low=-128,high=127):i8[80,35]' --arg C=poison:i32[65,35] | FileCheck %s
// RUN: girih run %s --kernel one --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[64,77]' --arg 'B=uniform(low=-128,high=127):i8[77,24]' --arg C=poison:i32[64,24] | FileCheck %s
// RUN: girih run %s --kernel two --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[130,272]' --arg 'B=uniform(low=-128,high=127):i8[272,100]' --arg C=poison:i32[130,100] | FileCheck %s
// RUN: girih run %s --kernel turned --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[70,96]' --arg 'B=uniform(low=-128,high=127):i8[50,96]' --arg C=poison:i32[70,50] | FileCheck %s
// RUN: girih run %s --kernel once --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[64,32]' --arg 'B=uniform(low=-128,high=127):i8[32,16]' --arg C=poison:i32[64,16] | FileCheck %s
// CHECK: right: C:
// RUN: girih compile %s --target sm_90a --emit cubin -o %t.cubin
// RUN: girih compile %s --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=PTX
// PTX-LABEL: .entry one(
// PTX: wgmma.mma_async.sync.aligned.m64n24k256.s32.b1.b1.and.popc
// PTX-NOT: mma.sync
// PTX-LABEL: .entry two(
// PTX: cp.async.bulk.tensor.2d
// PTX: wgmma.mma_async.sync.aligned.m64n128k256.s32.b1.b1.and.popc
// PTX-LABEL: .entry turned(
// PTX: wgmma.mma_async.sync.aligned.m64n64k256.s32.b1.b1.and.popc
// PTX-LABEL: .entry once(
// PTX: wgmma.mma_async.sync.aligned.m64n16k256.s32.b1.b1.and.popc
// Elsewhere it is a product of warps.
// RUN: girih compile %s --target sm_80 --emit ptx -o - | FileCheck %s --check-prefix=SYNC
// SYNC-LABEL: .entry two(
// SYNC: mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc

!a = memref<?x?xi8, strided<[?, 1]>, #tile.global>
!b = memref<?x?xi8, strided<[1, ?]>, #tile.global>
!c = memref<?x?xi32, strided<[?, 1]>, #tile.global>

tile.kernel @one(%A: !a, %B: !b, %C: !c) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 24 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 24 : index
  %bytes_k = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0> : tensor<64x24xi32>
  %sum = scf.for %k = %c0 to %K step %bytes_k iter_args(%acc = %zero) -> (tensor<64x24xi32>) {
    %a_bytes = tile.load %A[%row, %k] : !a -> tensor<64x64xi8>
    %a = tile.bitcast %a_bytes : tensor<64x64xi8> -> tensor<64x512xi1>
    %b_bytes = tile.load %B[%k, %col] : !b -> tensor<64x24xi8>
    %b = tile.bitcast %b_bytes : tensor<64x24xi8> -> tensor<512x24xi1>
    %next = tile.mma %a, %b, %acc popc and : tensor<64x512xi1>, tensor<512x24xi1>, tensor<64x24xi32>
    scf.yield %next : tensor<64x24xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x24xi32>, !c
}

func.func @one_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[1, ?]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>) {
    ^bb0(%a: i8, %b: i8, %c: i32):
      %bits = arith.andi %a, %b : i8
      %wide = arith.extui %bits : i8 to i32
      %p = math.ctpop %wide : i32
      %s = arith.addi %c, %p : i32
      linalg.yield %s : i32
  }
  return
}

tile.kernel @two(%A: !a, %B: !b, %C: !c) threads(256) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 128 : index
  %tile_n = arith.constant 128 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 128 : index
  %tile_n = arith.constant 128 : index
  %bytes_k = arith.constant 128 : index
  %K = memref.dim %A, %c1 : !a
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0> : tensor<128x128xi32>
  %sum = scf.for %k = %c0 to %K step %bytes_k iter_args(%acc = %zero) -> (tensor<128x128xi32>) {
    %a_bytes = tile.load %A[%row, %k] : !a -> tensor<128x128xi8>
    %a = tile.bitcast %a_bytes : tensor<128x128xi8> -> tensor<128x1024xi1>
    %b_bytes = tile.load %B[%k, %col] : !b -> tensor<128x128xi8>
    %b = tile.bitcast %b_bytes : tensor<128x128xi8> -> tensor<1024x128xi1>
    %next = tile.mma %a, %b, %acc popc and : tensor<128x1024xi1>, tensor<1024x128xi1>, tensor<128x128xi32>
    scf.yield %next : tensor<128x128xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<128x128xi32>, !c
}

func.func @two_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[1, ?]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>) {
    ^bb0(%a: i8, %b: i8, %c: i32):
      %bits = arith.andi %a, %b : i8
      %wide = arith.extui %bits : i8 to i32
      %p = math.ctpop %wide : i32
      %s = arith.addi %c, %p : i32
      linalg.yield %s : i32
  }
  return
}

tile.kernel @turned(%A: !a, %B: !a, %C: !c) threads(128) launch {
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
    %a = tile.bitcast %a_bytes : tensor<64x64xi8> -> tensor<64x512xi1>
    %b_rows = tile.load %B[%col, %k] : !a -> tensor<64x64xi8>
    %b_bits = tile.bitcast %b_rows : tensor<64x64xi8> -> tensor<64x512xi1>
    %b = tile.transpose %b_bits order [1, 0] : tensor<64x512xi1> -> tensor<512x64xi1>
    %next = tile.mma %a, %b, %acc popc and : tensor<64x512xi1>, tensor<512x64xi1>, tensor<64x64xi32>
    scf.yield %next : tensor<64x64xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x64xi32>, !c
}

func.func @turned_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[?, 1]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[?, 1]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>) {
    ^bb0(%a: i8, %b: i8, %c: i32):
      %bits = arith.andi %a, %b : i8
      %wide = arith.extui %bits : i8 to i32
      %p = math.ctpop %wide : i32
      %s = arith.addi %c, %p : i32
      linalg.yield %s : i32
  }
  return
}

tile.kernel @once(%A: !a, %B: !b, %C: !c) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 16 : index
  %M = memref.dim %C, %c0 : !c
  %N = memref.dim %C, %c1 : !c
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 16 : index
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0> : tensor<64x16xi32>
  %a_bytes = tile.load %A[%row, %c0] : !a -> tensor<64x32xi8>
  %a = tile.bitcast %a_bytes : tensor<64x32xi8> -> tensor<64x256xi1>
  %b_bytes = tile.load %B[%c0, %col] : !b -> tensor<32x16xi8>
  %b = tile.bitcast %b_bytes : tensor<32x16xi8> -> tensor<256x16xi1>
  %sum = tile.mma %a, %b, %zero popc and : tensor<64x256xi1>, tensor<256x16xi1>, tensor<64x16xi32>
  tile.store %sum, %C[%row, %col] : tensor<64x16xi32>, !c
}

func.func @once_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[1, ?]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>) {
    ^bb0(%a: i8, %b: i8, %c: i32):
    %bits = arith.andi %a, %b : i8
    %ones = math.ctpop %bits : i8
    %p = arith.extui %ones : i8 to i32
    %s = arith.addi %c, %p : i32
      linalg.yield %s : i32
  }
  return
}
