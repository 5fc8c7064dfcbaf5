// What a kernel prints goes before the outcome, block by block and thread by thread; an assertion that fails ends the run.
//
// RUN: girih run %s --kernel say --device sim --arg X=iota:f32[8] | FileCheck %s --check-prefix=SAY --match-full-lines --strict-whitespace
// RUN: girih run %s --kernel say --device sim --arg X=iota:f32[8] --json | FileCheck %s --check-prefix=JSON
// RUN: not girih run %s --kernel check --device sim --arg X=iota:f32[8] > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT < %t.out
// RUN: FileCheck %s --check-prefix=ERR < %t.err
// RUN: not girih run %s --kernel check --device sim --arg X=iota:f32[8] --json | FileCheck %s --check-prefix=FAILED

//       SAY:block (0, 0, 0), [0, 0]: x = 0 of {0} 100%
//  SAY-NEXT:block (0, 0, 0): i = 0
//  SAY-NEXT:block (0, 0, 0): i = 1
//  SAY-NEXT:block (0, 0, 0), thread 0: 1.5 0.100000001 0.10000000000000001 -1 255 ff 1
//  SAY-NEXT:block (0, 0, 0), [0, 1]: x = 1 of {0} 100%
//  SAY-NEXT:block (0, 0, 0), thread 1: 1.5 0.100000001 0.10000000000000001 -1 255 ff 1
//  SAY-NEXT:block (0, 0, 0), [1, 0]: x = 2 of {0} 100%
//  SAY-NEXT:block (0, 0, 0), [1, 1]: x = 3 of {0} 100%
//  SAY-NEXT:block (1, 0, 0), [0, 0]: x = 4 of {1} 100%
//  SAY-NEXT:block (1, 0, 0): i = 0
//       SAY:block (1, 0, 0), [1, 1]: x = 7 of {1} 100%
//  SAY-NEXT:say: ran on simulator, grid 2x1x1

// JSON: "printed":"block (0, 0, 0), [0, 0]: x = 0 of {0} 100%\n

module attributes {tile.target = "sm_90a"} {
tile.kernel @say(%X: memref<?xf32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.grid %c2, %c1, %c1
} body {
  %b = tile.block_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %at = arith.muli %b, %c4 : index
  %row = tile.load %X[%at] : memref<?xf32, #tile.global> -> tensor<4xf32>
  %x = tile.reshape %row : tensor<4xf32> -> tensor<2x2xf32>
  tile.print "x = {} of {{{}}} 100%", %x, %b : tensor<2x2xf32>, index
  scf.for %i = %c0 to %c2 step %c1 {
    tile.print "i = {}", %i : index
  }
  %t = tile.thread_id
  %low = arith.cmpi ult, %t, %c2 : index
  scf.if %low {
    %h = arith.constant 1.5 : f16
    %s = arith.constant 0.1 : f32
    %d = arith.constant 0.1 : f64
    %n = arith.constant -1 : i8
    tile.print "{} {} {} {} {:u} {:x} {}", %h, %s, %d, %n, %n, %n, %low : f16, f32, f64, i8, i8, i8, i1
  }
}

// OUT: block (0, 0, 0): before
// OUT: print.mlir:[[#@LINE+15]]:3: assertion failed: less than three, in block (0, 0, 0), [3]
// ERR: print.mlir:[[#@LINE+14]]:3: error: CUDA_ERROR_ASSERT: the assertion `less than three` does not hold
// ERR: in `check`, block [0, 0, 0], thread [3, 0, 0]
// FAILED: "line":[[#@LINE+12]]
// FAILED-SAME: "ok":false,"printed":"block (0, 0, 0): before\n
tile.kernel @check(%X: memref<?xf32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  tile.print "before"
  %true = arith.constant true
  tile.assert %true, "fine" : i1
  %i = tile.iota axis 0 : tensor<4xi32>
  %three = arith.constant dense<3> : tensor<4xi32>
  %less = arith.cmpi slt, %i, %three : tensor<4xi32>
  tile.assert %less, "less than three" : tensor<4xi1>
  tile.print "after"
}

// What loops of any kind and branches give is one number where they are the same for all threads.
// RUN: girih run %s --kernel loops --device sim | FileCheck %s --check-prefix=LOOPS --match-full-lines
// LOOPS: block (0, 0, 0): before 0
// LOOPS-NEXT: block (0, 0, 0): pass 0
// LOOPS-NEXT: block (0, 0, 0): before 1
// LOOPS-NEXT: block (0, 0, 0): pass 1
// LOOPS-NEXT: block (0, 0, 0): before 2
// LOOPS-NEXT: block (0, 0, 0): after 2
// LOOPS-NEXT: block (0, 0, 0), thread 0: own 2
// LOOPS-NEXT: block (0, 0, 0), thread 1: own 2
// LOOPS-NEXT: loops: ran on simulator, grid 1x1x1
tile.kernel @loops() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %last = scf.while (%i = %c0) : (index) -> index {
    tile.print "before {}", %i : index
    %more = arith.cmpi ult, %i, %c2 : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    tile.print "pass {}", %i : index
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  tile.print "after {}", %last : index
  // From another number in each thread on.
  %t = tile.thread_id
  %own = scf.while (%i = %t) : (index) -> index {
    %more = arith.cmpi ult, %i, %c2 : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  %low = arith.cmpi ult, %t, %c2 : index
  scf.if %low {
    tile.print "own {}", %own : index
  }
}

// In a role its first thread speaks where all are of one mind.
// RUN: girih run %s --kernel roles --device sim | FileCheck %s --check-prefix=ROLES --match-full-lines
// ROLES: block (0, 0, 0): first 0
// ROLES-NEXT: block (0, 0, 0): first 1
// ROLES-NEXT: block (0, 0, 0): second
// ROLES-NEXT: block (0, 0, 0), thread 33: 1
// ROLES-NEXT: roles: ran on simulator, grid 1x1x1
tile.kernel @roles() threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.warp_specialize
  role first(%t) warps(1) {
    scf.for %i = %c0 to %c2 step %c1 {
      tile.print "first {}", %i : index
    }
  } role second(%t) warps(1) {
    tile.print "second"
    %is = arith.cmpi eq, %t, %c1 : index
    scf.if %is {
      tile.print "{}", %t : index
    }
  }
}
}
