//! How the tensor core adds products: the one place that decides rounding.
//!
//! A step takes `block` products and the accumulator. Products are exact, and not normalised: the product of significands
//! `1.x * 1.y` in [1, 4) keeps the sum of the factors' exponents (a subnormal has its format's smallest exponent). All
//! terms are aligned to the largest exponent and cut, towards zero, `fraction_bits` below it. The cut terms are added
//! exactly, and the sum is rounded once:
//!
//! ```text
//! e   = max(exponent of every nonzero term, -126)
//! sum = trunc(c * 2^(f - e)) + trunc(a0*b0 * 2^(f - e)) + trunc(a1*b1 * 2^(f - e)) + ...     an integer
//! d   = round(sum * 2^(e - f))
//! ```
//!
//! | sm_90 instruction | factors | block | f | round |
//! |---|---|---|---|---|
//! | `mma`, `wgmma` | f16, bf16 | 16 | 25 | f32: towards zero; f16: nearest even |
//! | `mma`, `wgmma` | tf32 | 8 (`wmma`: 4) | 25 | towards zero |
//! | `wgmma` | e4m3, e5m2 | 32 | 13 | f32: towards zero to 13 mantissa bits; f16: nearest even |
//! | `mma` | e4m3, e5m2 | half of K, detached | 25 | f32: towards zero; f16: nearest even |
//! | `mma.m8n8k4` with f32 sums | f16 | a chain of f32 additions to nearest even, detached | | |
//!
//! `mma` of sm_120 with `.kind::f8f6f4` is taken to be one step of 32 with f = 25; no device has been asked.
//!
//! *Detached*: the sum starts at zero, and c is added last, rounding to nearest even. 8-bit factors of `mma` are converted
//! to f16 by the compiler; the first step takes the columns 0, 1, 4, 5, 8, ... of A, the second the others. Of a sparse A
//! the stored columns count. A NaN result is 0x7fffffff or 0x7fff. f64 is not here: it is a chain of fused multiply-adds.
//!
//! The arithmetic of a step is that of a published bit-accurate model of Hopper's tensor cores (arXiv 2511.10909); the
//! table is what reproduces every product in `tests/hw/product.jsonl.gz`, recorded on an H200.
use girih_core::number::{FloatFormat, Overflow, Rounding};

/// Floating-point formats of factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Number {
    F16,
    Bf16,
    Tf32,
    E4m3,
    E5m2,
    /// In the low bits of a byte.
    E3m2,
    /// In the low bits of a byte.
    E2m3,
    /// In a byte, from its third bit on.
    E2m1,
}

impl Number {
    /// The value of the low bits of `bits`; tf32 drops its low 13.
    #[inline]
    pub fn value(self, bits: u64) -> f32 {
        match self {
            Number::F16 => half::f16::from_bits(bits as u16).to_f32(),
            Number::Bf16 => f32::from_bits((bits as u32) << 16),
            Number::Tf32 => f32::from_bits(bits as u32 & !0x1fff),
            Number::E4m3 => E4M3[usize::from(bits as u8)],
            Number::E5m2 => half::f16::from_bits((bits as u16) << 8).to_f32(),
            Number::E3m2 => FloatFormat::E3M2.decode(bits & 0x3f) as f32,
            Number::E2m3 => FloatFormat::E2M3.decode(bits & 0x3f) as f32,
            Number::E2m1 => FloatFormat::E2M1.decode(bits >> 2 & 0xf) as f32,
        }
    }

    /// Exponent of the smallest normal value and of all subnormals.
    const fn smallest_exponent(self) -> i16 {
        match self {
            Number::F16 | Number::E5m2 => -14,
            Number::Bf16 | Number::Tf32 => -126,
            Number::E4m3 => -6,
            Number::E3m2 => -2,
            Number::E2m3 | Number::E2m1 => 0,
        }
    }
}

static E4M3: [f32; 256] = {
    let mut values = [0.0; 256];
    let mut code = 0;
    while code < 256 {
        values[code] = FloatFormat::E4M3.decode(code as u64) as f32;
        code += 1;
    }
    values
};

/// Rounding of a step's sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Round {
    /// f32, towards zero.
    F32,
    /// f32 whose low 10 mantissa bits are zero, towards zero.
    F32Mantissa13,
    /// f16, to nearest even.
    F16,
}

/// The arithmetic of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Model {
    /// Products of one step.
    pub block: usize,
    /// Bits kept below the largest exponent.
    pub fraction_bits: i16,
    /// Rounding of the sum.
    pub round: Round,
    /// Whether the steps start at zero and take the columns of A by `detached_order`.
    pub detached: bool,
}

