// Products of the tensor cores: in the form that is printed, the generic one and bytecode.
// RUN: girih-opt %s | FileCheck %s
// RUN: girih-opt %s --mlir-print-op-generic | girih-opt | FileCheck %s
// RUN: girih-opt %s --emit-bytecode | girih-opt | FileCheck %s

!d = tensor<64x128xf32, #tile.layout<wgmma_d>>
!flight = !tile.in_flight<tensor<64x128xf32, #tile.layout<wgmma_d>>>

// CHECK-LABEL: @chain
// CHECK-SAME: %[[A:.*]]: memref<64x64xbf16, #tile.shared<swizzle = 128>>, %[[B:.*]]: memref<128x64xbf16, #tile.shared<swizzle = 128>>, %[[ACC:.*]]: tensor
func.func private @chain(%a: memref<64x64xbf16, #tile.shared<swizzle = 128>>, %b: memref<128x64xbf16, #tile.shared<swizzle = 128>>, %acc: !d) -> !d {
  // CHECK-NEXT: tile.wgmma.fence
  tile.wgmma.fence
  // CHECK-NEXT: %[[F:.*]] = tile.wgmma %[[A]], %[[B]], %[[ACC]] : memref<64x64xbf16, #tile.shared<swizzle = 128>>, memref<128x64xbf16, #tile.shared<swizzle = 128>>, tensor<64x128xf32, #tile.layout<wgmma_d>>
  %f = tile.wgmma %a, %b, %acc : memref<64x64xbf16, #tile.shared<swizzle = 128>>, memref<128x64xbf16, #tile.shared<swizzle = 128>>, !d
  // CHECK-NEXT: %[[G:.*]] = tile.wgmma %[[A]], %[[B]], %[[F]] : memref<64x64xbf16, #tile.shared<swizzle = 128>>, memref<128x64xbf16, #tile.shared<swizzle = 128>>, !tile.in_flight<tensor<64x128xf32, #tile.layout<wgmma_d>>>
  %g = tile.wgmma %a, %b, %f : memref<64x64xbf16, #tile.shared<swizzle = 128>>, memref<128x64xbf16, #tile.shared<swizzle = 128>>, !flight
  // CHECK-NEXT: tile.wgmma.commit
  tile.wgmma.commit
  // CHECK-NEXT: %[[H:.*]] = tile.wgmma.wait 1 %[[G]] : !tile.in_flight<tensor<64x128xf32, #tile.layout<wgmma_d>>> -> !tile.in_flight<tensor<64x128xf32, #tile.layout<wgmma_d>>>
  %h = tile.wgmma.wait 1 %g : !flight -> !flight
  // CHECK-NEXT: %[[R:.*]] = tile.wgmma.wait 0 %[[H]] : !tile.in_flight<tensor<64x128xf32, #tile.layout<wgmma_d>>> -> tensor<64x128xf32, #tile.layout<wgmma_d>>
  %r = tile.wgmma.wait 0 %h : !flight -> !d
  // CHECK-NEXT: tile.wgmma.wait 0
  tile.wgmma.wait 0
  return %r : !d
}

// CHECK-LABEL: @kinds
func.func private @kinds(
    %a16: memref<64x64xf16, #tile.shared<swizzle = 128>>, %b16: memref<64x128xf16, #tile.shared<swizzle = 128>>,
    %bmn: memref<2x64x64xf16, #tile.shared<swizzle = 128>>, %amn: memref<64x64xf16, #tile.shared<swizzle = 128>>,
    %a8: memref<64x128xi8, #tile.shared<swizzle = 128>>, %b8: memref<8x128xi8, #tile.shared<swizzle = 128>>,
    %e4: memref<64x64xf8E4M3FN, #tile.shared<swizzle = 64>>, %e5: memref<16x64xf8E5M2, #tile.shared<swizzle = 64>>,
    %a32: memref<64x32xf32, #tile.shared<swizzle = 128>>, %b32: memref<256x32xf32, #tile.shared<swizzle = 128>>,
    %regs: tensor<64x64xf16, #tile.layout<wgmma_a>>,
    %d: tensor<64x128xf32, #tile.layout<wgmma_d>>, %i: tensor<64x8xi32, #tile.layout<wgmma_d>>,
    %h: tensor<64x16xf16, #tile.layout<wgmma_d>>, %w: tensor<64x256xf32, #tile.layout<wgmma_d>>) {
  // CHECK: tile.wgmma %{{.*}}, %{{.*}}, %{{.*}} {a_major = "mn", b_major = "mn"} : memref<64x64xf16
  %0 = tile.wgmma %amn, %bmn, %d {a_major = "mn", b_major = "mn"} : memref<64x64xf16, #tile.shared<swizzle = 128>>, memref<2x64x64xf16, #tile.shared<swizzle = 128>>, tensor<64x128xf32, #tile.layout<wgmma_d>>
  // CHECK: tile.wgmma %{{.*}}, %{{.*}}, %{{.*}} {unsigned_b} : memref<64x128xi8
  %1 = tile.wgmma %a8, %b8, %i {unsigned_b} : memref<64x128xi8, #tile.shared<swizzle = 128>>, memref<8x128xi8, #tile.shared<swizzle = 128>>, tensor<64x8xi32, #tile.layout<wgmma_d>>
  // CHECK: tile.wgmma %{{.*}}, %{{.*}}, %{{.*}} : memref<64x64xf8E4M3FN, #tile.shared<swizzle = 64>>, memref<16x64xf8E5M2
  %2 = tile.wgmma %e4, %e5, %h : memref<64x64xf8E4M3FN, #tile.shared<swizzle = 64>>, memref<16x64xf8E5M2, #tile.shared<swizzle = 64>>, tensor<64x16xf16, #tile.layout<wgmma_d>>
  // CHECK: tile.wgmma %{{.*}}, %{{.*}}, %{{.*}} : memref<64x32xf32, #tile.shared<swizzle = 128>>, memref<256x32xf32
  %3 = tile.wgmma %a32, %b32, %w : memref<64x32xf32, #tile.shared<swizzle = 128>>, memref<256x32xf32, #tile.shared<swizzle = 128>>, tensor<64x256xf32, #tile.layout<wgmma_d>>
  // CHECK: tile.wgmma %{{.*}}, %{{.*}}, %{{.*}} {b_major = "mn"} : tensor<64x64xf16, #tile.layout<wgmma_a>>, memref<2x64x64xf16
  %4 = tile.wgmma %regs, %bmn, %d {b_major = "mn"} : tensor<64x64xf16, #tile.layout<wgmma_a>>, memref<2x64x64xf16, #tile.shared<swizzle = 128>>, tensor<64x128xf32, #tile.layout<wgmma_d>>
  return
}
