// The swizzle of buffers that leave it open, chosen from all their uses, and what remarks say of it.
// RUN: girih-opt %s -tile-swizzle-shared 2>%t.said | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAID --input-file %t.said

#lines = #tile.blocked<per_thread = [1, 1], lanes = [1, 32], warps = [1, 1]>

module attributes {tile.target = "sm_90a"} {

// 16 bytes at a time in neither direction: eight rows come before the banks repeat.
// SAID: :[[@LINE+9]]:8: remark: 32-way conflict where the tile is read by columns at line [[@LINE+15]]; swizzle 128 leaves it at 4-way
// CHECK-LABEL: tile.kernel @columns
// CHECK: tile.alloc : memref<32x32xf32, #tile.shared<swizzle = 128>>
tile.kernel @columns() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = arith.constant 1.0 : f32
  %m = tile.alloc : memref<32x32xf32, #tile.shared<swizzle = auto>>
  %t = tile.thread_id
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %c32 step %c1 {
    memref.store %x, %m[%i, %t] : memref<32x32xf32, #tile.shared<swizzle = auto>>
    %y = memref.load %m[%t, %i] : memref<32x32xf32, #tile.shared<swizzle = auto>>
  }
}

// Fragments of wgmma: rows of 64 bytes.
// SAID: :[[@LINE+7]]:8: remark: 4-way conflict where the tile is written as wgmma_d at line [[@LINE+10]]; swizzle 64 removes it
// CHECK-LABEL: tile.kernel @fragment
// CHECK: tile.alloc : memref<64x32xbf16, #tile.shared<swizzle = 64>>
tile.kernel @fragment() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %m = tile.alloc : memref<64x32xbf16, #tile.shared<swizzle = auto>>
  %c0 = arith.constant 0 : index
  %v = arith.constant dense<1.0> : tensor<64x32xbf16, #tile.layout<wgmma_d>>
  tile.store %v, %m[%c0, %c0] : tensor<64x32xbf16, #tile.layout<wgmma_d>>, memref<64x32xbf16, #tile.shared<swizzle = auto>>
}

// No conflict, no swizzle.
// SAID: :[[@LINE+7]]:8: remark: swizzle none: no access has a bank conflict without one
// CHECK-LABEL: tile.kernel @rows
// CHECK: tile.alloc : memref<32x32xf32, #tile.shared>
tile.kernel @rows() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %m = tile.alloc : memref<32x32xf32, #tile.shared<swizzle = auto>>
  %c0 = arith.constant 0 : index
  %t = tile.thread_id
  %y = memref.load %m[%c0, %t] : memref<32x32xf32, #tile.shared<swizzle = auto>>
}

// Rows that no swizzle spans.
// SAID: :[[@LINE+7]]:8: remark: 32-way conflict where the tile is read by columns at line [[@LINE+10]]; no swizzle of the hardware removes it; left at 32-way
// CHECK-LABEL: tile.kernel @wide
// CHECK: tile.alloc : memref<32x64xf32, #tile.shared>
tile.kernel @wide() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %m = tile.alloc : memref<32x64xf32, #tile.shared<swizzle = auto>>
  %c0 = arith.constant 0 : index
  %t = tile.thread_id
  %y = memref.load %m[%t, %c0] : memref<32x64xf32, #tile.shared<swizzle = auto>>
}

// A product says which swizzle it reads, a tensor copy that of its map; parts follow.
// SAID: :[[@LINE+8]]:8: remark: swizzle 128, which the use at line [[@LINE+14]] asks for
// SAID: :[[@LINE+8]]:8: remark: swizzle 128, which the use at line [[@LINE+13]] asks for
// CHECK-LABEL: tile.kernel @product
// CHECK: tile.slab {{.*}} : memref<2x64x64xbf16, #tile.shared<swizzle = 128>> -> memref<64x64xbf16, #tile.shared<swizzle = 128>>
tile.kernel @product() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %a = tile.alloc : memref<2x64x64xbf16, #tile.shared<swizzle = auto>>
  %b = tile.alloc : memref<128x64xbf16, #tile.shared<swizzle = auto>>
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x128xf32, #tile.layout<wgmma_d>>
  %part = tile.slab %a[%c1] : memref<2x64x64xbf16, #tile.shared<swizzle = auto>> -> memref<64x64xbf16, #tile.shared<swizzle = auto>>
  tile.wgmma.fence
  %f = tile.wgmma %part, %b, %zero : memref<64x64xbf16, #tile.shared<swizzle = auto>>, memref<128x64xbf16, #tile.shared<swizzle = auto>>, tensor<64x128xf32, #tile.layout<wgmma_d>>
  tile.wgmma.commit
  %acc = tile.wgmma.wait 0 %f : !tile.in_flight<tensor<64x128xf32, #tile.layout<wgmma_d>>> -> tensor<64x128xf32, #tile.layout<wgmma_d>>
}

