//! Conflicts put into words: what happened, where, and what would have ordered it.
use super::agents::Agent;
use super::finding::{Finding, Gravity, Kind, Place};
use super::race::{At, Conflict, Memory, Trouble};
use super::shadow::Mark;
use super::site::{Actor, Site};
use super::state::State;

impl State {
    /// The kind of a conflict, and the lines that tell it from others of its kind.
    pub(super) fn identity(&self, conflict: &Conflict) -> (Kind, Vec<u32>) {
        let new = self.memories.sites.get(conflict.new.site);
        let mut lines = vec![new.line];
        let kind = match (conflict.trouble, conflict.old) {
            (Trouble::Fresh, _) | (_, None) => Kind::Uninitialised,
            (Trouble::Unfenced, _) => Kind::MissingProxyFence,
            (Trouble::Unordered, Some(old)) => match self.setup.numbering().agent(old.track) {
                Agent::Threads(_) => Kind::Race,
                _ if self.memories.sites.get(old.site).is_mbarrier() => Kind::Race,
                _ => Kind::MissingWait,
            },
        };
        lines.extend(conflict.old.map(|old| self.memories.sites.get(old.site).line));
        (kind, lines)
    }

    /// The finding that reports a conflict.
    pub(super) fn describe(&self, conflict: &Conflict) -> Finding {
        let (kind, _) = self.identity(conflict);
        let new = self.memories.sites.get(conflict.new.site);
        let mut places = vec![self.place(&conflict.new, conflict.at, conflict.bytes)];
        let Some(old) = conflict.old else {
            let message = format!(
                "{} {}, which nothing wrote; a GPU finds there what was left from before",
                sentence(&new, "the thread"),
                self.bytes_at(conflict.at, conflict.bytes, conflict.new.track.block)
            );
            let remedy = match conflict.at.0 {
                Memory::Shared(_) => "write shared memory before it is read, the padding that is read included",
                Memory::Global(_) => "write the buffer before the launch, or earlier in the kernel",
                Memory::Local => "give the variable a value first",
            };
            return Finding::new(kind, message, remedy, places);
        };
        let before = self.memories.sites.get(old.site);
        places.push(self.place(&old, conflict.at, conflict.bytes));
        let bytes = self.bytes_at(conflict.at, conflict.bytes, conflict.new.track.block);
        let message = match kind {
            Kind::MissingWait => format!(
                "line {} {} {bytes} while {} issued at line {} still {} there: no wait for it comes before",
                new.line,
                verb(&new),
                asynchronous(&before),
                before.line,
                if before.writes { "writes" } else { "reads" },
            ),
            Kind::MissingProxyFence => format!(
                "line {} {} {bytes} through the {} proxy; line {} wrote them through the generic proxy, and comes first, but no proxy fence stands between",
                new.line,
                verb(&new),
                if new.actor == Actor::TensorMap {
                    "tensor-map"
                } else {
                    "asynchronous"
                },
                before.line,
            ),
            _ => format!(
                "line {} {} {bytes}, line {} {} them too, and nothing orders the two{}",
                new.line,
                verb(&new),
                before.line,
                verb(&before),
                if conflict.same_value {
                    "; both write the same"
                } else {
                    ""
                },
            ),
        };
        let finding = Finding::new(kind, message, self.remedy(kind, conflict, &old), places);
        if conflict.same_value {
            finding.with_gravity(Gravity::Warning)
        } else {
            finding
        }
    }

    /// The finding of an access that the shared memory of a block may not outlive.
    pub(super) fn describe_hold(&self, block: u32, mark: &Mark) -> Finding {
        let site = self.memories.sites.get(mark.site);
        let own = mark.track.block == block && site.actor != Actor::Thread;
        let index = self.setup.block_index(block);
        let place = Place {
            what: format!("{} shared memory of block {index:?}", site.verb()),
            ..self.bare_place(mark)
        };
        if own {
            return Finding::new(
                Kind::MissingWait,
                format!(
                    "line {} {} shared memory of block {index:?}, and the block may exit before that is over",
                    site.line,
                    verb(&site)
                ),
                match self.setup.numbering().agent(mark.track) {
                    Agent::Barrier(_) => "wait at the mbarrier of the copy before the block exits".to_owned(),
                    _ => format!(
                        "put cp.async.bulk.commit_group and cp.async.bulk.wait_group.read 0 between line {} and the exit",
                        site.line
                    ),
                },
                vec![place],
            );
        }
        Finding::new(
            Kind::ExitedPeer,
            format!(
                "line {} {} shared memory of block {index:?}, which may have exited: nothing orders it before that block's exit",
                site.line,
                verb(&site)
            ),
            format!(
                "put barrier.cluster.arrive and barrier.cluster.wait after line {} in all blocks of the cluster, before they exit",
                site.line
            ),
            vec![place],
        )
    }

    /// An access to the shared memory of a block that may not run yet.
    pub(super) fn describe_early(&self, block: u32, mark: &Mark) -> Finding {
        let site = self.memories.sites.get(mark.site);
        let index = self.setup.block_index(block);
        let place = Place {
            what: format!("{} shared memory of block {index:?}", site.verb()),
            ..self.bare_place(mark)
        };
        Finding::new(
            Kind::UnstartedPeer,
            format!(
                "line {} {} shared memory of block {index:?}, which may not run yet: nothing orders it after that block's start",
                site.line,
                verb(&site)
            ),
            format!(
                "put barrier.cluster.arrive.relaxed and barrier.cluster.wait before line {} in all blocks of the cluster",
                site.line
            ),
            vec![place],
        )
    }

