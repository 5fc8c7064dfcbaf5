// One of several tiles by a number; each case may move data between warps.
// RUN: girih run %s --kernel choose --device sim --check-memory --arg X=iota:i32[256] --arg n=i32:0 --arg Y=poison:i32[256] 2>/dev/null | FileCheck %s
// RUN: girih run %s --kernel choose --device sim --check-memory --arg X=iota:i32[256] --arg n=i32:5 --arg Y=poison:i32[256] 2>/dev/null | FileCheck %s
// RUN: girih run %s --kernel choose --device sim --check-memory --arg X=iota:i32[256] --arg n=i32:-1 --arg Y=poison:i32[256] 2>/dev/null | FileCheck %s
// CHECK: right: Y: all 256 elements are exact
// RUN: girih run %s --kernel near --device sim --arg n=i64:5 --arg Y=zeros:i32[1] "--check=Y=full(11):i32[1]" 2>/dev/null | FileCheck %s --check-prefix=ONE
// RUN: girih run %s --kernel near --device sim --arg n=i64:4294967301 --arg Y=zeros:i32[1] "--check=Y=full(12):i32[1]" 2>/dev/null | FileCheck %s --check-prefix=ONE
// RUN: girih run %s --kernel near --device sim --arg n=i64:4294967296 --arg Y=zeros:i32[1] 2>/dev/null | FileCheck %s --check-prefix=ONE
// RUN: girih run %s --kernel far --device sim --arg n=i64:4294967297 --arg Y=zeros:i32[1] "--check=Y=full(11):i32[1]" 2>/dev/null | FileCheck %s --check-prefix=ONE
// RUN: girih run %s --kernel far --device sim --arg n=i64:4294967296 --arg Y=zeros:i32[1] "--check=Y=full(12):i32[1]" 2>/dev/null | FileCheck %s --check-prefix=ONE
// RUN: girih run %s --kernel far --device sim --arg n=i64:1 --arg Y=zeros:i32[1] 2>/dev/null | FileCheck %s --check-prefix=ONE
// ONE: right: Y: all 1 elements are exact
tile.kernel @choose(%X: memref<?xi32, #tile.global>, %n: i32, %Y: memref<?xi32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xi32, #tile.global> -> tensor<256xi32>
  %case = arith.index_cast %n : i32 to index
  %y = scf.index_switch %case -> tensor<256xi32>
  case 0 {
    %sums = tile.scan %x axis 0 (%a: i32, %b: i32) {
      %s = arith.addi %a, %b : i32
      tile.yield %s : i32
    } : tensor<256xi32> -> tensor<256xi32>
    scf.yield %sums : tensor<256xi32>
  }
  case 5 {
    %flipped = tile.extract_slice %x at [255] strides [-1] : tensor<256xi32> -> tensor<256xi32>
    scf.yield %flipped : tensor<256xi32>
  }
  default {
    scf.yield %x : tensor<256xi32>
  }
  tile.store %y, %Y[%c0] : tensor<256xi32>, memref<?xi32, #tile.global>
}

func.func @choose_ref(%X: memref<?xi32>, %n: i32, %Y: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c255 = arith.constant 255 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0 : i32
  %case = arith.index_cast %n : i32 to index
  scf.for %i = %c0 to %c256 step %c1 iter_args(%sum = %zero) -> (i32) {
    %x = memref.load %X[%i] : memref<?xi32>
    %next = arith.addi %sum, %x : i32
    %at = arith.subi %c255, %i : index
    %flipped = memref.load %X[%at] : memref<?xi32>
    %y = scf.index_switch %case -> i32
    case 0 {
      scf.yield %next : i32
    }
    case 5 {
      scf.yield %flipped : i32
    }
    default {
      scf.yield %x : i32
    }
    memref.store %y, %Y[%i] : memref<?xi32>
    scf.yield %next : i32
  }
  return
}

// All 64 bits of a number count.
tile.kernel @near(%n: i64, %Y: memref<1xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %case = arith.index_cast %n : i64 to index
  %y = scf.index_switch %case -> i32
  case 0 {
    %a = arith.constant 10 : i32
    scf.yield %a : i32
  }
  case 5 {
    %b = arith.constant 11 : i32
    scf.yield %b : i32
  }
  case 1 {
    %d = arith.constant 13 : i32
    scf.yield %d : i32
  }
  default {
    %c = arith.constant 12 : i32
    scf.yield %c : i32
  }
  memref.store %y, %Y[%c0] : memref<1xi32, #tile.global>
}
func.func @near_ref(%n: i64, %Y: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %case = arith.index_cast %n : i64 to index
  %y = scf.index_switch %case -> i32
  case 0 {
    %a = arith.constant 10 : i32
    scf.yield %a : i32
  }
  case 5 {
    %b = arith.constant 11 : i32
    scf.yield %b : i32
  }
  case 1 {
    %d = arith.constant 13 : i32
    scf.yield %d : i32
  }
  default {
    %c = arith.constant 12 : i32
    scf.yield %c : i32
  }
  memref.store %y, %Y[%c0] : memref<?xi32>
  return
}

// Those of a case too.
tile.kernel @far(%n: i64, %Y: memref<1xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %case = arith.index_cast %n : i64 to index
  %y = scf.index_switch %case -> i32
  case 0 {
    %a = arith.constant 10 : i32
    scf.yield %a : i32
  }
  case 4294967297 {
    %b = arith.constant 11 : i32
    scf.yield %b : i32
  }
  case 1 {
    %d = arith.constant 13 : i32
    scf.yield %d : i32
  }
  default {
    %c = arith.constant 12 : i32
    scf.yield %c : i32
  }
  memref.store %y, %Y[%c0] : memref<1xi32, #tile.global>
}
func.func @far_ref(%n: i64, %Y: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %case = arith.index_cast %n : i64 to index
  %y = scf.index_switch %case -> i32
  case 0 {
    %a = arith.constant 10 : i32
    scf.yield %a : i32
  }
  case 4294967297 {
    %b = arith.constant 11 : i32
    scf.yield %b : i32
  }
  case 1 {
    %d = arith.constant 13 : i32
    scf.yield %d : i32
  }
  default {
    %c = arith.constant 12 : i32
    scf.yield %c : i32
  }
  memref.store %y, %Y[%c0] : memref<?xi32>
  return
}
