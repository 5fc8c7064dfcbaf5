//! Bank conflicts of shared memory, by line, and the layout that would save them.
//!
//! # The model
//!
//! [`girih_core::layout::access_cost`] has it: 32 banks of 4 bytes; a warp's access is served in parts of 32 lanes (up to 4 bytes
//! a lane), 16 lanes (8 bytes) or 8 lanes (16 bytes, and each matrix of `ldmatrix` and `stmatrix`), and a part takes as many
//! wavefronts as its busiest bank has different words. Lanes that touch the same word share it. Lanes that a guard leaves out
//! take no part. Loads whose lanes come in pairs are served in fewer parts ([`girih_core::layout::load_cost`]). `cp.async` counts
//! as the store of what it writes, when it is issued, and an atomic as a store, which is a lower bound: on hardware, lanes that
//! change the same word take turns.
//!
//! Nsight Compute's `l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld` and `_op_st` count the same wavefronts, and
//! `l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld` and `_op_st` those beyond what the
//! same words would take without conflicts. `tests/hw/banks.jsonl` holds 194 accesses as an H200 counted them.
//!
//! Not counted: what tensor and bulk copies, `wgmma` and `st.async` do to shared memory, which does not go through the
//! load/store pipe; accesses to the shared memory of another block, which go over the network of the cluster; `wmma.load` and
//! `wmma.store`, whose accesses PTX does not define. Those that occur are listed as uncounted.
//!
//! # The remedy
//!
//! Lines that touched a common piece of shared memory in the first cluster touch one *buffer*. For a buffer with conflicts,
//! every [`Placement`] that its users allow is tried on every access that the first cluster made, and the one that leaves the
//! fewest wavefronts is named with what it leaves; nothing is named when none saves any. Where a tensor copy touches the
//! buffer, only swizzles that keep its rows in place are tried. Where `wgmma` or a bulk copy does, nothing is: those fix the
//! order of bytes.
use super::collect::{AgentKind, Collector, Granules, Place, Shared, SharedKind};
use super::{CodeLine, Listing};
use girih_core::layout::{AccessCost, Freedom, Placement, WarpAccess, placements, row_pitch};
use girih_core::tensor_map::Swizzle;
use serde::Serialize;

/// Bank conflicts of a launch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BankReport {
    /// All lines together.
    pub total: Cost,
    /// Lines that access shared memory, the most wasteful first.
    pub lines: Vec<BankLine>,
    /// What they access.
    pub buffers: Vec<BufferReport>,
    /// Instructions whose accesses to shared memory are not counted, in the order of the code.
    pub uncounted: Vec<Uncounted>,
}

/// Wavefronts of some accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Accesses of warps.
    pub accesses: u64,
    /// Wavefronts that they take.
    pub wavefronts: u64,
    /// Wavefronts without conflicts.
    pub ideal_wavefronts: u64,
    /// Wavefronts beyond that.
    pub wasted_wavefronts: u64,
    /// The worst conflict: 8 where eight words of one bank are asked for at once, 1 for none.
    pub worst_degree: u64,
    /// Wavefronts for each ideal one.
    pub mean_degree: f64,
}

/// What a line does to the banks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BankLine {
    /// The instruction.
    #[serde(flatten)]
    pub code: CodeLine,
    /// What kind of access it is.
    pub kind: SharedKind,
    /// Bytes of a lane.
    pub bytes: u64,
    /// What its accesses cost.
    #[serde(flatten)]
    pub cost: Cost,
    /// Accesses of which lanes went to other blocks of the cluster; those lanes are not counted.
    pub remote_accesses: u64,
    /// How the lanes of its worst access lie, where that conflicts.
    pub pattern: Option<String>,
    /// Which of the report's buffers it touches.
    pub buffer: Option<usize>,
}

/// Shared memory that some lines touch together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BufferReport {
    /// Shared address of its first byte.
    pub first_address: u64,
    /// Shared address after its last byte.
    pub end_address: u64,
    /// PTX lines that access it, in order.
    pub ptx_lines: Vec<u32>,
    /// PTX lines of copies and products that touch it too, in order.
    pub agent_ptx_lines: Vec<u32>,
    /// What the accesses of the first cluster cost.
    pub first_cluster: Cost,
    /// Whether some accesses of the first cluster were too many to keep: the remedy was tried on the others.
    pub sampled: bool,
    /// The layout that costs least, where it is another.
    pub remedy: Option<Remedy>,
    /// Why no remedy was looked for.
    pub fixed_by: Option<String>,
}

/// A layout of a buffer that wastes less.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Remedy {
    /// Such as `swizzle 128`.
    pub placement: String,
    /// Wavefronts of the first cluster's accesses under it.
    pub wavefronts: u64,
    /// Whether no conflict is left.
    pub removes_all: bool,
    /// In words, with what has to agree.
    pub message: String,
}

/// An instruction whose accesses are not counted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Uncounted {
    /// The instruction.
    #[serde(flatten)]
    pub code: CodeLine,
    /// Why.
    pub why: String,
}

