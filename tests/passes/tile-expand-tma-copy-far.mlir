// An index far outside: the copy reads fill, though its lower 32 bits lie inside.
// RUN: girih run %s --device sim --arg A=ones:f32[16,32] --arg O=poison:f32[4,32] --arg big=i64:4294967296 --check O=zeros:f32[4,32] | FileCheck %s
// RUN: girih run %s --device sim --arg A=ones:f32[16,32] --arg O=poison:f32[4,32] --arg big=i64:-4294967296 --check O=zeros:f32[4,32] | FileCheck %s
// RUN: girih run %s --device sim --arg A=ones:f32[16,32] --arg O=poison:f32[4,32] --arg big=i64:12 --check O=ones:f32[4,32] | FileCheck %s
// CHECK: right: O: all 128 elements are exact
!A = memref<16x32xf32, #tile.global>
!box = memref<4x32xf32, #tile.shared<swizzle = 128>>
!O = memref<4x32xf32, #tile.global>
!bar = memref<!tile.mbarrier, #tile.shared>
tile.kernel @k(%A: !A, %O: !O, %big: i64) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1 : i32
  %bytes = arith.constant 512 : i32
  %false = arith.constant false
  %b = arith.index_cast %big : i64 to index
  %m = tile.alloc : !box
  %bar = tile.alloc : !bar
  %t = tile.thread_id
  %e = tile.elect
  scf.if %e {
    tile.mbarrier.init %bar[], %one : !bar
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : !bar
    tile.tma.copy load %A[%b, %c0] extents [4, 32], %m mbar %bar[] : !A, !box, !bar
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %false : !bar
  scf.for %i = %c0 to %c4 step %c1 {
    %x = memref.load %m[%i, %t] : !box
    memref.store %x, %O[%i, %t] : !O
  }
}
