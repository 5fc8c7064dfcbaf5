// Which operands of mma.sync threads do not copy ahead, and why.
// RUN: girih-opt %s -tile-plan-copies -split-input-file -verify-diagnostics

module attributes {tile.target = "sm_80"} {
tile.kernel @pad(%A: memref<?x?xf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf16, strided<[1, ?]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %sum = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %zero) -> (tensor<16x8xf32>) {
    // expected-remark @+1 {{goes through registers, not ahead of the loop by cp.async: it says pad, but staged operands are padded with zero}}
    %a = tile.load %A[%c0, %k] {pad = 1.0 : f16} : memref<?x?xf16, strided<[?, 1]>, #tile.global> -> tensor<16x16xf16>
    %b = tile.load %B[%k, %c0] : memref<?x?xf16, strided<[1, ?]>, #tile.global> -> tensor<16x8xf16>
    // expected-remark @+1 {{is multiplied by mma.sync}}
    %n = tile.mma %a, %b, %acc : tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>
    scf.yield %n : tensor<16x8xf32>
  }
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @pass_thru(%A: memref<?x?xf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf16, strided<[1, ?]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %ones = arith.constant dense<1.0> : tensor<16x16xf16>
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %sum = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %zero) -> (tensor<16x8xf32>) {
    // expected-remark @+1 {{goes through registers, not ahead of the loop by cp.async: it says pass_thru, but staged operands are padded with zero}}
    %a = tile.load %A[%c0, %k] pass_thru %ones : tensor<16x16xf16> : memref<?x?xf16, strided<[?, 1]>, #tile.global> -> tensor<16x16xf16>
    %b = tile.load %B[%k, %c0] : memref<?x?xf16, strided<[1, ?]>, #tile.global> -> tensor<16x8xf16>
    // expected-remark @+1 {{is multiplied by mma.sync}}
    %n = tile.mma %a, %b, %acc : tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>
    scf.yield %n : tensor<16x8xf32>
  }
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @no_stride(%A: memref<?x?xf16, strided<[?, ?]>, #tile.global>, %B: memref<?x?xf16, strided<[1, ?]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %sum = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %zero) -> (tensor<16x8xf32>) {
    // expected-remark @+1 {{goes through registers, not ahead of the loop by cp.async: no dimension of the memref is known to have stride 1}}
    %a = tile.load %A[%c0, %k] : memref<?x?xf16, strided<[?, ?]>, #tile.global> -> tensor<16x16xf16>
    %b = tile.load %B[%k, %c0] : memref<?x?xf16, strided<[1, ?]>, #tile.global> -> tensor<16x8xf16>
    // expected-remark @+1 {{is multiplied by mma.sync}}
    %n = tile.mma %a, %b, %acc : tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>
    scf.yield %n : tensor<16x8xf32>
  }
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @odd_rows(%A: memref<16x66xf16, strided<[66, 1]>, #tile.global>, %B: memref<?x?xf16, strided<[1, ?]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %sum = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %zero) -> (tensor<16x8xf32>) {
    // expected-remark @+1 {{goes through registers, not ahead of the loop by cp.async: 16 bytes are copied from rows that start at multiples of them, but the stride of axis 0 is 132 bytes}}
    %a = tile.load %A[%c0, %k] : memref<16x66xf16, strided<[66, 1]>, #tile.global> -> tensor<16x16xf16>
    %b = tile.load %B[%k, %c0] : memref<?x?xf16, strided<[1, ?]>, #tile.global> -> tensor<16x8xf16>
    // expected-remark @+1 {{is multiplied by mma.sync}}
    %n = tile.mma %a, %b, %acc : tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>
    scf.yield %n : tensor<16x8xf32>
  }
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @bytes_along_n(%A: memref<?x?xi8, strided<[?, 1]>, #tile.global>, %B: memref<?x?xi8, strided<[?, 1]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0> : tensor<16x32xi32>
  %sum = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %zero) -> (tensor<16x32xi32>) {
    %a = tile.load %A[%c0, %k] : memref<?x?xi8, strided<[?, 1]>, #tile.global> -> tensor<16x32xi8>
    // expected-remark @+1 {{goes through registers, not ahead of the loop by cp.async: its bytes lie together along N, and threads need them along K}}
    %b = tile.load %B[%k, %c0] : memref<?x?xi8, strided<[?, 1]>, #tile.global> -> tensor<32x32xi8>
    // expected-remark @+1 {{is multiplied by mma.sync}}
    %n = tile.mma %a, %b, %acc : tensor<16x32xi8>, tensor<32x32xi8>, tensor<16x32xi32>
    scf.yield %n : tensor<16x32xi32>
  }
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @narrow(%A: memref<?x?xf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf16, strided<[?, 1]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %sum = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %zero) -> (tensor<16x8xf32>) {
    %a = tile.load %A[%c0, %k] : memref<?x?xf16, strided<[?, 1]>, #tile.global> -> tensor<16x16xf16>
    // expected-remark @+1 {{goes through registers, not ahead of the loop by cp.async: 16 rows of 16 bytes, but swizzled rows are multiples of 32 bytes, and 8 of them belong together}}
    %b = tile.load %B[%k, %c0] : memref<?x?xf16, strided<[?, 1]>, #tile.global> -> tensor<16x8xf16>
    // expected-remark @+1 {{is multiplied by mma.sync}}
    %n = tile.mma %a, %b, %acc : tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>
    scf.yield %n : tensor<16x8xf32>
  }
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @elsewhere(%A: memref<?x?xf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf16, strided<[1, ?]>, #tile.global>, %T: memref<?xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %sum = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %zero) -> (tensor<16x8xf32>) {
    %at = memref.load %T[%k] : memref<?xi32, #tile.global>
    %far = arith.index_cast %at : i32 to index
    // expected-remark @+1 {{goes through registers, not ahead of the loop by cp.async: the place depends on more than the loop's counter}}
    %a = tile.load %A[%c0, %far] : memref<?x?xf16, strided<[?, 1]>, #tile.global> -> tensor<16x16xf16>
    %b = tile.load %B[%k, %c0] : memref<?x?xf16, strided<[1, ?]>, #tile.global> -> tensor<16x8xf16>
    // expected-remark @+1 {{is multiplied by mma.sync}}
    %n = tile.mma %a, %b, %acc : tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>
    scf.yield %n : tensor<16x8xf32>
  }
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @written(%A: memref<?x?xf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf16, strided<[1, ?]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %sum = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %zero) -> (tensor<16x8xf32>) {
    // expected-remark @+1 {{goes through registers, not ahead of the loop by cp.async: what the memory holds that it is loaded from may change in the loop}}
    %a = tile.load %A[%c0, %k] : memref<?x?xf16, strided<[?, 1]>, #tile.global> -> tensor<16x16xf16>
    %b = tile.load %B[%k, %c0] : memref<?x?xf16, strided<[1, ?]>, #tile.global> -> tensor<16x8xf16>
    tile.store %a, %A[%c0, %k] : tensor<16x16xf16>, memref<?x?xf16, strided<[?, 1]>, #tile.global>
    // expected-remark @+1 {{is multiplied by mma.sync}}
    %n = tile.mma %a, %b, %acc : tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>
    scf.yield %n : tensor<16x8xf32>
  }
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @unknown_column(%A: memref<?x?xf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf16, strided<[1, ?]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %c3 = arith.constant 3 : index
  %sum = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %zero) -> (tensor<16x8xf32>) {
    %third = arith.divui %k, %c3 : index
    %odd = arith.addi %k, %third : index
    // expected-remark @+1 {{goes through registers, not ahead of the loop by cp.async: 16 bytes are copied from multiples of 8 elements, which the index along axis 1 is not known to be before the loop}}
    %a = tile.load %A[%c0, %odd] : memref<?x?xf16, strided<[?, 1]>, #tile.global> -> tensor<16x16xf16>
    %b = tile.load %B[%k, %c0] : memref<?x?xf16, strided<[1, ?]>, #tile.global> -> tensor<16x8xf16>
    // expected-remark @+1 {{is multiplied by mma.sync}}
    %n = tile.mma %a, %b, %acc : tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>
    scf.yield %n : tensor<16x8xf32>
  }
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @too_large(%A: memref<?x?xf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf16, strided<[1, ?]>, #tile.global>) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<256x8xf32>
  %sum = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %zero) -> (tensor<256x8xf32>) {
    // expected-remark @+1 {{goes through registers, not ahead of the loop by cp.async: 2 slots of 135168 bytes, 0 in which threads exchange tiles and 1024 of the kernel's own are more than the 166912 bytes of shared memory; take smaller tiles}}
    %a = tile.load %A[%c0, %k] : memref<?x?xf16, strided<[?, 1]>, #tile.global> -> tensor<256x256xf16>
    %b = tile.load %B[%k, %c0] : memref<?x?xf16, strided<[1, ?]>, #tile.global> -> tensor<256x8xf16>
    // expected-remark @+1 {{is multiplied by mma.sync}}
    %n = tile.mma %a, %b, %acc : tensor<256x256xf16>, tensor<256x8xf16>, tensor<256x8xf32>
    scf.yield %n : tensor<256x8xf32>
  }
}
}
