// What cannot be written into a kernel is said at the call.
// RUN: girih-opt %s --tile-inline-calls --split-input-file --verify-diagnostics

// expected-note @+1 {{the function}}
func.func private @outside(f32) -> f32
// expected-note @+1 {{the function}}
func.func private @blocks(%x: f32, %c: i1) -> f32 {
  cf.cond_br %c, ^a, ^b
^a:
  return %x : f32
^b:
  %y = arith.negf %x : f32
  return %y : f32
}
func.func private @fine(%x: f32) -> f32 {
  return %x : f32
}
tile.kernel @k(%X: memref<?xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c = arith.constant true
  %x = arith.constant 1.0 : f32
  // expected-error @+1 {{'func.call' op calls '@outside', which has no body: kernels are linked with nothing; write its body, or use an op of math in its place}}
  %a = func.call @outside(%x) : (f32) -> f32
  // expected-error @+1 {{'func.call' op calls '@blocks', which has 3 blocks, but calls of kernels are replaced by one; write its branches with scf.if and its loops with scf.for or scf.while}}
  %b = func.call @blocks(%x, %c) : (f32, i1) -> f32
  %f = func.constant @fine : (f32) -> f32
  // expected-error @+1 {{'func.call_indirect' op calls a function by value, but a kernel has no table of functions; call it by its name}}
  %d = func.call_indirect %f(%x) : (f32) -> f32
}

// -----

// Recursion, told once.

func.func private @even(%n: i32) -> i32 {
  // expected-note @+1 {{'@odd' is called here}}
  %x = func.call @odd(%n) : (i32) -> i32
  return %x : i32
}
func.func private @odd(%n: i32) -> i32 {
  // expected-error @+1 {{'func.call' op calls '@even' again (@even -> @odd -> @even), but a kernel has no stack of calls; write a loop, with scf.for or scf.while}}
  %x = func.call @even(%n) : (i32) -> i32
  return %x : i32
}
tile.kernel @k(%X: memref<?xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %n = arith.constant 1 : i32
  // expected-note @+1 {{'@even' is called here}}
  %a = func.call @even(%n) : (i32) -> i32
  %b = func.call @odd(%n) : (i32) -> i32
}

// -----

// Each calls the next twice: a few lines that would be 2^21 ops.

func.func private @f0(%x: f32) -> f32 { return %x : f32 }
func.func private @f1(%x: f32) -> f32 { %y = func.call @f0(%x) : (f32) -> f32 %z = func.call @f0(%y) : (f32) -> f32 return %z : f32 }
func.func private @f2(%x: f32) -> f32 { %y = func.call @f1(%x) : (f32) -> f32 %z = func.call @f1(%y) : (f32) -> f32 return %z : f32 }
func.func private @f3(%x: f32) -> f32 { %y = func.call @f2(%x) : (f32) -> f32 %z = func.call @f2(%y) : (f32) -> f32 return %z : f32 }
func.func private @f4(%x: f32) -> f32 { %y = func.call @f3(%x) : (f32) -> f32 %z = func.call @f3(%y) : (f32) -> f32 return %z : f32 }
func.func private @f5(%x: f32) -> f32 { %y = func.call @f4(%x) : (f32) -> f32 %z = func.call @f4(%y) : (f32) -> f32 return %z : f32 }
func.func private @f6(%x: f32) -> f32 { %y = func.call @f5(%x) : (f32) -> f32 %z = func.call @f5(%y) : (f32) -> f32 return %z : f32 }
func.func private @f7(%x: f32) -> f32 { %y = func.call @f6(%x) : (f32) -> f32 %z = func.call @f6(%y) : (f32) -> f32 return %z : f32 }
func.func private @f8(%x: f32) -> f32 { %y = func.call @f7(%x) : (f32) -> f32 %z = func.call @f7(%y) : (f32) -> f32 return %z : f32 }
func.func private @f9(%x: f32) -> f32 { %y = func.call @f8(%x) : (f32) -> f32 %z = func.call @f8(%y) : (f32) -> f32 return %z : f32 }
func.func private @g0(%x: f32) -> f32 { %y = func.call @f9(%x) : (f32) -> f32 %z = func.call @f9(%y) : (f32) -> f32 return %z : f32 }
func.func private @g1(%x: f32) -> f32 { %y = func.call @g0(%x) : (f32) -> f32 %z = func.call @g0(%y) : (f32) -> f32 return %z : f32 }
func.func private @g2(%x: f32) -> f32 { %y = func.call @g1(%x) : (f32) -> f32 %z = func.call @g1(%y) : (f32) -> f32 return %z : f32 }
func.func private @g3(%x: f32) -> f32 { %y = func.call @g2(%x) : (f32) -> f32 %z = func.call @g2(%y) : (f32) -> f32 return %z : f32 }
func.func private @g4(%x: f32) -> f32 { %y = func.call @g3(%x) : (f32) -> f32 %z = func.call @g3(%y) : (f32) -> f32 return %z : f32 }
func.func private @g5(%x: f32) -> f32 { %y = func.call @g4(%x) : (f32) -> f32 %z = func.call @g4(%y) : (f32) -> f32 return %z : f32 }
func.func private @g6(%x: f32) -> f32 { %y = func.call @g5(%x) : (f32) -> f32 %z = func.call @g5(%y) : (f32) -> f32 return %z : f32 }
func.func private @g7(%x: f32) -> f32 { %y = func.call @g6(%x) : (f32) -> f32 %z = func.call @g6(%y) : (f32) -> f32 return %z : f32 }
func.func private @g8(%x: f32) -> f32 { %y = func.call @g7(%x) : (f32) -> f32 %z = func.call @g7(%y) : (f32) -> f32 return %z : f32 }
func.func private @g9(%x: f32) -> f32 { %y = func.call @g8(%x) : (f32) -> f32 %z = func.call @g8(%y) : (f32) -> f32 return %z : f32 }
// expected-error @+1 {{'tile.kernel' op calls functions of 2097149 ops in all, as often as they are called, but a kernel may get 1048576 from them; call them in loops}}
tile.kernel @k(%X: memref<?xf32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %x = arith.constant 1.0 : f32
  %a = func.call @g9(%x) : (f32) -> f32
}
