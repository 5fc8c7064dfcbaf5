//! A cluster that gets nowhere, in words: which threads wait for what, how far that is, who is missing, and what may be wrong.
//!
//! ```text
//! deadlock: every thread of the block or cluster waits
//!   128 threads (warps 4-7) wait at line 85 (gemm.mlir:118:7) for parity 0 of the mbarrier at shared address 0x8400:
//!     1 of 1 arrivals have come (by line 40), 16384 of 32768 bytes (by line 44)
//!     expect 16384 bytes, or copy the 16384 that are missing
//! ```
//!
//! Threads that wait at one instruction for one thing are a group. The group whose state shows the mistake comes first; the
//! launch's error is at its line.
mod mbarrier;
mod spin;

use super::launch::LaunchError;
use super::warp::{Warp, lanes};
use super::{Cluster, Grid};
use crate::check::progress::counted;
use crate::check::{Finding, Kind, Place};
use crate::collective::Kind as CollectiveKind;
use crate::isa::{LANES, Op};
use crate::memory::{Fault, FaultKind};
use std::collections::BTreeMap;

/// Groups that are described; more are counted.
const MOST_GROUPS: usize = 16;

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    /// A barrier of its block.
    Barrier { rank: usize, id: u64, aligned: bool },
    /// The cluster's barrier.
    Cluster,
    /// An mbarrier: shared address with its block named, and the parity where it waits by parity.
    Mbarrier { address: u64, parity: Option<bool> },
    /// Other lanes of its warp.
    Lanes { rank: usize, warp: usize, absent: u32 },
    /// The other warps of its warpgroup.
    Warpgroup { rank: usize, first_warp: usize },
    /// Registers of the block's pool.
    Registers { rank: usize, wanted: u32 },
    /// Memory to change, which it reads in a loop.
    Spins,
    /// Nothing.
    Runs,
}

/// Lanes by rank of their block and warp.
type Threads = BTreeMap<(usize, usize), u32>;

/// What is said of a group.
struct Told {
    /// After "wait at line 3".
    text: String,
    /// What may be wrong, in order of certainty.
    remedies: Vec<String>,
    /// Whether the state shows the mistake: 0 does, 2 does not.
    doubt: u8,
    /// The mistake as a finding of its own: kind, message, and lines that take part beside the waits.
    mistake: Option<(Kind, String, Vec<Place>)>,
}

impl Told {
    /// A group whose state shows the mistake.
    fn sure(text: String, remedy: &str, mistake: (Kind, String, Vec<Place>)) -> Told {
        Told {
            text,
            remedies: vec![remedy.to_owned()],
            doubt: 0,
            mistake: Some(mistake),
        }
    }
}

