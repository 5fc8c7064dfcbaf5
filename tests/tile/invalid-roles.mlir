// What roles must be.
// RUN: girih-opt %s --split-input-file --verify-diagnostics

tile.kernel @k() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  tile.warp_specialize
// expected-error@below {{custom op 'tile.warp_specialize' expected `role name(%thread) warps(n) { ... }`}}
}

// -----

tile.kernel @k() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error@below {{roles have 5 warps, but the kernel has threads(128), which are 4 warps}}
  tile.warp_specialize
  role a(%t) warps(1) {
  } role b(%t) warps(4) {
  }
}

// -----

tile.kernel @k() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error@below {{role 'a' has 0 warps, but a role has 1 to 32}}
  tile.warp_specialize
  role a(%t) warps(0) {
  } role b(%t) warps(4) {
  }
}

// -----

tile.kernel @k() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error@below {{role 'b' has 9223372036854775807 warps, but a role has 1 to 32}}
  tile.warp_specialize
  role a(%t) warps(4) {
  } role b(%t) warps(9223372036854775807) {
  }
}

// -----

tile.kernel @k() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error@below {{two roles are called 'a'}}
  tile.warp_specialize
  role a(%t) warps(1) {
  } role a(%t) warps(3) {
  }
}

// -----

tile.kernel @k() threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error@below {{role 'a' has registers(20), but setmaxnreg takes multiples of 8 from 24 to 256}}
  // expected-error@below {{role 'b' has registers(42), but setmaxnreg takes multiples of 8 from 24 to 256}}
  tile.warp_specialize
  role a(%t) warps(4) registers(20) {
  } role b(%t) warps(4) registers(42) {
  }
}

// -----

tile.kernel @k() threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error@below {{role 'a' has warps 0 to 2, but registers are given to whole warpgroups: 4 warps from a multiple of 4}}
  // expected-error@below {{role 'b' has warps 3 to 7, but registers are given to whole warpgroups: 4 warps from a multiple of 4}}
  tile.warp_specialize
  role a(%t) warps(3) registers(40) {
  } role b(%t) warps(5) registers(40) {
  }
}

// -----

tile.kernel @k() threads(384) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error@below {{roles ask for 70656 registers, but a multiprocessor has 65536}}
  tile.warp_specialize
  role a(%t) warps(4) registers(40) {
  } role b(%t) warps(8) registers(256) {
  }
}

// -----

tile.kernel @k() threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error@below {{some roles have registers(...) and some have not; give them to all roles or to none}}
  tile.warp_specialize
  role a(%t) warps(4) registers(40) {
  } role b(%t) warps(4) {
  }
}

// -----

tile.kernel @k() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error@+3 {{role 'a' has barrier(16), but the named barriers of a block are 1 to 15}}
  // expected-error@+2 {{role 'b' has barrier(16), but the named barriers of a block are 1 to 15}}
  // expected-error@+1 {{roles 'a' and 'b' both have barrier(16); give each its own}}
  tile.warp_specialize
  role a(%t) warps(2) barrier(16) {
  } role b(%t) warps(2) barrier(16) {
  }
}

// -----

tile.kernel @k() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error@below {{has 1 roles, but 2 barriers; give one for each role, 0 for none}}
  "tile.warp_specialize"() <{names = ["a"], registers = array<i64: 0>, warps = array<i64: 4>, barriers = array<i64: 1, 2>}> ({
  ^bb0(%t: index):
    tile.end_role
  }) : () -> ()
}

// -----

// Where warps have parted, they cannot be parted again.
tile.kernel @k() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %one = tile.elect
  scf.if %one {
    // expected-error@below {{must stand in the body of a tile.kernel itself, where all warps come by, but here it is inside 'scf.if'}}
    tile.warp_specialize
    role a(%t) warps(4) {
    }
  }
}

// -----

tile.kernel @k() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  tile.warp_specialize
  role a(%t) warps(4) {
    // expected-error@below {{must stand in the body of a tile.kernel itself, where all warps come by, but here it is inside 'tile.warp_specialize'}}
    tile.warp_specialize
    role b(%u) warps(4) {
    }
  }
}

// -----

tile.kernel @k() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error@below {{has 1 roles, but 1 names, 2 warps and 1 registers; give one of each for each role, and at least one role}}
  "tile.warp_specialize"() <{names = ["a"], registers = array<i64: 0>, warps = array<i64: 2, 2>}> ({
  ^bb0(%t: index):
    tile.end_role
  }) : () -> ()
}

// -----

tile.kernel @k() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error@below {{has 0 roles, but 0 names, 0 warps and 0 registers}}
  "tile.warp_specialize"() <{names = [], registers = array<i64>, warps = array<i64>}> : () -> ()
}

// -----

tile.kernel @k() threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error@below {{role 'a b' must take one index, the thread's number in the role}}
  // expected-error@below {{role #0 is called 'a b', but a name has letters, digits and _ and no digit first}}
  "tile.warp_specialize"() <{names = ["a b"], registers = array<i64: 0>, warps = array<i64: 4>}> ({
  ^bb0(%t: i32):
    tile.end_role
  }) : () -> ()
}

// -----

func.func private @f() {
  // expected-error@below {{ends a role of tile.warp_specialize, and stands nowhere else}}
  tile.end_role
}

// -----

tile.kernel @k(%number: i32) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %some = arith.trunci %number : i32 to i1
  cf.cond_br %some, ^a, ^b
^a:
  // expected-error@below {{must stand in the first block of the kernel's body, where all warps come by, but here it is behind a branch}}
  tile.warp_specialize
  role a(%t) warps(4) {
  }
  cf.br ^b
^b:
  tile.return
}
