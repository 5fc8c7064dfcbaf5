//! Bulk copies without a tensor map, and tensor maps that the device makes: inline PTX.
use super::{
    group, lower,
    memory::{Global, shared_element},
    tma::{hint, policy, report_and_cast},
};
use girih_dialects::{
    nvvm::{AsmOperand, Emit, Statement, V},
    tile::{
        ops::{
            bulk::{BulkLoad, BulkPrefetch, BulkReduce, BulkSend, BulkSendReduce, BulkStore, Remote, reduction_type},
            tensormap_device::{Acquire, At, CpFenceProxy, GlobalAddress, Release, Replace},
            tma::CopySpace,
        },
        spaces::is_global,
        verify::memref_bytes,
    },
};
use girih_ir::{
    conversion::{Conversion, Operands},
    op::{OpDef, OpView},
    prelude::*,
};

/// Address (i64) of the element of a global memref that an op names by operands `memory` and `indices`.
fn global_address<'c>(
    e: &Emit<'c, '_>,
    op: OperationRef<'c, 'c>,
    def: &OpDef,
    operands: &Operands<'c, '_>,
    memory: (&str, Type<'c>),
) -> V<'c> {
    let parts = group(op, def, operands, memory.0);
    let indices = group(op, def, operands, "indices");
    let indices: Vec<_> = indices.iter().map(|i| e.to_int(*i, 64)).collect();
    let pointer = Global::new(e, memory.1, &parts).element(e, &indices);
    e.ptr_to_int(pointer, 64)
}

/// Bytes of a shared memref; its verifier has seen that they are known.
fn bytes(t: Type<'_>) -> u64 {
    memref_bytes(t).unwrap_or(0)
}

/// `[address]` of 128 bytes, and PTX's name of their space.
fn map_address<'c>(e: &Emit<'c, '_>, t: Type<'c>, values: &[V<'c>]) -> (&'static str, &'static str, V<'c>) {
    if is_global(t) {
        ("global", "l", e.ptr_to_int(values[0], 64))
    } else {
        ("shared::cta", "r", e.ptr_to_int(values[0], 32))
    }
}

/// Where another block of the cluster has what this block has at `pointer`.
pub(super) fn mapa<'c>(e: &Emit<'c, '_>, pointer: V<'c>, rank: V<'c>) -> V<'c> {
    let inputs = [e.ptr_to_int(pointer, 32), rank].map(|value| AsmOperand { constraint: "r", value });
    let text = "mapa.shared::cluster.u32 $0, $1, $2;";
    let there = e.inline_ptx(text, &[("r", e.i32_type())], &[], &inputs, false)[0];
    e.int_to_ptr(there, 7)
}

