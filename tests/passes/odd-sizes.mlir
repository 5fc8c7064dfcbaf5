// Tiles whose sizes are not powers of two, end to end. Nothing outside a tile's own extent is touched: other blocks write there.
// RUN: girih run %s --kernel softmax --device sim --check-memory --arg X=randn:f32[8,100] --arg Y=poison:f32[8,100] | FileCheck %s
// RUN: girih run %s --kernel softmax --device sim --check-memory --arg X=randn:f32[7,93] --arg Y=poison:f32[7,93] | FileCheck %s
// RUN: girih run %s --kernel shapes --device sim --check-memory --arg X=iota:i32[15] --arg Y=poison:i32[5,6] --arg Z=poison:i32[3,3] | FileCheck %s
// RUN: girih run %s --kernel argmax --device sim --check-memory --arg X=randn:f32[5,37] --arg M=poison:f32[5] --arg I=poison:i32[5] | FileCheck %s
// RUN: girih run %s --kernel shared --device sim --check-memory --arg X=randn:f32[7,12] --arg Y=poison:f32[3,12] | FileCheck %s
// RUN: girih run %s --kernel product --device sim --check-memory --arg A=randn:f16[11,29] --arg B=randn:f16[29,21] --arg C=poison:f32[11,21] | FileCheck %s
// RUN: girih run %s --kernel gemm --target sm_90a --device sim --check-memory --arg A=randn:f16[64,48] --arg B=randn:f16[48,96] --arg C=poison:f32[64,96] --arg T=poison:f32[64] | FileCheck %s
// CHECK-NOT: wrong
// CHECK: right
// CHECK: no findings
// RUN: girih run %s --kernel show --device sim --no-reference | FileCheck %s --check-prefix=SHOW --implicit-check-not=block
// SHOW-DAG: block (0, 0, 0), [0]: 10
// SHOW-DAG: block (0, 0, 0), [1]: 5
// SHOW-DAG: block (0, 0, 0), [2]: 3

!matrix = memref<?x?xf32, strided<[?, 1]>, #tile.global>
!halves = memref<?x?xf16, strided<[?, 1]>, #tile.global>

