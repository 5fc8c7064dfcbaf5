//! Local memory, ends of rows, and shared memory that has to outlive an access.
use super::finding::{Finding, Gravity, Kind, Place};
use super::race::{Conflict, Memory, Trouble};
use super::shadow::Mark;
use super::site::{Actor, Site};
use super::state::{State, Who};

impl State {
    /// An access of one lane to its local memory.
    pub fn local(&mut self, who: Who, line: u32, address: u64, bytes: u64, writes: bool) {
        if writes {
            self.local_written(who, address, bytes);
            return;
        }
        let Some(block) = self.blocks.get(&who.block) else {
            return;
        };
        let threads = &block.warps[who.warp as usize];
        let known = &block.local[who.warp as usize][who.lanes.trailing_zeros() as usize];
        let fresh = |at: &u64| {
            known
                .get((at / 64) as usize)
                .is_none_or(|word| word >> (at % 64) & 1 == 0)
        };
        let Some(at) = (address..address.saturating_add(bytes)).find(fresh) else {
            return;
        };
        let site = self.memories.sites.number(Site {
            line,
            actor: Actor::Thread,
            reads: true,
            writes: false,
            strong: None,
        });
        self.memories.conflicts.push(Conflict {
            trouble: Trouble::Fresh,
            new: Mark {
                track: threads.track,
                lanes: who.lanes,
                time: threads.time,
                site,
            },
            old: None,
            at: (Memory::Local, at),
            bytes: 1,
            same_value: false,
        });
    }

    /// Bytes of local memory of some lanes that are written.
    pub fn local_written(&mut self, who: Who, address: u64, bytes: u64) {
        self.set_local(who, address, bytes, true);
    }

    /// Bytes of local memory of some lanes that are nobody's yet, as those of a frame are at its call.
    pub fn local_fresh(&mut self, who: Who, address: u64, bytes: u64) {
        self.set_local(who, address, bytes, false);
    }

    fn set_local(&mut self, who: Who, address: u64, bytes: u64, known: bool) {
        let Some(block) = self.blocks.get_mut(&who.block) else {
            return;
        };
        let end = address.saturating_add(bytes).min(crate::exec::STACK_BYTES.into());
        for lane in crate::exec::lanes(who.lanes) {
            let words = &mut block.local[who.warp as usize][lane];
            if known && words.len() < end.div_ceil(64) as usize {
                words.resize(end.div_ceil(64) as usize, 0);
            }
            for at in address..end {
                let Some(word) = words.get_mut((at / 64) as usize) else {
                    break;
                };
                let bit = 1 << (at % 64);
                *word = if known { *word | bit } else { *word & !bit };
            }
        }
    }

    /// A tensor store whose rows go past the end of the tensor's.
    pub fn row_end(&mut self, who: Who, line: u32, excess: u64) {
        let place = Place {
            what: format!("stores rows that end {excess} bytes past the end of the tensor's"),
            ptx_line: line,
            source: None,
            block: Some(self.setup.block_index(who.block)),
            thread: Some(self.setup.thread(who.warp, who.lanes.trailing_zeros())),
        };
        let finding = Finding::new(
            Kind::RowEnd,
            format!(
                "the rows of the tensor end off a 16-byte boundary: line {line} writes {excess} bytes past the end of each, \
                 from shared memory outside the box's part of the tensor"
            ),
            "make a row a multiple of 16 bytes, or keep nothing in the bytes after each row",
            vec![place],
        );
        self.findings.push(finding.with_gravity(Gravity::Warning));
    }

    /// The end of the blocks of a cluster: what had to be over before one of them exited, or came before one of them ran, and
    /// is forgotten now.
    pub fn end_cluster(&mut self, blocks: &[u32]) {
        for ((block, track, lanes, site), time) in &self.memories.early {
            if blocks.contains(block) {
                let mark = Mark {
                    track: *track,
                    lanes: *lanes,
                    time: *time,
                    site: *site,
                };
                let finding = self.describe_early(*block, &mark);
                self.findings.push(finding);
            }
        }
        for ((block, track, lanes, site), time) in &self.memories.holds {
            let exits = match self.blocks.get(block) {
                Some(state) if blocks.contains(block) => &state.exits,
                _ => continue,
            };
            if !exits.iter().any(|clock| clock.reached(*track, *lanes, *time)) {
                let mark = Mark {
                    track: *track,
                    lanes: *lanes,
                    time: *time,
                    site: *site,
                };
                let finding = self.describe_hold(*block, &mark);
                self.findings.push(finding);
            }
        }
        for block in blocks {
            self.blocks.remove(block);
            self.memories.forget_block(*block);
            self.clusters.remove(block);
            self.flags.forget_block(*block);
            self.map_fences.retain(|(of, _), _| of != block);
        }
    }
}
