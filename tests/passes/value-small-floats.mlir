// Floats of 6 and 4 bits: of bits of all kinds, in every direction, and to every other format, against the same on a CPU. By
// integer operations on one target, by instructions on another.
// RUN: girih run %s --target sm_90a --kernel to_e3m2 --device sim --arg X=iota:i64[512] --arg Y=poison:i8[26,512] | FileCheck %s
// RUN: girih run %s --target sm_90a --kernel of_e3m2 --device sim --arg X=iota:i8[64] --arg Y=poison:f32[6,64] | FileCheck %s
// RUN: girih run %s --target sm_120a --kernel to_e3m2 --device sim --arg X=iota:i64[512] --arg Y=poison:i8[26,512] | FileCheck %s
// RUN: girih run %s --target sm_120a --kernel of_e3m2 --device sim --arg X=iota:i8[64] --arg Y=poison:f32[6,64] | FileCheck %s
// RUN: girih run %s --target sm_90a --kernel to_e2m3 --device sim --arg X=iota:i64[512] --arg Y=poison:i8[26,512] | FileCheck %s
// RUN: girih run %s --target sm_90a --kernel of_e2m3 --device sim --arg X=iota:i8[64] --arg Y=poison:f32[6,64] | FileCheck %s
// RUN: girih run %s --target sm_120a --kernel to_e2m3 --device sim --arg X=iota:i64[512] --arg Y=poison:i8[26,512] | FileCheck %s
// RUN: girih run %s --target sm_120a --kernel of_e2m3 --device sim --arg X=iota:i8[64] --arg Y=poison:f32[6,64] | FileCheck %s
// RUN: girih run %s --target sm_90a --kernel to_e2m1 --device sim --arg X=iota:i64[512] --arg Y=poison:i8[26,512] | FileCheck %s
// RUN: girih run %s --target sm_90a --kernel of_e2m1 --device sim --arg X='uniform(low=-128,high=127)':i8[32] --arg Y=poison:f32[6,64] | FileCheck %s
// RUN: girih run %s --target sm_120a --kernel to_e2m1 --device sim --arg X=iota:i64[512] --arg Y=poison:i8[26,512] | FileCheck %s
// RUN: girih run %s --target sm_120a --kernel of_e2m1 --device sim --arg X='uniform(low=-128,high=127)':i8[32] --arg Y=poison:f32[6,64] | FileCheck %s
// CHECK: right: Y: all {{.*}} elements are exact
// RUN: girih compile %s --target sm_100a --emit cubin -o %t.cubin
// RUN: girih compile %s --target sm_120a --emit ptx -o - | FileCheck %s --check-prefix=PTX
// PTX-LABEL: .entry to_e3m2(
// PTX: cvt.rn.satfinite.e3m2x2.f32
// PTX-LABEL: .entry of_e3m2(
// PTX: cvt.rn.f16x2.e3m2x2
// PTX-LABEL: .entry to_e2m3(
// PTX: cvt.rn.satfinite.e2m3x2.f32
// PTX-LABEL: .entry of_e2m3(
// PTX: cvt.rn.f16x2.e2m3x2
// PTX-LABEL: .entry to_e2m1(
// PTX: cvt.rn.satfinite.e2m1x2.f32
// PTX-LABEL: .entry of_e2m1(
// PTX: cvt.rn.f16x2.e2m1x2

!codes = memref<?x?xi8, strided<[?, 1]>, #tile.global>
!values = memref<?x?xf32, strided<[?, 1]>, #tile.global>

