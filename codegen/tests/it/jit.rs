//! Reference functions run on the CPU by MLIR's JIT.
use crate::support::context;
use girih_codegen::jit::{Arg, Array, Function, Returned};
use girih_core::{
    dtype::DType,
    number::{self, FloatFormat, Overflow, Rounding},
};
use melior::ir::Module;
use pretty_assertions::assert_eq;

/// The bytes of an array.
fn bytes(dtype: DType, values: impl IntoIterator<Item = f64>) -> Vec<u8> {
    let size = dtype.bytes() as usize;
    values
        .into_iter()
        .flat_map(|value| number::to_bits(dtype, value).to_le_bytes().into_iter().take(size))
        .collect()
}

/// The values of an array.
fn values(dtype: DType, bytes: &[u8]) -> Vec<f64> {
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
    bytes
        .chunks(dtype.bytes() as usize)
        .map(|chunk| number::from_bits(dtype, word(chunk)))
        .collect()
}

fn scalar(dtype: DType, value: f64) -> Arg<'static> {
    Arg::Scalar(dtype, number::to_bits(dtype, value))
}

fn compile(source: &str, name: &str) -> girih_codegen::Result<Function> {
    let context = context();
    let module = Module::parse(&context, source).expect("the test's source parses");
    Function::compile(module.as_operation(), name)
}

/// A number format's conversions, in the only two directions there are.
fn conversions(mlir: &str) -> String {
    format!(
        "func.func @widen(%x: memref<?x{mlir}>, %y: memref<?xf64>) {{
           linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]}}
             ins(%x : memref<?x{mlir}>) outs(%y : memref<?xf64>) {{
           ^bb0(%a: {mlir}, %b: f64):
             %c = arith.extf %a : {mlir} to f64
             linalg.yield %c : f64
           }}
           return
         }}
         func.func @narrow(%x: memref<?xf64>, %y: memref<?x{mlir}>) {{
           linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]}}
             ins(%x : memref<?xf64>) outs(%y : memref<?x{mlir}>) {{
           ^bb0(%a: f64, %b: {mlir}):
             %c = arith.truncf %a : f64 to {mlir}
             linalg.yield %c : {mlir}
           }}
           return
         }}
         func.func @narrow_single(%x: memref<?xf32>, %y: memref<?x{mlir}>) {{
           linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]}}
             ins(%x : memref<?xf32>) outs(%y : memref<?x{mlir}>) {{
           ^bb0(%a: f32, %b: {mlir}):
             %c = arith.truncf %a : f32 to {mlir}
             linalg.yield %c : {mlir}
           }}
           return
         }}"
    )
}

fn map(function: &Function, from: DType, input: &mut [u8], to: DType) -> Vec<u8> {
    let count = input.len() / from.bytes() as usize;
    let mut output = vec![0u8; count * to.bytes() as usize];
    let mut args = [
        Arg::Array(Array::row_major(input, from, &[count]).unwrap()),
        Arg::Array(Array::row_major(&mut output, to, &[count]).unwrap()),
    ];
    assert_eq!(function.call(&mut args).unwrap(), []);
    output
}

