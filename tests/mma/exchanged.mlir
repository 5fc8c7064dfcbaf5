// What is computed from a product and goes between the threads that multiply: they exchange it among themselves, at a barrier of
// their own, while others copy the operands.
//
// RUN: girih run %s --kernel softmax --device sim --check-memory --arg A=randn:bf16[70,40] --arg B=randn:bf16[64,40] --arg C=poison:bf16[70,64] --arg top=poison:f32[70] | FileCheck %s
// RUN: girih run %s --kernel column_sums --device sim --check-memory --arg A=randn:bf16[61,136] --arg B=randn:bf16[130,136] --arg C=poison:f32[130,61] --arg sums=poison:f32[130] | FileCheck %s
// RUN: girih run %s --kernel gated --device sim --check-memory --arg A=randn:bf16[70,72] --arg B=randn:bf16[64,72] --arg C=poison:bf16[70,32] | FileCheck %s
// RUN: girih run %s --kernel split --device sim --check-memory --arg A=randn:bf16[70,72] --arg B=randn:bf16[192,72] --arg Q=poison:f32[70,64] --arg KV=poison:f32[70,128] | FileCheck %s
// RUN: girih compile %s -o %t.ptx 2> %t.remarks
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: FileCheck %s --check-prefix=REMARKS --allow-empty < %t.remarks
// CHECK-NOT: WRONG
// CHECK: right:
// CHECK-NOT: WRONG
// PTX-LABEL: .entry softmax(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// PTX-LABEL: .entry column_sums(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// PTX-LABEL: .entry gated(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// PTX-LABEL: .entry split(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.2d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// PTX-NOT: mma.sync.
// REMARKS-NOT: copies in the threads
// REMARKS-NOT: mma.sync

module attributes {tile.target = "sm_90a"} {

// The softmax of rows that are one tile wide, and the largest of each.
tile.kernel @softmax(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %C: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %top: memref<?xf32, #tile.global>) threads(128) launch {
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
  %top_row = tile.reduce %sum axis 1 (%p: f32, %q: f32) {
    %larger = arith.maximumf %p, %q : f32
    tile.yield %larger : f32
  } : tensor<64x64xf32> -> tensor<64xf32>
  %tops_1 = tile.expand_dims %top_row axis 1 : tensor<64xf32> -> tensor<64x1xf32>
  %tops = tile.broadcast %tops_1 : tensor<64x1xf32> -> tensor<64x64xf32>
  %below = arith.subf %sum, %tops : tensor<64x64xf32>
  %exp = math.exp %below : tensor<64x64xf32>
  %total = tile.reduce %exp axis 1 (%p: f32, %q: f32) {
    %both = arith.addf %p, %q : f32
    tile.yield %both : f32
  } : tensor<64x64xf32> -> tensor<64xf32>
  %totals_1 = tile.expand_dims %total axis 1 : tensor<64xf32> -> tensor<64x1xf32>
  %totals = tile.broadcast %totals_1 : tensor<64x1xf32> -> tensor<64x64xf32>
  %part = arith.divf %exp, %totals : tensor<64x64xf32>
  %out = arith.truncf %part : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %out, %C[%row, %col] : tensor<64x64xbf16>, memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  tile.store %top_row, %top[%row] : tensor<64xf32>, memref<?xf32, #tile.global>
}

// Sums of columns, for which warps meet, and an output with its axes exchanged, which goes through shared memory.
tile.kernel @column_sums(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %sums: memref<?xf32, #tile.global>) threads(128) launch {
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
  %column = tile.reduce %sum axis 0 (%p: f32, %q: f32) {
    %both = arith.addf %p, %q : f32
    tile.yield %both : f32
  } : tensor<64x64xf32> -> tensor<64xf32>
  tile.store %column, %sums[%col] : tensor<64xf32>, memref<?xf32, #tile.global>
  %turned = tile.transpose %sum order [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  tile.store %turned, %C[%col, %row] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

// The columns of a tile are gates and what they gate: half of them each, and half as many come out.
tile.kernel @gated(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %C: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) threads(128) launch {
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
  %gate = tile.extract_slice %sum at [0, 0] : tensor<64x64xf32> -> tensor<64x32xf32>
  %value = tile.extract_slice %sum at [0, 32] : tensor<64x64xf32> -> tensor<64x32xf32>
  %minus = arith.negf %gate : tensor<64x32xf32>
  %exp = math.exp %minus : tensor<64x32xf32>
  %one = arith.constant dense<1.0> : tensor<64x32xf32>
  %below = arith.addf %exp, %one : tensor<64x32xf32>
  %silu = arith.divf %gate, %below : tensor<64x32xf32>
  %y = arith.mulf %silu, %value : tensor<64x32xf32>
  %out = arith.truncf %y : tensor<64x32xf32> to tensor<64x32xbf16>
  tile.store %out, %C[%row, %c0] : tensor<64x32xbf16>, memref<?x?xbf16, strided<[?, 1]>, #tile.global>
}

// Two outputs: the first tile of columns goes to one, the others to the other.
tile.kernel @split(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %Q: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %KV: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
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
  %is_first = arith.cmpi eq, %by, %c0 : index
  %right = arith.subi %col, %n : index
  scf.if %is_first {
    tile.store %sum, %Q[%row, %c0] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
  } else {
    tile.store %sum, %KV[%row, %right] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
  }
}

func.func @softmax_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[?, 1]>>, %C: memref<?x?xbf16, strided<[?, 1]>>, %top: memref<?xf32>) attributes {girih.tol = 1.0e-2 : f64} {
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
  %lowest = arith.constant 0xFF800000 : f32
  linalg.fill ins(%lowest : f32) outs(%top : memref<?xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%S : memref<?x?xf32>) outs(%top : memref<?xf32>) {
    ^bb0(%s: f32, %t: f32):
      %larger = arith.maximumf %s, %t : f32
      linalg.yield %larger : f32
  }
  %total = memref.alloc(%M) : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%total : memref<?xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%S, %top : memref<?x?xf32>, memref<?xf32>) outs(%total : memref<?xf32>) {
    ^bb0(%s: f32, %t: f32, %all: f32):
      %below = arith.subf %s, %t : f32
      %exp = math.exp %below : f32
      %both = arith.addf %all, %exp : f32
      linalg.yield %both : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%S, %top, %total : memref<?x?xf32>, memref<?xf32>, memref<?xf32>) outs(%C : memref<?x?xbf16, strided<[?, 1]>>) {
    ^bb0(%s: f32, %t: f32, %all: f32, %old: bf16):
      %below = arith.subf %s, %t : f32
      %exp = math.exp %below : f32
      %part = arith.divf %exp, %all : f32
      %r = arith.truncf %part : f32 to bf16
      linalg.yield %r : bf16
  }
  memref.dealloc %total : memref<?xf32>
  memref.dealloc %S : memref<?x?xf32>
  return
}

func.func @column_sums_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[?, 1]>>, %C: memref<?x?xf32, strided<[?, 1]>>, %sums: memref<?xf32>) attributes {girih.tol = 1.0e-3 : f64} {
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
  linalg.fill ins(%zero : f32) outs(%sums : memref<?xf32>)
  linalg.generic {indexing_maps = [affine_map<(n, m) -> (m, n)>, affine_map<(n, m) -> (n)>], iterator_types = ["parallel", "reduction"]}
      ins(%S : memref<?x?xf32>) outs(%sums : memref<?xf32>) {
    ^bb0(%s: f32, %t: f32):
      %both = arith.addf %s, %t : f32
      linalg.yield %both : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n, m)>], iterator_types = ["parallel", "parallel"]}
      ins(%S : memref<?x?xf32>) outs(%C : memref<?x?xf32, strided<[?, 1]>>) {
    ^bb0(%s: f32, %old: f32):
      linalg.yield %s : f32
  }
  memref.dealloc %S : memref<?x?xf32>
  return
}

