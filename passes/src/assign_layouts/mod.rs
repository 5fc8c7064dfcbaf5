//! `tile-assign-layouts`: says which thread holds which element of every tile.
//!
//! ```mlir
//! %x = tile.load %X[%i] : memref<?xf32, #tile.global> -> tensor<1024xf32>                                    // before
//! %y = arith.addf %x, %one : tensor<1024xf32>
//!
//! %x = tile.load %X[%i] : memref<?xf32, #tile.global> -> tensor<1024xf32, #L>                                // after
//! %y = arith.addf %x, %one : tensor<1024xf32, #L>
//! // #L = #tile.blocked<per_thread = [4], lanes = [32], warps = [4]>
//! ```
//!
//! Products of matrices come first. An accumulator lies as `mma.sync` has it ([`MmaTile`]): the warps of the block divide it
//! so that each needs the least of A and B, or row by row where the rows of a product are reduced or a product multiplies
//! what another gave. Its operands are given the layout that this asks of them; a result that goes into the next product as A
//! has it already. A tile that a loop does not change is converted before it. What `tile-expand-mma` takes from warpgroups
//! stays where it is.
//!
//! Loads come then, the larger before the smaller: a load gets a layout in which warps move whole sectors, in vectors of 16
//! bytes, and what is computed from it or with it takes its layout over, through elementwise ops, reductions and loops.
//! What no load reaches takes the layout that a store wants. A load or store that would touch half as many sectors again as
//! it needs under the layout that reaches it, or take three times the wavefronts in shared memory, keeps its own. A buffer whose
//! swizzle is open has the best one for each: `tile-swizzle-shared` chooses by the layouts.
//!
//! Where layouts meet that differ, `tile.convert_layout` stands; constants, splats and iotas are made anew instead. So is any
//! tile where that costs less: the ops that it is made of, element by element or by broadcasts and transpositions, are done in
//! the other layout, as far back as pays, and what they take is converted there. So a mask of counts is compared twice and
//! goes nowhere, `bf16` is converted before it is widened, and a vector before it is repeated. An op whose result nobody takes in
//! the first layout is not done twice, but moves. Nothing is loaded again.
//!
//! ```mlir
//! %y = arith.extf %x : tensor<64x64xbf16, #L> to tensor<64x64xf32, #L>                                       // meets #M
//!
//! %c = tile.convert_layout %x : tensor<64x64xbf16, #L> -> tensor<64x64xbf16, #M>
//! %y = arith.extf %c : tensor<64x64xbf16, #M> to tensor<64x64xf32, #M>
//! ```
//!
//! Costs are counted in instructions of a warp. An op takes one for each element that a thread holds, a division or a function
//! of `math` 20, and nothing where it only names registers. A conversion takes 4 for each shuffle and each wavefront of shared
//! memory, of which a multiprocessor does one while it issues four instructions, 32 to wait for the block, or 8 for the warp,
//! and one for each number that shares a word with one before it. Where costs are equal, and past 64 ops, tiles are converted.
//!
//! With `seed`, half of the tiles get layouts that are drawn at random, and so half of the ops stand between conversions: for
//! tests, since no layout may change a result.
//!
//! In a role that says where its threads meet (`tile.warp_specialize`), tiles are divided among the threads of the role.
//!
//! *Needs* `threads` of the kernel to be 32 times a power of two, or of the role. Tensors that have a layout keep it. *Refuses*
//! ops on tiles for which it has no rule, tiles whose sizes are no powers of two (`tile-pad-tiles` pads them), a negative
//! `seed`, and ops on whole tiles where only some threads come by or with numbers that differ between threads. It gives a
//! remark for each conversion. *Numbers* stay what they are.
mod anchors;
mod anew;
mod graph;
mod products;
mod random;
mod settle;
pub use graph::is_free;
pub(crate) use graph::{Graph, is_open};
pub use products::factor;

