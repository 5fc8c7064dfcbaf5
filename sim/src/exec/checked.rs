//! What the checks of a launch are told: each function here translates one kind of instruction for [`crate::check`].
//!
//! Callers ask first whether checks are on, so that a plain launch pays for no more than that.
use super::asynchronous::{Completion, Copy, named};
use super::footprint::{Footprint, Log};
use super::memory::resolve;
use super::registers::{lane, lane_high};
use super::warp::{Warp, lanes};
use super::{Block, Cluster, Context, Grid};
use crate::check::{
    At, Finding, Finish, Gravity, Kind, Memory, Order, Piece, Place, State, Step, Touch, Who, between, merge,
};
use crate::collective::{self, WarpgroupProduct};
use crate::isa::{
    Access, Address, Argument, Atomic, Call, Code, Fence, Formal, Inst, LANES, Op, RANK_SHIFT, Space, Strength, W64,
};
use crate::memory::{Bytes, Fault};
use crate::operands::visit;
use crate::transfer::{MbarrierOp, Transfer};

/// Mask of an address in the shared memory of one block.
pub(super) const IN_BLOCK: u64 = (1 << RANK_SHIFT) - 1;

/// The number of a block in its grid.
pub(super) fn number(grid: &Grid<'_>, block: &Block) -> u32 {
    let [x, y, _] = grid.shape.grid;
    block.index[0] + x * (block.index[1] + y * block.index[2])
}

/// The block and address of a shared address that names its block or is the block's own.
pub(super) fn object(grid: &Grid<'_>, cluster: &Cluster, own: usize, address: u64) -> Option<(u32, u64)> {
    let named = named(address, own);
    let rank = (named >> RANK_SHIFT) as usize - 1;
    Some((number(grid, cluster.blocks.get(rank)?), named & IN_BLOCK))
}

impl Context<'_, '_> {
    /// Tells the checks something, with the number of the block.
    pub(super) fn check(&self, f: impl FnOnce(&mut State, u32)) {
        if let Some(checks) = &self.grid.checks {
            let block = number(self.grid, &self.cluster.blocks[self.block]);
            checks.with(|state| f(state, block));
        }
    }

    pub(super) fn object(&self, address: u64) -> Option<(u32, u64)> {
        object(self.grid, self.cluster, self.block, address)
    }

    /// Where an address of a space is followed; not in local memory, nor in what is only read.
    pub(super) fn place(&self, state: &State, space: Space, address: u64) -> Option<At> {
        match resolve(space, address) {
            (Space::Shared, address) => {
                let (block, address) = self.object(address)?;
                Some((Memory::Shared(block), address))
            }
            (Space::Global, address) => state.global(address),
            _ => None,
        }
    }
}

impl Cluster {
    /// Tells the checks what became of an mbarrier.
    pub(super) fn check_object(&self, grid: &Grid<'_>, own: usize, address: u64) {
        let Some(checks) = &grid.checks else { return };
        let Some(key) = object(grid, self, own, address) else {
            return;
        };
        let shared = super::shared::ClusterShared {
            blocks: &self.blocks,
            own,
        };
        let mut bytes = [0; 8];
        if shared.read(address, &mut bytes).is_ok()
            && let Ok(barrier) = crate::mbarrier::Barrier::from_bits(u64::from_le_bytes(bytes))
        {
            let parity = barrier.is_complete_parity(false);
            checks.with(|state| state.settle_object(key, parity));
        }
    }
}

impl Warp {
    /// Some lanes of this warp, as the checks name them.
    pub(super) fn who(&self, block: u32, lanes: u32) -> Who {
        Who {
            block,
            warp: self.number() as u32,
            lanes,
        }
    }

    /// Line of the instruction being executed.
    pub(super) fn current_line(&self, cx: &Context<'_, '_>) -> u32 {
        let code = &cx.grid.program.functions[self.frame().function as usize];
        let inst = code.as_ref().and_then(|code| code.insts.get(self.at as usize));
        inst.map_or(0, |inst| inst.line)
    }

