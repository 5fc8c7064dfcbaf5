//! `tile-expand-mma`: products of whole tiles become products of warpgroups, and the tiles that they make are dealt out.
//!
//! ```mlir
//! %n = tile.mma %a, %b, %acc : memref<2x1x64x64xbf16, ...>, memref<1x1x256x64xbf16, ...>, tensor<128x256xf32>      // before
//! %out = arith.truncf %n : tensor<128x256xf32> to tensor<128x256xbf16>
//! tile.store %out, %C[%row, %col] : ...
//!
//! %warpgroup = arith.divui %warp, %c4 : index                                                                     // after
//! %own = tile.slab %a[%warpgroup] : ... -> memref<1x64x64xbf16, ...>
//! %all = tile.slab %b[%c0] : ... -> memref<1x256x64xbf16, ...>
//! tile.wgmma.fence
//! %f = tile.wgmma %own, %all, %acc : ..., tensor<64x256xf32, #tile.layout<wgmma_d>>
//! tile.wgmma.commit
//! %n = tile.wgmma.wait 0 %f : ...
//! %out = arith.truncf %n : tensor<64x256xf32, #tile.layout<wgmma_d>> to tensor<64x256xbf16, #tile.layout<wgmma_d>>
//! tile.store %out, %C[%row + 64 * %warpgroup, %col] : ...
//! ```
//!
//! Every warpgroup has 64 rows of the accumulator, and of all tiles that are computed from it or with it element by element,
//! carried by loops, cut out of it by columns, loaded and stored. Where another op takes such a tile (a reduction, a product of
//! tiles) or gives one (a broadcast), a `tile.convert_layout` stands between the parts of warpgroups and the tile as a whole,
//! which moves nothing where `tile-assign-layouts` lets the whole lie as its parts do:
//!
//! ```mlir
//! %whole = tile.convert_layout %n : tensor<64x256xf32, #tile.layout<wgmma_d>> -> tensor<128x256xf32>
//! %max = tile.reduce %whole axis 1 (...) {...} : tensor<128x256xf32> -> tensor<128xf32>
//! ```
//!
//! Products whose operands are tiles are not its business.
//!
//! *Needs* operands in shared memory (`tile-plan-copies`), and `threads` to be 128 for each 64 rows. *Refuses* products with
//! one operand there, and tiles as a whole where `threads` is no power of two. *Numbers* stay what they are.
use crate::{
    insert_sync::is_fixed,
    nest::may_alias,
    plan_copies::{WARPGROUP_ROWS, WARPGROUP_THREADS},
    shared_uses::in_role,
};
use girih_dialects::{
    nvvm::Emit,
    tile::{
        layouts::{Fragment, Layout, is_laid_out},
        ops::{
            index::WarpId,
            kernel::{Kernel, MAX_THREADS},
            memory::{Load, Slab, Store},
            mma::{Mma, Side, Staging},
            rows::masked,
            slice::ExtractSlice,
            value::{ConvertLayout, Splat},
            wgmma::{Commit, Fence, Wait, Wgmma},
        },
        types::InFlightType,
    },
};
use girih_ir::{
    ext::BlockExt,
    mlir_sys::*,
    op::{EffectKind, OpView, Trait},
    pass::{DialectSource, Pass, PassContext, PassInfo},
    prelude::*,
    rewrite::{Before, Builder},
};

type V<'c> = Value<'c, 'c>;

/// Warps of a warpgroup.
const WARPGROUP_WARPS: i64 = 4;

/// The pass.
pub struct ExpandMma;

impl Pass for ExpandMma {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        dialects: &[
            DialectSource::Rust(&girih_dialects::tile::TILE),
            DialectSource::Upstream(mlirGetDialectHandle__arith__),
        ],
        ..PassInfo::new(
            "tile-expand-mma",
            "Make products of warpgroups of products of whole tiles",
        )
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, _: &PassContext<'c>) -> Res {
        let mut errors = Errors::default();
        for kernel in crate::kernels(module) {
            errors.merge(expand(kernel));
        }
        errors.result()
    }
}

