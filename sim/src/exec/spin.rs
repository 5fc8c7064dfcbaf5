//! Threads that go through the same states again and again while nobody is left to write what they read.
//!
//! Looked for only after [`PATIENCE`] instructions without the end of a block. From then on stores and atomics are asked
//! whether they change anything, and a cluster in which nothing changes has its state hashed after each round: program
//! counters, local memory and registers of all threads, but for registers that decide nothing (`idle`), and who has arrived at
//! the barriers of blocks and cluster. Threads that meet at those time and again change nothing else by it: which phase it is
//! is left out, whether that of a thread is over is not. Without a change of shared or global memory, mbarriers among it, or
//! of a copy, the next state follows from the last, so a state that comes again comes for ever. It must come a second time,
//! after waits that can give up have done so; what the threads read in between is what they wait for.
//!
//! A cluster that repeats itself is stuck only if no other changes memory. Each change of a watched cluster moves the grid's
//! epoch on, and so does the end of any cluster, whose last changes are told to nobody else. The launch ends when all clusters
//! that have begun were found to repeat themselves in one epoch and no other can begin.
//!
//! Not found are loops whose count decides something or goes to memory, and threads that take and give back a lock for ever:
//! they change something.
use super::idle::{Executed, Idle};
use super::memory::resolve;
use super::registers::lane;
use super::shared::ClusterShared;
use super::warp::{Warp, lanes};
use super::{Block, Cluster, ClusterBarrier, Context, Grid};
use crate::isa::{Access, Op, Program, Space, W64};
use crate::memory::Bytes;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::Ordering;

/// Instructions of a launch without the end of a block before anything is looked for, and with checks on, which are slower.
const PATIENCE: u64 = 1 << 24;
const CHECKED_PATIENCE: u64 = 1 << 19;
/// Instructions before the end of the launch's limit from which on reads are remembered.
const CLOSING: u64 = 1 << 14;
/// Rounds without a change before states are compared.
const QUIET_ROUNDS: u64 = 64;

/// One word that a thread reads in its loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Look {
    /// Line of the instruction.
    pub line: u32,
    /// Global or shared.
    pub space: Space,
    /// In that space.
    pub address: u64,
    /// Of the access.
    pub bytes: u8,
    /// What was read, the first eight bytes of it.
    pub value: u64,
}

/// How far the proof is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// No state has come twice.
    #[default]
    Searching,
    /// One has; reads are remembered until it comes again.
    Tracing,
    /// It has come again.
    Proven,
}

/// What is watched of a cluster.
#[derive(Default)]
pub(super) struct Spin {
    /// Effects of the cluster that changed nothing.
    harmless: u64,
    /// What changes results and is no effect: reads of a clock, output.
    others: u64,
    /// Changes at the end of the last round.
    changes: u64,
    /// Epoch of the grid since the last change.
    epoch: u64,
    /// Rounds since the last change.
    quiet: u64,
    /// A state, the rounds since, and after how many it is replaced by a later one.
    state: u64,
    since: u64,
    span: u64,
    stage: Stage,
    /// Instructions since the last change, and the registers that decide nothing of them.
    executed: Executed,
    idle: Idle,
    /// Whether the launch has few instructions left, so that reads are remembered for what is said of its end.
    closing: bool,
    /// By block and warp, what lanes read.
    looks: BTreeMap<(usize, usize), BTreeMap<Look, u32>>,
}

impl Spin {
    /// Whether what loads read is to be remembered.
    pub fn traces(&self) -> bool {
        self.closing || self.stage == Stage::Tracing
    }

    /// Whether the cluster was found to repeat itself.
    pub fn is_proven(&self) -> bool {
        self.stage == Stage::Proven
    }

    /// Takes note of an effect that changed no memory.
    pub fn harmless(&mut self) {
        self.harmless += 1;
    }

    /// Takes note of a change that is no effect.
    pub fn changes(&mut self) {
        self.others += 1;
    }

    /// Takes note of a read.
    pub fn look(&mut self, warp: (usize, usize), lane: usize, look: Look) {
        *self.looks.entry(warp).or_default().entry(look).or_default() |= 1 << lane;
    }

    /// Whether so little has changed lately that instructions are to be noted: long before states are compared.
    pub fn is_quiet(&self) -> bool {
        self.quiet >= QUIET_ROUNDS / 2
    }

    /// Takes note of an instruction that is executed.
    pub fn executes(&mut self, function: u32, at: u32) {
        self.executed.note(function, at);
    }

    /// Whether a thread of the cluster reads anything in its loop.
    pub fn has_looks(&self) -> bool {
        !self.looks.is_empty()
    }

