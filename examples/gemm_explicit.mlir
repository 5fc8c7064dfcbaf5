// C = A B in bf16, accumulated in f32, on the tensor cores of Hopper, with every instruction in sight.
//
// A block computes 128 x 256 elements of C. One warpgroup produces: one of its threads copies tiles of A and B into a ring
// of four slots in shared memory (TMA, 128-byte swizzle). Two warpgroups consume: each multiplies 64 rows (wgmma) and keeps
// 64 x 256 sums in registers. Two rings of mbarriers keep them apart: `full` says that a slot's bytes have come, `empty`
// that both consumers have read them. Tiles past the edges read as zero, and what falls outside C is not stored.
//
//   girih run examples/gemm_explicit.mlir --arg A=randn:bf16[512,256] --arg B=randn:bf16[256,384] --arg C=poison:bf16[512,384]
//
// Sizes that no tile divides, one block only, and no K at all, whose product is zero:
// RUN: girih run %s --device sim --arg A=randn:bf16[150,136] --arg B=randn:bf16[136,261] --arg C=poison:bf16[150,261] | FileCheck %s
// RUN: girih run %s --device sim --arg A=randn:bf16[1,16] --arg B=randn:bf16[16,1] --arg C=poison:bf16[1,1] | FileCheck %s
// RUN: girih run %s --device sim --arg A=zeros:bf16[4,0] --arg B=zeros:bf16[0,4] --arg C=poison:bf16[4,4] | FileCheck %s --check-prefix=ZERO
// Six steps through four slots, with every access checked:
// RUN: girih run %s --check-memory --device sim --arg A=randn:bf16[150,384] --arg B=randn:bf16[384,64] --arg C=poison:bf16[150,64] | FileCheck %s --check-prefix=CHECKED
// CHECKED: right: C:
// CHECKED: checked memory, barriers and waits: no findings
// CHECK: gemm: ran on
// CHECK-NEXT: right: C:
// ZERO: right: C: all 16 elements are exact

