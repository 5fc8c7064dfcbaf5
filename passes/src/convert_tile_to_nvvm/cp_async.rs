//! `cp.async` and the ways to wait for it.
use super::{
    group, lower,
    memory::{Global, shared_element},
};
use girih_dialects::{
    nvvm::{Emit, Statement},
    tile::ops::cp_async::{CommitGroup, CpAsync, MbarrierArrive, WaitAll, WaitGroup},
};
use girih_ir::{conversion::Conversion, op::OpView, prelude::*};

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, CpAsync, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let get = |name| group(op.op(), CpAsync::DEF, operands, name);
        let at: Vec<_> = get("indices").iter().map(|i| e.to_int(*i, 64)).collect();
        let from = Global::new(&e, op.source().r#type(), &get("source")).element(&e, &at);
        let slab = op.destination().r#type();
        let to = shared_element(&e, slab, get("destination")[0], &get("destination_indices"));
        // Only whole 16 bytes can pass by L1.
        let cache = if op.bytes() == 16 { "cg" } else { "ca" };
        let mut values = vec![to, from];
        values.extend(get("src_size"));
        let attributes = [
            ("size", e.i32_attr(op.bytes() as i32)),
            ("modifier", e.attr(&format!("#nvvm<load_cache_modifier {cache}>"))),
        ];
        e.op("nvvm.cp.async.shared.global", &values, &[], &attributes);
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, MbarrierArrive, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let get = |name| group(op.op(), MbarrierArrive::DEF, operands, name);
        let address = shared_element(&e, op.barrier().r#type(), get("barrier")[0], &get("indices"));
        let noinc = [("noinc", e.attr(if op.noinc() { "true" } else { "false" }))];
        e.op("nvvm.cp.async.mbarrier.arrive", &[address], &[], &noinc);
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, CommitGroup, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        e.op("nvvm.cp.async.commit.group", &[], &[], &[]);
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, WaitGroup, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let pending = [("n", e.i32_attr(op.pending() as i32))];
        e.op("nvvm.cp.async.wait.group", &[], &[], &pending);
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, WaitAll, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        // Upstream's wait is for committed groups, and these are in none.
        Statement::new("cp.async.wait_all").emit(&e);
        rewriter.erase(op.op());
        Ok(())
    });
}
