//! Copies through tensor maps. What upstream has for every target is an nvvm op, all else inline PTX.
use super::{group, lower, memory::shared_element};
use girih_core::target::MaskWidth;
use girih_dialects::{
    nvvm::{Emit, Statement, TmaLoad as LoadOperands, V},
    tile::{
        ops::{
            tma::{BulkCommit, BulkWait, CachePolicy, CopySpace, PrefetchTensorMap, TmaLoad, TmaStore},
            tma_modes::{CreatePolicy, TmaPrefetch, TmaReduce},
            tma_override::{Masks, Report},
        },
        types::{MapMode, TensorMapType},
    },
};
use girih_ir::{conversion::Conversion, op::OpView, prelude::*};

/// Coordinates as PTX has them: i32, innermost first; for four rows the column, then the rows.
fn coordinates<'c>(e: &Emit<'c, '_>, coords: &[V<'c>], four_rows: bool) -> Vec<V<'c>> {
    let mut all: Vec<_> = coords.iter().map(|c| e.to_int(*c, 32)).collect();
    if four_rows {
        all.rotate_right(1);
    } else {
        all.reverse();
    }
    all
}

/// The policy of a copy, from its constant or its operand.
pub fn policy<'c>(e: &Emit<'c, '_>, cache: Option<CachePolicy>, made: &[V<'c>]) -> Option<V<'c>> {
    made.first().copied().or(cache.map(|p| e.c64(p.bits() as i64)))
}

/// `.L2::cache_hint`, where there is a policy.
pub fn hint(policy: Option<V<'_>>) -> &'static str {
    if policy.is_some() { ".L2::cache_hint" } else { "" }
}

/// `.mbarrier::report` and `.multicast::cluster` of a load, where it has them.
pub fn report_and_cast(report: Option<Report>, masks: Masks) -> String {
    let qualifiers = [report.map(|r| r.core().name()), masks.width().map(MaskWidth::name)];
    qualifiers
        .into_iter()
        .flatten()
        .map(|name| format!(".{name}"))
        .collect()
}

fn mode_of(map: Value<'_, '_>) -> MapMode {
    TensorMapType::of(map.r#type()).map_or(MapMode::Tile, |t| t.mode())
}

/// PTX's load mode.
fn load_mode(mode: MapMode, gather4: bool) -> &'static str {
    match mode {
        _ if gather4 => ".tile::gather4",
        MapMode::Tile => ".tile",
        MapMode::Im2col => ".im2col",
        MapMode::Im2colW => ".im2col::w",
        MapMode::Im2colW128 => ".im2col::w::128",
    }
}

/// PTX's store mode.
fn store_mode(mode: MapMode, scatter4: bool) -> &'static str {
    match mode {
        _ if scatter4 => ".tile::scatter4",
        MapMode::Tile => ".tile",
        MapMode::Im2col => ".im2col_no_offs",
        MapMode::Im2colW | MapMode::Im2colW128 => ".im2col_no_offs::w",
    }
}

/// Rank as the opcode says it.
fn rank(coords: &[V<'_>], four_rows: bool) -> usize {
    if four_rows { 2 } else { coords.len() }
}

/// The im2col information: what the op gives, innermost first, or zeros; along W the halo, then the shift.
fn information<'c>(e: &Emit<'c, '_>, mode: MapMode, coords: usize, offsets: &[V<'c>]) -> Vec<V<'c>> {
    let count = match mode {
        MapMode::Tile => return vec![],
        MapMode::Im2col => coords.saturating_sub(2),
        MapMode::Im2colW | MapMode::Im2colW128 => {
            return match offsets {
                [] => vec![e.constant(0, e.int(16)); 2],
                given => given.to_vec(),
            };
        }
    };
    match offsets {
        [] => vec![e.constant(0, e.int(16)); count],
        given => given.iter().rev().copied().collect(),
    }
}

