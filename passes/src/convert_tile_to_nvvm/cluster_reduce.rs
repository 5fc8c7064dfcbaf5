//! Reductions over a cluster: each block puts its part into the shared memory of all blocks, waits until all parts have come to
//! its own, and reads them. Numbers go as words of 32 or 64 bits, which is what `st.async` stores.
use super::{
    Matched,
    bulk::mapa,
    group,
    kernel::cluster_blocks,
    lower,
    reduce::Combiner,
    refuse,
    route::{Held, element_pointer},
};
use girih_dialects::{
    nvvm::{Cmp, Emit, Statement, V},
    tile::{
        distribution::Distribution,
        ops::cluster_reduce::{ClusterReduce, cluster_part_bytes, word_bytes},
    },
};
use girih_ir::{
    conversion::{Conversion, ConversionRewriter, Operands},
    op::OpView,
    prelude::*,
};

/// A number as a word.
fn to_word<'c>(e: &Emit<'c, '_>, v: V<'c>, bytes: i64) -> V<'c> {
    let stored = e.to_storage(v);
    let bits = stored.r#type().bit_width().unwrap_or(64);
    let raw = match stored.r#type().is_float_type() {
        true => e.bitcast(stored, e.int(bits)),
        false => stored,
    };
    match 8 * bytes as u32 {
        wide if wide > bits => e.zext(raw, wide),
        _ => raw,
    }
}

/// A number of type `t` from its word.
fn from_word<'c>(e: &Emit<'c, '_>, word: V<'c>, t: Type<'c>) -> V<'c> {
    let stored = e.storage_type(t);
    let raw = e.to_int(word, stored.bit_width().unwrap_or(64));
    let raw = match stored.is_float_type() {
        true => e.bitcast(raw, stored),
        false => raw,
    };
    e.from_storage(raw, t)
}

