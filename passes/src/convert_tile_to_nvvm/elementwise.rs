//! Ops on laid-out tensors, element by element: any op with MLIR's `Elementwise` trait, and splat constants.
use super::{Matched, refuse};
use girih_dialects::{
    nvvm::{AsmOperand, Emit, V},
    tile::{
        distribution::is_distributed,
        layouts::{element_offset, elements_per_thread, is_laid_out, layout_of},
    },
};
use girih_ir::{
    conversion::{Conversion, ConversionRewriter, Operands},
    mlir_sys::*,
    op::Trait,
    prelude::*,
};

/// Lowers whatever is elementwise.
pub fn patterns(c: &mut Conversion<'_>) {
    c.pattern("arith.constant", 1, |op, _, rewriter| constant(op, rewriter));
    c.pattern("", 0, elementwise);
    for name in ["arith.truncf", "arith.sitofp", "arith.uitofp"] {
        c.pattern(name, 2, narrow);
    }
    c.pattern("arith.extf", 2, widen);
    c.pattern("arith.extf", 2, widen_bf16);
}

/// PTX's name of an 8-bit float.
fn byte_float(t: Type<'_>) -> Option<&'static str> {
    match t.element_type()?.to_string().as_str() {
        "f8E4M3FN" => Some("e4m3"),
        "f8E5M2" => Some("e5m2"),
        _ => None,
    }
}

/// To 8-bit floats, from floats and integers, two at a time: rounded to nearest even, and to the largest number where they are
/// too large.
fn narrow<'c>(op: OperationRef<'c, 'c>, operands: &Operands<'c, '_>, rewriter: &ConversionRewriter<'c>) -> Matched {
    let t = op.result0().r#type();
    let (Some(format), Some(element), true) = (byte_float(t), t.element_type(), is_laid_out(t)) else {
        return Err(rewriter.no_match(op, "not a tile of 8-bit floats"));
    };
    let e = Emit::new(rewriter, op.location());
    let f32_type = Type::float32(e.context());
    let wide = |v: V<'c>| match v.r#type().bit_width() {
        // f32 has every integer that is not past the largest number anyway.
        _ if !v.r#type().is_float_type() => e.value(op.full_name(), &[v], f32_type, &[]),
        Some(32) => v,
        Some(64) => to_odd(&e, v),
        _ => e.value("arith.extf", &[v], f32_type, &[]),
    };
    let values: Vec<V> = operands.get(0).iter().map(|v| wide(*v)).collect();
    let mut out = vec![];
    for pair in values.chunks(2) {
        let (low, high) = (pair[0], pair[pair.len() - 1]);
        let inputs = [high, low].map(|value| AsmOperand { constraint: "f", value });
        let text = format!("cvt.rn.satfinite.{format}x2.f32 $0, $1, $2;");
        let both = e.inline_ptx(&text, &[("h", e.int(16))], &[], &inputs, false)[0];
        out.push(e.from_storage(e.to_int(both, 8), element));
        if pair.len() == 2 {
            out.push(e.from_storage(e.to_int(e.shr(both, 8), 8), element));
        }
    }
    rewriter.replace_multiple(op, &[out]);
    Ok(())
}

/// An f64 as an f32 that rounds to a shorter format as the f64 itself would: cut off, and odd where anything was.
fn to_odd<'c>(e: &Emit<'c, '_>, v: V<'c>) -> V<'c> {
    let (f32_type, i32_type) = (Type::float32(e.context()), e.i32_type());
    let input = [AsmOperand {
        constraint: "d",
        value: v,
    }];
    let cut = e.inline_ptx("cvt.rz.f32.f64 $0, $1;", &[("f", f32_type)], &[], &input, false)[0];
    let back = e.value("arith.extf", &[cut], v.r#type(), &[]);
    let differs = e.value("arith.cmpf", &[back, v], e.int(1), &[("predicate", e.attr("13 : i64"))]);
    e.bitcast(e.or(e.bitcast(cut, i32_type), e.zext(differs, 32)), f32_type)
}

