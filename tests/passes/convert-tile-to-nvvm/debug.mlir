// Text is a global, arguments lie in 8 bytes each on the stack, and what is the same for all threads is said once.
// RUN: girih-opt %s -convert-tile-to-nvvm | FileCheck %s
// RUN: girih compile %s -o %t.cubin

module attributes {tile.target = "sm_90a"} {
// CHECK: gpu.module @device
// CHECK: llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32
// CHECK: llvm.mlir.global internal constant @text_0("block (%lld, %lld, %lld): n = %lld, 100%%\0A\00") {addr_space = 1 : i32}
// CHECK: llvm.mlir.global internal constant @text_1("block (%lld, %lld, %lld), thread %lld: %.9g %llx\0A\00")
// CHECK: llvm.func @__assertfail(!llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i64)
// CHECK: llvm.mlir.global internal constant @text_2("debug.mlir:[[#ASSERT:]]:3: assertion failed: is {x}, in block (%lld, %lld, %lld), [%lld]\0A\00")
// CHECK: llvm.mlir.global internal constant @text_3("is {x}\00")
// CHECK: llvm.mlir.global internal constant @text_4("debug.mlir\00")
// CHECK: llvm.mlir.global internal constant @text_5("say\00")
// CHECK-LABEL: llvm.func @say
tile.kernel @say(%x: f32, %n: i32) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // CHECK: llvm.alloca %{{.*}} x !llvm.array<4 x i64> {alignment = 8 : i64}
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i32
  // CHECK: scf.if %[[FIRST]] {
  // CHECK: arith.extsi %{{.*}} : i32 to i64
  // CHECK: llvm.call @vprintf(%{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr) -> i32
  // CHECK: }
  tile.print "n = {}, 100%", %n : i32
  // CHECK-NOT: scf.if
  // CHECK: arith.extf %{{.*}} : f32 to f64
  // CHECK: arith.index_castui %{{.*}} : index to i64
  // CHECK: llvm.call @vprintf
  %t = tile.thread_id
  tile.print "{} {:x}", %x, %t : f32, index
  // Threads of the second half hold copies, and say nothing.
  // CHECK: %[[OWN:.*]] = arith.andi %{{.*}}, %c32_i32
  // CHECK: arith.cmpi eq, %[[OWN]], %{{.*}} : i32
  // CHECK: scf.if
  // CHECK: llvm.call @vprintf
  // CHECK: llvm.call @__assertfail(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i64) -> ()
  %i = tile.iota axis 0 : tensor<32xi32, #tile.blocked<per_thread = [1], lanes = [32], warps = [2]>>
  %limit = arith.constant dense<40> : tensor<32xi32, #tile.blocked<per_thread = [1], lanes = [32], warps = [2]>>
  %inside = arith.cmpi slt, %i, %limit : tensor<32xi32, #tile.blocked<per_thread = [1], lanes = [32], warps = [2]>>
  tile.assert %inside, "is {x}" : tensor<32xi1, #tile.blocked<per_thread = [1], lanes = [32], warps = [2]>>
}
}
