// Register tiles to and from memory.
// RUN: girih-opt %s -tile-set-target -tile-allocate-shared -convert-tile-to-nvvm -canonicalize -cse -split-input-file | FileCheck %s

// Inside and aligned: pairs, two rows of a thread eight apart. Elsewhere: each element is predicated on the columns that are
// left, of a row outside none; its place in the row is the instruction's own offset.
// CHECK-LABEL: llvm.func @to_global
// CHECK: %[[UNALIGNED:.*]] = arith.andi %{{.*}}, %c7_i64 : i64
// CHECK: %[[ALIGNED:.*]] = arith.cmpi eq, %[[UNALIGNED]], %c0_i64 : i64
// CHECK: %[[FAST:.*]] = arith.andi %{{.*}}, %[[ALIGNED]] : i1
// CHECK: scf.if %[[FAST]] {
// CHECK-COUNT-2: llvm.store %{{.*}}, %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
// CHECK-NOT: llvm.store
// CHECK: } else {
// CHECK: %[[LEFT:.*]] = arith.trunci
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult
// CHECK: %[[OWN:.*]] = arith.select %[[INSIDE]], %[[LEFT]], %c0_i32
// CHECK: %[[FIRST:.*]] = arith.cmpi sgt, %[[OWN]], %c0_i32
// CHECK: %[[SECOND:.*]] = arith.cmpi sgt, %[[OWN]], %c1_i32
// CHECK: llvm.inline_asm has_side_effects "@$2 st.global.b32 [$1], $0;", "r,l,b,~{memory}" %{{.*}}, %[[ROW:.*]], %[[FIRST]] :
// CHECK: llvm.inline_asm has_side_effects "@$2 st.global.b32 [$1+4], $0;", "r,l,b,~{memory}" %{{.*}}, %[[ROW]], %[[SECOND]] :
// CHECK-COUNT-2: st.global.b32
// CHECK-NOT: llvm.store
tile.kernel @to_global(%C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<64x8xf32, #tile.layout<wgmma_d>>
  tile.store %one, %C[%c0, %c0] : tensor<64x8xf32, #tile.layout<wgmma_d>>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

// -----

// Outside reads as zero: nothing is loaded there.
// CHECK-LABEL: llvm.func @from_global
// CHECK: %[[R:.*]]:4 = scf.if %{{.*}} -> (i8, i8, i8, i8)
// CHECK: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> vector<2xi8>
// CHECK: } else {
// CHECK: llvm.inline_asm has_side_effects "@$3 ld.global.b8 $0, [$2];", "=h,0,l,b" %c0_i16,
// CHECK: llvm.inline_asm has_side_effects "@$3 ld.global.b8 $0, [$2+1];", "=h,0,l,b" %c0_i16,
// CHECK-COUNT-2: ld.global.b8
// CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i8, i8, i8, i8
tile.kernel @from_global(%C: memref<?x?xi8, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %s = tile.alloc : memref<64x16xi8, #tile.shared>
  %v = tile.load %C[%c0, %c0] : memref<?x?xi8, strided<[?, 1]>, #tile.global> -> tensor<64x8xi8, #tile.layout<wgmma_d>>
  tile.store %v, %s[%c0, %c0] : tensor<64x8xi8, #tile.layout<wgmma_d>>, memref<64x16xi8, #tile.shared>
}

// -----

// In shared memory pairs go together where rows and the first column allow it, else element by element.
// CHECK-LABEL: llvm.func @shared
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> vector<2xbf16>
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<3> -> bf16
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<3> -> bf16
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> vector<2xbf16>
tile.kernel @shared(%n: i32) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %i = arith.index_cast %n : i32 to index
  %eights = arith.muli %i, %c8 : index
  %even = tile.alloc : memref<64x64xbf16, #tile.shared<swizzle = 128>>
  %odd = tile.alloc : memref<64x17xbf16, #tile.shared>
  %out = tile.alloc : memref<64x64xbf16, #tile.shared<swizzle = 128>>
  %a = tile.load %even[%c0, %c0] : memref<64x64xbf16, #tile.shared<swizzle = 128>> -> tensor<64x8xbf16, #tile.layout<wgmma_d>>
  %b = tile.load %even[%c0, %c1] : memref<64x64xbf16, #tile.shared<swizzle = 128>> -> tensor<64x8xbf16, #tile.layout<wgmma_d>>
  %c = tile.load %odd[%c0, %c0] : memref<64x17xbf16, #tile.shared> -> tensor<64x8xbf16, #tile.layout<wgmma_d>>
  %d = tile.load %even[%c0, %eights] : memref<64x64xbf16, #tile.shared<swizzle = 128>> -> tensor<64x8xbf16, #tile.layout<wgmma_d>>
  %e = arith.addf %a, %b : tensor<64x8xbf16, #tile.layout<wgmma_d>>
  %f = arith.addf %c, %d : tensor<64x8xbf16, #tile.layout<wgmma_d>>
  %g = arith.addf %e, %f : tensor<64x8xbf16, #tile.layout<wgmma_d>>
  tile.store %g, %out[%c0, %c0] : tensor<64x8xbf16, #tile.layout<wgmma_d>>, memref<64x64xbf16, #tile.shared<swizzle = 128>>
}
