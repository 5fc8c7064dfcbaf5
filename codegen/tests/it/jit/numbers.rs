//! Numbers of every type: what they are on the way in and out, and how they are converted and rounded.
use super::{bytes, compile, scalar, values};
use girih_codegen::jit::{Arg, Array, Function, Returned};
use girih_core::{
    dtype::DType,
    number::{self, FloatFormat, Overflow, Rounding},
};
use pretty_assertions::assert_eq;

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
fn functions_of_integers_are_of_any_width() {
    let source = "
      func.func @all(%x: i8, %y: i32) -> (i8, i8, i8, i8, i32, i64) {
        %size = math.absi %x : i8
        %ones = math.ctpop %x : i8
        %above = math.ctlz %x : i8
        %below = math.cttz %x : i8
        %none = math.ctlz %y : i32
        %at = arith.index_cast %y : i32 to index
        %free = math.ctlz %at : index
        %wide = arith.index_cast %free : index to i64
        return %size, %ones, %above, %below, %none, %wide : i8, i8, i8, i8, i32, i64
      }";
    let results = compile(source, "all")
        .unwrap()
        .call(&mut [Arg::Scalar(DType::I8, 0xf4), Arg::Scalar(DType::I32, 0)])
        .unwrap();
    let byte = |v| Returned::Scalar(DType::I8, v);
    assert_eq!(
        results,
        [
            byte(12),
            byte(5),
            byte(0),
            byte(2),
            Returned::Scalar(DType::I32, 32),
            Returned::Scalar(DType::I64, 64)
        ]
    );
}

#[test]
fn floats_of_6_and_4_bits_are_those_of_the_codec() {
    for (mlir, bits, format) in [
        ("f6E3M2FN", 6, FloatFormat::E3M2),
        ("f6E2M3FN", 6, FloatFormat::E2M3),
        ("f4E2M1FN", 4, FloatFormat::E2M1),
    ] {
        let source = format!(
            "func.func @both(%code: i8, %x: f32) -> (f32, i8) {{
               %own = arith.trunci %code : i8 to i{bits}
               %small = arith.bitcast %own : i{bits} to {mlir}
               %value = arith.extf %small : {mlir} to f32
               %rounded = arith.truncf %x : f32 to {mlir}
               %back = arith.bitcast %rounded : {mlir} to i{bits}
               %byte = arith.extui %back : i{bits} to i8
               return %value, %byte : f32, i8
             }}"
        );
        let both = compile(&source, "both").unwrap();
        for code in 0..1u64 << bits {
            // Between numbers, and past the largest.
            let x = format.decode(code) * 1.125;
            let rounded = format.encode(x, Rounding::NearestEven, Overflow::Saturate);
            let arguments = &mut [
                Arg::Scalar(DType::I8, code | 0xff << bits & 0xff),
                Arg::Scalar(DType::F32, number::to_bits(DType::F32, x)),
            ];
            let value = number::to_bits(DType::F32, format.decode(code));
            assert_eq!(
                both.call(arguments).unwrap(),
                [
                    Returned::Scalar(DType::F32, value),
                    Returned::Scalar(DType::I8, rounded)
                ],
                "{mlir} {code:#x}"
            );
        }
    }
}

/// Every float: its name in MLIR, its bits, and its codec, where it is not the host's own.
const FLOATS: [(&str, u32, Option<FloatFormat>); 9] = [
    ("f64", 64, None),
    ("f32", 32, Some(FloatFormat::F32)),
    ("f16", 16, Some(FloatFormat::F16)),
    ("bf16", 16, Some(FloatFormat::BF16)),
    ("f8E4M3FN", 8, Some(FloatFormat::E4M3)),
    ("f8E5M2", 8, Some(FloatFormat::E5M2)),
    ("f6E3M2FN", 6, Some(FloatFormat::E3M2)),
    ("f6E2M3FN", 6, Some(FloatFormat::E2M3)),
    ("f4E2M1FN", 4, Some(FloatFormat::E2M1)),
];

/// The code of a number, to nearest even.
fn code(format: Option<FloatFormat>, value: f64) -> u64 {
    format.map_or(value.to_bits(), |format| {
        format.encode(value, Rounding::NearestEven, Overflow::Special)
    })
}

