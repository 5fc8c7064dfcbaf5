// Y = softmax(X) along rows, in bf16 with f32 inside: whole tiles as values.
//
// A row goes to a cluster of blocks: block k holds columns k * 8192 to k * 8192 + 8191 in registers, between their one load
// and their one store, and tile.cluster_reduce combines what the blocks found. So cluster(1, 1, 1), which is written here,
// serves rows of up to 8192 columns, and cluster(8, 1, 1) rows of up to 65,536; nothing else changes. Longer rows are read
// twice: once for their largest element and their sum, which are brought up to date chunk by chunk, once for the result.
// `rows_each` and 8192 are the sizes of the tile: for short rows, several rows of fewer columns go to a block.
//
//   girih run examples/softmax.mlir --arg X=randn:bf16[64,1000] --arg Y=poison:bf16[64,1000]
//
// RUN: girih run %s --device sim --arg X=randn:bf16[2,8192] --arg Y=poison:bf16[2,8192] | FileCheck %s
// RUN: girih run %s --device sim --arg X=randn:bf16[3,1001] --arg Y=poison:bf16[3,1001] | FileCheck %s
// RUN: girih run %s --device sim --arg "X=randn:bf16[2,100;pitch=104]" --arg Y=poison:bf16[2,100] | FileCheck %s
// RUN: girih run %s --device sim --arg X=randn:bf16[2,9000] --arg Y=poison:bf16[2,9000] | FileCheck %s
// RUN: girih run %s --device sim --arg X=randn:bf16[1,16391] --arg Y=poison:bf16[1,16391] | FileCheck %s
// RUN: girih run %s --device sim --arg X=randn:bf16[1,1] --arg Y=poison:bf16[1,1] | FileCheck %s
//
// RUN: sed 's/cluster(1, 1, 1)/cluster(8, 1, 1)/' %s > %t.mlir
// RUN: girih run %t.mlir --check-memory --arg X=randn:bf16[1,65536] --arg Y=poison:bf16[1,65536] | FileCheck %s
// RUN: girih run %t.mlir --device sim --arg X=randn:bf16[2,20001] --arg Y=poison:bf16[2,20001] | FileCheck %s
// RUN: girih run %t.mlir --device sim --arg X=randn:bf16[1,65551] --arg Y=poison:bf16[1,65551] | FileCheck %s
// CHECK: softmax: ran on
// CHECK-NEXT: right: Y:

