// Operands whose axes are exchanged as tiles: B kept N x K, as the weights of a linear layer are, and A kept K x M. Tensor copies
// bring them to where wgmma reads them, and nothing is transposed: 16-bit numbers may be contiguous along either axis, others
// along K.
//
// RUN: girih run %s --kernel nt --device sim --check-memory --arg A=randn:bf16[72,200] --arg B=randn:bf16[136,200] --arg C=poison:f32[72,136] | FileCheck %s
// RUN: girih run %s --kernel nt --device sim --check-memory --arg A=randn:bf16[66,67] --arg B=randn:bf16[70,67] --arg C=poison:f32[66,70] | FileCheck %s
// RUN: girih run %s --kernel tn --device sim --check-memory --arg A=randn:f16[100,136] --arg B=randn:f16[100,72] --arg C=poison:f32[136,72] | FileCheck %s
// RUN: girih run %s --kernel tn --device sim --check-memory --arg A=randn:f16[33,67] --arg B=randn:f16[33,65] --arg C=poison:f32[67,65] | FileCheck %s
// RUN: girih run %s --kernel tt --device sim --check-memory --arg A=randn:bf16[130,72] --arg B=randn:bf16[80,130] --arg C=poison:f32[72,80] | FileCheck %s
// RUN: girih run %s --kernel nt_e4m3 --device sim --check-memory --arg A=randn:e4m3[65,208] --arg B=randn:e4m3[66,208] --arg C=poison:f32[65,66] | FileCheck %s
// RUN: girih run %s --kernel nt_e4m3 --device sim --check-memory --arg A=randn:e4m3[5,9] --arg B=randn:e4m3[7,9] --arg C=poison:f32[5,7] | FileCheck %s
// RUN: girih run %s --kernel nt_i8 --device sim --check-memory --arg 'A=uniform(low=-128,high=127):i8[65,144]' --arg 'B=uniform(low=-128,high=127):i8[66,144]' --arg C=poison:i32[65,66] | FileCheck %s
// RUN: girih run %s --kernel nt_tf32 --device sim --check-memory --arg A=randn:f32[65,68] --arg B=randn:f32[66,68] --arg C=poison:f32[65,66] | FileCheck %s
// RUN: girih run %s --kernel nt_tf32 --device sim --check-memory --arg A=randn:f32[33,35] --arg B=randn:f32[34,35] --arg C=poison:f32[33,34] | FileCheck %s
// RUN: girih compile %s -o %t.ptx 2> %t.remarks
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: FileCheck %s --check-prefix=REMARKS --allow-empty < %t.remarks
// CHECK: right: C:
// Every kernel has its products, its tensor copies and a producer, whose registers are few.
// PTX-LABEL: .entry nt(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// PTX-LABEL: .entry tn(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// PTX-LABEL: .entry tt(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// PTX-LABEL: .entry nt_e4m3(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3
// PTX-LABEL: .entry nt_i8(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8
// PTX-LABEL: .entry nt_tf32(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32
// PTX-NOT: mma.sync.
// REMARKS-NOT: copied by threads
// REMARKS-NOT: held by all

