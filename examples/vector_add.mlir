// C = A + B, one element a thread: the smallest kernel.
//
//   girih run examples/vector_add.mlir --arg A=randn:f32[1000] --arg B=randn:f32[1000] --arg C=poison:f32[1000]
//
// RUN: girih run %s --device sim --arg A=randn:f32[1000] --arg B=randn:f32[1000] --arg C=poison:f32[1000] | FileCheck %s
// RUN: girih run %s --device sim --arg A=zeros:f32[0] --arg B=zeros:f32[0] --arg C=zeros:f32[0] | FileCheck %s --check-prefix=EMPTY
// RUN: girih run %s --check-memory --device sim --arg A=randn:f32[300] --arg B=randn:f32[300] --arg C=poison:f32[300] | FileCheck %s --check-prefix=CHECKED
// CHECKED: right: C:
// CHECKED: checked memory, barriers and waits: no findings
// CHECK: add: ran on {{.*}}, grid 4x1x1
// CHECK-NEXT: right: C: all 1000 elements are exact
// EMPTY: add: the grid is empty (0x1x1), nothing was launched

module attributes {tile.target = "sm_90a"} {

tile.kernel @add(%A: memref<?xf32, #tile.global>, %B: memref<?xf32, #tile.global>, %C: memref<?xf32, #tile.global>) threads(256) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %n = memref.dim %C, %c0 : memref<?xf32, #tile.global>
  %blocks = arith.ceildivui %n, %c256 : index
  tile.grid %blocks, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %n = memref.dim %C, %c0 : memref<?xf32, #tile.global>
  %block = tile.block_id x
  %thread = tile.thread_id
  %start = arith.muli %block, %c256 : index
  %i = arith.addi %start, %thread : index
  %inside = arith.cmpi ult, %i, %n : index
  scf.if %inside {
    %a = memref.load %A[%i] : memref<?xf32, #tile.global>
    %b = memref.load %B[%i] : memref<?xf32, #tile.global>
    %c = arith.addf %a, %b : f32
    memref.store %c, %C[%i] : memref<?xf32, #tile.global>
  }
}

func.func @add_ref(%A: memref<?xf32>, %B: memref<?xf32>, %C: memref<?xf32>) {
  linalg.add ins(%A, %B : memref<?xf32>, memref<?xf32>) outs(%C : memref<?xf32>)
  return
}

}
