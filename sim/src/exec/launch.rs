//! A launch: checks, the schedule of clusters over host threads, and errors with their place.
use super::asynchronous::Pending;
use super::barrier::NamedBarrier;
use super::checked::number;
use super::pool::RegisterPool;
use super::shared::SharedMemory;
use super::stuck::stuck;
use super::warp::{Identity, Warp};
use super::warpgroup::Rendezvous;
use super::{Block, Cluster, ClusterBarrier, Context, Grid, Mbarriers};
use crate::isa::{LANES, Program};
use crate::mbarrier::Barrier;
use crate::memory::{Bytes, Fault, FaultKind};
use crate::profile::{Collector, Recorder};
use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex, PoisonError};

/// Multiprocessors of the simulated device.
pub const MULTIPROCESSORS: u32 = 132;
/// Threads that a multiprocessor holds at once.
const RESIDENT_THREADS: u32 = 2048;
/// Blocks that a multiprocessor holds at once.
const RESIDENT_BLOCKS: u32 = 32;
/// Shared memory of a multiprocessor, of which each block takes its own and the reserved kilobyte.
const MULTIPROCESSOR_SHARED_BYTES: u32 = 228 * 1024;
/// Instructions of a warp before the next one has its turn.
const QUANTUM: u64 = 512;
/// Instructions of a cluster before another one has its turn.
const SLICE: u64 = 1 << 20;
/// Rounds without an effect after which another cluster has its turn: this one may wait for it.
const FRUITLESS_ROUNDS: u32 = 16;
/// Rounds in which all waits of a cluster gave up and nothing else happened, after which it is stuck.
const IDLE_ROUNDS: u32 = 64;
/// Rounds in which threads only waited, tested mbarriers and gave way, after which nothing will come of it: by then every
/// copy has happened.
const QUIET_ROUNDS: u64 = 4096;

/// Dimensions of a launch.
#[derive(Clone, Copy, Debug)]
pub struct LaunchShape {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Blocks of a cluster.
    pub cluster: [u32; 3],
    /// Whether the launch or the kernel asked for clusters.
    pub explicit_cluster: bool,
    /// Bytes.
    pub dynamic_shared: u32,
}

impl LaunchShape {
    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }
    /// Warps of a block.
    pub fn warps(&self) -> u32 {
        self.threads().div_ceil(LANES as u32)
    }
    /// End of a block's shared memory.
    pub fn shared_end(&self, program: &Program) -> u32 {
        if self.dynamic_shared == 0 {
            program.static_shared
        } else {
            program.dynamic_shared + self.dynamic_shared
        }
    }
}

/// Why a launch failed, with the place.
#[derive(Clone, Debug)]
pub struct LaunchError {
    /// What a GPU would report.
    pub fault: Fault,
    /// Line of the PTX text; 0 where there is none.
    pub line: u32,
    /// Block and thread.
    pub place: Option<([u32; 3], [u32; 3])>,
}

struct Queue {
    /// Next cluster that has not begun.
    next: u64,
    /// Clusters that have begun and wait for a thread.
    waiting: VecDeque<Cluster>,
    /// Clusters that have begun and not ended.
    resident: u64,
    /// An epoch, and the clusters that have not ended and repeat themselves in it.
    spinning: (u64, BTreeSet<[u32; 3]>),
    /// Whether all of them do and no other can begin.
    spins: bool,
    error: Option<LaunchError>,
}

/// Blocks that are executed side by side, however long each waits for another: as many as the multiprocessors hold.
pub fn resident_blocks(shape: &LaunchShape, program: &Program) -> u64 {
    let by_threads = RESIDENT_THREADS / shape.threads().max(1);
    let by_memory = MULTIPROCESSOR_SHARED_BYTES / shape.shared_end(program).max(1);
    u64::from(MULTIPROCESSORS * by_threads.min(by_memory).clamp(1, RESIDENT_BLOCKS))
}

