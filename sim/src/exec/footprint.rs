//! What a copy touches, found by letting it happen on memories that only take notes.
use super::Context;
use super::asynchronous::{Completion, Copy};
use super::checked::IN_BLOCK;
use crate::check::{Actor, At, Finish, Piece, State};
use crate::isa::Space;
use crate::memory::{Bytes, Fault};
use crate::tma::geometry::store_walk;
use crate::tma::{self, ReduceOp, StoreMode};
use girih_core::tensor_map::{Interleave, TensorMap};
use std::cell::RefCell;

/// A memory that notes what is touched, and holds nothing.
#[derive(Default)]
pub(super) struct Log(RefCell<Vec<(u64, u64, bool)>>);

impl Bytes for Log {
    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), Fault> {
        self.0.borrow_mut().push((addr, out.len() as u64, false));
        out.fill(0);
        Ok(())
    }
    fn write(&self, addr: u64, data: &[u8]) -> Result<(), Fault> {
        self.0.borrow_mut().push((addr, data.len() as u64, true));
        Ok(())
    }
    fn update(&self, addr: u64, size: usize, _: &mut dyn FnMut(u64) -> u64) -> Result<u64, Fault> {
        self.0.borrow_mut().push((addr, size as u64, true));
        Ok(0)
    }
}

impl Log {
    /// Address, bytes, and whether they were written, of each access.
    pub fn into_accesses(self) -> Vec<(u64, u64, bool)> {
        self.0.into_inner()
    }
}

/// What a copy touches.
pub(super) struct Footprint {
    pub actor: Actor,
    pub reduces: bool,
    pub pieces: Vec<Piece>,
    /// The mbarriers where it completes.
    pub signals: Vec<(u32, u64)>,
    /// Bytes that a tensor store writes past the end of a row.
    pub excess: Option<u64>,
}