fn cluster_reduce<'c>(
    op: ClusterReduce<'c, 'c>,
    operands: &Operands<'c, '_>,
    rewriter: &ConversionRewriter<'c>,
) -> Matched {
    let sources = op.sources();
    let values: Vec<&[V]> = (0..sources.len()).map(|i| operands.get(i)).collect();
    let blocks = cluster_blocks(op.op());
    if blocks == 1 {
        let same: Vec<Vec<V>> = values.iter().map(|v| v.to_vec()).collect();
        rewriter.replace_multiple(op.op(), &same);
        return Ok(());
    }
    let Some(d) = sources.first().and_then(|s| Distribution::of(s.r#type())) else {
        let m = "combines a fragment of an instruction over the cluster; only tiles that tile-assign-layouts lays out are combined";
        return refuse(op.op(), m);
    };
    let Some(combiner) = Combiner::new(op.combiner()) else {
        return refuse(op.op(), "has no combiner");
    };
    let scratch = group(op.op(), ClusterReduce::DEF, operands, "scratch");
    let Some(scratch) = scratch.first().copied() else {
        return refuse(
            op.op(),
            "needs scratch to go between blocks; run tile-allocate-scratch first",
        );
    };
    let e = Emit::new(rewriter, op.op().location());
    let held = Held::new(&e, &d);
    let types: Vec<Type> = sources.iter().filter_map(|s| s.r#type().element_type()).collect();
    let bytes: Vec<i64> = sources.iter().map(|s| word_bytes(s.r#type()) as i64).collect();
    let barrier = group(op.op(), ClusterReduce::DEF, operands, "barrier").first().copied();
    // One list for each source: for each element, the parts of all blocks.
    let starts: Vec<i64> = sources
        .iter()
        .scan(0, |next, s| {
            let start = *next;
            *next += cluster_part_bytes(s.r#type(), blocks as u64) as i64;
            Some(start)
        })
        .collect();
    // Registers that repeat an element are served by the first that holds it.
    let first: Vec<usize> = (0..d.registers.len())
        .map(|r| d.registers.iter().position(|at| *at == d.registers[r]).unwrap_or(r))
        .collect();
    let own: Vec<usize> = (0..first.len()).filter(|r| first[*r] == *r).collect();

    // Threads that hold copies share out the blocks between them.
    let copy_bits: Vec<usize> = (0..d.threads.len())
        .filter(|bit| d.copy_bits() >> bit & 1 == 1)
        .collect();
    let copies = 1i64 << copy_bits.len();
    let id = e.sreg("tid.x");
    let copy = copy_bits.iter().enumerate().fold(e.c32(0), |n, (i, bit)| {
        e.or(n, e.shl(e.mask(e.shr(id, *bit as i64), 1), i as i64))
    });
    let rank = e.sreg("cluster.ctarank");
    let send = |e: &Emit<'c, '_>, to: V<'c>| {
        let there = mapa(e, scratch, to);
        let its = barrier.map(|b| e.ptr_to_int(mapa(e, b, to), 32));
        for r in &own {
            let slot = e.add(e.mul(held.offset(e, *r), e.c32(blocks)), rank);
            for (i, v) in values.iter().enumerate() {
                let pointer = element_pointer(e, there, slot, bytes[i], starts[i]);
                let word = to_word(e, v[*r], bytes[i]);
                let Some(its) = its else {
                    e.store(&[word], pointer, bytes[i] as u64);
                    continue;
                };
                let (name, constraint) = if bytes[i] == 8 { ("b64", "l") } else { ("b32", "r") };
                Statement::new(format!(
                    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.{name} ["
                ))
                .register("r", e.ptr_to_int(pointer, 32))
                .text("], ")
                .register(constraint, word)
                .text(", [")
                .register("r", its)
                .text("]")
                .emit(e);
            }
        }
    };
    if let Some(barrier) = barrier {
        let elements: i64 = d.shape.iter().product();
        let all: i64 = bytes.iter().map(|b| b * elements * blocks).sum();
        let first = e.cmp(Cmp::Eq, id, e.c32(0));
        e.if_then(first, |e| {
            e.op("nvvm.mbarrier.arrive.expect_tx", &[barrier, e.c32(all)], &[], &[]);
        });
    }
    for round in (0..blocks).step_by(copies as usize) {
        let to = e.add(copy, e.c32(round));
        if round + copies <= blocks {
            send(&e, to);
        } else {
            let is_block = e.cmp(Cmp::Ult, to, e.c32(blocks));
            e.if_then(is_block, |e| send(&e, to));
        }
    }
    match barrier {
        Some(barrier) => e.mbarrier_wait(barrier, e.constant(0, e.int(1)), true),
        None => {
            let aligned = [("aligned", e.unit_attr())];
            e.op("nvvm.cluster.arrive", &[], &[], &aligned);
            e.op("nvvm.cluster.wait", &[], &[], &aligned);
        }
    }

    let combined: Vec<(usize, Vec<V>)> = own
        .iter()
        .map(|r| {
            let at = e.mul(held.offset(&e, *r), e.c32(blocks));
            let parts: Vec<Vec<V>> = (0..sources.len())
                .map(|i| {
                    let run = (16 / bytes[i]).min(1 << blocks.trailing_zeros());
                    (0..blocks)
                        .step_by(run as usize)
                        .flat_map(|k| {
                            let pointer = element_pointer(&e, scratch, at, bytes[i], starts[i] + k * bytes[i]);
                            let word = e.int(8 * bytes[i] as u32);
                            let words = e.load_many(pointer, run as usize, word, (run * bytes[i]) as u64);
                            words
                                .into_iter()
                                .map(|w| from_word(&e, w, types[i]))
                                .collect::<Vec<_>>()
                        })
                        .collect()
                })
                .collect();
            let list = (0..blocks as usize)
                .map(|k| parts.iter().map(|p| p[k]).collect())
                .collect();
            (*r, combiner.fold(&e, list))
        })
        .collect();
    let results: Vec<Vec<V>> = (0..sources.len())
        .map(|i| {
            first
                .iter()
                .filter_map(|f| combined.iter().find(|(r, _)| r == f).map(|(_, sums)| sums[i]))
                .collect()
        })
        .collect();
    rewriter.replace_multiple(op.op(), &results);
    Ok(())
}

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, ClusterReduce, |op, operands, rewriter| cluster_reduce(
        op, operands, rewriter
    ));
}
