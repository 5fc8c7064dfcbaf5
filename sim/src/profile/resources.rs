//! Instructions, traffic and occupancy of a launch.
//!
//! *Warp instructions* count each PTX instruction once for each group of a warp's threads that executes it together; *lane
//! instructions* count the threads for which its guard held. A wait that is tried again counts when it succeeds, but a loop
//! around `mbarrier.test_wait` or `try_wait` counts as often as the simulator's schedule goes round it.
//!
//! *Sectors* are the 32-byte pieces of global memory that the lanes of one access touch; an access is coalesced as far as
//! they hold bytes that it asked for, each byte counted once. Caches are not simulated: what is read twice counts twice.
//!
//! *Occupancy* is that of a multiprocessor of compute capability 9.0 (CUDA C++ Programming Guide, "Compute Capabilities"): 64
//! warps, 32 blocks, 228 KiB of shared memory of which each block takes a kilobyte more than it asks for, 65,536 registers.
//! PTX does not tell registers: [`ResourceReport::set_registers`] takes what `ptxas` says.
use super::collect::{AgentKind, Collector, Count, Place, SECTOR_BYTES, SharedKind, Traffic};
use super::opcode::{Class, classify, multiply_adds};
use super::{CodeLine, Listing};
use crate::exec::LaunchShape;
use crate::isa::{LANES, SHARED_BASE};
use serde::Serialize;
use std::collections::BTreeMap;

/// What a launch used.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResourceReport {
    /// Warps of a block.
    pub warps: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of `.shared` variables of a block.
    pub static_shared_bytes: u32,
    /// Bytes of dynamic shared memory of a block.
    pub dynamic_shared_bytes: u32,
    /// Registers of a thread, where they are known.
    pub registers: Option<u32>,
    /// Blocks that a multiprocessor holds.
    pub occupancy: Occupancy,
    /// All instructions together.
    pub warp_instructions: u64,
    /// All instructions together, by thread.
    pub lane_instructions: u64,
    /// Lanes that take part in a warp instruction, on average.
    pub mean_active_lanes: f64,
    /// By kind, the most frequent first within each class.
    pub instructions: Vec<InstructionCount>,
    /// Multiply-adds of tensor cores.
    pub matrix_multiply_adds: u64,
    /// Bytes moved.
    pub traffic: Vec<Bytes>,
    /// Accesses to global memory by line, those with the most unused bytes first.
    pub global: Vec<GlobalLine>,
    /// Branches.
    pub branches: Branches,
}

/// How often a kind of instruction was executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InstructionCount {
    /// Its class.
    pub class: Class,
    /// What tells it apart from others of its class.
    pub name: String,
    /// Times that a warp executed it.
    pub warp_instructions: u64,
    /// Threads that did.
    pub lane_instructions: u64,
}

/// Bytes that went one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bytes {
    /// What moved them, and which way: `global read`, `tensor to shared`.
    pub what: String,
    /// How many.
    pub bytes: u64,
}

/// Accesses of a line to global memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GlobalLine {
    /// The instruction.
    #[serde(flatten)]
    pub code: CodeLine,
    /// Accesses of warps.
    pub accesses: u64,
    /// Bytes that they asked for; each once for each access.
    pub bytes: u64,
    /// Sectors of 32 bytes that they touched.
    pub sectors: u64,
    /// Share of those sectors' bytes that was asked for: 1 is fully coalesced.
    pub efficiency: f64,
}

/// Branches and where their lanes parted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Branches {
    /// Branches that warps executed.
    pub executed: u64,
    /// Those whose lanes went different ways.
    pub divergent: u64,
    /// Lines with such, the most frequent first.
    pub lines: Vec<DivergentLine>,
}

/// A branch whose lanes parted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DivergentLine {
    /// The instruction.
    #[serde(flatten)]
    pub code: CodeLine,
    /// Times that a warp executed it.
    pub executed: u64,
    /// Times that its lanes parted.
    pub divergent: u64,
}

/// Blocks that a multiprocessor of compute capability 9.0 holds at once, and what limits them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Occupancy {
    /// The least of the limits.
    pub blocks: u32,
    /// Warps of those blocks.
    pub warps: u32,
    /// Blocks for which there are warps.
    pub by_warps: u32,
    /// Blocks for which there is shared memory.
    pub by_shared: u32,
    /// Blocks for which there are slots.
    pub by_slots: u32,
    /// Blocks for which there are registers, where their number is known.
    pub by_registers: Option<u32>,
    /// Which limits are the least.
    pub limited_by: Vec<String>,
}

