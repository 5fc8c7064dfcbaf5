// A tile that products take from shared memory is written 16 bytes at a time and read by ldmatrix, transposed where threads need
// neighbours of a column; in an order without bank conflicts.
// RUN: girih-opt %s -tile-allocate-scratch -o %t.mlir
// RUN: girih run %t.mlir --kernel rows --device sim --check-memory --arg X=randn:f16[64,64] --arg Y=poison:f16[64,64] | FileCheck %s
// RUN: girih run %t.mlir --kernel columns --device sim --check-memory --arg X=randn:f16[64,64] --arg Y=poison:f16[64,64] | FileCheck %s
// CHECK: right: Y: all 4096 elements are exact
// CHECK: no findings
// RUN: girih run %t.mlir --kernel rows --device sim --report banks --arg X=randn:f16[64,64] --arg Y=poison:f16[64,64] | FileCheck %s --check-prefix=BANKS
// RUN: girih run %t.mlir --kernel columns --device sim --report banks --arg X=randn:f16[64,64] --arg Y=poison:f16[64,64] | FileCheck %s --check-prefix=BANKS
// BANKS: (0 wasted, 1.00 for each)
// RUN: girih compile %t.mlir --emit ptx -o - | FileCheck %s --check-prefix=PTX
// PTX-LABEL: .entry rows(
// PTX-COUNT-4: st.shared.v4.b32
// PTX-NOT: st.shared
// PTX: bar.sync
// PTX-COUNT-4: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// PTX-NOT: ld.shared
// PTX-LABEL: .entry columns(
// PTX-COUNT-4: st.shared.v4.b32
// PTX-NOT: st.shared
// PTX: bar.sync
// PTX-COUNT-8: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// PTX-NOT: ld.shared

!from = tensor<64x64xf16, #tile.blocked<per_thread = [1, 8], lanes = [4, 8], warps = [4, 1]>>
!a = tensor<64x64xf16, #tile.linear<register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>>
!b = tensor<64x64xf16, #tile.linear<register = [[1, 0], [8, 0], [16, 0], [32, 0], [0, 8], [0, 16]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0], [0, 32]]>>

module attributes {tile.target = "sm_80"} {

tile.kernel @rows(%X: memref<64x64xf16, #tile.global>, %Y: memref<64x64xf16, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : memref<64x64xf16, #tile.global> -> !from
  %y = tile.convert_layout %x : !from -> !a
  tile.store %y, %Y[%c0, %c0] : !a, memref<64x64xf16, #tile.global>
}

func.func @rows_ref(%X: memref<64x64xf16>, %Y: memref<64x64xf16>) {
  memref.copy %X, %Y : memref<64x64xf16> to memref<64x64xf16>
  return
}

tile.kernel @columns(%X: memref<64x64xf16, #tile.global>, %Y: memref<64x64xf16, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : memref<64x64xf16, #tile.global> -> !from
  %y = tile.convert_layout %x : !from -> !b
  tile.store %y, %Y[%c0, %c0] : !b, memref<64x64xf16, #tile.global>
}

func.func @columns_ref(%X: memref<64x64xf16>, %Y: memref<64x64xf16>) {
  memref.copy %X, %Y : memref<64x64xf16> to memref<64x64xf16>
  return
}

}
