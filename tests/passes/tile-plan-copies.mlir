// Operands of matrix products go to shared memory.
// RUN: girih-opt %s -tile-plan-copies -split-input-file | FileCheck %s

// Tensor copies where tests at run time find that both operands can have them, else where their own does, and threads
// otherwise; both sum over what is contiguous.
// CHECK-LABEL: tile.kernel @rows_by_columns
// CHECK: %[[A:.*]] = tile.is_aligned %A axis 1 by 8 any_size
// CHECK: %[[B:.*]] = tile.is_aligned %B axis 0 by 8 any_size
// CHECK: %[[BOTH:.*]] = arith.andi %[[A]], %[[B]] : i1
// CHECK: %[[SUM:.*]] = scf.if %[[BOTH]] -> (tensor<128x256xf32>) {
// CHECK: scf.for
// CHECK-NOT: tile.load
// CHECK: tile.stage %A[%{{.*}}, %{{.*}}] side a major k by tma : {{.*}} -> memref<2x1x64x64xbf16, #tile.shared<swizzle = 128>>
// CHECK: tile.stage %B[%{{.*}}, %{{.*}}] side b major k by tma : {{.*}} -> memref<1x1x256x64xbf16, #tile.shared<swizzle = 128>>
// CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} : memref<2x1x64x64xbf16, #tile.shared<swizzle = 128>>, memref<1x1x256x64xbf16, #tile.shared<swizzle = 128>>, tensor<128x256xf32>
// CHECK: } else {
// CHECK: scf.for
// CHECK: tile.stage %A[%{{.*}}, %{{.*}}] side a major k by tma where %[[A]]
// CHECK: tile.stage %B[%{{.*}}, %{{.*}}] side b major k by tma where %[[B]]
// CHECK: tile.store %[[SUM]]
module attributes {tile.target = "sm_90a"} {
tile.kernel @rows_by_columns(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xbf16, strided<[1, ?]>, #tile.global>, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(256) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1 = arith.constant 1 : index
  %K = memref.dim %A, %c1 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<128x256xf32>) {
    %a = tile.load %A[%c0, %k] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<128x64xbf16>
    %b = tile.load %B[%k, %c0] : memref<?x?xbf16, strided<[1, ?]>, #tile.global> -> tensor<64x256xbf16>
    %next = tile.mma %a, %b, %acc : tensor<128x64xbf16>, tensor<64x256xbf16>, tensor<128x256xf32>
    scf.yield %next : tensor<128x256xf32>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<128x256xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}
}

// -----

// 16-bit numbers may be contiguous along M and N: panels as wide as the swizzle.
// CHECK-LABEL: tile.kernel @columns_by_rows
// CHECK: tile.is_aligned %A axis 0 by 8
// CHECK: tile.is_aligned %B axis 1 by 8
// CHECK: tile.stage %A[%{{.*}}, %{{.*}}] side a major mn by tma cache evict_last : {{.*}} -> memref<1x1x32x64xf16, #tile.shared<swizzle = 128>>
// CHECK: tile.stage %B[%{{.*}}, %{{.*}}] side b major mn by tma : {{.*}} -> memref<1x2x32x64xf16, #tile.shared<swizzle = 128>>
// CHECK: tile.mma {{.*}} {a_major = "mn", b_major = "mn"}
module attributes {tile.target = "sm_90a"} {
tile.kernel @columns_by_rows(%A: memref<?x?xf16, strided<[1, ?]>, #tile.global>, %B: memref<?x?xf16, strided<[?, 1]>, #tile.global>, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c1 = arith.constant 1 : index
  %K = memref.dim %A, %c1 : memref<?x?xf16, strided<[1, ?]>, #tile.global>
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %K step %c32 iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %a = tile.load %A[%c0, %k] cache evict_last : memref<?x?xf16, strided<[1, ?]>, #tile.global> -> tensor<64x32xf16>
    %b = tile.load %B[%k, %c0] : memref<?x?xf16, strided<[?, 1]>, #tile.global> -> tensor<32x128xf16>
    %next = tile.mma %a, %b, %acc : tensor<64x32xf16>, tensor<32x128xf16>, tensor<64x128xf32>
    scf.yield %next : tensor<64x128xf32>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<64x128xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}
}

// -----

