// What barriers and fences must be.
// RUN: girih-opt %s --split-input-file --verify-diagnostics

func.func private @f() {
  // expected-error@below {{id = 16, but a block has barriers 0 to 15}}
  tile.barrier id 16 threads 128
  return
}

// -----

func.func private @f() {
  // expected-error@below {{id = -1, but a block has barriers 0 to 15}}
  tile.barrier id -1
  return
}

// -----

func.func private @f() {
  // expected-error@below {{threads = 100, but a barrier counts whole warps: a multiple of 32 up to 1024}}
  tile.barrier id 1 threads 100
  return
}

// -----

func.func private @f() {
  // expected-error@below {{threads = 2048, but a barrier counts whole warps: a multiple of 32 up to 1024}}
  tile.barrier id 1 threads 2048
  return
}

// -----

func.func private @f() {
  // expected-error@below {{counts threads, but names no barrier; barrier 0 is for the whole block, use id 1 to 15}}
  tile.barrier threads 64
  return
}

// -----

func.func private @f() {
  // expected-error@below {{attribute 'id' must be a 64-bit integer, but is 1 : i32}}
  "tile.barrier"() <{id = 1 : i32}> : () -> ()
  return
}

// -----

// In a role, only its own threads come by.
tile.kernel @k() threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  tile.warp_specialize
  role a(%t) warps(4) {
    // expected-error@below {{waits for the whole block, but only role 'a' comes here: it would wait for ever; write id 1 threads 128, with an id for each role}}
    tile.barrier
  } role b(%t) warps(4) {
    tile.barrier id 1 threads 128
  }
}

// -----

tile.kernel @k() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  tile.warp_specialize
  role a(%t) warps(1) {
    %one = tile.elect
    scf.if %one {
      // expected-error@below {{waits for the whole block, but only role 'a' comes here: it would wait for ever; write id 1 threads 32, with an id for each role}}
      tile.barrier id 3
    }
  } role b(%t) warps(3) {
  }
}

// -----

tile.kernel @k() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error@below {{waits for threads 256, but the kernel has threads(128): it would wait for ever}}
  tile.barrier id 1 threads 256
}

// -----

func.func private @fences() {
  // expected-error@below {{expected a fence: one of mbarrier_init, proxy_async, proxy_async_shared, proxy_async_global, block, cluster, gpu, system; found `warp`}}
  tile.fence warp
  return
}

// -----

func.func private @fences() {
  // expected-error@below {{requires attribute 'kind', a fence}}
  "tile.fence"() : () -> ()
  return
}
