// A cache policy goes with each access of a thread, guarded or not, and is the number that createpolicy gives for all of it.
// RUN: girih-opt %s -convert-tile-to-nvvm -canonicalize -cse | FileCheck %s
// RUN: girih compile %s --target sm_80 -o - | FileCheck %s --check-prefix=PTX
// RUN: girih run %s --kernel rows --device sim --arg A=randn:f32[9,130] --arg B=zeros:f32[9,130] --arg R=iota:i32[4] | FileCheck %s --check-prefix=RAN
// RAN: right: B

#row = #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [4, 1]>
#rows = #tile.sliced<axis = 1, of = #row>
!static = memref<4x128xf32, #tile.global>
!dynamic = memref<?x?xf32, strided<[?, 1]>, #tile.global>

module {
// evict_last is 0x14F0000000000000, evict_first 0x12F0000000000000.
// CHECK-LABEL: llvm.func @static
// PTX-LABEL: .entry static
tile.kernel @static(%A: !static, %B: !static) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // CHECK-DAG: %[[LAST:.*]] = arith.constant 1508705875169116160 : i64
  // CHECK-DAG: %[[FIRST:.*]] = arith.constant 1364590687093260288 : i64
  // CHECK: llvm.inline_asm has_side_effects "ld.global.L2::cache_hint.v4.b32 {$0, $1, $2, $3}, [$4], $5;", "=r,=r,=r,=r,l,l" %{{.*}}, %[[LAST]]
  // CHECK: llvm.inline_asm has_side_effects "st.global.L2::cache_hint.v4.b32 [$4], {$0, $1, $2, $3}, $5;", "r,r,r,r,l,l,~{memory}" %{{.*}}, %[[FIRST]]
  // PTX: ld.global.L2::cache_hint.v4.b32
  // PTX: st.global.L2::cache_hint.v4.b32
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] cache evict_last {vector = 4 : i64} : !static -> tensor<4x128xf32, #row>
  tile.store %x, %B[%c0, %c0] cache evict_first {vector = 4 : i64} : tensor<4x128xf32, #row>, !static
}

// CHECK-LABEL: llvm.func @rows
tile.kernel @rows(%A: !dynamic, %B: !dynamic, %R: memref<4xi32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // CHECK: "@$4 ld.global.L2::cache_hint.b32 $0, [$2], $3;", "=r,0,l,l,b"
  // CHECK: "@$3 st.global.L2::cache_hint.b32 [$1], $0, $2;", "r,l,l,b,~{memory}"
  %c0 = arith.constant 0 : index
  %r = tile.load %R[%c0] : memref<4xi32, #tile.global> -> tensor<4xi32, #rows>
  %x = tile.gather %A[%c0] rows %r cache evict_first : !dynamic, tensor<4xi32, #rows> -> tensor<4x128xf32, #row>
  tile.scatter %x, %B[%c0] rows %r cache evict_normal : tensor<4x128xf32, #row>, !dynamic, tensor<4xi32, #rows>
}

// Fragments of wgmma: pairs where they lie inside, single numbers at an edge.
// CHECK-LABEL: llvm.func @fragment
tile.kernel @fragment(%B: !dynamic) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // CHECK: "ld.global.L2::cache_hint.v2.b32 {$0, $1}, [$2], $3;", "=r,=r,l,l"
  // CHECK: "@$4 ld.global.L2::cache_hint.b32 $0, [$2], $3;", "=r,0,l,l,b"
  // CHECK: "st.global.L2::cache_hint.v2.b32 [$2], {$0, $1}, $3;", "r,r,l,l,~{memory}"
  // CHECK: "@$3 st.global.L2::cache_hint.b32 [$1], $0, $2;", "r,l,l,b,~{memory}"
  %c0 = arith.constant 0 : index
  %x = tile.load %B[%c0, %c0] cache evict_last : !dynamic -> tensor<64x8xf32, #tile.layout<wgmma_d>>
  tile.store %x, %B[%c0, %c0] cache evict_first : tensor<64x8xf32, #tile.layout<wgmma_d>>, !dynamic
}

func.func @rows_ref(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %R: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c128 step %c1 {
      %r = memref.load %R[%i] : memref<4xi32>
      %row = arith.index_cast %r : i32 to index
      %x = memref.load %A[%row, %j] : memref<?x?xf32>
      memref.store %x, %B[%row, %j] : memref<?x?xf32>
    }
  }
  return
}
}
