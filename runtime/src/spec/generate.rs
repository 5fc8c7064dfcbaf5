//! Values of generated arrays.
//!
//! Random values are the same on every machine and with any number of threads: the bits come from ChaCha8, whose output
//! is fixed by its specification; every block of [`BLOCK`] elements has its own ChaCha stream; the logarithm is the
//! `libm` crate's, not the system's; and everything else is exact IEEE arithmetic. The key is the seed and, unless the
//! SPEC gives its own seed, the argument's name.
use super::{Generator, Number, Place};
use crate::array::{Array, encode_f64, encode_i64};
use girih_core::dtype::DType;
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{RngCore, SeedableRng},
};
use std::thread;

/// Elements that one ChaCha stream gives.
const BLOCK: usize = 1 << 16;

/// Fills every element; gaps of the layout stay. `None` if there is no memory for it.
pub(super) fn fill(array: &mut Array, generator: &Generator, place: &Place<'_>) -> Option<()> {
    let dtype = array.dtype();
    let size = dtype.bytes() as usize;
    let mut packed = Vec::new();
    packed.try_reserve_exact(array.len() as usize * size).ok()?;
    packed.resize(array.len() as usize * size, 0u8);
    match *generator {
        Generator::Randn { mean, std, seed } => {
            by_blocks(&mut packed, dtype, &key(seed, place), |rng, cells| {
                for pair in cells.chunks_mut(2 * size) {
                    let values = normal_pair(rng);
                    for (cell, value) in pair.chunks_exact_mut(size).zip(values) {
                        encode_f64(dtype, mean + std * value, cell);
                    }
                }
            });
        }
        Generator::Uniform { low, high, seed } => {
            let (default_low, default_high) = match dtype {
                DType::I1 => (0.0, 2.0),
                _ if dtype.is_float() => (-1.0, 1.0),
                _ => (-8.0, 8.0),
            };
            let (low, high) = (low.unwrap_or(default_low), high.unwrap_or(default_high));
            by_blocks(&mut packed, dtype, &key(seed, place), |rng, cells| {
                for cell in cells.chunks_exact_mut(size) {
                    let value = low + unit(rng) * (high - low);
                    encode_f64(dtype, if dtype.is_float() { value } else { value.floor() }, cell);
                }
            });
        }
        Generator::Iota { start, step } => {
            for (n, cell) in packed.chunks_exact_mut(size).enumerate() {
                match (start, step) {
                    // Integers wrap at their type's width.
                    (Number::Integer(start), Number::Integer(step)) if !dtype.is_float() => {
                        let value = start.wrapping_add(step.wrapping_mul(n as i64));
                        let value = if dtype == DType::I1 { value & 1 } else { value };
                        cell.copy_from_slice(&value.to_le_bytes()[..size]);
                    }
                    _ => encode_f64(dtype, start.to_f64() + step.to_f64() * n as f64, cell),
                }
            }
        }
        Generator::Full(value) => {
            let mut element = vec![0u8; size];
            match value {
                Number::Integer(value) if encode_i64(dtype, value, &mut element) => {}
                _ => encode_f64(dtype, value.to_f64(), &mut element),
            }
            packed
                .chunks_exact_mut(size)
                .for_each(|cell| cell.copy_from_slice(&element));
        }
        // All ones is a NaN in every float format.
        Generator::Poison => packed.fill(if dtype.is_float() { 0xff } else { 0xee }),
    }
    array.set_packed_bytes(&packed).then_some(())
}

fn key(seed: Option<u64>, place: &Place<'_>) -> [u8; 32] {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.unwrap_or(place.seed).to_le_bytes());
    if seed.is_none() {
        // FNV-1a, 64 bits.
        let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        let name = place.name.bytes().fold(0xcbf2_9ce4_8422_2325, fold);
        key[8..16].copy_from_slice(&name.to_le_bytes());
    }
    key
}

/// Calls `f` with each block's generator and bytes, blocks in parallel.
fn by_blocks(packed: &mut [u8], dtype: DType, key: &[u8; 32], f: impl Fn(&mut ChaCha8Rng, &mut [u8]) + Sync) {
    let block_bytes = BLOCK * dtype.bytes() as usize;
    let blocks = packed.len().div_ceil(block_bytes);
    let workers = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(blocks)
        .max(1);
    let per_worker = blocks.div_ceil(workers).max(1);
    thread::scope(|scope| {
        for (worker, chunk) in packed.chunks_mut(per_worker * block_bytes).enumerate() {
            let f = &f;
            scope.spawn(move || {
                for (block, cells) in chunk.chunks_mut(block_bytes).enumerate() {
                    let mut rng = ChaCha8Rng::from_seed(*key);
                    rng.set_stream((worker * per_worker + block) as u64);
                    f(&mut rng, cells);
                }
            });
        }
    });
}

/// Uniform in [0, 1) with 53 bits.
fn unit(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * f64::from_bits((1023 - 53) << 52)
}