/// From 8-bit floats, two at a time and by way of f16, which has all of them.
fn widen<'c>(op: OperationRef<'c, 'c>, operands: &Operands<'c, '_>, rewriter: &ConversionRewriter<'c>) -> Matched {
    let (from, to) = (op.operand_values()[0].r#type(), op.result0().r#type());
    let (Some(format), Some(element), true) = (byte_float(from), to.element_type(), is_laid_out(to)) else {
        return Err(rewriter.no_match(op, "not a tile of 8-bit floats"));
    };
    let e = Emit::new(rewriter, op.location());
    let f16_type = Type::float16(e.context());
    let mut out = vec![];
    for pair in operands.get(0).chunks(2) {
        let bytes: Vec<V> = pair.iter().map(|v| e.zext(e.to_storage(*v), 16)).collect();
        let both = match bytes[..] {
            [low, high] => e.or(low, e.shl(high, 8)),
            _ => bytes[0],
        };
        let text = format!("cvt.rn.f16x2.{format}x2 $0, $1;");
        let input = [AsmOperand {
            constraint: "h",
            value: both,
        }];
        let wide = e.inline_ptx(&text, &[("r", e.i32_type())], &[], &input, false)[0];
        let halves = e.unpack(e.bitcast(wide, e.vector(2, f16_type)), 2, f16_type);
        for half in halves.into_iter().take(pair.len()) {
            out.push(match element.to_string().as_str() {
                "f16" => half,
                // bf16 is as wide, but no op goes there from f16.
                "bf16" => {
                    let single = e.value("arith.extf", &[half], Type::float32(e.context()), &[]);
                    e.value("arith.truncf", &[single], element, &[])
                }
                _ => e.value("arith.extf", &[half], element, &[]),
            });
        }
    }
    rewriter.replace_multiple(op, &[out]);
    Ok(())
}

/// A bf16 is the upper half of its f32: where two of them lie in a register, a shift gives one and a mask the other, without
/// taking the register apart first.
fn widen_bf16<'c>(op: OperationRef<'c, 'c>, operands: &Operands<'c, '_>, rewriter: &ConversionRewriter<'c>) -> Matched {
    let (from, to) = (op.operand_values()[0].r#type(), op.result0().r#type());
    let e = Emit::new(rewriter, op.location());
    let (bf16, f32_type) = (Type::bfloat16(e.context()), Type::float32(e.context()));
    if !is_laid_out(to) || from.element_type() != Some(bf16) || to.element_type() != Some(f32_type) {
        return Err(rewriter.no_match(op, "not a tile of bf16 as f32"));
    }
    let values = operands.get(0);
    if !values.iter().all(|v| half_of_word(*v).is_some()) {
        return Err(rewriter.no_match(op, "not pairs in registers"));
    }
    let wide = values
        .iter()
        .filter_map(|v| half_of_word(*v))
        .map(|(word, upper)| match upper {
            true => e.mask(word, i64::from(i32::MIN >> 15)),
            false => e.shl(word, 16),
        })
        .map(|bits| e.bitcast(bits, f32_type))
        .collect();
    rewriter.replace_multiple(op, &[wide]);
    Ok(())
}

/// The 32-bit register that a 16-bit number was taken out of, and whether it is its upper half.
fn half_of_word<'c>(v: V<'c>) -> Option<(V<'c>, bool)> {
    let taken = v.defining_op().filter(|op| op.full_name() == "llvm.extractelement")?;
    let [pair, index] = taken.operand_values()[..] else {
        return None;
    };
    let cast = pair.defining_op().filter(|op| op.full_name() == "llvm.bitcast")?;
    let word = cast.operand_values()[0];
    (word.r#type().is_int(32)).then_some((word, index.constant_int()? == 1))
}

fn constant<'c>(op: OperationRef<'c, 'c>, rewriter: &ConversionRewriter<'c>) -> Matched {
    let t = op.result0().r#type();
    let (Some(n), Some(element), Some(value)) = (elements_per_thread(t), t.element_type(), op.attr("value")) else {
        return Err(rewriter.no_match(op, "not a laid-out tensor"));
    };
    if !unsafe { mlirAttributeIsADenseElements(value.to_raw()) && mlirDenseElementsAttrIsSplat(value.to_raw()) } {
        return refuse(
            op,
            "a constant tile holds one value everywhere; load others from memory",
        );
    }
    let scalar = unsafe { Attribute::from_raw(mlirDenseElementsAttrGetSplatValue(value.to_raw())) };
    let e = Emit::new(rewriter, op.location());
    let v = e.value("arith.constant", &[], element, &[("value", scalar)]);
    rewriter.replace_multiple(op, &[vec![v; n]]);
    Ok(())
}

