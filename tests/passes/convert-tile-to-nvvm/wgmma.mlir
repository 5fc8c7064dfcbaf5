// Products: inline PTX with accumulators tied from input to output, so that nothing moves above a wait.
// RUN: girih-opt %s -tile-set-target -tile-allocate-shared -convert-tile-to-nvvm -canonicalize -cse -split-input-file | FileCheck %s

!a = memref<64x64xbf16, #tile.shared<swizzle = 128>>
!b = memref<8x64xbf16, #tile.shared<swizzle = 128>>
!d = tensor<64x8xf32, #tile.layout<wgmma_d>>

// One instruction for each K step, 32 bytes further; constants are in registers before the fence.
// CHECK-LABEL: llvm.func @steps
// CHECK: %[[PINNED:.*]] = llvm.inline_asm has_side_effects "", "=f,=f,=f,=f,0,1,2,3" %[[Z:.*]], %[[Z]], %[[Z]], %[[Z]]
// CHECK: %[[R0:.*]] = llvm.extractvalue %[[PINNED]][0]
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: %[[MASKED:.*]] = arith.andi %{{.*}}, %c262143_i32 : i32
// CHECK: %[[SIXTEENTH:.*]] = arith.shrui %[[MASKED]], %c4_i32 : i32
// CHECK: %[[WIDE:.*]] = arith.extui %[[SIXTEENTH]] : i32 to i64
// swizzle 128, stride 1024 bytes, leading 16
// CHECK: arith.ori %[[WIDE]], %c4611686293305360384_i64 : i64
// CHECK: %[[S0:.*]] = llvm.inline_asm has_side_effects "{{.*}}wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, $8, $9, accumulate, 1, 1, 0, 0;{{.*}}", "=f,=f,=f,=f,0,1,2,3,l,l" %[[R0]]
// CHECK: %[[R1:.*]] = llvm.extractvalue %[[S0]][0]
// CHECK: arith.addi %{{.*}}, %c2_i64 : i64
// CHECK: llvm.inline_asm {{.*}}wgmma.mma_async{{.*}} %[[R1]],
// CHECK: arith.addi %{{.*}}, %c4_i64 : i64
// CHECK: wgmma.mma_async
// CHECK: arith.addi %{{.*}}, %c6_i64 : i64
// CHECK: %[[S3:.*]] = llvm.inline_asm {{.*}}wgmma.mma_async
// CHECK: %[[R4:.*]] = llvm.extractvalue %[[S3]][0]
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,0,1,2,3,~{memory}" %[[R4]]
tile.kernel @steps(%C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %a = tile.alloc : !a
  %b = tile.alloc : !b
  %zero = arith.constant dense<0.0> : !d
  tile.wgmma.fence
  %f = tile.wgmma %a, %b, %zero : !a, !b, !d
  tile.wgmma.commit
  %s = tile.wgmma.wait 0 %f : !tile.in_flight<!d> -> !d
  tile.store %s, %C[%c0, %c0] : !d, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}

// -----

// f16 sums travel two in a register; a loop carries the registers, and the wait in it ties them too.
!a = memref<4x16x16xf16, #tile.shared<swizzle = 32>>
!b = memref<16x16xf16, #tile.shared<swizzle = 32>>
!d = tensor<64x16xf16, #tile.layout<wgmma_d>>
!f = !tile.in_flight<!d>
// CHECK-LABEL: llvm.func @in_flight
// CHECK: %[[LAST:.*]]:4 = scf.for {{.*}} iter_args(%[[X:[^ ]*]] = %{{.*}}) -> (i32, i32, i32, i32)
// CHECK: wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 {$0, $1, $2, $3}, $8, $9, accumulate, 1, 1, 1, 1;
// CHECK-SAME: "=r,=r,=r,=r,0,1,2,3,l,l" %[[X]],
// CHECK: "wgmma.wait_group.sync.aligned 1;", "=r,=r,=r,=r,0,1,2,3,~{memory}"
// CHECK: "wgmma.wait_group.sync.aligned 0;", "=r,=r,=r,=r,0,1,2,3,~{memory}" %[[LAST]]#0, %[[LAST]]#1
// CHECK: llvm.bitcast %{{.*}} : i32 to vector<2xf16>
tile.kernel @in_flight(%C: memref<?x?xf16, strided<[?, 1]>, #tile.global>, %n: i64) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.index_cast %n : i64 to index
  %a = tile.alloc : !a
  %b = tile.alloc : !b
  %zero = arith.constant dense<0.0> : !d
  tile.wgmma.fence
  %begun = tile.wgmma %a, %b, %zero {a_major = "mn", b_major = "mn"} : !a, !b, !d
  tile.wgmma.commit
  %last = scf.for %i = %c0 to %steps step %c1 iter_args(%x = %begun) -> (!f) {
    tile.wgmma.fence
    %y = tile.wgmma %a, %b, %x {a_major = "mn", b_major = "mn"} : !a, !b, !f
    tile.wgmma.commit
    %z = tile.wgmma.wait 1 %y : !f -> !f
    scf.yield %z : !f
  }
  %s = tile.wgmma.wait 0 %last : !f -> !d
  tile.store %s, %C[%c0, %c0] : !d, memref<?x?xf16, strided<[?, 1]>, #tile.global>
}

