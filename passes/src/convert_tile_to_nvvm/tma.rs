//! Copies through tensor maps.
use super::{group, lower, memory::shared_element};
use girih_dialects::{
    nvvm::{Emit, TmaLoad as LoadOperands, V},
    tile::ops::tma::{BulkCommit, BulkWait, CachePolicy, PrefetchTensorMap, TmaLoad, TmaStore},
};
use girih_ir::{conversion::Conversion, op::OpView, prelude::*};

/// Coordinates as PTX has them: i32, innermost first.
fn coordinates<'c>(e: &Emit<'c, '_>, coords: &[V<'c>]) -> Vec<V<'c>> {
    coords.iter().rev().map(|c| e.to_int(*c, 32)).collect()
}
fn policy<'c>(e: &Emit<'c, '_>, cache: Option<CachePolicy>) -> Option<V<'c>> {
    cache.map(|p| e.c64(p.bits() as i64))
}

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, TmaLoad, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let get = |name| group(op.op(), TmaLoad::DEF, operands, name);
        let barrier_type = op.barrier().r#type();
        let barrier = shared_element(&e, barrier_type, get("barrier")[0], &get("barrier_indices"));
        e.tma_load(&LoadOperands {
            destination: get("destination")[0],
            map: get("map")[0],
            coords: &coordinates(&e, &get("coords")),
            barrier,
            policy: policy(&e, op.cache()),
        });
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, TmaStore, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let get = |name| group(op.op(), TmaStore::DEF, operands, name);
        let coords = coordinates(&e, &get("coords"));
        e.tma_store(get("map")[0], get("source")[0], &coords, policy(&e, op.cache()));
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, PrefetchTensorMap, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        e.op(
            "nvvm.prefetch",
            &[operands.one(0)],
            &[],
            &[("tensormap", e.unit_attr())],
        );
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, BulkCommit, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        e.op("nvvm.cp.async.bulk.commit.group", &[], &[], &[]);
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, BulkWait, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let mut attributes = vec![("group", e.i32_attr(op.pending() as i32))];
        if op.read() {
            attributes.push(("read", e.unit_attr()));
        }
        e.op("nvvm.cp.async.bulk.wait_group", &[], &[], &attributes);
        rewriter.erase(op.op());
        Ok(())
    });
}
