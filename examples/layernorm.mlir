// Y = (X - mean) / sqrt(variance + eps) * W + B along rows (LayerNorm), in bf16 with f32 inside, for rows of up to 8192
// columns: a row for each block, loaded once. The variance is the mean of squared distances from the mean, so that no digits
// are lost to large means.
//
//   girih run examples/layernorm.mlir --arg X=randn:bf16[64,1000] --arg W=randn:bf16[1000] --arg B=randn:bf16[1000] --arg Y=poison:bf16[64,1000] --arg eps=f32:1e-5
//
// RUN: girih run %s --device sim --arg X=randn:bf16[2,8192] --arg W=randn:bf16[8192] --arg B=randn:bf16[8192] --arg Y=poison:bf16[2,8192] --arg eps=f32:1e-5 | FileCheck %s
// RUN: girih run %s --device sim --arg X=randn:bf16[3,1001] --arg W=randn:bf16[1001] --arg B=randn:bf16[1001] --arg Y=poison:bf16[3,1001] --arg eps=f32:1e-5 | FileCheck %s
// CHECK: layernorm: ran on
// CHECK-NEXT: right: Y:

!matrix = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!vector = memref<?xbf16, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @layernorm(%X: !matrix, %W: !vector, %B: !vector, %Y: !matrix, %eps: f32) threads(256) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %Y, %c0 : !matrix
  tile.grid %rows, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %X, %c1 : !matrix
  %row = tile.block_id x
  %n_int = arith.index_cast %n : index to i64
  %n_float = arith.sitofp %n_int : i64 to f32
  %count = tile.splat %n_float : f32 -> tensor<1xf32>
  %epsilon = tile.splat %eps : f32 -> tensor<1xf32>
  %x = tile.load %X[%row, %c0] : !matrix -> tensor<1x8192xbf16>
  %xf = arith.extf %x : tensor<1x8192xbf16> to tensor<1x8192xf32>
  %sum = tile.reduce %xf axis 1 (%p: f32, %q: f32) {
    %s = arith.addf %p, %q : f32
    tile.yield %s : f32
  } : tensor<1x8192xf32> -> tensor<1xf32>
  %mean = arith.divf %sum, %count : tensor<1xf32>
  %mean1 = tile.expand_dims %mean axis 1 : tensor<1xf32> -> tensor<1x1xf32>
  %means = tile.broadcast %mean1 : tensor<1x1xf32> -> tensor<1x8192xf32>
  %distance = arith.subf %xf, %means : tensor<1x8192xf32>
  // What is past the end of the row is at no distance from the mean.
  %column = tile.iota axis 1 : tensor<1x8192xi32>
  %n_small = arith.index_cast %n : index to i32
  %width = tile.splat %n_small : i32 -> tensor<1x8192xi32>
  %inside = arith.cmpi slt, %column, %width : tensor<1x8192xi32>
  %zero = arith.constant dense<0.0> : tensor<1x8192xf32>
  %d = arith.select %inside, %distance, %zero : tensor<1x8192xi1>, tensor<1x8192xf32>
  %square = arith.mulf %d, %d : tensor<1x8192xf32>
  %squares = tile.reduce %square axis 1 (%p: f32, %q: f32) {
    %s = arith.addf %p, %q : f32
    tile.yield %s : f32
  } : tensor<1x8192xf32> -> tensor<1xf32>
  %variance = arith.divf %squares, %count : tensor<1xf32>
  %shifted = arith.addf %variance, %epsilon : tensor<1xf32>
  %scale = math.rsqrt %shifted : tensor<1xf32>
  %scale1 = tile.expand_dims %scale axis 1 : tensor<1xf32> -> tensor<1x1xf32>
  %scales = tile.broadcast %scale1 : tensor<1x1xf32> -> tensor<1x8192xf32>
  // Only now, so that fewer registers live through the sums and more blocks fit beside this one.
  %w = tile.load %W[%c0] : !vector -> tensor<8192xbf16>
  %b = tile.load %B[%c0] : !vector -> tensor<8192xbf16>
  %wf = arith.extf %w : tensor<8192xbf16> to tensor<8192xf32>
  %weights = tile.expand_dims %wf axis 0 : tensor<8192xf32> -> tensor<1x8192xf32>
  %bf = arith.extf %b : tensor<8192xbf16> to tensor<8192xf32>
  %biases = tile.expand_dims %bf axis 0 : tensor<8192xf32> -> tensor<1x8192xf32>
  %normal = arith.mulf %distance, %scales : tensor<1x8192xf32>
  %weighted = arith.mulf %normal, %weights : tensor<1x8192xf32>
  %yf = arith.addf %weighted, %biases : tensor<1x8192xf32>
  %y = arith.truncf %yf : tensor<1x8192xf32> to tensor<1x8192xbf16>
  tile.store %y, %Y[%row, %c0] : tensor<1x8192xbf16>, !matrix
}

func.func @layernorm_ref(%X: memref<?x?xbf16>, %W: memref<?xbf16>, %B: memref<?xbf16>, %Y: memref<?x?xbf16>, %eps: f32) attributes {girih.tol = 3.0e-2 : f64} {
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