impl Model {
    /// `mma.sync` on sm_90, with `columns` stored columns of A.
    pub const fn mma(number: Number, f16_sum: bool, columns: usize) -> Model {
        let round = if f16_sum { Round::F16 } else { Round::F32 };
        let (block, detached) = match number {
            Number::F16 | Number::Bf16 => (16, false),
            Number::Tf32 => (8, false),
            Number::E4m3 | Number::E5m2 => (columns / 2, true),
            Number::E3m2 | Number::E2m3 | Number::E2m1 => (32, false),
        };
        Model {
            block,
            fraction_bits: 25,
            round,
            detached,
        }
    }

    /// `mma.sync` with `.kind::f8f6f4`, as far as it is known.
    pub const fn mma_f8f6f4(f16_sum: bool) -> Model {
        Model::mma(Number::E2m1, f16_sum, 32)
    }

    /// `wmma.mma` on sm_90.
    pub const fn wmma(number: Number, f16_sum: bool, columns: usize) -> Model {
        let model = Model::mma(number, f16_sum, columns);
        match number {
            Number::Tf32 => Model { block: 4, ..model },
            _ => model,
        }
    }

    /// `wgmma.mma_async` on sm_90.
    pub const fn wgmma(number: Number, f16_sum: bool) -> Model {
        match number {
            Number::E4m3 | Number::E5m2 => {
                let round = if f16_sum { Round::F16 } else { Round::F32Mantissa13 };
                Model {
                    block: 32,
                    fraction_bits: 13,
                    round,
                    detached: false,
                }
            }
            _ => Model::mma(number, f16_sum, 0),
        }
    }
}

/// Columns of A in the order in which a detached product takes them.
fn detached_order(columns: usize) -> Vec<usize> {
    let of = |high: bool| (0..columns).filter(move |k| (k % 4 >= 2) == high);
    of(false).chain(of(true)).collect()
}

/// Exponent that stands for zero: below every exponent, alone and added to another.
const ZERO_EXPONENT: i16 = -8000;
/// Exponent that stands for infinity and NaN: above every other, even added to [`ZERO_EXPONENT`].
const SPECIAL_EXPONENT: i16 = 12000;

/// Exponent of `value` as the alignment sees it.
#[inline]
fn exponent(value: f32, smallest: i16) -> i16 {
    let magnitude = value.to_bits() & 0x7fff_ffff;
    match magnitude >> 23 {
        _ if magnitude == 0 => ZERO_EXPONENT,
        255 => SPECIAL_EXPONENT,
        field => (field as i16 - 127).max(smallest),
    }
}

/// A matrix of factors, row by row: values and the exponents that alignment needs.
#[derive(Clone, Debug)]
pub struct Factors {
    columns: usize,
    values: Vec<f32>,
    exponents: Vec<i16>,
}

impl Factors {
    /// The matrix of `rows * columns` whose element is given by its bits; `negate` flips every sign.
    pub fn gather(
        number: Number,
        rows: usize,
        columns: usize,
        negate: bool,
        mut bits: impl FnMut(usize, usize) -> u64,
    ) -> Self {
        let mut values = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            for column in 0..columns {
                let value = number.value(bits(row, column));
                values.push(if negate { -value } else { value });
            }
        }
        let smallest = number.smallest_exponent();
        let exponents = values.iter().map(|&v| exponent(v, smallest)).collect();
        Factors {
            columns,
            values,
            exponents,
        }
    }

    fn rows(&self) -> usize {
        self.values.len() / self.columns
    }

    fn row(&self, row: usize) -> (&[f32], &[i16]) {
        let range = row * self.columns..(row + 1) * self.columns;
        (&self.values[range.clone()], &self.exponents[range])
    }
}

/// Which row of B each element of A meets.
#[derive(Clone, Copy, Debug)]
pub enum Select<'a> {
    /// Column `k` of A meets row `k` of B.
    Dense,
    /// Element `[i][k]` of A meets row `rows[i * columns of A + k]` of B.
    Sparse(&'a [u16]),
}

impl Select<'_> {
    #[inline]
    fn row(self, i: usize, k: usize, columns: usize) -> usize {
        match self {
            Select::Dense => k,
            Select::Sparse(rows) => rows[i * columns + k].into(),
        }
    }
}

