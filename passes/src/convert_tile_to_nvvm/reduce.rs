//! Reductions: within a thread, then between the lanes of a warp, then between warps through scratch.
use super::{
    Matched,
    distributed::shuffle_xor,
    group, lower, refuse,
    route::{Route, once},
    sync::meet,
};
use crate::between_warps::{Parts, scratch_starts};
use girih_core::layout::LayoutError;
use girih_dialects::{
    nvvm::{Emit, V},
    tile::{
        distribution::Distribution,
        ops::reduce::{Reduce, Yield},
        verify::element_bits,
    },
};
use girih_ir::{
    conversion::{Conversion, ConversionRewriter, Operands},
    ext::{BlockExt, block},
    op::OpView,
    prelude::*,
};

/// Applies a combiner to numbers: its ops are put here again, on these.
pub struct Combiner<'c> {
    block: BlockRef<'c, 'c>,
}

impl<'c> Combiner<'c> {
    /// The combiner of a region; `None` for one without a block.
    pub fn new(region: RegionRef<'c, 'c>) -> Option<Self> {
        region.entry().map(|block| Combiner { block })
    }
    /// What two elements, each of one number for each tile, become.
    pub fn apply(&self, e: &Emit<'c, '_>, a: &[V<'c>], b: &[V<'c>]) -> Vec<V<'c>> {
        let mut known: Vec<(V, V)> = self
            .block
            .argument_values()
            .into_iter()
            .zip(a.iter().chain(b).copied())
            .collect();
        for op in self.block.op_list() {
            if op.is::<Yield>() {
                return op.operand_values().iter().map(|v| renamed(&known, *v)).collect();
            }
            put(e, op, &mut known);
        }
        vec![]
    }
    /// Combines a list in pairs of neighbours, so that chains stay short.
    pub(super) fn fold(&self, e: &Emit<'c, '_>, mut list: Vec<Vec<V<'c>>>) -> Vec<V<'c>> {
        while list.len() > 1 {
            list = list
                .chunks(2)
                .map(|pair| match pair {
                    [a, b] => self.apply(e, a, b),
                    _ => pair[0].clone(),
                })
                .collect();
        }
        list.pop().unwrap_or_default()
    }
}

/// What stands for a value of a combiner; the value itself where it is from outside.
fn renamed<'c>(known: &[(V<'c>, V<'c>)], v: V<'c>) -> V<'c> {
    known.iter().find(|(old, _)| *old == v).map_or(v, |(_, new)| *new)
}

/// Puts an op of a combiner here, with its regions.
fn put<'c>(e: &Emit<'c, '_>, op: OperationRef<'c, 'c>, known: &mut Vec<(V<'c>, V<'c>)>) {
    let operands: Vec<V> = op.operand_values().into_iter().map(|v| renamed(known, v)).collect();
    let attributes: Vec<(String, Attribute)> = op
        .attributes()
        .map(|(name, a)| (name.as_string_ref().as_str().unwrap_or("").to_owned(), a))
        .collect();
    let attributes: Vec<(&str, Attribute)> = attributes.iter().map(|(n, a)| (n.as_str(), *a)).collect();
    let regions: Vec<RegionRef> = (0..op.region_count()).map(|i| op.region_at(i)).collect();
    let empty = regions.iter().map(|from| {
        let region = Region::new();
        for old in from.block_list() {
            let types: Vec<Type> = old.argument_values().iter().map(|a| a.r#type()).collect();
            region.append_block(block(&types, e.loc()));
        }
        region
    });
    let new = e.op_with_regions(
        op.full_name(),
        &operands,
        &op.result_types(),
        &attributes,
        empty.collect(),
    );
    for (i, from) in regions.iter().enumerate() {
        for (old, inside) in from.block_list().into_iter().zip(new.region_at(i).block_list()) {
            known.extend(old.argument_values().into_iter().zip(inside.argument_values()));
            e.inside(new, inside, |e| {
                for inner in old.op_list() {
                    put(&e, inner, known);
                }
            });
        }
    }
    known.extend(op.result_values().into_iter().zip(new.result_values()));
}

/// Bits of a thread's number that run along `axis`; an error text where one also runs along another.
fn bits_along(d: &Distribution, axis: usize) -> Result<Vec<usize>, String> {
    let mut found = vec![];
    for (bit, image) in d.threads.iter().enumerate().filter(|(_, image)| image[axis] != 0) {
        if image.iter().enumerate().any(|(a, i)| a != axis && *i != 0) || d.copy_bits() >> bit & 1 == 1 {
            return Err(format!(
                "bit {bit} of the thread's number runs along more than axis {axis}; convert the tile to a #tile.blocked layout first"
            ));
        }
        found.push(bit);
    }
    Ok(found)
}

/// Whether tiles that are dealt out so can be reduced along an axis; an error text where not.
pub fn reduces(d: &Distribution, axis: usize) -> Result<(), String> {
    bits_along(d, axis).map(drop)
}