#[test]
fn every_code_of_every_narrow_format_converts_as_the_codec_says() {
    for (dtype, mlir) in [
        (DType::E4m3, "f8E4M3FN"),
        (DType::E5m2, "f8E5M2"),
        (DType::Bf16, "bf16"),
        (DType::F16, "f16"),
    ] {
        let codes = 1u64 << (8 * dtype.bytes());
        let size = dtype.bytes() as usize;
        let mut input: Vec<u8> = (0..codes)
            .flat_map(|code| code.to_le_bytes().into_iter().take(size))
            .collect();
        let widened = map(
            &compile(&conversions(mlir), "widen").unwrap(),
            dtype,
            &mut input,
            DType::F64,
        );
        for (code, found) in values(DType::F64, &widened).into_iter().enumerate() {
            let expected = number::from_bits(dtype, code as u64);
            let same = expected == found || (expected.is_nan() && found.is_nan());
            assert!(same, "{mlir} code {code:#x}: expected {expected}, found {found}");
        }

        // Values, midpoints between neighbours, and both sides of the midpoints.
        let mut exact: Vec<f64> = values(DType::F64, &widened)
            .into_iter()
            .filter(|value| value.is_finite())
            .collect();
        exact.sort_by(f64::total_cmp);
        let mut wanted: Vec<f64> = exact.clone();
        for pair in exact.windows(2) {
            let middle = (pair[0] + pair[1]) / 2.0;
            wanted.extend([middle, middle * (1.0 + 1e-12), middle * (1.0 - 1e-12)]);
        }
        wanted.extend([1e9, -1e9, 1e300, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0]);
        let mut input = bytes(DType::F64, wanted.iter().copied());
        let narrowed = map(
            &compile(&conversions(mlir), "narrow").unwrap(),
            DType::F64,
            &mut input,
            dtype,
        );
        let expected = bytes(dtype, wanted.iter().copied());
        assert!(narrowed == expected, "{mlir}: truncation of f64 differs from the codec");

        let single: Vec<f64> = wanted.iter().map(|value| f64::from(*value as f32)).collect();
        let mut input = bytes(DType::F32, single.iter().copied());
        let narrowed = map(
            &compile(&conversions(mlir), "narrow_single").unwrap(),
            DType::F32,
            &mut input,
            dtype,
        );
        assert!(
            narrowed == bytes(dtype, single),
            "{mlir}: truncation of f32 differs from the codec"
        );
    }
}

#[test]
fn a_product_on_strided_memory_with_memory_spaces() {
    let source = "
      func.func @gemm_ref(%A: memref<?x?xbf16, strided<[?, 1]>, 1>, %B: memref<?x?xbf16, strided<[1, ?]>, 1>,
                          %C: memref<?x?xf32, strided<[?, ?], offset: ?>, 1>) {
        linalg.matmul ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>, 1>, memref<?x?xbf16, strided<[1, ?]>, 1>)
                      outs(%C : memref<?x?xf32, strided<[?, ?], offset: ?>, 1>)
        return
      }";
    let function = compile(source, "gemm_ref").unwrap();
    let (m, n, k) = (3, 5, 4);
    let a = |i: usize, j: usize| (i * 7 + j * 3) as f64 % 11.0 - 5.0;
    let b = |i: usize, j: usize| (i * 5 + j * 2) as f64 % 13.0 - 6.0;
    // A row-major with a pitch of 6; B column-major; C backwards in both dimensions.
    let mut a_bytes = bytes(DType::Bf16, (0..m * 6).map(|at| a(at / 6, at % 6)));
    let mut b_bytes = bytes(DType::Bf16, (0..n * k).map(|at| b(at % k, at / k)));
    let mut c_bytes = bytes(DType::F32, (0..m * n).map(|_| 1.0));
    let mut args = [
        Arg::Array(Array::new(&mut a_bytes, DType::Bf16, 0, &[m, k], &[6, 1]).unwrap()),
        Arg::Array(Array::new(&mut b_bytes, DType::Bf16, 0, &[k, n], &[1, k as isize]).unwrap()),
        Arg::Array(Array::new(&mut c_bytes, DType::F32, m * n - 1, &[m, n], &[-(n as isize), -1]).unwrap()),
    ];
    function.call(&mut args).unwrap();
    let c = values(DType::F32, &c_bytes);
    for i in 0..m {
        for j in 0..n {
            let expected = 1.0 + (0..k).map(|l| a(i, l) * b(l, j)).sum::<f64>();
            assert_eq!(c[m * n - 1 - (i * n + j)], expected, "C[{i}, {j}]");
        }
    }
}

