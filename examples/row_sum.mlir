// Y = sums of the rows of X: bf16 in, f32 out, a row for each block. Sums are kept element by element of a chunk; only at the
// end are they added up across threads.
//
//   girih run examples/row_sum.mlir --arg X=randn:bf16[300,5000] --arg Y=poison:f32[300]
//
// RUN: girih run %s --device sim --arg X=randn:bf16[2,8192] --arg Y=poison:f32[2] | FileCheck %s
// RUN: girih run %s --device sim --arg X=randn:bf16[3,9001] --arg Y=poison:f32[3] | FileCheck %s
// RUN: girih run %s --device sim --arg X=randn:bf16[1,1] --arg Y=poison:f32[1] | FileCheck %s
// CHECK: row_sum: ran on
// CHECK-NEXT: right: Y:

!matrix = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!vector = memref<?xf32, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @row_sum(%X: !matrix, %Y: !vector) threads(256) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %X, %c0 : !matrix
  tile.grid %rows, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8192 = arith.constant 8192 : index
  %n = memref.dim %X, %c1 : !matrix
  %row = tile.block_id x
  %zero = arith.constant dense<0.0> : tensor<1x8192xf32>
  %sums = scf.for %j = %c0 to %n step %c8192 iter_args(%s = %zero) -> (tensor<1x8192xf32>) {
    %x = tile.load %X[%row, %j] : !matrix -> tensor<1x8192xbf16>
    %xf = arith.extf %x : tensor<1x8192xbf16> to tensor<1x8192xf32>
    %next = arith.addf %s, %xf : tensor<1x8192xf32>
    scf.yield %next : tensor<1x8192xf32>
  }
  %sum = tile.reduce %sums axis 1 (%a: f32, %b: f32) {
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : tensor<1x8192xf32> -> tensor<1xf32>
  tile.store %sum, %Y[%row] : tensor<1xf32>, !vector
}

func.func @row_sum_ref(%X: memref<?x?xbf16>, %Y: memref<?xf32>) attributes {girih.measure = "product", girih.tol = 1.0e-5 : f64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%Y : memref<?xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%X : memref<?x?xbf16>) outs(%Y : memref<?xf32>) {
  ^bb0(%x: bf16, %s: f32):
    %xf = arith.extf %x : bf16 to f32
    %t = arith.addf %s, %xf : f32
    linalg.yield %t : f32
  }
  return
}

}
