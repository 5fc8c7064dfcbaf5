// Whole tiles to and from shared memory, under whatever swizzle: tensor copies bring a box, all threads hold it as a tile, and
// what they make of it goes back the same way. The fence before the store through the other proxy is put there.
//
// RUN: girih run %s --kernel span_128 --device sim --check-memory --arg 'A=uniform(low=-99,high=99):bf16[64,64]' --arg Out=poison:bf16[64,64] | FileCheck %s
// RUN: girih run %s --kernel span_64 --device sim --check-memory --arg 'A=iota:f32[32,16]' --arg Out=poison:f32[32,16] | FileCheck %s
// RUN: girih run %s --kernel span_32 --device sim --check-memory --arg 'A=uniform(low=-60,high=60):i8[64,32]' --arg Out=poison:i8[64,32] | FileCheck %s
// RUN: girih run %s --kernel stripes --device sim --check-memory --arg 'A=uniform(low=-99,high=99):bf16[64,64]' --arg Out=poison:bf16[64,64] | FileCheck %s
// RUN: girih run %s --kernel pitch_48 --device sim --check-memory --arg 'A=iota:f32[16,48]' --arg Out=poison:f32[16,48] | FileCheck %s
// RUN: girih run %s --kernel turned --device sim --check-memory --arg 'A=iota:f32[32,32]' --arg Out=poison:f32[32,32] | FileCheck %s
// RUN: girih compile %s -o - | FileCheck %s --check-prefix=PTX
// RUN: girih-opt %s -tile-swizzle-shared -tile-expand-tma -canonicalize -cse -tile-assign-layouts -tile-vectorize-accesses -tile-allocate-scratch -tile-insert-sync | FileCheck %s --check-prefix=SYNC
// RUN: girih-opt %s -pass-pipeline='builtin.module(tile-swizzle-shared,tile-expand-tma,canonicalize,cse,tile-assign-layouts{seed=3})' -o %t.mlir
// RUN: girih run %t.mlir --kernel span_128 --device sim --check-memory --arg 'A=uniform(low=-99,high=99):bf16[64,64]' --arg Out=poison:bf16[64,64] | FileCheck %s
// RUN: girih run %t.mlir --kernel pitch_48 --device sim --check-memory --arg A=iota:f32[16,48] --arg Out=poison:f32[16,48] | FileCheck %s
// CHECK: right: Out: all {{.*}} elements are exact
// CHECK: no findings
// 4096 elements of 128 threads, eight at a time; what the registers add stands beside the address.
// PTX-LABEL: .entry span_128(
// PTX: ld.shared.v4.b32 {{.*}}, [%r[[A:[0-9]+]]];
// PTX: ld.shared.v4.b32 {{.*}}, [%r[[A]]+2048];
// PTX: ld.shared.v4.b32 {{.*}}, [%r[[A]]+4096];
// PTX: ld.shared.v4.b32 {{.*}}, [%r[[A]]+6144];
// PTX-NOT: ld.shared
// PTX: st.shared.v4.b32
// PTX-LABEL: .entry
// SYNC-LABEL: tile.kernel @span_128
// SYNC: tile.store {{.*}} #tile.shared<swizzle = 128>>
// SYNC-NEXT: tile.fence proxy_async_shared
// SYNC-NEXT: tile.barrier
// SYNC-NEXT: scf.if

