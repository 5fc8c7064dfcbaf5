//! Accesses as the instructions make them: by threads, by copies, by matrix products.
use super::agents::Agent;
use super::clock::{Clock, Order};
use super::race::{At, Viewer};
use super::shadow::Mark;
use super::site::{Actor, Site};
use super::state::{State, Who};
use crate::exec::lanes;
use crate::isa::{LANES, Scope, Strength};

/// One instruction's accesses to memory, of the lanes of `who`.
pub struct Step<'a> {
    /// The threads.
    pub who: Who,
    /// Line of the PTX text.
    pub line: u32,
    /// Where each lane accesses memory; nothing where it is not followed.
    pub at: &'a [Option<At>; LANES],
    /// Bytes of each lane.
    pub bytes: u64,
    /// Whether it reads what is used.
    pub reads: bool,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it is one with the write that it follows, as atomic operations are.
    pub updates: bool,
    /// The memory order of a strong operation.
    pub strength: Option<Strength>,
    /// Whether a lane writes what is there already, or with `Some` what that other lane of the instruction writes: the lane,
    /// the other lane, and the offset and number of the bytes.
    pub same: &'a dyn Fn(usize, Option<usize>, u64, u64) -> bool,
}

/// How a copy becomes known to be over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finish {
    /// With the phase of an mbarrier: block and address.
    Object((u32, u64)),
    /// With a group of `cp.async`.
    Small,
    /// With a bulk group.
    Bulk,
    /// With the sources of a bulk group.
    BulkSource,
}

/// Bytes that a copy or a product touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Piece {
    /// When it is over.
    pub finish: Finish,
    /// Whether it is written; else read.
    pub writes: bool,
    /// First byte.
    pub at: At,
    /// Number of bytes.
    pub bytes: u64,
}

/// Joins pieces that lie side by side.
pub fn merge(mut pieces: Vec<Piece>) -> Vec<Piece> {
    pieces.sort_unstable();
    let mut merged: Vec<Piece> = Vec::new();
    for piece in pieces {
        if let Some(last) = merged.last_mut()
            && (last.finish, last.writes, last.at.0) == (piece.finish, piece.writes, piece.at.0)
            && piece.at.1 <= last.at.1 + last.bytes
        {
            last.bytes = last.bytes.max(piece.at.1 + piece.bytes - last.at.1);
        } else {
            merged.push(piece);
        }
    }
    merged
}

impl State {
    /// Loads, stores and atomic operations of a warp.
    pub fn step(&mut self, step: &Step<'_>) {
        let Who {
            block,
            warp,
            lanes: active,
        } = step.who;
        let site = self.memories.sites.number(Site {
            line: step.line,
            actor: Actor::Thread,
            reads: step.reads,
            writes: step.writes,
            strong: step.strength.map(|s| s.scope),
        });
        let Some(threads) = self.blocks.get(&block).and_then(|b| b.warps.get(warp as usize)) else {
            return;
        };
        for lane in lanes(active) {
            let Some(at) = step.at[lane] else { continue };
            let mark = Mark {
                track: threads.track,
                lanes: 1 << lane,
                time: threads.time,
                site,
            };
            let viewer = Viewer {
                track: threads.track,
                own: 1 << lane,
                know: threads.know(lane),
                threads: Some(threads),
            };
            let same = |at: u64, bytes: u64, old: &Mark| {
                let together = (old.track, old.time, old.site) == (mark.track, mark.time, mark.site);
                let other = old.lanes.trailing_zeros() as usize;
                (step.same)(lane, together.then_some(other), at, bytes)
            };
            self.memories.touch(&self.setup, at, step.bytes, mark, &[viewer], &same);
        }
        if let Some(strength) = step.strength {
            for lane in lanes(active) {
                if let Some(at) = step.at[lane] {
                    let who = Who {
                        lanes: 1 << lane,
                        ..step.who
                    };
                    self.strong_access(who, at, strength, step.reads || step.updates, step.writes);
                }
            }
        }
    }