// A transposition is looked through, wherever it stands; the load's indices stay in the order of its memref.
// CHECK-LABEL: tile.kernel @transposed
// CHECK-NOT: tile.load
// CHECK-NOT: tile.transpose
// CHECK: tile.stage %A[%[[K:.*]], %{{.*}}] transposed side a major mn by tma : {{.*}} -> memref<1x1x32x64xf16, #tile.shared<swizzle = 128>>
// CHECK: tile.stage %B[%c0{{.*}}, %[[K]]] transposed side b major k by tma : {{.*}} -> memref<1x1x128x32xf16, #tile.shared<swizzle = 64>>
// CHECK: tile.stage %B[%c0{{.*}}, %{{.*}}] transposed side b major k by tma where
module attributes {tile.target = "sm_90a"} {
tile.kernel @transposed(%A: memref<?x?xf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xf16, strided<[?, 1]>, #tile.global>, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %K = memref.dim %A, %c0 : memref<?x?xf16, strided<[?, 1]>, #tile.global>
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %K step %c32 iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %a_t = tile.load %A[%k, %c0] : memref<?x?xf16, strided<[?, 1]>, #tile.global> -> tensor<32x64xf16>
    %a = tile.transpose %a_t order [1, 0] : tensor<32x64xf16> -> tensor<64x32xf16>
    %b_t = tile.load %B[%c0, %k] : memref<?x?xf16, strided<[?, 1]>, #tile.global> -> tensor<128x32xf16>
    %b_same = tile.transpose %b_t order [0, 1] : tensor<128x32xf16> -> tensor<128x32xf16>
    %b = tile.transpose %b_same order [1, 0] : tensor<128x32xf16> -> tensor<32x128xf16>
    %next = tile.mma %a, %b, %acc : tensor<64x32xf16>, tensor<32x128xf16>, tensor<64x128xf32>
    scf.yield %next : tensor<64x128xf32>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<64x128xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}
}

// -----

// Other numbers lie along K; threads transpose B, and there is no second loop.
// CHECK-LABEL: tile.kernel @bytes
// CHECK-NOT: scf.if
// CHECK: %[[A:.*]] = tile.is_aligned %A axis 1 by 16 any_size
// CHECK: tile.stage %A[%{{.*}}, %{{.*}}] side a major k by tma where %[[A]] : {{.*}} -> memref<1x1x64x64xi8, #tile.shared<swizzle = 64>>
// CHECK: tile.stage %B[%{{.*}}, %{{.*}}] side b major k by threads : {{.*}} -> memref<1x1x32x64xi8, #tile.shared<swizzle = 64>>
module attributes {tile.target = "sm_90a"} {
tile.kernel @bytes(%A: memref<?x?xi8, strided<[?, 1]>, #tile.global>, %B: memref<?x?xi8, strided<[?, 1]>, #tile.global>, %C: memref<?x?xi32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1 = arith.constant 1 : index
  %K = memref.dim %A, %c1 : memref<?x?xi8, strided<[?, 1]>, #tile.global>
  %zero = arith.constant dense<0> : tensor<64x32xi32>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x32xi32>) {
    %a = tile.load %A[%c0, %k] : memref<?x?xi8, strided<[?, 1]>, #tile.global> -> tensor<64x64xi8>
    %b = tile.load %B[%k, %c0] : memref<?x?xi8, strided<[?, 1]>, #tile.global> -> tensor<64x32xi8>
    %next = tile.mma %a, %b, %acc : tensor<64x64xi8>, tensor<64x32xi8>, tensor<64x32xi32>
    scf.yield %next : tensor<64x32xi32>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<64x32xi32>, memref<?x?xi32, strided<[?, 1]>, #tile.global>
}
}

// -----

