// A region of 4-bit elements, two in a byte, by planned copies: rows of 256 bytes are two boxes of 256 elements. It goes to shared
// memory and back.
//
// RUN: girih run %s --device sim --arg A=iota:i8[8,512] --arg Out=poison:i8[4,256] | FileCheck %s
// RUN: girih-opt %s | girih-opt --tile-expand-tma 2>&1 | FileCheck %s --check-prefix=OPS
// CHECK: k: ran on
// CHECK: right: Out: all {{.*}} elements are exact
// OPS: tile.tma.load {{.*}} !tile.tensor_map<4x256xf4E2M1FN, swizzle = 128>
// OPS: tile.tma.store {{.*}} !tile.tensor_map<4x256xf4E2M1FN, swizzle = 128>

!matrix = memref<8x512xi8, #tile.global>
!out = memref<4x256xi8, #tile.global>
!panels = memref<2x4x128xi8, #tile.shared<swizzle = 128>>
!bar = memref<!tile.mbarrier, #tile.shared>

module attributes {tile.target = "sm_100a"} {

tile.kernel @k(%A: !matrix, %Out: !out) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %one = arith.constant 1 : i32
  %bytes = arith.constant 1024 : i32
  %even = arith.constant false
  %m = tile.alloc : !panels
  %bar = tile.alloc : !bar
  %thread = tile.thread_id
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    tile.mbarrier.init %bar[], %one : !bar
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : !bar
    tile.tma.copy load %A[%c2, %c128] extents [4, 256], %m mbar %bar[] format b4x16 : !matrix, !panels, !bar
    tile.mbarrier.wait %bar[], %even : !bar
    tile.tma.copy store %Out[%c0, %c0] extents [4, 256], %m format b4x16 : !out, !panels
    tile.bulk.commit
    tile.bulk.wait 0
  }
}

func.func @k_ref(%A: memref<8x512xi8>, %Out: memref<4x256xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  scf.for %r = %c0 to %c4 step %c1 {
    scf.for %c = %c0 to %c256 step %c1 {
      %row = arith.addi %r, %c2 : index
      %column = arith.addi %c, %c128 : index
      %v = memref.load %A[%row, %column] : memref<8x512xi8>
      memref.store %v, %Out[%r, %c] : memref<4x256xi8>
    }
  }
  return
}

}
