//! `wgmma`: the four warps of a warpgroup bring their registers, the last one computes.
//!
//! The product is there at once, and what it read of shared memory is remembered until its group is waited for: bytes that
//! changed by then were written too early, which on hardware is a race.
use super::Context;
use super::collective::illegal;
use super::shared::ClusterShared;
use super::stuck::lane_list;
use super::warp::{Flow, Warp};
use crate::collective::WarpgroupProduct;
use crate::isa::{LANES, Program, Value};
use crate::memory::{Bytes, Fault, FaultKind};
use crate::tensor_core::wgmma::{A, Metadata, WarpgroupRegister};
use std::cell::RefCell;
use std::hash::{DefaultHasher, Hasher};

/// Warps of a warpgroup.
const WARPS: usize = 4;

/// Where the four warps of a warpgroup meet for a `wgmma`.
#[derive(Default)]
pub struct Rendezvous {
    /// Bit for each warp that has brought its registers, and not yet fetched the result.
    arrived: u32,
    /// Place of the instruction.
    place: (u32, u32),
    done: bool,
    d: Vec<WarpgroupRegister>,
    a: Vec<WarpgroupRegister>,
    metadata: Option<Box<WarpgroupRegister>>,
    descriptors: (u64, u64),
    scale_d: bool,
    /// Products that have not been waited for.
    in_flight: Vec<InFlight>,
}

/// What a product read, until it is waited for.
struct InFlight {
    group: u64,
    line: u32,
    pieces: Vec<(u64, usize)>,
    digest: u64,
}

/// Shared memory that remembers what was read of it.
struct Recorder<'a> {
    memory: &'a dyn Bytes,
    log: RefCell<(Vec<(u64, usize)>, DefaultHasher)>,
}

impl<'a> Recorder<'a> {
    fn new(memory: &'a dyn Bytes) -> Self {
        Recorder {
            memory,
            log: RefCell::default(),
        }
    }
    fn finish(self, group: u64, line: u32) -> InFlight {
        let (pieces, hasher) = self.log.into_inner();
        InFlight {
            group,
            line,
            pieces,
            digest: hasher.finish(),
        }
    }
}

impl Bytes for Recorder<'_> {
    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), Fault> {
        self.memory.read(addr, out)?;
        let mut log = self.log.borrow_mut();
        log.0.push((addr, out.len()));
        log.1.write(out);
        Ok(())
    }
    fn write(&self, addr: u64, data: &[u8]) -> Result<(), Fault> {
        self.memory.write(addr, data)
    }
    fn update(&self, addr: u64, size: usize, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, Fault> {
        self.memory.update(addr, size, f)
    }
}

impl InFlight {
    fn check(&self, shared: &dyn Bytes, program: &Program) -> Result<(), Fault> {
        let again = Recorder::new(shared);
        for (addr, bytes) in &self.pieces {
            again.read(*addr, &mut vec![0; *bytes])?;
        }
        if again.finish(self.group, self.line).digest == self.digest {
            return Ok(());
        }
        Err(illegal(format!(
            "shared memory that the wgmma at {} reads was written before this wait; write it after the wait",
            program.line(self.line)
        )))
    }
}

