// An empty array has no tensor map: a copy that would use it is a fault that names the array, and an empty grid is none.
//
// RUN: sh -c 'girih run %s --device sim --arg A=ones:bf16[0,32] --arg n=i32:1 2>&1; echo exit $?' | FileCheck %s
// CHECK: run-empty-map.mlir:{{[0-9]+}}:{{[0-9]+}}: error: CUDA_ERROR_ILLEGAL_INSTRUCTION: {{.*}}an empty tensor has no map
// CHECK: argument A is empty and has no tensor map, so that no copy may use it
// CHECK: exit 1
// RUN: girih run %s --device sim --arg A=ones:bf16[0,32] --arg n=i32:0 | FileCheck %s --check-prefix=NONE
// NONE: the grid is empty (0x1x1), nothing was launched
//
// A grid that cannot be launched is where the kernel says it.
//
// RUN: sh -c 'girih run %s --device sim --arg A=ones:bf16[0,32] --arg n=i32:-1 2>&1; echo exit $?' | FileCheck %s --check-prefix=GRID
// GRID: run-empty-map.mlir:[[#@LINE+10]]:3: error: kernel `k`: grid x = -1 blocks, but 0 to 2147483647 are allowed
// GRID: exit 1
!A = memref<?x32xbf16, strided<[32, 1]>, #tile.global>
!map = !tile.tensor_map<8x32xbf16, swizzle = 64>
!box = memref<8x32xbf16, #tile.shared<swizzle = 64>>
!bar = memref<!tile.mbarrier, #tile.shared>
tile.kernel @k(%A: !A, %n: i32) threads(32) launch {
  %c1 = arith.constant 1 : index
  %x = arith.index_cast %n : i32 to index
  %f = tile.tensor_map %A : !A -> !map
  tile.grid %x, %c1, %c1 args(%f : !map)
} body args(%f: !map) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %bytes = arith.constant 512 : i32
  %false = arith.constant false
  %m = tile.alloc : !box
  %bar = tile.alloc : !bar
  %e = tile.elect
  scf.if %e {
    tile.mbarrier.init %bar[], %one : !bar
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : !bar
    tile.tma.load %f[%c0, %c0], %m, %bar[] : !map, !box, !bar
    tile.mbarrier.wait %bar[], %false : !bar
  }
}
