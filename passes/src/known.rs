//! What is known of an index before the kernel runs.
use girih_dialects::tile::{
    facts::{Facts, argument},
    ops::kernel::Kernel,
};
use girih_ir::{ext::DYNAMIC, prelude::*};
use std::collections::{BTreeMap, BTreeSet};

/// Ops between an index and what it is made of that are looked through. What lies deeper is not known.
const DEEPEST: usize = 64;

fn key(v: Value<'_, '_>) -> usize {
    v.to_raw().ptr as usize
}

/// The largest power of two that an index is known to be a multiple of.
pub fn known_multiple(v: Value<'_, '_>) -> i64 {
    1 << Multiples::default().bits(v, 0)
}

/// Powers of two that values are multiples of, each looked for once.
#[derive(Default)]
struct Multiples(BTreeMap<usize, u32>);

impl Multiples {
    /// As much as anyone asks for.
    const MOST: u32 = 30;

    fn bits(&mut self, v: Value<'_, '_>, depth: usize) -> u32 {
        if let Some(c) = v.constant_int() {
            return c.trailing_zeros().min(Self::MOST);
        }
        if let Some(found) = self.0.get(&key(v)) {
            return *found;
        }
        let found = if depth < DEEPEST { self.look(v, depth + 1) } else { 0 };
        self.0.insert(key(v), found);
        found
    }
    fn least(&mut self, values: &[Value<'_, '_>], depth: usize) -> u32 {
        values.iter().map(|v| self.bits(*v, depth)).min().unwrap_or(0)
    }
    fn look(&mut self, v: Value<'_, '_>, depth: usize) -> u32 {
        let Some(op) = v.defining_op() else {
            return match v.argument_of() {
                // A loop's counter is its start and a number of steps.
                Some((op, 0)) if op.full_name() == "scf.for" => {
                    let bounds = op.operand_values();
                    self.least(&[bounds[0], bounds[2]], depth)
                }
                Some((op, i)) if op.is::<Kernel>() => Facts::of(op, i).multiple(0).trailing_zeros().min(Self::MOST),
                _ => 0,
            };
        };
        let operands = op.operand_values();
        match op.full_name() {
            "arith.muli" | "index.mul" => {
                let all: u32 = operands.iter().map(|o| self.bits(*o, depth)).sum();
                all.min(Self::MOST)
            }
            "arith.addi" | "arith.subi" | "arith.minsi" | "arith.minui" | "arith.maxsi" | "arith.maxui"
            | "index.add" | "index.sub" => self.least(&operands, depth),
            "memref.dim" => operands[1].constant_int().map_or(0, |dim| size_bits(operands[0], dim)),
            "arith.select" => self.least(&operands[1..], depth),
            "arith.shli" => {
                let own = self.bits(operands[0], depth);
                match operands[1].constant_int() {
                    Some(n) if (0..i64::from(Self::MOST)).contains(&n) => (own + n as u32).min(Self::MOST),
                    _ => own,
                }
            }
            "arith.index_cast" | "arith.index_castui" | "arith.extsi" | "arith.extui" => self.bits(operands[0], depth),
            _ => 0,
        }
    }
}

/// The power of two in the size of a memref along a dimension.
fn size_bits(memref: Value<'_, '_>, dim: i64) -> u32 {
    let (Ok(dim), shape) = (usize::try_from(dim), memref.r#type().shape().unwrap_or_default()) else {
        return 0;
    };
    let bits = match shape.get(dim) {
        Some(size) if *size != DYNAMIC => size.trailing_zeros(),
        Some(_) => argument(memref).map_or(0, |(owner, i)| Facts::of(owner, i).multiple(dim).trailing_zeros()),
        None => 0,
    };
    bits.min(Multiples::MOST)
}

/// Values that make `v` a multiple of `unit`, a power of two, if they are multiples of it themselves.
pub fn unknown_parts<'c>(v: Value<'c, 'c>, unit: i64) -> Vec<Value<'c, 'c>> {
    let (mut parts, mut seen) = (vec![], BTreeSet::new());
    collect_unknown(v, unit, DEEPEST, &mut seen, &mut parts);
    parts
}

fn collect_unknown<'c>(
    v: Value<'c, 'c>,
    unit: i64,
    depth: usize,
    seen: &mut BTreeSet<usize>,
    parts: &mut Vec<Value<'c, 'c>>,
) {
    if !seen.insert(key(v)) || known_multiple(v) % unit == 0 {
        return;
    }
    let operands = match v.defining_op() {
        Some(op) => match op.full_name() {
            "arith.addi" | "arith.subi" | "arith.minsi" | "arith.minui" | "arith.maxsi" | "arith.maxui"
            | "index.add" | "index.sub" => op.operand_values(),
            "arith.select" => op.operand_values().split_off(1),
            _ => vec![],
        },
        None => match v.argument_of() {
            Some((op, 0)) if op.full_name() == "scf.for" => {
                let bounds = op.operand_values();
                vec![bounds[0], bounds[2]]
            }
            _ => vec![],
        },
    };
    if operands.is_empty() || depth == 0 {
        return parts.push(v);
    }
    for operand in operands {
        collect_unknown(operand, unit, depth - 1, seen, parts);
    }
}

/// Whether an index is known not to be negative.
pub fn is_nonnegative(v: Value<'_, '_>) -> bool {
    Signs::default().is_nonnegative(v, 0)
}

/// Which values are known not to be negative, each looked for once.
#[derive(Default)]
struct Signs(BTreeMap<usize, bool>);

impl Signs {
    fn is_nonnegative(&mut self, v: Value<'_, '_>, depth: usize) -> bool {
        if let Some(c) = v.constant_int() {
            return c >= 0;
        }
        if let Some(found) = self.0.get(&key(v)) {
            return *found;
        }
        let found = depth < DEEPEST && self.look(v, depth + 1);
        self.0.insert(key(v), found);
        found
    }
    fn look(&mut self, v: Value<'_, '_>, depth: usize) -> bool {
        let Some(op) = v.defining_op() else {
            return self.is_counter(v, depth);
        };
        let operands = op.operand_values();
        match op.full_name() {
            "arith.index_castui" | "arith.extui" | "memref.dim" | "tile.block_id" | "tile.grid_dim" => true,
            "arith.muli" | "arith.addi" | "arith.minsi" | "arith.divsi" | "arith.remsi" | "arith.index_cast"
            | "arith.ceildivui" => operands.iter().all(|o| self.is_nonnegative(*o, depth)),
            // No larger than what is divided or shifted, taken without signs.
            "arith.divui" | "arith.shrui" => self.is_nonnegative(operands[0], depth),
            // No larger than either, taken without signs.
            "arith.maxsi" | "arith.remui" | "arith.minui" | "arith.andi" => {
                operands.iter().any(|o| self.is_nonnegative(*o, depth))
            }
            _ => false,
        }
    }
    /// Whether a value counts a loop up from a number that is not negative.
    fn is_counter(&mut self, v: Value<'_, '_>, depth: usize) -> bool {
        let Some((op, 0)) = v.argument_of() else { return false };
        let first = op.operand_values().first().copied();
        op.full_name() == "scf.for" && first.is_some_and(|first| self.is_nonnegative(first, depth))
    }
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