// A persistent kernel: the test is made before all loops. The column starts where the kernel is told.
// CHECK-LABEL: tile.kernel @persistent
// CHECK: %[[START:.*]] = arith.index_cast
// CHECK: %[[A:.*]] = tile.is_aligned %A axis 1 by 8 any_size
// CHECK: %[[REST:.*]] = arith.remui %[[START]], %c8
// CHECK: %[[MULTIPLE:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: %[[BOTH:.*]] = arith.andi %[[A]], %[[MULTIPLE]]
// CHECK: scf.for
// CHECK: scf.if
// CHECK: scf.for
// CHECK: tile.stage %A[%{{.*}}, %{{.*}}] side a major k by tma :
// CHECK: } else {
// CHECK: tile.stage %A[%{{.*}}, %{{.*}}] side a major k by tma where %[[BOTH]]
module attributes {tile.target = "sm_90a"} {
tile.kernel @persistent(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xbf16, strided<[1, ?]>, #tile.global>, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %from: i32) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %M = memref.dim %A, %c0 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %K = memref.dim %A, %c1 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %start = arith.index_cast %from : i32 to index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  scf.for %row = %c0 to %M step %c64 {
    %sum = scf.for %k = %start to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
      %a = tile.load %A[%row, %k] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<64x64xbf16>
      %b = tile.load %B[%k, %c0] : memref<?x?xbf16, strided<[1, ?]>, #tile.global> -> tensor<64x64xbf16>
      %next = tile.mma %a, %b, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %sum, %C[%row, %c0] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
  }
}
}

// -----