tile.kernel @to_e3m2(%X: memref<?xi64, #tile.global>, %Y: !codes) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xi64, #tile.global> -> tensor<512xi64>
  %spread = arith.constant dense<-7046029254386353131> : tensor<512xi64>
  %all = arith.muli %x, %spread : tensor<512xi64>
  %raw_bits = arith.trunci %all : tensor<512xi64> to tensor<512xi32>
  %raw = arith.bitcast %raw_bits : tensor<512xi32> to tensor<512xf32>
  %kept = arith.constant dense<0x87FFFFFF> : tensor<512xi32>
  %few = arith.constant dense<0x87F80000> : tensor<512xi32>
  %low = arith.constant dense<0x3C000000> : tensor<512xi32>
  %near_own = arith.andi %raw_bits, %kept : tensor<512xi32>
  %near_bits = arith.addi %near_own, %low : tensor<512xi32>
  %near = arith.bitcast %near_bits : tensor<512xi32> to tensor<512xf32>
  %tie_own = arith.andi %raw_bits, %few : tensor<512xi32>
  %tie_bits = arith.addi %tie_own, %low : tensor<512xi32>
  %tie = arith.bitcast %tie_bits : tensor<512xi32> to tensor<512xf32>
  %wide_tie = arith.extf %tie : tensor<512xf32> to tensor<512xf64>
  %more = arith.constant dense<1.0000000000001> : tensor<512xf64>
  %double = arith.mulf %wide_tie, %more : tensor<512xf64>
  %n0 = arith.truncf %raw : tensor<512xf32> to tensor<512xf6E3M2FN>
  %n0_byte = tile.bitcast %n0 : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %n0_row = tile.expand_dims %n0_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at0 = arith.constant 0 : index
  tile.store %n0_row, %Y[%at0, %c0] : tensor<1x512xi8>, !codes
  %n1 = arith.truncf %raw to_nearest_away : tensor<512xf32> to tensor<512xf6E3M2FN>
  %n1_byte = tile.bitcast %n1 : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %n1_row = tile.expand_dims %n1_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at1 = arith.constant 1 : index
  tile.store %n1_row, %Y[%at1, %c0] : tensor<1x512xi8>, !codes
  %n2 = arith.truncf %raw toward_zero : tensor<512xf32> to tensor<512xf6E3M2FN>
  %n2_byte = tile.bitcast %n2 : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %n2_row = tile.expand_dims %n2_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at2 = arith.constant 2 : index
  tile.store %n2_row, %Y[%at2, %c0] : tensor<1x512xi8>, !codes
  %n3 = arith.truncf %raw upward : tensor<512xf32> to tensor<512xf6E3M2FN>
  %n3_byte = tile.bitcast %n3 : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %n3_row = tile.expand_dims %n3_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at3 = arith.constant 3 : index
  tile.store %n3_row, %Y[%at3, %c0] : tensor<1x512xi8>, !codes
  %n4 = arith.truncf %raw downward : tensor<512xf32> to tensor<512xf6E3M2FN>
  %n4_byte = tile.bitcast %n4 : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %n4_row = tile.expand_dims %n4_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at4 = arith.constant 4 : index
  tile.store %n4_row, %Y[%at4, %c0] : tensor<1x512xi8>, !codes
  %n5 = arith.truncf %near : tensor<512xf32> to tensor<512xf6E3M2FN>
  %n5_byte = tile.bitcast %n5 : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %n5_row = tile.expand_dims %n5_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at5 = arith.constant 5 : index
  tile.store %n5_row, %Y[%at5, %c0] : tensor<1x512xi8>, !codes
  %n6 = arith.truncf %near to_nearest_away : tensor<512xf32> to tensor<512xf6E3M2FN>
  %n6_byte = tile.bitcast %n6 : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %n6_row = tile.expand_dims %n6_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at6 = arith.constant 6 : index
  tile.store %n6_row, %Y[%at6, %c0] : tensor<1x512xi8>, !codes
  %n7 = arith.truncf %near toward_zero : tensor<512xf32> to tensor<512xf6E3M2FN>
  %n7_byte = tile.bitcast %n7 : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %n7_row = tile.expand_dims %n7_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at7 = arith.constant 7 : index
  tile.store %n7_row, %Y[%at7, %c0] : tensor<1x512xi8>, !codes
  %n8 = arith.truncf %near upward : tensor<512xf32> to tensor<512xf6E3M2FN>
  %n8_byte = tile.bitcast %n8 : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %n8_row = tile.expand_dims %n8_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at8 = arith.constant 8 : index
  tile.store %n8_row, %Y[%at8, %c0] : tensor<1x512xi8>, !codes
  %n9 = arith.truncf %near downward : tensor<512xf32> to tensor<512xf6E3M2FN>
  %n9_byte = tile.bitcast %n9 : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %n9_row = tile.expand_dims %n9_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at9 = arith.constant 9 : index
  tile.store %n9_row, %Y[%at9, %c0] : tensor<1x512xi8>, !codes
  %n10 = arith.truncf %tie : tensor<512xf32> to tensor<512xf6E3M2FN>
  %n10_byte = tile.bitcast %n10 : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %n10_row = tile.expand_dims %n10_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at10 = arith.constant 10 : index
  tile.store %n10_row, %Y[%at10, %c0] : tensor<1x512xi8>, !codes
  %n11 = arith.truncf %tie to_nearest_away : tensor<512xf32> to tensor<512xf6E3M2FN>
  %n11_byte = tile.bitcast %n11 : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %n11_row = tile.expand_dims %n11_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at11 = arith.constant 11 : index
  tile.store %n11_row, %Y[%at11, %c0] : tensor<1x512xi8>, !codes
  %n12 = arith.truncf %tie toward_zero : tensor<512xf32> to tensor<512xf6E3M2FN>
  %n12_byte = tile.bitcast %n12 : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %n12_row = tile.expand_dims %n12_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at12 = arith.constant 12 : index
  tile.store %n12_row, %Y[%at12, %c0] : tensor<1x512xi8>, !codes
  %n13 = arith.truncf %tie upward : tensor<512xf32> to tensor<512xf6E3M2FN>
  %n13_byte = tile.bitcast %n13 : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %n13_row = tile.expand_dims %n13_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at13 = arith.constant 13 : index
  tile.store %n13_row, %Y[%at13, %c0] : tensor<1x512xi8>, !codes
  %n14 = arith.truncf %tie downward : tensor<512xf32> to tensor<512xf6E3M2FN>
  %n14_byte = tile.bitcast %n14 : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %n14_row = tile.expand_dims %n14_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at14 = arith.constant 14 : index
  tile.store %n14_row, %Y[%at14, %c0] : tensor<1x512xi8>, !codes
  %n15 = arith.truncf %double : tensor<512xf64> to tensor<512xf6E3M2FN>
  %n15_byte = tile.bitcast %n15 : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %n15_row = tile.expand_dims %n15_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at15 = arith.constant 15 : index
  tile.store %n15_row, %Y[%at15, %c0] : tensor<1x512xi8>, !codes
  %n16 = arith.truncf %double to_nearest_away : tensor<512xf64> to tensor<512xf6E3M2FN>
  %n16_byte = tile.bitcast %n16 : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %n16_row = tile.expand_dims %n16_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at16 = arith.constant 16 : index
  tile.store %n16_row, %Y[%at16, %c0] : tensor<1x512xi8>, !codes
  %n17 = arith.truncf %double toward_zero : tensor<512xf64> to tensor<512xf6E3M2FN>
  %n17_byte = tile.bitcast %n17 : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %n17_row = tile.expand_dims %n17_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at17 = arith.constant 17 : index
  tile.store %n17_row, %Y[%at17, %c0] : tensor<1x512xi8>, !codes
  %n18 = arith.truncf %double upward : tensor<512xf64> to tensor<512xf6E3M2FN>
  %n18_byte = tile.bitcast %n18 : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %n18_row = tile.expand_dims %n18_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at18 = arith.constant 18 : index
  tile.store %n18_row, %Y[%at18, %c0] : tensor<1x512xi8>, !codes
  %n19 = arith.truncf %double downward : tensor<512xf64> to tensor<512xf6E3M2FN>
  %n19_byte = tile.bitcast %n19 : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %n19_row = tile.expand_dims %n19_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at19 = arith.constant 19 : index
  tile.store %n19_row, %Y[%at19, %c0] : tensor<1x512xi8>, !codes
  %sum = arith.addf %n10, %n5 : tensor<512xf6E3M2FN>
  %sum_byte = tile.bitcast %sum : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %sum_row = tile.expand_dims %sum_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at20 = arith.constant 20 : index
  tile.store %sum_row, %Y[%at20, %c0] : tensor<1x512xi8>, !codes
  %most = arith.maximumf %n10, %n5 : tensor<512xf6E3M2FN>
  %most_byte = tile.bitcast %most : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %most_row = tile.expand_dims %most_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at21 = arith.constant 21 : index
  tile.store %most_row, %Y[%at21, %c0] : tensor<1x512xi8>, !codes
  %minus = arith.negf %n10 : tensor<512xf6E3M2FN>
  %minus_byte = tile.bitcast %minus : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %minus_row = tile.expand_dims %minus_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at22 = arith.constant 22 : index
  tile.store %minus_row, %Y[%at22, %c0] : tensor<1x512xi8>, !codes
  %size = math.absf %n10 : tensor<512xf6E3M2FN>
  %size_byte = tile.bitcast %size : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %size_row = tile.expand_dims %size_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at23 = arith.constant 23 : index
  tile.store %size_row, %Y[%at23, %c0] : tensor<1x512xi8>, !codes
  %less = arith.cmpf olt, %n10, %n5 : tensor<512xf6E3M2FN>
  %other = arith.select %less, %n10, %n5 : tensor<512xi1>, tensor<512xf6E3M2FN>
  %other_byte = tile.bitcast %other : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %other_row = tile.expand_dims %other_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at24 = arith.constant 24 : index
  tile.store %other_row, %Y[%at24, %c0] : tensor<1x512xi8>, !codes
  %whole = arith.fptosi %n10 : tensor<512xf6E3M2FN> to tensor<512xi32>
  %back = arith.sitofp %whole : tensor<512xi32> to tensor<512xf6E3M2FN>
  %back_byte = tile.bitcast %back : tensor<512xf6E3M2FN> -> tensor<512xi8>
  %back_row = tile.expand_dims %back_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at25 = arith.constant 25 : index
  tile.store %back_row, %Y[%at25, %c0] : tensor<1x512xi8>, !codes
}
func.func @to_e3m2_ref(%X: memref<?xi64>, %Y: memref<?x?xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %X, %c0 : memref<?xi64>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %X[%i] : memref<?xi64>
    %spread = arith.constant -7046029254386353131 : i64
    %all = arith.muli %x, %spread : i64
    %raw_bits = arith.trunci %all : i64 to i32
    %raw = arith.bitcast %raw_bits : i32 to f32
    %kept = arith.constant 0x87FFFFFF : i32
    %few = arith.constant 0x87F80000 : i32
    %low = arith.constant 0x3C000000 : i32
    %near_own = arith.andi %raw_bits, %kept : i32
    %near_bits = arith.addi %near_own, %low : i32
    %near = arith.bitcast %near_bits : i32 to f32
    %tie_own = arith.andi %raw_bits, %few : i32
    %tie_bits = arith.addi %tie_own, %low : i32
    %tie = arith.bitcast %tie_bits : i32 to f32
    %wide_tie = arith.extf %tie : f32 to f64
    %more = arith.constant 1.0000000000001 : f64
    %double = arith.mulf %wide_tie, %more : f64
    %n0 = arith.truncf %raw : f32 to f6E3M2FN
    %n0_code = arith.bitcast %n0 : f6E3M2FN to i6
    %n0_byte = arith.extui %n0_code : i6 to i8
    %at0 = arith.constant 0 : index
    memref.store %n0_byte, %Y[%at0, %i] : memref<?x?xi8>
    %n1 = arith.truncf %raw to_nearest_away : f32 to f6E3M2FN
    %n1_code = arith.bitcast %n1 : f6E3M2FN to i6
    %n1_byte = arith.extui %n1_code : i6 to i8
    %at1 = arith.constant 1 : index
    memref.store %n1_byte, %Y[%at1, %i] : memref<?x?xi8>
    %n2 = arith.truncf %raw toward_zero : f32 to f6E3M2FN
    %n2_code = arith.bitcast %n2 : f6E3M2FN to i6
    %n2_byte = arith.extui %n2_code : i6 to i8
    %at2 = arith.constant 2 : index
    memref.store %n2_byte, %Y[%at2, %i] : memref<?x?xi8>
    %n3 = arith.truncf %raw upward : f32 to f6E3M2FN
    %n3_code = arith.bitcast %n3 : f6E3M2FN to i6
    %n3_byte = arith.extui %n3_code : i6 to i8
    %at3 = arith.constant 3 : index
    memref.store %n3_byte, %Y[%at3, %i] : memref<?x?xi8>
    %n4 = arith.truncf %raw downward : f32 to f6E3M2FN
    %n4_code = arith.bitcast %n4 : f6E3M2FN to i6
    %n4_byte = arith.extui %n4_code : i6 to i8
    %at4 = arith.constant 4 : index
    memref.store %n4_byte, %Y[%at4, %i] : memref<?x?xi8>
    %n5 = arith.truncf %near : f32 to f6E3M2FN
    %n5_code = arith.bitcast %n5 : f6E3M2FN to i6
    %n5_byte = arith.extui %n5_code : i6 to i8
    %at5 = arith.constant 5 : index
    memref.store %n5_byte, %Y[%at5, %i] : memref<?x?xi8>
    %n6 = arith.truncf %near to_nearest_away : f32 to f6E3M2FN
    %n6_code = arith.bitcast %n6 : f6E3M2FN to i6
    %n6_byte = arith.extui %n6_code : i6 to i8
    %at6 = arith.constant 6 : index
    memref.store %n6_byte, %Y[%at6, %i] : memref<?x?xi8>
    %n7 = arith.truncf %near toward_zero : f32 to f6E3M2FN
    %n7_code = arith.bitcast %n7 : f6E3M2FN to i6
    %n7_byte = arith.extui %n7_code : i6 to i8
    %at7 = arith.constant 7 : index
    memref.store %n7_byte, %Y[%at7, %i] : memref<?x?xi8>
    %n8 = arith.truncf %near upward : f32 to f6E3M2FN
    %n8_code = arith.bitcast %n8 : f6E3M2FN to i6
    %n8_byte = arith.extui %n8_code : i6 to i8
    %at8 = arith.constant 8 : index
    memref.store %n8_byte, %Y[%at8, %i] : memref<?x?xi8>
    %n9 = arith.truncf %near downward : f32 to f6E3M2FN
    %n9_code = arith.bitcast %n9 : f6E3M2FN to i6
    %n9_byte = arith.extui %n9_code : i6 to i8
    %at9 = arith.constant 9 : index
    memref.store %n9_byte, %Y[%at9, %i] : memref<?x?xi8>
    %n10 = arith.truncf %tie : f32 to f6E3M2FN
    %n10_code = arith.bitcast %n10 : f6E3M2FN to i6
    %n10_byte = arith.extui %n10_code : i6 to i8
    %at10 = arith.constant 10 : index
    memref.store %n10_byte, %Y[%at10, %i] : memref<?x?xi8>
    %n11 = arith.truncf %tie to_nearest_away : f32 to f6E3M2FN
    %n11_code = arith.bitcast %n11 : f6E3M2FN to i6
    %n11_byte = arith.extui %n11_code : i6 to i8
    %at11 = arith.constant 11 : index
    memref.store %n11_byte, %Y[%at11, %i] : memref<?x?xi8>
    %n12 = arith.truncf %tie toward_zero : f32 to f6E3M2FN
    %n12_code = arith.bitcast %n12 : f6E3M2FN to i6
    %n12_byte = arith.extui %n12_code : i6 to i8
    %at12 = arith.constant 12 : index
    memref.store %n12_byte, %Y[%at12, %i] : memref<?x?xi8>
    %n13 = arith.truncf %tie upward : f32 to f6E3M2FN
    %n13_code = arith.bitcast %n13 : f6E3M2FN to i6
    %n13_byte = arith.extui %n13_code : i6 to i8
    %at13 = arith.constant 13 : index
    memref.store %n13_byte, %Y[%at13, %i] : memref<?x?xi8>
    %n14 = arith.truncf %tie downward : f32 to f6E3M2FN
    %n14_code = arith.bitcast %n14 : f6E3M2FN to i6
    %n14_byte = arith.extui %n14_code : i6 to i8
    %at14 = arith.constant 14 : index
    memref.store %n14_byte, %Y[%at14, %i] : memref<?x?xi8>
    %n15 = arith.truncf %double : f64 to f6E3M2FN
    %n15_code = arith.bitcast %n15 : f6E3M2FN to i6
    %n15_byte = arith.extui %n15_code : i6 to i8
    %at15 = arith.constant 15 : index
    memref.store %n15_byte, %Y[%at15, %i] : memref<?x?xi8>
    %n16 = arith.truncf %double to_nearest_away : f64 to f6E3M2FN
    %n16_code = arith.bitcast %n16 : f6E3M2FN to i6
    %n16_byte = arith.extui %n16_code : i6 to i8
    %at16 = arith.constant 16 : index
    memref.store %n16_byte, %Y[%at16, %i] : memref<?x?xi8>
    %n17 = arith.truncf %double toward_zero : f64 to f6E3M2FN
    %n17_code = arith.bitcast %n17 : f6E3M2FN to i6
    %n17_byte = arith.extui %n17_code : i6 to i8
    %at17 = arith.constant 17 : index
    memref.store %n17_byte, %Y[%at17, %i] : memref<?x?xi8>
    %n18 = arith.truncf %double upward : f64 to f6E3M2FN
    %n18_code = arith.bitcast %n18 : f6E3M2FN to i6
    %n18_byte = arith.extui %n18_code : i6 to i8
    %at18 = arith.constant 18 : index
    memref.store %n18_byte, %Y[%at18, %i] : memref<?x?xi8>
    %n19 = arith.truncf %double downward : f64 to f6E3M2FN
    %n19_code = arith.bitcast %n19 : f6E3M2FN to i6
    %n19_byte = arith.extui %n19_code : i6 to i8
    %at19 = arith.constant 19 : index
    memref.store %n19_byte, %Y[%at19, %i] : memref<?x?xi8>
    %sum = arith.addf %n10, %n5 : f6E3M2FN
    %sum_code = arith.bitcast %sum : f6E3M2FN to i6
    %sum_byte = arith.extui %sum_code : i6 to i8
    %at20 = arith.constant 20 : index
    memref.store %sum_byte, %Y[%at20, %i] : memref<?x?xi8>
    %most = arith.maximumf %n10, %n5 : f6E3M2FN
    %most_code = arith.bitcast %most : f6E3M2FN to i6
    %most_byte = arith.extui %most_code : i6 to i8
    %at21 = arith.constant 21 : index
    memref.store %most_byte, %Y[%at21, %i] : memref<?x?xi8>
    %minus = arith.negf %n10 : f6E3M2FN
    %minus_code = arith.bitcast %minus : f6E3M2FN to i6
    %minus_byte = arith.extui %minus_code : i6 to i8
    %at22 = arith.constant 22 : index
    memref.store %minus_byte, %Y[%at22, %i] : memref<?x?xi8>
    %size = math.absf %n10 : f6E3M2FN
    %size_code = arith.bitcast %size : f6E3M2FN to i6
    %size_byte = arith.extui %size_code : i6 to i8
    %at23 = arith.constant 23 : index
    memref.store %size_byte, %Y[%at23, %i] : memref<?x?xi8>
    %less = arith.cmpf olt, %n10, %n5 : f6E3M2FN
    %other = arith.select %less, %n10, %n5 : f6E3M2FN
    %other_code = arith.bitcast %other : f6E3M2FN to i6
    %other_byte = arith.extui %other_code : i6 to i8
    %at24 = arith.constant 24 : index
    memref.store %other_byte, %Y[%at24, %i] : memref<?x?xi8>
    %whole = arith.fptosi %n10 : f6E3M2FN to i32
    %back = arith.sitofp %whole : i32 to f6E3M2FN
    %back_code = arith.bitcast %back : f6E3M2FN to i6
    %back_byte = arith.extui %back_code : i6 to i8
    %at25 = arith.constant 25 : index
    memref.store %back_byte, %Y[%at25, %i] : memref<?x?xi8>
  }
  return
}

