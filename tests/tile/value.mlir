// RUN: girih-opt %s | girih-opt | FileCheck %s

// CHECK-LABEL: func.func private @values
func.func private @values(%x: f32) {
  // CHECK: tile.splat %{{.*}} : f32 -> tensor<64x128xf32>
  %a = tile.splat %x : f32 -> tensor<64x128xf32>
  // CHECK: tile.iota axis 1 : tensor<64x128xi32>
  %b = tile.iota axis 1 : tensor<64x128xi32>
  // CHECK: tile.iota axis 0 : tensor<32xi64, #tile.sliced<axis = 1, of = #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [4, 1]>>>
  %c = tile.iota axis 0 : tensor<32xi64, #tile.sliced<axis = 1, of = #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [4, 1]>>>
  // CHECK: tile.convert_layout
  // CHECK-SAME: tensor<4x8xi32, #tile.linear<register = [], lane = [{{\[}}0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [{{\[}}0, 0], [0, 0]]>>
  %d = tile.iota axis 0 : tensor<4x8xi32, #tile.blocked<per_thread = [1, 1], lanes = [4, 8], warps = [4, 1]>>
  %e = tile.convert_layout %d : tensor<4x8xi32, #tile.blocked<per_thread = [1, 1], lanes = [4, 8], warps = [4, 1]>> -> tensor<4x8xi32, #tile.linear<register = [], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [[0, 0], [0, 0]]>>
  // CHECK: tile.cvt %{{.*}} rn satfinite : tensor<64x128xf32> to tensor<64x128xf8E4M3FN>
  %narrow = tile.cvt %a rn satfinite : tensor<64x128xf32> to tensor<64x128xf8E4M3FN>
  // CHECK: tile.cvt %{{.*}} rm : f32 to bf16
  %down = tile.cvt %x rm : f32 to bf16
  // CHECK: tile.iota axis 0 : tensor<16xindex>
  %count = tile.iota axis 0 : tensor<16xindex>
  // CHECK: tile.opaque %{{.*}} : tensor<64x128xf32> -> tensor<64x128xf32>
  %hidden = tile.opaque %a : tensor<64x128xf32> -> tensor<64x128xf32>
  // CHECK: tensor<64x64xi32, #tile.blocked<per_thread = [8, 1], lanes = [8, 4], warps = [1, 4], order = [0, 1]>>
  %f = tile.iota axis 0 : tensor<64x64xi32, #tile.blocked<per_thread = [8, 1], lanes = [8, 4], warps = [1, 4], order = [0, 1]>>
  // CHECK: %[[SUM:.*]] = tile.reduce %{{.*}} axis 1 (%{{.*}}: f32, %{{.*}}: f32) {
  // CHECK: tile.yield %{{.*}} : f32
  // CHECK: } : tensor<64x128xf32> -> tensor<64xf32>
  %sum = tile.reduce %a axis 1 (%p: f32, %q: f32) {
    %s = arith.addf %p, %q : f32
    tile.yield %s : f32
  } : tensor<64x128xf32> -> tensor<64xf32>
  // CHECK: tile.reduce %{{.*}}, %{{.*}} axis 0 (%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: f32, %{{.*}}: i32) {
  // CHECK: } : tensor<64x128xf32>, tensor<64x128xi32> -> tensor<128xf32>, tensor<128xi32>
  %max, %where = tile.reduce %a, %b axis 0 (%p: f32, %i: i32, %q: f32, %j: i32) {
    %larger = arith.cmpf ogt, %p, %q : f32
    %m = arith.select %larger, %p, %q : f32
    %w = arith.select %larger, %i, %j : i32
    tile.yield %m, %w : f32, i32
  } : tensor<64x128xf32>, tensor<64x128xi32> -> tensor<128xf32>, tensor<128xi32>
  // CHECK: tile.expand_dims %[[SUM]] axis 1 : tensor<64xf32> -> tensor<64x1xf32>
  %column = tile.expand_dims %sum axis 1 : tensor<64xf32> -> tensor<64x1xf32>
  // CHECK: tile.broadcast %{{.*}} : tensor<64x1xf32> -> tensor<64x128xf32>
  %columns = tile.broadcast %column : tensor<64x1xf32> -> tensor<64x128xf32>
  // CHECK: tile.transpose %{{.*}} order [1, 0] : tensor<64x128xf32> -> tensor<128x64xf32>
  %turned = tile.transpose %columns order [1, 0] : tensor<64x128xf32> -> tensor<128x64xf32>
  // CHECK: tile.reshape %{{.*}} : tensor<128x64xf32> -> tensor<8192xf32>
  %list = tile.reshape %turned : tensor<128x64xf32> -> tensor<8192xf32>
  // CHECK: tile.bitcast %{{.*}} : tensor<64x128xi32> -> tensor<64x512xi8>
  %bytes = tile.bitcast %b : tensor<64x128xi32> -> tensor<64x512xi8>
  // CHECK: tile.bitcast %{{.*}} : tensor<64x512xi8> -> tensor<512x512xi1>
  %truths = tile.bitcast %bytes : tensor<64x512xi8> -> tensor<512x512xi1>
  // CHECK: tile.bitcast %{{.*}} : tensor<64x512xi8> -> tensor<16x512xf32>
  %floats = tile.bitcast %bytes : tensor<64x512xi8> -> tensor<16x512xf32>
  // CHECK: tile.extract_slice %{{.*}} at [0, 64] : tensor<64x128xf32> -> tensor<64x64xf32>
  %part = tile.extract_slice %columns at [0, 64] : tensor<64x128xf32> -> tensor<64x64xf32>
  // CHECK: tile.concat %{{.*}}, %{{.*}} axis 0 : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<128x64xf32>
  %whole = tile.concat %part, %part axis 0 : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<128x64xf32>
  // CHECK: tile.extract_slice %{{.*}} at [%[[I:.*]], 3, %[[I]]] strides [1, -2, 4] : tensor<8x8x8xf32> -> tensor<8x1x2xf32>
  %i = arith.constant 3 : index
  %cube = arith.constant dense<0.0> : tensor<8x8x8xf32>
  %any = tile.extract_slice %cube at [%i, 3, %i] strides [1, -2, 4] : tensor<8x8x8xf32> -> tensor<8x1x2xf32>
  // CHECK: tile.insert_slice %{{.*}} into %{{.*}} at [%[[I]], 0, 1] : tensor<8x1x2xf32> into tensor<8x8x8xf32>
  %put = "tile.insert_slice"(%any, %cube, %i) {at = array<i64: -9223372036854775808, 0, 1>, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<8x1x2xf32>, tensor<8x8x8xf32>, index) -> tensor<8x8x8xf32>
  // CHECK: tile.repack %{{.*}} at [0, 3] sizes [5, 6] onto [2] sizes [30] : tensor<64x64xf32> -> tensor<32xf32>
  %box = tile.repack %part at [0, 3] sizes [5, 6] onto [2] sizes [30] : tensor<64x64xf32> -> tensor<32xf32>
  return
}

// CHECK-LABEL: tile.kernel @memory
tile.kernel @memory(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  // CHECK: tile.is_aligned %A axis 1 by 4 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  %aligned = tile.is_aligned %A axis 1 by 4 : memref<?x?xf32, strided<[?, 1]>, #tile.global>
  // CHECK: tile.load %A[%{{.*}}, %{{.*}}] {pad = 0xFF800000 : f32} : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<4x1024xf32>
  %a = tile.load %A[%c0, %c0] {pad = 0xFF800000 : f32} : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<4x1024xf32>
  // CHECK: tile.store %{{.*}}, %A[%{{.*}}, %{{.*}}] : tensor<4x1024xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
  tile.store %a, %A[%c0, %c0] : tensor<4x1024xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>
}
