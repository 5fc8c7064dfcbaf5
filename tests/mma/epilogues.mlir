// What people write around a product. All of it is the consumers' business: operands still go straight to shared memory, and a
// warpgroup of its own copies them ahead.
//
// RUN: girih run %s --kernel bias --device sim --check-memory --arg A=randn:bf16[72,200] --arg B=randn:bf16[136,200] --arg bias=randn:f32[136] --arg C=poison:bf16[72,136] | FileCheck %s
// RUN: girih run %s --kernel bias --device sim --check-memory --arg A=randn:bf16[66,67] --arg B=randn:bf16[70,67] --arg bias=randn:f32[70] --arg C=poison:bf16[66,70] | FileCheck %s
// RUN: girih run %s --kernel gelu --device sim --check-memory --arg A=randn:bf16[65,130] --arg B=randn:bf16[66,130] --arg bias=randn:bf16[66] --arg C=poison:bf16[65,66] | FileCheck %s
// RUN: girih run %s --kernel update --device sim --check-memory --arg A=randn:bf16[72,200] --arg B=randn:bf16[136,200] --arg C=randn:f32[72,136] --arg alpha=f32:0.5 --arg beta=f32:-1.25 | FileCheck %s
// RUN: girih run %s --kernel update --device sim --check-memory --arg A=randn:bf16[66,67] --arg B=randn:bf16[70,67] --arg C=randn:f32[66,70] --arg alpha=f32:0.5 --arg beta=f32:-1.25 | FileCheck %s
// RUN: girih run %s --kernel scales --device sim --check-memory --arg A=randn:bf16[72,200] --arg B=randn:bf16[136,200] --arg R=randn:f16[72,136] --arg rows=randn:f32[72] --arg columns=randn:f32[136] --arg C=poison:f16[72,136] | FileCheck %s
// RUN: girih run %s --kernel scales --device sim --check-memory --arg A=randn:bf16[66,67] --arg B=randn:bf16[70,67] --arg R=randn:f16[66,70] --arg rows=randn:f32[66] --arg columns=randn:f32[70] --arg C=poison:f16[66,70] | FileCheck %s
// RUN: girih compile %s -o %t.ptx 2> %t.remarks
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: FileCheck %s --check-prefix=REMARKS --allow-empty < %t.remarks
// CHECK: right: C:
// PTX-LABEL: .entry bias(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// PTX-LABEL: .entry gelu(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// PTX-LABEL: .entry update(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// PTX-LABEL: .entry scales(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// PTX-NOT: mma.sync.
// REMARKS-NOT: remark