fn expand<'c>(kernel: Kernel<'c, 'c>) -> Res {
    let products: Vec<Mma> = kernel
        .op()
        .nested_ops()
        .into_iter()
        .filter_map(|op| op.cast())
        .filter(|mma: &Mma| mma.is_staged())
        .collect();
    if products.is_empty() {
        return Ok(());
    }
    let mut errors = Errors::default();
    for mma in &products {
        errors.merge(check(kernel, *mma));
    }
    errors.result()?;
    let tiles = Tiles::of(&products);
    let Some(first) = kernel.body().entry().and_then(|b| b.op_list().first().copied()) else {
        return Ok(());
    };
    let at = Before(first);
    let e = Emit::new(&at, kernel.op().location());
    let warp = e.insert(WarpId::build(e.loc(), e.index_type())).result0();
    let warpgroup = e.div_u(warp, e.index(WARPGROUP_WARPS));
    let own_rows = e.mul(warpgroup, e.index(WARPGROUP_ROWS));
    tiles.take_in();
    tiles.hand_out();
    for v in &tiles.values {
        deal_out(*v);
    }
    for op in tiles.accesses {
        let operands = op.operand_values();
        // A load's memref comes before its indices, a store's value and memref do.
        let row = 1 + usize::from(op.is::<Store>());
        let at = Before(op);
        let e = Emit::new(&at, op.location());
        let moved = e.add(operands[row], own_rows);
        // SAFETY: the index is that of an operand.
        unsafe { mlirOperationSetOperand(op.to_raw(), row as isize, moved.to_raw()) };
    }
    for mma in products {
        instructions(mma, warpgroup);
    }
    check_whole(kernel)
}

/// Whether the block may hold the tiles that it holds as a whole.
fn check_whole(kernel: Kernel<'_, '_>) -> Res {
    let threads = kernel.threads();
    if threads.unsigned_abs().is_power_of_two() {
        return Ok(());
    }
    let is_whole = |v: &V| v.r#type().is_ranked_tensor_type() && !is_laid_out(v.r#type());
    let holds = |op: &OperationRef| {
        let is_used = !op.is_pure() || op.result_values().iter().any(|v| !v.users().is_empty());
        let passes_on = op.dialect_name() == "scf" || op.is::<ConvertLayout>();
        let values = [op.operand_values(), op.result_values()].concat();
        is_used
            && !passes_on
            && op.full_name() != "arith.constant"
            && in_role(*op).is_none()
            && values.iter().any(is_whole)
    };
    let Some(op) = kernel.op().nested_ops().into_iter().find(holds) else {
        return Ok(());
    };
    let below = 1 << (threads / WARPGROUP_THREADS).ilog2();
    let choices = [below, 2 * below].map(|n| (n * WARPGROUP_ROWS, n * WARPGROUP_THREADS));
    let choices = choices.iter().filter(|(_, threads)| *threads <= MAX_THREADS);
    let choices: Vec<_> = choices
        .map(|(rows, threads)| format!("M = {rows} with threads({threads})"))
        .collect();
    let m = format!(
        "works on a whole tile in a kernel with threads({threads}), but threads that hold whole tiles are a power of two; others hold \
         products by warpgroups alone, and what loads, stores and arithmetic make of them in their size: take {}",
        choices.join(" or ")
    );
    Diag::op(&op, m).report()
}