/// `c = a * b + c`, `c` row by row. With [`Round::F16`] the elements of `c` are values of f16.
///
/// Panics if `c` is not of rows of A times columns of B, or `select` names a row that B lacks.
pub fn multiply_accumulate(model: Model, a: &Factors, select: Select<'_>, b: &Factors, c: &mut [f32]) {
    if !model.detached {
        return chain(model, &(0..a.columns).collect::<Vec<_>>(), a, select, b, c);
    }
    let mut product = vec![0.0; c.len()];
    chain(model, &detached_order(a.columns), a, select, b, &mut product);
    for (c, product) in c.iter_mut().zip(product) {
        let sum = *c + product;
        *c = match model.round {
            // Rounding twice is rounding once: f32 has more than twice the bits of f16, and two.
            Round::F16 => half::f16::from_f32(sum).to_f32(),
            Round::F32 | Round::F32Mantissa13 => sum,
        };
    }
}

fn chain(model: Model, order: &[usize], a: &Factors, select: Select<'_>, b: &Factors, c: &mut [f32]) {
    let n = b.columns;
    assert_eq!(c.len(), a.rows() * n);
    let mut step = Step::new(n);
    for (i, c) in c.chunks_exact_mut(n).enumerate() {
        let (values, exponents) = a.row(i);
        for block in order.chunks(model.block) {
            step.terms.clear();
            let term = |&k: &usize| Term {
                value: values[k],
                exponent: exponents[k],
                row: select.row(i, k, a.columns),
            };
            step.terms.extend(block.iter().map(term));
            step.run(model, b, c);
        }
    }
}

/// `mma.m8n8k4`, `c` row by row.
pub fn multiply_accumulate_m8n8k4(a: &Factors, b: &Factors, f16_sum: bool, c: &mut [f32]) {
    let n = b.columns;
    for (at, c) in c.iter_mut().enumerate() {
        let (values, _) = a.row(at / n);
        // Products of f16 are exact in f32.
        let products = values.iter().enumerate().map(|(k, &value)| value * b.row(k).0[at % n]);
        if f16_sum {
            *c = half::f16::from_f32(products.fold(*c, |sum, product| sum + product)).to_f32();
        } else {
            *c += products.fold(0.0, |sum, product| sum + product);
        }
    }
}

#[derive(Clone, Copy)]
struct Term {
    value: f32,
    exponent: i16,
    row: usize,
}

/// One row of one step, with its scratch space.
struct Step {
    terms: Vec<Term>,
    largest: Vec<i16>,
    scale: Vec<f32>,
    sums: [Vec<i32>; 2],
}

/// Largest exponents between which the fast path is exact: below, products or the scale leave f32's normal range; above,
/// a sum could reach 2^128.
const FAST: std::ops::RangeInclusive<i16> = -100..=118;

impl Step {
    fn new(n: usize) -> Step {
        Step {
            terms: Vec::with_capacity(32),
            largest: vec![0; n],
            scale: vec![0.0; n],
            sums: [vec![0; n], vec![0; n]],
        }
    }

