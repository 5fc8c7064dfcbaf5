// Barriers and fences.
// RUN: girih-opt %s -tile-set-target -tile-allocate-shared -convert-tile-to-nvvm | FileCheck %s

// CHECK-LABEL: llvm.func @sync
tile.kernel @sync() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // CHECK: nvvm.barrier{{$}}
  tile.barrier
  // CHECK: %[[ID:.*]] = arith.constant 3 : i32
  // CHECK: %[[N:.*]] = arith.constant 64 : i32
  // CHECK: nvvm.barrier id = %[[ID]] number_of_threads = %[[N]]
  tile.barrier id 3 threads 64
  // CHECK: nvvm.fence.mbarrier.init
  tile.fence mbarrier_init
  // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}
  tile.fence proxy_async
  // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  tile.fence proxy_async_shared
  // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.global>}
  tile.fence proxy_async_global
  // CHECK: llvm.inline_asm has_side_effects "fence.acq_rel.cta;", "~{memory}"
  tile.fence block
  // CHECK: "fence.acq_rel.cluster;"
  tile.fence cluster
  // CHECK: "fence.acq_rel.gpu;"
  tile.fence gpu
  // CHECK: "fence.acq_rel.sys;"
  tile.fence system
}
