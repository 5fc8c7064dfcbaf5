//! Copies that have been issued and not yet happened.
//!
//! PTX lets an asynchronous copy happen at any time until something waits for it. Here it happens as late as it may: when
//! a thread waits for its mbarrier or its group, or when nothing else is left to do. So a program that reads before it
//! waits, or that overwrites a source too early, gets wrong data here every time and not only now and then.
use super::atomic;
use super::held::{Held, Holder, Nowhere};
use super::mbarrier::complete;
use super::memory::Generic;
use super::shared::ClusterShared;
use super::transfer::illegal;
use super::{Block, Cluster, Grid};
use crate::check::progress::{Acting, Agent};
use crate::isa::{AtomicOp, AtomicType, RANK_SHIFT, Space};
use crate::memory::{Bytes, Fault, GlobalMemory};
use crate::tma::{self, LoadMode, ReduceOp, StoreMode};
use girih_core::tensor_map::TensorMap;

/// Rounds of the scheduler after which a copy happens though nobody waits, for programs that poll memory instead.
const PATIENCE_ROUNDS: u64 = 1024;

/// What a copy does. Shared addresses name their block.
#[derive(Debug)]
pub enum Copy {
    /// `cp.async`: bytes to read, then zeros up to `total`.
    Small {
        dst: u64,
        src: u64,
        space: Space,
        bytes: usize,
        total: usize,
    },
    /// Global to shared memory: data and barrier of each destination.
    Load {
        src: u64,
        bytes: u64,
        targets: Vec<(u64, u64)>,
    },
    /// Shared to global memory, bytes of a mask alone.
    Store {
        dst: u64,
        src: u64,
        bytes: u64,
        mask: Option<u64>,
    },
    /// Shared memory to another block's.
    Send {
        dst: u64,
        src: u64,
        bytes: u64,
        barrier: u64,
    },
    /// Registers to shared memory.
    Registers { dst: u64, data: Vec<u8>, barrier: u64 },
    /// A register into shared memory.
    Update {
        op: AtomicOp,
        ty: AtomicType,
        dst: u64,
        operand: u64,
        barrier: u64,
    },
    /// Shared memory into global memory, or with a barrier into another block's.
    Reduce {
        op: AtomicOp,
        ty: AtomicType,
        dst: u64,
        src: u64,
        bytes: u64,
        barrier: Option<u64>,
    },
    /// Tensor to shared memory: data and barrier of each destination.
    TensorLoad {
        map: Box<TensorMap>,
        mode: LoadMode,
        coords: Vec<i32>,
        targets: Vec<(u64, u64)>,
    },
    /// Shared memory to a tensor.
    TensorStore {
        map: Box<TensorMap>,
        mode: StoreMode,
        coords: Vec<i32>,
        src: u64,
    },
    /// Shared memory into a tensor.
    TensorReduce {
        map: Box<TensorMap>,
        op: ReduceOp,
        mode: StoreMode,
        coords: Vec<i32>,
        src: u64,
    },
}

/// How a thread waits for a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// By an mbarrier.
    Barrier,
    /// `cp.async.wait_group`
    Group,
    /// `cp.async.bulk.wait_group`
    BulkGroup,
}

/// A copy with the thread that issued it.
#[derive(Debug)]
pub struct Pending {
    /// Block, warp and lane.
    pub owner: (usize, usize, usize),
    /// Line of the instruction.
    pub line: u32,
    /// How to wait for it.
    pub completion: Completion,
    /// Number of its group in its thread.
    pub group: u64,
    /// Round in which it was issued.
    pub round: u64,
    /// Moment of its issue, as the cluster counts effects.
    pub issued: u64,
    /// What it does.
    pub copy: Copy,
    /// Its source, where that has been read and the data is on its way.
    pub held: Option<Held>,
}

impl Pending {
    /// The copy as the one that acts on shared memory, `now`.
    fn acting(&self, now: u64) -> Acting {
        let (rank, warp, lane) = self.owner;
        Acting {
            line: self.line,
            agent: Agent {
                rank: rank as u16,
                warp: warp as u8,
                lane: lane as u8,
            },
            issued: self.issued,
            now,
        }
    }
}

