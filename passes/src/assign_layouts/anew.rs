//! What a tile costs in another layout: converted, or made anew there of what it is made of.
//!
//! Costs are instructions that a warp issues. An op on single elements takes one for each element that a thread holds, a
//! division or a function of `math` [`FUNCTION`]; a count along an axis one for each number; broadcasts and transpositions only
//! name registers. A shuffle and a wavefront of shared memory count as [`SLOTS`], what numbers of less than 32 bits take to be
//! packed comes on top, and so does the wait on the way through shared memory.
use super::{
    graph::{inverse, is_free, sliced},
    settle::{Settled, outside_loops},
};
use crate::{
    layout_conversion::{Plan, plan},
    role_tiles::MOST,
};
use girih_dialects::tile::{
    distribution::{Distribution, bitcast, is_distributed, refitted, reshaped, transposed},
    ops::{
        shape::{Bitcast, Broadcast, ExpandDims, Reshape, Transpose},
        value::Iota,
    },
    verify::{element_bits, number_bits},
};
use girih_ir::{mlir_sys::*, op::Trait, prelude::*};

use std::collections::BTreeSet;

type V<'c> = Value<'c, 'c>;

/// Instructions that the four schedulers of a multiprocessor issue while it does one shuffle, or one wavefront of shared memory.
const SLOTS: u64 = 4;
/// What it costs to wait for the block between the stores and the loads, and before the memory is written again.
const BLOCK_WAIT: u64 = 32;
/// The same among the lanes of a warp.
const WARP_WAIT: u64 = 8;
/// What a division or a function of `math` expands to.
const FUNCTION: u64 = 20;
/// Bytes of a register.
const WORD_BYTES: u64 = 4;
/// What an element of a list of constants takes to load.
const LISTED: u64 = 4;

/// The layout in which an op that is pure element by element, or only names registers, takes a tile if its result has `layout`;
/// `None` for other ops.
pub(super) fn operand_layout<'c>(op: OperationRef<'c, 'c>, v: V<'c>, layout: Attribute<'c>) -> Option<Attribute<'c>> {
    let shape = |v: V<'c>| v.r#type().shape().unwrap_or_default();
    if op.has_trait(Trait::Elementwise) {
        return Some(layout);
    }
    if let Some(expand) = op.cast::<ExpandDims>() {
        return Some(sliced(layout, expand.axis() as usize));
    }
    let (whole, part) = (shape(*op.result_values().first()?), shape(v));
    if op.is::<Broadcast>() {
        return refitted(layout, &whole, &part);
    }
    if let Some(t) = op.cast::<Transpose>() {
        return transposed(layout, &whole, &inverse(&t.order()));
    }
    if op.is::<Reshape>() {
        return reshaped(layout, &whole, &part);
    }
    op.cast::<Bitcast>().and_then(|_| bitcast(layout, &whole, &part))
}

