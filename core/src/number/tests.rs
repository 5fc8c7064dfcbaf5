//! Between two neighbouring values of a format rounding has only three cases: below, at, and above the middle. So the
//! codec is tested at every code of every format, which covers every input.
use super::*;
use proptest::prelude::*;

const ROUNDINGS: [Rounding; 5] = [
    Rounding::NearestEven,
    Rounding::NearestAway,
    Rounding::Zero,
    Rounding::Up,
    Rounding::Down,
];

/// Codes of positive finite values in ascending order; a sample for f32, which has 2^31.
fn ascending(format: FloatFormat) -> impl Iterator<Item = u64> {
    let last = format.encode(format.largest(), Rounding::Zero, Overflow::Saturate) >> format.unused_bits;
    let step = if format == FloatFormat::F32 { 65_521 } else { 1 };
    (0..=last).step_by(step).map(move |field| field << format.unused_bits)
}

#[test]
fn every_code_survives_the_trip_through_f64() {
    for format in FloatFormat::ALL {
        let codes: Vec<u64> = match format.bits() {
            32 => (0..1u64 << 32)
                .step_by(4093)
                .map(|c| c >> format.unused_bits << format.unused_bits)
                .collect(),
            bits => (0..1 << bits).collect(),
        };
        for code in codes {
            let value = format.decode(code);
            for rounding in ROUNDINGS {
                let again = format.encode(value, rounding, Overflow::Special);
                if value.is_nan() {
                    assert_eq!(Some(again), format.nan(), "{} {code:#x}", format.name);
                } else {
                    assert_eq!(again, code, "{} {code:#x} {rounding:?}", format.name);
                }
            }
        }
    }
}

#[test]
fn rounding_between_all_neighbours() {
    for format in FloatFormat::ALL {
        let unit = 1 << format.unused_bits;
        for low in ascending(format) {
            let high = low + unit;
            let (a, b) = (format.decode(low), format.decode(high));
            if a == format.largest() {
                continue;
            }
            assert!(a < b, "{} {low:#x}", format.name);
            let middle = a + (b - a) / 2.0;
            // Between powers of two the even significand is always the upper one's.
            let low_is_even = (low >> format.unused_bits) & 1 == 0 && format.mantissa_bits > 0;
            let even = if low_is_even { low } else { high };
            for (value, nearest_even, nearest_away) in [
                (middle.next_down(), low, low),
                (middle, even, high),
                (middle.next_up(), high, high),
            ] {
                let check = |rounding, expected, sign: f64, sign_bit| {
                    let found = format.encode(sign * value, rounding, Overflow::Special);
                    assert_eq!(found, expected | sign_bit, "{} {value} {rounding:?}", format.name);
                };
                check(Rounding::NearestEven, nearest_even, 1.0, 0);
                check(Rounding::NearestAway, nearest_away, 1.0, 0);
                check(Rounding::Zero, low, 1.0, 0);
                check(Rounding::Down, low, 1.0, 0);
                check(Rounding::Up, high, 1.0, 0);
                if format.signed {
                    let sign_bit = 1 << (format.bits() - 1);
                    check(Rounding::NearestEven, nearest_even, -1.0, sign_bit);
                    check(Rounding::NearestAway, nearest_away, -1.0, sign_bit);
                    check(Rounding::Zero, low, -1.0, sign_bit);
                    check(Rounding::Down, high, -1.0, sign_bit);
                    check(Rounding::Up, low, -1.0, sign_bit);
                }
            }
        }
    }
}

