// Where whole tiles are moved all threads come by, whatever led there: a number from memory, a loop that ends by one. What is
// stored there is seen there.
// RUN: girih run %s --kernel then_one --device sim --check-memory --arg X=iota:i32[64] --arg Y=poison:i32[64] --arg F=ones:i32[1] "--check=Y=full(58):i32[64]" 2>&1 | FileCheck %s
// RUN: girih run %s --kernel in_a_while --device sim --check-memory --arg X=iota:i32[64] --arg Y=poison:i32[64] --arg n=i64:3 2>&1 | FileCheck %s
// RUN: girih run %s --kernel product --target sm_90a --device sim --check-memory --arg A=zeros:f16[128,64] --arg B=zeros:f16[64,64] --arg C=iota:f32[128,64] --arg F=ones:i32[1] 2>&1 | FileCheck %s
// CHECK-NOT: only some threads
// CHECK: right: {{[YC]}}: all {{[0-9]+}} elements are exact
// CHECK: checked memory, barriers and waits: no findings
!m = memref<?x?xf16, strided<[?, 1]>, #tile.global>
!c = memref<?x?xf32, strided<[?, 1]>, #tile.global>

tile.kernel @then_one(%X: memref<?xi32, #tile.global>, %Y: memref<?xi32, #tile.global>, %F: memref<?xi32, #tile.global>) threads(64) launch {
  %v1 = arith.constant 1 : index
  %v2 = arith.constant 1 : index
  %v3 = arith.constant 1 : index
  tile.grid %v1, %v2, %v3
} body {
  %v1 = arith.constant 0 : index
  %v2 = memref.load %F[%v1] : memref<?xi32, #tile.global>
  %v3 = arith.constant 0 : i32
  %v4 = arith.cmpi ne, %v2, %v3 : i32
  scf.if %v4 {
    %v5 = arith.constant 0 : index
    %v6 = tile.load %X[%v5] : memref<?xi32, #tile.global> -> tensor<64xi32>
    %v7 = tile.extract_slice %v6 at [63] strides [-1] : tensor<64xi32> -> tensor<64xi32>
    %v8 = arith.constant 0 : index
    tile.store %v7, %X[%v8] : tensor<64xi32>, memref<?xi32, #tile.global>
    %v9 = arith.constant 5 : index
    %v10 = memref.load %X[%v9] : memref<?xi32, #tile.global>
    %v11 = tile.splat %v10 : i32 -> tensor<64xi32>
    %v12 = arith.constant 0 : index
    tile.store %v11, %Y[%v12] : tensor<64xi32>, memref<?xi32, #tile.global>
  }
}

tile.kernel @in_a_while(%X: memref<?xi32, #tile.global>, %Y: memref<?xi32, #tile.global>, %n: i64) threads(64) launch {
  %v1 = arith.constant 1 : index
  %v2 = arith.constant 1 : index
  %v3 = arith.constant 1 : index
  tile.grid %v1, %v2, %v3
} body {
  %v1 = arith.constant 0 : index
  %v2 = arith.constant 0 : i32
  %v7:2 = scf.while (%v3 = %v1, %v4 = %v2) : (index, i32) -> (index, i32) {
    %v8 = arith.index_cast %n : i64 to index
    %v9 = arith.cmpi ult, %v3, %v8 : index
    scf.condition(%v9) %v3, %v4 : index, i32
  } do {
  ^bb0(%v5: index, %v6: i32):
    %v10 = arith.constant 0 : index
    %v11 = tile.load %X[%v10] : memref<?xi32, #tile.global> -> tensor<64xi32>
    %v12 = tile.extract_slice %v11 at [63] strides [-1] : tensor<64xi32> -> tensor<64xi32>
    %v13 = arith.constant dense<2> : tensor<64xi32>
    %v14 = arith.muli %v12, %v13 : tensor<64xi32>
    %v15 = arith.constant 0 : index
    tile.store %v14, %X[%v15] : tensor<64xi32>, memref<?xi32, #tile.global>
    %v16 = memref.load %X[%v5] : memref<?xi32, #tile.global>
    %v17 = arith.constant 1 : index
    %v18 = arith.addi %v5, %v17 : index
    %v19 = arith.addi %v6, %v16 : i32
    scf.yield %v18, %v19 : index, i32
  }
  %v20 = tile.splat %v7#1 : i32 -> tensor<64xi32>
  %v21 = arith.constant 0 : index
  tile.store %v20, %Y[%v21] : tensor<64xi32>, memref<?xi32, #tile.global>
}

