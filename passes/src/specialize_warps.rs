//! `tile-specialize-warps`: what runs ahead of a loop gets a warp of its own.
//!
//! ```mlir
//! tile.kernel @k(...) threads(256) launch { ... } body {                                                        // before
//!   ... mbarriers are initialised, tile.barrier
//!   %sum = scf.for %k = %c0 to %K step %c64 ... {
//!     tile.produce(%j) ahead(4) { ... }
//!     ...
//!   }
//!   tile.store ...
//! }
//!
//! tile.kernel @k(...) threads(384) launch { ... } body {                                                        // after
//!   ... mbarriers are initialised, tile.barrier
//!   tile.warp_specialize
//!   role consumer(%t) warps(8) registers(232) barrier(1) {
//!     %sum = scf.for %k = %c0 to %K step %c64 ... { ... }
//!     tile.store ...
//!   } role producer(%t) warps(4) registers(40) {
//!     ... one thread of its first warp:
//!     scf.for %k = %c0 to %K step %c64 { ... what the region did, with %k for %j }
//!   }
//! }
//! ```
//!
//! A region with `threads(128)` is run by the whole producer, each thread with its number there for the second argument. It
//! reads the number in each pass (`tile.thread_id fresh`): the many addresses that follow from it are not to be kept.
//!
//! The consumers keep their numbers; barriers of the block become barriers of theirs, and whole tiles are theirs. The producer
//! walks the same loops and branches, as far as they lead to a `tile.produce`, with its own copy of the index arithmetic:
//! bounds, conditions and places are computed from arguments, sizes and counters, through at most 256 ops. What is loaded, and
//! what a loop carries from pass to pass, it does not have.
//!
//! Registers go from the producer to the consumers. A thread of the producer has 40 beside up to 256 that consume, else 24;
//! where its threads copy themselves 88 and 40. The consumers share what is left of what the launch gives all, in steps of 8,
//! up to 240 each:
//!
//! | threads that consume | one thread copies | threads copy |
//! |---|---|---|
//! | 128 | 240 and 40 | 240 and 88 |
//! | 256 | 232 and 40 | 208 and 88 |
//! | 384 | 160 and 24 | 152 and 40 |
//! | 512 | 112 and 24 | 104 and 40 |
//!
//! Where the block cannot be divided, and with `roles=false`, the first thread of the block, or the first 128, run the region
//! in the loop: in the first pass for as many passes as they may be ahead, then for one. A remark says why: barriers with
//! numbers, roles that the program gives itself, threads of a cluster that meet, more than 896 threads, too few registers for
//! the sums of a product with that many threads, no barrier after the initialisation, or loops whose bounds the producer cannot
//! compute.
//!
//! *Needs* nothing. *Numbers* stay what they are.
use crate::{
    convert_tile_to_nvvm::lacks_registers,
    slice::{Slice, is_defined_in},
};
use girih_dialects::{
    nvvm::{Cmp, Emit},
    tile::{
        ops::{
            cluster::{ClusterArrive, ClusterWait},
            cluster_reduce::ClusterReduce,
            index::{Elect, ThreadId, WarpId},
            kernel::{EndRole, Kernel, MAX_THREADS, REGISTER_FILE, WarpSpecialize},
            mbarrier::Init,
            mma::Produce,
            sync::Barrier,
            wgmma::Wgmma,
        },
        types::accumulator_tensor,
    },
};
use girih_ir::{
    ext::{BlockExt, block},
    kind::{I64, Kind},
    mlir_sys::*,
    op::OpView,
    pass::{DialectSource, OptionDef, OptionDefault, Pass, PassContext, PassInfo},
    prelude::*,
    rewrite::{AtEnd, Before},
};

type V<'c> = Value<'c, 'c>;

/// Threads of the producer: registers are given by warpgroups.
const PRODUCER_THREADS: i64 = 128;
/// Barrier of the consumers; 0 is that of the block.
const CONSUMER_BARRIER: i64 = 1;
/// Most registers of a thread that setmaxnreg is asked for.
const MOST_REGISTERS: i64 = 240;

/// The pass.
pub struct SpecializeWarps;

impl Pass for SpecializeWarps {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        options: &[OptionDef {
            name: "roles",
            description: "Give what runs ahead a warp of its own where that can be",
            default: OptionDefault::Bool(true),
        }],
        dialects: &[
            DialectSource::Rust(&girih_dialects::tile::TILE),
            DialectSource::Upstream(mlirGetDialectHandle__scf__),
            DialectSource::Upstream(mlirGetDialectHandle__arith__),
        ],
        ..PassInfo::new(
            "tile-specialize-warps",
            "Give what runs ahead of loops a warp of its own",
        )
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        let roles = cx.option_bool("roles");
        let mut errors = Errors::default();
        for kernel in crate::kernels(module) {
            let produces: Vec<Produce> = kernel
                .op()
                .nested_ops()
                .into_iter()
                .filter_map(|op| op.cast())
                .collect();
            if produces.is_empty() {
                continue;
            }
            if roles {
                match specialize(kernel) {
                    Ok(()) => continue,
                    Err(why) => drop(Diag::remark(
                        &kernel.op(),
                        format!("copies in the threads that compute: {why}"),
                    )),
                }
            }
            for produce in produces {
                errors.merge(write_into_loop(produce));
            }
        }
        errors.result()
    }
}

