//! Where the checks of a launch put what they find.
use super::state::State;
use super::{Finding, Gravity, Kind, Place};
use crate::collective;
use crate::exec::LaunchError;
use crate::isa::{Op, Program};
use crate::memory::{Fault, FaultKind};
use crate::ptx::SourceLines;
use crate::ranges::Ranges;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Mutex, PoisonError};

/// The checks of one launch, with what they have found so far.
///
/// A checked launch runs on one host thread, so that the same program gives the same findings every time.
#[derive(Default)]
pub struct Checks {
    /// By [`key`], so that each mistake of the program is there once.
    found: Mutex<BTreeMap<(Kind, Vec<u32>), Finding>>,
    state: Mutex<State>,
    /// Whether the kernel has products.
    products: bool,
}

impl Kind {
    /// How bad it is, where the finding itself does not make it milder.
    pub fn gravity(self) -> Gravity {
        Gravity::Error
    }

    /// What a fault of a launch is as a finding; `None` for what the simulator lacks, and for assertions.
    pub fn of_fault(kind: FaultKind) -> Option<Self> {
        Some(match kind {
            FaultKind::IllegalAddress => Kind::OutOfBounds,
            FaultKind::UseAfterFree => Kind::UseAfterFree,
            FaultKind::StackOverflow => Kind::StackOverflow,
            FaultKind::MisalignedAddress => Kind::Misaligned,
            FaultKind::BarrierObject => Kind::BarrierObject,
            FaultKind::TransactionCount => Kind::TransactionCount,
            FaultKind::BarrierDivergence => Kind::BarrierDivergence,
            FaultKind::IllegalInstruction
            | FaultKind::InvalidAddressSpace
            | FaultKind::InvalidPc
            | FaultKind::LaunchFailed => Kind::IllegalInstruction,
            FaultKind::LaunchTimeout | FaultKind::InstructionLimit => Kind::Deadlock,
            FaultKind::NotSupported | FaultKind::Assert => return None,
        })
    }
}

impl Finding {
    /// A finding of its kind's gravity that happened once.
    pub fn new(kind: Kind, message: impl Into<String>, remedy: impl Into<String>, places: Vec<Place>) -> Self {
        Finding {
            gravity: kind.gravity(),
            kind,
            message: message.into(),
            remedy: remedy.into(),
            places,
            times: 1,
        }
    }

    /// The same with another gravity.
    pub fn with_gravity(self, gravity: Gravity) -> Self {
        Finding { gravity, ..self }
    }

    fn lines(&self) -> Vec<u32> {
        self.places.iter().map(|place| place.ptx_line).collect()
    }
}

impl Checks {
    /// The checks of a launch, from what they remember of memory and threads before it.
    pub fn new(state: State, program: &Program) -> Self {
        let insts = program.functions.iter().flatten().flat_map(|code| &code.insts);
        let is_product = |op: &Op| matches!(op, Op::Collective(c) if matches!(c.kind, collective::Kind::Wgmma(_)));
        Checks {
            state: Mutex::new(state),
            products: insts.into_iter().any(|inst| is_product(&inst.op)),
            ..Checks::default()
        }
    }

    /// Whether the registers of warps are to be watched, for products in flight.
    pub fn watches_registers(&self) -> bool {
        self.products
    }

    /// Tells what happens in the launch, and collects what was found by it.
    pub fn with(&self, f: impl FnOnce(&mut State)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        f(&mut state);
        for conflict in std::mem::take(&mut state.memories.conflicts) {
            let (kind, lines) = state.identity(&conflict);
            if !self.again(kind, &lines) {
                self.report(state.describe(&conflict));
            }
        }
        std::mem::take(&mut state.findings)
            .into_iter()
            .for_each(|finding| self.report(finding));
    }

