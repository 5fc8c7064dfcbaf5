// Y = sums of the columns of X: bf16 in, f32 out, 64 columns for each block.
//
//   girih run examples/col_sum.mlir --arg X=randn:bf16[300,5000] --arg Y=poison:f32[5000]
//
// RUN: girih run %s --device sim --arg X=randn:bf16[256,128] --arg Y=poison:f32[128] | FileCheck %s
// RUN: girih run %s --device sim --arg X=randn:bf16[129,67] --arg Y=poison:f32[67] | FileCheck %s
// RUN: girih run %s --device sim --arg X=randn:bf16[1,1] --arg Y=poison:f32[1] | FileCheck %s
// CHECK: col_sum: ran on
// CHECK-NEXT: right: Y:

!matrix = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!vector = memref<?xf32, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @col_sum(%X: !matrix, %Y: !vector) threads(256) launch {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %X, %c1 : !matrix
  %blocks = arith.ceildivui %n, %c64 : index
  tile.grid %blocks, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %rows = memref.dim %X, %c0 : !matrix
  %block = tile.block_id x
  %column = arith.muli %block, %c64 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %sums = scf.for %i = %c0 to %rows step %c128 iter_args(%s = %zero) -> (tensor<128x64xf32>) {
    %x = tile.load %X[%i, %column] : !matrix -> tensor<128x64xbf16>
    %xf = arith.extf %x : tensor<128x64xbf16> to tensor<128x64xf32>
    %next = arith.addf %s, %xf : tensor<128x64xf32>
    scf.yield %next : tensor<128x64xf32>
  }
  %sum = tile.reduce %sums axis 0 (%a: f32, %b: f32) {
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : tensor<128x64xf32> -> tensor<64xf32>
  tile.store %sum, %Y[%column] : tensor<64xf32>, !vector
}

func.func @col_sum_ref(%X: memref<?x?xbf16>, %Y: memref<?xf32>) attributes {girih.measure = "product", girih.tol = 1.0e-5 : f64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%Y : memref<?xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%X : memref<?x?xbf16>) outs(%Y : memref<?xf32>) {
  ^bb0(%x: bf16, %s: f32):
    %xf = arith.extf %x : bf16 to f32
    %t = arith.addf %s, %xf : f32
    linalg.yield %t : f32
  }
  return
}

}