    fn lane_bytes(&self, cx: &Context<'_, '_>, access: &Access, l: usize) -> [u8; 64] {
        let (regs, pool) = (&self.frame().regs, &cx.grid.program.pool);
        let size = usize::from(access.bytes);
        let mut bytes = [0; 64];
        for (part, value) in bytes.chunks_exact_mut(size.min(64)).zip(&access.values) {
            let low = lane(regs, pool, *value, l).to_le_bytes();
            part[..size.min(8)].copy_from_slice(&low[..size.min(8)]);
            if size == 16 {
                part[8..].copy_from_slice(&lane_high(regs, pool, *value, l).to_le_bytes());
            }
        }
        bytes
    }

    /// `ld` and `st`, before they happen.
    #[cold]
    pub(super) fn check_access(
        &self,
        cx: &Context<'_, '_>,
        access: &Access,
        addresses: &W64,
        active: u32,
        writes: bool,
    ) {
        let total = usize::from(access.bytes) * access.values.len();
        let line = self.current_line(cx);
        let shared = super::shared::ClusterShared {
            blocks: &cx.cluster.blocks,
            own: cx.block,
        };
        cx.check(|state, block| {
            let mut at = [None; LANES];
            for l in lanes(active) {
                let (space, address) = resolve(access.space, addresses[l]);
                if space == Space::Local {
                    state.local(self.who(block, 1 << l), line, address, total as u64, writes);
                } else {
                    at[l] = cx.place(state, space, address);
                }
            }
            let same = |l: usize, other: Option<usize>, offset: u64, bytes: u64| {
                let part = |lane: usize| {
                    let start = offset.checked_sub(at[lane]?.1)? as usize;
                    let data = self.lane_bytes(cx, access, lane);
                    (start < total).then(|| data[start..(start + bytes as usize).min(total)].to_vec())
                };
                let Some(new) = part(l) else { return false };
                match other {
                    Some(other) => part(other).is_some_and(|theirs| theirs == new),
                    None => {
                        let (space, address) = resolve(access.space, addresses[l]);
                        let address = address + (offset - at[l].map_or(offset, |at| at.1));
                        let mut old = vec![0; new.len()];
                        let read = match space {
                            Space::Shared => shared.read(address, &mut old),
                            _ => cx.grid.memory.read(address, &mut old),
                        };
                        read.is_ok() && old == new
                    }
                }
            };
            state.step(&Step {
                who: self.who(block, active),
                line,
                at: &at,
                bytes: total as u64,
                reads: !writes,
                writes,
                updates: false,
                strength: access.strength,
                same: &same,
            });
        });
    }

    /// `atom` and `red`.
    #[cold]
    pub(super) fn check_atomic(&self, cx: &Context<'_, '_>, atomic: &Atomic, addresses: &W64, active: u32) {
        let line = self.current_line(cx);
        let bytes = super::atomic::bytes(atomic.ty) * atomic.operands.len();
        cx.check(|state, block| {
            let mut at = [None; LANES];
            lanes(active).for_each(|l| at[l] = cx.place(state, atomic.space, addresses[l]));
            state.step(&Step {
                who: self.who(block, active),
                line,
                at: &at,
                bytes: bytes as u64,
                reads: atomic.wants_old,
                writes: true,
                updates: true,
                strength: Some(atomic.strength),
                same: &|_, _, _, _| false,
            });
        });
    }

    /// Rows of 16 bytes that the first lanes name: `ldmatrix` and `stmatrix`.
    #[cold]
    pub(super) fn check_rows(&self, cx: &Context<'_, '_>, addresses: &W64, rows: usize, active: u32, writes: bool) {
        let line = self.line(cx.grid.program, active.trailing_zeros() as usize);
        cx.check(|state, block| {
            let mut at = [None; LANES];
            (0..rows.min(LANES)).for_each(|l| at[l] = cx.place(state, Space::Shared, addresses[l]));
            state.step(&Step {
                who: self.who(block, u32::MAX >> (LANES - rows.clamp(1, LANES))),
                line,
                at: &at,
                bytes: 16,
                reads: !writes,
                writes,
                updates: false,
                strength: None,
                same: &|_, _, _, _| false,
            });
        });
    }

