//! Views of a memref, as the launcher sees them.
use super::{Host, View, arithmetic::binary};
use girih_core::manifest::{BinaryOp, Expr};
use girih_ir::{
    ext::DYNAMIC,
    kind::{I64, I64s, Kind},
    prelude::*,
};
use mlir_sys::*;

/// `memref.subview`: the operands after the memref are what its lists leave open, offsets first, then sizes, then steps.
pub(super) fn subview<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    view: &View,
    open: &[&Host<'c, 'a>],
) -> Result<Host<'c, 'a>, String> {
    let mut open = open.iter();
    let mut list = |name: &str| -> Result<Vec<Expr>, String> {
        let given = op.attr(name).and_then(I64s::from_attribute).unwrap_or_default();
        if given.len() != view.sizes.len() {
            return Err(format!(
                "has {} {name}, but its memref has {} dimensions",
                given.len(),
                view.sizes.len()
            ));
        }
        let value = |v: i64| match (v, v == DYNAMIC) {
            (v, false) => Ok(Expr::Const(v)),
            _ => match open.next() {
                Some(Host::Number(expr)) => Ok(expr.clone()),
                _ => Err(format!("has too few operands for its {name}")),
            },
        };
        given.into_iter().map(value).collect()
    };
    let (offsets, sizes, steps) = (list("static_offsets")?, list("static_sizes")?, list("static_strides")?);
    let mut offset = view.offset.clone();
    let (mut kept_sizes, mut strides) = (vec![], vec![]);
    for (d, (start, step)) in offsets.iter().zip(&steps).enumerate() {
        let by = binary(BinaryOp::Mul, start.clone(), view.strides[d].clone());
        offset = binary(BinaryOp::Add, offset, by);
        kept_sizes.push(sizes[d].clone());
        strides.push(binary(BinaryOp::Mul, view.strides[d].clone(), step.clone()));
    }
    // A result of fewer dimensions has lost those of size 1.
    let rank = op.result0().r#type().shape().map_or(0, |shape| shape.len());
    if rank != kept_sizes.len() {
        let keep: Vec<usize> = (0..kept_sizes.len())
            .filter(|d| kept_sizes[*d] != Expr::Const(1))
            .collect();
        if keep.len() != rank {
            return Err(
                "drops some dimensions of size 1 and keeps others, which the launcher cannot follow".to_owned(),
            );
        }
        kept_sizes = keep.iter().map(|d| kept_sizes[*d].clone()).collect();
        strides = keep.iter().map(|d| strides[*d].clone()).collect();
    }
    Ok(Host::Memory(View {
        arg: view.arg,
        offset,
        sizes: kept_sizes,
        strides,
    }))
}

/// `memref.collapse_shape`: dimensions that follow each other without gaps become one.
pub(super) fn collapse<'c: 'a, 'a>(op: OperationRef<'c, 'a>, view: &View) -> Result<Host<'c, 'a>, String> {
    let groups = op.attr("reassociation").and_then(lists);
    let complete = |groups: &Vec<Vec<usize>>| groups.iter().flatten().copied().eq(0..view.sizes.len());
    let Some(groups) = groups
        .filter(complete)
        .filter(|groups| groups.iter().all(|g| !g.is_empty()))
    else {
        return Err("does not say which dimensions become one".to_owned());
    };
    let product = |group: &Vec<usize>| {
        let sizes = group.iter().map(|d| view.sizes[*d].clone());
        sizes
            .reduce(|a, b| binary(BinaryOp::Mul, a, b))
            .unwrap_or(Expr::Const(1))
    };
    let stride = |group: &Vec<usize>| {
        let inner = group.iter().rev().find(|d| view.sizes[**d] != Expr::Const(1));
        view.strides[*inner.unwrap_or(&group[0])].clone()
    };
    Ok(Host::Memory(View {
        arg: view.arg,
        offset: view.offset.clone(),
        sizes: groups.iter().map(product).collect(),
        strides: groups.iter().map(stride).collect(),
    }))
}

/// Lists of dimensions, such as `[[0, 1], [2]]`.
pub fn lists(a: Attribute<'_>) -> Option<Vec<Vec<usize>>> {
    // SAFETY: elements are asked for after the test of the kind, with indices below their number.
    let items = |a: Attribute<'_>| -> Option<Vec<MlirAttribute>> {
        unsafe {
            mlirAttributeIsAArray(a.to_raw()).then(|| {
                (0..mlirArrayAttrGetNumElements(a.to_raw()))
                    .map(|i| mlirArrayAttrGetElement(a.to_raw(), i))
                    .collect()
            })
        }
    };
    let wrap = |raw: MlirAttribute| unsafe { Attribute::from_raw(raw) };
    items(a)?
        .into_iter()
        .map(|group| {
            items(wrap(group))?
                .into_iter()
                .map(|d| I64::from_attribute(wrap(d)).and_then(|d| usize::try_from(d).ok()))
                .collect()
        })
        .collect()
}