func.func @gated_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[?, 1]>>, %C: memref<?x?xbf16, strided<[?, 1]>>) attributes {girih.tol = 1.0e-2 : f64} {
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
  %gates = memref.subview %S[0, 0] [%M, 32] [1, 1] : memref<?x?xf32> to memref<?x32xf32, strided<[?, 1]>>
  %values = memref.subview %S[0, 32] [%M, 32] [1, 1] : memref<?x?xf32> to memref<?x32xf32, strided<[?, 1], offset: 32>>
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%gates, %values : memref<?x32xf32, strided<[?, 1]>>, memref<?x32xf32, strided<[?, 1], offset: 32>>) outs(%C : memref<?x?xbf16, strided<[?, 1]>>) {
    ^bb0(%g: f32, %v: f32, %old: bf16):
      %one = arith.constant 1.0 : f32
      %minus = arith.negf %g : f32
      %exp = math.exp %minus : f32
      %below = arith.addf %exp, %one : f32
      %silu = arith.divf %g, %below : f32
      %y = arith.mulf %silu, %v : f32
      %r = arith.truncf %y : f32 to bf16
      linalg.yield %r : bf16
  }
  memref.dealloc %S : memref<?x?xf32>
  return
}

func.func @split_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[?, 1]>>, %Q: memref<?x?xf32, strided<[?, 1]>>, %KV: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.tol = 1.0e-3 : f64} {
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
  %c64 = arith.constant 64 : index
  %others = arith.subi %N, %c64 : index
  %first = memref.subview %S[0, 0] [%M, 64] [1, 1] : memref<?x?xf32> to memref<?x64xf32, strided<[?, 1]>>
  %rest = memref.subview %S[0, 64] [%M, %others] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: 64>>
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%first : memref<?x64xf32, strided<[?, 1]>>) outs(%Q : memref<?x?xf32, strided<[?, 1]>>) {
    ^bb0(%s: f32, %old: f32):
      linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%rest : memref<?x?xf32, strided<[?, 1], offset: 64>>) outs(%KV : memref<?x?xf32, strided<[?, 1]>>) {
    ^bb0(%s: f32, %old: f32):
      linalg.yield %s : f32
  }
  memref.dealloc %S : memref<?x?xf32>
  return
}

}
