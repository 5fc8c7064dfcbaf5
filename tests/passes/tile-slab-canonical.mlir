// RUN: girih-opt %s -canonicalize | FileCheck %s

// A part of a part is one part, and the part that is the whole is none.
tile.kernel @parts(%C: memref<4xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %i = tile.warp_id
  %j = tile.lane_id
  %c0 = arith.constant 0 : index
  // CHECK: %[[ALL:.*]] = tile.alloc : memref<4x32x8xf32, #tile.shared>
  %all = tile.alloc : memref<4x32x8xf32, #tile.shared>
  // CHECK-NEXT: %[[PART:.*]] = tile.slab %[[ALL]][%warp, %lane] : memref<4x32x8xf32, #tile.shared> -> memref<8xf32, #tile.shared>
  %whole = tile.slab %all[] : memref<4x32x8xf32, #tile.shared> -> memref<4x32x8xf32, #tile.shared>
  %part = tile.slab %whole[%i] : memref<4x32x8xf32, #tile.shared> -> memref<32x8xf32, #tile.shared>
  %row = tile.slab %part[%j] : memref<32x8xf32, #tile.shared> -> memref<8xf32, #tile.shared>
  // CHECK-NEXT: memref.load %[[PART]]
  %x = memref.load %row[%c0] : memref<8xf32, #tile.shared>
  memref.store %x, %C[%c0] : memref<4xf32, #tile.global>
}
