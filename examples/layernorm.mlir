// Y = (X - mean) / sqrt(variance + eps) * W + B along rows (LayerNorm), in bf16 with f32 inside. A row goes to a cluster of
// blocks, each of which holds 8192 columns of it in registers: cluster(1, 1, 1), which is written here, serves rows of up to
// 8192 columns, cluster(8, 1, 1) rows of up to 65,536; nothing else changes. Longer rows are read twice.
//
// One reduction gives both the mean and the variance: sums are taken of what the elements are above the row's first one, and
// of its square. The first element is at most sqrt(n) standard deviations from the mean, whatever the row holds, so that the
// variance loses at most log2(n) of the 24 bits of a number, and none where all elements are alike, however large they are.
//
//   girih run examples/layernorm.mlir --arg X=randn:bf16[64,1000] --arg W=randn:bf16[1000] --arg B=randn:bf16[1000] --arg Y=poison:bf16[64,1000] --arg eps=f32:1e-5
//
// RUN: girih run %s --device sim --arg X=randn:bf16[2,8192] --arg W=randn:bf16[8192] --arg B=randn:bf16[8192] --arg Y=poison:bf16[2,8192] --arg eps=f32:1e-5 | FileCheck %s
// RUN: girih run %s --device sim --arg X=randn:bf16[3,1001] --arg W=randn:bf16[1001] --arg B=randn:bf16[1001] --arg Y=poison:bf16[3,1001] --arg eps=f32:1e-5 | FileCheck %s
// RUN: girih run %s --device sim --arg X=randn:bf16[2,9000] --arg W=randn:bf16[9000] --arg B=randn:bf16[9000] --arg Y=poison:bf16[2,9000] --arg eps=f32:1e-5 | FileCheck %s
// RUN: girih run %s --check-memory --arg X=randn:bf16[2,9001] --arg W=randn:bf16[9001] --arg B=randn:bf16[9001] --arg Y=poison:bf16[2,9001] --arg eps=f32:1e-5 | FileCheck %s --check-prefixes=CHECK,CLEAN
//
// RUN: sed 's/cluster(1, 1, 1)/cluster(8, 1, 1)/' %s > %t.mlir
// RUN: girih run %t.mlir --check-memory --arg X=randn:bf16[1,65536] --arg W=randn:bf16[65536] --arg B=randn:bf16[65536] --arg Y=poison:bf16[1,65536] --arg eps=f32:1e-5 | FileCheck %s
// RUN: girih run %t.mlir --device sim --arg X=randn:bf16[2,20001] --arg W=randn:bf16[20001] --arg B=randn:bf16[20001] --arg Y=poison:bf16[2,20001] --arg eps=f32:1e-5 | FileCheck %s
// RUN: girih run %t.mlir --device sim --arg X=randn:bf16[1,65551] --arg W=randn:bf16[65551] --arg B=randn:bf16[65551] --arg Y=poison:bf16[1,65551] --arg eps=f32:1e-5 | FileCheck %s
// CHECK: layernorm: ran on
// CHECK-NEXT: right: Y:
// CLEAN: no findings

!matrix = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!vector = memref<?xbf16, #tile.global>