    /// What the threads of a warp access as one, each of them perhaps any of the bytes.
    pub fn warp_access(&mut self, who: Who, line: u32, at: At, bytes: u64, writes: bool) {
        let site = Site {
            line,
            actor: Actor::Thread,
            reads: !writes,
            writes,
            strong: None,
        };
        self.touch_as_one(who, site, at, bytes, None);
    }

    /// An operation of one thread at an mbarrier; `init` for those that make or end it.
    pub fn object_access(&mut self, who: Who, line: u32, at: At, init: bool) {
        let site = Site {
            line,
            actor: Actor::Mbarrier,
            reads: false,
            writes: true,
            strong: (!init).then_some(Scope::Sys),
        };
        self.touch_as_one(who, site, at, 8, None);
    }

    /// The copy engine reads the 128 bytes of a tensor map for a thread.
    pub fn tensor_map_access(&mut self, who: Who, line: u32, at: At) {
        let site = Site {
            line,
            actor: Actor::TensorMap,
            reads: true,
            writes: false,
            strong: None,
        };
        let fenced = self.map_fences.get(&(who.block, at)).cloned();
        self.touch_as_one(who, site, at, 128, fenced);
    }

    /// An access that the lanes of `who` share, with what passed a fence for its tensor map.
    fn touch_as_one(&mut self, who: Who, site: Site, at: At, bytes: u64, fenced: Option<Clock>) {
        let site = self.memories.sites.number(site);
        let Some(threads) = self.blocks.get(&who.block).and_then(|b| b.warps.get(who.warp as usize)) else {
            return;
        };
        let mut know = threads.present(who.lanes);
        if let Some(fenced) = fenced {
            know.get_mut(Order::TensorMap).join(&fenced);
        }
        let mark = Mark {
            track: threads.track,
            lanes: who.lanes,
            time: threads.time,
            site,
        };
        let viewer = Viewer {
            track: threads.track,
            own: who.lanes,
            know: &know,
            threads: None,
        };
        self.memories
            .touch(&self.setup, at, bytes, mark, &[viewer], &|_, _, _| false);
    }

    /// A copy that one thread issues. `strong` for reductions, which are atomic towards the device.
    pub fn copy(&mut self, who: Who, line: u32, actor: Actor, strong: bool, pieces: &[Piece]) {
        let numbering = self.setup.numbering();
        let lane = who.lanes.trailing_zeros() as usize;
        let Some(threads) = self.blocks.get(&who.block).and_then(|b| b.warps.get(who.warp as usize)) else {
            return;
        };
        let know = threads.present(who.lanes);
        for piece in pieces {
            let site = self.memories.sites.number(Site {
                line,
                actor,
                reads: !piece.writes || strong,
                writes: piece.writes,
                strong: (piece.writes && strong).then_some(Scope::Gpu),
            });
            let (agent, lanes, time) = match piece.finish {
                Finish::Small => (Agent::Small(who.warp), who.lanes, threads.open_group(false, lane)),
                Finish::Bulk => (Agent::Bulk(who.warp), who.lanes, threads.open_group(true, lane)),
                Finish::BulkSource => (Agent::BulkSource(who.warp), who.lanes, threads.open_group(true, lane)),
                Finish::Object((block, address)) => {
                    match self.blocks.get(&block).and_then(|b| b.objects.get(&address)) {
                        Some(object) => (Agent::Barrier(object.number), 1, object.phases + 1),
                        None => continue,
                    }
                }
            };
            let block = match piece.finish {
                Finish::Object((block, _)) => block,
                _ => who.block,
            };
            let mark = Mark {
                track: numbering.track(block, agent),
                lanes,
                time,
                site,
            };
            let viewer = Viewer {
                track: threads.track,
                own: who.lanes,
                know: &know,
                threads: None,
            };
            self.memories
                .touch(&self.setup, piece.at, piece.bytes, mark, &[viewer], &|_, _, _| false);
        }
    }

