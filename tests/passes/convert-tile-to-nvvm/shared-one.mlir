// A tile without axes goes through shared memory, with a mask and without.
// RUN: girih run %s --device sim --arg X=full(3):f32[] --arg Y=zeros:f32[] --arg Z=zeros:f32[] --check-memory

module attributes {tile.target = "sm_90a"} {
tile.kernel @k(%X: memref<f32, #tile.global>, %Y: memref<f32, #tile.global>, %Z: memref<f32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %m = tile.alloc : memref<f32, #tile.shared>
  %yes = arith.constant dense<true> : tensor<i1>
  %no = arith.constant dense<false> : tensor<i1>
  %x = tile.load %X[] : memref<f32, #tile.global> -> tensor<f32>
  tile.store %x, %m[] mask %yes : tensor<i1> : tensor<f32>, memref<f32, #tile.shared>
  %y = tile.load %m[] : memref<f32, #tile.shared> -> tensor<f32>
  tile.store %y, %Y[] : tensor<f32>, memref<f32, #tile.global>
  %z = tile.load %m[] mask %no : tensor<i1> {pad = 7.0 : f32} : memref<f32, #tile.shared> -> tensor<f32>
  tile.store %z, %Z[] : tensor<f32>, memref<f32, #tile.global>
}
func.func @k_ref(%X: memref<f32>, %Y: memref<f32>, %Z: memref<f32>) {
  %seven = arith.constant 7.0 : f32
  %x = memref.load %X[] : memref<f32>
  memref.store %x, %Y[] : memref<f32>
  memref.store %seven, %Z[] : memref<f32>
  return
}
}
