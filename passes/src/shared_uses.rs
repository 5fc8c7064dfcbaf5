//! Who uses which shared buffer, and which uses may come after which without a barrier of the block between: what
//! `tile-insert-sync` orders by, and `tile-allocate-shared` lets buffers share bytes by.
//!
//! Uses come from the effects of ops and from their marks ([`girih_dialects::tile::marks`]). A [`Walk`] goes through a kernel's
//! body in the order of its control flow. In front of it go the uses that are *pending*: those that some path leads from to
//! here without a barrier of all threads, and writes that the async proxy may not see yet.
//!
//! ```text
//! store %m          pending: the store
//! tile.barrier      pending: none, for the generic proxy; the store still, for the async proxy
//! tile.fence proxy_async_shared
//!                   pending: none
//! ```
//!
//! Global memory can be followed, too ([`Uses::with_global`]): each argument of the kernel is a buffer of its own then.
//!
//! Branches are joined; loops, and regions with several blocks, are walked until nothing new is pending. A role that keeps a
//! barrier for its threads is walked like a block: its barrier ends what its own threads have pending, and one of the block,
//! before or after all roles, ends the rest. Other roles order themselves.
//!
//! Memory that loops and branches carry, or a choice gives, is followed: what goes to a name is a use of all buffers that it
//! may stand for.
use crate::allocate_scratch::scratch_bytes;
use girih_dialects::tile::{
    distribution::is_distributed,
    layouts::layout_of,
    marks::{ASYNC, COLLECTIVE, IN_FLIGHT, Order, marked_operands, order_of},
    ops::{
        kernel::{Kernel, WarpSpecialize},
        memory::{Alloc, is_mbarrier},
        rows::place_operands,
        value::ConvertLayout,
    },
    spaces::{is_global, shared_of},
    verify::enclosing,
};
use girih_ir::{
    ext::BlockExt,
    module::place_of,
    op::{EffectKind, OpView},
    prelude::*,
};
use std::collections::{BTreeMap, BTreeSet};

type V<'c> = Value<'c, 'c>;

/// How an op reaches a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Each thread by itself, through the generic proxy.
    Plain,
    /// All threads of the block, or of a role, which write, wait inside the op, and read.
    Collective,
    /// Through the async proxy, possibly still when the op is done.
    Async,
}

/// What an op does to a buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Use<'c> {
    /// The op.
    pub op: OperationRef<'c, 'c>,
    /// The memref that it names: the buffer or a part of it.
    pub memory: V<'c>,
    /// Number of the buffer.
    pub buffer: usize,
    /// Whether it reads.
    pub reads: bool,
    /// Whether it writes.
    pub writes: bool,
    /// How.
    pub way: Way,
    /// Whether it may go on after the op.
    pub in_flight: bool,
}

impl<'c> Use<'c> {
    /// The tile that the op moves, where it does not move one element.
    pub fn tile(&self) -> Option<Type<'c>> {
        let values = self.op.result_values().into_iter().chain(self.op.operand_values());
        values.map(|v| v.r#type()).find(|t| t.is_ranked_tensor_type())
    }
    /// Whether all threads of the block, or of a role, move a tile that is divided among them.
    pub fn is_whole_tile(&self) -> bool {
        self.tile().is_some_and(is_distributed)
    }
    /// Whether the op moves a whole tile, or a warpgroup's part of a product: not what single threads do.
    pub fn is_tile(&self) -> bool {
        self.is_whole_tile() || self.tile().is_some_and(|t| layout_of(t).is_some())
    }
    /// Where the op loads or stores: its indices, one for each axis of the memref, and its rows, if it has some. Of ops that
    /// move no whole tile, the operands after the memref.
    pub fn places(&self) -> Vec<V<'c>> {
        place_operands(self.op).unwrap_or_else(|| {
            let operands = self.op.operand_values().into_iter();
            operands.skip_while(|v| *v != self.memory).skip(1).collect()
        })
    }
}

