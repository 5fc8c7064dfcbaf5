//! Barriers of a block and of a cluster.
use super::Context;
use super::registers::{holds, lane, put_mask, set_lane};
use super::stuck::lane_list;
use super::warp::{Flow, Warp, lanes};
use crate::check::progress::at;
use crate::check::{Checks, Finding, Gravity, Kind, Place};
use crate::isa::{Barrier, BarrierReduction, ClusterStep, LANES};
use crate::memory::{Fault, FaultKind};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// Lanes of a warp that came to a barrier together.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Warp of the block.
    pub warp: usize,
    /// Line of the instruction.
    pub line: u32,
    /// The lanes.
    pub lanes: u32,
    /// Lanes that the warp began with.
    pub born: u32,
    /// Those of them that have not exited.
    pub alive: u32,
    /// Whether the instruction needs the whole warp.
    pub aligned: bool,
}

/// One of the 16 barriers of a block.
#[derive(Default)]
pub struct NamedBarrier {
    /// Threads that have arrived in this phase.
    pub arrived: u32,
    /// Threads, where an arrival named a number.
    pub expected: Option<u32>,
    /// Arrivals of this phase.
    pub arrivals: Vec<Arrival>,
    generation: u32,
    /// Reduction of the phase in progress: all, any, count.
    all: bool,
    any: bool,
    count: u32,
    /// Reduction of the phase before.
    result: (bool, bool, u32),
}

impl NamedBarrier {
    /// Number of the phase in progress.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Ends the phase when everybody is there, and gives its arrivals; `alive` threads of the block have not exited.
    pub fn settle(&mut self, alive: u32) -> Option<Vec<Arrival>> {
        if self.arrived == 0 || self.arrived < self.expected.unwrap_or(alive) {
            return None;
        }
        self.result = (self.all, self.any, self.count);
        let over = std::mem::take(self);
        self.generation = over.generation.wrapping_add(1);
        self.result = over.result;
        Some(over.arrivals)
    }

    /// What decides when the phase ends and what it gives; its number is compared by those that wait.
    pub(super) fn hash_state(&self, hasher: &mut impl Hasher) {
        (self.arrived, self.expected).hash(hasher);
        (self.all, self.any, self.count, self.result).hash(hasher);
    }

    /// Keeps in mind which lanes exit that the arrivals of their warp lack.
    fn forget(&mut self, warp: usize, gone: u32) {
        let own = self.arrivals.iter_mut().filter(|a| a.warp == warp);
        own.for_each(|a| a.alive &= !gone);
    }
}

/// The barrier of a cluster, whose arrivals name their block by its rank.
pub type ClusterArrival = (usize, Arrival);

/// Remedy where a warp comes to a barrier in parts.
const UNDIVIDED: &str = "let all lanes of the warp execute the same barrier, outside of branches and predicates that part \
                         them, or use the barrier without .aligned";

/// A warp that came to a barrier in parts though it needs the whole.
struct Parted {
    warp: usize,
    /// Its parts by line.
    parts: BTreeMap<u32, u32>,
    /// Lanes that did not come,
    absent: u32,
    /// and those of them that have exited.
    gone: u32,
}

fn parted<'a>(arrivals: impl Iterator<Item = &'a Arrival>) -> Vec<Parted> {
    #[derive(Default)]
    struct Of {
        parts: BTreeMap<u32, u32>,
        born: u32,
        alive: u32,
    }
    let mut warps: BTreeMap<usize, Of> = BTreeMap::new();
    for a in arrivals.filter(|a| a.aligned && a.lanes & a.born != a.born) {
        let of = warps.entry(a.warp).or_default();
        *of.parts.entry(a.line).or_default() |= a.lanes;
        of.born |= a.born;
        of.alive |= a.alive;
    }
    let apart = warps
        .into_iter()
        .filter(|(_, of)| of.parts.values().any(|part| part & of.born != of.born));
    let parted = apart.map(|(warp, Of { parts, born, alive })| {
        let came = parts.values().fold(0, |all, part| all | part);
        let absent = born & !came;
        Parted {
            warp,
            parts,
            absent,
            gone: absent & !alive,
        }
    });
    parted.collect()
}