    /// What a warp accesses as one, by the instruction that `run` executes on a memory that only takes notes.
    #[cold]
    pub(super) fn check_logged(
        &self,
        cx: &Context<'_, '_>,
        space: Space,
        active: u32,
        run: impl Fn(&Log) -> Result<(), Fault>,
    ) {
        let line = self.line(cx.grid.program, active.trailing_zeros() as usize);
        let log = Log::default();
        if run(&log).is_err() {
            return;
        }
        cx.check(|state, block| {
            for (address, bytes, writes) in log.into_accesses() {
                if let Some(at) = cx.place(state, space, address) {
                    state.warp_access(self.who(block, active), line, at, bytes, writes);
                }
            }
        });
    }

    /// One plain access of one lane.
    pub(super) fn check_lane(&self, cx: &Context<'_, '_>, l: usize, at: (Space, u64), bytes: u64, writes: bool) {
        let line = self.current_line(cx);
        cx.check(|state, block| {
            let mut places = [None; LANES];
            places[l] = cx.place(state, at.0, at.1);
            state.step(&Step {
                who: self.who(block, 1 << l),
                line,
                at: &places,
                bytes,
                reads: !writes,
                writes,
                updates: false,
                strength: None,
                same: &|_, _, _, _| false,
            });
        });
    }

    /// The copy engine reads a tensor map.
    pub(super) fn check_tensor_map(&self, cx: &Context<'_, '_>, l: usize, address: u64) {
        let line = self.current_line(cx);
        cx.check(|state, block| {
            if let Some(at) = cx.place(state, Space::Generic, address) {
                state.tensor_map_access(self.who(block, 1 << l), line, at);
            }
        });
    }

    /// Lanes that exit; phases of barriers may end with them.
    #[cold]
    pub(super) fn check_exit(&self, cx: &Context<'_, '_>, gone: u32) {
        let cluster = cx.cluster.barrier.generation;
        let named = cx.cluster.blocks[cx.block].barriers.iter().map(|b| b.generation());
        cx.check(|state, block| {
            state.exit(self.who(block, gone));
            named
                .enumerate()
                .for_each(|(id, generation)| state.settle_named(block, id, generation));
            state.settle_cluster(block, cluster);
        });
    }

    /// Groups of copies that lanes commit or wait for.
    #[cold]
    pub(super) fn check_groups(&self, cx: &Context<'_, '_>, transfer: &Transfer, active: u32) {
        cx.check(|state, block| {
            let who = self.who(block, active);
            match transfer {
                Transfer::Commit => state.commit(who, false),
                Transfer::BulkCommit => state.commit(who, true),
                Transfer::Wait(keep) => state.wait_copies(who, false, false, Some(*keep)),
                Transfer::WaitAll => state.wait_copies(who, false, false, None),
                Transfer::BulkWait { keep, sources } => state.wait_copies(who, true, *sources, Some(*keep)),
                _ => {}
            }
        });
    }

    /// What one lane is about to do at an mbarrier, or to a tensor map in memory.
    #[cold]
    pub(super) fn check_transfer(&self, cx: &Context<'_, '_>, transfer: &Transfer, l: usize) {
        let line = self.current_line(cx);
        let at = |address: &Address| self.address(cx, address, l);
        match transfer {
            Transfer::Mbarrier {
                op,
                ordered,
                space,
                address,
            } => {
                let Some(key) = cx.object(resolve(*space, at(address)).1) else {
                    return;
                };
                cx.check(|state, block| {
                    let who = self.who(block, 1 << l);
                    let init = matches!(op, MbarrierOp::Init(_) | MbarrierOp::Invalidate);
                    state.object_access(who, line, (Memory::Shared(key.0), key.1), init);
                    match op {
                        MbarrierOp::Init(_) => state.init_object(key),
                        MbarrierOp::Arrive { .. } => state.arrive_object(who, key, *ordered),
                        _ => {}
                    }
                });
            }
            Transfer::ArriveAfterCopies { space, address, .. } => {
                let Some(key) = cx.object(resolve(*space, at(address)).1) else {
                    return;
                };
                cx.check(|state, block| {
                    let who = self.who(block, 1 << l);
                    state.object_access(who, line, (Memory::Shared(key.0), key.1), false);
                    state.arrive_copies(who, key);
                });
            }
            Transfer::Replace { space, address, .. } => {
                self.check_lane(cx, l, (*space, at(address)), 128, false);
                self.check_lane(cx, l, (*space, at(address)), 128, true);
            }
            // All lanes copy the same, as one.
            Transfer::CopyMap { dst, src } if self.lane_is_first(l) => {
                let source = resolve(Space::Generic, at(src)).1;
                self.check_lane(cx, l, (Space::Shared, source), 128, false);
                self.check_lane(cx, l, (Space::Global, at(dst)), 128, true);
            }
            _ => {}
        }
    }