/// Products of f32 in every layout of A and B: each sum must run in the order of k, to the last bit.
#[test]
fn sums_run_in_order_whatever_the_layout() {
    let (m, n, k) = (13, 17, 19);
    let value = |at: usize| ((at * 2_654_435_761) % 1000) as f32 / 7.0 - 70.0;
    let a: Vec<f32> = (0..m * k).map(value).collect();
    let b: Vec<f32> = (0..k * n).map(|at| value(at + 5)).collect();
    let expected: Vec<f32> = (0..m * n)
        .map(|at| (0..k).fold(0.0, |sum, l| sum + a[at / n * k + l] * b[l * n + at % n]))
        .collect();
    for (a_type, a_strides) in [("[?, 1]", [k, 1]), ("[1, ?]", [1, m]), ("[?, ?]", [k, 1])] {
        for (b_type, b_strides) in [("[?, 1]", [n, 1]), ("[1, ?]", [1, k])] {
            let source = format!(
                "func.func @gemm(%a: memref<?x?xf32, strided<{a_type}>>, %b: memref<?x?xf32, strided<{b_type}>>,
                                 %c: memref<?x?xf32>) {{
                   linalg.matmul ins(%a, %b : memref<?x?xf32, strided<{a_type}>>, memref<?x?xf32, strided<{b_type}>>)
                                 outs(%c : memref<?x?xf32>)
                   return
                 }}"
            );
            let function = compile(&source, "gemm").unwrap();
            let lay = |values: &[f32], columns: usize, strides: [usize; 2]| {
                let mut bytes = vec![0u8; 4 * values.len()];
                for (at, value) in values.iter().enumerate() {
                    let place = at / columns * strides[0] + at % columns * strides[1];
                    bytes[4 * place..4 * place + 4].copy_from_slice(&value.to_le_bytes());
                }
                bytes
            };
            let (mut a_bytes, mut b_bytes) = (lay(&a, k, a_strides), lay(&b, n, b_strides));
            let mut c_bytes = vec![0u8; 4 * m * n];
            let signed = |strides: [usize; 2]| strides.map(|stride| stride as isize);
            let mut args = [
                Arg::Array(Array::new(&mut a_bytes, DType::F32, 0, &[m, k], &signed(a_strides)).unwrap()),
                Arg::Array(Array::new(&mut b_bytes, DType::F32, 0, &[k, n], &signed(b_strides)).unwrap()),
                Arg::Array(Array::row_major(&mut c_bytes, DType::F32, &[m, n]).unwrap()),
            ];
            function.call(&mut args).unwrap();
            let found: Vec<f32> = c_bytes
                .chunks(4)
                .map(|c| f32::from_le_bytes([c[0], c[1], c[2], c[3]]))
                .collect();
            assert_eq!(found, expected, "A {a_type}, B {b_type}");
        }
    }
}

#[test]
fn bodies_may_ask_for_their_indices() {
    let source = "
      func.func @transposed_index(%x: memref<2x3xi64, strided<[1, 2]>>) {
        linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]}
          outs(%x : memref<2x3xi64, strided<[1, 2]>>) {
        ^bb0(%old: i64):
          %i = linalg.index 0 : index
          %j = linalg.index 1 : index
          %ten = arith.constant 10 : index
          %tens = arith.muli %i, %ten : index
          %sum = arith.addi %tens, %j : index
          %new = arith.index_cast %sum : index to i64
          linalg.yield %new : i64
        }
        return
      }";
    let mut x = vec![0u8; 48];
    let mut args = [Arg::Array(Array::new(&mut x, DType::I64, 0, &[2, 3], &[1, 2]).unwrap())];
    compile(source, "transposed_index").unwrap().call(&mut args).unwrap();
    assert_eq!(values(DType::I64, &x), [0.0, 10.0, 1.0, 11.0, 2.0, 12.0]);
}