!matrix = memref<?x?xbf16, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @softmax(%X: !matrix, %Y: !matrix) threads(256) cluster(1, 1, 1) launch {
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
  %log2e = arith.constant dense<1.44269504> : tensor<1x8192xf32>
  %log2e_row = arith.constant dense<1.44269504> : tensor<1xf32>
  // Less than any number of a row, and finite: the largest of no columns may be subtracted.
  %lowest = arith.constant dense<0xFF7FFFFF> : tensor<1xf32>
  %n = memref.dim %X, %c1 : !matrix
  %rows_each = arith.constant 1 : index
  %cluster = tile.cluster_id x
  %row = arith.muli %cluster, %rows_each : index
  %rank = tile.cluster_rank
  %size = tile.cluster_size
  %first = arith.muli %rank, %c8192 : index
  %held = arith.muli %size, %c8192 : index
  %short = arith.cmpi ule, %n, %held : index
  scf.if %short {
    // What is read stays in L2 longest, so that what is written leaves it early and in order: 3 % on an H200.
    %x = tile.load %X[%row, %first] cache evict_last {pad = 0xFF80 : bf16} : !matrix -> tensor<1x8192xbf16>
    %xf = arith.extf %x : tensor<1x8192xbf16> to tensor<1x8192xf32>
    %found = tile.reduce %xf axis 1 (%a: f32, %b: f32) {
      %m = arith.maximumf %a, %b : f32
      tile.yield %m : f32
    } : tensor<1x8192xf32> -> tensor<1xf32>
    %own_max = arith.maximumf %found, %lowest : tensor<1xf32>
    %own_max1 = tile.expand_dims %own_max axis 1 : tensor<1xf32> -> tensor<1x1xf32>
    %maxes = tile.broadcast %own_max1 : tensor<1x1xf32> -> tensor<1x8192xf32>
    %below = arith.subf %xf, %maxes : tensor<1x8192xf32>
    %scaled = arith.mulf %below, %log2e : tensor<1x8192xf32>
    %e = math.exp2 %scaled fastmath<afn> : tensor<1x8192xf32>
    %own_sum = tile.reduce %e axis 1 (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    } : tensor<1x8192xf32> -> tensor<1xf32>
    %max, %sum = tile.cluster_reduce %own_max, %own_sum (%m: f32, %s: f32, %o: f32, %t: f32) {
      %log2e_one = arith.constant 1.44269504 : f32
      %l = arith.maximumf %m, %o : f32
      %m1 = arith.subf %m, %l : f32
      %m2 = arith.mulf %m1, %log2e_one : f32
      %m3 = math.exp2 %m2 fastmath<afn> : f32
      %o1 = arith.subf %o, %l : f32
      %o2 = arith.mulf %o1, %log2e_one : f32
      %o3 = math.exp2 %o2 fastmath<afn> : f32
      %s1 = arith.mulf %s, %m3 : f32
      %t1 = arith.mulf %t, %o3 : f32
      %u = arith.addf %s1, %t1 : f32
      tile.yield %l, %u : f32, f32
    } : tensor<1xf32>, tensor<1xf32>
    // What the block's own largest element lies below the row's.
    %fall = arith.subf %own_max, %max : tensor<1xf32>
    %fall2 = arith.mulf %fall, %log2e_row : tensor<1xf32>
    %scale = math.exp2 %fall2 fastmath<afn> : tensor<1xf32>
    %factor = arith.divf %scale, %sum : tensor<1xf32>
    %factor1 = tile.expand_dims %factor axis 1 : tensor<1xf32> -> tensor<1x1xf32>
    %factors = tile.broadcast %factor1 : tensor<1x1xf32> -> tensor<1x8192xf32>
    %yf = arith.mulf %e, %factors : tensor<1x8192xf32>
    %y = arith.truncf %yf : tensor<1x8192xf32> to tensor<1x8192xbf16>
    tile.store %y, %Y[%row, %first] : tensor<1x8192xbf16>, !matrix
  } else {
    %one = arith.constant dense<1.0> : tensor<1xf32>
    %zero = arith.constant dense<0.0> : tensor<1xf32>
    %own_max, %own_sum = scf.for %j = %first to %n step %held iter_args(%m = %lowest, %s = %zero) -> (tensor<1xf32>, tensor<1xf32>) {
      %x = tile.load %X[%row, %j] cache evict_last {pad = 0xFF80 : bf16} : !matrix -> tensor<1x8192xbf16>
      %xf = arith.extf %x : tensor<1x8192xbf16> to tensor<1x8192xf32>
      %chunk_max = tile.reduce %xf axis 1 (%a: f32, %b: f32) {
        %l = arith.maximumf %a, %b : f32
        tile.yield %l : f32
      } : tensor<1x8192xf32> -> tensor<1xf32>
      %new_max = arith.maximumf %m, %chunk_max : tensor<1xf32>
      %max1 = tile.expand_dims %new_max axis 1 : tensor<1xf32> -> tensor<1x1xf32>
      %maxes = tile.broadcast %max1 : tensor<1x1xf32> -> tensor<1x8192xf32>
      %below = arith.subf %xf, %maxes : tensor<1x8192xf32>
      %scaled = arith.mulf %below, %log2e : tensor<1x8192xf32>
      %e = math.exp2 %scaled fastmath<afn> : tensor<1x8192xf32>
      %chunk_sum = tile.reduce %e axis 1 (%a: f32, %b: f32) {
        %t = arith.addf %a, %b : f32
        tile.yield %t : f32
      } : tensor<1x8192xf32> -> tensor<1xf32>
      %fall = arith.subf %m, %new_max : tensor<1xf32>
      %fall2 = arith.mulf %fall, %log2e_row : tensor<1xf32>
      %factor = math.exp2 %fall2 fastmath<afn> : tensor<1xf32>
      %old_sum = arith.mulf %s, %factor : tensor<1xf32>
      %new_sum = arith.addf %old_sum, %chunk_sum : tensor<1xf32>
      scf.yield %new_max, %new_sum : tensor<1xf32>, tensor<1xf32>
    }
    %max, %sum = tile.cluster_reduce %own_max, %own_sum (%m: f32, %s: f32, %o: f32, %t: f32) {
      %log2e_one = arith.constant 1.44269504 : f32
      %l = arith.maximumf %m, %o : f32
      %m1 = arith.subf %m, %l : f32
      %m2 = arith.mulf %m1, %log2e_one : f32
      %m3 = math.exp2 %m2 fastmath<afn> : f32
      %o1 = arith.subf %o, %l : f32
      %o2 = arith.mulf %o1, %log2e_one : f32
      %o3 = math.exp2 %o2 fastmath<afn> : f32
      %s1 = arith.mulf %s, %m3 : f32
      %t1 = arith.mulf %t, %o3 : f32
      %u = arith.addf %s1, %t1 : f32
      tile.yield %l, %u : f32, f32
    } : tensor<1xf32>, tensor<1xf32>
    %inverse = arith.divf %one, %sum : tensor<1xf32>
    %inverse1 = tile.expand_dims %inverse axis 1 : tensor<1xf32> -> tensor<1x1xf32>
    %inverses = tile.broadcast %inverse1 : tensor<1x1xf32> -> tensor<1x8192xf32>
    %max1 = tile.expand_dims %max axis 1 : tensor<1xf32> -> tensor<1x1xf32>
    %maxes = tile.broadcast %max1 : tensor<1x1xf32> -> tensor<1x8192xf32>
    scf.for %j = %first to %n step %held {
      %x = tile.load %X[%row, %j] cache evict_first : !matrix -> tensor<1x8192xbf16>
      %xf = arith.extf %x : tensor<1x8192xbf16> to tensor<1x8192xf32>
      %below = arith.subf %xf, %maxes : tensor<1x8192xf32>
      %scaled = arith.mulf %below, %log2e : tensor<1x8192xf32>
      %e = math.exp2 %scaled fastmath<afn> : tensor<1x8192xf32>
      %yf = arith.mulf %e, %inverses : tensor<1x8192xf32>
      %y = arith.truncf %yf : tensor<1x8192xf32> to tensor<1x8192xbf16>
      tile.store %y, %Y[%row, %j] : tensor<1x8192xbf16>, !matrix
    }
  }
}