tile.kernel @of_e3m2(%X: memref<?xi8, #tile.global>, %Y: !values) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<-0.0> : tensor<64xf32>
  %bytes = tile.load %X[%c0] : memref<?xi8, #tile.global> -> tensor<64xi8>
  %x = tile.bitcast %bytes : tensor<64xi8> -> tensor<64xf6E3M2FN>
  %v0 = arith.extf %x : tensor<64xf6E3M2FN> to tensor<64xf16>
  %w0 = arith.extf %v0 : tensor<64xf16> to tensor<64xf32>
  %r0 = tile.expand_dims %w0 axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %at0 = arith.constant 0 : index
  tile.store %r0, %Y[%at0, %c0] : tensor<1x64xf32>, !values
  %v1 = arith.extf %x : tensor<64xf6E3M2FN> to tensor<64xbf16>
  %w1 = arith.extf %v1 : tensor<64xbf16> to tensor<64xf32>
  %r1 = tile.expand_dims %w1 axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %at1 = arith.constant 1 : index
  tile.store %r1, %Y[%at1, %c0] : tensor<1x64xf32>, !values
  %v2 = arith.extf %x : tensor<64xf6E3M2FN> to tensor<64xf32>
  %w2 = arith.addf %v2, %zero : tensor<64xf32>
  %r2 = tile.expand_dims %w2 axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %at2 = arith.constant 2 : index
  tile.store %r2, %Y[%at2, %c0] : tensor<1x64xf32>, !values
  %v3 = arith.extf %x : tensor<64xf6E3M2FN> to tensor<64xf64>
  %w3 = arith.truncf %v3 : tensor<64xf64> to tensor<64xf32>
  %r3 = tile.expand_dims %w3 axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %at3 = arith.constant 3 : index
  tile.store %r3, %Y[%at3, %c0] : tensor<1x64xf32>, !values
  %v4 = arith.extf %x : tensor<64xf6E3M2FN> to tensor<64xf8E4M3FN>
  %w4 = arith.extf %v4 : tensor<64xf8E4M3FN> to tensor<64xf32>
  %r4 = tile.expand_dims %w4 axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %at4 = arith.constant 4 : index
  tile.store %r4, %Y[%at4, %c0] : tensor<1x64xf32>, !values
  %v5 = arith.extf %x : tensor<64xf6E3M2FN> to tensor<64xf8E5M2>
  %w5 = arith.extf %v5 : tensor<64xf8E5M2> to tensor<64xf32>
  %r5 = tile.expand_dims %w5 axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %at5 = arith.constant 5 : index
  tile.store %r5, %Y[%at5, %c0] : tensor<1x64xf32>, !values
}
func.func @of_e3m2_ref(%X: memref<?xi8>, %Y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant -0.0 : f32
  %n = memref.dim %X, %c0 : memref<?xi8>
  scf.for %i = %c0 to %n step %c1 {
    %byte = memref.load %X[%i] : memref<?xi8>
    %code = arith.trunci %byte : i8 to i6
    %x = arith.bitcast %code : i6 to f6E3M2FN
    %v0 = arith.extf %x : f6E3M2FN to f16
    %w0 = arith.extf %v0 : f16 to f32
    %at0 = arith.constant 0 : index
    memref.store %w0, %Y[%at0, %i] : memref<?x?xf32>
    %v1 = arith.extf %x : f6E3M2FN to bf16
    %w1 = arith.extf %v1 : bf16 to f32
    %at1 = arith.constant 1 : index
    memref.store %w1, %Y[%at1, %i] : memref<?x?xf32>
    %v2 = arith.extf %x : f6E3M2FN to f32
    %w2 = arith.addf %v2, %zero : f32
    %at2 = arith.constant 2 : index
    memref.store %w2, %Y[%at2, %i] : memref<?x?xf32>
    %v3 = arith.extf %x : f6E3M2FN to f64
    %w3 = arith.truncf %v3 : f64 to f32
    %at3 = arith.constant 3 : index
    memref.store %w3, %Y[%at3, %i] : memref<?x?xf32>
    %v4 = arith.extf %x : f6E3M2FN to f8E4M3FN
    %w4 = arith.extf %v4 : f8E4M3FN to f32
    %at4 = arith.constant 4 : index
    memref.store %w4, %Y[%at4, %i] : memref<?x?xf32>
    %v5 = arith.extf %x : f6E3M2FN to f8E5M2
    %w5 = arith.extf %v5 : f8E5M2 to f32
    %at5 = arith.constant 5 : index
    memref.store %w5, %Y[%at5, %i] : memref<?x?xf32>
  }
  return
}

