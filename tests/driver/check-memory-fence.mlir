// A barrier orders what threads write and what a copy then reads, but says nothing about proxies: the report names both lines.
// It has a number, so that tile-insert-sync takes the order for the program's own affair and adds no fence.
//
// RUN: sh -c 'girih run %s --check-memory --device sim --arg B=zeros:f32[16,32] --check B=ones:f32[16,32] 2>&1; echo exit $?' | FileCheck %s
// CHECK: check-memory-fence.mlir:[[#COPY:]]:5: error: missing proxy fence:
// CHECK-NEXT: [[#COPY]] | tile.tma.store %buffer
// CHECK: check-memory-fence.mlir:[[#COPY]]:5: note: first: a tensor copy reads
// CHECK-NEXT: PTX {{[0-9]+}} | cp.async.bulk.tensor.2d.global.shared::cta
// CHECK: check-memory-fence.mlir:[[#STORE:]]:5: note: conflicts with: writes 4 bytes
// CHECK-NEXT: [[#STORE]] | memref.store %one, %buffer
// CHECK: note: remedy: put fence.proxy.async
// CHECK: right: B: all 512 elements are exact
// CHECK: checked memory, barriers and waits: 1 error
// CHECK: exit 1

// With the fence nothing is found:
// RUN: sed "s/^  tile.barrier/  tile.fence proxy_async_shared tile.barrier/" %s > %t.mlir
// RUN: girih run %t.mlir --check-memory --device sim --arg B=zeros:f32[16,32] | FileCheck %s --check-prefix=FENCED
// FENCED: checked memory, barriers and waits: no findings

tile.kernel @fill(%B: memref<?x32xf32, #tile.global>) threads(32) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %rows = memref.dim %B, %c0 : memref<?x32xf32, #tile.global>
  %blocks = arith.ceildivui %rows, %c8 : index
  %to = tile.tensor_map %B : memref<?x32xf32, #tile.global> -> !tile.tensor_map<8x32xf32>
  tile.grid %blocks, %c1, %c1 args(%to : !tile.tensor_map<8x32xf32>)
} body args(%to: !tile.tensor_map<8x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  %block = tile.block_id x
  %thread = tile.thread_id
  %row = arith.muli %block, %c8 : index
  %buffer = tile.alloc : memref<8x32xf32, #tile.shared>
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %one, %buffer[%i, %thread] : memref<8x32xf32, #tile.shared>
  }
  tile.barrier id 1 threads 32
  %elected = tile.elect
  scf.if %elected {
    tile.tma.store %buffer, %to[%row, %c0] : memref<8x32xf32, #tile.shared>, !tile.tensor_map<8x32xf32>
    tile.bulk.commit
    tile.bulk.wait 0
  }
}
