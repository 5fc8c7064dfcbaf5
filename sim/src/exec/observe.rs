//! What instructions cost, told to the cluster's [`Collector`] where there is one; see [`crate::profile`].
//!
//! All that is here only reads: a launch does the same with it as without.
use super::Context;
use super::asynchronous::Copy;
use super::atomic;
use super::memory::resolve;
use super::warp::{Warp, lanes};
use crate::collective::{Collective, Kind};
use crate::isa::{Address, LANES, Op, RANK_SHIFT, Space, W64};
use crate::profile::{AgentKind, Collector, Place, SharedKind};
use crate::transfer::Transfer;
use girih_core::tensor_map::TensorMap;

/// Bytes of one row of a matrix, and rows of one.
const ROW_BYTES: u64 = 16;
const ROWS: usize = 8;

impl Warp {
    /// The instruction being executed.
    fn observed_place(&self) -> Place {
        Place {
            function: self.frame().function,
            inst: self.at,
        }
    }

    /// Counts the instruction being executed, before it is.
    pub(super) fn observe(&self, cx: &mut Context<'_, '_>, op: &Op, active: u32) {
        let place = self.observed_place();
        let Some(mut profile) = cx.cluster.profile.take() else {
            return;
        };
        profile.count(place, active.count_ones());
        if active != 0 {
            self.observe_op(cx, &mut profile, place, op, active);
        }
        cx.cluster.profile = Some(profile);
    }

    /// Takes the count back of an instruction that waits.
    pub(super) fn unobserve(&self, cx: &mut Context<'_, '_>, active: u32) {
        let place = self.observed_place();
        if let Some(profile) = &mut cx.cluster.profile {
            profile.uncount(place, active.count_ones());
        }
    }

    fn observe_op(&self, cx: &Context<'_, '_>, profile: &mut Collector, place: Place, op: &Op, active: u32) {
        let access = |profile: &mut Collector, kind, space, address: &Address, bytes| {
            let addresses = self.addresses(cx, address, space);
            record(cx, profile, (place, kind, space), bytes, &addresses, active);
        };
        match op {
            Op::Load(a) => {
                let bytes = u64::from(a.bytes) * a.values.len() as u64;
                access(profile, SharedKind::Load, a.space, &a.address, bytes);
            }
            Op::Store(a) => {
                let bytes = u64::from(a.bytes) * a.values.len() as u64;
                access(profile, SharedKind::Store, a.space, &a.address, bytes);
            }
            Op::Atomic(a) => {
                let bytes = (atomic::bytes(a.ty) * a.operands.len()) as u64;
                access(profile, SharedKind::Atomic, a.space, &a.address, bytes);
            }
            Op::Transfer(transfer) => {
                if let Transfer::Copy {
                    dst,
                    src,
                    src_space,
                    bytes,
                    ..
                } = &**transfer
                {
                    let bytes = u64::from(*bytes);
                    access(profile, SharedKind::AsyncCopy, Space::Shared, dst, bytes);
                    access(profile, SharedKind::Load, *src_space, src, bytes);
                }
            }
            Op::Collective(collective) => self.observe_collective(cx, profile, place, collective, active),
            Op::Branch(_) if active != self.mask => profile.part(place),
            Op::BranchIndexed(index, _) => {
                let mut targets = lanes(active).map(|l| self.read(cx.grid.program, l, *index));
                let first = targets.next();
                if active != self.mask || targets.any(|target| Some(target) != first) {
                    profile.part(place);
                }
            }
            _ => {}
        }
    }

    fn observe_collective(
        &self,
        cx: &Context<'_, '_>,
        profile: &mut Collector,
        place: Place,
        collective: &Collective,
        active: u32,
    ) {
        let (Kind::WmmaLoad { space, address, .. } | Kind::WmmaStore { space, address, .. }) = &collective.kind else {
            return;
        };
        let first = active.trailing_zeros() as usize;
        if resolve(*space, self.address(cx, address, first)).0 == Space::Shared {
            profile.wmma.insert(place);
        }
    }

    /// Counts `ldmatrix` or `stmatrix` of some matrices, whose rows the lanes give in shared memory.
    pub(super) fn observe_matrices(&self, cx: &mut Context<'_, '_>, kind: SharedKind, matrices: usize, rows: &W64) {
        let place = self.observed_place();
        let Some(mut profile) = cx.cluster.profile.take() else {
            return;
        };
        let given = matrices * ROWS;
        let active = if given < LANES { (1 << given) - 1 } else { u32::MAX };
        record(cx, &mut profile, (place, kind, Space::Shared), ROW_BYTES, rows, active);
        cx.cluster.profile = Some(profile);
    }

