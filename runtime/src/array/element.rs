//! One element between its bytes and a host number, through core's number formats.
use girih_core::{
    dtype::DType,
    number::{from_bits, to_bits},
};

/// The value of one element's little-endian bytes as f64; integers are signed, and beyond 2^53 they are rounded.
/// `bytes` must have `dtype.bytes()` bytes.
pub fn decode_f64(dtype: DType, bytes: &[u8]) -> f64 {
    from_bits(dtype, bits(bytes))
}

/// The value of one element's little-endian bytes as a signed integer; `None` for floats. `i1` is 0 or 1.
pub fn decode_i64(dtype: DType, bytes: &[u8]) -> Option<i64> {
    let bits = bits(bytes);
    Some(match dtype {
        DType::I1 => i64::from(bits != 0),
        DType::I8 => i64::from(bits as i8),
        DType::I16 => i64::from(bits as i16),
        DType::I32 => i64::from(bits as i32),
        DType::I64 => bits as i64,
        _ => return None,
    })
}

/// Writes `value` rounded to nearest, ties to even; integers saturate and turn NaN into 0; `i1` is `value != 0`.
pub fn encode_f64(dtype: DType, value: f64, out: &mut [u8]) {
    let value = if dtype.is_float() || dtype == DType::I1 {
        value
    } else {
        value.round_ties_even()
    };
    let bits = to_bits(dtype, value).to_le_bytes();
    out.copy_from_slice(&bits[..out.len()]);
}

/// Writes an integer; `false`, and nothing written, when an integer type cannot hold it. Floats round.
pub fn encode_i64(dtype: DType, value: i64, out: &mut [u8]) -> bool {
    let width = dtype.bytes() * 8;
    let fits = match dtype {
        DType::I1 => (0..=1).contains(&value),
        _ if dtype.is_float() => {
            encode_f64(dtype, value as f64, out);
            return true;
        }
        // The sign is decided by the operation, so both readings of the bits are accepted.
        _ => width == 64 || (-(1i64 << (width - 1))..1i64 << width).contains(&value),
    };
    if fits {
        out.copy_from_slice(&value.to_le_bytes()[..out.len()]);
    }
    fits
}

fn bits(bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(dtype: DType, value: f64) -> f64 {
        let mut bytes = vec![0; dtype.bytes() as usize];
        encode_f64(dtype, value, &mut bytes);
        decode_f64(dtype, &bytes)
    }

    #[test]
    fn rounding_is_to_nearest_even_in_one_step() {
        // Half an ulp above 1, and the same plus a bit far below f32's precision.
        assert_eq!(round_trip(DType::Bf16, 1.0 + 2f64.powi(-8)), 1.0);
        assert_eq!(
            round_trip(DType::Bf16, 1.0 + 2f64.powi(-8) + 2f64.powi(-50)),
            1.0 + 2f64.powi(-7)
        );
        assert_eq!(
            round_trip(DType::F16, 1.0 + 2f64.powi(-11) + 2f64.powi(-50)),
            1.0 + 2f64.powi(-10)
        );
        assert_eq!(round_trip(DType::F16, 2f64.powi(-25)), 0.0);
        assert_eq!(round_trip(DType::F16, 2f64.powi(-25) * 1.0001), 2f64.powi(-24));
        assert_eq!(round_trip(DType::F16, 65519.0), 65504.0);
        assert_eq!(round_trip(DType::F16, 65520.0), f64::INFINITY);
        assert_eq!(round_trip(DType::E4m3, 464.0), 448.0);
        assert!(round_trip(DType::E4m3, 465.0).is_nan());
        assert!(round_trip(DType::E4m3, f64::INFINITY).is_nan());
        assert_eq!(round_trip(DType::E5m2, 61440.0), f64::INFINITY);
        assert_eq!(round_trip(DType::E5m2, -57344.0), -57344.0);
    }

    #[test]
    fn integers_keep_both_readings_of_their_bits_and_refuse_what_does_not_fit() {
        let mut byte = [0];
        assert!(encode_i64(DType::I8, 255, &mut byte));
        assert_eq!(decode_i64(DType::I8, &byte), Some(-1));
        assert!(!encode_i64(DType::I8, 256, &mut byte));
        assert!(!encode_i64(DType::I8, -129, &mut byte));
        assert!(!encode_i64(DType::I1, 2, &mut byte));
        assert_eq!(round_trip(DType::I32, 1e20), f64::from(i32::MAX));
        assert_eq!(decode_i64(DType::F32, &[0; 4]), None);
    }
}