#[test]
fn tensors_come_back_and_arguments_are_not_written() {
    let source = "
      func.func private @double(%x: tensor<?x3xf8E4M3FN>) -> tensor<?x3xf8E4M3FN> {
        %r = linalg.add ins(%x, %x : tensor<?x3xf8E4M3FN>, tensor<?x3xf8E4M3FN>) outs(%x : tensor<?x3xf8E4M3FN>)
          -> tensor<?x3xf8E4M3FN>
        return %r : tensor<?x3xf8E4M3FN>
      }
      func.func @twice(%x: tensor<?x3xf8E4M3FN>, %scale: f32) -> (tensor<?x3xf8E4M3FN>, f32, tensor<?x3xf8E4M3FN>) {
        %r = call @double(%x) : (tensor<?x3xf8E4M3FN>) -> tensor<?x3xf8E4M3FN>
        %t = arith.addf %scale, %scale : f32
        return %r, %t, %x : tensor<?x3xf8E4M3FN>, f32, tensor<?x3xf8E4M3FN>
      }";
    let function = compile(source, "twice").unwrap();
    let input = bytes(DType::E4m3, (0..6).map(f64::from));
    let mut memory = input.clone();
    let mut args = [
        Arg::Array(Array::row_major(&mut memory, DType::E4m3, &[2, 3]).unwrap()),
        scalar(DType::F32, 0.75),
    ];
    let results = function.call(&mut args).unwrap();
    let doubled = bytes(DType::E4m3, (0..6).map(|value| f64::from(2 * value)));
    let array = |data| Returned::Array {
        dtype: DType::E4m3,
        shape: vec![2, 3],
        data,
    };
    assert_eq!(
        results,
        [
            array(doubled),
            Returned::Scalar(DType::F32, u64::from(1.5f32.to_bits())),
            array(input.clone())
        ]
    );
    assert_eq!(memory, input);
}

#[test]
fn numbers_of_every_type_go_in_and_come_out() {
    for (dtype, mlir) in [
        (DType::I8, "i8"),
        (DType::I16, "i16"),
        (DType::I32, "i32"),
        (DType::I64, "i64"),
        (DType::I64, "index"),
        (DType::F16, "f16"),
        (DType::Bf16, "bf16"),
        (DType::F32, "f32"),
        (DType::F64, "f64"),
        (DType::E4m3, "f8E4M3FN"),
        (DType::E5m2, "f8E5M2"),
    ] {
        let add = if dtype.is_float() { "addf" } else { "addi" };
        let source = format!(
            "func.func @sum(%a: {mlir}, %b: {mlir}) -> {mlir} {{
               %r = arith.{add} %a, %b : {mlir}
               return %r : {mlir}
             }}"
        );
        let function = compile(&source, "sum").unwrap();
        let results = function.call(&mut [scalar(dtype, 2.0), scalar(dtype, 5.0)]).unwrap();
        assert_eq!(
            results,
            [Returned::Scalar(dtype, number::to_bits(dtype, 7.0))],
            "{mlir}"
        );
    }
}

#[test]
fn integers_convert_to_and_from_8_bit_floats() {
    let source = "
      func.func @round_trip(%a: i32) -> (f8E4M3FN, i32) {
        %f = arith.sitofp %a : i32 to f8E4M3FN
        %i = arith.fptosi %f : f8E4M3FN to i32
        return %f, %i : f8E4M3FN, i32
      }";
    let results = compile(source, "round_trip")
        .unwrap()
        .call(&mut [Arg::Scalar(DType::I32, 21)])
        .unwrap();
    // 21 lies between 20 and 22, and 20 is even.
    assert_eq!(
        results,
        [
            Returned::Scalar(DType::E4m3, number::to_bits(DType::E4m3, 20.0)),
            Returned::Scalar(DType::I32, 20)
        ]
    );
}

#[test]
fn conversions_round_in_the_direction_that_they_name() {
    let modes = [
        ("to_nearest_even", Rounding::NearestEven),
        ("to_nearest_away", Rounding::NearestAway),
        ("toward_zero", Rounding::Zero),
        ("upward", Rounding::Up),
        ("downward", Rounding::Down),
    ];
    let formats = [
        ("f32", DType::F32, FloatFormat::F32),
        ("f16", DType::F16, FloatFormat::F16),
        ("bf16", DType::Bf16, FloatFormat::BF16),
        ("f8E4M3FN", DType::E4m3, FloatFormat::E4M3),
        ("f8E5M2", DType::E5m2, FloatFormat::E5M2),
    ];
    let values = [
        1.0,
        1.06250001,
        -1.0625,
        464.0,
        -465.0,
        61440.0,
        -1e300,
        1e-300,
        f64::INFINITY,
    ];
    for ((mlir, dtype, format), (mode, rounding)) in formats.into_iter().flat_map(|f| modes.map(|m| (f, m))) {
        let source = format!(
            "func.func @f(%x: f64) -> {mlir} {{
               %y = arith.truncf %x {mode} : f64 to {mlir}
               return %y : {mlir}
             }}"
        );
        let function = compile(&source, "f").unwrap();
        for value in values {
            let found = function.call(&mut [scalar(DType::F64, value)]).unwrap();
            let expected = Returned::Scalar(dtype, format.encode(value, rounding, Overflow::Special));
            assert_eq!(found, [expected], "{value} {mode} to {mlir}");
        }
    }
}

