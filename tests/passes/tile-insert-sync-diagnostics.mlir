// RUN: girih-opt %s -tile-insert-sync -verify-diagnostics

// Only some threads come by: a barrier there would never end.
tile.kernel @divergent() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %x = arith.constant 1.0 : f32
  %m = tile.alloc : memref<128xf32, #tile.shared>
  %t = tile.thread_id
  %few = arith.cmpi ult, %t, %c9 : index
  scf.if %few {
    // expected-note@+1 {{the other access is here}}
    memref.store %x, %m[%t] : memref<128xf32, #tile.shared>
    // expected-remark@+1 {{may meet the access at line 16 of another thread, but only some threads of the block come here, so that no barrier is inserted; order the two by hand, and say `ordered` at the buffer's tile.alloc}}
    %y = memref.load %m[%c0] : memref<128xf32, #tile.shared>
  }
}

// The program says that it has done so.
tile.kernel @ordered() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %x = arith.constant 1.0 : f32
  %m = tile.alloc ordered : memref<128xf32, #tile.shared>
  %t = tile.thread_id
  %few = arith.cmpi ult, %t, %c9 : index
  scf.if %few {
    memref.store %x, %m[%t] : memref<128xf32, #tile.shared>
    tile.barrier id 1 threads 32
    %y = memref.load %m[%c0] : memref<128xf32, #tile.shared>
  }
}
