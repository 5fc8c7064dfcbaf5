// A product of what another block wrote: no copy runs ahead of where its flag is seen.
//
// RUN: girih run %s --kernel waits_once --target sm_80 --device sim --check-memory --arg A=zeros:f16[64,256] --arg B=ones:f16[256,64] --arg C=poison:f32[64,64] --arg F=zeros:i32[256] "--check=C=full(256):f32[64,64]" 2>/dev/null | FileCheck %s
// RUN: girih run %s --kernel waits_in_each_pass --target sm_80 --device sim --check-memory --arg A=zeros:f16[64,256] --arg B=ones:f16[256,64] --arg C=poison:f32[64,64] --arg F=zeros:i32[256] "--check=C=full(256):f32[64,64]" 2>/dev/null | FileCheck %s
// RUN: girih run %s --kernel waits_once --target sm_90a --device sim --check-memory --arg A=zeros:f16[64,256] --arg B=ones:f16[256,64] --arg C=poison:f32[64,64] --arg F=zeros:i32[256] "--check=C=full(256):f32[64,64]" 2>/dev/null | FileCheck %s
// RUN: girih run %s --kernel waits_in_each_pass --target sm_90a --device sim --check-memory --arg A=zeros:f16[64,256] --arg B=ones:f16[256,64] --arg C=poison:f32[64,64] --arg F=zeros:i32[256] "--check=C=full(256):f32[64,64]" 2>/dev/null | FileCheck %s
// CHECK: right: C: all {{[0-9]+}} elements are exact
// CHECK: checked memory, barriers and waits: no findings

!rows = memref<64x256xf16, #tile.global>

// Block 1 makes A, and says so by a flag that block 0 acquires.
tile.kernel @waits_once(%A: !rows, %B: memref<256x64xf16, #tile.global>, %C: memref<64x64xf32, #tile.global>, %F: memref<256xi32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.grid %c2, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %ones = arith.constant dense<1.0> : tensor<64x64xf16>
  %z = arith.constant dense<0> : tensor<1xi32>
  %one = arith.constant dense<1> : tensor<1xi32>
  %zs = arith.constant 0 : i32
  %me = tile.block_id x
  %first = arith.cmpi eq, %me, %c0 : index
  scf.if %first {
      scf.while : () -> () {
        %f = tile.atomic_rmw add %z, %F[%c0] sem acquire : tensor<1xi32>, memref<256xi32, #tile.global> -> tensor<1xi32>
        %g = tile.reduce %f axis 0 (%p: i32, %q: i32) {
          %s = arith.addi %p, %q : i32
          tile.yield %s : i32
        } : tensor<1xi32> -> tensor<i32>
        %v = tensor.extract %g[] : tensor<i32>
        %again = arith.cmpi eq, %v, %zs : i32
        scf.condition(%again)
      } do { scf.yield }
    %sum = scf.for %k = %c0 to %c256 step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
      %a = tile.load %A[%c0, %k] : !rows -> tensor<64x64xf16>
      %b = tile.load %B[%k, %c0] : memref<256x64xf16, #tile.global> -> tensor<64x64xf16>
      %next = tile.mma %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %sum, %C[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32, #tile.global>
  } else {
    scf.for %k = %c0 to %c256 step %c64 {
      tile.store %ones, %A[%c0, %k] : tensor<64x64xf16>, !rows
    }
    tile.atomic_rmw add %one, %F[%c0] sem release : tensor<1xi32>, memref<256xi32, #tile.global>
  }
}

// A part at a time.
tile.kernel @waits_in_each_pass(%A: !rows, %B: memref<256x64xf16, #tile.global>, %C: memref<64x64xf32, #tile.global>, %F: memref<256xi32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.grid %c2, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %ones = arith.constant dense<1.0> : tensor<64x64xf16>
  %z = arith.constant dense<0> : tensor<1xi32>
  %one = arith.constant dense<1> : tensor<1xi32>
  %zs = arith.constant 0 : i32
  %me = tile.block_id x
  %first = arith.cmpi eq, %me, %c0 : index
  scf.if %first {
    %sum = scf.for %k = %c0 to %c256 step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
      scf.while : () -> () {
        %f = tile.atomic_rmw add %z, %F[%k] sem acquire : tensor<1xi32>, memref<256xi32, #tile.global> -> tensor<1xi32>
        %g = tile.reduce %f axis 0 (%p: i32, %q: i32) {
          %s = arith.addi %p, %q : i32
          tile.yield %s : i32
        } : tensor<1xi32> -> tensor<i32>
        %v = tensor.extract %g[] : tensor<i32>
        %again = arith.cmpi eq, %v, %zs : i32
        scf.condition(%again)
      } do { scf.yield }
      %a = tile.load %A[%c0, %k] : !rows -> tensor<64x64xf16>
      %b = tile.load %B[%k, %c0] : memref<256x64xf16, #tile.global> -> tensor<64x64xf16>
      %next = tile.mma %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %sum, %C[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32, #tile.global>
  } else {
    scf.for %k = %c0 to %c256 step %c64 {
      tile.store %ones, %A[%c0, %k] : tensor<64x64xf16>, !rows
      tile.atomic_rmw add %one, %F[%k] sem release : tensor<1xi32>, memref<256xi32, #tile.global>
    }
  }
}