tile.kernel @to_e2m3(%X: memref<?xi64, #tile.global>, %Y: !codes) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xi64, #tile.global> -> tensor<512xi64>
  %spread = arith.constant dense<-7046029254386353131> : tensor<512xi64>
  %all = arith.muli %x, %spread : tensor<512xi64>
  %raw_bits = arith.trunci %all : tensor<512xi64> to tensor<512xi32>
  %raw = arith.bitcast %raw_bits : tensor<512xi32> to tensor<512xf32>
  %kept = arith.constant dense<0x87FFFFFF> : tensor<512xi32>
  %few = arith.constant dense<0x87F80000> : tensor<512xi32>
  %low = arith.constant dense<0x3C000000> : tensor<512xi32>
  %near_own = arith.andi %raw_bits, %kept : tensor<512xi32>
  %near_bits = arith.addi %near_own, %low : tensor<512xi32>
  %near = arith.bitcast %near_bits : tensor<512xi32> to tensor<512xf32>
  %tie_own = arith.andi %raw_bits, %few : tensor<512xi32>
  %tie_bits = arith.addi %tie_own, %low : tensor<512xi32>
  %tie = arith.bitcast %tie_bits : tensor<512xi32> to tensor<512xf32>
  %wide_tie = arith.extf %tie : tensor<512xf32> to tensor<512xf64>
  %more = arith.constant dense<1.0000000000001> : tensor<512xf64>
  %double = arith.mulf %wide_tie, %more : tensor<512xf64>
  %n0 = arith.truncf %raw : tensor<512xf32> to tensor<512xf6E2M3FN>
  %n0_byte = tile.bitcast %n0 : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %n0_row = tile.expand_dims %n0_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at0 = arith.constant 0 : index
  tile.store %n0_row, %Y[%at0, %c0] : tensor<1x512xi8>, !codes
  %n1 = arith.truncf %raw to_nearest_away : tensor<512xf32> to tensor<512xf6E2M3FN>
  %n1_byte = tile.bitcast %n1 : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %n1_row = tile.expand_dims %n1_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at1 = arith.constant 1 : index
  tile.store %n1_row, %Y[%at1, %c0] : tensor<1x512xi8>, !codes
  %n2 = arith.truncf %raw toward_zero : tensor<512xf32> to tensor<512xf6E2M3FN>
  %n2_byte = tile.bitcast %n2 : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %n2_row = tile.expand_dims %n2_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at2 = arith.constant 2 : index
  tile.store %n2_row, %Y[%at2, %c0] : tensor<1x512xi8>, !codes
  %n3 = arith.truncf %raw upward : tensor<512xf32> to tensor<512xf6E2M3FN>
  %n3_byte = tile.bitcast %n3 : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %n3_row = tile.expand_dims %n3_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at3 = arith.constant 3 : index
  tile.store %n3_row, %Y[%at3, %c0] : tensor<1x512xi8>, !codes
  %n4 = arith.truncf %raw downward : tensor<512xf32> to tensor<512xf6E2M3FN>
  %n4_byte = tile.bitcast %n4 : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %n4_row = tile.expand_dims %n4_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at4 = arith.constant 4 : index
  tile.store %n4_row, %Y[%at4, %c0] : tensor<1x512xi8>, !codes
  %n5 = arith.truncf %near : tensor<512xf32> to tensor<512xf6E2M3FN>
  %n5_byte = tile.bitcast %n5 : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %n5_row = tile.expand_dims %n5_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at5 = arith.constant 5 : index
  tile.store %n5_row, %Y[%at5, %c0] : tensor<1x512xi8>, !codes
  %n6 = arith.truncf %near to_nearest_away : tensor<512xf32> to tensor<512xf6E2M3FN>
  %n6_byte = tile.bitcast %n6 : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %n6_row = tile.expand_dims %n6_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at6 = arith.constant 6 : index
  tile.store %n6_row, %Y[%at6, %c0] : tensor<1x512xi8>, !codes
  %n7 = arith.truncf %near toward_zero : tensor<512xf32> to tensor<512xf6E2M3FN>
  %n7_byte = tile.bitcast %n7 : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %n7_row = tile.expand_dims %n7_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at7 = arith.constant 7 : index
  tile.store %n7_row, %Y[%at7, %c0] : tensor<1x512xi8>, !codes
  %n8 = arith.truncf %near upward : tensor<512xf32> to tensor<512xf6E2M3FN>
  %n8_byte = tile.bitcast %n8 : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %n8_row = tile.expand_dims %n8_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at8 = arith.constant 8 : index
  tile.store %n8_row, %Y[%at8, %c0] : tensor<1x512xi8>, !codes
  %n9 = arith.truncf %near downward : tensor<512xf32> to tensor<512xf6E2M3FN>
  %n9_byte = tile.bitcast %n9 : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %n9_row = tile.expand_dims %n9_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at9 = arith.constant 9 : index
  tile.store %n9_row, %Y[%at9, %c0] : tensor<1x512xi8>, !codes
  %n10 = arith.truncf %tie : tensor<512xf32> to tensor<512xf6E2M3FN>
  %n10_byte = tile.bitcast %n10 : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %n10_row = tile.expand_dims %n10_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at10 = arith.constant 10 : index
  tile.store %n10_row, %Y[%at10, %c0] : tensor<1x512xi8>, !codes
  %n11 = arith.truncf %tie to_nearest_away : tensor<512xf32> to tensor<512xf6E2M3FN>
  %n11_byte = tile.bitcast %n11 : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %n11_row = tile.expand_dims %n11_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at11 = arith.constant 11 : index
  tile.store %n11_row, %Y[%at11, %c0] : tensor<1x512xi8>, !codes
  %n12 = arith.truncf %tie toward_zero : tensor<512xf32> to tensor<512xf6E2M3FN>
  %n12_byte = tile.bitcast %n12 : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %n12_row = tile.expand_dims %n12_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at12 = arith.constant 12 : index
  tile.store %n12_row, %Y[%at12, %c0] : tensor<1x512xi8>, !codes
  %n13 = arith.truncf %tie upward : tensor<512xf32> to tensor<512xf6E2M3FN>
  %n13_byte = tile.bitcast %n13 : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %n13_row = tile.expand_dims %n13_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at13 = arith.constant 13 : index
  tile.store %n13_row, %Y[%at13, %c0] : tensor<1x512xi8>, !codes
  %n14 = arith.truncf %tie downward : tensor<512xf32> to tensor<512xf6E2M3FN>
  %n14_byte = tile.bitcast %n14 : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %n14_row = tile.expand_dims %n14_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at14 = arith.constant 14 : index
  tile.store %n14_row, %Y[%at14, %c0] : tensor<1x512xi8>, !codes
  %n15 = arith.truncf %double : tensor<512xf64> to tensor<512xf6E2M3FN>
  %n15_byte = tile.bitcast %n15 : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %n15_row = tile.expand_dims %n15_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at15 = arith.constant 15 : index
  tile.store %n15_row, %Y[%at15, %c0] : tensor<1x512xi8>, !codes
  %n16 = arith.truncf %double to_nearest_away : tensor<512xf64> to tensor<512xf6E2M3FN>
  %n16_byte = tile.bitcast %n16 : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %n16_row = tile.expand_dims %n16_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at16 = arith.constant 16 : index
  tile.store %n16_row, %Y[%at16, %c0] : tensor<1x512xi8>, !codes
  %n17 = arith.truncf %double toward_zero : tensor<512xf64> to tensor<512xf6E2M3FN>
  %n17_byte = tile.bitcast %n17 : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %n17_row = tile.expand_dims %n17_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at17 = arith.constant 17 : index
  tile.store %n17_row, %Y[%at17, %c0] : tensor<1x512xi8>, !codes
  %n18 = arith.truncf %double upward : tensor<512xf64> to tensor<512xf6E2M3FN>
  %n18_byte = tile.bitcast %n18 : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %n18_row = tile.expand_dims %n18_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at18 = arith.constant 18 : index
  tile.store %n18_row, %Y[%at18, %c0] : tensor<1x512xi8>, !codes
  %n19 = arith.truncf %double downward : tensor<512xf64> to tensor<512xf6E2M3FN>
  %n19_byte = tile.bitcast %n19 : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %n19_row = tile.expand_dims %n19_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at19 = arith.constant 19 : index
  tile.store %n19_row, %Y[%at19, %c0] : tensor<1x512xi8>, !codes
  %sum = arith.addf %n10, %n5 : tensor<512xf6E2M3FN>
  %sum_byte = tile.bitcast %sum : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %sum_row = tile.expand_dims %sum_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at20 = arith.constant 20 : index
  tile.store %sum_row, %Y[%at20, %c0] : tensor<1x512xi8>, !codes
  %most = arith.maximumf %n10, %n5 : tensor<512xf6E2M3FN>
  %most_byte = tile.bitcast %most : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %most_row = tile.expand_dims %most_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at21 = arith.constant 21 : index
  tile.store %most_row, %Y[%at21, %c0] : tensor<1x512xi8>, !codes
  %minus = arith.negf %n10 : tensor<512xf6E2M3FN>
  %minus_byte = tile.bitcast %minus : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %minus_row = tile.expand_dims %minus_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at22 = arith.constant 22 : index
  tile.store %minus_row, %Y[%at22, %c0] : tensor<1x512xi8>, !codes
  %size = math.absf %n10 : tensor<512xf6E2M3FN>
  %size_byte = tile.bitcast %size : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %size_row = tile.expand_dims %size_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at23 = arith.constant 23 : index
  tile.store %size_row, %Y[%at23, %c0] : tensor<1x512xi8>, !codes
  %less = arith.cmpf olt, %n10, %n5 : tensor<512xf6E2M3FN>
  %other = arith.select %less, %n10, %n5 : tensor<512xi1>, tensor<512xf6E2M3FN>
  %other_byte = tile.bitcast %other : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %other_row = tile.expand_dims %other_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at24 = arith.constant 24 : index
  tile.store %other_row, %Y[%at24, %c0] : tensor<1x512xi8>, !codes
  %whole = arith.fptosi %n10 : tensor<512xf6E2M3FN> to tensor<512xi32>
  %back = arith.sitofp %whole : tensor<512xi32> to tensor<512xf6E2M3FN>
  %back_byte = tile.bitcast %back : tensor<512xf6E2M3FN> -> tensor<512xi8>
  %back_row = tile.expand_dims %back_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at25 = arith.constant 25 : index
  tile.store %back_row, %Y[%at25, %c0] : tensor<1x512xi8>, !codes
}
func.func @to_e2m3_ref(%X: memref<?xi64>, %Y: memref<?x?xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %X, %c0 : memref<?xi64>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %X[%i] : memref<?xi64>
    %spread = arith.constant -7046029254386353131 : i64
    %all = arith.muli %x, %spread : i64
    %raw_bits = arith.trunci %all : i64 to i32
    %raw = arith.bitcast %raw_bits : i32 to f32
    %kept = arith.constant 0x87FFFFFF : i32
    %few = arith.constant 0x87F80000 : i32
    %low = arith.constant 0x3C000000 : i32
    %near_own = arith.andi %raw_bits, %kept : i32
    %near_bits = arith.addi %near_own, %low : i32
    %near = arith.bitcast %near_bits : i32 to f32
    %tie_own = arith.andi %raw_bits, %few : i32
    %tie_bits = arith.addi %tie_own, %low : i32
    %tie = arith.bitcast %tie_bits : i32 to f32
    %wide_tie = arith.extf %tie : f32 to f64
    %more = arith.constant 1.0000000000001 : f64
    %double = arith.mulf %wide_tie, %more : f64
    %n0 = arith.truncf %raw : f32 to f6E2M3FN
    %n0_code = arith.bitcast %n0 : f6E2M3FN to i6
    %n0_byte = arith.extui %n0_code : i6 to i8
    %at0 = arith.constant 0 : index
    memref.store %n0_byte, %Y[%at0, %i] : memref<?x?xi8>
    %n1 = arith.truncf %raw to_nearest_away : f32 to f6E2M3FN
    %n1_code = arith.bitcast %n1 : f6E2M3FN to i6
    %n1_byte = arith.extui %n1_code : i6 to i8
    %at1 = arith.constant 1 : index
    memref.store %n1_byte, %Y[%at1, %i] : memref<?x?xi8>
    %n2 = arith.truncf %raw toward_zero : f32 to f6E2M3FN
    %n2_code = arith.bitcast %n2 : f6E2M3FN to i6
    %n2_byte = arith.extui %n2_code : i6 to i8
    %at2 = arith.constant 2 : index
    memref.store %n2_byte, %Y[%at2, %i] : memref<?x?xi8>
    %n3 = arith.truncf %raw upward : f32 to f6E2M3FN
    %n3_code = arith.bitcast %n3 : f6E2M3FN to i6
    %n3_byte = arith.extui %n3_code : i6 to i8
    %at3 = arith.constant 3 : index
    memref.store %n3_byte, %Y[%at3, %i] : memref<?x?xi8>
    %n4 = arith.truncf %raw downward : f32 to f6E2M3FN
    %n4_code = arith.bitcast %n4 : f6E2M3FN to i6
    %n4_byte = arith.extui %n4_code : i6 to i8
    %at4 = arith.constant 4 : index
    memref.store %n4_byte, %Y[%at4, %i] : memref<?x?xi8>
    %n5 = arith.truncf %near : f32 to f6E2M3FN
    %n5_code = arith.bitcast %n5 : f6E2M3FN to i6
    %n5_byte = arith.extui %n5_code : i6 to i8
    %at5 = arith.constant 5 : index
    memref.store %n5_byte, %Y[%at5, %i] : memref<?x?xi8>
    %n6 = arith.truncf %near to_nearest_away : f32 to f6E2M3FN
    %n6_code = arith.bitcast %n6 : f6E2M3FN to i6
    %n6_byte = arith.extui %n6_code : i6 to i8
    %at6 = arith.constant 6 : index
    memref.store %n6_byte, %Y[%at6, %i] : memref<?x?xi8>
    %n7 = arith.truncf %near toward_zero : f32 to f6E2M3FN
    %n7_code = arith.bitcast %n7 : f6E2M3FN to i6
    %n7_byte = arith.extui %n7_code : i6 to i8
    %at7 = arith.constant 7 : index
    memref.store %n7_byte, %Y[%at7, %i] : memref<?x?xi8>
    %n8 = arith.truncf %near upward : f32 to f6E2M3FN
    %n8_code = arith.bitcast %n8 : f6E2M3FN to i6
    %n8_byte = arith.extui %n8_code : i6 to i8
    %at8 = arith.constant 8 : index
    memref.store %n8_byte, %Y[%at8, %i] : memref<?x?xi8>
    %n9 = arith.truncf %near downward : f32 to f6E2M3FN
    %n9_code = arith.bitcast %n9 : f6E2M3FN to i6
    %n9_byte = arith.extui %n9_code : i6 to i8
    %at9 = arith.constant 9 : index
    memref.store %n9_byte, %Y[%at9, %i] : memref<?x?xi8>
    %n10 = arith.truncf %tie : f32 to f6E2M3FN
    %n10_code = arith.bitcast %n10 : f6E2M3FN to i6
    %n10_byte = arith.extui %n10_code : i6 to i8
    %at10 = arith.constant 10 : index
    memref.store %n10_byte, %Y[%at10, %i] : memref<?x?xi8>
    %n11 = arith.truncf %tie to_nearest_away : f32 to f6E2M3FN
    %n11_code = arith.bitcast %n11 : f6E2M3FN to i6
    %n11_byte = arith.extui %n11_code : i6 to i8
    %at11 = arith.constant 11 : index
    memref.store %n11_byte, %Y[%at11, %i] : memref<?x?xi8>
    %n12 = arith.truncf %tie toward_zero : f32 to f6E2M3FN
    %n12_code = arith.bitcast %n12 : f6E2M3FN to i6
    %n12_byte = arith.extui %n12_code : i6 to i8
    %at12 = arith.constant 12 : index
    memref.store %n12_byte, %Y[%at12, %i] : memref<?x?xi8>
    %n13 = arith.truncf %tie upward : f32 to f6E2M3FN
    %n13_code = arith.bitcast %n13 : f6E2M3FN to i6
    %n13_byte = arith.extui %n13_code : i6 to i8
    %at13 = arith.constant 13 : index
    memref.store %n13_byte, %Y[%at13, %i] : memref<?x?xi8>
    %n14 = arith.truncf %tie downward : f32 to f6E2M3FN
    %n14_code = arith.bitcast %n14 : f6E2M3FN to i6
    %n14_byte = arith.extui %n14_code : i6 to i8
    %at14 = arith.constant 14 : index
    memref.store %n14_byte, %Y[%at14, %i] : memref<?x?xi8>
    %n15 = arith.truncf %double : f64 to f6E2M3FN
    %n15_code = arith.bitcast %n15 : f6E2M3FN to i6
    %n15_byte = arith.extui %n15_code : i6 to i8
    %at15 = arith.constant 15 : index
    memref.store %n15_byte, %Y[%at15, %i] : memref<?x?xi8>
    %n16 = arith.truncf %double to_nearest_away : f64 to f6E2M3FN
    %n16_code = arith.bitcast %n16 : f6E2M3FN to i6
    %n16_byte = arith.extui %n16_code : i6 to i8
    %at16 = arith.constant 16 : index
    memref.store %n16_byte, %Y[%at16, %i] : memref<?x?xi8>
    %n17 = arith.truncf %double toward_zero : f64 to f6E2M3FN
    %n17_code = arith.bitcast %n17 : f6E2M3FN to i6
    %n17_byte = arith.extui %n17_code : i6 to i8
    %at17 = arith.constant 17 : index
    memref.store %n17_byte, %Y[%at17, %i] : memref<?x?xi8>
    %n18 = arith.truncf %double upward : f64 to f6E2M3FN
    %n18_code = arith.bitcast %n18 : f6E2M3FN to i6
    %n18_byte = arith.extui %n18_code : i6 to i8
    %at18 = arith.constant 18 : index
    memref.store %n18_byte, %Y[%at18, %i] : memref<?x?xi8>
    %n19 = arith.truncf %double downward : f64 to f6E2M3FN
    %n19_code = arith.bitcast %n19 : f6E2M3FN to i6
    %n19_byte = arith.extui %n19_code : i6 to i8
    %at19 = arith.constant 19 : index
    memref.store %n19_byte, %Y[%at19, %i] : memref<?x?xi8>
    %sum = arith.addf %n10, %n5 : f6E2M3FN
    %sum_code = arith.bitcast %sum : f6E2M3FN to i6
    %sum_byte = arith.extui %sum_code : i6 to i8
    %at20 = arith.constant 20 : index
    memref.store %sum_byte, %Y[%at20, %i] : memref<?x?xi8>
    %most = arith.maximumf %n10, %n5 : f6E2M3FN
    %most_code = arith.bitcast %most : f6E2M3FN to i6
    %most_byte = arith.extui %most_code : i6 to i8
    %at21 = arith.constant 21 : index
    memref.store %most_byte, %Y[%at21, %i] : memref<?x?xi8>
    %minus = arith.negf %n10 : f6E2M3FN
    %minus_code = arith.bitcast %minus : f6E2M3FN to i6
    %minus_byte = arith.extui %minus_code : i6 to i8
    %at22 = arith.constant 22 : index
    memref.store %minus_byte, %Y[%at22, %i] : memref<?x?xi8>
    %size = math.absf %n10 : f6E2M3FN
    %size_code = arith.bitcast %size : f6E2M3FN to i6
    %size_byte = arith.extui %size_code : i6 to i8
    %at23 = arith.constant 23 : index
    memref.store %size_byte, %Y[%at23, %i] : memref<?x?xi8>
    %less = arith.cmpf olt, %n10, %n5 : f6E2M3FN
    %other = arith.select %less, %n10, %n5 : f6E2M3FN
    %other_code = arith.bitcast %other : f6E2M3FN to i6
    %other_byte = arith.extui %other_code : i6 to i8
    %at24 = arith.constant 24 : index
    memref.store %other_byte, %Y[%at24, %i] : memref<?x?xi8>
    %whole = arith.fptosi %n10 : f6E2M3FN to i32
    %back = arith.sitofp %whole : i32 to f6E2M3FN
    %back_code = arith.bitcast %back : f6E2M3FN to i6
    %back_byte = arith.extui %back_code : i6 to i8
    %at25 = arith.constant 25 : index
    memref.store %back_byte, %Y[%at25, %i] : memref<?x?xi8>
  }
  return
}

