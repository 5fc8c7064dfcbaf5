//! Instructions that are more than arithmetic: each goes to what does it; branches and the stack are done here.
use super::Context;
use super::registers;
use super::warp::{Flow, STACK_BYTES, Warp, lanes, stack_fault};
use crate::isa::{Access, Base, Clock, LANES, Op, Program, Space, Value};
use crate::memory::{Fault, FaultKind};

impl Warp {
    /// Executes an instruction that is more than arithmetic.
    pub(super) fn step(&mut self, cx: &mut Context<'_, '_>, op: &Op, active: u32) -> Result<Flow, Fault> {
        self.lane = active.trailing_zeros() as usize;
        let program: &Program = cx.grid.program;
        match op {
            Op::Branch(target) => return Ok(self.branch(active, *target)),
            Op::BranchIndexed(index, targets) => return self.branch_indexed(program, active, *index, targets),
            Op::Load(access) => {
                cx.cluster.looks |= is_look(program, access);
                self.load(cx, access, active)?;
            }
            Op::Store(access) => self.store(cx, access, active)?,
            Op::Atomic(atomic) => {
                self.atomic(cx, atomic, active)?;
                // Warps that contend for a word move on together, as they do on hardware.
                return Ok(Flow::Turn);
            }
            Op::Call(call) => return self.call(cx, call, active),
            Op::Print(print) => self.print(cx, print, active)?,
            Op::AssertFail(failed) => return Err(self.failed_assertion(cx, failed, active)),
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
            Op::ClusterArrive(step) => return self.cluster_arrive(cx, *step, active),
            Op::ClusterWait(step) => return self.cluster_wait(cx, *step, active),
            Op::Fence(fence) => self.check_fence(cx, *fence, active),
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
                cx.cluster.looks = true;
                if let Some(spin) = &mut cx.cluster.spin {
                    spin.changes();
                }
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
}

/// Whether a load may find what another cluster wrote: not in shared or local memory, nor in the kernel's parameters.
fn is_look(program: &Program, access: &Access) -> bool {
    let size = program
        .params
        .iter()
        .map(|(offset, bytes)| offset + bytes)
        .max()
        .unwrap_or(0);
    match (access.space, access.address.base) {
        (Space::Shared | Space::Local, _) => false,
        (_, Base::Absolute) => (access.address.offset as u64).wrapping_sub(program.param_block) >= u64::from(size),
        _ => true,
    }
}