/// Reports the warps of a block that came to a barrier in parts; `line_of` says where a lane is, or where it exited.
fn report_parted<'a>(
    checks: &Checks,
    block: [u32; 3],
    name: &str,
    arrivals: impl Iterator<Item = &'a Arrival>,
    line_of: impl Fn(usize, usize) -> u32,
) {
    for Parted {
        warp,
        parts,
        absent,
        gone,
    } in parted(arrivals)
    {
        let mut places: Vec<Place> = Vec::new();
        for (line, part) in &parts {
            let are = if part.count_ones() == 1 { "is" } else { "are" };
            places.push(at(
                *line,
                &format!("{} of warp {warp} {are} at {name}", lane_list(*part)),
            ));
        }
        for (some, what) in [
            (absent & !gone, ["is elsewhere", "are elsewhere"]),
            (gone, ["has exited", "have exited"]),
        ] {
            let mut lines: BTreeMap<u32, u32> = BTreeMap::new();
            lanes(some).for_each(|l| *lines.entry(line_of(warp, l)).or_default() |= 1 << l);
            let there = lines.iter().map(|(line, those)| {
                let what = what[usize::from(those.count_ones() > 1)];
                let what = format!("{} of warp {warp} {what}", lane_list(*those));
                at(*line, &what)
            });
            places.extend(there);
        }
        places.iter_mut().for_each(|p| p.block = Some(block));
        let came = parts.values().fold(0, |all, part| all | part);
        let found = match parts.len() {
            1 => format!("{} alone", lane_list(came)),
            n => format!("its lanes at {n} different instructions"),
        };
        let finding = Finding::new(
            Kind::BarrierDivergence,
            format!("{name} needs all lanes of warp {warp} at one instruction, found {found}; the result is undefined"),
            UNDIVIDED,
            places,
        );
        // A GPU counts lanes that have exited as having come, but PTX does not say so.
        checks.report(match parts.len() == 1 && absent == gone {
            true => finding.with_gravity(Gravity::Warning),
            false => finding,
        });
    }
}