tile.kernel @of_e2m3(%X: memref<?xi8, #tile.global>, %Y: !values) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<-0.0> : tensor<64xf32>
  %bytes = tile.load %X[%c0] : memref<?xi8, #tile.global> -> tensor<64xi8>
  %x = tile.bitcast %bytes : tensor<64xi8> -> tensor<64xf6E2M3FN>
  %v0 = arith.extf %x : tensor<64xf6E2M3FN> to tensor<64xf16>
  %w0 = arith.extf %v0 : tensor<64xf16> to tensor<64xf32>
  %r0 = tile.expand_dims %w0 axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %at0 = arith.constant 0 : index
  tile.store %r0, %Y[%at0, %c0] : tensor<1x64xf32>, !values
  %v1 = arith.extf %x : tensor<64xf6E2M3FN> to tensor<64xbf16>
  %w1 = arith.extf %v1 : tensor<64xbf16> to tensor<64xf32>
  %r1 = tile.expand_dims %w1 axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %at1 = arith.constant 1 : index
  tile.store %r1, %Y[%at1, %c0] : tensor<1x64xf32>, !values
  %v2 = arith.extf %x : tensor<64xf6E2M3FN> to tensor<64xf32>
  %w2 = arith.addf %v2, %zero : tensor<64xf32>
  %r2 = tile.expand_dims %w2 axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %at2 = arith.constant 2 : index
  tile.store %r2, %Y[%at2, %c0] : tensor<1x64xf32>, !values
  %v3 = arith.extf %x : tensor<64xf6E2M3FN> to tensor<64xf64>
  %w3 = arith.truncf %v3 : tensor<64xf64> to tensor<64xf32>
  %r3 = tile.expand_dims %w3 axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %at3 = arith.constant 3 : index
  tile.store %r3, %Y[%at3, %c0] : tensor<1x64xf32>, !values
  %v4 = arith.extf %x : tensor<64xf6E2M3FN> to tensor<64xf8E4M3FN>
  %w4 = arith.extf %v4 : tensor<64xf8E4M3FN> to tensor<64xf32>
  %r4 = tile.expand_dims %w4 axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %at4 = arith.constant 4 : index
  tile.store %r4, %Y[%at4, %c0] : tensor<1x64xf32>, !values
  %v5 = arith.extf %x : tensor<64xf6E2M3FN> to tensor<64xf32>
  %w5 = arith.addf %v5, %zero : tensor<64xf32>
  %r5 = tile.expand_dims %w5 axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %at5 = arith.constant 5 : index
  tile.store %r5, %Y[%at5, %c0] : tensor<1x64xf32>, !values
}
func.func @of_e2m3_ref(%X: memref<?xi8>, %Y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant -0.0 : f32
  %n = memref.dim %X, %c0 : memref<?xi8>
  scf.for %i = %c0 to %n step %c1 {
    %byte = memref.load %X[%i] : memref<?xi8>
    %code = arith.trunci %byte : i8 to i6
    %x = arith.bitcast %code : i6 to f6E2M3FN
    %v0 = arith.extf %x : f6E2M3FN to f16
    %w0 = arith.extf %v0 : f16 to f32
    %at0 = arith.constant 0 : index
    memref.store %w0, %Y[%at0, %i] : memref<?x?xf32>
    %v1 = arith.extf %x : f6E2M3FN to bf16
    %w1 = arith.extf %v1 : bf16 to f32
    %at1 = arith.constant 1 : index
    memref.store %w1, %Y[%at1, %i] : memref<?x?xf32>
    %v2 = arith.extf %x : f6E2M3FN to f32
    %w2 = arith.addf %v2, %zero : f32
    %at2 = arith.constant 2 : index
    memref.store %w2, %Y[%at2, %i] : memref<?x?xf32>
    %v3 = arith.extf %x : f6E2M3FN to f64
    %w3 = arith.truncf %v3 : f64 to f32
    %at3 = arith.constant 3 : index
    memref.store %w3, %Y[%at3, %i] : memref<?x?xf32>
    %v4 = arith.extf %x : f6E2M3FN to f8E4M3FN
    %w4 = arith.extf %v4 : f8E4M3FN to f32
    %at4 = arith.constant 4 : index
    memref.store %w4, %Y[%at4, %i] : memref<?x?xf32>
    %v5 = arith.extf %x : f6E2M3FN to f32
    %w5 = arith.addf %v5, %zero : f32
    %at5 = arith.constant 5 : index
    memref.store %w5, %Y[%at5, %i] : memref<?x?xf32>
  }
  return
}