    fn run(&mut self, model: Model, b: &Factors, c: &mut [f32]) {
        let smallest = if model.round == Round::F16 { -14 } else { -126 };
        for (largest, &c) in self.largest.iter_mut().zip(c.iter()) {
            *largest = exponent(c, smallest);
        }
        for term in &self.terms {
            let (_, exponents) = b.row(term.row);
            for (largest, &e) in self.largest.iter_mut().zip(exponents) {
                // Sums of exponents cannot overflow; a checked addition would keep the loop from being vectorised.
                *largest = (*largest).max(term.exponent.wrapping_add(e));
            }
        }
        let unusual = |&e: &i16| e > ZERO_EXPONENT / 2 && !FAST.contains(&e);
        if self.largest.iter().any(unusual) {
            for (j, c) in c.iter_mut().enumerate() {
                *c = exact(
                    model,
                    self.terms
                        .iter()
                        .map(|t| (t.value, b.row(t.row).0[j], t.exponent + b.row(t.row).1[j])),
                    *c,
                );
            }
            return;
        }
        // 2^(f - e), by its bits; where all terms are zero any scale will do.
        for (scale, largest) in self.scale.iter_mut().zip(&mut self.largest) {
            *largest = (*largest).max(*FAST.start());
            *scale = f32::from_bits(((127 + model.fraction_bits).wrapping_sub(*largest) as u32) << 23);
        }
        for sums in &mut self.sums {
            sums.fill(0);
        }
        for (terms, sums) in self
            .terms
            .chunks(self.terms.len().div_ceil(2).max(1))
            .zip(&mut self.sums)
        {
            // At most 8 terms below 4 * 2^25, or 16 below 1.875^2 * 2^25 (8-bit factors): within 31 bits.
            for term in terms {
                let (values, _) = b.row(term.row);
                for ((sum, &scale), &value) in sums.iter_mut().zip(&self.scale).zip(values) {
                    // Exact: the product has at most 22 bits, the scale is a power of two.
                    *sum = sum.wrapping_add(cut(term.value * value * scale));
                }
            }
        }
        let [low, high] = &self.sums;
        let scales = self.scale.iter().zip(&self.largest);
        let outputs = c.iter_mut().zip(scales).zip(low.iter().zip(high));
        let sum =
            |c: f32, scale: f32, low: i32, high: i32| f64::from(cut(c * scale)) + f64::from(low) + f64::from(high);
        let unit = |largest: i16| power_of_two(largest.wrapping_sub(model.fraction_bits));
        if model.round == Round::F16 {
            for ((c, (&scale, &largest)), (&low, &high)) in outputs {
                *c = round(model.round, sum(*c, scale, low, high) * unit(largest));
            }
            return;
        }
        // Towards zero by masking the f64; what is left is exact in f32, since `largest` is in `FAST`.
        let lost_bits = if model.round == Round::F32 { 29 } else { 39 };
        for ((c, (&scale, &largest)), (&low, &high)) in outputs {
            let cut = f64::from_bits(sum(*c, scale, low, high).to_bits() & (u64::MAX << lost_bits));
            *c = (cut * unit(largest)) as f32;
        }
    }
}

/// The integer part of a term scaled to the alignment of its step. In place of `as i32`, whose tests for NaN and range take
/// most of the time of the loop above.
#[inline(always)]
fn cut(scaled: f32) -> i32 {
    // SAFETY: the fast path runs only where every nonzero term has an exponent of at most `largest` and none is infinite or
    // NaN ([`FAST`] excludes [`SPECIAL_EXPONENT`]), so that |scaled| < 4 * 2^fraction_bits <= 2^27.
    unsafe { scaled.to_int_unchecked() }
}

/// 2^e for |e| < 1000.
fn power_of_two(e: i16) -> f64 {
    f64::from_bits((i64::from(e).wrapping_add(1023) as u64) << 52)
}

/// One output of one step in f64, which holds every product and every sum exactly: any exponents, NaN and infinity.
/// Terms are factors and the sum of their exponents.
fn exact(model: Model, terms: impl Iterator<Item = (f32, f32, i16)> + Clone, c: f32) -> f32 {
    let products = || terms.clone().map(|(a, b, _)| f64::from(a) * f64::from(b));
    let plain: f64 = products().sum::<f64>() + f64::from(c);
    if !plain.is_finite() {
        return if plain.is_nan() {
            f32::from_bits(0x7fff_ffff)
        } else {
            plain as f32
        };
    }
    let smallest = if model.round == Round::F16 { -14 } else { -126 };
    let largest = terms
        .clone()
        .map(|(_, _, e)| e)
        .fold(exponent(c, smallest), i16::max)
        .max(-126);
    let scale = power_of_two(model.fraction_bits - largest);
    let sum: f64 = products().map(|p| (p * scale).trunc()).sum::<f64>() + (f64::from(c) * scale).trunc();
    round(model.round, sum / scale)
}

/// The rounding of a finite sum.
#[inline]
fn round(round: Round, sum: f64) -> f32 {
    match round {
        Round::F32 => towards_zero(sum),
        Round::F32Mantissa13 => f32::from_bits(towards_zero(sum).to_bits() & !0x3ff),
        Round::F16 => {
            let bits = FloatFormat::F16.encode(sum, Rounding::NearestEven, Overflow::Special);
            half::f16::from_bits(bits as u16).to_f32()
        }
    }
}

