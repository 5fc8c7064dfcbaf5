// Whole tiles around roles, in passes that overlap, and in memory that a loop carries: as if one thread did it all, and nothing
// found.
// RUN: girih run %s --kernel before_roles --device sim --check-memory --arg Y=zeros:i32[1024] --check Y=iota:i32[1024] | FileCheck %s
// RUN: girih run %s --kernel after_roles --device sim --check-memory --arg Y=zeros:i32[128] | FileCheck %s
// RUN: girih run %s --kernel passes --device sim --check-memory --arg Y=zeros:i32[256] | FileCheck %s
// RUN: girih run %s --kernel swapped --device sim --check-memory --arg A=iota:i32[1024] --arg B=zeros:i32[1024] | FileCheck %s
// RUN: girih run %s --kernel carried --device sim --check-memory --arg Y=zeros:i32[256] | FileCheck %s
// RUN: girih run %s --kernel counted --device sim --check-memory --arg H=iota:i32[128] --arg Y=zeros:i32[64] --arg Z=zeros:i32[64] | FileCheck %s
// CHECK: right: {{[YABHZ]}}: all {{.*}} elements are
// CHECK: no findings

tile.kernel @before_roles(%Y: memref<1024xi32, #tile.global>) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<2048xi32, #tile.shared>
  %z = arith.constant dense<0> : tensor<2048xi32>
  tile.store %z, %m[%c0] : tensor<2048xi32>, memref<2048xi32, #tile.shared>
  tile.barrier
  %x = tile.iota axis 0 : tensor<1024xi32>
  tile.store %x, %m[%c0] : tensor<1024xi32>, memref<2048xi32, #tile.shared>
  tile.warp_specialize
  role left(%t) warps(4) barrier(1) {
    %y = tile.load %m[%c0] : memref<2048xi32, #tile.shared> -> tensor<1024xi32>
    tile.store %y, %Y[%c0] : tensor<1024xi32>, memref<1024xi32, #tile.global>
  } role right(%t) warps(4) barrier(2) {
  }
}

tile.kernel @after_roles(%Y: memref<128xi32, #tile.global>) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tile.alloc : memref<256xi32, #tile.shared>
  tile.warp_specialize
  role left(%t) warps(4) barrier(1) {
    %x = tile.iota axis 0 : tensor<256xi32>
    tile.store %x, %m[%c0] : tensor<256xi32>, memref<256xi32, #tile.shared>
  } role right(%t) warps(4) barrier(2) {
  }
  %y = tile.load %m[%c1] : memref<256xi32, #tile.shared> -> tensor<128xi32>
  tile.store %y, %Y[%c0] : tensor<128xi32>, memref<128xi32, #tile.global>
}
func.func @after_roles_ref(%Y: memref<128xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  scf.for %j = %c0 to %c128 step %c1 {
    %p = arith.addi %j, %c1 : index
    %v = arith.index_cast %p : index to i32
    memref.store %v, %Y[%j] : memref<128xi32>
  }
  return
}

tile.kernel @passes(%Y: memref<256xi32, #tile.global>) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c160 = arith.constant 160 : index
  %c1024 = arith.constant 1024 : index
  %m = tile.alloc : memref<2048xi32, #tile.shared>
  %x = tile.iota axis 0 : tensor<256xi32>
  %k = arith.constant dense<1000> : tensor<256xi32>
  %e = scf.for %i = %c0 to %c1024 step %c64 iter_args(%v = %x) -> (tensor<256xi32>) {
    tile.store %v, %m[%i] : tensor<256xi32>, memref<2048xi32, #tile.shared>
    %w = arith.addi %v, %k : tensor<256xi32>
    scf.yield %w : tensor<256xi32>
  }
  %y = tile.load %m[%c0] : memref<2048xi32, #tile.shared> -> tensor<256xi32>
  tile.store %y, %Y[%c0] : tensor<256xi32>, memref<256xi32, #tile.global>
}
func.func @passes_ref(%Y: memref<256xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %k = arith.constant 1000 : i32
  scf.for %j = %c0 to %c256 step %c1 {
    %p = arith.divui %j, %c64 : index
    %r = arith.remui %j, %c64 : index
    %pi = arith.index_cast %p : index to i32
    %ri = arith.index_cast %r : index to i32
    %a = arith.muli %pi, %k : i32
    %b = arith.addi %a, %ri : i32
    memref.store %b, %Y[%j] : memref<256xi32>
  }
  return
}

