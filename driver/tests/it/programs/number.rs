//! What an op of arith or math does to single numbers, given by their bits. Written down once more, and not the compiler's
//! way: exact sums and products, rounded once.
use girih_core::{
    dtype::DType,
    number::{FloatFormat, Overflow, Rounding, from_bits, to_bits},
};
use std::cmp::Ordering;

/// Bits of a number.
pub const fn width(dtype: DType) -> u32 {
    match dtype {
        DType::I1 => 1,
        other => other.bytes() as u32 * 8,
    }
}

/// `bits` without what is above a number's width.
pub fn wrapped(dtype: DType, bits: u64) -> u64 {
    bits & (u64::MAX >> (64 - width(dtype)))
}

/// The signed integer that `bits` are.
pub fn signed(dtype: DType, bits: u64) -> i64 {
    let unused = 64 - width(dtype);
    (bits << unused) as i64 >> unused
}

/// The number that `bits` are, exactly; not for i64.
pub fn value(dtype: DType, bits: u64) -> f64 {
    from_bits(dtype, bits)
}

/// Whether `bits` are no number.
pub fn is_nan(dtype: DType, bits: u64) -> bool {
    dtype.is_float() && value(dtype, bits).is_nan()
}

/// A float as near to `exact` as the format allows.
pub fn rounded(dtype: DType, exact: f64) -> u64 {
    to_bits(dtype, exact)
}

/// A float in another format, by PTX's rules.
pub fn converted(from: DType, to: DType, bits: u64, rounding: Rounding, saturate: bool) -> u64 {
    let exact = value(from, bits);
    let Some(format) = FloatFormat::of(to) else {
        let finite = if saturate && exact.is_infinite() {
            f64::MAX.copysign(exact)
        } else {
            exact
        };
        return finite.to_bits();
    };
    let overflow = if saturate {
        Overflow::Saturate
    } else {
        Overflow::Special
    };
    format.encode(exact, rounding, overflow)
}

/// `near`, which is off by something of the sign of `rest`, with its last bit set: rounding it to a shorter format is as
/// good as rounding the exact number.
fn to_odd(near: f64, rest: f64) -> f64 {
    if rest == 0.0 || !near.is_finite() || near.to_bits() & 1 == 1 {
        return near;
    }
    let away = (rest > 0.0) == (near > 0.0);
    f64::from_bits(if away { near.to_bits() + 1 } else { near.to_bits() - 1 })
}

/// `a + b`, to odd.
fn sum(a: f64, b: f64) -> f64 {
    let s = a + b;
    let of_b = s - a;
    to_odd(s, (a - (s - of_b)) + (b - of_b))
}

/// An integer, to odd.
fn integer(v: i128) -> f64 {
    let near = v as f64;
    let rest = v - near as i128;
    to_odd(near, rest as f64)
}

/// An op on two numbers of one type; `None` where the result is undefined.
pub fn binary(op: &str, dtype: DType, a: u64, b: u64) -> Option<u64> {
    if dtype.is_float() {
        float(op, dtype, a, b)
    } else {
        whole(op, dtype, a, b)
    }
}

fn whole(op: &str, dtype: DType, a: u64, b: u64) -> Option<u64> {
    let (x, y) = (signed(dtype, a), signed(dtype, b));
    let shift = u32::try_from(b).ok().filter(|n| *n < width(dtype));
    let bits = match op {
        "arith.addi" => a.wrapping_add(b),
        "arith.subi" => a.wrapping_sub(b),
        "arith.muli" => a.wrapping_mul(b),
        "arith.andi" => a & b,
        "arith.ori" => a | b,
        "arith.xori" => a ^ b,
        "arith.maxsi" => x.max(y) as u64,
        "arith.minsi" => x.min(y) as u64,
        "arith.maxui" => a.max(b),
        "arith.minui" => a.min(b),
        "arith.shli" => a << shift?,
        "arith.shrui" => a >> shift?,
        "arith.shrsi" => (x >> shift?) as u64,
        "arith.divui" => a.checked_div(b)?,
        "arith.remui" => a.checked_rem(b)?,
        "arith.divsi" => x.checked_div(y).filter(|q| signed(dtype, *q as u64) == *q)? as u64,
        "arith.remsi" => x.checked_rem(y).filter(|_| y != -1)? as u64,
        _ => return None,
    };
    Some(wrapped(dtype, bits))
}

