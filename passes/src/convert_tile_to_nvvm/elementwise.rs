//! Ops on laid-out tensors, element by element: any op with MLIR's `Elementwise` trait, conversions, and constants.
use super::{Matched, constants};
use crate::expand_conversions::{
    floats::{self, How, is_small, of_small},
    rounding_of,
};
use girih_core::number::Rounding;
use girih_dialects::{
    nvvm::{Emit, V, is_tf32},
    tile::{
        distribution::is_distributed,
        layouts::{element_offset, elements_per_thread, is_laid_out, layout_of},
        ops::cvt::Cvt,
        target_of,
    },
};
use girih_ir::{
    conversion::{Conversion, ConversionRewriter, Operands},
    melior::ir::attribute::FloatAttribute,
    mlir_sys::*,
    op::{OpView, Trait},
    prelude::*,
};

/// Lowers whatever is elementwise.
pub fn patterns(c: &mut Conversion<'_>) {
    c.pattern("arith.constant", 1, |op, _, rewriter| constant(op, rewriter));
    c.pattern("", 0, elementwise);
    c.pattern("arith.constant", 2, |op, _, rewriter| scalar_constant(op, rewriter));
    for name in ["arith.sitofp", "arith.uitofp"] {
        c.pattern(name, 2, narrow);
    }
    for name in ["arith.truncf", "arith.extf", Cvt::NAME] {
        c.pattern(name, 2, convert);
    }
    c.pattern("arith.extf", 2, widen_bf16);
}

/// Whether a conversion is none that LLVM makes of `arith`'s own op, one number at a time.
fn is_special(from: Type<'_>, to: Type<'_>, rounding: Rounding) -> bool {
    let small = |t: Type<'_>| is_small(t) || is_tf32(t);
    small(from) || small(to) || rounding != Rounding::NearestEven
}

/// Conversions between floats that go two at a time, or that LLVM has no code for: of tiles, and of numbers that are tf32.
fn convert<'c>(op: OperationRef<'c, 'c>, operands: &Operands<'c, '_>, rewriter: &ConversionRewriter<'c>) -> Matched {
    let element = |t: Type<'c>| t.element_type().unwrap_or(t);
    let (source, result) = (op.operand_values()[0].r#type(), op.result0().r#type());
    let (from, to) = (element(source), element(result));
    let cvt = op.cast::<Cvt>();
    let rounding = cvt.map_or_else(|| rounding_of(op), |cvt| cvt.rounding().core());
    let is_ours = is_laid_out(result) || result.shape().is_none() && (is_tf32(from) || is_tf32(to));
    if cvt.is_none() && !(is_ours && is_special(from, to, rounding)) {
        return Err(rewriter.no_match(op, "a conversion of LLVM's, or of single numbers"));
    }
    let e = Emit::new(rewriter, op.location());
    let how = How {
        rounding,
        saturate: cvt.is_some_and(|cvt| cvt.satfinite()),
        target: target_of(op),
    };
    let values = operands.get(0);
    let out = if is_small(from) && !how.saturate && !is_small(to) && !is_tf32(to) {
        of_small(&e, values, to, how.target)
    } else {
        floats::convert(&e, values, to, how)
    };
    rewriter.replace_multiple(op, &[out]);
    Ok(())
}

/// Integers to floats of 8 bits and less, two at a time and by way of f32, which has every integer that is not past the largest
/// number.
fn narrow<'c>(op: OperationRef<'c, 'c>, operands: &Operands<'c, '_>, rewriter: &ConversionRewriter<'c>) -> Matched {
    let t = op.result0().r#type();
    let Some(element) = t.element_type().filter(|to| is_small(*to) && is_laid_out(t)) else {
        return Err(rewriter.no_match(op, "not a tile of small floats"));
    };
    let e = Emit::new(rewriter, op.location());
    let f32_type = Type::float32(e.context());
    let values = operands.get(0).iter();
    let singles: Vec<V> = values.map(|v| e.value(op.full_name(), &[*v], f32_type, &[])).collect();
    let how = How {
        rounding: Rounding::NearestEven,
        saturate: false,
        target: target_of(op),
    };
    rewriter.replace_multiple(op, &[floats::convert(&e, &singles, element, how)]);
    Ok(())
}

/// A number of tf32, which is an f32.
fn scalar_constant<'c>(op: OperationRef<'c, 'c>, rewriter: &ConversionRewriter<'c>) -> Matched {
    let value = op.attr("value").and_then(|a| FloatAttribute::try_from(a).ok());
    let Some(value) = value.filter(|_| is_tf32(op.result0().r#type())) else {
        return Err(rewriter.no_match(op, "no number of tf32"));
    };
    let e = Emit::new(rewriter, op.location());
    let v = e.constant_float(value.value(), Type::float32(e.context()));
    rewriter.replace(op, &[v]);
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
        let Some(held) = constants::load(&Emit::new(rewriter, op.location()), op) else {
            return Err(rewriter.no_match(op, "a constant that was not prepared"));
        };
        rewriter.replace_multiple(op, &[held]);
        return Ok(());
    }
    let scalar = unsafe { Attribute::from_raw(mlirDenseElementsAttrGetSplatValue(value.to_raw())) };
    let e = Emit::new(rewriter, op.location());
    let v = match FloatAttribute::try_from(scalar) {
        Ok(number) if is_tf32(element) => e.constant_float(number.value(), Type::float32(e.context())),
        _ => e.value("arith.constant", &[], element, &[("value", scalar)]),
    };
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
        let bits = t.element_type()?.bit_width()?.next_power_of_two().max(8);
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
