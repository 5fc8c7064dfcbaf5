// With fastmath<afn> functions are instructions of the hardware.
//
// RUN: girih compile %s -o - | FileCheck %s
// CHECK-NOT: call
// CHECK-DAG: lg2.approx.f32
// CHECK-DAG: ex2.approx
// CHECK-DAG: sin.approx
// CHECK-DAG: tanh.approx
// CHECK: ret;

module attributes {tile.target = "sm_90a"} {
tile.kernel @activate(%x: memref<?xf32, #tile.global>, %y: memref<?xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %i = tile.thread_id
  %v = memref.load %x[%i] : memref<?xf32, #tile.global>
  %a = math.log2 %v fastmath<afn> : f32
  %b = math.exp %v fastmath<afn> : f32
  %c = math.sin %v fastmath<afn> : f32
  %d = math.tanh %v fastmath<afn> : f32
  %e = math.log %v fastmath<fast> : f32
  %s = arith.addf %a, %b : f32
  %s1 = arith.addf %s, %c : f32
  %s2 = arith.addf %s1, %d : f32
  %s3 = arith.addf %s2, %e : f32
  memref.store %s3, %y[%i] : memref<?xf32, #tile.global>
}
}
