//! What passes knowledge on: barriers, mbarriers, and locations that strong operations release and acquire.
use super::agents::{Agent, SCOPES, number_of};
use super::clock::{Knowledge, Order};
use super::race::{At, Memory};
use super::state::{State, Who};
use crate::isa::{Scope, Strength};
use std::collections::BTreeMap;

/// Arrivals at a barrier whose phases are counted elsewhere.
#[derive(Debug, Default)]
pub struct Meeting {
    /// What the arrivals of the phase in progress brought.
    brought: Knowledge,
    /// What those of the last two phases brought, by the parity of their number.
    phases: [Knowledge; 2],
    generation: u32,
}

impl Meeting {
    fn settle(&mut self, generation: u32) {
        if generation != self.generation {
            self.phases[(self.generation % 2) as usize] = std::mem::take(&mut self.brought);
            self.generation = generation;
        }
    }
}

/// An mbarrier.
#[derive(Debug)]
pub struct Object {
    /// Its number in the block.
    pub number: u32,
    /// Phases that are over.
    pub phases: u32,
    /// The parity bit of the phase in progress, as in memory.
    parity: bool,
    brought: Knowledge,
    /// What the arrivals of all phases that are over brought.
    over: Knowledge,
}

/// Threads that a release reaches: all, a cluster by its first block, a block.
type Domain = (Scope, u32);

/// What locations hold for those that acquire them.
#[derive(Debug, Default)]
pub struct Flags(BTreeMap<At, BTreeMap<Domain, Knowledge>>);

impl Flags {
    /// Forgets the shared memory of a block.
    pub fn forget_block(&mut self, block: u32) {
        self.0.retain(|(memory, _), _| *memory != Memory::Shared(block));
    }
}

impl State {
    fn domains(&self, block: u32) -> [Domain; 3] {
        [
            (Scope::Cta, block),
            (Scope::Cluster, self.setup.cluster_of(block)),
            (Scope::Gpu, 0),
        ]
    }

    /// A strong access of one lane at a location, after the access itself was checked.
    pub fn strong_access(&mut self, who: Who, at: At, strength: Strength, reads: bool, writes: bool) {
        let lane = who.lanes.trailing_zeros() as usize;
        let domains = self.domains(who.block);
        let within = |scope: Scope| {
            let scope = scope.min(Scope::Gpu);
            domains.into_iter().filter(move |d| d.0 <= scope)
        };
        if reads && let Some(held) = self.flags.0.get(&at) {
            // A fence acquires what was released to its scope; the read's own scope is the limit.
            let widest = number_of(strength.scope);
            let news: [Option<Knowledge>; SCOPES] =
                std::array::from_fn(|scope| held.get(&domains[scope.min(widest)]).cloned());
            if let Some(threads) = self.threads_mut(who)
                && news.iter().any(Option::is_some)
            {
                threads.pend_each(who.lanes, news.each_ref().map(Option::as_ref));
                if let (true, Some(news)) = (strength.acquires, &news[widest]) {
                    threads.acquire(who.lanes, news);
                }
            }
        }
        if !writes {
            return;
        }
        if !reads {
            // A store ends what came before; an atomic operation carries it on.
            self.flags.0.remove(&at);
        }
        let Some(threads) = self.threads_mut(who) else { return };
        let mut passed = Vec::new();
        if let Some((know, scope)) = threads.published(lane) {
            passed.push((know, scope.min(strength.scope)));
        }
        if strength.releases {
            passed.push((threads.release(who.lanes), strength.scope));
        }
        for (know, scope) in passed {
            let held = self.flags.0.entry(at).or_default();
            within(scope).for_each(|domain| held.entry(domain).or_default().join(&know));
        }
    }

    /// Arrival at a barrier of the block.
    pub fn arrive_named(&mut self, who: Who, id: usize) {
        let Some(block) = self.blocks.get_mut(&who.block) else {
            return;
        };
        let passed = block.warps[who.warp as usize].release(who.lanes);
        block.named[id].brought.join(&passed);
    }

    /// The phase that a barrier of a block is in.
    pub fn settle_named(&mut self, block: u32, id: usize, generation: u32) {
        if let Some(block) = self.blocks.get_mut(&block) {
            block.named[id].settle(generation);
        }
    }

    /// Threads that leave a barrier of the block whose phase `generation` is over.
    pub fn leave_named(&mut self, who: Who, id: usize, generation: u32) {
        let Some(block) = self.blocks.get_mut(&who.block) else {
            return;
        };
        let news = &block.named[id].phases[(generation % 2) as usize];
        block.warps[who.warp as usize].acquire(who.lanes, news);
    }

    /// `barrier.cluster.arrive`
    pub fn arrive_cluster(&mut self, who: Who, releases: bool) {
        let cluster = self.setup.cluster_of(who.block);
        let Some(threads) = self.threads_mut(who) else { return };
        let mut passed = Knowledge::default();
        if releases {
            passed = threads.release(who.lanes);
        } else {
            // What a fence before it published goes along all the same.
            for lane in crate::exec::lanes(who.lanes) {
                if let Some((know, scope)) = threads.published(lane)
                    && scope >= Scope::Cluster
                {
                    passed.join(&know);
                }
                let init = threads.know(lane).get(Order::MbarrierInit).clone();
                passed.get_mut(Order::MbarrierInit).join(&init);
            }
        }
        self.clusters.entry(cluster).or_default().brought.join(&passed);
    }

