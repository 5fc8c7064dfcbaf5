//! The comparison of an access with those before it.
use super::agents::Threads;
use super::clock::{Knowledge, Order, Track};
use super::shadow::{Cell, Content, Mark, Shadow};
use super::site::{Actor, Site, Sites};
use super::state::Setup;
use crate::ranges::Ranges;
use std::collections::{BTreeMap, BTreeSet};

/// A memory that addresses are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Memory {
    /// An allocation, by number.
    Global(u32),
    /// The shared memory of a block.
    Shared(u32),
    /// A thread's own.
    Local,
}

/// An address in a memory: the offset in the allocation, or the address in the block.
pub type At = (Memory, u64);

/// Somebody for whom an access has to be in order.
pub(super) struct Viewer<'a> {
    /// The track of its threads,
    pub track: Track,
    /// and their lanes, to whom their own doings are known.
    pub own: u32,
    /// What it knows of all others.
    pub know: &'a Knowledge,
    /// Where it is a thread: its warp, which says what copies of its own it knows to be over.
    pub threads: Option<&'a Threads>,
}

/// How a pair of accesses stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trouble {
    /// Nothing orders them.
    Unordered,
    /// They are ordered, but no fence stands between their proxies.
    Unfenced,
    /// Nothing wrote what is read.
    Fresh,
}

/// Something to report: the access that shows it, and the one before, if any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conflict {
    pub trouble: Trouble,
    pub new: Mark,
    pub old: Option<Mark>,
    pub at: At,
    pub bytes: u64,
    /// Whether both wrote the same.
    pub same_value: bool,
}

/// A global allocation.
#[derive(Debug)]
struct Region {
    base: u64,
    bytes: u64,
    shadow: Shadow,
}

/// Accesses that the shared memory of a block has to outlive: the block, and a mark without its time.
pub(super) type Hold = (u32, Track, u32, u32);

/// What is remembered of all memory.
#[derive(Debug, Default)]
pub struct Memories {
    /// Writable allocations by address.
    regions: Vec<Region>,
    shared: BTreeMap<u32, Shadow>,
    pub(super) sites: Sites,
    pub(super) conflicts: Vec<Conflict>,
    /// Latest time of each.
    pub(super) holds: BTreeMap<Hold, u32>,
    /// Blocks in which a thread has left the barrier of the cluster: all of its blocks run.
    pub(super) met: BTreeSet<u32>,
    /// Accesses to the shared memory of blocks that may not run yet, with the time of the first.
    pub(super) early: BTreeMap<Hold, u32>,
}

impl Memories {
    /// The writable allocations in order of address: base, bytes, and what was written before the launch.
    pub fn new(allocations: impl Iterator<Item = (u64, u64, Ranges)>) -> Self {
        let regions = allocations.map(|(base, bytes, old)| Region {
            base,
            bytes,
            shadow: Shadow::new(bytes, old),
        });
        Memories {
            regions: regions.collect(),
            ..Memories::default()
        }
    }

    /// What has been written of each allocation: base and ranges.
    pub fn written(&self) -> impl Iterator<Item = (u64, Ranges)> {
        self.regions.iter().map(|region| (region.base, region.shadow.written()))
    }

    pub(super) fn insert(&mut self, memory: Memory, shadow: Shadow) {
        if let Memory::Shared(block) = memory {
            self.shared.insert(block, shadow);
        }
    }

    pub(super) fn forget_block(&mut self, block: u32) {
        self.shared.remove(&block);
        self.holds.retain(|(held, ..), _| *held != block);
        self.early.retain(|(held, ..), _| *held != block);
        self.met.remove(&block);
    }

    /// The allocation that a global address is in; nothing for memory that is only read.
    pub fn global(&self, address: u64) -> Option<At> {
        let above = self.regions.partition_point(|region| region.base <= address);
        let index = above.checked_sub(1)?;
        let offset = address - self.regions[index].base;
        (offset < self.regions[index].bytes).then_some((Memory::Global(index as u32), offset))
    }

    /// Base address and bytes of an allocation.
    pub(super) fn allocation(&self, number: u32) -> (u64, u64) {
        let region = &self.regions[number as usize];
        (region.base, region.bytes)
    }

