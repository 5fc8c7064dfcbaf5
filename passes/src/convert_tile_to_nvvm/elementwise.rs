//! Ops on laid-out tensors, element by element: any op with MLIR's `Elementwise` trait, and splat constants.
use super::{Matched, refuse};
use girih_dialects::{
    nvvm::{Emit, V},
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
