// What tensor maps and copies with them must be.
// RUN: girih-opt %s --split-input-file --verify-diagnostics

func.func private @f(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) {
  // expected-error@below {{the map !tile.tensor_map<64x64xf16> must have the element type of memref<?x?xbf16, strided<[?, 1]>, #tile.global>}}
  %0 = tile.tensor_map %A : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<64x64xf16>
  return
}

// -----

func.func private @f(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) {
  // expected-error@below {{the map !tile.tensor_map<1x64x64xbf16> has 3 dimensions, but memref<?x?xbf16, strided<[?, 1]>, #tile.global> has 2}}
  %0 = tile.tensor_map %A : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<1x64x64xbf16>
  return
}

// -----

func.func private @f(%B: memref<?x?xbf16, strided<[1, ?]>, #tile.global>) {
  // expected-error@below {{strides[0] = 2 bytes, but must be a multiple of 16; pad to 16 bytes}}
  // expected-error@below {{the innermost stride is known only at run time, but a tensor map needs 1; bring the dimension with stride 1 innermost with memref.transpose}}
  %0 = tile.tensor_map %B : memref<?x?xbf16, strided<[1, ?]>, #tile.global> -> !tile.tensor_map<64x64xbf16>
  return
}

// -----

func.func private @f(%odd: memref<64x100xbf16, #tile.global>) {
  // expected-error@below {{strides[0] = 200 bytes, but must be a multiple of 16; pad to 208 bytes}}
  %0 = tile.tensor_map %odd : memref<64x100xbf16, #tile.global> -> !tile.tensor_map<64x64xbf16>
  return
}

// -----

func.func private @f(%back: memref<64x64xbf16, strided<[-64, 1]>, #tile.global>) {
  // expected-error@below {{a stride is -64, but a tensor map walks forwards: strides are at least 0}}
  %0 = tile.tensor_map %back : memref<64x64xbf16, strided<[-64, 1]>, #tile.global> -> !tile.tensor_map<64x64xbf16>
  return
}

// -----

func.func private @map_of_shared(%m: memref<64x64xbf16, #tile.shared>) {
  // expected-error@below {{operand #0 'memory' must be a memref in #tile.global, but is memref<64x64xbf16, #tile.shared>}}
  %0 = tile.tensor_map %m : memref<64x64xbf16, #tile.shared> -> !tile.tensor_map<64x64xbf16>
  return
}

// -----

!map = !tile.tensor_map<64x64xbf16, swizzle = 128>
!tile = memref<64x64xbf16, #tile.shared<swizzle = 128>>
!bar = memref<!tile.mbarrier, #tile.shared>

func.func private @f(%map: !map, %m: !tile, %bar: !bar, %i: index) {
  // expected-error@below {{the tensor map has 2 dimensions, but 1 indices are given}}
  tile.tma.load %map[%i], %m, %bar[] : !map, !tile, !bar
  return
}

// -----

!map = !tile.tensor_map<64x64xbf16, swizzle = 128>
!tile = memref<64x64xbf16, #tile.shared<swizzle = 128>>

func.func private @f(%map: !map, %m: !tile, %ring: memref<4x!tile.mbarrier, #tile.shared>, %i: index) {
  // expected-error@below {{the memref of mbarriers has 1 dimensions, but 0 indices are given}}
  tile.tma.load %map[%i, %i], %m, %ring[] : !map, !tile, memref<4x!tile.mbarrier, #tile.shared>
  return
}

// -----

!map = !tile.tensor_map<64x64xbf16, swizzle = 128>
!tile = memref<64x64xbf16, #tile.shared<swizzle = 128>>
!bar = memref<!tile.mbarrier, #tile.shared>

func.func private @f(%map: !map, %bar: !bar, %i: index, %f16: memref<64x64xf16, #tile.shared<swizzle = 128>>) {
  // expected-error@below {{the shared memref memref<64x64xf16, #tile.shared<swizzle = 128>> must have the element type of !tile.tensor_map<64x64xbf16, swizzle = 128>}}
  tile.tma.load %map[%i, %i], %f16, %bar[] : !map, memref<64x64xf16, #tile.shared<swizzle = 128>>, !bar
  return
}

// -----

!map = !tile.tensor_map<64x64xbf16, swizzle = 128>
!bar = memref<!tile.mbarrier, #tile.shared>

