// What a kernel, its launch and its end must be.
// RUN: girih-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{attribute 'tile.target' must be a string such as "sm_90a", but is 90 : i64}}
module attributes {tile.target = 90} {
}

// -----

// expected-error@below {{attribute 'tile.target': unknown target `sm_91`; expected one of sm_80,}}
module attributes {tile.target = "sm_91"} {
}

// -----

// expected-error@below {{unknown attribute 'tile.threads'; the dialect has 'tile.target'}}
module attributes {tile.threads = 32} {
}

// -----

// expected-error@below {{threads = 100, but a block has whole warps: a multiple of 32 from 32 to 1024}}
tile.kernel @k() threads(100) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

// expected-error@below {{threads = 2048, but a block has whole warps: a multiple of 32 from 32 to 1024}}
tile.kernel @k() threads(2048) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

// expected-error@below {{cluster = [4, 4, 1], but a cluster has three sizes of at least 1 and at most 8 blocks}}
tile.kernel @k() threads(32) cluster(4, 4, 1) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

// expected-error@below {{cluster = [4294967296, 4294967296, 1], but a cluster has three sizes}}
tile.kernel @k() threads(32) cluster(4294967296, 4294967296, 1) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

// expected-error@below {{shared_bytes = 232449, but a block has 0 to 232448 bytes of shared memory}}
tile.kernel @k() threads(32) attributes {shared_bytes = 232449 : i64} launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

// expected-error@below {{is called 'a b', but PTX takes letters, digits, _ and $, and no digit first}}
tile.kernel @"a b"() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

// expected-error@below {{argument #0 is called '0', but a name has letters, digits, _ $ . - and no digit first}}
tile.kernel @k(%0: i32) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