    fn lane_is_first(&self, l: usize) -> bool {
        self.mask.trailing_zeros() as usize == l
    }

    /// What became of an mbarrier after one lane was there.
    #[cold]
    pub(super) fn check_arrived(&self, cx: &Context<'_, '_>, transfer: &Transfer, l: usize) {
        if let Transfer::Mbarrier { space, address, .. } | Transfer::ArriveAfterCopies { space, address, .. } = transfer
        {
            let address = resolve(*space, self.address(cx, address, l)).1;
            cx.cluster.check_object(cx.grid, cx.block, address);
        }
    }

    /// A wait at an mbarrier that one lane is through.
    #[cold]
    pub(super) fn check_waited(&self, cx: &Context<'_, '_>, l: usize, address: u64, acquires: bool) {
        let line = self.current_line(cx);
        let Some(key) = cx.object(address) else { return };
        cx.check(|state, block| {
            let who = self.who(block, 1 << l);
            state.object_access(who, line, (Memory::Shared(key.0), key.1), false);
            state.leave_object(who, key, acquires);
        });
    }

    /// What a product of this warp's warpgroup reads of shared memory.
    #[cold]
    pub(super) fn check_product(&self, cx: &Context<'_, '_>, group: usize, number: u64, pieces: &[(u64, usize)]) {
        let line = self.line(cx.grid.program, 0);
        cx.check(|state, block| {
            let pieces = pieces.iter().filter_map(|(address, bytes)| {
                Some(Piece {
                    finish: Finish::Small,
                    writes: false,
                    at: cx.place(state, Space::Shared, *address)?,
                    bytes: *bytes as u64,
                })
            });
            let pieces: Vec<(At, u64)> = merge(pieces.collect()).iter().map(|p| (p.at, p.bytes)).collect();
            state.product(block, group as u32, line, number as u32 + 1, &pieces);
        });
    }

    /// A call: the frame's local memory is nobody's yet, but for the arguments.
    #[cold]
    pub(super) fn check_call(&self, cx: &Context<'_, '_>, code: &Code, together: u32, base: u32) {
        cx.check(|state, block| {
            let who = self.who(block, together);
            state.local_fresh(who, base.into(), code.local_bytes.into());
            for formal in &code.params {
                if let Formal::Memory(offset, bytes) = formal {
                    state.local_written(who, u64::from(base + offset), (*bytes).into());
                }
            }
        });
    }

    /// A return with results in the caller's local memory.
    #[cold]
    pub(super) fn check_return(&self, cx: &Context<'_, '_>, call: &Call, active: u32, base: u32) {
        cx.check(|state, block| {
            for result in &call.results {
                if let Argument::Memory(offset, bytes) = result {
                    state.local_written(self.who(block, active), u64::from(base + offset), (*bytes).into());
                }
            }
        });
    }

    /// The registers of an instruction that is about to be executed.
    #[cold]
    pub(super) fn check_registers(&mut self, cx: &Context<'_, '_>, inst: &Inst) {
        let Some(watch) = &mut self.watch else { return };
        let frame = self.current;
        let mut wrong: Option<(Touch, bool)> = None;
        match &inst.op {
            Op::Fence(Fence::Registers) => watch.fence(),
            Op::Collective(c) if matches!(c.kind, collective::Kind::Wgmma(_)) => {}
            Op::Copy32(to, from) => {
                let touch = if from.is_pool() {
                    watch.constant(frame, *to, inst.line)
                } else {
                    watch.copy(frame, *to, *from, inst.line)
                };
                wrong = touch.map(|touch| (touch, true));
            }
            _ => visit(inst, &mut |slot, writes| {
                let touch = watch.touch(frame, slot, writes, inst.line);
                wrong = wrong.or(touch.map(|touch| (touch, writes)));
            }),
        }
        if let Some((touch, writes)) = wrong {
            self.report_touch(cx, inst.line, touch, if writes { "writes" } else { "reads" });
        }
    }

