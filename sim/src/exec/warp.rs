//! A warp: 32 threads, each with a program counter of its own, executed in groups that stand at one instruction.
//!
//! The group to run is the deepest in calls, then the lowest in the code, which brings diverged threads together again as
//! early as the layout of the code allows. A group that spins is set aside after a while for the others, so that threads
//! of one warp may wait for each other.
use super::Context;
use super::frame::{Frame, NO_FRAME};
use super::registers::{self, holds, lane, set_lane};
use crate::check::Registers;
use crate::isa::{Code, LANES, Program, Value};
use crate::memory::{Fault, FaultKind};

/// Lanes of a mask, lowest first.
pub fn lanes(mask: u32) -> impl Iterator<Item = usize> + Clone {
    let mut rest = mask;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        Some(lane)
    })
}

/// Instructions after which the groups of a warp take turns for as many, whatever they stand at.
const PATIENCE: u64 = 2000;
/// Instructions of a turn.
const TURN: u64 = 64;
/// Bytes of local memory of a thread, its whole stack.
pub const STACK_BYTES: u32 = 512 * 1024;

/// What comes after an instruction.
pub enum Flow {
    /// The next instruction.
    Next,
    /// All lanes of the group go to another one.
    Jump(u32),
    /// The program counters of the lanes have been set.
    Split,
    /// The next instruction, after other warps had their turn.
    Turn,
    /// The group waits; it tries the instruction again in the next round.
    Stall,
}

/// Special values of a lane or a warp.
pub struct Identity {
    /// `%tid` of each lane.
    pub tid: [[u32; 3]; LANES],
    /// Number of the warp in its block.
    pub warp: u32,
}

/// A warp of a block.
#[derive(Default)]
pub struct Warp {
    pub identity: Option<Box<Identity>>,
    pub frames: Vec<Frame>,
    pub free: Vec<u32>,
    pub pc: [u32; LANES],
    pub frame_of: [u32; LANES],
    pub(super) last_run: [u64; LANES],
    pub(super) clock: u64,
    /// Instructions executed while other lanes could have run, and those still to execute in turns.
    passed_over: u64,
    fair: u64,
    /// Lanes that exist and have not exited.
    pub alive: u32,
    /// Lanes that wait for others of the warp at a collective.
    pub waiting: u32,
    /// Lanes that wait until the next round.
    pub stalled: u32,
    /// Lanes that have arrived at a barrier of the block and wait there.
    pub at_barrier: u32,
    pub barrier_generation: [u32; LANES],
    /// Lanes that have arrived at the cluster's barrier.
    pub at_cluster: u32,
    pub cluster_generation: [u32; LANES],
    /// Whether a stalled wait may give up.
    pub timed: bool,
    /// Line of a copy that failed while the warp waited for it.
    pub late_line: Option<u32>,
    /// Lanes, frame and instruction of the group being executed.
    pub mask: u32,
    pub current: u32,
    pub at: u32,
    /// Lane of the last access, for messages.
    pub lane: usize,
    /// Committed groups of each lane: of `cp.async`, of bulk copies.
    pub groups: [(u64, u64); LANES],
    /// Registers of products, where checks are on and the kernel has products.
    pub watch: Option<Box<Registers>>,
    /// Committed groups of `wgmma`.
    pub wgmma_groups: u64,
    pub local: Vec<Vec<u8>>,
    pub stack_top: [u32; LANES],
    pub(super) executed: u64,
    /// Last fruitless test of an mbarrier of each lane; empty before the first.
    pub polls: Vec<Poll>,
}

/// A test of an mbarrier whose phase was not over.
#[derive(Clone, Copy, Debug, Default)]
pub struct Poll {
    /// Round of the scheduler.
    pub round: u64,
    /// Line of the instruction.
    pub line: u32,
    /// Shared address with its block named; 0 where there was no test.
    pub address: u64,
    /// Awaited parity; `None` of a test by token.
    pub parity: Option<bool>,
}

/// Where and why a warp stopped.
pub struct Stopped {
    pub fault: Fault,
    pub line: u32,
    pub lane: usize,
}