fn check<'c>(kernel: Kernel<'c, 'c>, mma: Mma<'c, 'c>) -> Res {
    let op = mma.op();
    for side in [Side::A, Side::B] {
        let t = mma.operand(side).r#type();
        if t.is_ranked_tensor_type() {
            let m = format!("operand {side} is {t}, but products read shared memory; run tile-plan-copies first");
            return Diag::op(&op, m).report();
        }
    }
    let t = mma.acc().r#type();
    if is_laid_out(t) {
        return Diag::op(
            &op,
            format!("adds to {t}, but passes lay the accumulator out; leave its layout out"),
        )
        .report();
    }
    let rows = t.shape().unwrap_or_default()[0];
    let warpgroups = kernel.threads() / WARPGROUP_THREADS;
    let blocks = Staging::of(mma.a().r#type(), mma.a_major()).map_or(0, |s| s.blocks);
    if kernel.threads() % WARPGROUP_THREADS != 0 || rows != warpgroups * WARPGROUP_ROWS || blocks != warpgroups {
        let m = format!(
            "adds to {rows} rows with operand a in {blocks} parts, but threads({}) multiply {} rows, each warpgroup a part of {WARPGROUP_ROWS}",
            kernel.threads(),
            warpgroups * WARPGROUP_ROWS
        );
        return Diag::op(&op, m).report();
    }
    Ok(())
}

/// The tiles that accumulators reach.
#[derive(Default)]
pub(crate) struct Tiles<'c> {
    /// Those that warpgroups hold in parts.
    pub values: Vec<V<'c>>,
    /// The ops on them that have a rule.
    ops: Vec<OperationRef<'c, 'c>>,
    /// Loads and stores of them.
    accesses: Vec<OperationRef<'c, 'c>>,
    /// Tiles that `ops` take, but others give.
    foreign: Vec<V<'c>>,
}

impl<'c> Tiles<'c> {
    /// Reached from the accumulators of `products`.
    pub fn of(products: &[Mma<'c, 'c>]) -> Tiles<'c> {
        let mut tiles = Tiles::default();
        let mut open: Vec<V<'c>> = products.iter().flat_map(|m| [m.acc(), m.result()]).collect();
        while let Some(v) = open.pop() {
            if tiles.values.contains(&v) || tiles.foreign.contains(&v) {
                continue;
            }
            let owner = v.defining_op().or_else(|| v.argument_of().map(|(op, _)| op));
            if owner.is_none_or(|op| !has_rule(op)) {
                tiles.foreign.push(v);
                continue;
            }
            tiles.values.push(v);
            for op in v.users().into_iter().chain(owner).filter(|op| has_rule(*op)) {
                if !tiles.ops.contains(&op) {
                    tiles.ops.push(op);
                    open.extend(tiles.reached(op));
                }
            }
            if let Some((owner, _)) = v.argument_of() {
                open.extend(carried(owner, v));
            }
            for user in v.users() {
                open.extend(carried(user, v));
            }
            if let Some(by) = v.defining_op() {
                open.extend(carried(by, v));
            }
        }
        tiles
    }

    /// The tiles that an op on one of them ties to it, but for what loops and branches carry.
    fn reached(&mut self, op: OperationRef<'c, 'c>) -> Vec<V<'c>> {
        let tensors = |list: Vec<V<'c>>| list.into_iter().filter(|v| v.r#type().is_ranked_tensor_type());
        if op.is::<Load>() || op.is::<Store>() {
            self.accesses.push(op);
            return vec![];
        }
        if let Some(mma) = op.cast::<Mma>() {
            return vec![mma.acc(), mma.result()];
        }
        if op.has_trait(Trait::Elementwise) || op.is::<ExtractSlice>() {
            return tensors(op.operand_values())
                .chain(tensors(op.result_values()))
                .collect();
        }
        vec![]
    }

    /// Gives ops that have a rule the parts of tiles that others give.
    fn take_in(&self) {
        for v in &self.foreign {
            let mut part = None;
            for (op, i) in uses(*v).into_iter().filter(|(op, i)| self.takes_part(*op, *i)) {
                let part = *part.get_or_insert_with(|| {
                    let at = Before(after(*v));
                    at.insert(ConvertLayout::build(
                        op.location(),
                        part_type(v.r#type()),
                        *v,
                        None,
                        false,
                    ))
                    .result0()
                });
                set_operand(op, i, part);
            }
        }
    }

    /// Gives other ops the tiles as a whole, while the parts still have the type of the whole.
    fn hand_out(&self) {
        for v in &self.values {
            let t = v.r#type();
            let made_anew = v
                .defining_op()
                .filter(|by| by.full_name() == "arith.constant" || by.is::<Splat>());
            for (op, i) in uses(*v).into_iter().filter(|(op, i)| !self.takes_part(*op, *i)) {
                let whole = match made_anew {
                    // SAFETY: the clone is detached, and goes where its operands are known.
                    Some(by) => unsafe { Operation::from_raw(mlirOperationClone(by.to_raw())) },
                    None => ConvertLayout::build(op.location(), t, *v, None, false),
                };
                set_operand(op, i, Before(op).insert(whole).result0());
            }
        }
    }

    /// Whether an op wants a warpgroup's part as an operand: loops and branches for what they carry as parts.
    fn takes_part(&self, op: OperationRef<'c, 'c>, operand: usize) -> bool {
        let carried = |carrier: Option<OperationRef<'c, 'c>>, n: Option<usize>| {
            let result = carrier.zip(n).and_then(|(op, n)| op.result_values().get(n).copied());
            result.is_some_and(|r| self.values.contains(&r))
        };
        match op.full_name() {
            "scf.yield" => carried(op.parent(), Some(operand)),
            "scf.for" => carried(Some(op), operand.checked_sub(3)),
            _ => self.ops.contains(&op),
        }
    }
}