    /// The phase that the barrier of the cluster with a block is in.
    pub fn settle_cluster(&mut self, block: u32, generation: u32) {
        let cluster = self.setup.cluster_of(block);
        self.clusters.entry(cluster).or_default().settle(generation);
    }

    /// `barrier.cluster.wait` that ends, of phase `generation`.
    pub fn leave_cluster(&mut self, who: Who, acquires: bool, generation: u32) {
        let cluster = self.setup.cluster_of(who.block);
        let Some(meeting) = self.clusters.get(&cluster) else {
            return;
        };
        let news = meeting.phases[(generation % 2) as usize].clone();
        self.memories.met.insert(who.block);
        if let Some(threads) = self.threads_mut(who) {
            if acquires {
                threads.acquire(who.lanes, &news);
            } else {
                threads.pend(who.lanes, &news);
            }
        }
    }

    /// `bar.warp.sync` of some lanes.
    pub fn sync_warp(&mut self, who: Who) {
        if let Some(threads) = self.threads_mut(who) {
            let passed = threads.release(who.lanes);
            threads.acquire(who.lanes, &passed);
        }
    }

    /// `mbarrier.init`: from now on another object.
    pub fn init_object(&mut self, (block, address): (u32, u64)) {
        if let Some(block) = self.blocks.get_mut(&block) {
            let object = Object {
                number: block.barriers,
                phases: 0,
                parity: false,
                brought: Knowledge::default(),
                over: Knowledge::default(),
            };
            block.barriers += 1;
            block.objects.insert(address, object);
        }
    }

    /// What an arrival brings to an mbarrier.
    pub fn bring(&mut self, (block, address): (u32, u64), passed: &Knowledge) {
        if let Some(object) = self.blocks.get_mut(&block).and_then(|b| b.objects.get_mut(&address)) {
            object.brought.join(passed);
        }
    }

    /// `mbarrier.arrive` of a thread: what it passes on, by its order.
    pub fn arrive_object(&mut self, who: Who, object: (u32, u64), releases: bool) {
        let lane = who.lanes.trailing_zeros() as usize;
        let Some(threads) = self.threads_mut(who) else { return };
        let passed = if releases {
            threads.release(who.lanes)
        } else {
            threads.published(lane).map(|(know, _)| know).unwrap_or_default()
        };
        self.bring(object, &passed);
    }

    /// `cp.async.mbarrier.arrive`: the copies of the thread so far are over with the phase.
    pub fn arrive_copies(&mut self, who: Who, object: (u32, u64)) {
        let lane = who.lanes.trailing_zeros() as usize;
        let track = self.setup.numbering().track(who.block, Agent::Small(who.warp));
        let Some(threads) = self.threads_mut(who) else { return };
        let mut passed = Knowledge::default();
        let open = threads.open_group(false, lane);
        passed.get_mut(Order::Seen).raise(track, who.lanes, open);
        threads.commit(false, who.lanes);
        self.bring(object, &passed);
    }

    /// The parity bit of an mbarrier after something happened to it.
    pub fn settle_object(&mut self, (block, address): (u32, u64), parity: bool) {
        let numbering = self.setup.numbering();
        let Some(state) = self.blocks.get_mut(&block) else {
            return;
        };
        let Some(object) = state.objects.get_mut(&address) else {
            return;
        };
        if object.parity != parity {
            object.parity = parity;
            object.phases += 1;
            let brought = std::mem::take(&mut object.brought);
            object.over.join(&brought);
            let track = numbering.track(block, Agent::Barrier(object.number));
            object.over.get_mut(Order::Seen).raise(track, 1, object.phases);
        }
    }

    /// A wait at an mbarrier that succeeded.
    pub fn leave_object(&mut self, who: Who, (block, address): (u32, u64), acquires: bool) {
        let object = self.blocks.get(&block).and_then(|b| b.objects.get(&address));
        let Some(news) = object.map(|o| o.over.clone()) else {
            return;
        };
        if let Some(threads) = self.threads_mut(who) {
            if acquires {
                threads.acquire(who.lanes, &news);
            } else {
                threads.pend(who.lanes, &news);
            }
        }
    }

    /// `fence` and `membar` without a proxy.
    pub fn fence(&mut self, who: Who, acquires: bool, releases: bool, scope: Scope) {
        if let Some(threads) = self.threads_mut(who) {
            threads.fence(who.lanes, acquires, releases, scope);
        }
    }

    /// A fence between proxies.
    pub fn fence_proxy(&mut self, who: Who, orders: &[Order]) {
        if let Some(threads) = self.threads_mut(who) {
            threads.fence_proxy(who.lanes, orders);
        }
    }

    /// `fence.proxy.tensormap` of the map at an address: what happened before is known to the copies of the block.
    pub fn fence_map(&mut self, who: Who, map: At) {
        let Some(threads) = self.threads_mut(who) else { return };
        let known = threads.release(who.lanes);
        let fenced = self.map_fences.entry((who.block, map)).or_default();
        fenced.join(known.get(Order::Seen));
    }

    /// Threads that exit.
    pub fn exit(&mut self, who: Who) {
        let Some(block) = self.blocks.get_mut(&who.block) else {
            return;
        };
        let known = block.warps[who.warp as usize].release(who.lanes);
        block.exits.push(known.get(Order::Seen).clone());
    }
}
