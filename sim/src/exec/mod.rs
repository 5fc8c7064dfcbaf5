//! Execution of a decoded [`Program`]: grids of clusters of blocks of warps.
//!
//! A cluster is executed by one host thread at a time, so that its shared memory and barriers need no locks; clusters run
//! in parallel and take turns, as many at once as the hardware could hold, so that blocks that wait for each other make
//! progress together.
mod asynchronous;
mod atomic;
mod barrier;
mod call;
mod checked;
mod coalesced;
mod collective;
mod footprint;
mod frame;
mod held;
mod idle;
mod issue;
mod launch;
mod mbarrier;
mod memory;
mod observe;
mod pool;
mod print;
mod registers;
mod shared;
mod spin;
mod step;
mod stuck;
mod transfer;
mod warp;
mod warpgroup;

pub use launch::{LaunchError, LaunchShape, resident_blocks, run};
pub(crate) use warp::{STACK_BYTES, lanes};

use crate::check::Checks;
use crate::check::progress::Mbarriers;
use crate::isa::Program;
use crate::memory::GlobalMemory;
use crate::profile::{Collector, Recorder};
use crate::progress::Progress;
use crate::texture::Objects;
use asynchronous::Pending;
use barrier::NamedBarrier;
use pool::RegisterPool;
use shared::SharedMemory;
use spin::Spin;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use warp::Warp;
use warpgroup::Rendezvous;

/// What all blocks of a launch share.
pub struct Grid<'a> {
    /// The kernel.
    pub program: &'a Program,
    /// Global memory.
    pub memory: &'a GlobalMemory,
    /// Texture and surface objects.
    pub objects: &'a Objects,
    /// Dimensions of the launch.
    pub shape: LaunchShape,
    /// Warp instructions that may be executed.
    pub limit: u64,
    /// Those that still may.
    pub budget: AtomicU64,
    /// What was left of the budget when a cluster last ended.
    pub left_at_end: AtomicU64,
    /// Counts changes that clusters made which are watched for loops without an end.
    pub epoch: AtomicU64,
    /// What each thread of each block printed, by z, y and x of the block and the thread's number.
    pub output: Mutex<BTreeMap<([u32; 3], u32), String>>,
    /// Checks of the launch, where they are on.
    pub checks: Option<Checks>,
    /// What the launch costs, where that is counted.
    pub profile: Option<Recorder>,
    /// Start of the launch, for the global timer.
    pub started: std::time::Instant,
    /// How far the launch has come.
    pub progress: &'a Progress,
}

impl Grid<'_> {
    /// Appends to what a thread of a block printed.
    fn print(&self, [x, y, z]: [u32; 3], thread: u32, text: &str) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        output.entry(([z, y, x], thread)).or_default().push_str(text);
    }

    /// Takes instructions from the budget; false when it is spent.
    pub fn spend(&self, instructions: u64) -> bool {
        self.progress.add_instructions(instructions);
        let spent = |left: u64| Some(left.saturating_sub(instructions));
        self.budget
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, spent)
            .unwrap_or(0)
            > instructions
    }
}

/// One block of threads.
pub struct Block {
    /// `%ctaid`
    pub index: [u32; 3],
    /// `%cluster_ctarank`
    pub rank: u32,
    /// Shared memory.
    pub shared: SharedMemory,
    barriers: [NamedBarrier; 16],
    /// Threads that have not exited.
    alive: u32,
    warps: Vec<Warp>,
    warpgroups: Vec<Rendezvous>,
    registers: RegisterPool,
    /// Warp, line and lanes of each exit.
    exits: Vec<(usize, u32, u32)>,
    /// What is remembered of its mbarriers.
    mbarriers: Mbarriers,
}

/// Arrivals of `barrier.cluster`.
#[derive(Default)]
struct ClusterBarrier {
    alive: u32,
    arrived: u32,
    generation: u32,
    /// Where checks are on, arrivals of this phase that need whole warps and come in parts.
    arrivals: Vec<barrier::ClusterArrival>,
}

impl ClusterBarrier {
    /// Ends the phase when everybody is there, and gives its arrivals in parts.
    fn settle(&mut self) -> Vec<barrier::ClusterArrival> {
        if self.arrived == 0 || self.arrived < self.alive {
            return Vec::new();
        }
        self.arrived = 0;
        self.generation = self.generation.wrapping_add(1);
        std::mem::take(&mut self.arrivals)
    }
}

/// Blocks that are scheduled together.
pub struct Cluster {
    /// Blocks by rank.
    pub blocks: Vec<Block>,
    /// `%clusterid`
    pub index: [u32; 3],
    barrier: ClusterBarrier,
    /// Counts what other threads could notice: stores, arrivals, exits. A cluster without any is stuck.
    effects: u64,
    /// Whether suspended waits give up in this round.
    timeouts: bool,
    /// Rounds of giving up without an effect between.
    idle_rounds: u32,
    /// Rounds in a row that ended with every thread waiting or testing, without an effect and without a look at what
    /// another cluster or the time changes.
    quiet_rounds: u64,
    /// Whether a thread looked at such in this round.
    looks: bool,
    /// Rounds of the scheduler so far.
    round: u64,
    /// Copies that have not happened yet.
    pending: Vec<Pending>,
    /// Barriers that threads wait for in this round.
    awaited: Vec<u64>,
    /// Counts what the instructions cost, where that is asked for.
    profile: Option<Box<Collector>>,
    /// Whether it only repeats itself, where that is looked for.
    spin: Option<Box<Spin>>,
}

/// What a warp executes in.
pub struct Context<'c, 'g> {
    /// The launch.
    pub grid: &'c Grid<'g>,
    /// The cluster.
    pub cluster: &'c mut Cluster,
    /// Rank of the warp's block.
    pub block: usize,
}