impl Cost {
    fn new(accesses: u64, cost: AccessCost) -> Cost {
        Cost {
            accesses,
            wavefronts: cost.wavefronts,
            ideal_wavefronts: cost.ideal,
            wasted_wavefronts: cost.wavefronts - cost.ideal,
            worst_degree: cost.degree,
            mean_degree: cost.wavefronts as f64 / cost.ideal.max(1) as f64,
        }
    }
}

/// How the lanes of an access lie, for people.
pub fn describe(access: &WarpAccess) -> String {
    let mut starts: Vec<u64> = access.addresses.iter().flatten().copied().collect();
    starts.sort_unstable();
    starts.dedup();
    let lanes = starts.len();
    let rows = 1 + starts
        .windows(2)
        .filter(|pair| pair[1] != pair[0] + access.bytes)
        .count();
    let Some(pitch) = row_pitch([access]) else {
        return format!("{lanes} addresses side by side");
    };
    let apart = starts
        .windows(2)
        .filter(|pair| pair[1] != pair[0] + access.bytes)
        .map(|pair| pair[1] - pair[0]);
    let even = rows == 2 || lanes == rows && apart.clone().min() == apart.clone().max();
    let apart = if even || lanes != rows {
        format!("{pitch} bytes apart")
    } else {
        format!("multiples of {pitch} bytes apart")
    };
    if lanes == rows {
        format!("{rows} rows {apart}, one lane in each")
    } else {
        format!("{rows} rows {apart}, {} lanes in each", lanes.div_ceil(rows))
    }
}

/// A buffer while it is put together.
#[derive(Default)]
struct Group {
    touched: Granules,
    lines: Vec<Place>,
    agents: Vec<Place>,
}

/// Lines and agents that touch common pieces, in the order of their first line.
fn groups(collector: &Collector) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let lines = collector
        .shared
        .iter()
        .map(|(place, shared)| (*place, &shared.touched, true));
    let agents = collector
        .agents
        .iter()
        .map(|(place, agent)| (*place, &agent.touched, false));
    for (place, touched, line) in lines.chain(agents) {
        if touched.range().is_none() {
            continue;
        }
        let (met, mut rest): (Vec<Group>, Vec<Group>) = groups.into_iter().partition(|g| g.touched.meets(touched));
        let mut group = Group::default();
        for other in met {
            group.touched.union(&other.touched);
            group.lines.extend(other.lines);
            group.agents.extend(other.agents);
        }
        group.touched.union(touched);
        if line { &mut group.lines } else { &mut group.agents }.push(place);
        rest.push(group);
        groups = rest;
    }
    groups.retain(|group| !group.lines.is_empty());
    for group in &mut groups {
        group.lines.sort_unstable();
        group.agents.sort_unstable();
    }
    groups.sort_by_key(|group| group.touched.range());
    groups
}

/// The report of a launch.
pub(super) fn report(listing: &Listing<'_>, collector: &Collector) -> BankReport {
    let groups = groups(collector);
    let mut total = (0, AccessCost::default());
    let mut lines: Vec<BankLine> = Vec::new();
    for (place, shared) in &collector.shared {
        total.0 += shared.accesses;
        total.1.add(shared.cost);
        lines.push(BankLine {
            code: listing.at(*place),
            kind: shared.kind,
            bytes: shared.bytes,
            cost: Cost::new(shared.accesses, shared.cost),
            remote_accesses: shared.remote.0,
            pattern: worst(shared).map(|access| describe(&access)),
            buffer: groups.iter().position(|group| group.lines.contains(place)),
        });
    }
    lines.sort_by_key(|line| {
        let cost = &line.cost;
        (
            std::cmp::Reverse((cost.wasted_wavefronts, cost.wavefronts)),
            line.code.ptx_line,
        )
    });
    BankReport {
        total: Cost::new(total.0, total.1),
        lines,
        buffers: groups.iter().map(|group| buffer(listing, collector, group)).collect(),
        uncounted: uncounted(listing, collector),
    }
}

/// The access with the worst conflict.
fn worst(shared: &Shared) -> Option<WarpAccess> {
    let ranked = shared.warp_accesses().map(|access| (access.cost().degree, access));
    ranked
        .fold(None, |best: Option<(u64, WarpAccess)>, next| match best {
            Some(best) if best.0 >= next.0 => Some(best),
            _ => Some(next),
        })
        .filter(|(degree, _)| *degree > 1)
        .map(|(_, access)| access)
}