/// The ops that use a value, with the number of the operand.
fn uses<'c>(v: V<'c>) -> Vec<(OperationRef<'c, 'c>, usize)> {
    let mut ops: Vec<OperationRef<'c, 'c>> = vec![];
    for op in v.users() {
        if !ops.contains(&op) {
            ops.push(op);
        }
    }
    let places = |op: &OperationRef<'c, 'c>| {
        let op = *op;
        let operands = op.operand_values().into_iter().enumerate();
        operands.filter(move |(_, o)| *o == v).map(move |(i, _)| (op, i))
    };
    ops.iter().flat_map(places).collect()
}

/// Whether a warpgroup does an op on its part of a tile as the block does it on the whole.
fn has_rule(op: OperationRef<'_, '_>) -> bool {
    let is_carrier = |op: OperationRef<'_, '_>| matches!(op.full_name(), "scf.for" | "scf.if");
    match op.full_name() {
        "scf.yield" => op.parent().is_some_and(is_carrier),
        "arith.constant" => is_splat(op),
        _ if moves_whole(op) => false,
        _ => {
            is_carrier(op)
                || op.has_trait(Trait::Elementwise)
                || op.is::<Load>()
                || op.is::<Store>()
                || op.is::<Splat>()
                || op.cast::<ExtractSlice>().is_some_and(are_columns)
                || op.cast::<Mma>().is_some_and(|mma| mma.is_staged())
        }
    }
}

/// Whether an op moves a tile between registers and memory as the whole block does, not each warpgroup its part: masks are of
/// whole tiles, what is outside of parts reads as zero, and between whole tiles a barrier goes where one is needed.
pub(crate) fn moves_whole(op: OperationRef<'_, '_>) -> bool {
    let pads = |load: Load<'_, '_>| load.pad().is_some() || load.pass_thru().is_some();
    masked(op).is_some() || op.cast::<Load>().is_some_and(pads) || meets_another(op)
}

/// Whether an op moves a tile between registers and memory that the kernel reads or writes elsewhere as well, so that other
/// threads' elements may be met.
fn meets_another<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    let place = |op: OperationRef<'c, 'a>| match (op.cast::<Load>(), op.cast::<Store>()) {
        (Some(load), _) => Some((load.source(), load.indices(), EffectKind::Write)),
        (_, Some(store)) => Some((store.destination(), store.indices(), EffectKind::Read)),
        _ => None,
    };
    let (Some((memory, indices, kind)), Some(kernel)) = (place(op), op.ancestor::<Kernel>()) else {
        return false;
    };
    // In a loop the same index is another place in another pass.
    let stays = loop_around(op, kernel.op()).is_none() || indices.iter().all(|i| is_fixed(*i));
    let is_same = |other| stays && place(other).is_some_and(|(own, at, _)| own == memory && at == indices);
    let meets = |other: OperationRef<'c, 'a>| {
        let effects = other.memory_effects().unwrap_or_default();
        effects
            .iter()
            .any(|(k, v)| *k == kind && v.is_some_and(|v| may_alias(v, memory)))
    };
    let others = kernel.op().nested_ops().into_iter();
    others
        .filter(|other| other.region_count() == 0 && meets(*other))
        .any(|other| !is_same(other) && !are_exclusive(op, other, kernel.op()))
}

