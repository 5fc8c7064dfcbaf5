//! How many neighbours of a tile along an axis are known to be one value.
//!
//! ```text
//! tile.splat %n, tile.iota along another axis      all
//! tile.broadcast along the axis                    all
//! tile.iota < 96                                   32: between multiples of 32 the answer is one
//! a and b                                          as many as both
//! loaded                                           1
//! ```
//!
//! Neighbours are counted in aligned blocks of a power of two.
use crate::known::known_multiple;
use girih_dialects::tile::ops::{
    shape::{Broadcast, ExpandDims, Transpose},
    value::{ConvertLayout, Iota, Opaque, Splat},
};
use girih_ir::{
    kind::{I64, Kind},
    mlir_sys::*,
    op::Trait,
    prelude::*,
};
use std::collections::BTreeMap;

type V<'c> = Value<'c, 'c>;

/// Ops between a tile and what it is made of that are looked through. What lies deeper is not known.
const DEEPEST: usize = 64;
/// As many bits as anyone asks for.
const MOST: u32 = 30;

/// The largest power of two so that `tile` is one value in every aligned block of so many elements along `axis`.
pub fn uniform_run(tile: V<'_>, axis: usize) -> i64 {
    1 << Runs::default().run(tile, axis, 0)
}

/// Powers of two, as bits.
#[derive(Default)]
struct Runs {
    runs: BTreeMap<(usize, usize), u32>,
    counts: BTreeMap<(usize, usize), u32>,
}

fn key(v: V<'_>) -> usize {
    v.to_raw().ptr as usize
}

impl Runs {
    /// Bits of the blocks in which a tile is one value.
    fn run(&mut self, v: V<'_>, axis: usize, depth: usize) -> u32 {
        if let Some(found) = self.runs.get(&(key(v), axis)) {
            return *found;
        }
        let found = match v.defining_op() {
            Some(op) if depth < DEEPEST => self.run_of(op, axis, depth + 1),
            _ => 0,
        };
        self.runs.insert((key(v), axis), found);
        found
    }

    fn run_of(&mut self, op: OperationRef<'_, '_>, axis: usize, depth: usize) -> u32 {
        let operands = op.operand_values();
        if op.is::<Splat>() || splat(op).is_some() {
            return MOST;
        }
        if let Some(iota) = op.cast::<Iota>() {
            return if iota.axis() == axis as i64 { 0 } else { MOST };
        }
        if let Some((source, from)) = seen_through(op, axis) {
            return from.map_or(MOST, |from| self.run(source, from, depth));
        }
        if !op.has_trait(Trait::Elementwise) {
            return 0;
        }
        let tiles = operands.iter().filter(|v| v.r#type().is_ranked_tensor_type());
        let own = tiles.map(|v| self.run(*v, axis, depth)).min().unwrap_or(0);
        match compared(op) {
            Some((counted, bound, past)) => own.max(self.compares(counted, bound, past, axis, depth)),
            None => own,
        }
    }

    /// Bits of the blocks in which `counted < bound`, or `counted <= bound` with `past`, has one answer.
    fn compares(&mut self, counted: V<'_>, bound: V<'_>, past: bool, axis: usize, depth: usize) -> u32 {
        let first = match past {
            // Past a number is from the next one on.
            true => match bound.defining_op().and_then(splat).and_then(whole_number) {
                Some(n) => n.wrapping_add(1).trailing_zeros(),
                None => 0,
            },
            false => multiple(bound, depth),
        };
        let bound = first.min(self.run(bound, axis, depth));
        self.count(counted, axis, depth).min(bound)
    }

    /// Bits of the blocks in which a tile of integers counts up by one, from a multiple of their size.
    fn count(&mut self, v: V<'_>, axis: usize, depth: usize) -> u32 {
        if let Some(found) = self.counts.get(&(key(v), axis)) {
            return *found;
        }
        let found = match v.defining_op() {
            Some(op) if depth < DEEPEST => self.count_of(op, axis, depth + 1),
            _ => 0,
        };
        self.counts.insert((key(v), axis), found);
        found
    }

    fn count_of(&mut self, op: OperationRef<'_, '_>, axis: usize, depth: usize) -> u32 {
        let operands = op.operand_values();
        if let Some(iota) = op.cast::<Iota>() {
            // Numbers with a sign change it once, in the middle.
            let width = op
                .result0()
                .r#type()
                .element_type()
                .and_then(|e| e.bit_width())
                .unwrap_or(MOST);
            return if iota.axis() == axis as i64 {
                MOST.min(width - 1)
            } else {
                0
            };
        }
        if let Some((source, from)) = seen_through(op, axis) {
            return from.map_or(0, |from| self.count(source, from, depth));
        }
        match (op.full_name(), &operands[..]) {
            ("arith.addi", [a, b]) => {
                let mut way = |counts: V<'_>, start: V<'_>| {
                    let start = multiple(start, depth).min(self.run(start, axis, depth));
                    self.count(counts, axis, depth).min(start)
                };
                way(*a, *b).max(way(*b, *a))
            }
            ("arith.subi", [a, b]) => {
                let start = multiple(*b, depth).min(self.run(*b, axis, depth));
                self.count(*a, axis, depth).min(start)
            }
            ("arith.extsi" | "arith.extui" | "arith.trunci" | "arith.index_cast" | "arith.index_castui", [a]) => {
                // No block ends where the narrower type does.
                let width = |v: V<'_>| v.r#type().element_type().and_then(|e| e.bit_width()).unwrap_or(MOST);
                let narrow = width(*a).min(width(op.result0()));
                self.count(*a, axis, depth).min(narrow.saturating_sub(1))
            }
            _ => 0,
        }
    }
}

/// The tile that an op gives in another form, and the axis there; no axis where the op repeats along it.
pub(crate) fn seen_through<'c>(op: OperationRef<'c, 'c>, axis: usize) -> Option<(V<'c>, Option<usize>)> {
    let source = op.operand_values().first().copied()?;
    if op.is::<ConvertLayout>() || op.is::<Opaque>() {
        return Some((source, Some(axis)));
    }
    if op.is::<Broadcast>() {
        let repeats = source.r#type().shape()?.get(axis) != op.result0().r#type().shape()?.get(axis);
        return Some((source, (!repeats).then_some(axis)));
    }
    if let Some(expand) = op.cast::<ExpandDims>() {
        let new = usize::try_from(expand.axis()).ok()?;
        let from = match axis.cmp(&new) {
            std::cmp::Ordering::Less => Some(axis),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => Some(axis - 1),
        };
        return Some((source, from));
    }
    let transpose = op.cast::<Transpose>()?;
    let from = usize::try_from(*transpose.order().get(axis)?).ok()?;
    Some((source, Some(from)))
}