fn buffer(listing: &Listing<'_>, collector: &Collector, group: &Group) -> BufferReport {
    let users: Vec<&Shared> = group
        .lines
        .iter()
        .filter_map(|place| collector.shared.get(place))
        .collect();
    let accesses: Vec<WarpAccess> = users.iter().flat_map(|shared| shared.warp_accesses()).collect();
    let mut cost = AccessCost::default();
    for access in &accesses {
        let one = access.cost();
        cost.add(AccessCost {
            wavefronts: one.wavefronts * access.times,
            ideal: one.ideal * access.times,
            degree: one.degree,
        });
    }
    let (first, end) = group.touched.range().unwrap_or_default();
    let numbers = |places: &[Place]| {
        let mut lines: Vec<u32> = places.iter().map(|place| listing.at(*place).ptx_line).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    };
    let mut report = BufferReport {
        first_address: first,
        end_address: end,
        ptx_lines: numbers(&group.lines),
        agent_ptx_lines: numbers(&group.agents),
        first_cluster: Cost::new(accesses.iter().map(|access| access.times).sum(), cost),
        sampled: users.iter().any(|shared| shared.dropped > 0),
        remedy: None,
        fixed_by: None,
    };
    if cost.wavefronts == cost.ideal {
        return report;
    }
    match freedom(collector, group, &users) {
        Ok(freedom) => report.remedy = remedy(&accesses, freedom, cost, &report),
        Err(why) => report.fixed_by = Some(why),
    }
    report
}

/// Who else decides where the bytes lie, or why nobody may move them.
fn freedom(collector: &Collector, group: &Group, users: &[&Shared]) -> Result<Freedom, String> {
    let kinds: std::collections::BTreeSet<AgentKind> = group
        .agents
        .iter()
        .filter_map(|place| collector.agents.get(place))
        .flat_map(|agent| agent.kinds.iter().copied())
        .collect();
    if kinds.contains(&AgentKind::Wgmma) {
        return Err("wgmma reads it in the order that its descriptor names".to_owned());
    }
    if kinds.contains(&AgentKind::Bulk) {
        return Err("a bulk copy moves it byte after byte".to_owned());
    }
    let mut tensor = kinds.iter();
    match (tensor.next(), tensor.next()) {
        (None, _) => {
            let wasteful = users.iter().max_by_key(|shared| {
                let cost = shared.cost;
                (cost.wavefronts - cost.ideal, std::cmp::Reverse(shared.bytes))
            });
            let conflicting: Vec<WarpAccess> = wasteful
                .iter()
                .flat_map(|shared| shared.warp_accesses())
                .filter(|access| access.cost().degree > 1)
                .collect();
            Ok(Freedom::Free {
                origin: group.touched.range().unwrap_or_default().0,
                row_bytes: row_pitch(&conflicting),
            })
        }
        (Some(AgentKind::Tensor(number, row_bytes)), None) => Ok(Freedom::TensorCopies {
            now: Swizzle::ALL[usize::from(*number)],
            row_bytes: *row_bytes,
        }),
        _ => Err("tensor copies of different swizzles or row lengths touch it".to_owned()),
    }
}

/// The best placement, where it saves anything.
fn remedy(accesses: &[WarpAccess], freedom: Freedom, now: AccessCost, buffer: &BufferReport) -> Option<Remedy> {
    let (placement, wavefronts) = *placements(accesses, freedom).first()?;
    if wavefronts >= now.wavefronts {
        return None;
    }
    let wasted = now.wavefronts - now.ideal;
    let left = wavefronts.saturating_sub(now.ideal);
    let lines = |lines: &[u32]| lines.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let mut message = if left == 0 {
        format!("{placement} removes it")
    } else {
        format!("{placement} leaves {left} of {wasted} wasted wavefronts")
    };
    message += &match (freedom, placement) {
        (Freedom::TensorCopies { .. }, _) => format!(
            "; in the tensor map of PTX lines {} and in the addresses of lines {}",
            lines(&buffer.agent_ptx_lines),
            lines(&buffer.ptx_lines)
        ),
        (_, Placement::Swizzle { to, .. }) => format!(
            "; in the addresses of PTX lines {}, the buffer at a multiple of {} bytes",
            lines(&buffer.ptx_lines),
            to.period_bytes()
        ),
        _ => format!("; in the addresses of PTX lines {}", lines(&buffer.ptx_lines)),
    };
    Some(Remedy {
        placement: placement.to_string(),
        wavefronts,
        removes_all: left == 0,
        message,
    })
}

fn uncounted(listing: &Listing<'_>, collector: &Collector) -> Vec<Uncounted> {
    let agents = collector.agents.iter().filter_map(|(place, agent)| {
        let kind = agent.kinds.first()?;
        let why = match kind {
            AgentKind::Tensor(..) => "a tensor copy does not go through the load/store pipe",
            AgentKind::Bulk => "a bulk copy does not go through the load/store pipe",
            AgentKind::Wgmma => "wgmma reads shared memory by itself",
        };
        Some((*place, why))
    });
    let remote = collector.shared.iter().filter(|(_, shared)| shared.remote.0 > 0);
    let remote = remote.map(|(place, _)| (*place, "lanes go to the shared memory of another block"));
    let wmma = collector
        .wmma
        .iter()
        .map(|place| (*place, "PTX does not define which lane accesses what"));
    let mut all: Vec<(Place, &str)> = agents.chain(remote).chain(wmma).collect();
    all.sort_unstable();
    all.into_iter()
        .map(|(place, why)| Uncounted {
            code: listing.at(place),
            why: why.to_owned(),
        })
        .collect()
}
