// RUN: girih-opt %s -split-input-file -verify-diagnostics

func.func private @numbers(%m: memref<?x?xf32, #tile.global>, %j: index, %r: tensor<32xi32>) {
  // expected-error @+1 {{takes rows from tensor<32xi32>, but tensor<64x128xf32> needs a number of 32 or 64 bits for each of its rows}}
  %x = tile.gather %m[%j] rows %r : memref<?x?xf32, #tile.global>, tensor<32xi32> -> tensor<64x128xf32>
  return
}

// -----

func.func private @floats(%m: memref<?xf32, #tile.global>, %r: tensor<64xf32>) {
  // expected-error @+1 {{takes rows from tensor<64xf32>, but tensor<64xf32> needs a number of 32 or 64 bits for each of its rows}}
  tile.scatter %r, %m[] rows %r : tensor<64xf32>, memref<?xf32, #tile.global>, tensor<64xf32>
  return
}

// -----

func.func private @indices(%m: memref<?x?xf32, #tile.global>, %j: index, %r: tensor<64xi32>) {
  // expected-error @+1 {{the memref has 2 dimensions, but 3 indices are given}}
  %x = tile.gather %m[%j, %j] rows %r : memref<?x?xf32, #tile.global>, tensor<64xi32> -> tensor<64x128xf32>
  return
}

// -----

func.func private @kind(%m: memref<?xf32, #tile.global>, %i: index, %x: tensor<64xf32>) {
  // expected-error @+1 {{does mins on f32; floats take add, mul, minimumf, maximumf, minnumf, maxnumf, exch and cas}}
  tile.atomic_rmw mins %x, %m[%i] : tensor<64xf32>, memref<?xf32, #tile.global>
  return
}

// -----

func.func private @elements(%m: memref<?xi32, #tile.global>, %i: index, %x: tensor<64xi64>) {
  // expected-error @+1 {{the tile tensor<64xi64> must have the element type of memref<?xi32, #tile.global>}}
  tile.atomic_rmw add %x, %m[%i] : tensor<64xi64>, memref<?xi32, #tile.global>
  return
}

// -----

func.func private @scan(%x: tensor<64xf32>) {
  // expected-error @+1 {{axis 1, but tensor<64xf32> has 1 axes, from 0}}
  %s = tile.scan %x axis 1 (%a: f32, %b: f32) {
    tile.yield %b : f32
  } : tensor<64xf32> -> tensor<64xf32>
  return
}

// -----

func.func private @scanned(%x: tensor<64xf32>) {
  // expected-error @+1 {{scans tensor<64xf32> to tensor<32xf32>; sources and results have one shape, and a result the elements of its source}}
  %s = tile.scan %x axis 0 (%a: f32, %b: f32) {
    tile.yield %b : f32
  } : tensor<64xf32> -> tensor<32xf32>
  return
}

// -----

func.func private @floats(%m: memref<?xf32, #tile.global>, %n: memref<?xi32, #tile.global>, %i: index, %x: tensor<64xf32>, %y: tensor<64xi32>) {
  // expected-error @+1 {{does maximumf on i32; integers take add, mul, mins, maxs, minu, maxu, and, or, xor, exch and cas}}
  tile.atomic_rmw maximumf %y, %n[%i] : tensor<64xi32>, memref<?xi32, #tile.global>
  return
}

// -----

func.func private @nothing(%m: memref<?xf32, #tile.global>, %n: memref<?xi32, #tile.global>, %i: index, %x: tensor<64xf32>, %y: tensor<64xi32>) {
  // expected-error @+1 {{swaps where memory holds something; say what with `compare`}}
  tile.atomic_rmw cas %x, %m[%i] : tensor<64xf32>, memref<?xf32, #tile.global>
  return
}

// -----

func.func private @needless(%m: memref<?xf32, #tile.global>, %n: memref<?xi32, #tile.global>, %i: index, %x: tensor<64xf32>, %y: tensor<64xi32>) {
  // expected-error @+1 {{has `compare`, which add has no use for; leave it out}}
  tile.atomic_rmw add %x, %m[%i] compare %x : tensor<64xf32> : tensor<64xf32>, memref<?xf32, #tile.global>
  return
}

// -----

func.func private @other(%m: memref<?xf32, #tile.global>, %n: memref<?xi32, #tile.global>, %i: index, %x: tensor<64xf32>, %y: tensor<64xi32>) {
  // expected-error @+1 {{compares with tensor<64xi32>, but swaps in tensor<64xf32>; both have one type}}
  tile.atomic_rmw cas %x, %m[%i] compare %y : tensor<64xi32> : tensor<64xf32>, memref<?xf32, #tile.global>
  return
}

// -----

func.func private @result(%m: memref<?xf32, #tile.global>, %n: memref<?xi32, #tile.global>, %i: index, %x: tensor<64xf32>, %y: tensor<64xi32>) {
  // expected-error @+1 {{gives tensor<64xi32> of tensor<64xf32>; the result has its type}}
  %z = tile.atomic_rmw add %x, %m[%i] : tensor<64xf32>, memref<?xf32, #tile.global> -> tensor<64xi32>
  return
}