use crate::{
    shared_uses::{InRole, in_role},
    swizzle_shared::open_modes,
};
use anchors::{bank_cost, coalesced, coalesced_rows, coalesced_with_copies, order, sector_cost};
#[cfg(doc)]
use girih_core::layout::MmaTile;
use girih_core::{draw::Dice, tensor_map::Swizzle};
use girih_dialects::tile::{
    distribution::Distribution,
    ops::{
        atomic::AtomicRmw,
        kernel::Kernel,
        memory::{Load, Store},
        rows::{Gather, Scatter, masked},
    },
    spaces::shared_of,
    verify::{element_bits, holders},
};
use girih_ir::{
    ext::BlockExt,
    mlir_sys::*,
    op::OpView,
    pass::{DialectSource, OptionDef, OptionDefault, Pass, PassContext, PassInfo, Statistic},
    prelude::*,
};
use graph::sliced;
use settle::{Settled, settle};

/// Sectors touched for each needed, in hundredths, that an access puts up with.
const TOLERATED_COST: u64 = 150;
/// Wavefronts of shared memory for each under the layout that an access wants, in hundredths, that it puts up with: to go there
/// and change the layout takes two more passes through shared memory.
const TOLERATED_BANK_COST: u64 = 300;

/// Most axes of a tile: what numbers of axes in layouts have room for.
const MOST_AXES: usize = u8::MAX as usize;

/// The pass.
pub struct AssignLayouts;

impl Pass for AssignLayouts {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        options: &[OptionDef {
            name: "seed",
            description: "Draw layouts at random, for tests; 0: do not",
            default: OptionDefault::Int(0),
        }],
        statistics: &[
            Statistic {
                name: "laid-out",
                description: "Tiles that were given a layout",
            },
            Statistic {
                name: "conversions",
                description: "Conversions between layouts that move data between threads",
            },
            Statistic {
                name: "made-anew",
                description: "Ops done in another layout, or again, because that costs less than to convert what they give",
            },
        ],
        dialects: &[DialectSource::Rust(&girih_dialects::tile::TILE)],
        ..PassInfo::new(
            "tile-assign-layouts",
            "Say which thread holds which element of every tile",
        )
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        if let seed @ ..0 = cx.option_int("seed") {
            let m = format!(
                "option 'seed' of tile-assign-layouts is a number from 1 on, or 0 to draw nothing, but is {seed}; leave it out"
            );
            return Diag::error(module.location(), m).report();
        }
        let mut errors = Errors::default();
        for kernel in module.nested::<Kernel>() {
            crate::role_tiles::make_anew(kernel);
            crate::whole_tiles::check(kernel)?;
            crate::constant_tiles::write_out(kernel)?;
            errors.merge(assign(kernel, cx));
        }
        errors.result()
    }
}

/// An access to memory.
struct Access<'c> {
    tile: Value<'c, 'c>,
    mask: Option<Value<'c, 'c>>,
    strides: Vec<i64>,
    element_bytes: u64,
    /// Whether numbers say where rows lie.
    by_rows: bool,
    /// Of shared memory, the swizzle; those that it may get, where it is open.
    shared: Option<Vec<Swizzle>>,
}