impl Occupancy {
    /// Warps that a multiprocessor holds.
    pub const MOST_WARPS: u32 = 64;
    const MOST_BLOCKS: u32 = 32;
    const SHARED_BYTES: u32 = 228 * 1024;
    const SHARED_GRANULE: u32 = 128;
    const REGISTERS: u32 = 65_536;
    /// Registers are given to a warp in such pieces,
    const REGISTER_GRANULE: u32 = 256;
    /// and a multiprocessor has as many parts, each with its share of warps.
    const PARTS: u32 = 4;

    /// For blocks of `warps` warps that ask for `shared_bytes` bytes, static and dynamic.
    pub fn new(warps: u32, shared_bytes: u32, registers: Option<u32>) -> Occupancy {
        let warps = warps.max(1);
        let shared = (shared_bytes + SHARED_BASE).next_multiple_of(Self::SHARED_GRANULE);
        let by_registers = registers.filter(|registers| *registers > 0).map(|registers| {
            let warp = (registers * LANES as u32).next_multiple_of(Self::REGISTER_GRANULE);
            Self::REGISTERS / Self::PARTS / warp * Self::PARTS / warps
        });
        let limits = [
            ("warps", Some(Self::MOST_WARPS / warps)),
            ("shared memory", Some(Self::SHARED_BYTES / shared)),
            ("block slots", Some(Self::MOST_BLOCKS)),
            ("registers", by_registers),
        ];
        let blocks = limits.iter().filter_map(|(_, blocks)| *blocks).min().unwrap_or(0);
        let limiting = limits.iter().filter(|(_, limit)| *limit == Some(blocks));
        Occupancy {
            blocks,
            warps: blocks * warps,
            by_warps: Self::MOST_WARPS / warps,
            by_shared: Self::SHARED_BYTES / shared,
            by_slots: Self::MOST_BLOCKS,
            by_registers,
            limited_by: limiting.map(|(name, _)| (*name).to_owned()).collect(),
        }
    }
}

impl ResourceReport {
    /// Adds the registers of a thread, as `ptxas` says them, to the report and its occupancy.
    pub fn set_registers(&mut self, registers: u32) {
        self.registers = Some(registers);
        let shared = self.static_shared_bytes + self.dynamic_shared_bytes;
        self.occupancy = Occupancy::new(self.warps, shared, Some(registers));
    }
}

/// The counts of PTX instructions: of the first instruction of the compact form that each became.
fn counts<'a>(
    listing: &'a Listing<'_>,
    collector: &'a Collector,
) -> impl Iterator<Item = (Place, CodeLine, Count)> + 'a {
    let functions = collector.counts.iter().enumerate();
    functions.flat_map(move |(function, counts)| {
        let code = listing.program.functions.get(function).and_then(Option::as_ref);
        let origins = code.map_or(&[][..], |code| code.origins.as_slice());
        origins.iter().filter_map(move |&(inst, _)| {
            let place = Place {
                function: function as u32,
                inst,
            };
            let count = *counts.get(inst as usize).filter(|count| count.warps > 0)?;
            Some((place, listing.at(place), count))
        })
    })
}

fn opcode(code: &CodeLine) -> &str {
    code.ptx.split_whitespace().next().unwrap_or_default()
}

/// The report of a launch.
pub(super) fn report(listing: &Listing<'_>, shape: &LaunchShape, collector: &Collector) -> ResourceReport {
    let mut kinds: BTreeMap<(Class, String), (u64, u64)> = BTreeMap::new();
    let mut branches = Branches::default();
    for (_, code, count) in counts(listing, collector) {
        let (class, name) = classify(opcode(&code));
        if matches!(opcode(&code).split('.').next(), Some("bra" | "brx")) {
            branches.executed += count.warps;
            branches.divergent += count.parted;
            if count.parted > 0 {
                branches.lines.push(DivergentLine {
                    code,
                    executed: count.warps,
                    divergent: count.parted,
                });
            }
        }
        let kind = kinds.entry((class, name)).or_default();
        kind.0 += count.warps;
        kind.1 += count.lanes;
    }
    branches
        .lines
        .sort_by_key(|line| (std::cmp::Reverse(line.divergent), line.code.ptx_line));
    let mut instructions: Vec<InstructionCount> = kinds
        .into_iter()
        .map(
            |((class, name), (warp_instructions, lane_instructions))| InstructionCount {
                class,
                name,
                warp_instructions,
                lane_instructions,
            },
        )
        .collect();
    instructions.sort_by_key(|kind| (kind.class, std::cmp::Reverse(kind.warp_instructions)));
    let warp_instructions = instructions.iter().map(|kind| kind.warp_instructions).sum();
    let lane_instructions = instructions.iter().map(|kind| kind.lane_instructions).sum();
    let products = instructions
        .iter()
        .filter(|kind| kind.class == Class::Matrix)
        .map(|kind| {
            let warps = if kind.name.starts_with("wgmma") { 4 } else { 1 };
            multiply_adds(&kind.name).unwrap_or(0) * kind.warp_instructions / warps
        });
    let matrix_multiply_adds = products.sum();
    let static_shared = listing.program.static_shared.saturating_sub(SHARED_BASE);
    let end = shape.shared_end(listing.program).saturating_sub(SHARED_BASE);
    let (traffic, global) = traffic(listing, collector);
    ResourceReport {
        warps: shape.warps(),
        threads: shape.threads(),
        static_shared_bytes: static_shared,
        dynamic_shared_bytes: shape.dynamic_shared,
        registers: None,
        occupancy: Occupancy::new(shape.warps(), end, None),
        warp_instructions,
        lane_instructions,
        mean_active_lanes: lane_instructions as f64 / warp_instructions.max(1) as f64,
        instructions,
        matrix_multiply_adds,
        traffic,
        global,
        branches,
    }
}