    /// Adds a finding; one of the same kind and the same lines only counts.
    pub fn report(&self, finding: Finding) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        match found.entry(key(finding.kind, &finding.lines())) {
            Entry::Vacant(entry) => {
                entry.insert(finding);
            }
            Entry::Occupied(mut entry) => entry.get_mut().times += finding.times,
        }
    }

    /// Counts a finding that is there already; false when it is not, and should be put into words and reported.
    pub fn again(&self, kind: Kind, lines: &[u32]) -> bool {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found
            .get_mut(&key(kind, lines))
            .map(|finding| finding.times += 1)
            .is_some()
    }

    /// Adds the fault that ended the launch, unless a finding of its kind was reported for its line.
    pub fn report_fault(&self, error: &LaunchError) {
        let Some(kind) = Kind::of_fault(error.fault.kind) else {
            return;
        };
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let known = |f: &Finding| f.kind == kind && f.places.first().is_some_and(|p| p.ptx_line == error.line);
        if found.values().any(known) {
            return;
        }
        let place = Place {
            what: "ends the launch here".to_owned(),
            ptx_line: error.line,
            source: None,
            block: error.place.map(|(block, _)| block),
            thread: error.place.map(|(_, thread)| thread),
        };
        let finding = Finding::new(kind, error.fault.detail.clone(), remedy(&error.fault), vec![place]);
        found.insert(key(kind, &finding.lines()), finding);
    }

    /// What has been written of each allocation by now: its base, and ranges of offsets.
    pub fn written(&self) -> Vec<(u64, Ranges)> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.memories.written().collect()
    }

    /// What was found, the gravest first, then by kind and lines; places get the lines of the source.
    pub fn into_findings(self, source: &SourceLines) -> Vec<Finding> {
        let found = self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut findings: Vec<Finding> = found.into_values().collect();
        for place in findings.iter_mut().flat_map(|finding| &mut finding.places) {
            place.source = source.place(place.ptx_line);
        }
        // A read of what nothing wrote may only be early: the race or the wait that explains it comes first.
        findings.sort_by_key(|finding| (finding.gravity, finding.kind == Kind::Uninitialised));
        findings
    }
}

/// What tells findings apart: the kind and the lines of the places, in any order. The same two accesses are a race or a
/// missing wait, depending on which of them comes first.
fn key(kind: Kind, lines: &[u32]) -> (Kind, Vec<u32>) {
    let mut lines = lines.to_vec();
    lines.sort_unstable();
    (if kind == Kind::MissingWait { Kind::Race } else { kind }, lines)
}

fn remedy(fault: &Fault) -> &'static str {
    fault.remedy.unwrap_or(match fault.kind {
        FaultKind::IllegalAddress => "keep the address inside the allocation, or guard the access with a predicate",
        FaultKind::UseAfterFree => "free the buffer after the last launch that uses it",
        FaultKind::StackOverflow => "give the recursion an end, or keep less in the frame of each call",
        FaultKind::MisalignedAddress => "align the address to the size of the access, or use narrower accesses",
        FaultKind::BarrierObject => {
            "initialise the mbarrier once with mbarrier.init, and let a barrier of the block stand between that and its first use"
        }
        FaultKind::TransactionCount => "expect and complete no more bytes in one phase than an mbarrier counts",
        FaultKind::BarrierDivergence => "let all threads of the warp execute the same barrier together",
        FaultKind::InvalidAddressSpace => "use an address of the state space that the instruction takes; cvta converts",
        FaultKind::InvalidPc => "branch to a label, and call a function, of this module",
        FaultKind::LaunchFailed | FaultKind::Assert => {
            "the program stops itself here: look at the condition that leads to this line"
        }
        FaultKind::IllegalInstruction => "give the instruction operands that it takes, as the message says",
        FaultKind::NotSupported => "run it on a GPU",
        FaultKind::LaunchTimeout | FaultKind::InstructionLimit => {
            "let every thread that is waited for arrive, and raise the instruction limit only if the work is so long"
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(line: u32) -> Place {
        Place {
            what: String::new(),
            ptx_line: line,
            source: None,
            block: None,
            thread: None,
        }
    }

    #[test]
    fn each_kind_and_pair_of_lines_is_there_once_and_the_gravest_first() {
        let checks = Checks::default();
        checks.report(Finding::new(Kind::Race, "a", "", vec![place(1), place(2)]).with_gravity(Gravity::Warning));
        checks.report(Finding::new(Kind::Race, "b", "", vec![place(1), place(3)]));
        checks.report(Finding::new(Kind::Race, "c", "", vec![place(1), place(2)]));
        assert!(checks.again(Kind::Race, &[1, 3]) && !checks.again(Kind::RowEnd, &[1, 3]));
        let findings = checks.into_findings(&SourceLines::default());
        let seen: Vec<_> = findings.iter().map(|f| (f.message.as_str(), f.times)).collect();
        assert_eq!(seen, [("b", 2), ("a", 2)]);
    }
}