func.func @in_a_while_ref(%X: memref<?xi32>, %Y: memref<?xi32>, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : i32
  %c32 = arith.constant 32 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i32
  %times = arith.index_cast %n : i64 to index
  %sum = scf.for %i = %c0 to %times step %c1 iter_args(%s = %zero) -> (i32) {
    scf.for %j = %c0 to %c32 step %c1 {
      %other = arith.subi %c63, %j : index
      %a = memref.load %X[%j] : memref<?xi32>
      %b = memref.load %X[%other] : memref<?xi32>
      %twice_a = arith.muli %a, %c2 : i32
      %twice_b = arith.muli %b, %c2 : i32
      memref.store %twice_b, %X[%j] : memref<?xi32>
      memref.store %twice_a, %X[%other] : memref<?xi32>
    }
    %x = memref.load %X[%i] : memref<?xi32>
    %next = arith.addi %s, %x : i32
    scf.yield %next : i32
  }
  scf.for %j = %c0 to %c64 step %c1 {
    memref.store %sum, %Y[%j] : memref<?xi32>
  }
  return
}

// What warpgroups hold is stored where it was loaded the other way round.
tile.kernel @product(%A: !m, %B: !m, %C: !c, %F: memref<?xi32, #tile.global>) threads(128) launch {
  %v1 = arith.constant 2 : index
  %v2 = arith.constant 1 : index
  %v3 = arith.constant 1 : index
  tile.grid %v1, %v2, %v3
} body {
  %v1 = tile.block_id x
  %v2 = arith.constant 64 : index
  %v3 = arith.muli %v1, %v2 : index
  %v4 = arith.constant 1 : index
  %v5 = memref.dim %A, %v4 : !m
  %v6 = arith.constant dense<0.0> : tensor<64x64xf32>
  %v7 = arith.constant 0 : index
  %v8 = arith.constant 32 : index
  %v11 = scf.for %v9 = %v7 to %v5 step %v8 iter_args(%v10 = %v6) -> (tensor<64x64xf32>) {
    %v12 = tile.load %A[%v3, %v9] : !m -> tensor<64x32xf16>
    %v13 = arith.constant 0 : index
    %v14 = tile.load %B[%v9, %v13] : !m -> tensor<32x64xf16>
    %v15 = tile.mma %v12, %v14, %v10 : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %v15 : tensor<64x64xf32>
  }
  %v16 = arith.constant 0 : index
  %v17 = memref.load %F[%v16] : memref<?xi32, #tile.global>
  %v18 = arith.constant 0 : i32
  %v19 = arith.cmpi ne, %v17, %v18 : i32
  scf.if %v19 {
    %v20 = arith.constant 0 : index
    %v21 = tile.load %C[%v3, %v20] : !c -> tensor<64x64xf32>
    %v22 = tile.transpose %v21 order [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
    %v23 = arith.addf %v11, %v22 : tensor<64x64xf32>
    %v24 = arith.constant 0 : index
    tile.store %v23, %C[%v3, %v24] : tensor<64x64xf32>, !c
  }
}

func.func @product_ref(%A: memref<?x?xf16, strided<[?, 1]>>, %B: memref<?x?xf16, strided<[?, 1]>>, %C: memref<?x?xf32, strided<[?, 1]>>, %F: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  scf.for %first = %c0 to %c128 step %c64 {
    scf.for %i = %c0 to %c64 step %c1 {
      scf.for %j = %c0 to %i step %c1 {
        %row = arith.addi %first, %i : index
        %other = arith.addi %first, %j : index
        %a = memref.load %C[%row, %j] : memref<?x?xf32, strided<[?, 1]>>
        %b = memref.load %C[%other, %i] : memref<?x?xf32, strided<[?, 1]>>
        memref.store %b, %C[%row, %j] : memref<?x?xf32, strided<[?, 1]>>
        memref.store %a, %C[%other, %i] : memref<?x?xf32, strided<[?, 1]>>
      }
    }
  }
  return
}
