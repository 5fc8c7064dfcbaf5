//! The checks that an op's declaration implies. Every violation is reported.
use super::{Arity, OpDef, OperandDef, Presence, RegionBlocks};
use crate::{
    diag::{Errors, Res},
    ext::{OpExt, RegionExt},
};
use melior::ir::{OperationRef, Value, ValueLike, operation::OperationLike};
use std::ops::Range;

/// Checks operands, results, attributes, regions and successors against the declaration.
pub fn verify(op: OperationRef<'_, '_>, def: &OpDef) -> Res {
    let mut errors = Errors::default();
    groups(
        op,
        &mut errors,
        "operand",
        def.operands,
        &op.operand_values(),
        def.has_operand_segments(),
        |n| def.operand_range(op, n),
    );
    groups(
        op,
        &mut errors,
        "result",
        def.results,
        &op.result_values(),
        def.has_result_segments(),
        |n| def.result_range(op, n),
    );
    for a in def.attributes {
        match op.attr(a.name) {
            Some(v) if (a.check)(v) => {}
            Some(v) => errors.op(&op, format!("attribute '{}' must be {}, but is {v}", a.name, a.what)),
            None if matches!(a.presence, Presence::Required) => {
                errors.op(&op, format!("requires attribute '{}', {}", a.name, a.what))
            }
            None => {}
        }
    }
    let variadic = def.regions.last().is_some_and(|r| r.variadic);
    let (found, declared) = (op.region_count(), def.regions.len());
    if if variadic {
        found + 1 < declared
    } else {
        found != declared
    } {
        let at_least = if variadic { "at least " } else { "" };
        let want = declared - usize::from(variadic);
        errors.op(&op, format!("expects {at_least}{want} regions, but has {found}"));
    } else {
        for i in 0..found {
            let r = def.regions[i.min(declared.saturating_sub(1))];
            let blocks = op.region_at(i).block_list().len();
            let fits = match r.blocks {
                RegionBlocks::Any => true,
                RegionBlocks::AtMostOne => blocks <= 1,
                RegionBlocks::One => blocks == 1,
                RegionBlocks::Some => blocks >= 1,
            };
            if !fits {
                let want = match r.blocks {
                    RegionBlocks::AtMostOne => "at most one block",
                    RegionBlocks::One => "exactly one block",
                    _ => "at least one block",
                };
                errors.op(
                    &op,
                    format!("region #{i} '{}' must have {want}, but has {blocks}", r.name),
                );
            }
        }
    }
    let variadic = def.successors.last().is_some_and(|s| s.variadic);
    let (found, declared) = (op.successor_count(), def.successors.len());
    if if variadic {
        found + 1 < declared
    } else {
        found != declared
    } {
        errors.op(&op, format!("expects {declared} successors, but has {found}"));
    }
    errors.result()
}

fn groups<'c>(
    op: OperationRef<'c, '_>,
    errors: &mut Errors,
    what: &str,
    defs: &[OperandDef],
    values: &[Value<'c, '_>],
    segmented: bool,
    range: impl Fn(&str) -> Option<Range<usize>>,
) {
    if segmented && defs.iter().any(|d| range(d.name).is_none()) {
        return; // the trait's verifier reports sizes that do not add up
    }
    let fixed = defs.iter().filter(|d| d.arity == Arity::One).count();
    let flexible = defs.len() - fixed;
    let fits = match (flexible, segmented) {
        (0, _) => values.len() == fixed,
        (1, _) => {
            let optional = defs.iter().any(|d| d.arity == Arity::Optional);
            values.len() >= fixed && (!optional || values.len() <= fixed + 1)
        }
        _ => defs
            .iter()
            .all(|d| range(d.name).is_some_and(|r| d.arity != Arity::Optional || r.len() <= 1)),
    };
    if !fits {
        let bound = if flexible == 0 { "" } else { "at least " };
        errors.op(&op, format!("expects {bound}{fixed} {what}s, but has {}", values.len()));
        return;
    }
    for d in defs {
        let Some(r) = range(d.name) else { continue };
        if segmented && d.arity == Arity::One && r.len() != 1 {
            errors.op(
                &op,
                format!("{what} '{}' must be one value, but there are {}", d.name, r.len()),
            );
        }
        for i in r {
            let t = values[i].r#type();
            if !(d.constraint.check)(t) {
                errors.op(
                    &op,
                    format!("{what} #{i} '{}' must be {}, but is {t}", d.name, d.constraint.what),
                );
            }
        }
    }
}
