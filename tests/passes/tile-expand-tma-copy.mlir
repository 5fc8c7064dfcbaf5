// RUN: girih-opt %s --tile-expand-tma -split-input-file 2>/dev/null | FileCheck %s
// RUN: girih-opt %s --tile-expand-tma -split-input-file -verify-diagnostics -o /dev/null

// A region that fits into one box; rows as wide as the swizzle.
// CHECK-LABEL: tile.kernel @one
// CHECK: tile.tensor_map %A : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<128x64xbf16, swizzle = 128, fill = nan, l2 = 256>
tile.kernel @one(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c64 = arith.constant 64 : index
  %x = tile.block_id x
  %column = arith.muli %x, %c64 : index
  // CHECK: %[[COLUMN:.*]] = arith.muli
  // CHECK: %[[M:.*]] = tile.alloc
  %m = tile.alloc : memref<128x64xbf16, #tile.shared<swizzle = 128>>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  // An index that may be past 32 bits is brought back to the nearest that is not.
  // CHECK: %[[FROM:.*]] = arith.maxsi %[[COLUMN]], %{{.*}}
  // CHECK: %[[NEAR:.*]] = arith.minsi %[[FROM]], %{{.*}}
  // CHECK: tile.tma.load %{{.*}}[%block_x, %[[NEAR]]], %[[M]], %{{.*}}[] cache evict_last :
  // expected-remark@below {{takes 1 copy of 128x64, 16384 bytes; the mbarrier counts 16384 bytes}}
  tile.tma.copy load %A[%x, %column] extents [128, 64], %m mbar %bar[] cache evict_last fill nan l2 256 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>, memref<128x64xbf16, #tile.shared<swizzle = 128>>, memref<!tile.mbarrier, #tile.shared>
}

// -----

// Panels, and rows that are cut into equal boxes: a part of shared memory each. The store takes the load's map.
// CHECK-LABEL: tile.kernel @panels
// CHECK: tile.grid %{{.*}}, %{{.*}}, %{{.*}} args(%{{[^,]*}} : !tile.tensor_map<150x64xbf16, swizzle = 128>)
tile.kernel @panels(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<2x300x64xbf16, #tile.shared<swizzle = 128>>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  // CHECK: %[[P:.*]] = tile.part %{{.*}}[%c0{{.*}}] : memref<2x300x64xbf16, #tile.shared<swizzle = 128>> -> memref<150x64xbf16, #tile.shared<swizzle = 128>>
  // CHECK-NEXT: tile.tma.load %{{.*}}[%c0, %c0], %[[P]],
  // CHECK: arith.constant 9600 : index
  // CHECK: %[[C150:.*]] = arith.constant 150 : index
  // CHECK-NEXT: tile.tma.load %{{.*}}[%[[C150]], %c0],
  // CHECK: arith.constant 19200 : index
  // CHECK: %[[C64:.*]] = arith.constant 64 : index
  // CHECK-NEXT: tile.tma.load %{{.*}}[%c0, %[[C64]]],
  // CHECK: arith.constant 28800 : index
  // CHECK: tile.tma.load
  // expected-remark@below {{takes 4 copies of 150x64, 19200 bytes each; the mbarrier counts 76800 bytes}}
  tile.tma.copy load %A[%c0, %c0] extents [300, 128], %m mbar %bar[] : memref<?x?xbf16, strided<[?, 1]>, #tile.global>, memref<2x300x64xbf16, #tile.shared<swizzle = 128>>, memref<!tile.mbarrier, #tile.shared>
  // CHECK-COUNT-4: tile.tma.reduce add
  // expected-remark@below {{takes 4 copies of 150x64, 19200 bytes each}}
  tile.tma.copy store %A[%c0, %c0] extents [300, 128], %m reduce add : memref<?x?xbf16, strided<[?, 1]>, #tile.global>, memref<2x300x64xbf16, #tile.shared<swizzle = 128>>
}

// -----

// A prime number of rows: a tail with a box, and so a map, of its own.
// CHECK-LABEL: tile.kernel @tail
// CHECK: args(%{{.*}}, %{{.*}} : !tile.tensor_map<256x32xf32>, !tile.tensor_map<1x32xf32>)
tile.kernel @tail(%A: memref<?x64xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.block_id x
  %m = tile.alloc : memref<257x32xf32, #tile.shared>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  // CHECK: %[[C256:.*]] = arith.constant 256 : index
  // CHECK: arith.addi %{{.*}}, %[[C256]]
  // expected-remark@below {{takes 1 copy of 256x32, 32768 bytes, and 1 copy of 1x32, 128 bytes; the mbarrier counts 32896 bytes}}
  tile.tma.copy load %A[%x, %c0] extents [257, 32], %m mbar %bar[] : memref<?x64xf32, #tile.global>, memref<257x32xf32, #tile.shared>, memref<!tile.mbarrier, #tile.shared>
}

// -----

// Six dimensions of which the inner ones follow each other; 8-byte rows alone would be too short.
// CHECK-LABEL: tile.kernel @joined
// CHECK: %[[V:.*]] = memref.collapse_shape %A
// CHECK: tile.tensor_map %[[V]]
tile.kernel @joined(%A: memref<?x2x2x2x4x4xf16, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.block_id x
  %m = tile.alloc : memref<3x2x2x2x4x4xf16, #tile.shared>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  // expected-remark@below {{takes 1 copy of 24x16, 768 bytes; dimensions 0 to 3 are one; dimensions 4 to 5 are one; the mbarrier counts 768 bytes}}
  tile.tma.copy load %A[%x, %c0, %c0, %c0, %c0, %c0] extents [3, 2, 2, 2, 4, 4], %m mbar %bar[] : memref<?x2x2x2x4x4xf16, #tile.global>, memref<3x2x2x2x4x4xf16, #tile.shared>, memref<!tile.mbarrier, #tile.shared>
}

// -----

// Many instructions are a loop.
// CHECK-LABEL: tile.kernel @loop
tile.kernel @loop(%A: memref<?x?x512xf32, strided<[?, ?, 1]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<16x1x16x32xf32, #tile.shared<swizzle = 128>>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  // CHECK: scf.for %[[I:.*]] =
  // CHECK: %[[AT:.*]] = arith.muli %[[I]], %{{.*}} : index
  // CHECK: tile.part %{{.*}}[%[[AT]]]
  // CHECK: %[[COLUMN:.*]] = arith.muli %[[I]], %{{.*}} : index
  // CHECK: tile.tma.load %{{.*}}[%c0, %c0, %[[COLUMN]]]
  // expected-remark@below {{takes 16 copies of 1x16x32, 2048 bytes each; the mbarrier counts 32768 bytes}}
  tile.tma.copy load %A[%c0, %c0, %c0] extents [1, 16, 512], %m mbar %bar[] : memref<?x?x512xf32, strided<[?, ?, 1]>, #tile.global>, memref<16x1x16x32xf32, #tile.shared<swizzle = 128>>, memref<!tile.mbarrier, #tile.shared>
}
