//! The operations that functions are written with, once for all: [`Arith`]. The pass gives it as ops ([`super::emit`]), the
//! tests give it as the host's own numbers, so that every input can be tried.

/// Numbers of one floating-point type, the integers of its width, and truth values.
///
/// Operations round to nearest even, and none is contracted or reordered. Comparisons are false for NaN, [`Arith::ne`] true.
pub trait Arith: Sized {
    /// A floating-point number.
    type F: Copy;
    /// An integer as wide, which wraps.
    type I: Copy;
    /// A truth value.
    type B: Copy;

    /// 32 or 64.
    fn bits(&self) -> u32;
    /// A constant, rounded to the type.
    fn f(&self, v: f64) -> Self::F;
    /// A constant.
    fn i(&self, v: i64) -> Self::I;

    /// `a + b`
    fn add(&self, a: Self::F, b: Self::F) -> Self::F;
    /// `a - b`
    fn sub(&self, a: Self::F, b: Self::F) -> Self::F;
    /// `a * b`
    fn mul(&self, a: Self::F, b: Self::F) -> Self::F;
    /// `a / b`
    fn div(&self, a: Self::F, b: Self::F) -> Self::F;
    /// `a * b + c`, rounded once.
    fn fma(&self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// The square root.
    fn sqrt(&self, a: Self::F) -> Self::F;
    /// Towards zero.
    fn trunc(&self, a: Self::F) -> Self::F;

    /// `a < b`
    fn lt(&self, a: Self::F, b: Self::F) -> Self::B;
    /// `a <= b`
    fn le(&self, a: Self::F, b: Self::F) -> Self::B;
    /// `a == b`
    fn eq(&self, a: Self::F, b: Self::F) -> Self::B;
    /// `a != b`, or one is NaN.
    fn ne(&self, a: Self::F, b: Self::F) -> Self::B;
    /// `c ? a : b`
    fn select(&self, c: Self::B, a: Self::F, b: Self::F) -> Self::F;
    /// `c ? a : b`
    fn select_int(&self, c: Self::B, a: Self::I, b: Self::I) -> Self::I;
    /// Both.
    fn both(&self, a: Self::B, b: Self::B) -> Self::B;
    /// One or both.
    fn either(&self, a: Self::B, b: Self::B) -> Self::B;

    /// The number's bits.
    fn to_bits(&self, a: Self::F) -> Self::I;
    /// The number of these bits.
    fn of_bits(&self, a: Self::I) -> Self::F;
    /// `a + b`
    fn iadd(&self, a: Self::I, b: Self::I) -> Self::I;
    /// `a - b`
    fn isub(&self, a: Self::I, b: Self::I) -> Self::I;
    /// `a & b`
    fn iand(&self, a: Self::I, b: Self::I) -> Self::I;
    /// `a | b`
    fn ior(&self, a: Self::I, b: Self::I) -> Self::I;
    /// `a ^ b`
    fn ixor(&self, a: Self::I, b: Self::I) -> Self::I;
    /// `a << n`, `n` below the width.
    fn ishl(&self, a: Self::I, n: Self::I) -> Self::I;
    /// `a >> n`, zeros come in, `n` below the width.
    fn ishr(&self, a: Self::I, n: Self::I) -> Self::I;
    /// `a >> n`, copies of the sign come in.
    fn isar(&self, a: Self::I, n: Self::I) -> Self::I;
    /// `a < b`, signed.
    fn ilt(&self, a: Self::I, b: Self::I) -> Self::B;
    /// `a == b`
    fn ieq(&self, a: Self::I, b: Self::I) -> Self::B;
    /// A signed integer as a number.
    fn to_float(&self, a: Self::I) -> Self::F;
    /// Low and high half of the unsigned product.
    fn mul_wide(&self, a: Self::I, b: Self::I) -> (Self::I, Self::I);
    /// The signed integer of twice the width times `scale`, in double precision, rounded to the type.
    fn scaled(&self, high: Self::I, low: Self::I, scale: f64) -> Self::F;

    /// An instruction of the hardware, on 32 bits; [`Approximate::Log2`] of scalars only.
    fn approximate(&self, function: Approximate, a: Self::F) -> Self::F;

    /// What `then` gives where `c` holds, what `otherwise` gives elsewhere. Either may be computed though it is not wanted.
    fn branch<const N: usize>(
        &self,
        c: Self::B,
        then: impl FnOnce(&Self) -> [Self::F; N],
        otherwise: impl FnOnce(&Self) -> [Self::F; N],
    ) -> [Self::F; N];

    // ---------------------------------------------------------------------------------------- in terms of those

    /// `|a|`
    fn abs(&self, a: Self::F) -> Self::F {
        self.of_bits(self.iand(self.to_bits(a), self.magnitude_mask()))
    }
    /// `-a`
    fn neg(&self, a: Self::F) -> Self::F {
        self.of_bits(self.ixor(self.to_bits(a), self.sign_mask()))
    }
    /// `|magnitude|` with the sign of `sign`.
    fn copysign(&self, magnitude: Self::F, sign: Self::F) -> Self::F {
        let m = self.iand(self.to_bits(magnitude), self.magnitude_mask());
        let s = self.iand(self.to_bits(sign), self.sign_mask());
        self.of_bits(self.ior(m, s))
    }
    /// The sign bit alone.
    fn sign_mask(&self) -> Self::I {
        self.i(if self.bits() == 32 {
            i64::from(i32::MIN)
        } else {
            i64::MIN
        })
    }
    /// All bits but the sign.
    fn magnitude_mask(&self) -> Self::I {
        self.i(if self.bits() == 32 {
            i64::from(i32::MAX)
        } else {
            i64::MAX
        })
    }
    /// Bits of the fraction: 23 or 52.
    fn fraction_bits(&self) -> i64 {
        if self.bits() == 32 { 23 } else { 52 }
    }
    /// 127 or 1023.
    fn bias(&self) -> i64 {
        if self.bits() == 32 { 127 } else { 1023 }
    }
    /// Whether the number is NaN.
    fn is_nan(&self, a: Self::F) -> Self::B {
        self.ne(a, a)
    }
    /// The power of two whose exponent, with its bias, is in the low bits: as many as an exponent has, and a zero before them.
    fn power_of_two(&self, biased: Self::I) -> Self::F {
        self.of_bits(self.ishl(biased, self.i(self.fraction_bits())))
    }
    /// What moves a number below 2^22 (2^51) in size to where the unit in the last place is 1: so many low bits of the sum are
    /// the nearest integer plus `plus`, which is even.
    fn mover(&self, plus: i64) -> Self::F {
        let unit = if self.bits() == 32 {
            12_582_912
        } else {
            6_755_399_441_055_744
        };
        self.f((unit + plus) as f64)
    }
    /// The nearest integer to a number below 2^22 (2^51) in size, as a number and as an integer.
    fn nearest(&self, a: Self::F) -> (Self::F, Self::I) {
        let mover = self.mover(0);
        let moved = self.add(a, mover);
        let whole = self.sub(moved, mover);
        (whole, self.isub(self.to_bits(moved), self.to_bits(mover)))
    }
    /// `coefficients[0] + x (coefficients[1] + x (...))`
    fn polynomial(&self, x: Self::F, coefficients: &[f64]) -> Self::F {
        let mut rest = coefficients.iter().rev();
        let mut sum = self.f(rest.next().copied().unwrap_or(0.0));
        for c in rest {
            sum = self.fma(sum, x, self.f(*c));
        }
        sum
    }
    /// One of two constants by the width.
    fn by_width(&self, single: f64, double: f64) -> Self::F {
        self.f(if self.bits() == 32 { single } else { double })
    }
}

/// Approximations that the hardware has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approximate {
    /// `ex2.approx`
    Exp2,
    /// `lg2.approx`
    Log2,
    /// `sin.approx`
    Sin,
    /// `cos.approx`
    Cos,
    /// `tanh.approx`
    Tanh,
    /// `rsqrt.approx`
    Rsqrt,
}
