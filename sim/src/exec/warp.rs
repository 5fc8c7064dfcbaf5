//! A warp: 32 threads, each with a program counter of its own, executed in groups that stand at one instruction.
//!
//! The group to run is the deepest in calls, then the lowest in the code, which brings diverged threads together again as
//! early as the layout of the code allows. A group that spins is set aside after a while for the others, so that threads
//! of one warp may wait for each other.
use super::Context;
use super::registers::{self, holds, lane, set_lane};
use crate::isa::{Argument, Call, Callee, Clock, Code, FUNCTION_BASE, Formal, LANES, Op, Program, Special, Value};
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

/// Registers of one call, for all lanes that made it together.
pub struct Frame {
    pub function: u32,
    pub regs: Vec<u64>,
    /// Start of the frame in local memory, the same in all lanes.
    pub local_base: u32,
    parent: u32,
    return_pc: u32,
    /// Instruction of the parent that called.
    call_pc: u32,
    live: u32,
    depth: u32,
}

const NO_FRAME: u32 = u32::MAX;
/// Instructions after which a group gives way to others of its warp.
const PATIENCE: u32 = 2000;
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
    frames: Vec<Frame>,
    free: Vec<u32>,
    pub pc: [u32; LANES],
    frame_of: [u32; LANES],
    last_run: [u64; LANES],
    clock: u64,
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
    /// Lanes, frame and instruction of the group being executed.
    pub mask: u32,
    current: u32,
    pub at: u32,
    /// Lane of the last access, for messages.
    pub lane: usize,
    /// Committed groups of each lane: of `cp.async`, of bulk copies.
    pub groups: [(u64, u64); LANES],
    pub local: Vec<Vec<u8>>,
    pub stack_top: [u32; LANES],
    executed: u64,
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

    fn make_frame(
        &mut self,
        cx: &Context<'_, '_>,
        code: &Code,
        function: u32,
        live: u32,
        (parent, call_pc, return_pc): (u32, u32, u32),
        local_base: u32,
    ) -> u32 {
        let depth = self.frames.get(parent as usize).map_or(0, |p| p.depth + 1);
        let mut regs = Vec::new();
        let id = match self.free.pop() {
            Some(id) => {
                regs = std::mem::take(&mut self.frames[id as usize].regs);
                id
            }
            None => self.frames.len() as u32,
        };
        regs.clear();
        regs.resize(code.frame_words as usize, 0);
        for (special, slot) in &code.specials {
            let value = Value { slot: *slot, bits: 32 };
            for l in 0..LANES {
                set_lane(&mut regs, value, l, self.special(cx, *special, l).into());
            }
        }
        let frame = Frame {
            function,
            regs,
            local_base,
            parent,
            return_pc,
            call_pc,
            live,
            depth,
        };
        if id as usize == self.frames.len() {
            self.frames.push(frame);
        } else {
            self.frames[id as usize] = frame;
        }
        id
    }

    fn special(&self, cx: &Context<'_, '_>, special: Special, l: usize) -> u32 {
        let shape = &cx.grid.shape;
        let block = &cx.cluster.blocks[cx.block];
        let Some(identity) = &self.identity else { return 0 };
        let dim = |d: u8, v: &[u32; 3]| v[usize::from(d) % 3];
        let bit = 1u32 << l;
        match special {
            Special::Tid(d) => dim(d, &identity.tid[l]),
            Special::Ntid(d) => dim(d, &shape.block),
            Special::Ctaid(d) => dim(d, &block.index),
            Special::Nctaid(d) => dim(d, &shape.grid),
            Special::LaneId => l as u32,
            Special::WarpId => identity.warp,
            Special::WarpCount => shape.warps(),
            Special::LaneMaskEq => bit,
            Special::LaneMaskLt => bit - 1,
            Special::LaneMaskLe => bit | (bit - 1),
            Special::LaneMaskGt => !(bit | (bit - 1)),
            Special::LaneMaskGe => !(bit - 1),
            Special::ClusterId(d) => dim(d, &cx.cluster.index),
            Special::ClusterCount(d) => dim(d, &shape.grid) / dim(d, &shape.cluster).max(1),
            Special::ClusterCtaid(d) => dim(d, &block.index) % dim(d, &shape.cluster).max(1),
            Special::ClusterNctaid(d) => dim(d, &shape.cluster),
            Special::ClusterCtaRank => block.rank,
            Special::ClusterCtaCount => shape.cluster.iter().product(),
            Special::ExplicitCluster => u32::from(shape.explicit_cluster),
            Special::SmId => {
                let [x, y, _] = shape.grid;
                (block.index[0] + x * (block.index[1] + y * block.index[2])) % super::launch::MULTIPROCESSORS
            }
            Special::SmCount => super::launch::MULTIPROCESSORS,
            Special::GridId => 1,
            Special::DynamicShared => shape.dynamic_shared,
            Special::TotalShared => shape.shared_end(cx.grid.program) - crate::isa::SHARED_BASE,
            Special::Zero => 0,
        }
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
        let mut rotate = false;
        self.stalled = 0;
        self.timed = false;
        while self.executed - start < quantum && self.pick(rotate) {
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
            let patience = if others == 0 { u32::MAX } else { PATIENCE };
            let mut steps = 0u32;
            let mut left = quantum - (self.executed - start);
            rotate = false;
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
                let active = match inst.guard {
                    None => self.mask,
                    Some(p) => self.mask & holds(&self.frame().regs, &program.pool, p),
                };
                let mut next = self.at + 1;
                if active != 0
                    && !registers::execute(
                        &inst.op,
                        &mut self.frames[self.current as usize].regs,
                        &program.pool,
                        active,
                    )
                {
                    match self.step(cx, &inst.op, active) {
                        Ok(Flow::Next) => {}
                        Ok(Flow::Jump(target)) => next = target,
                        Ok(Flow::Split) => {
                            self.clock += 1;
                            for l in lanes(self.mask) {
                                self.last_run[l] = self.clock;
                            }
                            break;
                        }
                        Ok(Flow::Turn) => {
                            self.save(next);
                            return Ok(self.executed - start);
                        }
                        Ok(Flow::Stall) => {
                            self.executed -= 1;
                            self.save(self.at);
                            self.stalled |= self.mask;
                            break;
                        }
                        Err(fault) => {
                            return Err(Stopped {
                                fault,
                                line: inst.line,
                                lane: self.lane,
                            });
                        }
                    }
                }
                self.at = next;
                steps += 1;
                left -= 1;
                if next >= meet || left == 0 || steps >= patience {
                    rotate = steps >= patience;
                    self.save(next);
                    break;
                }
            }
        }
        Ok(self.executed - start)
    }

    /// Executes an instruction that is more than arithmetic.
    fn step(&mut self, cx: &mut Context<'_, '_>, op: &Op, active: u32) -> Result<Flow, Fault> {
        self.lane = active.trailing_zeros() as usize;
        let program: &Program = cx.grid.program;
        match op {
            Op::Branch(target) => return Ok(self.branch(active, *target)),
            Op::BranchIndexed(index, targets) => return self.branch_indexed(program, active, *index, targets),
            Op::Load(access) => self.load(cx, access, active)?,
            Op::Store(access) => self.store(cx, access, active)?,
            Op::Atomic(atomic) => {
                self.atomic(cx, atomic, active)?;
                // Warps that contend for a word move on together, as they do on hardware.
                return Ok(Flow::Turn);
            }
            Op::Call(call) => return self.call(cx, call, active),
            Op::Return => return self.ret(cx, active),
            Op::Exit => {
                self.leave(cx, active);
                for l in lanes(self.mask & !active) {
                    self.pc[l] = self.at + 1;
                }
                return Ok(Flow::Split);
            }
            Op::Trap => return Err(Fault::new(FaultKind::LaunchFailed, "trap")),
            Op::Yield => {
                for l in lanes(self.mask) {
                    self.pc[l] = self.at + 1;
                }
                self.stalled |= self.mask;
                return Ok(Flow::Split);
            }
            Op::Barrier(barrier) => return self.barrier(cx, barrier, active),
            Op::ClusterArrive => return self.cluster_arrive(cx, active),
            Op::ClusterWait => return self.cluster_wait(cx, active),
            Op::Collective(collective) => return self.collective(cx, collective, active),
            Op::Transfer(transfer) => return self.transfer(cx, transfer, active),
            Op::ActiveMask(d) => {
                let frame = &mut self.frames[self.current as usize];
                registers::put32(&mut frame.regs, *d, &[active; LANES], active);
            }
            Op::FrameAddress(d, offset) => {
                for l in lanes(active) {
                    let address = i64::from(self.frame_base(l)).wrapping_add(*offset) as u64;
                    self.write(l, *d, address);
                }
            }
            Op::Clock(d, clock) => {
                let value = match clock {
                    Clock::Low | Clock::Full => self.executed,
                    Clock::High => self.executed >> 32,
                    Clock::Timer | Clock::TimerLow => cx.grid.started.elapsed().as_nanos() as u64,
                    Clock::TimerHigh => (cx.grid.started.elapsed().as_nanos() as u64) >> 32,
                };
                lanes(active).for_each(|l| self.write(l, *d, value));
            }
            Op::IsSpace(p, address, space, own) => self.is_space(cx, *p, *address, *space, *own, active),
            Op::Alloca(d, size, align) => {
                for l in lanes(active) {
                    let size = self.read(program, l, *size);
                    let base = u64::from(self.stack_top[l]).next_multiple_of(u64::from(*align));
                    self.lane = l;
                    let top = base.saturating_add(size);
                    if top > u64::from(STACK_BYTES) {
                        return Err(stack_fault(top));
                    }
                    self.stack_top[l] = top as u32;
                    self.write(l, *d, base);
                }
            }
            Op::StackSave(d) => lanes(active).for_each(|l| self.write(l, *d, self.stack_top[l].into())),
            Op::StackRestore(s) => {
                for l in lanes(active) {
                    self.stack_top[l] = (self.read(program, l, *s) as u32).min(STACK_BYTES);
                }
            }
            // The rest was executed before.
            _ => {}
        }
        Ok(Flow::Next)
    }

    fn branch(&mut self, active: u32, target: u32) -> Flow {
        if active == self.mask {
            return Flow::Jump(target);
        }
        for l in lanes(self.mask) {
            self.pc[l] = if active >> l & 1 != 0 { target } else { self.at + 1 };
        }
        Flow::Split
    }

    fn branch_indexed(&mut self, program: &Program, active: u32, index: Value, targets: &[u32]) -> Result<Flow, Fault> {
        for l in lanes(self.mask) {
            if active >> l & 1 == 0 {
                self.pc[l] = self.at + 1;
                continue;
            }
            let index = self.read(program, l, index);
            self.lane = l;
            self.pc[l] = *targets.get(index as usize).ok_or_else(|| {
                Fault::new(
                    FaultKind::InvalidPc,
                    format!("branch index {index}, but there are {} targets", targets.len()),
                )
            })?;
        }
        Ok(Flow::Split)
    }

    fn call(&mut self, cx: &mut Context<'_, '_>, call: &Call, active: u32) -> Result<Flow, Fault> {
        let program: &Program = cx.grid.program;
        let target_of = |warp: &Warp, l: usize| match call.callee {
            Callee::Direct(index) => Ok(index),
            Callee::Indirect(value) => {
                let address = warp.read(program, l, value);
                let offset = address.wrapping_sub(FUNCTION_BASE);
                let known = (offset / 16) as usize;
                if offset.is_multiple_of(16) && program.functions.get(known).is_some_and(Option::is_some) {
                    Ok(known as u32)
                } else {
                    Err(Fault::new(
                        FaultKind::InvalidPc,
                        format!("call of address {address:#x}, which is no function"),
                    ))
                }
            }
        };
        let first = active.trailing_zeros() as usize;
        let target = target_of(self, first)?;
        let mut together = 0;
        for l in lanes(active) {
            self.lane = l;
            if target_of(self, l)? == target {
                together |= 1 << l;
            }
        }
        for l in lanes(self.mask) {
            // Lanes that call something else try again.
            self.pc[l] = if active >> l & 1 != 0 { self.at } else { self.at + 1 };
        }
        let Some(code) = &program.functions[target as usize] else {
            return Err(Fault::new(FaultKind::InvalidPc, "call of a function without a body"));
        };
        if code.params.len() != call.arguments.len() || code.returns.len() != call.results.len() {
            return Err(Fault::new(
                FaultKind::InvalidPc,
                format!(
                    "`{}` takes {} arguments, but {} were given",
                    code.name,
                    code.params.len(),
                    call.arguments.len()
                ),
            ));
        }
        let base = lanes(together)
            .map(|l| self.stack_top[l])
            .max()
            .unwrap_or(0)
            .next_multiple_of(16);
        if base.saturating_add(code.local_bytes) > STACK_BYTES || self.frames[self.current as usize].depth > 20_000 {
            return Err(stack_fault(u64::from(base) + u64::from(code.local_bytes)));
        }
        let caller = self.current;
        let caller_base = self.frames[caller as usize].local_base;
        let link = (caller, self.at, self.at + 1);
        let frame = self.make_frame(cx, code, target, together, link, base);
        for (argument, formal) in call.arguments.iter().zip(&code.params) {
            for l in lanes(together) {
                self.pass(
                    program,
                    l,
                    (caller, caller_base, *argument),
                    (frame, base, as_argument(*formal)),
                );
            }
        }
        for l in lanes(together) {
            self.frame_of[l] = frame;
            self.pc[l] = 0;
            self.stack_top[l] = base + code.local_bytes;
        }
        Ok(Flow::Split)
    }

    /// Copies one value between frames of a lane.
    fn pass(&mut self, program: &Program, l: usize, from: (u32, u32, Argument), to: (u32, u32, Argument)) {
        let bytes = match (from.2, to.2) {
            (Argument::Memory(_, a), Argument::Memory(_, b)) => a.min(b) as usize,
            (Argument::Memory(_, n), _) | (_, Argument::Memory(_, n)) => n as usize,
            _ => 16,
        };
        let mut buffer = vec![0u8; bytes.max(16)];
        match from.2 {
            Argument::Memory(offset, _) => {
                let at = (from.1 + offset) as usize;
                let local = &self.local[l];
                let known = local.len().saturating_sub(at).min(bytes);
                if known > 0 {
                    buffer[..known].copy_from_slice(&local[at..at + known]);
                }
            }
            Argument::Register(value) => {
                let regs = &self.frames[from.0 as usize].regs;
                buffer[..8].copy_from_slice(&lane(regs, &program.pool, value, l).to_le_bytes());
            }
        }
        match to.2 {
            Argument::Memory(offset, _) => {
                let at = (to.1 + offset) as usize;
                let local = &mut self.local[l];
                if local.len() < at + bytes {
                    local.resize(at + bytes, 0);
                }
                local[at..at + bytes].copy_from_slice(&buffer[..bytes]);
            }
            Argument::Register(value) => {
                let mut word = [0; 8];
                word.copy_from_slice(&buffer[..8]);
                set_lane(&mut self.frames[to.0 as usize].regs, value, l, u64::from_le_bytes(word));
            }
        }
    }

    fn ret(&mut self, cx: &mut Context<'_, '_>, active: u32) -> Result<Flow, Fault> {
        let program: &Program = cx.grid.program;
        for l in lanes(self.mask & !active) {
            self.pc[l] = self.at + 1;
        }
        let frame_id = self.current;
        let frame = &self.frames[frame_id as usize];
        let (function, base, parent, call_pc, return_pc) = (
            frame.function,
            frame.local_base,
            frame.parent,
            frame.call_pc,
            frame.return_pc,
        );
        if parent == NO_FRAME {
            self.leave(cx, active);
            return Ok(Flow::Split);
        }
        let (caller, caller_base) = (
            self.frames[parent as usize].function,
            self.frames[parent as usize].local_base,
        );
        let call = program.functions[caller as usize]
            .as_ref()
            .and_then(|c| match &c.insts[call_pc as usize].op {
                Op::Call(call) => Some(call),
                _ => None,
            });
        if let (Some(call), Some(code)) = (call, &program.functions[function as usize]) {
            for (result, formal) in call.results.iter().zip(&code.returns) {
                for l in lanes(active) {
                    self.pass(
                        program,
                        l,
                        (frame_id, base, as_argument(*formal)),
                        (parent, caller_base, *result),
                    );
                }
            }
        }
        for l in lanes(active) {
            self.frame_of[l] = parent;
            self.pc[l] = return_pc;
            self.stack_top[l] = base;
        }
        let frame = &mut self.frames[frame_id as usize];
        frame.live &= !active;
        if frame.live == 0 {
            self.free.push(frame_id);
        }
        Ok(Flow::Split)
    }
}

fn as_argument(formal: Formal) -> Argument {
    match formal {
        Formal::Memory(offset, bytes) => Argument::Memory(offset, bytes),
        Formal::Register(value) => Argument::Register(value),
    }
}

/// The fault of a stack that is too deep.
pub fn stack_fault(bytes: u64) -> Fault {
    Fault::new(
        FaultKind::IllegalAddress,
        format!("the thread's stack needs {bytes} bytes, it has {STACK_BYTES}; the recursion may have no end"),
    )
}