impl<'c> Access<'c> {
    fn of(op: OperationRef<'c, 'c>) -> Option<Access<'c>> {
        let (tile, memory) = if let Some(load) = op.cast::<Load>() {
            (load.result(), load.source())
        } else if let Some(gather) = op.cast::<Gather>() {
            (gather.result(), gather.source())
        } else if let Some(scatter) = op.cast::<Scatter>() {
            (scatter.value(), scatter.destination())
        } else if let Some(atomic) = op.cast::<AtomicRmw>() {
            (atomic.tile(), atomic.destination())
        } else {
            let store = op.cast::<Store>()?;
            (store.value(), store.destination())
        };
        let (strides, _) = memory.r#type().strides_and_offset()?;
        Some(Access {
            tile,
            mask: masked(op).map(|(_, mask)| mask),
            strides,
            element_bytes: element_bits(tile.r#type())? / 8,
            by_rows: op.is::<Gather>() || op.is::<Scatter>(),
            shared: shared_of(memory.r#type()).map(|s| match s.is_open() {
                true => open_modes(memory.r#type()),
                false => vec![s.mode()],
            }),
        })
    }
    /// The layout that it wants.
    fn wanted(&self, warps: u64) -> Attribute<'c> {
        let t = self.tile.r#type();
        // SAFETY: the context that the type came from.
        let context = girih_ir::context(unsafe { ContextRef::from_raw(mlirTypeGetContext(t.to_raw())) });
        if self.strides.is_empty() {
            return plain(t, warps);
        }
        let (shape, order) = (t.shape().unwrap_or_default(), order(&self.strides));
        match self.by_rows {
            true => coalesced_rows(context, &shape, &order, self.element_bytes, warps).into(),
            false => coalesced(context, &shape, &order, self.element_bytes, warps).into(),
        }
    }
    /// Whether it can do with a layout.
    fn tolerates(&self, layout: Attribute<'c>, warps: u64) -> bool {
        let shape = self.tile.r#type().shape().unwrap_or_default();
        let cost = |l| {
            let d = Distribution::new(l, &shape)?;
            let banks = |swizzle: &Swizzle| bank_cost(&d, &self.strides, self.element_bytes, *swizzle);
            match &self.shared {
                // The swizzle is chosen by what comes of this.
                Some(swizzles) => swizzles.iter().filter_map(banks).min(),
                None => Some(sector_cost(&d, &self.strides, self.element_bytes)),
            }
        };
        let tolerated = match &self.shared {
            Some(_) => TOLERATED_BANK_COST,
            None => TOLERATED_COST,
        };
        match (cost(layout), cost(self.wanted(warps))) {
            (Some(found), Some(best)) => found * 100 <= best * tolerated,
            // Nobody knows better.
            (None, None) if self.shared.is_some() => true,
            _ => false,
        }
    }
}

/// Lays out the tiles of a kernel: those of the block, then those of each role.
fn assign<'c>(kernel: Kernel<'c, 'c>, cx: &PassContext<'c>) -> Res {
    let body: Vec<_> = kernel
        .body()
        .block_list()
        .iter()
        .flat_map(|b| b.op_list())
        .flat_map(|op| op.nested_ops())
        .collect();
    let mut places: Vec<(InRole, Vec<OperationRef>)> = vec![(None, vec![])];
    for op in &body {
        let role = in_role(*op);
        match places.iter_mut().find(|(r, _)| *r == role) {
            Some((_, ops)) => ops.push(*op),
            None => places.push((role, vec![*op])),
        }
    }
    let mut errors = Errors::default();
    let (mut spare, mut moves) = (vec![], vec![]);
    for (_, ops) in &places {
        let settled = assign_in(kernel, ops, cx).map(|settled| {
            cx.count(2, settled.anew);
            spare.extend(settled.spare);
            moves.extend(settled.moves);
        });
        errors.merge(settled);
    }
    errors.result()?;
    // Tiles that every user has in another layout.
    let ops = kernel.body().block_list().into_iter().flat_map(|b| b.op_list());
    let ops: Vec<_> = ops.flat_map(|op| op.nested_ops()).collect();
    for op in ops.into_iter().rev() {
        let results = op.result_values();
        let is_spare = || spare.contains(&op) || results.first().is_some_and(|r| is_free(*r) && is_open(*r));
        if results.iter().all(|r| r.users().is_empty()) && is_spare() {
            if let Some(n) = moves.iter().position(|(by, _)| *by == op) {
                moves.remove(n).1.abandon();
            }
            // SAFETY: its results have no uses, and the list holds it once.
            unsafe { mlirOperationDestroy(op.to_raw()) };
        }
    }
    cx.count(1, moves.len() as u64);
    Ok(())
}

