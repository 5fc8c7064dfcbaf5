//! Floats of one format as floats of another.
//!
//! | result | instruction | what it lacks |
//! |---|---|---|
//! | f32 of f64 | `cvt.rn`, `.rz`, `.rp`, `.rm` | halves away from zero |
//! | f16 | `cvt.rn`, `.rz`, `.rp`, `.rm` | halves away from zero |
//! | bf16 | `cvt.rn` | the rest |
//! | tf32 | `cvt.rna`; from sm_90 on `cvt.rn`, `.rz` | the rest |
//! | 8-bit floats | `cvt.rn.satfinite`, two at a time | the rest |
//! | floats of 6 and 4 bits | the same, where the target has it (`below_bytes`) | the rest |
//!
//! What an instruction lacks is made of the nearest number: where that lies on the wrong side of the exact one, its neighbour
//! is taken, whose bits are one more or one less (`step`). An f64 goes to a shorter format by way of an f32 that is odd where
//! anything was cut off, which rounds as the f64 would (`to_odd`).
use super::below_bytes;
use girih_core::{
    number::{FloatFormat, Overflow, Rounding},
    target::{Feature, Op, Target},
};
use girih_dialects::nvvm::{AsmOperand, Emit, V};
use girih_ir::prelude::*;

/// How a float comes to another format.
#[derive(Clone, Copy)]
pub struct How {
    /// Where it goes from between two numbers.
    pub rounding: Rounding,
    /// Whether infinity and what is too large become the largest number.
    pub saturate: bool,
    /// Some instructions are of later targets.
    pub target: Option<Target>,
}

/// Predicates of `arith.cmpf`, none of which holds of NaN, in MLIR's numbers.
#[derive(Clone, Copy)]
pub(super) enum Is {
    Equal = 1,
    Greater = 2,
    GreaterOrEqual = 3,
    Less = 4,
    Different = 6,
}

/// The codec of a format; `None` for f64, and for what is no float.
pub fn format_of(t: Type<'_>) -> Option<FloatFormat> {
    Some(match t.float_name()? {
        "f32" => FloatFormat::F32,
        "tf32" => FloatFormat::TF32,
        "f16" => FloatFormat::F16,
        "bf16" => FloatFormat::BF16,
        "f8E4M3FN" => FloatFormat::E4M3,
        "f8E5M2" => FloatFormat::E5M2,
        "f6E2M3FN" => FloatFormat::E2M3,
        "f6E3M2FN" => FloatFormat::E3M2,
        "f4E2M1FN" => FloatFormat::E2M1,
        _ => return None,
    })
}

/// Whether a type is one of the floats of 8 bits and less.
pub fn is_small(t: Type<'_>) -> bool {
    format_of(t).is_some_and(|f| f.bits() <= 8)
}

/// Numbers of one type as numbers of the type `to`. A tf32 is taken and given as f32.
pub fn convert<'c>(e: &Emit<'c, '_>, values: &[V<'c>], to: Type<'c>, how: How) -> Vec<V<'c>> {
    let f64_type = Type::float64(e.context());
    let wide = widen(e, values, how.target);
    let Some(format) = format_of(to) else {
        // f64 has what every format has, but infinity too.
        let wide = wide.into_iter().map(|v| cast(e, v, f64_type));
        return wide.map(|v| saturated(e, v, f64::MAX, how)).collect();
    };
    let wide: Vec<V> = wide
        .into_iter()
        .map(|v| saturated(e, v, format.largest(), how))
        .collect();
    if is_small(to) {
        let singles: Vec<V> = wide.into_iter().map(|v| single(e, v)).collect();
        let convert = |pair: &[V<'c>]| match format.bits() {
            8 => bytes(e, pair, to, format, how),
            _ => below_a_byte(e, pair, to, format, how),
        };
        return singles.chunks(2).flat_map(convert).collect();
    }
    wide.into_iter().map(|v| one(e, v, to, format, how)).collect()
}

/// Floats as f32, which has all of them, but f64 as they are. Those of 8 bits and less go two at a time, by way of f16.
fn widen<'c>(e: &Emit<'c, '_>, values: &[V<'c>], target: Option<Target>) -> Vec<V<'c>> {
    let f32_type = Type::float32(e.context());
    if values.first().is_some_and(|v| is_small(v.r#type())) {
        return of_small(e, values, f32_type, target);
    }
    let f64_type = Type::float64(e.context());
    values
        .iter()
        .map(|v| {
            if v.r#type() == f64_type {
                *v
            } else {
                cast(e, *v, f32_type)
            }
        })
        .collect()
}

