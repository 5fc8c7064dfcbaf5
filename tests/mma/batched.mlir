// Products of matrices that lie in arrays of more dimensions: operands go to shared memory as those of one product do, by tensor
// copies with one element along each dimension that the matrix has not, or by threads; results go out in whole lines.
//
// Sizes that tensor copies take, and others: rows of multiples of 16, 8, 4 and 2 bytes.
// RUN: girih run %s --kernel reshaped --device sim --check-memory --arg A=randn:bf16[3,72,136] --arg B=randn:bf16[3,136,70] --arg C=poison:f32[3,72,70] | FileCheck %s
// RUN: girih run %s --kernel reshaped --device sim --check-memory --arg A=randn:bf16[2,130,68] --arg B=randn:bf16[2,68,65] --arg C=poison:f32[2,130,65] | FileCheck %s
// RUN: girih run %s --kernel reshaped --device sim --check-memory --arg A=randn:bf16[2,5,70] --arg B=randn:bf16[2,70,9] --arg C=poison:f32[2,5,9] | FileCheck %s
// RUN: girih run %s --kernel reshaped --device sim --check-memory --arg A=randn:bf16[3,33,67] --arg B=randn:bf16[3,67,65] --arg C=poison:f32[3,33,65] | FileCheck %s
// Rows of multiples of 16 bytes in matrices that are none:
// RUN: girih run %s --kernel reshaped --device sim --check-memory --arg "A=randn:bf16[3,33,64;offset=2]" --arg B=randn:bf16[3,64,65] --arg C=poison:f32[3,33,65] | FileCheck %s
// Matrices past the last one are zero:
// RUN: girih run %s --kernel reshaped --device sim --check-memory --reference @fewer_ref --arg A=randn:bf16[2,40,72] --arg B=randn:bf16[3,72,70] --arg C=poison:f32[3,40,70] | FileCheck %s
// RUN: girih run %s --kernel reshaped --device sim --check-memory --reference @fewer_ref --arg A=randn:bf16[3,33,67] --arg B=randn:bf16[2,67,65] --arg C=poison:f32[3,33,65] | FileCheck %s
//
// RUN: girih run %s --kernel heads --device sim --check-memory --arg A=randn:f16[70,3,72] --arg B=randn:f16[40,3,72] --arg C=poison:f16[70,3,40] | FileCheck %s
// RUN: girih run %s --kernel heads --device sim --check-memory --arg A=randn:f16[65,2,36] --arg B=randn:f16[33,2,36] --arg C=poison:f16[65,2,33] | FileCheck %s
// RUN: girih run %s --kernel heads --device sim --check-memory --arg A=randn:f16[64,3,35] --arg B=randn:f16[9,3,35] --arg C=poison:f16[64,3,9] | FileCheck %s
// A K that is not all of B's: what lies behind it is not multiplied, whatever it is.
// RUN: girih run %s --kernel heads --device sim --check-memory --arg A=randn:f16[70,3,40] --arg B=randn:f16[40,3,72] --arg C=poison:f16[70,3,40] | FileCheck %s
//
// RUN: girih run %s --kernel updates --device sim --check-memory --arg A=randn:bf16[2,2,72,136] --arg B=randn:bf16[2,2,136,64] --arg C=randn:bf16[2,2,72,64] | FileCheck %s
// RUN: girih run %s --kernel updates --device sim --check-memory --arg A=randn:bf16[1,3,66,67] --arg B=randn:bf16[1,3,67,35] --arg C=randn:bf16[1,3,66,35] | FileCheck %s
//
// RUN: girih run %s --kernel persistent --device sim --check-memory --arg A=randn:bf16[3,72,136] --arg B=randn:bf16[3,136,40] --arg C=poison:bf16[3,72,40] | FileCheck %s
// RUN: girih run %s --kernel persistent --device sim --check-memory --arg A=randn:bf16[2,66,67] --arg B=randn:bf16[2,67,33] --arg C=poison:bf16[2,66,33] | FileCheck %s
// CHECK: right: C:
//
// RUN: girih compile %s -o %t.ptx 2> %t.remarks
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: FileCheck %s --check-prefix=REMARKS --allow-empty < %t.remarks
// PTX-LABEL: .entry reshaped(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.3d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// PTX-LABEL: .entry heads(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.3d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16
// PTX-DAG: st.global.v4.b32
// PTX-LABEL: .entry updates(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.4d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// PTX-DAG: ld.global.v4.b32
// PTX-DAG: st.global.v4.b32
// PTX-LABEL: .entry persistent(
// PTX-DAG: setmaxnreg.dec
// PTX-DAG: cp.async.bulk.tensor.3d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// PTX-DAG: st.global.v4.b32
// PTX-NOT: mma.sync.
// REMARKS-NOT: remark
//
// By mma.sync, operands go ahead of the loop in groups.
// RUN: girih compile %s --target sm_80 -o %t.80.ptx 2> %t.remarks
// RUN: FileCheck %s --check-prefix=SYNC < %t.80.ptx
// RUN: FileCheck %s --check-prefix=REMARKS-80 --allow-empty < %t.remarks
// SYNC-LABEL: .entry reshaped(
// SYNC-DAG: cp.async.cg.shared.global
// SYNC-DAG: ldmatrix.sync
// SYNC-DAG: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16
// SYNC-LABEL: .entry heads(
// SYNC-DAG: cp.async.cg.shared.global
// SYNC-DAG: ldmatrix.sync
// SYNC-DAG: mma.sync.aligned.m16n8k16.row.col.f16.f16.f16
// SYNC-LABEL: .entry updates(
// SYNC-DAG: cp.async.cg.shared.global
// SYNC-DAG: ldmatrix.sync
// SYNC-DAG: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16
// SYNC-LABEL: .entry persistent(
// SYNC-DAG: cp.async.cg.shared.global
// SYNC-DAG: ldmatrix.sync
// SYNC-DAG: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16
// REMARKS-80-NOT: goes through registers
// REMARKS-80-NOT: element by element
// RUN: girih run %s --target sm_80 --kernel reshaped --device sim --check-memory --arg A=randn:bf16[3,72,136] --arg B=randn:bf16[3,136,70] --arg C=poison:f32[3,72,70] | FileCheck %s
// RUN: girih run %s --target sm_80 --kernel reshaped --device sim --check-memory --arg A=randn:bf16[3,33,67] --arg B=randn:bf16[3,67,65] --arg C=poison:f32[3,33,65] | FileCheck %s
// RUN: girih run %s --target sm_80 --kernel heads --device sim --check-memory --arg A=randn:f16[65,2,36] --arg B=randn:f16[33,2,36] --arg C=poison:f16[65,2,33] | FileCheck %s
// RUN: girih run %s --target sm_80 --kernel updates --device sim --check-memory --arg A=randn:bf16[2,2,72,136] --arg B=randn:bf16[2,2,136,64] --arg C=randn:bf16[2,2,72,64] | FileCheck %s
// RUN: girih run %s --target sm_80 --kernel persistent --device sim --check-memory --arg A=randn:bf16[2,66,67] --arg B=randn:bf16[2,67,33] --arg C=poison:bf16[2,66,33] | FileCheck %s