/// A loop around an op in a kernel.
fn loop_around<'c: 'a, 'a>(op: OperationRef<'c, 'a>, kernel: OperationRef<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    std::iter::successors(op.parent(), |op| op.parent())
        .take_while(|op| *op != kernel)
        .find(|op| matches!(op.full_name(), "scf.for" | "scf.while"))
}

/// Whether two ops stand in different branches of one op that is come to once.
fn are_exclusive<'c: 'a, 'a>(a: OperationRef<'c, 'a>, b: OperationRef<'c, 'a>, kernel: OperationRef<'c, 'a>) -> bool {
    let branches = std::iter::successors(a.parent(), |op| op.parent())
        .filter(|op| matches!(op.full_name(), "scf.if" | "scf.index_switch") && b.is_in(*op))
        .filter(|op| loop_around(*op, kernel).is_none());
    branches.into_iter().any(|outer| {
        let holds = |r: usize, op: OperationRef<'c, 'a>| {
            let ops = outer.region_at(r).block_list().into_iter().flat_map(|b| b.op_list());
            ops.into_iter().any(|o| op.is_in(o))
        };
        (0..outer.region_count()).any(|r| holds(r, a) && !holds(r, b))
    })
}

/// The op before which everything that `v` is known to be defined for begins.
fn after<'c>(v: V<'c>) -> OperationRef<'c, 'c> {
    let block = match v.defining_op() {
        Some(by) => by.block(),
        None => v.argument_of().and_then(|(op, _)| {
            (0..op.region_count())
                .flat_map(|r| op.region_at(r).block_list())
                .find(|b| b.argument_values().contains(&v))
        }),
    };
    let ops = block.map(|b| b.op_list()).unwrap_or_default();
    let place = v
        .defining_op()
        .and_then(|by| ops.iter().position(|op| *op == by))
        .map_or(0, |i| i + 1);
    // A tile is used, and what uses it comes later in the block or in an op of it.
    ops[place]
}

fn set_operand<'c>(op: OperationRef<'c, 'c>, i: usize, v: V<'c>) {
    // SAFETY: the index is that of an operand; the types of the op's tiles change together.
    unsafe { mlirOperationSetOperand(op.to_raw(), i as isize, v.to_raw()) };
}

/// Whether a part of a tile is some of its columns side by side, as many as threads have in registers of their own.
pub(crate) fn are_columns(part: ExtractSlice<'_, '_>) -> bool {
    if !part.offsets().is_empty() || part.strides().is_some_and(|all| all.iter().any(|s| *s != 1)) {
        return false;
    }
    let shape = |v: Value<'_, '_>| v.r#type().shape().unwrap_or_default();
    match (&shape(part.source())[..], &shape(part.result())[..], &part.at()[..]) {
        ([whole, _], [rows, columns], [0, first]) => whole == rows && columns % 8 == 0 && first % 8 == 0,
        _ => false,
    }
}

/// Whether a constant has one element everywhere.
pub(crate) fn is_splat(constant: OperationRef<'_, '_>) -> bool {
    constant.attr("value").is_some_and(|v| unsafe {
        mlirAttributeIsADenseElements(v.to_raw()) && mlirDenseElementsAttrIsSplat(v.to_raw())
    })
}