func.func private @f(%map: !map, %bar: !bar, %i: index, %plain: memref<64x64xbf16, #tile.shared>) {
  // expected-error@below {{the map has swizzle 128, but the shared memref has none; give both the same, else rows come out permuted}}
  // expected-error@below {{the shared address is a multiple of 2 bytes only, but tensor copies need 128; make each slab a multiple of 128 bytes, or say align = 128 where it is allocated}}
  tile.tma.load %map[%i, %i], %plain, %bar[] : !map, memref<64x64xbf16, #tile.shared>, !bar
  return
}

// -----

!map = !tile.tensor_map<64x64xbf16, swizzle = 128>
!bar = memref<!tile.mbarrier, #tile.shared>

func.func private @f(%map: !map, %bar: !bar, %i: index, %half: memref<32x64xbf16, #tile.shared<swizzle = 128>>) {
  // expected-error@below {{a box is 8192 bytes of shared memory, but memref<32x64xbf16, #tile.shared<swizzle = 128>> is 4096}}
  tile.tma.load %map[%i, %i], %half, %bar[] : !map, memref<32x64xbf16, #tile.shared<swizzle = 128>>, !bar
  return
}

// -----

!map = !tile.tensor_map<64x64xbf16, swizzle = 128>
!bar = memref<!tile.mbarrier, #tile.shared>

func.func private @f(%map: !map, %bar: !bar, %i: index, %any: memref<?x64xbf16, #tile.shared<swizzle = 128>>) {
  // expected-error@below {{a tensor copy fills contiguous shared memory, found memref<?x64xbf16, #tile.shared<swizzle = 128>>; take a part with tile.slab}}
  tile.tma.load %map[%i, %i], %any, %bar[] : !map, memref<?x64xbf16, #tile.shared<swizzle = 128>>, !bar
  return
}

// -----

!map = !tile.tensor_map<64x64xbf16, swizzle = 128>
!bar = memref<!tile.mbarrier, #tile.shared>

func.func private @f(%map: !map, %bar: !bar, %i: index, %part: memref<64x64xbf16, strided<[64, 1], offset: ?>, #tile.shared<swizzle = 128>>) {
  // expected-error@below {{a tensor copy fills contiguous shared memory, found memref<64x64xbf16, strided<[64, 1], offset: ?>, #tile.shared<swizzle = 128>>; take a part with tile.slab}}
  tile.tma.load %map[%i, %i], %part, %bar[] : !map, memref<64x64xbf16, strided<[64, 1], offset: ?>, #tile.shared<swizzle = 128>>, !bar
  return
}

// -----

!map = !tile.tensor_map<64x64xbf16, swizzle = 128>
!bar = memref<!tile.mbarrier, #tile.shared>

func.func private @f(%map: !map, %bar: !bar, %i: index, %g: memref<64x64xbf16, #tile.global>) {
  // expected-error@below {{operand #3 'destination' must be a memref in #tile.shared, but is memref<64x64xbf16, #tile.global>}}
  tile.tma.load %map[%i, %i], %g, %bar[] : !map, memref<64x64xbf16, #tile.global>, !bar
  return
}

// -----

!map = !tile.tensor_map<64x64xbf16, swizzle = 128>
!tile = memref<64x64xbf16, #tile.shared<swizzle = 128>>
!bar = memref<!tile.mbarrier, #tile.shared>

func.func private @f(%map: !map, %m: !tile, %bar: !bar, %i: index) {
  %c4 = arith.constant 4 : index
  // expected-error@below {{the innermost coordinate is 4 elements, 8 bytes, but must lie on 16 bytes (an illegal instruction on the GPU)}}
  tile.tma.load %map[%i, %c4], %m, %bar[] : !map, !tile, !bar
  return
}

// -----

!map = !tile.tensor_map<64x64xbf16, swizzle = 128>
!tile = memref<64x64xbf16, #tile.shared<swizzle = 128>>
!bar = memref<!tile.mbarrier, #tile.shared>

func.func private @f(%map: !map, %m: !tile, %bar: !bar, %i: index) {
  // expected-error@below {{expected a cache policy: one of evict_normal, evict_first, evict_last; found `evict`}}
  tile.tma.load %map[%i, %i], %m, %bar[] cache evict : !map, !tile, !bar
  return
}

// -----

!map = !tile.tensor_map<64x64xbf16, swizzle = 128>
!tile = memref<64x64xbf16, #tile.shared<swizzle = 128>>

func.func private @f(%map: !map, %m: !tile, %i: index) {
  %cm1 = arith.constant -1 : index
  // expected-error@below {{coordinate #0 is -1, but a store cannot start outside the tensor (an illegal instruction on the GPU); clip the box}}
  tile.tma.store %m, %map[%cm1, %i] : !tile, !map
  return
}

