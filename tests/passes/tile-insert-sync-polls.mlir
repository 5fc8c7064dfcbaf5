// A loop that waits for another thread's write must let it be seen: LLVM reads once what nothing in the loop changes.
// RUN: girih-opt %s -tile-insert-sync -split-input-file 2>&1 | FileCheck %s --implicit-check-not=remark:

// CHECK: [[@LINE+10]]:10: remark: {{.*}}is read in each pass of a loop that waits for it, {{.*}}; put `tile.fence gpu` in front of it
tile.kernel @waits(%F: memref<4xi32, #tile.global>, %most: i32) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // A counter beside it makes no difference.
  %n = scf.while (%i = %zero) : (i32) -> i32 {
    %f = memref.load %F[%c0] : memref<4xi32, #tile.global>
    %unset = arith.cmpi eq, %f, %zero : i32
    %patient = arith.cmpi slt, %i, %most : i32
    %more = arith.andi %unset, %patient : i1
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = arith.addi %i, %one : i32
    scf.yield %next : i32
  }
}

// -----

// CHECK-LABEL: tile.kernel @fenced
// A search reads other places, and a fence lets writes be seen.
tile.kernel @fenced(%F: memref<4xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  scf.while : () -> () {
    tile.fence gpu
    %f = memref.load %F[%c0] : memref<4xi32, #tile.global>
    %unset = arith.cmpi eq, %f, %zero : i32
    scf.condition(%unset)
  } do {
    scf.yield
  }
  %n = scf.while (%i = %c0) : (index) -> index {
    %f = memref.load %F[%i] : memref<4xi32, #tile.global>
    %unset = arith.cmpi eq, %f, %zero : i32
    scf.condition(%unset) %i : index
  } do {
  ^bb0(%i: index):
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
}