!a = memref<?x?x?xbf16, strided<[?, ?, 1]>, #tile.global>
!b = memref<?x?x?xbf16, strided<[?, 1, ?]>, #tile.global>
!c = memref<?x?x?xf32, strided<[?, ?, 1]>, #tile.global>
!heads = memref<?x?x?xf16, strided<[?, ?, 1]>, #tile.global>
!head = memref<?x?xf16, strided<[?, 1], offset: ?>, #tile.global>
!a4 = memref<?x?x?x?xbf16, strided<[?, ?, ?, 1]>, #tile.global>
!b4 = memref<?x?x?x?xbf16, strided<[?, ?, 1, ?]>, #tile.global>

// Tiles of three axes, the first of size 1.
tile.kernel @reshaped(%A: !a, %B: !b, %C: !c) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %batch = memref.dim %C, %c0 : !c
  %M = memref.dim %C, %c1 : !c
  %N = memref.dim %C, %c2 : !c
  %tiles_m = arith.ceildivui %M, %c64 : index
  %tiles_n = arith.ceildivui %N, %c64 : index
  tile.grid %tiles_m, %tiles_n, %batch
} body {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %x = tile.block_id x
  %y = tile.block_id y
  %batch = tile.block_id z
  %row = arith.muli %x, %c64 : index
  %col = arith.muli %y, %c64 : index
  %K = memref.dim %A, %c2 : !a
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %a1 = tile.load %A[%batch, %row, %k] : !a -> tensor<1x64x64xbf16>
    %b1 = tile.load %B[%batch, %k, %col] : !b -> tensor<1x64x64xbf16>
    %a = tile.reshape %a1 : tensor<1x64x64xbf16> -> tensor<64x64xbf16>
    %b = tile.reshape %b1 : tensor<1x64x64xbf16> -> tensor<64x64xbf16>
    %next = tile.mma %a, %b, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %out = tile.expand_dims %sum axis 0 : tensor<64x64xf32> -> tensor<1x64x64xf32>
  tile.store %out, %C[%batch, %row, %col] : tensor<1x64x64xf32>, !c
}

