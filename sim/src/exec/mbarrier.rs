//! mbarrier instructions on the bytes of shared memory.
use super::Context;
use super::asynchronous::named;
use super::memory::resolve;
use super::registers::put_mask;
use super::shared::ClusterShared;
use super::transfer::illegal;
use super::warp::{Flow, Warp, lanes};
use crate::isa::{Address, Program, Space, Value};
use crate::mbarrier::{Barrier, BarrierError, Token};
use crate::memory::{Bytes, Fault, FaultKind, aligned};
use crate::transfer::MbarrierOp;

/// Changes an mbarrier; what PTX leaves undefined is a fault.
pub(super) fn change<T>(
    shared: &dyn Bytes,
    addr: u64,
    f: impl Fn(Barrier) -> Result<(Barrier, T), BarrierError>,
) -> Result<T, Fault> {
    let mut outcome = None;
    shared.update(addr, 8, &mut |bits| match Barrier::from_bits(bits).and_then(&f) {
        Ok((barrier, value)) => {
            outcome = Some(Ok(value));
            barrier.to_bits()
        }
        Err(error) => {
            outcome = Some(Err(error));
            bits
        }
    })?;
    match outcome {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(illegal(format!("mbarrier at shared address {addr:#x}: {error}"))),
        None => Err(illegal("mbarrier without a state")),
    }
}

pub(super) fn complete(shared: &dyn Bytes, addr: u64, bytes: u64) -> Result<(), Fault> {
    change(shared, addr, |b| Ok((b.complete_tx(bytes as u32)?, ())))
}

impl Warp {
    /// `mbarrier.try_wait` and `mbarrier.test_wait`, for all active lanes.
    pub(super) fn wait(
        &mut self,
        cx: &mut Context<'_, '_>,
        (p, token, parity, suspends): (crate::isa::Slot, Value, bool, bool),
        (space, address): (Space, &Address),
        active: u32,
    ) -> Result<Flow, Fault> {
        let program: &Program = cx.grid.program;
        let mut over = 0;
        for l in lanes(active) {
            self.lane = l;
            let (_, addr) = resolve(space, self.address(cx, address, l));
            aligned(addr, 8)?;
            let shared = ClusterShared {
                blocks: &cx.cluster.blocks,
                own: cx.block,
            };
            let mut bytes = [0; 8];
            shared.read(addr, &mut bytes)?;
            let barrier = Barrier::from_bits(u64::from_le_bytes(bytes))
                .map_err(|e| illegal(format!("mbarrier at shared address {addr:#x}: {e}")))?;
            let token = self.read(program, l, token);
            let done = if parity {
                barrier.is_complete_parity(token & 1 != 0)
            } else {
                barrier.is_complete(Token::from_bits(token))
            };
            over |= u32::from(done) << l;
            if !done {
                let barrier = named(addr, cx.block);
                if !cx.cluster.awaited.contains(&barrier) {
                    cx.cluster.awaited.push(barrier);
                }
            }
        }
        if over != active && suspends && !cx.cluster.timeouts {
            self.timed = true;
            // The lanes whose phase is over may go on alone.
            put_mask(&mut self.frame_mut().regs, p, u32::MAX, over);
            return Ok(self.released(over, active));
        }
        put_mask(&mut self.frame_mut().regs, p, over, active);
        if over == active {
            return Ok(Flow::Next);
        }
        // A fruitless test gives others their turn.
        for l in lanes(self.mask) {
            self.pc[l] = self.at + 1;
        }
        self.stalled |= self.mask;
        Ok(Flow::Split)
    }

    /// The other instructions, for one lane.
    pub(super) fn mbarrier(
        &mut self,
        cx: &Context<'_, '_>,
        op: &MbarrierOp,
        (space, address): (Space, &Address),
        l: usize,
    ) -> Result<(), Fault> {
        let program: &Program = cx.grid.program;
        let shared = ClusterShared {
            blocks: &cx.cluster.blocks,
            own: cx.block,
        };
        let value = |v: Value| self.read(program, l, v);
        let (space, addr) = resolve(space, self.address(cx, address, l));
        if space != Space::Shared {
            return Err(Fault::new(
                FaultKind::InvalidAddressSpace,
                "an mbarrier is in shared memory",
            ));
        }
        aligned(addr, 8)?;
        match op {
            MbarrierOp::Init(count) => {
                let barrier = Barrier::init(value(*count) as u32).map_err(|e| illegal(e.to_string()))?;
                shared.write(addr, &barrier.to_bits().to_le_bytes())?;
            }
            MbarrierOp::Invalidate => shared.write(addr, &[0; 8])?,
            MbarrierOp::ExpectTx(bytes) => {
                let bytes = value(*bytes) as u32;
                change(&shared, addr, |b| Ok((b.expect_tx(bytes)?, ())))?;
            }
            MbarrierOp::CompleteTx(bytes) => complete(&shared, addr, value(*bytes))?,
            MbarrierOp::Arrive {
                count,
                expect,
                drop,
                no_complete,
                token,
            } => {
                let count = count.map_or(1, |c| value(c) as u32);
                let expect = expect.map(|e| value(e) as u32);
                let state = change(&shared, addr, |b| {
                    let b = match expect {
                        Some(bytes) => b.expect_tx(bytes)?,
                        None => b,
                    };
                    match (no_complete, drop) {
                        (true, drop) => b.arrive_no_complete(count, *drop),
                        (false, true) => b.arrive_drop(count),
                        (false, false) => b.arrive(count),
                    }
                })?;
                if let Some(d) = token {
                    self.write(l, *d, state.to_bits());
                }
            }
            // Handled for the whole warp.
            MbarrierOp::Wait { .. } => {}
        }
        Ok(())
    }
}