// What the program stages itself stays as it is in both loops, though it comes first.
// CHECK-LABEL: tile.kernel @staged
// CHECK: %[[B:.*]] = tile.is_aligned %B axis 0 by 8 any_size
// CHECK: scf.if %[[B]]
// CHECK: tile.stage %X[%{{.*}}, %{{.*}}] side a major k by tma :
// CHECK-NEXT: tile.stage %A[%{{.*}}, %{{.*}}] side a major k by threads :
// CHECK: tile.stage %B[%{{.*}}, %{{.*}}] side b major k by tma :
// CHECK: } else {
// CHECK: tile.stage %X[%{{.*}}, %{{.*}}] side a major k by tma :
// CHECK-NEXT: tile.stage %A[%{{.*}}, %{{.*}}] side a major k by threads :
// CHECK: tile.stage %B[%{{.*}}, %{{.*}}] side b major k by tma where %[[B]] :
module attributes {tile.target = "sm_90a"} {
tile.kernel @staged(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xbf16, strided<[1, ?]>, #tile.global>, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>, %X: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %K = memref.dim %A, %c1 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %x = tile.stage %X[%c0, %k] side a major k by tma : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>
    %a = tile.stage %A[%c0, %k] side a major k by threads : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>
    %b = tile.load %B[%k, %c0] : memref<?x?xbf16, strided<[1, ?]>, #tile.global> -> tensor<64x64xbf16>
    %next = tile.mma %a, %b, %acc : memref<1x1x64x64xbf16, #tile.shared<swizzle = 128>>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}
}

// -----

// A target without wgmma: all threads copy ahead, and products take tiles that come back from shared memory. In the second loop
// each operand asks for itself.
// CHECK-LABEL: tile.kernel @warps
// CHECK: %[[A:.*]] = tile.is_aligned %A axis 1 by 8 :
// CHECK: %[[B:.*]] = tile.is_aligned %B axis 1 by 8 :
// CHECK: %[[BOTH:.*]] = arith.andi %[[A]], %[[B]] : i1
// CHECK: scf.if %[[BOTH]] -> (tensor<64x128xf32>) {
// CHECK: scf.for
// CHECK: %[[SA:.*]] = tile.stage %A[%{{.*}}, %{{.*}}] side a major k by cp_async : {{.*}} -> memref<1x1x64x32xf16, #tile.shared<swizzle = 64>>
// CHECK: %[[TA:.*]] = tile.load_staged %[[SA]] side a major k : {{.*}} -> tensor<64x32xf16>
// CHECK: %[[SB:.*]] = tile.stage %B[%{{.*}}, %{{.*}}] side b major mn by cp_async : {{.*}} -> memref<1x2x32x64xf16, #tile.shared<swizzle = 128>>
// CHECK: %[[TB:.*]] = tile.load_staged %[[SB]] side b major mn : {{.*}} -> tensor<32x128xf16>
// CHECK: tile.mma %[[TA]], %[[TB]], %{{.*}} : tensor<64x32xf16>, tensor<32x128xf16>, tensor<64x128xf32>
// CHECK: } else {
// CHECK: tile.stage %A{{.*}} by cp_async where %[[A]] :
// CHECK: tile.stage %B{{.*}} by cp_async where %[[B]] :
// CHECK-NOT: tile.load %
!rows = memref<?x?xf16, strided<[?, 1]>, #tile.global>
module attributes {tile.target = "sm_80"} {
tile.kernel @warps(%A: !rows, %B: !rows, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c1 = arith.constant 1 : index
  %K = memref.dim %A, %c1 : !rows
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %K step %c32 iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %a = tile.load %A[%c0, %k] : !rows -> tensor<64x32xf16>
    %b = tile.load %B[%k, %c0] : !rows -> tensor<32x128xf16>
    %next = tile.mma %a, %b, %acc : tensor<64x32xf16>, tensor<32x128xf16>, tensor<64x128xf32>
    scf.yield %next : tensor<64x128xf32>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<64x128xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}
}

// -----

// What attributes say is not asked; bytes that are seen as narrower numbers are staged as bytes.
// CHECK-LABEL: tile.kernel @nibbles
// CHECK-NOT: scf.if
// CHECK: %[[S:.*]] = tile.stage %A[%{{.*}}, %{{.*}}] side a major k by cp_async : {{.*}} -> memref<1x1x16x64xi8, #tile.shared<swizzle = 64>>
// CHECK: %[[BYTES:.*]] = tile.load_staged %[[S]] side a major k : {{.*}} -> tensor<16x64xi8>
// CHECK: tile.bitcast %[[BYTES]] : tensor<16x64xi8> -> tensor<16x128xi4>
!rows = memref<?x?xi8, strided<[?, 1]>, #tile.global>
!columns = memref<?x?xi8, strided<[1, ?]>, #tile.global>
tile.kernel @nibbles(%A: !rows {tile.aligned = 16, tile.divisible = [1, 16]}, %B: !columns {tile.aligned = 16, tile.divisible = [16, 1]}, %C: memref<?x?xi32, strided<[?, 1]>, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1 = arith.constant 1 : index
  %K = memref.dim %A, %c1 : !rows
  %zero = arith.constant dense<0> : tensor<16x8xi32>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<16x8xi32>) {
    %a = tile.load %A[%c0, %k] : !rows -> tensor<16x64xi8>
    %b = tile.load %B[%k, %c0] : !columns -> tensor<64x8xi8>
    %x = tile.bitcast %a : tensor<16x64xi8> -> tensor<16x128xi4>
    %y = tile.bitcast %b : tensor<64x8xi8> -> tensor<128x8xi4>
    %next = tile.mma %x, %y, %acc : tensor<16x128xi4>, tensor<128x8xi4>, tensor<16x8xi32>
    scf.yield %next : tensor<16x8xi32>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<16x8xi32>, memref<?x?xi32, strided<[?, 1]>, #tile.global>
}

// -----

// Matrices of a batch as views: what is asked is asked of the arguments, and the size that is another's is compared.
// CHECK-LABEL: tile.kernel @batched
// CHECK-DAG: %[[K:.*]] = memref.dim %A, %c2{{.*}}
// CHECK-DAG: %[[A_OF:.*]] = memref.subview %A[
// CHECK-DAG: %[[B_OF:.*]] = memref.subview %B[
// CHECK: %[[A:.*]] = tile.is_aligned %A axis 2 by 8 any_size
// CHECK: %[[B:.*]] = tile.is_aligned %B axis 1 by 8 any_size
// CHECK: %[[B_K:.*]] = memref.dim %B, %c1{{.*}}
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[K]], %[[B_K]] : index
// CHECK: %[[B_FITS:.*]] = arith.andi %[[B]], %[[SAME]] : i1
// CHECK: tile.stage %[[A_OF]][%{{.*}}, %{{.*}}] side a major k by tma :
// CHECK: tile.stage %[[B_OF]][%{{.*}}, %{{.*}}] side b major k by tma :
// CHECK: tile.stage %[[A_OF]][%{{.*}}, %{{.*}}] side a major k by tma where %[[A]]
// CHECK: tile.stage %[[B_OF]][%{{.*}}, %{{.*}}] side b major k by tma where %[[B_FITS]]
!rows3 = memref<?x?x?xbf16, strided<[?, ?, 1]>, #tile.global>
!columns3 = memref<?x?x?xbf16, strided<[?, 1, ?]>, #tile.global>
!rows2 = memref<?x?xbf16, strided<[?, 1], offset: ?>, #tile.global>
!columns2 = memref<?x?xbf16, strided<[1, ?], offset: ?>, #tile.global>
module attributes {tile.target = "sm_90a"} {
tile.kernel @batched(%A: !rows3, %B: !columns3, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
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
  %N = memref.dim %B, %c2 : !columns3
  %a_of = memref.subview %A[%b, 0, 0] [1, %M, %K] [1, 1, 1] : !rows3 to !rows2
  %b_of = memref.subview %B[%b, 0, 0] [1, %K, %N] [1, 1, 1] : !columns3 to !columns2
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %x = tile.load %a_of[%c0, %k] : !rows2 -> tensor<64x64xbf16>
    %y = tile.load %b_of[%k, %c0] : !columns2 -> tensor<64x64xbf16>
    %next = tile.mma %x, %y, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}
}

