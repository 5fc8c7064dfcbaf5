// Floats of 4, 6 and 8 bits by mma.sync with kind::f8f6f4: two of 4 bits in a byte along K, one of 6 in the low bits of a byte.
//
// RUN: girih run %s --target sm_120a --kernel fours --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[33,72]' --arg 'B=uniform(low=-128,high=127):i8[72,35]' --arg C=poison:f32[33,35] | FileCheck %s
// RUN: girih run %s --target sm_120a --kernel sixes --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[33,72]' --arg 'B=uniform(low=-128,high=127):i8[72,35]' --arg C=poison:f32[33,35] | FileCheck %s
// RUN: girih run %s --target sm_120a --kernel weights --device sim --check-memory --arg A=randn:e4m3[65,80] --arg 'B=uniform(low=-128,high=127):i8[40,33]' --arg C=poison:f32[65,33] | FileCheck %s
// RUN: girih run %s --target sm_120a --kernel odd --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[30,100]' --arg 'B=uniform(low=-128,high=127):i8[100,41]' --arg C=poison:f32[30,41] | FileCheck %s
// RUN: girih compile %s --target sm_120a --emit cubin -o %t.sm_120a.cubin
// RUN: girih compile %s --target sm_120a --emit ptx -o - | FileCheck %s --check-prefix=PTX
// CHECK: right: C:
// PTX-LABEL: .entry fours(
// PTX: mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32
// PTX-LABEL: .entry sixes(
// PTX: mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m3.f32
// PTX-LABEL: .entry weights(
// PTX: mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32
// PTX-LABEL: .entry odd(
// PTX: mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e3m2.f32

!f4s = memref<?x?xi8, strided<[?, 1]>, #tile.global>
!f4s_t = memref<?x?xi8, strided<[1, ?]>, #tile.global>
!f32s = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!e3m2s = memref<?x?xi8, strided<[?, 1]>, #tile.global>
!e2m3s_t = memref<?x?xi8, strided<[1, ?]>, #tile.global>
!e4m3s = memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>
!e3m2s_t = memref<?x?xi8, strided<[1, ?]>, #tile.global>

tile.kernel @fours(%A: !f4s, %B: !f4s_t, %C: !f32s) threads(64) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 32 : index
  %tile_n = arith.constant 32 : index
  %M = memref.dim %C, %c0 : !f32s
  %N = memref.dim %C, %c1 : !f32s
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 32 : index
  %tile_n = arith.constant 32 : index
  %step = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !f4s
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<32x32xf32>) {
    %a_bytes = tile.load %A[%row, %k] : !f4s -> tensor<32x64xi8>
    %b_bytes = tile.load %B[%k, %col] : !f4s_t -> tensor<64x32xi8>
    %a = tile.bitcast %a_bytes : tensor<32x64xi8> -> tensor<32x128xf4E2M1FN>
    %b = tile.bitcast %b_bytes : tensor<64x32xi8> -> tensor<128x32xf4E2M1FN>
    %next = tile.mma %a, %b, %acc : tensor<32x128xf4E2M1FN>, tensor<128x32xf4E2M1FN>, tensor<32x32xf32>
    scf.yield %next : tensor<32x32xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<32x32xf32>, !f32s
}

func.func @fours_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2 : index
  %four = arith.constant 4 : i8
  %M = memref.dim %C, %c0 : memref<?x?xf32, strided<[?, 1]>>
  %N = memref.dim %C, %c1 : memref<?x?xf32, strided<[?, 1]>>
  %bytes = memref.dim %A, %c1 : memref<?x?xi8, strided<[?, 1]>>
  %K = arith.muli %bytes, %two : index
  scf.for %m = %c0 to %M step %c1 {
    scf.for %n = %c0 to %N step %c1 {
      %zero = arith.constant 0.0 : f32
      %sum = scf.for %k = %c0 to %K step %c1 iter_args(%acc = %zero) -> (f32) {
        %a_at = arith.divui %k, %two : index
        %a_byte = memref.load %A[%m, %a_at] : memref<?x?xi8, strided<[?, 1]>>
        %a_other = arith.remui %k, %two : index
        %a_high = arith.cmpi ne, %a_other, %c0 : index
        %a_upper = arith.shrui %a_byte, %four : i8
        %a_own = arith.select %a_high, %a_upper, %a_byte : i8
        %a_code = arith.trunci %a_own : i8 to i4
        %a_small = arith.bitcast %a_code : i4 to f4E2M1FN
        %a = arith.extf %a_small : f4E2M1FN to f32
        %b_at = arith.divui %k, %two : index
        %b_byte = memref.load %B[%b_at, %n] : memref<?x?xi8, strided<[1, ?]>>
        %b_other = arith.remui %k, %two : index
        %b_high = arith.cmpi ne, %b_other, %c0 : index
        %b_upper = arith.shrui %b_byte, %four : i8
        %b_own = arith.select %b_high, %b_upper, %b_byte : i8
        %b_code = arith.trunci %b_own : i8 to i4
        %b_small = arith.bitcast %b_code : i4 to f4E2M1FN
        %b = arith.extf %b_small : f4E2M1FN to f32
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %acc, %p : f32
        scf.yield %s : f32
      }
      memref.store %sum, %C[%m, %n] : memref<?x?xf32, strided<[?, 1]>>
    }
  }
  return
}