/// Bytes by what moved them, and the lines that access global memory.
fn traffic(listing: &Listing<'_>, collector: &Collector) -> (Vec<Bytes>, Vec<GlobalLine>) {
    let mut bytes: BTreeMap<&str, u64> = BTreeMap::new();
    let mut add = |what, count| {
        if count > 0 {
            *bytes.entry(what).or_default() += count;
        }
    };
    let mut lines = Vec::new();
    for (place, traffic) in &collector.traffic {
        let code = listing.at(*place);
        let (class, name) = classify(opcode(&code));
        if name.ends_with(".param") || name.ends_with(".const") {
            continue;
        }
        let Traffic {
            accesses,
            bytes,
            sectors,
            local_bytes,
        } = *traffic;
        let [global, local] = match class {
            Class::Store => ["global written", "local written"],
            Class::Atomic => ["global atomic", "local atomic"],
            Class::Copy => ["global read by cp.async", "local read"],
            _ => ["global read", "local read"],
        };
        add(global, bytes);
        add(local, local_bytes);
        if accesses > 0 {
            lines.push(GlobalLine {
                code,
                accesses,
                bytes,
                sectors,
                efficiency: bytes as f64 / (sectors * SECTOR_BYTES) as f64,
            });
        }
    }
    for shared in collector.shared.values() {
        let what = match shared.kind {
            SharedKind::Load | SharedKind::LoadMatrix => "shared read",
            SharedKind::Store | SharedKind::StoreMatrix => "shared written",
            SharedKind::Atomic => "shared atomic",
            SharedKind::AsyncCopy => "shared written by cp.async",
        };
        add(what, shared.lanes * shared.bytes);
        add("shared memory of other blocks", shared.remote.1 * shared.bytes);
    }
    for agent in collector.agents.values() {
        let [to, from] = match agent.kinds.first() {
            Some(AgentKind::Tensor(..)) => ["tensor copies to shared", "tensor copies from shared"],
            Some(AgentKind::Wgmma) => continue,
            _ => ["bulk copies to shared", "bulk copies from shared"],
        };
        add(to, agent.to_shared);
        add(from, agent.from_shared);
    }
    lines.sort_by_key(|line: &GlobalLine| {
        let unused = (line.sectors * SECTOR_BYTES).saturating_sub(line.bytes);
        (std::cmp::Reverse(unused), line.code.ptx_line)
    });
    let bytes = bytes.into_iter().map(|(what, bytes)| Bytes {
        what: what.to_owned(),
        bytes,
    });
    (bytes.collect(), lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_of_occupancy_limits() {
        let limited = |o: &Occupancy| (o.blocks, o.limited_by.join(", "));
        assert_eq!(limited(&Occupancy::new(1, 0, None)), (32, "block slots".into()));
        assert_eq!(limited(&Occupancy::new(8, 1024, None)), (8, "warps".into()));
        assert_eq!(
            limited(&Occupancy::new(4, 100 * 1024, None)),
            (2, "shared memory".into())
        );
        // A warp of 168 registers takes 5,376: three in each of the four parts.
        let tiles = Occupancy::new(12, 200 * 1024, Some(168));
        assert_eq!(tiles.by_registers, Some(1));
        assert_eq!(limited(&tiles), (1, "shared memory, registers".into()));
        assert_eq!(Occupancy::new(8, 0, Some(255)).by_registers, Some(1));
        assert_eq!(Occupancy::new(8, 0, Some(32)).by_registers, Some(8));
        assert_eq!(
            Occupancy::new(32, 0, Some(96)).by_registers,
            Some(0),
            "cannot be launched"
        );
    }
}
