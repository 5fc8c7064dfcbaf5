//! What is counted while a launch runs: by instruction of the compact form, one collector for each host thread.
use super::Options;
use crate::isa::LANES;
use girih_core::layout::{AccessCost, WarpAccess, access_cost, load_cost};
use girih_core::tensor_map::Swizzle;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// Different accesses of an instruction that are kept; what the others cost is counted all the same.
const MOST_PATTERNS: usize = 1024;
/// Bytes of shared memory that are touched together.
const GRANULE_BYTES: u64 = 16;
/// No shared memory is at or after this address: an access there is about to fail.
const END_OF_SHARED: u64 = 256 * 1024;
/// Bytes of a sector of global memory.
pub const SECTOR_BYTES: u64 = 32;

/// An instruction of the compact form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Function of the program.
    pub function: u32,
    /// Instruction of the function.
    pub inst: u32,
}

/// Kinds of accesses to shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SharedKind {
    /// `ld`
    Load,
    /// `st`
    Store,
    /// `ldmatrix`
    LoadMatrix,
    /// `stmatrix`
    StoreMatrix,
    /// `atom` and `red`
    Atomic,
    /// What `cp.async` writes.
    AsyncCopy,
}

/// How often a warp executed an instruction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    /// Times.
    pub warps: u64,
    /// Lanes for which the guard held, summed over those times.
    pub lanes: u64,
    /// Times that the lanes of a branch parted.
    pub parted: u64,
}

/// Accesses of one instruction to shared memory.
#[derive(Clone, Debug)]
pub struct Shared {
    /// What the instruction is.
    pub kind: SharedKind,
    /// Bytes of a lane.
    pub bytes: u64,
    /// Accesses of the block's own memory.
    pub accesses: u64,
    /// Lanes of those.
    pub lanes: u64,
    /// Sum of their costs; the degree is the largest.
    pub cost: AccessCost,
    /// Accesses of which a lane went to another block of the cluster, and lanes that did.
    pub remote: (u64, u64),
    /// Accesses of the first cluster by the lanes' addresses.
    pub patterns: BTreeMap<[Option<u64>; LANES], u64>,
    /// Accesses of the first cluster that are not among the patterns.
    pub dropped: u64,
    /// What the first cluster touched.
    pub touched: Granules,
}

/// Pieces of shared memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Granules(Vec<u64>);

impl Granules {
    /// Adds bytes.
    pub fn add(&mut self, address: u64, bytes: u64) {
        let end = address.saturating_add(bytes).min(END_OF_SHARED);
        for granule in address / GRANULE_BYTES..end.div_ceil(GRANULE_BYTES) {
            let word = (granule / 64) as usize;
            if self.0.len() <= word {
                self.0.resize(word + 1, 0);
            }
            self.0[word] |= 1 << (granule % 64);
        }
    }

    /// Adds all of another set.
    pub fn union(&mut self, other: &Granules) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    /// Whether they share a piece.
    pub fn meets(&self, other: &Granules) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    /// The first address, and the one after the last.
    pub fn range(&self) -> Option<(u64, u64)> {
        let bit = |word: usize, bit: u32| (word as u64 * 64 + u64::from(bit)) * GRANULE_BYTES;
        let first = self.0.iter().position(|word| *word != 0)?;
        let last = self.0.iter().rposition(|word| *word != 0)?;
        Some((
            bit(first, self.0[first].trailing_zeros()),
            bit(last, 63 - self.0[last].leading_zeros()) + GRANULE_BYTES,
        ))
    }
}

/// Accesses of one instruction to global or local memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    /// Accesses with a lane in global memory.
    pub accesses: u64,
    /// Different bytes of global memory that each access asked for, summed.
    pub bytes: u64,
    /// Sectors of 32 bytes that those lie in, summed.
    pub sectors: u64,
    /// Bytes of local memory.
    pub local_bytes: u64,
}

/// How an asynchronous copy or a warpgroup's product sees shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentKind {
    /// Through a tensor map of this swizzle, by its number among [`Swizzle::ALL`], and with rows of these bytes.
    Tensor(u8, u64),
    /// Byte after byte.
    Bulk,
    /// Through a matrix descriptor.
    Wgmma,
}

