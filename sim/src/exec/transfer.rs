//! Transfers: copies as they are issued and awaited, mbarriers, tensor maps, addresses in a cluster, textures.
use super::Context;
use super::asynchronous::{Completion, Pending};
use super::mbarrier::change;
use super::memory::{Generic, resolve};
use super::shared::ClusterShared;
use super::warp::{Flow, Warp, lanes};
use crate::check::progress::Told;
use crate::isa::{Address, Program, RANK_SHIFT, SHARED_WINDOW, Space, Value};
use crate::mbarrier::Token;
use crate::memory::{Bytes, Fault, FaultKind, aligned};
use crate::tma;
use crate::transfer::{MbarrierOp, Transfer};

pub(super) fn illegal(message: impl Into<String>) -> Fault {
    Fault::new(FaultKind::IllegalInstruction, message)
}

impl Warp {
    /// Executes a transfer in each active lane.
    pub(super) fn transfer(
        &mut self,
        cx: &mut Context<'_, '_>,
        transfer: &Transfer,
        active: u32,
    ) -> Result<Flow, Fault> {
        if let Transfer::Mbarrier {
            op:
                MbarrierOp::Wait {
                    p,
                    token,
                    parity,
                    suspends,
                },
            ordered,
            space,
            address,
        } = transfer
        {
            let how = (*p, *token, *parity, *suspends, *ordered);
            return self.wait(cx, how, (*space, address), active);
        }
        cx.cluster.effects += 1;
        let checked = cx.grid.checks.is_some();
        if checked {
            self.check_groups(cx, transfer, active);
        }
        for l in lanes(active) {
            self.lane = l;
            self.pc[l] = self.at;
            if let Some((completion, copy)) = self.copy(cx, transfer, l)? {
                let group = if completion == Completion::Group {
                    self.groups[l].0
                } else {
                    self.groups[l].1
                };
                if checked {
                    self.check_copy(cx, completion, &copy, l);
                }
                let owner = (cx.block, self.number(), l);
                self.observe_copy(cx, &copy, l);
                let (line, round) = (self.line(cx.grid.program, l), cx.cluster.round);
                cx.cluster.pending.push(Pending {
                    owner,
                    line,
                    completion,
                    group,
                    round,
                    issued: cx.cluster.effects,
                    copy,
                    held: None,
                });
            } else if !self.group(cx, transfer, l)? {
                if checked {
                    self.check_transfer(cx, transfer, l);
                }
                self.transfer_lane(cx, transfer, l)?;
                if checked {
                    self.check_arrived(cx, transfer, l);
                }
            }
        }
        Ok(Flow::Next)
    }

    /// Commits and awaits groups of copies. False for other instructions.
    fn group(&mut self, cx: &mut Context<'_, '_>, transfer: &Transfer, l: usize) -> Result<bool, Fault> {
        let (completion, keep) = match transfer {
            Transfer::Commit => {
                self.groups[l].0 += 1;
                return Ok(true);
            }
            Transfer::BulkCommit => {
                self.groups[l].1 += 1;
                return Ok(true);
            }
            Transfer::Wait(n) => (Completion::Group, u64::from(*n)),
            // Copies that no commit closed are awaited too.
            Transfer::WaitAll | Transfer::ArriveAfterCopies { .. } => (Completion::Group, 0),
            Transfer::BulkWait { keep, .. } => (Completion::BulkGroup, u64::from(*keep)),
            _ => return Ok(false),
        };
        let committed = if completion == Completion::Group {
            self.groups[l].0
        } else {
            self.groups[l].1
        };
        let open = matches!(transfer, Transfer::WaitAll | Transfer::ArriveAfterCopies { .. });
        let end = if open { u64::MAX } else { committed.saturating_sub(keep) };
        let owner = (cx.block, self.number(), l);
        let chosen = |p: &Pending| p.owner == owner && p.completion == completion && p.group < end;
        let result = match transfer {
            Transfer::BulkWait { sources: true, .. } => cx.cluster.release(chosen),
            _ => cx.cluster.settle(cx.grid, chosen).map_err(|late| (late.0, late.1.line)),
        };
        if let Err((fault, line)) = result {
            self.late_line = Some(line);
            return Err(fault);
        }
        Ok(!matches!(transfer, Transfer::ArriveAfterCopies { .. }))
    }

