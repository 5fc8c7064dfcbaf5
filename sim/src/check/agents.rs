//! Whose time the clocks count: threads, and what runs beside them.
//!
//! | track of a block | one lane for each | its time counts |
//! |---|---|---|
//! | threads of a warp | thread | releases of the warp |
//! | `cp.async` of a warp | thread | groups that the thread committed |
//! | bulk copies of a warp | thread | groups that the thread committed |
//! | sources of the same | thread | groups, for `wait_group.read` |
//! | `wgmma` of a warpgroup | warpgroup (lane 0) | groups that its warps committed |
//! | an mbarrier | mbarrier (lane 0) | completed phases: copies that signal it are over with their phase |
//!
//! Threads of a warp that know the same share one [`Class`], so that a warp nearly always costs as much as one thread.
use super::clock::{Clock, Knowledge, Order, Track};
use crate::isa::{LANES, Scope};

/// What a track stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// The threads of a warp.
    Threads(u32),
    /// `cp.async` of a warp.
    Small(u32),
    /// Bulk copies of a warp that complete by groups.
    Bulk(u32),
    /// What those read.
    BulkSource(u32),
    /// `wgmma` of a warpgroup.
    Products(u32),
    /// Copies that complete at an mbarrier, by its number in the block.
    Barrier(u32),
}

/// The numbering of the tracks of a block.
#[derive(Clone, Copy, Debug)]
pub struct Numbering {
    /// Warps of a block.
    pub warps: u32,
}

impl Numbering {
    /// The track of an agent in a block.
    pub fn track(self, block: u32, agent: Agent) -> Track {
        let groups = self.warps.div_ceil(4);
        let index = match agent {
            Agent::Threads(warp) => warp,
            Agent::Small(warp) => self.warps + warp,
            Agent::Bulk(warp) => 2 * self.warps + warp,
            Agent::BulkSource(warp) => 3 * self.warps + warp,
            Agent::Products(group) => 4 * self.warps + group,
            Agent::Barrier(number) => 4 * self.warps + groups + number,
        };
        Track { block, index }
    }

    /// The agent of a track.
    pub fn agent(self, track: Track) -> Agent {
        let groups = self.warps.div_ceil(4);
        let (kind, rest) = (track.index / self.warps, track.index % self.warps);
        match kind {
            0 => Agent::Threads(rest),
            1 => Agent::Small(rest),
            2 => Agent::Bulk(rest),
            3 => Agent::BulkSource(rest),
            _ => {
                let rest = track.index - 4 * self.warps;
                if rest < groups {
                    Agent::Products(rest)
                } else {
                    Agent::Barrier(rest - groups)
                }
            }
        }
    }
}

/// What a fence made ready to be passed on by a relaxed operation after it.
#[derive(Clone, Debug)]
struct Published {
    know: Knowledge,
    /// Time of the fence: what the thread itself did until then is published too.
    time: u32,
    scope: Scope,
}

/// Threads of a warp that know the same of all others. Of themselves they know everything, beside this.
#[derive(Clone, Debug)]
struct Class {
    lanes: u32,
    know: Knowledge,
    published: Option<Published>,
    /// What relaxed reads saw, for a fence of block, cluster or device after them to acquire.
    pending: [Knowledge; SCOPES],
}

/// Scopes that are told apart: block, cluster, device.
pub const SCOPES: usize = 3;

/// Number of a scope; the system is the device.
pub fn number_of(scope: Scope) -> usize {
    match scope {
        Scope::Cta => 0,
        Scope::Cluster => 1,
        _ => 2,
    }
}

impl Class {
    fn same(&self, other: &Class) -> bool {
        let published = match (&self.published, &other.published) {
            (None, None) => true,
            (Some(a), Some(b)) => a.time == b.time && a.scope == b.scope && a.know.same(&b.know),
            _ => false,
        };
        let pending = self.pending.iter().zip(&other.pending);
        published && self.know.same(&other.know) && pending.into_iter().all(|(own, other)| own.same(other))
    }
}

/// The threads of a warp.
#[derive(Debug)]
pub struct Threads {
    /// Their track.
    pub track: Track,
    /// The present; accesses from now on happen at it.
    pub time: u32,
    classes: Vec<Class>,
    /// Their copies: `cp.async`, bulk copies, sources of the latter.
    copies: [Copies; 3],
}