// expected-error@below {{argument 'A' is memref<4xf32>, but a kernel takes memrefs in #tile.global, tensor maps, and numbers: i8 to i64, f16, bf16, f32, f64}}
tile.kernel @k(%A: memref<4xf32>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

// expected-error@below {{argument 's' is f8E4M3FN, but a kernel takes memrefs in #tile.global, tensor maps, and numbers: i8 to i64, f16, bf16, f32, f64, in memrefs also i1, f8E4M3FN and f8E5M2; take an f32 and convert it with arith.truncf, or an i8 and arith.bitcast}}
tile.kernel @k(%s: f8E4M3FN) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

// expected-error@below {{argument 'n' is index, but a kernel takes memrefs in #tile.global, tensor maps, and numbers: i8 to i64, f16, bf16, f32, f64, in memrefs also i1, f8E4M3FN and f8E5M2; take an i64 and convert it with arith.index_cast}}
tile.kernel @k(%n: index) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

// expected-error@below {{argument 'A' is memref<4x!tile.mbarrier, #tile.global>, but a kernel takes}}
tile.kernel @k(%A: memref<4x!tile.mbarrier, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

// expected-error@below {{argument 'A' is memref<4xf32, strided<[1], offset: 8>, #tile.global>, but a kernel's memrefs are strided with offset 0}}
tile.kernel @k(%A: memref<4xf32, strided<[1], offset: 8>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

// expected-error@below {{which has a stride of -4, but arrays go forwards: strides are at least 0; take a plain one, and memref.subview or memref.reinterpret_cast of it in the body}}
tile.kernel @k(%A: memref<4x4xf32, strided<[-4, 1]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

// expected-error@below {{but a kernel's memrefs are strided with offset 0}}
tile.kernel @k(%A: memref<4x4xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

// expected-error@below {{has 1 arguments, but names 0}}
"tile.kernel"() <{arg_names = [], sym_name = "k", threads = 32 : i64}> ({
^bb0(%a: i32):
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}, {
^bb0(%a: i32):
  tile.return
}) : () -> ()

// -----

// expected-error@below {{two arguments are called 'a'}}
"tile.kernel"() <{arg_names = ["a", "a"], sym_name = "k", threads = 32 : i64}> ({
^bb0(%a: i32, %b: i32):
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}, {
^bb0(%a: i32, %b: i32):
  tile.return
}) : () -> ()

// -----

// expected-error@below {{argument #0 is i32 in launch, but i64 in body}}
"tile.kernel"() <{arg_names = ["a"], sym_name = "k", threads = 32 : i64}> ({
^bb0(%a: i32):
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}, {
^bb0(%a: i64):
  tile.return
}) : () -> ()

// -----

// expected-error@below {{launch has 1 arguments, but body only 0}}
"tile.kernel"() <{arg_names = ["a"], sym_name = "k", threads = 32 : i64}> ({
^bb0(%a: i32):
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}, {
  tile.return
}) : () -> ()

// -----

// expected-error@below {{requires attribute 'sym_name', a symbol name}}
// expected-error@below {{requires attribute 'arg_names', a list of strings}}
// expected-error@below {{attribute 'threads' must be a 64-bit integer, but is 32 : i32}}
// expected-error@below {{expects 2 regions, but has 0}}
"tile.kernel"() <{threads = 32 : i32}> : () -> ()

// -----

// expected-error@below {{region #0 'launch' must have exactly one block, but has 0}}
// expected-error@below {{region #1 'body' must have at least one block, but has 0}}
"tile.kernel"() <{arg_names = [], sym_name = "k", threads = 32 : i64}> ({}, {}) : () -> ()

// -----

// expected-error@below {{launch must end with tile.grid}}
tile.kernel @k() threads(32) launch {
  %c1 = arith.constant 1 : index
  // expected-error@below {{cannot run on the host; launch takes index arithmetic, memref.dim, views of memrefs (transpose, subview, collapse_shape, cast), tile.cluster_size and tile.tensor_map}}
  llvm.unreachable
} body {
}

// -----

tile.kernel @k(%A: memref<4xf32, #tile.global>) threads(32) launch {
  %c0 = arith.constant 0 : index
  // expected-error@below {{cannot run on the host; launch takes index arithmetic, memref.dim, views of memrefs (transpose, subview, collapse_shape, cast), tile.cluster_size and tile.tensor_map}}
  %v = memref.load %A[%c0] : memref<4xf32, #tile.global>
  tile.grid %c0, %c0, %c0
} body {
}

// -----

tile.kernel @k() threads(32) launch {
  // expected-error@below {{runs on the device, but stands in a launch region, which the host evaluates}}
  %i = tile.block_id x
  tile.grid %i, %i, %i
} body {
}

// -----

tile.kernel @k() threads(32) launch {
  %c1 = arith.constant 1 : index
  // expected-error@below {{ends the body of a tile.kernel, and stands nowhere else}}
  tile.return
} body {
}

// -----

tile.kernel @k() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c1 = arith.constant 1 : index
  // expected-error@below {{ends the launch region of a tile.kernel, and stands nowhere else}}
  tile.grid %c1, %c1, %c1
}

// -----

tile.kernel @k() threads(32) launch {
  %c1 = arith.constant 1 : index
  // expected-error@below {{'tile.grid' op must be the last operation in the parent block}}
  tile.grid %c1, %c1, %c1
  tile.grid %c1, %c1, %c1
} body {
}

// -----

tile.kernel @k(%n: i32) threads(32) launch {
  %c1 = arith.constant 1 : index
  // expected-error@below {{args[0] is i32, but only tensor maps are handed to the body}}
  tile.grid %c1, %c1, %c1 args(%n : i32)
} body args(%m: i32) {
}

// -----

tile.kernel @k() threads(32) launch {
  %c1 = arith.constant 1 : index
  // expected-error@below {{hands () to the body, but body has args(!tile.tensor_map<8x8xbf16>)}}
  tile.grid %c1, %c1, %c1
} body args(%map: !tile.tensor_map<8x8xbf16>) {
}

// -----

tile.kernel @k() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error@below {{cannot end a kernel's body; use tile.return}}
  llvm.unreachable
}

// -----

tile.kernel @outer() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error@below {{symbol's parent must have the SymbolTable trait}}
  tile.kernel @inner() threads(32) launch {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  } body {
  }
}

// -----

gpu.module @m {
  // expected-error@below {{stands in a module, but here it is inside 'gpu.module'}}
  tile.kernel @inner() threads(32) launch {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  } body {
  }
}

// -----

// expected-note@below {{see existing symbol definition here}}
tile.kernel @k() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}
// expected-error@below {{redefinition of symbol named 'k'}}
tile.kernel @k() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

tile.kernel @k(%A: memref<?xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // expected-error@below {{use of undeclared SSA value name}}
  %d = arith.addi %c1, %c1 : index
}

// -----

// expected-error@below {{launch must end with tile.grid}}
tile.entry @e in @m() threads(32) launch {
  // expected-error@below {{cannot run on the host}}
  llvm.unreachable
}

// -----

// expected-error@below {{threads = 33, but a block has whole warps}}
// expected-error@below {{argument 'x' is i4, but a kernel takes}}
tile.entry @e in @m(%x: i4) threads(33) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----

tile.kernel @k(%A: memref<?x?xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // expected-error@below {{asks for dimension 2, but memref<?x?xf32, #tile.global> has 2, from 0}}
  %n = memref.dim %A, %c2 : memref<?x?xf32, #tile.global>
  tile.grid %n, %c1, %c1
} body {
}

// -----

tile.kernel @k(%A: memref<?x?xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %i = tile.block_id x
  // expected-error@below {{asks for a dimension that is known only at run time; use a constant}}
  %n = memref.dim %A, %i : memref<?x?xf32, #tile.global>
}

// -----

tile.entry @e in @m(%A: memref<?xf32, #tile.global>) threads(32) launch {
  %cm1 = arith.constant -1 : index
  // expected-error@below {{asks for dimension -1, but memref<?xf32, #tile.global> has 1, from 0}}
  %n = memref.dim %A, %cm1 : memref<?xf32, #tile.global>
  tile.grid %n, %n, %n
}

// -----

// expected-error@below {{argument 'A' is memref<4294967296x4294967296xf32, #tile.global>, which reaches over 73786976294838206464 bytes or more, but addresses have room for 9223372036854775807}}
tile.kernel @k(%A: memref<4294967296x4294967296xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}

// -----

!map = !tile.tensor_map<4x16xf32>

tile.kernel @k(%from: !map) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c2 = arith.constant 2 : index
  %c0 = arith.constant 0 : index
  %m = tile.alloc : memref<4x16xf32, #tile.shared>
  // expected-error@below {{the innermost coordinate is 2 elements, 8 bytes, but must lie on 16 bytes (an illegal instruction on the GPU)}}
  tile.tma.store %m, %from[%c0, %c2] : memref<4x16xf32, #tile.shared>, !map
}