module attributes {tile.target = "sm_90a"} {

// Three resident blocks leave each thread the registers for weights and bias that are not aligned. Four, as the compiler would have
// it, spill there, and are 8 % faster where all is aligned.
tile.kernel @layernorm(%X: !matrix, %W: !vector, %B: !vector, %Y: !matrix, %eps: f32) threads(256) cluster(1, 1, 1) attributes {min_blocks = 3 : i64} launch {
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
  %nothing = arith.constant dense<0.0> : tensor<1xf32>
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
    %origin = tile.load %X[%row, %c0] cache evict_last : !matrix -> tensor<1x1xbf16>
    %beyond = tile.broadcast %origin : tensor<1x1xbf16> -> tensor<1x8192xbf16>
    // What is past the end of the row is not above the first element, and so counts for nothing.
    %x = tile.load %X[%row, %first] pass_thru %beyond : tensor<1x8192xbf16> cache evict_last : !matrix -> tensor<1x8192xbf16>
    %origin1 = arith.extf %origin : tensor<1x1xbf16> to tensor<1x1xf32>
    %origins = tile.broadcast %origin1 : tensor<1x1xf32> -> tensor<1x8192xf32>
    %xf = arith.extf %x : tensor<1x8192xbf16> to tensor<1x8192xf32>
    %above = arith.subf %xf, %origins : tensor<1x8192xf32>
    %square = arith.mulf %above, %above fastmath<contract> : tensor<1x8192xf32>
    %s, %q = tile.reduce %above, %square axis 1 (%a: f32, %b: f32, %c: f32, %d: f32) {
      %t = arith.addf %a, %c : f32
      %r = arith.addf %b, %d fastmath<contract> : f32
      tile.yield %t, %r : f32, f32
    } : tensor<1x8192xf32>, tensor<1x8192xf32> -> tensor<1xf32>, tensor<1xf32>
    %sum, %squares = tile.cluster_reduce %s, %q (%a: f32, %b: f32, %c: f32, %d: f32) {
      %t = arith.addf %a, %c : f32
      %r = arith.addf %b, %d : f32
      tile.yield %t, %r : f32, f32
    } : tensor<1xf32>, tensor<1xf32>
    %shift = arith.mulf %sum, %each : tensor<1xf32>
    %mean_square = arith.mulf %squares, %each : tensor<1xf32>
    %shift_square = arith.mulf %shift, %shift : tensor<1xf32>
    %difference = arith.subf %mean_square, %shift_square : tensor<1xf32>
    %variance = arith.maximumf %difference, %nothing : tensor<1xf32>
    %shifted = arith.addf %variance, %epsilon : tensor<1xf32>
    %scale = math.rsqrt %shifted fastmath<afn> : tensor<1xf32>
    %scale1 = tile.expand_dims %scale axis 1 : tensor<1xf32> -> tensor<1x1xf32>
    %scales = tile.broadcast %scale1 : tensor<1x1xf32> -> tensor<1x8192xf32>
    %shift1 = tile.expand_dims %shift axis 1 : tensor<1xf32> -> tensor<1x1xf32>
    %mean1 = arith.addf %origin1, %shift1 : tensor<1x1xf32>
    %scaled1 = arith.mulf %mean1, %scale1 : tensor<1x1xf32>
    %offset1 = arith.negf %scaled1 : tensor<1x1xf32>
    %offsets = tile.broadcast %offset1 : tensor<1x1xf32> -> tensor<1x8192xf32>
    // Weights only now, and x from bf16 once more, so that fewer registers live through the sums and more blocks fit beside
    // this one.
    %w = tile.load %W[%first] : !vector -> tensor<8192xbf16>
    %b = tile.load %B[%first] : !vector -> tensor<8192xbf16>
    %wf = arith.extf %w : tensor<8192xbf16> to tensor<8192xf32>
    %weight_row = tile.expand_dims %wf axis 0 : tensor<8192xf32> -> tensor<1x8192xf32>
    %weights = tile.broadcast %weight_row : tensor<1x8192xf32> -> tensor<1x8192xf32>
    %bf = arith.extf %b : tensor<8192xbf16> to tensor<8192xf32>
    %bias_row = tile.expand_dims %bf axis 0 : tensor<8192xf32> -> tensor<1x8192xf32>
    %biases = tile.broadcast %bias_row : tensor<1x8192xf32> -> tensor<1x8192xf32>
    %again = tile.opaque %x : tensor<1x8192xbf16> -> tensor<1x8192xbf16>
    %xf2 = arith.extf %again : tensor<1x8192xbf16> to tensor<1x8192xf32>
    %normal = math.fma %xf2, %scales, %offsets : tensor<1x8192xf32>
    %yf = math.fma %normal, %weights, %biases : tensor<1x8192xf32>
    %y = arith.truncf %yf : tensor<1x8192xf32> to tensor<1x8192xbf16>
    tile.store %y, %Y[%row, %first] : tensor<1x8192xbf16>, !matrix
  } else {
    %origin = tile.load %X[%row, %c0] cache evict_last : !matrix -> tensor<1x1xbf16>
    %beyond = tile.broadcast %origin : tensor<1x1xbf16> -> tensor<1x8192xbf16>
    %origin1 = arith.extf %origin : tensor<1x1xbf16> to tensor<1x1xf32>
    %origins = tile.broadcast %origin1 : tensor<1x1xf32> -> tensor<1x8192xf32>
    %own_sum, %own_squares = scf.for %j = %first to %n step %held iter_args(%so_far = %nothing, %so_far2 = %nothing) -> (tensor<1xf32>, tensor<1xf32>) {
      %x = tile.load %X[%row, %j] pass_thru %beyond : tensor<1x8192xbf16> cache evict_last : !matrix -> tensor<1x8192xbf16>
      %xf = arith.extf %x : tensor<1x8192xbf16> to tensor<1x8192xf32>
      %above = arith.subf %xf, %origins : tensor<1x8192xf32>
      %square = arith.mulf %above, %above fastmath<contract> : tensor<1x8192xf32>
      %s, %q = tile.reduce %above, %square axis 1 (%a: f32, %b: f32, %c: f32, %d: f32) {
        %t = arith.addf %a, %c : f32
        %r = arith.addf %b, %d fastmath<contract> : f32
        tile.yield %t, %r : f32, f32
      } : tensor<1x8192xf32>, tensor<1x8192xf32> -> tensor<1xf32>, tensor<1xf32>
      %next = arith.addf %so_far, %s : tensor<1xf32>
      %next2 = arith.addf %so_far2, %q : tensor<1xf32>
      scf.yield %next, %next2 : tensor<1xf32>, tensor<1xf32>
    }
    %sum, %squares = tile.cluster_reduce %own_sum, %own_squares (%a: f32, %b: f32, %c: f32, %d: f32) {
      %t = arith.addf %a, %c : f32
      %r = arith.addf %b, %d : f32
      tile.yield %t, %r : f32, f32
    } : tensor<1xf32>, tensor<1xf32>
    %shift = arith.mulf %sum, %each : tensor<1xf32>
    %mean_square = arith.mulf %squares, %each : tensor<1xf32>
    %shift_square = arith.mulf %shift, %shift : tensor<1xf32>
    %difference = arith.subf %mean_square, %shift_square : tensor<1xf32>
    %variance = arith.maximumf %difference, %nothing : tensor<1xf32>
    %shifted = arith.addf %variance, %epsilon : tensor<1xf32>
    %scale = math.rsqrt %shifted fastmath<afn> : tensor<1xf32>
    %scale1 = tile.expand_dims %scale axis 1 : tensor<1xf32> -> tensor<1x1xf32>
    %scales = tile.broadcast %scale1 : tensor<1x1xf32> -> tensor<1x8192xf32>
    %shift1 = tile.expand_dims %shift axis 1 : tensor<1xf32> -> tensor<1x1xf32>
    %mean1 = arith.addf %origin1, %shift1 : tensor<1x1xf32>
    %scaled1 = arith.mulf %mean1, %scale1 : tensor<1x1xf32>
    %offset1 = arith.negf %scaled1 : tensor<1x1xf32>
    %offsets = tile.broadcast %offset1 : tensor<1x1xf32> -> tensor<1x8192xf32>
    scf.for %j = %first to %n step %held {
      %x = tile.load %X[%row, %j] cache evict_first : !matrix -> tensor<1x8192xbf16>
      %w = tile.load %W[%j] : !vector -> tensor<8192xbf16>
      %b = tile.load %B[%j] : !vector -> tensor<8192xbf16>
      %xf = arith.extf %x : tensor<1x8192xbf16> to tensor<1x8192xf32>
      %normal = math.fma %xf, %scales, %offsets : tensor<1x8192xf32>
      %wf = arith.extf %w : tensor<8192xbf16> to tensor<8192xf32>
      %weight_row = tile.expand_dims %wf axis 0 : tensor<8192xf32> -> tensor<1x8192xf32>
      %weights = tile.broadcast %weight_row : tensor<1x8192xf32> -> tensor<1x8192xf32>
      %bf = arith.extf %b : tensor<8192xbf16> to tensor<8192xf32>
      %bias_row = tile.expand_dims %bf axis 0 : tensor<8192xf32> -> tensor<1x8192xf32>
      %biases = tile.broadcast %bias_row : tensor<1x8192xf32> -> tensor<1x8192xf32>
      %yf = math.fma %normal, %weights, %biases : tensor<1x8192xf32>
      %y = arith.truncf %yf : tensor<1x8192xf32> to tensor<1x8192xbf16>
      tile.store %y, %Y[%row, %j] : tensor<1x8192xbf16>, !matrix
    }
  }
}

