//! What is remembered of an mbarrier beside its eight bytes, so that a wait without an end can be put into words: who
//! initialised it, what each phase was told, by which lines, and how often each thread has passed it.
//!
//! ```text
//! phase 0 (parity 0)           phase 1 (parity 1)
//! init ── arrive, expect_tx ── complete_tx │ arrive ...
//!         line 30: 32768 bytes   line 34: 16384 bytes
//! ```
use super::{Finding, Kind, Place};
use crate::mbarrier::BarrierError;
use crate::ptx::SourceLines;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A thread of a cluster: rank of its block, warp in the block, lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Agent {
    /// Rank of the block in its cluster.
    pub rank: u16,
    /// Warp of the block.
    pub warp: u8,
    /// Lane of the warp.
    pub lane: u8,
}

/// Who acts on shared memory now: a thread, or a copy that it issued.
#[derive(Clone, Copy, Debug, Default)]
pub struct Acting {
    /// Line of the PTX.
    pub line: u32,
    /// The thread.
    pub agent: Agent,
    /// Moment of the instruction, of a copy that of its issue.
    pub issued: u64,
    /// This moment.
    pub now: u64,
}

/// What one line of the PTX brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The line.
    pub line: u32,
    /// Arrivals or bytes.
    pub amount: u64,
}

/// What a phase was told.
#[derive(Clone, Debug, Default)]
pub struct Phase {
    /// Arrivals by line.
    pub arrivals: Vec<Share>,
    /// Announced bytes by line.
    pub expected: Vec<Share>,
    /// Bytes that came, by the line of the copy.
    pub completed: Vec<Share>,
    /// Threads that arrived.
    pub arrivers: Vec<Agent>,
}

/// What an operation tells a phase.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told {
    /// Arrivals.
    pub arrivals: u32,
    /// Bytes announced.
    pub expected: u32,
    /// Bytes that came.
    pub completed: u32,
}

fn add(shares: &mut Vec<Share>, line: u32, amount: u32) {
    if amount == 0 {
        return;
    }
    match shares.iter_mut().find(|s| s.line == line) {
        Some(share) => share.amount += u64::from(amount),
        None => shares.push(Share {
            line,
            amount: amount.into(),
        }),
    }
}

/// A number with what it counts: `1 thread`, `2 threads`.
pub fn counted(n: impl Into<u64>, what: &str) -> String {
    match n.into() {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

/// The sum of all lines.
pub fn total(shares: &[Share]) -> u64 {
    shares.iter().map(|s| s.amount).sum()
}

/// How a thread has passed an mbarrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Waits that found their phase over.
    pub times: u32,
    /// Phases that were over at the last of them.
    pub phases: u64,
}

/// The life of one mbarrier.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Line of `mbarrier.init`.
    pub init_line: u32,
    /// Line of the last `mbarrier.inval`, 0 where none followed.
    pub ended_line: u32,
    /// Phases that are over.
    pub phases: u64,
    /// Moment at which the current phase began.
    began: u64,
    /// The current phase.
    pub now: Phase,
    /// The phase before.
    pub before: Phase,
    passed: BTreeMap<Agent, Passed>,
    /// Whether bytes came after the phase of their copy.
    late: bool,
}

impl History {
    /// Takes note of an operation, after which the phase is over or not.
    pub fn tell(&mut self, told: Told, acting: Acting, over: bool) {
        add(&mut self.now.arrivals, acting.line, told.arrivals);
        add(&mut self.now.expected, acting.line, told.expected);
        add(&mut self.now.completed, acting.line, told.completed);
        if told.arrivals > 0 {
            self.now.arrivers.push(acting.agent);
        }
        if over {
            self.phases += 1;
            self.began = acting.now;
            self.before = std::mem::take(&mut self.now);
        }
    }

    /// Whether a copy was issued in an earlier phase than the current one.
    pub fn is_late(&self, acting: Acting) -> bool {
        acting.issued < self.began
    }

    /// Takes note of a wait that found its phase over.
    pub fn pass(&mut self, agent: Agent) {
        let passed = self.passed.entry(agent).or_default();
        passed.times += 1;
        passed.phases = self.phases;
    }

    /// How a thread has passed it.
    pub fn passed(&self, agent: Agent) -> Passed {
        self.passed.get(&agent).copied().unwrap_or_default()
    }
}

