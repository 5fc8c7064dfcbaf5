//! Fused multiply-add of whole registers on the host's own instruction where it has one; the library call that replaces
//! it elsewhere gives the same bits many times slower.
use super::bits32;
use crate::isa::{W32, W64};

/// `a * b + c` in single precision, any NaN the GPU's.
pub fn fma32(a: &W32, b: &W32, c: &W32) -> W32 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("fma") && is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has both features that the function is compiled for.
        return unsafe { fma32_native(a, b, c) };
    }
    fma32_portable(a, b, c)
}

/// `a * b + c` in double precision; NaNs are the host's.
pub fn fma64(a: &W64, b: &W64, c: &W64) -> W64 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("fma") && is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has both features that the function is compiled for.
        return unsafe { fma64_native(a, b, c) };
    }
    fma64_portable(a, b, c)
}

#[inline(always)]
fn fma32_portable(a: &W32, b: &W32, c: &W32) -> W32 {
    std::array::from_fn(|l| bits32(f32::from_bits(a[l]).mul_add(f32::from_bits(b[l]), f32::from_bits(c[l]))))
}

#[inline(always)]
fn fma64_portable(a: &W64, b: &W64, c: &W64) -> W64 {
    std::array::from_fn(|l| {
        f64::from_bits(a[l])
            .mul_add(f64::from_bits(b[l]), f64::from_bits(c[l]))
            .to_bits()
    })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn fma32_native(a: &W32, b: &W32, c: &W32) -> W32 {
    fma32_portable(a, b, c)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn fma64_native(a: &W64, b: &W64, c: &W64) -> W64 {
    fma64_portable(a, b, c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_give_the_same_bits() {
        let mut state = 3u64;
        let mut next = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            state ^ state >> 29
        };
        for _ in 0..1000 {
            let [a, b, c]: [W64; 3] = std::array::from_fn(|_| std::array::from_fn(|_| next()));
            let narrow = |v: &W64| -> W32 { v.map(|x| x as u32) };
            let (x, y, z) = (narrow(&a), narrow(&b), narrow(&c));
            assert_eq!(fma32(&x, &y, &z), fma32_portable(&x, &y, &z));
            let (got, want) = (fma64(&a, &b, &c), fma64_portable(&a, &b, &c));
            for (got, want) in got.into_iter().zip(want) {
                assert!(got == want || f64::from_bits(got).is_nan() && f64::from_bits(want).is_nan());
            }
        }
    }
}