impl Warp {
    /// `bar` and `barrier`.
    pub(super) fn barrier(&mut self, cx: &mut Context<'_, '_>, barrier: &Barrier, active: u32) -> Result<Flow, Fault> {
        let pool = &cx.grid.program.pool;
        let regs = &self.frame().regs;
        let first = active.trailing_zeros() as usize;
        let id = lane(regs, pool, barrier.id, first);
        let threads = barrier.threads.map(|t| lane(regs, pool, t, first));
        for l in lanes(active) {
            if lane(regs, pool, barrier.id, l) != id {
                let other = lane(regs, pool, barrier.id, l);
                return Err(Fault::new(
                    FaultKind::BarrierDivergence,
                    format!(
                        "the threads of a warp name different barriers: lane {first} barrier {id}, lane {l} barrier \
                         {other}; let a warp wait at one barrier at a time"
                    ),
                ));
            }
        }
        if id > 15 {
            let fault = Fault::new(
                FaultKind::IllegalInstruction,
                format!("barrier {id}; a block has 0 to 15"),
            );
            return Err(fault.with_remedy("name a barrier from 0 to 15, or wait at an mbarrier in shared memory"));
        }
        if let Some(threads) = threads
            && (threads == 0 || threads % LANES as u64 != 0)
        {
            let fault = Fault::new(
                FaultKind::IllegalInstruction,
                format!("{threads} threads at barrier {id}; the number must be a positive multiple of 32"),
            );
            return Err(fault.with_remedy(
                "count whole warps: 32 threads for each warp that arrives, even where some of its threads have exited",
            ));
        }
        // Lanes that a predicate leaves out are judged at once.
        let passed = match barrier.aligned {
            true => self.judge_guard(cx, &format!("barrier {id}"), active),
            false => 0,
        };
        let predicate = barrier.reduction.map(|(_, p, _)| holds(regs, pool, p));
        let (born, alive_here) = (self.born(cx) & !passed, self.alive);
        let line = self.here(cx.grid.program);
        let size = cx.grid.shape.warps() * LANES as u32;
        let block = &mut cx.cluster.blocks[cx.block];
        let state = &mut block.barriers[id as usize];
        let new = if barrier.waits {
            active & !self.at_barrier
        } else {
            active
        };
        if new != 0 {
            let threads = threads.map(|t| t as u32);
            // Without a number it is that of the block.
            if state.arrived > 0 && state.expected.unwrap_or(size) != threads.unwrap_or(size) {
                let number = |threads: Option<u32>| threads.map_or("all of the block".to_owned(), |t| t.to_string());
                let earlier = state.arrivals.last().map_or(0, |a| a.line);
                return Err(Fault::new(
                    FaultKind::BarrierDivergence,
                    format!(
                        "{} threads at barrier {id}, but earlier arrivals of this phase said {} ({}); name the same number \
                         everywhere, or use another barrier",
                        number(threads),
                        number(state.expected),
                        cx.grid.program.line(earlier)
                    ),
                ));
            }
            state.expected = state.expected.or(threads);
            if state.arrived == 0 {
                state.all = true;
            }
            let whole = (self.at_barrier | new) & alive_here == alive_here;
            let absent = if threads.is_some() && whole {
                LANES as u32 - alive_here.count_ones()
            } else {
                0
            };
            state.arrived += new.count_ones() + absent;
            state.arrivals.push(Arrival {
                warp: self.identity.as_ref().map_or(0, |i| i.warp as usize),
                line,
                lanes: new,
                born,
                alive: alive_here,
                aligned: barrier.aligned,
            });
            if let Some(p) = predicate {
                state.all &= p & new == new;
                state.any |= p & new != 0;
                state.count += (p & new).count_ones();
            }
            if barrier.waits {
                self.at_barrier |= new;
                for l in lanes(new) {
                    self.barrier_generation[l] = state.generation;
                }
            }
            let over = state.settle(block.alive);
            cx.cluster.arrives();
            self.judge(cx, id as usize, over);
            let generation = cx.cluster.blocks[cx.block].barriers[id as usize].generation;
            cx.check(|state, number| {
                state.arrive_named(self.who(number, new), id as usize);
                state.settle_named(number, id as usize, generation);
            });
        }
        if !barrier.waits {
            return Ok(Flow::Next);
        }
        let state = &cx.cluster.blocks[cx.block].barriers[id as usize];
        let done = lanes(active)
            .filter(|l| self.barrier_generation[*l] != state.generation)
            .fold(0u32, |m, l| m | 1 << l);
        let result = state.result;
        self.at_barrier &= !done;
        if done != 0 {
            let generation = self.barrier_generation[done.trailing_zeros() as usize];
            cx.check(|state, number| state.leave_named(self.who(number, done), id as usize, generation));
        }
        if let Some((reduction, _, d)) = barrier.reduction {
            let regs = &mut self.frame_mut().regs;
            match reduction {
                BarrierReduction::And => put_mask(regs, d.slot, if result.0 { u32::MAX } else { 0 }, done),
                BarrierReduction::Or => put_mask(regs, d.slot, if result.1 { u32::MAX } else { 0 }, done),
                BarrierReduction::Count => lanes(done).for_each(|l| set_lane(regs, d, l, result.2.into())),
            }
        }
        Ok(self.released(done, active))
    }

