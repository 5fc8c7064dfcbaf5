// What is computed from a product goes to memory in pieces, in whole lines where rows allow it.
//
// RUN: girih run %s --kernel residual --device sim --check-memory --arg A=randn:bf16[130,72] --arg B=randn:bf16[136,72] --arg R=randn:bf16[130,136] --arg C=poison:bf16[130,136] | FileCheck %s
// RUN: girih run %s --kernel residual --device sim --check-memory --arg A=randn:bf16[70,40] --arg B=randn:bf16[132,40] --arg R=randn:bf16[70,132] --arg C=poison:bf16[70,132] | FileCheck %s
// RUN: girih run %s --kernel residual --device sim --check-memory --arg A=randn:bf16[129,24] --arg B=randn:bf16[131,24] --arg R=randn:bf16[129,131] --arg C=poison:bf16[129,131] | FileCheck %s
// RUN: girih run %s --kernel in_place --device sim --check-memory --arg A=randn:bf16[130,72] --arg B=randn:bf16[136,72] --arg C=randn:f16[130,136] --arg D=poison:f32[130,136] | FileCheck %s
// RUN: girih run %s --kernel in_place --device sim --check-memory --arg A=randn:bf16[70,40] --arg B=randn:bf16[131,40] --arg C=randn:f16[70,131] --arg D=poison:f32[70,131] | FileCheck %s
// RUN: girih run %s --kernel narrow --device sim --check-memory --arg A=randn:bf16[66,72] --arg B=randn:bf16[80,72] --arg C=zeros:i8[66,80] --arg scale=f32:3.0 | FileCheck %s
// RUN: girih run %s --kernel narrow --device sim --check-memory --arg A=randn:bf16[66,40] --arg B=randn:bf16[68,40] --arg C=zeros:i8[66,68] --arg scale=f32:3.0 | FileCheck %s
// RUN: girih compile %s -o %t.ptx 2> %t.remarks
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// CHECK-NOT: WRONG
// CHECK: right:
// CHECK-NOT: WRONG
// CHECK: no findings
// PTX-LABEL: .entry residual(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: wgmma.mma_async
// PTX-DAG: bar.warp.sync
// PTX-DAG: st.global.v4.b32
// PTX-LABEL: .entry in_place(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: wgmma.mma_async
// PTX-DAG: bar.warp.sync
// PTX-DAG: st.global.v4.b32
// PTX-LABEL: .entry narrow(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: wgmma.mma_async
// PTX-DAG: bar.warp.sync
// PTX-DAG: st.global.v4.b32

module attributes {tile.target = "sm_90a"} {

// A residual comes as the result goes: in lines, or two neighbours a thread.
tile.kernel @residual(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %R: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %C: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) threads(256) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 128 : index
  %n = arith.constant 128 : index
  %M = memref.dim %A, %c0 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %N = memref.dim %B, %c0 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %tiles_m = arith.ceildivui %M, %m : index
  %tiles_n = arith.ceildivui %N, %n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 128 : index
  %n = arith.constant 128 : index
  %step = arith.constant 64 : index
  %K = memref.dim %A, %c1 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %m : index
  %col = arith.muli %by, %n : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<128x128xf32>) {
    %a = tile.load %A[%row, %k] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<128x64xbf16>
    %b_t = tile.load %B[%col, %k] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<128x64xbf16>
    %b = tile.transpose %b_t order [1, 0] : tensor<128x64xbf16> -> tensor<64x128xbf16>
    %next = tile.mma %a, %b, %acc : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
    scf.yield %next : tensor<128x128xf32>
  }
  %r = tile.load %R[%row, %col] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<128x128xbf16>
  %wide = arith.extf %r : tensor<128x128xbf16> to tensor<128x128xf32>
  %all = arith.addf %sum, %wide : tensor<128x128xf32>
  %out = arith.truncf %all : tensor<128x128xf32> to tensor<128x128xbf16>
  tile.store %out, %C[%row, %col] : tensor<128x128xbf16>, memref<?x?xbf16, strided<[?, 1]>, #tile.global>
}