impl AgentKind {
    /// Through a tensor map.
    pub fn tensor(swizzle: Swizzle, row_bytes: u64) -> AgentKind {
        let number = Swizzle::ALL.iter().position(|s| *s == swizzle).unwrap_or(0);
        AgentKind::Tensor(number as u8, row_bytes)
    }
}

/// What one instruction's asynchronous copies or products did.
#[derive(Clone, Debug, Default)]
pub struct Agent {
    /// Bytes that came into shared memory.
    pub to_shared: u64,
    /// Bytes that left it.
    pub from_shared: u64,
    /// How they see it.
    pub kinds: BTreeSet<AgentKind>,
    /// What the first cluster's touched.
    pub touched: Granules,
}

/// What has been counted.
#[derive(Debug, Default)]
pub struct Collector {
    options: Options,
    /// Whether the cluster being executed is the first.
    pub first: bool,
    /// By function and instruction.
    pub counts: Vec<Vec<Count>>,
    /// Accesses to shared memory.
    pub shared: BTreeMap<Place, Shared>,
    /// Accesses to global memory.
    pub traffic: BTreeMap<Place, Traffic>,
    /// Asynchronous copies and products.
    pub agents: BTreeMap<Place, Agent>,
    /// `wmma.load` and `wmma.store` in shared memory.
    pub wmma: BTreeSet<Place>,
}

impl Collector {
    /// Counts an instruction that a warp executes with a number of active lanes.
    #[inline]
    pub fn count(&mut self, place: Place, lanes: u32) {
        let function = place.function as usize;
        if self.counts.len() <= function {
            self.counts.resize(function + 1, Vec::new());
        }
        let counts = &mut self.counts[function];
        let inst = place.inst as usize;
        if counts.len() <= inst {
            counts.resize(inst + 1, Count::default());
        }
        counts[inst].warps += 1;
        counts[inst].lanes += u64::from(lanes);
    }

    /// Takes the last count back: the warp waits, and tries again.
    pub fn uncount(&mut self, place: Place, lanes: u32) {
        if let Some(count) = self.count_mut(place) {
            count.warps -= 1;
            count.lanes -= u64::from(lanes);
        }
    }

    /// Counts that the lanes of a branch parted.
    pub fn part(&mut self, place: Place) {
        if let Some(count) = self.count_mut(place) {
            count.parted += 1;
        }
    }

    fn count_mut(&mut self, place: Place) -> Option<&mut Count> {
        self.counts
            .get_mut(place.function as usize)?
            .get_mut(place.inst as usize)
    }

    /// Counts an access to the block's own shared memory, `bytes` a lane; `remote` lanes go to other blocks.
    pub fn shared_access(
        &mut self,
        place: Place,
        kind: SharedKind,
        bytes: u64,
        addresses: &[Option<u64>; LANES],
        remote: u64,
    ) {
        let own = addresses.iter().flatten().count() as u64;
        let shared = self.shared.entry(place).or_insert_with(|| Shared {
            kind,
            bytes,
            accesses: 0,
            lanes: 0,
            cost: AccessCost::default(),
            remote: (0, 0),
            patterns: BTreeMap::new(),
            dropped: 0,
            touched: Granules::default(),
        });
        shared.remote.0 += u64::from(remote > 0);
        shared.remote.1 += remote;
        if own == 0 {
            return;
        }
        shared.accesses += 1;
        shared.lanes += own;
        if !self.options.banks {
            return;
        }
        let cost = if kind == SharedKind::Load {
            load_cost(addresses, bytes)
        } else {
            access_cost(addresses, bytes)
        };
        shared.cost.add(cost);
        if self.first {
            for address in addresses.iter().flatten() {
                shared.touched.add(*address, bytes);
            }
            if let Some(times) = shared.patterns.get_mut(addresses) {
                *times += 1;
            } else if shared.patterns.len() < MOST_PATTERNS {
                shared.patterns.insert(*addresses, 1);
            } else {
                shared.dropped += 1;
            }
        }
    }

