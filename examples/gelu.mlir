// Y = gelu(alpha X + B), whole tiles as values: no threads, no layouts, no addresses. 1024 elements a block.
//
//   girih run examples/gelu.mlir --arg X=randn:f32[5000] --arg B=randn:bf16[5000] --arg Y=poison:f32[5000] --arg alpha=f32:1.5
//
// The sizes are multiples of 8 in the first run, so that the kernel's vectors serve; not in the second.
// RUN: girih run %s --device sim --arg X=randn:f32[4000] --arg B=randn:bf16[4000] --arg Y=poison:f32[4000] --arg alpha=f32:1.5 | FileCheck %s
// CHECK: gelu: ran on {{.*}}, grid 4x1x1

module attributes {tile.target = "sm_90a"} {

tile.kernel @gelu(%X: memref<?xf32, #tile.global>, %B: memref<?xbf16, #tile.global>, %Y: memref<?xf32, #tile.global>, %alpha: f32) threads(256) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %n = memref.dim %Y, %c0 : memref<?xf32, #tile.global>
  %blocks = arith.ceildivui %n, %c1024 : index
  tile.grid %blocks, %c1, %c1
} body {
  %c1024 = arith.constant 1024 : index
  %block = tile.block_id x
  %i = arith.muli %block, %c1024 : index
  %x = tile.load %X[%i] cache evict_last : memref<?xf32, #tile.global> -> tensor<1024xf32>
  %b = tile.load %B[%i] cache evict_last : memref<?xbf16, #tile.global> -> tensor<1024xbf16>
  %a = tile.splat %alpha : f32 -> tensor<1024xf32>
  %bf = arith.extf %b : tensor<1024xbf16> to tensor<1024xf32>
  %ax = arith.mulf %a, %x : tensor<1024xf32>
  %z = arith.addf %ax, %bf : tensor<1024xf32>

  // 0.5 z (1 + tanh(0.79788456 (z + 0.044715 z^3)))
  %half = arith.constant dense<0.5> : tensor<1024xf32>
  %one = arith.constant dense<1.0> : tensor<1024xf32>
  %c = arith.constant dense<0.044715> : tensor<1024xf32>
  %s = arith.constant dense<0.7978845608> : tensor<1024xf32>
  %z2 = arith.mulf %z, %z : tensor<1024xf32>
  %z3 = arith.mulf %z2, %z : tensor<1024xf32>
  %cz3 = arith.mulf %c, %z3 : tensor<1024xf32>
  %sum = arith.addf %z, %cz3 : tensor<1024xf32>
  %u = arith.mulf %s, %sum : tensor<1024xf32>
  %t = math.tanh %u fastmath<afn> : tensor<1024xf32>
  %t1 = arith.addf %one, %t : tensor<1024xf32>
  %hz = arith.mulf %half, %z : tensor<1024xf32>
  %y = arith.mulf %hz, %t1 : tensor<1024xf32>
  tile.store %y, %Y[%i] : tensor<1024xf32>, memref<?xf32, #tile.global>
}

func.func @gelu_ref(%X: memref<?xf32>, %B: memref<?xbf16>, %Y: memref<?xf32>, %alpha: f32) attributes {girih.tol = 2.0e-3 : f64} {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %c = arith.constant 0.044715 : f32
  %s = arith.constant 0.7978845608 : f32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%X, %B : memref<?xf32>, memref<?xbf16>) outs(%Y : memref<?xf32>) {
  ^bb0(%x: f32, %b: bf16, %y: f32):
    %bf = arith.extf %b : bf16 to f32
    %ax = arith.mulf %alpha, %x : f32
    %z = arith.addf %ax, %bf : f32
    %z2 = arith.mulf %z, %z : f32
    %z3 = arith.mulf %z2, %z : f32
    %cz3 = arith.mulf %c, %z3 : f32
    %sum = arith.addf %z, %cz3 : f32
    %u = arith.mulf %s, %sum : f32
    %t = math.tanh %u : f32
    %t1 = arith.addf %one, %t : f32
    %hz = arith.mulf %half, %z : f32
    %r = arith.mulf %hz, %t1 : f32
    linalg.yield %r : f32
  }
  return
}

}