/// Another format of floats, wider or shorter, to nearest; the same value for the same format.
fn cast<'c>(e: &Emit<'c, '_>, v: V<'c>, to: Type<'c>) -> V<'c> {
    let bits = |t: Type<'c>| t.bit_width().unwrap_or(0);
    if v.r#type() == to {
        return v;
    }
    let name = match bits(v.r#type()) < bits(to) {
        true => "arith.extf",
        false => "arith.truncf",
    };
    e.value(name, &[v], to, &[])
}

pub(super) fn number<'c>(e: &Emit<'c, '_>, t: Type<'c>, v: f64) -> V<'c> {
    e.constant_float(v, t)
}

pub(super) fn compare<'c>(e: &Emit<'c, '_>, is: Is, a: V<'c>, b: V<'c>) -> V<'c> {
    let predicate = e.i64_attr(is as i64);
    e.value("arith.cmpf", &[a, b], e.int(1), &[("predicate", predicate)])
}

pub(super) fn size<'c>(e: &Emit<'c, '_>, v: V<'c>) -> V<'c> {
    e.value("math.absf", &[v], v.r#type(), &[])
}

/// A number no larger than the largest of the format, where that is asked for; NaN stays.
fn saturated<'c>(e: &Emit<'c, '_>, v: V<'c>, largest: f64, how: How) -> V<'c> {
    if !how.saturate {
        return v;
    }
    let t = v.r#type();
    let above = e.value("arith.maximumf", &[v, number(e, t, -largest)], t, &[]);
    e.value("arith.minimumf", &[above, number(e, t, largest)], t, &[])
}

/// An f64 as an f32 that rounds to a shorter format as the f64 would; an f32 as it is.
fn single<'c>(e: &Emit<'c, '_>, v: V<'c>) -> V<'c> {
    if v.r#type() == Type::float64(e.context()) {
        to_odd(e, v)
    } else {
        v
    }
}

/// An f64 as an f32: cut off, and odd where anything was.
fn to_odd<'c>(e: &Emit<'c, '_>, v: V<'c>) -> V<'c> {
    let (f32_type, i32_type) = (Type::float32(e.context()), e.i32_type());
    let cut = e.intrinsic("llvm.nvvm.d2f.rz", &[v], f32_type);
    let back = e.value("arith.extf", &[cut], v.r#type(), &[]);
    let differs = compare(e, Is::Different, back, v);
    e.bitcast(e.or(e.bitcast(cut, i32_type), e.zext(differs, 32)), f32_type)
}

/// An f32 or f64 as a float of 16 bits or more.
fn one<'c>(e: &Emit<'c, '_>, v: V<'c>, to: Type<'c>, format: FloatFormat, how: How) -> V<'c> {
    let f32_type = Type::float32(e.context());
    if format == FloatFormat::TF32 {
        return tf32(e, single(e, v), how);
    }
    let width = |t: Type<'c>| t.bit_width().unwrap_or(0);
    if how.rounding == Rounding::NearestEven || width(v.r#type()) <= width(to) {
        return cast(e, v, to);
    }
    let directed = match how.rounding {
        Rounding::Zero => Some("rz"),
        Rounding::Up => Some("rp"),
        Rounding::Down => Some("rm"),
        Rounding::NearestEven | Rounding::NearestAway => None,
    };
    if let Some(mode) = directed.filter(|_| to == f32_type) {
        return e.intrinsic(&format!("llvm.nvvm.d2f.{mode}"), &[v], to);
    }
    // An f64 that is to be an f32 stays one; for what is shorter still an f32 serves.
    let v = if to == f32_type { v } else { single(e, v) };
    if let Some(mode) = directed.filter(|_| format == FloatFormat::F16) {
        let input = [AsmOperand {
            constraint: "f",
            value: v,
        }];
        let bits = e.pure_ptx(&format!("cvt.{mode}.f16.f32 $0, $1;"), ("h", e.int(16)), &input);
        return e.bitcast(bits, to);
    }
    let code = e.int(width(to));
    let near = cast(e, v, to);
    let value = |bits: V<'c>| cast(e, e.bitcast(bits, to), v.r#type());
    e.bitcast(step(e, v, e.bitcast(near, code), 1, how.rounding, value), to)
}