module attributes {tile.target = "sm_90a"} {

// A bias of f32, and ReLU.
tile.kernel @bias(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %bias: memref<?xf32, #tile.global>, %C: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %M = memref.dim %A, %c0 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %N = memref.dim %B, %c0 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
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
    %b_t = tile.load %B[%col, %k] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<64x64xbf16>
    %b = tile.transpose %b_t order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %next = tile.mma %a, %b, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %v = tile.load %bias[%col] : memref<?xf32, #tile.global> -> tensor<64xf32>
  %biases_1 = tile.expand_dims %v axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %biases = tile.broadcast %biases_1 : tensor<1x64xf32> -> tensor<64x64xf32>
  %shifted = arith.addf %sum, %biases : tensor<64x64xf32>
  %relu = arith.maximumf %shifted, %zero : tensor<64x64xf32>
  %out = arith.truncf %relu : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %out, %C[%row, %col] : tensor<64x64xbf16>, memref<?x?xbf16, strided<[?, 1]>, #tile.global>
}

// A bias of bf16 that is loaded before the loop, and GELU.
tile.kernel @gelu(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %bias: memref<?xbf16, #tile.global>, %C: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %M = memref.dim %A, %c0 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %N = memref.dim %B, %c0 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
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
  %v = tile.load %bias[%col] : memref<?xbf16, #tile.global> -> tensor<64xbf16>
  %v32 = arith.extf %v : tensor<64xbf16> to tensor<64xf32>
  %biases_1 = tile.expand_dims %v32 axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %biases = tile.broadcast %biases_1 : tensor<1x64xf32> -> tensor<64x64xf32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %a = tile.load %A[%row, %k] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<64x64xbf16>
    %b_t = tile.load %B[%col, %k] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<64x64xbf16>
    %b = tile.transpose %b_t order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %next = tile.mma %a, %b, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %one = arith.constant dense<1.0> : tensor<64x64xf32>
  %root = arith.constant dense<0.70710678> : tensor<64x64xf32>
  %x = arith.addf %sum, %biases : tensor<64x64xf32>
  %scaled = arith.mulf %x, %root : tensor<64x64xf32>
  %erf = math.erf %scaled : tensor<64x64xf32>
  %plus = arith.addf %erf, %one : tensor<64x64xf32>
  %x_half = arith.mulf %x, %half : tensor<64x64xf32>
  %gelu = arith.mulf %x_half, %plus : tensor<64x64xf32>
  %out = arith.truncf %gelu : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %out, %C[%row, %col] : tensor<64x64xbf16>, memref<?x?xbf16, strided<[?, 1]>, #tile.global>
}

// alpha A B + beta C, in place.
tile.kernel @update(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %alpha: f32, %beta: f32) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %M = memref.dim %A, %c0 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %N = memref.dim %B, %c0 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
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
    %b_t = tile.load %B[%col, %k] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<64x64xbf16>
    %b = tile.transpose %b_t order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %next = tile.mma %a, %b, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %old = tile.load %C[%row, %col] : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<64x64xf32>
  %alphas = tile.splat %alpha : f32 -> tensor<64x64xf32>
  %betas = tile.splat %beta : f32 -> tensor<64x64xf32>
  %new = arith.mulf %sum, %alphas : tensor<64x64xf32>
  %kept = arith.mulf %old, %betas : tensor<64x64xf32>
  %out = arith.addf %new, %kept : tensor<64x64xf32>
  tile.store %out, %C[%row, %col] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

// Scales of rows and of columns, and a residual; f16 out.
tile.kernel @scales(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %R: memref<?x?xf16, strided<[?, 1]>, #tile.global>, %rows: memref<?xf32, #tile.global>, %columns: memref<?xf32, #tile.global>, %C: memref<?x?xf16, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 64 : index
  %n = arith.constant 64 : index
  %M = memref.dim %A, %c0 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %N = memref.dim %B, %c0 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
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
    %b_t = tile.load %B[%col, %k] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<64x64xbf16>
    %b = tile.transpose %b_t order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %next = tile.mma %a, %b, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %rs = tile.load %rows[%row] : memref<?xf32, #tile.global> -> tensor<64xf32>
  %cs = tile.load %columns[%col] : memref<?xf32, #tile.global> -> tensor<64xf32>
  %row_scales_1 = tile.expand_dims %rs axis 1 : tensor<64xf32> -> tensor<64x1xf32>
  %row_scales = tile.broadcast %row_scales_1 : tensor<64x1xf32> -> tensor<64x64xf32>
  %column_scales_1 = tile.expand_dims %cs axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %column_scales = tile.broadcast %column_scales_1 : tensor<1x64xf32> -> tensor<64x64xf32>
  %half = arith.mulf %sum, %row_scales : tensor<64x64xf32>
  %scaled = arith.mulf %half, %column_scales : tensor<64x64xf32>
  %residual = tile.load %R[%row, %col] : memref<?x?xf16, strided<[?, 1]>, #tile.global> -> tensor<64x64xf16>
  %wide = arith.extf %residual : tensor<64x64xf16> to tensor<64x64xf32>
  %all = arith.addf %scaled, %wide : tensor<64x64xf32>
  %out = arith.truncf %all : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %out, %C[%row, %col] : tensor<64x64xf16>, memref<?x?xf16, strided<[?, 1]>, #tile.global>
}

func.func @bias_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[?, 1]>>, %bias: memref<?xf32>, %C: memref<?x?xbf16, strided<[?, 1]>>) attributes {girih.tol = 1.0e-2 : f64} {
  %c0 = arith.constant 0 : index
  %M = memref.dim %A, %c0 : memref<?x?xbf16, strided<[?, 1]>>
  %N = memref.dim %B, %c0 : memref<?x?xbf16, strided<[?, 1]>>
  %zero = arith.constant 0.0 : f32
  %S = memref.alloc(%M, %N) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%S : memref<?x?xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[?, 1]>>) outs(%S : memref<?x?xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %p = arith.extf %a : bf16 to f32
      %q = arith.extf %b : bf16 to f32
      %x = arith.mulf %p, %q : f32
      %t = arith.addf %c, %x : f32
      linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%S, %bias : memref<?x?xf32>, memref<?xf32>) outs(%C : memref<?x?xbf16, strided<[?, 1]>>) {
    ^bb0(%s: f32, %bias_: f32, %old: bf16):
      %u = arith.addf %s, %bias_ : f32
      %w = arith.maximumf %u, %zero : f32
      %r = arith.truncf %w : f32 to bf16
      linalg.yield %r : bf16
  }
  memref.dealloc %S : memref<?x?xf32>
  return
}

