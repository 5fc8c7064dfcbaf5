//! Barriers of a block and of a cluster.
use super::Context;
use super::registers::{holds, lane, put_mask, set_lane};
use super::warp::{Flow, Warp, lanes};
use crate::isa::{Barrier, BarrierReduction, LANES};
use crate::memory::{Fault, FaultKind};

/// One of the 16 barriers of a block.
#[derive(Clone, Copy, Default)]
pub struct NamedBarrier {
    arrived: u32,
    /// Threads, where an arrival named a number.
    expected: Option<u32>,
    generation: u32,
    /// Reduction of the phase in progress: all, any, count.
    all: bool,
    any: bool,
    count: u32,
    /// Reduction of the phase before.
    result: (bool, bool, u32),
}

impl NamedBarrier {
    /// Ends the phase when everybody is there; `alive` threads of the block have not exited.
    pub fn settle(&mut self, alive: u32) -> bool {
        if self.arrived == 0 || self.arrived < self.expected.unwrap_or(alive) {
            return false;
        }
        self.result = (self.all, self.any, self.count);
        *self = NamedBarrier {
            generation: self.generation.wrapping_add(1),
            result: self.result,
            ..Default::default()
        };
        true
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
                return Err(Fault::new(
                    FaultKind::IllegalInstruction,
                    "the threads of a warp name different barriers",
                ));
            }
        }
        if id > 15 {
            return Err(Fault::new(
                FaultKind::IllegalInstruction,
                format!("barrier {id}; a block has 0 to 15"),
            ));
        }
        if let Some(threads) = threads
            && (threads == 0 || threads % LANES as u64 != 0)
        {
            return Err(Fault::new(
                FaultKind::IllegalInstruction,
                format!("{threads} threads at barrier {id}; the number must be a positive multiple of 32"),
            ));
        }
        let predicate = barrier.reduction.map(|(_, p, _)| holds(regs, pool, p));
        let alive_here = self.alive;
        let block = &mut cx.cluster.blocks[cx.block];
        let state = &mut block.barriers[id as usize];
        let new = if barrier.waits {
            active & !self.at_barrier
        } else {
            active
        };
        if new != 0 {
            if let Some(threads) = threads {
                if let Some(before) = state.expected.filter(|e| u64::from(*e) != threads && state.arrived > 0) {
                    return Err(Fault::new(
                        FaultKind::IllegalInstruction,
                        format!("{threads} threads at barrier {id}, but earlier arrivals of this phase said {before}"),
                    ));
                }
                state.expected = Some(threads as u32);
            }
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
            cx.cluster.effects += 1;
            state.settle(block.alive);
        }
        if !barrier.waits {
            return Ok(Flow::Next);
        }
        let state = &block.barriers[id as usize];
        let done = lanes(active)
            .filter(|l| self.barrier_generation[*l] != state.generation)
            .fold(0u32, |m, l| m | 1 << l);
        let result = state.result;
        self.at_barrier &= !done;
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
    pub(super) fn cluster_arrive(&mut self, cx: &mut Context<'_, '_>, active: u32) -> Result<Flow, Fault> {
        if active & self.at_cluster != 0 {
            return Err(Fault::new(
                FaultKind::IllegalInstruction,
                "a thread arrives twice at barrier.cluster; put barrier.cluster.wait between",
            ));
        }
        let barrier = &mut cx.cluster.barrier;
        for l in lanes(active) {
            self.cluster_generation[l] = barrier.generation;
        }
        self.at_cluster |= active;
        barrier.arrived += active.count_ones();
        barrier.settle();
        cx.cluster.effects += 1;
        Ok(Flow::Next)
    }

    /// `barrier.cluster.wait`
    pub(super) fn cluster_wait(&mut self, cx: &mut Context<'_, '_>, active: u32) -> Result<Flow, Fault> {
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
        block
            .barriers
            .iter_mut()
            .filter(|b| b.expected.is_none())
            .for_each(|b| {
                b.settle(alive);
            });
        let barrier = &mut cx.cluster.barrier;
        barrier.alive -= count;
        let arrived = lanes(gone & self.at_cluster)
            .filter(|l| self.cluster_generation[*l] == barrier.generation)
            .count() as u32;
        barrier.arrived -= arrived;
        barrier.settle();
        self.at_cluster &= !gone;
        cx.cluster.effects += 1;
    }
}