module attributes {tile.target = "sm_90a"} {

// Whole periods: the swizzle moves with the thread alone.
tile.kernel @span_128(%A: memref<64x64xbf16, #tile.global>, %Out: memref<64x64xbf16, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %even = arith.constant false
  %bytes = arith.constant 8192 : i32
  %box = tile.alloc : memref<64x64xbf16, #tile.shared<swizzle = 128>>
  %out = tile.alloc : memref<64x64xbf16, #tile.shared<swizzle = 128>>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %thread = tile.thread_id
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %box, %A box [64, 64] coords[%c0, %c0] steps [] mbar %bar[] : memref<64x64xbf16, #tile.shared<swizzle = 128>>, memref<64x64xbf16, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
  %x = tile.load %box[%c0, %c0] : memref<64x64xbf16, #tile.shared<swizzle = 128>> -> tensor<64x64xbf16>
  %y = arith.addf %x, %x : tensor<64x64xbf16>
  tile.store %y, %out[%c0, %c0] : tensor<64x64xbf16>, memref<64x64xbf16, #tile.shared<swizzle = 128>>
  scf.if %first {
    tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %Out, %out box [64, 64] coords[%c0, %c0] steps [] : memref<64x64xbf16, #tile.global>, memref<64x64xbf16, #tile.shared<swizzle = 128>>
    tile.bulk.commit
    tile.bulk.wait 0
  }
}

// A tile of few elements: some threads hold copies.
tile.kernel @span_64(%A: memref<32x16xf32, #tile.global>, %Out: memref<32x16xf32, #tile.global>) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %even = arith.constant false
  %bytes = arith.constant 2048 : i32
  %box = tile.alloc : memref<32x16xf32, #tile.shared<swizzle = 64>>
  %out = tile.alloc : memref<32x16xf32, #tile.shared<swizzle = 64>>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %thread = tile.thread_id
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %box, %A box [32, 16] coords[%c0, %c0] steps [] mbar %bar[] : memref<32x16xf32, #tile.shared<swizzle = 64>>, memref<32x16xf32, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
  %x = tile.load %box[%c0, %c0] : memref<32x16xf32, #tile.shared<swizzle = 64>> -> tensor<32x16xf32>
  %y = arith.addf %x, %x : tensor<32x16xf32>
  tile.store %y, %out[%c0, %c0] : tensor<32x16xf32>, memref<32x16xf32, #tile.shared<swizzle = 64>>
  scf.if %first {
    tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %Out, %out box [32, 16] coords[%c0, %c0] steps [] : memref<32x16xf32, #tile.global>, memref<32x16xf32, #tile.shared<swizzle = 64>>
    tile.bulk.commit
    tile.bulk.wait 0
  }
}


tile.kernel @span_32(%A: memref<64x32xi8, #tile.global>, %Out: memref<64x32xi8, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %even = arith.constant false
  %bytes = arith.constant 2048 : i32
  %box = tile.alloc : memref<64x32xi8, #tile.shared<swizzle = 32>>
  %out = tile.alloc : memref<64x32xi8, #tile.shared<swizzle = 32>>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %thread = tile.thread_id
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %box, %A box [64, 32] coords[%c0, %c0] steps [] mbar %bar[] : memref<64x32xi8, #tile.shared<swizzle = 32>>, memref<64x32xi8, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
  %x = tile.load %box[%c0, %c0] : memref<64x32xi8, #tile.shared<swizzle = 32>> -> tensor<64x32xi8>
  %y = arith.addi %x, %x : tensor<64x32xi8>
  tile.store %y, %out[%c0, %c0] : tensor<64x32xi8>, memref<64x32xi8, #tile.shared<swizzle = 32>>
  scf.if %first {
    tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %Out, %out box [64, 32] coords[%c0, %c0] steps [] : memref<64x32xi8, #tile.global>, memref<64x32xi8, #tile.shared<swizzle = 32>>
    tile.bulk.commit
    tile.bulk.wait 0
  }
}

// Rows that start within a period.
tile.kernel @stripes(%A: memref<64x64xbf16, #tile.global>, %Out: memref<64x64xbf16, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %even = arith.constant false
  %bytes = arith.constant 8192 : i32
  %box = tile.alloc : memref<64x64xbf16, #tile.shared<swizzle = 128>>
  %out = tile.alloc : memref<64x64xbf16, #tile.shared<swizzle = 128>>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %thread = tile.thread_id
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %box, %A box [64, 64] coords[%c0, %c0] steps [] mbar %bar[] : memref<64x64xbf16, #tile.shared<swizzle = 128>>, memref<64x64xbf16, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  scf.for %r = %c0 to %c64 step %c4 {
    %x = tile.load %box[%r, %c0] : memref<64x64xbf16, #tile.shared<swizzle = 128>> -> tensor<4x64xbf16>
    %y = arith.addf %x, %x : tensor<4x64xbf16>
    tile.store %y, %out[%r, %c0] : tensor<4x64xbf16>, memref<64x64xbf16, #tile.shared<swizzle = 128>>
  }
  scf.if %first {
    tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %Out, %out box [64, 64] coords[%c0, %c0] steps [] : memref<64x64xbf16, #tile.global>, memref<64x64xbf16, #tile.shared<swizzle = 128>>
    tile.bulk.commit
    tile.bulk.wait 0
  }
}