/// The error of a cluster that gets nowhere; `running` threads may only have run out of instructions. Where checks are on,
/// it is a finding with a place for each group.
pub(super) fn stuck(grid: &Grid<'_>, cluster: &Cluster, what: &str, running: bool) -> LaunchError {
    let view = View::new(grid, cluster);
    let mut groups: Vec<(&(u32, Reason), &Threads, Told)> = view
        .groups
        .iter()
        .map(|(key, threads)| (key, threads, view.tell(key.1, threads)))
        .collect();
    if groups.iter().any(|(key, ..)| key.1 == Reason::Spins) {
        // Whoever waits does so for those that spin.
        let waits = groups.iter_mut().filter(|(key, ..)| key.1 != Reason::Spins);
        waits.for_each(|(_, _, told)| told.doubt += 1);
    }
    groups.sort_by_key(|(key, _, told)| (told.doubt, key.1 == Reason::Runs, key.0));
    // Where the state shows a mistake, the others wait because of it.
    let least = groups.first().map_or(0, |(_, _, told)| told.doubt);
    let doubtful = groups.iter_mut().filter(|(_, _, told)| told.doubt > least);
    doubtful.for_each(|(_, _, told)| told.remedies.clear());
    let mut detail = what.to_owned();
    let mut places = Vec::new();
    for ((line, reason), threads, told) in groups.iter().take(MOST_GROUPS) {
        let one = count(threads) == 1;
        let verb = match (*reason, running, one) {
            (Reason::Runs, true, true) => "is",
            (Reason::Runs, true, false) => "are",
            (Reason::Spins, _, true) => "spins forever",
            (Reason::Spins, _, false) => "spin forever",
            (_, _, true) => "waits",
            (_, _, false) => "wait",
        };
        let who = view.who(threads);
        detail += &format!("\n    {who} {verb} at {}{}", grid.program.line(*line), told.text);
        for remedy in &told.remedies {
            detail += &format!("\n      {remedy}");
        }
        let (block, thread) = view.first(threads);
        places.push(Place {
            what: format!("{who} {verb}{}", told.text.replace("\n      ", " ")),
            ptx_line: *line,
            source: None,
            block: Some(block),
            thread,
        });
    }
    if groups.len() > MOST_GROUPS {
        detail += &format!("\n    and {} groups more", groups.len() - MOST_GROUPS);
    }
    let root = groups.first();
    if let (Some(checks), Some((_, _, told)), Some(first)) = (&grid.checks, root, places.first()) {
        let remedy = match told.remedies.is_empty() {
            false => told.remedies.join("; or "),
            true => "let every thread that is waited for arrive, and raise the instruction limit only if the work is so long"
                .to_owned(),
        };
        if let Some((kind, message, others)) = &told.mistake {
            let places = match others.is_empty() {
                true => places.clone(),
                false => places.iter().take(1).chain(others).cloned().collect(),
            };
            checks.report(Finding::new(*kind, message.clone(), remedy.clone(), places));
        }
        let head = what.split_once("lock: ").map_or(what, |(_, rest)| rest);
        let message = format!("{head}: {}", first.what);
        checks.report(Finding::new(Kind::Deadlock, message, remedy, places.clone()));
    }
    LaunchError {
        fault: Fault::new(FaultKind::LaunchTimeout, detail),
        line: root.map_or(0, |((line, _), ..)| *line),
        place: root.and_then(|(_, threads, _)| {
            let (block, thread) = view.first(threads);
            Some((block, thread?))
        }),
    }
}

fn count(threads: &Threads) -> u32 {
    threads.values().map(|lanes| lanes.count_ones()).sum()
}

/// Numbers as ranges: `0-3, 7`.
fn ranges(numbers: impl IntoIterator<Item = usize>) -> String {
    let mut out: Vec<(usize, usize)> = Vec::new();
    for n in numbers {
        match out.last_mut() {
            Some((_, end)) if *end + 1 == n => *end = n,
            _ => out.push((n, n)),
        }
    }
    let shown = out
        .iter()
        .map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") });
    shown.collect::<Vec<_>>().join(", ")
}

/// Lanes in words: `lane 3`, `lanes 0-15`.
pub(super) fn lane_list(mask: u32) -> String {
    let word = if mask.count_ones() == 1 { "lane" } else { "lanes" };
    format!("{word} {}", ranges(lanes(mask)))
}

/// The threads of a cluster by what they wait for.
struct View<'a> {
    grid: &'a Grid<'a>,
    cluster: &'a Cluster,
    groups: BTreeMap<(u32, Reason), Threads>,
}

impl<'a> View<'a> {
    fn new(grid: &'a Grid<'a>, cluster: &'a Cluster) -> Self {
        let mut groups: BTreeMap<(u32, Reason), Threads> = BTreeMap::new();
        for (rank, block) in cluster.blocks.iter().enumerate() {
            for (number, warp) in block.warps.iter().enumerate() {
                for l in lanes(warp.alive) {
                    let key = reason(grid, cluster, rank, warp, l);
                    *groups.entry(key).or_default().entry((rank, number)).or_default() |= 1 << l;
                }
            }
        }
        View { grid, cluster, groups }
    }