fn elementwise<'c>(
    op: OperationRef<'c, 'c>,
    operands: &Operands<'c, '_>,
    rewriter: &ConversionRewriter<'c>,
) -> Matched {
    let results = op.result_types();
    if !op.has_trait(Trait::Elementwise) || results.is_empty() || results.iter().any(|t| !is_laid_out(*t)) {
        return Err(rewriter.no_match(op, "not elementwise on laid-out tensors"));
    }
    let n = elements_per_thread(results[0]).unwrap_or(0);
    let Some(types) = results.iter().map(|t| t.element_type()).collect::<Option<Vec<_>>>() else {
        return Err(rewriter.no_match(op, "no element type"));
    };
    let attributes: Vec<(String, Attribute)> = op
        .attributes()
        .map(|(name, a)| (name.as_string_ref().as_str().unwrap_or("").to_owned(), a))
        .collect();
    let attributes: Vec<(&str, Attribute)> = attributes.iter().map(|(n, a)| (n.as_str(), *a)).collect();
    let e = Emit::new(rewriter, op.location());
    let mut out: Vec<Vec<V>> = vec![vec![]; types.len()];
    for i in 0..n {
        // A scalar operand, such as arith.select's condition, is the same for every element.
        let scalars: Vec<V> = (0..operands.len())
            .map(|k| {
                let values = operands.get(k);
                if values.len() == n { values[i] } else { values[0] }
            })
            .collect();
        let one = e.op(op.full_name(), &scalars, &types, &attributes);
        for (r, v) in out.iter_mut().zip(one.result_values()) {
            r.push(v);
        }
    }
    rewriter.replace_multiple(op, &out);
    Ok(())
}

/// Two tile types of an op whose n-th elements are not the same element of the tile: where a layout depends on the width of
/// an element, a conversion between widths is no elementwise move.
pub(super) fn moved<'c>(op: OperationRef<'c, '_>) -> Option<(Type<'c>, Type<'c>)> {
    if !op.has_trait(Trait::Elementwise) {
        return None;
    }
    let places = |t: Type<'c>| -> Option<Vec<(u32, u32)>> {
        let fragment = layout_of(t)?.fragment();
        let bits = t.element_type()?.bit_width()?.max(8);
        Some(
            (0..elements_per_thread(t)?)
                .map(|i| element_offset(fragment, bits, i))
                .collect(),
        )
    };
    let result = op.result_types().first().copied()?;
    let mut tiles = op
        .operand_values()
        .into_iter()
        .map(|v| v.r#type())
        .chain(op.result_types());
    if is_distributed(result) {
        return tiles
            .filter(|t| t.is_ranked_tensor_type() && t.encoding() != result.encoding())
            .map(|t| (t, result))
            .next();
    }
    let expected = places(result)?;
    tiles
        .by_ref()
        .filter(|t| places(*t).is_some_and(|p| p != expected))
        .map(|t| (t, result))
        .next()
}
