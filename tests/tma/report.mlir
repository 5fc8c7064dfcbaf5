// Reports on mbarriers are not simulated: the simulator refuses them at the instruction, and does not guess.
//
// RUN: girih compile %s --emit ptx -o %t.ptx
// RUN: not girih run %s --device sim --arg A=iota:f32[8,32] 2>&1 | FileCheck %s
// CHECK: PTX {{[0-9]+}}:2: {{.*}} modifier `.mbarrier::report::disabled` is not simulated here

!matrix = memref<8x32xf32, #tile.global>
!map = !tile.tensor_map<8x32xf32>
!box = memref<8x32xf32, #tile.shared>
!bar = memref<!tile.mbarrier, #tile.shared>

module attributes {tile.target = "sm_107a"} {
tile.kernel @k(%A: !matrix) threads(32) launch {
  %c1 = arith.constant 1 : index
  %map = tile.tensor_map %A : !matrix -> !map
  tile.grid %c1, %c1, %c1 args(%map : !map)
} body args(%map: !map) {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : !box
  %bar = tile.alloc : !bar
  tile.tma.load %map[%c0, %c0], %m, %bar[] report disabled : !map, !box, !bar
}
}