/// Runs a grid to its end.
pub fn run(grid: &Grid<'_>) -> Result<(), LaunchError> {
    let shape = &grid.shape;
    let count = |a: &[u32; 3]| a.iter().map(|v| u64::from(*v)).product::<u64>();
    let clusters = count(&shape.grid) / count(&shape.cluster);
    let most = resident_blocks(shape, grid.program) / count(&shape.cluster);
    let queue = Mutex::new(Queue {
        next: 0,
        waiting: VecDeque::new(),
        resident: 0,
        spinning: (0, BTreeSet::new()),
        spins: false,
        error: None,
    });
    let wake = Condvar::new();
    // One after the other where checks are on: their findings must not depend on the host's schedule.
    let workers = match grid.checks {
        Some(_) => 1,
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let workers = workers.min(clusters.try_into().unwrap_or(usize::MAX));
    let work = || {
        let mut collector = grid.profile.as_ref().map(Recorder::collector);
        loop {
            let mut state = queue.lock().unwrap_or_else(PoisonError::into_inner);
            let mut cluster = loop {
                if state.error.is_some() || state.spins {
                    return record(grid, collector);
                }
                // New clusters first, so that those that wait for each other all begin.
                if state.next < clusters && state.resident < most.max(1) {
                    let index = state.next;
                    state.next += 1;
                    state.resident += 1;
                    drop(state);
                    break new_cluster(grid, index);
                }
                if let Some(cluster) = state.waiting.pop_front() {
                    drop(state);
                    break cluster;
                }
                if state.resident == 0 {
                    return record(grid, collector);
                }
                state = wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            };
            if cluster.profile.is_none() {
                cluster.profile = collector.take();
            }
            let result = run_slice(grid, &mut cluster);
            // The first cluster keeps its own: what it remembers must not depend on who runs it.
            if !cluster.profile.as_ref().is_some_and(|c| c.first) {
                collector = cluster.profile.take();
            } else if matches!(result, Ok(true)) {
                record(grid, cluster.profile.take());
            }
            let mut state = queue.lock().unwrap_or_else(PoisonError::into_inner);
            match result {
                Ok(true) => {
                    state.resident -= 1;
                    state.spinning.1.remove(&cluster.index);
                    grid.cluster_ended();
                    grid.progress.add_blocks(count(&shape.cluster));
                }
                Ok(false) => {
                    let full = state.next >= clusters || state.resident >= most.max(1);
                    let all = state.note_spin(&cluster) == state.resident;
                    let epoch = grid.epoch.load(Ordering::Acquire);
                    state.spins |= full && all && state.spinning.0 == epoch;
                    state.waiting.push_back(cluster);
                }
                Err(error) => {
                    state.error.get_or_insert(error);
                }
            }
            drop(state);
            wake.notify_all();
        }
    };
    if workers <= 1 {
        work();
    } else {
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(work);
            }
        });
    }
    let queue = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
    let first = queue.waiting.iter().min_by_key(|cluster| launch_order(cluster.index));
    match (queue.error, first.filter(|_| queue.spins)) {
        (Some(error), _) => Err(error),
        (None, Some(cluster)) => {
            let rest = (clusters - queue.next.min(clusters)) * count(&shape.cluster);
            Err(stuck(
                grid,
                cluster,
                &livelock(rest, queue.resident * count(&shape.cluster)),
                true,
            ))
        }
        (None, None) => Ok(()),
    }
}

/// Order of the launch: x first.
fn launch_order([x, y, z]: [u32; 3]) -> [u32; 3] {
    [z, y, x]
}

/// Head of the message of a grid in which all threads spin or wait; `absent` blocks have not begun.
fn livelock(absent: u64, resident: u64) -> String {
    let mut text =
        "livelock: every thread of the grid waits or repeats itself, and nobody is left to change what it reads"
            .to_owned();
    if absent > 0 {
        text += &format!(
            "; {} not begun, since {resident} are as many as the device holds at once: blocks that wait for each other must all fit",
            if absent == 1 {
                "1 block has".to_owned()
            } else {
                format!("{absent} blocks have")
            }
        );
    }
    text
}

impl Queue {
    /// Takes note of what a cluster's slice ended with; how many repeat themselves in the latest epoch.
    fn note_spin(&mut self, cluster: &Cluster) -> u64 {
        if let Some(epoch) = cluster.spins_in() {
            if self.spinning.0 != epoch {
                self.spinning = (epoch, BTreeSet::new());
            }
            self.spinning.1.insert(cluster.index);
        }
        self.spinning.1.len() as u64
    }
}