/// Divides a kernel's block, or says why not and changes nothing.
fn specialize<'c>(kernel: Kernel<'c, 'c>) -> Result<(), String> {
    let threads = kernel.threads();
    if threads % PRODUCER_THREADS != 0 || threads + PRODUCER_THREADS > MAX_THREADS {
        return Err(format!(
            "with {PRODUCER_THREADS} more threads the block would have {}, expected a multiple of {PRODUCER_THREADS} up to {MAX_THREADS}",
            threads + PRODUCER_THREADS
        ));
    }
    let entry = kernel.body().entry().ok_or("the kernel has no body")?;
    let mut several = false;
    for op in kernel.op().nested_ops() {
        if let Some(n) = op.cast::<Produce>().and_then(|p| p.threads()) {
            if n != PRODUCER_THREADS {
                return Err(format!(
                    "{n} threads run ahead, and a role for them has {PRODUCER_THREADS}"
                ));
            }
            several = true;
        }
        if op.is::<WarpSpecialize>() {
            return Err("the program has roles already".to_owned());
        }
        let sums = op
            .cast::<Wgmma>()
            .and_then(|product| accumulator_tensor(product.acc().r#type()));
        if let Some((held, left)) = sums.and_then(|acc| lacks_registers(acc, threads + PRODUCER_THREADS)) {
            return Err(format!(
                "with {PRODUCER_THREADS} more threads each would have {left} registers, of which the sums of a product take {held}"
            ));
        }
        if op.cast::<Barrier>().is_some_and(|b| b.id().is_some()) {
            return Err("the program uses barriers by number".to_owned());
        }
        if op.is::<ClusterReduce>() || op.is::<ClusterArrive>() || op.is::<ClusterWait>() {
            return Err("all threads of a cluster meet in the program".to_owned());
        }
    }
    let (ops, end) = match entry.op_list().split_last() {
        Some((end, ops)) => (ops.to_vec(), *end),
        None => return Err("the kernel does nothing".to_owned()),
    };
    let init = ops.iter().position(|op| !op.nested::<Init>().is_empty());
    let barrier = init.and_then(|f| ops[f..].iter().position(|op| op.is::<Barrier>()).map(|b| f + b));
    let split = 1 + barrier.ok_or("no barrier follows the initialisation of the mbarriers")?;
    let rest = &ops[split..];

    let loc = kernel.op().location();
    let producer = Region::new();
    let block_of_producer = producer.append_block(block(&[Type::index(kernel.op().ctx())], loc));
    let is_outside = |v: V<'c>| match v.defining_op() {
        Some(by) => !rest.contains(&by) && !rest.iter().any(|op| is_defined_in(v, *op)),
        None => !rest.iter().any(|op| is_defined_in(v, *op)),
    };
    produce_apart(block_of_producer, rest, is_outside, threads / 32, loc)?;

    // From here on nothing can go wrong.
    let consumer = Region::new();
    let block_of_consumer = consumer.append_block(block(&[Type::index(kernel.op().ctx())], loc));
    for op in rest {
        // SAFETY: the op leaves its block before it enters the other.
        unsafe {
            mlirOperationRemoveFromParent(op.to_raw());
            mlirBlockAppendOwnedOperation(block_of_consumer.to_raw(), op.to_raw());
        }
    }
    Emit::new(&AtEnd(block_of_consumer), loc).insert(EndRole::build(loc));
    let context = kernel.op().ctx();
    for op in rest.iter().flat_map(|op| op.nested_ops()) {
        if op.is::<Barrier>() {
            op.set_attr("id", I64::to_attribute(&CONSUMER_BARRIER, context));
            op.set_attr("threads", I64::to_attribute(&threads, context));
        }
    }
    let inside = rest.iter().flat_map(|op| op.nested_ops());
    let produces: Vec<_> = inside.filter(|op| op.is::<Produce>()).collect();
    for produce in produces {
        // SAFETY: it has no results; the list holds it once, and nothing of what is in it.
        unsafe { mlirOperationDestroy(produce.to_raw()) };
    }
    let (consumers, producers) = registers(threads, several);
    let roles = WarpSpecialize::build(
        loc,
        vec!["consumer".to_owned(), "producer".to_owned()],
        vec![threads / 32, PRODUCER_THREADS / 32],
        vec![consumers, producers],
        Some(vec![CONSUMER_BARRIER, 0]),
        vec![consumer, producer],
    );
    Emit::new(&Before(end), loc).insert(roles);
    let all = threads + PRODUCER_THREADS;
    kernel.op().set_attr("threads", I64::to_attribute(&all, context));
    Ok(())
}