/// What a block remembers of its mbarriers, and who acts on them.
#[derive(Debug, Default)]
pub struct Mbarriers {
    /// Who acts.
    pub acting: Cell<Acting>,
    /// By address in the block's shared memory.
    pub barriers: RefCell<BTreeMap<u64, History>>,
    /// What is wrong, until the launch takes it.
    pub findings: RefCell<Vec<Finding>>,
    source: Arc<SourceLines>,
}

impl Mbarriers {
    /// None yet, of a program with these lines.
    pub fn new(source: Arc<SourceLines>) -> Mbarriers {
        Mbarriers {
            source,
            ..Mbarriers::default()
        }
    }

    /// Takes note of a wait that found its phase over.
    pub fn pass(&self, address: u64, agent: Agent) {
        if let Some(history) = self.barriers.borrow_mut().get_mut(&address) {
            history.pass(agent);
        }
    }

    /// Looks at what is left when the block has ended: `transactions` gives the count of the barrier at an address.
    pub fn judge(&self, transactions: impl Fn(u64) -> Option<i32>) {
        for (address, history) in self.barriers.borrow().iter() {
            let left = transactions(*address).filter(|left| *left != 0 && history.ended_line == 0);
            let Some(left) = left.filter(|_| !history.late) else {
                continue;
            };
            let (expected, completed) = (total(&history.now.expected), total(&history.now.completed));
            let mut places: Vec<Place> = Vec::new();
            let expects = history.now.expected.iter();
            places.extend(expects.map(|s| at(s.line, &format!("announces {} bytes", s.amount))));
            let comes = history.now.completed.iter();
            places.extend(comes.map(|s| at(s.line, &format!("brings {} bytes", s.amount))));
            let (found, remedy) = match left > 0 {
                true => (
                    "bytes that never came",
                    format!("expect the {completed} bytes that the copies bring, or issue the copies that are missing"),
                ),
                false => (
                    "bytes that nobody announced",
                    format!("expect the {completed} bytes that the copies bring"),
                ),
            };
            self.report(Finding::new(
                Kind::TransactionCount,
                format!(
                    "phase {} of the mbarrier at shared address {address:#x} expects {expected} bytes and got {completed}: \
                     the block ended with {} {found}",
                    history.phases,
                    left.unsigned_abs()
                ),
                remedy,
                places,
            ));
        }
    }

    /// What is known of a barrier that refuses an operation, to follow the error.
    pub fn describe(&self, address: u64, error: BarrierError) -> String {
        let barriers = self.barriers.borrow();
        let Some(history) = barriers.get(&address) else {
            return String::new();
        };
        let lines = |shares: &[Share]| self.shares(shares);
        match error {
            BarrierError::NotInitialised if history.ended_line > 0 => {
                format!("; mbarrier.inval at {} ended it", self.source.line(history.ended_line))
            }
            BarrierError::NotInitialised => format!(
                "; it was initialised at {}, and its bytes have been overwritten since",
                self.source.line(history.init_line)
            ),
            BarrierError::TooManyArrivals { .. } => format!(
                "; initialised at {}, this phase had {}{}, the one before {}{}",
                self.source.line(history.init_line),
                counted(total(&history.now.arrivals), "arrival"),
                lines(&history.now.arrivals),
                total(&history.before.arrivals),
                lines(&history.before.arrivals)
            ),
            BarrierError::Transactions(_) => format!(
                "; this phase expects {} bytes{} and got {}{}",
                total(&history.now.expected),
                lines(&history.now.expected),
                total(&history.now.completed),
                lines(&history.now.completed)
            ),
            BarrierError::Count(_) | BarrierError::Completes => String::new(),
        }
    }

    /// The lines of shares in brackets; nothing where there is none.
    pub fn shares(&self, shares: &[Share]) -> String {
        let lines: Vec<String> = shares.iter().map(|s| self.source.line(s.line)).collect();
        match lines.len() {
            0 => String::new(),
            _ => format!(" (by {})", lines.join(", ")),
        }
    }

    /// Keeps a finding.
    pub fn report(&self, finding: Finding) {
        self.findings.borrow_mut().push(finding);
    }