/// An f32 with the last 13 bits rounded away.
fn tf32<'c>(e: &Emit<'c, '_>, v: V<'c>, how: How) -> V<'c> {
    let (f32_type, i32_type) = (Type::float32(e.context()), e.i32_type());
    let has = |op: Op| how.target.is_some_and(|t| Feature::Op(op).legal(t).is_ok());
    let convert = |mode: &str| {
        let input = [AsmOperand {
            constraint: "f",
            value: v,
        }];
        let bits = e.pure_ptx(&format!("cvt.{mode}.tf32.f32 $0, $1;"), ("r", i32_type), &input);
        e.bitcast(bits, f32_type)
    };
    match how.rounding {
        Rounding::NearestEven if has(Op::CvtTf32) => return convert("rn"),
        Rounding::Zero if has(Op::CvtTf32) => return convert("rz"),
        Rounding::NearestAway if has(Op::CvtTf32Rna) => return convert("rna"),
        _ => {}
    }
    let near = if has(Op::CvtTf32) {
        convert("rn")
    } else {
        // Half of the last place that stays, less one where that place is even; a NaN keeps a bit that is left of it.
        let bits = e.bitcast(v, i32_type);
        let even = e.offset(e.mask(e.shr(bits, 13), 1), 0xfff);
        let rounded = e.mask(e.add(bits, even), -0x2000);
        let quiet = e.mask(e.or(bits, e.c32(0x40_0000)), -0x2000);
        let is_number = compare(e, Is::Equal, v, v);
        e.bitcast(e.select(is_number, rounded, quiet), f32_type)
    };
    let value = |bits: V<'c>| e.bitcast(bits, f32_type);
    value(step(e, v, e.bitcast(near, i32_type), 0x2000, how.rounding, value))
}