module attributes {tile.target = "sm_90a"} {

tile.kernel @gemm(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>,
                  %B: memref<?x?xbf16, strided<[1, ?]>, #tile.global>,
                  %C: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) threads(384) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %M = memref.dim %C, %c0 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %N = memref.dim %C, %c1 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %tiles_m = arith.ceildivui %M, %c128 : index
  %tiles_n = arith.ceildivui %N, %c256 : index
  %blocks = arith.muli %tiles_m, %tiles_n : index
  // The dimension that is contiguous in B comes last.
  %Bt = memref.transpose %B (k, n) -> (n, k) : memref<?x?xbf16, strided<[1, ?]>, #tile.global> to memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %map_a = tile.tensor_map %A : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<128x64xbf16, swizzle = 128>
  %map_b = tile.tensor_map %Bt : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<256x64xbf16, swizzle = 128>
  tile.grid %blocks, %c1, %c1 args(%map_a, %map_b : !tile.tensor_map<128x64xbf16, swizzle = 128>, !tile.tensor_map<256x64xbf16, swizzle = 128>)
} body args(%map_a: !tile.tensor_map<128x64xbf16, swizzle = 128>, %map_b: !tile.tensor_map<256x64xbf16, swizzle = 128>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index

  // Which tile: eight tile rows at a time, so that blocks that run together share tiles of A and B in L2.
  %M = memref.dim %C, %c0 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %N = memref.dim %C, %c1 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %K = memref.dim %A, %c1 : memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  %tiles_m = arith.ceildivui %M, %c128 : index
  %tiles_n = arith.ceildivui %N, %c256 : index
  %block = tile.block_id x
  %group_blocks = arith.muli %tiles_n, %c8 : index
  %group = arith.divui %block, %group_blocks : index
  %in_group = arith.remui %block, %group_blocks : index
  %group_row = arith.muli %group, %c8 : index
  %rows_left = arith.subi %tiles_m, %group_row : index
  %group_rows = arith.minui %rows_left, %c8 : index
  %tile_row = arith.remui %in_group, %group_rows : index
  %tile_col = arith.divui %in_group, %group_rows : index
  %tile_m = arith.addi %group_row, %tile_row : index
  %row = arith.muli %tile_m, %c128 : index
  %col = arith.muli %tile_col, %c256 : index
  %steps = arith.ceildivui %K, %c64 : index

  %ring_a = tile.alloc : memref<4x2x64x64xbf16, #tile.shared<swizzle = 128>>
  %ring_b = tile.alloc : memref<4x256x64xbf16, #tile.shared<swizzle = 128>>
  %full = tile.alloc : memref<4x!tile.mbarrier, #tile.shared>
  %empty = tile.alloc : memref<4x!tile.mbarrier, #tile.shared>

  %thread = tile.thread_id
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    %one = arith.constant 1 : i32
    %consumer_warps = arith.constant 8 : i32
    scf.for %slot = %c0 to %c4 step %c1 {
      tile.mbarrier.init %full[%slot], %one : memref<4x!tile.mbarrier, #tile.shared>
      tile.mbarrier.init %empty[%slot], %consumer_warps : memref<4x!tile.mbarrier, #tile.shared>
    }
  }
  tile.barrier
  %warp = tile.warp_id

  tile.warp_specialize
  role producer(%t) warps(4) registers(40) {
    %first_warp = arith.cmpi eq, %warp, %c0 : index
    scf.if %first_warp {
      %elected = tile.elect
      scf.if %elected {
        %bytes = arith.constant 49152 : i32
        scf.for %step = %c0 to %steps step %c1 {
          %slot = arith.remui %step, %c4 : index
          %round = arith.divui %step, %c4 : index
          %odd = arith.remui %round, %c2 : index
          // The first round finds the slots empty: parity true passes on a fresh barrier.
          %parity = arith.cmpi eq, %odd, %c0 : index
          tile.mbarrier.wait %empty[%slot], %parity : memref<4x!tile.mbarrier, #tile.shared>
          tile.mbarrier.arrive_expect_tx %full[%slot], %bytes : memref<4x!tile.mbarrier, #tile.shared>
          %k = arith.muli %step, %c64 : index
          %a = tile.slab %ring_a[%slot] : memref<4x2x64x64xbf16, #tile.shared<swizzle = 128>> -> memref<2x64x64xbf16, #tile.shared<swizzle = 128>>
          %b = tile.slab %ring_b[%slot] : memref<4x256x64xbf16, #tile.shared<swizzle = 128>> -> memref<256x64xbf16, #tile.shared<swizzle = 128>>
          tile.tma.load %map_a[%row, %k], %a, %full[%slot] : !tile.tensor_map<128x64xbf16, swizzle = 128>, memref<2x64x64xbf16, #tile.shared<swizzle = 128>>, memref<4x!tile.mbarrier, #tile.shared>
          tile.tma.load %map_b[%col, %k], %b, %full[%slot] : !tile.tensor_map<256x64xbf16, swizzle = 128>, memref<256x64xbf16, #tile.shared<swizzle = 128>>, memref<4x!tile.mbarrier, #tile.shared>
        }
      }
    }
  } role consumer(%t) warps(8) registers(232) {
    %consumer_warp = arith.subi %warp, %c4 : index
    %half = arith.divui %consumer_warp, %c4 : index
    %zero = arith.constant dense<0.0> : tensor<64x256xf32, #tile.layout<wgmma_d>>
    %sum = scf.for %step = %c0 to %steps step %c1 iter_args(%acc = %zero) -> (tensor<64x256xf32, #tile.layout<wgmma_d>>) {
      %slot = arith.remui %step, %c4 : index
      %round = arith.divui %step, %c4 : index
      %odd = arith.remui %round, %c2 : index
      %parity = arith.cmpi ne, %odd, %c0 : index
      tile.mbarrier.wait %full[%slot], %parity : memref<4x!tile.mbarrier, #tile.shared>
      %a = tile.slab %ring_a[%slot, %half] : memref<4x2x64x64xbf16, #tile.shared<swizzle = 128>> -> memref<64x64xbf16, #tile.shared<swizzle = 128>>
      %b = tile.slab %ring_b[%slot] : memref<4x256x64xbf16, #tile.shared<swizzle = 128>> -> memref<256x64xbf16, #tile.shared<swizzle = 128>>
      tile.wgmma.fence
      %flying = tile.wgmma %a, %b, %acc : memref<64x64xbf16, #tile.shared<swizzle = 128>>, memref<256x64xbf16, #tile.shared<swizzle = 128>>, tensor<64x256xf32, #tile.layout<wgmma_d>>
      tile.wgmma.commit
      %done = tile.wgmma.wait 0 %flying : !tile.in_flight<tensor<64x256xf32, #tile.layout<wgmma_d>>> -> tensor<64x256xf32, #tile.layout<wgmma_d>>
      %elected = tile.elect
      scf.if %elected {
        tile.mbarrier.arrive %empty[%slot] : memref<4x!tile.mbarrier, #tile.shared>
      }
      scf.yield %done : tensor<64x256xf32, #tile.layout<wgmma_d>>
    }
    %half_rows = arith.muli %half, %c64 : index
    %out_row = arith.addi %row, %half_rows : index
    %out = arith.truncf %sum : tensor<64x256xf32, #tile.layout<wgmma_d>> to tensor<64x256xbf16, #tile.layout<wgmma_d>>
    tile.store %out, %C[%out_row, %col] : tensor<64x256xbf16, #tile.layout<wgmma_d>>, memref<?x?xbf16, strided<[?, 1]>, #tile.global>
  }
}

// The specification: sums in f32, rounded once. An error is right if it is small against |A| |B|.
func.func @gemm_ref(%A: memref<?x?xbf16, strided<[?, 1]>>, %B: memref<?x?xbf16, strided<[1, ?]>>, %C: memref<?x?xbf16, strided<[?, 1]>>) attributes {girih.measure = "product"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %M = memref.dim %C, %c0 : memref<?x?xbf16, strided<[?, 1]>>
  %N = memref.dim %C, %c1 : memref<?x?xbf16, strided<[?, 1]>>
  %sum = memref.alloc(%M, %N) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<?x?xf32>)
  linalg.matmul ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>>, memref<?x?xbf16, strided<[1, ?]>>) outs(%sum : memref<?x?xf32>)
  linalg.map ins(%sum : memref<?x?xf32>) outs(%C : memref<?x?xbf16, strided<[?, 1]>>) (%s: f32, %old: bf16) {
    %r = arith.truncf %s : f32 to bf16
    linalg.yield %r : bf16
  }
  memref.dealloc %sum : memref<?x?xf32>
  return
}

}
