//! What is known of an index before the kernel runs.
use girih_dialects::tile::{
    facts::{Facts, argument},
    ops::kernel::Kernel,
};
use girih_ir::{ext::DYNAMIC, prelude::*};

/// The largest power of two that an index is known to be a multiple of.
pub fn known_multiple(v: Value<'_, '_>) -> i64 {
    /// As much as anyone asks for.
    const MOST: u32 = 30;
    fn bits(v: Value<'_, '_>) -> u32 {
        if let Some(c) = v.constant_int() {
            return c.trailing_zeros().min(MOST);
        }
        let Some(op) = v.defining_op() else {
            return match v.argument_of() {
                // A loop's counter is its start and a number of steps.
                Some((op, 0)) if op.full_name() == "scf.for" => {
                    let operands = op.operand_values();
                    bits(operands[0]).min(bits(operands[2]))
                }
                Some((op, i)) if op.is::<Kernel>() => Facts::of(op, i).multiple(0).trailing_zeros().min(MOST),
                _ => 0,
            };
        };
        let operands = op.operand_values();
        let each = || operands.iter().map(|o| bits(*o));
        match op.full_name() {
            "arith.muli" | "index.mul" => each().sum::<u32>().min(MOST),
            "arith.addi" | "arith.subi" | "arith.minsi" | "arith.minui" | "arith.maxsi" | "arith.maxui"
            | "index.add" | "index.sub" => each().min().unwrap_or(0),
            "memref.dim" => operands[1].constant_int().map_or(0, |dim| size_bits(operands[0], dim)),
            "arith.select" => bits(operands[1]).min(bits(operands[2])),
            "arith.shli" => match operands[1].constant_int() {
                Some(n) if (0..i64::from(MOST)).contains(&n) => (bits(operands[0]) + n as u32).min(MOST),
                _ => bits(operands[0]),
            },
            "arith.index_cast" | "arith.index_castui" | "arith.extsi" | "arith.extui" => bits(operands[0]),
            _ => 0,
        }
    }
    /// Of the size of a memref along a dimension.
    fn size_bits(memref: Value<'_, '_>, dim: i64) -> u32 {
        let (Ok(dim), shape) = (usize::try_from(dim), memref.r#type().shape().unwrap_or_default()) else {
            return 0;
        };
        match shape.get(dim) {
            Some(size) if *size != DYNAMIC => size.trailing_zeros().min(MOST),
            Some(_) => argument(memref).map_or(0, |(owner, i)| {
                Facts::of(owner, i).multiple(dim).trailing_zeros().min(MOST)
            }),
            None => 0,
        }
    }
    1 << bits(v)
}

/// Values that make `v` a multiple of `unit`, a power of two, if they are multiples of it themselves.
pub fn unknown_parts<'c>(v: Value<'c, 'c>, unit: i64) -> Vec<Value<'c, 'c>> {
    if known_multiple(v) % unit == 0 {
        return vec![];
    }
    let all = |values: &[Value<'c, 'c>]| values.iter().flat_map(|v| unknown_parts(*v, unit)).collect();
    let Some(op) = v.defining_op() else {
        return match v.argument_of() {
            Some((op, 0)) if op.full_name() == "scf.for" => {
                let bounds = op.operand_values();
                all(&[bounds[0], bounds[2]])
            }
            _ => vec![v],
        };
    };
    let operands = op.operand_values();
    match op.full_name() {
        "arith.addi" | "arith.subi" | "arith.minsi" | "arith.minui" | "arith.maxsi" | "arith.maxui" | "index.add"
        | "index.sub" => all(&operands),
        "arith.select" => all(&operands[1..]),
        _ => vec![v],
    }
}

/// Whether an index is known not to be negative.
pub fn is_nonnegative(v: Value<'_, '_>) -> bool {
    if let Some(c) = v.constant_int() {
        return c >= 0;
    }
    let Some(op) = v.defining_op() else {
        return is_counter(v);
    };
    let operands = op.operand_values();
    match op.full_name() {
        "arith.index_castui" | "arith.extui" | "memref.dim" | "tile.block_id" | "tile.grid_dim" => true,
        "arith.muli" | "arith.addi" | "arith.minsi" | "arith.divsi" | "arith.remsi" | "arith.index_cast" => {
            operands.iter().all(|o| is_nonnegative(*o))
        }
        "arith.divui" | "arith.ceildivui" | "arith.remui" | "arith.minui" | "arith.shrui" => {
            operands.iter().all(|o| is_nonnegative(*o))
        }
        "arith.maxsi" => operands.iter().any(|o| is_nonnegative(*o)),
        _ => false,
    }
}

/// Whether a value counts a loop up from a number that is not negative.
fn is_counter(v: Value<'_, '_>) -> bool {
    let Some((op, 0)) = v.argument_of() else { return false };
    op.full_name() == "scf.for" && op.operand_values().first().is_some_and(|first| is_nonnegative(*first))
}

/// Whether rows of a memref along `axis` are known to start at multiples of `by` elements, as `tile.is_aligned` asks at run
/// time, and with `ends` to end at them.
pub fn rows_are_aligned(memref: Value<'_, '_>, axis: usize, by: i64, ends: bool) -> bool {
    let Some((owner, i)) = argument(memref) else {
        return false;
    };
    let (t, facts) = (memref.r#type(), Facts::of(owner, i));
    let size = t.shape().unwrap_or_default().get(axis).copied().unwrap_or(1);
    let size_fits = match size {
        DYNAMIC => facts.multiple(axis) % by == 0,
        size => size % by == 0,
    };
    facts.rows_start_at(t, axis, by) && (size_fits || !ends)
}
