// Functions in a kernel, run on the simulator, against the host's own.
//
// RUN: girih run %s --kernel functions --device sim --arg x=randn:f32[1000] --arg y=poison:f32[8,1000] --reference @functions_ref | FileCheck %s
// CHECK: right: y

module attributes {tile.target = "sm_90a"} {

tile.kernel @functions(%x: memref<?xf32, #tile.global>, %y: memref<8x?xf32, #tile.global>) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %n = memref.dim %x, %c0 : memref<?xf32, #tile.global>
  %blocks = arith.ceildivui %n, %c128 : index
  tile.grid %blocks, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %n = memref.dim %x, %c0 : memref<?xf32, #tile.global>
  %block = tile.block_id x
  %thread = tile.thread_id
  %start = arith.muli %block, %c128 : index
  %i = arith.addi %start, %thread : index
  %inside = arith.cmpi ult, %i, %n : index
  scf.if %inside {
    %v = memref.load %x[%i] : memref<?xf32, #tile.global>
    %r0 = arith.constant 0 : index
    %r1 = arith.constant 1 : index
    %r2 = arith.constant 2 : index
    %r3 = arith.constant 3 : index
    %r4 = arith.constant 4 : index
    %r5 = arith.constant 5 : index
    %r6 = arith.constant 6 : index
    %r7 = arith.constant 7 : index
    %wide = arith.constant 1.0e6 : f32
    %far = arith.mulf %v, %wide : f32
    %size = math.absf %v : f32
    %f0 = math.exp %v : f32
    memref.store %f0, %y[%r0, %i] : memref<8x?xf32, #tile.global>
    %f1 = math.log %size : f32
    memref.store %f1, %y[%r1, %i] : memref<8x?xf32, #tile.global>
    %f2 = math.sin %far : f32
    memref.store %f2, %y[%r2, %i] : memref<8x?xf32, #tile.global>
    %f3 = math.tanh %v : f32
    memref.store %f3, %y[%r3, %i] : memref<8x?xf32, #tile.global>
    %f4 = math.erf %v : f32
    memref.store %f4, %y[%r4, %i] : memref<8x?xf32, #tile.global>
    %f5 = math.powf %size, %v : f32
    memref.store %f5, %y[%r5, %i] : memref<8x?xf32, #tile.global>
    %f6 = math.atan2 %v, %f0 : f32
    memref.store %f6, %y[%r6, %i] : memref<8x?xf32, #tile.global>
    %f7 = arith.remf %far, %size : f32
    memref.store %f7, %y[%r7, %i] : memref<8x?xf32, #tile.global>
  }
}

func.func @functions_ref(%x: memref<?xf32>, %y: memref<8x?xf32>) {
  %c0 = arith.constant 0 : index
  %r1 = arith.constant 1 : index
  %r2 = arith.constant 2 : index
  %r3 = arith.constant 3 : index
  %r4 = arith.constant 4 : index
  %r5 = arith.constant 5 : index
  %r6 = arith.constant 6 : index
  %r7 = arith.constant 7 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %wide = arith.constant 1.0e6 : f32
  scf.for %i = %c0 to %n step %r1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %far = arith.mulf %v, %wide : f32
    %size = math.absf %v : f32
    %f0 = math.exp %v : f32
    memref.store %f0, %y[%c0, %i] : memref<8x?xf32>
    %f1 = math.log %size : f32
    memref.store %f1, %y[%r1, %i] : memref<8x?xf32>
    %f2 = math.sin %far : f32
    memref.store %f2, %y[%r2, %i] : memref<8x?xf32>
    %f3 = math.tanh %v : f32
    memref.store %f3, %y[%r3, %i] : memref<8x?xf32>
    %f4 = math.erf %v : f32
    memref.store %f4, %y[%r4, %i] : memref<8x?xf32>
    %f5 = math.powf %size, %v : f32
    memref.store %f5, %y[%r5, %i] : memref<8x?xf32>
    %f6 = math.atan2 %v, %f0 : f32
    memref.store %f6, %y[%r6, %i] : memref<8x?xf32>
    %f7 = arith.remf %far, %size : f32
    memref.store %f7, %y[%r7, %i] : memref<8x?xf32>
  }
  return
}

}
