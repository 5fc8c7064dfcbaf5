//! What uses a shared buffer, and where the lanes of each access go.
use super::{placement, row_bytes};
use crate::{
    known::known_multiple,
    lane_values::Thread,
    shared_access::{alignment, alike, byte_strides, run},
    shared_uses::line,
    tile_elements::Elements,
};
use girih_core::{
    layout::{Placement, WarpAccess},
    tensor_map::Swizzle as CoreSwizzle,
};
use girih_dialects::tile::{
    distribution::{Distribution, is_distributed},
    layouts::{Fragment, contiguous_elements, element_offset, elements_per_thread, layout_of},
    ops::{
        atomic::AtomicRmw,
        cp_async::CpAsync,
        kernel::Kernel,
        memory::{Load, Store, contiguous},
        mma::Mma,
        rows::{masked, place_operands},
        tma_apply::Apply,
        tma_copy::RegionCopy,
        wgmma::Wgmma,
    },
    spaces::{Shared, shared_of, swizzle_of_rows},
    types::TensorMapType,
    verify::{element_bits, is_contiguous},
};
use girih_ir::prelude::*;

pub(super) type V<'c> = Value<'c, 'c>;

/// Ops that are looked through for the elements of a mask.
const MOST_STEPS: usize = 1 << 20;

/// What uses a buffer.
#[derive(Default)]
pub(super) struct Uses<'c> {
    /// The buffer and its parts.
    pub views: Vec<V<'c>>,
    /// Accesses of threads, with the view that each goes to, until they are counted.
    moves: Vec<(OperationRef<'c, 'c>, V<'c>)>,
    /// Accesses that are counted.
    pub counted: Vec<Access<'c>>,
    /// Accesses at places that are not known.
    pub unknown: Vec<OperationRef<'c, 'c>>,
    /// Whether whole tiles go to it or come from it.
    pub has_tiles: bool,
    /// Whether some of these have no layout yet.
    pub is_early: bool,
    /// Swizzles that uses ask for.
    pub asked: Vec<(OperationRef<'c, 'c>, CoreSwizzle)>,
    /// Copies of regions, whose maps take the buffer's swizzle.
    pub copies: Vec<RegionCopy<'c, 'c>>,
    /// Whoever takes the buffer where its uses cannot be followed.
    pub lost: Option<OperationRef<'c, 'c>>,
}

/// One op's accesses, for all warps.
pub(super) struct Access<'c> {
    pub op: OperationRef<'c, 'c>,
    /// How it goes through the tile: `by columns`.
    pub how: String,
    pub warps: Vec<WarpAccess>,
    /// Whether it has a mask that is not known, and is counted as if that were true.
    pub is_guessed: bool,
}

impl Access<'_> {
    /// Ways of the worst conflict under a placement.
    fn degree(&self, placement: Placement) -> u64 {
        let costs = self.warps.iter().filter_map(|w| w.cost_under(placement));
        costs.map(|cost| cost.degree).max().unwrap_or(0)
    }
    /// The worst conflict, in words.
    pub fn conflict(&self, ways: u64) -> String {
        let verb = match self.warps.iter().any(|w| w.loads) {
            true => "read",
            false => "written",
        };
        crate::shared_uses::conflict(ways, verb, &self.how, &line(self.op))
    }
}

