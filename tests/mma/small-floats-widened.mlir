// Floats of 4 bits on every target: kept as bytes, two in each, and made wide again for a product of 16-bit numbers.
//
// RUN: girih run %s --kernel pack --device sim --check-memory --arg X=randn:f32[5,70] --arg Y=poison:i8[5,35] | FileCheck %s
// RUN: girih run %s --kernel widened --device sim --check-memory --arg A=randn:bf16[33,72] --arg 'B=uniform(low=-128,high=127):i8[36,35]' --arg C=poison:f32[33,35] | FileCheck %s
// RUN: girih run %s --target sm_120a --kernel pack --device sim --check-memory --arg X=randn:f32[5,70] --arg Y=poison:i8[5,35] | FileCheck %s
// RUN: girih run %s --target sm_120a --kernel widened --device sim --check-memory --arg A=randn:bf16[33,72] --arg 'B=uniform(low=-128,high=127):i8[36,35]' --arg C=poison:f32[33,35] | FileCheck %s
// RUN: girih compile %s --target sm_80 --emit cubin -o %t.sm_80.cubin
// RUN: girih compile %s --target sm_120a --emit cubin -o %t.sm_120a.cubin
// CHECK: right: {{[CY]}}:

!rows = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!halves = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!bytes = memref<?x?xi8, strided<[?, 1]>, #tile.global>
!bytes_t = memref<?x?xi8, strided<[1, ?]>, #tile.global>

// Two neighbours in a byte, the first in its lower half.
tile.kernel @pack(%X: !rows, %Y: !bytes) threads(64) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %M = memref.dim %X, %c0 : !rows
  %down = arith.ceildivui %M, %c8 : index
  tile.grid %down, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %bx = tile.block_id x
  %row = arith.muli %bx, %c8 : index
  %x = tile.load %X[%row, %c0] : !rows -> tensor<8x128xf32>
  %four = arith.truncf %x : tensor<8x128xf32> to tensor<8x128xf4E2M1FN>
  %y = tile.bitcast %four : tensor<8x128xf4E2M1FN> -> tensor<8x64xi8>
  tile.store %y, %Y[%row, %c0] : tensor<8x64xi8>, !bytes
}

func.func @pack_ref(%X: memref<?x?xf32>, %Y: memref<?x?xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : i8
  %M = memref.dim %Y, %c0 : memref<?x?xi8>
  %N = memref.dim %Y, %c1 : memref<?x?xi8>
  scf.for %m = %c0 to %M step %c1 {
    scf.for %n = %c0 to %N step %c1 {
      %first = arith.muli %n, %c2 : index
      %second = arith.addi %first, %c1 : index
      %x = memref.load %X[%m, %first] : memref<?x?xf32>
      %y = memref.load %X[%m, %second] : memref<?x?xf32>
      %low = arith.truncf %x : f32 to f4E2M1FN
      %high = arith.truncf %y : f32 to f4E2M1FN
      %low_code = arith.bitcast %low : f4E2M1FN to i4
      %high_code = arith.bitcast %high : f4E2M1FN to i4
      %low_byte = arith.extui %low_code : i4 to i8
      %high_byte = arith.extui %high_code : i4 to i8
      %moved = arith.shli %high_byte, %c4 : i8
      %both = arith.ori %low_byte, %moved : i8
      memref.store %both, %Y[%m, %n] : memref<?x?xi8>
    }
  }
  return
}

// Weights of 4 bits and numbers of 16, which every target multiplies.
tile.kernel @widened(%A: !halves, %B: !bytes_t, %C: !rows) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %M = memref.dim %C, %c0 : !rows
  %N = memref.dim %C, %c1 : !rows
  %down = arith.ceildivui %M, %c32 : index
  %across = arith.ceildivui %N, %c32 : index
  tile.grid %down, %across, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %K = memref.dim %B, %c0 : !bytes_t
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %c32 : index
  %column = arith.muli %by, %c32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %k = %c0 to %K step %c32 iter_args(%acc = %zero) -> (tensor<32x32xf32>) {
    %k_whole = arith.muli %k, %c2 : index
    %a = tile.load %A[%row, %k_whole] : !halves -> tensor<32x64xbf16>
    %b_bytes = tile.load %B[%k, %column] : !bytes_t -> tensor<32x32xi8>
    %b_small = tile.bitcast %b_bytes : tensor<32x32xi8> -> tensor<64x32xf4E2M1FN>
    %b = arith.extf %b_small : tensor<64x32xf4E2M1FN> to tensor<64x32xbf16>
    %next = tile.mma %a, %b, %acc : tensor<32x64xbf16>, tensor<64x32xbf16>, tensor<32x32xf32>
    scf.yield %next : tensor<32x32xf32>
  }
  tile.store %sum, %C[%row, %column] : tensor<32x32xf32>, !rows
}

func.func @widened_ref(%A: memref<?x?xbf16>, %B: memref<?x?xi8, strided<[1, ?]>>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : i8
  %zero = arith.constant 0.0 : f32
  %M = memref.dim %C, %c0 : memref<?x?xf32>
  %N = memref.dim %C, %c1 : memref<?x?xf32>
  %K = memref.dim %B, %c0 : memref<?x?xi8, strided<[1, ?]>>
  scf.for %m = %c0 to %M step %c1 {
    scf.for %n = %c0 to %N step %c1 {
      %sum = scf.for %k = %c0 to %K step %c1 iter_args(%acc = %zero) -> (f32) {
        %first = arith.muli %k, %c2 : index
        %second = arith.addi %first, %c1 : index
        %a0 = memref.load %A[%m, %first] : memref<?x?xbf16>
        %a1 = memref.load %A[%m, %second] : memref<?x?xbf16>
        %both = memref.load %B[%k, %n] : memref<?x?xi8, strided<[1, ?]>>
        %high = arith.shrui %both, %c4 : i8
        %low_code = arith.trunci %both : i8 to i4
        %high_code = arith.trunci %high : i8 to i4
        %b0 = arith.bitcast %low_code : i4 to f4E2M1FN
        %b1 = arith.bitcast %high_code : i4 to f4E2M1FN
        %x0 = arith.extf %a0 : bf16 to f32
        %x1 = arith.extf %a1 : bf16 to f32
        %y0 = arith.extf %b0 : f4E2M1FN to f32
        %y1 = arith.extf %b1 : f4E2M1FN to f32
        %p0 = arith.mulf %x0, %y0 : f32
        %p1 = arith.mulf %x1, %y1 : f32
        %s0 = arith.addf %acc, %p0 : f32
        %s1 = arith.addf %s0, %p1 : f32
        scf.yield %s1 : f32
      }
      memref.store %sum, %C[%m, %n] : memref<?x?xf32>
    }
  }
  return
}