// C is read and written piece by piece; two results of different widths.
tile.kernel @in_place(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %C: memref<?x?xf16, strided<[?, 1]>, #tile.global>, %D: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(256) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 128 : index
  %n = arith.constant 128 : index
  %M = memref.dim %A, %c0 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %N = memref.dim %B, %c0 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %tiles_m = arith.ceildivui %M, %m : index
  %tiles_n = arith.ceildivui %N, %n : index
  tile.grid %tiles_m, %tiles_n, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 128 : index
  %n = arith.constant 128 : index
  %step = arith.constant 64 : index
  %K = memref.dim %A, %c1 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %bx = tile.block_id x
  %by = tile.block_id y
  %row = arith.muli %bx, %m : index
  %col = arith.muli %by, %n : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<128x128xf32>) {
    %a = tile.load %A[%row, %k] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<128x64xbf16>
    %b_t = tile.load %B[%col, %k] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<128x64xbf16>
    %b = tile.transpose %b_t order [1, 0] : tensor<128x64xbf16> -> tensor<64x128xbf16>
    %next = tile.mma %a, %b, %acc : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
    scf.yield %next : tensor<128x128xf32>
  }
  %old = tile.load %C[%row, %col] : memref<?x?xf16, strided<[?, 1]>, #tile.global> -> tensor<128x128xf16>
  %wide = arith.extf %old : tensor<128x128xf16> to tensor<128x128xf32>
  %both = arith.addf %sum, %wide : tensor<128x128xf32>
  tile.store %both, %D[%row, %col] : tensor<128x128xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %out = arith.truncf %both : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %out, %C[%row, %col] : tensor<128x128xf16>, memref<?x?xf16, strided<[?, 1]>, #tile.global>
}

// Two pieces of 32 columns of numbers of 8 bits, in a warpgroup.
tile.kernel @narrow(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %C: memref<?x?xi8, strided<[?, 1]>, #tile.global>, %scale: f32) threads(128) launch {
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
  %scales = tile.splat %scale : f32 -> tensor<64x64xf32>
  %scaled = arith.mulf %sum, %scales : tensor<64x64xf32>
  %low = arith.constant dense<-128.0> : tensor<64x64xf32>
  %high = arith.constant dense<127.0> : tensor<64x64xf32>
  %above = arith.maximumf %scaled, %low : tensor<64x64xf32>
  %within = arith.minimumf %above, %high : tensor<64x64xf32>
  %whole = math.roundeven %within : tensor<64x64xf32>
  %out = arith.fptosi %whole : tensor<64x64xf32> to tensor<64x64xi8>
  tile.store %out, %C[%row, %col] : tensor<64x64xi8>, memref<?x?xi8, strided<[?, 1]>, #tile.global>
}

func.func @residual_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[?, 1]>>, %R: memref<?x?xbf16, strided<[?, 1]>>, %C: memref<?x?xbf16, strided<[?, 1]>>) attributes {girih.tol = 1.0e-2 : f64} {
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
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%S, %R : memref<?x?xf32>, memref<?x?xbf16, strided<[?, 1]>>) outs(%C : memref<?x?xbf16, strided<[?, 1]>>) {
    ^bb0(%s: f32, %r_: bf16, %old: bf16):
      %wide = arith.extf %r_ : bf16 to f32
      %all = arith.addf %s, %wide : f32
      %r = arith.truncf %all : f32 to bf16
      linalg.yield %r : bf16
  }
  memref.dealloc %S : memref<?x?xf32>
  return
}

func.func @in_place_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[?, 1]>>, %C: memref<?x?xf16, strided<[?, 1]>>, %D: memref<?x?xf32, strided<[?, 1]>>) attributes {girih.tol = 1.0e-2 : f64} {
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
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%S, %C : memref<?x?xf32>, memref<?x?xf16, strided<[?, 1]>>) outs(%D : memref<?x?xf32, strided<[?, 1]>>) {
    ^bb0(%s: f32, %c_: f16, %old: f32):
      %wide = arith.extf %c_ : f16 to f32
      %r = arith.addf %s, %wide : f32
      linalg.yield %r : f32
  }
  linalg.map ins(%D : memref<?x?xf32, strided<[?, 1]>>) outs(%C : memref<?x?xf16, strided<[?, 1]>>) (%d: f32, %old: f16) {
    %r = arith.truncf %d : f32 to f16
    linalg.yield %r : f16
  }
  memref.dealloc %S : memref<?x?xf32>
  return
}

func.func @narrow_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[?, 1]>>, %C: memref<?x?xi8, strided<[?, 1]>>, %scale: f32) attributes {girih.tol = 1.0e-2 : f64} {
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
      ins(%S : memref<?x?xf32>) outs(%C : memref<?x?xi8, strided<[?, 1]>>) {
    ^bb0(%s: f32, %old: i8):
      %low = arith.constant -128.0 : f32
      %high = arith.constant 127.0 : f32
      %scaled = arith.mulf %s, %scale : f32
      %above = arith.maximumf %scaled, %low : f32
      %within = arith.minimumf %above, %high : f32
      %whole = math.roundeven %within : f32
      %r = arith.fptosi %whole : f32 to i8
      linalg.yield %r : i8
  }
  memref.dealloc %S : memref<?x?xf32>
  return
}

}