    fn line(&self, line: u32) -> String {
        self.grid.program.line(line)
    }

    /// Block and thread of the first of them.
    fn first(&self, threads: &Threads) -> ([u32; 3], Option<[u32; 3]>) {
        let Some(((rank, warp), mask)) = threads.first_key_value() else {
            return ([0; 3], None);
        };
        let block = &self.cluster.blocks[*rank];
        let identity = block.warps[*warp].identity.as_ref();
        (
            block.index,
            identity.map(|i| i.tid[mask.trailing_zeros() as usize % LANES]),
        )
    }

    /// Threads in words: `thread [3, 0, 0]`, `160 threads (warps 0-3, lanes 0-31 of warp 7)`.
    fn who(&self, threads: &Threads) -> String {
        let many = self.cluster.blocks.len() > 1;
        if let (1, (block, Some(tid))) = (count(threads), self.first(threads)) {
            return match many {
                true => format!("thread {tid:?} of block {block:?}"),
                false => format!("thread {tid:?}"),
            };
        }
        let mut parts = Vec::new();
        for rank in 0..self.cluster.blocks.len() {
            let own = || threads.iter().filter(|((r, _), _)| *r == rank);
            let whole = |warp: usize, mask: u32| self.cluster.blocks[rank].warps[warp].alive == mask;
            let full: Vec<usize> = own()
                .filter(|((_, w), m)| whole(*w, **m))
                .map(|((_, w), _)| *w)
                .collect();
            let mut words = Vec::new();
            if !full.is_empty() {
                let word = if full.len() == 1 { "warp" } else { "warps" };
                words.push(format!("{word} {}", ranges(full)));
            }
            let mut alike: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
            for ((_, warp), mask) in own().filter(|((_, w), m)| !whole(*w, **m)) {
                alike.entry(*mask).or_default().push(*warp);
            }
            for (mask, warps) in alike {
                let word = if warps.len() == 1 { "warp" } else { "warps" };
                words.push(format!("{} of {word} {}", lane_list(mask), ranges(warps)));
            }
            match words.is_empty() {
                true => {}
                false if many => parts.push(format!(
                    "block {:?}: {}",
                    self.cluster.blocks[rank].index,
                    words.join(", ")
                )),
                false => parts.push(words.join(", ")),
            }
        }
        format!("{} threads ({})", count(threads), parts.join("; "))
    }

    /// Where the living threads are that `chosen` names: `32 threads at line 7, thread [0, 0, 0] at line 9`.
    fn whereabouts(&self, chosen: impl Fn(usize, usize, usize) -> bool) -> Option<String> {
        let mut by_line: BTreeMap<u32, Threads> = BTreeMap::new();
        for ((line, _), threads) in &self.groups {
            for ((rank, warp), mask) in threads {
                let there = lanes(*mask)
                    .filter(|l| chosen(*rank, *warp, *l))
                    .fold(0, |m, l| m | 1 << l);
                if there != 0 {
                    *by_line.entry(*line).or_default().entry((*rank, *warp)).or_default() |= there;
                }
            }
        }
        let shown = by_line
            .iter()
            .map(|(line, threads)| format!("{} at {}", self.who(threads), self.line(*line)));
        let shown: Vec<String> = shown.collect();
        (!shown.is_empty()).then(|| shown.join(", "))
    }

    /// Threads of a block that have exited, with their lines.
    fn exits(&self, rank: usize) -> Option<String> {
        let mut by_line: BTreeMap<u32, u32> = BTreeMap::new();
        for (_, line, gone) in &self.cluster.blocks[rank].exits {
            *by_line.entry(*line).or_default() += gone.count_ones();
        }
        let shown = by_line
            .iter()
            .map(|(line, n)| format!("{} of the block exited at {}", counted(*n, "thread"), self.line(*line)));
        let shown: Vec<String> = shown.collect();
        (!shown.is_empty()).then(|| shown.join(", "))
    }