    /// Looks at an instruction that all lanes of a warp must execute, where checks are on: a predicate may not leave some
    /// of those out that are there. Gives those. Lanes that a branch took elsewhere are judged when the phase is over:
    /// they may come by then.
    fn judge_guard(&self, cx: &Context<'_, '_>, name: &str, active: u32) -> u32 {
        let out = self.mask & !active;
        let Some(checks) = cx.grid.checks.as_ref().filter(|_| out != 0) else {
            return 0;
        };
        let (warp, line) = (self.number(), self.here(cx.grid.program));
        let (came, passed) = (lane_list(active), lane_list(out));
        let what = format!("{came} of warp {warp} are at {name}, {passed} pass it by: their predicate is false");
        let mut place = at(line, &what);
        place.block = Some(cx.cluster.blocks[cx.block].index);
        place.thread = self
            .identity
            .as_ref()
            .map(|i| i.tid[active.trailing_zeros() as usize % LANES]);
        checks.report(Finding::new(
            Kind::BarrierDivergence,
            format!(
                "{name} needs all lanes of warp {warp} at one instruction, found {came} alone; the result is undefined"
            ),
            UNDIVIDED,
            vec![place],
        ));
        out
    }

    /// Lanes that the warp began with: the last warp of a block may have fewer than 32.
    fn born(&self, cx: &Context<'_, '_>) -> u32 {
        let after = cx
            .grid
            .shape
            .threads()
            .saturating_sub(self.number() as u32 * LANES as u32);
        match after {
            0..32 => (1 << after) - 1,
            _ => u32::MAX,
        }
    }

    /// Where a lane of a warp of the cluster is, or where it exited.
    fn line_of(&self, cx: &Context<'_, '_>, block: usize, warp: usize, l: usize) -> u32 {
        let of = &cx.cluster.blocks[block];
        let exit = of.exits.iter().find(|(w, _, gone)| *w == warp && gone >> l & 1 != 0);
        match exit {
            Some((_, line, _)) => *line,
            None if block == cx.block && warp == self.number() => self.line(cx.grid.program, l),
            None => of.warps[warp].line(cx.grid.program, l),
        }
    }

    /// Looks at the arrivals of a phase of barrier `id` that is over, where checks are on.
    fn judge(&self, cx: &Context<'_, '_>, id: usize, over: Option<Vec<Arrival>>) {
        let (Some(checks), Some(arrivals)) = (&cx.grid.checks, over) else {
            return;
        };
        let block = cx.cluster.blocks[cx.block].index;
        let line_of = |warp: usize, l: usize| self.line_of(cx, cx.block, warp, l);
        report_parted(checks, block, &format!("barrier {id}"), arrivals.iter(), line_of);
    }

    /// The same for a phase of the barrier of the cluster.
    fn judge_cluster(&self, cx: &Context<'_, '_>, over: &[ClusterArrival]) {
        let Some(checks) = cx.grid.checks.as_ref().filter(|_| !over.is_empty()) else {
            return;
        };
        for (rank, block) in cx.cluster.blocks.iter().enumerate() {
            let own = over.iter().filter(|a| a.0 == rank).map(|a| &a.1);
            let line_of = |warp: usize, l: usize| self.line_of(cx, rank, warp, l);
            report_parted(checks, block.index, "the barrier of the cluster", own, line_of);
        }
    }

    /// Lets `done` lanes go on and the others of `active` wait for the next round.
    pub(super) fn released(&mut self, done: u32, active: u32) -> Flow {
        if done == active && active == self.mask {
            return Flow::Next;
        }
        if done == 0 && active == self.mask {
            return Flow::Stall;
        }
        for l in lanes(self.mask) {
            let waits = (active & !done) >> l & 1 != 0;
            self.pc[l] = if waits { self.at } else { self.at + 1 };
        }
        self.stalled |= active & !done;
        Flow::Split
    }

