// Rows that start anywhere, in numbers of every width: 301 of them, and tiles of which lanes hold 16 bytes, so that they go through
// the lanes of a warp. Past the edges stands a number, or what another tile has.
// RUN: girih run %s --kernel i8 --device sim --check-memory --arg X=iota:i8[5,301] --arg Y=poison:i8[5,301] --check Y=iota:i8[5,301] | FileCheck %s
// RUN: girih run %s --kernel i16 --device sim --check-memory --arg X=iota:i16[5,301] --arg Y=poison:i16[5,301] --check Y=iota:i16[5,301] | FileCheck %s
// RUN: girih run %s --kernel i32 --device sim --check-memory --arg X=iota:i32[5,301] --arg Y=poison:i32[5,301] --check Y=iota:i32[5,301] | FileCheck %s
// RUN: girih run %s --kernel i64 --device sim --check-memory --arg X=iota:i64[5,301] --arg Y=poison:i64[5,301] --check Y=iota:i64[5,301] | FileCheck %s
// RUN: girih run %s --kernel twice --device sim --check-memory --arg X=iota:i32[61] --arg Y=poison:i32[61] --check Y=iota:i32[61] | FileCheck %s
// RUN: girih run %s --kernel together --device sim --check-memory --arg X=iota:i32[61] --arg Y=poison:i32[61] --check Y=iota:i32[61] | FileCheck %s
// RUN: girih run %s --kernel other --device sim --check-memory --arg X=zeros:i16[1,301] --arg Y=poison:i16[1,512] | FileCheck %s
// RUN: girih run %s --kernel gathered --device sim --check-memory --arg X=iota:i16[9,301] --arg I=iota:i32[8] --arg Y=poison:i16[8,301] --check Y=iota:i16[8,301] | FileCheck %s
// RUN: girih run %s --kernel columns --device sim --check-memory --arg X=iota:i16[301,9] --arg I=iota:i32[8] --arg Y=poison:i16[301,9] | FileCheck %s
// RUN: girih run %s --kernel in_place --device sim --check-memory --arg X=iota:i16[5,61] --arg Y=poison:i16[5,61] | FileCheck %s
// CHECK: ran on
// CHECK: right: Y: all {{.*}} elements are exact
// CHECK: no findings
#twice = #tile.linear<register = [[1], [2]], lane = [[4], [8], [16], [32], [32]], warp = []>
#together = #tile.linear<register = [[1], [2]], lane = [[4], [8], [16], [32], [48]], warp = []>
!turned = memref<?x?xi16, strided<[1, ?]>, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @i8(%X: memref<?x?xi8, strided<[?, 1]>, #tile.global>, %Y: memref<?x?xi8, strided<[?, 1]>, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : memref<?x?xi8, strided<[?, 1]>, #tile.global> -> tensor<8x512xi8>
  tile.store %x, %Y[%c0, %c0] : tensor<8x512xi8>, memref<?x?xi8, strided<[?, 1]>, #tile.global>
}

tile.kernel @i16(%X: memref<?x?xi16, strided<[?, 1]>, #tile.global>, %Y: memref<?x?xi16, strided<[?, 1]>, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : memref<?x?xi16, strided<[?, 1]>, #tile.global> -> tensor<8x512xi16>
  tile.store %x, %Y[%c0, %c0] : tensor<8x512xi16>, memref<?x?xi16, strided<[?, 1]>, #tile.global>
}

tile.kernel @i32(%X: memref<?x?xi32, strided<[?, 1]>, #tile.global>, %Y: memref<?x?xi32, strided<[?, 1]>, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : memref<?x?xi32, strided<[?, 1]>, #tile.global> -> tensor<8x512xi32>
  tile.store %x, %Y[%c0, %c0] : tensor<8x512xi32>, memref<?x?xi32, strided<[?, 1]>, #tile.global>
}

tile.kernel @i64(%X: memref<?x?xi64, strided<[?, 1]>, #tile.global>, %Y: memref<?x?xi64, strided<[?, 1]>, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : memref<?x?xi64, strided<[?, 1]>, #tile.global> -> tensor<8x512xi64>
  tile.store %x, %Y[%c0, %c0] : tensor<8x512xi64>, memref<?x?xi64, strided<[?, 1]>, #tile.global>
}

// Lanes that hold the same: two bits that lead to one place, and one that leads where two others lead together.
tile.kernel @twice(%X: memref<?xi32, #tile.global>, %Y: memref<?xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xi32, #tile.global> -> tensor<64xi32, #twice>
  tile.store %x, %Y[%c0] : tensor<64xi32, #twice>, memref<?xi32, #tile.global>
}
tile.kernel @together(%X: memref<?xi32, #tile.global>, %Y: memref<?xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xi32, #tile.global> -> tensor<64xi32, #together>
  tile.store %x, %Y[%c0] : tensor<64xi32, #together>, memref<?xi32, #tile.global>
}