/// Registers of a thread that consumes and of one that produces, where `threads` consume. Threads that copy themselves need
/// more than one that issues tensor copies. More than these were measured to slow `cp.async` down: with 136, a bf16 product
/// of 8100^3 on an H200 falls from 2.05 to 1.48 of cuBLAS.
fn registers(threads: i64, copies: bool) -> (i64, i64) {
    let producer = match (threads <= 256, copies) {
        (true, true) => 88,
        (true, false) | (false, true) => 40,
        (false, false) => 24,
    };
    // What the launch gives all threads is what there is.
    let all = threads + PRODUCER_THREADS;
    let left = REGISTER_FILE / all / 8 * 8 * all - PRODUCER_THREADS * producer;
    ((left / threads / 8 * 8).min(MOST_REGISTERS), producer)
}

/// Who runs a part of the producer.
#[derive(Clone, Copy, PartialEq)]
enum Runners {
    All,
    One,
}

/// What the producer does, written to its block: its threads walk through `ops`.
fn produce_apart<'c>(
    to: BlockRef<'c, '_>,
    ops: &[OperationRef<'c, 'c>],
    is_outside: impl Fn(V<'c>) -> bool,
    first_warp: i64,
    loc: Location<'c>,
) -> Result<(), String> {
    // SAFETY: the block lives as long as the region that the caller holds.
    let to = unsafe { BlockRef::from_raw(to.to_raw()) };
    let at = AtEnd(to);
    let e = Emit::new(&at, loc);
    let mut walk = Walk {
        slice: Slice::new(is_outside),
        first_warp,
    };
    let leads: Vec<_> = ops.iter().copied().filter(|op| leads(*op, None)).collect();
    let done = if leads.iter().any(|op| self::leads(*op, Some(Runners::All))) {
        walk.ops(&leads, &e, None, Runners::All)
    } else {
        walk.alone(&e, |walk, e| walk.ops(&leads, e, None, Runners::One))
    };
    e.insert(EndRole::build(loc));
    done
}

/// Whether an op is a `tile.produce`, or there is one in it, that is for these threads.
fn leads(op: OperationRef<'_, '_>, runners: Option<Runners>) -> bool {
    let mut produces = op.nested_ops().into_iter().filter_map(|inner| inner.cast::<Produce>());
    produces.any(|p| {
        let by = if p.threads().is_some() {
            Runners::All
        } else {
            Runners::One
        };
        runners.is_none_or(|r| r == by)
    })
}

/// The producer's way through the kernel's loops and branches.
struct Walk<'c, 'f> {
    slice: Slice<'c, 'f>,
    first_warp: i64,
}

fn blame(v: V<'_>) -> String {
    match v.defining_op() {
        Some(op) => format!("the producer cannot compute what '{}' gives", op.full_name()),
        None => "the producer cannot compute what a loop carries".to_owned(),
    }
}