/// Adds what a host thread counted to what others did.
fn record(grid: &Grid<'_>, collector: Option<Box<Collector>>) {
    if let (Some(recorder), Some(collector)) = (&grid.profile, collector) {
        recorder.add(*collector);
    }
}

fn position(index: u64, dims: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = dims.map(|d| u64::from(d.max(1)));
    [(index % x) as u32, (index / x % y) as u32, (index / x / y) as u32]
}

fn first_collector(grid: &Grid<'_>) -> Option<Box<Collector>> {
    let mut collector = grid.profile.as_ref()?.collector();
    collector.first = true;
    Some(collector)
}

fn new_cluster(grid: &Grid<'_>, index: u64) -> Cluster {
    let shape = &grid.shape;
    let clusters: [u32; 3] = std::array::from_fn(|d| shape.grid[d] / shape.cluster[d].max(1));
    let at = position(index, clusters);
    let size: u32 = shape.cluster.iter().product();
    let mut cluster = Cluster {
        blocks: Vec::new(),
        index: at,
        barrier: ClusterBarrier {
            alive: size * shape.threads(),
            ..ClusterBarrier::default()
        },
        effects: 0,
        timeouts: false,
        idle_rounds: 0,
        quiet_rounds: 0,
        looks: false,
        round: 0,
        pending: Vec::new(),
        awaited: Vec::new(),
        profile: (index == 0).then(|| first_collector(grid)).flatten(),
        spin: None,
    };
    for rank in 0..size {
        let inside = position(rank.into(), shape.cluster);
        cluster.blocks.push(Block {
            index: std::array::from_fn(|d| at[d] * shape.cluster[d] + inside[d]),
            rank,
            shared: SharedMemory::new(shape.shared_end(grid.program)),
            barriers: std::array::from_fn(|_| NamedBarrier::default()),
            alive: shape.threads(),
            warps: Vec::new(),
            warpgroups: (0..shape.warps().div_ceil(4)).map(|_| Rendezvous::default()).collect(),
            registers: RegisterPool::new(grid.program, shape.warps()),
            exits: Vec::new(),
            mbarriers: Mbarriers::new(grid.program.source.clone()),
        });
    }
    for block in 0..size as usize {
        let mut warps = Vec::new();
        let cx = Context {
            grid,
            cluster: &mut cluster,
            block,
        };
        for warp in 0..shape.warps() {
            let first = warp * LANES as u32;
            let present = (shape.threads() - first).min(LANES as u32);
            let alive = if present == LANES as u32 {
                u32::MAX
            } else {
                (1 << present) - 1
            };
            let tid = std::array::from_fn(|l| position(u64::from(first) + l as u64, shape.block));
            warps.push(Warp::new(&cx, Identity { tid, warp }, alive));
        }
        cluster.blocks[block].warps = warps;
        if let Some(checks) = &grid.checks {
            checks.with(|state| state.begin_block(number(grid, &cluster.blocks[block])));
        }
    }
    cluster
}