fn float(op: &str, dtype: DType, a: u64, b: u64) -> Option<u64> {
    let (x, y) = (value(dtype, a), value(dtype, b));
    match op {
        // Which sign a NaN has that is computed, nothing says.
        "math.copysign" if y.is_nan() => return None,
        "math.copysign" => {
            let sign = 1 << (width(dtype) - 1);
            return Some(a & !sign | b & sign);
        }
        "arith.maximumf" | "arith.minimumf" if x.is_nan() || y.is_nan() => return Some(rounded(dtype, f64::NAN)),
        "arith.maximumf" => {
            return Some(if x == y {
                a & b
            } else if x > y {
                a
            } else {
                b
            });
        }
        "arith.minimumf" => {
            return Some(if x == y {
                a | b
            } else if x < y {
                a
            } else {
                b
            });
        }
        _ => {}
    }
    if dtype == DType::F32 {
        let (x, y) = (x as f32, y as f32);
        let r = match op {
            "arith.addf" => x + y,
            "arith.subf" => x - y,
            "arith.mulf" => x * y,
            "arith.divf" => x / y,
            _ => return None,
        };
        return Some(r.to_bits().into());
    }
    let r = match (op, dtype) {
        ("arith.addf", DType::F64) => x + y,
        ("arith.subf", DType::F64) => x - y,
        ("arith.divf", DType::F64) => x / y,
        // Exact in f64 for shorter formats.
        ("arith.mulf", _) => x * y,
        ("arith.addf", _) => sum(x, y),
        ("arith.subf", _) => sum(x, -y),
        _ => return None,
    };
    Some(rounded(dtype, r))
}

/// `a b + c`, rounded once.
pub fn fma(dtype: DType, a: u64, b: u64, c: u64) -> u64 {
    let [x, y, z] = [a, b, c].map(|v| value(dtype, v));
    match dtype {
        DType::F32 => (x as f32).mul_add(y as f32, z as f32).to_bits().into(),
        DType::F64 => x.mul_add(y, z).to_bits(),
        _ => rounded(dtype, sum(x * y, z)),
    }
}

/// An op on one number.
pub fn unary(op: &str, dtype: DType, a: u64) -> Option<u64> {
    let (w, sign) = (width(dtype), 1 << (width(dtype) - 1));
    let whole: Option<fn(f64) -> f64> = match op {
        "math.ceil" => Some(f64::ceil),
        "math.floor" => Some(f64::floor),
        "math.trunc" => Some(f64::trunc),
        "math.round" => Some(f64::round),
        "math.roundeven" => Some(f64::round_ties_even),
        _ => None,
    };
    if let Some(whole) = whole {
        return Some(rounded(dtype, whole(value(dtype, a))));
    }
    match op {
        "math.absi" => Some(wrapped(dtype, signed(dtype, a).wrapping_abs() as u64)),
        "math.ctpop" => Some(a.count_ones().into()),
        "math.ctlz" => Some((a.leading_zeros() + w - 64).into()),
        "math.cttz" => Some(a.trailing_zeros().min(w).into()),
        "arith.negf" => Some(a ^ sign),
        "math.absf" => Some(a & !sign),
        _ => None,
    }
}

/// A comparison of two numbers of one type.
pub fn compare(predicate: &str, dtype: DType, a: u64, b: u64) -> bool {
    if dtype.is_float() {
        let order = value(dtype, a).partial_cmp(&value(dtype, b));
        return match predicate {
            "oeq" => order == Some(Ordering::Equal),
            "ogt" => order == Some(Ordering::Greater),
            "oge" => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
            "olt" => order == Some(Ordering::Less),
            "ole" => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            "one" => matches!(order, Some(Ordering::Less | Ordering::Greater)),
            "une" => order != Some(Ordering::Equal),
            "ult" => !matches!(order, Some(Ordering::Greater | Ordering::Equal)),
            "uno" => order.is_none(),
            _ => order.is_some(),
        };
    }
    let order = match predicate.starts_with('u') {
        true => a.cmp(&b),
        false => signed(dtype, a).cmp(&signed(dtype, b)),
    };
    match predicate {
        "eq" => order.is_eq(),
        "ne" => order.is_ne(),
        "slt" | "ult" => order.is_lt(),
        "sle" | "ule" => order.is_le(),
        "sgt" | "ugt" => order.is_gt(),
        _ => order.is_ge(),
    }
}

