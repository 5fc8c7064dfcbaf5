// Q = X / s in 8-bit floats (e4m3) and S = s, with one s for each row that makes its largest element the format's largest,
// 448: bf16 in. A row of up to 4096 columns stays in registers.
//
//   girih run examples/quantize.mlir --arg X=randn:bf16[16,1000] --arg "Q=zeros:e4m3[16,1000]" --arg S=poison:f32[16]
//
// RUN: girih run %s --device sim --arg X=randn:bf16[2,4096] --arg Q=zeros:e4m3[2,4096] --arg S=poison:f32[2] | FileCheck %s
// RUN: girih run %s --device sim --arg X=randn:bf16[3,999] --arg Q=zeros:e4m3[3,999] --arg S=poison:f32[3] | FileCheck %s
// CHECK: quantize: ran on
// CHECK-NEXT: right: Q:
// CHECK-NEXT: right: S:

!matrix = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!bytes = memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>
!vector = memref<?xf32, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @quantize(%X: !matrix, %Q: !bytes, %S: !vector) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %X, %c0 : !matrix
  tile.grid %rows, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %row = tile.block_id x
  %x = tile.load %X[%row, %c0] cache evict_last : !matrix -> tensor<1x4096xbf16>
  %xf = arith.extf %x : tensor<1x4096xbf16> to tensor<1x4096xf32>
  %abs = math.absf %xf : tensor<1x4096xf32>
  %max = tile.reduce %abs axis 1 (%a: f32, %b: f32) {
    %m = arith.maximumf %a, %b : f32
    tile.yield %m : f32
  } : tensor<1x4096xf32> -> tensor<1xf32>
  %largest = arith.constant dense<448.0> : tensor<1xf32>
  %least = arith.constant dense<1.0e-30> : tensor<1xf32>
  %some = arith.maximumf %max, %least : tensor<1xf32>
  %s = arith.divf %some, %largest : tensor<1xf32>
  // One quotient for the row, not one for each element.
  %inverse = arith.divf %largest, %some : tensor<1xf32>
  %inverse1 = tile.expand_dims %inverse axis 1 : tensor<1xf32> -> tensor<1x1xf32>
  %inverses = tile.broadcast %inverse1 : tensor<1x1xf32> -> tensor<1x4096xf32>
  %scaled = arith.mulf %xf, %inverses : tensor<1x4096xf32>
  // Nothing is too large here, and the instruction saturates by itself.
  %q = tile.cvt %scaled rn satfinite : tensor<1x4096xf32> to tensor<1x4096xf8E4M3FN>
  tile.store %q, %Q[%row, %c0] : tensor<1x4096xf8E4M3FN>, !bytes
  tile.store %s, %S[%row] : tensor<1xf32>, !vector
}

func.func @quantize_ref(%X: memref<?x?xbf16>, %Q: memref<?x?xf8E4M3FN>, %S: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %X, %c0 : memref<?x?xbf16>
  %n = memref.dim %X, %c1 : memref<?x?xbf16>
  %least = arith.constant 1.0e-30 : f32
  %largest = arith.constant 448.0 : f32
  scf.for %i = %c0 to %rows step %c1 {
    %max = scf.for %j = %c0 to %n step %c1 iter_args(%m = %least) -> (f32) {
      %x = memref.load %X[%i, %j] : memref<?x?xbf16>
      %xf = arith.extf %x : bf16 to f32
      %a = math.absf %xf : f32
      %l = arith.maximumf %m, %a : f32
      scf.yield %l : f32
    }
    %s = arith.divf %max, %largest : f32
    memref.store %s, %S[%i] : memref<?xf32>
    scf.for %j = %c0 to %n step %c1 {
      %x = memref.load %X[%i, %j] : memref<?x?xbf16>
      %xf = arith.extf %x : bf16 to f32
      %d = arith.divf %xf, %s : f32
      %q = arith.truncf %d : f32 to f8E4M3FN
      memref.store %q, %Q[%i, %j] : memref<?x?xf8E4M3FN>
    }
  }
  return
}

}