    fn tell(&self, reason: Reason, threads: &Threads) -> Told {
        match reason {
            Reason::Barrier { rank, id, aligned } => self.tell_barrier(rank, id, aligned, threads),
            Reason::Cluster => {
                let barrier = &self.cluster.barrier;
                let absent = self.whereabouts(|r, w, l| {
                    let warp = &self.cluster.blocks[r].warps[w];
                    warp.at_cluster >> l & 1 == 0 || warp.cluster_generation[l] != barrier.generation
                });
                let mut text = format!(
                    " for the barrier of the cluster: {} of {} threads have arrived",
                    barrier.arrived, barrier.alive
                );
                text += &absent.map_or(String::new(), |a| format!("\n      missing: {a}"));
                Told {
                    text,
                    remedies: vec![
                        "let every thread of every block of the cluster execute barrier.cluster.arrive".to_owned(),
                    ],
                    doubt: 1,
                    mistake: None,
                }
            }
            Reason::Mbarrier { address, parity } => self.tell_mbarrier(address, parity, threads),
            Reason::Lanes { rank, warp, absent } => {
                let there = self.whereabouts(|r, w, l| (r, w) == (rank, warp) && absent >> l & 1 != 0);
                let there = there.unwrap_or_else(|| "they are nowhere".to_owned());
                let text = format!(" for {} of the warp: {there}", lane_list(absent));
                let mistake = format!(
                    "an instruction needs lanes of warp {warp} that do not come, {}",
                    lane_list(absent)
                );
                let remedy = "let all lanes that the member mask names, or all of the warp where there is none, execute the \
                              instruction together";
                Told::sure(text, remedy, (Kind::BarrierDivergence, mistake, Vec::new()))
            }
            Reason::Warpgroup { rank, first_warp } => {
                let own = |r: usize, w: usize| r == rank && (first_warp..first_warp + 4).contains(&w);
                let there =
                    self.whereabouts(|r, w, l| own(r, w) && threads.get(&(r, w)).is_none_or(|mask| mask >> l & 1 == 0));
                let there = there.or_else(|| self.exits(rank));
                let text = format!(
                    " for the other warps of its warpgroup, {first_warp} to {}: {}",
                    first_warp + 3,
                    there.unwrap_or_else(|| "they are nowhere".to_owned())
                );
                let mistake = format!(
                    "wgmma needs all four warps of its warpgroup, {first_warp} to {}, found {}",
                    first_warp + 3,
                    self.who(threads)
                );
                let remedy = "let all four warps of the warpgroup execute the same wgmma";
                Told::sure(text, remedy, (Kind::BarrierDivergence, mistake, Vec::new()))
            }
            Reason::Registers { rank, wanted } => self.tell_registers(rank, wanted),
            Reason::Spins => self.tell_spin(threads),
            Reason::Runs => self.tell_running(threads),
        }
    }

    fn tell_barrier(&self, rank: usize, id: u64, aligned: bool, threads: &Threads) -> Told {
        let block = &self.cluster.blocks[rank];
        let barrier = &block.barriers[id as usize % block.barriers.len()];
        let expected = barrier.expected.unwrap_or(block.alive);
        let came = |w: usize, l: usize| barrier.arrivals.iter().any(|a| a.warp == w && a.lanes >> l & 1 != 0);
        let mut text = format!(
            " for barrier {id}: {} of {expected} threads have arrived",
            barrier.arrived
        );
        let missing = self.whereabouts(|r, w, l| r == rank && !came(w, l));
        text += &missing.map_or(String::new(), |m| format!("\n      missing: {m}"));
        let exits = self.exits(rank).filter(|_| barrier.expected.is_some());
        text += &exits.as_ref().map_or(String::new(), |e| format!("\n      {e}"));
        let parted = threads
            .iter()
            .find(|((_, w), mask)| aligned && block.warps[*w].alive != **mask);
        let lack = expected - barrier.arrived.min(expected);
        let mut remedies = Vec::new();
        let mut mistake = None;
        if let Some(((_, warp), mask)) = parted {
            let message = format!(
                "barrier {id} needs all lanes of warp {warp} at one instruction, found {} alone",
                lane_list(*mask)
            );
            mistake = Some((Kind::BarrierDivergence, message, Vec::new()));
            remedies.push(format!(
                "the barrier needs all lanes of warp {warp} at one instruction, {} alone are there: move it out of the \
                 branch that parts them",
                lane_list(*mask)
            ));
        } else if exits.is_some() {
            remedies.push(format!(
                "let {} more arrive before they exit, or wait for {} only",
                counted(lack, "thread"),
                barrier.arrived
            ));
        } else {
            remedies.push(format!(
                "let {} more arrive at barrier {id}, or wait for {} only",
                counted(lack, "thread"),
                barrier.arrived
            ));
        }
        Told {
            text,
            remedies,
            doubt: u8::from(parted.is_none() && exits.is_none()),
            mistake,
        }
    }