/// Copies of one kind that the threads of a warp issued.
#[derive(Debug)]
struct Copies {
    track: Track,
    /// Time of the open group of each thread; earlier groups are committed.
    open: [u32; LANES],
    /// Up to which time the thread itself knows that they are over.
    over: [u32; LANES],
}

impl Threads {
    /// Threads that know what happened before the launch alone. Lanes that do not exist count as known for all time.
    pub fn new(numbering: Numbering, block: u32, warp: u32, alive: u32) -> Self {
        let track = numbering.track(block, Agent::Threads(warp));
        let copies = [Agent::Small(warp), Agent::Bulk(warp), Agent::BulkSource(warp)].map(|agent| Copies {
            track: numbering.track(block, agent),
            open: [1; LANES],
            over: [0; LANES],
        });
        let mut know = Knowledge::default();
        for order in [Order::Seen, Order::AsyncShared, Order::AsyncGlobal] {
            know.get_mut(order).raise(track, !alive, u32::MAX);
        }
        Threads {
            track,
            time: 1,
            classes: vec![Class {
                lanes: u32::MAX,
                know,
                published: None,
                pending: Default::default(),
            }],
            copies,
        }
    }

    /// What a thread knows of the others.
    pub fn know(&self, lane: usize) -> &Knowledge {
        let class = self.classes.iter().find(|c| c.lanes >> lane & 1 != 0);
        &class.unwrap_or(&self.classes[0]).know
    }

    /// Lets a change happen to some threads alone.
    fn change(&mut self, lanes: u32, mut f: impl FnMut(&mut Class)) {
        let mut parts = Vec::new();
        for class in &mut self.classes {
            if class.lanes & lanes == 0 {
                continue;
            }
            if class.lanes & !lanes != 0 {
                let mut part = class.clone();
                part.lanes &= !lanes;
                parts.push(part);
                class.lanes &= lanes;
            }
            f(class);
        }
        self.classes.append(&mut parts);
        if self.classes.len() > 1 {
            let mut merged: Vec<Class> = Vec::new();
            for class in std::mem::take(&mut self.classes) {
                match merged.iter_mut().find(|m| m.same(&class)) {
                    Some(same) => same.lanes |= class.lanes,
                    None => merged.push(class),
                }
            }
            self.classes = merged;
        }
    }

    /// What some threads pass on: what they know, and what they did themselves. What they do from now on is later.
    pub fn release(&mut self, lanes: u32) -> Knowledge {
        let passed = self.present(lanes);
        self.time += 1;
        passed
    }

    /// What some threads know and did, without an end of their present.
    pub fn present(&self, lanes: u32) -> Knowledge {
        let mut passed = Knowledge::default();
        for class in self.classes.iter().filter(|c| c.lanes & lanes != 0) {
            passed.join(&class.know);
        }
        self.own_doings(passed.get_mut(Order::Seen), lanes, self.time);
        passed
    }

    /// Adds what threads did until a time, and which of their copies they know to be over.
    fn own_doings(&self, clock: &mut Clock, lanes: u32, time: u32) {
        clock.raise(self.track, lanes, time);
        for copies in self.copies.iter().filter(|c| c.over != [0; LANES]) {
            clock.raise_each(copies.track, lanes, &copies.over);
        }
    }

    /// Whether copies of the track are this warp's, and the thread knows them to be over at a time.
    pub fn copies_over(&self, track: Track, lanes: u32, time: u32) -> bool {
        let copies = self.copies.iter().find(|c| c.track == track);
        copies.is_some_and(|c| crate::exec::lanes(lanes).all(|l| c.over[l] >= time))
    }

    /// Time of the open group of a thread, of `cp.async` or of bulk copies.
    pub fn open_group(&self, bulk: bool, lane: usize) -> u32 {
        self.copies[usize::from(bulk)].open[lane]
    }

    /// Closes the open group of threads.
    pub fn commit(&mut self, bulk: bool, lanes: u32) {
        for l in crate::exec::lanes(lanes) {
            self.copies[usize::from(bulk)].open[l] += 1;
        }
    }

    /// Threads wait for all groups but the newest `keep`: for the whole copies, or for their sources alone.
    pub fn wait_groups(&mut self, bulk: bool, sources_only: bool, lanes: u32, keep: u32) {
        let open = self.copies[usize::from(bulk)].open;
        let kinds: &[usize] = match (bulk, sources_only) {
            (false, _) => &[0],
            (true, false) => &[1, 2],
            (true, true) => &[2],
        };
        for kind in kinds {
            for l in crate::exec::lanes(lanes) {
                let over = &mut self.copies[*kind].over[l];
                *over = (open[l] - 1).saturating_sub(keep).max(*over);
            }
        }
    }

