// Programs that leave their barriers and fences to the compiler: right, with nothing found, and none of what was inserted is
// needless: each taken out of the PTX by itself is found missing.
// RUN: girih run %s --kernel reverse --device sim --check-memory --arg X=randn:f32[5,128] --arg Y=poison:f32[5,128] | FileCheck %s
// RUN: girih run %s --kernel largest --device sim --check-memory --arg X=randn:f32[5,1024] --arg Z=poison:f32[5] | FileCheck %s
// RUN: girih run %s --kernel fill --device sim --check-memory --arg B=zeros:f32[16,32] --check B=ones:f32[16,32] | FileCheck %s
// CHECK: right: {{[YZB]}}: all {{.*}} elements are
// CHECK: no findings
//
// RUN: girih compile %s -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.ptx
// PTX: .entry reverse
// PTX-COUNT-2: bar.sync
// PTX-NOT: bar.sync
// The body stands there twice, with vectors and without:
// PTX: .entry largest
// PTX-COUNT-4: bar.sync
// PTX-NOT: bar.sync
// PTX: .entry fill
// PTX: fence.proxy.async
// PTX-COUNT-2: bar.sync
// PTX-NOT: {{bar.sync|fence.proxy}}
//
// RUN: awk '/bar.sync|fence.proxy.async/ && ++n == 1 {next} {print}' %t.ptx > %t.1.ptx
// RUN: not girih run %t.1.ptx --kernel reverse --device sim --check-memory --arg X=randn:f32[5,128] --arg Y=zeros:f32[5,128] 2>&1 | FileCheck %s --check-prefix=RACE
// RUN: awk '/bar.sync|fence.proxy.async/ && ++n == 2 {next} {print}' %t.ptx > %t.2.ptx
// RUN: not girih run %t.2.ptx --kernel reverse --device sim --check-memory --arg X=randn:f32[5,128] --arg Y=zeros:f32[5,128] 2>&1 | FileCheck %s --check-prefix=RACE
// RUN: awk '/bar.sync|fence.proxy.async/ && ++n == 5 {next} {print}' %t.ptx > %t.5.ptx
// RUN: not girih run %t.5.ptx --kernel largest --device sim --check-memory --arg X=randn:f32[5,1024] --arg Z=zeros:f32[5] 2>&1 | FileCheck %s --check-prefix=RACE
// RUN: awk '/bar.sync|fence.proxy.async/ && ++n == 6 {next} {print}' %t.ptx > %t.6.ptx
// RUN: not girih run %t.6.ptx --kernel largest --device sim --check-memory --arg X=randn:f32[5,1024] --arg Z=zeros:f32[5] 2>&1 | FileCheck %s --check-prefix=RACE
// RUN: awk '/bar.sync|fence.proxy.async/ && ++n == 7 {next} {print}' %t.ptx > %t.7.ptx
// RUN: not girih run %t.7.ptx --kernel fill --device sim --check-memory --arg B=zeros:f32[16,32] 2>&1 | FileCheck %s --check-prefix=FENCE
// RUN: awk '/bar.sync|fence.proxy.async/ && ++n == 8 {next} {print}' %t.ptx > %t.8.ptx
// RUN: not girih run %t.8.ptx --kernel fill --device sim --check-memory --arg B=zeros:f32[16,32] 2>&1 | FileCheck %s --check-prefix=RACE
// RUN: awk '/bar.sync|fence.proxy.async/ && ++n == 9 {next} {print}' %t.ptx > %t.9.ptx
// RUN: not girih run %t.9.ptx --kernel fill --device sim --check-memory --arg B=zeros:f32[16,32] 2>&1 | FileCheck %s --check-prefix=WAIT
// RACE: error: {{race|uninitialised read}}:
// WAIT: error: {{race|missing wait}}:
// FENCE: error: missing proxy fence:

!row = tensor<1x1024xf32>