/// Lets all threads know what each warp has of each element: `own` has a number of each source for each register of who has
/// the parts. Gives the parts of each element that a thread reads.
pub(super) fn tell_all<'c>(
    e: &Emit<'c, '_>,
    op: OperationRef<'c, '_>,
    parts: &Parts,
    sources: &[Value<'c, 'c>],
    own: &[Vec<V<'c>>],
    scratch: V<'c>,
) -> Result<Vec<Vec<Vec<V<'c>>>>, LayoutError> {
    let starts = scratch_starts(parts, sources);
    let mut ways = vec![];
    for (source, start) in sources.iter().zip(starts) {
        let bytes = element_bits(source.r#type()).unwrap_or(8) / 8;
        let offsets = parts.trip(bytes)?.offsets;
        let of = |d| Route::new(e, d, &offsets, bytes).ok_or(LayoutError::Incomplete);
        let element = source.r#type().element_type().ok_or(LayoutError::Incomplete)?;
        ways.push((of(&parts.from)?, of(&parts.to)?, start, element));
    }
    once(e, &parts.from, |e| {
        for (i, (out, _, start, _)) in ways.iter().enumerate() {
            let values: Vec<V> = own.iter().map(|of_all| of_all[i]).collect();
            out.store(e, &values, scratch, *start);
        }
    });
    meet(e, op);
    let read: Vec<Vec<V>> = ways
        .iter()
        .map(|(_, back, start, t)| back.load(e, *t, scratch, *start))
        .collect();
    let of_register = |r: usize| read.iter().map(|of_source| of_source[r]).collect();
    let registers: Vec<usize> = (0..parts.to.registers.len()).collect();
    Ok(registers
        .chunks(parts.count)
        .map(|of_element| of_element.iter().map(|r| of_register(*r)).collect())
        .collect())
}

fn reduce<'c>(op: Reduce<'c, 'c>, operands: &Operands<'c, '_>, rewriter: &ConversionRewriter<'c>) -> Matched {
    let axis = op.axis() as usize;
    let sources = op.sources();
    let (Some(d), Some(result)) = (
        sources.first().and_then(|s| Distribution::of(s.r#type())),
        op.results().first().and_then(|r| Distribution::of(r.r#type())),
    ) else {
        return Err(rewriter.no_match(op.op(), "no layout"));
    };
    let Some(combiner) = Combiner::new(op.combiner()) else {
        return refuse(op.op(), "has no combiner");
    };
    let bits = match bits_along(&d, axis) {
        Ok(bits) => bits,
        Err(why) => return refuse(op.op(), why),
    };
    let e = Emit::new(rewriter, op.op().location());
    let values: Vec<&[V]> = (0..sources.len()).map(|i| operands.get(i)).collect();

    // Within the thread.
    let mut sums: Vec<Vec<V>> = vec![];
    for place in &result.registers {
        let parts: Vec<Vec<V>> = (0..d.registers.len())
            .filter(|r| {
                let mut at = d.registers[*r].clone();
                at.remove(axis);
                at == *place
            })
            .map(|r| values.iter().map(|v| v[r]).collect())
            .collect();
        if parts.is_empty() {
            return refuse(
                op.op(),
                "has a result whose layout is not the source's without the axis; run tile-assign-layouts",
            );
        }
        sums.push(combiner.fold(&e, parts));
    }
    // Within the warp. All elements take a step before any takes the next, so that shuffles overlap.
    for bit in bits.iter().filter(|b| **b < 5) {
        let other: Vec<Vec<V>> = sums
            .iter()
            .map(|s| s.iter().map(|v| shuffle_xor(&e, *v, 1 << bit)).collect())
            .collect();
        sums = sums.iter().zip(&other).map(|(a, b)| combiner.apply(&e, a, b)).collect();
    }
    // Between warps.
    if let Some(parts) = Parts::of_reduction(&d, &result, axis) {
        let scratch = group(op.op(), Reduce::DEF, operands, "scratch");
        let Some(scratch) = scratch.first().copied() else {
            return refuse(
                op.op(),
                "needs scratch to go between warps; run tile-allocate-scratch first",
            );
        };
        let read = match tell_all(&e, op.op(), &parts, &sources, &sums, scratch) {
            Ok(read) => read,
            Err(error) => return refuse(op.op(), format!("cannot go between warps: {error}")),
        };
        sums = read.into_iter().map(|parts| combiner.fold(&e, parts)).collect();
    }
    let results: Vec<Vec<V>> = (0..sources.len())
        .map(|i| sums.iter().map(|s| s[i]).collect())
        .collect();
    rewriter.replace_multiple(op.op(), &results);
    Ok(())
}

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, Reduce, |op, operands, rewriter| reduce(op, operands, rewriter));
}