    /// The registers of a product that this warp brings.
    pub(super) fn check_issue(&mut self, cx: &Context<'_, '_>, product: &WarpgroupProduct) {
        let line = self.line(cx.grid.program, 0);
        let (frame, group) = (self.frame_of[0], self.wgmma_groups);
        let Some(watch) = &mut self.watch else { return };
        let factors = if product.a_shared { &[] } else { &product.a[..] };
        let wrong = watch.issue(
            frame,
            (line, group, product.d.len() as u32),
            product.d.iter().map(|v| v.slot),
            factors.iter().map(|v| v.slot),
        );
        if let Some(touch) = wrong {
            self.report_touch(cx, line, touch, "takes");
        }
    }

    fn report_touch(&self, cx: &Context<'_, '_>, line: u32, touch: Touch, verb: &str) {
        let Some(checks) = &cx.grid.checks else { return };
        let other = match touch {
            Touch::Sums(line) | Touch::Factor(line) | Touch::Unfenced(line) => line,
        };
        if checks.again(Kind::InFlightRegister, &[line, other]) {
            return;
        }
        let place = |line: u32, what: String| Place {
            what,
            ptx_line: line,
            source: None,
            block: Some(cx.cluster.blocks[cx.block].index),
            thread: self.identity.as_ref().map(|i| i.tid[0]),
        };
        let wait = format!("put wgmma.commit_group and wgmma.wait_group 0 {}", between(other, line));
        let (message, remedy, there) = match touch {
            Touch::Sums(_) => (
                format!("line {line} {verb} a register that the wgmma at line {other} still accumulates into"),
                wait,
                "accumulates into the register",
            ),
            Touch::Factor(_) => (
                format!("line {line} {verb} a register that the wgmma at line {other} still reads as a part of A"),
                wait,
                "reads the register",
            ),
            Touch::Unfenced(_) => (
                format!(
                    "the wgmma at line {line} takes a register that line {other} wrote, with no wgmma.fence between"
                ),
                format!("put wgmma.fence.sync.aligned {}", between(other, line)),
                "writes the register",
            ),
        };
        let places = vec![
            place(line, format!("{verb} the register")),
            place(other, there.to_owned()),
        ];
        let finding = Finding::new(Kind::InFlightRegister, message, remedy, places);
        // Assemblers rename what is written only after the product was issued.
        checks.report(match touch {
            Touch::Factor(_) => finding.with_gravity(Gravity::Warning),
            _ => finding,
        });
    }

    /// A fence.
    pub(super) fn check_fence(&self, cx: &Context<'_, '_>, fence: Fence, active: u32) {
        cx.check(|state, block| {
            let who = self.who(block, active);
            match fence {
                Fence::Memory(Strength {
                    acquires,
                    releases,
                    scope,
                }) => state.fence(who, acquires, releases, scope),
                Fence::AsyncProxy { shared, global } => {
                    let orders = [(shared, Order::AsyncShared), (global, Order::AsyncGlobal)];
                    let orders: Vec<Order> = orders.into_iter().filter(|o| o.0).map(|o| o.1).collect();
                    state.fence_proxy(who, &orders);
                }
                // A release is a part of the copy that brings the map.
                Fence::TensorMap(map) => {
                    for l in lanes(if map.is_some() { active } else { 0 }) {
                        let at = map.and_then(|map| cx.place(state, Space::Generic, self.address(cx, &map, l)));
                        if let Some(at) = at {
                            state.fence_map(self.who(block, 1 << l), at);
                        }
                    }
                }
                Fence::MbarrierInit => state.fence_proxy(who, &[Order::MbarrierInit]),
                Fence::Registers => {}
            }
        });
    }

    /// A copy that a lane issues.
    #[cold]
    pub(super) fn check_copy(&self, cx: &Context<'_, '_>, completion: Completion, copy: &Copy, l: usize) {
        let line = self.current_line(cx);
        cx.check(|state, block| {
            let who = self.who(block, 1 << l);
            let footprint = Footprint::of(cx, state, completion, copy);
            if let Some(excess) = footprint.excess {
                state.row_end(who, line, excess);
            }
            state.copy_signals(who, line, footprint.actor, &footprint.signals);
            state.copy(who, line, footprint.actor, footprint.reduces, &merge(footprint.pieces));
        });
    }
}
