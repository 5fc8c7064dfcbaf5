// What is left to mma.sync, and what tensor copies cannot take.
// RUN: girih-opt %s -tile-plan-copies -split-input-file -verify-diagnostics

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
tile.kernel @warpgroups(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128x8xf32>
  %a = tile.load %A[%c0, %c0] : !rows -> tensor<128x16xbf16>
  %b = tile.load %B[%c0, %c0] : !columns -> tensor<16x8xbf16>
  // expected-remark @+1 {{is multiplied by mma.sync, not by wgmma: M = 128 in a kernel with threads(128), but a warpgroup of 128 threads multiplies 64 rows; write threads(256)}}
  %c = tile.mma %a, %b, %zero : tensor<128x16xbf16>, tensor<16x8xbf16>, tensor<128x8xf32>
}

// -----

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
tile.kernel @depth(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  %a = tile.load %A[%c0, %c0] : !rows -> tensor<64x8xbf16>
  %b = tile.load %B[%c0, %c0] : !columns -> tensor<8x8xbf16>
  // expected-remark @+1 {{is multiplied by mma.sync, not by wgmma: K = 8, but an instruction multiplies 32 bytes of K: a multiple of 16}}
  %c = tile.mma %a, %b, %zero : tensor<64x8xbf16>, tensor<8x8xbf16>, tensor<64x8xf32>
}

// -----

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
tile.kernel @computed(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  %a = tile.load %A[%c0, %c0] : !rows -> tensor<64x16xbf16>
  // expected-note @+1 {{computed here}}
  %twice = arith.addf %a, %a : tensor<64x16xbf16>
  %b = tile.load %B[%c0, %c0] : !columns -> tensor<16x8xbf16>
  // expected-remark @+1 {{is multiplied by mma.sync, not by wgmma: operand a is computed, not loaded}}
  %c = tile.mma %twice, %b, %zero : tensor<64x16xbf16>, tensor<16x8xbf16>, tensor<64x8xf32>
}

// -----

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
tile.kernel @written(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  %a = tile.load %A[%c0, %c0] : !rows -> tensor<64x16xbf16>
  // expected-note @+1 {{this may write}}
  tile.store %a, %A[%c0, %c0] : tensor<64x16xbf16>, !rows
  %b = tile.load %B[%c0, %c0] : !columns -> tensor<16x8xbf16>
  // expected-remark @+1 {{is multiplied by mma.sync, not by wgmma: memory may be written between the load of operand a and the product; load it after that, or multiply before}}
  %c = tile.mma %a, %b, %zero : tensor<64x16xbf16>, tensor<16x8xbf16>, tensor<64x8xf32>
}

// -----

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
tile.kernel @elsewhere(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  // expected-note @+1 {{loaded here}}
  %a = tile.load %A[%c0, %c0] : !rows -> tensor<64x16xbf16>
  %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> (tensor<64x8xf32>) {
    %b = tile.load %B[%c0, %c0] : !columns -> tensor<16x8xbf16>
    // expected-remark @+1 {{is multiplied by mma.sync, not by wgmma: operand a is loaded outside of the region that multiplies; load it there}}
    %c = tile.mma %a, %b, %acc : tensor<64x16xbf16>, tensor<16x8xbf16>, tensor<64x8xf32>
    scf.yield %c : tensor<64x8xf32>
  }
}

// -----

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
module attributes {tile.target = "sm_90a"} {
tile.kernel @column(%A: !rows, %B: !columns, %N: memref<?xi32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  %K = memref.dim %B, %c0 : !columns
  %sum = scf.for %p = %c0 to %K step %c16 iter_args(%acc = %zero) -> (tensor<64x8xf32>) {
    %odd = arith.divui %p, %c3 : index
    %k = arith.addi %p, %odd : index
    // expected-remark @+1 {{is copied by threads: no tensor copy takes operand a: tensor copies start at multiples of 16 bytes, but the index along axis 1 is known to be a multiple of 1 elements only, and no test before the loop can tell}}
    %a = tile.load %A[%c0, %k] : !rows -> tensor<64x16xbf16>
    // expected-remark @+1 {{is copied by threads: no tensor copy takes operand b}}
    %b = tile.load %B[%k, %c0] : !columns -> tensor<16x8xbf16>
    %c = tile.mma %a, %b, %acc : tensor<64x16xbf16>, tensor<16x8xbf16>, tensor<64x8xf32>
    scf.yield %c : tensor<64x8xf32>
  }
}
}