tile.kernel @other(%X: memref<?x?xi16, strided<[?, 1]>, #tile.global>, %Y: memref<?x?xi16, strided<[?, 1]>, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %other = tile.iota axis 1 : tensor<1x512xi16>
  %x = tile.load %X[%c0, %c0] pass_thru %other : tensor<1x512xi16> : memref<?x?xi16, strided<[?, 1]>, #tile.global> -> tensor<1x512xi16>
  tile.store %x, %Y[%c0, %c0] : tensor<1x512xi16>, memref<?x?xi16, strided<[?, 1]>, #tile.global>
}

func.func @other_ref(%X: memref<?x?xi16>, %Y: memref<?x?xi16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %X, %c1 : memref<?x?xi16>
  %m = memref.dim %Y, %c1 : memref<?x?xi16>
  %zero = arith.constant 0 : i16
  scf.for %j = %c0 to %m step %c1 {
    %inside = arith.cmpi ult, %j, %n : index
    %k = arith.index_cast %j : index to i16
    %y = arith.select %inside, %zero, %k : i16
    memref.store %y, %Y[%c0, %j] : memref<?x?xi16>
  }
  return
}

tile.kernel @gathered(%X: memref<?x?xi16, strided<[?, 1]>, #tile.global>, %I: memref<?xi32, #tile.global>, %Y: memref<?x?xi16, strided<[?, 1]>, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %rows = tile.load %I[%c0] {pad = -1 : i32} : memref<?xi32, #tile.global> -> tensor<8xi32>
  %x = tile.gather %X[%c0] rows %rows : memref<?x?xi16, strided<[?, 1]>, #tile.global>, tensor<8xi32> -> tensor<8x512xi16>
  tile.scatter %x, %Y[%c0] rows %rows : tensor<8x512xi16>, memref<?x?xi16, strided<[?, 1]>, #tile.global>, tensor<8xi32>
}

// The axis whose neighbours lie side by side is that of the rows: their numbers stay with their threads.
tile.kernel @columns(%X: memref<?x?xi16, strided<[?, 1]>, #tile.global>, %I: memref<?xi32, #tile.global>, %Y: memref<?x?xi16, strided<[?, 1]>, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %from = memref.transpose %X (i, j) -> (j, i) : memref<?x?xi16, strided<[?, 1]>, #tile.global> to !turned
  %to = memref.transpose %Y (i, j) -> (j, i) : memref<?x?xi16, strided<[?, 1]>, #tile.global> to !turned
  %rows = tile.load %I[%c0] {pad = -1 : i32} : memref<?xi32, #tile.global> -> tensor<8xi32>
  %x = tile.gather %from[%c0] rows %rows : !turned, tensor<8xi32> -> tensor<8x512xi16>
  tile.scatter %x, %to[%c0] rows %rows : tensor<8x512xi16>, !turned, tensor<8xi32>
}

func.func @columns_ref(%X: memref<?x?xi16>, %I: memref<?xi32>, %Y: memref<?x?xi16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %X, %c0 : memref<?x?xi16>
  %n = memref.dim %I, %c0 : memref<?xi32>
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %x = memref.load %X[%i, %j] : memref<?x?xi16>
      memref.store %x, %Y[%i, %j] : memref<?x?xi16>
    }
  }
  return
}

// A store goes through other lanes than a load, and a mask through none: what they move is ordered.
tile.kernel @in_place(%X: memref<?x?xi16, strided<[?, 1]>, #tile.global>, %Y: memref<?x?xi16, strided<[?, 1]>, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : memref<?x?xi16, strided<[?, 1]>, #tile.global> -> tensor<8x64xi16>
  tile.store %x, %Y[%c0, %c0] : tensor<8x64xi16>, memref<?x?xi16, strided<[?, 1]>, #tile.global>
  %y = tile.load %Y[%c0, %c0] : memref<?x?xi16, strided<[?, 1]>, #tile.global> -> tensor<8x64xi16>
  %twice = arith.addi %y, %y : tensor<8x64xi16>
  tile.store %twice, %Y[%c0, %c0] : tensor<8x64xi16>, memref<?x?xi16, strided<[?, 1]>, #tile.global>
  tile.atomic_rmw add %x, %Y[%c0, %c0] : tensor<8x64xi16>, memref<?x?xi16, strided<[?, 1]>, #tile.global>
}

func.func @in_place_ref(%X: memref<?x?xi16>, %Y: memref<?x?xi16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %X, %c0 : memref<?x?xi16>
  %n = memref.dim %X, %c1 : memref<?x?xi16>
  %three = arith.constant 3 : i16
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %x = memref.load %X[%i, %j] : memref<?x?xi16>
      %y = arith.muli %x, %three : i16
      memref.store %y, %Y[%i, %j] : memref<?x?xi16>
    }
  }
  return
}
}