#[test]
fn integers_that_have_not_the_number_end_at_the_end_of_their_range() {
    for (mlir, dtype, signed, low, high) in [
        ("i1", DType::I1, "s", 1, 0),
        ("i1", DType::I1, "u", 0, 1),
        ("i8", DType::I8, "s", 0x80, 0x7f),
        ("i16", DType::I16, "u", 0, 0xffff),
        ("i32", DType::I32, "s", 0x8000_0000, 0x7fff_ffff),
        ("i64", DType::I64, "u", 0, u64::MAX),
    ] {
        let source = format!(
            "func.func @f(%x: bf16) -> {mlir} {{
               %y = arith.fpto{signed}i %x : bf16 to {mlir}
               return %y : {mlir}
             }}"
        );
        let function = compile(&source, "f").unwrap();
        for (value, expected) in [(-1e30, low), (1e30, high), (f64::NAN, 0)] {
            let found = function.call(&mut [scalar(DType::Bf16, value)]).unwrap();
            assert_eq!(found, [Returned::Scalar(dtype, expected)], "{value} to {mlir}");
        }
    }
    // Lane by lane.
    let source = "func.func @f(%x: f32) -> i8 {
        %v = vector.broadcast %x : f32 to vector<4xf32>
        %w = arith.fptosi %v : vector<4xf32> to vector<4xi8>
        %y = vector.extract %w[2] : i8 from vector<4xi8>
        return %y : i8
      }";
    let found = compile(source, "f").unwrap().call(&mut [scalar(DType::F32, 300.0)]);
    assert_eq!(found.unwrap(), [Returned::Scalar(DType::I8, 127)]);
}

#[test]
fn tf32_is_rounded_to_and_taken_back() {
    let source = "func.func @f(%x: f32) -> (f32, f64) {
        %c = arith.constant 1.5 : tf32
        %t = arith.truncf %x upward : f32 to tf32
        %y = arith.extf %t : tf32 to f32
        %z = arith.extf %c : tf32 to f64
        return %y, %z : f32, f64
      }";
    let found = compile(source, "f").unwrap().call(&mut [scalar(DType::F32, 1.0001)]);
    let expected = [(DType::F32, 1.0 + 2f64.powi(-10)), (DType::F64, 1.5)];
    let expected = expected.map(|(dtype, v)| Returned::Scalar(dtype, number::to_bits(dtype, v)));
    assert_eq!(found.unwrap(), expected);

    let source = "func.func @f(%x: f32) -> f32 {
        %t = arith.truncf %x : f32 to tf32
        %u = arith.addf %t, %t : tf32
        %y = arith.extf %u : tf32 to f32
        return %y : f32
      }";
    let error = compile(source, "f").unwrap_err().to_string();
    assert!(error.contains("`arith.addf` of the reference works on tf32"), "{error}");
}

#[test]
fn copies_between_layouts_and_mathematics() {
    let source = "
      func.func @f(%x: memref<2x3xf32, strided<[3, 1]>>, %y: memref<2x3xf32, strided<[1, 2]>>) {
        memref.copy %x, %y : memref<2x3xf32, strided<[3, 1]>> to memref<2x3xf32, strided<[1, 2]>>
        linalg.exp ins(%x : memref<2x3xf32, strided<[3, 1]>>) outs(%x : memref<2x3xf32, strided<[3, 1]>>)
        linalg.tanh ins(%y : memref<2x3xf32, strided<[1, 2]>>) outs(%y : memref<2x3xf32, strided<[1, 2]>>)
        return
      }";
    let mut x = bytes(DType::F32, (0..6).map(f64::from));
    let mut y = bytes(DType::F32, [0.0; 6]);
    let mut args = [
        Arg::Array(Array::row_major(&mut x, DType::F32, &[2, 3]).unwrap()),
        Arg::Array(Array::new(&mut y, DType::F32, 0, &[2, 3], &[1, 2]).unwrap()),
    ];
    compile(source, "f").unwrap().call(&mut args).unwrap();
    let close = |found: f64, expected: f64| assert!((found - expected).abs() <= 1e-6 * expected.abs(), "{found}");
    for (at, found) in values(DType::F32, &x).into_iter().enumerate() {
        close(found, (at as f64).exp());
    }
    for (at, found) in values(DType::F32, &y).into_iter().enumerate() {
        close(found, ((at % 2 * 3 + at / 2) as f64).tanh());
    }
}