func.func @softmax_ref(%X: memref<?x?xbf16>, %Y: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %X, %c0 : memref<?x?xbf16>
  %n = memref.dim %X, %c1 : memref<?x?xbf16>
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %rows step %c1 {
    %max = scf.for %j = %c0 to %n step %c1 iter_args(%m = %lowest) -> (f32) {
      %x = memref.load %X[%i, %j] : memref<?x?xbf16>
      %xf = arith.extf %x : bf16 to f32
      %l = arith.maximumf %m, %xf : f32
      scf.yield %l : f32
    }
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
      %x = memref.load %X[%i, %j] : memref<?x?xbf16>
      %xf = arith.extf %x : bf16 to f32
      %d = arith.subf %xf, %max : f32
      %e = math.exp %d : f32
      %t = arith.addf %s, %e : f32
      scf.yield %t : f32
    }
    scf.for %j = %c0 to %n step %c1 {
      %x = memref.load %X[%i, %j] : memref<?x?xbf16>
      %xf = arith.extf %x : bf16 to f32
      %d = arith.subf %xf, %max : f32
      %e = math.exp %d : f32
      %q = arith.divf %e, %sum : f32
      %y = arith.truncf %q : f32 to bf16
      memref.store %y, %Y[%i, %j] : memref<?x?xbf16>
    }
  }
  return
}

}
