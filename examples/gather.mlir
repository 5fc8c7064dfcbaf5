// Y = rows of the table X with the numbers I, as an embedding is looked up: bf16 rows of any length; numbers that X has no
// row for give zeros.
//
//   girih run examples/gather.mlir --arg X=randn:bf16[100,300] --arg I=iota:i32[64] --arg Y=poison:bf16[64,300]
//
// RUN: girih run %s --device sim --arg X=randn:bf16[20,256] --arg I=iota:i32[32] --arg Y=poison:bf16[32,256] | FileCheck %s
// RUN: girih run %s --device sim --arg X=randn:bf16[40,301] --arg I=iota:i32[33] --arg Y=poison:bf16[33,301] | FileCheck %s
// CHECK: gather: ran on
// CHECK-NEXT: right: Y: all {{.*}} elements are exact

!matrix = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!numbers = memref<?xi32, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @gather(%X: !matrix, %I: !numbers, %Y: !matrix) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c256 = arith.constant 256 : index
  %m = memref.dim %Y, %c0 : !matrix
  %n = memref.dim %Y, %c1 : !matrix
  %gy = arith.ceildivui %m, %c16 : index
  %gx = arith.ceildivui %n, %c256 : index
  tile.grid %gy, %gx, %c1
} body {
  %c16 = arith.constant 16 : index
  %c256 = arith.constant 256 : index
  // Blocks of all rows first: they read the same columns of the table, which L2 holds.
  %by = tile.block_id x
  %bx = tile.block_id y
  %i = arith.muli %by, %c16 : index
  %j = arith.muli %bx, %c256 : index
  %rows = tile.load %I[%i] {pad = -1 : i32} : !numbers -> tensor<16xi32>
  %x = tile.gather %X[%j] rows %rows : !matrix, tensor<16xi32> -> tensor<16x256xbf16>
  tile.store %x, %Y[%i, %j] : tensor<16x256xbf16>, !matrix
}

func.func @gather_ref(%X: memref<?x?xbf16>, %I: memref<?xi32>, %Y: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : bf16
  %rows = memref.dim %X, %c0 : memref<?x?xbf16>
  %m = memref.dim %Y, %c0 : memref<?x?xbf16>
  %n = memref.dim %Y, %c1 : memref<?x?xbf16>
  scf.for %i = %c0 to %m step %c1 {
    %r = memref.load %I[%i] : memref<?xi32>
    %k = arith.index_cast %r : i32 to index
    %inside = arith.cmpi ult, %k, %rows : index
    scf.for %j = %c0 to %n step %c1 {
      %y = scf.if %inside -> (bf16) {
        %x = memref.load %X[%k, %j] : memref<?x?xbf16>
        scf.yield %x : bf16
      } else {
        scf.yield %zero : bf16
      }
      memref.store %y, %Y[%i, %j] : memref<?x?xbf16>
    }
  }
  return
}

}
