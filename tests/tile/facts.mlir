// What arguments are known to be: attributes of them, kept on the way down.
// RUN: girih-opt %s | girih-opt | FileCheck %s
// RUN: girih-opt %s -convert-tile-to-nvvm | FileCheck %s --check-prefix=ENTRY
// RUN: girih compile %s | FileCheck %s --check-prefix=MANIFEST

module attributes {tile.target = "sm_90a"} {
// CHECK: tile.kernel @k(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global> {tile.aligned = 16 : i64, tile.divisible = [1, 64]}, %b: i8, %n: i64 {tile.divisible = 8 : i64, tile.range = [0, 4096]}) threads(32) launch
// ENTRY: tile.entry @k in @device(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global> {tile.aligned = 16 : i64, tile.divisible = [1, 64]}, %b: i8, %n: i64 {tile.divisible = 8 : i64, tile.range = [0, 4096]})
// MANIFEST: "align": 16
// MANIFEST: "facts": [
// MANIFEST: "size": {
// MANIFEST: "dim": 1
// MANIFEST: "multiple": 64
// MANIFEST: "stride": {
// MANIFEST: "dim": 0
// MANIFEST: "multiple": 8
// MANIFEST: "scalar": {
// MANIFEST: "multiple": 8,
// MANIFEST: "range": [
// MANIFEST: 0,
// MANIFEST: 4096
tile.kernel @k(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global> {tile.aligned = 16, tile.divisible = [1, 64]}, %b: i8, %n: i64 {tile.divisible = 8, tile.range = [0, 4096]}) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
}
}
