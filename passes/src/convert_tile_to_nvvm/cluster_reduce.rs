//! Reductions over a cluster: each block puts its part into the shared memory of all blocks, the cluster meets, and each block
//! reads what has come to its own.
use super::{
    Matched,
    bulk::mapa,
    distributed::{Held, element_pointer},
    group,
    kernel::cluster_blocks,
    lower,
    reduce::Combiner,
    refuse,
};
use crate::allocate_scratch::cluster_part_bytes;
use girih_dialects::{
    nvvm::{Cmp, Emit, V},
    tile::{distribution::Distribution, ops::cluster_reduce::ClusterReduce, verify::element_bits},
};
use girih_ir::{
    conversion::{Conversion, ConversionRewriter, Operands},
    op::OpView,
    prelude::*,
};

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
    let bytes: Vec<i64> = sources
        .iter()
        .map(|s| element_bits(s.r#type()).unwrap_or(8) as i64 / 8)
        .collect();
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
        for r in &own {
            let slot = e.add(e.mul(held.offset(e, *r), e.c32(blocks)), rank);
            for (i, v) in values.iter().enumerate() {
                let pointer = element_pointer(e, there, slot, bytes[i], starts[i]);
                e.store(&[v[*r]], pointer, bytes[i] as u64);
            }
        }
    };
    for round in (0..blocks).step_by(copies as usize) {
        let to = e.add(copy, e.c32(round));
        if round + copies <= blocks {
            send(&e, to);
        } else {
            let is_block = e.cmp(Cmp::Ult, to, e.c32(blocks));
            e.if_then(is_block, |e| send(&e, to));
        }
    }
    let aligned = [("aligned", e.unit_attr())];
    e.op("nvvm.cluster.arrive", &[], &[], &aligned);
    e.op("nvvm.cluster.wait", &[], &[], &aligned);

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
                            e.load_many(pointer, run as usize, types[i], (run * bytes[i]) as u64)
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
