// Stores write rows up to a multiple of 16 bytes. The map of a store that does not say `overwrite` asks the launcher to
// refuse rows that end elsewhere.
// RUN: girih-opt %s -tile-set-target -tile-allocate-shared -convert-tile-to-nvvm | FileCheck %s
// RUN: girih run %s --kernel exact --device sim --arg A=iota:f32[4,8] --arg B=zeros:f32[4,8] --check A=iota:f32[4,8] --check B=iota:f32[4,8]
// RUN: not girih run %s --kernel exact --device sim "--arg=A=iota:f32[4,8]" "--arg=B=zeros:f32[4,7;pitch=8]" 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: girih run %s --kernel loose --device sim "--arg=A=iota:f32[4,8]" "--arg=B=zeros:f32[4,7;pitch=8]"

// REFUSED: kernel `exact`, argument B: rows of 7 elements are 28 bytes, but the kernel stores them with a tensor map, which writes up to a multiple of 16: 4 bytes after each row would be overwritten; make rows 8 elements long, or let the store say `overwrite`

!map = !tile.tensor_map<4x8xf32>
!memory = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!tile = memref<4x8xf32, #tile.shared>
!bar = memref<!tile.mbarrier, #tile.shared>

// CHECK-LABEL: tile.entry @exact
// CHECK: tile.tensor_map %A : memref
// CHECK: tile.tensor_map %B exact_rows : memref
tile.kernel @exact(%A: !memory, %B: !memory) threads(32) launch {
  %c1 = arith.constant 1 : index
  %from = tile.tensor_map %A : !memory -> !map
  %to = tile.tensor_map %B : !memory -> !map
  tile.grid %c1, %c1, %c1 args(%from, %to : !map, !map)
} body args(%from: !map, %to: !map) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %bytes = arith.constant 128 : i32
  %false = arith.constant false
  %m = tile.alloc : !tile
  %bar = tile.alloc : !bar
  %elected = tile.elect
  scf.if %elected {
    tile.mbarrier.init %bar[], %one : !bar
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : !bar
    tile.tma.load %from[%c0, %c0], %m, %bar[] : !map, !tile, !bar
    tile.mbarrier.wait %bar[], %false : !bar
    tile.tma.store %m, %to[%c0, %c0] : !tile, !map
    tile.bulk.commit
    tile.bulk.wait 0
  }
}

// Two of the rows, so that what is written past them is still the argument's memory.
!half = !tile.tensor_map<2x8xf32>
!rows = memref<2x8xf32, #tile.shared>

// CHECK-LABEL: tile.entry @loose
// CHECK: tile.tensor_map %A : memref
// CHECK: tile.tensor_map %B : memref
tile.kernel @loose(%A: !memory, %B: !memory) threads(32) launch {
  %c1 = arith.constant 1 : index
  %from = tile.tensor_map %A : !memory -> !half
  %to = tile.tensor_map %B : !memory -> !half
  tile.grid %c1, %c1, %c1 args(%from, %to : !half, !half)
} body args(%from: !half, %to: !half) {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : !rows
  %elected = tile.elect
  scf.if %elected {
    tile.tma.reduce add %m, %to[%c0, %c0] overwrite : !rows, !half
    tile.bulk.commit
    tile.bulk.wait 0
  }
}