impl<'c> Walk<'c, '_> {
    fn get(&mut self, v: V<'c>, e: &Emit<'c, '_>) -> Result<V<'c>, String> {
        self.slice.get(v, e.builder()).map_err(blame)
    }

    /// One thread of the first warp does it.
    fn alone(
        &mut self,
        e: &Emit<'c, '_>,
        body: impl FnOnce(&mut Self, &Emit<'c, '_>) -> Result<(), String>,
    ) -> Result<(), String> {
        let warp = e.insert(WarpId::build(e.loc(), e.index_type())).result0();
        let is_first = e.cmp(Cmp::Eq, warp, e.index(self.first_warp));
        let mut done = Ok(());
        e.if_then(is_first, |e| {
            let elected = e.insert(Elect::build(e.loc(), e.int(1))).result0();
            e.if_then(elected, |e| {
                let mark = self.slice.enter();
                done = body(self, &e);
                self.slice.leave(mark);
            });
        });
        done
    }

    /// Writes what leads to a `tile.produce`, and its region; `runners` is who is here.
    fn ops(
        &mut self,
        ops: &[OperationRef<'c, 'c>],
        e: &Emit<'c, '_>,
        counter: Option<V<'c>>,
        runners: Runners,
    ) -> Result<(), String> {
        for op in ops.iter().filter(|op| leads(**op, None)) {
            if runners == Runners::All && !leads(*op, Some(Runners::All)) {
                self.alone(e, |walk, e| walk.op(*op, e, counter, Runners::One))?;
            } else {
                self.op(*op, e, counter, runners)?;
            }
        }
        Ok(())
    }

    fn op(
        &mut self,
        op: OperationRef<'c, 'c>,
        e: &Emit<'c, '_>,
        counter: Option<V<'c>>,
        runners: Runners,
    ) -> Result<(), String> {
        let mut done = Ok(());
        if let Some(produce) = op.cast::<Produce>() {
            let block = produce.copies().entry().ok_or("a tile.produce is empty")?;
            let mark = self.slice.enter();
            let arguments = block.argument_values();
            if let (Some(own), Some(counter)) = (arguments.first(), counter) {
                self.slice.set(*own, counter);
            }
            if let Some(own) = arguments.get(1) {
                let thread = e.insert(ThreadId::build(e.loc(), e.index_type(), true)).result0();
                self.slice.set(*own, e.sub(thread, e.index(32 * self.first_warp)));
            }
            done = self.slice.copy_block(block, e.builder()).map_err(blame);
            self.slice.leave(mark);
            return done;
        }
        let inside = |region: usize| {
            let block = op.region_at(region).entry();
            block.map(|b| (b.argument_values(), b.op_list()))
        };
        let operands = op.operand_values();
        match op.full_name() {
            "scf.for" => {
                let (from, to, step) = (
                    self.get(operands[0], e)?,
                    self.get(operands[1], e)?,
                    self.get(operands[2], e)?,
                );
                let (arguments, ops) = inside(0).ok_or("a loop is empty")?;
                // What does not change from pass to pass is computed once.
                let regions = op.nested_ops().into_iter().filter(|inner| inner.is::<Produce>());
                let used = regions
                    .flat_map(|region| region.nested_ops())
                    .flat_map(|inner| inner.operand_values());
                for v in used.filter(|v| !is_defined_in(*v, op)) {
                    self.get(v, e)?;
                }
                e.for_loop(from, to, step, |e, counter| {
                    let mark = self.slice.enter();
                    self.slice.set(arguments[0], counter);
                    done = self.ops(&ops, &e, Some(counter), runners);
                    self.slice.leave(mark);
                });
                done
            }
            "scf.if" => {
                let condition = self.get(operands[0], e)?;
                for (region, of) in [(0, condition), (1, e.xor(condition, e.constant(1, e.int(1))))] {
                    let Some((_, ops)) = inside(region).filter(|(_, ops)| ops.iter().any(|op| leads(*op, None))) else {
                        continue;
                    };
                    e.if_then(of, |e| {
                        let mark = self.slice.enter();
                        done = self.ops(&ops, &e, None, runners);
                        self.slice.leave(mark);
                    });
                    done.clone()?;
                }
                Ok(())
            }
            name => Err(format!("the producer cannot follow '{name}'")),
        }
    }
}

/// Lets the first threads of the block run the region in the loop.
fn write_into_loop<'c>(produce: Produce<'c, 'c>) -> Res {
    let op = produce.op();
    let Some(place) = op.parent() else { return Ok(()) };
    let bounds = place.operand_values();
    let arguments = place
        .region_at(0)
        .entry()
        .map(|b| b.argument_values())
        .unwrap_or_default();
    let (Some(counter), Some(region)) = (arguments.first().copied(), produce.copies().entry()) else {
        return Ok(());
    };
    let (at, loc) = (Before(op), op.location());
    let e = Emit::new(&at, loc);
    let (from, to, step) = (bounds[0], bounds[1], bounds[2]);
    let thread = e.insert(ThreadId::build(loc, e.index_type(), false)).result0();
    let is_first = match produce.threads() {
        Some(n) => e.cmp(Cmp::Ult, thread, e.index(n)),
        None => e.cmp(Cmp::Eq, thread, e.index(0)),
    };
    let mut result = Ok(());
    e.if_then(is_first, |e| {
        let last = e.add(counter, e.mul(step, e.index(produce.ahead() - 1)));
        let start = e.select(e.cmp(Cmp::Eq, counter, from), counter, last);
        let end = e.add(last, step);
        let end = e.select(e.cmp(Cmp::Slt, end, to), end, to);
        e.for_loop(start, end, step, |e, pass| {
            let thread = match produce.threads() {
                Some(_) => e.insert(ThreadId::build(loc, e.index_type(), true)).result0(),
                None => thread,
            };
            let mut slice = Slice::new(|v| !is_defined_in(v, op));
            for (own, given) in region.argument_values().into_iter().zip([pass, thread]) {
                slice.set(own, given);
            }
            result = slice.copy_block(region, e.builder());
        });
    });
    if result.is_err() {
        return Diag::op(&op, "has a region that cannot be written elsewhere").report();
    }
    // SAFETY: it has no results.
    unsafe { mlirOperationDestroy(op.to_raw()) };
    Ok(())
}
