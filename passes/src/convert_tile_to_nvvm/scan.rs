//! Scans, bit by bit of the coordinate along the axis.
//!
//! After the bits below `i`, an element knows its prefix within the aligned block of 2^i elements that it is in, and the
//! block's total. Bit `i` joins two blocks: elements of the upper one put the lower one's total before their prefix. Where
//! the bit is one of the register's number that total is at hand; where it is one of the lane's, a shuffle brings it; bits of
//! the warp's number are joined all at once, through scratch.
use super::{
    Matched,
    distributed::{shuffle_xor, thread_part},
    group, lower,
    reduce::{Combiner, tell_all},
    refuse,
};
use crate::between_warps::Parts;
use girih_core::layout::Dim;
use girih_dialects::{
    nvvm::{Cmp, Emit, V},
    tile::{distribution::Distribution, ops::scan::Scan},
};
use girih_ir::{
    conversion::{Conversion, ConversionRewriter, Operands},
    op::OpView,
    prelude::*,
};

/// Which input's bit gives a bit of the coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Register(usize),
    /// A bit of the thread's number.
    Thread(usize),
}

/// For each bit of the coordinate along `axis`, from the lowest, what gives it; an error text where something gives more
/// than one bit.
fn sources(d: &Distribution, axis: usize) -> Result<Vec<Source>, String> {
    let bits = d.shape[axis].ilog2();
    let register_bits = d.linear.input_bits(Dim::Register) as usize;
    let registers = (0..register_bits).map(|b| (Source::Register(b), &d.registers[1 << b]));
    let threads = d
        .threads
        .iter()
        .enumerate()
        .map(|(b, image)| (Source::Thread(b), image));
    let mut found = vec![None; bits as usize];
    for (source, image) in registers.chain(threads).filter(|(_, image)| image[axis] != 0) {
        let alone = image.iter().enumerate().all(|(a, v)| a == axis || *v == 0);
        let place = image[axis].trailing_zeros() as usize;
        if !alone || !image[axis].is_power_of_two() || found[place].replace(source).is_some() {
            return Err(format!(
                "coordinate bits of axis {axis} are mixed in this layout; convert the tile to a #tile.blocked layout first"
            ));
        }
    }
    if (0..d.shape.len()).any(|a| !d.is_disjoint(a)) {
        return Err(
            "registers and threads share coordinate bits; convert the tile to a #tile.blocked layout first".into(),
        );
    }
    let found: Vec<Source> = found
        .into_iter()
        .collect::<Option<_>>()
        .ok_or_else(|| format!("the layout does not give every coordinate of axis {axis}"))?;
    let is_warp = |s: &Source| matches!(s, Source::Thread(b) if *b >= 5);
    let turns = found
        .chunk_by(|a, b| is_warp(a) == is_warp(b))
        .filter(|part| is_warp(&part[0]))
        .count();
    if turns > 1 {
        return Err(TURNS.into());
    }
    Ok(found)
}

/// What a layout is told in which warps take turns along the axis more than once.
const TURNS: &str = "warps take turns along the axis more than once; convert the tile to a #tile.blocked layout first";

/// Whether tiles that are dealt out so can be scanned along an axis; an error text where not.
pub fn scans(d: &Distribution, axis: usize) -> Result<(), String> {
    sources(d, axis).map(drop)
}

/// What each register holds while the scan goes on: a number of each tile.
struct Blocks<'c> {
    prefix: Vec<Vec<V<'c>>>,
    total: Vec<Vec<V<'c>>>,
}

/// Values that have been combined, so that registers of one block share what they compute.
struct Memory<'c> {
    pairs: Vec<(Vec<V<'c>>, Vec<V<'c>>, Vec<V<'c>>)>,
}

