//! Vector clocks: what of other tracks is known to have happened.
//!
//! A [`Track`] is a line of time with 32 lanes: a warp's threads, or the asynchronous work that a warp, a warpgroup or an
//! mbarrier completes. An [`Entry`] says for each lane up to which time everything is known; lanes that are known equally
//! far, as nearly always, take one number. Entries of a block lie together and are shared between clocks until they change.
use crate::isa::LANES;
use std::sync::Arc;

/// A line of time: its block in the grid, and its number in the block (see [`super::agents`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Track {
    /// Number of the block in the grid.
    pub block: u32,
    /// Number in the block.
    pub index: u32,
}

/// Up to which time the lanes of a track are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    /// At least so far for every lane.
    all: u32,
    /// Lanes that are known further.
    lanes: Option<Arc<[u32; LANES]>>,
}

impl Entry {
    fn at(&self, lane: usize) -> u32 {
        self.lanes.as_ref().map_or(self.all, |lanes| lanes[lane])
    }

    fn reached(&self, mask: u32, time: u32) -> bool {
        if self.all >= time {
            return true;
        }
        match &self.lanes {
            None => mask == 0,
            Some(lanes) => (0..LANES).all(|l| mask >> l & 1 == 0 || lanes[l] >= time),
        }
    }

    fn includes(&self, other: &Entry) -> bool {
        match &other.lanes {
            None => self.all >= other.all,
            Some(lanes) => {
                self.lanes.as_ref().is_some_and(|own| Arc::ptr_eq(own, lanes)) || {
                    (0..LANES).all(|l| self.at(l) >= lanes[l])
                }
            }
        }
    }

    fn from_lanes(lanes: [u32; LANES]) -> Self {
        let all = lanes.iter().copied().min().unwrap_or(0);
        let uniform = lanes.iter().all(|t| *t == all);
        Entry {
            all,
            lanes: (!uniform).then(|| Arc::new(lanes)),
        }
    }

    fn join(&mut self, other: &Entry) {
        if self.includes(other) {
            return;
        }
        if other.includes(self) {
            *self = other.clone();
            return;
        }
        *self = Entry::from_lanes(std::array::from_fn(|l| self.at(l).max(other.at(l))));
    }

    fn raise(&mut self, mask: u32, time: u32) {
        if self.reached(mask, time) {
            return;
        }
        *self = Entry::from_lanes(std::array::from_fn(|l| {
            let known = self.at(l);
            if mask >> l & 1 != 0 { known.max(time) } else { known }
        }));
    }
}

#[derive(Clone, Debug)]
struct Segment {
    block: u32,
    entries: Arc<Vec<Entry>>,
}

/// For each track and lane the time up to which it is known. Cheap to copy.
#[derive(Clone, Debug, Default)]
pub struct Clock(Option<Arc<Vec<Segment>>>);

impl Clock {
    fn segments(&self) -> &[Segment] {
        self.0.as_ref().map_or(&[], |segments| segments.as_slice())
    }

    fn entry(&self, track: Track) -> Option<&Entry> {
        let segments = self.segments();
        let at = match segments {
            // The block's own, in most clocks the only one.
            [only] => (only.block == track.block).then_some(0),
            _ => segments.binary_search_by_key(&track.block, |s| s.block).ok(),
        };
        segments[at?].entries.get(track.index as usize)
    }

    /// Whether all lanes of a mask are known up to a time.
    pub fn reached(&self, track: Track, mask: u32, time: u32) -> bool {
        mask == 0 || self.entry(track).is_some_and(|entry| entry.reached(mask, time))
    }

    /// Whether anything of a block is known: it runs.
    pub fn knows_of(&self, block: u32) -> bool {
        let entries = self
            .segments()
            .iter()
            .filter(|s| s.block == block)
            .flat_map(|s| s.entries.iter());
        entries.into_iter().any(|entry| *entry != Entry::default())
    }

    /// The same clock, without a comparison of contents: for telling groups of lanes apart.
    pub fn same(&self, other: &Clock) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    fn includes(&self, other: &Clock) -> bool {
        self.same(other)
            || other.segments().iter().all(|theirs| {
                let own = self.segments().binary_search_by_key(&theirs.block, |s| s.block);
                own.is_ok_and(|at| {
                    let own = &self.segments()[at].entries;
                    Arc::ptr_eq(own, &theirs.entries)
                        || theirs.entries.iter().enumerate().all(|(i, entry)| {
                            *entry == Entry::default() || own.get(i).is_some_and(|own| own.includes(entry))
                        })
                })
            })
    }