    fn tell_registers(&self, rank: usize, wanted: u32) -> Told {
        let pool = &self.cluster.blocks[rank].registers;
        Told {
            text: format!(
                " for {wanted} registers a thread: a warp needs {} more, the pool has {} of the block's {}",
                pool.need(wanted),
                pool.free,
                pool.total
            ),
            remedies: vec![
                "let other warps give registers back with setmaxnreg.dec first, or ask for fewer: all warps together have \
                 what the launch gave them"
                    .to_owned(),
            ],
            doubt: 0,
            mistake: None,
        }
    }
}

/// Line that a lane is at, and what it waits for there.
fn reason(grid: &Grid<'_>, cluster: &Cluster, rank: usize, warp: &Warp, l: usize) -> (u32, Reason) {
    let program = grid.program;
    let line = warp.line(program, l);
    let (function, pc) = warp.place(l);
    let code = program.functions.get(function as usize).and_then(Option::as_ref);
    let op = code.and_then(|c| c.insts.get(pc as usize)).map(|i| &i.op);
    let number = warp.number();
    let bit = |mask: u32| mask >> l & 1 != 0;
    if let Some(poll) = warp
        .polls
        .get(l)
        .filter(|p| p.address != 0 && p.round + 2 >= cluster.round)
    {
        let reason = Reason::Mbarrier {
            address: poll.address,
            parity: poll.parity,
        };
        return (poll.line, reason);
    }
    let reason = match op {
        Some(Op::Barrier(barrier)) if bit(warp.at_barrier) => Reason::Barrier {
            rank,
            id: warp.read(program, l, barrier.id),
            aligned: barrier.aligned,
        },
        Some(Op::ClusterWait(_)) if bit(warp.at_cluster) => Reason::Cluster,
        Some(Op::Collective(collective)) if bit(warp.waiting) => {
            let members = collective.members.map_or(u32::MAX, |m| warp.read(program, l, m) as u32);
            let place = warp.place(l);
            let here = lanes(warp.waiting)
                .filter(|o| warp.place(*o) == place)
                .fold(0, |m, o| m | 1 << o);
            Reason::Lanes {
                rank,
                warp: number,
                absent: members & warp.alive & !here,
            }
        }
        Some(Op::Collective(collective)) => match collective.kind {
            CollectiveKind::Wgmma(_) => Reason::Warpgroup {
                rank,
                first_warp: number / 4 * 4,
            },
            CollectiveKind::Registers { count, .. } => Reason::Registers { rank, wanted: count },
            _ => Reason::Runs,
        },
        _ => Reason::Runs,
    };
    let Some(spin) = cluster.spin.as_ref().filter(|spin| spin.is_proven()) else {
        return (line, reason);
    };
    // What comes by a load time and again goes round, though it may be at a barrier of its loop.
    match (spin.looks(rank, number, l).next(), reason) {
        (Some(look), _) => (look.line, Reason::Spins),
        (None, Reason::Runs) => (line, Reason::Spins),
        (None, reason) => (line, reason),
    }
}