tile.kernel @sixes(%A: !e3m2s, %B: !e2m3s_t, %C: !f32s) threads(64) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 32 : index
  %tile_n = arith.constant 32 : index
  %M = memref.dim %C, %c0 : !f32s
  %N = memref.dim %C, %c1 : !f32s
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 32 : index
  %tile_n = arith.constant 32 : index
  %step = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !e3m2s
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<32x32xf32>) {
    %a_bytes = tile.load %A[%row, %k] : !e3m2s -> tensor<32x64xi8>
    %b_bytes = tile.load %B[%k, %col] : !e2m3s_t -> tensor<64x32xi8>
    %a = tile.bitcast %a_bytes : tensor<32x64xi8> -> tensor<32x64xf6E3M2FN>
    %b = tile.bitcast %b_bytes : tensor<64x32xi8> -> tensor<64x32xf6E2M3FN>
    %next = tile.mma %a, %b, %acc : tensor<32x64xf6E3M2FN>, tensor<64x32xf6E2M3FN>, tensor<32x32xf32>
    scf.yield %next : tensor<32x32xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<32x32xf32>, !f32s
}

func.func @sixes_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = memref.dim %C, %c0 : memref<?x?xf32, strided<[?, 1]>>
  %N = memref.dim %C, %c1 : memref<?x?xf32, strided<[?, 1]>>
  %K = memref.dim %B, %c0 : memref<?x?xi8, strided<[1, ?]>>
  scf.for %m = %c0 to %M step %c1 {
    scf.for %n = %c0 to %N step %c1 {
      %zero = arith.constant 0.0 : f32
      %sum = scf.for %k = %c0 to %K step %c1 iter_args(%acc = %zero) -> (f32) {
        %a_byte = memref.load %A[%m, %k] : memref<?x?xi8, strided<[?, 1]>>
        %a_code = arith.trunci %a_byte : i8 to i6
        %a_small = arith.bitcast %a_code : i6 to f6E3M2FN
        %a = arith.extf %a_small : f6E3M2FN to f32
        %b_byte = memref.load %B[%k, %n] : memref<?x?xi8, strided<[1, ?]>>
        %b_code = arith.trunci %b_byte : i8 to i6
        %b_small = arith.bitcast %b_code : i6 to f6E2M3FN
        %b = arith.extf %b_small : f6E2M3FN to f32
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %acc, %p : f32
        scf.yield %s : f32
      }
      memref.store %sum, %C[%m, %n] : memref<?x?xf32, strided<[?, 1]>>
    }
  }
  return
}

tile.kernel @weights(%A: !e4m3s, %B: !f4s_t, %C: !f32s) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 32 : index
  %M = memref.dim %C, %c0 : !f32s
  %N = memref.dim %C, %c1 : !f32s
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 64 : index
  %tile_n = arith.constant 32 : index
  %step = arith.constant 32 : index
  %K = memref.dim %B, %c0 : !f4s_t
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<64x32xf32>) {
    %two = arith.constant 2 : index
    %k_whole = arith.muli %k, %two : index
    %a = tile.load %A[%row, %k_whole] : !e4m3s -> tensor<64x64xf8E4M3FN>
    %b_bytes = tile.load %B[%k, %col] : !f4s_t -> tensor<32x32xi8>
    %b = tile.bitcast %b_bytes : tensor<32x32xi8> -> tensor<64x32xf4E2M1FN>
    %next = tile.mma %a, %b, %acc : tensor<64x64xf8E4M3FN>, tensor<64x32xf4E2M1FN>, tensor<64x32xf32>
    scf.yield %next : tensor<64x32xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x32xf32>, !f32s
}