/// Whether `v` is better made anew in `layout`, for `user`, than converted.
pub(super) fn is_better<'c>(
    settled: &Settled<'c>,
    user: OperationRef<'c, 'c>,
    v: V<'c>,
    layout: Attribute<'c>,
) -> bool {
    // Numbers are moved before they are taken apart.
    let parts = v.defining_op().and_then(|by| by.cast::<Bitcast>());
    let parts = parts.filter(|cast| number_bits(cast.source().r#type()) > number_bits(v.r#type()));
    if let Some(cast) = parts.filter(|cast| !is_free(cast.source())) {
        return operand_layout(cast.op(), cast.source(), layout).is_some();
    }
    let mut costs = Costs {
        settled,
        counted: vec![],
        left: MOST,
    };
    match conversion(v, layout) {
        Some(0) | None => false,
        Some(converted) => costs
            .anew(user, Some(user), v, layout)
            .is_some_and(|anew| anew < converted),
    }
}

/// A count of what one tile costs in another layout.
struct Costs<'s, 'c> {
    settled: &'s Settled<'c>,
    /// Tiles that are counted already, with the layouts that they are needed in.
    counted: Vec<(V<'c>, Attribute<'c>)>,
    /// How many more ops are looked at.
    left: usize,
}

impl<'c> Costs<'_, 'c> {
    /// To have `v` in `layout` before `at`, by whatever way is cheapest; `None` if there is none. `user` is the op that will take
    /// it no more as it is.
    fn cheapest(
        &mut self,
        at: OperationRef<'c, 'c>,
        user: Option<OperationRef<'c, 'c>>,
        v: V<'c>,
        layout: Attribute<'c>,
    ) -> Option<i64> {
        if v.r#type().encoding() == Some(layout) || self.counted.contains(&(v, layout)) {
            return Some(0);
        }
        if is_free(v) {
            return Some(of_leaf(v, layout)? as i64);
        }
        if !is_distributed(v.r#type()) {
            return None;
        }
        if self.settled.known(v, layout, outside_loops(at, v)).is_some() {
            return Some(0);
        }
        let converted = conversion(v, layout)?;
        let before = self.counted.len();
        let anew = (converted > 0).then(|| self.anew(at, user, v, layout)).flatten();
        let cost = match anew.filter(|anew| *anew < converted) {
            Some(anew) => anew,
            None => {
                self.counted.truncate(before);
                converted
            }
        };
        self.counted.push((v, layout));
        Some(cost)
    }

    /// To make `v` anew in `layout` before `at`; `None` where it cannot be, or of too many ops.
    fn anew(
        &mut self,
        at: OperationRef<'c, 'c>,
        user: Option<OperationRef<'c, 'c>>,
        v: V<'c>,
        layout: Attribute<'c>,
    ) -> Option<i64> {
        let by = v.defining_op().filter(|by| by.is_pure() && by.region_count() == 0)?;
        self.left = self.left.checked_sub(1)?;
        let place = outside_loops(at, v);
        // What nobody else takes need not be made as it was.
        let moves = user.is_some_and(|user| self.settled.can_move(v, user, place));
        let of = |count: u64| (count * of_element(by)) as i64;
        let mut cost = of(registers(v, layout)?);
        if moves {
            cost -= of(registers(v, v.r#type().encoding()?)?);
        }
        let mut operands: Vec<V> = by.operand_values();
        operands.retain(|o| o.r#type().is_ranked_tensor_type());
        operands.dedup();
        for operand in operands {
            let needed = operand_layout(by, operand, layout)?;
            let source = self.settled.source(operand);
            cost += self.cheapest(place, moves.then_some(by), source, needed)?;
            if moves && source != operand && !is_free(source) && operand.users().iter().all(|u| *u == by) {
                cost -= conversion(source, operand.r#type().encoding()?)?;
            }
        }
        Some(cost)
    }
}

/// What it costs to convert a tile; `None` where there is no way.
fn conversion<'c>(v: V<'c>, layout: Attribute<'c>) -> Option<i64> {
    let t = v.r#type();
    let (from, to) = (Distribution::of(t)?, Distribution::new(layout, &t.shape()?)?);
    let bytes = element_bits(t).unwrap_or(8) / 8;
    let slots = match plan(&from, &to, bytes).ok()? {
        Plan::Registers(_) => 0,
        Plan::Lanes { registers, .. } => SLOTS * registers.len() as u64,
        Plan::Shared(trip) => {
            let wait = if trip.within_warps { WARP_WAIT } else { BLOCK_WAIT };
            // Numbers that share a word are put together and taken apart.
            let apart = |d: &Distribution| {
                let n = d.registers.len() as u64;
                n - (n * bytes).div_ceil(WORD_BYTES).min(n)
            };
            SLOTS * trip.cost().0 + wait + apart(&from) + apart(&to)
        }
    };
    Some(slots as i64)
}

/// Different elements that a thread holds of a tile like `v` in `layout`.
fn registers<'c>(v: V<'c>, layout: Attribute<'c>) -> Option<u64> {
    let d = Distribution::new(layout, &v.r#type().shape()?)?;
    Some(different(d.registers.iter().map(Vec::as_slice)))
}

fn different<T: Ord>(all: impl Iterator<Item = T>) -> u64 {
    all.collect::<BTreeSet<_>>().len() as u64
}

/// Instructions for each element that an op gives.
fn of_element(op: OperationRef<'_, '_>) -> u64 {
    if !op.has_trait(Trait::Elementwise) {
        return 0;
    }
    let divides = |name: &str| {
        ["div", "rem", "ceildiv", "floordiv"]
            .iter()
            .any(|d| name.starts_with(d))
    };
    match op.full_name().split_once('.') {
        Some(("math", "absf" | "absi" | "copysign" | "fma" | "ctpop" | "ctlz" | "cttz")) => 1,
        Some(("math", _)) => FUNCTION,
        Some(("arith", name)) if divides(name) => FUNCTION,
        _ => 1,
    }
}

/// What a tile that is made anew wherever it is needed costs in `layout`.
fn of_leaf<'c>(v: V<'c>, layout: Attribute<'c>) -> Option<u64> {
    let op = v.defining_op()?;
    // SAFETY: the attribute is alive.
    let differs = |a: &Attribute| unsafe {
        mlirAttributeIsADenseElements(a.to_raw()) && !mlirDenseElementsAttrIsSplat(a.to_raw())
    };
    if op.attr("value").filter(differs).is_some() {
        return Some(LISTED * registers(v, layout)?);
    }
    let Some(iota) = op.cast::<Iota>() else { return Some(0) };
    let d = Distribution::new(layout, &v.r#type().shape()?)?;
    Some(different(d.registers.iter().map(|at| at[iota.axis() as usize])))
}