#[test]
fn functions_of_narrow_formats_round_once() {
    type Of = fn(f64) -> f64;
    let functions: [(&str, Of); 6] = [
        ("expm1", f64::exp_m1),
        ("log1p", f64::ln_1p),
        ("exp2", f64::exp2),
        ("sinh", f64::sinh),
        ("rsqrt", |x| 1.0 / x.sqrt()),
        ("erf", |x| {
            2.0 / std::f64::consts::PI.sqrt() * (x - x.powi(3) / 3.0 + x.powi(5) / 10.0 - x.powi(7) / 42.0)
        }),
    ];
    // Half a unit in the last place, and what f32's own functions are off.
    let formats = [
        (DType::Bf16, "bf16", 8),
        (DType::F16, "f16", 11),
        (DType::F32, "f32", 22),
    ];
    for ((name, exact), (dtype, mlir, bits)) in functions.into_iter().flat_map(|f| formats.map(|format| (f, format))) {
        let source = format!(
            "func.func @f(%x: memref<4x{mlir}>) {{
               linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = [\"parallel\"]}}
                   outs(%x : memref<4x{mlir}>) {{
               ^bb0(%in: {mlir}):
                 %out = math.{name} %in : {mlir}
                 linalg.yield %out : {mlir}
               }}
               return
             }}"
        );
        let points = [0.0078125, 0.03125, 0.0625, 0.125];
        let mut x = bytes(dtype, points);
        let mut args = [Arg::Array(Array::row_major(&mut x, dtype, &[4]).unwrap())];
        compile(&source, "f").unwrap().call(&mut args).unwrap();
        for (point, found) in points.into_iter().zip(values(dtype, &x)) {
            let want = exact(point);
            let off = (found - want).abs() / want.abs();
            assert!(
                off <= 1.001 * 0.5f64.powi(bits),
                "{name} of {point} in {mlir}: {found}, not {want}"
            );
        }
    }
}

#[test]
fn buffers_that_the_program_frees_itself() {
    let source = "
      func.func @f(%x: memref<?xf32>) {
        %c0 = arith.constant 0 : index
        %n = memref.dim %x, %c0 : memref<?xf32>
        %t = memref.alloc(%n) : memref<?xf32>
        linalg.add ins(%x, %x : memref<?xf32>, memref<?xf32>) outs(%t : memref<?xf32>)
        linalg.mul ins(%t, %t : memref<?xf32>, memref<?xf32>) outs(%x : memref<?xf32>)
        memref.dealloc %t : memref<?xf32>
        return
      }";
    let mut x = bytes(DType::F32, (0..100).map(f64::from));
    let mut args = [Arg::Array(Array::row_major(&mut x, DType::F32, &[100]).unwrap())];
    compile(source, "f").unwrap().call(&mut args).unwrap();
    let expected: Vec<_> = (0..100).map(|value| f64::from(4 * value * value)).collect();
    assert_eq!(values(DType::F32, &x), expected);
}

