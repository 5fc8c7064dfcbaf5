// Barriers and fences: in the form that is printed, the generic one and bytecode.
// RUN: girih-opt %s | FileCheck %s
// RUN: girih-opt %s --mlir-print-op-generic | girih-opt | FileCheck %s
// RUN: girih-opt %s --emit-bytecode | girih-opt | FileCheck %s

// CHECK-LABEL: @order
func.func private @order() {
  // CHECK-NEXT: tile.barrier{{$}}
  tile.barrier
  // CHECK-NEXT: tile.barrier id 2{{$}}
  tile.barrier id 2
  // CHECK-NEXT: tile.barrier id 1 threads 128{{$}}
  tile.barrier id 1 threads 128
  // CHECK-NEXT: tile.fence mbarrier_init
  tile.fence mbarrier_init
  // CHECK-NEXT: tile.fence proxy_async{{$}}
  tile.fence proxy_async
  // CHECK-NEXT: tile.fence proxy_async_shared
  tile.fence proxy_async_shared
  // CHECK-NEXT: tile.fence proxy_async_global
  tile.fence proxy_async_global
  // CHECK-NEXT: tile.fence block
  tile.fence block
  // CHECK-NEXT: tile.fence cluster
  tile.fence cluster
  // CHECK-NEXT: tile.fence gpu
  tile.fence gpu
  // CHECK-NEXT: tile.fence system
  tile.fence system
  return
}