    /// Counts an access to global memory.
    pub fn global_access(&mut self, place: Place, bytes: u64, addresses: &[u64]) {
        if addresses.is_empty() {
            return;
        }
        let mut ranges = addresses.to_vec();
        ranges.sort_unstable();
        let traffic = self.traffic.entry(place).or_default();
        traffic.accesses += 1;
        // The end of the bytes, and the first sector after those, counted so far.
        let (mut end, mut sector) = (0, 0);
        for address in ranges {
            // One that wraps is about to fail.
            let next = address.saturating_add(bytes);
            traffic.bytes += next.saturating_sub(address.max(end));
            end = end.max(next);
            let next = next.div_ceil(SECTOR_BYTES);
            traffic.sectors += next.saturating_sub(sector.max(address / SECTOR_BYTES));
            sector = sector.max(next);
        }
    }

    /// Counts an access to local memory.
    pub fn local_access(&mut self, place: Place, bytes: u64) {
        self.traffic.entry(place).or_default().local_bytes += bytes;
    }

    /// What an instruction's asynchronous copies or products did so far.
    pub fn agent(&mut self, place: Place) -> &mut Agent {
        self.agents.entry(place).or_default()
    }

    fn merge(&mut self, other: Collector) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), Vec::new());
        }
        for (to, from) in self.counts.iter_mut().zip(other.counts) {
            if to.len() < from.len() {
                to.resize(from.len(), Count::default());
            }
            for (to, from) in to.iter_mut().zip(from) {
                to.warps += from.warps;
                to.lanes += from.lanes;
                to.parted += from.parted;
            }
        }
        for (place, from) in other.shared {
            match self.shared.get_mut(&place) {
                Some(to) => to.merge(from),
                None => {
                    self.shared.insert(place, from);
                }
            }
        }
        for (place, from) in other.traffic {
            let to = self.traffic.entry(place).or_default();
            to.accesses += from.accesses;
            to.bytes += from.bytes;
            to.sectors += from.sectors;
            to.local_bytes += from.local_bytes;
        }
        for (place, from) in other.agents {
            let to = self.agents.entry(place).or_default();
            to.to_shared += from.to_shared;
            to.from_shared += from.from_shared;
            to.kinds.extend(from.kinds);
            to.touched.union(&from.touched);
        }
        self.wmma.extend(other.wmma);
    }
}

impl Shared {
    fn merge(&mut self, other: Shared) {
        self.accesses += other.accesses;
        self.lanes += other.lanes;
        self.cost.add(other.cost);
        self.remote.0 += other.remote.0;
        self.remote.1 += other.remote.1;
        for (addresses, times) in other.patterns {
            *self.patterns.entry(addresses).or_default() += times;
        }
        self.dropped += other.dropped;
        self.touched.union(&other.touched);
    }

    /// The kept accesses of the first cluster.
    pub fn warp_accesses(&self) -> impl Iterator<Item = WarpAccess> + '_ {
        self.patterns.iter().map(|(addresses, times)| WarpAccess {
            addresses: addresses.to_vec(),
            bytes: self.bytes,
            loads: self.kind == SharedKind::Load,
            times: *times,
        })
    }
}

/// What all host threads of a launch count into.
#[derive(Debug)]
pub struct Recorder {
    options: Options,
    merged: Mutex<Collector>,
}

impl Recorder {
    /// Nothing counted yet.
    pub fn new(options: Options) -> Self {
        Recorder {
            options,
            merged: Mutex::default(),
        }
    }

    /// A collector for a host thread.
    pub fn collector(&self) -> Box<Collector> {
        Box::new(Collector {
            options: self.options,
            ..Collector::default()
        })
    }

    /// Adds what a host thread counted.
    pub fn add(&self, collector: Collector) {
        self.merged
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .merge(collector);
    }

    pub(super) fn finish(self) -> (Options, Collector) {
        let merged = self.merged.into_inner().unwrap_or_else(PoisonError::into_inner);
        (self.options, merged)
    }
}