// -----

// A from registers: four registers a step, packed before the fence; signedness is in the type.
// CHECK-LABEL: llvm.func @registers
// CHECK: %[[PINNED:.*]] = llvm.inline_asm has_side_effects "", "=r,=r,=r,=r,=r,=r,=r,=r,0,1,2,3,4,5,6,7"
// CHECK: %[[A0:.*]] = llvm.extractvalue %[[PINNED]][0]
// CHECK: %[[A4:.*]] = llvm.extractvalue %[[PINNED]][4]
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {$0, $1, $2, $3}, {$8, $9, $10, $11}, $12, accumulate;{{.*}}"=r,=r,=r,=r,0,1,2,3,r,r,r,r,l" {{.*}}%[[A0]],
// CHECK: wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {{.*}}%[[A4]],
tile.kernel @registers(%A: memref<?x?xi8, strided<[?, 1]>, #tile.global>, %C: memref<?x?xi32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %b = tile.alloc : memref<8x64xi8, #tile.shared<swizzle = 64>>
  %a = tile.load %A[%c0, %c0] : memref<?x?xi8, strided<[?, 1]>, #tile.global> -> tensor<64x64xi8, #tile.layout<wgmma_a>>
  %zero = arith.constant dense<0> : tensor<64x8xi32, #tile.layout<wgmma_d>>
  tile.wgmma.fence
  %f = tile.wgmma %a, %b, %zero {unsigned_b} : tensor<64x64xi8, #tile.layout<wgmma_a>>, memref<8x64xi8, #tile.shared<swizzle = 64>>, tensor<64x8xi32, #tile.layout<wgmma_d>>
  tile.wgmma.commit
  %s = tile.wgmma.wait 0 %f : !tile.in_flight<tensor<64x8xi32, #tile.layout<wgmma_d>>> -> tensor<64x8xi32, #tile.layout<wgmma_d>>
  tile.store %s, %C[%c0, %c0] : tensor<64x8xi32, #tile.layout<wgmma_d>>, memref<?x?xi32, strided<[?, 1]>, #tile.global>
}

// -----

// Single bits, eight in each byte: 256 of K are one instruction.
// CHECK-LABEL: llvm.func @bits
// CHECK-COUNT-2: wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {$0, $1, $2, $3}, $8, $9, accumulate;
// CHECK-NOT: wgmma.mma_async
!a = memref<64x64xi8, #tile.shared<swizzle = 64>>
!b = memref<8x64xi8, #tile.shared<swizzle = 64>>
!d = tensor<64x8xi32, #tile.layout<wgmma_d>>
tile.kernel @bits(%C: memref<?x?xi32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %a = tile.alloc : !a
  %b = tile.alloc : !b
  %zero = arith.constant dense<0> : !d
  tile.wgmma.fence
  %f = tile.wgmma %a, %b, %zero popc and : !a, !b, !d
  tile.wgmma.commit
  %s = tile.wgmma.wait 0 %f : !tile.in_flight<!d> -> !d
  tile.store %s, %C[%c0, %c0] : !d, memref<?x?xi32, strided<[?, 1]>, #tile.global>
}
