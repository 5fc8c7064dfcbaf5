// Copies run ahead of a loop, and loads behind one, only where nothing changes what they read.
//
// RUN: girih run %s --kernel after_a_copy --target sm_90a --device sim --check-memory --arg A=zeros:f16[64,256] --arg B=ones:f16[256,64] --arg C=poison:f32[64,64] "--check=C=full(256):f32[64,64]" 2>/dev/null | FileCheck %s
// RUN: girih run %s --kernel beside --target sm_90a --device sim --check-memory --arg A=zeros:f16[128,64] --arg B=zeros:f16[64,256] --arg C=randn:f16[256,512] 2>/dev/null | FileCheck %s
// RUN: girih run %s --kernel beside --target sm_90a --device sim --check-memory --arg A=zeros:f16[128,64] --arg B=zeros:f16[64,256] "--arg=C=randn:f16[256,512;offset=2]" 2>/dev/null | FileCheck %s
// RUN: girih run %s --kernel read_back --target sm_90a --device sim --check-memory --arg A=ones:f16[128,64] --arg B=ones:f16[64,64] "--arg=C=full(64):f32[129,67]" --arg D=poison:f32[128,64] "--check=D=full(128):f32[128,64]" 2>/dev/null | FileCheck %s --check-prefix=BACK
// BACK: right: D: all 8192 elements are exact
// BACK: checked memory, barriers and waits: no findings
// RUN: girih run %s --kernel read_in_the_next_pass --target sm_90a --device sim --check-memory --arg A=ones:f16[64,64] --arg B=ones:f16[64,64] "--arg=C=full(64):f32[64,128]" --arg D=poison:f32[64,128] 2>/dev/null | FileCheck %s --check-prefix=NEXT
// NEXT: checked memory, barriers and waits: no findings
// RUN: girih compile %s --target sm_90a --emit explicit -o - 2>/dev/null | FileCheck %s --check-prefix=RELEASED
// CHECK: right: C: all {{[0-9]+}} elements are exact
// CHECK: checked memory, barriers and waits: no findings

!rows = memref<64x256xf16, #tile.global>
!sm = memref<64x64xf16, #tile.shared<swizzle = 128>>
!any_rows = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!f = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!wide = memref<64x128xf32, #tile.global>
!any_columns = memref<?x?xf16, strided<[1, ?]>, #tile.global>

// Tensor copies write half of A, twos; the rest is zero.
tile.kernel @after_a_copy(%A: !rows, %B: memref<256x64xf16, #tile.global>, %C: memref<64x64xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %two = arith.constant dense<2.0> : tensor<64x64xf16>
  %m = tile.alloc : !sm
  tile.store %two, %m[%c0, %c0] : tensor<64x64xf16>, !sm
  tile.fence proxy_async_shared
  tile.barrier
  %t = tile.thread_id
  %first = arith.cmpi eq, %t, %c0 : index
  scf.if %first {
    tile.tma.copy store %A[%c0, %c0] extents [64, 64], %m : !rows, !sm
    tile.tma.copy store %A[%c0, %c64] extents [64, 64], %m : !rows, !sm
    tile.bulk.commit
    tile.bulk.wait 0
  }
  tile.fence proxy_async
  tile.barrier
  %sum = scf.for %k = %c0 to %c256 step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %a = tile.load %A[%c0, %k] : !rows -> tensor<64x64xf16>
    %b = tile.load %B[%k, %c0] : memref<256x64xf16, #tile.global> -> tensor<64x64xf16>
    %next = tile.mma %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32, #tile.global>
}

