//! What is said of threads that wait for a phase of an mbarrier: what the phase has and lacks, and what may be wrong.
use super::{Threads, Told, View};
use crate::check::progress::{Agent, History, Mbarriers, at, counted, total};
use crate::check::{Kind, Place};
use crate::isa::RANK_SHIFT;
use crate::mbarrier::Barrier;
use crate::memory::Bytes;

impl View<'_> {
    /// A group that waits for a phase of an mbarrier.
    pub(super) fn tell_mbarrier(&self, address: u64, parity: Option<bool>, threads: &Threads) -> Told {
        let rank = (address >> RANK_SHIFT) as usize - 1;
        let local = address & ((1 << RANK_SHIFT) - 1);
        let mut told = Told {
            text: String::new(),
            remedies: Vec::new(),
            doubt: 1,
            mistake: None,
        };
        let Some(block) = self.cluster.blocks.get(rank) else {
            return told;
        };
        let whose = match self.cluster.blocks.len() {
            1 => String::new(),
            _ => format!(" of block {:?}", block.index),
        };
        let phase = parity.map_or("the phase".to_owned(), |p| format!("parity {}", u8::from(p)));
        told.text = format!(" for {phase} of the mbarrier at shared address {local:#x}{whose}:");
        let mut bytes = [0; 8];
        let state = block.shared.read(local, &mut bytes).ok();
        let Some(barrier) = state.and_then(|()| Barrier::from_bits(u64::from_le_bytes(bytes)).ok()) else {
            told.text += " it is none any more";
            return told;
        };
        let barriers = block.mbarriers.barriers.borrow();
        let unknown = History::default();
        let history = barriers.get(&local).unwrap_or(&unknown);
        told.text += &self.state(&block.mbarriers, barrier, history);
        self.blame_bytes(local, barrier, history, &mut told);
        let waiter = threads.first_key_value().map(|((rank, warp), mask)| Agent {
            rank: *rank as u16,
            warp: *warp as u8,
            lane: mask.trailing_zeros() as u8,
        });
        if told.remedies.is_empty() {
            self.blame_parity(parity, history, waiter, &mut told);
        }
        if barrier.pending() > 0 {
            self.blame_arrivals(barrier, parity, history, &mut told);
        }
        told
    }

    /// What the phase has and lacks.
    fn state(&self, mbarriers: &Mbarriers, barrier: Barrier, history: &History) -> String {
        let came = barrier.expected() - barrier.pending();
        let mut text = format!(
            "\n      {came} of {} arrivals have come{} in phase {}, of parity {}",
            barrier.expected(),
            mbarriers.shares(&history.now.arrivals),
            history.phases,
            u8::from(barrier.parity())
        );
        let (expected, completed) = (total(&history.now.expected), total(&history.now.completed));
        if expected > 0 || completed > 0 {
            text += &format!(
                ", {completed} bytes{} of {expected} expected{}",
                mbarriers.shares(&history.now.completed),
                mbarriers.shares(&history.now.expected)
            );
        }
        text
    }

    /// Bytes that the phase expects and no copy brings, or the other way round.
    fn blame_bytes(&self, local: u64, barrier: Barrier, history: &History, told: &mut Told) {
        let phase = &history.now;
        let (expected, completed) = (total(&phase.expected), total(&phase.completed));
        let lack = barrier.transactions();
        let remedy = match (lack > 0, completed) {
            _ if lack == 0 => return,
            (true, 0) => format!(
                "{expected} bytes are expected, but no copy that names this mbarrier was issued: issue it, or expect no bytes"
            ),
            (true, _) => format!(
                "{expected} bytes are expected, but the copies of this phase bring {completed}: expect {completed} bytes, or \
                 copy the {lack} that are missing"
            ),
            (false, _) => format!(
                "the copies of this phase bring {completed} bytes, but {expected} are expected: expect {completed} with \
                 mbarrier.arrive.expect_tx"
            ),
        };
        told.remedies.push(remedy);
        if lack < 0 && barrier.pending() > 0 {
            return;
        }
        let message = format!(
            "phase {} of the mbarrier at shared address {local:#x} expects {expected} bytes, but its copies bring {completed}",
            history.phases
        );
        let expects = phase.expected.iter();
        let mut others: Vec<Place> = expects
            .map(|s| at(s.line, &format!("announces {} bytes", s.amount)))
            .collect();
        let comes = phase.completed.iter();
        others.extend(comes.map(|s| at(s.line, &format!("brings {} bytes", s.amount))));
        told.doubt = 0;
        told.mistake = Some((Kind::TransactionCount, message, others));
    }

    /// A thread that waits for the phase after the one that it should wait for next.
    fn blame_parity(&self, parity: Option<bool>, history: &History, waiter: Option<Agent>, told: &mut Told) {
        let (Some(_), Some(waiter)) = (parity, waiter) else {
            return;
        };
        let passed = history.passed(waiter);
        let next = passed.phases;
        if history.phases <= next || (history.phases - next).is_multiple_of(2) {
            return;
        }
        let mut text = format!(
            "the parity looks flipped: phase {next}, of parity {}, is over and the thread has not waited for it; wait for parity {}",
            next & 1,
            next & 1
        );
        if passed.times > 0 {
            text += &format!(
                "; of the {} that it has passed here, the last was for this parity too: change the parity after each phase",
                counted(passed.times, "wait")
            );
        }
        told.remedies.push(text);
        told.doubt = 0;
    }

    /// Arrivals that the phase lacks.
    fn blame_arrivals(&self, barrier: Barrier, parity: Option<bool>, history: &History, told: &mut Told) {
        let came = barrier.expected() - barrier.pending();
        let missing: Vec<Agent> = history
            .before
            .arrivers
            .iter()
            .filter(|a| !history.now.arrivers.contains(a))
            .copied()
            .collect();
        let is_missing = |rank: usize, warp: usize, lane: usize| {
            missing
                .iter()
                .any(|a| (usize::from(a.rank), usize::from(a.warp), usize::from(a.lane)) == (rank, warp, lane))
        };
        if let Some(there) = self.whereabouts(is_missing) {
            told.text += &format!("\n      missing: {there}, which arrived in the phase before");
        } else if !missing.is_empty() {
            told.text += "\n      missing: threads that arrived in the phase before and have exited";
        }
        if !told.remedies.is_empty() {
            return;
        }
        let fresh = history.phases == 0 && came == 0 && parity == Some(false);
        let pending = match barrier.pending() {
            1 => "1 arrival is".to_owned(),
            n => format!("{n} arrivals are"),
        };
        told.remedies.push(match (came, fresh) {
            (0, true) => format!(
                "{pending} missing; a wait that should pass at once, as for a slot that is empty at first, is \
                 for parity 1"
            ),
            (0, false) => format!("{pending} missing: they must come in each phase"),
            _ => format!(
                "{pending} missing: let every arrival come, or initialise it for {} at {}",
                counted(came, "arrival"),
                self.line(history.init_line)
            ),
        });
    }
}
