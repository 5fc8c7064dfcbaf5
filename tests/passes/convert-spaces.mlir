// Memory spaces are converted wherever a type stands, and back.
// RUN: girih-opt %s --tile-convert-spaces | FileCheck %s --check-prefix=GPU
// RUN: girih-opt %s --pass-pipeline='builtin.module(tile-convert-spaces{to=nvvm})' | FileCheck %s --check-prefix=NVVM
// RUN: girih-opt %s --pass-pipeline='builtin.module(tile-convert-spaces{to=gpu},tile-convert-spaces{to=nvvm})' | FileCheck %s --check-prefix=NVVM
// RUN: girih-opt %s --pass-pipeline='builtin.module(tile-convert-spaces{to=gpu},tile-convert-spaces{to=tile})' | FileCheck %s --check-prefix=TILE
// RUN: girih-opt %s --pass-pipeline='builtin.module(tile-convert-spaces{to=nvvm},tile-convert-spaces{to=tile})' | FileCheck %s --check-prefix=TILE

// GPU: memref.global "private" @buffer : memref<64xf32, #gpu.address_space<workgroup>>
// NVVM: memref.global "private" @buffer : memref<64xf32, 3>
// TILE: memref.global "private" @buffer : memref<64xf32, #tile.shared>
memref.global "private" @buffer : memref<64xf32, #tile.shared>

// GPU: func.func private @callee(memref<64xf32, #gpu.address_space<workgroup>>, memref<*xf32, #gpu.address_space<global>>) -> memref<8xf32, #gpu.address_space<private>>
// NVVM: func.func private @callee(memref<64xf32, 3>, memref<*xf32, 1>) -> memref<8xf32, 5>
// TILE: func.func private @callee(memref<64xf32, #tile.shared>, memref<*xf32, #tile.global>) -> memref<8xf32, #tile.local>
func.func private @callee(memref<64xf32, #tile.shared>, memref<*xf32, #tile.global>) -> memref<8xf32, #tile.local>

// GPU-LABEL: @caller
// GPU-SAME: memref<?xf32, strided<[?], offset: ?>, #gpu.address_space<global>>
// GPU-NOT: #tile
// NVVM-LABEL: @caller
// NVVM-SAME: memref<?xf32, strided<[?], offset: ?>, 1>
// NVVM-NOT: #
// TILE-LABEL: @caller
// TILE-SAME: memref<?xf32, strided<[?], offset: ?>, #tile.global>
func.func @caller(%g: memref<?xf32, strided<[?], offset: ?>, #tile.global>, %none: memref<4xf32>, %n: index, %c: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // GPU: memref.get_global @buffer : memref<64xf32, #gpu.address_space<workgroup>>
  // NVVM: memref.get_global @buffer : memref<64xf32, 3>
  // TILE: memref.get_global @buffer : memref<64xf32, #tile.shared>
  %s = memref.get_global @buffer : memref<64xf32, #tile.shared>
  %u = memref.cast %g : memref<?xf32, strided<[?], offset: ?>, #tile.global> to memref<*xf32, #tile.global>
  // GPU: call @callee({{.*}}) : (memref<64xf32, #gpu.address_space<workgroup>>, memref<*xf32, #gpu.address_space<global>>) -> memref<8xf32, #gpu.address_space<private>>
  %l = func.call @callee(%s, %u) : (memref<64xf32, #tile.shared>, memref<*xf32, #tile.global>) -> memref<8xf32, #tile.local>
  // GPU: scf.for {{.*}} -> (memref<64xf32, #gpu.address_space<workgroup>>)
  // NVVM: scf.for {{.*}} -> (memref<64xf32, 3>)
  // TILE: scf.for {{.*}} -> (memref<64xf32, #tile.shared>)
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %s) -> (memref<64xf32, #tile.shared>) {
    // GPU: scf.if {{.*}} -> (memref<64xf32, #gpu.address_space<workgroup>>)
    %k = scf.if %c -> (memref<64xf32, #tile.shared>) {
      scf.yield %a : memref<64xf32, #tile.shared>
    } else {
      scf.yield %s : memref<64xf32, #tile.shared>
    }
    scf.yield %k : memref<64xf32, #tile.shared>
  }
  // GPU: cf.br ^bb1({{.*}} : memref<64xf32, #gpu.address_space<workgroup>>)
  cf.br ^end(%r : memref<64xf32, #tile.shared>)
^end(%m: memref<64xf32, #tile.shared>):
  // A memref without a space has none afterwards.
  // GPU: memref.load %{{.*}} : memref<4xf32>
  // NVVM: memref.load %{{.*}} : memref<4xf32>
  // TILE: memref.load %{{.*}} : memref<4xf32>
  %v = memref.load %none[%c0] : memref<4xf32>
  %w = memref.load %m[%c0] : memref<64xf32, #tile.shared>
  %x = memref.load %l[%c0] : memref<8xf32, #tile.local>
  %y = arith.addf %v, %w : f32
  %z = arith.addf %y, %x : f32
  return %z : f32
}
