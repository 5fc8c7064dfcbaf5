// A map that a branch chose and is stored through may be any map of its type.
// RUN: girih-opt %s -tile-set-target -tile-allocate-shared -convert-tile-to-nvvm | FileCheck %s

!map = !tile.tensor_map<4x8xf32>
!memory = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!tile = memref<4x8xf32, #tile.shared>

// CHECK-LABEL: tile.entry @chosen
// CHECK: tile.tensor_map %A exact_rows : memref
// CHECK: tile.tensor_map %B exact_rows : memref
tile.kernel @chosen(%A: !memory, %B: !memory, %first: i32) threads(32) launch {
  %c1 = arith.constant 1 : index
  %from = tile.tensor_map %A : !memory -> !map
  %to = tile.tensor_map %B : !memory -> !map
  tile.grid %c1, %c1, %c1 args(%from, %to : !map, !map)
} body args(%from: !map, %to: !map) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %m = tile.alloc : !tile
  %choice = arith.cmpi eq, %first, %zero : i32
  %map = scf.if %choice -> !map {
    scf.yield %from : !map
  } else {
    scf.yield %to : !map
  }
  tile.tma.store %m, %map[%c0, %c0] : !tile, !map
}
