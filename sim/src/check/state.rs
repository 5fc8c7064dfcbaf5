//! What the checks of a launch remember of threads and blocks.
use super::agents::{Numbering, Threads};
use super::clock::{Clock, Knowledge, Track};
use super::finding::Finding;
use super::race::{At, Memories, Memory};
use super::shadow::Shadow;
use super::sync::{Flags, Meeting, Object};
use crate::isa::{LANES, Scope};
use crate::ranges::Ranges;
use std::collections::BTreeMap;

/// Who does something: block of the grid, warp of the block, lanes of the warp.
#[derive(Clone, Copy, Debug)]
pub struct Who {
    /// Number of the block in the grid.
    pub block: u32,
    /// Number of the warp in the block.
    pub warp: u32,
    /// Lanes.
    pub lanes: u32,
}

/// The shape of the launch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Setup {
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub threads: [u32; 3],
    /// Blocks of a cluster.
    pub cluster: [u32; 3],
    /// End of a block's shared memory.
    pub shared_end: u32,
}

impl Setup {
    /// Warps of a block.
    pub fn warps(&self) -> u32 {
        self.threads.iter().product::<u32>().div_ceil(LANES as u32)
    }

    /// The numbering of the tracks of a block.
    pub fn numbering(&self) -> Numbering {
        Numbering { warps: self.warps() }
    }

    /// The number of a block in the grid.
    pub fn block_number(&self, index: [u32; 3]) -> u32 {
        index[0] + self.grid[0] * (index[1] + self.grid[1] * index[2])
    }

    /// The position of a block in the grid.
    pub fn block_index(&self, number: u32) -> [u32; 3] {
        position(number, self.grid)
    }

    /// The number of the first block of the cluster that a block is in.
    pub fn cluster_of(&self, block: u32) -> u32 {
        let (index, size) = (self.block_index(block), self.cluster.map(|d| d.max(1)));
        self.block_number(std::array::from_fn(|d| index[d] / size[d] * size[d]))
    }

    /// Whether an operation of a scope by one block reaches another.
    pub fn reaches(&self, scope: Scope, from: u32, to: u32) -> bool {
        match scope {
            Scope::Gpu | Scope::Sys => true,
            Scope::Cta => from == to,
            Scope::Cluster => self.cluster_of(from) == self.cluster_of(to),
        }
    }

    /// `%tid` of a lane of a warp.
    pub fn thread(&self, warp: u32, lane: u32) -> [u32; 3] {
        position(warp * LANES as u32 + lane, self.threads)
    }
}

/// What is known of a block while its cluster runs.
#[derive(Debug)]
pub(super) struct BlockState {
    pub warps: Vec<Threads>,
    pub named: [Meeting; 16],
    pub objects: BTreeMap<u64, Object>,
    /// mbarriers that were initialised so far.
    pub barriers: u32,
    /// What its threads knew when they exited.
    pub exits: Vec<Clock>,
    /// What the warps of each warpgroup brought to the product that they meet for.
    pub brought: BTreeMap<u32, Vec<(Track, Knowledge)>>,
    /// Bytes of local memory that each lane of each warp wrote, a bit for each.
    pub local: Vec<Vec<Vec<u64>>>,
}

/// The state of the checks of a launch.
#[derive(Debug, Default)]
pub struct State {
    pub(super) setup: Setup,
    pub(super) memories: Memories,
    pub(super) blocks: BTreeMap<u32, BlockState>,
    /// Arrivals at the barriers of the clusters, by the number of their first block.
    pub(super) clusters: BTreeMap<u32, Meeting>,
    pub(super) flags: Flags,
    /// What passed a fence for the tensor map at an address, in a block.
    pub(super) map_fences: BTreeMap<(u32, At), Clock>,
    /// Findings that are no conflicts.
    pub(super) findings: Vec<Finding>,
}

impl State {
    /// The state before a launch of this shape.
    pub fn new(setup: Setup, memories: Memories) -> Self {
        State {
            setup,
            memories,
            ..State::default()
        }
    }

    /// The shape of the launch.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Starts to follow a block.
    pub fn begin_block(&mut self, block: u32) {
        let threads: u32 = self.setup.threads.iter().product();
        let numbering = self.setup.numbering();
        let warps = (0..numbering.warps).map(|warp| {
            let present = (threads - warp * LANES as u32).min(LANES as u32);
            let alive = u32::MAX >> (LANES as u32 - present);
            Threads::new(numbering, block, warp, alive)
        });
        let state = BlockState {
            warps: warps.collect(),
            named: Default::default(),
            objects: BTreeMap::new(),
            barriers: 0,
            exits: Vec::new(),
            brought: BTreeMap::new(),
            local: vec![vec![Vec::new(); LANES]; numbering.warps as usize],
        };
        self.blocks.insert(block, state);
        let shadow = Shadow::new(self.setup.shared_end.into(), Ranges::default());
        self.memories.insert(Memory::Shared(block), shadow);
    }

    /// The allocation that a global address is in; nothing for memory that is only read.
    pub fn global(&self, address: u64) -> Option<At> {
        self.memories.global(address)
    }

    /// The threads of a warp.
    pub(super) fn threads_mut(&mut self, who: Who) -> Option<&mut Threads> {
        self.blocks.get_mut(&who.block)?.warps.get_mut(who.warp as usize)
    }
}

/// Coordinates of a number, the first running fastest.
fn position(number: u32, dims: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = dims.map(|d| d.max(1));
    [number % x, number / x % y, number / x / y]
}