// -----

// In no loop: in one of a single pass. What another op takes, too, is loaded once more.
// CHECK-LABEL: tile.kernel @once
// CHECK: %[[A:.*]] = tile.load %A
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %c0{{.*}} to %c1{{.*}} step %c1{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<64x8xf32>) {
// CHECK: tile.stage %A[%c0, %c0] side a major k by tma :
// CHECK: tile.stage %B[%c0, %c0] transposed side b major k by tma :
// CHECK: %[[NEXT:.*]] = tile.mma %{{.*}}, %{{.*}}, %[[ACC]] : memref
// CHECK: scf.yield %[[NEXT]]
// CHECK: tile.store %[[SUM]]
// CHECK: tile.store %[[A]]
!rows = memref<64x16xbf16, #tile.global>
module attributes {tile.target = "sm_90a"} {
tile.kernel @once(%A: !rows {tile.aligned = 16 : i64}, %B: memref<8x16xbf16, #tile.global> {tile.aligned = 16 : i64}, %C: memref<64x8xf32, #tile.global>, %D: !rows) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  %a = tile.load %A[%c0, %c0] : !rows -> tensor<64x16xbf16>
  %b = tile.load %B[%c0, %c0] : memref<8x16xbf16, #tile.global> -> tensor<8x16xbf16>
  %t = tile.transpose %b order [1, 0] : tensor<8x16xbf16> -> tensor<16x8xbf16>
  %c = tile.mma %a, %t, %zero : tensor<64x16xbf16>, tensor<16x8xbf16>, tensor<64x8xf32>
  tile.store %c, %C[%c0, %c0] : tensor<64x8xf32>, memref<64x8xf32, #tile.global>
  tile.store %a, %D[%c0, %c0] : tensor<64x16xbf16>, !rows
}
}

// -----

// Single bits are bytes in shared memory, whichever of the two comes first on the way, a change of axes or of numbers.
// CHECK-LABEL: tile.kernel @bits
// CHECK-NOT: tile.load
// CHECK: tile.stage %A[%{{.*}}, %{{.*}}] side a major k by tma : {{.*}} -> memref<1x1x64x64xi8, #tile.shared<swizzle = 64>>
// CHECK: tile.stage %B[%{{.*}}, %{{.*}}] transposed side b major k by tma : {{.*}} -> memref<1x1x16x64xi8, #tile.shared<swizzle = 64>>
// CHECK-NOT: tile.bitcast
// CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} popc and : memref<1x1x64x64xi8, #tile.shared<swizzle = 64>>, memref<1x1x16x64xi8, #tile.shared<swizzle = 64>>, tensor<64x16xi32>
!rows = memref<?x?xi8, strided<[?, 1]>, #tile.global>
!sums = memref<?x?xi32, strided<[?, 1]>, #tile.global>
module attributes {tile.target = "sm_90a"} {
tile.kernel @bits(%A: !rows, %B: !rows, %C: !sums) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !rows
  %zero = arith.constant dense<0> : tensor<64x16xi32>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x16xi32>) {
    %a_bytes = tile.load %A[%c0, %k] : !rows -> tensor<64x64xi8>
    %b_bytes = tile.load %B[%c0, %k] : !rows -> tensor<16x64xi8>
    %a = tile.bitcast %a_bytes : tensor<64x64xi8> -> tensor<64x512xi1>
    %b_bits = tile.bitcast %b_bytes : tensor<16x64xi8> -> tensor<16x512xi1>
    %b = tile.transpose %b_bits order [1, 0] : tensor<16x512xi1> -> tensor<512x16xi1>
    %next = tile.mma %a, %b, %acc popc and : tensor<64x512xi1>, tensor<512x16xi1>, tensor<64x16xi32>
    scf.yield %next : tensor<64x16xi32>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<64x16xi32>, !sums
}
}
