//! The product of two matrices given by the bits of their elements, for every type of `mma` and `wmma`.
use super::accumulate::{self, Factors, Model, Select};
use super::integer::{self, Integers};
use super::{BitOp, Element, Sum};

/// Which instruction does the product; they differ in how they add.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// `mma.sync`, all shapes but one.
    Mma,
    /// `mma.sync` with `.kind::f8f6f4`.
    MmaF8f6f4,
    /// `mma.sync.m8n8k4` of f16.
    M8n8k4,
    /// `wmma.mma`.
    Wmma,
}

/// Types and qualifiers of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arithmetic {
    pub unit: Unit,
    pub a: Element,
    pub b: Element,
    pub c: Sum,
    pub d: Sum,
    pub saturate: bool,
    pub bit_op: Option<BitOp>,
}

/// Rows of A, columns of B, stored columns of A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub m: usize,
    pub n: usize,
    pub k: usize,
}

impl Arithmetic {
    /// `a * b + c` by bits, row by row.
    pub fn product(&self, shape: Shape, a: &[u64], select: Select<'_>, b: &[u64], c: &[u64]) -> Vec<u64> {
        match self.d {
            Sum::F64 => f64_product(shape, a, b, c),
            Sum::F16 | Sum::F32 => self.float_product(shape, a, select, b, c),
            Sum::S32 => self.integer_product(shape, a, select, b, c),
        }
    }

    fn float_product(&self, shape: Shape, a: &[u64], select: Select<'_>, b: &[u64], c: &[u64]) -> Vec<u64> {
        let Shape { m, n, k } = shape;
        let (Some(a_number), Some(b_number)) = (self.a.number(), self.b.number()) else {
            return c.to_vec();
        };
        let a = Factors::gather(a_number, m, k, false, |i, j| a[i * k + j]);
        let b = Factors::gather(b_number, b.len() / n, n, false, |i, j| b[i * n + j]);
        let f16_sum = self.d == Sum::F16;
        let mut sums = sums_from_bits(self.c == Sum::F16, c);
        match self.unit {
            Unit::M8n8k4 => accumulate::multiply_accumulate_m8n8k4(&a, &b, f16_sum, &mut sums),
            Unit::Wmma => {
                accumulate::multiply_accumulate(Model::wmma(a_number, f16_sum, k), &a, select, &b, &mut sums);
            }
            Unit::MmaF8f6f4 => {
                accumulate::multiply_accumulate(Model::mma_f8f6f4(f16_sum), &a, select, &b, &mut sums);
            }
            Unit::Mma => accumulate::multiply_accumulate(Model::mma(a_number, f16_sum, k), &a, select, &b, &mut sums),
        }
        sums_to_bits(f16_sum, &sums)
    }

    fn integer_product(&self, shape: Shape, a: &[u64], select: Select<'_>, b: &[u64], c: &[u64]) -> Vec<u64> {
        let Shape { m, n, k } = shape;
        let mut sums: Vec<i32> = c.iter().map(|&c| c as u32 as i32).collect();
        match self.bit_op {
            Some(op) => {
                let left = pack(m, k, |i, j| a[i * k + j]);
                let right = pack(n, k, |j, i| b[i * n + j]);
                integer::count_ones(op, k / 32, &left, &right, &mut sums);
            }
            None => {
                let value = |element: Element, bits: u64| element.integer(bits).unwrap_or(0);
                let left = Integers::gather(m, k, |i, j| value(self.a, a[i * k + j]));
                let right = Integers::gather(b.len() / n, n, |i, j| value(self.b, b[i * n + j]));
                integer::multiply_accumulate(&left, select, &right, self.saturate, &mut sums);
            }
        }
        sums.into_iter().map(|v| u64::from(v as u32)).collect()
    }
}

/// `count` rows of `k` one-bit elements as 32-bit words, the first element in the lowest bit.
fn pack(count: usize, k: usize, bit: impl Fn(usize, usize) -> u64) -> Vec<u32> {
    let word = |i: usize, first: usize| (0..32).fold(0, |word, j| word | (bit(i, first + j) as u32) << j);
    let words = k / 32;
    (0..count * words).map(|at| word(at / words, at % words * 32)).collect()
}

/// Accumulators as values, from f16 or f32 bits.
pub(super) fn sums_from_bits(f16: bool, bits: &[u64]) -> Vec<f32> {
    let value = |&bits: &u64| match f16 {
        true => half::f16::from_bits(bits as u16).to_f32(),
        false => f32::from_bits(bits as u32),
    };
    bits.iter().map(value).collect()
}

/// f16 or f32 bits of accumulators; NaN is all ones without the sign.
pub(super) fn sums_to_bits(f16: bool, sums: &[f32]) -> Vec<u64> {
    let bits = |&sum: &f32| match (f16, sum.is_nan()) {
        (true, true) => 0x7fff,
        (false, true) => 0x7fff_ffff,
        (true, false) => half::f16::from_f32(sum).to_bits().into(),
        (false, false) => sum.to_bits().into(),
    };
    sums.iter().map(bits).collect()
}

fn f64_product(shape: Shape, a: &[u64], b: &[u64], c: &[u64]) -> Vec<u64> {
    let Shape { n, k, .. } = shape;
    let chain = |(at, &c): (usize, &u64)| {
        let (i, j) = (at / n, at % n);
        let step = |sum: f64, p: usize| f64::from_bits(a[i * k + p]).mul_add(f64::from_bits(b[p * n + j]), sum);
        (0..k).fold(f64::from_bits(c), step).to_bits()
    };
    c.iter().enumerate().map(chain).collect()
}