/// A conversion; `None` where the result is undefined.
pub fn cast(op: &str, from: DType, to: DType, a: u64) -> Option<u64> {
    match op {
        "arith.extui" | "arith.trunci" | "arith.bitcast" => Some(wrapped(to, a)),
        "arith.extsi" => Some(wrapped(to, signed(from, a) as u64)),
        "arith.sitofp" | "arith.uitofp" => {
            let v = if op == "arith.sitofp" {
                i128::from(signed(from, a))
            } else {
                i128::from(a)
            };
            Some(if to == DType::F64 {
                (v as f64).to_bits()
            } else {
                rounded(to, integer(v))
            })
        }
        "arith.fptosi" | "arith.fptoui" => {
            // The end of the range where the type has not the number; 0 for NaN.
            let v = value(from, a).trunc();
            let w = width(to);
            let (low, high) = match op {
                "arith.fptosi" => (-(1i128 << (w - 1)), (1 << (w - 1)) - 1),
                _ => (0, (1i128 << w) - 1),
            };
            Some(wrapped(to, (v as i128).clamp(low, high) as u64))
        }
        "arith.extf" | "arith.truncf" => Some(rounded(to, value(from, a))),
        _ => None,
    }
}

/// Largest magnitude up to which a float format has every integer.
pub fn exact_integers(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => 2f64.powi(53),
        _ => FloatFormat::of(dtype).map_or(0.0, |f| 2f64.powi(f.mantissa_bits as i32 + 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_short_floats_are_rounded_once() {
        // 2048 + 1 lies halfway between two f16 numbers; a little more decides.
        let f16 = |v| rounded(DType::F16, v);
        let little = 2f64.powi(-24);
        assert_eq!(fma(DType::F16, f16(2048.0), f16(1.0), f16(1.0)), f16(2048.0));
        let product = (f16(1.0009765625), f16(2048.0));
        assert_eq!(fma(DType::F16, product.0, product.1, f16(-1.0)), f16(2050.0 - 1.0));
        assert_eq!(rounded(DType::F16, sum(2049.0, little)), f16(2050.0));
        assert_eq!(rounded(DType::F16, sum(2049.0, -little)), f16(2048.0));
        let wide = (1i64 << 60) + (1 << 52) + 1;
        assert_eq!(
            value(
                DType::Bf16,
                cast("arith.sitofp", DType::I64, DType::Bf16, wide as u64).unwrap()
            ),
            2f64.powi(60) + 2f64.powi(53)
        );
    }

    #[test]
    fn whole_numbers_keep_signs_and_bits_are_counted_in_the_width() {
        let f16 = |v| rounded(DType::F16, v);
        assert_eq!(unary("math.ceil", DType::F16, f16(-0.5)), Some(0x8000));
        assert_eq!(unary("math.round", DType::F16, f16(2.5)), Some(f16(3.0)));
        assert_eq!(unary("math.roundeven", DType::F16, f16(2.5)), Some(f16(2.0)));
        assert_eq!(binary("math.copysign", DType::F16, f16(2.0), 0x8000), Some(f16(-2.0)));
        assert_eq!(binary("math.copysign", DType::F16, f16(2.0), 0xfe00), None);
        assert_eq!(unary("math.absi", DType::I8, 0x80), Some(0x80));
        assert_eq!(unary("math.ctlz", DType::I8, 1), Some(7));
        assert_eq!(unary("math.cttz", DType::I16, 0), Some(16));
    }

    #[test]
    fn integers_wrap_and_what_is_undefined_is_not_computed() {
        assert_eq!(binary("arith.addi", DType::I8, 0x7f, 1), Some(0x80));
        assert_eq!(binary("arith.divsi", DType::I8, 0x80, 0xff), None);
        assert_eq!(binary("arith.shrsi", DType::I16, 0x8000, 15), Some(0xffff));
        assert_eq!(binary("arith.shli", DType::I16, 1, 16), None);
        assert_eq!(
            cast("arith.sitofp", DType::I1, DType::F32, 1),
            Some((-1f32).to_bits().into())
        );
        assert_eq!(
            cast("arith.fptoui", DType::F32, DType::I8, 256f32.to_bits().into()),
            Some(255)
        );
    }
}