#[test]
fn arguments_that_do_not_fit_are_all_named() {
    let source = "func.func @f(%x: memref<?x8xbf16>, %y: memref<4xf32>, %z: i32) { return }";
    let function = compile(source, "f").unwrap();
    let mut memory = vec![0u8; 4096];
    let (left, right) = memory.split_at_mut(2048);
    let mut args = [
        Arg::Array(Array::row_major(left, DType::Bf16, &[2, 7]).unwrap()),
        Arg::Array(Array::row_major(right, DType::F64, &[4]).unwrap()),
        scalar(DType::F32, 1.0),
    ];
    assert_eq!(
        function.call(&mut args).unwrap_err().to_string(),
        "argument 0 of `@f`: expected size 8 in dimension 1, found 7\n\
         argument 1 of `@f`: expected element type f32, found f64\n\
         argument 2 of `@f`: expected element type i32, found f32"
    );
    assert_eq!(
        function.call(&mut args[..2]).unwrap_err().to_string(),
        "`@f` takes 3 arguments, found 2"
    );
}

#[test]
fn arrays_that_leave_their_memory_are_refused() {
    let mut memory = vec![0u8; 64];
    let error = Array::new(&mut memory, DType::F32, 1, &[4, 4], &[4, 1]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "an array of shape [4, 4], strides [4, 1] and offset 1 does not lie within 16 elements"
    );
}

#[test]
fn functions_that_cannot_serve_are_refused_by_name() {
    let words = |source: &str, name: &str| compile(source, name).unwrap_err().to_string();
    let file = "gpu.module @g {}  func.func @f() { return }  func.func private @h()
                func.func @calls() { call @h() : () -> () return }  func.func @t(%x: tf32) { return }";
    assert_eq!(
        words(file, "missing"),
        "there is no function `@missing` in the file; functions found: `@calls`, `@f`, `@h`, `@t`"
    );
    assert_eq!(
        words(file, "g"),
        "`@g` is a `gpu.module`; a reference is a `func.func` of upstream operations"
    );
    assert_eq!(
        words(file, "h"),
        "`@h` is declared but has no body; there is nothing to run"
    );
    assert_eq!(
        words(file, "calls"),
        "`@calls` calls `@h`, which is declared but has no body; a reference calls functions of its file"
    );
    assert_eq!(
        words(file, "t"),
        "a reference function cannot take or give `tf32`: declare it f32, as it lies in memory"
    );
}

/// Says to the test below that it is in a process of its own.
const CHILD: &str = "GIRIH_TEST_CHILD";

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_with_a_failed_assertion() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let source = "
      func.func @f(%n: index) {
        %c8 = arith.constant 8 : index
        %small = arith.cmpi ult, %n, %c8 : index
        cf.assert %small, \"n is too large\"
        return
      }";
    let _ = compile(source, "f").unwrap().call(&mut [Arg::Scalar(DType::I64, 8)]);
    unreachable!("the assertion held");
}

#[test]
fn a_failed_assertion_is_an_error_of_the_program() {
    let run = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "jit::child_with_a_failed_assertion",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr),
    );
    assert_eq!(run.status.code(), Some(1), "{out}\n{err}");
    assert!(out.contains("n is too large"), "{out}\n{err}");
    assert!(err.contains("error: an assertion of the reference failed"), "{err}");
}

#[test]
fn parallel_loops_over_tensors() {
    let source = "
      func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
        %e = tensor.empty() : tensor<4x8xf32>
        %r = scf.forall (%i) in (4) shared_outs(%o = %e) -> tensor<4x8xf32> {
          %row = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<1x8xf32>
          %into = tensor.extract_slice %o[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<1x8xf32>
          %y = linalg.add ins(%row, %row : tensor<1x8xf32>, tensor<1x8xf32>) outs(%into : tensor<1x8xf32>)
            -> tensor<1x8xf32>
          scf.forall.in_parallel {
            tensor.parallel_insert_slice %y into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<4x8xf32>
          }
        }
        return %r : tensor<4x8xf32>
      }";
    let mut x = bytes(DType::F32, (0..32).map(f64::from));
    let mut args = [Arg::Array(Array::row_major(&mut x, DType::F32, &[4, 8]).unwrap())];
    let results = compile(source, "f").unwrap().call(&mut args).unwrap();
    let data = bytes(DType::F32, (0..32).map(|value| f64::from(2 * value)));
    assert_eq!(
        results,
        [Returned::Array {
            dtype: DType::F32,
            shape: vec![4, 8],
            data
        }]
    );
}