/// f32 towards zero, infinity from 2^128 on.
#[inline]
fn towards_zero(sum: f64) -> f32 {
    let nearest = sum as f32;
    if nearest.is_finite() && f64::from(nearest).abs() > sum.abs() {
        return f32::from_bits(nearest.to_bits() - 1);
    }
    if nearest.is_infinite() && sum.abs() < 2f64.powi(128) {
        f32::MAX.copysign(nearest)
    } else {
        nearest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small deterministic generator.
    struct Bits(u64);
    impl Bits {
        fn next(&mut self) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0
        }
    }

    fn one(model: Model, number: Number, a: &[u64], b: &[u64], c: f32) -> f32 {
        let left = Factors::gather(number, 1, a.len(), false, |_, k| a[k]);
        let right = Factors::gather(number, b.len(), 1, false, |k, _| b[k]);
        let mut d = [c];
        multiply_accumulate(model, &left, Select::Dense, &right, &mut d);
        d[0]
    }

    fn reference(model: Model, number: Number, a: &[u64], b: &[u64], mut c: f32) -> f32 {
        let smallest = number.smallest_exponent();
        let terms: Vec<_> = a
            .iter()
            .zip(b)
            .map(|(&a, &b)| {
                let (a, b) = (number.value(a), number.value(b));
                (a, b, exponent(a, smallest) + exponent(b, smallest))
            })
            .collect();
        if !model.detached {
            return terms
                .chunks(model.block)
                .fold(c, |c, block| exact(model, block.iter().copied(), c));
        }
        let terms: Vec<_> = detached_order(terms.len()).into_iter().map(|k| terms[k]).collect();
        let product = terms
            .chunks(model.block)
            .fold(0.0, |c, block| exact(model, block.iter().copied(), c));
        c += product;
        if model.round == Round::F16 {
            half::f16::from_f32(c).to_f32()
        } else {
            c
        }
    }

    #[test]
    fn fast_path_is_the_definition() {
        let mut bits = Bits(0x9e37_79b9_7f4a_7c15);
        let numbers = [
            (Number::F16, 32),
            (Number::Bf16, 16),
            (Number::Tf32, 16),
            (Number::E4m3, 64),
            (Number::E5m2, 32),
        ];
        for (number, k) in numbers {
            for f16_sum in [false, true] {
                for model in [Model::mma(number, f16_sum, k), Model::wgmma(number, f16_sum)] {
                    for case in 0..2000 {
                        // Raw bits at first, then values of like size, so that sums cancel and round.
                        let mut draw = || match (number, case % 3) {
                            (_, 0) => bits.next(),
                            (Number::Tf32, _) => u64::from(((bits.next() as i32) as f32 / 7.0e8).to_bits()),
                            (Number::Bf16, _) => u64::from(((bits.next() as i32) as f32 / 7.0e8).to_bits() >> 16),
                            (Number::F16, _) => half::f16::from_f32((bits.next() as i32) as f32 / 7.0e8)
                                .to_bits()
                                .into(),
                            (_, _) => bits.next() & 0xbf,
                        };
                        let a: Vec<u64> = (0..k).map(|_| draw()).collect();
                        let b: Vec<u64> = (0..k).map(|_| draw()).collect();
                        let c = if f16_sum {
                            half::f16::from_bits(bits.next() as u16).to_f32()
                        } else {
                            f32::from_bits(bits.next() as u32)
                        };
                        let (got, want) = (one(model, number, &a, &b, c), reference(model, number, &a, &b, c));
                        assert!(
                            got == want || got.is_nan() && want.is_nan(),
                            "{model:?} {number:?}: {got} {want}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn bits_below_the_cut_are_lost_towards_zero() {
        let model = Model::mma(Number::F16, false, 16);
        let f16 = |v: f32| u64::from(half::f16::from_f32(v).to_bits());
        // 2^-24 * 2^-2 is 26 bits below 1: cut. 25 bits below: kept, and lost in the rounding towards zero alone.
        assert_eq!(
            one(
                model,
                Number::F16,
                &[f16(1.0), f16(2f32.powi(-13))],
                &[f16(1.0), f16(2f32.powi(-13))],
                -1.0
            ),
            0.0
        );
        let kept = one(
            model,
            Number::F16,
            &[f16(1.0), f16(2f32.powi(-12))],
            &[f16(1.0), f16(2f32.powi(-13))],
            -1.0,
        );
        assert_eq!(kept, 2f32.powi(-25));
    }

    #[test]
    fn special_values() {
        let model = Model::mma(Number::F16, false, 16);
        let inf = 0x7c00;
        assert_eq!(one(model, Number::F16, &[inf], &[0x3c00], 0.0), f32::INFINITY);
        assert_eq!(one(model, Number::F16, &[inf], &[0], 0.0).to_bits(), 0x7fff_ffff);
        assert_eq!(
            one(model, Number::F16, &[inf], &[0x3c00], f32::NEG_INFINITY).to_bits(),
            0x7fff_ffff
        );
        assert_eq!(one(model, Number::F16, &[0], &[0], f32::MAX), f32::MAX);
    }
}
