// A copy that replaces sizes starts at 0: what the simulator says. A prefetch changes
// nothing, whatever its priority.
//
// RUN: not girih run %s --kernel start --device sim --arg A=iota:f32[8,32] --arg n=i32:4 2>&1 | FileCheck %s --check-prefix=START
// RUN: girih run %s --kernel start --device sim --arg A=iota:f32[8,32] --arg n=i32:0
// START: a tensor copy that replaces sizes of its map starts at 4; it must start at 0, by an address of its own

!matrix = memref<8x32xf32, #tile.global>
!map = !tile.tensor_map<8x32xf32>
!box = memref<8x32xf32, #tile.shared>
!bar = memref<!tile.mbarrier, #tile.shared>

module attributes {tile.target = "sm_107a"} {
tile.kernel @start(%A: !matrix, %n: i32) threads(32) launch {
  %c1 = arith.constant 1 : index
  %map = tile.tensor_map %A : !matrix -> !map
  tile.grid %c1, %c1, %c1 args(%map : !map)
} body args(%map: !map) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %one = arith.constant 1 : i32
  %bytes = arith.constant 1024 : i32
  %even = arith.constant false
  %m = tile.alloc : !box
  %bar = tile.alloc : !bar
  %there = tile.global_address %A[%c0, %c0] : !matrix
  %row = arith.index_cast %n : i32 to index
  %elected = tile.elect
  tile.tma.prefetch %map[%row, %c0] evict_last override_address %there : !map
  tile.bulk.prefetch %A[%c0, %c0], %bytes evict_last : !matrix
  scf.if %elected {
    tile.mbarrier.init %bar[], %one : !bar
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : !bar
    tile.tma.load %map[%row, %c0], %m, %bar[] override_address %there override_dims(%c8, %c8) override_strides(%c128) : !map, !box, !bar
    tile.mbarrier.wait %bar[], %even : !bar
  }
}
}
