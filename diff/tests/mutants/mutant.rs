//! A wrong kernel and what must be said of it.
use crate::kernel::{Kernel, Lines, Site};
use girih_sim::check::{Finding, Kind};

/// Whose business a mutant is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Class {
    /// A check must report it in one of these ways: a kind, and sets of lines of which each has a place of the finding.
    Reported(Vec<(Kind, Vec<Lines>)>),
    /// The program is well ordered and computes something else: a finding or a wrong result.
    Wrong,
}

/// One change of one kernel.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// `kernel: operator: site`, one of a kind.
    pub id: String,
    pub operator: &'static str,
    pub text: String,
    pub class: Class,
}

impl Mutant {
    pub fn new(kernel: &Kernel, operator: &'static str, site: &Site, text: String, class: Class) -> Self {
        Mutant {
            id: format!("{}: {operator}: {}", kernel.name, site.name()),
            operator,
            text,
            class,
        }
    }

    /// Whether a finding is the report that this mutant must get.
    pub fn is_named_by(&self, finding: &Finding) -> bool {
        let Class::Reported(ways) = &self.class else {
            return false;
        };
        let has = |lines: &Lines| finding.places.iter().any(|place| lines.contains(&place.ptx_line));
        ways.iter()
            .any(|(kind, sets)| *kind == finding.kind && sets.iter().all(has))
    }

    /// What must be reported, in words.
    pub fn expectation(&self) -> String {
        match &self.class {
            Class::Wrong => "a wrong result".to_owned(),
            Class::Reported(ways) => {
                let ways = ways.iter().map(|(kind, sets)| format!("{kind} at {sets:?}"));
                ways.collect::<Vec<_>>().join(" or ")
            }
        }
    }
}

impl Class {
    /// Another way: one of the kinds at one of the lines.
    pub fn or(&mut self, kinds: &[Kind], lines: Lines) {
        if let (Class::Reported(ways), false) = (self, lines.is_empty()) {
            ways.extend(kinds.iter().map(|kind| (*kind, vec![lines.clone()])));
        }
    }
}

/// One of the kinds, at both lines of a pair.
pub fn pairs(kinds: &[Kind], pairs: Vec<(Lines, Lines)>) -> Class {
    let pairs = pairs.into_iter().map(|(first, second)| vec![first, second]);
    Class::Reported(
        pairs
            .flat_map(|sets| kinds.iter().map(move |kind| (*kind, sets.clone())))
            .collect(),
    )
}

/// One of the kinds at one of the lines.
pub fn at(kinds: &[Kind], lines: Lines) -> Class {
    Class::Reported(kinds.iter().map(|kind| (*kind, vec![lines.clone()])).collect())
}