func.func @layernorm_ref(%X: memref<?x?xbf16>, %W: memref<?xbf16>, %B: memref<?xbf16>, %Y: memref<?x?xbf16>, %eps: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %X, %c0 : memref<?x?xbf16>
  %n = memref.dim %X, %c1 : memref<?x?xbf16>
  %n_int = arith.index_cast %n : index to i64
  %count = arith.sitofp %n_int : i64 to f32
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %rows step %c1 {
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
      %x = memref.load %X[%i, %j] : memref<?x?xbf16>
      %xf = arith.extf %x : bf16 to f32
      %t = arith.addf %s, %xf : f32
      scf.yield %t : f32
    }
    %mean = arith.divf %sum, %count : f32
    %squares = scf.for %j = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
      %x = memref.load %X[%i, %j] : memref<?x?xbf16>
      %xf = arith.extf %x : bf16 to f32
      %d = arith.subf %xf, %mean : f32
      %q = arith.mulf %d, %d : f32
      %t = arith.addf %s, %q : f32
      scf.yield %t : f32
    }
    %variance = arith.divf %squares, %count : f32
    %shifted = arith.addf %variance, %eps : f32
    %root = math.sqrt %shifted : f32
    scf.for %j = %c0 to %n step %c1 {
      %x = memref.load %X[%i, %j] : memref<?x?xbf16>
      %w = memref.load %W[%j] : memref<?xbf16>
      %b = memref.load %B[%j] : memref<?xbf16>
      %xf = arith.extf %x : bf16 to f32
      %wf = arith.extf %w : bf16 to f32
      %bf = arith.extf %b : bf16 to f32
      %d = arith.subf %xf, %mean : f32
      %q = arith.divf %d, %root : f32
      %p = arith.mulf %q, %wf : f32
      %r = arith.addf %p, %bf : f32
      %y = arith.truncf %r : f32 to bf16
      memref.store %y, %Y[%i, %j] : memref<?x?xbf16>
    }
  }
  return
}

}
