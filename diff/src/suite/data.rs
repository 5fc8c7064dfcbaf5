//! Numbers for operands: small ones whose sums are exact in every order, ordinary ones, ones far apart, and all bits.
use girih_core::dtype::DType;
use girih_runtime::array::{Array, encode_f64};
use rand_chacha::{ChaCha8Rng, rand_core::RngCore};

/// Which numbers an operand holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Integers from -4 to 4.
    Small,
    /// Uniform in [-1, 1).
    Ordinary,
    /// Magnitudes from 2^-12 to 2^12, so that terms are lost beside others.
    Wide,
    /// Every bit random: subnormals, infinities and NaN among them.
    Bits,
    /// Metadata of sparse operands: each 4 bits name two places of four, in ascending order.
    PairsOfFour,
    /// Metadata of sparse tf32: each 4 bits name the first or the second of two.
    OneOfTwo,
}

/// An array of such numbers. `None` if there is no memory for it.
pub fn array(dtype: DType, shape: &[u64], numbers: Numbers, rng: &mut ChaCha8Rng) -> Option<Array> {
    let mut array = Array::zeros(dtype, shape)?;
    let nibbles = |codes: &'static [u64], rng: &mut ChaCha8Rng| {
        (0..16).fold(0, |word, _| word << 4 | codes[rng.next_u64() as usize % codes.len()])
    };
    for cell in array.bytes_mut().chunks_exact_mut(dtype.bytes() as usize) {
        let value = match numbers {
            Numbers::Small => (rng.next_u64() % 9) as f64 - 4.0,
            Numbers::Ordinary if dtype.is_float() => 2.0 * unit(rng) - 1.0,
            Numbers::Wide if dtype.is_float() => {
                let exponent = (rng.next_u64() % 25) as i32 - 12;
                let sign = if rng.next_u64().is_multiple_of(2) { 1.0 } else { -1.0 };
                sign * (1.0 + unit(rng)) * 2f64.powi(exponent)
            }
            other => {
                let bits = match other {
                    Numbers::PairsOfFour => nibbles(&[0x4, 0x8, 0x9, 0xc, 0xd, 0xe], rng),
                    Numbers::OneOfTwo => nibbles(&[0x4, 0xe], rng),
                    _ => rng.next_u64(),
                };
                cell.copy_from_slice(&bits.to_le_bytes()[..cell.len()]);
                continue;
            }
        };
        encode_f64(dtype, value, cell);
    }
    Some(array)
}

/// Uniform in [0, 1) with 53 bits.
fn unit(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * f64::from_bits((1023 - 53) << 52)
}