// -----

// What no tensor map can say is not asked for at run time.
!rows = memref<64x17xbf16, strided<[17, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
module attributes {tile.target = "sm_90a"} {
tile.kernel @odd_stride(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  %sum = scf.for %k = %c0 to %c32 step %c16 iter_args(%acc = %zero) -> (tensor<64x8xf32>) {
    // expected-remark @+1 {{is copied by threads: no tensor copy takes operand a: tensor copies take strides that are multiples of 16 bytes, but that of axis 0 is 34}}
    %a = tile.load %A[%c0, %k] : !rows -> tensor<64x16xbf16>
    %b = tile.load %B[%k, %c0] : !columns -> tensor<16x8xbf16>
    %c = tile.mma %a, %b, %acc : tensor<64x16xbf16>, tensor<16x8xbf16>, tensor<64x8xf32>
    scf.yield %c : tensor<64x8xf32>
  }
}
}

// -----

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
module attributes {tile.target = "sm_90a"} {
tile.kernel @triangle(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  %K = memref.dim %B, %c0 : !columns
  scf.for %end = %c0 to %K step %c16 {
    %sum = scf.for %k = %c0 to %end step %c16 iter_args(%acc = %zero) -> (tensor<64x8xf32>) {
      // expected-remark @+1 {{is copied by threads: no tensor copy takes operand a: the bounds of the loop change in the loop around it}}
      %a = tile.load %A[%c0, %k] : !rows -> tensor<64x16xbf16>
      // expected-remark @+1 {{is copied by threads: no tensor copy takes operand b: the bounds of the loop change in the loop around it}}
      %b = tile.load %B[%k, %c0] : !columns -> tensor<16x8xbf16>
      %c = tile.mma %a, %b, %acc : tensor<64x16xbf16>, tensor<16x8xbf16>, tensor<64x8xf32>
      scf.yield %c : tensor<64x8xf32>
    }
  }
}
}

// -----

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
module attributes {tile.target = "sm_90a"} {
tile.kernel @sometimes(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  %K = memref.dim %B, %c0 : !columns
  scf.for %n = %c0 to %K step %c16 {
    %first = arith.cmpi eq, %n, %c0 : index
    scf.if %first {
      %sum = scf.for %k = %c0 to %K step %c16 iter_args(%acc = %zero) -> (tensor<64x8xf32>) {
        // expected-remark @+1 {{is copied by threads: no tensor copy takes operand a: whether the loop is entered changes in the loop around it}}
        %a = tile.load %A[%c0, %k] : !rows -> tensor<64x16xbf16>
        // expected-remark @+1 {{is copied by threads: no tensor copy takes operand b: whether the loop is entered changes in the loop around it}}
        %b = tile.load %B[%k, %c0] : !columns -> tensor<16x8xbf16>
        %c = tile.mma %a, %b, %acc : tensor<64x16xbf16>, tensor<16x8xbf16>, tensor<64x8xf32>
        scf.yield %c : tensor<64x8xf32>
      }
    }
  }
}
}

// -----

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
module attributes {tile.target = "sm_80"} {
tile.kernel @target(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  %a = tile.load %A[%c0, %c0] : !rows -> tensor<64x16xbf16>
  %b = tile.load %B[%c0, %c0] : !columns -> tensor<16x8xbf16>
  // expected-remark @+1 {{is multiplied by mma.sync, not by wgmma: wgmma.mma_async needs sm_90a}}
  %c = tile.mma %a, %b, %zero : tensor<64x16xbf16>, tensor<16x8xbf16>, tensor<64x8xf32>
}
}

// -----

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
tile.kernel @columns(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x4xf32>
  %a = tile.load %A[%c0, %c0] : !rows -> tensor<64x16xbf16>
  %b = tile.load %B[%c0, %c0] : !columns -> tensor<16x4xbf16>
  // expected-remark @+1 {{is multiplied by mma.sync, not by wgmma: N = 4, but wgmma has multiples of 8 from 8 to 256}}
  %c = tile.mma %a, %b, %zero : tensor<64x16xbf16>, tensor<16x4xbf16>, tensor<64x4xf32>
}

// -----

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
tile.kernel @masked(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  %i = tile.iota axis 0 : tensor<16x8xi32>
  %nine = arith.constant dense<9> : tensor<16x8xi32>
  %m = arith.cmpi slt, %i, %nine : tensor<16x8xi32>
  %a = tile.load %A[%c0, %c0] : !rows -> tensor<64x16xbf16>
  %b = tile.load %B[%c0, %c0] mask %m : tensor<16x8xi1> : !columns -> tensor<16x8xbf16>
  // expected-remark @+1 {{is multiplied by mma.sync, not by wgmma: operand b is loaded under a mask, but copies to shared memory go as a whole}}
  %c = tile.mma %a, %b, %zero : tensor<64x16xbf16>, tensor<16x8xbf16>, tensor<64x8xf32>
}

// -----

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
tile.kernel @padded(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  %a = tile.load %A[%c0, %c0] {pad = 1.0 : bf16} : !rows -> tensor<64x16xbf16>
  %b = tile.load %B[%c0, %c0] : !columns -> tensor<16x8xbf16>
  // expected-remark @+1 {{is multiplied by mma.sync, not by wgmma: operand a says pad, but staged operands are padded with zero}}
  %c = tile.mma %a, %b, %zero : tensor<64x16xbf16>, tensor<16x8xbf16>, tensor<64x8xf32>
}

// -----

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
tile.kernel @laid_out(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf32, #tile.blocked<per_thread = [1, 2], lanes = [8, 4], warps = [4, 1]>>
  %a = tile.load %A[%c0, %c0] : !rows -> tensor<64x16xbf16>
  %b = tile.load %B[%c0, %c0] : !columns -> tensor<16x8xbf16>
  // expected-remark @+1 {{is multiplied by mma.sync, not by wgmma: the accumulator tensor<64x8xf32, #tile.blocked<per_thread = [1, 2], lanes = [8, 4], warps = [4, 1]>> has a layout already}}
  %c = tile.mma %a, %b, %zero : tensor<64x16xbf16>, tensor<16x8xbf16>, tensor<64x8xf32, #tile.blocked<per_thread = [1, 2], lanes = [8, 4], warps = [4, 1]>>
}

// -----

!rows = memref<?x?xf64, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xf64, strided<[1, ?]>, #tile.global>
tile.kernel @doubles(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf64>
  %a = tile.load %A[%c0, %c0] : !rows -> tensor<64x16xf64>
  %b = tile.load %B[%c0, %c0] : !columns -> tensor<16x8xf64>
  // expected-remark @+1 {{is multiplied by mma.sync, not by wgmma: tile.wgmma has no f64}}
  %c = tile.mma %a, %b, %zero : tensor<64x16xf64>, tensor<16x8xf64>, tensor<64x8xf64>
}

// -----

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
tile.kernel @half_staged(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %staged = tile.alloc : memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  // expected-note @+1 {{computed here}}
  %one = arith.constant dense<1.0> : tensor<64x8xbf16>
  // expected-error @+1 {{operand b is computed, not loaded}}
  %c = tile.mma %staged, %one, %zero : memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>, tensor<64x8xbf16>, tensor<64x8xf32>
}

// -----

// What lies along N is no way for numbers of 8 bits.
!rows = memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global>
module attributes {tile.target = "sm_90a"} {
tile.kernel @bytes_along_n(%A: !rows, %B: !rows) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %sum = scf.for %k = %c0 to %c32 step %c32 iter_args(%acc = %zero) -> (tensor<64x16xf32>) {
    // expected-remark @+1 {{is copied by threads: no tensor copy takes operand a: memref<?x?xf8E4M3FN, strided<[?, 1]>, #tile.global> is contiguous along M, but wgmma reads 8-bit numbers along K only, so that threads transpose on the way; keep it M x K with strided<[?, 1]>}}
    %a_t = tile.load %A[%k, %c0] : !rows -> tensor<32x64xf8E4M3FN>
    %a = tile.transpose %a_t order [1, 0] : tensor<32x64xf8E4M3FN> -> tensor<64x32xf8E4M3FN>
    // expected-remark @+1 {{is contiguous along N, but wgmma reads 8-bit numbers along K only, so that threads transpose on the way; keep it K x N with strided<[1, ?]>, or N x K with strided<[?, 1]> and tile.transpose what is loaded}}
    %b = tile.load %B[%k, %c0] : !rows -> tensor<32x16xf8E4M3FN>
    %c = tile.mma %a, %b, %acc : tensor<64x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>, tensor<64x16xf32>
    scf.yield %c : tensor<64x16xf32>
  }
}
}