// A result is stored beside where it was loaded, by another name: all of it is loaded before.
tile.kernel @beside(%A: !any_rows, %B: !any_columns, %C: memref<256x512xf16, #tile.global>) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %K = memref.dim %A, %c1 : !any_rows
  %D = memref.cast %C : memref<256x512xf16, #tile.global> to memref<?x?xf16, strided<[?, 1]>, #tile.global>
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<128x256xf32>) {
    %a = tile.load %A[%c0, %k] : !any_rows -> tensor<128x64xf16>
    %b = tile.load %B[%k, %c0] : !any_columns -> tensor<64x256xf16>
    %next = tile.mma %a, %b, %acc : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
    scf.yield %next : tensor<128x256xf32>
  }
  %old = tile.load %C[%c0, %c0] : memref<256x512xf16, #tile.global> -> tensor<128x256xf16>
  %out = arith.truncf %sum : tensor<128x256xf32> to tensor<128x256xf16>
  %new = arith.addf %old, %out : tensor<128x256xf16>
  tile.store %new, %D[%c0, %c64] : tensor<128x256xf16>, !any_rows
}
func.func @beside_ref(%A: memref<?x?xf16, strided<[?, 1]>>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<256x512xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c255 = arith.constant 255 : index
  %c256 = arith.constant 256 : index
  scf.for %i = %c0 to %c128 step %c1 {
    scf.for %j = %c0 to %c256 step %c1 {
      %r = arith.subi %c255, %j : index
      %x = memref.load %C[%i, %r] : memref<256x512xf16>
      %w = arith.addi %r, %c64 : index
      memref.store %x, %C[%i, %w] : memref<256x512xf16>
    }
  }
  return
}

// What is given away is not loaded any more.
// RELEASED-LABEL: tile.kernel @released
// RELEASED: tile.load %C
// RELEASED: tile.atomic_rmw add %{{.*}}, %F{{.*}} sem release
// RELEASED-NOT: tile.load %C
// RELEASED: tile.store
tile.kernel @released(%A: !any_rows, %B: !any_columns, %C: !any_rows, %D: !any_rows, %F: memref<?xi32, #tile.global>) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1 = arith.constant 1 : index
  %K = memref.dim %A, %c1 : !any_rows
  %one = arith.constant dense<1> : tensor<1xi32>
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<128x256xf32>) {
    %a = tile.load %A[%c0, %k] : !any_rows -> tensor<128x64xf16>
    %b = tile.load %B[%k, %c0] : !any_columns -> tensor<64x256xf16>
    %next = tile.mma %a, %b, %acc : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
    scf.yield %next : tensor<128x256xf32>
  }
  %old = tile.load %C[%c0, %c0] : !any_rows -> tensor<128x256xf16>
  tile.atomic_rmw add %one, %F[%c0] sem release : tensor<1xi32>, memref<?xi32, #tile.global>
  %out = arith.truncf %sum : tensor<128x256xf32> to tensor<128x256xf16>
  %new = arith.addf %old, %out : tensor<128x256xf16>
  tile.store %new, %D[%c0, %c0] : tensor<128x256xf16>, !any_rows
}

// A product is stored, and read back from elsewhere: other threads stored it.
tile.kernel @read_back(%A: !any_rows, %B: !any_rows, %C: !f, %D: !f) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !any_rows
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<128x64xf32>) {
    %a = tile.load %A[%c0, %k] : !any_rows -> tensor<128x64xf16>
    %b = tile.load %B[%k, %c0] : !any_rows -> tensor<64x64xf16>
    %n = tile.mma %a, %b, %acc : tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>
    scf.yield %n : tensor<128x64xf32>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<128x64xf32>, !f
  %x = tile.load %C[%c1, %c3] : !f -> tensor<128x64xf32>
  %y = arith.addf %sum, %x : tensor<128x64xf32>
  tile.store %y, %D[%c0, %c0] : tensor<128x64xf32>, !f
}

// Branches exclude each other in one pass of a loop alone.
tile.kernel @read_in_the_next_pass(%A: memref<64x64xf16, #tile.global>, %B: memref<64x64xf16, #tile.global>, %C: !wide, %D: !wide) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  scf.for %i = %c0 to %c2 step %c1 {
  %sum = scf.for %k = %c0 to %c64 step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %a = tile.load %A[%c0, %k] : memref<64x64xf16, #tile.global> -> tensor<64x32xf16>
    %b = tile.load %B[%k, %c0] : memref<64x64xf16, #tile.global> -> tensor<32x64xf16>
    %next = tile.mma %a, %b, %acc : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %f = arith.cmpi eq, %i, %c0 : index
  scf.if %f {
    tile.store %sum, %C[%c0, %c0] : tensor<64x64xf32>, !wide
  } else {
    %o = tile.load %C[%c0, %c1] : !wide -> tensor<64x64xf32>
    %s = arith.addf %o, %sum : tensor<64x64xf32>
    tile.store %s, %D[%c0, %c0] : tensor<64x64xf32>, !wide
  }
  }
}