/// What a copy takes instead of the map's address and sizes.
struct Replaced<'c> {
    address: Option<V<'c>>,
    /// Sizes, innermost first.
    dims: Vec<V<'c>>,
    /// 16-byte units of each stride below 2^32, innermost first.
    lower: Vec<V<'c>>,
    /// The four bits above those, one stride after the other.
    upper: Option<V<'c>>,
}

impl<'c> Replaced<'c> {
    /// From the operands of a copy, outermost first, strides in bytes.
    fn new(e: &Emit<'c, '_>, address: &[V<'c>], dims: &[V<'c>], strides: &[V<'c>]) -> Self {
        let strides: Vec<_> = strides.iter().rev().map(|s| e.to_int(*s, 64)).collect();
        let upper = |i: usize, s: V<'c>| e.shl(e.mask(e.to_int(e.shr(s, 36), 16), 0xf), 4 * i as i64);
        Replaced {
            address: address.first().copied(),
            dims: dims.iter().rev().map(|d| e.to_int(*d, 16)).collect(),
            lower: strides.iter().map(|s| e.to_int(e.shr(*s, 4), 32)).collect(),
            upper: strides
                .iter()
                .enumerate()
                .map(|(i, s)| upper(i, *s))
                .reduce(|a, b| e.or(a, b)),
        }
    }

    fn qualifiers(&self) -> &'static str {
        match (self.address, &self.dims[..], self.upper) {
            (None, ..) => "",
            (Some(_), [], _) => ".override::global_address",
            (Some(_), _, None) => ".override::global_address.override::global_dim",
            (Some(_), _, Some(_)) => ".override::global_address.override::global_dim_stride",
        }
    }
}