impl<'c> Uses<'c> {
    /// Those of a buffer, not counted yet.
    pub fn of(buffer: V<'c>, space: Shared<'c>) -> Uses<'c> {
        let mut uses = Uses {
            views: vec![buffer],
            ..Uses::default()
        };
        let mut at = 0;
        while let Some(view) = uses.views.get(at).copied() {
            at += 1;
            let mut users = view.users();
            // The last use comes first.
            users.reverse();
            for user in users {
                uses.add(user, view, space);
            }
        }
        uses
    }

    /// Counts what threads access, in a kernel that has the buffer, under the swizzle `now`.
    pub fn count(&mut self, kernel: Kernel<'c, 'c>, now: CoreSwizzle) {
        for (op, view) in std::mem::take(&mut self.moves) {
            let tile = tile_of(op).filter(|t| layout_of(*t).is_none());
            let access = match tile {
                Some(tile) => Distribution::of(tile).and_then(|d| whole_tile(op, view, &d, now)),
                None => access(kernel, op, view, now),
            };
            match access {
                Some(access) => self.counted.push(access),
                None => self.unknown.push(op),
            }
        }
    }

    /// Whether swizzles are asked for by tensor maps alone.
    pub fn only_maps_ask(&self) -> bool {
        self.asked.iter().all(|(by, _)| map_of(*by).is_some())
    }

    /// The accesses of all warps.
    pub fn warps(&self) -> Vec<WarpAccess> {
        self.counted.iter().flat_map(|a| a.warps.iter().cloned()).collect()
    }

    /// The worst conflict where the swizzle `now` is replaced by `to`, if there is any.
    pub fn worst(&self, now: CoreSwizzle, to: CoreSwizzle) -> Option<(u64, &Access<'c>)> {
        let placement = placement(now, to);
        let all = self.counted.iter().map(|a| (a.degree(placement), a));
        // The first of equals.
        all.rev().max_by_key(|(n, _)| *n).filter(|(n, _)| *n > 1)
    }

    fn add(&mut self, user: OperationRef<'c, 'c>, view: V<'c>, space: Shared<'c>) {
        let is_part = user.region_count() == 0 && user.is_pure() && user.result_count() == 1;
        if is_part && shared_of(user.result0().r#type()) == Some(space) {
            self.views.push(user.result0());
            return;
        }
        if let Some(tile) = tile_of(user) {
            let is_whole = layout_of(tile).is_none();
            self.has_tiles |= is_whole;
            self.is_early |= is_whole && !is_distributed(tile);
            return self.moves.push((user, view));
        }
        if matches!(user.full_name(), "memref.load" | "memref.store") {
            return self.moves.push((user, view));
        }
        if let Some(map) = map_of(user) {
            self.asked.push((user, map.permutation()));
        } else if user.is::<Wgmma>() || user.is::<Mma>() {
            self.asked.push((user, swizzle_of_rows(row_bytes(view.r#type()))));
        } else if user.is::<CpAsync>() {
            // Whole atoms of 16 bytes or parts of them, under any swizzle.
            self.unknown.push(user);
        } else if let Some(copy) = user.cast::<RegionCopy>() {
            self.copies.push(copy);
        } else if user.is::<Apply>() || user.full_name() == "memref.dim" {
            // Its map takes the buffer's swizzle, whatever it is.
        } else if user.dialect_name() == "tile" && user.region_count() == 0 && user.result_count() == 0 {
            self.asked.push((user, CoreSwizzle::None));
        } else {
            self.lost = self.lost.or(Some(user));
        }
    }
}

/// The tensor map that an op takes.
fn map_of<'c>(op: OperationRef<'c, 'c>) -> Option<TensorMapType<'c>> {
    op.operand_values().iter().find_map(|v| TensorMapType::of(v.r#type()))
}

/// The tile that an op moves between its threads and memory.
fn tile_of<'c>(op: OperationRef<'c, 'c>) -> Option<Type<'c>> {
    if let Some(load) = op.cast::<Load>() {
        return Some(load.result().r#type());
    }
    if let Some(store) = op.cast::<Store>() {
        return Some(store.value().r#type());
    }
    let atomic = op.cast::<AtomicRmw>()?;
    Some(atomic.value().r#type())
}

/// The accesses of an op that moves a whole tile, or combines one element by element; `None` where its place is not known.
fn whole_tile<'c>(op: OperationRef<'c, 'c>, view: V<'c>, d: &Distribution, now: CoreSwizzle) -> Option<Access<'c>> {
    let t = view.r#type();
    let (sizes, bytes) = (t.shape().filter(|_| is_contiguous(t))?, element_bits(t)? / 8);
    let indices = place_operands(op)?;
    let run = match op.is::<AtomicRmw>() {
        true => 1,
        false => run(t, alignment(view, &indices), alike(masked(op).map(|(_, mask)| mask)), d),
    };
    let strides: Vec<i64> = byte_strides(t).collect();
    let by_rows = indices.iter().any(|i| i.r#type().is_ranked_tensor_type());
    if by_rows || [indices.len(), d.shape.len(), sizes.len()] != [strides.len(); 3] {
        return None;
    }
    let mut any = Thread::new(0);
    let first = indices.iter().map(|i| any.value(*i)).collect::<Option<Vec<i64>>>()?;
    let loads = op.is::<Load>();
    // Of threads that hold copies one writes.
    let silent = if loads { 0 } else { d.copy_bits() };
    let coordinates = |thread: u64, register: usize| -> Vec<i64> {
        let mut own = d.registers[register].clone();
        let images = d.threads.iter().enumerate();
        for (_, image) in images.filter(|(bit, _)| thread >> bit & 1 == 1) {
            own.iter_mut().zip(image).for_each(|(c, i)| *c ^= i);
        }
        own.into_iter().map(i64::from).collect()
    };
    let mut mask = masked(op).map(|(_, mask)| mask);
    let (mut elements, mut is_guessed) = (Elements::new(MOST_STEPS), false);
    let mut address = |thread: u64, register: usize| -> Option<u64> {
        let own = coordinates(thread, register);
        let at = || own.iter().zip(&first).map(|(c, first)| c + first);
        // What lies outside is masked off.
        let is_inside = at().zip(&sizes).all(|(c, size)| (0..*size).contains(&c));
        if thread & silent != 0 || !is_inside {
            return None;
        }
        match mask.map(|mask| elements.at(mask, &own)) {
            Some(Some(moves)) if moves & 1 == 0 => return None,
            // It is not looked at again.
            Some(None) => (mask, is_guessed) = (None, true),
            _ => {}
        }
        let place: i64 = at().zip(&strides).map(|(c, s)| c * s).sum();
        Some(now.apply(place.unsigned_abs()))
    };
    let times = passes(op);
    let mut warps = vec![];
    for warp in 0..d.thread_count().div_ceil(32) {
        for register in (0..d.registers.len()).step_by(run) {
            warps.push(WarpAccess {
                addresses: (0..32).map(|lane| address(32 * warp + lane, register)).collect(),
                bytes: bytes * run as u64,
                loads,
                times,
            });
        }
    }
    let lanes: Vec<_> = (0..32).map(|lane| Some(coordinates(lane, 0))).collect();
    Some(Access {
        op,
        how: direction(&lanes),
        warps,
        is_guessed,
    })
}

/// The accesses of an op that loads or stores elements or a fragment; `None` where their places are not known.
fn access<'c>(kernel: Kernel<'c, 'c>, op: OperationRef<'c, 'c>, view: V<'c>, now: CoreSwizzle) -> Option<Access<'c>> {
    let t = view.r#type();
    if !is_contiguous(t) {
        return None;
    }
    let operands = op.operand_values();
    let memory = operands.iter().position(|v| *v == view)?;
    let indices = &operands[memory + 1..];
    let loads = memory == 0;
    let bytes = element_bits(t)? / 8;
    let strides = contiguous(&t.shape()?);
    let times = passes(op);
    let tile = if op.is::<Load>() {
        Some(op.result0().r#type())
    } else {
        op.is::<Store>().then(|| operands[0].r#type())
    };
    let (parts, run, mut how) = match tile {
        None => (vec![(0, 0)], 1, String::new()),
        Some(tile) => {
            let (fragment, bits) = (layout_of(tile)?.fragment(), element_bits(tile)? as u32);
            let run = contiguous_elements(fragment, bits);
            let (pitch, together) = (strides[0].unsigned_abs() * bytes, u64::from(run) * bytes);
            let fits = pitch % together == 0 && known_multiple(*indices.get(1)?) % i64::from(run) == 0;
            let run = if fits { run } else { 1 };
            let parts = (0..elements_per_thread(tile)?).step_by(run as usize);
            let parts = parts.map(|i| element_offset(fragment, bits, i)).collect();
            (parts, run, format!("as {fragment}"))
        }
    };
    let mut warps = vec![];
    for warp in 0..kernel.threads().unsigned_abs().div_ceil(32) {
        // Places in the tile, for each lane that takes part.
        let mut lanes: Vec<Option<Vec<i64>>> = vec![];
        for lane in 0..32 {
            let number = warp * 32 + lane;
            let mut thread = Thread::new(number);
            if !thread.runs(op) {
                lanes.push(None);
                continue;
            }
            let mut at = indices.iter().map(|i| thread.value(*i)).collect::<Option<Vec<i64>>>()?;
            if let Some(tile) = tile {
                let (row, column) = origin(layout_of(tile)?.fragment(), element_bits(tile)? as u32, number);
                at[0] += row;
                at[1] += column;
            }
            lanes.push(Some(at));
        }
        if how.is_empty() {
            how = direction(&lanes);
        }
        for (row, column) in &parts {
            let address = |at: &Vec<i64>| {
                let place: i64 = at.iter().zip(&strides).map(|(i, s)| i * s).sum();
                let inner = if tile.is_some() {
                    i64::from(*row) * strides[0] + i64::from(*column)
                } else {
                    0
                };
                let linear = u64::try_from(place + inner).ok()? * bytes;
                Some(now.apply(linear))
            };
            let mut addresses = vec![];
            for lane in &lanes {
                addresses.push(match lane {
                    None => None,
                    Some(at) => Some(address(at)?),
                });
            }
            warps.push(WarpAccess {
                addresses,
                bytes: bytes * u64::from(run),
                loads,
                times,
            });
        }
    }
    Some(Access {
        op,
        how,
        warps,
        is_guessed: false,
    })
}

/// Row and column of a thread's first element.
fn origin(fragment: Fragment, bits: u32, thread: u64) -> (i64, i64) {
    let (warp, lane) = (thread as i64 % 128 / 32, thread as i64 % 32);
    (
        16 * warp + lane / 4,
        lane % 4 * i64::from(contiguous_elements(fragment, bits)),
    )
}

/// How neighbouring lanes go through a tile.
fn direction(lanes: &[Option<Vec<i64>>]) -> String {
    let mut here = lanes.iter().flatten();
    let Some(a) = here.next() else {
        return String::new();
    };
    // Lanes may share an element.
    let text = match here.find(|b| *b != a) {
        None => "",
        Some(b) if a.last() == b.last() => "by columns",
        Some(_) => "by rows",
    };
    text.to_owned()
}

/// How often an op runs, as far as constant bounds of the loops around it say.
fn passes(op: OperationRef<'_, '_>) -> u64 {
    let (mut times, mut at) = (1u64, op.parent());
    while let Some(outer) = at {
        if outer.full_name() == "scf.for" {
            let bounds: Vec<_> = outer
                .operand_values()
                .iter()
                .take(3)
                .map(|v| v.constant_int())
                .collect();
            if let [Some(from), Some(to), Some(step)] = bounds[..]
                && step > 0
                && to > from
            {
                times = times
                    .saturating_mul((to - from).unsigned_abs().div_ceil(step.unsigned_abs()))
                    .min(1 << 20);
            }
        }
        at = outer.parent();
    }
    times
}
