// Rows of X go to the rows of Y with the numbers I, as keys are put into a cache: bf16 rows of any length. Rows whose number Y has
// no row for are dropped, and rows of Y that no number names stay as they are. No number may stand in I twice.
//
//   girih run examples/scatter.mlir --arg X=randn:bf16[64,300] --arg I=iota:i32[64] --arg Y=zeros:bf16[100,300]
//
// RUN: girih run %s --device sim --arg X=randn:bf16[32,256] --arg I=iota:i32[32] --arg Y=poison:bf16[40,256] | FileCheck %s
// RUN: girih run %s --device sim --arg X=randn:bf16[33,301] --arg I=iota:i32[33] --arg Y=poison:bf16[20,301] | FileCheck %s
// CHECK: scatter: ran on
// CHECK-NEXT: right: Y: all {{.*}} elements are exact

!matrix = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!numbers = memref<?xi32, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @scatter(%X: !matrix, %I: !numbers, %Y: !matrix) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c1024 = arith.constant 1024 : index
  %m = memref.dim %X, %c0 : !matrix
  %n = memref.dim %X, %c1 : !matrix
  %down = arith.ceildivui %m, %c4 : index
  %across = arith.ceildivui %n, %c1024 : index
  %blocks = arith.muli %down, %across : index
  tile.grid %blocks, %c1, %c1
} body {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c1024 = arith.constant 1024 : index
  // Parts of a row one after another: they share sectors where rows start anywhere.
  %n = memref.dim %X, %c1 : !matrix
  %across = arith.ceildivui %n, %c1024 : index
  %block = tile.block_id x
  %by = arith.divui %block, %across : index
  %bx = arith.remui %block, %across : index
  %i = arith.muli %by, %c4 : index
  %j = arith.muli %bx, %c1024 : index
  // Past the last row there are no numbers, and -1 is no row.
  %rows = tile.load %I[%i] {pad = -1 : i32} : !numbers -> tensor<4xi32>
  %x = tile.load %X[%i, %j] : !matrix -> tensor<4x1024xbf16>
  tile.scatter %x, %Y[%j] rows %rows : tensor<4x1024xbf16>, !matrix, tensor<4xi32>
}

func.func @scatter_ref(%X: memref<?x?xbf16>, %I: memref<?xi32>, %Y: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %Y, %c0 : memref<?x?xbf16>
  %m = memref.dim %X, %c0 : memref<?x?xbf16>
  %n = memref.dim %X, %c1 : memref<?x?xbf16>
  scf.for %i = %c0 to %m step %c1 {
    %r = memref.load %I[%i] : memref<?xi32>
    %k = arith.index_cast %r : i32 to index
    %inside = arith.cmpi ult, %k, %rows : index
    scf.if %inside {
      scf.for %j = %c0 to %n step %c1 {
        %x = memref.load %X[%i, %j] : memref<?x?xbf16>
        memref.store %x, %Y[%k, %j] : memref<?x?xbf16>
      }
    }
  }
  return
}

}
