// H[x] = how many elements of X are x, for numbers from 0 to the size of H; others are not counted. H starts as zeros.
//
//   girih run examples/histogram.mlir --arg X=iota:i32[5000] --arg H=zeros:i32[300]
//
// RUN: girih run %s --device sim --arg X=iota:i32[3000] --arg H=zeros:i32[700] | FileCheck %s
// RUN: girih run %s --device sim --arg X=ones:i32[1001] --arg H=zeros:i32[2] | FileCheck %s
// CHECK: histogram: ran on
// CHECK-NEXT: right: H: all {{.*}} elements are exact

!numbers = memref<?xi32, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @histogram(%X: !numbers, %H: !numbers) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %n = memref.dim %X, %c0 : !numbers
  %blocks = arith.ceildivui %n, %c1024 : index
  tile.grid %blocks, %c1, %c1
} body {
  %c1024 = arith.constant 1024 : index
  %block = tile.block_id x
  %i = arith.muli %block, %c1024 : index
  %one = arith.constant dense<1> : tensor<1024xi32>
  // What is past the end counts nowhere.
  %x = tile.load %X[%i] {pad = -1 : i32} : !numbers -> tensor<1024xi32>
  tile.atomic_rmw add %one, %H[] rows %x : tensor<1024xi32> : tensor<1024xi32>, !numbers
}

func.func @histogram_ref(%X: memref<?xi32>, %H: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %n = memref.dim %X, %c0 : memref<?xi32>
  %m = memref.dim %H, %c0 : memref<?xi32>
  linalg.fill ins(%zero : i32) outs(%H : memref<?xi32>)
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %X[%i] : memref<?xi32>
    %k = arith.index_cast %x : i32 to index
    %inside = arith.cmpi ult, %k, %m : index
    scf.if %inside {
      %h = memref.load %H[%k] : memref<?xi32>
      %g = arith.addi %h, %one : i32
      memref.store %g, %H[%k] : memref<?xi32>
    }
  }
  return
}

}