    fn transfer_lane(&mut self, cx: &mut Context<'_, '_>, transfer: &Transfer, l: usize) -> Result<(), Fault> {
        let program: &Program = cx.grid.program;
        let global = cx.grid.memory;
        let shared = ClusterShared {
            blocks: &cx.cluster.blocks,
            own: cx.block,
        };
        let value = |v: Value| self.read(program, l, v);
        let at = |a: &Address| self.address(cx, a, l);
        match transfer {
            Transfer::ArriveAfterCopies {
                address,
                space,
                increment,
            } => {
                let (_, addr) = resolve(*space, at(address));
                // Without `.noinc` the pending count first rises by one: together they change nothing.
                if !increment {
                    let told = Told {
                        arrivals: 1,
                        ..Told::default()
                    };
                    shared.blocks[shared.own].mbarriers.acting.set(self.acting(cx, l));
                    change(&shared, addr, told, |b| b.arrive(1).map(|(b, _)| (b, ())))?;
                }
            }
            Transfer::Mbarrier { op, space, address, .. } => self.mbarrier(cx, op, (*space, address), l)?,
            Transfer::PendingCount(d, token) => {
                let count = Token::from_bits(value(*token)).pending_count();
                self.write(l, *d, count.into());
            }
            Transfer::Replace {
                space,
                address,
                field,
                ordinal,
                value: new,
            } => {
                let addr = at(address);
                let new = value(*new);
                aligned(resolve(*space, addr).1, 128)?;
                let memory = Generic {
                    global,
                    shared: &shared,
                    space: *space,
                };
                let mut bytes = [0; tma::DESCRIPTOR_BYTES];
                memory.read(addr, &mut bytes)?;
                tma::replace(&mut bytes, *field, *ordinal as usize, new)?;
                memory.write(addr, &bytes)?;
            }
            Transfer::CopyMap { dst, src } => {
                let (dst, (_, src)) = (at(dst), resolve(Space::Generic, at(src)));
                let mut bytes = [0; tma::DESCRIPTOR_BYTES];
                shared.read(src, &mut bytes)?;
                global.write(dst, &bytes)?;
            }
            Transfer::Map { d, a, rank, generic } => {
                let (addr, rank) = (value(*a), value(*rank));
                if rank as usize >= cx.cluster.blocks.len() {
                    return Err(illegal(format!(
                        "mapa to block {rank} of a cluster of {}",
                        cx.cluster.blocks.len()
                    )));
                }
                let window = if *generic { SHARED_WINDOW } else { 0 };
                let mapped = in_block(addr.wrapping_sub(window), rank) + window;
                self.write(l, *d, mapped);
            }
            Transfer::Rank { d, a, generic } => {
                let addr = value(*a).wrapping_sub(if *generic { SHARED_WINDOW } else { 0 });
                let rank = addr >> RANK_SHIFT;
                let rank = if rank == 0 {
                    u64::from(cx.cluster.blocks[cx.block].rank)
                } else {
                    rank - 1
                };
                self.write(l, *d, rank);
            }
            Transfer::Texture {
                d,
                texture,
                coords,
                float_coords,
            } => {
                let coords: Vec<f64> = coords
                    .iter()
                    .map(|c| {
                        let bits = value(*c) as u32;
                        if *float_coords {
                            f64::from(f32::from_bits(bits))
                        } else {
                            f64::from(bits as i32)
                        }
                    })
                    .collect();
                let texel = cx.grid.objects.fetch(value(*texture), &coords, global)?;
                for (d, x) in d.iter().zip(texel) {
                    self.write(l, *d, x.into());
                }
            }
            Transfer::Surface {
                values,
                surface,
                coords,
                bytes,
                store,
            } => {
                let coords: Vec<i32> = coords.iter().map(|c| value(*c) as i32).collect();
                let n = usize::from(*bytes);
                let addr = cx
                    .grid
                    .objects
                    .surface_address(value(*surface), &coords, n * values.len())?;
                for (i, v) in values.iter().enumerate() {
                    let at = addr + (i * n) as u64;
                    if cx.grid.checks.is_some() && *store {
                        self.check_lane(cx, l, (Space::Global, at), n as u64, true);
                    }
                    if *store {
                        global.write(at, &self.read(program, l, *v).to_le_bytes()[..n])?;
                    } else {
                        let mut word = [0; 8];
                        global.read(at, &mut word[..n])?;
                        self.write(l, *v, u64::from_le_bytes(word));
                    }
                }
            }
            // Copies and groups were handled before.
            _ => {}
        }
        Ok(())
    }
}

/// The same offset in another block of the cluster.
pub(super) fn in_block(addr: u64, rank: u64) -> u64 {
    addr & ((1 << RANK_SHIFT) - 1) | (rank + 1) << RANK_SHIFT
}