    /// Counts a copy that lane `l` issues, but for `cp.async`, which the lanes make together.
    pub(super) fn observe_copy(&self, cx: &mut Context<'_, '_>, copy: &Copy, l: usize) {
        let (function, inst) = self.place(l);
        let Some(profile) = &mut cx.cluster.profile else {
            return;
        };
        let Some(footprint) = footprint(copy) else {
            return;
        };
        let first = profile.first;
        let agent = profile.agent(Place { function, inst });
        agent.kinds.insert(footprint.kind);
        agent.to_shared = agent.to_shared.saturating_add(footprint.to_shared);
        agent.from_shared = agent.from_shared.saturating_add(footprint.from_shared);
        for (address, bytes) in footprint.touched.into_iter().filter(|_| first) {
            agent.touched.add(offset(address), bytes);
        }
    }

    /// Notes what a warpgroup's product reads of shared memory.
    pub(super) fn observe_product(&self, cx: &mut Context<'_, '_>, pieces: &[(u64, usize)]) {
        let place = self.observed_place();
        if let Some(profile) = &mut cx.cluster.profile {
            let first = profile.first;
            let agent = profile.agent(place);
            agent.kinds.insert(AgentKind::Wgmma);
            for (address, bytes) in pieces.iter().filter(|_| first) {
                agent.touched.add(offset(*address), *bytes as u64);
            }
        }
    }
}

/// What a copy does to shared memory.
struct Footprint {
    kind: AgentKind,
    to_shared: u64,
    from_shared: u64,
    /// Addresses and bytes.
    touched: Vec<(u64, u64)>,
}

fn footprint(copy: &Copy) -> Option<Footprint> {
    let bulk = |to: &[u64], from: &[u64], bytes: u64| Footprint {
        kind: AgentKind::Bulk,
        to_shared: bytes.saturating_mul(to.len() as u64),
        from_shared: bytes.saturating_mul(from.len() as u64),
        touched: to.iter().chain(from).map(|address| (*address, bytes)).collect(),
    };
    let tensor = |map: &TensorMap, to: &[u64], from: &[u64]| Footprint {
        kind: AgentKind::tensor(map.swizzle, map.row_pitch_bytes()),
        to_shared: to.len() as u64 * map.transaction_bytes(),
        from_shared: from.len() as u64 * map.transaction_bytes(),
        touched: to.iter().chain(from).map(|a| (*a, map.image_bytes())).collect(),
    };
    let data = |targets: &[(u64, u64)]| targets.iter().map(|(data, _)| *data).collect::<Vec<_>>();
    Some(match copy {
        Copy::Small { .. } => return None,
        Copy::Load { bytes, targets, .. } => bulk(&data(targets), &[], *bytes),
        Copy::Store { src, bytes, .. } => bulk(&[], &[*src], *bytes),
        Copy::Send { dst, src, bytes, .. } => bulk(&[*dst], &[*src], *bytes),
        Copy::Registers { dst, data, .. } => bulk(&[*dst], &[], data.len() as u64),
        Copy::Update { ty, dst, .. } => bulk(&[*dst], &[], atomic::bytes(*ty) as u64),
        Copy::Reduce {
            dst,
            src,
            bytes,
            barrier,
            ..
        } => bulk(&barrier.map_or(Vec::new(), |_| vec![*dst]), &[*src], *bytes),
        Copy::TensorLoad { map, targets, .. } => tensor(map, &data(targets), &[]),
        Copy::TensorStore { map, src, .. } | Copy::TensorReduce { map, src, .. } => tensor(map, &[], &[*src]),
    })
}

/// A shared address without its block.
fn offset(address: u64) -> u64 {
    address & ((1 << RANK_SHIFT) - 1)
}

/// Counts an access of `bytes` bytes a lane, each lane in the space that its address is in.
fn record(
    cx: &Context<'_, '_>,
    profile: &mut Collector,
    (place, kind, space): (Place, SharedKind, Space),
    bytes: u64,
    addresses: &W64,
    active: u32,
) {
    let own = u64::from(cx.cluster.blocks[cx.block].rank) + 1;
    let mut shared = [None; LANES];
    let mut global = [0; LANES];
    let (mut here, mut remote, mut lanes_global, mut local) = (false, 0, 0, 0);
    for l in lanes(active) {
        match resolve(space, addresses[l]) {
            (Space::Shared, address) => match address >> RANK_SHIFT {
                block if block == 0 || block == own => {
                    shared[l] = Some(offset(address));
                    here = true;
                }
                _ => remote += 1,
            },
            (Space::Local, _) => local += 1,
            (_, address) => {
                global[lanes_global] = address;
                lanes_global += 1;
            }
        }
    }
    if here || remote > 0 {
        profile.shared_access(place, kind, bytes, &shared, remote);
    }
    profile.global_access(place, bytes, &global[..lanes_global]);
    if local > 0 {
        profile.local_access(place, bytes * local);
    }
}
