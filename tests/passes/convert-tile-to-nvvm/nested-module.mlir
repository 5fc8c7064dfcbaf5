// All kernels of a module of the device come from one module.
// RUN: girih-opt %s --convert-tile-to-nvvm --verify-diagnostics
// RUN: girih-opt %s --pass-pipeline='builtin.module(builtin.module(convert-tile-to-nvvm))' | FileCheck %s

// CHECK: module @inner
// CHECK: gpu.module @device
module {
module @inner {
  // expected-error @+1 {{'tile.kernel' op stands in a module inside of the one that is compiled, but the code of all kernels goes to one module of the device; write it in the outermost module, or compile the inner one alone}}
  tile.kernel @k() threads(32) launch {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  } body {
  }
}
}