// A swizzle that is written stays; the remark counts what it costs, and names a better one.
// SAID: :[[@LINE+8]]:8: remark: 32-way conflict where the tile is read by columns at line [[@LINE+12]]; swizzle 128 would leave it at 4-way
// SAID: :[[@LINE+8]]:8: remark: 4-way conflict where the tile is read by columns at line [[@LINE+12]]; no swizzle of the hardware removes it
// CHECK-LABEL: tile.kernel @by_hand
// CHECK: tile.alloc : memref<32x32xf32, #tile.shared>
tile.kernel @by_hand() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %m = tile.alloc : memref<32x32xf32, #tile.shared>
  %n = tile.alloc : memref<32x32xf32, #tile.shared<swizzle = 128>>
  %c0 = arith.constant 0 : index
  %t = tile.thread_id
  %y = memref.load %m[%t, %c0] : memref<32x32xf32, #tile.shared>
  %z = memref.load %n[%t, %c0] : memref<32x32xf32, #tile.shared<swizzle = 128>>
}

// Atomic operations of whole tiles go by single elements, under whatever swizzle the others want.
// SAID: :[[@LINE+8]]:8: remark: 32-way conflict where the tile is read by columns at line [[@LINE+11]]; swizzle 128 leaves it at 4-way
// CHECK-LABEL: tile.kernel @atomics
// CHECK: %[[M:.*]] = tile.alloc : memref<32x32xf32, #tile.shared<swizzle = 128>>
// CHECK: tile.atomic_rmw add %{{.*}}, %[[M]][%{{.*}}, %{{.*}}] : {{.*}}, memref<32x32xf32, #tile.shared<swizzle = 128>>
tile.kernel @atomics() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %m = tile.alloc : memref<32x32xf32, #tile.shared<swizzle = auto>>
  %c0 = arith.constant 0 : index
  %t = tile.thread_id
  %y = memref.load %m[%t, %c0] : memref<32x32xf32, #tile.shared<swizzle = auto>>
  %one = arith.constant dense<1.0> : tensor<32x32xf32, #lines>
  %old = tile.atomic_rmw add %one, %m[%c0, %c0] : tensor<32x32xf32, #lines>, memref<32x32xf32, #tile.shared<swizzle = auto>> -> tensor<32x32xf32, #lines>
}

// A map of larger atoms is followed, too.
// CHECK-LABEL: tile.kernel @atoms
// CHECK: tile.alloc : memref<64x32xf32, #tile.shared<swizzle = 128, atom = 32>>
tile.kernel @atoms(%A: memref<64x32xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  %map = tile.tensor_map %A : memref<64x32xf32, #tile.global> -> !tile.tensor_map<64x32xf32, swizzle = 128, atom = 32>
  tile.grid %c1, %c1, %c1 args(%map : !tile.tensor_map<64x32xf32, swizzle = 128, atom = 32>)
} body args(%map: !tile.tensor_map<64x32xf32, swizzle = 128, atom = 32>) {
  %m = tile.alloc : memref<64x32xf32, #tile.shared<swizzle = auto>>
  %c0 = arith.constant 0 : index
  tile.tma.store %m, %map[%c0, %c0] : memref<64x32xf32, #tile.shared<swizzle = auto>>, !tile.tensor_map<64x32xf32, swizzle = 128, atom = 32>
}

}