/// Lays out the tiles of ops which the same threads run.
fn assign_in<'c>(kernel: Kernel<'c, 'c>, body: &[OperationRef<'c, 'c>], cx: &PassContext<'c>) -> Res<Settled<'c>> {
    let open = |op: &&OperationRef<'c, 'c>| {
        // What is free is laid out where it is used.
        let made = op.result_values().into_iter().filter(|v| !is_free(*v));
        op.operand_values().into_iter().chain(made).any(is_open)
    };
    let Some(threads) = body.iter().find(open).and_then(|op| holders(*op)) else {
        return Ok(Settled::default());
    };
    if threads % 32 != 0 || !(threads as u64).is_power_of_two() {
        let next = threads.max(32).unsigned_abs().next_power_of_two().min(1024);
        let remedy = match threads {
            ..32 | 1025.. => format!("write {next}"),
            _ => format!("write {} or {next}", next / 2),
        };
        let m = format!(
            "computes with tiles, whose layouts need 32, 64, 128, 256, 512 or 1024 threads, but has threads({threads}); {remedy}"
        );
        return Diag::op(&kernel.op(), m).report();
    }
    let warps = threads as u64 / 32;
    let mut errors = Errors::default();
    for op in body {
        sizes_fit(*op, &mut errors);
    }
    errors.result()?;
    let mut graph = Graph::of(body)?;
    if let seed @ 1.. = cx.option_int("seed") {
        draw_layouts(&mut graph, kernel.op().ctx(), seed as u64, warps);
    }
    products::spread(&mut graph, body, warps);
    spread_from_accesses(&mut graph, body, warps);
    graph.close(body, &|t| plain(t, warps), &|t, part, whole| {
        let axes: Vec<usize> = (0..part.len()).rev().collect();
        if axes.is_empty() {
            return plain(t, warps);
        }
        // Copies along an axis that is not cut are copies in the whole, too. Where all axes are cut they go along one more.
        let (context, bytes) = (kernel.op().ctx(), element_bits(t).unwrap_or(32) / 8);
        if let Some(uncut) = axes.iter().copied().find(|a| part[*a] == whole[*a]) {
            return coalesced_with_copies(context, part, &axes, bytes, warps, uncut).into();
        }
        let (further, one) = (part.len(), [part, &[1]].concat());
        let axes: Vec<usize> = axes.into_iter().chain([further]).collect();
        sliced(
            coalesced_with_copies(context, &one, &axes, bytes, warps, further).into(),
            further,
        )
    });
    for (tile, layout) in graph.tiles.iter().zip(&graph.layouts) {
        if let Some(layout) = layout {
            set_layout(*tile, *layout);
        }
    }
    cx.count(0, graph.tiles.len() as u64);
    let mut settled = Settled::default();
    for op in body {
        settle(*op, &graph, warps, &mut settled);
    }
    Ok(settled)
}