impl<'c> Memory<'c> {
    fn combine(&mut self, e: &Emit<'c, '_>, f: &Combiner<'c>, a: &[V<'c>], b: &[V<'c>]) -> Vec<V<'c>> {
        if let Some((.., known)) = self.pairs.iter().find(|(x, y, _)| x == a && y == b) {
            return known.clone();
        }
        let new = f.apply(e, a, b);
        self.pairs.push((a.to_vec(), b.to_vec(), new.clone()));
        new
    }
}

fn select<'c>(e: &Emit<'c, '_>, condition: V<'c>, yes: &[V<'c>], no: &[V<'c>]) -> Vec<V<'c>> {
    yes.iter()
        .zip(no)
        .map(|(y, n)| e.value("arith.select", &[condition, *y, *n], y.r#type(), &[]))
        .collect()
}

/// Bits of the coordinate along `axis` below those that warps give, and how many these are; `None` where warps give none.
pub fn warp_blocks(d: &Distribution, axis: usize) -> Option<(usize, usize)> {
    let bits = sources(d, axis).ok()?;
    let is_warp = |s: &Source| matches!(s, Source::Thread(b) if *b >= 5);
    let low = bits.iter().position(is_warp)?;
    Some((low, bits[low..].iter().take_while(|s| is_warp(s)).count()))
}

fn scan<'c>(op: Scan<'c, 'c>, operands: &Operands<'c, '_>, rewriter: &ConversionRewriter<'c>) -> Matched {
    let axis = op.axis() as usize;
    let tiles = op.sources();
    let Some(d) = tiles.first().and_then(|s| Distribution::of(s.r#type())) else {
        return Err(rewriter.no_match(op.op(), "no layout"));
    };
    let Some(f) = Combiner::new(op.combiner()) else {
        return refuse(op.op(), "has no combiner");
    };
    let bits = match sources(&d, axis) {
        Ok(bits) => bits,
        Err(why) => return refuse(op.op(), why),
    };
    let e = Emit::new(rewriter, op.op().location());
    let n = d.registers.len();
    let start: Vec<Vec<V>> = (0..n)
        .map(|r| (0..tiles.len()).map(|t| operands.get(t)[r]).collect())
        .collect();
    let mut blocks = Blocks {
        prefix: start.clone(),
        total: start,
    };
    let id = e.sreg("tid.x");
    let mut i = 0;
    while i < bits.len() {
        let mut memory = Memory { pairs: vec![] };
        match bits[i] {
            Source::Register(bit) => {
                for r in (0..n).filter(|r| r >> bit & 1 == 0) {
                    let upper = r | 1 << bit;
                    let (low, high) = (blocks.total[r].clone(), blocks.total[upper].clone());
                    blocks.prefix[upper] = memory.combine(&e, &f, &low, &blocks.prefix[upper]);
                    let both = memory.combine(&e, &f, &low, &high);
                    blocks.total[r] = both.clone();
                    blocks.total[upper] = both;
                }
                i += 1;
            }
            Source::Thread(bit) if bit < 5 => {
                let is_upper = e.cmp(Cmp::Ne, e.mask(id, 1 << bit), e.c32(0));
                let mut seen: Vec<(Vec<V>, Vec<V>, Vec<V>)> = vec![];
                for r in 0..n {
                    let own = blocks.total[r].clone();
                    let (other, both) = match seen.iter().find(|(total, ..)| *total == own) {
                        Some((_, other, both)) => (other.clone(), both.clone()),
                        None => {
                            let other: Vec<V> = own.iter().map(|v| shuffle_xor(&e, *v, 1 << bit)).collect();
                            let (low, high) = (select(&e, is_upper, &other, &own), select(&e, is_upper, &own, &other));
                            let both = f.apply(&e, &low, &high);
                            seen.push((own, other.clone(), both.clone()));
                            (other, both)
                        }
                    };
                    let joined = f.apply(&e, &other, &blocks.prefix[r]);
                    blocks.prefix[r] = select(&e, is_upper, &joined, &blocks.prefix[r]);
                    blocks.total[r] = both;
                }
                i += 1;
            }
            Source::Thread(_) => {
                let width = match warp_blocks(&d, axis) {
                    Some((low, width)) if low == i => width,
                    _ => return refuse(op.op(), TURNS),
                };
                if let Err(refusal) = join_warps(&e, op, operands, &d, &f, (i, width), &mut blocks) {
                    return refuse(op.op(), refusal);
                }
                i += width;
            }
        }
    }
    let results: Vec<Vec<V>> = (0..tiles.len())
        .map(|t| blocks.prefix.iter().map(|p| p[t]).collect())
        .collect();
    rewriter.replace_multiple(op.op(), &results);
    Ok(())
}

/// Joins the blocks of 2^`low` elements of 2^`width` warps along the axis: each warp's total is told to all, and every thread
/// combines those before its own.
fn join_warps<'c>(
    e: &Emit<'c, '_>,
    op: Scan<'c, 'c>,
    operands: &Operands<'c, '_>,
    d: &Distribution,
    f: &Combiner<'c>,
    (low, width): (usize, usize),
    blocks: &mut Blocks<'c>,
) -> Result<(), String> {
    let scratch = group(op.op(), Scan::DEF, operands, "scratch");
    let Some(scratch) = scratch.first().copied() else {
        return Err("needs scratch to go between warps; run tile-allocate-scratch first".into());
    };
    let axis = op.axis() as usize;
    let parts = Parts::of_scan(d, axis, low, width).ok_or("has a layout without blocks along the axis")?;
    let block = |at: &[u32]| -> Vec<u32> {
        let along = |(a, c): (usize, &u32)| if a == axis { c >> low } else { *c };
        at.iter().enumerate().map(along).collect()
    };
    // The registers of a block have the same total.
    let first = |at: &Vec<u32>| d.registers.iter().position(|r| block(r) == *at);
    let own: Vec<Vec<V>> = (parts.from.registers.iter())
        .map(|at| first(at).map(|r| blocks.total[r].clone()))
        .collect::<Option<_>>()
        .ok_or("has a block without a register")?;
    let read = tell_all(e, op.op(), &parts, &op.sources(), &own, scratch)
        .map_err(|error| format!("cannot go between warps: {error}"))?;
    // Number of the warp along the axis.
    let along = |image: &Vec<u32>| vec![image[axis] >> low & ((1 << width) - 1)];
    let warps: Vec<Vec<u32>> = d.threads.iter().map(along).collect();
    let number = thread_part(e, e.sreg("tid.x"), &warps, 0);
    let later = e.cmp(Cmp::Ne, number, e.c32(0));
    let joined: Vec<(Vec<V>, Vec<V>)> = read
        .into_iter()
        .map(|totals| {
            let (mut before, mut sum) = (totals[0].clone(), totals[0].clone());
            for (k, total) in totals.iter().enumerate().skip(1) {
                // What comes before warp k + 1.
                let comes = e.cmp(Cmp::Ugt, number, e.c32(k as i64));
                sum = f.apply(e, &sum, total);
                before = select(e, comes, &sum, &before);
            }
            (before, sum)
        })
        .collect();
    for (r, at) in d.registers.iter().enumerate() {
        let places = parts.to.registers.iter().step_by(parts.count);
        let Some((before, sum)) = places
            .zip(&joined)
            .find(|(place, _)| **place == block(at))
            .map(|(_, j)| j)
        else {
            return Err("has a register without a block".into());
        };
        let after = f.apply(e, before, &blocks.prefix[r]);
        blocks.prefix[r] = select(e, later, &after, &blocks.prefix[r]);
        blocks.total[r] = sum.clone();
    }
    Ok(())
}

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, Scan, |op, operands, rewriter| scan(op, operands, rewriter));
}