/// A shared allocation, or memory that an argument of the kernel names.
#[derive(Clone, Copy)]
pub struct Buffer<'c> {
    /// Whether it is global memory.
    pub is_global: bool,
    /// Whether it holds mbarriers.
    pub is_mbarrier: bool,
    /// Whether the program says that it orders all uses itself.
    pub is_ordered: bool,
    /// An op that takes the buffer where its uses cannot be followed.
    pub lost: Option<OperationRef<'c, 'c>>,
    /// Whether a use goes through the async proxy.
    pub is_async: bool,
}

/// The buffers of a kernel with their uses.
pub struct Uses<'c> {
    /// Allocations in the order of the source, then arguments.
    pub buffers: Vec<Buffer<'c>>,
    /// In no order.
    pub all: Vec<Use<'c>>,
    /// Numbers in `all` by op.
    by_op: BTreeMap<usize, Vec<usize>>,
    /// Ops with scratch that have a barrier inside.
    waiting: BTreeSet<usize>,
}

impl<'c> Uses<'c> {
    /// Of the shared memory of a kernel.
    pub fn of(kernel: Kernel<'c, 'c>) -> Uses<'c> {
        Uses::of_shared(kernel).numbered()
    }

    /// Of a kernel's shared memory, and of the global memory that whole tiles go to: of each argument that is written, and that a
    /// tile of the block is loaded from or stored to.
    pub fn with_global(kernel: Kernel<'c, 'c>) -> Uses<'c> {
        let mut found = Uses::of_shared(kernel);
        let arguments = kernel.body().entry().map(|b| b.argument_values()).unwrap_or_default();
        for memory in arguments.into_iter().filter(|v| is_global(v.r#type())) {
            let (buffers, uses) = (found.buffers.len(), found.all.len());
            found.add(memory, false, false);
            let own = &found.all[uses..];
            if !own.iter().any(|u| u.writes) || !own.iter().any(Use::is_tile) {
                found.buffers.truncate(buffers);
                found.all.truncate(uses);
            }
        }
        found.numbered()
    }

    /// Whether all threads of the block meet at an op.
    pub fn meet_at(&self, op: OperationRef<'c, 'c>) -> bool {
        order_of(op) == Some(Order::Block) || self.waiting.contains(&key(op))
    }

    fn of_shared(kernel: Kernel<'c, 'c>) -> Uses<'c> {
        let mut found = Uses {
            buffers: vec![],
            all: vec![],
            by_op: BTreeMap::new(),
            waiting: BTreeSet::new(),
        };
        for alloc in kernel.op().nested::<Alloc>() {
            found.add(alloc.result(), is_mbarrier(alloc.result().r#type()), alloc.ordered());
        }
        found
    }

    fn numbered(mut self) -> Uses<'c> {
        for (i, u) in self.all.iter().enumerate() {
            self.by_op.entry(key(u.op)).or_default().push(i);
            if u.way == Way::Collective && !is_within_warps(u.op) && scratch_bytes(u.op) > 0 {
                self.waiting.insert(key(u.op));
            }
        }
        self
    }

    fn add(&mut self, root: V<'c>, is_mbarrier: bool, is_ordered: bool) {
        self.buffers.push(Buffer {
            is_global: is_global(root.r#type()),
            is_mbarrier,
            is_ordered,
            lost: None,
            is_async: false,
        });
        self.follow(self.buffers.len() - 1, root);
    }

    /// What an op does to buffers.
    pub fn at(&self, op: OperationRef<'c, 'c>) -> impl Iterator<Item = (usize, &Use<'c>)> {
        self.by_op
            .get(&key(op))
            .into_iter()
            .flatten()
            .map(|i| (*i, &self.all[*i]))
    }

    fn follow(&mut self, buffer: usize, root: V<'c>) {
        let mut views = vec![root];
        let mut seen = BTreeSet::new();
        let global = self.buffers[buffer].is_global;
        let is_memory = |t: &Type<'c>| if global { is_global(*t) } else { shared_of(*t).is_some() };
        while let Some(memory) = views.pop() {
            if !seen.insert(memory.to_raw().ptr as usize) {
                continue;
            }
            let mut users = memory.users();
            users.dedup();
            for op in users {
                if let Some(names) = carried(op, memory) {
                    views.extend(names.into_iter().filter(|v| is_memory(&v.r#type())));
                    continue;
                }
                let is_view = op.region_count() == 0
                    && op.result_count() > 0
                    && op.is_pure()
                    && op.result_types().iter().all(is_memory);
                if is_view {
                    views.extend(op.result_values());
                    continue;
                }
                let effects = op.memory_effects().unwrap_or_default();
                let does = |kind| effects.iter().any(|(k, v)| *k == kind && *v == Some(memory));
                let (reads, writes) = (does(EffectKind::Read), does(EffectKind::Write));
                if !reads && !writes {
                    // It does not say what it does with the buffer, or gives its address away.
                    self.buffers[buffer].lost.get_or_insert(op);
                    continue;
                }
                let marked = |mark| marked_operands(op, mark).contains(&memory);
                let way = if marked(COLLECTIVE) {
                    Way::Collective
                } else if marked(ASYNC) {
                    Way::Async
                } else {
                    Way::Plain
                };
                // What copies do to global memory the program waits for.
                if global && way != Way::Plain {
                    continue;
                }
                self.buffers[buffer].is_async |= way == Way::Async;
                let in_flight = way == Way::Async || marked(IN_FLIGHT);
                self.all.push(Use {
                    op,
                    memory,
                    buffer,
                    reads,
                    writes,
                    way,
                    in_flight,
                });
            }
        }
    }
}

/// What an op of control flow names `memory` by from there on: in a loop, after it, and after branches. `None` for other ops.
fn carried<'c>(op: OperationRef<'c, 'c>, memory: V<'c>) -> Option<Vec<V<'c>>> {
    let operands = op.operand_values();
    // Values that stand for an operand of `op`, those of number `from` being the first.
    let of = |values: Vec<V<'c>>, from: usize| {
        let pairs = operands.iter().skip(from).zip(values);
        pairs
            .filter(|(v, _)| **v == memory)
            .map(|(_, name)| name)
            .collect::<Vec<_>>()
    };
    let arguments = |outer: OperationRef<'c, 'c>, region: usize, skipped: usize| {
        let block = outer.region_at(region).entry();
        let all = block.map(|b| b.argument_values()).unwrap_or_default();
        all.into_iter().skip(skipped).collect::<Vec<_>>()
    };
    let results = |outer: OperationRef<'c, 'c>| outer.result_values();
    let names = match (op.full_name(), op.parent()) {
        ("scf.for", _) => [of(arguments(op, 0, 1), 3), of(results(op), 3)].concat(),
        ("scf.while", _) => of(arguments(op, 0, 0), 0),
        ("scf.condition", Some(outer)) => [of(arguments(outer, 1, 0), 1), of(results(outer), 1)].concat(),
        ("scf.yield", Some(outer)) => match outer.full_name() {
            "scf.for" => [of(arguments(outer, 0, 1), 0), of(results(outer), 0)].concat(),
            "scf.while" => of(arguments(outer, 0, 0), 0),
            _ => of(results(outer), 0),
        },
        // Between blocks: whatever a block that may be next takes.
        (_, Some(_)) if op.successor_count() > 0 => {
            let next = (0..op.successor_count()).filter_map(|i| op.successor(i).ok());
            next.flat_map(|block| block.argument_values()).collect()
        }
        _ => return None,
    };
    Some(names)
}

