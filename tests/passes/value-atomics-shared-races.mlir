// What the simulator finds in programs that order their buffers themselves, and do not: an atomic operation races with the stores
// before it and with the loads after it, of other threads. Atomic operations do not race with each other.
// RUN: not girih run %s --kernel stored --device sim --check-memory --arg Y=zeros:i32[64] 2>&1 | FileCheck %s --check-prefix=STORED
// STORED: error: {{race|uninitialised read}}:
// RUN: not girih run %s --kernel loaded --device sim --check-memory --arg Y=zeros:i32[64] 2>&1 | FileCheck %s --check-prefix=LOADED
// LOADED: error: race:
// RUN: girih run %s --kernel ordered --device sim --check-memory --arg Y=zeros:i32[64] | FileCheck %s --check-prefix=ORDERED
// ORDERED: right: Y: all 64 elements are exact
// ORDERED: no findings

tile.kernel @stored(%Y: memref<64xi32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %m = tile.alloc ordered : memref<64xi32, #tile.shared>
  %x = tile.iota axis 0 : tensor<64xi32>
  %last = arith.constant dense<63> : tensor<64xi32>
  %other = arith.subi %last, %x : tensor<64xi32>
  tile.store %x, %m[%c0] : tensor<64xi32>, memref<64xi32, #tile.shared>
  tile.atomic_rmw add %x, %m[] rows %other : tensor<64xi32> : tensor<64xi32>, memref<64xi32, #tile.shared>
  tile.barrier
  %y = tile.load %m[%c0] : memref<64xi32, #tile.shared> -> tensor<64xi32>
  tile.store %y, %Y[%c0] : tensor<64xi32>, memref<64xi32, #tile.global>
}

tile.kernel @loaded(%Y: memref<64xi32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %m = tile.alloc ordered : memref<64xi32, #tile.shared>
  %x = tile.iota axis 0 : tensor<64xi32>
  %last = arith.constant dense<63> : tensor<64xi32>
  %other = arith.subi %last, %x : tensor<64xi32>
  tile.store %x, %m[%c0] : tensor<64xi32>, memref<64xi32, #tile.shared>
  tile.barrier
  tile.atomic_rmw add %x, %m[] rows %other : tensor<64xi32> : tensor<64xi32>, memref<64xi32, #tile.shared>
  %y = tile.load %m[%c0] : memref<64xi32, #tile.shared> -> tensor<64xi32>
  tile.store %y, %Y[%c0] : tensor<64xi32>, memref<64xi32, #tile.global>
}

// Both additions go to every element, each from another thread.
tile.kernel @ordered(%Y: memref<64xi32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %m = tile.alloc ordered : memref<64xi32, #tile.shared>
  %x = tile.iota axis 0 : tensor<64xi32>
  %last = arith.constant dense<63> : tensor<64xi32>
  %other = arith.subi %last, %x : tensor<64xi32>
  tile.store %x, %m[%c0] : tensor<64xi32>, memref<64xi32, #tile.shared>
  tile.barrier
  tile.atomic_rmw add %x, %m[] rows %other : tensor<64xi32> : tensor<64xi32>, memref<64xi32, #tile.shared>
  tile.atomic_rmw add %other, %m[%c0] : tensor<64xi32>, memref<64xi32, #tile.shared>
  tile.barrier
  %y = tile.load %m[%c0] : memref<64xi32, #tile.shared> -> tensor<64xi32>
  tile.store %y, %Y[%c0] : tensor<64xi32>, memref<64xi32, #tile.global>
}

func.func @ordered_ref(%Y: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %all = arith.constant 126 : i32
  scf.for %i = %c0 to %c64 step %c1 {
    // i, and twice what is left to 63.
    %x = arith.index_cast %i : index to i32
    %sum = arith.subi %all, %x : i32
    memref.store %sum, %Y[%i] : memref<?xi32>
  }
  return
}
