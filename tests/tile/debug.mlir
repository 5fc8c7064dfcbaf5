// Text and assertions: what is written is what is read back.
// RUN: girih-opt %s | girih-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @say
tile.kernel @say(%x: f32) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  // CHECK: tile.print "nothing but text"
  tile.print "nothing but text"
  %n = arith.constant 4 : index
  %i = tile.iota axis 0 : tensor<4xi32>
  // CHECK: tile.print "{{[{]}}{n{{[}]}}} = {}, {:x} of {:u}, \22quoted\22", %{{.*}}, %{{.*}}, %{{.*}} : index, tensor<4xi32>, tensor<4xi32>
  tile.print "{{n}} = {}, {:x} of {:u}, \22quoted\22", %n, %i, %i : index, tensor<4xi32>, tensor<4xi32>
  // CHECK: tile.print "x = {}", %{{.*}} {speaker = 0 : i64} : f32
  tile.print "x = {}", %x {speaker = 0 : i64} : f32
  %limit = arith.constant dense<4> : tensor<4xi32>
  %inside = arith.cmpi slt, %i, %limit : tensor<4xi32>
  // CHECK: tile.assert %{{.*}}, "the row is inside" : tensor<4xi1>
  tile.assert %inside, "the row is inside" : tensor<4xi1>
  %one = arith.constant true
  // CHECK: tile.assert %{{.*}}, "one" {speaker = 0 : i64} : i1
  tile.assert %one, "one" {speaker = 0 : i64} : i1
}
