//! Integer and one-bit products. Sums are exact; s32 wraps, or saturates with `.satfinite`.
use super::BitOp;
use super::accumulate::Select;

/// A matrix of small integers, row by row.
#[derive(Clone, Debug)]
pub struct Integers {
    columns: usize,
    values: Vec<i32>,
}

impl Integers {
    /// The matrix of `rows * columns` with the given elements.
    pub fn gather(rows: usize, columns: usize, mut value: impl FnMut(usize, usize) -> i32) -> Self {
        let values = (0..rows * columns).map(|i| value(i / columns, i % columns)).collect();
        Integers { columns, values }
    }
}

/// `c = a * b + c`, `c` row by row, modulo 2^32 or clamped to s32.
///
/// Factors are of at most 9 bits with sign and A has at most 256 columns, so that the products' sum fits 32 bits.
pub fn multiply_accumulate(a: &Integers, select: Select<'_>, b: &Integers, saturate: bool, c: &mut [i32]) {
    let n = b.columns;
    let mut sums = vec![0i32; n];
    for (i, c) in c.chunks_exact_mut(n).enumerate() {
        sums.fill(0);
        for k in 0..a.columns {
            let left = a.values[i * a.columns + k];
            let row = match select {
                Select::Dense => k,
                Select::Sparse(rows) => rows[i * a.columns + k].into(),
            };
            for (sum, &right) in sums.iter_mut().zip(&b.values[row * n..(row + 1) * n]) {
                *sum = sum.wrapping_add(left.wrapping_mul(right));
            }
        }
        for (c, &sum) in c.iter_mut().zip(&sums) {
            *c = if saturate {
                c.saturating_add(sum)
            } else {
                c.wrapping_add(sum)
            };
        }
    }
}

/// `c[i][j] += ones(op(a[i], b[j]))` over `words` 32-bit words of one-bit elements in each row of A and column of B.
pub fn count_ones(op: BitOp, words: usize, a: &[u32], b: &[u32], c: &mut [i32]) {
    let n = b.len() / words;
    for (i, a) in a.chunks_exact(words).enumerate() {
        for (j, b) in b.chunks_exact(words).enumerate() {
            let ones: u32 = a
                .iter()
                .zip(b)
                .map(|(&a, &b)| match op {
                    BitOp::Xor => (a ^ b).count_ones(),
                    BitOp::And => (a & b).count_ones(),
                })
                .sum();
            c[i * n + j] = c[i * n + j].wrapping_add(ones as i32);
        }
    }
}