    /// Learns what another clock knows.
    pub fn join(&mut self, other: &Clock) {
        if self.includes(other) {
            return;
        }
        if other.includes(self) {
            *self = other.clone();
            return;
        }
        for theirs in other.segments() {
            self.change(theirs.block, |own| {
                if own.is_empty() || Arc::ptr_eq(own, &theirs.entries) {
                    *own = Arc::clone(&theirs.entries);
                    return;
                }
                let own = Arc::make_mut(own);
                if own.len() < theirs.entries.len() {
                    own.resize(theirs.entries.len(), Entry::default());
                }
                own.iter_mut()
                    .zip(theirs.entries.iter())
                    .for_each(|(own, entry)| own.join(entry));
            });
        }
    }

    /// Learns that the lanes of a mask have come to a time.
    pub fn raise(&mut self, track: Track, mask: u32, time: u32) {
        if self.reached(track, mask, time) {
            return;
        }
        let index = track.index as usize;
        self.change(track.block, |entries| {
            let entries = Arc::make_mut(entries);
            if entries.len() <= index {
                entries.resize(index + 1, Entry::default());
            }
            entries[index].raise(mask, time);
        });
    }

    /// Learns that the lanes of a mask have come to a time each.
    pub fn raise_each(&mut self, track: Track, mask: u32, times: &[u32; LANES]) {
        let lanes = || (0..LANES).filter(|l| mask >> l & 1 != 0);
        let Some(first) = lanes().next() else { return };
        if lanes().all(|l| times[l] == times[first]) {
            self.raise(track, mask, times[first]);
        } else {
            lanes().for_each(|l| self.raise(track, 1 << l, times[l]));
        }
    }

    fn change(&mut self, block: u32, f: impl FnOnce(&mut Arc<Vec<Entry>>)) {
        let segments = Arc::make_mut(self.0.get_or_insert_default());
        let at = match segments.binary_search_by_key(&block, |s| s.block) {
            Ok(at) => at,
            Err(at) => {
                let entries = Arc::default();
                segments.insert(at, Segment { block, entries });
                at
            }
        };
        f(&mut segments[at].entries);
    }
}

/// What a clock is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// What happened before.
    Seen,
    /// What of it passed a fence to the asynchronous proxy for shared memory.
    AsyncShared,
    /// The same for global memory.
    AsyncGlobal,
    /// What of it passed a fence to the tensor-map proxy, for the map in question.
    TensorMap,
    /// What a `fence.mbarrier_init` alone published.
    MbarrierInit,
}

/// All clocks of one agent, or of what it passes on.
#[derive(Clone, Debug, Default)]
pub struct Knowledge([Clock; 5]);

impl Knowledge {
    /// One of the clocks.
    pub fn get(&self, order: Order) -> &Clock {
        &self.0[order as usize]
    }

    /// One of the clocks, to be changed.
    pub fn get_mut(&mut self, order: Order) -> &mut Clock {
        &mut self.0[order as usize]
    }

    /// Learns what another one knows.
    pub fn join(&mut self, other: &Knowledge) {
        self.0
            .iter_mut()
            .zip(&other.0)
            .for_each(|(own, theirs)| own.join(theirs));
    }

    /// Whether both are the same clocks, as [`Clock::same`] tells.
    pub fn same(&self, other: &Knowledge) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a.same(b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn track(block: u32, index: u32) -> Track {
        Track { block, index }
    }

    #[test]
    fn joining_knows_what_either_knew_and_no_more() {
        let (mut a, mut b) = (Clock::default(), Clock::default());
        a.raise(track(0, 1), u32::MAX, 3);
        a.raise(track(0, 1), 1 << 4, 9);
        b.raise(track(0, 1), 1 << 5, 7);
        b.raise(track(2, 0), u32::MAX, 1);
        a.join(&b);
        assert!(a.reached(track(0, 1), 1 << 4, 9) && a.reached(track(0, 1), 1 << 5, 7));
        assert!(a.reached(track(0, 1), u32::MAX, 3) && !a.reached(track(0, 1), u32::MAX, 4));
        assert!(a.reached(track(2, 0), 1, 1) && !a.reached(track(1, 0), 1, 1));
        assert!(!b.reached(track(0, 1), 1 << 4, 1));
    }

    #[test]
    fn lanes_that_have_all_come_to_a_time_are_one_number_again() {
        let mut clock = Clock::default();
        for l in 0..LANES {
            clock.raise(track(0, 0), 1 << l, 5);
        }
        assert!(clock.reached(track(0, 0), u32::MAX, 5));
        assert_eq!(clock.entry(track(0, 0)), Some(&Entry { all: 5, lanes: None }));
    }
}