/// Two independent standard normal values, by Marsaglia's polar method.
fn normal_pair(rng: &mut ChaCha8Rng) -> [f64; 2] {
    loop {
        let (x, y) = (2.0 * unit(rng) - 1.0, 2.0 * unit(rng) - 1.0);
        let square = x * x + y * y;
        if square < 1.0 && square > 0.0 {
            let scale = (-2.0 * libm::log(square) / square).sqrt();
            return [x * scale, y * scale];
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        array::{Array, FileType},
        spec::{Place, Spec},
    };

    fn make(spec: &str, name: &str, seed: u64) -> Array {
        let spec: Spec = spec.parse().unwrap();
        spec.array(&Place {
            name,
            file_type: FileType::Any,
            strides: None,
            seed,
        })
        .unwrap()
    }

    fn digest(array: &Array) -> u64 {
        array.bytes().iter().fold(0xcbf2_9ce4_8422_2325, |h, b| {
            (h ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }

    /// The digests pin the generator for every machine and every future version.
    #[test]
    fn random_values_are_fixed_for_ever() {
        let normal = make("randn:f64[200000]", "A", 0);
        assert_eq!(digest(&normal), 15199631307717772214);
        assert_eq!(digest(&make("uniform:f32[70000]", "A", 0)), 2581035051544305594);
    }

    #[test]
    fn seeds_and_names_tell_arrays_apart_and_an_own_seed_wins() {
        assert_ne!(make("randn:f32[64]", "A", 0), make("randn:f32[64]", "B", 0));
        assert_ne!(make("randn:f32[64]", "A", 0), make("randn:f32[64]", "A", 1));
        assert_eq!(
            make("randn(seed=3):f32[64]", "A", 0),
            make("randn(seed=3):f32[64]", "B", 1)
        );
    }

    #[test]
    fn normal_and_uniform_values_have_the_moments_that_they_claim() {
        let moments = |array: &Array| {
            let values = array.to_f64();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / values.len() as f64;
            (mean, variance)
        };
        let (mean, variance) = moments(&make("randn(mean=2,std=3):f32[1000,200]", "A", 7));
        assert!(
            (mean - 2.0).abs() < 0.03 && (variance - 9.0).abs() < 0.15,
            "{mean} {variance}"
        );
        let (mean, variance) = moments(&make("uniform:f32[1000,200]", "A", 7));
        assert!(
            mean.abs() < 0.01 && (variance - 1.0 / 3.0).abs() < 0.01,
            "{mean} {variance}"
        );
        let integers = make("uniform(low=-2,high=3):i8[1000]", "A", 7).to_f64();
        assert!((-2..3).all(|v| integers.contains(&f64::from(v))) && integers.iter().all(|v| (-2.0..3.0).contains(v)));
    }

    #[test]
    fn plain_generators_give_what_they_say() {
        assert_eq!(make("iota:i32[2,2]", "A", 0).to_f64(), [0., 1., 2., 3.]);
        assert_eq!(make("iota(start=1,step=0.5):f32[3]", "A", 0).to_f64(), [1., 1.5, 2.]);
        assert_eq!(make("iota:i8[300]", "A", 0).get_i64(&[299]), Some(43));
        assert_eq!(make("full(3.5):bf16[2]", "A", 0).to_f64(), [3.5, 3.5]);
        assert_eq!(
            make("full(9007199254740993):i64[1]", "A", 0).get_i64(&[0]),
            Some(9007199254740993)
        );
        assert!(make("poison:e4m3[4]", "A", 0).to_f64().iter().all(|v| v.is_nan()));
        assert!(make("empty:tf32[4]", "A", 0).to_f64().iter().all(|v| v.is_nan()));
        assert_eq!(make("poison:i16[1]", "A", 0).bytes(), [0xee; 2]);
        assert_eq!(make("zeros:f32[0,4]", "A", 0).to_f64(), Vec::<f64>::new());
        assert_eq!(make("i32:7", "A", 0).to_f64(), [7.]);
    }

    #[test]
    fn the_elements_do_not_depend_on_the_layout() {
        let spec: Spec = "randn:bf16[3,5;pitch=8,offset=32]".parse().unwrap();
        let place = Place {
            name: "A",
            file_type: FileType::Any,
            strides: Some(&[Some(1), None]),
            seed: 1,
        };
        let array = spec.array(&place).unwrap();
        assert_eq!(
            (array.layout().strides(), array.layout().offset_bytes()),
            (&[1, 8][..], 32)
        );
        assert_eq!(
            array.to_packed_bytes(),
            make("randn:bf16[3,5]", "A", 1).to_packed_bytes()
        );
        assert!(array.bytes()[..32].iter().all(|b| *b == 0xee));
        let small: Spec = "randn:bf16[3,5;pitch=2]".parse().unwrap();
        assert_eq!(
            small.array(&place).unwrap_err().to_string(),
            "SPEC `randn:bf16[3,5;pitch=2]`, column 22: pitch = 2 elements, but a row has 3 elements; the pitch must \
             not be smaller"
        );
    }
}