    /// Compares an access with those before it, and remembers it. `same` says whether what the new one writes at an
    /// offset is what the old one left there.
    pub(super) fn touch(
        &mut self,
        setup: &Setup,
        (memory, start): At,
        bytes: u64,
        mark: Mark,
        viewers: &[Viewer<'_>],
        same: &dyn Fn(u64, u64, &Mark) -> bool,
    ) {
        let shadow = match memory {
            Memory::Global(number) => self.regions.get_mut(number as usize).map(|region| &mut region.shadow),
            Memory::Shared(block) => self.shared.get_mut(&block),
            Memory::Local => None,
        };
        let Some(shadow) = shadow else { return };
        let site = self.sites.get(mark.site);
        let judge = Judge {
            setup,
            sites: &self.sites,
            site,
            mark,
            memory,
            viewers,
        };
        let conflicts = &mut self.conflicts;
        shadow.visit(start, bytes, |cell, at, size| {
            let mut report = |trouble, old: Option<Mark>, same_value| {
                conflicts.push(Conflict {
                    trouble,
                    new: mark,
                    old,
                    at: (memory, at),
                    bytes: size,
                    same_value,
                });
            };
            match &cell.content {
                Content::Written(old) => {
                    if let Some(trouble) = judge.compare(old) {
                        let plain = !site.reads && !judge.sites.get(old.site).reads;
                        let same = trouble == Trouble::Unordered && site.writes && plain && same(at, size, old);
                        // Threads that hold copies of one value may all store it.
                        if !same || judge.sites.get(old.site).line != site.line {
                            report(trouble, Some(*old), same);
                        }
                    }
                }
                Content::Fresh if site.reads => {
                    report(Trouble::Fresh, None, false);
                    cell.content = Content::Old;
                }
                Content::Fresh | Content::Old => {}
            }
            for old in &cell.rest {
                if let Some(trouble) = judge.compare(old) {
                    report(trouble, Some(*old), false);
                }
            }
            remember(cell, &site, mark);
        });
        if let Memory::Shared(block) = memory
            && (block != mark.track.block || matches!(site.actor, Actor::Bulk | Actor::Tensor))
        {
            let hold = (block, mark.track, mark.lanes, mark.site);
            let time = self.holds.entry(hold).or_default();
            *time = mark.time.max(*time);
            let started = |viewer: &Viewer<'_>| viewer.know.get(Order::Seen).knows_of(block);
            if block != mark.track.block && !self.met.contains(&mark.track.block) && !viewers.iter().any(started) {
                self.early.entry(hold).or_insert(mark.time);
            }
        }
    }
}

/// A new access, to be held against earlier ones.
struct Judge<'a> {
    setup: &'a Setup,
    sites: &'a Sites,
    site: Site,
    mark: Mark,
    memory: Memory,
    viewers: &'a [Viewer<'a>],
}

impl Judge<'_> {
    fn compare(&self, old: &Mark) -> Option<Trouble> {
        if self.site.actor == Actor::Thread && (old.track, old.lanes) == (self.mark.track, self.mark.lanes) {
            // A thread is in order with itself.
            return None;
        }
        let before = self.sites.get(old.site);
        if !before.writes && !self.site.writes || self.morally_strong(&before, old) {
            return None;
        }
        let init = before.is_mbarrier() && self.site.is_mbarrier();
        for viewer in self.viewers {
            let lanes = if viewer.track == old.track {
                old.lanes & !viewer.own
            } else {
                old.lanes
            };
            let reached = |order| viewer.know.get(order).reached(old.track, lanes, old.time);
            let waited = || {
                viewer
                    .threads
                    .is_some_and(|t| old.lanes == viewer.own && t.copies_over(old.track, old.lanes, old.time))
            };
            if !(reached(Order::Seen) || waited() || init && reached(Order::MbarrierInit)) {
                return Some(Trouble::Unordered);
            }
        }
        let order = match (self.site.actor, self.memory) {
            _ if !before.writes || before.is_async_proxy() => return None,
            // The initialisation has a fence of its own, besides that between the proxies; later operations are strong. For
            // copies of the block itself NVIDIA's compilers rely on a barrier alone.
            (Actor::Signal, _) if before.strong.is_some() => return None,
            (Actor::Signal, Memory::Shared(owner)) if self.viewers.iter().all(|v| v.track.block == owner) => {
                return None;
            }
            (Actor::Signal, _) => Order::MbarrierInit,
            (Actor::Product, _) if before.actor == Actor::Copy => return None,
            (Actor::TensorMap, _) => Order::TensorMap,
            _ if !self.site.is_async_proxy() => return None,
            (_, Memory::Shared(_)) => Order::AsyncShared,
            _ => Order::AsyncGlobal,
        };
        let passed = |viewer: &Viewer<'_>, order| viewer.know.get(order).reached(old.track, old.lanes, old.time);
        let fenced = |viewer: &Viewer<'_>| {
            passed(viewer, order) || order == Order::MbarrierInit && passed(viewer, Order::AsyncShared)
        };
        (!self.viewers.iter().all(fenced)).then_some(Trouble::Unfenced)
    }

    /// Whether both are strong operations towards each other, and so may happen in any order.
    fn morally_strong(&self, before: &Site, old: &Mark) -> bool {
        let (Some(a), Some(b)) = (before.strong, self.site.strong) else {
            return false;
        };
        let (from, to) = (old.track.block, self.mark.track.block);
        self.setup.reaches(a, from, to) && self.setup.reaches(b, from, to)
    }
}

fn remember(cell: &mut Cell, site: &Site, mark: Mark) {
    if !site.writes {
        cell.add(mark);
    } else if site.strong.is_some() {
        if cell.content == Content::Fresh {
            cell.content = Content::Old;
        }
        cell.add(mark);
    } else {
        cell.content = Content::Written(mark);
        cell.rest.clear();
    }
}
