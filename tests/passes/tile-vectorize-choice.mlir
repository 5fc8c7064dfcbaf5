// One argument that is not aligned does not slow down the others: each access goes by the answer for its own memref, and gives
// the same numbers either way. What is outside reads as zero, as a number, or as what another tile has there.
// RUN: girih run %s --kernel mix --device sim --arg X=randn:bf16[1000] --arg "Z=randn:bf16[1000;offset=2]" --arg Y=poison:bf16[1000] | FileCheck %s
// RUN: girih run %s --kernel mix --device sim --arg "X=randn:bf16[1000;offset=2]" --arg Z=randn:bf16[1000] --arg Y=poison:bf16[1000] | FileCheck %s
// RUN: girih run %s --kernel mix --device sim --arg X=randn:bf16[1000] --arg Z=randn:bf16[1000] --arg "Y=poison:bf16[1000;offset=2]" | FileCheck %s
// RUN: girih run %s --kernel mix --device sim --arg X=randn:bf16[1000] --arg Z=randn:bf16[1000] --arg Y=poison:bf16[1000] | FileCheck %s
// RUN: girih run %s --kernel mix --device sim --arg X=randn:bf16[1001] --arg Z=randn:bf16[1001] --arg Y=poison:bf16[1001] | FileCheck %s
// RUN: girih run %s --kernel bytes --device sim --arg "X=iota:i8[1000;offset=1]" --arg Z=iota:i8[1000] --arg Y=poison:i8[1000] | FileCheck %s
// RUN: girih run %s --kernel bytes --device sim --arg X=iota:i8[1000] --arg "Z=iota:i8[1000;offset=1]" --arg Y=poison:i8[1000] | FileCheck %s
// RUN: girih run %s --kernel edges --device sim --arg "X=randn:bf16[9,40]" --arg Y=poison:bf16[16,64] | FileCheck %s
// RUN: girih run %s --kernel edges --device sim --arg "X=randn:bf16[9,41]" --arg Y=poison:bf16[16,64] | FileCheck %s
// RUN: girih run %s --kernel edges --device sim --arg "X=randn:bf16[16,64]" --arg Y=poison:bf16[16,64] | FileCheck %s
// CHECK: right: Y:
!m = memref<?xbf16, #tile.global>
!b = memref<?xi8, #tile.global>
!r = memref<?x?xbf16, strided<[?, 1]>, #tile.global>

module attributes {tile.target = "sm_90a"} {

tile.kernel @mix(%X: !m, %Z: !m, %Y: !m) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : !m -> tensor<1024xbf16>
  %z = tile.load %Z[%c0] : !m -> tensor<1024xbf16>
  %y = arith.addf %x, %z : tensor<1024xbf16>
  tile.store %y, %Y[%c0] : tensor<1024xbf16>, !m
}

func.func @mix_ref(%X: memref<?xbf16>, %Z: memref<?xbf16>, %Y: memref<?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %X, %c0 : memref<?xbf16>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %X[%i] : memref<?xbf16>
    %z = memref.load %Z[%i] : memref<?xbf16>
    %y = arith.addf %x, %z : bf16
    memref.store %y, %Y[%i] : memref<?xbf16>
  }
  return
}

tile.kernel @bytes(%X: !b, %Z: !b, %Y: !b) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : !b -> tensor<1024xi8>
  %z = tile.load %Z[%c0] {pad = 3 : i8} : !b -> tensor<1024xi8>
  %y = arith.addi %x, %z : tensor<1024xi8>
  tile.store %y, %Y[%c0] : tensor<1024xi8>, !b
}

func.func @bytes_ref(%X: memref<?xi8>, %Z: memref<?xi8>, %Y: memref<?xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %X, %c0 : memref<?xi8>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %X[%i] : memref<?xi8>
    %z = memref.load %Z[%i] : memref<?xi8>
    %y = arith.addi %x, %z : i8
    memref.store %y, %Y[%i] : memref<?xi8>
  }
  return
}

// Outside its columns a row reads as its first element; rows that are not there do too, which is zero.
tile.kernel @edges(%X: !r, %Y: !r) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %first = tile.load %X[%c0, %c0] : !r -> tensor<16x1xbf16>
  %firsts = tile.broadcast %first : tensor<16x1xbf16> -> tensor<16x64xbf16>
  %x = tile.load %X[%c0, %c0] pass_thru %firsts : tensor<16x64xbf16> : !r -> tensor<16x64xbf16>
  tile.store %x, %Y[%c0, %c0] : tensor<16x64xbf16>, !r
}

func.func @edges_ref(%X: memref<?x?xbf16>, %Y: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : bf16
  %rows = memref.dim %X, %c0 : memref<?x?xbf16>
  %n = memref.dim %X, %c1 : memref<?x?xbf16>
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %row_in = arith.cmpi ult, %i, %rows : index
      %column_in = arith.cmpi ult, %j, %n : index
      %v = scf.if %row_in -> (bf16) {
        %at = arith.select %column_in, %j, %c0 : index
        %x = memref.load %X[%i, %at] : memref<?x?xbf16>
        scf.yield %x : bf16
      } else {
        scf.yield %zero : bf16
      }
      memref.store %v, %Y[%i, %j] : memref<?x?xbf16>
    }
  }
  return
}

}
