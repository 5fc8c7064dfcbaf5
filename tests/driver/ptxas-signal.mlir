// A ptxas that a signal ends is named with its release and the kernel, and what it said before is what it was: no error.
// RUN: printf '#!/bin/sh\n[ "$1" = --version ] && { echo "tools, release 13.0, V13.0.88"; exit 0; }\necho "ptxas warning : no size of stack" >&2\nkill -SEGV $$\n' > %t.ptxas
// RUN: chmod +x %t.ptxas
// RUN: not girih compile %s --target sm_90a --emit cubin --ptxas %t.ptxas -o %t.cubin 2>&1 | FileCheck %s

// CHECK-NOT: error: {{.*}}warning
// CHECK: warning: no size of stack
// CHECK: error: ptxas ended by signal 11 while it compiled `signalled` for sm_90a; it is {{.*}}.ptxas of release 13.0, V13.0.88.
// CHECK-SAME: Name another ptxas with `--ptxas`, or write PTX with `--emit ptx` and let the driver compile it
tile.kernel @signalled(%X: memref<?xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<1.0> : tensor<32xf32>
  tile.store %x, %X[%c0] : tensor<32xf32>, memref<?xf32, #tile.global>
}