tile.kernel @to_e2m1(%X: memref<?xi64, #tile.global>, %Y: !codes) threads(128) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xi64, #tile.global> -> tensor<512xi64>
  %spread = arith.constant dense<-7046029254386353131> : tensor<512xi64>
  %all = arith.muli %x, %spread : tensor<512xi64>
  %raw_bits = arith.trunci %all : tensor<512xi64> to tensor<512xi32>
  %raw = arith.bitcast %raw_bits : tensor<512xi32> to tensor<512xf32>
  %kept = arith.constant dense<0x87FFFFFF> : tensor<512xi32>
  %few = arith.constant dense<0x87F80000> : tensor<512xi32>
  %low = arith.constant dense<0x3C000000> : tensor<512xi32>
  %near_own = arith.andi %raw_bits, %kept : tensor<512xi32>
  %near_bits = arith.addi %near_own, %low : tensor<512xi32>
  %near = arith.bitcast %near_bits : tensor<512xi32> to tensor<512xf32>
  %tie_own = arith.andi %raw_bits, %few : tensor<512xi32>
  %tie_bits = arith.addi %tie_own, %low : tensor<512xi32>
  %tie = arith.bitcast %tie_bits : tensor<512xi32> to tensor<512xf32>
  %wide_tie = arith.extf %tie : tensor<512xf32> to tensor<512xf64>
  %more = arith.constant dense<1.0000000000001> : tensor<512xf64>
  %double = arith.mulf %wide_tie, %more : tensor<512xf64>
  %n0 = arith.truncf %raw : tensor<512xf32> to tensor<512xf4E2M1FN>
  %n0_code = arith.bitcast %n0 : tensor<512xf4E2M1FN> to tensor<512xi4>
  %n0_byte = arith.extui %n0_code : tensor<512xi4> to tensor<512xi8>
  %n0_row = tile.expand_dims %n0_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at0 = arith.constant 0 : index
  tile.store %n0_row, %Y[%at0, %c0] : tensor<1x512xi8>, !codes
  %n1 = arith.truncf %raw to_nearest_away : tensor<512xf32> to tensor<512xf4E2M1FN>
  %n1_code = arith.bitcast %n1 : tensor<512xf4E2M1FN> to tensor<512xi4>
  %n1_byte = arith.extui %n1_code : tensor<512xi4> to tensor<512xi8>
  %n1_row = tile.expand_dims %n1_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at1 = arith.constant 1 : index
  tile.store %n1_row, %Y[%at1, %c0] : tensor<1x512xi8>, !codes
  %n2 = arith.truncf %raw toward_zero : tensor<512xf32> to tensor<512xf4E2M1FN>
  %n2_code = arith.bitcast %n2 : tensor<512xf4E2M1FN> to tensor<512xi4>
  %n2_byte = arith.extui %n2_code : tensor<512xi4> to tensor<512xi8>
  %n2_row = tile.expand_dims %n2_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at2 = arith.constant 2 : index
  tile.store %n2_row, %Y[%at2, %c0] : tensor<1x512xi8>, !codes
  %n3 = arith.truncf %raw upward : tensor<512xf32> to tensor<512xf4E2M1FN>
  %n3_code = arith.bitcast %n3 : tensor<512xf4E2M1FN> to tensor<512xi4>
  %n3_byte = arith.extui %n3_code : tensor<512xi4> to tensor<512xi8>
  %n3_row = tile.expand_dims %n3_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at3 = arith.constant 3 : index
  tile.store %n3_row, %Y[%at3, %c0] : tensor<1x512xi8>, !codes
  %n4 = arith.truncf %raw downward : tensor<512xf32> to tensor<512xf4E2M1FN>
  %n4_code = arith.bitcast %n4 : tensor<512xf4E2M1FN> to tensor<512xi4>
  %n4_byte = arith.extui %n4_code : tensor<512xi4> to tensor<512xi8>
  %n4_row = tile.expand_dims %n4_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at4 = arith.constant 4 : index
  tile.store %n4_row, %Y[%at4, %c0] : tensor<1x512xi8>, !codes
  %n5 = arith.truncf %near : tensor<512xf32> to tensor<512xf4E2M1FN>
  %n5_code = arith.bitcast %n5 : tensor<512xf4E2M1FN> to tensor<512xi4>
  %n5_byte = arith.extui %n5_code : tensor<512xi4> to tensor<512xi8>
  %n5_row = tile.expand_dims %n5_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at5 = arith.constant 5 : index
  tile.store %n5_row, %Y[%at5, %c0] : tensor<1x512xi8>, !codes
  %n6 = arith.truncf %near to_nearest_away : tensor<512xf32> to tensor<512xf4E2M1FN>
  %n6_code = arith.bitcast %n6 : tensor<512xf4E2M1FN> to tensor<512xi4>
  %n6_byte = arith.extui %n6_code : tensor<512xi4> to tensor<512xi8>
  %n6_row = tile.expand_dims %n6_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at6 = arith.constant 6 : index
  tile.store %n6_row, %Y[%at6, %c0] : tensor<1x512xi8>, !codes
  %n7 = arith.truncf %near toward_zero : tensor<512xf32> to tensor<512xf4E2M1FN>
  %n7_code = arith.bitcast %n7 : tensor<512xf4E2M1FN> to tensor<512xi4>
  %n7_byte = arith.extui %n7_code : tensor<512xi4> to tensor<512xi8>
  %n7_row = tile.expand_dims %n7_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at7 = arith.constant 7 : index
  tile.store %n7_row, %Y[%at7, %c0] : tensor<1x512xi8>, !codes
  %n8 = arith.truncf %near upward : tensor<512xf32> to tensor<512xf4E2M1FN>
  %n8_code = arith.bitcast %n8 : tensor<512xf4E2M1FN> to tensor<512xi4>
  %n8_byte = arith.extui %n8_code : tensor<512xi4> to tensor<512xi8>
  %n8_row = tile.expand_dims %n8_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at8 = arith.constant 8 : index
  tile.store %n8_row, %Y[%at8, %c0] : tensor<1x512xi8>, !codes
  %n9 = arith.truncf %near downward : tensor<512xf32> to tensor<512xf4E2M1FN>
  %n9_code = arith.bitcast %n9 : tensor<512xf4E2M1FN> to tensor<512xi4>
  %n9_byte = arith.extui %n9_code : tensor<512xi4> to tensor<512xi8>
  %n9_row = tile.expand_dims %n9_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at9 = arith.constant 9 : index
  tile.store %n9_row, %Y[%at9, %c0] : tensor<1x512xi8>, !codes
  %n10 = arith.truncf %tie : tensor<512xf32> to tensor<512xf4E2M1FN>
  %n10_code = arith.bitcast %n10 : tensor<512xf4E2M1FN> to tensor<512xi4>
  %n10_byte = arith.extui %n10_code : tensor<512xi4> to tensor<512xi8>
  %n10_row = tile.expand_dims %n10_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at10 = arith.constant 10 : index
  tile.store %n10_row, %Y[%at10, %c0] : tensor<1x512xi8>, !codes
  %n11 = arith.truncf %tie to_nearest_away : tensor<512xf32> to tensor<512xf4E2M1FN>
  %n11_code = arith.bitcast %n11 : tensor<512xf4E2M1FN> to tensor<512xi4>
  %n11_byte = arith.extui %n11_code : tensor<512xi4> to tensor<512xi8>
  %n11_row = tile.expand_dims %n11_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at11 = arith.constant 11 : index
  tile.store %n11_row, %Y[%at11, %c0] : tensor<1x512xi8>, !codes
  %n12 = arith.truncf %tie toward_zero : tensor<512xf32> to tensor<512xf4E2M1FN>
  %n12_code = arith.bitcast %n12 : tensor<512xf4E2M1FN> to tensor<512xi4>
  %n12_byte = arith.extui %n12_code : tensor<512xi4> to tensor<512xi8>
  %n12_row = tile.expand_dims %n12_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at12 = arith.constant 12 : index
  tile.store %n12_row, %Y[%at12, %c0] : tensor<1x512xi8>, !codes
  %n13 = arith.truncf %tie upward : tensor<512xf32> to tensor<512xf4E2M1FN>
  %n13_code = arith.bitcast %n13 : tensor<512xf4E2M1FN> to tensor<512xi4>
  %n13_byte = arith.extui %n13_code : tensor<512xi4> to tensor<512xi8>
  %n13_row = tile.expand_dims %n13_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at13 = arith.constant 13 : index
  tile.store %n13_row, %Y[%at13, %c0] : tensor<1x512xi8>, !codes
  %n14 = arith.truncf %tie downward : tensor<512xf32> to tensor<512xf4E2M1FN>
  %n14_code = arith.bitcast %n14 : tensor<512xf4E2M1FN> to tensor<512xi4>
  %n14_byte = arith.extui %n14_code : tensor<512xi4> to tensor<512xi8>
  %n14_row = tile.expand_dims %n14_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at14 = arith.constant 14 : index
  tile.store %n14_row, %Y[%at14, %c0] : tensor<1x512xi8>, !codes
  %n15 = arith.truncf %double : tensor<512xf64> to tensor<512xf4E2M1FN>
  %n15_code = arith.bitcast %n15 : tensor<512xf4E2M1FN> to tensor<512xi4>
  %n15_byte = arith.extui %n15_code : tensor<512xi4> to tensor<512xi8>
  %n15_row = tile.expand_dims %n15_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at15 = arith.constant 15 : index
  tile.store %n15_row, %Y[%at15, %c0] : tensor<1x512xi8>, !codes
  %n16 = arith.truncf %double to_nearest_away : tensor<512xf64> to tensor<512xf4E2M1FN>
  %n16_code = arith.bitcast %n16 : tensor<512xf4E2M1FN> to tensor<512xi4>
  %n16_byte = arith.extui %n16_code : tensor<512xi4> to tensor<512xi8>
  %n16_row = tile.expand_dims %n16_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at16 = arith.constant 16 : index
  tile.store %n16_row, %Y[%at16, %c0] : tensor<1x512xi8>, !codes
  %n17 = arith.truncf %double toward_zero : tensor<512xf64> to tensor<512xf4E2M1FN>
  %n17_code = arith.bitcast %n17 : tensor<512xf4E2M1FN> to tensor<512xi4>
  %n17_byte = arith.extui %n17_code : tensor<512xi4> to tensor<512xi8>
  %n17_row = tile.expand_dims %n17_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at17 = arith.constant 17 : index
  tile.store %n17_row, %Y[%at17, %c0] : tensor<1x512xi8>, !codes
  %n18 = arith.truncf %double upward : tensor<512xf64> to tensor<512xf4E2M1FN>
  %n18_code = arith.bitcast %n18 : tensor<512xf4E2M1FN> to tensor<512xi4>
  %n18_byte = arith.extui %n18_code : tensor<512xi4> to tensor<512xi8>
  %n18_row = tile.expand_dims %n18_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at18 = arith.constant 18 : index
  tile.store %n18_row, %Y[%at18, %c0] : tensor<1x512xi8>, !codes
  %n19 = arith.truncf %double downward : tensor<512xf64> to tensor<512xf4E2M1FN>
  %n19_code = arith.bitcast %n19 : tensor<512xf4E2M1FN> to tensor<512xi4>
  %n19_byte = arith.extui %n19_code : tensor<512xi4> to tensor<512xi8>
  %n19_row = tile.expand_dims %n19_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at19 = arith.constant 19 : index
  tile.store %n19_row, %Y[%at19, %c0] : tensor<1x512xi8>, !codes
  %sum = arith.addf %n10, %n5 : tensor<512xf4E2M1FN>
  %sum_code = arith.bitcast %sum : tensor<512xf4E2M1FN> to tensor<512xi4>
  %sum_byte = arith.extui %sum_code : tensor<512xi4> to tensor<512xi8>
  %sum_row = tile.expand_dims %sum_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at20 = arith.constant 20 : index
  tile.store %sum_row, %Y[%at20, %c0] : tensor<1x512xi8>, !codes
  %most = arith.maximumf %n10, %n5 : tensor<512xf4E2M1FN>
  %most_code = arith.bitcast %most : tensor<512xf4E2M1FN> to tensor<512xi4>
  %most_byte = arith.extui %most_code : tensor<512xi4> to tensor<512xi8>
  %most_row = tile.expand_dims %most_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at21 = arith.constant 21 : index
  tile.store %most_row, %Y[%at21, %c0] : tensor<1x512xi8>, !codes
  %minus = arith.negf %n10 : tensor<512xf4E2M1FN>
  %minus_code = arith.bitcast %minus : tensor<512xf4E2M1FN> to tensor<512xi4>
  %minus_byte = arith.extui %minus_code : tensor<512xi4> to tensor<512xi8>
  %minus_row = tile.expand_dims %minus_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at22 = arith.constant 22 : index
  tile.store %minus_row, %Y[%at22, %c0] : tensor<1x512xi8>, !codes
  %size = math.absf %n10 : tensor<512xf4E2M1FN>
  %size_code = arith.bitcast %size : tensor<512xf4E2M1FN> to tensor<512xi4>
  %size_byte = arith.extui %size_code : tensor<512xi4> to tensor<512xi8>
  %size_row = tile.expand_dims %size_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at23 = arith.constant 23 : index
  tile.store %size_row, %Y[%at23, %c0] : tensor<1x512xi8>, !codes
  %less = arith.cmpf olt, %n10, %n5 : tensor<512xf4E2M1FN>
  %other = arith.select %less, %n10, %n5 : tensor<512xi1>, tensor<512xf4E2M1FN>
  %other_code = arith.bitcast %other : tensor<512xf4E2M1FN> to tensor<512xi4>
  %other_byte = arith.extui %other_code : tensor<512xi4> to tensor<512xi8>
  %other_row = tile.expand_dims %other_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at24 = arith.constant 24 : index
  tile.store %other_row, %Y[%at24, %c0] : tensor<1x512xi8>, !codes
  %whole = arith.fptosi %n10 : tensor<512xf4E2M1FN> to tensor<512xi32>
  %back = arith.sitofp %whole : tensor<512xi32> to tensor<512xf4E2M1FN>
  %back_code = arith.bitcast %back : tensor<512xf4E2M1FN> to tensor<512xi4>
  %back_byte = arith.extui %back_code : tensor<512xi4> to tensor<512xi8>
  %back_row = tile.expand_dims %back_byte axis 0 : tensor<512xi8> -> tensor<1x512xi8>
  %at25 = arith.constant 25 : index
  tile.store %back_row, %Y[%at25, %c0] : tensor<1x512xi8>, !codes
}
func.func @to_e2m1_ref(%X: memref<?xi64>, %Y: memref<?x?xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %X, %c0 : memref<?xi64>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %X[%i] : memref<?xi64>
    %spread = arith.constant -7046029254386353131 : i64
    %all = arith.muli %x, %spread : i64
    %raw_bits = arith.trunci %all : i64 to i32
    %raw = arith.bitcast %raw_bits : i32 to f32
    %kept = arith.constant 0x87FFFFFF : i32
    %few = arith.constant 0x87F80000 : i32
    %low = arith.constant 0x3C000000 : i32
    %near_own = arith.andi %raw_bits, %kept : i32
    %near_bits = arith.addi %near_own, %low : i32
    %near = arith.bitcast %near_bits : i32 to f32
    %tie_own = arith.andi %raw_bits, %few : i32
    %tie_bits = arith.addi %tie_own, %low : i32
    %tie = arith.bitcast %tie_bits : i32 to f32
    %wide_tie = arith.extf %tie : f32 to f64
    %more = arith.constant 1.0000000000001 : f64
    %double = arith.mulf %wide_tie, %more : f64
    %n0 = arith.truncf %raw : f32 to f4E2M1FN
    %n0_code = arith.bitcast %n0 : f4E2M1FN to i4
    %n0_byte = arith.extui %n0_code : i4 to i8
    %at0 = arith.constant 0 : index
    memref.store %n0_byte, %Y[%at0, %i] : memref<?x?xi8>
    %n1 = arith.truncf %raw to_nearest_away : f32 to f4E2M1FN
    %n1_code = arith.bitcast %n1 : f4E2M1FN to i4
    %n1_byte = arith.extui %n1_code : i4 to i8
    %at1 = arith.constant 1 : index
    memref.store %n1_byte, %Y[%at1, %i] : memref<?x?xi8>
    %n2 = arith.truncf %raw toward_zero : f32 to f4E2M1FN
    %n2_code = arith.bitcast %n2 : f4E2M1FN to i4
    %n2_byte = arith.extui %n2_code : i4 to i8
    %at2 = arith.constant 2 : index
    memref.store %n2_byte, %Y[%at2, %i] : memref<?x?xi8>
    %n3 = arith.truncf %raw upward : f32 to f4E2M1FN
    %n3_code = arith.bitcast %n3 : f4E2M1FN to i4
    %n3_byte = arith.extui %n3_code : i4 to i8
    %at3 = arith.constant 3 : index
    memref.store %n3_byte, %Y[%at3, %i] : memref<?x?xi8>
    %n4 = arith.truncf %raw downward : f32 to f4E2M1FN
    %n4_code = arith.bitcast %n4 : f4E2M1FN to i4
    %n4_byte = arith.extui %n4_code : i4 to i8
    %at4 = arith.constant 4 : index
    memref.store %n4_byte, %Y[%at4, %i] : memref<?x?xi8>
    %n5 = arith.truncf %near : f32 to f4E2M1FN
    %n5_code = arith.bitcast %n5 : f4E2M1FN to i4
    %n5_byte = arith.extui %n5_code : i4 to i8
    %at5 = arith.constant 5 : index
    memref.store %n5_byte, %Y[%at5, %i] : memref<?x?xi8>
    %n6 = arith.truncf %near to_nearest_away : f32 to f4E2M1FN
    %n6_code = arith.bitcast %n6 : f4E2M1FN to i4
    %n6_byte = arith.extui %n6_code : i4 to i8
    %at6 = arith.constant 6 : index
    memref.store %n6_byte, %Y[%at6, %i] : memref<?x?xi8>
    %n7 = arith.truncf %near toward_zero : f32 to f4E2M1FN
    %n7_code = arith.bitcast %n7 : f4E2M1FN to i4
    %n7_byte = arith.extui %n7_code : i4 to i8
    %at7 = arith.constant 7 : index
    memref.store %n7_byte, %Y[%at7, %i] : memref<?x?xi8>
    %n8 = arith.truncf %near upward : f32 to f4E2M1FN
    %n8_code = arith.bitcast %n8 : f4E2M1FN to i4
    %n8_byte = arith.extui %n8_code : i4 to i8
    %at8 = arith.constant 8 : index
    memref.store %n8_byte, %Y[%at8, %i] : memref<?x?xi8>
    %n9 = arith.truncf %near downward : f32 to f4E2M1FN
    %n9_code = arith.bitcast %n9 : f4E2M1FN to i4
    %n9_byte = arith.extui %n9_code : i4 to i8
    %at9 = arith.constant 9 : index
    memref.store %n9_byte, %Y[%at9, %i] : memref<?x?xi8>
    %n10 = arith.truncf %tie : f32 to f4E2M1FN
    %n10_code = arith.bitcast %n10 : f4E2M1FN to i4
    %n10_byte = arith.extui %n10_code : i4 to i8
    %at10 = arith.constant 10 : index
    memref.store %n10_byte, %Y[%at10, %i] : memref<?x?xi8>
    %n11 = arith.truncf %tie to_nearest_away : f32 to f4E2M1FN
    %n11_code = arith.bitcast %n11 : f4E2M1FN to i4
    %n11_byte = arith.extui %n11_code : i4 to i8
    %at11 = arith.constant 11 : index
    memref.store %n11_byte, %Y[%at11, %i] : memref<?x?xi8>
    %n12 = arith.truncf %tie toward_zero : f32 to f4E2M1FN
    %n12_code = arith.bitcast %n12 : f4E2M1FN to i4
    %n12_byte = arith.extui %n12_code : i4 to i8
    %at12 = arith.constant 12 : index
    memref.store %n12_byte, %Y[%at12, %i] : memref<?x?xi8>
    %n13 = arith.truncf %tie upward : f32 to f4E2M1FN
    %n13_code = arith.bitcast %n13 : f4E2M1FN to i4
    %n13_byte = arith.extui %n13_code : i4 to i8
    %at13 = arith.constant 13 : index
    memref.store %n13_byte, %Y[%at13, %i] : memref<?x?xi8>
    %n14 = arith.truncf %tie downward : f32 to f4E2M1FN
    %n14_code = arith.bitcast %n14 : f4E2M1FN to i4
    %n14_byte = arith.extui %n14_code : i4 to i8
    %at14 = arith.constant 14 : index
    memref.store %n14_byte, %Y[%at14, %i] : memref<?x?xi8>
    %n15 = arith.truncf %double : f64 to f4E2M1FN
    %n15_code = arith.bitcast %n15 : f4E2M1FN to i4
    %n15_byte = arith.extui %n15_code : i4 to i8
    %at15 = arith.constant 15 : index
    memref.store %n15_byte, %Y[%at15, %i] : memref<?x?xi8>
    %n16 = arith.truncf %double to_nearest_away : f64 to f4E2M1FN
    %n16_code = arith.bitcast %n16 : f4E2M1FN to i4
    %n16_byte = arith.extui %n16_code : i4 to i8
    %at16 = arith.constant 16 : index
    memref.store %n16_byte, %Y[%at16, %i] : memref<?x?xi8>
    %n17 = arith.truncf %double toward_zero : f64 to f4E2M1FN
    %n17_code = arith.bitcast %n17 : f4E2M1FN to i4
    %n17_byte = arith.extui %n17_code : i4 to i8
    %at17 = arith.constant 17 : index
    memref.store %n17_byte, %Y[%at17, %i] : memref<?x?xi8>
    %n18 = arith.truncf %double upward : f64 to f4E2M1FN
    %n18_code = arith.bitcast %n18 : f4E2M1FN to i4
    %n18_byte = arith.extui %n18_code : i4 to i8
    %at18 = arith.constant 18 : index
    memref.store %n18_byte, %Y[%at18, %i] : memref<?x?xi8>
    %n19 = arith.truncf %double downward : f64 to f4E2M1FN
    %n19_code = arith.bitcast %n19 : f4E2M1FN to i4
    %n19_byte = arith.extui %n19_code : i4 to i8
    %at19 = arith.constant 19 : index
    memref.store %n19_byte, %Y[%at19, %i] : memref<?x?xi8>
    %sum = arith.addf %n10, %n5 : f4E2M1FN
    %sum_code = arith.bitcast %sum : f4E2M1FN to i4
    %sum_byte = arith.extui %sum_code : i4 to i8
    %at20 = arith.constant 20 : index
    memref.store %sum_byte, %Y[%at20, %i] : memref<?x?xi8>
    %most = arith.maximumf %n10, %n5 : f4E2M1FN
    %most_code = arith.bitcast %most : f4E2M1FN to i4
    %most_byte = arith.extui %most_code : i4 to i8
    %at21 = arith.constant 21 : index
    memref.store %most_byte, %Y[%at21, %i] : memref<?x?xi8>
    %minus = arith.negf %n10 : f4E2M1FN
    %minus_code = arith.bitcast %minus : f4E2M1FN to i4
    %minus_byte = arith.extui %minus_code : i4 to i8
    %at22 = arith.constant 22 : index
    memref.store %minus_byte, %Y[%at22, %i] : memref<?x?xi8>
    %size = math.absf %n10 : f4E2M1FN
    %size_code = arith.bitcast %size : f4E2M1FN to i4
    %size_byte = arith.extui %size_code : i4 to i8
    %at23 = arith.constant 23 : index
    memref.store %size_byte, %Y[%at23, %i] : memref<?x?xi8>
    %less = arith.cmpf olt, %n10, %n5 : f4E2M1FN
    %other = arith.select %less, %n10, %n5 : f4E2M1FN
    %other_code = arith.bitcast %other : f4E2M1FN to i4
    %other_byte = arith.extui %other_code : i4 to i8
    %at24 = arith.constant 24 : index
    memref.store %other_byte, %Y[%at24, %i] : memref<?x?xi8>
    %whole = arith.fptosi %n10 : f4E2M1FN to i32
    %back = arith.sitofp %whole : i32 to f4E2M1FN
    %back_code = arith.bitcast %back : f4E2M1FN to i4
    %back_byte = arith.extui %back_code : i4 to i8
    %at25 = arith.constant 25 : index
    memref.store %back_byte, %Y[%at25, %i] : memref<?x?xi8>
  }
  return
}