/// Whether an op goes through scratch of which every warp has bytes of its own.
pub fn is_within_warps(op: OperationRef<'_, '_>) -> bool {
    op.cast::<ConvertLayout>().is_some_and(|c| c.within_warps())
}

fn key(op: OperationRef<'_, '_>) -> usize {
    op.to_raw().ptr as usize
}

/// The role that an op is in: the op that gives roles, and the number of the region.
pub type InRole<'c> = Option<(OperationRef<'c, 'c>, usize)>;

/// The role that an op is in.
pub fn in_role<'c>(op: OperationRef<'c, 'c>) -> InRole<'c> {
    enclosing::<WarpSpecialize>(op).map(|(roles, number)| (roles.op(), number))
}

/// A use that what comes next is not ordered after.
#[derive(Clone, Copy, PartialEq)]
pub struct Pending<'c> {
    /// Number of the use.
    pub number: usize,
    /// The barrier that ordered it, for the generic proxy; `None` without one.
    pub ordered: Option<OperationRef<'c, 'c>>,
    /// Whether the lanes of each warp met since.
    pub in_warp: bool,
    /// Whether a fence between proxies came after it.
    pub fenced: bool,
    /// Whether the program waited for others since, by an agreement of its own.
    pub by_hand: bool,
}

/// What is called for each use with what is pending there; more than once for a use in a loop.
pub type Visit<'c, 'v> = dyn FnMut(&[Pending<'c>], usize) + 'v;

/// A walk through a kernel.
pub struct Walk<'c, 'v> {
    uses: &'v Uses<'c>,
    /// Ops that are taken not to be there.
    without: Vec<OperationRef<'c, 'c>>,
    /// The role that it is in.
    role: InRole<'c>,
    visit: &'v mut Visit<'c, 'v>,
}

type State<'c> = Vec<Pending<'c>>;

impl<'c, 'v> Walk<'c, 'v> {
    /// Walks through the body of a kernel.
    pub fn through(
        kernel: Kernel<'c, 'c>,
        uses: &'v Uses<'c>,
        without: &[OperationRef<'c, 'c>],
        visit: &'v mut Visit<'c, 'v>,
    ) {
        let mut walk = Walk {
            uses,
            without: without.to_vec(),
            role: None,
            visit,
        };
        walk.region(kernel.body(), vec![]);
    }

    /// What is pending after a region.
    fn region(&mut self, region: RegionRef<'c, 'c>, before: State<'c>) -> State<'c> {
        let blocks = region.block_list();
        if let [block] = blocks[..] {
            return self.block(block, before);
        }
        // Blocks may come from anywhere.
        let mut all = before;
        loop {
            let known = all.len();
            for block in &blocks {
                let after = self.block(*block, all.clone());
                join(&mut all, after);
            }
            if all.len() == known {
                return all;
            }
        }
    }

    fn block(&mut self, block: BlockRef<'c, 'c>, mut state: State<'c>) -> State<'c> {
        for op in block.op_list() {
            self.op(op, &mut state);
        }
        state
    }

    /// Whether an op waits for an mbarrier that is there for buffers alone that say `ordered`, as it does.
    fn is_for_slots(&self, op: OperationRef<'c, 'c>) -> bool {
        let buffers = self.uses.at(op).map(|(_, u)| self.uses.buffers[u.buffer]);
        buffers.into_iter().any(|b| b.is_mbarrier && b.is_ordered)
    }

    fn op(&mut self, op: OperationRef<'c, 'c>, state: &mut State<'c>) {
        if self.without.contains(&op) {
            return;
        }
        if let Some(roles) = op.cast::<WarpSpecialize>() {
            return self.roles(roles, state);
        }
        match order_of(op) {
            Some(Order::Block) => self.meet(op, state),
            Some(Order::Warp) => state.iter_mut().for_each(|p| p.in_warp = true),
            Some(Order::AsyncProxy) => state.retain_mut(|p| {
                p.fenced = true;
                p.ordered.is_none() || self.role.is_some()
            }),
            Some(Order::ByHand) if !self.is_for_slots(op) => {
                let all = &self.uses.all;
                let plain = state.iter_mut().filter(|p| all[p.number].way != Way::Collective);
                plain.for_each(|p| p.by_hand = true);
            }
            _ => {}
        }
        let here: Vec<usize> = self.uses.at(op).map(|(i, _)| i).collect();
        for number in &here {
            (self.visit)(state, *number);
        }
        let is_collective = here.iter().any(|i| self.uses.all[*i].way == Way::Collective);
        if self.uses.waiting.contains(&key(op)) {
            self.meet(op, state);
        }
        for number in here {
            let u = self.uses.all[number];
            if u.way == Way::Async && u.writes {
                // Nobody sees it before a wait, which the program has.
                continue;
            }
            join(
                state,
                vec![Pending {
                    number,
                    ordered: None,
                    in_warp: false,
                    fenced: false,
                    by_hand: false,
                }],
            );
        }
        if is_collective || op.region_count() == 0 {
            return;
        }
        let regions: Vec<_> = (0..op.region_count()).map(|r| op.region_at(r)).collect();
        if matches!(op.full_name(), "scf.if" | "scf.index_switch") {
            let mut after: State = vec![];
            for region in regions {
                let branch = if region.block_list().is_empty() {
                    state.clone()
                } else {
                    self.region(region, state.clone())
                };
                join(&mut after, branch);
            }
            *state = after;
            return;
        }
        // A loop, or what is taken for one: no pass, one, or many.
        loop {
            let known = state.len();
            for region in &regions {
                let after = self.region(*region, state.clone());
                join(state, after);
            }
            if state.len() == known {
                return;
            }
        }
    }

    /// What roles do to each other's memory is ordered by mbarriers and barriers with numbers. Those that have a barrier for
    /// all their threads are walked, side by side: what is pending before them is pending in each, and what is pending in one
    /// is after all.
    fn roles(&mut self, roles: WarpSpecialize<'c, 'c>, state: &mut State<'c>) {
        let before = state.clone();
        let barriers = roles.barriers().unwrap_or_default();
        for (number, region) in roles.roles().into_iter().enumerate() {
            if barriers.get(number).is_none_or(|barrier| *barrier == 0) {
                continue;
            }
            self.role = Some((roles.op(), number));
            let mut after = self.region(region, before.clone());
            // Its barriers were not met by others.
            let own = |p: &Pending<'c>| in_role(self.uses.all[p.number].op) == self.role;
            after.iter_mut().filter(|p| own(p)).for_each(|p| p.ordered = None);
            self.role = None;
            join(state, after);
        }
    }

    /// All threads meet, or all of a role, which orders what these did in it: for them alone, so that it stays pending for what
    /// comes after all roles.
    fn meet(&self, op: OperationRef<'c, 'c>, state: &mut State<'c>) {
        state.retain_mut(|p| {
            let u = &self.uses.all[p.number];
            if self.role.is_some() && in_role(u.op) != self.role {
                return true;
            }
            p.ordered = p.ordered.or(Some(op));
            let may_be_unseen = u.writes && u.way == Way::Plain && self.uses.buffers[u.buffer].is_async;
            self.role.is_some() || may_be_unseen && !p.fenced
        });
    }
}

fn join<'c>(into: &mut State<'c>, from: State<'c>) {
    for p in from {
        if !into.contains(&p) {
            into.push(p);
        }
    }
}

/// Where an op stands in the source, for messages.
pub fn line(op: OperationRef<'_, '_>) -> String {
    place_of(op.location().to_raw()).map_or("an unknown line".to_owned(), |(_, line, _)| format!("line {line}"))
}

/// What remarks say of a conflict.
pub fn conflict(ways: u64, verb: &str, how: &str, at: &str) -> String {
    let how = if how.is_empty() {
        String::new()
    } else {
        format!(" {how}")
    };
    format!("{ways}-way conflict where the tile is {verb}{how} at {at}")
}