/// `[map, {coords}]`, with what the copy replaces between them.
fn place<'c>(
    e: &Emit<'c, '_>,
    statement: Statement<'c>,
    map: V<'c>,
    replaced: &Replaced<'c>,
    coords: &[V<'c>],
) -> Statement<'c> {
    let mut statement = statement
        .text("[")
        .register("l", e.ptr_to_int(map, 64))
        .optional("l", replaced.address);
    if !replaced.dims.is_empty() {
        statement = statement.text(", ").list("h", &replaced.dims);
    }
    if !replaced.lower.is_empty() {
        statement = statement.text(", ").list("r", &replaced.lower);
    }
    statement
        .optional("h", replaced.upper)
        .text(", ")
        .list("r", coords)
        .text("]")
}

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, TmaLoad, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let get = |name| group(op.op(), TmaLoad::DEF, operands, name);
        let barrier_type = op.barrier().r#type();
        let barrier = shared_element(&e, barrier_type, get("barrier")[0], &get("barrier_indices"));
        let coords = coordinates(&e, &get("coords"), op.gather4());
        let policy = policy(&e, op.cache(), &get("policy"));
        let mode = mode_of(op.map());
        let replaced = Replaced::new(&e, &get("address"), &get("dims"), &get("strides"));
        let plain = mode == MapMode::Tile
            && !op.gather4()
            && op.masks().width().is_none()
            && op.report().is_none()
            && replaced.address.is_none()
            && op.cta_group().is_none()
            && op.space() != Some(CopySpace::Cta);
        if plain {
            e.tma_load(&LoadOperands {
                destination: get("destination")[0],
                map: get("map")[0],
                coords: &coords,
                barrier,
                policy,
            });
        } else {
            let space = match op.space() {
                Some(CopySpace::Cta) => "shared::cta",
                Some(CopySpace::Cluster) | None => "shared::cluster",
            };
            let pair = op.cta_group().map_or(String::new(), |n| format!(".cta_group::{n}"));
            let statement = Statement::new(format!(
                "cp.async.bulk.tensor.{}d.{space}.global{}.mbarrier::complete_tx::bytes{}{pair}{}{} [",
                rank(&coords, op.gather4()),
                load_mode(mode, op.gather4()),
                report_and_cast(op.report(), op.masks()),
                hint(policy),
                replaced.qualifiers()
            ));
            let statement = statement
                .register("r", e.ptr_to_int(get("destination")[0], 32))
                .text("], ");
            let statement = place(&e, statement, get("map")[0], &replaced, &coords)
                .text(", [")
                .register("r", e.ptr_to_int(barrier, 32))
                .text("]");
            let information = information(&e, mode, coords.len(), &get("offsets"));
            let statement = match &information[..] {
                [] => statement,
                some => statement.text(", ").list("h", some),
            };
            statement
                .optional("h", get("mask").first().copied())
                .optional("r", get("mask_32b").first().copied())
                .optional("l", policy)
                .emit(&e);
        }
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, TmaStore, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let get = |name| group(op.op(), TmaStore::DEF, operands, name);
        let coords = coordinates(&e, &get("coords"), op.scatter4());
        let policy = policy(&e, op.cache(), &get("policy"));
        let mode = mode_of(op.map());
        let replaced = Replaced::new(&e, &get("address"), &get("dims"), &get("strides"));
        if mode == MapMode::Tile && !op.scatter4() && replaced.address.is_none() {
            e.tma_store(get("map")[0], get("source")[0], &coords, policy);
        } else {
            let statement = Statement::new(format!(
                "cp.async.bulk.tensor.{}d.global.shared::cta{}.bulk_group{}{} ",
                rank(&coords, op.scatter4()),
                store_mode(mode, op.scatter4()),
                hint(policy),
                replaced.qualifiers()
            ));
            place(&e, statement, get("map")[0], &replaced, &coords)
                .text(", [")
                .register("r", e.ptr_to_int(get("source")[0], 32))
                .text("]")
                .optional("l", policy)
                .emit(&e);
        }
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, TmaReduce, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let get = |name| group(op.op(), TmaReduce::DEF, operands, name);
        let coords = coordinates(&e, &get("coords"), false);
        let policy = policy(&e, op.cache(), &get("policy"));
        let replaced = Replaced::new(&e, &get("address"), &get("dims"), &get("strides"));
        let statement = Statement::new(format!(
            "cp.reduce.async.bulk.tensor.{}d.global.shared::cta.{}{}.bulk_group{}{} ",
            coords.len(),
            op.kind(),
            store_mode(mode_of(op.map()), false),
            hint(policy),
            replaced.qualifiers()
        ));
        place(&e, statement, get("map")[0], &replaced, &coords)
            .text(", [")
            .register("r", e.ptr_to_int(get("source")[0], 32))
            .text("]")
            .optional("l", policy)
            .emit(&e);
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, TmaPrefetch, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let get = |name| group(op.op(), TmaPrefetch::DEF, operands, name);
        let coords = coordinates(&e, &get("coords"), op.gather4());
        let policy = policy(&e, op.cache(), &get("policy"));
        let mode = mode_of(op.map());
        let replaced = Replaced::new(&e, &get("address"), &get("dims"), &get("strides"));
        let statement = Statement::new(format!(
            "cp.async.bulk.prefetch.tensor.{}d.L2.global{}{}{}{} ",
            rank(&coords, op.gather4()),
            load_mode(mode, op.gather4()),
            hint(policy),
            if op.evict_last() { ".L2::evict_last" } else { "" },
            replaced.qualifiers()
        ));
        let statement = place(&e, statement, get("map")[0], &replaced, &coords);
        let statement = match &information(&e, mode, coords.len(), &get("offsets"))[..] {
            [] => statement,
            some => statement.text(", ").list("h", some),
        };
        statement.optional("l", policy).emit(&e);
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, CreatePolicy, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let fraction = group(op.op(), CreatePolicy::DEF, operands, "fraction")[0];
        let secondary = op.secondary().map_or(String::new(), |p| format!(".L2::{p}"));
        let text = format!("createpolicy.fractional.L2::{}{secondary}.b64 $0, $1;", op.primary());
        let input = girih_dialects::nvvm::AsmOperand {
            constraint: "f",
            value: fraction,
        };
        let made = e.inline_ptx(&text, &[("l", e.i64_type())], &[], &[input], false);
        rewriter.replace(op.op(), &made);
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