tile.kernel @of_e2m1(%X: memref<?xi8, #tile.global>, %Y: !values) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<-0.0> : tensor<64xf32>
  %bytes = tile.load %X[%c0] : memref<?xi8, #tile.global> -> tensor<32xi8>
  %x = tile.bitcast %bytes : tensor<32xi8> -> tensor<64xf4E2M1FN>
  %v0 = arith.extf %x : tensor<64xf4E2M1FN> to tensor<64xf16>
  %w0 = arith.extf %v0 : tensor<64xf16> to tensor<64xf32>
  %r0 = tile.expand_dims %w0 axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %at0 = arith.constant 0 : index
  tile.store %r0, %Y[%at0, %c0] : tensor<1x64xf32>, !values
  %v1 = arith.extf %x : tensor<64xf4E2M1FN> to tensor<64xbf16>
  %w1 = arith.extf %v1 : tensor<64xbf16> to tensor<64xf32>
  %r1 = tile.expand_dims %w1 axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %at1 = arith.constant 1 : index
  tile.store %r1, %Y[%at1, %c0] : tensor<1x64xf32>, !values
  %v2 = arith.extf %x : tensor<64xf4E2M1FN> to tensor<64xf32>
  %w2 = arith.addf %v2, %zero : tensor<64xf32>
  %r2 = tile.expand_dims %w2 axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %at2 = arith.constant 2 : index
  tile.store %r2, %Y[%at2, %c0] : tensor<1x64xf32>, !values
  %v3 = arith.extf %x : tensor<64xf4E2M1FN> to tensor<64xf64>
  %w3 = arith.truncf %v3 : tensor<64xf64> to tensor<64xf32>
  %r3 = tile.expand_dims %w3 axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %at3 = arith.constant 3 : index
  tile.store %r3, %Y[%at3, %c0] : tensor<1x64xf32>, !values
  %v4 = arith.extf %x : tensor<64xf4E2M1FN> to tensor<64xf8E4M3FN>
  %w4 = arith.extf %v4 : tensor<64xf8E4M3FN> to tensor<64xf32>
  %r4 = tile.expand_dims %w4 axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %at4 = arith.constant 4 : index
  tile.store %r4, %Y[%at4, %c0] : tensor<1x64xf32>, !values
  %v5 = arith.extf %x : tensor<64xf4E2M1FN> to tensor<64xf8E5M2>
  %w5 = arith.extf %v5 : tensor<64xf8E5M2> to tensor<64xf32>
  %r5 = tile.expand_dims %w5 axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %at5 = arith.constant 5 : index
  tile.store %r5, %Y[%at5, %c0] : tensor<1x64xf32>, !values
}
func.func @of_e2m1_ref(%X: memref<?xi8>, %Y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant -0.0 : f32
  %bytes = memref.dim %X, %c0 : memref<?xi8>
  %c2 = arith.constant 2 : index
  %four = arith.constant 4 : i8
  %n = arith.muli %bytes, %c2 : index
  scf.for %i = %c0 to %n step %c1 {
    %at = arith.divui %i, %c2 : index
    %byte = memref.load %X[%at] : memref<?xi8>
    %part = arith.remui %i, %c2 : index
    %is_high = arith.cmpi eq, %part, %c1 : index
    %high = arith.shrui %byte, %four : i8
    %own = arith.select %is_high, %high, %byte : i8
    %code = arith.trunci %own : i8 to i4
    %x = arith.bitcast %code : i4 to f4E2M1FN
    %v0 = arith.extf %x : f4E2M1FN to f16
    %w0 = arith.extf %v0 : f16 to f32
    %at0 = arith.constant 0 : index
    memref.store %w0, %Y[%at0, %i] : memref<?x?xf32>
    %v1 = arith.extf %x : f4E2M1FN to bf16
    %w1 = arith.extf %v1 : bf16 to f32
    %at1 = arith.constant 1 : index
    memref.store %w1, %Y[%at1, %i] : memref<?x?xf32>
    %v2 = arith.extf %x : f4E2M1FN to f32
    %w2 = arith.addf %v2, %zero : f32
    %at2 = arith.constant 2 : index
    memref.store %w2, %Y[%at2, %i] : memref<?x?xf32>
    %v3 = arith.extf %x : f4E2M1FN to f64
    %w3 = arith.truncf %v3 : f64 to f32
    %at3 = arith.constant 3 : index
    memref.store %w3, %Y[%at3, %i] : memref<?x?xf32>
    %v4 = arith.extf %x : f4E2M1FN to f8E4M3FN
    %w4 = arith.extf %v4 : f8E4M3FN to f32
    %at4 = arith.constant 4 : index
    memref.store %w4, %Y[%at4, %i] : memref<?x?xf32>
    %v5 = arith.extf %x : f4E2M1FN to f8E5M2
    %w5 = arith.extf %v5 : f8E5M2 to f32
    %at5 = arith.constant 5 : index
    memref.store %w5, %Y[%at5, %i] : memref<?x?xf32>
  }
  return
}