func.func @reshaped_ref(%A: memref<?x?x?xbf16, strided<[?, ?, 1]>>, %B: memref<?x?x?xbf16, strided<[?, 1, ?]>>, %C: memref<?x?x?xf32, strided<[?, ?, 1]>>) attributes {girih.measure = "product"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?x?xf32, strided<[?, ?, 1]>>)
  linalg.batch_matmul ins(%A, %B : memref<?x?x?xbf16, strided<[?, ?, 1]>>, memref<?x?x?xbf16, strided<[?, 1, ?]>>) outs(%C : memref<?x?x?xf32, strided<[?, ?, 1]>>)
  return
}

func.func @fewer_ref(%A: memref<?x?x?xbf16, strided<[?, ?, 1]>>, %B: memref<?x?x?xbf16, strided<[?, 1, ?]>>, %C: memref<?x?x?xf32, strided<[?, ?, 1]>>) attributes {girih.measure = "product"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?x?xf32, strided<[?, ?, 1]>>)
  %of_A = memref.dim %A, %c0 : memref<?x?x?xbf16, strided<[?, ?, 1]>>
  %of_B = memref.dim %B, %c0 : memref<?x?x?xbf16, strided<[?, 1, ?]>>
  %both = arith.minui %of_A, %of_B : index
  %M = memref.dim %C, %c1 : memref<?x?x?xf32, strided<[?, ?, 1]>>
  %N = memref.dim %C, %c2 : memref<?x?x?xf32, strided<[?, ?, 1]>>
  %K = memref.dim %A, %c2 : memref<?x?x?xbf16, strided<[?, ?, 1]>>
  scf.for %b = %c0 to %both step %c1 {
    scf.for %i = %c0 to %M step %c1 {
      scf.for %j = %c0 to %N step %c1 {
        %sum = scf.for %k = %c0 to %K step %c1 iter_args(%t = %zero) -> f32 {
          %x = memref.load %A[%b, %i, %k] : memref<?x?x?xbf16, strided<[?, ?, 1]>>
          %y = memref.load %B[%b, %k, %j] : memref<?x?x?xbf16, strided<[?, 1, ?]>>
          %xw = arith.extf %x : bf16 to f32
          %yw = arith.extf %y : bf16 to f32
          %s = math.fma %xw, %yw, %t : f32
          scf.yield %s : f32
        }
        memref.store %sum, %C[%b, %i, %j] : memref<?x?x?xf32, strided<[?, ?, 1]>>
      }
    }
  }
  return
}

// Matrices of heads, which lie in the middle, as views: C = A B^T in f16. The K of A is taken for B, too, which is asked.
tile.kernel @heads(%A: !heads, %B: !heads, %C: !heads) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %M = memref.dim %C, %c0 : !heads
  %heads = memref.dim %C, %c1 : !heads
  %N = memref.dim %C, %c2 : !heads
  %tiles_m = arith.ceildivui %M, %c64 : index
  %tiles_n = arith.ceildivui %N, %c64 : index
  tile.grid %tiles_m, %tiles_n, %heads
} body {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %x = tile.block_id x
  %y = tile.block_id y
  %head = tile.block_id z
  %row = arith.muli %x, %c64 : index
  %col = arith.muli %y, %c64 : index
  %M = memref.dim %A, %c0 : !heads
  %N = memref.dim %B, %c0 : !heads
  %K = memref.dim %A, %c2 : !heads
  %out_M = memref.dim %C, %c0 : !heads
  %out_N = memref.dim %C, %c2 : !heads
  %a_of = memref.subview %A[0, %head, 0] [%M, 1, %K] [1, 1, 1] : !heads to !head
  %b_of = memref.subview %B[0, %head, 0] [%N, 1, %K] [1, 1, 1] : !heads to !head
  %c_of = memref.subview %C[0, %head, 0] [%out_M, 1, %out_N] [1, 1, 1] : !heads to !head
  %zero = arith.constant dense<0.0> : tensor<64x64xf16>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf16>) {
    %a = tile.load %a_of[%row, %k] : !head -> tensor<64x64xf16>
    %b_t = tile.load %b_of[%col, %k] : !head -> tensor<64x64xf16>
    %b = tile.transpose %b_t order [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %next = tile.mma %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>
    scf.yield %next : tensor<64x64xf16>
  }
  tile.store %sum, %c_of[%row, %col] : tensor<64x64xf16>, !head
}

