// Roles of warps: branches on the warp's uniform number, each with its budget of registers.
// RUN: girih-opt %s -tile-set-target -tile-allocate-shared -convert-tile-to-nvvm -split-input-file | FileCheck %s

// 384 threads enter with 168 registers: a role gives registers up or takes more. The last role asks nothing.
// CHECK-LABEL: llvm.func @budgets() attributes {nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>}
// CHECK: %[[UNIFORM:.*]] = nvvm.shfl.sync
// CHECK: %[[C4:.*]] = arith.constant 4 : i32
// CHECK: %[[P0:.*]] = arith.cmpi ult, %[[UNIFORM]], %[[C4]] : i32
// CHECK: scf.if %[[P0]] {
// CHECK: nvvm.setmaxregister decrease 40
// CHECK: nvvm.barrier id
// CHECK: } else {
// CHECK: %[[C8:.*]] = arith.constant 8 : i32
// CHECK: %[[P1:.*]] = arith.cmpi ult, %[[UNIFORM]], %[[C8]] : i32
// CHECK: scf.if %[[P1]] {
// CHECK: nvvm.setmaxregister increase 232
// CHECK: } else {
// CHECK: %true = arith.constant true
// CHECK: scf.if %true {
// CHECK-NOT: nvvm.setmaxregister
// CHECK: nvvm.fence
// CHECK: nvvm.barrier{{$}}
tile.kernel @budgets() threads(384) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  tile.warp_specialize
  role producer(%t) warps(4) registers(40) {
    tile.barrier id 1 threads 128
  } role consumer(%t) warps(4) registers(232) {
    tile.fence block
  } role other(%t) warps(4) registers(168) {
    tile.fence proxy_async
  }
  tile.barrier
}

// -----

// A thread's number in its role counts from the role's first warp; without budgets nothing bounds registers.
// CHECK-LABEL: llvm.func @numbers
// CHECK-SAME: attributes {nvvm.kernel, nvvm.reqntid
// CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[C32:.*]] = arith.constant 32 : i32
// CHECK: %[[T:.*]] = arith.subi %{{.*}}, %[[C32]] : i32
// CHECK: arith.index_castui %[[T]] : i32 to index
tile.kernel @numbers(%C: memref<?xi32, #tile.global>) threads(96) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  tile.warp_specialize
  role one(%t) warps(1) {
  } role two(%t) warps(2) {
    %v = arith.index_cast %t : index to i32
    memref.store %v, %C[%t] : memref<?xi32, #tile.global>
  }
}