// -----

// Strides that nobody knows.
!any = memref<?x?xbf16, strided<[?, ?]>, #tile.global>
module attributes {tile.target = "sm_90a"} {
tile.kernel @any_strides(%A: !any, %B: !any) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %sum = scf.for %k = %c0 to %c32 step %c32 iter_args(%acc = %zero) -> (tensor<64x16xf32>) {
    // expected-remark @+1 {{no tensor copy takes operand a: K is contiguous in shared memory, but memref<?x?xbf16, strided<[?, ?]>, #tile.global> is not known to have stride 1 along it}}
    %a = tile.load %A[%c0, %k] : !any -> tensor<64x32xbf16>
    // expected-remark @+1 {{no tensor copy takes operand b: K is contiguous in shared memory}}
    %b = tile.load %B[%k, %c0] : !any -> tensor<32x16xbf16>
    %c = tile.mma %a, %b, %acc : tensor<64x32xbf16>, tensor<32x16xbf16>, tensor<64x16xf32>
    scf.yield %c : tensor<64x16xf32>
  }
}
}

// -----

// No test is made that cannot hold.
!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
module attributes {tile.target = "sm_90a"} {
tile.kernel @odd_column(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %sum = scf.for %k = %c0 to %c32 step %c16 iter_args(%acc = %zero) -> (tensor<64x16xf32>) {
    %a = tile.load %A[%c0, %k] : !rows -> tensor<64x16xbf16>
    // expected-remark @+1 {{no tensor copy takes operand b: tensor copies start at multiples of 16 bytes, but a part of the index along axis 1 is 3 elements}}
    %b = tile.load %B[%k, %c3] : !columns -> tensor<16x16xbf16>
    %c = tile.mma %a, %b, %acc : tensor<64x16xbf16>, tensor<16x16xbf16>, tensor<64x16xf32>
    scf.yield %c : tensor<64x16xf32>
  }
}
}

