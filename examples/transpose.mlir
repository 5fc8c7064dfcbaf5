// Y = X transposed, in bf16: a tile of 64 x 64 for each block, stored in rows of Y as it was loaded in rows of X.
//
// `tile.transpose` moves nothing: it only names the axes anew. The store wants another layout than the load, and the
// `tile.convert_layout` between them goes through shared memory, at offsets that leave no bank conflict.
//
//   girih run examples/transpose.mlir --arg X=randn:bf16[200,300] --arg Y=poison:bf16[300,200]
//
// RUN: girih run %s --device sim --arg X=randn:bf16[128,192] --arg Y=poison:bf16[192,128] | FileCheck %s
// RUN: girih run %s --device sim --arg X=randn:bf16[129,67] --arg Y=poison:bf16[67,129] | FileCheck %s
// RUN: girih run %s --device sim --arg X=randn:bf16[1,1] --arg Y=poison:bf16[1,1] | FileCheck %s
// CHECK: transpose: ran on
// CHECK-NEXT: right: Y: all {{.*}} elements are exact
//
// RUN: girih compile %s -o %t.ptx 2>&1 | FileCheck %s --check-prefix=REMARK --allow-empty
// REMARK-NOT: bank conflicts

!matrix = memref<?x?xbf16, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @transpose(%X: !matrix, %Y: !matrix) threads(256) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_rows = arith.constant 64 : index
  %tile_columns = arith.constant 64 : index
  %rows = memref.dim %X, %c0 : !matrix
  %columns = memref.dim %X, %c1 : !matrix
  %gy = arith.ceildivui %rows, %tile_rows : index
  %gx = arith.ceildivui %columns, %tile_columns : index
  tile.grid %gx, %gy, %c1
} body {
  %tile_rows = arith.constant 64 : index
  %tile_columns = arith.constant 64 : index
  %bx = tile.block_id x
  %by = tile.block_id y
  %i = arith.muli %by, %tile_rows : index
  %j = arith.muli %bx, %tile_columns : index
  // What is read stays in L2 longest, so that what is written leaves it early and in order: 2 % on an H200.
  %x = tile.load %X[%i, %j] cache evict_last : !matrix -> tensor<64x64xbf16>
  %y = tile.transpose %x order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
  tile.store %y, %Y[%j, %i] : tensor<64x64xbf16>, !matrix
}

func.func @transpose_ref(%X: memref<?x?xbf16>, %Y: memref<?x?xbf16>) {
  linalg.transpose ins(%X : memref<?x?xbf16>) outs(%Y : memref<?x?xbf16>) permutation = [1, 0]
  return
}

}
