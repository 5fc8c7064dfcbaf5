//! One element between its bytes and a host number.
use girih_core::dtype::DType;
use half::{bf16, f16};

/// Exponent and mantissa bits of a format narrower than f32, and whether it has infinities (`e4m3` has none: its largest
/// code is NaN, the one below is 448).
struct Narrow {
    exponent_bits: i32,
    mantissa_bits: i32,
    infinities: bool,
}

const E4M3: Narrow = Narrow {
    exponent_bits: 4,
    mantissa_bits: 3,
    infinities: false,
};
const E5M2: Narrow = Narrow {
    exponent_bits: 5,
    mantissa_bits: 2,
    infinities: true,
};
const F16: Narrow = Narrow {
    exponent_bits: 5,
    mantissa_bits: 10,
    infinities: true,
};
const BF16: Narrow = Narrow {
    exponent_bits: 8,
    mantissa_bits: 7,
    infinities: true,
};

impl Narrow {
    fn bias(&self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    /// Nearest code, ties to even, in one rounding from f64. Overflow gives infinity, or NaN where there is none.
    fn encode(&self, value: f64) -> u16 {
        let width = self.exponent_bits + self.mantissa_bits;
        let sign = u16::from(value.is_sign_negative()) << width;
        let special = ((1u32 << width) - 1) as u16;
        let infinity = special >> self.mantissa_bits << self.mantissa_bits;
        if value.is_nan() {
            return if self.infinities {
                sign | infinity | 1 << (self.mantissa_bits - 1)
            } else {
                sign | special
            };
        }
        let magnitude = value.abs();
        let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(1 - self.bias());
        let ulp = f64::from_bits(((exponent - self.mantissa_bits + 1023) as u64) << 52);
        let steps = if magnitude.is_infinite() {
            f64::INFINITY
        } else {
            (magnitude / ulp).round_ties_even()
        };
        let (overflow, largest) = if self.infinities {
            (infinity, infinity - 1)
        } else {
            (special, special - 1)
        };
        if steps > f64::from(1u32 << (self.mantissa_bits + 1)) {
            return sign | overflow;
        }
        let code = (((exponent + self.bias() - 1) as u64) << self.mantissa_bits) + steps as u64;
        sign | if code > u64::from(largest) {
            overflow
        } else {
            code as u16
        }
    }

    fn decode(&self, code: u16) -> f64 {
        let width = self.exponent_bits + self.mantissa_bits;
        let magnitude = code & ((1u32 << width) - 1) as u16;
        let (exponent, mantissa) = (
            i32::from(magnitude >> self.mantissa_bits),
            magnitude & ((1 << self.mantissa_bits) - 1),
        );
        let top = exponent == (1 << self.exponent_bits) - 1;
        let value = if top && self.infinities {
            if mantissa == 0 { f64::INFINITY } else { f64::NAN }
        } else if top && mantissa == (1 << self.mantissa_bits) - 1 {
            f64::NAN
        } else {
            let significand = if exponent == 0 {
                mantissa
            } else {
                mantissa + (1 << self.mantissa_bits)
            };
            f64::from(significand) * 2f64.powi(exponent.max(1) - self.bias() - self.mantissa_bits)
        };
        if code >> width & 1 == 1 { -value } else { value }
    }
}

/// The value of one element's little-endian bytes as f64; integers are signed, and beyond 2^53 they are rounded.
/// `bytes` must have `dtype.bytes()` bytes.
pub fn decode_f64(dtype: DType, bytes: &[u8]) -> f64 {
    match dtype {
        DType::F16 => f16::from_le_bytes([bytes[0], bytes[1]]).to_f64(),
        DType::Bf16 => bf16::from_le_bytes([bytes[0], bytes[1]]).to_f64(),
        DType::F32 | DType::Tf32 => f64::from(f32::from_le_bytes(fixed(bytes))),
        DType::F64 => f64::from_le_bytes(fixed(bytes)),
        DType::E4m3 => E4M3.decode(bytes[0].into()),
        DType::E5m2 => E5M2.decode(bytes[0].into()),
        DType::I1 | DType::I8 | DType::I16 | DType::I32 | DType::I64 => integer(bytes, dtype) as f64,
    }
}

/// The value of one element's little-endian bytes as a signed integer; `None` for floats. `i1` is 0 or 1.
pub fn decode_i64(dtype: DType, bytes: &[u8]) -> Option<i64> {
    (!dtype.is_float()).then(|| integer(bytes, dtype))
}

/// Writes `value` rounded to nearest, ties to even; integers saturate and turn NaN into 0; `i1` is `value != 0`.
pub fn encode_f64(dtype: DType, value: f64, out: &mut [u8]) {
    match dtype {
        DType::F16 => out.copy_from_slice(&F16.encode(value).to_le_bytes()),
        DType::Bf16 => out.copy_from_slice(&BF16.encode(value).to_le_bytes()),
        DType::F32 | DType::Tf32 => out.copy_from_slice(&(value as f32).to_le_bytes()),
        DType::F64 => out.copy_from_slice(&value.to_le_bytes()),
        DType::E4m3 => out[0] = E4M3.encode(value) as u8,
        DType::E5m2 => out[0] = E5M2.encode(value) as u8,
        DType::I1 => out[0] = u8::from(value != 0.0),
        DType::I8 => out.copy_from_slice(&(value.round_ties_even() as i8).to_le_bytes()),
        DType::I16 => out.copy_from_slice(&(value.round_ties_even() as i16).to_le_bytes()),
        DType::I32 => out.copy_from_slice(&(value.round_ties_even() as i32).to_le_bytes()),
        DType::I64 => out.copy_from_slice(&(value.round_ties_even() as i64).to_le_bytes()),
    }
}

/// Writes an integer; `false`, and nothing written, when an integer type cannot hold it. Floats round.
pub fn encode_i64(dtype: DType, value: i64, out: &mut [u8]) -> bool {
    let bits = dtype.bytes() * 8;
    let fits = match dtype {
        DType::I1 => (0..=1).contains(&value),
        _ if dtype.is_float() => {
            encode_f64(dtype, value as f64, out);
            return true;
        }
        // The sign is decided by the operation, so both readings of the bits are accepted.
        _ => bits == 64 || (-(1i64 << (bits - 1))..1i64 << bits).contains(&value),
    };
    if fits {
        out.copy_from_slice(&value.to_le_bytes()[..out.len()]);
    }
    fits
}

fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[..N]);
    out
}

fn integer(bytes: &[u8], dtype: DType) -> i64 {
    match dtype {
        DType::I1 => i64::from(bytes[0] != 0),
        DType::I8 => i64::from(bytes[0] as i8),
        DType::I16 => i64::from(i16::from_le_bytes(fixed(bytes))),
        DType::I32 => i64::from(i32::from_le_bytes(fixed(bytes))),
        _ => i64::from_le_bytes(fixed(bytes)),
    }
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
    fn every_code_of_the_narrow_formats_survives_a_round_trip() {
        for (format, codes) in [(&E4M3, 1u32 << 8), (&E5M2, 1 << 8), (&F16, 1 << 16), (&BF16, 1 << 16)] {
            for code in 0..codes {
                let value = format.decode(code as u16);
                if !value.is_nan() {
                    assert_eq!(u32::from(format.encode(value)), code, "{value}");
                }
            }
        }
        for code in 0..=u16::MAX {
            let (ours, theirs) = (F16.decode(code), f16::from_bits(code).to_f64());
            assert!(ours == theirs || ours.is_nan() && theirs.is_nan(), "{code:#x}");
        }
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