    /// What a lane reads in its loop, in order of the lines.
    pub fn looks(&self, block: usize, warp: usize, lane: usize) -> impl Iterator<Item = Look> + '_ {
        let of_warp = self.looks.get(&(block, warp)).into_iter().flatten();
        of_warp
            .filter(move |(_, mask)| *mask >> lane & 1 != 0)
            .map(|(look, _)| *look)
    }

    fn restart(&mut self, epoch: u64) {
        self.epoch = epoch;
        (self.quiet, self.since, self.span) = (0, 0, 0);
        self.stage = Stage::Searching;
        self.forget_looks();
        self.executed.clear();
    }

    fn forget_looks(&mut self) {
        if !self.closing {
            self.looks.clear();
        }
    }
}

impl Grid<'_> {
    /// Whether so much was executed since the last end of a block that loops without an end are looked for.
    fn is_suspicious(&self) -> bool {
        let left = self.budget.load(Ordering::Relaxed);
        let patience = if self.checks.is_some() {
            CHECKED_PATIENCE
        } else {
            PATIENCE
        };
        self.left_at_end.load(Ordering::Relaxed).saturating_sub(left) > patience
    }

    /// Takes note of the end of a cluster. What it did last was not told to others, so their proofs are void.
    pub(super) fn cluster_ended(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
        let left = self.budget.load(Ordering::Relaxed);
        self.left_at_end.store(left, Ordering::Relaxed);
    }
}

impl Cluster {
    /// Begins to watch the cluster where that is due. What it did before was not told to others, so their proofs are void.
    pub(super) fn watch(&mut self, grid: &Grid<'_>) {
        if self.spin.is_none() && grid.is_suspicious() {
            let epoch = grid.epoch.fetch_add(1, Ordering::AcqRel) + 1;
            let mut spin = Box::<Spin>::default();
            spin.restart(epoch);
            self.spin = Some(spin);
        }
    }

    /// Has what is read remembered once the launch comes to its limit.
    pub(super) fn watch_the_end(&mut self, grid: &Grid<'_>) {
        if grid.budget.load(Ordering::Relaxed) < CLOSING {
            self.spin.get_or_insert_default().closing = true;
        }
    }

    /// Takes note of an arrival at a barrier of a block or of the cluster. Who has arrived is part of the state.
    pub(super) fn arrives(&mut self) {
        self.effects += 1;
        if let Some(spin) = &mut self.spin {
            spin.harmless();
        }
    }

    /// The epoch in which the cluster was found to repeat itself.
    pub(super) fn spins_in(&self) -> Option<u64> {
        let spin = self.spin.as_ref().filter(|spin| spin.is_proven())?;
        Some(spin.epoch)
    }

    /// Compares the state after a round with earlier ones; true when the cluster repeats itself. `timed`: a wait stalls that
    /// can give up; it must before that is believed.
    pub(super) fn look_for_repetition(&mut self, grid: &Grid<'_>, timed: bool) -> bool {
        let effects = self.effects;
        let Some(spin) = &mut self.spin else { return false };
        let changes = (effects + spin.others).wrapping_sub(spin.harmless);
        if changes != spin.changes {
            spin.changes = changes;
            let epoch = grid.epoch.fetch_add(1, Ordering::AcqRel) + 1;
            spin.restart(epoch);
            return false;
        }
        let epoch = grid.epoch.load(Ordering::Acquire);
        if epoch != spin.epoch {
            spin.restart(epoch);
            return false;
        }
        if spin.is_proven() {
            return true;
        }
        spin.quiet += 1;
        if spin.quiet < QUIET_ROUNDS {
            return false;
        }
        // Copies happen after some rounds by themselves.
        if !self.pending.is_empty() {
            return false;
        }
        // States are compared that leave out the same.
        if spin.executed.has_grown() {
            spin.idle = Idle::new(grid.program, &spin.executed);
            (spin.since, spin.span) = (0, 0);
            spin.stage = Stage::Searching;
            spin.forget_looks();
        }
        let state = self.state(grid.program);
        let Some(spin) = &mut self.spin else { return false };
        spin.since += 1;
        match (state == spin.state && spin.span > 0, spin.stage) {
            (true, Stage::Searching) => {
                spin.stage = Stage::Tracing;
                spin.span = 4 * spin.since + QUIET_ROUNDS;
                spin.since = 0;
                self.timeouts |= timed;
            }
            (true, _) => spin.stage = Stage::Proven,
            (false, _) if spin.since >= spin.span => {
                spin.state = state;
                spin.span = (2 * spin.span).max(1);
                spin.since = 0;
                spin.stage = Stage::Searching;
                spin.forget_looks();
            }
            (false, _) => {}
        }
        self.spins_in().is_some()
    }