func.func @heads_ref(%A: memref<?x?x?xf16, strided<[?, ?, 1]>>, %B: memref<?x?x?xf16, strided<[?, ?, 1]>>, %C: memref<?x?x?xf16, strided<[?, ?, 1]>>) attributes {girih.measure = "product", girih.tol = 2.0e-3 : f64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f16
  %M = memref.dim %C, %c0 : memref<?x?x?xf16, strided<[?, ?, 1]>>
  %heads = memref.dim %C, %c1 : memref<?x?x?xf16, strided<[?, ?, 1]>>
  %N = memref.dim %C, %c2 : memref<?x?x?xf16, strided<[?, ?, 1]>>
  %K = memref.dim %A, %c2 : memref<?x?x?xf16, strided<[?, ?, 1]>>
  scf.for %h = %c0 to %heads step %c1 {
    scf.for %i = %c0 to %M step %c1 {
      scf.for %j = %c0 to %N step %c1 {
        %sum = scf.for %k = %c0 to %K step %c1 iter_args(%t = %zero) -> f16 {
          %a = memref.load %A[%i, %h, %k] : memref<?x?x?xf16, strided<[?, ?, 1]>>
          %b = memref.load %B[%j, %h, %k] : memref<?x?x?xf16, strided<[?, ?, 1]>>
          %p = arith.mulf %a, %b : f16
          %s = arith.addf %t, %p : f16
          scf.yield %s : f16
        }
        memref.store %sum, %C[%i, %h, %j] : memref<?x?x?xf16, strided<[?, ?, 1]>>
      }
    }
  }
  return
}

// C += A B in place, of matrices that two dimensions count.
tile.kernel @updates(%A: !a4, %B: !b4, %C: !a4) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %batch = memref.dim %C, %c0 : !a4
  %heads = memref.dim %C, %c1 : !a4
  %M = memref.dim %C, %c2 : !a4
  %tiles = arith.ceildivui %M, %c64 : index
  tile.grid %tiles, %heads, %batch
} body {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %block = tile.block_id x
  %head = tile.block_id y
  %batch = tile.block_id z
  %row = arith.muli %block, %c64 : index
  %K = memref.dim %A, %c3 : !a4
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %a1 = tile.load %A[%batch, %head, %row, %k] : !a4 -> tensor<1x1x64x64xbf16>
    %b1 = tile.load %B[%batch, %head, %k, %c0] : !b4 -> tensor<1x1x64x64xbf16>
    %a = tile.reshape %a1 : tensor<1x1x64x64xbf16> -> tensor<64x64xbf16>
    %b = tile.reshape %b1 : tensor<1x1x64x64xbf16> -> tensor<64x64xbf16>
    %next = tile.mma %a, %b, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %old1 = tile.load %C[%batch, %head, %row, %c0] : !a4 -> tensor<1x1x64x64xbf16>
  %old = tile.reshape %old1 : tensor<1x1x64x64xbf16> -> tensor<64x64xbf16>
  %wide = arith.extf %old : tensor<64x64xbf16> to tensor<64x64xf32>
  %all = arith.addf %wide, %sum : tensor<64x64xf32>
  %out = arith.truncf %all : tensor<64x64xf32> to tensor<64x64xbf16>
  %out1 = tile.reshape %out : tensor<64x64xbf16> -> tensor<1x1x64x64xbf16>
  tile.store %out1, %C[%batch, %head, %row, %c0] : tensor<1x1x64x64xbf16>, !a4
}

