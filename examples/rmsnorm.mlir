// Y = X / sqrt(mean(X^2) + eps) * W along rows (RMSNorm), in bf16 with f32 inside. A row goes to a cluster of blocks, each of
// which holds 8192 columns of it in registers: cluster(1, 1, 1), which is written here, serves rows of up to 8192 columns,
// cluster(8, 1, 1) rows of up to 65,536; nothing else changes. Longer rows are read twice.
//
//   girih run examples/rmsnorm.mlir --arg X=randn:bf16[64,1000] --arg W=randn:bf16[1000] --arg Y=poison:bf16[64,1000] --arg eps=f32:1e-5
//
// RUN: girih run %s --device sim --arg X=randn:bf16[2,8192] --arg W=randn:bf16[8192] --arg Y=poison:bf16[2,8192] --arg eps=f32:1e-5 | FileCheck %s
// RUN: girih run %s --device sim --arg X=randn:bf16[3,1001] --arg W=randn:bf16[1001] --arg Y=poison:bf16[3,1001] --arg eps=f32:1e-5 | FileCheck %s
// RUN: girih run %s --device sim --arg X=randn:bf16[2,9000] --arg W=randn:bf16[9000] --arg Y=poison:bf16[2,9000] --arg eps=f32:1e-5 | FileCheck %s
// RUN: girih run %s --check-memory --arg X=randn:bf16[2,9001] --arg W=randn:bf16[9001] --arg Y=poison:bf16[2,9001] --arg eps=f32:1e-5 | FileCheck %s --check-prefixes=CHECK,CLEAN
//
// RUN: sed 's/cluster(1, 1, 1)/cluster(8, 1, 1)/' %s > %t.mlir
// RUN: girih run %t.mlir --check-memory --arg X=randn:bf16[1,65536] --arg W=randn:bf16[65536] --arg Y=poison:bf16[1,65536] --arg eps=f32:1e-5 | FileCheck %s
// RUN: girih run %t.mlir --device sim --arg X=randn:bf16[2,20001] --arg W=randn:bf16[20001] --arg Y=poison:bf16[2,20001] --arg eps=f32:1e-5 | FileCheck %s
// RUN: girih run %t.mlir --device sim --arg X=randn:bf16[1,65551] --arg W=randn:bf16[65551] --arg Y=poison:bf16[1,65551] --arg eps=f32:1e-5 | FileCheck %s
// CHECK: rmsnorm: ran on
// CHECK-NEXT: right: Y:
// CLEAN: no findings

