// Numbers of blocks, threads, warps and lanes.
// RUN: girih-opt %s -tile-set-target -tile-allocate-shared -convert-tile-to-nvvm | FileCheck %s

// The warp's number is made uniform where all lanes are together: at the start, wherever it is asked for.
// CHECK-LABEL: llvm.func @numbers
// CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK: %[[WARP:.*]] = arith.shrui %[[TID]], %{{.*}} : i32
// CHECK: %[[UNIFORM:.*]] = nvvm.shfl.sync  idx %{{.*}}, %[[WARP]], %{{.*}}, %{{.*}} : i32 -> i32
// CHECK: %[[INDEX:.*]] = arith.index_castui %[[UNIFORM]] : i32 to index
// CHECK: nvvm.read.ptx.sreg.ctaid.x
// CHECK: nvvm.read.ptx.sreg.ctaid.y
// CHECK: nvvm.read.ptx.sreg.ctaid.z
// CHECK: nvvm.read.ptx.sreg.nctaid.y
// CHECK: nvvm.read.ptx.sreg.tid.x
// CHECK: nvvm.read.ptx.sreg.laneid
// CHECK: %[[ONE:.*]] = nvvm.elect.sync
// CHECK: scf.if %[[ONE]] {
// CHECK-NOT: nvvm.shfl.sync
// CHECK: arith.index_cast %[[INDEX]]
tile.kernel @numbers(%C: memref<?xi32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %x = tile.block_id x
  %y = tile.block_id y
  %z = tile.block_id z
  %n = tile.grid_dim y
  %t = tile.thread_id
  %l = tile.lane_id
  %elected = tile.elect
  scf.if %elected {
    %w = tile.warp_id
    %v = arith.index_cast %w : index to i32
    memref.store %v, %C[%t] : memref<?xi32, #tile.global>
  }
}
