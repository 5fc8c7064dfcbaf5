//! Powers of integers, and what is asked of a number's kind: `fpowi`, `ipowi`, `isinf`, `isnormal`, `clampf`.
use super::algebra::Arith;
use super::emit::{Ops, with_element};
use super::power;
use girih_dialects::nvvm::{Cmp, Emit, V};
use girih_ir::{
    ext::{BlockExt, block},
    melior::ir::attribute::FloatAttribute,
    prelude::*,
    rewrite::{AtEnd, Before},
};

/// `math.fpowi`: `x^n` in double precision, rounded to the result's type.
pub fn fpowi<'c>(op: OperationRef<'c, 'c>) -> Option<V<'c>> {
    let place = Before(op);
    let e = Emit::new(&place, op.location());
    let [x, n] = op.operand_values()[..] else { return None };
    let t = x.r#type();
    let double = with_element(t, Type::float64(op.ctx()));
    let is_double = double == t;
    let x = if is_double {
        x
    } else {
        e.value("arith.extf", &[x], double, &[])
    };
    let exponent = e.value("arith.sitofp", &[n], double, &[]);
    let integers = n.r#type();
    // An integer of 64 bits may be none of the numbers of double precision: the rest counts where the base is next to 1.
    let is_rounded = is_double && integers.element_type().unwrap_or(integers).bit_width() == Some(64);
    let lost = is_rounded.then(|| {
        let back = e.value("arith.fptosi", &[exponent], integers, &[]);
        let rest = e.value("arith.subi", &[n, back], integers, &[]);
        e.value("arith.sitofp", &[rest], double, &[])
    });
    let a = Ops::new(op, double);
    let one = a.integer(n.r#type(), 1);
    let odd = e.value("arith.andi", &[n, one], n.r#type(), &[]);
    let odd = a.compare_integers(Cmp::Eq, odd, one);
    let power = power::power_of_integer(&a, x, exponent, lost, odd);
    Some(if is_double {
        power
    } else {
        e.value("arith.truncf", &[power], t, &[])
    })
}

/// `math.ipowi`: by squaring, wrapping as products do. To a negative power 1 is 1, -1 is 1 or -1, and the rest 0.
pub fn ipowi<'c>(op: OperationRef<'c, 'c>) -> Option<V<'c>> {
    let place = Before(op);
    let e = Emit::new(&place, op.location());
    let [x, n] = op.operand_values()[..] else { return None };
    let t = x.r#type();
    let bits = t.element_type().unwrap_or(t).bit_width()?;
    let a = Ops::new(op, with_element(t, Type::float32(op.ctx())));
    let (zero, one, minus_one) = (a.integer(t, 0), a.integer(t, 1), a.integer(t, -1));

    let region = Region::new();
    region.append_block(block(&[e.i32_type(), t, t, t], op.location()));
    let bounds = [e.c32(0), e.c32(i64::from(bits)), e.c32(1)];
    let start = [&bounds[..], &[one, x, n]].concat();
    let squaring = e.op_with_regions("scf.for", &start, &[t, t, t], &[], vec![region]);
    let inside = squaring.region_at(0).entry()?;
    if let [_, power, base, left] = inside.argument_values()[..] {
        let end = AtEnd(inside);
        let e = Emit::new(&end, op.location());
        let a = a.at_end(inside);
        let one = a.integer(t, 1);
        let odd = a.compare_integers(Cmp::Ne, e.and(left, one), a.integer(t, 0));
        let power = e.value("arith.select", &[odd, e.mul(power, base), power], t, &[]);
        let left = e.value("arith.shrui", &[left, one], t, &[]);
        e.op("scf.yield", &[power, e.mul(base, base), left], &[], &[]);
    }
    let power = squaring.result0();

    let select = |c: V<'c>, a: V<'c>, b: V<'c>| e.value("arith.select", &[c, a, b], t, &[]);
    let odd = a.compare_integers(Cmp::Ne, e.and(n, one), zero);
    let of_one = select(a.compare_integers(Cmp::Eq, x, one), one, zero);
    let of_minus_one = select(odd, minus_one, one);
    let inverse = select(a.compare_integers(Cmp::Eq, x, minus_one), of_minus_one, of_one);
    Some(select(a.compare_integers(Cmp::Slt, n, zero), inverse, power))
}

/// `math.isinf` and `math.isnormal`, by the number's size.
pub fn is_kind<'c>(op: OperationRef<'c, 'c>, normal: bool) -> Option<V<'c>> {
    let place = Before(op);
    let e = Emit::new(&place, op.location());
    let mut x = op.operand_values().first().copied()?;
    let given = x.r#type().element_type().unwrap_or(x.r#type());
    // Not every small float has an infinity to compare with.
    if given.bit_width().is_some_and(|bits| bits <= 8) {
        let single = with_element(x.r#type(), Type::float32(op.ctx()));
        x = e.value("arith.extf", &[x], single, &[]);
    }
    let t = x.r#type();
    let element = t.element_type().unwrap_or(t);
    // Beside f32 the exponent of bf16 is as large.
    let least = match (given.to_string().as_str(), element.bit_width()) {
        ("f16" | "f8E5M2", _) => 2f64.powi(-14),
        ("f8E4M3FN", _) => 2f64.powi(-6),
        ("f6E3M2FN", _) => 2f64.powi(-2),
        ("f6E2M3FN" | "f4E2M1FN", _) => 1.0,
        (_, Some(64)) => f64::MIN_POSITIVE,
        _ => f64::from(f32::MIN_POSITIVE),
    };
    let a = Ops::new(op, t);
    let constant = |v: f64| a.constant(t, FloatAttribute::new(op.ctx(), element, v).into());
    let truth = op.result_types().first().copied()?;
    let size = e.value("math.absf", &[x], t, &[]);
    let infinity = constant(f64::INFINITY);
    let is = |predicate: i64, y: V<'c>| {
        let attributes = [("predicate", e.i64_attr(predicate))];
        e.value("arith.cmpf", &[size, y], truth, &attributes)
    };
    // Predicates are numbered as in arith's CmpFPredicate: oeq, oge, olt.
    Some(match normal {
        false => is(1, infinity),
        true => e.and(is(3, constant(least)), is(4, infinity)),
    })
}

/// `math.clampf`: the lesser of the number and the upper bound, and the greater of that and the lower; NaN stays.
pub fn clampf<'c>(op: OperationRef<'c, 'c>) -> Option<V<'c>> {
    let place = Before(op);
    let e = Emit::new(&place, op.location());
    let [x, low, high] = op.operand_values()[..] else {
        return None;
    };
    let below = e.value("arith.minimumf", &[x, high], x.r#type(), &[]);
    Some(e.value("arith.maximumf", &[below, low], x.r#type(), &[]))
}

/// Whether an op makes floats of truth values as signed numbers, of which LLVM's bf16 has the wrong sign.
pub fn is_signed_truth(op: OperationRef<'_, '_>) -> bool {
    let is_truth = |t: Type<'_>| t.element_type().unwrap_or(t).is_int(1);
    op.full_name() == "arith.sitofp" && op.operand_values().first().is_some_and(|v| is_truth(v.r#type()))
}

/// `arith.sitofp` of a truth value: chosen among the two numbers, since LLVM makes a conversion of i1 of any other form.
pub fn of_truth<'c>(op: OperationRef<'c, 'c>) -> Option<V<'c>> {
    let x = op.operand_values().first().copied()?;
    let a = Ops::new(op, op.result0().r#type());
    Some(a.select(x, a.f(-1.0), a.f(0.0)))
}
