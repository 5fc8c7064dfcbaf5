// What ops on mbarriers must be.
// RUN: girih-opt %s --split-input-file --verify-diagnostics

func.func private @f(%g: memref<!tile.mbarrier, #tile.global>, %n: i32) {
  // expected-error@below {{operand #0 'barrier' must be a memref of !tile.mbarrier in #tile.shared, but is memref<!tile.mbarrier, #tile.global>}}
  tile.mbarrier.init %g[], %n : memref<!tile.mbarrier, #tile.global>
  return
}

// -----

func.func private @f(%f: memref<4xf32, #tile.shared>, %i: index) {
  // expected-error@below {{operand #0 'barrier' must be a memref of !tile.mbarrier in #tile.shared or #tile.shared_cluster, but is memref<4xf32, #tile.shared>}}
  tile.mbarrier.arrive %f[%i] : memref<4xf32, #tile.shared>
  return
}

// -----

func.func private @f(%ring: memref<4x!tile.mbarrier, #tile.shared>, %n: i32) {
  // expected-error@below {{the memref of mbarriers has 1 dimensions, but 0 indices are given}}
  tile.mbarrier.init %ring[], %n : memref<4x!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @f(%ring: memref<4x!tile.mbarrier, #tile.shared>, %i: index) {
  // expected-error@below {{the memref of mbarriers has 1 dimensions, but 2 indices are given}}
  tile.mbarrier.arrive %ring[%i, %i] : memref<4x!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @f(%ring: memref<4x!tile.mbarrier, #tile.shared>, %p: i1) {
  %c4 = arith.constant 4 : index
  // expected-error@below {{index #0 is 4, but the memref of mbarriers has 4 there, from 0}}
  tile.mbarrier.wait %ring[%c4], %p : memref<4x!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @f(%ring: memref<4x!tile.mbarrier, #tile.shared>) {
  %cm1 = arith.constant -1 : index
  // expected-error@below {{index #0 is -1, but the memref of mbarriers has 4 there, from 0}}
  tile.mbarrier.inval %ring[%cm1] : memref<4x!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @f(%bar: memref<!tile.mbarrier, #tile.shared>) {
  %c0 = arith.constant 0 : i32
  // expected-error@below {{count = 0, but a phase has 1 to 1048575 arrivals}}
  tile.mbarrier.init %bar[], %c0 : memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @f(%bar: memref<!tile.mbarrier, #tile.shared>) {
  %many = arith.constant 1048576 : i32
  // expected-error@below {{count = 1048576, but a phase has 1 to 1048575 arrivals}}
  tile.mbarrier.init %bar[], %many : memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @f(%bar: memref<!tile.mbarrier, #tile.shared>) {
  %many = arith.constant 1048576 : i32
  // expected-error@below {{1048576 bytes, but a phase counts at most 1048575; split the transfer}}
  tile.mbarrier.arrive_expect_tx %bar[], %many : memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @f(%bar: memref<!tile.mbarrier, #tile.shared>) {
  %many = arith.constant 1048576 : i32
  // expected-error@below {{1048576 bytes, but a phase counts at most 1048575; split the transfer}}
  tile.mbarrier.expect_tx %bar[], %many : memref<!tile.mbarrier, #tile.shared>
  return
}

// -----

func.func private @layout(%bar: memref<2x!tile.mbarrier, affine_map<(d0) -> (d0 floordiv 2)>, #tile.shared>, %i: index) {
  // expected-error@below {{mbarriers lie in a strided memref, found memref<2x!tile.mbarrier}}
  tile.mbarrier.arrive %bar[%i] : memref<2x!tile.mbarrier, affine_map<(d0) -> (d0 floordiv 2)>, #tile.shared>
  return
}

// -----

func.func private @f() {
  // expected-error@below {{expects at least 2 operands, but has 0}}
  "tile.mbarrier.init"() : () -> ()
  return
}

// -----

func.func private @f(%bar: memref<!tile.mbarrier, #tile.shared>, %n: i64) {
  // expected-error@below {{operand #1 'count' must be i32, but is i64}}
  "tile.mbarrier.init"(%bar, %n) : (memref<!tile.mbarrier, #tile.shared>, i64) -> ()
  return
}

// -----

func.func private @f(%bar: memref<!tile.mbarrier, #tile.shared>, %n: i64) {
  // expected-error@below {{expects 1 results, but has 0}}
  // expected-error@below {{operand #1 'parity' must be i1, but is i64}}
  "tile.mbarrier.test_wait"(%bar, %n) : (memref<!tile.mbarrier, #tile.shared>, i64) -> ()
  return
}
