// What a number is known to be decides what of a tile may lie outside: no test where nothing can.
// RUN: girih compile %s -o - 2>/dev/null | FileCheck %s
// RUN: girih run %s --kernel inside --reference @part --device sim --check-memory --arg A=iota:i32[1024] --arg B=poison:i32[512] \
// RUN:   --arg n=i64:512 2>/dev/null | FileCheck %s --check-prefix=RIGHT
// RUN: girih run %s --kernel past --reference @part --device sim --check-memory --arg A=iota:i32[1024] --arg B=poison:i32[512] \
// RUN:   --arg n=i64:513 2>/dev/null | FileCheck %s --check-prefix=RIGHT
// RUN: girih run %s --kernel before --reference @part --device sim --check-memory --arg A=iota:i32[1024] --arg B=poison:i32[512] \
// RUN:   --arg n=i64:-1 2>/dev/null | FileCheck %s --check-prefix=RIGHT
// RIGHT: right: B: all 512 elements are exact
// RIGHT: no findings

!a = memref<1024xi32, #tile.global>
!b = memref<512xi32, #tile.global>

module attributes {tile.target = "sm_90a"} {
// From 0 to 512: all 512 elements from there on are inside.
// CHECK-LABEL: .entry inside(
// CHECK-NOT: {{min|max}}.s64
// CHECK: ret;
tile.kernel @inside(%A: !a, %B: !b, %n: i64 {tile.range = [0, 512]}) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %i = arith.index_cast %n : i64 to index
  %x = tile.load %A[%i] : !a -> tensor<512xi32>
  tile.store %x, %B[%c0] : tensor<512xi32>, !b
}

// To 513: the last may be outside, none lies before.
// CHECK-LABEL: .entry past(
// CHECK-NOT: max.s64
// CHECK: min.s64
// CHECK: ret;
tile.kernel @past(%A: !a, %B: !b, %n: i64 {tile.range = [0, 513]}) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %i = arith.index_cast %n : i64 to index
  %x = tile.load %A[%i] : !a -> tensor<512xi32>
  tile.store %x, %B[%c0] : tensor<512xi32>, !b
}

// From -1 on: both ends are tested.
// CHECK-LABEL: .entry before(
// CHECK: max.s64
// CHECK: max.s64
// CHECK: ret;
tile.kernel @before(%A: !a, %B: !b, %n: i64 {tile.range = [-1, 512]}) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %i = arith.index_cast %n : i64 to index
  %x = tile.load %A[%i] : !a -> tensor<512xi32>
  tile.store %x, %B[%c0] : tensor<512xi32>, !b
}

// The last pass of a loop starts at 896; a row chosen by the block is one of 8, whatever the grid is.
// CHECK-LABEL: .entry loop(
// CHECK-NOT: {{min|max}}.s64
// CHECK: ret;
tile.kernel @loop(%A: memref<8x1024xi32, #tile.global>, %B: memref<8x1024xi32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  tile.grid %c8, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %c1000 = arith.constant 1000 : index
  %block = tile.block_id x
  %row = arith.remui %block, %c8 : index
  scf.for %i = %c0 to %c1000 step %c128 {
    %x = tile.load %A[%row, %i] : memref<8x1024xi32, #tile.global> -> tensor<1x128xi32>
    tile.store %x, %B[%row, %i] : tensor<1x128xi32>, memref<8x1024xi32, #tile.global>
  }
}

// By what each op may give: 0 to 7 each, so that a tile of 1 is one of 8.
// CHECK-LABEL: .entry ops(
// CHECK-NOT: max.s64 {{.*}}, 0;
// CHECK-NOT: min.s64 {{.*}}, 1;
// CHECK: ret;
tile.kernel @ops(%A: memref<8xi32, #tile.global>, %B: memref<8xi32, #tile.global>, %n: i64 {tile.range = [0, 15]}, %small: i8 {tile.range = [0, 7]}, %any: i64) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %i = arith.index_cast %n : i64 to index
  %free = arith.index_cast %any : i64 to index
  %divui = arith.divui %i, %c2 : index
  %divsi = arith.divsi %i, %c2 : index
  %remui = arith.remui %free, %c8 : index
  %remsi = arith.remsi %i, %c8 : index
  %minui = arith.minui %free, %c7 : index
  %minsi = arith.minsi %i, %c7 : index
  %ceildivui = arith.ceildivui %minsi, %c1 : index
  %andi = arith.andi %free, %c7 : index
  %extui = arith.index_castui %small : i8 to index
  %twice = arith.muli %extui, %c2 : index
  %half = arith.divui %twice, %c2 : index
  %odd = arith.cmpi eq, %remui, %c1 : index
  %select = arith.select %odd, %remui, %minui : index
  %up = arith.maxsi %select, %c1 : index
  %x1 = tile.load %A[%divui] : memref<8xi32, #tile.global> -> tensor<1xi32>
  %x2 = tile.load %A[%divsi] : memref<8xi32, #tile.global> -> tensor<1xi32>
  %x3 = tile.load %A[%remui] : memref<8xi32, #tile.global> -> tensor<1xi32>
  %x4 = tile.load %A[%remsi] : memref<8xi32, #tile.global> -> tensor<1xi32>
  %x5 = tile.load %A[%minui] : memref<8xi32, #tile.global> -> tensor<1xi32>
  %x6 = tile.load %A[%ceildivui] : memref<8xi32, #tile.global> -> tensor<1xi32>
  %x7 = tile.load %A[%andi] : memref<8xi32, #tile.global> -> tensor<1xi32>
  %x8 = tile.load %A[%half] : memref<8xi32, #tile.global> -> tensor<1xi32>
  %x9 = tile.load %A[%up] : memref<8xi32, #tile.global> -> tensor<1xi32>
  tile.store %x1, %B[%c0] : tensor<1xi32>, memref<8xi32, #tile.global>
  tile.store %x2, %B[%c1] : tensor<1xi32>, memref<8xi32, #tile.global>
  tile.store %x3, %B[%c2] : tensor<1xi32>, memref<8xi32, #tile.global>
  %s1 = arith.addi %x4, %x5 : tensor<1xi32>
  %s2 = arith.addi %x6, %x7 : tensor<1xi32>
  %s3 = arith.addi %x8, %x9 : tensor<1xi32>
  %s4 = arith.addi %s1, %s2 : tensor<1xi32>
  %s5 = arith.addi %s3, %s4 : tensor<1xi32>
  tile.store %s5, %B[%c7] : tensor<1xi32>, memref<8xi32, #tile.global>
}

// The elements of A from n on, and zero outside.
func.func @part(%A: memref<1024xi32>, %B: memref<512xi32>, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0 : i32
  %from = arith.index_cast %n : i64 to index
  scf.for %i = %c0 to %c512 step %c1 {
    %at = arith.addi %from, %i : index
    %inside = arith.cmpi ult, %at, %c1024 : index
    %x = scf.if %inside -> (i32) {
      %a = memref.load %A[%at] : memref<1024xi32>
      scf.yield %a : i32
    } else {
      scf.yield %zero : i32
    }
    memref.store %x, %B[%i] : memref<512xi32>
  }
  return
}
}
