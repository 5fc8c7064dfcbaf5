//! What is known of an index before the kernel runs.
use crate::global_views::Cut;
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
    known_range(v).least >= 0
}

/// The numbers that an index is known to be one of: what the attributes of arguments, loops, and sizes say.
pub fn known_range(v: Value<'_, '_>) -> Range {
    Ranges::default().of(v, 0)
}

/// Integers from `least` to `most`, both included. `i64::MIN` and `i64::MAX` are where nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The smallest.
    pub least: i64,
    /// The largest.
    pub most: i64,
}

impl Range {
    const ALL: Range = Range::new(i64::MIN, i64::MAX);
    /// Blocks along x; there are fewer along y and z.
    const BLOCKS: Range = Range::new(0, i32::MAX as i64);

    const fn new(least: i64, most: i64) -> Self {
        Range { least, most }
    }
    fn from_zero(most: i64) -> Self {
        Range::new(0, most.max(0))
    }
    fn is_nonnegative(self) -> bool {
        self.least >= 0
    }
    /// The signed integers of a type.
    fn of_type(t: Type<'_>) -> Self {
        match t.bit_width() {
            Some(bits @ 1..=63) => Range::new(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            _ => Range::ALL,
        }
    }
    /// What either may be.
    fn or(self, other: Self) -> Self {
        Range::new(self.least.min(other.least), self.most.max(other.most))
    }
    /// What numbers by `op` from these two may be, as if there were room for all.
    fn each(self, other: Self, op: fn(i128, i128) -> i128) -> Self {
        let ends = |r: Self| [i128::from(r.least), i128::from(r.most)];
        let all = ends(self).into_iter().flat_map(|a| ends(other).map(|b| op(a, b)));
        let (least, most) = all.fold((i128::MAX, i128::MIN), |(l, m), n| (l.min(n), m.max(n)));
        let clamp = |n: i128| n.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        Range::new(clamp(least), clamp(most))
    }
}

/// What values may be, each looked for once.
#[derive(Default)]
struct Ranges(BTreeMap<usize, Range>);

impl Ranges {
    fn of(&mut self, v: Value<'_, '_>, depth: usize) -> Range {
        if let Some(c) = v.constant_int() {
            return Range::new(c, c);
        }
        if let Some(found) = self.0.get(&key(v)) {
            return *found;
        }
        let found = if depth < DEEPEST {
            self.look(v, depth + 1)
        } else {
            Range::ALL
        };
        // Integers of fewer bits than an index wrap.
        let room = Range::of_type(v.r#type());
        let fits = found.least >= room.least && found.most <= room.most;
        let found = if fits { found } else { room };
        self.0.insert(key(v), found);
        found
    }
    fn look(&mut self, v: Value<'_, '_>, depth: usize) -> Range {
        let Some(op) = v.defining_op() else {
            return self.of_argument(v, depth);
        };
        let operands = op.operand_values();
        let mut of = |i: usize| self.of(operands[i], depth);
        match op.full_name() {
            "arith.addi" => of(0).each(of(1), |a, b| a + b),
            "arith.subi" => of(0).each(of(1), |a, b| a - b),
            "arith.muli" => of(0).each(of(1), |a, b| a * b),
            "arith.minsi" => of(0).each(of(1), i128::min),
            "arith.maxsi" => of(0).each(of(1), i128::max),
            "arith.select" => of(1).or(of(2)),
            "arith.index_cast" | "arith.extsi" => of(0),
            "arith.index_castui" | "arith.extui" => match (of(0), operands[0].r#type().bit_width()) {
                (from, _) if from.is_nonnegative() => from,
                (_, Some(bits @ 1..=62)) => Range::from_zero((1 << bits) - 1),
                _ => Range::ALL,
            },
            "arith.divsi" | "arith.divui" | "arith.shrui" | "arith.shrsi" => match (op.full_name(), of(0), of(1)) {
                // No larger than what is divided or shifted: by a number of at least 1, by so much.
                ("arith.divsi" | "arith.divui", a, b) if a.is_nonnegative() && b.least >= 1 => {
                    Range::new(a.least / b.most, a.most / b.least)
                }
                ("arith.divsi", a, b) if !(a.is_nonnegative() && b.is_nonnegative()) => Range::ALL,
                (_, a, _) if a.is_nonnegative() => Range::from_zero(a.most),
                _ => Range::ALL,
            },
            "arith.ceildivsi" | "arith.ceildivui" => match (of(0), of(1)) {
                (a, b) if a.is_nonnegative() && b.least >= 1 => a.each(b, |a, b| (a + b - 1) / b),
                (a, b) if a.is_nonnegative() && b.is_nonnegative() => Range::from_zero(a.most),
                _ => Range::ALL,
            },
            "arith.remsi" => match (of(0), of(1)) {
                (a, b) if a.is_nonnegative() && b.is_nonnegative() => Range::from_zero(a.most.min(b.most - 1)),
                _ => Range::ALL,
            },
            // No larger than either, taken without signs.
            "arith.remui" => self.least_unsigned(operands[0], operands[1], 1, depth),
            "arith.minui" | "arith.andi" => self.least_unsigned(operands[0], operands[1], 0, depth),
            "memref.dim" => match size_of(operands[0], operands[1]) {
                Some(size) => Range::new(size, size),
                None => Range::from_zero(i64::MAX),
            },
            "tile.block_id" | "tile.grid_dim" => Range::BLOCKS,
            _ => Range::ALL,
        }
    }
    /// What is no larger than `a`, and than `b` without `less`, taken without signs.
    fn least_unsigned(&mut self, a: Value<'_, '_>, b: Value<'_, '_>, less: i64, depth: usize) -> Range {
        match (self.of(a, depth), self.of(b, depth)) {
            (a, b) if a.is_nonnegative() && b.is_nonnegative() => Range::from_zero(a.most.min(b.most - less)),
            (a, _) if a.is_nonnegative() => Range::from_zero(a.most),
            (_, b) if b.is_nonnegative() => Range::from_zero(b.most - less),
            _ => Range::ALL,
        }
    }
    /// A loop's counter, or a number that a kernel is given.
    fn of_argument(&mut self, v: Value<'_, '_>, depth: usize) -> Range {
        match v.argument_of() {
            Some((op, 0)) if op.full_name() == "scf.for" => {
                let [first, end, step] = op.operand_values()[..3] else {
                    return Range::ALL;
                };
                let [first, end, step] = [first, end, step].map(|bound| self.of(bound, depth));
                let most = end.most.saturating_sub(1);
                // The last pass, where all is constant.
                let last = match (
                    first.least == first.most,
                    end.least == end.most,
                    step.least == step.most,
                ) {
                    (true, true, true) if step.least > 0 && most >= first.least => {
                        most - most.saturating_sub(first.least) % step.least
                    }
                    _ => most,
                };
                Range::new(first.least, last)
            }
            Some((op, i)) if op.is::<Kernel>() => match Facts::of(op, i).range {
                Some([least, most]) => Range::new(least, most),
                None => Range::ALL,
            },
            _ => Range::ALL,
        }
    }
}

/// A memref's size along a dimension, where its type says it.
fn size_of(memref: Value<'_, '_>, dim: Value<'_, '_>) -> Option<i64> {
    let dim = usize::try_from(dim.constant_int()?).ok()?;
    let size = *memref.r#type().shape()?.get(dim)?;
    (size != DYNAMIC).then_some(size)
}

/// Whether rows of a memref along `axis` are known to start at multiples of `by` elements, as `tile.is_aligned` asks at run
/// time, and with `ends` to end at them.
pub fn rows_are_aligned<'c>(memref: Value<'c, 'c>, axis: usize, by: i64, ends: bool) -> bool {
    let Some(cut) = Cut::whole(memref) else {
        return false;
    };
    let (memref, Some(&axis)) = (cut.memory, cut.axes.get(axis)) else {
        return false;
    };
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
