//! mbarrier instructions on the bytes of shared memory.
use super::Context;
use super::asynchronous::named;
use super::memory::resolve;
use super::registers::put_mask;
use super::shared::ClusterShared;
use super::transfer::illegal;
use super::warp::{Flow, Poll, Warp, lanes};
use crate::check::progress::{Acting, Agent, Mbarriers, Told};
use crate::isa::{Address, LANES, Program, RANK_SHIFT, Space, Value};
use crate::mbarrier::{Barrier, BarrierError, Token};
use crate::memory::{Bytes, Fault, FaultKind, aligned};
use crate::transfer::MbarrierOp;

/// Changes an mbarrier and takes note of what it was told; what PTX leaves undefined is a fault.
pub(super) fn change<T>(
    shared: &ClusterShared<'_>,
    addr: u64,
    told: Told,
    f: impl Fn(Barrier) -> Result<(Barrier, T), BarrierError>,
) -> Result<T, Fault> {
    let mut outcome = None;
    shared.update(addr, 8, &mut |bits| {
        let changed =
            Barrier::from_bits(bits).and_then(|before| f(before).map(|(after, value)| (before, after, value)));
        match changed {
            Ok((before, after, value)) => {
                outcome = Some(Ok((before.parity() != after.parity(), value)));
                after.to_bits()
            }
            Err(error) => {
                outcome = Some(Err(error));
                bits
            }
        }
    })?;
    let acting = shared.blocks[shared.own].mbarriers.acting.get();
    match outcome {
        Some(Ok((over, value))) => {
            if let Some((mbarriers, addr)) = remembered(shared, addr) {
                mbarriers.tell(addr, told, acting, over);
            }
            Ok(value)
        }
        Some(Err(error)) => Err(refused(shared, addr, error)),
        None => Err(illegal("mbarrier without a state")),
    }
}

/// What the block of a shared address remembers, and the address there.
pub(super) fn remembered<'a>(shared: &ClusterShared<'a>, addr: u64) -> Option<(&'a Mbarriers, u64)> {
    let addr = named(addr, shared.own);
    let rank = (addr >> RANK_SHIFT) as usize - 1;
    let block = shared.blocks.get(rank)?;
    Some((&block.mbarriers, addr & ((1 << RANK_SHIFT) - 1)))
}

/// The fault of an operation that the barrier does not take, with what is known of the barrier.
fn refused(shared: &ClusterShared<'_>, addr: u64, error: BarrierError) -> Fault {
    let known = remembered(shared, addr).map_or(String::new(), |(mbarriers, local)| mbarriers.describe(local, error));
    let kind = match error {
        BarrierError::Transactions(_) => FaultKind::TransactionCount,
        _ => FaultKind::BarrierObject,
    };
    let remedy = match error {
        BarrierError::NotInitialised => {
            "initialise it once with mbarrier.init, and put a barrier of the block between that and the first use"
        }
        BarrierError::Count(_) => "give mbarrier.init the number of arrivals of each phase",
        BarrierError::TooManyArrivals { .. } => {
            "raise the count of mbarrier.init, or let each thread that counts arrive once a phase"
        }
        BarrierError::Transactions(_) => "expect and complete fewer bytes in one phase, in several copies and phases",
        BarrierError::Completes => "use mbarrier.arrive without .noComplete for the last arrival of a phase",
    };
    Fault::new(kind, format!("mbarrier at shared address {addr:#x}: {error}{known}")).with_remedy(remedy)
}

pub(super) fn complete(shared: &ClusterShared<'_>, addr: u64, bytes: u64) -> Result<(), Fault> {
    let told = Told {
        completed: bytes as u32,
        ..Told::default()
    };
    change(shared, addr, told, |b| Ok((b.complete_tx(bytes as u32)?, ())))
}

impl Warp {
    /// `mbarrier.try_wait` and `mbarrier.test_wait`, for all active lanes.
    pub(super) fn wait(
        &mut self,
        cx: &mut Context<'_, '_>,
        (p, token, parity, suspends, ordered): (crate::isa::Slot, Value, bool, bool, bool),
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
            let barrier =
                Barrier::from_bits(u64::from_le_bytes(bytes)).map_err(|error| refused(&shared, addr, error))?;
            let token = self.read(program, l, token);
            let done = if parity {
                barrier.is_complete_parity(token & 1 != 0)
            } else {
                barrier.is_complete(Token::from_bits(token))
            };
            over |= u32::from(done) << l;
            let address = named(addr, cx.block);
            if done {
                if cx.grid.checks.is_some() {
                    self.check_waited(cx, l, addr, ordered);
                }
                if let Some((mbarriers, local)) = remembered(&shared, addr) {
                    mbarriers.pass(local, self.agent(cx.block, l));
                }
                continue;
            }
            self.polls.resize(LANES, Poll::default());
            self.polls[l] = Poll {
                round: cx.cluster.round,
                line: self.here(program),
                address,
                parity: parity.then_some(token & 1 != 0),
            };
            if !cx.cluster.awaited.contains(&address) {
                cx.cluster.awaited.push(address);
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

    /// A lane among the threads of the cluster.
    pub(super) fn agent(&self, rank: usize, l: usize) -> Agent {
        Agent {
            rank: rank as u16,
            warp: self.number() as u8,
            lane: l as u8,
        }
    }

    /// A lane as the one that acts on shared memory now, by the instruction that it is at.
    pub(super) fn acting(&self, cx: &Context<'_, '_>, l: usize) -> Acting {
        Acting {
            line: self.line(cx.grid.program, l),
            agent: self.agent(cx.block, l),
            issued: cx.cluster.effects,
            now: cx.cluster.effects,
        }
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
        let acting = self.acting(cx, l);
        shared.blocks[shared.own].mbarriers.acting.set(acting);
        match op {
            MbarrierOp::Init(count) => {
                let barrier = Barrier::init(value(*count) as u32).map_err(|error| refused(&shared, addr, error))?;
                let mut before = [0; 8];
                shared.read(addr, &mut before)?;
                let live = Barrier::from_bits(u64::from_le_bytes(before)).is_ok();
                shared.write(addr, &barrier.to_bits().to_le_bytes())?;
                if let Some((mbarriers, addr)) = remembered(&shared, addr) {
                    mbarriers.init(addr, acting, live);
                }
            }
            MbarrierOp::Invalidate => {
                shared.write(addr, &[0; 8])?;
                if let Some((mbarriers, addr)) = remembered(&shared, addr) {
                    mbarriers.end(addr, acting);
                }
            }
            MbarrierOp::ExpectTx(bytes) => {
                let bytes = value(*bytes) as u32;
                let told = Told {
                    expected: bytes,
                    ..Told::default()
                };
                change(&shared, addr, told, |b| Ok((b.expect_tx(bytes)?, ())))?;
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
                let told = Told {
                    arrivals: count,
                    expected: expect.unwrap_or(0),
                    completed: 0,
                };
                let state = change(&shared, addr, told, |b| {
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