impl Footprint {
    /// What a copy will touch, whenever it happens.
    pub fn of(cx: &Context<'_, '_>, state: &State, completion: Completion, copy: &Copy) -> Self {
        let mut footprint = Footprint {
            actor: match copy {
                Copy::Small { .. } | Copy::Registers { .. } | Copy::Update { .. } => Actor::Copy,
                Copy::TensorLoad { .. } | Copy::TensorStore { .. } | Copy::TensorReduce { .. } => Actor::Tensor,
                _ => Actor::Bulk,
            },
            reduces: matches!(
                copy,
                Copy::Reduce { .. } | Copy::Update { .. } | Copy::TensorReduce { .. }
            ),
            pieces: Vec::new(),
            signals: copy.barriers().filter_map(|b| cx.object(b)).collect(),
            excess: None,
        };
        let first = footprint.signals.first().map(|key| Finish::Object(*key));
        let (whole, source) = match completion {
            Completion::Group => (Finish::Small, Finish::Small),
            Completion::BulkGroup => (Finish::Bulk, Finish::BulkSource),
            Completion::Barrier => match first {
                Some(finish) => (finish, finish),
                None => return footprint,
            },
        };
        let shared = |address: u64| cx.place(state, Space::Shared, address);
        let mut add = |at: Option<At>, bytes: u64, writes: bool, finish: Finish| {
            footprint.pieces.extend(at.map(|at| Piece {
                finish,
                writes,
                at,
                bytes,
            }));
        };
        match copy {
            Copy::Small {
                dst,
                src,
                space,
                bytes,
                total,
            } => {
                if *bytes > 0 {
                    add(cx.place(state, *space, *src), *bytes as u64, false, source);
                }
                add(shared(*dst), *total as u64, true, whole);
            }
            Copy::Load { src, bytes, targets } => {
                add(state.global(*src), *bytes, false, source);
                for (dst, barrier) in targets {
                    let finish = cx.object(*barrier).map_or(whole, Finish::Object);
                    add(shared(*dst), *bytes, true, finish);
                }
            }
            Copy::Store { dst, src, bytes, mask } => {
                add(shared(*src), *bytes, false, source);
                match mask {
                    None => add(state.global(*dst), *bytes, true, whole),
                    Some(mask) => (0..*bytes)
                        .filter(|i| mask >> (i % 16) & 1 != 0)
                        .for_each(|i| add(state.global(dst + i), 1, true, whole)),
                }
            }
            Copy::Send { dst, src, bytes, .. } => {
                add(shared(*src), *bytes, false, source);
                add(shared(*dst), *bytes, true, whole);
            }
            Copy::Reduce {
                dst,
                src,
                bytes,
                barrier,
                ..
            } => {
                add(shared(*src), *bytes, false, source);
                let at = if barrier.is_some() {
                    shared(*dst)
                } else {
                    state.global(*dst)
                };
                add(at, *bytes, true, whole);
            }
            Copy::Registers { dst, data, .. } => add(shared(*dst), data.len() as u64, true, whole),
            Copy::Update { dst, ty, .. } => add(shared(*dst), super::atomic::bytes(*ty) as u64, true, whole),
            Copy::TensorLoad {
                map,
                mode,
                coords,
                targets,
            } => {
                for (i, (dst, barrier)) in targets.iter().enumerate() {
                    let finish = cx.object(*barrier).map_or(whole, Finish::Object);
                    let (global, image) = (Log::default(), Log::default());
                    // What the copy refuses it refuses when it happens.
                    if tma::load(map, *mode, coords, &global, &image, dst & IN_BLOCK).is_err() {
                        continue;
                    }
                    let base = dst & !IN_BLOCK;
                    for (addr, bytes, _) in image.into_accesses() {
                        add(shared(base | addr), bytes, true, finish);
                    }
                    if i == 0 {
                        for (addr, bytes, _) in global.into_accesses() {
                            add(state.global(addr), bytes, false, source);
                        }
                    }
                }
            }
            Copy::TensorStore { map, mode, coords, src } => {
                let logs = (Log::default(), Log::default());
                if tma::store(map, *mode, coords, &logs.0, src & IN_BLOCK, &logs.1).is_ok() {
                    stored(
                        state,
                        logs,
                        |image| shared(src & !IN_BLOCK | image),
                        whole,
                        source,
                        &mut add,
                    );
                    footprint.excess = excess(map, *mode, coords);
                }
            }
            Copy::TensorReduce {
                map,
                op,
                mode,
                coords,
                src,
            } => {
                let logs = (Log::default(), Log::default());
                let op: ReduceOp = *op;
                if tma::reduce(map, op, *mode, coords, &logs.0, src & IN_BLOCK, &logs.1).is_ok() {
                    stored(
                        state,
                        logs,
                        |image| shared(src & !IN_BLOCK | image),
                        whole,
                        source,
                        &mut add,
                    );
                    footprint.excess = excess(map, *mode, coords);
                }
            }
        }
        footprint
    }
}

fn stored(
    state: &State,
    (image, global): (Log, Log),
    shared: impl Fn(u64) -> Option<At>,
    whole: Finish,
    source: Finish,
    add: &mut impl FnMut(Option<At>, u64, bool, Finish),
) {
    for (addr, bytes, _) in image.into_accesses() {
        add(shared(addr), bytes, false, source);
    }
    for (addr, bytes, _) in global.into_accesses() {
        add(state.global(addr), bytes, true, whole);
    }
}

/// Bytes that a store writes past the end of the tensor's rows, where there are any.
fn excess(map: &TensorMap, mode: StoreMode, coords: &[i32]) -> Option<u64> {
    if map.interleave != Interleave::None {
        return None;
    }
    let bits = map.format.global_bits();
    let row = map.dims.first()? * bits / 8;
    let start = u64::try_from(*coords.first()?).ok()? * bits / 8;
    let walk = store_walk(map, mode, coords).ok()?;
    let end = walk
        .rows
        .iter()
        .filter(|r| !r.valid.is_empty())
        .map(|r| r.valid.end)
        .max()?;
    (start + u64::from(end)).checked_sub(row).filter(|excess| *excess > 0)
}
