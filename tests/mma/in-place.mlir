// A product whose result is the next one's operand, through the same memory: its copies do not run ahead of what is stored.
//
// RUN: girih run %s --device sim --check-memory --arg X=randn:bf16[72,64] --arg W=randn:bf16[64,64] --arg count=i64:3 | FileCheck %s
// RUN: girih compile %s -o %t.ptx 2>&1 | FileCheck %s --check-prefix=REMARK
// CHECK: right: X:
// REMARK: remark: is copied by threads: no tensor copy takes operand a: what the memref holds may change at line {{[0-9]+}}, which a copy that runs ahead would not see

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @layers(%X: !rows, %W: !rows, %count: i64) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %M = memref.dim %X, %c0 : !rows
  %tiles_m = arith.ceildivui %M, %c64 : index
  tile.grid %tiles_m, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %K = memref.dim %W, %c0 : !rows
  %bx = tile.block_id x
  %times = arith.index_cast %count : i64 to index
  %row = arith.muli %bx, %c64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %eighth = arith.constant dense<0.125> : tensor<64x64xf32>
  scf.for %time = %c0 to %times step %c1 {
    %sum = scf.for %k = %c0 to %K step %c16 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
      %x = tile.load %X[%row, %k] : !rows -> tensor<64x16xbf16>
      %w = tile.load %W[%k, %c0] : !rows -> tensor<16x64xbf16>
      %next = tile.mma %x, %w, %acc : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    %scaled = arith.mulf %sum, %eighth : tensor<64x64xf32>
    %out = arith.truncf %scaled : tensor<64x64xf32> to tensor<64x64xbf16>
    tile.store %out, %X[%row, %c0] : tensor<64x64xbf16>, !rows
  }
}

func.func @layers_ref(%X: memref<?x?xbf16, strided<[?, 1]>>, %W: memref<?x?xbf16, strided<[?, 1]>>, %count: i64) attributes {girih.tol = 3.0e-2 : f64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %eighth = arith.constant 0.125 : f32
  %times = arith.index_cast %count : i64 to index
  %M = memref.dim %X, %c0 : memref<?x?xbf16, strided<[?, 1]>>
  %N = memref.dim %W, %c1 : memref<?x?xbf16, strided<[?, 1]>>
  %S = memref.alloc(%M, %N) : memref<?x?xf32>
  scf.for %time = %c0 to %times step %c1 {
    linalg.fill ins(%zero : f32) outs(%S : memref<?x?xf32>)
    linalg.matmul ins(%X, %W : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[?, 1]>>) outs(%S : memref<?x?xf32>)
    linalg.map ins(%S : memref<?x?xf32>) outs(%X : memref<?x?xbf16, strided<[?, 1]>>) (%s: f32, %old: bf16) {
      %scaled = arith.mulf %s, %eighth : f32
      %r = arith.truncf %scaled : f32 to bf16
      linalg.yield %r : bf16
    }
  }
  memref.dealloc %S : memref<?x?xf32>
  return
}

}
