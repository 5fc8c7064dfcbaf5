// Every kind of number that wgmma has, along K, with B by columns and as rows of its columns: tensor copies, and a warpgroup for them.
//
// RUN: girih compile %s -o %t.ptx 2> %t.remarks
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: FileCheck %s --check-prefix=REMARKS --allow-empty < %t.remarks
// PTX-LABEL: .entry e5m2_columns(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k32.f32.e5m2.e5m2
// PTX-LABEL: .entry e5m2_rows(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k32.f32.e5m2.e5m2
// PTX-LABEL: .entry u8_columns(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.u8
// PTX-LABEL: .entry u8_rows(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.u8
// PTX-LABEL: .entry s8_columns(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8
// PTX-LABEL: .entry s8_rows(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8
// PTX-LABEL: .entry e4m3_f16_columns(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k32.f16.e4m3.e4m3
// PTX-LABEL: .entry e4m3_f16_rows(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k32.f16.e4m3.e4m3
// PTX-LABEL: .entry f16_f16_columns(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16
// PTX-LABEL: .entry f16_f16_rows(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16
// PTX-LABEL: .entry tf32_columns(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32
// PTX-LABEL: .entry tf32_rows(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32
// PTX-NOT: mma.sync.
// REMARKS-NOT: remark

module attributes {tile.target = "sm_90a"} {

tile.kernel @e5m2_columns(%A: memref<?x?xf8E5M2, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf8E5M2, strided<[1, ?]>, #tile.global>, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %M = memref.dim %C, %c0 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %N = memref.dim %C, %c1 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %tiles_m = arith.ceildivui %M, %m : index
  %tiles_n = arith.ceildivui %N, %n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %step = arith.constant 64 : index
  %K = memref.dim %A, %c1 : memref<?x?xf8E5M2, strided<[?, 1]>, #tile.global>
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %m : index
  %col = arith.muli %by, %n : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %a = tile.load %A[%row, %k] : memref<?x?xf8E5M2, strided<[?, 1]>, #tile.global> -> tensor<64x64xf8E5M2>
    %b = tile.load %B[%k, %col] : memref<?x?xf8E5M2, strided<[1, ?]>, #tile.global> -> tensor<64x64xf8E5M2>
    %next = tile.mma %a, %b, %acc : tensor<64x64xf8E5M2>, tensor<64x64xf8E5M2>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

tile.kernel @e5m2_rows(%A: memref<?x?xf8E5M2, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf8E5M2, strided<[?, 1]>, #tile.global>, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %M = memref.dim %C, %c0 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %N = memref.dim %C, %c1 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %tiles_m = arith.ceildivui %M, %m : index
  %tiles_n = arith.ceildivui %N, %n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %step = arith.constant 64 : index
  %K = memref.dim %A, %c1 : memref<?x?xf8E5M2, strided<[?, 1]>, #tile.global>
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %m : index
  %col = arith.muli %by, %n : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %a = tile.load %A[%row, %k] : memref<?x?xf8E5M2, strided<[?, 1]>, #tile.global> -> tensor<64x64xf8E5M2>
    %bt = tile.load %B[%col, %k] : memref<?x?xf8E5M2, strided<[?, 1]>, #tile.global> -> tensor<64x64xf8E5M2>
    %b = tile.transpose %bt order [1, 0] : tensor<64x64xf8E5M2> -> tensor<64x64xf8E5M2>
    %next = tile.mma %a, %b, %acc : tensor<64x64xf8E5M2>, tensor<64x64xf8E5M2>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

tile.kernel @u8_columns(%A: memref<?x?xi8, strided<[?, 1]>, #tile.global>, %B: memref<?x?xi8, strided<[1, ?]>, #tile.global>, %C: memref<?x?xi32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %M = memref.dim %C, %c0 : memref<?x?xi32, strided<[?, 1]>, #tile.global>
  %N = memref.dim %C, %c1 : memref<?x?xi32, strided<[?, 1]>, #tile.global>
  %tiles_m = arith.ceildivui %M, %m : index
  %tiles_n = arith.ceildivui %N, %n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %step = arith.constant 64 : index
  %K = memref.dim %A, %c1 : memref<?x?xi8, strided<[?, 1]>, #tile.global>
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %m : index
  %col = arith.muli %by, %n : index
  %zero = arith.constant dense<0> : tensor<64x64xi32>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<64x64xi32>) {
    %a = tile.load %A[%row, %k] : memref<?x?xi8, strided<[?, 1]>, #tile.global> -> tensor<64x64xi8>
    %b = tile.load %B[%k, %col] : memref<?x?xi8, strided<[1, ?]>, #tile.global> -> tensor<64x64xi8>
    %next = tile.mma %a, %b, %acc {unsigned_a, unsigned_b} : tensor<64x64xi8>, tensor<64x64xi8>, tensor<64x64xi32>
    scf.yield %next : tensor<64x64xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x64xi32>, memref<?x?xi32, strided<[?, 1]>, #tile.global>
}

tile.kernel @u8_rows(%A: memref<?x?xi8, strided<[?, 1]>, #tile.global>, %B: memref<?x?xi8, strided<[?, 1]>, #tile.global>, %C: memref<?x?xi32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %M = memref.dim %C, %c0 : memref<?x?xi32, strided<[?, 1]>, #tile.global>
  %N = memref.dim %C, %c1 : memref<?x?xi32, strided<[?, 1]>, #tile.global>
  %tiles_m = arith.ceildivui %M, %m : index
  %tiles_n = arith.ceildivui %N, %n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %step = arith.constant 64 : index
  %K = memref.dim %A, %c1 : memref<?x?xi8, strided<[?, 1]>, #tile.global>
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %m : index
  %col = arith.muli %by, %n : index
  %zero = arith.constant dense<0> : tensor<64x64xi32>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<64x64xi32>) {
    %a = tile.load %A[%row, %k] : memref<?x?xi8, strided<[?, 1]>, #tile.global> -> tensor<64x64xi8>
    %bt = tile.load %B[%col, %k] : memref<?x?xi8, strided<[?, 1]>, #tile.global> -> tensor<64x64xi8>
    %b = tile.transpose %bt order [1, 0] : tensor<64x64xi8> -> tensor<64x64xi8>
    %next = tile.mma %a, %b, %acc {unsigned_a, unsigned_b} : tensor<64x64xi8>, tensor<64x64xi8>, tensor<64x64xi32>
    scf.yield %next : tensor<64x64xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x64xi32>, memref<?x?xi32, strided<[?, 1]>, #tile.global>
}

tile.kernel @s8_columns(%A: memref<?x?xi8, strided<[?, 1]>, #tile.global>, %B: memref<?x?xi8, strided<[1, ?]>, #tile.global>, %C: memref<?x?xi32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %M = memref.dim %C, %c0 : memref<?x?xi32, strided<[?, 1]>, #tile.global>
  %N = memref.dim %C, %c1 : memref<?x?xi32, strided<[?, 1]>, #tile.global>
  %tiles_m = arith.ceildivui %M, %m : index
  %tiles_n = arith.ceildivui %N, %n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %step = arith.constant 64 : index
  %K = memref.dim %A, %c1 : memref<?x?xi8, strided<[?, 1]>, #tile.global>
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %m : index
  %col = arith.muli %by, %n : index
  %zero = arith.constant dense<0> : tensor<64x64xi32>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<64x64xi32>) {
    %a = tile.load %A[%row, %k] : memref<?x?xi8, strided<[?, 1]>, #tile.global> -> tensor<64x64xi8>
    %b = tile.load %B[%k, %col] : memref<?x?xi8, strided<[1, ?]>, #tile.global> -> tensor<64x64xi8>
    %next = tile.mma %a, %b, %acc : tensor<64x64xi8>, tensor<64x64xi8>, tensor<64x64xi32>
    scf.yield %next : tensor<64x64xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x64xi32>, memref<?x?xi32, strided<[?, 1]>, #tile.global>
}

tile.kernel @s8_rows(%A: memref<?x?xi8, strided<[?, 1]>, #tile.global>, %B: memref<?x?xi8, strided<[?, 1]>, #tile.global>, %C: memref<?x?xi32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %M = memref.dim %C, %c0 : memref<?x?xi32, strided<[?, 1]>, #tile.global>
  %N = memref.dim %C, %c1 : memref<?x?xi32, strided<[?, 1]>, #tile.global>
  %tiles_m = arith.ceildivui %M, %m : index
  %tiles_n = arith.ceildivui %N, %n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %step = arith.constant 64 : index
  %K = memref.dim %A, %c1 : memref<?x?xi8, strided<[?, 1]>, #tile.global>
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %m : index
  %col = arith.muli %by, %n : index
  %zero = arith.constant dense<0> : tensor<64x64xi32>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<64x64xi32>) {
    %a = tile.load %A[%row, %k] : memref<?x?xi8, strided<[?, 1]>, #tile.global> -> tensor<64x64xi8>
    %bt = tile.load %B[%col, %k] : memref<?x?xi8, strided<[?, 1]>, #tile.global> -> tensor<64x64xi8>
    %b = tile.transpose %bt order [1, 0] : tensor<64x64xi8> -> tensor<64x64xi8>
    %next = tile.mma %a, %b, %acc : tensor<64x64xi8>, tensor<64x64xi8>, tensor<64x64xi32>
    scf.yield %next : tensor<64x64xi32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x64xi32>, memref<?x?xi32, strided<[?, 1]>, #tile.global>
}

tile.kernel @e4m3_f16_columns(%A: memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf8E4M3FN, strided<[1, ?]>, #tile.global>, %C: memref<?x?xf16, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %M = memref.dim %C, %c0 : memref<?x?xf16, strided<[?, 1]>, #tile.global>
  %N = memref.dim %C, %c1 : memref<?x?xf16, strided<[?, 1]>, #tile.global>
  %tiles_m = arith.ceildivui %M, %m : index
  %tiles_n = arith.ceildivui %N, %n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %step = arith.constant 64 : index
  %K = memref.dim %A, %c1 : memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %m : index
  %col = arith.muli %by, %n : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf16>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<64x64xf16>) {
    %a = tile.load %A[%row, %k] : memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global> -> tensor<64x64xf8E4M3FN>
    %b = tile.load %B[%k, %col] : memref<?x?xf8E4M3FN, strided<[1, ?]>, #tile.global> -> tensor<64x64xf8E4M3FN>
    %next = tile.mma %a, %b, %acc : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf16>
    scf.yield %next : tensor<64x64xf16>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x64xf16>, memref<?x?xf16, strided<[?, 1]>, #tile.global>
}

tile.kernel @e4m3_f16_rows(%A: memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>, %C: memref<?x?xf16, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %M = memref.dim %C, %c0 : memref<?x?xf16, strided<[?, 1]>, #tile.global>
  %N = memref.dim %C, %c1 : memref<?x?xf16, strided<[?, 1]>, #tile.global>
  %tiles_m = arith.ceildivui %M, %m : index
  %tiles_n = arith.ceildivui %N, %n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %step = arith.constant 64 : index
  %K = memref.dim %A, %c1 : memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %m : index
  %col = arith.muli %by, %n : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf16>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<64x64xf16>) {
    %a = tile.load %A[%row, %k] : memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global> -> tensor<64x64xf8E4M3FN>
    %bt = tile.load %B[%col, %k] : memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global> -> tensor<64x64xf8E4M3FN>
    %b = tile.transpose %bt order [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %next = tile.mma %a, %b, %acc : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf16>
    scf.yield %next : tensor<64x64xf16>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x64xf16>, memref<?x?xf16, strided<[?, 1]>, #tile.global>
}

tile.kernel @f16_f16_columns(%A: memref<?x?xf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf16, strided<[1, ?]>, #tile.global>, %C: memref<?x?xf16, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %M = memref.dim %C, %c0 : memref<?x?xf16, strided<[?, 1]>, #tile.global>
  %N = memref.dim %C, %c1 : memref<?x?xf16, strided<[?, 1]>, #tile.global>
  %tiles_m = arith.ceildivui %M, %m : index
  %tiles_n = arith.ceildivui %N, %n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %step = arith.constant 64 : index
  %K = memref.dim %A, %c1 : memref<?x?xf16, strided<[?, 1]>, #tile.global>
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %m : index
  %col = arith.muli %by, %n : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf16>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<64x64xf16>) {
    %a = tile.load %A[%row, %k] : memref<?x?xf16, strided<[?, 1]>, #tile.global> -> tensor<64x64xf16>
    %b = tile.load %B[%k, %col] : memref<?x?xf16, strided<[1, ?]>, #tile.global> -> tensor<64x64xf16>
    %next = tile.mma %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>
    scf.yield %next : tensor<64x64xf16>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x64xf16>, memref<?x?xf16, strided<[?, 1]>, #tile.global>
}

tile.kernel @f16_f16_rows(%A: memref<?x?xf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf16, strided<[?, 1]>, #tile.global>, %C: memref<?x?xf16, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %M = memref.dim %C, %c0 : memref<?x?xf16, strided<[?, 1]>, #tile.global>
  %N = memref.dim %C, %c1 : memref<?x?xf16, strided<[?, 1]>, #tile.global>
  %tiles_m = arith.ceildivui %M, %m : index
  %tiles_n = arith.ceildivui %N, %n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %step = arith.constant 64 : index
  %K = memref.dim %A, %c1 : memref<?x?xf16, strided<[?, 1]>, #tile.global>
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %m : index
  %col = arith.muli %by, %n : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf16>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<64x64xf16>) {
    %a = tile.load %A[%row, %k] : memref<?x?xf16, strided<[?, 1]>, #tile.global> -> tensor<64x64xf16>
    %bt = tile.load %B[%col, %k] : memref<?x?xf16, strided<[?, 1]>, #tile.global> -> tensor<64x64xf16>
    %b = tile.transpose %bt order [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %next = tile.mma %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>
    scf.yield %next : tensor<64x64xf16>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x64xf16>, memref<?x?xf16, strided<[?, 1]>, #tile.global>
}

tile.kernel @tf32_columns(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf32, strided<[1, ?]>, #tile.global>, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %M = memref.dim %C, %c0 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %N = memref.dim %C, %c1 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %tiles_m = arith.ceildivui %M, %m : index
  %tiles_n = arith.ceildivui %N, %n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %step = arith.constant 32 : index
  %K = memref.dim %A, %c1 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %m : index
  %col = arith.muli %by, %n : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %a = tile.load %A[%row, %k] : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<64x32xf32>
    %b = tile.load %B[%k, %col] : memref<?x?xf32, strided<[1, ?]>, #tile.global> -> tensor<32x64xf32>
    %next = tile.mma %a, %b, %acc : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

tile.kernel @tf32_rows(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %M = memref.dim %C, %c0 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %N = memref.dim %C, %c1 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %tiles_m = arith.ceildivui %M, %m : index
  %tiles_n = arith.ceildivui %N, %n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %step = arith.constant 32 : index
  %K = memref.dim %A, %c1 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %m : index
  %col = arith.muli %by, %n : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %a = tile.load %A[%row, %k] : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<64x32xf32>
    %bt = tile.load %B[%col, %k] : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<64x32xf32>
    %b = tile.transpose %bt order [1, 0] : tensor<64x32xf32> -> tensor<32x64xf32>
    %next = tile.mma %a, %b, %acc : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

}