impl Copy {
    /// The mbarriers where it completes.
    pub(super) fn barriers(&self) -> impl Iterator<Item = u64> {
        let (several, one): (&[(u64, u64)], Option<u64>) = match self {
            Copy::Load { targets, .. } | Copy::TensorLoad { targets, .. } => (targets, None),
            Copy::Send { barrier, .. } | Copy::Registers { barrier, .. } | Copy::Update { barrier, .. } => {
                (&[], Some(*barrier))
            }
            Copy::Reduce { barrier, .. } => (&[], *barrier),
            _ => (&[], None),
        };
        several.iter().map(|(_, barrier)| *barrier).chain(one)
    }

    fn signals(&self, barriers: &[u64]) -> bool {
        self.barriers().any(|barrier| barriers.contains(&barrier))
    }

    /// Reads the source of a copy from shared to global memory.
    fn hold(&self, blocks: &[Block], own: usize) -> Result<Held, Fault> {
        let shared = ClusterShared { blocks, own };
        let holder = Holder::new(&shared);
        match self {
            Copy::Store { src, bytes, .. } | Copy::Reduce { src, bytes, .. } => {
                holder.read(*src, &mut vec![0; *bytes as usize])?;
            }
            Copy::TensorStore { map, mode, coords, src } => {
                let (memory, src) = shared.locate(*src)?;
                let holder = Holder::new(memory);
                tma::store(map, *mode, coords, &holder, src, &Nowhere)?;
                return Ok(holder.finish());
            }
            Copy::TensorReduce {
                map,
                op,
                mode,
                coords,
                src,
            } => {
                let (memory, src) = shared.locate(*src)?;
                let holder = Holder::new(memory);
                tma::reduce(map, *op, *mode, coords, &holder, src, &Nowhere)?;
                return Ok(holder.finish());
            }
            _ => {}
        }
        Ok(holder.finish())
    }

    /// Copies; the source is `held` where it was read before.
    fn happen(&self, blocks: &[Block], own: usize, global: &GlobalMemory, held: Option<&Held>) -> Result<(), Fault> {
        let shared = ClusterShared { blocks, own };
        let source = |memory| held.map_or(memory, |h| h as &dyn Bytes);
        match self {
            Copy::Small {
                dst,
                src,
                space,
                bytes,
                total,
            } => {
                let mut buffer = [0; 16];
                if *bytes > 0 {
                    let memory = Generic {
                        global,
                        shared: &shared,
                        space: *space,
                    };
                    memory.read(*src, &mut buffer[..*bytes])?;
                }
                shared.write(*dst, &buffer[..*total])
            }
            Copy::Load { src, bytes, targets } => {
                let mut buffer = vec![0; *bytes as usize];
                global.read(*src, &mut buffer)?;
                targets.iter().try_for_each(|(dst, barrier)| {
                    shared.write(*dst, &buffer)?;
                    complete(&shared, *barrier, *bytes)
                })
            }
            Copy::Store { dst, src, bytes, mask } => {
                let mut buffer = vec![0; *bytes as usize];
                source(&shared).read(*src, &mut buffer)?;
                let Some(mask) = mask else {
                    return global.write(*dst, &buffer);
                };
                let chosen = buffer.iter().enumerate().filter(|(i, _)| mask >> (i % 16) & 1 != 0);
                chosen
                    .into_iter()
                    .try_for_each(|(i, byte)| global.write(dst + i as u64, &[*byte]))
            }
            Copy::Send {
                dst,
                src,
                bytes,
                barrier,
            } => {
                let mut buffer = vec![0; *bytes as usize];
                shared.read(*src, &mut buffer)?;
                shared.write(*dst, &buffer)?;
                complete(&shared, *barrier, *bytes)
            }
            Copy::Reduce {
                op,
                ty,
                dst,
                src,
                bytes,
                barrier,
            } => {
                let target: &dyn Bytes = if barrier.is_some() { &shared } else { global };
                reduce(source(&shared), target, (*op, *ty), *src, *dst, *bytes)?;
                barrier.map_or(Ok(()), |b| complete(&shared, b, *bytes))
            }
            Copy::Registers { dst, data, barrier } => {
                shared.write(*dst, data)?;
                complete(&shared, *barrier, data.len() as u64)
            }
            Copy::Update {
                op,
                ty,
                dst,
                operand,
                barrier,
            } => {
                let size = atomic::bytes(*ty);
                shared.update(*dst, size, &mut |old| {
                    atomic::apply(*op, *ty, false, old, *operand, 0).unwrap_or(old)
                })?;
                complete(&shared, *barrier, size as u64)
            }
            Copy::TensorLoad {
                map,
                mode,
                coords,
                targets,
            } => targets.iter().try_for_each(|(dst, barrier)| {
                let (memory, dst) = shared.locate(*dst)?;
                let bytes = tma::load(map, *mode, coords, global, memory, dst)?;
                complete(&shared, *barrier, bytes)
            }),
            Copy::TensorStore { map, mode, coords, src } => {
                let (memory, src) = shared.locate(*src)?;
                tma::store(map, *mode, coords, source(memory), src, global)
            }
            Copy::TensorReduce {
                map,
                op,
                mode,
                coords,
                src,
            } => {
                let (memory, src) = shared.locate(*src)?;
                tma::reduce(map, *op, *mode, coords, source(memory), src, global)
            }
        }
    }
}