fn value(format: Option<FloatFormat>, code: u64) -> f64 {
    format.map_or(f64::from_bits(code), |format| format.decode(code))
}

#[test]
fn every_float_that_was_loaded_becomes_every_other_at_once_and_through_a_third() {
    for (from, width, source) in FLOATS {
        // Every code of 8 bits and less; of more, numbers between those of 8 bits.
        let codes: Vec<u64> = (0..256)
            .map(|n| match width {
                ..=8 => n & ((1 << width) - 1),
                _ => code(source, FloatFormat::E5M2.decode(n) * 1.09375),
            })
            .collect();
        let (mut body, mut paths) = (String::new(), vec![]);
        let ends = FLOATS.into_iter().filter(|(to, ..)| *to != from);
        for (end, middle) in ends.flat_map(|end| FLOATS.map(|middle| (end, middle))) {
            // Through the end itself is at once.
            let steps = if middle == end { vec![end] } else { vec![middle, end] };
            let (mut last, mut ty, mut bits) = ("%x".to_owned(), from, width);
            let mut text = String::new();
            // No operation leads from a format to another of as many bits.
            let possible = steps.iter().enumerate().all(|(i, (to, to_bits, _))| {
                let at = paths.len();
                let name = if *to_bits < bits { "arith.truncf" } else { "arith.extf" };
                let possible = *to_bits != bits;
                text += &format!("%v{at}_{i} = {name} {last} : {ty} to {to}\n");
                (last, ty, bits) = (format!("%v{at}_{i}"), to, *to_bits);
                possible
            });
            if possible {
                let at = paths.len();
                text += &format!("%b{at} = arith.bitcast {last} : {ty} to i{bits}\n");
                let word = match bits {
                    64 => format!("%b{at}"),
                    _ => {
                        text += &format!("%w{at} = arith.extui %b{at} : i{bits} to i64\n");
                        format!("%w{at}")
                    }
                };
                text += &format!(
                    "%at{at} = arith.constant {at} : index\nmemref.store {word}, %Y[%at{at}, %i] : memref<?x256xi64>\n"
                );
                body += &text;
                paths.push(steps);
            }
        }
        let storage = width.max(8);
        let load = match width {
            ..8 => format!(
                "%byte = memref.load %X[%i] : memref<256xi8>\n%own = arith.trunci %byte : i8 to i{width}\n\
                 %x = arith.bitcast %own : i{width} to {from}"
            ),
            _ => format!("%x = memref.load %X[%i] : memref<256x{from}>"),
        };
        let (element, dtype) = match from {
            "f64" => (from, DType::F64),
            "f32" => (from, DType::F32),
            "f16" => (from, DType::F16),
            "bf16" => (from, DType::Bf16),
            "f8E4M3FN" => (from, DType::E4m3),
            "f8E5M2" => (from, DType::E5m2),
            _ => ("i8", DType::I8),
        };
        let text = format!(
            "func.func @f(%X: memref<256x{element}>, %Y: memref<?x256xi64>) {{
               %c0 = arith.constant 0 : index
               %c1 = arith.constant 1 : index
               %c256 = arith.constant 256 : index
               scf.for %i = %c0 to %c256 step %c1 {{
                 {load}
                 {body}
               }}
               return
             }}"
        );
        let mut input: Vec<u8> = codes
            .iter()
            .flat_map(|code| code.to_le_bytes().into_iter().take(storage as usize / 8))
            .collect();
        let mut output = vec![0; 8 * 256 * paths.len()];
        let mut args = [
            Arg::Array(Array::row_major(&mut input, dtype, &[256]).unwrap()),
            Arg::Array(Array::row_major(&mut output, DType::I64, &[paths.len(), 256]).unwrap()),
        ];
        compile(&text, "f").unwrap().call(&mut args).unwrap();
        let mut found = output.chunks(8);
        for steps in &paths {
            for &own in &codes {
                let start = value(source, own);
                let (mut want, mut format) = (start, source);
                for &(_, _, next) in steps {
                    (want, format) = (value(next, code(next, want)), next);
                }
                let word = found.next().unwrap();
                let found = value(format, u64::from_le_bytes(word.try_into().unwrap()));
                assert!(
                    want.to_bits() == found.to_bits() || want.is_nan() && found.is_nan(),
                    "{start} of {from} through {steps:?}: expected {want}, found {found}"
                );
            }
        }
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
