// Tiles through loops and branches: square roots of magnitudes by Newton's steps, until the largest error of the block is small; then their
// negatives if `sign` is not 0.
// RUN: girih run %s --device sim --arg X=uniform:f32[1000] --arg Y=poison:f32[1000] --arg sign=i32:0 2>/dev/null | FileCheck %s
// RUN: girih run %s --device sim --arg X=uniform:f32[1024] --arg Y=poison:f32[1024] --arg sign=i32:1 2>/dev/null | FileCheck %s
// CHECK: right: Y:
// RUN: girih-opt %s -tile-assign-layouts | FileCheck %s --check-prefix=LAYOUT
// LAYOUT: scf.while (%{{.*}} = %{{.*}}) : (tensor<512xf32, [[L:#tile.blocked<.*>]]>) -> tensor<512xf32, [[L]]>
// LAYOUT: tensor.extract %{{.*}}[] : tensor<f32, #tile.sliced<axis = 0, of = [[L]]>>
// LAYOUT: scf.if %{{.*}} -> (tensor<512xf32, [[L]]>)
// LAYOUT-NOT: tile.convert_layout

module attributes {tile.target = "sm_90a"} {

tile.kernel @roots(%X: memref<?xf32, #tile.global>, %Y: memref<?xf32, #tile.global>, %sign: i32) threads(128) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  %n = memref.dim %X, %c0 : memref<?xf32, #tile.global>
  %blocks = arith.ceildivui %n, %c512 : index
  tile.grid %blocks, %c1, %c1
} body {
  %c512 = arith.constant 512 : index
  %half = arith.constant dense<0.5> : tensor<512xf32>
  %one = arith.constant dense<1.0> : tensor<512xf32>
  %enough = arith.constant 1.0e-6 : f32
  %block = tile.block_id x
  %i = arith.muli %block, %c512 : index
  %signed = tile.load %X[%i] {pad = 1.0 : f32} : memref<?xf32, #tile.global> -> tensor<512xf32>
  %x = math.absf %signed : tensor<512xf32>
  %root = scf.while (%y = %one) : (tensor<512xf32>) -> tensor<512xf32> {
    %square = arith.mulf %y, %y : tensor<512xf32>
    %difference = arith.subf %square, %x : tensor<512xf32>
    %error = math.absf %difference : tensor<512xf32>
    %largest = tile.reduce %error axis 0 (%a: f32, %b: f32) {
      %m = arith.maximumf %a, %b : f32
      tile.yield %m : f32
    } : tensor<512xf32> -> tensor<f32>
    %e = tensor.extract %largest[] : tensor<f32>
    %more = arith.cmpf ogt, %e, %enough : f32
    scf.condition(%more) %y : tensor<512xf32>
  } do {
  ^bb0(%y: tensor<512xf32>):
    %q = arith.divf %x, %y : tensor<512xf32>
    %s = arith.addf %y, %q : tensor<512xf32>
    %next = arith.mulf %half, %s : tensor<512xf32>
    scf.yield %next : tensor<512xf32>
  }
  %zero = arith.constant 0 : i32
  %negate = arith.cmpi ne, %sign, %zero : i32
  %z = scf.if %negate -> (tensor<512xf32>) {
    %minus = arith.negf %root : tensor<512xf32>
    scf.yield %minus : tensor<512xf32>
  } else {
    scf.yield %root : tensor<512xf32>
  }
  tile.store %z, %Y[%i] : tensor<512xf32>, memref<?xf32, #tile.global>
}

func.func @roots_ref(%X: memref<?xf32>, %Y: memref<?xf32>, %sign: i32) attributes {girih.tol = 1.0e-2 : f64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %negate = arith.cmpi ne, %sign, %zero : i32
  %n = memref.dim %X, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %signed = memref.load %X[%i] : memref<?xf32>
    %x = math.absf %signed : f32
    %r = math.sqrt %x : f32
    %m = arith.negf %r : f32
    %y = arith.select %negate, %m, %r : f32
    memref.store %y, %Y[%i] : memref<?xf32>
  }
  return
}

}
