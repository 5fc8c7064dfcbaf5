// RUN: girih-opt %s -split-input-file -verify-diagnostics

func.func private @count(%x: f32) {
  // expected-error @+1 {{the format takes 2 arguments, but 1 are given}}
  tile.print "{} {}", %x : f32
  return
}

// -----

func.func private @brace() {
  // expected-error @+1 {{the format has '{' at byte 4; write {}, {:u} or {:x} where an argument goes, and {{ for the character}}
  tile.print "x = {y}"
  return
}

// -----

func.func private @bytes(%x: tensor<4xtf32>, %y: i128) {
  // expected-error @+2 {{argument 0 is tensor<4xtf32>; widen it with arith.extf}}
  // expected-error @+1 {{prints integers and floats of up to 64 bits, and index, but argument 1 is i128}}
  tile.print "{} {}", %x, %y : tensor<4xtf32>, i128
  return
}

// -----

func.func private @style(%x: f32) {
  // expected-error @+1 {{argument 0 is f32, but {:u} and {:x} write integers; write {}}}
  tile.print "{:x}", %x : f32
  return
}

// -----

func.func private @shapes(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{prints tensor<4xf32> and tensor<8xf32> in one line; the tiles must have one shape}}
  tile.print "{} {}", %x, %y : tensor<4xf32>, tensor<8xf32>
  return
}

// -----

func.func private @many(%x: i32) {
  // expected-error @+1 {{has 29 arguments, and 4 more say where the line is from, but a line has at most 32; print several}}
  tile.print "{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}", %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x : i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32
  return
}

// -----

func.func private @speaker(%x: tensor<4xf32>) {
  // expected-error @+1 {{speaker = 0, but it has tiles, each element of which is looked at once anyway; leave it out}}
  tile.print "{}", %x {speaker = 0} : tensor<4xf32>
  return
}

// -----

func.func private @speaker(%c: tensor<4xi1>) {
  // expected-error @+1 {{speaker = 0, but it has tiles}}
  tile.assert %c, "x" {speaker = 0} : tensor<4xi1>
  return
}

// -----

func.func private @zero() {
  // expected-error @+1 {{the format has a zero byte, at which text ends on the device; leave it out}}
  tile.print "a\00b"
  return
}

// -----

func.func private @zero(%c: i1) {
  // expected-error @+1 {{the message has a zero byte, at which text ends on the device; leave it out}}
  tile.assert %c, "a\00b" : i1
  return
}

// -----

func.func private @truth(%c: i32) {
  // expected-error @+1 {{operand}}
  tile.assert %c, "x" : i32
  return
}

// -----

tile.kernel @host() threads(32) launch {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{runs on the device, but stands in a launch region, which the host evaluates}}
  tile.print "x"
  tile.grid %c1, %c1, %c1
} body {
}

// -----

func.func private @stranger() {
  // expected-error @+1 {{speaker = 2048, but the threads of a block are 0 to 1023}}
  tile.print "x" {speaker = 2048}
  return
}

// -----

func.func private @extent(%x: tensor<4x8xi32>) {
  // expected-error @+1 {{has extent [5, 8], but prints tiles of [4, 8]; leave it out}}
  tile.print "{}", %x {extent = array<i64: 5, 8>} : tensor<4x8xi32>
  return
}
