//! The host's numbers as an arithmetic that functions are written in.
use super::super::algebra::{Approximate, Arith};

/// The host's single precision.
pub(super) struct Single;
/// The host's double precision.
pub(super) struct Double;
/// The host's single precision, with approximations as far from the exact value as the PTX manual lets them be, up or down
/// by the sign, or nearest for 0.
pub(super) struct Rough(pub(super) f64);

impl Rough {
    fn approximated(&self, function: Approximate, x: f32) -> f32 {
        let x = f64::from(x);
        let (exact, most) = match function {
            // 2 ulp, of which the last rounding is a half.
            Approximate::Exp2 => (x.exp2(), 1.5 * super::single::ulp(x.exp2() as f32)),
            Approximate::Log2 if 0.5 < x && x < 2.0 => (x.log2(), 2f64.powi(-22)),
            Approximate::Log2 => (x.log2(), x.log2().abs() * 2f64.powi(-22)),
            other => unreachable!("{other:?} stands alone"),
        };
        let moved = exact + self.0 * most;
        match function {
            // No power is negative.
            Approximate::Exp2 if moved < 0.0 => 0.0,
            _ if moved.is_finite() => moved as f32,
            _ => exact as f32,
        }
    }
}

fn no_approximation<A, F>(_: &A, _: Approximate, _: F) -> F {
    unreachable!("the accurate forms use no approximation")
}

macro_rules! host {
    ($name:ident, $f:ty, $i:ty, $u:ty, $wide:ty, $bits:literal, $approximate:expr) => {
        impl Arith for $name {
            type F = $f;
            type I = $i;
            type B = bool;
            fn bits(&self) -> u32 {
                $bits
            }
            fn f(&self, v: f64) -> $f {
                v as $f
            }
            fn i(&self, v: i64) -> $i {
                v as $i
            }
            fn add(&self, a: $f, b: $f) -> $f {
                a + b
            }
            fn sub(&self, a: $f, b: $f) -> $f {
                a - b
            }
            fn mul(&self, a: $f, b: $f) -> $f {
                a * b
            }
            fn div(&self, a: $f, b: $f) -> $f {
                a / b
            }
            fn fma(&self, a: $f, b: $f, c: $f) -> $f {
                a.mul_add(b, c)
            }
            fn sqrt(&self, a: $f) -> $f {
                a.sqrt()
            }
            fn trunc(&self, a: $f) -> $f {
                a.trunc()
            }
            fn lt(&self, a: $f, b: $f) -> bool {
                a < b
            }
            fn le(&self, a: $f, b: $f) -> bool {
                a <= b
            }
            fn eq(&self, a: $f, b: $f) -> bool {
                a == b
            }
            fn ne(&self, a: $f, b: $f) -> bool {
                a != b
            }
            fn select(&self, c: bool, a: $f, b: $f) -> $f {
                if c { a } else { b }
            }
            fn select_int(&self, c: bool, a: $i, b: $i) -> $i {
                if c { a } else { b }
            }
            fn both(&self, a: bool, b: bool) -> bool {
                a && b
            }
            fn either(&self, a: bool, b: bool) -> bool {
                a || b
            }
            fn to_bits(&self, a: $f) -> $i {
                a.to_bits() as $i
            }
            fn of_bits(&self, a: $i) -> $f {
                <$f>::from_bits(a as $u)
            }
            fn iadd(&self, a: $i, b: $i) -> $i {
                a.wrapping_add(b)
            }
            fn isub(&self, a: $i, b: $i) -> $i {
                a.wrapping_sub(b)
            }
            fn iand(&self, a: $i, b: $i) -> $i {
                a & b
            }
            fn ior(&self, a: $i, b: $i) -> $i {
                a | b
            }
            fn ixor(&self, a: $i, b: $i) -> $i {
                a ^ b
            }
            fn ishl(&self, a: $i, n: $i) -> $i {
                a.wrapping_shl(n as u32)
            }
            fn ishr(&self, a: $i, n: $i) -> $i {
                (a as $u).wrapping_shr(n as u32) as $i
            }
            fn isar(&self, a: $i, n: $i) -> $i {
                a.wrapping_shr(n as u32)
            }
            fn ilt(&self, a: $i, b: $i) -> bool {
                a < b
            }
            fn ieq(&self, a: $i, b: $i) -> bool {
                a == b
            }
            fn to_float(&self, a: $i) -> $f {
                a as $f
            }
            fn mul_wide(&self, a: $i, b: $i) -> ($i, $i) {
                let product = <$wide>::from(a as $u) * <$wide>::from(b as $u);
                (product as $i, (product >> $bits) as $i)
            }
            fn scaled(&self, high: $i, low: $i, scale: f64) -> $f {
                let whole = (<$wide>::from(high as $u) << $bits) | <$wide>::from(low as $u);
                let signed = whole as i128;
                let signed = if $bits == 32 {
                    i128::from(signed as i64)
                } else {
                    signed
                };
                (signed as f64 * scale) as $f
            }
            fn approximate(&self, function: Approximate, a: $f) -> $f {
                $approximate(self, function, a)
            }
            fn branch<const N: usize>(
                &self,
                c: bool,
                then: impl FnOnce(&Self) -> [$f; N],
                otherwise: impl FnOnce(&Self) -> [$f; N],
            ) -> [$f; N] {
                if c { then(self) } else { otherwise(self) }
            }
        }
    };
}
host!(Single, f32, i32, u32, u64, 32, no_approximation);
host!(Double, f64, i64, u64, u128, 64, no_approximation);
host!(Rough, f32, i32, u32, u64, 32, Rough::approximated);
