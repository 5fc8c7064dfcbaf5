// A reference that faults is told like any other error, and does not end girih.
// RUN: not girih run %s --device sim --kernel divide --arg A=ones:i32[4] --arg B=zeros:i32[4] --arg C=poison:i32[4] 2>&1 | FileCheck %s --check-prefix=DIVIDE
// RUN: not girih run %s --device sim --kernel outside --arg A=ones:i32[4] 2>&1 | FileCheck %s --check-prefix=OUTSIDE

// DIVIDE: error: @divide_ref: the reference divides an integer by zero, or its smallest value by -1
// OUTSIDE: error: @outside_ref: the reference reads or writes outside its arrays

module attributes {tile.target = "sm_90a"} {

tile.kernel @divide(%A: memref<4xi32, #tile.global>, %B: memref<4xi32, #tile.global>, %C: memref<4xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}
func.func @divide_ref(%A: memref<4xi32>, %B: memref<4xi32>, %C: memref<4xi32>) {
  linalg.map ins(%A, %B : memref<4xi32>, memref<4xi32>) outs(%C : memref<4xi32>) (%a: i32, %b: i32, %old: i32) {
    %q = arith.divsi %a, %b : i32
    linalg.yield %q : i32
  }
  return
}

tile.kernel @outside(%A: memref<4xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}
func.func @outside_ref(%A: memref<4xi32>) {
  %far = arith.constant 1099511627776 : index
  %x = memref.load %A[%far] : memref<4xi32>
  %c0 = arith.constant 0 : index
  memref.store %x, %A[%c0] : memref<4xi32>
  return
}

}