module attributes {tile.target = "sm_90a"} {

tile.kernel @nt(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
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
  %K = memref.dim %A, %c1 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %m : index
  %col = arith.muli %by, %n : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %a = tile.load %A[%row, %k] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<64x64xbf16>
    %bt = tile.load %B[%col, %k] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<64x64xbf16>
    %b = tile.transpose %bt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %next = tile.mma %a, %b, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

tile.kernel @tn(%A: memref<?x?xf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf16, strided<[?, 1]>, #tile.global>, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
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
  %K = memref.dim %A, %c0 : memref<?x?xf16, strided<[?, 1]>, #tile.global>
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %m : index
  %col = arith.muli %by, %n : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %at = tile.load %A[%k, %row] : memref<?x?xf16, strided<[?, 1]>, #tile.global> -> tensor<64x64xf16>
    %a = tile.transpose %at order [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %b = tile.load %B[%k, %col] : memref<?x?xf16, strided<[?, 1]>, #tile.global> -> tensor<64x64xf16>
    %next = tile.mma %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

tile.kernel @tt(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
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
  %K = memref.dim %A, %c0 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %m : index
  %col = arith.muli %by, %n : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %at = tile.load %A[%k, %row] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<64x64xbf16>
    %a = tile.transpose %at order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %bt = tile.load %B[%col, %k] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<64x64xbf16>
    %b = tile.transpose %bt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %next = tile.mma %a, %b, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

tile.kernel @nt_e4m3(%A: memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
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
  %K = memref.dim %A, %c1 : memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %m : index
  %col = arith.muli %by, %n : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %a = tile.load %A[%row, %k] : memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global> -> tensor<64x64xf8E4M3FN>
    %bt = tile.load %B[%col, %k] : memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global> -> tensor<64x64xf8E4M3FN>
    %b = tile.transpose %bt order [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %next = tile.mma %a, %b, %acc : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

tile.kernel @nt_i8(%A: memref<?x?xi8, strided<[?, 1]>, #tile.global>, %B: memref<?x?xi8, strided<[?, 1]>, #tile.global>, %C: memref<?x?xi32, strided<[?, 1]>, #tile.global>) threads(128) launch {
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

tile.kernel @nt_tf32(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
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
  %K = memref.dim %A, %c1 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %m : index
  %col = arith.muli %by, %n : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %a = tile.load %A[%row, %k] : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<64x64xf32>
    %bt = tile.load %B[%col, %k] : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<64x64xf32>
    %b = tile.transpose %bt order [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
    %next = tile.mma %a, %b, %acc : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %C[%row, %col] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

func.func @nt_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[?, 1]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[?, 1]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %p = arith.extf %a : bf16 to f32
      %q = arith.extf %b : bf16 to f32
      %x = arith.mulf %p, %q : f32
      %t = arith.addf %c, %x : f32
      linalg.yield %t : f32
  }
  return
}

func.func @tn_ref(%A: memref<?x?xf16, strided<[?, 1]>>, %B: memref<?x?xf16, strided<[?, 1]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xf16, strided<[?, 1]>>, memref<?x?xf16, strided<[?, 1]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %p = arith.extf %a : f16 to f32
      %q = arith.extf %b : f16 to f32
      %x = arith.mulf %p, %q : f32
      %t = arith.addf %c, %x : f32
      linalg.yield %t : f32
  }
  return
}

func.func @tt_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[?, 1]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[?, 1]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %p = arith.extf %a : bf16 to f32
      %q = arith.extf %b : bf16 to f32
      %x = arith.mulf %p, %q : f32
      %t = arith.addf %c, %x : f32
      linalg.yield %t : f32
  }
  return
}

// The sums keep fewer bits than f32 has.
func.func @nt_e4m3_ref(%A: memref<?x?xf8E4M3FN, strided<[?, 1]>>, %B: memref<?x?xf8E4M3FN, strided<[?, 1]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product", girih.tol = 1.0e-3 : f64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xf8E4M3FN, strided<[?, 1]>>, memref<?x?xf8E4M3FN, strided<[?, 1]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>) {
    ^bb0(%a: f8E4M3FN, %b: f8E4M3FN, %c: f32):
      %p = arith.extf %a : f8E4M3FN to f32
      %q = arith.extf %b : f8E4M3FN to f32
      %x = arith.mulf %p, %q : f32
      %t = arith.addf %c, %x : f32
      linalg.yield %t : f32
  }
  return
}

func.func @nt_i8_ref(%A: memref<?x?xi8, strided<[?, 1]>>, %B: memref<?x?xi8, strided<[?, 1]>>, %C: memref<?x?xi32, strided<[?, 1]>>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<?x?xi32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xi8, strided<[?, 1]>>, memref<?x?xi8, strided<[?, 1]>>) outs(%C : memref<?x?xi32, strided<[?, 1]>>) {
    ^bb0(%a: i8, %b: i8, %c: i32):
      %p = arith.extsi %a : i8 to i32
      %q = arith.extsi %b : i8 to i32
      %x = arith.muli %p, %q : i32
      %t = arith.addi %c, %x : i32
      linalg.yield %t : i32
  }
  return
}

func.func @nt_tf32_ref(%A: memref<?x?xf32, strided<[?, 1]>>, %B: memref<?x?xf32, strided<[?, 1]>>, %C: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.measure = "product", girih.tol = 2.0e-3 : f64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xf32, strided<[?, 1]>>, memref<?x?xf32, strided<[?, 1]>>) outs(%C : memref<?x?xf32, strided<[?, 1]>>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %x = arith.mulf %a, %b : f32
      %t = arith.addf %c, %x : f32
      linalg.yield %t : f32
  }
  return
}

}