/// Gives half of the tiles layouts drawn at random, some with all that follows from them.
fn draw_layouts<'c>(graph: &mut Graph<'c>, context: &'c Context, seed: u64, warps: u64) {
    let mut dice = Dice(seed);
    // Layouts of small tiles, in which threads hold copies, are none for large ones.
    let small = graph
        .tiles
        .iter()
        .all(|t| random::may_copy(&t.r#type().shape().unwrap_or_default(), warps));
    for n in 0..graph.tiles.len() {
        let choice = dice.below(4);
        if choice < 2 {
            let shape = graph.tiles[n].r#type().shape().unwrap_or_default();
            let layout = random::layout(&mut dice, context, &shape, warps);
            match choice {
                0 if small => graph.spread(n, layout),
                _ => graph.layouts[n] = Some(layout),
            }
        }
    }
    // What follows from a drawn layout is drawn too: no accumulator lies so.
    for (drawn, layout) in graph.drawn.iter_mut().zip(&graph.layouts) {
        *drawn |= layout.is_some();
    }
}

/// Whether the tiles that an op gives have sizes for which there are layouts.
fn sizes_fit(op: OperationRef<'_, '_>, errors: &mut Errors) {
    for t in op
        .result_values()
        .into_iter()
        .filter(|v| is_open(*v))
        .map(|v| v.r#type())
    {
        let shape = t.shape().unwrap_or_default();
        if shape.len() > MOST_AXES {
            let m = format!(
                "gives a tile of {} axes, but layouts have at most {MOST_AXES}; leave axes of size 1 out",
                shape.len()
            );
            errors.op(&op, m);
        } else if shape.iter().any(|s| *s < 1) {
            errors.op(
                &op,
                format!("gives {t}, but a tile has one element or more along each axis, as many as the type says"),
            );
        } else if shape.iter().any(|s| !s.unsigned_abs().is_power_of_two()) {
            errors.op(
                &op,
                format!("gives {t}, but layouts are of sizes that are powers of two; run tile-pad-tiles first"),
            );
        }
    }
}

/// Loads, then stores, then whatever is left.
fn spread_from_accesses<'c>(graph: &mut Graph<'c>, body: &[OperationRef<'c, 'c>], warps: u64) {
    let accesses = |wanted: &dyn Fn(&OperationRef<'c, 'c>) -> bool| {
        let mut found: Vec<Access> = body
            .iter()
            .filter(|op| wanted(op))
            .filter_map(|op| Access::of(*op))
            .collect();
        let weight = |a: &Access| {
            let shape = a.tile.r#type().shape().unwrap_or_default();
            (shape.len(), shape.iter().product::<i64>())
        };
        found.sort_by_key(|a| std::cmp::Reverse(weight(a)));
        found
    };
    // What is scattered is loaded as it is stored.
    for scatter in accesses(&|op| op.is::<Scatter>()) {
        if let Some(n) = graph.number(scatter.tile).filter(|n| graph.layouts[*n].is_none()) {
            graph.spread(n, scatter.wanted(warps));
        }
    }
    for load in accesses(&|op| op.is::<Load>() || op.is::<Gather>()) {
        let Some(n) = graph.number(load.tile) else { continue };
        match graph.layouts[n] {
            Some(l) if graph.drawn[n] || load.tolerates(l, warps) => {}
            Some(_) => graph.layouts[n] = Some(load.wanted(warps)),
            None => graph.spread(n, load.wanted(warps)),
        }
    }
    for store in accesses(&|op| op.is::<Store>() || op.is::<Scatter>() || op.is::<AtomicRmw>()) {
        // What is free goes where the mask is.
        let tile = graph.number(store.tile).or_else(|| graph.number(store.mask?));
        if let Some(n) = tile.filter(|n| graph.layouts[*n].is_none()) {
            graph.spread(n, store.wanted(warps));
        }
    }
    for n in 0..graph.tiles.len() {
        if graph.layouts[n].is_none() {
            graph.spread(n, plain(graph.tiles[n].r#type(), warps));
        }
    }
}

/// A layout for a tile that no access is concerned with: rows lie in as few warps as they can.
fn plain<'c>(t: Type<'c>, warps: u64) -> Attribute<'c> {
    // SAFETY: the context that the type came from.
    let context = girih_ir::context(unsafe { ContextRef::from_raw(mlirTypeGetContext(t.to_raw())) });
    let bytes = element_bits(t).unwrap_or(32) / 8;
    match &t.shape().unwrap_or_default()[..] {
        // Every thread holds the one element.
        [] => sliced(coalesced(context, &[1], &[0], bytes, warps).into(), 0),
        shape => {
            let axes: Vec<usize> = (0..shape.len()).rev().collect();
            coalesced(context, shape, &axes, bytes, warps).into()
        }
    }
}

/// `t` with a layout.
fn laid_out<'c>(t: Type<'c>, layout: Attribute<'c>) -> Type<'c> {
    let shape = t.shape().unwrap_or_default();
    let element = t.element_type().unwrap_or(t);
    // SAFETY: shape and element type are those of a ranked tensor; the layout has its rank.
    unsafe {
        Type::from_raw(mlirRankedTensorTypeGet(
            shape.len() as isize,
            shape.as_ptr(),
            element.to_raw(),
            layout.to_raw(),
        ))
    }
}

fn set_layout<'c>(v: Value<'c, 'c>, layout: Attribute<'c>) {
    let t = laid_out(v.r#type(), layout);
    // SAFETY: shape and elements stay, and every user is settled after it.
    unsafe { mlirValueSetType(v.to_raw(), t.to_raw()) };
}