// -----

// Integers have fewer widths.
!rows = memref<?x?xi8, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xi8, strided<[1, ?]>, #tile.global>
tile.kernel @integer_columns(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : tensor<64x40xi32>
  %a = tile.load %A[%c0, %c0] : !rows -> tensor<64x32xi8>
  %b = tile.load %B[%c0, %c0] : !columns -> tensor<32x40xi8>
  // expected-remark @+1 {{is multiplied by mma.sync, not by wgmma: N = 40, but wgmma has 8, 24 and multiples of 16 from 16 to 256}}
  %c = tile.mma %a, %b, %zero : tensor<64x32xi8>, tensor<32x40xi8>, tensor<64x40xi32>
}

// -----

!rows = memref<?x?xf16, strided<[?, 1]>, #tile.global>
tile.kernel @far_counter(%A: !rows, %B: !rows, %n: i64) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %from = arith.constant 0 : i64
  %by = arith.constant 32 : i64
  // expected-error @+1 {{counts by unsigned i64, which an index does not hold, around a product; count by index, or by integers of fewer bits}}
  %sum = scf.for unsigned %k = %from to %n step %by iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i64 {
    %at = arith.index_cast %k : i64 to index
    %a = tile.load %A[%c0, %at] : !rows -> tensor<64x32xf16>
    %b = tile.load %B[%at, %c0] : !rows -> tensor<32x64xf16>
    %next = tile.mma %a, %b, %acc : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
}

