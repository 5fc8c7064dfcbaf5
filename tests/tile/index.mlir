// Who am I: in the form that is printed, the generic one and bytecode.
// RUN: girih-opt %s | FileCheck %s
// RUN: girih-opt %s --mlir-print-op-generic | girih-opt | FileCheck %s
// RUN: girih-opt %s --emit-bytecode | girih-opt | FileCheck %s

// CHECK-LABEL: @who
func.func private @who() {
  // CHECK-NEXT: %block_x = tile.block_id x
  %0 = tile.block_id x
  // CHECK-NEXT: %block_y = tile.block_id y
  %1 = tile.block_id y
  // CHECK-NEXT: %block_z = tile.block_id z
  %2 = tile.block_id z
  // CHECK-NEXT: %{{.*}} = tile.grid_dim x
  %3 = tile.grid_dim x
  // CHECK-NEXT: %thread = tile.thread_id
  %4 = tile.thread_id
  // CHECK-NEXT: %warp = tile.warp_id
  %5 = tile.warp_id
  // CHECK-NEXT: %lane = tile.lane_id
  %6 = tile.lane_id
  // CHECK-NEXT: %elected = tile.elect
  %7 = tile.elect
  // CHECK-NEXT: %elected_0 = tile.elect {note = "kept"}
  %8 = tile.elect {note = "kept"}
  return
}