    /// `barrier.cluster.arrive`
    pub(super) fn cluster_arrive(
        &mut self,
        cx: &mut Context<'_, '_>,
        step: ClusterStep,
        active: u32,
    ) -> Result<Flow, Fault> {
        let passed = match step.aligned {
            true => self.judge_guard(cx, "the barrier of the cluster", active),
            false => 0,
        };
        if active & self.at_cluster != 0 {
            return Err(Fault::new(
                FaultKind::IllegalInstruction,
                "a thread arrives twice at barrier.cluster; put barrier.cluster.wait between",
            ));
        }
        let born = self.born(cx) & !passed;
        let part = (cx.grid.checks.is_some() && step.aligned && active != born).then(|| Arrival {
            warp: self.number(),
            line: self.here(cx.grid.program),
            lanes: active,
            born,
            alive: self.alive,
            aligned: true,
        });
        let barrier = &mut cx.cluster.barrier;
        for l in lanes(active) {
            self.cluster_generation[l] = barrier.generation;
        }
        self.at_cluster |= active;
        barrier.arrived += active.count_ones();
        barrier.arrivals.extend(part.map(|part| (cx.block, part)));
        let over = barrier.settle();
        let generation = barrier.generation;
        self.judge_cluster(cx, &over);
        cx.cluster.arrives();
        cx.check(|state, block| {
            state.arrive_cluster(self.who(block, active), step.ordered);
            state.settle_cluster(block, generation);
        });
        Ok(Flow::Next)
    }

    /// `barrier.cluster.wait`
    pub(super) fn cluster_wait(
        &mut self,
        cx: &mut Context<'_, '_>,
        step: ClusterStep,
        active: u32,
    ) -> Result<Flow, Fault> {
        if step.aligned {
            self.judge_guard(cx, "the barrier of the cluster", active);
        }
        if active & !self.at_cluster != 0 {
            return Err(Fault::new(
                FaultKind::IllegalInstruction,
                "barrier.cluster.wait without barrier.cluster.arrive",
            ));
        }
        let generation = cx.cluster.barrier.generation;
        let done = lanes(active)
            .filter(|l| self.cluster_generation[*l] != generation)
            .fold(0u32, |m, l| m | 1 << l);
        self.at_cluster &= !done;
        if done != 0 {
            let generation = self.cluster_generation[done.trailing_zeros() as usize];
            cx.check(|state, block| state.leave_cluster(self.who(block, done), step.ordered, generation));
        }
        Ok(self.released(done, active))
    }

    /// Takes lanes that exit out of all counts.
    pub(super) fn leave(&mut self, cx: &mut Context<'_, '_>, gone: u32) {
        let count = gone.count_ones();
        self.alive &= !gone;
        // Those that waited for lanes of this warp look again.
        self.waiting = 0;
        let block = &mut cx.cluster.blocks[cx.block];
        block.alive -= count;
        let alive = block.alive;
        let (warp, line) = (self.number(), self.here(cx.grid.program));
        block.exits.push((warp, line, gone));
        let mut over = Vec::new();
        for (id, barrier) in block.barriers.iter_mut().enumerate() {
            barrier.forget(warp, gone);
            if barrier.expected.is_none()
                && let Some(arrivals) = barrier.settle(alive)
            {
                over.push((id, arrivals));
            }
        }
        for (id, arrivals) in over {
            self.judge(cx, id, Some(arrivals));
        }
        let barrier = &mut cx.cluster.barrier;
        barrier.alive -= count;
        let arrived = lanes(gone & self.at_cluster)
            .filter(|l| self.cluster_generation[*l] == barrier.generation)
            .count() as u32;
        barrier.arrived -= arrived;
        let own = barrier
            .arrivals
            .iter_mut()
            .filter(|a| (a.0, a.1.warp) == (cx.block, warp));
        own.for_each(|a| a.1.alive &= !gone);
        let over = barrier.settle();
        self.judge_cluster(cx, &over);
        self.at_cluster &= !gone;
        cx.cluster.effects += 1;
        if cx.grid.checks.is_some() {
            self.check_exit(cx, gone);
        }
    }
}