fn reduce(
    shared: &dyn Bytes,
    target: &dyn Bytes,
    (op, ty): (AtomicOp, AtomicType),
    src: u64,
    dst: u64,
    bytes: u64,
) -> Result<(), Fault> {
    let size = atomic::bytes(ty);
    let mut buffer = vec![0; bytes as usize];
    shared.read(src, &mut buffer)?;
    for (i, part) in buffer.chunks_exact(size).enumerate() {
        let mut word = [0; 8];
        word[..size].copy_from_slice(part);
        let operand = u64::from_le_bytes(word);
        let mut undefined = false;
        target.update(dst + (i * size) as u64, size, &mut |old| {
            atomic::apply(op, ty, false, old, operand, 0).unwrap_or_else(|| {
                undefined = true;
                old
            })
        })?;
        if undefined {
            return Err(illegal("the reduction does not go with its type"));
        }
    }
    Ok(())
}

impl Cluster {
    /// Lets the pending copies that `chosen` names happen, in the order of their issue. An error comes with its copy.
    pub(super) fn settle(
        &mut self,
        grid: &Grid<'_>,
        chosen: impl Fn(&Pending) -> bool,
    ) -> Result<(), Box<(Fault, Pending)>> {
        if !self.pending.iter().any(&chosen) {
            return Ok(());
        }
        self.effects += 1;
        for pending in std::mem::take(&mut self.pending) {
            if !chosen(&pending) {
                self.pending.push(pending);
                continue;
            }
            self.blocks[pending.owner.0]
                .mbarriers
                .acting
                .set(pending.acting(self.effects));
            let own = pending.owner.0;
            if let Err(fault) = pending
                .copy
                .happen(&self.blocks, own, grid.memory, pending.held.as_ref())
            {
                return Err(Box::new((fault, pending)));
            }
            if grid.checks.is_some() {
                pending.copy.barriers().for_each(|b| self.check_object(grid, own, b));
            }
        }
        Ok(())
    }

    /// Lets the pending copies that `chosen` names read their sources, as `cp.async.bulk.wait_group.read` waits for; their
    /// data is as late as before. An error comes with the line of its copy.
    pub(super) fn release(&mut self, chosen: impl Fn(&Pending) -> bool) -> Result<(), (Fault, u32)> {
        for pending in self.pending.iter_mut().filter(|p| p.held.is_none() && chosen(p)) {
            let held = pending.copy.hold(&self.blocks, pending.owner.0);
            pending.held = Some(held.map_err(|fault| (fault, pending.line))?);
        }
        Ok(())
    }

    /// Lets the copies happen that threads wait for; all of them when the cluster has `ended`, or is `idle` otherwise.
    pub(super) fn settle_round(
        &mut self,
        grid: &Grid<'_>,
        idle: bool,
        ended: bool,
    ) -> Result<(), Box<(Fault, Pending)>> {
        self.round += 1;
        let awaited = std::mem::take(&mut self.awaited);
        let round = self.round;
        let before = self.effects;
        self.settle(grid, |p| p.copy.signals(&awaited) || round - p.round > PATIENCE_ROUNDS)?;
        if ended || idle && self.effects == before {
            self.settle(grid, |_| true)?;
        }
        Ok(())
    }
}

/// A shared address with its block named.
pub fn named(addr: u64, own: usize) -> u64 {
    if addr >> RANK_SHIFT == 0 {
        addr | (own as u64 + 1) << RANK_SHIFT
    } else {
        addr
    }
}
