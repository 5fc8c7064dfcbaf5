//! Floats of 6 and 4 bits, which have neither infinity nor NaN: what is too large becomes the largest number, as NaN does.
//!
//! | what | instruction, where the target has it | elsewhere |
//! |---|---|---|
//! | two as f16 | `cvt.rn.f16x2.e3m2x2`, `.e2m3x2`, `.e2m1x2` | bits moved to those of an f16, times a power of two |
//! | two of f32, to nearest | `cvt.rn.satfinite.e3m2x2.f32` and its kin | integer operations on the bits of the f32 |
//!
//! Two floats of 6 bits have a byte each in the instructions' registers, two of 4 bits share one.
use super::floats::{Is, compare, number, size};
use girih_core::{
    number::FloatFormat,
    target::{Feature, Op, Target},
};
use girih_dialects::nvvm::{AsmOperand, Emit, V};
use girih_ir::prelude::*;

/// Whether the target converts to and from the format by itself.
fn has_instruction(format: FloatFormat, target: Option<Target>) -> bool {
    let op = match format.bits() {
        6 => Op::CvtF6,
        _ => Op::CvtF4,
    };
    target.is_some_and(|t| Feature::Op(op).legal(t).is_ok())
}

/// Bits from one number of a pair to the other.
fn apart(format: FloatFormat) -> i64 {
    if format.bits() == 6 { 8 } else { 4 }
}

/// One or two numbers as f16, which has all of them.
pub fn halves<'c>(e: &Emit<'c, '_>, pair: &[V<'c>], format: FloatFormat, target: Option<Target>) -> Vec<V<'c>> {
    let (f16_type, word) = (Type::float16(e.context()), e.int(16));
    let codes = pair.iter().map(|v| e.zext(e.to_storage(*v), 16));
    if has_instruction(format, target) {
        let codes: Vec<V> = codes.collect();
        let both = match codes[..] {
            [low, high] => e.or(low, e.shl(high, apart(format))),
            _ => codes[0],
        };
        let input = [AsmOperand {
            constraint: "h",
            value: both,
        }];
        let text = match format.bits() {
            6 => format!("cvt.rn.f16x2.{}x2 $0, $1;", format.name),
            _ => format!(
                "{{ .reg .b8 both; cvt.u8.u16 both, $1; cvt.rn.f16x2.{}x2 $0, both; }}",
                format.name
            ),
        };
        let wide = e.pure_ptx(&text, ("r", e.i32_type()), &input);
        let mut halves = e.unpack(e.bitcast(wide, e.vector(2, f16_type)), 2, f16_type);
        halves.truncate(pair.len());
        return halves;
    }
    let sign = 1 << (format.bits() - 1);
    // The exponent's and the mantissa's bits end where those of an f16 do, with another bias.
    let place = i64::from(FloatFormat::F16.mantissa_bits - format.mantissa_bits);
    let scale = number(e, f16_type, 2f64.powi(FloatFormat::F16.bias - format.bias));
    codes
        .map(|code| {
            let size = e.shl(e.mask(code, sign - 1), place);
            let sign = e.shl(e.and(code, e.constant(sign, word)), i64::from(16 - format.bits()));
            let small = e.bitcast(e.or(size, sign), f16_type);
            e.value("arith.mulf", &[small, scale], f16_type, &[])
        })
        .collect()
}

/// One or two f32 as the bytes in which the codes of the nearest numbers lie.
pub fn nearest<'c>(e: &Emit<'c, '_>, pair: &[V<'c>], format: FloatFormat, target: Option<Target>) -> Vec<V<'c>> {
    if !has_instruction(format, target) {
        return pair.iter().map(|v| code_of(e, *v, format)).collect();
    }
    let inputs = [pair[pair.len() - 1], pair[0]].map(|value| AsmOperand { constraint: "f", value });
    let convert = format!("cvt.rn.satfinite.{}x2.f32", format.name);
    let text = match format.bits() {
        6 => format!("{convert} $0, $1, $2;"),
        _ => format!("{{ .reg .b8 both; {convert} both, $1, $2; cvt.u16.u8 $0, both; }}"),
    };
    let both = e.pure_ptx(&text, ("h", e.int(16)), &inputs);
    let code = |i: usize| {
        let moved = e.shr(both, i as i64 * apart(format));
        e.to_int(e.mask(moved, (1 << format.bits()) - 1), 8)
    };
    (0..pair.len()).map(code).collect()
}

/// The code of the nearest number, by operations on the bits of an f32.
fn code_of<'c>(e: &Emit<'c, '_>, v: V<'c>, format: FloatFormat) -> V<'c> {
    let (f32_type, i32_type) = (Type::float32(e.context()), e.i32_type());
    let mantissa = i64::from(format.mantissa_bits);
    // The lesser that is a number: of NaN the largest.
    let largest = number(e, f32_type, format.largest());
    let a = e.value("arith.minnumf", &[size(e, v), largest], f32_type, &[]);
    let bits = e.bitcast(a, i32_type);
    // Half of the last place that stays, less one where that place is even, carries into it; then the exponent gets its bias.
    let dropped = i64::from(FloatFormat::F32.mantissa_bits) - mantissa;
    let even = e.offset(e.mask(e.shr(bits, dropped), 1), (1 << (dropped - 1)) - 1);
    let bias = i64::from(FloatFormat::F32.bias - format.bias) << mantissa;
    let normal = e.offset(e.shr(e.add(bits, even), dropped), -bias);
    // Below the smallest normal number places stay where they are: a sum with a power of two, whose last place that is, rounds.
    let least = 1 - format.bias;
    let power = 2f64.powi(FloatFormat::F32.mantissa_bits as i32 + least - format.mantissa_bits as i32);
    let sum = e.value("arith.addf", &[a, number(e, f32_type, power)], f32_type, &[]);
    let subnormal = e.sub(e.bitcast(sum, i32_type), e.c32((power as f32).to_bits() as i64));
    let is_small = compare(e, Is::Less, a, number(e, f32_type, 2f64.powi(least)));
    let code = e.select(is_small, subnormal, normal);
    let sign = e.mask(
        e.shr(e.bitcast(v, i32_type), i64::from(32 - format.bits())),
        1 << (format.bits() - 1),
    );
    let is_number = compare(e, Is::Equal, v, v);
    let signed = e.select(is_number, e.or(code, sign), code);
    e.to_int(signed, 8)
}