// -----

func.func private @f() {
  // expected-error@below {{pending = -1, but a number of groups is 0 to 2147483647}}
  tile.bulk.wait -1
  return
}

// -----

func.func private @f() {
  // expected-error@below {{pending = 4294967296, but a number of groups is 0 to 2147483647}}
  tile.bulk.wait 4294967296
  return
}

// -----

// Slabs of 64 bytes do not start where tensor copies can write.
func.func private @alignment(%map: !tile.tensor_map<16xf32>, %bar: memref<!tile.mbarrier, #tile.shared>, %i: index) {
  %ring = tile.alloc : memref<4x16xf32, #tile.shared>
  %m = tile.slab %ring[%i] : memref<4x16xf32, #tile.shared> -> memref<16xf32, #tile.shared>
  // expected-error@below {{the shared address is a multiple of 64 bytes only, but tensor copies need 128; make each slab a multiple of 128 bytes, or say align = 128 where it is allocated}}
  tile.tma.load %map[%i], %m, %bar[] : !tile.tensor_map<16xf32>, memref<16xf32, #tile.shared>, memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @generic(%map: !tile.tensor_map<64xf32>, %m: memref<64xf32, #tile.shared>) {
  // expected-error@below {{requires dense i32 array attribute 'operandSegmentSizes'}}
  "tile.tma.load"(%map, %m) : (!tile.tensor_map<64xf32>, memref<64xf32, #tile.shared>) -> ()
  return
}

// -----

func.func private @generic(%map: !tile.tensor_map<64xf32>, %m: memref<64xf32, #tile.shared>) {
  // expected-error@below {{'operandSegmentSizes'}}
  "tile.tma.load"(%map, %m) <{operandSegmentSizes = array<i32: 1, 0, 1, 1, 0, 0, 0, 0>}> : (!tile.tensor_map<64xf32>, memref<64xf32, #tile.shared>) -> ()
  return
}

// -----

func.func private @f(%map: !tile.tensor_map<64xf32>, %m: memref<64xf32, #tile.shared>) {
  // expected-error@below {{operand 'destination' must be one value, but there are 3}}
  // expected-error@below {{operand #0 'destination' must be a memref in #tile.shared, but is !tile.tensor_map<64xf32>}}
  // expected-error@below {{operand 'map' must be one value, but there are 0}}
  // expected-error@below {{operand 'barrier' must be one value, but there are 0}}
  "tile.tma.load"(%map, %m, %m) <{operandSegmentSizes = array<i32: 0, 0, 3, 0, 0, 0, 0, 0>}> : (!tile.tensor_map<64xf32>, memref<64xf32, #tile.shared>, memref<64xf32, #tile.shared>) -> ()
  return
}

// -----

// What arithmetic tells of the innermost coordinate: 4 i + 2 is never on 16 bytes, 8 i + 24 always, i is not known.
!map = !tile.tensor_map<64x64xbf16, swizzle = 128>
!tile = memref<64x64xbf16, #tile.shared<swizzle = 128>>
!bar = memref<!tile.mbarrier, #tile.shared>

func.func private @f(%map: !map, %m: !tile, %bar: !bar, %i: index) {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c24 = arith.constant 24 : index
  %fours = arith.muli %i, %c4 : index
  %off = arith.addi %fours, %c2 : index
  %eights = arith.muli %i, %c8 : index
  %on = arith.addi %eights, %c24 : index
  tile.tma.load %map[%i, %on], %m, %bar[] : !map, !tile, !bar
  tile.tma.load %map[%i, %fours], %m, %bar[] : !map, !tile, !bar
  tile.tma.load %map[%i, %i], %m, %bar[] : !map, !tile, !bar
  // expected-error@below {{the innermost coordinate is 2 more than a multiple of 4 elements, but must lie on 16 bytes (an illegal instruction on the GPU)}}
  tile.tma.load %map[%i, %off], %m, %bar[] : !map, !tile, !bar
  return
}

// -----

!map = !tile.tensor_map<4x16xi64>
!tile = memref<4x16xi64, #tile.shared>

func.func private @f(%map: !map, %i: index) {
  %m = tile.alloc : !tile
  // expected-error@below {{the map holds s64, but xor takes u32, s32, u64; write i64 with format = unsigned}}
  tile.tma.reduce xor %m, %map[%i, %i] : !tile, !map
  return
}