// -----

!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
tile.kernel @pass_thru(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  %ones = arith.constant dense<1.0> : tensor<64x16xbf16>
  %a = tile.load %A[%c0, %c0] pass_thru %ones : tensor<64x16xbf16> : !rows -> tensor<64x16xbf16>
  %b = tile.load %B[%c0, %c0] : !columns -> tensor<16x8xbf16>
  // expected-remark @+1 {{is multiplied by mma.sync, not by wgmma: operand a says pass_thru, but staged operands are padded with zero}}
  %c = tile.mma %a, %b, %zero : tensor<64x16xbf16>, tensor<16x8xbf16>, tensor<64x8xf32>
}

// -----

// Views that are no whole matrices of an argument: what lies behind their edges is not zero.
!rows3 = memref<?x?x?xbf16, strided<[?, ?, 1]>, #tile.global>
!columns3 = memref<?x64x64xbf16, strided<[?, 1, ?]>, #tile.global>
!rows2 = memref<?x?xbf16, strided<[?, 1], offset: ?>, #tile.global>
!columns2 = memref<32x64xbf16, strided<[1, ?], offset: ?>, #tile.global>
module attributes {tile.target = "sm_90a"} {
tile.kernel @parts(%A: !rows3, %B: !columns3) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %b = tile.block_id x
  %M = memref.dim %A, %c1 : !rows3
  %K = memref.dim %A, %c2 : !rows3
  %lower = memref.subview %A[%b, %b, 0] [1, %M, %K] [1, 1, 1] : !rows3 to !rows2
  %half = memref.subview %B[%b, 0, 0] [1, 32, 64] [1, 1, 1] : !columns3 to !columns2
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    // expected-remark @+1 {{is copied by threads: no tensor copy takes operand a: tensor copies pad past the edge of an argument, so that a view of one has each of its dimensions whole or at one index, and this one has not}}
    %x = tile.load %lower[%c0, %k] : !rows2 -> tensor<64x64xbf16>
    // expected-remark @+1 {{is copied by threads: no tensor copy takes operand b: tensor copies pad past the edge of an argument}}
    %y = tile.load %half[%k, %c0] : !columns2 -> tensor<64x64xbf16>
    %next = tile.mma %x, %y, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
}
}

// -----

// More warpgroups than a power of two hold products alone.
!rows = memref<?x?xbf16, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xbf16, strided<[1, ?]>, #tile.global>
tile.kernel @three(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<192x8xf32>
  %a = tile.load %A[%c0, %c0] : !rows -> tensor<192x16xbf16>
  %b = tile.load %B[%c0, %c0] : !columns -> tensor<16x8xbf16>
  // expected-remark @+1 {{M = 192 in a kernel with threads(128), but a warpgroup of 128 threads multiplies 64 rows; write threads(384), if only loads, stores and arithmetic in its size go with the product, or take rows that are a power of two}}
  %c = tile.mma %a, %b, %zero : tensor<192x16xbf16>, tensor<16x8xbf16>, tensor<192x8xf32>
}

// -----

!rows = memref<?x?xi8, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xi8, strided<[1, ?]>, #tile.global>
tile.kernel @bits_that_differ(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : tensor<64x8xi32>
  %a_whole = tile.load %A[%c0, %c0] : !rows -> tensor<64x32xi8>
  %b_whole = tile.load %B[%c0, %c0] : !columns -> tensor<32x8xi8>
  %a = tile.bitcast %a_whole : tensor<64x32xi8> -> tensor<64x256xi1>
  %b = tile.bitcast %b_whole : tensor<32x8xi8> -> tensor<256x8xi1>
  // expected-remark @+1 {{is multiplied by mma.sync, not by wgmma: tile.wgmma has no popc xor}}
  %c = tile.mma %a, %b, %zero popc xor : tensor<64x256xi1>, tensor<256x8xi1>, tensor<64x8xi32>
}