module attributes {tile.target = "sm_90a"} {

// Written, read by another thread, and written again in the next pass.
tile.kernel @reverse(%X: memref<?x128xf32, #tile.global>, %Y: memref<?x128xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c127 = arith.constant 127 : index
  %m = tile.alloc : memref<128xf32, #tile.shared>
  %t = tile.thread_id
  %other = arith.subi %c127, %t : index
  %rows = memref.dim %X, %c0 : memref<?x128xf32, #tile.global>
  scf.for %i = %c0 to %rows step %c1 {
    %x = memref.load %X[%i, %t] : memref<?x128xf32, #tile.global>
    memref.store %x, %m[%t] : memref<128xf32, #tile.shared>
    %y = memref.load %m[%other] : memref<128xf32, #tile.shared>
    memref.store %y, %Y[%i, %t] : memref<?x128xf32, #tile.global>
  }
}

func.func @reverse_ref(%X: memref<?x128xf32>, %Y: memref<?x128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c127 = arith.constant 127 : index
  %c128 = arith.constant 128 : index
  %rows = memref.dim %X, %c0 : memref<?x128xf32>
  scf.for %i = %c0 to %rows step %c1 {
    scf.for %t = %c0 to %c128 step %c1 {
      %other = arith.subi %c127, %t : index
      %x = memref.load %X[%i, %other] : memref<?x128xf32>
      memref.store %x, %Y[%i, %t] : memref<?x128xf32>
    }
  }
  return
}

// Scratch that is read until the next pass writes it.
tile.kernel @largest(%X: memref<?x1024xf32, #tile.global>, %Z: memref<?xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %X, %c0 : memref<?x1024xf32, #tile.global>
  scf.for %i = %c0 to %rows step %c1 {
    %x = tile.load %X[%i, %c0] : memref<?x1024xf32, #tile.global> -> !row
    %m = tile.reduce %x axis 1 (%a: f32, %b: f32) {
      %l = arith.maximumf %a, %b : f32
      tile.yield %l : f32
    } : !row -> tensor<1xf32>
    tile.store %m, %Z[%i] : tensor<1xf32>, memref<?xf32, #tile.global>
  }
}

func.func @largest_ref(%X: memref<?x1024xf32>, %Z: memref<?xf32>) {
  %lowest = arith.constant 0xFF800000 : f32
  linalg.fill ins(%lowest : f32) outs(%Z : memref<?xf32>)
  linalg.reduce ins(%X : memref<?x1024xf32>) outs(%Z : memref<?xf32>) dimensions = [1] (%x: f32, %z: f32) {
    %l = arith.maximumf %x, %z : f32
    linalg.yield %l : f32
  }
  return
}

// Written, sent off through the async proxy, and written again once that has been read.
tile.kernel @fill(%B: memref<?x32xf32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  %to = tile.tensor_map %B : memref<?x32xf32, #tile.global> -> !tile.tensor_map<8x32xf32>
  tile.grid %c1, %c1, %c1 args(%to : !tile.tensor_map<8x32xf32>)
} body args(%to: !tile.tensor_map<8x32xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %one = arith.constant 1.0 : f32
  %rows = memref.dim %B, %c0 : memref<?x32xf32, #tile.global>
  %t = tile.thread_id
  %buffer = tile.alloc : memref<8x32xf32, #tile.shared>
  %is_first = arith.cmpi eq, %t, %c0 : index
  scf.for %row = %c0 to %rows step %c8 {
    scf.for %n = %t to %c256 step %c64 {
      %i = arith.divui %n, %c32 : index
      %j = arith.remui %n, %c32 : index
      memref.store %one, %buffer[%i, %j] : memref<8x32xf32, #tile.shared>
    }
    scf.if %is_first {
      tile.tma.store %buffer, %to[%row, %c0] : memref<8x32xf32, #tile.shared>, !tile.tensor_map<8x32xf32>
      tile.bulk.commit
      tile.bulk.wait 0 read
    }
  }
  tile.bulk.wait 0
}

}