/// Runs a cluster for a while; true when it has ended.
fn run_slice(grid: &Grid<'_>, cluster: &mut Cluster) -> Result<bool, LaunchError> {
    let (mut total, mut fruitless) = (0, 0);
    cluster.watch(grid);
    loop {
        cluster.watch_the_end(grid);
        let effects = cluster.effects;
        let (mut progress, mut alive, mut timed, mut quiet) = (0, false, false, true);
        cluster.looks = false;
        for block in 0..cluster.blocks.len() {
            for number in 0..cluster.blocks[block].warps.len() {
                if cluster.blocks[block].warps[number].alive == 0 {
                    continue;
                }
                let mut warp = std::mem::take(&mut cluster.blocks[block].warps[number]);
                let outcome = warp.run(&mut Context { grid, cluster, block }, QUANTUM);
                match outcome {
                    Ok(steps) => progress += steps,
                    Err(stopped) => {
                        cluster.report(grid);
                        let tid = warp.identity.as_ref().map_or([0; 3], |i| i.tid[stopped.lane]);
                        let place = Some((cluster.blocks[block].index, tid));
                        return Err(LaunchError {
                            fault: stopped.fault,
                            line: stopped.line,
                            place,
                        });
                    }
                }
                alive |= warp.alive != 0;
                timed |= warp.timed;
                quiet &= warp.alive & !warp.waiting & !warp.stalled == 0;
                if warp.alive == 0 {
                    // What a finished warp held is of no more use.
                    warp = Warp::default();
                }
                cluster.blocks[block].warps[number] = warp;
            }
        }
        total += progress;
        if !grid.spend(progress.max(1)) {
            cluster.report(grid);
            let what = format!(
                "the limit of {} warp instructions for a launch is reached; raise it, or look for a loop without an end",
                grid.limit
            );
            let mut error = stuck(grid, cluster, &what, progress > 0);
            error.fault.kind = FaultKind::InstructionLimit;
            return Err(error);
        }
        let settled = cluster.settle_round(grid, progress == 0, !alive);
        cluster.report(grid);
        settled.map_err(|late| late_fault(cluster, &late.0, &late.1))?;
        if !alive {
            cluster.judge(grid);
            if let Some(checks) = &grid.checks {
                checks.with(|state| {
                    let blocks = cluster.blocks.iter().map(|block| number(grid, block));
                    state.end_cluster(&blocks.collect::<Vec<_>>());
                });
            }
            return Ok(true);
        }
        let changed = cluster.effects != effects;
        fruitless = if changed { 0 } else { fruitless + 1 };
        cluster.idle_rounds = match (changed, cluster.timeouts) {
            (true, _) => 0,
            (false, true) => cluster.idle_rounds + 1,
            (false, false) => cluster.idle_rounds,
        };
        cluster.quiet_rounds = match changed || !quiet || cluster.looks {
            true => 0,
            false => cluster.quiet_rounds + 1,
        };
        cluster.timeouts = false;
        let deadlock = "deadlock: every thread of the block or cluster waits";
        if cluster.quiet_rounds > QUIET_ROUNDS {
            return Err(stuck(grid, cluster, deadlock, false));
        }
        if !changed && (progress == 0 || cluster.idle_rounds > 0 && timed) {
            if !timed || cluster.idle_rounds > IDLE_ROUNDS {
                return Err(stuck(grid, cluster, deadlock, false));
            }
            cluster.timeouts = true;
        } else if timed && cluster.quiet_rounds > 0 && cluster.quiet_rounds.is_multiple_of(IDLE_ROUNDS.into()) {
            // Some wait, others test: those that wait may give up as well.
            cluster.timeouts = true;
        }
        if cluster.spin.is_some() && cluster.look_for_repetition(grid, timed) {
            return Ok(false);
        }
        if total >= SLICE || fruitless >= FRUITLESS_ROUNDS {
            return Ok(false);
        }
    }
}

impl Cluster {
    /// Hands over what its blocks found; without checks it is forgotten.
    fn report(&self, grid: &Grid<'_>) {
        for block in &self.blocks {
            for mut finding in block.mbarriers.findings.take() {
                if let Some(checks) = &grid.checks {
                    finding.places.iter_mut().for_each(|p| p.block = Some(block.index));
                    checks.report(finding);
                }
            }
        }
    }
}

impl Cluster {
    /// Looks at what is left of a cluster that has ended, where checks are on.
    fn judge(&self, grid: &Grid<'_>) {
        let Some(checks) = &grid.checks else { return };
        for block in &self.blocks {
            block.registers.judge(checks, block.index);
            let transactions = |address: u64| {
                let mut bytes = [0; 8];
                block.shared.read(address, &mut bytes).ok()?;
                let barrier = Barrier::from_bits(u64::from_le_bytes(bytes)).ok()?;
                Some(barrier.transactions())
            };
            block.mbarriers.judge(transactions);
        }
        self.report(grid);
    }
}

/// The error of a copy that failed when it happened.
fn late_fault(cluster: &Cluster, fault: &Fault, pending: &Pending) -> LaunchError {
    let (block, warp, lane) = pending.owner;
    let tid = cluster.blocks[block].warps[warp].identity.as_ref().map(|i| i.tid[lane]);
    LaunchError {
        fault: fault.clone(),
        line: pending.line,
        place: tid.map(|tid| (cluster.blocks[block].index, tid)),
    }
}