func.func @updates_ref(%A: memref<?x?x?x?xbf16, strided<[?, ?, ?, 1]>>, %B: memref<?x?x?x?xbf16, strided<[?, ?, 1, ?]>>, %C: memref<?x?x?x?xbf16, strided<[?, ?, ?, 1]>>) attributes {girih.measure = "product"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %batch = memref.dim %C, %c0 : memref<?x?x?x?xbf16, strided<[?, ?, ?, 1]>>
  %heads = memref.dim %C, %c1 : memref<?x?x?x?xbf16, strided<[?, ?, ?, 1]>>
  %M = memref.dim %C, %c2 : memref<?x?x?x?xbf16, strided<[?, ?, ?, 1]>>
  %N = memref.dim %C, %c3 : memref<?x?x?x?xbf16, strided<[?, ?, ?, 1]>>
  %K = memref.dim %A, %c3 : memref<?x?x?x?xbf16, strided<[?, ?, ?, 1]>>
  scf.for %g = %c0 to %batch step %c1 {
    scf.for %h = %c0 to %heads step %c1 {
      scf.for %i = %c0 to %M step %c1 {
        scf.for %j = %c0 to %N step %c1 {
          %sum = scf.for %k = %c0 to %K step %c1 iter_args(%t = %zero) -> f32 {
            %a = memref.load %A[%g, %h, %i, %k] : memref<?x?x?x?xbf16, strided<[?, ?, ?, 1]>>
            %b = memref.load %B[%g, %h, %k, %j] : memref<?x?x?x?xbf16, strided<[?, ?, 1, ?]>>
            %aw = arith.extf %a : bf16 to f32
            %bw = arith.extf %b : bf16 to f32
            %s = math.fma %aw, %bw, %t : f32
            scf.yield %s : f32
          }
          %old = memref.load %C[%g, %h, %i, %j] : memref<?x?x?x?xbf16, strided<[?, ?, ?, 1]>>
          %wide = arith.extf %old : bf16 to f32
          %all = arith.addf %wide, %sum : f32
          %out = arith.truncf %all : f32 to bf16
          memref.store %out, %C[%g, %h, %i, %j] : memref<?x?x?x?xbf16, strided<[?, ?, ?, 1]>>
        }
      }
    }
  }
  return
}

// One block makes all products: what is asked is asked before all of them.
tile.kernel @persistent(%A: !a, %B: !b, %C: !a) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %batch = memref.dim %A, %c0 : !a
  %M = memref.dim %A, %c1 : !a
  %K = memref.dim %A, %c2 : !a
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  scf.for %n = %c0 to %batch step %c1 {
    scf.for %row = %c0 to %M step %c64 {
      %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
        %a1 = tile.load %A[%n, %row, %k] : !a -> tensor<1x64x64xbf16>
        %b1 = tile.load %B[%n, %k, %c0] : !b -> tensor<1x64x64xbf16>
        %a = tile.reshape %a1 : tensor<1x64x64xbf16> -> tensor<64x64xbf16>
        %b = tile.reshape %b1 : tensor<1x64x64xbf16> -> tensor<64x64xbf16>
        %next = tile.mma %a, %b, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
        scf.yield %next : tensor<64x64xf32>
      }
      %out = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
      %out1 = tile.reshape %out : tensor<64x64xbf16> -> tensor<1x64x64xbf16>
      tile.store %out1, %C[%n, %row, %c0] : tensor<1x64x64xbf16>, !a
    }
  }
}

func.func @persistent_ref(%A: memref<?x?x?xbf16, strided<[?, ?, 1]>>, %B: memref<?x?x?xbf16, strided<[?, 1, ?]>>, %C: memref<?x?x?xbf16, strided<[?, ?, 1]>>) attributes {girih.measure = "product"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %batch = memref.dim %C, %c0 : memref<?x?x?xbf16, strided<[?, ?, 1]>>
  %M = memref.dim %C, %c1 : memref<?x?x?xbf16, strided<[?, ?, 1]>>
  %N = memref.dim %C, %c2 : memref<?x?x?xbf16, strided<[?, ?, 1]>>
  %sum = memref.alloc(%batch, %M, %N) : memref<?x?x?xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<?x?x?xf32>)
  linalg.batch_matmul ins(%A, %B : memref<?x?x?xbf16, strided<[?, ?, 1]>>, memref<?x?x?xbf16, strided<[?, 1, ?]>>) outs(%sum : memref<?x?x?xf32>)
  linalg.map ins(%sum : memref<?x?x?xf32>) outs(%C : memref<?x?x?xbf16, strided<[?, ?, 1]>>) (%s: f32, %old: bf16) {
    %r = arith.truncf %s : f32 to bf16
    linalg.yield %r : bf16
  }
  memref.dealloc %sum : memref<?x?x?xf32>
  return
}