// -----

func.func private @bytes(%m: memref<?xi8, #tile.global>, %i: index, %x: tensor<64xi8>) {
  // expected-error @+1 {{does add on i8, but atomic operations take i16, i32, i64, f16, bf16, f32 and f64; keep the numbers in memory as one of these}}
  tile.atomic_rmw add %x, %m[%i] : tensor<64xi8>, memref<?xi8, #tile.global>
  return
}

// -----

func.func private @column(%m: memref<?x?xf32, #tile.global>, %i: index, %mask: tensor<64x1xi1>) {
  // expected-error @+1 {{has the mask tensor<64x1xi1>, but tensor<64x128xf32> needs one of its own shape and layout, of i1; tile.broadcast repeats one along an axis}}
  %x = tile.load %m[%i, %i] mask %mask : tensor<64x1xi1> : memref<?x?xf32, #tile.global> -> tensor<64x128xf32>
  return
}

// -----

func.func private @numbers(%m: memref<?xf32, #tile.global>, %i: index, %x: tensor<64xf32>, %mask: tensor<64xi8>) {
  // expected-error @+1 {{has the mask tensor<64xi8>, but tensor<64xf32> needs one of its own shape and layout, of i1}}
  tile.store %x, %m[%i] mask %mask : tensor<64xi8> : tensor<64xf32>, memref<?xf32, #tile.global>
  return
}

// -----

#L = #tile.blocked<per_thread = [1], lanes = [32], warps = [2]>
func.func private @layout(%m: memref<?xf32, #tile.global>, %x: tensor<64xf32, #L>, %rows: tensor<64xi32, #L>, %mask: tensor<64xi1>) {
  // expected-error @+1 {{needs one of its own shape and layout, of i1}}
  tile.scatter %x, %m[] rows %rows mask %mask : tensor<64xi1> : tensor<64xf32, #L>, memref<?xf32, #tile.global>, tensor<64xi32, #L>
  return
}

// -----

func.func private @fragment(%m: memref<64x16xf32, #tile.shared>, %i: index, %mask: tensor<64x16xi1>) {
  // expected-error @+1 {{has a mask, but tensor<64x16xf32, #tile.layout<wgmma_d>> is a fragment of an instruction, which goes as a whole; leave the layout out, or the mask}}
  %x = tile.load %m[%i, %i] mask %mask : tensor<64x16xi1> : memref<64x16xf32, #tile.shared> -> tensor<64x16xf32, #tile.layout<wgmma_d>>
  return
}

// -----

func.func private @strided(%m: memref<8x8xf32, strided<[16, 1]>, #tile.shared>, %i: index, %x: tensor<8x8xf32>) {
  // expected-error @+1 {{combines a tile with memref<8x8xf32, strided<[16, 1]>, #tile.shared>, but in shared memory atomic operations go to contiguous memrefs of static sizes; take a part with tile.slab, or give the indices of the whole}}
  tile.atomic_rmw add %x, %m[%i, %i] : tensor<8x8xf32>, memref<8x8xf32, strided<[16, 1]>, #tile.shared>
  return
}

// -----

func.func private @sizes(%m: memref<?xf32, #tile.shared>, %i: index, %x: tensor<8xf32>) {
  // expected-error @+1 {{combines a tile with memref<?xf32, #tile.shared>, but in shared memory atomic operations go to contiguous memrefs of static sizes; combine with the buffer that tile.alloc gives, whose type has its sizes, and mask what is past the part}}
  tile.atomic_rmw add %x, %m[%i] : tensor<8xf32>, memref<?xf32, #tile.shared>
  return
}

// -----

func.func private @elsewhere(%m: memref<8xf32, #tile.shared_cluster>, %i: index, %x: tensor<8xf32>) {
  // expected-error @+1 {{operand #1 'destination' must be a memref in #tile.global or #tile.shared}}
  tile.atomic_rmw add %x, %m[%i] : tensor<8xf32>, memref<8xf32, #tile.shared_cluster>
  return
}

// -----

func.func private @fragment(%m: memref<64x16xf32, #tile.shared>, %i: index, %x: tensor<64x16xf32, #tile.layout<wgmma_d>>) {
  // expected-error @+1 {{moves tensor<64x16xf32, #tile.layout<wgmma_d>>, but fragments of instructions go with tile.load and tile.store}}
  tile.atomic_rmw add %x, %m[%i, %i] : tensor<64x16xf32, #tile.layout<wgmma_d>>, memref<64x16xf32, #tile.shared>
  return
}

// -----

func.func private @index_rows(%m: memref<?xf32, #tile.global>, %x: tensor<64xf32>, %r: tensor<64xindex>) {
  // expected-error @+1 {{takes rows from tensor<64xindex>, but tensor<64xf32> needs a number of 32 or 64 bits for each of its rows; cast them with arith.index_cast, to i64 where they may be large}}
  tile.scatter %x, %m[] rows %r : tensor<64xf32>, memref<?xf32, #tile.global>, tensor<64xindex>
  return
}
