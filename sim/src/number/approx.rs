//! The approximate instructions: computed in double precision and rounded once, which is within the error bounds that
//! PTX ISA chapter 9.7.3 states; special values follow its tables.
use super::{Rounding, bits32, flush32, soft};

fn of(x: u32) -> f64 {
    f64::from(f32::from_bits(x))
}

fn to(x: f64) -> u32 {
    bits32(x as f32)
}

/// `ex2.approx`: subnormal inputs and results flush with `.ftz`.
pub fn ex2(x: u32) -> u32 {
    to(of(x).exp2())
}
/// `lg2.approx`.
pub fn lg2(x: u32) -> u32 {
    to(of(x).log2())
}
/// The angle as the hardware reduces it: turns in single precision, rounded towards zero, without the whole ones.
fn reduced(x: u32) -> f64 {
    const TURNS: u32 = 0x3e22_f983;
    let turns = of(soft::single::mul(x, TURNS, Rounding::Zero));
    (turns - turns.trunc()) * std::f64::consts::TAU
}
/// `sin.approx`.
pub fn sin(x: u32) -> u32 {
    to(reduced(x).sin())
}
/// `cos.approx`.
pub fn cos(x: u32) -> u32 {
    to(reduced(x).cos())
}
/// `tanh.approx`.
pub fn tanh(x: u32) -> u32 {
    super::tanh::tanh(x)
}
/// `rcp.approx`.
pub fn rcp(x: u32) -> u32 {
    to(1.0 / of(x))
}
/// `rsqrt.approx`.
pub fn rsqrt(x: u32) -> u32 {
    to(1.0 / of(x).sqrt())
}
/// `sqrt.approx`.
pub fn sqrt(x: u32) -> u32 {
    to(of(x).sqrt())
}
/// `div.approx` and `div.full`. The first gives 0 for divisors above 2^126, as its table says.
pub fn div(a: u32, b: u32, full: bool) -> u32 {
    let (x, y) = (of(a), of(b));
    if !full && y.is_finite() && y.abs() > 2f64.powi(126) {
        return if x.is_finite() {
            (a ^ b) & 0x8000_0000
        } else {
            to(x * 0.0)
        };
    }
    to(x / y)
}
/// `rcp.approx.ftz.f64`: the low 32 bits of the result are 0, of the operand ignored.
pub fn rcp64(x: u64) -> u64 {
    let x = f64::from_bits(x & !0xffff_ffff);
    let flushed = if x.is_subnormal() { x * 0.0 } else { x };
    top_half(1.0 / flushed)
}
/// `rsqrt.approx.ftz.f64`: the low 32 bits of the result are 0, of the operand ignored.
pub fn rsqrt64(x: u64) -> u64 {
    let x = f64::from_bits(x & !0xffff_ffff);
    let flushed = if x.is_subnormal() { x * 0.0 } else { x };
    top_half(1.0 / flushed.sqrt())
}

fn top_half(x: f64) -> u64 {
    if x.is_nan() {
        return 0x7fff_ffff_0000_0000;
    }
    let flushed = if x.is_subnormal() { x * 0.0 } else { x };
    flushed.to_bits() & !0xffff_ffff
}

/// Applies `.ftz` around an operation.
pub fn ftz(f: impl Fn(u32) -> u32) -> impl Fn(u32) -> u32 {
    move |x| flush32(f(flush32(x)))
}