    /// The signal of a copy at the mbarriers where it completes.
    pub fn copy_signals(&mut self, who: Who, line: u32, copier: Actor, objects: &[(u32, u64)]) {
        let numbering = self.setup.numbering();
        let site = self.memories.sites.number(Site {
            line,
            actor: if copier == Actor::Copy {
                Actor::Mbarrier
            } else {
                Actor::Signal
            },
            reads: false,
            writes: true,
            strong: Some(Scope::Sys),
        });
        let Some(threads) = self.blocks.get(&who.block).and_then(|b| b.warps.get(who.warp as usize)) else {
            return;
        };
        let know = threads.present(who.lanes);
        for (block, address) in objects {
            let Some(object) = self.blocks.get(block).and_then(|b| b.objects.get(address)) else {
                continue;
            };
            let mark = Mark {
                track: numbering.track(*block, Agent::Barrier(object.number)),
                lanes: 1,
                time: object.phases + 1,
                site,
            };
            let viewer = Viewer {
                track: threads.track,
                own: who.lanes,
                know: &know,
                threads: None,
            };
            let at = (super::race::Memory::Shared(*block), *address);
            self.memories
                .touch(&self.setup, at, 8, mark, &[viewer], &|_, _, _| false);
        }
    }

    /// Threads commit a group of copies.
    pub fn commit(&mut self, who: Who, bulk: bool) {
        if let Some(threads) = self.threads_mut(who) {
            threads.commit(bulk, who.lanes);
        }
    }

    /// Threads wait for their copies but the newest `keep` groups; with `None` also for those that no group has yet.
    pub fn wait_copies(&mut self, who: Who, bulk: bool, sources_only: bool, keep: Option<u32>) {
        if let Some(threads) = self.threads_mut(who) {
            if keep.is_none() {
                threads.commit(bulk, who.lanes);
            }
            threads.wait_groups(bulk, sources_only, who.lanes, keep.unwrap_or(0));
        }
    }

    /// A warp comes to the product that its warpgroup executes together.
    pub fn bring_product(&mut self, who: Who) {
        if let Some(block) = self.blocks.get_mut(&who.block) {
            let threads = &block.warps[who.warp as usize];
            let brought = (threads.track, threads.present(u32::MAX));
            block.brought.entry(who.warp / 4).or_default().push(brought);
        }
    }

    /// The product of a warpgroup reads shared memory, until the group of `time` is waited for.
    pub fn product(&mut self, block: u32, group: u32, line: u32, time: u32, pieces: &[(At, u64)]) {
        let site = self.memories.sites.number(Site {
            line,
            actor: Actor::Product,
            reads: true,
            writes: false,
            strong: None,
        });
        let brought = self.blocks.get_mut(&block).and_then(|b| b.brought.remove(&group));
        let brought = brought.unwrap_or_default();
        let viewers: Vec<Viewer<'_>> = brought
            .iter()
            .map(|(track, know)| Viewer {
                track: *track,
                own: u32::MAX,
                know,
                threads: None,
            })
            .collect();
        let mark = Mark {
            track: self.setup.numbering().track(block, Agent::Products(group)),
            lanes: 1,
            time,
            site,
        };
        for (at, bytes) in pieces {
            self.memories
                .touch(&self.setup, *at, *bytes, mark, &viewers, &|_, _, _| false);
        }
    }

    /// A warp waits for the products of its warpgroup whose groups come before `time`.
    pub fn wait_products(&mut self, who: Who, over: u32) {
        let track = self.setup.numbering().track(who.block, Agent::Products(who.warp / 4));
        if let Some(threads) = self.threads_mut(who) {
            threads.finish(who.lanes, track, 1, over);
        }
    }
}
