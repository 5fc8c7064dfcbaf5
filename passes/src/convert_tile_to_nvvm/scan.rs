//! Scans, bit by bit of the coordinate along the axis.
//!
//! After the bits below `i`, an element knows its prefix within the aligned block of 2^i elements that it is in, and the
//! block's total. Bit `i` joins two blocks: elements of the upper one put the lower one's total before their prefix. Where
//! the bit is one of the register's number that total is at hand; where it is one of the lane's, a shuffle brings it; bits of
//! the warp's number are joined all at once, through scratch.
use super::{
    Matched,
    distributed::{element_pointer, shuffle_xor, thread_part},
    group, lower,
    reduce::Combiner,
    refuse,
    sync::meet,
};
use girih_core::layout::Dim;
use girih_dialects::{
    nvvm::{Cmp, Emit, V},
    tile::{distribution::Distribution, ops::scan::Scan, verify::element_bits},
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

/// Bytes of scratch for each source of a scan: a total for each block that meets others in other warps.
pub fn scan_bytes(op: Scan<'_, '_>) -> Vec<u64> {
    let sources_of = op.sources();
    let Some(d) = sources_of.first().and_then(|s| Distribution::of(s.r#type())) else {
        return vec![];
    };
    let Ok(bits) = sources(&d, op.axis() as usize) else {
        return vec![];
    };
    let Some(low) = bits.iter().position(|s| matches!(s, Source::Thread(b) if *b >= 5)) else {
        return vec![];
    };
    let elements: u64 = d.shape.iter().map(|s| *s as u64).product::<u64>() >> low;
    sources_of
        .iter()
        .map(|s| (elements * element_bits(s.r#type()).unwrap_or(8) / 8).next_multiple_of(16))
        .collect()
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
                let warp = |s: &Source| matches!(s, Source::Thread(b) if *b >= 5);
                let end = i + bits[i..].iter().take_while(|s| warp(s)).count();
                if let Err(refusal) = join_warps(&e, op, operands, &d, &f, &bits, i..end, &mut blocks) {
                    return refuse(op.op(), refusal);
                }
                i = end;
            }
        }
    }
    let results: Vec<Vec<V>> = (0..tiles.len())
        .map(|t| blocks.prefix.iter().map(|p| p[t]).collect())
        .collect();
    rewriter.replace_multiple(op.op(), &results);
    Ok(())
}

/// Joins the blocks of all warps along the axis: each warp's total is stored, and every thread combines those before its own.
#[allow(clippy::too_many_arguments)]
fn join_warps<'c>(
    e: &Emit<'c, '_>,
    op: Scan<'c, 'c>,
    operands: &Operands<'c, '_>,
    d: &Distribution,
    f: &Combiner<'c>,
    bits: &[Source],
    joined: std::ops::Range<usize>,
    blocks: &mut Blocks<'c>,
) -> Result<(), &'static str> {
    let scratch = group(op.op(), Scan::DEF, operands, "scratch");
    let Some(scratch) = scratch.first() else {
        return Err("needs scratch to go between warps; run tile-allocate-scratch first");
    };
    let (axis, tiles, low) = (op.axis() as usize, op.sources(), joined.start);
    let bytes: Vec<i64> = tiles
        .iter()
        .map(|s| element_bits(s.r#type()).unwrap_or(8) as i64 / 8)
        .collect();
    let mut starts = vec![0];
    for n in scan_bytes(op) {
        starts.push(starts.last().copied().unwrap_or(0) + n as i64);
    }
    // The place of a block: its coordinates, those along the axis counted in blocks, the warps' part last so that a thread
    // reads what it combines from one place on.
    let width = joined.len();
    let along = |c: u32| (c >> low >> width << width, c >> low & ((1 << width) - 1));
    let place = |at: &[u32], with_warp: bool| -> u32 {
        let (rest, warp) = along(at[axis]);
        let outer = at.iter().enumerate().fold(0, |n, (a, c)| {
            let (size, c) = if a == axis {
                (d.shape[a] as u32 >> low >> width, rest >> width)
            } else {
                (d.shape[a] as u32, *c)
            };
            n * size + c
        });
        (outer << width) + if with_warp { warp } else { 0 }
    };
    let id = e.sreg("tid.x");
    let images = |with_warp: bool| -> Vec<Vec<u32>> { d.threads.iter().map(|i| vec![place(i, with_warp)]).collect() };
    let (own, first) = (
        thread_part(e, id, &images(true), 0),
        thread_part(e, id, &images(false), 0),
    );
    // One thread of a block speaks: whose bits below are 0, and who holds no copy.
    let below = bits[..low]
        .iter()
        .fold(0, |m, s| if let Source::Thread(b) = s { m | 1 << b } else { m });
    let silent = below | d.copy_bits() as i64;
    let is_first = |r: usize| d.registers[r][axis] & ((1 << low) - 1) == 0;
    let store = |e: &Emit<'c, '_>| {
        for r in (0..d.registers.len()).filter(|r| is_first(*r)) {
            for (t, v) in blocks.total[r].iter().enumerate() {
                let at = i64::from(place(&d.registers[r], true));
                e.store(
                    &[*v],
                    element_pointer(e, *scratch, own, bytes[t], starts[t] + at * bytes[t]),
                    bytes[t] as u64,
                );
            }
        }
    };
    if silent == 0 {
        store(e);
    } else {
        let speaks = e.cmp(Cmp::Eq, e.mask(id, silent), e.c32(0));
        e.if_then(speaks, |e| store(&e));
    }
    meet(e, op.op());
    // Number of the warp along the axis.
    let warp_images: Vec<Vec<u32>> = d.threads.iter().map(|i| vec![along(i[axis]).1]).collect();
    let number = thread_part(e, id, &warp_images, 0);
    let mut known: Vec<(u32, Vec<V>, Vec<V>)> = vec![];
    for r in 0..d.registers.len() {
        let at = place(&d.registers[r], false);
        if !known.iter().any(|(a, ..)| *a == at) {
            let totals: Vec<Vec<V>> = (0..1i64 << width)
                .map(|k| {
                    (0..tiles.len())
                        .map(|t| {
                            let start = starts[t] + (i64::from(at) + k) * bytes[t];
                            let t_type = tiles[t].r#type().element_type().unwrap_or_else(|| e.i32_type());
                            e.load(
                                element_pointer(e, *scratch, first, bytes[t], start),
                                t_type,
                                bytes[t] as u64,
                            )
                        })
                        .collect()
                })
                .collect();
            let (mut before, mut sum) = (totals[0].clone(), totals[0].clone());
            for (k, total) in totals.iter().enumerate().skip(1) {
                // What comes before warp k + 1.
                let comes = e.cmp(Cmp::Ugt, number, e.c32(k as i64));
                sum = f.apply(e, &sum, total);
                before = select(e, comes, &sum, &before);
            }
            known.push((at, before, sum));
        }
        let Some((_, before, sum)) = known.iter().find(|(a, ..)| *a == at) else {
            continue;
        };
        let later = e.cmp(Cmp::Ne, number, e.c32(0));
        let joined = f.apply(e, before, &blocks.prefix[r]);
        blocks.prefix[r] = select(e, later, &joined, &blocks.prefix[r]);
        blocks.total[r] = sum.clone();
    }
    Ok(())
}

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, Scan, |op, operands, rewriter| scan(op, operands, rewriter));
}