impl Warp {
    /// A warp at the start of the kernel, with the lanes of a mask.
    pub fn new(cx: &Context<'_, '_>, identity: Identity, alive: u32) -> Self {
        let mut warp = Warp {
            identity: Some(Box::new(identity)),
            alive,
            local: vec![Vec::new(); LANES],
            watch: cx
                .grid
                .checks
                .as_ref()
                .filter(|c| c.watches_registers())
                .map(|_| Box::default()),
            ..Warp::default()
        };
        let entry = cx.grid.program.entry;
        if let Some(code) = &cx.grid.program.functions[entry as usize] {
            let frame = warp.make_frame(cx, code, entry, alive, (NO_FRAME, 0, 0), 0);
            warp.frame_of = [frame; LANES];
            warp.stack_top = [code.local_bytes; LANES];
        }
        warp
    }

    /// Number of the warp in its block.
    pub fn number(&self) -> usize {
        self.identity.as_ref().map_or(0, |i| i.warp as usize)
    }

    /// The frame of the group being executed.
    #[inline(always)]
    pub fn frame(&self) -> &Frame {
        &self.frames[self.current as usize]
    }

    /// The frame of the group being executed.
    #[inline(always)]
    pub fn frame_mut(&mut self) -> &mut Frame {
        &mut self.frames[self.current as usize]
    }

    /// A register of any lane, in the frame that the lane is in.
    pub fn read(&self, program: &Program, l: usize, value: Value) -> u64 {
        lane(&self.frames[self.frame_of[l] as usize].regs, &program.pool, value, l)
    }

    /// Writes a register of any lane.
    pub fn write(&mut self, l: usize, value: Value, x: u64) {
        set_lane(&mut self.frames[self.frame_of[l] as usize].regs, value, l, x);
    }

    /// Start of a lane's frame in local memory.
    pub fn frame_base(&self, l: usize) -> u32 {
        self.frames[self.frame_of[l] as usize].local_base
    }

    /// Function and instruction that a lane is at.
    pub fn place(&self, l: usize) -> (u32, u32) {
        (self.frames[self.frame_of[l] as usize].function, self.pc[l])
    }

    /// Line that a lane is at.
    pub fn line(&self, program: &Program, l: usize) -> u32 {
        let (function, pc) = self.place(l);
        program.functions[function as usize]
            .as_ref()
            .and_then(|c| c.insts.get(pc as usize))
            .map_or(0, |i| i.line)
    }

    /// Line of the instruction that the group executes.
    pub(super) fn here(&self, program: &Program) -> u32 {
        program.functions[self.frame().function as usize]
            .as_ref()
            .and_then(|c| c.insts.get(self.at as usize))
            .map_or(0, |i| i.line)
    }

    /// Chooses the next group; false when no lane can run.
    fn pick(&mut self, rotate: bool) -> bool {
        let runnable = self.alive & !self.waiting & !self.stalled;
        if runnable == 0 {
            return false;
        }
        let chosen = if rotate {
            lanes(runnable).min_by_key(|l| self.last_run[*l])
        } else {
            let first = runnable.trailing_zeros() as usize;
            let (frame, pc) = (self.frame_of[first], self.pc[first]);
            if lanes(runnable).all(|l| self.frame_of[l] == frame && self.pc[l] == pc) {
                Some(first)
            } else {
                lanes(runnable).min_by_key(|l| {
                    let depth = self.frames[self.frame_of[*l] as usize].depth;
                    (std::cmp::Reverse(depth), self.pc[*l], self.frame_of[*l])
                })
            }
        };
        let Some(chosen) = chosen else { return false };
        self.current = self.frame_of[chosen];
        self.at = self.pc[chosen];
        self.mask = lanes(runnable)
            .filter(|l| self.frame_of[*l] == self.current && self.pc[*l] == self.at)
            .fold(0, |m, l| m | 1 << l);
        true
    }

    fn save(&mut self, pc: u32) {
        self.clock += 1;
        for l in lanes(self.mask) {
            self.pc[l] = pc;
            self.last_run[l] = self.clock;
        }
    }