    fn remedy(&self, kind: Kind, conflict: &Conflict, old: &Mark) -> String {
        let sites = &self.memories.sites;
        let (new, before) = (sites.get(conflict.new.site), sites.get(old.site));
        let between = between(before.line, new.line);
        let numbering = self.setup.numbering();
        match kind {
            Kind::MissingProxyFence if new.actor == Actor::TensorMap => format!(
                "put fence.proxy.tensormap::generic.acquire.gpu [map], 128 {between}, in the thread that uses the map"
            ),
            Kind::MissingProxyFence if new.actor == Actor::Signal => format!(
                "put fence.mbarrier_init.release.cluster after line {} in the thread that initialises, before the barrier \
                 that lets line {} run",
                before.line, new.line
            ),
            Kind::MissingProxyFence => {
                let space = match conflict.at.0 {
                    Memory::Shared(_) => "shared::cta",
                    _ => "global",
                };
                format!(
                    "put fence.proxy.async.{space} after line {} in the threads that write, before the barrier that lets line {} run",
                    before.line, new.line
                )
            }
            Kind::MissingWait => match numbering.agent(old.track) {
                Agent::Small(_) => format!(
                    "put cp.async.wait_all, or commit_group and wait_group, {between}, and a barrier for other threads"
                ),
                Agent::Bulk(_) => format!("put cp.async.bulk.commit_group and cp.async.bulk.wait_group 0 {between}"),
                Agent::BulkSource(_) => {
                    format!("put cp.async.bulk.commit_group and cp.async.bulk.wait_group.read 0 {between}")
                }
                Agent::Products(_) => {
                    format!("put wgmma.commit_group and wgmma.wait_group 0 {between}, and a barrier for other threads")
                }
                Agent::Barrier(_) | Agent::Threads(_) => {
                    format!(
                        "put mbarrier.try_wait on the mbarrier that line {} signals {between}",
                        before.line
                    )
                }
            },
            _ => {
                let (a, b) = (conflict.new.track, old.track);
                if a == b {
                    format!(
                        "put bar.warp.sync {between}, bar.sync where other warps take part too, or let one lane do it"
                    )
                } else if a.block == b.block {
                    format!("put bar.sync, or an mbarrier that one side arrives at and the other waits for, {between}")
                } else if self.setup.cluster_of(a.block) == self.setup.cluster_of(b.block) {
                    format!("put barrier.cluster.arrive.release and barrier.cluster.wait.acquire {between}")
                } else {
                    format!(
                        "use atomic operations, pass a flag by st.release.gpu and ld.acquire.gpu {between}, or use two launches"
                    )
                }
            }
        }
    }

    fn place(&self, mark: &Mark, at: At, bytes: u64) -> Place {
        let site = self.memories.sites.get(mark.site);
        Place {
            what: format!("{} {}", site.verb(), self.bytes_at(at, bytes, mark.track.block)),
            ..self.bare_place(mark)
        }
    }

    fn bare_place(&self, mark: &Mark) -> Place {
        let lane = mark.lanes.trailing_zeros();
        let thread = match self.setup.numbering().agent(mark.track) {
            Agent::Threads(warp) | Agent::Small(warp) | Agent::Bulk(warp) | Agent::BulkSource(warp) => {
                Some(self.setup.thread(warp, lane))
            }
            Agent::Products(group) => Some(self.setup.thread(4 * group, 0)),
            Agent::Barrier(_) => None,
        };
        Place {
            what: String::new(),
            ptx_line: self.memories.sites.get(mark.site).line,
            source: None,
            block: Some(self.setup.block_index(mark.track.block)),
            thread,
        }
    }

    fn bytes_at(&self, (memory, offset): At, bytes: u64, block: u32) -> String {
        let unit = if bytes == 1 { "byte" } else { "bytes" };
        match memory {
            Memory::Shared(owner) if owner == block => format!("{bytes} {unit} at shared address {offset:#x}"),
            Memory::Shared(owner) => format!(
                "{bytes} {unit} at shared address {offset:#x} of block {:?}",
                self.setup.block_index(owner)
            ),
            Memory::Local => format!("{bytes} {unit} at local address {offset:#x}"),
            Memory::Global(number) => {
                let (base, size) = self.memories.allocation(number);
                format!("{bytes} {unit} at offset {offset} of the allocation of {size} bytes at {base:#x}")
            }
        }
    }
}

fn verb(site: &Site) -> &'static str {
    match (site.reads, site.writes) {
        (true, true) => "updates",
        (false, true) => "writes",
        _ => "reads",
    }
}

fn sentence(site: &Site, thread: &str) -> String {
    match site.actor {
        Actor::Thread => format!("{thread} {}", verb(site)),
        _ => site.verb().to_string(),
    }
}

fn asynchronous(site: &Site) -> &'static str {
    match site.actor {
        Actor::Copy => "the asynchronous copy",
        Actor::Bulk => "the bulk copy",
        Actor::Tensor => "the tensor copy",
        Actor::Product => "the wgmma",
        _ => "the operation",
    }
}

/// Where something must stand that orders two lines, or a line with itself.
pub fn between(before: u32, after: u32) -> String {
    match before == after {
        true => format!("between one execution of line {before} and the next"),
        false => format!("between line {before} and line {after}"),
    }
}