/// The code of a number that was rounded to nearest, moved by one place, `unit`, to where another rounding goes. `value` gives
/// the number that a code means, in the type of `x`.
fn step<'c>(
    e: &Emit<'c, '_>,
    x: V<'c>,
    code: V<'c>,
    unit: i64,
    rounding: Rounding,
    value: impl Fn(V<'c>) -> V<'c>,
) -> V<'c> {
    let (further, nearer) = (e.offset(code, unit), e.offset(code, -unit));
    let near = value(code);
    let is_positive = || compare(e, Is::Greater, x, number(e, x.r#type(), 0.0));
    match rounding {
        Rounding::NearestEven => code,
        Rounding::Zero => e.select(compare(e, Is::Greater, size(e, near), size(e, x)), nearer, code),
        Rounding::Up => {
            let other = e.select(is_positive(), further, nearer);
            e.select(compare(e, Is::Less, near, x), other, code)
        }
        Rounding::Down => {
            let other = e.select(is_positive(), nearer, further);
            e.select(compare(e, Is::Greater, near, x), other, code)
        }
        Rounding::NearestAway => {
            let minus = |a: V<'c>, b: V<'c>| e.value("arith.subf", &[a, b], a.r#type(), &[]);
            let (x, near, far) = (size(e, x), size(e, near), size(e, value(further)));
            // Both differences are exact.
            e.select(compare(e, Is::Equal, minus(far, x), minus(x, near)), further, code)
        }
    }
}

/// One or two f32 as 8-bit floats. The instruction saturates; what is too large is told apart by its size.
fn bytes<'c>(e: &Emit<'c, '_>, pair: &[V<'c>], to: Type<'c>, format: FloatFormat, how: How) -> Vec<V<'c>> {
    let (f32_type, byte) = (Type::float32(e.context()), e.int(8));
    let inputs = [pair[pair.len() - 1], pair[0]].map(|value| AsmOperand { constraint: "f", value });
    let text = format!("cvt.rn.satfinite.{}x2.f32 $0, $1, $2;", format.name);
    let mut both = e.pure_ptx(&text, ("h", e.int(16)), &inputs);
    let is_nearest = how.rounding == Rounding::NearestEven;
    let largest = format.largest();
    // The next number, had the format one more, and what lies halfway.
    let unit = largest - format.decode(format.encode(largest, Rounding::Zero, Overflow::Saturate) - 1);
    let halfway = largest + unit / 2.0;
    if is_nearest && !how.saturate {
        // Infinity, or NaN where there is none, has the code after the largest number's. A tie goes to the even code.
        let is = match format.mantissa_bits {
            2 => Is::GreaterOrEqual,
            _ => Is::Greater,
        };
        for (i, v) in pair.iter().enumerate() {
            let beyond = compare(e, is, size(e, *v), number(e, f32_type, halfway));
            both = e.add(both, e.shl(e.zext(beyond, 16), 8 * i as i64));
        }
    }
    let codes: Vec<V> = (0..pair.len())
        .map(|i| e.to_int(if i == 0 { both } else { e.shr(both, 8) }, 8))
        .collect();
    let codes = if is_nearest {
        codes
    } else {
        codes
            .iter()
            .zip(pair)
            .map(|(code, v)| {
                let value = |bits: V<'c>| of_small(e, &[e.from_storage(bits, to)], f32_type, how.target)[0];
                let stepped = step(e, *v, *code, 1, how.rounding, value);
                if how.saturate {
                    return stepped;
                }
                // Whatever way a number is rounded, infinity is none of the format's.
                let limit = match how.rounding {
                    Rounding::NearestAway => halfway,
                    _ => f64::INFINITY,
                };
                let beyond = compare(e, Is::GreaterOrEqual, size(e, *v), number(e, f32_type, limit));
                let sign = e.mask(*code, i64::from(i8::MIN));
                let special = format.encode(f64::INFINITY, Rounding::NearestEven, Overflow::Special);
                e.select(beyond, e.or(sign, e.constant(special as i64, byte)), stepped)
            })
            .collect()
    };
    codes.into_iter().map(|code| e.from_storage(code, to)).collect()
}

/// One or two f32 as floats of fewer bits than a byte. Codes beyond the largest number's there are none.
fn below_a_byte<'c>(e: &Emit<'c, '_>, pair: &[V<'c>], to: Type<'c>, format: FloatFormat, how: How) -> Vec<V<'c>> {
    let f32_type = Type::float32(e.context());
    let codes = below_bytes::nearest(e, pair, format, how.target);
    let value = |bits: V<'c>| of_small(e, &[e.from_storage(bits, to)], f32_type, how.target)[0];
    let within = How { saturate: true, ..how };
    codes
        .into_iter()
        .zip(pair)
        .map(|(code, v)| match how.rounding {
            Rounding::NearestEven => code,
            // NaN has no neighbours, and keeps the largest number.
            _ => step(
                e,
                saturated(e, *v, format.largest(), within),
                code,
                1,
                how.rounding,
                value,
            ),
        })
        .map(|code| e.from_storage(code, to))
        .collect()
}

/// Floats of 8 bits and less as floats of another format, two at a time and by way of f16, which has all of them.
pub fn of_small<'c>(e: &Emit<'c, '_>, values: &[V<'c>], to: Type<'c>, target: Option<Target>) -> Vec<V<'c>> {
    let f16_type = Type::float16(e.context());
    let Some(format) = values.first().and_then(|v| format_of(v.r#type())) else {
        return vec![];
    };
    let of_bytes = |pair: &[V<'c>]| {
        let codes: Vec<V> = pair.iter().map(|v| e.zext(e.to_storage(*v), 16)).collect();
        let both = match codes[..] {
            [low, high] => e.or(low, e.shl(high, 8)),
            _ => codes[0],
        };
        let input = [AsmOperand {
            constraint: "h",
            value: both,
        }];
        let text = format!("cvt.rn.f16x2.{}x2 $0, $1;", format.name);
        let wide = e.pure_ptx(&text, ("r", e.i32_type()), &input);
        let mut halves = e.unpack(e.bitcast(wide, e.vector(2, f16_type)), 2, f16_type);
        halves.truncate(pair.len());
        halves
    };
    let halves = values.chunks(2).flat_map(|pair| match format.bits() {
        8 => of_bytes(pair),
        _ => below_bytes::halves(e, pair, format, target),
    });
    halves
        .map(|half| match to.float_name() {
            Some("f16") => half,
            // bf16 is as wide, but no op goes there from f16.
            Some("bf16") => cast(e, cast(e, half, Type::float32(e.context())), to),
            _ => cast(e, half, to),
        })
        .collect()
}
