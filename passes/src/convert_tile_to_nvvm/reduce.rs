//! Reductions: within a thread, then between the lanes of a warp, then between warps through scratch.
use super::{
    Matched,
    distributed::{Held, element_pointer, shuffle_xor},
    group, lower, refuse,
    sync::meet,
};
use crate::allocate_scratch::reduce_part_bytes;
use girih_dialects::{
    nvvm::{Cmp, Emit, V},
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
    let warp_bits: Vec<usize> = bits.iter().copied().filter(|b| *b >= 5).collect();
    if !warp_bits.is_empty() {
        let scratch = group(op.op(), Reduce::DEF, operands, "scratch");
        let Some(scratch) = scratch.first() else {
            return refuse(
                op.op(),
                "needs scratch to go between warps; run tile-allocate-scratch first",
            );
        };
        let held = Held::new(&e, &result);
        let count = 1i64 << warp_bits.len();
        let id = e.sreg("tid.x");
        // Number of the warp among those that share an element.
        let part = warp_bits.iter().enumerate().fold(e.c32(0), |n, (i, bit)| {
            e.or(n, e.shl(e.mask(e.shr(id, *bit as i64), 1), i as i64))
        });
        let axis_mask: u64 = bits.iter().filter(|b| **b >= 5).map(|b| 1 << b).sum();
        let silent = (result.copy_bits() & !axis_mask) as i64;
        let types: Vec<Type> = sources.iter().filter_map(|s| s.r#type().element_type()).collect();
        let bytes: Vec<i64> = sources
            .iter()
            .map(|s| element_bits(s.r#type()).unwrap_or(8) as i64 / 8)
            .collect();
        let mut start = 0;
        let mut starts = vec![];
        for s in &sources {
            starts.push(start);
            start += reduce_part_bytes(s.r#type(), axis) as i64;
        }
        let store = |e: &Emit<'c, '_>| {
            for (j, sum) in sums.iter().enumerate() {
                for (i, v) in sum.iter().enumerate() {
                    let element = held.offset(e, j);
                    let slot = e.add(e.mul(element, e.c32(count)), part);
                    let pointer = element_pointer(e, *scratch, slot, bytes[i], starts[i]);
                    e.store(&[*v], pointer, bytes[i] as u64);
                }
            }
        };
        if silent == 0 {
            store(&e);
        } else {
            let speaks = e.cmp(Cmp::Eq, e.mask(id, silent), e.c32(0));
            e.if_then(speaks, |e| store(&e));
        }
        meet(&e, op.op());
        sums = (0..sums.len())
            .map(|j| {
                let element = held.offset(&e, j);
                let parts: Vec<Vec<V>> = (0..sources.len())
                    .map(|i| {
                        let run = (16 / bytes[i]).min(count);
                        let first = e.mul(element, e.c32(count));
                        (0..count)
                            .step_by(run as usize)
                            .flat_map(|k| {
                                let pointer = element_pointer(&e, *scratch, first, bytes[i], starts[i] + k * bytes[i]);
                                e.load_many(pointer, run as usize, types[i], (run * bytes[i]) as u64)
                            })
                            .collect()
                    })
                    .collect();
                let list = (0..count as usize)
                    .map(|k| parts.iter().map(|p| p[k]).collect())
                    .collect();
                combiner.fold(&e, list)
            })
            .collect();
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