    /// All that decides what the cluster does next, apart from what is counted as a change.
    fn state(&self, program: &Program) -> u64 {
        let mut hasher = DefaultHasher::new();
        let nothing = Idle::default();
        let idle = self.spin.as_ref().map_or(&nothing, |spin| &spin.idle);
        self.barrier.arrived.hash(&mut hasher);
        for block in &self.blocks {
            for barrier in &block.barriers {
                barrier.hash_state(&mut hasher);
            }
            for warp in &block.warps {
                warp.hash_state(idle, &mut hasher);
                warp.released_lanes(program, block, &self.barrier).hash(&mut hasher);
            }
        }
        hasher.finish()
    }
}

impl Warp {
    /// Whether a store would leave memory as it is. Local memory is part of the state that is compared.
    pub(super) fn store_is_harmless(
        &self,
        cx: &Context<'_, '_>,
        access: &Access,
        addresses: &W64,
        active: u32,
    ) -> bool {
        lanes(active).all(|l| {
            let (space, addr) = resolve(access.space, addresses[l]);
            let (bytes, total) = self.stored(&cx.grid.program.pool, access, l);
            let mut old = bytes;
            let read = match space {
                Space::Local => Ok(()),
                Space::Shared => ClusterShared {
                    blocks: &cx.cluster.blocks,
                    own: cx.block,
                }
                .read(addr, &mut old[..total]),
                _ => cx.grid.memory.read(addr, &mut old[..total]),
            };
            read.is_ok() && old == bytes
        })
    }

    /// Remembers what a load read, where that is asked for.
    pub(super) fn trace(&self, cx: &mut Context<'_, '_>, access: &Access, addresses: &W64, active: u32) {
        let Some(spin) = cx.cluster.spin.as_mut().filter(|spin| spin.traces()) else {
            return;
        };
        let (line, warp) = (self.here(cx.grid.program), (cx.block, self.number()));
        for l in lanes(active) {
            let (space, address) = resolve(access.space, addresses[l]);
            let Some(value) = access.values.first().filter(|_| space != Space::Local) else {
                continue;
            };
            let look = Look {
                line,
                space,
                address,
                bytes: access.bytes * access.values.len() as u8,
                value: lane(&self.frame().regs, &cx.grid.program.pool, *value, l),
            };
            spin.look(warp, l, look);
        }
    }

    /// Of the lanes that arrived at a barrier of the block, and at that of the cluster, those whose phase is over.
    fn released_lanes(&self, program: &Program, block: &Block, cluster: &ClusterBarrier) -> [u32; 2] {
        let of_block = |l: &usize| {
            let (function, pc) = self.place(*l);
            let code = program.functions[function as usize].as_ref();
            let Some(Op::Barrier(barrier)) = code.and_then(|c| c.insts.get(pc as usize)).map(|i| &i.op) else {
                return false;
            };
            let at = block.barriers.get(self.read(program, *l, barrier.id) as usize);
            at.is_some_and(|at| at.generation() != self.barrier_generation[*l])
        };
        let of_cluster = |l: &usize| self.cluster_generation[*l] != cluster.generation;
        let mask = |lanes: &mut dyn Iterator<Item = usize>| lanes.fold(0, |mask, l| mask | 1 << l);
        [
            mask(&mut lanes(self.at_barrier).filter(of_block)),
            mask(&mut lanes(self.at_cluster).filter(of_cluster)),
        ]
    }

    /// What decides what the warp does next. Counters that only grow are left out; of the turns of lanes their order stays.
    fn hash_state(&self, idle: &Idle, hasher: &mut DefaultHasher) {
        let masks = [self.alive, self.waiting, self.at_barrier, self.at_cluster];
        masks.hash(hasher);
        self.wgmma_groups.hash(hasher);
        for l in lanes(self.alive) {
            (self.pc[l], self.frame_of[l], self.stack_top[l], self.groups[l]).hash(hasher);
            if self.waiting >> l & 1 == 0 {
                (self.clock - self.last_run[l]).hash(hasher);
            }
            self.local[l].hash(hasher);
        }
        let dead = |id: usize| self.free.contains(&(id as u32));
        for (id, frame) in self.frames.iter().enumerate().filter(|(id, _)| !dead(*id)) {
            (id, frame.function, frame.live, frame.local_base).hash(hasher);
            (frame.parent, frame.return_pc).hash(hasher);
            idle.rest(frame.function, &frame.regs)
                .for_each(|words| words.hash(hasher));
        }
    }
}
