//! Calls and returns: a frame for each set of lanes that calls together, arguments and results copied by value.
use super::Context;
use super::frame::NO_FRAME;
use super::registers::{lane, set_lane};
use super::warp::{Flow, STACK_BYTES, Warp, lanes};
use crate::isa::{Argument, Call, Callee, FUNCTION_BASE, Formal, Op, Program};
use crate::memory::{Fault, FaultKind};

/// Calls in a row whose frames are empty that a thread's stack has room for: each keeps a return address.
const MOST_CALLS: u32 = 20_000;

impl Warp {
    /// `call`: a new frame for the lanes that call the same function.
    pub(super) fn call(&mut self, cx: &mut Context<'_, '_>, call: &Call, active: u32) -> Result<Flow, Fault> {
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
        let depth = self.frames[self.current as usize].depth + 1;
        let needed = u64::from(base) + u64::from(code.local_bytes);
        if needed > u64::from(STACK_BYTES) || depth > MOST_CALLS {
            return Err(self.overflow(program, &code.name, depth, needed));
        }
        let caller = self.current;
        let caller_base = self.frames[caller as usize].local_base;
        let link = (caller, self.at, self.at + 1);
        let frame = self.make_frame(cx, code, target, together, link, base);
        if cx.grid.checks.is_some() {
            self.check_call(cx, code, together, base);
            if let Some(watch) = &mut self.watch {
                watch.forget(frame);
            }
        }
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

    /// The fault of a call of `name` that would be the `depth`th in a row and needs so many bytes of stack with all before.
    fn overflow(&self, program: &Program, name: &str, depth: u32, needed: u64) -> Fault {
        let mut again = 0;
        let mut frame = self.current;
        while let Some(inner) = self.frames.get(frame as usize) {
            let code = program.functions[inner.function as usize].as_ref();
            again += u32::from(code.is_some_and(|code| code.name == name));
            frame = inner.parent;
        }
        let recursion = match again {
            0 => String::new(),
            again => format!(", {again} of them of `{name}` itself: the recursion may have no end"),
        };
        let room = match needed > u64::from(STACK_BYTES) {
            true => format!("the stack needs {needed} bytes then, a thread has {STACK_BYTES}"),
            false => format!("a return address for each is more than the stack of a thread holds, {STACK_BYTES} bytes"),
        };
        let detail = format!("stack overflow: `{name}` is called at a depth of {depth} calls{recursion}; {room}");
        Fault::new(FaultKind::StackOverflow, detail)
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

    /// `ret`: back to the caller, or the end of the thread.
    pub(super) fn ret(&mut self, cx: &mut Context<'_, '_>, active: u32) -> Result<Flow, Fault> {
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
        if let (Some(call), true) = (call, cx.grid.checks.is_some()) {
            self.check_return(cx, call, active, caller_base);
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