module {
// Blocks of 3 rows, each of 100 columns at most.
tile.kernel @softmax(%X: !matrix, %Y: !matrix) threads(64) launch {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = memref.dim %X, %c0 : !matrix
  %b = arith.ceildivui %n, %c3 : index
  tile.grid %b, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %block = tile.block_id x
  %row = arith.muli %block, %c3 : index
  %x = tile.load %X[%row, %c0] {pad = 0xFF800000 : f32} : !matrix -> tensor<3x100xf32>
  %max = tile.reduce %x axis 1 (%a: f32, %b: f32) {
    %m = arith.maximumf %a, %b : f32
    tile.yield %m : f32
  } : tensor<3x100xf32> -> tensor<3xf32>
  %m1 = tile.expand_dims %max axis 1 : tensor<3xf32> -> tensor<3x1xf32>
  %m2 = tile.broadcast %m1 : tensor<3x1xf32> -> tensor<3x100xf32>
  %d = arith.subf %x, %m2 : tensor<3x100xf32>
  %e = math.exp %d : tensor<3x100xf32>
  %sum = tile.reduce %e axis 1 (%a: f32, %b: f32) {
    %m = arith.addf %a, %b : f32
    tile.yield %m : f32
  } : tensor<3x100xf32> -> tensor<3xf32>
  %s1 = tile.expand_dims %sum axis 1 : tensor<3xf32> -> tensor<3x1xf32>
  %s2 = tile.broadcast %s1 : tensor<3x1xf32> -> tensor<3x100xf32>
  %y = arith.divf %e, %s2 : tensor<3x100xf32>
  tile.store %y, %Y[%row, %c0] : tensor<3x100xf32>, !matrix
}
func.func @softmax_ref(%X: memref<?x?xf32>, %Y: memref<?x?xf32> {girih.rtol = 1.0e-5 : f64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %X, %c0 : memref<?x?xf32>
  %m = memref.dim %X, %c1 : memref<?x?xf32>
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %max = scf.for %j = %c0 to %m step %c1 iter_args(%a = %low) -> (f32) {
      %x = memref.load %X[%i, %j] : memref<?x?xf32>
      %b = arith.maximumf %a, %x : f32
      scf.yield %b : f32
    }
    %sum = scf.for %j = %c0 to %m step %c1 iter_args(%a = %zero) -> (f32) {
      %x = memref.load %X[%i, %j] : memref<?x?xf32>
      %d = arith.subf %x, %max : f32
      %e = math.exp %d : f32
      %b = arith.addf %a, %e : f32
      scf.yield %b : f32
    }
    scf.for %j = %c0 to %m step %c1 {
      %x = memref.load %X[%i, %j] : memref<?x?xf32>
      %d = arith.subf %x, %max : f32
      %e = math.exp %d : f32
      %y = arith.divf %e, %sum : f32
      memref.store %y, %Y[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// 15 numbers as 5 rows of 3, twice side by side, with 100 divided by 5 to 1 added; and the second 3 x 3 of that.
tile.kernel @shapes(%X: memref<15xi32, #tile.global>, %Y: memref<5x6xi32, #tile.global>, %Z: memref<3x3xi32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<15xi32, #tile.global> -> tensor<15xi32>
  %r = tile.reshape %x : tensor<15xi32> -> tensor<5x3xi32>
  %c = tile.concat %r, %r axis 1 : tensor<5x3xi32>, tensor<5x3xi32> -> tensor<5x6xi32>
  %hundred = arith.constant dense<100> : tensor<5x6xi32>
  %five = arith.constant dense<5> : tensor<5x6xi32>
  %i = tile.iota axis 0 : tensor<5x6xi32>
  %by = arith.subi %five, %i : tensor<5x6xi32>
  %more = arith.cmpi sgt, %by, %i : tensor<5x6xi32>
  %q = arith.divsi %hundred, %by : tensor<5x6xi32>
  %least = arith.cmpi sge, %q, %by : tensor<5x6xi32>
  tile.assert %least, "a quotient is not below its divisor" : tensor<5x6xi1>
  %s = arith.addi %q, %c : tensor<5x6xi32>
  tile.store %s, %Y[%c0, %c0] : tensor<5x6xi32>, memref<5x6xi32, #tile.global>
  %part = tile.extract_slice %s at [0, 3] : tensor<5x6xi32> -> tensor<3x3xi32>
  tile.store %part, %Z[%c0, %c0] : tensor<3x3xi32>, memref<3x3xi32, #tile.global>
}
func.func @shapes_ref(%X: memref<15xi32>, %Y: memref<5x6xi32>, %Z: memref<3x3xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c100 = arith.constant 100 : index
  scf.for %i = %c0 to %c5 step %c1 {
    scf.for %j = %c0 to %c6 step %c1 {
      %column = arith.remui %j, %c3 : index
      %start = arith.muli %i, %c3 : index
      %at = arith.addi %start, %column : index
      %x = memref.load %X[%at] : memref<15xi32>
      %by = arith.subi %c5, %i : index
      %q = arith.divui %c100, %by : index
      %n = arith.index_cast %q : index to i32
      %y = arith.addi %n, %x : i32
      memref.store %y, %Y[%i, %j] : memref<5x6xi32>
    }
  }
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      %column = arith.addi %j, %c3 : index
      %y = memref.load %Y[%i, %column] : memref<5x6xi32>
      memref.store %y, %Z[%i, %j] : memref<3x3xi32>
    }
  }
  return
}

// Through shared memory of just the tile's size: rows 4 to 6, and what is masked off is 9.
tile.kernel @shared(%X: memref<7x12xf32, #tile.global>, %Y: memref<3x12xf32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %m = tile.alloc : memref<7x12xf32, #tile.shared>
  %x = tile.load %X[%c0, %c0] : memref<7x12xf32, #tile.global> -> tensor<7x12xf32>
  tile.store %x, %m[%c0, %c0] : tensor<7x12xf32>, memref<7x12xf32, #tile.shared>
  %j = tile.iota axis 1 : tensor<3x12xi32>
  %eight = arith.constant dense<8> : tensor<3x12xi32>
  %low = arith.cmpi slt, %j, %eight : tensor<3x12xi32>
  %y = tile.load %m[%c4, %c0] mask %low : tensor<3x12xi1> {pad = 9.0 : f32} : memref<7x12xf32, #tile.shared> -> tensor<3x12xf32>
  tile.store %y, %Y[%c0, %c0] : tensor<3x12xf32>, memref<3x12xf32, #tile.global>
}
func.func @shared_ref(%X: memref<7x12xf32>, %Y: memref<3x12xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  %nine = arith.constant 9.0 : f32
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c12 step %c1 {
      %row = arith.addi %i, %c4 : index
      %x = memref.load %X[%row, %j] : memref<7x12xf32>
      %low = arith.cmpi ult, %j, %c8 : index
      %y = arith.select %low, %x, %nine : f32
      memref.store %y, %Y[%i, %j] : memref<3x12xf32>
    }
  }
  return
}

// The smallest number of each row, and where: padding that reads as zero would be smaller than none, and larger than some.
tile.kernel @argmax(%X: !matrix, %M: memref<?xf32, #tile.global>, %I: memref<?xi32, #tile.global>) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : !matrix -> tensor<5x37xf32>
  %hundred = arith.constant dense<-100.0> : tensor<5x37xf32>
  %low = arith.addf %x, %hundred : tensor<5x37xf32>
  %i = tile.iota axis 1 : tensor<5x37xi32>
  %max, %at = tile.reduce %low, %i axis 1 (%a: f32, %j: i32, %b: f32, %k: i32) {
    %more = arith.cmpf ogt, %a, %b : f32
    %m = arith.select %more, %a, %b : f32
    %n = arith.select %more, %j, %k : i32
    tile.yield %m, %n : f32, i32
  } : tensor<5x37xf32>, tensor<5x37xi32> -> tensor<5xf32>, tensor<5xi32>
  tile.store %max, %M[%c0] : tensor<5xf32>, memref<?xf32, #tile.global>
  tile.store %at, %I[%c0] : tensor<5xi32>, memref<?xi32, #tile.global>
}
func.func @argmax_ref(%X: memref<?x?xf32>, %M: memref<?xf32>, %I: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %X, %c0 : memref<?x?xf32>
  %m = memref.dim %X, %c1 : memref<?x?xf32>
  %hundred = arith.constant -100.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i32
  scf.for %i = %c0 to %n step %c1 {
    %max, %at = scf.for %j = %c0 to %m step %c1 iter_args(%a = %low, %p = %zero) -> (f32, i32) {
      %x = memref.load %X[%i, %j] : memref<?x?xf32>
      %b = arith.addf %x, %hundred : f32
      %more = arith.cmpf ogt, %b, %a : f32
      %q = arith.index_cast %j : index to i32
      %c = arith.select %more, %b, %a : f32
      %r = arith.select %more, %q, %p : i32
      scf.yield %c, %r : f32, i32
    }
    memref.store %max, %M[%i] : memref<?xf32>
    memref.store %at, %I[%i] : memref<?xi32>
  }
  return
}

// exp(A) B by mma.sync: exp of padding is 1, and is left out.
tile.kernel @product(%A: !halves, %B: !halves, %C: !matrix) threads(64) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<11x21xf32>
  %a = tile.load %A[%c0, %c0] : !halves -> tensor<11x29xf16>
  %e = arith.negf %a : tensor<11x29xf16>
  %one = arith.constant dense<1.0> : tensor<11x29xf16>
  %f = arith.addf %e, %one : tensor<11x29xf16>
  %b = tile.load %B[%c0, %c0] {pad = 1.0 : f16} : !halves -> tensor<29x21xf16>
  %c = tile.mma %f, %b, %zero : tensor<11x29xf16>, tensor<29x21xf16>, tensor<11x21xf32>
  tile.store %c, %C[%c0, %c0] : tensor<11x21xf32>, !matrix
}
func.func @product_ref(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32> {girih.measure = "product", girih.tol = 1.0e-3 : f64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %C, %c0 : memref<?x?xf32>
  %n = memref.dim %C, %c1 : memref<?x?xf32>
  %k = memref.dim %A, %c1 : memref<?x?xf16>
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f16
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %sum = scf.for %p = %c0 to %k step %c1 iter_args(%s = %zero) -> (f32) {
        %a = memref.load %A[%i, %p] : memref<?x?xf16>
        %b = memref.load %B[%p, %j] : memref<?x?xf16>
        %f = arith.subf %one, %a : f16
        %x = arith.extf %f : f16 to f32
        %y = arith.extf %b : f16 to f32
        %t = arith.mulf %x, %y : f32
        %u = arith.addf %s, %t : f32
        scf.yield %u : f32
      }
      memref.store %sum, %C[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// 96 columns of wgmma, whose rows are reduced: the whole is a tile of 128 columns, of which 96 count.
tile.kernel @gemm(%A: !halves, %B: !halves, %C: !matrix, %T: memref<?xf32, #tile.global>) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %K = memref.dim %A, %c1 : !halves
  %zero = arith.constant dense<0.0> : tensor<64x96xf32>
  %sum = scf.for %k = %c0 to %K step %c16 iter_args(%acc = %zero) -> (tensor<64x96xf32>) {
    %a = tile.load %A[%c0, %k] : !halves -> tensor<64x16xf16>
    %b = tile.load %B[%k, %c0] : !halves -> tensor<16x96xf16>
    %n = tile.mma %a, %b, %acc : tensor<64x16xf16>, tensor<16x96xf16>, tensor<64x96xf32>
    scf.yield %n : tensor<64x96xf32>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<64x96xf32>, !matrix
  %low = arith.constant dense<-1000.0> : tensor<64x96xf32>
  %below = arith.addf %sum, %low : tensor<64x96xf32>
  %max = tile.reduce %below axis 1 (%a: f32, %b: f32) {
    %m = arith.maximumf %a, %b : f32
    tile.yield %m : f32
  } : tensor<64x96xf32> -> tensor<64xf32>
  tile.store %max, %T[%c0] : tensor<64xf32>, memref<?xf32, #tile.global>
}
func.func @gemm_ref(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32> {girih.measure = "product", girih.tol = 1.0e-4 : f64}, %T: memref<?xf32> {girih.rtol = 1.0e-5 : f64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %C, %c0 : memref<?x?xf32>
  %n = memref.dim %C, %c1 : memref<?x?xf32>
  %k = memref.dim %A, %c1 : memref<?x?xf16>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant -1000.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  scf.for %i = %c0 to %m step %c1 {
    %max = scf.for %j = %c0 to %n step %c1 iter_args(%top = %lowest) -> (f32) {
      %sum = scf.for %p = %c0 to %k step %c1 iter_args(%s = %zero) -> (f32) {
        %a = memref.load %A[%i, %p] : memref<?x?xf16>
        %b = memref.load %B[%p, %j] : memref<?x?xf16>
        %x = arith.extf %a : f16 to f32
        %y = arith.extf %b : f16 to f32
        %t = arith.mulf %x, %y : f32
        %u = arith.addf %s, %t : f32
        scf.yield %u : f32
      }
      memref.store %sum, %C[%i, %j] : memref<?x?xf32>
      %below = arith.addf %sum, %low : f32
      %next = arith.maximumf %top, %below : f32
      scf.yield %next : f32
    }
    memref.store %max, %T[%i] : memref<?xf32>
  }
  return
}

// Three elements are printed, not four.
tile.kernel @show() threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %i = tile.iota axis 0 : tensor<3xi32>
  %one = arith.constant dense<1> : tensor<3xi32>
  %ten = arith.constant dense<10> : tensor<3xi32>
  %by = arith.addi %i, %one : tensor<3xi32>
  %q = arith.divsi %ten, %by : tensor<3xi32>
  tile.print "{}", %q : tensor<3xi32>
}
}