    /// Runs until nothing can or `quantum` instructions are done. Gives the number of instructions that did something.
    pub fn run(&mut self, cx: &mut Context<'_, '_>, quantum: u64) -> Result<u64, Stopped> {
        let program: &Program = cx.grid.program;
        let start = self.executed;
        self.stalled = 0;
        self.timed = false;
        if cx.cluster.spin.is_some() {
            // The turns of groups must not outlast a round, or states would hardly ever come again.
            (self.passed_over, self.fair) = (0, PATIENCE);
        }
        while self.executed - start < quantum && self.pick(self.fair > 0) {
            let function = self.frame().function;
            let Some(code) = &program.functions[function as usize] else {
                break;
            };
            let others = self.alive & !self.waiting & !self.stalled & !self.mask;
            // Where a group that was left behind could be met again.
            let meet = lanes(others)
                .filter(|l| self.frame_of[*l] == self.current && self.pc[*l] > self.at)
                .map(|l| self.pc[l])
                .min()
                .unwrap_or(u32::MAX);
            let patience = match (others, self.fair) {
                (0, _) => u64::MAX,
                (_, 0) => PATIENCE,
                _ => TURN,
            };
            let before = self.executed;
            let limit = patience.min(quantum - (before - start));
            let is_quiet = cx.cluster.spin.as_ref().is_some_and(|spin| spin.is_quiet());
            let turn = if cx.cluster.profile.is_some() || self.watch.is_some() || is_quiet {
                self.run_group::<true>(cx, code, meet, limit)?
            } else {
                self.run_group::<false>(cx, code, meet, limit)?
            };
            let steps = (self.executed - before).max(1);
            if others == 0 {
                (self.passed_over, self.fair) = (0, 0);
            } else if self.fair > 0 {
                self.fair = self.fair.saturating_sub(steps);
            } else {
                self.passed_over += steps;
                if self.passed_over >= PATIENCE {
                    (self.passed_over, self.fair) = (0, PATIENCE);
                }
            }
            if turn {
                break;
            }
        }
        Ok(self.executed - start)
    }

    /// Runs the chosen group until it splits, waits, has done `limit` instructions or reaches instruction `meet`. True
    /// when other warps should have their turn. `OBSERVED`: what the instructions cost is counted, registers are watched,
    /// and so are loops.
    fn run_group<const OBSERVED: bool>(
        &mut self,
        cx: &mut Context<'_, '_>,
        code: &Code,
        meet: u32,
        limit: u64,
    ) -> Result<bool, Stopped> {
        let program: &Program = cx.grid.program;
        let mut left = limit;
        loop {
            let Some(inst) = code.insts.get(self.at as usize) else {
                let fault = Fault::new(FaultKind::InvalidPc, "the program counter left the function");
                return Err(Stopped {
                    fault,
                    line: 0,
                    lane: 0,
                });
            };
            self.executed += 1;
            let regs = &mut self.frames[self.current as usize].regs;
            let active = match inst.guard {
                None => self.mask,
                Some(p) => self.mask & holds(regs, &program.pool, p),
            };
            let mut next = self.at + 1;
            if OBSERVED {
                if let Some(spin) = &mut cx.cluster.spin {
                    spin.executes(self.frame().function, self.at);
                }
                self.observe(cx, &inst.op, active);
                if active != 0 {
                    self.check_registers(cx, inst);
                }
            }
            let regs = &mut self.frames[self.current as usize].regs;
            if active != 0 && !registers::execute(&inst.op, regs, &program.pool, active) {
                match self.step(cx, &inst.op, active) {
                    Ok(Flow::Next) => {}
                    Ok(Flow::Jump(target)) => next = target,
                    Ok(Flow::Split) => {
                        self.clock += 1;
                        for l in lanes(self.mask) {
                            self.last_run[l] = self.clock;
                        }
                        return Ok(false);
                    }
                    Ok(Flow::Turn) => {
                        self.save(next);
                        return Ok(true);
                    }
                    Ok(Flow::Stall) => {
                        if OBSERVED {
                            self.unobserve(cx, active);
                        }
                        self.executed -= 1;
                        self.save(self.at);
                        self.stalled |= self.mask;
                        return Ok(false);
                    }
                    Err(fault) => {
                        let (line, lane) = (self.late_line.take().unwrap_or(inst.line), self.lane);
                        return Err(Stopped { fault, line, lane });
                    }
                }
            }
            self.at = next;
            left -= 1;
            if next >= meet || left == 0 {
                self.save(next);
                return Ok(false);
            }
        }
    }
}

/// The fault of a stack that is too deep.
pub fn stack_fault(bytes: u64) -> Fault {
    Fault::new(
        FaultKind::StackOverflow,
        format!("stack overflow: the thread's stack needs {bytes} bytes, it has {STACK_BYTES}"),
    )
}
