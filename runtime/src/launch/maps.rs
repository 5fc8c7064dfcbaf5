//! Tensor maps of a launch: from the manifest's templates, checked by the driver's rules, with messages that speak of the
//! argument rather than of the map.
use super::arguments::Arguments;
use crate::error::{Error, Problem, Result};
use girih_core::{
    manifest::{Arg, Expr, Kernel, TensorMapTemplate},
    tensor_map::{Caps, Interleave, Rule, TensorMap, Violation},
};

/// What tensor maps of a target can do.
fn caps(target: &str) -> Caps {
    let digits: String = target.chars().filter(char::is_ascii_digit).collect();
    match digits.parse::<u32>().unwrap_or(0) {
        0..=99 => Caps::SM_90,
        103 | 107 => Caps::SM_103,
        _ => Caps::SM_100,
    }
}

/// The rules that the driver of a target would refuse a map for.
pub(super) fn violations(map: &TensorMap, target: &str) -> Vec<Violation> {
    map.validate(&caps(target)).err().unwrap_or_default()
}

/// The maps in the manifest's order, `None` for a tensor with an empty dimension, and for one that is not on 16 bytes where
/// the map is optional. Reports every broken rule of all maps.
pub(super) fn instantiate(kernel: &Kernel, target: &str, env: &Arguments<'_>) -> Result<Vec<Option<TensorMap>>> {
    let caps = caps(target);
    let mut maps = Vec::with_capacity(kernel.tensor_maps.len());
    let mut problems: Vec<Problem> = Vec::new();
    for template in &kernel.tensor_maps {
        let argument = kernel.args.get(template.arg).map_or("?", Arg::name);
        let mut report = |message| {
            let problem = Problem {
                argument: argument.to_owned(),
                message,
            };
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        };
        match template.instantiate(env) {
            Ok(Some(map)) => {
                let violations = map.validate(&caps).err().unwrap_or_default();
                if template.optional && !violations.is_empty() && violations.iter().all(is_alignment) {
                    maps.push(None);
                    continue;
                }
                for violation in violations {
                    report(explain(kernel, template, &map, &violation));
                }
                if let Some(message) = row_end(template, &map) {
                    report(message);
                }
                maps.push(Some(map));
            }
            Ok(None) => maps.push(None),
            Err(error) => report(format!("tensor map: {}", name_arguments(kernel, &error.to_string()))),
        }
    }
    if problems.is_empty() {
        Ok(maps)
    } else {
        Err(Error::Arguments {
            kernel: kernel.name.clone(),
            problems,
        })
    }
}

/// Whether a rule is broken by where a tensor lies alone.
fn is_alignment(violation: &Violation) -> bool {
    matches!(violation.rule, Rule::AddressAlignment | Rule::StrideAlignment)
}

/// A violation in the words of the argument where the field comes from one of its strides, else in those of the map.
fn explain(kernel: &Kernel, template: &TensorMapTemplate, map: &TensorMap, violation: &Violation) -> String {
    let by_argument = (violation.rule == Rule::StrideAlignment)
        .then(|| {
            let index = violation
                .field
                .trim_start_matches("strides[")
                .trim_end_matches(']')
                .parse::<usize>()
                .ok()?;
            let dim = source_dimension(template.strides.get(index)?, template.arg)?;
            let Some(Arg::Memref { dtype, shape, .. }) = kernel.args.get(template.arg) else {
                return None;
            };
            let bytes = *map.strides.get(index)?;
            let multiple = if map.interleave == Interleave::B32 { 32 } else { 16 };
            let what = if shape.len() == 2 && dim == 0 {
                "row stride".to_owned()
            } else {
                format!("stride of dimension {dim}")
            };
            let elements = multiple / dtype.bytes().min(multiple);
            Some(format!(
                "{what} = {bytes} bytes, but a tensor map needs a multiple of {multiple}; pad it to a multiple of \
                 {elements} elements"
            ))
        })
        .flatten();
    by_argument.unwrap_or_else(|| format!("its tensor map has {violation}"))
}

/// Why a map that stores exact rows cannot: they do not end on 16 bytes.
fn row_end(template: &TensorMapTemplate, map: &TensorMap) -> Option<String> {
    template.exact_rows.then(|| map.store_row_end()).flatten()?;
    let elements = *map.dims.first()?;
    let bits = u128::from(elements) * u128::from(map.format.global_bits());
    let padded = bits.div_ceil(128) * 128;
    Some(format!(
        "rows of {elements} elements are {} bytes, but the kernel stores them with a tensor map, which writes up to a \
         multiple of 16: {} bytes after each row would be overwritten; make rows {} elements long, or let the store say \
         `overwrite`",
        bits / 8,
        (padded - bits) / 8,
        padded / u128::from(map.format.global_bits()),
    ))
}

/// The dimension of `arg` whose stride is the only one that `expr` reads.
fn source_dimension(expr: &Expr, arg: usize) -> Option<usize> {
    let mut found = Vec::new();
    expr.walk(&mut |part| {
        if let Expr::Stride { arg: other, dim } = *part {
            found.push((other, dim));
        }
    });
    match found[..] {
        [(other, dim)] if other == arg => Some(dim),
        _ => None,
    }
}

/// `arg0` in a message about an expression becomes the argument's name.
pub(super) fn name_arguments(kernel: &Kernel, message: &str) -> String {
    let mut out = message.to_owned();
    for (i, arg) in kernel.args.iter().enumerate().rev() {
        out = out.replace(&format!("arg{i}"), arg.name());
    }
    out
}