// -----

!rows = memref<?x?xi32, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xi8, strided<[1, ?]>, #tile.global>
tile.kernel @bits_of_words(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : tensor<64x8xi32>
  %a_whole = tile.load %A[%c0, %c0] : !rows -> tensor<64x8xi32>
  %b_whole = tile.load %B[%c0, %c0] : !columns -> tensor<32x8xi8>
  %a = tile.bitcast %a_whole : tensor<64x8xi32> -> tensor<64x256xi1>
  %b = tile.bitcast %b_whole : tensor<32x8xi8> -> tensor<256x8xi1>
  // expected-remark @+1 {{is multiplied by mma.sync, not by wgmma: operand a is the bits of tensor<64x8xi32>, but wgmma takes bits that lie in i8 along K}}
  %c = tile.mma %a, %b, %zero popc and : tensor<64x256xi1>, tensor<256x8xi1>, tensor<64x8xi32>
}

// -----

!rows = memref<?x?xi8, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xi8, strided<[1, ?]>, #tile.global>
tile.kernel @bits_of_columns(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : tensor<64x8xi32>
  %a_whole = tile.load %A[%c0, %c0] : !rows -> tensor<8x256xi8>
  %b_whole = tile.load %B[%c0, %c0] : !columns -> tensor<32x8xi8>
  %a = tile.bitcast %a_whole : tensor<8x256xi8> -> tensor<64x256xi1>
  %b = tile.bitcast %b_whole : tensor<32x8xi8> -> tensor<256x8xi1>
  // expected-remark @+1 {{is multiplied by mma.sync, not by wgmma: operand a is the bits of tensor<8x256xi8>, but wgmma takes bits that lie in i8 along K}}
  %c = tile.mma %a, %b, %zero popc and : tensor<64x256xi1>, tensor<256x8xi1>, tensor<64x8xi32>
}

// -----

!rows = memref<?x?xi8, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xi8, strided<[1, ?]>, #tile.global>
tile.kernel @few_bits(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : tensor<64x8xi32>
  %a_whole = tile.load %A[%c0, %c0] : !rows -> tensor<64x16xi8>
  %b_whole = tile.load %B[%c0, %c0] : !columns -> tensor<16x8xi8>
  %a = tile.bitcast %a_whole : tensor<64x16xi8> -> tensor<64x128xi1>
  %b = tile.bitcast %b_whole : tensor<16x8xi8> -> tensor<128x8xi1>
  // expected-remark @+1 {{is multiplied by mma.sync, not by wgmma: K = 128, but an instruction multiplies 32 bytes of K: a multiple of 256}}
  %c = tile.mma %a, %b, %zero popc and : tensor<64x128xi1>, tensor<128x8xi1>, tensor<64x8xi32>
}

// -----

!rows = memref<?x?xi8, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xi8, strided<[1, ?]>, #tile.global>
tile.kernel @columns_of_bits(%A: !rows, %B: !columns) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : tensor<64x40xi32>
  %a_whole = tile.load %A[%c0, %c0] : !rows -> tensor<64x32xi8>
  %b_whole = tile.load %B[%c0, %c0] : !columns -> tensor<32x40xi8>
  %a = tile.bitcast %a_whole : tensor<64x32xi8> -> tensor<64x256xi1>
  %b = tile.bitcast %b_whole : tensor<32x40xi8> -> tensor<256x40xi1>
  // expected-remark @+1 {{is multiplied by mma.sync, not by wgmma: N = 40, but wgmma has 8, 24 and multiples of 16 from 16 to 256}}
  %c = tile.mma %a, %b, %zero popc and : tensor<64x256xi1>, tensor<256x40xi1>, tensor<64x40xi32>
}