#[test]
fn largest_values_are_those_of_the_manual() {
    let largest = FloatFormat::ALL.map(|format| (format.name, format.largest()));
    assert_eq!(
        largest,
        [
            ("f32", f64::from(f32::MAX)),
            ("tf32", (2.0 - 2f64.powi(-10)) * 2f64.powi(127)),
            ("bf16", (2.0 - 2f64.powi(-7)) * 2f64.powi(127)),
            ("f16", 65504.0),
            ("e5m2", 57344.0),
            ("e4m3", 448.0),
            ("e3m2", 28.0),
            ("e2m3", 7.5),
            ("e2m1", 6.0),
            ("ue8m0", 2f64.powi(127)),
            ("ue4m3", 448.0),
        ]
    );
    assert_eq!(
        (0..8).map(|c| FloatFormat::E2M1.decode(c)).collect::<Vec<_>>(),
        [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
    );
}

#[test]
fn overflow_depends_on_rounding_format_and_saturation() {
    use Overflow::{Saturate, Special};
    use Rounding::{Down, NearestEven, Up, Zero};
    for (format, value, rounding, overflow, code) in [
        (FloatFormat::F16, 65519.9, NearestEven, Special, 0x7bff),
        (FloatFormat::F16, 65520.0, NearestEven, Special, 0x7c00),
        (FloatFormat::F16, 1e9, NearestEven, Saturate, 0x7bff),
        (FloatFormat::F16, 1e9, Zero, Special, 0x7bff),
        (FloatFormat::F16, -1e9, Up, Special, 0xfbff),
        (FloatFormat::F16, -1e9, Down, Special, 0xfc00),
        (FloatFormat::F16, f64::INFINITY, Zero, Special, 0x7c00),
        (FloatFormat::F16, f64::NEG_INFINITY, NearestEven, Saturate, 0xfbff),
        (FloatFormat::E4M3, 464.0, NearestEven, Special, 0x7e),
        (FloatFormat::E4M3, 464.1, NearestEven, Special, 0x7f),
        (FloatFormat::E4M3, -1e9, NearestEven, Saturate, 0xfe),
        (FloatFormat::E4M3, f64::NAN, NearestEven, Saturate, 0x7f),
        (FloatFormat::E5M2, 1e9, NearestEven, Special, 0x7c),
        (FloatFormat::E5M2, 1e9, NearestEven, Saturate, 0x7b),
        (FloatFormat::E2M1, 100.0, NearestEven, Special, 0x7),
        (FloatFormat::E2M1, f64::NAN, NearestEven, Saturate, 0x7),
        (FloatFormat::UE8M0, 3.0, Zero, Saturate, 0x80),
        (FloatFormat::UE8M0, 3.0, Up, Saturate, 0x81),
        (FloatFormat::UE8M0, 0.0, Up, Saturate, 0x00),
        (FloatFormat::UE8M0, 1e300, Up, Saturate, 0xfe),
    ] {
        let found = format.encode(value, rounding, overflow);
        assert_eq!(
            found, code,
            "{} {value} {rounding:?} {overflow:?}: {found:#x}",
            format.name
        );
    }
}

/// Records of an H200: `cp.async.bulk.tensor` with element type tf32.
#[test]
fn tf32_agrees_with_recorded_tensor_map_loads() {
    for (f32_bits, loaded) in [
        (0x3f80_1000u32, 0x3f80_0000u64),
        (0x3f80_3000, 0x3f80_4000),
        (0x3f80_1001, 0x3f80_2000),
        (0x007f_ffff, 0x0080_0000),
        (0x0000_1000, 0),
        (0x7f7f_ffff, 0x7f80_0000),
        (0x7f80_0001, 0x7fff_e000),
        (0xff80_0000, 0xff80_0000),
    ] {
        let value = f64::from(f32::from_bits(f32_bits));
        assert_eq!(
            FloatFormat::TF32.encode(value, Rounding::NearestEven, Overflow::Special),
            loaded,
            "{f32_bits:#x}"
        );
    }
}

fn agrees_with_peers(bits: u32) -> Result<(), TestCaseError> {
    let x = f32::from_bits(bits);
    let encode = |format: FloatFormat| format.encode(f64::from(x), Rounding::NearestEven, Overflow::Special) as u32;
    prop_assume!(!x.is_nan());
    prop_assert_eq!(
        encode(FloatFormat::F16),
        u32::from(half::f16::from_f32_const(x).to_bits())
    );
    prop_assert_eq!(
        encode(FloatFormat::BF16),
        u32::from(half::bf16::from_f32_const(x).to_bits())
    );
    prop_assert_eq!(encode(FloatFormat::F32), bits);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]
    #[test]
    fn f16_and_bf16_agree_with_the_half_crate(bits: u32) {
        agrees_with_peers(bits)?;
    }

    #[test]
    fn f32_agrees_with_the_processor(x: f64) {
        let found = FloatFormat::F32.encode(x, Rounding::NearestEven, Overflow::Special);
        prop_assert_eq!(found, u64::from((x as f32).to_bits()));
    }
}

#[test]
#[ignore = "all 2^32 values take a minute"]
fn every_f32_agrees_with_the_half_crate() {
    for bits in 0..=u32::MAX {
        let x = f32::from_bits(bits);
        if x.is_nan() {
            continue;
        }
        let encode = |format: FloatFormat| format.encode(f64::from(x), Rounding::NearestEven, Overflow::Special);
        assert_eq!(
            encode(FloatFormat::F16) as u16,
            half::f16::from_f32(x).to_bits(),
            "{bits:#x}"
        );
        assert_eq!(
            encode(FloatFormat::BF16) as u16,
            half::bf16::from_f32(x).to_bits(),
            "{bits:#x}"
        );
    }
}

#[test]
fn element_types_convert_as_arrays_do() {
    for (dtype, value, bits) in [
        (DType::I8, -3.7, 0xfd),
        (DType::I8, 1000.0, 0x7f),
        (DType::I1, 0.5, 1),
        (DType::I32, f64::NAN, 0),
        (DType::Bf16, 1.0, 0x3f80),
        (DType::E4m3, -448.0, 0xfe),
        (DType::Tf32, 1.0, 0x3f80_0000),
        (DType::F64, -0.0, 1 << 63),
    ] {
        assert_eq!(to_bits(dtype, value), bits, "{dtype} {value}");
    }
    for dtype in DType::ALL {
        assert_eq!(from_bits(dtype, to_bits(dtype, 1.0)), 1.0, "{dtype}");
        if dtype != DType::I1 {
            assert_eq!(from_bits(dtype, to_bits(dtype, -2.0)), -2.0, "{dtype}");
        }
    }
}
