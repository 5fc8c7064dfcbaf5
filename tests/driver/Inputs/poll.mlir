module attributes {tile.target = "sm_90a"} {
tile.kernel @poll(%F: memref<4xi32, #tile.global>, %most: i32) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %n = scf.while (%i = %zero) : (i32) -> i32 {
    tile.fence gpu
    %f = memref.load %F[%c0] : memref<4xi32, #tile.global>
    %unset = arith.cmpi eq, %f, %zero : i32
    %patient = arith.cmpi slt, %i, %most : i32
    %more = arith.andi %unset, %patient : i1
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = arith.addi %i, %one : i32
    scf.yield %next : i32
  }
  memref.store %n, %F[%c0] : memref<4xi32, #tile.global>
}
tile.kernel @count(%F: memref<4xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %n = scf.while (%i = %zero) : (i32) -> i32 {
    tile.fence gpu
    %f = memref.load %F[%c0] : memref<4xi32, #tile.global>
    %unset = arith.cmpi eq, %f, %zero : i32
    scf.condition(%unset) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = arith.addi %i, %one : i32
    scf.yield %next : i32
  }
  memref.store %n, %F[%c0] : memref<4xi32, #tile.global>
}
}