    /// `mbarrier.init` at an address whose bytes were a barrier before, or not.
    pub fn init(&self, address: u64, acting: Acting, live: bool) {
        let mut barriers = self.barriers.borrow_mut();
        let history = barriers.entry(address).or_default();
        if live && history.init_line > 0 {
            let remedy = "initialise an mbarrier once, or end it with mbarrier.inval when all its threads are done";
            self.report(Finding::new(
                Kind::BarrierObject,
                format!(
                    "the mbarrier at shared address {address:#x} is initialised again while it is in use, after {}",
                    counted(history.phases, "phase")
                ),
                remedy,
                vec![
                    at(acting.line, "initialises it again"),
                    at(history.init_line, "initialised it"),
                ],
            ));
        }
        *history = History {
            init_line: acting.line,
            began: acting.now,
            ..History::default()
        };
    }

    /// `mbarrier.inval`
    pub fn end(&self, address: u64, acting: Acting) {
        if let Some(history) = self.barriers.borrow_mut().get_mut(&address) {
            history.ended_line = acting.line;
        }
    }

    /// An operation on a barrier whose phase is over now, or not.
    pub fn tell(&self, address: u64, told: Told, acting: Acting, over: bool) {
        let mut barriers = self.barriers.borrow_mut();
        let history = barriers.entry(address).or_default();
        if told.completed > 0 && history.is_late(acting) {
            self.report(late(address, history, told, acting));
            history.late = true;
        }
        history.tell(told, acting, over);
    }
}

/// Bytes of a copy that come after the phase in which it was issued.
fn late(address: u64, history: &History, told: Told, acting: Acting) -> Finding {
    let (announced, came) = (total(&history.before.expected), total(&history.before.completed));
    let brought = came + u64::from(told.completed);
    let mut places = vec![at(
        acting.line,
        &format!("its {} bytes come after the end of the phase", told.completed),
    )];
    let expects = history.before.expected.iter();
    places.extend(expects.map(|s| at(s.line, &format!("announces {} bytes", s.amount))));
    Finding::new(
        Kind::TransactionCount,
        format!(
            "phase {} of the mbarrier at shared address {address:#x} expects {announced} bytes, \
             but the copies issued in it bring at least {brought}: it ended before they were there",
            history.phases.saturating_sub(1)
        ),
        format!("expect as many bytes as the copies of the phase bring, {brought} here, before it can end"),
        places,
    )
}

/// A place that is known by its line alone.
pub(crate) fn at(line: u32, what: &str) -> Place {
    Place {
        what: what.to_owned(),
        ptx_line: line,
        source: None,
        block: None,
        thread: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acting(line: u32, now: u64) -> Acting {
        Acting {
            line,
            agent: Agent::default(),
            issued: now,
            now,
        }
    }

    #[test]
    fn phases_and_passes_are_counted() {
        let mbarriers = Mbarriers::default();
        mbarriers.init(1024, acting(1, 0), false);
        let arrive = Told {
            arrivals: 1,
            expected: 64,
            completed: 0,
        };
        mbarriers.tell(1024, arrive, acting(2, 1), false);
        let come = Told {
            completed: 64,
            ..Told::default()
        };
        mbarriers.tell(1024, come, acting(3, 2), true);
        let mut barriers = mbarriers.barriers.borrow_mut();
        let history = barriers.get_mut(&1024).expect("a history");
        assert_eq!((history.phases, total(&history.before.completed)), (1, 64));
        assert!(history.now.arrivals.is_empty());
        let agent = Agent::default();
        history.pass(agent);
        history.pass(agent);
        let passed = Passed { times: 2, phases: 1 };
        assert_eq!(history.passed(agent), passed);
        drop(barriers);
        assert!(mbarriers.findings.borrow().is_empty());
    }

    #[test]
    fn a_copy_that_outlives_its_phase_is_told() {
        let mbarriers = Mbarriers::default();
        mbarriers.init(1024, acting(1, 0), false);
        let arrive = Told {
            arrivals: 1,
            ..Told::default()
        };
        mbarriers.tell(1024, arrive, acting(2, 1), true);
        let come = Told {
            completed: 64,
            ..Told::default()
        };
        let copy = Acting {
            issued: 0,
            ..acting(3, 2)
        };
        mbarriers.tell(1024, come, copy, false);
        let findings = mbarriers.findings.borrow();
        assert_eq!(findings[0].kind, Kind::TransactionCount);
        assert!(findings[0].message.contains("expects 0 bytes") && findings[0].message.contains("at least 64"));
    }
}