    /// Some threads learn.
    pub fn acquire(&mut self, lanes: u32, news: &Knowledge) {
        self.change(lanes, |class| class.know.join(news));
    }

    /// Some threads learn that something beside them is over.
    pub fn finish(&mut self, lanes: u32, track: Track, which: u32, time: u32) {
        self.change(lanes, |class| class.know.get_mut(Order::Seen).raise(track, which, time));
    }

    /// A fence between proxies: what happened before passes it.
    pub fn fence_proxy(&mut self, lanes: u32, orders: &[Order]) {
        let (track, time) = (self.track, self.time);
        let over = [0, 1, 2].map(|kind: usize| (self.copies[kind].track, self.copies[kind].over));
        self.change(lanes, |class| {
            let mut passed = class.know.get(Order::Seen).clone();
            passed.raise(track, class.lanes, time);
            for copies in over.iter().filter(|c| c.1 != [0; LANES]) {
                passed.raise_each(copies.0, class.lanes, &copies.1);
            }
            for order in orders {
                class.know.get_mut(*order).join(&passed);
            }
        });
        self.time += 1;
    }

    /// `fence.acq_rel` and `fence.sc`.
    pub fn fence(&mut self, lanes: u32, acquires: bool, releases: bool, scope: Scope) {
        let time = self.time;
        self.change(lanes, |class| {
            if acquires {
                class.know.join(&class.pending[number_of(scope)]);
                if number_of(scope) + 1 == SCOPES {
                    class.pending = Default::default();
                }
            }
            if releases {
                class.published = Some(Published {
                    know: class.know.clone(),
                    time,
                    scope,
                });
            }
        });
        self.time += 1;
    }

    /// What a relaxed operation of one thread passes on: what its last fence published, and how far.
    pub fn published(&self, lane: usize) -> Option<(Knowledge, Scope)> {
        let class = self.classes.iter().find(|c| c.lanes >> lane & 1 != 0)?;
        let published = class.published.as_ref()?;
        let mut know = published.know.clone();
        self.own_doings(know.get_mut(Order::Seen), 1 << lane, published.time);
        Some((know, published.scope))
    }

    /// What a relaxed read of some threads saw, whatever the scope of the fence after it.
    pub fn pend(&mut self, lanes: u32, news: &Knowledge) {
        self.pend_each(lanes, [Some(news); SCOPES]);
    }

    /// What a relaxed read of some threads saw, for fences of each scope.
    pub fn pend_each(&mut self, lanes: u32, news: [Option<&Knowledge>; SCOPES]) {
        self.change(lanes, |class| {
            let known = class.pending.iter_mut().zip(news);
            known.for_each(|(pending, news)| news.into_iter().for_each(|news| pending.join(news)));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_learned_the_same_are_one_class_again() {
        let track = |index| Track { block: 0, index };
        let mut a = Threads::new(Numbering { warps: 2 }, 0, 0, u32::MAX);
        let mut b = Threads::new(Numbering { warps: 2 }, 0, 1, u32::MAX);
        let news = b.release(1);
        a.acquire(1, &news);
        assert_eq!(a.classes.len(), 2);
        assert!(a.know(0).get(Order::Seen).reached(track(1), 1, 1));
        assert!(!a.know(1).get(Order::Seen).reached(track(1), 1, 1));
        let all = a.release(u32::MAX);
        a.acquire(u32::MAX, &all);
        assert_eq!(a.classes.len(), 1);
        assert!(a.know(1).get(Order::Seen).reached(track(1), 1, 1));
        assert!(!a.know(1).get(Order::Seen).reached(track(1), 2, 1));
    }

    #[test]
    fn tracks_are_numbered_both_ways() {
        let numbering = Numbering { warps: 5 };
        let agents = [
            Agent::Threads(4),
            Agent::Small(0),
            Agent::Bulk(3),
            Agent::BulkSource(4),
            Agent::Products(1),
            Agent::Barrier(0),
            Agent::Barrier(9),
        ];
        for agent in agents {
            assert_eq!(numbering.agent(numbering.track(7, agent)), agent);
        }
    }
}
