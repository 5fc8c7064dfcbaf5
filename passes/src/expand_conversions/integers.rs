//! Floats as integers: cut off towards zero, the nearest end of the range where the integer type has not the number, and 0
//! for NaN. The same in every width: `cvt.rzi` to 32 or 64 bits saturates, and what is narrower is clamped after it, so that
//! no bit of a number is anybody's guess.
use super::floats::{is_small, of_small};
use girih_core::target::Target;
use girih_dialects::nvvm::{Emit, V};
use girih_ir::prelude::*;

/// A float as an integer of `bits` bits, at most 64.
pub fn of_float<'c>(e: &Emit<'c, '_>, v: V<'c>, signed: bool, bits: u32, target: Option<Target>) -> V<'c> {
    let (f32_type, f64_type) = (Type::float32(e.context()), Type::float64(e.context()));
    let v = match v.r#type() {
        t if is_small(t) => of_small(e, &[v], f32_type, target)[0],
        t if t == f32_type || t == f64_type => v,
        _ => e.value("arith.extf", &[v], f32_type, &[]),
    };
    let is_double = v.r#type() == f64_type;
    let wide = bits > 32;
    let name = format!(
        "llvm.nvvm.{}2{}{}.rz",
        if is_double { "d" } else { "f" },
        if signed { "" } else { "u" },
        if wide { "ll" } else { "i" }
    );
    let t = e.int(if wide { 64 } else { 32 });
    let mut result = e.intrinsic(&name, &[v], t);
    // Of NaN the instruction makes 0 only where neither side has 64 bits.
    if is_double || wide {
        let predicate = [("predicate", e.i64_attr(7))];
        let is_number = e.value("arith.cmpf", &[v, v], e.int(1), &predicate);
        result = e.value("arith.select", &[is_number, result, e.constant(0, t)], t, &[]);
    }
    if Some(bits) == t.bit_width() {
        return result;
    }
    let clamp = |name: &str, v: V<'c>, bound: i64| e.value(name, &[v, e.constant(bound, t)], t, &[]);
    let result = if signed {
        let below = clamp("arith.minsi", result, (1 << (bits - 1)) - 1);
        clamp("arith.maxsi", below, -1 << (bits - 1))
    } else {
        clamp("arith.minui", result, (1 << bits) - 1)
    };
    e.value("arith.trunci", &[result], e.int(bits), &[])
}