/// What an `arith.cmpi` asks, as `first < second`, or with the flag `first <= second`; or the opposite of that.
fn compared<'c>(op: OperationRef<'c, 'c>) -> Option<(V<'c>, V<'c>, bool)> {
    if op.full_name() != "arith.cmpi" {
        return None;
    }
    let [a, b] = op.operand_values()[..] else { return None };
    let counts = |v: V<'c>| {
        v.defining_op()
            .is_none_or(|by| splat(by).is_none() && !by.is::<Splat>())
    };
    match (op.attr("predicate").and_then(I64::from_attribute)?, counts(a)) {
        // slt, sge, ult, uge: below a bound or not.
        (2 | 5 | 6 | 9, true) => Some((a, b, false)),
        // sle, sgt, ule, ugt: up to a bound or past it.
        (3 | 4 | 7 | 8, true) => Some((a, b, true)),
        // The bound on the left.
        (3 | 4 | 7 | 8, false) => Some((b, a, false)),
        (2 | 5 | 6 | 9, false) => Some((b, a, true)),
        _ => None,
    }
}

/// The one number of a constant tile.
pub(crate) fn splat<'c>(op: OperationRef<'c, '_>) -> Option<Attribute<'c>> {
    let value = op.attr("value").filter(|_| op.full_name() == "arith.constant")?;
    // SAFETY: only a splat is asked for its value.
    unsafe {
        (mlirAttributeIsADenseElements(value.to_raw()) && mlirDenseElementsAttrIsSplat(value.to_raw()))
            .then(|| Attribute::from_raw(mlirDenseElementsAttrGetSplatValue(value.to_raw())))
    }
}

pub(crate) fn whole_number(a: Attribute<'_>) -> Option<i64> {
    // SAFETY: only an integer is asked for its value.
    unsafe { mlirAttributeIsAInteger(a.to_raw()).then(|| mlirIntegerAttrGetValueInt(a.to_raw())) }
}

/// Bits of the power of two that all elements of a tile are known to be multiples of.
fn multiple(v: V<'_>, depth: usize) -> u32 {
    let Some(op) = v.defining_op().filter(|_| depth < DEEPEST) else {
        return 0;
    };
    if let Some(n) = splat(op) {
        return whole_number(n).map_or(0, |n| n.trailing_zeros().min(MOST));
    }
    let operands = op.operand_values();
    if op.is::<Splat>() {
        return known_multiple(operands[0]).trailing_zeros();
    }
    let of = |v: &V<'_>| multiple(*v, depth + 1);
    match op.full_name() {
        "arith.muli" => operands.iter().map(of).sum::<u32>().min(MOST),
        "arith.addi" | "arith.subi" => operands.iter().map(of).min().unwrap_or(0),
        "arith.extsi" | "arith.extui" | "arith.index_cast" | "arith.index_castui" => of(&operands[0]),
        _ if op.is::<ConvertLayout>() || op.is::<Broadcast>() || op.is::<ExpandDims>() => of(&operands[0]),
        _ => 0,
    }
}