// Rows whose pitch is no power of two.
tile.kernel @pitch_48(%A: memref<16x48xf32, #tile.global>, %Out: memref<16x48xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %even = arith.constant false
  %bytes = arith.constant 3072 : i32
  %box = tile.alloc : memref<16x48xf32, #tile.shared>
  %out = tile.alloc : memref<16x48xf32, #tile.shared>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %thread = tile.thread_id
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %box, %A box [16, 48] coords[%c0, %c0] steps [] mbar %bar[] : memref<16x48xf32, #tile.shared>, memref<16x48xf32, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %x = tile.load %box[%c0, %c16] : memref<16x48xf32, #tile.shared> -> tensor<16x32xf32>
  %y = arith.addf %x, %x : tensor<16x32xf32>
  tile.store %y, %out[%c0, %c16] : tensor<16x32xf32>, memref<16x48xf32, #tile.shared>
  %l = tile.load %box[%c0, %c0] : memref<16x48xf32, #tile.shared> -> tensor<16x16xf32>
  %m = arith.addf %l, %l : tensor<16x16xf32>
  tile.store %m, %out[%c0, %c0] : tensor<16x16xf32>, memref<16x48xf32, #tile.shared>
  scf.if %first {
    tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %Out, %out box [16, 48] coords[%c0, %c0] steps [] : memref<16x48xf32, #tile.global>, memref<16x48xf32, #tile.shared>
    tile.bulk.commit
    tile.bulk.wait 0
  }
}

// Stored with its axes exchanged.
tile.kernel @turned(%A: memref<32x32xf32, #tile.global>, %Out: memref<32x32xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %even = arith.constant false
  %bytes = arith.constant 4096 : i32
  %box = tile.alloc : memref<32x32xf32, #tile.shared<swizzle = 128>>
  %out = tile.alloc : memref<32x32xf32, #tile.shared<swizzle = 128>>
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %thread = tile.thread_id
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
    tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %box, %A box [32, 32] coords[%c0, %c0] steps [] mbar %bar[] : memref<32x32xf32, #tile.shared<swizzle = 128>>, memref<32x32xf32, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  tile.mbarrier.wait %bar[], %even : memref<!tile.mbarrier, #tile.shared>
  %x = tile.load %box[%c0, %c0] : memref<32x32xf32, #tile.shared<swizzle = 128>> -> tensor<32x32xf32>
  %y = arith.addf %x, %x : tensor<32x32xf32>
  %t = tile.transpose %y order [1, 0] : tensor<32x32xf32> -> tensor<32x32xf32>
  tile.store %t, %out[%c0, %c0] : tensor<32x32xf32>, memref<32x32xf32, #tile.shared<swizzle = 128>>
  scf.if %first {
    tile.tma.apply "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" %Out, %out box [32, 32] coords[%c0, %c0] steps [] : memref<32x32xf32, #tile.global>, memref<32x32xf32, #tile.shared<swizzle = 128>>
    tile.bulk.commit
    tile.bulk.wait 0
  }
}

func.func @span_128_ref(%A: memref<64x64xbf16>, %Out: memref<64x64xbf16>) {
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%A : memref<64x64xbf16>) outs(%Out : memref<64x64xbf16>) {
    ^bb0(%a: bf16, %old: bf16):
      %r = arith.addf %a, %a : bf16
      linalg.yield %r : bf16
  }
  return
}

func.func @span_64_ref(%A: memref<32x16xf32>, %Out: memref<32x16xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%A : memref<32x16xf32>) outs(%Out : memref<32x16xf32>) {
    ^bb0(%a: f32, %old: f32):
      %r = arith.addf %a, %a : f32
      linalg.yield %r : f32
  }
  return
}

func.func @span_32_ref(%A: memref<64x32xi8>, %Out: memref<64x32xi8>) {
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%A : memref<64x32xi8>) outs(%Out : memref<64x32xi8>) {
    ^bb0(%a: i8, %old: i8):
      %r = arith.addi %a, %a : i8
      linalg.yield %r : i8
  }
  return
}

func.func @stripes_ref(%A: memref<64x64xbf16>, %Out: memref<64x64xbf16>) {
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%A : memref<64x64xbf16>) outs(%Out : memref<64x64xbf16>) {
    ^bb0(%a: bf16, %old: bf16):
      %r = arith.addf %a, %a : bf16
      linalg.yield %r : bf16
  }
  return
}

func.func @pitch_48_ref(%A: memref<16x48xf32>, %Out: memref<16x48xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%A : memref<16x48xf32>) outs(%Out : memref<16x48xf32>) {
    ^bb0(%a: f32, %old: f32):
      %r = arith.addf %a, %a : f32
      linalg.yield %r : f32
  }
  return
}

func.func @turned_ref(%A: memref<32x32xf32>, %Out: memref<32x32xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n, m)>], iterator_types = ["parallel", "parallel"]}
      ins(%A : memref<32x32xf32>) outs(%Out : memref<32x32xf32>) {
    ^bb0(%a: f32, %old: f32):
      %r = arith.addf %a, %a : f32
      linalg.yield %r : f32
  }
  return
}

}