impl Warp {
    /// Brings this warp's registers, and computes when it is the last of its warpgroup.
    pub(super) fn wgmma(
        &mut self,
        cx: &mut Context<'_, '_>,
        product: &WarpgroupProduct,
        active: u32,
    ) -> Result<Flow, Fault> {
        let program: &Program = cx.grid.program;
        if active != u32::MAX {
            return Err(Fault::new(
                FaultKind::BarrierDivergence,
                format!(
                    "wgmma needs all 32 lanes of the warp, {} alone execute it; let the others stay until then",
                    lane_list(active)
                ),
            ));
        }
        let number = self.identity.as_ref().map_or(0, |i| i.warp as usize);
        let (group, own) = (number / WARPS, number % WARPS);
        let place = self.place(0);
        let blocks = &mut cx.cluster.blocks;
        if (group + 1) * WARPS > blocks[cx.block].warps.len() {
            return Err(illegal(format!(
                "wgmma in warp {number}, whose warpgroup has less than four warps"
            )));
        }
        let mut meeting = std::mem::take(&mut blocks[cx.block].warpgroups[group]);
        let mut here = meeting.arrived >> own & 1 != 0;
        if !here && !meeting.done {
            if meeting.arrived != 0 && meeting.place != place {
                let (function, pc) = meeting.place;
                let code = program.functions[function as usize].as_ref();
                let line = code.and_then(|c| c.insts.get(pc as usize)).map_or(0, |i| i.line);
                return Err(Fault::new(
                    FaultKind::BarrierDivergence,
                    format!(
                        "the warps of a warpgroup execute different wgmma instructions: warps {:?} are at {}; branch by the \
                         number of the thread divided by 128",
                        (0..WARPS)
                            .filter(|w| meeting.arrived >> w & 1 != 0)
                            .map(|w| group * WARPS + w)
                            .collect::<Vec<_>>(),
                        program.line(line)
                    ),
                ));
            }
            self.bring(program, product, &mut meeting, own, place);
            cx.check(|state, block| state.bring_product(self.who(block, active)));
            self.check_issue(cx, product);
            here = true;
            cx.cluster.effects += 1;
            if meeting.arrived == (1 << WARPS) - 1 {
                let shared = ClusterShared {
                    blocks: &cx.cluster.blocks,
                    own: cx.block,
                };
                let a = if product.a_shared {
                    A::Shared(meeting.descriptors.0)
                } else {
                    A::Registers(&meeting.a)
                };
                let metadata = match (&meeting.metadata, product.metadata) {
                    (Some(words), Some((_, selector))) => Some(Metadata { words, selector }),
                    _ => None,
                };
                let recorder = Recorder::new(&shared);
                product.product.run(
                    &recorder,
                    a,
                    meeting.descriptors.1,
                    meeting.scale_d,
                    metadata,
                    &mut meeting.d,
                )?;
                let (number, line) = (self.wgmma_groups, self.line(program, 0));
                let flight = recorder.finish(number, line);
                self.observe_product(cx, &flight.pieces);
                if cx.grid.checks.is_some() {
                    self.check_product(cx, group, number, &flight.pieces);
                }
                meeting.in_flight.push(flight);
                meeting.done = true;
            }
        }
        let finished = meeting.done && here;
        if finished {
            for (value, result) in product.d.iter().zip(&meeting.d) {
                for l in 0..LANES {
                    self.write(l, *value, result[own * LANES + l]);
                }
            }
            meeting.arrived &= !(1 << own);
            if meeting.arrived == 0 {
                meeting.done = false;
            }
        }
        cx.cluster.blocks[cx.block].warpgroups[group] = meeting;
        Ok(if finished { Flow::Next } else { Flow::Stall })
    }

    fn bring(
        &self,
        program: &Program,
        product: &WarpgroupProduct,
        meeting: &mut Rendezvous,
        own: usize,
        place: (u32, u32),
    ) {
        let copy = |values: &[Value], into: &mut Vec<WarpgroupRegister>| {
            into.resize(values.len(), [0; WARPS * LANES]);
            for (value, register) in values.iter().zip(into) {
                for l in 0..LANES {
                    register[own * LANES + l] = self.read(program, l, *value);
                }
            }
        };
        copy(&product.d, &mut meeting.d);
        if product.a_shared {
            meeting.descriptors.0 = self.read(program, 0, product.a[0]);
        } else {
            copy(&product.a, &mut meeting.a);
        }
        if let Some((value, _)) = product.metadata {
            let words = meeting.metadata.get_or_insert_with(|| Box::new([0; WARPS * LANES]));
            for l in 0..LANES {
                words[own * LANES + l] = self.read(program, l, value);
            }
        }
        meeting.descriptors.1 = self.read(program, 0, product.b);
        let p = product.scale_d;
        meeting.scale_d = (self.read(program, 0, Value { slot: p.slot, bits: 1 }) != 0) != p.negated;
        meeting.arrived |= 1 << own;
        meeting.place = place;
    }

    /// `wgmma.wait_group`: the products of all groups but the newest `keep` are over.
    pub(super) fn wgmma_wait(&mut self, cx: &mut Context<'_, '_>, keep: u32) -> Result<(), Fault> {
        let end = self.wgmma_groups.saturating_sub(u64::from(keep));
        let group = self.number() / WARPS;
        let Some(meeting) = cx.cluster.blocks[cx.block].warpgroups.get_mut(group) else {
            return Ok(());
        };
        let (over, rest) = std::mem::take(&mut meeting.in_flight)
            .into_iter()
            .partition(|p| p.group < end);
        meeting.in_flight = rest;
        let over: Vec<InFlight> = over;
        if let Some(watch) = &mut self.watch {
            watch.wait(end);
        }
        if cx.grid.checks.is_some() {
            // A write beneath a product is reported where it happens.
            cx.check(|state, block| state.wait_products(self.who(block, u32::MAX), end as u32));
            return Ok(());
        }
        let shared = ClusterShared {
            blocks: &cx.cluster.blocks,
            own: cx.block,
        };
        over.iter().try_for_each(|p| p.check(&shared, cx.grid.program))
    }
}