func.func @gelu_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[?, 1]>>, %bias: memref<?xbf16>, %C: memref<?x?xbf16, strided<[?, 1]>>) attributes {girih.tol = 1.0e-2 : f64} {
  %c0 = arith.constant 0 : index
  %M = memref.dim %A, %c0 : memref<?x?xbf16, strided<[?, 1]>>
  %N = memref.dim %B, %c0 : memref<?x?xbf16, strided<[?, 1]>>
  %zero = arith.constant 0.0 : f32
  %S = memref.alloc(%M, %N) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%S : memref<?x?xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[?, 1]>>) outs(%S : memref<?x?xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %p = arith.extf %a : bf16 to f32
      %q = arith.extf %b : bf16 to f32
      %x = arith.mulf %p, %q : f32
      %t = arith.addf %c, %x : f32
      linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%S, %bias : memref<?x?xf32>, memref<?xbf16>) outs(%C : memref<?x?xbf16, strided<[?, 1]>>) {
    ^bb0(%s: f32, %bias_: bf16, %old: bf16):
      %half = arith.constant 0.5 : f32
      %one = arith.constant 1.0 : f32
      %root = arith.constant 0.70710678 : f32
      %wide = arith.extf %bias_ : bf16 to f32
      %u = arith.addf %s, %wide : f32
      %v = arith.mulf %u, %root : f32
      %e = math.erf %v : f32
      %f = arith.addf %e, %one : f32
      %g = arith.mulf %u, %half : f32
      %h = arith.mulf %g, %f : f32
      %r = arith.truncf %h : f32 to bf16
      linalg.yield %r : bf16
  }
  memref.dealloc %S : memref<?x?xf32>
  return
}

func.func @update_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[?, 1]>>, %C: memref<?x?xf32, strided<[?, 1]>>, %alpha: f32, %beta: f32) attributes {girih.tol = 1.0e-3 : f64} {
  %c0 = arith.constant 0 : index
  %M = memref.dim %A, %c0 : memref<?x?xbf16, strided<[?, 1]>>
  %N = memref.dim %B, %c0 : memref<?x?xbf16, strided<[?, 1]>>
  %zero = arith.constant 0.0 : f32
  %S = memref.alloc(%M, %N) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%S : memref<?x?xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[?, 1]>>) outs(%S : memref<?x?xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %p = arith.extf %a : bf16 to f32
      %q = arith.extf %b : bf16 to f32
      %x = arith.mulf %p, %q : f32
      %t = arith.addf %c, %x : f32
      linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%S : memref<?x?xf32>) outs(%C : memref<?x?xf32, strided<[?, 1]>>) {
    ^bb0(%s: f32, %old: f32):
      %u = arith.mulf %s, %alpha : f32
      %w = arith.mulf %old, %beta : f32
      %r = arith.addf %u, %w : f32
      linalg.yield %r : f32
  }
  memref.dealloc %S : memref<?x?xf32>
  return
}

func.func @scales_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[?, 1]>>, %R: memref<?x?xf16, strided<[?, 1]>>, %rows: memref<?xf32>, %columns: memref<?xf32>, %C: memref<?x?xf16, strided<[?, 1]>>) attributes {girih.tol = 1.0e-2 : f64} {
  %c0 = arith.constant 0 : index
  %M = memref.dim %A, %c0 : memref<?x?xbf16, strided<[?, 1]>>
  %N = memref.dim %B, %c0 : memref<?x?xbf16, strided<[?, 1]>>
  %zero = arith.constant 0.0 : f32
  %S = memref.alloc(%M, %N) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%S : memref<?x?xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[?, 1]>>) outs(%S : memref<?x?xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %p = arith.extf %a : bf16 to f32
      %q = arith.extf %b : bf16 to f32
      %x = arith.mulf %p, %q : f32
      %t = arith.addf %c, %x : f32
      linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%S, %R, %rows, %columns : memref<?x?xf32>, memref<?x?xf16, strided<[?, 1]>>, memref<?xf32>, memref<?xf32>) outs(%C : memref<?x?xf16, strided<[?, 1]>>) {
    ^bb0(%s: f32, %r_: f16, %rows_: f32, %columns_: f32, %old: f16):
      %u = arith.mulf %s, %rows_ : f32
      %v = arith.mulf %u, %columns_ : f32
      %wide = arith.extf %r_ : f16 to f32
      %w = arith.addf %v, %wide : f32
      %r = arith.truncf %w : f32 to f16
      linalg.yield %r : f16
  }
  memref.dealloc %S : memref<?x?xf32>
  return
}

}
