// A kernel's argument may be a tensor map that the caller has made: 128 bytes by value, in their place among the
// parameters. `girih run` makes one of an array, in the form that the type says.
// RUN: girih compile %s --target sm_90a --emit ptx | FileCheck %s
// RUN: girih run %s --device sim --arg n=i32:2 --arg from=full(3):f32[8,40] --arg scale=f32:2 --arg to=zeros:f32[4,16] --check to=full(6):f32[4,16]
// RUN: not girih run %s --device sim --arg n=i32:2 --arg from=full(3):f32[8,40,2] --arg scale=f32:2 --arg to=zeros:f32[4,16] 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not girih run %s --device sim --arg n=i32:2 --arg from=full(3):bf16[8,40] --arg scale=f32:2 --arg to=zeros:f32[4,16] 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not girih run %s --device sim --arg n=i32:2 --arg from=full(3):f32[8,42] --arg scale=f32:2 --arg to=zeros:f32[4,16] 2>&1 | FileCheck %s --check-prefix=STRIDE
// RUN: not girih run %s --device sim --arg n=i32:2 --arg from=f32:3 --arg scale=f32:2 --arg to=zeros:f32[4,16] 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not girih run %s --device sim --arg n=i32:2 --arg scale=f32:2 --arg to=zeros:f32[4,16] 2>&1 | FileCheck %s --check-prefix=MISSING

// CHECK: "tensor_map": {
// CHECK-NEXT: "name": "from",
// CHECK: .visible .entry window(
// CHECK-NEXT: .param .u32 window_param_0,
// CHECK-NEXT: .param .align 64 .b8 window_param_1[128],
// CHECK-NEXT: .param .f32 window_param_2,
// CHECK-NEXT: .param .align 64 .b8 window_param_3[128]
// RANK: argument from: the tensor map has 2 dimensions, but the array has shape [8, 40, 2]
// TYPE: argument from: elements of type f32 are expected, found bf16
// STRIDE: argument from: the tensor map has strides[0] = 168 bytes, but must be a multiple of 16
// NUMBER: argument from: a tensor map is expected, found a number
// MISSING: argument from: a tensor map is missing; give the array that it is to be made of, for instance --arg from=randn:f32[256,256]

!map = !tile.tensor_map<4x16xf32, swizzle = 64>
!tile = memref<4x16xf32, #tile.shared<swizzle = 64>>
!bar = memref<!tile.mbarrier, #tile.shared>

tile.kernel @window(%n: i32, %from: !map, %scale: f32, %to: !map) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant 1 : i32
  %bytes = arith.constant 256 : i32
  %false = arith.constant false
  %m = tile.alloc : !tile
  %bar = tile.alloc : !bar
  %elected = tile.elect
  %row = arith.index_cast %n : i32 to index
  scf.if %elected {
    tile.mbarrier.init %bar[], %one : !bar
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : !bar
    tile.tma.load %from[%row, %c16], %m, %bar[] : !map, !tile, !bar
    tile.mbarrier.wait %bar[], %false : !bar
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %j = %c0 to %c16 step %c1 {
        %v = memref.load %m[%i, %j] : !tile
        %w = arith.mulf %v, %scale : f32
        memref.store %w, %m[%i, %j] : !tile
      }
    }
    tile.fence proxy_async_shared
    tile.tma.store %m, %to[%c0, %c0] : !tile, !map
    tile.bulk.commit
    tile.bulk.wait 0
  }
}