!matrix = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!vector = memref<?xbf16, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @rmsnorm(%X: !matrix, %W: !vector, %Y: !matrix, %eps: f32) threads(256) cluster(1, 1, 1) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows_each = arith.constant 1 : index
  %rows = memref.dim %Y, %c0 : !matrix
  %clusters = arith.ceildivui %rows, %rows_each : index
  %size = tile.cluster_size
  %blocks = arith.muli %clusters, %size : index
  tile.grid %blocks, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8192 = arith.constant 8192 : index
  %n = memref.dim %X, %c1 : !matrix
  %rows_each = arith.constant 1 : index
  %cluster = tile.cluster_id x
  %row = arith.muli %cluster, %rows_each : index
  %rank = tile.cluster_rank
  %size = tile.cluster_size
  %first = arith.muli %rank, %c8192 : index
  %held = arith.muli %size, %c8192 : index
  %n_int = arith.index_cast %n : index to i64
  %n_float = arith.sitofp %n_int : i64 to f32
  %one = arith.constant 1.0 : f32
  %part = arith.divf %one, %n_float : f32
  %each = tile.splat %part : f32 -> tensor<1xf32>
  %epsilon = tile.splat %eps : f32 -> tensor<1xf32>
  %short = arith.cmpi ule, %n, %held : index
  scf.if %short {
    // What is read stays in L2 longest, so that what is written leaves it early and in order: 3 % on an H200.
    %x = tile.load %X[%row, %first] cache evict_last : !matrix -> tensor<1x8192xbf16>
    %xf = arith.extf %x : tensor<1x8192xbf16> to tensor<1x8192xf32>
    %square = arith.mulf %xf, %xf fastmath<contract> : tensor<1x8192xf32>
    %own = tile.reduce %square axis 1 (%a: f32, %b: f32) {
      %s = arith.addf %a, %b fastmath<contract> : f32
      tile.yield %s : f32
    } : tensor<1x8192xf32> -> tensor<1xf32>
    %sum = tile.cluster_reduce %own (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    } : tensor<1xf32>
    %mean = arith.mulf %sum, %each : tensor<1xf32>
    %shifted = arith.addf %mean, %epsilon : tensor<1xf32>
    %scale = math.rsqrt %shifted fastmath<afn> : tensor<1xf32>
    %scale1 = tile.expand_dims %scale axis 1 : tensor<1xf32> -> tensor<1x1xf32>
    %scales = tile.broadcast %scale1 : tensor<1x1xf32> -> tensor<1x8192xf32>
    // Only now, and x from bf16 once more, so that fewer registers live through the sum and more blocks fit beside this one.
    %w = tile.load %W[%first] : !vector -> tensor<8192xbf16>
    %wf = arith.extf %w : tensor<8192xbf16> to tensor<8192xf32>
    %weight_row = tile.expand_dims %wf axis 0 : tensor<8192xf32> -> tensor<1x8192xf32>
    %weights = tile.broadcast %weight_row : tensor<1x8192xf32> -> tensor<1x8192xf32>
    %again = tile.opaque %x : tensor<1x8192xbf16> -> tensor<1x8192xbf16>
    %xf2 = arith.extf %again : tensor<1x8192xbf16> to tensor<1x8192xf32>
    %normal = arith.mulf %xf2, %scales : tensor<1x8192xf32>
    %yf = arith.mulf %normal, %weights : tensor<1x8192xf32>
    %y = arith.truncf %yf : tensor<1x8192xf32> to tensor<1x8192xbf16>
    tile.store %y, %Y[%row, %first] : tensor<1x8192xbf16>, !matrix
  } else {
    %zero = arith.constant dense<0.0> : tensor<1x8192xf32>
    %squares = scf.for %j = %first to %n step %held iter_args(%s = %zero) -> (tensor<1x8192xf32>) {
      %x = tile.load %X[%row, %j] cache evict_last : !matrix -> tensor<1x8192xbf16>
      %xf = arith.extf %x : tensor<1x8192xbf16> to tensor<1x8192xf32>
      %square = arith.mulf %xf, %xf fastmath<contract> : tensor<1x8192xf32>
      %next = arith.addf %s, %square fastmath<contract> : tensor<1x8192xf32>
      scf.yield %next : tensor<1x8192xf32>
    }
    %own = tile.reduce %squares axis 1 (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    } : tensor<1x8192xf32> -> tensor<1xf32>
    %sum = tile.cluster_reduce %own (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    } : tensor<1xf32>
    %mean = arith.mulf %sum, %each : tensor<1xf32>
    %shifted = arith.addf %mean, %epsilon : tensor<1xf32>
    %scale = math.rsqrt %shifted fastmath<afn> : tensor<1xf32>
    %scale1 = tile.expand_dims %scale axis 1 : tensor<1xf32> -> tensor<1x1xf32>
    %scales = tile.broadcast %scale1 : tensor<1x1xf32> -> tensor<1x8192xf32>
    scf.for %j = %first to %n step %held {
      %x = tile.load %X[%row, %j] cache evict_first : !matrix -> tensor<1x8192xbf16>
      %w = tile.load %W[%j] : !vector -> tensor<8192xbf16>
      %xf = arith.extf %x : tensor<1x8192xbf16> to tensor<1x8192xf32>
      %wf = arith.extf %w : tensor<8192xbf16> to tensor<8192xf32>
      %weight_row = tile.expand_dims %wf axis 0 : tensor<8192xf32> -> tensor<1x8192xf32>
      %weights = tile.broadcast %weight_row : tensor<1x8192xf32> -> tensor<1x8192xf32>
      %normal = arith.mulf %xf, %scales : tensor<1x8192xf32>
      %yf = arith.mulf %normal, %weights : tensor<1x8192xf32>
      %y = arith.truncf %yf : tensor<1x8192xf32> to tensor<1x8192xbf16>
      tile.store %y, %Y[%row, %j] : tensor<1x8192xbf16>, !matrix
    }
  }
}

func.func @rmsnorm_ref(%X: memref<?x?xbf16>, %W: memref<?xbf16>, %Y: memref<?x?xbf16>, %eps: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %X, %c0 : memref<?x?xbf16>
  %n = memref.dim %X, %c1 : memref<?x?xbf16>
  %n_int = arith.index_cast %n : index to i64
  %count = arith.sitofp %n_int : i64 to f32
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %rows step %c1 {
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
      %x = memref.load %X[%i, %j] : memref<?x?xbf16>
      %xf = arith.extf %x : bf16 to f32
      %q = arith.mulf %xf, %xf : f32
      %t = arith.addf %s, %q : f32
      scf.yield %t : f32
    }
    %mean = arith.divf %sum, %count : f32
    %shifted = arith.addf %mean, %eps : f32
    %root = math.sqrt %shifted : f32
    scf.for %j = %c0 to %n step %c1 {
      %x = memref.load %X[%i, %j] : memref<?x?xbf16>
      %w = memref.load %W[%j] : memref<?xbf16>
      %xf = arith.extf %x : bf16 to f32
      %wf = arith.extf %w : bf16 to f32
      %q = arith.divf %xf, %root : f32
      %p = arith.mulf %q, %wf : f32
      %y = arith.truncf %p : f32 to bf16
      memref.store %y, %Y[%i, %j] : memref<?x?xbf16>
    }
  }
  return
}

}