/// Other values that are the same tile as `v`: `op` carries it from pass to pass, or out of a branch.
fn carried<'c>(op: OperationRef<'c, 'c>, v: V<'c>) -> Vec<V<'c>> {
    let terminators = |op: OperationRef<'c, 'c>| {
        (0..op.region_count())
            .filter_map(|r| op.region_at(r).entry().and_then(|b| b.terminator_op()))
            .map(|t| t.operand_values())
            .collect::<Vec<_>>()
    };
    let of = |op: OperationRef<'c, 'c>, n: usize| {
        let mut all: Vec<V<'c>> = terminators(op).iter().filter_map(|y| y.get(n).copied()).collect();
        all.extend(op.result_values().get(n).copied());
        if op.full_name() == "scf.for" {
            all.extend(op.operand_values().get(3 + n).copied());
            let arguments = op.region_at(0).entry().map(|b| b.argument_values());
            all.extend(arguments.and_then(|a| a.get(1 + n).copied()));
        }
        all
    };
    match op.full_name() {
        "scf.yield" => {
            let Some(parent) = op.parent() else { return vec![] };
            let places = op.operand_values();
            let mine = places.iter().enumerate().filter(|(_, o)| **o == v);
            mine.flat_map(|(n, _)| of(parent, n)).collect()
        }
        "scf.for" | "scf.if" => (0..op.result_count())
            .map(|n| of(op, n))
            .filter(|all| all.contains(&v))
            .flatten()
            .collect(),
        _ => vec![],
    }
}

/// The part of a tile that a warpgroup holds.
fn part_type<'c>(t: Type<'c>) -> Type<'c> {
    let columns = t.shape().unwrap_or_default()[1];
    let element = t.element_type().unwrap_or(t);
    // SAFETY: the layout is of the type's context, and has its rank.
    unsafe {
        let context = girih_ir::context(ContextRef::from_raw(mlirTypeGetContext(t.to_raw())));
        let layout = Layout::get(context, Fragment::WgmmaD);
        let shape = [WARPGROUP_ROWS, columns];
        let layout: Attribute = layout.into();
        Type::from_raw(mlirRankedTensorTypeGet(
            2,
            shape.as_ptr(),
            element.to_raw(),
            layout.to_raw(),
        ))
    }
}

/// Gives a tile the part that a warpgroup holds as its type.
fn deal_out(v: V<'_>) {
    let part = part_type(v.r#type());
    unsafe { mlirValueSetType(v.to_raw(), part.to_raw()) };
    let constant = v.defining_op().filter(|op| op.full_name() == "arith.constant");
    if let Some((op, value)) = constant.and_then(|op| Some((op, op.attr("value")?))) {
        // SAFETY: a constant tile that is reached is a splat: see `Tiles::of`.
        let value = unsafe {
            let one = mlirDenseElementsAttrGetSplatValue(value.to_raw());
            Attribute::from_raw(mlirDenseElementsAttrSplatGet(part.to_raw(), one))
        };
        op.set_attr("value", value);
    }
}

/// The instructions of one product.
fn instructions<'c>(mma: Mma<'c, 'c>, warpgroup: V<'c>) {
    let (op, at) = (mma.op(), Before(mma.op()));
    let e = Emit::new(&at, op.location());
    let loc = e.loc();
    let part = |side: Side, index: V<'c>| {
        let whole = mma.operand(side);
        let shape = whole.r#type().shape().unwrap_or_default();
        let t = crate::pipeline_loops::with_shape(whole.r#type(), &shape[1..]);
        e.insert(Slab::build(loc, t, whole, &[index])).result0()
    };
    let (a, b) = (part(Side::A, warpgroup), part(Side::B, e.index(0)));
    e.insert(Fence::build(loc));
    let t = mma.acc().r#type();
    let flying = e
        .insert(Wgmma::build(
            loc,
            InFlightType::get(e.context(), t).plain(),
            a,
            b,
            mma.acc(),
            mma.a_major(),
            mma.b_major(),
            mma.unsigned_a(),
            mma.unsigned_b(),
            mma.popc(),
        ))
        .result0();
    e.insert(Commit::build(loc));
    let done = e.insert(Wait::build(loc, &[t], &[flying], 0)).result0();
    mma.result().replace_all_uses_with(&done);
    // SAFETY: the op's result has no uses any more.
    unsafe { mlirOperationDestroy(op.to_raw()) };
}