fn copies(c: &mut Conversion<'_>) {
    lower!(c, Remote, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let get = |name| group(op.op(), Remote::DEF, operands, name)[0];
        rewriter.replace(op.op(), &[mapa(&e, get("source"), get("rank"))]);
        Ok(())
    });
    lower!(c, BulkLoad, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let get = |name| group(op.op(), BulkLoad::DEF, operands, name);
        let barrier = shared_element(&e, op.barrier().r#type(), get("barrier")[0], &get("barrier_indices"));
        let policy = policy(&e, op.cache(), &get("policy"));
        let space = match op.space() {
            Some(CopySpace::Cta) => "shared::cta",
            Some(CopySpace::Cluster) | None => "shared::cluster",
        };
        let from = global_address(&e, op.op(), BulkLoad::DEF, operands, ("source", op.source().r#type()));
        Statement::new(format!(
            "cp.async.bulk.{space}.global.mbarrier::complete_tx::bytes{}{} [",
            report_and_cast(op.report(), op.masks()),
            hint(policy)
        ))
        .register("r", e.ptr_to_int(get("destination")[0], 32))
        .text("], [")
        .register("l", from)
        .text(&format!("], {}, [", bytes(op.destination().r#type())))
        .register("r", e.ptr_to_int(barrier, 32))
        .text("]")
        .optional("h", get("mask").first().copied())
        .optional("r", get("mask_32b").first().copied())
        .optional("l", policy)
        .emit(&e);
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, BulkStore, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let get = |name| group(op.op(), BulkStore::DEF, operands, name);
        let policy = policy(&e, op.cache(), &get("policy"));
        let mask = get("bytes").first().copied();
        let masked = if mask.is_some() { ".cp_mask" } else { "" };
        let to = ("destination", op.destination().r#type());
        let to = global_address(&e, op.op(), BulkStore::DEF, operands, to);
        let statement = Statement::new(format!(
            "cp.async.bulk.global.shared::cta.bulk_group{}{masked} [",
            hint(policy)
        ))
        .register("l", to)
        .text("], [")
        .register("r", e.ptr_to_int(get("source")[0], 32))
        .text(&format!("], {}", bytes(op.source().r#type())));
        statement.optional("l", policy).optional("h", mask).emit(&e);
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, BulkSend, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let at = |name| e.ptr_to_int(group(op.op(), BulkSend::DEF, operands, name)[0], 32);
        Statement::new("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [")
            .register("r", at("destination"))
            .text("], [")
            .register("r", at("source"))
            .text(&format!("], {}, [", bytes(op.source().r#type())))
            .register("r", at("barrier"))
            .text("]")
            .emit(&e);
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, BulkPrefetch, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let get = |name| group(op.op(), BulkPrefetch::DEF, operands, name);
        let policy = policy(&e, op.cache(), &get("policy"));
        let from = ("source", op.source().r#type());
        let from = global_address(&e, op.op(), BulkPrefetch::DEF, operands, from);
        let last = if op.evict_last() { ".L2::evict_last" } else { "" };
        Statement::new(format!("cp.async.bulk.prefetch.L2.global{}{last} [", hint(policy)))
            .register("l", from)
            .text("], ")
            .register("r", get("size")[0])
            .optional("l", policy)
            .emit(&e);
        rewriter.erase(op.op());
        Ok(())
    });
}

fn reductions(c: &mut Conversion<'_>) {
    lower!(c, BulkReduce, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let get = |name| group(op.op(), BulkReduce::DEF, operands, name);
        let policy = policy(&e, op.cache(), &get("policy"));
        let t = op.source().r#type();
        let ptx_type = match reduction_type(op.kind(), t, op.unsigned(), false) {
            Ok(name) => name,
            Err(m) => return super::refuse(op.op(), m),
        };
        // Sums of 16-bit floats keep denormals, and PTX wants that said.
        let denormals = match (op.kind().core(), ptx_type) {
            (girih_core::target::ReduceOp::Add, "f16" | "bf16") => ".noftz",
            _ => "",
        };
        let to = ("destination", op.destination().r#type());
        let to = global_address(&e, op.op(), BulkReduce::DEF, operands, to);
        Statement::new(format!(
            "cp.reduce.async.bulk.global.shared::cta.bulk_group{}.{}{denormals}.{ptx_type} [",
            hint(policy),
            op.kind()
        ))
        .register("l", to)
        .text("], [")
        .register("r", e.ptr_to_int(get("source")[0], 32))
        .text(&format!("], {}", bytes(t)))
        .optional("l", policy)
        .emit(&e);
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, BulkSendReduce, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let at = |name| e.ptr_to_int(group(op.op(), BulkSendReduce::DEF, operands, name)[0], 32);
        let t = op.source().r#type();
        let ptx_type = match reduction_type(op.kind(), t, op.unsigned(), true) {
            Ok(name) => name,
            Err(m) => return super::refuse(op.op(), m),
        };
        Statement::new(format!(
            "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{}.{ptx_type} [",
            op.kind()
        ))
        .register("r", at("destination"))
        .text("], [")
        .register("r", at("source"))
        .text(&format!("], {}, [", bytes(t)))
        .register("r", at("barrier"))
        .text("]")
        .emit(&e);
        rewriter.erase(op.op());
        Ok(())
    });
}

fn device_maps(c: &mut Conversion<'_>) {
    lower!(c, Replace, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let get = |name| group(op.op(), Replace::DEF, operands, name);
        let (space, constraint, address) = map_address(&e, op.map().r#type(), &get("map"));
        let wide = op.field().is_wide();
        let mut statement = Statement::new(format!(
            "tensormap.replace.tile.{}.{space}.b1024.{} [",
            op.field(),
            if wide { "b64" } else { "b32" }
        ))
        .register(constraint, address)
        .text("]");
        if let Some(ordinal) = op.ordinal() {
            statement = statement.text(&format!(", {ordinal}"));
        }
        if let Some(code) = op.code() {
            statement = statement.text(&format!(", {code}"));
        }
        let value = get("value").first().copied();
        statement.optional(if wide { "l" } else { "r" }, value).emit(&e);
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, CpFenceProxy, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let get = |name| group(op.op(), CpFenceProxy::DEF, operands, name)[0];
        Statement::new(format!(
            "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.{}.sync.aligned [",
            op.scope()
        ))
        .register("l", e.ptr_to_int(get("destination"), 64))
        .text("], [")
        .register("r", e.ptr_to_int(get("source"), 32))
        .text("], 128")
        .emit(&e);
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, Acquire, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let map = group(op.op(), Acquire::DEF, operands, "map")[0];
        let generic = e.ptr_to_int(e.addrspace_cast(map, 0), 64);
        Statement::new(format!("fence.proxy.tensormap::generic.acquire.{} [", op.scope()))
            .register("l", generic)
            .text("], 128")
            .emit(&e);
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, Release, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        Statement::new(format!("fence.proxy.tensormap::generic.release.{}", op.scope())).emit(&e);
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, GlobalAddress, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let memory = ("memory", op.memory().r#type());
        let address = global_address(&e, op.op(), GlobalAddress::DEF, operands, memory);
        rewriter.replace(op.op(), &[address]);
        Ok(())
    });
    lower!(c, At, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let bytes = group(op.op(), At::DEF, operands, "bytes")[0];
        rewriter.replace(op.op(), &[e.addrspace_cast(bytes, 0)]);
        Ok(())
    });
}

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    copies(c);
    reductions(c);
    device_maps(c);
}