tile.kernel @swapped(%A: memref<1024xi32, #tile.global>, %B: memref<1024xi32, #tile.global>) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c300 = arith.constant 300 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %A, %b = %B) -> (memref<1024xi32, #tile.global>, memref<1024xi32, #tile.global>) {
    %x = tile.load %a[%c300] : memref<1024xi32, #tile.global> -> tensor<1024xi32>
    tile.store %x, %b[%c0] : tensor<1024xi32>, memref<1024xi32, #tile.global>
    scf.yield %b, %a : memref<1024xi32, #tile.global>, memref<1024xi32, #tile.global>
  }
}
func.func @swapped_ref(%A: memref<?xi32>, %B: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c300 = arith.constant 300 : index
  %c1024 = arith.constant 1024 : index
  %z = arith.constant 0 : i32
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %A, %b = %B) -> (memref<?xi32>, memref<?xi32>) {
    scf.for %j = %c0 to %c1024 step %c1 {
      %p = arith.addi %j, %c300 : index
      %in = arith.cmpi ult, %p, %c1024 : index
      %v = scf.if %in -> i32 { %l = memref.load %a[%p] : memref<?xi32>
        scf.yield %l : i32 } else { scf.yield %z : i32 }
      memref.store %v, %b[%j] : memref<?xi32>
    }
    scf.yield %b, %a : memref<?xi32>, memref<?xi32>
  }
  return
}

tile.kernel @carried(%Y: memref<256xi32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %A = tile.alloc : memref<256xi32, #tile.shared>
  %B = tile.alloc : memref<256xi32, #tile.shared>
  %x0 = tile.iota axis 0 : tensor<256xi32>
  tile.store %x0, %A[%c0] : tensor<256xi32>, memref<256xi32, #tile.shared>
  tile.store %x0, %B[%c0] : tensor<256xi32>, memref<256xi32, #tile.shared>
  %r:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%a = %A, %b = %B) -> (memref<256xi32, #tile.shared>, memref<256xi32, #tile.shared>) {
    %x = tile.load %a[%c1] : memref<256xi32, #tile.shared> -> tensor<128xi32>
    tile.store %x, %b[%c0] : tensor<128xi32>, memref<256xi32, #tile.shared>
    scf.yield %b, %a : memref<256xi32, #tile.shared>, memref<256xi32, #tile.shared>
  }
  %y = tile.load %r#0[%c0] : memref<256xi32, #tile.shared> -> tensor<256xi32>
  tile.store %y, %Y[%c0] : tensor<256xi32>, memref<256xi32, #tile.global>
}
func.func @carried_ref(%Y: memref<256xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %A = memref.alloc() : memref<256xi32>
  %B = memref.alloc() : memref<256xi32>
  scf.for %j = %c0 to %c256 step %c1 {
    %v = arith.index_cast %j : index to i32
    memref.store %v, %A[%j] : memref<256xi32>
    memref.store %v, %B[%j] : memref<256xi32>
  }
  %r:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%a = %A, %b = %B) -> (memref<256xi32>, memref<256xi32>) {
    scf.for %j = %c0 to %c128 step %c1 {
      %p = arith.addi %j, %c1 : index
      %v = memref.load %a[%p] : memref<256xi32>
      memref.store %v, %b[%j] : memref<256xi32>
    }
    scf.yield %b, %a : memref<256xi32>, memref<256xi32>
  }
  scf.for %j = %c0 to %c256 step %c1 {
    %v = memref.load %r#0[%j] : memref<256xi32>
    memref.store %v, %Y[%j] : memref<256xi32>
  }
  return
}

tile.kernel @counted(%H: memref<128xi32, #tile.global>, %Y: memref<64xi32, #tile.global>, %Z: memref<64xi32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant dense<1> : tensor<64xi32>
  %x = tile.load %H[%c1] : memref<128xi32, #tile.global> -> tensor<64xi32>
  %old = tile.atomic_rmw add %one, %H[%c0] : tensor<64xi32>, memref<128xi32, #tile.global> -> tensor<64xi32>
  tile.store %x, %Y[%c0] : tensor<64xi32>, memref<64xi32, #tile.global>
  tile.store %old, %Z[%c0] : tensor<64xi32>, memref<64xi32, #tile.global>
}
func.func @counted_ref(%H: memref<128xi32>, %Y: memref<64xi32>, %Z: memref<64xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i32
  scf.for %j = %c0 to %c64 step %c1 {
    %p = arith.addi %j, %c1 : index
    %x = memref.load %H[%p] : memref<128xi32>
    memref.store %x, %Y[%j] : memref<64xi32>
  }
  scf.for %j = %c0 to %c64 step %c1 {
    %old = memref.load %H[%j] : memref<128xi32>
    memref.store %old, %Z[%j] : memref<64xi32>
    %new = arith.addi %old, %one : i32
    memref.store %new, %H[%j] : memref<128xi32>
  }
  return
}