func.func @weights_ref(%A: memref<?x?xf8E4M3FN, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2 : index
  %four = arith.constant 4 : i8
  %M = memref.dim %C, %c0 : memref<?x?xf32, strided<[?, 1]>>
  %N = memref.dim %C, %c1 : memref<?x?xf32, strided<[?, 1]>>
  %K = memref.dim %A, %c1 : memref<?x?xf8E4M3FN, strided<[?, 1]>>
  scf.for %m = %c0 to %M step %c1 {
    scf.for %n = %c0 to %N step %c1 {
      %zero = arith.constant 0.0 : f32
      %sum = scf.for %k = %c0 to %K step %c1 iter_args(%acc = %zero) -> (f32) {
        %a_small = memref.load %A[%m, %k] : memref<?x?xf8E4M3FN, strided<[?, 1]>>
        %a = arith.extf %a_small : f8E4M3FN to f32
        %b_at = arith.divui %k, %two : index
        %b_byte = memref.load %B[%b_at, %n] : memref<?x?xi8, strided<[1, ?]>>
        %b_other = arith.remui %k, %two : index
        %b_high = arith.cmpi ne, %b_other, %c0 : index
        %b_upper = arith.shrui %b_byte, %four : i8
        %b_own = arith.select %b_high, %b_upper, %b_byte : i8
        %b_code = arith.trunci %b_own : i8 to i4
        %b_small = arith.bitcast %b_code : i4 to f4E2M1FN
        %b = arith.extf %b_small : f4E2M1FN to f32
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %acc, %p : f32
        scf.yield %s : f32
      }
      memref.store %sum, %C[%m, %n] : memref<?x?xf32, strided<[?, 1]>>
    }
  }
  return
}

tile.kernel @odd(%A: !e3m2s, %B: !e3m2s_t, %C: !f32s) threads(32) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 24 : index
  %tile_n = arith.constant 40 : index
  %M = memref.dim %C, %c0 : !f32s
  %N = memref.dim %C, %c1 : !f32s
  %tiles_m = arith.ceildivui %M, %tile_m : index
  %tiles_n = arith.ceildivui %N, %tile_n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant 24 : index
  %tile_n = arith.constant 40 : index
  %step = arith.constant 48 : index
  %K = memref.dim %A, %c1 : !e3m2s
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %tile_m : index
  %col = arith.muli %by, %tile_n : index
  %zero = arith.constant dense<0.0> : tensor<24x40xf32>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<24x40xf32>) {
    %a_bytes = tile.load %A[%row, %k] : !e3m2s -> tensor<24x48xi8>
    %b_bytes = tile.load %B[%k, %col] : !e3m2s_t -> tensor<48x40xi8>
    %a = tile.bitcast %a_bytes : tensor<24x48xi8> -> tensor<24x48xf6E3M2FN>
    %b = tile.bitcast %b_bytes : tensor<48x40xi8> -> tensor<48x40xf6E3M2FN>
    %next = tile.mma %a, %b, %acc : tensor<24x48xf6E3M2FN>, tensor<48x40xf6E3M2FN>, tensor<24x40xf32>
    scf.yield %next : tensor<24x40xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<24x40xf32>, !f32s
}

func.func @odd_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xf32, strided<[?, 1]>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = memref.dim %C, %c0 : memref<?x?xf32, strided<[?, 1]>>
  %N = memref.dim %C, %c1 : memref<?x?xf32, strided<[?, 1]>>
  %K = memref.dim %B, %c0 : memref<?x?xi8, strided<[1, ?]>>
  scf.for %m = %c0 to %M step %c1 {
    scf.for %n = %c0 to %N step %c1 {
      %zero = arith.constant 0.0 : f32
      %sum = scf.for %k = %c0 to %K step %c1 iter_args(%acc = %zero) -> (f32) {
        %a_byte = memref.load %A[%m, %k] : memref<?x?xi8, strided<[?, 1]>>
        %a_code = arith.trunci %a_byte : i8 to i6
        %a_small = arith.bitcast %a_code : i6 to f6E3M2FN
        %a = arith.extf %a_small : f6E3M2FN to f32
        %b_byte = memref.load %B[%k, %n] : memref<?x?xi8, strided<[1, ?]>>
        %b_code = arith.trunci %b_byte : i8 to i6
        %b_small = arith.bitcast %b_code : i6 to f6E3M2FN
        %b = arith.extf %b_small : f6E3M2FN to f32
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %acc, %p : f32
        scf.yield %s : f32
      }
      memref.store %sum, %C[%m, %n] : memref<?x?xf32, strided<[?, 1]>>
    }
  }
  return
}
